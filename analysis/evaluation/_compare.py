"""Compare two classifiers on the same items, and a classifier with the majority rule."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.categories import CATEGORIES, DISSIMILAR, SIMILAR
from analysis.evaluation._confusion import Confusion
from analysis.evaluation._inputs import Categories, Declared, absence_reasons, check_categories, matched
from analysis.intervals import Estimate, paired_difference, wilson
from analysis.results import Result
from analysis.tables import positive_category

BETTER, WORSE, CANNOT_TELL = "better", "worse", "cannot tell"


@dataclass(frozen=True, repr=False)
class McNemar(Result):
    """McNemar's test that two proportions of the same items are equal.

    Attributes
    ----------
    b, c : int
        Numbers of discordant pairs in each direction.
    p : float
        Exact two-sided p-value; 1 if there is no discordant pair.
    p_mid : float
        Mid-p value [1]_, which reports use because the exact value is too large for few discordant pairs.
    chi2 : float or None
        The large-sample statistic (b - c)^2 / (b + c) with 1 degree of freedom, for comparison with published values.
        The p values do not use it. None if there is no discordant pair.
    reason : str or None
        Why `chi2` is None.

    References
    ----------
    .. [1] Fagerland, Lydersen, Laake (2013), BMC Med. Res. Methodol. 13:91, doi:10.1186/1471-2288-13-91
    """

    b: int
    c: int
    p: float
    p_mid: float
    chi2: float | None
    reason: str | None = None


@dataclass(frozen=True, repr=False)
class AgainstMajority(Result):
    """Comparison of a classifier with the majority rule, which gives every item the most frequent category."""

    category: str  # the category that the rule gives to every item
    accuracy: Estimate  # share of items on which the rule is right
    difference: Estimate  # accuracy of the classifier minus accuracy of the rule, in [-1, 1]
    mcnemar: McNemar  # test of equal accuracy; `b` counts the items on which only the classifier is right
    verdict: str  # "better", "worse" or "cannot tell", by the mid-p value


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
    difference: Estimate  # a - b, in [-1, 1]
    mcnemar: McNemar  # test of equal accuracy; b and c of the test are `only_a` and `only_b`


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Comparison of two classifiers on the items that both have judged.

    Attributes
    ----------
    overall : PairedShares
        Comparison on all items, where the shares are accuracies.
    dissimilar, similar : PairedShares
        Comparison on the items of one consensus category, where the shares are sensitivities (dissimilar) or
        specificities (similar).
    n_without_verdict : int
        Number of consensus items without one of the verdicts; they are left out.
    """

    overall: PairedShares
    dissimilar: PairedShares
    similar: PairedShares
    n_without_verdict: int


def mcnemar(b: int, c: int) -> McNemar:
    """Test with McNemar's exact test [1]_ whether both kinds of discordant pairs are equally likely.

    Parameters
    ----------
    b, c : int
        Numbers of discordant pairs in each direction, >= 0.

    Returns
    -------
    McNemar
        p is twice the smaller tail of the binomial distribution (b + c, 1/2), at most 1, and 1 if b + c = 0. The mid-p
        value gives half weight to the observed result: p_mid = p - P(b), or 1 if b = c.

    Raises
    ------
    ValueError
        If b or c is negative or not a whole number.

    References
    ----------
    .. [1] McNemar (1947), Psychometrika 12:153-157, doi:10.1007/BF02295996

    Examples
    --------
    >>> round(mcnemar(1, 5).p, 6)
    0.21875
    """
    for name, count in (("b", b), ("c", c)):
        if count < 0 or count != int(count):
            raise ValueError(f"{name} must be a whole number >= 0, got {count}")
    if b + c == 0:
        return McNemar(0, 0, 1.0, 1.0, None, "no discordant pair")
    from scipy import stats  # slow to import, like the next module
    from statsmodels.stats import contingency_tables

    p = float(contingency_tables.mcnemar([[0, b], [c, 0]], exact=True).pvalue)
    p_mid = 1.0 if b == c else p - float(stats.binom.pmf(b, b + c, 0.5))
    return McNemar(int(b), int(c), min(1.0, p), p_mid, float((b - c) ** 2 / (b + c)))


