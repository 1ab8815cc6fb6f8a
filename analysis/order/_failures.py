"""Runs in which a benchmark failed: in a fixed order what comes after a failure no longer stands where it should."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.benchmark import ALTERED, CONTEXT, ORDER_TYPE, RUN, VERSION, Benchmark, LeftOut

FIXED, RANDOM = "fixed", "random"
IDENTITY = (RUN, ORDER_TYPE, VERSION, CONTEXT, ALTERED)  # what several benchmarks measured in one run have in common

Key = tuple[str, ...]


@dataclass(frozen=True)
class Dropped:
    """A run in which at least one benchmark failed.

    Attributes
    ----------
    run, order_type, version, context : str
        "" where it is not known.
    failed : tuple of str
        The benchmarks that failed in it.
    reasons : tuple of str
        Why, one text each; may be "".
    whole : bool
        Whether the values of all other benchmarks in this run are dropped too.
    n_values : int
        How many such values there were.
    """

    run: str
    order_type: str
    version: str
    context: str
    failed: tuple[str, ...]
    reasons: tuple[str, ...]
    whole: bool
    n_values: int


def drop_failed(benchmarks: Sequence[Benchmark]) -> tuple[list[Benchmark], tuple[Dropped, ...], tuple[LeftOut, ...]]:
    """Leave out whole fixed runs with a failed benchmark, but of random runs only the benchmark that failed [1]_.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
        Runs of different benchmarks belong together if run, order_type, version, context and altered are equal; what
        is not known of a failure is not compared.

    Returns
    -------
    list of Benchmark
        What is left, in the same order. A failure gave no value, so that random runs lose none.
    tuple of Dropped
        Every run with a failure, in order of appearance. If the run or its order is not known, only the failed
        benchmark is without a value.
    tuple of LeftOut
        Benchmarks that have no run left.

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
            left_out.append(LeftOut(benchmark.name, "in every one of its runs, all in fixed order, a benchmark failed"))
    return usable, _listed(failed, lost), tuple(left_out)


def _runs_left(benchmark: Benchmark, lost: dict[Key, int]) -> Sequence[int]:
    """The runs of no lost key; counts the others."""
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
    """What tells a run of all benchmarks from another, one for each run of this benchmark."""
    return list(zip(*(benchmark.of(name) for name in IDENTITY), strict=True))


def _key(conditions: Mapping[str, str]) -> Key:
    return tuple(conditions.get(name, "") for name in IDENTITY)
