"""Measure the observer effect, and check a suspected cause: do contexts still differ if the cause is fixed?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.arrays import Floats
from analysis.methods.contexts._ratios import NOT_POSITIVE, TINY, geometric_mean, series, speedups
from analysis.runs.benchmark import in_direction, natural
from analysis.runs.comparison import NOT_SHOWN
from analysis.runs.samples import NO_VARIATION, Test, describe_change, welch
from analysis.statistics.intervals import Estimate
from analysis.statistics.multiple import bonferroni, holm
from analysis.statistics.two_samples import ratio_of_means

NONE = ("", "0", "none", "off", "no", "without", "base", "baseline")  # names of levels that mean no instrumentation
ONE_LEVEL = "fewer than two levels of instrumentation"

Key = tuple[str, str, str]  # application, benchmark, version
Cells = Mapping[str, tuple[ArrayLike, ArrayLike]]
ONE_BENCHMARK = "an interval needs at least two benchmarks"


@dataclass(frozen=True)
class ObservedLevel:
    """One version of a benchmark at one level of instrumentation, compared with the lowest level."""

    level: str
    n_contexts: int  # number of contexts that were measured both at this level and at the lowest level
    # Value at this level / value at the lowest level. If there is one context, this is the ratio of the means of
    # runs with Fieller's interval; otherwise, it is the geometric mean over contexts with Student's interval.
    ratio: Estimate
    words: str | None  # the ratio with its direction, such as "12 % slower"
    test: Test  # Welch's test of the runs in one context, or a t test of the logarithms over contexts
    p_holm: float | None = None  # p corrected for all levels of all versions and benchmarks
    p_bonferroni: float | None = None
    # "faster", "slower" ("higher", "lower" if the better direction is unknown) or "no significant change".
    outcome: str | None = field(default=None, metadata={"key": "verdict"})


@dataclass(frozen=True)
class ObserverEffect:
    """One version of a benchmark over the levels of instrumentation."""

    benchmark: str  # the version is "" if unknown
    application: str
    version: str
    better: str
    least: str  # the lowest level, which all other levels are compared with
    levels: tuple[ObservedLevel, ...]  # the other levels
    reason: str | None = None  # why there are no other levels; None if there are


@dataclass(frozen=True)
class OverallLevel:
    """The effect of one level of instrumentation across all benchmarks with the same better direction."""

    level: str
    better: str
    n_benchmarks: int
    # Geometric mean of the ratios of the benchmarks, with Student's interval over benchmarks; if there is only
    # one benchmark, its own ratio and interval.
    ratio: Estimate
    words: str | None


@dataclass(frozen=True)
class Observation:
    """The effect of instrumentation on the benchmarks of a suite."""

    by: str  # the factor whose levels are degrees of instrumentation
    effects: tuple[ObserverEffect, ...]  # one entry for each benchmark and version that has levels of the factor
    overall: tuple[OverallLevel, ...]
    n_shown: int  # number of `effects` with a significant change at any level
    # Number of benchmarks with two versions at several levels, and number of these benchmarks whose verdict
    # depends on the level.
    n_compared: int
    n_changing: int


@dataclass(frozen=True)
class SpeedupAtLevel:
    """The speed-up at one level of instrumentation."""

    level: str
    n_contexts: int  # number of contexts that were measured both at this level and at the lowest level
    speedup: Estimate  # geometric mean over these contexts
    against_least: float | None = None  # this speed-up / the speed-up at the lowest level in the same contexts
    # Inter-run range: the speed-ups that single runs at the lowest level could have shown in these contexts.
    low: float | None = None
    high: float | None = None
    # Whether the speed-up lies outside the range, so noise of runs does not explain it. None if unknown.
    exceeds: bool | None = None
    # verdict of the test of the two versions at this level; None if there is no test
    outcome: str | None = field(default=None, metadata={"key": "verdict"})
    reason: str | None = None  # why `exceeds` is unknown


@dataclass(frozen=True)
class SpeedupByLevel:
    """The speed-up at each level of instrumentation, in order from the lowest level."""

    least: str | None
    levels: tuple[SpeedupAtLevel, ...] = ()
    n_exceeding: int = 0
    changes: bool = False  # whether levels with a verdict have different verdicts on the two versions
    reason: str | None = None  # why no levels can be compared


def speedup_by_level(runs: Mapping[str, Cells], *, better: str = "lower", level: float = 0.95) -> SpeedupByLevel:
    """Check whether the conclusion about two versions is the same at each level of instrumentation [1]_.

    The inter-run range contains all speed-ups between a run of one version and a run of the other version. If there are
    several contexts, each end of the range is a geometric mean over the contexts. The range is wide on purpose, so that
    noise of the runs does not explain a speed-up outside it. Raises ValueError if a number is not above 0, a cell has
    no runs, or `better` is invalid.

    `runs`: level of instrumentation -> other context -> one number > 0 per run of baseline and of candidate. For the
    order of levels see `by_size`. `better`: "lower" or "higher", as in `speedups`; `level`: confidence level; a verdict
    is significant if Holm's p over the levels is at most 1 - level. If there are fewer than two levels, the result has
    a reason and no levels. A level has a reason instead of `exceeds` if it has no context in common with the lowest
    level, or if these contexts have only one run of each version at the lowest level.

    References
    ----------
    .. [1] Mytkowicz, Sweeney, Hauswirth, Diwan (2008), Technical Report CU-CS-1042-08, University of Colorado
    """
    ordered = by_size(list(runs))
    if len(ordered) < 2:
        return SpeedupByLevel(next(iter(ordered), None), reason=ONE_LEVEL)
    least = runs[ordered[0]]
    levels = [_speedup_at(name, runs[name], least, better, level) for name in ordered]
    ps = holm([_versions_differ(runs[name]).p for name in ordered])
    decided = tuple(
        replace(at, outcome=_verdict(at.speedup, p, 1 - level, "higher" if better else ""))
        for at, p in zip(levels, ps, strict=True)
    )
    verdicts = {at.outcome for at in decided if at.outcome}
    return SpeedupByLevel(ordered[0], decided, sum(at.exceeds is True for at in decided), len(verdicts) > 1)


def by_size(levels: Iterable[str]) -> list[str]:
    """Sort levels of instrumentation, lowest level first.

    Numbers are sorted by value. Names that mean no instrumentation, such as "none", come before other names.

    Examples
    --------
    >>> by_size(["10", "2"]), by_size(["on", "off"]), by_size(["perf", "none", "gdb"])
    (['2', '10'], ['off', 'on'], ['none', 'gdb', 'perf'])
    """
    numbers = {level: as_number(level) for level in levels}
    if None not in numbers.values():
        return sorted(numbers, key=lambda level: numbers[level] or 0.0)
    return sorted(numbers, key=lambda level: (level.casefold() not in NONE, natural(level)))


def as_number(text: str) -> float | None:
    """Convert a text to a finite number; return None if this is impossible."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def observer_effects(
    runs: Mapping[Key, Mapping[str, Mapping[str, Sequence[float]]]], better: Mapping[Key, str], alpha: float
) -> tuple[ObserverEffect, ...]:
    """Estimate how each level of instrumentation changes the measured values of each version [1]_, [2]_.

    `runs`: level of instrumentation -> other context -> one number per run. For the order of levels see `by_size`.
    `better`: "lower", "higher" or ""; `alpha`: intervals are at level 1 - alpha; an effect is significant if Holm's p
    for all rows is at most alpha. Returns one entry per version, in the order of `runs`. An entry has a reason if the
    version has fewer than two levels.

    References
    ----------
    .. [1] Mytkowicz, Sweeney, Hauswirth, Diwan (2008), Technical Report CU-CS-1042-08, University of Colorado
    .. [2] Mytkowicz, Diwan, Hauswirth, Sweeney (2009), ASPLOS XIV, 265-276, doi:10.1145/1508244.1508275
    """
    effects = [_effect(key, levels, better[key], alpha) for key, levels in runs.items()]
    ps = [at.test.p for effect in effects for at in effect.levels]
    corrected = iter(zip(holm(ps), bonferroni(ps), strict=True))
    decided = []
    for effect in effects:
        levels = []
        for at in effect.levels:
            p_holm, p_bonferroni = next(corrected)
            verdict = _verdict(at.ratio, p_holm, alpha, effect.better)
            levels.append(replace(at, p_holm=p_holm, p_bonferroni=p_bonferroni, outcome=verdict))
        decided.append(replace(effect, levels=tuple(levels)))
    return tuple(decided)


