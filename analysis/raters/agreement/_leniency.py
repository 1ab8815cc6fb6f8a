"""Does one rater choose a category more often than others do? Leniency by conditional logit, and the rank test."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special
from scipy.sparse import csgraph

from analysis.arrays import Floats
from analysis.categories import CATEGORIES
from analysis.raters.agreement._formulas import Categories
from analysis.raters.agreement._pairs import TwoByTwo, bias_index, numbers_of_groups, tables_of, two_by_two
from analysis.raters.tables import positive_category, wide_labels
from analysis.statistics.intervals import (
    ENOUGH_GROUPS,
    LEAST_GROUPS,
    Estimate,
    Groups,
    McNemar,
    checked_level,
    mcnemar_of,
    wilson,
)
from analysis.statistics.multiple import holm
from analysis.statistics.results import Result

_MAX_STEPS, _TOLERANCE, _ROUNDING, _LEAST_SHARE = 100, 1e-10, 1e-12, 1e-6
_MAX_CELLS = 4_000_000  # maximum number of array elements of polynomials that are computed together
_CACHED_CELLS = 100_000  # the same within a step, so that they stay in the cache of the processor


@dataclass(frozen=True)
class Informative:
    """The labels of the split items; only these items contain information about leniency."""

    y: Floats  # 1 for dissimilar, 0 for similar, NaN if there is no label
    group: NDArray[np.intp] | None = None  # number of the group of each item

    @property
    def against(self) -> Floats:
        """Return a table: entry [j, l] counts the items that rater j calls dissimilar and rater l calls similar."""
        counts: Floats = (self.y == 1).astype(float).T @ (self.y == 0).astype(float)
        return counts

    @property
    def components(self) -> tuple[int, NDArray[np.int32]]:
        """Return the number of connected sets of raters, and the index of the set of each rater.

        Raters are connected if they gave different labels to an item, directly or through other raters.
        """
        n, of_rater = csgraph.connected_components(self.against, directed=True, connection="weak")
        return int(n), of_rater

    @property
    def has_maximum(self) -> bool:
        """Return whether the likelihood has its maximum at finite leniencies.

        This is the case if chains of raters lead from each rater to each other rater of the same connected set. In a
        chain, each rater calls an item dissimilar that the next rater calls similar (Fischer 1981; for pairs of raters
        Ford 1957).
        """
        n_strong, _ = csgraph.connected_components(self.against, directed=True, connection="strong")
        return int(n_strong) == self.components[0]


@dataclass(frozen=True)
class Fit:
    """The fitted leniencies, which sum to 0 in each connected set, their covariance, and the likelihood ratio test."""

    beta: Floats
    covariance: Floats
    chi2: float


def informative(y: Floats, group: NDArray[np.intp] | None = None) -> Informative:
    """Return the split items of labels y, shape (n_items, n_raters): 1 dissimilar, 0 similar, NaN no label."""
    split = (y == 1).any(axis=1) & (y == 0).any(axis=1)
    return Informative(y[split], None if group is None else group[split])


def maximise(data: Informative) -> Fit:
    """Return the leniencies that fit the labels best, by Newton's method; `data.has_maximum` must be true.

    The conditional logit model takes the number of dissimilar labels of each item as given, and explains only which
    raters gave these labels. This depends on the leniencies beta of the raters, but not on the difficulty of the item.
    Items with equal labels contain no information.

    All items with the same raters and the same number of dissimilar labels are computed together. statsmodels computes
    each item separately, which takes a minute for 10,000 items with ten labels.
    """
    _, of_rater = data.components
    same_set = of_rater[:, None] == of_rater[None, :]
    free = np.array(
        [(of_rater[:j] == of_rater[j]).any() for j in range(len(of_rater))], dtype=bool
    )  # all raters except the first of each set
    centred = (np.eye(len(of_rater)) - same_set / same_set.sum(axis=1))[:, free]
    if not free.any():
        return Fit(np.zeros(len(of_rater)), np.zeros((len(of_rater),) * 2), 0.0)
    groups = list(_groups(data.y))
    called = (data.y == 1).sum(axis=0).astype(float)

    def terms(params: Floats) -> tuple[float, Floats, Floats]:
        """Return the log likelihood, its gradient and the information at these parameters."""
        beta = np.zeros(len(of_rater))
        beta[free] = params
        found = [_terms(beta, *group) for group in groups]
        height = float(called @ beta - sum(row[0] for row in found))
        expected = np.sum([row[1] for row in found], axis=0)
        information = np.sum([row[2] for row in found], axis=0)
        return height, (called - expected)[free], information[free][:, free]

    params = np.zeros(int(free.sum()))
    start, gradient, information = terms(params)
    height = start
    for _ in range(_MAX_STEPS):
        way = np.linalg.solve(information, gradient)
        share = 1.0
        while (there := terms(params + share * way))[0] < height - _ROUNDING * abs(height) and share > _LEAST_SHARE:
            share /= 2
        params = params + share * way
        height, gradient, information = there
        if np.abs(way).max() <= _TOLERANCE:
            break
    covariance = np.linalg.inv(information)
    return Fit(centred @ params, centred @ covariance @ centred.T, 2 * (height - start))


def _groups(y: Floats) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Floats]]:
    """Yield groups of items with the same raters and the same number of dissimilar labels.

    There is one batch for each number of raters per item. A batch contains three arrays: the raters of each group,
    shape (n_groups, n_raters of an item), its number of dissimilar labels, and its number of items.
    """
    has_label = ~np.isnan(y)
    keys = np.column_stack([has_label, (y == 1).sum(axis=1)]).astype(np.int64)
    distinct, n = np.unique(keys, axis=0, return_counts=True)
    sizes = distinct[:, :-1].sum(axis=1)
    for size in np.unique(sizes).tolist():
        rows, n_of_size = distinct[sizes == size], n[sizes == size].astype(float)
        members = np.nonzero(rows[:, :-1])[1].reshape(len(rows), size)
        n_aside = max(_MAX_CELLS // size**3, 1)
        for begin in range(0, len(rows), n_aside):
            part = slice(begin, begin + n_aside)
            yield members[part], rows[part, -1], n_of_size[part]


def _polynomials_without_two(odds: Floats) -> Floats:
    """Return the elementary symmetric polynomials of the odds without each two raters; on the diagonal, without one."""
    n_groups, size = odds.shape
    without = np.zeros((n_groups, size, size, size + 1))
    without[..., 0] = 1
    for k in range(size):
        more = odds[:, k, None, None, None] * without[..., : k + 1]  # higher polynomials of the first raters are 0
        more[:, k], more[:, :, k] = 0, 0
        without[..., 1 : k + 2] += more
    return without


def _terms(
    beta: Floats, members: NDArray[np.int64], totals: NDArray[np.int64], n: Floats
) -> tuple[float, Floats, Floats]:
    """Return the sum of the log denominators, and the mean and covariance of each rater's number of dissimilar labels.

    The denominator of an item with t dissimilar labels is the elementary symmetric polynomial e_t of the raters' odds.
    The probability that rater r gave one of the t labels is w_r e_(t-1) / e_t. Here, w_r is the odds of this rater, and
    e_(t-1) is computed without this rater. The probability for two raters is computed in the same way.
    """
    n_groups, size = members.shape
    odds = np.exp(beta[members])
    whole = np.zeros((n_groups, size + 1))
    whole[:, 0] = 1
    for k in range(size):
        whole[:, 1:] += odds[:, k, None] * whole[:, :-1]
    denominator = whole[np.arange(n_groups), totals]
    one, both = np.empty((n_groups, size)), np.empty((n_groups, size, size))
    n_aside = max(_CACHED_CELLS // size**3, 1)
    for part in (slice(begin, begin + n_aside) for begin in range(0, n_groups, n_aside)):
        without = _polynomials_without_two(odds[part])
        group = np.arange(len(without))
        one[part] = without[group, :, :, totals[part] - 1][:, range(size), range(size)]
        both[part] = without[group, :, :, np.maximum(totals[part] - 2, 0)]
    one = odds * one / denominator[:, None]
    both *= (totals >= 2)[:, None, None]
    both *= odds[:, :, None] * odds[:, None, :] / denominator[:, None, None]
    both[:, range(size), range(size)] = one
    covariance = n[:, None, None] * (both - one[:, :, None] * one[:, None, :])
    expected, information = np.zeros(len(beta)), np.zeros((len(beta), len(beta)))
    np.add.at(expected, members, n[:, None] * one)
    np.add.at(information, (members[:, :, None], members[:, None, :]), covariance)
    return float(n @ np.log(denominator)), expected, information


def scores_of(data: Informative) -> Floats:
    """Return by how much each label differs from the mean label of its item; 0 if there is no label."""
    has_label = ~np.isnan(data.y)
    scores: Floats = (data.y == 1) - has_label * ((data.y == 1).sum(axis=1) / has_label.sum(axis=1))[:, None]
    return scores


def score_chi2(data: Informative) -> float:
    """Compute chi2 of the score test of equal leniencies; for complete labels, it is Cochran's Q."""
    has_label = ~np.isnan(data.y)
    m, t = (has_label.sum(axis=1), (data.y == 1).sum(axis=1))  # number of raters and of dissimilar labels of each item
    slope = scores_of(data).sum(axis=0)
    spread = t * (m - t) / (m * (m - 1))
    information = np.diag(spread @ has_label) - (has_label * (spread / m)[:, None]).T @ has_label
    return float(slope @ np.linalg.pinv(information, rcond=1e-10, hermitian=True) @ slope)


