"""Percent agreement and chance-corrected coefficients of a count table."""

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from analysis.agreement import _values as values
from analysis.intervals import Estimate, Groups, linearised, numbered_groups, wilson
from analysis.tables import checked_counts

Floats = values.Floats

NO_PAIR = "no item has two labels"
ONE_CATEGORY = "only one category was used: expected agreement is 1"


def percent_agreement(counts: ArrayLike, *, level: float = 0.95, groups: Groups | None = None) -> Estimate:
    """Observed agreement: the mean over items of the share of agreeing pairs of ratings.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, n_categories)
        How many raters put each item in each category. Items with fewer than two ratings do not enter.
    level : float
        Confidence level. With exactly two ratings on each item that enters this is a share of items
        and the interval is Wilson's; otherwise the linearised interval over these items [1]_.
    groups : sequence of hashable, one a row of `counts`, optional
        As in `fleiss_kappa`; with at least 20 of them the interval is the cluster-robust one, not Wilson's.

    Returns
    -------
    Estimate
        In [0, 1]. Undefined if no item has two ratings.

    Raises
    ------
    ValueError
        If `counts` is not a table of counts with at least two columns, or there is not one group a row.

    References
    ----------
    .. [1] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600

    Examples
    --------
    >>> percent_agreement([[2, 0], [2, 0], [0, 2], [1, 1]]).value
    0.75
    """
    r, groups = rated(counts, groups, at_least=2)
    if not len(r):
        return Estimate(None, reason=NO_PAIR)
    pa_i = values.item_agreement(r)
    estimate = linearised(float(pa_i.mean()), pa_i, level, groups=groups, lowest=0.0)
    numbers, few = numbered_groups(len(r), groups)
    if (r.sum(axis=1) == 2).all() and (numbers is None or estimate.se is None):
        return replace(wilson(float(pa_i.sum()), len(r), level), reason=few)
    return estimate


def fleiss_kappa(counts: ArrayLike, *, level: float = 0.95, groups: Groups | None = None) -> Estimate:
    """Chance-corrected agreement, (pa - pe) / (1 - pe) [1]_, for any number of raters per item [2]_.

    Parameters
    ----------
    counts : array_like of int, shape (n_items, n_categories)
        How many raters put each item in each of the declared categories. Who they are may
        differ by item; rows without a rating are left out. For two raters it is Scott's pi.
    level : float
        Confidence level of the interval (t distribution, n_items - 1 degrees of freedom).
    groups : sequence of hashable, one a row of `counts`, optional
        Applications, say, whose items may be alike: the standard error is then cluster-robust with G - 1 degrees
        of freedom if there are at least 20; otherwise it stays the plain one, and `reason` says so.

    Returns
    -------
    Estimate
        1 at full agreement, 0 at chance. Undefined if no item has two ratings, or if only one
        category was ever used: pe is then 1, and a correction for chance has no meaning. Where all items agree
        alike, as at full agreement, there is no standard error and no interval.

    Raises
    ------
    ValueError
        If `counts` is not a table of counts with at least two columns, or there is not one group a row.

    References
    ----------
    .. [1] Fleiss (1971), Psychological Bulletin 76(5):378-382, doi:10.1037/h0031619
    .. [2] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600

    Examples
    --------
    >>> round(fleiss_kappa([[2, 0], [2, 0], [0, 2], [1, 1]]).value, 4)
    0.4667
    """
    r, groups = rated(counts, groups)
    p_k = category_shares(r)
    pe_i = r @ p_k / r.sum(axis=1)  # no row is without a rating
    return _chance_corrected(r, float(values.fleiss_chance(p_k)), pe_i, level, groups)


def gwet_ac1(counts: ArrayLike, *, level: float = 0.95, groups: Groups | None = None) -> Estimate:
    """Gwet's AC1 [1]_: chance agreement is taken from the raters' uncertainty, not from their habits.

    Parameters
    ----------
    counts, level, groups
        As in `fleiss_kappa`. The number of columns is the number of declared categories.

    Returns
    -------
    Estimate
        In [-1, 1]. Defined, and 1, if all raters always use one category. Undefined if no item has
        two ratings.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Gwet (2008), Br. J. Math. Stat. Psychol. 61:29-48, doi:10.1348/000711006X126600
    """
    r, groups = rated(counts, groups)
    p_k, q = category_shares(r), r.shape[1]
    pe_i = r @ (1 - p_k) / (r.sum(axis=1) * (q - 1))  # no row is without a rating
    return _chance_corrected(r, float(values.ac1_chance(p_k)), pe_i, level, groups)


