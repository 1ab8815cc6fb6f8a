"""Actions of a reviewer in a browser and their results, shared by the tests.

Key presses are trusted events: Playwright's keyboard sends `Input.dispatchKeyEvent` of Chromium's DevTools protocol. A
second `down` of a key is marked as a repeat, as for a held key.
"""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing

from playwright.sync_api import Page, expect

from labeler.studies.model import Label
from labeler.studies.store import labels, open_database, people
from tests.browser.conftest import Served

SHOWN = "() => window.__review?.paintedAt && performance.now() - window.__review.paintedAt > 260"
SAVED = "() => window.__review?.pending === 0"
IDLE = "() => document.querySelector('.stApp')?.dataset.testScriptState === 'notRunning'"
SEEN = "() => window.__viewer?.paintedAt && performance.now() - window.__viewer.paintedAt > 260"
REPEAT_EVERY_MS = 33


def item_on_screen(page: Page) -> str:
    """Return the code of the item, once it has been shown long enough to be answered."""
    page.wait_for_function(SHOWN)
    return page.evaluate("() => window.__review.code")


def enter(page: Page, served: Served, name: str) -> str:
    """Sign in; returns the code of the first item."""
    page.goto(served.link(name))
    return item_on_screen(page)


def go(page: Page, url: str, path: str) -> None:
    """Open a coordinators' place, perhaps with a view, and wait until it is complete."""
    page.goto(f"{url}/{path}")
    page.locator("h1").wait_for()
    page.wait_for_function(IDLE)


def links_on(page: Page, n: int) -> list[str]:
    """The sign-in links on the page People, once there are this many."""
    links = page.get_by_test_id("stCode").filter(has_text="/join/")
    expect(links).to_have_count(n)
    return [link.inner_text().strip() for link in links.all()]


TAKEN = {
    "Open the study": "The study is open.",
    "Pause the study": "The study is paused.",
    "Assign third labels": "The third-label round has begun.",
    "Close the study": "The study is closed.",
    "Unblind the study": "The study is unblinded.",
}


def take_step(page: Page, url: str, button: str) -> None:
    """Take a step on the page Study, whether it is the next step or one of the others."""
    go(page, url, "study")
    step = page.get_by_role("button", name=button, exact=True)
    if not step.is_visible():
        page.get_by_test_id("stExpander").filter(has_text="the study").get_by_text("the study").first.click()
    step.wait_for()
    for box in page.get_by_role("checkbox").all():
        box.check(force=True)
    for field in page.get_by_label("Reason, kept in the log").all():
        field.fill("because")
        field.press("Enter")
    expect(step).to_be_enabled()
    step.click()
    expect(page.get_by_test_id("stAlert").filter(has_text=TAKEN[button])).to_be_visible()


def press(page: Page, key: str) -> str:
    """Press a key on the current item, and wait until the server has saved the answer."""
    code = item_on_screen(page)
    page.keyboard.press(key)
    page.wait_for_function(SAVED)
    return code


def strike(page: Page, keys: str, every_ms: float) -> None:
    """Press one key after another at the given times: the test is about the gaps."""
    begun = time.monotonic()
    for number, key in enumerate(keys):
        wait_until_due(page, begun, number * every_ms)
        page.keyboard.press(key)


def hold(page: Page, key: str, for_ms: float) -> None:
    begun = time.monotonic()
    for number in range(int(for_ms / REPEAT_EVERY_MS) + 1):
        wait_until_due(page, begun, number * REPEAT_EVERY_MS)
        page.keyboard.down(key)
    page.keyboard.up(key)


def wait_until_due(page: Page, begun: float, after_ms: float) -> None:
    left_ms = 1000 * (begun - time.monotonic()) + after_ms
    if left_ms > 0:
        page.wait_for_timeout(left_ms)


def coded_answers(served: Served, name: str) -> list[tuple[str, str]]:
    """Return (code, answer) of the answers of a reviewer in the study, in order of saving."""
    return [(label.code, label.answer) for label in answers(served, name)]


def answers(served: Served, name: str) -> list[Label]:
    with open_database(served.study) as db:
        person = people.by_name(db, name)
        assert person is not None
        return labels.own_answers(db, person.person_id)


def said(served: Served, name: str) -> list[str]:
    return [answer.answer for answer in answers(served, name)]


def begin(page: Page, served: Served, name: str) -> tuple[str, Callable[[], list[tuple[str, str]]]]:
    """Return the code of the item on the screen, and a function that returns the (code, answer) saved from now on."""
    code, n_before = item_on_screen(page), len(answers(served, name))
    return code, lambda: coded_answers(served, name)[n_before:]


def rows(served: Served, name: str):
    """Return the same as rows of the tidy table."""
    with open_database(served.study) as db:
        table = labels.table(db)
    return table[table["reviewer"] == name].reset_index(drop=True)


def is_sound(served: Served) -> bool:
    with closing(sqlite3.connect(served.study)) as file:
        return file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
