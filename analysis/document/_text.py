"""Render documents as text for a terminal."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from analysis.document._content import Block, Bullets, Document, Link, Paragraph, Table, one_line, shortened

JOINED = "\N{WORD JOINER}"
WIDTH = 100  # width of text and tables, in characters
LEAST_NAME, LEAST_TEXT = 28, 14  # smallest width of a column of names, and of a column of text, in characters
BETWEEN = 2  # characters between two columns of a table


def to_text(document: Document) -> str:
    """Render a document for a terminal of 100 columns, with a line break at the end.

    Figures are left out, and control characters in external names become spaces. If a table is too wide, headers and
    texts are wrapped, and names are shortened but stay different. If some columns still do not fit, they follow below,
    and the names are repeated.
    """
    parts = [_wrapped(document.title), _wrapped(document.lead), _wrapped(document.interim)]
    for section in (*document.sections, *document.appendix):
        heading = one_line(section.title)
        parts.append(f"{heading}\n{'-' * len(heading)}" if heading else "")
        parts += [text for block in section.blocks for text in _block(block)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph) and block.role == "command":
        yield "\n".join(_command(line) for line in block.text.splitlines())
    elif isinstance(block, Paragraph):
        yield _wrapped(block.text)
    elif isinstance(block, Link):
        yield _wrapped(f"{block.text}: see “{block.title}”.")
    elif isinstance(block, Bullets):
        yield "\n".join(filter(None, (_wrapped(item, "- ", "  ") for item in block.items)))
    elif isinstance(block, Table):
        caption = _wrapped(block.caption)
        first, *further_parts = _parts(_columns(block))
        yield "\n".join([*([caption] if caption else []), *_lines(first)])
        yield from ("\n".join(_lines(part)) for part in further_parts)
        yield "\n".join(_wrapped(note) for note in block.notes)


def _command(line: str) -> str:
    """Format a command to copy: indented and never wrapped."""
    return f"    {' ' * (len(line) - len(line.lstrip()))}{one_line(line)}"


@dataclass
class _Column:
    """A column of a table and its width. The column shortens names and wraps other texts to fit the width."""

    header: str
    cells: list[str]
    is_numeric: bool
    is_name: bool
    width: int = 0

    def __post_init__(self) -> None:
        """Set the width to the length of the longest cell."""
        self.width = max(map(len, (self.header, *self.cells)))

    @cached_property
    def body(self) -> int:
        """Return the width that the cells need if the header is wrapped."""
        return max(map(len, (*self.header.split(), *self.cells)), default=0)

    @cached_property
    def least(self) -> int:
        """Return the smallest possible width of the column."""
        longest_word = max(map(len, self.header.split()), default=0)
        return min(self.body, max(longest_word, LEAST_NAME if self.is_name else LEAST_TEXT))

    def lines(self) -> list[list[str]]:
        """Return the header and the cells, each as a list of lines."""
        names = shortened(self.cells, max(self.width, 8)) if self.is_name else {}
        cells = [[names[cell]] if self.is_name else _wrapped_cell(cell, self.width) for cell in self.cells]
        return [_wrapped_cell(self.header, self.width), *cells]


def _columns(table: Table) -> list[_Column]:
    """Build the columns of a table. The first column, and all columns of single words, contain names."""
    columns = list(zip(*([one_line(cell) for cell in row] for row in (table.header, *table.rows)), strict=True))
    return [
        _Column(header, cells, at in table.numeric, at not in table.numeric and (at == 0 or " " not in "".join(cells)))
        for at, (header, *cells) in enumerate(columns)
    ]


def _parts(columns: Sequence[_Column]) -> list[list[_Column]]:
    """Fit the columns to the width of the terminal.

    If even the smallest widths do not fit, split the columns into several parts that each repeat the first column.
    """
    parts: list[list[_Column]] = [[]]
    for column in columns:
        if len(parts[-1]) > 1 and _total([*(c.least for c in parts[-1]), column.least]) > WIDTH:
            names = columns[0]
            parts.append([_Column(names.header, names.cells, names.is_numeric, names.is_name)])
        parts[-1].append(column)
    for part in parts:
        _fit(part)
    return parts


def _fit(columns: Sequence[_Column]) -> None:
    """Shrink the widest columns until the table fits; wrap headers first."""
    if _total([column.width for column in columns]) > WIDTH:
        for column in columns:
            column.width = column.body
    while (excess := _total([column.width for column in columns]) - WIDTH) > 0:
        wide = sorted((c for c in columns if c.width > c.least), key=lambda column: -column.width)
        if not wide:
            return  # fewer than two columns cannot be split
        second = wide[1].width if len(wide) > 1 else 0
        wide[0].width -= min(excess, max(1, wide[0].width - second), wide[0].width - wide[0].least)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + BETWEEN * (len(widths) - 1)


def _lines(columns: Sequence[_Column]) -> Iterator[str]:
    """Yield the lines of a table, with numbers aligned to the right."""
    for row in zip(*(column.lines() for column in columns), strict=True):
        for at in range(max(map(len, row), default=0)):
            texts = (lines[at] if at < len(lines) else "" for lines in row)
            cells = (
                text.rjust(column.width) if column.is_numeric else text.ljust(column.width)
                for column, text in zip(columns, texts, strict=True)
            )
            yield (" " * BETWEEN).join(cells).rstrip()


def _wrapped_cell(text: str, width: int) -> list[str]:
    unbroken = text.replace(" %", f"{JOINED}%")
    lines = textwrap.wrap(unbroken, max(width, 1), break_on_hyphens=False) or [""]
    return [line.replace(JOINED, " ") for line in lines]


def _wrapped(text: str, first: str = "", later: str = "") -> str:
    unbroken = one_line(text).replace(" %", f"{JOINED}%")  # keep a number and its unit together
    return textwrap.fill(
        unbroken, WIDTH, initial_indent=first, subsequent_indent=later, break_long_words=False,
        break_on_hyphens=False,
    ).replace(JOINED, " ")  # fmt: skip
