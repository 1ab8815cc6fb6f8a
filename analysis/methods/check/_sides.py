"""Find out how the runs of two versions were measured, on which machines, and which of them to compare."""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import floor, inf, log, log10, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.arrays import Floats, median
from analysis.document import counted
from analysis.runs.benchmark import (
    HIGHER,
    RECORDED,
    TIME,
    Benchmark,
    PerRun,
    Run,
    by_level,
    canonical,
    in_unit,
    one_of_each,
    sorted_by_name,
)
from analysis.runs.comparison import TIMES
from analysis.statistics.two_samples import t_tail
from analysis.text import percent

CPU, RUNTIME, BUILD = ALLOWED = ("cpu", "runtime", "build")  # "cpu" includes the architecture and GOMAXPROCS
# What decides whether machines differ -> the conditions that name it; the first known condition counts.
PARTS: Mapping[str, tuple[str, ...]] = {
    "CPU": (f"{RECORDED}cpu", f"{RECORDED}processor"),
    "architecture": (f"{RECORDED}architecture",),
    "build": (f"{RECORDED}build",),
    "runtime": (f"{RECORDED}runtime",),
    "GOMAXPROCS": ("GOMAXPROCS",),
}
NAMED_ONLY: Mapping[str, tuple[str, ...]] = {
    "host": (f"{RECORDED}host", f"{RECORDED}machine"), "clock rate": (f"{RECORDED}clock",),
}  # fmt: skip
KIND_OF_PART = {"CPU": CPU, "architecture": CPU, "build": BUILD, "runtime": RUNTIME, "GOMAXPROCS": CPU}

Machine = tuple[str, ...]  # one text for each of `PARTS`, "" if unknown


def machine_of(run: Run) -> Machine:
    """Return what the file says about the machine of a run."""
    if not run.conditions:
        return ("",) * len(PARTS)
    return tuple(_first(run, names) for names in PARTS.values())


def _first(run: Run, names: Sequence[str]) -> str:
    return next((run.conditions[name] for name in names if run.conditions.get(name)), "")


def machine_label(machine: Machine, others: Sequence[Machine]) -> str:
    """Name a machine by the parts in which it differs from other machines."""
    parts = [text or "unknown" for text, *rest in zip(machine, *others, strict=True) if len({text, *rest}) > 1]
    return ", ".join(parts)


def machine_differences(old: Machine, new: Machine) -> dict[str, tuple[str, str]]:
    """Return the parts in which two machines differ; an unknown part does not count."""
    return {
        part: (before, after)
        for part, before, after in zip(PARTS, old, new, strict=True)
        if before and after and before != after
    }


def other_conditions(old: Sequence[Run], new: Sequence[Run]) -> dict[str, tuple[str, str]]:
    """Return differences that are named but do not decide anything, such as another host name."""
    found = {}
    for part, names in NAMED_ONLY.items():
        sides = [sorted({_first(run, names) for run in runs} - {""}) for runs in (old, new)]
        if all(sides) and sides[0] != sides[1]:
            found[part] = (", ".join(sides[0][:3]), ", ".join(sides[1][:3]))
    return found


def describe_machines(found: Mapping[str, tuple[str, str]]) -> str:
    """Describe differences in words, such as "CPU: A, then B"."""
    return "; ".join(f"{part}: {old} for the baseline, {new} for the candidate" for part, (old, new) in found.items())


N_TELLING = 5  # two runs with so many distinct values are not equal by chance
N_EQUAL = 3  # so many equal runs of one value are not equal by chance, if no two runs of the same side are equal


