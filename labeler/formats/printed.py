"""Read printed output that has one number per benchmark.

The tools are Benchmark.js, `cargo bench` (libtest and criterion.rs) and wrk.

The output of a process is a run with one value per benchmark, because a process prints each benchmark once. If a name
is repeated in a file, the output of another process begins there, which is another run.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from analysis.benchmark import Benchmark, Failure
from labeler.formats import json_text
from labeler.formats.naming import absent
from labeler.formats.single_values import Single, benchmarks, finite

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
    return b" ops/sec " in content and _is_text(content) and _is_any(_of_benchmark_js(_text(content)))


def detect_cargo(_name: str, content: bytes) -> bool:
    """Return whether the text has a result of libtest or criterion.rs."""
    has_word = b"... bench:" in content or b"time:" in content
    return has_word and _is_text(content) and _is_any(_of_cargo(_text(content)))


def detect_wrk(_name: str, content: bytes) -> bool:
    """Return whether the text has the first line of wrk."""
    return b"Running " in content and _is_text(content) and _WRK.search(_text(content)) is not None


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
    text = _text(content)
    yield from _with_failures(_of_benchmark_js(text), _JS_FAILED.findall(text))


def _with_failures(singles: Iterable[Single], failed: Iterable[tuple[str, str]]) -> Iterator[Benchmark]:
    """Yield the benchmarks with the failures that the tool printed, and with a failure where a process lacks them."""
    values = list(singles)
    failures: dict[str, list[str]] = defaultdict(list)
    for name, reason in failed:
        failures[name.strip()].append(reason)
    n_absent = Counter(name for name, _process in absent(_processes([name for name, _value, _unit in values])))
    for name, n in n_absent.items():
        failures[name] += ["missing in the output of a process"] * (n - len(failures[name]))
    for benchmark in benchmarks(values):
        reasons = failures.pop(benchmark.name, ())
        yield replace(benchmark, failures=tuple(Failure({}, reason) for reason in reasons))
    for name, reasons in failures.items():
        yield Benchmark(name, (), failures=tuple(Failure({}, reason) for reason in reasons))


def _processes(names: Sequence[str]) -> list[set[str]]:
    """Return the benchmarks of each process whose output is in a file, or nothing if this cannot be known.

    All processes print their benchmarks in the same order, so another process begins where a name is not after the
    previous one. If this gives more processes than the most frequent name has, the file has another order.
    """
    order = {name: at for at, name in enumerate(dict.fromkeys(names))}
    processes: list[set[str]] = []
    last = len(order)
    for name in names:
        if order[name] <= last:
            processes.append(set())
        processes[-1].add(name)
        last = order[name]
    return processes if len(processes) == max(Counter(names).values(), default=0) else []


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
    text = _text(content)
    yield from _with_failures(_of_cargo(text), _CARGO_FAILED.findall(text))


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
    yield from benchmarks(_of_wrk(_text(content)))


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


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"byte {error.start}: the file is not UTF-8 text") from None
