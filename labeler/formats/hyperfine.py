"""Read the JSON of hyperfine (`--export-json`), which has `results[].times` in seconds.

Each time is a run, because a separate process measured it.

If the exit code of a process is not 0 (`--ignore-failure`), the process is a failure, and its time is not used.
"""

import re
import reprlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from analysis.benchmark import Benchmark, Failure
from labeler.formats import json_text
from labeler.formats.naming import with_parameters, with_unique_names

_JSON = re.compile(rb'\{\s*"results"\s*:\s*\[\s*(\{\s*"command"|\]\s*\})')
_CSV = b"command,mean,stddev,median,user,system,min,max"


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content is a JSON object that begins with results of commands, or output of `--export-csv`."""
    head = json_text.first_signs(content)
    return head.startswith(_CSV) or _JSON.match(head) is not None


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the commands with their parameters.

    If the content is invalid, raise ValueError with the command and run.
    """
    if json_text.first_signs(content).startswith(_CSV):
        raise ValueError(
            "this file has only averages. hyperfine saves the time of each process with --export-json FILE"
        )
    entries = json_text.member(json_text.parse(content), "results", list, "the file")
    benchmarks = (_benchmark(entry, f"result {index}") for index, entry in enumerate(entries))
    yield from with_unique_names(benchmarks, advice="give them different names with --command-name")


def _benchmark(entry: Any, place: str) -> Benchmark:
    command = json_text.member(entry, "command", str, place)
    parameters = json_text.member(entry, "parameters", dict, place) if entry.get("parameters") is not None else {}
    told = {str(key): str(value) for key, value in parameters.items()}
    name = with_parameters(command, told)
    place = f"benchmark {name!r}"
    if "times" not in entry:
        raise ValueError(f"{place} has only averages. hyperfine saves all times with --export-json FILE")
    told_times = json_text.member(entry, "times", list, place)
    times = [json_text.number(time, f"{place}, run {run}") for run, time in enumerate(told_times)]
    codes = json_text.member(entry, "exit_codes", list, place) if "exit_codes" in entry else [0] * len(times)
    if len(codes) != len(times):
        raise ValueError(f"{place}: 'times' and 'exit_codes' differ in length ({len(times)} and {len(codes)})")
    reasons = [_why_not(code, f"{place}, run {run}") for run, code in enumerate(codes)]
    good = [run for run, reason in enumerate(reasons) if not reason]
    return Benchmark.of_series(
        name=name,
        series=tuple(np.array([times[run]]) for run in good),
        parameters=told,
        conditions={"run": tuple(map(str, good))},
        failures=tuple(Failure({"run": str(run)}, reason) for run, reason in enumerate(reasons) if reason),
    )


def _why_not(code: Any, place: str) -> str:
    """Return the reason why a process failed; return "" if the process succeeded."""
    if code is None:
        return "ended by a signal"
    if isinstance(code, bool) or not isinstance(code, int):
        raise ValueError(f"{place}: exit code {reprlib.repr(code)} is not a whole number")
    return f"exit code {code}" if code else ""
