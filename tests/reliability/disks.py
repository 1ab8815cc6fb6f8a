"""Scene: a study on a disk of a few megabytes, without a server; commands and servers that find no room on it.

Also what other scenes need of this: a small disk, the output of a command, and a wrong clock.
"""

import errno
import json
import os
import stat
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from labeler.errors import StudyError
from labeler.studies.course import coordinating
from labeler.studies.store import items, open_database, runs
from tests.browser.conftest import free_port, serve_command
from tests.making import item_name, series
from tests.reliability.cases import CannotTry, Case, Room, case
from tests.reliability.ledger import goes_on, unsound

PAGE, DISK_BYTES = 4096, 6 * 2**20
COMMAND_LIMIT_S, START_LIMIT_S, REMOUNT_LIMIT_S = 300, 300, 120
CLOSED_FILE, CLOSED_FOLDER = 0o444, 0o555
N_FILES, N_RUNS = 30, 5
CLOCKED = (sys.executable, "-m", "tests.reliability._wrong_clock")


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of a few megabytes in memory."""
    disk = Path(tempfile.mkdtemp(dir=folder))
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(disk)]
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


@contextmanager
def remounted(disk: Path) -> Iterator[None]:
    """A disk is read-only for a while; it must have no file open for writing."""

    def remount(how: str) -> bool:
        command = ["mount", "-o", f"remount,{how}", str(disk)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    if not poll(lambda: remount("ro"), REMOUNT_LIMIT_S):
        raise CannotTry("the disk was never quiet enough to be mounted anew")
    yield
    poll(lambda: remount("rw"), REMOUNT_LIMIT_S)


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


def held_back(study: Path, port: int) -> list[str]:
    """Return the command of a server that permissions restrict: they do not restrict root."""
    if os.geteuid() != 0:
        return serve_command(study, port)
    first = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    try:
        done = subprocess.run([*first, sys.executable, "-V"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise CannotTry(f"permissions do not hold root back, and setpriv cannot be run: {error.strerror}") from error
    if done.returncode:
        raise CannotTry(f"permissions do not hold root back here: {done.stderr.strip()}")
    return [*first, *serve_command(study, port)]


class Clock:
    """The clock of a server that is started with `CLOCKED`."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "offset"
        self.be_off(timedelta())

    def be_off(self, by: timedelta) -> None:
        """Set the server's clock wrong by this much from now on."""
        new = self.file.with_suffix(".new")
        new.write_text(str(by.total_seconds()))
        new.replace(self.file)


def poll(holds: Callable[[], bool], limit_s: float) -> bool:
    """Whether a condition becomes true within the limit."""
    deadline = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)  # a bounded loop
    return True


