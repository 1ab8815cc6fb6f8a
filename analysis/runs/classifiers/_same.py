"""The SAME classifier judges runs similar if they form one cluster."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import Floats
from analysis.categories import DISSIMILAR, SIMILAR
from analysis.runs.classifiers._verdict import Verdict, background_of
from analysis.runs.dissimilarity import MEASURES, MIN_ITERATIONS, TOO_SHORT
from analysis.runs.runs import Runs, Warmup

VERSION = 1
MEASURE_NAMES = ("cosine", "wave_hedges", "kumar_hassebrook", "scaled_rmse")


def same(runs: Sequence[ArrayLike] | Runs, *, cut: float = 0.20, drop: Warmup = 0) -> Verdict:
    """Judge runs similar if clustering by the mean of four dissimilarities gives one cluster (SAME [1]_).

    Parameters
    ----------
    runs : sequence of array_like of float, each of shape (n_iterations,), or Runs
        The runs of one benchmark, at least two; runs of unequal length are cut to the shortest.
        Measurements must not be negative.
    cut : float
        Height at which the average-linkage tree is cut. A merge at exactly this height is part of a cluster.
    drop : int or float
        Warm-up left out at the start of each run: a number of iterations, or a share below 1. 0 in the paper.

    Returns
    -------
    Verdict
        `score` is the height of the last merge, and `clusters` contains the cluster of each run. There is no verdict if
        the runs have fewer than 50 iterations after the warm-up.

    Raises
    ------
    ValueError
        If there are fewer than two runs, or a measurement is NaN, infinite or negative
        (`MeasurementError`), or the cut is NaN.

    References
    ----------
    .. [1] Leznik et al. (2022), ICPE '22, doi:10.1145/3489525.3511677

    Examples
    --------
    >>> step = np.repeat([1.0, 2.0], 50)
    >>> same([step, step, step]).verdict, same([step, 3 * step, step]).verdict
    ('similar', 'dissimilar')
    """
    from scipy.cluster import hierarchy  # slow to import

    shared = Runs.of(runs, drop)
    background = background_of(shared, cut, VERSION, cut=cut, drop=drop)
    if shared.n < MIN_ITERATIONS:
        shared.require_nonnegative()
        return Verdict("same", None, reason=TOO_SHORT, **background)
    pairs = {name: MEASURES[name].of_pairs(shared) for name in MEASURE_NAMES}
    # rounding errors depend on the unit of measurement; without rounding, they would decide which tie merges first
    distances: Floats = np.mean(list(pairs.values()), axis=0).round(12)
    linkage = hierarchy.linkage(distances, method="average")
    height = float(linkage[-1, 2])
    return Verdict(
        "same",
        DISSIMILAR if height > cut else SIMILAR,
        score=height,
        means={name: float(values.mean()) for name, values in pairs.items()},
        clusters=_in_order_of_appearance(hierarchy.fcluster(linkage, cut, criterion="distance")),
        pairs=pairs,
        linkage=linkage,
        **background,
    )


def _in_order_of_appearance(clusters: NDArray[np.int32]) -> tuple[int, ...]:
    number: dict[int, int] = {}
    return tuple(number.setdefault(int(cluster), len(number) + 1) for cluster in clusters)
