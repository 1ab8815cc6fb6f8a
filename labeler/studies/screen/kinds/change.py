"""Items that show the runs of a benchmark before and after a change."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.arrays import Series
from analysis.runs.benchmark import ALTERED, EVERY_ITERATION, LOWER, TIME, VERSION, Benchmark, by_level, natural
from labeler.studies.model import Protocol
from labeler.studies.questions import PALETTE, Category, Question
from labeler.studies.screen import binning, blinding, thumbnails
from labeler.studies.screen.blinding import Shift, Variation
from labeler.studies.screen.kinds import runs as all_runs
from labeler.studies.screen.kinds.kind import (
    CheckRecipe,
    ExampleSet,
    ItemKind,
    NewItem,
    NotAnItem,
    Payload,
    Recipe,
    RunSelection,
    SkippedBenchmark,
)

SIDE, SIDES = "side", ("before", "after")  # the condition that says to which side a run belongs
MAX_RUNS = 100  # of a side
N_TELLING = 5  # two sides with fewer distinct values can be equal by chance
GAP = 4  # pixels between the sides of a small picture

CHANGE = Question(
    "Is B slower or faster than A?",
    (
        Category("slower", "s", "B is slower than A: its level is worse by more than chance explains.", PALETTE[0]),
        Category("no change", "c", "A and B have the same level, apart from differences that chance explains.",
                 PALETTE[1]),
        Category("faster", "q", "B is faster than A: its level is better by more than chance explains.", PALETTE[2]),
    ),
    shows="change",
    ordered=True,
    blind_side=True,
)  # fmt: skip


def items(benchmark: Benchmark, selection: RunSelection) -> list[NewItem]:
    """Return the benchmark with the runs before and after as one item per altered method.

    Runs that already have a side keep it; otherwise two versions are the sides. Raises SkippedBenchmark if one side has
    no run or too many runs, both sides are the same measurements, or it is not clear which versions to compare.
    """
    if not benchmark.levels(SIDE):
        benchmark = _with_sides(benchmark, selection)
    return [(level, _warnings(level)) for level in by_level(benchmark, [ALTERED])]


def _with_sides(benchmark: Benchmark, selection: RunSelection) -> Benchmark:
    known = benchmark.levels(VERSION)
    if selection.before is None or selection.after is None:
        has = f"it has the versions {', '.join(known)}" if known else "the versions of its runs are unknown"
        raise SkippedBenchmark(f"{has}. Say which to compare: --before NAME --after NAME")
    before, after = (benchmark.where(version=version) for version in (selection.before, selection.after))
    if before is None or after is None:
        missing = selection.before if before is None else selection.after
        raise SkippedBenchmark(
            f"it has no runs of version {missing!r}; its versions are {', '.join(known) or 'unknown'}"
        )
    return paired(before, after)


def paired(before: Benchmark, after: Benchmark) -> Benchmark:
    """Return one benchmark with the runs of both sides, first those before the change.

    Raises NotAnItem if the sides differ in unit or direction.
    """
    if (before.unit, before.better) != (after.unit, after.better):
        raise NotAnItem(f"its unit is {_unit(before)} before the change and {_unit(after)} after it")
    marked = [
        replace(run, conditions={**run.conditions, SIDE: side})
        for side, benchmark in zip(SIDES, (before, after), strict=True)
        for run in benchmark.runs
    ]
    return replace(before, runs=tuple(marked), failures=(*before.failures, *after.failures))


def _unit(benchmark: Benchmark) -> str:
    return f"{benchmark.unit or 'unknown'}{f' ({benchmark.better} is better)' if benchmark.better else ''}"


def _warnings(benchmark: Benchmark) -> tuple[str, ...]:
    """Return what is remarkable about the two sides; raise SkippedBenchmark if they make no item."""
    sides = [benchmark.where(side=side) for side in SIDES]
    for side, of_side in zip(SIDES, sides, strict=True):
        if of_side is None:
            raise SkippedBenchmark(f"it has no runs {side} the change")
        if len(of_side.runs) > MAX_RUNS:
            raise SkippedBenchmark(
                f"it has {len(of_side.runs)} runs {side} the change, and a picture shows at most {MAX_RUNS}"
            )
    before, after = (of_side for of_side in sides if of_side is not None)
    same = len(before.runs) == len(after.runs) and all(map(np.array_equal, before.values, after.values))
    if same and len(np.unique(np.concatenate(before.values))) >= N_TELLING:
        raise SkippedBenchmark("it has the same measurements before and after the change")
    times = [sorted(filter(None, of_side.of(TIME)), key=natural) for of_side in (before, after)]
    warnings = []
    if all(times) and natural(times[1][-1]) < natural(times[0][0]):
        warnings.append("all runs after the change are older than those before it: are the two sides swapped?")
    if 1 in (len(before.runs), len(after.runs)):
        warnings.append("one side has only one run, so nobody can see how much its runs vary")
    return tuple(warnings)


def neutral(benchmark: Benchmark) -> dict[str, tuple[str, ...]]:
    """Return the side of each run."""
    return {SIDE: benchmark.of(SIDE)}


def payload(benchmark: Benchmark, protocol: Protocol) -> dict[str, Any]:
    """Return the bins of all runs with common axes, the side of each run, and the mean of each run."""
    drawn = binning.payload(benchmark.values, benchmark.unit, rule=protocol.axis_rule, min_span=protocol.min_span)
    return {
        **drawn,
        "sides": [SIDES.index(side) for side in benchmark.of(SIDE)],
        "means": EVERY_ITERATION.values(benchmark.values).tolist(),
        "better": benchmark.better or LOWER,  # as the import assumes
    }


def varied(payload: Payload, runs: Sequence[Series], variation: Variation) -> dict[str, Any]:
    """Return the payload for one assignment: the order of the runs varies within each side."""
    sides = payload["sides"]
    order = sorted(variation.order, key=lambda run: sides[run])  # keeps the order within a side
    moved = blinding.varied(payload, runs, replace(variation, order=tuple(order)))
    means = Shift(payload, variation.seed)(np.array([payload["means"][run] for run in order]))
    return {**moved, "sides": [sides[run] for run in order], "means": means.tolist()}


def swapped(payload: Payload) -> dict[str, Any]:
    """Return the payload with the runs after the change first."""
    order = sorted(range(len(payload["sides"])), key=lambda run: -payload["sides"][run])
    return {
        **payload,
        "runs": [payload["runs"][run] for run in order],
        "means": [payload["means"][run] for run in order],
        "sides": [1 - payload["sides"][run] for run in order],
    }


def panels(payload: Payload, *, sides: tuple[str, str]) -> list[dict[str, Any]]:
    """Return a panel with the runs of each side, and a panel with the means of the runs of both sides."""
    common = {name: value for name, value in payload.items() if name not in ("runs", "sides", "means", "better")}

    def of(side: int, name: str) -> list[Any]:
        return [value for value, own in zip(payload[name], payload["sides"], strict=True) if own == side]

    return [
        *({"kind": "runs", **common, "title": name, "runs": of(side, "runs")} for side, name in enumerate(sides)),
        {
            "kind": "means",
            **common,
            "groups": [{"name": name, "values": of(side, "means")} for side, name in enumerate(sides)],
            "note": f"{payload['better']} is better",
        },
    ]


def thumbnail(payload: Payload, *, label: str, panel: tuple[int, int] = (34, 26), height: int | None = None) -> str:
    """Draw the runs of both sides as small panels, one side below the other."""
    parts = [
        all_runs.thumbnail(part, label=side, panel=panel, height=None if height is None else (height - GAP) // 2)
        for side, part in zip(SIDES, panels(payload, sides=SIDES), strict=False)
    ]
    return thumbnails.stacked(parts, label=label, gap=GAP)


_SLOWER, _SAME, _FASTER = CHANGE.names
Make = Callable[[list[Series], np.random.Generator], Benchmark]


def _changed(share: float, *, noise: float = 0.003) -> Make:
    """Return how to make an item from ten runs: five before, and five after that take longer by a share.

    The means of the runs of one side differ by chance, by the share `noise`.
    """

    def make(runs: list[Series], rng: np.random.Generator) -> Benchmark:
        calm = [np.minimum(run, np.percentile(run, 98)) for run in runs]  # one slow iteration can move a mean
        level = float(np.mean(calm[0]))
        alike = [run / run.mean() * level * (1 + noise * rng.standard_normal()) for run in calm]
        return _item([*alike[:5], *(run * (1 + share) for run in alike[5:])])

    return make


def _one_run(runs: list[Series], _rng: np.random.Generator) -> Benchmark:
    return _item([*runs[:9], runs[9] * 1.08])


def _item(runs: Sequence[Series]) -> Benchmark:
    return Benchmark.of_series("example", runs, conditions={SIDE: [side for side in SIDES for _ in range(5)]})


def _known(ratio: float) -> Callable[[Benchmark, np.random.Generator], list[Series]]:
    """Return how to make both sides from the runs before, with a ratio of worse to better after the change."""

    def make(benchmark: Benchmark, rng: np.random.Generator) -> list[Series]:
        sides = benchmark.of(SIDE)
        before = [run for run, side in zip(benchmark.values, sides, strict=True) if side == SIDES[0]]
        after = ratio if benchmark.better == LOWER else 1 / ratio
        factors = [(after if side == SIDES[1] else 1) * (1 + 0.003 * rng.standard_normal()) for side in sides]
        return [all_runs.alike(before[i % len(before)], rng, factor - 1) for i, factor in enumerate(factors)]

    return make


_CLEARLY_SLOWER = Recipe(
    "All runs slower",
    "Each run of the second version takes 5 % longer from the first iteration to the last, and no run of one version "
    "reaches the level of the other.",
    _SLOWER,
    _changed(0.05),
)
_CLEARLY_FASTER = Recipe(
    "All runs faster",
    "Each run of the second version takes 4 % less time, and no run of one version reaches the level of the other.",
    _FASTER,
    _changed(-0.04),
)
_UNCHANGED = Recipe(
    "Nothing changed",
    "These are ten runs of the same version that were scaled to the same level. The difference between the means comes "
    "from chance alone.",
    _SAME,
    _changed(0.0),
)
_NOISY = Recipe(
    "Noise",
    "All ten runs were moved up and down by chance, by about 2 %. A difference of the means that is smaller than the "
    "distance between the runs of one version says little.",
    _SAME,
    _changed(0.0, noise=0.02),
)
_ONE_RUN = Recipe(
    "One slow run",
    "Four of the five runs of the second version are as fast as before, and one takes 8 % longer. People disagree "
    "about such items. Follow the study's instructions. If they do not cover this case, judge what most runs do.",
    None,
    _one_run,
)

WHAT_TO_JUDGE = """
**What to judge.** Did the level of the benchmark change between the two versions? Compare the distance between the
versions with the distance between the runs of one version: a difference that is smaller than that may be chance. The
picture shows the size of the difference but no test, because the judgement is yours. If the versions are called A and
B, nobody sees which of them is the older one: this differs from item to item.
"""

KIND = ItemKind(
    name="change",
    shows="the runs of one benchmark in two versions",
    version=1,
    items=items,
    payload=payload,
    varied=varied,
    neutral=neutral,
    swapped=swapped,
    panels=panels,
    thumbnail=thumbnail,
    chart=all_runs.chart,
    medians=all_runs.medians,
    sees="You see the runs of one benchmark in two versions, all on one scale, each from its first iteration to its "
    "last. The axis covers {axis}. The grey lanes at the top and bottom show how many values are outside the axis. The "
    "panel with the means has a dot for the mean of each run, and says how much the second version differs from the "
    "first. It also says whether lower or higher is better.",
    help="The runs of one benchmark in two versions, one panel per run, on one scale. In each panel, the dark line is "
    "the median of 50 iterations, and the pale band is their middle half. The dots are the highest and lowest values "
    "outside the band. The dashed line is the median of all runs together. Bars in the grey lanes show the share of "
    "iterations beyond the axis. The last panel has a dot for the mean of each run and a line for the mean of these "
    "means, and says how much the second version differs from the first. Point at a run, or use the arrow keys, to "
    "highlight it.",
    overlay="the medians of all runs of a version in one panel",
    questions={"change": CHANGE},
    examples={
        "change": ExampleSet(
            WHAT_TO_JUDGE,
            worked=(_CLEARLY_SLOWER, _UNCHANGED, _CLEARLY_FASTER, _NOISY, _ONE_RUN),
            practice=(_CLEARLY_SLOWER, _CLEARLY_FASTER, _UNCHANGED, _UNCHANGED, _NOISY, _CLEARLY_SLOWER),
            known=(
                CheckRecipe(
                    "both sides have the runs before the change; those after are 50 % worse", _SLOWER, _known(1.5)
                ),
                CheckRecipe("both sides have the runs before the change", _SAME, _known(1.0)),
                CheckRecipe(
                    "both sides have the runs before the change; those after are a third better",
                    _FASTER,
                    _known(1 / 1.5),
                ),
            ),
        )
    },
)
