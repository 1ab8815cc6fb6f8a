"""The conditional logit model of labels on item strata, by its likelihood.

Within an item, given how many of its raters said dissimilar, who they were depends on the raters' leniencies beta
alone: the item's own difficulty cancels. Items on which all raters say the same carry no information. Written out
here because only the numbers of items by set of raters matter: a study has few such sets, and the answer takes
milliseconds; existence of a finite answer is decided by the raters' graph, not by watching an optimiser fail.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csgraph

from analysis.agreement._values import Floats

MAX_STEPS = 100


@dataclass(frozen=True)
class Stratum:
    """Items with the same raters of whom equally many said dissimilar."""

    raters: NDArray[np.intp]
    n_dissimilar: int
    n_items: int


@dataclass(frozen=True)
class Informative:
    """What the split items say: the strata, each rater's number of dissimilar, and who stood against whom.

    `against[j, l]` counts the items that j calls dissimilar and l similar.
    """

    strata: tuple[Stratum, ...]
    totals: Floats
    against: Floats

    @property
    def components(self) -> tuple[int, NDArray[np.int32]]:
        """How many sets of raters are joined by split items, and each rater's set."""
        n, of_rater = csgraph.connected_components(self.against, directed=True, connection="weak")
        return int(n), of_rater

    @property
    def has_maximum(self) -> bool:
        """Whether finite leniencies fit best: in each set everyone stands against everyone in both directions, over
        others perhaps (Fischer 1981; for pairs of raters Ford 1957).
        """
        n_strong, _ = csgraph.connected_components(self.against, directed=True, connection="strong")
        return int(n_strong) == self.components[0]


def informative(y: Floats) -> Informative:
    """The strata of labels y, shape (n_items, n_raters): 1 dissimilar, 0 similar, NaN no label."""
    rated = ~np.isnan(y)
    positive = np.where(rated, y, 0.0)
    n_dissimilar = positive.sum(axis=1)
    split = (n_dissimilar > 0) & (n_dissimilar < rated.sum(axis=1))
    rated, positive = rated[split], positive[split]
    keys, n_items = np.unique(np.column_stack([rated, positive.sum(axis=1)]), axis=0, return_counts=True)
    strata = tuple(
        Stratum(np.flatnonzero(key[:-1]), int(key[-1]), int(n)) for key, n in zip(keys, n_items, strict=True)
    )
    return Informative(strata, positive.sum(axis=0), positive.T @ (rated - positive))


def log_likelihood(data: Informative, beta: Floats) -> float:
    """Of the labels given how many raters of each item said dissimilar."""
    value = float(data.totals @ beta)
    for stratum in data.strata:
        odds = np.exp(beta[stratum.raters])[None, :]
        value -= stratum.n_items * float(np.log(_elementary(odds, stratum.n_dissimilar)[0]))
    return value


def slope_and_information(data: Informative, beta: Floats) -> tuple[Floats, Floats]:
    """Gradient and negative second derivative of the log-likelihood."""
    expected, information = np.zeros(len(beta)), np.zeros((len(beta), len(beta)))
    for stratum in data.strata:
        both = _inclusion(np.exp(beta[stratum.raters]), stratum.n_dissimilar)
        single = np.diag(both)
        expected[stratum.raters] += stratum.n_items * single
        information[np.ix_(stratum.raters, stratum.raters)] += stratum.n_items * (both - np.outer(single, single))
    return data.totals - expected, information


def maximise(data: Informative) -> tuple[Floats, Floats]:
    """The leniencies that fit best, sum 0 in each joined set, and their covariance; only if `data.has_maximum`."""
    beta = np.zeros(len(data.totals))
    reached = log_likelihood(data, beta)
    for _ in range(MAX_STEPS):
        slope, information = slope_and_information(data, beta)
        step = inverse(information) @ slope
        if float(slope @ step) < 1e-18 * max(1.0, abs(reached)):
            break
        at = log_likelihood(data, beta + step)
        while at < reached and np.abs(step).max() > 1e-12:  # the likelihood is concave: a shorter step climbs
            step = step / 2
            at = log_likelihood(data, beta + step)
        beta, reached = beta + step, max(at, reached)
    return beta, inverse(slope_and_information(data, beta)[1])


def inverse(information: Floats) -> Floats:
    """Its inverse among leniencies of sum 0: adding the same to all raters changes nothing."""
    return np.linalg.pinv(information, rcond=1e-10, hermitian=True).astype(np.float64)


def _inclusion(odds: Floats, t: int) -> Floats:
    """P(both j and l are among the t dissimilar), shape (m, m); on the diagonal P(j is)."""
    m = len(odds)
    without = np.broadcast_to(odds, (m, m, m)).copy()  # rater j and l removed from set [j, l]: odds 0
    j = np.arange(m)
    without[j, :, j] = 0.0
    without[:, j, j] = 0.0
    rest = np.where(np.eye(m, dtype=bool), 1, 2)
    either = [_elementary(without.reshape(-1, m), t - k).reshape(m, m) if t >= k else np.zeros((m, m)) for k in (1, 2)]
    weight = np.where(np.eye(m, dtype=bool), odds[:, None], np.outer(odds, odds))
    both: Floats = weight * np.where(rest == 1, either[0], either[1]) / _elementary(odds[None, :], t)[0]
    return both


def _elementary(odds: Floats, t: int) -> Floats:
    """Elementary symmetric function of order t of each row of odds, shape (n_rows, m)."""
    sums = np.zeros((len(odds), t + 1))
    sums[:, 0] = 1.0
    for column in odds.T:
        sums[:, 1:] += column[:, None] * sums[:, :-1].copy()
    last: Floats = sums[:, t]
    return last
