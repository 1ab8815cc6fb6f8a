"""Simulate studies whose true categories are known, to find out what a study of a given design can show."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from analysis.categories import DISSIMILAR, SIMILAR

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class SimulatedDesign:
    """The design of a simulated study: which reviewers label which items."""

    n_items: int
    k: int = 2  # number of reviewers per item
    overlap: float = 0.0  # share of the items that all reviewers label, in [0, 1]


@dataclass(frozen=True)
class Rater:
    """A reviewer or classifier. Sensitivity and specificity apply to items of average difficulty."""

    name: str
    sensitivity: float
    specificity: float


@dataclass(frozen=True)
class Difficulty:
    """The difficulty of items. Difficulty lowers each rater's log-odds of a correct label."""

    hard_share: float = 0.0  # share of hard items, in [0, 1]
    hard_by: float = 2.0  # difficulty of a hard item; 2 reduces 88 % correct labels to 50 %
    spread: float = 0.0  # standard deviation of an additional normal difficulty per item, >= 0


@dataclass(frozen=True)
class SharedError:
    """Items on which several raters make the same error."""

    share: float  # share of misleading items, in [0, 1]
    raters: tuple[str, ...]  # the reviewers and classifiers that can be misled
    pull: float = 1.0  # probability that a misleading item misleads a rater, independently for each rater, in [0, 1]


@dataclass(frozen=True)
class Simulated:
    """A simulated study: its labels, its verdicts, and the true category of each item."""

    labels: pd.DataFrame  # label table of first labels: columns item, rater, category
    verdicts: pd.DataFrame  # columns item, classifier, verdict
    truth: pd.Series


def simulate(
    design: SimulatedDesign,
    reviewers: Sequence[Rater],
    classifiers: Sequence[Rater],
    prevalence: float,
    *,
    rng: np.random.Generator,
    item_difficulty: Difficulty | None = None,
    shared_error: SharedError | None = None,
) -> Simulated:
    """Simulate a study: true categories, labels and verdicts.

    `reviewers` and `classifiers`: the raters. Their errors on an item depend only on its true category, its difficulty,
    and whether it is misleading; otherwise, raters err independently. `prevalence`: probability that an item is
    dissimilar, in [0, 1]; `item_difficulty`: by default, all items have average difficulty; `shared_error`: by default,
    no item is misleading. Items are named i0, i1, ...; block sizes differ by at most one item.
    """
    error = shared_error or SharedError(0.0, ())
    raters = [*reviewers, *classifiers]
    dissimilar = rng.random(design.n_items) < prevalence
    chance = _chance_right(dissimilar, raters, item_difficulty or Difficulty(), rng)
    right = rng.random(chance.shape) < chance
    misled = np.array([rater.name in error.raters for rater in raters], dtype=bool)
    misleading = rng.random((design.n_items, 1)) < error.share
    right &= ~(misleading & misled & (rng.random(chance.shape) < error.pull))
    called = np.where(right == dissimilar[:, None], DISSIMILAR, SIMILAR).astype(object)
    items = np.array([f"i{i}" for i in range(design.n_items)], dtype=object)
    n = len(reviewers)
    labels = _table(items, reviewers, called[:, :n], _labelling(design, n, rng), ("item", "rater", "category"))
    everyone = np.ones((design.n_items, len(classifiers)), dtype=bool)
    verdicts = _table(items, classifiers, called[:, n:], everyone, ("item", "classifier", "verdict"))
    truth = pd.Series(np.where(dissimilar, DISSIMILAR, SIMILAR), index=pd.Index(items, name="item"), dtype=object)
    return Simulated(labels, verdicts, truth)


def _chance_right(
    dissimilar: Bools, raters: Sequence[Rater], difficulty: Difficulty, rng: np.random.Generator
) -> Floats:
    """Return the probability that each rater is right on each item, shape (n_items, n_raters)."""
    n = len(dissimilar)
    handicap = difficulty.hard_by * (rng.random(n) < difficulty.hard_share) + difficulty.spread * rng.standard_normal(n)
    se = np.array([rater.sensitivity for rater in raters], dtype=float)
    sp = np.array([rater.specificity for rater in raters], dtype=float)
    usual = np.where(dissimilar[:, None], se, sp)
    chance: Floats = special.expit(special.logit(usual) - handicap[:, None])
    return chance


def _labelling(design: SimulatedDesign, n_reviewers: int, rng: np.random.Generator) -> Bools:
    """Return which reviewers label which items, shape (n_items, n_reviewers).

    Overlap items are labelled by all reviewers. For the other items, blocks of reviewers take turns.
    """
    blocks = np.array(list(combinations(range(n_reviewers), design.k)), dtype=np.int64)
    order = rng.permutation(design.n_items)
    n_overlap = int(design.overlap * design.n_items + 0.5)
    who = np.zeros((design.n_items, n_reviewers), dtype=bool)
    who[order[:n_overlap]] = True
    rest = order[n_overlap:]
    shuffled = blocks[rng.permutation(len(blocks))]
    who[np.repeat(rest, design.k), shuffled[np.arange(len(rest)) % len(blocks)].reshape(-1)] = True
    return who


def _table(
    items: NDArray[np.object_],
    raters: Sequence[Rater],
    called: NDArray[np.object_],
    who: Bools,
    columns: tuple[str, ...],
) -> pd.DataFrame:
    row, column = np.nonzero(who)
    names = np.array([rater.name for rater in raters], dtype=object)
    values = (items[row], names[column] if len(names) else names, called[row, column])
    return pd.DataFrame(dict(zip(columns, values, strict=True)))
