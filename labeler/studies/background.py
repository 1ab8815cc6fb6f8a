"""Run long labeler commands in a separate process, as a terminal would."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from zipfile import ZIP_DEFLATED, ZipFile

from analysis.text import counted
from labeler.errors import InputError
from labeler.studies.store.jobs import Job

LOOK_EVERY_S = 0.2
NO_THRESHOLDS: Mapping[str, float] = {}

_children: dict[int, subprocess.Popen[bytes]] = {}


def start_verdicts(study: Path, thresholds: Mapping[str, float] = NO_THRESHOLDS, *, actor: str) -> None:
    """Start `labeler verdicts` for the study, and return without waiting; the study file stores the progress.

    `thresholds` gives an additional threshold for "theta" or "cut".
    """
    child = subprocess.Popen(  # noqa: S603 - our own command, no shell
        _command("verdicts", study=study, actor=actor, **thresholds),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _children[child.pid] = child


def output_of(command: str, *arguments: object, waiting: Callable[[float], object], **options: object) -> str:
    """Run a labeler command in a separate process and return its output.

    The option `per_item=2` is passed on as `--per-item 2` and `paper=True` as `--paper`; options that are None or False
    are left out. Bytes are the content of a file that the command reads. If the caller stops waiting, the command is
    stopped. `waiting` is called several times per second with the elapsed seconds; if it raises an error, for example
    because the user closed the page, the command is stopped. Raises InputError if the command fails. The message is the
    error message of the command.
    """
    uploads = {name: content for name, content in options.items() if isinstance(content, bytes)}
    with TemporaryDirectory(prefix="labeler-") as folder:
        for name, content in uploads.items():
            Path(folder, name).write_bytes(content)
        files = {name: Path(folder, name) for name in uploads}
        try:
            return _run(_command(command, *arguments, **(options | files)), command, waiting)
        except InputError as error:
            raise InputError(str(error).replace(f"{folder}{os.sep}", "The table of ")) from None


def files_of(
    command: str,
    *arguments: object,
    into: str,
    folders: bool = False,
    waiting: Callable[[float], object],
    **options: object,
) -> dict[str, bytes]:
    """Run a labeler command as `output_of` does, and return the files that it writes, as name -> content.

    `into` is the option of the command that names the folder. Files in folders within this folder, such as figures, are
    left out, or packed into a zip file per folder if `folders` is true. Files that the command prints come first, in
    the printed order.
    """
    with TemporaryDirectory(prefix="labeler-") as folder:
        printed = output_of(command, *arguments, waiting=waiting, **{**options, into: folder}).splitlines()
        order = {path: number for number, path in enumerate(printed)}
        paths = [path for path in sorted(Path(folder).iterdir()) if path.is_file()]
        paths.sort(key=lambda path: order.get(str(path), len(order)))
        packed = [path for path in sorted(Path(folder).iterdir()) if path.is_dir() and folders]
        return {path.name: path.read_bytes() for path in paths} | {f"{path.name}.zip": _zipped(path) for path in packed}


def _zipped(folder: Path) -> bytes:
    content = BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(path, path.relative_to(folder).as_posix())
    return content.getvalue()


def _run(command: Sequence[str], name: str, waiting: Callable[[float], object]) -> str:
    started = time.monotonic()
    with TemporaryFile() as output, TemporaryFile() as errors:
        child = subprocess.Popen(  # noqa: S603 - our own command, no shell
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors
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
        # without the notes and the progress that were printed before the error
        message = texts[1].rpartition("Error: ")[2].strip()
        raise InputError(message or f"labeler {name} failed with exit code {child.returncode}.")
    return texts[0]


def _command(command: str, *arguments: object, **options: object) -> list[str]:
    line = [sys.executable, "-m", "labeler", command, *map(str, arguments)]
    for name, value in options.items():
        option = f"--{name.rstrip('_').replace('_', '-')}"
        if value is True:
            line.append(option)
        elif value is not None and value is not False:
            line += [option, str(value)]
    return line


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
