"""The former evaluation of two categories and of several, until report and learning use the one table."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from analysis.raters.evaluation._confusion import Categories, check_categories, matched
from analysis.raters.tables import declared_categories
from analysis.statistics.bootstrap import N_DRAWS, bootstrap, percentile_interval
from analysis.statistics.intervals import (
    LEAST_GROUPS,
    Estimate,
    McNemar,
    clustered_share,
    mcnemar,
    paired_difference,
    wilson,
)
from analysis.statistics.results import Result

NO_ITEM = "no item has both a consensus and a verdict"
LEAST_FOR_MCC = 20  # the bootstrap interval of the MCC of fewer items covers too little


ORDER = ("tp", "fp", "fn", "tn")


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


def accuracy(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of items whose verdict equals the consensus, with Wilson's interval."""
    return _cells_share(confusion, "tp tn", "fp fn", level, NO_ITEM)


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
