"""Write benchmarks for other programs, as long tables in CSV or Parquet, or as JSON of the ICPE '23 data challenge.

A table always has all columns of `WRITTEN`, and one for each other condition, so that tables can be combined.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING

import numpy as np
import orjson
from numpy.typing import NDArray

from analysis.runs.benchmark import CONDITIONS, FACTOR, RECORDED, RUN, Benchmark, in_unit
from analysis.text import is_device
from labeler.files.formats.long_table import FAILURE, SKIPPED, WRITTEN
from labeler.safe_text import inert

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet

NUMBERS = ITERATION, VALUE = ("iteration", "value")  # one column follows the other
MAX_STEM_BYTES = 200


def columns(factors: Iterable[str]) -> list[str]:
    """Return the names of the columns of a table with these columns besides those in `WRITTEN`; see `extra_columns`."""
    plain = (*CONDITIONS, FAILURE)
    return [*WRITTEN, *(name if name in plain or name.startswith(RECORDED) else FACTOR + name for name in factors)]


def extra_columns(benchmark: Benchmark) -> list[str]:
    """Return the conditions that need a column in addition to `WRITTEN`, and the one for runs that failed."""
    of_failures = [name for failure in benchmark.failures for name in failure.conditions]
    names = dict.fromkeys((*benchmark.conditions, *of_failures))
    return [*(name for name in names if name not in WRITTEN), *([FAILURE] if benchmark.failures else [])]


def csv_header(names: Sequence[str]) -> str:
    """Return the first line of a CSV table with these columns."""
    return ",".join(map(_quoted, names)) + "\n"


def csv_rows(benchmark: Benchmark, names: Sequence[str]) -> Iterator[str]:
    """Yield the lines of each run in a CSV table, and a line without a value for each run that failed.

    All texts are quoted, and a text that a spreadsheet would run as a formula is neutralised (see `labeler.safe_text`).
    Numbers have as many digits as are needed to read the same number again.
    """
    at = list(names).index(ITERATION)
    texts = [[_quoted(inert(text)) for text in _texts(benchmark, name)] for name in names if name not in NUMBERS]
    for run, *cells in zip(benchmark.values, *texts, strict=True):
        before, after = "".join(f"{cell}," for cell in cells[:at]), "".join(f",{cell}" for cell in cells[at:])
        yield "".join([f"{before}{place},{value!r}{after}\n" for place, value in enumerate(run.tolist())])
    for row in _failed_rows(benchmark, names):
        yield ",".join("" if name in NUMBERS else _quoted(inert(row[name])) for name in names) + "\n"


def _failed_rows(benchmark: Benchmark, names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield the texts of each run that failed; a run without a name gets one, because each row needs it."""
    for at, failure in enumerate(benchmark.failures):
        known = {
            "benchmark": benchmark.name, "application": benchmark.application, "unit": benchmark.unit,
            "better": benchmark.better, RUN: f"failed {at}",
            FAILURE: f"{SKIPPED * failure.on_purpose}{failure.reason or 'failed'}",
        }  # fmt: skip
        known |= failure.conditions
        yield {name: known.get(name.removeprefix(FACTOR), "") for name in names}


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _schema(names: Sequence[str]) -> pa.Schema:
    """Return the schema of a table: numbers, and texts as dictionaries."""
    import pyarrow as pa

    numbers, text = {ITERATION: pa.int64(), VALUE: pa.float64()}, pa.dictionary(pa.int32(), pa.string())
    return pa.schema([(name, numbers.get(name, text)) for name in names])


def parquet_writer(file: IO[bytes], names: Sequence[str]) -> parquet.ParquetWriter:
    """Return a Parquet writer for `rows`, which become one row group. The caller must close it."""
    from pyarrow import parquet

    return parquet.ParquetWriter(file, _schema(names), compression="zstd")


