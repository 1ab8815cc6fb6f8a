"""Read histories of benchmarks: series of TCPD, the CSV of otava, and the performance data of Perfherder.

A history has one number per version, so each number is a run. E-mail addresses in files of Perfherder are never read.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.runs.benchmark import COMMIT_DATE, HIGHER, LOWER, UNKNOWN, VERSION, Benchmark, Failure
from labeler.files.formats import json_text
from labeler.files.formats.building import with_unique_names
from labeler.files.formats.conditions import time_from_seconds, time_in_utc
from labeler.files.formats.text_table import SEPARATORS, TextTable, header, read_text_table
from labeler.files.formats.units import finite, stored_unit

Values = NDArray[np.float64]

_VERSIONS = ("commit", "version", "revision")
_OTHER_TEXTS = ("branch", "comment", "message", "author")
_OTAVA_TIME = re.compile(r"(\d{4})\.(\d{2})\.(\d{2}) (\d{1,2}:\d{2}(?::\d{2})?) ?([+-]\d{4})?")


@dataclass(frozen=True)
class Series:
    """A series of TCPD; a missing value is NaN, so that the places of all others stay as they are."""

    name: str
    values: Values
    labels: tuple[str, ...]  # what each point is called, such as a date


def detect_tcpd(_name: str, content: bytes) -> bool:
    return json_text.is_object_with(content, "n_obs", "n_dim", "series")


def read_series(content: bytes) -> Series:
    """Read a series of TCPD; raise ValueError if it is damaged or has several dimensions."""
    document = json_text.parse(content)
    name = json_text.member(document, "name", str, "the file")
    n, n_dim = (json_text.member(document, key, int, "the file") for key in ("n_obs", "n_dim"))
    if n_dim != 1:
        raise ValueError(f"series {name!r} has {n_dim} dimensions. Only series of one dimension can be compared")
    columns = json_text.member(document, "series", list, "the file")
    raw = json_text.member(columns[0], "raw", list, "series 0") if len(columns) == 1 else []
    if len(raw) != n:
        raise ValueError(f"series {name!r} has {len(raw)} values, but n_obs is {n}")
    values = [math.nan if value is None else json_text.number(value, f"point {at}") for at, value in enumerate(raw)]
    time = json_text.member({"time": {}} | document, "time", dict, "the file")
    found = time.get("raw") or time.get("index") or range(n)
    labels = tuple(map(str, found)) if len(found) == n else tuple(map(str, range(n)))
    return Series(name, np.array(values, dtype=np.float64), labels)


def read_tcpd(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read the series as a benchmark with a run per point; raise ValueError like `read_series`."""
    series = read_series(content)
    is_known = np.isfinite(series.values)
    labels = series.labels if len(set(series.labels)) == len(series.labels) else tuple(map(str, range(len(is_known))))
    yield from with_unique_names([
        Benchmark.of_series(
            series.name,
            series.values[is_known][:, None],
            unit="",
            better=UNKNOWN,
            conditions={VERSION: [label for label, known in zip(labels, is_known, strict=True) if known]},
            failures=[
                Failure({VERSION: label}, "no value", on_purpose=True)
                for label, known in zip(labels, is_known, strict=True)
                if not known
            ],
        )
    ])  # fmt: skip


def write_tcpd(name: str, values: Values, labels: tuple[str, ...]) -> str:
    """Return a series as JSON of TCPD; a missing value is null."""
    n = len(values)
    content = {
        "name": name, "longname": name, "n_obs": n, "n_dim": 1,
        "time": {"type": "string", "format": "label", "index": list(range(n)), "raw": list(labels)},
        "series": [{
            "label": "V1", "type": "float",
            "raw": [float(value) if math.isfinite(value) else None for value in values],
        }],
    }  # fmt: skip
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def detect_otava(_name: str, content: bytes) -> bool:
    """Return whether the content is a CSV table with the columns time and commit, as otava reads it."""
    names = [[name.lower() for name in header(content[:4096], separator)] for separator in SEPARATORS]
    return any("time" in found and set(_VERSIONS) & set(found) and "value" not in found for found in names)


