"""The study, its folder or its whole disk becomes read-only while the server runs; and a server that starts then."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.reliability._mishaps_disk import small_disk, started
from tests.reliability._mishaps_scene import CannotTry, Room, Scene, command_of, poll, scene
from tests.reliability.outcome import Case

CLOSED_FILE, CLOSED_FOLDER = 0o444, 0o555
REMOUNT_LIMIT_S = 120


def readonly_file(room: Room) -> Iterator[Case]:
    """The study becomes read-only while a reviewer labels, then writable again; a server starts with it."""
    study = room.copy()
    yield from _without_permission(room, study, "the study", [study])


def readonly_folder(room: Room) -> Iterator[Case]:
    """The study and its folder become read-only; otherwise the same."""
    study = room.copy()
    yield from _without_permission(room, study, "the study and its folder", [study, study.parent])


def _without_permission(room: Room, study: Path, what: str, paths: Sequence[Path]) -> Iterator[Case]:
    first = held_back()

    def command(study: Path, port: int) -> list[str]:
        return [*first, *command_of(study, port)]

    with scene(room, study, command) as one:
        with closed(paths):
            _press(one, f"{what} read-only")
        yield _judged(one, f"{what} read-only while labelling")
    with closed(paths):
        yield started(room, study, f"server started with {what} read-only", command)


@contextmanager
def closed(paths: Sequence[Path]) -> Iterator[None]:
    """Make files and folders read-only."""
    before = [(path, stat.S_IMODE(path.stat().st_mode)) for path in paths]
    for path in paths:
        path.chmod(CLOSED_FOLDER if path.is_dir() else CLOSED_FILE)
    try:
        yield
    finally:
        for path, mode in before:
            path.chmod(mode)


def held_back() -> list[str]:
    """The prefix of a command that makes permissions effective: they do not restrict root."""
    if os.geteuid() != 0:
        return []
    first = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    try:
        done = subprocess.run([*first, sys.executable, "-V"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise CannotTry(f"permissions do not hold root back, and setpriv cannot be run: {error.strerror}") from error
    if done.returncode:
        raise CannotTry(f"permissions do not hold root back here: {done.stderr.strip()}")
    return first


def readonly_disk(room: Room) -> Iterator[Case]:
    """The disk with the study becomes read-only; otherwise the same."""
    with small_disk(room) as disk:
        study = room.copy(disk)
        with scene(room, study) as one:
            _remount(disk, "ro")
            _press(one, "disk read-only")
            _remount(disk, "rw")
            yield _judged(one, "its disk read-only while labelling")
        _remount(disk, "ro")
        yield started(room, study, "server started with its disk read-only")
        _remount(disk, "rw")


def _remount(disk: Path, how: str) -> None:
    """Works only while no process has a file open for writing."""
    command = ["mount", "-o", f"remount,{how}", str(disk)]

    def done() -> bool:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    if not poll(done, REMOUNT_LIMIT_S):
        raise CannotTry("the disk was never quiet enough to be mounted anew")


def _press(one: Scene, what: str) -> None:
    one.press("d")
    one.sentence = one.words(what).sentence


def _judged(one: Scene, what: str) -> Case:
    one.comes_back()
    return one.judged(what, one.sentence)
