"""Fit a logistic regression with an L2 penalty, of two categories or of more, and scale its features."""

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from analysis.arrays import Bools, Floats, Indices
from analysis.statistics.results import Result

TOLERANCE = 1e-9  # the fit stops if the gradient is smaller than this
MAX_STEPS = 200
AT_BOUND, RIDGE, SMALLEST_STEP = 1e-10, 1e-12, 1e-12
# of the fit to more than two categories
LEAST_TOLERANCE, MAX_ITERATIONS = 1e-6, 1000
# A weak penalty on the intercepts makes the solution unique, and finite if no training item has a category.
ON_INTERCEPTS = 1e-6


@dataclass(frozen=True, repr=False)
class Logistic(Result):
    """A fitted model in units of the features: scores = intercepts + x @ coefficients.

    For two categories, there is one column: the score is the log-odds of the second category. For more, there is a
    column for each category, and the softmax of the scores gives the probabilities.
    """

    intercepts: Floats  # shape (n_columns,)
    coefficients: Floats  # shape (n_features, n_columns)

    def scores(self, x: Floats) -> Floats:
        """Return the scores, shape (n_items, n_columns)."""
        return self.intercepts + self._without_intercepts(x)

    def leaning(self, x: Floats) -> Floats:
        """Return how much each item leans to each category, shape (n_items, n_categories).

        These are the scores without the intercepts, which depend on the shares of the categories in the training data.
        For two categories, they are the log-odds of the second one, and the same numbers with the other sign.
        """
        leaning = self._without_intercepts(x)
        return np.hstack([-leaning, leaning]) if leaning.shape[1] == 1 else leaning

    def probability(self, x: Floats) -> Floats:
        """Return the probability of each category, shape (n_items, n_categories)."""
        return probabilities(self.scores(x))

    def _without_intercepts(self, x: Floats) -> Floats:
        product: Floats = x @ self.coefficients
        return product


def n_columns_of(n_categories: int) -> int:
    """Return the number of columns of coefficients of a model: one for two categories, else one for each category."""
    return 1 if n_categories == 2 else n_categories


def probabilities(scores: Floats) -> Floats:
    """Return the probability of each category, shape (..., n_categories), from scores of shape (..., n_columns)."""
    if scores.shape[-1] > 1:
        of_categories: Floats = special.softmax(scores, axis=-1)
        return of_categories
    of_second = special.expit(scores)
    return np.concatenate([1 - of_second, of_second], axis=-1)


def log_losses(scores: Floats, category: Indices) -> Floats:
    """Return the log loss of each item, from scores of shape (n_items, n_columns)."""
    if scores.shape[1] == 1:
        odds = scores[:, 0]
        losses: Floats = np.logaddexp(0.0, np.where(category == 1, -odds, odds))
    else:
        losses = special.logsumexp(scores, axis=1) - scores[np.arange(len(scores)), category]
    return losses


def fit(
    x: Floats,
    category: Indices | Bools,
    n_categories: int,
    penalty: float,
    *,
    monotone: bool = False,
    weights: Floats | None = None,
    start: Logistic | None = None,
    tolerance: float = TOLERANCE,
) -> Logistic:
    """Fit a logistic regression: by Newton's method for two categories, by L-BFGS for more.

    The fit minimises the mean log loss plus penalty / 2 times the sum of squared coefficients [1]_. The monotone
    variant projects each step onto the coefficients >= 0 [2]_. With two categories, a model with a column for each of
    them would be the same with half of the penalty, because each category would have half of the log-odds.

    Raises ValueError if the shapes differ, the penalty is negative, or a monotone model has more than two categories.

    `x` (shape (n_items, n_features)): standardised features (`scale_of`), because the penalty is the same for all
    features. Intercepts are not penalised (with more than two categories, nearly not). `category` (shape (n_items,)):
    index of each item's category; if all items have one of two categories, the result has only an intercept;
    `penalty`: at least 0. If the penalty is 0 and the features separate the categories, there is no finite solution,
    and the result is the point at which the fit stopped. `monotone`: require coefficients >= 0, so that a larger
    feature never makes the second category less probable; `weights` (shape (n_items,)): weight of each item; `start`:
    starting point, such as the fit for a similar penalty. It does not affect the result. `tolerance`: the fit stops if
    no element of the gradient is larger.

    References
    ----------
    .. [1] le Cessie, van Houwelingen (1992), Applied Statistics 41:191-201, doi:10.2307/2347628
    .. [2] Bertsekas (1982), SIAM J. Control and Optimization 20:221-246, doi:10.1137/0320018
    """
    if x.ndim != 2 or len(x) != len(category):
        raise ValueError(f"x must have shape ({len(category)}, n_features), got {x.shape}")
    if not penalty >= 0:
        raise ValueError(f"penalty must be >= 0, got {penalty}")
    if monotone and n_categories > 2:
        raise ValueError(f"a monotone model has two categories, got {n_categories}")
    share = np.full(len(x), 1 / len(x)) if weights is None else weights / weights.sum()
    if n_categories > 2:
        return _fit_multinomial(x, category, n_categories, penalty, share, start, tolerance)
    return _fit_two(x, category == 1, penalty, share, start, tolerance, monotone=monotone)


