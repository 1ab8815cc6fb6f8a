"""Agreement of two raters: 2 x 2 tables, Cohen's kappa and all pairs, and the test of equal agreement of all pairs."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from analysis.arrays import Bools, Floats
from analysis.categories import CATEGORIES
from analysis.raters.agreement._formulas import (
    ONE_CATEGORY,
    Categories,
    Weights,
    category_weights,
    rated,
    too_few_rare,
)
from analysis.raters.tables import (
    Counts,
    Ratings,
    codes_of_wide,
    declared_categories,
    holds_ratings,
    is_label_table,
    positive_category,
    wide_labels,
)
from analysis.statistics.intervals import (
    Estimate,
    Groups,
    checked_level,
    clustered_share,
    group_numbers,
    linearised,
    paired_difference,
    wilson,
)
from analysis.statistics.likelihood import likelihood_ends, likelihood_limit
from analysis.statistics.results import Result

NO_COMMON_ITEM = "no item was labelled by both raters"


@dataclass(frozen=True, repr=False)
class PairAgreement(Result):
    """Agreement of two raters on the items that both of them labelled (one row of Table 1)."""

    a: str
    b: str
    n: int
    agree: int
    percent: Estimate
    cohen_kappa: Estimate


def cohen_kappa(
    ratings: Ratings, categories: Categories | None = None, *, weights: Weights = None, level: float = 0.95
) -> Estimate:
    """Compute Cohen's kappa of two raters [1]_, with its large-sample standard error [3]_.

    For ordinal categories, kappa can be weighted [2]_.

    Parameters
    ----------
    ratings : DataFrame or array_like
        An array of numbers counts items by the category of the first rater (rows) and of the second rater (columns);
        its shape is (n_categories, n_categories). If the categories are numbers, pass `Counts(table)`. Otherwise, pass
        a label table of two raters, or wide ratings with two columns, as in `fleiss_kappa`; items with only one label
        are ignored.
    categories, weights
        As in `fleiss_kappa`.
    level : float
        Confidence level of the profile likelihood interval [4]_. The interval contains the kappa of each table of
        probabilities whose likelihood ratio to the observed table is at most the quantile of F with 1 and n - 1 degrees
        of freedom. A normal interval from `se` would be too short if there are few items or a category is rare.

    Returns
    -------
    Estimate
        In [-1, 1]. Undefined if there are no items, or if both raters always use the same category. If only one rater
        uses a single category, the value is exactly 0 and has no meaning; `reason` says so. Full agreement has no
        standard error. A single item has no interval, and nor has a table with fewer than three items of the rarer
        category.

    Raises
    ------
    ValueError
        If `ratings` do not have two raters, or the table is not a square table of counts.

    References
    ----------
    .. [1] Cohen (1960), Educ. Psychol. Meas. 20:37-46, doi:10.1177/001316446002000104
    .. [2] Cohen (1968), Psychological Bulletin 70:213-220, doi:10.1037/h0026256
    .. [3] Fleiss, Cohen, Everitt (1969), Psychological Bulletin 72:323-327, doi:10.1037/h0028106
    .. [4] Venzon, Moolgavkar (1988), Applied Statistics 37:87-94, doi:10.2307/2347496

    Examples
    --------
    >>> cohen_kappa([[20, 5], [10, 15]])
    Estimate(0.4, 0.1304 to 0.6322)
    >>> cohen_kappa([[10, 0], [0, 10]])
    Estimate(1, 0.7925 to 1: no variation between items: no standard error)
    >>> round(cohen_kappa([[11, 3, 1], [2, 8, 4], [0, 3, 9]], weights="quadratic").value, 4)
    0.7045
    """
    checked_level(level)
    table = pair_table(ratings, categories)
    w = category_weights(weights, len(table))
    n, row, column = table.sum(), table.sum(axis=1), table.sum(axis=0)
    if n == 0:
        return Estimate(None, reason=NO_COMMON_ITEM)
    one_sided = (row == n).any(), (column == n).any()
    if all(one_sided) and np.trace(table) == n:
        return Estimate(None, reason=ONE_CATEGORY)
    if any(one_sided):
        return Estimate(0.0, reason="one rater used a single category, so kappa is always 0")
    kappa, se = map(float, cohen_of(table, w))
    if n < 2:
        return Estimate(kappa, reason="one item: no interval")
    few = too_few_rare(n - np.diag(table))
    if few is not None:
        return Estimate(kappa, reason=few)
    low, high = likelihood_ends(table, partial(_with_gradient, w=w), likelihood_limit(n, level))
    if se < 1e-7:  # full agreement or full disagreement; rounding can leave up to 1e-8
        return Estimate(kappa, low=low, high=high, reason="no variation between items: no standard error")
    return Estimate(kappa, se, low, high)


def _with_gradient(p: Floats, *, w: Floats) -> tuple[float, Floats]:
    """Return kappa of a table of probabilities, and its gradient; kappa is NaN if expected agreement is 1."""
    w_i, w_j = w @ p.sum(axis=0), p.sum(axis=1) @ w
    po, pe, pe_ij = float((w * p).sum()), float(p.sum(axis=1) @ w_i), np.add.outer(w_i, w_j)
    if 1 - pe < 1e-12:
        return np.nan, pe_ij
    return (po - pe) / (1 - pe), (w * (1 - pe) - (1 - po) * pe_ij) / (1 - pe) ** 2


def cohen_of(tables: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return Cohen's kappa and its standard error for tables of shape (..., n_categories, n_categories)."""
    n = tables.sum(axis=(-2, -1))
    p = tables / n[..., None, None]
    p_i, p_j = p.sum(axis=-1), p.sum(axis=-2)
    w_i, w_j = p_j @ w, p_i @ w  # mean weight of each category of the first rater and of the second rater
    po, pe = (w * p).sum(axis=(-2, -1)), (p_i * w_i).sum(axis=-1)
    kappa = (po - pe) / np.where(1 - pe < 1e-12, np.nan, 1 - pe)
    apart = w - (w_i[..., :, None] + w_j[..., None, :]) * (1 - kappa)[..., None, None]
    variance = ((p * apart**2).sum(axis=(-2, -1)) - (kappa - pe * (1 - kappa)) ** 2) / (n * (1 - pe) ** 2)
    return kappa, np.sqrt(np.maximum(variance, 0.0))


