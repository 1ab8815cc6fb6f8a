"""Each reviewer alone: retests, drift, missing labels, and whether labels depend on the order or on the side."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import special

from analysis.arrays import Floats
from analysis.categories import CATEGORIES
from analysis.raters.agreement._coefficients import fleiss_kappa
from analysis.raters.agreement._formulas import Categories
from analysis.raters.agreement._groups import by_group, in_order, partner_agreement
from analysis.raters.agreement._pairs import TwoByTwo, bias_index, cohen_kappa, pabak_of, pair_table, two_by_two
from analysis.raters.tables import Counts, checked_columns, checked_labels, count_table, positive_category, ranks
from analysis.statistics.intervals import (
    Estimate,
    Groups,
    McNemar,
    checked_level,
    group_numbers,
    linearised,
    mcnemar_of,
    wilson,
)
from analysis.statistics.multiple import bonferroni, holm
from analysis.statistics.results import Result


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
    groups: Groups | None = None,
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
    groups : sequence of hashable, optional
        The group of each row, such as the application of the item. The test of drift then allows for related items.
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
    group = None if groups is None else np.asarray(group_numbers(len(table), groups)[0])
    of_raters = table.assign(place=np.arange(len(table))).groupby("rater", sort=True)
    category = tuple(categories)[k]
    found = []
    for rater, rows in of_raters:
        first, second = ((rows[name] == category).to_numpy() for name in ("first", "second"))
        own = None if group is None else group[rows["place"].to_numpy()]
        drift = mcnemar_of(first & ~second, second & ~first, own)
        cells = pair_table(rows[["first", "second"]].to_numpy(object), categories)
        found.append(_of_rater(str(rater), cells, k, drift, level))
    return found


def _of_rater(rater: str, cells: Floats, k: int, drift: McNemar, level: float) -> RetestAgreement:
    table = two_by_two(cells, k)
    percent = wilson(int(np.trace(cells)), table.n, level)
    return RetestAgreement(
        rater=rater,
        n=table.n,
        table=table,
        percent=percent,
        cohen_kappa=cohen_kappa(cells, level=level),
        pabak=pabak_of(percent, len(cells)),
        drift=drift,
        change=bias_index(TwoByTwo(table.a, table.c, table.b, table.d), level=level),
    )


LEAST_RATERS = 3


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


def against_rest(
    labels: pd.DataFrame, categories: Categories = CATEGORIES, *, level: float = 0.95
) -> list[AgainstRest]:
    """Compare each rater with all others, and compute the kappa of the others without this rater.

    The result is sorted by rater. With two raters, `without` is undefined.
    """
    rows = by_group(labels, "rater", categories, level=level)
    counts = count_table(labels, categories)
    whole = fleiss_kappa(Counts(counts), categories, level=level).value if len(labels) else None
    without_each = _without_each(labels, categories)
    found = []
    for row in rows:
        others = without_each[row.group]
        without = (
            fleiss_kappa(Counts(others), categories, level=level)
            if others.any()
            else Estimate(None, reason="no other rater")
        )
        change = None if without.value is None or whole is None else without.value - whole
        found.append(AgainstRest(str(row.group), row.n_items, row.percent, row.kappa, without, change))
    return found


def _without_each(labels: pd.DataFrame, categories: Categories) -> dict[object, Floats]:
    """Return, for each rater, the count table of the labels of all other raters."""
    counts = count_table(labels, categories)
    row = counts.index.get_indexer(pd.Index(labels["item"]))
    column = counts.columns.get_indexer(pd.Index(labels["category"]))
    without = {}
    for rater, own in labels.groupby("rater").indices.items():
        without[rater] = counts.to_numpy(np.float64, copy=True)
        without[rater][row[own], column[own]] -= 1  # a rater has one label on an item
    return without


def jackknife_over_raters(
    labels: pd.DataFrame, categories: Categories = CATEGORIES, *, level: float = 0.95
) -> Estimate:
    """Compute Fleiss' kappa with an interval that covers new raters and new items (Gwet's unconditional variance [1]_).

    The variance is the sum of two parts: the variance over items, as in the ordinary interval, and the jackknife
    variance over raters. With R raters, the jackknife variance is (R - 1) / R sum (k_(-r) - mean)^2, where k_(-r) is
    kappa without rater r. Raises ValueError if the label table is invalid.

    `level`: confidence level (t distribution, R - 1 degrees of freedom). There is no interval if there are fewer than
    three raters, or if kappa is undefined without one of the raters.

    References
    ----------
    .. [1] Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 5
    """
    whole = fleiss_kappa(Counts(count_table(labels, categories)), categories, level=level)
    r = labels["rater"].nunique()
    if whole.value is None:
        return whole
    if r < LEAST_RATERS:
        return Estimate(whole.value, reason="fewer than three reviewers")
    without = [fleiss_kappa(Counts(counts), categories).value for counts in _without_each(labels, categories).values()]
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


SHARE, AGREEMENT = "dissimilar", "agreement"
TREND, PREDECESSOR = "trend", "predecessor"
MIN_LABELS = 3
# All pairs of labels are compared. If there are more labels, only every second or third label is used.
MOST_LABELS = 2000


@dataclass(frozen=True, repr=False)
class OrderEffect(Result):
    """The result of one order test for one rater."""

    rater: str
    # "dissimilar" (share), "agreement" (with the other raters of the item), or the name of a column of numbers.
    outcome: str
    # "trend" tests for a change over the labels in order. "predecessor" compares labels after a dissimilar label
    # with labels after a similar label.
    test: str
    n: int  # number of labels used
    # Change of the outcome from the first to the last label, or the outcome after dissimilar minus the outcome
    # after similar. For shares and agreement, the mean changes; for a column of numbers, the median changes
    # (Theil-Sen, Hodges-Lehmann).
    effect: Estimate
    # chi2 has one degree of freedom. p is corrected over the raters with the same outcome and test. None if the
    # test is undefined; `reason` then says why.
    chi2: float | None
    p: float | None
    p_holm: float | None = None
    p_bonferroni: float | None = None
    reason: str | None = None


@dataclass(frozen=True, repr=False)
class OrderTest(Result):
    """The results of all order tests of a study, and whether the order matters."""

    rows_of = "effects"

    effects: tuple[OrderEffect, ...]
    alpha: float
    n_tests: int  # |T|, the number of effects with a p value
    # Whether any p is below alpha / |T| (`matters`) or below alpha (`matters_uncorrected`); None if there is no
    # test.
    matters: bool | None
    matters_uncorrected: bool | None
    reason: str | None = None


def order_test(
    labels: pd.DataFrame,
    over: str = "position",
    outcomes: Sequence[str] = (SHARE, AGREEMENT),
    *,
    categories: Categories = CATEGORIES,
    positive: Hashable | None = None,
    alpha: float = 0.05,
) -> OrderTest:
    """Test whether the order of the items matters for any rater, which is the case if any p is below alpha / |T| [1]_.

    Two tests of each outcome and rater: whether it changes over the labels, for example because of fatigue or practice,
    and whether it depends on the previous label. The statistic of the trend is chi2 = (n - 1) r^2, where r is the
    correlation of the ranks [2]_; for a share, this is the Cochran-Armitage test [3]_ over ranks, apart from the factor
    (n - 1) / n. The Kruskal-Wallis test [4]_ compares the labels after a dissimilar and after a similar label; the
    first label has no predecessor. The labels of a rater belong to different items, so they are independent if the
    order has no effect. No rater labels the same items in a second, fixed order, so the test is weaker than the
    comparison of two orders of measurements. Raises ValueError if the label table is invalid, or lacks a column.

    `labels`: label table: columns item, rater, category, `over`, and the columns in `outcomes`; at most one label per
    (item, rater). A row with a missing value is left out of the effects that need this value. `over`: column to sort
    the labels of a rater by: position, time, or time on task. Ties share a rank, and keep the order of their rows.
    `outcomes`: "dissimilar", "agreement", or columns of numbers, such as dwell_ms; `alpha`: significance level of all
    tests together; effects have intervals at level 1 - alpha. Returns the trends, then the effects of the predecessor,
    each sorted by outcome, then by rater. An effect is undefined if there are fewer than three labels, or if nothing
    varies; the test is undefined if all effects are.

    References
    ----------
    .. [1] Duplyakin et al. (2023), Avoiding the Ordering Trap in Systems Performance Measurement, USENIX ATC '23
    .. [2] Mantel (1963), J. Am. Stat. Assoc. 58:690-700, doi:10.1080/01621459.1963.10500879
    .. [3] Armitage (1955), Biometrics 11:375-386, doi:10.2307/3001775
    .. [4] Kruskal, Wallis (1952), J. Am. Stat. Assoc. 47:583-621, doi:10.1080/01621459.1952.10483441
    """
    table = _with_outcomes(labels, over, outcomes, categories, positive)
    effects = tuple(effect for test in (TREND, PREDECESSOR) for effect in _effects(table, outcomes, test, 1 - alpha))
    p = [effect.p for effect in effects if effect.p is not None]
    if not p:
        return OrderTest(effects, alpha, 0, None, None, "no rater has labels that can be tested")
    return OrderTest(effects, alpha, len(p), min(p) < alpha / len(p), min(p) < alpha)


def _effects(table: pd.DataFrame, outcomes: Sequence[str], test: str, level: float) -> tuple[OrderEffect, ...]:
    effects: list[OrderEffect] = []
    by_rater = list(table.groupby("rater", sort=True))
    for outcome in outcomes:
        rows = [
            _effect(str(rater), outcome, test, _explained(group, test, outcome), level) for rater, group in by_rater
        ]
        p = [effect.p for effect in rows]
        corrected = zip(rows, holm(p), bonferroni(p), strict=True)
        effects += [replace(effect, p_holm=h, p_bonferroni=b) for effect, h, b in corrected]
    return tuple(effects)


def _with_outcomes(
    labels: pd.DataFrame, over: str, outcomes: Sequence[str], categories: Categories, positive: Hashable | None
) -> pd.DataFrame:
    """Return the columns rater, over, is_dissimilar and outcome_<name>, sorted by rater and then by order."""
    table = checked_labels(labels, categories)
    positive = positive_category(categories, positive)
    missing = [name for name in (over, *outcomes) if name not in (*labels.columns, SHARE, AGREEMENT)]
    if missing:
        raise ValueError(f"label table lacks the column {', '.join(missing)}; it has {', '.join(map(str, labels))}")
    columns = {
        "rater": table["rater"],
        "over": in_order(labels[over]),
        "is_dissimilar": (table["category"] == positive).astype(float),
    }
    for name in outcomes:
        if name == SHARE:
            columns[f"outcome_{name}"] = columns["is_dissimilar"]
        elif name == AGREEMENT:
            columns[f"outcome_{name}"] = partner_agreement(table, categories)
        else:
            columns[f"outcome_{name}"] = pd.to_numeric(labels[name]).astype(float)
    return pd.DataFrame(columns).dropna(subset="over").sort_values(["rater", "over"], kind="stable")


def _explained(group: pd.DataFrame, test: str, outcome: str) -> tuple[Floats, Floats]:
    """Return x and y of one rater where both are known.

    x is the rank in the order or the predecessor, and y is the outcome.
    """
    x = group["over"].rank() if test == TREND else group["is_dissimilar"].shift()
    y = group[f"outcome_{outcome}"]
    is_complete = x.notna() & y.notna()
    return np.asarray(x[is_complete], dtype=np.float64), np.asarray(y[is_complete], dtype=np.float64)


def _effect(rater: str, outcome: str, test: str, xy: tuple[Floats, Floats], level: float) -> OrderEffect:
    x, y = xy
    reason = None
    if len(x) < MIN_LABELS:
        reason = f"fewer than {MIN_LABELS} labels"
    elif np.ptp(x) == 0:
        reason = "all labels have the same position" if test == TREND else "all previous labels have the same category"
    elif np.ptp(y) == 0:
        reason = "the outcome is the same for all labels"
    if reason:
        return OrderEffect(rater, outcome, test, len(x), Estimate(None, reason=reason), None, None, reason=reason)
    r = np.corrcoef(ranks(x), ranks(y))[0, 1]
    chi2 = float((len(x) - 1) * r**2)
    scaled = (x - x.min()) / np.ptp(x)
    effect = (_change_of_mean if outcome in (SHARE, AGREEMENT) else _change_of_median)(scaled, y, level)
    return OrderEffect(rater, outcome, test, len(x), effect, chi2, float(special.chdtrc(1, chi2)))


def _change_of_mean(x: Floats, y: Floats, level: float) -> Estimate:
    """Return the change of the mean of y over the range of x: the slope of the least-squares line for x in [0, 1]."""
    deviations = x - x.mean()
    slope = float(deviations @ y / (deviations @ deviations))
    residual = y - y.mean() - slope * deviations
    return linearised(slope, slope + len(x) * deviations * residual / (deviations @ deviations), level)


def _change_of_median(x: Floats, y: Floats, level: float) -> Estimate:
    """Return the change of the median of y over the range of x: the Theil-Sen slope for x in [0, 1].

    If x has only two values, the slope is the Hodges-Lehmann shift. The limits of Sen's interval are slopes of certain
    ranks; `scipy.stats.theilslopes` sorts all slopes to find them, and takes the smallest and the largest slope if
    there are not as many ranks, so that even three labels would have an interval.
    """
    every = -(-len(x) // MOST_LABELS)
    x, y = x[::every], y[::every]
    if np.ptp(x) == 0:
        return Estimate(None, reason="too few labels after one of the categories")
    n = len(x)
    first, second = np.triu_indices(n, 1)
    steps = x[second] - x[first]
    slopes = ((y[second] - y[first])[steps != 0]) / steps[steps != 0]
    same = np.concatenate([np.unique(values, return_counts=True)[1] for values in (x, y)])
    ties = (same * (same - 1) * (2 * same + 5)).sum()
    variance = (n * (n - 1) * (2 * n + 5) - ties) / 18  # below 0 if nearly all values are equal
    half = special.ndtri((1 + level) / 2) * np.sqrt(max(variance, 0.0))
    if variance < 0 or half >= len(slopes):
        return Estimate(float(np.median(slopes)), reason="too few labels for an interval")
    limits = max(round((len(slopes) - half) / 2) - 1, 0), min(round((len(slopes) + half) / 2), len(slopes) - 1)
    middle = (len(slopes) - 1) // 2, len(slopes) // 2
    slopes.partition(sorted({*limits, *middle}))
    low, high = slopes[list(limits)]
    return Estimate(float(slopes[list(middle)].mean()), low=float(low), high=float(high))


@dataclass(frozen=True, repr=False)
class SideBias(Result):
    """How often reviewers call the left and the right side worse, on items that were shown both ways."""

    n_items: int  # number of items that were shown both ways
    n_labels: int  # number of their labels
    # Shares of labels that call this side worse, in [0, 1]; each way of showing an item counts half, and each item
    # once. Without a preference for a side, both are equal, whatever the benchmarks did.
    left: float | None
    right: float | None
    bias: Estimate  # left - right, in [-1, 1], with an interval over items. Undefined if no item was shown both ways.


def side_bias(labels: pd.DataFrame, categories: Categories, *, level: float = 0.95) -> SideBias:
    """Compare how often the left and the right side of the same items are called worse.

    A category that calls the second version worse stands before the middle of the scale, and one that calls it better
    stands after the middle. If an item is shown both ways, its own change cancels out.

    `labels`: columns item, category and swapped; `swapped` is whether the second version was shown on the left. A rater
    may have labelled an item several times. Labels without `swapped` are left out. `categories`: the declared
    categories in their order, from worse to better; `level`: confidence level (t distribution, n_items - 1 degrees of
    freedom). Raises ValueError if a column is missing, or a label is not one of the categories.
    """
    known = labels[labels["swapped"].notna()] if "swapped" in labels.columns else labels
    table = checked_columns(known, ("item", "category", "swapped"), "label table")
    place = table["category"].map({name: k for k, name in enumerate(categories)})
    if place.isna().any():
        raise ValueError(f"{table.loc[place.isna(), 'category'].iloc[0]!r} is not one of the categories")
    swapped = table["swapped"].astype(bool)
    better = np.sign(2 * place.to_numpy(dtype=np.int64) - (len(categories) - 1))  # of the second version
    right_better = np.where(swapped, -better, better)
    sides = pd.DataFrame({
        "item": table["item"], "swapped": swapped, "left": right_better == 1, "right": right_better == -1,
    })  # fmt: skip
    ways = sides.groupby(["item", "swapped"], sort=True)[["left", "right"]].mean()
    both = ways.groupby(level="item").filter(lambda rows: len(rows) == 2)
    if not len(both):
        return SideBias(0, 0, None, None, Estimate(None, reason="no item was shown both ways"))
    of_item = both.groupby(level="item").mean()
    terms = (of_item["left"] - of_item["right"]).to_numpy(dtype=np.float64)
    n_labels = int(sides["item"].isin(of_item.index).sum())
    left, right = (float(of_item[side].mean()) for side in ("left", "right"))
    return SideBias(len(of_item), n_labels, left, right, linearised(float(terms.mean()), terms, level))
