"""Represent the content of reports and command output, and write it as HTML, Markdown, LaTeX, text or JSON.

Helpers for figures are in `analysis.document.figures`; only that module loads Altair.
"""

from analysis.document._content import (
    DASH,
    N_NAMED,
    N_ROWS,
    Block,
    Bullets,
    Document,
    Figure,
    Paragraph,
    Section,
    Table,
    clean,
    counted,
    estimate,
    first_rows,
    interval,
    listed,
    number,
    p_value,
    percent,
    table,
    value_in_words,
    words,
)
from analysis.document._html import to_html
from analysis.document._json import plain, to_json
from analysis.document._latex import to_latex
from analysis.document._markdown import to_markdown
from analysis.document._names import shortened
from analysis.document._text import to_text

__all__ = [
    "DASH", "N_NAMED", "N_ROWS", "Block", "Bullets", "Document", "Figure", "Paragraph", "Section", "Table", "clean",
    "counted", "estimate", "first_rows", "interval", "listed", "number", "p_value", "percent", "plain", "shortened",
    "table", "to_html", "to_json", "to_latex", "to_markdown", "to_text", "value_in_words", "words",
]  # fmt: skip
