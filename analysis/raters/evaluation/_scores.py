"""Rate the scores of a classifier by curves and areas, and choose a threshold by cross-validation in balanced folds."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from analysis.arrays import Bools, Floats, Ints
from analysis.categories import CATEGORIES
from analysis.raters.evaluation._confusion import (
    Categories,
    Confusion,
    Declared,
    Scored,
    Scores,
    as_floats,
    matched,
    scored,
    youden,
)
from analysis.raters.tables import ranks
from analysis.statistics.intervals import Estimate, checked_level
from analysis.statistics.results import Result


@dataclass(frozen=True, eq=False)
class Cuts:
    """All cuts of a set of items, in order of the threshold. A cut divides the items by a threshold.

    The first cut calls all items positive, and the last cut calls no item positive.
    """

    # Thresholds in ascending order; an item is called positive if its score > theta. Thresholds are midpoints
    # between neighbouring scores, except that the first is just below the lowest score and the last is the
    # highest score.
    theta: Floats
    fp: Ints  # number of other items called positive, and number of positive items called otherwise
    fn: Ints
    n_positive: int  # number of items by category
    n_rest: int

    @property
    def tp(self) -> Ints:
        """Return the number of positive items called positive, for each cut."""
        return self.n_positive - self.fn


def cuts(is_positive: Bools, scores: Floats) -> Cuts:
    """Compute all cuts of scored items; return no cuts if there are no items.

    Items with equal scores stay on the same side of a cut.
    """
    values, place = np.unique(scores, return_inverse=True)
    n_positive = int(is_positive.sum())
    n_rest = len(scores) - n_positive
    if not len(values):
        return Cuts(values, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0, 0)
    fn = np.concatenate([[0], np.cumsum(np.bincount(place[is_positive], minlength=len(values)))])
    fp = n_rest - np.concatenate([[0], np.cumsum(np.bincount(place[~is_positive], minlength=len(values)))])
    with np.errstate(over="ignore"):  # the number below the lowest float is -inf
        just_below = np.nextafter(values, -np.inf)
    # Add halves, because the sum may overflow; rounding must not reach the upper neighbour.
    between = np.minimum(values[:-1] / 2 + values[1:] / 2, just_below[1:])
    return Cuts(np.concatenate([just_below[:1], between, values[-1:]]), fp, fn, n_positive, n_rest)


ONE_ITEM = "only one item in a category: no standard error"
ALL_EQUAL = "all scores are equal: no standard error"
SEPARATED = "the scores separate the categories: no interval"
NO_VARIATION = "all items contribute equally: no standard error"


@dataclass(frozen=True, repr=False)
class Roc(Result):
    """The receiver operating characteristic (ROC): one point for each threshold."""

    # Thresholds in descending order. An item is called positive if score > threshold, so the first threshold
    # calls no item positive and the last threshold calls all items positive.
    threshold: tuple[float, ...]
    sensitivity: tuple[float, ...]  # the points, from (0, 0) to (1, 1); false_positive_rate is 1 - specificity
    false_positive_rate: tuple[float, ...]
    n_positive: int  # number of items with a score by category, and number of items without a score
    n_rest: int
    n_without_score: int = 0
    reason: str | None = None  # why there are no points


@dataclass(frozen=True, repr=False)
class PrecisionRecall(Result):
    """Precision against recall (sensitivity): one point for each threshold that calls at least one item positive."""

    # Sorted from the highest to the lowest threshold. At the lowest threshold, all items are called positive,
    # so precision is equal to prevalence.
    threshold: tuple[float, ...]
    recall: tuple[float, ...]
    precision: tuple[float, ...]
    # Share of positive items, which is the precision of a score that is independent of the consensus.
    prevalence: float | None
    n_without_score: int = 0  # number of items that were left out
    reason: str | None = None  # why there are no points


@dataclass(frozen=True, repr=False)
class AucComparison(Result):
    """Comparison of the areas under the ROC curves of two scores on the same items."""

    a: Estimate  # the areas on the items with both scores
    b: Estimate
    difference: Estimate  # a - b with the standard error of the paired difference, in [-1, 1]
    p: float | None  # Two-sided p value of equal areas; None if the difference has no standard error
    n: int  # number of items with both scores, and number of other items
    n_without_score: int
    p_holm: float | None = None  # corrected for several comparisons, if they were corrected


def roc(
    truth: Categories, scores: Scores, *, categories: Declared = CATEGORIES, positive: Hashable | None = None
) -> Roc:
    """Compute sensitivity and 1 - specificity at every threshold.

    Raises ValueError if the lengths differ, a value is not a category, or a score is not a finite number.

    `truth`: the category of each item; `scores`: a larger score means that the positive category is more likely. Series
    are matched by item. Items with score None or NaN are left out and counted. Equal scores give one point. The curve
    has no points if the items with a score have only one category.
    """
    items = scored(truth, scores, categories, positive)
    n_positive = int(items.is_positive.sum())
    counts = n_positive, len(items.scores) - n_positive, items.n_without_score
    if items.reason:
        return Roc((), (), (), *counts, items.reason)
    at = cuts(items.is_positive, items.scores)
    columns = at.theta, at.tp / at.n_positive, at.fp / at.n_rest
    threshold, sensitivity, false_positive_rate = (tuple(column[::-1].tolist()) for column in columns)
    return Roc(threshold, sensitivity, false_positive_rate, *counts)


def precision_recall(
    truth: Categories, scores: Scores, *, categories: Declared = CATEGORIES, positive: Hashable | None = None
) -> PrecisionRecall:
    """Compute precision and recall at every threshold that calls at least one item positive.

    The curve has no points if the items with a score have only one category.
    """
    return _precision_recall(scored(truth, scores, categories, positive))


def auc(
    truth: Categories,
    scores: Scores,
    *,
    categories: Declared = CATEGORIES,
    positive: Hashable | None = None,
    level: float = 0.95,
) -> Estimate:
    """Compute the area under the ROC curve.

    The area is the probability that a positive item scores higher than another item; ties count half.

    Parameters
    ----------
    truth, scores, categories, positive
        As in `roc`.
    level : float
        Confidence level. The interval is normal on the logit scale [2]_, so it stays within (0, 1) and is accurate near
        1, where the ordinary interval exceeds the range.

    Returns
    -------
    Estimate
        In [0, 1], with the standard error of DeLong et al. [1]_, computed from ranks [3]_. The area is 0.5 for a random
        score. Undefined if the items with a score have only one category. There is no interval if a category has one
        item, or if the standard error is 0. This is the case if all scores are equal (area 0.5), or if scores separate
        the categories (area 0 or 1).

    Raises
    ------
    ValueError
        As in `roc`.

    References
    ----------
    .. [1] DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44:837-845, doi:10.2307/2531595
    .. [2] Pepe (2003), The Statistical Evaluation of Medical Tests for Classification and Prediction, 5.2
    .. [3] Sun, Xu (2014), IEEE Signal Processing Letters 21:1389-1393, doi:10.1109/LSP.2014.2337313

    Examples
    --------
    >>> auc(["dissimilar", "dissimilar", "similar", "similar"], [0.9, 0.4, 0.4, 0.1]).value
    0.875
    """
    items = scored(truth, scores, categories, positive)
    return _auc(items, level)


def average_precision(
    truth: Categories,
    scores: Scores,
    *,
    categories: Declared = CATEGORIES,
    positive: Hashable | None = None,
    level: float = 0.95,
) -> Estimate:
    """Compute average precision: the mean precision over thresholds, weighted by the gain in recall.

    The interval is normal on the logit scale, with n_positive as the number of trials [1]_. The result is in (0, 1].
    A random score has the prevalence as average precision. Undefined if the items with a score have only one category.
    There is no interval if the value is 1.

    References
    ----------
    .. [1] Boyd, Eng, Page (2013), ECML PKDD, LNCS 8190:451-466, doi:10.1007/978-3-642-40994-3_29
    """
    items = scored(truth, scores, categories, positive)
    curve = _precision_recall(items)
    if curve.reason:
        return Estimate(None, reason=curve.reason)
    if curve.precision[curve.recall.index(1.0)] == 1:
        return Estimate(1.0, reason=SEPARATED)
    value = float(np.diff(curve.recall, prepend=0.0) @ curve.precision)
    low, high = _logit_interval(value, (value * (1 - value) / items.is_positive.sum()) ** 0.5, level)
    return Estimate(value, low=low, high=high)


def compare_auc(
    truth: Categories,
    scores_a: Scores,
    scores_b: Scores,
    *,
    categories: Declared = CATEGORIES,
    positive: Hashable | None = None,
    level: float = 0.95,
) -> AucComparison:
    """Compare the areas under the ROC curves of two scores on the same items.

    The test is the paired test of DeLong et al. [1]_. Raises ValueError as in `roc`.

    `truth`: the category of each item; `scores_a` and `scores_b`: as in `roc`; items without both scores are left out;
    `level`: confidence level; the interval of the difference is normal, truncated at -1 and 1. The result is undefined
    if the areas are undefined. If both scores rank the items equally, the difference is 0, p = 1, and there is no
    standard error.

    References
    ----------
    .. [1] DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44:837-845, doi:10.2307/2531595
    """
    true, a, b = matched({"truth": truth, "scores_a": scores_a, "scores_b": scores_b})
    columns = [as_floats("scores_a", a), as_floats("scores_b", b)]
    of_a = scored(true, np.where(np.isnan(columns[1]), np.nan, columns[0]), categories, positive)
    of_b = scored(true, np.where(np.isnan(columns[0]), np.nan, columns[1]), categories, positive)
    difference, p = _paired(of_a, of_b, level)
    area_a, area_b = (_auc(items, level) for items in (of_a, of_b))
    return AucComparison(area_a, area_b, difference, p, len(of_a.scores), of_a.n_without_score)


def _precision_recall(items: Scored) -> PrecisionRecall:
    if items.reason:
        return PrecisionRecall((), (), (), None, items.n_without_score, items.reason)
    at = cuts(items.is_positive, items.scores)
    tp, fp = at.tp[:-1], at.fp[:-1]  # without the last cut, where no item is called positive
    columns = at.theta[:-1], tp / at.n_positive, tp / (tp + fp)
    threshold, recall, precision = (tuple(column[::-1].tolist()) for column in columns)
    return PrecisionRecall(threshold, recall, precision, precision[-1], items.n_without_score)


def _auc(items: Scored, level: float) -> Estimate:
    if items.reason:
        return Estimate(None, reason=items.reason)
    area, terms = _placements(items)
    variance = _variance(*terms)
    if variance is None:
        return Estimate(area, reason=ONE_ITEM)
    if variance == 0:
        return Estimate(area, reason=SEPARATED if area in (0, 1) else ALL_EQUAL)
    se = float(np.sqrt(variance))
    return Estimate(area, se, *_logit_interval(area, se, level))


def _paired(of_a: Scored, of_b: Scored, level: float) -> tuple[Estimate, float | None]:
    """Return the difference between two areas on the same items in the same order, and its p value."""
    if of_a.reason:
        return Estimate(None, reason=of_a.reason), None
    (area_a, terms_a), (area_b, terms_b) = _placements(of_a), _placements(of_b)
    value = area_a - area_b
    variance = _variance(*(a - b for a, b in zip(terms_a, terms_b, strict=True)))
    if variance is None:
        return Estimate(value, reason=ONE_ITEM), None
    if variance == 0:
        return Estimate(value, reason=NO_VARIATION), 1.0 if value == 0 else None
    se = float(np.sqrt(variance))
    half = float(special.ndtri((1 + checked_level(level)) / 2)) * se
    return Estimate(value, se, max(value - half, -1.0), min(value + half, 1.0)), float(
        2 * special.ndtr(-abs(value) / se)
    )


def _placements(items: Scored) -> tuple[float, tuple[Floats, Floats]]:
    """Return the area, and DeLong's terms for the positive and for the other items.

    The term of a positive item is the share of other items that score lower. The term of another item is the share of
    positive items that score higher. Ties count half. Ranks are multiples of 0.5, so equal terms are exactly
    equal.
    """
    positive, rest = items.scores[items.is_positive], items.scores[~items.is_positive]
    of_all = ranks(items.scores)
    below = of_all[items.is_positive] - ranks(positive)
    above = len(positive) - (of_all[~items.is_positive] - ranks(rest))
    area = below.sum() / (len(positive) * len(rest))
    return float(area), (below / len(rest), above / len(positive))


def _variance(of_positive: Floats, of_rest: Floats) -> float | None:
    """Return DeLong's variance from the terms of both categories; None if a category has fewer than two items."""
    if min(len(of_positive), len(of_rest)) < 2:
        return None
    return float(sum(0.0 if np.ptp(x) == 0 else x.var(ddof=1) / len(x) for x in (of_positive, of_rest)))