def pair_agreements(
    labels: pd.DataFrame, categories: Categories = CATEGORIES, *, level: float = 0.95
) -> list[PairAgreement]:
    """Compute the agreement of each pair of raters who labelled at least one common item.

    Parameters
    ----------
    labels : DataFrame
        Label table: columns item, rater, category; at most one label per (item, rater).
    categories : sequence of hashable
        The declared categories.
    level : float
        Confidence level of the intervals of the share and of kappa.

    Returns
    -------
    list of PairAgreement
        Sorted by rater; pairs without a common item are left out.

    Raises
    ------
    ValueError
        If the label table is invalid (`analysis.raters.tables.checked_labels`).

    Examples
    --------
    >>> labels = pd.DataFrame({"item": [1, 2, 3] * 2, "rater": ["ada"] * 3 + ["ben"] * 3,
    ...     "category": ["similar", "similar", "dissimilar", "similar", "dissimilar", "dissimilar"]})
    >>> pair = pair_agreements(labels)[0]
    >>> pair.a, pair.b, pair.agree, pair.n, pair.percent
    ('ada', 'ben', 2, 3, Estimate(0.6667, 0.2077 to 0.9385))
    """
    pairs = []
    for (a, b), table in pair_tables(labels, categories).items():
        agree, n = int(np.trace(table)), int(table.sum())
        pairs.append(PairAgreement(a, b, n, agree, wilson(agree, n, level), cohen_kappa(table, level=level)))
    return pairs


def pair_tables(labels: pd.DataFrame, categories: Categories = CATEGORIES) -> dict[tuple[str, str], NDArray[np.int64]]:
    """Return the table of labels of each pair of raters who labelled at least one common item.

    The result is sorted by rater; rows are the first rater's categories. Pairs without a common item are left out.
    """
    return tables_of(*wide_labels(labels, categories), len(categories))


def tables_of(raters: Sequence[str], wide: Floats, q: int) -> dict[tuple[str, str], NDArray[np.int64]]:
    """Return the same tables as `pair_tables`, but from the result of `wide_labels`."""
    tables = {}
    for j, k in combinations(range(len(raters)), 2):
        cells = wide[:, j] * q + wide[:, k]  # NaN if a label is missing
        cells = cells[~np.isnan(cells)].astype(np.int64)
        if len(cells):
            tables[raters[j], raters[k]] = np.bincount(cells, minlength=q * q).reshape(q, q)
    return tables


