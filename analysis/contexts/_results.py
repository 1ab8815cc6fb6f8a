"""Store the results for a suite of benchmarks over their contexts."""

from collections.abc import Mapping
from dataclasses import dataclass

from analysis.benchmark import LeftOut
from analysis.contexts._causal import SpreadComparison
from analysis.contexts._factors import FactorEffect
from analysis.contexts._observer import Observation, SpeedupByLevel
from analysis.contexts._ratios import MeanRatios, Quartiles
from analysis.contexts._sweep import Context
from analysis.intervals import Estimate
from analysis.samples import Test


@dataclass(frozen=True)
class CausalCheck:
    """Comparison of the contexts with the suspected cause free and with the cause held fixed.

    Attributes
    ----------
    free, fixed : str
        The levels of the condition `intervention`; "" if the runs have none.
    contexts : tuple of Context
        The contexts with the cause held fixed.
    comparisons : tuple of SpreadComparison
        Comparisons of the speed-up and of the numbers of each version; p is corrected for the three.
    reason : str or None
        Why nothing can be compared.
    """

    free: str
    fixed: str
    contexts: tuple[Context, ...] = ()
    comparisons: tuple[SpreadComparison, ...] = ()
    reason: str | None = None


@dataclass(frozen=True)
class Sweep:
    """The results of one benchmark over its contexts.

    Attributes
    ----------
    name, application, unit, better : str
        Properties of the benchmark.
    baseline, candidate : str
        The versions compared; a speed-up above 1 means that the candidate is faster.
    contexts : tuple of Context
        In order of appearance; at least one.
    quartiles : Quartiles
        Quartiles of the speed-ups, and whether the speed-ups lie on both sides of 1.
    speedup : Estimate
        Geometric mean with Student's interval of the logarithms: the estimate to report. The interval comes from the
        differences between contexts, or from the noise of the runs if that is longer.
    bootstrap : Estimate
        Geometric mean with the bootstrap percentile interval over contexts, which does not assume a normal
        distribution.
    ratio_of_means : Estimate
        Ratio of the means across all contexts with Fieller's interval.
    mean_ratios : MeanRatios
        Means of the ratios, inflated by noise; for comparison only.
    words : str
        The speed-up with its direction.
    paired_t, signed_rank : Test
        Tests of the differences between the versions per context. The p of the t test is the larger one of
        two: from the differences between contexts, and from the noise of the runs.
    t_holm, t_bonferroni, rank_holm, rank_bonferroni : float or None
        The p of both tests, corrected for the number of benchmarks.
    verdict : str or None
        "faster" or "slower" ("higher" or "lower" if the better direction is unknown) or "no significant change"
        across all contexts, by the paired t test with Holm's correction.
    n_faster, n_slower, n_not_shown, n_untested : int
        Numbers of contexts by their own verdict, with Holm's correction; higher counts as faster.
    n_faster_bonferroni, n_slower_bonferroni : int
    both_directions : bool
        Whether some contexts show the candidate faster and others slower when tested separately.
    factors : tuple of FactorEffect
    by_instrumentation : SpeedupByLevel or None
        Whether the verdict on the two versions is the same at all levels of instrumentation. None if not requested, or
        if no context with only positive values has this factor.
    causal : CausalCheck or None
        None if no run names an intervention.
    left_out : tuple of LeftOut
        Left-out contexts, failed runs and unused levels of the intervention.
    """

    name: str
    application: str
    unit: str
    better: str
    baseline: str
    candidate: str
    contexts: tuple[Context, ...]
    quartiles: Quartiles
    speedup: Estimate
    bootstrap: Estimate
    ratio_of_means: Estimate
    mean_ratios: MeanRatios
    words: str
    paired_t: Test
    signed_rank: Test
    n_faster: int
    n_slower: int
    n_not_shown: int
    n_untested: int
    n_faster_bonferroni: int
    n_slower_bonferroni: int
    both_directions: bool
    factors: tuple[FactorEffect, ...]
    by_instrumentation: SpeedupByLevel | None
    causal: CausalCheck | None
    left_out: tuple[LeftOut, ...]
    t_holm: float | None = None
    t_bonferroni: float | None = None
    rank_holm: float | None = None
    rank_bonferroni: float | None = None
    verdict: str | None = None


@dataclass(frozen=True)
class Survey:
    """The results of a suite of benchmarks over their contexts.

    Attributes
    ----------
    benchmarks : tuple of Sweep
    n_straddling : int
        Number of benchmarks with speed-ups on both sides of 1.
    n_both_directions : int
        Number of benchmarks with `both_directions`.
    n_faster, n_slower, n_not_shown, n_untested : int
        Numbers of contexts of all benchmarks by their own verdict.
    observer : Observation or None
        Effect of instrumentation on each version; None if not requested.
    left_out : tuple of LeftOut
        Left-out benchmarks.
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
