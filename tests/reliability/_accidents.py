"""Accidents while a reviewer labels: files, permissions, clocks, sleep, connections, other windows and devices."""

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Page, Route, WebSocketRoute, expect

from analysis.raters.tables import first_labels
from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.screen.timing import IDLE_LIMIT_MS, time_on_task
from labeler.studies.store import labels, open_database
from tests.browser.conftest import serve_command
from tests.browser.hands import SAVED, item_on_screen, own_answers
from tests.reliability._disks import labeler, last_line, of_command, started
from tests.reliability._scene import ADA, BEN, SAYS, WITHDRAWN, WORDS_LIMIT_S, Command, Room, Scene, poll, scene
from tests.reliability._small_disk import small_disk
from tests.reliability.outcome import CannotTry, Case, case

DAY, DECADE, LONG_SLEEP = timedelta(days=1), timedelta(days=3650), timedelta(hours=8)
STEPS = (-DAY, DAY, -DECADE)
CLOCKED = (sys.executable, "-m", "tests.reliability._wrong_clock")
CLOSED_FILE, CLOSED_FOLDER = 0o444, 0o555
REMOUNT_LIMIT_S, DEAD_LIMIT_S = 120, 45
ASLEEP_S, QUICK_S = 40, 5
AWAKE_MS = 30_000  # in no test does the reviewer look at an item for so long
STREAM, REQUESTS = re.compile(r"/_stcore/stream"), re.compile(r"/api/")
FALSE_WORDS = re.compile(r"not signed in|not valid|expired|revoked", re.I)
ELSEWHERE = re.compile("answered in another window")
STAY = re.compile("do not (close|reload)", re.I)
PENDING = "n => window.__review?.pending === n"
FULL_STORAGE = """() => {
  let size = 2 ** 20, n = 0;
  while (size >= 1) {
    try { localStorage.setItem(`filler-${n++}`, "x".repeat(size)); } catch { size = Math.floor(size / 2); }
  }
}"""
BLOCKED_STORAGE = """for (const name of ["sessionStorage", "localStorage"]) Object.defineProperty(window, name, {
  get() { throw new DOMException("Access is denied for this document.", "SecurityError"); },
});"""

Cause = Callable[[Scene], AbstractContextManager[object]]


@dataclass(frozen=True)
class Accident:
    """Something goes wrong, keys are pressed, the screen says so, it is mended, and every answer is stored once.

    `while_gone` gets the scene before it is mended; its words are added to the message.
    """

    what: str
    cause: Cause
    keys: str = "d"
    n_kept: int | None = 1  # the answers that wait in the browser
    while_gone: Callable[[Scene], str] = lambda _one: ""
    command: Command = serve_command
    starts: bool = False  # whether a server is also started during the accident

    def __call__(self, room: Room, study: Path | None = None) -> Iterator[Case]:
        study = study or room.copy()
        with scene(room, study, self.command) as one:
            with self.cause(one):
                for key in self.keys:
                    one.press(key)
                sentence = one.words(self.what, n_kept=self.n_kept).sentence + self.while_gone(one)
            one.comes_back()
            yield one.judged(f"{self.what} while labelling", sentence)
        if self.starts:
            with self.cause(one):
                yield started(room, study, f"server started with {self.what}", self.command)


# Files and permissions


def backup_of(study: Path) -> Path:
    """Return a copy of the study beside it, made by `labeler backup`."""
    target = study.with_name("copy.study")
    with open_database(study) as db:
        db.backup(target)
    return target


@contextmanager
def removed(one: Scene) -> Iterator[None]:
    """The study and the files that SQLite keeps beside it are deleted; then a backup replaces it."""
    study = one.served.study
    copy = backup_of(study)
    for path in study.parent.glob(f"{study.name}*"):
        path.unlink()
    yield
    copy.replace(study)


@contextmanager
def moved(one: Scene) -> Iterator[None]:
    """The folder with the study is moved away, then back."""
    folder, away = one.served.study.parent, Path(tempfile.mkdtemp(dir=one.room.folder)) / "away"
    shutil.move(folder, away)
    yield
    shutil.move(away, folder)


def another_comes(one: Scene) -> str:
    """Press once more if possible; another person opens a sign-in link while there is no study."""
    if one.look().shows_item:
        one.press("s")
    page = one.room.browser.new_context(viewport={"width": 1000, "height": 600}).new_page()
    try:
        page.goto(one.served.link(BEN))
        return f"”; a sign-in link shows “{said_at_the_door(one, page)}"
    finally:
        page.context.close()