def labeler(*arguments: object) -> tuple[int, str]:
    """Run a command of the application; returns exit code and output."""
    done = subprocess.run(
        [sys.executable, "-m", "labeler", *map(str, arguments)], capture_output=True, text=True,
        timeout=COMMAND_LIMIT_S, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr.strip()


def last_line(said: str) -> str:
    return said.splitlines()[-1].strip() if said else "nothing said"


def of_command(code: int, said: str) -> list[str]:
    """The faults in the output of a command."""
    problems = ["a traceback"] if "Traceback" in said else []
    if code and "Error: " not in said and "Refused " not in said:
        problems.append("no line says why")
    return problems


@dataclass
class OnDisk:
    """A study that nobody serves, and what became of each attempt to use it."""

    room: Room
    study: Path
    told: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def disk(self) -> Path:
        return self.study.parent

    def note(self, what: str, figures: str, problems: Sequence[str]) -> None:
        """Record one attempt."""
        self.told.append(f"{what}: {figures}")
        self.problems += [f"{what}: {problem}" for problem in problems]


def on_disk(
    prepare: Callable[[Room, Path | None], Path], *, small: bool = True
) -> Callable[[Room], AbstractContextManager[OnDisk]]:
    """A study that `prepare` puts on a small disk, or in an ordinary folder."""

    @contextmanager
    def scene(room: Room) -> Iterator[OnDisk]:
        if not small:
            yield OnDisk(room, prepare(room, None))
            return
        with small_disk(room.folder) as disk:
            yield OnDisk(room, prepare(room, disk))

    return scene


def no_study(_room: Room, disk: Path | None) -> Path:
    """No study yet."""
    assert disk is not None
    return disk / "new.study"


def empty_study(_room: Room, disk: Path | None) -> Path:
    """Return a study without measurements."""
    assert disk is not None
    study = disk / "new.study"
    coordinating.create_study(study, name="New", question="Alike?", coordinator="carol", now=datetime.now(UTC))
    return study


def all_said_why(one: OnDisk) -> Case:
    """Count: each attempt worked or said why not, left nothing unfinished, and worked with room again."""
    return case("", " / ".join(one.told), one.problems or ([] if one.told else ["nothing was tried"]))


# Accidents: too little room


def full(*n_pages: int) -> Callable[[Callable[[OnDisk, int], None]], Callable[[OnDisk], None]]:
    """Let something happen with each of these numbers of pages left on the disk."""

    def happening(act: Callable[[OnDisk, int], None]) -> Callable[[OnDisk], None]:
        def happens(one: OnDisk) -> None:
            for n in n_pages:
                fill(one.disk, but=n)
                act(one, n)

        return happens

    return happening


@full(0, 1, 9, 15, 30)
def init(one: OnDisk, n_pages: int) -> None:
    """No room for a new study: no file remains, and a second try succeeds."""
    study = one.disk / f"new-{n_pages}.study"
    code, said = labeler("init", "--study", study)
    left = sorted(path.name for path in one.disk.glob(f"*{study.name}*"))
    free(one.disk)
    problems = of_command(code, said)
    if code:
        problems += [f"left behind: {name}" for name in left] + again("init", "--study", study)
    one.note(f"{n_pages} pages left", last_line(said), problems)


def again(*arguments: object) -> list[str]:
    """The faults of a second try, with room."""
    code, said = labeler(*arguments)
    return [f"a second try: {said}"] if code else []


@full(0, 9, 12, 40)
def backup(one: OnDisk, n_pages: int) -> None:
    """No room for the copy, on this disk and on another: no copy remains, or a complete one."""
    for where, folder in (("the same disk", one.disk), ("another disk", one.room.new_folder())):
        fill(one.disk, but=n_pages)
        target = folder / f"copy-{n_pages}.study"
        code, said = labeler("backup", "--out", target, "--study", one.study)
        free(one.disk)
        left = sorted(path.name for path in folder.glob(f"{target.name}*"))
        problems = of_command(code, said) + [f"left behind: {name}" for name in left if name != target.name]
        if target.exists():
            problems += not_whole(target)
            problems += ["left a copy without a word about it"] if code and "complete" not in said else []
        else:
            problems += again("backup", "--out", target, "--study", one.study)
        target.unlink(missing_ok=True)
        one.note(f"to {where}, {n_pages} pages left", last_line(said), problems)


def not_whole(copy: Path) -> list[str]:
    """The faults of a copy."""
    try:
        with open_database(copy) as db:
            return [*unsound(db), *([] if items.all_items(db) else ["the copy has no items"])]
    except StudyError as error:
        return [f"the copy cannot be read: {error}"]


def import_files(n_pages: int) -> Callable[[OnDisk], None]:
    """No room for all files: each is imported completely or not at all, and a second import adds the rest."""

    def happens(one: OnDisk) -> None:
        results, problems = one.room.shared(result_files), []
        fill(one.disk, but=n_pages)
        code, said = labeler("import", "--study", one.study, results)
        free(one.disk)
        problems += of_command(code, said) + ([] if code else ["said to be done"])
        n_first = whole_items(one.study, problems)
        problems += again("import", "--study", one.study, results)
        n_all = whole_items(one.study, problems)
        problems += [] if n_all == N_FILES else [f"{n_all} of {N_FILES} after a second import"]
        one.note(f"{n_pages} pages left", f"{n_first} of {N_FILES} imported; {last_line(said)}", problems)

    return happens


@contextmanager
def result_files(room: Room) -> Iterator[Path]:
    folder = room.new_folder()
    for number in range(N_FILES):
        text = json.dumps(series(number, N_RUNS, 800))
        (folder / f"{item_name(number)}.json").write_text(text, encoding="utf-8")
    yield folder


def whole_items(study: Path, problems: list[str]) -> int:
    """The number of items; items without all of their runs are noted as faults."""
    with open_database(study) as db:
        there = items.all_items(db)
        if any(len(runs.of_item(db, item.item_id)) != N_RUNS for item in there):
            problems.append("an item is there in part")
        problems += unsound(db)
    return len(there)


# Accidents: a server is started where it cannot write


@full(0, 9, 12)
def start_on_full_disk(one: OnDisk, n_pages: int) -> None:
    _started(one, f"{n_pages} pages left", serve_command)


def start_with_room_again(one: OnDisk) -> None:
    """The disk was full, and has room again: the server serves."""
    start_on_full_disk(one)
    free(one.disk)
    if _started(one, "room again", serve_command) == "ended":
        one.problems.append("ended although there is room again")


def start_during(
    cause: Callable[[OnDisk], AbstractContextManager[None]], command: Callable[[Path, int], list[str]] = serve_command
) -> Callable[[OnDisk], None]:
    def happens(one: OnDisk) -> None:
        with cause(one):
            _started(one, "started", command)

    return happens


def _started(one: OnDisk, what: str, command: Callable[[Path, int], list[str]]) -> str:
    """Start a server: it serves, or ends with a line that says why."""
    log, port = one.room.new_folder() / "server.log", free_port()
    with log.open("ab") as out:
        process = subprocess.Popen(command(one.study, port), stdout=out, stderr=out)
    try:
        known = poll(lambda: process.poll() is not None or answers(port), START_LIMIT_S)
        outcome = "serves" if process.poll() is None else "ended"
        said = log.read_text(errors="replace").strip()
    finally:
        process.terminate()
        process.wait(timeout=120)
    problems = [] if known else [f"neither ended nor served within {START_LIMIT_S} s"]
    problems += ["a traceback"] if "Traceback" in said else []
    if outcome == "ended" and not last_line(said).startswith("Error: "):
        problems.append("no line says why it ended")
    one.note(what, outcome if outcome == "serves" else last_line(said), problems)
    return outcome


def answers(port: int) -> bool:
    """Return whether a server responds."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def labelling_goes_on(one: OnDisk) -> Case:
    """The study is sound, and takes further answers."""
    with open_database(one.study) as db:
        problems = unsound(db)
    return case("labelling goes on", "one more answer of each", problems + goes_on(one.study, ("ada", "ben")))
