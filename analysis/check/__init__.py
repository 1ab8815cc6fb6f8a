"""The check of result files, as for a build: are the runs similar, and has anything changed against a baseline?"""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
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
    Rules,
    check,
)
from analysis.check._document import document

if TYPE_CHECKING:
    from analysis.check._junit import to_junit

__all__ = [
    "CHANGED", "DEFAULT_RULES", "FAILED", "FAIL_ON", "FOUND", "INCONCLUSIVE", "MISSING", "NOTHING_FOUND", "NOT_TOLD",
    "Check", "CheckedBenchmark", "Finding", "Rules", "check", "document", "to_junit",
]  # fmt: skip
__getattr__ = on_first_use(__name__, {"to_junit": "_junit"})
