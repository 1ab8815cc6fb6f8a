"""Compare marked points: which marks match, F1 and covering, and each person against the rest.

Definitions are those of van den Burg and Williams (2020), An evaluation of change point detection algorithms,
arXiv:2003.06222, as TCPDBench computes them. A mark is the first point of a new segment, counted from 0.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean

import numpy as np

from analysis.arrays import Floats, Ints

MARGIN = 5
PUBLISHED, MAXIMUM = "published", "maximum"
MATCHINGS = (PUBLISHED, MAXIMUM)

Marks = Sequence[int]
People = Mapping[str, Marks]  # person -> marks of one series


@dataclass(frozen=True)
class F1:
    """How well marks agree with those of people."""

    precision: float  # share of the marks that match a mark of anybody; the point 0 belongs to every set
    recall: float  # mean share of a person's marks that are matched
    value: float  # harmonic mean of both


def matches(truth: Marks, marks: Marks, margin: float = MARGIN, matching: str = MAXIMUM) -> list[tuple[int, int]]:
    """Match marks that are at most `margin` points apart; each mark has at most one partner.

    "maximum" finds as many pairs as possible and, among these, the least total distance. "published" goes through
    `truth` in ascending order and takes the nearest free mark, which can find fewer pairs. Raises ValueError if the
    matching is unknown.
    """
    true, found = sorted(set(truth)), sorted(set(marks))
    if matching == PUBLISHED:
        return _nearest_first(true, found, margin)
    if matching != MAXIMUM:
        raise ValueError(f"matching must be one of {', '.join(MATCHINGS)}; got {matching!r}")
    return _most_pairs(true, found, margin)


def f1(people: People, marks: Marks, margin: float = MARGIN, matching: str = PUBLISHED) -> F1:
    """Compare marks with those of people; the point 0 belongs to every set.

    Precision is against the marks of all people together, recall is the mean over people. Raises ValueError without
    people.
    """
    sets = [{0, *of_person} for of_person in _checked(people).values()]
    found = {0, *marks}
    together = set().union(*sets)
    precision = n_matches(together, found, margin, matching) / len(found)
    recall = fmean(n_matches(of_person, found, margin, matching) / len(of_person) for of_person in sets)
    return F1(precision, recall, 2 * precision * recall / (precision + recall))


def covering(people: People, marks: Marks, n: int) -> float:
    """Return how well the segments of people are covered by the segments that the marks make, from 0 to 1.

    It is the mean over people of (1 / n) times the sum, over the segments A of a person, of |A| times the largest
    Jaccard index of A and a segment of the marks. Raises ValueError without people or points.
    """
    if n < 1:
        raise ValueError(f"a series needs at least one point, got n = {n}")
    by = bounds_of(marks, n)
    return fmean(float(covered(bounds_of(of_person, n), by, n)[0]) for of_person in _checked(people).values())


def each_against_rest(people: People, score: Callable[[People, Marks], float]) -> float | None:
    """Return the mean score of each person's marks against those of all others; None with fewer than two people."""
    if len(people) < 2:
        return None
    return fmean(
        score({name: other for name, other in people.items() if name != person}, marks)
        for person, marks in people.items()
    )


def usable_detections(marks: Marks, n: int) -> tuple[int, ...]:
    """Return the marks of a detector that count: each once, in order, and neither at the first nor the last point."""
    return tuple(sorted({mark for mark in marks if 1 <= mark < n - 1}))


def _checked(people: People) -> People:
    if not people:
        raise ValueError("nobody marked this series, so there is nothing to compare with")
    return people


def n_matches(truth: set[int], marks: set[int], margin: float, matching: str = MAXIMUM) -> int:
    """Return the number of matched pairs."""
    if matching == MAXIMUM:
        return _most(sorted(truth), sorted(marks), margin)
    return len(matches(sorted(truth), sorted(marks), margin, matching))


def _most(true: Sequence[int], found: Sequence[int], margin: float) -> int:
    """Return the largest number of pairs: going up both lists, the first two that are near enough are a pair."""
    at = of = n = 0
    while at < len(true) and of < len(found):
        gap = true[at] - found[of]
        if abs(gap) <= margin:
            n, at, of = n + 1, at + 1, of + 1
        elif gap < 0:
            at += 1
        else:
            of += 1
    return n


def _nearest_first(true: Sequence[int], found: Sequence[int], margin: float) -> list[tuple[int, int]]:
    taken: set[int] = set()
    pairs, first = [], 0
    for point in true:
        while first < len(found) and (found[first] < point - margin or found[first] in taken):
            first += 1
        near = islice(found, first, bisect_right(found, point + margin))
        nearest = min(((abs(point - mark), mark) for mark in near if mark not in taken), default=None)
        if nearest is not None:
            taken.add(nearest[1])
            pairs.append((point, nearest[1]))
    return pairs


def _most_pairs(true: Sequence[int], found: Sequence[int], margin: float) -> list[tuple[int, int]]:
    """Find the most pairs with the least total distance; an optimum without crossing pairs always exists."""
    rows = [np.zeros(len(found) + 1)]  # row i, column j: value of the best pairs of the first i and the first j points
    marks = np.array(found, dtype=np.float64)
    value_of_pair = 1 + margin * (min(len(true), len(found)) + 1)  # one more pair outweighs any distance
    for point in true:
        distance = np.abs(marks - point)
        gain = np.where(distance <= margin, value_of_pair - distance, -np.inf)
        row = rows[-1].copy()
        row[1:] = np.maximum(row[1:], rows[-1][:-1] + gain)
        rows.append(np.maximum.accumulate(row))
    pairs, at, of = [], len(true), len(found)
    while at and of:
        if rows[at][of] == rows[at - 1][of]:
            at -= 1
        elif rows[at][of] == rows[at][of - 1]:
            of -= 1
        else:
            at, of = at - 1, of - 1
            pairs.append((true[at], found[of]))
    return pairs[::-1]


def covered(bounds: Ints, by: Ints, n: int) -> Floats:
    """Return how well segments are covered by others, for many pairs of segmentations at once.

    Both arrays have a row per pair with the bounds 0, ..., n of its segments in ascending order. Between two
    neighbouring bounds of either, exactly one segment of the one meets exactly one segment of the other.
    """
    rows = np.arange(len(bounds))[:, None]
    both = np.concatenate((bounds, by), axis=1)
    order = np.argsort(both, axis=1, kind="stable")
    edges = np.take_along_axis(both, order, axis=1)
    is_first = order < bounds.shape[1]
    of_first = np.minimum(np.cumsum(is_first, axis=1), bounds.shape[1] - 1)[:, :-1] - 1
    of_second = np.minimum(np.cumsum(~is_first, axis=1), by.shape[1] - 1)[:, :-1] - 1
    shared = np.diff(edges, axis=1)
    first, second = np.diff(bounds, axis=1), np.diff(by, axis=1)
    together = first[rows, of_first] + second[rows, np.maximum(of_second, 0)] - shared
    best = np.zeros(first.shape)
    np.maximum.at(best, (rows, of_first), np.where(shared > 0, shared / np.maximum(together, 1), 0))
    total: Floats = (first * best).sum(axis=1) / n
    return total


def bounds_of(marks: Marks, n: int) -> Ints:
    """Return the bounds of the segments that marks make, as an array of one row."""
    return np.array([[0, *sorted({mark for mark in marks if 0 < mark < n}), n]])
