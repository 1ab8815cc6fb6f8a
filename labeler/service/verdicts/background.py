"""Long work in a process of its own, running the same command as by hand."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from labeler.store.jobs import Job

_children: dict[int, subprocess.Popen[bytes]] = {}


def start_verdicts(study: Path) -> None:
    """Start `labeler verdicts` on the study and return at once; its progress is in the study."""
    child = subprocess.Popen(  # noqa: S603 - our own command, no shell
        [sys.executable, "-m", "labeler", "verdicts", "--study", str(study)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _children[child.pid] = child


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
