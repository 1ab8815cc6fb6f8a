"""Read files that `BenchmarkTools.save` of BenchmarkTools.jl writes: a list of versions and results.

A result is `["Trial", {"times": [...], ...}]`.

Groups contain groups and trials by name. The name of a benchmark joins the names from the outermost group to the trial.
A file is a run, because one process writes it. The only value of the run is the mean of the times, in nanoseconds. The
order of the times is lost, because BenchmarkTools sorts the times of a trial. An estimate (`TrialEstimate`) is already
a single value.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from analysis.benchmark import Benchmark, Failure
from labeler.formats import json_text
from labeler.formats.naming import with_unique_names
from labeler.formats.units import SECONDS

GROUP, TRIAL, ESTIMATE = "BenchmarkGroup", "Trial", "TrialEstimate"
MAX_DEPTH = 50  # of nested groups


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content is a JSON list that begins with versions of Julia and BenchmarkTools."""
    head = json_text.first_signs(content, 1000)
    is_list = head[:1] == b"[" and head[1:].lstrip()[:1] == b"{"
    return is_list and b'"BenchmarkTools"' in head and b'"Julia"' in head


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the trials of the file; if the content is invalid, raise ValueError with the trial."""
    document = json_text.parse(content)
    if not (isinstance(document, list) and len(document) == 2 and isinstance(document[1], list)):
        raise ValueError("this is not a list of versions and results, as BenchmarkTools.save writes it")
    names = [""] if len(document[1]) == 1 else [str(at) for at in range(1, len(document[1]) + 1)]
    found = (one for name, result in zip(names, document[1], strict=True) for one in _results(result, name, MAX_DEPTH))
    yield from with_unique_names(found)


def _results(result: Any, name: str, depth: int) -> Iterator[Benchmark]:
    place = f"benchmark {name!r}" if name else "the file"
    if not (isinstance(result, list) and len(result) == 2 and isinstance(result[0], str)):
        raise ValueError(f"{place}: this is not a result of BenchmarkTools")
    kind, fields = result[0].removeprefix("BenchmarkTools."), result[1]
    if kind == GROUP:
        if not depth:
            raise ValueError(f"{place}: more than {MAX_DEPTH} nested groups")
        data = json_text.member(fields, "data", dict, place)
        for key, inner in data.items():
            yield from _results(inner, f"{name}/{key}" if name else key, depth - 1)
    elif kind == TRIAL:
        times = json_text.series(json_text.member(fields, "times", list, place), place)
        with np.errstate(all="ignore"):  # invalid values are refused below, with their place
            runs = [[times.mean() * SECONDS["ns"]]] if len(times) else []
        failures = () if runs else (Failure({}, "no times"),)
        yield Benchmark.of_series(name or "trial", runs, failures=failures)
    elif kind == ESTIMATE:
        time = json_text.number(fields.get("time") if isinstance(fields, dict) else None, f"{place}, 'time'")
        yield Benchmark.of_series(name or "trial", [[time * SECONDS["ns"]]])
    else:
        raise ValueError(f"{place}: {kind!r} has no times. Save the results of run(suite)")
