"""Cross-validate models in nested folds of applications, so that models are scored only on held-out items.

Further: how well probabilities are calibrated, and the best performance that wrong labels allow.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from analysis.arrays import Bools, Floats, Indices
from analysis.categories import CATEGORIES
from analysis.document import counted
from analysis.learning._fit import Logistic, Scale, fit, log_losses, n_columns_of, probabilities, scale_of
from analysis.raters.evaluation import balanced_folds
from analysis.statistics.bootstrap import N_DRAWS, bootstrap
from analysis.statistics.intervals import Estimate, wilson
from analysis.statistics.results import Result

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
    category: Indices  # index in `categories`
    x: Floats
    features: tuple[str, ...]
    n_left_out: int = 0  # number of rows that have a category but lack a feature
    twins: tuple[tuple[str, ...], ...] = ()  # groups of items with nearly the same measurements (`twins_of`)
    categories: tuple[str, ...] = CATEGORIES

    @property
    def is_second(self) -> Bools:
        """Return whether each row has the second category, which is the positive one of two."""
        second: Bools = self.category == 1
        return second

    @property
    def names(self) -> list[str]:
        """Return the category of each row."""
        return [self.categories[code] for code in self.category]

    @property
    def group(self) -> Indices:
        """Return the index of each row's application; applications with twins of each other count as one."""
        application = dict(zip(self.items, self.applications, strict=True))
        leader = {name: name for name in self.applications}
        for names in self.twins:
            found = [leader[application[item]] for item in names if item in application]
            for name, of in leader.items():
                if of in found:
                    leader[name] = found[0]
        return pd.factorize(pd.Series([leader[name] for name in self.applications], dtype=object))[0]

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of labels of each category."""
        counts = np.bincount(self.category, minlength=len(self.categories)).tolist()
        return dict(zip(self.categories, counts, strict=True))

    def only(self, names: Sequence[str]) -> "Examples":
        """Return the examples with these features only."""
        columns = [self.features.index(name) for name in names if name in self.features]
        return replace(self, x=self.x[:, columns], features=tuple(self.features[j] for j in columns))

    @property
    def why_too_few(self) -> str | None:
        """Return why there are too few data for learning; return None if there are enough."""
        if len(self.categories) < 2:
            return "the labels have fewer than two categories"
        n_items, n_applications = len(set(self.items)), len(set(self.group))
        if n_items < MIN_ITEMS:
            return f"{n_items} items have a category and all features; at least {MIN_ITEMS} are needed"
        counts = self.counts
        rare = min(counts, key=counts.__getitem__)
        if counts[rare] < MIN_OF_CATEGORY:
            return (
                f"{counted(counts[rare], 'label')} {'is' if counts[rare] == 1 else 'are'} {rare}; "
                f"at least {MIN_OF_CATEGORY} of each category are needed"
            )
        if n_applications < MIN_APPLICATIONS:
            return (
                f"the items come from {counted(n_applications, 'application')}; at least {MIN_APPLICATIONS} are "
                "needed, because a model is scored on held-out applications"
            )
        return None

    def of_used_categories(self) -> "Examples":
        """Return the same rows with only the categories that they have."""
        used, category = np.unique(self.category, return_inverse=True)
        return replace(self, category=category, categories=tuple(self.categories[k] for k in used))

    def of(self, rows: Indices | Bools) -> "Examples":
        """Return the selected rows."""
        numbers = np.arange(len(self.items))[rows]
        return replace(
            self,
            items=tuple(self.items[i] for i in numbers),
            applications=tuple(self.applications[i] for i in numbers),
            category=self.category[numbers],
            x=self.x[numbers],
        )


MANY_FEATURES, SAME_SHARE, SAME_FEATURE, EQUAL = 30, 0.6, 0.05, 1e-9  # twins by features (`twins_by_features`)
SAME_LEVEL, SAME_STEPS = 0.005, 0.3  # largest difference of run medians, and least correlation of steps, of twins
N_ERRORS = 5  # a correlation of few steps must also be so many standard errors above 0
N_STEPS = 200  # iterations of each run that are compared
N_LEFT_OUT = 30  # first iterations, at most half of a run: different benchmarks warm up in the same way


@dataclass(frozen=True)
class Fingerprint:
    """What nearly equal measurements have in common: run medians, and the steps from one iteration to the next."""

    levels: Floats  # logs of the run medians in ascending order
    steps: Floats  # differences of the logs of the iterations after the first ones, in the same order of runs

    @classmethod
    def of(cls, runs: Sequence[Floats]) -> "Fingerprint | None":
        """Return the fingerprint of the runs of a benchmark; None if a measurement is not positive."""
        if not len(runs) or not all(len(run) and (run > 0).all() for run in runs):
            return None
        ordered = sorted((np.log(run) for run in runs), key=np.median)
        return cls(
            np.array([np.median(run) for run in ordered]),
            np.concatenate([np.diff(run[min(N_LEFT_OUT, len(run) // 2) :][: N_STEPS + 1]) for run in ordered]),
        )

    def is_twin(self, other: "Fingerprint") -> bool:
        """Return whether both are measurements of the same processes, perhaps with other noise added."""
        if len(self.levels) != len(other.levels) or len(self.steps) != len(other.steps):
            return False
        if (np.abs(self.levels - other.levels) > SAME_LEVEL).any():
            return False
        size = float(np.sqrt((self.steps @ self.steps) * (other.steps @ other.steps)))
        if size == 0:  # constant runs
            return bool((self.levels == other.levels).all() and (self.steps == other.steps).all())
        least = max(SAME_STEPS, N_ERRORS / math.sqrt(len(self.steps)))
        return float(self.steps @ other.steps) / size > least


def twins_by_features(features: pd.DataFrame) -> tuple[tuple[str, ...], ...]:
    """Return groups of items with nearly the same features, if their measurements are not at hand.

    Two items are twins if 60 % of at least 30 features differ by at most 5 %; of 203 different benchmarks, no two share
    more than 30 %. With fewer features, all must be equal.
    """
    x = features.to_numpy(dtype=np.float64)
    leader = list(range(len(x)))
    for i in range(len(x)):
        size = np.maximum(np.abs(x[i + 1 :]), np.abs(x[i]))
        usable = size > 0  # False for missing values
        n = usable.sum(axis=1)
        tolerance = np.where(n >= MANY_FEATURES, SAME_FEATURE, EQUAL)[:, None]
        n_same = ((np.abs(x[i + 1 :] - x[i]) <= tolerance * size) & usable).sum(axis=1)
        alike = (n > 0) & (n_same >= np.where(n >= MANY_FEATURES, SAME_SHARE, 1.0) * n)
        for j in np.flatnonzero(alike).tolist():
            leader[i + 1 + j] = leader[i]
    groups: dict[int, list[str]] = {}
    for name, first in zip(map(str, features.index), leader, strict=True):
        groups.setdefault(first, []).append(name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)


def twins_of(prints: Mapping[str, Fingerprint]) -> tuple[tuple[str, ...], ...]:
    """Return groups of items with nearly the same measurements, such as one benchmark under two applications.

    A model that is trained on one of them knows the other, so they must be in one fold. Equal distributions are not
    enough: the steps from iteration to iteration must be the same, too.
    """
    left, groups = sorted(prints), []
    while left:
        first = left.pop(0)
        same = [name for name in left if prints[first].is_twin(prints[name])]
        if same:
            groups.append((first, *same))
            left = [name for name in left if name not in same]
    return tuple(groups)


def examples_of(
    truth: pd.DataFrame,
    features: pd.DataFrame,
    names: Sequence[str],
    applications: pd.Series,
    twins: tuple[tuple[str, ...], ...] = (),
    categories: Sequence[str] = CATEGORIES,
) -> Examples:
    """Match the categories and the features of the same items.

    Raises ValueError if a feature is not in the table, an item has no application, or a category is not one of
    `categories`.

    `truth`: columns item and category; an item may have several rows, one per label; `features`: indexed by item, one
    column per feature. The result is sorted by item. Rows of items that lack a feature are left out and counted.
    """
    unknown = [name for name in names if name not in features.columns]
    if unknown or not names:
        known = ", ".join(map(str, features.columns))
        raise ValueError(
            f"unknown feature {unknown[0]!r}; choose from {known}"
            if unknown
            else "names is empty; name at least one feature"
        )
    wrong = truth[~truth["category"].isin(categories)]
    if len(wrong):
        row = wrong.iloc[0]
        raise ValueError(f"{row['category']!r} (item {row['item']!r}) is not one of: {', '.join(categories)}")
    rows = truth.sort_values("item", kind="stable")
    x = features[list(names)].astype(float).reindex(rows["item"]).to_numpy(dtype=np.float64)
    complete = np.isfinite(x).all(axis=1)
    rows, x = rows[complete], x[complete]
    of_item = applications.reindex(rows["item"]).astype(object)
    without = of_item.isna() | (of_item == "")
    if without.any():
        raise ValueError(f"item {of_item.index[without][0]!r} has no application")
    codes = pd.Categorical(rows["category"], categories=list(categories)).codes.astype(np.intp)
    return Examples(
        tuple(map(str, rows["item"])), tuple(map(str, of_item)), codes, x, tuple(names), int((~complete).sum()), twins,
        tuple(categories),
    )  # fmt: skip


@dataclass(frozen=True, repr=False)
class ChosenModel(Result):
    """A fitted model, and the penalty and the threshold that the inner folds chose."""

    scale: Scale
    model: Logistic
    penalty: float
    threshold: float | None  # items whose second category is more probable get it; None: the most probable category

    def leaning(self, x: Floats) -> Floats:
        """Return the leaning to each category (`Logistic.leaning`), from unscaled features."""
        return self.model.leaning(self.scale.apply(x))

    def probability(self, x: Floats) -> Floats:
        """Return the probability of each category, shape (n_items, n_categories), from unscaled features."""
        return self.model.probability(self.scale.apply(x))


@dataclass(frozen=True, repr=False)
class OutOfFold(Result):
    """Predictions for items of held-out applications."""

    fold: Indices
    # Leaning to each category, shape (n, n_categories), relative to the mean item of the training folds. The ROC
    # curve uses this score. The intercept is left out because it depends on the share of a category in the training
    # folds, which is low if the held-out fold has many items of it. With the intercept, the area of pure noise would
    # be below 0.5.
    score: Floats
    probability: Floats  # shape (n, n_categories)
    threshold: Floats | None  # None without a cost ratio
    called: Indices  # 1 if probability > threshold, else 0; without a threshold, the most probable category
    penalties: tuple[float, ...]  # the penalty of each outer fold


def cross_validate(
    examples: Examples,
    *,
    rng: np.random.Generator,
    monotone: bool = False,
    cost_ratio: float | None = None,
    folds: Indices | None = None,
) -> OutOfFold:
    """Compute out-of-fold scores by nested cross-validation [1]_.

    The inner folds choose the penalty and the threshold. The outer folds are used only for scoring. Raises TooFew with
    fewer than 60 items, 10 of a category or 5 applications. Raises ValueError if an application is in two folds.

    `rng`: random generator for the assignment of applications to folds; `cost_ratio`: cost of a missed item of the
    second of two categories divided by the cost of a false alarm; 1 maximises accuracy; None: no threshold, but the
    most probable category; `folds` (shape (n,)): the outer folds, such as from `outer_folds`; drawn by default.

    References
    ----------
    .. [1] Varma, Simon (2006), BMC Bioinformatics 7:91, doi:10.1186/1471-2105-7-91
    """
    if examples.why_too_few:
        raise TooFew(examples.why_too_few)
    fold = outer_folds(examples, rng) if folds is None else folds
    if any(len(set(fold[examples.group == g])) > 1 for g in np.unique(examples.group)):
        raise ValueError("folds must keep all items of an application together")
    score, probability = np.zeros((2, len(fold), len(examples.categories)))
    threshold = None if cost_ratio is None else np.zeros(len(fold))
    penalties = []
    for k in range(int(fold.max()) + 1):
        held_out = fold == k
        chosen = choose(examples.of(~held_out), rng=rng, monotone=monotone, cost_ratio=cost_ratio)
        score[held_out] = chosen.leaning(examples.x[held_out])
        probability[held_out] = chosen.probability(examples.x[held_out])
        if threshold is not None:
            threshold[held_out] = chosen.threshold
        penalties.append(chosen.penalty)
    called = probability.argmax(axis=1) if threshold is None else (probability[:, 1] > threshold).astype(np.intp)
    return OutOfFold(fold, score, probability, threshold, called, tuple(penalties))


N_PERMUTATIONS = 200
LOOSE = 1e-4  # tolerance of the fits to permuted labels, which only rank items


def chance_p(
    examples: Examples, validated: OutOfFold, *, monotone: bool, rng: np.random.Generator, n: int = N_PERMUTATIONS
) -> float:
    """Test by permutation whether the out-of-fold scores rank the items better than chance; return the p value.

    The statistic is the mean area under the ROC curve of the categories, each against the rest. Each permutation gives
    the labels of one application to another, in their order, so that items of an application stay alike. The model is
    then fitted again in the same folds with the typical penalty. Benchmarks of one application are alike, so an
    interval over items, or over a few applications, is not valid for this question.
    """
    fold, k = validated.fold, len(examples.categories)
    penalty = float(np.median(validated.penalties))
    scaled = []
    for number in range(int(fold.max()) + 1):
        inside = fold != number
        scale = scale_of(examples.x[inside], monotone=monotone)
        scaled.append((inside, scale.apply(examples.x[inside]), scale.apply(examples.x[~inside])))

    def area(labels: Indices) -> float:
        score = np.zeros((len(labels), k))
        for inside, x, held_out in scaled:
            model = fit(x, labels[inside], k, penalty, monotone=monotone, tolerance=LOOSE)
            score[~inside] = model.leaning(held_out)
        is_of = labels[:, None] == np.arange(k)
        n_of = is_of.sum(axis=0)
        won = (stats.rankdata(score, axis=0) * is_of).sum(axis=0) - n_of * (n_of + 1) / 2
        return float((won / (n_of * (len(labels) - n_of))).mean())

    return permutation_p(area, examples.category, examples.group, rng=rng, n=n)


def permutation_p(
    statistic: Callable[[NDArray[Any]], float],
    labels: NDArray[Any],
    group: Indices,
    *,
    rng: np.random.Generator,
    n: int,
) -> float:
    """Return the share of permutations of labels between groups whose statistic is at least that of the labels."""
    order = np.argsort(group, kind="stable")
    blocks = [order[group[order] == g] for g in range(int(group.max()) + 1)]
    observed = statistic(labels)
    n_as_large = 0
    for _ in range(n):
        given = np.concatenate([blocks[g] for g in rng.permutation(len(blocks))])
        permuted = np.empty_like(labels)
        permuted[order] = labels[given]
        n_as_large += statistic(permuted) >= observed
    return (1 + n_as_large) / (1 + n)


def outer_folds(examples: Examples, rng: np.random.Generator) -> Indices:
    """Return the outer fold of each row. Folds keep applications together and balance all categories."""
    n_folds = min(OUTER_FOLDS, int(examples.group.max()) + 1)
    return balanced_folds(examples.category, examples.group, n_folds, rng)


def choose(
    training: Examples,
    *,
    rng: np.random.Generator,
    monotone: bool = False,
    cost_ratio: float | None = None,
    n_folds: int = INNER_FOLDS,
) -> ChosenModel:
    """Fit a model, and choose its penalty and threshold by cross-validation.

    Of `PENALTIES`, which go from strong to weak, the chosen one has the lowest log loss over the inner folds. The
    model is then fitted with this penalty to all rows. With a cost ratio, the threshold with the lowest cost is chosen.
    """
    group, y, k = training.group, training.category, len(training.categories)
    fold = balanced_folds(y, group, min(n_folds, int(group.max()) + 1), rng)
    scores = np.zeros((len(PENALTIES), len(y), n_columns_of(k)))
    for number in range(int(fold.max()) + 1):
        inside, outside = fold != number, fold == number
        scale = scale_of(training.x[inside], monotone=monotone)
        x, held_out = scale.apply(training.x[inside]), scale.apply(training.x[outside])
        model = None
        for p, penalty in enumerate(PENALTIES):
            model = fit(x, y[inside], k, penalty, monotone=monotone, start=model)
            scores[p, outside] = model.scores(held_out)
    best = int(np.argmin([log_losses(of_penalty, y).mean() for of_penalty in scores]))
    scale = scale_of(training.x, monotone=monotone)
    model = fit(scale.apply(training.x), y, k, PENALTIES[best], monotone=monotone)
    threshold = None
    if cost_ratio is not None:
        threshold = best_threshold(training.is_second, probabilities(scores[best])[:, 1], cost_ratio)
    return ChosenModel(scale, model, PENALTIES[best], threshold)


def best_threshold(positive: Bools, probability: Floats, cost_ratio: float) -> float:
    """Return the threshold in [0, 1] with the lowest cost.

    `cost_ratio` is the cost of a missed positive item divided by the cost of a false alarm. The candidates are
    halfway between neighbouring probabilities, and 1 / (1 + cost_ratio), which is best for calibrated probabilities. If
    several have the lowest cost, return the one nearest to that value.
    """
    ideal = 1 / (1 + cost_ratio)
    order = np.argsort(probability, kind="stable")
    ordered, of_positive = probability[order], positive[order]
    middle = np.concatenate(([0.0], (ordered[1:] + ordered[:-1]) / 2, [1.0], [ideal]))
    # items with probability <= threshold are not called positive
    below = np.searchsorted(ordered, middle, side="right")
    missed = np.concatenate(([0], np.cumsum(of_positive)))[below]
    alarms = (~of_positive).sum() - np.concatenate(([0], np.cumsum(~of_positive)))[below]
    cost = cost_ratio * missed + alarms
    best = middle[cost <= cost.min() * (1 + 1e-12)]
    return float(best[np.abs(best - ideal).argmin()])


MAX_BINS, PER_BIN = 10, 20


@dataclass(frozen=True, repr=False)
class Bin(Result):
    """A group of items with similar predicted probabilities."""

    n: int
    probability: float  # mean probability of the positive category
    share: Estimate  # share of positive items, with Wilson's interval


@dataclass(frozen=True, repr=False)
class Calibration(Result):
    """Calibration of the predicted probability that an item is positive.

    `reference`: Brier score of the prediction that is the share of positive items for each item. It is equal to the
    uncertainty.

    References
    ----------
    .. [1] Stephenson, Coelho, Jolliffe (2008), Weather and Forecasting 23:752-757, doi:10.1175/2007WAF2006116.1
    """

    bins: tuple[Bin, ...]  # groups with equal numbers of items, in order of probability
    # Mean squared error of the probabilities in [0, 1]; 0 is best. The interval comes from resampled
    # applications.
    brier: Estimate
    # brier = reliability - resolution + uncertainty + within_bins [1]_. Reliability is the mean squared distance
    # of the curve from the diagonal (0 is best). Resolution is how much the shares of the bins differ.
    # Uncertainty is the score if only the overall share is known. within_bins is the loss from binning.
    reliability: float
    resolution: float
    uncertainty: float
    within_bins: float

    @property
    def reference(self) -> float:
        """Return the Brier score if the prediction for each item is the share of positive items."""
        return self.uncertainty


def calibration(
    positive: Bools,
    probability: Floats,
    group: Indices,
    *,
    rng: np.random.Generator,
    n_draws: int = N_DRAWS,
    level: float = 0.95,
) -> Calibration:
    """Compare predicted probabilities with the categories of the items.

    Raises ValueError if there are no items, or a probability is not within [0, 1].

    `positive` (shape (n,)); `probability` (shape (n,)): probability of the positive category, from models that were not
    fitted on these items; `group` (shape (n,)): number of each item's application.
    """
    n = len(probability)
    if not n or not ((probability >= 0) & (probability <= 1)).all():
        raise ValueError("probability must be at least one number, and all numbers must be within [0, 1]")
    y, share = positive.astype(np.float64), float(positive.mean())
    parts = np.array_split(np.argsort(probability, kind="stable"), max(1, min(MAX_BINS, n // PER_BIN)))
    bins = [Bin(len(part), float(probability[part].mean()), wilson(int(y[part].sum()), len(part), level))
            for part in parts]  # fmt: skip
    size = np.array([len(part) for part in parts]) / n
    mean, seen = (np.array([values[part].mean() for part in parts]) for values in (probability, y))
    squared = (probability - y) ** 2
    brier = bootstrap(
        lambda weights: weights @ squared / weights.sum(axis=1), n, rng=rng, n_draws=n_draws, level=level, groups=group
    )
    reliability, resolution = float(size @ (mean - seen) ** 2), float(size @ (seen - share) ** 2)
    uncertainty = share * (1 - share)
    within = float(squared.mean()) - (reliability - resolution + uncertainty)
    return Calibration(tuple(bins), brier, reliability, resolution, uncertainty, within)


LEAST_RETESTS = 20  # with fewer retests, the share of wrong labels is too uncertain to be printed


@dataclass(frozen=True, repr=False)
class Ceiling(Result):
    """The best results that a perfect classifier can reach on labels of which some are wrong."""

    n_retests: int
    n_changed: int
    error: Estimate  # probability that a label of the target is wrong
    accuracy: Estimate
    auc: Estimate


def ceiling(n_changed: int, n_retests: int, share: float, *, n_agreeing: int = 1, level: float = 0.95) -> Ceiling:
    """Return the highest accuracy and area under the ROC curve that labels with errors allow.

    If the errors of two labels of the same reviewer on an item are independent, the share f of changed labels is
    2 e (1 - e), so a label is wrong with the probability e = (1 - sqrt(1 - 2 f)) / 2. Raises ValueError if a number is
    out of range.

    `n_changed` and `n_retests`: number of retests in which the label changed, and number of all retests; `share`: share
    of the positive category among the labels of the target, in [0, 1]; `n_agreeing`: number of independent equal labels
    that an item of the target has: 1 if single labels are the target, 2 for items with two equal labels, which are
    wrong with the probability e^2 / (e^2 + (1 - e)^2); `level`: confidence level; all intervals follow from Wilson's
    interval of the share of changed labels. The result is undefined with fewer than 20 retests.
    """
    if not 0 <= n_changed <= n_retests or not 0 <= share <= 1:
        raise ValueError(f"n_changed must be within 0..n_retests and share within [0, 1], got {n_changed} of "
                         f"{n_retests} and {share}")  # fmt: skip
    if n_retests < LEAST_RETESTS:
        none = Estimate(None, reason=f"fewer than {LEAST_RETESTS} retests ({n_retests})")
        return Ceiling(n_retests, n_changed, none, none, none)
    changed = wilson(n_changed, n_retests, level)

    def error(f: float) -> float:
        e = (1 - max(1 - 2 * f, 0.0) ** 0.5) / 2
        return float(e**n_agreeing / (e**n_agreeing + (1 - e) ** n_agreeing))

    def auc(f: float) -> float:
        e = error(f)
        if e >= 0.5 or share in (0, 1):
            return 0.5
        p = min(max((share - e) / (1 - 2 * e), 0.0), 1.0)  # true share of positive items
        a, b = e * (1 - p) / share, e * p / (1 - share)
        return 0.5 + 0.5 * max(1 - a - b, 0.0)

    return Ceiling(
        n_retests, n_changed, _mapped(changed, error), _mapped(changed, lambda f: 1 - error(f)), _mapped(changed, auc)
    )


def _mapped(share: Estimate, to: Callable[[float], float]) -> Estimate:
    value, *ends = (to(x) for x in share.ends or ())
    return Estimate(value, low=min(ends), high=max(ends))
