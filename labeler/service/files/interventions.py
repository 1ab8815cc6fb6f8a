"""Simulate measurements with known differences, and labels of reviewers whose habits are known."""

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis import learning
from analysis.benchmark import LOWER, Benchmark
from analysis.dissimilarity import MEASURES
from analysis.runs import Runs
from analysis.spread import max_spread
from labeler.atomic_files import in_place
from labeler.errors import InputError, sentence
from labeler.formats import tables, writing
from labeler.service.outputs import write_files

MEASUREMENTS = "measurements"
COLUMNS = ("benchmark", "application", "run", "iteration", "value", "unit")
MOST_CELLS = 10_000_000  # limit for one file; the reader refuses larger tables


def simulate(
    out: Path, n_items: int, *, n_iterations: int, per_item: int, seed: int, advance: Callable[[int], object]
) -> list[Path]:
    """Write simulated measurements, the changes in each run, simulated labels, and the habits behind the labels.

    Writes measurements/, interventions.csv, labels.csv and habits.csv; `advance` is called with the number of finished
    items. Raises InputError if a number is invalid, or a file cannot be written.
    """
    rng = np.random.default_rng(seed)
    changed: list[dict[str, Any]] = []
    features: dict[str, dict[str, float]] = {}
    applications: dict[str, str] = {}
    written: list[Path] = []
    per_file = max(1, MOST_CELLS // (len(COLUMNS) * learning.N_RUNS * n_iterations))
    made = learning.interventions(n_items, rng=rng, n_iterations=n_iterations)
    try:
        (out / MEASUREMENTS).mkdir(parents=True, exist_ok=True)
        while batch := list(islice(made, per_file)):
            written.append(out / MEASUREMENTS / f"part-{len(written) + 1:02d}.parquet")
            _write(written[-1], batch)
            for item in batch:
                what = {"benchmark": item.benchmark, "intervention": item.kind, "amount": item.amount}
                changed += [what | {"run": run} for run in item.changed]
                features[item.benchmark] = _features(Runs(item.runs))
                applications[item.benchmark] = item.application
            advance(len(features))
        measured = pd.DataFrame.from_dict(features, orient="index")
        labels = learning.simulate_labels(measured, rng=rng, per_item=per_item)
    except ValueError as error:
        raise InputError(sentence(error)) from None
    except OSError as error:
        raise InputError(f"{out} could not be written: {error.strerror}.") from None
    labels = labels.rename(columns={"rater": "reviewer", "category": "label"})
    labels["application"] = labels["item"].map(applications)
    habits = [
        {"reviewer": reviewer, "measure": measure, "weight": weight}
        for reviewer, weights in learning.HABITS.items()
        for measure, weight in weights.items()
    ]
    tables_written = write_files(
        {
            "interventions.csv": tables.write(
                pd.DataFrame(changed, columns=["benchmark", "run", "intervention", "amount"])
            ),
            "labels.csv": tables.write(labels),
            "habits.csv": tables.write(pd.DataFrame(habits)),
        },
        out,
    )
    return [*written, *tables_written]


def _write(path: Path, batch: Sequence[learning.Intervened]) -> None:
    """Write a long table of some benchmarks; the file appears only when it is complete."""
    with (
        in_place(path) as partial,
        partial.open("wb") as file,
        writing.parquet_writer(file, COLUMNS) as writer,
    ):
        for item in batch:
            benchmark = Benchmark.of_series(item.benchmark, list(item.runs), item.application, "s", LOWER, {})
            writer.write_table(writing.rows(benchmark, COLUMNS))


def _features(runs: Runs) -> dict[str, float]:
    """Return the measures from which simulated reviewers decide their labels (see `analysis.learning.FEATURES`)."""
    spread = max_spread(runs.values.mean(axis=1)).value or 0.0
    means = {name: float(MEASURES[name].of_pairs(runs).mean()) for name in ("m1", "m5")}
    return {**means, "spread": spread / (1 + spread)}
