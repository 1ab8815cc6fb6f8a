"""Find out from runs of one version which limits keep the false alarms of a check rare."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from analysis.benchmark import EVERY_ITERATION, HIGHER, Benchmark, PerRun
from analysis.check._design import BY_TURNS, IN_BLOCKS, times_of
from analysis.power import smallest_difference
from analysis.runs import Floats
from analysis.two_samples import COMBINED, p_values

SIZES = (3, 5, 10, 20, 30, 50)
N_DRAWS = 300


@dataclass(frozen=True)
class NoiseRow:
    """How often a check with this number of runs raises a false alarm, and what it detects."""

    n_runs: int  # of each version
    design: str  # "by turns" or "in blocks"
    false_alarms: float  # share of comparisons in which any benchmark is called slower
    min_change: float  # the smallest limit that keeps the false alarms at the wanted rate; 0 if no limit is needed
    detectable: float | None  # median of the changes that are detected with 80 % power


@dataclass(frozen=True)
class Noise:
    """The noise of a suite on a machine."""

    n_benchmarks: int
    n_runs: int  # measured runs of each benchmark
    n_left_out: int  # benchmarks with another number of runs
    rows: tuple[NoiseRow, ...]


def noise(
    benchmarks: Sequence[Benchmark],
    *,
    per_run: PerRun = EVERY_ITERATION,
    alpha: float = 0.05,
    rate: float = 0.05,
    rng: np.random.Generator,
) -> Noise:
    """Compare runs of one version with each other, as a check compares two versions.

    For each number of runs, a stretch of consecutive runs is drawn and divided into a baseline and a candidate: by
    turns, or into its first and its second half. Benchmarks of the same number of runs are divided in the same way, so
    noise that they share counts. `alpha` is the significance level of the check for all benchmarks together, and `rate`
    the wanted share of false alarms. Raises ValueError if there are no benchmarks with at least six runs, or a share is
    not in (0, 1).
    """
    groups: dict[int, list[Benchmark]] = defaultdict(list)
    for benchmark in benchmarks:
        groups[len(benchmark.runs)].append(benchmark)
    n_runs = max(groups, key=lambda n: (len(groups[n]), n), default=0)
    if n_runs < 2 * SIZES[0]:
        raise ValueError(f"at least {2 * SIZES[0]} runs of each benchmark are needed, got {n_runs}")
    used = groups[n_runs]
    values = np.array([_in_time(benchmark, per_run) for benchmark in used])
    are_rates = np.array([benchmark.better == HIGHER for benchmark in used])
    rows = []
    for n in (n for n in SIZES if 2 * n <= n_runs):
        limits = [smallest_difference(row, alpha=alpha, n_tests=len(used), n_runs=n).value for row in values]
        known = sorted(limit for limit in limits if limit is not None)
        detectable = known[len(known) // 2] if known else None
        for design in (BY_TURNS, IN_BLOCKS):
            largest = _largest(values, are_rates, n, design, alpha, rng)
            needed = float(np.quantile(largest, 1 - rate, method="higher"))
            rows.append(NoiseRow(n, design, float((largest > 0).mean()), needed, detectable))
    return Noise(len(used), n_runs, len(benchmarks) - len(used), tuple(rows))


def _in_time(benchmark: Benchmark, per_run: PerRun) -> Floats:
    values, times = per_run.values(benchmark.runs), times_of(benchmark.runs)
    return values if times is None else values[np.argsort(times, kind="stable")]


def _largest(
    values: Floats, are_rates: np.ndarray, n: int, design: str, alpha: float, rng: np.random.Generator
) -> Floats:
    """Return the largest slowdown that each simulated check reports; 0 if it reports none."""
    k = len(values)
    largest = np.zeros(N_DRAWS)
    for draw in range(N_DRAWS):
        start = int(rng.integers(0, values.shape[1] - 2 * n + 1))
        places = start + (np.arange(2 * n).reshape(n, 2).T if design == BY_TURNS else np.arange(2 * n).reshape(2, n))
        swapped = rng.random(n if design == BY_TURNS else 1) < 0.5
        old, new = np.where(swapped, places[::-1], places)
        a, b = values[:, new], values[:, old]
        p = p_values(a, b, COMBINED)
        order = np.argsort(p)
        passed = np.cumprod(p[order] * (k - np.arange(k)) <= alpha).astype(bool)  # Holm's procedure
        ratio = a.mean(axis=1) / b.mean(axis=1)
        slower = np.where(are_rates, 1 - ratio, ratio - 1)[order][passed]
        largest[draw] = max(0.0, float(slower.max(initial=0.0)))
    return largest
