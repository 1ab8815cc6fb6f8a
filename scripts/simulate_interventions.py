"""Simulate measurements with known differences, and labels of reviewers whose habits are known.

    python scripts/simulate_interventions.py --items 586 --seed 1 --out made-up

The output is for `labeler learn --interventions` and `--by-reviewer`. Four simulated reviewers label the items; the
file habits.csv says which measures decide their labels. No verdicts are written.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special
from scipy.signal import lfilter

from analysis.benchmark import LOWER, Benchmark
from analysis.categories import DISSIMILAR, SIMILAR
from analysis.dissimilarity import MEASURES
from analysis.learning._model import Floats
from analysis.learning._reviewers import BIMODAL, DRIFT, KINDS, NOISE, SLOWDOWN
from analysis.results import Result
from analysis.runs import Runs
from analysis.spread import max_spread
from labeler.atomic_files import in_place
from labeler.errors import InputError, sentence
from labeler.formats import tables, writing
from labeler.service.outputs import write_files

AMOUNTS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
N_RUNS, MAX_CHANGED = 10, 5
PER_APPLICATION = 20
MEASUREMENTS = "measurements"
COLUMNS = ("benchmark", "application", "run", "iteration", "value", "unit")
MOST_CELLS = 10_000_000  # limit for one file; the reader refuses larger tables
HABITS = {"R1": {"m1": 2.0}, "R2": {"m5": 2.0}, "R3": {"m1": 0.7, "m5": 0.7, "spread": 0.7}, "R4": {"spread": 2.0}}


@dataclass(frozen=True, repr=False)
class Intervened(Result):
    """A simulated benchmark with a known change, or with noise only."""

    benchmark: str
    application: str
    runs: Floats  # measurements in seconds
    kind: str  # one of `KINDS`
    amount: float  # size of the change as a share of the level of the runs; 0 for noise alone
    changed: tuple[int, ...]  # the runs that were changed, counted from 0


def interventions(n_items: int, *, rng: np.random.Generator, n_iterations: int = 1000) -> Iterator[Intervened]:
    """Yield simulated benchmarks of ten runs. One in five has only noise; the others have 1 to 5 changed runs.

    Each run has a random level (spread of 0.5 %), noise that is correlated in time, and rare spikes. There are four
    kinds of change:

    - A slowdown raises the level.
    - A drift raises the level linearly until the end of the run.
    - Two levels: the run switches at random between its level and a raised level.
    - A warm-up left in the data starts at (1 + 10 amount) times the level and decreases within a tenth of the run.

    Raises ValueError if `n_items` or `n_iterations` is too small.

    Parameters
    ----------
    n_iterations : int
        Iterations of each run, at least 50.

    Yields
    ------
    Intervened
        Kinds, amounts (1 to 50 %) and numbers of changed runs take turns, so all are equally frequent.
    """
    if n_items < 1 or n_iterations < 50:
        raise ValueError(f"n_items must be at least 1 and n_iterations at least 50, got {n_items} and {n_iterations}")
    n_applications = max(5, -(-n_items // PER_APPLICATION))
    levels = 10 ** rng.uniform(-7, -3, n_applications)
    noise = rng.uniform(0.01, 0.08, n_applications)
    of_item = rng.permutation(
        np.arange(n_items) % n_applications
    )  # otherwise the effects of kinds and applications could not be separated
    for n in range(n_items):
        kind = KINDS[n % len(KINDS)]
        turn = n // len(KINDS)
        amount = 0.0 if kind == NOISE else AMOUNTS[turn % len(AMOUNTS)]
        n_changed = 0 if kind == NOISE else 1 + (turn // len(AMOUNTS)) % MAX_CHANGED
        application = int(of_item[n])
        runs = levels[application] * _noise(rng, noise[application], n_iterations)
        changed = tuple(sorted(rng.choice(N_RUNS, n_changed, replace=False).tolist()))
        for run in changed:
            runs[run] *= _change(kind, amount, n_iterations, rng)
        yield Intervened(f"bench{n:03d}", f"app{application:02d}", runs, kind, amount, changed)


def _noise(rng: np.random.Generator, sd: float, n: int) -> Floats:
    """Simulate ten runs with values near 1, from random run levels, correlated noise and rare spikes."""
    white = rng.standard_normal((N_RUNS, n))
    correlated = lfilter([np.sqrt(1 - 0.5**2)], [1, -0.5], white, axis=1)
    spikes = (rng.random((N_RUNS, n)) < 0.005) * rng.exponential(0.5, (N_RUNS, n))
    level = 0.005 * rng.standard_normal((N_RUNS, 1))
    return np.asarray(np.exp(level + sd * correlated + spikes), dtype=np.float64)


def _change(kind: str, amount: float, n: int, rng: np.random.Generator) -> Floats:
    time: Floats = np.arange(n) / n
    if kind == SLOWDOWN:
        return np.full(n, 1 + amount)
    if kind == DRIFT:
        return 1 + amount * time
    if kind == BIMODAL:
        return np.asarray(1 + amount * (rng.random(n) < 0.5), dtype=np.float64)
    return 1 + 10 * amount * np.exp(-time / 0.03)


def simulate_labels(
    features: pd.DataFrame,
    *,
    rng: np.random.Generator,
    weights: Mapping[str, Mapping[str, float]] = HABITS,
    per_item: int = 2,
) -> pd.DataFrame:
    """Simulate labels of reviewers who weigh the measures in a known way.

    Raises ValueError if there are fewer reviewers than `per_item`.

    `weights`: reviewer -> measure -> change of the log-odds of dissimilar per standard deviation of the measure;
    `per_item`: number of reviewers per item. All sets of this many reviewers take turns.
    """
    if not 1 <= per_item <= len(weights):
        raise ValueError(f"per_item must be within 1..{len(weights)}, the number of reviewers, got {per_item}")
    standard = (features - features.mean()) / features.std(ddof=0).where(lambda sd: sd > 0, 1.0)
    blocks = list(combinations(weights, per_item))
    rows = []
    for n, place in enumerate(rng.permutation(len(features))):
        for rater in blocks[n % len(blocks)]:
            odds = sum(weight * float(standard[name].iloc[place]) for name, weight in weights[rater].items())
            called = rng.random() < special.expit(odds)
            rows.append((features.index[place], rater, DISSIMILAR if called else SIMILAR))
    return pd.DataFrame(rows, columns=["item", "rater", "category"]).sort_values(["item", "rater"], ignore_index=True)


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
    per_file = max(1, MOST_CELLS // (len(COLUMNS) * N_RUNS * n_iterations))
    made = interventions(n_items, rng=rng, n_iterations=n_iterations)
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
        labels = simulate_labels(measured, rng=rng, per_item=per_item)
    except ValueError as error:
        raise InputError(sentence(error)) from None
    except OSError as error:
        raise InputError(f"{out} could not be written: {error.strerror}.") from None
    labels = labels.rename(columns={"rater": "reviewer", "category": "label"})
    labels["application"] = labels["item"].map(applications)
    habits = [
        {"reviewer": reviewer, "measure": measure, "weight": weight}
        for reviewer, weights in HABITS.items()
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


def _write(path: Path, batch: Sequence[Intervened]) -> None:
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


def main() -> None:
    """Write the simulated data into a folder, and print the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=586)
    parser.add_argument("--iterations", type=int, default=1000, help="in each of the ten runs, at least 50")
    parser.add_argument("--per-item", type=int, default=2, help="reviewers per item")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    try:
        paths = simulate(
            given.out, given.items, n_iterations=given.iterations, per_item=given.per_item, seed=given.seed,
            advance=lambda done: print(f"{done} of {given.items} items", file=sys.stderr),
        )  # fmt: skip
    except InputError as error:
        sys.exit(f"Error: {error}")
    print(*paths, sep="\n")


if __name__ == "__main__":
    main()
