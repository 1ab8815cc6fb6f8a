"""Benchmarks in fixed and in random order: artificial ones, and those of a published experiment."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.runs.benchmark import Benchmark, from_table


def two_orders(
    name: str, fixed: Sequence[float], random: Sequence[float], *, version: str = "", unit: str = "s"
) -> Benchmark:
    """Build a benchmark with one value per run; runs are numbered from 0 in each order."""
    values = [*fixed, *random]
    conditions = {
        "run": (*map(str, range(len(fixed))), *map(str, range(len(random)))),
        "order_type": ("fixed",) * len(fixed) + ("random",) * len(random),
        "version": (version,) * len(values),
    }
    return Benchmark.of_series(
        name, tuple(np.array([float(value)]) for value in values), unit=unit, conditions=conditions
    )


def together(parts: Sequence[Benchmark]) -> Benchmark:
    """Join the runs of several benchmarks, such as one per version, under the name of the first benchmark."""
    names = ("run", "order_type", "version")
    conditions = {name: tuple(entry for part in parts for entry in part.of(name)) for name in names}
    return Benchmark.of_series(
        parts[0].name, tuple(run for part in parts for run in part.values), conditions=conditions
    )


def two_versions(
    fixed: tuple[Sequence[float], Sequence[float]], random: tuple[Sequence[float], Sequence[float]], name: str = "a"
) -> Benchmark:
    """Build the versions "one" and "two" of a benchmark from the values of both in each order."""
    return together([two_orders(name, fixed[at], random[at], version=v) for at, v in enumerate(("one", "two"))])


def without_direction(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark without its better direction."""
    return replace(benchmark, runs=tuple(replace(run, better="") for run in benchmark.runs))


def suite(*, n: int, runs: int, fixed: int, step: float) -> list[Benchmark]:
    """Build benchmarks of about 100 s in random orders and in a fixed order; each position adds `step` seconds."""
    rng = np.random.default_rng(5)
    rows = []
    for kind, n_runs in (("fixed", fixed), ("random", runs)):
        for run in range(n_runs):
            order = range(n) if kind == "fixed" else rng.permutation(n)
            for at, benchmark in enumerate(order):
                value = 100 + step * at + 0.01 * rng.normal()
                rows.append((f"org.app.Bench{benchmark}.run", run, value, kind, at))
    table = pd.DataFrame(rows, columns=["benchmark", "run", "value", "order_type", "order_position"])
    return from_table(table)


def memcached(folder: Path) -> list[Benchmark]:
    """Read the published experiment: three tests, 50 runs in each order, requests per second."""
    results = pd.read_csv(folder / "memcached_exp_results.csv")
    assert set(results["completion_status"]) == {"Success"}
    names = {
        "exp_command": "benchmark", "run_num": "run", "result": "value", "order_number": "order_position",
    }  # fmt: skip
    return from_table(results.rename(columns=names).assign(unit="ops/s", better="higher"))
