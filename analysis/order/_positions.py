"""Test whether values depend on the position in the run or on the previous benchmark.

These tests are weaker than the comparison of two orders. They detect only effects of the position or of the previous
benchmark. Random orders also contain few runs for each position and for each previous benchmark. Runs with a failure
are left out, because in fixed order a failure changes the position of all later benchmarks.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from analysis.benchmark import (
    ALTERED,
    CONTEXT,
    ORDER_POSITION,
    ORDER_TYPE,
    RUN,
    VERSION,
    Benchmark,
    LeftOut,
    in_direction,
)
from analysis.multiple import bonferroni, holm
from analysis.order._compare import middle
from analysis.runs import Floats
from analysis.samples import NO_VARIATION, KruskalWallis, Test, kruskal

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
class Placed:
    """The results of the two weaker tests for one version of a benchmark. Runs in fixed order are left out."""

    benchmark: str
    application: str
    version: str
    unit: str
    better: str
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

    Examples
    --------
    >>> position_trend([0, 1, 2, 3], [1.0, 1.5, 1.25, 2.0])
    Test(p=0.333..., statistic=0.666..., reason=None)
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

    Examples
    --------
    >>> after_predecessor(["a", "a", "b", "b", "c"], [1, 2, 3, 4, 5]).n
    4
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
