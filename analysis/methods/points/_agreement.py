"""Measure how far people agree on marks: how many, whether any, where, and how far this exceeds chance."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import Floats, Ints
from analysis.methods.points._scores import (
    MARGIN,
    MAXIMUM,
    PUBLISHED,
    People,
    covered,
    covering,
    each_against_rest,
    f1,
    matches,
    n_matches,
)
from analysis.raters.agreement import fleiss_kappa
from analysis.raters.tables import Counts
from analysis.statistics.bootstrap import bootstrap
from analysis.statistics.intervals import Estimate

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
        totals += _drawn_f1_against_rest(people, margin).sum(), _drawn_covering_against_rest(people, n).sum()
    f1_value, covering_value = totals / permutations
    return float(f1_value), float(covering_value)


def _places(k: int, n: int, size: int, rng: np.random.Generator) -> Ints:
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


def _drawn_f1_against_rest(people: Sequence[Ints], margin: float) -> Floats:
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


def _drawn_covering_against_rest(people: Sequence[Ints], n: int) -> Floats:
    ends = np.full((len(people[0]), 1), n, dtype=np.int64)
    bounds = [np.concatenate((0 * ends, places, ends), axis=1) for places in people]
    pairs = [
        covered(other, own, n) for at, own in enumerate(bounds) for place, other in enumerate(bounds) if place != at
    ]
    mean: Floats = np.mean(pairs, axis=0)
    return mean


def n_matched(first: Ints, second: Ints, margin: float) -> NDArray[np.int64]:
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


MARGINS = (0, 1, 2, 3, 5, 10)
WITHIN = (0, 5, 25, 100, 500)  # iterations between two starts
SHARES_OF_LENGTH = (0.01, 0.05)  # margins as a share of the length of each series
N_PERMUTATIONS = 2000
MOST_MARKS = 5000  # series with more marks are left out of the comparison with chance, which would take hours
MOST_PAIRS = 1_000_000  # of more pairs of marks of two people, the nearest are matched first, which is faster


@dataclass(frozen=True)
class MarkedSeries:
    """The marks that people put into one series of `n` points, each the first point of a new segment.

    A person without marks saw no change. Raises ValueError if a mark is outside the series.
    """

    name: str
    n: int
    people: People

    def __post_init__(self) -> None:
        """Check that each mark is a point of the series."""
        for person, marks in self.people.items():
            for mark in marks:
                if not 0 <= mark < self.n:
                    raise ValueError(
                        f"series {self.name!r}: {person} marked point {mark}, but the points are 0 to {self.n - 1}"
                    )


@dataclass(frozen=True)
class MarginRow:
    """Agreement on places within a margin."""

    margin: float  # in points, or as a share of the length of a series
    is_share: bool
    against_rest: Estimate  # mean F1 of each person against all others, the point 0 belongs to every set
    pairs: Estimate  # mean F1 of two people without the point 0, over pairs in which at least one person marked


@dataclass(frozen=True)
class AboveChance:
    """A score, what marks at random places would score, and the score in units of what is left above chance."""

    score: Estimate
    chance: float | None
    corrected: float | None  # (score - chance) / (1 - chance)


@dataclass(frozen=True)
class MarkAgreement:
    """How far people agree on the marks of several series."""

    n_series: int  # series with at least two people, and people who marked at least one of them
    n_people: int
    number_of_marks: Estimate  # ICC(1) of the number of marks per series and person
    mean_marks: Mapping[str, float]  # person -> mean number of marks per series
    any_change: Estimate  # Fleiss' kappa of whether a person marked any change
    none_and_none: float | None  # share of the pairs of people and series in which neither marked a change
    margins: tuple[MarginRow, ...]
    covering_against_rest: Estimate  # mean covering of each person against all others
    # at `margin`, with marks at random places, as many as each person put into each series
    f1_above_chance: AboveChance
    covering_above_chance: AboveChance
    distance: float | None  # mean distance of matched marks of two people at `margin`, in points
    margin: float


def mark_agreement(
    series: Sequence[MarkedSeries],
    *,
    margin: float = MARGIN,
    matching: str = MAXIMUM,
    permutations: int = N_PERMUTATIONS,
    seed: int = 1,
) -> MarkAgreement:
    """Measure how far people agree on marks; intervals are from a bootstrap over series.

    `series`: series with fewer than two people are left out; `margin`: largest distance of two marks that count as the
    same, for the comparison with chance; `matching`: "maximum", or "published" for the published scores; see `matches`;
    `permutations`: number of times that all marks are put at random places; 0 leaves the comparison with chance out.
    """
    shared = [each for each in series if len(each.people) >= 2]
    people = sorted({person for each in shared for person in each.people})
    f1s = [_against_rest(each.people, margin, matching) for each in shared]
    coverings = [_covering_against_rest(each.people, each.n) for each in shared]
    by_chance = _chance(shared, margin, permutations, np.random.default_rng(seed))
    return MarkAgreement(
        len(shared),
        len(people),
        intraclass([[len(set(marks)) for marks in each.people.values()] for each in shared], seed=seed),
        {person: fmean(len(set(each.people[person])) for each in shared if person in each.people) for person in people},
        _any_change(shared),
        _none_and_none(shared),
        tuple(_margin_row(shared, size, is_share, matching, seed) for size, is_share in _sweep()),
        _mean(coverings, seed),
        _above_chance(_mean(f1s, seed), by_chance[0]),
        _above_chance(_mean(coverings, seed), by_chance[1]),
        _distance(shared, margin),
        margin,
    )


def intraclass(ratings: Sequence[Sequence[float]], *, seed: int = 1) -> Estimate:
    """Return ICC(1), the share of the variance that lies between items, with a bootstrap interval over items.

    Items may have different numbers of ratings; those with fewer than two are left out. Undefined if all ratings are
    equal or no two items remain.

    .. Shrout and Fleiss (1979), Intraclass correlations, doi:10.1037/0033-2909.86.2.420
    """
    k, sums, squares = _moments(ratings)

    def statistic(weights: Floats) -> ArrayLike:
        total, n_items = weights @ k, weights.sum(axis=1)
        between_items = weights @ (sums**2 / k)
        between = (between_items - (weights @ sums) ** 2 / total) / (n_items - 1)
        within = (weights @ squares - between_items) / (total - n_items)
        size = (total - weights @ k**2 / total) / (n_items - 1)
        return np.asarray((between - within) / (between + (size - 1) * within))

    return bootstrap(statistic, len(k), rng=np.random.default_rng(seed))


def interval_alpha(ratings: Sequence[Sequence[float]], *, seed: int = 1) -> Estimate:
    """Return Krippendorff's alpha for numbers, with the squared difference as distance, and a bootstrap interval.

    Items with fewer than two ratings are left out. Undefined if all ratings are equal.
    """
    k, sums, squares = _moments(ratings)

    def statistic(weights: Floats) -> ArrayLike:
        total = weights @ k
        observed = weights @ ((k * squares - sums**2) / (k - 1)) / total
        expected = (total * (weights @ squares) - (weights @ sums) ** 2) / (total * (total - 1))
        return np.asarray(1 - observed / expected)

    return bootstrap(statistic, len(k), rng=np.random.default_rng(seed))


@dataclass(frozen=True)
class WithinRow:
    """The share of runs in which two people's starts differ by at most this number of iterations."""

    iterations: int
    lowest: float
    mean: float
    highest: float


