"""Answers that wait in the browser during other events: none is lost, and none is stored twice."""

import json
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from labeler.studies.course import staffing
from labeler.studies.labelling.reviewing import N_OFFERED
from labeler.studies.model import Role
from labeler.studies.preparing.verifying import verify_plan
from labeler.studies.store import open_database
from tests.browser import studies
from tests.browser.conftest import serving
from tests.browser.hands import SAVED, coded_answers, enter, item_on_screen, press
from tests.browser.pending import IN_STORAGE, MISHAPS, scene
from tests.conftest import some_slow
from tests.making import offers

pytestmark = pytest.mark.browser

N = 3
EVERY_DAY = {"an older backup is restored", "the server is of another version"}
NAMES = dict(zip(MISHAPS, ("ada", "ben", "cleo", "dan", "eve", "fay", "jo"), strict=True))
REFUSED, LEAVING, LOADING = "gus", "hal", "ida"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """8 items for each of ten reviewers; one reviewer per test."""
    study = tmp_path_factory.mktemp("pending") / "pending.study"
    names = (*NAMES.values(), REFUSED, LEAVING, LOADING)
    studies.make(study, studies.many(8), reviewers=names, parameters=studies.EVERYTHING_BY_ALL)
    with serving(study) as one:
        yield one


@pytest.mark.parametrize("mishap", some_slow(MISHAPS, set(MISHAPS) - EVERY_DAY))
def test_answers_that_wait_are_stored_once_and_in_order_whatever_happens(page, served, mishap):
    one = scene(page, served, NAMES[mishap])
    press(one.page, "s")
    one.pressed = one.stored()
    MISHAPS[mishap](one, N)
    assert len(one.pressed) == N + 1
    assert one.stored() == one.pressed


def test_a_refused_answer_stays_listed_until_the_reviewer_deletes_it(page, served):
    enter(page, served, REFUSED)
    event = {"event_id": "e1", "code": "NOBODY", "revision": 0, "answer": "similar", "dwell_ms": 700, "comment": "=1"}
    page.evaluate("event => window.__review.owner.queue.push(event)", event)
    line = page.locator(".outbox li")
    expect(line).to_contain_text("Item NOBODY: similar. You cannot label item NOBODY now.")
    page.goto(f"{served.url}/my-labels")
    expect(line).to_have_count(1)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download as JSON").click()
    (row,) = json.loads(saved.value.path().read_text(encoding="utf-8"))
    assert (row["item"], row["answer"], row["comment"], row["event_id"]) == ("NOBODY", "similar", "=1", "e1")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(line).to_have_count(1)
    page.get_by_role("button", name="Yes, delete the answer to NOBODY").click()
    expect(line).to_have_count(0)
    page.goto(served.url)
    item_on_screen(page)
    assert (page.evaluate(IN_STORAGE, "labeler-unsaved-"), line.count()) == (0, 0)


def test_the_browser_asks_before_a_window_with_unsaved_answers_is_left(page, served):
    one = scene(page, served, LEAVING)
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    press(page, "s")
    page.reload()
    item_on_screen(page)
    assert asked == []
    one.is_cut = True
    page.keyboard.press("d")
    page.reload()
    assert asked == ["beforeunload"]


@pytest.mark.slow
def test_a_module_that_does_not_load_is_asked_for_again_and_the_page_says_so(page, served):
    failing, n_asked = [True], []

    def answer(route):
        n_asked.append(route.request.url)
        if failing[0]:
            route.abort()
        else:
            route.continue_()

    page.route("**/review/*/paint.js", answer)
    page.goto(served.link(LOADING))
    expect(page.get_by_text("This part of the page has not loaded yet. Trying again")).to_be_visible()
    expect(page.get_by_role("button", name="Reload the page")).to_be_visible()
    assert len(n_asked) >= 2
    failing[0] = False
    item_on_screen(page)
    expect(page.get_by_role("button", name="Reload the page")).to_be_hidden()
    press(page, "s")


@pytest.mark.slow
def test_twenty_items_are_labelled_without_a_connection_while_somebody_joins_a_study_of_twenty_items(page, tmp_path):
    study = tmp_path / "offline.study"
    studies.make(study, studies.many(N_OFFERED), reviewers=("ada", "ben"))
    with serving(study) as served:
        codes = [enter(page, served, "ada")]
        page.wait_for_function(f"() => window.__review.owner.remembered.size === {N_OFFERED}")
        served.kill()
        page.context.set_offline(True)
        for _ in range(N_OFFERED - 1):
            page.keyboard.press("s")
            page.wait_for_function("code => window.__review.code !== code", arg=codes[-1])
            codes.append(item_on_screen(page))
        page.keyboard.press("s")
        expect(page.get_by_text("You have labelled every item that this browser has loaded.")).to_be_visible()
        expect(page.locator(".status")).to_contain_text(f"Not saved yet: {N_OFFERED}. Kept in this browser")
        assert "reload" not in page.locator(".status").inner_text()
        expect(page.get_by_text("Connection error")).to_have_count(0)
        with open_database(study) as db:
            staffing.add(db, "eve", [Role.REVIEWER], actor="carol", now=datetime.now(UTC))
            assert len(offers(db, "eve")) > N_OFFERED / 2
        served.start_again()
        page.context.set_offline(False)
        page.wait_for_function(SAVED)
        assert coded_answers(served, "ada") == [(code, "similar") for code in codes]
    with open_database(study) as db:
        assert verify_plan(db).problems == ()
