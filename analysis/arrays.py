"""The types of arrays."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Indices = NDArray[np.intp]
Series = Floats  # the measurements of one run in order, in seconds if they are times
