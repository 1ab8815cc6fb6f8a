"""What keeps answers independent of the order of rows: benchmarks and runs are arranged, versions chosen once."""

import re
from collections.abc import Sequence
from dataclasses import replace

from analysis.measured import RUN, VERSION, Measured

DURATION = "duration"  # condition: how long a run took, in seconds; no factor of the context


def arranged(benchmarks: Sequence[Measured]) -> list[Measured]:
    """Benchmarks by application and name, and the runs of each by their conditions, whatever order they come in.

    Parameters
    ----------
    benchmarks : sequence of Measured
        Runs whose conditions are all equal keep their order.

    Returns
    -------
    list of Measured
    """
    by_name = sorted(benchmarks, key=lambda benchmark: (natural(benchmark.application), natural(benchmark.name)))
    return [_with_arranged_runs(benchmark) for benchmark in by_name]


def natural(text: str) -> list[str | int]:
    """A key for sorting by which numbers within a text count as numbers.

    Examples
    --------
    >>> sorted(["v10", "v9", "a"], key=natural)
    ['a', 'v9', 'v10']
    """
    return [int(part) if at % 2 else part for at, part in enumerate(re.split(r"(\d{1,300})", text))]


def two_versions(
    benchmarks: Sequence[Measured], baseline: str | None = None, candidate: str | None = None
) -> tuple[str, str] | str:
    """Baseline and candidate, the same for all benchmarks, or in words why they are not known.

    Parameters
    ----------
    benchmarks : sequence of Measured
        All that are asked about.
    baseline, candidate : str, optional
        Versions by name; otherwise the first and the other, in sorted order, of those that a benchmark has beside
        another. There may be no third.

    Raises
    ------
    ValueError
        If a named version is nowhere, or both are the same.
    """
    if baseline is not None and baseline == candidate:
        raise ValueError(f"candidate must be another version than baseline, got {candidate!r}")
    of_benchmarks = [benchmark.levels(VERSION) for benchmark in benchmarks]
    known = sorted({version for versions in of_benchmarks for version in versions}, key=natural)
    for argument, name in (("baseline", baseline), ("candidate", candidate)):
        if name is not None and name not in known:
            raise ValueError(f"{argument} must be one of the versions ({', '.join(known) or 'none'}), got {name!r}")
    if baseline is not None and candidate is not None:
        return baseline, candidate
    compared = sorted({name for versions in of_benchmarks if len(versions) > 1 for name in versions}, key=natural)
    if not compared:
        return (
            f"no benchmark has two versions, only {' or '.join(known)}" if known else "no version is known of any run"
        )
    others = [version for version in compared if version not in (baseline, candidate)]
    if len(others) > (baseline is None) + (candidate is None):
        return f"there are {len(compared)} versions ({', '.join(compared)}): name a baseline and a candidate"
    return baseline or others.pop(0), candidate or others.pop(0)


def _with_arranged_runs(benchmark: Measured) -> Measured:
    names = sorted(benchmark.conditions, key=lambda name: (name != RUN, name))
    keys = [[natural(benchmark.of(name)[run]) for name in names] for run in range(len(benchmark.runs))]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    if order != sorted(order):
        benchmark = benchmark.take(order)
    if len(benchmark.failures) < 2:
        return benchmark
    failures = sorted(benchmark.failures, key=lambda failure: sorted(failure.conditions.items()))
    return replace(benchmark, failures=tuple(failures))