def pair_table(ratings: Ratings, categories: Categories | None = None) -> Floats:
    """Check the ratings of two raters, and return their table, shape (n_categories, n_categories).

    The ratings can have any form that `cohen_kappa` accepts.
    """
    declared = CATEGORIES if categories is None else declared_categories(categories)
    if is_label_table(ratings):
        raters, codes = wide_labels(ratings, declared)
        if len(raters) > 2:
            raise ValueError(f"Cohen's kappa needs two raters, got {len(raters)}. Use pair_agreements.")
        tables = tables_of(raters, codes, len(declared))
        return next(iter(tables.values()), np.zeros((len(declared), len(declared)))).astype(np.float64)
    if holds_ratings(ratings, categories):
        wide = codes_of_wide(ratings, declared)
        if wide.ndim != 2 or wide.shape[1] != 2:
            raise ValueError(f"wide ratings of two raters must have two columns, got shape {wide.shape}")
        complete = wide[(wide >= 0).all(axis=1)]
        q = len(declared)
        return np.bincount(complete[:, 0] * q + complete[:, 1], minlength=q * q).reshape(q, q).astype(np.float64)
    table = np.asarray(ratings.table if isinstance(ratings, Counts) else ratings, dtype=float)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or table.shape[0] < 2:
        raise ValueError(
            f"table must be square with at least two categories, got shape {table.shape}. A count table does not show "
            "who gave which label: pass a label table, or wide ratings of two raters."
        )
    if categories is not None and len(table) != len(declared):
        raise ValueError(f"table has {len(table)} rows for {len(declared)} categories")
    if not (np.isfinite(table) & (table >= 0) & (table == np.floor(table))).all():
        raise ValueError(f"table must hold whole numbers >= 0, got {table.tolist()}")
    return table


