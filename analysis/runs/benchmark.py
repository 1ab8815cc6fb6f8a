"""Represent measurements: the runs of benchmarks, and the conditions of each run.

`Benchmark` is the only type for measurements. File readers and studies return it, and every method accepts it.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.arrays import Floats
from analysis.runs.runs import AUTO, Warmup, checked_drop, n_warmup

if TYPE_CHECKING:
    import pandas as pd

# conditions with a known meaning; any other name is allowed
RUN, VERSION, CONTEXT = "run", "version", "context"
ORDER_TYPE, ORDER_POSITION, PREDECESSOR, ALTERED = "order_type", "order_position", "predecessor", "altered"
DURATION = "duration"  # duration of a run in seconds; not a factor of the context
DATE = "date"  # a column that tables of histories often have instead of a time
TIME = "time"  # date and time of a run; a factor in tables, where the name is common
FACTOR = "factor:"  # column prefix for any other condition
RECORDED = "recorded:"  # prefix for conditions that were observed but not chosen, such as the load; never factors
INTERVENTION = "intervention"  # the condition whose levels include one at which a suspected cause is held fixed
CONDITIONS = (RUN, VERSION, CONTEXT, ORDER_TYPE, ORDER_POSITION, ALTERED, PREDECESSOR)
COMMIT_DATE = RECORDED + "commit date"  # date of a version, which orders the versions of a history
# observations about the machine of a run; they neither order runs nor separate them when files are joined
MACHINE = tuple(RECORDED + part for part in ("cpu", "architecture", "build", "runtime", "host", "clock"))
OF_ONE_RUN = (RUN, ORDER_POSITION, PREDECESSOR, TIME, *MACHINE)  # conditions that can differ from run to run

LOWER, HIGHER, UNKNOWN = "lower", "higher", ""
DIRECTIONS = (LOWER, HIGHER, UNKNOWN)
FASTER, SLOWER = "faster", "slower"
# Units of failures: the share of operations that failed, from 0 to 1, and failures per second. They are benchmarks of
# their own beside the times of the same operation (`Benchmark.benchmark`).
FAILURES = (FAILED_SHARE, FAILED_RATE) = ("share failed", "failures/s")

NOTHING_KNOWN: Mapping[str, str] = {}  # all runs share this object, which saves memory in large suites

AGGREGATES: Mapping[str, Callable[[Floats], Any]] = {"mean": np.mean, "median": np.median, "min": np.min}


@dataclass(frozen=True)
class Failure:
    """A run without a measurement: its conditions, and the reason as text.

    `on_purpose` is true if the measured software is not at fault: either the run was skipped, or its measurements were
    not kept.
    """

    conditions: Mapping[str, str]
    reason: str = ""
    on_purpose: bool = False


@dataclass(frozen=True)
class LeftOut:
    """A benchmark or run that a method left out, and the reason."""

    name: str
    reason: str


@dataclass(frozen=True, eq=False, slots=True)
class Run:
    """One execution of a benchmark in a new process. A run behaves like an array of its values.

    Attributes
    ----------
    values : ndarray of float, shape (n_iterations,)
        At least one finite measurement.
    unit : str
        "s" for times; otherwise the unit in the file, or "" if there is no unit.
    better : str
        "lower" or "higher", or "" if unknown. If it is unknown, no change is called faster or slower.
    conditions : mapping of str to str
        Condition -> text. A condition is a name in `CONDITIONS` or the name of a factor.

    Examples
    --------
    >>> run = Run(np.array([1.0, 2.0]), conditions={"version": "new"})
    >>> len(run), run.of("version"), run.of("context")
    (2, 'new', '')
    """

    values: Floats
    unit: str = "s"
    better: str = LOWER
    conditions: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of iterations."""
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the values as a numpy array."""
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def tolist(self) -> list[float]:
        """Return the values as a list of floats."""
        values: list[float] = self.values.tolist()
        return values

    def of(self, condition: str) -> str:
        """Return a condition as text, or "" if it is unknown; if a run has no context, combine all its factors."""
        text = self.conditions.get(condition, "")
        if condition == CONTEXT and not text:
            factors = sorted(filter(is_factor, self.conditions))
            return " ".join(f"{name}={self.conditions[name]}" for name in factors if self.conditions[name])
        return text


@dataclass(frozen=True)
class Benchmark:
    """The runs of one benchmark.

    Attributes
    ----------
    name : str
        Name from the benchmark tool, usually unique; also the name of a study's item.
    runs : tuple of Run
        The runs, all with the same unit and direction, but possibly of different lengths. Empty only if every run
        failed.
    application : str
        The software that the benchmark belongs to (`org/project`); "" if unknown.
    benchmark : str
        The measured operation with its parameter values; the name by default.
    parameters : mapping of str to str
    failures : tuple of Failure
        Failed runs.
    former_names : tuple of str
        Names that the same benchmark can have in other results, such as the name of its folder, or a name before it
        was renamed.

    Raises
    ------
    ValueError
        If there is neither a run nor a failure, a run is empty or not finite, `better` is invalid, or two runs differ
        in unit or direction.

    Examples
    --------
    >>> parse = Benchmark.of_series("parse", [[1.0, 1.1], [1.2]], conditions={"version": ("old", "new")})
    >>> len(parse.runs), parse.unit, parse.levels("version")
    (2, 's', ('old', 'new'))
    """

    name: str
    runs: tuple[Run, ...]
    application: str = ""
    benchmark: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    former_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that every method can use this benchmark; raise ValueError if that is not the case."""
        if not self.benchmark:
            object.__setattr__(self, "benchmark", self.name)
        if not self.runs and not self.failures:
            raise ValueError(f"benchmark {self.name!r} has no runs")
        if _are_sound(self.runs):
            return
        for index, run in enumerate(self.runs):
            _check_run(run, f"benchmark {self.name!r}, run {index}")
            if run.better not in DIRECTIONS:
                raise ValueError(f"benchmark {self.name!r}: better is {run.better!r}, not 'lower' or 'higher'")
            if (run.unit, run.better) != (self.unit, self.better):
                raise ValueError(f"benchmark {self.name!r}: {in_unit(run)}, but {in_unit(self.runs[0])} in another run")

    @classmethod
    def of_series(
        cls,
        name: str,
        series: Iterable[ArrayLike],
        application: str = "",
        unit: str = "s",
        better: str = LOWER,
        conditions: Mapping[str, Sequence[str]] | None = None,
        failures: Sequence[Failure] = (),
        *,
        benchmark: str = "",
        parameters: Mapping[str, str] | None = None,
        former_names: Sequence[str] = (),
    ) -> "Benchmark":
        """Create a benchmark from lists of values.

        Each condition has one text per run; "" means that the condition of a run is unknown.

        Raises
        ------
        ValueError
            For the same reasons as the class, or if a condition does not have one text per run.

        Examples
        --------
        >>> benchmark = Benchmark.of_series("b", [[1.0, 2.0], [3.0]], conditions={"version": ("old", "new")})
        >>> benchmark.values, benchmark.of("version"), benchmark.unit
        ((array([1., 2.]), array([3.])), ('old', 'new'), 's')
        """
        values = [np.asarray(run, dtype=np.float64) for run in series]
        known_conditions = conditions or {}
        for condition, texts in known_conditions.items():
            if len(texts) != len(values):
                raise ValueError(
                    f"benchmark {name!r}: condition {condition!r} has {len(texts)} texts, but there are {len(values)} "
                    "runs"
                )
        of_runs = _conditions_of_runs(known_conditions) if known_conditions else [NOTHING_KNOWN] * len(values)
        runs = tuple(Run(run, unit, better, of_run) for run, of_run in zip(values, of_runs, strict=True))
        return cls(name, runs, application, benchmark, parameters or {}, tuple(failures), tuple(former_names))

    @property
    def values(self) -> tuple[Floats, ...]:
        """Return the measurements of each run."""
        return tuple(run.values for run in self.runs)

    @property
    def unit(self) -> str:
        """Return the unit of all runs, or "" if there are no runs."""
        return self.runs[0].unit if self.runs else ""

    @property
    def better(self) -> str:
        """Return which measurements are better, "lower" or "higher", or "" if this is unknown."""
        return self.runs[0].better if self.runs else UNKNOWN

    @property
    def conditions(self) -> dict[str, tuple[str, ...]]:
        """Return a dict from the name of a condition to its value in each run ("" if unknown); factors come last."""
        recorded = dict.fromkeys(name for run in one_of_each(self.runs) for name in run.conditions)
        names = [
            *(name for name in CONDITIONS if name in recorded),
            *(name for name in recorded if name not in CONDITIONS),
        ]
        return {name: self.of(name) for name in names}

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the name of each run in its file; if a run has no name, return its number, counted from 0."""
        return tuple(run.of(RUN) or str(number) for number, run in enumerate(self.runs))

    def of(self, condition: str) -> tuple[str, ...]:
        """Return the level of a condition in each run, or "" for a run in which the level is unknown."""
        if len(one_of_each(self.runs)) == 1:
            return (self.runs[0].of(condition),) * len(self.runs)
        return tuple(run.of(condition) for run in self.runs)

    def levels(self, condition: str) -> tuple[str, ...]:
        """Return the distinct levels of a condition, except "", in order of first appearance."""
        return tuple(dict.fromkeys(entry for entry in self.of(condition) if entry))

    def where(self, **conditions: str) -> "Benchmark | None":
        """Return the benchmark with only the runs and failures that have these conditions; None if there are none."""
        runs = tuple(run for run in self.runs if all(run.of(name) == entry for name, entry in conditions.items()))
        failures = tuple(
            failure
            for failure in self.failures
            if all(failure.conditions.get(name, "") == entry for name, entry in conditions.items())
        )
        return replace(self, runs=runs, failures=failures) if runs else None

    def take(self, numbers: Sequence[int]) -> "Benchmark":
        """Return the benchmark with only the runs at these positions, in this order, and with all failures."""
        return replace(self, runs=tuple(self.runs[number] for number in numbers))


def _conditions_of_runs(conditions: Mapping[str, Sequence[str]]) -> list[Mapping[str, str]]:
    """Return the known conditions of each run; runs with the same texts share one object."""

    def known(texts: Sequence[str]) -> Mapping[str, str]:
        return {name: text for name, text in zip(conditions, texts, strict=True) if text != ""} or NOTHING_KNOWN

    of_runs = list(zip(*conditions.values(), strict=True))
    if any(set(map(type, texts)) != {str} for texts in conditions.values()):
        return list(map(known, of_runs))  # for example 1 and 1.0, which are equal, but are not the same text
    shared = {texts: known(texts) for texts in set(of_runs)}
    return [shared[texts] for texts in of_runs]


def one_of_each(runs: Sequence[Run]) -> list[Run]:
    """Return a run for each object of conditions, which runs of the same conditions share if they were read together.

    If the list has one run, all runs have its conditions. Runs with equal conditions can be in the list, too.
    """
    return list({id(run.conditions): run for run in runs}.values())


def is_factor(condition: str) -> bool:
    """Return whether a condition is a factor of the measurement context, and not an observation about the run.

    Examples
    --------
    >>> is_factor("env"), is_factor("version"), is_factor("recorded:load before"), is_factor("duration")
    (True, False, False, False)
    """
    return condition not in (*CONDITIONS, INTERVENTION, DURATION, TIME) and not condition.startswith(RECORDED)


def in_unit(runs: Run | Benchmark) -> str:
    """Describe the unit and the better direction in words.

    Examples
    --------
    >>> in_unit(Run(np.ones(1), "ops/s", "higher")), in_unit(Run(np.ones(1), "", ""))
    ('ops/s (higher is better)', 'no unit')
    """
    return f"{runs.unit or 'no unit'}{f' ({runs.better} is better)' if runs.better else ''}"


def in_direction(is_lower: bool, better: str) -> str:
    """Return a word for measurements that are lower, or for measurements that are higher.

    The word is "faster" or "slower" if the better direction is known, and "lower" or "higher" if it is not.

    Examples
    --------
    >>> in_direction(True, "lower"), in_direction(True, "higher"), in_direction(True, "")
    ('faster', 'slower', 'lower')
    """
    if better not in DIRECTIONS:
        raise ValueError(f"better must be 'lower' or 'higher', or '' if unknown, got {better!r}")
    if better == UNKNOWN:
        return LOWER if is_lower else HIGHER
    return FASTER if is_lower == (better == LOWER) else SLOWER


def _are_sound(runs: Sequence[Run]) -> bool:
    """Check all runs at once, which is faster; if something is wrong, the check of each run names the place."""
    if not runs:
        return True
    unit, better = runs[0].unit, runs[0].better
    for run in runs:
        if run.unit != unit or run.better != better or np.ndim(run.values) != 1 or not len(run.values):
            return False
    return better in DIRECTIONS and bool(np.isfinite(np.concatenate([run.values for run in runs])).all())


def _check_run(run: Run, place: str) -> None:
    if np.ndim(run.values) != 1:
        raise ValueError(f"{place}: the measurements must have one dimension, got shape {np.shape(run.values)}")
    if not len(run):
        raise ValueError(f"{place}: no measurements")
    if not np.isfinite(run.values).all():
        at = int(np.flatnonzero(~np.isfinite(run.values))[0])
        raise ValueError(f"{place}, iteration {at}: {run.values[at]} is not a finite measurement")


OF_WARMUP: Mapping[str, Any] = {
    "within": "[0, )",
    "or": AUTO,
    "label": "Warm-up to leave out",
    "help": "Warm-up to leave out of each run: a number of iterations, a share below 1, or auto to find its end.",
}


@dataclass(frozen=True)
class PerRun:
    """Options that reduce a run to one number: which warm-up to leave out, and how to aggregate the rest.

    Attributes
    ----------
    warmup : int, float or "auto"
        What to leave out at the start of each run: a number of iterations, a share of the run if below 1, or "auto" for
        everything before the steady state by the quick rule of `analysis.methods.steady`.
    aggregate : str
        "mean", "median" or "min" of the remaining iterations.

    Raises
    ------
    ValueError
        If `warmup` is negative or invalid, or the aggregate is unknown.

    Examples
    --------
    >>> PerRun(warmup=1, aggregate="median").value([9.0, 1.0, 2.0, 3.0])
    2.0
    """

    warmup: Warmup = field(default=0, metadata=OF_WARMUP)
    aggregate: str = field(default="mean", metadata={
        "choices": tuple(AGGREGATES), "help": "Statistic that represents each run.", "label": "Value per run",
    })  # fmt: skip

    def __post_init__(self) -> None:
        """Check the options; raise ValueError if an option is invalid."""
        try:
            checked_drop(self.warmup)
        except ValueError:
            expected = "a number of iterations, a share below 1, or auto"
            raise ValueError(f"warmup must be {expected}, got {self.warmup}") from None
        if self.aggregate not in AGGREGATES:
            raise ValueError(f"aggregate must be one of {', '.join(AGGREGATES)}, got {self.aggregate!r}")

    def steady(self, run: ArrayLike) -> Floats:
        """Return the run without its warm-up iterations; raise ValueError if no iteration remains."""
        values = np.asarray(run, dtype=np.float64)
        return values[n_warmup(run, self.warmup) :]

    def value(self, run: ArrayLike) -> float:
        """Return the one number that represents a run, in the run's unit."""
        return float(AGGREGATES[self.aggregate](self.steady(run)))

    def values(self, runs: Sequence[ArrayLike]) -> Floats:
        """Return one number per run, shape (n_runs,)."""
        if not self.warmup:
            arrays = [np.asarray(run, dtype=np.float64) for run in runs]
            if len({len(run) for run in arrays}) == 1:  # one call for all runs, which is faster
                aggregate: Callable[..., Any] = AGGREGATES[self.aggregate]
                return np.asarray(aggregate(np.stack(arrays), axis=1))
        return np.array([self.value(run) for run in runs])


