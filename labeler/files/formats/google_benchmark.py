"""Read the JSON of Google Benchmark.

`benchmarks[]` has one row per repetition, with `real_time` in the unit `time_unit`. A file is a run, because one
process writes it. A repetition, which is a mean over many executions, is an iteration of the run. Aggregate rows
(means, medians, deviations) are ignored. With `--metric cpu_time`, the values are `cpu_time`, and the names end with
`[cpu_time]`. In files of versions before 1.5, they can be recognised only by their names.
"""

import re
import reprlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from analysis.runs.benchmark import TIME, Benchmark, Failure
from labeler.files.formats import json_text
from labeler.files.formats.building import with_unique_names
from labeler.files.formats.conditions import machine, of_runs, time_in_utc
from labeler.files.formats.json_text import object_or_empty
from labeler.files.formats.units import SECONDS

_KEEPS = "--benchmark_report_aggregates_only=false --benchmark_out=FILE.json --benchmark_out_format=json"
_CSV = b"name,iterations,real_time,cpu_time,time_unit,"
_AGGREGATE = re.compile(r"(.+)_(mean|median|stddev|cv|BigO|RMS)")
METRIC = "metric"  # the key of the value to read, among the columns that a reader gets
METRICS = (REAL_TIME, CPU_TIME) = ("real_time", "cpu_time")
_NUMBER = re.compile(r"-?\d+")
_FITTED = ("cpu_coefficient", "rms")  # keys of rows with a fitted complexity, which have no times
Row = Mapping[str, Any]


def detect(_name: str, content: bytes) -> bool:
    """Also return True for the tool's CSV, which the reader refuses with an explanation."""
    is_ours = json_text.is_object_with(content, "benchmarks", "context")
    has_times = any(json_text.contains_keys(content, key) for key in ("num_cpus", "real_time"))
    return json_text.beginning(content).startswith(_CSV) or (is_ours and has_times)


def read(_name: str, content: bytes, columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of the file, one run each."""
    if json_text.beginning(content).startswith(_CSV):
        raise ValueError(f"this is the CSV of Google Benchmark. Write JSON with {_KEEPS}")
    document = json_text.parse(content)
    entries = json_text.member(document, "benchmarks", list, "the file")
    context = object_or_empty(document.get("context"))
    conditions = {TIME: time_in_utc(context.get("date")), **_machine(context)}
    named = [(json_text.member(entry, "name", str, f"row {index}"), entry) for index, entry in enumerate(entries)]
    names = {name for name, _row in named}
    rows: dict[str, list[Row]] = defaultdict(list)
    for name, row in named:
        if not _is_aggregate(name, row, names):
            rows[json_text.member(row, "run_name", str, f"row {name!r}") if "run_name" in row else name].append(row)
    if named and not rows:
        raise ValueError(f"this file has only averages. Google Benchmark saves all repetitions with {_KEEPS}")
    yield from with_unique_names(
        _benchmark(name, repetitions, conditions, columns.get(METRIC, REAL_TIME)) for name, repetitions in rows.items()
    )


def _is_aggregate(name: str, row: Row, names: set[str]) -> bool:
    """Return whether a row is an aggregate, by its type or, in older files, by its name."""
    if "run_type" in row:
        return bool(row["run_type"] != "iteration")
    match = _AGGREGATE.fullmatch(name)
    if match is None:
        return False
    stem = match[1]
    return stem in names or names >= {f"{stem}_{kind}" for kind in ("mean", "median", "stddev")} or _is_fitted(row)


def _is_fitted(row: Row) -> bool:
    return "real_time" not in row and any(key in row for key in _FITTED)


def _machine(context: Mapping[str, Any]) -> dict[str, str]:
    """Return the machine in the context of the file, which does not name the CPU model."""
    stated = context.get("caches")
    caches = [cache for cache in stated if isinstance(cache, dict)] if isinstance(stated, list) else []
    sizes = [f"L{cache.get('level')} {cache.get('type')} {cache.get('size')}" for cache in caches]
    n = context.get("num_cpus")
    cpu = (
        f"{n} CPU{'' if n == 1 else 's'}" + (f" ({', '.join(sizes)} bytes)" if sizes else "")
        if isinstance(n, int)
        else ""
    )
    return machine(
        cpu=cpu,
        build=context.get("library_build_type"),
        host=context.get("host_name"),
        clock=context.get("mhz_per_cpu"),
    )


def _benchmark(name: str, rows: Sequence[Row], conditions: Mapping[str, str], metric: str) -> Benchmark:
    values, failures = [], []
    for at, row in _in_order(name, rows):
        place = f"benchmark {name!r}, run 0, iteration {at}"
        why = _why_not(row)
        if why:
            failures.append(Failure({}, f"repetition {at}: {why}", on_purpose=not row.get("error_occurred")))
            continue
        if metric not in row:
            raise ValueError(f"{place}: {metric!r} is missing")
        unit = row.get("time_unit", "ns")
        if not isinstance(unit, str) or unit not in SECONDS:
            raise ValueError(f"{place}: the time unit {reprlib.repr(unit)} is unknown")
        values.append(json_text.number(row[metric], place) * SECONDS[unit])
    return Benchmark.of_series(
        name=name if metric == REAL_TIME else f"{name} [{metric}]",
        series=(np.array(values, dtype=np.float64),) if values else (),
        conditions=of_runs(conditions, 1) if values else {},
        parameters=_parameters(name),
        failures=tuple(failures),
    )


def _in_order(name: str, rows: Sequence[Row]) -> list[tuple[int, Row]]:
    """Return the repetitions sorted by number, or in the order of the file if they have no numbers."""
    numbered = [(row.get("repetition_index", at), row) for at, row in enumerate(rows)]
    for at, _row in numbered:
        json_text.whole_number(at, "repetition_index", f"benchmark {name!r}")
    numbered.sort(key=lambda pair: pair[0])
    for (before, _), (at, _row) in pairwise(numbered):
        if before == at:
            raise ValueError(f"benchmark {name!r}: repetition {at} appears twice")
    return numbered


def _why_not(row: Row) -> str:
    """Return the reason why a repetition has no measurement; return "" if the repetition has a measurement."""
    if row.get("error_occurred"):
        return f"error {row.get('error_message', '')!r}"
    if row.get("skipped"):
        return f"skipped {row.get('skip_message', '')!r}"
    return ""


def _parameters(name: str) -> dict[str, str]:
    """Return the arguments after the first slash: named arguments by name, and plain numbers by position."""
    arguments = [part.partition(":") for part in name.split("/")[1:]]
    return {
        (key if colon else f"argument {at}"): value if colon else key
        for at, (key, colon, value) in enumerate(arguments, 1)
        if colon or _NUMBER.fullmatch(key)
    }
