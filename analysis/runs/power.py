"""Compute which differences a comparison of two sets of runs can detect, and how many runs it needs.

All results are for one benchmark in a family of `n_tests` benchmarks whose p values are corrected together. The results
take into account that the spread is estimated from only a few runs.
"""

from collections.abc import Callable
from functools import lru_cache
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import Floats
from analysis.statistics.intervals import Estimate
from analysis.statistics.two_samples import COMBINED, NO_VARIATION, by_strata, compared_by_turns, p_values

# A stated difference is larger by the larger of MARGIN / n and MARGIN_OF_FEW / n^2, n runs of a version; see `margin`.
MARGIN, MARGIN_OF_FEW = 1.75, 12.5
MIN_RUNS_OF_MARGIN = 5
N_DRAWS = 200  # number of simulated comparisons for a detectable change
N_HALVINGS = 7
LARGEST_CHANGE = 64.0  # the largest change that is tried, as a multiple of the one for normal runs
MAX_RUNS = 100_000
SEED = 0
N_NODES = 24  # number of nodes per numerical integral; more nodes change the power by less than 0.002
LARGEST_EFFECT = 1e6  # maximum effect, in standard deviations


def power(effect: float, n_runs: int, *, alpha: float = 0.05, n_tests: int = 1, n_known: int | None = None) -> float:
    """Compute the probability that Welch's test of two sets of runs detects a difference of their means.

    The test has level alpha / n_tests. Holm's correction is never stricter than this level, and only slightly less
    strict if few benchmarks have changed. Runs are assumed to be normal, with the same spread on both sides. For such
    runs, the combined test of `analysis.statistics.two_samples` has at most 0.02 less power than Welch's test.

    `effect`: difference of the means, in standard deviations of the values of runs; `n_runs`: number of runs in each
    set, at least 2; `alpha`: significance level for all benchmarks together, in (0, 1); `n_tests`: number of benchmarks
    that are corrected together; `n_known`: number of runs from which the standard deviation in `effect` was estimated,
    at least 2. The result is then the mean power over possible true standard deviations. By default, the standard
    deviation is known. The result is in [0, 1]. The power is an integral over the distributions of both variances [1]_,
    which determine the degrees of freedom.

    References
    ----------
    .. [1] Welch (1947), Biometrika 34:28-35, doi:10.1093/biomet/34.1-2.28
    """
    from scipy import special

    scale, reject, weights = _nodes(n_runs, alpha / n_tests, n_known)
    shift = abs(effect) * np.sqrt(n_runs / 2) * scale
    terms = weights * (special.ndtr(shift - reject) + special.ndtr(-shift - reject))
    return float(terms.sum())  # matrix multiplication with @ would start threads


def smallest_difference(
    values: ArrayLike, *, alpha: float = 0.05, wanted: float = 0.8, n_tests: int = 1, n_runs: int | None = None
) -> Estimate:
    """Compute the smallest relative difference between two means that new runs detect with the required power.

    `values` (shape (n_known,)): one number per run; new runs are assumed to have the same spread; `alpha`: significance
    level of the comparison for all benchmarks together; `wanted`: required power, in (alpha, 1); `n_tests`: number of
    benchmarks that are corrected together; `n_runs`: number of new runs in each set, at least 2; by default the number
    of values. Returns the difference as a share of the mean; 0 if all values are equal. Undefined if there are fewer
    than two runs, if the mean is not positive, or if there are so few runs that no difference can be detected.
    """
    variation = _variation(values)
    if not variation.value:
        return Estimate(0.0, reason=NO_VARIATION) if variation.value == 0 else variation
    n_known = len(np.asarray(values))
    effect = smallest_effect(n_runs or n_known, alpha / n_tests, wanted, n_known)
    if effect == inf:
        return Estimate(None, reason=f"{n_runs or n_known} runs of each version cannot detect any difference")
    return Estimate(effect * variation.value)


def margin(n_runs: int) -> float:
    """Return the factor by which a stated difference is larger than the one for normal runs.

    Runs with a longer tail on one side, or with outliers that the few measured runs do not contain, need it to be found
    with the required power (docs/results/detectable.md).
    """
    n = max(n_runs, MIN_RUNS_OF_MARGIN)
    return 1 + max(MARGIN / n, MARGIN_OF_FEW / n**2)


