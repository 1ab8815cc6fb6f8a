"""The numbers of a classifier against one consensus."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.raters.evaluation._confusion import (
    Confusion,
    accuracy,
    balanced_accuracy,
    mcc,
    precision,
    recall,
    share_of,
    weighted_kappa,
)
from analysis.statistics.intervals import Estimate


@dataclass(frozen=True, kw_only=True)
class OfCategory:
    """How often a classifier finds a category, how often its verdict is right, and the share of its items."""

    recall: Estimate
    precision: Estimate
    share: Estimate


@dataclass(frozen=True, kw_only=True)
class Against:
    """The results of a classifier on the items with one kind of consensus."""

    n: int
    n_without_verdict: int
    categories: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]  # row: category of the consensus, column: verdict
    accuracy: Estimate
    balanced_accuracy: Estimate
    mcc: Estimate
    weighted_kappa: Estimate | None  # None if the categories are not ordered
    by_category: Mapping[str, OfCategory]

    def against_rest(self, category: str) -> Confusion:
        """Return the matrix of a category and all others together."""
        return Confusion(self.categories, self.counts, self.n_without_verdict).against_rest(category)


def against(
    confusion: Confusion, *, ordered: bool, rng: np.random.Generator, n_draws: int, level: float = 0.95
) -> Against:
    """Return all numbers of a matrix; `n_draws`: number of resamples for the interval of the correlation."""
    return Against(
        n=confusion.n,
        n_without_verdict=confusion.n_without_verdict,
        categories=confusion.categories,
        counts=confusion.counts,
        accuracy=accuracy(confusion, level=level),
        balanced_accuracy=balanced_accuracy(confusion, level=level),
        mcc=mcc(confusion, rng=rng, n_draws=n_draws, level=level),
        weighted_kappa=weighted_kappa(confusion, level=level) if ordered else None,
        by_category={
            name: OfCategory(
                recall=recall(confusion, name, level=level),
                precision=precision(confusion, name, level=level),
                share=share_of(confusion, name, level=level),
            )
            for name in confusion.categories
        },
    )
