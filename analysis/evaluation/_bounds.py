"""What the items without a consensus could change: every split item decided for, or against, the classifier."""

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

STATISTICS = (sensitivity, specificity, precision, npv, accuracy, f1, balanced_accuracy, youden)  # as in `Bounds`


@dataclass(frozen=True, repr=False)
class Extremes(Result):
    """The least and the greatest value that a statistic can take, each with its interval as if it were the truth."""

    worst: Estimate
    best: Estimate


@dataclass(frozen=True, repr=False)
class Bounds(Result):
    """Best and worst case over the split items.

    Attributes
    ----------
    dropped : Estimate
        Share of the items that "agreed only" leaves out because they are split.
    worst, best : Confusion
        The confusion matrices with every split item decided against, and for, the verdict on it.
    sensitivity, specificity, precision, npv, accuracy, f1, balanced_accuracy, youden : Extremes
        Whatever the split items are, the statistic over all items is within these two values.
    """

    dropped: Estimate
    worst: Confusion
    best: Confusion
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
    """How far the split items could move what a classifier reaches on the agreed ones.

    Nothing is assumed about the split items, so the bounds are wide where many were dropped; they are of the items
    at hand, not confidence intervals.

    Parameters
    ----------
    consensus : sequence of str or None, or Series indexed by item
        The category of each agreed item, None for each split one.
    verdicts : sequence of str or None, or Series indexed by item
        The verdict on the same items. None: no verdict; such an item enters `dropped` only.
    categories : sequence of hashable
        The declared categories.
    positive : hashable, optional
        The positive category; the last of two (dissimilar), to be named if there are more. Where texts and names of
        fields say dissimilar, they mean this one.
    level : float
        Confidence level of the interval around each bound.

    Returns
    -------
    Bounds
        A bound is undefined only if the statistic is, however the split items are decided.

    Raises
    ------
    ValueError
        If the lengths differ, an item is in a Series twice, or something is not a category.

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
    # In each of these statistics the worst is (0, all) and the best (all, 0). Where the statistic is undefined there,
    # as sensitivity without a dissimilar item, its extreme is next to that corner.
    corners = [decided(a, b) for a in _ends(up) for b in _ends(n_split - up)]
    return Bounds(
        wilson(len(split), len(truth), level) if truth else Estimate(None, reason="no items"),
        decided(0, n_split - up),
        decided(up, 0),
        *(_extremes([statistic(corner, level=level) for corner in corners]) for statistic in STATISTICS),
    )


def _ends(n: int) -> list[int]:
    """0, 1, n - 1 and n, as far as they are within 0..n."""
    return sorted({0, min(1, n), max(n - 1, 0), n})


def _decided(fixed: Confusion, up: int, down: int, n_without_verdict: int, a: int, b: int) -> Confusion:
    """The matrix if a of the `up` split items called dissimilar, and b of the `down` others, are dissimilar."""
    return Confusion(
        fixed.tp + a, fixed.fp + up - a, fixed.fn + b, fixed.tn + down - b, fixed.n_without_verdict + n_without_verdict
    )


def _extremes(estimates: list[Estimate]) -> Extremes:
    defined = [(estimate.value, estimate) for estimate in estimates if estimate.value is not None]
    if not defined:
        return Extremes(estimates[0], estimates[0])
    return Extremes(min(defined, key=lambda pair: pair[0])[1], max(defined, key=lambda pair: pair[0])[1])
