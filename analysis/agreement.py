"""How far raters agree: shares and chance-corrected coefficients with intervals.

Notation of the sources: item i has r_i ratings, r_ik of them in category k; n items, n2 of them with
r_i >= 2; q declared categories. Binary tables put *dissimilar* in the second column.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from analysis.categories import CATEGORIES
from analysis.intervals import Estimate, linearised, wilson
from analysis.tables import checked_counts, checked_labels

NO_PAIR = "no item has two labels"
ONE_CATEGORY = "only one category was used: expected agreement is 1"
FEW_MINORITY_ITEMS = 10

_BANDS = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"), (1.0, "almost perfect"))


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


def percent_agreement(counts: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Observed agreement: the mean over items of the share of agreeing pairs of ratings.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, n_categories)
        How many raters put each item in each category. Items with fewer than two ratings do not enter.
    level : float
        Confidence level. With exactly two ratings on each item that enters this is a share of items
        and the interval is Wilson's; otherwise the linearised interval over these items [1]_.

    Returns
    -------
    Estimate
        In [0, 1]. Undefined if no item has two ratings.

    Raises
    ------
    ValueError
        If `counts` is not a table of counts with at least two columns.

    References
    ----------
    .. [1] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600

    Examples
    --------
    >>> percent_agreement([[2, 0], [2, 0], [0, 2], [1, 1]]).value
    0.75
    """
    r = checked_counts(counts)
    r = r[r.sum(axis=1) >= 2]
    if not len(r):
        return Estimate(None, reason=NO_PAIR)
    pa_i = _item_agreement(r)
    if (r.sum(axis=1) == 2).all():
        return wilson(float(pa_i.sum()), len(r), level)
    return linearised(float(pa_i.mean()), pa_i, level, lowest=0.0)


def fleiss_kappa(counts: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Chance-corrected agreement, (pa - pe) / (1 - pe) [1]_, for any number of raters per item [2]_.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, n_categories)
        How many raters put each item in each of the declared categories. Who they are may
        differ by item; rows without a rating are left out. For two raters it is Scott's pi.
    level : float
        Confidence level of the interval (t distribution, n_items - 1 degrees of freedom).

    Returns
    -------
    Estimate
        1 at full agreement, 0 at chance. Undefined if no item has two ratings, or if only one
        category was ever used: pe is then 1, and a correction for chance has no meaning.

    Raises
    ------
    ValueError
        If `counts` is not a table of counts with at least two columns.

    References
    ----------
    .. [1] Fleiss (1971), Psychological Bulletin 76(5):378-382, doi:10.1037/h0031619
    .. [2] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600

    Examples
    --------
    >>> round(fleiss_kappa([[2, 0], [2, 0], [0, 2], [1, 1]]).value, 4)
    0.4667
    """
    r = checked_counts(counts)
    p_k = _category_shares(r)
    pe_i = r @ p_k / r.sum(axis=1)  # no row is without a rating
    return _chance_corrected(r, float((p_k**2).sum()), pe_i, level)


def gwet_ac1(counts: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Gwet's AC1 [1]_: chance agreement is taken from the raters' uncertainty, not from their habits.

    Parameters
    ----------
    counts, level
        As in `fleiss_kappa`. The number of columns is the number of declared categories.

    Returns
    -------
    Estimate
        In [-1, 1]. Defined, and 1, if all raters always use one category. Undefined if no item has
        two ratings.

    Raises
    ------
    ValueError
        If `counts` is not a table of counts with at least two columns.

    References
    ----------
    .. [1] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600
    """
    r = checked_counts(counts)
    p_k, q = _category_shares(r), r.shape[1]
    pe_i = r @ (1 - p_k) / (r.sum(axis=1) * (q - 1))  # no row is without a rating
    return _chance_corrected(r, float((p_k * (1 - p_k)).sum() / (q - 1)), pe_i, level)


