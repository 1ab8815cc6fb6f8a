"""Build the tables of a published study, and describe the meaning of every column."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from analysis.raters.consensus import outcomes
from analysis.raters.tables import COUNTED_KINDS, first_of, third_labels, with_defaults
from analysis.runs.benchmark import Benchmark
from analysis.runs.classifiers import CLASSIFIERS
from analysis.runs.dissimilarity import title_of
from labeler.files.formats import tables as files, writing
from labeler.studies.handover.publishing.publish_file import Times
from labeler.studies.labelling import label_file
from labeler.studies.model import ALL, Item, ItemRole, Kind, Question
from labeler.studies.preparing import assigning
from labeler.studies.questions import MARKED
from labeler.studies.results.reporting import ReportInput
from labeler.studies.store import Database, assignments, items, runs, studies, verdicts

N_FOLDS = 5
DATA_HASH = "data_sha256"
MAX_FOLD_TEXT = f"at most {N_FOLDS}"
TYPES = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_(), "time": pa.string()}
NEVER = "never missing"
MEASUREMENT_COLUMNS = ("benchmark", "application", "run", "iteration", "value", "unit", "better")


@dataclass(frozen=True)
class Column:
    """The description of a column of a published table."""

    name: str
    type: str  # The type of the values: a key of `TYPES`. A time is a text in ISO 8601 format.
    meaning: str
    unit: str = ""
    # All possible values with their meanings, if there are few; otherwise empty.
    values: Mapping[str, str] = field(default_factory=dict)
    missing: str = NEVER  # what an empty cell means


@dataclass(frozen=True)
class PublishedTable:
    """A table of the data set; `frame` has the data, and `columns` describes the columns in the same order."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    frame: pd.DataFrame

    def arrow(self) -> pa.Table:
        """Return the table as an Arrow table with one type per column."""
        names = [column.name for column in self.columns]
        arrays = [
            pa.array([None if _is_missing(value) else value for value in self.frame[column.name]], TYPES[column.type])
            for column in self.columns
        ]
        return pa.Table.from_arrays(arrays, names=names)

    def write_parquet(self, file: Path) -> None:
        """Write the table to a Parquet file."""
        parquet.write_table(self.arrow(), file, compression="zstd")

    def csv(self) -> str:
        """Return the table as CSV text.

        True and false become 1 and 0, as in the label file.
        """
        frame = self.frame.copy()
        for column in self.columns:
            if column.type == "boolean":
                frame[column.name] = frame[column.name].astype(int)
        return files.write(frame)


@dataclass(frozen=True)
class StudyTables:
    """All tables of a study.

    `measurements` describes only the columns, because all measurements together may not fit into memory.
    """

    labels: PublishedTable
    items: PublishedTable
    measurements: tuple[Column, ...]
    verdicts: pd.DataFrame  # the verdicts, in the form that `labeler report --verdicts` reads
    log: pd.DataFrame  # the audit log, with the columns day (see `Times`), actor, action and details (JSON)
    plan: pd.DataFrame  # all assignments, with the columns item, reviewer, kind, part, position, origin and ended
    n_runs: int  # number of runs and of measurements
    n_values: int
    dates: tuple[str, str] = ("", "")  # first and last day of labelling; empty if there are no answers or no times


