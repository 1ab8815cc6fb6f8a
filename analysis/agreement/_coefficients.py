"""Percent agreement and chance-corrected coefficients of a count table."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.intervals import Estimate, linearised, wilson
from analysis.tables import checked_counts

NO_PAIR = "no item has two labels"
ONE_CATEGORY = "only one category was used: expected agreement is 1"


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
