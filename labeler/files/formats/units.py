"""Units of measurements: times are converted to seconds, and other measurements keep their unit."""

import math
import re

import numpy as np

from analysis.arrays import Series
from analysis.runs.benchmark import HIGHER, LOWER, UNKNOWN

MAX_UNIT = 50  # longer units are not interpreted
_RATE = re.compile(r"ops/.+|.+(/|per )\s*(s|sec|second)|[kmg]?i?(b|bit|byte|op)s?ps|hz|fps|rps|qps", re.IGNORECASE)
_GROUPS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)
_PER_OPERATION = re.compile(r"(.*?)\s*(?:/|per )\s*(?:op|ops|iter|iteration|call|run|operation)s?", re.IGNORECASE)
_WORDS = {"nanosecond": "ns", "microsecond": "us", "millisecond": "ms", "second": "s", "sec": "s", "minute": "min"}

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0}


def to_seconds(unit: str) -> tuple[str, float]:
    """Return the unit in which values are stored, and the factor that converts values to this unit.

    Examples
    --------
    >>> to_seconds("ms"), to_seconds("byte")
    (('s', 0.001), ('byte', 1.0))
    """
    return ("s", SECONDS[unit]) if unit in SECONDS else (unit, 1.0)


def stored_unit(unit: str) -> tuple[str, float, str]:
    """Like `to_seconds`, also for units in words or per operation; and the better direction.

    Examples
    --------
    >>> stored_unit("ns/iter"), stored_unit("ops/sec"), stored_unit("MB")
    (('s', 1e-09, 'lower'), ('ops/sec', 1.0, 'higher'), ('MB', 1.0, ''))
    """
    if len(unit) > MAX_UNIT:
        return unit, 1.0, UNKNOWN
    match = _PER_OPERATION.fullmatch(unit)
    time = (match[1] if match else unit).strip()
    time = _WORDS.get(time.lower().removesuffix("s"), time)
    if time in SECONDS:
        return "s", SECONDS[time], LOWER
    return unit, 1.0, direction(unit)


def direction(unit: str) -> str:
    """Return whether lower or higher values are better: lower for seconds, higher for rates, otherwise "" (unknown).

    Examples
    --------
    >>> direction("s"), direction("ops/ms"), direction("MB/s"), direction("widgets")
    ('lower', 'higher', 'higher', '')
    """
    if unit == "s":
        return LOWER
    return HIGHER if len(unit) <= MAX_UNIT and _RATE.fullmatch(unit) else UNKNOWN


def scaled(series: Series, factor: float) -> Series:
    """Convert measurements to the stored unit; a value that overflows becomes infinite, which readers refuse."""
    with np.errstate(over="ignore"):
        return series * factor


def finite(text: str, place: str) -> float:
    """Parse a number, which may have separators as in `16,092.5`; raise ValueError if the text is not a number."""
    try:
        value = float(text.replace(",", "") if _GROUPS.fullmatch(text) else text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{place}: {text[:30]!r} is not a finite number")
    return value
