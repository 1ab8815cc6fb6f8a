"""Leave out runs in which a benchmark failed.

In fixed order, a failure changes the position of all later benchmarks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.benchmark import ALTERED, CONTEXT, ORDER_TYPE, RUN, VERSION, Benchmark, LeftOut

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

    Parameters
    ----------
    benchmarks : sequence of Benchmark
        Runs of different benchmarks belong together if run, order_type, version, context and altered are equal;
        conditions that a failure does not record are ignored.

    Returns
    -------
    list of Benchmark
        The remaining benchmarks, in the same order. Runs in random order keep all values, because the failed benchmark
        has no value.
    tuple of Dropped
        Each run with a failure, in order of appearance. If the run or its order is unknown, only the failed benchmark
        is left out.
    tuple of LeftOut
        Benchmarks without any remaining run.

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
