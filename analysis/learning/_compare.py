"""Compare all classifiers on one consensus, for example by areas under the ROC curve and by costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from analysis.arrays import Bools, Floats
from analysis.categories import CATEGORIES
from analysis.raters import evaluation
from analysis.raters.evaluation import Confusion, auc, compare_auc
from analysis.statistics.bootstrap import N_DRAWS, bootstrap
from analysis.statistics.intervals import LEAST_GROUPS, Estimate
from analysis.statistics.multiple import holm
from analysis.statistics.results import Result

MAJORITY_RULE = "always {}"


@dataclass(frozen=True)
class Contestant:
    """A classifier to compare: its scores and verdicts on the items of a consensus, in the order of the items."""

    name: str
    # A larger score means that the positive category is more likely; NaN if missing. For a classifier without scores,
    # these are the verdicts as 1 and 0.
    score: Floats
    verdicts: Floats  # 1 for the positive category, 0 for the other, NaN if there is no verdict
    has_score: bool = True  # whether the classifier has scores, not only verdicts


@dataclass(frozen=True, repr=False)
class Standing(Result):
    """The results of one classifier."""

    name: str
    n: int  # number of items with a consensus and a verdict
    # Area under the ROC curve with the interval of DeLong et al. for independent items. Undefined if the
    # classifier has no scores.
    auc: Estimate
    auc_by_application: Estimate  # the same area with a percentile interval from resampled applications
    accuracy: Estimate  # rates of the verdicts, with intervals by application if there are five or more
    sensitivity: Estimate
    specificity: Estimate
    confusion: Confusion
    cost: float | None  # mean cost per item, (cost_ratio x missed + false alarms) / n, in units of a false alarm


@dataclass(frozen=True, repr=False)
class Difference(Result):
    """The difference between the areas under the ROC curves of two classifiers on the items that both scored."""

    a: str
    b: str
    n: int
    difference: Estimate  # Difference with the interval of DeLong et al. for independent items.
    by_application: Estimate  # the same difference with an interval from resampled applications
    p: float | None  # Two-sided test of DeLong et al.; p_holm is corrected for all differences of the table
    p_by_application: float | None  # normal test with the standard error from resampled applications, also corrected
    p_holm: float | None = None
    p_by_application_holm: float | None = None


@dataclass(frozen=True, repr=False)
class Arena(Result):
    """The results of all classifiers on one consensus."""

    n: int
    n_positive: int
    n_applications: int
    cost_ratio: float
    # Classifiers by decreasing area, then classifiers without scores, then the rule "always" the commoner category.
    standings: tuple[Standing, ...]
    differences: tuple[Difference, ...]


def contestants_of(
    verdicts: pd.DataFrame, items: Sequence[str], categories: Sequence[str] = CATEGORIES
) -> list[Contestant]:
    """Return the classifiers in a verdict table, with their scores and verdicts in the order of these items.

    Raises ValueError if a classifier has two verdicts on an item.

    `verdicts`: columns item, classifier, verdict, and optionally score; `items`: an item may occur several times;
    `categories`: two categories, the positive one last. The result is sorted by name. A classifier without scores is
    compared by its verdicts.
    """
    contestants = []
    for name, rows in verdicts.groupby("classifier", sort=True):
        of_item = rows.set_index("item")
        if not of_item.index.is_unique:
            doubled = of_item.index[of_item.index.duplicated()][0]
            raise ValueError(f"the classifier {name} has two verdicts on item {doubled!r}")
        called: Floats = _numbers(of_item["verdict"].map({categories[1]: 1.0, categories[0]: 0.0}), items)
        score = _numbers(of_item["score"], items) if "score" in of_item else np.full_like(called, np.nan)
        has_score = bool(np.isfinite(score).any())
        contestants.append(Contestant(str(name), score if has_score else called, called, has_score))
    return contestants


def _numbers(column: "pd.Series[Any]", items: Sequence[str]) -> Floats:
    numbers = pd.to_numeric(column).astype(float).reindex(list(items))
    return np.asarray(numbers, dtype=np.float64)


def compete(
    positive: Bools,
    group: NDArray[np.intp],
    contestants: Sequence[Contestant],
    categories: Sequence[str] = CATEGORIES,
    *,
    rng: np.random.Generator,
    against: str | None = None,
    cost_ratio: float = 1.0,
    n_draws: int = N_DRAWS,
    level: float = 0.95,
) -> Arena:
    """Compare classifiers on one consensus by area under the ROC curve, rates, cost and paired differences.

    Raises ValueError if two classifiers share a name, or the cost ratio is not a positive number.

    `positive` (shape (n,)): whether the consensus is the positive category; `group` (shape (n,)): number of each item's
    application; `categories`: the two categories, the positive one last; `against`: compute only the differences to
    this classifier; by default, the differences of all pairs; `cost_ratio`: cost of a missed positive item divided by
    the cost of a false alarm.
    """
    names = [contestant.name for contestant in contestants]
    if len(set(names)) < len(names):
        raise ValueError(f"names of classifiers must differ, got {', '.join(names)}")
    if not 0 < cost_ratio < np.inf:
        raise ValueError(f"cost_ratio must be a finite number > 0, got {cost_ratio}")
    truth = [categories[int(value)] for value in positive]
    seed = int(rng.integers(2**63))

    def by_application(*scores: Floats) -> Estimate:
        return drawn_by_application(
            positive, group, scores, rng=np.random.default_rng(seed), n_draws=n_draws, level=level
        )

    standings = [
        _standing(contestant, truth, categories, group, by_application(contestant.score), cost_ratio, level)
        for contestant in contestants
    ]
    standings.sort(key=lambda row: -1.0 if row.auc.value is None else -row.auc.value)
    commoner = bool(positive.mean() > 0.5)
    same: Floats = np.full(len(truth), float(commoner), dtype=np.float64)
    always = Contestant(MAJORITY_RULE.format(categories[commoner]), same, same, has_score=False)
    none = Estimate(None, reason="the classifier has no scores")
    standings.append(_standing(always, truth, categories, group, none, cost_ratio, level))
    scored = [contestant for contestant in contestants if contestant.has_score]
    pairs = [(a, b) for a, b in combinations(scored, 2) if against is None or against in (a.name, b.name)]
    if against is not None:
        pairs = [(a, b) if a.name == against else (b, a) for a, b in pairs]
    differences = []
    for a, b in pairs:
        compared = compare_auc(truth, a.score, b.score, categories=categories, positive=categories[1], level=level)
        clustered = by_application(a.score, b.score)
        p = None if not clustered.se or clustered.value is None else _two_sided(clustered.value / clustered.se)
        differences.append(Difference(a.name, b.name, compared.n, compared.difference, clustered, compared.p, p))
    corrected = zip(
        differences, holm([d.p for d in differences]), holm([d.p_by_application for d in differences]), strict=True
    )
    return Arena(
        len(truth), int(positive.sum()), len(np.unique(group)), cost_ratio, tuple(standings),
        tuple(replace(d, p_holm=p, p_by_application_holm=q) for d, p, q in corrected),
    )  # fmt: skip


def _standing(
    contestant: Contestant,
    truth: list[str],
    categories: Sequence[str],
    group: NDArray[np.intp],
    by_application: Estimate,
    cost_ratio: float,
    level: float,
) -> Standing:
    judged = np.isfinite(contestant.verdicts)
    called = [categories[int(value)] if is_judged else None for value, is_judged in
              zip(np.nan_to_num(contestant.verdicts), judged, strict=True)]  # fmt: skip
    groups = group if len(np.unique(group[judged])) >= LEAST_GROUPS else None
    confusion = evaluation.confusion_matrix(truth, called, categories=categories, groups=groups)
    (_, n_false_alarms), (n_missed, _) = confusion.counts
    n, rest = confusion.n, categories[0]
    no_scores = Estimate(None, reason="the classifier has verdicts but no scores")
    return Standing(
        contestant.name, n,
        auc(truth, contestant.score, categories=categories, positive=categories[1], level=level)
        if contestant.has_score else no_scores,
        by_application if contestant.has_score else no_scores,
        evaluation.accuracy(confusion, level=level), evaluation.recall(confusion, categories[1], level=level),
        evaluation.recall(confusion, rest, level=level), confusion,
        (cost_ratio * n_missed + n_false_alarms) / n if n else None,
    )  # fmt: skip


def drawn_by_application(
    positive: Bools,
    group: NDArray[np.intp],
    scores: Sequence[Floats],
    *,
    rng: np.random.Generator,
    n_draws: int,
    level: float,
) -> Estimate:
    """Estimate the area under the ROC curve of scores, with an interval from resampled applications.

    If there are second scores, estimate the difference between both areas instead.
    """
    valid = np.isfinite(np.stack(scores)).all(axis=0)
    y = positive[valid]
    if not y.any() or y.all():
        return Estimate(None, reason="the items with a score have only one category")
    areas = [area_by_groups(y, group[valid], values[valid], int(group.max()) + 1) for values in scores]

    def statistic(weights: Floats) -> Floats:
        first = areas[0](weights)
        return first if len(areas) == 1 else first - areas[1](weights)

    return bootstrap(statistic, int(group.max()) + 1, rng=rng, n_draws=n_draws, level=level)


def area_by_groups(
    positive: Bools, group: NDArray[np.intp], score: Floats, n_groups: int
) -> Callable[[Floats], Floats]:
    """Return a function that computes the area under the ROC curve from weights of groups.

    The function takes weights of shape (m, n_groups) and returns areas of shape (m,), not finite if a category has no
    weight. It needs only the counts of item pairs for each pair of groups, which are computed once.
    """
    of_positive, of_rest = score[positive], score[~positive]
    above = (of_positive[:, None] > of_rest) + 0.5 * (of_positive[:, None] == of_rest)
    rows = np.zeros((n_groups, above.shape[1]))
    np.add.at(rows, group[positive], above)
    won = np.zeros((n_groups, n_groups))
    np.add.at(won.T, group[~positive], rows.T)
    n_of = [np.bincount(group[mask], minlength=n_groups).astype(float) for mask in (positive, ~positive)]

    def area(weights: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            areas: Floats = ((weights @ won) * weights).sum(axis=1) / ((weights @ n_of[0]) * (weights @ n_of[1]))
        return areas

    return area


def _two_sided(z: float) -> float:
    return float(2 * special.ndtr(-abs(z)))
