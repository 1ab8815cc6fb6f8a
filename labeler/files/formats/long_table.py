"""Read long tables in CSV or Parquet, with a row per measurement: benchmark, run, value, and optional columns.

The column run and all columns with conditions identify a run, because runs are often numbered from 0 for each version.
A row with a reason in the column failure and no value is a failed run, or one that was skipped on purpose.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from analysis.runs.benchmark import (
    DATE,
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
from labeler.files.formats.bounds import check_columns, check_parquet, check_parquet_footer, check_runs
from labeler.files.formats.building import ONE_RUN
from labeler.files.formats.text_table import N_KEPT, SEPARATORS, Column, Numbers, Texts, header, read_text_table
from labeler.files.formats.units import to_seconds
from labeler.safe_text import as_written

if TYPE_CHECKING:
    import pandas as pd

REQUIRED = ("benchmark", "run", "value")
CONDITIONS = ("version", "context", "order_type", "order_position", "altered")
FAILURE = "failure"  # the reason why a run has no value; empty for all other runs
SKIPPED = "skipped: "  # a reason that begins so is that of a run that was left out on purpose
OPTIONAL = ("iteration", "application", "unit", "better", *CONDITIONS, PREDECESSOR, FAILURE)
WRITTEN = ("benchmark", "application", "run", "iteration", "value", "unit", "better", *CONDITIONS)  # for export
NAMES = ("benchmark", "run", "application", "unit", "better")
OF_PA = "value_count"  # a column that only the table of pa has
PLANNED = frozenset({"order", "run", "seed"})  # columns of each plan of `labeler variants`
LEFT_OUT = "ignore:"  # prefix for columns of the file to ignore
ROW_NUMBERS = ("", "Unnamed: 0", "__index_level_0__")  # names that pandas gives to the index it writes
MAX_SHOWN = 300  # total length of column names in messages

MEASURED = ("value", "iteration")  # the columns of numbers

Place = Callable[[int], str]  # position of a row -> "line 3" or "row 1"


def detect_parquet(_name: str, content: bytes) -> bool:
    """Return whether the content has Parquet's magic bytes at both ends."""
    return content[:4] == b"PAR1" and content[-4:] == b"PAR1"


def detect_csv(_name: str, content: bytes) -> bool:
    """Return whether the header has the columns benchmark and value; the reader checks for the column run."""
    names = [set(header(content[:4096], separator)) for separator in SEPARATORS]
    return any({"benchmark", "value"} <= one and OF_PA not in one for one in names)


def read_parquet(_name: str, content: bytes, columns: Mapping[str, str]) -> Iterator[Benchmark]:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        check_parquet_footer(content)
        metadata = parquet.read_metadata(pa.BufferReader(content))
        check_columns(metadata.num_columns)
        names = parquet.read_schema(pa.BufferReader(content)).names
        wanted = _wanted(names, columns)  # reports missing or unknown columns before anything is unpacked
        check_parquet(content, metadata, names)
        leaves = map(metadata.schema.column, range(metadata.num_columns))
        texts = [column.path for column in leaves if column.physical_type == "BYTE_ARRAY"]
        arrow = parquet.read_table(pa.BufferReader(content), read_dictionary=texts)
        arrow.validate(full=True)  # finds invalid UTF-8 here, not when the text is first used
        frame = arrow.to_pandas(ignore_metadata=True)  # pandas metadata may be damaged and are not needed
    except (OSError, pa.ArrowException) as error:
        raise ValueError(f"the Parquet file is damaged ({error})") from None
    frame = frame.rename(columns={name: str(name).strip() for name in frame.columns}).reset_index(drop=True)
    table = {
        ours: _numbers_in(frame[theirs], ours) if ours in MEASURED else _texts_in(frame[theirs], ours)
        for ours, theirs in wanted.columns.items()
    }
    yield from benchmarks(wanted.with_constants(table, len(frame)), _row)


def _row(at: int) -> str:
    return f"row {at}"