def detectable_changes(
    a: Floats, b: Floats, start: Floats, *, level: float, wanted: float = 0.8, test: str = COMBINED
) -> Floats:
    """Compute the smallest relative change that a test detects, by resampling the measured runs of many benchmarks.

    Resampling takes outliers and several modes into account, which normal theory does not. The runs of both sides are
    pooled as deviations from the mean of the logarithms of their side; the deviations of a side are enlarged by
    sqrt(n / (n - 1)), because the mean was estimated. In each resample all deviations are multiplied by a factor whose
    square is the number of degrees of freedom divided by a chi-squared variable, because the spread was estimated, too.

    `a` and `b`: positive values that vary, at least five in each row; `start` (shape (n_benchmarks,)): a first guess, >
    0; `wanted`: required power, in (0, 1). Returns the change as a share; infinity if even 64 times the first guess is
    not detected.
    """
    n_a, n_b = a.shape[1], b.shape[1]
    deviations = [
        (logs - logs.mean(axis=1, keepdims=True)) * np.sqrt(n / (n - 1))
        for logs, n in ((np.log(a), n_a), (np.log(b), n_b))
    ]
    pooled = np.concatenate(deviations, axis=1)
    rng = np.random.default_rng(SEED)  # all benchmarks use the same draws, so their order does not matter
    df = n_a + n_b - 2
    factors = np.sqrt(df / rng.chisquare(df, N_DRAWS))[:, None]
    first, second = (np.exp(factors * pooled[:, rng.integers(n_a + n_b, size=(N_DRAWS, n))]) for n in (n_a, n_b))

    def powers(changes: Floats, rows: NDArray[np.intp]) -> Floats:
        changed = first[rows] * (1 + changes)[:, None, None]
        p = p_values(changed.reshape(-1, n_a), second[rows].reshape(-1, n_b), test, ties=False)
        found: Floats = (p.reshape(len(rows), N_DRAWS) <= level).mean(axis=1)
        return found

    low, high = np.log(start) - np.log(4), np.log(start)
    rows = np.arange(len(a))
    enough = np.zeros(len(a), dtype=bool)
    while len(rows):
        enough[rows] = powers(np.exp(high[rows]), rows) >= wanted
        rows = rows[~enough[rows]]
        rows = rows[high[rows] < np.log(start[rows] * LARGEST_CHANGE)]
        low[rows], high[rows] = high[rows], high[rows] + np.log(4)
    rows = np.flatnonzero(enough)
    for _ in range(N_HALVINGS if len(rows) else 0):
        middle = (low[rows] + high[rows]) / 2
        is_enough = powers(np.exp(middle), rows) >= wanted
        high[rows] = np.where(is_enough, middle, high[rows])
        low[rows] = np.where(is_enough, low[rows], middle)
    return np.where(enough, margin(min(n_a, n_b)) * np.exp(high), inf)


def smallest_difference_by_strata(
    a: Floats, b: Floats, strata: tuple[NDArray[np.intp], NDArray[np.intp]], level: float, wanted: float = 0.8
) -> float | None:
    """Return the smallest relative difference that `by_strata` detects, from the standard error of these samples.

    Return None if no degrees of freedom remain.
    """
    df = len(a) + len(b) - len(np.unique(np.concatenate(strata))) - 1
    compared = by_strata(a, b, (strata[1], strata[0]), level)
    return None if compared is None else _smallest_by_t(compared[1], df, min(len(a), len(b)), level, wanted)


def smallest_difference_by_turns(
    candidate: Floats, baseline: Floats, turns: int, level: float, wanted: float = 0.8
) -> float | None:
    """Return the smallest relative difference that `compared_by_turns` detects, or None if there are too few runs."""
    compared = compared_by_turns(candidate, baseline, turns, level)
    n = min(len(candidate) - (turns == 1), len(baseline) - (turns == 0))
    return None if compared is None else _smallest_by_t(compared[1], n - 1, n, level, wanted)


def _smallest_by_t(ratio: Estimate, df: int, n: int, level: float, wanted: float) -> float | None:
    """Return the smallest relative difference that a t test detects which gave this interval of the ratio."""
    from scipy import special

    if ratio.low is None or ratio.high is None:
        return None
    se = float(np.log(ratio.high / ratio.low)) / 2 / float(special.stdtrit(df, 1 - level / 2))
    return margin(n) * float(np.expm1(_smallest_shift(df, level, wanted) * se))


def runs_needed(
    values: ArrayLike, difference: float, *, alpha: float = 0.05, wanted: float = 0.8, n_tests: int = 1
) -> Estimate:
    """Compute how many runs each set needs to detect a relative difference between means with the required power.

    Raises ValueError if the difference is not positive.

    `values` (shape (n_known,)): one number per run; `difference`: the difference as a share of the mean, > 0. Returns a
    whole number, at least 2. Undefined as in `smallest_difference`, or if more than 100 000 runs would be needed.
    """
    if not difference > 0:
        raise ValueError(f"difference must be > 0, got {difference}")
    variation = _variation(values)
    if not variation.value:
        return Estimate(2.0, reason=NO_VARIATION) if variation.value == 0 else variation
    n_known = len(np.asarray(values))
    effect = difference / variation.value

    def are_enough(n_runs: int) -> bool:
        return power(effect / margin(n_runs), n_runs, alpha=alpha, n_tests=n_tests, n_known=n_known) >= wanted

    few, enough = 1, 2
    while not are_enough(enough):
        few, enough = enough, 2 * enough
        if enough > MAX_RUNS:
            return Estimate(None, reason=f"more than {MAX_RUNS} runs would be needed")
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if are_enough(middle) else (middle, enough)
    return Estimate(float(enough))


