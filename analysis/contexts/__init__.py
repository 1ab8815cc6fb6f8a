"""Compare two versions in many measurement contexts, and find out why contexts differ."""

from typing import TYPE_CHECKING

from analysis._lazy import on_first_use
from analysis.benchmark import INTERVENTION
from analysis.contexts._causal import Spread, SpreadComparison, brown_forsythe, compare_spreads
from analysis.contexts._factors import FactorEffect, LevelEffect, factor_effect, parse_context
from analysis.contexts._observer import (
    Observation,
    ObservedLevel,
    ObserverEffect,
    OverallLevel,
    SpeedupAtLevel,
    SpeedupByLevel,
    as_number,
    observer_effects,
    speedup_by_level,
)
from analysis.contexts._plan import variant_plan
from analysis.contexts._ratios import (
    MeanRatios,
    Noise,
    Quartiles,
    geometric_mean,
    mean_ratios,
    noise_of_runs,
    paired_ratio,
    paired_t,
    quartiles,
    signed_rank,
    speedup_in_words,
    speedups,
)
from analysis.contexts._results import CausalCheck, Survey, Sweep
from analysis.contexts._survey import survey
from analysis.contexts._sweep import Context

if TYPE_CHECKING:
    from analysis.contexts._document import document
    from analysis.contexts._figures import charts

__all__ = [
    "INTERVENTION",
    "CausalCheck",
    "Context",
    "FactorEffect",
    "LevelEffect",
    "MeanRatios",
    "Noise",
    "Observation",
    "ObservedLevel",
    "ObserverEffect",
    "OverallLevel",
    "Quartiles",
    "SpeedupAtLevel",
    "SpeedupByLevel",
    "Spread",
    "SpreadComparison",
    "Survey",
    "Sweep",
    "as_number",
    "brown_forsythe",
    "charts",
    "compare_spreads",
    "document",
    "factor_effect",
    "geometric_mean",
    "mean_ratios",
    "noise_of_runs",
    "observer_effects",
    "paired_ratio",
    "paired_t",
    "parse_context",
    "quartiles",
    "signed_rank",
    "speedup_by_level",
    "speedup_in_words",
    "speedups",
    "survey",
    "variant_plan",
]  # fmt: skip
__getattr__ = on_first_use(__name__, {"document": "_document", "charts": "_figures"})
