"""Compute the measures and verdicts that the claims of the paper need, and the waves of slow periods in runs."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Literal

import numpy as np

from analysis.arrays import Floats
from analysis.categories import DISSIMILAR
from analysis.runs.benchmark import Benchmark
from analysis.runs.classifiers import CLASSIFIERS, Verdict
from analysis.runs.dissimilarity import MEASURES, compression_without_limits, cosine_with_sum
from analysis.runs.runs import AUTO, Runs, Warmup

PERIODS = (50, 500)  # length of a wave, in iterations
BLOCK = 25  # iterations that stay together when a run is shuffled; shorter than any wave
N_SHUFFLES = 199
LARGEST_P = 0.01
WITHOUT_SLOW = "after periods above 500 iterations (drift and changes of level) were removed"
MIN_RATIO = 1.25  # a share that is less above the share by chance is a very weak wave
SEED = 1


@dataclass(frozen=True)
class Wave:
    """The wave pattern of one run."""

    # Share of periods of 50 to 500 iterations in the variance of the ranks of the iterations, after longer periods were
    # removed, which are a drift or a change of level. In the variance of the iterations, the share is much smaller.
    share: float
    by_chance: float  # mean of this share if blocks of 25 iterations are in random order
    p: float  # share of the random orders (and the run itself) with at least this share

    @property
    def is_visible(self) -> bool:
        """Return whether the run has a wave: significantly and clearly more than by chance."""
        return self.p <= LARGEST_P and self.share >= MIN_RATIO * self.by_chance


def waves(values: Floats) -> tuple[Wave, ...]:
    """Return the wave pattern of each run, shape (n_runs, n_iterations); empty if the runs are too short.

    Values are replaced by their ranks, so that single slow iterations do not decide.
    """
    n = values.shape[1] // BLOCK * BLOCK
    if n < 2 * PERIODS[1]:
        return ()
    rng = np.random.default_rng(SEED)
    ranks = values[:, :n].argsort(axis=1).argsort(axis=1).astype(np.float64)
    spectrum = np.fft.rfft(ranks, axis=1)
    spectrum[:, : -(-n // PERIODS[1])] = 0  # the mean and periods above 500
    return tuple(_wave(run, rng) for run in np.fft.irfft(spectrum, n, axis=1))


def _wave(run: Floats, rng: np.random.Generator) -> Wave:
    blocks = run.reshape(-1, BLOCK)
    shuffled = np.stack([blocks[rng.permutation(len(blocks))].ravel() for _ in range(N_SHUFFLES)])
    if not run.any():
        return Wave(0.0, 0.0, 1.0)
    share, *others = _shares(np.vstack([run, shuffled])).tolist()
    at_least = 1 + sum(other >= share for other in others)
    return Wave(round(share, 6), round(float(np.mean(others)), 6), at_least / (N_SHUFFLES + 1))


def _shares(runs: Floats) -> Floats:
    power = np.square(np.abs(np.fft.rfft(runs, axis=1)[:, 1:]))
    periods = runs.shape[1] / np.arange(1, power.shape[1] + 1)
    inside = (periods >= PERIODS[0]) & (periods <= PERIODS[1])
    shares: Floats = power[:, inside].sum(axis=1) / power.sum(axis=1)
    return shares


MEASURE_NAMES = ("m1", "m2", "m3", "m3_with_mean", "m4", "m5")
OF_HEURISTIC = {
    "heuristic": ("m1", "m2", "m3", "m4", "m5"),
    "heuristic-printed": ("m1", "m2", "m3_with_mean", "m4", "m5"),
}
SAME = "same"
READINGS = (*OF_HEURISTIC, SAME)
LINKAGES: tuple[Literal["average", "single", "complete"], ...] = ("average", "single", "complete")
N_LAST = 500
N_MEASURES = 3  # two runs are dissimilar if so many of the five measures are above the threshold
FOCUS = "HdrHistogram/HdrHistogram"  # example application of the paper
DIGITS = 12  # numbers are rounded, because their last bits depend on the number of processors


@dataclass(frozen=True)
class Measured:
    """The size of a benchmark, its measures and its classifier scores."""

    name: str
    application: str
    benchmark: str
    n_runs: int
    n_iterations: tuple[int, int]  # number of iterations of the shortest and of the longest run
    # Measure (m1 to m5, m3_with_mean) -> mean, smallest and largest value over all pairs of runs; empty if the
    # heuristic cannot judge the benchmark.
    means: Mapping[str, float] = field(default_factory=dict)
    lowest: Mapping[str, float] = field(default_factory=dict)
    highest: Mapping[str, float] = field(default_factory=dict)
    # Linkage (average, single, complete) -> height of the last merge; empty if SAME cannot judge the benchmark.
    heights: Mapping[str, float] = field(default_factory=dict)
    # Number of pairs of runs that are dissimilar by the rule of the paper (three of five measures above 0.25).
    n_differ: int | None = None
    # The same for the last 500 measurements, and the number of pairs with M5 above 0.25 there. Only for benchmarks of
    # the example application; None if a run has 500 or fewer measurements.
    n_last_differ: int | None = None
    n_last_differ_m5: int | None = None
    n_above_1: int = 0  # number of pairs with M2 above 1 before it is limited to [0, 1], and the largest such M2
    highest_m2: float | None = None
    lowest_m4_printed: float | None = None  # smallest M4 of a pair by the formula as printed, with the sum of the norms
    waves: tuple[Wave, ...] = ()  # wave pattern of each run; only for benchmarks of the example application
    reasons: Mapping[str, str] = field(default_factory=dict)  # classifier -> reason why it cannot judge the benchmark
    # If a warm-up was left out: classifier -> whether it then calls the benchmark dissimilar, and the class of the
    # benchmark by the quick rule for the steady state.
    without_warmup: Mapping[str, bool] = field(default_factory=dict)
    steady: str | None = None

    @property
    def n_pairs(self) -> int:
        """Return the number of pairs of runs."""
        return self.n_runs * (self.n_runs - 1) // 2

    @property
    def overall(self) -> float | None:
        """Return the mean of the five measures, by which figures and tables are sorted; None if there are none."""
        return fmean(self.means[name] for name in OF_HEURISTIC["heuristic"]) if self.means else None

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


def measure(benchmark: Benchmark, warmup: Warmup = 0) -> Measured:
    """Compute the measures and scores of one benchmark, which takes tens of milliseconds.

    If a classifier cannot judge the benchmark, the result has a reason instead of its numbers. With a warm-up, the
    verdicts without it are computed too; with "auto", this takes some 20 ms more for each run of 3,000 iterations.
    """
    measured = _measured(benchmark)
    if not warmup:
        return measured
    steady = None
    if warmup == AUTO:
        from analysis.runs.steady import class_of_benchmark, quick_rule

        steady = class_of_benchmark(quick_rule(run).verdict for run in benchmark.runs)
    return replace(measured, without_warmup=_verdicts_without(benchmark, warmup), steady=steady)


def _verdicts_without(benchmark: Benchmark, warmup: Warmup) -> dict[str, bool]:
    try:
        runs = Runs(benchmark.runs, warmup)
    except ValueError:
        return {}
    found = {}
    for name in READINGS:
        with suppress(ValueError):  # SAME rejects negative measurements
            verdict = CLASSIFIERS[name](runs, drop=warmup).verdict
            if verdict is not None:
                found[name] = verdict == DISSIMILAR
    return found


def _measured(benchmark: Benchmark) -> Measured:
    lengths = [len(run) for run in benchmark.values] or [0]
    facts = (benchmark.name, benchmark.application, benchmark.benchmark, len(benchmark.runs))
    size = (min(lengths), max(lengths))
    try:
        runs = Runs(benchmark.values)
    except ValueError as error:
        return Measured(*facts, size, reasons=dict.fromkeys(READINGS, str(error)))
    unlimited = compression_without_limits(runs)
    runs.computed["m2"] = np.clip(unlimited, 0, 1)  # M2 is slow, and the classifiers need it too
    verdicts, reasons = {}, {}
    for name in READINGS:
        try:
            verdicts[name] = CLASSIFIERS[name](runs)
            if verdicts[name].verdict is None:
                reasons[name] = str(verdicts[name].reason)
        except ValueError as error:  # SAME rejects negative measurements
            reasons[name] = str(error)
    if "heuristic" in reasons:
        return Measured(*facts, size, heights={} if SAME in reasons else _heights(verdicts[SAME]), reasons=reasons)
    pairs = {name: MEASURES[name].of_pairs(runs) for name in MEASURE_NAMES}
    is_example = benchmark.application == FOCUS
    last = _pairs_of_last(benchmark) if is_example and size[0] > N_LAST else None
    return Measured(
        *facts,
        size,
        means={name: _rounded(values.mean()) for name, values in pairs.items()},
        lowest={name: _rounded(values.min()) for name, values in pairs.items()},
        highest={name: _rounded(values.max()) for name, values in pairs.items()},
        heights={} if SAME in reasons else _heights(verdicts[SAME]),
        n_differ=_n_differ(pairs),
        n_last_differ=None if last is None else _n_differ(last),
        n_last_differ_m5=None if last is None else int((last["m5"] > usual_threshold("heuristic")).sum()),
        n_above_1=int((unlimited > 1).sum()),
        highest_m2=_rounded(unlimited.max()),
        lowest_m4_printed=_rounded(cosine_with_sum(runs).min()),
        waves=waves(runs.values) if is_example else (),
        reasons=reasons,
    )


def _heights(same: Verdict) -> dict[str, float]:
    from scipy.cluster import hierarchy  # imported here because the import is slow

    distances = np.mean(list(same.pairs.values()), axis=0).round(DIGITS)
    return {linkage: _rounded(hierarchy.linkage(distances, method=linkage)[-1, 2]) for linkage in LINKAGES}


def _pairs_of_last(benchmark: Benchmark) -> dict[str, Floats]:
    last = Runs([run[-N_LAST:] for run in benchmark.values])
    return {name: MEASURES[name].of_pairs(last) for name in OF_HEURISTIC["heuristic"]}


def _n_differ(pairs: Mapping[str, Floats]) -> int:
    """Return how many pairs of runs have at least three of the five measures above the threshold."""
    above = sum(pairs[name] > usual_threshold("heuristic") for name in OF_HEURISTIC["heuristic"])
    return int((np.asarray(above) >= N_MEASURES).sum())


def _rounded(value: float) -> float:
    return round(float(value), DIGITS)
