"""A full disk: while people label, when the server starts, during `labeler backup` and during `labeler import`."""

import json
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from labeler.studies.course import coordinating
from labeler.studies.store import items, open_database, runs
from tests.browser.conftest import free_port, serve_command
from tests.browser.hands import SAVED
from tests.making import item_name, series
from tests.reliability._ledger import unsound
from tests.reliability._scene import ADA, IN_TROUBLE, Command, Room, Scene, poll, scene, start
from tests.reliability._small_disk import fill, free, small_disk
from tests.reliability.outcome import Case, case

ROOM_FOR_A_LABEL = 20  # in pages: index and log of one answer need fewer
COMMAND_LIMIT_S, START_LIMIT_S, TRY_LIMIT_S = 300, 300, 60
N_FILES, N_RUNS = 30, 5


def labelling(room: Room) -> Iterator[Case]:
    """Another file fills the disk while a reviewer labels: without room, with room for the log, with enough room."""
    amounts = (0, 9, 10) if room.quick else range(ROOM_FOR_A_LABEL)
    with small_disk(room.folder) as disk, scene(room, room.copy(disk)) as one:
        sentences, n_stored = [], 0
        for n_pages in amounts:
            fill(disk, but=n_pages)
            sentence = _press_on_full_disk(one, n_pages)
            sentences += [sentence] if sentence else []
            n_stored += not sentence
            free(disk)
            n_problems = len(one.problems)
            one.comes_back()
            if len(one.problems) > n_problems:
                break  # each amount would only need the same time to fail
        if not sentences:
            one.problems.append("the disk was never full")
        what = f"disk full while labelling, with room for {amounts[0]} to {amounts[-1]} pages"
        told = " / ".join(dict.fromkeys(sentences)) + f"; {n_stored} stored immediately"
        yield one.judged(what, told)


def _press_on_full_disk(one: Scene, n_pages: int) -> str:
    """The message about an answer; empty if there was enough room."""
    one.press("d")
    one.page.wait_for_function(f"() => ({SAVED})() || ({IN_TROUBLE})()", timeout=1000 * TRY_LIMIT_S)
    if one.page.evaluate(SAVED) and not one.look().sentence:
        return ""
    return one.words(f"disk full {n_pages}").sentence


def starting(room: Room) -> Iterator[Case]:
    """The disk is full when the server starts: it serves, or exits with a message that gives the reason."""
    with small_disk(room.folder) as disk:
        study = room.copy(disk)
        for n_pages in (0, 9, 12):
            fill(disk, but=n_pages)
            yield started(room, study, f"server started on a full disk, {n_pages} pages left")
        free(disk)
        with scene(room, study) as one:
            yield one.judged("server started when there is room again", "none")


def started(room: Room, study: Path, what: str, command: Command = serve_command) -> Case:
    """A server that is started where it cannot write: its message, or that it responds."""
    log, port = Path(tempfile.mkdtemp(dir=room.folder)) / "server.log", free_port()
    process = start(command(study, port), log)
    try:
        ended = poll(lambda: process.poll() is not None or answers(port), START_LIMIT_S)
        said = log.read_text(errors="replace").strip()
    finally:
        process.terminate()
        process.wait(timeout=120)
    problems = [] if ended else [f"neither ended nor served within {START_LIMIT_S} s"]
    problems += ["a traceback"] if "Traceback" in said else []
    if process.returncode == 2 and not said.splitlines()[-1].startswith("Error: "):
        problems.append("no line says why it ended")
    return case(what, last_line(said), problems)


