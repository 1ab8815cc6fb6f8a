"""The agreement report in each of its forms, from its numbers alone."""

from collections.abc import Collection, Mapping
from typing import Any

from analysis import document as written
from analysis.report._figures import draw
from analysis.report._sections import document

Content = Mapping[str, Any]  # what `summarise` returned, or the same read back from JSON


def to_html(content: Content, figures: Mapping[str, str] | None = None) -> str:
    """The report as one self-contained page; `figures` is what `draw` made of it, where that is there already."""
    return written.to_html(document(content), draw(content) if figures is None else figures)


def to_markdown(content: Content) -> str:
    """The report as Markdown; figures are linked as `figures/NAME.svg`."""
    return written.to_markdown(document(content))


def to_latex(content: Content, figures: Collection[str] | None = None) -> dict[str, str]:
    """The report for LaTeX: `main.tex`, and a file for each table and each figure that was drawn."""
    return written.to_latex(document(content), figures)
