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
    """Two runs of 50 to 60 iterations, with any mixture of levels, noise, ties and constant sections."""
    n = draw(st.integers(min_iterations, min_iterations + 10))
    values = st.one_of(st.sampled_from([lowest, 1.0, 2.0, 3.5]), st.floats(lowest, 100.0, width=32))
    rows = draw(hnp.arrays(np.float64, (2, n), elements=values))
    return np.round(rows, 6)


@st.composite
def benchmarks(draw):
    """Two to six runs of 50 to 60 iterations: noise of any spread, on equal or other levels, with or without a shared
    pattern, rounded to few or many distinct values, in any unit; some runs constant.
    """
    k, n = draw(st.integers(2, 6)), draw(st.integers(50, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    levels = draw(st.lists(st.sampled_from([1.0, 1.0, 1.0, 1.5, 4.0]), min_size=k, max_size=k))
    spreads = draw(st.lists(st.sampled_from([0.0, 0.01, 0.1, 0.1, 1.0]), min_size=k, max_size=k))
    pattern = draw(st.sampled_from([0.0, 0.3, 0.9])) * np.sin(np.arange(n) / 5)
    rows = np.outer(levels, 1 + pattern) * np.exp(np.outer(spreads, np.ones(n)) * rng.normal(size=(k, n)))
    return np.round(rows, draw(st.integers(0, 6))) * draw(st.sampled_from([1e-9, 1.0, 1e3]))
