"""Verdicts are the same wherever they are computed, even if workers fail."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from analysis.runs.classifiers import CLASSIFIERS
from labeler.studies.course import coordinating
from labeler.studies.model import measurement_hash
from labeler.studies.store import items, open_database, runs
from labeler.studies.verdicts import computing
from labeler.studies.verdicts.computing import ComputationResult
from tests.labeler.cli.test_cli import run
from tests.labeler.packages import STEADY
from tests.labeler.studies.verdicts.test_computing import compute, shown
from tests.making import NOW

N_ITEMS = 40  # more than an executor gets at a time
N_WITHOUT = 1 + 4  # one item is negative, for SAME; one is too short for all classifiers except spread
BOOKKEEPING = {"verdict_id", "created_utc", "used_utc"}

# kills its process, once
DEADLY = """
import os, signal
from pathlib import Path
from analysis.runs.classifiers import Verdict

def judge(runs):
    done = Path(__file__).with_name("done")
    if runs.values.shape[1] == 77 and not done.exists():
        done.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Verdict("deadly", "similar")
"""


def make(path, measured):
    coordinating.create_study(path, name="Caches", question="Alike?", coordinator="carol", now=NOW)
    with open_database(path) as db, db.atomic():
        for number, series in enumerate(measured):
            item_id = items.add(
                db, f"item {number:03}", benchmark="b", application="org/app", n_runs=len(series),
                n_iterations=min(map(len, series)), data_hash=measurement_hash(series),
            )  # fmt: skip
            runs.add(db, item_id, series)


def rows(db):
    """Return every verdict with all columns except the time."""
    cursor = db.execute("SELECT * FROM verdicts ORDER BY item_id, classifier, parameters, version")
    names = [column[0] for column in cursor.description]
    return [{n: v for n, v in zip(names, row, strict=True) if n not in BOOKKEEPING} for row in cursor]


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """A study of 40 items: one for each reason without a verdict, and some with runs of different lengths."""
    rng = np.random.default_rng(7)
    measured = [rng.uniform(1, 1.2, (4, 60)) * rng.choice([1, 2], (4, 1)) for _ in range(N_ITEMS)]
    measured[3][2, 5] *= -1
    measured[11] = measured[11][:, :49]
    measured[25] = [run[: 60 - number] for number, run in enumerate(measured[25])]
    measured[30] = rng.uniform(1, 1.2, (4, 77))
    path = tmp_path_factory.mktemp("master") / "caches.study"
    make(path, measured)
    return path


def computed(master, folder):
    """Return the rows that this process computes without interruption."""
    with open_database(shutil.copy(master, folder / "alone.study")) as db:
        compute(db)
        return rows(db)


@pytest.fixture(scope="module")
def expected(master, tmp_path_factory):
    return computed(master, tmp_path_factory.mktemp("expected"))


@pytest.fixture
def fresh(master, tmp_path):
    """A copy of the study of 40 items without verdicts."""
    with open_database(shutil.copy(master, tmp_path / "fresh.study")) as db:
        yield db


def spawned(n_processes):
    return ProcessPoolExecutor(n_processes, get_context("spawn"))


@pytest.mark.parametrize(
    ("executor", "n_workers"),
    [(ThreadPoolExecutor, 2), pytest.param(spawned, 1, marks=pytest.mark.slow), (spawned, 2)],
    ids=["threads", "one", "two"],
)
def test_threads_and_processes_give_the_rows_of_this_process(fresh, expected, executor, n_workers):
    with executor(n_workers) as pool:
        assert compute(fresh, executor=pool) == ComputationResult(N_ITEMS, N_ITEMS, N_WITHOUT)
    assert rows(fresh) == expected


def local_cluster(n_workers):
    """A Dask cluster of processes on this machine; dashboards use any free port, because another cluster may run."""
    return pytest.importorskip("distributed").LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    )


@pytest.fixture(scope="module")
def cluster():
    with local_cluster(2) as started:
        yield started


@pytest.mark.slow
def test_a_dask_cluster_gives_the_rows_of_this_process(fresh, expected, cluster):
    with cluster.get_client() as client:
        assert compute(fresh, executor=client.get_executor()) == ComputationResult(N_ITEMS, N_ITEMS, N_WITHOUT)
    assert rows(fresh) == expected


@pytest.mark.slow
def test_the_command_computes_on_a_dask_cluster(fresh, expected, cluster):
    result = run("verdicts", "--study", fresh.path, "--scheduler", cluster.scheduler_address)
    assert "40 of 40 items" in result.stderr
    assert rows(fresh) == expected


@pytest.mark.slow
def test_a_worker_without_the_package_of_a_classifier_does_not_have_the_last_word(fresh, cluster, site):
    site.install("steady", STEADY)  # in this process, but not where the cluster was started
    with cluster.get_client() as client:
        compute(fresh, executor=client.get_executor())
    reasons = {row["error"] for row in shown(fresh) if row["classifier"] == "steady"}
    assert reasons == {"the classifier steady is not installed here"}
    assert compute(fresh).n_computed == N_ITEMS


@pytest.mark.slow
def test_a_dask_worker_that_is_killed_costs_nothing_but_repetition(fresh, expected, cluster, monkeypatch):
    monkeypatch.setattr(computing, "MAX_BATCH", 5)
    killed_at = []

    def kill_one(n_done, _n_total):
        if not killed_at:
            killed_at.append(n_done)
            os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)

    with cluster.get_client() as client:
        assert compute(fresh, executor=client.get_executor(), advance=kill_one).n_computed == N_ITEMS
    assert 0 < killed_at[0] < N_ITEMS
    assert rows(fresh) == expected


@pytest.mark.slow
def test_a_pool_worker_that_is_killed_is_said_in_words_and_the_same_command_goes_on(
    fresh, master, site, tmp_path, monkeypatch
):
    monkeypatch.setattr(computing, "MAX_BATCH", 5)
    site.install("deadly", DEADLY)
    failed = run("verdicts", "--study", fresh.path, "--jobs", 2, code=2)
    assert re.fullmatch(r"Judging\nError: A worker process ended unexpectedly[^\n]* to continue\.\n", failed.stderr)
    assert computing.latest_job(fresh).error.startswith("BrokenProcessPool")
    n_kept = len(rows(fresh)) // len([*CLASSIFIERS, "deadly"])
    assert 0 < n_kept < N_ITEMS
    assert computing.n_missing(fresh) == N_ITEMS - n_kept
    again = run("verdicts", "--study", fresh.path, "--jobs", 2)
    assert f"{N_ITEMS - n_kept} of 40 items" in again.stderr
    assert rows(fresh) == computed(master, tmp_path)


@pytest.mark.slow
def test_a_dask_cluster_that_loses_every_worker_it_tries_is_said_in_words(fresh, site):
    site.install("deadly", DEADLY)
    with (
        pytest.importorskip("dask").config.set({"distributed.scheduler.allowed-failures": 0}),
        local_cluster(1) as cluster,
    ):
        failed = run("verdicts", "--study", fresh.path, "--scheduler", cluster.scheduler_address, code=2)
    assert re.fullmatch(r"Judging\nError: [^\n]*\n", failed.stderr)


def refused_cluster(study, address):
    """Run the command in a separate process: in one process, clients without a cluster would block later clients."""
    command = [sys.executable, "-m", "labeler", "verdicts", "--study", study, "--scheduler", address]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    return ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize("address", ["127.0.0.1", "nowhere://x:1"])
def test_an_address_that_is_none_is_said_in_one_line(fresh, address):
    said = refused_cluster(fresh.path, address)
    assert re.fullmatch(rf"Error: No Dask scheduler answers at {address}: [^\n]*\n", said)


@pytest.mark.slow
def test_no_scheduler_at_the_address_is_said_in_one_line_and_before_long(fresh):
    with socket.socket() as taken:  # bound, but without a listener
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        begun = time.monotonic()
        said = refused_cluster(fresh.path, address)
    assert time.monotonic() - begun < 60
    assert re.fullmatch(rf"Error: No Dask scheduler answers at {address}: [^\n]*\n", said)
