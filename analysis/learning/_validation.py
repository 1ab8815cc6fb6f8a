"""Cross-validate models in nested folds of applications so that models are scored only on held-out items."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from analysis.categories import CATEGORIES, DISSIMILAR
from analysis.evaluation import balanced_folds
from analysis.learning._logistic import Bools, Floats, Logistic, Standardiser, fit_logistic
from analysis.results import Result

PENALTIES = tuple(
    np.logspace(0.5, -3, 8).tolist()
)  # from strong to weak penalties, because each fit starts from the previous fit
MIN_ITEMS, MIN_OF_CATEGORY, MIN_APPLICATIONS = 60, 10, 5
OUTER_FOLDS, INNER_FOLDS = 10, 5


class TooFew(ValueError):
    """Raised if there are too few data to learn from; the message says what is missing."""


@dataclass(frozen=True)
class Examples:
    """Training data of a model, with one row per item or per label."""

    items: tuple[str, ...]
    applications: tuple[str, ...]
    dissimilar: Bools
    x: Floats
    features: tuple[str, ...]
    n_left_out: int = 0  # number of rows that have a category but lack a feature

    @property
    def group(self) -> NDArray[np.intp]:
        """Return the index of each row's application."""
        return pd.factorize(pd.Series(self.applications, dtype=object))[0]

    @property
    def why_too_few(self) -> str | None:
        """Return why there are too few data for learning; return None if there are enough."""
        n, n_dissimilar = len(self.items), int(self.dissimilar.sum())
        n_items, n_applications = len(set(self.items)), len(set(self.applications))
        if n_items < MIN_ITEMS:
            return f"{n_items} items have a category and all features; at least {MIN_ITEMS} are needed"
        if min(n_dissimilar, n - n_dissimilar) < MIN_OF_CATEGORY:
            rare = "dissimilar" if n_dissimilar < n - n_dissimilar else "similar"
            return (
                f"{min(n_dissimilar, n - n_dissimilar)} are {rare}; "
                f"at least {MIN_OF_CATEGORY} of each category are needed"
            )
        if n_applications < MIN_APPLICATIONS:
            return (
                f"the items come from {n_applications} applications; at least {MIN_APPLICATIONS} are needed, "
                "because a model is scored on held-out applications"
            )
        return None

    def of(self, rows: NDArray[np.intp] | Bools) -> "Examples":
        """Return the selected rows."""
        numbers = np.arange(len(self.items))[rows]
        return replace(
            self,
            items=tuple(self.items[i] for i in numbers),
            applications=tuple(self.applications[i] for i in numbers),
            dissimilar=self.dissimilar[numbers],
            x=self.x[numbers],
        )


def examples_of(truth: pd.DataFrame, features: pd.DataFrame, names: Sequence[str], applications: pd.Series) -> Examples:
    """Match the categories and the features of the same items.

    Raises ValueError if a feature is not in the table, an item has no application, or a category is neither similar nor
    dissimilar.

    Parameters
    ----------
    truth : DataFrame
        Columns item and category; an item may have several rows, one per label.
    features : DataFrame
        Indexed by item, one column per feature.

    Returns
    -------
    Examples
        Sorted by item. Rows of items that lack a feature are left out and counted.
    """
    unknown = [name for name in names if name not in features.columns]
    if unknown or not names:
        known = ", ".join(map(str, features.columns))
        raise ValueError(
            f"unknown feature {unknown[0]!r}; choose from {known}"
            if unknown
            else "names is empty; name at least one feature"
        )
    wrong = truth[~truth["category"].isin(CATEGORIES)]
    if len(wrong):
        row = wrong.iloc[0]
        raise ValueError(f"{row['category']!r} (item {row['item']!r}) is not one of: {', '.join(CATEGORIES)}")
    rows = truth.sort_values("item", kind="stable")
    x = features[list(names)].astype(float).reindex(rows["item"]).to_numpy(dtype=np.float64)
    complete = np.isfinite(x).all(axis=1)
    rows, x = rows[complete], x[complete]
    of_item = applications.reindex(rows["item"]).astype(object)
    without = of_item.isna() | (of_item == "")
    if without.any():
        raise ValueError(f"item {of_item.index[without][0]!r} has no application")
    return Examples(
        tuple(map(str, rows["item"])), tuple(map(str, of_item)), (rows["category"] == DISSIMILAR).to_numpy(dtype=bool),
        x, tuple(names), int((~complete).sum()),
    )  # fmt: skip


@dataclass(frozen=True, repr=False)
class Chosen(Result):
    """A fitted model, and the penalty and the threshold that the inner folds chose."""

    scale: Standardiser
    model: Logistic
    penalty: float
    threshold: float  # items with a higher probability are called dissimilar

    def leaning(self, x: Floats) -> Floats:
        """Return the log-odds of dissimilar without the intercept, from unscaled features."""
        return self.model.leaning(self.scale.apply(x))

    def probability(self, x: Floats) -> Floats:
        """Return the probability that items are dissimilar, from unscaled features."""
        return self.model.probability(self.scale.apply(x))


