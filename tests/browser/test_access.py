"""The keyboard alone is enough, and names of buttons differ. `test_states` runs axe-core on every page."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import studies
from tests.browser.conftest import serving
from tests.browser.hands import SAVED, answers, item_on_screen

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


def doubled(page: Page) -> set[str]:
    """Names that several buttons on the page share; the page has one heading and a title of its own."""
    expect(page.locator("h1")).to_have_count(1)
    assert page.title().endswith("Benchmark runs") and len(page.title()) > len("Benchmark runs")
    names = page.get_by_role("button").evaluate_all(
        "buttons => buttons.filter(one => one.offsetParent).map(one => one.innerText.trim() || one.ariaLabel)"
    )
    return {name for name in names if name and names.count(name) > 1}


@pytest.mark.slow
def test_a_reviewer_comes_through_every_page_by_keyboard_alone(page, served):
    page.goto(served.link("ada"))
    start = page.get_by_role("button", name=SKIP)
    start.wait_for()
    start.focus()
    page.keyboard.press("Enter")
    item_on_screen(page)
    assert doubled(page) == set()
    page.keyboard.press("s")
    page.wait_for_function(SAVED)
    item_on_screen(page)
    page.keyboard.press("d")
    page.wait_for_function(SAVED)
    assert [answer.answer for answer in answers(served, "ada")] == ["similar", "dissimilar"]
    page.keyboard.press("?")
    page.get_by_role("button", name="Dark surroundings").click()
    assert doubled(page) == set()
    page.reload()
    item_on_screen(page)
    assert page.evaluate(COLOURS) == ["rgb(23, 28, 36)", [255, 255, 255, 255]]
    assert doubled(page) == set()
    for path, ready in (("my-labels", "Look and revise"), ("guide", "Overlay"), ("practice", "Similar")):
        page.goto(f"{served.url}/{path}")
        page.get_by_role("button", name=re.compile(ready)).first.wait_for()
        assert doubled(page) == set(), path
