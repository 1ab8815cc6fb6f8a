"""Compute the share of pairs of draws for which a test finds a difference."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from analysis.runs import Floats
from analysis.trust._draws import MAX_MULTISETS, Draws, all_draws, n_multisets, some_draws
from analysis.trust._moment_tests import Bools, disjoint, welch_rejects
from analysis.trust._population import Moments, Population, one_value_a_run, value_moments
from analysis.trust._rank_test import Compared, Values, compared, counted, rank_sum_rejects, values_reject

WELCH, MANN_WHITNEY, INTERVALS = "welch", "mann-whitney", "intervals"
TESTS = (WELCH, MANN_WHITNEY, INTERVALS)
PAIRS_AT_ONCE = 1 << 17  # chunk size that fits into the processor's cache

Shares = Mapping[str, float]


@dataclass(frozen=True)
class Question:
    """The tests to run, their significance level, and the level of the intervals."""

    tests: Sequence[str]
    alpha: float
    level: float


@dataclass(frozen=True)
class Pairs:
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


def pairs_of(m: int, n_runs: int, n_pairs: int, rng: np.random.Generator, *, every: bool = True) -> Pairs:
    """Return all pairs of multisets if they are requested and not too many; otherwise, draw random pairs."""
    if every and n_multisets(m, n_runs) <= MAX_MULTISETS:
        draws = all_draws(m, n_runs)
        return Pairs(draws, draws, True)
    return Pairs(some_draws(m, n_runs, n_pairs, rng), some_draws(m, n_runs, n_pairs, rng), False)


def shares(population: Population, pairs: Pairs, factors: Sequence[float], question: Question) -> Iterator[Shares]:
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


def _moment_shares(a: Moments, b: Moments, pairs: Pairs, alike: bool, question: Question) -> Shares:
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


def _rank_share(population: Population, values: Values, pairs: Pairs, factor: float, alpha: float) -> float:
    if factor == 1 and pairs.every and population.n.max() == 1:
        # the result depends only on the order of the run values, which is the same for many benchmarks
        _, order = np.unique([run[0] for run in population.values], return_inverse=True)
        return _share_by_order(tuple(sorted(map(int, order + 1))), int(pairs.first.counts[0].sum()), alpha)
    return _sum_of_blocks(compared(values, factor), pairs, factor == 1, alpha)


@lru_cache(maxsize=256)
def _share_by_order(order: tuple[int, ...], n_runs: int, alpha: float) -> float:
    draws = all_draws(len(order), n_runs)
    values = counted([np.array([float(rank)]) for rank in order])
    return _sum_of_blocks(compared(values, 1.0), Pairs(draws, draws, True), True, alpha)


def _sum_of_blocks(runs: Compared, pairs: Pairs, alike: bool, alpha: float) -> float:
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


def _blocks(pairs: Pairs, alike: bool) -> Iterator[_Block]:
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
    question: Question,
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
