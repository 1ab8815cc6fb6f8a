"""Compute the measures and verdicts that are needed to test the paper's claims about a benchmark."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from analysis.benchmark import Benchmark
from analysis.classifiers import CLASSIFIERS, Verdict
from analysis.dissimilarity import MEASURES
from analysis.runs import Runs

MEASURE_NAMES = ("m1", "m2", "m3", "m3_with_mean", "m4", "m5")
OF_HEURISTIC = {
    "heuristic": ("m1", "m2", "m3", "m4", "m5"),
    "heuristic-printed": ("m1", "m2", "m3_with_mean", "m4", "m5"),
}
SAME = "same"
READINGS = (*OF_HEURISTIC, SAME)
LINKAGES: tuple[Literal["average", "single", "complete"], ...] = ("average", "single", "complete")
N_LAST = 500
DIGITS = 12  # numbers are rounded, because their last bits depend on the number of processors


@dataclass(frozen=True)
class Measured:
    """The size of a benchmark, its measures and its classifier scores.

    Attributes
    ----------
    name, application, benchmark : str
    n_runs : int
    n_iterations : tuple of int
        Number of iterations of the shortest and of the longest run.
    means, lowest, highest : mapping of str to float
        Measure (m1 to m5, m3_with_mean) -> mean, smallest and largest value over all pairs of runs; empty if the
        heuristic cannot judge the benchmark.
    heights : mapping of str to float
        Linkage (average, single, complete) -> height of the last merge; empty if SAME cannot judge the benchmark.
    n_last_differ : int or None
        Number of pairs of runs with M5 above 0.25 in their last 500 measurements; None if a run has 500 or fewer
        measurements.
    reasons : mapping of str to str
        Classifier -> reason why it cannot judge the benchmark.
    """

    name: str
    application: str
    benchmark: str
    n_runs: int
    n_iterations: tuple[int, int]
    means: Mapping[str, float] = field(default_factory=dict)
    lowest: Mapping[str, float] = field(default_factory=dict)
    highest: Mapping[str, float] = field(default_factory=dict)
    heights: Mapping[str, float] = field(default_factory=dict)
    n_last_differ: int | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_pairs(self) -> int:
        """Return the number of pairs of runs."""
        return self.n_runs * (self.n_runs - 1) // 2

    def score(self, classifier: str) -> float | None:
        """Return the score that a classifier compares with its threshold; None if it cannot judge the benchmark."""
        if classifier == SAME:
            return self.heights.get("average")
        return float(np.median([self.means[name] for name in OF_HEURISTIC[classifier]])) if self.means else None

    def is_dissimilar(self, classifier: str) -> bool | None:
        """Return whether a classifier calls the benchmark dissimilar at its default threshold.

        Return None if there is no verdict.
        """
        score = self.score(classifier)
        return None if score is None else score > usual_threshold(classifier)


def usual_threshold(classifier: str) -> float:
    """Return the default threshold of a classifier."""
    return float(next(iter(CLASSIFIERS[classifier].parameters.values())))


def measure(benchmark: Benchmark) -> Measured:
    """Compute the measures and scores of one benchmark, which takes tens of milliseconds.

    Parameters
    ----------
    benchmark : Benchmark

    Returns
    -------
    Measured
        If a classifier cannot judge the benchmark, the result has a reason instead of its numbers.
    """
    lengths = [len(run) for run in benchmark.values] or [0]
    facts = (benchmark.name, benchmark.application, benchmark.benchmark, len(benchmark.runs))
    size = (min(lengths), max(lengths))
    try:
        runs = Runs(benchmark.values)
    except ValueError as error:
        return Measured(*facts, size, reasons=dict.fromkeys(READINGS, str(error)))
    verdicts, reasons = {}, {}
    for name in READINGS:
        try:
            verdicts[name] = CLASSIFIERS[name](runs)
            if verdicts[name].verdict is None:
                reasons[name] = str(verdicts[name].reason)
        except ValueError as error:  # SAME rejects negative measurements
            reasons[name] = str(error)
    pairs = {} if "heuristic" in reasons else {name: MEASURES[name].of_pairs(runs) for name in MEASURE_NAMES}
    return Measured(
        *facts,
        size,
        means={name: _rounded(values.mean()) for name, values in pairs.items()},
        lowest={name: _rounded(values.min()) for name, values in pairs.items()},
        highest={name: _rounded(values.max()) for name, values in pairs.items()},
        heights={} if SAME in reasons else _heights(verdicts[SAME]),
        n_last_differ=_n_last_differ(benchmark) if size[0] > N_LAST else None,
        reasons=reasons,
    )


def _heights(same: Verdict) -> dict[str, float]:
    from scipy.cluster import hierarchy  # imported here because the import is slow

    distances = np.mean(list(same.pairs.values()), axis=0).round(DIGITS)
    return {linkage: _rounded(hierarchy.linkage(distances, method=linkage)[-1, 2]) for linkage in LINKAGES}


def _n_last_differ(benchmark: Benchmark) -> int:
    last = Runs([run[-N_LAST:] for run in benchmark.values])
    return int((MEASURES["m5"].of_pairs(last) > usual_threshold("heuristic")).sum())


def _rounded(value: float) -> float:
    return round(float(value), DIGITS)