@dataclass(frozen=True)
class StartAgreement:
    """How far people agree on the one point from which a run is steady."""

    n_runs: int  # runs with at least two people, and people who answered at least one of them
    n_people: int
    share_never: Mapping[str, float]  # person -> share of these runs that never become steady
    never: Estimate  # Fleiss' kappa of "never steady"
    alpha_of_iterations: Estimate  # Krippendorff's alpha of the start
    alpha: Estimate  # Krippendorff's alpha of log(1 + start)
    icc: Estimate  # ICC(1) of log(1 + start)
    factor: float | None  # two people's 1 + start differ by less than this factor in about 95 % of the runs
    # for some numbers of iterations, how often the starts of two people are at most so far apart
    within: tuple[WithinRow, ...]


def start_agreement(starts: Sequence[Mapping[str, int | None]], *, seed: int = 1) -> StartAgreement:
    """Measure how far people agree on the start of the steady state; None means that a person says never."""
    answered = [list(item.values()) for item in starts if len(item) >= 2]
    counts = [[item.count(None), len(item) - item.count(None)] for item in answered]
    logs = [[float(np.log1p(start)) for start in item.values() if start is not None] for item in starts]
    k, sums, squares = _moments(logs)
    factor = None
    if len(k):
        within = float((squares - sums**2 / k).sum() / (k - 1).sum())
        factor = float(np.exp(1.959964 * np.sqrt(2 * within)))
    kappa = fleiss_kappa(Counts(counts)) if counts else Estimate(None, reason="no item has two answers")
    shared = [item for item in starts if len(item) >= 2]
    people = sorted({person for item in shared for person in item})
    iterations = [[float(start) for start in item.values() if start is not None] for item in starts]
    return StartAgreement(
        len(shared),
        len(people),
        {name: fmean(item[name] is None for item in shared if name in item) for name in people},
        kappa,
        interval_alpha(iterations, seed=seed),
        interval_alpha(logs, seed=seed),
        intraclass(logs, seed=seed),
        factor,
        tuple(_within(shared, people)),
    )


