"""The tables of a published study and the meaning of every column."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from analysis.benchmark import Benchmark
from analysis.classifiers import CLASSIFIERS
from analysis.consensus import agreed_only, majority
from analysis.dissimilarity import title_of
from analysis.tables import COUNTED_KINDS, first_of, with_defaults
from labeler.formats import tables as files
from labeler.formats import writing
from labeler.model import ALL, Answer, Item, Kind
from labeler.service.results import exchange, history
from labeler.service.results.reporting import Gathered
from labeler.store import Database, assignments, items, runs, verdicts

N_FOLDS = 5
MAX_FOLD_TEXT = f"at most {N_FOLDS}"
TYPES = {"text": pa.string(), "integer": pa.int64(), "number": pa.float64(), "boolean": pa.bool_(), "time": pa.string()}
NEVER = "never missing"
MEASUREMENT_COLUMNS = ("benchmark", "application", "run", "iteration", "value", "unit", "better")


@dataclass(frozen=True)
class Column:
    """The description of a column of a published table.

    Attributes
    ----------
    type : str
        A key of `TYPES`; a time is text in ISO 8601 format.
    values : mapping of value to meaning
        All possible values, if they are few.
    missing : str
        When a cell is empty.
    """

    name: str
    type: str
    meaning: str
    unit: str = ""
    values: Mapping[str, str] = field(default_factory=dict)
    missing: str = NEVER


@dataclass(frozen=True)
class Table:
    """A table of the data set: `frame` has `columns` in their order."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    frame: pd.DataFrame

    def arrow(self) -> pa.Table:
        """Return the table as an Arrow table, with one type per column."""
        names = [column.name for column in self.columns]
        arrays = [
            pa.array([None if _is_missing(value) else value for value in self.frame[column.name]], TYPES[column.type])
            for column in self.columns
        ]
        return pa.Table.from_arrays(arrays, names=names)

    def write_parquet(self, file: Path) -> None:
        """Write the table as Parquet."""
        parquet.write_table(self.arrow(), file, compression="zstd")

    def csv(self) -> str:
        """Return the table as CSV text.

        True and false are written as 1 and 0, as in the label file.
        """
        frame = self.frame.copy()
        for column in self.columns:
            if column.type == "boolean":
                frame[column.name] = frame[column.name].astype(int)
        return files.write(frame)


@dataclass(frozen=True)
class StudyTables:
    """All tables of a study.

    `measurements` has only the columns, because the measurements are never all in memory.

    Attributes
    ----------
    verdicts : DataFrame
        The table that `labeler report --verdicts` reads.
    log : DataFrame
        Columns at_utc, actor, action, details (JSON).
    plan : DataFrame
        All assignments: item, reviewer, kind, part, position, origin, ended.
    n_runs, n_values : int
        Number of runs and of measurements.
    """

    labels: Table
    items: Table
    measurements: tuple[Column, ...]
    verdicts: pd.DataFrame
    log: pd.DataFrame
    plan: pd.DataFrame
    n_runs: int
    n_values: int


def tables_of(
    copy: Database, gathered: Gathered, log: pd.DataFrame, licences: Mapping[str, str], comments: Mapping[str, str]
) -> StudyTables:
    """Return the tables of an anonymised copy.

    Parameters
    ----------
    copy : Database
    gathered : Gathered
        The input of the copy's report.
    log : DataFrame
        The copy's events.
    licences : mapping of application to licence
    comments : mapping of event id to comment
        The comments that may be published.
    """
    all_items = items.all_items(copy)
    labels = _labels(copy, gathered, comments)
    verdict_table = verdicts.table(copy)
    return StudyTables(
        labels=labels,
        items=_items(all_items, labels.frame, verdict_table, history.calibration_items(copy), licences),
        measurements=_measurement_columns(),
        verdicts=_verdicts(gathered.verdicts),
        log=_log(log),
        plan=_plan(copy),
        n_runs=sum(item.n_runs for item in all_items),
        n_values=sum(len(run) for item in all_items for run in runs.of_item(copy, item.item_id)),
    )


