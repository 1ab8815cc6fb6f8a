"""Names that tell the benchmarks of a file apart, which of them can be used, and when runs were made."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime

from analysis.benchmark import Benchmark


def with_parameters(operation: str, parameters: Mapping[str, str]) -> str:
    """The operation with its parameter values.

    Examples
    --------
    >>> with_parameters("sort", {"n": "10", "order": "up"}), with_parameters("join", {})
    ('sort#n=10&order=up', 'join')
    """
    return "#".join(filter(None, (operation, "&".join(f"{name}={value}" for name, value in parameters.items()))))


def measured(benchmarks: Iterable[Benchmark], *, advice: str = "") -> Iterator[Benchmark]:
    """The benchmarks of a file, also those of which every run failed, as long as one of them has a run.

    Parameters
    ----------
    benchmarks : iterable of Benchmark
        One without runs tells in its failures why.
    advice : str
        What to do about a name that stands there twice.

    Raises
    ------
    ValueError
        If a name stands there twice, or if no benchmark has a run.
    """
    names: set[str] = set()
    first, n_measured = None, 0
    for benchmark in benchmarks:
        if benchmark.name in names:
            raise ValueError(f"benchmark {benchmark.name!r} stands there twice{advice and '; '}{advice}")
        names.add(benchmark.name)
        n_measured += bool(benchmark.runs)
        first = first or benchmark
        yield benchmark
    if first and not n_measured:
        reason = first.failures[0].reason if first.failures else "no measurements"
        raise ValueError(f"no benchmark of the file has a measurement; {first.name!r}: {reason}")


def time_of(text: object) -> str:
    """A time as tools write it, as one text that sorts by time: ISO 8601 in UTC; "" for what is no time.

    A time without a zone is taken as UTC: all that is asked is which of two runs of one machine was earlier.

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
