"""Render documents as Markdown for GitHub and Pandoc."""

import re
from collections.abc import Iterator

from analysis.document._content import (
    Block,
    Bullets,
    Document,
    Figure,
    Link,
    Paragraph,
    Section,
    Table,
    anchor_of,
    clean,
)

_LIST = re.compile(r"^(\d*)([-+.)])")  # characters that would start a list item or a rule
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$!&@])")


def to_markdown(document: Document) -> str:
    """Render a document as Markdown; link figures as `figures/NAME.svg` and escape external texts."""
    parts = [f"# {_escaped(document.title)}" if document.title else "", _escaped(document.lead)]
    parts += [f"**{_escaped(document.interim)}**"] if document.interim else []
    parts += [text for section in document.sections for text in _section(section)]
    if document.appendix:
        contents = [f"- [{_inline(section.title)}](#{section.anchor})" for section in document.appendix]
        parts += ["## Appendix", "\n".join(contents)]
        parts += [text for section in document.appendix for text in _section(section)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _section(section: Section) -> Iterator[str]:
    if section.title:
        yield f"{'#' * section.level} {_escaped(section.title)}"
    for block in section.blocks:
        yield from _block(block)


def _block(block: Block) -> Iterator[str]:
    if isinstance(block, Paragraph) and block.role == "command":
        yield "\n".join(f"    {line}" for line in block.text.splitlines())
    elif isinstance(block, Paragraph):
        text = _escaped(block.text)
        yield f"**{text}**" if block.role in ("warning", "answer") else f"*{text}*" if block.role == "note" else text
    elif isinstance(block, Bullets):
        yield "\n".join(f"- {_escaped(item)}" for item in block.items)
    elif isinstance(block, Link):
        yield f"[{_escaped(block.text)}](#{anchor_of(block.title)})"
    elif isinstance(block, Figure):
        yield f"![{_escaped(block.caption)}](figures/{block.name}.svg)"
    else:
        yield _escaped(block.caption)
        yield _table(block)
        yield "\n".join(f"- {_escaped(note)}" for note in block.notes)


def _table(block: Table) -> str:
    rule = ["---:" if column in block.numeric else "---" for column in range(len(block.header))]
    rows = [map(_inline, block.header), rule, *(map(_inline, row) for row in block.rows)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _escaped(text: str) -> str:
    """Escape a text for Markdown, so that it is one line without markup."""
    return _LIST.sub(r"\1\\\2", _inline(text))


def _inline(text: str) -> str:
    """Escape a text for the middle of a line, for example in a cell, where no list can start."""
    return _SPECIAL.sub(r"\\\1", " ".join(clean(text).split()))
