"""The whole question asked of a suite: how far runs are apart, in which buckets, and what the suite would notice."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from analysis.benchmark import (
    ALTERED,
    CONTEXT,
    EVERY_ITERATION,
    VERSION,
    Advance,
    Benchmark,
    LeftOut,
    Sampling,
    by_level,
    canonical,
    natural,
    unwatched,
)
from analysis.intervals import Estimate, wilson
from analysis.multiple import holm
from analysis.runs import Floats
from analysis.samples import NO_VARIATION, Test, mean_interval
from analysis.spread._score import Score, api_benchmarking_score
from analysis.spread._spread import BUCKETS, PER, bucket, cv, defined, max_spread, variability
from analysis.spread._time import SuiteTime, suite_time


@dataclass(frozen=True)
class Spread:
    """The runs of one benchmark, on one version, with one altered method, in one context.

    Attributes
    ----------
    name : str
        The benchmark, with its version, altered method and context where it has several: `NAME @ LEVEL`.
    benchmark, application, unit : str
    conditions : mapping of str to str
        Version, altered method and context, as far as they are known.
    n_runs : int
    n_failed : int
        Runs that gave nothing.
    values : tuple of float, shape (n_runs,)
        One number a run, in `unit`.
    max_spread : Estimate
        Over all runs.
    per_spread : Estimate
        Averaged over all choices of `Survey.per` runs.
    judged : float or None
        The one of the two that the buckets are made of.
    cv : Estimate
    bucket : str or None
        None where there is a reason.
    reason : str or None
        Why it is in no bucket.
    """

    name: str
    benchmark: str
    application: str
    unit: str
    conditions: Mapping[str, str]
    n_runs: int
    n_failed: int
    values: tuple[float, ...]
    max_spread: Estimate
    per_spread: Estimate
    judged: float | None
    cv: Estimate
    bucket: str | None
    reason: str | None


@dataclass(frozen=True)
class BucketRow:
    """How many benchmarks are in each bucket.

    Attributes
    ----------
    application : str
    n : int
    counts : mapping of str to int
        Bucket, in the order of `BUCKETS`, -> benchmarks.
    shares : mapping of str to Estimate
        With Wilson's intervals.
    n_runs : tuple of int
        The numbers of runs that occur.
    median : float or None
        Of the spreads.
    """

    application: str
    n: int
    counts: Mapping[str, int]
    shares: Mapping[str, Estimate]
    n_runs: tuple[int, ...]
    median: float | None


@dataclass(frozen=True)
class Environment:
    """The suite in one environment: in one measurement context.

    Attributes
    ----------
    name : str
        "" where no run names a context.
    overall : BucketRow
    applications : tuple of BucketRow
    v : Estimate
        `variability` of every spread over all runs that is defined; v / 2 is what 95 % of the suite would show.
    score : Score or None
        None if no run has the condition `altered`.
    time : SuiteTime or None
        None where it is not known how long runs take.
    """

    name: str
    overall: BucketRow
    applications: tuple[BucketRow, ...]
    v: Estimate
    score: Score | None
    time: SuiteTime | None


@dataclass(frozen=True)
class EnvironmentPair:
    """The spreads of the same benchmarks in two environments.

    Attributes
    ----------
    first, second : str
    n : int
        Benchmarks (on one version, with one altered method) that have a spread above 0 in both.
    n_unpaired : int
        Those that have none in one of the two.
    ratio : Estimate
        Spread in the second / spread in the first: geometric mean, with Student's interval over benchmarks.
    n_wider : int
        How many are wider in the second.
    test : Test
        Wilcoxon's signed-rank test of the logarithms of the ratios.
    p_holm : float or None
        Corrected over all pairs of environments.
    """

    first: str
    second: str
    n: int
    n_unpaired: int
    ratio: Estimate
    n_wider: int
    test: Test
    p_holm: float | None = None


@dataclass(frozen=True)
class Survey:
    """How stable the benchmarks of a suite are.

    Attributes
    ----------
    spreads : tuple of Spread
        Every benchmark on every level, those in no bucket included, by application and name.
    per : int
        The number of runs behind each `per_spread`.
    environments : tuple of Environment
        At least one; never pooled.
    environment_pairs : tuple of EnvironmentPair
        Every two of them, in sorted order.
    overall, applications, v, score
        Those of the environment where there is one; None or empty where there are several.
    left_out : tuple of LeftOut
    parameters : mapping of str to object
    """

    spreads: tuple[Spread, ...]
    per: int
    environments: tuple[Environment, ...]
    environment_pairs: tuple[EnvironmentPair, ...]
    overall: BucketRow | None
    applications: tuple[BucketRow, ...]
    v: Estimate | None
    score: Score | None
    left_out: tuple[LeftOut, ...]
    parameters: Mapping[str, object]

    def within(self, environment: Environment) -> list[Spread]:
        """The benchmarks in a bucket in this environment, the widest first."""
        inside = [row for row in self.spreads if row.bucket and row.conditions.get(CONTEXT, "") == environment.name]
        return sorted(inside, key=lambda row: -(row.judged or 0.0))


def survey(
    benchmarks: Sequence[Benchmark],
    *,
    sampling: Sampling = EVERY_ITERATION,
    per: int | None = None,
    regression_p: float = 0.01,
    baseline: str | None = None,
    without: Sequence[str] = (),
    v: float | None = None,
    budget: float | None = None,
    alpha: float = 0.05,
    seed: int = 1,
    resamples: int = 0,
    advance: Advance = unwatched,
) -> Survey:
    """How far the runs of each benchmark are apart, in buckets, and, with altered methods, what the suite notices [1]_.

    Versions, altered methods and contexts are taken one by one: a spread across them would not be one. Each context is
    an environment with its own buckets, v and score; the same benchmarks in two environments are compared pair by pair.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
        One suite; several applications have a row of buckets each.
    sampling : Sampling
    per : int, optional
        The buckets are made of spreads averaged over choices of this many runs, so that benchmarks with different
        numbers of runs can stand beside each other; those with fewer are left out. None: of spreads over all runs;
        benchmarks with fewer runs than the most of their application are left out. The spread over choices of five
        runs, as the source has, stands beside it then.
    regression_p, baseline, without, v
        As `api_benchmarking_score`; the last three only where a run has the condition `altered`.
    budget : float, optional
        Minutes, as for `suite_time`.
    alpha : float
        The level of intervals is 1 - alpha.
    seed, resamples : int
        Of the interval of v; 0 resamples: none.
    advance : callable
        Told (done, total) after each benchmark, and after each once more where the suite has altered methods.

    Returns
    -------
    Survey
        A benchmark that has no spread, lacks runs, or is all warm-up is listed in `left_out` with the reason.

    Raises
    ------
    ValueError
        If `per` is below 2, `alpha` not within (0, 1), `resamples` negative, `baseline`, `without` or `v` given without
        altered methods, or as `api_benchmarking_score` and `suite_time`.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407

    Examples
    --------
    >>> runs = tuple(np.array([mean]) for mean in (1.00, 1.02, 0.99, 1.01))
    >>> answer = survey([Benchmark.of_series("parse", runs)])
    >>> answer.spreads[0].bucket, answer.spreads[0].max_spread
    ('up to 5 %', Estimate(0.02985))
    """
    _check(per, alpha, resamples)
    benchmarks = canonical(benchmarks)
    is_altered = any(benchmark.levels(ALTERED) for benchmark in benchmarks)
    if not is_altered and (baseline, tuple(without), v) != (None, (), None):
        options = f"baseline = {baseline!r}, without = {tuple(without)}, v = {v}"
        raise ValueError(f"{options}: these need runs with the condition altered, and there are none")
    total = len(benchmarks) * (1 + is_altered)
    usable, uncut, left_out = _spreads(benchmarks, sampling, per, lambda done: advance(done, total))
    spreads, rng = _in_buckets(uncut, per), np.random.default_rng(seed)
    parameters = {
        "warmup": sampling.warmup, "aggregate": sampling.aggregate, "per": per, "regression_p": regression_p,
        "baseline": baseline, "without": tuple(without), "v": v, "budget": budget, "alpha": alpha, "seed": seed,
        "resamples": resamples,
    }  # fmt: skip
    names, levels = _named(without, benchmarks), {at for benchmark in benchmarks for at in benchmark.levels(ALTERED)}
    environments, n_done = [], len(benchmarks)
    for name in _environments(benchmarks):
        inside = [part for benchmark in usable if (part := benchmark.where(**{CONTEXT: name}))]
        own = [row for row in spreads if row.conditions.get(CONTEXT, "") == name]
        score = None
        if is_altered:
            own_levels = {at for part in inside for at in part.levels(ALTERED)}
            score = api_benchmarking_score(
                inside,
                sampling=sampling,
                baseline=baseline if baseline in own_levels or baseline not in levels else None,
                without=[part.name for part in inside if part.name in names],
                v=v,
                regression_p=regression_p,
                alpha=alpha,
                advance=partial(_advance_part, advance, n_done, total),
            )
            n_done += len(inside)
        most_runs = {(row.application, row.benchmark): row.n_runs for row in sorted(own, key=lambda row: row.n_runs)}
        environments.append(
            Environment(
                name,
                _row("", own, alpha),
                _by_application(own, alpha),
                variability(defined([row.max_spread for row in own]), resamples=resamples, alpha=alpha, rng=rng),
                score,
                suite_time(inside, most_runs, score, budget=budget, level=1 - alpha),
            )
        )
    if is_altered:
        advance(total, total)
    only = environments[0] if len(environments) == 1 else None
    return Survey(
        spreads=spreads,
        per=per or PER,
        environments=tuple(environments),
        environment_pairs=_pairs(spreads, environments, 1 - alpha),
        overall=only.overall if only else None,
        applications=only.applications if only else (),
        v=only.v if only else None,
        score=only.score if only else None,
        left_out=(*left_out, *(LeftOut(row.name, row.reason) for row in spreads if row.reason)),
        parameters=parameters,
    )


def _advance_part(advance: Advance, before: int, total: int, done: int, _n: int) -> None:
    advance(min(before + done, total), total)


def _named(without: Sequence[str], benchmarks: Sequence[Benchmark]) -> set[str]:
    """The benchmarks to be left out of the score; raises ValueError if one is nowhere."""
    unknown = [name for name in without if name not in {benchmark.name for benchmark in benchmarks}]
    if unknown:
        raise ValueError(f"without must name benchmarks of the suite, got {', '.join(map(repr, unknown))}")
    return set(without)


def _environments(benchmarks: Sequence[Benchmark]) -> list[str]:
    return sorted({context for benchmark in benchmarks for context in benchmark.of(CONTEXT)}, key=natural) or [""]


def _pairs(spreads: Sequence[Spread], environments: Sequence[Environment], level: float) -> tuple[EnvironmentPair, ...]:
    """Every two environments, benchmark by benchmark."""
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
        ratio = Estimate(None, reason="no benchmark has a spread above 0 in both")
    elif mean.ends is None:
        ratio = Estimate(float(np.exp(mean.value)), reason="one benchmark has no interval")
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
    from scipy import stats  # here, as it takes long to import

    result = stats.wilcoxon(logs)
    return Test(float(result.pvalue), float(result.statistic))


def _spreads(
    benchmarks: Sequence[Benchmark], sampling: Sampling, per: int | None, tell: Callable[[int], None]
) -> tuple[list[Benchmark], list[Spread], list[LeftOut]]:
    """The benchmarks that have a number for each run, their spreads, and the others."""
    usable, spreads, left_out = [], [], []
    for done, benchmark in enumerate(benchmarks, start=1):
        try:
            spreads += [_spread(benchmark, level, sampling.values(level.runs), per) for level in by_level(benchmark)]
        except ValueError as error:  # a run that is all warm-up
            left_out.append(LeftOut(benchmark.name, str(error)))
        else:
            usable.append(benchmark)
        tell(done)
    return usable, spreads, left_out


def _check(per: int | None, alpha: float, resamples: int) -> None:
    if per is not None and per < 2:
        raise ValueError(f"per must be at least 2, got {per}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be within (0, 1), got {alpha}")
    if resamples < 0:
        raise ValueError(f"resamples must be at least 0, got {resamples}")


def _spread(benchmark: Benchmark, level: Benchmark, values: Floats, per: int | None) -> Spread:
    """One benchmark on one level, not yet put in a bucket."""
    over_all, over_some = max_spread(values), max_spread(values, per=per or PER)
    conditions = {name: entry for name in (VERSION, ALTERED, CONTEXT) if (entry := level.of(name)[0])}
    return Spread(
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


def _in_buckets(spreads: Sequence[Spread], per: int | None) -> tuple[Spread, ...]:
    """The same, each in a bucket or with the reason why not."""
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


def _by_application(spreads: Iterable[Spread], alpha: float) -> tuple[BucketRow, ...]:
    of_application: dict[str, list[Spread]] = {}
    for row in spreads:
        of_application.setdefault(row.application, []).append(row)
    return tuple(_row(name, rows, alpha) for name, rows in of_application.items())


def _row(application: str, spreads: Sequence[Spread], alpha: float) -> BucketRow:
    defined_rows = [row for row in spreads if row.bucket]
    counts = {name: sum(row.bucket == name for row in defined_rows) for name in BUCKETS}
    widths = [row.judged for row in defined_rows if row.judged is not None]
    return BucketRow(
        application=application,
        n=len(defined_rows),
        counts=counts,
        shares={name: wilson(count, len(defined_rows), 1 - alpha) for name, count in counts.items()},
        n_runs=tuple(sorted({row.n_runs for row in defined_rows})),
        median=float(np.median(widths)) if widths else None,
    )
