"""Define the results of a comparison of two versions over the contexts of many benchmarks."""

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
    """Comparison of contexts in which the suspected cause is free with contexts in which it is held fixed.

    Attributes
    ----------
    free, fixed : str
        The two levels of the condition `intervention`; "" for runs without a level.
    contexts : tuple of Context
        The contexts with the cause held fixed.
    comparisons : tuple of SpreadComparison
        Comparisons of the speed-up, of the baseline and of the candidate; p is corrected for these three comparisons.
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
        The estimate to report: geometric mean with Student's interval of the logarithms. The interval comes from the
        differences between contexts or from the noise of the runs, whichever gives the longer interval.
    bootstrap : Estimate
        Geometric mean with the bootstrap percentile interval over contexts, which does not assume a normal
        distribution.
    ratio_of_means : Estimate
        Ratio of the means across all contexts with Fieller's interval.
    mean_ratios : MeanRatios
        Means of the ratios, for comparison only because noise inflates them.
    words : str
        The speed-up with its direction.
    paired_t, signed_rank : Test
        Tests of the difference between the versions in each context. The t test is computed twice, from the differences
        between contexts and from the noise of the runs; the larger p counts.
    t_holm, t_bonferroni, rank_holm, rank_bonferroni : float or None
        The p of both tests, corrected for the number of benchmarks.
    verdict : str or None
        "faster" or "slower" ("higher" or "lower" if the better direction is unknown) or "no significant change"
        across all contexts, by the paired t test with Holm's correction.
    n_faster, n_slower, n_not_shown, n_untested : int
        Numbers of contexts by the verdict of each context, with Holm's correction; "higher" counts as faster.
    n_faster_bonferroni, n_slower_bonferroni : int
    both_directions : bool
        Whether some contexts show the candidate faster and others slower when tested separately.
    factors : tuple of FactorEffect
    by_instrumentation : SpeedupByLevel or None
        The speed-up at each level of instrumentation. None if nobody requested it, or if no context with only positive
        values has this factor.
    causal : CausalCheck or None
        None if no run names an intervention.
    left_out : tuple of LeftOut
        Contexts, failed runs and levels of the intervention that the comparison leaves out.
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
