"""What goes wrong while a reviewer labels at a page: files, clocks, sleep, connections, other windows and devices."""

import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Page, Route, WebSocketRoute, expect

from labeler.studies.model import Role
from labeler.studies.people import identity
from labeler.studies.store import open_database
from tests.browser.hands import SAVED, coded_answers, item_on_screen
from tests.reliability.disks import fill, free
from tests.reliability.pages import ADA, BEN, IN_TROUBLE, SAYS, WORDS_LIMIT_S, AtPage

DAY, DECADE, LONG_SLEEP = timedelta(days=1), timedelta(days=3650), timedelta(hours=8)
STEPS = (-DAY, DAY, -DECADE)
DEAD_LIMIT_S, TRY_LIMIT_S = 45, 60
ASLEEP_S, QUICK_S = 40, 5
ROOM_FOR_A_LABEL = 20  # in pages: index and log of one answer need fewer
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

Cause = Callable[[AtPage], AbstractContextManager[None]]
Happens = Callable[[AtPage], None]


def nothing_more(_one: AtPage) -> None:
    """Nothing else happens during the accident."""


def during(cause: Cause, keys: str = "d", *, n_kept: int | None = 1, then: Happens = nothing_more) -> Happens:
    """Keys are pressed during an accident, the screen says so, it is mended, and everything is saved.

    `n_kept` answers wait in the browser; `then` is what else happens before the end.
    """

    def happens(one: AtPage) -> None:
        with cause(one):
            for key in keys:
                one.press(key)
            one.words(n_kept=n_kept)
            then(one)
        one.comes_back()

    return happens


# Files


def disk_full(one: AtPage) -> None:
    """Another file fills the disk: without room, with room for the log, with enough room."""
    disk, n_stored = one.study.parent, 0
    for n_pages in (0, 9, 10) if one.room.quick else range(ROOM_FOR_A_LABEL):
        fill(disk, but=n_pages)
        one.press("d")
        one.page.wait_for_function(f"() => ({SAVED})() || ({IN_TROUBLE})()", timeout=1000 * TRY_LIMIT_S)
        if one.page.evaluate(SAVED) and not one.look().sentence:
            n_stored += 1
        else:
            one.words()
        free(disk)
        n_problems = len(one.problems)
        one.comes_back()
        if len(one.problems) > n_problems:
            break  # each amount would only need the same time to fail
    if not one.told:
        one.problems.append("the disk was never full")
    one.told.append(f"{n_stored} stored immediately")


def backup_of(study: Path) -> Path:
    """Return a copy of the study beside it, made by `labeler backup`."""
    target = study.with_name("copy.study")
    with open_database(study) as db:
        db.backup(target)
    return target


@contextmanager
def removed(one: AtPage) -> Iterator[None]:
    """The study and the files that SQLite keeps beside it are deleted; then a backup replaces it."""
    copy = backup_of(one.study)
    for path in one.study.parent.glob(f"{one.study.name}*"):
        path.unlink()
    yield
    copy.replace(one.study)


@contextmanager
def moved(one: AtPage) -> Iterator[None]:
    """The folder with the study is moved away, then back."""
    folder, away = one.study.parent, one.room.new_folder() / "away"
    shutil.move(folder, away)
    yield
    shutil.move(away, folder)


def another_comes(one: AtPage) -> None:
    """Press once more if possible; another person opens a sign-in link while there is no study."""
    if one.look().shows_item:
        one.press("s")
    page = one.browser.new_context(viewport={"width": 1000, "height": 600}).new_page()
    try:
        page.goto(one.served.link(BEN))
        said_without_study(one, page)
    finally:
        page.context.close()


def reloads(one: AtPage) -> None:
    """The page is reloaded before the study is back."""
    one.page.reload()
    said_without_study(one, one.page)


def said_without_study(one: AtPage, page: Page) -> None:
    """A page without a study must not blame the sign-in link."""
    said = page.inner_text("body")
    one.take(page)
    one.check_words(said)
    if false := FALSE_WORDS.search(said):
        one.problems.append(f"at the door it says what is not so: {false[0]!r}")
    one.told.append(" ".join(said.split()))


def replaced(one: AtPage) -> None:
    """The study is replaced by its backup between two answers, also while another process has it open."""
    for _ in range(2):
        backup_of(one.study).replace(one.study)
        one.press("s", is_stored=True)
    with open_database(one.study) as held:
        held.execute("SELECT count(*) FROM labels").fetchone()
        one.press("d", is_stored=True)
        backup_of(one.study).replace(one.study)
        one.press("s")
        one.page.wait_for_timeout(1000)  # whether it was stored is counted at the end
    one.comes_back()


