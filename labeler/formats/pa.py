"""Read the tables of pa and bencher, with one row per value.

The columns are `project;commit;benchmark;params;instance;trial;fork;...`.

A fork of a trial on an instance is a run. The measurement of an iteration is the mean of its values, as for JMH. If an
iteration has several rows, they are a histogram of its invocations, and value_count says how often a value occurred.
The header line may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from analysis.benchmark import Benchmark
from labeler.formats import json_text, long_table
from labeler.formats.jmh import TIMES
from labeler.formats.naming import with_parameters
from labeler.formats.text_table import Column, Numbers, Texts, header, read_text_table
from labeler.model import Series

COLUMNS = (
    "project", "commit", "benchmark", "params", "instance", "trial", "fork", "iteration", "mode", "unit",
    "value_count", "value",
)  # fmt: skip
OURS = {"project": "application", "commit": "version", "instance": "context", "trial": "factor:trial", "fork": "run"}
_HEADER = ";".join(COLUMNS).encode() + b"\n"
_ROW = re.compile(
    rb"[^;\n]*;[^;\n]*;[^;\n]+;[^;\n]*;[^;\n]*;\d+;\d+;\d+;[^;\n]*;[^;\n]*;\d+;[-+.\d][-+.,\deE]*\s*(\n|$)"
)
_RATE = re.compile(r"ops?/")

Row = Mapping[str, str]


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content has the header line, or a first row of twelve matching cells."""
    head = json_text.first_signs(content, 65536)
    columns = header(head.decode("utf-8", "replace").split("\n", 1)[0], ";")
    return {"value_count", "fork", "iteration"} <= set(columns) or _ROW.match(head) is not None


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of the table; if the content is invalid, raise ValueError with the line."""
    n_added = int(_ROW.match(json_text.first_signs(content, 65536)) is not None)
    if n_added:
        content = _HEADER + content.removeprefix(json_text.BOM)
    table = read_text_table(content, separators=(";",))
    for column in COLUMNS:
        if column not in table.names:
            raise ValueError(f"column {column!r} is missing; the table has {', '.join(table.names)}")
    rows = [(line - n_added, {name: cell.strip(" \t") for name, cell in row.items()}) for line, row in table.records()]
    for line, cells in rows:
        if not cells["benchmark"]:
            raise ValueError(f"line {line}: the cell in column 'benchmark' is empty")
    iterations = list(_iterations(rows))
    told = {_name_of(row): row for _line, row, _value in iterations}
    columns = _long_columns(iterations)
    for benchmark in long_table.benchmarks(columns, lambda at: f"line {iterations[at][0]}", unit=""):
        row = told[benchmark.name]
        parameters = _parameters(row["params"])
        yield replace(benchmark, benchmark=with_parameters(row["benchmark"], parameters), parameters=parameters)


def _iterations(rows: Sequence[tuple[int, Row]]) -> Iterator[tuple[int, Row, float]]:
    """Yield the first line and row of each iteration, with the mean of its values, weighted by their counts."""
    values, counts = (_numbers(rows, column) for column in ("value", "value_count"))
    if not (counts > 0).all():
        line, row = rows[int((counts > 0).argmin())]
        raise ValueError(f"line {line}: {row['value_count']!r} in column 'value_count' is not above 0")
    of_iteration: dict[tuple[str, ...], list[int]] = {}
    for at, (_line, row) in enumerate(rows):
        of_iteration.setdefault(tuple(row[name] for name in COLUMNS[:-2]), []).append(at)
    for places in of_iteration.values():
        with np.errstate(all="ignore"):  # invalid values are refused later, with their line
            shares = counts[places] / counts[places].sum()
            yield (*rows[places[0]], float((values[places] * shares).sum()))


def _numbers(rows: Sequence[tuple[int, Row]], column: str) -> Series:
    numbers = Numbers.of(row[column] for _line, row in rows)
    if numbers.others:
        line, row = rows[min(numbers.others)]
        raise ValueError(f"line {line}: {row[column]!r} in column {column!r} is not a finite number")
    return numbers.values


def _long_columns(iterations: Sequence[tuple[int, Row, float]]) -> dict[str, Column]:
    """Return the columns of a long table."""
    columns: dict[str, list[str]] = {name: [] for name in ("iteration", *OURS.values(), "unit", "better", "benchmark")}
    values = []
    for _line, row, value in iterations:
        time = row["unit"].removesuffix("/op")
        is_time = row["unit"].endswith("/op") and time in TIMES
        values.append(value * (TIMES[time] if is_time else 1.0))
        columns["iteration"].append(row["iteration"])
        for theirs, ours in OURS.items():
            columns[ours].append(row[theirs])
        columns["unit"].append("s" if is_time else row["unit"])
        columns["better"].append("higher" if _RATE.match(row["unit"]) or row["mode"] == "thrpt" else "lower")
        columns["benchmark"].append(_name_of(row))
    return {**{name: Texts.of(cells) for name, cells in columns.items()}, "value": Numbers(np.array(values))}


def _name_of(row: Row) -> str:
    """Return the name of a benchmark with its parameters and mode, like the names in JMH files."""
    mode = f" [{row['mode']}]" if row["mode"] else ""
    return with_parameters(row["benchmark"], _parameters(row["params"])) + mode


def _parameters(text: str) -> dict[str, str]:
    """Parse parameters such as `n=10,order=up`; a value may contain commas."""
    pairs = re.split(r",(?=[^,=]+=)", text)
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)
