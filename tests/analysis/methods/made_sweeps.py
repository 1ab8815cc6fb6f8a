"""Artificial sweeps over measurement contexts: environments of increasing size, link orders, two versions."""

import numpy as np

from analysis.runs.benchmark import Benchmark

SIZES = tuple(range(0, 4097, 64))


def measured(cells, name="b", **more):
    """Build a benchmark from (version, context) -> one number per run; each run has one iteration."""
    rows = [(version, context, value) for (version, context), values in cells.items() for value in values]
    versions, contexts, values = zip(*rows, strict=True)
    conditions = {"version": versions, "context": contexts} | more.pop("conditions", {})
    return Benchmark.of_series(name, tuple(np.array([value]) for value in values), conditions=conditions, **more)


def sweep(
    name="b",
    *,
    seed=1,
    speedup=1.0,
    effect=0.03,
    noise=0.002,
    n_runs=3,
    sizes=SIZES,
    links=("",),
    seconds=1.0,
    phase=2.0,
    **more,
):
    """Build two versions that vary periodically with the size of the environment, with different phases."""
    rng = np.random.default_rng(seed)
    orders = effect * (len(links) > 1) * rng.normal(size=(2, len(links)))
    cells = {}
    for at, version in enumerate(("O2", "O3")):
        level = seconds / (1, speedup)[at]
        for size in sizes:
            for number, link in enumerate(links):
                off = effect * np.sin(2 * np.pi * size / 1024 + at * phase) + orders[at, number]
                text = f"env={size}" + (f" link={link}" if link else "")
                cells[version, text] = level * np.exp(off + noise * rng.normal(size=n_runs))
    return measured(cells, name, **more)


def with_intervention(free, fixed):
    """Join two sweeps to one benchmark: with the cause free, and with the cause held fixed."""
    marks = ("",) * len(free.values) + ("stack aligned",) * len(fixed.values)
    conditions = {name: free.of(name) + fixed.of(name) for name in ("version", "context")} | {"intervention": marks}
    return Benchmark.of_series(
        free.name, free.values + fixed.values, unit=free.unit, better=free.better, conditions=conditions
    )


def instrumented(name="b", *, seed=1, change=0.04, n_runs=4):
    """Build a benchmark whose speed-up grows with the number of counted events, in three environments."""
    rng = np.random.default_rng(seed)
    cells = {}
    for size in (0, 64, 128):
        for events in (0, 2, 8):
            for version, level in (("O2", 1.0), ("O3", 1 / (1.01 + change * events / 8))):
                runs = level * np.exp(0.002 * rng.normal(size=n_runs))
                cells[version, f"env={size} events={events}"] = runs
    return measured(cells, name)
