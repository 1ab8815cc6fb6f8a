"""Read histories: series of TCPD, the CSV of otava, data of Perfherder, and data.js of github-action-benchmark.

A history has one number per version, so each number is a run. E-mail addresses in the files are never read.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.runs.benchmark import COMMIT_DATE, HIGHER, LOWER, TIME, UNKNOWN, VERSION, Benchmark, Failure
from labeler.files.formats import json_text
from labeler.files.formats.building import with_unique_names
from labeler.files.formats.conditions import of_each_run, time_from_seconds, time_in_utc
from labeler.files.formats.text_table import SEPARATORS, TextTable, header, read_text_table
from labeler.files.formats.units import finite, stored_unit

Values = NDArray[np.float64]

_VERSIONS = ("commit", "version", "revision")
_SEPARATE = (
    "branch",
    "machine",
    "host",
    "hostname",
    "runner",
    "os",
    "arch",
    "cpu",
    "python",
    "java",
    "jdk",
    "node",
    "compiler",
)
_OTHER_TEXTS = ("comment", "message", "author")
_COLUMNS_OF_TABLES = {"value", "benchmark", "name", "run", "iteration"}  # of which a history of otava has none
_DATA_JS = re.compile(rb"\A\s*window\s*\.\s*BENCHMARK_DATA\s*=\s*")
# What github-action-benchmark takes as better for each tool, if the unit does not say it; a custom tool states it.
_STATED = {"customBiggerIsBetter": HIGHER, "customSmallerIsBetter": LOWER}
_OF_TOOL = {
    "benchmarkjs": HIGHER, "pytest": HIGHER,
    **dict.fromkeys(("cargo", "go", "benchmarkluau", "googlecpp", "catch2", "julia", "jmh", "benchmarkdotnet"), LOWER),
}  # fmt: skip
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
    """Return whether the content is a CSV table with a column time, as otava reads it.

    Otava does not need a commit. Without one, the first time must be a date, because many tables have a column time.
    """
    head = content[:4096]
    for separator in SEPARATORS:
        names = [name.lower() for name in header(head, separator)]
        if "time" not in names or "value" in names:
            continue
        if set(_VERSIONS) & set(names):
            return True
        rows = head.decode("utf-8-sig", "replace").splitlines()[1:2]
        cells = rows[0].split(separator) if rows else []
        at = names.index("time")
        if len(names) > 1 and not _COLUMNS_OF_TABLES & set(names) and at < len(cells):
            return bool(_time_of_otava(cells[at].strip('"')))
    return False


def read_otava(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read one benchmark per column of numbers; raise ValueError with the line if a time or number is invalid.

    Each branch, machine and runtime has its own history. Without a column for the commit, the times are the versions.
    """
    table = read_text_table(content)
    rows = table.texts
    of_lower = {name.lower(): name for name in table.names}
    if "time" not in of_lower:
        raise ValueError("this is not a history of otava: there is no column time")
    times = []
    for row, text in enumerate(rows[of_lower["time"]]):
        time = _time_of_otava(text)
        if not time:
            raise ValueError(f"line {table.line(row)}: {text!r} in column 'time' is not a time")
        times.append(time)
    version = next((of_lower[name] for name in _VERSIONS if name in of_lower), None)
    conditions = {VERSION: rows[version or of_lower["time"]], COMMIT_DATE: times}
    conditions |= {name: rows[of_lower[name]] for name in _SEPARATE if name in of_lower}
    metrics = [name for name in table.names if name.lower() not in ("time", *_SEPARATE, *_VERSIONS, *_OTHER_TEXTS)]
    yield from with_unique_names(_metric(rows[name], name, conditions, table) for name in metrics)


def _metric(cells: Sequence[str], name: str, conditions: Mapping[str, Sequence[str]], table: TextTable) -> Benchmark:
    series, kept = [], []
    for row, text in enumerate(cells):
        if not text.strip():
            continue
        series.append([finite(text, f"line {table.line(row)}, column {name!r}")])
        kept.append(row)
    known = {condition: [texts[row].strip() for row in kept] for condition, texts in conditions.items()}
    failures = () if series else (Failure({}, "no value"),)
    return Benchmark.of_series(
        name, series, unit="", better=UNKNOWN, conditions=known if series else {}, failures=failures
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


def detect_action_history(_name: str, content: bytes) -> bool:
    """Return whether the content is data.js of github-action-benchmark, or the same data as JSON."""
    head = json_text.beginning(content, 400)
    is_one = _DATA_JS.match(head) is not None or json_text.is_object_with(content, "lastUpdate", "repoUrl")
    return is_one and json_text.contains_keys(content, "entries")


def read_action_history(_name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """Read one benchmark per name and unit, with a run per entry; raise ValueError with the place if it is damaged.

    Several suites keep their names apart. An entry without a number is a failure.
    """
    text = _DATA_JS.sub(b"", content.removeprefix(json_text.BOM), count=1).rstrip().removesuffix(b";")
    suites = json_text.member(json_text.parse(text), "entries", dict, "the file")
    found: dict[str, dict[tuple[str, str], list[_Point]]] = {}
    for suite in suites:
        prefix = f"{suite} / " if len(suites) > 1 else ""
        for at, entry in enumerate(json_text.member(suites, suite, list, "entries")):
            for name, kind, point in _points(entry, f"suite {suite!r}, entry {at}"):
                found.setdefault(prefix + name, {}).setdefault(kind, []).append(point)
    yield from with_unique_names(
        _of_points(name if len(kinds) == 1 else f"{name} [{kind[0] or 'no unit'}]", *kind, points)
        for name, kinds in found.items()
        for kind, points in kinds.items()
    )


@dataclass(frozen=True)
class _Point:
    """A number in a history, in its stored unit; None if the entry has no number."""

    value: float | None
    conditions: Mapping[str, str]


def _points(entry: Any, place: str) -> Iterator[tuple[str, tuple[str, str], _Point]]:
    """Yield the name, the unit and the better direction, and the number of each benchmark of an entry."""
    commit = json_text.member(entry, "commit", dict, place)
    conditions = {VERSION: json_text.member(commit, "id", str, f"{place}, commit")}
    dates = {COMMIT_DATE: time_in_utc(commit.get("timestamp"))}
    measured = entry.get("date")
    if isinstance(measured, (int, float)) and not isinstance(measured, bool):
        dates[TIME] = time_from_seconds(measured / 1000)
    conditions |= {name: time for name, time in dates.items() if time}
    tool = entry.get("tool")
    for bench in json_text.member(entry, "benches", list, place):
        name = json_text.member(bench, "name", str, place)
        unit, factor, better = stored_unit(json_text.member(bench, "unit", str, f"{place}, benchmark {name!r}"))
        better = _STATED.get(tool) or better or _OF_TOOL.get(tool, UNKNOWN)
        value = bench.get("value")
        if value is not None:
            value = factor * json_text.number(value, f"{place}, benchmark {name!r}, value")
        yield name, (unit, better), _Point(value if value is not None and math.isfinite(value) else None, conditions)


def _of_points(name: str, unit: str, better: str, points: Sequence[_Point]) -> Benchmark:
    known = [(point.value, point.conditions) for point in points if point.value is not None]
    return Benchmark.of_series(
        name,
        [[value] for value, _ in known],
        unit=unit,
        better=better,
        conditions=of_each_run([conditions for _, conditions in known]),
        failures=[Failure(point.conditions, "no value") for point in points if point.value is None],
    )
