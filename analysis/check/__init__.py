"""The check of result files, as for a build: are the runs similar, and has anything changed against a baseline?"""

from analysis.check._check import FALLBACK, FOUND, NOT_TOLD, NOTHING_FOUND, Check, Judged, check
from analysis.check._document import document

__all__ = ["FALLBACK", "FOUND", "NOTHING_FOUND", "NOT_TOLD", "Check", "Judged", "check", "document"]
