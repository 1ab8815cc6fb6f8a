"""Two raters, two categories: prevalence, bias and what kappa becomes without them; agreement by category."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from analysis.agreement._coefficients import Floats, fleiss_kappa, rated
from analysis.agreement._pairs import pair_tables, square_table
from analysis.categories import CATEGORIES
from analysis.intervals import Estimate, Groups, linearised, numbered_groups, wilson

NO_COMMON_ITEM = "no item was labelled by both"


@dataclass(frozen=True)
class TwoByTwo:
    """Items by the labels of two raters, or by a first and a second label of one rater.

    Attributes
    ----------
    a, d : int
        Items that both call dissimilar, and that both call similar.
    b, c : int
        Items that only the first calls dissimilar, and that only the second does.
    """

    a: int
    b: int
    c: int
    d: int

    def __post_init__(self) -> None:
        if not all(x >= 0 and x == int(x) for x in (self.a, self.b, self.c, self.d)):
            raise ValueError(f"cells must be whole numbers >= 0, got {self}")

    @property
    def n(self) -> int:
        """Number of items."""
        return self.a + self.b + self.c + self.d

    @property
    def matrix(self) -> NDArray[np.int64]:
        """Shape (2, 2): rows by the first label, columns by the second, dissimilar before similar."""
        return np.array([[self.a, self.b], [self.c, self.d]], dtype=np.int64)

    @property
    def counts(self) -> NDArray[np.int64]:
        """The count table, shape (n, 2), columns similar and dissimilar as everywhere."""
        rows = np.array([[0, 2], [1, 1], [2, 0]], dtype=np.int64)
        return np.repeat(rows, [self.a, self.b + self.c, self.d], axis=0)


def two_by_two_tables(labels: pd.DataFrame) -> dict[tuple[str, str], TwoByTwo]:
    """The table of every pair of raters that labelled an item in common.

    Parameters
    ----------
    labels : DataFrame
        Label table: columns item, rater, category (similar, dissimilar); at most one label an (item, rater).

    Returns
    -------
    dict of (rater, rater) to TwoByTwo
        Sorted by rater.

    Raises
    ------
    ValueError
        If the label table is not one (`analysis.tables.checked_labels`).
    """
    return two_by_twos(pair_tables(labels))


def two_by_twos(tables: Mapping[tuple[str, str], NDArray[np.int64]]) -> dict[tuple[str, str], TwoByTwo]:
    """Tables of pairs of raters, similar before dissimilar, as `TwoByTwo`."""
    return {
        pair: TwoByTwo(a=int(table[1, 1]), b=int(table[1, 0]), c=int(table[0, 1]), d=int(table[0, 0]))
        for pair, table in tables.items()
    }


def prevalence_index(table: TwoByTwo, *, level: float = 0.95) -> Estimate:
    """(a - d) / n [1]_: how far dissimilar outweighs similar; far from 0, kappa is lower than PABAK.

    Parameters
    ----------
    table : TwoByTwo
    level : float
        Confidence level of the interval: that of the mean over items of +1, 0 or -1.

    Returns
    -------
    Estimate
        In [-1, 1]. Undefined without items; without variation between items there is no interval.

    References
    ----------
    .. [1] Byrt, Bishop, Carlin (1993), J. Clin. Epidemiol. 46:423-429, doi:10.1016/0895-4356(93)90018-V

    Examples
    --------
    >>> round(prevalence_index(TwoByTwo(a=40, b=9, c=6, d=45)).value, 2)
    -0.05
    """
    return _mean_sign(table.a, table.d, table.n, level)


def bias_index(table: TwoByTwo, *, level: float = 0.95) -> Estimate:
    """(b - c) / n [1]_: how much more often the first says dissimilar; the difference of the two shares.

    Parameters
    ----------
    table, level
        As in `prevalence_index`.

    Returns
    -------
    Estimate
        In [-1, 1]. Undefined without items; without variation between items there is no interval.

    References
    ----------
    .. [1] Byrt, Bishop, Carlin (1993), J. Clin. Epidemiol. 46:423-429, doi:10.1016/0895-4356(93)90018-V
    """
    return _mean_sign(table.b, table.c, table.n, level)


def pabak(table: TwoByTwo, *, level: float = 0.95) -> Estimate:
    """2 po - 1 [1]_: the kappa that this observed agreement gives without prevalence and bias.

    Parameters
    ----------
    table : TwoByTwo
    level : float
        Confidence level. The interval is Wilson's for po, mapped like po: it stands at full agreement too, where
        the linearised one of `brennan_prediger`, the same coefficient, has no width.

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
    return _mapped(wilson(table.a + table.d, table.n, level), lambda po: 2 * po - 1, NO_COMMON_ITEM)