def over_all(effects: Sequence[ObserverEffect], alpha: float) -> tuple[OverallLevel, ...]:
    """Compute the overall effect of each level.

    Each benchmark has the same weight, no matter how many versions it has.
    """
    of_level: dict[tuple[str, str], dict[tuple[str, str], list[Estimate]]] = {}
    for effect in effects:
        for at in effect.levels:
            if at.ratio.value is not None:
                benchmarks = of_level.setdefault((effect.better, at.level), {})
                benchmarks.setdefault((effect.application, effect.benchmark), []).append(at.ratio)
    order = by_size({level for _, level in of_level})
    rows = []
    for (better, level), benchmarks in sorted(of_level.items(), key=lambda row: (row[0][0], order.index(row[0][1]))):
        ratios = list(benchmarks.values())
        if len(ratios) == 1:
            (of_one,) = ratios
            ratio = of_one[0] if len(of_one) == 1 else replace(_over_versions(of_one), reason=ONE_BENCHMARK)
        else:
            ratio = geometric_mean([_over_versions(versions).value or 1.0 for versions in ratios], 1 - alpha)
        rows.append(OverallLevel(level, better, len(ratios), ratio, _describe(ratio, better)))
    return tuple(rows)


def _over_versions(ratios: Sequence[Estimate]) -> Estimate:
    return Estimate(float(np.exp(np.mean([np.log(ratio.value or 1.0) for ratio in ratios]))))


