"""The other answers and actions of a reviewer: by key, mouse and touch."""

import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import expect

from labeler.studies.labelling import reviewing
from labeler.studies.model import Protocol
from labeler.studies.store import open_database
from tests.browser import studies
from tests.browser.conftest import serving
from tests.browser.hands import SAVED, answers, coded_answers, enter, item_on_screen, press, rows, said
from tests.making import id_of, item_name, series

pytestmark = pytest.mark.browser

HOSTILE = (
    '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> **bold** [x](javascript:alert(1)) :red[r]'
)


@pytest.fixture(scope="module")
def served(shared):
    return shared


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    """3 items for everybody; each label needs a confidence."""
    study = tmp_path_factory.mktemp("asking") / "asking.study"
    items = {item_name(number): series(number) for number in range(3)}
    protocol = Protocol(asks_confidence=True)
    studies.make(study, items, parameters=studies.EVERYTHING_BY_ALL, protocol=protocol)
    with serving(study) as one:
        yield one


def key(page, name):
    return page.locator(f"button[data-key='{name}']")


def comment(page, text):
    item_on_screen(page)
    page.keyboard.press("m")
    page.get_by_role("textbox", name="Comment").fill(text)
    page.keyboard.press("Control+Enter")
    wait_until_closed(page)


def wait_until_closed(page):
    expect(page.get_by_role("dialog", name="Comment")).to_be_hidden()
    page.wait_for_function("() => !window.__review.owner.root.getRootNode().activeElement")


