"""Read the tables of pa and bencher, with one row per value.

The columns are `project;commit;benchmark;params;instance;trial;fork;...`.

A fork of a trial on an instance is a run. The measurement of an iteration is the mean of its values, as for JMH. If an
iteration has several rows, they are a histogram of its invocations, and value_count says how often a value occurred.
The header line may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.benchmark import Benchmark
from labeler.formats import json_text, long_table
from labeler.formats.jmh import TIMES
from labeler.formats.naming import with_parameters
from labeler.formats.text_table import header, read_text_table
from labeler.model import Series

if TYPE_CHECKING:
    import pandas as pd

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
        if column not in table.frame:
            raise ValueError(f"column {column!r} is missing; the table has {', '.join(table.frame.columns)}")
    lines = [line - n_added for line in table.lines()]
    frame = table.frame[list(COLUMNS)].apply(lambda cells: cells.str.strip(" \t"))
    for line, operation in zip(lines, frame["benchmark"], strict=True):
        if not operation:
            raise ValueError(f"line {line}: the cell in column 'benchmark' is empty")
    iterations = _iterations(frame, lines)
    firsts = list(iterations.index)
    told = {_name_of(row): row for row in iterations.to_dict("records")}
    for benchmark in long_table.benchmarks(_renamed(iterations), lambda row: f"line {lines[firsts[row]]}", unit=""):
        row = told[benchmark.name]
        parameters = _parameters(str(row["params"]))
        yield replace(benchmark, benchmark=with_parameters(str(row["benchmark"]), parameters), parameters=parameters)


def _iterations(frame: pd.DataFrame, lines: Sequence[int]) -> pd.DataFrame:
    """Return one row per iteration, with the mean of its values, weighted by their counts."""
    import pandas as pd

    values, counts = (_numbers(frame, column, lines) for column in ("value", "value_count"))
    if not (counts > 0).all():
        at = int((counts > 0).argmin())
        raise ValueError(f"line {lines[at]}: {frame['value_count'][at]!r} in column 'value_count' is not above 0")
    keys = frame.groupby(list(COLUMNS[:-2]), sort=False).ngroup()
    with np.errstate(all="ignore"):  # invalid values are refused below, with their line
        shares = counts / pd.Series(counts).groupby(keys).transform("sum").to_numpy()
        means = pd.Series(values * shares).groupby(keys, sort=False).sum()
    return frame[~keys.duplicated()].assign(value=means.to_numpy())


def _numbers(frame: pd.DataFrame, column: str, lines: Sequence[int]) -> Series:
    import pandas as pd

    numbers = pd.to_numeric(frame[column], errors="coerce").to_numpy(dtype=np.float64)
    if not np.isfinite(numbers).all():
        at = int(np.isfinite(numbers).argmin())
        raise ValueError(f"line {lines[at]}: {frame[column][at]!r} in column {column!r} is not a finite number")
    return numbers


def _renamed(iterations: pd.DataFrame) -> pd.DataFrame:
    """Convert the table to the columns of a long table."""
    table = iterations[["iteration", "value", *OURS]].rename(columns=OURS).reset_index(drop=True)
    times = iterations["unit"].str.removesuffix("/op")
    is_time = iterations["unit"].str.endswith("/op") & times.isin(TIMES)
    with np.errstate(over="ignore"):  # values that become infinite are refused later, with their line
        table["value"] *= times.map(TIMES).where(is_time, 1.0).to_numpy()
    table["unit"] = iterations["unit"].where(~is_time, "s").to_numpy()
    is_rate = iterations["unit"].str.match(_RATE) | (iterations["mode"] == "thrpt")
    table["better"] = np.where(is_rate, "higher", "lower")
    table["benchmark"] = [_name_of(row) for row in iterations.to_dict("records")]
    return table


def _name_of(row: Mapping[Hashable, Any]) -> str:
    """Return the name of a benchmark with its parameters and mode, like the names in JMH files."""
    mode = f" [{row['mode']}]" if row["mode"] else ""
    return with_parameters(str(row["benchmark"]), _parameters(str(row["params"]))) + mode


def _parameters(text: str) -> dict[str, str]:
    """Parse parameters such as `n=10,order=up`; a value may contain commas."""
    pairs = re.split(r",(?=[^,=]+=)", text)
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)