NEVER_DIFFERS = "this rater does not differ from another rater on any item"
LIKELIHOOD_RATIO, SCORE, CLUSTERED = "likelihood ratio", "score", "clustered score"
TOO_FEW_GROUPS = "too few applications differ for a test"


@dataclass(frozen=True, repr=False)
class RaterLeniency(Result):
    """How often a rater chooses dissimilar (or another positive category)."""

    rater: str
    n: int  # number of labels
    # Share of dissimilar labels with Wilson's interval. Raters who saw different items cannot be compared by this
    # share.
    dissimilar: Estimate
    # Leniency on the same items: log odds of dissimilar relative to the mean of the connected raters.
    log_odds: Estimate


@dataclass(frozen=True, repr=False)
class PairLeniency(Result):
    """The leniency of two raters on the items that both labelled."""

    a: str
    b: str
    # `b` counts the items that only rater a calls dissimilar, `c` the items that only rater b calls dissimilar.
    table: TwoByTwo
    difference: Estimate  # share of dissimilar labels of rater a minus the share of rater b
    mcnemar: McNemar
    p_holm: float | None  # the mid-p value of McNemar's test after Holm's correction for all pairs


@dataclass(frozen=True, repr=False)
class LeniencyTest(Result):
    """Test of the hypothesis that all raters are equally lenient on the same items."""

    # "likelihood ratio", "score" if the best-fitting leniency of a rater is infinite, or "clustered score" if items
    # are related; None if there is no test.
    test: str | None
    chi2: float | None  # None if the test is undefined; `reason` then says why
    df: int | None
    p: float | None
    n_split: int  # Number of items on which raters differ. Only these items contain information.
    reason: str | None = None  # why there is no test, or what the test leaves out


