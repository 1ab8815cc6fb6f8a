"""Confusion matrices and rates of classifiers, for two categories and for each of several."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.arrays import Bools, Floats
from analysis.categories import CATEGORIES
from analysis.raters.tables import declared_categories, positive_category
from analysis.statistics.bootstrap import N_DRAWS, bootstrap, percentile_interval
from analysis.statistics.intervals import LEAST_GROUPS, Estimate, Groups, clustered_share, group_numbers, wilson
from analysis.statistics.results import Result

Categories = Sequence[str] | Sequence[str | None] | Sequence[Hashable] | pd.Series
Declared = Sequence[Hashable]
Scores = Sequence[float] | Sequence[float | None] | Floats | pd.Series

NO_SCORE = "no item has both a consensus and a score"


@dataclass(frozen=True)
class Scored:
    """The items with a score: the category and score of each item, and the number of items without a score.

    `dissimilar` is True for items of the positive category. If a category is missing, `absent` gives the reason.
    """

    dissimilar: Bools
    scores: Floats
    n_without_score: int
    absent: tuple[str, str]

    @property
    def reason(self) -> str | None:
        """Return why a statistic that needs both categories is undefined; None if both categories exist."""
        if not len(self.scores):
            return NO_SCORE
        first = bool(self.dissimilar[0])
        return self.absent[first] if (self.dissimilar == first).all() else None


def scored(
    truth: Categories, scores: Scores, categories: Declared = CATEGORIES, positive: Hashable | None = None
) -> Scored:
    """Match items with their scores; leave out the items whose score is None or NaN, and count them.

    Raises ValueError if the lengths differ, `truth` contains an unknown category, or a score is not a finite number.
    """
    positive = positive_category(categories, positive)
    true, values = matched({"truth": truth, "scores": scores})
    check_categories("truth", true, categories)
    numbers = as_floats("scores", values)
    valid = ~np.isnan(numbers)
    dissimilar = np.array([category == positive for category in true], dtype=bool)
    return Scored(dissimilar[valid], numbers[valid], int((~valid).sum()), absence_reasons(categories, positive))


def absence_reasons(categories: Declared, positive: Hashable) -> tuple[str, str]:
    """Return two reasons why a statistic can be undefined: no positive items, or no other items."""
    negatives = [category for category in categories if category != positive]
    return f"no item is {positive}", f"no item is {' or '.join(map(str, negatives))}"


def matched(columns: dict[str, Any]) -> list[list[Any]]:
    """Return the columns as lists of equal length; a missing column gives None. The first column defines the items.

    If the first column and another column are both Series, match the two by item, otherwise by position. Raises
    ValueError if an item is in a Series twice, or the lengths differ.
    """
    first_name, first = next(iter(columns.items()))
    lists = []
    for name, column in columns.items():
        if isinstance(first, pd.Series) and isinstance(column, pd.Series):
            if not column.index.is_unique:
                raise ValueError(f"{name} has two rows for item {column.index[column.index.duplicated()][0]!r}")
            column = column.reindex(first.index)
        values = np.array([*column, None], dtype=object)[
            :-1
        ]  # without None, numpy would turn rows of equal length into a matrix
        values[pd.isna(values)] = None
        lists.append(values.tolist())
        if len(lists[-1]) != len(lists[0]):
            raise ValueError(f"{first_name} has {len(lists[0])} items, {name} has {len(lists[-1])}")
    return lists


def check_categories(name: str, values: Sequence[Any], categories: Declared = CATEGORIES) -> None:
    """Raise ValueError if a value is not a category; the message names the first such value and its position."""
    declared = declared_categories(categories)
    is_declared = [isinstance(value, Hashable) and value in declared for value in values]
    if not all(is_declared):
        row = is_declared.index(False)
        raise ValueError(
            f"{name} has the value {values[row]!r} (row {row}), which is not one of: {', '.join(map(str, declared))}"
        )


def as_floats(name: str, values: Sequence[Any]) -> Floats:
    """Convert values to numbers, and None to NaN; raise ValueError if a value is of another type or infinite."""
    try:
        numbers = np.array(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    if np.isinf(numbers).any():
        raise ValueError(f"{name} must be finite, but entry {int(np.flatnonzero(np.isinf(numbers))[0])} is infinite")
    return numbers


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
    return _share(confusion, "tp", "fn", level, "no item is dissimilar")


def specificity(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of similar items called similar, with Wilson's interval; undefined if no item is similar."""
    return _share(confusion, "tn", "fp", level, "no item is similar")


def precision(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of items called dissimilar that are dissimilar.

    Precision depends on the prevalence. It is undefined if no item is called dissimilar.
    """
    return _share(confusion, "tp", "fp", level, "no item was called dissimilar")


def npv(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the negative predictive value: the share of items called similar that are similar.

    The value is undefined if no item is called similar.
    """
    return _share(confusion, "tn", "fn", level, "no item was called similar")


def accuracy(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of items whose verdict equals the consensus, with Wilson's interval."""
    return _share(confusion, "tp tn", "fp fn", level, NO_ITEM)


def prevalence(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of dissimilar items.

    Prevalence affects precision, and is equal to the accuracy of the rule "always dissimilar".
    """
    return _share(confusion, "tp fn", "fp tn", level, NO_ITEM)


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
    q = _share(confusion, "tp", "fp fn", level, "no item is dissimilar or was called dissimilar")
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


def _share(confusion: Confusion, with_property: str, without: str, level: float, reason: str) -> Estimate:
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
