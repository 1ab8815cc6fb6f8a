"""Define the results of a comparison of two versions over the contexts of many benchmarks."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from analysis.benchmark import LeftOut
from analysis.contexts._causal import DispersionComparison
from analysis.contexts._factors import FactorEffect
from analysis.contexts._observer import Observation, SpeedupByLevel
from analysis.contexts._pooled import Pooled
from analysis.contexts._ratios import MeanRatios, Quartiles
from analysis.contexts._sweep import Context
from analysis.intervals import Estimate
from analysis.samples import Test


@dataclass(frozen=True)
class CausalCheck:
    """Comparison of contexts in which the suspected cause is free with contexts in which it is held fixed."""

    free: str  # the two levels of the condition `intervention`; "" for runs without a level
    fixed: str
    contexts: tuple[Context, ...] = ()  # the contexts with the cause held fixed
    # Comparisons of the speed-up, of the baseline and of the candidate; p is corrected for these three
    # comparisons.
    comparisons: tuple[DispersionComparison, ...] = ()
    reason: str | None = None  # why nothing can be compared


@dataclass(frozen=True)
class Sweep:
    """The results of one benchmark over its contexts."""

    name: str  # properties of the benchmark
    application: str
    unit: str
    better: str
    baseline: str  # the versions compared; a speed-up above 1 means that the candidate is faster
    candidate: str
    contexts: tuple[Context, ...]  # in order of appearance; at least one
    quartiles: Quartiles  # quartiles of the speed-ups, and whether the speed-ups lie on both sides of 1
    # The estimate to report: geometric mean with Student's interval of the logarithms. The interval comes from
    # the differences between contexts or from the noise of the runs, whichever gives the longer interval.
    speedup: Estimate
    # Geometric mean with the bootstrap percentile interval over contexts, which does not assume a normal
    # distribution.
    bootstrap: Estimate
    ratio_of_means: Estimate  # ratio of the means across all contexts with Fieller's interval
    mean_ratios: MeanRatios  # means of the ratios, for comparison only because noise inflates them
    words: str  # the speed-up with its direction
    # Tests of the difference between the versions in each context. `t_with_noise` has the larger p of two t tests: from
    # the differences between contexts, and from the noise of the runs. `paired_t` is the first of these alone.
    t_with_noise: Test
    paired_t: Test
    signed_rank: Test
    # Numbers of contexts by the verdict of each context, with Holm's correction; "higher" counts as faster.
    n_faster: int
    n_slower: int
    n_not_shown: int
    n_untested: int
    n_faster_bonferroni: int
    n_slower_bonferroni: int
    both_directions: bool  # whether some contexts show the candidate faster and others slower when tested separately
    factors: tuple[FactorEffect, ...]
    # The speed-up at each level of instrumentation. None if nobody requested it, or if no context with only
    # positive values has this factor.
    by_instrumentation: SpeedupByLevel | None
    causal: CausalCheck | None  # None if no run names an intervention
    pooled: Pooled  # speed-up over the contexts as strata, and the test of interaction
    left_out: tuple[LeftOut, ...]  # Contexts, failed runs and levels of the intervention that the comparison leaves out
    # the p of `t_with_noise` and `signed_rank`, corrected for the number of benchmarks
    t_p_holm: float | None = field(default=None, metadata={"key": "t_holm"})
    t_bonferroni: float | None = None
    rank_holm: float | None = None
    rank_bonferroni: float | None = None
    # "faster" or "slower" ("higher" or "lower" if the better direction is unknown) or "no significant change"
    # across all contexts, by `t_with_noise` with Holm's correction.
    outcome: str | None = field(default=None, metadata={"key": "verdict"})


@dataclass(frozen=True)
class ContextSurvey:
    """The results of a suite of benchmarks over their contexts.

    Attributes
    ----------
    benchmarks : tuple of Sweep
    n_straddling : int
        Number of benchmarks with speed-ups on both sides of 1.
    n_both_directions : int
        Number of benchmarks with `both_directions`.
    n_faster, n_slower, n_not_shown, n_untested : int
        Numbers of contexts of all benchmarks by the verdict of each context.
    observer : Observation or None
        Effect of instrumentation on each version; None if nobody requested it.
    left_out : tuple of LeftOut
        Benchmarks that the comparison leaves out.
    parameters : mapping of str to object
    """

    benchmarks: tuple[Sweep, ...]
    n_straddling: int
    n_both_directions: int
    n_faster: int
    n_slower: int
    n_not_shown: int
    n_untested: int
    observer: Observation | None
    left_out: tuple[LeftOut, ...]
    parameters: Mapping[str, object]