def _within(starts: Sequence[Mapping[str, int | None]], people: Sequence[str]) -> Iterator[WithinRow]:
    """Yield how often two people are near each other; "never" is near "never" and far from every iteration."""
    gaps = []
    for at, one in enumerate(people):
        for other in people[:at]:
            of_pair = [(item[one], item[other]) for item in starts if one in item and other in item]
            if of_pair:
                gaps.append(
                    [0 if a == b else abs(a - b) if a is not None and b is not None else inf for a, b in of_pair]
                )
    for iterations in WITHIN if gaps else ():
        shares = [fmean(gap <= iterations for gap in of_pair) for of_pair in gaps]
        yield WithinRow(iterations, min(shares), fmean(shares), max(shares))


def _moments(ratings: Sequence[Sequence[float]]) -> tuple[Floats, Floats, Floats]:
    """Return the number of ratings, their sum and the sum of their squares for each item with at least two ratings."""
    usable = [np.asarray(item, dtype=np.float64) for item in ratings if len(item) >= 2]
    middle = float(np.mean(np.concatenate(usable))) if usable else 0.0  # for exactness; no statistic depends on it
    centred = [item - middle for item in usable]
    return (
        np.array([len(item) for item in centred], dtype=np.float64),
        np.array([item.sum() for item in centred]),
        np.array([item @ item for item in centred]),
    )


def _sweep() -> list[tuple[float, bool]]:
    return [*((float(margin), False) for margin in MARGINS), *((share, True) for share in SHARES_OF_LENGTH)]


def _margin_row(series: Sequence[MarkedSeries], size: float, is_share: bool, matching: str, seed: int) -> MarginRow:
    margins = [size * each.n if is_share else size for each in series]
    rest = [_against_rest(each.people, margin, matching) for each, margin in zip(series, margins, strict=True)]
    pairs = [_pairs(each.people, margin) for each, margin in zip(series, margins, strict=True)]
    return MarginRow(size, is_share, _mean(rest, seed), _mean([value for value in pairs if value is not None], seed))


def _against_rest(people: People, margin: float, matching: str = MAXIMUM) -> float:
    value = each_against_rest(people, lambda rest, marks: f1(rest, marks, margin, matching).value)
    return 0.0 if value is None else value


def _covering_against_rest(people: People, n: int) -> float:
    value = each_against_rest(people, lambda rest, marks: covering(rest, marks, n))
    return 0.0 if value is None else value


def _pairs(people: People, margin: float) -> float | None:
    """Return the mean F1 of two people without the point 0; None if no pair has a mark."""
    sets = [set(marks) - {0} for marks in people.values()]
    found = [2 * n_matches(a, b, margin) / (len(a) + len(b)) for at, a in enumerate(sets) for b in sets[:at] if a or b]
    return fmean(found) if found else None


def _any_change(series: Sequence[MarkedSeries]) -> Estimate:
    if not series:
        return Estimate(None, reason="no series has two people")
    n_marked = [sum(1 for marks in each.people.values() if set(marks) - {0}) for each in series]
    return fleiss_kappa(Counts([[n, len(each.people) - n] for n, each in zip(n_marked, series, strict=True)]))


def _none_and_none(series: Sequence[MarkedSeries]) -> float | None:
    pairs = [
        not (a or b)
        for each in series
        for at, a in enumerate(map(set, each.people.values()))
        for b in list(map(set, each.people.values()))[:at]
    ]
    return fmean(pairs) if pairs else None


def _distance(series: Sequence[MarkedSeries], margin: float) -> float | None:
    distances = [
        abs(a - b)
        for each in series
        for at, marks in enumerate(each.people.values())
        for other in list(each.people.values())[:at]
        for a, b in matches(marks, other, margin, PUBLISHED if len(marks) * len(other) > MOST_PAIRS else MAXIMUM)
    ]
    return fmean(distances) if distances else None


def _chance(
    series: Sequence[MarkedSeries], margin: float, permutations: int, rng: np.random.Generator
) -> tuple[float | None, float | None]:
    """Return the mean F1 and covering against the rest, if all marks are at random places."""
    if not series or not permutations:
        return None, None
    counts = {each.name: [len(set(marks) - {0}) for marks in each.people.values()] for each in series}
    usable = [each for each in series if sum(counts[each.name]) <= MOST_MARKS]
    if not usable:
        return None, None
    found = [chance_scores(counts[each.name], each.n, margin, permutations, rng) for each in usable]
    return fmean(f1_value for f1_value, _ in found), fmean(covering_value for _, covering_value in found)


def _above_chance(score: Estimate, chance: float | None) -> AboveChance:
    if score.value is None or chance is None or chance >= 1:
        return AboveChance(score, chance, None)
    return AboveChance(score, chance, (score.value - chance) / (1 - chance))


def _mean(values: Sequence[float], seed: int) -> Estimate:
    x = np.array(values, dtype=np.float64)
    return bootstrap(lambda weights: weights @ x / weights.sum(axis=1), len(x), rng=np.random.default_rng(seed))
