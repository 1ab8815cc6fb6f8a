"""Represent the content of a document as sections of paragraphs, lists, tables and figures.

The content does not depend on the format. All texts are plain text, and each renderer escapes them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # imported only for types, because the module loads SciPy
    from analysis.intervals import Estimate

DASH = "–"
N_ROWS = 40  # maximum number of rows of a table in a document; the JSON has all rows
N_NAMED = 3  # maximum number of names that a sentence lists


@dataclass(frozen=True)
class Paragraph:
    """A paragraph.

    `role` is "text", "note" (small print), "warning" or "command" (lines for a shell).
    """

    text: str
    role: str = "text"


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table of texts.

    `numeric` contains the positions of right-aligned columns, counted from 0.

    `notes` are shown below the table. `name` is used in file names and references, and is empty if nothing refers to
    the table.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure, identified by its key in the result of `draw`."""

    name: str
    caption: str


Block = Paragraph | Bullets | Table | Figure


@dataclass(frozen=True)
class Section:
    """A heading and the content below it.

    The level of the heading is 2, or 3 for a subsection of the previous section.
    """

    title: str
    blocks: tuple[Block, ...]
    level: int = 2

    @property
    def anchor(self) -> str:
        """Return the anchor for links to the section."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-") or "section"


@dataclass(frozen=True)
class Document:
    """A whole document: main sections, and an appendix with its own table of contents."""

    title: str
    lead: str
    interim: str
    sections: tuple[Section, ...] = field(default_factory=tuple)
    kind: str = "agreement report"
    appendix: tuple[Section, ...] = ()


def table(caption: str, header: Sequence[str], rows: Sequence[Sequence[Any]], numeric: Sequence[int] = ()) -> Table:
    """Build a table from values of any type; None becomes a dash."""
    cells = tuple(tuple(DASH if cell is None else str(cell) for cell in row) for row in rows)
    return Table(caption, tuple(header), cells, frozenset(numeric))


def first_rows(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[Any]], numeric: Sequence[int] = ()
) -> Table:
    """Build a table of the first 40 rows; the caption gives the total number of rows.

    Examples
    --------
    >>> first_rows("Spreads.", ("Benchmark",), [("b",)] * 120).caption
    'Spreads. First 40 of 120 rows; all are in the JSON.'
    """
    rest = f" First {N_ROWS} of {len(rows)} rows; all are in the JSON." if len(rows) > N_ROWS else ""
    return table(f"{caption}{rest}", header, rows[:N_ROWS], numeric)


def listed(names: Sequence[str], n_named: int = N_NAMED) -> str:
    """Join the first names for a sentence, and add how many names are left out.

    Examples
    --------
    >>> listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a, b', 'a, b, c and 2 more')
    """
    rest = len(names) - n_named
    return ", ".join(names[:n_named]) + (f" and {rest} more" if rest > 0 else "")


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, such as "2 items".

    Examples
    --------
    >>> counted(1, "run"), counted(0, "run")
    ('1 run', '0 runs')
    """
    return f"{n} {noun}{'' if n == 1 else 's'}"


def percent(share: float | None) -> str:
    """Format a share as a percentage with one decimal; None becomes a dash."""
    return DASH if share is None else f"{100 * share:.1f} %".replace("-", "−")


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with a fixed number of decimals and a real minus sign; None becomes a dash."""
    return DASH if value is None else f"{value:.{digits}f}".replace("-", "−")


def interval(statistic: "Estimate", *, as_percent: bool = True) -> str:
    """Format the ends of an interval; return "" if there is no interval."""
    if statistic.low is None or statistic.high is None:
        return ""
    write = percent if as_percent else number
    return f"{write(statistic.low).removesuffix(' %')} to {write(statistic.high)}"


def estimate(statistic: "Estimate", *, as_percent: bool = True) -> str:
    """Format a statistic with its interval; if the value or the interval is missing, give the reason.

    Examples
    --------
    >>> from analysis.intervals import Estimate
    >>> estimate(Estimate(0.5, low=0.25, high=0.75))
    '50.0 % (25.0 to 75.0 %)'
    >>> estimate(Estimate(None, reason="no observations"))
    'undefined: no observations'
    """
    if statistic.value is None:
        return f"undefined: {statistic.reason}"
    value = percent(statistic.value) if as_percent else number(statistic.value)
    behind = interval(statistic, as_percent=as_percent) or statistic.reason
    return f"{value} ({behind})" if behind else value


def p_value(p: float | None) -> str:
    """Format a p value with two digits; None becomes a dash.

    Examples
    --------
    >>> p_value(0.0321), p_value(1.4e-7), p_value(None)
    ('0.032', '1.4e-07', '–')
    """
    return DASH if p is None else f"{p:.2g}"


def words(name: str) -> str:
    """Convert an identifier to plain words.

    Examples
    --------
    >>> words("balanced_accuracy")
    'balanced accuracy'
    """
    return name.replace("_", " ")


def value_in_words(value: Any) -> str:
    """Format a parameter in plain words.

    Examples
    --------
    >>> value_in_words({"theta": 0.25, "keep_mean": True}), value_in_words(False), value_in_words("core")
    ('theta = 0.25, keep mean = yes', 'no', 'core')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{words(str(name))} = {value_in_words(entry)}" for name, entry in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(value_in_words, value))
    return DASH if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def clean(value: Any) -> Any:
    """Remove the characters that XML forbids from texts, lists and dictionaries.

    Such characters would make figures unreadable.
    """
    if isinstance(value, str):
        return _NOT_XML.sub("\ufffd", value)
    if isinstance(value, dict):
        return {clean(name): clean(entry) for name, entry in value.items()}
    return [clean(entry) for entry in value] if isinstance(value, list) else value


_NOT_XML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
