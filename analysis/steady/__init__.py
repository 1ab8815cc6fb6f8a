"""Find when runs become steady, and which runs never do."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.steady._find import (
    RULES as RULES,
    DroppedWarmup as DroppedWarmup,
    RunWarmup as RunWarmup,
    SteadyRun as SteadyRun,
    class_of_benchmark as class_of_benchmark,
    describe_warmup as describe_warmup,
    dropped_warmup as dropped_warmup,
    outliers as outliers,
    quick_rule as quick_rule,
    steady_run as steady_run,
    with_warmup as with_warmup,
)
from analysis.steady._survey import SteadyBenchmark as SteadyBenchmark, SteadySurvey as SteadySurvey, survey as survey

if TYPE_CHECKING:
    from analysis.steady._document import document as document
    from analysis.steady._figures import charts as charts

__getattr__ = on_first_use(__name__, {"document": "_document", "charts": "_figures"})