@dataclass(frozen=True, repr=False)
class Leniency(Result):
    """The leniency of each rater and of each pair of raters, and the overall test."""

    rows_of = "raters"

    raters: tuple[RaterLeniency, ...]
    pairs: tuple[PairLeniency, ...]
    overall: LeniencyTest


def leniency(
    labels: pd.DataFrame,
    categories: Categories = CATEGORIES,
    *,
    positive: Hashable | None = None,
    groups: Groups | None = None,
    level: float = 0.95,
) -> Leniency:
    """Compare how often raters choose dissimilar, for each rater, for each pair (McNemar [1]_) and overall.

    The overall test is the likelihood ratio test of a conditional logit model with items as strata [2]_. With R raters,
    it has R - 1 degrees of freedom. If the raters form C sets that have no split items in common, it has R - C degrees
    of freedom.

    If a rater differs from others in only one direction, the best-fitting leniency is infinite [3]_. In this case, the
    score test of the same hypothesis is used; for complete data, this test is Cochran's Q [4]_. If items are related,
    Hotelling's test [5]_ of the score sums of the groups replaces both.

    Parameters
    ----------
    labels : DataFrame
        Label table: columns item, rater, category; at most one label per (item, rater).
    categories : sequence of hashable
        The declared categories.
    positive : hashable, optional
        The positive category; by default the last of two, required if there are more.
    groups : sequence of hashable, optional
        The group of each row of the table, such as an application. All tests then allow for related items of a group;
        with fewer than ten groups, p is at least that of single items. Intervals count items.
    level : float
        Confidence level of all intervals.

    Returns
    -------
    Leniency
        Raters are sorted by name. Pairs without a common item are left out. A pair that agrees on every item has p = 1.

    Raises
    ------
    ValueError
        If the label table is invalid (`analysis.raters.tables.checked_labels`), or `positive` is not one of the
        categories.

    References
    ----------
    .. [1] McNemar (1947), Psychometrika 12:153-157, doi:10.1007/BF02295996
    .. [2] Andersen (1970), J. R. Stat. Soc. B 32:283-301, doi:10.1111/j.2517-6161.1970.tb00842.x
    .. [3] Fischer (1981), Psychometrika 46:59-77, doi:10.1007/BF02293919
    .. [4] Cochran (1950), Biometrika 37:256-266, doi:10.1093/biomet/37.3-4.256
    .. [5] Hotelling (1931), Ann. Math. Stat. 2:360-378, doi:10.1214/aoms/1177732979

    Examples
    --------
    >>> labels = pd.DataFrame({"item": [1, 2, 3, 4] * 2, "rater": ["ada"] * 4 + ["ben"] * 4,
    ...     "category": ["dissimilar"] * 3 + ["similar"] * 4 + ["dissimilar"]})
    >>> leniency(labels).pairs[0].mcnemar.p
    0.625
    """
    names, codes = wide_labels(labels, categories)
    k = list(categories).index(positive_category(categories, positive))
    y = np.where(np.isnan(codes), np.nan, codes == k)
    group, _ = numbers_of_groups(labels, groups, np.ones(len(y), dtype=bool))
    data = informative(y, group)
    fit = maximise(data) if data.has_maximum else None
    shares = [wilson(float(np.nansum(column)), int((~np.isnan(column)).sum()), level) for column in y.T]
    raters = tuple(
        RaterLeniency(name, int((~np.isnan(column)).sum()), share, log_odds)
        for name, column, share, log_odds in zip(names, y.T, shares, _log_odds(data, fit, level), strict=True)
    )
    return Leniency(raters, _pairs(names, y, group, level), _overall(data, fit, names))


