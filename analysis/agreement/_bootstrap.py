"""The intervals of the coefficients checked against the bootstrap."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from analysis.agreement import _coefficients as coefficients
from analysis.agreement import _values as values
from analysis.agreement._coefficients import Floats, rated
from analysis.agreement._pairs import cohen_kappa, square_table
from analysis.bootstrap import N_DRAWS, bootstrap
from analysis.intervals import Estimate, Groups

Coefficient = Callable[..., Estimate]

_VALUES: dict[Coefficient, Callable[[Floats, Floats], Floats]] = {
    coefficients.percent_agreement: values.observed,
    coefficients.fleiss_kappa: values.fleiss_values,
    coefficients.gwet_ac1: values.ac1_values,
    coefficients.brennan_prediger: values.brennan_prediger_values,
    coefficients.krippendorff_alpha: values.alpha_values,
}


def bootstrap_coefficient(
    coefficient: Coefficient,
    counts: ArrayLike,
    *,
    rng: np.random.Generator,
    n_draws: int = N_DRAWS,
    level: float = 0.95,
    groups: Groups | None = None,
) -> Estimate:
    """A coefficient with the percentile interval of items, with all their ratings, drawn with replacement.

    Parameters
    ----------
    coefficient : callable
        `percent_agreement`, `fleiss_kappa`, `gwet_ac1`, `brennan_prediger` or `krippendorff_alpha`.
    counts : array_like of int, shape (n_items, n_categories)
        As in `fleiss_kappa`.
    rng : Generator
    n_draws : int
        Number of draws, >= 1.
    level : float
        Level of the interval.
    groups : sequence of hashable, one a row of `counts`, optional
        Draw whole groups, such as applications, instead of items; any number of them, unlike in `fleiss_kappa`.

    Returns
    -------
    Estimate
        `se` is the standard deviation over the draws. Undefined where the coefficient is; `reason` also says how many
        draws were undefined and left out, and why there is no interval without variation between items.

    Raises
    ------
    ValueError
        If `coefficient` is none of the five, or `counts` or `groups` are as refused by them.

    References
    ----------
    Efron, Tibshirani (1993), An Introduction to the Bootstrap, ch. 13, doi:10.1201/9780429246593

    Examples
    --------
    >>> counts = [[2, 0]] * 30 + [[1, 1]] * 20 + [[0, 2]] * 10
    >>> kappa = bootstrap_coefficient(coefficients.fleiss_kappa, counts, rng=np.random.default_rng(1))
    >>> kappa.low < kappa.value < kappa.high
    True
    """
    if coefficient not in _VALUES:
        raise ValueError(f"coefficient must be one of: {', '.join(f.__name__ for f in _VALUES)}; got {coefficient!r}")
    plain = coefficient(counts, level=level)
    if plain.value is None:
        return Estimate(None, reason=plain.reason)
    r, groups = rated(counts, groups)
    # Few distinct rows make up a table: the draws of each row are summed before anything is computed.
    rows, number = np.unique(r, axis=0, return_inverse=True)
    of_row = np.eye(len(rows))[number.ravel()]  # numpy 2.0 gives it a second axis

    def statistic(weights: Floats) -> Floats:
        return _VALUES[coefficient](rows, weights @ of_row)

    return _varied(bootstrap(statistic, len(r), rng=rng, n_draws=n_draws, level=level, groups=groups))


def bootstrap_cohen_kappa(
    table: ArrayLike, *, rng: np.random.Generator, n_draws: int = N_DRAWS, level: float = 0.95
) -> Estimate:
    """Cohen's kappa with the percentile interval of items, with both labels, drawn with replacement.

    Parameters
    ----------
    table : array_like of int, shape (n_categories, n_categories)
        As in `cohen_kappa`.
    rng, n_draws, level
        As in `bootstrap_coefficient`.

    Returns
    -------
    Estimate
        As from `bootstrap_coefficient`.

    Raises
    ------
    ValueError
        If `table` is not a square table of counts.
    """
    cells = square_table(table)
    plain = cohen_kappa(cells, level=level)
    if plain.value is None:
        return Estimate(None, reason=plain.reason)
    of_cell = np.repeat(np.eye(cells.size), cells.astype(int).ravel(), axis=0)

    def statistic(weights: Floats) -> Floats:
        return values.cohen_values((weights @ of_cell).reshape(-1, *cells.shape))

    return _varied(bootstrap(statistic, len(of_cell), rng=rng, n_draws=n_draws, level=level))


def _varied(drawn: Estimate) -> Estimate:
    """An interval of zero width would claim certainty: none where all draws are the same."""
    if drawn.se is not None and drawn.se < 1e-12:
        return Estimate(drawn.value, reason="no variation between items: no interval")
    return drawn
