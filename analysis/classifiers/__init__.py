"""Classifiers: the runs of one benchmark -> `Verdict`. `CLASSIFIERS` maps their names to the functions."""

from collections.abc import Callable, Sequence
from functools import partial

from numpy.typing import ArrayLike

from analysis.classifiers._heuristic import heuristic
from analysis.classifiers._same import same
from analysis.classifiers._verdict import Verdict
from analysis.dissimilarity import Runs

Classifier = Callable[[Sequence[ArrayLike] | Runs], Verdict]

CLASSIFIERS: dict[str, Classifier] = {
    "heuristic": heuristic,
    "heuristic-printed": partial(heuristic, keep_mean=True),
    "same": same,
}

__all__ = ["CLASSIFIERS", "Classifier", "Verdict", "heuristic", "same"]
