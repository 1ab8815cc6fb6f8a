"""Compute how long a suite takes, and which altered methods smaller parts of the suite still detect."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize

from analysis.benchmark import ALTERED, DURATION, ORDER_TYPE, RUN, VERSION, Benchmark
from analysis.intervals import Estimate
from analysis.runs import Floats
from analysis.spread._score import Score, percentage

SHARES = (0.1, 0.25, 0.5)  # time limits of the parts that are always computed; 1 is the time of the whole suite

Key = tuple[str, str]  # application, benchmark


@dataclass(frozen=True)
class BenchmarkTime:
    """The time that one benchmark takes."""

    application: str
    benchmark: str
    seconds_per_run: float  # mean time of a run, in seconds
    n_runs: int  # number of runs with one version, in one environment
    seconds: float  # time of all these runs


@dataclass(frozen=True)
class SuitePart:
    """A part of a suite: some of its benchmarks."""

    limit: float | None  # time limit in seconds; None for no limit
    benchmarks: tuple[str, ...]
    seconds: float  # time of these benchmarks
    score: Estimate | None  # API benchmarking score of these benchmarks; None if the suite has no altered methods


@dataclass(frozen=True)
class PassTime:
    """The time of a complete pass, which is one run of each benchmark (Table 2 of the paper)."""

    n: int  # number of complete passes: sets of runs with the same run, version, altered method and order
    mean: float  # in seconds
    sd: float | None  # standard deviation in seconds; None for a single pass


@dataclass(frozen=True)
class SuiteTime:
    """The time that a suite and its parts take."""

    # True if every run records its time (the condition `duration`). Otherwise the measured times of a run were
    # summed, which is less than the real time if a run measures only some of its operations.
    is_measured: bool
    seconds: float  # time to run all runs of all benchmarks once
    benchmarks: tuple[BenchmarkTime, ...]  # longest first
    n_unknown: int  # number of benchmarks without a known time of their runs; no part contains them
    # The smallest part that notices the same methods as the whole suite; if several parts are equally small, the
    # fastest. None if the suite has no altered methods.
    smallest: SuitePart | None
    # For each time limit, the benchmarks that notice the most methods, in the shortest time. If the suite has no
    # altered methods, as many benchmarks as fit.
    parts: tuple[SuitePart, ...]
    one_pass: PassTime | None = None  # None if no run occurs in every benchmark with a known time


def suite_time(
    benchmarks: Sequence[Benchmark],
    n_runs: Mapping[Key, int],
    score: Score | None,
    *,
    budget: float | None = None,
    level: float = 0.95,
) -> SuiteTime | None:
    """Compute the time of a suite, and find which altered methods parts of the suite still detect [1]_.

    Raises ValueError if the budget is not a positive number.

    `benchmarks`: one suite in one environment; `n_runs`: number of runs of each benchmark; `score`: which methods the
    benchmarks notice. A benchmark notices the same methods in every part of the suite, because v always comes from the
    whole suite. `budget`: time limit in minutes for a further part. Parts for a tenth, a quarter and half of the time
    always exist. `level`: confidence level of the scores. The result is None if no run records its time and no
    benchmark is in seconds.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407, section 4.1
    """
    if budget is not None and not 0 < budget < np.inf:
        raise ValueError(f"budget must be a positive number of minutes, got {budget}")
    is_measured = any(benchmark.levels(DURATION) for benchmark in benchmarks)
    times, timed = [], []
    for benchmark in benchmarks:
        seconds = _seconds_per_run(benchmark, is_measured)
        if seconds is not None:
            timed.append(benchmark)
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
    one_pass = pass_time([_seconds_of_runs(benchmark, is_measured) for benchmark in timed])
    return SuiteTime(is_measured, total, tuple(times), len(benchmarks) - len(times), smallest, tuple(parts), one_pass)


def pass_time(seconds: Sequence[Mapping[tuple[str, ...], float]]) -> PassTime | None:
    """Return the mean and the standard deviation of the time of a complete pass, from the seconds of each run by key.

    A pass is complete if each benchmark has a run with its key.
    """
    keys = [key for key in seconds[0] if all(key in of_one for of_one in seconds)] if seconds else []
    sums = sorted(sum(of_one[key] for of_one in seconds) for key in keys)
    if not sums:
        return None
    return PassTime(len(sums), float(np.mean(sums)), float(np.std(sums, ddof=1)) if len(sums) > 1 else None)


def _seconds_of_runs(benchmark: Benchmark, is_measured: bool) -> dict[tuple[str, ...], float]:
    """Return the seconds of each run with a known time, by the properties that name its pass.

    Raises ValueError if a recorded time is not a number.
    """
    if not is_measured and benchmark.unit != "s":
        return {}
    n_of_key: Counter[tuple[str, ...]] = Counter()
    seconds = {}
    for at, run in enumerate(benchmark.runs):
        key = tuple(run.of(name) for name in (RUN, VERSION, ALTERED, ORDER_TYPE))
        number, n_of_key[key] = n_of_key[key], n_of_key[key] + 1  # runs without a name are numbered
        entry = run.of(DURATION)
        if not is_measured or entry:
            seconds[(*key, str(number))] = float(entry) if is_measured else float(benchmark.values[at].sum())
    return seconds


def _seconds_per_run(benchmark: Benchmark, is_measured: bool) -> float | None:
    try:
        seconds = list(_seconds_of_runs(benchmark, is_measured).values())
    except ValueError:
        return None
    mean = float(np.mean(sorted(seconds))) if seconds else 0.0
    return mean if 0 < mean < np.inf else None


def _noticing(times: Sequence[BenchmarkTime], score: Score | None) -> Floats:
    """Return a matrix that shows which benchmark (column) detects which covered method (row).

    An entry is 1 if the benchmark detects the method, otherwise 0.
    """
    covered = score.variants["total"].covered if score else ()
    pairs = {(row.benchmark, row.method) for row in score.detections if row.regression.found} if score else set()
    return np.array([[float((time.benchmark, method) in pairs) for time in times] for method in covered]).reshape(
        len(covered), len(times)
    )


def _smallest(times: Sequence[BenchmarkTime], noticing: Floats) -> list[int]:
    """Return the smallest set of benchmarks that together detect all these methods.

    If several sets have the same size, return the fastest.
    """
    seconds = np.array([time.seconds for time in times])
    needed = noticing[noticing.any(axis=1)]
    if not len(needed):
        return []
    cost = 1 + seconds / (seconds.sum() * (1 + len(times)))
    return _chosen(cost, optimize.LinearConstraint(needed, lb=1), len(times))


def _within(times: Sequence[BenchmarkTime], noticing: Floats, limit: float) -> list[int]:
    """Return the benchmarks that detect the most methods within the time limit.

    If there are no methods, return as many benchmarks as possible.
    """
    seconds = np.array([time.seconds for time in times])
    if not len(noticing):
        shortest = np.argsort(seconds, kind="stable")
        fits = np.cumsum(seconds[shortest]) <= limit * (1 + 1e-12)
        return sorted(int(at) for at in shortest[fits])
    n_methods, n = noticing.shape
    # variables: one per benchmark (run or not), one per method (noticed or not)
    rows = np.vstack([np.hstack([noticing, -np.eye(n_methods)]), np.hstack([-seconds / limit, np.zeros(n_methods)])])
    cost = np.hstack([0.5 * seconds / seconds.sum(), -np.ones(n_methods)])
    return _chosen(cost, optimize.LinearConstraint(rows, lb=np.hstack([np.zeros(n_methods), -1])), n)


def _chosen(cost: Floats, constraint: optimize.LinearConstraint, n: int) -> list[int]:
    """Minimise the cost over binary variables; return the indices of the first n variables that are 1."""
    result = optimize.milp(
        cost,
        integrality=np.ones(len(cost), dtype=np.int64),
        bounds=optimize.Bounds(0, 1),
        constraints=constraint,
    )
    if result.x is None:
        raise RuntimeError(f"the solver could not choose a part of the suite: {result.message}")
    return [int(at) for at in np.flatnonzero(result.x[:n] > 0.5)]


def _part(
    times: Sequence[BenchmarkTime], chosen: Sequence[int], limit: float | None, noticing: Floats, score: Score | None,
    level: float,
) -> SuitePart:  # fmt: skip
    seconds = sum(times[at].seconds for at in chosen)
    of_part = None
    if score is not None:
        total = score.variants["total"].score
        n_noticed = int(noticing[:, list(chosen)].any(axis=1).sum()) if chosen else 0
        of_part = total if total.value is None else percentage(n_noticed, len(score.methods), level)
    return SuitePart(limit, tuple(times[at].benchmark for at in chosen), seconds, of_part)