def _fit_two(
    x: Floats,
    is_second: Bools,
    penalty: float,
    share: Floats,
    start: Logistic | None,
    tolerance: float,
    *,
    monotone: bool,
) -> Logistic:
    if is_second.all() or not is_second.any():
        odds = special.logit((is_second.sum() + 0.5) / (len(x) + 1))
        return Logistic(np.array([odds]), np.zeros((x.shape[1], 1)))
    ones = np.ones((len(x), 1))
    design, y = np.hstack([ones, x]), is_second.astype(np.float64)
    shrink = np.full(design.shape[1], penalty)
    shrink[0] = 0.0
    bounded = np.full(design.shape[1], monotone)
    bounded[0] = False

    def loss(theta: Floats) -> float:
        odds = design @ theta
        return float(share @ (np.logaddexp(0.0, odds) - y * odds) + (shrink * theta) @ theta / 2)

    theta = np.zeros(design.shape[1]) if start is None else np.concatenate((start.intercepts, start.coefficients[:, 0]))
    value = loss(theta)
    for _ in range(MAX_STEPS):
        probability = special.expit(design @ theta)
        gradient = design.T @ (share * (probability - y)) + shrink * theta
        free = ~bounded | (theta > AT_BOUND) | (gradient < 0)
        if np.abs(gradient[free]).max() < tolerance:
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
    return Logistic(theta[:1], theta[1:].reshape(-1, 1))


def _fit_multinomial(
    x: Floats,
    category: Indices | Bools,
    n_categories: int,
    penalty: float,
    share: Floats,
    start: Logistic | None,
    tolerance: float,
) -> Logistic:
    design = np.hstack([np.ones((len(x), 1)), x])
    true = np.eye(n_categories)[category]
    shrink = np.full((design.shape[1], 1), penalty)
    shrink[0] = ON_INTERCEPTS

    def loss(flat: Floats) -> tuple[float, Floats]:
        theta = flat.reshape(design.shape[1], n_categories)
        scores = design @ theta
        highest = scores.max(axis=1, keepdims=True)
        log_sum = highest + np.log(np.exp(scores - highest).sum(axis=1, keepdims=True))  # logsumexp takes twice as long
        value = float(share @ (log_sum[:, 0] - (true * scores).sum(axis=1)) + (shrink * theta**2).sum() / 2)
        gradient = design.T @ (share[:, None] * (np.exp(scores - log_sum) - true)) + shrink * theta
        return value, gradient.ravel()

    first = np.zeros((design.shape[1], n_categories))
    if start is not None:
        first = np.vstack([start.intercepts, start.coefficients])
    found = optimize.minimize(
        loss, first.ravel(), jac=True, method="L-BFGS-B",
        options={"gtol": max(tolerance, LEAST_TOLERANCE), "ftol": 1e-14, "maxiter": MAX_ITERATIONS},
    ).x.reshape(first.shape)  # fmt: skip
    return Logistic(found[0], found[1:])


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


N_QUANTILES = 51


@dataclass(frozen=True, repr=False)
class RankScale(Result):
    """The quantiles of each feature over the training items, which turn a value into its rank among these items.

    A rank has mean 0 and standard deviation 1 over the training items. Outliers and the unit do not matter.
    """

    quantiles: Floats  # shape (n_features, N_QUANTILES), from the smallest to the largest value

    @classmethod
    def of(cls, x: Floats) -> "RankScale":
        """Compute the scale from features of shape (n_items, n_features)."""
        return cls(np.quantile(x, np.linspace(0, 1, N_QUANTILES), axis=0).T)

    def apply(self, x: Floats) -> Floats:
        """Return the rank of each value."""
        columns = [rank(quantiles, x[:, j]) for j, quantiles in enumerate(self.quantiles)]
        return np.stack(columns, axis=1) if columns else np.empty_like(x)


def rank(quantiles: Floats, values: Floats) -> Floats:
    """Return the rank of values among items with these sorted quantiles; equal quantiles share their mean rank."""
    is_new = np.append(True, quantiles[1:] != quantiles[:-1])
    of = is_new.cumsum() - 1
    share = np.bincount(of, weights=np.linspace(0, 1, len(quantiles))) / np.bincount(of)
    ranks: Floats = (np.interp(values, quantiles[is_new], share) - 0.5) * np.sqrt(12)
    return ranks


Scale = Standardiser | RankScale


def scale_of(x: Floats, *, monotone: bool) -> Scale:
    """Return the scale of the features: standard deviations for a monotone model, ranks for other models."""
    return Standardiser.of(x) if monotone else RankScale.of(x)
