"""Items that show the iterations of one run, to put in a category or to mark where the run is steady."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.arrays import Series
from analysis.runs.benchmark import ALTERED, VERSION, Benchmark, by_level
from labeler.marks import START
from labeler.studies.model import Protocol
from labeler.studies.questions import POINTS, Category, Question
from labeler.studies.screen import binning, points
from labeler.studies.screen.kinds.kind import (
    ExampleSet,
    ItemKind,
    NewItem,
    Payload,
    Recipe,
    RunSelection,
    SkippedBenchmark,
)

MIN_ITERATIONS = 10


def items(benchmark: Benchmark, selection: RunSelection) -> list[NewItem]:
    """Return one item per run, or per chosen run of each version; a name without a run has only one.

    The seed and the name of the benchmark decide which runs are chosen, the same on every machine. Raises
    SkippedBenchmark if a run has fewer than ten iterations.
    """
    return [(item, ()) for level in by_level(benchmark, [ALTERED, VERSION]) for item in _runs(level, selection)]


def _runs(benchmark: Benchmark, selection: RunSelection) -> list[Benchmark]:
    shortest = min(map(len, benchmark.runs))
    if shortest < MIN_ITERATIONS:
        raise SkippedBenchmark(
            f"a run has {shortest} of the {MIN_ITERATIONS} iterations that are needed to see how a run develops"
        )
    numbers = list(range(len(benchmark.runs)))
    if selection.runs_per_benchmark is not None:
        drawn = sorted(numbers, key=lambda number: _share(selection.seed, benchmark.name, number))
        numbers = sorted(drawn[: selection.runs_per_benchmark])
    if len(benchmark.runs) == 1:
        return [benchmark]
    labels = benchmark.labels
    return [
        replace(benchmark.take([number]), name=f"{benchmark.name} : run {labels[number]}", failures=())
        for number in numbers
    ]


def _share(seed: int, name: str, number: int) -> bytes:
    return hashlib.sha256(f"{seed} {name} {number}".encode()).digest()


def payload(benchmark: Benchmark, protocol: Protocol) -> dict[str, Any]:
    """Return all iterations of the run, and a line through the medians of its windows."""
    (run,) = benchmark.values
    axes = binning.axis_limits([run], rule=protocol.axis_rule, min_span=protocol.min_span)
    ((middles,), _lower, _upper) = binning.windows_of(run[None])
    values, at = points.shortened(run)
    return points.payload(values, at, len(run), middles, axes, benchmark.unit, protocol)


def medians(payload: Payload) -> Series:
    """Return the median of the only run."""
    return np.array([payload["median"]])


MARK_STEADY = Question(
    text="From where on is the run steady?",
    categories=(
        Category("never", "v", "The run does not become steady: its level changes until the end, or comes back."),
    ),
    shows="run",
    answer=POINTS,
    no_mark="never",
    marks=START,
)

PERIOD = 180  # iterations after which a run that never becomes steady changes its level


def _run(*shares: float) -> Callable[..., Benchmark]:
    """Make a run that has these levels above the rest, in parts of equal length, until the last place."""

    def make(runs: list[Series], _rng: np.random.Generator, places: Sequence[int]) -> Benchmark:
        run, ends = runs[0].copy(), np.linspace(0, max(places, default=0), len(shares) + 1).astype(int)
        for first, last, share in zip(ends, ends[1:], shares, strict=False):
            run[first:last] *= 1 + share
        return Benchmark.of_series("example", [run])

    return make


def _restless(runs: list[Series], rng: np.random.Generator, _places: Sequence[int]) -> Benchmark:
    run = runs[0]
    parts = np.arange(len(run)) // PERIOD
    return Benchmark.of_series("example", [run * (1 + rng.uniform(0, 0.15, parts[-1] + 1)[parts])])


def _from(low: int, high: int) -> Callable[[np.random.Generator], tuple[int, ...]]:
    return lambda rng: (int(rng.integers(low, high)),)


_STEADY = Recipe(
    "Steady from the start",
    "The level is the same from the first iteration on, so the first iteration is marked. Single slow iterations do "
    "not change the level.",
    None,
    _run(),
    _from(0, 1),
)
_WARMUP = Recipe(
    "A warm-up",
    "The first iterations take 20 % longer. The mark is the first iteration of the steady level.",
    None,
    _run(0.2),
    _from(150, 700),
)
_STEPS = Recipe(
    "A warm-up in two steps",
    "The run becomes faster in two steps. Only after the second step does the level stay the same.",
    None,
    _run(0.3, 0.1),
    _from(300, 900),
)
_NEVER = Recipe(
    "Never steady",
    "The level changes again and again until the end of the run.",
    None,
    _restless,
    lambda _rng: (),
)
WHAT_TO_JUDGE = """
**What to judge.** Mark the first iteration after which the level stays the same until the end of the run. Single slow
iterations do not matter. If the run is steady from its first iteration on, mark iteration 0. If the level changes until
the end, choose *never*.
"""


KIND = ItemKind(
    name="run",
    shows="the iterations of one run",
    version=points.VERSION,
    items=items,
    payload=payload,
    varied=points.varied,
    panels=points.panels,
    thumbnail=points.thumbnail,
    chart=points.chart,
    medians=medians,
    sees="You see one run of a benchmark, from its first iteration on the left to its last on the right. A dot is one "
    "iteration, and the line is the median of 50 iterations. The axis covers {axis}. Ticks in the grey lanes at the "
    "top and bottom are iterations beyond the axis.",
    help="One run of a benchmark, from its first iteration on the left to its last on the right. A dot is one "
    "iteration; the line is the median of 50 iterations. The dashed line is the median of the run. Ticks in the grey "
    "lanes at the top and bottom are iterations beyond the axis.",
    overlay="the line without the dots",
    is_series=True,
    questions={"mark-steady": MARK_STEADY},
    examples={
        "mark-steady": ExampleSet(
            WHAT_TO_JUDGE,
            worked=(_STEADY, _WARMUP, _STEPS, _NEVER),
            practice=(_STEADY, _WARMUP, _STEPS, _NEVER, _WARMUP, _STEPS),
        ),
    },
)
