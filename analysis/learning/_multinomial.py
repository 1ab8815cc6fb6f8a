"""Learn a classifier of any categories: multinomial logistic regression, evaluated on held-out applications.

The features, the folds and the permutation test are those of `analysis.learning.learn`, which compares two categories.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, special, stats

from analysis.arrays import Floats, Indices
from analysis.learning._compare import area_by_groups
from analysis.learning._features import DEFAULT_FEATURES, FEATURES, SEGMENT_FEATURES, SEGMENT_VERSION
from analysis.learning._learn import ALPHA, examples_to_learn, sample_warnings
from analysis.learning._model import CategoryModel, CategoryTerm, RankScale, checked_name
from analysis.learning._validation import (
    INNER_FOLDS,
    LOOSE,
    N_PERMUTATIONS,
    PENALTIES,
    Examples,
    Fingerprint,
    TooFew,
    outer_folds,
    permutation_p,
)
from analysis.raters.evaluation import Evaluation, balanced_folds, evaluate
from analysis.runs.runs import Warmup
from analysis.statistics.bootstrap import N_DRAWS, bootstrap, percentile_interval
from analysis.statistics.intervals import Estimate
from analysis.statistics.results import Result

TOLERANCE, MAX_STEPS = 1e-6, 1000
# A weak penalty on the intercepts makes the solution unique, and finite if no training item has a category.
ON_INTERCEPTS = 1e-6


@dataclass(frozen=True, repr=False)
class Multinomial(Result):
    """A fitted model: the score of each category is intercept + x @ coefficients."""

    intercepts: Floats  # shape (n_categories,)
    coefficients: Floats  # shape (n_features, n_categories); the coefficients of a feature sum to 0

    def leaning(self, x: Floats) -> Floats:
        """Return the scores without the intercepts, which depend on the shares in the training data."""
        leaning: Floats = x @ self.coefficients
        return leaning

    def probability(self, x: Floats) -> Floats:
        """Return the probability of each category, shape (n_items, n_categories)."""
        probability: Floats = special.softmax(self.intercepts + x @ self.coefficients, axis=1)
        return probability


def fit_multinomial(
    x: Floats,
    category: Indices,
    n_categories: int,
    penalty: float,
    *,
    start: Multinomial | None = None,
    tolerance: float = TOLERANCE,
) -> Multinomial:
    """Fit a multinomial logistic regression with one set of coefficients per category.

    The fit minimises the mean log loss plus penalty / 2 times the sum of squared coefficients. With two categories, it
    is the model of `fit_logistic` with half of the penalty, because each category has half of the log-odds.
    """
    design = np.hstack([np.ones((len(x), 1)), x])
    true = np.eye(n_categories)[category]
    shrink = np.full((design.shape[1], 1), penalty)
    shrink[0] = ON_INTERCEPTS

    def loss(flat: Floats) -> tuple[float, Floats]:
        theta = flat.reshape(design.shape[1], n_categories)
        scores = design @ theta
        log_sum = special.logsumexp(scores, axis=1, keepdims=True)
        value = float((log_sum[:, 0] - (true * scores).sum(axis=1)).mean() + (shrink * theta**2).sum() / 2)
        gradient = design.T @ (np.exp(scores - log_sum) - true) / len(x) + shrink * theta
        return value, gradient.ravel()

    first = np.zeros((design.shape[1], n_categories))
    if start is not None:
        first = np.vstack([start.intercepts, start.coefficients])
    found = optimize.minimize(
        loss, first.ravel(), jac=True, method="L-BFGS-B",
        options={"gtol": tolerance, "ftol": 1e-14, "maxiter": MAX_STEPS},
    ).x.reshape(first.shape)  # fmt: skip
    return Multinomial(found[0], found[1:])


@dataclass(frozen=True, repr=False)
class ChosenMultinomial(Result):
    """A fitted model, and the penalty that the inner folds chose."""

    scale: RankScale
    model: Multinomial
    penalty: float


def choose_multinomial(training: Examples, *, rng: np.random.Generator) -> ChosenMultinomial:
    """Fit a model with the penalty that has the lowest log loss over the inner folds."""
    group, y, k = training.group, training.category, len(training.categories)
    fold = balanced_folds(y, group, min(INNER_FOLDS, int(group.max()) + 1), rng)
    losses = np.zeros((len(PENALTIES), len(y)))
    for n in range(int(fold.max()) + 1):
        inside, outside = fold != n, fold == n
        scale = RankScale.of(training.x[inside])
        x, held_out = scale.apply(training.x[inside]), scale.apply(training.x[outside])
        model = None
        for p, penalty in enumerate(PENALTIES):
            model = fit_multinomial(x, y[inside], k, penalty, start=model, tolerance=LOOSE)
            scores = model.intercepts + model.leaning(held_out)
            own = scores[np.arange(len(scores)), y[outside]]
            losses[p, outside] = special.logsumexp(scores, axis=1) - own
    penalty = PENALTIES[int(losses.mean(axis=1).argmin())]
    scale = RankScale.of(training.x)
    return ChosenMultinomial(scale, fit_multinomial(scale.apply(training.x), y, k, penalty), penalty)


@dataclass(frozen=True, repr=False)
class CategoryOutOfFold(Result):
    """Predictions for items of held-out applications."""

    fold: Indices
    score: Floats  # shape (n, n_categories): scores without intercepts, from which areas are computed
    probability: Floats  # shape (n, n_categories)
    penalties: tuple[float, ...]  # the penalty of each outer fold

    @property
    def called(self) -> Indices:
        """Return the category with the highest probability."""
        called: Indices = self.probability.argmax(axis=1)
        return called


def cross_validate_categories(examples: Examples, *, rng: np.random.Generator) -> CategoryOutOfFold:
    """Compute out-of-fold predictions by nested cross-validation; the inner folds choose the penalty.

    Raises TooFew with fewer than 60 items, 10 of a category or 5 applications.
    """
    if examples.why_too_few:
        raise TooFew(examples.why_too_few)
    fold = outer_folds(examples, rng)
    score, probability = np.zeros((2, len(fold), len(examples.categories)))
    penalties = []
    for n in range(int(fold.max()) + 1):
        held_out = fold == n
        chosen = choose_multinomial(examples.of(~held_out), rng=rng)
        x = chosen.scale.apply(examples.x[held_out])
        score[held_out], probability[held_out] = chosen.model.leaning(x), chosen.model.probability(x)
        penalties.append(chosen.penalty)
    return CategoryOutOfFold(fold, score, probability, tuple(penalties))


def chance_p_of_categories(examples: Examples, validated: CategoryOutOfFold, *, rng: np.random.Generator) -> float:
    """Test by permutation whether the mean one-against-rest area is larger than by chance; return the p value.

    Each permutation gives the labels of one application to another (`permutation_p`). The model is fitted again in the
    same folds with the typical penalty.
    """
    k, penalty = len(examples.categories), float(np.median(validated.penalties))
    scaled = []
    for number in range(int(validated.fold.max()) + 1):
        inside = validated.fold != number
        scale = RankScale.of(examples.x[inside])
        scaled.append((inside, scale.apply(examples.x[inside]), scale.apply(examples.x[~inside])))

    def area(labels: Indices) -> float:
        score = np.zeros((len(labels), k))
        for inside, x, held_out in scaled:
            score[~inside] = fit_multinomial(x, labels[inside], k, penalty, tolerance=LOOSE).leaning(held_out)
        is_of = labels[:, None] == np.arange(k)
        n_of = is_of.sum(axis=0)
        won = (stats.rankdata(score, axis=0) * is_of).sum(axis=0) - n_of * (n_of + 1) / 2
        return float((won / (n_of * (len(labels) - n_of))).mean())

    return permutation_p(area, examples.category, examples.group, rng=rng, n=N_PERMUTATIONS)


@dataclass(frozen=True, repr=False)
class CategoryArea(Result):
    """How well out-of-fold scores separate a category from all others."""

    category: str
    n: int  # number of labels with this category
    auc: Estimate  # area under the ROC curve, with an interval from resampled applications


@dataclass(frozen=True, repr=False)
class LearnedCategories(Result):
    """A learned model of any categories, and the results of its evaluation on held-out applications."""

    model: CategoryModel  # fitted on all items
    n_items: int  # `n_left_out` is the number of rows that have a category but lack a feature
    n_labels: int
    n_applications: int
    n_left_out: int
    target: str  # name of the target
    evaluation: Evaluation  # of the out-of-fold verdicts, with intervals that assume independent items
    # the same numbers with intervals from resampled applications, and accuracy minus that of the majority rule
    accuracy: Estimate
    balanced_accuracy: Estimate
    difference: Estimate
    areas: tuple[CategoryArea, ...]
    brier: Estimate  # mean squared distance between probabilities and category, summed over the categories
    brier_of_shares: float  # the same if the shares of the categories were predicted for each item
    others: tuple[tuple[str, Evaluation], ...]  # all other classifiers on the same items
    folds: CategoryOutOfFold
    table: pd.DataFrame  # one row per item with all numbers from which the results can be recomputed
    warnings: tuple[str, ...]
    seed: int
    chance_p: float  # p value of the permutation test that scores rank the items no better than chance
    useless: str | None  # why the features do not predict the labels; None if they do


def learn_categories(
    truth: pd.DataFrame,
    features: pd.DataFrame,
    applications: pd.Series,
    verdicts: pd.DataFrame,
    categories: Sequence[str],
    *,
    seed: int,
    ordered: bool = False,
    names: Sequence[str] = DEFAULT_FEATURES,
    prints: Mapping[str, Fingerprint] | None = None,
    warmup: Warmup = 0.0,
    name: str = "model",
    target: str = "the consensus",
    background: Mapping[str, Any] | None = None,
    n_draws: int = N_DRAWS,
) -> LearnedCategories:
    """Learn a classifier of these categories, and evaluate it on held-out applications.

    Raises TooFew and ValueError as `learn`. A category that no label has is left out, with a warning. If the categories
    are ordered, the evaluation has a weighted kappa; the model does not use the order.
    """
    checked_name(name)
    examples = examples_to_learn(truth, features, names, applications, prints, categories).of_used_categories()
    used, codes = examples.categories, examples.category
    rng = np.random.default_rng(seed)
    validated = cross_validate_categories(examples, rng=rng)
    chosen = choose_multinomial(examples, rng=rng)
    evaluation = _evaluated(examples, [used[code] for code in validated.called], categories, ordered, rng)
    p = chance_p_of_categories(examples, validated, rng=rng)
    estimates = _by_application(examples, validated, rng=rng, n_draws=n_draws)
    areas = _areas(examples, validated, rng=rng, n_draws=n_draws)
    shares = np.bincount(codes) / len(codes)
    training = {
        **(background or {}), "target": target, "n_items": len(set(examples.items)), "n_labels": len(codes),
        "counts": examples.counts, "applications": sorted(set(examples.applications)),
        "folds": dict(sorted(zip(examples.applications, validated.fold.tolist(), strict=True))), "seed": seed,
        "performance": {
            "accuracy": evaluation.accuracy.value, "balanced_accuracy": evaluation.balanced_accuracy.value,
            "auc": {area.category: area.auc.value for area in areas}, "brier": estimates["brier"].value,
        },
        "segments": SEGMENT_VERSION if set(names) & set(SEGMENT_FEATURES) else None,
    }  # fmt: skip
    others = _others(verdicts, examples, categories, ordered, rng)
    return LearnedCategories(
        model=CategoryModel(
            name, used,
            tuple(
                CategoryTerm(feature, FEATURES[feature].version, tuple(quantiles), tuple(coefficients))
                for feature, quantiles, coefficients in zip(
                    names, chosen.scale.quantiles.tolist(), chosen.model.coefficients.tolist(), strict=True
                )
            ),
            tuple(chosen.model.intercepts.tolist()), chosen.penalty, warmup, training,
        ),
        n_items=len(set(examples.items)),
        n_labels=len(codes),
        n_applications=len(set(examples.applications)),
        n_left_out=examples.n_left_out,
        target=target,
        evaluation=evaluation,
        **estimates,
        areas=areas,
        brier_of_shares=float(1 - (shares**2).sum()),
        others=tuple((other, found) for other, (found, _) in others.items()),
        folds=validated,
        table=_table(examples, validated, {other: given for other, (_, given) in others.items()}),
        warnings=tuple(_warnings(examples, categories)),
        seed=seed,
        chance_p=p,
        useless=_useless(evaluation, areas, p),
    )  # fmt: skip


def _evaluated(
    examples: Examples,
    called: Sequence[str | None],
    categories: Sequence[str],
    ordered: bool,
    rng: np.random.Generator,
) -> Evaluation:
    true = [examples.categories[code] for code in examples.category]
    return evaluate(true, called, categories, ordered=ordered, rng=rng)


def _others(
    verdicts: pd.DataFrame,
    examples: Examples,
    categories: Sequence[str],
    ordered: bool,
    rng: np.random.Generator,
) -> dict[str, tuple[Evaluation, list[str | None]]]:
    found = {}
    for name, rows in verdicts.groupby("classifier"):
        of_item = {str(item): verdict for item, verdict in zip(rows["item"], rows["verdict"], strict=True)}
        called = [verdict if isinstance(verdict := of_item.get(item), str) else None for item in examples.items]
        if any(called):
            found[str(name)] = (_evaluated(examples, called, categories, ordered, rng), called)
    return found


def _by_application(
    examples: Examples, validated: CategoryOutOfFold, *, rng: np.random.Generator, n_draws: int
) -> dict[str, Estimate]:
    """Return the numbers of the out-of-fold verdicts with intervals from resampled applications."""
    y, k = examples.category, len(examples.categories)
    is_of = (y[:, None] == np.arange(k)).astype(np.float64)
    right = (validated.called == y).astype(np.float64)
    by_rule = (y == np.bincount(y).argmax()).astype(np.float64)
    squared = ((validated.probability - is_of) ** 2).sum(axis=1)

    def recalls(weights: Floats) -> Floats:
        of_categories: Floats = ((weights * right) @ is_of / (weights @ is_of)).mean(axis=1)
        return of_categories

    def mean(values: Floats) -> Estimate:
        return bootstrap(
            lambda weights: weights @ values / weights.sum(axis=1), len(y), rng=rng, n_draws=n_draws,
            groups=examples.group,
        )  # fmt: skip

    return {
        "accuracy": mean(right),
        "balanced_accuracy": bootstrap(recalls, len(y), rng=rng, n_draws=n_draws, groups=examples.group),
        "difference": mean(right - by_rule),
        "brier": mean(squared),
    }


def _areas(
    examples: Examples, validated: CategoryOutOfFold, *, rng: np.random.Generator, n_draws: int
) -> tuple[CategoryArea, ...]:
    group = examples.group
    n_groups = int(group.max()) + 1
    draws = rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), size=n_draws).astype(np.float64)
    weights = np.vstack([np.ones(n_groups), draws])
    areas = []
    for code, category in enumerate(examples.categories):
        is_of = examples.category == code
        values = area_by_groups(is_of, group, validated.score[:, code], n_groups)(weights)
        areas.append(CategoryArea(category, int(is_of.sum()), percentile_interval(float(values[0]), values[1:], 0.95)))
    return tuple(areas)


def _useless(evaluation: Evaluation, areas: Sequence[CategoryArea], p: float) -> str | None:
    """Return why the learned classifier is no better than a rule without features; None if it is."""
    if p > ALPHA:
        mean = float(np.mean([area.auc.value or 0.0 for area in areas]))
        return (
            f"the mean area under the ROC curve ({mean:.3f}) is not larger than with the labels of other applications "
            f"(permutation test, p = {p:.2g})"
        )
    if (evaluation.accuracy.value or 0.0) <= (evaluation.baseline.accuracy.value or 0.0):
        rule = f"always {evaluation.baseline.category}"
        return f'the learned classifier agrees with the labels no more often than the rule "{rule}"'
    return None


def _table(
    examples: Examples, validated: CategoryOutOfFold, others: Mapping[str, Sequence[str | None]]
) -> pd.DataFrame:
    names = np.array(examples.categories, dtype=object)
    columns: dict[str, Any] = {
        "item": examples.items, "application": examples.applications, "consensus": names[examples.category],
        "fold": validated.fold, "learned verdict": names[validated.called],
    }  # fmt: skip
    for code, category in enumerate(examples.categories):
        columns[f"learned score of {category}"] = validated.score[:, code]
        columns[f"learned probability of {category}"] = validated.probability[:, code]
    return pd.DataFrame({**columns, **{f"{name} verdict": called for name, called in others.items()}})


def _warnings(examples: Examples, categories: Sequence[str]) -> list[str]:
    """Return warnings about categories without labels, and about intervals that are too narrow."""
    found = [
        f"No label is {category}, so the model never gives this category."
        for category in categories
        if category not in examples.categories
    ]
    return [*found, *sample_warnings(examples.items, examples.applications, examples.twins, examples.n_left_out)]
