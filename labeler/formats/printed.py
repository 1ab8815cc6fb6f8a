"""What tools print for people, one number a benchmark: Benchmark.js, `cargo bench` (libtest and criterion.rs), wrk.

A process prints every benchmark once. Its output is a run of one value, and a name that comes again in the same file
begins the output of another process, so another run.
"""

import re
from collections.abc import Iterator, Mapping

from analysis.benchmark import Benchmark
from labeler.formats import json_text
from labeler.formats.single_values import Single, benchmarks, finite

_NUMBER = r"[\d,]+(?:\.\d+)?"
_BENCHMARK_JS = re.compile(rf"(?m)^\s*(\S.*?) x ({_NUMBER}) (ops/sec) ±\d+(?:\.\d+)?% \(\d+ runs? sampled\)\s*$")
_LIBTEST = re.compile(rf"(?m)^test (\S.*?)\s+\.\.\. bench:\s+({_NUMBER}) ([a-zµμ]+/iter) \(\+/- {_NUMBER}\)")
_CRITERION = re.compile(
    rf"(?m)^(\S[^\n]*?)?[ \t]*(?:\r?\n)?[ \t]+time:[ \t]+\[{_NUMBER} \S+ ({_NUMBER}) ([a-zµμ]+) {_NUMBER} [a-zµμ]+\]"
)
_WRK = re.compile(r"(?m)^Running \S+ (?:test|benchmark) @ (\S+)\s*$")
_WRK_VALUE = re.compile(rf"(?m)^\s*(Requests/sec|Latency)(?::\s+|\s+)({_NUMBER})([a-zA-Zµ]*)")


def detect_benchmark_js(_name: str, content: bytes) -> bool:
    """A text with a line of Benchmark.js."""
    return _holds(content, b"ops/sec", _BENCHMARK_JS)


def detect_cargo(_name: str, content: bytes) -> bool:
    """A text with a result of libtest or criterion.rs."""
    return _holds(content, b"... bench:", _LIBTEST) or _holds(content, b"time:", _CRITERION)


def detect_wrk(_name: str, content: bytes) -> bool:
    """A text with the first line of wrk."""
    return _holds(content, b"Running ", _WRK)


def _holds(content: bytes, word: bytes, line: re.Pattern[str]) -> bool:
    is_text = json_text.first_signs(content)[:1] not in (b"{", b"[", b"<") and word in content
    return is_text and line.search(content.decode("utf-8-sig", "replace")) is not None


def read_benchmark_js(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """The benchmarks in operations per second; raises ValueError if a number is none."""
    yield from benchmarks(_singles(_BENCHMARK_JS, _text(content)))


def read_cargo(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """The benchmarks: the median of libtest, or the middle of the three times of criterion.rs, its best estimate."""
    text = _text(content)
    yield from benchmarks(_singles(_LIBTEST, text))
    yield from benchmarks(single for single in _singles(_CRITERION, text) if single[0])


def read_wrk(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Requests per second and mean latency of each address, over all requests of a process."""
    yield from benchmarks(_of_wrk(_text(content)))


def _of_wrk(text: str) -> Iterator[Single]:
    _before, *parts = _WRK.split(text)
    for address, output in zip(parts[::2], parts[1::2], strict=True):
        values = {what: (number, unit) for what, number, unit in _WRK_VALUE.findall(output)}
        if "Requests/sec" not in values:
            raise ValueError(f"the output of wrk for {address!r} has no line Requests/sec: was it stopped?")
        yield f"{address} [Requests/sec]", finite(values["Requests/sec"][0], f"{address!r}, Requests/sec"), "requests/s"
        if "Latency" in values:
            number, unit = values["Latency"]
            yield f"{address} [Latency]", finite(number, f"{address!r}, Latency"), "min" if unit == "m" else unit


def _singles(line: re.Pattern[str], text: str) -> Iterator[Single]:
    for match in line.finditer(text):
        name = (match[1] or "").strip()
        yield name, finite(match[2], f"benchmark {name!r}"), match[3]


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start}: not UTF-8 text") from None
