"""Format the statistics in the JSON of a report as text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from string import ascii_lowercase
from typing import Any

from analysis import document
from analysis.classifiers import classifier_named
from analysis.document import DASH, Table, p_value
from analysis.intervals import Estimate

Content = Mapping[str, Any]

START_OF_NOTE = {"weak": "less certain than the interval shows: ", "rejected": "rejected: "}


@dataclass(frozen=True)
class Cell:
    """A table cell with a statistic."""

    content: Content
    as_percent: bool


@dataclass(frozen=True)
class Marked:
    """A table cell with a text that a note below the table explains; without a note if `note` is empty."""

    text: str
    note: str


def share(content: Content) -> Cell:
    """Return a cell that shows a statistic as a percentage."""
    return Cell(content, True)


def plain_number(content: Content) -> Cell:
    """Return a cell that shows a statistic as a number."""
    return Cell(content, False)


def stat_table(
    name: str, caption: str, header: Sequence[str], rows: Sequence[Sequence[Any]], numeric: Sequence[int] = ()
) -> Table:
    """Build a table of statistics. Each reason and each note appears once, below the table.

    Parameters
    ----------
    name : str
        Name of the table, used in file names and references.
    caption : str
    header : sequence of str
    rows : sequence of sequences
        Cells are texts, numbers, None, `Marked` texts, or results of `share` and `plain_number`.
    numeric : sequence of int
    """
    marks: dict[str, str] = {}
    written = [[_cell(cell, marks) if isinstance(cell, (Cell, Marked)) else cell for cell in row] for row in rows]
    notes = tuple(f"{mark} {reason[:1].upper()}{reason[1:]}." for reason, mark in marks.items())
    return replace(document.table(caption, header, written, numeric), name=name, notes=notes)


def _cell(cell: Cell | Marked, marks: dict[str, str]) -> str:
    if isinstance(cell, Marked):
        return _with_mark(cell.text, cell.note, marks)
    found = _read_back(cell.content)
    if found.value is None or found.low is None:
        value = DASH if found.value is None else _value(found.value, as_percent=cell.as_percent)
        return _with_mark(value, found.reason, marks)
    return document.estimate(found, as_percent=cell.as_percent)


def _with_mark(text: str, note: str | None, marks: dict[str, str]) -> str:
    return f"{text} {marks.setdefault(note, _mark(len(marks)))}" if note else text


def _value(value: float, *, as_percent: bool) -> str:
    return document.percent(value) if as_percent else document.number(value)


def _mark(n: int) -> str:
    """Return the letter that marks a note: (a), (b), ..., (aa)."""
    letters = ascii_lowercase[n % 26]
    return f"({letters * (n // 26 + 1)})"


def estimate(content: Content, *, as_percent: bool = True) -> str:
    """Format a statistic with its interval; if the value or the interval is missing, give the reason.

    Examples
    --------
    >>> estimate({"value": 0.5, "low": 0.25, "high": 0.75, "reason": None})
    '50.0 % (25.0 to 75.0 %)'
    """
    return document.estimate(_read_back(content), as_percent=as_percent)


def interval(content: Content, *, as_percent: bool = True) -> str:
    """Format the limits of an interval; return "" if there is no interval."""
    return document.interval(_read_back(content), as_percent=as_percent)


def level_of(content: Content) -> str:
    """Return the level of all intervals of the report as text, such as "95 % CI"."""
    return f"{100 * content['parameters']['level']:g} % CI"


def model_of(row: Content) -> Marked:
    """Return a cell with the state of the model that a row depends on.

    A note explains the state. There is no note if the state is "fits". There is also no note if the row has no numbers,
    because other notes of the row then give the reason.
    """
    state, reason = row["state"], row["state_words"].removesuffix(".")
    has_numbers = any(isinstance(part, Mapping) and part.get("value") is not None for part in row.values())
    note = "" if state == "fits" or not has_numbers else f"{START_OF_NOTE.get(state, '')}{reason}"
    return Marked(state, note)


def alpha_of(content: Content) -> float:
    """Return the significance level of all tests of the report."""
    return round(1 - float(content["parameters"]["level"]), 6)


def p_in_words(p: float | None) -> str:
    """Format a p value for a sentence.

    Examples
    --------
    >>> p_in_words(0.04), p_in_words(1e-9)
    ('p = 0.04', 'p < 0.001')
    """
    return "not tested" if p is None else "p < 0.001" if p < 0.001 else f"p = {p_value(p)}"


def title_of(classifier: str) -> str:
    """Return the title of a classifier."""
    known = classifier_named(classifier)
    return known.title if known else classifier


def row_title(classifier: str) -> str:
    """Return the title of a classifier with a capital letter, for table rows and the start of a sentence."""
    title = title_of(classifier)
    return f"{title[:1].upper()}{title[1:]}" if classifier_named(classifier) else title


def sentence(text: str) -> str:
    """Turn a clause into a sentence: start it with a capital letter and end it with a full stop."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _read_back(content: Content) -> Estimate:
    """Convert plain values from JSON back to an `Estimate`, and ignore additional fields."""
    return Estimate(**{field.name: content.get(field.name) for field in fields(Estimate)})
