"""Create reports from a study or from CSV files.

This module reads the data; `analysis.report` computes the numbers and writes the pages.
"""

import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import altair
import numpy as np
import pandas as pd
import scipy

import labeler
from analysis import report
from analysis.document import json_values, to_json
from analysis.document.figures import svg_to_pdf
from analysis.report import DEFINITIONS as DEFINITIONS, PAPER as PAPER, Report, Resampling as Resampling
from labeler.errors import InputError
from labeler.formats import tables
from labeler.formats.source import Source
from labeler.model import State, Study, combined_hash
from labeler.safe_text import one_line
from labeler.screen import thumbnails, timing
from labeler.service import background
from labeler.service.items import curating, drawing
from labeler.service.outputs import as_csv as as_csv, write_files as write_files
from labeler.service.plan import item_batches
from labeler.service.results import exchange, history
from labeler.store import Database, chain, events, items, people, studies, verdicts

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
COMPUTED = (
    "level",
    "show_rejected",
    "resampling",
    "verdicts",
)  # parameters of a report that are computed again, not taken from an earlier report
EXCLUDED = "excluded"  # column of a label file; 1 means that the item is left out of all results
EMPTY_VERDICTS = pd.DataFrame({"item": [], "classifier": [], "verdict": []})

REPLICATION_NOTE = (
    "This data set was reconstructed from the counts in the paper. Some details are arbitrary: which items are agreed "
    "or split, which pair has the dissimilar items, which reviewer of a split pair gave which label, the joint "
    "verdicts of the two classifiers, and all verdicts on split items. Percent agreement, Fleiss' kappa, Table 1 and "
    "the confusion matrices do not depend on these details. Cohen's kappa of a pair and each reviewer's share of "
    "dissimilar labels depend on these details."
)


CHOSEN_NOTE = (
    "{} items were not drawn at random. They were chosen because classifiers disagreed and a model was uncertain. This "
    "report covers only the random sample of all items. The labels of the chosen items are used only by labeler learn "
    "and by the weighted estimates in the section Random and chosen items."
)
FULL_RESAMPLING = Resampling()
LETTERS = 48  # maximum number of characters of a name above a picture
Progress = Callable[[float], object]


@dataclass(frozen=True)
class ReportOptions:
    """Options of a report."""

    level: float = 0.95  # confidence level of the intervals
    resampling: Resampling = FULL_RESAMPLING  # the number of resamples, and the random seed
    # Whether to show the estimates of a latent class model even if the labels contradict the model.
    show_rejected: bool = False
    tables: str | None = None  # `report.PAPER`: also the tables in the layout of the paper

    def __post_init__(self) -> None:
        """Raise ValueError if the level is not between 0 and 1."""
        if not 0 < self.level < 1:
            raise ValueError(f"level must be between 0 and 1, not {self.level}")

    @property
    def shown(self) -> dict[str, str]:
        """Return the options that only change what the pages show, as parameters of the report."""
        return {"tables": self.tables} if self.tables else {}

    @classmethod
    def of_report(cls, parameters: Mapping[str, Any]) -> Self:
        """Return the options with which a report was made.

        Raises KeyError, TypeError or ValueError if the parameters of the report are missing or invalid.
        """
        level, resampling = float(parameters["level"]), Resampling.of(parameters["resampling"])
        shows_rejected = bool(parameters.get("show_rejected", True))  # earlier versions always showed these estimates
        return cls(level, resampling, shows_rejected, PAPER if parameters.get("tables") else None)


STANDARD = ReportOptions()
QUICK = ReportOptions(resampling=Resampling.none())


@dataclass(frozen=True)
class ReportInput:
    """The input of a report, read at one moment from a study or from files."""

    answers: pd.DataFrame  # see `analysis.report.summarise`
    verdicts: pd.DataFrame
    label_file: pd.DataFrame  # the same answers with the columns of the label file
    provenance: report.Provenance
    options: ReportOptions = STANDARD  # the options with which the history was read, and which `content` uses
    n_items: int | None = None  # number of items in the study; None if the input comes from files
    pictures: Mapping[str, str] = field(default_factory=dict)  # further figures, as name -> SVG text

    def as_told_by(self, reported: Mapping[str, Any]) -> Self:
        """Return this input, completed with values from an existing report of the study.

        The plan, the history, the measurements and the hash of the verdicts are taken from the report.
        """
        known = {name: text for name, text in self.provenance.hashes.items() if name != "verdicts"}
        told = report.Provenance(
            study=reported["study"],
            parameters={name: reported["parameters"][name] for name in reported["parameters"] if name not in COMPUTED},
            plan=reported["plan"],
            hashes={**reported["hashes"], **known},
            versions=self.provenance.versions,
            notes=self.provenance.notes,
            course=reported["course"],
        )
        return replace(self, provenance=told, n_items=reported["study"]["items"])

    def report(self, progress: Progress | None = None) -> Report:
        """Compute all numbers of the report; this takes seconds and needs no database."""
        return report.summarise(
            self.answers,
            self.verdicts,
            self.provenance,
            n_items=self.n_items,
            not_given=(self.provenance.course or {}).get("not_given", ()),
            level=self.options.level,
            resampling=self.options.resampling,
            show_rejected=self.options.show_rejected,
            progress=progress,
        )

    def files(self, computed: Report) -> dict[str, str | bytes]:
        """Return the files of the report, as name -> text or bytes: pages, numbers, figures and labels."""
        figures = {**report.draw(computed), **self.pictures}
        return {
            "report.html": report.to_html(computed, figures),
            "report.md": report.to_markdown(computed, figures),
            "report.json": to_json(json_values(computed)),
            "labels.csv": tables.write(self.label_file),
            "labels-wide.csv": tables.write(report.wide(self.answers, self.verdicts)),
            **{f"figures/{name}.svg": svg for name, svg in figures.items()},
            **{f"latex/{name}": text for name, text in report.to_latex(computed, figures).items()},
            **{f"latex/figures/{name}.pdf": svg_to_pdf(svg) for name, svg in figures.items()},
        }


