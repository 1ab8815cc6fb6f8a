"""Items that show one benchmark over its versions or dates, to put in a category or to mark."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from analysis.arrays import Series
from analysis.runs.benchmark import (
    ALTERED,
    CONTEXT,
    EVERY_ITERATION,
    VERSION,
    Benchmark,
    by_level,
    dated,
    history_key,
    in_time_order,
)
from analysis.text import counted
from labeler.marks import CHANGES
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

MIN_VERSIONS = 3


def items(benchmark: Benchmark, _selection: RunSelection) -> list[NewItem]:
    """Return the benchmark with all its versions, as one item per altered method and context.

    Raises SkippedBenchmark if runs have neither versions nor times on several days, or no history has three of them.
    """
    benchmark = dated(benchmark)
    key = history_key(benchmark)
    if key is None:
        raise SkippedBenchmark(
            "its runs have no versions, and no times on more than one day. Add a column version or date, or give "
            "--from-name"
        )
    levels = by_level(benchmark, [ALTERED, CONTEXT])
    sizes = {level.name: len(level.levels(key)) for level in levels}
    short = [f"{name!r} has only {counted(n, key)} and is left out" for name, n in sizes.items() if n < MIN_VERSIONS]
    if len(short) == len(levels):
        raise SkippedBenchmark(f"only {counted(max(sizes.values()), key)}, but a history needs at least {MIN_VERSIONS}")
    return [(level, tuple(short)) for level in levels if sizes[level.name] >= MIN_VERSIONS]


def neutral(benchmark: Benchmark) -> dict[str, tuple[str, ...]]:
    """Return the number of the version of each run, in place of its name."""
    place = {version: f"{at:04d}" for at, version in enumerate(in_time_order(benchmark))}
    return {VERSION: tuple(place[version] for version in benchmark.of(history_key(benchmark) or VERSION))}


def payload(benchmark: Benchmark, protocol: Protocol) -> dict[str, Any]:
    """Return the mean of each run at the position of its version, and a line through the median of each version."""
    key = history_key(benchmark) or ""
    versions = in_time_order(benchmark)
    place = {version: at for at, version in enumerate(versions)}
    values = EVERY_ITERATION.values(benchmark.values)
    at = np.array([place[version] for version in benchmark.of(key)])
    order = np.argsort(at, kind="stable")
    values, at = values[order], at[order]
    of_version = [values[at == position] for position in range(len(versions))]
    axes = binning.axis_limits(of_version, rule=protocol.axis_rule, min_span=protocol.min_span)
    middles = np.array([np.median(of) for of in of_version])
    drawn = points.payload(values, at.tolist(), len(versions), middles, axes, benchmark.unit, protocol)
    return {**drawn, "names": versions}


def medians(payload: Payload) -> Series:
    """Return the value of each run."""
    return binning.unpacked(payload["values"])


MARK_CHANGES = Question(
    text="Where does the level change?",
    categories=(
        Category("no change", "c", "The level is the same from the first version to the last, apart from noise."),
    ),
    shows="history",
    answer=POINTS,
    no_mark="no change",
    marks=CHANGES,
)

N_VERSIONS, N_RUNS = 40, 3  # of an example
N_AVERAGED = 25  # iterations, whose median is one value; a mean would be moved by single slow iterations


def _history(*shares: float, slow: float = 0.0) -> Callable[..., Benchmark]:
    """Make a history in which each place changes the level by a share; `slow` makes one version alone slower."""

    def make(runs: list[Series], rng: np.random.Generator, places: Sequence[int]) -> Benchmark:
        noise = np.concatenate(runs)
        parts = np.median(noise[: len(noise) // N_AVERAGED * N_AVERAGED].reshape(-1, N_AVERAGED), axis=1)
        values = rng.choice(parts, (N_VERSIONS, N_RUNS), replace=False)
        for place, share in zip(places, shares, strict=True):
            values[place:] *= 1 + share
        values[int(rng.integers(5, N_VERSIONS - 5))] *= 1 + slow
        names = [f"v{version:02d}" for version in range(N_VERSIONS)]
        versions = [name for name in names for _run in range(N_RUNS)]
        return Benchmark.of_series("example", values.reshape(-1, 1), conditions={VERSION: versions})

    return make


def _places(*ranges: tuple[int, int]) -> Callable[[np.random.Generator], tuple[int, ...]]:
    return lambda rng: tuple(int(rng.integers(low, high)) for low, high in ranges)


_SAME = Recipe(
    "No change",
    "All versions take equally long. The differences between them are random.",
    None,
    _history(),
    _places(),
)
_SLOWER = Recipe(
    "A slowdown",
    "From the marked version on, the benchmark takes 6 % longer. The mark is the first version of the new level, not "
    "the last of the old level.",
    None,
    _history(0.06),
    _places((8, 33)),
)
_FASTER = Recipe(
    "A speed-up",
    "From the marked version on, the benchmark takes 10 % less time.",
    None,
    _history(-0.1),
    _places((8, 33)),
)
_TWICE = Recipe(
    "Slower, then partly faster",
    "The benchmark becomes 12 % slower, and at a later version 6 % faster. Each new level has its own mark.",
    None,
    _history(0.12, -0.06),
    _places((6, 16), (22, 34)),
)
_ALONE = Recipe(
    "One slow version",
    "One version alone takes 15 % longer, and the next version is as fast as before. The level does not change, so "
    "there is no mark.",
    None,
    _history(slow=0.15),
    _places(),
)
WHAT_TO_JUDGE = """
**What to judge.** Mark the first version of each new level. A new level stays for several versions; one slow version
alone is not a new level. All histories have random differences between versions. If a history has only such
differences, choose *no change*.
"""


KIND = ItemKind(
    name="history",
    shows="one benchmark over its versions",
    version=points.VERSION,
    items=items,
    payload=payload,
    varied=points.varied,
    panels=points.panels,
    thumbnail=points.thumbnail,
    chart=points.chart,
    medians=medians,
    sees="You see one benchmark over its versions, from the first on the left to the last on the right. A dot is the "
    "mean of one run, and the line connects the medians of the versions. The axis covers {axis}. Ticks in the grey "
    "lanes at the top and bottom are values beyond the axis.",
    help="One benchmark over its versions, from the first on the left to the last on the right, at equal distances. A "
    "dot is the mean of one run; a version can have several. The line connects the medians of the versions. The dashed "
    "line is the median of all runs. Ticks in the grey lanes at the top and bottom are values beyond the axis.",
    overlay="the line without the dots",
    neutral=neutral,
    telling={"names": "version"},
    is_series=True,
    accepts_means=True,
    questions={"mark-changes": MARK_CHANGES},
    examples={
        "mark-changes": ExampleSet(
            WHAT_TO_JUDGE,
            worked=(_SAME, _SLOWER, _TWICE, _ALONE),
            practice=(_SAME, _SLOWER, _FASTER, _TWICE, _ALONE, _SLOWER, _TWICE),
        ),
    },
)
