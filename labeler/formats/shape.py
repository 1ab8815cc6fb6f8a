"""What is a run and what an iteration, where the person knows better: every value a run, or all of them one run."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from labeler.model import Benchmark

RUN = "run"
_OF_ONE_RUN = (RUN, "order_position")  # conditions that each run has for itself


def labels(benchmark: Benchmark) -> tuple[str, ...]:
    """What each run is called: as the file says, or by its number from 0."""
    given = benchmark.conditions.get(RUN, ("",) * len(benchmark.runs))
    return tuple(label or str(run) for run, label in enumerate(given))


def each_value_a_run(benchmark: Benchmark) -> Benchmark:
    """Every measurement as a run of its own, called RUN:ITERATION, or ITERATION where there was one run only.

    Examples
    --------
    >>> made = each_value_a_run(Benchmark("b", "b", "", (np.array([1.0, 2.0]),)))
    >>> [run.tolist() for run in made.runs], made.conditions
    ([[1.0], [2.0]], {'run': ('0', '1')})
    """
    if all(len(run) == 1 for run in benchmark.runs):
        return benchmark
    places = [(run, at) for run, series in enumerate(benchmark.runs) for at in range(len(series))]
    named, is_one = labels(benchmark), len(benchmark.runs) == 1
    conditions = {name: tuple(texts[run] for run, _at in places) for name, texts in benchmark.conditions.items()}
    conditions[RUN] = tuple(str(at) if is_one else f"{named[run]}:{at}" for run, at in places)
    return replace(benchmark, runs=tuple(benchmark.runs[run][at : at + 1] for run, at in places), conditions=conditions)


def values_as_iterations(benchmark: Benchmark) -> Benchmark:
    """Runs of one value each as the iterations of one run, or of one for each set of other conditions.

    A benchmark with a longer run stays as it is: its iterations are known.
    """
    if len(benchmark.runs) < 2 or any(len(run) > 1 for run in benchmark.runs):
        return benchmark
    shared = {name: texts for name, texts in benchmark.conditions.items() if name not in _OF_ONE_RUN}
    keys = list(zip(*shared.values(), strict=True)) or [()] * len(benchmark.runs)
    groups: dict[tuple[str, ...], list[int]] = {}
    for run, key in enumerate(keys):
        groups.setdefault(key, []).append(run)
    return replace(
        benchmark,
        runs=tuple(np.concatenate([benchmark.runs[run] for run in members]) for members in groups.values()),
        conditions=_by_group(shared, list(groups)),
    )


def _by_group(shared: Mapping[str, object], keys: list[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(key[at] for key in keys) for at, name in enumerate(shared)}