@pytest.mark.slow
def test_a_tap_labels_and_a_second_tap_at_once_does_not(browser, served):
    context = browser.new_context(has_touch=True, is_mobile=True, viewport={"width": 800, "height": 1100})
    page = context.new_page()
    codes = [enter(page, served, "eve")]
    key(page, "s").tap()
    page.wait_for_function(SAVED)
    codes.append(item_on_screen(page))
    at = key(page, "d").bounding_box()
    for _ in range(2):
        page.touchscreen.tap(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
    page.wait_for_function(SAVED)
    kept = coded_answers(served, "eve")
    assert kept == [(codes[0], "similar"), (codes[1], "dissimilar")]
    assert all(at["height"] >= 44 for at in (key(page, "s").bounding_box(), key(page, "m").bounding_box()))
    context.close()


def test_a_flag_and_a_comment_are_stored_with_the_label_and_undo_brings_them_back(desk, served):
    page = desk("fay")
    first, before = item_on_screen(page), len(answers(served, "fay"))
    page.keyboard.press("f")
    comment(page, "steps in run 2")
    expect(key(page, "f")).to_have_attribute("aria-pressed", "true")
    assert press(page, "s") == first
    assert item_on_screen(page) != first
    assert page.evaluate("() => [window.__review.said.flag, window.__review.said.comment]") == [False, None]
    page.keyboard.press("u")
    page.wait_for_function("code => window.__review.code === code && window.__review.pending === 0", arg=first)
    page.reload()
    assert item_on_screen(page) == first
    assert page.evaluate("() => [window.__review.said.flag, window.__review.said.comment]") == [True, "steps in run 2"]
    press(page, "d")
    kept = [(answer.answer, answer.flag, answer.comment) for answer in answers(served, "fay")[before:]]
    assert (kept[0], kept[2]) == (("similar", 1, "steps in run 2"), ("dissimilar", 1, "steps in run 2"))
    assert [answer for answer, *_ in kept] == ["similar", "withdrawn", "dissimilar"]


@pytest.mark.slow
def test_a_comment_that_is_not_sent_yet_survives_a_reload(desk, served):
    page = desk("fay")
    code = item_on_screen(page)
    before = len(answers(served, "fay"))
    comment(page, "a draft")
    page.reload()
    assert item_on_screen(page) == code
    assert page.evaluate("() => window.__review.said.comment") == "a draft"
    press(page, "s")
    assert [answer.comment for answer in answers(served, "fay")[before:]] == ["a draft"]


def test_a_hostile_comment_is_shown_as_it_was_written(desk, served):
    page = desk("gus")
    comment(page, HOSTILE)
    press(page, "s")
    page.goto(f"{served.url}/my-labels")
    expect(page.get_by_text(f"“{HOSTILE}”", exact=True)).to_be_visible()
    assert page.evaluate("() => window.hacked") is None
    assert page.locator("img[src=x], a[href^=javascript], strong:text-is('bold')").count() == 0
    assert answers(served, "gus")[-1].comment == HOSTILE


@pytest.mark.slow
def test_cancelling_a_comment_keeps_the_one_before(desk):
    page = desk("gus")
    comment(page, "first")
    page.keyboard.press("m")
    page.get_by_role("textbox", name="Comment").fill("second")
    page.keyboard.press("Escape")
    wait_until_closed(page)
    assert page.evaluate("() => window.__review.said.comment") == "first"


def test_a_key_right_after_the_comment_was_kept_counts(desk):
    page = desk("gus")
    item_on_screen(page)
    page.keyboard.press("m")
    expect(page.get_by_role("textbox", name="Comment")).to_be_focused()
    # Within one task of the page, as on a busy machine: no frame in between.
    in_field = page.evaluate("""() => {
      const { comment, root } = window.__review.owner;
      comment.dialog.querySelector("form").requestSubmit();
      return root.getRootNode().activeElement === comment.field;
    }""")
    assert not in_field


def test_signing_out_clears_what_the_browser_kept_of_the_reviewer(page, served):
    enter(page, served, "hal")
    press(page, "s")
    comment(page, "never sent")
    kept = "() => Object.keys({ ...sessionStorage, ...localStorage }).filter((name) => name.startsWith('labeler'))"
    names = sorted(name.split("-")[1] for name in page.evaluate(kept))
    assert names == ["draft", "owner", "saved"]
    page.goto(f"{served.url}/sign-out")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out")).to_be_visible()
    assert page.evaluate(kept) == []
    assert [cookie["name"] for cookie in page.context.cookies() if "labeler" in cookie["name"]] == []


@pytest.mark.slow
def test_an_item_answered_not_sure_comes_once_more_at_the_end(page, asking):
    first = enter(page, asking, "ada")
    press(page, "n")
    others = []
    for _ in range(2):
        page.keyboard.press("3")
        others.append(press(page, "s"))
    assert first not in others
    assert item_on_screen(page) == first
    assert "2 of 3 done, 1 not sure" in page.locator(".progress").inner_text()
    press(page, "n")
    expect(page.get_by_text("Still “not sure”: 1.")).to_be_visible()
    assert said(asking, "ada") == ["not sure", "similar", "similar", "not sure"]


@pytest.mark.slow
def test_where_confidence_is_asked_a_label_waits_for_it(page, asking):
    first = enter(page, asking, "ben")
    page.keyboard.press("s")
    expect(page.locator(".status")).to_have_text("Similar. How sure are you? 1 a guess, 2 fairly sure, 3 certain")
    assert page.evaluate("() => [window.__review.code, window.__review.chosen]") == [first, "similar"]
    page.keyboard.press("d")  # another mind
    assert page.evaluate("() => [window.__review.code, window.__review.chosen]") == [first, "dissimilar"]
    for back in ("Escape", "u"):
        page.keyboard.press(back)
        assert page.evaluate("() => window.__review.chosen") is None
        page.keyboard.press("s")
    assert answers(asking, "ben") == []
    assert press(page, "3") == first

    second = item_on_screen(page)
    page.keyboard.press("2")
    assert page.evaluate("() => window.__review.code") == second
    assert press(page, "d") == second

    item_on_screen(page)
    key(page, "s").click()
    key(page, "1").click()
    page.wait_for_function(SAVED)
    kept = [(answer.answer, answer.confidence) for answer in answers(asking, "ben")]
    assert kept == [("similar", 3), ("dissimilar", 2), ("similar", 1)]


@pytest.mark.slow
def test_confidence_is_kept_for_an_undo_and_not_for_the_next_item(page, asking):
    first = enter(page, asking, "cleo")
    page.keyboard.press("2")
    press(page, "s")
    item_on_screen(page)
    assert page.evaluate("() => window.__review.said.confidence") is None
    page.keyboard.press("u")
    page.wait_for_function("code => window.__review.code === code && window.__review.pending === 0", arg=first)
    assert page.evaluate("() => window.__review.said.confidence") == 2


@pytest.mark.slow
def test_a_study_that_does_not_ask_for_confidence_does_not_offer_it(desk, served):
    page = desk("hal")
    item_on_screen(page)
    expect(key(page, "1")).to_be_hidden()
    page.keyboard.press("2")
    assert page.evaluate("() => window.__review.said.confidence") is None
    press(page, "s")
    assert rows(served, "hal")["confidence"].isna().all()


@pytest.mark.slow
def test_an_answer_that_cannot_be_written_now_is_said_kept_and_saved_later(desk, served):
    page = desk("fay")
    code, before = item_on_screen(page), len(answers(served, "fay"))
    with closing(sqlite3.connect(served.study, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")  # another process writes for longer than the server waits
        page.keyboard.press("s")
        expect(page.get_by_text("Not saved yet: 1. Kept in this browser")).to_be_visible()
        assert page.evaluate("() => window.__review.pending") == 1
        writer.execute("ROLLBACK")
    page.wait_for_function(SAVED)
    expect(page.get_by_text(f"{code}: Similar, saved.")).to_be_visible()
    assert [code for code, _ in coded_answers(served, "fay")[before:]] == [code]


@pytest.mark.slow
def test_a_comment_on_an_answer_that_was_refused_is_there_when_the_item_is_looked_at_again(browser, served):
    context = browser.new_context(viewport={"width": 1440, "height": 800})
    first, second = context.new_page(), context.new_page()
    code = enter(first, served, "hal")
    second.goto(served.url)
    assert item_on_screen(second) == code
    comment(second, "typed in the second tab")
    press(first, "s")
    press(second, "d")
    expect(second.locator(".status")).to_contain_text("was answered in another window")
    second.goto(f"{served.url}/my-labels")
    second.locator(f".st-key-revise-{code} button").click()
    assert item_on_screen(second) == code
    assert second.evaluate("() => window.__review.said.comment") == "typed in the second tab"
    context.close()


@pytest.mark.slow
def test_an_answer_still_on_its_way_does_not_end_the_look_at_another_item(browser, served):
    context = browser.new_context(viewport={"width": 1440, "height": 800})
    page = context.new_page()
    enter(page, served, "gus")
    labelled, waiting = press(page, "s"), item_on_screen(page)
    event = {"event_id": "late", "code": waiting, "revision": 0, "answer": "similar", "dwell_ms": 900, "view": {}}
    page.goto(f"{served.url}/my-labels")  # as after a key press while the server was down
    keep = "([owner, entry]) => localStorage.setItem(`labeler-unsaved-${owner}-late`, JSON.stringify(entry))"
    with open_database(served.study) as db:
        owner = reviewing.browser_mark(reviewing.desk(db, id_of(db, "gus"))).reviewer
    page.evaluate(keep, [owner, {"event": event, "order": 1}])
    page.locator(f".st-key-revise-{labelled} button").click()
    page.wait_for_function(SAVED)
    assert item_on_screen(page) == labelled
    assert [code for code, _ in coded_answers(served, "gus")][-1] == waiting
    context.close()