def same_runs(old: Sequence[Run], new: Sequence[Run]) -> tuple[list[int], list[int]]:
    """Return the positions of the runs of each side that are also on the other side.

    Runs are the same if they have the same measurements and, if known, the same time. Runs with fewer than five
    distinct values can be equal by chance, so there they count only if the files give their times, or if all runs of
    the smaller side (or five runs) are equal and no two runs of one side are.
    """
    keys = [[_key(run) for run in side] for side in (old, new)]
    shared = Counter(keys[0]) & Counter(keys[1])
    if not shared:
        return [], []
    runs = dict(zip(keys[0], old, strict=True))
    n_shared = sum(shared.values())
    are_distinct = all(len(set(side)) == len(side) for side in keys)
    all_or_many = n_shared >= min(len(old), len(new), N_TELLING) and n_shared >= N_EQUAL
    are_telling = are_distinct and all_or_many
    for key in list(shared):
        run = runs[key]
        if not (are_telling or run.conditions.get(TIME) or len(np.unique(run.values)) >= N_TELLING):
            del shared[key]
    return _places(keys[0], shared), _places(keys[1], shared)


def _key(run: Run) -> Hashable:
    return np.ascontiguousarray(run.values, dtype="<f8").tobytes(), run.conditions.get(TIME, "")


def _places(keys: Sequence[Hashable], shared: Counter[Hashable]) -> list[int]:
    left, places = Counter(shared), []
    for at, key in enumerate(keys):
        if left[key] > 0:
            left[key] -= 1
            places.append(at)
    return places


BY_TURNS, IN_BLOCKS, SESSIONS, UNKNOWN = DESIGNS = ("by turns", "in blocks", "sessions", "unknown")
STEP = f"{RECORDED}step"  # the position of a run in a measurement plan
APART = 10  # a gap of more median gaps than this separates two sessions
LEVEL = 0.05
SHARED = 0.3  # share of the variation from run to run that all benchmarks have in common
FEW_BENCHMARKS, FEW_RUNS = 3, 5
HALF = 0.5
MOVED_WITH = 0.25  # if the rest of a suite moved by this part of a change, the change can be the machine's

_ZONE = re.compile(r"(?<=\d)(?:([+-])(\d\d):?(\d\d)|Z)$")  # of a time in ISO 8601

Groups = NDArray[np.intp]


@dataclass(frozen=True)
class RunDesign:
    """How the runs of two versions were measured."""

    kind: str = UNKNOWN  # one of `DESIGNS`
    is_mixed: bool = False  # whether the order is between blocks and turns, and is treated as blocks
    # The group of each run of the baseline and of the candidate. For sessions, a group is a session of one side. For
    # all other designs, it is a stratum that has runs of both sides.
    groups: tuple[Groups, Groups] | None = None

    @property
    def n_sessions(self) -> int | None:
        """Return the number of sessions of the side that has fewer sessions; None for all other designs."""
        if self.kind != SESSIONS or self.groups is None:
            return None
        return min(len(np.unique(side)) for side in self.groups)


def times_of(runs: Sequence[Run]) -> Floats | None:
    """Return the time or position of each run as a number; return None if it is unknown for a run."""
    for condition in (TIME, STEP):
        texts = [run.conditions.get(condition, "") for run in runs]
        if all(texts):
            times = [_number(text) for text in texts]
            return None if None in times else np.array(times, dtype=np.float64)
    return None


@lru_cache(maxsize=100_000)
def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        pass
    zone = _ZONE.search(text)
    try:
        time = np.datetime64(text[: zone.start()] if zone else text, "us")
    except ValueError:
        return None
    if np.isnat(time):
        return None
    offset = int(f"{zone[1]}1") * (3600 * int(zone[2]) + 60 * int(zone[3])) if zone and zone[1] else 0
    return float(time.astype(np.int64)) / 1e6 - offset


def design_of(baseline: Floats | None, candidate: Floats | None) -> RunDesign:
    """Return the design of two sets of runs with these times, at least one on each side."""
    if baseline is None or candidate is None:
        return RunDesign()
    times = np.concatenate([baseline, candidate])
    if times.min() == times.max():
        return RunDesign()
    is_candidate = np.arange(len(times)) >= len(baseline)
    order = np.lexsort((is_candidate, times))
    groups = np.empty(len(times), dtype=np.intp)
    groups[order] = _sessions(times[order])
    sides = groups[~is_candidate], groups[is_candidate]
    of_both = np.intersect1d(*sides)
    if not len(of_both) and min(len(np.unique(side)) for side in sides) > 1:
        return RunDesign(SESSIONS, groups=sides)
    n, n_changes = min(len(baseline), len(candidate)), int((np.diff(is_candidate[order]) != 0).sum())
    strata = sides if len(of_both) > 1 else None
    if n_changes >= max(n / 2, 3) and not _is_earlier(times, is_candidate):
        return RunDesign(BY_TURNS, groups=strata)
    return RunDesign(IN_BLOCKS, is_mixed=n_changes > 2, groups=strata)


