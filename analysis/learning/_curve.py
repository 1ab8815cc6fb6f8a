"""Compute how performance depends on the number of labels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.bootstrap import percentile_interval
from analysis.intervals import Estimate
from analysis.learning._compare import area_by_groups
from analysis.learning._logistic import Floats
from analysis.learning._validation import Examples, choose
from analysis.results import Result

SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
REPEATS, N_DRAWS, N_FOLDS = 5, 500, 3
LEAST_FOR_SLOPE = 150  # below this number of labels, the slope is mostly noise


@dataclass(frozen=True, repr=False)
class CurvePoint(Result):
    """Performance of models fitted to a part of the training labels."""

    n: int  # mean number of labels in a training set, over folds and repeats
    # Out-of-fold area under the ROC curve, averaged over repeats. The interval comes from resampled applications.
    auc: Estimate


@dataclass(frozen=True, repr=False)
class LearningCurve(Result):
    """Performance by number of labels."""

    points: tuple[CurvePoint, ...]  # by increasing number of labels, up to all labels
    # Change of the area when the number of labels doubles: the slope of a line through the points, by the binary
    # logarithm of their sizes. The interval comes from resampled applications. It says nothing about larger numbers.
    slope: Estimate


def learning_curve(
    examples: Examples,
    fold: NDArray[np.intp],
    *,
    rng: np.random.Generator,
    monotone: bool = True,
    level: float = 0.95,
) -> LearningCurve:
    """Fit models to parts of the training applications, and score all models on the same held-out folds.

    Parameters
    ----------
    fold : ndarray of int, shape (n,)
        The outer folds.

    Returns
    -------
    LearningCurve
        A part of the training data is left out if the training labels of a fold lack a category.
    """
    group = examples.group
    n_groups = int(group.max()) + 1
    weights = np.vstack([np.ones(n_groups), _draws(rng, n_groups)])
    sizes, areas = [], []
    for share in SHARES:
        n_labels, of_repeats = [], []
        for _ in range(REPEATS if share < 1 else 1):
            scored = _scored(examples, fold, group, share, rng=rng, monotone=monotone)
            if scored is not None:
                score, n = scored
                n_labels.append(n)
                of_repeats.append(area_by_groups(examples.dissimilar, group, score, n_groups)(weights))
        if n_labels:
            sizes.append(float(np.mean(n_labels)))
            areas.append(np.mean(of_repeats, axis=0))
    points = tuple(
        CurvePoint(round(n), percentile_interval(float(area[0]), area[1:], level))
        for n, area in zip(sizes, areas, strict=True)
    )
    if len(points) < 3:
        return LearningCurve(points, Estimate(None, reason="fewer than three sizes have labels of both categories"))
    if len(fold) < LEAST_FOR_SLOPE:
        return LearningCurve(points, Estimate(None, reason=f"fewer than {LEAST_FOR_SLOPE} labels ({len(fold)})"))
    slopes = np.polynomial.polynomial.polyfit(np.log2(sizes), np.array(areas), 1)[1]
    return LearningCurve(points, percentile_interval(float(slopes[0]), slopes[1:], level))


def _scored(
    examples: Examples,
    fold: NDArray[np.intp],
    group: NDArray[np.intp],
    share: float,
    *,
    rng: np.random.Generator,
    monotone: bool,
) -> tuple[Floats, float] | None:
    """Fit models to a part of the applications; return the out-of-fold scores and the mean size of the training data.

    Return None if the part is too small.
    """
    score, sizes = np.zeros(len(fold)), []
    for k in range(int(fold.max()) + 1):
        outside = fold != k
        part = outside & np.isin(group, _some(group[outside], share, rng))
        n_dissimilar = int(examples.dissimilar[part].sum())
        if min(n_dissimilar, int(part.sum()) - n_dissimilar) < 2:
            return None
        chosen = choose(examples.of(part), rng=rng, monotone=monotone, n_folds=N_FOLDS)
        score[~outside] = chosen.leaning(examples.x[~outside])
        sizes.append(int(part.sum()))
    return score, float(np.mean(sizes))


def _some(group: NDArray[np.intp], share: float, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw applications at random until they contain the given share of the rows."""
    names, counts = np.unique(group, return_counts=True)
    order = rng.permutation(len(names))
    n_needed = int(np.searchsorted(np.cumsum(counts[order]), share * len(group) - 1e-9)) + 1
    return names[order[:n_needed]]


def _draws(rng: np.random.Generator, n_groups: int) -> Floats:
    return rng.multinomial(n_groups, np.full(n_groups, 1 / n_groups), size=N_DRAWS).astype(np.float64)
