"""Units of measurements: times become seconds, all others keep their unit."""

import numpy as np

from labeler.model import Series

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9, "ps": 1e-12, "min": 60.0}


def to_seconds(unit: str) -> tuple[str, float]:
    """The unit to store and the factor to multiply by.

    Examples
    --------
    >>> to_seconds("ms"), to_seconds("byte")
    (('s', 0.001), ('byte', 1.0))
    """
    return ("s", SECONDS[unit]) if unit in SECONDS else (unit, 1.0)


def scaled(series: Series, factor: float) -> Series:
    """The measurements in the stored unit; an overflow becomes infinite, which readers refuse."""
    with np.errstate(over="ignore"):
        return series * factor