@dataclass(frozen=True, repr=False)
class OutOfFold(Result):
    """Predictions for items of held-out applications."""

    fold: NDArray[np.intp]
    # Log-odds without the intercept, relative to the mean item of the training folds. The ROC curve uses this
    # score. The intercept is left out because it depends on the share of dissimilar items in the training folds,
    # which is low if the held-out fold has many dissimilar items. With the intercept, the area of pure noise
    # would be below 0.5.
    score: Floats
    probability: Floats
    threshold: Floats
    called: Bools  # probability > threshold
    penalties: tuple[float, ...]  # the penalty of each outer fold


def cross_validate(
    examples: Examples,
    *,
    rng: np.random.Generator,
    monotone: bool = True,
    cost_ratio: float = 1.0,
    folds: NDArray[np.intp] | None = None,
) -> OutOfFold:
    """Compute out-of-fold scores by nested cross-validation [1]_.

    The inner folds choose the penalty and the threshold. The outer folds are used only for scoring. Raises TooFew with
    fewer than 60 items, 10 of a category or 5 applications. Raises ValueError if an application is in two folds.

    Parameters
    ----------
    rng : Generator
        Random generator for the assignment of applications to folds.
    cost_ratio : float
        Cost of a missed dissimilar item divided by the cost of a false alarm; 1 maximises accuracy.
    folds : ndarray of int, shape (n,), optional
        The outer folds, such as from `outer_folds`; drawn by default.

    References
    ----------
    .. [1] Varma, Simon (2006), BMC Bioinformatics 7:91, doi:10.1186/1471-2105-7-91
    """
    if examples.why_too_few:
        raise TooFew(examples.why_too_few)
    fold = outer_folds(examples, rng) if folds is None else folds
    if any(len(set(fold[examples.group == g])) > 1 for g in np.unique(examples.group)):
        raise ValueError("folds must keep all items of an application together")
    score, probability, threshold = np.zeros((3, len(fold)))
    penalties = []
    for k in range(int(fold.max()) + 1):
        held_out = fold == k
        chosen = choose(examples.of(~held_out), rng=rng, monotone=monotone, cost_ratio=cost_ratio)
        score[held_out] = chosen.leaning(examples.x[held_out])
        probability[held_out] = chosen.probability(examples.x[held_out])
        threshold[held_out] = chosen.threshold
        penalties.append(chosen.penalty)
    return OutOfFold(fold, score, probability, threshold, probability > threshold, tuple(penalties))


def outer_folds(examples: Examples, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the outer fold of each row. Folds keep applications together and balance both categories."""
    n_folds = min(OUTER_FOLDS, len(set(examples.applications)))
    return balanced_folds(examples.dissimilar, examples.group, n_folds, rng)


def choose(
    training: Examples,
    *,
    rng: np.random.Generator,
    monotone: bool,
    cost_ratio: float = 1.0,
    n_folds: int = INNER_FOLDS,
    penalties: Sequence[float] = PENALTIES,
) -> Chosen:
    """Fit a model, and choose its penalty and threshold by cross-validation.

    Of the penalties, which go from strong to weak, the chosen one has the lowest log loss over the inner folds. The
    model is then fitted with this penalty to all rows. The chosen threshold has the lowest cost.
    """
    group, y = training.group, training.dissimilar
    fold = balanced_folds(y, group, min(n_folds, int(group.max()) + 1), rng)
    odds = np.zeros((len(penalties), len(y)))
    for k in range(int(fold.max()) + 1):
        inside, outside = fold != k, fold == k
        if y[inside].all() or not y[inside].any():  # learning needs both categories
            odds[:, outside] = special.logit((y[inside].sum() + 0.5) / (inside.sum() + 1))
            continue
        scale = Standardiser.of(training.x[inside])
        x, held_out = scale.apply(training.x[inside]), scale.apply(training.x[outside])
        model = None
        for p, penalty in enumerate(penalties):
            model = fit_logistic(x, y[inside], penalty, monotone=monotone, start=model)
            odds[p, outside] = model.intercept + model.leaning(held_out)
    losses = np.logaddexp(0.0, np.where(y, -odds, odds)).mean(axis=1)
    best = int(losses.argmin())
    scale = Standardiser.of(training.x)
    model = fit_logistic(scale.apply(training.x), y, penalties[best], monotone=monotone)
    return Chosen(scale, model, penalties[best], best_threshold(y, special.expit(odds[best]), cost_ratio))


def best_threshold(dissimilar: Bools, probability: Floats, cost_ratio: float) -> float:
    """Return the threshold in [0, 1] with the lowest cost.

    `cost_ratio` is the cost of a missed dissimilar item divided by the cost of a false alarm. The candidates are
    halfway between neighbouring probabilities, and 1 / (1 + cost_ratio), which is best for calibrated probabilities. If
    several have the lowest cost, return the one nearest to that value.
    """
    ideal = 1 / (1 + cost_ratio)
    order = np.argsort(probability, kind="stable")
    ordered, positive = probability[order], dissimilar[order]
    middle = np.concatenate(([0.0], (ordered[1:] + ordered[:-1]) / 2, [1.0], [ideal]))
    below = np.searchsorted(ordered, middle, side="right")  # items with probability <= threshold are called similar
    missed = np.concatenate(([0], np.cumsum(positive)))[below]
    alarms = (~positive).sum() - np.concatenate(([0], np.cumsum(~positive)))[below]
    cost = cost_ratio * missed + alarms
    best = middle[cost <= cost.min() * (1 + 1e-12)]
    return float(best[np.abs(best - ideal).argmin()])
