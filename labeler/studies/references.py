"""Read tables with which classifiers are compared: labels of reviewers, and classes from other methods."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from analysis.categories import CATEGORIES, DISSIMILAR, SIMILAR
from labeler.errors import Refused
from labeler.files.formats import json_text
from labeler.files.formats.source import Source
from labeler.files.formats.text_table import read_text_table

ITEM = ("item", "benchmark", "file", "filename", "file_name", "name")
REVIEWER = ("reviewer", "rater", "annotator", "person", "user", "author", "voter")
LABEL = ("label", "vote", "rating", "category", "answer", "classification", "similar", "dissimilar")
UNNAMED = ("", "Unnamed: 0")
CLASS = ("class", "classification", "category", "steadiness")
WORDS_FOR_SIMILAR = {"similar", "same", "alike", "s"}
WORDS_FOR_DISSIMILAR = {"dissimilar", "different", "not similar", "unsimilar", "d"}
EMPTY = {"", "na", "n/a", "nan", "none", "null", "-"}  # cells that say that the reviewer did not label the item
ONE, ZERO = {"1", "1.0", "yes", "true"}, {"0", "0.0", "no", "false"}


@dataclass(frozen=True)
class ReviewerLabels:
    """Labels of reviewers from a table, and the meaning of 0 and 1 in this table."""

    # Columns item (as written in the file), reviewer, label ("similar" or "dissimilar") and line; one row per
    # label.
    table: pd.DataFrame
    note: str = ""  # the meaning of 0 and 1; "" if the file has words


def read_reviewer_labels(source: Source, *, one_is: str = DISSIMILAR) -> ReviewerLabels:
    """Read a table of labels with one row per label, or one row per item and one column per reviewer.

    CSV has a column for the item (item, benchmark, file or name, or a first column without a name) and either columns
    for the reviewer and the label or one column per reviewer, whose cells may be empty or NA. JSON is a list of such
    rows as objects, or an object item -> reviewer -> label. Labels are words or 0 and 1; `one_is` gives the meaning of
    1, unless the column of labels is called similar or dissimilar. Raises Refused if the table has another form, a
    label is invalid, or a reviewer has two labels for an item name.
    """
    table, lines = _label_table(source)
    item = _column(source, table, ITEM, "item")
    reviewer = _first(table, REVIEWER)
    if reviewer is not None:
        label = _column(source, table, LABEL, "label")
        if label.strip().lower() in CATEGORIES:
            one_is = label.strip().lower()
        cells = [
            (row[item], row[reviewer], row[label], line)
            for row, line in zip(table.to_dict("records"), lines, strict=True)
        ]
    else:
        reviewers = [name for name in table.columns if name != item]
        if reviewers and all(name.strip().lower() in LABEL for name in reviewers):
            _column(source, table, REVIEWER, "reviewer")  # raises Refused
        cells = [
            (row[item], name, row[name], line)
            for row, line in zip(table.to_dict("records"), lines, strict=True)
            for name in reviewers
            if row[name].strip().lower() not in EMPTY
        ]
    words = {**dict.fromkeys(WORDS_FOR_SIMILAR, SIMILAR), **dict.fromkeys(WORDS_FOR_DISSIMILAR, DISSIMILAR)}
    other = SIMILAR if one_is == DISSIMILAR else DISSIMILAR
    numbers = {**dict.fromkeys(ONE, one_is), **dict.fromkeys(ZERO, other)}
    rows, seen, has_numbers = [], set(), False
    for name, person, text, line in cells:
        said = text.strip().lower()
        if said not in words and said not in numbers:
            column = "" if reviewer is not None else f"; if column {person!r} has no labels of a reviewer, remove it"
            why = f"label {text[:60]!r} is not similar, dissimilar, 0 or 1{column}"
            raise Refused(source.name, why, f"line {line}")
        if not name.strip() or not person.strip():
            raise Refused(source.name, f"the {'reviewer' if name.strip() else 'item'} is empty", f"line {line}")
        if (name, person) in seen:
            raise Refused(source.name, f"reviewer {person!r} has two labels on {name!r}", f"line {line}")
        seen.add((name, person))
        has_numbers |= said in numbers
        rows.append((name, person.strip(), (words | numbers)[said], line))
    if not rows:
        raise Refused(source.name, "the file contains no labels")
    note = f"In {source.name}, 1 is read as {one_is} and 0 as {other}." if has_numbers else ""
    return ReviewerLabels(pd.DataFrame(rows, columns=["item", "reviewer", "label", "line"]), note)


def read_classes(source: Source) -> dict[str, str]:
    """Read the class that another method gave to each benchmark.

    JSON is an object of benchmark -> class, or of benchmark -> object with "class"; CSV has the columns item and class.
    Raises Refused if the file has another form, or a benchmark has two classes.
    """
    content = source.content()
    if content.lstrip()[:1] == b"{":
        with source.refusing():
            return dict(_classes_of(json_text.parse(content)))
    table, lines = _text_table(source)
    item, found = _column(source, table, ITEM, "item"), _column(source, table, CLASS, "class")
    classes: dict[str, str] = {}
    for row, line in zip(table.to_dict("records"), lines, strict=True):
        if classes.setdefault(row[item], row[found]) != row[found]:
            raise Refused(source.name, f"{row[item]!r} has two different classes", f"line {line}")
    return classes


def _classes_of(content: object) -> Iterator[tuple[str, str]]:
    if not isinstance(content, Mapping) or not content:
        raise ValueError("this is not an object with the class of each benchmark")
    for name, entry in content.items():
        found = entry.get("class") if isinstance(entry, Mapping) else entry
        if not isinstance(found, str):
            raise ValueError(f'{name!r} has no class. Write a text, or an object with "class"')
        yield str(name), found


def _label_table(source: Source) -> tuple[pd.DataFrame, list[int]]:
    """Return the rows of a CSV table or of JSON as texts, and the line of each row (for JSON, the position from 1)."""
    content = source.content()
    if content.lstrip()[:1] not in (b"[", b"{"):
        table, lines = _text_table(source)
        unnamed = str(table.columns[0])
        if unnamed in UNNAMED:  # an index column that pandas and R write
            table = table.drop(columns=unnamed) if _first(table, ITEM) else table.rename(columns={unnamed: ITEM[0]})
        return table, lines
    with source.refusing():
        rows = json_text.parse(content)
    if isinstance(rows, Mapping):
        rows = [{ITEM[0]: name, **entry} for name, entry in rows.items() if isinstance(entry, Mapping)] or None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
        why = "this is neither a list of objects with item, reviewer and label, nor an object item -> reviewer -> label"
        raise Refused(source.name, why)
    table = pd.DataFrame(
        [{str(name): "" if value is None else str(value) for name, value in row.items()} for row in rows], dtype=str
    )
    return table.fillna(""), list(range(1, len(rows) + 1))


def _text_table(source: Source) -> tuple[pd.DataFrame, list[int]]:
    with source.refusing():
        table = read_text_table(source.content())
        return table.frame, table.lines()


def _first(table: pd.DataFrame, names: tuple[str, ...]) -> str | None:
    by_name = {str(column).strip().lower(): str(column) for column in table.columns}
    return next((by_name[name] for name in names if name in by_name), None)


def _column(source: Source, table: pd.DataFrame, names: tuple[str, ...], what: str) -> str:
    found = _first(table, names)
    if found is None:
        columns = ", ".join(map(str, table.columns)) or "none"
        raise Refused(
            source.name, f"there is no column for the {what} ({', '.join(names)}). The columns are: {columns}"
        )
    return found
