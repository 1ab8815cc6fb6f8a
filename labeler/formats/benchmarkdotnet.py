"""BenchmarkDotNet, full JSON report: `Benchmarks[].Measurements[]`, each the nanoseconds of a number of operations.

A launch is a process: it is a run. Of its measurements those of mode Workload and stage Actual are the iterations;
stage Result, which follows from them, lacks outliers and overhead. Where several jobs measured one benchmark, the job
is part of the name.
"""

import reprlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from analysis.benchmark import Benchmark, Failure
from labeler.formats import json_text
from labeler.formats.naming import measured
from labeler.formats.units import SECONDS
from labeler.model import Series

ITERATION = (("Workload", "Actual"), ("MainTarget", None))  # mode and stage; before 0.11 there was no stage
_FULL = "keeps the measurements with --exporters fulljson or [JsonExporterAttribute.Full]"


def detect(_name: str, content: bytes) -> bool:
    """A JSON object with our keys."""
    keys = (b'"HostEnvironmentInfo"', b'"Benchmarks"')
    return json_text.first_signs(content)[:1] == b"{" and all(key in content for key in keys)


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """The benchmarks of the report; raises ValueError naming benchmark, launch and iteration at fault."""
    yield from _read(content, means=False)


def read_means(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """As `read`, with the mean of all launches as one run where the report is a brief one."""
    yield from _read(content, means=True)


def _read(content: bytes, *, means: bool) -> Iterator[Benchmark]:
    entries = json_text.member(json_text.parse(content), "Benchmarks", list, "the file")
    names = [json_text.member(entry, "FullName", str, f"benchmark {index}") for index, entry in enumerate(entries)]
    if entries and not means and not any("Measurements" in entry for entry in entries):
        raise ValueError(f"this has only averages; BenchmarkDotNet {_FULL}")
    times = Counter(names)
    yield from measured(
        _benchmark(entry, name, has_jobs=times[name] > 1, means=means)
        for entry, name in zip(entries, names, strict=True)
    )


def _benchmark(entry: Mapping[str, Any], full_name: str, *, has_jobs: bool, means: bool) -> Benchmark:
    job = _job(entry) if has_jobs else ""
    name = f"{full_name} [{job}]" if job else full_name
    place = f"benchmark {name!r}"
    statistics = entry.get("Statistics")
    runs: tuple[Series, ...]
    if means and "Measurements" not in entry and isinstance(statistics, dict):
        runs = [np.array([json_text.number(statistics.get("Mean"), f"{place}, 'Mean'") * SECONDS["ns"]])]
    else:
        runs = list(_runs(entry, place))
    return Benchmark.of_series(
        name=name,
        benchmark=full_name,
        series=runs,
        parameters=_parameters(entry) | ({"job": job} if job else {}),
        failures=() if runs else (Failure({}, "no measurement of its workload"),),
    )


def _job(entry: Mapping[str, Any]) -> str:
    """From the text shown for people, `Type.Method: Job [parameters]`."""
    job = str(entry.get("DisplayInfo", "")).partition(": ")[2]
    return job.rpartition(" [")[0] if job.endswith("]") and " [" in job else job


def _parameters(entry: Mapping[str, Any]) -> dict[str, str]:
    """`N=10&Text=a`."""
    pairs = str(entry.get("Parameters") or "").split("&")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def _runs(entry: Mapping[str, Any], place: str) -> Iterator[Series]:
    """By launch and iteration, in order."""
    launches: dict[int, dict[int, float]] = defaultdict(dict)
    held = json_text.member(entry, "Measurements", list, place) if entry.get("Measurements") is not None else []
    for index, one in enumerate(held):
        mode = json_text.member(one, "IterationMode", str, f"{place}, measurement {index}")
        if (mode, one.get("IterationStage")) not in ITERATION:
            continue
        launch, iteration = (
            _index(one, key, f"{place}, measurement {index}") for key in ("LaunchIndex", "IterationIndex")
        )
        where = f"{place}, launch {launch}, iteration {iteration}"
        if iteration in launches[launch]:
            raise ValueError(f"{where} stands there twice")
        launches[launch][iteration] = _seconds(one, where)
    for _launch, values in sorted(launches.items()):
        yield np.array([value for _iteration, value in sorted(values.items())])


def _index(measurement: Mapping[str, Any], key: str, place: str) -> int:
    index = measurement.get(key)
    if isinstance(index, bool) or not isinstance(index, int):
        raise ValueError(f"{place}: {key!r} is {reprlib.repr(index)}, not a whole number")
    return index


def _seconds(measurement: Mapping[str, Any], place: str) -> float:
    """The mean time of an operation."""
    nanoseconds, operations = (
        json_text.number(measurement.get(key), f"{place}, {key!r}") for key in ("Nanoseconds", "Operations")
    )
    if not operations > 0:
        raise ValueError(f"{place}: {operations:g} operations")
    return nanoseconds * SECONDS["ns"] / operations