def _effect(key: Key, runs: Mapping[str, Mapping[str, Sequence[float]]], better: str, alpha: float) -> ObserverEffect:
    application, benchmark, version = key
    least, *other_levels = by_size(runs)
    levels = tuple(_observed(level, runs[least], runs[level], better, alpha) for level in other_levels)
    reason = None if other_levels else ONE_LEVEL
    return ObserverEffect(benchmark, application, version, better, least, levels, reason)


def _observed(
    level: str, least: Mapping[str, Sequence[float]], own: Mapping[str, Sequence[float]], better: str, alpha: float
) -> ObservedLevel:
    """Compare a level with the lowest level, by runs if there is one context, and otherwise over common contexts."""
    shared = [context for context in own if context in least]
    a, b = ([np.sort(np.array(side[context], dtype=np.float64)) for context in shared] for side in (own, least))
    if not shared:
        missing = "no context in common with the lowest level"
        return ObservedLevel(level, 0, Estimate(None, reason=missing), None, Test(None, reason=missing))
    if min(float(runs.mean()) for runs in (*a, *b)) <= 0:
        return ObservedLevel(
            level, len(shared), Estimate(None, reason=NOT_POSITIVE), None, Test(None, reason=NOT_POSITIVE)
        )
    if len(shared) == 1:
        ratio, test = ratio_of_means(a[0], b[0], 1 - alpha), welch(a[0], b[0])
    else:
        ratios = np.array([x.mean() / y.mean() for x, y in zip(a, b, strict=True)])
        ratio, test = geometric_mean(ratios, 1 - alpha), _log_t(ratios)
    return ObservedLevel(level, len(shared), ratio, _describe(ratio, better), test)


def _log_t(ratios: Floats) -> Test:
    """Test whether the mean logarithm of ratios is 0; the result agrees with the interval of `geometric_mean`."""
    logs = np.log(ratios)
    if np.ptp(ratios) <= TINY * ratios.max():
        return Test(float(abs(logs[0]) <= TINY), reason=NO_VARIATION)
    result = stats.ttest_1samp(logs, 0.0)
    return Test(float(result.pvalue), float(result.statistic))


