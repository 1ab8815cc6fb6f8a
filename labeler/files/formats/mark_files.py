"""Read and write the marks of people and of detectors: TCPD, AnnotateChange, TCPDBench, and tables.

A mark is the first point of a new segment, counted from 0. Files can count in another way, see `Counting`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from analysis.categories import NO_CATEGORY, WITHDRAWN
from analysis.text import counted
from labeler import marks
from labeler.files.formats import json_text
from labeler.files.formats.label_tables import STANDARD, LabelReading, read_label_table
from labeler.files.formats.source import Source
from labeler.files.formats.text_table import TextTable, read_text_table
from labeler.safe_text import as_written, csv_text

FIRST, LAST_BEFORE = "first", "last-before"
INDEX_IS = (FIRST, LAST_BEFORE)
NO_CHANGE_POINT = "no_cp"  # what AnnotateChange writes if a person marked nothing
ANNOTATE_CHANGE = ("DatasetID", "DatasetName", "UserID", "AnnotatedOn", "AnnotationIndex")
TABLE = ("item", "reviewer", "mark")
_NO_MARKS = (
    "this is none of the known forms of marks. Use the columns item, reviewer and mark, or the export of "
    "AnnotateChange, or annotations of TCPD as JSON"
)
FIRST_LABELS = ("", "fresh", "overlap")  # kinds of labels that count; "" in a table without kinds
UNNAMED = "results"  # a detector whose file names it nowhere

People = Mapping[str, Mapping[str, tuple[int, ...]]]  # item -> person -> marks
Results = Mapping[str, Mapping[str, tuple[int, ...]]]  # detector -> item -> marks


@dataclass(frozen=True)
class Counting:
    """How the indices of a file are counted."""

    index_is: str = field(default=FIRST, metadata={
        "choices": INDEX_IS,
        "help": "What an index in the files of marks is: the first point of a new segment, or the last one before it.",
    })  # fmt: skip
    counted_from: str = field(default="0", metadata={
        "choices": ("0", "1"), "help": "Number of the first point of a series in the files of marks.",
    })  # fmt: skip

    def place(self, index: Any, where: str) -> int:
        """Return the mark of an index; raise ValueError if it is not a whole number or before the first point."""
        try:
            found = int(index) if not isinstance(index, float) or index.is_integer() else None
        except (TypeError, ValueError):
            found = None
        if found is None or isinstance(index, bool):
            raise ValueError(f"{where}: {str(index)[:40]!r} is not the number of a point")
        mark = found - int(self.counted_from) + (self.index_is == LAST_BEFORE)
        if mark < 0:
            raise ValueError(f"{where}: the point {index} is before the first point of the series")
        return mark


DEFAULT_COUNTING = Counting()


def read_people(
    source: Source,
    counting: Counting = DEFAULT_COUNTING,
    reading: LabelReading = STANDARD,
    *,
    say: Callable[[str], None] = lambda _note: None,
) -> People:
    """Read the marks of people; raise Refused that names the place.

    The file is the annotations of TCPD (JSON), the export of AnnotateChange (CSV), a table with the columns item,
    reviewer and mark (a row per mark, an empty cell for no change), or a file of labels (`label_tables`) that are lists
    of marks. `say` is called with what was taken as missing, joined or counted once.
    """
    content = source.content()
    start = json_text.beginning(content)[:1]
    with source.refusing():
        if start == b"{":
            return _read_tcpd(content, counting)
        if start != b"[":
            table = read_text_table(content)
            names = _columns(table.names)
            if names is not None:
                found, n_missing = _read_rows(table, names, counting, reading)
                if n_missing:
                    say(f"{source.name}: {counted(n_missing, 'mark')} missing: the reviewer did not answer.")
                return found
            if "label" not in table.names and b"[" not in content:
                raise ValueError(_NO_MARKS)
    return _of_labels(source, counting, reading, say)


def _read_tcpd(content: bytes, counting: Counting) -> People:
    document = json_text.parse(content)
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    for item, people in document.items():
        if not isinstance(people, dict):
            raise ValueError(f"series {item!r} has no annotators. Annotations of TCPD are series: annotator: indices")
        for person, indices in people.items():
            where = f"series {item!r}, annotator {person!r}"
            if not isinstance(indices, list):
                raise ValueError(f"{where}: {json.dumps(indices)[:40]} is not a list of indices")
            found.setdefault(item, {})[person] = _sorted(counting.place(index, where) for index in indices)
    return found


def _columns(names: Sequence[str]) -> tuple[str, str, str] | None:
    """Return the columns of the series, the person and the mark; None if the table has no column of marks."""
    if set(ANNOTATE_CHANGE) - {"DatasetID", "AnnotatedOn"} <= set(names):
        return "DatasetName", "UserID", "AnnotationIndex"
    if "mark" not in names:
        return None
    missing = [name for name in TABLE if name not in names]
    if missing:
        raise ValueError(f"column {missing[0]!r} is missing")
    return TABLE


def _read_rows(
    table: TextTable, names: tuple[str, str, str], counting: Counting, reading: LabelReading
) -> tuple[People, int]:
    """Return the marks in a table with a row per mark, and the number of cells that say that a mark is missing."""
    found: dict[str, dict[str, set[int]]] = {}
    n_missing = 0
    for line, row in table.records():
        item, person, cell = (as_written(row[name].strip()) for name in names)
        where = f"line {line}"
        if not item or not person:
            raise ValueError(f"{where}: the {'series' if not item else 'person'} is empty")
        if cell and cell.lower() in reading.missing_words:
            n_missing += 1
            continue
        places = found.setdefault(item, {}).setdefault(person, set())
        if cell not in ("", NO_CHANGE_POINT):
            places.add(counting.place(cell, where))
    return {item: {name: _sorted(own) for name, own in people.items()} for item, people in found.items()}, n_missing


def _of_labels(source: Source, counting: Counting, reading: LabelReading, say: Callable[[str], None]) -> People:
    """Return the marks in the first label of each person and item, in a file of labels."""
    read = read_label_table(source, reading, say=say)
    found: dict[str, dict[str, tuple[int, ...]]] = {}
    frame = read.frame.assign(kind=read.frame.get("kind", ""))
    for at, item, person, cell, kind in frame[["item", "reviewer", "label", "kind"]].itertuples(name=None):
        people = found.setdefault(item, {})
        if cell == WITHDRAWN:
            people.pop(person, None)
        if cell in NO_CATEGORY or person in people or kind not in FIRST_LABELS:
            continue  # only the first label of a person counts, and it counts until it is withdrawn
        where = f"{read.place} {at}"
        with source.refusing():
            people[person] = _sorted(counting.place(mark.at, where) for mark in _label(cell, where))
    return {item: people for item, people in found.items() if people}


def _label(cell: str, where: str) -> Sequence[marks.Mark]:
    if cell.isdecimal():
        raise ValueError(f"{where}: {cell!r} is not a list of marks such as [12]")
    try:
        return marks.read(cell)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _sorted(places: Any) -> tuple[int, ...]:
    return tuple(sorted(set(places)))


def read_results(source: Source, counting: Counting = DEFAULT_COUNTING) -> tuple[Results, list[str]]:
    """Read what detectors found, and remarks about results that cannot be used; raise Refused that names the place.

    The file is a result of TCPDBench (JSON), which names its series and its script, or a table with the columns item,
    detector and mark.
    """
    content = source.content()
    with source.refusing():
        if json_text.beginning(content)[:1] == b"{":
            return _read_benchmark(source, content, counting)
        return _read_detections(content, counting), []


def _read_benchmark(source: Source, content: bytes, counting: Counting) -> tuple[Results, list[str]]:
    document = json_text.parse(content)
    path = PurePath(source.name)
    item = str(document.get("dataset") or path.stem)
    script = PurePath(str(document.get("script") or "")).stem.removeprefix("cpdbench_")
    detector = script or path.parent.name or UNNAMED
    status = str(document.get("status") or "no status")
    if status != "SUCCESS":
        return {}, [f"{source.name}: {detector} has no result for {item!r}: {status.lower()}"]
    result = json_text.member(document, "result", dict, "the file")
    places = json_text.member(result, "cplocations", list, "result")
    return {detector: {item: _sorted(counting.place(place, "cplocations") for place in places)}}, []


def _read_detections(content: bytes, counting: Counting) -> Results:
    table = read_text_table(content)
    missing = [name for name in ("item", "mark") if name not in table.names]
    if missing:
        raise ValueError(f"column {missing[0]!r} is missing; results have the columns item, detector and mark")
    found: dict[str, dict[str, set[int]]] = {}
    for line, row in table.records():
        places = found.setdefault(row.get("detector", "").strip() or UNNAMED, {}).setdefault(row["item"].strip(), set())
        if row["mark"].strip() not in ("", NO_CHANGE_POINT):
            places.add(counting.place(row["mark"].strip(), f"line {line}"))
    return {name: {item: _sorted(own) for item, own in items.items()} for name, items in found.items()}


def write_tcpd(people: People) -> str:
    """Return marks as annotations of TCPD."""
    content = {item: {name: list(own) for name, own in given.items()} for item, given in people.items()}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def write_annotate_change(people: People) -> str:
    """Return marks as AnnotateChange exports them; the time of an annotation is unknown."""
    number = {item: str(at) for at, item in enumerate(people, start=1)}
    return csv_text(
        ANNOTATE_CHANGE, ((number[item], item, name, "", mark) for item, name, mark in _rows(people, "no_cp"))
    )


def write_table(people: People) -> str:
    """Return marks as a table with a row per mark, and an empty cell for no change."""
    return csv_text(TABLE, _rows(people, ""))


def _rows(people: People, nothing: str) -> Iterator[tuple[str, str, str]]:
    for item, given in people.items():
        for name, own in given.items():
            yield from ((item, name, str(mark)) for mark in own) if own else ((item, name, nothing),)


FORMS: Mapping[str, Callable[[People], str]] = {
    "tcpd": write_tcpd,
    "annotatechange": write_annotate_change,
    "table": write_table,
}
