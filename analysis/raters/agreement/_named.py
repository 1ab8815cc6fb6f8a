"""Coefficients of agreement that need to know who gave which label, for any number of raters."""

from collections.abc import Hashable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from analysis.arrays import Floats
from analysis.categories import CATEGORIES
from analysis.raters.agreement._formulas import LEAST_RARE, NO_PAIR, ONE_CATEGORY, Categories
from analysis.raters.tables import (
    Ratings,
    codes_of_wide,
    declared_categories,
    holds_ratings,
    is_label_table,
    wide_labels,
)
from analysis.statistics.intervals import Estimate, checked_level


def light_kappa(ratings: Ratings, categories: Categories | None = None, *, level: float = 0.95) -> Estimate:
    """Compute Light's kappa, the mean of Cohen's kappa over all pairs of raters [1]_.

    Parameters
    ----------
    ratings : DataFrame or array_like
        A label table or wide ratings, as in `fleiss_kappa`; a count table does not show who gave which label. Each pair
        counts alike, on the items that both raters labelled.
    categories : sequence of hashable, optional
        As in `fleiss_kappa`.
    level : float
        Confidence level of the interval from a jackknife over items (t distribution, n_items - 1 degrees of freedom).

    Returns
    -------
    Estimate
        In [-1, 1]; for two raters, Cohen's kappa. Undefined if no two raters have a common item, or both raters of a
        pair always use the same category. There is no interval at full agreement, or if fewer than three items have a
        label of the rarer category.

    Raises
    ------
    ValueError
        If `ratings` is neither a label table nor wide ratings.

    References
    ----------
    .. [1] Light (1971), Psychological Bulletin 76(5):365-377, doi:10.1037/h0031643

    Examples
    --------
    >>> wide = [["similar", "similar", "similar"], ["dissimilar", "dissimilar", "similar"], ["similar"] * 3,
    ...         ["dissimilar"] * 3]
    >>> round(light_kappa(wide).value, 4)  # Cohen's kappa of the pairs: 1, .5 and .5
    0.6667
    """
    raters, codes, q = _codes(ratings, categories)
    pairs = [(j, k) for j, k in combinations(range(len(raters)), 2) if ((codes[:, j] >= 0) & (codes[:, k] >= 0)).any()]
    if not pairs:
        return Estimate(None, reason=NO_PAIR)
    values, changes = [], np.zeros(len(codes))
    for j, k in pairs:
        both = (codes[:, j] >= 0) & (codes[:, k] >= 0)
        cells = codes[both, j] * q + codes[both, k]
        table = np.bincount(cells, minlength=q * q).astype(float)
        without = np.where(table[:, None] > 0, table - np.eye(q * q), table)  # one item of each cell is left out
        kappas = _cohen(np.vstack([table, without]).reshape(-1, q, q))
        if np.isnan(kappas[0]):
            return Estimate(None, reason=f"{raters[j]} and {raters[k]} always use the same category")
        values.append(kappas[0])
        changes[both] += np.nan_to_num(kappas[1:] - kappas[0])[cells]
    return _jackknifed(float(np.mean(values)), changes / len(pairs), codes, q, level)


