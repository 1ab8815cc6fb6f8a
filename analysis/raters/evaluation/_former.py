"""The former evaluation of two categories and of several, until report and learning use the one table."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.categories import CATEGORIES, DISSIMILAR, SIMILAR
from analysis.raters.evaluation._confusion import Categories, Declared, check_categories, matched
from analysis.raters.tables import declared_categories, positive_category
from analysis.statistics.bootstrap import N_DRAWS, bootstrap, percentile_interval
from analysis.statistics.intervals import (
    LEAST_GROUPS,
    Estimate,
    Groups,
    McNemar,
    clustered_share,
    group_numbers,
    mcnemar,
    paired_difference,
    wilson,
)
from analysis.statistics.results import Result


def absence_reasons(categories: Declared, positive: Hashable) -> tuple[str, str]:
    """Return two reasons why a statistic can be undefined: no positive items, or no other items."""
    negatives = [category for category in categories if category != positive]
    return f"no item is {positive}", f"no item is {' or '.join(map(str, negatives))}"


NO_ITEM = "no item has both a consensus and a verdict"
LEAST_FOR_MCC = 20  # the bootstrap interval of the MCC of fewer items covers too little


ORDER = ("tp", "fp", "fn", "tn")
CELLS = {(True, True): 0, (False, True): 1, (True, False): 2, (False, False): 3}  # (truth, verdict) to place in `ORDER`


@dataclass(frozen=True, repr=False)
class Confusion(Result):
    """The confusion matrix of one classifier: rows are the consensus, columns are the verdicts.

    Attributes
    ----------
    tp, fp, fn, tn : int
        Numbers of dissimilar items called dissimilar (tp), similar items called dissimilar (fp), dissimilar items
        called similar (fn) and similar items called similar (tn).
    n_without_verdict : int
        Number of consensus items without a verdict; they are not in the matrix.
    by_group : tuple of (int, int, int, int)
        The same four numbers for each group of related items, such as an application; empty if no groups were given.
        With groups, the rates have cluster intervals (`analysis.statistics.intervals.clustered_share`) instead of
        Wilson's.
    """

    tp: int
    fp: int
    fn: int
    tn: int
    n_without_verdict: int = 0
    by_group: tuple[tuple[int, int, int, int], ...] = field(default=(), repr=False)

    @property
    def n(self) -> int:
        """Return the number of items in the matrix."""
        return self.tp + self.fp + self.fn + self.tn


@dataclass(frozen=True, repr=False)
class PredictiveValues(Result):
    """Precision and negative predictive value at a chosen prevalence."""

    prevalence: float
    precision: Estimate
    npv: Estimate


def confusion_matrix(
    consensus: Categories,
    verdicts: Categories,
    *,
    groups: Groups | None = None,
    categories: Declared = CATEGORIES,
    positive: Hashable | None = None,
) -> Confusion:
    """Count the verdicts on the items of each category, as a confusion matrix.

    Parameters
    ----------
    consensus : sequence of str, or Series indexed by item
        The category of each item.
    verdicts : sequence of str or None, or Series indexed by item
        The verdict on the same items; None or a missing value means no verdict. Two Series are matched by item,
        sequences by position.
    groups : sequence of hashable, or Series indexed by item, optional
        The group of each item of the consensus, such as its application, in the same order or by item. Intervals then
        allow for groups of related items.
    categories : sequence of hashable
        The declared categories.
    positive : hashable, optional
        The positive category; by default the last of two (dissimilar), required if there are more. Texts and names of
        fields call it dissimilar.

    Returns
    -------
    Confusion

    Raises
    ------
    ValueError
        If two sequences differ in length, an item is in a Series twice, or a value is not a category.

    Examples
    --------
    >>> confusion_matrix(["dissimilar", "similar", "similar"], ["dissimilar", "dissimilar", None])
    Confusion(tp=1, fp=1, fn=0, tn=0, n_without_verdict=1)
    """
    truth, called = matched({"consensus": consensus, "verdicts": verdicts})
    positive = positive_category(categories, positive)
    check_categories("consensus", truth, categories)
    check_categories("verdicts", [v for v in called if v is not None], categories)
    of_group: list[object] = [None] * len(truth)
    if isinstance(groups, pd.Series) and isinstance(consensus, pd.Series):
        of_group = list(groups.reindex(consensus.index))
    elif groups is not None:
        of_group = list(groups)
    if len(of_group) != len(truth):
        raise ValueError(f"groups has {len(of_group)} entries for {len(truth)} items")
    rows = [
        (CELLS[t == positive, v == positive], group)
        for t, v, group in zip(truth, called, of_group, strict=True)
        if v is not None
    ]
    cells = [cell for cell, _ in rows]
    by_group: tuple[tuple[int, int, int, int], ...] = ()
    if groups is not None and rows:
        numbers, m = group_numbers(len(rows), [group for _, group in rows])
        table = np.bincount(numbers * 4 + np.array(cells), minlength=4 * m).reshape(m, 4)
        by_group = tuple((tp, fp, fn, tn) for tp, fp, fn, tn in table.tolist())
    tp, fp, fn, tn = (cells.count(cell) for cell in range(4))
    return Confusion(tp, fp, fn, tn, called.count(None), by_group)


def always(confusion: Confusion) -> Confusion:
    """Return the confusion matrix of the rule "always dissimilar" on the same items, as a baseline."""
    by_group = tuple((tp + fn, fp + tn, 0, 0) for tp, fp, fn, tn in confusion.by_group)
    return Confusion(tp=confusion.tp + confusion.fn, fp=confusion.fp + confusion.tn, fn=0, tn=0, by_group=by_group)


def sensitivity(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of dissimilar items called dissimilar, with Wilson's interval.

    The share is undefined if no item is dissimilar.
    """
    return _cells_share(confusion, "tp", "fn", level, "no item is dissimilar")


