"""Read the data files of ReBench: a table separated by tabs, with comments in JSON.

Each invocation is a run, because it starts a new process. The criterion `total` is the benchmark itself, and every
other criterion is a separate benchmark. The executor is the version. ReBench writes nothing about an invocation that
failed, but a comment says how many invocations each benchmark has, so each missing one is a failed run.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analysis.runs.benchmark import RUN, VERSION, Benchmark, Failure
from labeler.files.formats import json_text
from labeler.files.formats.building import with_parameters, with_unique_names
from labeler.files.formats.conditions import machine, of_each_run
from labeler.files.formats.json_text import object_or_empty
from labeler.files.formats.units import finite, stored_unit

TOTAL = "total"
_HEADER = re.compile(rb"(?m)^invocation\titeration\tvalue\tunit\tcriterion\tbenchmark\t")
_PARAMETERS = ("extraArgs", "cores", "inputSize", "varValue", "tag", "machine")  # columns after the name
_USUAL = {"cores": "1"}  # levels that are not part of the name
_COMMENT = re.compile(r"# (Environment: |benchmark: (\d+)=|run_id: (\d+)=)(\{.*\})\s*")

_NO_VALUES = ("null", "none", "nan")  # what stands for the value of an iteration that failed

Key = tuple[str, str, str]  # suite, name and executor


@dataclass
class _Group:
    """The measurements of a benchmark by one criterion."""

    unit: str
    parameters: dict[str, str]
    n_invocations: int  # how many are wanted; 0 if unknown
    values: dict[int, dict[int, float]] = field(default_factory=dict)  # by invocation, then by iteration


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content has the header of ReBench's table."""
    return _HEADER.search(content[: 2**20]) is not None


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    lines = json_text.text_of(content).split("\n")
    header: list[str] = []
    comments: dict[str, dict[int, Any]] = {"benchmark": {}, "run_id": {}}
    environment: dict[str, str] = {}
    groups: dict[Key, _Group] = {}
    for number, line in enumerate(lines, 1):
        if line.startswith("#"):
            _take_comment(line, comments, environment)
        elif line.startswith("invocation\t"):
            header = line.rstrip("\r").split("\t")
        elif line.strip():
            cells = line.rstrip("\r").split("\t")
            if len(cells) > len(header):
                raise ValueError(f"line {number}: the row has {len(cells)} cells, but the header has {len(header)}")
            _take(dict(zip(header, cells, strict=False)), number, comments, groups)
    yield from with_unique_names(_joined(groups, environment))


def _take_comment(line: str, comments: dict[str, dict[int, Any]], environment: dict[str, str]) -> None:
    match = _COMMENT.match(line)
    if match is None:
        return
    try:
        content = json.loads(match[4])
    except (ValueError, RecursionError):
        return  # only the comments that ReBench writes are of use
    if match[2] or match[3]:
        comments["benchmark" if match[2] else "run_id"][int(match[2] or match[3])] = content
        return
    software = object_or_empty(content).get("software")
    versions = {
        object_or_empty(entry).get("name"): object_or_empty(entry).get("version")
        for entry in (software if isinstance(software, list) else ())
    }
    environment.update(
        machine(
            cpu=object_or_empty(content).get("cpu"), architecture=versions.get("architecture"),
            host=object_or_empty(content).get("hostName"), clock=object_or_empty(content).get("clockSpeed"),
        )
    )  # fmt: skip


def _take(
    row: Mapping[str, str], number: int, comments: Mapping[str, Mapping[int, Any]], groups: dict[Key, _Group]
) -> None:
    place = f"line {number}"
    invocation, iteration = (_count(row.get(name), name, place) for name in ("invocation", "iteration"))
    text = row.get("value") or ""
    has_value = text.lower() not in _NO_VALUES
    value = finite(text, f"{place}, column 'value'") if has_value else math.nan
    if not row.get("benchmark") or row.get("criterion") is None:
        raise ValueError(f"{place}: the row has no benchmark or no criterion")
    parameters = {name: row[name] for name in _PARAMETERS if row.get(name) and row[name] != _USUAL.get(name)}
    name = with_parameters(row["benchmark"], parameters)
    criterion = row["criterion"]
    key = (
        row.get("suite", ""),
        name + (f" [{criterion}]" if criterion != TOTAL else ""),
        row.get("executor") or row.get("vm", ""),
    )
    group = groups.setdefault(key, _Group(row.get("unit", ""), parameters, _n_wanted(row.get("runId"), comments)))
    if group.unit != row.get("unit", ""):
        raise ValueError(f"{place}: the unit of benchmark {key[1]!r} is {row.get('unit')!r}, but {group.unit!r} before")
    run = group.values.setdefault(invocation, {})
    if iteration in run:
        raise ValueError(
            f"{place}: invocation {invocation}, iteration {iteration} of benchmark {key[1]!r} appears twice"
        )
    run[iteration] = value


def _count(text: str | None, column: str, place: str) -> int:
    if not (text or "").isdecimal() or len(text or "") > 9:
        raise ValueError(f"{place}: {str(text)[:30]!r} in column {column!r} is not a number from 1 on")
    return int(text or "")


def _n_wanted(run_id: str | None, comments: Mapping[str, Mapping[int, Any]]) -> int:
    """Return the number of invocations that the comments of the file name for a row; 0 if they name none."""
    text = run_id or ""
    entry = object_or_empty(comments["run_id"].get(int(text))) if text.isdecimal() and len(text) < 10 else {}
    benchmark = object_or_empty(comments["benchmark"].get(entry.get("benchmark_id", -1)))
    n = object_or_empty(benchmark.get("runDetails")).get("invocations")
    return n if isinstance(n, int) and not isinstance(n, bool) and 0 < n <= 100_000 else 0


def _joined(groups: Mapping[Key, _Group], environment: Mapping[str, str]) -> Iterator[Benchmark]:
    """Yield one benchmark for all executors."""
    names: dict[tuple[str, str], dict[str, _Group]] = {}
    for (suite, name, executor), group in groups.items():
        names.setdefault((suite, name), {})[executor] = group
    for (suite, name), by_executor in names.items():
        units = {stored_unit(group.unit)[::2] for group in by_executor.values()}
        if len(units) > 1:
            raise ValueError(f"benchmark {name!r} has different units for different executors")
        series, conditions, failures = [], [], []
        for executor, group in by_executor.items():
            factor = stored_unit(group.unit)[1]
            for invocation, values in group.values.items():
                if any(map(math.isnan, values.values())):
                    failures.append(
                        Failure({RUN: str(invocation), VERSION: executor}, f"no value of invocation {invocation}")
                    )
                    continue
                series.append(np.array([values[at] * factor for at in sorted(values)]))
                conditions.append({RUN: str(invocation), VERSION: executor, **environment})
            failures += [
                Failure({RUN: str(at), VERSION: executor}, f"no result of invocation {at}")
                for at in range(1, group.n_invocations + 1)
                if at not in group.values
            ]
        first = next(iter(by_executor.values()))
        unit, _factor, better = stored_unit(first.unit)
        yield Benchmark.of_series(
            name, series, suite, unit, better,
            of_each_run(conditions), failures, parameters=first.parameters,
        )  # fmt: skip
