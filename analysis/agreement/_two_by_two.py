"""Analyse tables of two raters: prevalence, bias, adjusted kappa, and agreement by category."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.agreement._coefficients import Categories, rated
from analysis.agreement._pairs import NO_COMMON_ITEM, pair_tables
from analysis.categories import CATEGORIES
from analysis.intervals import Estimate, Groups, linearised, paired_difference, wilson
from analysis.results import Result
from analysis.tables import Floats, Ratings, positive_category


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

    Raises ValueError if the label table is invalid (`analysis.tables.checked_labels`), or `positive` is not one of the
    categories.

    Parameters
    ----------
    positive : hashable, optional
        The positive category of the tables; by default the last of two, required if there are more.
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

    Parameters
    ----------
    level : float
        Confidence level. The index is the mean over items that count +1, 0 or -1, and the interval is the interval of
        this mean.

    Returns
    -------
    Estimate
        In [-1, 1]. Undefined without items. There is no interval if all items have the same value.

    References
    ----------
    .. [1] Byrt, Bishop, Carlin (1993), J. Clin. Epidemiol. 46:423-429, doi:10.1016/0895-4356(93)90018-V

    Examples
    --------
    >>> round(prevalence_index(TwoByTwo(a=40, b=9, c=6, d=45)).value, 2)
    -0.05
    """
    if not table.n:
        return Estimate(None, reason=NO_COMMON_ITEM)
    signs = np.repeat([1.0, -1.0, 0.0], [table.a, table.d, table.b + table.c])
    return linearised((table.a - table.d) / table.n, signs, level)


def bias_index(table: TwoByTwo, *, level: float = 0.95) -> Estimate:
    """Compute the bias index (b - c) / n [1]_: the difference between the raters' shares of dissimilar labels.

    Parameters
    ----------
    level : float
        Confidence level of Newcombe's paired score interval (`analysis.intervals.paired_difference`).

    Returns
    -------
    Estimate
        In [-1, 1]. Undefined without items.

    References
    ----------
    .. [1] Byrt, Bishop, Carlin (1993), J. Clin. Epidemiol. 46:423-429, doi:10.1016/0895-4356(93)90018-V
    """
    if not table.n:
        return Estimate(None, reason=NO_COMMON_ITEM)
    return paired_difference(table.a, table.b, table.c, table.d, level=level)


def pabak(table: TwoByTwo, *, level: float = 0.95) -> Estimate:
    """Compute PABAK, 2 po - 1 [1]_: kappa adjusted for prevalence and bias.

    Parameters
    ----------
    level : float
        Confidence level. The interval is Wilson's interval of po, transformed in the same way as po. Unlike the
        interval of `brennan_prediger`, which computes the same coefficient, it does not have width 0 for full
        agreement.

    Returns
    -------
    Estimate
        In [-1, 1]. Undefined without items.

    References
    ----------
    .. [1] Byrt, Bishop, Carlin (1993), J. Clin. Epidemiol. 46:423-429, doi:10.1016/0895-4356(93)90018-V

    Examples
    --------
    >>> round(pabak(TwoByTwo(a=40, b=9, c=6, d=45)).value, 2)
    0.7
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
