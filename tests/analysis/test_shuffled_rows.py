"""The order of the rows of a table does not change the results of any method."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from analysis import contexts, order, spread, trust
from analysis.benchmark import from_table
from analysis.check import check
from analysis.document import json_values
from tests.conftest import examples


@st.composite
def tables(draw):
    """Build a table with versions, factors, both orders and altered methods, and a shuffled copy."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cells = pd.MultiIndex.from_product(
        [["sort", "merge"], ["new", "old"], ["0", "64"], ["fixed", "random"], range(2), range(2)],
        names=["benchmark", "version", "factor:env", "order_type", "run", "iteration"],
    )
    table = cells.to_frame(index=False)
    table["order_position"] = rng.permutation(len(table)) // 4
    table["value"] = np.round(rng.lognormal(size=len(table)), draw(st.integers(1, 6))) + 0.1
    places = draw(st.permutations(range(len(table))))
    return table, table.iloc[list(places)].reset_index(drop=True)


METHODS = {
    "spread": spread.survey,
    "order": order.survey,
    "trust": lambda benchmarks: trust.survey(benchmarks, n_runs=2),
    "contexts": contexts.survey,
    "observer": lambda benchmarks: contexts.survey(benchmarks, instrumentation="env"),
    "check": check,
}


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=examples(10), suppress_health_check=[HealthCheck.too_slow])
@given(tables())
def test_shuffling_rows_changes_no_answer(method, both):
    table, shuffled = both
    first, second = (json_values(METHODS[method](from_table(rows))) for rows in both)
    assert len(table) == len(shuffled)
    assert first == second
