"""Tests of a coefficient, and words for its size."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from analysis.arrays import Floats
from analysis.categories import CATEGORIES
from analysis.raters.agreement._coefficients import fleiss_kappa, row_of
from analysis.raters.agreement._formulas import (
    Categories,
    CountFormula,
    Weights,
    category_shares,
    category_weights,
    rated,
)
from analysis.raters.tables import Ratings, count_table
from analysis.statistics.bootstrap import N_DRAWS, bootstrap
from analysis.statistics.intervals import Estimate, Groups, checked_level
from analysis.statistics.results import Result


def bootstrap_coefficient(
    coefficient: Callable[..., Estimate],
    ratings: Ratings,
    categories: Categories | None = None,
    *,
    rng: np.random.Generator,
    weights: Weights = None,
    n_draws: int = N_DRAWS,
    level: float = 0.95,
    groups: Groups | None = None,
) -> Estimate:
    """Compute a coefficient of agreement with a bootstrap percentile interval.

    The bootstrap resamples items and keeps all ratings of an item together.

    Parameters
    ----------
    coefficient : callable
        `percent_agreement`, `fleiss_kappa`, `gwet_ac1`, `gwet_ac2`, `brennan_prediger` or `krippendorff_alpha`.
    ratings, categories, weights
        As in `fleiss_kappa`.
    rng : Generator
    n_draws : int
        Number of draws, >= 1.
    level : float
        Level of the interval.
    groups : sequence of hashable, one per item, optional
        Resample whole groups, such as applications, instead of items. Unlike in `fleiss_kappa`, any number of groups is
        allowed.

    Returns
    -------
    Estimate
        `se` is the standard deviation over the draws. The result is undefined if the coefficient is undefined. `reason`
        states how many undefined draws were left out. If the items do not vary, there is no interval, and `reason` says
        so.

    Raises
    ------
    ValueError
        If `coefficient` is not one of these functions, or rejects `ratings` or `groups`.

    References
    ----------
    Efron, Tibshirani (1993), An Introduction to the Bootstrap, ch. 13, doi:10.1201/9780429246593

    Examples
    --------
    >>> from analysis.raters.agreement import fleiss_kappa
    >>> counts = [[2, 0]] * 30 + [[1, 1]] * 20 + [[0, 2]] * 10
    >>> kappa = bootstrap_coefficient(fleiss_kappa, counts, rng=np.random.default_rng(1))
    >>> kappa.low < kappa.value < kappa.high
    True
    """
    row, formula = row_of(coefficient)
    if row.ordered and weights is None:
        weights = "linear"
    options = {} if weights is None else {"weights": weights}
    plain = coefficient(ratings, categories, level=level, **options)
    if plain.value is None:
        return Estimate(None, reason=plain.reason)
    r, groups = rated(ratings, groups, categories)
    w = category_weights(weights, r.shape[1])
    rows, number = np.unique(r, axis=0, return_inverse=True)  # count tables have few distinct rows
    kinds = number.ravel()  # numpy 2.0 returns a second axis

    def statistic(weights: Floats) -> Floats:
        return formula(rows, weights, w)[0]

    return bootstrap(statistic, len(r), rng=rng, n_draws=n_draws, level=level, groups=groups, kinds=kinds)


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


def fleiss_kappa_test(
    ratings: Ratings, categories: Categories | None = None, *, groups: Groups | None = None
) -> ChanceTest:
    """Test whether Fleiss' kappa is 0, with the standard error under chance agreement [1]_.

    The paper assumes that all items have the same number of ratings. Here, the variance of each item uses its own
    number of ratings, r_i. It is computed from the moments of r_i ratings drawn at random with probabilities p_k. If
    all r_i are equal, this is the formula of the paper.

    Parameters
    ----------
    ratings, categories
        As in `fleiss_kappa`.
    groups : sequence of hashable, one per item, optional
        Groups of similar items, as in `fleiss_kappa`. The standard error under chance agreement is multiplied by the
        ratio of the two standard errors of kappa, with and without groups, if it is above 1.

    Returns
    -------
    ChanceTest
        Undefined if `fleiss_kappa` is undefined, or has no standard error by group.

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
    ratio = 1.0
    if groups is not None and kappa.se is not None:
        grouped = fleiss_kappa(ratings, categories, groups=groups)
        if grouped.se is None:
            return ChanceTest(None, None, None, grouped.reason)
        ratio = max(1.0, grouped.se / kappa.se)
    r, _ = rated(ratings, categories=categories)
    p_k = category_shares(r)
    pe = float((p_k**2).sum())
    se0 = np.sqrt(_variances_by_chance(r, p_k).sum()) / (len(r) * (1 - pe))
    return _tested(kappa.value, ratio * float(se0))


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


