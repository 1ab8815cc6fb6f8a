"""Actions in another window or on another device, and browsers that cannot store data."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from playwright.sync_api import Page, expect

from labeler.model import Role
from labeler.service.people import identity
from labeler.store import open_database
from tests.browser.hands import SAVED, item_on_screen
from tests.reliability._mishaps_clock import follow_link
from tests.reliability._mishaps_scene import ADA, SAYS, WORDS_LIMIT_S, Room, Scene, scene
from tests.reliability._mishaps_sleep import asleep
from tests.reliability.outcome import Case

ELSEWHERE = re.compile("answered in another window")
STAY = re.compile("do not (close|reload)", re.I)
FULL_STORAGE = """() => {
  let size = 2 ** 20, n = 0;
  while (size >= 1) {
    try { sessionStorage.setItem(`filler-${n++}`, "x".repeat(size)); } catch { size = Math.floor(size / 2); }
  }
}"""
BLOCKED_STORAGE = """Object.defineProperty(window, "sessionStorage", {
  get() { throw new DOMException("Access is denied for this document.", "SecurityError"); },
});"""
PENDING = "n => window.__review?.pending === n"


def signed_out_elsewhere(room: Room) -> Iterator[Case]:
    """The reviewer signs out in another window while an answer is unsaved, and signs in again where it waits."""
    with scene(room, room.copy()) as one:
        other = one.context.new_page()
        other.goto(f"{one.served.url}/sign-out")
        with asleep([one.served.process.pid]):
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


def storage_full(room: Room) -> Iterator[Case]:
    """The browser's storage is full: answers wait in the window, and are sent when the server is back."""
    with scene(room, room.copy()) as one:
        one.page.evaluate(FULL_STORAGE)
        with asleep([one.served.process.pid]):
            one.press("d")
            one.press("s")
            seen = one.words("storage full", n_kept=None)
            if not one.page.evaluate(PENDING, 2):
                one.problems.append("the window does not hold both answers")
            if not STAY.search(seen.sentence):
                one.problems.append("nothing says that a reload or closing the window would lose them")
        one.comes_back()
        yield one.judged("the browser's storage full, the server asleep", seen.sentence)


def storage_blocked(room: Room) -> Iterator[Case]:
    """The browser refuses to store data for sites: labelling still works."""
    with scene(room, room.copy(), enter=False) as one:
        one.page.add_init_script(BLOCKED_STORAGE)
        one.page.goto(one.served.link(ADA))
        one.page.wait_for_timeout(500)
        room.take(one.page, "storage blocked")
        one.press("s", is_stored=True)
        yield one.judged("the browser's storage blocked", one.page.inner_text(".status"))


def two_tabs(room: Room) -> Iterator[Case]:
    """The same item is answered in two tabs: the second answer is refused with a message, and both tabs continue."""
    with scene(room, room.copy()) as one:
        other = one.context.new_page()
        other.goto(one.served.url)
        yield from _both_answer(one, other, "two tabs")


def two_devices(room: Room) -> Iterator[Case]:
    """The same item is answered on two devices that both opened the link."""
    with scene(room, room.copy()) as one:
        device = one.room.browser.new_context(viewport={"width": 800, "height": 1100})
        try:
            other = device.new_page()
            other.goto(one.served.link(ADA))
            yield from _both_answer(one, other, "two devices")
        finally:
            device.close()


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


def _both_answer(one: Scene, other: Page, what: str) -> Iterator[Case]:
    code = item_on_screen(other)
    if code != item_on_screen(one.page):
        one.problems.append("they do not show the same item")
    with asleep([one.served.process.pid]):  # both answers are sent before one is processed
        one.press("s")
        other.keyboard.press("d")
        other.wait_for_function(PENDING, arg=1)
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
    _goes_on(one, other)
    one.page.reload()
    yield one.judged(f"{what}, the same item at once", said)


def _goes_on(one: Scene, other: Page) -> None:
    """The next key press on the other screen counts without any further action."""
    code = item_on_screen(other)
    one.pressed.append((code, SAYS["d"]))
    other.keyboard.press("d")
    other.wait_for_function(SAVED)
    expect(other.locator(".status")).to_have_text("Saved")
