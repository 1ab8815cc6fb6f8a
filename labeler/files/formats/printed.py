"""Read printed output that has one number per benchmark: Benchmark.js, `cargo bench`, wrk and benchmark-ips.

The output of a process is a run with one value per benchmark, because a process prints each benchmark once. If a name
is repeated in a file, the output of another process begins there, which is another run. Each `detect_…` and `read_…` is
a function of a row in `labeler.files.formats.known.FORMATS`.
"""

import re
from collections.abc import Iterator, Mapping

from analysis.runs.benchmark import Benchmark
from labeler.files.formats import json_text
from labeler.files.formats.building import SingleValue, from_single_values, with_failures, with_unique_names
from labeler.files.formats.units import finite

_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_JS_RATE = re.compile(rf"({_NUMBER}) (ops/sec) ±\d+(?:\.\d+)?% \(\d+ runs? sampled\)\s*")
_LIBTEST_TIME = re.compile(rf"\s*({_NUMBER}) ([a-zµμ]+/iter) \(\+/- {_NUMBER}\)")
_CRITERION_TIME = re.compile(rf"\s*\[{_NUMBER} \S+ ({_NUMBER}) ([a-zµμ]+) {_NUMBER} [a-zµμ]+\]")
_CARGO_FAILED = re.compile(r"(?m)^test (\S+) *\.\.\. (FAILED)")
_JS_FAILED = re.compile(r"(?m)^(\S.*?): (\w*Error\b.*)$")  # how Benchmark.js prints a benchmark with an error
_WRK = re.compile(r"(?m)^Running \S+ (?:test|benchmark) @ (\S+)[ \t]*\r?$")
_WRK_VALUE = re.compile(rf"(?m)^[ \t]*(Requests/sec|Latency)(?::|[ \t])[ \t]*({_NUMBER})([a-zA-Zµ]*)")
_IPS_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12, "Q": 1e15}
_IPS_NUMBER = r"(\d+(?:\.\d+)?)\s*([kMBTQ]?)"
_IPS_RESULT = re.compile(rf"(?:(.*\S))?\s+{_IPS_NUMBER}\s+\(±\s*[\d.]+%\)\s+i/s\b.*")
_IPS_WARM_UP = re.compile(rf"(?:(.*\S))?\s+{_IPS_NUMBER}\s+i/100ms\s*")
_IPS_START = "Warming up ---"
_IPS_NO_RESULT = "warmed up, but without a result"


def detect_benchmark_js(_name: str, content: bytes) -> bool:
    """Return whether the text has a result line of Benchmark.js."""
    return b" ops/sec " in content and _is_text(content) and _has_value(_of_benchmark_js(json_text.text_of(content)))


def detect_cargo(_name: str, content: bytes) -> bool:
    """Return whether the text has a result of libtest or criterion.rs."""
    has_word = b"... bench:" in content or b"time:" in content
    return has_word and _is_text(content) and _has_value(_of_cargo(json_text.text_of(content)))


def detect_wrk(_name: str, content: bytes) -> bool:
    """Return whether the text has the first line of wrk."""
    return b"Running " in content and _is_text(content) and _WRK.search(json_text.text_of(content)) is not None


def _has_value(values: Iterator[SingleValue]) -> bool:
    try:
        return next(values, None) is not None
    except ValueError:  # a result with an invalid number, which the reader refuses with an explanation
        return True


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return json_text.beginning(content)[:1] not in (b"{", b"[", b"<")


