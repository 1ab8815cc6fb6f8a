"""Read results of airspeed velocity (asv).

`results[benchmark]` is a list, and `result_columns` names the positions in this list. The file is a run, because it has
the results of one commit in one environment. With `--record-samples`, the column `samples` has a list for each
combination of parameter values. The entries of this list are the iterations, and `result` is their median. Memory and
the results of `track_` functions are measured once and stored in `result`. If a combination failed, its result is null;
if its setup skipped the combination, its result is NaN. The names of the parameters and the unit of `track_` functions
are in another file. Version 1 of the format (asv before 0.5) has an object or a number per benchmark.
"""

import itertools
import math
import re
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from analysis.arrays import Series
from analysis.runs.benchmark import COMMIT_DATE, LOWER, UNKNOWN, Benchmark, Failure
from labeler.files.formats import json_text
from labeler.files.formats.building import with_parameters, with_unique_names
from labeler.files.formats.conditions import machine, of_runs, time_from_seconds
from labeler.text import is_storable

VERSIONS = (1, 2)
TIMES = ("time_", "timeraw_", "Time")  # prefix of functions that measure times
MEMORY = ("mem_", "peakmem_", "Mem", "PeakMem")  # prefix of functions that measure memory
_FAILED = "the result is null"
_NOT_KEPT = "has only the median. To keep all measurements, use asv run --record-samples"


def detect(_name: str, content: bytes) -> bool:
    return json_text.is_object_with(content, "results", "commit_hash", "params")


def read(_name: str, content: bytes, _columns: Mapping[str, str], *, medians: bool = False) -> Iterator[Benchmark]:
    """Read the benchmarks of the file, one for each combination of parameter values, with one run each.

    With `medians`, the median that asv computed is the only value of a run whose samples were not recorded.
    """
    document = json_text.parse(content)
    results = json_text.member(document, "results", dict, "the file")
    version = document.get("version")
    if version not in VERSIONS or isinstance(version, bool):
        raise ValueError(
            f"version {reprlib.repr(version)} of asv results is not supported. Convert the results with: asv update"
        )
    if version == 1:
        rows = {name: _row_of_version_1(row, f"benchmark {name!r}") for name, row in results.items()}
    else:
        columns = json_text.member(document, "result_columns", list, "the file")
        rows = {name: _row(row, columns, f"benchmark {name!r}") for name, row in results.items()}
    if not medians and not any(row.get("samples") for row in rows.values()):
        for name, row in rows.items():
            if row.get("stats_repeat"):
                raise ValueError(f"benchmark {name!r} {_NOT_KEPT}")
    conditions = _conditions(document)
    yield from with_unique_names(
        one for name, row in rows.items() for one in _combinations(name, row, conditions, medians=medians)
    )


def _row(row: Any, columns: Sequence[Any], place: str) -> dict[str, Any]:
    """Return the row of a benchmark as a mapping from column to value.

    asv leaves out nulls at the end of a row.
    """
    if not isinstance(row, list):
        raise ValueError(f"{place}: {reprlib.repr(row)} is not a list")
    return dict(zip(map(str, columns), row, strict=False))


def _row_of_version_1(row: Any, place: str) -> dict[str, Any]:
    """Return the row of a benchmark like `_row`; a benchmark without parameters may be a number or null."""
    if not isinstance(row, dict):
        return {"result": None if row is None else [row]}
    result, stats = row.get("result"), row.get("stats")
    if result is not None and not isinstance(result, list):
        result, stats = [result], [stats]
    if isinstance(stats, list) and any(stats):
        repeats = [json_text.object_or_empty(entry).get("repeat", 1) for entry in stats]
    elif stats:
        raise ValueError(f"{place}: 'stats' is {reprlib.repr(stats)}, not a list")
    else:
        repeats = None
    return {"result": result, "params": row.get("params"), "samples": row.get("samples"), "stats_repeat": repeats}


