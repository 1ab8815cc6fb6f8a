"""Check the benchmarks that a reader returns.

Names must be valid texts, and the measurements of runs must be finite numbers.
"""

from collections.abc import Mapping

import numpy as np

from analysis.benchmark import Benchmark, Failure, Run
from labeler.model import is_storable

LARGEST = 1e150  # the square of a larger number overflows, and so does the variance


def check(benchmark: Benchmark) -> None:
    """Raise ValueError with the place if a benchmark cannot be stored."""
    if not benchmark.name.strip():
        raise ValueError("a benchmark has no name")
    if not all(map(is_storable, (benchmark.name, benchmark.application, benchmark.unit))):
        raise ValueError(
            f"benchmark {benchmark.name!r}: name, application or unit has characters that are not valid text"
        )
    if not all(map(is_storable, _texts(benchmark))):
        raise ValueError(
            f"benchmark {benchmark.name!r}: a parameter or condition has characters that are not valid text"
        )
    if not benchmark.runs and not benchmark.failures:
        raise ValueError(f"benchmark {benchmark.name!r} has no runs")
    for label, run in zip(benchmark.labels, benchmark.runs, strict=True):
        at = int(np.abs(run.values).argmax())
        if abs(run.values[at]) > LARGEST:
            place = f"benchmark {benchmark.name!r}, run {label}, iteration {at}"
            raise ValueError(f"{place}: {run.values[at]:g} is too large (at most {LARGEST:g})")


def _texts(benchmark: Benchmark) -> set[str]:
    """Return all texts of a benchmark, except name, application and unit."""
    texts = {*benchmark.parameters, *benchmark.parameters.values()}
    for run in benchmark.runs:
        texts |= {*run.conditions, *run.conditions.values()}
    for failure in benchmark.failures:
        texts |= {failure.reason, *failure.conditions, *failure.conditions.values()}
    return texts


def clean(given: object) -> Benchmark:
    """Convert a benchmark from another package's reader to plain texts and arrays.

    Raises TypeError, ValueError if the object is not a benchmark, or has contents that a benchmark cannot have.
    """
    if not isinstance(given, Benchmark):
        raise TypeError(f"the result is of type {type(given).__name__}, not Benchmark")
    runs = tuple(
        Run(np.array(run.values, dtype=np.float64), str(run.unit), str(run.better), _plain(run.conditions))
        for run in given.runs
    )
    failures = tuple(
        Failure(_plain(failure.conditions), str(failure.reason), bool(failure.on_purpose)) for failure in given.failures
    )
    return Benchmark(
        str(given.name), runs, str(given.application), str(given.benchmark), _plain(given.parameters), failures
    )


def _plain(texts: Mapping[str, str]) -> dict[str, str]:
    return {str(name): str(text) for name, text in texts.items()}


def describe(error: BaseException) -> str:
    """Return the message of an error that another package raised.

    If the error is not a ValueError, the message begins with the type of the error.

    Examples
    --------
    >>> describe(ValueError("line 3: no number")), describe(KeyError("runs"))
    ('line 3: no number', "KeyError: 'runs'")
    """
    text = str(error)
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}{': ' if text else ''}{text}"
