"""Screens and data of a reviewer: nothing that the browser receives reveals forbidden data."""

import json
import re
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from labeler.studies.model import PlanParameters
from labeler.studies.store import labels, open_database
from labeler.studies.verdicts import computing
from tests.browser import studies
from tests.browser.conftest import serving
from tests.browser.hands import item_on_screen, press
from tests.making import answer_next, series
from tests.reliability._crawl_study import name_of
from tests.reliability._hidden import from_reviewer, leaves

# tests/reliability/test_blindness.py checks more in every run, without a browser.
pytestmark = [pytest.mark.browser, pytest.mark.slow]

OWN, OTHERS = "wilhelmina", ("ottokar", "kunigunde")
COORDINATOR = "carol"
N_ITEMS = 90
WITH_RETESTS = PlanParameters(seed=3, overlap=0.3, retest=4)
STATIC = ("/static/", "/review/")  # the same files for everybody, signed in or not
SCREENS = {
    "label, a retest", "label, a fresh item", "label, help", "beside: label, refused", "beside: frames", "my labels",
    "revise", "my labels, revised", "guide", "practice", "practice, answered", "refusal at plan", "refusal at study",
    "refusal at join/none", "sign out", "signed out",
}  # fmt: skip


def answer_until_a_retest_is_next(db, name):
    """Label all items before the first hidden copy."""
    row = db.execute(
        """SELECT min(a.position) FROM assignments a JOIN people USING (person_id)
           WHERE name = ? AND kind = 'retest'""",
        (name,),
    ).fetchone()
    for number in range(row[0]):
        answer_next(db, name, ("similar", "dissimilar")[number % 2])


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Overlap and retest items, verdicts, labels of others; the reviewer's next item is a retest."""
    study = tmp_path_factory.mktemp("leaks") / "leaks.study"
    items = {name_of(number): series(number) for number in range(N_ITEMS)}
    studies.make(study, items, reviewers=(OWN, *OTHERS), parameters=WITH_RETESTS)
    with open_database(study) as db:
        computing.compute_verdicts(db, actor=COORDINATOR)
        for name in OTHERS:
            for _ in range(10):
                answer_next(db, name, "dissimilar")
        answer_until_a_retest_is_next(db, OWN)
    with serving(study) as one:
        yield one


@dataclass
class Listener:
    """Everything that a page received or requested, and the content of its screens: texts by place."""

    page: Page
    found: dict[str, list[str]] = field(default_factory=lambda: {"frames": [], "addresses": [], "answers": []})

    def __post_init__(self):
        self.page.on("websocket", lambda socket: socket.on("framereceived", self.hear))
        self.page.on("request", lambda request: self.found["addresses"].append(request.url))
        self.page.on("requestfinished", self.read)

    def hear(self, frame):
        parts = (frame, *leaves(ForwardMsg.FromString(frame)))
        self.found["frames"] += [part if isinstance(part, str) else part.decode("latin-1") for part in parts]

    def look(self, screen):
        """The page now: markup with all shadow roots, the accessible texts, and the browser's storage."""
        tree = self.page.context.new_cdp_session(self.page).send("Accessibility.getFullAXTree")
        self.found[screen] = [
            self.page.evaluate(MARKUP),
            json.dumps(tree, ensure_ascii=False),
            self.page.title(),
            self.page.evaluate("() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])"),
            json.dumps(self.page.context.cookies()),
        ]

    def read(self, request):
        """Keep headers and body of a HTTP response, but not of Streamlit's files and our scripts, which are public."""
        is_public = any(part in request.url for part in STATIC)
        if is_public or request.resource_type not in ("document", "fetch") or not request.url.startswith("http"):
            return
        response = request.response()
        self.found["answers"] += [json.dumps(response.headers), *([response.text()] if response.ok else [])]


MARKUP = """() => {
  const all = (root) => [...root.querySelectorAll("*")].flatMap((one) => one.shadowRoot ? [one.shadowRoot] : [])
    .map((shadow) => shadow.innerHTML + all(shadow)).join("");
  return document.documentElement.outerHTML + all(document);
}"""


@pytest.fixture(scope="module")
def hidden(served):
    """All data that the reviewer must not see."""
    with open_database(served.study) as db:
        return from_reviewer(db, OWN)


