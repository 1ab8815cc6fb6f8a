"""Compute how well out-of-fold verdicts and probabilities of any categories agree with the labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.arrays import Floats
from analysis.learning._compare import drawn_by_application
from analysis.learning._validation import Examples, OutOfFold
from analysis.raters.evaluation import Against, AgainstMajority, against, against_majority, confusion_matrix
from analysis.statistics.bootstrap import bootstrap
from analysis.statistics.intervals import Estimate
from analysis.statistics.results import Result


@dataclass(frozen=True, repr=False)
class CategoryArea(Result):
    """How well out-of-fold scores separate a category from all others."""

    category: str
    n: int  # number of labels with this category
    auc: Estimate  # area under the ROC curve, with an interval from resampled applications


@dataclass(frozen=True, repr=False)
class HeldOut(Result):
    """The numbers of out-of-fold verdicts, with intervals from resampled applications."""

    accuracy: Estimate
    balanced_accuracy: Estimate
    difference: Estimate  # accuracy minus that of the majority rule
    areas: tuple[CategoryArea, ...]
    brier: Estimate  # mean squared distance between probabilities and category, summed over the categories
    brier_of_shares: float  # the same if the shares of the categories were predicted for each item


@dataclass(frozen=True, kw_only=True)
class AgainstLabels(Against):
    """The numbers of verdicts against the labels, and the majority rule on the same items."""

    majority_rule: AgainstMajority


def held_out(
    examples: Examples,
    validated: OutOfFold,
    *,
    rng: np.random.Generator,
    n_draws: int,
    of_second: Estimate | None = None,
) -> HeldOut:
    """Compute the numbers of out-of-fold predictions; the same draws of applications give all intervals.

    `of_second`: the area of the second of two categories, if it was computed before. That of the first is the same.
    """
    y, k = examples.category, len(examples.categories)
    is_of = (y[:, None] == np.arange(k)).astype(np.float64)
    right = (validated.called == y).astype(np.float64)
    n_of = np.bincount(y)
    by_rule = (y == len(n_of) - 1 - n_of[::-1].argmax()).astype(np.float64)  # the last of equally frequent categories
    squared = ((validated.probability - is_of) ** 2).sum(axis=1)
    shares, seed = is_of.mean(axis=0), int(rng.integers(2**63))

    def drawn(statistic: Callable[[Floats], Floats]) -> Estimate:
        return bootstrap(statistic, len(y), rng=np.random.default_rng(seed), n_draws=n_draws, groups=examples.group)

    def recalls(weights: Floats) -> Floats:
        of_categories: Floats = ((weights * right) @ is_of / (weights @ is_of)).mean(axis=1)
        return of_categories

    def mean(values: Floats) -> Estimate:
        return drawn(lambda weights: weights @ values / weights.sum(axis=1))

    def area(code: int) -> Estimate:
        return drawn_by_application(
            y == code, examples.group, [validated.score[:, code]], rng=np.random.default_rng(seed), n_draws=n_draws,
            level=0.95,
        )  # fmt: skip

    of_two = of_second if of_second is not None or k > 2 else area(1)
    areas = [area(code) for code in range(k)] if of_two is None else [of_two, of_two]
    return HeldOut(
        mean(right),
        drawn(recalls),
        mean(right - by_rule),
        tuple(
            CategoryArea(category, int((y == code).sum()), areas[code])
            for code, category in enumerate(examples.categories)
        ),
        mean(squared),
        float(1 - (shares**2).sum()),
    )


def evaluated(
    examples: Examples,
    called: Sequence[str | None],
    categories: Sequence[str],
    *,
    ordered: bool,
    rng: np.random.Generator,
    n_draws: int,
) -> AgainstLabels:
    """Compare verdicts with the labels; the intervals assume independent items."""
    confusion = confusion_matrix(examples.names, called, categories=categories)
    numbers = against(confusion, ordered=ordered, rng=rng, n_draws=n_draws)
    return AgainstLabels(**vars(numbers), majority_rule=against_majority(confusion))


def verdicts_of(verdicts: pd.DataFrame, items: Sequence[str]) -> Mapping[str, list[str | None]]:
    """Return the verdicts of each classifier that has any, in the order of these items."""
    found = {}
    for name, rows in verdicts.groupby("classifier", sort=True):
        of_item = {str(item): verdict for item, verdict in zip(rows["item"], rows["verdict"], strict=True)}
        called = [verdict if isinstance(verdict := of_item.get(item), str) else None for item in items]
        if any(called):
            found[str(name)] = called
    return found