def read_csv(_name: str, content: bytes, columns: Mapping[str, str]) -> Iterator[Benchmark]:
    table = read_text_table(content)
    wanted = _wanted(table.names, columns)
    given = table.columns([wanted.columns[ours] for ours in MEASURED if ours in wanted.columns])
    found = {ours: given[theirs] for ours, theirs in wanted.columns.items()}
    if tuple(table.names[: len(WRITTEN)]) == WRITTEN:
        found = {ours: cells.mapped(as_written) if isinstance(cells, Texts) else cells for ours, cells in found.items()}
    yield from benchmarks(
        wanted.with_constants(found, max(map(len, given.values()))), lambda row: f"line {table.line(row)}"
    )


def benchmarks(table: Mapping[str, Column], place: Place, *, unit: str = "") -> Iterator[Benchmark]:
    """Yield the benchmarks of a table with the columns of this format, in order of first appearance.

    The table has at least the columns benchmark, run and value. `place` gives a row's name in error messages; `unit` is
    for measurements without one. Raises ValueError if the table is invalid; names the row or benchmark.
    """
    conditions = _conditions(list(table))
    texts = {name: _texts(table[name], name, place) for name in (*NAMES, FAILURE, *conditions) if name in table}
    texts |= {name: texts[name].mapped(str.strip) for name in conditions}
    numbers = {name: _numbers(table[name]) for name in MEASURED if name in table}
    groups = [name for name in ("application", "benchmark") if name in texts]
    failed = _failed(texts, numbers["value"], place)
    failures_of: dict[tuple[str, ...], list[Failure]] = {}
    for row in np.flatnonzero(failed).tolist():
        key = tuple(_text(texts[name], row) for name in groups)
        failures_of.setdefault(key, []).append(_failure(texts, row, conditions))
    measured = np.flatnonzero(~failed)
    for name, column in numbers.items():
        _check_finite(column, measured, name, place)
    runs_of: dict[tuple[str, ...], list[NDArray[np.intp]]] = {}
    for rows in _rows_of_runs([texts[name].codes[measured] for name in (*groups, "run", *conditions)]):
        key = tuple(_text(texts[name], int(measured[rows[0]])) for name in groups)
        runs_of.setdefault(key, []).append(measured[rows])
    for key, runs in runs_of.items():
        named: dict[str, str] = dict(zip(groups, key, strict=True))
        yield _benchmark(named, runs, texts, numbers, conditions, unit, tuple(failures_of.pop(key, ())))
    for key, of_one in failures_of.items():
        named = dict(zip(groups, key, strict=True))
        yield Benchmark(named["benchmark"], (), named.get("application", ""), failures=tuple(of_one))


def _text(column: Texts, row: int) -> str:
    return column.levels[int(column.codes[row])]


def _texts(cells: Column, column: str, place: Place) -> Texts:
    """Return a column as texts; raise ValueError if a required cell is empty."""
    if isinstance(cells, Numbers):
        cells = Texts.of(map(str, cells.values.tolist()))
    check_runs(len(cells.levels))  # each level is at least one run
    if column in ("benchmark", "run") and "" in cells.levels:
        at = int((cells.codes == cells.levels.index("")).argmax())
        raise ValueError(f"{place(at)}: the cell in column {column!r} is empty")
    return cells


def _numbers(cells: Column) -> Numbers:
    if isinstance(cells, Numbers):
        return cells
    by_level = Numbers.of(cells.levels)
    values = by_level.values[cells.codes]
    rows = np.flatnonzero(~np.isfinite(values)).tolist()
    return Numbers(values, {row: by_level.others[int(cells.codes[row])] for row in rows})


def _check_finite(column: Numbers, rows: NDArray[np.intp], name: str, place: Place) -> None:
    bad = rows[~np.isfinite(column.values[rows])]
    if len(bad):
        cell = column.others.get(int(bad[0]), float(column.values[bad[0]]))
        why = f"{place(int(bad[0]))}: {reprlib.repr(cell)} in column {name!r} is not a finite number"
        is_failure = name == "value" and not (isinstance(cell, str) and any(map(str.isdecimal, cell)))
        step = f"If the run failed, leave the cell empty and give the reason in a column {FAILURE}"
        raise ValueError(f"{why}. {step if is_failure else 'Write only a number, with a decimal point'}")