# Clocks


def server_clock(one: AtPage) -> None:
    """Labels and an undo while the server's clock jumps by a day and by ten years."""
    for step in STEPS:
        one.clock.be_off(step)
        one.press("d", is_stored=True)
        one.undo()
        one.press("s", is_stored=True)
        one.clock.be_off(timedelta())
        one.press("d", is_stored=True)


def server_clock_ahead(one: AtPage) -> None:
    """The server's clock is ten years ahead: sessions and links have expired; then it is right again."""
    one.clock.be_off(DECADE)
    one.press("d")
    one.words()
    if "expired" not in (said := follow_link(one)):
        one.problems.append(f"an old link says {said!r}")
    one.told.append(said)
    one.clock.be_off(timedelta())
    follow_link(one)
    one.comes_back()


def server_clock_behind(one: AtPage) -> None:
    """The reviewer signs in while the server's clock is ten years behind; then it is right again."""
    one.clock.be_off(-DECADE)
    one.page.context.clear_cookies()  # the session of before would go on
    follow_link(one)
    one.press("s", is_stored=True)
    one.clock.be_off(timedelta())
    one.press("d")
    one.words()
    follow_link(one)
    one.comes_back()


def follow_link(one: AtPage) -> str:
    """Open the sign-in link in the reviewer's window; returns the text of the page."""
    one.page.goto(one.served.link(ADA))
    return " ".join(one.page.inner_text("body").split())


def browser_clock(one: AtPage) -> None:
    """The browser's clock jumps by a day and ten years while an answer is given."""
    one.page.clock.install()
    one.enter()
    right = datetime.now(UTC)
    for step in (*STEPS, DECADE):
        one.press("s", is_stored=True)
        one.page.clock.set_system_time(right + step)
        one.press("d", is_stored=True)
    if not one.page.evaluate("ms => Date.now() - ms > 0", 1000 * (right + DAY).timestamp()):
        one.problems.append("no clock stepped")


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


def server_asleep(one: AtPage) -> AbstractContextManager[None]:
    return asleep([one.served.process.pid])


@contextmanager
def offline(one: AtPage) -> Iterator[None]:
    one.context.set_offline(True)
    yield
    one.context.set_offline(False)


def a_while(one: AtPage) -> None:
    one.page.wait_for_timeout(1000 * one.room.n(ASLEEP_S, QUICK_S))


def browser_asleep(one: AtPage) -> None:
    """The browser sleeps with one unsaved answer, because the server slept when it was given; then without one."""
    seconds = one.room.n(ASLEEP_S, QUICK_S)
    session = one.browser.new_browser_cdp_session()
    processes = [process["id"] for process in session.send("SystemInfo.getProcessInfo")["processInfo"]]
    session.detach()
    with server_asleep(one):
        one.press("d")
        one.words()
        with asleep(processes):
            time.sleep(seconds / 2)  # this wait is the test: both are suspended
    one.comes_back()
    one.slept.append((item_on_screen(one.page), 1000 * seconds))
    with asleep(processes):
        time.sleep(seconds)  # the same, with the server awake: it closes connections that do not respond
    one.press("s")
    one.comes_back()


def lid_closed(one: AtPage) -> None:
    """A laptop lid closed for eight hours, on a machine whose monotonic clock continues during sleep."""
    one.page.clock.install()
    one.enter()
    asleep_ms = int(1000 * LONG_SLEEP.total_seconds())
    one.slept.append((item_on_screen(one.page), asleep_ms))
    one.page.clock.fast_forward(asleep_ms)
    one.page.wait_for_timeout(1000)  # the screen says so at its next tick, twice per second
    said = one.page.inner_text(".status")
    one.take(one.page)
    one.told.append(said)
    if "not counted" not in said:
        one.problems.append("nothing says that this time is not counted")
    one.press("d")
    one.comes_back()


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


def dead_connection(one: AtPage) -> None:
    """The connection is dead after sleep and the browser is not informed: the page recovers by itself, or says how."""
    lines = Lines(one.page)
    one.enter()
    lines.die()
    one.press("d")
    one.press("s")
    one.words(n_kept=2)
    if not one.until(lambda: bool(one.page.evaluate(SAVED)), DEAD_LIMIT_S):
        if "reload" not in one.look().sentence.lower():
            one.problems.append(f"after {DEAD_LIMIT_S} s it neither connected anew nor said to reload")
        one.page.reload()
    one.comes_back()


