"""Compute the agreement of marks at random places, as many as each person put into each series."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from analysis.points._scores import Integers, covered
from analysis.runs import Floats

AT_ONCE = 2_000_000  # places in memory
FAR = 1 << 40  # a place far behind the end of any series


def chance_scores(
    counts: Sequence[int], n: int, margin: float, permutations: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the mean F1 and the mean covering of each person against the rest, if all marks are at random places.

    `counts` has the number of marks of each person in a series of `n` points, without the point 0.
    """
    n_places = sum(counts) + 2 * len(counts)
    at_once = max(1, AT_ONCE // max(n_places, n if max(counts, default=0) ** 2 > n else 1))
    totals = np.zeros(2)
    for done in range(0, permutations, at_once):
        size = min(at_once, permutations - done)
        people = [_places(k, n, size, rng) for k in counts]
        totals += _f1_against_rest(people, margin).sum(), _covering_against_rest(people, n).sum()
    f1_value, covering_value = totals / permutations
    return float(f1_value), float(covering_value)


def _places(k: int, n: int, size: int, rng: np.random.Generator) -> Integers:
    """Return `size` rows of `k` different places from 1 to n - 1, in ascending order."""
    if not k:
        return np.zeros((size, 0), dtype=np.int64)
    if k**2 > n:
        keys = rng.random((size, n - 1))
        chosen = np.argpartition(keys, k - 1, axis=1)[:, :k]
        return np.sort(chosen, axis=1) + 1
    places = np.sort(rng.integers(1, n, (size, k)), axis=1)
    while True:
        again = np.flatnonzero((np.diff(places, axis=1) == 0).any(axis=1))
        if not len(again):
            return places
        places[again] = np.sort(rng.integers(1, n, (len(again), k)), axis=1)


def _f1_against_rest(people: Sequence[Integers], margin: float) -> Floats:
    zeros = np.zeros((len(people[0]), 1), dtype=np.int64)
    sets = [np.concatenate((zeros, places), axis=1) for places in people]
    total = np.zeros(len(zeros))
    for at, own in enumerate(sets):
        others = [other for place, other in enumerate(sets) if place != at]
        together = np.sort(np.concatenate(others, axis=1), axis=1)
        together[:, 1:][np.diff(together, axis=1) == 0] = FAR
        precision = n_matched(np.sort(together, axis=1), own, margin) / own.shape[1]
        recall = np.mean([n_matched(other, own, margin) / other.shape[1] for other in others], axis=0)
        total += 2 * precision * recall / (precision + recall)
    mean: Floats = total / len(sets)
    return mean


def _covering_against_rest(people: Sequence[Integers], n: int) -> Floats:
    ends = np.full((len(people[0]), 1), n, dtype=np.int64)
    bounds = [np.concatenate((0 * ends, places, ends), axis=1) for places in people]
    pairs = [
        covered(other, own, n) for at, own in enumerate(bounds) for place, other in enumerate(bounds) if place != at
    ]
    mean: Floats = np.mean(pairs, axis=0)
    return mean


def n_matched(first: Integers, second: Integers, margin: float) -> NDArray[np.int64]:
    """Return the largest number of pairs at most `margin` apart, for each row of two arrays of ascending places."""
    rows = np.arange(len(first))
    far = np.full((len(first), 1), FAR)
    a, b = np.concatenate((first, far), axis=1), np.concatenate((second, far + 2 * int(margin) + 2), axis=1)
    at, of, n = (np.zeros(len(first), dtype=np.int64) for _ in range(3))
    for _ in range(first.shape[1] + second.shape[1]):
        gap = a[rows, at] - b[rows, of]
        is_pair = np.abs(gap) <= margin
        n += is_pair & (a[rows, at] < FAR)
        at += (is_pair | (gap < 0)) & (at < first.shape[1])
        of += (is_pair | (gap > 0)) & (of < second.shape[1])
    return n
