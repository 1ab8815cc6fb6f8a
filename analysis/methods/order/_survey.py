"""Check many benchmarks for effects of their order, and of the position in the run or the previous benchmark.

The tests of position and previous benchmark are weaker than the comparison of two orders: they detect only these
effects, and random orders contain few runs for each position and for each previous benchmark. Runs with a failure are
left out, because in fixed order a failure changes the position of all later benchmarks.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import isfinite
from statistics import fmean

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.arrays import Floats
from analysis.methods.options import TestOptions, with_keywords
from analysis.methods.order._compare import (
    PUBLISHED_LEVEL,
    Cell,
    Conclusion,
    OneVersion,
    OrderComparison,
    below,
    checked_compat,
    compared,
    conclusions,
    middle,
)
from analysis.runs.benchmark import (
    ALTERED,
    CONTEXT,
    ORDER_POSITION,
    ORDER_TYPE,
    RUN,
    VERSION,
    Benchmark,
    LeftOut,
    PerRun,
    by_level,
    canonical,
    in_direction,
    two_versions,
)
from analysis.runs.samples import NO_VARIATION, KruskalWallis, Test, kruskal
from analysis.statistics.intervals import Estimate
from analysis.statistics.multiple import bonferroni, holm

FIXED, RANDOM = "fixed", "random"
IDENTITY = (RUN, ORDER_TYPE, VERSION, CONTEXT, ALTERED)  # conditions that are the same for all benchmarks of a run

Key = tuple[str, ...]


@dataclass(frozen=True)
class Dropped:
    """A run in which at least one benchmark failed."""

    run: str  # "" if unknown
    order_type: str
    version: str
    context: str
    failed: tuple[str, ...]  # benchmarks that failed in this run
    reasons: tuple[str, ...]  # one reason per failed benchmark; may be ""
    whole: bool  # whether the values of all other benchmarks in this run are dropped as well
    n_values: int  # number of values that are dropped


def drop_failed(benchmarks: Sequence[Benchmark]) -> tuple[list[Benchmark], tuple[Dropped, ...], tuple[LeftOut, ...]]:
    """Drop runs in which a benchmark failed [1]_.

    In fixed order, the whole run is dropped. In random order, only the failed benchmark is dropped.

    `benchmarks`: runs of different benchmarks belong together if run, order_type, version, context and altered are
    equal; conditions that a failure does not record are ignored. Returns the remaining benchmarks, in the same order.
    Runs in random order keep all values, because the failed benchmark has no value. Also returns each run with a
    failure, in order of appearance. If the run or its order is unknown, only the failed benchmark is left out. Also
    returns benchmarks without any remaining run.

    References
    ----------
    .. [1] Duplyakin et al. (2023), USENIX ATC '23,
       https://www.usenix.org/conference/atc23/presentation/duplyakin
    """
    failed: dict[Key, list[tuple[str, str]]] = {}
    for benchmark in benchmarks:
        for failure in benchmark.failures:
            failed.setdefault(_key(failure.conditions), []).append((benchmark.name, failure.reason))
    lost = {key: 0 for key in failed if key[0] and key[1] == FIXED}
    usable: list[Benchmark] = []
    left_out: list[LeftOut] = []
    for benchmark in benchmarks:
        runs_left = _runs_left(benchmark, lost) if lost else range(len(benchmark.runs))
        if len(runs_left) == len(benchmark.runs):
            usable.append(benchmark)
        elif runs_left:
            usable.append(benchmark.take(runs_left))
        else:
            left_out.append(
                LeftOut(benchmark.name, "all runs were in fixed order, and a benchmark failed in each of them")
            )
    return usable, _listed(failed, lost), tuple(left_out)


def _runs_left(benchmark: Benchmark, lost: dict[Key, int]) -> Sequence[int]:
    """Return the positions of the runs to keep, and count the dropped runs."""
    runs = []
    for run, key in enumerate(run_keys(benchmark)):
        failed = next((mask for mask in lost if all(not a or a == b for a, b in zip(mask, key, strict=True))), None)
        if failed is None:
            runs.append(run)
        else:
            lost[failed] += 1
    return runs


def _listed(failed: Mapping[Key, list[tuple[str, str]]], lost: Mapping[Key, int]) -> tuple[Dropped, ...]:
    listed = []
    for key, benchmarks in failed.items():
        names, reasons = tuple(name for name, _ in benchmarks), tuple(reason for _, reason in benchmarks)
        run, order_type, version, context, _ = key
        listed.append(
            Dropped(run, order_type, version, context, names, reasons, whole=key in lost, n_values=lost.get(key, 0))
        )
    return tuple(listed)


def run_keys(benchmark: Benchmark) -> list[Key]:
    """Return one key for each run of this benchmark.

    Benchmarks that were measured in the same run have the same key.
    """
    return list(zip(*(benchmark.of(name) for name in IDENTITY), strict=True))


def _key(conditions: Mapping[str, str]) -> Key:
    return tuple(conditions.get(name, "") for name in IDENTITY)


MIN_RUNS = 3
MIN_AFTER = 2  # minimum number of runs after the same benchmark


@dataclass(frozen=True)
class After:
    """The runs of a benchmark directly after one other benchmark.

    `before` is the other benchmark; "" if the benchmark was the first in the run.
    """

    before: str
    n: int
    median: float


@dataclass(frozen=True)
class Placed(OneVersion):
    """The results of the two weaker tests for one version of a benchmark. Runs in fixed order are left out."""

    positions: tuple[float, ...]  # one entry per run with a known position
    before: tuple[str, ...]  # the previous benchmark in the same run; "" if there is none
    values: tuple[float, ...]
    trend: Test  # trend of values over positions; the statistic is Kendall's tau-b
    change: str | None  # direction of the trend in words; None if there is no trend
    after: KruskalWallis  # test of values by previous benchmark
    groups: tuple[After, ...]  # groups of the test by previous benchmark, in order of the median
    trend_bonferroni: float | None = None  # p corrected for both tests of all benchmarks
    trend_holm: float | None = None
    after_bonferroni: float | None = None
    after_holm: float | None = None


def position_trend(positions: ArrayLike, values: ArrayLike) -> Test:
    """Test with Kendall's tau-b [1]_ (two-sided) whether values increase or decrease with the position.

    The p of Kendall's tau-b is corrected for ties, unlike the p of Spearman's rank correlation. Ties are frequent,
    because many runs share a position. Raises ValueError if the numbers of positions and values differ.

    `positions` and `values` (shape (n_runs,)): position of the benchmark in each run, and its value in any unit. The
    statistic is tau-b in [-1, 1], which is positive if values are larger at later positions. No p if there are fewer
    than three runs, or if all runs have the same position; p is 1 if all values are equal.

    References
    ----------
    .. [1] Kendall (1945), Biometrika 33:239-251, doi:10.1093/biomet/33.3.239
    """
    x, y = np.asarray(positions, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"positions must have one entry per value, got shapes {x.shape} and {y.shape}")
    if len(x) < MIN_RUNS:
        return Test(None, reason=f"fewer than {MIN_RUNS} runs with a known position")
    if x.min() == x.max():
        return Test(None, reason="the position is the same in all runs")
    if y.min() == y.max():
        return Test(1.0, 0.0, NO_VARIATION)
    trend = stats.kendalltau(x, y)
    return Test(float(trend.pvalue), float(trend.statistic))


def after_predecessor(before: Sequence[Hashable], values: ArrayLike) -> KruskalWallis:
    """Test whether values depend on the previous benchmark [1]_.

    Raises ValueError if the numbers of predecessors and values differ.

    `before`: the previous benchmark; "" for the first benchmark in a run, which also forms a group; `values` (shape
    (n_runs,)). Returns a test over the previous benchmarks that precede at least two runs; no p if there are fewer than
    two of them.

    References
    ----------
    .. [1] Kruskal, Wallis (1952), J. Am. Stat. Assoc. 47:583-621, doi:10.1080/01621459.1952.10483441
    """
    groups = _by_predecessor(before, np.asarray(values, dtype=np.float64))
    if len(groups) < 2:
        few = f"fewer than two other benchmarks ran directly before this benchmark in at least {MIN_AFTER} runs"
        return KruskalWallis(None, reason=few, n=sum(map(len, groups.values())))
    return kruskal(list(groups.values()))


def predecessors(benchmarks: Sequence[Benchmark]) -> list[list[str | None]]:
    """Return the previous benchmark for each run of each benchmark.

    The positions in the same run determine the previous benchmark.

    `benchmarks`: runs with the conditions run and order_position (numbers that can start anywhere). Runs belong
    together if run, order_type, version, context and altered are equal. Failures with a known position count, because
    the benchmark also ran. Returns one entry per run. The entry is the name of the benchmark with the next lower
    position; if several benchmarks share this position, their names are joined. It is "" if no position is lower, and
    None if the run or the position is unknown.
    """
    order = _order_of_runs(benchmarks)
    before: list[list[str | None]] = []
    for benchmark in benchmarks:
        places = zip(run_keys(benchmark), map(_number, benchmark.of(ORDER_POSITION)), strict=True)
        before.append([None if at is None or not key[0] else _before(order[key], at) for key, at in places])
    return before


def placed(
    benchmark: Benchmark, values: Floats, before: Sequence[str | None], versions: Sequence[str]
) -> Iterator[Placed]:
    """Run both weaker tests for each version of a benchmark, without correcting p."""
    positions = [_number(entry) for entry in benchmark.of(ORDER_POSITION)]
    kinds, version_of = benchmark.of(ORDER_TYPE), benchmark.of(VERSION)
    for version in versions:
        runs = [
            run
            for run, at in enumerate(positions)
            if at is not None and kinds[run] != FIXED and version_of[run] == version
        ]
        behind = [run for run in runs if before[run] is not None]
        at = [position for run in runs if (position := positions[run]) is not None]
        names = [name for run in runs if (name := before[run]) is not None]
        trend, groups = position_trend(at, values[runs]), _by_predecessor(names, values[behind])
        yield Placed(
            benchmark.name, benchmark.application, version, benchmark.unit, benchmark.better,
            tuple(at), tuple(before[run] or "" for run in runs), tuple(map(float, values[runs])),
            trend, _describe(trend.statistic, benchmark.better), after_predecessor(names, values[behind]),
            tuple(sorted((After(str(n), len(g), middle(np.sort(g))) for n, g in groups.items()), key=_median)),
        )  # fmt: skip


def corrected(tested: Sequence[Placed]) -> tuple[Placed, ...]:
    """Correct p for the total number of weaker tests: two for each benchmark."""
    p = [test.p for benchmark in tested for test in (benchmark.trend, benchmark.after)]
    by_bonferroni, by_holm = bonferroni(p), holm(p)
    return tuple(
        replace(
            benchmark,
            trend_bonferroni=by_bonferroni[2 * i],
            after_bonferroni=by_bonferroni[2 * i + 1],
            trend_holm=by_holm[2 * i],
            after_holm=by_holm[2 * i + 1],
        )
        for i, benchmark in enumerate(tested)
    )


def _order_of_runs(benchmarks: Sequence[Benchmark]) -> dict[Key, tuple[list[float], list[str]]]:
    """Return the positions in each run in ascending order, and the benchmark at each position."""
    entries: dict[Key, dict[float, dict[str, None]]] = {}
    for benchmark in benchmarks:
        failed = [tuple(f.conditions.get(name, "") for name in (*IDENTITY, ORDER_POSITION)) for f in benchmark.failures]
        positions = list(zip(run_keys(benchmark), benchmark.of(ORDER_POSITION), strict=True))
        for key, entry in [*positions, *((key[:-1], key[-1]) for key in failed)]:
            at = _number(entry)
            if at is not None:
                entries.setdefault(key, {}).setdefault(at, {})[benchmark.name] = None
    return {key: (sorted(places), [", ".join(places[at]) for at in sorted(places)]) for key, places in entries.items()}


def _before(order: tuple[list[float], list[str]], at: float) -> str:
    earlier = bisect_left(order[0], at)
    return order[1][earlier - 1] if earlier else ""


def _number(entry: str) -> float | None:
    try:
        at = float(entry)
    except ValueError:
        return None
    return at if isfinite(at) else None


def _by_predecessor(before: Sequence[Hashable], values: Floats) -> dict[Hashable, Floats]:
    if len(before) != len(values):
        raise ValueError(f"before must have one entry per value, got {len(before)} for {len(values)} values")
    return {name: values[[entry == name for entry in before]] for name, n in Counter(before).items() if n >= MIN_AFTER}


def _median(group: After) -> float:
    return group.median


def _describe(tau: float | None, better: str) -> str | None:
    if not tau:
        return None
    return f"{in_direction(tau < 0, better)} the later it runs"


@dataclass(frozen=True)
class OrderSurvey:
    """The result of `order_survey`: whether order matters for these benchmarks.

    Attributes
    ----------
    tests : tuple of Comparison
        Tests of fixed against random order, one for each benchmark (and version) that was measured in both orders.
    n_tests : int
        |T|, the number of tests.
    alpha : float
    threshold : float or None
        alpha / |T|; None if there is no test.
    level : float or None
        Level of all intervals, by default 1 - alpha / |T|; None if there is no test.
    matters : bool or None
        Whether any p is below alpha / |T|; None if there is no test.
    matters_uncorrected : bool or None
        Whether any p is below alpha.
    conclusions : tuple of Conclusion
        One entry for each benchmark that was measured with both versions in both orders.
    positions : tuple of Placed
        The weaker tests for each benchmark (and version) whose position varies.
    n_position_tests : int
        Number of tests for a trend and tests for the previous benchmark together.
    position_threshold : float or None
        alpha / n_position_tests.
    position_matters : bool or None
        Whether any p of the weaker tests is below `position_threshold`. This does not affect `matters`.
    dropped : tuple of Dropped
        Runs in which a benchmark failed.
    left_out : tuple of LeftOut
    parameters : mapping of str to object
    mean_absolute_delta : Estimate
        Mean of the absolute values of `delta_percent` over all tests in which it is defined; without an interval.
    """

    tests: tuple[OrderComparison, ...]
    n_tests: int
    alpha: float
    threshold: float | None
    level: float | None
    matters: bool | None
    matters_uncorrected: bool | None
    conclusions: tuple[Conclusion, ...]
    positions: tuple[Placed, ...]
    n_position_tests: int
    position_threshold: float | None
    position_matters: bool | None
    dropped: tuple[Dropped, ...]
    left_out: tuple[LeftOut, ...]
    parameters: Mapping[str, object]
    mean_absolute_delta: Estimate

    @cached_property
    def _several(self) -> tuple[bool, bool]:
        rows: list[OrderComparison | Placed] = [*self.tests, *self.positions]
        return len({row.application for row in rows}) > 1, len({row.version for row in rows}) > 1

    def title(self, row: OrderComparison | Placed) -> str:
        """Return the name of a benchmark, with the version or application if the survey has several of them."""
        applications, versions = self._several
        name = f"{row.application}: {row.benchmark}" if applications and row.application else row.benchmark
        return f"{name} ({row.version})" if row.version and versions else name


@dataclass
class _Readings:
    cells: list[Cell] = field(default_factory=list)
    positions: list[Placed] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def add(self, other: "_Readings") -> None:
        """Append the tests and reasons of another benchmark."""
        self.cells += other.cells
        self.positions += other.positions
        self.left_out += other.left_out


@dataclass(frozen=True, kw_only=True)
class OrderOptions(TestOptions):
    """The options of `order_survey`."""

    baseline: str | None = field(default=None, metadata={
        "metavar": "VERSION", "help": "Baseline, if two versions were measured.", "label": "Baseline version",
    })  # fmt: skip
    candidate: str | None = field(default=None, metadata={
        "metavar": "VERSION", "help": "Candidate, if two versions were measured.", "label": "Candidate version",
    })  # fmt: skip
    ci_level: float | None = field(default=None, metadata={
        "flag": "--level", "within": "(0, 1)", "metavar": "X",
        "help": "Confidence level of the interval of each median [default: 1 - alpha / number of tests].",
    })  # fmt: skip
    compat: str | None = field(default=None, metadata={
        "choices": ("ordersage",),
        "help": "Classify each test as the published tool does: with a separate 95 % interval, and with the ranks and "
        "the rule of the tool.",
    })  # fmt: skip


@with_keywords(OrderOptions)
def order_survey(benchmarks: Sequence[Benchmark], options: OrderOptions) -> OrderSurvey:
    """Test whether the order of benchmarks matters, which is the case if any p is below alpha / |T| [1]_.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
        Runs with the condition order_type ("fixed" or "random"), and with run, order_position and version if known.
        Each version and each context is tested separately; a context is part of the name, as in `NAME @ CONTEXT`.
    per_run : PerRun
        How to summarise each run as one number.
    alpha : float
        Significance level of all tests together, in (0, 1).
    ci_level : float, optional
        Confidence level of the interval of each median, in (0, 1). Default: 1 - alpha / |T|, or 0.95 with `compat`.
    compat : str, optional
        "ordersage": intervals and cases of the published tool; see `median_interval` and `interval_case`.
    baseline, candidate : str, optional
        The two versions to compare in both orders; see `two_versions`. If given, only these versions are tested.
    seed : int
        Not used, because nothing is random. The seed is only recorded with the parameters.
    advance : callable
        Called with (done, total) after each benchmark.
    mapper : callable
        A function like the built-in `map` with one iterable, such as the `map` of an executor.

    Returns
    -------
    OrderSurvey
        `left_out` lists the benchmarks that cannot be tested, with the reason.

    Raises
    ------
    ValueError
        If alpha or `ci_level` is not within (0, 1), `compat` is invalid, or a named version does not exist.

    References
    ----------
    .. [1] Duplyakin et al. (2023), USENIX ATC '23,
       https://www.usenix.org/conference/atc23/presentation/duplyakin

    Examples
    --------
    >>> runs = tuple(np.array([mean]) for mean in (1.0, 1.1, 1.2, 1.1, 1.0, 1.2))
    >>> conditions = {"order_type": ("fixed",) * 3 + ("random",) * 3}
    >>> answer = order_survey([Benchmark.of_series("parse", runs, conditions=conditions)])
    >>> answer.matters, answer.n_tests
    (False, 1)
    """
    options.check_alpha()
    if options.ci_level is not None and not 0 < options.ci_level < 1:
        raise ValueError(f"ci_level must be within (0, 1), got {options.ci_level}")
    checked_compat(options.compat)
    benchmarks = canonical(benchmarks)
    pair, no_pair = _pair(benchmarks, options.baseline, options.candidate)
    usable, dropped, lost = drop_failed(benchmarks)
    parts = [part for benchmark in usable for part in by_level(benchmark, (CONTEXT, ALTERED))]
    readings = _Readings(left_out=[*lost, *([LeftOut("conclusions on two versions", no_pair)] if no_pair else [])])
    tasks = list(zip(parts, predecessors(parts), strict=True))
    for done, own in enumerate(options.mapper(partial(_read, options.per_run, pair), tasks), 1):
        readings.add(own)
        options.advance(done, len(parts))
    parameters = options.parameters | (dict(zip(("baseline", "candidate"), pair, strict=True)) if pair else {})
    n_tests = len(readings.cells)
    level = options.ci_level or (PUBLISHED_LEVEL if options.compat else 1 - options.alpha / max(n_tests, 1))
    tests = compared(readings.cells, alpha=options.alpha, ci_level=level, compat=options.compat)
    return _answer(tests, readings, pair, dropped, parameters, alpha=options.alpha, level=level)


def _pair(
    benchmarks: Sequence[Benchmark], baseline: str | None, candidate: str | None
) -> tuple[tuple[str, str] | None, str | None]:
    """Return baseline and candidate, or (None, None) if there is only one version.

    If the versions to compare are not clear, also return the reason.
    """
    pair = two_versions(benchmarks, baseline, candidate)
    if not isinstance(pair, str):
        return pair, None
    several = any(len(benchmark.levels(VERSION)) > 1 for benchmark in benchmarks)
    return None, pair if several else None


def _answer(
    tests: tuple[OrderComparison, ...],
    readings: _Readings,
    pair: tuple[str, str] | None,
    dropped: tuple[Dropped, ...],
    parameters: Mapping[str, object],
    *,
    alpha: float,
    level: float,
) -> OrderSurvey:
    positions, n = corrected(readings.positions), len(tests)
    p = [p for row in positions for p in (row.trend.p, row.after.p) if p is not None]
    return OrderSurvey(
        tests=tests,
        n_tests=n,
        alpha=alpha,
        threshold=alpha / n if n else None,
        level=level if n else None,
        matters=any(test.differs for test in tests) if n else None,
        matters_uncorrected=any(test.differs_uncorrected for test in tests) if n else None,
        conclusions=conclusions(tests, pair) if pair else (),
        positions=positions,
        n_position_tests=len(p),
        position_threshold=alpha / len(p) if p else None,
        position_matters=below(min(p), alpha / len(p)) if p else None,
        dropped=dropped,
        left_out=tuple(readings.left_out),
        parameters=parameters,
        mean_absolute_delta=mean_absolute(tests),
    )


def mean_absolute(tests: Sequence[OrderComparison]) -> Estimate:
    """Return the mean absolute change of these tests in percent of the fixed order."""
    deltas = [abs(test.delta_percent.value) for test in tests if test.delta_percent.value is not None]
    return Estimate(fmean(deltas)) if deltas else Estimate(None, reason="no test has a defined change")


def _read(per_run: PerRun, pair: tuple[str, str] | None, task: tuple[Benchmark, Sequence[str | None]]) -> _Readings:
    """Return the possible tests of a benchmark, and the reasons why other tests are impossible."""
    (benchmark, before), readings = task, _Readings()
    try:
        values = per_run.values(benchmark.runs)
    except ValueError as error:  # no iteration is left after the warm-up
        readings.left_out.append(LeftOut(benchmark.name, str(error)))
        return readings
    versions = [version for version in dict.fromkeys(benchmark.of(VERSION)) if pair is None or version in pair]
    readings.left_out += _unread(benchmark, versions)
    for row in placed(benchmark, values, before, versions):
        cell = _cell(benchmark, values, row.version)
        if len(cell.fixed) and len(cell.random):
            readings.cells.append(cell)
        if row.trend.p is not None or row.after.p is not None:
            readings.positions.append(row)
        elif not (len(cell.fixed) and len(cell.random)):
            name = f"{benchmark.name} ({row.version})" if row.version else benchmark.name
            readings.left_out.append(LeftOut(name, _why_not(cell, row)))
    return readings


def _cell(benchmark: Benchmark, values: Floats, version: str) -> Cell:
    kinds, versions = np.array(benchmark.of(ORDER_TYPE)), np.array(benchmark.of(VERSION))
    fixed, random = (values[(kinds == kind) & (versions == version)] for kind in (FIXED, RANDOM))
    return Cell(benchmark.name, benchmark.application, version, benchmark.unit, benchmark.better, fixed, random)


def _unread(benchmark: Benchmark, versions: Sequence[str]) -> Iterator[LeftOut]:
    n_other = sum(version not in versions for version in benchmark.of(VERSION))
    if n_other:
        yield LeftOut(benchmark.name, f"{n_other} runs of versions other than {' and '.join(versions) or 'the two'}")
    unknown = [kind for kind in benchmark.levels(ORDER_TYPE) if kind not in (FIXED, RANDOM)]
    if unknown:
        n = sum(kind in unknown for kind in benchmark.of(ORDER_TYPE))
        yield LeftOut(
            benchmark.name, f"{n} runs have order_type {', '.join(unknown)}, which is neither {FIXED} nor {RANDOM}"
        )


def _why_not(cell: Cell, row: Placed) -> str:
    """Return a text that names the data that a test needs but does not have."""
    if len(cell.fixed):
        return f"all runs are in fixed order, and a comparison also needs runs with {ORDER_TYPE} = {RANDOM}"
    if row.positions:
        return f"{row.trend.reason}; to compare the two orders, add runs with {ORDER_TYPE} {FIXED} and {RANDOM}"
    if len(cell.random):
        fixed = f"a comparison also needs runs with {ORDER_TYPE} = {FIXED}"
        return f"all runs are in random order; {fixed}, and the weaker tests need {ORDER_POSITION}"
    return f"no run has an order; add the column {ORDER_TYPE} ({FIXED} or {RANDOM}) or {ORDER_POSITION}"