def _sessions(ascending: Floats) -> Groups:
    """Number the groups of times that are separated by unusually long gaps."""
    gaps = np.diff(ascending)
    longer = gaps[gaps > 0]
    usual = float(median(longer)) if len(longer) else 0.0
    return np.concatenate([[0], np.cumsum(gaps > APART * usual)])


def _is_earlier(times: Floats, is_candidate: NDArray[np.bool_]) -> bool:
    """Return whether one side was measured earlier as a whole, by the rank-sum test."""
    from analysis.statistics.two_samples import MANN_WHITNEY, p_values

    p = p_values(times[~is_candidate][None], times[is_candidate][None], MANN_WHITNEY)
    return bool(p[0] < LEVEL)


@dataclass(frozen=True)
class SharedNoise:
    """What the benchmarks of a suite have in common."""

    share: float | None = None  # share of the variation from run to run that all benchmarks have in common
    correlation: float | None = None  # of run i of the baseline with run i of the candidate, pooled over the suite
    has_trend: bool = False  # whether the runs of a side become slower or faster with time
    n_benchmarks: int = 0
    n_runs: int = 0  # of the smaller side
    shift: float | None = None  # median of the natural logarithms of the ratios, if the whole suite moved

    @property
    def why(self) -> str:
        """Return why a change that was measured in blocks can come from the machine; return "" if it cannot."""
        if self.shift is not None:
            about = f"{100 * np.expm1(self.shift):+.1f} %".replace("-", "−")
            return (
                f"most of the {self.n_benchmarks} benchmarks moved together (the median by {about}), as a change of "
                "the machine would do"
            )
        if self.share is not None and self.share > SHARED:
            return f"{percent(self.share)} of the variation from run to run is common to all benchmarks"
        if self.has_trend:
            return "the runs of a version change with time"
        if self.n_benchmarks < FEW_BENCHMARKS:
            return "with fewer than three benchmarks, a change of the machine cannot be excluded"
        if self.n_runs < FEW_RUNS:
            return "with fewer than five runs of each version, a change of the machine cannot be excluded"
        return ""


def shared_noise(sides: Sequence[tuple[Floats, Floats]]) -> SharedNoise:
    """Compute what the benchmarks of a suite have in common, from one number per run.

    Each side has the runs of one version in order of time, and a slower machine gives higher numbers. Benchmarks with
    values that are not positive, and benchmarks with an unusual number of runs, are left out.
    """
    usable = [pair for pair in sides if min(map(len, pair)) > 1 and min(side.min() for side in pair) > 0]
    if not usable:
        return SharedNoise(n_benchmarks=len(sides))
    shapes = [(len(old), len(new)) for old, new in usable]
    shape = max(dict.fromkeys(shapes), key=shapes.count)
    usable = [pair for pair, size in zip(usable, shapes, strict=True) if size == shape]
    logs = [np.log(np.array([pair[side] for pair in usable])) for side in (0, 1)]
    residuals = [side - side.mean(axis=1, keepdims=True) for side in logs]
    shifts = logs[1].mean(axis=1) - logs[0].mean(axis=1)
    return SharedNoise(
        share=_common_share(residuals),
        correlation=_correlation(*residuals) if shape[0] == shape[1] else None,
        has_trend=_has_trend(residuals),
        n_benchmarks=len(sides),
        n_runs=min(shape),
        shift=moved(shifts),
    )


