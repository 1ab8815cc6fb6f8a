"""Read long tables in CSV or Parquet, with one row per measurement.

The columns are benchmark, run, value and optional columns.

The column run and all columns with conditions identify a run, because runs are often numbered from 0 for each version.
A row with a reason in the column failure and no value is a failed run.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analysis.benchmark import (
    DIRECTIONS,
    DURATION,
    FACTOR,
    LOWER,
    PREDECESSOR,
    RECORDED,
    TIME,
    UNKNOWN,
    Benchmark,
    Failure,
    Run,
    in_order,
)
from labeler.formats.bounds import check_columns, check_parquet, check_parquet_footer, check_runs
from labeler.formats.text_table import SEPARATORS, header, read_text_table
from labeler.formats.units import to_seconds
from labeler.safe_text import as_written

if TYPE_CHECKING:
    import pandas as pd

REQUIRED = ("benchmark", "run", "value")
CONDITIONS = ("version", "context", "order_type", "order_position", "altered")
FAILURE = "failure"  # the reason why a run has no value; empty for all other runs
OPTIONAL = ("iteration", "application", "unit", "better", *CONDITIONS, PREDECESSOR, FAILURE)
WRITTEN = ("benchmark", "application", "run", "iteration", "value", "unit", "better", *CONDITIONS)  # for export
NAMES = ("benchmark", "run", "application", "unit", "better")
OF_PA = "value_count"  # a column that only the table of pa has
PLANNED = frozenset({"order", "run", "seed"})  # columns of each plan of `labeler variants`
LEFT_OUT = "ignore:"  # prefix for columns of the file to ignore
ROW_NUMBERS = ("", "Unnamed: 0", "__index_level_0__")  # names that pandas gives to the index it writes
MAX_SHOWN = 300  # total length of column names in messages
ONE_RUN = ""  # given as the column for run: if the table has no column run, all rows of a benchmark are one run

Place = Callable[[int], str]  # position of a row -> "line 3" or "row 1"


def is_parquet(_name: str, content: bytes) -> bool:
    """Return whether the content has Parquet's magic bytes at both ends."""
    return content[:4] == b"PAR1" and content[-4:] == b"PAR1"


def is_csv(_name: str, content: bytes) -> bool:
    """Return whether the header has the columns benchmark and value; the reader checks for the column run."""
    first = content[:4096].decode("utf-8-sig", "replace").split("\n", 1)[0]
    names = [set(header(first, separator)) for separator in SEPARATORS]
    return any({"benchmark", "value"} <= one and OF_PA not in one for one in names)


