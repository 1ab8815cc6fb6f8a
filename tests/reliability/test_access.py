"""Every attack of the table, short: one server, and nobody gets further than they may."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import some_slow
from tests.reliability._strangers import ALPHA, permutation_test
from tests.reliability.cases import Room
from tests.reliability.rows import ACCESS

ROWS = {row.name: row for row in ACCESS}
SLOW = {name for name in ROWS if name.startswith("session")} | {"traces in the output of labeler serve"}


@pytest.fixture(scope="module")
def room():
    """One server for all attacks."""
    with tempfile.TemporaryDirectory() as folder:
        found = Room(Path(folder), quick=True)
        with found.open:
            yield found


@pytest.mark.parametrize("name", some_slow(ROWS, SLOW))
def test_nobody_gets_further_than_they_may(room, name):
    assert [case.figures for case in ROWS[name].cases(room) if case.passed is False] == []


def test_times_that_differ_are_distinguished_and_equal_ones_are_not():
    rng = np.random.default_rng(7)
    group = rng.permutation(200) % 2 == 0
    times = rng.gamma(2, 1, 200)
    assert permutation_test(times, group, rng)[0] > 0.01
    assert permutation_test(times + 2 * group, group, rng)[0] < ALPHA
