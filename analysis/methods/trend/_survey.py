"""Find where the level of each benchmark changes over versions or dates."""

from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import pairwise
from math import inf, sqrt
from statistics import fmean, median
from typing import Any

import numpy as np
from scipy import special

from analysis.arrays import Floats
from analysis.methods.options import SurveyOptions, with_keywords
from analysis.methods.points import DETECTORS, LEAST_VERSIONS, NONE, ROUNDING, STEPS, find_levels, on_log_scale
from analysis.methods.trend._newest import (
    ALPHA_NEWEST,
    LEAST_BEFORE,
    N_NEWEST,
    NewestStep,
    n_of_last_level,
    newest_step,
    numbers_of,
    single_versions,
    stated_power,
    t_quantile,
)
from analysis.runs.benchmark import (
    ALTERED,
    COMMIT_DATE,
    CONTEXT,
    EVERY_ITERATION,
    FASTER,
    MACHINE,
    SLOWER,
    TIME,
    Benchmark,
    LeftOut,
    PerRun,
    by_level,
    dated,
    history_key,
    in_direction,
    in_time_order,
    is_factor,
    natural,
    sorted_by_name,
)

N_UNCHANGED = 200  # simulated histories for the rate of false changes
LEVEL = 0.95
SEPARATE = (ALTERED, CONTEXT)  # conditions with a history each, and so has each factor
DEFAULT_DETECTOR = STEPS
TREND_DETECTORS = tuple(name for name in DETECTORS if name != NONE)
ENOUGH_RUNS = 3  # with fewer runs, the newest version alone must be measured again
LEAST_PREFIX = 7  # characters of a commit by which a person may name it


@dataclass(frozen=True)
class VersionChange:
    """A change of the level."""

    version: str  # the first version of the new level
    previous: str  # the version before it
    change: float | None  # new level / old level - 1, of geometric means over versions; None if the old level is 0
    low: float | None  # 95 % interval of the change; None if it is unknown
    high: float | None
    # Of the detector `steps`, p is corrected for all places that were tried. Of another detector, p is that of Welch's
    # t test of both levels; the place was chosen because it differs, so this p is too small.
    p: float | None
    direction: str  # "slower" or "faster", or "higher" or "lower" if it is unknown which is better
    machine_changed: bool = False  # whether the recorded machine changed here too
    accepted: bool = False  # whether a person accepted this change
    n_newest: int = 0  # if the new level is only the newest one, two or three versions: their number; otherwise 0
    since: str = ""  # the first version of the old level
    n_runs: int = 0  # number of runs of the newest version of the new level

    @property
    def is_known(self) -> bool:
        """Return whether it is known which direction is better."""
        return self.direction in (FASTER, SLOWER)

    @property
    def is_worse(self) -> bool:
        """Return whether the new level is known to be worse."""
        return self.direction == SLOWER

    @property
    def size(self) -> float:
        """Return the size of the change as a share of the old level; infinite if the old level is 0."""
        return inf if self.change is None else abs(self.change)

    @property
    def is_open(self) -> bool:
        """Return whether the newest version must be measured again, because it alone differs in one or two runs."""
        return self.n_newest == 1 and self.n_runs < ENOUGH_RUNS


@dataclass(frozen=True)
class GradualChange:
    """A drift: a line fits the history better than levels."""

    since: str  # the first and the last version of the line
    until: str
    change: float | None  # of the line, from the first to the last version; None if the first value is 0
    is_rising: bool


@dataclass(frozen=True)
class StandingOut:
    """A single version that differs from the other versions of its level; it is no change."""

    version: str
    change: float | None  # from the level; None if this is 0
    p: float  # corrected for the number of versions