def _variation(values: ArrayLike) -> Estimate:
    from analysis.runs.spread import cv

    return cv(values)


@lru_cache(maxsize=4096)
def smallest_effect(n_runs: int, level: float, wanted: float, n_known: int | None = None) -> float:
    """Return the smallest effect that the test detects, in standard deviations, with the margin; see `power`.

    If no effect is large enough, return infinity.
    """
    from scipy import special

    def power_of(effect: float) -> float:
        return power(effect, n_runs, alpha=level, n_known=n_known)

    # at this effect the power is at most one half
    return margin(n_runs) * _smallest(power_of, float(-special.ndtri(level / 2) / np.sqrt(n_runs / 2)), wanted)


@lru_cache(maxsize=4096)
def _smallest_shift(df: int, level: float, wanted: float) -> float:
    """Return the smallest shift that a t test detects, in standard errors that were estimated with its own df."""
    from scipy import special

    at, weights = np.polynomial.legendre.leggauss(N_NODES)
    estimated = np.sqrt(special.gammaincinv(df / 2, (at + 1) / 2) / (df / 2))  # estimated / true standard error
    reject = float(special.stdtrit(df, 1 - level / 2)) * estimated[:, None]

    def power_of(shift: float) -> float:
        true = shift * estimated
        terms = special.ndtr(true - reject) + special.ndtr(-true - reject)
        return float((weights[:, None] * weights * terms).sum()) / 4

    return _smallest(power_of, float(-special.ndtri(level / 2)), wanted)


def _smallest(power_of: Callable[[float], float], start: float, wanted: float) -> float:
    """Return the effect, > 0, at which the power is as wanted; infinity if no effect is large enough."""

    def lacking(log_effect: float) -> float:
        return power_of(float(np.exp(log_effect))) - wanted

    largest, low = float(np.log(LARGEST_EFFECT)), float(np.log(start))
    at_low, step = lacking(low), 0.5
    if at_low >= 0:
        low, at_low = -20.0, lacking(-20.0)
    high, at_high = low, at_low
    while at_high < 0:
        if high >= largest:
            return inf
        low, at_low, high, step = high, at_high, min(high + step, largest), 2 * step
        at_high = lacking(high)
    return float(np.exp(_root(lacking, low, at_low, high, at_high)))


def _root(function: Callable[[float], float], low: float, at_low: float, high: float, at_high: float) -> float:
    """Find the root of an increasing function to within 1e-6.

    The Illinois variant of regula falsi [1]_ avoids the slow import of scipy's solvers.

    References
    ----------
    .. [1] Dowell, Jarratt (1971), BIT 11:168-174, doi:10.1007/BF01934364
    """
    last_end = 0  # the limit that the last step kept: -1 for the lower limit, 1 for the upper limit
    while high - low > 1e-6:
        middle = low - at_low * (high - low) / (at_high - at_low)
        value = function(middle)
        if abs(value) < 1e-9:
            return middle
        if value < 0:
            at_high = at_high / 2 if last_end > 0 else at_high
            low, at_low, last_end = middle, value, 1
        else:
            at_low = at_low / 2 if last_end < 0 else at_low
            high, at_high, last_end = middle, value, -1
    return (low + high) / 2


@lru_cache(maxsize=4096)
def _nodes(n_runs: int, level: float, n_known: int | None) -> tuple[NDArray[np.float64], ...]:
    """Return the nodes of the integral: the factor on the effect, the critical |z|, and the weight of each node."""
    from scipy import special

    at, weights = np.polynomial.legendre.leggauss(N_NODES)
    at, weights = (at + 1) / 2, weights / 2
    df = n_runs - 1
    # estimated / true variance of the difference is chi-squared; the share of one side is beta and independent of it
    total = special.gammaincinv(df, at) / df
    share = special.betaincinv(df / 2, df / 2, at)
    welch_df = df / (share**2 + (1 - share) ** 2)
    reject = -special.stdtrit(welch_df, level / 2)[:, None] * np.sqrt(total)
    if n_known is None:
        scale, of_scale = np.ones(1), np.ones(1)
    else:
        scale, of_scale = np.sqrt(2 * special.gammaincinv((n_known - 1) / 2, at) / (n_known - 1)), weights
    nodes = np.broadcast_arrays(scale[:, None, None], reject, of_scale[:, None, None] * weights[:, None] * weights)
    return tuple(part.ravel() for part in nodes)
