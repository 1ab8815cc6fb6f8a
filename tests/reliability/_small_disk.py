"""A disk of a few megabytes that can be filled, so that programs find no room on it."""

import errno
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.reliability.outcome import CannotTry

PAGE = 4096


@contextmanager
def small_disk(folder: Path, n_bytes: int = 6 * 2**20) -> Iterator[Path]:
    """A disk of a few megabytes in memory."""
    disk = Path(tempfile.mkdtemp(dir=folder))
    command = ["mount", "-t", "tmpfs", "-o", f"size={n_bytes}", "tmpfs", str(disk)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CannotTry(f"mount cannot be run: {error.strerror}") from error
    if done.returncode:
        raise CannotTry(f"a small disk needs root to be mounted: {done.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(disk: Path, *, but: int = 0) -> None:
    """Fill the disk with another file until only this many pages are free; a second call adjusts the free space."""
    filler = disk / "filler"
    filler.unlink(missing_ok=True)
    with filler.open("wb", buffering=0) as out:
        try:
            while True:
                out.write(bytes(PAGE))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
    os.truncate(filler, max(filler.stat().st_size - but * PAGE, 0))


def free(disk: Path) -> None:
    """Delete the other file."""
    (disk / "filler").unlink()
