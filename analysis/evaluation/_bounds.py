"""Compute how much the unknown categories of split items could change the results of a classifier."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial

from analysis.categories import CATEGORIES
from analysis.evaluation._confusion import (
    Confusion,
    accuracy,
    balanced_accuracy,
    confusion_matrix,
    f1,
    npv,
    precision,
    sensitivity,
    specificity,
    youden,
)
from analysis.evaluation._inputs import Categories, Declared, check_categories, matched
from analysis.intervals import Estimate, wilson
from analysis.results import Result
from analysis.tables import positive_category

STATISTICS = (sensitivity, specificity, precision, npv, accuracy, f1, balanced_accuracy, youden)  # names as in `Bounds`


@dataclass(frozen=True, repr=False)
class Extremes(Result):
    """The smallest and the largest possible value of a statistic, each with its interval."""

    worst: Estimate
    best: Estimate


@dataclass(frozen=True, repr=False)
class Bounds(Result):
    """The best and the worst results of a classifier across all possible decisions on the split items."""

    dropped: Estimate  # share of items that the consensus "agreed only" leaves out because they are split
    # Confusion matrices if the category of each split item is the opposite of the verdict (worst), or equals the
    # verdict (best).
    worst: Confusion
    best: Confusion
    # Smallest and largest value of the statistic of all items if split items can have any category.
    sensitivity: Extremes
    specificity: Extremes
    precision: Extremes
    npv: Extremes
    accuracy: Extremes
    f1: Extremes
    balanced_accuracy: Extremes
    youden: Extremes


def bounds(
    consensus: Categories,
    verdicts: Categories,
    *,
    categories: Declared = CATEGORIES,
    positive: Hashable | None = None,
    level: float = 0.95,
) -> Bounds:
    """Compute how much the split items could change the results of a classifier on the agreed items.

    The bounds assume nothing about the split items, so they are wide if many items are split. The bounds apply to these
    items and are not confidence intervals. Raises ValueError if the lengths differ, an item is in a Series twice, or a
    value is not a category.

    `consensus`: the category of each agreed item, None for each split item; `verdicts`: the verdict on the same items.
    None: no verdict; such items are only used for `dropped`. `level`: confidence level of the interval around each
    bound. A bound is undefined only if the statistic is undefined for all possible categories of the split items.

    Examples
    --------
    >>> of_three = bounds(["dissimilar", "dissimilar", None], ["dissimilar", "similar", "dissimilar"])
    >>> of_three.worst, of_three.best
    (Confusion(tp=1, fp=1, fn=1, tn=0, n_without_verdict=0), Confusion(tp=2, fp=0, fn=1, tn=0, n_without_verdict=0))
    """
    truth, called = matched({"consensus": consensus, "verdicts": verdicts})
    agreed = [(t, v) for t, v in zip(truth, called, strict=True) if t is not None]
    split = [v for t, v in zip(truth, called, strict=True) if t is None]
    positive = positive_category(categories, positive)
    check_categories("verdicts", [v for v in split if v is not None], categories)
    fixed = confusion_matrix([t for t, _ in agreed], [v for _, v in agreed], categories=categories, positive=positive)
    up, n_split = split.count(positive), len(split) - split.count(None)
    decided = partial(_decided, fixed, up, n_split - up, split.count(None))
    # Each of these statistics has its worst value at (0, all) and its best value at (all, 0). If the statistic is
    # undefined there, like sensitivity without a dissimilar item, its extreme value is at a neighbour of that corner.
    corners = [decided(a, b) for a in _ends(up) for b in _ends(n_split - up)]
    return Bounds(
        wilson(len(split), len(truth), level) if truth else Estimate(None, reason="no items"),
        decided(0, n_split - up),
        decided(up, 0),
        *(_extremes([statistic(corner, level=level) for corner in corners]) for statistic in STATISTICS),
    )


def _ends(n: int) -> list[int]:
    """Return the numbers 0, 1, n - 1 and n that are in the range 0..n, without duplicates."""
    return sorted({0, min(1, n), max(n - 1, 0), n})


def _decided(fixed: Confusion, up: int, down: int, n_without_verdict: int, a: int, b: int) -> Confusion:
    """Return the confusion matrix for one decision on the split items.

    In this decision, `a` of the `up` split items that the classifier calls dissimilar are dissimilar. Of the `down`
    split items that the classifier calls similar, `b` are dissimilar.
    """
    return Confusion(
        fixed.tp + a, fixed.fp + up - a, fixed.fn + b, fixed.tn + down - b, fixed.n_without_verdict + n_without_verdict
    )


def _extremes(estimates: list[Estimate]) -> Extremes:
    defined = [(estimate.value, estimate) for estimate in estimates if estimate.value is not None]
    if not defined:
        return Extremes(estimates[0], estimates[0])
    return Extremes(min(defined, key=lambda pair: pair[0])[1], max(defined, key=lambda pair: pair[0])[1])
