"""Read JSON files of the ICPE '23 data challenge.

Each file has one benchmark. The file is a list of runs, and each run is a list of times in seconds. The file name
contains the application, the method and optional parameters: `org__project#method#k=v&k=v.json`.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePath

from analysis.benchmark import Benchmark
from labeler.formats import json_text


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content is a JSON list that begins with a list."""
    head = json_text.first_signs(content)
    return head[:1] == b"[" and head[1:].lstrip()[:1] == b"["


def read(name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the only benchmark of the file; raise ValueError if the file is not a list of lists of numbers."""
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