def _pairs(raters: Sequence[str], y: Floats, group: NDArray[np.intp] | None, level: float) -> tuple[PairLeniency, ...]:
    tables = {pair: two_by_two(cells) for pair, cells in tables_of(raters, y, 2).items()}
    column = {rater: y[:, j] for j, rater in enumerate(raters)}
    tests = [_mcnemar(column[a], column[b], group) for a, b in tables]
    corrected = holm([test.p_mid for test in tests])
    return tuple(
        PairLeniency(a, b, table, bias_index(table, level=level), test, p)
        for ((a, b), table), test, p in zip(tables.items(), tests, corrected, strict=True)
    )


def _mcnemar(a: Floats, b: Floats, group: NDArray[np.intp] | None) -> McNemar:
    both = ~np.isnan(a + b)
    return mcnemar_of((a > b)[both], (b > a)[both], None if group is None else group[both])


def _overall(data: Informative, fit: Fit | None, raters: Sequence[str]) -> LeniencyTest:
    n_split = len(data.y)
    if n_split == 0:
        return LeniencyTest(None, None, None, None, 0, "raters do not differ on any item")
    test, chi2 = (SCORE, score_chi2(data)) if fit is None else (LIKELIHOOD_RATIO, fit.chi2)
    n_sets, _ = data.components
    chi2, df, reason = max(chi2, 0.0), len(raters) - n_sets, _left_out(data, raters)
    p = float(special.chdtrc(df, chi2))
    if data.group is None or not df:
        return LeniencyTest(test, chi2, df, p, n_split, reason)
    related = clustered_score(scores_of(data), data.group, at_least=p)
    if related is None:
        return LeniencyTest(None, None, None, None, n_split, TOO_FEW_GROUPS)
    return LeniencyTest(CLUSTERED, *related, n_split, reason)


def clustered_score(scores: Floats, group: NDArray[np.intp], *, at_least: float) -> tuple[float, int, float] | None:
    """Test that sums of scores have mean 0 if items of a group are related; return chi2, its degrees of freedom and p.

    `scores`, shape (n_items, n_raters). The statistic is that of Hotelling's test of the sums of the groups, compared
    with F. As the test is symmetric, p is at least the share 2^(1-m) of all signs of m groups. There is no test with
    fewer than five groups, or with no more groups than dimensions. With fewer than ten groups, p is at least
    `at_least`, that of single items.
    """
    numbers = np.unique(group, return_inverse=True)[1]
    m = int(numbers.max(initial=-1)) + 1
    sums = np.zeros((m, scores.shape[1]))
    np.add.at(sums, numbers, scores)
    values, vectors = np.linalg.eigh(sums.T @ sums)
    kept = values > 1e-9 * max(values.max(), 1e-12)
    df = int(kept.sum())
    if m < LEAST_GROUPS or m <= df or not df:
        return None
    chi2 = float(((vectors[:, kept].T @ sums.sum(axis=0)) ** 2 / values[kept]).sum())
    p = float(special.fdtrc(df, m - df, (m - df) / df * chi2 / max(m - chi2, 1e-12)))
    return chi2, df, max(p, 2.0 ** (1 - m), at_least if m < ENOUGH_GROUPS else 0.0)


