"""Read tables with which classifiers are compared: labels of reviewers, and classes from other methods."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from analysis.categories import CATEGORIES, DISSIMILAR, SIMILAR
from labeler.errors import Refused
from labeler.files.formats import json_text
from labeler.files.formats.label_layouts import ITEM, column
from labeler.files.formats.label_tables import STANDARD, LabelReading, folded, read_label_table
from labeler.files.formats.source import Source
from labeler.files.formats.text_table import read_text_table

CLASS = ("class", "classification", "category", "steadiness")
WORDS_FOR_SIMILAR = {"similar", "same", "alike", "s"}
WORDS_FOR_DISSIMILAR = {"dissimilar", "different", "not similar", "unsimilar", "d"}
ONE, ZERO = ("yes", "true"), ("no", "false")


@dataclass(frozen=True)
class ReviewerLabels:
    """Labels of reviewers from a table, and the meaning of 0 and 1 in this table."""

    # Columns item, reviewer, label ("similar" or "dissimilar") and line; one row per
    # label.
    table: pd.DataFrame
    note: str = ""  # the meaning of 0 and 1; "" if the file has words


def read_reviewer_labels(
    source: Source,
    reading: LabelReading = STANDARD,
    *,
    one_is: str = DISSIMILAR,
    say: Callable[[str], None] = lambda _note: None,
) -> ReviewerLabels:
    """Read labels of any layout (`labeler.files.formats.label_tables`) as similar and dissimilar.

    Labels are words or 0 and 1; `one_is` gives the meaning of 1, unless the column of labels is called similar or
    dissimilar. `say` is called with what was taken as missing, joined or counted once. Raises Refused if the table has
    another form, or a label is invalid.
    """
    read = read_label_table(source, reading, say=say)
    if read.label.strip().lower() in CATEGORIES:
        one_is = read.label.strip().lower()
    words = {**dict.fromkeys(WORDS_FOR_SIMILAR, SIMILAR), **dict.fromkeys(WORDS_FOR_DISSIMILAR, DISSIMILAR)}
    other = SIMILAR if one_is == DISSIMILAR else DISSIMILAR
    numbers = {"1": one_is, "0": other, **dict.fromkeys(ONE, one_is), **dict.fromkeys(ZERO, other)}
    labels = []
    for line, person, text in read.frame[["reviewer", "label"]].itertuples(name=None):
        said = folded(text)
        if said not in words and said not in numbers:
            column = "" if read.label else f"; if column {person!r} has no labels of a reviewer, remove it"
            why = f"label {text[:60]!r} is not similar, dissimilar, 0 or 1{column}"
            raise Refused(source.name, why, f"{read.place} {line}")
        labels.append((words | numbers)[said])
    if not labels:
        raise Refused(source.name, "the file contains no labels")
    table = read.frame[["item", "reviewer"]].assign(label=labels, line=read.frame.index).reset_index(drop=True)
    has_numbers = any(folded(text) in numbers for text in read.frame["label"].unique())
    note = f"In {source.name}, 1 is read as {one_is} and 0 as {other}." if has_numbers else ""
    return ReviewerLabels(table, note)


def read_classes(source: Source) -> dict[str, str]:
    """Read the class that another method gave to each benchmark.

    JSON is an object of benchmark -> class, or of benchmark -> object with "class"; CSV has the columns item and class.
    Raises Refused if the file has another form, or a benchmark has two classes.
    """
    content = source.content()
    if content.lstrip()[:1] == b"{":
        with source.refusing():
            return dict(_classes_of(json_text.parse(content)))
    with source.refusing():
        table = read_text_table(content)
    item, found = column(source, table.frame, ITEM, "item"), column(source, table.frame, CLASS, "class")
    classes: dict[str, str] = {}
    for line, row in table.records():
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
