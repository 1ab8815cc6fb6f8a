"""Compute agreement of one reviewer: with the others, with their own earlier labels, and without the reviewer.

Further: agreement if reviewers are a random sample, and if missing labels are filled in.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import special

from analysis.agreement._coefficients import Categories, fleiss_kappa
from analysis.agreement._groups import by_group, in_order, partner_agreement
from analysis.agreement._pairs import TwoByTwo, bias_index, cohen_kappa, pabak_of, pair_table, two_by_two
from analysis.categories import CATEGORIES
from analysis.evaluation import McNemar, mcnemar
from analysis.intervals import Estimate, checked_level, wilson
from analysis.multiple import holm
from analysis.results import Result
from analysis.tables import Floats, checked_columns, count_table, positive_category


@dataclass(frozen=True, repr=False)
class RetestAgreement(Result):
    """Agreement of a rater's first and second labels on the same items.

    Attributes
    ----------
    rater : str
    n : int
    table : TwoByTwo
        `b` counts the items whose first label only is dissimilar, `c` the items whose second label only is dissimilar.
    percent, cohen_kappa, pabak : Estimate
    drift : McNemar
        Test of the hypothesis that the rater's strictness did not change.
    change : Estimate
        Share of dissimilar second labels minus share of dissimilar first labels.
    """

    rater: str
    n: int
    table: TwoByTwo
    percent: Estimate
    cohen_kappa: Estimate
    pabak: Estimate
    drift: McNemar
    change: Estimate


def retest_agreement(
    pairs: pd.DataFrame,
    categories: Categories = CATEGORIES,
    *,
    positive: Hashable | None = None,
    level: float = 0.95,
) -> list[RetestAgreement]:
    """Compute the agreement between each rater's first and second labels (test-retest agreement).

    Parameters
    ----------
    pairs : DataFrame
        One row per item labelled twice by the same rater: columns rater, first, second.
    categories : sequence of hashable
        The declared categories.
    positive : hashable, optional
        The category of `table`, `drift` and `change`; by default the last of two, required if there are more.
    level : float
        Confidence level; the interval of the share is Wilson's.

    Returns
    -------
    list of RetestAgreement
        Sorted by rater; raters without a pair are left out. Kappa is undefined if only one category was used.

    Raises
    ------
    ValueError
        If a column or an entry is missing, or a label is not one of the categories.

    Examples
    --------
    >>> pairs = pd.DataFrame({"rater": "ada", "first": ["similar", "dissimilar"], "second": ["similar", "similar"]})
    >>> retest_agreement(pairs)[0].percent.value
    0.5
    """
    table = checked_columns(pairs, ("rater", "first", "second"), "retest table")
    k = tuple(categories).index(positive_category(categories, positive))
    rows = table.groupby("rater", sort=True)[["first", "second"]]
    return [_of_rater(str(rater), pair_table(labels.to_numpy(object), categories), k, level) for rater, labels in rows]


def _of_rater(rater: str, cells: Floats, k: int, level: float) -> RetestAgreement:
    table = two_by_two(cells, k)
    percent = wilson(int(np.trace(cells)), table.n, level)
    return RetestAgreement(
        rater=rater,
        n=table.n,
        table=table,
        percent=percent,
        cohen_kappa=cohen_kappa(cells, level=level),
        pabak=pabak_of(percent, len(cells)),
        drift=mcnemar(table.b, table.c),
        change=bias_index(TwoByTwo(table.a, table.c, table.b, table.d), level=level),
    )


LEAST_RATERS = 3
LEAST_FOR_DRIFT = 10  # fewer labels say nothing about a trend
POWER = 0.8


@dataclass(frozen=True, repr=False)
class IfGiven(Result):
    """A coefficient that is computed after all missing labels are set to the same category."""

    category: str
    n: int  # number of labels that were added
    value: Estimate


@dataclass(frozen=True, repr=False)
class AgainstRest(Result):
    """Agreement of one rater with all others, and agreement of the others without this rater."""

    rater: str
    n_items: int  # number of items that the rater and at least one other rater labelled
    percent: Estimate  # mean share of equal labels among the other labels of the item
    kappa: Estimate  # the same, corrected for chance
    without: Estimate  # Fleiss' kappa of the labels of all other raters
    change: float | None  # `without` minus Fleiss' kappa of all labels


@dataclass(frozen=True, repr=False)
class Drift(Result):
    """The change of one rater's agreement with the others in the course of the rater's own labels."""

    rater: str
    n: int  # number of labels with a partner
    slope: Estimate  # change of the share of agreement from the first to the last own label, in [-1, 1]
    p: float | None
    p_holm: float | None  # corrected for all raters
    # The smallest change that this test would have found with 80 % power, for all raters together.
    detectable: float | None


def against_rest(
    labels: pd.DataFrame, categories: Categories = CATEGORIES, *, level: float = 0.95
) -> list[AgainstRest]:
    """Compare each rater with all others, and compute the kappa of the others without this rater.

    Raises ValueError if the label table is invalid.

    The result is sorted by rater. With two raters, `without` is undefined.

    Examples
    --------
    >>> rows = [(i, r, CATEGORIES[i % 2 if r != "c" else i % 3 // 2]) for i in range(30) for r in "abc"]
    >>> rest = against_rest(pd.DataFrame(rows, columns=["item", "rater", "category"]))
    >>> [row.rater for row in rest], rest[2].without.value, rest[2].change > 0
    (['a', 'b', 'c'], 1.0, True)
    """
    rows = by_group(labels, "rater", categories, level=level)
    counts = count_table(labels, categories)
    whole = fleiss_kappa(counts, categories, level=level).value if len(labels) else None
    without_each = _without_each(labels, categories)
    found = []
    for row in rows:
        others = without_each[row.group]
        without = (
            fleiss_kappa(others, categories, level=level)
            if others.to_numpy().any()
            else Estimate(None, reason="no other rater")
        )
        change = None if without.value is None or whole is None else without.value - whole
        found.append(AgainstRest(str(row.group), row.n_items, row.percent, row.kappa, without, change))
    return found


def _without_each(labels: pd.DataFrame, categories: Categories) -> dict[object, pd.DataFrame]:
    """Return, for each rater, the count table of the labels of all other raters."""
    counts = count_table(labels, categories)
    return {
        rater: counts - count_table(own, categories).reindex(counts.index, fill_value=0)
        for rater, own in labels.groupby("rater")
    }


def reviewer_drift(
    labels: pd.DataFrame, categories: Categories = CATEGORIES, *, column: str = "position", level: float = 0.95
) -> list[Drift]:
    """Test for each rater whether agreement with the others changes in the course of the rater's own labels.

    Agreement of a label is the share of equal labels among the other labels of its item. It is regressed on the rank of
    the label among the rater's own labels, from 0 (first) to 1 (last). The standard error allows for unequal variances
    (HC3 [1]_). Raises ValueError if the label table is invalid or lacks the column.

    `labels`: label table with the order of labels: columns item, rater, category and `column`; `column`: column to sort
    the labels of a rater by; `level`: confidence level; the interval of each slope is not corrected for the number of
    raters. The result is sorted by rater. A slope is undefined with fewer than 10 labels that have a partner, and if
    all labels have the same value in `column`. It has no interval if all labels agree equally.

    References
    ----------
    .. [1] MacKinnon, White (1985), J. Econometrics 29:305-325, doi:10.1016/0304-4076(85)90158-7
    """
    if column not in labels.columns:
        raise ValueError(f"label table lacks the column {column}; it has {', '.join(map(str, labels))}")
    table = labels.assign(agreement=partner_agreement(labels, categories), place=in_order(labels[column]))
    table = table[table["agreement"].notna() & table["place"].notna()]
    n_raters = int(pd.unique(labels["rater"]).size)
    found = []
    for rater, rows in table.groupby("rater", sort=True):
        n = len(rows)
        if n < LEAST_FOR_DRIFT:
            reason = f"fewer than {LEAST_FOR_DRIFT} labels with another label of the item ({n})"
            found.append(Drift(str(rater), n, Estimate(None, reason=reason), None, None, None))
            continue
        x = (rows["place"].rank().to_numpy() - 1) / (n - 1)
        y = rows["agreement"].to_numpy(dtype=float)
        centred = x - x.mean()
        if not centred.any():
            reason = f"all labels have the same {column}, so they have no order"
            found.append(Drift(str(rater), n, Estimate(None, reason=reason), None, None, None))
            continue
        slope = float(centred @ y / (centred @ centred))
        rest = y - y.mean() - slope * centred
        leverage = 1 / n + centred**2 / (centred @ centred)
        se = float(np.sqrt((centred**2 * (rest / (1 - leverage)) ** 2).sum()) / (centred @ centred))
        if se < 1e-12:
            estimate = Estimate(slope, reason="all labels agree equally: no standard error")
            found.append(Drift(str(rater), n, estimate, None, None, None))
            continue
        half = float(special.stdtrit(n - 2, (1 + checked_level(level)) / 2)) * se
        critical = float(special.stdtrit(n - 2, 1 - (1 - level) / 2 / n_raters))
        estimate = Estimate(slope, se, max(slope - half, -1.0), min(slope + half, 1.0))
        p = float(2 * special.stdtr(n - 2, -abs(slope) / se))
        detectable = (critical + float(special.stdtrit(n - 2, POWER))) * se
        found.append(Drift(str(rater), n, estimate, p, None, detectable))
    corrected = holm([row.p for row in found])
    return [replace(row, p_holm=p) for row, p in zip(found, corrected, strict=True)]


def jackknife_over_raters(
    labels: pd.DataFrame,
    coefficient: Callable[..., Estimate] = fleiss_kappa,
    categories: Categories = CATEGORIES,
    *,
    level: float = 0.95,
) -> Estimate:
    """Compute a coefficient with an interval that covers new raters and new items (Gwet's unconditional variance [1]_).

    The variance is the sum of two parts: the variance over items, as in the ordinary interval, and the jackknife
    variance over raters. With R raters, the jackknife variance is (R - 1) / R sum (k_(-r) - mean)^2, where k_(-r) is
    the coefficient without rater r. Raises ValueError if the label table is invalid.

    `coefficient`: `fleiss_kappa` or another coefficient of a count table; `level`: confidence level (t distribution, R
    - 1 degrees of freedom). Returns the value of the coefficient. There is no interval if there are fewer than three
    raters, or if the coefficient is undefined without one of the raters.

    References
    ----------
    .. [1] Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 5

    Examples
    --------
    >>> rows = [(i, r, "similar" if (i * r) % 3 else "dissimilar") for i in range(30) for r in (1, 2, 4)]
    >>> labels = pd.DataFrame(rows, columns=["item", "rater", "category"])
    >>> jackknife_over_raters(labels).value == fleiss_kappa(count_table(labels)).value
    True
    """
    whole = coefficient(count_table(labels, categories), categories, level=level)
    r = labels["rater"].nunique()
    if whole.value is None:
        return whole
    if r < LEAST_RATERS:
        return Estimate(whole.value, reason="fewer than three reviewers")
    without = [coefficient(counts, categories).value for counts in _without_each(labels, categories).values()]
    defined = np.array([value for value in without if value is not None])
    if len(defined) < r or whole.se is None:
        return Estimate(whole.value, reason="the coefficient without one of the reviewers is undefined")
    of_raters = (r - 1) / r * float(((defined - defined.mean()) ** 2).sum())
    se = float(np.sqrt(whole.se**2 + of_raters))
    half = float(special.stdtrit(r - 1, (1 + checked_level(level)) / 2)) * se
    return Estimate(whole.value, se, max(whole.value - half, -1.0), min(whole.value + half, 1.0))


def if_given(
    labels: pd.DataFrame,
    missing: pd.DataFrame,
    coefficient: Callable[..., Estimate] = fleiss_kappa,
    categories: Sequence[str] = CATEGORIES,
    *,
    level: float = 0.95,
) -> list[IfGiven]:
    """Compute a coefficient as if all missing labels had the same category, once for each category.

    Raises ValueError if the label table is invalid.

    `missing`: columns item and rater: assigned raters without a label, for example because of "not sure";
    `coefficient`: `fleiss_kappa`, `percent_agreement` or another coefficient of a count table. Returns one entry per
    category; empty if no label is missing.
    """
    given = pd.MultiIndex.from_frame(checked_columns(labels, ("item", "rater"), "label table"))
    asked = checked_columns(missing, ("item", "rater"), "table of missing labels").drop_duplicates()
    asked = asked[~pd.MultiIndex.from_frame(asked).isin(given)]
    if not len(asked):
        return []
    rows = labels[["item", "rater", "category"]]
    return [
        IfGiven(
            str(category),
            len(asked),
            coefficient(
                count_table(pd.concat([rows, asked.assign(category=category)], ignore_index=True), categories),
                categories,
                level=level,
            ),
        )
        for category in categories
    ]
