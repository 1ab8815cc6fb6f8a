"""Check for many benchmarks whether conclusions about two versions depend on the measurement context."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from analysis.arrays import Floats
from analysis.methods.contexts._observer import (
    DispersionComparison,
    Observation,
    SpeedupByLevel,
    compare_spreads,
    observer_effects,
    outcome_of,
    over_all,
    speedup_by_level,
)
from analysis.methods.contexts._ratios import (
    MeanRatios,
    Quartiles,
    describe_speedup,
    geometric_mean,
    mean_ratios,
    noise_of_runs,
    paired_ratio,
    paired_t,
    quartiles,
    signed_rank,
)
from analysis.methods.contexts._sweep import (
    Context,
    FactorEffect,
    Pooled,
    contexts_of,
    factor_effect,
    factors_of,
    missing_version,
    pooled,
    test_outcome,
    with_corrections,
)
from analysis.methods.options import TestOptions, with_keywords
from analysis.runs.benchmark import (
    CONTEXT,
    FASTER,
    INTERVENTION,
    SLOWER,
    VERSION,
    Benchmark,
    LeftOut,
    canonical,
    natural as by_name,
    two_versions,
    unwatched,
)
from analysis.runs.comparison import NOT_SHOWN
from analysis.runs.samples import Test
from analysis.statistics.bootstrap import bootstrap
from analysis.statistics.intervals import Estimate
from analysis.statistics.multiple import bonferroni, holm


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


UP, DOWN = (FASTER, "higher"), (SLOWER, "lower")  # verdicts


@dataclass(frozen=True, kw_only=True)
class ContextOptions(TestOptions):
    """The options of `context_survey`."""

    baseline: str | None = field(default=None, metadata={
        "metavar": "VERSION", "label": "Baseline version",
        "help": "Version to use as the baseline [default: the first in sorted order].",
    })  # fmt: skip
    candidate: str | None = field(default=None, metadata={
        "metavar": "VERSION", "help": "Version to compare with the baseline.", "label": "Candidate version",
    })  # fmt: skip
    instrumentation: str | None = field(default=None, metadata={
        "metavar": "NAME", "label": "Instrumentation",
        "help": "Condition or factor that gives the amount of instrumentation. Also show its effect on each version.",
    })  # fmt: skip
    held_fixed: str | None = field(default=None, metadata={
        "metavar": "X", "label": "Intervention",
        "help": "Level of the factor `intervention` at which the suspected cause is held fixed.",
    })  # fmt: skip
    resamples: int = 2000

    def check(self) -> None:
        """Raise ValueError if an option is invalid."""
        self.check_alpha()
        if self.resamples < 1:
            raise ValueError(f"resamples must be at least 1, got {self.resamples}")


def sweep(versions: tuple[str, str] | str, options: ContextOptions, measured: Benchmark) -> Sweep | str:
    """Compare the versions of a benchmark over its contexts; return the reason if a comparison is impossible.

    `versions` is the reason if it is not known which versions to compare.
    """
    if isinstance(versions, str):
        return versions
    if missing := missing_version(measured, versions):
        return missing
    levels = _interventions(measured, options.held_fixed)
    if isinstance(levels, str):
        return levels
    try:
        natural = _with_intervention(measured, levels[0]) if len(levels) > 1 else measured
        contexts, unusable = contexts_of(natural, versions, options.per_run, options.alpha)
        causal = _causal(measured, contexts, versions, levels, options) if len(levels) > 1 else None
    except ValueError as nothing_but_warmup:
        return str(nothing_but_warmup)
    if not contexts:
        reasons = dict.fromkeys(entry.reason for entry in unusable)
        return f"no context has usable runs of both versions: {'; '.join(reasons)}"
    left_out = [*unusable, *_unused(measured, VERSION, versions), *_unused(measured, INTERVENTION, levels)]
    return _over_contexts(measured, versions, contexts, causal, left_out + _failed(measured), options)


def _unused(measured: Benchmark, condition: str, used: Sequence[str]) -> list[LeftOut]:
    """List the runs that the comparison leaves out because of their level of a condition, with the number of runs."""
    unused = [level for level in dict.fromkeys(measured.of(condition)) if level not in used]
    return [
        LeftOut(
            f"{condition}={level}", f"the comparison uses only {' and '.join(level or 'no level' for level in used)}"
        )
        for level in unused
    ]


def _failed(measured: Benchmark) -> list[LeftOut]:
    failures = [(failure.conditions.items(), failure.reason) for failure in measured.failures]
    return [
        LeftOut(" ".join(f"{k}={v}" for k, v in conditions) or "a run", f"failed: {reason}")
        for conditions, reason in failures
    ]


def _over_contexts(
    measured: Benchmark,
    versions: tuple[str, str],
    uncorrected: Sequence[Context],
    causal: CausalCheck | None,
    left_out: Sequence[LeftOut],
    options: ContextOptions,
) -> Sweep:
    contexts = with_corrections(uncorrected, options.alpha, measured.better)
    level = 1 - options.alpha
    a, b = (np.array([getattr(context, side) for context in contexts]) for side in ("baseline", "candidate"))
    above, below = (a, b) if measured.better == "lower" else (b, a)
    ratios = above / below
    runs = [context.baseline_runs for context in contexts], [context.candidate_runs for context in contexts]
    speedup = geometric_mean(ratios, level, noise=noise_of_runs(*runs, logs=True))
    verdicts = [context.outcome for context in contexts]
    bonferroni_verdicts = [
        test_outcome(context.speedup, context.p_bonferroni, options.alpha, measured.better) for context in contexts
    ]
    return Sweep(
        measured.name, measured.application, measured.unit, measured.better, *versions,
        contexts=contexts,
        quartiles=quartiles(ratios),
        speedup=speedup,
        bootstrap=_bootstrap(ratios, options),
        ratio_of_means=paired_ratio(above, below, level),
        mean_ratios=mean_ratios(ratios),
        words=describe_speedup(speedup.value or 1.0, measured.better),
        t_with_noise=paired_t(above, below, noise=noise_of_runs(*runs)),
        paired_t=paired_t(above, below),
        signed_rank=signed_rank(above, below),
        n_faster=_count(verdicts, UP), n_slower=_count(verdicts, DOWN),
        n_not_shown=verdicts.count(NOT_SHOWN), n_untested=verdicts.count(None),
        n_faster_bonferroni=_count(bonferroni_verdicts, UP), n_slower_bonferroni=_count(bonferroni_verdicts, DOWN),
        both_directions=min(_count(verdicts, UP), _count(verdicts, DOWN)) > 0,
        factors=_factors(contexts, ratios, level),
        by_instrumentation=_by_instrumentation(contexts, measured.better, options.instrumentation, level),
        causal=causal,
        pooled=pooled(contexts, level),
        left_out=tuple(left_out),
    )  # fmt: skip


def _count(verdicts: Sequence[str | None], kinds: Sequence[str]) -> int:
    return sum(verdict in kinds for verdict in verdicts)


def _bootstrap(ratios: Floats, options: ContextOptions) -> Estimate:
    logs, rng = np.log(ratios), np.random.default_rng(options.seed)  # so that no benchmark affects another one
    return bootstrap(
        lambda weights: np.exp(weights @ logs / len(logs)),
        len(logs), rng=rng, n_draws=options.resamples, level=1 - options.alpha,
    )  # fmt: skip


def _factors(contexts: Sequence[Context], ratios: Floats, level: float) -> tuple[FactorEffect, ...]:
    """Compute the effect of each factor of the contexts; return an empty tuple if contexts have only a name."""
    names = list(dict.fromkeys(name for context in contexts for name in context.factors))
    if names == [CONTEXT]:
        return ()
    effects = [
        factor_effect(name, ratios, [context.factors.get(name, "") for context in contexts], level=level)
        for name in names
    ]
    ps = [effect.test.p for effect in effects]
    return tuple(
        replace(effect, p_holm=p_holm, p_bonferroni=p_bonferroni)
        for effect, p_holm, p_bonferroni in zip(effects, holm(ps), bonferroni(ps), strict=True)
    )


def _by_instrumentation(
    contexts: Sequence[Context], better: str, by: str | None, level: float
) -> SpeedupByLevel | None:
    """Compute the speed-up at each level of instrumentation, over contexts that are otherwise equal."""
    runs: dict[str, dict[str, tuple[tuple[float, ...], tuple[float, ...]]]] = {}
    for context in contexts:
        values = (context.baseline_runs, context.candidate_runs)
        if by is not None and by in context.factors and min(map(min, values)) > 0:
            runs.setdefault(context.factors[by], {})[_other_factors(context.factors, by)] = values
    return speedup_by_level(runs, better=better, level=level) if runs else None


def instrumented(measured: Benchmark, by: str, options: ContextOptions) -> dict[str, dict[str, dict[str, list[float]]]]:
    """Group runs by version, level of instrumentation and other factors of the context, with one number per run.

    Raise ValueError if a run has only warm-up iterations.
    """
    levels = _interventions(measured, options.held_fixed)
    natural = _with_intervention(measured, levels[0]) if not isinstance(levels, str) and len(levels) > 1 else measured
    runs: dict[str, dict[str, dict[str, list[float]]]] = {}
    for run, version, factors in zip(natural.runs, natural.of(VERSION), factors_of(natural), strict=True):
        if by in factors:
            of_level = runs.setdefault(version, {}).setdefault(factors[by], {})
            of_level.setdefault(_other_factors(factors, by), []).append(options.per_run.value(run))
    return runs


def _other_factors(factors: Mapping[str, str], by: str) -> str:
    return " ".join(f"{name}={level}" for name, level in sorted(factors.items()) if name != by)


def _interventions(measured: Benchmark, held_fixed: str | None) -> tuple[str, ...] | str:
    """Return the two levels of the intervention: suspected cause free, and suspected cause held fixed.

    If the runs have only one level, return only this level. If no run has the level `held_fixed`, return the reason.
    """
    levels = sorted(set(measured.of(INTERVENTION)), key=by_name)
    if len(levels) < 2:
        return (levels[0],)
    if held_fixed is not None and held_fixed not in levels:
        return f"no run with {INTERVENTION} {held_fixed}; levels are {', '.join(filter(None, levels))}"
    other_levels = [level for level in levels if level != held_fixed]
    free = "" if "" in other_levels else other_levels[0]
    return free, next(level for level in levels if level != free) if held_fixed is None else held_fixed


def _with_intervention(measured: Benchmark, intervention: str) -> Benchmark:
    return measured.where(**{INTERVENTION: intervention}) or measured  # not None, because the level exists


def _causal(
    measured: Benchmark,
    free: Sequence[Context],
    versions: tuple[str, str],
    levels: Sequence[str],
    options: ContextOptions,
) -> CausalCheck:
    fixed, _ = contexts_of(_with_intervention(measured, levels[1]), versions, options.per_run, options.alpha)
    if not fixed:
        return CausalCheck(
            levels[0], levels[1], reason="no context has runs of both versions with the cause held fixed"
        )
    sides = [
        compare_spreads(
            [value_of(context) for context in free], [value_of(context) for context in fixed], quantity=name
        )
        for name, value_of in (("speed-up", _speedup), ("baseline", _baseline), ("candidate", _candidate))
    ]
    ps = [side.test.p for side in sides]
    corrected = tuple(
        replace(side, p_holm=p, p_bonferroni=p_bonferroni, outcome=outcome_of(side.free, side.fixed, p, options.alpha))
        for side, p, p_bonferroni in zip(sides, holm(ps), bonferroni(ps), strict=True)
    )
    return CausalCheck(levels[0], levels[1], with_corrections(fixed, options.alpha, measured.better), corrected)


def _speedup(context: Context) -> float:
    return context.speedup.value or 0.0


def _baseline(context: Context) -> float:
    return context.baseline


def _candidate(context: Context) -> float:
    return context.candidate


@with_keywords(ContextOptions)
def context_survey(benchmarks: Sequence[Benchmark], options: ContextOptions) -> ContextSurvey:
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
        Random seed of the bootstrap, which is the same for each benchmark.
    resamples : int
        Number of bootstrap resamples.
    advance : callable
        Called with (done, total) after each benchmark.
    mapper : callable
        A function like the built-in `map` with one iterable, such as the `map` of an executor.

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
    >>> parse = Benchmark.of_series("parse", runs, conditions=conditions)
    >>> answer = context_survey([parse], baseline="old", candidate="new")
    >>> [round(context.speedup.value, 2) for context in answer.benchmarks[0].contexts]
    [0.91, 1.09]
    """
    options.check()
    benchmarks = canonical(benchmarks)
    versions = two_versions(benchmarks, options.baseline, options.candidate)
    observation, observed = _observation(benchmarks, options)
    uncorrected, left_out = [], []
    own_options = replace(options, advance=unwatched, mapper=map)  # other processes get these
    results = options.mapper(partial(sweep, versions, own_options), benchmarks)
    for done, (measured, result) in enumerate(zip(benchmarks, results, strict=True), start=1):
        if isinstance(result, Sweep):
            uncorrected.append(result)
        elif (measured.application, measured.name) not in observed or len(measured.levels(VERSION)) > 1:
            left_out.append(LeftOut(measured.name, result))
        options.advance(done, len(benchmarks))
    sweeps = _corrected(uncorrected, options.alpha)
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
        options.parameters,
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