def tables_of(
    copy: Database,
    gathered: ReportInput,
    log: pd.DataFrame,
    licences: Mapping[str, str],
    comments: Mapping[str, str],
    times: Times = Times.MINUTES,
    *,
    with_hashes: bool = True,
) -> StudyTables:
    """Return the tables of the data set, built from an anonymised copy of the study.

    `gathered` and `log` are the report's input and the events of the copy; `comments` maps event ids to the comments
    that are published. Without names of benchmarks, the hashes of the measurements are left out, too, because they name
    each benchmark to everybody who has its measurements.
    """
    all_items = items.all_items(copy)
    answers = label_file.all_answers(copy)
    question = studies.get(copy).question
    labels = _labels(answers, question, gathered, comments, times)
    days = sorted(str(at)[:10] for at in answers["created_utc"]) if times is not Times.NONE else []
    verdict_table = verdicts.table(copy)
    published = _items(all_items, question, labels.frame, verdict_table, assigning.item_roles(copy), licences)
    return StudyTables(
        labels=labels,
        items=published if with_hashes else _without_hashes(published),
        measurements=_measurement_columns(),
        verdicts=_verdicts(gathered.verdicts),
        log=_log(log, times),
        plan=_plan(copy),
        n_runs=sum(item.n_runs for item in all_items),
        n_values=sum(len(run) for item in all_items for run in runs.of_item(copy, item.item_id)),
        dates=(days[0], days[-1]) if days else ("", ""),
    )


def _without_hashes(table: PublishedTable) -> PublishedTable:
    columns = tuple(column for column in table.columns if column.name != DATA_HASH)
    return replace(table, columns=columns, frame=table.frame.drop(columns=DATA_HASH))


def write_measurements(copy: Database, file: Path) -> None:
    """Write all measurements to a Parquet file as one long table, which `labeler import` can read.

    The items are sorted by name, and each item is one row group of the file.
    """
    with file.open("wb") as out, writing.parquet_writer(out, MEASUREMENT_COLUMNS) as writer:
        for item in items.all_items(copy):
            if item.n_runs:
                series = runs.of_item(copy, item.item_id)
                benchmark = Benchmark.of_series(
                    item.name, series, application=item.application, unit=item.unit, better=item.better
                )
                writer.write_table(writing.rows(benchmark, MEASUREMENT_COLUMNS))


def folds_by_application(applications: Mapping[str, str]) -> dict[str, int]:
    """Assign items to folds for cross-validation so that no application is in two folds.

    A classifier is then tested on applications that were not used to train it.

    The applications are assigned one after another, the largest first; of equally large applications, the first by name
    comes first. Each application goes to the fold with the fewest items; if several folds are equal, to the first of
    these. There are 5 folds, or one fold per application if there are fewer than 5 applications.

    Examples
    --------
    >>> folds_by_application({"a": "x", "b": "y", "c": "x", "d": "z"})
    {'a': 0, 'b': 1, 'c': 0, 'd': 2}
    """
    sizes = Counter(applications.values())
    filled = [0] * min(N_FOLDS, len(sizes))
    fold_of: dict[str, int] = {}
    for application in sorted(sizes, key=lambda name: (-sizes[name], name)):
        fold = filled.index(min(filled))
        fold_of[application] = fold
        filled[fold] += sizes[application]
    return {item: fold_of[application] for item, application in applications.items()}


def codebook(tables: Sequence[tuple[str, str, Sequence[Column]]]) -> list[dict[str, Any]]:
    """Return the codebook for JSON: the name, the meaning and the columns of each table."""
    return [
        {
            "table": name,
            "meaning": meaning,
            "columns": [
                {
                    "name": column.name,
                    "type": column.type,
                    "unit": column.unit or None,
                    "meaning": column.meaning,
                    "values": dict(column.values) or None,
                    "missing": column.missing,
                }
                for column in columns
            ],
        }
        for name, meaning, columns in tables
    ]


def meanings_of(question: Question) -> dict[str, str]:
    """Return what each category means, for the descriptions of columns."""
    meanings = {
        category.name: category.short or category.meaning for category in map(question.category, question.labels)
    }
    return meanings | ({MARKED: "at least one point is marked"} if question.is_marked else {})


