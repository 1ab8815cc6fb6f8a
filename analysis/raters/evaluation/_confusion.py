"""Confusion matrices of any categories, and the rates of classifiers that follow from them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.arrays import Bools, Floats, Ints
from analysis.categories import CATEGORIES
from analysis.raters.tables import Counts, declared_categories, positive_category
from analysis.statistics.bootstrap import N_DRAWS, bootstrap, percentile_interval
from analysis.statistics.intervals import (
    LEAST_GROUPS,
    ONE_SIDED,
    Estimate,
    Groups,
    checked_level,
    clustered_share,
    group_numbers,
    unanimous,
    wilson,
)
from analysis.statistics.likelihood import likelihood_ends, likelihood_limit
from analysis.statistics.results import Result

Categories = Sequence[str] | Sequence[str | None] | Sequence[Hashable] | pd.Series
Declared = Sequence[Hashable]
Scores = Sequence[float] | Sequence[float | None] | Floats | pd.Series

NO_SCORE = "no item has both a consensus and a score"


@dataclass(frozen=True)
class Scored:
    """The items with a score: the category and score of each item, and the number of items without a score.

    `is_positive` is True for items of the positive category. `categories` names the rest and the positive category.
    """

    is_positive: Bools
    scores: Floats
    n_without_score: int
    categories: tuple[str, str]

    @property
    def reason(self) -> str | None:
        """Return why a statistic that needs both categories is undefined; None if both categories exist."""
        if not len(self.scores):
            return NO_SCORE
        first = bool(self.is_positive[0])
        return f"no item is {self.categories[not first]}" if (self.is_positive == first).all() else None


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
    is_positive = np.array([category == positive for category in true], dtype=bool)
    rest = name_of_rest(categories, positive)
    return Scored(is_positive[valid], numbers[valid], int((~valid).sum()), (rest, str(positive)))


def name_of_rest(categories: Declared, category: Hashable) -> str:
    """Return the name of all other categories together."""
    return " or ".join(str(other) for other in categories if other != category)


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
LEAST_FOR_MCC = 20  # fewer items have no interval of the correlation
LEAST_FOR_TEST = 10  # items; with fewer, a difference of two classifiers has no interval and no test


@dataclass(frozen=True, repr=False)
class Confusion(Result):
    """The confusion matrix of one classifier: rows are the consensus, columns are the verdicts.

    Attributes
    ----------
    categories : tuple of str
        The declared categories, in their order.
    counts : tuple of tuple of int, shape (n_categories, n_categories)
        Number of items by category of the consensus (row) and verdict (column).
    n_without_verdict : int
        Number of consensus items without a verdict; they are not in the matrix.
    by_group : tuple of matrices like `counts`
        One matrix for each group of related items, such as an application; empty if no groups were given. With groups,
        the rates have cluster intervals (`analysis.statistics.intervals.clustered_share`) instead of Wilson's.
    """

    categories: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    n_without_verdict: int = 0
    by_group: tuple[tuple[tuple[int, ...], ...], ...] = field(
        default=(), repr=False, metadata={"written": False}
    )  # not in the JSON of a report

    @classmethod
    def of(
        cls, categories: Sequence[str], counts: Ints, n_without_verdict: int = 0, by_group: Ints | None = None
    ) -> Self:
        """Build a matrix from arrays of shape (k, k) and (n_groups, k, k)."""
        groups = () if by_group is None else tuple(tuple(map(tuple, table)) for table in by_group.tolist())
        return cls(tuple(categories), tuple(map(tuple, counts.tolist())), n_without_verdict, groups)

    @property
    def n(self) -> int:
        """Return the number of items in the matrix."""
        return sum(map(sum, self.counts))

    @cached_property
    def table(self) -> Ints:
        """Return the matrix as an array of shape (k, k)."""
        return np.array(self.counts, dtype=np.int64)

    @cached_property
    def tables(self) -> Ints:
        """Return the matrices of all groups as an array of shape (n_groups, k, k)."""
        return np.array(self.by_group, dtype=np.int64)

    def place(self, category: str) -> int:
        """Return the row and column of a category; raise ValueError if it is not declared."""
        if category not in self.categories:
            raise ValueError(f"category must be one of: {', '.join(self.categories)}; got {category!r}")
        return self.categories.index(category)

    def against_rest(self, category: str) -> "Confusion":
        """Return the matrix of two categories: all others together, and `category`, which is the last."""
        k = self.place(category)
        merged = np.zeros((len(self.categories), 2), dtype=np.int64)
        merged[:, 0], merged[k] = 1, (0, 1)
        return Confusion.of(
            (name_of_rest(self.categories, category), category), merged.T @ self.table @ merged,
            self.n_without_verdict, merged.T @ self.tables @ merged if self.by_group else None,
        )  # fmt: skip


@dataclass(frozen=True, repr=False)
class PredictiveValues(Result):
    """Precision and negative predictive value at a chosen prevalence."""

    prevalence: float
    precision: Estimate
    npv: Estimate


def confusion_matrix(
    consensus: Categories, verdicts: Categories, *, categories: Declared = CATEGORIES, groups: Groups | None = None
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
    groups : sequence of hashable, or Series indexed by item, optional
        The group of each item of the consensus, such as its application, in the same order or by item. Intervals then
        allow for groups of related items.

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
    Confusion(categories=('similar', 'dissimilar'), counts=((0, 1), (0, 1)), n_without_verdict=1)
    """
    declared = declared_categories(categories)
    truth, called = matched({"consensus": consensus, "verdicts": verdicts})
    check_categories("consensus", truth, declared)
    check_categories("verdicts", [v for v in called if v is not None], declared)
    of_group = groups_of(consensus, groups, len(truth))
    k, place = len(declared), {category: i for i, category in enumerate(declared)}
    rows = [
        (place[t] * k + place[v], group) for t, v, group in zip(truth, called, of_group, strict=True) if v is not None
    ]
    cells = np.array([cell for cell, _ in rows], dtype=np.int64)
    by_group = None
    if groups is not None and rows:
        numbers, m = group_numbers(len(rows), [group for _, group in rows])
        by_group = np.bincount(numbers * k * k + cells, minlength=m * k * k).reshape(m, k, k)
    counts = np.bincount(cells, minlength=k * k).reshape(k, k)
    return Confusion.of(tuple(map(str, declared)), counts, called.count(None), by_group)


