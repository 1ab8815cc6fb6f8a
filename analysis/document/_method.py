"""Build the report of a method on measurements: the same frame for spread, order, trust and contexts."""

from collections.abc import Iterable, Mapping
from typing import Any

from analysis.document._content import (
    Block,
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    Table,
    describe_value,
    readable_name,
    table,
)


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
