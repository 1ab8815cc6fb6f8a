"""Test whether labels depend on the order in which raters saw the items.

Each rater is tested separately. The labels of a rater belong to different items, so they are independent if the order
has no effect. Only positions can be tested, because no rater labels the same items in a second, fixed order. The test
is therefore weaker than the comparison of two orders for measurements (Duplyakin et al. 2023).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import special

from analysis.agreement._coefficients import Categories
from analysis.agreement._groups import in_order, partner_agreement
from analysis.categories import CATEGORIES
from analysis.intervals import Estimate, linearised
from analysis.multiple import bonferroni, holm
from analysis.results import Result
from analysis.tables import Floats, checked_labels, positive_category, ranks

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
    first label has no predecessor. Raises ValueError if the label table is invalid, or lacks a column.

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

    Examples
    --------
    >>> labels = pd.DataFrame({"item": range(20), "rater": "ada", "position": range(20),
    ...                        "category": ["similar"] * 10 + ["dissimilar"] * 10})
    >>> order_test(labels).matters
    True
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

    If x has only two values, the slope is the Hodges-Lehmann shift.
    """
    from scipy import stats  # slow to import

    every = -(-len(x) // MOST_LABELS)
    x, y = x[::every], y[::every]
    if np.ptp(x) == 0:
        return Estimate(None, reason="too few labels after one of the categories")
    slope, _, low, high = stats.theilslopes(y, x, alpha=level)
    if not _has_enough_ranks(x, y, level):
        return Estimate(float(slope), reason="too few labels for an interval")
    return Estimate(float(slope), low=float(low), high=float(high))


def _has_enough_ranks(x: Floats, y: Floats, level: float) -> bool:
    """Return whether both limits of Sen's interval are among the sorted slopes of all pairs.

    If the limits are not among the slopes, `theilslopes` returns the smallest and the largest slope. Even three labels
    would then have an interval.
    """
    n = len(x)
    same_x, same_y = (np.unique(values, return_counts=True)[1] for values in (x, y))
    n_slopes = (n * (n - 1) - (same_x * (same_x - 1)).sum()) / 2
    ties = sum((same * (same - 1) * (2 * same + 5)).sum() for same in (same_x, same_y))
    sd = np.sqrt((n * (n - 1) * (2 * n + 5) - ties) / 18)
    return bool(special.ndtri((1 + level) / 2) * sd < n_slopes)
