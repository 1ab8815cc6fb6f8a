"""Test the hypothesis that raters agree no better than chance."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from analysis.agreement._coefficients import Categories, category_shares, fleiss_kappa, rated
from analysis.results import Result
from analysis.tables import Floats, Ratings


@dataclass(frozen=True, repr=False)
class ChanceTest(Result):
    """The result of the two-sided normal test of kappa = 0.

    `se0` is the standard error if kappa = 0; it is not valid for intervals. If the test is undefined, all numbers are
    None and `reason` says why.
    """

    z: float | None
    p: float | None
    se0: float | None
    reason: str | None = None


def fleiss_kappa_test(ratings: Ratings, categories: Categories | None = None) -> ChanceTest:
    """Test whether Fleiss' kappa is 0, with the standard error under chance agreement [1]_.

    The paper assumes that all items have the same number of ratings. Here, the variance of each item uses its own
    number of ratings, r_i. It is computed from the moments of r_i ratings drawn at random with probabilities p_k. If
    all r_i are equal, this is the formula of the paper.

    Parameters
    ----------
    ratings, categories
        As in `fleiss_kappa`.

    Returns
    -------
    ChanceTest
        Undefined if `fleiss_kappa` is undefined.

    Raises
    ------
    ValueError
        As in `fleiss_kappa`.

    References
    ----------
    .. [1] Fleiss, Nee, Landis (1979), Psychological Bulletin 86:974-977, doi:10.1037/0033-2909.86.5.974

    Examples
    --------
    >>> round(fleiss_kappa_test([[0, 2]] * 189 + [[2, 0]] * 135 + [[1, 1]] * 262).z, 3)
    2.376
    """
    kappa = fleiss_kappa(ratings, categories)
    if kappa.value is None:
        return ChanceTest(None, None, None, kappa.reason)
    r, _ = rated(ratings, categories=categories)
    p_k = category_shares(r)
    pe = float((p_k**2).sum())
    se0 = np.sqrt(_variances_by_chance(r, p_k).sum()) / (len(r) * (1 - pe))
    return _tested(kappa.value, float(se0))


def _variances_by_chance(r: Floats, p_k: Floats) -> Floats:
    """Return the variance of each item's linear term, n/n2 pa_i - 2 pe_i, for random ratings with probabilities p_k."""
    pe, cubes = (p_k**2).sum(), (p_k**3).sum()
    of_share, of_match = cubes - pe**2, pe * (1 - pe)  # Var p_x of one rating x, Var 1[x = y] of two
    r_i = r.sum(axis=1)
    shared = r_i >= 2
    scale = len(r) / shared.sum() * shared
    pairs = np.where(shared, r_i * (r_i - 1), 1.0)
    of_agreement = 2 * (2 * (r_i - 2) * of_share + of_match) / pairs  # a U-statistic of r_i ratings
    variances: Floats = scale**2 * of_agreement - 8 * scale * of_share / r_i + 4 * of_share / r_i
    return variances


def _tested(kappa: float, se0: float) -> ChanceTest:
    z = kappa / se0
    return ChanceTest(z, float(2 * special.ndtr(-abs(z))), se0)
