"""What is found of a suite of benchmarks over their contexts."""

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
    """The sweep as it comes beside the one with the suspected cause held fixed.

    Attributes
    ----------
    free, fixed : str
        The levels of the condition `intervention`; "" where the runs do not name one.
    contexts : tuple of Context
        Of the sweep with the cause held fixed.
    comparisons : tuple of SpreadComparison
        Of the speed-up and of each version's numbers; corrected over the three.
    reason : str or None
        Why there is nothing to compare.
    """

    free: str
    fixed: str
    contexts: tuple[Context, ...] = ()
    comparisons: tuple[SpreadComparison, ...] = ()
    reason: str | None = None


@dataclass(frozen=True)
class Sweep:
    """One benchmark over its contexts.

    Attributes
    ----------
    name, application, unit, better : str
        As of the benchmark.
    baseline, candidate : str
        The versions compared; a speed-up above 1 means that the candidate is faster.
    contexts : tuple of Context
        In order of appearance; at least one.
    quartiles : Quartiles
        Of the speed-ups, and whether they straddle 1.
    speedup : Estimate
        Their geometric mean with Student's interval of the logarithms: the estimate to quote.
    bootstrap : Estimate
        The same with the percentile interval over contexts drawn again: no normal distribution is assumed.
    ratio_of_means : Estimate
        Of the means over all contexts, with Fieller's interval.
    mean_ratios : MeanRatios
        Inflated by noise; for comparison only.
    words : str
        The speed-up with its direction.
    paired_t, signed_rank : Test
        Of the differences between the versions, context by context.
    t_holm, t_bonferroni, rank_holm, rank_bonferroni : float or None
        Their p corrected over the benchmarks.
    verdict : str or None
        "faster" or "slower" ("higher" or "lower" where it is not known which is better) or "no significant change"
        over all contexts, by the paired t test with Holm's correction.
    n_faster, n_slower, n_not_shown, n_untested : int
        Contexts by what their runs show on their own, with Holm's correction; higher counts as faster.
    n_faster_bonferroni, n_slower_bonferroni : int
    both_directions : bool
        Some contexts show the candidate faster and others slower, each on its own.
    factors : tuple of FactorEffect
    by_instrumentation : SpeedupByLevel or None
        Whether the verdict on the two versions is the same at all levels of instrumentation. None if not asked for, or
        no context with all its runs above zero knows such a factor.
    causal : CausalCheck or None
        None if no run names an intervention.
    left_out : tuple of LeftOut
        Contexts, failed runs and further levels of the intervention.
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
    """A suite of benchmarks over their contexts.

    Attributes
    ----------
    benchmarks : tuple of Sweep
    n_straddling : int
        Benchmarks whose speed-ups straddle 1.
    n_both_directions : int
        Benchmarks with contexts that show, each on its own, one version faster and the other.
    n_faster, n_slower, n_not_shown, n_untested : int
        Contexts of all benchmarks by what their runs show.
    observer : Observation or None
        What instrumentation does to each version; None if not asked for.
    left_out : tuple of LeftOut
        Benchmarks.
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
