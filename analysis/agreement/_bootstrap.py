"""Compute bootstrap intervals of agreement coefficients, to check the analytic intervals."""

from collections.abc import Callable

import numpy as np

from analysis.agreement._coefficients import FORMULAS, Categories, Weights, category_weights, gwet_ac2, rated
from analysis.bootstrap import N_DRAWS, bootstrap
from analysis.intervals import Estimate, Groups
from analysis.tables import Floats, Ratings

Coefficient = Callable[..., Estimate]


def bootstrap_coefficient(
    coefficient: Coefficient,
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
    >>> from analysis.agreement import fleiss_kappa
    >>> counts = [[2, 0]] * 30 + [[1, 1]] * 20 + [[0, 2]] * 10
    >>> kappa = bootstrap_coefficient(fleiss_kappa, counts, rng=np.random.default_rng(1))
    >>> kappa.low < kappa.value < kappa.high
    True
    """
    if coefficient not in FORMULAS:
        raise ValueError(f"coefficient must be one of: {', '.join(f.__name__ for f in FORMULAS)}; got {coefficient!r}")
    if coefficient is gwet_ac2 and weights is None:
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
        return FORMULAS[coefficient](rows, weights, w)[0]

    return _varied(bootstrap(statistic, len(r), rng=rng, n_draws=n_draws, level=level, groups=groups, kinds=kinds))


def _varied(drawn: Estimate) -> Estimate:
    """Remove the interval if all draws are equal, because an interval of width 0 looks certain."""
    if drawn.se is not None and drawn.se < 1e-12:
        return Estimate(drawn.value, reason="no variation between items: no interval")
    return drawn
