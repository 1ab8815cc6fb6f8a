"""Compute a report from labels and verdicts: all numbers as JSON, and a document that shows the same numbers."""

from analysis.report._differences import Difference, differences
from analysis.report._figures import draw
from analysis.report._registry import registry
from analysis.report._render import PICTURES, to_html, to_latex, to_markdown
from analysis.report._resampling import Resampling
from analysis.report._sections import document
from analysis.report._summary import Provenance, summarise
from analysis.report._wide import wide

__all__ = [
    "PICTURES", "Difference", "Provenance", "Resampling", "differences", "document", "draw", "registry", "summarise",
    "to_html", "to_latex", "to_markdown", "wide",
]  # fmt: skip