def report_of_study(db: Database, options: ReportOptions = STANDARD, *, actor: str, now: datetime) -> Report:
    """Compute all numbers of the study's report, and log that the report was made."""
    return gathered_study(db, options, actor=actor, now=now).report()


def files_of_study(
    db: Database,
    options: ReportOptions = STANDARD,
    *,
    actor: str,
    now: datetime,
    progress: Progress | None = None,
) -> dict[str, str | bytes]:
    """Return the report of a study as files, as name -> contents.

    The label files contain the labels from which the numbers were computed. `progress` is called with the share of the
    numbers that are finished. The figures are drawn after all numbers are finished.
    """
    gathered = gathered_study(db, options, actor=actor, now=now)
    computed = gathered.report(progress)
    return replace(gathered, pictures=pictures_of(db, computed)).files(computed)


def pictures_of(db: Database, computed: Report) -> dict[str, str]:
    """Return pictures of the items on which reviewers or classifiers disagree most, as name -> SVG text.

    Return no pictures before the study is unblinded, or if it has no measurements.
    """
    if computed.study.interim:
        return {}
    found = [curating.item_named(db, row.item) for row in computed.agreement.disputed.items]
    pictures = [
        (one_line(item.name, LETTERS), drawing.payload_of_item(db, item.item_id)) for item in found if item.n_runs
    ]
    return {report.PICTURES: thumbnails.sheet(pictures)} if pictures else {}


def files_for_page(db: Database, *, quick: bool, actor: str, waiting: Callable[[float], object]) -> dict[str, str]:
    """Return the documents of the report without figures, as name -> text.

    A separate process computes the documents. The process is stopped if the page is closed. Unless `quick`, resampled
    numbers are included. Raises InputError if the report cannot be computed.
    """
    with TemporaryDirectory() as folder:
        command = [
            "report",
            "--study",
            str(db.path),
            "--out",
            folder,
            "--actor",
            actor,
            *(["--quick"] if quick else []),
        ]
        paths = map(Path, background.output_of(command, waiting=waiting).splitlines())
        return {path.name: path.read_bytes().decode() for path in paths if path.parent == Path(folder)}


def gathered_study(db: Database, options: ReportOptions = STANDARD, *, actor: str, now: datetime) -> ReportInput:
    """Read the input of a study's report at one moment; reviewers can continue to label.

    The log records that the data were read.
    """
    with db.atomic():
        study, all_items, left_out = studies.get(db), items.all_items(db), history.not_counted(db)
        calibration, chosen = history.calibration_items(db), item_batches.chosen_items(db)
        answers, verdict_table = exchange.all_answers(db), verdicts.table(db)
        course, n_reviewers = history.study_course(db, level=options.level), len(people.reviewers(db))
        events.add(db, now.isoformat(), actor, "report", {"state": study.state, "answers": len(answers)})
        chain_head = str(chain.head(db))
    excluded = {row["item"] for row in course["excluded"]}
    is_excluded = answers["item"].isin(excluded | chosen)
    label_file = answers[~is_excluded].reset_index(drop=True)
    # these answers are needed to find the first labels of other items, so they stay, with a kind that never counts
    answers = answers.assign(kind=answers["kind"].mask(is_excluded, "excluded"))
    verdict_table = verdict_table[~verdict_table["item"].isin(left_out)].reset_index(drop=True)
    provenance = report.Provenance(
        study={
            "name": study.name,
            "chain": chain_head,
            "question": study.question,
            "state": study.state.value,
            "interim": study.state is not State.UNBLINDED,
            "items": len(all_items) - len(left_out),
            "excluded_items": len(excluded),
            "calibration_items": len(calibration - excluded),
            "reviewers": n_reviewers,
            "reported_utc": now.isoformat(timespec="seconds"),
        },
        parameters={**_protocol(study), **report.registry(), **options.shown},
        plan=None if study.plan_hash is None else {"hash": study.plan_hash, **(study.plan_parameters or {})},
        hashes={
            "measurements": combined_hash(item.data_hash for item in all_items),
            "answers": _table_hash(label_file),
            "verdicts": _table_hash(verdict_table.drop(columns=["means", "clusters"])),
        },
        versions=_versions(),
        notes=(CHOSEN_NOTE.format(len(chosen)),) if chosen else (),
        course=course,
    )
    n_items = len(all_items) - len(left_out)
    return ReportInput(_timed(answers), verdict_table, label_file, provenance, options, n_items)


