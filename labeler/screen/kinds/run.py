"""Items that show the iterations of one run."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.benchmark import ALTERED, VERSION, Benchmark, by_level
from labeler.marks import START
from labeler.model import Protocol, Series
from labeler.questions import POINTS, Category, Question
from labeler.screen import binning, points
from labeler.screen.kinds.kind import Kind, LeftOut, NewItem, Payload, Selection

MIN_ITERATIONS = 10


def items(benchmark: Benchmark, selection: Selection) -> list[NewItem]:
    """Return one item per run, or per chosen run of each version; a name without a run has only one.

    The seed and the name of the benchmark decide which runs are chosen, the same on every machine. Raises LeftOut if
    a run has fewer than ten iterations.
    """
    return [(item, ()) for level in by_level(benchmark, [ALTERED, VERSION]) for item in _runs(level, selection)]


def _runs(benchmark: Benchmark, selection: Selection) -> list[Benchmark]:
    shortest = min(map(len, benchmark.runs))
    if shortest < MIN_ITERATIONS:
        raise LeftOut(
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

KIND = Kind(
    name="run",
    shows="the iterations of one run",
    version=points.VERSION,
    items=items,
    payload=payload,
    varied=points.varied,
    panels=points.panels,
    thumbnail=points.thumbnail,
    medians=medians,
    sees="You see one run of a benchmark, from its first iteration on the left to its last on the right. A dot is one "
    "iteration, and the line is the median of 50 iterations. The axis covers {axis}. Marks in the grey lanes at the "
    "top and bottom are iterations beyond the axis.",
    help="One run of a benchmark, from its first iteration on the left to its last on the right. A dot is one "
    "iteration; the line is the median of 50 iterations. The dashed line is the median of the run. Marks in the grey "
    "lanes at the top and bottom are iterations beyond the axis.",
    overlay="the line without the dots",
    is_series=True,
    questions={"mark-steady": MARK_STEADY},
)