EVERY_ITERATION = PerRun()

Advance = Callable[[int, int], object]  # a callback that receives the number of finished parts and the total


def unwatched(done: int, total: int) -> None:
    """Ignore the progress; this is the default callback."""


def join(benchmarks: Sequence[Benchmark]) -> Benchmark:
    """Return the first benchmark with the runs and failures of all benchmarks.

    Raise ValueError if units or better directions differ.
    """
    first = benchmarks[0]
    if len(benchmarks) == 1:
        return first
    return replace(
        first,
        runs=tuple(run for benchmark in benchmarks for run in benchmark.runs),
        failures=tuple(failure for benchmark in benchmarks for failure in benchmark.failures),
    )


def by_name(benchmarks: Iterable[Benchmark]) -> list[Benchmark]:
    """Combine benchmarks that have the same application and name, in order of first appearance."""
    groups: dict[tuple[str, str], list[Benchmark]] = {}
    for benchmark in benchmarks:
        groups.setdefault((benchmark.application, benchmark.name), []).append(benchmark)
    return [join(group) for group in groups.values()]


def by_level(benchmark: Benchmark, conditions: Sequence[str] = (ALTERED, VERSION, CONTEXT)) -> list[Benchmark]:
    """Split the runs by conditions that a sample must not mix, such as versions and contexts.

    `conditions`: the conditions to split by. Returns one benchmark for each combination of levels, named `NAME @
    LEVEL`, in order of first appearance. If each condition has one level, the list contains only the benchmark itself.
    """
    is_uniform = len(one_of_each(benchmark.runs)) == 1
    varied = [] if is_uniform else [name for name in conditions if len(set(benchmark.of(name))) > 1]
    if not varied:
        return [benchmark]
    levels = dict.fromkeys(zip(*map(benchmark.of, varied), strict=True))
    return [
        replace(runs, name=f"{benchmark.name} @ {' @ '.join(entry or '?' for entry in level)}")
        for level in levels
        if (runs := benchmark.where(**dict(zip(varied, level, strict=True))))
    ]


