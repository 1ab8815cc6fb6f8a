"""Check for many benchmarks whether conclusions depend on the measurement context."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from analysis.benchmark import (
    EVERY_ITERATION,
    VERSION,
    Advance,
    Benchmark,
    LeftOut,
    PerRun,
    canonical,
    two_versions,
    unwatched,
)
from analysis.comparison import NOT_SHOWN
from analysis.contexts._benchmark import ContextOptions, instrumented, sweep
from analysis.contexts._observer import Observation, observer_effects, over_all
from analysis.contexts._results import ContextSurvey, Sweep
from analysis.contexts._sweep import test_outcome
from analysis.multiple import bonferroni, holm


def survey(
    benchmarks: Sequence[Benchmark],
    *,
    per_run: PerRun = EVERY_ITERATION,
    baseline: str | None = None,
    candidate: str | None = None,
    instrumentation: str | None = None,
    held_fixed: str | None = None,
    alpha: float = 0.05,
    seed: int = 1,
    resamples: int = 2000,
    advance: Advance = unwatched,
) -> ContextSurvey:
    """Check whether the measurement context decides if the candidate looks faster or slower [1]_, [2]_.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
        Runs with the conditions `version` and `context`. A context written "k=v k2=v2" has the factors k and k2; every
        further condition except `intervention` is also a factor of the context.
    per_run : PerRun
        How to summarise each run as one number. The number of a version in a context is the mean over its runs.
    baseline, candidate : str, optional
        The two versions to compare, which are the same for all benchmarks; see `two_versions`.
    instrumentation : str, optional
        The factor or condition whose levels are degrees of instrumentation. If given, the observer effect is computed;
        one version is sufficient for it.
    held_fixed : str, optional
        The level of `intervention` at which the suspected cause is held fixed. By default, this is the first level in
        sorted order if some runs have no level, and otherwise the second level. Everything except the causal check uses
        the runs with the cause free. These are the runs without a level; if all runs have a level, they are the runs
        with the first level that is not held fixed.
    alpha : float
        Significance level of the tests; intervals are at level 1 - alpha.
    seed : int
        Random seed of the bootstrap.
    resamples : int
        Number of bootstrap resamples.
    advance : callable
        Called with (done, total) after each benchmark.

    Returns
    -------
    ContextSurvey
        A benchmark without two versions, or without a context that has both versions, is left out and the reason is
        stated. Exception: if the observer effect is requested, one version is sufficient.

    Raises
    ------
    ValueError
        If `alpha` or `resamples` is out of range, a named version does not exist, or both are the same.

    References
    ----------
    .. [1] Mytkowicz, Sweeney, Hauswirth, Diwan (2008), Technical Report CU-CS-1042-08, University of Colorado
    .. [2] Mytkowicz, Diwan, Hauswirth, Sweeney (2009), ASPLOS XIV, 265-276, doi:10.1145/1508244.1508275

    Examples
    --------
    >>> runs = tuple(np.array([mean]) for mean in (1.0, 1.1, 1.2, 1.1))
    >>> conditions = {"version": ("old", "new") * 2, "context": ("a", "a", "b", "b")}
    >>> answer = survey([Benchmark.of_series("parse", runs, conditions=conditions)], baseline="old", candidate="new")
    >>> [round(context.speedup.value, 2) for context in answer.benchmarks[0].contexts]
    [0.91, 1.09]
    """
    _check(alpha, resamples)
    options = ContextOptions(per_run, baseline, candidate, instrumentation, held_fixed, alpha, resamples)
    rng = np.random.default_rng(seed)
    benchmarks = canonical(benchmarks)
    versions = two_versions(benchmarks, baseline, candidate)
    observation, observed = _observation(benchmarks, options)
    uncorrected, left_out = [], []
    for done, measured in enumerate(benchmarks):
        result = versions if isinstance(versions, str) else sweep(measured, versions, options, rng)
        if isinstance(result, Sweep):
            uncorrected.append(result)
        elif (measured.application, measured.name) not in observed or len(measured.levels(VERSION)) > 1:
            left_out.append(LeftOut(measured.name, result))
        advance(done + 1, len(benchmarks))
    sweeps = _corrected(uncorrected, alpha)
    return ContextSurvey(
        sweeps,
        sum(row.quartiles.straddles for row in sweeps),
        sum(row.both_directions for row in sweeps),
        sum(row.n_faster for row in sweeps),
        sum(row.n_slower for row in sweeps),
        sum(row.n_not_shown for row in sweeps),
        sum(row.n_untested for row in sweeps),
        _with_conclusions(observation, sweeps),
        tuple(left_out),
        _parameters(options, seed),
    )


def _observation(
    benchmarks: Sequence[Benchmark], options: ContextOptions
) -> tuple[Observation | None, set[tuple[str, str]]]:
    """Compute the observer effect on each version, and return it with the benchmarks for which it is defined."""
    by = options.instrumentation
    if by is None:
        return None, set()
    runs: dict[tuple[str, str, str], Mapping[str, Mapping[str, Sequence[float]]]] = {}
    better = {}
    for measured in benchmarks:
        try:
            of_versions = instrumented(measured, by, options)
        except ValueError:  # the run has only warm-up iterations, which the comparison of versions reports
            continue
        for version, levels in sorted(of_versions.items()):
            key = (measured.application, measured.name, version)
            runs[key], better[key] = levels, measured.better
    effects = observer_effects(runs, better, options.alpha)
    n_shown = sum(any(at.outcome not in (None, NOT_SHOWN) for at in effect.levels) for effect in effects)
    observed = {(effect.application, effect.benchmark) for effect in effects if effect.levels}
    return Observation(by, effects, over_all(effects, options.alpha), n_shown, 0, 0), observed


def _with_conclusions(observation: Observation | None, sweeps: Sequence[Sweep]) -> Observation | None:
    """Add the number of benchmarks whose verdict on two versions differs between levels of instrumentation."""
    if observation is None:
        return None
    compared = [row.by_instrumentation for row in sweeps if row.by_instrumentation and row.by_instrumentation.levels]
    return replace(observation, n_compared=len(compared), n_changing=sum(row.changes for row in compared))


def _check(alpha: float, resamples: int) -> None:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be within (0, 1), got {alpha}")
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, got {resamples}")


def _parameters(options: ContextOptions, seed: int) -> dict[str, object]:
    return {
        "warmup": options.per_run.warmup,
        "aggregate": options.per_run.aggregate,
        "baseline": options.baseline,
        "candidate": options.candidate,
        "instrumentation": options.instrumentation,
        "held_fixed": options.held_fixed,
        "alpha": options.alpha,
        "seed": seed,
        "resamples": options.resamples,
    }


def _corrected(sweeps: Sequence[Sweep], alpha: float) -> tuple[Sweep, ...]:
    """Correct the p values for the number of benchmarks."""
    t, rank = [row.t_with_noise.p for row in sweeps], [row.signed_rank.p for row in sweeps]
    together = holm([row.pooled.test.p for row in sweeps]), holm([row.pooled.interaction.p for row in sweeps])
    sweeps = [
        replace(
            row,
            pooled=replace(
                row.pooled,
                p_holm=p,
                interaction_holm=p_interaction,
                outcome=test_outcome(row.pooled.speedup, p, alpha, row.better),
            ),
        )
        for row, p, p_interaction in zip(sweeps, *together, strict=True)
    ]
    columns = zip(sweeps, holm(t), bonferroni(t), holm(rank), bonferroni(rank), strict=True)
    return tuple(
        replace(
            row, t_p_holm=t_holm, t_bonferroni=t_bonferroni, rank_holm=rank_holm,
            rank_bonferroni=rank_bonferroni, outcome=test_outcome(row.ratio_of_means, t_holm, alpha, row.better),
        )
        for row, t_holm, t_bonferroni, rank_holm, rank_bonferroni in columns
    )  # fmt: skip
