"""What a comparison of two sets of runs can see: power, the smallest difference detected, the runs needed."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize, stats

from analysis.intervals import Estimate
from analysis.samples import NO_VARIATION
from analysis.spread import cv

MAX_RUNS = 100_000


def power(effect: float, n_runs: float, *, alpha: float = 0.05) -> float:
    """The chance that a two-sided t test of two sets of runs finds a difference of their means.

    Parameters
    ----------
    effect : float
        The difference in standard deviations of the runs' values.
    n_runs : float
        Runs on each side, at least 2.
    alpha : float

    Returns
    -------
    float
        In [alpha, 1]. By the noncentral t distribution with 2 n_runs - 2 degrees of freedom [1]_, whose square is
        noncentral F: that is accurate where SciPy's noncentral t is not.

    References
    ----------
    .. [1] Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, chapter 2

    Examples
    --------
    >>> round(power(1.0, 17), 3)
    0.807
    """
    df = 2 * n_runs - 2
    shift = abs(effect) * np.sqrt(n_runs / 2)
    if shift > 37:  # the distribution function is not accurate so far out, and power is 1 there
        return 1.0
    if shift == 0:  # SciPy does not know a noncentrality of exactly 0
        return alpha
    return float(stats.ncf.sf(stats.f.isf(alpha, 1, df), 1, df, shift**2))


def smallest_difference(values: ArrayLike, *, alpha: float = 0.05, wanted: float = 0.8) -> Estimate:
    """The smallest relative difference of means that as many further runs would show with the wanted power.

    Parameters
    ----------
    values : array_like of float, shape (n_runs,)
        One number a run; their spread stands for that of the further runs too.
    alpha : float
        Level of the two-sided t test.
    wanted : float
        Power, in (alpha, 1).

    Returns
    -------
    Estimate
        As a share of the mean; 0 without variation. Undefined for fewer than two runs or a mean that is not positive.
    """
    variation = cv(values)
    if variation.value is None:
        return variation
    n = len(np.asarray(values))
    if variation.value == 0:
        return Estimate(0.0, reason=NO_VARIATION)
    effect = optimize.brentq(lambda d: power(d, n, alpha=alpha) - wanted, 1e-6, 1e3)
    return Estimate(float(effect) * variation.value)


def runs_needed(values: ArrayLike, difference: float, *, alpha: float = 0.05, wanted: float = 0.8) -> Estimate:
    """How many runs on each side show a relative difference of means with the wanted power.

    Parameters
    ----------
    values : array_like of float, shape (n_runs,)
        One number a run.
    difference : float
        As a share of the mean, > 0.
    alpha, wanted : float
        As in `smallest_difference`.

    Returns
    -------
    Estimate
        A whole number, at least 2. Undefined as `smallest_difference`, or if more than 100 000 would be needed.

    Raises
    ------
    ValueError
        If the difference is not positive.
    """
    if not difference > 0:
        raise ValueError(f"difference must be > 0, got {difference}")
    variation = cv(values)
    if not variation.value:
        return Estimate(2.0, reason=NO_VARIATION) if variation.value == 0 else variation
    effect = difference / variation.value
    enough = 2
    while power(effect, enough, alpha=alpha) < wanted:
        enough *= 2
        if enough > MAX_RUNS:
            return Estimate(None, reason=f"more than {MAX_RUNS} runs would be needed")
    few = enough // 2
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if power(effect, middle, alpha=alpha) >= wanted else (middle, enough)
    return Estimate(float(enough))