def groups_of(consensus: Categories, groups: Groups | None, n: int) -> list[object]:
    """Return the group of each of n items, matched by item if both are Series; None for each without groups.

    Raises ValueError if there is not one group per item.
    """
    of_item: list[object] = [None] * n
    if isinstance(groups, pd.Series) and isinstance(consensus, pd.Series):
        of_item = list(groups.reindex(consensus.index))
    elif groups is not None:
        of_item = list(groups)
    if len(of_item) != n:
        raise ValueError(f"groups has {len(of_item)} entries for {n} items")
    return of_item


def always(confusion: Confusion, category: str) -> Confusion:
    """Return the confusion matrix of the rule that gives every item this category, as a baseline."""
    rule = np.zeros((len(confusion.categories),) * 2, dtype=np.int64)
    rule[:, confusion.place(category)] = 1
    by_group = confusion.tables @ rule if confusion.by_group else None
    # Each row of the product holds the sum of that row in the column of the category.
    return Confusion.of(confusion.categories, confusion.table @ rule, by_group=by_group)


def _share(confusion: Confusion, inside: Bools, among: Bools, level: float, reason: str) -> Estimate:
    """Return the share of the items in the cells `among` that are in the cells `inside`, both of shape (k, k).

    The interval is Wilson's, or that of whole groups. `reason` says why the share is undefined without such items.
    """
    x, n = int(confusion.table[inside].sum()), int(confusion.table[among].sum())
    if not n:
        return Estimate(None, reason=reason)
    if not confusion.by_group:
        return wilson(x, n, level)
    x_g, n_g = (confusion.tables[:, cells].sum(axis=1).astype(float) for cells in (inside, among))
    return clustered_share(x_g, n_g, level)


def _cells(confusion: Confusion, *, row: str | None = None, column: str | None = None) -> Bools:
    """Return which cells have this consensus, this verdict, or both."""
    cells = np.ones((len(confusion.categories),) * 2, dtype=bool)
    if row is not None:
        cells &= (np.arange(len(cells)) == confusion.place(row))[:, None]
    if column is not None:
        cells &= np.arange(len(cells)) == confusion.place(column)
    return cells


