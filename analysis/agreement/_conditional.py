"""Conditional logit model of labels with items as strata, fitted by statsmodels if a finite solution exists.

Given the number of dissimilar labels of an item, which raters gave them depends only on the raters' leniencies beta:
the difficulty of the item cancels. Items with equal labels contain no information. The graph of raters shows whether a
finite solution exists, so the optimiser is called only if it can converge.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csgraph

from analysis.tables import Floats


@dataclass(frozen=True)
class Informative:
    """The split items.

    Attributes
    ----------
    y : ndarray of float, shape (n_split_items, n_raters)
        1 for dissimilar, 0 for similar, NaN without a label.
    """

    y: Floats

    @property
    def against(self) -> Floats:
        """Return the numbers of items that rater j calls dissimilar and rater l similar, as entries [j, l]."""
        counts: Floats = (self.y == 1).astype(float).T @ (self.y == 0).astype(float)
        return counts

    @property
    def components(self) -> tuple[int, NDArray[np.int32]]:
        """Return the number of sets of raters connected by split items, and the set number of each rater."""
        n, of_rater = csgraph.connected_components(self.against, directed=True, connection="weak")
        return int(n), of_rater

    @property
    def has_maximum(self) -> bool:
        """Return whether the maximum of the likelihood is finite.

        It is finite if, in each set, disagreements lead from each rater to each other rater, directly or through others
        (Fischer 1981; for pairs of raters Ford 1957).
        """
        n_strong, _ = csgraph.connected_components(self.against, directed=True, connection="strong")
        return int(n_strong) == self.components[0]


@dataclass(frozen=True)
class Fit:
    """Leniencies with sum 0 in each connected set, covariance, and likelihood ratio against equal leniencies."""

    beta: Floats
    covariance: Floats
    chi2: float


def informative(y: Floats) -> Informative:
    """Return the split items of labels y, shape (n_items, n_raters): 1 dissimilar, 0 similar, NaN without a label."""
    return Informative(y[(y == 1).any(axis=1) & (y == 0).any(axis=1)])


def maximise(data: Informative) -> Fit:
    """Return the best-fitting leniencies; requires `data.has_maximum`."""
    _, of_rater = data.components
    same_set = of_rater[:, None] == of_rater[None, :]
    free = np.array(
        [(of_rater[:j] == of_rater[j]).any() for j in range(len(of_rater))], dtype=bool
    )  # all raters but the first of each set
    centred = (np.eye(len(of_rater)) - same_set / same_set.sum(axis=1))[:, free]
    if not free.any():
        return Fit(np.zeros(len(of_rater)), np.zeros((len(of_rater),) * 2), 0.0)
    from statsmodels.discrete.conditional_models import ConditionalLogit  # slow to import
    from statsmodels.tools.numdiff import approx_fprime

    item, rater = np.nonzero(~np.isnan(data.y))
    model = ConditionalLogit(data.y[item, rater].astype(int), np.eye(len(of_rater))[:, free][rater], groups=item)
    fit = model.fit(method="newton", disp=False)
    chi2 = 2 * float(fit.llf - model.loglike(np.zeros(int(free.sum()))))
    # The covariance of statsmodels uses one-sided differences and has only seven correct digits; reports keep more.
    covariance = np.linalg.inv(-approx_fprime(fit.params, model.score, centered=True))
    params = fit.params + covariance @ model.score(fit.params)
    return Fit(centred @ params, centred @ covariance @ centred.T, chi2)


def score_chi2(data: Informative) -> float:
    """Compute the score test of equal leniencies; with complete labels it is Cochran's Q."""
    has_label = ~np.isnan(data.y)
    m, t = (
        has_label.sum(axis=1),
        (data.y == 1).sum(axis=1),
    )  # number of raters and of dissimilar labels of each item
    slope = ((data.y == 1) - has_label * (t / m)[:, None]).sum(axis=0)
    spread = t * (m - t) / (m * (m - 1))
    information = np.diag(spread @ has_label) - (has_label * (spread / m)[:, None]).T @ has_label
    return float(slope @ np.linalg.pinv(information, rcond=1e-10, hermitian=True) @ slope)
