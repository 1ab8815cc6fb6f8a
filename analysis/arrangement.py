"""What keeps answers independent of the order of rows: benchmarks and runs are arranged, versions chosen once."""

import re
from collections.abc import Sequence
from dataclasses import replace

from analysis.measured import RUN, VERSION, Measured


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
        Versions by name; otherwise the first and the other of two in sorted order. There may be no third.

    Raises
    ------
    ValueError
        If a named version is nowhere, or both are the same.
    """
    versions = sorted({level for benchmark in benchmarks for level in benchmark.levels(VERSION)}, key=natural)
    for argument, name in (("baseline", baseline), ("candidate", candidate)):
        if name is not None and name not in versions:
            raise ValueError(f"{argument} must be one of the versions ({', '.join(versions) or 'none'}), got {name!r}")
    if baseline is not None and baseline == candidate:
        raise ValueError(f"candidate must be another version than baseline, got {candidate!r}")
    others = [version for version in versions if version not in (baseline, candidate)]
    n_wanted = (baseline is None) + (candidate is None)
    if len(others) < n_wanted:
        return f"runs of one version only: {versions[0]}" if versions else "no version is known of any run"
    if n_wanted and len(others) > n_wanted:
        return f"there are {len(versions)} versions ({', '.join(versions)}): name a baseline and a candidate"
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
