"""Measure the reliability of intervals and tests for many benchmarks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from analysis.methods.options import TestOptions, with_keywords
from analysis.methods.trust._pairs import TESTS
from analysis.methods.trust._population import AGGREGATIONS, Distribution, distribution
from analysis.methods.trust._rates import (
    GAMMAS,
    RESAMPLES,
    Coverage,
    Curve,
    Rate,
    coverage,
    sensitivity,
    smallest_slowdown,
    type_1_error,
)
from analysis.runs.benchmark import (
    EVERY_ITERATION,
    RUN,
    Benchmark,
    LeftOut,
    PerRun,
    by_content,
    by_level,
    canonical,
)
from analysis.statistics.intervals import Estimate

POWERS = (0.8, 0.95)
# the options that `trust_of` takes
OF_BENCHMARK = ("per_run", "alpha", "n_runs", "level", "gammas", "powers", "tests", "resamples")
MAX_RUNS = 200  # time and memory grow with the number of runs; of more runs, so many are drawn at random
MAX_SIZES = 50  # numbers of runs per draw for which coverage is computed


@dataclass(frozen=True)
class CoverageAt:
    """The coverage of each aggregation for one number of runs per draw."""

    n_runs: int
    coverage: Mapping[str, Coverage]


@dataclass(frozen=True)
class Slowdown:
    """The smallest factor that a test detects with the given power, or the reason why it is undefined."""

    aggregation: str
    test: str
    power: float
    factor: Estimate


@dataclass(frozen=True)
class Trust:
    """How reliable intervals and tests are for one benchmark."""

    name: str
    application: str
    unit: str
    better: str
    n_runs: int  # number of runs available
    n_used: int  # number of runs of which the samples consist: all, or `MAX_RUNS` that were drawn at random
    run_values: tuple[float, ...]  # one number per run
    coverage: Mapping[str, Coverage]  # by aggregation
    type_1_error: Mapping[str, Mapping[str, Rate]]  # by aggregation and test
    curves: tuple[Curve, ...]  # one curve per aggregation and test; empty if no factors were requested
    slowdowns: tuple[Slowdown, ...]
    by_n_runs: tuple[CoverageAt, ...]  # Coverage with 2, 3, ... runs per draw; empty if not requested.
    distribution: Distribution | None = None  # histograms of the measurements; only if there is a single benchmark


@dataclass(frozen=True)
class MiddleHalf:
    """The median and the middle half of a value over the n benchmarks that have it; None if n is 0."""

    n: int
    low: float | None
    median: float | None
    high: float | None


@dataclass(frozen=True)
class SlowdownSummary:
    """The median of the smallest detected slowdowns over n benchmarks, and the number of benchmarks that have one.

    A benchmark without a detected slowdown counts as if its slowdown were larger than all others. The median is None if
    at least half of the benchmarks have no detected slowdown.
    """

    aggregation: str
    test: str
    power: float
    n: int
    n_reached: int
    median: float | None


@dataclass(frozen=True)
class TrustSummary:
    """The results of one aggregation across all benchmarks."""

    aggregation: str
    coverage: MiddleHalf
    zero_width: MiddleHalf  # share of draws whose interval has width 0
    below: Mapping[str, int]  # number of benchmarks with coverage below each limit: 0.5, 0.8, 0.9 and the level
    type_1_error: Mapping[str, MiddleHalf]  # by test
    n_alarming: Mapping[str, int]  # by test, the number of benchmarks with a type I error above twice alpha


@dataclass(frozen=True)
class TrustSurvey:
    """How reliable intervals and tests are for many benchmarks.

    Attributes
    ----------
    n_runs : int
        Number of runs per draw.
    level, alpha : float
        Confidence level of the intervals, and significance level of the tests.
    tests : tuple of str
    powers : tuple of float
        Powers of the smallest detected slowdowns.
    benchmarks : tuple of Trust
        One entry for each benchmark, version, context and alteration, sorted by application and name.
    summaries : tuple of Summary
        One per aggregation.
    slowdowns : tuple of SlowdownSummary
    left_out : tuple of LeftOut
    parameters : mapping of str to object
    """

    n_runs: int
    level: float
    alpha: float
    tests: tuple[str, ...]
    powers: tuple[float, ...]
    benchmarks: tuple[Trust, ...]
    summaries: tuple[TrustSummary, ...]
    slowdowns: tuple[SlowdownSummary, ...]
    left_out: tuple[LeftOut, ...]
    parameters: Mapping[str, object]


def trust_of(
    benchmark: Benchmark,
    *,
    n_runs: int = 5,
    level: float = 0.95,
    alpha: float = 0.05,
    per_run: PerRun = EVERY_ITERATION,
    gammas: Sequence[float] = GAMMAS,
    powers: Sequence[float] = POWERS,
    tests: Sequence[str] = TESTS,
    resamples: int = RESAMPLES,
    by_n_runs: bool = False,
    rng: np.random.Generator,
) -> Trust:
    """Measure how reliable intervals and tests are for one benchmark.

    The result can be pickled. Raises ValueError as for `type_1_error`, and if a power is not within (0, 1].

    `benchmark`: a benchmark whose runs are draws from one population; see `by_level`; `gammas`: as for `sensitivity`.
    If empty, no curves are computed; curves take most of the time. `powers`: powers for which to compute the smallest
    detected slowdown; `by_n_runs`: whether to compute coverage also with 2, 3, ... runs per draw, up to all runs and at
    least up to `n_runs`; of more than 50 numbers, 50 are used. Of more than 200 runs, 200 are drawn at random.
    """
    drawing: dict[str, Any] = {"level": level, "per_run": per_run, "resamples": resamples, "rng": rng}
    testing = drawing | {"alpha": alpha, "tests": tests}
    runs = by_content(benchmark).runs
    if len(runs) > MAX_RUNS:
        runs = tuple(runs[at] for at in np.sort(rng.choice(len(runs), MAX_RUNS, replace=False)))
    curves = sensitivity(runs, n_runs, gammas=gammas, better=benchmark.better, **testing) if len(gammas) else ()
    slowdowns = [
        Slowdown(curve.aggregation, curve.test, power, smallest_slowdown(curve, power))
        for curve in curves
        for power in powers
    ]
    most = max(len(runs), n_runs)
    sizes = np.unique(np.linspace(2, most, min(most - 1, MAX_SIZES)).round().astype(int)).tolist() if by_n_runs else ()
    return Trust(
        name=benchmark.name,
        application=benchmark.application,
        unit=benchmark.unit,
        better=benchmark.better,
        n_runs=len(benchmark.runs),
        n_used=len(runs),
        run_values=tuple(per_run.values(benchmark.runs).tolist()),
        coverage=coverage(runs, n_runs, **drawing),
        type_1_error=type_1_error(runs, n_runs, **testing),
        curves=curves,
        slowdowns=tuple(slowdowns),
        by_n_runs=tuple(CoverageAt(n, coverage(runs, n, **drawing)) for n in sizes),
    )


@dataclass(frozen=True, kw_only=True)
class TrustOptions(TestOptions):
    """The options of `trust_survey`."""

    n_runs: int = field(default=5, metadata={
        "flag": "--runs", "within": "[1, )", "metavar": "N", "help": "Number of runs per measurement.",
        "label": "Runs per measurement",
    })  # fmt: skip
    level: float = 0.95
    gammas: Sequence[float] = GAMMAS
    powers: Sequence[float] = POWERS
    tests: Sequence[str] = TESTS
    resamples: int = RESAMPLES
    n_curve: int = 100


@with_keywords(TrustOptions)
def trust_survey(benchmarks: Sequence[Benchmark], options: TrustOptions) -> TrustSurvey:
    """Measure how reliable intervals and tests are with the runs of these benchmarks [1]_.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
        Each version, context and alteration of a benchmark is treated separately.
    n_runs, level, alpha, per_run, gammas, powers, tests, resamples
        As for `trust_of`.
    n_curve : int
        Number of benchmarks for which coverage is also computed by the number of runs. These benchmarks are evenly
        spread over the list.
    seed : int
        Random seed. Each benchmark has separate random numbers, independent of the order of the benchmarks.
    mapper : callable
        A function like the built-in `map` with one iterable, such as the `map` of an executor.
    advance : callable
        Called with the number of benchmarks done and the total.

    Returns
    -------
    TrustSurvey
        Benchmarks with one run, or with a run that has only warm-up iterations, are left out with a reason. Of a
        benchmark with more than 200 runs, the samples consist of 200 runs that were drawn at random.

    Raises
    ------
    ValueError
        As for `trust_of`, and if `n_curve` is negative.

    References
    ----------
    .. [1] Bulej, Horky, Tuma (2017), ICPE '17 Companion, doi:10.1145/3053600.3053638

    Examples
    --------
    >>> runs = tuple(np.array([mean]) for mean in (1.00, 1.02, 0.99, 1.01))
    >>> answer = trust_survey([Benchmark.of_series("parse", runs)], n_runs=2, resamples=50, n_curve=0)
    >>> answer.benchmarks[0].coverage["run means"].value  # although the level is 95 %
    0.75
    """
    if options.n_curve < 0:
        raise ValueError(f"n_curve must be at least 0, got {options.n_curve}")
    levels = [level_of for benchmark in canonical(benchmarks) for level_of in by_level(benchmark)]
    reasons = [_unusable(benchmark, options.per_run) for benchmark in levels]
    usable = [benchmark for benchmark, reason in zip(levels, reasons, strict=True) if reason is None]
    left_out = [LeftOut(entry.name, reason) for entry, reason in zip(levels, reasons, strict=True) if reason]
    chosen = set(np.linspace(0, len(usable) - 1, min(options.n_curve, len(usable))).round().astype(int).tolist())
    generators = np.random.default_rng(options.seed).spawn(len(usable))
    tasks = [(benchmark, rng, at in chosen) for at, (benchmark, rng) in enumerate(zip(usable, generators, strict=True))]
    trusts: list[Trust] = []
    of_benchmark = {name: getattr(options, name) for name in OF_BENCHMARK}
    for trust in options.mapper(partial(_task, of_benchmark), tasks):
        trusts.append(trust)
        options.advance(len(trusts), len(usable))
    if len(usable) == 1:
        trusts = [replace(trusts[0], distribution=_distribution(usable[0], options.per_run))]
    summaries = tuple(_summary(name, trusts, options) for name in AGGREGATIONS) if trusts else ()
    return TrustSurvey(
        options.n_runs, options.level, options.alpha, tuple(options.tests), tuple(options.powers), tuple(trusts),
        summaries, _slowdowns(trusts), tuple(left_out), options.parameters,
    )  # fmt: skip


def _task(options: Mapping[str, Any], task: tuple[Benchmark, np.random.Generator, bool]) -> Trust:
    benchmark, rng, by_n_runs = task
    return trust_of(benchmark, rng=rng, by_n_runs=by_n_runs, **options)


def _distribution(benchmark: Benchmark, per_run: PerRun) -> Distribution:
    names = [name or str(at) for at, name in enumerate(benchmark.of(RUN), start=1)]
    return distribution([per_run.steady(run) for run in benchmark.runs], names)


def _unusable(benchmark: Benchmark, per_run: PerRun) -> str | None:
    if len(benchmark.runs) < 2:
        return "there is only one run, so every sample is the same"
    try:
        per_run.values(benchmark.runs)
    except ValueError as error:
        return str(error)
    return None


def _summary(aggregation: str, trusts: Sequence[Trust], options: TrustOptions) -> TrustSummary:
    tests, level, alpha = options.tests, options.level, options.alpha
    coverages = [trust.coverage[aggregation] for trust in trusts]
    errors = {test: [trust.type_1_error[aggregation][test].value for trust in trusts] for test in tests}
    limits = sorted({0.5, 0.8, 0.9, level})
    return TrustSummary(
        aggregation,
        _quartiles([rate.value for rate in coverages]),
        _quartiles([rate.zero_width for rate in coverages]),
        {f"{limit:g}": sum(rate.value is not None and rate.value < limit for rate in coverages) for limit in limits},
        {test: _quartiles(values) for test, values in errors.items()},
        {test: sum(value is not None and value > 2 * alpha for value in values) for test, values in errors.items()},
    )


def _quartiles(values: Iterable[float | None]) -> MiddleHalf:
    numbers = [value for value in values if value is not None]
    return MiddleHalf(len(numbers), *(np.quantile(numbers, [0.25, 0.5, 0.75]).tolist() if numbers else (None,) * 3))


def _slowdowns(trusts: Sequence[Trust]) -> tuple[SlowdownSummary, ...]:
    """Summarise the smallest detected slowdowns over benchmarks, in the order of the first benchmark that has them."""
    by_question: dict[tuple[str, str, float], list[float]] = {}
    for trust in trusts:
        for curve in trust.curves:
            for entry in trust.slowdowns:
                if curve.power and (entry.aggregation, entry.test) == (curve.aggregation, curve.test):
                    factors = by_question.setdefault((entry.aggregation, entry.test, entry.power), [])
                    factors.append(np.inf if entry.factor.value is None else entry.factor.value)
    rows = []
    for question, factors in by_question.items():
        median = float(np.quantile(factors, 0.5, method="inverted_cdf"))
        n_reached = int(np.isfinite(factors).sum())
        rows.append(SlowdownSummary(*question, len(factors), n_reached, median if np.isfinite(median) else None))
    return tuple(rows)