def write_measurements(copy: Database, file: Path) -> None:
    """Write all measurements as one long table, which `labeler import` can read.

    Each item is one row group, and the items are sorted by name.
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

    Each fold then tests on applications that were not used for training.

    Applications are assigned one after another, largest first; ties are broken by name. Each application goes to the
    fold with the fewest items; if several are equal, to the first. There are 5 folds, or one fold per application if
    there are fewer than 5 applications.

    Parameters
    ----------
    applications : mapping of item to application

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
    """Return the codebook as plain values: the name, meaning and columns of each table."""
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


_CATEGORIES = {"similar": "the runs are similar", "dissimilar": "at least one run differs from the others"}
_KINDS: Mapping[str, str] = {
    Kind.FRESH: "the item was assigned to a set of reviewers",
    Kind.OVERLAP: "the item was assigned to all reviewers",
    Kind.RETEST: "an item that the same reviewer had labelled before, shown again under another code",
    Kind.THIRD: "an additional label on a split item, or on an agreed item to hide which items are split",
    Kind.CALIBRATION: "an item of the calibration round, which is left out of the results",
    Kind.ADJUDICATED: "a person's decision on a split item, not a reviewer's label",
}
_ANSWERS = {
    **_CATEGORIES,
    "not sure": "the reviewer gave no category; the item was offered again",
    "withdrawn": "the reviewer withdrew the previous answer",
}


def _labels(copy: Database, gathered: Gathered, comments: Mapping[str, str]) -> Table:
    answers = exchange.all_answers(copy)
    decided = answers["kind"] == Kind.ADJUDICATED
    excluded = gathered.answers["kind"] == "excluded"
    first = pd.Series(answers.index.isin(first_of(with_defaults(answers)).index), index=answers.index) & ~decided
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
            "created_utc": answers["created_utc"],
            "dwell_ms": gathered.answers["dwell_ms"],
        }
    )
    columns: tuple[Column, ...] = _LABEL_COLUMNS
    if comments:
        frame["comment"] = [comments.get(event_id) for event_id in answers["event_id"]]
        columns = (*columns, _COMMENT)
    return Table("labels", "one row per answer, in order of time", columns, frame)


_COMMENT = Column(
    "comment", "text", "the reviewer's comment, with names and addresses replaced",
    missing="no comment, or it is not published",
)  # fmt: skip
_LABEL_COLUMNS = (
    Column("item", "text", "the item; key of items.item"),
    Column("application", "text", "the software that the benchmark belongs to", missing="not known"),
    Column("reviewer", "text", "R1, R2, … are reviewers, C1, … only decide split items; the numbers have no meaning"),
    Column("kind", "text", "the kind of assignment", values=_KINDS),
    Column("label", "text", "the answer", values=_ANSWERS),
    Column("revision", "integer", "number of earlier answers by the reviewer in this assignment; starts at 0"),
    Column(
        "first", "boolean",
        "whether this is the first label of its assignment: the last category given before the reviewer answered "
        "another item; later categories are revisions",
        values={"1": "yes", "0": "no"},
    ),
    Column(
        "counts", "boolean",
        "whether agreement uses the label: a first label of kind fresh or overlap on an item that was not "
        "excluded; at most one per reviewer and item",
        values={"1": "yes", "0": "no"},
    ),
    Column(
        "excluded", "boolean", "whether the item was left out of all results; items has the reason",
        values={"1": "yes", "0": "no"},
    ),
    Column(
        "part", "integer", "number of the set of reviewers who label this item; starts at 0",
        missing="items that all reviewers label, third labels, decisions, and labels imported without a part",
    ),
    Column(
        "position", "integer", "position of the item in the reviewer's planned order; starts at 0",
        missing="labels imported without a position, and decisions",
    ),
    Column(
        "confidence", "integer", "the reviewer's confidence",
        values={"1": "a guess", "2": "fairly sure", "3": "certain"},
        missing="not asked, or not answered",
    ),
    Column(
        "flag", "boolean", "whether the reviewer asked the coordinator to look at the item",
        values={"1": "yes", "0": "no"},
    ),
    Column("created_utc", "time", "time of saving the answer (ISO 8601, UTC)"),
    Column(
        "dwell_ms", "integer",
        "time on task: from the first plot to the answer, without time in which the page was hidden, and counting "
        "at most 60 s of each pause without key, pointer or wheel input",
        unit="ms", missing="not timed, as for imported labels",
    ),
)  # fmt: skip


def _items(
    all_items: Sequence[Item],
    labels: pd.DataFrame,
    verdict_table: pd.DataFrame,
    calibration: set[str],
    licences: Mapping[str, str],
) -> Table:
    counted = labels[labels["counts"]].rename(columns={"reviewer": "rater", "label": "category"})
    third = labels[labels["first"] & (labels["kind"] == Kind.THIRD) & ~labels["excluded"]]
    third = third.rename(columns={"reviewer": "rater", "label": "category"}).drop_duplicates(["item", "rater"])
    again = pd.MultiIndex.from_frame(third[["item", "rater"]]).isin(
        pd.MultiIndex.from_frame(counted[["item", "rater"]])
    )
    decided = labels[(labels["kind"] == Kind.ADJUDICATED) & labels["label"].isin(list(_CATEGORIES))]
    decision = dict(zip(decided["item"], decided["label"], strict=True))
    agreed, most = agreed_only(counted), majority(counted, third[~again], {})
    votes = counted.groupby(["item", "category"]).size()
    folds = folds_by_application({item.name: item.application for item in all_items})

    def role(item: Item) -> str:
        if item.excluded_why is not None:
            return "excluded"
        return "calibration" if item.name in calibration else "counted"

    rows: dict[str, list[Any]] = {
        "item": [item.name for item in all_items],
        "benchmark": [item.benchmark for item in all_items],
        "application": [item.application for item in all_items],
        "source_licence": [licences.get(item.application) or None for item in all_items],
        "role": [role(item) for item in all_items],
        "excluded_why": [item.excluded_why for item in all_items],
        "unit": [item.unit for item in all_items],
        "better": [item.better for item in all_items],
        "n_runs": [item.n_runs for item in all_items],
        "n_iterations": [item.n_iterations or None for item in all_items],
        "data_sha256": [item.data_hash or None for item in all_items],
        "n_similar": [int(votes.get((item.name, Answer.SIMILAR), 0)) for item in all_items],
        "n_dissimilar": [int(votes.get((item.name, Answer.DISSIMILAR), 0)) for item in all_items],
        "agreed": [_entry(agreed["category"], item.name) for item in all_items],
        "majority": [_entry(most["category"], item.name) for item in all_items],
        "adjudicated": [decision.get(item.name) for item in all_items],
        "fold_by_application": [folds[item.name] for item in all_items],
    }
    columns = [*_ITEM_COLUMNS]
    by_classifier = dict(iter(verdict_table.groupby("classifier", sort=True)))
    names = [item.name for item in all_items]
    if "heuristic" in by_classifier:
        means = by_classifier["heuristic"].set_index("item")["means"]
        for measure in files.MEASURES:
            rows[measure] = [(_entry(means, name) or {}).get(measure) for name in names]
            columns.append(
                Column(
                    measure, "number", f"mean over all pairs of runs of the dissimilarity {title_of(measure)}; 0 for "
                    "equal runs", missing="not computed",
                )
            )  # fmt: skip
    for classifier, suffix in _suffixes(map(str, by_classifier)).items():
        of_classifier = by_classifier[classifier].set_index("item")
        for column, source in _verdict_columns(classifier, suffix):
            rows[column.name] = [_entry(of_classifier[source], name) for name in names]
            columns.append(column)
    frame = pd.DataFrame({name: pd.Series(values, dtype=object) for name, values in rows.items()})
    return Table("items", "one row per item of the study", tuple(columns), frame)


_SCORES = {
    "same": "height at which SAME joins the last two clusters of runs",
    "spread": "maxSpread: (largest − smallest) / mean of the means of the runs",
    "kruskal": "epsilon squared, the effect size of Kruskal and Wallis' test over the runs",
}
_CONSENSUS_MISSING = "no such category"
_ITEM_COLUMNS = (
    Column("item", "text", "name of the item; the key of this table"),
    Column("benchmark", "text", "the measured operation with its parameter values"),
    Column("application", "text", "the software that the benchmark belongs to", missing="not known"),
    Column("source_licence", "text", "licence of that software, an SPDX identifier", missing="not known"),
    Column(
        "role", "text", "use of the item in the results",
        values={
            "counted": "used", "calibration": "only in the calibration round",
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
        "data_sha256", "text",
        "SHA-256 of the measurements: the lengths of the runs as little-endian int64, then the values run by run as "
        "little-endian float64",
        missing="no measurements",
    ),
    Column("n_similar", "integer", "number of counting labels that are similar"),
    Column("n_dissimilar", "integer", "number of counting labels that are dissimilar"),
    Column(
        "agreed", "text", "consensus: the category of at least two counting labels that are all equal",
        values=_CATEGORIES, missing="fewer than two labels, or split",
    ),
    Column(
        "majority", "text", "category of more than half of the counting labels and third labels",
        values=_CATEGORIES, missing="fewer than two labels, or a tie",
    ),
    Column(
        "adjudicated", "text", "category that a person chose for a split item", values=_CATEGORIES,
        missing="no decision",
    ),
    Column(
        "fold_by_application", "integer",
        f"fold for cross-validation, from 0, {MAX_FOLD_TEXT} of them: no application is in two folds. Applications are "
        "assigned by number of items (then name), each to the fold with the fewest items",
    ),
)  # fmt: skip


def _verdict_columns(classifier: str, suffix: str) -> Iterator[tuple[Column, str]]:
    known = CLASSIFIERS.get(classifier)
    title = known.title if known else f"the imported or added classifier {classifier}"
    missing = f"no verdict by {title}; see the column note"
    score = _SCORES.get(classifier, "score of the classifier")
    yield Column(f"verdict_{suffix}", "text", f"verdict of {title}", values=_CATEGORIES, missing=missing), "verdict"
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
        Column("benchmark", "text", "the item; key of items.item"),
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


def _log(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(details=[_without_folders(text) for text in table["details"]])


def _without_folders(text: str) -> str:
    """Return the details of an event with file names in place of paths."""
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
    """Return a column suffix for each classifier, made of letters, digits and underscores."""
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