_KINDS: Mapping[str, str] = {
    Kind.FRESH: "the plan assigned the item to a set of reviewers",
    Kind.OVERLAP: "the plan assigned the item to all reviewers",
    Kind.RETEST: "the reviewer had labelled the item before and saw it again under another code",
    Kind.THIRD: "an additional label on a split item; some agreed items also get one, to hide which items are split",
    Kind.CALIBRATION: "a label of the calibration round, which no result uses",
    Kind.ADJUDICATED: "a person's decision on a split item, not a reviewer's label",
}
_ANSWER = "the answer"
_MARKS = (
    "the answer: a list of marks such as [12, [30, 34]], or one of the values. A mark is the first point of a new "
    "segment, counted from 0, or a range of points in which it is"
)
_NOT_LABELS = {
    "not sure": "the reviewer gave no category; the item was offered again",
    "withdrawn": "the reviewer withdrew the previous answer",
}


def _labels(
    answers: pd.DataFrame, question: Question, gathered: ReportInput, comments: Mapping[str, str], times: Times
) -> PublishedTable:
    decided = answers["kind"] == Kind.ADJUDICATED
    excluded = gathered.answers["kind"] == "excluded"
    first_labels = first_of(with_defaults(answers), question.labels_in(answers["label"]))
    first = pd.Series(answers.index.isin(first_labels.index), index=answers.index) & ~decided
    frame = pd.DataFrame(
        {
            "item": answers["item"],
            "application": answers["application"],
            "reviewer": answers["reviewer"],
            "kind": answers["kind"],
            "label": answers["label"],
            "revision": answers["revision"],
            "first": first,
            "counts": first & answers["kind"].isin(COUNTED_KINDS) & ~excluded,
            "excluded": excluded,
            "part": answers["part"],
            "position": answers["position"],
            "confidence": answers["confidence"],
            "flag": answers["flag"].astype(bool),
            "dwell_ms": gathered.answers["dwell_ms"],
            "run_order": answers["run_order"],
        }
    )
    values = {name: meaning for name, meaning in meanings_of(question).items() if name != MARKED} | _NOT_LABELS
    meaning = _MARKS if question.is_marked else _ANSWER
    columns: tuple[Column, ...] = tuple(
        replace(column, values=values, meaning=meaning) if column.name == "label" else column
        for column in _LABEL_COLUMNS
    )
    if times is not Times.NONE:
        frame[times] = _since_first(answers, times)
        columns = (*columns, _TIME_COLUMNS[times])
    if comments:
        frame["comment"] = [comments.get(event_id) for event_id in answers["event_id"]]
        columns = (*columns, _COMMENT)
    # the order among all reviewers would say who labelled at the same time
    frame = frame.sort_values("reviewer", kind="stable").reset_index(drop=True)
    return PublishedTable(
        "labels", "one row per answer, by reviewer, and for each reviewer in order of time", columns, frame
    )


