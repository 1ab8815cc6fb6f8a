"""Read OrderSage's table of trials, with one row per test and run, in fixed or random order.

A trial becomes a run with one iteration.

A cell may have the numbers of several sub-tests, with names ("copy=1.5, scale=2") or without names. The sub-tests of
STREAM have fixed names. Failed trials become failures, because their result may come from an earlier trial. The table
has no unit.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from analysis.benchmark import Benchmark, Failure
from labeler.formats import long_table
from labeler.formats.text_table import Texts, header, read_text_table

COMMANDS = ("test_command", "exp_command")  # the newer name and the older name
REQUIRED = ("result", "run_num", "order_type", "order_number")
CONDITIONS = {"run": "run_num", "context": "hostname", "order_type": "order_type", "order_position": "order_number"}
STATUS, SUCCESS = "completion_status", "success"
STREAM = ("copy", "scale", "add", "triad")  # the results that McCalpin's STREAM prints, in this order


@dataclass
class _Trials:
    """The trials in the rows that were read so far.

    `rows` and `lines` have the numbers and their lines in the file. `commands` has the command of each benchmark.
    `sub_tests` and `failures` have the names of the sub-tests and the failed trials of each command.
    """

    rows: list[dict[str, str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    commands: dict[str, str] = field(default_factory=dict)
    sub_tests: dict[str, list[str]] = field(default_factory=dict)
    failures: dict[str, list[Failure]] = field(default_factory=lambda: defaultdict(list))


def detect(_name: str, content: bytes) -> bool:
    """Return whether the header has the columns of OrderSage.

    Also return True for OrderSage's list of runs, which the reader refuses with an explanation.
    """
    columns = header(content[:4096].decode("utf-8-sig", "replace").split("\n", 1)[0], ",")
    return {"run_num", "order_type"} <= set(columns)


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read one benchmark per test; if the content is invalid, raise ValueError with the line."""
    table = read_text_table(content, separators=(",",))
    command = next((name for name in COMMANDS if name in table.names), COMMANDS[0])
    for name in (*REQUIRED, command):
        if name not in table.names:
            raise ValueError(
                f"column {name!r} is missing. Import OrderSage's table of results, with one row per test, not its "
                f"list of runs. This table has {', '.join(table.names)}"
            )
    trials = _Trials()
    for line, row in table.records():
        _take(trials, {name: cell.strip() for name, cell in row.items()}, command, line)
    for name in trials.failures:
        if name not in trials.sub_tests:
            raise ValueError(
                f"test {name!r}: all trials failed. To import the other tests, remove its lines from the file"
            )
    if trials.rows:
        columns = {name: Texts.of(row[name] for row in trials.rows) for name in trials.rows[0]}
        for benchmark in long_table.benchmarks(columns, lambda row: f"line {trials.lines[row]}", unit=""):
            yield replace(benchmark, failures=tuple(trials.failures.get(trials.commands[benchmark.name], ())))


def _take(trials: _Trials, row: Mapping[str, str], column: str, line: int) -> None:
    """Store the numbers or the failure of one trial."""
    command = row[column]
    conditions = {ours: row[theirs] for ours, theirs in CONDITIONS.items() if theirs in row}
    if not command or not conditions["run"]:
        raise ValueError(f"line {line}: the cell in column {'run_num' if command else column!r} is empty")
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
    """Return the names and the numbers of the sub-tests in a cell.

    If the cell has no names, return the names of STREAM's sub-tests, or positions from 0.
    """
    pairs = [cell.rpartition("=") for cell in cells]
    names, numbers = [name for name, _, _ in pairs], [number for _, _, number in pairs]
    if all(names) and len(set(names)) == len(names):
        return names, numbers
    is_stream = len(cells) == len(STREAM) and "stream" in re.split(r"[^a-z]+", command.casefold())
    return list(STREAM) if is_stream else [str(at) for at in range(len(cells))], numbers