def reloads(one: Scene) -> str:
    """The page is reloaded before the study is back."""
    one.page.reload()
    return f"”; a reload shows “{said_at_the_door(one, one.page)}"


def said_at_the_door(one: Scene, page: Page) -> str:
    """The text of a page without a study, which must not blame the sign-in link."""
    said = page.inner_text("body")
    one.room.take(page, "the door while the study is gone")
    one.check_words(said)
    if false := FALSE_WORDS.search(said):
        one.problems.append(f"at the door it says what is not so: {false[0]!r}")
    return " ".join(said.split())


def replaced(room: Room) -> Iterator[Case]:
    """The study is replaced by its backup between two answers, while another process has it open."""
    with scene(room, room.copy()) as one:
        for _ in range(2):
            backup_of(one.served.study).replace(one.served.study)
            one.press("s", is_stored=True)
        with open_database(one.served.study) as held:
            held.execute("SELECT count(*) FROM labels").fetchone()
            one.press("d", is_stored=True)
            backup_of(one.served.study).replace(one.served.study)
            one.press("s")
            one.page.wait_for_timeout(1000)  # whether it was stored is checked below
        one.comes_back()
        seen = one.look().sentence or one.page.evaluate(f"() => ({SAVED})() && 'Saved'")
        yield one.judged("study replaced by its backup while labelling", str(seen))


def without_permission(what: str, paths: Callable[[Path], Sequence[Path]]) -> Callable[[Room], Iterator[Case]]:
    """Files and folders become read-only, then writable again; a server starts with them."""

    def happens(room: Room) -> Iterator[Case]:
        first = held_back()

        def command(study: Path, port: int) -> list[str]:
            return [*first, *serve_command(study, port)]

        yield from Accident(what, lambda one: closed(paths(one.served.study)), command=command, starts=True)(room)

    return happens


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
    with small_disk(room.folder) as disk:
        yield from Accident("its disk read-only", lambda _one: remounted(disk), starts=True)(room, room.copy(disk))


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


# Clocks


class Clock:
    """The clock of a server that is started with `command_of`."""

    def __init__(self, room: Room) -> None:
        self.file = Path(tempfile.mkdtemp(dir=room.folder)) / "offset"
        self.be_off(timedelta())

    def be_off(self, by: timedelta) -> None:
        """Set the server's clock wrong by this much from now on."""
        new = self.file.with_suffix(".new")
        new.write_text(str(by.total_seconds()))
        new.replace(self.file)

    def command_of(self, study: Path, port: int) -> list[str]:
        return [*CLOCKED, str(self.file), *serve_command(study, port)[3:]]


def server_clock(room: Room) -> Iterator[Case]:
    """Labels, an undo and reports while the server's clock jumps by a day and by ten years."""
    clock = Clock(room)
    with scene(room, room.copy(), clock.command_of) as one:
        for step in STEPS:
            clock.be_off(step)
            one.press("d", is_stored=True)
            _take_back(one)
            one.press("s", is_stored=True)
            clock.be_off(timedelta())
            one.press("d", is_stored=True)
        _check_order(one)
        yield one.judged(
            "the server's clock moved a day back, a day ahead and ten years back", one.page.inner_text(".status")
        )
        study, out = one.served.study, Path(tempfile.mkdtemp(dir=room.folder))
        for arguments in (
            ("status",), ("plan", "--verify"), ("labels", "--out", out / "labels.csv"),
            ("report", "--quick", "--out", out / "report"), ("backup", "--out", out / "copy.study"),
        ):  # fmt: skip
            code, said = labeler(*arguments, "--study", study)
            problems = of_command(code, said) + ([f"exit code {code}"] if code else [])
            yield case(f"labeler {arguments[0]} on answers with times that go back", last_line(said), problems)


def _take_back(one: Scene) -> None:
    """Undo: the item is on the screen again."""
    code, _ = one.pressed[-1]
    one.pressed.append((code, WITHDRAWN))
    one.page.keyboard.press("u")
    one.page.wait_for_function("code => window.__review.code === code && window.__review.pending === 0", arg=code)


def _check_order(one: Scene) -> None:
    """Check that the first labels follow the order of the key presses, and that the clocks really were wrong."""
    with open_database(one.served.study) as db:
        table = labels.table(db)
    first = first_labels(table.rename(columns={"reviewer": "rater", "label": "answer"}))["answer"].tolist()
    nexts = [*one.pressed[1:], ("", "")]
    stand = [now for now, after in zip(one.pressed, nexts, strict=True) if WITHDRAWN not in (now[1], after[1])]
    expected = [answer for _, answer in stand]
    if first != expected:
        one.problems.append(f"first labels {first}, pressed {expected}")
    if table["created_utc"].is_monotonic_increasing:
        one.problems.append("no clock stepped")


