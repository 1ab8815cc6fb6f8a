"""Read CSV tables of tools: OrderSage, krun, pa and bencher, JavaABS and GoABS, and JMeter.

Each `detect_…` and `read_…` is a function of a row in `labeler.files.formats.known.FORMATS`. Errors name the line.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from analysis.arrays import Series
from analysis.runs.benchmark import Benchmark, Failure
from analysis.text import counted
from labeler.files.formats import json_text, long_table
from labeler.files.formats.building import failed_share, with_parameters, with_unique_names
from labeler.files.formats.json_all_values import JMH_TIMES
from labeler.files.formats.text_table import SEPARATORS, Column, Numbers, Texts, header, read_text_table
from labeler.files.formats.units import SECONDS, finite

ORDERSAGE_COMMANDS = ("test_command", "exp_command")  # the newer name and the older name
ORDERSAGE_REQUIRED = ("result", "run_num", "order_type", "order_number")
ORDERSAGE_CONDITIONS = {
    "run": "run_num", "context": "hostname", "order_type": "order_type", "order_position": "order_number",
}  # fmt: skip
STATUS, SUCCESS = "completion_status", "success"
STREAM = ("copy", "scale", "add", "triad")  # the results that McCalpin's STREAM prints, in this order

CRASH = "crash"
N_NAMES = 2  # columns of krun before the first iteration
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)

PA_COLUMNS = (
    "project", "commit", "benchmark", "params", "instance", "trial", "fork", "iteration", "mode", "unit",
    "value_count", "value",
)  # fmt: skip
PA_CONDITIONS = {
    "project": "application", "commit": "version", "instance": "context", "trial": "factor:trial", "fork": "run",
}  # fmt: skip
_PA_HEADER = ";".join(PA_COLUMNS).encode() + b"\n"
_PA_ROW = re.compile(
    rb"[^;\n]*;[^;\n]*;[^;\n]+;[^;\n]*;[^;\n]*;\d+;\d+;\d+;[^;\n]*;[^;\n]*;\d+;[-+.\d][-+.,\deE]*\s*(\n|$)"
)
_RATE = re.compile(r"ops?/")

ABS_COLUMNS = ("run", "altered", "benchmark", "value")
_JAVA = b"Run;Method altered;Microbenchmark;Result\n"
_GO = b"Run-SuiteExecution-BenchmarkExecution;Function altered;Benchmark;Runtime in ns%s\n"
_MEMORY = b";Memory;Allocations"  # columns of GoABS that are ignored
_ABS_ROW = re.compile(rb"\d+(-\d+-\d+)?;[^;\n]+;[^;\n]+;[^;\n]*\d[^;\n]*(;\d+;\d+)?\s*(\n|$)")
_ABS_RUN = re.compile(r"(\d+)(-\d+-\d+)?")

JMETER_COLUMNS = ("timeStamp", "elapsed", "label")
_IN_JMETER = "-Jjmeter.save.saveservice."  # the properties that decide what JMeter writes

Row = Mapping[str, str]


@dataclass
class _Trials:
    """The trials of OrderSage in the rows that were read so far."""

    rows: list[dict[str, str]] = field(default_factory=list)  # the numbers, as rows of a long table
    lines: list[int] = field(default_factory=list)  # the line of each number in the file
    commands: dict[str, str] = field(default_factory=dict)  # the command of each benchmark
    sub_tests: dict[str, list[str]] = field(default_factory=dict)  # the names of the sub-tests of each command
    failures: dict[str, list[Failure]] = field(default_factory=lambda: defaultdict(list))  # by command


def detect_ordersage(_name: str, content: bytes) -> bool:
    """Also return True for OrderSage's list of runs, which the reader refuses with an explanation."""
    return {"run_num", "order_type"} <= set(header(content[:4096], ","))


