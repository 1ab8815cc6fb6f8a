"""Judge whether the runs of a benchmark are similar. Each classifier returns a `Verdict`.

`CLASSIFIERS` lists the classifiers by name. A classifier with a different threshold is called a *variant*. The name of
a variant contains the classifier and the threshold, for example `heuristic@0.30`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from numpy.typing import ArrayLike

from analysis.runs.classifiers import _heuristic, _kruskal, _same, _spread
from analysis.runs.classifiers._changes import (
    CHANGE_CATEGORIES as CHANGE_CATEGORIES,
    CHANGE_RULES as CHANGE_RULES,
    NO_CHANGE as NO_CHANGE,
    ChangeRule as ChangeRule,
)
from analysis.runs.classifiers._explain import explain as explain, runs_apart as runs_apart
from analysis.runs.classifiers._heuristic import heuristic as heuristic
from analysis.runs.classifiers._kruskal import kruskal as kruskal
from analysis.runs.classifiers._same import same as same
from analysis.runs.classifiers._spread import spread as spread
from analysis.runs.classifiers._verdict import Verdict as Verdict
from analysis.runs.dissimilarity import MIN_ITERATIONS
from analysis.runs.runs import Runs, Warmup

AT = "@"


@dataclass(frozen=True)
class Classifier:
    """A registered classifier; call it with the runs of a benchmark."""

    name: str  # key in `CLASSIFIERS`, and name for use in a sentence
    title: str
    function: Callable[..., Verdict]  # (runs, **parameters) -> `Verdict`
    parameters: Mapping[str, float | bool]  # all parameters with their values; the first is the threshold of the score
    version: int  # version number, which is increased whenever a change of the code can change a verdict
    needs_nonnegative: bool = False  # whether negative measurements are rejected
    min_iterations: int = MIN_ITERATIONS  # shorter runs have no verdict

    def __call__(self, runs: Sequence[ArrayLike] | Runs, **overrides: Warmup | bool) -> Verdict:
        """Return the verdict on the runs of one benchmark; `overrides` replace parameters of the classifier."""
        verdict = self.function(runs, **{**self.parameters, **overrides})
        return replace(verdict, classifier=self.name) if AT in self.name else verdict

    @property
    def threshold_name(self) -> str:
        """Return the name of the threshold: theta, cut or limit."""
        return next(iter(self.parameters))

    def at(self, threshold: float) -> "Classifier":
        """Return this classifier with another threshold, at least 0, which becomes part of its name.

        The default threshold gives the classifier itself. Raises ValueError if the threshold is invalid.
        """
        default = CLASSIFIERS[self.name.partition(AT)[0]]
        if not 0 <= threshold < inf:
            raise ValueError(f"{self.threshold_name} must be a number >= 0, got {threshold}")
        if threshold == default.parameters[self.threshold_name]:
            return default
        value = float(threshold)
        text = f"{value:.2f}" if value == round(value, 2) else repr(value)
        return replace(
            default,
            name=f"{default.name}{AT}{text}",
            title=f"{default.title} at {self.threshold_name} = {text}",
            parameters={**default.parameters, self.threshold_name: value},
        )


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


def classifier_named(name: str) -> Classifier | None:
    """Return the classifier or variant with this name, or None if there is no such classifier."""
    default_name, at, threshold = name.partition(AT)
    default = CLASSIFIERS.get(default_name)
    if default is None or not at:
        return default
    try:
        variant = default.at(float(threshold))
    except ValueError:
        return None
    return variant if variant.name == name else None  # accept only the normalised name of a variant
