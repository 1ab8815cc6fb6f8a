"""Find where the levels of benchmarks change over versions or dates."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.methods.trend._survey import (
    DEFAULT_DETECTOR as DEFAULT_DETECTOR,
    TREND_DETECTORS as TREND_DETECTORS,
    BenchmarkTrend as BenchmarkTrend,
    ChangeDecision as ChangeDecision,
    GradualChange as GradualChange,
    StandingOut as StandingOut,
    TrendOptions as TrendOptions,
    TrendSurvey as TrendSurvey,
    VersionChange as VersionChange,
    false_changes as false_changes,
    survey as survey,
)

if TYPE_CHECKING:
    from analysis.methods.trend._document import document as document
    from analysis.methods.trend._figures import charts as charts

__getattr__ = on_first_use(__name__, {"document": "_document", "charts": "_figures"})