@dataclass(frozen=True)
class BenchmarkTrend:
    """The history of a benchmark: one number per version, and where its level changes.

    Only the detector `steps` finds gradual changes and single versions, and states what it would find.
    """

    application: str
    name: str
    unit: str
    n_versions: int
    changes: tuple[VersionChange, ...]  # the largest first
    versions: tuple[str, ...]
    values: tuple[float, ...]
    levels: tuple[float, ...]  # the level (or the value of the line) that each version belongs to
    is_judged: bool  # whether there are enough versions to find a change
    gradual: GradualChange | None = None
    single: tuple[StandingOut, ...] = ()
    # estimated correlation of neighbouring versions, from 0 to .95
    neighbour_r: float | None = None
    # the smallest changes (as a share of the level) that this history shows with a probability of 80 %; None if unknown
    smallest_lasting: float | None = None
    smallest_newest: float | None = None  # at the newest version alone
    is_newest_judged: bool = False  # whether the last level has enough versions to judge the newest one
    failed: tuple[str, ...] = ()  # versions after the last measured one at which the benchmark failed

    @property
    def worst(self) -> float:
        """Return the size of the largest change for the worse, or of any change if there is none for the worse."""
        worse = [change.size for change in self.changes if change.is_worse and not change.machine_changed]
        return 1 + max(worse) if worse else min(max((change.size for change in self.changes), default=0.0) / 1e9, 1.0)


@dataclass(frozen=True)
class ChangeDecision:
    """What a person decided about a change: accepted as real, or refused."""

    benchmark: str
    version: str  # its name, or the first seven or more characters of its commit
    accepted: bool


@dataclass(frozen=True)
class TrendSurvey:
    """The result of `survey`."""

    benchmarks: tuple[BenchmarkTrend, ...]  # the largest change for the worse first
    detector: str
    # in how many of `n_unchanged` simulated histories without a change, of as many versions as the median
    # benchmark has, the detector found one
    n_false: int
    n_unchanged: int
    n_simulated_versions: int
    n_recent: int | None  # the changes in this many last versions decide `is_worse`; None for all
    # whether any benchmark became worse in these versions, not counting changes of the machine and accepted
    # changes
    is_worse: bool
    # whether a measurement or a stated direction could still show that a benchmark became worse in these versions
    is_inconclusive: bool
    left_out: tuple[LeftOut, ...]
    parameters: Mapping[str, object]

    @property
    def is_judged(self) -> bool:
        """Return whether at least one history has enough versions to find a change."""
        return any(trend.is_judged for trend in self.benchmarks)


@dataclass(frozen=True, kw_only=True)
class TrendOptions(SurveyOptions):
    """The options of `survey`."""

    per_run: PerRun = EVERY_ITERATION
    detector: str = field(default=DEFAULT_DETECTOR, metadata={
        "choices": TREND_DETECTORS, "label": "Detector",
        "help": "Detector of changes. Only steps judges the newest versions.",
    })  # fmt: skip
    within: int | None = field(default=None, metadata={
        "within": "[1, )", "metavar": "N",
        "help": "With --fail-on, only changes in the last N versions count [default: all]. Those of the newest "
        "versions always count.",
    })  # fmt: skip
    decisions: Sequence[ChangeDecision] = field(default=(), metadata={
        "flag": "--marks", "file": True, "metavar": "FILE",
        "help": "Table with the columns benchmark, version and decision. An accepted change starts a new baseline; a "
        "refused one is no change.",
    })  # fmt: skip


@with_keywords(TrendOptions)
def survey(benchmarks: Sequence[Benchmark], options: TrendOptions) -> TrendSurvey:
    """Find where the level of each benchmark changes over versions or dates.

    `benchmarks`: runs with the condition `version` or `date`. Versions are in order of first appearance, or of their
    times if all runs have one; dates are in their order. Contexts, factors and alterations are treated separately.
    `per_run`: how to summarise each run as one number. The number of a version is the mean over its runs. `detector`:
    name of the detector, see `analysis.methods.points.DETECTORS`; only `steps` judges the newest versions and states
    its power. `within`: only changes in the last `within` versions, and those at the newest versions, decide whether a
    benchmark became worse; `decisions`: an accepted change starts a new baseline; a refused one is no change;
    `advance`: called with (done, total) after each benchmark; `mapper`: a function like the built-in `map` with one
    iterable, such as the `map` of an executor. Benchmarks without versions or dates are left out with a
    reason. Raises ValueError if the detector is unknown, or `within` is below 1.
    """
    detector, within, decisions = options.detector, options.within, options.decisions
    if detector not in DETECTORS:
        raise ValueError(f"detector must be one of {', '.join(DETECTORS)}; got {detector!r}")
    if within is not None and within < 1:
        raise ValueError(f"within must be at least 1, got {within}")
    measured = [level for each in sorted_by_name(map(dated, benchmarks)) for level in by_level(each, _separate(each))]
    read = [(benchmark, _history(benchmark, options.per_run, decisions)) for benchmark in measured]
    histories = [history for _, history in read if isinstance(history, _History)]
    left_out = [LeftOut(benchmark.name, reason) for benchmark, reason in read if isinstance(reason, str)]
    n_judged = sum(len(history.versions) >= LEAST_VERSIONS for history in histories)
    found = []
    for trend in options.mapper(partial(_trend, detector, n_judged), histories):
        found.append(trend)
        options.advance(len(found), len(histories))
    found = _with_failures(found, histories)
    judged = [trend.n_versions for trend in found if trend.is_judged]
    n = int(median(judged)) if judged else 0
    recent = [change for trend in found for change in trend.changes if _counts(trend, change, within)]
    is_worse = any(change.is_worse and not change.is_open for change in recent)
    return TrendSurvey(
        tuple(sorted(found, key=lambda trend: (-trend.worst, natural(trend.name)))),
        detector,
        false_changes(detector, n),
        N_UNCHANGED,
        n,
        within,
        is_worse,
        not is_worse
        and (
            any(change.is_open or not change.is_known for change in recent if change.direction != FASTER)
            or any(trend.failed for trend in found)
        ),
        tuple(left_out),
        options.parameters | {"decisions": len(decisions)},
    )