def _logit_interval(value: float, se: float, level: float) -> tuple[float, float]:
    """Return the ends of a normal interval computed on the logit scale; both ends are between 0 and 1."""
    half = float(special.ndtri((1 + checked_level(level)) / 2)) * se / (value * (1 - value))
    low, high = special.expit(special.logit(value) + np.array([-half, half]))
    return float(low), float(high)


def balanced_folds(
    category: Bools | NDArray[np.intp], group: NDArray[np.intp], n_folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Assign groups of items to folds, so that groups stay together and all categories are balanced.

    Groups are assigned one after another, the largest first. Each goes to the fold that has least of what the group
    has: the fold with the smallest sum, over the categories, of the group's share times the fold's share of the items.

    `category` (shape (n_items,)): category of each item; `group` (shape (n_items,)): index of each item's group, from
    0 without gaps; `n_folds`: number of folds, from 1 to the number of groups, so no fold is empty. Returns the index
    of each item's fold.
    """
    sizes = np.stack(
        [np.bincount(group[category == one], minlength=group.max() + 1) for one in np.unique(category)[::-1]], axis=1
    )
    shares = sizes / np.maximum(sizes.sum(axis=0), 1)
    shuffled = rng.permutation(len(sizes))
    order = shuffled[np.argsort(-sizes[shuffled].sum(axis=1), kind="stable")]
    filled, n_in = np.zeros((n_folds, sizes.shape[1])), np.zeros(n_folds)
    fold_of = np.empty(len(sizes), dtype=np.intp)
    for g in order:
        # An empty fold grows by 0 and has the fewest items, so it is always filled first.
        fold = np.lexsort((n_in, filled @ shares[g]))[0]
        fold_of[g] = fold
        filled[fold] += shares[g]
        n_in[fold] += sizes[g].sum()
    return fold_of[group]


THETA = 0.25  # of the paper
EQUAL_LOSS = 1e-12  # relative tolerance: smaller differences between losses are rounding errors


@dataclass(frozen=True, repr=False)
class ThresholdChoice(Result):
    """A threshold that was chosen from items, and its results on these items and on held-out items."""

    criterion: str  # description of the optimised criterion
    fixed: float  # the fixed reference threshold, which was not chosen from these items, and its confusion matrix
    at_fixed: Confusion
    n_without_score: int  # number of items without a score
    theta_in_sample: float | None = None  # the best threshold for all items, and its confusion matrix on the same items
    in_sample: Confusion | None = None
    theta: tuple[float, ...] = ()  # the threshold chosen for each fold, without the items of that fold
    theta_low: float | None = None  # Smallest, median and largest of these thresholds
    theta_median: float | None = None
    theta_high: float | None = None
    # Confusion matrix if each item is judged by the threshold that was chosen without the items of its fold.
    out_of_fold: Confusion | None = None
    # Youden's index in sample minus Youden's index out of fold. This is the bias from choosing and scoring a
    # threshold on the same items.
    optimism: float | None = None
    # Why values are missing, or how the result differs from the request, for example because there are fewer
    # folds.
    reason: str | None = None


@dataclass(frozen=True, repr=False)
class CostRange(Result):
    """The range of cost ratios c_FN / c_FP at which a threshold has the lowest cost.

    c_FN is the cost of a missed positive item, and c_FP is the cost of a false alarm.
    """

    low: float | None  # None if there is no such ratio; `reason` says why
    high: float | None  # None if `low` is None, or if there is no upper limit because no item is missed
    reason: str | None = None


def cross_validated_threshold(
    truth: Categories,
    scores: Scores,
    groups: Sequence[object] | pd.Series | None = None,
    *,
    rng: np.random.Generator,
    folds: int = 5,
    fixed: float = THETA,
    cost_ratio: float | None = None,
    categories: Declared = CATEGORIES,
    positive: Hashable | None = None,
) -> ThresholdChoice:
    """Choose the threshold on some items and score it on the other items.

    If the same items are used for both, Youden's index is too high by about 0.12 with 60 items and 0.03 with 586.
    Raises ValueError as in `roc`, or if `folds`, `fixed` or `cost_ratio` is out of range.

    `groups`: the application of each item. All items of an application are in the same fold, so a threshold is scored
    on held-out applications. Items without a group form one group. If None, every item is a group. `folds`: number of
    folds, >= 2. The folds are balanced by category (`balanced_folds`). `fixed`: fixed reference threshold. If several
    thresholds are equally good, the threshold nearest to `fixed` is chosen. `fixed` is also used for a fold if the
    other folds lack a category. `cost_ratio`: cost of a missed positive item in units of a false alarm, > 0. The
    threshold then minimises cost_ratio x fn + fp. If None, the threshold maximises Youden's index. Out-of-fold results
    are undefined if there are fewer than two groups. All results except the fixed reference are undefined if the items
    with a score have only one category.
    """
    _check_options(folds, fixed, cost_ratio)
    items, group = _grouped(truth, scores, groups, categories, positive)
    criterion = "Youden's index" if cost_ratio is None else f"cost ratio {cost_ratio:g}"
    choice = ThresholdChoice(criterion, float(fixed), _confusion_at(items, fixed), items.n_without_score)
    theta = _best_theta(items, fixed, cost_ratio)
    if theta is None:
        return replace(choice, reason=items.reason)
    choice = replace(choice, theta_in_sample=theta, in_sample=_confusion_at(items, theta))
    n_groups = int(group.max()) + 1
    if n_groups < 2:
        return replace(choice, reason="all items are in one group, so no held-out items are left")
    fold = balanced_folds(items.is_positive, group, min(folds, n_groups), rng)
    return _out_of_fold(choice, items, fold, folds, cost_ratio)


def cost_range(
    truth: Categories,
    scores: Scores,
    theta: float,
    *,
    tolerance: float = 0.0,
    categories: Declared = CATEGORIES,
    positive: Hashable | None = None,
) -> CostRange:
    """Compute the range of cost ratios at which theta has the lowest cost of all thresholds.

    The cost of a threshold is ratio x fn + fp. Raises ValueError as in `roc`, or if theta is NaN or `tolerance`
    negative or not finite.

    `theta`: a threshold; items are called positive if their score > theta; `tolerance`: how much more theta may cost
    than the best threshold, as a share >= 0. With 0, the range is empty for most thresholds: of 325 thresholds that
    divide 324 items, only about 12 are best at some ratio. Returns the range of ratios, which is valid for the
    prevalence of these items. The limits belong to the range, except 0. The limits are None if another threshold is
    better at every ratio > 0, or if the items with a score have only one category.

    Notes
    -----
    The cost of each threshold is a line, fn x ratio + fp. theta is best where its line is the lowest of all lines.
    """
    if theta != theta:
        raise ValueError(f"theta must be a number, got {theta}")
    if not 0 <= tolerance < np.inf:
        raise ValueError(f"tolerance must be a finite number >= 0, got {tolerance}")
    items = scored(truth, scores, categories, positive)
    if items.reason:
        return CostRange(None, None, items.reason)
    at, fixed = cuts(items.is_positive, items.scores), _confusion_at(items, theta)
    # Compare with every cut: r fn + fp <= (1 + tolerance) (r fn' + fp'), that is r x slope <= gap.
    (_, fp), (fn, _) = fixed.counts
    slope, gap = fn - (1 + tolerance) * at.fn, (1 + tolerance) * at.fp - fp
    low = abs(float((gap[slope < 0] / slope[slope < 0]).max(initial=0.0)))  # never -0.0
    high = float((gap[slope > 0] / slope[slope > 0]).min(initial=np.inf))
    if low > high or high <= 0 or (gap[slope == 0] < 0).any():
        margin = f" by more than {tolerance:.4g} of its cost" if tolerance else ""
        return CostRange(None, None, f"another threshold is better{margin} at every cost ratio")
    return CostRange(low, None, "no upper limit: no item is missed") if np.isinf(high) else CostRange(low, high)


def _grouped(
    truth: Categories,
    scores: Scores,
    groups: Sequence[object] | pd.Series | None,
    categories: Declared,
    positive: Hashable | None,
) -> tuple[Scored, NDArray[np.intp]]:
    """Return the items with a score, and the index of each item's group."""
    everyone = range(len(truth)) if groups is None else groups
    true, values, of_item = matched({"truth": truth, "scores": scores, "groups": everyone})
    names = [name for name, value in zip(of_item, values, strict=True) if value is not None]
    items = scored(true, values, categories, positive)
    return items, pd.factorize(pd.Series(names, dtype=object), use_na_sentinel=False)[0]


def _confusion_at(items: Scored, theta: float | Floats) -> Confusion:
    """Return the confusion matrix if items with score > theta are called positive; theta may differ by item."""
    called, true = items.scores > theta, items.is_positive
    counts = np.array([[(is_row & is_column).sum() for is_column in (~called, called)] for is_row in (~true, true)])
    return Confusion.of(items.categories, counts, items.n_without_score)


def _best_theta(items: Scored, fixed: float, cost_ratio: float | None) -> float | None:
    """Return the best threshold, or None if a category is missing.

    If several thresholds are equally good, return the threshold nearest to `fixed`.
    """
    if items.reason:
        return None
    at = cuts(items.is_positive, items.scores)
    # Maximising Youden's index is the same as minimising the loss with integer costs n_rest : n_positive.
    c_fn, c_fp = (at.n_rest, at.n_positive) if cost_ratio is None else (cost_ratio, 1)
    loss = c_fn * at.fn + c_fp * at.fp
    best = at.theta[loss <= loss.min() * (1 + EQUAL_LOSS)]
    return float(best[np.abs(best - fixed).argmin()])


def _out_of_fold(
    choice: ThresholdChoice, items: Scored, fold: NDArray[np.intp], planned: int, cost_ratio: float | None
) -> ThresholdChoice:
    n_folds = int(fold.max()) + 1
    training_sets = (
        replace(items, is_positive=items.is_positive[fold != k], scores=items.scores[fold != k]) for k in range(n_folds)
    )
    chosen = [_best_theta(training, choice.fixed, cost_ratio) for training in training_sets]
    theta = np.array([choice.fixed if best is None else best for best in chosen])
    confusion, in_sample = _confusion_at(items, theta[fold]), choice.in_sample
    gain = None if in_sample is None else youden(in_sample).value
    reached = youden(confusion).value
    remarks = []
    if n_folds < planned:
        remarks.append(f"{n_folds} folds instead of {planned} because there are no more groups")
    if None in chosen:
        n_fixed = chosen.count(None)
        use = "1 fold uses" if n_fixed == 1 else f"{n_fixed} folds use"
        remarks.append(f"{use} {choice.fixed:g} because the other folds lack a category")
    return replace(
        choice,
        theta=tuple(theta.tolist()),
        theta_low=float(theta.min()),
        theta_median=float(np.median(theta)),
        theta_high=float(theta.max()),
        out_of_fold=confusion,
        optimism=None if gain is None or reached is None else gain - reached,
        reason="; ".join(remarks) or None,
    )


def _check_options(folds: int, fixed: float, cost_ratio: float | None) -> None:
    if folds < 2:
        raise ValueError(f"folds must be at least 2, got {folds}")
    if not np.isfinite(fixed):
        raise ValueError(f"fixed must be a finite number, got {fixed}")
    if cost_ratio is not None and not 0 < cost_ratio < np.inf:
        raise ValueError(f"cost_ratio must be a finite number > 0, got {cost_ratio}")
