"""Read the measurements of a run from the clock, from standard output or from result files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from math import isfinite
from pathlib import Path

from analysis.runs.benchmark import LOWER, Benchmark
from labeler.errors import Refused
from labeler.files.formats import ReadOptions, Source, read
from labeler.files.measuring.plan import CPU, FILE, STDOUT, WALL, PlanEntry
from labeler.files.measuring.process import Ended

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class RunResult:
    """The iterations of one benchmark in one run."""

    benchmark: str
    values: Numbers
    unit: str = "s"
    better: str = LOWER
    application: str = ""
    process: str = ""  # the id of the process if the run has several processes; otherwise ""


FileStates = Mapping[Path, tuple[int, int, int]]  # the state of each file, which changes when the file is written again


def file_states(measured: PlanEntry, files: str, directory: Path) -> FileStates:
    """Return the state of the files that match `files`, to detect later which of them a run wrote."""
    if measured.values != FILE:
        return {}
    is_pattern = has_magic(files)
    names = glob(files, root_dir=directory, recursive=True) if is_pattern else [files]  # noqa: PTH207 - may be absolute
    paths = [directory / name for name in sorted(names)]
    states = {path: path.stat() for path in paths if path.is_file()}
    return {path: (state.st_mtime_ns, state.st_size, state.st_ino) for path, state in states.items()}


def results_of(measured: PlanEntry, ended: Ended, before: FileStates, after: FileStates) -> list[RunResult]:
    """Return the measurements of a run that succeeded.

    `before` and `after` are the states of the result files before and after the run; a file that did not change belongs
    to an earlier run. A single benchmark gets the name in the plan; the names of several are appended to it. Raises
    ValueError if the run has no measurements, or they cannot be read.
    """
    if measured.values in (WALL, CPU):
        return [RunResult(measured.name, (ended.wall_s if measured.values == WALL else ended.cpu_s,))]
    options = ReadOptions(
        unit=measured.unit,
        better=tuple(filter(None, [measured.better])),
        values_are="iterations" if measured.file_is_run else None,
    )
    if measured.values == STDOUT:
        numbers = _plain_numbers(ended.output, several_per_line=measured.several_per_line)
        if numbers:
            better = measured.better or (LOWER if measured.unit == "s" else "")
            return [RunResult(measured.name, numbers, measured.unit, better)]
        return _named(measured, _read([Source("standard output", data=ended.output)], options))
    written = [path for path, mark in after.items() if before.get(path) != mark]
    if not written:
        raise ValueError(f"the command wrote no file {measured.file}")
    return _named(measured, _read([Source(str(path), path=path) for path in written], options))


def _plain_numbers(output: bytes, *, several_per_line: bool) -> Numbers:
    """Return the numbers in an output, or none if it has anything else; refuse a line with several numbers."""
    try:
        lines = [[float(word) for word in line.split()] for line in output.splitlines()]
    except ValueError:
        return ()
    numbers = tuple(number for line in lines for number in line)
    if not all(map(isfinite, numbers)):
        return ()
    if several_per_line:
        return numbers
    for at, line in enumerate(lines, start=1):
        if len(line) > 1:
            words = output.splitlines()[at - 1].decode().split()
            more = f" and {len(words) - 2} more" if len(words) > 2 else ""
            raise ValueError(
                f"line {at} of the output has {len(words)} numbers ({words[0]}, {words[1]}{more}), but an iteration "
                "has one: print one number per line, or set several_per_line = true if each number is an iteration"
            )
    return numbers


def _read(sources: Sequence[Source], options: ReadOptions) -> list[Benchmark]:
    try:
        return [benchmark for source in sources for benchmark in read(source, options) if benchmark.runs]
    except Refused as error:
        raise ValueError(f"the result cannot be read: {error.reason}") from None


def _named(measured: PlanEntry, benchmarks: Sequence[Benchmark]) -> list[RunResult]:
    if not benchmarks:
        raise ValueError("the result contains no measurements")
    several = len(benchmarks) > 1
    return [
        RunResult(
            f"{measured.name}: {benchmark.name}" if several else measured.name,
            tuple(run.tolist()), benchmark.unit, benchmark.better, benchmark.application,
            str(at) if len(benchmark.runs) > 1 else "",
        )
        for benchmark in benchmarks
        for at, run in enumerate(benchmark.runs)
    ]  # fmt: skip
