"""Read JSON files with one number per benchmark.

The formats are the custom tools of github-action-benchmark, the Bencher Metric Format, and k6's summary.

The author of the file decides what the number means; usually the number is a mean. A file is a run, because one process
writes it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.benchmark import Benchmark
from labeler.formats import json_text
from labeler.formats.naming import with_unique_names
from labeler.formats.single_values import Single, benchmarks

_ACTION = re.compile(rb'\[\s*\{\s*"(name|unit|value|range|extra)"\s*:')
_BMF = re.compile(
    rb'\{\s*"(?:[^"\\]|\\.){1,1024}"\s*:\s*\{\s*"(?:[^"\\]|\\.){1,64}"\s*:\s*\{\s*"(lower_|upper_)?value"\s*:'
)
_MEASURES = {"latency": "ns", "throughput": "ops/s", "build-time": "s", "file-size": "byte"}  # built into Bencher
_TRENDS, _RATES = ("avg", "p(95)"), ("rate",)  # statistics that are read from the metrics of k6


def detect_action(_name: str, content: bytes) -> bool:
    """Return whether the content is a list of objects with name, unit and value."""
    keys = (b'"name"', b'"unit"', b'"value"')
    is_list = _ACTION.match(json_text.first_signs(content)) is not None
    return is_list and all(key in content for key in keys) and b'"primaryMetric"' not in content


def detect_bencher(_name: str, content: bytes) -> bool:
    """Return whether the content is an object of benchmarks, each with an object of measures that have a value."""
    return _BMF.match(json_text.first_signs(content, 4000)) is not None


def detect_k6(_name: str, content: bytes) -> bool:
    """Return whether the content is a summary of k6."""
    keys = (b'"metrics"', b'"iterations"', b'"root_group"')
    return json_text.first_signs(content)[:1] == b"{" and all(key in content for key in keys)


def read_action(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of the list; if the content is invalid, raise ValueError with the entry."""
    entries = json_text.parse(content)
    if not isinstance(entries, list):
        raise ValueError("this is not a list of objects with name, unit and value (github-action-benchmark)")
    yield from benchmarks(_of_action(entries))


def _of_action(entries: list[Any]) -> Iterator[Single]:
    for at, entry in enumerate(entries):
        name = json_text.member(entry, "name", str, f"entry {at}")
        unit = json_text.member(entry, "unit", str, f"entry {at}")
        yield name, json_text.number(entry.get("value"), f"entry {at}, 'value'"), unit


def read_bencher(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read one benchmark per measure; the name includes the measure unless it is latency."""
    yield from benchmarks(_of_bencher(json_text.parse(content)))


def _of_bencher(document: Any) -> Iterator[Single]:
    if not isinstance(document, dict):
        raise ValueError("this is not an object of benchmarks (Bencher Metric Format)")
    for name in document:
        for measure in json_text.member(document, name, dict, "the file"):
            metric = json_text.member(document[name], measure, dict, f"benchmark {name!r}")
            value = json_text.number(metric.get("value"), f"benchmark {name!r}, {measure!r}, 'value'")
            yield name if measure == "latency" else f"{name} [{measure}]", value, _MEASURES.get(measure, "")


def read_k6(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read each metric over all requests of the process.

    A time is read as its mean and its 95th percentile, and a count as its rate.
    """
    metrics = json_text.member(json_text.parse(content), "metrics", dict, "the file")
    yield from with_unique_names(benchmarks(_of_k6(metrics)))


def _of_k6(metrics: Mapping[str, Any]) -> Iterator[Single]:
    """Yield the statistics of each metric in a summary of k6.

    `--summary-export` writes the statistics directly; `handleSummary` writes them inside `values`, with a type.
    """
    for name in metrics:
        metric = json_text.member(metrics, name, dict, "the metrics")
        values = json_text.member(metric, "values", dict, f"metric {name!r}") if "values" in metric else metric
        is_time = metric.get("contains") == "time" or ("contains" not in metric and _is_time(name))
        is_trend = "avg" in values
        for statistic in _TRENDS if is_trend else _RATES:
            if statistic in values and (is_trend or "count" in values):
                unit = ("ms" if is_time else "") if is_trend else "1/s"
                place = f"metric {name!r}, {statistic!r}"
                yield f"{name} [{statistic}]", json_text.number(values[statistic], place), unit


def _is_time(name: str) -> bool:
    """Return whether the metric is a time in milliseconds.

    For custom metrics, only `handleSummary` gives a type.
    """
    metric = name.partition("{")[0]
    return metric.startswith("http_req_") or metric.endswith("_duration")
