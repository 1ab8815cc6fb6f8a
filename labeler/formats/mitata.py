"""Read the JSON of mitata (`run({ format: "json" })`).

`benchmarks[].runs[].stats` has times in nanoseconds; mitata has one "run" per set of arguments. Here the file is a run,
because one process writes a file. The only value of the run is mitata's `avg`. The samples are not used, because mitata
sorts them and removes extreme samples. Their order is therefore lost.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from analysis.benchmark import Benchmark, Failure
from labeler.formats import json_text
from labeler.formats.machine import machine, members, of_runs
from labeler.formats.naming import with_unique_names
from labeler.formats.units import SECONDS


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content is a JSON object with the keys of this format."""
    keys = (b'"benchmarks"', b'"runs"', b'"layout"')
    return json_text.first_signs(content)[:1] == b"{" and all(key in content for key in keys)


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of the file, one per set of arguments.

    If the content is invalid, raise ValueError with the benchmark.
    """
    document = json_text.parse(content)
    entries = json_text.member(document, "benchmarks", list, "the file")
    layout = json_text.member(document, "layout", list, "the file")
    context = members(document.get("context"))
    known = machine(
        cpu=members(context.get("cpu")).get("name"), architecture=context.get("arch"),
        runtime=[context.get("runtime"), context.get("version")],
    )  # fmt: skip
    yield from with_unique_names(
        one for at, entry in enumerate(entries) for one in _benchmarks(entry, layout, f"benchmark {at}", known)
    )


def _benchmarks(entry: Any, layout: list[Any], place: str, known: Mapping[str, str]) -> Iterator[Benchmark]:
    group = _group(entry, layout)
    for run in json_text.member(entry, "runs", list, place):
        name = json_text.member(run, "name", str, place)
        full_name = f"{group} / {name}" if group else name
        if run.get("error") is not None or "stats" not in run:
            yield Benchmark(full_name, (), failures=(Failure({}, "failed"),))
            continue
        stats = json_text.member(run, "stats", dict, f"benchmark {full_name!r}")
        mean = json_text.number(stats.get("avg"), f"benchmark {full_name!r}, 'avg'")
        arguments = run.get("args") if isinstance(run.get("args"), dict) else {}
        yield Benchmark.of_series(
            full_name,
            [[mean * SECONDS["ns"]]],
            conditions=of_runs(known, 1),
            parameters={str(key): str(value) for key, value in arguments.items() if value is not None},
        )


def _group(entry: Any, layout: list[Any]) -> str:
    """Return the name of the group that contains a benchmark; return "" if the benchmark has no group."""
    at = entry.get("group") if isinstance(entry, dict) else None
    group = layout[at] if isinstance(at, int) and 0 <= at < len(layout) else None
    return str(group.get("name") or "") if isinstance(group, dict) else ""
