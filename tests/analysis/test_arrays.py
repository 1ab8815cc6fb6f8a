import numpy as np
from hypothesis import given
from hypothesis.extra import numpy as arrays

from analysis.arrays import median

FINITE = {"min_value": -1e150, "max_value": 1e150, "allow_nan": False}
TABLES = arrays.arrays(np.float64, arrays.array_shapes(min_dims=1, max_dims=2, max_side=9), elements=FINITE)


@given(TABLES)
def test_the_median_is_that_of_numpy_bit_for_bit(values):
    assert np.asarray(median(values)).tobytes() == np.asarray(np.median(values, axis=-1) + 0.0).tobytes()
