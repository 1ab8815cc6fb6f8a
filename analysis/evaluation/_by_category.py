"""Compare the verdicts of a classifier with a consensus of any number of categories."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.bootstrap import N_DRAWS, percentile_interval
from analysis.evaluation._compare import CANNOT_TELL, McNemar, mcnemar, verdict_of
from analysis.evaluation._confusion import LEAST_FOR_MCC, NO_ITEM
from analysis.evaluation._inputs import Categories, check_categories, matched
from analysis.intervals import Estimate, paired_difference, wilson
from analysis.results import Result
from analysis.tables import declared_categories

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
class MajorityRule(Result):
    """The rule that gives every item the most frequent category, and the comparison of a classifier with this rule."""

    # The most frequent category; the first of them if several are equally frequent. None if there are no items.
    category: str | None
    accuracy: Estimate  # of the rule
    difference: Estimate  # accuracy of the classifier minus accuracy of the rule, in [-1, 1]
    # test that both are right equally often; `b` counts the items on which only the classifier is right
    mcnemar: McNemar
    verdict: str  # "better", "worse" or "cannot tell", by the mid-p value


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
    baseline: MajorityRule  # the rule that gives every item the most frequent category


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

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> evaluate(list("aabbcc"), list("aabbca"), ["a", "b", "c"], rng=rng).table
    ((2, 0, 0), (0, 2, 0), (1, 0, 1))
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
    from analysis.agreement import cohen_kappa  # imported here because agreement compares classifiers by this package

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


def _majority_rule(table: NDArray[np.int64], names: Sequence[str], level: float) -> MajorityRule:
    n = int(table.sum())
    if not n:
        none = Estimate(None, reason=NO_ITEM)
        return MajorityRule(None, none, none, mcnemar(0, 0), CANNOT_TELL)
    k = int(table.sum(axis=1).argmax())
    both, only_rule = int(table[k, k]), int(table[k].sum() - table[k, k])
    only_classifier = int(np.trace(table)) - both
    counts = both, only_classifier, only_rule, n - both - only_classifier - only_rule
    difference, test = paired_difference(*counts, level=level), mcnemar(only_classifier, only_rule)
    accuracy = wilson(both + only_rule, n, level)
    return MajorityRule(names[k], accuracy, difference, test, verdict_of(difference, test.p_mid, 1 - level))
