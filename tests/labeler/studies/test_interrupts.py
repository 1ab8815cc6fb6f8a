"""The command that computes verdicts, interrupted or killed: stored verdicts stay, and a second run completes them."""

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from labeler.studies import background
from labeler.studies.store import open_database
from labeler.studies.verdicts import computing
from tests.labeler.cli.test_cli import run
from tests.labeler.studies.test_background import wait_for
from tests.labeler.studies.verdicts.test_executors import computed, local_cluster, make, rows

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]

N_ITEMS = 50
N_FIRST = 5  # all workers have started by then
STOPPED = "Judging\nError: Stopped. Finished verdicts are kept. Run the same command again to continue.\n"


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """A study that takes a process four seconds: 780 pairs of runs per item."""
    path = tmp_path_factory.mktemp("master") / "long.study"
    make(path, [np.random.default_rng(number).uniform(1, 1.2, (40, 500)) for number in range(N_ITEMS)])
    return path


@pytest.fixture(scope="module")
def expected(master, tmp_path_factory):
    """The rows of an uninterrupted computation."""
    return computed(master, tmp_path_factory.mktemp("expected"))


@pytest.fixture
def db(master, tmp_path):
    with open_database(shutil.copy(master, tmp_path / "long.study")) as opened:
        yield opened


def n_items_stored(db):
    return db.execute("SELECT count(DISTINCT item_id) FROM verdicts").fetchone()[0]


def alive(session):
    """Return the processes of a session that are still running."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _parent, _group, its_session = stat.read_text().rpartition(")")[2].split()[:4]
            if int(its_session) == session and state not in "ZX":
                found.append(int(stat.parent.name))
    return found


@pytest.fixture
def cluster():
    with local_cluster(2) as started:
        yield started


@contextmanager
def computing_process(db, *options):
    """The command in a separate session, after it has stored the first verdicts; its errors are in `errors.txt`."""
    with (db.path.with_name("errors.txt")).open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "labeler", "verdicts", "--study", db.path, *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True,
        )  # fmt: skip
        try:
            wait_for(lambda: n_items_stored(db) >= N_FIRST)
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def errors_of(db):
    return db.path.with_name("errors.txt").read_text()


def assert_a_rerun_completes(db, expected):
    n_stored = n_items_stored(db)
    assert N_FIRST <= n_stored < N_ITEMS
    assert computing.n_missing(db) == N_ITEMS - n_stored
    again = run("verdicts", "--study", db.path, "--jobs", 2)
    assert f"{N_ITEMS - n_stored} of {N_ITEMS} items" in again.stderr
    assert rows(db) == expected


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_is_answered_in_one_sentence_and_costs_nothing(db, expected, jobs):
    with computing_process(db, "--jobs", jobs) as process:
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: also to the workers
        assert process.wait(timeout=180) == 2
        wait_for(lambda: not alive(process.pid))
    assert errors_of(db) == STOPPED
    assert computing.latest_job(db).error.startswith("KeyboardInterrupt")
    assert_a_rerun_completes(db, expected)


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGKILL])
def test_what_was_stored_before_the_process_was_killed_stays(db, expected, signal_number):
    with computing_process(db, "--jobs", "2") as process:
        process.send_signal(signal_number)
        assert process.wait(timeout=180) != 0
        wait_for(lambda: not alive(process.pid))  # no worker outlives it
    assert not background.is_running(computing.latest_job(db))
    assert "Traceback" not in errors_of(db)
    assert_a_rerun_completes(db, expected)


def test_ctrl_c_on_a_dask_cluster_is_answered_in_one_sentence_and_costs_nothing(db, expected, cluster):
    with computing_process(db, "--scheduler", cluster.scheduler_address) as process:
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=180) == 2
    assert errors_of(db) == STOPPED
    assert_a_rerun_completes(db, expected)


def test_a_scheduler_that_ends_is_said_in_a_sentence(db, cluster):
    with computing_process(db, "--scheduler", cluster.scheduler_address) as process:
        cluster.close()
        assert process.wait(timeout=180) == 2
    assert "Traceback" not in errors_of(db)
    assert re.match(r"Error: The Dask cluster at tcp\S+ lost its connection\.", errors_of(db).splitlines()[-1])
