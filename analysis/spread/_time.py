"""How long a suite takes, and what a part of it that takes less time still notices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from analysis.benchmark import DURATION, Benchmark
from analysis.intervals import Estimate
from analysis.runs import Floats
from analysis.spread._score import Score, percentage

SHARES = (0.1, 0.25, 0.5)  # of the time of the whole suite, for which a part is always given

Key = tuple[str, str]  # application, benchmark


@dataclass(frozen=True)
class BenchmarkTime:
    """How long one benchmark takes.

    Attributes
    ----------
    application, benchmark : str
    seconds_per_run : float
        Mean over its runs.
    n_runs : int
        As many as it was run on one version, in one environment.
    seconds : float
        All of these runs.
    """

    application: str
    benchmark: str
    seconds_per_run: float
    n_runs: int
    seconds: float


@dataclass(frozen=True)
class Part:
    """Some benchmarks of a suite.

    Attributes
    ----------
    limit : float or None
        The seconds that they may take; None: any.
    benchmarks : tuple of str
    seconds : float
        What they take.
    score : Estimate or None
        Their API benchmarking score; None without altered methods.
    """

    limit: float | None
    benchmarks: tuple[str, ...]
    seconds: float
    score: Estimate | None


@dataclass(frozen=True)
class SuiteTime:
    """How long a suite takes.

    Attributes
    ----------
    is_measured : bool
        Every run says how long it took (the condition `duration`); else the measured times of a run were summed, which
        is less than the run takes where each of them is the time of one operation among many.
    seconds : float
        All runs of all benchmarks, once.
    benchmarks : tuple of BenchmarkTime
        The longest first.
    n_unknown : int
        Benchmarks whose runs do not say how long they take; they are in no part.
    smallest : Part or None
        The fewest benchmarks that notice what the whole suite notices; among as few, those that take the least time.
        None without altered methods.
    parts : tuple of Part
        For each limit on the time: the benchmarks that notice the most methods, in as little time as possible; without
        altered methods as many benchmarks as fit.
    """

    is_measured: bool
    seconds: float
    benchmarks: tuple[BenchmarkTime, ...]
    n_unknown: int
    smallest: Part | None
    parts: tuple[Part, ...]


def suite_time(
    benchmarks: Sequence[Benchmark],
    n_runs: Mapping[Key, int],
    score: Score | None,
    *,
    budget: float | None = None,
    level: float = 0.95,
) -> SuiteTime | None:
    """How long the suite takes, and what parts of it still notice [1]_.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
        One suite in one environment.
    n_runs : mapping of (application, benchmark) to int
        How often each is run.
    score : Score or None
        What its benchmarks notice. Which of them notice a method does not depend on the others: v stays that of the
        whole suite.
    budget : float, optional
        Minutes; otherwise parts are given for a tenth, a quarter and half of the suite's time only.
    level : float
        Of the intervals of scores.

    Returns
    -------
    SuiteTime or None
        None if no run says how long it took and no benchmark is in seconds.

    Raises
    ------
    ValueError
        If the budget is not a positive number.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407, section 4.1
    """
    if budget is not None and not 0 < budget < np.inf:
        raise ValueError(f"budget must be a positive number of minutes, got {budget}")
    is_measured = any(benchmark.levels(DURATION) for benchmark in benchmarks)
    times = []
    for benchmark in benchmarks:
        seconds = _seconds_per_run(benchmark, is_measured)
        if seconds is not None:
            n = n_runs.get((benchmark.application, benchmark.name), len(benchmark.runs))
            times.append(BenchmarkTime(benchmark.application, benchmark.name, seconds, n, seconds * n))
    if not times:
        return None
    times.sort(key=lambda time: (-time.seconds, time.application, time.benchmark))
    total = sum(time.seconds for time in times)
    noticing = _noticing(times, score)
    limits = [share * total for share in SHARES] + ([60 * budget] if budget else [])
    smallest = None
    if score is not None and score.variants["total"].score.value is not None:
        smallest = _part(times, _smallest(times, noticing), None, noticing, score, level)
    chosen = [_within(times, noticing, limit) for limit in limits]
    parts = [_part(times, some, limit, noticing, score, level) for some, limit in zip(chosen, limits, strict=True)]
    return SuiteTime(is_measured, total, tuple(times), len(benchmarks) - len(times), smallest, tuple(parts))


def _seconds_per_run(benchmark: Benchmark, is_measured: bool) -> float | None:
    if is_measured:
        try:
            seconds = [float(entry) for entry in benchmark.of(DURATION) if entry]
        except ValueError:
            return None
    else:
        seconds = [float(run.sum()) for run in benchmark.values] if benchmark.unit == "s" else []
    mean = float(np.mean(seconds)) if seconds else 0.0
    return mean if 0 < mean < np.inf else None


def _noticing(times: Sequence[BenchmarkTime], score: Score | None) -> Floats:
    """Which of the benchmarks (columns) notices which of the covered methods (rows): 1, else 0."""
    covered = score.variants["total"].covered if score else ()
    pairs = {(row.benchmark, row.method) for row in score.detections if row.regression.found} if score else set()
    return np.array([[float((time.benchmark, method) in pairs) for time in times] for method in covered]).reshape(
        len(covered), len(times)
    )


def _smallest(times: Sequence[BenchmarkTime], noticing: Floats) -> list[int]:
    """The smallest cover of the methods that these benchmarks notice; the time decides among as small ones."""
    seconds = np.array([time.seconds for time in times])
    needed = noticing[noticing.any(axis=1)]
    if not len(needed):
        return []
    cost = 1 + seconds / (seconds.sum() * (1 + len(times)))
    return _chosen(cost, optimize.LinearConstraint(needed, lb=1), len(times))


def _within(times: Sequence[BenchmarkTime], noticing: Floats, limit: float) -> list[int]:
    """The benchmarks that notice most within the time; without methods, as many as fit, the shortest first."""
    seconds = np.array([time.seconds for time in times])
    if not len(noticing):
        shortest = np.argsort(seconds, kind="stable")
        fits = np.cumsum(seconds[shortest]) <= limit * (1 + 1e-12)
        return sorted(int(at) for at in shortest[fits])
    n_methods, n = noticing.shape
    # columns: one a benchmark, whether it is run; one a method, whether it is noticed
    rows = np.vstack([np.hstack([noticing, -np.eye(n_methods)]), np.hstack([-seconds / limit, np.zeros(n_methods)])])
    cost = np.hstack([0.5 * seconds / seconds.sum(), -np.ones(n_methods)])
    return _chosen(cost, optimize.LinearConstraint(rows, lb=np.hstack([np.zeros(n_methods), -1])), n)


def _chosen(cost: Floats, constraint: optimize.LinearConstraint, n: int) -> list[int]:
    """Which of the first n zero-or-one variables are one where the cost is least."""
    result = optimize.milp(
        cost,
        integrality=np.ones(len(cost), dtype=np.int64),
        bounds=optimize.Bounds(0, 1),
        constraints=constraint,
    )
    if result.x is None:
        raise RuntimeError(f"no part of the suite could be chosen: {result.message}")
    return [int(at) for at in np.flatnonzero(result.x[:n] > 0.5)]


def _part(
    times: Sequence[BenchmarkTime], chosen: Sequence[int], limit: float | None, noticing: Floats, score: Score | None,
    level: float,
) -> Part:  # fmt: skip
    seconds = sum(times[at].seconds for at in chosen)
    of_part = None
    if score is not None:
        total = score.variants["total"].score
        n_noticed = int(noticing[:, list(chosen)].any(axis=1).sum()) if chosen else 0
        of_part = total if total.value is None else percentage(n_noticed, len(score.methods), level)
    return Part(limit, tuple(times[at].benchmark for at in chosen), seconds, of_part)
