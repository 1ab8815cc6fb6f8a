"""Compare classifiers with each other and with the majority rule, and bound their rates on split items."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import Bools
from analysis.categories import CATEGORIES
from analysis.raters.evaluation._confusion import (
    LEAST_FOR_TEST,
    NO_ITEM,
    Categories,
    Confusion,
    Declared,
    accuracy,
    balanced_accuracy,
    check_categories,
    confusion_matrix,
    f1,
    groups_of,
    matched,
    precision,
    recall,
    share_of,
    youden,
)
from analysis.raters.tables import declared_categories, positive_category
from analysis.statistics.intervals import (
    Estimate,
    Groups,
    McNemar,
    group_numbers,
    mcnemar,
    mcnemar_by_group,
    mcnemar_of,
    paired_difference,
    wilson,
)
from analysis.statistics.multiple import holm
from analysis.statistics.results import Result

BETTER, WORSE, CANNOT_TELL = "better", "worse", "cannot tell"


@dataclass(frozen=True, repr=False)
class AgainstMajority(Result):
    """Comparison of a classifier with the majority rule, which gives every item the most frequent category."""

    category: str | None  # the category that the rule gives to every item; None if there are no items
    accuracy: Estimate  # share of items on which the rule is right
    # accuracy of the classifier minus accuracy of the rule, in [-1, 1]; its interval assumes independent items
    difference: Estimate
    mcnemar: McNemar  # test of equal accuracy; `b` counts the items on which only the classifier is right
    verdict: str  # "better", "worse" or "cannot tell", by the mid-p value, or by `p_holm` if there is one
    p_holm: float | None = None  # mid-p value corrected for several classifiers, if it was corrected


@dataclass(frozen=True, repr=False)
class PairedShares(Result):
    """The proportions of correct verdicts of two classifiers on the same items."""

    n: int  # number of items, and numbers of items on which both classifiers, only one, or neither is right
    both: int
    only_a: int
    only_b: int
    neither: int
    a: Estimate  # share of items on which each classifier is right, with Wilson's interval
    b: Estimate
    difference: Estimate  # a - b, in [-1, 1]; all intervals assume independent items
    mcnemar: McNemar  # test of equal accuracy; b and c of the test are `only_a` and `only_b`
    p_holm: float | None = None  # mid-p value corrected for several comparisons, if it was corrected


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Comparison of two classifiers on the items that both have judged.

    Attributes
    ----------
    overall : PairedShares
        Comparison on all items, where the shares are accuracies.
    by_category : mapping of str to PairedShares
        Comparison on the items of each consensus category, where the shares are recalls: sensitivity and specificity,
        if one of two categories is positive.
    n_without_verdict : int
        Number of consensus items without one of the verdicts; they are left out.
    """

    overall: PairedShares
    by_category: Mapping[str, PairedShares]
    n_without_verdict: int

    @property
    def parts(self) -> tuple[PairedShares, ...]:
        """Return the comparison on all items, and those on the items of each category."""
        return self.overall, *self.by_category.values()


def against_majority(confusion: Confusion, *, level: float = 0.95) -> AgainstMajority:
    """Test whether a classifier is right more often than the majority rule.

    The majority rule gives every item the most frequent category of these items. McNemar's test compares the classifier
    with this rule on the same items. If the matrix has groups, the test allows for related items of a group.

    `level`: level of the intervals; the test is at 1 - level. The result is undefined if there are no items. If several
    categories are the most frequent, the rule gives the last of them. With fewer than ten items, the difference has no
    interval and the verdict is "cannot tell".
    """
    n = confusion.n
    if not n:
        none = Estimate(None, reason=NO_ITEM)
        return AgainstMajority(None, none, none, mcnemar(0, 0), CANNOT_TELL)
    rows = confusion.table.sum(axis=1)
    k = len(rows) - 1 - int(rows[::-1].argmax())
    both, only_rule = int(confusion.table[k, k]), int(rows[k] - confusion.table[k, k])
    only_classifier = int(np.trace(confusion.table)) - both
    neither = n - both - only_classifier - only_rule
    difference = _difference(both, only_classifier, only_rule, neither, level)
    test = mcnemar(only_classifier, only_rule)
    if confusion.by_group:
        tables = confusion.tables
        of_classifier = np.trace(tables, axis1=1, axis2=2) - tables[:, k, k]
        of_rule = tables[:, k].sum(axis=1) - tables[:, k, k]
        test = mcnemar_by_group(of_classifier.tolist(), of_rule.tolist())
    category = confusion.categories[k]
    rule, verdict = share_of(confusion, category, level=level), verdict_of(difference, test.p_mid, 1 - level)
    return AgainstMajority(category, rule, difference, test, verdict)


