"""Run a part of each group of `python -m tests.reliability.access` on one server."""

from contextlib import ExitStack

import numpy as np
import pytest

from tests.conftest import some_slow
from tests.reliability._files import dangers
from tests.reliability._ground import ground
from tests.reliability._strangers import ALPHA, permutation_test
from tests.reliability.access import groups

GROUPS = groups(8, quick=True)


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """Return a function that gives the server of this module; it starts another one if a test has stopped the first."""
    running = []
    with ExitStack() as servers:

        def server():
            if not running or running[-1].process.poll() is not None:
                running.append(servers.enter_context(ground(tmp_path_factory.mktemp("access"))))
            return running[-1]

        yield server


@pytest.fixture
def served(started):
    return started()


@pytest.mark.parametrize("name", some_slow(GROUPS, {"sessions"}))
def test_nobody_gets_further_than_they_may(served, name):
    found = list(GROUPS[name](served))
    assert found
    assert [f"{case.what}: {case.figures}" for case in found if not case.passed] == []


DANGEROUS = [
    "eval(x)", "exec(x)", "import pickle", "from yaml import load", "os.system(x)", "np.load(x, allow_pickle=True)",
    "subprocess.run(x, shell=True)", "pd.read_pickle(x)", "__import__(x)",
]  # fmt: skip


@pytest.mark.parametrize("code", DANGEROUS)
def test_code_that_runs_what_it_reads_is_found(code):
    assert dangers(code)


def test_times_that_differ_are_distinguished_and_equal_ones_are_not():
    rng = np.random.default_rng(7)
    group = rng.permutation(200) % 2 == 0
    times = rng.gamma(2, 1, 200)
    assert permutation_test(times, group, rng)[0] > 0.01
    assert permutation_test(times + 2 * group, group, rng)[0] < ALPHA
