"""Create reports from a study or from CSV files.

This module reads the data; `analysis.report` computes the numbers and writes the pages.
"""

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import altair
import numpy as np
import pandas as pd
import scipy

import labeler
from analysis import report
from analysis.arrays import Floats
from analysis.categories import CATEGORIES
from analysis.document import json_values, to_json
from analysis.document.figures import prepare_rendering, svg_to_pdf
from analysis.methods.points import CHANGES, STARTS
from analysis.raters.tables import counted_labels
from analysis.report import (
    PAPER as PAPER,
    SIGNS,
    CategorySet,
    Report,
    Resampling as Resampling,
)
from analysis.runs.benchmark import series_of
from labeler import marks
from labeler.errors import InputError
from labeler.files import exploring, marked
from labeler.files.exploring import MethodResult
from labeler.files.formats import label_tables, tables
from labeler.files.formats.label_tables import LabelReading
from labeler.files.formats.source import Source
from labeler.files.outputs import as_csv as as_csv, write_files as write_files
from labeler.marks import START
from labeler.safe_text import one_line
from labeler.studies.cache import until_changed
from labeler.studies.items import browsing, drawing, measured
from labeler.studies.labelling import reviewing
from labeler.studies.labelling.label_file import all_answers, checked_rows
from labeler.studies.model import LABELLED_BY_PLAN, ItemRole, Kind, Origin, Question, State, Study, combined_hash
from labeler.studies.preparing import assigning
from labeler.studies.questions import MARKED, SIMILAR, Category
from labeler.studies.results import history
from labeler.studies.screen import thumbnails, timing
from labeler.studies.store import Database, actions, assignments, chain, events, items, people, studies, verdicts
from labeler.studies.store.assignments import StoredAssignment
from labeler.studies.verdicts.classifying import rules_for

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
COMPUTED = (
    "level",
    "show_rejected",
    "resampling",
    "prevalences",
    "epsilon",
    "verdicts",
)  # parameters of a report that are computed again, not taken from the report that is compared
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
    "{} items were not drawn at random. They were chosen because {}. This report covers only the random sample of all "
    "items. The labels of the chosen items are used only by labeler learn and by the weighted estimates in the section "
    "Random and chosen items."
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
                "of the positive category, such as dissimilar. Repeatable.",
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
        prevalences = tuple(map(float, parameters["prevalences"]))
        return cls(
            level, resampling, bool(parameters["show_rejected"]), PAPER if parameters["tables"] else None, prevalences,
            float(parameters["epsilon"]),
        )  # fmt: skip


STANDARD = ReportOptions()
QUICK = ReportOptions(resampling=Resampling.none())


@dataclass(frozen=True)
class MarkedStudy:
    """The first labels of a study as marks, and the series that were marked."""

    about: str
    people: Mapping[str, Mapping[str, tuple[int, ...]]]
    series: Mapping[str, Floats]
    applications: Mapping[Hashable, Hashable]  # item -> application, of items that have one

    def compare(self, *, permutations: int, epsilon: float, seed: int) -> MethodResult:
        """Compute the report: its numbers, its text and its figures."""
        options = marked.Options(self.about, epsilon=epsilon, permutations=permutations, seed=seed)
        return marked.compare(self.people, self.series, {}, options, groups=self.applications or None)


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
        meanings = {category.name: category.meaning for category in map(asked.category, asked.labels)}
        if asked.is_marked:
            meanings[MARKED] = "The reviewer marked at least one point. The places are in marks.html."
        return CategorySet(asked.classes, asked.positive, asked.ordered, meanings)

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
            question=reported["question"],
        )
        return replace(self, provenance=told, n_items=reported["study"]["items"])

    def report(self, progress: Progress | None = None, executor: Executor | None = None) -> Report:
        """Compute all numbers of the report; this takes seconds and needs no database.

        An executor prepares meanwhile to render the figures.
        """
        if executor is not None:
            prepare_rendering(executor)
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

    def files(self, computed: Report, executor: Executor | None = None) -> dict[str, str | bytes]:
        """Return the files of the report, as name -> text or bytes: pages, numbers, figures and labels.

        With an executor, another process renders the figures.
        """
        figures = {**report.draw(computed, executor), **self.pictures}
        undecided = report.undecided(computed)
        return {
            **self.files_of_marks(),
            "report.html": report.to_html(computed, figures),
            "report.md": report.to_markdown(computed, figures),
            "report.json": to_json(json_values(computed)),
            "labels.csv": tables.write(self.label_file),
            "labels-wide.csv": tables.write(report.wide(self.answers, self.verdicts, self.question.classes)),
            **({} if undecided is None else {report.UNDECIDED: tables.write(undecided)}),
            **{f"figures/{name}.svg": svg for name, svg in figures.items()},
            **{f"latex/{name}": text for name, text in report.to_latex(computed, figures).items()},
            **{f"latex/figures/{name}.pdf": svg_to_pdf(svg) for name, svg in figures.items()},
        }