def _failed(texts: Mapping[str, Texts], values: Numbers, place: Place) -> NDArray[np.bool_]:
    """Return a mask of the rows that are failed runs; raise ValueError if a failed run has a value."""
    if FAILURE not in texts:
        return np.zeros(len(values.values), dtype=bool)
    reasons = texts[FAILURE]
    failed = np.array([bool(level.strip()) for level in reasons.levels], dtype=bool)[reasons.codes]
    for row in np.flatnonzero(failed).tolist():
        if np.isfinite(values.values[row]) or _has_text(values.others.get(row)):
            raise ValueError(f"{place(row)}: the row has a value and also a reason in {FAILURE!r}")
    return failed


def _has_text(cell: object) -> bool:
    return bool(cell.strip()) if isinstance(cell, str) else not (cell is None or cell != cell)  # not NaN


def _rows_of_runs(codes: Sequence[NDArray[np.int64]]) -> Iterator[NDArray[np.intp]]:
    """Yield the rows that are alike in all columns, in order of first appearance."""
    if not len(codes[0]):
        return
    run = np.zeros(len(codes[0]), dtype=np.int64)
    for column in codes:
        if column.max() > 0:
            run = np.unique(run * (int(column.max()) + 1) + column, return_inverse=True)[1]
    _distinct, first, run = np.unique(run, return_index=True, return_inverse=True)
    check_runs(len(first))
    ordered = np.argsort(run, kind="stable")
    parts = np.split(ordered, np.cumsum(np.bincount(run))[:-1])
    for at in np.argsort(first).tolist():
        yield parts[at]


def _failure(texts: Mapping[str, Texts], row: int, conditions: Sequence[str]) -> Failure:
    known = {_condition(name): _text(texts[name], row) for name in ("run", *conditions)}
    reason = _text(texts[FAILURE], row).strip()
    of_run = {name: text for name, text in known.items() if text}
    return Failure(of_run, reason.removeprefix(SKIPPED), on_purpose=reason.startswith(SKIPPED))


def _condition(column: str) -> str:
    """Return the name of the condition that a column contains."""
    name = column.removeprefix(FACTOR)
    plain = column.removeprefix(RECORDED)
    return plain if plain in (DURATION, TIME) else name


def _conditions(names: Sequence[str]) -> list[str]:
    """Return the columns with the conditions of a run."""
    factors = [name for name in names if _is_named(name)]
    for name in factors:
        if name.startswith(FACTOR) and name.removeprefix(FACTOR) in ("run", *CONDITIONS):
            raise ValueError(f"{name!r} is not a factor. Use the column name {name.removeprefix(FACTOR)!r}")
    return [*(name for name in (*CONDITIONS, PREDECESSOR) if name in names), *factors]


def _is_named(name: str) -> bool:
    """Return whether the name of a column has the form factor:NAME or recorded:NAME."""
    return name.startswith((FACTOR, RECORDED)) and name not in (FACTOR, RECORDED)


@dataclass(frozen=True)
class _Wanted:
    """Where the columns of this format come from."""

    columns: Mapping[str, str]  # name of a column in this format -> its name in the file
    constants: Mapping[str, str]  # name of a column that the file lacks -> the text of all its cells

    def with_constants(self, table: Mapping[str, Column], n_rows: int) -> dict[str, Column]:
        zeros = np.zeros(n_rows, dtype=np.int64)
        return {**table, **{name: Texts(zeros, [text]) for name, text in self.constants.items()}}