def rows(benchmark: Benchmark, names: Sequence[str]) -> pa.Table:
    """Return a table with one row per measurement, in order of runs and iterations, and one per run that failed.

    Unknown texts are "", and a run that failed has no value.
    """
    import pyarrow as pa

    failed = [
        {name: text for name, text in row.items() if name not in NUMBERS} for row in _failed_rows(benchmark, names)
    ]
    of_failed = pa.Table.from_pylist(failed, schema=_schema(names)) if failed else None
    if not benchmark.runs and of_failed is not None:
        return of_failed
    lengths = [len(run) for run in benchmark.runs]
    run = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    numbers = {ITERATION: np.concatenate([np.arange(n) for n in lengths]), VALUE: np.concatenate(benchmark.values)}
    arrays = [
        pa.array(numbers[name]) if name in numbers else _dictionary(_texts(benchmark, name), run) for name in names
    ]
    measured = pa.Table.from_arrays(arrays, schema=_schema(names))
    return measured if of_failed is None else pa.concat_tables([measured, of_failed])


def _texts(benchmark: Benchmark, column: str) -> Sequence[str]:
    """Return the cell of a column for each run."""
    if column == RUN:
        return benchmark.labels
    one = {"benchmark": benchmark.name, "application": benchmark.application, "unit": benchmark.unit,
           "better": benchmark.better}.get(column, "")  # fmt: skip
    return benchmark.conditions.get(column.removeprefix(FACTOR)) or (one,) * len(benchmark.runs)


def _dictionary(texts: Sequence[str], run: NDArray[np.int32]) -> pa.DictionaryArray:
    import pyarrow as pa

    levels = {level: code for code, level in enumerate(dict.fromkeys(texts))}
    codes = np.array([levels[text] for text in texts], dtype=np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(codes[run]), pa.array(levels, pa.string()))


def icpe_file(benchmark: Benchmark, taken: dict[str, str]) -> tuple[str, bytes]:
    """Return the name and the content of a benchmark's file in the format of the ICPE '23 data challenge.

    The name is `org__project#method#k=v.json`, or a changed one with a part of its hash if this is no valid file name;
    see `file_stem`. Raises ValueError if the measurements are not in seconds with lower as better: the format has no
    other unit.
    """
    if benchmark.unit != "s" or benchmark.better != "lower":
        raise ValueError(
            f"its measurements are in {in_unit(benchmark)}, but this format has only seconds, with lower as better. "
            f"If they are seconds, give --unit s; otherwise write parquet or csv"
        )
    prefix = benchmark.application.replace("/", "__", 1) + "#" if benchmark.application else ""
    name = benchmark.name if benchmark.name.startswith(prefix) else prefix + benchmark.name
    return f"{file_stem(name, taken)}.json", orjson.dumps([run.tolist() for run in benchmark.runs])


def file_stem(name: str, taken: dict[str, str]) -> str:
    r"""Turn a name into a short file name that is valid on any system, has no folder, and is not hidden.

    A name that must be changed ends with a part of its hash, and so does a name that some systems do not distinguish
    from another one: `taken` has the names of a folder, and gets this one. Equal names have equal results.

    Examples
    --------
    >>> names: dict[str, str] = {}
    >>> file_stem("org__app#sort#n=1&m=2", names), file_stem("../../etc/x", names), file_stem("aux", names)
    ('org__app#sort#n=1&m=2', '_.._etc_x-56da1a2e', '_aux-321f6814')
    >>> file_stem("sort", names), file_stem("Sort", names)
    ('sort', 'Sort-bec69036')
    """
    printable = "".join(letter if letter.isprintable() else "_" for letter in name)
    stem = re.sub(r'[<>:"/\\|?*]', "_", printable).strip(". ")
    stem = stem.encode()[:MAX_STEM_BYTES].decode(errors="ignore")
    if is_device(stem):
        stem = f"_{stem}"
    if stem == name and taken.setdefault(unicodedata.normalize("NFC", stem).casefold(), name) == name:
        return stem
    return f"{stem or 'unnamed'}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