def server_clock_sign_in(room: Room) -> Iterator[Case]:
    """Sign-in links and sessions while the server's clock is ten years ahead, and ten years behind."""
    clock = Clock(room)
    with scene(room, room.copy(), clock.command_of) as one:
        clock.be_off(DECADE)
        one.press("d")
        ended = one.words("server's clock ten years ahead").sentence
        expired = follow_link(one)
        if "expired" not in expired:
            one.problems.append(f"an old link says {expired!r}")
        clock.be_off(timedelta())
        follow_link(one)
        one.comes_back()
        yield one.judged(
            "the server's clock ten years ahead, then right again", f"{ended}”; a sign-in link shows “{expired}"
        )
        clock.be_off(-DECADE)
        follow_link(one)
        one.press("s", is_stored=True)
        clock.be_off(timedelta())
        one.press("d")
        ended = one.words("signed in while the server's clock was late").sentence
        follow_link(one)
        one.comes_back()
        yield one.judged("signed in while the server's clock was ten years behind, then right again", ended)


def follow_link(one: Scene) -> str:
    """Open the sign-in link in the reviewer's window; returns the text of the page."""
    one.page.goto(one.served.link(ADA))
    return " ".join(one.page.inner_text("body").split())


def browser_clock(room: Room) -> Iterator[Case]:
    """The browser's clock jumps by a day and ten years while an answer is given."""
    with scene(room, room.copy(), enter=False) as one:
        one.page.clock.install()
        one.page.goto(one.served.link(ADA))
        right = datetime.now(UTC)
        for step in (*STEPS, DECADE):
            one.press("s", is_stored=True)
            one.page.clock.set_system_time(right + step)
            one.press("d", is_stored=True)
        if not one.page.evaluate("ms => Date.now() - ms > 0", 1000 * (right + DAY).timestamp()):
            one.problems.append("no clock stepped")
        yield one.judged(
            "the browser's clock moved a day and ten years, back and ahead", one.page.inner_text(".status")
        )


# Sleep and connections


@contextmanager
def asleep(processes: Sequence[int]) -> Iterator[None]:
    """Suspend processes, as on a machine that sleeps."""
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


def server_sleeps(one: Scene) -> AbstractContextManager[None]:
    return asleep([one.served.process.pid])


@contextmanager
def offline(one: Scene) -> Iterator[None]:
    one.context.set_offline(True)
    yield
    one.context.set_offline(False)


def a_while(one: Scene) -> str:
    one.page.wait_for_timeout(1000 * _seconds(one.room))
    return ""


def _seconds(room: Room) -> float:
    return QUICK_S if room.quick else ASLEEP_S


def browser_asleep(room: Room) -> Iterator[Case]:
    """The browser sleeps with one unsaved answer, because the server slept when it was given."""
    with scene(room, room.copy()) as one:
        seconds = _seconds(room)
        session = room.browser.new_browser_cdp_session()
        processes = [process["id"] for process in session.send("SystemInfo.getProcessInfo")["processInfo"]]
        session.detach()
        with server_sleeps(one):
            one.press("d")
            seen = one.words("before the browser sleeps")
            with asleep(processes):
                time.sleep(seconds / 2)  # this wait is the test: both are suspended
        one.comes_back()
        code = item_on_screen(one.page)
        with asleep(processes):
            time.sleep(seconds)  # the same, with the server awake: it closes connections that do not respond
        one.press("s")
        one.comes_back()
        _check_times(one, code, int(1000 * seconds))
        yield one.judged(f"the browser asleep for {seconds} s", seen.sentence)


def hours_asleep(room: Room) -> Iterator[Case]:
    """A laptop lid closed for eight hours, on a machine whose monotonic clock continues during sleep."""
    with scene(room, room.copy(), enter=False) as one:
        one.page.clock.install()
        one.page.goto(one.served.link(ADA))
        one.press("s", is_stored=True)
        code = item_on_screen(one.page)
        one.page.clock.fast_forward(int(1000 * LONG_SLEEP.total_seconds()))
        one.page.wait_for_timeout(1000)  # the screen says so at its next tick, twice per second
        said = one.page.inner_text(".status")
        if "not counted" not in said:
            one.problems.append("nothing says that this time is not counted")
        room.take(one.page, "awake after eight hours")
        one.press("d")
        one.comes_back()
        _check_times(one, code, int(1000 * LONG_SLEEP.total_seconds()))
        yield one.judged("a lid closed for eight hours", said)


