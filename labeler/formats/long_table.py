"""Long tables, CSV or Parquet: one row a measurement, columns benchmark, run, value and optionally more."""

import csv
import io
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from labeler.formats.units import to_seconds
from labeler.model import Benchmark

REQUIRED = ("benchmark", "run", "value")
OPTIONAL = ("iteration", "application", "unit", "better")


def is_parquet(_name: str, content: bytes) -> bool:
    """Parquet's magic bytes at both ends."""
    return content[:4] == b"PAR1" and content[-4:] == b"PAR1"


def is_csv(name: str, content: bytes) -> bool:
    """A table by name, or a header line with our columns."""
    if name.lower().endswith(".csv"):
        return True
    header = content[:4096].split(b"\n", 1)[0].decode("utf-8", "replace")
    return set(REQUIRED) <= {cell.strip() for cell in header.split(",")}


def read_parquet(_name: str, content: bytes, columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """The benchmarks of a Parquet table; raises ValueError naming the column or row at fault."""
    try:
        table = pd.read_parquet(io.BytesIO(content))
    except (OSError, ValueError) as error:
        raise ValueError(f"damaged Parquet file ({error})") from None
    return _benchmarks(table, columns, first_row=0, row_word="row")


def read_csv(_name: str, content: bytes, columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """The benchmarks of a CSV table; raises ValueError naming the column or line at fault."""
    try:
        text = content.decode("utf-8-sig")
        separator = csv.Sniffer().sniff(text[:4096].split("\n", 1)[0], delimiters=",;\t").delimiter
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start}: not UTF-8 text") from None
    except csv.Error:
        separator = ","
    try:
        table = pd.read_csv(io.StringIO(text), sep=separator, skipinitialspace=True, dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ValueError(f"not a table: {str(error).strip()}") from None
    return _benchmarks(table, columns, first_row=2, row_word="line")


def _benchmarks(
    table: pd.DataFrame, columns: Mapping[str, str], *, first_row: int, row_word: str
) -> Iterator[Benchmark]:
    table = _renamed(table, columns)
    table["value"] = _numbers(table["value"], "value", first_row, row_word)
    if "iteration" in table:
        table["iteration"] = _numbers(table["iteration"], "iteration", first_row, row_word)
    groups = [name for name in ("application", "benchmark") if name in table]
    for group, rows in table.groupby(groups, sort=False, observed=True):
        yield _benchmark(dict(zip(groups, map(str, group), strict=True)), rows)


def _renamed(table: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    table = table.rename(columns={str(name): str(name).strip() for name in table.columns})
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
    return table[[name for name in (*REQUIRED, *OPTIONAL) if name in table.columns]]


def _numbers(values: "pd.Series[str]", column: str, first_row: int, row_word: str) -> "pd.Series[float]":
    numbers = pd.to_numeric(values, errors="coerce").astype(np.float64)
    bad = ~np.isfinite(numbers.to_numpy())
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{row_word} {at + first_row}: {values.iloc[at]!r} in column {column!r} is not a finite number"
        )
    return numbers


def _benchmark(group: Mapping[str, str], rows: pd.DataFrame) -> Benchmark:
    name = group["benchmark"]
    if "iteration" in rows:
        doubled = rows.duplicated(["run", "iteration"])
        if doubled.any():
            run, iteration = rows.loc[doubled, ["run", "iteration"]].iloc[0]
            raise ValueError(f"benchmark {name!r}, run {run}: iteration {iteration:g} stands there twice")
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
    values = pd.unique(rows[column].astype(str))
    if len(values) > 1:
        raise ValueError(f"benchmark {name!r} has more than one {column}: {', '.join(sorted(values))}")
    return str(values[0]).strip() or otherwise
