"""Read the output of `go test -bench`, which has lines `BenchmarkX-8  N  value unit [value unit]...` [1]_.

Most other lines are ignored.

A process prints `goos:`, `goarch:` and `pkg:` before its results. If a file has the output of several processes, these
lines begin another run. Each line of a benchmark in a run (`-count`) is an iteration, and each unit is a separate
benchmark. `pkg` is part of the name. `Unit NAME better=higher` gives the direction of a unit; without it, the direction
is known only for times, rates and costs per operation (B/op). `-8` at the end of a name is GOMAXPROCS, which Go leaves
out if it is 1. If all benchmarks of an output have the same one, it is a condition of the runs and not part of the
name; with several (`go test -cpu 1,2,8`), it stays in the name. `go test -json` wraps the same output in events; line
numbers then count the printed lines.

.. [1] https://go.dev/design/14313-benchmark-format
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from analysis.runs.benchmark import LOWER, UNKNOWN, Benchmark, Failure
from labeler.files.formats import json_text
from labeler.files.formats.building import missing_benchmarks, with_unique_names
from labeler.files.formats.conditions import machine, of_each_run
from labeler.files.formats.logs import lines_of
from labeler.files.formats.printed import HAS_ENDED
from labeler.files.formats.units import SECONDS
from labeler.files.formats.unread import ResultLines

_NAMED = re.compile(r"(Benchmark(?![a-z])\S*)(?:\s+|$)", re.ASCII)
_VALUES = re.compile(r"[1-9]\d*\s+[-+.\dIN]\S*\s+\S", re.ASCII)
_RESULT = re.compile(
    rb"^(\xef\xbb\xbf)?(goos: \S+\s+goarch: |Benchmark(?![a-z])\S*[ \t]+[1-9]\d*[ \t]+[-+.\dIN]\S*[ \t]+\S)",
    re.MULTILINE,
)
_EVENT = re.compile(rb'\{\s*"(Time|ImportPath|Action)"\s*:')
_ALONE = re.compile(r"\s+[1-9]\d*(\s+[-+.\d]\S*\s+[^\s\d]\S*)+\s*", re.ASCII)  # values after log lines
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_KEY = re.compile(r"(goos|goarch|pkg):\s*(.*)", re.ASCII)
_CPU = re.compile(r"cpu:\s*(.*)")
_NONE = re.compile(r"0\s+\S+\s+\S", re.ASCII)  # a result of 0 iterations, such as `0  NaN ns/op`
_PANIC = re.compile(r"(?:.*\s)?(panic: .*)")
_ENDED = re.compile(r"(FAIL|PASS|ok)(\s|$)")  # the process of a package ended
_NOTHING = ("nan", "inf")  # values of a benchmark that failed
# a value and a unit per operation: what only a result has
_LOOKS = re.compile(r"(?:^|\s)[-+.\d]\S*\s+(?:[nuµm]?s|sec|B|allocs)/op(?:\s|$)|^Benchmark\S*\s(?:.*\s)?\S+/op(?:\s|$)")
_NOT_BUILT = re.compile(r"FAIL\s+(\S+)\s+\[(\w+ failed)\]", re.ASCII)
_UNIT = re.compile(r"Unit\s+(\S+)\s(?:.*\s)?better=(higher|lower)\b.*", re.ASCII)
_FAIL = re.compile(r"--- FAIL: (Benchmark\S*)", re.ASCII)
_TIME = re.compile(r"(?:.*-)?(ns|us|µs|ms|s|sec)(?:/op)?")
_SECONDS = SECONDS | {"sec": 1.0}
_COST = re.compile(r".+/op|(ns|us|µs|ms|s|sec)/.+")  # cost of an operation, for which lower is better
_PLAIN = ("ns/op", "sec/op")  # units that are not part of names
_PROCESSORS = re.compile(r"(.*?)(?:-([1-9]\d*))?", re.ASCII)
GOMAXPROCS = "GOMAXPROCS"  # the condition of a run

Key = tuple[str, str]  # (package, name)


@dataclass
class _Process:
    """A process of a package, and its benchmarks that have a result or failed."""

    package: str
    line: int  # where its output begins
    names: set[str] = field(default_factory=set)
    failure: str = ""  # why it failed before its first benchmark


@dataclass
class _Output:
    """The results in the lines that were read so far."""

    package: str = ""
    processes: list[_Process] = field(default_factory=list)
    is_running: bool = False  # whether the end of the last process was not yet read
    run: int = 0
    has_results: bool = False  # of this run
    interrupted: str = ""  # the name of a benchmark whose result follows after log lines
    last: str = ""  # the name of the last benchmark with a result or a failure in this package
    panic: str = ""  # what the process printed when it panicked
    has_failed: bool = False  # whether the failed benchmark of this process is known
    lines: ResultLines = field(default_factory=ResultLines)
    is_of_go: bool = False  # whether `go test` printed its first lines
    machine: dict[str, str] = field(default_factory=dict)
    machines: dict[int, dict[str, str]] = field(default_factory=dict)  # by run
    values: dict[Key, dict[str, dict[int, list[float]]]] = field(default_factory=dict)  # by unit, then by run
    failures: dict[Key, list[Failure]] = field(default_factory=lambda: defaultdict(list))
    better: dict[str, str] = field(default_factory=dict)


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content is output of `go test -bench`, as plain text or as events of `-json`."""
    if _EVENT.match(json_text.beginning(content)):
        return b'"Action"' in content and b'"Output"' in content and b"Benchmark" in content
    return not json_text.begins_like_json(content) and _RESULT.search(content) is not None


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of the output, one per unit.

    A result that is not a number is a failure, which contains the line number.
    """
    text = json_text.text_of(content)
    if _EVENT.match(json_text.beginning(content)):
        text = _printed(text)
    output = _Output()
    for number, line in lines_of(text):
        with output.lines.line(number, line):
            _take(output, line, number)
    yield from with_unique_names(_benchmarks(output), advice="; it has values in two units")
    output.lines.finish()


def _printed(events: str) -> str:
    """Extract the printed output from events of `go test -json`, package by package.

    An event contains a line or a part of a line. Events of several packages may alternate.
    """
    by_package: dict[str, list[str]] = {}
    for number, line in enumerate(events.split("\n"), 1):
        if not line.strip():
            continue
        try:
            event = json_text.parse(line.encode())
        except ValueError:
            raise ValueError(f"line {number}: this is not an event of go test -json") from None
        if isinstance(event, dict) and event.get("Action") == "output":
            text = json_text.member(event, "Output", str, f"line {number}")
            by_package.setdefault(str(event.get("Package", "")), []).append(text)
    return "".join(text for parts in by_package.values() for text in (*parts, "\n"))


def _take(output: _Output, line: str, number: int) -> None:
    """Read one line of the output and store what it contains."""
    named, failed = _NAMED.match(line), _FAIL.search(line)
    rest = line[named.end() :] if named else line
    panic = _PANIC.fullmatch(line)
    if panic:
        output.panic = output.panic or panic[1]
    if failed:
        _fail(output, failed[1], f"line {number}: --- FAIL", number)
    elif not_built := _NOT_BUILT.match(line):
        output.processes.append(_Process(not_built[1], number, failure=f"line {number}: {not_built[2]}"))
        output.is_running = False
    elif ended := _ENDED.match(line):
        _take_end(output, number, is_good=ended[1] != "FAIL")
    elif HAS_ENDED.fullmatch(line.strip()):
        output.panic = output.panic or line.strip()
        _take_end(output, number, is_good=False)
    elif named and _NONE.match(rest):
        _fail(output, named[1], f"line {number}: {' '.join(rest.split())}", number)
    elif named and _VALUES.match(rest):
        _take_result(output, named[1], rest.split()[1:], number)
        output.interrupted = ""
    elif output.interrupted and _ALONE.fullmatch(line):
        _take_result(output, output.interrupted, line.split()[1:], number)
        output.interrupted = ""
    elif _LOOKS.search(line):
        raise ValueError("this is not NAME ITERATIONS VALUE UNIT" if named else "there is no name of a benchmark")
    elif named:
        output.interrupted = named[1]
    elif key := _KEY.match(line):
        output.is_of_go = output.is_of_go or key[1] == "goos"
        output.run += output.has_results
        output.has_results = False
        _begin(output, number, is_new=bool(output.processes and output.processes[-1].names))
        if key[1] == "goarch":
            output.machine["architecture"] = key[2].strip()
        output.package = key[2].strip() if key[1] == "pkg" else output.package
        output.processes[-1].package = output.package
    elif cpu := _CPU.fullmatch(line):
        output.machine["cpu"] = cpu[1]
    elif unit := _UNIT.match(line):
        output.better[unit[1]] = unit[2]


def _begin(output: _Output, number: int, *, is_new: bool = False) -> _Process:
    """Return the process whose output is at this line."""
    if is_new or not output.is_running:
        output.processes.append(_Process(output.package, number))
        output.is_running = True
    return output.processes[-1]


def _fail(output: _Output, name: str, reason: str, number: int) -> None:
    _begin(output, number).names.add(name)
    output.values.setdefault((output.package, name), {})
    output.failures[output.package, name].append(Failure({}, reason))
    output.interrupted, output.has_failed, output.last = "", True, name


def _take_end(output: _Output, number: int, *, is_good: bool) -> None:
    """Note that the process of a package ended; if it failed, the failure belongs to the benchmark that was running.

    If no benchmark was running, it belongs to the last benchmark, because those after it did not run. If there is none,
    it belongs to all benchmarks of the package.
    """
    name = output.interrupted or output.last
    why = f": {output.panic[:100]}" if output.panic else ""
    if name and not is_good and not output.has_failed:
        when = "" if output.interrupted else "the process failed after this benchmark"
        _fail(output, name, f"line {number}: {when or 'FAIL'}{why}", number)
    elif output.is_running and not is_good and not output.processes[-1].names:
        output.processes[-1].failure = f"line {number}: FAIL{why}"
    output.is_running = False
    output.interrupted, output.last, output.panic, output.has_failed = "", "", "", False


def _take_result(output: _Output, name: str, pairs: list[str], number: int) -> None:
    output.has_results = True
    output.last = name
    _begin(output, number).names.add(name)
    output.machines.setdefault(output.run, machine(**output.machine))
    nothing = next((value for value in pairs[::2] if value.lower().lstrip("+-") in _NOTHING), None)
    if not nothing:
        _check_pairs(pairs)
    by_unit = output.values.setdefault((output.package, name), {})
    if nothing:
        output.failures[output.package, name].append(Failure({}, f"line {number}: {nothing}"))
        return
    for value, unit in zip(pairs[::2], pairs[1::2], strict=True):
        by_unit.setdefault(unit, {}).setdefault(output.run, []).append(float(value))


def _check_pairs(pairs: list[str]) -> None:
    """Raise ValueError if a line is unusable, such as mixed output of two processes."""
    if len(pairs) % 2:
        raise ValueError(f"{' '.join(pairs)!r} are not pairs of a value and its unit")
    units = pairs[1::2]
    for value, unit in zip(pairs[::2], units, strict=True):
        if not (_NUMBER.fullmatch(value) and math.isfinite(float(value))):
            raise ValueError(f"{value!r} {unit} is not a finite number")
        if units.count(unit) > 1:
            raise ValueError(f"unit {unit!r} appears twice")


def _name_early_failures(output: _Output) -> None:
    """Name each benchmark that failed in its first iteration as its results are named: Go then leaves out `-8`."""
    full = {(package, _operation(name)[0]): name for package, name in output.values if _operation(name)[1]}
    for package, name in [key for key, by_unit in output.values.items() if key in full and not by_unit]:
        named = full[package, name]
        del output.values[package, name]
        output.failures[package, named].extend(output.failures.pop((package, name)))
        for process in output.processes:
            if process.package == package and name in process.names:
                process.names = process.names - {name} | {named}


def _add_absent(output: _Output) -> None:
    """Add a failure for each process that lacks a benchmark, although it is of the same suite."""
    for process in output.processes:
        if process.failure:
            for package, name in output.values:
                if package == process.package:
                    output.failures[package, name].append(Failure({}, process.failure))
    ran = [process for process in output.processes if process.names]
    for (package, name), at in missing_benchmarks(
        [{(process.package, name) for name in process.names} for process in ran]
    ):
        output.failures[package, name].append(Failure({}, f"missing in the process from line {ran[at].line} on"))


def _benchmarks(output: _Output) -> Iterator[Benchmark]:
    _name_early_failures(output)
    _add_absent(output)
    processors = _common_processors(output)
    for (package, name), by_unit in output.values.items():
        short = _operation(name)[0] if processors is not None else name
        for unit, by_run in by_unit.items() or {"": {}}.items():
            time = _TIME.fullmatch(unit)
            factor = _SECONDS[time[1]] if time else 1.0
            fewer = time or _COST.fullmatch(unit)
            full, former = (
                (f"{package}." if package else "") + each + (f" [{unit}]" if unit and unit not in _PLAIN else "")
                for each in (short, name)
            )
            yield Benchmark.of_series(
                name=full,
                benchmark=short,
                application=package,
                series=tuple(np.array([value * factor for value in values]) for values in by_run.values()),
                unit="s" if time else unit,
                better=output.better.get(unit) or (LOWER if fewer else UNKNOWN),
                parameters=_parameters(short, name),
                conditions=of_each_run([output.machines.get(run, {}) for run in by_run])
                | ({GOMAXPROCS: [processors] * len(by_run)} if processors else {}),
                failures=tuple(output.failures.get((package, name), ())),
                former_names=(former,) if former != full else (),
            )


def _operation(name: str) -> tuple[str, str]:
    """Split a name into the operation and the value of GOMAXPROCS, which is "" if the name has none."""
    match = _PROCESSORS.fullmatch(name)
    return (match[1], match[2] or "") if match else (name, "")


def _common_processors(output: _Output) -> str | None:
    """Return the value of GOMAXPROCS if all benchmarks have the same one, "" if it is unknown, and otherwise None."""
    with_results = [name for (_package, name), by_unit in output.values.items() if by_unit]
    numbers = {_operation(name)[1] for name in with_results or [name for _package, name in output.values]}
    if len(numbers) > 1:
        return None
    number = next(iter(numbers), "")
    return number or ("1" if output.is_of_go else "")


def _parameters(short: str, name: str) -> dict[str, str]:
    """Return the `name=value` parts of a name as parameters, and GOMAXPROCS if it is part of the name."""
    operation, processors = _operation(name)
    told = dict(part.split("=", 1) for part in operation.split("/") if "=" in part)
    return {**told, GOMAXPROCS: processors} if processors and short == name else told
