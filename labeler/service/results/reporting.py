"""Create reports from a study or from CSV files, keep those that pages show, print them, and check earlier reports.

This module reads the data; `analysis.report` computes the numbers and writes the pages.
"""

import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any, Self

import altair
import numpy as np
import pandas as pd
import scipy

import labeler
from analysis import report
from analysis.document import json_values, to_json
from analysis.document.figures import svg_to_pdf
from analysis.report import (
    DEFINITIONS as DEFINITIONS,
    PAPER as PAPER,
    PICTURES,
    CategorySet,
    Report,
    ReportDifference,
    Resampling as Resampling,
    defined_anew as report_definitions,
    differences,
    is_former,
    recomputed_as,
)
from labeler import marks
from labeler.errors import InputError, LabelerError
from labeler.formats import tables
from labeler.formats.source import Source
from labeler.model import LABELLED_BY_PLAN, Category, ItemRole, Kind, Origin, Question, State, Study, combined_hash
from labeler.questions import MARKED, NOT_SURE, SIMILAR, WITHDRAWN
from labeler.safe_text import one_line
from labeler.screen import thumbnails, timing
from labeler.service import background
from labeler.service.files import exploring
from labeler.service.items import browsing, drawing
from labeler.service.labelling import reviewing
from labeler.service.outputs import as_csv as as_csv, write_files as write_files
from labeler.service.plan import item_batches
from labeler.service.results import exchange, history
from labeler.service.results.marks_report import MarkedStudy, marked_study
from labeler.service.verdicts.classifying import rules_for
from labeler.store import (
    Database,
    assignments,
    chain,
    events,
    items,
    labels,
    open_database,
    people,
    studies,
    verdicts,
)
from labeler.store.assignments import StoredAssignment

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
COMPUTED = (
    "level",
    "show_rejected",
    "resampling",
    "prevalences",
    "epsilon",
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
PANEL = (54, 34)  # pixels of one run in the pictures of the report
Progress = Callable[[float], object]


@dataclass(frozen=True)
class ReportOptions:
    """Options of a report."""

    level: float = field(default=0.95, metadata={
        "within": "(0, 1)",
        "help": "Level of all intervals of the report. The significance level of all tests is 1 - level.",
    })  # fmt: skip
    resampling: Resampling = FULL_RESAMPLING  # the number of resamples, and the random seed
    show_rejected: bool = field(default=False, metadata={
        "help": "Show the results of a latent class model even if it does not fit the labels.",
    })  # fmt: skip
    tables: str | None = field(default=None, metadata={
        "choices": (PAPER,), "help": "Also write the tables in the layout of the paper.",
    })  # fmt: skip
    prevalences: tuple[float, ...] = field(default=(), metadata={
        "flag": "--prevalence", "within": "(0, 1)",
        "help": "Also show precision and negative predictive value of each classifier if this share of the items were "
                "dissimilar. Repeatable.",
    })  # fmt: skip

    epsilon: float = field(default=report.EXPERT, metadata={
        "within": "[0, 1)",
        "help": "How much worse than a reviewer a classifier may be, to replace a reviewer: 0.2 for experts, 0.15 for "
                "trained reviewers, 0.1 for a crowd.",
    })  # fmt: skip

    def __post_init__(self) -> None:
        """Raise ValueError if the level or a prevalence is not between 0 and 1."""
        for name, value in (("level", self.level), *(("prevalence", share) for share in self.prevalences)):
            if not 0 < value < 1:
                raise ValueError(f"{name} must be between 0 and 1, not {value}")

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
        prevalences = tuple(map(float, parameters.get("prevalences") or ()))
        epsilon = parameters.get("epsilon")
        return cls(
            level, resampling, shows_rejected, PAPER if parameters.get("tables") else None, prevalences,
            report.EXPERT if epsilon is None else float(epsilon),
        )  # fmt: skip


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
    question: Question = SIMILAR  # whose categories the labels have
    marked: MarkedStudy | None = None  # the marks and series of a study whose labels are marks

    @property
    def categories(self) -> CategorySet:
        """The categories of the labels, as the report needs them."""
        asked = self.question
        if asked.has_default_categories:
            return report.SIMILARITY
        meanings = {str(category): category.meaning for category in asked.labels}
        if asked.is_marked:
            meanings[MARKED] = "The reviewer marked at least one point. The places are in marks.html."
        positive = None if asked.positive is None else str(asked.positive)
        return CategorySet(asked.classes, positive, asked.ordered, meanings)

    @property
    def question_facts(self) -> dict[str, Any]:
        """The definition of the question, with its hash."""
        return {"hash": self.question.hash, **self.question.definition()}

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
            question=reported.get("question"),
        )
        return replace(self, provenance=told, n_items=reported["study"]["items"])

    def report(self, progress: Progress | None = None) -> Report:
        """Compute all numbers of the report; this takes seconds and needs no database."""
        return report.summarise(
            self.answers,
            self.verdicts,
            replace(self.provenance, question=self.provenance.question or self.question_facts),
            categories=self.categories,
            n_items=self.n_items,
            not_given=(self.provenance.course or {}).get("not_given", ()),
            level=self.options.level,
            resampling=self.options.resampling,
            show_rejected=self.options.show_rejected,
            prevalences=self.options.prevalences,
            epsilon=self.options.epsilon,
            progress=progress,
        )

    def files_of_marks(self) -> dict[str, str | bytes]:
        """Return the report on marked points as a page and as numbers; nothing if the labels are not marks."""
        if self.marked is None:
            return {}
        resampling = self.options.resampling
        found = self.marked.compare(
            permutations=resampling.n_bootstrap, epsilon=self.options.epsilon, seed=resampling.seed
        )
        return {"marks.html": exploring.as_html(found), "marks.json": exploring.as_json(found)}

    def files(self, computed: Report) -> dict[str, str | bytes]:
        """Return the files of the report, as name -> text or bytes: pages, numbers, figures and labels."""
        figures = {**report.draw(computed), **self.pictures}
        return {
            **self.files_of_marks(),
            "report.html": report.to_html(computed, figures),
            "report.md": report.to_markdown(computed, figures),
            "report.json": to_json(json_values(computed)),
            "labels.csv": tables.write(self.label_file),
            "labels-wide.csv": tables.write(report.wide(self.answers, self.verdicts, self.question.classes)),
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
    found = [browsing.item_named(db, row.item) for row in computed.agreement.disputed.items]
    pictures = [
        (name, drawing.thumbnail_of_item(db, item.item_id, label=f"The runs of {name}", panel=PANEL))
        for item in found
        for name in (one_line(item.name, LETTERS),)
        if item.n_runs
    ]
    return {report.PICTURES: thumbnails.sheet(pictures)} if pictures else {}


def gathered_study(db: Database, options: ReportOptions = STANDARD, *, actor: str, now: datetime) -> ReportInput:
    """Read the input of a study's report at one moment; reviewers can continue to label.

    The log records that the data were read.
    """
    with events.by(db, actor, now) as deed:
        study, all_items, chosen = studies.get(db), items.all_items(db), item_batches.chosen_items(db)
        roles = items.roles(db, chosen)
        answers, verdict_table = exchange.all_answers(db), verdicts.table(db)
        given, question = assignments.everything(db), reviewing.question(db)
        course, n_reviewers = history.study_course(db, level=options.level), len(people.reviewers(db))
        deed.log("report", state=study.state, answers=len(answers))
        chain_head = str(chain.head(db))
    left_out = {name for name, role in roles.items() if role is not ItemRole.COUNTED}
    excluded = {name for name, role in roles.items() if role is ItemRole.EXCLUDED}
    is_excluded = answers["item"].isin(excluded | chosen)
    label_file = answers[~is_excluded].reset_index(drop=True)
    marked = marked_study(db, label_file, study.question) if study.question.is_marked else None
    # these answers are needed to find the first labels of other items, so they stay, with a kind that never counts
    answers = answers.assign(
        kind=answers["kind"].mask(is_excluded, "excluded"), label=answers["label"].map(study.question.class_of)
    )
    verdict_table = verdict_table[~verdict_table["item"].isin(left_out)].reset_index(drop=True)
    provenance = report.Provenance(
        study={
            "name": study.name,
            "chain": chain_head,
            "question": question,
            "state": study.state.value,
            "interim": study.state is not State.UNBLINDED,
            "items": len(all_items) - len(left_out),
            "excluded_items": len(excluded),
            "calibration_items": sum(role is ItemRole.CALIBRATION for role in roles.values()),
            "reviewers": n_reviewers,
            "reported_utc": now.isoformat(timespec="seconds"),
        },
        parameters={**_protocol(study), **_registry(study.question), **options.shown},
        plan=None
        if study.plan_hash is None
        else {"hash": study.plan_hash, **(study.plan_parameters or {}), **_assigned(given, roles)},
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
    return ReportInput(
        _timed(answers),
        verdict_table,
        label_file,
        provenance,
        options,
        n_items,
        question=study.question,
        marked=marked,
    )


def _registry(question: Question) -> dict[str, Any]:
    """Return the properties of the classifiers that can answer a question."""
    if rules := rules_for(question):
        return report.registry_of_rules(rules)
    return report.registry() if question.has_default_categories else {}


def _assigned(given: Sequence[StoredAssignment], roles: Mapping[str, ItemRole]) -> dict[str, Any]:
    """Count the assignments of the plan as it became, after people joined, left or were replaced."""
    standing = [
        stored.assignment
        for stored in given
        if not stored.ended
        and stored.origin is not Origin.IMPORT
        and roles.get(stored.assignment.item) is ItemRole.COUNTED
    ]
    per_item = Counter(a.item for a in standing if a.kind in LABELLED_BY_PLAN)
    return {
        "assigned": {str(n): n_items for n, n_items in sorted(Counter(per_item.values()).items())},
        "repeats": sum(a.kind is Kind.RETEST for a in standing),
    }


def gathered_files(
    label_file: Path,
    verdict_file: Path | None,
    notes: tuple[str, ...] = (),
    options: ReportOptions = STANDARD,
    *,
    question: Question | None = None,
    now: datetime = EPOCH,
) -> ReportInput:
    """Read the input of a report from a label table and a verdict table.

    The label file has the columns item, reviewer and label, and optionally the other columns of the label file; the
    verdict file item, classifier and verdict, and optionally score and threshold. Rows without a time get `now`; no
    number depends on it. Without `question`, the categories are those in the table. Raises InputError if a file is
    invalid. The message names file, place and value.
    """
    table = tables.read_labels(_source(label_file))
    asked = _question_of(table) if question is None else question
    try:
        answers = _answers(table, asked, now)
    except InputError as error:
        raise InputError(f"{label_file}: {error}") from None
    verdict_table = tables.read_verdicts(_source(verdict_file), asked.classes) if verdict_file else EMPTY_VERDICTS
    provenance = report.Provenance(
        study={
            "name": label_file.name,
            "question": "" if asked.has_default_categories else asked.text,
            "state": "files only",
            "interim": False,
        },
        parameters=options.shown,
        hashes={"answers": _table_hash(table), "verdicts": _table_hash(verdict_table)},
        versions=_versions(),
        notes=notes,
    )
    return ReportInput(answers, verdict_table, table, provenance, options, question=asked)


def _question_of(table: pd.DataFrame) -> Question:
    """Return a question with the categories of a label table: *similar*, or all labels in alphabetical order."""
    found = sorted(set(map(str.strip, table["label"])) - {NOT_SURE, WITHDRAWN, ""})
    if any(map(marks.are_marks, found)):
        raise InputError("Some labels are marks. Name the question with --question, such as --question mark-changes.")
    if set(found) & set(SIMILAR.names) or len(found) < 2:  # other labels beside these two are refused as mistakes
        return SIMILAR
    return Question("", tuple(map(Category, found)))


def files_of_files(
    label_file: Path,
    verdict_file: Path | None,
    notes: tuple[str, ...] = (),
    options: ReportOptions = STANDARD,
    *,
    question: Question | None = None,
    progress: Progress | None = None,
) -> dict[str, str | bytes]:
    """Return the report of a label table and a verdict table as files, as name -> contents.

    `progress` is called as in `files_of_study`.
    """
    gathered = gathered_files(label_file, verdict_file, notes, options, question=question)
    try:
        return gathered.files(gathered.report(progress))
    except ValueError as error:
        raise InputError(f"{label_file}: {error}.") from None


def _answers(table: pd.DataFrame, question: Question, now: datetime) -> pd.DataFrame:
    """Return the answers in a label file, with those optional columns that the file has."""
    rows = exchange.checked_rows(table, question, now=now)
    columns: dict[str, list[Any]] = {
        "item": [row.item for row in rows],
        "reviewer": [row.reviewer for row in rows],
        "label": [question.class_of(row.label.answer) for row in rows],
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
        swapped = [row.label.view.get("swapped") for row in rows]
        if any(value is not None for value in swapped):
            columns["swapped"] = swapped
    answers = pd.DataFrame(columns | {name: more[name] for name in more if name in table}, dtype=object)
    if EXCLUDED in table:  # first labels of other items depend on these rows, but no result uses the rows
        answers["kind"] = answers["kind"].mask((table[EXCLUDED] == "1").to_numpy(), "excluded")
    return answers


def _timed(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the answers with the axis rule, and with the time on task in place of the measured time."""
    views = [json.loads(view) for view in answers["view"]]
    times = [_time_on_task(dwell_ms, view) for dwell_ms, view in zip(answers["dwell_ms"], views, strict=True)]
    rules = [view.get("rule") for view in views]
    swapped = [view.get("swapped") for view in views]
    if any(value is not None for value in swapped):
        answers = answers.assign(swapped=pd.Series(swapped, index=answers.index, dtype=object))
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
        **({"facts": list(study.question.facts)} if study.question.facts else {}),
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


# The report that pages show: a separate process computes it, and it is kept until the study changes


MAX_KEPT = 4  # maximum number of reports in the server's memory
LOOK_EVERY_S = 0.2
EXPECTED_S = {True: 4.0, False: 12.0}  # expected seconds for the first report, by whether the report is quick
_NO_CHANGE = ("report", "look", "sign in", "sign out", "backup", "invite", "revoke", "list flags", "answer comment")

Version = tuple[Path, int, int, bool]
_kept: dict[Version, "CachedReport"] = {}
_took_s: dict[tuple[Path, bool], float] = {}
_failed: dict[Version, str] = {}
_written_s: deque[float] = deque(maxlen=1)  # seconds that the report that is being written has taken
_making = Lock()


@dataclass(frozen=True)
class CachedReport:
    """A cached report: the documents by name, and the time when the report was computed."""

    files: dict[str, bytes]
    made: datetime


def cached_report(db: Database, *, quick: bool) -> CachedReport | None:
    """Return the cached report of the study; return None if there is none or the study has changed since."""
    return _kept.get(_version(db, quick))


def make_report(db: Database, *, quick: bool, actor: str, waiting: Callable[[float, float], object]) -> CachedReport:
    """Compute the report, store it in the cache and return it.

    `quick` leaves out the numbers that need resampling, which take long. `waiting` is called several times per second
    with the elapsed seconds and the seconds that the previous computation took; if it raises an error, the computation
    is stopped. If another request is already computing the same report, wait for the result of that request. Raises
    InputError if the report cannot be computed.
    """
    started, expected = time.monotonic(), _took_s.get((db.path.resolve(), quick), EXPECTED_S[quick])
    while not _making.acquire(timeout=LOOK_EVERY_S):
        waiting(time.monotonic() - started, expected)
    try:
        version = _version(db, quick)
        if version not in _kept:
            begun = time.monotonic()
            written = background.files_of(
                "report", into="out", folders=True, study=db.path, actor=actor, quick=quick,
                waiting=lambda seconds: waiting(seconds, expected),
            )  # fmt: skip
            _took_s[db.path.resolve(), quick] = time.monotonic() - begun
            while len(_kept) >= MAX_KEPT:
                _kept.pop(next(iter(_kept)))
            _kept[version] = CachedReport(written, datetime.now(UTC))
        return _kept[version]
    finally:
        _making.release()


def begin_report(db: Database, *, quick: bool, actor: str) -> None:
    """Start to write the report in the background, unless it is cached or being written; the page may be closed."""
    path, version = db.path, _version(db, quick)
    if version in _kept or is_being_made():
        return
    _failed.pop(version, None)

    def write() -> None:
        try:
            with open_database(path) as own:
                make_report(own, quick=quick, actor=actor, waiting=lambda done_s, _whole_s: _written_s.append(done_s))
        except LabelerError as error:
            _failed[version] = str(error)

    Thread(target=write, daemon=True).start()


def writing_progress(db: Database, *, quick: bool) -> tuple[float, float]:
    """Return the seconds that the report has taken so far, and the seconds that it will probably take."""
    return (_written_s[-1] if _written_s else 0.0), _took_s.get((db.path.resolve(), quick), EXPECTED_S[quick])


def why_not_written(db: Database, *, quick: bool) -> str:
    """Return why the report could not be written; return "" if it did not fail."""
    return _failed.get(_version(db, quick), "")


def is_being_made() -> bool:
    """Return whether this server is computing a report now."""
    return _making.locked()


def forget_report(db: Database, *, quick: bool) -> None:
    """Remove the report from the cache, so that it is computed again."""
    _kept.pop(_version(db, quick), None)


def _version(db: Database, quick: bool) -> Version:
    """Return a value that changes whenever the report may change.

    The value contains the numbers of events and answers, because each change of a study adds an event or an answer.
    """
    return db.path.resolve(), labels.n_labels(db), events.last_id(db, without=_NO_CHANGE), quick


# Printing


BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge",
)  # fmt: skip
PAPERS = {"a4": "A4", "letter": "letter"}
PATIENCE = 180  # seconds


def can_print() -> bool:
    """Return whether this machine has a browser that can print a page as PDF."""
    return any(map(shutil.which, BROWSERS))


def to_pdf(page: str, *, paper: str = "a4") -> bytes:
    """Print an HTML page as PDF; the page must not need other files.

    `paper` is "a4" or "letter". Raises InputError if no browser is found, or the browser prints nothing. The message
    says what to do.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise InputError(
            f"No browser that can print a PDF was found (looked for {', '.join(BROWSERS)}). Install Chromium or "
            "Chrome, or open report.html in a browser and print it."
        )
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        style = f"<style>@page {{ size: {PAPERS[paper]}; }}</style></head>"
        source.write_text(page.replace("</head>", style, 1), encoding="utf-8")
        command = [browser, "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        command += [f"--user-data-dir={folder}/profile", "--no-pdf-header-footer", f"--print-to-pdf={target}"]
        command += (
            ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        )  # the browser has no sandbox for the user root
        try:
            subprocess.run([*command, source.as_uri()], capture_output=True, timeout=PATIENCE, check=False)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(f"{browser} could not print the report: {error}. Open report.html and print it.") from None
        if not target.exists():
            raise InputError(f"{browser} printed nothing. Open report.html in a browser and print it.")
        return target.read_bytes()


# Checking an earlier report against the current data


PARTS = {"agreement", "classifiers", "parameters", "notes"}
PAGES: dict[str, Callable[[Report, Mapping[str, str]], str]] = {".html": report.to_html, ".md": report.to_markdown}
IN_PAGE = re.compile(
    rf'<figure id="figure-{PICTURES}">(?P<svg>.*?)<figcaption|^!\[.*\]\(figures/{PICTURES}\.svg\)$', re.MULTILINE
)


def check_study(db: Database, file: Path, *, actor: str, now: datetime) -> list[ReportDifference]:
    """Compare all numbers of a report with numbers that are computed from the study now.

    The random seed and the confidence level are taken from the report. A report.html or report.md is compared through
    the report.json in the same folder. Times and software versions are not compared. Raises InputError if the file
    cannot be read or is not a report.
    """
    stored = _read(_numbers_of(file))
    gathered = gathered_study(db, _options(stored, file), actor=actor, now=now)
    recomputed = gathered.report()
    pictures = pictures_of(db, recomputed) if file.suffix in PAGES else {}
    return [*differences(stored, recomputed_as(stored, recomputed)), *_of_page(file, stored, pictures)]


def check_files(label_file: Path, verdict_file: Path | None, file: Path) -> list[ReportDifference]:
    """Compare all numbers of a report with numbers that are computed from a label table and a verdict table.

    The tables do not contain the plan, the history and the measurements of the study, and they lack some columns that
    enter the hash of the verdicts. These values are taken from the report. Changed verdicts are still found, because
    other numbers of the report depend on the verdicts. The pictures of items are not compared, because they are drawn
    from the measurements.
    """
    stored = _read(_numbers_of(file))
    notes = tuple(map(str, stored["notes"]))
    gathered = gathered_files(label_file, verdict_file, notes, _options(stored, file), question=_asked(stored))
    gathered = replace(gathered, provenance=replace(gathered.provenance, question=stored.get("question")))
    if stored.get("course") is not None:
        try:
            gathered = gathered.as_told_by(stored)
        except (KeyError, TypeError) as error:
            raise InputError(f"{file} is not a complete report of labeler ({error}).") from None
    try:
        return [*differences(stored, recomputed_as(stored, gathered.report())), *_of_page(file, stored)]
    except ValueError as error:
        raise InputError(f"{label_file}: {error}.") from None


def _asked(stored: Mapping[str, Any]) -> Question | None:
    """Return the question of a report about own categories; None for any other report."""
    definition = stored.get("question")
    if not isinstance(definition, Mapping):
        return None
    study = stored.get("study")
    text = str(study.get("question", "")) if isinstance(study, Mapping) else ""
    try:
        return Question.of(text, {name: value for name, value in definition.items() if name != "hash"})
    except (KeyError, TypeError) as error:
        raise InputError(f"the question of the report cannot be read: {error}.") from None


def defined_anew(file: Path) -> list[str]:
    """Return what is not compared, because it is defined otherwise since the report was made."""
    names = list(report_definitions(_read(_numbers_of(file))))
    return [*names, "the text of the page"] if names and file.suffix in PAGES else names


def _numbers_of(file: Path) -> Path:
    """Return the path of the report.json beside a report page; if the file is not a page, return its own path."""
    return file.with_name("report.json") if file.suffix in PAGES else file


def _of_page(
    file: Path, stored: Mapping[str, Any], pictures: Mapping[str, str] | None = None
) -> list[ReportDifference]:
    """Return the lines in which a report page differs from the page that its report.json gives.

    `pictures` are the pictures of items as SVG. If they are None, the pictures in the page are not compared.
    """
    if file.suffix not in PAGES or report_definitions(stored):
        return []  # the page of an earlier version has other sentences
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}.") from None
    if pictures is None:
        found = IN_PAGE.search(text)
        pictures = {PICTURES: found["svg"] or ""} if found else {}
    try:
        of_file = Report.of(stored)
    except ValueError as error:
        raise InputError(f"{file} cannot be made again from its report.json: {error}. Check report.json.") from None
    written, expected = (
        text.splitlines(),
        PAGES[file.suffix](of_file, {**report.draw(of_file), **pictures}).splitlines(),
    )
    return [
        ReportDifference(
            f"{file.name}, line {first + 1}", "\n".join(written[first:last]), "\n".join(expected[start:end])
        )
        for what, first, last, start, end in SequenceMatcher(None, written, expected, autojunk=False).get_opcodes()
        if what != "equal"
    ]


def _read(file: Path) -> dict[str, Any]:
    try:
        stored: Any = json.loads(file.read_bytes())
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file} is not valid JSON: {error}.") from None
    is_report = isinstance(stored, dict) and isinstance(stored.get("notes"), list)
    if not is_report or not (set(stored) >= PARTS or is_former(stored)):
        raise InputError(f"{file} is not a report of labeler. Give a file report.json, report.md or report.html.")
    return dict(stored)


def _options(stored: Mapping[str, Any], file: Path) -> ReportOptions:
    try:
        return ReportOptions.of_report(stored["parameters"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: the parameters of the report are invalid ({error}).") from None
