"""Render the agreement report in each format, using only the numbers of the report."""

from collections.abc import Collection, Mapping
from typing import Any

from analysis import document as written
from analysis.report._figures import draw
from analysis.report._sections import document
from analysis.report._sections_agreement import PICTURES as PICTURES

Content = Mapping[str, Any]  # the result of `summarise`, or the same mapping read from JSON


def to_html(content: Content, figures: Mapping[str, str] | None = None) -> str:
    """Render the report as one self-contained page; pass `figures` if `draw` has already been called."""
    figures = draw(content) if figures is None else figures
    return written.to_html(document(content, with_pictures=PICTURES in figures), figures)


def to_markdown(content: Content, figures: Collection[str] = ()) -> str:
    """Render the report as Markdown; link figures as `figures/NAME.svg`."""
    return written.to_markdown(document(content, with_pictures=PICTURES in figures))


def to_latex(content: Content, figures: Collection[str] | None = None) -> dict[str, str]:
    """Render the report for LaTeX: `main.tex`, and a separate file for each table and each existing figure."""
    return written.to_latex(document(content, with_pictures=PICTURES in (figures or ())), figures)
