"""Compare a classifier with the labels of single people, on the scale on which two people agree with each other."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from analysis.arrays import Floats
from analysis.categories import CATEGORIES
from analysis.raters.evaluation._compare import BETTER, CANNOT_TELL, WORSE
from analysis.raters.evaluation._confusion import LEAST_FOR_TEST, Declared
from analysis.raters.tables import count_table
from analysis.statistics.intervals import ENOUGH_GROUPS, LEAST_GROUPS, Estimate, clustered_share
from analysis.statistics.multiple import holm
from analysis.statistics.results import Result

ADDED = (-1.0, 1.0)  # differences of two items that the test adds, so that a few items without a loss prove nothing


@dataclass(frozen=True, repr=False)
class AgainstPeople(Result):
    """How often a classifier agrees with one person, and how often two people agree with each other."""

    n: int  # number of items with a verdict and two or more labels
    agreement: Estimate  # mean over items of the share of labels that equal the verdict
    people: Estimate  # mean over the same items of the share of pairs of labels that are equal
    rule: Estimate  # `agreement` of the majority rule: one category for all items
    rule_category: str | None  # the category of the rule; None if there are no items
    difference: Estimate  # `agreement` minus `people`; no interval, because the test is not symmetric
    p: float | None  # of the hypothesis that both are equal; None without a test, and the difference says why
    verdict: str  # "better", "worse" or "cannot tell", by `p`, or by `p_holm` if there is one
    p_holm: float | None = None  # `p` corrected for several classifiers, if it was corrected


def against_people(
    labels: pd.DataFrame,
    verdicts: Mapping[Hashable, str],
    rule: str | None,
    *,
    categories: Declared = CATEGORIES,
    groups: Mapping[Hashable, Hashable] | None = None,
    level: float = 0.95,
) -> AgainstPeople:
    """Compare the agreement of a classifier with people and the agreement of people with each other.

    `labels`: columns item, rater and category; `verdicts`: item -> category; `rule`: the category that the majority
    rule gives to all items; `groups`: item -> group of items that may be related, such as an application. Intervals are
    Wilson's, with the effective number of items. The test is Johnson's modified t test [1]_ on the differences of the
    items, or on their sums in each group, with one more loss and one more win: the classifier can lose more on an item
    than it can win, so a plain t test finds too many advantages (up to .15 at a level of .05). There is no test with
    fewer than 10 items or 5 groups; with fewer than 10 groups, p is at least that of single items.

    References
    ----------
    .. [1] Johnson (1978), J. Am. Stat. Assoc. 73:536-544, doi:10.1080/01621459.1978.10480051
    """
    counts = count_table(labels, categories)
    counts = counts[(counts.sum(axis=1) >= 2) & counts.index.isin(list(verdicts))].sort_index()
    if not len(counts):
        none = Estimate(None, reason="no item has both two labels and a verdict")
        return AgainstPeople(0, none, none, none, None, none, None, CANNOT_TELL)
    table = counts.to_numpy(float)
    n_labels = table.sum(axis=1)
    places = {str(name): place for place, name in enumerate(counts.columns)}
    called = [places[str(verdicts[item])] for item in counts.index]
    with_people = table[np.arange(len(table)), called] / n_labels
    each_other = (table * (table - 1)).sum(axis=1) / (n_labels * (n_labels - 1))
    of_group = list(counts.index) if groups is None else [groups.get(item, item) for item in counts.index]
    numbers = pd.factorize(pd.Series(of_group, dtype=object))[0]

    def mean(values: Floats) -> Estimate:
        sums, n = (np.bincount(numbers, weights).astype(np.float64) for weights in (values, np.ones(len(values))))
        return clustered_share(sums, n, level)

    gap = with_people - each_other
    difference, p = Estimate(float(gap.mean())), None
    sums = np.bincount(numbers, gap)
    if len(table) < LEAST_FOR_TEST:
        difference = replace(difference, reason=f"fewer than {LEAST_FOR_TEST} items ({len(table)}): no test")
    elif len(sums) < LEAST_GROUPS:
        difference = replace(difference, reason=f"fewer than {LEAST_GROUPS} groups ({len(sums)}): no test")
    else:
        p = _johnson(np.array([*sums, *ADDED]))
        if len(sums) < ENOUGH_GROUPS:
            p = max(p, _johnson(np.array([*gap, *ADDED])))
    return AgainstPeople(
        n=len(table),
        agreement=mean(with_people),
        people=mean(each_other),
        rule=Estimate(None, reason="no item is agreed") if rule is None else mean(table[:, places[rule]] / n_labels),
        rule_category=rule,
        difference=difference,
        p=p,
        verdict=_verdict(difference, p, 1 - level),
    )


def correct_people(compared: Sequence[AgainstPeople], *, level: float = 0.95) -> list[AgainstPeople]:
    """Correct the tests of several classifiers by Holm's method, and decide again."""
    corrected = holm([row.p for row in compared])
    return [
        replace(row, p_holm=p, verdict=_verdict(row.difference, p, 1 - level))
        for row, p in zip(compared, corrected, strict=True)
    ]


def _verdict(difference: Estimate, p: float | None, alpha: float) -> str:
    if p is None or p > round(alpha, 6) or not difference.value:
        return CANNOT_TELL
    return BETTER if difference.value > 0 else WORSE


def _johnson(values: Floats) -> float:
    """Return p of the hypothesis that the mean is 0, by Johnson's t test, which allows for a skewed distribution."""
    from scipy import special

    n, mean, variance = len(values), float(values.mean()), float(values.var(ddof=1))
    skew = float(((values - mean) ** 3).mean())
    moved = mean + skew / (6 * variance * n) + skew * mean**2 / (3 * variance**2)
    return min(1.0, 2 * float(special.stdtr(n - 1, -abs(moved) / (variance / n) ** 0.5)))