def _since_first(answers: pd.DataFrame, times: Times) -> pd.Series:
    """Return for each answer the whole minutes or days since the reviewer's first answer."""
    at = pd.to_datetime(answers["created_utc"], utc=True, format="ISO8601")
    since = at - at.groupby(answers["reviewer"]).transform("min")
    seconds: pd.Series[float] = since.dt.total_seconds()
    return (seconds // (86_400 if times is Times.DAYS else 60)).astype("int64")


_TIME_COLUMNS = {
    unit: Column(unit, "integer", f"whole {unit} from the reviewer's first answer to this answer", unit=unit)
    for unit in (Times.MINUTES, Times.DAYS)
}


_COMMENT = Column(
    "comment", "text", "the reviewer's comment, with names and addresses replaced",
    missing="there is no comment, or the comment is not published",
)  # fmt: skip
_LABEL_COLUMNS = (
    Column("item", "text", "name of the item, as in the table items"),
    Column("application", "text", "the software that the benchmark belongs to", missing="not known"),
    Column(
        "reviewer", "text",
        "R1, R2, … are reviewers; C1, … are people who only decide split items; the numbers have no meaning",
    ),
    Column("kind", "text", "the kind of assignment", values=_KINDS),
    Column("label", "text", _ANSWER),
    Column("revision", "integer", "number of earlier answers by the reviewer in this assignment; starts at 0"),
    Column(
        "first", "boolean",
        "whether this is the first label of the assignment, which is the last category that the reviewer chose before "
        "answering another item; later categories are revisions",
        values={"1": "yes", "0": "no"},
    ),
    Column(
        "counts", "boolean",
        "whether agreement uses the label; these are the first labels of kind fresh or overlap on items that were not "
        "excluded, at most one per reviewer and item",
        values={"1": "yes", "0": "no"},
    ),
    Column(
        "excluded", "boolean", "whether the item was left out of all results; the table items has the reason",
        values={"1": "yes", "0": "no"},
    ),
    Column(
        "part", "integer", "number of the set of reviewers who label this item; starts at 0",
        missing="an item that all reviewers label, a third label, a decision, or a label imported without a part",
    ),
    Column(
        "position", "integer", "position of the item in the planned order of the reviewer; starts at 0",
        missing="a decision, or a label imported without a position",
    ),
    Column(
        "confidence", "integer", "the reviewer's confidence",
        values={"1": "a guess", "2": "fairly sure", "3": "certain"},
        missing="the study did not ask, or the reviewer did not answer",
    ),
    Column(
        "flag", "boolean", "whether the reviewer asked the coordinator to look at the item",
        values={"1": "yes", "0": "no"},
    ),
    Column(
        "dwell_ms", "integer",
        "time on task: the time from the first plot to the answer; time while the page was hidden does not count, and "
        "each pause without key, pointer or wheel input counts at most 60 s",
        unit="ms", missing="not timed, as for imported labels",
    ),
    Column(
        "run_order", "text",
        "the numbers of the item's runs, from 1, in the order in which the reviewer saw them; a comment on “Run 1” is "
        "about the first of these numbers",
        missing="a decision, an imported label, or the order of the item",
    ),
)  # fmt: skip


def _items(
    all_items: Sequence[Item],
    question: Question,
    labels: pd.DataFrame,
    verdict_table: pd.DataFrame,
    roles: Mapping[str, ItemRole],
    licences: Mapping[str, str],
) -> PublishedTable:
    names, meanings = [item.name for item in all_items], meanings_of(question)
    folds = folds_by_application({item.name: item.application for item in all_items})
    rows: dict[str, list[Any]] = {
        "item": [item.name for item in all_items],
        "benchmark": [item.benchmark for item in all_items],
        "application": [item.application for item in all_items],
        "source_licence": [licences.get(item.application) or None for item in all_items],
        "role": [roles[item.name].value for item in all_items],
        "excluded_why": [item.excluded_why for item in all_items],
        "unit": [item.unit for item in all_items],
        "better": [item.better for item in all_items],
        "n_runs": [item.n_runs for item in all_items],
        "n_iterations": [item.n_iterations or None for item in all_items],
        DATA_HASH: [item.data_hash or None for item in all_items],
        **_categories(names, question, labels),
        "fold_by_application": [folds[name] for name in names],
    }
    columns = list(_item_columns(question, meanings))
    for column, values in _of_classifiers(names, verdict_table, meanings):
        rows[column.name] = values
        columns.append(column)
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in rows.items()})
    return PublishedTable("items", "one row per item of the study", tuple(columns), frame)


def _categories(names: Sequence[str], question: Question, labels: pd.DataFrame) -> dict[str, list[Any]]:
    """Return the columns with the labels of each item, and the categories that follow from them."""
    renamed = labels.rename(columns={"reviewer": "rater", "label": "category"})
    renamed = renamed.assign(category=renamed["category"].map(question.class_of))
    counted = renamed[renamed["counts"]]
    decided = labels[(labels["kind"] == Kind.ADJUDICATED) & labels["label"].map(question.is_label).astype(bool)]
    decision = dict(zip(decided["item"], decided["label"], strict=True))
    third = third_labels(renamed[renamed["first"] & ~renamed["excluded"]])
    found = outcomes(counted, third, {}, question.classes)
    votes = counted.groupby(["item", "category"]).size()
    return {
        **{f"n_{category}": [int(votes.get((name, category), 0)) for name in names] for category in question.classes},
        "agreed": [_entry(found["agreed"], name) for name in names],
        "majority": [_entry(found["majority"], name) for name in names],
        "adjudicated": [decision.get(name) for name in names],
    }


