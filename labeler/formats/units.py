"""Units of measurements.

Times are converted to seconds; other measurements keep their unit.
"""

import re

import numpy as np

from analysis.benchmark import HIGHER, LOWER, UNKNOWN
from labeler.model import Series

MAX_UNIT = 50  # longer units are not interpreted
_RATE = re.compile(r"ops/.+|.+(/|per )\s*(s|sec|second)|[kmg]?i?(b|bit|byte|op)s?ps|hz|fps|rps|qps", re.IGNORECASE)

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0}


def to_seconds(unit: str) -> tuple[str, float]:
    """Return the unit in which values are stored, and the factor that converts values to this unit.

    Examples
    --------
    >>> to_seconds("ms"), to_seconds("byte")
    (('s', 0.001), ('byte', 1.0))
    """
    return ("s", SECONDS[unit]) if unit in SECONDS else (unit, 1.0)


def direction(unit: str) -> str:
    """Return whether lower or higher values are better, if the unit determines this; otherwise, return "".

    Lower is better for seconds, and higher is better for rates.

    Examples
    --------
    >>> direction("s"), direction("ops/ms"), direction("MB/s"), direction("widgets")
    ('lower', 'higher', 'higher', '')
    """
    if unit == "s":
        return LOWER
    return HIGHER if len(unit) <= MAX_UNIT and _RATE.fullmatch(unit) else UNKNOWN


def scaled(series: Series, factor: float) -> Series:
    """Convert measurements to the stored unit.

    A value that overflows becomes infinite, which readers refuse.
    """
    with np.errstate(over="ignore"):
        return series * factor
