"""Read JSON files that keep all values: JMH, hyperfine, nanobench, pyperf, pytest-benchmark, and lists of runs.

Each `detect_…` and `read_…` is a function of a row in `labeler.files.formats.known.FORMATS`.
"""

import math
import re
import reprlib
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from analysis.arrays import Series
from analysis.runs.benchmark import TIME, Benchmark, Failure
from labeler.files.formats import json_text
from labeler.files.formats.building import with_parameters, with_unique_names
from labeler.files.formats.conditions import machine, of_each_run, of_runs, time_in_utc
from labeler.files.formats.json_text import object_or_empty
from labeler.files.formats.units import SECONDS, scaled

JMH_TIMES = SECONDS | {"hr": 3600.0, "day": 86400.0}  # the units that JMH writes before "/op"
# beginnings of `-rf csv`, `scsv`, `text` and the printed progress
_JMH_AGGREGATES = re.compile(rb'"Benchmark"[,;]"Mode"|Benchmark\s[^\n]*\bMode\s+(Cnt|Samples)\s|# JMH version:')
_HYPERFINE = re.compile(rb'\{\s*"results"\s*:\s*\[\s*(\{\s*"command"|\]\s*\})')
_MEMORY = "memory_usage_byte"
_HYPERFINE_CSV = b"command,mean,stddev,median,user,system,min,max"
_NANOBENCH = re.compile(rb'\{\s*"results"\s*:\s*\[\s*\{\s*"title"\s*:')
PYPERF_VERSIONS = ("1.0", 6)
_ARCHITECTURE = re.compile(r"-(x86_64|amd64|aarch64|arm64|i[3-6]86|armv\w+|ppc64le|s390x|riscv64)\b", re.IGNORECASE)


def detect_icpe(_name: str, content: bytes) -> bool:
    """Return whether the content is a JSON list that begins with a list."""
    head = json_text.beginning(content)
    return head[:1] == b"[" and head[1:].lstrip()[:1] == b"["


