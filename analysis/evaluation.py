"""How well a classifier does against a consensus. The positive category is *dissimilar*."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from analysis.categories import CATEGORIES, DISSIMILAR
from analysis.intervals import Estimate, wilson


@dataclass(frozen=True)
class Confusion:
    """Confusion matrix of one classifier; rows are the consensus, columns the verdict.

    Attributes
    ----------
    tp, fp, fn, tn : int
        Consensus dissimilar and called so; similar but called dissimilar; dissimilar but called similar;
        similar and called so.
    n_without_verdict : int
        Items of the consensus that the classifier gave no verdict on; they are in none of the four.
    """

    tp: int
    fp: int
    fn: int
    tn: int
    n_without_verdict: int = 0

    @property
    def n(self) -> int:
        """Number of items in the matrix."""
        return self.tp + self.fp + self.fn + self.tn


def confusion_matrix(
    consensus: Sequence[str] | pd.Series, verdicts: Sequence[str | None] | pd.Series, *, positive: str = DISSIMILAR
) -> Confusion:
    """Count verdicts against the consensus of the same items.

    Parameters
    ----------
    consensus : sequence of str, or Series indexed by item
        The category of each item.
    verdicts : sequence of str or None, or Series indexed by item
        The verdict on the same items. Two Series are matched by item; sequences by position. None or
        missing: no verdict.
    positive : str
        The positive category.

    Returns
    -------
    Confusion

    Raises
    ------
    ValueError
        If two sequences differ in length or hold something that is not a category.

    Examples
    --------
    >>> confusion_matrix(["dissimilar", "similar", "similar"], ["dissimilar", "dissimilar", None])
    Confusion(tp=1, fp=1, fn=0, tn=0, n_without_verdict=1)
    """
    if isinstance(consensus, pd.Series) and isinstance(verdicts, pd.Series):
        verdicts = verdicts.reindex(consensus.index)
    truth, called = list(consensus), [None if pd.isna(v) else v for v in verdicts]
    if len(truth) != len(called):
        raise ValueError(f"consensus has {len(truth)} items, verdicts has {len(called)}")
    for name, values in (("consensus", truth), ("verdicts", [v for v in called if v is not None])):
        unknown = next((v for v in values if v not in CATEGORIES), None)
        if unknown is not None:
            raise ValueError(f"{name} holds {unknown!r}, not one of: {', '.join(CATEGORIES)}")
    cells = [(t == positive, v == positive) for t, v in zip(truth, called, strict=True) if v is not None]
    return Confusion(
        tp=cells.count((True, True)),
        fp=cells.count((False, True)),
        fn=cells.count((True, False)),
        tn=cells.count((False, False)),
        n_without_verdict=called.count(None),
    )


def always(confusion: Confusion) -> Confusion:
    """The confusion matrix of the rule "always dissimilar" on the same items: the row every classifier must beat."""
    return Confusion(tp=confusion.tp + confusion.fn, fp=confusion.fp + confusion.tn, fn=0, tn=0)


def sensitivity(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of the dissimilar items that are called dissimilar, with Wilson's interval; undefined if there are none."""
    return _share(confusion.tp, confusion.tp + confusion.fn, level, "no item is dissimilar")


def specificity(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of the similar items that are called similar, with Wilson's interval; undefined if there are none."""
    return _share(confusion.tn, confusion.tn + confusion.fp, level, "no item is similar")


def precision(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of the items called dissimilar that are; depends on how many are. Undefined if none is called so."""
    return _share(confusion.tp, confusion.tp + confusion.fp, level, "nothing was called dissimilar")


def accuracy(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of the items on which verdict and consensus are equal, with Wilson's interval."""
    return _share(confusion.tp + confusion.tn, confusion.n, level, "no item has both a consensus and a verdict")


def prevalence(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of dissimilar items: what precision depends on, and the accuracy of "always dissimilar"."""
    return _share(confusion.tp + confusion.fn, confusion.n, level, "no item has both a consensus and a verdict")


def f1(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """F1 = 2q / (1 + q) with q = tp / (tp + fp + fn); the interval is Wilson's on q, mapped [1]_.

    References
    ----------
    .. [1] Takahashi et al. (2022), Applied Intelligence 52:4961-4972, doi:10.1007/s10489-021-02635-5
    """
    q = _share(confusion.tp, confusion.tp + confusion.fp + confusion.fn, level, "nothing is or was called dissimilar")
    if q.ends is None:
        return q
    value, low, high = (2 * x / (1 + x) for x in q.ends)
    return Estimate(value, low=low, high=high)


def balanced_accuracy(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Mean of sensitivity and specificity; interval by square-and-add of their two Wilson intervals [1]_.

    References
    ----------
    .. [1] Zou, Donner (2008), Statistics in Medicine 27:1693-1702, doi:10.1002/sim.3095
    """
    a, b = sensitivity(confusion, level=level), specificity(confusion, level=level)
    if a.ends is None or b.ends is None:
        return Estimate(None, reason=a.reason or b.reason)
    (a_value, a_low, a_high), (b_value, b_low, b_high) = a.ends, b.ends
    value = (a_value + b_value) / 2
    below = ((a_value - a_low) ** 2 + (b_value - b_low) ** 2) ** 0.5 / 2
    above = ((a_high - a_value) ** 2 + (b_high - b_value) ** 2) ** 0.5 / 2
    return Estimate(value, low=value - below, high=value + above)


def _share(x: int, n: int, level: float, reason: str) -> Estimate:
    return wilson(x, n, level) if n else Estimate(None, reason=reason)