def brennan_prediger(counts: ArrayLike, *, level: float = 0.95, groups: Groups | None = None) -> Estimate:
    """Agreement corrected for guessing evenly among the categories, (pa - 1/q) / (1 - 1/q) [1]_ (PABAK for q = 2 [2]_).

    Parameters
    ----------
    counts, level, groups
        As in `fleiss_kappa`. The number of columns is the number of declared categories.

    Returns
    -------
    Estimate
        In [-1, 1]. Undefined if no item has two ratings.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Brennan, Prediger (1981), Educ. Psychol. Meas. 41:687-699, doi:10.1177/001316448104100307
    .. [2] Byrt, Bishop, Carlin (1993), J. Clin. Epidemiol. 46:423-429, doi:10.1016/0895-4356(93)90018-V
    """
    r, groups = rated(counts, groups)
    q = r.shape[1]
    return _chance_corrected(r, 1 / q, np.full(len(r), 1 / q), level, groups)


def krippendorff_alpha(counts: ArrayLike, *, level: float = 0.95, groups: Groups | None = None) -> Estimate:
    """Krippendorff's alpha for nominal data with missing ratings [1]_.

    Parameters
    ----------
    counts, level, groups
        As in `fleiss_kappa`. Items with fewer than two ratings do not enter at all.

    Returns
    -------
    Estimate
        1 at full agreement, 0 at chance. Undefined if no item has two ratings or only one category
        was used.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
       https://repository.upenn.edu/handle/20.500.14332/2089
    .. [2] Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed. (standard error)
    """
    r, groups = rated(counts, groups, at_least=2)
    if not len(r):
        return Estimate(None, reason=NO_PAIR)
    if (r.sum(axis=0) > 0).sum() == 1:
        return Estimate(None, reason=ONE_CATEGORY)
    alpha = float(values.alpha_values(r, np.ones((1, len(r))))[0])
    terms = _alpha_terms(r)
    return linearised(alpha, terms - terms.mean() + alpha, level, groups=groups)


def rated(counts: ArrayLike, groups: Groups | None = None, *, at_least: int = 1) -> tuple[Floats, pd.Series | None]:
    """The checked rows of a count table with that many ratings, and the groups of these rows."""
    checked = checked_counts(counts)
    r = checked[checked.sum(axis=1) >= at_least]
    if groups is None:
        return r, None
    table = np.asarray(counts, dtype=float)
    n_ratings = table.sum(axis=1) if table.ndim == 2 else np.zeros(0)
    if len(groups) != len(n_ratings):
        raise ValueError(f"groups has {len(groups)} entries for {len(n_ratings)} rows of counts")
    return r, pd.Series(list(groups), dtype=object)[n_ratings >= max(at_least, 1)]


def category_shares(r: Floats) -> Floats:
    """p_k: the mean over items of the share of their ratings in category k."""
    shares: Floats = values.category_shares(r, np.ones((1, len(r))))[0]
    return shares


def _chance_corrected(r: Floats, pe: float, pe_i: Floats, level: float, groups: Groups | None) -> Estimate:
    """(pa - pe) / (1 - pe) with Gwet's linearised standard error; `pe_i` is the item's part in pe."""
    n, shared = len(r), r.sum(axis=1) >= 2
    if not shared.any():
        return Estimate(None, reason=NO_PAIR)
    if 1 - pe < 1e-12:
        return Estimate(None, reason=ONE_CATEGORY)
    pa_i = values.item_agreement(r)
    kappa = float(values.corrected(values.observed(r, np.ones((1, n))), np.array([pe]))[0])
    k_i = n / shared.sum() * (pa_i - pe * shared) / (1 - pe)
    x_i = k_i - 2 * (1 - kappa) * (pe_i - pe) / (1 - pe)
    return linearised(kappa, x_i, level, groups=groups)


def _alpha_terms(r: Floats) -> Floats:
    """Gwet's item-wise terms of alpha; his variance leaves out its small-sample term: `prime` is alpha without it."""
    r_i, n_k = r.sum(axis=1), r.sum(axis=0)
    mean_r, p_k = r_i.mean(), n_k / n_k.sum()
    pe, weight = float((p_k**2).sum()), (r_i - mean_r) / mean_r
    agreeing = (r * (r - 1)).sum(axis=1) / (mean_r * (r_i - 1))
    prime = (agreeing.mean() - pe) / (1 - pe)
    k_i = (agreeing - agreeing.mean() * weight - pe) / (1 - pe)
    pe_i = r @ p_k / mean_r - pe * weight
    terms: Floats = k_i - 2 * (1 - prime) * (pe_i - pe) / (1 - pe)
    return terms
