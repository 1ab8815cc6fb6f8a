"""Compute the coverage of intervals, the type I error of tests, and the slowdown that a test detects."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import Floats
from analysis.methods.trust._pairs import TESTS, Shares, SignificanceTests, pairs_of, shares, value_shares
from analysis.methods.trust._population import (
    AGGREGATIONS,
    MAX_MULTISETS,
    MAX_PAIRED,
    MERGED,
    ONE_SAMPLE,
    Population,
    all_draws,
    n_multisets,
    one_value_a_run,
    population,
    some_draws,
    value_moments,
)
from analysis.runs.benchmark import EVERY_ITERATION, PerRun
from analysis.runs.samples import NO_VARIATION
from analysis.statistics.intervals import Estimate
from analysis.text import percent

GAMMAS = tuple(round(1 + step / 100, 2) for step in range(31))
RESAMPLES = 4000

ONE_RUN = "there is only one run, so every sample is the same"
ONE_VALUE = "an interval needs at least two values"
NO_PERCENT = "the mean is not above zero, so a relative change is undefined"


@dataclass(frozen=True)
class Rate:
    """A share of draws, or of pairs of draws."""

    # In [0, 1]; None if undefined. `reason` says why the share is undefined, or that the values do not vary.
    value: float | None
    se: float | None = None  # standard error of a share of random draws; None if all draws were enumerated
    n: int = 0  # Number of draws, or of pairs of draws. Enumerated draws have different probabilities.
    exact: bool = True  # whether all possible draws were used
    reason: str | None = None


@dataclass(frozen=True)
class Coverage(Rate):
    """The share of draws whose interval contains the mean; `zero_width` is the share of intervals with width 0."""

    zero_width: float | None = None


@dataclass(frozen=True)
class Curve:
    """How often a test finds a difference if the second draw is slower by a factor."""

    aggregation: str
    test: str
    gammas: tuple[float, ...]  # factors by which the times of the second draw are multiplied
    power: tuple[float, ...]  # share of pairs with a detected difference at each factor, in [0, 1]; empty if undefined
    se: tuple[float, ...]  # standard error of each share; 0 if all pairs were enumerated
    n: int  # number of pairs of draws
    exact: bool
    alpha: float
    reason: str | None = None


def coverage(
    runs: Sequence[ArrayLike],
    n_runs: int,
    *,
    level: float = 0.95,
    per_run: PerRun = EVERY_ITERATION,
    aggregations: Sequence[str] = AGGREGATIONS,
    resamples: int = RESAMPLES,
    rng: np.random.Generator,
) -> dict[str, Coverage]:
    """Compute how often Student's interval from n_runs drawn runs contains the mean of all runs [1]_.

    Runs are drawn with replacement. The results for "merged" and "run means" depend only on which runs are drawn. The
    function therefore enumerates all possible draws (multisets of runs) with their probabilities. For "one sample", and
    if there are more than 20 000 multisets, it uses random draws instead. Raises ValueError if an argument is out of
    range, or no iteration of a run remains after the warm-up.

    `runs` (shape (n_iterations,)): the runs of one benchmark in any unit; lengths may differ; `n_runs`: number of runs
    in a draw, >= 1; it may exceed the number of available runs; `per_run`: options for the warm-up, and how to
    summarise each run as one number; `aggregations`: "merged": all values of the drawn runs form one sample. "run
    means": one number per run. "one sample": one random iteration of each run. `resamples`: number of random draws.
    Returns aggregation -> coverage, which is equal to the level for a good interval. An interval of width 0, for
    example if one run is drawn repeatedly, counts as not containing the mean. Coverage is undefined if there is one
    run, or if a draw has one value; it is 1 if all values are equal.

    References
    ----------
    .. [1] Bulej, Horky, Tuma (2017), ICPE '17 Companion, doi:10.1145/3053600.3053638
    """
    _check(runs, n_runs, level, resamples)
    _check_strings("aggregations", aggregations, AGGREGATIONS)
    return {
        name: _coverage(population(runs, name, per_run), name, n_runs, level, resamples, rng) for name in aggregations
    }


def _coverage(
    drawn: Population, aggregation: str, n_runs: int, level: float, resamples: int, rng: np.random.Generator
) -> Coverage:
    reason = _undefined(drawn, aggregation, n_runs)
    if reason is not None:
        return Coverage(None, reason=reason)
    if drawn.is_constant:
        return Coverage(1.0, n=1, reason=NO_VARIATION, zero_width=1.0)
    m = len(drawn.n)
    exact = aggregation != ONE_SAMPLE and n_multisets(m, n_runs) <= MAX_MULTISETS
    if aggregation == ONE_SAMPLE:
        moments = value_moments(one_value_a_run(drawn.scaled, n_runs, resamples, rng))
        weights = np.full(resamples, 1 / resamples)
    else:
        draws = all_draws(m, n_runs) if exact else some_draws(m, n_runs, resamples, rng)
        moments, weights = drawn.moments(draws.counts), draws.weights
    covers = (np.abs(moments.mean - drawn.target) <= moments.half_widths(level)) & ~moments.constant
    rate = _rate(float(covers @ weights), len(weights), exact)
    return Coverage(rate.value, rate.se, rate.n, exact, None, float(moments.constant @ weights))


def type_1_error(
    runs: Sequence[ArrayLike],
    n_runs: int,
    *,
    alpha: float = 0.05,
    level: float = 0.95,
    per_run: PerRun = EVERY_ITERATION,
    aggregations: Sequence[str] = AGGREGATIONS,
    tests: Sequence[str] = TESTS,
    resamples: int = RESAMPLES,
    rng: np.random.Generator,
) -> dict[str, dict[str, Rate]]:
    """Compute how often a test finds a difference between two draws of the same runs, which is a false alarm [1]_.

    All pairs of multisets are enumerated with their probabilities. For "one sample", and if there are more than 6 000
    multisets, random pairs are used instead. For example, there are 4368 multisets of 5 out of 12 runs, and 6188 of 5
    out of 13 runs. Raises ValueError as for `coverage`.

    `alpha`: significance level of the tests, in (0, 1): a test rejects if p is at most alpha; `tests`: "welch",
    "mann-whitney" (as in `analysis.runs.samples`) or "intervals". The test "intervals" finds a difference if the
    intervals of the two draws do not overlap, which is far stricter than alpha. Returns aggregation -> test -> type I
    error, which is equal to alpha for a good test. (Section 3.2 of the paper calls 1 - alpha the ideal share of
    rejections, but the ideal share is alpha.) Undefined as for `coverage`; 0 if all values are equal (p = 1).

    References
    ----------
    .. [1] Bulej, Horky, Tuma (2017), ICPE '17 Companion, doi:10.1145/3053600.3053638
    """
    _check(runs, n_runs, level, resamples, alpha)
    _check_strings("aggregations", aggregations, AGGREGATIONS)
    _check_strings("tests", tests, TESTS)
    question = SignificanceTests(tuple(tests), alpha, level)
    every = n_multisets(len(runs), n_runs) <= MAX_PAIRED
    rates = {}
    for name in aggregations:
        drawn = population(runs, name, per_run)
        reason = _undefined(drawn, name, n_runs)
        if reason is not None or drawn.is_constant:
            rate = Rate(None, reason=reason) if reason else Rate(0.0, n=1, reason=NO_VARIATION)
            rates[name] = dict.fromkeys(tests, rate)
            continue
        by_factor, n, exact = _shares(drawn, name, n_runs, [1.0], question, resamples, rng, every=every)
        rates[name] = {test: _rate(by_factor[0][test], n, exact) for test in tests}
    return rates


def sensitivity(
    runs: Sequence[ArrayLike],
    n_runs: int,
    *,
    gammas: Sequence[float] = GAMMAS,
    better: str = "lower",
    alpha: float = 0.05,
    level: float = 0.95,
    per_run: PerRun = EVERY_ITERATION,
    aggregations: Sequence[str] = AGGREGATIONS,
    tests: Sequence[str] = TESTS,
    resamples: int = RESAMPLES,
    exact: bool = False,
    rng: np.random.Generator,
) -> tuple[Curve, ...]:
    """Compute how often a test detects a slowdown of a given size [1]_.

    Both samples are drawn from the same runs. The values of the second sample are then made slower by a factor. Raises
    ValueError as for `coverage`.

    `gammas`: factors >= 1, ascending; `better`: for "lower", or "" if unknown, the values of the second draw are
    multiplied by the factor. For "higher" (rates), they are divided by the factor. `exact`: whether to enumerate all
    pairs of multisets if there are at most 20 000 multisets, which takes minutes. By default, `resamples` random pairs
    are used, the same for all factors. Returns one curve per aggregation and test. Undefined as for `coverage`, and if
    the mean is not above zero.

    References
    ----------
    .. [1] Bulej, Horky, Tuma (2017), ICPE '17 Companion, doi:10.1145/3053600.3053638
    """
    _check(runs, n_runs, level, resamples, alpha)
    _check_strings("aggregations", aggregations, AGGREGATIONS)
    _check_strings("tests", tests, TESTS)
    _check_strings("better", [better], ("lower", "higher", ""))
    if not len(gammas) or gammas[0] < 1 or (np.diff(gammas) <= 0).any():
        raise ValueError(f"gammas must be factors >= 1 in ascending order, got {gammas}")
    factors = [1 / gamma if better == "higher" else gamma for gamma in gammas]
    question = SignificanceTests(tuple(tests), alpha, level)
    curves = []
    for name in aggregations:
        drawn = population(runs, name, per_run)
        reason = _undefined(drawn, name, n_runs) or (NO_PERCENT if drawn.target <= drawn.zero else None)
        if reason is not None:
            curves += [Curve(name, test, tuple(gammas), (), (), 0, True, alpha, reason) for test in tests]
            continue
        shares_of_factors, n, all_pairs = _shares(drawn, name, n_runs, factors, question, resamples, rng, every=exact)
        reason = NO_VARIATION if drawn.is_constant else None
        for test in tests:
            rates = [_rate(shares[test], n, all_pairs) for shares in shares_of_factors]
            power, se = tuple(rate.value or 0.0 for rate in rates), tuple(rate.se or 0.0 for rate in rates)
            curves.append(Curve(name, test, tuple(gammas), power, se, n, all_pairs, alpha, reason))
    return tuple(curves)


def smallest_slowdown(curve: Curve, power: float = 0.8) -> Estimate:
    """Return the smallest factor above 1 that the test detects with the required power.

    Raises ValueError if `power` is out of range.

    `power`: required share of pairs with a detected difference, in (0, 1]. Returns a factor of the curve; 1.05 means 5
    % slower. Undefined if the curve is undefined, or if no factor reaches the power. `reason` also warns if the test
    finds a difference in more than 2 alpha of the pairs without a slowdown, because these are false alarms.
    """
    if not 0 < power <= 1:
        raise ValueError(f"power must be within (0, 1], got {power}")
    if not curve.power:
        return Estimate(None, reason=curve.reason)
    reached = np.array(curve.power) >= power - 1e-12  # the weights of all pairs sum to 1, except for rounding errors
    from_here = np.logical_and.accumulate(reached[::-1])[::-1] & (np.array(curve.gammas) > 1)
    if not from_here.any():
        return Estimate(None, reason=f"not detected up to a factor of {curve.gammas[-1]:.2f}")
    alarms = curve.power[0] if curve.gammas[0] == 1 else 0.0
    reason = f"{percent(alarms)} of the pairs show a difference without any change"
    return Estimate(curve.gammas[int(from_here.argmax())], reason=reason if alarms > 2 * curve.alpha else curve.reason)


def _shares(
    drawn: Population,
    aggregation: str,
    n_runs: int,
    factors: Sequence[float],
    question: SignificanceTests,
    resamples: int,
    rng: np.random.Generator,
    *,
    every: bool,
) -> tuple[list[Shares], int, bool]:
    """Compute the share of pairs for which each test finds a difference, for each factor.

    Also return the number of pairs, and whether all pairs were used.
    """
    if aggregation == ONE_SAMPLE:
        return list(value_shares(drawn, n_runs, resamples, factors, question, rng)), resamples, False
    pairs = pairs_of(len(drawn.n), n_runs, resamples, rng, every=every)
    return list(shares(drawn, pairs, factors, question)), pairs.n, pairs.every


def _rate(share: float, n: int, exact: bool) -> Rate:
    value = min(1.0, max(0.0, share))
    return Rate(value, None if exact else float(np.sqrt(value * (1 - value) / n)), n, exact)


def _undefined(drawn: Population, aggregation: str, n_runs: int) -> str | None:
    if len(drawn.n) == 1:
        return ONE_RUN
    smallest = n_runs * (drawn.n.min() if aggregation == MERGED else 1)
    return ONE_VALUE if smallest < 2 else None


def _check(runs: Sequence[ArrayLike], n_runs: int, level: float, resamples: int, alpha: float = 0.05) -> None:
    if not len(runs):
        raise ValueError("runs is empty")
    for index, run in enumerate(runs):
        values: Floats = np.asarray(run, dtype=np.float64)
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
            raise ValueError(f"run {index} must be a series of finite measurements")
    for name, count in (("n_runs", n_runs), ("resamples", resamples)):
        if count < 1 or count != int(count):
            raise ValueError(f"{name} must be a whole number >= 1, got {count}")
    for name, share in (("level", level), ("alpha", alpha)):
        if not 0 < share < 1:
            raise ValueError(f"{name} must be within (0, 1), got {share}")


def _check_strings(name: str, words: Sequence[str], options: Sequence[str]) -> None:
    unknown = [word for word in words if word not in options]
    if unknown:
        raise ValueError(f"{name}: {unknown[0]!r} is not one of: {', '.join(options)}")
