"""Represent the content of a document as sections of paragraphs, lists, tables and figures, and shorten names for them.

The content does not depend on the format. All texts are plain text, and each renderer escapes them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from analysis import text as words

if TYPE_CHECKING:
    from analysis.statistics.intervals import Estimate


DASH = "–"
N_ROWS = 40  # maximum number of rows of a table in a document; the JSON has all rows


@dataclass(frozen=True)
class Paragraph:
    """A paragraph.

    `role` is "text", "answer" (the result in one sentence), "note" (small print), "warning" or "command" (lines for a
    shell).
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


@dataclass(frozen=True)
class Link:
    """A line of small print that leads to another section, which has this title."""

    text: str
    title: str


Block = Paragraph | Bullets | Table | Figure | Link


@dataclass(frozen=True)
class Section:
    """A heading and the content below it.

    The level of the heading is 2, or 3 for a subsection of the previous section. In a wide window, the figures of a
    section that `is_beside` stand beside its texts.
    """

    title: str
    blocks: tuple[Block, ...]
    level: int = 2
    is_beside: bool = False

    @property
    def anchor(self) -> str:
        """Return the anchor for links to the section."""
        return anchor_of(self.title)


def anchor_of(title: str) -> str:
    """Return the anchor of the section with this title."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "section"


@dataclass(frozen=True)
class Document:
    """A whole document: main sections, and an appendix with its own table of contents."""

    title: str
    lead: str
    interim: str
    sections: tuple[Section, ...] = field(default_factory=tuple)
    kind: str = "agreement report"
    appendix: tuple[Section, ...] = ()


@dataclass(frozen=True)
class Statistic:
    """A table cell with a statistic and its interval; if one of them is missing, a note below the table says why."""

    estimate: "Estimate"
    as_percent: bool


@dataclass(frozen=True)
class Marked:
    """A table cell with a text that a note below the table explains; without a note if `note` is empty."""

    text: str
    note: str


def share(statistic: "Estimate") -> Statistic:
    """Return a cell that shows a statistic as a percentage."""
    return Statistic(statistic, True)


def plain_number(statistic: "Estimate") -> Statistic:
    """Return a cell that shows a statistic as a number."""
    return Statistic(statistic, False)


def table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[Any]], numeric: Sequence[int] = (), *, name: str = ""
) -> Table:
    """Build a table. Each reason and each note appears once, below the table.

    Cells are texts, numbers, None (a dash), `Marked` texts, or results of `share` and `plain_number`. `name` is used in
    file names and references.
    """
    marks: dict[str, str] = {}
    cells = tuple(tuple(_cell(cell, marks) for cell in row) for row in rows)
    notes = tuple(f"{mark} {reason[:1].upper()}{reason[1:]}." for reason, mark in marks.items())
    return Table(caption, tuple(header), cells, frozenset(numeric), notes, name)


def _cell(cell: Any, marks: dict[str, str]) -> str:
    if isinstance(cell, Marked):
        return _with_mark(cell.text, cell.note, marks)
    if not isinstance(cell, Statistic):
        return DASH if cell is None else str(cell)
    known = cell.estimate
    if known.value is not None and known.low is not None:
        is_one_sided = (known.reason or "").startswith("one-sided")
        return _with_mark(estimate(known, as_percent=cell.as_percent), known.reason if is_one_sided else None, marks)
    value = percent(known.value) if cell.as_percent else number(known.value)
    return _with_mark(value, known.reason, marks)


def _with_mark(text: str, note: str | None, marks: dict[str, str]) -> str:
    """Add the letter of a note to a text: (a), (b), ..., (aa)."""
    if not note:
        return text
    n = len(marks)
    return f"{text} {marks.setdefault(note, f'({ascii_lowercase[n % 26] * (n // 26 + 1)})')}"


def first_rows(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[Any]], numeric: Sequence[int] = ()
) -> Table:
    """Build a table of the first 40 rows; the caption gives the total number of rows."""
    rest = f" First {N_ROWS} of {len(rows)} rows; all are in the JSON." if len(rows) > N_ROWS else ""
    return table(f"{caption}{rest}", header, rows[:N_ROWS], numeric)


def percent(share: float | None) -> str:
    """Format a share as a percentage with one decimal; None becomes a dash."""
    return DASH if share is None else words.percent(share, 1)


def sentence(text: str) -> str:
    """Turn a clause into a sentence: start it with a capital letter and end it with a full stop."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with a fixed number of decimals, a real minus sign, and 0 without a sign; None becomes a dash."""
    return DASH if value is None else f"{value:z.{digits}f}".replace("-", "−")


def interval(statistic: "Estimate", *, as_percent: bool = True) -> str:
    """Format the ends of an interval; return "" if there is no interval."""
    if statistic.low is None or statistic.high is None:
        return ""
    write = percent if as_percent else number
    return f"{write(statistic.low).removesuffix(' %')} to {write(statistic.high)}"


def estimate(statistic: "Estimate", *, as_percent: bool = True) -> str:
    """Format a statistic with its interval; if the value or the interval is missing, give the reason."""
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


def readable_name(name: str) -> str:
    """Convert an identifier to plain words.

    Examples
    --------
    >>> readable_name("balanced_accuracy")
    'balanced accuracy'
    """
    return name.replace("_", " ")


