"""Build benchmarks from what a file holds: their names, one value per process, and failures of missing benchmarks."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import replace
from typing import TypeVar

import numpy as np

from analysis.runs.benchmark import FAILED_SHARE, LOWER, Benchmark, Failure
from labeler.files.formats.units import stored_unit

_Name = TypeVar("_Name", bound=Hashable)
ONE_RUN = ""  # given as the column for run: if the table has no column run, all rows of a benchmark are one run
SingleValue = tuple[str, float, str]  # name of the benchmark, value, unit of the value


def with_parameters(operation: str, parameters: Mapping[str, str]) -> str:
    """Return the name of an operation with its parameter values.

    Examples
    --------
    >>> with_parameters("sort", {"n": "10", "order": "up"}), with_parameters("join", {})
    ('sort#n=10&order=up', 'join')
    """
    return "#".join(filter(None, (operation, "&".join(f"{name}={value}" for name, value in parameters.items()))))


def with_unique_names(benchmarks: Iterable[Benchmark], *, advice: str = "") -> Iterator[Benchmark]:
    """Yield the benchmarks of a file; raise ValueError if two have the same name, with `advice` after the reason."""
    names: set[str] = set()
    for benchmark in benchmarks:
        if benchmark.name in names:
            raise ValueError(f"benchmark {benchmark.name!r} appears twice{advice}")
        names.add(benchmark.name)
        yield benchmark


def from_single_values(values: Iterable[SingleValue]) -> Iterator[Benchmark]:
    """Yield one benchmark per name, in order of first appearance; a repeated name is a run of another process.

    Raises ValueError if a name has two units, or a value is not finite.
    """
    runs: dict[str, list[tuple[float, str]]] = {}
    for name, value, unit in values:
        runs.setdefault(name, []).append((value, unit))
    for name, of_name in runs.items():
        yield of_operation(name, [(name, value, unit) for value, unit in of_name])


def of_operation(
    name: str, values: Sequence[SingleValue], *, benchmark: str = "", failures: Sequence[Failure] = ()
) -> Benchmark:
    """Return a benchmark with one run for each value; raises ValueError if the values have two units."""
    units = list(dict.fromkeys(unit for _name, _value, unit in values))
    kinds = {stored_unit(unit)[::2] for unit in units}
    if len(kinds) > 1:
        raise ValueError(f"benchmark {name!r} has more than one unit: {', '.join(map(repr, units))}")
    stored, _factor, better = stored_unit(units[0]) if units else ("", 1.0, "")
    series = [np.array([value * stored_unit(unit)[1]]) for _name, value, unit in values]
    return Benchmark.of_series(name, series, unit=stored, better=better, benchmark=benchmark, failures=failures)


def failed_share(
    name: str, counts: Sequence[tuple[float, float]], *, benchmark: str, failures: Sequence[Failure] = ()
) -> Benchmark:
    """Return the share of failed operations as a benchmark, from (failed, all) of each run.

    `benchmark` is the operation, which the times of these operations have, too. A run without operations has no share.
    """
    series = [np.array([failed / every]) for failed, every in counts if every]
    without = [Failure({}, "nothing was measured", on_purpose=True) for _failed, every in counts if not every]
    return Benchmark.of_series(
        name, series, unit=FAILED_SHARE, better=LOWER, benchmark=benchmark, failures=[*failures, *without]
    )


def with_failures(values: Iterable[SingleValue], failed: Iterable[tuple[str, str]]) -> Iterator[Benchmark]:
    """Yield the benchmarks with the failures that the tool printed, and with a failure where a process lacks them."""
    values = list(values)
    failures: dict[str, list[str]] = defaultdict(list)
    for name, reason in failed:
        failures[name.strip()].append(reason)
    processes = _processes([name for name, _value, _unit in values])
    for name, n in Counter(name for name, _process in missing_benchmarks(processes)).items():
        failures[name] += ["missing in the output of a process"] * (n - len(failures[name]))
    for benchmark in from_single_values(values):
        reasons = failures.pop(benchmark.name, ())
        yield replace(benchmark, failures=tuple(Failure({}, reason) for reason in reasons))
    for name, reasons in failures.items():
        yield Benchmark(name, (), failures=tuple(Failure({}, reason) for reason in reasons))


def _processes(names: Sequence[str]) -> list[set[str]]:
    """Return the benchmarks of each process whose output is in a file, or nothing if this cannot be known.

    All processes print their benchmarks in the same order, so another process begins where a name is not after the
    previous one. If this gives more processes than the most frequent name has, the file has another order.
    """
    order = {name: at for at, name in enumerate(dict.fromkeys(names))}
    processes: list[set[str]] = []
    last = len(order)
    for name in names:
        if order[name] <= last:
            processes.append(set())
        processes[-1].add(name)
        last = order[name]
    return processes if len(processes) == max(Counter(names).values(), default=0) else []


def missing_benchmarks(processes: Sequence[AbstractSet[_Name]]) -> Iterator[tuple[_Name, int]]:
    """Yield each benchmark and the position of each process of its suite that lacks the benchmark.

    Processes that a common benchmark connects are of the same suite.

    Examples
    --------
    >>> list(missing_benchmarks([{"a", "b"}, {"a"}, {"c"}]))
    [('b', 1)]
    """
    numbers = _suites(processes)
    names: dict[int, dict[_Name, None]] = {}
    for number, process in zip(numbers, processes, strict=True):
        names.setdefault(number, {}).update(dict.fromkeys(process))
    for at, (number, process) in enumerate(zip(numbers, processes, strict=True)):
        if len(process) < len(names[number]):
            yield from ((name, at) for name in names[number] if name not in process)


def _suites(processes: Sequence[AbstractSet[Hashable]]) -> list[int]:
    """Return the number of the suite of each process.

    Examples
    --------
    >>> _suites([{"a", "b"}, {"c"}, {"b", "d"}, {"d"}])
    [0, 1, 0, 0]
    """
    parent = list(range(len(processes)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = at = parent[parent[at]]
        return at

    first: dict[Hashable, int] = {}
    for at, process in enumerate(processes):
        for benchmark in process:
            earlier, later = sorted((root(at), root(first.setdefault(benchmark, at))))
            parent[later] = earlier
    return [root(at) for at in range(len(processes))]