def correct_rules(rules: Mapping[str, AgainstMajority], *, level: float = 0.95) -> dict[str, AgainstMajority]:
    """Correct the tests of several classifiers against the majority rule by Holm's method, and decide again.

    A classifier with fewer than ten items does not count as a test.
    """
    corrected = holm([rule.mcnemar.p_mid if _is_tested(rule.difference) else None for rule in rules.values()])
    return {
        name: replace(rule, p_holm=p, verdict=verdict_of(rule.difference, p, 1 - level))
        for (name, rule), p in zip(rules.items(), corrected, strict=True)
    }


def _difference(both: int, only_a: int, only_b: int, neither: int, level: float) -> Estimate:
    """Return the difference of two shares of the same items, without an interval if there are too few items."""
    difference = paired_difference(both, only_a, only_b, neither, level=level)
    n = both + only_a + only_b + neither
    if n >= LEAST_FOR_TEST or difference.value is None:
        return difference
    return Estimate(difference.value, reason=f"fewer than {LEAST_FOR_TEST} items ({n}): no interval and no test")


def _is_tested(difference: Estimate) -> bool:
    return difference.ends is not None


def verdict_of(difference: Estimate, p: float | None, alpha: float) -> str:
    """Return "better" or "worse" if there are enough items and the test is significant, otherwise "cannot tell"."""
    if difference.value is None or not _is_tested(difference) or p is None or p > alpha:
        return CANNOT_TELL
    return BETTER if difference.value > 0 else WORSE


def compare_classifiers(
    consensus: Categories,
    verdicts_a: Categories,
    verdicts_b: Categories,
    *,
    categories: Declared = CATEGORIES,
    groups: Groups | None = None,
    level: float = 0.95,
) -> Comparison:
    """Compare two classifiers on the same items, overall and within each category.

    Classifiers often differ in opposite directions in two categories. Accuracy alone hides such differences.

    Parameters
    ----------
    consensus : sequence of str, or Series indexed by item
        The category of each item.
    verdicts_a, verdicts_b : sequence of str or None, or Series indexed by item
        Verdicts on the same items; Series are matched by item. None: no verdict.
    categories : sequence of hashable
        The declared categories.
    groups : sequence of hashable, or Series indexed by item, optional
        The group of each item of the consensus, such as its application, in the same order or by item. Tests then
        allow for related items of a group; intervals do not.
    level : float
        Confidence level of all intervals.

    Returns
    -------
    Comparison
        Shares and differences are undefined if there are no items. A difference on fewer than ten items has no
        interval.

    Raises
    ------
    ValueError
        If the lengths differ, an item is in a Series twice, or a value is not a category.

    Examples
    --------
    >>> truth = ["dissimilar", "dissimilar", "similar"]
    >>> compared = compare_classifiers(truth, ["dissimilar"] * 3, ["similar"] * 3)
    >>> compared.by_category["dissimilar"].difference.value
    1.0
    """
    truth, *called = matched({"consensus": consensus, "verdicts_a": verdicts_a, "verdicts_b": verdicts_b})
    declared = declared_categories(categories)
    check_categories("consensus", truth, declared)
    for name, verdicts in zip(("verdicts_a", "verdicts_b"), called, strict=True):
        check_categories(name, [v for v in verdicts if v is not None], declared)
    of_group = groups_of(consensus, groups, len(truth))
    judged = [at for at, row in enumerate(zip(truth, *called, strict=True)) if None not in row]
    true = [truth[at] for at in judged]
    right_a, right_b = (np.array([of[at] == truth[at] for at in judged], dtype=bool) for of in called)
    group = None if groups is None else group_numbers(len(judged), [of_group[at] for at in judged])[0]

    def part(chosen: Bools, reason: str) -> PairedShares:
        return _paired_shares(right_a[chosen], right_b[chosen], None if group is None else group[chosen], reason, level)

    return Comparison(
        overall=part(np.ones(len(judged), dtype=bool), "no item has a consensus and both verdicts"),
        by_category={
            str(category): part(np.array([t == category for t in true], dtype=bool), f"no item is {category}")
            for category in declared
        },
        n_without_verdict=len(truth) - len(judged),
    )


def _paired_shares(
    right_a: Bools, right_b: Bools, group: NDArray[np.intp] | None, reason: str, level: float
) -> PairedShares:
    n, both = len(right_a), int((right_a & right_b).sum())
    only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    neither = n - both - only_a - only_b
    undefined = Estimate(None, reason=reason)
    return PairedShares(
        n, both, only_a, only_b, neither,
        a=wilson(both + only_a, n, level) if n else undefined,
        b=wilson(both + only_b, n, level) if n else undefined,
        difference=_difference(both, only_a, only_b, neither, level) if n else undefined,
        mcnemar=mcnemar_of(right_a & ~right_b, right_b & ~right_a, group),
    )  # fmt: skip