def conger_kappa(ratings: Ratings, categories: Categories | None = None, *, level: float = 0.95) -> Estimate:
    """Compute Conger's kappa, which is Cohen's kappa for any number of raters [1]_, with missing labels [2]_.

    Expected agreement is the mean over pairs of raters of the agreement of their own shares of the categories. Fleiss'
    kappa uses the shares of all labels instead.

    Parameters
    ----------
    ratings, categories, level
        As in `light_kappa`.

    Returns
    -------
    Estimate
        1 for full agreement, 0 for chance agreement; for two raters without missing labels, Cohen's kappa. Undefined if
        no item has two labels, or all raters always use the same category. There is no interval at full agreement, or
        if fewer than three items have a label of the rarer category.

    Raises
    ------
    ValueError
        If `ratings` is neither a label table nor wide ratings.

    References
    ----------
    .. [1] Conger (1980), Psychological Bulletin 88(2):322-328, doi:10.1037/0033-2909.88.2.322
    .. [2] Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 2

    Examples
    --------
    >>> wide = [["similar", "similar", "similar"], ["dissimilar", "dissimilar", "similar"], ["similar"] * 3,
    ...         ["dissimilar"] * 3]
    >>> round(conger_kappa(wide).value, 4)  # (5/6 - 1/2) / (1 - 1/2)
    0.6667
    """
    _, codes, q = _codes(ratings, categories)
    codes = codes[:, (codes >= 0).any(axis=0)]
    given = codes[:, :, None] == np.arange(q)
    r = given.sum(axis=1)
    n_labels = r.sum(axis=1)
    shared = n_labels >= 2
    if not shared.any():
        return Estimate(None, reason=NO_PAIR)
    agreement = np.divide((r * (r - 1)).sum(axis=1), n_labels * (n_labels - 1), out=np.zeros(len(r)), where=shared)
    # the first row has all items; in each other row, one item is left out
    left_out = np.concatenate([np.zeros((1, *given.shape[1:])), given.astype(float)])
    of_rater = given.sum(axis=0) - left_out
    total = of_rater.sum(axis=2, keepdims=True)
    shares = np.divide(of_rater, total, out=np.zeros_like(of_rater), where=total > 0)
    n_raters = np.maximum((total > 0).sum(axis=1), 1)
    mean = shares.sum(axis=1) / n_raters
    spread = (np.square(shares).sum(axis=1) - n_raters * np.square(mean)) / np.maximum(n_raters - 1, 1)
    expected = (np.square(mean) - spread / n_raters).sum(axis=1)
    n_shared = shared.sum() - np.concatenate([[0], shared])
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (agreement.sum() - np.concatenate([[0], agreement])) / n_shared
        values = (observed - expected) / (1 - expected)
    if expected[0] > 1 - 1e-12:
        return Estimate(None, reason=ONE_CATEGORY)
    changes = np.nan_to_num(values[1:] - values[0], nan=0.0, posinf=0.0, neginf=0.0)  # 0 if undefined without the item
    return _jackknifed(float(values[0]), changes, codes, q, level)


def _codes(ratings: Ratings, categories: Categories | None) -> tuple[list[Any], NDArray[np.int64], int]:
    """Return the raters, the place of each label among the categories (-1 if missing), and the number of categories."""
    declared: Sequence[Hashable] = CATEGORIES if categories is None else declared_categories(categories)
    if is_label_table(ratings):
        raters, wide = wide_labels(ratings, declared)
        return raters, np.where(np.isnan(wide), -1, wide).astype(np.int64), len(declared)
    if not holds_ratings(ratings, categories):
        raise ValueError("a count table does not show who gave which label: pass a label table, or wide ratings.")
    codes = codes_of_wide(ratings, declared)
    if codes.ndim != 2:
        raise ValueError(f"wide ratings must have shape (n_items, n_raters), got {codes.shape}")
    names = list(ratings.columns) if isinstance(ratings, pd.DataFrame) else list(range(1, codes.shape[1] + 1))
    return names, codes, len(declared)


def _cohen(tables: Floats) -> Floats:
    """Return Cohen's kappa of each table, shape (n, q, q); NaN if both raters always use the same category."""
    n = tables.sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = np.trace(tables, axis1=1, axis2=2) / n
        expected = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1) / n**2
        kappas: Floats = np.where(expected < 1 - 1e-12, (observed - expected) / (1 - expected), np.nan)
    return kappas


def _jackknifed(value: float, changes: Floats, codes: NDArray[np.int64], q: int, level: float) -> Estimate:
    """Return a coefficient with the interval from its changes if each item is left out."""
    checked_level(level)
    used = (codes >= 0).sum(axis=1) >= 2
    n, left = int(used.sum()), changes[used]
    se = float(np.sqrt((n - 1) / n * np.square(left - left.mean()).sum()))
    if n < 2 or se < 1e-12:
        return Estimate(value, reason="no variation between items: no standard error")
    with_category = [int((codes[used] == category).any(axis=1).sum()) for category in range(q)]
    rare = min(number for number in with_category if number)
    if rare < LEAST_RARE:
        items = "1 item has" if rare == 1 else f"{rare} items have"
        return Estimate(value, se, reason=f"only {items} a label of the rarer category: no interval")
    half = float(special.stdtrit(n - 1, 0.5 + level / 2)) * se
    return Estimate(value, se, max(-1.0, value - half), min(1.0, value + half))