def _left_out(data: Informative, raters: Sequence[str]) -> str | None:
    """Describe which raters the overall test leaves out, or why another test replaces it; None if neither applies."""
    never = [rater for rater, compared in zip(raters, _compared(data), strict=True) if not compared]
    n_sets = data.components[0] - len(never)
    reasons = [f"raters who do not differ from others on any item are left out: {', '.join(never)}"] if never else []
    if n_sets > 1:
        reasons.append(
            f"the raters form {n_sets} separate sets without common split items; raters are compared only within a set"
        )
    if data.group is None and not data.has_maximum:
        reasons.append(
            "the score test is used, because some raters differ from others in one direction only and the best fit is "
            "infinite"
        )
    return "; ".join(reasons) or None


def _log_odds(data: Informative, fit: Fit | None, level: float) -> list[Estimate]:
    compared = _compared(data)
    if fit is None:
        one_way = "some raters differ from others in only one direction, so there is no finite estimate"
        return [Estimate(None, reason=one_way if involved else NEVER_DIFFERS) for involved in compared]
    se = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))  # rounding can leave a value such as -1e-18
    half = float(special.ndtri((1 + checked_level(level)) / 2)) * se
    return [
        Estimate(float(b), float(s), float(b - h), float(b + h)) if involved else Estimate(None, reason=NEVER_DIFFERS)
        for b, s, h, involved in zip(fit.beta, se, half, compared, strict=True)
    ]


def _compared(data: Informative) -> list[bool]:
    """Return which raters differ from another rater on at least one item."""
    involved: list[bool] = (data.against.sum(axis=0) + data.against.sum(axis=1) > 0).tolist()
    return involved


@dataclass(frozen=True, repr=False)
class RankTest(Result):
    """Test that all raters use a scale alike on the same items."""

    # For each rater, the mean over split items of 2 (rank - mean rank) / number of labels, in (-1, 1): above 0,
    # the rater chooses later categories than the other raters of the same items. None without a split item.
    mean_ranks: dict[str, float | None]
    chi2: float | None  # the test statistic; like df and p, None if the test is undefined
    df: int | None
    p: float | None
    n_split: int  # Number of items on which raters differ. Only these items contain information.
    reason: str | None = None  # why there is no test


def rank_test(labels: pd.DataFrame, categories: Categories, *, groups: Groups | None = None) -> RankTest:
    """Rank the labels of each item and compare the rank sums of the raters [1]_, for any number of labels per item.

    For complete data without ties, it is Friedman's test; for two categories, it is Cochran's Q.

    `categories`: the declared categories in their order; `groups`: group of each row of the table, such as an
    application; the test is then clustered, as in `leniency`. The result is undefined if raters do not differ on any
    item.

    References
    ----------
    .. [1] Prentice (1979), Biometrika 66:167-170, doi:10.1093/biomet/66.1.167
    """
    from scipy import stats  # imported here, because coefficients need no tests

    raters, codes = wide_labels(labels, categories)
    is_split = np.array([len(np.unique(row[~np.isnan(row)])) > 1 for row in codes], dtype=bool)
    split, (group, _) = codes[is_split], numbers_of_groups(labels, groups, is_split)
    sums, covariance, scores = np.zeros(len(raters)), np.zeros((len(raters), len(raters))), np.full(split.shape, np.nan)
    for row, out in zip(split, scores, strict=True):
        of = np.flatnonzero(~np.isnan(row))
        m = len(of)
        a = 2 / m * (stats.rankdata(row[of]) - (m + 1) / 2)
        out[of], sums[of] = a, sums[of] + a
        covariance[np.ix_(of, of)] += (a @ a) / (m - 1) * (np.eye(m) - 1 / m)
    means = {
        name: float(np.nanmean(column)) if (~np.isnan(column)).any() else None
        for name, column in zip(raters, scores.T, strict=True)
    }
    if not len(split):
        return RankTest(means, None, None, None, 0, "raters do not differ on any item")
    df = int(np.linalg.matrix_rank(covariance))
    chi2 = float(sums @ np.linalg.pinv(covariance, hermitian=True) @ sums)
    p = float(special.chdtrc(df, chi2))
    if group is None or not df:
        return RankTest(means, chi2, df, p, len(split))
    related = clustered_score(np.nan_to_num(scores), group, at_least=p)
    if related is None:
        return RankTest(means, None, None, None, len(split), TOO_FEW_GROUPS)
    return RankTest(means, *related, len(split))
