"""Cut a series at change points with least cost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, log, pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import Floats, Indices

MIN_LENGTH = 2  # a variance needs two points


VARIANCE_OF_CONSTANT = 1e-11  # what the R package takes if a variance is 0 or, by rounding, below 0


BLOCK = 48  # positions per block, so that the arrays of a block stay in the cache of the processor


SAME_PENALTY = 1e-2  # CROPS does not solve a penalty this close to one that it has solved


@dataclass(frozen=True)
class Segmentation:
    """The best segmentation of a series for any penalty from `low` to `high`."""

    starts: tuple[int, ...]  # the first point of each segment but the first, counted from 0
    cost: float  # without penalties
    low: float = 0.0
    high: float = inf

    def __len__(self) -> int:
        """Return the number of changes."""
        return len(self.starts)


class Segmenter:
    """The costs of all segments of a series, and the best segmentation for any penalty.

    The cost of a segment of n points is twice its negative log-likelihood, n (log(2 pi) + log(variance) + 1), with the
    population variance.
    """

    def __init__(self, values: ArrayLike) -> None:
        series = np.asarray(values, dtype=np.float64)
        if series.ndim != 1 or not np.isfinite(series).all():
            raise ValueError("a series must be a list of finite numbers")
        self.n = len(series)
        self._sums = _cumulated(series)
        self._squares = _cumulated(series**2)

    def best(self, penalty: float) -> Segmentation:
        """Return the segmentation with the least sum of its costs and of `penalty` for each change."""
        return replace(self._solve([penalty])[0], low=penalty, high=penalty)

    def path(self, low: float, high: float) -> list[Segmentation]:
        """Return the best segmentations for all penalties from `low` to `high`, from most to fewest changes.

        At a penalty of exactly its `low`, a segmentation costs as much as the previous one in the list.
        """
        solved = dict(zip((low, high), self._solve([low, high]), strict=True))
        while True:
            penalties = sorted(solved)
            pairs = [(solved[a], solved[b]) for a, b in pairwise(penalties)]
            even = {_even(more, fewer) for more, fewer in pairs if abs(len(more) - len(fewer)) > 1}
            new = [beta for beta in sorted(even) if min(abs(beta - known) for known in solved) >= SAME_PENALTY]
            if not new:
                break
            solved.update(zip(new, self._solve(new), strict=True))
        by_count: dict[int, Segmentation] = {}
        for penalty in sorted(solved):
            by_count.setdefault(len(solved[penalty]), solved[penalty])
        kept = list(by_count.values())
        ends = [low, *(_even(more, fewer) for more, fewer in pairwise(kept)), high]
        return [replace(each, low=ends[at], high=ends[at + 1]) for at, each in enumerate(kept)]

    def cost(self, starts: ArrayLike, end: int | Indices) -> Floats:
        """Return the costs of the segments from `starts` to before `end`; infinite if a segment is too short."""
        first = np.asarray(starts)
        n = np.subtract(end, first, dtype=np.float64)
        short = n < MIN_LENGTH
        np.maximum(n, 1, out=n)
        total = self._sums[end] - self._sums[first]
        total *= total
        total /= n
        variance = self._squares[end] - self._squares[first]
        variance -= total
        variance /= n
        variance[variance <= 0] = VARIANCE_OF_CONSTANT
        cost: Floats = np.log(variance, out=variance)
        cost += log(2 * pi)
        cost += 1
        cost *= n
        cost[short] = inf
        return cost

    def _solve(self, penalties: Sequence[float]) -> list[Segmentation]:
        if self.n < MIN_LENGTH:
            return [Segmentation((), 0.0) for _ in penalties]
        beta = np.array(penalties, dtype=np.float64)
        least = np.full((len(beta), self.n + 1), inf)  # least costs of the first t points, with penalties
        least[:, 0] = -beta
        before = np.arange(MIN_LENGTH)  # the points before the block that can begin the last segment
        possible = []  # per block: the points that can begin the last segment
        for start in range(MIN_LENGTH, self.n + 1, BLOCK):
            ends = np.arange(start, min(start + BLOCK, self.n + 1))
            firsts = np.concatenate((before, ends[:-1]))
            possible.append(firsts)
            costs = self.cost(firsts, ends[:, None])
            _fill_block(least, beta, ends, costs, before)
            before = np.append(firsts[_can_begin(least, ends, costs, firsts)], ends[-1])
        return [self._traced(row, penalty, possible) for row, penalty in zip(least, penalties, strict=True)]

    def _traced(self, least: Floats, penalty: float, possible: Sequence[Indices]) -> Segmentation:
        end, starts = self.n, []
        while end > 0:
            firsts = possible[(end - MIN_LENGTH) // BLOCK]
            end = int(firsts[np.argmin(least[firsts] + self.cost(firsts, end) + penalty)])
            starts.append(end)
        changes = tuple(starts[-2::-1])
        return Segmentation(changes, float(least[-1]) - penalty * len(changes))


def _fill_block(least: Floats, beta: Floats, ends: Indices, costs: Floats, before: Indices) -> None:
    """Compute the least costs up to each end in a block, for all penalties."""
    n_before = len(before)
    outside = costs[:, :n_before]
    work = np.empty(outside.shape)
    block = least[:, ends[0] : ends[-1] + 1]
    for row, known in zip(block, least[:, before], strict=True):
        np.add(outside, known, out=work)
        work.min(axis=1, out=row)
    block += beta[:, None]
    inside = costs[:, n_before:]
    for row in range(MIN_LENGTH, len(ends), MIN_LENGTH):  # two ends at once, as no segment has fewer points
        rows = slice(row, row + MIN_LENGTH)
        through = (block[:, None, :row] + inside[rows, :row]).min(axis=2)
        through += beta[:, None]
        np.minimum(block[:, rows], through, out=block[:, rows])


def _can_begin(least: Floats, ends: Indices, costs: Floats, firsts: Indices) -> NDArray[np.bool_]:
    """Return which first points can still be the best ones for a later block, for at least one penalty."""
    at = len(ends) - MIN_LENGTH - 1  # from this end, a segment to any end of a later block is long enough
    if at < 0:
        return np.ones(len(firsts), dtype=bool)
    reached = least[:, ends[at], None]
    can_begin: NDArray[np.bool_] = (least[:, firsts] + costs[at] <= reached).any(axis=0) | np.isinf(costs[at])
    return can_begin


def _even(more: Segmentation, fewer: Segmentation) -> float:
    """Return the penalty at which both segmentations cost the same."""
    return (fewer.cost - more.cost) / (len(more) - len(fewer))


def _cumulated(values: Floats) -> Floats:
    sums = np.zeros(len(values) + 1)
    sums[1:] = np.cumsum(values, dtype=np.longdouble)
    return sums
