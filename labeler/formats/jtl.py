"""Read results of JMeter as CSV (JTL), with one row per request.

A request started at `timeStamp` and took `elapsed` milliseconds.

A file is a run, because one process writes it. Each label is a benchmark, and its requests are the iterations, in the
order in which they started. Failed requests are left out and counted as one failure.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from analysis.benchmark import Benchmark, Failure
from labeler.formats import json_text
from labeler.formats.naming import with_unique_names
from labeler.formats.single_values import finite
from labeler.formats.text_table import read_text_table
from labeler.formats.units import SECONDS

COLUMNS = ("timeStamp", "elapsed", "label")
_HEAD = ",".join(COLUMNS).encode()


def detect(_name: str, content: bytes) -> bool:
    """Return whether the content is a table that begins with the columns of this format."""
    return json_text.first_signs(content).startswith(_HEAD)


def read(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the labels of the file; if the content is invalid, raise ValueError with the line."""
    table = read_text_table(content, separators=",")
    missing = [name for name in COLUMNS if name not in table.names]
    if missing:
        raise ValueError(f"column {missing[0]!r} is missing. JMeter writes it by default")
    requests: dict[str, list[tuple[float, float]]] = {}
    n_failed: dict[str, int] = {}
    for line, row in table.records():
        time_stamp, took, label = (row[name] for name in COLUMNS)
        begun = finite(time_stamp, f"line {line}, 'timeStamp'")
        elapsed = finite(took, f"line {line}, 'elapsed'")
        times = requests.setdefault(label, [])
        if row.get("success", "true").lower() != "true":
            n_failed[label] = n_failed.get(label, 0) + 1
        else:
            times.append((begun, elapsed))
    yield from with_unique_names(_benchmark(label, times, n_failed.get(label, 0)) for label, times in requests.items())


def _benchmark(label: str, times: list[tuple[float, float]], n_failed: int) -> Benchmark:
    in_order = sorted(times, key=lambda request: request[0])
    reason = f"{n_failed} of {len(times) + n_failed} requests failed"
    return Benchmark.of_series(
        label,
        [np.array([elapsed for _begun, elapsed in in_order]) * SECONDS["ms"]] if times else [],
        failures=(Failure({}, reason),) if n_failed else (),
    )
