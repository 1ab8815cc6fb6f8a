"""Read printed output that has one number per benchmark: Benchmark.js, `cargo bench`, wrk and benchmark-ips.

The output of a process is a run with one value per benchmark, because a process prints each benchmark once. If a name
is repeated in a file, the output of another process begins there, which is another run. A line that looks like a result
is read, or the reader raises `Unread` after all other results. If the output says that a process failed after its last
result, the benchmark of this result has a failed run. Each `detect_…` and `read_…` is a function of a row in
`labeler.files.formats.known.FORMATS`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from analysis.runs.benchmark import Benchmark, Failure
from labeler.files.formats import json_text
from labeler.files.formats.building import (
    SingleValue,
    failed_share,
    of_operation,
    with_failures,
    with_unique_names,
)
from labeler.files.formats.logs import lines_of
from labeler.files.formats.numerals import NUMBER, Numerals, numerals, tokens
from labeler.files.formats.unread import ResultLines
from labeler.safe_text import one_line

_JS_RATE = re.compile(rf"({NUMBER}) ([^\s±]+/[^\s±]+) ±{NUMBER}% \(\d+ runs? sampled\)\s*")
_JS_NOTHING = re.compile(r"(?:NaN|Infinity) \S+/\S+(?: ±.*)?", re.ASCII)
_JS_SIGNS = re.compile(r" ops/sec\b|runs? sampled\)")
# how Benchmark.js prints a benchmark with an error: the error, which may have no text
_JS_FAILED = re.compile(r"(\S.*?): (\w*(?:Error|Exception)\b.*|\[object \w+\]\s*|)")
_NO_RATE = "has no rate"

_LIBTEST_TIME = re.compile(rf"({NUMBER}) ([^\s\d(]\S*)(?: \(\+/- {NUMBER}\))?(?: .*)?")
_LIBTEST_SIGNS = re.compile(r"/iter\b.*\(\+/-")
_LIBTEST_FAILED = re.compile(r"test (\S+) *\.\.\. (FAILED)\b.*")
_CRITERION_LINE = re.compile(r"(.*?)[ \t]time:[ \t]*(\[.*|\S.*\])\s*")
_CRITERION_TIME = re.compile(rf"\[{NUMBER} \S+ ({NUMBER}) ([^\s\d]\S*) {NUMBER} [^\s\]]+\]")
_CRITERION_CHANGE = re.compile(r"\[[+\-−±]?[\w.]+% [+\-−±]?[\w.]+% [+\-−±]?[\w.]+%\].*")
_NO_NAME = re.compile(
    r"\s*$|Benchmarking |\s+(?:Running|Finished|Compiling|change:|thrpt:)|Found \d+ outliers|\s+\d+ \("
)
_CARGO_ENDED = re.compile(
    r"error: (?:bench|test|process|could not compile)\b.*|thread '.*' panicked at.*|test result: FAILED\b.*"
)

_WRK = re.compile(r"Running \S+ (?:test|benchmark) @ (\S+)[ \t]*")
_WRK_VALUE = re.compile(r"[ \t]*(Requests/sec:?|Latency)[ \t]+(\S.*)")
_WRK_NUMBER = re.compile(rf"({NUMBER})([a-zA-Zµ]*)")
_WRK_REQUESTS = re.compile(r"[ \t]*(\d+) requests in \S+,.*")
_WRK_RESPONSES = re.compile(r"[ \t]*Non-2xx or 3xx responses: *(\S*)\s*")
_WRK_ERRORS = re.compile(r"[ \t]*Socket errors: *(.*)")
_WRK_COUNT = re.compile(r"(\w+) (\d+)")
_WRK_ENDED = re.compile(r"unable to (?:connect|create|resolve|set)\b.*")
_WRK_SIGNS = re.compile(r"\bRequests/sec\b|\bLatency\b")
_WRK_TIMES = ("us", "ms", "s", "m", "h")
_WRK_STOPPED = "the output has no line Requests/sec. Was wrk stopped?"

_IPS_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12, "Q": 1e15}
_IPS_NUMBER = rf"({NUMBER})\s*([kMBTQ]?)"
_IPS_RESULT = re.compile(rf"(?:(.*\S))?\s+{_IPS_NUMBER}\s+\(±\s*[\d.,]+%\)\s+i/s\b.*")
_IPS_LINE = re.compile(r".*\(±.*%\).*|.*\bi/s\b.* in \S+s\s*")
_IPS_WARM_UP = re.compile(rf"(?:(.*\S))?\s+{_IPS_NUMBER}\s+i/100ms\s*")
_IPS_START = "Warming up ---"
_IPS_NO_RESULT = "warmed up, but without a result"
_IPS_ENDED = re.compile(r"\S+\.rb:\d+:in .*\([^\s(]*(?:Error|Exception|Exit|Interrupt)\)|.*\S\.rb:\d+: \[BUG\].*")

# how shells, make and build servers say that a process failed
HAS_ENDED = re.compile(
    r"(?:.*: )?(?:line \d+: +\d+ )?(?:Segmentation fault|Bus error|Aborted|Killed|Terminated|Floating point exception|"
    r"Illegal instruction|Trace/breakpoint trap)(?: +\(core dumped\))?(?: +\S.*)?|"
    r"##\[error\]Process completed with exit code [1-9].*|ERROR: Job failed.*|"
    r"npm (?:ERR!|error) .*(?:ELIFECYCLE|failed).*|"
    r"make(?:\[\d+\])?: \*\*\* .*Error \d+.*|Node\.js v\d+.*|Traceback \(most recent call last\):.*|"
    r"FATAL ERROR: .*|terminate called .*"
)
Reader = Callable[["_Output"], None]


@dataclass
class _Output:
    """The results of the processes whose output is in a text, and what could not be read."""

    text: str
    title: str  # of the tool, as the name of a process that failed before its first result
    lines: ResultLines = field(default_factory=ResultLines)
    values: list[SingleValue] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)  # name, and the reason
    is_told: bool = False  # whether a failure of the present process is already known
    last: str = ""  # the benchmark with the last result

    def add(self, name: str, value: float, unit: str) -> None:
        self.lines.check_name(name)
        self.values.append((name, value, unit))
        self.last, self.is_told = name, False

    def fail(self, name: str, reason: str) -> None:
        self.failed.append((name, reason))
        self.is_told = True

    def end(self, number: int, line: str) -> None:
        """Note that a process failed: after the benchmark with its last result."""
        if not self.is_told:
            words = one_line(line.strip(), 100)
            after = "the process failed after this benchmark" if self.last else "the process failed"
            self.fail(self.last or self.title, f"line {number}: {after}: {words}")

    def benchmarks(self) -> Iterator[Benchmark]:
        yield from with_failures(self.values, self.failed)
        self.lines.finish()


def _has_result(output: _Output, reader: Reader) -> bool:
    reader(output)
    return bool(
        output.values or output.lines.have_numbers or any(reason == _NO_RATE for _name, reason in output.failed)
    )


def _is_text(content: bytes) -> bool:
    if json_text.begins_like_json(content):
        return False
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def detect_benchmark_js(_name: str, content: bytes) -> bool:
    """Return whether the text has a result line of Benchmark.js."""
    has_signs = b" ops/sec" in content or b"sampled)" in content
    return has_signs and _is_text(content) and _has_result(_output_of(content, "Benchmark.js"), _take_benchmark_js)


def _output_of(content: bytes, title: str) -> _Output:
    return _Output(json_text.text_of(content), title)


def read_benchmark_js(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks in operations per second; a benchmark whose rate is NaN has failed."""
    output = _output_of(content, "Benchmark.js")
    _take_benchmark_js(output)
    yield from output.benchmarks()


