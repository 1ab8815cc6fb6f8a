"""Read output of tinybench, alone or in `vitest bench --outputJson`, with the mean time of each task in milliseconds.

A file is a run, because one process writes it. The only value of the run is the mean. The times of the iterations are
not used, because tinybench sorts them and their order is lost. By default, the file does not contain these times.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from analysis.benchmark import Benchmark, Failure
from labeler.formats import json_text
from labeler.formats.naming import with_unique_names
from labeler.formats.units import SECONDS

_VITEST = re.compile(rb'\{\s*"files"\s*:\s*\[')
_TASK = re.compile(rb'\[\s*\{\s*"(name|result)"\s*:')
_RESULTS = re.compile(rb'\[\s*\{\s*"(state|aborted)"\s*:')  # results without names
_SAY = "Write all tasks with JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result })))"


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content is output of vitest, or a list of tasks with their results."""
    head = json_text.first_signs(content)
    if _VITEST.match(head):
        return b'"groups"' in content and b'"benchmarks"' in content
    is_result = b'"latency"' in content or (b'"hz"' in content and b'"rme"' in content)
    return is_result and ((_TASK.match(head) and b'"result"' in content) or _RESULTS.match(head)) is not None


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the tasks of the file, one run each; if the content is invalid, raise ValueError with the task."""
    document = json_text.parse(content)
    yield from with_unique_names(_of_vitest(document) if isinstance(document, dict) else _of_tasks(document))


def _of_vitest(document: Any) -> Iterator[Benchmark]:
    for at, file in enumerate(json_text.member(document, "files", list, "the file")):
        for group in json_text.member(file, "groups", list, f"file {at}"):
            told = json_text.member(group, "fullName", str, f"file {at}, a group")
            for task in json_text.member(group, "benchmarks", list, f"group {told!r}"):
                name = json_text.member(task, "name", str, f"group {told!r}")
                yield _benchmark(f"{told} > {name}", task)


def _of_tasks(tasks: Any) -> Iterator[Benchmark]:
    if not isinstance(tasks, list):
        raise ValueError("this is neither output of vitest bench --outputJson nor a list of tinybench tasks")
    for at, task in enumerate(tasks):
        if isinstance(task, dict) and "name" not in task:
            raise ValueError(f"task {at} has no name. {_SAY}")
        name = json_text.member(task, "name", str, f"task {at}")
        yield _benchmark(name, json_text.member(task, "result", dict, f"task {name!r}"))


def _benchmark(name: str, result: Mapping[str, Any]) -> Benchmark:
    """Return the benchmark of one task.

    Since tinybench 3, the statistics of the time are in `latency`.
    """
    statistics = json_text.member(result, "latency", dict, f"benchmark {name!r}") if "latency" in result else result
    if result.get("error") is not None or "mean" not in statistics:
        has_failed = result.get("error") is not None or result.get("state") == "errored"
        failure = Failure({}, "failed") if has_failed else Failure({}, "has no mean", on_purpose=True)
        return Benchmark(name, (), failures=(failure,))
    mean = json_text.number(statistics["mean"], f"benchmark {name!r}, 'mean'")
    return Benchmark.of_series(name, [np.array([mean * SECONDS["ms"]])])
