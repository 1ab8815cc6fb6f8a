"""A document as text for a terminal."""

import textwrap
from collections.abc import Iterator

from analysis.document._content import Block, Bullets, Document, Paragraph, Table

JOINED = "\N{WORD JOINER}"
WIDTH = 100  # of running text, and the most of a cell; tables are as wide as they are


def to_text(document: Document) -> str:
    """Render a document for a terminal.

    Figures are left out; control characters of names from outside become spaces, and a cell of more than a line is cut
    in its middle.

    Parameters
    ----------
    document : Document

    Returns
    -------
    str
        Ends with a line break.
    """
    parts = [_wrapped(document.title), _wrapped(document.lead), _wrapped(document.interim)]
    for section in document.sections:
        heading = _clean(section.title)
        parts.append(f"{heading}\n{'-' * len(heading)}" if heading else "")
        parts += [text for block in section.blocks for text in _block(block)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield _wrapped(block.text)
    elif isinstance(block, Bullets):
        yield "\n".join(filter(None, (_wrapped(item, "- ", "  ") for item in block.items)))
    elif isinstance(block, Table):
        caption = _wrapped(block.caption)
        yield "\n".join([*([caption] if caption else []), *_lines(block)])


def _lines(table: Table) -> Iterator[str]:
    """Columns as wide as their longest cell, two spaces between them; numbers to the right."""
    rows = [[_cut(_clean(cell)) for cell in row] for row in (table.header, *table.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if column in table.numeric else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()


def _cut(cell: str) -> str:
    """Names of benchmarks differ at the end as often as at the start."""
    half = (WIDTH - 1) // 2
    return cell if len(cell) <= WIDTH else f"{cell[:half]}…{cell[-half:]}"


def _wrapped(text: str, first: str = "", later: str = "") -> str:
    kept = _clean(text).replace(" %", f"{JOINED}%")  # a number is not parted from its unit
    return textwrap.fill(
        kept, WIDTH, initial_indent=first, subsequent_indent=later, break_long_words=False,
        break_on_hyphens=False,
    ).replace(JOINED, " ")  # fmt: skip


def _clean(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
