"""The check of result files, as for a build: are the runs similar, and has anything changed against a baseline?"""

from analysis.check._check import (
    CHANGED,
    DEFAULT_RULES,
    FAIL_ON,
    FAILED,
    FOUND,
    INCONCLUSIVE,
    MISSING,
    NOT_TOLD,
    NOTHING_FOUND,
    Check,
    CheckedBenchmark,
    Finding,
    KnownChange,
    Rules,
    check,
)
from analysis.check._document import document
from analysis.check._known import acknowledge

__all__ = [
    "CHANGED", "DEFAULT_RULES", "FAILED", "FAIL_ON", "FOUND", "INCONCLUSIVE", "MISSING", "NOTHING_FOUND", "NOT_TOLD",
    "Check", "CheckedBenchmark", "Finding", "KnownChange", "Rules", "acknowledge", "check", "document",
]  # fmt: skip
