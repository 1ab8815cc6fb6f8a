"""Accessibility of every page: axe-core finds nothing serious, and the keyboard alone is enough."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from labeler.studies.ui.coordinator.places import ITEM, PLACES
from labeler.studies.ui.coordinator.shared import address
from tests.browser import studies
from tests.browser.conftest import serving
from tests.browser.hands import SAVED, answers, go, item_on_screen

SERIOUS = {"serious", "critical"}
# Streamlit puts the sections of its own sidebar into the list of links
OF_STREAMLIT = {"list", "listitem"}
COLOURS = """() => {
  const corner = window.__review.owner.picture.canvas.getContext("2d").getImageData(1, 1, 1, 1).data;
  return [getComputedStyle(document.querySelector(".stApp")).backgroundColor, Array.from(corner)];
}"""
SKIP = "Skip practice and start labelling"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A study that nobody has opened yet."""
    study = tmp_path_factory.mktemp("access") / "access.study"
    studies.make(study, studies.many(6))
    with serving(study, with_first_visit=True) as one:
        yield one


def findings(page: Page) -> list[str]:
    """Return the findings of axe-core on a page: all serious ones, and everything about headings and titles."""
    expect(page.locator("h1")).to_have_count(1)
    assert page.title().endswith("Benchmark runs") and len(page.title()) > len("Benchmark runs")
    found = Axe().run(page).response["violations"]
    return [
        f"{finding['id']}: {finding['nodes'][0]['html'][:200]}"
        for finding in found
        if (finding["impact"] in SERIOUS or finding["id"] == "heading-order") and finding["id"] not in OF_STREAMLIT
    ]


def doubled(page: Page) -> set[str]:
    """Names that several buttons on the page share."""
    names = page.get_by_role("button").evaluate_all(
        "buttons => buttons.filter(one => one.offsetParent).map(one => one.innerText.trim() || one.ariaLabel)"
    )
    return {name for name in names if name and names.count(name) > 1}


@pytest.mark.slow
def test_a_reviewer_comes_through_every_page_by_keyboard_alone_and_axe_finds_nothing_serious(page, served):
    page.goto(served.link("ada"))
    start = page.get_by_role("button", name=SKIP)
    start.wait_for()
    assert findings(page) == []
    start.focus()
    page.keyboard.press("Enter")
    item_on_screen(page)
    assert (findings(page), doubled(page)) == ([], set())
    page.keyboard.press("s")
    page.wait_for_function(SAVED)
    item_on_screen(page)
    page.keyboard.press("d")
    page.wait_for_function(SAVED)
    assert [answer.answer for answer in answers(served, "ada")] == ["similar", "dissimilar"]
    page.keyboard.press("?")
    page.get_by_role("button", name="Dark surroundings").click()
    assert (findings(page), doubled(page)) == ([], set())
    page.reload()
    item_on_screen(page)
    assert page.evaluate(COLOURS) == ["rgb(23, 28, 36)", [255, 255, 255, 255]]
    assert (findings(page), doubled(page)) == ([], set())
    for path, ready in (("my-labels", "Look and revise"), ("guide", "Overlay"), ("practice", "Similar")):
        page.goto(f"{served.url}/{path}")
        page.get_by_role("button", name=re.compile(ready)).first.wait_for()
        assert (findings(page), doubled(page)) == ([], set()), path


@pytest.mark.slow
def test_axe_finds_nothing_serious_on_any_page_of_a_coordinator(page, served):
    page.goto(served.link("carol"))
    views = [(place, view) for place, views in PLACES.items() for view in views]
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for place, view in (*views, (ITEM, "")):
            go(page, served.url, f"{address(place)}?view={address(view)}")
            assert findings(page) == [], (place, view, scheme)
