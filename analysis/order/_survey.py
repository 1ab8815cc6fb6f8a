"""Check many benchmarks for order effects."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean

import numpy as np

from analysis.benchmark import (
    ALTERED,
    CONTEXT,
    EVERY_ITERATION,
    ORDER_POSITION,
    ORDER_TYPE,
    VERSION,
    Advance,
    Benchmark,
    LeftOut,
    PerRun,
    by_level,
    canonical,
    two_versions,
    unwatched,
)
from analysis.intervals import Estimate
from analysis.order._compare import (
    PUBLISHED_LEVEL,
    Cell,
    Conclusion,
    OrderComparison,
    below,
    checked_compat,
    compared,
    conclusions,
)
from analysis.order._positions import FIXED, RANDOM, Dropped, Placed, corrected, drop_failed, placed, predecessors
from analysis.runs import Floats


@dataclass(frozen=True)
class OrderSurvey:
    """The result of `survey`: whether order matters for these benchmarks.

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


def survey(
    benchmarks: Sequence[Benchmark],
    *,
    per_run: PerRun = EVERY_ITERATION,
    alpha: float = 0.05,
    ci_level: float | None = None,
    compat: str | None = None,
    baseline: str | None = None,
    candidate: str | None = None,
    seed: int = 1,
    advance: Advance = unwatched,
) -> OrderSurvey:
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
    >>> answer = survey([Benchmark.of_series("parse", runs, conditions=conditions)])
    >>> answer.matters, answer.n_tests
    (False, 1)
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be within (0, 1), got {alpha}")
    if ci_level is not None and not 0 < ci_level < 1:
        raise ValueError(f"ci_level must be within (0, 1), got {ci_level}")
    checked_compat(compat)
    benchmarks = canonical(benchmarks)
    pair, no_pair = _pair(benchmarks, baseline, candidate)
    usable, dropped, lost = drop_failed(benchmarks)
    parts = [part for benchmark in usable for part in by_level(benchmark, (CONTEXT, ALTERED))]
    readings = _Readings(left_out=[*lost, *([LeftOut("conclusions on two versions", no_pair)] if no_pair else [])])
    for done, (benchmark, before) in enumerate(zip(parts, predecessors(parts), strict=True), 1):
        _read(benchmark, before, per_run, pair, readings)
        advance(done, len(parts))
    parameters = {
        "warmup": per_run.warmup, "aggregate": per_run.aggregate, "alpha": alpha, "ci_level": ci_level,
        "compat": compat,
        "baseline": pair[0] if pair else baseline, "candidate": pair[1] if pair else candidate, "seed": seed,
    }  # fmt: skip
    n_tests = len(readings.cells)
    level = ci_level or (PUBLISHED_LEVEL if compat else 1 - alpha / max(n_tests, 1))
    tests = compared(readings.cells, alpha=alpha, ci_level=level, compat=compat)
    return _answer(tests, readings, pair, dropped, parameters, alpha=alpha, level=level)


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


def _read(
    benchmark: Benchmark,
    before: Sequence[str | None],
    per_run: PerRun,
    pair: tuple[str, str] | None,
    readings: _Readings,
) -> None:
    """Add the possible tests of a benchmark to `readings`, and the reasons why other tests are impossible."""
    try:
        values = per_run.values(benchmark.runs)
    except ValueError as error:  # no iteration is left after the warm-up
        readings.left_out.append(LeftOut(benchmark.name, str(error)))
        return
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