def read_otava(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read one benchmark per column of numbers; raise ValueError with the line if a time or number is invalid."""
    table = read_text_table(content)
    rows = table.texts
    of_lower = {name.lower(): name for name in table.names}
    version = next((of_lower[name] for name in _VERSIONS if name in of_lower), None)
    if version is None or "time" not in of_lower:
        missing = "time" if version else f"{', '.join(_VERSIONS[:-1])} or {_VERSIONS[-1]}"
        raise ValueError(f"this is not a history of otava: there is no column {missing}")
    times = []
    for row, text in enumerate(rows[of_lower["time"]]):
        time = _time_of_otava(text)
        if not time:
            raise ValueError(f"line {table.line(row)}: {text!r} in column 'time' is not a time")
        times.append(time)
    metrics = [name for name in table.names if name.lower() not in ("time", *_VERSIONS, *_OTHER_TEXTS)]
    yield from with_unique_names(_metric(rows[name], name, rows[version], times, table) for name in metrics)


def _metric(
    cells: Sequence[str], name: str, versions: Sequence[str], times: Sequence[str], table: TextTable
) -> Benchmark:
    series, kept = [], []
    for row, text in enumerate(cells):
        if not text.strip():
            continue
        series.append([finite(text, f"line {table.line(row)}, column {name!r}")])
        kept.append(row)
    conditions = {VERSION: [versions[row] for row in kept], COMMIT_DATE: [times[row] for row in kept]}
    failures = () if series else (Failure({}, "no value"),)
    return Benchmark.of_series(
        name, series, unit="", better=UNKNOWN, conditions=conditions if series else {}, failures=failures
    )


def _time_of_otava(text: str) -> str:
    """Return a time as ISO 8601; otava writes 2024.01.01 3:00:00 +0100."""
    match = _OTAVA_TIME.fullmatch(text.strip())
    if match is None:
        return time_in_utc(text)
    year, month, day, clock, zone = match.groups()
    hour, _, rest = clock.partition(":")
    return time_in_utc(f"{year}-{month}-{day}T{int(hour):02}:{rest}{zone or ''}")


def detect_perfherder(_name: str, content: bytes) -> bool:
    """Return whether the content is performance data of Perfherder, by signature or as a summary."""
    is_json = json_text.beginning(content)[:1] in (b"{", b"[")
    return is_json and json_text.contains_keys(content, "push_timestamp", "revision", "value")


def read_perfherder(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read one benchmark per signature; raise ValueError with the signature if the content is invalid."""
    document = json_text.parse(content)
    if isinstance(document, dict):
        document = [{"name": name, "data": data} for name, data in document.items()]
    if not isinstance(document, list):
        raise ValueError("this is not a list of signatures with their data (Perfherder)")
    yield from with_unique_names(map(_signature, document))


def _signature(row: Any) -> Benchmark:
    name = json_text.member(row, "name", str, "the file")
    full_name = " ".join(filter(None, (str(row.get("suite") or ""), str(row.get("test") or "")))) or name
    options = row.get("extra_options") or []
    full_name = " ".join([full_name, *map(str, options)])
    place = f"signature {full_name!r}"
    points = json_text.member(row, "data", list, place)
    for point in points:
        json_text.member(point, "revision", str, place)
    ordered = sorted(points, key=lambda point: _push_time(point, place))
    unit, factor, better = stored_unit(str(row.get("measurement_unit") or ""))
    lower = row.get("lower_is_better")
    return Benchmark.of_series(
        full_name,
        [[factor * json_text.number(point.get("value"), f"{place}, value")] for point in ordered],
        unit=unit,
        better=better if lower is None else LOWER if lower else HIGHER,
        conditions={
            VERSION: [point["revision"] for point in ordered],
            COMMIT_DATE: [_push_time(point, place) for point in ordered],
        },
        failures=() if points else (Failure({}, "no value"),),
    )


def _push_time(point: Mapping[str, Any], place: str) -> str:
    """Return the time of a push; Perfherder writes seconds or a text."""
    pushed = point.get("push_timestamp")
    if isinstance(pushed, (int, float)) and not isinstance(pushed, bool):
        return time_from_seconds(pushed)
    time = time_in_utc(pushed)
    if not time:
        raise ValueError(f"{place}: push_timestamp {str(pushed)[:30]!r} is not a time")
    return time