def _describe(ratio: Estimate, better: str) -> str | None:
    return None if ratio.value is None else describe_change(ratio.value, better, who="it").removeprefix("it is ")


def _verdict(ratio: Estimate, p: float | None, alpha: float, better: str) -> str | None:
    """Return the verdict on a ratio from the p of its test; None if p is undefined."""
    if p is None or ratio.value is None:
        return None
    return NOT_SHOWN if p > alpha or ratio.value == 1 else in_direction(ratio.value < 1, better)


def _versions_differ(cells: Cells) -> Test:
    """Test whether both versions differ at one level.

    If there is one context, its runs are compared; otherwise, the ratios of the contexts are tested.
    """
    sides = [[_runs(side) for side in cell] for cell in cells.values()]
    if len(sides) == 1:
        return welch(*sides[0])
    return _log_t(np.array([baseline.mean() / candidate.mean() for baseline, candidate in sides]))


def _speedup_at(name: str, cells: Cells, least: Cells, better: str, level: float) -> SpeedupAtLevel:
    shared = [context for context in cells if context in least]
    if not shared:
        nothing = "no context in common with the lowest level"
        return SpeedupAtLevel(name, 0, Estimate(None, reason=nothing), reason=nothing)
    own, least_speedups = (_speedups([side[context] for context in shared], better) for side in (cells, least))
    n_and_speedup = len(shared), geometric_mean(own, level)
    centre = float(np.log(own).mean())
    against = float(np.exp(centre - np.log(least_speedups).mean()))
    if not any(_repeated(least[context]) for context in shared):
        reason = "the range needs more than one run of each version at the lowest level"
        return SpeedupAtLevel(name, *n_and_speedup, against, reason=reason)
    low, high = np.log([_ends(*least[context], better) for context in shared]).mean(axis=0)
    exceeds = not low - TINY <= centre <= high + TINY
    return SpeedupAtLevel(name, *n_and_speedup, against, float(np.exp(low)), float(np.exp(high)), exceeds)


def _speedups(cells: Sequence[tuple[ArrayLike, ArrayLike]], better: str) -> Floats:
    means = np.array([[_runs(side).mean() for side in cell] for cell in cells])
    return speedups(means[:, 0], means[:, 1], better=better)


def _ends(baseline: ArrayLike, candidate: ArrayLike, better: str) -> tuple[float, float]:
    """Return the lowest and the highest speed-up between a run of the baseline and a run of the candidate."""
    a, b = _runs(baseline), _runs(candidate)
    return (a.min() / b.max(), a.max() / b.min()) if better == "lower" else (b.min() / a.max(), b.max() / a.min())


def _repeated(cell: tuple[ArrayLike, ArrayLike]) -> bool:
    return any(len(_runs(side)) > 1 for side in cell)


def _runs(side: ArrayLike) -> Floats:
    values = np.sort(series(side, "runs"))
    if not len(values) or values.min() <= 0:
        raise ValueError(f"runs must be above 0, with at least one in every context, got {values}")
    return values


SMALLER, LARGER, NO_DIFFERENCE = "smaller", "larger", "no difference shown"


@dataclass(frozen=True)
class ContextDispersion:
    """The spread over contexts: how much a number differs between contexts."""

    n: int  # number of contexts
    # Mean absolute deviation of the logarithms from their median, roughly the typical relative deviation.
    deviation: float | None = None
    highest_over_lowest: float | None = None


@dataclass(frozen=True)
class DispersionComparison:
    """Comparison of the spread over contexts with the suspected cause free, and with the cause held fixed."""

    quantity: str = field(metadata={"key": "of"})  # the compared numbers: "speed-up", "baseline" or "candidate"
    free: ContextDispersion
    fixed: ContextDispersion
    # Deviation with the cause held fixed / deviation with the cause free; None if the deviation with the cause
    # free is 0.
    ratio: float | None
    test: Test  # the Brown-Forsythe test of the logarithms
    # "smaller", "larger" or "no difference shown" at significance level alpha; None if the test gave no p.
    outcome: str | None = field(default=None, metadata={"key": "verdict"})
    p_holm: float | None = None  # p corrected for the number of comparisons; the verdict then uses Holm's p
    p_bonferroni: float | None = None


