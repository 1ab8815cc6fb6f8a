"""Find where the level of each benchmark changes over versions or dates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from statistics import fmean, median

import numpy as np
from scipy import stats

from analysis.arrays import Floats
from analysis.methods.points import DETECTORS
from analysis.methods.points._detectors import NONE
from analysis.runs.benchmark import (
    ALTERED,
    CONTEXT,
    EVERY_ITERATION,
    FASTER,
    MACHINE,
    SLOWER,
    Advance,
    Benchmark,
    LeftOut,
    PerRun,
    by_level,
    dated,
    history_key,
    in_direction,
    in_time_order,
    natural,
    sorted_by_name,
    unwatched,
)

N_UNCHANGED = 200  # simulated histories for the rate of false changes
LEVEL = 0.95
SEPARATE = (ALTERED, CONTEXT)  # conditions with a history each
TREND_DETECTORS = tuple(name for name in DETECTORS if name != NONE)


@dataclass(frozen=True)
class VersionChange:
    """A change of the level."""

    version: str  # the first version of the new level
    previous: str  # the version before it
    change: float  # new level / old level - 1, of geometric means over versions
    low: float | None  # 95 % interval of the change; None if a level has one version
    high: float | None
    p: float | None  # p of Welch's t test of both levels. The place was chosen because it differs, so p is too small.
    direction: str  # "slower" or "faster", or "higher" or "lower" if it is unknown which is better
    machine_changed: bool = False  # whether the recorded machine changed here too
    accepted: bool = False  # whether a person accepted this change

    @property
    def is_known(self) -> bool:
        """Return whether it is known which direction is better."""
        return self.direction in (FASTER, SLOWER)

    @property
    def is_worse(self) -> bool:
        """Return whether the new level is known to be worse."""
        return self.direction == SLOWER


@dataclass(frozen=True)
class BenchmarkTrend:
    """The history of a benchmark: one number per version, and where its level changes."""

    application: str
    name: str
    unit: str
    n_versions: int
    changes: tuple[VersionChange, ...]  # the largest first
    versions: tuple[str, ...]
    values: tuple[float, ...]
    levels: tuple[float, ...]  # the level that each version belongs to

    @property
    def worst(self) -> float:
        """Return the size of the largest change for the worse, or of any change if there is none for the worse."""
        worse = [abs(change.change) for change in self.changes if change.is_worse and not change.machine_changed]
        return 1 + max(worse) if worse else max((abs(change.change) for change in self.changes), default=0.0) / 1e9


@dataclass(frozen=True)
class ChangeDecision:
    """What a person decided about a change: accepted as real, or refused."""

    benchmark: str
    version: str
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
    left_out: tuple[LeftOut, ...]
    parameters: Mapping[str, object]


def survey(
    benchmarks: Sequence[Benchmark],
    *,
    per_run: PerRun = EVERY_ITERATION,
    detector: str = "cusum",
    within: int | None = None,
    decisions: Sequence[ChangeDecision] = (),
    advance: Advance = unwatched,
) -> TrendSurvey:
    """Find where the level of each benchmark changes over versions or dates.

    `benchmarks`: runs with the condition `version` or `date`. Versions are in order of first appearance, or of their
    times if all runs have one; dates are in their order. Contexts and alterations are treated separately. `per_run`:
    how to summarise each run as one number. The number of a version is the mean over its runs. `detector`: name of the
    detector, see `analysis.methods.points.DETECTORS`; `within`: only changes in the last `within` versions decide
    whether a benchmark became worse; `decisions`: an accepted change starts a new baseline; a refused one is no change;
    `advance`: called with (done, total) after each benchmark. Benchmarks without versions or dates are left out with a
    reason. Raises ValueError if the detector is unknown, or `within` is below 1.
    """
    if detector not in DETECTORS:
        raise ValueError(f"detector must be one of {', '.join(DETECTORS)}; got {detector!r}")
    if within is not None and within < 1:
        raise ValueError(f"within must be at least 1, got {within}")
    found, left_out = [], []
    measured = [level for each in sorted_by_name(map(dated, benchmarks)) for level in by_level(each, SEPARATE)]
    for done, benchmark in enumerate(measured):
        result = _trend(benchmark, per_run, detector, decisions)
        if isinstance(result, str):
            left_out.append(LeftOut(benchmark.name, result))
        else:
            found.append(result)
        advance(done + 1, len(measured))
    n = int(median(trend.n_versions for trend in found)) if found else 0
    return TrendSurvey(
        tuple(sorted(found, key=lambda trend: (-trend.worst, natural(trend.name)))),
        detector,
        false_changes(detector, n),
        N_UNCHANGED,
        n,
        within,
        any(_is_recent_and_worse(trend, change, within) for trend in found for change in trend.changes),
        tuple(left_out),
        {"detector": detector, "within": within, "decisions": len(decisions), "warmup": per_run.warmup,
         "aggregate": per_run.aggregate},
    )  # fmt: skip


@lru_cache(maxsize=32)
def false_changes(detector: str, n_versions: int) -> int:
    """Return in how many of 200 histories of independent normal numbers the detector finds a change."""
    rng = np.random.default_rng(1)
    return sum(bool(DETECTORS[detector](rng.normal(1, 0.01, n_versions))) for _ in range(N_UNCHANGED))


def _trend(
    benchmark: Benchmark, per_run: PerRun, detector: str, decisions: Sequence[ChangeDecision]
) -> BenchmarkTrend | str:
    key = history_key(benchmark)
    if key is None:
        return "its runs have neither a version nor a date"
    try:
        numbers = per_run.values(benchmark.runs)
    except ValueError as error:
        return str(error)
    versions = in_time_order(benchmark)
    places = {version: at for at, version in enumerate(versions)}
    of_run = [places[version] for version in benchmark.of(key)]
    values = np.array(
        [fmean(numbers[[at for at, of in enumerate(of_run) if of == place]]) for place in places.values()]
    )
    own = {decision.version: decision.accepted for decision in decisions if decision.benchmark == benchmark.name}
    unknown = [version for version in own if version not in places]
    if unknown:
        return f"a decision names the version {unknown[0]}, which was not measured"
    accepted = [places[version] for version, is_accepted in own.items() if is_accepted and places[version] > 0]
    refused = {places[version] for version, is_accepted in own.items() if not is_accepted}
    marks = [mark for mark in _detected(values, detector, accepted) if mark not in refused]
    bounds = [0, *marks, len(values)]
    changes = [
        _change(benchmark, values, versions, (a, b, c), _machine_changed(benchmark, of_run, b), b in accepted)
        for a, b, c in zip(bounds, bounds[1:], bounds[2:], strict=False)
    ]
    levels = np.repeat([_level(values[a:b]) for a, b in pairwise(bounds)], np.diff(bounds))
    return BenchmarkTrend(
        benchmark.application,
        benchmark.name,
        benchmark.unit,
        len(versions),
        tuple(sorted(changes, key=lambda change: -abs(change.change))),
        tuple(versions),
        tuple(values.tolist()),
        tuple(levels.tolist()),
    )


def _detected(values: Floats, detector: str, accepted: Sequence[int]) -> list[int]:
    """Return all changes; each accepted one starts a new history."""
    bounds = sorted({0, *accepted, len(values)})
    found = set(accepted)
    for start, end in pairwise(bounds):
        found.update(start + mark for mark in DETECTORS[detector](values[start:end]))
    return sorted(found)


def _change(
    benchmark: Benchmark,
    values: Floats,
    versions: Sequence[str],
    bounds: tuple[int, int, int],
    machine_changed: bool,
    accepted: bool,
) -> VersionChange:
    before, after = values[bounds[0] : bounds[1]], values[bounds[1] : bounds[2]]
    old, new = _level(before), _level(after)
    low = high = p = None
    if min(len(before), len(after)) >= 2 and min(before.min(), after.min()) > 0:
        test = stats.ttest_ind(np.log(after), np.log(before), equal_var=False)
        interval = test.confidence_interval(LEVEL)
        if np.isfinite(interval.low) and np.isfinite(test.pvalue):
            low, high = float(np.expm1(interval.low)), float(np.expm1(interval.high))
            p = float(test.pvalue)
    return VersionChange(
        versions[bounds[1]],
        versions[bounds[1] - 1],
        new / old - 1 if old else 0.0,
        low,
        high,
        p,
        in_direction(new < old, benchmark.better),
        machine_changed,
        accepted,
    )


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


def _is_recent_and_worse(trend: BenchmarkTrend, change: VersionChange, within: int | None) -> bool:
    recent = trend.versions if within is None else trend.versions[-within:]
    return change.is_worse and change.version in recent and not change.machine_changed and not change.accepted
