"""Read the JSON of JMH (`-rf json`).

The file is a list of benchmarks. `primaryMetric.rawData` is a list of forks, and each fork is a list of iterations. A
fork is a run. A benchmark is identified by its name, its parameters, its mode and, if there are several threads, their
number. In mode `sample`, an iteration is a histogram, `rawDataHistogram[fork][iteration] = [[value, count], ...]`. The
measurement of such an iteration is the mean of its values, which JMH calls the score. Single values are not used,
because a histogram does not show when each value was measured.
"""

import re
import reprlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from analysis.benchmark import Benchmark
from labeler.formats import json_text
from labeler.formats.machine import machine, of_runs
from labeler.formats.naming import with_parameters
from labeler.formats.units import SECONDS, scaled
from labeler.model import Series

TIMES = SECONDS | {"hr": 3600.0, "day": 86400.0}  # the units that JMH writes before "/op"
# beginnings of `-rf csv`, `scsv`, `text` and the printed progress
_AGGREGATES = re.compile(rb'"Benchmark"[,;]"Mode"|Benchmark\s[^\n]*\bMode\s+(Cnt|Samples)\s|# JMH version:')


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content is a JSON list with the keys of this format, or output of JMH in another format."""
    head = json_text.first_signs(content, 1000)
    if _AGGREGATES.match(head):
        return True
    is_list_of_objects = head[:1] == b"[" and head[1:].lstrip()[:1] == b"{"
    return is_list_of_objects and b'"primaryMetric"' in content and b'"benchmark"' in content


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the benchmarks of the file.

    If the content is invalid, raise ValueError with the benchmark, run and iteration.
    """
    if _AGGREGATES.match(json_text.first_signs(content, 1000)):
        raise ValueError("this file has only averages. JMH saves all measurements with -rf json")
    entries = json_text.parse(content)
    if not isinstance(entries, list):
        raise ValueError("this is not a list of benchmarks, as JMH writes it with -rf json")
    names = set()
    for index, entry in enumerate(entries):
        benchmark = _benchmark(entry, f"benchmark {index}")
        if benchmark.name in names:
            raise ValueError(
                f"benchmark {benchmark.name!r} appears twice. Save the results of each JVM in a separate file"
            )
        names.add(benchmark.name)
        yield benchmark


def _benchmark(entry: Any, place: str) -> Benchmark:
    method = json_text.member(entry, "benchmark", str, place)
    parameters = json_text.member(entry, "params", dict, place) if "params" in entry else {}
    told = {name: str(value) for name, value in parameters.items()}
    operation = with_parameters(method, told)
    name = operation + _how(entry, place)
    place = f"benchmark {name!r}"
    metric = json_text.member(entry, "primaryMetric", dict, place)
    unit = json_text.member(metric, "scoreUnit", str, place)
    time, per, _operation = unit.partition("/op")
    is_time = bool(per) and time in TIMES
    factor = TIMES[time] if is_time else 1.0
    series = tuple(scaled(run, factor) for run in _runs(metric, place))
    known = machine(runtime=[entry.get("vmName"), entry.get("jdkVersion")])
    return Benchmark.of_series(
        name=name,
        benchmark=operation,
        series=series,
        conditions=of_runs(known, len(series)),
        unit="s" if is_time else unit,
        better="higher" if unit.startswith("ops/") or entry.get("mode") == "thrpt" else "lower",
        parameters=told,
    )


def _how(entry: Mapping[str, Any], place: str) -> str:
    """Return the mode and the number of threads as the last part of a benchmark's name."""
    threads = entry.get("threads", 1)
    if isinstance(threads, bool) or not isinstance(threads, int):
        raise ValueError(f"{place}: 'threads' is {reprlib.repr(threads)}, not a whole number")
    words = [json_text.member(entry, "mode", str, place)] if "mode" in entry else []
    words += [f"{threads} threads"] if threads != 1 else []
    return f" [{', '.join(words)}]" if words else ""


def _runs(metric: Mapping[str, Any], place: str) -> Iterator[Series]:
    key = "rawData" if metric.get("rawData") else "rawDataHistogram"
    if not metric.get(key):
        raise ValueError(f"{place} has only averages. JMH saves the measurements with -Djmh.json.rawData=true")
    for index, run in enumerate(json_text.member(metric, key, list, place)):
        where = f"{place}, run {index}"
        if not isinstance(run, list):
            raise ValueError(f"{where}: {reprlib.repr(run)} is not a list")
        if key == "rawDataHistogram":
            run = [_mean(histogram, f"{where}, iteration {at}") for at, histogram in enumerate(run)]
        yield json_text.series(run, where)


def _mean(histogram: Any, place: str) -> float:
    """Return the mean of the values in a histogram, weighted by their counts."""
    if not isinstance(histogram, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in histogram):
        raise ValueError(f"{place}: {reprlib.repr(histogram)} is not a list of values with their counts")
    values, counts = (
        np.array([json_text.number(pair[which], place) for pair in histogram], dtype=np.float64) for which in (0, 1)
    )
    if not len(counts) or not (counts > 0).all():
        raise ValueError(f"{place}: {reprlib.repr(histogram)} needs a count above 0 for each value")
    with np.errstate(all="ignore"):  # invalid values are refused below, with their place
        return float((values * (counts / counts.sum())).sum())