def in_order(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark with its runs sorted as in a table, by conditions and then by name or number.

    The levels of a condition are in order of first appearance. The position of a run in an execution order is the last
    sort key. Runs without names keep their order among those with the same shared conditions. If only some runs have a
    name, all runs keep their order.

    Examples
    --------
    >>> versions = {"run": ("1", "0", "0"), "version": ("new", "old", "new")}
    >>> in_order(Benchmark.of_series("b", [[0.0], [1.0], [2.0]], conditions=versions)).conditions
    {'run': ('0', '1', '0'), 'version': ('new', 'new', 'old')}
    >>> versions = {"version": ("old", "new", "old")}
    >>> in_order(Benchmark.of_series("b", [[0.0], [1.0], [2.0]], conditions=versions)).conditions
    {'version': ('old', 'old', 'new')}
    """
    if len(one_of_each(benchmark.runs)) == 1:
        return benchmark
    is_named = all(benchmark.of(RUN))
    if not is_named and any(benchmark.of(RUN)):
        return benchmark
    names = [name for name in benchmark.conditions if name != RUN and (is_named or name not in OF_ONE_RUN)]
    runs, before = list(benchmark.runs), list[Run]()
    while runs != before:  # repeat until the order of levels is stable
        before = runs
        places = {
            name: {level: at for at, level in enumerate(dict.fromkeys(run.of(name) for run in runs))} for name in names
        }
        runs = sorted(runs, key=lambda run: _place_in_order(run, places))
    return replace(benchmark, runs=tuple(runs))


def _place_in_order(run: Run, places: Mapping[str, Mapping[str, int]]) -> tuple[Any, ...]:
    shared = [places[name][run.of(name)] for name in places if name not in OF_ONE_RUN]
    own = [places[name][run.of(name)] for name in places if name in OF_ONE_RUN]
    return *shared, number_or_name(run.of(RUN)), *own


def dated(benchmark: Benchmark) -> Benchmark:
    """Take a column `date` as the time of each run, instead of as a factor of the context."""
    if not benchmark.runs or DATE not in benchmark.conditions:
        return benchmark
    runs = (
        replace(run, conditions={TIME if name == DATE else name: text for name, text in run.conditions.items()})
        for run in benchmark.runs
    )
    return replace(benchmark, runs=tuple(runs))


def history_key(benchmark: Benchmark) -> str | None:
    """Return the condition that orders the runs of a history: version or else time, if all runs have it.

    Times within 24 hours are no history: tools write the time of each run, and these runs are one measurement.
    """
    if not benchmark.runs:
        return None
    if all(benchmark.of(VERSION)):
        return VERSION
    return TIME if all(benchmark.of(TIME)) and not _is_within_a_day(benchmark.of(TIME)) else None


def _is_within_a_day(texts: Sequence[str]) -> bool:
    """Return whether texts are times of day, all within 24 hours."""
    found = [_MOMENT.match(text) for text in texts]
    times = [np.datetime64(match[0], "s") for match in found if match is not None]
    return len(times) == len(texts) and bool(max(times) - min(times) < np.timedelta64(1, "D"))


_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?")


def in_time_order(benchmark: Benchmark) -> list[str]:
    """Return the versions in the order of their dates or times if all are known, else of appearance; times in order."""
    if history_key(benchmark) != VERSION:
        return sorted(benchmark.levels(TIME), key=natural)
    levels = list(benchmark.levels(VERSION))
    times = next((times for times in map(benchmark.of, (COMMIT_DATE, TIME)) if all(times)), None)
    if times is None:
        return levels
    first: dict[str, str] = {}
    for version, time in zip(benchmark.of(VERSION), times, strict=True):
        first[version] = min(time, first.get(version, time))
    return sorted(levels, key=lambda version: natural(first[version]))


def for_rules(values: Floats, unit: str = "") -> Floats:
    """Divide values that are no times by their median, as the rules for the steady state need it; NaN stays NaN."""
    middle = float(np.nanmedian(values)) if len(values) else 0.0
    return values if unit == "s" or middle <= 0 else values / middle


def series_of(benchmark: Benchmark, *, is_for_rules: bool = False) -> Iterator[tuple[str, Floats, tuple[str, ...]]]:
    """Yield the series of a benchmark: its history, or else each of its runs, with what each point is called.

    `is_for_rules`: prepare each run by `for_rules`.
    """
    for level in by_level(dated(benchmark), (ALTERED, CONTEXT)):
        key = history_key(level)
        if key is None:
            for label, run in zip(level.labels, level.runs, strict=True):
                name = level.name if len(level.runs) == 1 else f"{level.name} : run {label}"
                values = for_rules(run.values, run.unit) if is_for_rules else run.values
                yield name, values, tuple(map(str, range(len(run))))
            continue
        of_version: dict[str, list[float]] = {version: [] for version in in_time_order(level)}
        for version, value in zip(level.of(key), EVERY_ITERATION.values(level.runs), strict=True):
            of_version[version].append(float(value))
        yield level.name, np.array([fmean(values) for values in of_version.values()]), tuple(of_version)


def two_versions(
    benchmarks: Sequence[Benchmark], baseline: str | None = None, candidate: str | None = None
) -> tuple[str, str] | str:
    """Return the names of the baseline and the candidate, which are the same for all benchmarks.

    If it is not clear which versions to compare, return the reason as text. Raises ValueError if a named version does
    not occur, or both are the same.

    `benchmarks`: all benchmarks of the analysis; `baseline` and `candidate`: names of versions. By default, these are
    the two versions that occur together in a benchmark, in sorted order; there must be no third version.
    """
    if baseline is not None and baseline == candidate:
        raise ValueError(f"baseline and candidate must be different versions, got {candidate!r}")
    of_benchmarks = [benchmark.levels(VERSION) for benchmark in benchmarks]
    names = sorted({version for versions in of_benchmarks for version in versions}, key=natural)
    for argument, name in (("baseline", baseline), ("candidate", candidate)):
        if name is not None and name not in names:
            raise ValueError(f"{argument} must be one of the versions ({', '.join(names) or 'none'}), got {name!r}")
    if baseline is not None and candidate is not None:
        return baseline, candidate
    compared = sorted({name for versions in of_benchmarks if len(versions) > 1 for name in versions}, key=natural)
    if not compared:
        return (
            f"no benchmark has two versions; known versions: {', '.join(names)}"
            if names
            else "the version of every run is unknown"
        )
    remaining = [version for version in compared if version not in (baseline, candidate)]
    if len(remaining) > (baseline is None) + (candidate is None):
        return f"there are {len(compared)} versions ({', '.join(compared)}): name a baseline and a candidate"
    return baseline or remaining.pop(0), candidate or remaining.pop(0)


def canonical(benchmarks: Iterable[Benchmark]) -> list[Benchmark]:
    """Sort benchmarks by application and name, and their runs by shared conditions and then by name or number.

    Runs without name or number keep the order in which they appear. Any other order of rows, files or options therefore
    gives the same result.
    """
    return [_with_runs_by_name(benchmark) for benchmark in sorted_by_name(benchmarks)]


def sorted_by_name(benchmarks: Iterable[Benchmark]) -> list[Benchmark]:
    """Sort benchmarks by application and name; their runs keep their order."""
    return sorted(benchmarks, key=lambda benchmark: (natural(benchmark.application), natural(benchmark.name)))


def _with_runs_by_name(benchmark: Benchmark) -> Benchmark:
    if len(one_of_each(benchmark.runs)) == 1 and not benchmark.failures:
        return benchmark
    differing = {name for name, values in benchmark.conditions.items() if len(set(values)) > 1}
    of_one_run = [name for name in OF_ONE_RUN if name in differing] if all(benchmark.of(RUN)) else []
    names = [*sorted(differing.difference(OF_ONE_RUN)), *of_one_run]

    def place(run: Run) -> tuple[Any, ...]:
        return tuple(number_or_name(run.of(name)) for name in names)

    failures = sorted(benchmark.failures, key=lambda failure: sorted(failure.conditions.items()))
    return replace(benchmark, runs=tuple(sorted(benchmark.runs, key=place)), failures=tuple(failures))


def by_content(benchmark: Benchmark) -> Benchmark:
    """Return the benchmark with its runs sorted by their measurements, for resampling.

    A random seed then draws the same runs, whatever their names are and in whichever order they were read. Conditions
    that several runs share come first, and then the position in an execution order.
    """
    names = sorted(name for name in benchmark.conditions if name not in OF_ONE_RUN)

    def place(run: Run) -> tuple[Any, ...]:
        levels = tuple(number_or_name(run.of(name)) for name in names)
        content = hashlib.sha256(np.ascontiguousarray(run.values, dtype="<f8").tobytes()).digest()
        return levels, number_or_name(run.of(ORDER_POSITION)), content, natural(run.of(RUN))

    return replace(benchmark, runs=tuple(sorted(benchmark.runs, key=place)))


def number_or_name(text: str) -> tuple[bool, float, list[tuple[int, str]]]:
    """Return a sort key that orders numbers by value, even inside names: 1, 2, 10.

    Examples
    --------
    >>> sorted(["10", "b", "9.5", "a10", "a9"], key=number_or_name)
    ['9.5', '10', 'a9', 'a10', 'b']
    """
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    return (True, 0.0, natural(text)) if np.isnan(number) else (False, number, [])


def natural(name: str) -> list[tuple[int, str]]:
    """Return a sort key for the natural order of names, in which run 2 comes before run 10."""
    parts = re.split("([0-9]+)", name)
    digits = [part.lstrip("0") for part in parts[1::2]]
    parts[1::2] = digits
    return [(len(part) if at % 2 else 0, part) for at, part in enumerate(parts)] + [(0, name)]


def from_table(table: "pd.DataFrame") -> list[Benchmark]:
    """Create benchmarks from a long table with one row per measurement.

    Parameters
    ----------
    table : DataFrame
        The columns benchmark, run and value are required. If there is a column iteration, the rows of a run are sorted
        by it. Optional columns are application, unit, better, version, context, order_type, order_position, altered and
        predecessor, and factor:NAME for any other condition. The run and all conditions together identify a run.

    Returns
    -------
    list of Benchmark
        Benchmarks in order of first appearance. If there is no column `unit`, values are times in seconds; if there is
        no column `better`, lower is better.

    Raises
    ------
    ValueError
        If a column is missing, a row has no benchmark, a value is not finite, an iteration is not a number, or a
        benchmark has two units or directions.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"benchmark": "b", "run": [0, 0, 1], "value": [1.0, 2.0, 3.0], "version": "new"})
    >>> from_table(table)[0].values, from_table(table)[0].conditions
    ((array([1., 2.]), array([3.])), {'run': ('0', '1'), 'version': ('new', 'new')})
    """
    missing = [name for name in ("benchmark", "run", "value") if name not in table.columns]
    if missing:
        raise ValueError(f"the table lacks the column {', '.join(missing)}. It has: {', '.join(map(str, table))}")
    if table["benchmark"].isna().any():
        raise ValueError(f"row {int(table['benchmark'].isna().argmax())} of the table has no benchmark")
    groups = [name for name in ("application", "benchmark") if name in table.columns]
    by_benchmark = table.groupby(groups, sort=False, dropna=False, observed=True)
    return [_benchmark(dict(zip(groups, map(_text, key), strict=True)), rows) for key, rows in by_benchmark]


def _benchmark(group: Mapping[str, str], rows: "pd.DataFrame") -> Benchmark:
    import pandas as pd

    factors = [str(column) for column in rows.columns if str(column).startswith(FACTOR)]
    names = [name for name in CONDITIONS if name in rows.columns] + factors
    unit, better = _constant(rows, "unit", "s"), _constant(rows, "better", LOWER)
    runs = []
    for key, run in rows.groupby(names, sort=False, dropna=False, observed=True):
        ordered = run.sort_values("iteration", kind="stable", key=pd.to_numeric) if "iteration" in run.columns else run
        texts = zip(names, map(_text, key), strict=True)
        conditions = {name.removeprefix(FACTOR): text for name, text in texts if text}
        runs.append(Run(ordered["value"].to_numpy(dtype=np.float64), unit, better, conditions))
    return Benchmark(group["benchmark"], tuple(runs), group.get("application", ""))


def _constant(rows: "pd.DataFrame", column: str, otherwise: str) -> str:
    values = sorted(map(str, rows[column].dropna().unique())) if column in rows.columns else []
    if len(values) > 1:
        raise ValueError(f"benchmark {rows['benchmark'].iloc[0]!r} has more than one {column}: {', '.join(values)}")
    return values[0] if values else otherwise


def _text(entry: Any) -> str:
    """Return the entry of a table as text: "" if it is missing, and "3" for 3.0.

    Pandas stores a column of integers with missing entries as floats.
    """
    import pandas as pd

    if pd.isna(entry):
        return ""
    return str(int(entry)) if isinstance(entry, float) and entry.is_integer() else str(entry)
