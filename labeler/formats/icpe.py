"""ICPE '23 data challenge: one JSON file a benchmark, a list of runs, each a list of seconds.

The file name carries the rest: `org__project#method#k=v&k=v.json`, where the parameters may be missing.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import orjson

from labeler.model import Benchmark, Series

BOM = b"\xef\xbb\xbf"


def detect(_name: str, content: bytes) -> bool:
    """A JSON list that begins with a list."""
    head = content[:200].removeprefix(BOM).lstrip()
    return head[:1] == b"[" and head[1:].lstrip()[:1] == b"["


def read(name: str, content: bytes, _columns: Mapping[str, str]) -> Iterator[Benchmark]:
    """The one benchmark of the file; raises ValueError where it is not a list of lists of numbers."""
    runs = _json(content.removeprefix(BOM))
    if not isinstance(runs, list) or not all(isinstance(run, list) for run in runs):
        raise ValueError("expected a list of runs, each a list of numbers (ICPE '23 format)")
    stem = name.removesuffix(".json")
    application, _, rest = stem.partition("#")
    method, _, parameters = rest.partition("#")
    may_hold_booleans = b"u" in content or b"s" in content  # of true and false, which numpy would take for 1 and 0
    yield Benchmark(
        name=stem,
        benchmark=f"{method}#{parameters}" if parameters else method or stem,
        application=application.replace("__", "/", 1) if rest else "",
        runs=tuple(_series(run, index, may_hold_booleans) for index, run in enumerate(runs)),
        parameters=dict(pair.split("=", 1) for pair in parameters.split("&") if "=" in pair),
    )


def _json(content: bytes) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(content)  # also reads NaN and Infinity, so that the measurement can be named
    except UnicodeDecodeError:
        raise ValueError("not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: not JSON ({error.msg})") from None


def _series(run: list[Any], index: int, may_hold_booleans: bool) -> Series:
    if not (may_hold_booleans and any(isinstance(value, bool) for value in run)):
        try:
            found = np.array(run)
        except ValueError:  # lists of different lengths among the numbers
            found = np.array(None)
        if found.ndim == 1 and (found.dtype.kind in "fiu" or not len(run)):
            return found.astype(np.float64)
    return np.array([_number(value, index, at) for at, value in enumerate(run)])


def _number(value: Any, run: int, at: int) -> float:
    """The slow way, for whole numbers beyond 64 bits and to name what is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"run {run}, iteration {at}: {value!r} is not a number")  # noqa: TRY004 - the file's fault
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"run {run}, iteration {at}: {str(value)[:20]}... is not a finite measurement") from None