def answers(port: int) -> bool:
    """Return whether a server responds."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def labeler(*arguments: object) -> tuple[int, str]:
    """Run a command of the application; returns exit code and output."""
    done = subprocess.run(
        [sys.executable, "-m", "labeler", *map(str, arguments)], capture_output=True, text=True,
        timeout=COMMAND_LIMIT_S, check=False,
    )  # fmt: skip
    return done.returncode, done.stderr.strip()


def last_line(said: str) -> str:
    return said.splitlines()[-1].strip() if said else "nothing said"


def making(room: Room) -> Iterator[Case]:
    """No room for a new study: a message says so, no file remains, and a second try succeeds."""
    with small_disk(room.folder) as disk:
        for n_pages in (0, 1, 9, 15, 30):
            fill(disk, but=n_pages)
            study = disk / f"new-{n_pages}.study"
            code, said = labeler("init", "--study", study)
            left = sorted(path.name for path in disk.glob(f"*{study.name}*"))
            free(disk)
            problems = of_command(code, said)
            if code:
                problems += [f"left behind: {name}" for name in left]
                code, again = labeler("init", "--study", study)
                problems += [f"a second try: {again}"] if code else []
            yield case(f"new study on a full disk, {n_pages} pages left", last_line(said), problems)


def backing_up(room: Room) -> Iterator[Case]:
    """No room for the copy or for the log entry: a message says so, and no copy or a complete copy remains."""
    with small_disk(room.folder) as disk:
        study = room.copy(disk)
        for where, folder in (("the same disk", disk), ("another disk", Path(tempfile.mkdtemp(dir=room.folder)))):
            for n_pages in (0, 9, 12, 40):
                fill(disk, but=n_pages)
                target = folder / f"copy-{n_pages}.study"
                code, said = labeler("backup", "--out", target, "--study", study)
                free(disk)
                problems = of_command(code, said) + _of_copies(folder, target, code, said)
                if not target.exists():
                    code, again = labeler("backup", "--out", target, "--study", study)
                    problems += [f"a second try: {again}"] if code else []
                target.unlink(missing_ok=True)
                yield case(f"backup to {where} from a full disk, {n_pages} pages left", last_line(said), problems)


def _of_copies(folder: Path, target: Path, code: int, said: str) -> list[str]:
    """Return the faults in the files that a backup left."""
    left = sorted(path.name for path in folder.glob(f"{target.name}*"))
    problems = [f"left behind: {name}" for name in left if name != target.name]
    if target.exists():
        with open_database(target) as db:
            problems += [*unsound(db), *([] if items.all_items(db) else ["the copy is not whole"])]
        if code and "whole" not in said:
            problems.append("left a copy without a word about it")
    return problems


def of_command(code: int, said: str) -> list[str]:
    problems = ["a traceback"] if "Traceback" in said else []
    if code and "Error: " not in said and "Refused " not in said:
        problems.append("no line says why")
    return problems


def importing(room: Room) -> Iterator[Case]:
    """No room for all files: each file is imported completely or not at all, and a second import adds the rest."""
    results = Path(tempfile.mkdtemp(dir=room.folder))
    for number in range(N_FILES):
        text = json.dumps(series(number, N_RUNS, 800))
        (results / f"{item_name(number)}.json").write_text(text, encoding="utf-8")
    for n_pages in (0, 9, 60, 300):
        with small_disk(room.folder) as disk:
            study = disk / "new.study"
            now = datetime.now(UTC)
            coordinating.create_study(study, name="New", question="Alike?", coordinator=ADA, now=now)
            fill(disk, but=n_pages)
            code, said = labeler("import", "--study", study, results)
            free(disk)
            problems = of_command(code, said) + ([] if code else ["said to be done"])
            n_first = _whole_items(study, problems)
            code, again = labeler("import", "--study", study, results)
            if code or _whole_items(study, problems) != N_FILES:
                problems.append(f"a second import: {again}")
            yield case(
                f"import on a full disk, {n_pages} pages left",
                f"{n_first} of {N_FILES} imported; {last_line(said)}",
                problems,
            )


def _whole_items(study: Path, problems: list[str]) -> int:
    """The number of items; items without all of their runs are noted as faults."""
    with open_database(study) as db:
        there = items.all_items(db)
        if any(len(runs.of_item(db, item.item_id)) != N_RUNS for item in there):
            problems.append("an item is there in part")
        problems += unsound(db)
    return len(there)


FULL_DISKS = {
    "full-labelling": labelling,
    "full-start": starting,
    "full-init": making,
    "full-backup": backing_up,
    "full-import": importing,
}
