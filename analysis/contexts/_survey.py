"""The whole question asked of a suite: does what is concluded depend on the context in which it was measured?"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analysis.benchmark import EVERY_ITERATION, VERSION, Advance, Benchmark, LeftOut, Sampling, all_levels, unwatched
from analysis.contexts._benchmark import Options, sweep
from analysis.contexts._results import Survey, Sweep
from analysis.contexts._sweep import verdict
from analysis.multiple import bonferroni, holm


def survey(
    benchmarks: Sequence[Benchmark],
    *,
    sampling: Sampling = EVERY_ITERATION,
    baseline: str | None = None,
    candidate: str | None = None,
    instrumentation: str | None = None,
    held_fixed: str | None = None,
    alpha: float = 0.05,
    seed: int = 1,
    resamples: int = 2000,
    advance: Advance = unwatched,
) -> Survey:
    """Whether the candidate is called faster or slower depending on the context of the measurement [1]_ [2]_.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
        Runs with the conditions `version` and `context`. A context written "k=v k2=v2" has the factors k and k2; every
        further condition is a factor of the context too, but for `intervention`.
    sampling : Sampling
        How a run becomes one number; the number of a version in a context is the mean over its runs.
    baseline, candidate : str, optional
        Versions. If the baseline is not named, the first of all in sorted order, for every benchmark; if the candidate
        is not, the only other one of a benchmark.
    instrumentation : str, optional
        The factor, or condition, whose levels are degrees of instrumentation: asks for the observer effect.
    held_fixed : str, optional
        The level of `intervention` at which the suspected cause is held fixed. If not named: where some runs name no
        level, the first that is named; else the second to appear. All but the causal check is about the runs as they
        come: those without a level or, if there are none, with the first that is not held fixed.
    alpha : float
        Level of the tests; intervals have 1 - alpha.
    seed : int
        Of the bootstrap.
    resamples : int
        Draws of the bootstrap.
    advance : callable
        Called with (done, total) after each benchmark.

    Returns
    -------
    Survey
        Benchmarks without two versions or without a context that has both are left out, with the reason.

    Raises
    ------
    ValueError
        If `alpha` or `resamples` is out of range, or baseline and candidate are the same.

    References
    ----------
    .. [1] Mytkowicz, Sweeney, Hauswirth, Diwan (2008), Technical Report CU-CS-1042-08, University of Colorado
    .. [2] Mytkowicz, Diwan, Hauswirth, Sweeney (2009), ASPLOS XIV, 265-276, doi:10.1145/1508244.1508275
    """
    _check(alpha, resamples, baseline, candidate)
    if baseline is None:  # once for all benchmarks, never by the order of the rows of one
        baseline = next((level for level in all_levels(benchmarks, VERSION) if level != candidate), None)
    options = Options(sampling, baseline, candidate, instrumentation, held_fixed, alpha, resamples)
    rng = np.random.default_rng(seed)
    found, left_out = [], []
    for done, measured in enumerate(benchmarks):
        result = sweep(measured, options, rng)
        if isinstance(result, Sweep):
            found.append(result)
        else:
            left_out.append(LeftOut(measured.name, result))
        advance(done + 1, len(benchmarks))
    sweeps = _corrected(found, alpha)
    return Survey(
        sweeps,
        sum(one.quartiles.straddles for one in sweeps),
        sum(one.both_directions for one in sweeps),
        sum(one.n_faster for one in sweeps),
        sum(one.n_slower for one in sweeps),
        sum(one.n_not_shown for one in sweeps),
        sum(one.n_untested for one in sweeps),
        tuple(left_out),
        _parameters(options, seed),
    )


def _check(alpha: float, resamples: int, baseline: str | None, candidate: str | None) -> None:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be within (0, 1), got {alpha}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, got {resamples}")
    if baseline is not None and baseline == candidate:
        raise ValueError(f"baseline and candidate must be two versions, got {baseline!r} twice")


def _parameters(options: Options, seed: int) -> dict[str, object]:
    return {
        "warmup": options.sampling.warmup,
        "aggregate": options.sampling.aggregate,
        "baseline": options.baseline,
        "candidate": options.candidate,
        "instrumentation": options.instrumentation,
        "held_fixed": options.held_fixed,
        "alpha": options.alpha,
        "seed": seed,
        "resamples": options.resamples,
    }


def _corrected(sweeps: Sequence[Sweep], alpha: float) -> tuple[Sweep, ...]:
    """The same with their p corrected, the benchmarks being one family of tests."""
    t, rank = [one.paired_t.p for one in sweeps], [one.signed_rank.p for one in sweeps]
    columns = zip(sweeps, holm(t), bonferroni(t), holm(rank), bonferroni(rank), strict=True)
    return tuple(
        replace(
            one, t_holm=t_holm, t_bonferroni=t_bold, rank_holm=rank_holm, rank_bonferroni=rank_bold,
            verdict=verdict(one.ratio_of_means, t_holm, alpha, one.better),
        )
        for one, t_holm, t_bold, rank_holm, rank_bold in columns
    )  # fmt: skip
