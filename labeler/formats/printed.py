"""Read printed output that has one number per benchmark.

The tools are Benchmark.js, `cargo bench` (libtest and criterion.rs) and wrk.

The output of a process is a run with one value per benchmark, because a process prints each benchmark once. If a name
is repeated in a file, the output of another process begins there, which is another run.
"""

import re
from collections.abc import Iterator, Mapping

from analysis.benchmark import Benchmark
from labeler.formats import json_text
from labeler.formats.single_values import Single, benchmarks, finite, with_failures

_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_JS_RATE = re.compile(rf"({_NUMBER}) (ops/sec) ±\d+(?:\.\d+)?% \(\d+ runs? sampled\)\s*")
_LIBTEST_TIME = re.compile(rf"\s*({_NUMBER}) ([a-zµμ]+/iter) \(\+/- {_NUMBER}\)")
_CRITERION_TIME = re.compile(rf"\s*\[{_NUMBER} \S+ ({_NUMBER}) ([a-zµμ]+) {_NUMBER} [a-zµμ]+\]")
_CARGO_FAILED = re.compile(r"(?m)^test (\S+) *\.\.\. (FAILED)")
_JS_FAILED = re.compile(r"(?m)^(\S.*?): (\w*Error\b.*)$")  # how Benchmark.js prints a benchmark with an error
_WRK = re.compile(r"(?m)^Running \S+ (?:test|benchmark) @ (\S+)[ \t]*\r?$")
_WRK_VALUE = re.compile(rf"(?m)^[ \t]*(Requests/sec|Latency)(?::|[ \t])[ \t]*({_NUMBER})([a-zA-Zµ]*)")


def detect_benchmark_js(_name: str, content: bytes) -> bool:
    """Return whether the text has a result line of Benchmark.js."""
    return b" ops/sec " in content and _is_text(content) and _is_any(_of_benchmark_js(json_text.text_of(content)))


def detect_cargo(_name: str, content: bytes) -> bool:
    """Return whether the text has a result of libtest or criterion.rs."""
    has_word = b"... bench:" in content or b"time:" in content
    return has_word and _is_text(content) and _is_any(_of_cargo(json_text.text_of(content)))


def detect_wrk(_name: str, content: bytes) -> bool:
    """Return whether the text has the first line of wrk."""
    return b"Running " in content and _is_text(content) and _WRK.search(json_text.text_of(content)) is not None


def _is_any(singles: Iterator[Single]) -> bool:
    try:
        return next(singles, None) is not None
    except ValueError:  # a result with an invalid number, which the reader refuses with an explanation
        return True


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return json_text.first_signs(content)[:1] not in (b"{", b"[", b"<")


def read_benchmark_js(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks in operations per second; if the content is invalid, raise ValueError with the value."""
    text = json_text.text_of(content)
    yield from with_failures(_of_benchmark_js(text), _JS_FAILED.findall(text))


def _of_benchmark_js(text: str) -> Iterator[Single]:
    for line in text.splitlines():
        name, _x, rest = line.rpartition(" x ")
        rate = _JS_RATE.fullmatch(rest)
        if rate and name.strip():
            yield name.strip(), finite(rate[1], f"benchmark {name.strip()!r}"), rate[2]


def read_cargo(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks in output of `cargo bench`.

    The value is the median of libtest, or the best estimate of criterion.rs, which is the second of three times.
    """
    text = json_text.text_of(content)
    yield from with_failures(_of_cargo(text), _CARGO_FAILED.findall(text))


def _of_cargo(text: str) -> Iterator[Single]:
    """Yield the results in output of `cargo bench`.

    The name of a benchmark comes before its time; criterion.rs writes a long name on the previous line.
    """
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
    yield from benchmarks(_of_wrk(json_text.text_of(content)))


def _of_wrk(text: str) -> Iterator[Single]:
    _before, *parts = _WRK.split(text)
    for address, output in zip(parts[::2], parts[1::2], strict=True):
        values = {what: (number, unit) for what, number, unit in _WRK_VALUE.findall(output)}
        if "Requests/sec" not in values:
            raise ValueError(f"the output of wrk for {address!r} has no line Requests/sec. Was wrk stopped?")
        yield f"{address} [Requests/sec]", finite(values["Requests/sec"][0], f"{address!r}, Requests/sec"), "requests/s"
        if "Latency" in values:
            number, unit = values["Latency"]
            yield f"{address} [Latency]", finite(number, f"{address!r}, Latency"), "min" if unit == "m" else unit
