"""Agreement of pairs of raters, and whether all pairs agree alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from analysis.agreement._coefficients import ONE_CATEGORY, Floats
from analysis.categories import CATEGORIES
from analysis.intervals import Estimate, wilson
from analysis.tables import checked_labels


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of two raters on the items both labelled (one row of Table 1)."""

    a: str
    b: str
    n: int
    agree: int
    percent: Estimate
    cohen_kappa: Estimate


@dataclass(frozen=True)
class Homogeneity:
    """Test of "all pairs of raters share one agreement rate"; where undefined, `p` is None."""

    chi2: float | None
    df: int | None
    p: float | None
    reason: str | None = None


def cohen_kappa(table: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Cohen's kappa of two raters [1]_ with the large-sample standard error [2]_.

    Parameters
    ----------
    table : array_like of int, shape (n_categories, n_categories)
        Items by category of the first rater (rows) and of the second (columns).
    level : float
        Confidence level of the normal interval.

    Returns
    -------
    Estimate
        In [-1, 1]. Undefined without items, or if both raters always use the same category. Exactly 0
        if one rater is constant and the other is not; `reason` then says that it tells nothing. At full agreement
        there is no standard error and no interval.

    Raises
    ------
    ValueError
        If `table` is not a square table of counts.

    References
    ----------
    .. [1] Cohen (1960), Educ. Psychol. Meas. 20:37-46, doi:10.1177/001316446002000104
    .. [2] Fleiss, Cohen, Everitt (1969), Psychological Bulletin 72:323-327, doi:10.1037/h0028106

    Examples
    --------
    >>> round(cohen_kappa([[20, 5], [10, 15]]).value, 3)
    0.4
    """
    counts = square_table(table)
    n = counts.sum()
    if n == 0:
        return Estimate(None, reason="no item was labelled by both")
    p = counts / n
    row, column = p.sum(axis=1), p.sum(axis=0)
    po, pe = float(np.trace(p)), float(row @ column)
    if (row == 1).any() and (column == 1).any() and po == 1:
        return Estimate(None, reason=ONE_CATEGORY)
    if (row == 1).any() or (column == 1).any():
        return Estimate(0.0, reason="one rater used a single category: kappa is 0 whatever the other did")
    kappa = (po - pe) / (1 - pe)
    both = row[None, :] + column[:, None]  # p_.i + p_j. of the source, for cell (i, j)
    on = np.trace(p * (1 - both.T * (1 - kappa)) ** 2)
    off = (1 - kappa) ** 2 * ((p * both**2).sum() - np.trace(p * both**2))
    variance = (on + off - (kappa - pe * (1 - kappa)) ** 2) / (n * (1 - pe) ** 2)
    se = float(np.sqrt(max(variance, 0.0)))
    if se < 1e-7:  # full agreement or full disagreement; rounding leaves up to 1e-8
        return Estimate(kappa, reason="no variation between items: no standard error")
    half = float(special.ndtri((1 + level) / 2)) * se
    return Estimate(kappa, se, max(kappa - half, -1.0), min(kappa + half, 1.0))


def pair_agreements(
    labels: pd.DataFrame,
    categories: Sequence[str] = CATEGORIES,
    *,
    level: float = 0.95,
    interval: Callable[[float, float, float], Estimate] = wilson,
) -> list[PairAgreement]:
    """Agreement of every pair of raters that labelled an item in common.

    Parameters
    ----------
    labels : DataFrame
        Label table: columns item, rater, category; at most one label an (item, rater).
    categories : sequence of str
        The declared categories.
    level : float
        Confidence level of the interval of the share and of the interval of kappa.
    interval : callable
        Interval of the share: `analysis.intervals.wilson` or `clopper_pearson`.

    Returns
    -------
    list of PairAgreement
        Sorted by rater; pairs without a common item are left out.

    Raises
    ------
    ValueError
        If the label table is not one (`analysis.tables.checked_labels`).
    """
    pairs = []
    for (a, b), table in pair_tables(labels, categories).items():
        agree, n = int(np.trace(table)), int(table.sum())
        pairs.append(PairAgreement(a, b, n, agree, interval(agree, n, level), cohen_kappa(table, level=level)))
    return pairs


def pair_tables(
    labels: pd.DataFrame, categories: Sequence[str] = CATEGORIES
) -> dict[tuple[str, str], NDArray[np.int64]]:
    """The table of every pair of raters that labelled an item in common.

    Parameters
    ----------
    labels : DataFrame
        Label table: columns item, rater, category; at most one label an (item, rater).
    categories : sequence of str
        The declared categories, in the order of rows and columns.

    Returns
    -------
    dict of (rater, rater) to ndarray of int, shape (n_categories, n_categories)
        Sorted by rater; rows are the first rater's categories. Pairs without a common item are left out.

    Raises
    ------
    ValueError
        If the label table is not one (`analysis.tables.checked_labels`).
    """
    return tables_of(*wide_labels(labels, categories), len(categories))


def wide_labels(labels: pd.DataFrame, categories: Sequence[str] = CATEGORIES) -> tuple[list[str], Floats]:
    """The sorted raters, and the number of the category that each gave each item, shape (n_items, n_raters), or NaN."""
    table = checked_labels(labels, categories)
    item, _ = pd.factorize(table["item"], use_na_sentinel=False)
    rater, names = pd.factorize(table["rater"], sort=True, use_na_sentinel=False)
    wide = np.full((item.max(initial=-1) + 1, len(names)), np.nan)
    wide[item, rater] = table["category"].map({name: k for k, name in enumerate(categories)}).to_numpy(np.float64)
    return list(names), wide


def tables_of(raters: Sequence[str], wide: Floats, q: int) -> dict[tuple[str, str], NDArray[np.int64]]:
    """`pair_tables` of what `wide_labels` gives."""
    tables = {}
    for j, k in combinations(range(len(raters)), 2):
        cells = wide[:, j] * q + wide[:, k]  # NaN where one of them is missing
        cells = cells[~np.isnan(cells)].astype(np.int64)
        if len(cells):
            tables[raters[j], raters[k]] = np.bincount(cells, minlength=q * q).reshape(q, q)
    return tables


def pair_homogeneity(agree: Sequence[int], n: Sequence[int]) -> Homogeneity:
    """Pearson's chi-square test that all pairs share one agreement rate.

    The items of the pairs must differ: an item seen by three raters would enter three pairs, which are
    then not independent (`analysis.report` passes items with exactly two first labels only).

    Parameters
    ----------
    agree, n : sequences of int, one entry a pair
        Items on which the pair agrees, and items both labelled.

    Returns
    -------
    Homogeneity
        Undefined with fewer than two pairs, or if all pairs always or never agree.

    Raises
    ------
    ValueError
        If the lengths differ or an entry is not within 0 <= agree <= n.

    Examples
    --------
    >>> round(pair_homogeneity([46, 56, 34, 52, 75, 61], [98, 98, 97, 98, 97, 98]).chi2, 2)
    40.13
    """
    x, m = np.asarray(agree, dtype=float), np.asarray(n, dtype=float)
    if x.shape != m.shape or x.ndim != 1 or (x < 0).any() or (x > m).any():
        raise ValueError(f"agree and n must be lists of equal length with 0 <= agree <= n, got {agree} and {n}")
    x, m = x[m > 0], m[m > 0]
    if len(x) < 2:
        return Homogeneity(None, None, None, "fewer than two pairs share items with exactly two labels")
    rate = x.sum() / m.sum()
    if rate in (0, 1):
        return Homogeneity(None, None, None, f"all pairs {'always' if rate else 'never'} agree")
    chi2, df = float(((x - m * rate) ** 2 / (m * rate * (1 - rate))).sum()), len(x) - 1
    return Homogeneity(chi2, df, float(special.chdtrc(df, chi2)))


def square_table(table: ArrayLike) -> NDArray[np.float64]:
    """The table of two raters as floats, checked; the message names the offending shape or values."""
    counts = np.asarray(table, dtype=float)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.shape[0] < 2:
        raise ValueError(f"table must be square with at least two categories, got shape {counts.shape}")
    if not (np.isfinite(counts) & (counts >= 0) & (counts == np.floor(counts))).all():
        raise ValueError(f"table must hold whole numbers >= 0, got {counts.tolist()}")
    return counts
