"""Fit logistic regression with an L2 penalty, plain or monotone (no coefficient below 0)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from analysis.results import Result

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

TOLERANCE = 1e-9  # the fit stops if the gradient is smaller than this
MAX_STEPS = 200
AT_BOUND, RIDGE, SMALLEST_STEP = 1e-10, 1e-12, 1e-12


@dataclass(frozen=True, repr=False)
class Logistic(Result):
    """A fitted model in units of the features: log-odds = intercept + x @ coefficients."""

    intercept: float
    coefficients: Floats

    def leaning(self, x: Floats) -> Floats:
        """Return the log-odds of dissimilar without the intercept, shape (n_items,).

        Without the intercept, the values do not depend on the share of dissimilar items in the training data.
        """
        leaning: Floats = x @ self.coefficients
        return leaning

    def probability(self, x: Floats) -> Floats:
        """Return the probability of dissimilar, shape (n_items,)."""
        probability: Floats = special.expit(self.intercept + x @ self.coefficients)
        return probability


def fit_logistic(
    x: Floats,
    dissimilar: Bools,
    penalty: float,
    *,
    monotone: bool = False,
    weights: Floats | None = None,
    start: Logistic | None = None,
) -> Logistic:
    """Fit a logistic regression by Newton's method.

    The fit minimises the mean log loss plus penalty / 2 times the sum of squared coefficients [1]_. The monotone
    variant projects each step onto the coefficients >= 0 [2]_. Raises ValueError if the shapes differ or the penalty is
    negative.

    Parameters
    ----------
    x : ndarray of float, shape (n_items, n_features)
        Standardised features (`Standardiser`), because the penalty is the same for all features. The intercept is not
        penalised.
    dissimilar : ndarray of bool, shape (n_items,)
    penalty : float
        At least 0. If the penalty is 0 and the features separate the categories, there is no finite solution, and the
        result is the point at which the fit stopped.
    monotone : bool
        Require coefficients >= 0, so that a larger dissimilarity never makes an item more similar.
    weights : ndarray of float, shape (n_items,), optional
        Weight of each item.
    start : Logistic, optional
        Starting point, such as the fit for a similar penalty. It does not affect the result.

    References
    ----------
    .. [1] le Cessie, van Houwelingen (1992), Applied Statistics 41:191-201, doi:10.2307/2347628
    .. [2] Bertsekas (1982), SIAM J. Control and Optimization 20:221-246, doi:10.1137/0320018

    Examples
    --------
    >>> x = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    >>> model = fit_logistic(x, np.array([True, False, False, True, True, False]), 0.0)
    >>> round(float(model.coefficients[0]), 4)  # the log of the odds ratio, (2/1) / (1/2) = 4
    1.3863
    """
    if x.ndim != 2 or len(x) != len(dissimilar):
        raise ValueError(f"x must have shape ({len(dissimilar)}, n_features), got {x.shape}")
    if not penalty >= 0:
        raise ValueError(f"penalty must be >= 0, got {penalty}")
    ones = np.ones((len(x), 1))
    design, y = np.hstack([ones, x]), dissimilar.astype(np.float64)
    share = np.full(len(x), 1 / len(x)) if weights is None else weights / weights.sum()
    shrink = np.full(design.shape[1], penalty)
    shrink[0] = 0.0
    bounded = np.full(design.shape[1], monotone)
    bounded[0] = False

    def loss(theta: Floats) -> float:
        odds = design @ theta
        return float(share @ (np.logaddexp(0.0, odds) - y * odds) + (shrink * theta) @ theta / 2)

    theta = np.zeros(design.shape[1]) if start is None else np.concatenate(([start.intercept], start.coefficients))
    value = loss(theta)
    for _ in range(MAX_STEPS):
        probability = special.expit(design @ theta)
        gradient = design.T @ (share * (probability - y)) + shrink * theta
        free = ~bounded | (theta > AT_BOUND) | (gradient < 0)
        if np.abs(gradient[free]).max() < TOLERANCE:
            break
        part = design[:, free]
        curvature = share * probability * (1 - probability)
        hessian = (part.T * curvature) @ part + np.diag(shrink[free] + RIDGE)
        step = np.zeros(len(theta))
        step[free] = -np.linalg.solve(hessian, gradient[free])
        size = 1.0
        while True:  # Halve the step until the loss decreases enough; rounding errors are tolerated.
            moved = theta + size * step
            moved[bounded] = np.maximum(moved[bounded], 0.0)
            after = loss(moved)
            if after <= value + 1e-4 * gradient @ (moved - theta) + 1e-15 or size < SMALLEST_STEP:
                break
            size /= 2
        theta, value = moved, after
    return Logistic(float(theta[0]), theta[1:])


@dataclass(frozen=True, repr=False)
class Standardiser(Result):
    """The mean and the standard deviation of each feature over the training items of a model."""

    mean: Floats  # standard deviation; 1 for a feature without variation
    sd: Floats

    @classmethod
    def of(cls, x: Floats) -> "Standardiser":
        """Compute the scale from features of shape (n_items, n_features)."""
        sd = x.std(axis=0)
        return cls(x.mean(axis=0), np.where(sd > 1e-12, sd, 1.0))

    def apply(self, x: Floats) -> Floats:
        """Standardise features: subtract the mean and divide by the standard deviation."""
        standardised: Floats = (x - self.mean) / self.sd
        return standardised
