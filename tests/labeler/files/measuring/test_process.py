"""Run one command: time it, stop it at its limit, and leave no process running."""

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from labeler.files.measuring import process
from labeler.files.measuring.process import run


def python(program, *, timeout=120.0, **options):
    return run([sys.executable, "-I", "-S", "-c", program], directory=Path.cwd(), environment=dict(os.environ),
               timeout=timeout, **options)  # fmt: skip


def test_a_command_that_ends_well_has_its_times_and_output():
    ended = python("import time; time.sleep(.2); print('a'); sum(range(10**6))", keep_output=True)
    assert (ended.reason, ended.exit_status, ended.output) == ("", 0, b"a\n")
    assert 0.2 < ended.wall_s < 100
    assert 0 < ended.cpu_s < ended.wall_s


def test_processor_time_is_that_of_the_process_not_of_waiting():
    assert python("import time; time.sleep(.5)").cpu_s < 0.45  # it sleeps longer


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise SystemExit(3)", "exit status 3"),
        ("import sys; sys.exit('out of luck')", "exit status 1: out of luck"),
        ("import os; os.kill(os.getpid(), 11)", "ended by SIGSEGV"),
    ],
)
def test_a_failing_command_says_how_it_ended(program, reason):
    assert python(program).reason == reason


def test_a_command_that_is_not_there_is_a_failure():
    ended = run(["/no/such/program"], directory=Path.cwd(), environment={}, timeout=1)
    assert (ended.reason, ended.exit_status) == (
        "'/no/such/program' cannot be started: No such file or directory",
        None,
    )


def test_a_command_that_hangs_is_ended_in_time_even_if_it_will_not_hear():
    program = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    began = time.monotonic()
    assert python(program, timeout=0.5).reason == "did not end within 0.5 s"
    assert time.monotonic() - began < 55


def test_what_a_command_leaves_running_is_ended_even_if_it_hides(tmp_path):
    pids = tmp_path / "pids"
    program = f"""
import os, time
for new_session in (False, True):
    if os.fork() == 0:
        if new_session:
            os.setsid()
            if os.fork():
                os._exit(0)
        with open({str(pids)!r}, "a") as file:
            file.write(f"{{os.getpid()}} ")
        time.sleep(60)
while not os.path.exists({str(pids)!r}) or len(open({str(pids)!r}).read().split()) < 2:
    time.sleep(.01)
"""
    ended = python(program)
    assert (ended.reason, ended.n_left) == ("", 2)
    assert not [pid for pid in pids.read_text().split() if psutil.pid_exists(int(pid))]


def test_a_process_of_ours_that_was_there_before_is_left_alone():
    with psutil.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as bystander:
        assert python("pass").n_left == 0
        assert bystander.is_running() and bystander.status() != psutil.STATUS_ZOMBIE
        bystander.kill()


def test_a_flood_on_standard_output_is_stopped_where_it_is_read(monkeypatch):
    monkeypatch.setattr(process, "MAX_OUTPUT_BYTES", 2_000_000)
    ended = python("while True: print('x' * 10000)", keep_output=True)
    assert ended.reason == "printed more than 2 MB"
    assert len(ended.output) <= 2_100_000


def test_a_flood_where_nobody_reads_costs_nothing_and_the_end_of_the_message_is_kept():
    program = (
        "import sys\nfor _ in range(3000): print('x' * 1000); print('y' * 1000, file=sys.stderr)\nsys.exit('last')"
    )
    ended = python(program)
    assert (ended.reason, ended.output) == ("exit status 1: last", b"")


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system cannot pin processes")
def test_a_command_is_pinned_and_this_process_is_not():
    before = os.sched_getaffinity(0)
    cpu = min(before)
    ended = python("import os; print(os.sched_getaffinity(0))", keep_output=True, cpus=frozenset({cpu}))
    assert ended.output.decode().strip() == str({cpu})
    assert os.sched_getaffinity(0) == before
    assert python("pass", cpus=frozenset({100_000})).reason.startswith("cannot be pinned to processor 100000")
