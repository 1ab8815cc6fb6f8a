"""Which items to label next, and estimates that stay right although items were chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.evaluation import auc
from analysis.learning._logistic import Floats
from analysis.learning._validation import Examples, TooFew, choose
from analysis.results import Result


def rank_next(
    candidates: Sequence[str],
    applications: Mapping[str, str],
    *,
    uncertainty: Mapping[str, float] | None,
    disagreement: Mapping[str, float],
) -> list[str]:
    """Candidates in the order in which they should be labelled.

    Parameters
    ----------
    candidates : sequence of str
        Items without labels.
    applications : mapping of str to str
    uncertainty : mapping of str to float, or None
        1 - |2 p - 1| of a model that was fitted on other items: 1 where it cannot tell. None without a model.
    disagreement : mapping of str to float
        Share of pairs of classifiers that differ on an item; 0 where missing.

    Returns
    -------
    list of str
        By uncertainty x disagreement (by the sum where a product is 0), the best of each application first, then the
        second of each, so that no application fills a batch. Ties by name.

    Examples
    --------
    >>> rank_next(["a1", "a2", "b1"], {"a1": "a", "a2": "a", "b1": "b"}, uncertainty={"a1": 0.9, "a2": 0.8, "b1": 0.1},
    ...           disagreement={"a1": 0.5, "a2": 0.5, "b1": 0.5})
    ['a1', 'b1', 'a2']
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
    """Weights with which random and chosen items together estimate a mean over all items without bias.

    After each batch, the items labelled before it are known, and its random ones stand for all the others: weight 1 for
    each known item, (items not yet labelled) / (random ones of the batch) for these. The weights are the averages of
    those of all batches, by the number of random items [1]_.

    Parameters
    ----------
    n_items : int
        All items that could be labelled.
    batches : sequence of (sequence of str, sequence of str)
        The new random items, and the chosen ones, of each batch in order. What was chosen must not depend on the random
        order of the items that were not drawn yet, not even where two are equally good.

    Returns
    -------
    dict of str to float
        By item; the weights sum to `n_items`. Items that were chosen after the last random one weigh 0.

    Raises
    ------
    ValueError
        If an item is there twice, there are more items than `n_items`, or no item is random.

    References
    ----------
    .. [1] Farquhar, Gal, Rainforth (2021), ICLR, https://openreview.net/forum?id=JiYq3eqTKY

    Examples
    --------
    >>> selection_weights(10, [(["a", "b"], ["c"]), (["d"], [])])
    {'a': 3.6666666666666665, 'b': 3.6666666666666665, 'c': 0.3333333333333333, 'd': 2.3333333333333335}
    """
    listed = [item for random, chosen in batches for item in (*random, *chosen)]
    if len(set(listed)) < len(listed):
        raise ValueError("an item is in two batches")
    n_random = sum(len(random) for random, _ in batches)
    if len(listed) > n_items or not n_random:
        raise ValueError(f"{len(listed)} items, {n_random} of them random, cannot be from {n_items} items")
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


@dataclass(frozen=True, repr=False)
class SelectionStep(Result):
    """Averages over repeats after so many labels.

    Attributes
    ----------
    n : int
        Labels so far.
    auc_random, auc_chosen : float
        Area on the items of held-out applications, of models fitted on items drawn at random, and on chosen ones with
        a random share.
    prevalence_labelled, prevalence_random, prevalence_weighted : float
        Mean error of the share of dissimilar items: over all labelled ones, over the random ones alone, and weighted.
    rmse_random, rmse_weighted : float
        Root of the mean squared error of the latter two.
    """

    n: int
    auc_random: float
    auc_chosen: float
    prevalence_labelled: float
    prevalence_random: float
    prevalence_weighted: float
    rmse_random: float
    rmse_weighted: float


