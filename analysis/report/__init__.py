"""Labels and verdicts -> one report: every number once, as JSON, and the same numbers as a page."""

from analysis.report._html import draw, to_html
from analysis.report._json import to_json
from analysis.report._registry import registry
from analysis.report._summary import COUNTED_KINDS, Provenance, summarise

__all__ = ["COUNTED_KINDS", "Provenance", "draw", "registry", "summarise", "to_html", "to_json"]