def read_icpe(name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the only benchmark of a file of the ICPE '23 data challenge: a list of runs, each a list of seconds.

    The file name has the application, the method and optional parameters: `org__project#method#k=v&k=v.json`.
    """
    runs = json_text.parse(content)
    if not isinstance(runs, list) or not all(isinstance(run, list) for run in runs):
        raise ValueError("this is not a list of runs, each a list of numbers (ICPE '23 format)")
    stem = PurePath(name).name.removesuffix(".json")
    application, _, rest = stem.partition("#")
    method, _, parameters = rest.partition("#")
    may_hold_booleans = b"u" in content or b"s" in content  # letters of true and false
    yield Benchmark.of_series(
        name=stem,
        benchmark=f"{method}#{parameters}" if parameters else method or stem,
        application=application.replace("__", "/", 1) if rest else "",
        series=tuple(
            json_text.series(run, f"run {index}", may_hold_booleans=may_hold_booleans) for index, run in enumerate(runs)
        ),
        parameters=dict(pair.split("=", 1) for pair in parameters.split("&") if "=" in pair),
    )


def detect_jmh(_name: str, content: bytes) -> bool:
    """Also return True for output of JMH in another format, which the reader refuses with an explanation."""
    head = json_text.beginning(content, 1000)
    if _JMH_AGGREGATES.match(head):
        return True
    is_list_of_objects = head[:1] == b"[" and head[1:].lstrip()[:1] == b"{"
    return is_list_of_objects and json_text.contains_keys(content, "primaryMetric", "benchmark")


def read_jmh(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read output of JMH (`-rf json`), a list of benchmarks; `primaryMetric.rawData` has a list of numbers per fork.

    A fork is a run. A benchmark is identified by its name, its parameters, its mode and, if there are several threads,
    their number. In mode `sample`, an iteration is a histogram, `rawDataHistogram[fork][iteration] = [[value, count],
    ...]`. Its measurement is the mean of its values, which JMH calls the score. Single values are not used, because a
    histogram does not show when each value was measured.
    """
    if _JMH_AGGREGATES.match(json_text.beginning(content, 1000)):
        raise ValueError("this file has only averages. JMH saves all measurements with -rf json")
    entries = json_text.parse(content)
    if not isinstance(entries, list):
        raise ValueError("this is not a list of benchmarks, as JMH writes it with -rf json")
    benchmarks = (_of_jmh(entry, f"benchmark {index}") for index, entry in enumerate(entries))
    yield from with_unique_names(benchmarks, advice=". Save the results of each JVM in a separate file")


def _of_jmh(entry: Any, place: str) -> Benchmark:
    method = json_text.member(entry, "benchmark", str, place)
    given = json_text.member(entry, "params", dict, place) if "params" in entry else {}
    parameters = {name: str(value) for name, value in given.items()}
    operation = with_parameters(method, parameters)
    name = operation + _mode_and_threads(entry, place)
    place = f"benchmark {name!r}"
    metric = json_text.member(entry, "primaryMetric", dict, place)
    unit = json_text.member(metric, "scoreUnit", str, place)
    time, per, _operation = unit.partition("/op")
    is_time = bool(per) and time in JMH_TIMES
    factor = JMH_TIMES[time] if is_time else 1.0
    series = tuple(scaled(run, factor) for run in _jmh_runs(metric, place))
    return Benchmark.of_series(
        name=name,
        benchmark=operation,
        series=series,
        conditions=of_runs(machine(runtime=[entry.get("vmName"), entry.get("jdkVersion")]), len(series)),
        unit="s" if is_time else unit,
        better="higher" if unit.startswith("ops/") or entry.get("mode") == "thrpt" else "lower",
        parameters=parameters,
    )


def _mode_and_threads(entry: Mapping[str, Any], place: str) -> str:
    """Return the last part of a benchmark's name, such as " [thrpt, 2 threads]"."""
    threads = json_text.whole_number(entry.get("threads", 1), "threads", place)
    words = [json_text.member(entry, "mode", str, place)] if "mode" in entry else []
    words += [f"{threads} threads"] if threads != 1 else []
    return f" [{', '.join(words)}]" if words else ""


def _jmh_runs(metric: Mapping[str, Any], place: str) -> Iterator[Series]:
    key = "rawData" if metric.get("rawData") else "rawDataHistogram"
    if not metric.get(key):
        raise ValueError(f"{place} has only averages. JMH saves the measurements with -Djmh.json.rawData=true")
    for index, run in enumerate(json_text.member(metric, key, list, place)):
        place_of_run = f"{place}, run {index}"
        if not isinstance(run, list):
            raise ValueError(f"{place_of_run}: {reprlib.repr(run)} is not a list")
        if key == "rawDataHistogram":
            run = [_mean(histogram, f"{place_of_run}, iteration {at}") for at, histogram in enumerate(run)]
        yield json_text.series(run, place_of_run)


def _mean(histogram: Any, place: str) -> float:
    """Return the mean of the values in a histogram, weighted by their counts."""
    if not isinstance(histogram, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in histogram):
        raise ValueError(f"{place}: {reprlib.repr(histogram)} is not a list of values with their counts")
    values, counts = (
        np.array([json_text.number(pair[which], place) for pair in histogram], dtype=np.float64) for which in (0, 1)
    )
    if not len(counts) or not (counts > 0).all():
        raise ValueError(f"{place}: {reprlib.repr(histogram)} needs a count above 0 for each value")
    with np.errstate(all="ignore"):  # invalid values are refused later, with their place
        return float((values * (counts / counts.sum())).sum())


def detect_hyperfine(_name: str, content: bytes) -> bool:
    """Also return True for `--export-csv`, which the reader refuses with an explanation."""
    head = json_text.beginning(content)
    return head.startswith(_HYPERFINE_CSV) or _HYPERFINE.match(head) is not None


def read_hyperfine(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the commands of hyperfine (`--export-json`) from `results[].times`, in seconds.

    Each time is a run, because a separate process measured it. The largest memory of each process is a benchmark of its
    own. A process whose exit code is not 0 (`--ignore-failure`) is a failure, and its numbers are not used.
    """
    if json_text.beginning(content).startswith(_HYPERFINE_CSV):
        raise ValueError(
            "this file has only averages. hyperfine saves the time of each process with --export-json FILE"
        )
    entries = json_text.member(json_text.parse(content), "results", list, "the file")
    benchmarks = (one for index, entry in enumerate(entries) for one in _of_hyperfine(entry, f"result {index}"))
    yield from with_unique_names(benchmarks, advice="; give them different names with --command-name")


def _of_hyperfine(entry: Any, place: str) -> Iterator[Benchmark]:
    command = json_text.member(entry, "command", str, place)
    given = json_text.member(entry, "parameters", dict, place) if entry.get("parameters") is not None else {}
    parameters = {str(key): str(value) for key, value in given.items()}
    name = with_parameters(command, parameters)
    place = f"benchmark {name!r}"
    if "times" not in entry:
        raise ValueError(f"{place} has only averages. hyperfine saves all times with --export-json FILE")
    raw = json_text.member(entry, "times", list, place)
    times = [json_text.number(time, f"{place}, run {run}") for run, time in enumerate(raw)]
    codes = json_text.member(entry, "exit_codes", list, place) if "exit_codes" in entry else [0] * len(times)
    if len(codes) != len(times):
        raise ValueError(f"{place}: 'times' and 'exit_codes' differ in length ({len(times)} and {len(codes)})")
    reasons = [_reason_of_exit(code, f"{place}, run {run}") for run, code in enumerate(codes)]
    good = [run for run, reason in enumerate(reasons) if not reason]
    conditions = {"run": tuple(map(str, good))}
    failures = tuple(Failure({"run": str(run)}, reason) for run, reason in enumerate(reasons) if reason)
    yield Benchmark.of_series(
        name, [[times[run]] for run in good], parameters=parameters, conditions=conditions, failures=failures
    )
    memory = entry.get(_MEMORY)  # not in every version
    if not memory:
        return
    if not isinstance(memory, list) or len(memory) != len(times):
        raise ValueError(f"{place}: {_MEMORY!r} is not a list of {len(times)} numbers, one for each time")
    bytes_used = [json_text.number(value, f"{place}, run {run}, {_MEMORY!r}") for run, value in enumerate(memory)]
    yield Benchmark.of_series(
        f"{name} [memory]", [[bytes_used[run]] for run in good], unit="byte", benchmark=name, parameters=parameters,
        conditions=conditions, failures=failures,
    )  # fmt: skip


def _reason_of_exit(code: Any, place: str) -> str:
    """Return the reason why a process failed; return "" if the process succeeded."""
    if code is None:
        return "ended by a signal"
    if isinstance(code, bool) or not isinstance(code, int):
        raise ValueError(f"{place}: exit code {reprlib.repr(code)} is not a whole number")
    return f"exit code {code}" if code else ""


def detect_nanobench(_name: str, content: bytes) -> bool:
    """Return whether the content is a JSON object that begins with results that have titles."""
    return _NANOBENCH.match(json_text.beginning(content)) is not None and b'"name"' in content


def read_nanobench(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read output of nanobench (template `json`) from `results[].measurements[].elapsed`, in seconds per execution.

    A file is a run, and an epoch is an iteration. nanobench also calls the executions within an epoch iterations, and
    stores only their mean. Times are divided by the size of the `batch`, as in nanobench's own table.
    """
    entries = json_text.member(json_text.parse(content), "results", list, "the file")
    yield from with_unique_names(_of_nanobench(entry, f"result {at}") for at, entry in enumerate(entries))


def _of_nanobench(entry: Any, place: str) -> Benchmark:
    title, name = (json_text.member(entry, key, str, place) for key in ("title", "name"))
    full_name = name if title in ("", "benchmark") else f"{title} / {name}"  # the default title
    place = f"benchmark {full_name!r}"
    if "measurements" not in entry:
        raise ValueError(f"{place} has only averages. nanobench saves all epochs with its template json()")
    epochs = json_text.member(entry, "measurements", list, place)
    elapsed = [
        json_text.number(object_or_empty(epoch).get("elapsed"), f"{place}, epoch {at}, 'elapsed'")
        for at, epoch in enumerate(epochs)
    ]
    batch = json_text.number(entry.get("batch", 1), f"{place}, 'batch'")
    if not batch > 0:
        raise ValueError(f"{place}: the batch is {batch:g}, but must be above 0")
    return Benchmark.of_series(full_name, [scaled(json_text.series(elapsed, place), 1 / batch)])


def detect_pyperf(_name: str, content: bytes) -> bool:
    """Return whether the content has the keys of this format, and no key that only mitata writes."""
    return json_text.is_object_with(content, "benchmarks", "runs", "version") and b'"layout"' not in content


def read_pyperf(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read output of pyperf (`-o FILE.json`) from `benchmarks[].runs[].values`, already divided by the loops.

    Runs without values only calibrated the loops, and warmups are not measurements. Metadata of all runs may be stored
    in the benchmark, and metadata of all benchmarks may be stored in the file.
    """
    document = json_text.parse(content)
    entries = json_text.member(document, "benchmarks", list, "the file")
    if document.get("version") not in PYPERF_VERSIONS:
        raise ValueError(
            f"version {document.get('version')!r} of pyperf's format is not supported. Convert the file with: "
            "python -m pyperf convert FILE -o NEW.json"
        )
    of_file = _metadata(document, "the file")
    yield from with_unique_names(
        _of_pyperf(entry, of_file, f"benchmark {index}") for index, entry in enumerate(json_text.used_up(entries))
    )


def _metadata(holder: Any, place: str) -> Mapping[str, Any]:
    return json_text.member(holder, "metadata", dict, place) if "metadata" in holder else {}


def _of_pyperf(entry: Any, of_file: Mapping[str, Any], place: str) -> Benchmark:
    runs = json_text.member(entry, "runs", list, place)
    of_benchmark = {**of_file, **_metadata(entry, place)}
    if isinstance(of_benchmark.get("name"), str):
        place = f"benchmark {of_benchmark['name']!r}"
    series: list[tuple[list[Any], str]] = []
    metadata = []
    for index, run in enumerate(runs):
        place_of_run = f"{place}, run {index}"
        if not isinstance(run, dict):
            raise ValueError(f"{place_of_run}: the run is not an object")
        if run.get("values"):
            series.append((json_text.member(run, "values", list, place_of_run), place_of_run))
            of_run = _metadata(run, place_of_run)
            metadata.append({**of_benchmark, **of_run} if of_run else of_benchmark)
    if not series:
        raise ValueError(
            f"{place} has no values, only calibration. Measure without --calibrate-loops and --calibrate-warmups, and "
            f"save all values with -o FILE.json"
        )
    values = json_text.all_series(series)
    name = json_text.member(metadata[0], "name", str, place)
    units = sorted({str(of_run.get("unit", "second")) for of_run in metadata})
    if len(units) > 1:
        raise ValueError(f"benchmark {name!r} has more than one unit: {', '.join(map(repr, units))}")
    usual = _machine_of_pyperf(of_benchmark)
    machines = [
        usual
        if of_run is of_benchmark or all(of_run.get(key) is of_benchmark.get(key) for key in _OF_MACHINE)
        else _machine_of_pyperf(of_run)
        for of_run in metadata
    ]
    conditions = of_each_run([
        {TIME: time_in_utc(of_run.get("date")), **machine_of_run}
        for of_run, machine_of_run in zip(metadata, machines, strict=True)
    ])  # fmt: skip
    return Benchmark.of_series(name, values, unit="s" if units[0] == "second" else units[0], conditions=conditions)


_OF_MACHINE = ("platform", "cpu_model_name", "python_implementation", "python_version", "hostname")


def _machine_of_pyperf(metadata: Mapping[str, Any]) -> dict[str, str]:
    architecture = _ARCHITECTURE.search(str(metadata.get("platform", "")))
    return machine(
        cpu=metadata.get("cpu_model_name"), architecture=architecture[1] if architecture else None,
        runtime=[metadata.get("python_implementation"), metadata.get("python_version")], host=metadata.get("hostname"),
    )  # fmt: skip


def detect_pytest(_name: str, content: bytes) -> bool:
    return json_text.is_object_with(content, "benchmarks", "machine_info", "commit_info")


def read_pytest(_name: str, content: bytes, _columns: Mapping[str, str], *, means: bool = False) -> Iterator[Benchmark]:
    """Read output of pytest-benchmark from `benchmarks[].stats.data`, the seconds per execution of each round.

    A file is a run, and a round is an iteration. With `means`, the mean is the only value of a run whose file has only
    statistics.
    """
    document = json_text.parse(content)
    entries = json_text.member(document, "benchmarks", list, "the file")
    info = object_or_empty(document.get("machine_info"))
    conditions = {TIME: time_in_utc(document.get("datetime"))} | machine(
        cpu=object_or_empty(info.get("cpu")).get("brand_raw") or info.get("processor"),
        architecture=info.get("machine"), runtime=[info.get("python_implementation"), info.get("python_version")],
        host=info.get("node"),
    )  # fmt: skip
    yield from with_unique_names(
        _of_pytest(entry, f"benchmark {index}", conditions, means=means) for index, entry in enumerate(entries)
    )


def _of_pytest(entry: Any, place: str, conditions: Mapping[str, str], *, means: bool) -> Benchmark:
    name = json_text.member(entry, "fullname", str, place)
    place = f"benchmark {name!r}"
    parameters = json_text.member(entry, "params", dict, place) if entry.get("params") is not None else {}
    if entry.get("stats", ...) is None:
        return Benchmark(name, (), failures=(Failure({}, "'stats' is null"),))
    stats = json_text.member(entry, "stats", dict, place)
    if means and "data" not in stats and "mean" in stats:
        stats = {"data": [stats["mean"]]}
    if "data" not in stats:
        raise ValueError(
            f"{place} has only statistics. pytest-benchmark saves the measurements with --benchmark-save-data beside "
            "--benchmark-autosave or --benchmark-save=NAME, or with --benchmark-json=FILE"
        )
    data = [] if stats["data"] is None else json_text.member(stats, "data", list, place)
    is_null = None in data
    if is_null or all(isinstance(value, float) and math.isnan(value) for value in data):
        why = "a round has no time" if data else "'data' is empty"
        return Benchmark(name, (), failures=(Failure({}, why),))
    return Benchmark.of_series(
        name=name,
        series=(json_text.series(data, f"{place}, run 0"),),
        conditions=of_runs(conditions, 1),
        parameters={str(key): str(value) for key, value in parameters.items()},
    )
