"""Labels and verdicts -> one report: every number once, as JSON, and the same numbers as a page."""

from analysis.report._differences import Difference, differences
from analysis.report._document import Bullets, Document, Figure, Paragraph, Section, Table
from analysis.report._html import draw, page, to_html
from analysis.report._json import plain, to_json
from analysis.report._latex import to_latex
from analysis.report._markdown import markdown, to_markdown
from analysis.report._of_measures import mean_measures, measure_table
from analysis.report._registry import registry
from analysis.report._resampling import Resampling
from analysis.report._summary import Provenance, summarise
from analysis.report._text import to_text
from analysis.report._wide import wide

__all__ = [
    "Bullets", "Difference", "Document", "Figure", "Paragraph", "Provenance", "Resampling", "Section", "Table",
    "differences", "draw", "markdown", "mean_measures", "measure_table", "page", "plain", "registry", "summarise",
    "to_html", "to_json", "to_latex", "to_markdown", "to_text", "wide",
]  # fmt: skip