def moved(shifts: Floats) -> float | None:
    """Return the median of the logarithms of ratios if a suite moved as a whole, and None if it did not.

    A t test on all benchmarks, or on all but the fifth at each end, must show a common shift, and the median must be at
    least half of the mean, so that a few benchmarks that changed much do not count as the suite.
    """
    n, ascending = len(shifts), np.sort(shifts)
    if n < FEW_BENCHMARKS:
        return None
    centre = float(median(shifts))
    for n_cut in {0, n // 5}:
        inner = ascending[n_cut : n - n_cut]
        spread = float(np.clip(ascending, inner[0], inner[-1]).std(ddof=1)) * n / len(inner)
        mean = float(inner.mean())
        is_shift = t_tail(mean / spread * sqrt(n) * len(inner) / n, len(inner) - 1) < LEVEL if spread else mean != 0
        if is_shift and centre / mean >= HALF:
            return centre
    return None


def _common_share(residuals: Sequence[Floats]) -> float | None:
    """Return the mean correlation of two benchmarks over the runs of a side; None for a single benchmark."""
    both = np.concatenate(residuals, axis=1)
    norm = np.sqrt((both**2).sum(axis=1, keepdims=True))
    units = (both / np.where(norm > 0, norm, 1))[norm[:, 0] > 0]
    k = len(units)
    if k < 2:
        return None
    return round(float(((units.sum(axis=0) ** 2).sum() - k) / (k * (k - 1))), 3)


def _correlation(old: Floats, new: Floats) -> float | None:
    norms = np.sqrt((old**2).sum(axis=1) * (new**2).sum(axis=1))
    varied = norms > 0
    return round(float(((old * new).sum(axis=1)[varied] / norms[varied]).mean()), 3) if varied.any() else None


def _has_trend(residuals: Sequence[Floats]) -> bool:
    """Return whether the mean of all benchmarks rises or falls within a side, at a level of 5 % for both sides."""
    for side in residuals:
        norm = side.std(axis=1, keepdims=True)
        common = (side / np.where(norm > 0, norm, 1)).mean(axis=0)
        n = len(common)
        places = np.arange(n) - (n - 1) / 2
        norms = sqrt(float((common**2).sum() * (places**2).sum()))
        if n < 4 or not norms:
            continue
        r = min(abs(float(common @ places)) / norms, 1 - 1e-12)
        if t_tail(r * sqrt((n - 2) / (1 - r * r)), n - 2) < LEVEL / 2:
            return True
    return False


def stands_alone(low: float, high: float, others: Sequence[float], limit: float) -> bool:
    """Return whether a change is too large for a change of the machine, and the rest of the suite did not move with it.

    `low` and `high` are the interval of the ratio candidate / baseline, `others` the ratios of the other benchmarks,
    and `limit` the share that the whole interval must exceed.
    """
    if not (low > 1 + limit or 0 < high < 1 / (1 + limit)):
        return False
    if not others:
        return True
    change = log(low if low > 1 else high)
    rest = float(median(np.log(others)))
    return rest / change < MOVED_WITH


MIN_SESSIONS, FEW_SESSIONS = 3, 5
MIN_TURNS = 4  # runs of each version in strict alternation; fewer are compared without their order

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
    turns: int | None = None  # which side was measured first (0: baseline), if the two alternate strictly
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
    elif old.unit in TIMES and (negative := min(before.values.min(), after.values.min())) < 0:
        reason = f"−{-negative:g} {old.unit} is not a time"
    if reason:
        values = before.values, after.values
        return BothSides(before, after, RunDesign(), *values, is_by_turns=False, machines={}, reason=reason)
    places = [machine_of(level.benchmark.runs[0]) for level in (before, after)]
    different = machine_differences(places[0], places[1])
    sides, times = (before.values, after.values), (times_of(old.runs), times_of(new.runs))
    design = design_of(*times)
    if design.kind == UNKNOWN or times[0] is None or times[1] is None:
        return BothSides(before, after, design, *sides, is_by_turns=False, machines=different)
    if design.kind == SESSIONS and design.groups is not None and (design.n_sessions or 0) >= MIN_SESSIONS:
        old_groups, new_groups = design.groups
        means = _per_session(sides[0], old_groups), _per_session(sides[1], new_groups)
        starts = _per_session(times[0], old_groups), _per_session(times[1], new_groups)
        is_by_turns = design_of(*starts).kind == BY_TURNS
        turns = strict_turns(*starts)
        return BothSides(before, after, design, *means, is_by_turns=is_by_turns, machines=different, turns=turns)
    orders = np.lexsort((sides[0], times[0])), np.lexsort((sides[1], times[1]))
    if design.groups is not None:
        design = replace(design, groups=(design.groups[0][orders[0]], design.groups[1][orders[1]]))
    ordered = sides[0][orders[0]], sides[1][orders[1]]
    turns = strict_turns(times[0][orders[0]], times[1][orders[1]])
    is_by_turns = design.kind == BY_TURNS
    return BothSides(before, after, design, *ordered, is_by_turns=is_by_turns, machines=different, turns=turns)


def strict_turns(baseline: Floats, candidate: Floats) -> int | None:
    """Return which side was measured first (0: baseline), if each run is followed by one of the other side."""
    sides = sorted((baseline, candidate), key=lambda times: float(times[0]))
    if not 0 <= len(sides[0]) - len(sides[1]) <= 1:
        return None
    order = np.empty(len(baseline) + len(candidate))
    order[::2], order[1::2] = sides
    return (0 if sides[0] is baseline else 1) if bool((np.diff(order) > 0).all()) else None


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
    if is_paired and can_be_paired(one) and one.turns is None:
        return np.arange(len(one.old)), np.arange(len(one.new))
    return None


def turns_of(one: BothSides, is_paired: bool) -> int | None:
    """Return which side was measured first, if each run is to be compared with its neighbours.

    In strict alternation, pairs of runs would show a drift as a difference of the versions, because the second run of
    each pair is always of the same version.
    """
    is_open = is_paired and one.reason is None and (one.design.kind == SESSIONS or one.design.groups is None)
    enough = min(len(one.old), len(one.new)) >= MIN_TURNS
    return one.turns if is_open and enough else None


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
        scale = _scale(one) if wanted and one.reason is None else None
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
    size = abs(float(median(one.old)))
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
        key = operation_of(level)
        if key not in deciding or (level.unit in TIMES and deciding[key] not in TIMES):
            deciding[key] = level.unit
    if len(levels) > len(benchmarks):
        levels = sorted_by_name(levels)
    return {
        (level.application, level.name): SideRuns(
            level,
            per_run.values(level.runs),
            "" if deciding[operation_of(level)] == level.unit else level.unit or "no unit",
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
        known = [set(map(machine_of, one_of_each(levels[key].benchmark.runs))) for levels in (before, after)]
        if max(map(len, known), default=0) < 2 or not all(known):
            continue
        sides = [[machine_of(run) for run in levels[key].benchmark.runs] for levels in (before, after)]
        every, shared = known[0] | known[1], known[0] & known[1]
        old, new = before.pop(key), after.pop(key)
        for machine in sorted(shared or every):
            others = [other for other in every if other != machine]
            name = f"{new.benchmark.name} @ {machine_label(machine, others)}"
            for levels, level, side in ((before, old, sides[0]), (after, new, sides[1])):
                places = [at for at, entry in enumerate(side) if entry == machine]
                if places:
                    levels[key[0], name] = _take(level, places, name)
        for machine in sorted(every - shared) if shared else ():
            others = [other for other in every if other != machine]
            unpaired[machine_label(machine, others)].append(new.benchmark.name)
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


def operation_of(level: Benchmark) -> tuple[Any, ...]:
    """Return a key that identifies the measured operation.

    The key does not contain the unit, because files may measure one operation in several units.
    """
    suffix = level.name.partition(" @ ")[2]
    return level.application, level.benchmark, tuple(sorted(level.parameters.items())), suffix
