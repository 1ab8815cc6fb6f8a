"""Open studies of every earlier schema with the current code: nothing is lost, even if opening is interrupted.

    python -m tests.reliability.ages [--kills 200] [--rounds 20] [--quick]

Each study of tests/golden/studies was created by the code of its version (`scripts/old_studies.py`), which also
recorded its content. The questions are whether everything is there afterwards and people can sign in and continue; what
happens to the file if two processes open it at once, if the migrating process is killed at any statement or moment, or
if the disk is full; and whether a file of a later version stays unchanged.
"""

import argparse
import os
import random
import signal
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import cache
from itertools import count
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

from labeler.errors import LabelerError, NewerStudy, StudyError, StudyReadOnly
from labeler.service.study import coordinating
from labeler.store import Database, copies, database, migrations, open_database, opening as opened
from tests.reliability._old_studies import expected, names, of_older_schemas, unpacked, wrong, wrong_after
from tests.reliability._small_disk import fill, free, small_disk
from tests.reliability.outcome import CannotTry, Case, case, main, parser

LATER = 99
END_LIMIT_S = 300  # a process that opens a small study for longer than this hangs
DISK_BYTES = 2**21
UNCHANGED = "refused with a message, no byte changed"
PAGES_LEFT = (0, 1, 2, 4, 8, 12, 16, 24, 32, 48)


# Files that must not change


def touched(path: Path, look: Callable[[Path], object], error: type[StudyError]) -> list[str]:
    """Whether a file is not refused with a message, or is changed; a new file in its folder is also a change."""
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    try:
        look(path)
        problems = ["it is not refused"]
    except LabelerError as refusal:
        problems = [] if isinstance(refusal, error) and str(path) in str(refusal) else [f"refused as {refusal!r}"]
    after = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    return problems + ([] if before == after else ["the file is another afterwards"])


def read(path: Path) -> None:
    """Read the file as `labeler merge` reads a copy."""
    with copies.read_only(path) as db:
        coordinating.status(db)


def of_later_version(folder: Path, *, wal: bool) -> Path:
    """A study of a version that does not exist yet."""
    path = unpacked(names()[-1], folder, wal=wal)
    with closing(sqlite3.connect(path)) as file:
        file.execute(f"PRAGMA user_version = {LATER}")
    return path


# Processes that migrate a study


