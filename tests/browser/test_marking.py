"""Marking points of a series: by keyboard, mouse and touch, and under a lost connection."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import beside
from tests.browser.hands import SAVED, answers, enter, item_on_screen, press, said
from tests.labeler.studies.labelling.test_marking import N, make_study

pytestmark = pytest.mark.browser

STATE = "() => { const { marks } = window.__review; return [marks.cursor, marks.answer, marks.shown]; }"


@pytest.fixture(scope="module")
def served(shared):
    """Four series of 60 points for each of three reviewers."""
    return beside(shared, make_study(shared.study.with_name("steps.study")))


def keys(page, *names):
    for name in names:
        page.keyboard.press(name)


def place(page, point):
    """The middle of a point in the picture, [x, y] in the window."""
    plot = page.evaluate("() => window.__review.owner.picture.geometry.parts[0].geometry.panel")
    box = page.locator("canvas.runs").bounding_box()
    return box["x"] + plot["x"] + (point + 0.5) / N * plot["w"], box["y"] + plot["y"] + plot["h"] / 2


def test_by_keyboard_a_set_of_marks_is_saved_undone_and_saved_again(desk, served):
    page = desk("ada")
    code, before = item_on_screen(page), len(said(served, "ada"))
    keys(page, " ")
    expect(page.locator(".status")).to_contain_text("Nothing is marked yet. Press C for “no change”")
    keys(page, "ArrowRight", "ArrowLeft", "Enter", "ArrowLeft", "ArrowLeft", "Enter", "[")
    assert page.evaluate(STATE)[:2] == [29, "[27,29]"]
    expect(page.locator(".marked")).to_have_text("2 marks: 27, 29")
    press(page, " ")
    expect(page.locator(".status")).to_contain_text(f"{code}: 2 marks: 27, 29, saved")
    assert said(served, "ada")[before:] == ["[27, 29]"]
    press(page, "u")  # the answer, which comes back with its marks
    assert page.evaluate("() => window.__review.code") == code
    assert page.evaluate(STATE)[1] == "[27,29]"
    keys(page, "Delete", "u", "]", "Delete")  # removed, taken back, the other removed
    item_on_screen(page)
    press(page, " ")
    keys(page, "c")
    press(page, " ")
    assert said(served, "ada")[before + 2 :] == ["[27]", "no change"]


def test_by_mouse_a_click_moves_the_cursor_a_double_click_marks_and_a_drag_zooms(desk, served):
    page = desk("ben")
    item_on_screen(page)
    page.mouse.click(*place(page, 20))
    assert page.evaluate(STATE)[0] == 20
    page.mouse.dblclick(*place(page, 40))
    assert page.evaluate(STATE)[:2] == [40, "[40]"]
    (left, y), (right, _) = place(page, 30), place(page, 50)
    page.mouse.move(left, y)
    page.mouse.down()
    page.mouse.move(right, y, steps=4)
    page.mouse.up()
    low, high = page.evaluate(STATE)[2]
    assert (round(low), round(high)) == (30, 50) or (low, high) == pytest.approx((30.5, 50.5), abs=0.1)
    page.locator(".tools [data-key='0']").click()
    assert page.evaluate(STATE)[2] == [0, N]
    page.get_by_role("button", name="Save").click()
    page.wait_for_function(SAVED)
    assert said(served, "ben")[-1] == "[40]"


def test_answers_survive_a_lost_connection(desk, served):
    page = desk("ben")
    item_on_screen(page)
    page.context.set_offline(True)
    before = len(answers(served, "ben"))
    keys(page, "ArrowRight", "Enter", " ")
    page.wait_for_function("() => window.__review.pending === 1")
    page.wait_for_timeout(300)
    assert len(answers(served, "ben")) == before
    page.context.set_offline(False)
    page.wait_for_function(SAVED, timeout=30_000)
    assert said(served, "ben")[-1] == "[30]"


def test_with_a_finger_a_mark_is_within_one_point_of_where_it_was_meant(browser, served):
    context = browser.new_context(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844})
    page = context.new_page()
    enter(page, served, "cleo")
    for point in (9, 33, 50):
        page.touchscreen.tap(*place(page, point))
        assert abs(page.evaluate(STATE)[0] - point) <= 1
    page.locator(".tools [data-key='ArrowLeft']").tap()
    page.locator(".tools [data-key='Enter']").tap()
    cursor, answer, _ = page.evaluate(STATE)
    assert answer == f"[{cursor}]"
    assert all(box.bounding_box()["height"] >= 44 for box in page.locator(".tools button:visible").all())
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.locator("button[data-key=' ']").tap()
    page.wait_for_function(SAVED)
    assert said(served, "cleo") == [answer]
    context.close()


def test_a_screen_reader_reads_the_cursor_and_the_marks(desk):
    page = desk("ada")
    item_on_screen(page)
    slider = page.get_by_role("slider")
    slider.focus()
    keys(page, "ArrowRight", "Enter")
    assert slider.get_attribute("aria-valuenow") == "30"
    assert "Point 30 of 0 to 59" in slider.get_attribute("aria-valuetext")
    expect(page.locator(".marked[role=status]")).to_have_text("1 mark: 30")
    keys(page, "Tab")
    assert page.evaluate("() => document.activeElement?.tagName ?? ''") != "CANVAS"  # Tab leaves the picture
