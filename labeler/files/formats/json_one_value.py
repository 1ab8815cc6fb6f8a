"""Read JSON files with one number per benchmark and process, mostly a mean.

The formats are github-action-benchmark's custom tools, the Bencher Metric Format, k6, CodSpeed, mitata, tinybench (also
in vitest), BenchmarkTools.jl and PkgBenchmark.jl. A file is a run, because one process writes it. Some of these tools
also write the times of the iterations; they are not used, because the tools sort them, so their order is lost. Each
`detect_…` and `read_…` is a function of a row in `labeler.files.formats.known.FORMATS`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from analysis.runs.benchmark import (
    FAILED_RATE,
    FAILED_SHARE,
    HIGHER,
    LOWER,
    TIME,
    UNKNOWN,
    VERSION,
    Benchmark,
    Failure,
)
from labeler.files.formats import json_text
from labeler.files.formats.building import SingleValue, failed_share, from_single_values, with_unique_names
from labeler.files.formats.conditions import machine, of_runs, time_in_utc
from labeler.files.formats.json_text import object_or_empty
from labeler.files.formats.units import SECONDS, names_failures

_ACTION = re.compile(rb'\[\s*\{\s*"(name|unit|value|range|extra)"\s*:')
_BENCHER = re.compile(
    rb'\{\s*"(?:[^"\\]|\\.){1,1024}"\s*:\s*\{\s*"(?:[^"\\]|\\.){1,64}"\s*:\s*\{\s*"(lower_|upper_)?value"\s*:'
)
_MEASURES = {"latency": "ns", "throughput": "ops/s", "build-time": "s", "file-size": "byte"}  # built into Bencher
_TRENDS, _RATES = ("avg", "p(95)"), ("rate",)  # statistics that are read from the metrics of k6
_THROUGHPUT = ("http_reqs", "iterations", "data_received", "data_sent", "ws_sessions", "ws_msgs_sent",
               "ws_msgs_received", "grpc_reqs")  # fmt: skip
_DROPPED = "dropped_iterations"  # k6 leaves it out if none was dropped
_LOAD_TEST = "load test"  # what all metrics of a process measure
_VITEST = re.compile(rb'\{\s*"files"\s*:\s*\[')
_TASK = re.compile(rb'\[\s*\{\s*"(name|result)"\s*:')
_RESULTS = re.compile(rb'\[\s*\{\s*"(state|aborted)"\s*:')  # results of tinybench without names
_SAVE_TASKS = "Write all tasks with JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result })))"
GROUP, TRIAL, ESTIMATE = "BenchmarkGroup", "Trial", "TrialEstimate"
MAX_DEPTH = 50  # of nested groups
_COMMIT = re.compile("[0-9a-f]{7,64}")


def detect_action(_name: str, content: bytes) -> bool:
    """Return whether the content is a list of objects with name, unit and value, and not of JMH."""
    is_list = _ACTION.match(json_text.beginning(content)) is not None
    return (
        is_list
        and json_text.contains_keys(content, "name", "unit", "value")
        and not json_text.contains_keys(content, "primaryMetric")
    )


def read_action(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of the list."""
    entries = json_text.parse(content)
    if not isinstance(entries, list):
        raise ValueError("this is not a list of objects with name, unit and value (github-action-benchmark)")
    yield from from_single_values(_of_action(entries))


def _of_action(entries: list[Any]) -> Iterator[SingleValue]:
    for at, entry in enumerate(entries):
        name = json_text.member(entry, "name", str, f"entry {at}")
        unit = json_text.member(entry, "unit", str, f"entry {at}")
        yield name, json_text.number(entry.get("value"), f"entry {at}, 'value'"), unit


def detect_bencher(_name: str, content: bytes) -> bool:
    """Return whether the content is an object of benchmarks, each with an object of measures that have a value."""
    return _BENCHER.match(json_text.beginning(content, 4000)) is not None


