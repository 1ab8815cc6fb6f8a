"""Compute the confusion matrix of a classifier and rates such as sensitivity."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.bootstrap import N_DRAWS, percentile_interval
from analysis.categories import CATEGORIES
from analysis.evaluation._inputs import Categories, Declared, check_categories, matched
from analysis.intervals import Estimate, wilson
from analysis.results import Result
from analysis.tables import positive_category

NO_ITEM = "no item has both a consensus and a verdict"


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
    """

    tp: int
    fp: int
    fn: int
    tn: int
    n_without_verdict: int = 0

    @property
    def n(self) -> int:
        """Return the number of items in the matrix."""
        return self.tp + self.fp + self.fn + self.tn


def confusion_matrix(
    consensus: Categories, verdicts: Categories, *, categories: Declared = CATEGORIES, positive: Hashable | None = None
) -> Confusion:
    """Count the verdicts on the items of each category, as a confusion matrix.

    Parameters
    ----------
    consensus : sequence of str, or Series indexed by item
        The category of each item.
    verdicts : sequence of str or None, or Series indexed by item
        The verdict on the same items; None or a missing value means no verdict. Two Series are matched by item,
        sequences by position.
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
    cells = [(t == positive, v == positive) for t, v in zip(truth, called, strict=True) if v is not None]
    return Confusion(
        tp=cells.count((True, True)),
        fp=cells.count((False, True)),
        fn=cells.count((True, False)),
        tn=cells.count((False, False)),
        n_without_verdict=called.count(None),
    )


def always(confusion: Confusion) -> Confusion:
    """Return the confusion matrix of the rule "always dissimilar" on the same items, as a baseline."""
    return Confusion(tp=confusion.tp + confusion.fn, fp=confusion.fp + confusion.tn, fn=0, tn=0)


def sensitivity(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of dissimilar items called dissimilar, with Wilson's interval.

    The share is undefined if no item is dissimilar.
    """
    return _share(confusion.tp, confusion.tp + confusion.fn, level, "no item is dissimilar")


def specificity(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of similar items called similar, with Wilson's interval; undefined if no item is similar."""
    return _share(confusion.tn, confusion.tn + confusion.fp, level, "no item is similar")


def precision(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of items called dissimilar that are dissimilar.

    Precision depends on the prevalence. It is undefined if no item is called dissimilar.
    """
    return _share(confusion.tp, confusion.tp + confusion.fp, level, "no item was called dissimilar")


def npv(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the negative predictive value: the share of items called similar that are similar.

    The value is undefined if no item is called similar.
    """
    return _share(confusion.tn, confusion.tn + confusion.fn, level, "no item was called similar")


def accuracy(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of items whose verdict equals the consensus, with Wilson's interval."""
    return _share(confusion.tp + confusion.tn, confusion.n, level, NO_ITEM)


def prevalence(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of dissimilar items.

    Prevalence affects precision, and is equal to the accuracy of the rule "always dissimilar".
    """
    return _share(confusion.tp + confusion.fn, confusion.n, level, NO_ITEM)


def f1(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Compute F1 = 2q / (1 + q), where q = tp / (tp + fp + fn).

    The interval is Wilson's interval of q, transformed in the same way [1]_.

    References
    ----------
    .. [1] Takahashi et al. (2022), Applied Intelligence 52:4961-4972, doi:10.1007/s10489-021-02635-5
    """
    q = _share(
        confusion.tp,
        confusion.tp + confusion.fp + confusion.fn,
        level,
        "no item is dissimilar or was called dissimilar",
    )
    if q.ends is None:
        return q
    value, low, high = (2 * x / (1 + x) for x in q.ends)
    return Estimate(value, low=low, high=high)


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
        return Estimate(None, reason=a.reason or b.reason)
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
    if balanced.ends is None:
        return balanced
    value, low, high = (2 * x - 1 for x in balanced.ends)
    return Estimate(value, low=low, high=high)


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
        the same category. Undefined draws are left out, and `reason` states how many.

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
    draws = rng.multinomial(confusion.n, cells / confusion.n, size=n_draws)
    return percentile_interval(float(_matthews(cells[None])[0]), _matthews(draws), level)


def _matthews(cells: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return Matthews' correlation for each row (tp, fp, fn, tn); NaN if a row or column of the matrix is empty."""
    tp, fp, fn, tn = cells.T.astype(float)
    margins = (tp + fn) * (fp + tn) * (tp + fp) * (fn + tn)
    values = np.full(len(tp), np.nan)
    np.divide(tp * tn - fp * fn, np.sqrt(margins), out=values, where=margins > 0)
    return values


def _share(x: int, n: int, level: float, reason: str) -> Estimate:
    return wilson(x, n, level) if n else Estimate(None, reason=reason)
