"""Read the JSON of nanobench (template `json`).

`results[].measurements[]` has one entry per epoch, with the `elapsed` seconds of one iteration. A file is a run,
because one process writes it. An epoch is an iteration of the run. nanobench also calls the executions within an epoch
iterations, and stores only their mean. Times are divided by the size of the `batch`, as in nanobench's own table.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.benchmark import Benchmark
from labeler.formats import json_text
from labeler.formats.naming import with_unique_names
from labeler.formats.units import scaled

_JSON = re.compile(rb'\{\s*"results"\s*:\s*\[\s*\{\s*"title"\s*:')


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content is a JSON object that begins with results that have titles."""
    return _JSON.match(json_text.first_signs(content)) is not None and b'"name"' in content


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of the file, one run each.

    If the content is invalid, raise ValueError with the benchmark and epoch.
    """
    entries = json_text.member(json_text.parse(content), "results", list, "the file")
    yield from with_unique_names(_benchmark(entry, f"result {at}") for at, entry in enumerate(entries))


def _benchmark(entry: Any, place: str) -> Benchmark:
    title, name = (json_text.member(entry, key, str, place) for key in ("title", "name"))
    full_name = name if title in ("", "benchmark") else f"{title} / {name}"  # the default title
    place = f"benchmark {full_name!r}"
    if "measurements" not in entry:
        raise ValueError(f"{place} has only averages. nanobench saves all epochs with its template json()")
    epochs = json_text.member(entry, "measurements", list, place)
    elapsed = [
        json_text.number(epoch.get("elapsed") if isinstance(epoch, dict) else None, f"{place}, epoch {at}, 'elapsed'")
        for at, epoch in enumerate(epochs)
    ]
    batch = json_text.number(entry.get("batch", 1), f"{place}, 'batch'")
    if not batch > 0:
        raise ValueError(f"{place}: the batch is {batch:g}, but must be above 0")
    return Benchmark.of_series(full_name, [scaled(json_text.series(elapsed, place), 1 / batch)])