def brown_forsythe(x: ArrayLike, y: ArrayLike) -> Test:
    """Test whether two spreads differ, with the Brown-Forsythe test [1]_.

    The test is an analysis of variance of the absolute deviations from the medians.

    `x` and `y` (shape (n_values,)). There is no p if a sample has fewer than three values. p is 1 if neither sample
    varies. p is 0 if the deviations are equal within each sample but differ between the samples.

    References
    ----------
    .. [1] Brown, Forsythe (1974), J. Am. Stat. Assoc. 69:364-367, doi:10.1080/01621459.1974.10482955
    """
    samples = series(x, "x"), series(y, "y")
    if min(map(len, samples)) < 3:
        return Test(None, reason="at least three contexts are needed on each side")
    rounding = TINY * max(float(np.abs(sample).max()) for sample in samples)
    z = [np.abs(sample - np.median(sample)) for sample in samples]
    pooled = np.concatenate(z)
    if np.ptp(pooled) <= rounding:
        return Test(1.0, 0.0, NO_VARIATION)
    if max(float(np.ptp(part)) for part in z) <= rounding:
        return Test(0.0, reason="the deviations do not vary within the samples")
    within = sum(float(((part - part.mean()) ** 2).sum()) for part in z) / (len(pooled) - 2)
    between = sum(len(part) * float(part.mean() - pooled.mean()) ** 2 for part in z)
    return Test(float(stats.f.sf(between / within, 1, len(pooled) - 2)), between / within)


def compare_spreads(
    free: ArrayLike, fixed: ArrayLike, *, quantity: str = "speed-up", alpha: float = 0.05
) -> DispersionComparison:
    """Compare the spread over contexts with the suspected cause free and with the cause held fixed [1]_.

    If the suspected cause is the true cause, holding it fixed makes the contexts equal.

    `free` and `fixed` (shape (n_contexts,)): Speed-ups, or the numbers of one version; the contexts and their number
    may differ; `quantity`: what the numbers are: "speed-up", "baseline" or "candidate". If a number is not above zero,
    or if `free` or `fixed` has fewer than three numbers, there is no verdict, and `test` contains the reason.

    References
    ----------
    .. [1] Mytkowicz, Diwan, Hauswirth, Sweeney (2009), ASPLOS XIV, 265-276, doi:10.1145/1508244.1508275
    """
    sides = series(free, "free"), series(fixed, "fixed")
    if any((side <= 0).any() for side in sides):
        return DispersionComparison(
            quantity,
            ContextDispersion(len(sides[0])),
            ContextDispersion(len(sides[1])),
            None,
            Test(None, reason=NOT_POSITIVE),
        )
    before, after = map(_spread, sides)
    test = brown_forsythe(np.log(sides[0]), np.log(sides[1]))
    ratio = after.deviation / before.deviation if before.deviation and after.deviation is not None else None
    return DispersionComparison(quantity, before, after, ratio, test, outcome_of(before, after, test.p, alpha))


def outcome_of(free: ContextDispersion, fixed: ContextDispersion, p: float | None, alpha: float) -> str | None:
    """Return the verdict on two spreads from the p of their test; return None if p or a spread is undefined."""
    if p is None or free.deviation is None or fixed.deviation is None:
        return None
    if p > alpha:
        return NO_DIFFERENCE
    return SMALLER if fixed.deviation < free.deviation else LARGER


def _spread(values: Floats) -> ContextDispersion:
    if not len(values):
        return ContextDispersion(0)
    logs = np.log(values)
    deviation = 0.0 if np.ptp(logs) <= TINY else float(np.abs(logs - np.median(logs)).mean())
    return ContextDispersion(len(values), deviation, float(values.max() / values.min()))
