"""Every page in every state, in both themes and three widths: axe-core finds nothing serious, and nothing is hidden."""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from labeler.studies.course import course, joining
from labeler.studies.labelling import own_result
from labeler.studies.model import PlanParameters
from labeler.studies.plan.lifecycle import Step
from labeler.studies.questions import SCALE, SIMILAR, Ask
from labeler.studies.store import Database, open_database
from labeler.studies.ui.coordinator.places import ITEM, PLACES
from labeler.studies.ui.coordinator.shared import address
from tests.browser import studies
from tests.browser.conftest import Served, invited, serving
from tests.browser.hands import go, item_on_screen, press
from tests.making import NOW, answer_everything, make_study, offers, submit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LOOKS = [(scheme, width) for scheme in SCHEMES for width in (1440, 800, 390)]
FOR_AXE = {("light", 1440), ("dark", 1440), ("light", 390)}  # colours in both themes, and the navigation of phones
SERIOUS = {"serious", "critical"}
OF_STREAMLIT = {"list", "listitem"}  # Streamlit puts the sections of its own sidebar into the list of links
SKIP = "Skip practice and start labelling"
TOOLS = ("Spread", "Replication", "Planner")  # the other methods have the form of the first
# Buttons whose middle is covered by something else, of those in the window
COVERED = """() => Array.from(document.querySelectorAll("button, a[href]")).filter((one) => {
  const { left, top, width, height } = one.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  if (!width || x < 0 || y < 64 || x > innerWidth || y > innerHeight) return false;
  if (!one.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
  let there = document.elementFromPoint(x, y);
  while (there?.shadowRoot?.elementFromPoint(x, y) && there.shadowRoot.elementFromPoint(x, y) !== there) {
    there = there.shadowRoot.elementFromPoint(x, y);
  }
  return there && !one.contains(there) && !there.contains(one) && !one.closest("[role=dialog], dialog");
}).map((one) => one.innerText.trim() || one.ariaLabel || one.outerHTML.slice(0, 80))"""
# Large parts of a page, other than pictures, whose ground is light.
BRIGHT = """() => {
const pictures = "canvas, img, svg, .layers, .loupe, iframe, [data-testid=stDataFrame]";
return Array.from(document.querySelectorAll(".stApp *, .review, .review *")).filter((one) => {
  const { width, height } = one.getBoundingClientRect();
  const [r, g, b, a] = (getComputedStyle(one).backgroundColor.match(/[\\d.]+/g) ?? []).map(Number);
  return width * height > 3000 && a !== 0 && r + g + b > 600 && !one.closest(pictures);
}).map((one) => one.outerHTML.slice(0, 100)); }"""
WIDER = "() => document.documentElement.scrollWidth - innerWidth"
CALM = """() => !document.querySelector('[data-stale="true"], [data-testid="stSkeleton"]')
    && document.getAnimations().every((one) => one.playState !== "running" || one.effect?.getTiming().iterations > 9)"""


def findings(page: Page) -> list[str]:
    """Return the findings of axe-core on a page: all serious ones, and everything about headings and titles."""
    found = Axe().run(page).response["violations"]
    return [
        f"{finding['id']}: {node['html'][:160]} {node['any'][0]['message'] if node['any'] else ''}"
        for finding in found
        if (finding["impact"] in SERIOUS or finding["id"] == "heading-order") and finding["id"] not in OF_STREAMLIT
        for node in finding["nodes"][:3]
    ]


def problems(page: Page, name: str, *, by_axe: bool = True) -> list[str]:
    """Return what is wrong with a state in any theme and width; with LABELER_SHOTS, save a screenshot of each."""
    found: list[str] = []
    shots = os.environ.get("LABELER_SHOTS")
    expect(page.locator("h1")).to_have_count(1)
    for scheme, width in LOOKS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(150)  # the page draws itself anew
        page.wait_for_function(CALM)
        if shots:
            page.screenshot(path=Path(shots) / f"{name}-{width}-{scheme}.png")
        faults = findings(page) if by_axe and (scheme, width) in FOR_AXE else []
        faults += [f"wider than the window by {n}" for n in [page.evaluate(WIDER)] if n > 0]
        faults += [f"covered: {one}" for one in page.evaluate(COVERED)]
        faults += [f"bright: {one}" for one in page.evaluate(BRIGHT)[:3] if scheme == "dark"]
        found += [f"{name}, {width} px, {scheme}: {fault}" for fault in faults]
    page.set_viewport_size({"width": 1440, "height": 800})
    page.emulate_media(color_scheme="light")
    return found


def new_study(path: Path, **options: Any) -> None:
    """A study with a time of creation of its own, because the address of a study follows from that time."""
    make_study(path, created=NOW - timedelta(hours=list(STATES).index(path.stem)), **options)


def calibrating(path: Path) -> None:
    new_study(path, n_items=6, plan=PlanParameters(1, overlap=0, retest=0, calibration=2))
    with open_database(path) as db:
        for name, answer in (("ada", "similar"), ("ben", "dissimilar")):
            for task in offers(db, name)[:2]:
                submit(db, name, task, answer, comment="Run 2 is slower", flag=True)


def labelled(db: Database) -> None:
    ada = offers(db, "ada")[0]
    submit(db, "ada", ada, "dissimilar", comment="Run 2 is slower", flag=True)
    answer_everything(db, {"ada": "similar", "ben": "dissimilar", "cleo": "similar", "dan": "similar"})