def read_ordersage(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read OrderSage's table of trials, with one row per test and run; a trial is a run with one iteration.

    A cell may have the numbers of several sub-tests, with names ("copy=1.5, scale=2") or without names. The sub-tests
    of STREAM have fixed names. Failed trials become failures, because their result may come from an earlier trial. The
    table has no unit.
    """
    table = read_text_table(content, separators=(",",))
    command = next((name for name in ORDERSAGE_COMMANDS if name in table.names), ORDERSAGE_COMMANDS[0])
    for name in (*ORDERSAGE_REQUIRED, command):
        if name not in table.names:
            raise ValueError(
                f"column {name!r} is missing. Import OrderSage's table of results, with one row per test, not its "
                f"list of runs. This table has {', '.join(table.names)}"
            )
    trials = _Trials()
    for line, row in table.records():
        _add_trial(trials, {name: cell.strip() for name, cell in row.items()}, command, line)
    for name in trials.failures:
        if name not in trials.sub_tests:
            raise ValueError(
                f"test {name!r}: all trials failed. To import the other tests, remove its lines from the file"
            )
    if trials.rows:
        columns = {name: Texts.of(row[name] for row in trials.rows) for name in trials.rows[0]}
        for benchmark in long_table.benchmarks(columns, lambda row: f"line {trials.lines[row]}", unit=""):
            yield replace(benchmark, failures=tuple(trials.failures.get(trials.commands[benchmark.name], ())))


def _add_trial(trials: _Trials, row: Row, command_column: str, line: int) -> None:
    """Add the numbers or the failure of one trial."""
    command = row[command_column]
    conditions = {ours: row[theirs] for ours, theirs in ORDERSAGE_CONDITIONS.items() if theirs in row}
    if not command or not conditions["run"]:
        raise ValueError(f"line {line}: the cell in column {'run_num' if command else command_column!r} is empty")
    status = row.get(STATUS, SUCCESS)
    if status.casefold() != SUCCESS:
        trials.failures[command].append(Failure(conditions, f"completion status {status!r}"))
        return
    cells = [cell for cell in re.split(r"[,;\s]+", re.sub(r"\s*[=:]\s*", "=", row["result"])) if cell] or [""]
    names, numbers = _sub_tests(command, cells)
    known = trials.sub_tests.setdefault(command, names)
    if len(names) != len(known):
        raise ValueError(
            f"line {line}: {len(names)} numbers in column 'result', but {len(known)} in the previous trials"
        )
    if names != known:
        raise ValueError(
            f"line {line}: column 'result' has {', '.join(names)}, but the previous trials have {', '.join(known)}"
        )
    for sub_test, number in zip(names, numbers, strict=True):
        name = f"{command} [{sub_test}]" if len(names) > 1 else command
        trials.rows.append({"benchmark": name, **conditions, "iteration": "0", "value": number})
        trials.commands[name] = command
        trials.lines.append(line)


def _sub_tests(command: str, cells: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names and the numbers of the sub-tests in a cell; without names, those of STREAM or positions."""
    pairs = [cell.rpartition("=") for cell in cells]
    names, numbers = [name for name, _, _ in pairs], [number for _, _, number in pairs]
    if all(names) and len(set(names)) == len(names):
        return names, numbers
    is_stream = len(cells) == len(STREAM) and "stream" in re.split(r"[^a-z]+", command.casefold())
    return list(STREAM) if is_stream else [str(at) for at in range(len(cells))], numbers


def detect_krun(_name: str, content: bytes) -> bool:
    """Return whether the header begins with a process and a benchmark and counts iterations from 0."""
    start = content[:65536]
    columns = header(start, ",")
    return _is_krun_header(columns if b"\n" in start else columns[:-1])  # the last column may be cut off


def _is_krun_header(columns: Sequence[str]) -> bool:
    numbers = list(columns[N_NAMES:])
    is_named = bool(numbers) and columns[0].casefold().startswith("process")
    return is_named and numbers == [str(number) for number in range(len(numbers))]


def read_krun(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read a table of krun or warmup_stats: a row per process, which is a run, and a column per iteration, in seconds.

    The header is `process_exec_num, bench_name, 0, 1, 2, ...`; the first two names vary. If a run crashed, its row has
    the word crash instead of the first time, and often no further cells.
    """
    records = _krun_records(content)
    line, columns = next(records, (1, []))
    if not _is_krun_header(columns):
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
            runs[name][process] = _krun_series(times, len(columns) - N_NAMES, f"line {line}")
    yield from with_unique_names(_of_krun(name, by_process) for name, by_process in runs.items())


def _of_krun(name: str, by_process: Mapping[str, Series | Failure]) -> Benchmark:
    runs = {process: run for process, run in by_process.items() if not isinstance(run, Failure)}
    return Benchmark.of_series(
        name=name,
        series=tuple(runs.values()),
        conditions={"run": tuple(runs)},
        failures=tuple(run for run in by_process.values() if isinstance(run, Failure)),
    )


def _krun_records(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of each row that is not blank; rows may be shorter than the header."""
    reader = csv.reader(io.StringIO(json_text.text_of(content), newline=""), skipinitialspace=True)
    for cells in reader:
        if any(cells):
            yield reader.line_num, [cell.strip(" \t") for cell in cells]


def _krun_series(times: Sequence[str], n_iterations: int, place: str) -> Series:
    if len(times) != n_iterations:
        raise ValueError(f"{place}: the row has {len(times)} times, but the header has {n_iterations} iterations")
    for at, time in enumerate(times):
        if not _NUMBER.fullmatch(time):
            raise ValueError(f"{place}, iteration {at}: {time!r} is not a finite number")
    return np.array(times, dtype=np.float64)


def detect_pa(_name: str, content: bytes) -> bool:
    """Return whether the content has the header line, or a first row of twelve matching cells."""
    head = json_text.beginning(content, 65536)
    return {"value_count", "fork", "iteration"} <= set(header(head, ";")) or _PA_ROW.match(head) is not None


def read_pa(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read a table of pa or bencher: project;commit;benchmark;params;instance;trial;fork;...; with or without a header.

    A fork of a trial on an instance is a run. The measurement of an iteration is the mean of its values, as for JMH. If
    an iteration has several rows, they are a histogram of its invocations, and value_count says how often a value
    occurred.
    """
    n_added = int(_PA_ROW.match(json_text.beginning(content, 65536)) is not None)
    if n_added:
        content = _PA_HEADER + content.removeprefix(json_text.BOM)
    table = read_text_table(content, separators=(";",))
    for column in PA_COLUMNS:
        if column not in table.names:
            raise ValueError(f"column {column!r} is missing; the table has {', '.join(table.names)}")
    rows = [(line - n_added, {name: cell.strip(" \t") for name, cell in row.items()}) for line, row in table.records()]
    for line, cells in rows:
        if not cells["benchmark"]:
            raise ValueError(f"line {line}: the cell in column 'benchmark' is empty")
    iterations = list(_pa_iterations(rows))
    rows_by_name = {_pa_name(row): row for _line, row, _value in iterations}
    columns = _pa_columns(iterations)
    for benchmark in long_table.benchmarks(columns, lambda at: f"line {iterations[at][0]}", unit=""):
        row = rows_by_name[benchmark.name]
        parameters = _pa_parameters(row["params"])
        yield replace(benchmark, benchmark=with_parameters(row["benchmark"], parameters), parameters=parameters)


def _pa_iterations(rows: Sequence[tuple[int, Row]]) -> Iterator[tuple[int, Row, float]]:
    """Yield the first line and row of each iteration, with the mean of its values, weighted by their counts."""
    values, counts = (_pa_numbers(rows, column) for column in ("value", "value_count"))
    if not (counts > 0).all():
        line, row = rows[int((counts > 0).argmin())]
        raise ValueError(f"line {line}: {row['value_count']!r} in column 'value_count' is not above 0")
    of_iteration: dict[tuple[str, ...], list[int]] = {}
    for at, (_line, row) in enumerate(rows):
        of_iteration.setdefault(tuple(row[name] for name in PA_COLUMNS[:-2]), []).append(at)
    for places in of_iteration.values():
        with np.errstate(all="ignore"):  # invalid values are refused later, with their line
            shares = counts[places] / counts[places].sum()
            yield (*rows[places[0]], float((values[places] * shares).sum()))


def _pa_numbers(rows: Sequence[tuple[int, Row]], column: str) -> Series:
    numbers = Numbers.of(row[column] for _line, row in rows)
    if numbers.others:
        line, row = rows[min(numbers.others)]
        raise ValueError(f"line {line}: {row[column]!r} in column {column!r} is not a finite number")
    return numbers.values


def _pa_columns(iterations: Sequence[tuple[int, Row, float]]) -> dict[str, Column]:
    """Return the columns of a long table."""
    names = ("iteration", *PA_CONDITIONS.values(), "unit", "better", "benchmark")
    columns: dict[str, list[str]] = {name: [] for name in names}
    values = []
    for _line, row, value in iterations:
        time = row["unit"].removesuffix("/op")
        is_time = row["unit"].endswith("/op") and time in JMH_TIMES
        values.append(value * (JMH_TIMES[time] if is_time else 1.0))
        columns["iteration"].append(row["iteration"])
        for theirs, ours in PA_CONDITIONS.items():
            columns[ours].append(row[theirs])
        columns["unit"].append("s" if is_time else row["unit"])
        columns["better"].append("higher" if _RATE.match(row["unit"]) or row["mode"] == "thrpt" else "lower")
        columns["benchmark"].append(_pa_name(row))
    return {**{name: Texts.of(cells) for name, cells in columns.items()}, "value": Numbers(np.array(values))}


def _pa_name(row: Row) -> str:
    """Return the name of a benchmark with its parameters and mode, like the names in JMH files."""
    mode = f" [{row['mode']}]" if row["mode"] else ""
    return with_parameters(row["benchmark"], _pa_parameters(row["params"])) + mode


def _pa_parameters(text: str) -> dict[str, str]:
    """Parse parameters such as `n=10,order=up`; a value may contain commas."""
    pairs = re.split(r",(?=[^,=]+=)", text)
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def detect_abs(_name: str, content: bytes) -> bool:
    """Return whether the content has the header line of one of the tools, or a first row of four or six such cells."""
    head = json_text.beginning(content, 4096)
    columns = header(head, ";")
    has_header = len(columns) >= len(ABS_COLUMNS) and columns[0].startswith("Run") and columns[1].endswith(" altered")
    return has_header or _ABS_ROW.match(head) is not None


def read_abs(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read a table of JavaABS or GoABS, which slow down one method after another for the API benchmarking score.

    The columns are `Run;Method altered;Microbenchmark;Result`, or for Go `Run-SuiteExecution-BenchmarkExecution?-?;
    Function altered;Benchmark;Runtime in ns`; the tools write no header line. The first number of a Go run is the run;
    the others count the executions of the suite and of the benchmark. The altered method is the condition `altered`.
    The table of JavaABS has no unit.
    """
    row = _ABS_ROW.match(json_text.beginning(content, 4096))
    if row:
        added = _GO % (_MEMORY if row[2] else b"") if row[1] else _JAVA
        content = added + content.removeprefix(json_text.BOM)
    table = read_text_table(content, separators=(";",))
    if len(table.names) < len(ABS_COLUMNS):
        raise ValueError(
            f"the table has {len(table.names)} columns. Expected four: run, altered method, benchmark, result"
        )
    unit = "ns" if table.names[3].endswith(" in ns") else ""
    lines = [line - bool(row) for line in table.lines()]
    columns = dict(zip(ABS_COLUMNS, table.columns([table.names[3]]).values(), strict=False))
    runs = [_abs_run(cell, line) for cell, line in zip(table.texts[table.names[0]], lines, strict=True)]
    yield from long_table.benchmarks(columns | {"run": Texts.of(runs)}, lambda at: f"line {lines[at]}", unit=unit)


def _abs_run(cell: str, line: int) -> str:
    match = _ABS_RUN.fullmatch(cell.strip())
    if match is None:
        raise ValueError(f"line {line}: {cell!r} is not a run. Expected one whole number, or three, such as 0-0-0")
    return match[1]


def detect_jmeter(_name: str, content: bytes) -> bool:
    """Also return True for results of JMeter in another form, which the reader refuses with an explanation."""
    head = json_text.beginning(content, 4096)
    if head[:1] == b"<":
        return b"<testResults" in head and (b"<httpSample" in content or b"<sample" in content or b"version=" in head)
    return any(set(JMETER_COLUMNS) <= set(header(head, separator)) for separator in SEPARATORS)


def read_jmeter(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read results of JMeter as CSV (JTL): a request per row, which started at `timeStamp` and took `elapsed` ms.

    A file is a run, because one process writes it. Each label is a benchmark, and its requests are the iterations, in
    the order in which they started. Failed requests are left out; their share is a benchmark of its own. A request
    failed if `success` is not true, or its response code is 400 or higher.
    """
    if json_text.beginning(content)[:1] == b"<":
        raise ValueError(f"these are results of JMeter as XML. Write CSV with {_IN_JMETER}output_format=csv")
    table = read_text_table(content)
    if table.separator != ",":
        sign = "a tab" if table.separator == "\t" else repr(table.separator)
        raise ValueError(
            f"the cells of these results of JMeter are separated by {sign}, and numbers and labels may contain it. "
            f"Write commas with {_IN_JMETER}default_delimiter=,"
        )
    missing = [name for name in JMETER_COLUMNS if name not in table.names]
    if missing:
        raise ValueError(f"column {missing[0]!r} is missing. JMeter writes it by default")
    requests: dict[str, list[tuple[float, float]]] = {}
    n_failed: dict[str, int] = defaultdict(int)
    for line, row in table.records():
        time_stamp, elapsed, label = (row[name] for name in JMETER_COLUMNS)
        if not _NUMBER.fullmatch(time_stamp.strip()):
            raise ValueError(
                f"line {line}: {time_stamp[:30]!r} in column 'timeStamp' is not a number of milliseconds. Write it "
                f"with {_IN_JMETER}timestamp_format=ms"
            )
        request = finite(time_stamp, f"line {line}, 'timeStamp'"), finite(elapsed, f"line {line}, 'elapsed'")
        good = requests.setdefault(label, [])
        if _has_failed(row):
            n_failed[label] += 1
        else:
            good.append(request)
    yield from with_unique_names(
        benchmark for label, good in requests.items() for benchmark in _of_jmeter(label, good, n_failed[label])
    )


def _has_failed(row: Row) -> bool:
    code = row.get("responseCode", "").strip()
    is_error = code.startswith("Non HTTP") or (code.isdecimal() and len(code) == 3 and int(code) >= 400)
    return is_error or row.get("success", "true").strip().lower() != "true"


def _of_jmeter(label: str, requests: list[tuple[float, float]], n_failed: int) -> Iterator[Benchmark]:
    in_order = sorted(requests, key=lambda request: request[0])
    yield Benchmark.of_series(
        label,
        [np.array([elapsed for _begun, elapsed in in_order]) * SECONDS["ms"]] if requests else [],
        failures=() if requests else (Failure({}, f"{counted(n_failed, 'request')} failed, and none succeeded"),),
    )
    every = len(requests) + n_failed
    yield failed_share(f"{label} [failed requests]", [(n_failed, every)], benchmark=label)