@lru_cache(maxsize=32)
def false_changes(detector: str, n_versions: int) -> int:
    """Return in how many of 200 histories of independent normal numbers the detector finds a change.

    A step at the newest versions counts as a change.
    """
    rng = np.random.default_rng(1)
    return sum(_finds_change(detector, rng.normal(1, 0.01, n_versions)) for _ in range(N_UNCHANGED))


def _finds_change(detector: str, values: Floats) -> bool:
    if detector != STEPS:
        return bool(DETECTORS[detector](values))
    if len(values) < LEAST_VERSIONS:
        return False
    numbers = numbers_of(on_log_scale(values), range(len(values)))
    levels = find_levels(numbers.means, numbers.variance)
    newest = newest_step(numbers, levels)
    return bool(levels.starts) or (newest is not None and newest.p <= ALPHA_NEWEST)


def _separate(benchmark: Benchmark) -> tuple[str, ...]:
    """Return the conditions with a history each; a context that is made of the factors has them already."""
    has_context = any(CONTEXT in run.conditions for run in benchmark.runs)
    return (*SEPARATE, *filter(is_factor, benchmark.conditions)) if has_context else SEPARATE


@dataclass(frozen=True)
class _History:
    benchmark: Benchmark
    key: str
    versions: list[str]
    of_run: Floats  # one number per run
    places: list[int]  # of the version of each run
    accepted: frozenset[int]
    refused: frozenset[int]

    @property
    def values(self) -> Floats:
        """One number per version."""
        at = np.asarray(self.places)
        return np.array([fmean(self.of_run[at == place]) for place in range(len(self.versions))])

    @property
    def is_positive(self) -> bool:
        return bool(self.of_run.min() > 0)

    @property
    def parts(self) -> list[tuple[int, int]]:
        """The ranges of versions between accepted changes."""
        return list(pairwise(sorted({0, *self.accepted, len(self.versions)})))

    def share(self, step: float, level: float) -> float | None:
        """Return a step on the scale of the detector as a share of its old level; None if this is 0."""
        if self.is_positive:
            return float(np.expm1(step))
        return step / abs(level) if level else None


def _history(benchmark: Benchmark, per_run: PerRun, decisions: Sequence[ChangeDecision]) -> _History | str:
    key = history_key(benchmark)
    if key is None:
        return "its runs have no versions, and no times on more than one day"
    try:
        numbers = per_run.values(benchmark.runs)
    except ValueError as error:
        return str(error)
    versions = in_time_order(benchmark)
    places = {version: at for at, version in enumerate(versions)}
    own: dict[int, bool] = {}
    for decision in decisions:
        if decision.benchmark == benchmark.name:
            at = _place_of(decision.version, places)
            if at is None:
                return f"a decision names the version {decision.version}, which was not measured"
            own[at] = decision.accepted
    return _History(
        benchmark,
        key,
        versions,
        np.asarray(numbers, dtype=np.float64),
        [places[version] for version in benchmark.of(key)],
        frozenset(at for at, is_accepted in own.items() if is_accepted and at > 0),
        frozenset(at for at, is_accepted in own.items() if not is_accepted),
    )