def scott_pi(table: ArrayLike | TwoByTwo, *, level: float = 0.95) -> Estimate:
    """Scott's pi of two raters [1]_: `fleiss_kappa` of their count table.

    Parameters
    ----------
    table : TwoByTwo, or array_like of int, shape (n_categories, n_categories)
        As in `cohen_kappa`.
    level : float
        As in `fleiss_kappa`.

    Returns
    -------
    Estimate
        In [-1, 1]. Undefined without items or where both raters always use the same one category.

    Raises
    ------
    ValueError
        If `table` is not a square table of counts.

    References
    ----------
    .. [1] Scott (1955), Public Opinion Quarterly 19:321-325, doi:10.1086/266577

    Examples
    --------
    >>> round(scott_pi([[20, 5], [10, 15]]).value, 4)
    0.3939
    """
    cells = square_table(table.matrix if isinstance(table, TwoByTwo) else table)
    one = np.eye(len(cells))
    rows = (one[:, None, :] + one[None, :, :]).reshape(-1, len(cells))  # the two labels of an item in cell (i, j)
    return fleiss_kappa(np.repeat(rows, cells.astype(int).ravel(), axis=0), level=level)


def specific_agreement(
    counts: ArrayLike | TwoByTwo,
    categories: Sequence[str] = CATEGORIES,
    *,
    level: float = 0.95,
    groups: Groups | None = None,
) -> dict[str, Estimate]:
    """Agreement by category [1]_: after one rater chose it, how often does another rater of the item too?

    sum r_ik (r_ik - 1) / sum r_ik (r_i - 1), which for two raters is 2a / (2a + b + c).

    Parameters
    ----------
    counts : TwoByTwo, or array_like of int, shape (n_items, n_categories)
        As in `fleiss_kappa`.
    categories : sequence of str
        The names of the columns.
    level : float
        Confidence level. With exactly two ratings on each item the statistic is 2q / (1 + q) of the share
        q = a / (a + b + c), and the interval is Wilson's for q, mapped alike; otherwise it is the linearised interval
        of a ratio of means [2]_ with n_items - 1 degrees of freedom.
    groups : sequence of hashable, one a row of `counts`, optional
        As in `fleiss_kappa`; with at least 20 of them the interval is the linearised, cluster-robust one.

    Returns
    -------
    dict of str to Estimate
        In [0, 1], by category. Undefined for a category that no item with two labels has.

    Raises
    ------
    ValueError
        If `counts` is not a table of counts with one column a category, or there is not one group a row.

    References
    ----------
    .. [1] Cicchetti, Feinstein (1990), J. Clin. Epidemiol. 43:551-558, doi:10.1016/0895-4356(90)90159-M
    .. [2] Graham, Bull (1998), J. Clin. Epidemiol. 51:763-771, doi:10.1016/S0895-4356(98)00048-1

    Examples
    --------
    >>> round(specific_agreement(TwoByTwo(a=40, b=9, c=6, d=45))["dissimilar"].value, 4)
    0.8421
    """
    r, groups = rated(counts.counts if isinstance(counts, TwoByTwo) else counts, groups, at_least=2)
    if r.shape[1] != len(categories):
        raise ValueError(f"counts has {r.shape[1]} columns for {len(categories)} categories")
    r_i = r.sum(axis=1)
    return {name: _specific(r[:, k], r_i, level, groups) for k, name in enumerate(categories)}


def _specific(r_k: Floats, r_i: Floats, level: float, groups: Groups | None) -> Estimate:
    agreeing, pairs = r_k * (r_k - 1), r_k * (r_i - 1)
    if not pairs.any():
        return Estimate(None, reason="no item with two labels has a label of this category")
    value = float(agreeing.sum() / pairs.sum())
    estimate = linearised(value, value + (agreeing - value * pairs) / pairs.mean(), level, groups=groups, lowest=0.0)
    numbers, few = numbered_groups(len(r_i), groups)
    if (r_i == 2).all() and (numbers is None or estimate.se is None):
        share = wilson(float((r_k == 2).sum()), float((r_k > 0).sum()), level)
        return replace(_mapped(share, lambda q: 2 * q / (1 + q)), reason=few)
    return estimate


def _mean_sign(n_plus: int, n_minus: int, n: int, level: float) -> Estimate:
    if n == 0:
        return Estimate(None, reason=NO_COMMON_ITEM)
    signs = np.repeat([1.0, -1.0, 0.0], [n_plus, n_minus, n - n_plus - n_minus])
    return linearised((n_plus - n_minus) / n, signs, level)


def _mapped(share: Estimate, to: Callable[[float], float], reason: str | None = None) -> Estimate:
    """A share and its interval under an increasing function; `reason` says why there is none."""
    if share.ends is None:
        return Estimate(None, reason=reason)
    value, low, high = share.ends
    return Estimate(to(value), low=to(low), high=to(high))