def _check_times(one: Scene, code: str, asleep_ms: int) -> None:
    """Check that no more of the sleep counts than of any other time without input."""
    answer = next(answer for own, answer in own_answers(one.served, ADA) if own == code)
    dwell = answer.dwell_ms or 0
    counted = time_on_task(dwell, answer.view)
    if dwell < asleep_ms:
        one.problems.append(f"only {dwell} ms passed on the screen: it did not sleep")
    if counted > min(asleep_ms, IDLE_LIMIT_MS) + AWAKE_MS:
        one.problems.append(f"{counted} ms of {dwell} count as time on task")


class Lines:
    """The connections of a page; a dead connection transfers nothing and is never closed."""

    def __init__(self, page: Page) -> None:
        self.n, self.n_dead, self.n_hanging = 0, 0, 0
        page.route_web_socket(STREAM, self._connect)
        page.route(REQUESTS, self._ask)

    def _ask(self, route: Route) -> None:
        """The first request takes the connection that is dead and gets no reply; the browser then opens another."""
        if self.n_hanging:
            self.n_hanging -= 1
        else:
            route.continue_()

    def _connect(self, page: WebSocketRoute) -> None:
        self.n += 1
        number, server = self.n, page.connect_to_server()
        page.on_message(lambda message: server.send(message) if number > self.n_dead else None)
        server.on_message(lambda message: page.send(message) if number > self.n_dead else None)
        page.on_close(lambda code, reason: server.close(code=code, reason=reason) if number > self.n_dead else None)
        server.on_close(lambda code, reason: page.close(code=code, reason=reason) if number > self.n_dead else None)

    def die(self) -> None:
        """Make all current connections dead."""
        self.n_dead, self.n_hanging = self.n, 1


def dead_line(room: Room) -> Iterator[Case]:
    """The connection is dead after sleep and the browser is not informed: the page recovers by itself, or says how."""
    with scene(room, room.copy(), enter=False) as one:
        lines = Lines(one.page)
        one.page.goto(one.served.link(ADA))
        one.press("s", is_stored=True)
        item_on_screen(one.page)
        lines.die()
        one.press("d")
        one.press("s")
        seen = one.words("dead line", n_kept=2)
        saved = one.until(lambda: bool(one.page.evaluate(SAVED)), DEAD_LIMIT_S)
        if not saved and "reload" not in one.look().sentence.lower():
            one.problems.append(f"after {DEAD_LIMIT_S} s it neither connected anew nor said to reload")
        if not saved:
            one.page.reload()
        one.comes_back()
        yield one.judged("a dead connection that nobody closes", seen.sentence)


# Other windows and devices, and browsers that cannot store data


def signed_out(room: Room) -> Iterator[Case]:
    """The reviewer signs out in another window while an answer is unsaved, and signs in again where it waits."""
    with scene(room, room.copy()) as one:
        other = one.context.new_page()
        other.goto(f"{one.served.url}/sign-out")
        with server_sleeps(one):
            one.press("d")
            other.get_by_role("button", name="Sign out").click(no_wait_after=True)
        other.get_by_text("You are signed out.").wait_for()
        other.close()
        if one.page.evaluate(SAVED):
            one.press("d")  # the answer was saved before the sign-out: give another answer after it
        yield _signed_in_again(one, "signed out in another window", _told_to_sign_in(one, "signed out elsewhere"))


def revoked(room: Room) -> Iterator[Case]:
    """The link is revoked while an answer is unsaved; then a new link is opened where the answer waits."""
    with scene(room, room.copy()) as one:
        now = datetime.now(UTC)
        with open_database(one.served.study) as db:
            identity.revoke(db, ADA, Role.REVIEWER, actor="carol", now=now)
        one.press("d")
        sentence = _told_to_sign_in(one, "revoked")
        said = follow_link(one)
        room.take(one.page, "a revoked link")
        if "revoked" not in said:
            one.problems.append(f"a revoked link says {said!r}")
        with open_database(one.served.study) as db:
            one.served.secrets[ADA] = identity.invite(db, ADA, Role.REVIEWER, actor="carol", now=now)
        yield _signed_in_again(one, "revoked, then given a new link", f"{sentence}”; a sign-in link shows “{said}")


def _told_to_sign_in(one: Scene, what: str) -> str:
    seen = one.words(what)
    if "sign-in link" not in seen.everything:
        one.problems.append("nothing says how to go on")
    return seen.sentence


def _signed_in_again(one: Scene, what: str, sentence: str) -> Case:
    follow_link(one)
    one.comes_back()
    return one.judged(what, sentence)


