"""Read the output of benchmark-ips (Ruby), as printed text or as the JSON of `x.json!`.

A process gives one rate per benchmark, in iterations per second. In text, `Warming up` begins the output of another
process, which is another run. JSON has all digits, and text has four. If a block raises an error, the process ends, so
each benchmark that was warmed up in a process without a result has failed.
"""

import re
from collections.abc import Iterator, Mapping

from analysis.benchmark import Benchmark
from labeler.formats import json_text
from labeler.formats.naming import with_unique_names
from labeler.formats.single_values import Single, finite, with_failures

UNIT = "i/s"
_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12, "Q": 1e15}
_NUMBER = r"(\d+(?:\.\d+)?)\s*([kMBTQ]?)"
_RESULT = re.compile(rf"(?:(.*\S))?\s+{_NUMBER}\s+\(±\s*[\d.]+%\)\s+i/s\b.*")
_WARM_UP = re.compile(rf"(?:(.*\S))?\s+{_NUMBER}\s+i/100ms\s*")
_START = "Warming up ---"


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content is the JSON or the printed text of benchmark-ips."""
    start = json_text.first_signs(content)
    if start[:1] == b"[":
        return all(key in content for key in (b'"ips"', b'"microseconds"', b'"iterations"'))
    return start[:1] != b"{" and b"Warming up ---" in content and b" i/" in content


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the rates; if the content is invalid, raise ValueError with the entry or the value."""
    if json_text.first_signs(content)[:1] == b"[":
        yield from with_unique_names(with_failures(_of_json(content), ()))
        return
    singles, failed = _of_text(json_text.text_of(content))
    yield from with_unique_names(with_failures(singles, failed))


def _of_json(content: bytes) -> Iterator[Single]:
    entries = json_text.parse(content)
    for at, entry in enumerate(entries if isinstance(entries, list) else [entries]):
        name = json_text.member(entry, "name", str, f"entry {at}")
        yield name, json_text.number(entry.get("ips"), f"entry {at}, 'ips'"), UNIT


def _of_text(text: str) -> tuple[list[Single], list[tuple[str, str]]]:
    """Return the rates, and the benchmarks of each process without a result."""
    singles: list[Single] = []
    failed: list[tuple[str, str]] = []
    warmed: dict[str, None] = {}
    before = ""
    for line in text.splitlines():
        if line.startswith(_START):
            failed += [(name, _NO_RESULT) for name in warmed]
            warmed = {}
        warm_up, result = _WARM_UP.fullmatch(line), _RESULT.fullmatch(line)
        match = warm_up or result
        if match:
            name = (match[1] or before).strip()
            if warm_up:
                warmed[name] = None
            else:
                warmed.pop(name, None)
                singles.append((name, finite(match[2], f"benchmark {name!r}") * _SCALES[match[3]], UNIT))
        before = line
    return singles, failed + [(name, _NO_RESULT) for name in warmed]


_NO_RESULT = "warmed up, but without a result"