def _place_of(name: str, places: Mapping[str, int]) -> int | None:
    """Return the place of a version by its name, or by the beginning of its name if only one begins so."""
    if name in places:
        return places[name]
    fitting = [at for version, at in places.items() if len(name) >= LEAST_PREFIX and version.startswith(name)]
    return fitting[0] if len(fitting) == 1 else None


def _trend(detector: str, n_judged: int, history: _History) -> BenchmarkTrend:
    if len(history.versions) < DETECTORS[detector].least:
        return _result(history, [_Step(at) for at in history.accepted], is_judged=False)
    if detector == STEPS:
        return _with_steps(history, n_judged)
    marks = set(history.accepted)
    for start, end in history.parts:
        marks.update(start + mark for mark in DETECTORS[detector](history.values[start:end]))
    return _result(history, [_Step(at) for at in marks])


@dataclass(frozen=True)
class _Step:
    """A place where the level changes, and what the detector `steps` says about it."""

    at: int
    p: float | None = None
    widening: float = 1.0  # of the interval
    newest: NewestStep | None = None  # if it was found as a step at the newest versions, and not as a level


def _result(history: _History, steps: Sequence[_Step], **more: Any) -> BenchmarkTrend:
    benchmark, values = history.benchmark, history.values
    kept = sorted((step for step in steps if step.at not in history.refused), key=lambda step: step.at)
    bounds = [0, *(step.at for step in kept), len(values)]
    changes = [
        _change(history, values, at, step)
        for step, at in zip(kept, zip(bounds, bounds[1:], bounds[2:], strict=False), strict=True)
    ]
    levels = np.repeat([_level(values[a:b]) for a, b in pairwise(bounds)], np.diff(bounds))
    for start, line in more.pop("lines", ()):
        end = min([start + len(line), *(step.at for step in kept if step.newest)])
        levels[start:end] = line[: end - start]
    return BenchmarkTrend(
        benchmark.application,
        benchmark.name,
        benchmark.unit,
        len(values),
        tuple(sorted(changes, key=lambda change: -change.size)),
        tuple(history.versions),
        tuple(values.tolist()),
        tuple(levels.tolist()),
        **{"is_judged": True, **more},
    )


def _with_steps(history: _History, n_judged: int) -> BenchmarkTrend:
    """Return the history with what the detector `steps` finds in each part between accepted changes."""
    versions = history.versions
    of_run = np.log(history.of_run) if history.is_positive else history.of_run
    at = np.asarray(history.places)
    steps = [_Step(place) for place in history.accepted]
    single: list[StandingOut] = []
    gradual, lines = None, []
    for start, end in history.parts:
        is_inside = (at >= start) & (at < end)
        numbers = numbers_of(of_run[is_inside], at[is_inside] - start)
        levels = find_levels(numbers.means, numbers.variance)
        steps += [_Step(start + place, p, levels.widening) for place, p in zip(levels.starts, levels.p, strict=True)]
        if levels.line:
            first, last = levels.line
            share = history.share(last - first, first)
            gradual = GradualChange(versions[start], versions[end - 1], share, last > first)
            line = np.linspace(first, last, end - start)
            lines.append((start, np.exp(line) if history.is_positive else line))
        single += [
            StandingOut(versions[start + one.at], history.share(one.step, float(numbers.means.mean())), one.p)
            for one in single_versions(numbers, levels)
        ]
    n_last = n_of_last_level(numbers, levels)
    newest = newest_step(numbers, levels) if n_last > N_NEWEST else None
    if newest and n_judged * newest.p <= ALPHA_NEWEST and len(versions) - newest.n not in history.refused:
        steps.append(_Step(len(versions) - newest.n, n_judged * newest.p, newest=newest))
        single = [one for one in single if one.version not in versions[-newest.n :]]
        numbers = numbers.before(newest.n)  # the step is no noise
        levels = find_levels(numbers.means, numbers.variance)
    power = stated_power(numbers, levels, n_judged)
    level = float(numbers.means[-n_of_last_level(numbers, levels) :].mean())
    return _result(
        history,
        steps,
        lines=lines,
        gradual=gradual,
        single=tuple(single),
        neighbour_r=levels.r,
        smallest_lasting=None if power.lasting is None else history.share(power.lasting, level),
        smallest_newest=None if power.newest is None else history.share(power.newest, level),
        is_newest_judged=n_last > LEAST_BEFORE or (bool(levels.starts) and n_last <= N_NEWEST),
    )