@dataclass(frozen=True, repr=False)
class AgreementDifference(Result):
    """A coefficient of two label tables, and their difference."""

    first: Estimate
    second: Estimate
    difference: Estimate  # second - first
    n_common: int  # number of items with at least two labels in both tables; the comparison is paired by these items
    p: float | None  # two-sided p of equal coefficients; None if the difference has no standard error


def compare_agreement(
    first: pd.DataFrame,
    second: pd.DataFrame,
    coefficient: Callable[..., Estimate] = fleiss_kappa,
    categories: Categories = CATEGORIES,
    *,
    level: float = 0.95,
) -> AgreementDifference:
    """Compare a coefficient of agreement between two label tables.

    Items that are in both tables are paired: their linear terms are correlated, which usually makes the interval of the
    difference narrower. Without common items, the two tables are independent. The interval of the difference is
    square-and-add of both intervals with this correlation [1]_, so that it also holds with few items.

    Raises ValueError if a label table is invalid, or `coefficient` is not a coefficient of a count table.

    `first` and `second`: label tables: columns item, rater, category. Equal item names mean the same item.
    `coefficient`: `fleiss_kappa`, `percent_agreement`, `krippendorff_alpha`, `gwet_ac1` or `brennan_prediger`. The
    result is undefined if a coefficient is undefined; there is no interval if a coefficient has none.

    References
    ----------
    .. [1] Zou, Donner (2008), Statistics in Medicine 27:1693-1702, doi:10.1002/sim.3095
    """
    _row, formula = row_of(coefficient)
    tables = [count_table(table, categories) for table in (first, second)]
    tables = [table[table.sum(axis=1) >= 2] for table in tables]
    a, b = (coefficient(table.to_numpy(), categories, level=level) for table in tables)
    common = tables[0].index.intersection(tables[1].index)
    if a.value is None or b.value is None:
        return AgreementDifference(a, b, Estimate(None, reason=a.reason or b.reason), len(common), None)
    value = b.value - a.value
    if a.ends is None or b.ends is None:
        return AgreementDifference(a, b, Estimate(value, reason=a.reason or b.reason), len(common), None)
    terms = [_terms(formula, table.to_numpy(dtype=float)) for table in tables]
    covariance = 0.0
    if len(common):
        of_common = (
            pd.Series(x, index=table.index).loc[common].to_numpy() / len(table)
            for x, table in zip(terms, tables, strict=True)
        )
        x, y = of_common
        covariance = float((x * y).sum())
    variances = [float((x**2).sum()) / len(x) ** 2 for x in terms]
    rho = covariance / (variances[0] * variances[1]) ** 0.5 if min(variances) > 0 else 0.0
    rho = float(np.clip(rho, -1.0, 1.0))
    (pa, la, ua), (pb, lb, ub) = a.ends, b.ends
    below = (pb - lb) ** 2 - 2 * rho * (pb - lb) * (ua - pa) + (ua - pa) ** 2
    above = (ub - pb) ** 2 - 2 * rho * (ub - pb) * (pa - la) + (pa - la) ** 2
    checked_level(level)
    if a.se is None or b.se is None:
        estimate = Estimate(value, low=value - max(below, 0.0) ** 0.5, high=value + max(above, 0.0) ** 0.5)
        return AgreementDifference(a, b, estimate, len(common), None)
    se = max(a.se**2 + b.se**2 - 2 * rho * a.se * b.se, 0.0) ** 0.5
    estimate = Estimate(value, se, value - max(below, 0.0) ** 0.5, value + max(above, 0.0) ** 0.5)
    df = min(len(table) for table in tables) - 1
    p = float(2 * special.stdtr(df, -abs(value) / se)) if se else None
    return AgreementDifference(a, b, estimate, len(common), p)


