"""Find when runs become steady, and which runs never do."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.methods.steady._survey import (
    SteadyBenchmark as SteadyBenchmark,
    SteadyOptions as SteadyOptions,
    SteadySurvey as SteadySurvey,
    survey as survey,
)
from analysis.methods.steady._warmup import (
    DroppedWarmup as DroppedWarmup,
    RunWarmup as RunWarmup,
    describe_warmup as describe_warmup,
    dropped_warmup as dropped_warmup,
    with_warmup as with_warmup,
)
from analysis.runs.steady import (
    RULES as RULES,
    SteadyRun as SteadyRun,
    class_of_benchmark as class_of_benchmark,
    outliers as outliers,
    quick_rule as quick_rule,
    steady_run as steady_run,
)

if TYPE_CHECKING:
    from analysis.methods.steady._document import document as document
    from analysis.methods.steady._figures import charts as charts

__getattr__ = on_first_use(__name__, {"document": "_document", "charts": "_figures"})