def files_of_study(
    db: Database,
    options: ReportOptions = STANDARD,
    *,
    actor: str,
    now: datetime,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> dict[str, str | bytes]:
    """Return the report of a study as files, as name -> contents.

    The label files contain the labels from which the numbers were computed. `progress` is called with the share of the
    numbers that are finished. The figures are drawn after all numbers are finished, with an executor in its process.
    """
    gathered = gathered_study(db, options, actor=actor, now=now)
    computed = gathered.report(progress, executor)
    return replace(gathered, pictures=pictures_of(db, computed)).files(computed, executor)


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


@until_changed
def current_report(db: Database) -> Report:
    """Return the numbers of the report on the study as it is now, without resampling: what pages and commands show.

    A caller that shows them must first check with `identity.why_hidden` that the person may see them.
    """
    return _gathered(db, QUICK, EPOCH, _unrecorded(db)).report()


def classifier_rows(computed: Report) -> list[dict[str, Any]]:
    """Return the numbers of each classifier on the agreed items as in the first table of the report, without intervals.

    `majority rule` is the category that the rule gives, and `difference` the accuracy of the classifier minus that of
    the rule. Nothing is said about better and worse if the labels do not show agreement beyond chance.
    """
    judges, of = report.judges_classifiers(computed), computed.style.category_set
    return [
        {
            "classifier": name,
            "n": row.against.n,
            **{title.lower(): rate.value for title, rate in report.main_rates(row, of).items()},
            "mcc": row.against.mcc.value,
            "majority rule": row.majority_rule.category,
            "difference": row.majority_rule.difference.value,
            "p": row.majority_rule.p_holm,
            "verdict": row.majority_rule.verdict if judges else None,
        }
        for name, row in computed.classifiers.items()
    ]


def gathered_study(db: Database, options: ReportOptions = STANDARD, *, actor: str, now: datetime) -> ReportInput:
    """Read the input of a study's report at one moment; reviewers can continue to label.

    The log records that the data were read.
    """
    return _gathered(db, options, now, _recorded(db, actor, now))


Record = Callable[[State, int], object]  # writes the state and the number of answers to the log


@contextmanager
def _recorded(db: Database, actor: str, now: datetime) -> Iterator[Record]:
    with events.by(db, actor, now) as deed:
        yield lambda state, n_answers: deed.log(actions.REPORT, state=state, answers=n_answers)


@contextmanager
def _unrecorded(db: Database) -> Iterator[Record]:
    with db.snapshot():
        yield lambda *_: None


def _gathered(
    db: Database, options: ReportOptions, now: datetime, moment: AbstractContextManager[Record]
) -> ReportInput:
    """Read the input of a report at the moment of a transaction, which gives the function that writes to the log."""
    with moment as record:
        study, all_items, batches = studies.get(db), items.all_items(db), assigning.item_batches(db)
        chosen, by_model = (batches.chosen, batches.by_model) if batches else (frozenset(), False)
        roles = items.roles(db, chosen)
        answers, verdict_table = all_answers(db), verdicts.table(db)
        given, question = assignments.everything(db), reviewing.question(db)
        course, n_reviewers = history.study_course(db, level=options.level), len(people.reviewers(db))
        record(study.state, len(answers))
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
        notes=(CHOSEN_NOTE.format(len(chosen), report.how_chosen(by_model)),) if chosen else (),
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
    reading: LabelReading = label_tables.STANDARD,
    say: Callable[[str], None] = lambda _note: None,
) -> ReportInput:
    """Read the input of a report from a file of labels and a verdict table.

    The label file has the columns item, reviewer and label, and optionally the other columns of the label file, or
    another layout of labels; the verdict file item, classifier and verdict, and optionally score and threshold. Rows
    without a time get 1970; no number depends on it. Without `question`, the categories are those in the table. `say`
    is called with what was taken as missing, joined or counted once. Raises InputError if a file is invalid. The
    message names file, place and value.
    """
    declared = () if question is None else question.answers
    read = label_tables.read_label_table(_source(label_file), reading, declared=declared, say=say)
    table = read.frame
    try:
        asked = _question_of(table) if question is None else question
        answers = _answers(table, asked)
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
        notes=tuple(dict.fromkeys((*notes, *(f"{label_file.name}: {note}" for note in read.notes)))),
    )
    return ReportInput(answers, verdict_table, table, provenance, options, question=asked)