@contextmanager
def storage_full(one: Scene) -> Iterator[None]:
    one.page.evaluate(FULL_STORAGE)
    with server_sleeps(one):
        yield


def both_wait_in_the_window(one: Scene) -> str:
    if not one.page.evaluate(PENDING, 2):
        one.problems.append("the window does not hold both answers")
    if not STAY.search(one.look().sentence):
        one.problems.append("nothing says that a reload or closing the window would lose them")
    return ""


def storage_blocked(room: Room) -> Iterator[Case]:
    """The browser refuses to store data for sites: labelling still works."""
    with scene(room, room.copy(), enter=False) as one:
        one.page.add_init_script(BLOCKED_STORAGE)
        one.page.goto(one.served.link(ADA))
        one.page.wait_for_timeout(500)
        room.take(one.page, "storage blocked")
        one.press("s", is_stored=True)
        yield one.judged("the browser's storage blocked", one.page.inner_text(".status"))


def link_again(room: Room) -> Iterator[Case]:
    """The reviewer opens the sign-in link again in another tab: the first tab still works."""
    with scene(room, room.copy()) as one:
        other = one.context.new_page()
        other.goto(one.served.link(ADA))
        item_on_screen(other)
        one.press("d")
        one.until(lambda: one.page.evaluate(SAVED) or one.look().sentence != "", WORDS_LIMIT_S)
        said = one.look().sentence
        if said:
            one.words("link opened again in another tab")
            one.problems.append("the first tab was signed out")
        one.comes_back()
        yield one.judged("sign-in link opened again in another tab", said or "Saved")


def same_item(what: str, *, new_device: bool) -> Callable[[Room], Iterator[Case]]:
    """The same item is answered in two windows: the second is refused with a message, and both continue."""

    def happens(room: Room) -> Iterator[Case]:
        with scene(room, room.copy()) as one:
            own = nullcontext(one.context)
            with room.browser.new_context(viewport={"width": 800, "height": 1100}) if new_device else own as context:
                other = context.new_page()
                other.goto(one.served.link(ADA) if new_device else one.served.url)
                yield _both_answer(one, other, what)

    return happens


def _both_answer(one: Scene, other: Page, what: str) -> Case:
    code = item_on_screen(other)
    if code != item_on_screen(one.page):
        one.problems.append("they do not show the same item")
    with server_sleeps(one):  # both answers are sent before one is processed
        one.press("s")
        other.keyboard.press("d")
        other.wait_for_function("() => window.__review?.pending > 0")  # tabs of one browser see each other's answers
    other.wait_for_function(SAVED)
    one.page.wait_for_function(SAVED)
    refused = [page for page in (one.page, other) if ELSEWHERE.search(page.inner_text(".status"))]
    said = refused[0].inner_text(".status") if refused else ""
    if len(refused) != 1:
        one.problems.append(f"{len(refused)} of two were refused")
    else:
        one.room.take(refused[0], what)
    one.check_words(said)
    one.pressed[-1] = one.kept()[-1]  # the order is not fixed
    one.pressed.append((item_on_screen(other), SAYS["d"]))  # the next key press counts without any further action
    other.keyboard.press("d")
    other.wait_for_function(SAVED)
    expect(other.locator(".status")).to_contain_text(", saved.")
    one.page.reload()
    return one.judged(f"{what}, the same item at once", said)


ACCIDENTS: dict[str, Callable[[Room], Iterator[Case]]] = {
    "readonly-file": without_permission("the study read-only", lambda study: [study]),
    "readonly-folder": without_permission("the study and its folder read-only", lambda study: [study, study.parent]),
    "readonly-disk": readonly_disk,
    "removed": Accident("study removed", removed, while_gone=another_comes),
    "moved": Accident("study moved away", moved, while_gone=another_comes),
    "replaced": replaced,
    "gone-reload": Accident("study moved away, page reloaded", moved, while_gone=reloads),
    "server-clock": server_clock,
    "server-clock-sign-in": server_clock_sign_in,
    "browser-clock": browser_clock,
    "server-asleep": Accident("the server asleep", server_sleeps, "ds", 2, a_while),
    "browser-asleep": browser_asleep,
    "hours-asleep": hours_asleep,
    "network-off": Accident("the network off", offline, n_kept=None, while_gone=a_while),
    "line-dead": dead_line,
    "signed-out": signed_out,
    "revoked": revoked,
    "storage-full": Accident("the browser's storage full", storage_full, "ds", None, both_wait_in_the_window),
    "storage-blocked": storage_blocked,
    "link-again": link_again,
    "two-tabs": same_item("two tabs", new_device=False),
    "two-devices": same_item("two devices", new_device=True),
}