def brennan_prediger(counts: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Agreement corrected for guessing evenly among the categories, (pa - 1/q) / (1 - 1/q) [1]_ (PABAK for q = 2 [2]_).

    Parameters
    ----------
    counts, level
        As in `fleiss_kappa`. The number of columns is the number of declared categories.

    Returns
    -------
    Estimate
        In [-1, 1]. Undefined if no item has two ratings.

    Raises
    ------
    ValueError
        If `counts` is not a table of counts with at least two columns.

    References
    ----------
    .. [1] Brennan, Prediger (1981), Educ. Psychol. Meas. 41:687-699, doi:10.1177/001316448104100307
    .. [2] Byrt, Bishop, Carlin (1993), J. Clin. Epidemiol. 46:423-429, doi:10.1016/0895-4356(93)90018-V
    """
    r = checked_counts(counts)
    q = r.shape[1]
    return _chance_corrected(r, 1 / q, np.full(len(r), 1 / q), level)


def krippendorff_alpha(counts: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Krippendorff's alpha for nominal data with missing ratings [1]_.

    Parameters
    ----------
    counts, level
        As in `fleiss_kappa`. Items with fewer than two ratings do not enter at all.

    Returns
    -------
    Estimate
        1 at full agreement, 0 at chance. Undefined if no item has two ratings or only one category
        was used.

    Raises
    ------
    ValueError
        If `counts` is not a table of counts with at least two columns.

    References
    ----------
    .. [1] Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
       https://repository.upenn.edu/handle/20.500.14332/2089
    .. [2] Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed. (standard error)
    """
    r = checked_counts(counts)
    r = r[r.sum(axis=1) >= 2]
    if not len(r):
        return Estimate(None, reason=NO_PAIR)
    r_i, n_k = r.sum(axis=1), r.sum(axis=0)
    total = n_k.sum()  # N of the source
    expected = total**2 - (n_k**2).sum()
    if expected == 0:
        return Estimate(None, reason=ONE_CATEGORY)
    disagreeing = ((r * (r_i[:, None] - r)).sum(axis=1) / (r_i - 1)).sum()
    alpha = float(1 - (total - 1) * disagreeing / expected)
    # The source's variance leaves out the small-sample term of alpha: `prime` is alpha without it.
    mean_r, p_k = r_i.mean(), n_k / total
    pe, weight = float((p_k**2).sum()), (r_i - mean_r) / mean_r
    agreeing = (r * (r - 1)).sum(axis=1) / (mean_r * (r_i - 1))
    prime = (agreeing.mean() - pe) / (1 - pe)
    k_i = (agreeing - agreeing.mean() * weight - pe) / (1 - pe)
    pe_i = r @ p_k / mean_r - pe * weight
    x_i = k_i - 2 * (1 - prime) * (pe_i - pe) / (1 - pe)
    return linearised(alpha, x_i - prime + alpha, level)


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
        if one rater is constant and the other is not; `reason` then says that it tells nothing.

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
    counts = _square_table(table)
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
    if n < 2:
        return Estimate(kappa, reason="one item: no standard error")
    both = row[None, :] + column[:, None]  # p_.i + p_j. of the source, for cell (i, j)
    on = np.trace(p * (1 - both.T * (1 - kappa)) ** 2)
    off = (1 - kappa) ** 2 * ((p * both**2).sum() - np.trace(p * both**2))
    variance = (on + off - (kappa - pe * (1 - kappa)) ** 2) / (n * (1 - pe) ** 2)
    se = float(np.sqrt(max(variance, 0.0)))
    half = float(special.ndtri((1 + level) / 2)) * se
    return Estimate(kappa, se, max(kappa - half, -1.0), min(kappa + half, 1.0))


def pair_agreements(
    labels: pd.DataFrame, categories: Sequence[str] = CATEGORIES, *, level: float = 0.95
) -> list[PairAgreement]:
    """Agreement of every pair of raters that labelled an item in common.

    Parameters
    ----------
    labels : DataFrame
        Label table: columns item, rater, category; at most one label an (item, rater).
    categories : sequence of str
        The declared categories.
    level : float
        Confidence level of Wilson's interval and of the interval of kappa.

    Returns
    -------
    list of PairAgreement
        Sorted by rater; pairs without a common item are left out.

    Raises
    ------
    ValueError
        If the label table is not one (`analysis.tables.checked_labels`).
    """
    wide = checked_labels(labels, categories).pivot(index="item", columns="rater", values="category")
    pairs = []
    for a, b in combinations(sorted(wide.columns), 2):
        both = wide[[a, b]].dropna()
        if not len(both):
            continue
        table = pd.crosstab(both[a], both[b]).reindex(index=list(categories), columns=list(categories), fill_value=0)
        agree, n = int(np.trace(table.to_numpy())), len(both)
        pairs.append(PairAgreement(a, b, n, agree, wilson(agree, n, level), cohen_kappa(table, level=level)))
    return pairs


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


def band(kappa: float | None) -> str | None:
    """Landis and Koch's word for a kappa [1]_; show it for both ends of the interval, not for the value.

    Parameters
    ----------
    kappa : float or None
        In [-1, 1]. Their table leaves [0, 0.01) open; here it is "slight".

    Returns
    -------
    str or None
        poor, slight, fair, moderate, substantial or almost perfect; None for None.

    References
    ----------
    .. [1] Landis, Koch (1977), Biometrics 33:159-174, doi:10.2307/2529310

    Examples
    --------
    >>> band(0.098)
    'slight'
    """
    if kappa is None:
        return None
    if kappa < 0:
        return "poor"
    return next(word for upper, word in _BANDS if kappa <= upper)


def minority_warning(counts: ArrayLike) -> str | None:
    """A warning where so few items have a label of the rarer category that intervals of kappa cannot be trusted.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, n_categories)
        As in `fleiss_kappa`.

    Returns
    -------
    str or None
        With fewer than ten such items the true coverage of a 95 % interval falls to about 70 %.
    """
    r = checked_counts(counts)
    r = r[r.sum(axis=1) >= 2]
    if not len(r):
        return None
    used = r[:, r.sum(axis=0) > 0]
    if used.shape[1] < 2:
        return None
    n_minority = int((r[:, int(np.argmin(np.where(r.sum(axis=0) > 0, r.sum(axis=0), np.inf)))] > 0).sum())
    if n_minority >= FEW_MINORITY_ITEMS:
        return None
    return f"interval unreliable: only {n_minority} items have a label of the rarer category"


def _item_agreement(r: NDArray[np.float64]) -> NDArray[np.float64]:
    """pa_i: the share of agreeing pairs of ratings of each item; 0 where there is no pair."""
    r_i = r.sum(axis=1)
    pairs = r_i * (r_i - 1)
    shares = np.zeros(len(r))
    np.divide((r * (r - 1)).sum(axis=1), pairs, out=shares, where=pairs > 0)
    return shares


def _category_shares(r: NDArray[np.float64]) -> NDArray[np.float64]:
    """p_k: the mean over items of the share of their ratings in category k."""
    shares: NDArray[np.float64] = (r / r.sum(axis=1, keepdims=True)).mean(axis=0) if len(r) else np.zeros(r.shape[1])
    return shares


def _chance_corrected(r: NDArray[np.float64], pe: float, pe_i: NDArray[np.float64], level: float) -> Estimate:
    """(pa - pe) / (1 - pe) with Gwet's linearised standard error; `pe_i` is the item's part in pe."""
    n, shared = len(r), r.sum(axis=1) >= 2
    if not shared.any():
        return Estimate(None, reason=NO_PAIR)
    if np.isclose(pe, 1, rtol=0, atol=1e-12):
        return Estimate(None, reason=ONE_CATEGORY)
    pa_i = _item_agreement(r)
    kappa = float((pa_i[shared].mean() - pe) / (1 - pe))
    k_i = n / shared.sum() * (pa_i - pe * shared) / (1 - pe)
    x_i = k_i - 2 * (1 - kappa) * (pe_i - pe) / (1 - pe)
    return linearised(kappa, x_i, level)


def _square_table(table: ArrayLike) -> NDArray[np.float64]:
    counts = np.asarray(table, dtype=float)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.shape[0] < 2:
        raise ValueError(f"table must be square with at least two categories, got shape {counts.shape}")
    if not (np.isfinite(counts) & (counts >= 0) & (counts == np.floor(counts))).all():
        raise ValueError(f"table must hold whole numbers >= 0, got {counts.tolist()}")
    return counts
