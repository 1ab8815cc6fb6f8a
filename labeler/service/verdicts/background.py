"""Run long commands in a separate process, in the same way as in a terminal."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile

from labeler.errors import InputError
from labeler.model import counted
from labeler.store.jobs import Job

LOOK_EVERY_S = 0.2
NO_THRESHOLDS: Mapping[str, float] = {}

_children: dict[int, subprocess.Popen[bytes]] = {}


def start_verdicts(study: Path, thresholds: Mapping[str, float] = NO_THRESHOLDS, *, actor: str) -> None:
    """Start `labeler verdicts` for the study and return at once; the progress is stored in the study file.

    Parameters
    ----------
    study : Path
    thresholds : mapping of str to float
        "theta" or "cut" -> an additional threshold.
    actor : str
        The person who started the computation, for the audit log.
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
    """Run a labeler command and return its output; the command is stopped if the caller stops waiting.

    Parameters
    ----------
    arguments : sequence of str
        The arguments that follow `labeler` on the command line.
    waiting : callable
        Called several times per second with the elapsed seconds. If it raises an error, the command is stopped. A page
        raises an error if its window is closed or the user asks for something else.

    Raises
    ------
    InputError
        If the command fails; the message is the error message of the command.
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
        message = texts[1].rpartition("Error: ")[2].strip()  # drop the notes and progress before the error
        raise InputError(message or f"labeler {arguments[0]} failed with exit code {child.returncode}.")
    return texts[0]


def _command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "labeler", *arguments]


def is_running(job: Job) -> bool:
    """Return whether the job is unfinished and its process is alive."""
    if job.finished_utc is not None:
        return False
    child = _children.get(job.pid)
    if child is not None:
        return child.poll() is None  # removes a finished child process, which would otherwise still count as alive
    try:
        os.kill(job.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def in_words(job: Job) -> str:
    """Return the progress of the job and its estimated remaining time as text."""
    elapsed = (datetime.now(UTC) - datetime.fromisoformat(job.started_utc)).total_seconds()
    if not job.n_done:
        return f"0 of {counted(job.n_total, 'item')}"
    left = elapsed / job.n_done * (job.n_total - job.n_done)
    return f"{job.n_done} of {counted(job.n_total, 'item')}, {left:.0f} s left"
