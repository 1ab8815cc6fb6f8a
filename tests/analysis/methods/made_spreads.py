"""Benchmarks for the spread of runs, and for scores of altered methods."""

from itertools import product

import numpy as np
import pandas as pd

from analysis.runs.benchmark import Benchmark, from_table
from tests.conftest import GOLDEN

LOW, HIGH = np.arange(1.0, 6.0), np.arange(11.0, 16.0)  # no overlap: the smallest p that five against five can give


def benchmark(*values, name="b", **more):
    """Build a benchmark whose runs have one iteration each."""
    return Benchmark.of_series(name, tuple(np.array([float(value)]) for value in values), **more)


def measured(name, **levels):
    """Build two numbered runs per level, around the centre of the level."""
    rng = np.random.default_rng(sum(map(ord, name)))
    keys = list(product(levels, "01"))
    runs = tuple(levels[level] + 0.01 * rng.permutation(20) for level, _ in keys)
    conditions = {"altered": tuple(level for level, _ in keys), "run": tuple(run for _, run in keys)}
    return Benchmark.of_series(name, runs, conditions=conditions)


def by_hand():
    """The example that was computed by hand: three benchmarks, five altered methods."""
    named = ["run", "altered", "benchmark", "value"]
    return from_table(pd.read_csv(GOLDEN / "abs.csv", sep=";").set_axis(named, axis=1))


def in_environments(name, **environments):
    """Build a benchmark with one value per run, from the runs in each environment."""
    values = [(context, value) for context, runs in environments.items() for value in runs]
    conditions = {
        "context": tuple(context for context, _ in values), "run": tuple(str(at) for at in range(len(values))),
    }  # fmt: skip
    return Benchmark.of_series(name, tuple(np.array([value]) for _, value in values), conditions=conditions)


def timed_runs(**seconds):
    """Build benchmarks whose runs take the given seconds; None for a run that is missing."""
    rows = [
        {"benchmark": name, "run": run, "value": value, "unit": "s", "better": "lower"}
        for name, values in seconds.items()
        for run, value in enumerate(values)
        if value is not None
    ]
    return from_table(pd.DataFrame(rows))


def halves():
    """Two applications with spreads of 1 %, 8 %, 20 %, 40 % and 90 %."""
    return [
        benchmark(100 - half, 100 + half, name=f"b{half}", application="org/a" if half < 15 else "org/c")
        for half in (0.5, 4, 10, 20, 45)
    ]
