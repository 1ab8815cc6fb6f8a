"""Compare the versions of one benchmark over its contexts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.benchmark import (
    CONTEXT,
    FASTER,
    INTERVENTION,
    SLOWER,
    VERSION,
    Benchmark,
    LeftOut,
    PerRun,
    natural as by_name,
)
from analysis.bootstrap import bootstrap
from analysis.comparison import NOT_SHOWN
from analysis.contexts._causal import compare_spreads, outcome_of
from analysis.contexts._factors import FactorEffect, factor_effect
from analysis.contexts._observer import SpeedupByLevel, speedup_by_level
from analysis.contexts._pooled import pooled
from analysis.contexts._ratios import (
    describe_speedup,
    geometric_mean,
    mean_ratios,
    noise_of_runs,
    paired_ratio,
    paired_t,
    quartiles,
    signed_rank,
)
from analysis.contexts._results import CausalCheck, Sweep
from analysis.contexts._sweep import (
    Context,
    contexts_of,
    factors_of,
    missing_version,
    test_outcome,
    with_corrections,
)
from analysis.intervals import Estimate
from analysis.multiple import bonferroni, holm
from analysis.runs import Floats

UP, DOWN = (FASTER, "higher"), (SLOWER, "lower")  # verdicts


@dataclass(frozen=True)
class ContextOptions:
    """The options with which `survey` was called."""

    per_run: PerRun
    baseline: str | None
    candidate: str | None
    instrumentation: str | None
    held_fixed: str | None
    alpha: float
    resamples: int


def sweep(
    measured: Benchmark, versions: tuple[str, str], options: ContextOptions, rng: np.random.Generator
) -> Sweep | str:
    """Compare the versions of a benchmark over its contexts; return the reason if a comparison is impossible."""
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
    return _over_contexts(measured, versions, contexts, causal, left_out + _failed(measured), options, rng)


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
    rng: np.random.Generator,
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
        bootstrap=_bootstrap(ratios, options, rng),
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


def _bootstrap(ratios: Floats, options: ContextOptions, rng: np.random.Generator) -> Estimate:
    logs = np.log(ratios)
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
