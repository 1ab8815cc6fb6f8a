"""Read the full JSON report of BenchmarkDotNet.

Each entry of `Benchmarks[].Measurements[]` is a time in nanoseconds for a number of operations. A launch is a run,
because each launch is a process. The iterations of a run are the measurements of mode Workload and stage Result, from
which BenchmarkDotNet computes the mean. In these measurements, the overhead of an empty method is already subtracted,
and the slowest outliers are removed. `--columns stage=Actual` uses stage Actual instead, with overhead and outliers. If
a launch has no results, the mean of its overhead is subtracted from its actual times. If several jobs measured a
benchmark, the job is part of the name.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from analysis.arrays import Series
from analysis.runs.benchmark import Benchmark, Failure
from labeler.files.formats import json_text
from labeler.files.formats.building import with_unique_names
from labeler.files.formats.conditions import machine, of_runs
from labeler.files.formats.units import SECONDS

RESULT, ACTUAL, OVERHEAD = "Result", "Actual", "overhead"
# mode and stage of a measurement; versions before 0.11.4 have no stage
STAGES = {
    ("Workload", "Result"): RESULT, ("Workload", "Actual"): ACTUAL, ("Overhead", "Actual"): OVERHEAD,
    ("Result", None): RESULT, ("MainTarget", None): ACTUAL, ("IdleTarget", None): OVERHEAD,
}  # fmt: skip
_FULL = "saves all measurements with --exporters fulljson or [JsonExporterAttribute.Full]"


def detect(_name: str, content: bytes) -> bool:
    return json_text.is_object_with(content, "HostEnvironmentInfo", "Benchmarks")


def read(_name: str, content: bytes, columns: Mapping[str, str], *, means: bool = False) -> Iterator[Benchmark]:
    """Read the benchmarks of the report.

    With `means`, the only run of a brief report has one value, which is the mean of all launches.
    """
    stage = columns.get("stage", RESULT)
    if stage not in (RESULT, ACTUAL):
        raise ValueError(f"--columns stage={stage}: the stage must be {RESULT} or {ACTUAL}")
    document = json_text.parse(content)
    entries = json_text.member(document, "Benchmarks", list, "the file")
    host = json_text.object_or_empty(document.get("HostEnvironmentInfo"))
    known = machine(
        cpu=host.get("ProcessorName"), architecture=host.get("Architecture"), build=host.get("Configuration"),
        runtime=host.get("RuntimeVersion"),
    )  # fmt: skip
    if entries and all(isinstance(entry, dict) and "FullName" not in entry for entry in entries):
        raise ValueError(
            "this report has no full benchmark names, because BenchmarkDotNet is older than 0.11. Measure again with a "
            "newer version"
        )
    names = [json_text.member(entry, "FullName", str, f"benchmark {index}") for index, entry in enumerate(entries)]
    if entries and not means and not any("Measurements" in entry for entry in entries):
        raise ValueError(f"this file has only averages. BenchmarkDotNet {_FULL}")
    times = Counter(names)
    yield from with_unique_names(
        _benchmark(entry, name, stage, known, has_jobs=times[name] > 1, means=means)
        for entry, name in zip(entries, names, strict=True)
    )


def _benchmark(
    entry: Mapping[str, Any], full_name: str, stage: str, known: Mapping[str, str], *, has_jobs: bool, means: bool
) -> Benchmark:
    job = _job(entry) if has_jobs else ""
    name = f"{full_name} [{job}]" if job else full_name
    place = f"benchmark {name!r}"
    statistics = entry.get("Statistics")
    runs: list[Series]
    if means and "Measurements" not in entry and isinstance(statistics, dict):
        runs = [np.array([json_text.number(statistics.get("Mean"), f"{place}, 'Mean'") * SECONDS["ns"]])]
    else:
        runs = list(_runs(entry, stage, place))
    return Benchmark.of_series(
        name=name,
        benchmark=full_name,
        series=runs,
        conditions=of_runs(known, len(runs)),
        parameters=_parameters(entry) | ({"job": job} if job else {}),
        failures=() if runs else (Failure({}, "no measurement of the workload"),),
    )


def _job(entry: Mapping[str, Any]) -> str:
    """Return the job in a display text such as `Type.Method: Job [parameters]`."""
    job = str(entry.get("DisplayInfo", "")).partition(": ")[2]
    return job.rpartition(" [")[0] if job.endswith("]") and " [" in job else job


def _parameters(entry: Mapping[str, Any]) -> dict[str, str]:
    """Return the parameters in a text such as `N=10&Text=a`."""
    pairs = str(entry.get("Parameters") or "").split("&")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def _runs(entry: Mapping[str, Any], stage: str, place: str) -> Iterator[Series]:
    """Yield the runs, in order of launch and iteration."""
    launches: dict[int, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    raw = json_text.member(entry, "Measurements", list, place) if entry.get("Measurements") is not None else []
    for index, measurement in enumerate(raw):
        mode = json_text.member(measurement, "IterationMode", str, f"{place}, measurement {index}")
        stage_of_file = measurement.get("IterationStage")
        stage_of_one = STAGES.get((mode, stage_of_file if stage_of_file is None else str(stage_of_file)))
        if stage_of_one is None:
            continue
        launch, iteration = (
            json_text.whole_number(measurement.get(key), key, f"{place}, measurement {index}")
            for key in ("LaunchIndex", "IterationIndex")
        )
        place_of_one = f"{place}, launch {launch}, iteration {iteration}"
        values_of_stage = launches[launch][stage_of_one]
        if iteration in values_of_stage:
            raise ValueError(f"{place_of_one} appears twice")
        values_of_stage[iteration] = _seconds(measurement, place_of_one)
    for _launch, of_launch in sorted(launches.items()):
        values = {name: np.array([of[at] for at in sorted(of)]) for name, of in of_launch.items()}
        if stage == RESULT and RESULT in values:
            yield values[RESULT]
        elif ACTUAL in values:
            has_overhead = stage == RESULT and OVERHEAD in values
            with np.errstate(all="ignore"):  # invalid values are refused below, with their place
                yield np.maximum(values[ACTUAL] - values[OVERHEAD].mean(), 0) if has_overhead else values[ACTUAL]


def _seconds(measurement: Mapping[str, Any], place: str) -> float:
    """Return the mean time of one operation, in seconds."""
    nanoseconds, operations = (
        json_text.number(measurement.get(key), f"{place}, {key!r}") for key in ("Nanoseconds", "Operations")
    )
    if not operations > 0:
        raise ValueError(f"{place}: the number of operations is {operations:g}, but must be above 0")
    return nanoseconds * SECONDS["ns"] / operations