def _of_classifiers(
    names: Sequence[str], verdict_table: pd.DataFrame, meanings: Mapping[str, str]
) -> Iterator[tuple[Column, list[Any]]]:
    """Yield the columns with the measures of each item, and with the verdicts of each classifier."""
    by_classifier = dict(iter(verdict_table.groupby("classifier", sort=True)))
    if "heuristic" in by_classifier:
        means = by_classifier["heuristic"].set_index("item")["means"]
        for measure in files.MEASURES:
            meaning = f"mean of the dissimilarity {title_of(measure)} across all pairs of runs; 0 for equal runs"
            column = Column(measure, "number", meaning, missing="not computed")
            yield column, [(_entry(means, name) or {}).get(measure) for name in names]
    for classifier, suffix in _suffixes(map(str, by_classifier)).items():
        of_classifier = by_classifier[classifier].set_index("item")
        for column, source in _verdict_columns(classifier, suffix, meanings):
            yield column, [_entry(of_classifier[source], name) for name in names]


_SCORES = {
    "same": "the height in the tree at which SAME joins the last two clusters of runs",
    "spread": "maxSpread: the difference between the largest and the smallest mean of a run, divided by the mean of "
    "these means",
    "kruskal": "epsilon squared, the effect size of Kruskal and Wallis' test over the runs",
}
_MEASURED_COLUMNS = (
    Column("item", "text", "name of the item; the key of this table"),
    Column("benchmark", "text", "the measured operation with its parameter values"),
    Column("application", "text", "the software that the benchmark belongs to", missing="not known"),
    Column("source_licence", "text", "licence of that software, an SPDX identifier", missing="not known"),
    Column(
        "role", "text", "use of the item in the results",
        values={
            "counted": "used", "calibration": "labelled only in the calibration round",
            "attention": "not labelled: an attention check was made from it",
            "chosen": "labelled because it is informative; used only for learning",
            "excluded": "not used; see excluded_why",
        },
    ),
    Column("excluded_why", "text", "reason why the item was excluded", missing="not excluded"),
    Column("unit", "text", "unit of the measurements"),
    Column("better", "text", "which measurements are "
                             "better", values={"lower": "lower values", "higher": "higher values"}),
    Column("n_runs", "integer", "number of runs; 0 if the study has no measurements of the item"),
    Column("n_iterations", "integer", "number of iterations in the shortest run", missing="no measurements"),
    Column(
        DATA_HASH, "text",
        "SHA-256 of the measurements: of the lengths of the runs as little-endian int64, followed by the values of all "
        "runs in order as little-endian float64",
        missing="no measurements",
    ),
)  # fmt: skip


def _item_columns(question: Question, meanings: Mapping[str, str]) -> Iterator[Column]:
    yield from _MEASURED_COLUMNS
    for category in question.classes:
        yield Column(f"n_{category}", "integer", f"number of labels that count and are {category}")
    yield from (
        Column(
            "agreed", "text", "the category of the labels that count, if there are at least two and all are equal",
            values=meanings, missing="the item has fewer than two labels that count, or is split",
        ),
        Column(
            "majority", "text", "the category of more than half of the labels that count and the third labels",
            values=meanings, missing="the item has fewer than two labels, or there is a tie",
        ),
        Column(
            "adjudicated", "text", "the category that a person chose for a split item", values=meanings,
            missing="no decision",
        ),
        Column(
            "fold_by_application", "integer",
            f"number of the fold for cross-validation, from 0 ({MAX_FOLD_TEXT} folds); no application is in two folds; "
            "the largest application is assigned first, each to the fold with the fewest items",
        ),
    )  # fmt: skip


