"""Items that show one benchmark over its versions or dates, to put in a category or to mark."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from analysis.benchmark import (
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
from labeler.marks import CHANGES
from labeler.model import Protocol, Series, counted
from labeler.questions import PALETTE, POINTS, Category, Question
from labeler.screen import binning, points
from labeler.screen.kinds.kind import ExampleSet, ItemKind, NewItem, Payload, Recipe, RunSelection, SkippedBenchmark

MIN_VERSIONS = 3
TRIAGE = Question(
    text="What happened in this history?",
    categories=(
        Category("regression", "r", "The level became worse and stayed there: the code is the likely cause.",
                 PALETTE[0]),
        Category("improvement", "i", "The level became better and stayed there.", PALETTE[1]),
        Category("spike", "s", "One version or a few versions in a row differ, and then the level is as before.",
                 PALETTE[2]),
        Category("unstable", "v", "The values vary so much that no level can be seen.", PALETTE[3]),
        Category("build- or machine-dependent", "b",
                 "The values jump between the same few levels, as if the build or the machine decides.", PALETTE[4]),
        Category("stable", "c", "The level is the same from the first version to the last, apart from noise.",
                 PALETTE[5]),
    ),
    shows="history",
)  # fmt: skip

N_PIECE = 50  # iterations whose median is the value of a run in the examples of *triage*
Levels = Callable[[np.random.Generator], Series]


def items(benchmark: Benchmark, _selection: RunSelection) -> list[NewItem]:
    """Return the benchmark with all its versions, as one item per altered method and context.

    Raises SkippedBenchmark if a run has neither a version nor a date, or no history has three of them.
    """
    benchmark = dated(benchmark)
    key = history_key(benchmark)
    if key is None:
        raise SkippedBenchmark(
            "its runs have neither a version nor a date. Add a column version or date, or give --from-name"
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


def _history_of_levels(
    levels: Levels, noise: float = 0.004
) -> Callable[[list[Series], np.random.Generator], Benchmark]:
    """Return how to make a history from real runs: the median of a piece of a run, times the level of its version."""

    def make(runs: list[Series], rng: np.random.Generator) -> Benchmark:
        whole = [run[: len(run) // N_PIECE * N_PIECE].reshape(-1, N_PIECE) for run in runs]
        pieces = np.median(np.concatenate(whole), axis=1)
        chosen = rng.choice(pieces, (N_VERSIONS, N_RUNS), replace=False)
        values = chosen * levels(rng)[:, np.newaxis] * (1 + noise * rng.standard_normal(chosen.shape))
        versions = [str(version) for version in range(N_VERSIONS) for _ in range(N_RUNS)]
        return Benchmark.of_series("example", values.reshape(-1, 1), conditions={VERSION: versions})

    return make


def _step(share: float) -> Levels:
    return lambda rng: np.where(np.arange(N_VERSIONS) >= rng.integers(14, 30), 1 + share, 1.0)


def _one_version(share: float) -> Levels:
    return lambda rng: np.where(np.arange(N_VERSIONS) == rng.integers(6, 34), 1 + share, 1.0)


def _same(_rng: np.random.Generator) -> Series:
    return np.ones(N_VERSIONS)


def _two_levels(rng: np.random.Generator) -> Series:
    return np.where(rng.random(N_VERSIONS) < 0.4, 1.07, 1.0)


_REGRESSION, _IMPROVEMENT, _SPIKE, _UNSTABLE, _DEPENDENT, _STABLE = TRIAGE.names
_UP = Recipe(
    "A step up",
    "From one version on, all runs take 6 % longer, and the level stays there until the last version.",
    _REGRESSION,
    _history_of_levels(_step(0.06)),
)
_DOWN = Recipe(
    "A step down",
    "From one version on, all runs take 5 % less time, and the level stays there until the last version.",
    _IMPROVEMENT,
    _history_of_levels(_step(-0.05)),
)
_ONE_BAD = Recipe(
    "One slow version",
    "All runs of one version take 12 % longer. The next version is as fast as the versions before.",
    _SPIKE,
    _history_of_levels(_one_version(0.12)),
)
_FLAT = Recipe(
    "The same level",
    "No version differs from the others; the small differences are noise.",
    _STABLE,
    _history_of_levels(_same),
)
_JUMPS = Recipe(
    "Two levels by turns",
    "Each version is on one of two levels that are 7 % apart, and all its runs are on the same level. No version "
    "begins a new level that stays.",
    _DEPENDENT,
    _history_of_levels(_two_levels),
)
_WIDE = Recipe(
    "Wide noise",
    "The runs of each version differ by up to 20 %, as much as the versions differ from each other.",
    _UNSTABLE,
    _history_of_levels(_same, noise=0.06),
)
_SMALL = Recipe(
    "A small step",
    "From one version on, all runs take 1 % longer. This is less than the runs of one version differ. People disagree "
    "about such items. Follow the study's instructions.",
    None,
    _history_of_levels(_step(0.01), noise=0.01),
)
WHAT_TO_TRIAGE = """
**What to judge.** What happened to the level of the benchmark over its versions? Look for a level that begins at one
version and stays. The runs of one version show how much values differ by chance. If several things happened, name the
one that a developer should hear of first.
"""

TRIAGE_EXAMPLES = ExampleSet(
    WHAT_TO_TRIAGE,
    worked=(_UP, _DOWN, _ONE_BAD, _JUMPS, _WIDE, _FLAT, _SMALL),
    practice=(_UP, _DOWN, _ONE_BAD, _JUMPS, _WIDE, _FLAT, _UP, _FLAT),
)


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
    questions={"triage": TRIAGE, "mark-changes": MARK_CHANGES},
    examples={
        "triage": TRIAGE_EXAMPLES,
        "mark-changes": ExampleSet(
            WHAT_TO_JUDGE,
            worked=(_SAME, _SLOWER, _TWICE, _ALONE),
            practice=(_SAME, _SLOWER, _FASTER, _TWICE, _ALONE, _SLOWER, _TWICE),
        ),
    },
)
