"""Compute the share of pairs of draws for which a test finds a difference, with many tests at once.

The decisions of the Mann-Whitney test are the same as in `analysis.runs.samples.rank_sum`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import comb
from typing import Any

import numpy as np
from numpy.polynomial import Chebyshev
from scipy import special

from analysis.arrays import Bools, Floats
from analysis.methods.trust._population import (
    MAX_MULTISETS,
    Draws,
    Moments,
    Population,
    all_draws,
    n_multisets,
    one_value_a_run,
    some_draws,
    value_moments,
)

ACCURACY = 1e-12
DEGREES = (8, 16, 32, 64, 128)


def welch_rejects(distance: Floats, a: Moments, b: Moments, alpha: float) -> Bools:
    """Return whether p of Welch's test is at most alpha, for each pair of draws `a` and `b` (broadcast).

    `distance` is the squared difference of the means. For speed, the degrees of freedom are computed only if t^2 lies
    between the smallest and the largest possible critical value. In this case, a polynomial gives the critical value.
    """
    low, high, critical = _critical(_inverse_df_range(a, b), alpha)
    rejects: Bools = distance >= high * a.variance + high * b.variance
    unclear = np.flatnonzero((distance >= low * a.variance + low * b.variance) != rejects)
    where = np.unravel_index(unclear, rejects.shape)
    (variance_a, n_a), (variance_b, n_b) = (
        (np.broadcast_to(x, rejects.shape)[where] for x in (side.variance, side.n)) for side in (a, b)
    )
    variance = variance_a + variance_b
    inverse_df = (variance_a**2 / (n_a - 1) + variance_b**2 / (n_b - 1)) / variance**2
    rejects[where] = distance[where] >= np.exp(critical(inverse_df)) * variance
    return rejects


def _inverse_df_range(a: Moments, b: Moments) -> tuple[float, float]:
    """Return the range of 1 / df, from the df of both draws together to the df of the smaller draw alone."""
    return 1 / float(a.n.max() + b.n.max() - 2), 1 / float(min(a.n.min(), b.n.min()) - 1)


@lru_cache(maxsize=64)
def _critical(ends: tuple[float, float], alpha: float) -> tuple[float, float, Chebyshev]:
    """Return the critical t^2 at both limits of 1 / df, slightly widened.

    Also return a polynomial in 1 / df that gives the logarithm of the critical t^2 between the limits.
    """

    def logarithm(inverse_df: Floats) -> Floats:
        return 2 * np.log(-special.stdtrit(1 / inverse_df, alpha / 2))

    low, high = np.exp(logarithm(np.array(ends))) * [1 - ACCURACY, 1 + ACCURACY]
    grid = np.linspace(*ends, 501)
    for degree in DEGREES:
        fitted = Chebyshev.interpolate(logarithm, degree, domain=ends)
        if np.abs(fitted(grid) - logarithm(grid)).max() < ACCURACY:
            break
    return float(low), float(high), fitted


def disjoint(distance: Floats, a_half: Floats, b_half: Floats) -> Bools:
    """Return whether two intervals do not overlap.

    `distance` is the squared difference between the centres of the intervals.
    """
    reach = a_half + b_half
    reach *= reach
    apart: Bools = distance > reach
    return apart


EXACT_BELOW = 50  # maximum number of values on each side for the exact test, which requires data without ties
AT_ONCE = 1 << 20  # maximum number of array elements
ONE_THREAD = 1 << 18  # maximum number of multiplications in one piece of a matrix product


@dataclass(frozen=True)
class Alike:
    """Patterns of values that occur in both samples.

    A pattern says how often a value occurs in each run of the first and of the second sample. `n` is the number of
    values with the pattern.
    """

    first: Floats  # (n_patterns, m)
    second: Floats  # (n_patterns, m)
    n: Floats  # (n_patterns,)


@dataclass(frozen=True)
class Values:
    """The distinct values of all runs."""

    different: Floats  # Ascending
    table: Floats  # how often each value occurs in each run
    # Number of values of each run that are below each distinct value. The last row is the number of all values of
    # the run.
    below: Floats
    alike: Alike  # the different rows of the table, with the number of times each row occurs
    cubes: Floats  # sum of the third powers of each column


@dataclass(frozen=True)
class FactorComparison:
    """Comparison of runs with the same runs after all values are multiplied by a factor."""

    values: Values
    # The number of pairs in which a value of run i exceeds a value of run j times the factor; ties count half.
    u: Floats
    alike: Alike  # the values that are equal to another value times the factor


def counted(runs: Sequence[Floats]) -> Values:
    """Count how often each distinct value occurs in each run."""
    m = len(runs)
    different, which = np.unique(np.concatenate(runs), return_inverse=True)
    labels = np.repeat(np.arange(m), [len(run) for run in runs])
    table = np.bincount(which * m + labels, minlength=len(different) * m).reshape(-1, m).astype(np.float64)
    single = table.sum(axis=1) == 1
    patterns = np.vstack([np.eye(m), table[~single]])
    alike = Alike(patterns, patterns, np.concatenate([table[single].sum(axis=0), np.ones((~single).sum())]))
    below = np.vstack([np.zeros(m), np.cumsum(table, axis=0)])
    return Values(different, table, below, alike, _cube(table).sum(axis=0))


def compared(values: Values, factor: float) -> FactorComparison:
    """Compare each run with each run that is multiplied by a factor."""
    different, table = values.different, values.table
    scaled = different * factor
    at = np.searchsorted(different, scaled) if factor != 1 else np.arange(len(scaled))
    equal = different[np.minimum(at, len(different) - 1)] == scaled
    larger = values.below[-1] - values.below[at]
    larger[equal] -= table[at[equal]] / 2
    alike = values.alike if factor == 1 else Alike(table[at[equal]], table[equal], np.ones(equal.sum()))
    return FactorComparison(values, _product(larger.T, table), alike)


def rank_sum_rejects(runs: FactorComparison, a: Floats, b: Floats, alpha: float) -> Bools:
    """Return whether the two-sided p of the Mann-Whitney test is at most alpha, for each pair of draws.

    `a` and `b` have the number of times each run was drawn for the first and the second sample. Their shapes are (k, 1,
    m) and (1, n, m), or both (n, m); the result has shape (k, n) or (n,).
    """
    n_a, n_b = (_constant(side @ runs.values.below[-1]) for side in (a, b))
    weighted = a @ runs.u
    u = _product(weighted[:, 0], b[0].T) if a.ndim == 3 else np.einsum("ij,ij->i", weighted, b)
    u -= n_a * n_b / 2
    distance = np.abs(u, out=u)
    distance -= 0.5
    if a.ndim == 3 and max(np.max(n_a), np.max(n_b)) < EXACT_BELOW:
        return decided(distance, n_a, n_b, _ties_of_all(runs, a[:, 0], b[0]), alpha)
    few, many = _least_and_most_ties(runs.values, a, b)
    z = -special.ndtri(alpha / 2)
    rejects: Bools = distance >= z * _sd(n_a, n_b, few)
    unclear = (distance >= z * _sd(n_a, n_b, many)) != rejects
    if max(np.max(n_a), np.max(n_b)) < EXACT_BELOW:
        unclear[...] = True  # here the decision of the exact test can differ
    where = np.unravel_index(np.flatnonzero(unclear), u.shape)
    a, b = (np.broadcast_to(side, (*u.shape, a.shape[-1]))[where] for side in (a, b))
    n_a, n_b = (np.broadcast_to(n, u.shape)[where] for n in (n_a, n_b))
    rejects[where] = decided(distance[where], n_a, n_b, _ties(runs, a, b), alpha)
    return rejects


def decided(distance: Floats, n_a: Any, n_b: Any, ties: Floats, alpha: float) -> Bools:
    """Return whether the statistic U is so far from its mean that p <= alpha.

    `distance` is the distance of U from its mean, minus 1/2, in any shape; `ties` is the sum of n^3 over the distinct
    values, where n is how often the value occurs. The test is exact if there are few values and no ties; otherwise, it
    uses the normal approximation.
    """
    rejects: Bools = (distance > 0) & (distance >= -special.ndtri(alpha / 2) * _sd(n_a, n_b, ties))
    exact = np.flatnonzero((ties == n_a + n_b) & (np.maximum(n_a, n_b) < EXACT_BELOW))
    if len(exact):
        sizes = n_a * EXACT_BELOW + n_b
        code = np.broadcast_to(sizes, rejects.shape).flat[exact].astype(int)
        needed = np.zeros(EXACT_BELOW**2)
        for size in np.flatnonzero(np.bincount(code)):
            needed[size] = smallest_distance(*divmod(int(size), EXACT_BELOW), alpha)
        rejects.flat[exact] = distance.flat[exact] + 0.5 >= needed[code]
    return rejects


@lru_cache(maxsize=256)
def smallest_distance(n_a: int, n_b: int, alpha: float) -> float:
    """Return the smallest distance between U and its mean at which the exact p is at most alpha.

    There must be no ties. The number of orders that give a value of U is a coefficient of a Gaussian binomial [1]_.

    References
    ----------
    .. [1] Mann, Whitney (1947), Ann. Math. Stat. 18:50-60, doi:10.1214/aoms/1177730491
    """
    orders = [1] + [0] * (n_a * n_b)
    for i in range(1, n_b + 1):
        for k in range(n_a * n_b, n_a + i - 1, -1):
            orders[k] -= orders[k - n_a - i]
        for k in range(i, n_a * n_b + 1):
            orders[k] += orders[k - i]
    n_orders = comb(n_a + n_b, n_a)
    u = next(u for u, tail in enumerate(accumulate(orders)) if 2 * tail / n_orders > alpha)
    return n_a * n_b / 2 - (u - 1) if u else float("inf")


def _product(a: Floats, b: Floats) -> Floats:
    """Compute a matrix product in pieces that are small enough for one BLAS thread.

    Several threads would be slower, because threads wait for busy cores.
    """
    product = np.zeros((len(a), b.shape[1]))
    size = min(8, max(2, ONE_THREAD // max(1, b.size)))
    length = max(1, ONE_THREAD // (size * b.shape[1]))
    for rows in (slice(start, start + size) for start in range(0, len(a), size)):
        for inner in (slice(start, start + length) for start in range(0, len(b), length)):
            product[rows] += a[rows, inner] @ b[inner]
    return product


def _cube(x: Floats) -> Floats:
    return x * x * x  # x**3 takes ten times as long


def _constant(n: Floats) -> Any:
    """Return a single number if all entries are equal, to avoid large arrays; otherwise, return the array."""
    return n.flat[0] if n.min() == n.max() else n


def _sd(n_a: Any, n_b: Any, ties: Any) -> Any:
    n = n_a + n_b
    return np.sqrt(np.maximum(0.0, n_a * n_b / 12 * (n + 1 - (ties - n) / (n * (n - 1)))))


def _least_and_most_ties(values: Values, a: Floats, b: Floats) -> tuple[float, float]:
    """Return a lower and an upper bound for the correction for ties, which needs third powers.

    (sum of k x)^3 is between the sum of (k x)^3 and (sum of k)^2 (sum of k x^3).
    """
    drawn = a.flat[: a.shape[-1]].sum() + b.flat[: b.shape[-1]].sum()  # equal in each draw
    few = sum((_cube(side) @ values.cubes).min() for side in (a, b))
    many = drawn**2 * sum((side @ values.cubes).max() for side in (a, b))
    return float(few), float(many)


def _ties(runs: FactorComparison, a: Floats, b: Floats) -> Floats:
    """Return the sum of n^3 over the distinct values of each pair, where n is how often a value occurs."""
    ties = np.empty(len(a))
    own, shared = runs.values.alike, runs.alike
    size = max(1, AT_ONCE // max(len(own.n), len(shared.n)))
    for start in range(0, len(a), size):
        rows = slice(start, start + size)
        alone = sum(_cube(side[rows] @ own.first.T) @ own.n for side in (a, b))
        x, y = a[rows] @ shared.first.T, b[rows] @ shared.second.T
        ties[rows] = alone + (3 * x * y * (x + y)) @ shared.n
    return np.rint(ties)


def _ties_of_all(runs: FactorComparison, a: Floats, b: Floats) -> Floats:
    """Compute `_ties` for each draw of `a` (rows) with each draw of `b` (columns)."""
    own, shared = runs.values.alike, runs.alike
    alone = [_cube(side @ own.first.T) @ own.n for side in (a, b)]
    x, y = a @ shared.first.T, b @ shared.second.T
    together = _product(shared.n * x * x, y.T) + _product(shared.n * x, (y * y).T)
    return np.rint(alone[0][:, None] + alone[1] + 3 * together)


def values_reject(a: Floats, b: Floats, alpha: float) -> Bools:
    """Return whether p of the Mann-Whitney test is at most alpha; each row of `a` and `b` is one draw of values."""
    x, y = a.T.copy(), b.T.copy()  # sums over few values are faster along the first axis
    u = sum((x > value).sum(axis=0) + (x == value).sum(axis=0) / 2 for value in y)
    pooled = np.sort(np.hstack([a, b]), axis=1)
    ties = np.full(len(a), float(pooled.shape[1]))
    tied = (pooled[:, 1:] == pooled[:, :-1]).any(axis=1)
    few = pooled[tied].T.copy()
    ties[tied] = sum((few == value).sum(axis=0) ** 2 for value in few)
    n_a, n_b = float(a.shape[1]), float(b.shape[1])
    return decided(np.abs(u - n_a * n_b / 2) - 0.5, n_a, n_b, ties, alpha)


WELCH, MANN_WHITNEY, INTERVALS = "welch", "mann-whitney", "intervals"
TESTS = (WELCH, MANN_WHITNEY, INTERVALS)
PAIRS_AT_ONCE = 1 << 17  # chunk size that fits into the processor's cache

Shares = Mapping[str, float]


@dataclass(frozen=True)
class SignificanceTests:
    """The tests to run, their significance level, and the level of the intervals."""

    tests: Sequence[str]
    alpha: float
    level: float


@dataclass(frozen=True)
class DrawnPairs:
    """Pairs of draws from the same runs."""

    first: Draws
    second: Draws
    # Whether each draw is paired with all others; otherwise the i-th first draw is paired with the i-th second
    # draw.
    every: bool

    @property
    def n(self) -> int:
        """Return the number of pairs."""
        return len(self.first.weights) * (len(self.second.weights) if self.every else 1)


def pairs_of(m: int, n_runs: int, n_pairs: int, rng: np.random.Generator, *, every: bool = True) -> DrawnPairs:
    """Return all pairs of multisets if they are requested and not too many; otherwise, draw random pairs."""
    if every and n_multisets(m, n_runs) <= MAX_MULTISETS:
        draws = all_draws(m, n_runs)
        return DrawnPairs(draws, draws, True)
    return DrawnPairs(some_draws(m, n_runs, n_pairs, rng), some_draws(m, n_runs, n_pairs, rng), False)


def shares(
    population: Population, pairs: DrawnPairs, factors: Sequence[float], question: SignificanceTests
) -> Iterator[Shares]:
    """Yield the share of pairs for which each test finds a difference, for each factor on the second draw."""
    first, second = (population.moments(draws.counts) for draws in (pairs.first, pairs.second))
    values = counted(population.values) if MANN_WHITNEY in question.tests else None
    for factor in factors:
        shares: dict[str, float] = {}
        if {WELCH, INTERVALS} & set(question.tests):
            shares |= _moment_shares(first, second.times(factor, population.zero), pairs, factor == 1, question)
        if values is not None:
            shares[MANN_WHITNEY] = _rank_share(population, values, pairs, factor, question.alpha)
        yield shares


def _moment_shares(a: Moments, b: Moments, pairs: DrawnPairs, alike: bool, question: SignificanceTests) -> Shares:
    halves = [side.half_widths(question.level) for side in (a, b)]
    shares = dict.fromkeys((test for test in question.tests if test != MANN_WHITNEY), 0.0)
    for block in _blocks(pairs, alike):
        x, y = a[block.rows], b[block.columns]
        distance = x.mean - y.mean
        distance *= distance
        for test in shares:
            if test == WELCH:
                rejects = welch_rejects(distance, x, y, question.alpha)
            else:
                rejects = disjoint(distance, halves[0][block.rows], halves[1][block.columns])
            shares[test] += block.share(rejects)
    return shares


def _rank_share(population: Population, values: Values, pairs: DrawnPairs, factor: float, alpha: float) -> float:
    if factor == 1 and pairs.every and population.n.max() == 1:
        # the result depends only on the order of the run values, which is the same for many benchmarks
        _, order = np.unique([run[0] for run in population.values], return_inverse=True)
        return _share_by_order(tuple(sorted(map(int, order + 1))), int(pairs.first.counts[0].sum()), alpha)
    return _sum_of_blocks(compared(values, factor), pairs, factor == 1, alpha)


@lru_cache(maxsize=256)
def _share_by_order(order: tuple[int, ...], n_runs: int, alpha: float) -> float:
    draws = all_draws(len(order), n_runs)
    values = counted([np.array([float(rank)]) for rank in order])
    return _sum_of_blocks(compared(values, 1.0), DrawnPairs(draws, draws, True), True, alpha)


def _sum_of_blocks(runs: FactorComparison, pairs: DrawnPairs, alike: bool, alpha: float) -> float:
    return sum(
        block.share(rank_sum_rejects(runs, pairs.first.counts[block.rows], pairs.second.counts[block.columns], alpha))
        for block in _blocks(pairs, alike)
    )


@dataclass(frozen=True)
class _Block:
    """A block of pairs of draws: the draws, their indices and their weights."""

    rows: tuple[slice | None, ...]
    columns: tuple[slice | None, ...]
    row_weights: Floats
    column_weights: Floats | None
    n_once: int  # so many columns at the start count once; all other columns also stand for the reversed pair

    def share(self, rejects: Bools) -> float:
        """Return the total weight of the pairs for which the test finds a difference."""
        if self.column_weights is None:
            return float(rejects @ self.row_weights)
        by_row = rejects @ self.column_weights
        if self.n_once < len(self.column_weights):
            by_row = 2 * by_row - rejects[:, : self.n_once] @ self.column_weights[: self.n_once]
        return float(self.row_weights @ by_row)


def _blocks(pairs: DrawnPairs, alike: bool) -> Iterator[_Block]:
    """Yield the pairs in blocks that are small enough for the cache.

    If `alike` is true, a pair and the reversed pair give the same result, so each unordered pair occurs once.
    """
    weights = pairs.first.weights
    n = len(weights)
    if not pairs.every:
        yield _Block((slice(None),), (slice(None),), weights, None, 0)
        return
    size = max(1, PAIRS_AT_ONCE // n)
    for start in range(0, n, size):
        rows, columns = slice(start, start + size), slice(start if alike else 0, n)
        n_once = len(weights[rows]) if alike else n
        column_weights = pairs.second.weights[columns]
        yield _Block((rows, None), (None, columns), weights[rows], column_weights, n_once)


def value_shares(
    population: Population,
    n_runs: int,
    n_pairs: int,
    factors: Sequence[float],
    question: SignificanceTests,
    rng: np.random.Generator,
) -> Iterator[Shares]:
    """Yield the same shares as `shares`, but with one random value from each drawn run."""
    first, second = (one_value_a_run(population.scaled, n_runs, n_pairs, rng) for _ in range(2))
    a, b = value_moments(first), value_moments(second)
    for factor in factors:
        shares: dict[str, float] = {}
        y = b.times(factor, population.zero)
        distance = (a.mean - y.mean) ** 2
        if WELCH in question.tests:
            shares[WELCH] = float(welch_rejects(distance, a, y, question.alpha).mean())
        if INTERVALS in question.tests:
            shares[INTERVALS] = float(disjoint(distance, *(x.half_widths(question.level) for x in (a, y))).mean())
        if MANN_WHITNEY in question.tests:
            times = factor * second - (factor - 1) * population.zero
            shares[MANN_WHITNEY] = float(values_reject(first, times, question.alpha).mean())
        yield shares