def read_benchmark_js(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks in operations per second."""
    text = json_text.text_of(content)
    yield from with_failures(_of_benchmark_js(text), _JS_FAILED.findall(text))


def _of_benchmark_js(text: str) -> Iterator[SingleValue]:
    for line in text.splitlines():
        name, _x, rest = line.rpartition(" x ")
        rate = _JS_RATE.fullmatch(rest)
        if rate and name.strip():
            yield name.strip(), finite(rate[1], f"benchmark {name.strip()!r}"), rate[2]


def read_cargo(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the median of libtest, or the best estimate of criterion.rs, which is the second of three times."""
    text = json_text.text_of(content)
    yield from with_failures(_of_cargo(text), _CARGO_FAILED.findall(text))


def _of_cargo(text: str) -> Iterator[SingleValue]:
    """Yield the results; the name comes before its time, but criterion.rs writes a long name on the previous line."""
    before = ""
    for line in text.splitlines():
        name, _word, rest = line.partition(" ... bench:")
        time = _LIBTEST_TIME.match(rest) if name.startswith("test ") else None
        if time:
            name = name.removeprefix("test ").strip()
        else:
            name, _word, rest = line.partition(" time:")
            time = _CRITERION_TIME.match(rest)
            name = name.strip() or before.strip()
        if time and name:
            yield name, finite(time[1], f"benchmark {name!r}"), time[2]
        before = line


def read_wrk(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the requests per second and the mean latency of each address; both combine all requests of a process."""
    yield from from_single_values(_of_wrk(json_text.text_of(content)))


def _of_wrk(text: str) -> Iterator[SingleValue]:
    _before, *parts = _WRK.split(text)
    for address, output in zip(parts[::2], parts[1::2], strict=True):
        values = {what: (number, unit) for what, number, unit in _WRK_VALUE.findall(output)}
        if "Requests/sec" not in values:
            raise ValueError(f"the output of wrk for {address!r} has no line Requests/sec. Was wrk stopped?")
        yield f"{address} [Requests/sec]", finite(values["Requests/sec"][0], f"{address!r}, Requests/sec"), "requests/s"
        if "Latency" in values:
            number, unit = values["Latency"]
            yield f"{address} [Latency]", finite(number, f"{address!r}, Latency"), "min" if unit == "m" else unit


def detect_benchmark_ips(_name: str, content: bytes) -> bool:
    """Return whether the content is the JSON or the printed text of benchmark-ips."""
    start = json_text.beginning(content)
    if start[:1] == b"[":
        return json_text.contains_keys(content, "ips", "microseconds", "iterations")
    return start[:1] != b"{" and _IPS_START.encode() in content and b" i/" in content


def read_benchmark_ips(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the iterations per second in output of benchmark-ips (Ruby): printed text, or the JSON of `x.json!`.

    In text, `Warming up` begins the output of another process, which is another run. JSON has all digits, and text has
    four. If a block raises an error, the process ends, so each benchmark that was warmed up in a process without a
    result has failed.
    """
    if json_text.beginning(content)[:1] == b"[":
        yield from with_unique_names(with_failures(_of_benchmark_ips_json(content), ()))
        return
    values, failed = _of_benchmark_ips(json_text.text_of(content))
    yield from with_unique_names(with_failures(values, failed))


def _of_benchmark_ips_json(content: bytes) -> Iterator[SingleValue]:
    entries = json_text.parse(content)
    for at, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        name = json_text.member(entry, "name", str, f"entry {at}")
        yield name, json_text.number(entry.get("ips"), f"entry {at}, 'ips'"), "i/s"


def _of_benchmark_ips(text: str) -> tuple[list[SingleValue], list[tuple[str, str]]]:
    """Return the rates, and the benchmarks of each process without a result."""
    values: list[SingleValue] = []
    failed: list[tuple[str, str]] = []
    warmed: dict[str, None] = {}
    before = ""
    for line in text.splitlines():
        if line.startswith(_IPS_START):
            failed += [(name, _IPS_NO_RESULT) for name in warmed]
            warmed = {}
        warm_up, result = _IPS_WARM_UP.fullmatch(line), _IPS_RESULT.fullmatch(line)
        match = warm_up or result
        if match:
            name = (match[1] or before).strip()
            if warm_up:
                warmed[name] = None
            else:
                warmed.pop(name, None)
                values.append((name, finite(match[2], f"benchmark {name!r}") * _IPS_SCALES[match[3]], "i/s"))
        before = line
    return values, failed + [(name, _IPS_NO_RESULT) for name in warmed]
