"""Choose a threshold for scores, and measure by cross-validation in balanced folds how optimistic the choice is."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.categories import CATEGORIES
from analysis.evaluation._confusion import Confusion, youden
from analysis.evaluation._inputs import Bools, Categories, Declared, Floats, Scored, Scores, matched, scored
from analysis.evaluation._scores import cuts
from analysis.results import Result


def balanced_folds(
    category: Bools | NDArray[np.intp], group: NDArray[np.intp], n_folds: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Assign groups of items to folds, so that groups stay together and all categories are balanced.

    The largest group is assigned first. For each fold, the function computes a sum over all categories: the group's
    share of the items in the category, times the fold's share. The group goes to the fold with the smallest sum, so
    that all categories stay balanced.

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

    c_FN is the cost of a missed dissimilar item, and c_FP is the cost of a false alarm.
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
    other folds lack a category. `cost_ratio`: cost of a missed dissimilar item in units of a false alarm, > 0. The
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
    fold = balanced_folds(items.dissimilar, group, min(folds, n_groups), rng)
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

    `theta`: a threshold; items are called dissimilar if their score > theta; `tolerance`: how much more theta may cost
    than the best threshold, as a share >= 0. With 0, the range is empty for most thresholds: of 325 thresholds that
    divide 324 items, only about 12 are best at some ratio. Returns the range of ratios, which is valid for the
    prevalence of these items. The limits belong to the range, except 0. The limits are None if another threshold is
    better at every ratio > 0, or if the items with a score have only one category.

    Notes
    -----
    The cost of each threshold is a line, fn x ratio + fp. theta is best where its line is the lowest of all lines.

    Examples
    --------
    >>> truth, scores = ["similar", "dissimilar", "similar", "dissimilar"], [0.1, 0.2, 0.3, 0.4]
    >>> cost_range(truth, scores, 0.25)
    CostRange(low=None, high=None, reason='another threshold is better at every cost ratio')
    >>> cost_range(truth, scores, 0.15)
    CostRange(low=1, high=None, reason='no upper limit: no item is missed')
    """
    if theta != theta:
        raise ValueError(f"theta must be a number, got {theta}")
    if not 0 <= tolerance < np.inf:
        raise ValueError(f"tolerance must be a finite number >= 0, got {tolerance}")
    items = scored(truth, scores, categories, positive)
    if items.reason:
        return CostRange(None, None, items.reason)
    at, fixed = cuts(items.dissimilar, items.scores), _confusion_at(items, theta)
    # Compare with every cut: r fn + fp <= (1 + tolerance) (r fn' + fp'), that is r x slope <= gap.
    slope, gap = fixed.fn - (1 + tolerance) * at.fn, (1 + tolerance) * at.fp - fixed.fp
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
    """Return the confusion matrix if items with score > theta are called dissimilar; theta may differ by item."""
    called, true = items.scores > theta, items.dissimilar
    tp, fp, fn, tn = (int(cell.sum()) for cell in (true & called, ~true & called, true & ~called, ~true & ~called))
    return Confusion(tp, fp, fn, tn, items.n_without_score)


def _best_theta(items: Scored, fixed: float, cost_ratio: float | None) -> float | None:
    """Return the best threshold, or None if a category is missing.

    If several thresholds are equally good, return the threshold nearest to `fixed`.
    """
    if items.reason:
        return None
    at = cuts(items.dissimilar, items.scores)
    # Maximising Youden's index is the same as minimising the loss with integer costs n_similar : n_dissimilar.
    c_fn, c_fp = (at.n_similar, at.n_dissimilar) if cost_ratio is None else (cost_ratio, 1)
    loss = c_fn * at.fn + c_fp * at.fp
    best = at.theta[loss <= loss.min() * (1 + EQUAL_LOSS)]
    return float(best[np.abs(best - fixed).argmin()])


def _out_of_fold(
    choice: ThresholdChoice, items: Scored, fold: NDArray[np.intp], planned: int, cost_ratio: float | None
) -> ThresholdChoice:
    n_folds = int(fold.max()) + 1
    training_sets = (
        replace(items, dissimilar=items.dissimilar[fold != k], scores=items.scores[fold != k]) for k in range(n_folds)
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
        remarks.append(f"{chosen.count(None)} folds use {choice.fixed:g} because the other folds lack a category")
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
