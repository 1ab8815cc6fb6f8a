import json
import os
import re
import signal
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from analysis.runs.classifiers import CLASSIFIERS
from labeler.errors import InputError
from labeler.studies import background
from labeler.studies.store.jobs import Job
from labeler.studies.verdicts import computing, stored_verdicts
from tests.making import NOW, log, make_study, new_study


def job_of(pid, finished=None, n_done=0, started=NOW):
    return Job(1, pid, n_done, 40, started.isoformat(), started.isoformat(), finished, None)


def test_a_job_runs_until_it_ends_or_its_process_is_gone():
    assert background.is_running(job_of(os.getpid()))
    assert background.is_running(job_of(1))  # perhaps of another process, but it exists
    assert not background.is_running(job_of(os.getpid(), finished=NOW.isoformat()))
    assert not background.is_running(job_of(2**22 + 1))  # no process has this number


def test_how_long_a_job_still_takes_follows_from_what_it_did():
    started = datetime.now(UTC) - timedelta(seconds=100)
    assert background.describe(job_of(1, n_done=0)) == "0 of 40 items"
    described = background.describe(job_of(1, n_done=20, started=started))
    assert 100 <= int(re.fullmatch(r"20 of 40 items, (\d+) s left", described)[1]) <= 110


def wait_for(condition):
    until = time.monotonic() + 120
    while not (found := condition()):
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)
    return found


def test_verdicts_are_computed_in_a_process_of_their_own(study):
    background.start_verdicts(study.path, actor="carol")
    job = wait_for(lambda: (found := computing.latest_job(study)) and found.finished_utc and found)
    assert (job.n_done, job.n_total, job.error) == (8, 8, None)
    assert job.pid != os.getpid()
    assert computing.n_missing(study) == 0
    assert len(stored_verdicts.verdict_table(study)) == 8 * len(CLASSIFIERS)
    assert log(study)[-1] == ("carol", "compute verdicts")  # requested by this person, and the result was not shown yet


@pytest.mark.slow
def test_a_threshold_asked_for_on_a_page_is_computed_beside_the_default(study):
    background.start_verdicts(study.path, {"cut": 0.15}, actor="carol")
    wait_for(lambda: (found := computing.latest_job(study)) and found.finished_utc)
    assert set(stored_verdicts.verdict_table(study)["classifier"]) == {*CLASSIFIERS, "same@0.15"}


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.slow
def test_a_computation_that_was_killed_is_seen_to_run_no_more(study_path):
    with new_study(study_path, n_items=60, reviewers=()) as db:
        background.start_verdicts(study_path, actor="carol")
        job = wait_for(lambda: computing.latest_job(db))
        os.kill(job.pid, signal.SIGKILL)
        wait_for(lambda: not background.is_running(job))
        assert computing.latest_job(db).finished_utc is None


def test_the_output_of_a_command_is_given_back_and_the_seconds_told_meanwhile(study_path):
    make_study(study_path)
    seconds = []
    text = background.output_of("status", study=study_path, json=True, quiet=None, waiting=seconds.append)
    assert json.loads(text)["items"] == 8
    assert seconds == sorted(seconds)
    assert seconds


def test_a_command_that_fails_is_an_error_with_what_it_said(tmp_path):
    with pytest.raises(InputError, match=r"^There is no study .*nothing\.study"):
        background.output_of("status", study=tmp_path / "nothing.study", waiting=lambda _seconds: None)


def test_a_command_ends_with_the_page_that_waits_for_it(study_path, monkeypatch):
    make_study(study_path)
    children = []
    start = background.subprocess.Popen

    def remembered(*arguments, **options):
        children.append(start(*arguments, **options))
        return children[-1]

    def window_closed(_seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr(background.subprocess, "Popen", remembered)
    with pytest.raises(KeyboardInterrupt):
        background.output_of("status", study=study_path, waiting=window_closed)
    assert children[0].poll() not in (None, 0)