def read_parquet(_name: str, content: bytes, columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of a Parquet table.

    If the content is invalid, raise ValueError with the column or row.
    """
    import pandas as pd
    import pyarrow as pa
    from pyarrow import parquet

    try:
        check_parquet_footer(content)
        metadata = parquet.read_metadata(pa.BufferReader(content))
        check_columns(metadata.num_columns)
        names = parquet.read_schema(pa.BufferReader(content)).names
        _renamed(pd.DataFrame(columns=names), columns)  # reports missing or unknown columns before anything is unpacked
        check_parquet(content, metadata, names)
        leaves = map(metadata.schema.column, range(metadata.num_columns))
        texts = [column.path for column in leaves if column.physical_type == "BYTE_ARRAY"]
        arrow = parquet.read_table(pa.BufferReader(content), read_dictionary=texts)
        arrow.validate(full=True)  # finds invalid UTF-8 here, not when the text is first used
        table = arrow.to_pandas(ignore_metadata=True)  # pandas metadata may be damaged and are not needed
    except (OSError, pa.ArrowException) as error:
        raise ValueError(f"the Parquet file is damaged ({error})") from None
    yield from benchmarks(_renamed(table, columns), lambda row: f"row {row}")


def read_csv(_name: str, content: bytes, columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of a CSV table; if the content is invalid, raise ValueError with the column or line."""
    table = read_text_table(content)
    frame = _renamed(table.frame, columns)
    if tuple(table.frame.columns[: len(WRITTEN)]) == WRITTEN:
        for name in frame.columns[~frame.columns.isin(["value", "iteration"])]:
            escaped = frame[name].str.contains("'", regex=False)
            if escaped.any():
                frame[name] = frame[name].where(~escaped, frame[name].map(as_written))
    yield from benchmarks(frame, lambda row: f"line {table.line(row)}")


def benchmarks(table: pd.DataFrame, place: Place, *, unit: str = "") -> Iterator[Benchmark]:
    """Yield the benchmarks of a table with the columns of this format, in order of first appearance.

    The table has at least the columns benchmark, run and value, and its index counts the rows from 0. `place` gives a
    row's name in error messages; `unit` is for measurements without one. Raises ValueError if the table is invalid;
    names the row or benchmark.
    """
    conditions = _conditions(table)
    for name in (*NAMES, *conditions):
        if name in table:
            table[name] = _texts(table[name], name, place)
    for name in conditions:
        table[name] = table[name].map(str.strip).astype("category")
    groups = [name for name in ("application", "benchmark") if name in table]
    failed = _failed(table, place)
    failures_of: dict[tuple[str, ...], tuple[Failure, ...]] = {}
    lines: Sequence[int] = range(len(table))
    if failed.any():
        for group, rows in table[failed].groupby(groups, sort=False, observed=True):
            failures_of[tuple(map(str, group))] = tuple(_failure(row, conditions) for row in rows.to_dict("records"))
        lines = np.flatnonzero(~failed).tolist()
        table = table[~failed].reset_index(drop=True)
    for name in ("value", "iteration"):
        if name in table:
            table[name] = _numbers(table[name], name, lambda row: place(lines[row]))
    check_runs(table.groupby([*groups, "run", *conditions], sort=False, observed=True).ngroups)
    for group, rows in table.groupby(groups, sort=False, observed=True):
        key = tuple(map(str, group))
        yield _benchmark(dict(zip(groups, key, strict=True)), rows, conditions, unit, failures_of.pop(key, ()))
    for key, of_one in failures_of.items():
        named = dict(zip(groups, key, strict=True))
        yield Benchmark(named["benchmark"], (), named.get("application", ""), failures=of_one)


def _failed(table: pd.DataFrame, place: Place) -> NDArray[np.bool_]:
    """Return a mask of the rows that are failed runs; raise ValueError if a failed run has a value."""
    if FAILURE not in table:
        return np.zeros(len(table), dtype=bool)
    table[FAILURE] = _texts(table[FAILURE], FAILURE, place)
    failed: NDArray[np.bool_] = (table[FAILURE].map(str.strip) != "").to_numpy(dtype=bool)
    has_value = failed & (table["value"].notna() & (table["value"].astype(str).str.strip() != "")).to_numpy(dtype=bool)
    if has_value.any():
        raise ValueError(f"{place(int(has_value.argmax()))}: the row has a value and also a reason in {FAILURE!r}")
    return failed


def _failure(row: Mapping[Hashable, Any], conditions: Sequence[str]) -> Failure:
    known = {_condition(name): str(row[name]) for name in ("run", *conditions) if str(row[name])}
    return Failure(known, str(row[FAILURE]).strip())


def _condition(column: str) -> str:
    """Return the name of the condition that a column contains."""
    name = column.removeprefix(FACTOR)
    plain = column.removeprefix(RECORDED)
    return plain if plain in (DURATION, TIME) else name


def _conditions(table: pd.DataFrame) -> list[str]:
    """Return the columns with the conditions of a run."""
    factors = [name for name in map(str, table) if _is_named(name)]
    for name in factors:
        if name.startswith(FACTOR) and name.removeprefix(FACTOR) in ("run", *CONDITIONS):
            raise ValueError(f"{name!r} is not a factor. Use the column name {name.removeprefix(FACTOR)!r}")
    return [*(name for name in (*CONDITIONS, PREDECESSOR) if name in table), *factors]


def _is_named(name: str) -> bool:
    """Return whether the name of a column has the form factor:NAME or recorded:NAME."""
    return name.startswith((FACTOR, RECORDED)) and name not in (FACTOR, RECORDED)


def _renamed(table: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    table = table.rename(columns={name: str(name).strip() for name in table.columns})
    name = columns.get("name")
    columns = {ours: theirs for ours, theirs in columns.items() if ours != "name"}
    if name is not None:
        if "benchmark" in table or "benchmark" in columns:
            raise ValueError("the table has a column of benchmarks, so --name does not apply")
        table = table.assign(benchmark=name)
    if columns.get("run") == ONE_RUN:
        columns = {ours: theirs for ours, theirs in columns.items() if ours != "run"}
        table = table if "run" in table else table.assign(run="0")
    left_out = {theirs for ours, theirs in columns.items() if ours.startswith(LEFT_OUT)}
    columns = {ours: theirs for ours, theirs in columns.items() if not ours.startswith(LEFT_OUT)}
    for ours in columns:
        if ours not in (*REQUIRED, *OPTIONAL) and not _is_named(ours):
            known = ", ".join((*REQUIRED, *OPTIONAL, f"{FACTOR}NAME", f"{RECORDED}NAME", f"{LEFT_OUT}NAME"))
            raise ValueError(f"{ours!r} is not a column of this format; the columns are {known}")
    for theirs in (*columns.values(), *left_out):
        if theirs not in table.columns:
            raise ValueError(f"column {theirs!r} is missing; the table has {_names_of(table)}")
    table = table.rename(columns={theirs: ours for ours, theirs in columns.items()})
    missing = [name for name in REQUIRED if name not in table.columns]
    if missing:
        raise ValueError(_what_is_missing(missing[0], table))
    if table.columns.duplicated().any():
        raise ValueError(f"two columns are called {table.columns[table.columns.duplicated()][0]!r}")
    if set(table.columns) >= PLANNED:  # a completed plan of `labeler variants`: all other columns are factors
        left_out |= PLANNED - {"run"}
        table = table.rename(columns={name: FACTOR + name for name in _further(table) if name not in left_out})
    unknown = [name for name in _further(table) if name not in left_out and name not in ROW_NUMBERS]
    if unknown:
        first = unknown[0]
        raise ValueError(
            f"the meaning of column {', '.join(map(repr, unknown))} is unknown. If it is a condition of the runs, "
            f"give --columns {FACTOR}{first}={first}; otherwise --columns {LEFT_OUT}{first}={first}"
        )
    names = [name for name in (*REQUIRED, *OPTIONAL) if name in table.columns]
    return table[[*names, *filter(_is_named, table.columns)]].reset_index(drop=True)


def _names_of(table: pd.DataFrame) -> str:
    """Return the column names in one line, shortened if needed."""
    names = ", ".join(map(str, table.columns))
    return names if len(names) <= MAX_SHOWN else f"{names[:MAX_SHOWN]}…"


def _further(table: pd.DataFrame) -> list[str]:
    """Return the names of the columns that this format does not know."""
    return [name for name in table.columns if name not in (*REQUIRED, *OPTIONAL) and not _is_named(name)]


def _what_is_missing(column: str, table: pd.DataFrame) -> str:
    """Return a message that names the missing column and says what to do."""
    others = _further(table)
    way_out = (
        f"Name the column with --columns {column}=NAME"
        if others or column != "run"
        else "If each file is one run, give --file-is run"
    )
    if column == "benchmark":
        way_out += ", or give the name of the benchmark with --name NAME"
    return f"column {column!r} is missing; the table has {_names_of(table)}. {way_out}"


def _texts(cells: pd.Series[Any], column: str, place: Place) -> pd.Series[Any]:
    """Return a column as texts; raise ValueError if a required cell is empty."""
    import pandas as pd

    kinds = cells.cat.categories.to_series() if isinstance(cells.dtype, pd.CategoricalDtype) else cells
    if kinds.dtype == object:
        nested = [not isinstance(cell, (str, int, float, type(None))) for cell in cells]
        if any(nested):
            kind = type(cells[nested.index(True)]).__name__
            raise ValueError(f"{place(nested.index(True))}: the cell in column {column!r} is a {kind}, not a text")
    codes, levels = pd.factorize(cells, use_na_sentinel=False)  # check levels, not cells, because tables are long
    check_runs(len(levels))  # each level is at least one run
    texts = ["" if pd.isna(level) else str(level) for level in levels]
    empty = np.array([text == "" for text in texts], dtype=bool)[codes] & (column in ("benchmark", "run"))
    if empty.any():
        raise ValueError(f"{place(int(empty.argmax()))}: the cell in column {column!r} is empty")
    numbers, distinct = pd.factorize(np.array(texts, dtype=object))
    return pd.Series(pd.Categorical.from_codes(numbers[codes], categories=pd.Index(distinct, dtype=object)))


def _numbers(cells: pd.Series[Any], column: str, place: Place) -> pd.Series[float]:
    import pandas as pd

    is_by_level = isinstance(cells.dtype, pd.CategoricalDtype)  # copies of a long text would fill the memory
    levels = cells.cat.categories.to_series() if is_by_level else cells
    if pd.api.types.is_bool_dtype(levels.dtype) or not (
        pd.api.types.is_numeric_dtype(levels.dtype)
        or pd.api.types.is_string_dtype(levels.dtype)
        or levels.dtype == object
    ):
        raise ValueError(f"{place(0)}: {reprlib.repr(cells.iloc[0])} in column {column!r} is not a finite number")
    numbers = pd.to_numeric(levels, errors="coerce").astype(np.float64)
    if is_by_level:
        numbers = pd.Series(np.append(numbers.to_numpy(), np.nan)[cells.cat.codes], index=cells.index)  # -1: no cell
    bad = ~np.isfinite(numbers.to_numpy())
    if bad.any():
        at = int(bad.argmax())
        raise ValueError(f"{place(at)}: {reprlib.repr(cells.iloc[at])} in column {column!r} is not a finite number")
    return numbers


def _benchmark(
    group: Mapping[str, str],
    rows: pd.DataFrame,
    conditions: Sequence[str],
    unit: str,
    failures: tuple[Failure, ...],
) -> Benchmark:
    name, names = group["benchmark"], ["run", *conditions]
    appearance = rows[names].drop_duplicates()
    if "iteration" in rows:
        _check_iterations(name, rows, conditions)
        rows = rows.sort_values("iteration", kind="stable")
    unit, factor = to_seconds(_constant(rows, "unit", unit, name))
    better = _constant(rows, "better", LOWER if unit == "s" else UNKNOWN, name)
    if better not in DIRECTIONS:
        raise ValueError(f"benchmark {name!r}: better is {better!r}, not 'lower' or 'higher'")
    values = rows["value"] * factor
    by_run = dict(iter(values.groupby([rows[column] for column in names], observed=True, sort=False)))
    runs = []
    for key in appearance.itertuples(index=False, name=None):
        known = {_condition(column): str(text) for column, text in zip(names, key, strict=True) if text}
        runs.append(Run(by_run[key].to_numpy(dtype=np.float64), unit, better, known))
    return in_order(Benchmark(name, tuple(runs), group.get("application", ""), failures=failures))


def _check_iterations(name: str, rows: pd.DataFrame, conditions: Sequence[str]) -> None:
    doubled = rows.duplicated(["run", *conditions, "iteration"])
    if doubled.any():
        first = rows[doubled].iloc[0]
        run = _describe_run(first, conditions)
        raise ValueError(f"benchmark {name!r}, run {run}: iteration {first['iteration']:.17g} appears twice")


def _describe_run(row: pd.Series[Any], conditions: Sequence[str]) -> str:
    """Return the name of a run in the table, with its conditions."""
    told = ", ".join(f"{column} {row[column]}" for column in conditions)
    return f"{row['run']} ({told})" if told else str(row["run"])


def _constant(rows: pd.DataFrame, column: str, otherwise: str, name: str) -> str:
    import pandas as pd

    if column not in rows:
        return otherwise
    values = sorted({str(value).strip() for value in pd.unique(rows[column])})
    if len(values) > 1:
        raise ValueError(f"benchmark {name!r} has more than one {column}: {', '.join(values)}")
    return values[0] or otherwise