def correct_comparisons(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Correct the tests of several comparisons by Holm's method over all pairs and parts.

    A part with fewer than ten items does not count as a test.
    """
    parts = [part for comparison in comparisons for part in comparison.parts]
    corrected = holm([part.mcnemar.p_mid if _is_tested(part.difference) else None for part in parts])
    new = (replace(part, p_holm=p) for part, p in zip(parts, corrected, strict=True))
    return [
        replace(comparison, overall=next(new), by_category={name: next(new) for name in comparison.by_category})
        for comparison in comparisons
    ]


# The rates of a positive category and the rest, by the names of the fields of `Bounds`; the positive category is last.
POSITIVE_RATES: Mapping[str, Callable[..., Estimate]] = {
    "sensitivity": lambda binary, level=0.95: recall(binary, binary.categories[1], level=level),
    "specificity": lambda binary, level=0.95: recall(binary, binary.categories[0], level=level),
    "precision": lambda binary, level=0.95: precision(binary, binary.categories[1], level=level),
    "npv": lambda binary, level=0.95: precision(binary, binary.categories[0], level=level),
    "accuracy": accuracy,
    "f1": lambda binary, level=0.95: f1(binary, binary.categories[1], level=level),
    "balanced_accuracy": balanced_accuracy,
    "youden": youden,
}


@dataclass(frozen=True, repr=False)
class Extremes(Result):
    """The smallest and the largest possible value of a statistic, each with its interval."""

    worst: Estimate
    best: Estimate


@dataclass(frozen=True, repr=False)
class Bounds(Result):
    """The best and the worst results of a classifier across all possible decisions on the split items."""

    dropped: Estimate  # share of items that the consensus "agreed only" leaves out because they are split
    # Confusion matrices of the positive category against the rest, if the category of each split item is the opposite
    # of the verdict (worst), or equals the verdict (best).
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

    The rates are those of the positive category (by default the last of two) against all others.

    `consensus`: the category of each agreed item, None for each split item; `verdicts`: the verdict on the same items.
    None: no verdict; such items are only used for `dropped`. `level`: confidence level of the interval around each
    bound. A bound is undefined only if the statistic is undefined for all possible categories of the split items.
    """
    truth, called = matched({"consensus": consensus, "verdicts": verdicts})
    agreed = [(t, v) for t, v in zip(truth, called, strict=True) if t is not None]
    split = [v for t, v in zip(truth, called, strict=True) if t is None]
    positive = positive_category(categories, positive)
    check_categories("verdicts", [v for v in split if v is not None], categories)
    matrix = confusion_matrix([t for t, _ in agreed], [v for _, v in agreed], categories=categories)
    fixed = matrix.against_rest(str(positive))
    up, n_split = split.count(positive), len(split) - split.count(None)
    decided = partial(_decided, fixed, up, n_split - up, split.count(None))
    # Each of these statistics has its worst value at (0, all) and its best value at (all, 0). If the statistic is
    # undefined there, like sensitivity without a positive item, its extreme value is at a neighbour of that corner.
    corners = [decided(a, b) for a in _ends(up) for b in _ends(n_split - up)]
    return Bounds(
        wilson(len(split), len(truth), level) if truth else Estimate(None, reason="no items"),
        decided(0, n_split - up),
        decided(up, 0),
        *(_extremes([rate(corner, level=level) for corner in corners]) for rate in POSITIVE_RATES.values()),
    )


def _ends(n: int) -> list[int]:
    """Return the numbers 0, 1, n - 1 and n that are in the range 0..n, without duplicates."""
    return sorted({0, min(1, n), max(n - 1, 0), n})


def _decided(fixed: Confusion, up: int, down: int, n_without_verdict: int, a: int, b: int) -> Confusion:
    """Return the confusion matrix for one decision on the split items.

    In this decision, `a` of the `up` split items that the classifier calls positive are positive. Of the `down` split
    items that the classifier calls otherwise, `b` are positive.
    """
    counts = fixed.table + np.array([[down - b, up - a], [b, a]])
    return Confusion.of(fixed.categories, counts, fixed.n_without_verdict + n_without_verdict)


def _extremes(estimates: list[Estimate]) -> Extremes:
    defined = [(estimate.value, estimate) for estimate in estimates if estimate.value is not None]
    if not defined:
        return Extremes(estimates[0], estimates[0])
    return Extremes(min(defined, key=lambda pair: pair[0])[1], max(defined, key=lambda pair: pair[0])[1])
