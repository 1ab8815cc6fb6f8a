"""Run the Mann-Whitney test for many pairs of draws at once.

The decisions are the same as in `analysis.samples.rank_sum`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import comb
from typing import Any

import numpy as np
from scipy import special

from analysis.runs import Floats
from analysis.trust._moment_tests import Bools

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
class Compared:
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


def compared(values: Values, factor: float) -> Compared:
    """Compare each run with each run that is multiplied by a factor."""
    different, table = values.different, values.table
    scaled = different * factor
    at = np.searchsorted(different, scaled) if factor != 1 else np.arange(len(scaled))
    equal = different[np.minimum(at, len(different) - 1)] == scaled
    larger = values.below[-1] - values.below[at]
    larger[equal] -= table[at[equal]] / 2
    alike = values.alike if factor == 1 else Alike(table[at[equal]], table[equal], np.ones(equal.sum()))
    return Compared(values, _product(larger.T, table), alike)


def rank_sum_rejects(runs: Compared, a: Floats, b: Floats, alpha: float) -> Bools:
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

    Examples
    --------
    >>> smallest_distance(5, 5, 0.05)  # U <= 2 or >= 23
    10.5
    >>> smallest_distance(3, 3, 0.05)
    inf
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


def _ties(runs: Compared, a: Floats, b: Floats) -> Floats:
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


def _ties_of_all(runs: Compared, a: Floats, b: Floats) -> Floats:
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
