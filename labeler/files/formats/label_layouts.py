"""Find the labels in a file: tables of labels or of items and reviewers, JSON, Label Studio and Potato.

The rows are texts as in the file. `label_tables` decides which of them are labels.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.categories import CATEGORIES, NOT_SURE
from analysis.text import counted
from labeler.errors import Refused
from labeler.files.formats import json_text
from labeler.files.formats.source import Source
from labeler.files.formats.tables import LINE
from labeler.files.formats.text_table import read_text_table
from labeler.safe_text import as_written

ITEM = (
    "item", "benchmark", "file", "filename", "file_name", "name", "items", "unit", "units", "subject", "case", "task",
    "target", "object", "id",
)  # fmt: skip
REVIEWER = (
    "reviewer", "rater", "annotator", "person", "user", "author", "voter", "coder", "judge", "observer", "user_id",
    "worker",
)  # fmt: skip
LABEL = (
    "label", "vote", "rating", "category", "answer", "classification", "choice", "annotation", "code", "value", "score",
    *CATEGORIES,  # with 1 and 0 in the cells
)  # fmt: skip
COLUMNS = ("item", "reviewer", "label")
UNNAMED = ("", "unnamed: 0", "...1")  # an index column that pandas and R write
WIDE = "wide"
MANY_REVIEWERS = 8  # a table with more columns than this, and than rows, may be transposed
_BESIDE = ("application", "benchmark")  # columns of a wide table that are neither items nor reviewers
_FALSE = (False, None, 0, "", "0", "false", "False")
_PRODIGY = {"answer", "_input_hash"}  # keys of each line of an export
_ITEM_OF_FORMS, _APPLICATION = "item", "application"


@dataclass(frozen=True)
class Rows:
    """The rows of a file, before any cell is judged."""

    # Texts with the columns item, reviewer and label, and others that the file has; indexed by the line
    # of a table, the number of a task, or the position in a JSON list. One row per label.
    frame: pd.DataFrame
    place: str = "line"  # what the index counts: line, row or task
    label: str = "label"  # name of the column of labels in the file; "" if each reviewer has a column
    notes: tuple[str, ...] = ()
    has_revisions: bool = False  # whether several rows of a reviewer and an item are later answers


def find_rows(
    source: Source, layout: str | None = None, declared: Sequence[str] = (), *, one_reviewer: str = ""
) -> Rows:
    """Return the rows of a file of labels; raises Refused if it has none of the known layouts.

    With `layout` "wide", each column except the item and its application is a reviewer, whatever its name. Of the
    schemes in a line of Potato, only those with a declared answer count, if there are any. `one_reviewer` names the
    reviewer of all labels of a table, which then needs no column of reviewers.
    """
    content = source.content()
    start = json_text.beginning(content)[:1]
    if start not in (b"[", b"{"):
        try:
            table = read_text_table(content)
            frame = table.frame.map(as_written).astype(object)
        except ValueError as error:
            raise Refused(source.name, str(error)) from None
        frame.index = pd.Index(table.lines(), name=LINE)
        frame = frame[(frame.map(str.strip) != "").any(axis=1)]
        return _of_table(source, frame, "line", is_wide=layout == WIDE, one_reviewer=one_reviewer)
    with source.refusing():
        document, is_lines = _json(content)
    if is_lines and isinstance(document[0], Mapping) and "label_annotations" in document[0]:
        return _of_potato(source, document, declared)
    if isinstance(document, list) and any(isinstance(task, Mapping) and "annotations" in task for task in document):
        return _of_label_studio(source, document)
    place = "line" if is_lines else "row"
    return _of_table(source, _of_json(source, document), place, is_wide=layout == WIDE, one_reviewer=one_reviewer)


def _json(content: bytes) -> tuple[Any, bool]:
    """Return a JSON document, or the documents of all lines; and whether it is the latter."""
    try:
        document = json_text.parse(content)
    except ValueError:
        lines = content.splitlines()
        if sum(map(bool, map(bytes.strip, lines))) < 2:
            raise
        return [_line(text, number) for number, text in enumerate(lines, start=1) if text.strip()], True
    is_line = isinstance(document, Mapping) and "label_annotations" in document
    return ([document], True) if is_line else (document, False)


def _line(text: bytes, number: int) -> Any:
    try:
        value = json_text.parse(text)
    except ValueError as error:
        raise ValueError(f"line {number}: {str(error).partition(': ')[2] or error}") from None
    return {**value, LINE: number} if isinstance(value, Mapping) else value


def _of_json(source: Source, document: Any) -> pd.DataFrame:
    if isinstance(document, Mapping):
        document = [{ITEM[0]: name, **entry} for name, entry in document.items() if isinstance(entry, Mapping)] or None
    if not isinstance(document, list) or not document or not all(isinstance(row, Mapping) for row in document):
        why = (
            "this is neither a list of objects with item, reviewer and label, nor an object item -> reviewer -> label, "
            "nor a list of tasks of Label Studio. Export from Label Studio as JSON, not as JSON-MIN"
        )
        raise Refused(source.name, why)
    lines = [int(row.get(LINE, at)) for at, row in enumerate(document, start=1)]
    rows = [
        {str(name): _text(source, value, line) for name, value in row.items() if name != LINE}
        for row, line in zip(document, lines, strict=True)
    ]
    return pd.DataFrame(rows, index=pd.Index(lines, name=LINE), dtype=object).fillna("")


def _text(source: Source, value: Any, line: int) -> str:
    """Return a JSON value as the text of a cell; a list with one text is this text."""
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        if len(value) > 1:
            raise Refused(source.name, f"there are {len(value)} values in one cell: {listing(value)}", f"row {line}")
        value = value[0] if value else None
    if isinstance(value, (list, Mapping)):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value)


def _of_table(source: Source, table: pd.DataFrame, place: str, *, is_wide: bool, one_reviewer: str) -> Rows:
    """Return the rows of a table with one row per label, or one row per item and one column per reviewer."""
    if set(table.columns) >= _PRODIGY:
        why = (
            "this is an export of Prodigy, in which accept and reject decide whether a label counts. Write a table "
            "with the columns item, reviewer and label"
        )
        raise Refused(source.name, why)
    unnamed = str(table.columns[0])
    if unnamed.strip().lower() in UNNAMED:
        table = table.drop(columns=unnamed) if first(table, ITEM) else table.rename(columns={unnamed: ITEM[0]})
    if one_reviewer:
        table = table.drop(columns=first(table, REVIEWER) or []).assign(**{REVIEWER[0]: one_reviewer})
    reviewer = None if is_wide else first(table, REVIEWER)
    label = None if is_wide else first(table, LABEL)
    if reviewer is None and label is None:
        return _of_wide(source, table, place, is_wide=is_wide)
    found = {
        "item": column(source, table, ITEM, "item"),
        "reviewer": column(source, table, REVIEWER, "reviewer"),
        "label": column(source, table, LABEL, "label"),
    }
    others = [name for name in table.columns if name not in found.values() and name not in found]
    frame = table[[*found.values(), *others]].set_axis([*found, *others], axis=1)
    order = [next((ours for ours, theirs in found.items() if theirs == name), name) for name in table.columns]
    # a column that holds the number of each answer says that later rows are revisions
    has_revisions = "revision" in frame and bool((frame["revision"].map(str.strip) != "").any())
    return Rows(frame[[name for name in order if name in frame]], place, found["label"], (), has_revisions)


def _of_wide(source: Source, table: pd.DataFrame, place: str, *, is_wide: bool) -> Rows:
    item, notes = first(table, ITEM), []
    beside = [name for name in table.columns if name.strip().lower() in _BESIDE and name != item]
    unread = [name for name in table.columns if name.strip().lower() in ITEM and name not in (item, *beside)]
    if unread and not is_wide:
        notes.append(f"{listing(unread)}: this column is not read, because {item!r} names the items.")
        beside += unread
    reviewers = [name for name in table.columns if name != item and name not in beside]
    if item is None and not len(table):
        raise Refused(source.name, "the file has no labels. Give a table with the columns item, reviewer and label")
    if item is None and reviewers:
        item = _unnamed_item(source, table, reviewers)
        notes.append(
            f"No column is called item, so the rows are numbered, and all of {listing(reviewers)} are reviewers."
            if item is None
            else f"The column {item!r} is read as the items, and {listing(reviewers[1:])} as reviewers."
        )
        reviewers = [name for name in reviewers if name != item]
    if not reviewers:
        raise Refused(source.name, f"there is no column of a reviewer. The columns are: {', '.join(table.columns)}")
    _check_no_counts(source, table[reviewers])
    if len(reviewers) > max(len(table), MANY_REVIEWERS):
        notes.append(
            f"There are {len(reviewers)} columns of reviewers for {counted(len(table), 'item')}. If each row is a "
            "reviewer, transpose the table."
        )
    applications = table[_APPLICATION] if _APPLICATION in table else [""] * len(table)
    names = [str(number) for number in range(1, len(table) + 1)] if item is None else table[item]
    cells = table[reviewers].to_numpy(dtype=object)
    rows = [
        (name, application, reviewer, text)
        for name, application, texts in zip(names, applications, cells, strict=True)
        for reviewer, text in zip(reviewers, texts, strict=True)
    ]
    index = pd.Index([line for line in table.index for _ in reviewers], name=LINE)
    frame = pd.DataFrame(rows, columns=["item", _APPLICATION, "reviewer", "label"], index=index, dtype=object)
    return Rows(frame if _APPLICATION in table else frame.drop(columns=_APPLICATION), place, "", tuple(notes))


def _unnamed_item(source: Source, table: pd.DataFrame, columns: Sequence[str]) -> str | None:
    """Return the first column if its cells are names of items; None if it has labels, as every other column has."""
    values = [{text.strip() for text in table[name]} - {""} for name in columns]
    own, others = values[0], set().union(*values[1:])
    if own & others or not others:
        return None
    if len(own) == len(table) > 1:
        return columns[0]
    why = f"there is no column for the items ({', '.join(ITEM[:3])}, ...), and {columns[0]!r} has neither labels nor a "
    raise Refused(source.name, f"{why}different name in each row. Name the column of the items 'item'")


def _check_no_counts(source: Source, table: pd.DataFrame) -> None:
    """Refuse a table whose rows count the labels of each category."""
    cells = table.map(str.strip).to_numpy(dtype=object)
    if len(cells) < 3 or not all(text.isdecimal() and len(text) < 5 for text in cells.ravel()):
        return
    numbers = cells.astype(int)
    sums = set(numbers.sum(axis=1).tolist())
    if len(sums) == 1 and min(sums) > 1 and (numbers == 0).any() and len({tuple(row) for row in numbers}) > 1:
        raise Refused(
            source.name,
            f"each row adds up to {min(sums)}, so this can be a table of counts, with one column per category. Give a "
            "table of labels, with the columns item, reviewer and label",
        )


def _of_label_studio(source: Source, tasks: Sequence[Any]) -> Rows:
    """Return the annotations of a JSON export of Label Studio; a skipped task is "not sure".

    The reviewer is the name in `meta`. If `meta` has no name, the reviewer is the account, identified by its e-mail
    address up to the @, or by its number. The item is `item` of the data, or the number of the task.
    """
    rows, n_numbered = [], 0
    for number, task in enumerate(tasks, start=1):
        place = f"task {number}"
        if not isinstance(task, Mapping) or not isinstance(task.get("annotations"), list):
            raise Refused(source.name, "the task has no list of annotations. Export as JSON, not as JSON-MIN", place)
        data = task["data"] if isinstance(task.get("data"), Mapping) else {}
        item = data.get(_ITEM_OF_FORMS)
        if not isinstance(item, str) or not item.strip():
            if task.get("id") is None:
                raise Refused(source.name, "the task has neither an id nor the name of an item in data.item", place)
            item, n_numbered = str(task["id"]), n_numbered + 1
        for annotation in task["annotations"]:
            if not isinstance(annotation, Mapping):
                raise Refused(source.name, "an annotation is not an object", place)
            label, reviewer = _of_annotation(annotation, source, place)
            rows.append(
                {
                    "item": item, "application": str(data.get(_APPLICATION) or ""), "reviewer": reviewer,
                    "label": label, "created_utc": str(annotation.get("created_at") or ""),
                    "dwell_ms": _milliseconds(annotation.get("lead_time")), LINE: number,
                }
            )  # fmt: skip
    if rows and all(row["created_utc"] for row in rows):
        rows.sort(key=lambda row: str(row["created_utc"]))  # a second annotation is later than the first
    notes: tuple[str, ...] = ()
    if n_numbered:
        notes = (f"{counted(n_numbered, 'task')} without a text in data.item: the item is the id of the task.",)
    return Rows(_framed(rows), "task", notes=notes, has_revisions=True)


def _of_annotation(annotation: Mapping[str, Any], source: Source, place: str) -> tuple[str, str]:
    results = [
        result
        for result in annotation.get("result") or []
        if isinstance(result, Mapping) and result.get("type") == "choices" and isinstance(result.get("value"), Mapping)
    ]
    chosen = [str(choice) for result in results for choice in result["value"].get("choices") or []]
    if len(chosen) > 1:
        raise Refused(
            source.name, f"an annotation has {len(chosen)} choices. It must have at most one: {listing(chosen)}", place
        )
    label = NOT_SURE if annotation.get("was_cancelled") else chosen[0] if chosen else ""
    named = [
        text
        for result in results
        if isinstance(result.get("meta"), Mapping)
        for text in result["meta"].get("text") or []
    ]
    return label, str(named[0]) if len(named) == 1 else _account(annotation.get("completed_by"), source, place)


def _account(completed_by: Any, source: Source, place: str) -> str:
    if isinstance(completed_by, Mapping):
        address = completed_by.get("email")
        if isinstance(address, str) and address.partition("@")[0]:
            return address.partition("@")[0]
        completed_by = completed_by.get("id")
    if completed_by is None:
        raise Refused(source.name, "an annotation has no reviewer: both meta and completed_by are missing", place)
    return f"user-{completed_by}"


def _of_potato(source: Source, lines: Sequence[Any], declared: Sequence[str]) -> Rows:
    """Return the labels in Potato's annotated_instances.jsonl; the scheme may have any name."""
    rows, answers = [], {name.casefold() for name in declared}
    for at, line in enumerate(lines, start=1):
        entry = line if isinstance(line, Mapping) else {}
        number = int(entry.get(LINE, at))
        place = f"line {number}"
        item, reviewer = entry.get("instance_id", entry.get("id")), entry.get("user_id")
        if item is None or reviewer is None:
            raise Refused(source.name, "instance_id or user_id is missing", place)
        schemes = entry.get("label_annotations")
        chosen = [
            str(label)
            for scheme in (schemes.values() if isinstance(schemes, Mapping) else ())
            for label, value in (scheme.items() if isinstance(scheme, Mapping) else ())
            if value not in _FALSE
        ]
        chosen = [label for label in chosen if label.strip().casefold() in answers] or chosen
        if len(chosen) > 1:
            raise Refused(source.name, f"{len(chosen)} labels are chosen: {listing(chosen)}. Choose one", place)
        behaviour = entry.get("behavioral_data")
        details: Mapping[str, Any] = behaviour if isinstance(behaviour, Mapping) else {}
        rows.append(
            {
                "item": str(item), "reviewer": str(reviewer), "label": chosen[0] if chosen else "",
                "created_utc": str(details.get("timestamp") or ""),
                "dwell_ms": _milliseconds(details.get("time_spent")), LINE: number,
            }
        )  # fmt: skip
    return Rows(_framed(rows))


def _milliseconds(seconds: Any) -> str:
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    return str(round(1000 * seconds)) if is_number and 0 <= seconds < 2**21 else ""


def _framed(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    columns = list(rows[0]) if rows else [*COLUMNS, LINE]
    return pd.DataFrame(rows, columns=columns, dtype=object).set_index(LINE)


def first(table: pd.DataFrame, names: Sequence[str]) -> str | None:
    """Return the column of a table that has the first of these names, in whatever case; None if it has none."""
    by_name = {str(name).strip().lower(): str(name) for name in table.columns}
    return next((by_name[name] for name in names if name in by_name), None)


def column(source: Source, table: pd.DataFrame, names: Sequence[str], what: str) -> str:
    """Return the column of a table that has the first of these names; raises Refused if it has none."""
    found = first(table, names)
    if found is None:
        raise Refused(
            source.name,
            f"there is no column for the {what} ({', '.join(names)}). The columns are: {listing(table.columns, 20)}",
        )
    return found


def listing(names: Iterable[str], most: int = 5) -> str:
    """Return names in quotes for a sentence, at most `most` of them."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(str(name)[:40]) for name in names[:most]) + more
