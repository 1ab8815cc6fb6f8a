"""The two sides of a comparison: which runs are compared, and how they were measured."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, inf, log10
from typing import Any

import numpy as np

from analysis.benchmark import HIGHER, Benchmark, PerRun, by_level, canonical, in_unit, natural
from analysis.check import _machine as machines
from analysis.check._design import BY_TURNS, SESSIONS, UNKNOWN, RunDesign, design_of, times_of
from analysis.check._same_runs import same_runs
from analysis.comparison import TIMES, Groups
from analysis.document import counted
from analysis.runs import Floats

MIN_SESSIONS, FEW_SESSIONS = 3, 5

Key = tuple[str, str]  # application and name of a benchmark


@dataclass(frozen=True)
class SideRuns:
    """The runs of a benchmark on one version in one context, and one number for each run, in the order of the runs."""

    benchmark: Benchmark
    values: Floats
    family: str


@dataclass(frozen=True)
class BothSides:
    """A benchmark of both sides: how it was measured, and one number for each run or session."""

    before: SideRuns
    after: SideRuns
    design: RunDesign
    old: Floats  # in order of time
    new: Floats
    is_by_turns: bool  # whether `old` and `new` alternate in time
    machines: Mapping[str, tuple[str, str]]  # differences between the machines
    reason: str | None = None  # why the two sides cannot be compared
    step: float = 0.0  # resolution of the timer, if the values are so few or so equal that it matters


def compare_sides(before: SideRuns, after: SideRuns, are_all_same: set[str]) -> BothSides:
    """Order the runs of both sides by time, and find out how they were measured."""
    old, new = before.benchmark, after.benchmark
    reason = None
    if not old.runs or not new.runs:
        reason = f"every run of the {'candidate' if old.runs else 'baseline'} failed"
    elif (old.unit, old.better) != (new.unit, new.better):
        reason = f"the baseline is in {in_unit(old)}, the candidate in {in_unit(new)}"
    elif new.name in are_all_same:
        reason = "the same runs are on both sides"
    if reason:
        values = before.values, after.values
        return BothSides(before, after, RunDesign(), *values, is_by_turns=False, machines={}, reason=reason)
    places = [machines.machine_of(level.benchmark.runs[0]) for level in (before, after)]
    different = machines.differences(places[0], places[1])
    sides, times = (before.values, after.values), (times_of(old.runs), times_of(new.runs))
    design = design_of(*times)
    if design.kind == UNKNOWN or times[0] is None or times[1] is None:
        return BothSides(before, after, design, *sides, is_by_turns=False, machines=different)
    if design.kind == SESSIONS and design.groups is not None and (design.n_sessions or 0) >= MIN_SESSIONS:
        old_groups, new_groups = design.groups
        means = _per_session(sides[0], old_groups), _per_session(sides[1], new_groups)
        starts = _per_session(times[0], old_groups), _per_session(times[1], new_groups)
        is_by_turns = design_of(*starts).kind == BY_TURNS
        return BothSides(before, after, design, *means, is_by_turns=is_by_turns, machines=different)
    orders = np.lexsort((sides[0], times[0])), np.lexsort((sides[1], times[1]))
    if design.groups is not None:
        design = replace(design, groups=(design.groups[0][orders[0]], design.groups[1][orders[1]]))
    ordered = sides[0][orders[0]], sides[1][orders[1]]
    return BothSides(before, after, design, *ordered, is_by_turns=design.kind == BY_TURNS, machines=different)


def _per_session(values: Floats, groups: Groups) -> Floats:
    _names, number = np.unique(groups, return_inverse=True)
    return np.asarray(np.bincount(number, values) / np.bincount(number), dtype=np.float64)


def costs_of(one: BothSides) -> tuple[Floats, Floats]:
    """Return the numbers of both sides such that a slower machine gives higher numbers; empty if this is unknown."""
    if one.after.benchmark.better != HIGHER:
        return one.old, one.new
    sides = one.old, one.new
    if min((side.min() for side in sides if len(side)), default=1.0) <= 0:
        return np.empty(0), np.empty(0)
    return 1 / one.old, 1 / one.new


def cost_ratio(one: BothSides, ratio: float | None) -> float | None:
    """Return a ratio such that a slower machine gives more than 1; None if there is no positive finite ratio."""
    if ratio is None or not 0 < ratio < inf:
        return None
    return 1 / ratio if one.after.benchmark.better == HIGHER else ratio


def strata_of(one: BothSides, is_paired: bool) -> tuple[Groups, Groups] | None:
    if one.reason is not None:
        return None
    if one.design.kind != SESSIONS and one.design.groups is not None:
        return one.design.groups
    if is_paired and can_be_paired(one):
        return np.arange(len(one.old)), np.arange(len(one.new))
    return None


def can_be_paired(one: BothSides) -> bool:
    """Return whether each run of a version has a run of the other one that was measured at about the same time."""
    has_groups = one.design.kind != SESSIONS and one.design.groups is not None
    return one.is_by_turns and len(one.old) == len(one.new) and not has_groups


def with_steps(compared: Sequence[BothSides]) -> list[BothSides]:
    """Add the resolution of the timer to the benchmarks with so few different values that it matters."""
    coarse = [at for at, one in enumerate(compared) if _may_be_coarse(one)]
    wanted = {_scale(compared[at]) for at in coarse}
    gaps: dict[tuple[str, int], float] = {}
    for one in compared:
        scale = _scale(one) if wanted else None
        if scale not in wanted or scale is None:
            continue
        runs = (*one.before.benchmark.runs, *one.after.benchmark.runs)
        values = np.unique(np.concatenate([run.values for run in runs]))
        gaps_of_one = np.diff(values)
        gaps_of_one = gaps_of_one[gaps_of_one > 1e-9 * np.abs(values[1:])]  # smaller gaps are errors of the conversion
        if len(gaps_of_one):
            gaps[scale] = min(gaps.get(scale, inf), float(gaps_of_one.min()))
    steps = {at: gaps.get(_scale(compared[at]), 0.0) for at in coarse}
    return [replace(one, step=steps[at]) if at in steps else one for at, one in enumerate(compared)]


def _may_be_coarse(one: BothSides) -> bool:
    unit = one.after.benchmark.unit
    if one.reason is not None or not (unit in TIMES or "/s" in unit):
        return False
    n, both = min(len(one.old), len(one.new)), np.concatenate([one.old, one.new])
    is_constant = any(side.min() == side.max() for side in (one.old, one.new))
    return n > 1 and (is_constant or (n <= 3 and len(np.unique(both)) < len(both)))


def _scale(one: BothSides) -> tuple[str, int]:
    """Return the unit and the power of ten: many tools print a fixed number of digits, so the step grows with it."""
    size = abs(float(np.median(one.old)))
    return one.after.benchmark.unit, floor(log10(size)) if size > 0 else 0


def has_rates_and_times(compared: Sequence[BothSides]) -> bool:
    """Return whether the suite has both rates and times, so that a slower machine moves them in both directions."""
    return len({one.after.benchmark.better == HIGHER for one in compared}) > 1


def levels_of(benchmarks: Sequence[Benchmark], per_run: PerRun) -> dict[Key, SideRuns]:
    """Return the runs to compare as a dict from (application, name) to the runs.

    The result does not depend on the order of files and rows.
    """
    levels = [level for benchmark in canonical(benchmarks) for level in by_level(benchmark)]
    deciding: dict[tuple[Any, ...], str] = {}
    for level in levels:
        key = _operation(level)
        if key not in deciding or (level.unit in TIMES and deciding[key] not in TIMES):
            deciding[key] = level.unit
    levels.sort(key=lambda level: (natural(level.application), natural(level.name)))
    return {
        (level.application, level.name): SideRuns(
            level, per_run.values(level.runs), "" if deciding[_operation(level)] == level.unit else level.unit
        )
        for level in levels
    }


def _take(level: SideRuns, places: Sequence[int], name: str | None = None) -> SideRuns:
    benchmark = level.benchmark
    taken = replace(benchmark, runs=tuple(benchmark.runs[at] for at in places), name=name or benchmark.name)
    return replace(level, benchmark=taken, values=level.values[list(places)])


def without_same_runs(before: dict[Key, SideRuns], after: dict[Key, SideRuns]) -> Iterator[tuple[str, int, bool]]:
    """Remove runs that are on both sides.

    Yield the name of each benchmark with such runs, their number, and whether no other runs remain on a side.
    """
    for key in before.keys() & after.keys():
        old, new = before[key], after[key]
        sides = same_runs(old.benchmark.runs, new.benchmark.runs)
        if not sides[0]:
            continue
        rest = [
            [at for at in range(len(level.values)) if at not in set(places)]
            for level, places in zip((old, new), sides, strict=True)
        ]
        is_empty = not all(rest)
        yield new.benchmark.name, len(sides[0]), is_empty
        if not is_empty:
            before[key], after[key] = _take(old, rest[0]), _take(new, rest[1])


def by_machine(before: dict[Key, SideRuns], after: dict[Key, SideRuns]) -> Iterator[str]:
    """Split benchmarks that were measured on several machines, so that machines are not mixed; yield sentences."""
    unpaired: dict[str, list[str]] = defaultdict(list)
    for key in sorted(before.keys() & after.keys()):
        sides = [[machines.machine_of(run) for run in levels[key].benchmark.runs] for levels in (before, after)]
        known = [set(side) for side in sides]
        if max(map(len, known), default=0) < 2 or not all(known):
            continue
        every, shared = known[0] | known[1], known[0] & known[1]
        old, new = before.pop(key), after.pop(key)
        for machine in sorted(shared or every):
            others = [other for other in every if other != machine]
            name = f"{new.benchmark.name} @ {machines.label(machine, others)}"
            for levels, level, side in ((before, old, sides[0]), (after, new, sides[1])):
                places = [at for at, entry in enumerate(side) if entry == machine]
                if places:
                    levels[key[0], name] = _take(level, places, name)
        for machine in sorted(every - shared) if shared else ():
            others = [other for other in every if other != machine]
            unpaired[machines.label(machine, others)].append(new.benchmark.name)
    for label, names in unpaired.items():
        benchmarks = counted(len(names), "benchmark")
        yield f"Only one version was measured on {label}; these runs of {benchmarks} are not used."


def with_former_names(before: dict[Key, SideRuns], after: dict[Key, SideRuns]) -> Iterator[tuple[str, str]]:
    """Match benchmarks under the names that they had in earlier results; yield (former name, name)."""
    for levels, others in ((after, before), (before, after)):
        for key, level in list(levels.items()):
            suffix = "".join(level.benchmark.name.partition(" @ ")[1:])
            formers = [former + suffix for former in level.benchmark.former_names]
            former = next((name for name in formers if (key[0], name) in others), None)
            if former is not None and key not in others and (key[0], former) not in levels:
                other = others.pop((key[0], former))
                others[key] = replace(other, benchmark=replace(other.benchmark, name=key[1]))
                yield former, key[1]


def _operation(level: Benchmark) -> tuple[Any, ...]:
    """Return a key that identifies the measured operation.

    The key does not contain the unit, because files may measure one operation in several units.
    """
    suffix = level.name.partition(" @ ")[2]
    return level.application, level.benchmark, tuple(sorted(level.parameters.items())), suffix