@dataclass(frozen=True, repr=False)
class TwoByTwo(Result):
    """The number of items for each combination of two labels.

    The labels come from two raters, or are the first and second label of one rater. Dissimilar stands for the positive
    category, and similar for all other categories.
    """

    a: int  # items that both raters call dissimilar, and items that both call similar
    b: int  # items that only the first rater calls dissimilar, and items that only the second calls dissimilar
    c: int
    d: int

    def __post_init__(self) -> None:
        if not all(x >= 0 and x == int(x) for x in (self.a, self.b, self.c, self.d)):
            raise ValueError(f"cells must be whole numbers >= 0, got {self}")

    @property
    def n(self) -> int:
        """Return the number of items."""
        return self.a + self.b + self.c + self.d

    @property
    def matrix(self) -> NDArray[np.int64]:
        """Return the counts as a matrix, shape (2, 2).

        Rows are the first label and columns the second label; dissimilar comes before similar.
        """
        return np.array([[self.a, self.b], [self.c, self.d]], dtype=np.int64)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return the count table, shape (n, 2); its columns are similar and dissimilar, as in other tables."""
        rows = np.array([[0, 2], [1, 1], [2, 0]], dtype=np.int64)
        return np.repeat(rows, [self.a, self.b + self.c, self.d], axis=0)


def two_by_two_tables(
    labels: pd.DataFrame, categories: Categories = CATEGORIES, *, positive: Hashable | None = None
) -> dict[tuple[str, str], TwoByTwo]:
    """Return the two-by-two table of each pair of raters who labelled at least one common item.

    Raises ValueError if the label table is invalid (`analysis.raters.tables.checked_labels`), or `positive` is not one
    of the categories.

    `positive`: the positive category of the tables; by default the last of two, required if there are more.
    """
    k = tuple(categories).index(positive_category(categories, positive))
    return {pair: two_by_two(table, k) for pair, table in pair_tables(labels, categories).items()}


def two_by_two(table: Floats | NDArray[np.int64], k: int = 1) -> TwoByTwo:
    """Reduce a table of two raters, shape (n_categories, n_categories), to category k against all other categories."""
    a, first, second = int(table[k, k]), int(table[k].sum()), int(table[:, k].sum())
    return TwoByTwo(a=a, b=first - a, c=second - a, d=int(table.sum()) - first - second + a)


def prevalence_index(table: TwoByTwo, *, level: float = 0.95) -> Estimate:
    """Compute the prevalence index (a - d) / n [1]_.

    If the index is far from 0, kappa is lower than PABAK.

    The index is the mean over items that count +1, 0 or -1, and the interval is the interval of this mean. The result
    is in [-1, 1]. Undefined without items. There is no interval if all items have the same value.

    References
    ----------
    .. [1] Byrt, Bishop, Carlin (1993), J. Clin. Epidemiol. 46:423-429, doi:10.1016/0895-4356(93)90018-V
    """
    if not table.n:
        return Estimate(None, reason=NO_COMMON_ITEM)
    signs = np.repeat([1.0, -1.0, 0.0], [table.a, table.d, table.b + table.c])
    return linearised((table.a - table.d) / table.n, signs, level)


def bias_index(table: TwoByTwo, *, level: float = 0.95) -> Estimate:
    """Compute the bias index (b - c) / n [1]_: the difference between the raters' shares of dissimilar labels.

    `level`: confidence level of Newcombe's paired score interval (`analysis.statistics.intervals.paired_difference`).
    The result is in [-1, 1]. Undefined without items.

    References
    ----------
    .. [1] Byrt, Bishop, Carlin (1993), J. Clin. Epidemiol. 46:423-429, doi:10.1016/0895-4356(93)90018-V
    """
    if not table.n:
        return Estimate(None, reason=NO_COMMON_ITEM)
    return paired_difference(table.a, table.b, table.c, table.d, level=level)


def pabak(table: TwoByTwo, *, level: float = 0.95) -> Estimate:
    """Compute PABAK, 2 po - 1 [1]_: kappa adjusted for prevalence and bias.

    `level`: confidence level. The interval is Wilson's interval of po, transformed in the same way as po. Unlike the
    interval of `brennan_prediger`, which computes the same coefficient, it does not have width 0 for full agreement.
    The result is in [-1, 1]. Undefined without items.

    References
    ----------
    .. [1] Byrt, Bishop, Carlin (1993), J. Clin. Epidemiol. 46:423-429, doi:10.1016/0895-4356(93)90018-V
    """
    return pabak_of(wilson(table.a + table.d, table.n, level))


def pabak_of(percent: Estimate, q: int = 2) -> Estimate:
    """Compute PABAK, (q po - 1) / (q - 1), and its interval from the observed agreement po of q categories."""
    return _mapped(percent, lambda po: (q * po - 1) / (q - 1), NO_COMMON_ITEM)


def specific_agreement(
    ratings: Ratings | TwoByTwo,
    categories: Categories = CATEGORIES,
    *,
    level: float = 0.95,
    groups: Groups | None = None,
) -> dict[Hashable, Estimate]:
    """Compute agreement on each category [1]_: how often another rater of the item also chooses the category.

    The formula is sum r_ik (r_ik - 1) / (r_i (r_i - 1)) divided by sum r_ik / r_i: each item has the same weight, as in
    `percent_agreement`, which is the mean of the specific agreements weighted by the share of each category. For two
    raters, it is 2a / (2a + b + c).

    Parameters
    ----------
    ratings : TwoByTwo, DataFrame or array_like
        As in `fleiss_kappa`.
    categories : sequence of hashable
        The declared categories.
    level : float
        Confidence level. If each item has exactly two ratings, the agreement is 2q / (1 + q), where q = a / (a + b + c)
        is a share. The interval is then Wilson's interval of q, transformed in the same way. Otherwise the interval is
        the linearised interval of a ratio of means [2]_ with n_items - 1 degrees of freedom.
    groups : sequence of hashable, one per item, optional
        As in `fleiss_kappa`.

    Returns
    -------
    dict of category to Estimate
        Category -> agreement in [0, 1]. Undefined for a category that does not occur on items with two labels.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Cicchetti, Feinstein (1990), J. Clin. Epidemiol. 43:551-558, doi:10.1016/0895-4356(90)90159-M
    .. [2] Graham, Bull (1998), J. Clin. Epidemiol. 51:763-771, doi:10.1016/S0895-4356(98)00048-1

    Examples
    --------
    >>> round(specific_agreement(TwoByTwo(a=40, b=9, c=6, d=45))["dissimilar"].value, 4)
    0.8421
    """
    r, groups = rated(ratings.counts if isinstance(ratings, TwoByTwo) else ratings, groups, categories, at_least=2)
    r_i = r.sum(axis=1)
    return {name: _specific(r[:, k], r_i, level, groups) for k, name in enumerate(categories)}


def _specific(r_k: Floats, r_i: Floats, level: float, groups: Groups | None) -> Estimate:
    agreeing, share = r_k * (r_k - 1) / (r_i * (r_i - 1)), r_k / r_i
    if not share.any():
        return Estimate(None, reason="this category does not occur on items with two labels")

    def statistic(weights: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((weights @ agreeing) / (weights @ share))

    if (r_i == 2).all() and groups is None:
        return _mapped(wilson(float((r_k == 2).sum()), float((r_k > 0).sum()), level), lambda q: 2 * q / (1 + q))
    value = float(agreeing.sum() / share.sum())
    terms = value + (agreeing - value * share) / share.mean()
    return linearised(value, terms, level, groups=groups, statistic=statistic, lowest=0.0)


def _mapped(share: Estimate, to: Callable[[float], float], reason: str | None = None) -> Estimate:
    """Apply an increasing function to a share and its interval; if the share is undefined, return the `reason`."""
    if share.ends is None:
        return Estimate(None, reason=reason)
    value, low, high = share.ends
    return Estimate(to(value), low=to(low), high=to(high))


# Each pair needs this many expected agreements and disagreements. With fewer, the test can reject in more than 6 % of
# studies in which all pairs agree equally often (docs/results/consensus.md).
LEAST_EXPECTED = 8
MOST_ENUMERATED = 8  # with more raters than this, only one division into two groups is tried, but all are counted
_NOTHING = 1e-9  # eigenvalues below this share of the largest one count as 0
PAIR, GROUPS, RATER = "pair", "groups", "reviewer"
TOO_FEW = "too few items to compare pairs"


@dataclass(frozen=True, repr=False)
class PairShare(Result):
    """How often two raters agree on the items that both of them labelled."""

    a: str
    b: str
    n: int
    agree: Estimate


@dataclass(frozen=True, repr=False)
class Contrast(Result):
    """The division of pairs that explains best why pairs agree unequally often."""

    kind: str  # "pair": one pair against all others; "reviewer": one rater against the rest; "groups": two groups
    first: tuple[str, ...]  # the pair, the one rater, or the first group
    second: tuple[str, ...]  # all other raters
    # Agreement of the pair, of all raters but one among themselves, or inside both groups.
    within: Estimate
    # Agreement of all other pairs, of the one rater with the rest, or between both groups.
    across: Estimate
    p: float  # of the difference, times the number of divisions that were or could have been tried
    chance_across: float  # agreement of the pairs in `across` that their shares of each category alone would give
    # Agreement inside each of the two groups; None for the other kinds.
    within_first: Estimate | None = None
    within_second: Estimate | None = None


@dataclass(frozen=True, repr=False)
class PairEquality(Result):
    """Test of the hypothesis that all pairs of raters agree equally often; `p` is None if there is no test."""

    statistic: float | None  # F
    df1: int | None
    df2: int | None
    p: float | None
    n_items: int  # number of items with at least two labels
    pairs: tuple[PairShare, ...]
    contrast: Contrast | None = None  # only if the test rejects and one division explains it
    reason: str | None = None  # why there is no test


def pair_equality(
    labels: pd.DataFrame, categories: Categories = CATEGORIES, *, groups: Groups | None = None, level: float = 0.95
) -> PairEquality:
    """Test whether all pairs of raters agree equally often; items may have any number of labels.

    The shares of agreement of all pairs are means over items, so their covariance follows from the terms of each item.
    The terms are centred at the agreement of all pairs together, because a pair that always agrees would otherwise have
    no variance. The quadratic form of the differences is compared with F(k, n - k), where k is its rank.

    If the test rejects, the result also names the division of the raters that explains the differences best, if it is
    significant after correction for all divisions: one pair, one rater or two groups.

    `groups`: group of each row of the table, such as an application; the statistic is then divided by the mean design
    effect of the differences [1]_, and the tests count groups. `level`: confidence level of the intervals; the tests
    are at 1 - level. There is no test with fewer than two pairs, if all pairs always agree or never agree, or if a pair
    has fewer than eight expected agreements or disagreements.

    References
    ----------
    .. [1] Rao, Scott (1984), Annals of Statistics 12:46-60, doi:10.1214/aos/1176346391
    """
    raters, wide = wide_labels(labels, categories)
    shared = (~np.isnan(wide)).sum(axis=1) >= 2
    wide, n = wide[shared], int(shared.sum())
    group, m = numbers_of_groups(labels, groups, shared)
    names = list(combinations(range(len(raters)), 2))
    first, second = np.array(names, dtype=int).reshape(-1, 2).T
    n_common = np.array([np.count_nonzero(~np.isnan(wide[:, i] + wide[:, j])) for i, j in names], dtype=float)
    used = n_common > 0
    first, second, n_common = first[used], second[used], n_common[used]
    n_agree = np.array([np.count_nonzero(wide[:, i] == wide[:, j]) for i, j in zip(first, second, strict=True)])
    seen = ~np.isnan(wide[:, first] + wide[:, second])
    agree = (wide[:, first] == wide[:, second]).astype(float)
    pairs = tuple(
        PairShare(str(raters[i]), str(raters[j]), int(seen[:, k].sum()), _share(agree[:, k], seen[:, k], group, level))
        for k, (i, j) in enumerate(zip(first, second, strict=True))
    )
    if len(pairs) < 2:
        return PairEquality(None, None, None, None, n, pairs, reason="fewer than two pairs share items")
    rate = float(n_agree.sum() / n_common.sum())
    if rate in (0, 1):
        reason = f"all pairs {'always' if rate else 'never'} agree"
        return PairEquality(None, None, None, None, n, pairs, reason=reason)
    if n_common.min() * min(rate, 1 - rate) < LEAST_EXPECTED:
        return PairEquality(None, None, None, None, n, pairs, reason=TOO_FEW)
    weights = np.tile(n_common[:, None] / n_common.sum(), len(pairs))

    def contrasts_from(rates: Floats | float) -> Floats:
        terms: Floats = (agree - rates * seen) / n_common
        contrasts: Floats = terms - terms @ weights
        return contrasts

    contrasts = contrasts_from(rate)
    design = _design_effect(contrasts_from(n_agree / n_common), group, m)
    values, vectors = np.linalg.eigh(contrasts.T @ contrasts * n / (n - 1))
    kept = values > _NOTHING * values.max()
    k = int(kept.sum())
    if k >= m:
        return PairEquality(None, None, None, None, n, pairs, reason=TOO_FEW)
    way = vectors[:, kept].T @ (n_agree / n_common - rate)
    statistic = float((way**2 / values[kept]).sum()) / design * (m - k) / (k * (m - 1))
    p = float(special.fdtrc(k, m - k, statistic))
    contrast = None
    if p <= 1 - level + 1e-12:
        contrast = _explained(raters, wide, first, second, agree, seen, rate, level, group, m)
    return PairEquality(statistic, k, m - k, p, n, pairs, contrast)


def numbers_of_groups(labels: pd.DataFrame, groups: Groups | None, used: Bools) -> tuple[NDArray[np.intp] | None, int]:
    """Return the group number of each used item of a label table, and the number of groups.

    `groups`: the group of each row of the table; without groups, the number is that of items.
    """
    if groups is None:
        return None, int(used.sum())
    of_row, _ = group_numbers(len(labels), groups)
    of_item = np.zeros(len(used), dtype=np.intp)
    of_item[pd.factorize(labels["item"])[0]] = of_row
    return group_numbers(int(used.sum()), of_item[used])


def _design_effect(terms: Floats, group: NDArray[np.intp] | None, m: int) -> float:
    """Return by how much related items increase the variance of sums of terms, shape (n_items, n_sums); at least 1."""
    if group is None or not terms.any():
        return 1.0
    sums = np.zeros((m, terms.shape[1]))
    np.add.at(sums, group, terms)
    n = len(terms)
    return max(1.0, float((sums**2).sum() * m / max(m - 1, 1) / ((terms**2).sum() * n / (n - 1))))


def _explained(
    raters: Sequence[str],
    wide: Floats,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    agree: Floats,
    seen: Bools,
    rate: float,
    level: float,
    group: NDArray[np.intp] | None,
    n_units: int,
) -> Contrast | None:
    """Return the division that explains most, or None if it is not significant after correction for all divisions."""
    n, best, most, z = len(wide), None, 0.0, 0.0
    groups, n_tried = _divisions(len(raters), first, second, agree, seen, rate)
    for kind, members in groups:
        inside = np.isin(first, members).astype(int) + np.isin(second, members)
        is_within = {PAIR: inside == 2, RATER: inside == 0, GROUPS: inside != 1}[kind]
        if is_within.all() or not is_within.any():
            continue
        sides = [(agree[:, side].sum(axis=1), seen[:, side].sum(axis=1)) for side in (is_within, ~is_within)]
        (a, s), (b, t) = sides
        share, other_share = a.sum() / s.sum(), b.sum() / t.sum()
        # The division is the one that explains most of the differences between pairs (sum of squares).
        explained = s.sum() * (share - rate) ** 2 + t.sum() * (other_share - rate) ** 2
        if (kind != GROUPS or share > other_share) and explained > most:
            terms = (a - rate * s) / s.sum() - (b - rate * t) / t.sum()
            centred = (a - share * s) / s.sum() - (b - other_share * t) / t.sum()
            design = _design_effect(centred[:, None], group, n_units)
            z = abs(share - other_share) / np.sqrt((terms**2).sum() * n / (n - 1) * design)
            best, most = (kind, members, is_within, sides), explained
    p = min(1.0, 2 * float(special.stdtr(n_units - 1, -z)) * n_tried)
    if best is None or p > 1 - level:
        return None
    kind, members, is_within, sides = best
    within, across = (_share(x, m, group, level) for x, m in sides)
    shares = [_shares(wide[:, rater]) for rater in range(len(raters))]
    chance = [float((shares[i] * shares[j]).sum()) for i, j in zip(first[~is_within], second[~is_within], strict=True)]
    each: list[Estimate | None] = [None, None]
    if kind == GROUPS:
        for place, one in enumerate((members, [r for r in range(len(raters)) if r not in members])):
            of_one = np.isin(first, one) & np.isin(second, one)
            each[place] = _share(agree[:, of_one].sum(axis=1), seen[:, of_one].sum(axis=1), group, level)
    chosen = tuple(str(raters[r]) for r in members)
    others = tuple(str(raters[r]) for r in range(len(raters)) if r not in members)
    weight = seen[:, ~is_within].sum(axis=0)
    return Contrast(kind, chosen, others, within, across, p, float(np.average(chance, weights=weight)), *each)


def _divisions(
    n_raters: int, first: NDArray[np.int64], second: NDArray[np.int64], agree: Floats, seen: Bools, rate: float
) -> tuple[list[tuple[str, list[int]]], int]:
    """Return the divisions to try, and the number of divisions to correct for."""
    found: list[tuple[str, list[int]]] = [(PAIR, [int(i), int(j)]) for i, j in zip(first, second, strict=True)]
    if n_raters > 3:  # of three raters, a pair against the other pairs is one rater against the rest
        found += [(RATER, [r]) for r in range(n_raters)]
    if n_raters <= MOST_ENUMERATED:
        found += [(GROUPS, members) for members in _bipartitions(n_raters)]
        return found, len(found)
    excess = np.zeros((n_raters, n_raters))
    excess[first, second] = excess[second, first] = (agree - rate * seen).sum(axis=0)
    lead = np.linalg.eigh(excess)[1][:, -1]
    members = np.flatnonzero(lead > 0).tolist()
    if 2 <= len(members) <= n_raters - 2:
        found.append((GROUPS, members))
    return found, len(found) + 2 ** (n_raters - 1)


def _bipartitions(n_raters: int) -> Iterator[list[int]]:
    """Yield the group with the first rater, for each division into two groups of at least two."""
    for size in range(1, n_raters - 2):
        for others in combinations(range(1, n_raters), size):
            yield [0, *others]


def _share(x: Floats, m: Floats | Bools, group: NDArray[np.intp] | None, level: float) -> Estimate:
    """Return sum(x) / sum(m) over items, with Wilson's interval if each item has at most one pair."""
    if not m.sum():
        return Estimate(None, reason="no common items")
    if group is not None:
        x_g, m_g = (np.bincount(group, weights=values).astype(np.float64) for values in (x, m))
        return clustered_share(x_g, m_g, level)
    if m.max() <= 1:
        return wilson(int(x.sum()), int(m.sum()), level)
    x, m = x[m > 0], m[m > 0].astype(np.float64)
    value = float(x.sum() / m.sum())
    return linearised(value, value + (x - value * m) / m.mean(), level, lowest=0.0)


def _shares(codes: Floats) -> Floats:
    """Return the share of each category among the labels of one rater."""
    given = codes[~np.isnan(codes)].astype(int)
    return np.bincount(given, minlength=64) / max(len(given), 1)
