"""Does agreement change in the course of the study, and does one rater change? Own orders, and a common order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from analysis.arrays import Floats
from analysis.categories import CATEGORIES
from analysis.raters.agreement._formulas import Categories
from analysis.raters.agreement._groups import in_order
from analysis.raters.agreement._pairs import numbers_of_groups
from analysis.raters.tables import checked_labels, wide_labels
from analysis.statistics.intervals import ENOUGH_GROUPS, Estimate, Groups, checked_level, group_numbers
from analysis.statistics.multiple import holm
from analysis.statistics.results import Result

LEAST_COMMON = 15  # items of a pair; with fewer, a trend says nothing
SAME_ORDER = 0.9  # correlation of the places of two raters, from which they have a common order
ALPHA_NAMED, ALPHA_CHANGE, ALPHA_REST = 0.003, 0.01, 0.05
CLEARER = 20  # times the p value of the best explanation, which the second best must exceed
MOST_FOR_SETS = 10  # raters; with more, only single raters are tried as the explanation
POWER = 0.8
NO_PAIR_SLOPE = f"no other reviewer labelled {LEAST_COMMON} of the same items"


@dataclass(frozen=True, repr=False)
class Drift(Result):
    """The change of one rater's agreement with the others in the course of the rater's own labels."""

    rater: str
    n: int  # number of labels with a partner
    slope: Estimate  # change of the share of agreement from the first to the last own label
    p: float | None
    p_holm: float | None  # corrected for all raters
    # The smallest change that this test would have found with 80 % power, for all raters together.
    detectable: float | None


@dataclass(frozen=True, repr=False)
class CourseTest(Result):
    """Whether agreement changes in the course of the study, and which raters change."""

    rows_of = "raters"

    raters: tuple[Drift, ...]  # the slopes are undefined if the raters had a common order
    common_order: bool
    changes: bool | None  # None if there is no test
    named: tuple[str, ...]  # the raters who change; empty if the labels do not show who changes
    p: float | None  # smallest corrected p
    reason: str | None = None  # why there is no test


@dataclass(frozen=True)
class _Pair:
    """The regression of the agreement of two raters on the places of their common items."""

    raters: tuple[int, int]
    rows: NDArray[np.intp]  # the common items
    slopes: Floats  # one for each rater, or one for both
    terms: Floats  # the contribution of each common item to the error of each slope


def course_test(
    labels: pd.DataFrame,
    categories: Categories = CATEGORIES,
    *,
    column: str = "position",
    groups: Groups | None = None,
    level: float = 0.95,
) -> CourseTest:
    """Test whether the agreement of raters changes in the course of their labels, and whose labels change.

    If raters label the items in different orders, the agreement of each pair is regressed on the places of both, from 0
    (first own label) to 1 (last). The slope of a rater is the mean of the rater's coefficients over all pairs with at
    least 15 common items, so that a rater is not blamed for the drift of another. A rater is named if p is at most .003
    after Holm's correction.

    If all raters label the items in one order, the places of a pair are equal, and each pair has one slope. Raters are
    named if the slopes of the pairs with these raters differ from those of the other pairs (p at most .003, times the
    number of sets of raters), if the other pairs do not change, and if no other set explains the slopes nearly as well.
    Otherwise the test only says whether agreement changes. The standard errors allow for unequal variances (HC3 [1]_)
    and for items that occur in several pairs; with `groups`, also for related items.

    Raises ValueError if the label table is invalid or lacks the column.

    `labels`: label table with the order of labels: columns item, rater, category and `column`; `groups`: group of each
    row of the table, such as an application; `level`: level of the intervals, which are not corrected.

    References
    ----------
    .. [1] MacKinnon, White (1985), J. Econometrics 29:305-325, doi:10.1016/0304-4076(85)90158-7
    """
    if column not in labels.columns:
        raise ValueError(f"label table lacks the column {column}; it has {', '.join(map(str, labels))}")
    checked_level(level)
    checked_labels(labels, categories)
    used = labels[column].notna().to_numpy()
    table = labels[used]
    raters, wide = wide_labels(table, categories)
    place = _places(table, raters, wide.shape, column)
    of_rows = None if groups is None else np.asarray(group_numbers(len(labels), groups)[0])[used]
    of_item, _ = numbers_of_groups(table, of_rows, np.ones(len(wide), dtype=bool))
    shared = (~np.isnan(wide)).sum(axis=1) >= 2
    n_labels = np.count_nonzero(~np.isnan(wide[shared]), axis=0).tolist()
    common_order = _has_common_order(place)
    pairs = list(_pairs(wide, place, common_order=common_order))
    undefined = [
        Drift(str(rater), n, Estimate(None, reason=NO_PAIR_SLOPE), None, None, None)
        for rater, n in zip(raters, n_labels, strict=True)
    ]
    if not pairs:
        return CourseTest(tuple(undefined), common_order, None, (), None, NO_PAIR_SLOPE)
    if common_order:
        reason = "all reviewers labelled the items in the same order"
        rows = tuple(replace(row, slope=Estimate(None, reason=reason)) for row in undefined)
        return _common(rows, pairs, len(wide), of_item)
    return _own(undefined, pairs, len(wide), of_item, level)


def _places(table: pd.DataFrame, raters: Sequence[str], shape: tuple[int, ...], column: str) -> Floats:
    """Return the place of each label among the labels of its rater, from 0 to 1; NaN if there is no label."""
    of_rater = in_order(table[column]).groupby(table["rater"])
    place = ((of_rater.rank() - 1) / of_rater.transform("count").sub(1).clip(lower=1)).to_numpy(np.float64)
    result = np.full(shape, np.nan)
    number = {name: j for j, name in enumerate(raters)}
    result[pd.factorize(table["item"])[0], table["rater"].map(number).to_numpy(np.intp)] = place
    return result


def _has_common_order(place: Floats) -> bool:
    """Return whether most pairs of raters labelled their common items in nearly the same order."""
    alike = []
    for i, j in combinations(range(place.shape[1]), 2):
        both = place[~np.isnan(place[:, i] + place[:, j])][:, [i, j]]
        if len(both) >= LEAST_COMMON and both.std(axis=0).min() > 0:
            alike.append(float(np.asarray(np.corrcoef(both.T))[0, 1]) > SAME_ORDER)
    return bool(alike) and float(np.mean(alike)) > 1 / 2


def _pairs(wide: Floats, place: Floats, *, common_order: bool) -> Iterator[_Pair]:
    """Yield the regressions of all pairs with enough common items, in which places differ."""
    for i, j in combinations(range(wide.shape[1]), 2):
        rows = np.flatnonzero(~np.isnan(wide[:, i] + wide[:, j]))
        if len(rows) < LEAST_COMMON:
            continue
        t = place[rows][:, [i, j]]
        x = np.column_stack([np.ones(len(rows)), t.mean(axis=1) if common_order else t])
        if np.linalg.matrix_rank(x) < x.shape[1]:
            continue
        agree = (wide[rows, i] == wide[rows, j]).astype(float)
        inverse = np.linalg.pinv(x)
        coefficients = inverse @ agree
        leverage = np.minimum((x * inverse.T).sum(axis=1), 1 - 1e-9)
        yield _Pair((i, j), rows, coefficients[1:], inverse[1:] * (agree - x @ coefficients) / (1 - leverage))


def _covariances(terms: Floats, of_item: NDArray[np.intp] | None) -> list[Floats]:
    """Return the covariance of sums over items, from the terms of each item, shape (n_sums, n_items).

    With fewer than ten groups, there are two, by group and by item, and the larger variance counts.
    """
    plain: Floats = terms @ terms.T
    if of_item is None:
        return [plain]
    m = int(of_item.max(initial=0)) + 1
    sums = np.array([np.bincount(of_item, weights=row, minlength=m) for row in terms])
    grouped: Floats = sums @ sums.T * m / max(m - 1, 1)
    return [grouped] if m >= ENOUGH_GROUPS else [grouped, plain]


def _two_sided(slope: float, variance: float, of_item: NDArray[np.intp] | None) -> float | None:
    """Return the normal p value, or that of t with one degree of freedom less than groups; None without variance."""
    if variance <= 1e-24:
        return None
    z = -abs(slope) / np.sqrt(variance)
    if of_item is None:
        return float(2 * special.ndtr(z))
    return float(2 * special.stdtr(max(int(of_item.max(initial=0)), 1), z))


def _own(
    rows: Sequence[Drift], pairs: Sequence[_Pair], n_items: int, of_item: NDArray[np.intp] | None, level: float
) -> CourseTest:
    z_named = float(special.ndtri(1 - ALPHA_NAMED / 2 / len(rows)) + special.ndtri(POWER))
    half = float(special.ndtri((1 + level) / 2))
    found = []
    for number, row in enumerate(rows):
        own = [(pair, pair.raters.index(number)) for pair in pairs if number in pair.raters]
        if not own:
            found.append(row)
            continue
        terms = np.zeros((1, n_items))
        for pair, side in own:
            terms[0, pair.rows] += pair.terms[side] / len(own)
        slope = float(np.mean([pair.slopes[side] for pair, side in own]))
        variance = max(float(found.item()) for found in _covariances(terms, of_item))
        p = _two_sided(slope, variance, of_item)
        if p is None:
            estimate = Estimate(slope, reason="all labels agree equally: no standard error")
            found.append(replace(row, slope=estimate))
            continue
        se = variance**0.5
        estimate = Estimate(slope, se, max(slope - half * se, -1.0), min(slope + half * se, 1.0))
        found.append(replace(row, slope=estimate, p=p, detectable=z_named * se))
    corrected = holm([row.p for row in found])
    drifts = tuple(replace(row, p_holm=p) for row, p in zip(found, corrected, strict=True))
    ps = [p for p in corrected if p is not None]
    named = tuple(row.rater for row in drifts if row.p_holm is not None and row.p_holm <= ALPHA_NAMED)
    return CourseTest(
        drifts, False, bool(named) if ps else None, named, min(ps, default=None),
        None if ps else "all labels agree equally",
    )  # fmt: skip


def _common(
    rows: tuple[Drift, ...], pairs: Sequence[_Pair], n_items: int, of_item: NDArray[np.intp] | None
) -> CourseTest:
    slopes, terms = np.array([pair.slopes[0] for pair in pairs]), np.zeros((len(pairs), n_items))
    for k, pair in enumerate(pairs):
        terms[k, pair.rows] = pair.terms[0]
    covariances = _covariances(terms, of_item)

    def p_of(weights: Floats) -> float | None:
        variance = max(float(weights @ covariance @ weights) for covariance in covariances)
        return _two_sided(float(weights @ slopes), variance, of_item)

    sizes = range(1, len(rows) - 1) if len(rows) <= MOST_FOR_SETS else range(1, 2)
    tried = []
    for size in sizes:
        for members in combinations(range(len(rows)), size):
            touching = np.array([bool(set(pair.raters) & set(members)) for pair in pairs])
            if touching.all() or not touching.any():
                continue
            p = p_of(touching / touching.sum() - ~touching / (~touching).sum())
            if p is not None:
                tried.append((p, members, p_of(~touching / (~touching).sum())))
    tried.sort(key=lambda entry: entry[0])
    of_mean = p_of(np.full(len(pairs), 1 / len(pairs)))
    of_pairs = [p for p in (p_of(row) for row in np.eye(len(pairs))) if p is not None]
    ps = [p for p in (of_mean, len(pairs) * min(of_pairs) if of_pairs else None) if p is not None]
    named: tuple[str, ...] = ()
    if tried:
        best, members, of_rest = tried[0]
        corrected = best * len(tried)
        ps.append(corrected)
        second = tried[1][0] if len(tried) > 1 else 1.0
        is_clear = second > CLEARER * best and (of_rest is None or of_rest > ALPHA_REST)
        if corrected <= ALPHA_NAMED and is_clear:
            named = tuple(rows[member].rater for member in members)
    if not ps:
        return CourseTest(rows, True, None, (), None, "all labels agree equally")
    p = min(1.0, 3 * min(ps))
    return CourseTest(rows, True, bool(named) or p <= ALPHA_CHANGE, named, p)