def accuracy(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Return the share of items whose verdict equals the consensus, with Wilson's interval."""
    right = np.eye(len(confusion.categories), dtype=bool)
    return _share(confusion, right, np.ones_like(right), level, NO_ITEM)


def recall(confusion: Confusion, category: str, *, level: float = 0.95) -> Estimate:
    """Return the share of the items of a category that get this verdict; undefined if no item has the category.

    For the positive category this is the sensitivity, and for the other of two categories the specificity.
    """
    row = _cells(confusion, row=category)
    return _share(confusion, _cells(confusion, row=category, column=category), row, level, f"no item is {category}")


def precision(confusion: Confusion, category: str, *, level: float = 0.95) -> Estimate:
    """Return the share of the items with this verdict that are of this category; it depends on the prevalence.

    Undefined if no item has the verdict. For the other of two categories this is the negative predictive value.
    """
    column = _cells(confusion, column=category)
    inside = _cells(confusion, row=category, column=category)
    return _share(confusion, inside, column, level, f"no item was called {category}")


def share_of(confusion: Confusion, category: str, *, level: float = 0.95) -> Estimate:
    """Return the share of items of a category: its prevalence, and the accuracy of the rule that always gives it."""
    row = _cells(confusion, row=category)
    return _share(confusion, row, np.ones_like(row), level, NO_ITEM)


def f1(confusion: Confusion, category: str, *, level: float = 0.95) -> Estimate:
    """Compute F1 = 2q / (1 + q), where q is the share of right verdicts among items that are or were called so.

    The interval is the interval of q, transformed in the same way [1]_.

    References
    ----------
    .. [1] Takahashi et al. (2022), Applied Intelligence 52:4961-4972, doi:10.1007/s10489-021-02635-5
    """
    among = _cells(confusion, row=category) | _cells(confusion, column=category)
    inside = _cells(confusion, row=category, column=category)
    q = _share(confusion, inside, among, level, f"no item is {category} or was called {category}")
    value, low, high = (None if x is None else 2 * x / (1 + x) for x in (q.value, q.low, q.high))
    return Estimate(value, low=low, high=high, reason=q.reason)


def balanced_accuracy(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Compute the mean recall of the categories that the consensus has.

    The value is undefined if the consensus has fewer than two categories. The interval combines the intervals of the
    recalls (square-and-add [1]_); if one of them has no interval, there is none.

    References
    ----------
    .. [1] Zou, Donner (2008), Statistics in Medicine 27:1693-1702, doi:10.1002/sim.3095

    Examples
    --------
    >>> balanced_accuracy(Confusion(("similar", "dissimilar"), ((112, 23), (137, 52))))
    Estimate(0.5524, 0.5058 to 0.5957)
    """
    missing = _why_one_category(confusion, confusion.table.sum(axis=1), "is")
    if missing:
        return Estimate(None, reason=missing)
    present = [name for name, n in zip(confusion.categories, confusion.table.sum(axis=1), strict=True) if n]
    recalls = [recall(confusion, name, level=level) for name in present]
    value = sum(share.value or 0.0 for share in recalls) / len(recalls)
    ends = [share.ends for share in recalls if share.ends is not None]
    if len(ends) < len(recalls):
        return Estimate(value, reason=next(share.reason for share in recalls if share.ends is None))
    below = sum((middle - low) ** 2 for middle, low, _ in ends) ** 0.5 / len(ends)
    above = sum((high - middle) ** 2 for middle, _, high in ends) ** 0.5 / len(ends)
    return Estimate(value, low=value - below, high=value + above)


def _why_one_category(confusion: Confusion, totals: Ints, verb: str) -> str | None:
    """Return why a statistic that needs two categories is undefined; None if two of the totals are not 0."""
    if not confusion.n:
        return NO_ITEM
    missing = [name for name, n in zip(confusion.categories, totals, strict=True) if not n]
    return f"no item {verb} {' or '.join(missing)}" if len(missing) >= len(confusion.categories) - 1 else None


def youden(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Compute Youden's index of two categories, sensitivity + specificity - 1 = 2 x balanced accuracy - 1 [1]_.

    References
    ----------
    .. [1] Youden (1950), Cancer 3:32-35, doi:10.1002/1097-0142(1950)3:1<32::AID-CNCR2820030106>3.0.CO;2-3
    """
    balanced = balanced_accuracy(confusion, level=level)
    value, low, high = (None if x is None else 2 * x - 1 for x in (balanced.value, balanced.low, balanced.high))
    return Estimate(value, low=low, high=high, reason=balanced.reason)


def weighted_kappa(confusion: Confusion, *, level: float = 0.95) -> Estimate:
    """Compute Cohen's kappa of consensus and verdict with linear weights, for categories that form a scale."""
    from analysis.raters.agreement import cohen_kappa

    return cohen_kappa(Counts(confusion.table), confusion.categories, weights="linear", level=level)


def mcc(confusion: Confusion, *, rng: np.random.Generator, n_draws: int = N_DRAWS, level: float = 0.95) -> Estimate:
    """Compute the correlation of consensus and verdict.

    For two categories this is Matthews' correlation [1]_, for more Gorodkin's [2]_.

    Parameters
    ----------
    confusion : Confusion
        The confusion matrix.
    rng : Generator
        Random generator of the bootstrap of more than two categories.
    n_draws : int
        Number of draws of the bootstrap; 0 for no interval of more than two categories.
    level : float
        Level of the interval.

    Returns
    -------
    Estimate
        In [-1, 1]; 0 for verdicts that are independent of the consensus. Undefined if all items or all verdicts have
        the same category. There is no interval for fewer than 20 items or 5 groups.

        For two categories, the interval is the profile likelihood interval over the four cells [3]_, compared with F
        with 1 and n - 1 degrees of freedom. With groups, the limit is multiplied by the design effect of the linear
        terms, as in `fleiss_kappa`. Without any error, there is a one-sided bound: with e the largest share of errors
        that n items, or groups, do not exclude, it is the smallest correlation of tables with these shares of the
        categories and errors e. There is no bound if the rarer category has at most the share e.

        For more categories, items or whole groups are drawn (percentile interval). Undefined draws are left out, and
        `reason` states how many. Without any error, there is no interval.

    Raises
    ------
    ValueError
        If `level` is not within (0, 1).

    References
    ----------
    .. [1] Matthews (1975), Biochimica et Biophysica Acta 405:442-451, doi:10.1016/0005-2795(75)90109-9
    .. [2] Gorodkin (2004), Comput. Biol. Chem. 28:367-374, doi:10.1016/j.compbiolchem.2004.09.006
    .. [3] Venzon, Moolgavkar (1988), Applied Statistics 37:87-94, doi:10.2307/2347496

    Examples
    --------
    >>> confusion = Confusion(("similar", "dissimilar"), ((112, 23), (137, 52)))
    >>> mcc(confusion, rng=np.random.default_rng(1))
    Estimate(0.1225, 0.01487 to 0.2229)
    """
    table = confusion.table
    undefined = _why_one_category(confusion, table.sum(axis=1), "is") or _why_one_category(
        confusion, table.sum(axis=0), "was called"
    )
    if undefined:
        return Estimate(None, reason=undefined)
    checked_level(level)
    value, m = float(correlation(table)), len(confusion.by_group)
    if confusion.n < LEAST_FOR_MCC:
        return Estimate(value, reason=f"fewer than {LEAST_FOR_MCC} items ({confusion.n}): no interval")
    if 0 < m < LEAST_GROUPS:
        return Estimate(value, reason=f"fewer than {LEAST_GROUPS} groups ({m}): no interval")
    has_errors = confusion.n > np.trace(table)
    if len(table) == 2:
        return _mcc_of_two(confusion, value, level) if has_errors else _bound_without_errors(confusion, level)
    if not has_errors:
        return Estimate(value, reason="no item has another verdict: no interval")
    if not n_draws:
        return Estimate(value, reason="made without resampling")
    if m:
        cells = confusion.tables.reshape(m, -1).astype(float)
        return bootstrap(
            lambda weights: correlation((weights @ cells).reshape(-1, *table.shape)), m, rng=rng, n_draws=n_draws,
            level=level,
        )  # fmt: skip
    draws = rng.multinomial(confusion.n, table.ravel() / confusion.n, size=n_draws).reshape(n_draws, *table.shape)
    return percentile_interval(value, correlation(draws), level)


def _mcc_of_two(confusion: Confusion, value: float, level: float) -> Estimate:
    """Return Matthews' correlation with its profile likelihood interval."""
    n, counts = confusion.n, confusion.table.astype(float).ravel()
    factor, df = 1.0, None
    if confusion.by_group:
        terms = _mcc_with_gradient(counts / n)[1]
        cells = confusion.tables.reshape(len(confusion.by_group), -1)
        sums, alone = cells @ terms, float(counts @ terms**2)
        m = len(sums)
        factor, df = max(1.0, float((sums**2).sum()) * m / (m - 1) / alone) if alone else 1.0, m - 1
    low, high = likelihood_ends(counts, _mcc_with_gradient, factor * likelihood_limit(n, level, df))
    return Estimate(value, low=max(low, -1.0), high=min(high, 1.0))


def _mcc_with_gradient(p: Floats) -> tuple[float, Floats]:
    """Return Matthews' correlation of four probabilities, and its gradient; NaN if a margin is 0."""
    a, b, c, d = p.tolist()
    margins = np.array([a + b, c + d, a + c, b + d])
    if margins.min() < 1e-12:
        return np.nan, np.zeros(4)
    root = float(np.sqrt(margins.prod()))
    value = (a * d - b * c) / root
    of_margins = np.array([[1, 0, 1, 0], [1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]]) @ (1 / margins)
    gradient = np.array([d, -c, -b, a]) / root - value / 2 * of_margins
    return value, gradient - float(gradient @ p)


def _bound_without_errors(confusion: Confusion, level: float) -> Estimate:
    """Return a correlation of 1 with the smallest correlation that the largest possible share of errors allows."""
    units = len(confusion.by_group) or confusion.n
    e = unanimous(units, level)
    p = float(confusion.table.sum(axis=1).min()) / confusion.n
    if p <= e:
        return Estimate(1.0, reason="too few items of the rarer category: no bound")
    x = np.linspace(0, e, 201)
    tables = np.stack([np.stack([p - x, x], axis=-1), np.stack([e - x, 1 - p - e + x], axis=-1)], axis=-2)
    low = float(np.nanmin(correlation(tables)))
    kind = "groups of items" if confusion.by_group else "items"
    return Estimate(1.0, low=low, high=1.0, reason=f"{ONE_SIDED}: all {units} {kind} are without an error")


def correlation(tables: NDArray[np.generic]) -> Floats:
    """Return Gorodkin's correlation of each table, shape (..., k, k); NaN if a margin has only one category."""
    counts = tables.astype(np.float64)
    n = counts.sum(axis=(-2, -1))
    rows, columns, right = counts.sum(axis=-1), counts.sum(axis=-2), np.trace(counts, axis1=-2, axis2=-1)
    spread = (n**2 - (rows**2).sum(axis=-1)) * (n**2 - (columns**2).sum(axis=-1))
    values = np.full(np.shape(n), np.nan)
    np.divide(n * right - (rows * columns).sum(axis=-1), np.sqrt(spread), out=values, where=spread > 0)
    return values


def check_prevalence(prevalence: float) -> None:
    """Raise ValueError if a prevalence is not within (0, 1)."""
    if not 0 < prevalence < 1:
        raise ValueError(f"prevalence must be within (0, 1), got {prevalence}")


def predictive_values(
    confusion: Confusion, positive: str, prevalence: float, *, level: float = 0.95
) -> PredictiveValues:
    """Compute precision and negative predictive value at a prevalence that the reader chooses.

    Bayes' rule combines sensitivity, specificity and the prevalence: after a positive verdict, the odds of a positive
    item are multiplied by the likelihood ratio sensitivity / (1 - specificity). The interval of a likelihood ratio
    combines the intervals of both rates (MOVER on the logarithm [1]_). Raises ValueError if the prevalence is not
    within (0, 1).

    `positive`: the positive category, against all others; `prevalence`: its share among the items to which the
    classifier will be applied, in (0, 1). The result is undefined if all items or no items are positive.

    References
    ----------
    .. [1] Zou, Donner (2008), Statistics in Medicine 27:1693-1702, doi:10.1002/sim.3095
    """
    check_prevalence(prevalence)
    binary = confusion.against_rest(positive)
    cleared, found = (recall(binary, name, level=level) for name in binary.categories)
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
