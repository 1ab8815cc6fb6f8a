"""Read the counters that `perf stat` writes: JSON (`-j`), fields (`-x`), or text.

Each measured command is a process, so its counters are a run, and each event is a benchmark. Several outputs in one
file (`-o FILE --append`) are several runs. Only text names the command; `--benchmark` names the benchmark of the other
two forms. Times are in seconds, and lower counts are better. With `-r`, perf writes means of several processes, so such
a file is accepted only where one number per run is enough; `--table` also writes the time of each process. An event
that was not counted is a failed run. perf does not say that the command failed, but the shell may, in the same file.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from analysis.runs.benchmark import LOWER, TIME, Benchmark, Failure
from labeler.files.formats import json_text
from labeler.files.formats.building import missing_benchmarks, with_unique_names
from labeler.files.formats.logs import lines_of
from labeler.files.formats.numerals import NUMBER, Numerals, numerals, tokens
from labeler.files.formats.plain_numbers import NAME
from labeler.files.formats.printed import HAS_ENDED
from labeler.files.formats.units import SECONDS
from labeler.files.formats.unread import ResultLines
from labeler.safe_text import one_line

_KEEPS = "perf stat -o FILE --append COMMAND, once for each process"
_STARTED = "# started on "
_COMMAND = re.compile(r"\s*Performance counter stats for (?:process id )?'(.*)'(?: \((\d+) runs\))?:\s*")
_COUNT = re.compile(
    rf"\s*({NUMBER}|<not \w+>)\s+(?:(msec|ns|Joules|MiB|Bytes)\s+)?([\w./:=,@*-]*[a-zA-Z][\w./:=,@*-]*)"
    r"\s*(?:#.*|\(.*|\[.*)?"
)
_ELAPSED = re.compile(rf"\s*({NUMBER})(?: \+- {NUMBER})? seconds (time elapsed|user|sys)\b.*")
_TABLE = re.compile(rf"\s*({NUMBER}) \([-+]{NUMBER}\)(?: #*)?\s*")
_FIELDS = re.compile(
    r"(?P<value>\d[\d.]*(?:,\d+)?|<not \w+>)(?P<sep>[^\w.\s<]|\t)(?P<unit>[\w/]*)(?P=sep)(?P<event>[^\s,;|]+?)(?P=sep)"
    r"(?:(?P<spread>\d[\d.,]*)%(?P=sep))?\d+(?P=sep)\d+[.,]\d+(?P=sep).*"
)
# what a line of counters looks like, also if it cannot be read
_LOOKS = re.compile(
    r"\s*\S+\s+(?:msec|Joules)\s.*|.*\bseconds (?:time elapsed|user|sys)\b.*|.*\s#\s+\S+.*|.*\( *\+- .*%.*\)\s*|"
    r".*<not \w+>.*|\s+\d[\d,.]*\s+[\w.:-]+\s*"
)
_COMMENTS = ("#", "Performance counter stats", "Some events weren't counted", "echo ", "perf stat")
_IN_JSON = re.compile(r'"(\d[^"]*)"')
_UNITS = {"msec": "ms", "ns": "ns"}
_MODIFIER = re.compile(r":[a-zA-Z]+$")


@dataclass
class _Output:
    """The counters of one command."""

    time: str = ""
    command: str = ""
    has_means: bool = False  # whether each counter is a mean of several processes
    counts: dict[str, tuple[str, str]] = field(default_factory=dict)  # event -> text of its count, unit
    table: list[float] = field(default_factory=list)  # elapsed seconds of each process
    ended: str = ""  # why the command failed


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content has a counter of `perf stat`."""
    head = json_text.beginning(content, 4000)
    if b'"counter-value"' in head:
        return head.startswith((b"{", b"#"))
    if b"Performance counter stats for" in content and head[:1] not in (b"{", b"<"):
        return True
    if head[:1] in (b"{", b"[", b"<"):
        return False
    lines = head.decode("utf-8", "replace").splitlines()
    rows = [line for line in lines if line.strip() and not line.startswith("#")]
    return bool(rows) and _FIELDS.fullmatch(rows[0]) is not None


def read(_name: str, content: bytes, columns: Mapping[str, str], *, means: bool = False) -> Iterator[Benchmark]:
    """Read the counters; with `means`, each mean of several processes (`-r`) is the only value of a run."""
    text = json_text.text_of(content)
    lines = ResultLines()
    written = _numerals(text)
    outputs = [output for output in _outputs(text, written, lines) if output.counts or output.table or output.ended]
    if not means and any(output.has_means and not output.table for output in outputs):
        raise ValueError(f"perf stat -r writes only means of several processes. To keep each process, use {_KEEPS}")
    yield from with_unique_names(_benchmarks(outputs, columns.get(NAME, ""), written))
    lines.finish()


def _numerals(text: str) -> Numerals:
    """Return how the numbers are written; those of events without a unit have no decimals."""
    found: list[str] = []
    counts: list[str] = []
    for _number, line in lines_of(text):
        stripped = line.strip()
        if stripped.startswith(("#", "Performance")) or not stripped:
            continue
        if fields := _FIELDS.fullmatch(line):
            found += [number for part in line.split(fields["sep"]) for number in tokens(part)]
            counted: tuple[str, str] | None = (fields["value"], fields["unit"])
        elif stripped.startswith("{"):
            found += tokens(_IN_JSON.sub(r"\1", line))
            counted = None
        elif (match := _COUNT.fullmatch(line)) or _ELAPSED.fullmatch(line) or _TABLE.fullmatch(line):
            found += tokens(line)
            counted = (match[1], match[2] or "") if match and not _ELAPSED.fullmatch(line) else None
        else:
            continue
        if counted and not counted[1] and counted[0][:1].isdigit():
            counts.append(counted[0])
    return numerals(found, counts=counts, follows_language=True)


