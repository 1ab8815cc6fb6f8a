"""The server is killed with SIGKILL while five reviewers are at different stages of a key press, then restarted.

Every key press is in the study exactly once, in order. A page reconnects by itself.
"""

import re
import sqlite3
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass

import pytest
from playwright.sync_api import Error, Page, expect

from tests.browser import studies
from tests.browser.conftest import serving
from tests.browser.hands import SAVED, coded_answers, enter, is_sound, item_on_screen

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # test_pending stops a server daily

STREAM, REQUESTS = re.compile(r"/_stcore/stream"), re.compile(r"/api/")
BACK_LIMIT_MS = 30_000
IDLE, BEFORE, AFTER, DOWN, RELOADING, CUT = "ada", "ben", "cleo", "dan", "eve", "fay"


class Line:
    """The connection between a page and the server; a direction stays cut until the page reconnects."""

    def __init__(self, page: Page) -> None:
        self.n_answers_sent = 0
        page.route_web_socket(STREAM, self.connect)
        page.route(REQUESTS, self.ask)
        page.on("request", self.count)

    def count(self, request):
        self.n_answers_sent += request.method == "POST"

    def ask(self, route):
        if not self.is_open_to_server:
            route.abort()
        elif not self.is_open_to_page:
            with suppress(Error):  # the server may be gone
                route.fetch()
            route.abort()
        else:
            route.continue_()

    def connect(self, from_page):
        self.is_open_to_server = self.is_open_to_page = True
        to_server = from_page.connect_to_server()

        from_page.on_message(lambda message: self.is_open_to_server and to_server.send(message))
        to_server.on_message(lambda message: self.is_open_to_page and from_page.send(message))


@dataclass
class Desk:
    """A reviewer's page, its connection, and the keys pressed on each item so far."""

    name: str
    page: Page
    line: Line
    pressed: list[tuple[str, str]]

    def press(self, key: str) -> None:
        self.pressed.append((item_on_screen(self.page), {"s": "similar", "d": "dissimilar"}[key]))
        self.page.keyboard.press(key)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """24 items, 8 for each of six reviewers; one reviewer per test."""
    study = tmp_path_factory.mktemp("crashes") / "crashes.study"
    studies.make(study, studies.many(24), reviewers=(IDLE, BEFORE, AFTER, DOWN, RELOADING, CUT))
    with serving(study) as one:
        yield one


@pytest.fixture(scope="module")
def desks(browser, served):
    made = {}
    for name in (IDLE, BEFORE, AFTER, DOWN, RELOADING, CUT):
        page = browser.new_context(viewport={"width": 1440, "height": 800}).new_page()
        made[name] = Desk(name, page, Line(page), [])
        enter(page, served, name)
    yield made
    for desk in made.values():
        desk.page.context.close()


@contextmanager
def writing(study):
    """Hold the study's only write lock, like another writing process."""
    with closing(sqlite3.connect(study, isolation_level=None)) as file:
        file.execute("BEGIN IMMEDIATE")
        try:
            yield
        finally:
            file.execute("ROLLBACK")


def kept(served, name):
    return coded_answers(served, name)


def wait_until(page: Page, holds) -> None:
    """Let the page run until a condition outside of it is true."""
    for _ in range(3000):
        if holds():
            return
        page.wait_for_timeout(20)  # polls in a bounded loop
    raise AssertionError("it did not become true within 60 s")


def press_before_the_commit(desk, served):
    """The server has the request for this key press, and waits for the lock that this test holds."""
    n_before = desk.line.n_answers_sent
    desk.press("s")
    wait_until(desk.page, lambda: desk.line.n_answers_sent > n_before)
    desk.page.wait_for_timeout(300)  # the request reaches the server, which says nothing before the commit
    assert kept(served, desk.name) == []


def press_after_the_commit(desk, served):
    """The answer is in the file, but its acknowledgement never reaches the page."""
    desk.line.is_open_to_page = False
    desk.press("s")
    wait_until(desk.page, lambda: kept(served, desk.name) == desk.pressed)
    assert desk.page.evaluate("() => window.__review.pending") == 1


def press_while_down(desks, keys):
    """Press keys in turn."""
    for pair in zip(*keys.values(), strict=True):
        for name, key in zip(keys, pair, strict=True):
            desks[name].press(key)
    for name in keys:
        assert desks[name].page.evaluate("() => window.__review.pending") == len(keys[name])


@pytest.fixture(scope="module")
def outage(desks, served):
    """Five key presses at five stages, the kill, and the same study served again on the same port.

    Returns the status lines while there was no server.
    """
    for name in desks:
        item_on_screen(desks[name].page)
    press_after_the_commit(desks[AFTER], served)
    with writing(served.study):
        press_before_the_commit(desks[BEFORE], served)
        served.kill()
    press_while_down(desks, {DOWN: "sd", RELOADING: "ds"})
    words = {}
    for name in (BEFORE, AFTER, DOWN, RELOADING):
        status = desks[name].page.locator(".status")
        expect(status).to_contain_text("Not saved yet", timeout=90_000)
        words[name] = status.inner_text()
    served.start_again()
    return words


def assert_goes_on(desk, served):
    """After reconnecting, everything is saved once and in order, the page says so, and the next key press counts."""
    page = desk.page
    page.wait_for_function(SAVED, timeout=BACK_LIMIT_MS)
    assert kept(served, desk.name) == desk.pressed
    expect(page.get_by_role("dialog", name="Connection error")).to_be_hidden(timeout=BACK_LIMIT_MS)
    desk.press("d")
    page.wait_for_function(SAVED, timeout=BACK_LIMIT_MS)
    expect(page.locator(".status")).to_contain_text(", saved.")
    assert kept(served, desk.name) == desk.pressed
    assert len({code for code, _ in desk.pressed}) == len(desk.pressed)
    assert is_sound(served)


def test_while_the_server_is_gone_the_screen_says_how_many_presses_are_not_saved(outage):
    sentence = "Not saved yet: {}. Kept in this browser; trying again …".format
    assert outage == {BEFORE: sentence(1), AFTER: sentence(1), DOWN: sentence(2), RELOADING: sentence(2)}


def test_a_press_whose_commit_the_kill_prevented_is_stored_once(outage, desks, served):
    assert len(desks[BEFORE].pressed) == 1
    assert_goes_on(desks[BEFORE], served)


def test_a_press_whose_acknowledgement_the_kill_prevented_is_stored_once(outage, desks, served):
    assert len(desks[AFTER].pressed) == 1
    assert_goes_on(desks[AFTER], served)


def test_presses_made_while_there_is_no_server_are_stored_once_and_in_order(outage, desks, served):
    assert [answer for _, answer in desks[DOWN].pressed] == ["similar", "dissimilar"]
    assert_goes_on(desks[DOWN], served)


def test_a_reload_brings_presses_to_the_new_server_once_and_in_order(outage, desks, served):
    desks[RELOADING].page.reload()
    assert_goes_on(desks[RELOADING], served)


def test_a_kill_while_nothing_is_pressed_loses_nothing(outage, desks, served):
    assert_goes_on(desks[IDLE], served)


def test_a_reload_while_an_answer_is_unsaved_stores_it_once(desks, served):
    desk = desks[CUT]
    item_on_screen(desk.page)
    desk.line.is_open_to_server = False
    desk.press("s")
    desk.press("d")
    assert kept(served, CUT) == []
    desk.page.reload()
    assert_goes_on(desk, served)
