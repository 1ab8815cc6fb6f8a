"""Write and read the long table of a measurement.

Each run is written to disk when the run ends. Each row contains the number of rows of its run. If a run was only partly
written, this number does not match, and the rows of the run are removed when the table is next opened.
"""

import csv
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from statistics import fmean
from typing import Self

from analysis.runs.benchmark import ALTERED, FACTOR, PREDECESSOR, RECORDED
from labeler.atomic_files import in_place
from labeler.errors import InputError
from labeler.files.formats.long_table import FAILURE, WRITTEN
from labeler.files.measuring.plan import ScheduledRun
from labeler.files.measuring.results import RunResult
from labeler.safe_text import as_written, inert

NAME, PARQUET = "measurements.csv", "measurements.parquet"
NUMBERS = ("iteration", "value")
STEP, ROWS, DURATION, BENCHMARK = (RECORDED + name for name in ("step", "rows", "duration", "plan_entry"))
NOTED = (
    "time", "duration", "cpu_s", "exit_status", "load_before", "load_after", "cpu_mhz", "governor", "temperature_c",
    "memory_available_mb", "left_running", "environment_bytes", "machine", "kernel", "processor", "processors",
    "python", "environment_names",
)  # fmt: skip
LOCK_WAIT_S = 2.0


@dataclass(frozen=True)
class Done:
    """A completed run in the table."""

    step: int
    benchmark: str
    version: str
    seconds: float
    failure: str
    value: float | None = None  # the mean of the measurements if all belong to one benchmark
    place: tuple[str, ...] = ()  # see `place_of`


@dataclass
class MeasurementTable:
    """The table in a folder, which only one process at a time can open."""

    path: Path
    factors: tuple[str, ...]
    done: list[Done] = field(default_factory=list)  # the completed runs, in the order of the table

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the table."""
        return (
            *WRITTEN, PREDECESSOR, FAILURE, *(FACTOR + name for name in self.factors), STEP, ROWS, BENCHMARK,
            *(RECORDED + name for name in NOTED),
        )  # fmt: skip

    def _lock(self) -> None:
        """Lock the table for this process.

        If another process was killed while it started a command, its lock may remain until this command has begun.
        """
        import fcntl  # imported here because only Unix has this module

        deadline = time.monotonic() + LOCK_WAIT_S
        while True:
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def __enter__(self) -> Self:
        """Open the table and remove incomplete runs; raises InputError if it is in use or belongs to another plan."""
        try:
            self.file = self.path.open("a+b", buffering=0)
            self._lock()
        except BlockingIOError:
            self.file.close()
            raise InputError(
                f"{self.path} is in use by another `labeler measure`. Wait until it ends, or choose another folder."
            ) from None
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}.") from None
        try:
            self.file.seek(0)
            self.done, size = read_done(self.path, self.file.read(), self.columns)
            self.file.truncate(size)
            self.file.seek(size)
            if size == 0:
                self._write([self.columns])
        except BaseException:
            self.file.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Close the table and release the lock."""
        self.file.close()

    def append(
        self, step: ScheduledRun, results: Sequence[RunResult], failure: str, noted: Mapping[str, str], application: str
    ) -> None:
        """Append all rows of a run at once, and wait until the rows are on disk."""
        n_rows = sum(len(result.values) for result in results) or 1
        shared = {
            "version": step.version, "order_type": step.order_type, "order_position": str(step.position),
            PREDECESSOR: step.predecessor, FAILURE: failure, STEP: str(step.number), ROWS: str(n_rows),
            BENCHMARK: step.benchmark,
            **{FACTOR + name if name in self.factors else name: level for name, level in step.factors.items()},
            **{RECORDED + name: text for name, text in noted.items()},
        }  # fmt: skip
        rows = [
            {
                **shared, "benchmark": result.benchmark, "application": result.application or application,
                "run": f"{step.round}.{result.process}" if result.process else str(step.round),
                "iteration": str(at), "value": repr(float(value)), "unit": result.unit, "better": result.better,
            }
            for result in results
            for at, value in enumerate(result.values)
        ] or [{**shared, "benchmark": step.benchmark, "application": application, "run": str(step.round)}]  # fmt: skip
        try:
            self._write([_cell(name, row.get(name, "")) for name in self.columns] for row in rows)
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}. Earlier runs are kept.") from None
        seconds = float(noted.get("duration") or 0)
        value = fmean(results[0].values) if len(results) == 1 else None
        self.done.append(Done(step.number, step.benchmark, step.version, seconds, failure, value, place_of(step)))

    def _write(self, rows: Iterable[Sequence[str]]) -> None:
        text = StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        content = memoryview(text.getvalue().encode("utf-8", "backslashreplace"))
        while content:
            content = content[self.file.write(content) :]
        os.fsync(self.file.fileno())


def write_parquet(path: Path) -> Path:
    """Write the table as Parquet next to the CSV file; raises InputError if writing fails."""
    import pandas as pd

    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    for name in table:
        if name in NUMBERS:
            table[name] = pd.to_numeric(table[name])
        else:
            table[name] = table[name].map(as_written).astype("category")
    with in_place(path.with_name(PARQUET)) as partial:
        table.to_parquet(partial, index=False, compression="zstd")
    return path.with_name(PARQUET)


def read_done(path: Path, content: bytes, columns: Sequence[str]) -> tuple[list[Done], int]:
    """Return the completed runs of a table with these columns, and how many bytes header and runs have."""
    whole = content[: content.rfind(b"\n") + 1]
    if not whole:
        return [], 0
    lines = whole.decode("utf-8").split("\n")[:-1]
    reader = csv.reader(f"{line}\n" for line in lines)
    header, end = next(reader), len(lines[0].encode()) + 1
    if tuple(header) != tuple(columns):
        raise InputError(f"{path} is not the table of this plan: its columns differ. Choose another folder with --out.")
    done: list[Done] = []
    rows: list[dict[str, str]] = []
    used = 1
    for cells in reader:
        row = dict(zip(header, map(as_written, cells), strict=False))
        if rows and row.get(STEP) != rows[0][STEP]:
            raise InputError(
                f"{path}, line {reader.line_num}: rows of the previous run are missing. "
                "Choose another folder with --out."
            )
        rows.append(row)
        if len(cells) == len(header) and row[ROWS] == str(len(rows)):
            done.append(_done(rows))
            end += sum(len(line.encode()) + 1 for line in lines[used : reader.line_num])
            used, rows = reader.line_num, []
    return done, end


def place_of(step: ScheduledRun) -> tuple[str, ...]:
    """Return the values of a step, such as context and position, that differ if the table is of another plan."""
    levels = [f"{name}={level}" for name, level in step.factors.items()]
    return (*levels, step.order_type, str(step.position), step.predecessor, str(step.round))


def _cell(column: str, text: str) -> str:
    return text if column in NUMBERS else inert(text)


def _done(rows: Sequence[Mapping[str, str]]) -> Done:
    first = rows[0]
    levels = [f"{name.removeprefix(FACTOR)}={text}" for name, text in first.items() if name.startswith(FACTOR)]
    levels += [f"{ALTERED}={first[ALTERED]}"] if first[ALTERED] else []
    place = (*levels, first["order_type"], first["order_position"], first[PREDECESSOR], first["run"].partition(".")[0])
    is_one = len({(row["benchmark"], row["run"]) for row in rows}) == 1 and not first[FAILURE]
    value = fmean(float(row["value"]) for row in rows) if is_one else None
    seconds = float(first[DURATION] or 0)
    return Done(int(first[STEP]), first[BENCHMARK], first["version"], seconds, first[FAILURE], value, place)