def _outputs(text: str, written: Numerals, lines: ResultLines) -> Iterator[_Output]:
    output = _Output()
    for number, line in lines_of(text):
        place = f"line {number}"
        if line.startswith(_STARTED):
            yield output
            output = _Output(time=_time(line.removeprefix(_STARTED)))
        elif command := _COMMAND.fullmatch(line):
            if output.command:
                yield output
                output = _Output()
            output.command, output.has_means = command[1], bool(command[2])
        elif counted := _counted(line, place):
            event, text_of_count, unit, is_mean = counted
            if event in output.counts:
                yield output
                output = _Output(command=output.command)
            output.counts[event] = text_of_count, unit
            output.has_means = output.has_means or is_mean
        elif elapsed := _ELAPSED.fullmatch(line):
            output.counts[elapsed[2]] = elapsed[1], "s"
        elif measured_time := _TABLE.fullmatch(line):
            output.table.append(written.value(measured_time[1], place))
        elif HAS_ENDED.fullmatch(line.strip()):
            output.ended = output.ended or f"{place}: the process failed: {one_line(line.strip(), 100)}"
        elif _LOOKS.fullmatch(line) and not line.strip().startswith(_COMMENTS):
            lines.skip(number, line, "this is not a number and the name of an event")
    yield output


def _counted(line: str, place: str) -> tuple[str, str, str, bool] | None:
    """Return the event in a line, the text of its count, its unit, and whether it is a mean; None for other lines."""
    if line.lstrip().startswith("{"):
        return _of_json(line, place)
    if fields := _FIELDS.fullmatch(line):
        return fields["event"], fields["value"], fields["unit"], fields["spread"] is not None
    if (counted := _COUNT.fullmatch(line)) and not _ELAPSED.fullmatch(line):
        return counted[3], counted[1], counted[2] or "", False
    return None


def _of_json(line: str, place: str) -> tuple[str, str, str, bool] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        why = "this is not a counter of perf stat -j. If it has decimal commas, measure with LC_ALL=C"
        raise ValueError(f"{place}: {why}") from None
    if "interval" in entry:
        raise ValueError(f"{place}: perf stat -I writes counts of intervals, not of processes. Use {_KEEPS}")
    if any(part in entry for part in ("cpu", "core", "socket", "die", "node", "thread")):
        raise ValueError(f"{place}: the counts are of single CPUs. Measure without -A and without --per-...")
    if "event" not in entry or "counter-value" not in entry:
        return None  # a line with only a metric
    event = json_text.member(entry, "event", str, place)
    value = json_text.member(entry, "counter-value", str, place)
    unit = json_text.member(entry, "unit", str, place) if "unit" in entry else ""
    return event, value, unit, "variance" in entry


def _time(text: str) -> str:
    """Return the time at which perf started as text that sorts by time, or ""."""
    try:
        started = datetime.strptime(" ".join(text.split()), "%a %b %d %H:%M:%S %Y")  # noqa: DTZ007 - local time
    except ValueError:
        return ""
    return started.isoformat(timespec="microseconds")


def _benchmarks(outputs: list[_Output], name: str, written: Numerals) -> Iterator[Benchmark]:
    """Yield one benchmark per command and event, with one run per output."""
    by_command: dict[str, list[_Output]] = {}
    for output in outputs:
        by_command.setdefault(name or output.command, []).append(output)
    for command, of_command in by_command.items():
        tables = [(seconds, output) for output in of_command for seconds in output.table]
        if tables:
            of_command = [output for output in of_command if not output.has_means]
            yield Benchmark.of_series(
                _named(command, "time elapsed"), [np.array([seconds]) for seconds, _output in tables], benchmark=command
            )
        missing = set(missing_benchmarks([set(output.counts) for output in of_command]))
        for event in dict.fromkeys(event for output in of_command for event in output.counts):
            runs = [output for output in of_command if event in output.counts]
            series, times, failures = [], [], []
            for at, output in enumerate(runs):
                text, unit = output.counts[event]
                if text.startswith("<"):
                    reason = text.strip("<>")
                    failures.append(Failure({"run": str(at)}, reason, on_purpose=reason == "not supported"))
                    continue
                factor = SECONDS.get(_UNITS.get(unit, unit), 1.0)
                if output.ended:
                    failures.append(Failure({"run": str(at)}, output.ended))
                    continue
                series.append(np.array([written.value(text, f"event {event!r}") * factor]))
                times.append(output.time)
            failures += [Failure({}, "missing in an output") for other, _at in missing if other == event]
            unit = runs[0].counts[event][1]
            yield Benchmark.of_series(
                _named(command, event), series,
                unit="s" if _UNITS.get(unit, unit) in SECONDS else unit or _MODIFIER.sub("", event), better=LOWER,
                conditions={TIME: times} if all(times) else {}, failures=failures, benchmark=command,
            )  # fmt: skip


def _named(command: str, event: str) -> str:
    return f"{command} [{event}]" if command else event
