"""Long work in a process of its own, running the same command as by hand."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile

from labeler.errors import InputError
from labeler.store.jobs import Job

LOOK_EVERY_S = 0.2
NO_THRESHOLDS: Mapping[str, float] = {}

_children: dict[int, subprocess.Popen[bytes]] = {}


def start_verdicts(study: Path, thresholds: Mapping[str, float] = NO_THRESHOLDS, *, actor: str) -> None:
    """Start `labeler verdicts` on the study and return at once; its progress is in the study.

    Parameters
    ----------
    study : Path
    thresholds : mapping of str to float
        "theta" or "cut" -> a further threshold.
    actor : str
        Who asked for it, for the log.
    """
    options = [text for name, value in thresholds.items() for text in (f"--{name}", repr(value))]
    child = subprocess.Popen(  # noqa: S603 - our own command, no shell
        _command(["verdicts", "--study", str(study), "--actor", actor, *options]),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _children[child.pid] = child


def output_of(arguments: Sequence[str], *, waiting: Callable[[float], object]) -> str:
    """Run a command of labeler and wait for what it writes; the command ends with whoever waits for it.

    Parameters
    ----------
    arguments : sequence of str
        As after `labeler` on the command line.
    waiting : callable
        Called several times a second with the seconds so far. If it raises, as a page does whose window was closed
        or asks for something else, the command is stopped.

    Raises
    ------
    InputError
        If the command fails; with what it said.
    """
    started = time.monotonic()
    with TemporaryFile() as output, TemporaryFile() as errors:
        child = subprocess.Popen(  # noqa: S603 - our own command, no shell
            _command(arguments), stdin=subprocess.DEVNULL, stdout=output, stderr=errors
        )
        try:
            while child.poll() is None:
                waiting(time.monotonic() - started)
                time.sleep(LOOK_EVERY_S)
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
        texts = []
        for file in (output, errors):
            file.seek(0)
            texts.append(file.read().decode())
    if child.returncode:
        message = texts[1].rpartition("Error: ")[2].strip()  # remarks and progress stand before it
        raise InputError(message or f"labeler {arguments[0]} ended with the exit code {child.returncode}.")
    return texts[0]


def _command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "labeler", *arguments]


def is_running(job: Job) -> bool:
    """Whether the job has not ended and its process is alive."""
    if job.finished_utc is not None:
        return False
    child = _children.get(job.pid)
    if child is not None:
        return child.poll() is None  # an ended child stays known to the system until it is asked for
    try:
        os.kill(job.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def in_words(job: Job) -> str:
    """How far the job is, and how long it will still take."""
    elapsed = (datetime.now(UTC) - datetime.fromisoformat(job.started_utc)).total_seconds()
    if not job.n_done:
        return f"0 of {job.n_total} items"
    left = elapsed / job.n_done * (job.n_total - job.n_done)
    return f"{job.n_done} of {job.n_total} items, {left:.0f} s left"