def describe_value(value: Any) -> str:
    """Format a parameter in plain words.

    Examples
    --------
    >>> describe_value({"theta": 0.25, "keep_mean": True}), describe_value(False), describe_value("core")
    ('theta = 0.25, keep mean = yes', 'no', 'core')
    """
    if isinstance(value, Mapping):
        return ", ".join(f"{readable_name(str(name))} = {describe_value(entry)}" for name, entry in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(describe_value, value))
    return DASH if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def one_line(text: str) -> str:
    """Return a text of another program as one line without control characters, for any output of lines.

    Examples
    --------
    >>> one_line("sort\\n::error ::x\\x1b[2J")
    'sort ::error ::x [2J'
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def clean(value: Any) -> Any:
    """Replace characters that XML forbids or that turn the direction of writing, in texts and in all texts in a value.

    The former would make figures unreadable; the latter would show a text in another order than it is written.
    """
    if isinstance(value, str):
        return _NOT_XML.sub("\ufffd", value)
    if isinstance(value, dict):
        return {clean(name): clean(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(clean(entry) for entry in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: clean(getattr(value, field.name)) for field in fields(value)})
    return value


_NOT_XML = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
    "|\r(?!\n)"
)


GAP = "…"
_PART = re.compile(r"\W*\w+|\W+")


def shortened(names: Iterable[str], width: int) -> dict[str, str]:
    """Shorten names that appear together to at most `width` characters so that different names stay different.

    Names that fit are not changed. A longer name keeps the parts that occur in the fewest other names, and then as many
    neighbouring parts as fit. If names are still equal, they get numbers. (A million names that differ only in removed
    parts would need more characters for their number.) Raises ValueError if the width is below 8.
    """
    if width < 8:
        raise ValueError(f"width must be at least 8, got {width}")
    distinct = list(dict.fromkeys(names))
    used = {name for name in distinct if len(name) <= width}
    short = _apart(sorted(name for name in distinct if len(name) > width), width)
    for name, text in short.items():
        short[name] = _numbered(text, used, width)
        used.add(short[name])
    return {name: short.get(name, name) for name in distinct}


def _apart(names: Sequence[str], width: int) -> dict[str, str]:
    """Shorten names to their distinctive parts; if some names become equal, shorten these names again."""
    parts = {name: _parts(name, width) for name in names}
    n_names = Counter(part for split in parts.values() for part in set(split))
    short = {name: _cut(split, n_names, width) for name, split in parts.items()}
    names_of: dict[str, list[str]] = {}
    for name, text in short.items():
        names_of.setdefault(text, []).append(name)
    for group in names_of.values():
        if 1 < len(group) < len(names):
            short |= _apart(group, width)
    return short


def _parts(name: str, width: int) -> list[str]:
    """Split a name into words, each with the characters before it; split words longer than `width` into pieces."""
    size = width // 2
    words = [match.group() for match in _PART.finditer(name)]
    return [word[at : at + size] for word in words for at in range(0, len(word), size)]


def _cut(parts: Sequence[str], n_names: Counter[str], width: int) -> str:
    """Keep the rarest parts of a name that fit; if parts are equally rare, keep the last."""
    is_kept = [False] * len(parts)
    length = 1  # the length if a single gap replaces all removed parts
    for at in sorted(range(len(parts)), key=lambda at: (n_names[parts[at]], -at)):
        gaps_beside = (at > 0 and not is_kept[at - 1]) + (at + 1 < len(parts) and not is_kept[at + 1])
        longer = length + len(parts[at]) + gaps_beside - 1
        if longer > width:
            break
        is_kept[at], length = True, longer
    return "".join(
        part if shown else GAP if at == 0 or is_kept[at - 1] else ""
        for at, (part, shown) in enumerate(zip(parts, is_kept, strict=True))
    )


def _numbered(text: str, used: set[str], width: int) -> str:
    """Return the text for a name; if another name already uses the text, add a number."""
    number, candidate = 1, text
    while candidate in used:
        number += 1
        mark = f"~{number}"
        candidate = text[: width - len(mark)] + mark
    return candidate


def method_report(
    title: str,
    lead: str,
    in_short: Iterable[str],
    sections: Iterable[tuple[str, Iterable[Block]]],
    left_out: Iterable[Block],
    parameters: Mapping[str, Any],
    *,
    kind: str,
    source: Iterable[Block] = (),
    figures: Iterable[str] | None = None,
) -> Document:
    """Build the report of a method: the result in short, its sections, what was left out, and all options.

    A section without content is left out. `source` is what the section on the method says before the table of options.
    Captions of figures that are not in `figures` are left out; by default, every figure exists.
    """
    existing = None if figures is None else set(figures)
    parts: list[tuple[str, Iterable[Block]]] = [
        ("In short", _bullets(in_short)),
        *sections,
        ("Left out", list(left_out) or [Paragraph("Nothing was left out.")]),
        ("Method", [*source, options_table(parameters)]),
    ]
    filled = [(heading, tuple(block for block in blocks if _exists(block, existing))) for heading, blocks in parts]
    return Document(title, lead, "", tuple(Section(heading, blocks) for heading, blocks in filled if blocks), kind)


def options_table(parameters: Mapping[str, Any]) -> Table:
    """Build the table of all options of a method; only the ends of a long list are shown."""
    rows = [(readable_name(name), _option(value)) for name, value in parameters.items()]
    return table("All options and their values.", ("Option", "Value"), rows)


def _bullets(sentences: Iterable[str]) -> list[Block]:
    items = tuple(filter(None, sentences))
    return [Bullets(items)] if items else []


def _exists(block: Block, figures: set[str] | None) -> bool:
    return figures is None or not isinstance(block, Figure) or block.name in figures


def _option(value: Any) -> str:
    if isinstance(value, tuple) and len(value) > 5:
        return f"{describe_value(value[:2])}, ... {describe_value(value[-1])} ({len(value)} values)"
    return describe_value(value)
