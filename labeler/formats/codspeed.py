"""Read the results of CodSpeed's walltime mode, which pytest-codspeed and the other runners of CodSpeed write.

A file is a run, because one process writes it. CodSpeed keeps only statistics of the rounds, so the mean of a benchmark
is its only value. A benchmark that failed is not in the file.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from analysis.benchmark import Benchmark, Failure
from labeler.formats import json_text
from labeler.formats.machine import machine, members, of_runs
from labeler.formats.naming import with_unique_names

_NANOSECOND = 1e-9


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content is a JSON object with the keys of this format."""
    keys = (b'"creator"', b'"instrument"', b'"benchmarks"')
    return json_text.first_signs(content)[:1] == b"{" and all(key in content for key in keys)


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of the file, one run each; if the content is invalid, raise ValueError with the benchmark."""
    document = json_text.parse(content)
    instrument = json_text.member(document, "instrument", dict, "the file").get("type")
    if instrument != "walltime":
        raise ValueError(
            f"the file has no times, because CodSpeed measured with the instrument {str(instrument)[:30]!r}. Measure "
            "with the instrument walltime (pytest: --codspeed-mode=walltime)"
        )
    python = members(members(document.get("python")).get("sysconfig")).get("py_version")
    conditions = of_runs(machine(runtime=f"Python {python}" if isinstance(python, str) else ""), 1)
    entries = json_text.member(document, "benchmarks", list, "the file")
    yield from with_unique_names(_benchmark(entry, f"benchmark {at}", conditions) for at, entry in enumerate(entries))


def _benchmark(entry: Any, place: str, conditions: Mapping[str, tuple[str, ...]]) -> Benchmark:
    name = _name(json_text.member(entry, "uri" if "uri" in members(entry) else "name", str, place))
    stats = entry.get("stats")
    if not stats or not members(stats).get("rounds", 1):
        return Benchmark.of_series(name, (), failures=(Failure({}, "no rounds"),))
    mean = json_text.number(members(stats).get("mean_ns"), f"benchmark {name!r}, 'mean_ns'")
    return Benchmark.of_series(name, (np.array([mean * _NANOSECOND]),), conditions=conditions)


def _name(uri: str) -> str:
    """Return the name of a benchmark: its URI, without the folder if the path is absolute."""
    path, colons, rest = uri.partition("::")
    return (PurePosixPath(path).name if path.startswith("/") else path) + colons + rest
