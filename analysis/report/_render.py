"""The agreement report in each of its forms, from its numbers alone."""

from collections.abc import Collection, Mapping
from typing import Any

from analysis import document as written
from analysis.report._figures import draw
from analysis.report._sections import document
from analysis.report._sections_agreement import PICTURES as PICTURES

Content = Mapping[str, Any]  # what `summarise` returned, or the same read back from JSON


def to_html(content: Content, figures: Mapping[str, str] | None = None) -> str:
    """The report as one self-contained page; `figures` is what `draw` made of it, where that is there already."""
    figures = draw(content) if figures is None else figures
    return written.to_html(document(content, with_pictures=PICTURES in figures), figures)


def to_markdown(content: Content, figures: Collection[str] = ()) -> str:
    """The report as Markdown; figures are linked as `figures/NAME.svg`."""
    return written.to_markdown(document(content, with_pictures=PICTURES in figures))


def to_latex(content: Content, figures: Collection[str] | None = None) -> dict[str, str]:
    """The report for LaTeX: `main.tex`, and a file for each table and each figure that was drawn."""
    return written.to_latex(document(content, with_pictures=PICTURES in (figures or ())), figures)
