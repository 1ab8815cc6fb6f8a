"""Choose the items to label next, and compute estimates that are unbiased although items were chosen."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from analysis.arrays import Floats
from analysis.categories import CATEGORIES
from analysis.learning._features import MEASURE_FEATURES
from analysis.learning._validation import Examples, TooFew, choose
from analysis.raters.agreement import WeightedEstimates
from analysis.statistics.intervals import Estimate, checked_level


def rank_next(
    candidates: Sequence[str],
    applications: Mapping[str, str],
    *,
    uncertainty: Mapping[str, float] | None,
    disagreement: Mapping[str, float],
) -> list[str]:
    """Sort the items that could be labelled next, the most informative item first.

    `candidates`: items without labels; `uncertainty`: 1 - |2 p - 1|, where p is the probability of dissimilar from a
    model fitted on other items; 1 is most uncertain. None if there is no model. `disagreement`: share of pairs of
    classifiers that differ on an item; missing items count as 0. Returns first the best item of each application, then
    the second best item of each application, and so on, so that no application dominates a batch. Items are ranked by
    uncertainty x disagreement (by the sum if the product is 0). Ties are sorted by name.
    """
    unsure = uncertainty or {}

    def value(item: str) -> tuple[float, float]:
        first, second = (unsure.get(item, 0.0) if uncertainty is not None else 1.0), disagreement.get(item, 0.0)
        return -first * second, -(first + second)

    ordered = sorted(candidates, key=lambda item: (*value(item), item))
    turn: dict[str, int] = {}
    place = {}
    for item in ordered:
        application = applications.get(item, "")
        place[item] = turn[application] = turn.get(application, -1) + 1
    return sorted(ordered, key=lambda item: place[item])


def selection_weights(n_items: int, batches: Sequence[tuple[Sequence[str], Sequence[str]]]) -> dict[str, float]:
    """Compute weights that make the mean over random and chosen items an unbiased estimate for all items.

    Each batch gives one set of weights. Items that were labelled earlier have weight 1. The random items of the batch
    represent all other items. Each random item therefore has the weight (unlabelled items) / (random items of the
    batch). The weights are then averaged over the batches; a batch counts in proportion to its number of random items
    [1]_. Raises ValueError if an item occurs twice, there are more items than `n_items`, or no item is random.

    `batches`: the new random items and the chosen items of each batch, in order. The choice must not depend on the
    random order of items that are not yet drawn, not even for ties. Returns item -> weight. The sum of the weights is
    `n_items`. Items that were chosen after the last random item have weight 0.

    References
    ----------
    .. [1] Farquhar, Gal, Rainforth (2021), ICLR, https://openreview.net/forum?id=JiYq3eqTKY
    """
    listed = [item for random, chosen in batches for item in (*random, *chosen)]
    if len(set(listed)) < len(listed):
        raise ValueError("an item is in two batches")
    n_random = sum(len(random) for random, _ in batches)
    if len(listed) > n_items or not n_random:
        raise ValueError(f"{len(listed)} items ({n_random} of them random) cannot come from {n_items} items")
    weights = dict.fromkeys(listed, 0.0)
    known: list[str] = []
    for random, chosen in batches:
        share = len(random) / n_random
        for item in known if random else ():
            weights[item] += share
        for item in random:
            weights[item] += share * (n_items - len(known)) / len(random)
        known += [*random, *chosen]
    return weights


def weighted_estimates(
    counts: pd.DataFrame,
    n_items: int,
    batches: Sequence[tuple[Sequence[str], Sequence[str]]],
    *,
    positive: str | None = CATEGORIES[1],
    level: float = 0.95,
) -> WeightedEstimates:
    """Estimate the share of positive labels and the agreement, with the weights of `selection_weights`.

    `counts`: count table of the first labels: indexed by item, one column per category; `positive`: the category whose
    share is estimated; without it, the share is undefined; `n_items`: number of
    all items that the estimates are about; `batches`: as for `selection_weights`; items without two labels are left
    out; `level`: confidence level of the intervals (t distribution, `n_random` - 1 degrees of freedom). All
    estimates are undefined if no random item has two labels; kappa is also undefined if only one category was used.
    The variance is the sum over batches, because the estimates of the batches are uncorrelated [1]_. As in
    `fleiss_kappa`, standard errors assume that the items come from a large population.

    References
    ----------
    .. [1] Farquhar, Gal, Rainforth (2021), ICLR, https://openreview.net/forum?id=JiYq3eqTKY
    """
    two = counts[counts.sum(axis=1) >= 2]
    rated = [([name for name in a if name in two.index], [name for name in b if name in two.index]) for a, b in batches]
    random = [name for part, _ in rated for name in part]
    used = two.loc[[*random, *(name for _, part in rated for name in part)]]
    n_labels = int(used.to_numpy().sum())
    if not random:
        none = Estimate(None, reason="no randomly drawn item has two labels")
        return WeightedEstimates(len(used), 0, len(used), n_labels, none, none, none)
    weights = selection_weights(n_items, rated)
    w = np.array([weights[name] for name in used.index]) / n_items
    r = used.to_numpy(dtype=np.float64)
    r_i = r.sum(axis=1)
    p_ik, pa_i = r[:, 1:] / r_i[:, None], (r * (r - 1)).sum(axis=1) / (r_i * (r_i - 1))
    p, pa = w @ p_ik, float(w @ pa_i)  # shares of all categories but the first
    p_first = 1 - float(p.sum())
    pe = float((p**2).sum()) + p_first**2
    spread = _design_factor(n_items, rated)

    def estimate(value: float, terms: Floats, lowest: float) -> Estimate:
        if len(random) < 2:
            return Estimate(value, reason="an interval needs more than one random item")
        variance = float(w @ (terms - w @ terms) ** 2) * len(random) / (len(random) - 1)
        se = float(np.sqrt(variance * spread))
        half = float(stats.t.ppf((1 + checked_level(level)) / 2, len(random) - 1)) * se
        return Estimate(value, se, max(value - half, lowest), min(value + half, 1.0))

    if 1 - pe < 1e-12:
        kappa = Estimate(None, reason="only one category was used")
    else:
        value = (pa - pe) / (1 - pe)
        kappa = estimate(value, (pa_i - (1 - value) * 2 * (p_ik @ (p - p_first))) / (1 - pe), -1.0)
    n_without = int((w == 0).sum())
    if positive is None:
        share = Estimate(None, reason="the question has no positive category")
    else:
        of_positive = used[positive].to_numpy(dtype=np.float64) / r_i
        share = estimate(float(w @ of_positive), of_positive, 0.0)
    return WeightedEstimates(len(used), len(random), n_without, n_labels, share, estimate(pa, pa_i, 0.0), kappa)


def _design_factor(n_items: int, batches: Sequence[tuple[Sequence[str], Sequence[str]]]) -> float:
    """Return the variance of a weighted mean, divided by the variance between items.

    For n random items alone, the result is 1 / n.
    """
    n_random, n_known, factor = sum(len(random) for random, _ in batches), 0, 1 / n_items
    for random, chosen in batches:
        n_rest = n_items - n_known
        if random:
            drawn = 1 / len(random) - 1 / n_rest
            factor += (len(random) / n_random * n_rest / n_items) ** 2 * drawn
        n_known += len(random) + len(chosen)
    return factor


def disagreement_of(verdicts: pd.DataFrame) -> dict[str, float]:
    """Return, for each item, the share of pairs of classifiers whose verdicts differ."""
    judged = verdicts[verdicts["verdict"].notna()]
    table = pd.crosstab(judged["item"], judged["verdict"])
    counts = table.to_numpy(dtype=np.float64)
    n = counts.sum(axis=1)
    pairs = n * (n - 1)
    equal = (counts * (counts - 1)).sum(axis=1)
    shares = np.divide(pairs - equal, pairs, out=np.zeros(len(n)), where=pairs > 0)
    return {str(item): float(share) for item, share in zip(table.index, shares, strict=True)}


def uncertainties(examples: Examples, features: pd.DataFrame, *, rng: np.random.Generator) -> dict[str, float]:
    """Fit a model to the labelled items, and return how uncertain the model is about each item in the table.

    Raises TooFew as `cross_validate`.

    `examples`: the labelled items; `features`: indexed by item, with the columns of the examples. Items with missing
    values are left out. Returns item -> 1 - |2 p - 1|, where p is the probability of dissimilar by the monotone model
    of the measures.
    """
    if examples.why_too_few:
        raise TooFew(examples.why_too_few)
    measures = examples.only(MEASURE_FEATURES)
    model = choose(measures, rng=rng, monotone=True)
    values = features[list(measures.features)].astype(float).dropna()
    probability = model.probability(values.to_numpy(dtype=np.float64))[:, 1]
    return {str(item): 1 - abs(2 * float(p) - 1) for item, p in zip(values.index, probability, strict=True)}
