"""What every reader must give: benchmarks with names that are texts, and runs of finite numbers."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from labeler.model import Benchmark, Failure, Series, is_storable


def check(benchmark: Benchmark) -> None:
    """Raise ValueError naming the place if a benchmark cannot be kept."""
    if not benchmark.name.strip():
        raise ValueError("a benchmark without a name")
    if not all(map(is_storable, (benchmark.name, benchmark.application, benchmark.unit))):
        raise ValueError(f"benchmark {benchmark.name!r}: name, application or unit has characters that are no text")
    if not all(map(is_storable, _said(benchmark))):
        raise ValueError(f"benchmark {benchmark.name!r}: a parameter or condition has characters that are no text")
    if not benchmark.runs:
        raise ValueError(f"benchmark {benchmark.name!r} has no runs")
    for run, series in enumerate(benchmark.runs):
        if not len(series):
            raise ValueError(f"benchmark {benchmark.name!r}, run {run}: no measurements")
        if not np.isfinite(series).all():
            at = int(np.flatnonzero(~np.isfinite(series))[0])
            raise ValueError(
                f"benchmark {benchmark.name!r}, run {run}, iteration {at}: {series[at]} is not a finite measurement"
            )


def _said(benchmark: Benchmark) -> set[str]:
    """All other texts of a benchmark."""
    told = {text for texts in benchmark.conditions.values() for text in texts} | set(benchmark.conditions)
    for failure in benchmark.failures:
        told |= {failure.reason, *failure.conditions, *failure.conditions.values()}
    return told | {*benchmark.parameters, *benchmark.parameters.values()}


def plain(given: object) -> Benchmark:
    """What a reader of another package gave, as a benchmark of plain texts and arrays.

    Raises
    ------
    TypeError, ValueError
        If it is none, or holds what cannot be one.
    """
    if not isinstance(given, Benchmark):
        raise TypeError(f"gave {type(given).__name__}, not a Benchmark")
    name = str(given.name)
    if given.better not in ("lower", "higher"):
        raise ValueError(f"benchmark {name!r}: better is {given.better!r}, not 'lower' or 'higher'")
    runs = tuple(_series(run, f"benchmark {name!r}, run {at}") for at, run in enumerate(given.runs))
    conditions = {str(condition): tuple(map(str, texts)) for condition, texts in given.conditions.items()}
    for condition, texts in conditions.items():
        if len(texts) != len(runs):
            raise ValueError(f"benchmark {name!r}: {len(texts)} texts of condition {condition!r} for {len(runs)} runs")
    return replace(
        given, name=name, benchmark=str(given.benchmark), application=str(given.application), runs=runs,
        unit=str(given.unit), parameters={str(key): str(value) for key, value in given.parameters.items()},
        conditions=conditions, failures=tuple(_failures(given.failures)),
    )  # fmt: skip


def _series(values: object, place: str) -> Series:
    series = np.array(values, dtype=np.float64)
    if series.ndim != 1:
        raise ValueError(f"{place}: an array of shape {series.shape}, not of one dimension")
    return series


def _failures(given: Iterable[Failure]) -> Iterable[Failure]:
    for one in given:
        yield Failure({str(key): str(value) for key, value in one.conditions.items()}, str(one.reason))


def in_words(error: BaseException) -> str:
    """What an error of another package says; a ValueError is meant for people.

    Examples
    --------
    >>> in_words(ValueError("line 3: no number")), in_words(KeyError("runs"))
    ('line 3: no number', "KeyError: 'runs'")
    """
    text = str(error)
    return text if isinstance(error, ValueError) and text else f"{type(error).__name__}{': ' if text else ''}{text}"
