"""Labels and verdicts -> one report: every number once, as JSON, and the same numbers as a page."""

from analysis.report._differences import Difference, differences
from analysis.report._html import draw, to_html
from analysis.report._json import to_json
from analysis.report._latex import to_latex
from analysis.report._markdown import to_markdown
from analysis.report._of_measures import mean_measures, measure_table
from analysis.report._registry import registry
from analysis.report._resampling import Resampling
from analysis.report._summary import Provenance, summarise
from analysis.report._wide import wide

__all__ = [
    "Difference", "Provenance", "Resampling", "differences", "draw", "mean_measures",
    "measure_table", "registry", "summarise",
    "to_html", "to_json", "to_latex", "to_markdown", "wide",
]  # fmt: skip