def read_bencher(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read one benchmark per measure; the name includes the measure unless it is latency."""
    yield from from_single_values(_of_bencher(json_text.parse(content)))


def _of_bencher(document: Any) -> Iterator[SingleValue]:
    if not isinstance(document, dict):
        raise ValueError("this is not an object of benchmarks (Bencher Metric Format)")
    for name in document:
        for measure in json_text.member(document, name, dict, "the file"):
            metric = json_text.member(document[name], measure, dict, f"benchmark {name!r}")
            value = json_text.number(metric.get("value"), f"benchmark {name!r}, {measure!r}, 'value'")
            yield name if measure == "latency" else f"{name} [{measure}]", value, _MEASURES.get(measure, "")


def detect_k6(_name: str, content: bytes) -> bool:
    return json_text.is_object_with(content, "metrics", "iterations", "root_group")


def read_k6(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read each metric over all requests: a time as its mean and its 95th percentile, and a count as its rate.

    What failed is a share: of the requests, of the checks, and of the iterations that were dropped because no virtual
    user was free. Each threshold is a benchmark whose run failed if the threshold was crossed.
    """
    metrics = json_text.member(json_text.parse(content), "metrics", dict, "the file")
    yield from with_unique_names(_of_k6(metrics))


def _of_k6(metrics: Mapping[str, Any]) -> Iterator[Benchmark]:
    """Yield the statistics of each metric in a summary of k6.

    `--summary-export` writes the statistics directly; `handleSummary` writes them inside `values`, with a type.
    """
    for name in metrics:
        metric = json_text.member(metrics, name, dict, "the metrics")
        values = json_text.member(metric, "values", dict, f"metric {name!r}") if "values" in metric else metric
        plain = name.partition("{")[0]
        if "passes" in values and "fails" in values:
            yield _share_of_k6(name, values, plain)
        elif plain == _DROPPED:
            yield _dropped_of_k6(name, values, metrics)
        else:
            yield from _statistics_of_k6(name, metric, values)
        yield from _thresholds_of_k6(name, metric, is_summary="values" in metric)
    if _DROPPED not in metrics and "iterations" in metrics:
        yield failed_share(f"{_DROPPED} [share]", [(0, 1)], benchmark=_LOAD_TEST)


def _share_of_k6(name: str, values: Mapping[str, Any], plain: str) -> Benchmark:
    """Return a metric that counts how often something was true (`passes`) or not: of failures, or of anything else."""
    n_true, n_not = (json_text.number(values[key], f"metric {name!r}, {key!r}") for key in ("passes", "fails"))
    if plain == "checks":
        return failed_share(f"{name} [failed]", [(n_not, n_true + n_not)], benchmark=_LOAD_TEST)
    if names_failures(plain):
        return failed_share(f"{name} [share]", [(n_true, n_true + n_not)], benchmark=_LOAD_TEST)
    runs = [[n_true / (n_true + n_not)]] if n_true + n_not else []
    failures = () if runs else (Failure({}, "nothing was measured", on_purpose=True),)
    return Benchmark.of_series(
        f"{name} [share]", runs, unit="share", better=UNKNOWN, benchmark=_LOAD_TEST, failures=failures
    )


def _dropped_of_k6(name: str, values: Mapping[str, Any], metrics: Mapping[str, Any]) -> Benchmark:
    dropped = json_text.number(values.get("count"), f"metric {name!r}, 'count'")
    iterations = object_or_empty(metrics.get("iterations"))
    done = object_or_empty(iterations.get("values", iterations)).get("count", 0)
    every = dropped + json_text.number(done, "metric 'iterations', 'count'")
    return failed_share(f"{name} [share]", [(dropped, every or 1)], benchmark=_LOAD_TEST)


def _statistics_of_k6(name: str, metric: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[Benchmark]:
    plain = name.partition("{")[0]
    is_time = metric.get("contains") == "time" or ("contains" not in metric and _is_time(name))
    is_trend = "avg" in values
    for statistic in _TRENDS if is_trend else _RATES:
        if statistic in values and (is_trend or "count" in values):
            value = json_text.number(values[statistic], f"metric {name!r}, {statistic!r}")
            unit, better = ("s" if is_time else "", LOWER if is_time else UNKNOWN) if is_trend else ("1/s", UNKNOWN)
            if names_failures(plain):
                unit, better = unit if is_trend else FAILED_RATE, LOWER
            elif plain in _THROUGHPUT:
                better = HIGHER
            yield Benchmark.of_series(
                f"{name} [{statistic}]",
                [[value * SECONDS["ms"] if is_trend and is_time else value]],
                unit=unit,
                better=better,
                benchmark=_LOAD_TEST,
            )


def _thresholds_of_k6(name: str, metric: Mapping[str, Any], *, is_summary: bool) -> Iterator[Benchmark]:
    """Yield each threshold of a metric; `--summary-export` writes true if it was crossed, and `handleSummary` ok."""
    for threshold, state in object_or_empty(metric.get("thresholds")).items():
        ok = object_or_empty(state).get("ok") if is_summary or isinstance(state, dict) else state
        if not isinstance(ok, bool):
            raise ValueError(f"metric {name!r}, threshold {threshold!r}: {str(state)[:30]!r} does not say if it held")
        has_held = ok if isinstance(state, dict) else not ok
        crossed = (Failure({}, f"the threshold {threshold} was crossed"),)
        yield Benchmark.of_series(
            f"{name}: {threshold}", [[0.0]] if has_held else [], unit=FAILED_SHARE, better=LOWER,
            benchmark=_LOAD_TEST, failures=() if has_held else crossed,
        )  # fmt: skip


def _is_time(name: str) -> bool:
    """Return whether a metric of k6 without a type is a time in milliseconds."""
    metric = name.partition("{")[0]
    return metric.endswith("_duration") or (metric.startswith("http_req_") and metric != "http_req_failed")


def detect_codspeed(_name: str, content: bytes) -> bool:
    return json_text.is_object_with(content, "creator", "instrument", "benchmarks")


def read_codspeed(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the means of CodSpeed's walltime mode; a benchmark that failed is not in the file."""
    document = json_text.parse(content)
    instrument = json_text.member(document, "instrument", dict, "the file").get("type")
    if instrument != "walltime":
        raise ValueError(
            f"the file has no times, because CodSpeed measured with the instrument {str(instrument)[:30]!r}. Measure "
            "with the instrument walltime (pytest: --codspeed-mode=walltime)"
        )
    python = object_or_empty(object_or_empty(document.get("python")).get("sysconfig")).get("py_version")
    conditions = of_runs(machine(runtime=f"Python {python}" if isinstance(python, str) else ""), 1)
    entries = json_text.member(document, "benchmarks", list, "the file")
    yield from with_unique_names(_of_codspeed(entry, f"benchmark {at}", conditions) for at, entry in enumerate(entries))


def _of_codspeed(entry: Any, place: str, conditions: Mapping[str, tuple[str, ...]]) -> Benchmark:
    uri = json_text.member(entry, "uri" if "uri" in object_or_empty(entry) else "name", str, place)
    path, colons, rest = uri.partition("::")
    name = (PurePosixPath(path).name if path.startswith("/") else path) + colons + rest  # without an absolute folder
    stats = entry.get("stats")
    if not stats or not object_or_empty(stats).get("rounds", 1):
        return Benchmark.of_series(name, (), failures=(Failure({}, "no rounds"),))
    mean = json_text.number(object_or_empty(stats).get("mean_ns"), f"benchmark {name!r}, 'mean_ns'")
    return Benchmark.of_series(name, [[mean * SECONDS["ns"]]], conditions=conditions)


def detect_mitata(_name: str, content: bytes) -> bool:
    return json_text.is_object_with(content, "benchmarks", "runs", "layout")


def read_mitata(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read `avg`, in nanoseconds, of each `benchmarks[].runs[]` of mitata: one benchmark per set of arguments."""
    document = json_text.parse(content)
    entries = json_text.member(document, "benchmarks", list, "the file")
    layout = json_text.member(document, "layout", list, "the file")
    context = object_or_empty(document.get("context"))
    known = machine(
        cpu=object_or_empty(context.get("cpu")).get("name"), architecture=context.get("arch"),
        runtime=[context.get("runtime"), context.get("version")],
    )  # fmt: skip
    yield from with_unique_names(
        benchmark
        for at, entry in enumerate(entries)
        for benchmark in _of_mitata(entry, layout, f"benchmark {at}", known)
    )


def _of_mitata(entry: Any, layout: list[Any], place: str, known: Mapping[str, str]) -> Iterator[Benchmark]:
    group = _group(entry, layout)
    for run in json_text.member(entry, "runs", list, place):
        name = json_text.member(run, "name", str, place)
        full_name = f"{group} / {name}" if group else name
        if run.get("error") is not None or "stats" not in run:
            yield Benchmark(full_name, (), failures=(Failure({}, "the result is an error"),))
            continue
        stats = json_text.member(run, "stats", dict, f"benchmark {full_name!r}")
        mean = json_text.number(stats.get("avg"), f"benchmark {full_name!r}, 'avg'")
        arguments = object_or_empty(run.get("args"))
        yield Benchmark.of_series(
            full_name,
            [[mean * SECONDS["ns"]]],
            conditions=of_runs(known, 1),
            parameters={str(key): str(value) for key, value in arguments.items() if value is not None},
        )


def _group(entry: Any, layout: list[Any]) -> str:
    """Return the name of the group that contains a benchmark of mitata; return "" if it has no group."""
    at = object_or_empty(entry).get("group")
    group = layout[at] if isinstance(at, int) and 0 <= at < len(layout) else None
    return str(object_or_empty(group).get("name") or "")


def detect_tinybench(_name: str, content: bytes) -> bool:
    """Return whether the content is output of vitest, or a list of tasks of tinybench with their results."""
    head = json_text.beginning(content)
    if _VITEST.match(head):
        return json_text.contains_keys(content, "groups", "benchmarks")
    is_result = json_text.contains_keys(content, "latency") or json_text.contains_keys(content, "hz", "rme")
    return is_result and ((_TASK.match(head) and b'"result"' in content) or _RESULTS.match(head)) is not None


def read_tinybench(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the mean, in milliseconds, of each task, from tinybench alone or from `vitest bench --outputJson`."""
    document = json_text.parse(content)
    yield from with_unique_names(_of_vitest(document) if isinstance(document, dict) else _of_tasks(document))


def _of_vitest(document: Any) -> Iterator[Benchmark]:
    for at, file in enumerate(json_text.member(document, "files", list, "the file")):
        for group in json_text.member(file, "groups", list, f"file {at}"):
            group_name = json_text.member(group, "fullName", str, f"file {at}, a group")
            for task in json_text.member(group, "benchmarks", list, f"group {group_name!r}"):
                name = json_text.member(task, "name", str, f"group {group_name!r}")
                yield _of_task(f"{group_name} > {name}", task)


def _of_tasks(tasks: Any) -> Iterator[Benchmark]:
    if not isinstance(tasks, list):
        raise ValueError("this is neither output of vitest bench --outputJson nor a list of tinybench tasks")
    for at, task in enumerate(tasks):
        if isinstance(task, dict) and "name" not in task:
            raise ValueError(f"task {at} has no name. {_SAVE_TASKS}")
        name = json_text.member(task, "name", str, f"task {at}")
        yield _of_task(name, json_text.member(task, "result", dict, f"task {name!r}"))


def _of_task(name: str, result: Mapping[str, Any]) -> Benchmark:
    """Return the benchmark of a task; since tinybench 3, the statistics of the time are in `latency`."""
    statistics = json_text.member(result, "latency", dict, f"benchmark {name!r}") if "latency" in result else result
    if result.get("error") is not None or "mean" not in statistics:
        has_failed = result.get("error") is not None or result.get("state") == "errored"
        failure = Failure({}, "the result is an error") if has_failed else Failure({}, "has no mean", on_purpose=True)
        return Benchmark(name, (), failures=(failure,))
    mean = json_text.number(statistics["mean"], f"benchmark {name!r}, 'mean'")
    return Benchmark.of_series(name, [[mean * SECONDS["ms"]]])


def detect_benchmarktools(_name: str, content: bytes) -> bool:
    """Return whether the content is a JSON list that begins with versions of Julia and BenchmarkTools."""
    head = json_text.beginning(content, 1000)
    is_list = head[:1] == b"[" and head[1:].lstrip()[:1] == b"{"
    return is_list and json_text.contains_keys(head, "BenchmarkTools", "Julia")


def read_benchmarktools(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read what `BenchmarkTools.save` writes: a list of versions and results, which may be groups of results by name.

    A result is `["Trial", {"times": [...], ...}]`, whose value is the mean of its times in nanoseconds, or a
    `TrialEstimate`, which has a single value. A name joins the names from the outermost group to the result.
    """
    document = json_text.parse(content)
    if not (isinstance(document, list) and len(document) == 2 and isinstance(document[1], list)):
        raise ValueError("this is not a list of versions and results, as BenchmarkTools.save writes it")
    names = [""] if len(document[1]) == 1 else [str(at) for at in range(1, len(document[1]) + 1)]
    yield from with_unique_names(
        benchmark
        for name, result in zip(names, document[1], strict=True)
        for benchmark in _of_benchmarktools(result, name, MAX_DEPTH)
    )


def detect_pkgbenchmark(_name: str, content: bytes) -> bool:
    return json_text.is_object_with(content, "benchmarkgroup", "benchmarkconfig", "commit")


def read_pkgbenchmark(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read what `PkgBenchmark.writeresults` writes: results of BenchmarkTools as text, with commit and date."""
    document = json_text.parse(content)
    saved = json_text.member(document, "benchmarkgroup", str, "the file")
    commit = json_text.member(document, "commit", str, "the file")
    time = time_in_utc(document.get("date"))
    info = str(document.get("vinfo") or "")
    julia, cpu = (re.search(pattern, info, re.MULTILINE) for pattern in (r"^Julia Version (\S+)", r"^\s*CPU: *(.+)$"))
    conditions = machine(runtime=f"Julia {julia[1]}" if julia else "", cpu=cpu[1] if cpu else "")
    conditions[VERSION] = commit
    if time:
        conditions[TIME] = time
        if not _COMMIT.fullmatch(commit):  # such as dirty, which is another state of the files each time
            conditions[VERSION] = f"{commit} {time.removesuffix('.000000')}"
    for benchmark in read_benchmarktools(_name, saved.encode(), _columns):
        runs = tuple(replace(run, conditions={**run.conditions, **conditions}) for run in benchmark.runs)
        failures = tuple(replace(failure, conditions=conditions) for failure in benchmark.failures)
        yield replace(benchmark, runs=runs, failures=failures)


def _of_benchmarktools(result: Any, name: str, depth: int) -> Iterator[Benchmark]:
    place = f"benchmark {name!r}" if name else "the file"
    if not (isinstance(result, list) and len(result) == 2 and isinstance(result[0], str)):
        raise ValueError(f"{place}: this is not a result of BenchmarkTools")
    kind, fields = result[0].removeprefix("BenchmarkTools."), result[1]
    if kind == GROUP:
        if not depth:
            raise ValueError(f"{place}: more than {MAX_DEPTH} nested groups")
        data = json_text.member(fields, "data", dict, place)
        for key, inner in data.items():
            yield from _of_benchmarktools(inner, f"{name}/{key}" if name else key, depth - 1)
    elif kind == TRIAL:
        times = json_text.series(json_text.member(fields, "times", list, place), place)
        with np.errstate(all="ignore"):  # invalid values are refused later, with their place
            runs = [[times.mean() * SECONDS["ns"]]] if len(times) else []
        failures = () if runs else (Failure({}, "no times"),)
        yield Benchmark.of_series(name or "trial", runs, failures=failures)
    elif kind == ESTIMATE:
        time = json_text.number(object_or_empty(fields).get("time"), f"{place}, 'time'")
        yield Benchmark.of_series(name or "trial", [[time * SECONDS["ns"]]])
    else:
        raise ValueError(f"{place}: {kind!r} has no times. Save the results of run(suite)")
