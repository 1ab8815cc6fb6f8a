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
from analysis.report._sections_checkup import checkup_document
from analysis.report._sections_contexts import contexts_document
from analysis.report._sections_order import order_document
from analysis.report._sections_spread import spread_document
from analysis.report._sections_trust import trust_document
from analysis.report._summary import Provenance, summarise
from analysis.report._text import to_text
from analysis.report._wide import wide
from analysis.report.contexts_figures import contexts_charts
from analysis.report.order_figures import order_charts
from analysis.report.spread_figures import spread_charts
from analysis.report.trust_figures import trust_charts

__all__ = [
    "Bullets", "Difference", "Document", "Figure", "Paragraph", "Provenance", "Resampling", "Section", "Table",
    "checkup_document", "contexts_charts", "contexts_document", "differences", "draw", "markdown", "mean_measures",
    "measure_table", "order_charts", "order_document", "page", "plain", "registry", "spread_charts",
    "spread_document", "summarise", "to_html", "to_json", "to_latex", "to_markdown", "to_text", "trust_charts",
    "trust_document", "wide",
]  # fmt: skip
