"""Compare two versions in many measurement contexts, and find out why contexts differ."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.methods.contexts._observer import (
    brown_forsythe as brown_forsythe,
    compare_spreads as compare_spreads,
    speedup_by_level as speedup_by_level,
)
from analysis.methods.contexts._ratios import (
    describe_speedup as describe_speedup,
    geometric_mean as geometric_mean,
    mean_ratios as mean_ratios,
    paired_ratio as paired_ratio,
    paired_t as paired_t,
    quartiles as quartiles,
    signed_rank as signed_rank,
    speedups as speedups,
)
from analysis.methods.contexts._survey import (
    ContextOptions as ContextOptions,
    ContextSurvey as ContextSurvey,
    context_survey as context_survey,
)
from analysis.methods.contexts._sweep import (
    Context as Context,
    factor_effect as factor_effect,
    parse_context as parse_context,
    variant_plan as variant_plan,
)
from analysis.runs.benchmark import INTERVENTION as INTERVENTION

if TYPE_CHECKING:
    from analysis.methods.contexts._document import document as document
    from analysis.methods.contexts._figures import charts as charts

__getattr__ = on_first_use(__name__, {"document": "_document", "charts": "_figures"})