def _take_benchmark_js(output: _Output) -> None:
    results = [
        (number, line) for number, line in lines_of(output.text) if " x " in f" {line}" and _JS_SIGNS.search(line)
    ]
    written = _numerals_of(line.rpartition(" x ")[2] for _number, line in results)
    for number, line in lines_of(output.text):
        if _JS_SIGNS.search(line):
            with output.lines.line(number, line):
                _take_rate(output, line, written)
        elif failed := _JS_FAILED.fullmatch(line):
            output.fail(failed[1], failed[2].strip() or "failed without a message")
        elif HAS_ENDED.fullmatch(line.strip()):
            output.end(number, line)


def _take_rate(output: _Output, line: str, written: Numerals) -> None:
    name, _x, rest = line.rpartition(" x ")
    name = name.strip()
    if name and _JS_NOTHING.fullmatch(rest.strip()):
        output.fail(name, _NO_RATE)
        return
    rate = _JS_RATE.fullmatch(rest)
    if rate is None:
        raise ValueError("this is not NAME x RATE ops/sec ±ERROR% (N runs sampled)")
    output.add(name, written.value(rate[1], f"benchmark {name!r}"), rate[2])


def _numerals_of(texts: Iterable[str]) -> Numerals:
    return numerals(number for text in texts for number in tokens(text))


def detect_cargo(_name: str, content: bytes) -> bool:
    """Return whether the text has a result of libtest or criterion.rs."""
    has_word = b" bench:" in content or b"time:" in content
    return has_word and _is_text(content) and _has_result(_output_of(content, "cargo bench"), _take_cargo)


