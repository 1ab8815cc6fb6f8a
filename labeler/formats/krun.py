"""Read the tables of krun and warmup_stats, with one row per process and one column per iteration, in seconds.

The header is `process_exec_num, bench_name, 0, 1, 2, ...`; the first two names vary. A row is a run. If a run crashed,
its row has the word crash instead of the first time. Such a row often has no further cells.
"""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from analysis.benchmark import Benchmark, Failure
from labeler.formats import json_text
from labeler.formats.naming import with_unique_names
from labeler.formats.text_table import header
from labeler.model import Series

CRASH = "crash"
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
N_NAMES = 2  # columns before the first iteration


def detect(_name: str, content: bytes) -> bool:
    """Return whether the header begins with a process and a benchmark and counts iterations from 0."""
    start, line_end, _ = content[:65536].decode("utf-8-sig", "replace").partition("\n")
    columns = header(start, ",")
    return _is_header(columns if line_end else columns[:-1])  # the last column may be cut off


def _is_header(columns: Sequence[str]) -> bool:
    numbers = list(columns[N_NAMES:])
    is_named = bool(numbers) and columns[0].casefold().startswith("process")
    return is_named and numbers == [str(number) for number in range(len(numbers))]


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of the table; if the content is invalid, raise ValueError with the line and iteration."""
    records = _records(content)
    line, columns = next(records, (1, []))
    if not _is_header(columns):
        raise ValueError(f"line {line}: the header must have a process, a benchmark, and iterations counted from 0")
    runs: dict[str, dict[str, Series | Failure]] = defaultdict(dict)
    for line, cells in records:
        process, name, *times = [*cells, ""] if len(cells) < N_NAMES else cells
        if not process or not name:
            raise ValueError(f"line {line}: the cell in column {1 if name else 2} is empty")
        if process in runs[name]:
            raise ValueError(f"line {line}: process {process!r} of benchmark {name!r} appears twice")
        if times[:1] == [CRASH] and not any(times[1:]):
            runs[name][process] = Failure({"run": process}, f"line {line}: crash")
        else:
            runs[name][process] = _series(times, len(columns) - N_NAMES, f"line {line}")
    yield from with_unique_names(_benchmark(name, by_process) for name, by_process in runs.items())


def _benchmark(name: str, by_process: Mapping[str, Series | Failure]) -> Benchmark:
    runs = {process: run for process, run in by_process.items() if not isinstance(run, Failure)}
    return Benchmark.of_series(
        name=name,
        series=tuple(runs.values()),
        conditions={"run": tuple(runs)},
        failures=tuple(run for run in by_process.values() if isinstance(run, Failure)),
    )


def _records(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield (line, cells) of the header and of each row that is not blank."""
    text = json_text.text_of(content)
    reader = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    for cells in reader:
        if any(cells):
            yield reader.line_num, [cell.strip(" \t") for cell in cells]


def _series(times: Sequence[str], n_iterations: int, place: str) -> Series:
    if len(times) != n_iterations:
        raise ValueError(f"{place}: the row has {len(times)} times, but the header has {n_iterations} iterations")
    for at, time in enumerate(times):
        if not _NUMBER.fullmatch(time):
            raise ValueError(f"{place}, iteration {at}: {time!r} is not a finite number")
    return np.array(times, dtype=np.float64)
