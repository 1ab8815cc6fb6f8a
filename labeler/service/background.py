"""Run long labeler commands in a separate process, as a terminal would."""

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
    """Start `labeler verdicts` for the study, and return without waiting; the study file stores the progress.

    `thresholds` gives an additional threshold for "theta" or "cut".
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
    """Run a labeler command in a separate process and return its output.

    If the caller stops waiting, the command is stopped. `waiting` is called several times per second with the elapsed
    seconds; if it raises an error, for example because the user closed the page, the command is stopped. Raises
    InputError if the command fails. The message is the error message of the command.
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
        message = (
            texts[1].rpartition("Error: ")[2].strip()
        )  # removes the notes and the progress that were printed before the error
        raise InputError(message or f"labeler {arguments[0]} failed with exit code {child.returncode}.")
    return texts[0]


def _command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-m", "labeler", *arguments]


def is_running(job: Job) -> bool:
    """Return whether a job has not finished and its process is still running."""
    if job.finished_utc is not None:
        return False
    child = _children.get(job.pid)
    if child is not None:
        return child.poll() is None  # removes a finished child process, which would otherwise seem to be running
    try:
        os.kill(job.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def describe(job: Job) -> str:
    """Return the progress of a job and the estimated remaining time as text."""
    elapsed = (datetime.now(UTC) - datetime.fromisoformat(job.started_utc)).total_seconds()
    if not job.n_done:
        return f"0 of {counted(job.n_total, 'item')}"
    left = elapsed / job.n_done * (job.n_total - job.n_done)
    return f"{job.n_done} of {counted(job.n_total, 'item')}, {left:.0f} s left"
