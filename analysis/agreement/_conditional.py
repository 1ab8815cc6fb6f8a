"""Fit a conditional logit model of labels, with items as strata, by Newton's method.

The model takes the number of dissimilar labels of each item as given, and explains only which raters gave these labels.
This depends on the leniencies beta of the raters, but not on the difficulty of the item. Items with equal labels
contain no information. The optimiser is called only if a finite solution exists, which the graph of raters shows.

All items with the same raters and the same number of dissimilar labels are computed together. statsmodels computes each
item separately, which takes a minute for 10,000 items with ten labels.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csgraph

from analysis.tables import Floats

_MAX_STEPS, _TOLERANCE, _ROUNDING, _LEAST_SHARE = 100, 1e-10, 1e-12, 1e-6
_MAX_CELLS = 4_000_000  # maximum number of array elements of polynomials that are computed together


@dataclass(frozen=True)
class Informative:
    """The labels of the split items; only these items contain information about leniency."""

    y: Floats  # 1 for dissimilar, 0 for similar, NaN if there is no label

    @property
    def against(self) -> Floats:
        """Return a table: entry [j, l] counts the items that rater j calls dissimilar and rater l calls similar."""
        counts: Floats = (self.y == 1).astype(float).T @ (self.y == 0).astype(float)
        return counts

    @property
    def components(self) -> tuple[int, NDArray[np.int32]]:
        """Return the number of connected sets of raters, and the index of the set of each rater.

        Raters are connected if they gave different labels to an item, directly or through other raters.
        """
        n, of_rater = csgraph.connected_components(self.against, directed=True, connection="weak")
        return int(n), of_rater

    @property
    def has_maximum(self) -> bool:
        """Return whether the likelihood has its maximum at finite leniencies.

        This is the case if chains of raters lead from each rater to each other rater of the same connected set. In a
        chain, each rater calls an item dissimilar that the next rater calls similar (Fischer 1981; for pairs of raters
        Ford 1957).
        """
        n_strong, _ = csgraph.connected_components(self.against, directed=True, connection="strong")
        return int(n_strong) == self.components[0]


@dataclass(frozen=True)
class Fit:
    """The fitted leniencies, which sum to 0 in each connected set, their covariance, and the likelihood ratio test."""

    beta: Floats
    covariance: Floats
    chi2: float


def informative(y: Floats) -> Informative:
    """Return the split items of labels y, shape (n_items, n_raters): 1 dissimilar, 0 similar, NaN no label."""
    return Informative(y[(y == 1).any(axis=1) & (y == 0).any(axis=1)])


def maximise(data: Informative) -> Fit:
    """Return the leniencies that fit the labels best; `data.has_maximum` must be true."""
    _, of_rater = data.components
    same_set = of_rater[:, None] == of_rater[None, :]
    free = np.array(
        [(of_rater[:j] == of_rater[j]).any() for j in range(len(of_rater))], dtype=bool
    )  # all raters except the first of each set
    centred = (np.eye(len(of_rater)) - same_set / same_set.sum(axis=1))[:, free]
    if not free.any():
        return Fit(np.zeros(len(of_rater)), np.zeros((len(of_rater),) * 2), 0.0)
    groups = list(_groups(data.y))
    called = (data.y == 1).sum(axis=0).astype(float)

    def terms(params: Floats) -> tuple[float, Floats, Floats]:
        """Return the log likelihood, its gradient and the information at these parameters."""
        beta = np.zeros(len(of_rater))
        beta[free] = params
        found = [_terms(beta, *group) for group in groups]
        height = float(called @ beta - sum(row[0] for row in found))
        expected = np.sum([row[1] for row in found], axis=0)
        information = np.sum([row[2] for row in found], axis=0)
        return height, (called - expected)[free], information[free][:, free]

    params = np.zeros(int(free.sum()))
    start, gradient, information = terms(params)
    height = start
    for _ in range(_MAX_STEPS):
        way = np.linalg.solve(information, gradient)
        share = 1.0
        while (there := terms(params + share * way))[0] < height - _ROUNDING * abs(height) and share > _LEAST_SHARE:
            share /= 2
        params = params + share * way
        height, gradient, information = there
        if np.abs(way).max() <= _TOLERANCE:
            break
    covariance = np.linalg.inv(information)
    return Fit(centred @ params, centred @ covariance @ centred.T, 2 * (height - start))


def _groups(y: Floats) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Floats]]:
    """Yield groups of items with the same raters and the same number of dissimilar labels.

    There is one batch for each number of raters per item. A batch contains three arrays: the raters of each group,
    shape (n_groups, n_raters of an item), its number of dissimilar labels, and its number of items.
    """
    has_label = ~np.isnan(y)
    keys = np.column_stack([has_label, (y == 1).sum(axis=1)]).astype(np.int64)
    distinct, n = np.unique(keys, axis=0, return_counts=True)
    sizes = distinct[:, :-1].sum(axis=1)
    for size in np.unique(sizes).tolist():
        rows, n_of_size = distinct[sizes == size], n[sizes == size].astype(float)
        members = np.nonzero(rows[:, :-1])[1].reshape(len(rows), size)
        n_aside = max(_MAX_CELLS // size**3, 1)
        for begin in range(0, len(rows), n_aside):
            part = slice(begin, begin + n_aside)
            yield members[part], rows[part, -1], n_of_size[part]


def _terms(
    beta: Floats, members: NDArray[np.int64], totals: NDArray[np.int64], n: Floats
) -> tuple[float, Floats, Floats]:
    """Return the sum of the log denominators, and the mean and covariance of each rater's number of dissimilar labels.

    The denominator of an item with t dissimilar labels is the elementary symmetric polynomial e_t of the raters' odds.
    The probability that rater r gave one of the t labels is w_r e_(t-1) / e_t. Here, w_r is the odds of this rater, and
    e_(t-1) is computed without this rater. The probability for two raters is computed in the same way.
    """
    n_groups, size = members.shape
    odds = np.exp(beta[members])
    without = np.zeros((n_groups, size, size, size + 1))  # polynomials without two raters; on the diagonal, without 1
    without[..., 0] = 1
    whole = np.zeros((n_groups, size + 1))
    whole[:, 0] = 1
    for k in range(size):
        odds_k = odds[:, k]
        whole[:, 1:] += odds_k[:, None] * whole[:, :-1]
        is_in = np.ones((size, size))
        is_in[k], is_in[:, k] = 0, 0
        without[..., 1:] += odds_k[:, None, None, None] * is_in[..., None] * without[..., :-1]
    group = np.arange(n_groups)
    denominator = whole[group, totals]
    one = odds * without[group, :, :, totals - 1][:, range(size), range(size)] / denominator[:, None]
    both = without[group, :, :, np.maximum(totals - 2, 0)] * (totals >= 2)[:, None, None]
    both *= odds[:, :, None] * odds[:, None, :] / denominator[:, None, None]
    both[:, range(size), range(size)] = one
    covariance = n[:, None, None] * (both - one[:, :, None] * one[:, None, :])
    expected, information = np.zeros(len(beta)), np.zeros((len(beta), len(beta)))
    np.add.at(expected, members, n[:, None] * one)
    np.add.at(information, (members[:, :, None], members[:, None, :]), covariance)
    return float(n @ np.log(denominator)), expected, information


def score_chi2(data: Informative) -> float:
    """Compute chi2 of the score test of equal leniencies; for complete labels, it is Cochran's Q."""
    has_label = ~np.isnan(data.y)
    m, t = (
        has_label.sum(axis=1),
        (data.y == 1).sum(axis=1),
    )  # number of raters and of dissimilar labels of each item
    slope = ((data.y == 1) - has_label * (t / m)[:, None]).sum(axis=0)
    spread = t * (m - t) / (m * (m - 1))
    information = np.diag(spread @ has_label) - (has_label * (spread / m)[:, None]).T @ has_label
    return float(slope @ np.linalg.pinv(information, rcond=1e-10, hermitian=True) @ slope)
