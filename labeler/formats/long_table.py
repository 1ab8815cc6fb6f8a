"""Long tables, CSV or Parquet: one row a measurement, columns benchmark, run, value and optionally more."""

import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from labeler.formats.text_table import SEPARATORS, header, read_text_table
from labeler.formats.units import to_seconds
from labeler.model import Benchmark

REQUIRED = ("benchmark", "run", "value")
OPTIONAL = ("iteration", "application", "unit", "better")
NAMES = ("benchmark", "run", "application", "unit", "better")

Place = Callable[[int], str]  # position of a row -> "line 3" or "row 1"


def is_parquet(_name: str, content: bytes) -> bool:
    """Parquet's magic bytes at both ends."""
    return content[:4] == b"PAR1" and content[-4:] == b"PAR1"


def is_csv(name: str, content: bytes) -> bool:
    """A table by name, or a header line with our columns."""
    if name.lower().endswith(".csv"):
        return True
    first = content[:4096].decode("utf-8-sig", "replace").split("\n", 1)[0]
    return any(set(REQUIRED) <= set(header(first, separator)) for separator in SEPARATORS)


def read_parquet(_name: str, content: bytes, columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """The benchmarks of a Parquet table; raises ValueError naming the column or row at fault."""
    try:
        arrow = parquet.read_table(io.BytesIO(content))
        arrow.validate(full=True)  # texts that are no UTF-8 are found here, not at their first use
        table = arrow.to_pandas()
    except (OSError, ValueError, pa.ArrowException) as error:
        raise ValueError(f"damaged Parquet file ({error})") from None
    yield from _benchmarks(table, columns, lambda row: f"row {row}")


def read_csv(_name: str, content: bytes, columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """The benchmarks of a CSV table; raises ValueError naming the column or line at fault."""
    table = read_text_table(content)
    yield from _benchmarks(table.frame, columns, lambda row: f"line {table.line(row)}")


def _benchmarks(table: pd.DataFrame, columns: Mapping[str, str], place: Place) -> Iterator[Benchmark]:
    table = _renamed(table, columns)
    for name in NAMES:
        if name in table:
            table[name] = _texts(table[name], name, place)
    for name in ("value", "iteration"):
        if name in table:
            table[name] = _numbers(table[name], name, place)
    groups = [name for name in ("application", "benchmark") if name in table]
    for group, rows in table.groupby(groups, sort=False, observed=True):
        yield _benchmark(dict(zip(groups, map(str, group), strict=True)), rows)


def _renamed(table: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    table = table.rename(columns={name: str(name).strip() for name in table.columns})
    for ours, theirs in columns.items():
        if ours not in (*REQUIRED, *OPTIONAL):
            raise ValueError(f"no column is called {ours!r} here; known are {', '.join((*REQUIRED, *OPTIONAL))}")
        if theirs not in table.columns:
            raise ValueError(f"there is no column {theirs!r}; the table has {', '.join(map(str, table.columns))}")
    table = table.rename(columns={theirs: ours for ours, theirs in columns.items()})
    missing = [name for name in REQUIRED if name not in table.columns]
    if missing:
        raise ValueError(
            f"column {missing[0]!r} is missing; the table has {', '.join(map(str, table.columns))}. "
            f"Say which it is with --columns {missing[0]}=NAME"
        )
    if table.columns.duplicated().any():
        raise ValueError(f"two columns are called {table.columns[table.columns.duplicated()][0]!r}")
    return table[[name for name in (*REQUIRED, *OPTIONAL) if name in table.columns]].reset_index(drop=True)


def _texts(cells: "pd.Series[Any]", column: str, place: Place) -> "pd.Series[Any]":
    """A column of names; one that every row needs must not be empty anywhere."""
    kinds = cells.cat.categories.to_series() if isinstance(cells.dtype, pd.CategoricalDtype) else cells
    if kinds.dtype == object:
        nested = [not isinstance(cell, (str, int, float, type(None))) for cell in cells]
        if any(nested):
            raise ValueError(f"{place(nested.index(True))}: a {type(cells[nested.index(True)]).__name__} in {column!r}")
    missing = cells.isna()
    texts = cells.astype(object).where(~missing, "").map(str)
    empty = ((texts == "") | missing).to_numpy() & (column in ("benchmark", "run"))
    if empty.any():
        raise ValueError(f"{place(int(empty.argmax()))}: the cell in column {column!r} is empty")
    return texts.astype("category")


def _numbers(cells: "pd.Series[Any]", column: str, place: Place) -> "pd.Series[float]":
    if isinstance(cells.dtype, pd.CategoricalDtype):
        cells = cells.astype(cells.cat.categories.dtype)
    if pd.api.types.is_bool_dtype(cells.dtype) or not (
        pd.api.types.is_numeric_dtype(cells.dtype) or pd.api.types.is_string_dtype(cells.dtype) or cells.dtype == object
    ):
        raise ValueError(f"{place(0)}: {cells.iloc[0]!r} in column {column!r} is not a finite number")
    numbers = pd.to_numeric(cells, errors="coerce").astype(np.float64)
    bad = ~np.isfinite(numbers.to_numpy())
    if bad.any():
        at = int(bad.argmax())
        raise ValueError(f"{place(at)}: {cells.iloc[at]!r} in column {column!r} is not a finite number")
    return numbers


def _benchmark(group: Mapping[str, str], rows: pd.DataFrame) -> Benchmark:
    name = group["benchmark"]
    if "iteration" in rows:
        doubled = rows.duplicated(["run", "iteration"])
        if doubled.any():
            run, iteration = rows["run"][doubled].iloc[0], rows["iteration"][doubled].iloc[0]
            raise ValueError(f"benchmark {name!r}, run {run}: iteration {iteration:.17g} stands there twice")
        rows = rows.sort_values("iteration", kind="stable")
    unit, factor = to_seconds(_constant(rows, "unit", "s", name))
    better = _constant(rows, "better", "lower", name)
    if better not in ("lower", "higher"):
        raise ValueError(f"benchmark {name!r}: better is {better!r}, not 'lower' or 'higher'")
    values = rows["value"] * factor
    runs = {run: series.to_numpy(dtype=np.float64) for run, series in values.groupby(rows["run"], observed=True)}
    return Benchmark(
        name=name,
        benchmark=name,
        application=group.get("application", ""),
        runs=tuple(runs[run] for run in sorted(runs, key=_run_order)),
        unit=unit,
        better=better,
    )


def _run_order(run: object) -> tuple[bool, float, str]:
    """Runs numbered 1 to 10 come in that order, not 1, 10, 2."""
    try:
        return False, float(str(run)), ""
    except ValueError:
        return True, 0.0, str(run)


def _constant(rows: pd.DataFrame, column: str, otherwise: str, name: str) -> str:
    if column not in rows:
        return otherwise
    values = sorted({str(value).strip() for value in pd.unique(rows[column])})
    if len(values) > 1:
        raise ValueError(f"benchmark {name!r} has more than one {column}: {', '.join(values)}")
    return values[0] or otherwise