def in_course(path: Path, *steps: Step) -> None:
    new_study(path, n_items=6, plan=True)
    with open_database(path) as db:
        labelled(db)
        for step in steps:
            course.change_state(db, step, why="because", actor="carol", now=datetime.now(UTC))


def reviewed(path: Path) -> None:
    """A study of two items that asks each reviewer something at the end."""
    asks = replace(SIMILAR, ask=(Ask("How many benchmarks have you written?", SCALE, ("none", "some")),))
    studies.make(path, studies.many(2), reviewers=("ada", "ben"), parameters=studies.EVERYTHING_BY_ALL, question=asks)


STATES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: new_study(path, n_items=0, reviewers=()),
    "items": lambda path: new_study(path, n_items=6),
    "calibrating": calibrating,
    "open": lambda path: new_study(path, n_items=6, plan=True),
    "labelled": in_course,
    "closed": lambda path: in_course(path, Step.CLOSE),
    "unblinded": lambda path: in_course(path, Step.CLOSE, Step.UNBLIND),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Served]]:
    """One server with a study in each state."""
    folder = tmp_path_factory.mktemp("states")
    paths = {state: folder / f"{state}.study" for state in (*STATES, "reviewed")}
    for state, path in paths.items():
        STATES.get(state, reviewed)(path)
    with serving(paths["empty"], with_others=True) as one:
        yield {
            state: Served(path, one.origin, invited(path, with_first_visit=state == "reviewed"), one.process, True)
            for state, path in paths.items()
        }


def test_every_state_of_a_reviewer(page, served):
    unblinded, served, found = served["unblinded"], served["reviewed"], list[str]()
    page.goto(f"{served.url}/join/wrong")
    page.locator("h1").wait_for()
    found += problems(page, "sign-in")
    with open_database(served.study) as db:
        now = datetime.now(UTC)
        for_all = joining.open_link(db, admits=0, until=now.date(), asks_email=True, actor="carol", now=now)
    page.goto(f"{served.url}/join/{for_all}")
    page.get_by_label("Your name").fill("Eve")
    found += problems(page, "one-link")
    page.get_by_label("e-mail").fill("eve@example.com")
    page.get_by_role("button", name="Take part").click()
    page.get_by_role("heading", name="Please wait").wait_for()
    page.route("**/join/**", lambda route: route.abort())  # the page asks every 10 s whether the person is admitted
    found += problems(page, "one-link-waiting")
    page.unroute("**/join/**")
    page.goto(served.link("ada"))
    page.get_by_role("button", name=SKIP).wait_for()
    found += problems(page, "first-visit")
    page.get_by_role("button", name="Practise on six items").click()
    item_on_screen(page)
    found += problems(page, "practice")
    for number in range(6):
        item_on_screen(page)
        page.keyboard.press("s")
        page.locator(".explanation").wait_for()
        found += problems(page, "practice-answered") if number == 0 else []
        page.keyboard.press("Enter")
    page.get_by_role("button", name="Start labelling").wait_for()
    found += problems(page, "practice-over")
    page.get_by_role("button", name="Start labelling").click()
    item_on_screen(page)
    found += problems(page, "label")
    page.keyboard.press("?")
    found += problems(page, "help")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    found += problems(page, "comment")
    page.locator("dialog.comment textarea").fill("Run 1 is slow")
    page.get_by_role("button", name="Keep").click()
    press(page, "s")
    item_on_screen(page)
    found += problems(page, "label-answered")
    page.goto(f"{served.url}/my-labels")
    page.get_by_role("button", name=re.compile("Look and revise")).first.click()
    item_on_screen(page)
    found += problems(page, "revise")
    page.goto(f"{served.url}/my-labels")
    page.get_by_role("button", name=re.compile("Look and revise")).first.wait_for()
    found += problems(page, "my-labels")
    page.goto(f"{served.url}/guide")
    page.get_by_role("button", name=re.compile("Overlay")).first.wait_for()
    found += problems(page, "guide")
    page.goto(served.url)
    press(page, "d")
    page.get_by_text("How many benchmarks").wait_for()
    found += problems(page, "questionnaire")
    page.get_by_text("none", exact=True).click()
    page.get_by_role("button", name="Send").click()
    page.get_by_text("You have labelled everything", exact=False).wait_for()
    found += problems(page, "label-end")
    page.goto(served.origin)
    page.get_by_text("Signed in as ada").wait_for()
    found += problems(page, "studies")
    with open_database(unblinded.study) as db:
        own_result.allow(db, "ada", allowed=True, actor="carol", now=now)
    page.goto(unblinded.link("ada"))
    page.get_by_role("heading", name="How strict you are").wait_for()
    found += problems(page, "your-result")
    assert not found, "\n".join(found)


@pytest.mark.parametrize("state", STATES)
def test_every_state_of_a_coordinator(page, served, state):
    served, found = served[state], list[str]()
    views = [(place, view) for place, views in PLACES.items() for view in views if place != "Tools" or view in TOOLS]
    page.goto(served.link("carol"))
    page.locator("h1").wait_for()
    for place, view in (*views, *([] if state == "empty" else [(ITEM, "")])):
        go(page, served.url, f"{address(place)}?view={address(view)}")
        expect(page.get_by_text("The report is being written")).to_have_count(0, timeout=600_000)
        name = f"{state}-{address(place)}-{address(view)}"
        folds = page.locator("[data-testid=stExpander] summary").all()
        found += problems(page, name, by_axe=not folds)
        for fold in folds:
            fold.click()
        if folds:
            page.wait_for_timeout(500)
            found += problems(page, f"{name}-unfolded")
    assert not found, "\n".join(found)