def gathered_files(
    label_file: Path,
    verdict_file: Path | None,
    notes: tuple[str, ...] = (),
    options: ReportOptions = STANDARD,
    *,
    now: datetime = EPOCH,
) -> ReportInput:
    """Read the input of a report from a label table and a verdict table.

    The label file has the columns item, reviewer and label, and optionally the other columns of the label file; the
    verdict file item, classifier and verdict, and optionally score and threshold. Rows without a time get `now`; no
    number depends on it. Raises InputError if a file is invalid. The message names file, place and value.
    """
    table = tables.read_labels(_source(label_file))
    try:
        answers = _answers(table, now)
    except InputError as error:
        raise InputError(f"{label_file}: {error}") from None
    verdict_table = tables.read_verdicts(_source(verdict_file)) if verdict_file else EMPTY_VERDICTS
    provenance = report.Provenance(
        study={"name": label_file.name, "question": "", "state": "files only", "interim": False},
        parameters=options.shown,
        hashes={"answers": _table_hash(table), "verdicts": _table_hash(verdict_table)},
        versions=_versions(),
        notes=notes,
    )
    return ReportInput(answers, verdict_table, table, provenance, options)


def files_of_files(
    label_file: Path,
    verdict_file: Path | None,
    notes: tuple[str, ...] = (),
    options: ReportOptions = STANDARD,
    *,
    progress: Progress | None = None,
) -> dict[str, str | bytes]:
    """Return the report of a label table and a verdict table as files, as name -> contents.

    `progress` is called as in `files_of_study`.
    """
    gathered = gathered_files(label_file, verdict_file, notes, options)
    try:
        return gathered.files(gathered.report(progress))
    except ValueError as error:
        raise InputError(f"{label_file}: {error}.") from None


def _answers(table: pd.DataFrame, now: datetime) -> pd.DataFrame:
    """Return the answers in a label file, with those optional columns that the file has."""
    rows = exchange.checked_rows(table, now=now)
    columns: dict[str, list[Any]] = {
        "item": [row.item for row in rows],
        "reviewer": [row.reviewer for row in rows],
        "label": [row.label.answer.value for row in rows],
        "kind": [row.kind.value for row in rows],
    }
    more = {
        "application": [row.application for row in rows],
        "position": [row.position for row in rows],
        "created_utc": [row.label.created.isoformat() for row in rows],
        "dwell_ms": [_time_on_task(row.label.dwell_ms, row.label.view) for row in rows],
        "confidence": [row.label.confidence for row in rows],
    }
    if "view" in table:
        columns["axis_rule"] = [row.label.view.get("rule") for row in rows]
    answers = pd.DataFrame(columns | {name: more[name] for name in more if name in table}, dtype=object)
    if EXCLUDED in table:  # first labels of other items depend on these rows, but no result uses the rows
        answers["kind"] = answers["kind"].mask((table[EXCLUDED] == "1").to_numpy(), "excluded")
    return answers


def _timed(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the answers with the axis rule, and with the time on task in place of the measured time."""
    views = [json.loads(view) for view in answers["view"]]
    times = [_time_on_task(dwell_ms, view) for dwell_ms, view in zip(answers["dwell_ms"], views, strict=True)]
    rules = [view.get("rule") for view in views]
    return answers.assign(
        dwell_ms=pd.Series(times, index=answers.index, dtype=object),
        axis_rule=pd.Series(rules, index=answers.index, dtype=object),
    )


def _time_on_task(dwell_ms: int | None, view: Mapping[str, Any]) -> int | None:
    return None if dwell_ms is None else timing.time_on_task(dwell_ms, view)


def _protocol(study: Study) -> dict[str, Any]:
    """Return the question and the display options of the study, as parameters of the report."""
    protocol = study.protocol
    return {
        "axis_rule": protocol.axis_rule,
        "axis_min_span": protocol.min_span,
        "asks_confidence": protocol.asks_confidence,
        "shows_numbers": protocol.shows_numbers,
        "idle_limit_ms": timing.IDLE_LIMIT_MS,
        **(
            {"varies_pictures": True} if protocol.varies_pictures else {}
        ),  # reports of earlier versions do not have this parameter
    }


def _source(path: Path) -> Source:
    return Source(str(path), path)


def _table_hash(table: pd.DataFrame) -> str:
    return hashlib.sha256(tables.write(table).encode()).hexdigest()


def _versions() -> dict[str, str]:
    return {
        "labeler": labeler.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pandas": pd.__version__,
        "scipy": scipy.__version__,
        "altair": altair.__version__,
    }
