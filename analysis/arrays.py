"""The types of arrays, and their median."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Indices = NDArray[np.intp]
Series = Floats  # the measurements of one run in order, in seconds if they are times


def median(values: Floats) -> Any:
    """Return the median of finite values along the last axis.

    `np.median` gives the same number, and imports masked arrays, which takes longer than a small check.
    """
    low, high = (values.shape[-1] - 1) // 2, values.shape[-1] // 2
    ordered = np.partition(values, (low, high), axis=-1)
    return (ordered[..., low] + ordered[..., high]) / 2
