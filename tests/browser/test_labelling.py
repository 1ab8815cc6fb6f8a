"""A reviewer at work, in a real browser."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from labeler.studies.course import course
from labeler.studies.plan.lifecycle import Step
from labeler.studies.store import open_database
from tests.browser import studies
from tests.browser.conftest import serving
from tests.browser.hands import SAVED, enter, item_on_screen, press, rows

pytestmark = pytest.mark.browser

WITHIN_MS = 10_000


@pytest.fixture(scope="module")
def served(shared):
    return shared


def test_five_items_by_keyboard_a_reload_and_a_revision(page, served):
    page.goto(served.link("may"))
    assert served.secrets["may"] not in page.url
    codes = [press(page, key) for key in "sdsdd"]
    assert len(set(codes)) == 5
    assert rows(served, "may")["label"].tolist() == ["similar", "dissimilar", "similar", "dissimilar", "dissimilar"]

    sixth = item_on_screen(page)
    page.reload()
    assert item_on_screen(page) == sixth
    assert "5 of 40 done" in page.locator(".progress").inner_text()

    page.goto(f"{served.url}/my-labels")
    expect(page.get_by_role("button", name="Look and revise")).to_have_count(5)
    page.locator(f".st-key-revise-{codes[1]} button").click()
    assert item_on_screen(page) == codes[1]
    page.keyboard.press("s")
    expect(page.get_by_text("· revised")).to_be_visible()

    table = rows(served, "may")
    assert len(table) == 6
    assert table["label"].tolist()[-1] == "similar"
    assert table["revision"].tolist() == [0, 0, 0, 0, 0, 1]
    assert table["assignment"].tolist()[-1] == table["assignment"].tolist()[1]
    assert (table["dwell_ms"] >= 250).all()


def test_while_a_reviewer_labels_no_page_runs_and_when_the_study_pauses_one_does(page, served):
    sent = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: sent.append(frame)))
    page.goto(served.link("ned"))
    item_on_screen(page)
    page.wait_for_timeout(1000)  # the end of the first page run
    n_before = len(sent)
    assert n_before > 0
    for key in "sdsu":
        press(page, key)
    press(page, "d")
    assert len(sent) == n_before
    with open_database(served.study) as db:
        course.change_state(db, Step.PAUSE, why="A break.", actor="carol", now=datetime.now(UTC))
    try:
        item_on_screen(page)
        page.keyboard.press("s")
        expect(page.locator(".words")).to_contain_text("The study is paused at the moment")
        for _ in range(100):  # the page may show the reason before its request of a page run leaves the browser
            if len(sent) > n_before:
                break
            page.wait_for_timeout(100)
        assert len(sent) == n_before + 1
    finally:
        with open_database(served.study) as db:
            course.change_state(db, Step.OPEN, why="Over.", actor="carol", now=datetime.now(UTC))


def test_anonymous_visitors_are_sent_to_the_sign_in_page(page, served):
    page.goto(served.url)
    assert page.url == f"{served.url}/sign-in"
    assert "not signed in" in page.inner_text("body")
    page.goto(f"{served.url}/join/not-a-secret")
    assert "not valid" in page.inner_text("body")
    assert page.context.cookies() == []


def test_undo_returns_the_last_item_also_after_a_reload(page, served):
    page.goto(served.link("ola"))
    first = press(page, "s")
    second = press(page, "d")
    page.reload()
    item_on_screen(page)
    page.keyboard.press("u")
    page.wait_for_function("code => window.__review.code === code", arg=second)
    page.wait_for_function(SAVED)
    assert press(page, "s") == second
    table = rows(served, "ola")
    assert table["label"].tolist() == ["similar", "dissimilar", "withdrawn", "similar"]
    assert table["revision"].tolist() == [0, 0, 1, 2]
    assert item_on_screen(page) not in (first, second)


def test_buttons_do_what_keys_do_and_the_space_bar_does_not_press_them_again(page, served):
    page.goto(served.link("ned"))
    item_on_screen(page)
    before = len(rows(served, "ned"))
    page.get_by_role("button", name="Dissimilar").click()
    page.wait_for_function(SAVED)
    item_on_screen(page)
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Overlay").click()
    assert page.evaluate("() => window.__review.view.overlay") is True
    page.keyboard.press("z")
    assert page.evaluate("() => window.__review.view.axis") == "close"
    assert rows(served, "ned")["label"].tolist()[before:] == ["dissimilar"]


def test_signing_out_ends_the_visit(page, served):
    page.goto(served.link("pam"))
    item_on_screen(page)
    page.goto(f"{served.url}/sign-out")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_text("You are signed out").wait_for()
    page.goto(served.url)
    assert page.url == f"{served.url}/sign-in"


@pytest.mark.slow
def test_a_reviewer_who_waits_after_calibration_sees_the_open_study_within_ten_seconds(page, tmp_path):
    parameters = replace(studies.EVERYTHING_BY_ALL, calibration=1)
    studies.make(tmp_path / "waits.study", studies.many(4), reviewers=("ada", "ben"), parameters=parameters)
    with serving(tmp_path / "waits.study") as served:
        first = enter(page, served, "ada")
        press(page, "s")
        expect(page.get_by_text("Calibration finished.")).to_be_visible()
        with open_database(served.study) as db:
            course.change_state(db, Step.OPEN, why="because", force=True, actor="carol", now=datetime.now(UTC))
        page.wait_for_function("() => window.__review?.code", timeout=WITHIN_MS)
        assert item_on_screen(page) != first
