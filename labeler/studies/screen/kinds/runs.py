"""Items that show all runs of a benchmark, with the built-in question *similar*."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.arrays import Series
from analysis.categories import DISSIMILAR, SIMILAR
from analysis.runs import schemes
from analysis.runs.benchmark import ALTERED, TIME, VERSION, Benchmark, by_level
from analysis.text import counted
from labeler.studies import questions
from labeler.studies.model import Protocol
from labeler.studies.screen import binning, blinding, thumbnails
from labeler.studies.screen.kinds.kind import (
    CheckRecipe,
    ExampleSet,
    ItemKind,
    NewItem,
    NotAnItem,
    Payload,
    Recipe,
    RunSelection,
)

LEVELS = (ALTERED, VERSION)  # conditions that distinguish different software, whose runs are not repetitions
N_COLUMNS, MIN_HEIGHT = 5, 4  # of the panels of a small picture; in pixels
MIN_NEIGHBOURS, SHARE_NEIGHBOURS = 10, 0.05  # iterations of a part of a run, at least, and as a share of the run

Change = Callable[[list[Series], np.random.Generator], list[Series]]


def items(benchmark: Benchmark, selection: RunSelection) -> list[NewItem]:
    """Split a benchmark into one item per version or altered method, because their runs are not repetitions.

    A version with only one run is left out. If every version has only one run and the runs come from several files, the
    runs are combined as if their versions were unknown. Raises NotAnItem if there is only one run.
    """
    new_items: list[NewItem] = [(_without_time(benchmark), ())]
    for condition in LEVELS:
        new_items = [
            (level, (*before, *warnings))
            for part, before in new_items
            for level, warnings in _levels(part, condition, selection)
        ]
    return new_items


def _without_time(benchmark: Benchmark) -> Benchmark:
    """Return a benchmark without the start times of its runs, which would otherwise be a measurement condition."""
    if not any(run.of(TIME) for run in benchmark.runs):
        return benchmark
    runs = (
        replace(run, conditions={name: text for name, text in run.conditions.items() if name != TIME})
        for run in benchmark.runs
    )
    return replace(benchmark, runs=tuple(runs))


def _levels(benchmark: Benchmark, condition: str, selection: RunSelection) -> list[NewItem]:
    """Split a benchmark by the values of a condition; return one new item per value, with warnings."""
    entries = benchmark.of(condition)
    if len(set(entries)) < 2:
        if len(benchmark.runs) < 2:
            raise NotAnItem(f"only one run, but a comparison needs at least two runs. {selection.more_runs}")
        return [(benchmark, ())]
    levels = {level.of(condition)[0]: level for level in by_level(benchmark, [condition])}
    several = {entry: level for entry, level in levels.items() if len(level.runs) > 1}
    if not several and selection.n_files > 1:
        return [(benchmark, (f"only one run per {condition}, so all {len(entries)} runs are combined in one item",))]
    if not several:
        raise NotAnItem(f"only one run per {condition}, but a comparison needs at least two runs")
    n_items = counted(len(several), "item")
    warnings = [f"each value of {condition} becomes a separate item: {n_items}"]
    warnings += [f"{condition} {entry!r} has only one run and is left out" for entry in levels if entry not in several]
    return [(_as_item(benchmark, level, condition, entry), tuple(warnings)) for entry, level in several.items()]


def _as_item(benchmark: Benchmark, level: Benchmark, condition: str, entry: str) -> Benchmark:
    """Return the benchmark that has only the runs with one value of a condition.

    The runs have the condition even if its value is empty. The failures that may belong to this value are included.
    """
    runs = tuple(replace(run, conditions={**run.conditions, condition: entry}) for run in level.runs)
    failures = (failure for failure in benchmark.failures if failure.conditions.get(condition, entry) == entry)
    return replace(level, runs=runs, failures=tuple(failures))


def payload(benchmark: Benchmark, protocol: Protocol) -> dict[str, Any]:
    """Return the bins and windows of all runs (see `labeler.studies.screen.binning.payload`)."""
    return binning.payload(benchmark.values, benchmark.unit, rule=protocol.axis_rule, min_span=protocol.min_span)


def panels(payload: Payload, **_sides: Any) -> list[dict[str, Any]]:
    """Return one panel with all runs."""
    return [{"kind": "runs", **payload}]


def thumbnail(payload: Payload, *, label: str, panel: tuple[int, int] = (34, 26), height: int | None = None) -> str:
    """Draw all runs as small panels; with `height`, the panels become lower, so that the picture fits."""
    if height is not None:
        n_rows = -(-len(payload["runs"]) // N_COLUMNS)
        panel = panel[0], max(height // n_rows - thumbnails.GAP, MIN_HEIGHT)
    return thumbnails.svg(payload, label=label, panel=panel)


def chart(payload: Payload, *, rule: str | None = None) -> Any:
    """Return a chart of all runs as small panels."""
    from labeler.studies.screen import charts

    return charts.runs(payload, rule=rule)


def medians(payload: Payload) -> Series:
    """Return the median of each run, from the stored quantiles, because reading all measurements takes too long."""
    at = payload["percentiles"].index(50)
    return np.array([binning.unpacked(run["quantiles"])[at] for run in payload["runs"]])


def _item(change: Change) -> Callable[[list[Series], np.random.Generator], Benchmark]:
    return lambda runs, rng: Benchmark.of_series("example", change(runs, rng))


def _as_they_are(runs: list[Series], _rng: np.random.Generator) -> list[Series]:
    return runs


def _one_slower(share: float) -> Change:
    def change(runs: list[Series], rng: np.random.Generator) -> list[Series]:
        chosen = int(rng.integers(len(runs)))
        return [run * (1 + share) if i == chosen else run for i, run in enumerate(runs)]

    return change


def _two_levels(share: float) -> Change:
    def change(runs: list[Series], rng: np.random.Generator) -> list[Series]:
        chosen = set(rng.choice(len(runs), 4, replace=False).tolist())
        return [run * (1 + share) if i in chosen else run for i, run in enumerate(runs)]

    return change


def _spikes(runs: list[Series], rng: np.random.Generator) -> list[Series]:
    return [np.where(rng.random(len(run)) < 0.002, run * rng.uniform(1.3, 2.5, len(run)), run) for run in runs]


def _noisier(runs: list[Series], rng: np.random.Generator) -> list[Series]:
    chosen = int(rng.integers(len(runs)))
    return [run * (1 + rng.normal(0, 0.04, len(run))) if i == chosen else run for i, run in enumerate(runs)]


def _steps(runs: list[Series], rng: np.random.Generator) -> list[Series]:
    chosen = rng.choice(len(runs), 3, replace=False).tolist()
    eighths = rng.choice(np.arange(2, 7), 3, replace=False).tolist()  # each step at a different time
    after = {i: len(runs[i]) * eighth // 8 for i, eighth in zip(chosen, eighths, strict=True)}
    return [
        np.where(np.arange(len(run)) >= after[i], run * 1.07, run) if i in after else run for i, run in enumerate(runs)
    ]


def _longer_warmup(runs: list[Series], rng: np.random.Generator) -> list[Series]:
    chosen = int(rng.integers(len(runs)))
    return [run * (1 + 0.25 * np.exp(-np.arange(len(run)) / 200)) if i == chosen else run for i, run in enumerate(runs)]


def alike(run: Series, rng: np.random.Generator, share: float = 0.0) -> Series:
    """Return a run like another run, longer by a share: each iteration is drawn from the same short part of the run."""
    n = max(MIN_NEIGHBOURS, round(SHARE_NEIGHBOURS * len(run)))
    parts = (run[start : start + n] for start in range(0, len(run), n))
    return np.concatenate([part[rng.integers(len(part), size=len(part))] for part in parts]) * (1 + share)


def _one_much_slower(benchmark: Benchmark, rng: np.random.Generator) -> list[Series]:
    return _one_slower(0.5)(list(benchmark.values), rng)


def _one_repeated(benchmark: Benchmark, rng: np.random.Generator) -> list[Series]:
    chosen = benchmark.values[int(rng.integers(len(benchmark.values)))]
    return [alike(chosen, rng) for _ in benchmark.values]


_ALIKE = Recipe(
    "Alike",
    "These are real runs that were scaled to the same level. The differences between the runs are random. In every "
    "run, the line of medians and the band with the middle half of the iterations are at the same height.",
    SIMILAR,
    _item(_as_they_are),
)
_SPIKES = Recipe(
    "Random spikes",
    "Sometimes an iteration takes much longer. This happens at different times in each run. The medians do not change, "
    "and no run has more spikes than the others, so the runs still behave alike.",
    SIMILAR,
    _item(_spikes),
)
_ONE = Recipe(
    "One run at a different level",
    "One run takes 5 % longer from the first iteration to the last. Anyone who measured only this run would have "
    "reported a different number.",
    DISSIMILAR,
    _item(_one_slower(0.05)),
)
_LEVELS = Recipe(
    "Two levels",
    "Four of the ten runs take 4 % longer from the first iteration to the last. Each run is steady, but the runs have "
    "two levels. The result of a measurement depends on the level that a run happens to have.",
    DISSIMILAR,
    _item(_two_levels(0.04)),
)
_NOISE = Recipe(
    "One run much noisier",
    "One run varies far more than the others: its band is tall, its bar is long, and its curve is steep.",
    DISSIMILAR,
    _item(_noisier),
)
_STEPS = Recipe(
    "Steps at different times",
    "Three runs become 7 % slower, each at a different time. Press O to overlay the medians. You then see that the "
    "steps are not at the same time.",
    DISSIMILAR,
    _item(_steps),
)
_WARMUP = Recipe(
    "One long warm-up",
    "One run starts 25 % slower and takes several hundred iterations to settle. After that, all runs are alike. People "
    "disagree about such items. Follow the study's instructions. If the instructions do not cover this case, judge the "
    "runs as a whole, and judge all such items in the same way.",
    None,
    _item(_longer_warmup),
)

_SCHEMES = {
    "offset": "The two runs have the same pattern, but different levels. One run took longer, so the runs are "
    "dissimilar.",
    "double frequency": "The two runs have the same level and the same spread, but in one run the pattern repeats "
    "twice as fast. You see the difference in the panels, but not in the bars and curves.",
    "noise": "The two runs have the same level, but one run varies more. You see the difference in the bands and bars, "
    "but not in the medians.",
}


def _simulated(name: str) -> Callable[[list[Series], np.random.Generator], Benchmark]:
    def make(_runs: list[Series], rng: np.random.Generator) -> Benchmark:
        first, second = schemes.schematic_pairs(rng=rng)[name]
        return Benchmark.of_series("example", [first / 1000, second / 1000])

    return make


WHAT_TO_JUDGE = """
**What to judge.** Would each run lead to the same conclusion about the benchmark: the same level, the same spread, the
same pattern over time? All measurements show small random differences. Compare the runs with each other. It does not
matter how fast the benchmark is, or how noisy the runs are if all runs are equally noisy.
"""

SEES = """You see all runs of one benchmark on one scale, each from its first iteration to its last. The axis
covers {axis}. The grey lanes at the top and bottom show how many values are outside the axis. A bar shows the share of
a window, and the number above a panel is the share of the whole run."""
HELP = (
    "All runs of one benchmark, one panel per run, on one scale. A panel shows the run from its first iteration to its "
    "last. The dark line is the median of 50 iterations, and the pale band is their middle half. The dots are the "
    "highest and lowest values outside the band. The dashed line is the median of all runs together. Bars in the grey "
    "lanes at the top and bottom show the share of iterations beyond the axis; the share for the whole run is above "
    "the panel. At the right or below are the spread and the distribution of each run. Point at a run, or use the "
    "arrow keys, to highlight it there."
)

KIND = ItemKind(
    name="runs",
    shows="all runs of one benchmark",
    version=binning.VERSION,
    items=items,
    payload=payload,
    varied=blinding.varied,
    panels=panels,
    thumbnail=thumbnail,
    chart=chart,
    medians=medians,
    sees=SEES,
    help=HELP,
    overlay="the medians of all runs in one panel",
    questions={"similar": questions.SIMILAR},
    examples={
        "similar": ExampleSet(
            WHAT_TO_JUDGE,
            worked=(_ALIKE, _ONE, _LEVELS, _STEPS, _SPIKES, _NOISE, _WARMUP),
            practice=(_ALIKE, _ALIKE, _SPIKES, _ONE, _LEVELS, _NOISE, _STEPS),
            simulated=tuple(
                Recipe(name.capitalize(), words, DISSIMILAR, _simulated(name)) for name, words in _SCHEMES.items()
            ),
            known=(
                CheckRecipe("one run takes 50 % longer", DISSIMILAR, _one_much_slower),
                CheckRecipe("all runs are drawn anew from one run", SIMILAR, _one_repeated),
            ),
        )
    },
)
