"""The spread of the runs of a benchmark, and the API benchmarking score: the altered methods that a suite detects."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from analysis.arrays import Floats
from analysis.runs.benchmark import (
    ALTERED,
    CONTEXT,
    EVERY_ITERATION,
    RUN,
    VERSION,
    Advance,
    Benchmark,
    LeftOut,
    PerRun,
    Run,
    by_level,
    unwatched,
)
from analysis.runs.samples import rank_sum, smallest_rank_sum_p
from analysis.runs.spread import max_spread
from analysis.statistics.bootstrap import bootstrap
from analysis.statistics.intervals import Estimate, wilson
from analysis.statistics.multiple import bonferroni, holm

PER = 5  # the paper has five runs per benchmark
KEPT_PERCENT = 95  # percentage of the spreads that the variability of a suite covers, smallest first


def variability(
    max_spreads: ArrayLike, *, resamples: int = 0, alpha: float = 0.05, rng: np.random.Generator | None = None
) -> Estimate:
    """Compute the slowdown v that a suite should show [1]_.

    v is twice the largest spread, after the largest 5 % of the spreads are left out.

    v = 2 max{MS_i : 0 < i <= floor(.95 |MS|)}, where MS is in ascending order and i starts at 1. Raises ValueError if a
    spread is negative or not finite, or `rng` is missing.

    `max_spreads` (shape (n_benchmarks,)): shares >= 0; `resamples`: resamples for the bootstrap interval; 0 for no
    interval; `alpha`: the level of the interval is 1 - alpha; `rng`: required for an interval. Returns a share >= 0.
    Undefined if there are fewer than two spreads, because floor(.95) is 0.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407
    """
    spreads = np.sort(np.asarray(max_spreads, dtype=np.float64))
    if spreads.ndim != 1 or not np.isfinite(spreads).all() or (spreads < 0).any():
        raise ValueError(f"max_spreads must be a series of finite shares >= 0, got {spreads}")
    if resamples and rng is None:
        raise ValueError(f"rng is needed for resamples = {resamples}")
    n_kept = KEPT_PERCENT * len(spreads) // 100  # computed with integers, because .95 n has rounding errors
    if n_kept < 1:
        return Estimate(None, reason=f"fewer than two spreads ({len(spreads)})")
    if not resamples or rng is None:
        return Estimate(float(2 * spreads[n_kept - 1]))

    def of_draws(weights: Floats) -> Floats:
        drawn: Floats = 2 * spreads[np.argmax(np.cumsum(weights, axis=1) >= n_kept, axis=1)]
        return drawn

    return bootstrap(of_draws, len(spreads), rng=rng, n_draws=resamples, level=1 - alpha)


def defined(estimates: Sequence[Estimate]) -> list[float]:
    """Return the values of all defined estimates."""
    return [estimate.value for estimate in estimates if estimate.value is not None]


@dataclass(frozen=True)
class RunPair:
    """A run of the baseline, and the same run with the altered method."""

    run: str
    p: float | None  # p of the rank-sum test that compares the iterations of both runs
    difference: float | None  # (altered - baseline) / baseline of the run values; None if the baseline is not positive
    n_baseline: int  # number of iterations
    n_altered: int


@dataclass(frozen=True)
class Regression:
    """The result of the test that decides whether a benchmark detects a change."""

    found: bool
    pairs: tuple[RunPair, ...]
    p: float | None = None  # the largest p of all pairs
    reason: str | None = None  # why these runs cannot detect even a large change


def is_regression(
    base_runs: Sequence[ArrayLike],
    altered_runs: Sequence[ArrayLike],
    v: float,
    *,
    p: float = 0.01,
    per_run: PerRun = EVERY_ITERATION,
    names: Sequence[str] = (),
) -> Regression:
    """Decide whether a benchmark detects a change, that is, whether every pair of runs shows it [1]_.

    A pair shows a change if p of the rank-sum test is small and the means differ by at least v / 2.

    The test treats the iterations of a run as independent, which is rarely true. The required difference, and the rule
    that all runs must agree, partly compensate for this. Improvements and changes in opposite directions also count.
    Raises ValueError if the numbers of runs or names differ, `v` is negative or not finite, or `p` not within (0, 1).

    `base_runs` and `altered_runs` (shape (n_iterations,)): paired runs, in the same order; `v`: the variability of the
    suite, a share >= 0; `p`: the p of each pair must be below this limit; `per_run`: Warm-up, and the value that is
    compared in addition to the ranks: mean, median or min; `names`: names of the pairs; by default numbers from 0.
    `found` is false and there is a reason in three cases: there are no pairs, the test cannot reach p with so few
    iterations (p = .01 needs five iterations per run), or a baseline value is not positive.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407
    """
    if len(base_runs) != len(altered_runs):
        raise ValueError(
            f"altered_runs must have as many runs as base_runs ({len(base_runs)}), got {len(altered_runs)}"
        )
    check_v(v)
    if not 0 < p < 1:
        raise ValueError(f"p must be within (0, 1), got {p}")
    if names and len(names) != len(base_runs):
        raise ValueError(f"names must have one entry per pair ({len(base_runs)}), got {len(names)}")
    if not base_runs:
        return Regression(False, (), reason="no run was measured both with and without the change")
    run_names = names or [str(number) for number in range(len(base_runs))]
    pairs = tuple(_pair(*sides, per_run) for sides in zip(run_names, base_runs, altered_runs, strict=True))
    highest = max(pair.p for pair in pairs if pair.p is not None)
    reason = next((reason for pair in pairs if (reason := _undetectable(pair, p))), None)
    far = all(pair.difference is not None and abs(pair.difference) >= v / 2 for pair in pairs)
    return Regression(reason is None and highest < p and far, pairs, highest, reason)


def check_v(v: float) -> None:
    """Raise ValueError unless `v` is a share >= 0."""
    if not isfinite(v) or v < 0:
        raise ValueError(f"v must be a share >= 0, got {v}")


def _pair(run: str, base: ArrayLike, altered: ArrayLike, per_run: PerRun) -> RunPair:
    before, after = per_run.steady(base), per_run.steady(altered)
    value = per_run.value(base)
    difference = (per_run.value(altered) - value) / value if value > 0 else None
    return RunPair(run, rank_sum(before, after).p, difference, len(before), len(after))


def _undetectable(pair: RunPair, p: float) -> str | None:
    if pair.difference is None:
        return f"run {pair.run}: the baseline is not positive"
    if smallest_rank_sum_p(pair.n_baseline, pair.n_altered) >= p:
        return f"run {pair.run}: {pair.n_baseline} and {pair.n_altered} iterations cannot give p below {p:g}"
    return None


BASELINE = "baseline"  # the level is compared without regard to upper and lower case
WIDEST = 0.5  # the absolute score leaves out benchmarks with a larger spread than this


@dataclass(frozen=True)
class Detection:
    """The result for one benchmark and one altered method: whether the benchmark detects the method.

    p is corrected for the number of tests in the suite.
    """

    benchmark: str
    method: str
    regression: Regression
    p_bonferroni: float | None
    p_holm: float | None


@dataclass(frozen=True)
class Variant:
    """The score for a subset of the benchmarks."""

    # In [0, 100], with Wilson's interval, which treats the methods as a random sample of the application's
    # methods.
    score: Estimate
    n_benchmarks: int
    without: tuple[str, ...]  # benchmarks that this variant leaves out
    covered: tuple[str, ...]  # the methods that at least one benchmark notices


@dataclass(frozen=True)
class Score:
    """The API benchmarking score of a suite, and the results from which it is computed."""

    baseline: str | None  # the level of `altered` that marks unaltered runs
    methods: tuple[str, ...]
    benchmarks: tuple[str, ...]
    v: Estimate  # A difference below v / 2 does not count
    detections: tuple[Detection, ...]  # one for each measured combination of benchmark and method
    # "total" is the score of all benchmarks. "relative" leaves out the round(.05 n) benchmarks with the largest
    # spreads. "absolute" leaves out benchmarks with spreads above 50 %. Two further scores are the total with p
    # corrected by Bonferroni and by Holm.
    variants: Mapping[str, Variant]
    redundancy: Mapping[str, int]  # number of benchmarks that notice each method
    left_out: tuple[LeftOut, ...]


def api_benchmarking_score(
    benchmarks: Sequence[Benchmark],
    *,
    per_run: PerRun = EVERY_ITERATION,
    baseline: str | None = None,
    without: Sequence[str] = (),
    v: float | None = None,
    regression_p: float = 0.01,
    alpha: float = 0.05,
    advance: Advance = unwatched,
) -> Score:
    """Compute the API benchmarking score [1]_: the percentage of altered methods that at least one benchmark detects.

    Raises ValueError if `baseline` or a name in `without` does not exist, or for invalid options of `is_regression`.

    `benchmarks`: one suite. The condition `altered` of a run names the method that was slowed down, or the baseline.
    Runs with the same `run` (and version and context) form pairs; if `run` is unknown, runs are paired in order.
    `baseline`: the level of `altered` that marks unaltered runs; by default the level called baseline; `without`: names
    of benchmarks to leave out of the score. v is still computed from the whole suite, because v measures the noise of
    the environment. Scores with different v are not comparable. `v`: the slowdown that was built into the altered
    methods, as a share, if known. The default is the `variability` of the spreads of the baseline of all benchmarks,
    because v is fixed before any method is made slower. With fewer than 20 benchmarks, floor(.95 n) leaves out only the
    noisiest benchmark; with one benchmark, v is undefined. `regression_p`: the limit `p` of `is_regression`; `alpha`:
    the level of the score's interval is 1 - alpha; `advance`: called with (done, total) after each benchmark. The
    scores are undefined if there is no baseline, no altered method, or no v.

    References
    ----------
    .. [1] Laaber, Leitner (2018), MSR '18, doi:10.1145/3196398.3196407
    """
    levels = list(dict.fromkeys(level for benchmark in benchmarks for level in benchmark.levels(ALTERED)))
    base_level = baseline_level(levels, baseline)
    methods = tuple(level for level in levels if level != base_level)
    _check_without(benchmarks, without)
    if v is not None:
        check_v(v)
    used_v = _variability(benchmarks, base_level or "", per_run) if v is None else Estimate(v)
    suite, left_out = _usable(benchmarks, base_level, methods, without)
    questions = _questions(suite, base_level, methods, used_v, per_run, regression_p, advance)
    detections = _corrected(list(questions))
    variants = _variants(suite, base_level, methods, detections, used_v, per_run, regression_p, alpha)
    redundancy = Counter(row.method for row in detections if row.regression.found)
    return Score(
        base_level, methods, tuple(benchmark.name for benchmark in suite), used_v, detections, variants,
        {method: redundancy[method] for method in methods}, left_out,
    )  # fmt: skip


def baseline_level(levels: Sequence[str], baseline: str | None) -> str | None:
    """Return the level of `altered` that marks unaltered runs; None if there is none."""
    if baseline is None:
        return next((level for level in levels if level.casefold() == BASELINE), None)
    if baseline not in levels:
        raise ValueError(f"baseline must be one of the altered levels ({', '.join(levels)}), got {baseline!r}")
    return baseline


def _check_without(benchmarks: Sequence[Benchmark], without: Sequence[str]) -> None:
    unknown = [name for name in without if name not in {benchmark.name for benchmark in benchmarks}]
    if unknown:
        raise ValueError(f"without must name benchmarks of the suite, got {', '.join(map(repr, unknown))}")


def _variability(benchmarks: Sequence[Benchmark], baseline: str, per_run: PerRun) -> Estimate:
    unaltered = [part for benchmark in benchmarks if (part := benchmark.where(**{ALTERED: baseline}))]
    spreads = [max_spread(per_run.values(level.runs)) for part in unaltered for level in by_level(part)]
    v = variability(defined(spreads))
    return v if v.value is not None else Estimate(None, reason=f"{v.reason} of the baseline; give v (--v)")


def _usable(
    benchmarks: Sequence[Benchmark], baseline: str | None, methods: Sequence[str], without: Sequence[str]
) -> tuple[list[Benchmark], tuple[LeftOut, ...]]:
    """Return the benchmarks that the score uses, and the benchmarks that it leaves out, with the reason for each."""
    suite, left_out = [], []
    for benchmark in benchmarks:
        levels = benchmark.levels(ALTERED)
        missing = [method for method in methods if method not in levels]
        if benchmark.name in without:
            left_out.append(LeftOut(benchmark.name, "the options leave this benchmark out of the score"))
        elif baseline is None or baseline not in levels:
            left_out.append(LeftOut(benchmark.name, "the baseline has no runs"))
        else:
            suite.append(benchmark)
            if missing:
                left_out.append(LeftOut(benchmark.name, f"not measured with {', '.join(missing)}"))
    return suite, tuple(left_out)


def _questions(
    suite: Sequence[Benchmark],
    baseline: str | None,
    methods: Sequence[str],
    v: Estimate,
    per_run: PerRun,
    regression_p: float,
    advance: Advance,
) -> Iterator[tuple[str, str, Regression]]:
    """Test each measured combination of a benchmark and an altered method."""
    for done, benchmark in enumerate(suite, start=1):
        before = _by_run(benchmark, baseline or "")
        for method in methods:
            after = _by_run(benchmark, method)
            if not after:
                continue
            common = [key for key in before if key in after]
            regression = is_regression(
                [before[key] for key in common], [after[key] for key in common], v.value or 0.0,
                p=regression_p, per_run=per_run, names=[_describe_run(key) for key in common],
            )  # fmt: skip
            undefined = Regression(False, regression.pairs, regression.p, f"v is undefined: {v.reason}")
            yield benchmark.name, method, regression if v.value is not None else undefined
        advance(done, len(suite))


def _by_run(benchmark: Benchmark, level: str) -> dict[tuple[str, ...], Run]:
    """Return the runs of one level of the condition `altered`, by key.

    The key (run, version, context and number) is the same for the matching run of another level.
    """
    runs: dict[tuple[str, ...], Run] = {}
    n_of_key: Counter[tuple[str, ...]] = Counter()
    for number in (number for number, entry in enumerate(benchmark.of(ALTERED)) if entry == level):
        key = tuple(benchmark.runs[number].of(name) for name in (RUN, VERSION, CONTEXT))
        runs[(*key, str(n_of_key[key]))] = benchmark.runs[number]
        n_of_key[key] += 1
    return runs


def _describe_run(key: tuple[str, ...]) -> str:
    run, version, context, number = key
    return " ".join(filter(None, (run or number, version, context)))


def _corrected(questions: Sequence[tuple[str, str, Regression]]) -> tuple[Detection, ...]:
    p = [regression.p for _, _, regression in questions]
    return tuple(Detection(*row, b, h) for row, b, h in zip(questions, bonferroni(p), holm(p), strict=True))


def _variants(
    suite: Sequence[Benchmark],
    baseline: str | None,
    methods: Sequence[str],
    detections: Sequence[Detection],
    v: Estimate,
    per_run: PerRun,
    regression_p: float,
    alpha: float,
) -> dict[str, Variant]:
    noticing = [row for row in detections if row.regression.found]
    missing = (
        "no run has an altered method"
        if not methods
        else None
        if v.value is not None
        else f"v is undefined: {v.reason}"
    )
    missing = "no level of altered is called baseline" if baseline is None else missing

    def variant(noticed: Sequence[Detection], without: Sequence[str] = ()) -> Variant:
        names = {row.method for row in noticed if row.benchmark not in without}
        covered = tuple(method for method in methods if method in names)
        share = Estimate(None, reason=missing) if missing else percentage(len(covered), len(methods), 1 - alpha)
        n_benchmarks = sum(benchmark.name not in without for benchmark in suite)
        return Variant(share, n_benchmarks, tuple(without), covered)

    spreads = _baseline_spreads(suite, baseline or "", per_run)
    widest = sorted(spreads, key=lambda name: -spreads[name])[
        : (len(suite) + 10) // 20
    ]  # round(.05 n), with halves rounded up
    return {
        "total": variant(noticing),
        "relative": variant(noticing, widest),
        "absolute": variant(noticing, [name for name, spread in spreads.items() if spread > WIDEST]),
        "total, Bonferroni": variant([row for row in noticing if _below(row.p_bonferroni, regression_p)]),
        "total, Holm": variant([row for row in noticing if _below(row.p_holm, regression_p)]),
    }


def _below(p: float | None, limit: float) -> bool:
    return p is not None and p < limit


def percentage(x: int, n: int, level: float) -> Estimate:
    """Compute x / n in percent, with Wilson's interval."""
    share = wilson(x, n, level)
    value, low, high = (100 * np.array(share.ends)).tolist()
    return Estimate(value, low=low, high=high)


def _baseline_spreads(suite: Sequence[Benchmark], baseline: str, per_run: PerRun) -> dict[str, float]:
    """Return the largest spread of the baseline of each benchmark that has a baseline."""
    widest = {}
    for benchmark in suite:
        levels = [level for level in by_level(benchmark) if level.of(ALTERED)[0] == baseline]
        spreads = defined([max_spread(per_run.values(level.runs)) for level in levels])
        if spreads:
            widest[benchmark.name] = max(spreads)
    return widest
