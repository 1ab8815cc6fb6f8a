"""Read the JSON of pyperf (`-o FILE.json`).

`benchmarks[].runs[].values` has one value per iteration, already divided by the number of loops. Runs without values
only calibrated the loops, and warmups are not measurements. Metadata of all runs may be stored in the benchmark, and
metadata of all benchmarks may be stored in the file.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from analysis.benchmark import TIME, Benchmark
from labeler.formats import json_text
from labeler.formats.machine import machine
from labeler.formats.naming import time_of

VERSIONS = ("1.0", 6)
_ARCHITECTURE = re.compile(r"-(x86_64|amd64|aarch64|arm64|i[3-6]86|armv\w+|ppc64le|s390x|riscv64)\b", re.IGNORECASE)
UNITS = {"second": "s"}  # the units byte and integer do not change


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content has the keys of this format, and no key that only mitata writes."""
    keys = (b'"benchmarks"', b'"runs"', b'"version"')
    is_ours = json_text.first_signs(content)[:1] == b"{" and all(key in content for key in keys)
    return is_ours and b'"layout"' not in content


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of the file.

    If the content is invalid, raise ValueError with the benchmark, run and iteration.
    """
    document = json_text.parse(content)
    entries = json_text.member(document, "benchmarks", list, "the file")
    if document.get("version") not in VERSIONS:
        raise ValueError(
            f"version {document.get('version')!r} of pyperf's format is not supported. Convert the file with: "
            "python -m pyperf convert FILE -o NEW.json"
        )
    said = _said(document, "the file")
    names = set()
    for index, entry in enumerate(entries):
        benchmark = _benchmark(entry, said, f"benchmark {index}")
        if benchmark.name in names:
            raise ValueError(f"benchmark {benchmark.name!r} appears twice")
        names.add(benchmark.name)
        yield benchmark


def _said(holder: Any, place: str) -> Mapping[str, Any]:
    return json_text.member(holder, "metadata", dict, place) if "metadata" in holder else {}


def _benchmark(entry: Any, of_file: Mapping[str, Any], place: str) -> Benchmark:
    runs = json_text.member(entry, "runs", list, place)
    of_benchmark = {**of_file, **_said(entry, place)}
    if isinstance(of_benchmark.get("name"), str):
        place = f"benchmark {of_benchmark['name']!r}"
    series, said, times = [], [], []
    for index, run in enumerate(runs):
        where = f"{place}, run {index}"
        if not isinstance(run, dict):
            raise ValueError(f"{where}: the run is not an object")
        if run.get("values"):
            series.append(json_text.series(json_text.member(run, "values", list, where), where))
            said.append({**of_benchmark, **_said(run, where)})
            times.append(time_of(said[-1].get("date")))
    if not series:
        raise ValueError(
            f"{place} has no values, only calibration. Measure without --calibrate-loops and --calibrate-warmups, and "
            f"save all values with -o FILE.json"
        )
    name = json_text.member(said[0], "name", str, place)
    units = sorted({str(one.get("unit", "second")) for one in said})
    if len(units) > 1:
        raise ValueError(f"benchmark {name!r} has more than one unit: {', '.join(map(repr, units))}")
    unit = UNITS.get(units[0], units[0])
    machines = [_machine(one) for one in said]
    known = {
        part: [one.get(part, "") for one in machines] for part in dict.fromkeys(p for one in machines for p in one)
    }
    return Benchmark.of_series(name, series, unit=unit, conditions={TIME: times, **known})


def _machine(metadata: Mapping[str, Any]) -> dict[str, str]:
    architecture = _ARCHITECTURE.search(str(metadata.get("platform", "")))
    return machine(
        cpu=metadata.get("cpu_model_name"), architecture=architecture[1] if architecture else None,
        runtime=[metadata.get("python_implementation"), metadata.get("python_version")], host=metadata.get("hostname"),
    )  # fmt: skip