def against_majority(confusion: Confusion, *, level: float = 0.95) -> AgainstMajority:
    """Test whether a classifier is right more often than the majority rule.

    The majority rule is "always dissimilar" or "always similar", whichever is right more often on these items.
    McNemar's test compares the classifier with this rule on the same items.

    `level`: level of the intervals; the test is at 1 - level. The result is undefined if there are no items. If both
    categories are equally frequent, the rule is "always dissimilar".

    Examples
    --------
    >>> from analysis.evaluation import Confusion
    >>> against_majority(Confusion(tp=52, fp=23, fn=137, tn=112)).verdict
    'cannot tell'
    """
    n_dissimilar, n_similar = confusion.tp + confusion.fn, confusion.fp + confusion.tn
    if n_dissimilar >= n_similar:
        category, counts = DISSIMILAR, (confusion.tp, confusion.tn, confusion.fn, confusion.fp)
    else:
        category, counts = SIMILAR, (confusion.tn, confusion.tp, confusion.fp, confusion.fn)
    _, only_classifier, only_rule, _ = counts
    accuracy = wilson(max(n_dissimilar, n_similar), confusion.n, level)
    difference, test = paired_difference(*counts, level=level), mcnemar(only_classifier, only_rule)
    return AgainstMajority(category, accuracy, difference, test, verdict_of(difference, test.p_mid, 1 - level))


def verdict_of(difference: Estimate, p: float | None, alpha: float) -> str:
    """Return "better" or "worse" if the paired test is significant, otherwise "cannot tell"."""
    if difference.value is None or p is None or p > alpha:
        return CANNOT_TELL
    return BETTER if difference.value > 0 else WORSE


def compare(
    consensus: Categories,
    verdicts_a: Categories,
    verdicts_b: Categories,
    *,
    categories: Declared = CATEGORIES,
    positive: Hashable | None = None,
    level: float = 0.95,
) -> Comparison:
    """Compare two classifiers on the same items, overall and within each category.

    Classifiers often differ in opposite directions in the two categories. Accuracy alone hides such differences.

    Parameters
    ----------
    consensus : sequence of str, or Series indexed by item
        The category of each item.
    verdicts_a, verdicts_b : sequence of str or None, or Series indexed by item
        Verdicts on the same items; Series are matched by item. None: no verdict.
    categories : sequence of hashable
        The declared categories.
    positive : hashable, optional
        The positive category; by default the last of two (dissimilar), required if there are more. Texts and names of
        fields call it dissimilar.
    level : float
        Confidence level of all intervals.

    Returns
    -------
    Comparison
        Shares and differences are undefined if there are no items.

    Raises
    ------
    ValueError
        If the lengths differ, an item is in a Series twice, or a value is not a category.

    Examples
    --------
    >>> truth = ["dissimilar", "dissimilar", "similar"]
    >>> compare(truth, ["dissimilar"] * 3, ["similar"] * 3).dissimilar.difference.value
    1.0
    """
    truth, *called = matched({"consensus": consensus, "verdicts_a": verdicts_a, "verdicts_b": verdicts_b})
    positive = positive_category(categories, positive)
    check_categories("consensus", truth, categories)
    for name, verdicts in zip(("verdicts_a", "verdicts_b"), called, strict=True):
        check_categories(name, [v for v in verdicts if v is not None], categories)
    rows = [row for row in zip(truth, *called, strict=True) if None not in row]
    true = np.array([t for t, _, _ in rows], dtype=object)
    right_a, right_b = (np.array([row[0] == row[k] for row in rows], dtype=bool) for k in (1, 2))
    all_items, absent = np.ones(len(rows), dtype=bool), absence_reasons(categories, positive)
    overall, dissimilar, similar = (
        _paired_shares(right_a[chosen], right_b[chosen], reason, level)
        for chosen, reason in (
            (all_items, "no item has a consensus and both verdicts"),
            (true == positive, absent[0]),
            (true != positive, absent[1]),
        )
    )
    return Comparison(overall, dissimilar, similar, len(truth) - len(rows))


def _paired_shares(right_a: NDArray[np.bool_], right_b: NDArray[np.bool_], reason: str, level: float) -> PairedShares:
    n, both = len(right_a), int((right_a & right_b).sum())
    only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    neither = n - both - only_a - only_b
    undefined = Estimate(None, reason=reason)
    return PairedShares(
        n, both, only_a, only_b, neither,
        a=wilson(both + only_a, n, level) if n else undefined,
        b=wilson(both + only_b, n, level) if n else undefined,
        difference=paired_difference(both, only_a, only_b, neither, level=level) if n else undefined,
        mcnemar=mcnemar(only_a, only_b),
    )  # fmt: skip