def _change(history: _History, values: Floats, bounds: tuple[int, int, int], step: _Step) -> VersionChange:
    benchmark, versions, newest = history.benchmark, history.versions, step.newest
    before, after = values[bounds[0] : bounds[1]], values[bounds[1] : bounds[2]]
    old, new = _level(before), _level(after)
    change, low, high, p = (new - old) / abs(old) if old else None, None, None, step.p
    if newest:
        change, low, high = (history.share(each, old) for each in (newest.step, newest.low, newest.high))
    elif min(len(before), len(after)) >= 2 and min(before.min(), after.min()) > 0:
        low, high, by_welch = _welch(np.log(before), np.log(after), step.widening)
        p = by_welch if p is None else p
    n_after = bounds[2] - bounds[1]
    is_newest = newest is not None or (step.p is not None and bounds[2] == len(values) and n_after <= N_NEWEST)
    return VersionChange(
        versions[bounds[1]],
        versions[bounds[1] - 1],
        change,
        low,
        high,
        p,
        in_direction(newest.step < 0 if newest else new < old, benchmark.better),
        _machine_changed(benchmark, history.places, bounds[1]),
        bounds[1] in history.accepted,
        n_after if is_newest else 0,
        versions[bounds[0]],
        history.places.count(len(values) - 1),
    )


def _welch(before: Floats, after: Floats, widening: float) -> tuple[float | None, float | None, float | None]:
    """Return the interval of the ratio of two levels and p, from their logarithms; None if neither level varies."""
    parts = [float(level.var(ddof=1)) / len(level) for level in (before, after)]
    if sum(parts) <= ROUNDING**2:
        return None, None, None
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(level) - 1) for part, level in zip(parts, (before, after), strict=True)
    )
    step, error = float(after.mean() - before.mean()), sqrt(sum(parts)) * widening
    half = t_quantile((1 + LEVEL) / 2, freedom) * error
    p = float(2 * special.stdtr(freedom, -abs(step) / error))
    return float(np.expm1(step - half)), float(np.expm1(step + half)), p


def _level(values: Floats) -> float:
    """Return the geometric mean, or the mean if a value is not above 0."""
    return float(np.exp(np.log(values).mean())) if values.min() > 0 else float(values.mean())


def _machine_changed(benchmark: Benchmark, of_run: Sequence[int], at: int) -> bool:
    """Return whether the runs of a version record another machine than those of the version before."""
    for name in MACHINE:
        recorded = benchmark.of(name)
        before, after = (
            {text for text, place in zip(recorded, of_run, strict=True) if place == version and text}
            for version in (at - 1, at)
        )
        if before and after and before != after:
            return True
    return False


def _counts(trend: BenchmarkTrend, change: VersionChange, within: int | None) -> bool:
    """Return whether a change is recent, and neither a change of the machine nor accepted."""
    recent = trend.versions if within is None or change.n_newest else trend.versions[-within:]
    return change.version in recent and not change.machine_changed and not change.accepted


def _with_failures(found: Sequence[BenchmarkTrend], histories: Sequence[_History]) -> list[BenchmarkTrend]:
    """Add the versions after the last measured one at which a benchmark failed.

    Such a version has a later date, or is the last version of another benchmark.
    """
    last = {trend.versions[-1] for trend in found}
    return [
        replace(trend, failed=failed) if (failed := tuple(_failed_later(history, last))) else trend
        for trend, history in zip(found, histories, strict=True)
    ]


def _failed_later(history: _History, last: AbstractSet[str]) -> Iterator[str]:
    seen = set(history.versions)
    dates = [max(history.benchmark.of(name), default="") for name in (COMMIT_DATE, TIME)]
    for failure in history.benchmark.failures:
        version = failure.conditions.get(history.key, "")
        if not version or version in seen or failure.on_purpose:
            continue
        seen.add(version)
        own = [failure.conditions.get(name, "") for name in (COMMIT_DATE, TIME)]
        date, measured = next(((a, b) for a, b in zip(own, dates, strict=True) if a and b), ("", ""))
        if date > measured or (not date and version in last):
            yield version