def simulate_selection(
    examples: Examples,
    disagreement: Mapping[str, float],
    *,
    rng: np.random.Generator,
    n_first: int = 60,
    n_next: int = 20,
    random_share: float = 0.3,
    n_repeats: int = 50,
) -> tuple[SelectionStep, ...]:
    """Label items of a finished study again in the order of the rule, and see what the estimates would have been.

    Parameters
    ----------
    examples : Examples
        One row per item.
    disagreement : mapping of str to float
    rng : Generator
    n_first, n_next : int
        Random items to begin with, and the size of each batch.
    random_share : float
        Of each batch, in (0, 1].
    n_repeats : int
        Each with other random items, and a third of the applications held out for the areas.

    Returns
    -------
    tuple of SelectionStep
    """
    results: dict[int, list[Floats]] = {}
    for _ in range(n_repeats):
        names = rng.permutation(sorted(set(examples.applications)))
        held_out = np.isin(examples.applications, names[: len(names) // 3])
        for n, row in _one_selection(examples.of(~held_out), examples.of(held_out), disagreement, rng,
                                     n_first, n_next, random_share):  # fmt: skip
            results.setdefault(n, []).append(row)
    steps = []
    for n, rows in sorted(results.items()):
        if len(rows) == n_repeats:
            table = np.array(rows)
            means, rmse = table.mean(axis=0), np.sqrt((table**2).mean(axis=0))
            steps.append(SelectionStep(n, *(float(value) for value in (*means, rmse[3], rmse[4]))))
    return tuple(steps)


def _one_selection(
    pool: Examples,
    held_out: Examples,
    disagreement: Mapping[str, float],
    rng: np.random.Generator,
    n_first: int,
    n_next: int,
    random_share: float,
) -> list[tuple[int, Floats]]:
    place = {item: n for n, item in enumerate(pool.items)}
    applications = dict(zip(pool.items, pool.applications, strict=True))
    order = rng.permutation(np.array(pool.items, dtype=object)).tolist()
    truth, true_share = pool.dissimilar.astype(float), float(pool.dissimilar.mean())
    words = np.where(held_out.dissimilar, "dissimilar", "similar").tolist()

    def fitted(items: Sequence[str]) -> Floats | None:
        part = pool.of(np.array([place[item] for item in items], dtype=np.intp))
        if part.dissimilar.all() or not part.dissimilar.any():
            return None
        model = choose(part, rng=rng, monotone=True, n_folds=3)
        return np.concatenate([model.leaning(held_out.x), model.probability(pool.x)])

    batches: list[tuple[list[str], list[str]]] = [(order[:n_first], [])]
    found: list[tuple[int, Floats]] = []
    labelled, n_prefix = list(order[:n_first]), n_first
    while True:
        ours, by_chance = fitted(labelled), fitted(order[: len(labelled)])
        if ours is None or by_chance is None:
            return found
        weights = selection_weights(len(order), batches)
        weighted = sum(weight * truth[place[item]] for item, weight in weights.items()) / len(order)
        means = [float(np.mean([truth[place[item]] for item in items])) for items in (labelled, order[:n_prefix])]
        areas = [auc(words, scores[: len(words)]).value or 0.5 for scores in (by_chance, ours)]
        errors = [share - true_share for share in (*means, weighted)]
        found.append((len(labelled), np.array([*areas, *errors])))
        if len(labelled) + n_next > len(order):
            return found
        n_prefix = min(n_prefix + round(random_share * n_next), len(order))
        random = [item for item in order[:n_prefix] if item not in set(labelled)]
        rest = [item for item in order if item not in {*labelled, *random}]
        probability = dict(zip(pool.items, ours[len(words) :], strict=True))
        unsure = {item: 1 - abs(2 * float(probability[item]) - 1) for item in rest}
        ranked = rank_next(rest, applications, uncertainty=unsure, disagreement=disagreement)
        chosen = ranked[: n_next - len(random)]
        batches.append((random, chosen))
        labelled += [*random, *chosen]


def disagreement_of(verdicts: pd.DataFrame) -> dict[str, float]:
    """Share of pairs of classifiers that differ on each item.

    Parameters
    ----------
    verdicts : DataFrame
        Columns item, classifier, verdict.

    Examples
    --------
    >>> table = pd.DataFrame({"item": "a", "classifier": list("xyz"), "verdict": ["similar", "similar", "dissimilar"]})
    >>> disagreement_of(table)
    {'a': 0.6666666666666666}
    """
    judged = verdicts[verdicts["verdict"].notna()]
    table = pd.crosstab(judged["item"], judged["verdict"])
    counts = table.to_numpy(dtype=np.float64)
    n = counts.sum(axis=1)
    pairs = n * (n - 1)
    equal = (counts * (counts - 1)).sum(axis=1)
    shares = np.divide(pairs - equal, pairs, out=np.zeros(len(n)), where=pairs > 0)
    return {str(item): float(share) for item, share in zip(table.index, shares, strict=True)}


def uncertainties(examples: Examples, features: pd.DataFrame, *, rng: np.random.Generator) -> dict[str, float]:
    """1 - |2 p - 1| of every item in the table, from a model of the labelled ones.

    Parameters
    ----------
    examples : Examples
        The labelled items.
    features : DataFrame
        Indexed by item, with the columns of the examples; items that lack one are left out.
    rng : Generator

    Raises
    ------
    TooFew
        As `cross_validate`.
    """
    if examples.why_too_few:
        raise TooFew(examples.why_too_few)
    model = choose(examples, rng=rng, monotone=True)
    values = features[list(examples.features)].astype(float).dropna()
    probability = model.probability(values.to_numpy(dtype=np.float64))
    return {str(item): 1 - abs(2 * float(p) - 1) for item, p in zip(values.index, probability, strict=True)}