# Other windows and devices, and browsers that cannot store data


def signed_out_elsewhere(one: AtPage) -> None:
    """The reviewer signs out in another window while an answer is unsaved, and signs in again where it waits."""
    other = one.context.new_page()
    other.goto(f"{one.served.url}/sign-out")
    with server_asleep(one):
        one.press("d")
        other.get_by_role("button", name="Sign out").click(no_wait_after=True)
    other.get_by_text("You are signed out.").wait_for()
    other.close()
    if one.page.evaluate(SAVED):
        one.press("d")  # the answer was saved before the sign-out: give another answer after it
    told_to_sign_in(one)
    follow_link(one)
    one.comes_back()


def revoked(one: AtPage) -> None:
    """The link is revoked while an answer is unsaved; then a new link is opened where the answer waits."""
    now = datetime.now(UTC)
    with open_database(one.study) as db:
        identity.revoke(db, ADA, Role.REVIEWER, actor="carol", now=now)
    one.press("d")
    told_to_sign_in(one)
    said = follow_link(one)
    one.take(one.page)
    one.told.append(said)
    if "revoked" not in said:
        one.problems.append(f"a revoked link says {said!r}")
    with open_database(one.study) as db:
        one.served.secrets[ADA] = identity.invite(db, ADA, Role.REVIEWER, actor="carol", now=now)
    follow_link(one)
    one.comes_back()


def told_to_sign_in(one: AtPage) -> None:
    if "sign-in link" not in one.words().everything:
        one.problems.append("nothing says how to go on")


@contextmanager
def storage_full(one: AtPage) -> Iterator[None]:
    """The browser's storage is full, and the server is asleep."""
    one.page.evaluate(FULL_STORAGE)
    with server_asleep(one):
        yield


def both_wait_in_the_window(one: AtPage) -> None:
    if not one.page.evaluate(PENDING, 2):
        one.problems.append("the window does not hold both answers")
    if not STAY.search(one.look().sentence):
        one.problems.append("nothing says that a reload or closing the window would lose them")


def storage_blocked(one: AtPage) -> None:
    """The browser refuses to store data for sites: labelling still works."""
    one.page.add_init_script(BLOCKED_STORAGE)
    one.page.goto(one.served.link(ADA))
    one.page.wait_for_timeout(500)
    one.take(one.page)
    one.press("s", is_stored=True)


def link_again(one: AtPage) -> None:
    """The reviewer opens the sign-in link again in another tab: the first tab still works."""
    other = one.context.new_page()
    other.goto(one.served.link(ADA))
    item_on_screen(other)
    one.press("d")
    one.until(lambda: one.page.evaluate(SAVED) or one.look().sentence != "", WORDS_LIMIT_S)
    if one.look().sentence:
        one.words()
        one.problems.append("the first tab was signed out")
    one.comes_back()


def same_item(*, new_device: bool) -> Happens:
    """The same item is answered in two windows: the second is refused with a message, and both continue."""

    def happens(one: AtPage) -> None:
        own = nullcontext(one.context)
        with one.browser.new_context(viewport={"width": 800, "height": 1100}) if new_device else own as context:
            other = context.new_page()
            other.goto(one.served.link(ADA) if new_device else one.served.url)
            if item_on_screen(other) != item_on_screen(one.page):
                one.problems.append("they do not show the same item")
            both_answer(one, other)

    return happens


def both_answer(one: AtPage, other: Page) -> None:
    with server_asleep(one):  # both answers are sent before one is processed
        one.press("s")
        other.keyboard.press("d")
        other.wait_for_function("() => window.__review?.pending > 0")  # tabs of one browser see each other's answers
    other.wait_for_function(SAVED)
    one.page.wait_for_function(SAVED)
    refused = [page for page in (one.page, other) if ELSEWHERE.search(page.inner_text(".status"))]
    if len(refused) != 1:
        one.problems.append(f"{len(refused)} of two were refused")
    for page in refused:
        one.take(page)
        one.told.append(page.inner_text(".status"))
        one.check_words(one.told[-1])
    one.pressed[-1] = coded_answers(one.served, ADA)[-1]  # the order is not fixed
    one.pressed.append((item_on_screen(other), SAYS["d"]))  # the next key press counts without any further action
    other.keyboard.press("d")
    other.wait_for_function(SAVED)
    expect(other.locator(".status")).to_contain_text(", saved.")
    one.page.reload()