@pytest.fixture(scope="module")
def listener(browser, served):
    """A reviewer's visit to every screen."""
    page = browser.new_context(viewport={"width": 1440, "height": 800}).new_page()
    heard = Listener(page)
    page.goto(served.link(OWN))
    label_and_be_refused(heard, served)
    revise(heard, served)
    for path, words in (
        ("guide", "The question for every item"),
        ("practice", "Practice: your answers"),
    ):
        page.goto(f"{served.url}/{path}")
        expect(page.get_by_text(words)).to_be_visible()
        heard.look(path)
    item_on_screen(page)
    page.keyboard.press("s")
    expect(page.locator(".explanation")).to_contain_text("Your answer:")
    heard.look("practice, answered")
    for path, words in (("plan", "Page not found"), ("study", "Page not found"), ("join/none", "not valid")):
        page.goto(f"{served.url}/{path}")
        expect(page.get_by_text(words).first).to_be_visible()
        heard.look(f"refusal at {path}")
    sign_out(heard, served)
    yield heard
    page.context.close()


def label_and_be_refused(heard, served):
    page = heard.page
    item_on_screen(page)
    heard.look("label, a retest")
    other = page.context.new_page()
    other.goto(served.url)
    item_on_screen(other)
    press(page, "s")
    item_on_screen(page)
    heard.look("label, a fresh item")
    beside = Listener(other)
    press(other, "d")
    expect(other.locator(".status")).to_contain_text("in another window")
    beside.look("label, refused")
    heard.found |= {f"beside: {where}": texts for where, texts in beside.found.items()}
    other.close()
    page.keyboard.press("?")
    heard.look("label, help")
    page.keyboard.press("Escape")


def revise(heard, served):
    page = heard.page
    page.goto(f"{served.url}/my-labels")
    change = page.get_by_role("button", name="Look and revise")
    expect(change.first).to_be_visible()
    heard.look("my labels")
    change.first.click()
    expect(page.get_by_text("Press S or D to change it")).to_be_visible()
    item_on_screen(page)
    heard.look("revise")
    page.keyboard.press("d")
    expect(change.first).to_be_visible()
    heard.look("my labels, revised")


def sign_out(heard, served):
    page = heard.page
    page.goto(f"{served.url}/sign-out")
    heard.look("sign out")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out")).to_be_visible()
    heard.look("signed out")


def test_the_study_holds_what_must_not_be_seen(served, hidden):
    with open_database(served.study) as db:
        table = labels.table(db)
        assert {*OTHERS, OWN} == set(table["reviewer"])
        assert {"fresh", "overlap"} <= set(table["kind"])
        assert db.execute("SELECT count(*) FROM verdicts WHERE verdict IS NOT NULL").fetchone()[0] >= N_ITEMS
    assert {*OTHERS, COORDINATOR, "fresh", "heuristic"} <= hidden.words
    assert hidden.found_in([f"... {name_of(7)} ..."]) and not hidden.found_in(["similar, dissimilar, not sure"])


def test_no_screen_frame_address_or_store_of_a_reviewer_holds_what_they_may_not_know(listener, hidden):
    found = {where: hidden.found_in(texts) for where, texts in listener.found.items()}
    assert {where: names for where, names in found.items() if names} == {}
    assert len(listener.found["frames"]) > 30 and len(listener.found["answers"]) > 10
    assert all("Item " in "".join(listener.found[where]) for where in ("frames", "label, a retest", "revise"))
    assert set(listener.found) >= SCREENS


def test_a_retest_item_comes_under_another_code_and_in_the_same_words(listener, served):
    with open_database(served.study) as db:
        code, first_code = db.execute(
            """SELECT a.code, b.code FROM assignments a JOIN assignments b USING (person_id, item_id)
               JOIN people USING (person_id)
               WHERE name = ? AND a.kind = 'retest' AND b.kind <> 'retest' ORDER BY a.position LIMIT 1""",
            (OWN,),
        ).fetchone()
    retest, fresh = ("".join(listener.found[f"label, a {kind}"]) for kind in ("retest", "fresh item"))
    assert f"Item {code}" in retest and code != first_code
    assert len(summaries(retest)) == len(summaries(fresh)) == 1
    assert summaries(retest) == summaries(fresh)


def summaries(text):
    """Return the accessible names of the canvas, without their numbers."""
    return {re.sub(r"[\d.]+", "0", label) for label in re.findall(r'<canvas[^>]* aria-label="([^"]*)"', text)}
