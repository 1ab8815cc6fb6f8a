"""Strategies for the tables and runs of `analysis`."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


@st.composite
def count_tables(draw, n_categories=2, min_items=2):
    """Count tables in which at least one item has two ratings."""
    n_items = draw(st.integers(min_items, 30))
    counts = draw(hnp.arrays(np.int64, (n_items, n_categories), elements=st.integers(0, 4)))
    counts[0, draw(st.integers(0, n_categories - 1))] += 2
    return counts


@st.composite
def pairs_of_runs(draw, lowest=0.0, min_iterations=50):
    """Two runs of 50 to 60 iterations: any mixture of levels, noise, ties and constant stretches."""
    n = draw(st.integers(min_iterations, min_iterations + 10))
    values = st.one_of(st.sampled_from([lowest, 1.0, 2.0, 3.5]), st.floats(lowest, 100.0, width=32))
    rows = draw(hnp.arrays(np.float64, (2, n), elements=values))
    return np.round(rows, 6)
