"""Measure the spread of many benchmarks, the altered methods that a suite detects, and how long smaller suites take."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

import numpy as np
from scipy import optimize

from analysis.arrays import Floats
from analysis.methods.options import TestOptions, with_keywords
from analysis.methods.spread._score import (
    PER,
    Score,
    api_benchmarking_score,
    baseline_level,
    defined,
    percentage,
    variability,
)
from analysis.runs.benchmark import (
    ALTERED,
    CONTEXT,
    DURATION,
    ORDER_TYPE,
    RUN,
    VERSION,
    Advance,
    Benchmark,
    LeftOut,
    PerRun,
    by_level,
    canonical,
    natural,
)
from analysis.runs.samples import NO_VARIATION, Test, mean_interval
from analysis.runs.spread import BUCKETS, bucket, cv, max_spread
from analysis.statistics.intervals import Estimate, wilson
from analysis.statistics.multiple import holm

SHARES = (0.1, 0.25, 0.5)  # time limits of the parts that are always computed; 1 is the time of the whole suite

Key = tuple[str, str]  # application, benchmark


@dataclass(frozen=True)
class BenchmarkTime:
    """The time that one benchmark takes."""

    application: str
    benchmark: str
    seconds_per_run: float  # mean time of a run, in seconds
    n_runs: int  # number of runs with one version, in one environment
    seconds: float  # time of all these runs


@dataclass(frozen=True)
class SuitePart:
    """A part of a suite: some of its benchmarks."""

    limit: float | None  # time limit in seconds; None for no limit
    benchmarks: tuple[str, ...]
    seconds: float  # time of these benchmarks
    score: Estimate | None  # API benchmarking score of these benchmarks; None if the suite has no altered methods


@dataclass(frozen=True)
class PassTime:
    """The time of a complete pass, which is one run of each benchmark (Table 2 of the paper)."""

    n: int  # number of complete passes: sets of runs with the same run, version, altered method and order
    mean: float  # in seconds
    sd: float | None  # standard deviation in seconds; None for a single pass


@dataclass(frozen=True)
class SuiteTime:
    """The time that a suite and its parts take."""

    # True if every run records its time (the condition `duration`). Otherwise the measured times of a run were
    # summed, which is less than the real time if a run measures only some of its operations.
    is_measured: bool
    seconds: float  # time to run all runs of all benchmarks once
    benchmarks: tuple[BenchmarkTime, ...]  # longest first
    n_unknown: int  # number of benchmarks without a known time of their runs; no part contains them
    # The smallest part that notices the same methods as the whole suite; if several parts are equally small, the
    # fastest. None if the suite has no altered methods.
    smallest: SuitePart | None
    # For each time limit, the benchmarks that notice the most methods, in the shortest time. If the suite has no
    # altered methods, as many benchmarks as fit.
    parts: tuple[SuitePart, ...]
    one_pass: PassTime | None = None  # None if no run occurs in every benchmark with a known time


def suite_time(
    benchmarks: Sequence[Benchmark],
    n_runs: Mapping[Key, int],
    score: Score | None,
    *,
    budget: float | None = None,
    level: float = 0.95,
) -> SuiteTime | None:
    """Compute the time of a suite, and find which altered methods parts of the suite still detect [1]_.

    Raises ValueError if the budget is not a positive number.

    `benchmarks`: one suite in one environment; `n_runs`: number of runs of each benchmark; `score`: which methods the
    benchmarks notice. A benchmark notices the same methods in every part of the suite, because v always comes from the
    whole suite. `budget`: time limit in minutes for a further part. Parts for a tenth, a quarter and half of the time
    always exist. `level`: confidence level of the scores. The result is None if no run records its time and no
    benchmark is in seconds.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407, section 4.1
    """
    if budget is not None and not 0 < budget < np.inf:
        raise ValueError(f"budget must be a positive number of minutes, got {budget}")
    is_measured = any(benchmark.levels(DURATION) for benchmark in benchmarks)
    times, timed = [], []
    for benchmark in benchmarks:
        seconds = _seconds_per_run(benchmark, is_measured)
        if seconds is not None:
            timed.append(benchmark)
            n = n_runs.get((benchmark.application, benchmark.name), len(benchmark.runs))
            times.append(BenchmarkTime(benchmark.application, benchmark.name, seconds, n, seconds * n))
    if not times:
        return None
    times.sort(key=lambda time: (-time.seconds, time.application, time.benchmark))
    total = sum(time.seconds for time in times)
    noticing = _noticing(times, score)
    limits = [share * total for share in SHARES] + ([60 * budget] if budget else [])
    smallest = None
    if score is not None and score.variants["total"].score.value is not None:
        smallest = _part(times, _smallest(times, noticing), None, noticing, score, level)
    chosen = [_within(times, noticing, limit) for limit in limits]
    parts = [_part(times, some, limit, noticing, score, level) for some, limit in zip(chosen, limits, strict=True)]
    one_pass = pass_time([_seconds_of_runs(benchmark, is_measured) for benchmark in timed])
    return SuiteTime(is_measured, total, tuple(times), len(benchmarks) - len(times), smallest, tuple(parts), one_pass)


def pass_time(seconds: Sequence[Mapping[tuple[str, ...], float]]) -> PassTime | None:
    """Return the mean and the standard deviation of the time of a complete pass, from the seconds of each run by key.

    A pass is complete if each benchmark has a run with its key.
    """
    keys = [key for key in seconds[0] if all(key in of_one for of_one in seconds)] if seconds else []
    sums = sorted(sum(of_one[key] for of_one in seconds) for key in keys)
    if not sums:
        return None
    return PassTime(len(sums), float(np.mean(sums)), float(np.std(sums, ddof=1)) if len(sums) > 1 else None)


def _seconds_of_runs(benchmark: Benchmark, is_measured: bool) -> dict[tuple[str, ...], float]:
    """Return the seconds of each run with a known time, by the properties that name its pass.

    Raises ValueError if a recorded time is not a number.
    """
    if not is_measured and benchmark.unit != "s":
        return {}
    n_of_key: Counter[tuple[str, ...]] = Counter()
    seconds = {}
    for at, run in enumerate(benchmark.runs):
        key = tuple(run.of(name) for name in (RUN, VERSION, ALTERED, ORDER_TYPE))
        number, n_of_key[key] = n_of_key[key], n_of_key[key] + 1  # runs without a name are numbered
        entry = run.of(DURATION)
        if not is_measured or entry:
            seconds[(*key, str(number))] = float(entry) if is_measured else float(benchmark.values[at].sum())
    return seconds


def _seconds_per_run(benchmark: Benchmark, is_measured: bool) -> float | None:
    try:
        seconds = list(_seconds_of_runs(benchmark, is_measured).values())
    except ValueError:
        return None
    mean = float(np.mean(sorted(seconds))) if seconds else 0.0
    return mean if 0 < mean < np.inf else None


def _noticing(times: Sequence[BenchmarkTime], score: Score | None) -> Floats:
    """Return a matrix that shows which benchmark (column) detects which covered method (row).

    An entry is 1 if the benchmark detects the method, otherwise 0.
    """
    covered = score.variants["total"].covered if score else ()
    pairs = {(row.benchmark, row.method) for row in score.detections if row.regression.found} if score else set()
    return np.array([[float((time.benchmark, method) in pairs) for time in times] for method in covered]).reshape(
        len(covered), len(times)
    )


def _smallest(times: Sequence[BenchmarkTime], noticing: Floats) -> list[int]:
    """Return the smallest set of benchmarks that together detect all these methods.

    If several sets have the same size, return the fastest.
    """
    seconds = np.array([time.seconds for time in times])
    needed = noticing[noticing.any(axis=1)]
    if not len(needed):
        return []
    cost = 1 + seconds / (seconds.sum() * (1 + len(times)))
    return _chosen(cost, optimize.LinearConstraint(needed, lb=1), len(times))


def _within(times: Sequence[BenchmarkTime], noticing: Floats, limit: float) -> list[int]:
    """Return the benchmarks that detect the most methods within the time limit.

    If there are no methods, return as many benchmarks as possible.
    """
    seconds = np.array([time.seconds for time in times])
    if not len(noticing):
        shortest = np.argsort(seconds, kind="stable")
        fits = np.cumsum(seconds[shortest]) <= limit * (1 + 1e-12)
        return sorted(int(at) for at in shortest[fits])
    n_methods, n = noticing.shape
    # variables: one per benchmark (run or not), one per method (noticed or not)
    rows = np.vstack([np.hstack([noticing, -np.eye(n_methods)]), np.hstack([-seconds / limit, np.zeros(n_methods)])])
    cost = np.hstack([0.5 * seconds / seconds.sum(), -np.ones(n_methods)])
    return _chosen(cost, optimize.LinearConstraint(rows, lb=np.hstack([np.zeros(n_methods), -1])), n)


def _chosen(cost: Floats, constraint: optimize.LinearConstraint, n: int) -> list[int]:
    """Minimise the cost over binary variables; return the indices of the first n variables that are 1."""
    result = optimize.milp(
        cost, integrality=np.ones(len(cost), dtype=np.int64), bounds=optimize.Bounds(0, 1), constraints=constraint
    )
    if result.x is None:
        raise RuntimeError(f"the solver could not choose a part of the suite: {result.message}")
    return [int(at) for at in np.flatnonzero(result.x[:n] > 0.5)]


def _part(
    times: Sequence[BenchmarkTime], chosen: Sequence[int], limit: float | None, noticing: Floats, score: Score | None,
    level: float,
) -> SuitePart:  # fmt: skip
    seconds = sum(times[at].seconds for at in chosen)
    of_part = None
    if score is not None:
        total = score.variants["total"].score
        n_noticed = int(noticing[:, list(chosen)].any(axis=1).sum()) if chosen else 0
        of_part = total if total.value is None else percentage(n_noticed, len(score.methods), level)
    return SuitePart(limit, tuple(times[at].benchmark for at in chosen), seconds, of_part)


@dataclass(frozen=True)
class BenchmarkSpread:
    """The spread of the runs of a benchmark that have the same version, altered method and context."""

    name: str  # name of the benchmark, with version, altered method and context if there are several: `NAME @ LEVEL`
    benchmark: str
    application: str
    unit: str
    conditions: Mapping[str, str]  # Version, altered method and context, if known
    n_runs: int
    n_failed: int  # number of failed runs
    values: tuple[float, ...]  # one number per run, in `unit`
    max_spread: Estimate  # spread over all runs
    per_spread: Estimate  # Spread, averaged over all choices of `Survey.per` runs
    judged: float | None  # the spread that the buckets use: `max_spread` or `per_spread`
    cv: Estimate
    bucket: str | None  # the bucket that contains `judged`; None if the benchmark is in no bucket
    reason: str | None  # why the benchmark is in no bucket


@dataclass(frozen=True)
class RangeRow:
    """The number of benchmarks in each range of spread."""

    application: str
    n: int
    counts: Mapping[str, int]  # number of benchmarks by bucket, in the order of `BUCKETS`
    shares: Mapping[str, Estimate]  # share of benchmarks by bucket, with Wilson's intervals
    n_runs: tuple[int, ...]  # the different numbers of runs that occur
    median: float | None  # median spread


@dataclass(frozen=True)
class ContextSpread:
    """The results of a suite in one environment, that is, in one measurement context."""

    name: str  # "" if no run names a context
    overall: RangeRow
    applications: tuple[RangeRow, ...]
    v: Estimate  # `variability` of all defined spreads over all runs. 95 % of the suite would show a slowdown of v / 2.
    score: Score | None  # None if no run has the condition `altered`
    time: SuiteTime | None  # None if the time of runs is unknown


@dataclass(frozen=True)
class EnvironmentPair:
    """The spreads of the same benchmarks in two environments."""

    first: str
    second: str
    n: int  # number of benchmarks (per version and altered method) with a spread above 0 in both environments
    n_unpaired: int  # number of benchmarks without a spread above 0 in one of the environments
    # Spread in the second / spread in the first: geometric mean with Student's interval over benchmarks.
    ratio: Estimate
    n_wider: int  # number of benchmarks with a larger spread in the second environment
    test: Test  # Wilcoxon's signed-rank test of the logarithms of the ratios
    p_holm: float | None = None  # p corrected for all pairs of environments


@dataclass(frozen=True)
class SpreadSurvey:
    """The result of `spread_survey`: how stable the benchmarks of a suite are.

    Attributes
    ----------
    spreads : tuple of BenchmarkSpread
        All benchmarks at all levels, including benchmarks without a bucket, sorted by application and name. If methods
        were altered, only their unaltered runs.
    per : int
        Number of runs per choice in `per_spread`.
    environments : tuple of ContextSpread
        At least one environment. The spreads of different environments are never combined.
    environment_pairs : tuple of EnvironmentPair
        All pairs of environments, in sorted order.
    overall, applications, v, score
        Results of the only environment; None or empty if there are several.
    left_out : tuple of LeftOut
    parameters : mapping of str to object
    """

    spreads: tuple[BenchmarkSpread, ...]
    per: int
    environments: tuple[ContextSpread, ...]
    environment_pairs: tuple[EnvironmentPair, ...]
    overall: RangeRow | None
    applications: tuple[RangeRow, ...]
    v: Estimate | None
    score: Score | None
    left_out: tuple[LeftOut, ...]
    parameters: Mapping[str, object]

    def within(self, environment: ContextSpread) -> list[BenchmarkSpread]:
        """Return the benchmarks whose spread has a range in this environment, largest spread first."""
        inside = [row for row in self.spreads if row.bucket and row.conditions.get(CONTEXT, "") == environment.name]
        return sorted(inside, key=lambda row: -(row.judged or 0.0))


@dataclass(frozen=True, kw_only=True)
class SpreadOptions(TestOptions):
    """The options of `spread_survey`."""

    per: int | None = field(default=None, metadata={
        "flag": "--subset-runs", "within": "[2, )", "metavar": "N", "label": "Runs per subset",
        "help": "Average maxSpread across all subsets of N runs, to compare it with suites that have N runs.",
    })  # fmt: skip
    regression_p: float = 0.01
    baseline: str | None = field(default=None, metadata={
        "metavar": "NAME", "help": "Value in the column `altered` to use as the baseline.",
    })  # fmt: skip
    v: float | None = field(default=None, metadata={
        "flag": "--altered-slowdown", "within": "(0, )", "metavar": "SHARE",
        "help": "How much slower the altered methods are (v in the paper). A benchmark detects an altered method whose "
        "times change by at least half of this [default: computed from the spreads].",
    })  # fmt: skip
    without: Sequence[str] = field(default=(), metadata={
        "metavar": "BENCHMARK", "help": "Benchmark to leave out of the score. Repeatable.",
    })  # fmt: skip
    budget: float | None = field(default=None, metadata={
        "within": "(0, )", "metavar": "MINUTES",
        "help": "Also show which part of the suite fits into this time, and which changes this part would detect.",
    })  # fmt: skip
    resamples: int = 0

    def check(self, benchmarks: Sequence[Benchmark], *, is_altered: bool) -> None:
        """Raise ValueError if an option is invalid, or does not fit the benchmarks."""
        if self.per is not None and self.per < 2:
            raise ValueError(f"per must be at least 2, got {self.per}")
        self.check_alpha()
        if self.resamples < 0:
            raise ValueError(f"resamples must be at least 0, got {self.resamples}")
        without = tuple(self.without)
        if not is_altered and (self.baseline, without, self.v) != (None, (), None):
            options = f"baseline = {self.baseline!r}, without = {without}, v = {self.v}"
            raise ValueError(
                f"{options}: these options need runs with the condition altered, but no run has this condition"
            )
        unknown = [name for name in without if name not in {benchmark.name for benchmark in benchmarks}]
        if unknown:
            raise ValueError(f"without must name benchmarks of the suite, got {', '.join(map(repr, unknown))}")


@with_keywords(SpreadOptions)
def spread_survey(benchmarks: Sequence[Benchmark], options: SpreadOptions) -> SpreadSurvey:
    """Compute the spread of the runs of each benchmark, and which altered methods the suite detects [1]_.

    Each version, altered method and context has its own spread, because a spread over several versions, methods or
    contexts has no meaning. Each context is an environment with its own buckets, v and score. Two environments are
    compared by the benchmarks that both contain.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
        One suite; each application has its own row of buckets.
    per_run : PerRun
    per : int, optional
        If given, the buckets use spreads averaged over choices of this many runs, so that benchmarks with different
        numbers of runs can be compared; benchmarks with fewer runs are left out. By default, the buckets use spreads
        over all runs, and benchmarks with fewer runs than the maximum of their application are left out. The report
        then also shows the spread over choices of five runs, as in the paper.
    regression_p, baseline, without, v
        See `api_benchmarking_score`; the last three are only allowed if a run has the condition `altered`.
    budget : float, optional
        Time in minutes; see `suite_time`.
    alpha : float
        The level of intervals is 1 - alpha.
    seed, resamples : int
        Random seed and number of resamples for the interval of v. If `resamples` is 0, there is no interval.
    advance : callable
        Called with (done, total) after each benchmark, and once more per benchmark if there are altered methods.
    mapper : callable
        A function like the built-in `map` with one iterable, such as the `map` of an executor.

    Returns
    -------
    SpreadSurvey
        `left_out` lists benchmarks without a spread, with too few runs, or with only warm-up iterations.

    Raises
    ------
    ValueError
        If `per` is below 2, `alpha` not within (0, 1), `resamples` is negative, `baseline`, `without` or `v` is given
        without altered methods, or for invalid options of `api_benchmarking_score` and `suite_time`.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407

    Examples
    --------
    >>> runs = tuple(np.array([mean]) for mean in (1.00, 1.02, 0.99, 1.01))
    >>> answer = spread_survey([Benchmark.of_series("parse", runs)])
    >>> answer.spreads[0].bucket, answer.spreads[0].max_spread
    ('up to 5 %', Estimate(0.02985))
    """
    benchmarks, advance = canonical(benchmarks), options.advance
    is_altered = any(benchmark.levels(ALTERED) for benchmark in benchmarks)
    options.check(benchmarks, is_altered=is_altered)
    total = len(benchmarks) * (1 + is_altered)
    usable, uncut, left_out = _spreads(benchmarks, options, total)
    all_levels = list(dict.fromkeys(at for benchmark in benchmarks for at in benchmark.levels(ALTERED)))
    unaltered = baseline_level(all_levels, options.baseline)
    if unaltered is not None:  # a benchmark with altered methods counts once
        uncut = [row for row in uncut if row.conditions.get(ALTERED) == unaltered]
    spreads, rng = _with_ranges(uncut, options.per), np.random.default_rng(options.seed)
    environments, n_done = [], len(benchmarks)
    for name in _environments(benchmarks):
        inside = [part for benchmark in usable if (part := benchmark.where(**{CONTEXT: name}))]
        score = None
        if is_altered:
            score = _score(inside, all_levels, options, partial(_advance_part, advance, n_done, total))
            n_done += len(inside)
        own = [row for row in spreads if row.conditions.get(CONTEXT, "") == name]
        environments.append(_environment(name, inside, own, score, options, rng))
    if is_altered:
        advance(total, total)
    only = environments[0] if len(environments) == 1 else None
    return SpreadSurvey(
        spreads=spreads,
        per=options.per or PER,
        environments=tuple(environments),
        environment_pairs=_pairs(spreads, environments, 1 - options.alpha),
        overall=only.overall if only else None,
        applications=only.applications if only else (),
        v=only.v if only else None,
        score=only.score if only else None,
        left_out=(*left_out, *(LeftOut(row.name, row.reason) for row in spreads if row.reason)),
        parameters=options.parameters,
    )


def _score(inside: Sequence[Benchmark], all_levels: Sequence[str], options: SpreadOptions, advance: Advance) -> Score:
    """Compute the score of the altered methods in one environment, which may lack the baseline of the suite."""
    own_levels = {at for part in inside for at in part.levels(ALTERED)}
    has_baseline = options.baseline in own_levels or options.baseline not in all_levels
    return api_benchmarking_score(
        inside,
        per_run=options.per_run,
        baseline=options.baseline if has_baseline else None,
        without=[part.name for part in inside if part.name in options.without],
        v=options.v,
        regression_p=options.regression_p,
        alpha=options.alpha,
        advance=advance,
    )


def _environment(
    name: str,
    inside: Sequence[Benchmark],
    own: Sequence[BenchmarkSpread],
    score: Score | None,
    options: SpreadOptions,
    rng: np.random.Generator,
) -> ContextSpread:
    """Summarise the spreads of the benchmarks in one environment."""
    alpha, level = options.alpha, 1 - options.alpha
    widths = defined([row.max_spread for row in own])
    most_runs = {(row.application, row.benchmark): row.n_runs for row in sorted(own, key=lambda row: row.n_runs)}
    return ContextSpread(
        name,
        _row("", own, alpha),
        _by_application(own, alpha),
        variability(widths, resamples=options.resamples, alpha=alpha, rng=rng),
        score,
        suite_time(inside, most_runs, score, budget=options.budget, level=level),
    )


def _advance_part(advance: Advance, before: int, total: int, done: int, _n: int) -> None:
    advance(min(before + done, total), total)


def _environments(benchmarks: Sequence[Benchmark]) -> list[str]:
    return sorted({context for benchmark in benchmarks for context in benchmark.of(CONTEXT)}, key=natural) or [""]


def _pairs(
    spreads: Sequence[BenchmarkSpread], environments: Sequence[ContextSpread], level: float
) -> tuple[EnvironmentPair, ...]:
    """Compare the spreads of the same benchmarks in each pair of environments."""
    widths: dict[str, dict[tuple[str, ...], float]] = {row.name: {} for row in environments}
    for row in spreads:
        key = (row.application, row.benchmark, *(row.conditions.get(name, "") for name in (VERSION, ALTERED)))
        widths[row.conditions.get(CONTEXT, "")][key] = (row.judged or 0.0) if row.bucket else 0.0
    pairs = [_pair(a, b, widths[a], widths[b], level) for a, b in combinations(widths, 2)]
    return tuple(replace(pair, p_holm=p) for pair, p in zip(pairs, holm([pair.test.p for pair in pairs]), strict=True))


def _pair(
    first: str, second: str, a: Mapping[tuple[str, ...], float], b: Mapping[tuple[str, ...], float], level: float
) -> EnvironmentPair:
    common = [key for key in a if a[key] > 0 and b.get(key, 0.0) > 0]
    logs = np.log([b[key] / a[key] for key in common])
    mean = mean_interval(logs, level)
    if mean.value is None:
        ratio = Estimate(None, reason="no benchmark has a spread above 0 in both environments")
    elif mean.ends is None:
        ratio = Estimate(float(np.exp(mean.value)), reason="an interval needs at least two benchmarks")
    else:
        value, low, high = (float(np.exp(end)) for end in mean.ends)
        ratio = Estimate(value, mean.se, low, high, mean.reason)
    n_unpaired = len(a.keys() | b.keys()) - len(common)
    return EnvironmentPair(first, second, len(common), n_unpaired, ratio, int((logs > 0).sum()), _signed_rank(logs))


def _signed_rank(logs: Floats) -> Test:
    if len(logs) < 2:
        return Test(None, reason="at least two benchmarks are needed")
    if not logs.any():
        return Test(1.0, 0.0, NO_VARIATION)
    from scipy import stats  # imported here because the import is slow

    result = stats.wilcoxon(logs)
    return Test(float(result.pvalue), float(result.statistic))


def _spreads(
    benchmarks: Sequence[Benchmark], options: SpreadOptions, total: int
) -> tuple[list[Benchmark], list[BenchmarkSpread], list[LeftOut]]:
    """Compute the spread of each benchmark; also return the benchmarks that are left out."""
    usable, spreads, left_out = [], [], []
    results = options.mapper(partial(_spreads_of, options.per_run, options.per), benchmarks)
    for done, (benchmark, result) in enumerate(zip(benchmarks, results, strict=True), start=1):
        if isinstance(result, LeftOut):
            left_out.append(result)
        else:
            usable.append(benchmark)
            spreads += result
        options.advance(done, total)
    return usable, spreads, left_out


def _spreads_of(per_run: PerRun, per: int | None, benchmark: Benchmark) -> list[BenchmarkSpread] | LeftOut:
    try:
        return [_spread(benchmark, level, per_run.values(level.runs), per) for level in by_level(benchmark)]
    except ValueError as error:  # a run has only warm-up iterations
        return LeftOut(benchmark.name, str(error))


def _spread(benchmark: Benchmark, level: Benchmark, values: Floats, per: int | None) -> BenchmarkSpread:
    """Compute the spread of a benchmark at one level, without its range."""
    over_all, over_some = max_spread(values), max_spread(values, per=per or PER)
    conditions = {name: entry for name in (VERSION, ALTERED, CONTEXT) if (entry := level.of(name)[0])}
    return BenchmarkSpread(
        name=level.name,
        benchmark=benchmark.name,
        application=benchmark.application,
        unit=benchmark.unit,
        conditions=conditions,
        n_runs=len(values),
        n_failed=sum(
            all(failure.conditions.get(name, entry) == entry for name, entry in conditions.items())
            for failure in benchmark.failures
        ),
        values=tuple(values.tolist()),
        max_spread=over_all,
        per_spread=over_some,
        judged=(over_all if per is None else over_some).value,
        cv=cv(values),
        bucket=None,
        reason=None,
    )


def _with_ranges(spreads: Sequence[BenchmarkSpread], per: int | None) -> tuple[BenchmarkSpread, ...]:
    """Add its range to each spread; if a spread is in no range, add the reason."""
    most: dict[tuple[str, str], int] = {}
    for row in spreads:
        suite = row.application, row.conditions.get(CONTEXT, "")
        most[suite] = max(row.n_runs, most.get(suite, 0))
    decided = []
    for row in spreads:
        estimate = row.max_spread if per is None else row.per_spread
        n_runs = most[row.application, row.conditions.get(CONTEXT, "")]
        reason = estimate.reason if estimate.value is None else None
        if per is None and row.n_runs < n_runs:
            reason = f"{row.n_runs} of {n_runs} runs"
        if reason and row.n_failed:
            reason += f"; {row.n_failed} failed"
        decided.append(replace(row, bucket=None if reason or row.judged is None else bucket(row.judged), reason=reason))
    return tuple(decided)


def _by_application(spreads: Iterable[BenchmarkSpread], alpha: float) -> tuple[RangeRow, ...]:
    of_application: dict[str, list[BenchmarkSpread]] = {}
    for row in spreads:
        of_application.setdefault(row.application, []).append(row)
    return tuple(_row(name, rows, alpha) for name, rows in of_application.items())


def _row(application: str, spreads: Sequence[BenchmarkSpread], alpha: float) -> RangeRow:
    defined_rows = [row for row in spreads if row.bucket]
    counts = {name: sum(row.bucket == name for row in defined_rows) for name in BUCKETS}
    widths = [row.judged for row in defined_rows if row.judged is not None]
    return RangeRow(
        application=application,
        n=len(defined_rows),
        counts=counts,
        shares={name: wilson(count, len(defined_rows), 1 - alpha) for name, count in counts.items()},
        n_runs=tuple(sorted({row.n_runs for row in defined_rows})),
        median=float(np.median(widths)) if widths else None,
    )