@cache
def processes() -> ForkServerContext:
    """Processes that start quickly, because their imports are done once."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.reliability._old_studies"])  # `__main__` would not be preloaded
    return context


def traced(path: Path, at_each: Callable[[int], None]) -> Database:
    """Open as `open_database` does; the callback gets the number of each statement that SQLite begins."""
    numbers, connection = count(1), database.connect(path, mode="rw")
    connection.set_trace_callback(lambda _statement: at_each(next(numbers)))
    return opened._prepared(connection, path, is_new=False)


def n_statements(name: str, folder: Path) -> int:
    """Return the number of statements that migrate a study."""
    seen: list[int] = []
    with suppress(sqlite3.Error):  # set by `opening`
        traced(unpacked(name, folder), seen.append).close()
    return len(seen)


def _die_at(path: Path, statement: int) -> None:
    def die(number: int) -> None:
        if number == statement:
            os.kill(os.getpid(), signal.SIGKILL)

    traced(path, die).close()


def _die_after(path: Path, seconds: float) -> None:
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process as SIGKILL does: nothing is closed or written
    signal.setitimer(signal.ITIMER_REAL, seconds)
    open_database(path).close()
    signal.setitimer(signal.ITIMER_REAL, 0)


def killed(target: Callable[..., None], *arguments: object) -> tuple[bool, list[str]]:
    """Whether a process with this task was killed, and the fault at its end if it was not."""
    process = processes().Process(target=target, args=arguments)
    process.start()
    process.join(END_LIMIT_S)
    if process.exitcode in (-signal.SIGKILL, -signal.SIGALRM):
        return True, []
    process.kill()
    return False, [] if process.exitcode == 0 else [f"a process that opens it ends with {process.exitcode}"]


def _open_at_once(path: Path, barrier: Any, seen: Any) -> None:
    barrier.wait(END_LIMIT_S)
    try:
        with open_database(path) as db:
            seen.put((migrations.version(db), coordinating.status(db).n_answers))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is said
        seen.put((0, repr(error)))


def at_once(name: str, folder: Path, n: int = 2) -> list[str]:
    """Return the faults in the reports of n processes that open a study at the same moment, and the lost data."""
    path, context = unpacked(name, folder), processes()
    barrier, seen = context.Barrier(n), context.Queue()
    started = [context.Process(target=_open_at_once, args=(path, barrier, seen)) for _ in range(n)]
    for process in started:
        process.start()
    said = {seen.get(timeout=END_LIMIT_S) for _ in started}
    for process in started:
        process.join(END_LIMIT_S)
    wanted = {(len(migrations.MIGRATIONS), expected()[name]["status"]["answers"])}
    return ([] if said == wanted else [f"{n} processes say {said}"]) + wrong_after(path, name)


# The cases of the script


def opening(folder: Path) -> Iterator[Case]:
    """Open every study, as a file in use and as a backup."""
    for name in names():
        told = expected()[name]
        problems = wrong(name, folder) + wrong_after(unpacked(name, folder, wal=False), name)
        figures = f"{len(told['labels']) - 1} answers, {len(told['events']) - 1} events"
        yield case(f"{name} of {told['commit']}", figures, problems)


def refusing(folder: Path) -> Iterator[Case]:
    """Refuse a newer file, and old files that are opened read-only."""
    for wal in (True, False):
        mode = "in use" if wal else "a backup"
        for look in (open_database, read):
            problems = touched(of_later_version(folder, wal=wal), look, NewerStudy)
            yield case(f"version {LATER}, {mode}, {look.__name__}", UNCHANGED, problems)
        for name in of_older_schemas():
            problems = touched(unpacked(name, folder, wal=wal), read, StudyError)
            yield case(f"{name}, {mode}, opened read-only", UNCHANGED, problems)


def opening_at_once(folder: Path, n_rounds: int) -> Iterator[Case]:
    """Open with two processes, again and again."""
    for name in of_older_schemas():
        problems = [problem for _ in range(n_rounds) for problem in at_once(name, folder)]
        yield case(f"{name}, opened by two processes at once", f"{n_rounds} times", problems)


def killing(folder: Path, n_kills: int, seed: int) -> Iterator[Case]:
    """Kill half of the processes at the start of a statement, evenly over all of them, and half at any moment."""
    rng, older = random.Random(seed), of_older_schemas()
    for number, name in enumerate(older):
        n_here = n_kills // len(older) + (number < n_kills % len(older))
        n_all, took_s = n_statements(name, folder), seconds_to_open(name, folder)
        problems, n_killed = [], 0
        for kill in range(n_here):
            path = unpacked(name, folder)
            at = (_die_after, rng.uniform(1e-5, took_s)) if kill % 2 else (_die_at, 1 + kill * n_all // n_here)
            was_killed, found = killed(at[0], path, at[1])
            n_killed += was_killed
            problems += found + wrong_after(path, name)
        yield case(f"{name}, killed while opened", f"{n_killed} kills in {n_here} tries, {n_all} statements", problems)


def seconds_to_open(name: str, folder: Path) -> float:
    """Return the time that a migration takes."""
    path, begun = unpacked(name, folder), time.perf_counter()
    with suppress(sqlite3.Error):
        open_database(path).close()
    return time.perf_counter() - begun


def on_full_disk(name: str, disk: Path, n_pages_left: int) -> tuple[bool, list[str]]:
    """Whether the disk was too small to open the study, and the fault in that case."""
    for file in disk.iterdir():
        file.unlink()
    path = unpacked(name, disk, wal=False)
    fill(disk, but=n_pages_left)
    refused, problems = True, list[str]()
    try:
        open_database(path).close()
        refused = False
    except StudyReadOnly:
        pass
    except (LabelerError, sqlite3.Error) as error:
        problems = [f"with {n_pages_left} pages: {error!r}"]
    free(disk)
    return refused, problems + wrong_after(path, name)


def filling(folder: Path) -> Iterator[Case]:
    """The disk is full at several moments."""
    try:
        with small_disk(folder, DISK_BYTES) as disk:
            for name in of_older_schemas():
                tried = [on_full_disk(name, disk, n_pages) for n_pages in PAGES_LEFT]
                n_refused, problems = sum(refused for refused, _ in tried), [one for _, found in tried for one in found]
                problems += [] if n_refused else ["the disk was never full"]
                yield case(f"{name}, opened on a full disk", f"refused {n_refused} of {len(tried)} times", problems)
    except CannotTry as why:
        yield Case("disk full while a study is brought up to date", str(why), None)


def run(options: argparse.Namespace) -> Iterator[Case]:
    n_kills, n_rounds = (20, 2) if options.quick else (options.kills, options.rounds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield from opening(folder)
        alone = folder / "alone"
        alone.mkdir()
        yield from refusing(alone)
        yield from opening_at_once(folder, n_rounds)
        yield from killing(folder, n_kills, options.seed)
        yield from filling(folder)


if __name__ == "__main__":
    made = parser(__doc__)
    made.add_argument("--kills", type=int, default=200, help="over all studies of older schemas")
    made.add_argument("--rounds", type=int, default=20, help="of two processes, for each study")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--quick", action="store_true", help="20 kills and 2 rounds")
    main(made, run)
