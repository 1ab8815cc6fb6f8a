"""Check benchmark results in a build: are the runs similar, and has a benchmark changed against the baseline?"""

from analysis.check._check import (
    CHANGED,
    DEFAULT_RULES,
    FAIL_ON,
    FAILED,
    FOUND,
    INCONCLUSIVE,
    MISSING,
    NOTHING_FOUND,
    UNDECIDED,
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
    "CHANGED", "DEFAULT_RULES", "FAILED", "FAIL_ON", "FOUND", "INCONCLUSIVE", "MISSING", "NOTHING_FOUND", "UNDECIDED",
    "Check", "CheckedBenchmark", "Finding", "KnownChange", "Rules", "acknowledge", "check", "document",
]  # fmt: skip
