"""Two actions in quick succession on the pages of coordinators: both take effect."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from labeler.studies.course import calibrating, course
from labeler.studies.labelling import inbox, reviewing
from labeler.studies.plan.lifecycle import Step
from labeler.studies.results import splits
from labeler.studies.store import actions, decisions, events, open_database
from tests.browser import studies
from tests.browser.conftest import beside, serving
from tests.browser.hands import SEEN, go
from tests.conftest import some_slow
from tests.making import answer_everything, id_of, submission

pytestmark = pytest.mark.browser

N_ITEMS = 4
GAPS_MS = (0, 60)
CLICK_THEN_KEY = """async ([button, gap, key]) => {
    const press = () => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true }));
    const buttons = [document, window.__viewer.owner.root].flatMap((part) => [...part.querySelectorAll("button")]);
    buttons.find((one) => one.innerText.trim().endsWith(button)).click();
    gap ? setTimeout(press, gap) : press();
}"""


def now():
    return datetime.now(UTC)


@pytest.fixture(scope="module")
def served(shared):
    """A closed study in which all items are split, with a comment on each."""
    study = shared.study.with_name("queues.study")
    studies.make(study, studies.many(N_ITEMS), reviewers=("ada", "ben"), parameters=studies.EVERYTHING_BY_ALL)
    with open_database(study) as db:
        for task in reviewing.review_queue(db, id_of(db, "ada")).offers[:N_ITEMS]:
            words = replace(submission(task, "similar"), comment="One level?")
            reviewing.submit(db, id_of(db, "ada"), words, now=now())
        answer_everything(db, {"ada": "similar", "ben": "dissimilar"})
        course.change_state(db, Step.CLOSE, why="complete", actor="carol", now=now())
    return beside(shared, study)


@pytest.fixture
def desk_of_carol(page, served):
    page.goto(served.link("carol"))
    return page


def n_without_decision(served):
    with open_database(served.study) as db:
        return sum(split.remains for split in splits.split_items(db))


def decide_by_key(page, served, category, reason):
    """Open the next undecided item of the page Splits, and choose a category and a reason by key."""
    go(page, served.url, "decide?view=splits")
    page.wait_for_function(SEEN)
    page.keyboard.press(category)
    if reason:
        page.keyboard.press(reason)


@pytest.mark.parametrize("gap_ms", some_slow(GAPS_MS, GAPS_MS[1:]))
def test_a_decision_is_saved_if_the_next_item_is_requested_at_once(desk_of_carol, served, gap_ms):
    page = desk_of_carol
    n_left = n_without_decision(served)
    decide_by_key(page, served, "s", "")
    page.evaluate(CLICK_THEN_KEY, ["a step within runs", gap_ms, "n"])
    expect(page.get_by_text(f"{n_left - 1 or 'None'} left").first).to_be_visible()
    assert n_without_decision(served) == n_left - 1


def test_a_decision_is_saved_by_key_with_own_words_and_without_a_reason_the_page_says_so(desk_of_carol, served):
    page = desk_of_carol
    decide_by_key(page, served, "d", "")
    expect(page.get_by_role("button", name="Dissimilar")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Give a reason of 1 to 1000 characters")).to_be_visible()
    item = page.evaluate("() => window.__viewer.item")
    page.keyboard.press("7")
    page.keyboard.type("two levels")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stToast").filter(has_text="Saved: dissimilar").first).to_be_visible()
    with open_database(served.study) as db:
        (decision,) = [one for one in decisions.everything(db) if one.item == item]
    assert (decision.category, decision.why) == ("dissimilar", "two levels")
    page.wait_for_function("item => window.__viewer.item !== item && !window.__viewer.chosen", arg=item)


def test_an_item_without_measurements_has_no_picture_and_can_be_decided(desk_of_carol, served):
    with open_database(served.study) as db:
        item = next(split.item for split in splits.split_items(db) if split.remains)
        db.execute("UPDATE items SET n_runs = 0 WHERE item_id = ?", (item.item_id,))
        events.Deed(db, "carol", now()).log(actions.LEARN)  # pages keep results until the study changes
    page = desk_of_carol
    decide_by_key(page, served, "s", "")
    assert page.evaluate("() => window.__viewer.item") == item.name
    expect(page.get_by_text("it has no picture")).to_be_visible()
    expect(page.locator("canvas.runs")).to_be_hidden()
    page.keyboard.press("6")
    expect(page.get_by_test_id("stToast").filter(has_text="Saved: similar").first).to_be_visible()


@pytest.mark.slow
def test_an_answer_is_sent_if_the_next_message_is_requested_at_once(desk_of_carol, served):
    page = desk_of_carol
    go(page, served.url, "decide?view=comments")
    page.get_by_label("Answer", exact=True).fill("Seen")
    page.locator("h1").click()
    page.wait_for_function(SEEN)
    page.evaluate(CLICK_THEN_KEY, ["Send the answer", 0, "n"])
    expect(page.get_by_test_id("stToast").filter(has_text="sent").first).to_be_visible()
    with open_database(served.study) as db:
        texts = [reply.text for message in inbox.messages(db) for reply in message.replies]
    assert texts == ["Seen"]


@pytest.mark.slow
def test_a_reference_label_is_saved_if_another_page_is_opened_at_once(page, tmp_path):
    study = tmp_path / "calibration.study"
    parameters = replace(studies.EVERYTHING_BY_ALL, calibration=2)
    studies.make(study, studies.many(N_ITEMS), reviewers=("ada", "ben"), parameters=parameters)
    with serving(study) as one:
        page.goto(one.link("carol"))
        go(page, one.url, "decide?view=calibration")
        page.wait_for_function(SEEN)
        page.keyboard.press("s")
        page.get_by_test_id("stTopNavLink").filter(has_text="People").click()
        expect(page.get_by_role("heading", name="People", exact=True)).to_be_visible()
        with open_database(study) as db:
            assert len(calibrating.reference(db)) == 1