def _wanted(given: Sequence[str], columns: Mapping[str, str]) -> _Wanted:
    """Return the columns to read from a table with these names; raise ValueError if one is missing or unknown."""
    names = [str(name).strip() for name in given]
    columns, left_out, constants = _from_options(columns, names)
    for theirs in (*columns.values(), *left_out):
        if theirs not in (*names, *constants):
            raise ValueError(f"column {theirs!r} is missing; the table has {_listed([*names, *constants])}")
    called = {theirs: ours for ours, theirs in columns.items()}
    called.setdefault(TIME if TIME in names else DATE, RECORDED + TIME)
    renamed = [*(called.get(name, name) for name in names), *constants]  # names in this format, in the file's order
    missing = [name for name in REQUIRED if name not in renamed]
    if missing:
        raise ValueError(_what_is_missing(missing[0], renamed))
    doubled = next((name for name in renamed if renamed.count(name) > 1), None)
    if doubled is not None:
        raise ValueError(f"two columns are called {doubled!r}")
    if set(renamed) >= PLANNED:  # a completed plan of `labeler variants`: all other columns are factors
        left_out |= PLANNED - {"run"}
        factors = {name for name in _further(renamed) if name not in left_out}
        renamed = [FACTOR + name if name in factors else name for name in renamed]
    unknown = [name for name in _further(renamed) if name not in left_out and name not in ROW_NUMBERS]
    if unknown:
        first = unknown[0]
        raise ValueError(
            f"the meaning of column {', '.join(map(repr, unknown))} is unknown. If it is a condition of the runs, "
            f"give --columns {FACTOR}{first}={first}; otherwise --columns {LEFT_OUT}{first}={first}"
        )
    place = dict(zip(renamed, names, strict=False))
    wanted = [*(name for name in (*REQUIRED, *OPTIONAL) if name in place), *filter(_is_named, place)]
    return _Wanted({ours: place[ours] for ours in wanted if ours not in constants}, constants)


def _from_options(columns: Mapping[str, str], names: Sequence[str]) -> tuple[dict[str, str], set[str], dict[str, str]]:
    """Return the columns that `--columns` names, those that it leaves out, and the values that hold for every row."""
    constants = {}
    if "name" in columns:
        if "benchmark" in names or "benchmark" in columns:
            raise ValueError("the table has a column of benchmarks, so --benchmark does not apply")
        constants["benchmark"] = columns["name"]
    one_run = columns.get("run") == ONE_RUN
    if one_run and "run" not in names:
        constants["run"] = "0"
    left_out = {theirs for ours, theirs in columns.items() if ours.startswith(LEFT_OUT)}
    named = {
        ours: theirs
        for ours, theirs in columns.items()
        if ours != "name" and not ours.startswith(LEFT_OUT) and not (one_run and ours == "run")
    }
    for ours in named:
        if ours not in (*REQUIRED, *OPTIONAL) and not _is_named(ours):
            known = ", ".join((*REQUIRED, *OPTIONAL, f"{FACTOR}NAME", f"{RECORDED}NAME", f"{LEFT_OUT}NAME"))
            raise ValueError(f"{ours!r} is not a column of this format; the columns are {known}")
    return named, left_out, constants


def _listed(names: Sequence[str]) -> str:
    """Return column names in one line, shortened if needed."""
    text = ", ".join(names)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def _further(names: Sequence[str]) -> list[str]:
    """Return the names of the columns that this format does not know."""
    return [name for name in names if name not in (*REQUIRED, *OPTIONAL) and not _is_named(name)]


def _what_is_missing(column: str, names: Sequence[str]) -> str:
    """Return a message that names the missing column and says what to do."""
    way_out = (
        f"Name the column with --columns {column}=NAME"
        if _further(names) or column != "run"
        else "If each file is one run, give --file-is run"
    )
    if column == "benchmark":
        way_out += ", or give the name of the benchmark with --benchmark NAME"
    return f"column {column!r} is missing; the table has {_listed(names)}. {way_out}"


def _texts_in(cells: pd.Series[Any], column: str) -> Texts:
    """Return a column of a Parquet table as texts."""
    import pandas as pd

    kinds = cells.cat.categories.to_series() if isinstance(cells.dtype, pd.CategoricalDtype) else cells
    if kinds.dtype == object:
        nested = [not isinstance(cell, (str, int, float, type(None))) for cell in cells]
        if any(nested):
            kind = type(cells[nested.index(True)]).__name__
            raise ValueError(f"{_row(nested.index(True))}: the cell in column {column!r} is a {kind}, not a text")
    codes, levels = pd.factorize(cells, use_na_sentinel=False)  # levels, not cells, because tables are long
    check_runs(len(levels))
    texts = Texts.of("" if pd.isna(level) else str(level) for level in levels)
    return Texts(texts.codes[codes], texts.levels)


