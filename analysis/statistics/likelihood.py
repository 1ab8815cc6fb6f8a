"""Profile likelihood intervals of any function of the probabilities of a table."""

from collections.abc import Callable

import numpy as np
from scipy import optimize, special

from analysis.arrays import Floats
from analysis.statistics.intervals import checked_level

_MAX_STEPS, _TOLERANCE = 200, 1e-7  # settings of the search for the limits

Functional = Callable[[Floats], tuple[float, Floats]]  # probabilities of the cells -> value and its gradient


def likelihood_limit(n: float, level: float, df: float | None = None) -> float:
    """Return the limit of `likelihood_ends` for n items: t^2 / (2 n), with n - 1 or `df` degrees of freedom."""
    return float(special.stdtrit(n - 1 if df is None else df, (1 + checked_level(level)) / 2)) ** 2 / (2 * n)


def likelihood_ends(counts: Floats, functional: Functional, limit: float) -> tuple[float, float]:
    """Return the smallest and largest value that the counts do not exclude, from all tables of probabilities.

    A table p is not excluded if the mean of log(counts / n / p) over items is at most `limit`. These tables form a
    convex set. Each step approximates the functional by a linear function, and moves towards the table with the
    smallest value of this function (for the lower end) or the largest value (for the upper end).
    """
    observed, ends = counts / counts.sum(), []
    for sign in (-1.0, 1.0):
        p = observed
        value, gradient = functional(p)
        for _ in range(_MAX_STEPS):
            way = _best_table(observed, sign * gradient, limit) - p
            steps = ((p + 0.5**k * way, *functional(p + 0.5**k * way)) for k in range(12))
            better = next((step for step in steps if sign * (step[1] - value) > _TOLERANCE), None)
            if better is None:
                break
            p, value, gradient = better
        ends.append(value)
    return ends[0], ends[1]


def _best_table(p: Floats, gradient: Floats, limit: float) -> Floats:
    """Return the table q with the largest sum of gradient * q, with the sum of p log(p / q) at most `limit`.

    Where p > 0, q is proportional to p / (nu - gradient). If an empty cell has the largest gradient, it gets the
    remaining probability.
    """
    used = p > 0
    x, g = p[used], gradient[used]
    most = float(gradient.max())

    def room(log_distance: float) -> float:
        weights = x / (most + np.exp(log_distance) - g)
        return limit + float((x * np.log(weights / weights.sum() / x)).sum())

    best, q = most > g.max() + 1e-9, np.zeros_like(p)
    distance = -25.0
    if not best and g.max() - g.min() < 1e-12:
        return p
    if room(distance) < 0:
        distance = optimize.brentq(room, distance, 25.0, xtol=1e-9)
    weights = x / (most + np.exp(distance) - g)
    share = np.exp(-room(distance)) if best else 1.0
    q[used] = share * weights / weights.sum()
    empty = ~used & (gradient > most - 1e-9)
    q[empty] += (1 - share) / max(empty.sum(), 1)
    return q
