"""Build the names of benchmarks, check that they are unique, and read the times of runs."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from datetime import UTC, datetime
from typing import TypeVar

from analysis.benchmark import Benchmark

_Name = TypeVar("_Name", bound=Hashable)


def with_parameters(operation: str, parameters: Mapping[str, str]) -> str:
    """Return the name of an operation with its parameter values.

    Examples
    --------
    >>> with_parameters("sort", {"n": "10", "order": "up"}), with_parameters("join", {})
    ('sort#n=10&order=up', 'join')
    """
    return "#".join(filter(None, (operation, "&".join(f"{name}={value}" for name, value in parameters.items()))))


def with_unique_names(benchmarks: Iterable[Benchmark], *, advice: str = "") -> Iterator[Benchmark]:
    """Yield the benchmarks of a file; raise ValueError if two have the same name, with `advice` on what to do."""
    names: set[str] = set()
    for benchmark in benchmarks:
        if benchmark.name in names:
            raise ValueError(f"benchmark {benchmark.name!r} appears twice{advice and '; '}{advice}")
        names.add(benchmark.name)
        yield benchmark


def _suites(groups: Sequence[AbstractSet[Hashable]]) -> list[int]:
    """Return a number for each group of benchmarks; groups that a common benchmark connects have the same number.

    Examples
    --------
    >>> _suites([{"a", "b"}, {"c"}, {"b", "d"}, {"d"}])
    [0, 1, 0, 0]
    """
    parent = list(range(len(groups)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = at = parent[parent[at]]
        return at

    first: dict[Hashable, int] = {}
    for at, group in enumerate(groups):
        for benchmark in group:
            one, other = sorted((root(at), root(first.setdefault(benchmark, at))))
            parent[other] = one
    return [root(at) for at in range(len(groups))]


def missing_benchmarks(processes: Sequence[AbstractSet[_Name]]) -> Iterator[tuple[_Name, int]]:
    """Yield each benchmark and the position of each process of its suite that lacks the benchmark.

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


def time_of(text: object) -> str:
    """Convert a time in a result file to ISO 8601 in UTC, so that texts sort by time.

    Return "" if the text is not a time. A time without a zone is treated as UTC, because the times are only used to
    order runs of one machine.

    Examples
    --------
    >>> time_of("2024-05-01 10:00:00"), time_of("2024-05-01T12:00:00.5+02:00"), time_of(None)
    ('2024-05-01T10:00:00.000000', '2024-05-01T10:00:00.500000', '')
    """
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return ""
    in_utc = time.astimezone(UTC) if time.tzinfo else time
    return in_utc.replace(tzinfo=None).isoformat(timespec="microseconds")


def seconds_as_time(seconds: float) -> str:
    """Return a number of seconds since 1970 as ISO 8601; "" if it is no time."""
    try:
        return time_of(datetime.fromtimestamp(seconds, UTC).isoformat())
    except (OverflowError, OSError, ValueError):
        return ""