def _numbers_in(cells: pd.Series[Any], column: str) -> Numbers:
    """Return a column of a Parquet table as numbers."""
    import pandas as pd

    is_by_level = isinstance(cells.dtype, pd.CategoricalDtype)  # copies of a long text would fill the memory
    levels = cells.cat.categories.to_series() if is_by_level else cells
    if pd.api.types.is_bool_dtype(levels.dtype) or not (
        pd.api.types.is_numeric_dtype(levels.dtype)
        or pd.api.types.is_string_dtype(levels.dtype)
        or levels.dtype == object
    ):
        raise ValueError(f"{_row(0)}: {reprlib.repr(cells.iloc[0])} in column {column!r} is not a finite number")
    if pd.api.types.is_numeric_dtype(levels.dtype):
        values = levels.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values = Numbers.of("" if pd.isna(level) else str(level) for level in levels).values
    if is_by_level:
        values = np.append(values, np.nan)[cells.cat.codes]  # -1: no cell
    bad = np.flatnonzero(~np.isfinite(values))[:N_KEPT]
    if is_by_level and len(bad):
        texts = [*levels.tolist(), np.nan]  # each text once, because taking rows of the column would copy it
        others = [texts[code] for code in cells.cat.codes.to_numpy()[bad]]
    else:
        others = cells.iloc[bad].tolist()
    return Numbers(
        values, {row: np.nan if pd.isna(cell) else cell for row, cell in zip(bad.tolist(), others, strict=True)}
    )


def _benchmark(
    group: Mapping[str, str],
    rows_of_runs: Sequence[NDArray[np.intp]],
    texts: Mapping[str, Texts],
    numbers: Mapping[str, Numbers],
    conditions: Sequence[str],
    unit: str,
    failures: tuple[Failure, ...],
) -> Benchmark:
    name, names = group["benchmark"], ["run", *conditions]
    if "iteration" in numbers:
        iterations = numbers["iteration"].values
        _check_iterations(name, rows_of_runs, iterations, texts, conditions)
        rows_of_runs = [rows[np.argsort(iterations[rows], kind="stable")] for rows in rows_of_runs]
    every = np.concatenate(rows_of_runs)
    unit, factor = to_seconds(_constant(texts, every, "unit", unit, name))
    better = _constant(texts, every, "better", LOWER if unit == "s" else UNKNOWN, name)
    if better not in DIRECTIONS:
        raise ValueError(f"benchmark {name!r}: better is {better!r}, not 'lower' or 'higher'")
    values = numbers["value"].values
    runs = []
    for rows in rows_of_runs:
        known = {_condition(column): _text(texts[column], int(rows[0])) for column in names}
        told = {condition: text for condition, text in known.items() if text}
        runs.append(Run(values[rows] * factor, unit, better, told))
    return in_order(Benchmark(name, tuple(runs), group.get("application", ""), failures=failures))


def _check_iterations(
    name: str,
    rows_of_runs: Sequence[NDArray[np.intp]],
    iterations: NDArray[np.float64],
    texts: Mapping[str, Texts],
    conditions: Sequence[str],
) -> None:
    doubled: list[int] = []
    for rows in rows_of_runs:
        _distinct, first = np.unique(iterations[rows], return_index=True)
        if len(first) < len(rows):
            doubled.append(int(np.delete(rows, first).min()))
    if doubled:
        row = min(doubled)
        told = ", ".join(f"{column} {_text(texts[column], row)}" for column in conditions)
        run = _text(texts["run"], row) + (f" ({told})" if told else "")
        raise ValueError(f"benchmark {name!r}, run {run}: iteration {iterations[row]:.17g} appears twice")


def _constant(texts: Mapping[str, Texts], rows: NDArray[np.intp], column: str, otherwise: str, name: str) -> str:
    if column not in texts:
        return otherwise
    values = sorted({texts[column].levels[code].strip() for code in np.unique(texts[column].codes[rows])})
    if len(values) > 1:
        raise ValueError(f"benchmark {name!r} has more than one {column}: {', '.join(values)}. Use one in all its rows")
    return values[0] or otherwise