def specificity(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of similar items called similar, with Wilson's interval; undefined if no item is similar."""
    return _cells_share(confusion, "tn", "fp", level, "no item is similar")


def precision(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of items called dissimilar that are dissimilar.

    Precision depends on the prevalence. It is undefined if no item is called dissimilar.
    """
    return _cells_share(confusion, "tp", "fp", level, "no item was called dissimilar")


def npv(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the negative predictive value: the share of items called similar that are similar.

    The value is undefined if no item is called similar.
    """
    return _cells_share(confusion, "tn", "fn", level, "no item was called similar")


def accuracy(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of items whose verdict equals the consensus, with Wilson's interval."""
    return _cells_share(confusion, "tp tn", "fp fn", level, NO_ITEM)


def prevalence(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of dissimilar items.

    Prevalence affects precision, and is equal to the accuracy of the rule "always dissimilar".
    """
    return _cells_share(confusion, "tp fn", "fp tn", level, NO_ITEM)


def predictive_values(confusion: Confusion, prevalence: float, *, level: float = 0.95) -> PredictiveValues:
    """Compute precision and negative predictive value at a prevalence that the reader chooses.

    Bayes' rule combines sensitivity, specificity and the prevalence: after a verdict dissimilar, the odds of a
    dissimilar item are multiplied by the likelihood ratio sensitivity / (1 - specificity). The interval of a likelihood
    ratio combines the intervals of both rates (MOVER on the logarithm [1]_). Raises ValueError if the prevalence is not
    within (0, 1).

    `prevalence`: share of dissimilar items among the items to which the classifier will be applied, in (0, 1). The
    result is undefined if no item is dissimilar or no item is similar.

    References
    ----------
    .. [1] Zou, Donner (2008), Statistics in Medicine 27:1693-1702, doi:10.1002/sim.3095
    """
    if not 0 < prevalence < 1:
        raise ValueError(f"prevalence must be within (0, 1), got {prevalence}")
    found, cleared = sensitivity(confusion, level=level), specificity(confusion, level=level)
    missed, alarmed = _complement(found), _complement(cleared)
    odds = prevalence / (1 - prevalence)
    return PredictiveValues(prevalence, _odds_as_share(found, alarmed, odds), _odds_as_share(cleared, missed, 1 / odds))


def _complement(share: Estimate) -> Estimate:
    value, low, high = (None if x is None else 1 - x for x in (share.value, share.high, share.low))
    return Estimate(value, low=low, high=high, reason=share.reason)


def _odds_as_share(above: Estimate, below: Estimate, odds: float) -> Estimate:
    """Return o / (1 + o) for o = odds * above / below, with the interval of the ratio."""
    if above.value is None or below.value is None:
        return Estimate(None, reason=above.reason or below.reason)
    if above.value == below.value == 0:
        return Estimate(None, reason="no item has this verdict")
    value = odds * above.value / (odds * above.value + below.value)
    if above.ends is None or below.ends is None:
        return Estimate(value, reason=above.reason or below.reason)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (np.log(np.array(ends)) for ends in (above.ends, below.ends))
        down = np.hypot(a[0] - a[1], b[2] - b[0]) if np.isfinite([a[0], b[0]]).all() else np.inf
        up = np.hypot(a[2] - a[0], b[0] - b[1]) if np.isfinite([a[0], b[0]]).all() else np.inf
        # If a rate is 0, the ratio is 0 or infinite. Its other end then combines the ends of both intervals.
        low = a[0] - b[0] - down if np.isfinite(down) else (a[1] - b[2] if below.value == 0 else -np.inf)
        high = a[0] - b[0] + up if np.isfinite(up) else (a[2] - b[1] if above.value == 0 else np.inf)
    low, high = (float(1 / (1 + np.exp(-(end + np.log(odds))))) for end in (low, high))
    return Estimate(value, low=low, high=high)


def f1(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Compute F1 = 2q / (1 + q), where q = tp / (tp + fp + fn).

    The interval is Wilson's interval of q, transformed in the same way [1]_.

    References
    ----------
    .. [1] Takahashi et al. (2022), Applied Intelligence 52:4961-4972, doi:10.1007/s10489-021-02635-5
    """
    q = _cells_share(confusion, "tp", "fp fn", level, "no item is dissimilar or was called dissimilar")
    value, low, high = (None if x is None else 2 * x / (1 + x) for x in (q.value, q.low, q.high))
    return Estimate(value, low=low, high=high, reason=q.reason)


def balanced_accuracy(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Compute the mean of sensitivity and specificity.

    The interval combines the Wilson intervals of sensitivity and specificity (square-and-add [1]_).

    References
    ----------
    .. [1] Zou, Donner (2008), Statistics in Medicine 27:1693-1702, doi:10.1002/sim.3095

    Examples
    --------
    >>> balanced_accuracy(Confusion(tp=52, fp=23, fn=137, tn=112))
    Estimate(0.5524, 0.5058 to 0.5957)
    """
    a, b = sensitivity(confusion, level=level), specificity(confusion, level=level)
    if a.ends is None or b.ends is None:
        value = None if a.value is None or b.value is None else (a.value + b.value) / 2
        return Estimate(value, reason=a.reason or b.reason)
    (a_value, a_low, a_high), (b_value, b_low, b_high) = a.ends, b.ends
    value = (a_value + b_value) / 2
    below = ((a_value - a_low) ** 2 + (b_value - b_low) ** 2) ** 0.5 / 2
    above = ((a_high - a_value) ** 2 + (b_high - b_value) ** 2) ** 0.5 / 2
    return Estimate(value, low=value - below, high=value + above)


def youden(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Compute Youden's index, sensitivity + specificity - 1 [1]_.

    The value and the ends of the interval are 2 x balanced accuracy - 1.

    References
    ----------
    .. [1] Youden (1950), Cancer 3:32-35, doi:10.1002/1097-0142(1950)3:1<32::AID-CNCR2820030106>3.0.CO;2-3
    """
    balanced = balanced_accuracy(confusion, level=level)
    value, low, high = (None if x is None else 2 * x - 1 for x in (balanced.value, balanced.low, balanced.high))
    return Estimate(value, low=low, high=high, reason=balanced.reason)


def mcc(confusion: Confusion, *, rng: np.random.Generator, n_draws: int = N_DRAWS, level: float = 0.95) -> Estimate:
    """Compute Matthews' correlation of consensus and verdict [1]_, with a bootstrap interval over items.

    Parameters
    ----------
    confusion : Confusion
        The confusion matrix.
    rng : Generator
        Random generator. Resampling items is equivalent to drawing the four cells from a multinomial
        distribution.
    n_draws : int
        Number of draws.
    level : float
        Level of the percentile interval.

    Returns
    -------
    Estimate
        In [-1, 1]; 0 for verdicts that are independent of the consensus. Undefined if all items or all verdicts have
        the same category. Undefined draws are left out, and `reason` states how many. If the confusion matrix has
        groups, whole groups are drawn. There is no interval for fewer than 20 items.

    Raises
    ------
    ValueError
        If `level` is not within (0, 1).

    References
    ----------
    .. [1] Matthews (1975), Biochimica et Biophysica Acta 405:442-451, doi:10.1016/0005-2795(75)90109-9

    Examples
    --------
    >>> round(mcc(Confusion(tp=52, fp=23, fn=137, tn=112), rng=np.random.default_rng(1)).value, 4)
    0.1225
    """
    of_margins = {
        "no item is dissimilar": confusion.tp + confusion.fn,
        "no item is similar": confusion.fp + confusion.tn,
        "no item was called dissimilar": confusion.tp + confusion.fp,
        "no item was called similar": confusion.fn + confusion.tn,
    }
    if not all(of_margins.values()):
        return Estimate(None, reason=NO_ITEM if not confusion.n else min(of_margins, key=lambda why: of_margins[why]))
    cells = np.array([confusion.tp, confusion.fp, confusion.fn, confusion.tn])
    if confusion.n < LEAST_FOR_MCC:
        reason = f"fewer than {LEAST_FOR_MCC} items ({confusion.n}): no interval"
        return Estimate(float(_matthews(cells[None])[0]), reason=reason)
    if confusion.by_group:
        table = np.array(confusion.by_group, dtype=float)
        if len(table) < LEAST_GROUPS:
            reason = f"fewer than {LEAST_GROUPS} groups ({len(table)}): no interval"
            return Estimate(float(_matthews(cells[None])[0]), reason=reason)
        return bootstrap(lambda w: _matthews(w @ table), len(table), rng=rng, n_draws=n_draws, level=level)
    draws = rng.multinomial(confusion.n, cells / confusion.n, size=n_draws)
    return percentile_interval(float(_matthews(cells[None])[0]), _matthews(draws), level)


def _matthews(cells: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Matthews' correlation for each row (tp, fp, fn, tn); NaN if a row or column of the matrix is empty."""
    tp, fp, fn, tn = cells.T.astype(float)
    margins = (tp + fn) * (fp + tn) * (tp + fp) * (fn + tn)
    values = np.full(len(tp), np.nan)
    np.divide(tp * tn - fp * fn, np.sqrt(margins), out=values, where=margins > 0)
    return values


def _cells_share(confusion: Confusion, with_property: str, without: str, level: float, reason: str) -> Estimate:
    """Return the share of items in the first cells among the items in all cells; spaces separate names."""
    x, rest = (sum(getattr(confusion, cell) for cell in names.split()) for names in (with_property, without))
    if not x + rest:
        return Estimate(None, reason=reason)
    if not confusion.by_group:
        return wilson(x, x + rest, level)
    table = np.array(confusion.by_group, dtype=float)
    x_g, rest_g = (
        table[:, [ORDER.index(cell) for cell in names.split()]].sum(axis=1) for names in (with_property, without)
    )
    return clustered_share(x_g, x_g + rest_g, level)


BETTER, WORSE, CANNOT_TELL = "better", "worse", "cannot tell"


@dataclass(frozen=True, repr=False)
class AgainstMajority(Result):
    """Comparison of a classifier with the majority rule, which gives every item the most frequent category."""

    category: str | None  # the category that the rule gives to every item; None if there are no items
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


def against_majority(confusion: Confusion, *, level: float = 0.95) -> AgainstMajority:
    """Test whether a classifier is right more often than the majority rule.

    The majority rule is "always dissimilar" or "always similar", whichever is right more often on these items.
    McNemar's test compares the classifier with this rule on the same items.

    `level`: level of the intervals; the test is at 1 - level. The result is undefined if there are no items. If both
    categories are equally frequent, the rule is "always dissimilar".
    """
    n_dissimilar, n_similar = confusion.tp + confusion.fn, confusion.fp + confusion.tn
    if n_dissimilar >= n_similar:
        category, counts = DISSIMILAR, (confusion.tp, confusion.tn, confusion.fn, confusion.fp)
    else:
        category, counts = SIMILAR, (confusion.tn, confusion.tp, confusion.fp, confusion.fn)
    return _against_rule(category, counts, level)


def _against_rule(category: str, counts: tuple[int, int, int, int], level: float) -> AgainstMajority:
    """Compare a classifier with a rule; the counts are those of items on which both, one, the other or none is right.

    The second count is that of the classifier.
    """
    both, only_classifier, only_rule, _ = counts
    accuracy = wilson(both + only_rule, sum(counts), level)
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


ONE_CATEGORY = "the consensus or the verdicts have only one category"


@dataclass(frozen=True, repr=False)
class CategoryRates(Result):
    """How often a classifier finds a category, and how often it is right when it gives the category."""

    category: str  # name of the category
    # Share of the items of this category that get this verdict. Undefined if no item has the category.
    recall: Estimate
    # Share of the items with this verdict that are of this category. Undefined if no item has the verdict.
    precision: Estimate


@dataclass(frozen=True, repr=False)
class Evaluation(Result):
    """A classifier against a consensus of any number of categories.

    References
    ----------
    .. [1] Zou, Donner (2008), Statistics in Medicine 27:1693-1702, doi:10.1002/sim.3095
    .. [2] Gorodkin (2004), Comput. Biol. Chem. 28:367-374, doi:10.1016/j.compbiolchem.2004.09.006
    """

    categories: tuple[str, ...]  # the declared categories, in their order
    # numbers of items: one row for each category of the consensus, one column for each verdict
    table: tuple[tuple[int, ...], ...]
    n: int  # number of items in the table
    n_without_verdict: int  # number of items with a consensus but without a verdict
    accuracy: Estimate  # share of items on which the verdict is the consensus, with Wilson's interval
    # Mean of the recalls of the categories that the consensus has. The interval combines Wilson's intervals of
    # the recalls (square-and-add [1]_).
    balanced_accuracy: Estimate
    # Gorodkin's correlation for any number of categories [2]_, in [-1, 1], with a percentile interval from
    # multinomial resamples. Matthews' correlation if there are two categories.
    mcc: Estimate
    weighted_kappa: Estimate | None  # Cohen's kappa with linear weights. None if the categories are not ordered.
    by_category: tuple[CategoryRates, ...]  # recall and precision of each category
    baseline: AgainstMajority  # if several categories are the most frequent, the rule gives the first of them


def evaluate(
    consensus: Categories,
    verdicts: Categories,
    categories: Sequence[Hashable],
    *,
    ordered: bool = False,
    rng: np.random.Generator,
    n_draws: int = N_DRAWS,
    level: float = 0.95,
) -> Evaluation:
    """Compare verdicts with a consensus of any number of categories.

    `consensus`: the category of each item; `verdicts`: the verdict on each item; None if there is none. Series are
    matched by item. `categories`: the declared categories, in their order if they form a scale; `ordered`: whether the
    categories form a scale; then there is a weighted kappa; `rng`: random numbers for the interval of the correlation;
    `n_draws`: number of resamples; 0 gives the correlation without an interval; `level`: confidence level of the
    intervals; the test is at 1 - level. Raises ValueError if the lengths differ, or a value is not a declared category.
    """
    declared = declared_categories(categories)
    true, given = matched({"consensus": consensus, "verdicts": verdicts})
    check_categories("consensus", true, declared)
    check_categories("verdicts", [verdict for verdict in given if verdict is not None], declared)
    place = {category: k for k, category in enumerate(declared)}
    table = np.zeros((len(declared), len(declared)), dtype=np.int64)
    for category, verdict in zip(true, given, strict=True):
        if verdict is not None:
            table[place[category], place[verdict]] += 1
    names = tuple(map(str, declared))
    return Evaluation(
        categories=names,
        table=tuple(tuple(row) for row in table.tolist()),
        n=int(table.sum()),
        n_without_verdict=len(true) - int(table.sum()),
        accuracy=_share(int(np.trace(table)), int(table.sum()), level, NO_ITEM),
        balanced_accuracy=_balanced(table, level),
        mcc=_correlation(table, rng, n_draws, level),
        weighted_kappa=_weighted_kappa(table, declared, level) if ordered else None,
        by_category=tuple(_rates(table, k, name, level) for k, name in enumerate(names)),
        baseline=_majority_rule(table, names, level),
    )


def correlation(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return Gorodkin's correlation of each table, shape (..., k, k); NaN if a margin has only one category."""
    counts = tables.astype(np.float64)
    n = counts.sum(axis=(-2, -1))
    rows, columns, right = counts.sum(axis=-1), counts.sum(axis=-2), np.trace(counts, axis1=-2, axis2=-1)
    spread = (n**2 - (rows**2).sum(axis=-1)) * (n**2 - (columns**2).sum(axis=-1))
    values = np.full(np.shape(n), np.nan)
    np.divide(n * right - (rows * columns).sum(axis=-1), np.sqrt(spread), out=values, where=spread > 0)
    return values


def _share(x: int, n: int, level: float, reason: str) -> Estimate:
    return wilson(x, n, level) if n else Estimate(None, reason=reason)


def _weighted_kappa(table: NDArray[np.int64], declared: Sequence[Hashable], level: float) -> Estimate:
    from analysis.raters.agreement import cohen_kappa

    return cohen_kappa(table, declared, weights="linear", level=level)


def _rates(table: NDArray[np.int64], k: int, name: str, level: float) -> CategoryRates:
    right = int(table[k, k])
    return CategoryRates(
        name,
        _share(right, int(table[k].sum()), level, f"no item is {name}"),
        _share(right, int(table[:, k].sum()), level, f"no verdict is {name}"),
    )


def _balanced(table: NDArray[np.int64], level: float) -> Estimate:
    recalls = [wilson(int(row[k]), int(row.sum()), level) for k, row in enumerate(table) if row.sum()]
    if not recalls:
        return Estimate(None, reason=NO_ITEM)
    ends = np.array([recall.ends for recall in recalls], dtype=np.float64)
    value = float(ends[:, 0].mean())
    below, above = (float(np.sqrt(((ends[:, 0] - ends[:, side]) ** 2).sum())) / len(ends) for side in (1, 2))
    return Estimate(value, low=value - below, high=value + above)


def _correlation(table: NDArray[np.int64], rng: np.random.Generator, n_draws: int, level: float) -> Estimate:
    n, value = int(table.sum()), float(correlation(table))
    if np.isnan(value):
        return Estimate(None, reason=ONE_CATEGORY if n else NO_ITEM)
    if not n_draws:
        return Estimate(value, reason="made without resampling")
    if n < LEAST_FOR_MCC:
        return Estimate(value, reason=f"fewer than {LEAST_FOR_MCC} items ({n}): no interval")
    draws = rng.multinomial(n, table.ravel() / n, size=n_draws).reshape(n_draws, *table.shape)
    return percentile_interval(value, correlation(draws), level)


def _majority_rule(table: NDArray[np.int64], names: Sequence[str], level: float) -> AgainstMajority:
    n = int(table.sum())
    if not n:
        none = Estimate(None, reason=NO_ITEM)
        return AgainstMajority(None, none, none, mcnemar(0, 0), CANNOT_TELL)
    k = int(table.sum(axis=1).argmax())
    both, only_rule = int(table[k, k]), int(table[k].sum() - table[k, k])
    only_classifier = int(np.trace(table)) - both
    counts = both, only_classifier, only_rule, n - both - only_classifier - only_rule
    return _against_rule(names[k], counts, level)


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
