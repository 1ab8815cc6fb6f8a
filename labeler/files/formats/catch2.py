"""Read the XML of Catch2 (`--reporter xml`), which has the mean of each benchmark in nanoseconds, but no samples.

A file is a run with one value, because one process writes it. Test case and sections are part of the benchmark's name.
A file with a document type is refused, because a document type could refer to other files.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.runs.benchmark import Benchmark, Failure
from labeler.files.formats import json_text
from labeler.files.formats.building import with_unique_names
from labeler.files.formats.units import SECONDS, finite

if TYPE_CHECKING:
    from xml.etree import ElementTree


ROOTS = (b"<Catch2TestRun", b"<Catch ", b"<Catch>")
MAX_DEPTH = 100  # of nested elements


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content is XML with the first element of Catch2 version 3 or 2."""
    head = json_text.beginning(content, 2000)
    return head[:1] == b"<" and any(root in head for root in ROOTS)


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    text = json_text.text_of(content).strip()  # ignores the declared encoding, because Catch2 always writes UTF-8
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("the XML declares a document type or entities, which Catch2 never writes")
    yield from with_unique_names(_benchmarks(_root(text)), advice="; name its test case or section differently")


def _root(text: str) -> "ElementTree.Element":
    from xml.etree import ElementTree  # imported here because few commands read XML

    try:
        return ElementTree.fromstring(text)  # noqa: S314 - without a document type there are no entities
    except ElementTree.ParseError as error:
        line, column = error.position
        reason = "this is not one complete XML document. Write the output of each process into a separate file"
        raise ValueError(f"line {line}, column {column + 1}: {reason}") from None


def _benchmarks(holder: "ElementTree.Element", scopes: tuple[str, ...] = (), depth: int = 1) -> Iterator[Benchmark]:
    """Yield the benchmarks in an element; their names begin with test case and sections."""
    if depth > MAX_DEPTH:
        raise ValueError(f"the XML has more than {MAX_DEPTH} nested elements")
    for element in holder:
        if element.tag == "BenchmarkResults":
            yield _benchmark(element, scopes)
        else:
            is_scope = element.tag in ("TestCase", "Section")
            inner = (*scopes, element.get("name", "").strip()) if is_scope else scopes
            found = list(_benchmarks(element, inner, depth + 1))
            if element.tag == "TestCase" and _has_failed(element):
                failure = Failure({}, "its test case failed")
                last = found.pop() if found else Benchmark(" / ".join(inner) or "test case", (), failures=(failure,))
                found.append(replace(last, failures=last.failures or (failure,)))
            yield from found


def _has_failed(element: "ElementTree.Element") -> bool:
    """Return whether a test case failed, for example because the process ended in it."""
    result = element.find("OverallResult")
    is_told = result is not None and result.get("success") == "false"
    return is_told or next(element.iter("FatalErrorCondition"), None) is not None


def _benchmark(element: "ElementTree.Element", scopes: tuple[str, ...]) -> Benchmark:
    name = " / ".join((*scopes, element.get("name", "").strip()))
    mean, failed = element.find("mean"), element.find("failed")
    if mean is None:
        why = "no mean" if failed is None else f"failed: {failed.get('message', '')}"
        return Benchmark(name, (), failures=(Failure({}, why, on_purpose=failed is None),))
    value = finite(mean.get("value", ""), f"benchmark {name!r}, mean")
    return Benchmark.of_series(name, [[value * SECONDS["ns"]]])
