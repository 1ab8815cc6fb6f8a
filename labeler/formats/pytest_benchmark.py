"""Read the JSON of pytest-benchmark.

`benchmarks[].stats.data` has the seconds of each round, already divided by the number of its iterations. A file is a
run, because one process writes it, and a round is an iteration.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.benchmark import TIME, Benchmark, Failure
from labeler.formats import json_text
from labeler.formats.machine import machine, members, of_runs
from labeler.formats.naming import time_of, with_unique_names


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content is a JSON object with the keys of this format."""
    keys = (b'"benchmarks"', b'"machine_info"', b'"commit_info"')
    return json_text.first_signs(content)[:1] == b"{" and all(key in content for key in keys)


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of the file, one run each.

    If the content is invalid, raise ValueError with the benchmark and iteration.
    """
    yield from _read(content, means=False)


def read_means(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks like `read`.

    If the file has only statistics, the only value of the run is the mean of the rounds.
    """
    yield from _read(content, means=True)


def _read(content: bytes, *, means: bool) -> Iterator[Benchmark]:
    document = json_text.parse(content)
    entries = json_text.member(document, "benchmarks", list, "the file")
    info = members(document.get("machine_info"))
    conditions = {TIME: time_of(document.get("datetime"))} | machine(
        cpu=members(info.get("cpu")).get("brand_raw") or info.get("processor"), architecture=info.get("machine"),
        runtime=[info.get("python_implementation"), info.get("python_version")], host=info.get("node"),
    )  # fmt: skip
    yield from with_unique_names(
        _benchmark(entry, f"benchmark {index}", conditions, means=means) for index, entry in enumerate(entries)
    )


def _benchmark(entry: Any, place: str, conditions: Mapping[str, str], *, means: bool) -> Benchmark:
    name = json_text.member(entry, "fullname", str, place)
    place = f"benchmark {name!r}"
    parameters = json_text.member(entry, "params", dict, place) if entry.get("params") is not None else {}
    stats = json_text.member(entry, "stats", dict, place)
    if means and "data" not in stats and "mean" in stats:
        stats = {"data": [stats["mean"]]}
    if "data" not in stats:
        raise ValueError(
            f"{place} has only statistics. pytest-benchmark saves the measurements with --benchmark-save-data beside "
            "--benchmark-autosave or --benchmark-save=NAME, or with --benchmark-json=FILE"
        )
    data = json_text.member(stats, "data", list, place)
    return Benchmark.of_series(
        name=name,
        series=(json_text.series(data, f"{place}, run 0"),) if data else (),
        conditions=of_runs(conditions, 1) if data else {},
        parameters={str(key): str(value) for key, value in parameters.items()},
        failures=() if data else (Failure({}, "'data' is empty"),),
    )
