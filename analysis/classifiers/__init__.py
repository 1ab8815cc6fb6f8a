"""Classifiers: the runs of one benchmark -> `Verdict`. `CLASSIFIERS` lists them by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from analysis.classifiers import _heuristic, _kruskal, _same, _spread
from analysis.classifiers._explain import explain, runs_apart
from analysis.classifiers._heuristic import heuristic
from analysis.classifiers._kruskal import kruskal
from analysis.classifiers._same import same
from analysis.classifiers._spread import spread
from analysis.classifiers._verdict import Verdict
from analysis.dissimilarity import MIN_ITERATIONS
from analysis.runs import Runs

__all__ = ["CLASSIFIERS", "Classifier", "Verdict", "explain", "heuristic", "kruskal", "runs_apart", "same", "spread"]


@dataclass(frozen=True)
class Classifier:
    """One row of the registry; call it with the runs of a benchmark.

    Attributes
    ----------
    name, title : str
        Key in `CLASSIFIERS`, and what it is called in a sentence.
    function : callable
        (runs, **parameters) -> `Verdict`.
    parameters : mapping
        Every open choice with the value used here.
    version : int
        Raised whenever the same measurements could give another verdict than before.
    needs_nonnegative : bool
        Refuses negative measurements.
    min_iterations : int
        Runs shorter than this get no verdict.
    """

    name: str
    title: str
    function: Callable[..., Verdict]
    parameters: Mapping[str, float | bool]
    version: int
    needs_nonnegative: bool = False
    min_iterations: int = MIN_ITERATIONS

    def __call__(self, runs: Sequence[ArrayLike] | Runs, **overrides: float | bool) -> Verdict:
        """Judge the runs of one benchmark; `overrides` take the place of parameters. Raises as the function does."""
        return self.function(runs, **{**self.parameters, **overrides})


CLASSIFIERS: dict[str, Classifier] = {
    classifier.name: classifier
    for classifier in (
        Classifier("heuristic", "the heuristic", heuristic, {"theta": 0.25, "keep_mean": False}, _heuristic.VERSION),
        Classifier(
            "heuristic-printed", "the heuristic as printed", heuristic, {"theta": 0.25, "keep_mean": True},
            _heuristic.VERSION,
        ),
        Classifier("same", "SAME", same, {"cut": 0.20}, _same.VERSION, needs_nonnegative=True),
        Classifier("spread", "the spread of the runs", spread, {"limit": 0.10}, _spread.VERSION, min_iterations=1),
        Classifier(
            "kruskal", "the effect size of Kruskal and Wallis' test", kruskal, {"limit": 0.06}, _kruskal.VERSION
        ),
    )
}  # fmt: skip
