"""Run Welch's test for many pairs of draws at once, or test whether their intervals are disjoint."""

from functools import lru_cache

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.typing import NDArray
from scipy import special

from analysis.runs import Floats
from analysis.trust._population import Moments

Bools = NDArray[np.bool_]

ACCURACY = 1e-12
DEGREES = (8, 16, 32, 64, 128)


def welch_rejects(distance: Floats, a: Moments, b: Moments, alpha: float) -> Bools:
    """Return whether p of Welch's test is at most alpha, for each pair of draws `a` and `b` (broadcast).

    `distance` is the squared difference of the means. For speed, the degrees of freedom are computed only if t^2 lies
    between the smallest and the largest possible critical value. In this case, a polynomial gives the critical value.
    """
    low, high, critical = _critical(_inverse_df_range(a, b), alpha)
    rejects: Bools = distance >= high * a.variance + high * b.variance
    unclear = np.flatnonzero((distance >= low * a.variance + low * b.variance) != rejects)
    where = np.unravel_index(unclear, rejects.shape)
    (variance_a, n_a), (variance_b, n_b) = (
        (np.broadcast_to(x, rejects.shape)[where] for x in (side.variance, side.n)) for side in (a, b)
    )
    variance = variance_a + variance_b
    inverse_df = (variance_a**2 / (n_a - 1) + variance_b**2 / (n_b - 1)) / variance**2
    rejects[where] = distance[where] >= np.exp(critical(inverse_df)) * variance
    return rejects


def _inverse_df_range(a: Moments, b: Moments) -> tuple[float, float]:
    """Return the range of 1 / df, from the df of both draws together to the df of the smaller draw alone."""
    return 1 / float(a.n.max() + b.n.max() - 2), 1 / float(min(a.n.min(), b.n.min()) - 1)


@lru_cache(maxsize=64)
def _critical(ends: tuple[float, float], alpha: float) -> tuple[float, float, Chebyshev]:
    """Return the critical t^2 at both limits of 1 / df, slightly widened.

    Also return a polynomial in 1 / df that gives the logarithm of the critical t^2 between the limits.
    """

    def logarithm(inverse_df: Floats) -> Floats:
        return 2 * np.log(-special.stdtrit(1 / inverse_df, alpha / 2))

    low, high = np.exp(logarithm(np.array(ends))) * [1 - ACCURACY, 1 + ACCURACY]
    grid = np.linspace(*ends, 501)
    for degree in DEGREES:
        fitted = Chebyshev.interpolate(logarithm, degree, domain=ends)
        if np.abs(fitted(grid) - logarithm(grid)).max() < ACCURACY:
            break
    return float(low), float(high), fitted


def disjoint(distance: Floats, a_half: Floats, b_half: Floats) -> Bools:
    """Return whether two intervals do not overlap.

    `distance` is the squared difference between the centres of the intervals.
    """
    reach = a_half + b_half
    reach *= reach
    apart: Bools = distance > reach
    return apart