def _question_of(table: pd.DataFrame) -> Question:
    """Return a question with the categories of a label table: *similar*, or all labels in alphabetical order."""
    found = label_tables.categories_of(table["label"])
    if any(map(marks.are_marks, found)):
        raise InputError("Some labels are marks. Name the question with --question, such as --question mark-changes.")
    if len(found) > len(SIGNS):
        raise InputError(
            f"There are {len(found)} different labels, such as {found[0]!r}. A report needs a closed set of at most "
            f"{len(SIGNS)} categories. Give the column of labels the name label, or group the labels."
        )
    if found == CATEGORIES or len(found) < 2:
        return SIMILAR
    return Question("", tuple(map(Category, found)))


def files_of_files(
    label_file: Path,
    verdict_file: Path | None,
    options: ReportOptions = STANDARD,
    *,
    question: Question | None = None,
    reading: LabelReading = label_tables.STANDARD,
    say: Callable[[str], None] = lambda _note: None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> dict[str, str | bytes]:
    """Return the report of a label table and a verdict table as files, as name -> contents.

    `reading` and `say` are those of `gathered_files`; `progress` and `executor` are those of `files_of_study`.
    """
    gathered = gathered_files(label_file, verdict_file, options=options, question=question, reading=reading, say=say)
    try:
        return gathered.files(gathered.report(progress, executor), executor)
    except ValueError as error:
        raise InputError(f"{label_file}: {error}.") from None


def _answers(table: pd.DataFrame, question: Question) -> pd.DataFrame:
    """Return the answers in a label file, with those optional columns that the file has."""
    rows = checked_rows(table, question, now=EPOCH)
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
        "dwell_ms": [timing.time_on_task(row.label.dwell_ms, row.label.view) for row in rows],
        "confidence": [row.label.confidence for row in rows],
        "swapped": [row.label.swapped for row in rows],
    }
    known = {name for name in table if name != "created_utc" or (table[name] != "").any()}
    if "view" in table:
        columns["axis_rule"] = [row.label.view.get("rule") for row in rows]
    answers = pd.DataFrame(columns | {name: more[name] for name in more if name in known}, dtype=object)
    if EXCLUDED in table:  # first labels of other items depend on these rows, but no result uses the rows
        answers["kind"] = answers["kind"].mask((table[EXCLUDED] == "1").to_numpy(), "excluded")
    return answers


def _timed(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the answers with the axis rule, and with the time on task in place of the measured time."""
    views = [json.loads(view) for view in answers["view"]]
    times = [timing.time_on_task(dwell_ms, view) for dwell_ms, view in zip(answers["dwell_ms"], views, strict=True)]
    rules = [view.get("rule") for view in views]
    return answers.assign(
        dwell_ms=pd.Series(times, index=answers.index, dtype=object),
        axis_rule=pd.Series(rules, index=answers.index, dtype=object),
    )


def _protocol(study: Study) -> dict[str, Any]:
    """Return the question and the display options of the study, as parameters of the report."""
    protocol = study.protocol
    return {
        "axis_rule": protocol.axis_rule,
        "axis_min_span": protocol.min_span,
        "asks_confidence": protocol.asks_confidence,
        "shows_numbers": protocol.shows_numbers,
        "idle_limit_ms": timing.IDLE_LIMIT_MS,
        "facts": list(study.question.facts),
        "varies_pictures": protocol.varies_pictures,
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


def marked_study(db: Database, answers: pd.DataFrame, question: Question) -> MarkedStudy | None:
    """Return the marks in `answers`, whose labels are as they were given; None if nothing can be compared.

    Only first labels count, as in the agreement report; a range counts as its middle.
    """
    labels = answers["label"]
    first = counted_labels(
        answers.assign(given=labels, label=labels.map(question.class_of)).reset_index(drop=True), question.classes
    )
    by_person: dict[str, dict[str, tuple[int, ...]]] = {}
    for item, person, label in zip(first["item"], first["rater"], first["given"], strict=True):
        by_person.setdefault(str(item), {})[str(person)] = tuple(mark.at for mark in marks.read(str(label)))
    about = STARTS if question.marks == START else CHANGES
    series: dict[str, Floats] = {}
    applications: dict[Hashable, Hashable] = {}
    for item in items.all_items(db):
        if item.name in by_person and item.n_runs:
            (_, values, _), *_ = series_of(measured.benchmark_of(db, item), is_for_rules=about == STARTS)
            series[item.name] = values
            if item.application:
                applications[item.name] = item.application
    return MarkedStudy(about, by_person, series, applications) if series else None