def read_cargo(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the median of libtest, or the best estimate of criterion.rs, which is the second of three times."""
    output = _output_of(content, "cargo bench")
    _take_cargo(output)
    yield from output.benchmarks()


def _take_cargo(output: _Output) -> None:
    """Read the results; the name comes before its time, but criterion.rs writes a long name on the previous line."""
    found = [(number, line, *_cargo_result(line)) for number, line in lines_of(output.text)]
    written = _numerals_of(rest for _number, _line, kind, _name, rest in found if kind)
    before = ""
    for number, line, kind, name, rest in found:
        if kind:
            with output.lines.line(number, line):
                _take_time(
                    output,
                    kind,
                    name or ("" if _NO_NAME.match(before) or kind != "criterion" else before.strip()),
                    rest,
                    written,
                )
        elif failed := _LIBTEST_FAILED.fullmatch(line):
            output.fail(failed[1], failed[2])
        elif _CARGO_ENDED.fullmatch(line) or HAS_ENDED.fullmatch(line.strip()):
            output.end(number, line)
        before = line


def _cargo_result(line: str) -> tuple[str, str, str]:
    """Return the kind of a result ("" if the line is none), its name, and what follows the name."""
    name, word, rest = line.partition(" bench:")
    if word and (name.startswith("test ") or name.endswith("...")):
        return (
            "libtest",
            name.removeprefix("test ").removesuffix("...").strip() if name.startswith("test ") else "",
            rest,
        )
    if "/iter" in line and _LIBTEST_SIGNS.search(line):
        return "libtest", "", line
    if "time:" in line:
        match = _CRITERION_LINE.fullmatch(f" {line}")
        if match and not _CRITERION_CHANGE.fullmatch(match[2]):
            return "criterion", match[1].strip(), match[2]
    return "", "", ""


def _take_time(output: _Output, kind: str, name: str, rest: str, written: Numerals) -> None:
    if kind == "libtest":
        time, form = _LIBTEST_TIME.fullmatch(rest.strip()), "test NAME ... bench: TIME ns/iter (+/- RANGE)"
    else:
        time, form = _CRITERION_TIME.fullmatch(rest.strip()), "NAME time: [LOW UNIT TIME UNIT HIGH UNIT]"
    if time is None:
        raise ValueError(f"this is not {form}")
    output.add(name, written.value(time[1], f"benchmark {name!r}"), time[2])


def detect_wrk(_name: str, content: bytes) -> bool:
    """Return whether the text has the first line of wrk."""
    if b"Running " not in content or not _is_text(content):
        return False
    return any(_WRK.fullmatch(line) for _number, line in lines_of(json_text.text_of(content)))


@dataclass
class _Wrk:
    """The output of one process of wrk."""

    address: str
    values: dict[str, SingleValue] = field(default_factory=dict)
    n_requests: int = 0
    n_failed: int = 0  # responses that are neither 2xx nor 3xx, and requests that ended with an error of the socket
    n_unsent: int = 0  # the latter, which wrk does not count as requests
    why: str = ""  # why the process failed


def read_wrk(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the requests per second, the mean latency, and the share of failed requests of each address.

    Each of them combines all requests of a process.
    """
    lines = ResultLines()
    outputs = _outputs_of_wrk(json_text.text_of(content), lines)
    results: dict[str, dict[str, list[_Wrk]]] = {}
    for one in outputs:
        for what in ("Requests/sec", "Latency", "failed requests"):
            results.setdefault(one.address, {}).setdefault(what, []).append(one)
    yield from with_unique_names(
        _of_wrk(address, what, of_what)
        for address, by_what in results.items()
        for what, of_what in by_what.items()
        if what != "Latency" or any(what in one.values for one in of_what)
    )
    lines.finish()


def _of_wrk(address: str, what: str, outputs: list[_Wrk]) -> Benchmark:
    name = f"{address} [{what}]"
    failures = tuple(Failure({}, one.why) for one in outputs if one.why)
    if what == "failed requests":
        counts = [(one.n_failed, one.n_requests + one.n_unsent) for one in outputs if not one.why]
        return failed_share(name, counts, benchmark=address, failures=failures)
    values = [one.values[what] for one in outputs if what in one.values and not one.why]
    failures += tuple(Failure({}, f"no line {what}") for one in outputs if what not in one.values and not one.why)
    return of_operation(name, values, benchmark=address, failures=failures)


def _outputs_of_wrk(text: str, lines: ResultLines) -> list[_Wrk]:
    outputs: list[_Wrk] = []
    for number, line in lines_of(text):
        if begun := _WRK.fullmatch(line):
            outputs.append(_Wrk(begun[1]))
        elif outputs:
            with lines.line(number, line):
                _take_wrk(outputs[-1], number, line)
        elif _WRK_VALUE.fullmatch(line) and "/sec" in line:
            lines.skip(number, line, "there is no line Running ... @ ADDRESS before it")
    for one in outputs:
        if "Requests/sec" not in one.values and not one.why:
            one.why = _WRK_STOPPED
    return outputs


def _take_wrk(one: _Wrk, number: int, line: str) -> None:
    if value := _WRK_VALUE.fullmatch(line):
        _take_value(one, value[1].rstrip(":"), value[2])
    elif requests := _WRK_REQUESTS.fullmatch(line):
        one.n_requests = int(requests[1])
    elif responses := _WRK_RESPONSES.fullmatch(line):
        if not responses[1].isdecimal():
            raise ValueError(f"{responses[1]!r} is not a number of responses")
        one.n_failed += int(responses[1])
    elif errors := _WRK_ERRORS.fullmatch(line):
        counts = [_WRK_COUNT.fullmatch(part.strip()) for part in errors[1].split(",")]
        found = [int(count[2]) for count in counts if count]
        if len(found) < len(counts):
            raise ValueError("this is not a list of kinds of errors with their numbers")
        one.n_failed += sum(found)
        one.n_unsent += sum(found)
    elif _WRK_ENDED.match(line) or HAS_ENDED.fullmatch(line.strip()):
        one.why = one.why or f"line {number}: the process failed: {one_line(line.strip(), 100)}"
    elif _WRK_SIGNS.search(line) and "Distribution" not in line and any(map(str.isdecimal, line)):
        raise ValueError("this is not NAME and NUMBER")


def _take_value(one: _Wrk, what: str, text: str) -> None:
    if what == "Latency" and text.startswith("Distribution"):
        return
    match = _WRK_NUMBER.fullmatch(text.split()[0])
    number, unit = (match[1], match[2]) if match else (text.split()[0], "")
    place = f"{one.address!r}, {what}"
    if what == "Latency":
        if unit not in _WRK_TIMES:
            raise ValueError(f"{place}: {text.split()[0]!r} is not a time")
        unit = {"m": "min", "h": "h"}.get(unit, unit)
    elif unit:
        raise ValueError(f"{place}: {text!r} is not a number")
    if what in one.values:
        raise ValueError(f"{place}: there are two lines of this process")
    one.values[what] = (what, Numerals().value(number, place), "requests/s" if what == "Requests/sec" else unit)


def detect_benchmark_ips(_name: str, content: bytes) -> bool:
    """Return whether the content is the JSON or the printed text of benchmark-ips."""
    start = json_text.beginning(content)
    if start[:1] == b"[" and json_text.contains_keys(content, "ips", "microseconds", "iterations"):
        return True
    return _is_text(content) and _IPS_START.encode() in content and b" i/" in content


def read_benchmark_ips(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the iterations per second in output of benchmark-ips (Ruby): printed text, or the JSON of `x.json!`.

    In text, `Warming up` begins the output of another process, which is another run. JSON has all digits, and text has
    four. If a block raises an error, the process ends, so each benchmark that was warmed up in a process without a
    result has failed.
    """
    if json_text.beginning(content)[:1] == b"[":
        yield from with_unique_names(with_failures(_of_benchmark_ips_json(content), ()))
        return
    output = _output_of(content, "benchmark-ips")
    _take_benchmark_ips(output)
    yield from with_unique_names(output.benchmarks())


def _of_benchmark_ips_json(content: bytes) -> Iterator[SingleValue]:
    entries = json_text.parse(content)
    for at, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        name = json_text.member(entry, "name", str, f"entry {at}")
        yield name, json_text.number(entry.get("ips"), f"entry {at}, 'ips'"), "i/s"


def _take_benchmark_ips(output: _Output) -> None:
    """Read the rates, and find the benchmarks of each process without a result."""
    warmed: dict[str, None] = {}
    before = ""
    written = _numerals_of(line for _number, line in lines_of(output.text) if _IPS_LINE.fullmatch(line))
    for number, line in lines_of(output.text):
        if line.startswith(_IPS_START):
            output.failed += [(name, _IPS_NO_RESULT) for name in warmed]
            warmed = {}
        warm_up, result = _IPS_WARM_UP.fullmatch(line), _IPS_RESULT.fullmatch(line)
        if warm_up:
            warmed[(warm_up[1] or before).strip()] = None
        elif result:
            name = (result[1] or before).strip()
            warmed.pop(name, None)
            with output.lines.line(number, line):
                rate = written.value(result[2], f"benchmark {name!r}") * _IPS_SCALES[result[3]]
                output.add(name, rate, "i/s")
        elif _IPS_LINE.fullmatch(line):
            output.lines.skip(number, line, "this is not NAME RATE (±ERROR%) i/s")
        elif (_IPS_ENDED.fullmatch(line) or HAS_ENDED.fullmatch(line.strip())) and not warmed:
            output.end(number, line)
        before = line
    output.failed += [(name, _IPS_NO_RESULT) for name in warmed]