def _terms(formula: CountFormula, r: Floats) -> Floats:
    """Return the deviations of the linear terms from the coefficient."""
    value, terms = formula(r, np.ones(len(r)), np.eye(r.shape[1]))
    return terms - float(value)


_BANDS = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"), (1.0, "almost perfect"))


def band(kappa: float | None) -> str | None:
    """Return Landis and Koch's band of a kappa [1]_.

    A report should show the bands of both limits of the interval, and not the band of the value.

    Parameters
    ----------
    kappa : float or None
        In [-1, 1]. The published table leaves out [0, 0.01); here it is "slight".

    Returns
    -------
    str or None
        poor, slight, fair, moderate, substantial or almost perfect; None if `kappa` is None.

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


@dataclass(frozen=True, repr=False)
class BandMembership(Result):
    """The probability that a kappa is in each band of Landis and Koch.

    Attributes
    ----------
    band : tuple of str
        The bands, from almost perfect down to poor.
    low, high : tuple of float
        Limits of each band.
    probability : tuple of float
        Probability that kappa is in each band; the sum is 1. Empty if undefined.
    cumulative : tuple of float
        Probability that kappa is in each band or in a higher band.
    benchmark : str or None
        The highest band that kappa reaches with the required probability.
    reason : str or None
        Why there are no probabilities.
    """

    band: tuple[str, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    probability: tuple[float, ...] = ()
    cumulative: tuple[float, ...] = ()
    benchmark: str | None = None
    reason: str | None = None


def band_membership(kappa: Estimate, *, wanted: float = 0.95) -> BandMembership:
    """Compute the probability that a kappa is in each band of Landis and Koch, given its standard error [1]_.

    The band of the value alone ignores the precision. With few items, a kappa of 0.62 can be almost as likely
    "moderate" as "substantial".

    Parameters
    ----------
    kappa : Estimate
        Any coefficient in [-1, 1] with a standard error. A normal distribution, truncated at -1 and 1, is assumed.
    wanted : float
        Required probability for the benchmark, in (0, 1).

    Returns
    -------
    BandMembership
        Undefined if kappa or its standard error is undefined.

    Raises
    ------
    ValueError
        If `wanted` is not within (0, 1).

    References
    ----------
    .. [1] Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 6

    Examples
    --------
    >>> membership = band_membership(Estimate(0.62, se=0.1))
    >>> membership.benchmark, [round(p, 2) for p in membership.probability]
    ('moderate', [0.04, 0.54, 0.41, 0.01, 0.0, 0.0])
    """
    if not 0 < wanted < 1:
        raise ValueError(f"wanted must be within (0, 1), got {wanted}")
    if kappa.value is None or not kappa.se:
        return BandMembership(reason=kappa.reason or "no standard error")
    ends = np.array([-1.0, 0.0, *(upper for upper, _ in _BANDS)])
    below = special.ndtr((ends - kappa.value) / kappa.se)
    probability = (np.diff(below) / (below[-1] - below[0]))[::-1]
    cumulative = np.minimum(np.cumsum(probability), 1.0)
    words = (*(word for _, word in reversed(_BANDS)), "poor")
    benchmark = words[int(np.argmax(cumulative >= wanted))]
    low, high = ends[-2::-1], ends[:0:-1]
    columns = [tuple(column.tolist()) for column in (low, high, probability, cumulative)]
    return BandMembership(words, columns[0], columns[1], columns[2], columns[3], benchmark)
