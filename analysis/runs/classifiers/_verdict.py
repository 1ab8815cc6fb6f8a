"""Define the result of a classifier."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.runs.runs import Runs, Warmup


@dataclass(frozen=True)
class Verdict:
    """The category that a classifier gives a benchmark, and the numbers on which it is based.

    Attributes
    ----------
    classifier : str
        Name of the classifier in `CLASSIFIERS`, or of a variant.
    verdict : str or None
        "similar" or "dissimilar"; None if there is no verdict, and `reason` says why.
    score, threshold : float or None
        The verdict is dissimilar if score > threshold.
    parameters : mapping of str to float or bool
        All parameters with their values.
    means : mapping of str to float
        Mean over all pairs of runs, by dissimilarity measure.
    clusters : tuple of int
        Cluster of each run, for SAME; numbered from 1 in order of the first run of each cluster. Empty otherwise.
    pairs : mapping of str to ndarray of float, shape (k(k-1)/2,)
        The measures of all pairs i < j in row order.
    linkage : ndarray of float, shape (k-1, 4), or None
        Merges of SAME, in the format of scipy.cluster.hierarchy.
    n_runs, n_iterations : int
        Number of runs, and number of iterations of each run that were used.
    n_left_out : int
        Number of iterations that were left out because the runs were cut to the length of the shortest run.
    version : int
        Version of the classifier, which is increased whenever a change of the code can change a verdict.
    """

    classifier: str
    verdict: str | None
    score: float | None = None
    threshold: float | None = None
    reason: str | None = None
    parameters: Mapping[str, Warmup | bool] = field(default_factory=dict)
    means: Mapping[str, float] = field(default_factory=dict)
    clusters: tuple[int, ...] = ()
    pairs: Mapping[str, NDArray[np.float64]] = field(default_factory=dict, repr=False, compare=False)
    linkage: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)
    n_runs: int = 0
    n_iterations: int = 0
    n_left_out: int = 0
    version: int = 1


def background_of(shared: Runs, threshold: float, version: int, **parameters: Warmup | bool) -> dict[str, Any]:
    """Return the fields of a verdict on its runs, threshold and parameters.

    Raise ValueError if the threshold is not a number.
    """
    if threshold != threshold:
        raise ValueError(f"{next(iter(parameters))} must be a number, got {threshold}")
    return {
        "threshold": threshold,
        "parameters": parameters,
        "n_runs": shared.k,
        "n_iterations": shared.n,
        "n_left_out": shared.n_left_out,
        "version": version,
    }