def _verdict_columns(classifier: str, suffix: str, meanings: Mapping[str, str]) -> Iterator[tuple[Column, str]]:
    known = CLASSIFIERS.get(classifier)
    title = known.title if known else f"the imported or added classifier {classifier}"
    missing = f"{title} gives no verdict; the column note has the reason"
    score = _SCORES.get(classifier, "score of the classifier")
    yield Column(f"verdict_{suffix}", "text", f"verdict of {title}", values=meanings, missing=missing), "verdict"
    yield Column(f"score_{suffix}", "number", f"{score} ({title})", missing=missing), "score"
    threshold = f"threshold for the score of {title}"
    yield Column(f"threshold_{suffix}", "number", threshold, missing=missing), "threshold"
    yield Column(f"parameters_{suffix}", "text", f"parameters of {title}, as JSON", missing=missing), "parameters"
    yield (
        Column(f"note_{suffix}", "text", f"reason why {title} gives no verdict", missing="there is a verdict"),
        "error",
    )


def _measurement_columns() -> tuple[Column, ...]:
    return (
        Column("benchmark", "text", "name of the item, as in the column item of the table items"),
        Column("application", "text", "same as in items"),
        Column("run", "text", "number of the run; each run is a new process"),
        Column("iteration", "integer", "number of the iteration in the run; starts at 0"),
        Column("value", "number", "the measured value", unit="see the column unit"),
        Column("unit", "text", "unit of the value", values={}),
        Column("better", "text", "same as in items", values={"lower": "lower values", "higher": "higher values"}),
    )


def _verdicts(table: pd.DataFrame) -> pd.DataFrame:
    means = {measure: [found.get(measure) for found in table["means"]] for measure in files.MEASURES}
    given = table[["item", "application", "classifier", "parameters", "version", "verdict", "score", "threshold"]]
    return given.assign(**{measure: pd.Series(values, index=table.index) for measure, values in means.items()})


def _log(table: pd.DataFrame, times: Times) -> pd.DataFrame:
    """Return the log with the number of whole days since the first event in place of the time, or without any time."""
    public = table.assign(details=[_without_folders(text) for text in table["details"]]).drop(columns="at_utc")
    if times is not Times.NONE:
        at = pd.to_datetime(table["at_utc"], utc=True, format="ISO8601")
        public.insert(0, "day", (at - at.min()) // pd.Timedelta(1, "day"))
    return public


def _without_folders(text: str) -> str:
    """Return the details of an event, with each path shortened to the name of the file."""
    details = json.loads(text)
    for name in ("file", "from", "into"):
        value = details.get(name)
        if isinstance(value, str):
            details[name] = PureWindowsPath(PurePosixPath(value).name).name
    return json.dumps(details, ensure_ascii=False)


def _plan(copy: Database) -> pd.DataFrame:
    rows = [
        (
            row.assignment.item,
            row.assignment.reviewer,
            row.assignment.kind.value,
            None if row.assignment.block == ALL else row.assignment.block,
            row.assignment.position, row.origin.value, int(row.ended),
        )
        for row in assignments.everything(copy)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["item", "reviewer", "kind", "part", "position", "origin", "ended"]).sort_values(
        ["reviewer", "kind", "position", "item"], ignore_index=True
    )


def _suffixes(classifiers: Iterable[str]) -> dict[str, str]:
    """Return classifier -> suffix for its columns; a suffix has only letters, digits and underscores."""
    taken: dict[str, str] = {}
    for classifier in classifiers:
        plain = re.sub(r"\W+", "_", classifier.casefold(), flags=re.ASCII).strip("_") or "unnamed"
        suffix, number = plain, 2
        while suffix in taken.values():
            suffix, number = f"{plain}_{number}", number + 1
        taken[classifier] = suffix
    return taken


def _entry(column: "pd.Series[Any]", name: str) -> Any:
    value = column.get(name)
    return None if _is_missing(value) else value


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)