def _conditions(document: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the conditions of the run: commit, environment and machine."""
    params = json_text.member(document, "params", dict, "the file")
    told = {
        "version": document.get("commit_hash"), "context": params.get("machine"), "environment": _environment(document),
    }  # fmt: skip
    known = machine(cpu=params.get("cpu"), architecture=params.get("arch"), runtime=_python(params.get("python")))
    for name, value in told.items():
        if value is not None and not (isinstance(value, str) and is_storable(value)):
            raise ValueError(f"the file: {name} is {reprlib.repr(value)}, not a text")
    date = document.get("date")  # of the commit, in milliseconds
    if isinstance(date, (int, float)) and not isinstance(date, bool):
        told[COMMIT_DATE] = time_from_seconds(date / 1000)
    return {name: (value,) for name, value in told.items() if value} | of_runs(known, 1)


def _environment(document: Mapping[str, Any]) -> Any:
    """Return the name of the environment, or else its Python version and requirements."""
    name = document.get("env_name")
    if name is not None:
        return name
    requirements = json_text.object_or_empty(document.get("requirements"))
    python = document.get("python")
    parts = [f"py{python}"] if python else []
    return "-".join([*parts, *(f"{key}{value or ''}" for key, value in sorted(requirements.items()))])


def _python(version: Any) -> str:
    """Return the version of Python; asv may write the path of the interpreter instead."""
    return f"Python {version}" if isinstance(version, str) and re.fullmatch(r"\d[\w.]*", version) else ""


def _combinations(
    name: str, row: Mapping[str, Any], conditions: Mapping[str, tuple[str, ...]], *, medians: bool
) -> Iterator[Benchmark]:
    """Yield one benchmark for each combination of the parameter values of an asv benchmark."""
    place = f"benchmark {name!r}"
    levels = row.get("params") or []
    if not isinstance(levels, list) or not all(isinstance(values, list) for values in levels):
        raise ValueError(f"{place}: 'params' is {reprlib.repr(levels)}, not a list of lists")
    n = math.prod(map(len, levels))
    of_run = {condition: texts[0] for condition, texts in conditions.items()}
    if row.get("result") is None:
        yield Benchmark.of_series(name, (), failures=(Failure(of_run, _FAILED),))
        return
    columns = [_column(row, column, n, place) for column in ("result", "samples", "stats_repeat")]
    for values, result, samples, repeats in zip(itertools.product(*levels), *columns, strict=True):
        parameters = {f"param{at}": str(value) for at, value in enumerate(values, 1)}  # asv's default names
        full_name = with_parameters(name, parameters)
        place = f"benchmark {full_name!r}, run 0"
        if medians and not samples and repeats is not None and result is not None:
            samples = None if math.isnan(json_text.number(result, place)) else [result]
        run, unit, why_not = _run(name, result, samples, repeats, place)
        yield Benchmark.of_series(
            name=full_name,
            series=() if run is None else (run,),
            unit=unit,
            better=LOWER if unit else UNKNOWN,
            parameters=parameters,
            conditions={} if run is None else conditions,
            failures=() if run is not None else (Failure(of_run, why_not, on_purpose=why_not != _FAILED),),
        )


def _column(row: Mapping[str, Any], column: str, n: int, place: str) -> list[Any]:
    """Return the entries of a column, one for each combination of parameter values.

    All entries are None if asv wrote null for the whole column.
    """
    entries = row.get(column)
    if entries is None:
        return [None] * n
    if not isinstance(entries, list) or len(entries) != n:
        raise ValueError(f"{place}: {column!r} is {reprlib.repr(entries)}, not a list of {n}, one for each combination")
    return entries


def _run(name: str, result: Any, samples: Any, repeats: Any, place: str) -> tuple[Series | None, str, str]:
    """Return the measurements, their unit, and ""; if there are no measurements, return None, "", and the reason."""
    if samples:
        if not isinstance(samples, list):
            raise ValueError(f"{place}: {reprlib.repr(samples)} is not a list")
        return json_text.series(samples, place), "s", ""
    if result is None:
        return None, "", _FAILED
    value = json_text.number(result, f"{place}, iteration 0")
    if math.isnan(value):
        return None, "", "skipped by its setup"
    if repeats is not None:
        return None, "", _NOT_KEPT
    function = name.rpartition(".")[2]
    return np.array([value]), "byte" if function.startswith(MEMORY) else "s" if function.startswith(TIMES) else "", ""
