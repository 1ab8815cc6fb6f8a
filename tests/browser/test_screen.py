"""The labelling screen: sizes, pixel densities, kinds of items, keys without a mouse, time."""

import re

import pytest
from playwright.sync_api import expect

from labeler.studies.screen import binning
from tests.browser import studies
from tests.browser.conftest import serving
from tests.browser.hands import SAVED, answers, coded_answers, enter, item_on_screen, press
from tests.making import series

pytestmark = pytest.mark.browser

SHAPES = {"example__a#two#n=1": series(1, 2, 600), "example__b#twenty#n=1": series(2, 20, 600),
          "example__c#short#n=1": series(3, 10, 30)}  # fmt: skip
NUMBER = r"[\d.]+(?:e[+-]?\d+)? (?:s|ms|µs|ns)"
RUN = (
    rf"Run \d+: (?:about )?\d+ iterations, median {NUMBER}, middle half {NUMBER} to {NUMBER}, "
    rf"5th to 95th percentile {NUMBER} to {NUMBER}, all {NUMBER} to {NUMBER}"
    rf"(?:; the line begins at {NUMBER}, ends at {NUMBER}, and lies within {NUMBER} to {NUMBER})?\."
)
SUMMARY = re.compile(rf"(\d+) runs on one scale\.((?: {RUN})+)")
DRAWN = """() => {
  const { geometry: { parts: [{ geometry }] }, canvas } = window.__review.owner.picture;
  const context = canvas.getContext("2d"), d = canvas.width / geometry.width;
  return geometry.panels.map(({ x, y, w, h }) => {
    const { data } = context.getImageData(x * d + 3, y * d + 3, w * d - 6, h * d - 6);
    const count = (r, g, b) => {
      let n = 0;
      for (let i = 0; i < data.length; i += 4) n += data[i] === r && data[i + 1] === g && data[i + 2] === b;
      return n;
    };
    return { band: count(0x9d, 0xbc, 0xd9), ink: count(0x12, 0x23, 0x3d) };
  });
}"""
FOCUSED = """() => {
  let one = document.activeElement;
  while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  return [one.dataset?.key ?? null, outlineStyle === "none" ? 0 : parseFloat(outlineWidth)];
}"""

SHARP = """() => {
  const { canvas } = window.__review.owner.picture;
  const right = (own, shown) => Math.abs(own - shown * devicePixelRatio) <= devicePixelRatio;
  return right(canvas.width, canvas.clientWidth) && right(canvas.height, canvas.clientHeight);
}"""  # one canvas pixel per screen pixel


FITTED = """() => {
  const { root, picture } = window.__review.owner;
  const panel = picture.geometry.parts[0].geometry.panels.at(-1);
  const tops = Array.from(root.querySelectorAll(".keys button"), (one) => one.getBoundingClientRect())
    .filter(({ height }) => height > 0).map(({ top }) => Math.round(top / 20));
  const answers = root.querySelector(".answers").getBoundingClientRect().top;
  return [picture.canvas.getBoundingClientRect().top + panel.y + panel.h, answers, new Set(tops).size];
}"""


@pytest.fixture(scope="module")
def served(shared):
    return shared


@pytest.fixture(scope="module")
def shapes(tmp_path_factory):
    """An item of 2 runs, an item of 20 runs and an item of short runs, for everybody."""
    study = tmp_path_factory.mktemp("shapes") / "shapes.study"
    studies.make(study, SHAPES, parameters=studies.EVERYTHING_BY_ALL)
    with serving(study) as one:
        yield one


def canvas(page):
    return page.locator("canvas.runs")


@pytest.mark.slow
def test_runs_of_every_number_and_length_are_drawn_and_told_in_words(page, shapes):
    enter(page, shapes, "ada")
    seen = {}
    for _ in SHAPES:
        item_on_screen(page)
        words = canvas(page).get_attribute("aria-label")
        matched = SUMMARY.fullmatch(words)
        assert matched, words
        drawn = page.evaluate(DRAWN)
        assert int(matched[1]) == len(drawn) == len(re.findall(RUN, words))
        assert min(panel["ink"] for panel in drawn) > 20
        n_iterations = set(re.findall(r"(\d+) iterations", words))
        seen[len(drawn)] = (n_iterations, all(panel["band"] > 20 for panel in drawn))
        page.keyboard.press("o")
        assert len(page.evaluate(DRAWN)) == 1 and page.evaluate(DRAWN)[0]["ink"] > 20
        press(page, "s")
    assert seen == {2: ({"600"}, True), 20: ({"600"}, True), 10: ({"30"}, False)}  # short runs are points, no band


@pytest.mark.slow
def test_what_was_looked_at_is_stored_with_the_label_and_the_next_item_begins_anew(desk, served):
    page = desk("ida")
    item_on_screen(page)
    for key in ("o", "z", "z", "l", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    press(page, "s")
    given = answers(served, "ida")[-1]
    view = dict(given.view)
    size = {name: view.pop(name) for name in ("width", "height", "density")}
    assert re.fullmatch("[0-9a-f]+", given.session)
    view.pop("since_sent_ms", None)  # the first picture may have come from an earlier process
    assert sorted(view.pop("picture")["order"]) == [0, 1, 2]  # as the server drew it for this assignment
    assert view == {
        "axis": "pooled",
        "log": True,
        "overlay": True,
        "run": 1,
        "pauses": [],
        "rule": "levels",
        "rule_version": 1,
        "min_span": 0.15,
        "drawing": binning.VERSION,
    }
    assert size["density"] == 1 and 800 < size["width"] <= 1440 and 300 < size["height"] < 800
    item_on_screen(page)
    expected = {"axis": "levels", "log": False, "overlay": False, "run": None}
    assert page.evaluate("() => window.__review.view") == expected


def test_views_change_the_picture(desk):
    page = desk("ida")
    item_on_screen(page)
    pictures = {page.evaluate("() => window.__review.owner.picture.canvas.toDataURL()")}
    for key in ("z", "z", "z", "l", "o", "ArrowLeft"):
        page.keyboard.press(key)
        pictures.add(page.evaluate("() => window.__review.owner.picture.canvas.toDataURL()"))
    assert len(pictures) == 7


def test_a_narrow_window_scrolls_down_only_and_keeps_both_answers_in_sight(browser, served):
    context = browser.new_context(viewport={"width": 380, "height": 740}, has_touch=True, is_mobile=True)
    page = context.new_page()
    enter(page, served, "jon")
    widths = page.evaluate("""() => [document.documentElement, document.body,
        document.querySelector("[data-testid=stMain]")].map((one) => [one.scrollWidth, one.clientWidth])""")
    assert all(scroll <= client <= 380 for scroll, client in widths)
    for name in ("Similar", "Dissimilar"):
        button = page.get_by_role("button", name=re.compile(f"{name}$")).first
        expect(button).to_be_in_viewport(ratio=1)
        button.click(trial=True, timeout=2000)
    assert canvas(page).bounding_box()["width"] <= 380
    assert page.evaluate(SHARP)
    page.get_by_role("button", name="Dissimilar").tap()
    page.wait_for_function(SAVED)
    assert answers(served, "jon")[-1].answer == "dissimilar"
    context.close()


@pytest.mark.slow
def test_on_a_dense_screen_the_picture_has_twice_the_pixels(browser, served):
    context = browser.new_context(viewport={"width": 1200, "height": 800}, device_scale_factor=2)
    page = context.new_page()
    enter(page, served, "jon")
    assert page.evaluate(
        "() => window.__review.owner.picture.canvas.width === 2 * window.__review.owner.picture.canvas.clientWidth"
    )
    assert page.evaluate(SHARP)
    press(page, "s")
    assert answers(served, "jon")[-1].view["density"] == 2
    context.close()


def set_window(page, width, height, density):
    """Set the window as the browser's zoom does: fewer and larger pixels of the page."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": density, "mobile": False}
    page.context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", metrics)
    page.wait_for_function("density => devicePixelRatio === density", arg=density)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height", "density"), [(960, 533, 1.5), (480, 267, 3)])
def test_zoom_draws_the_picture_anew(page, served, width, height, density):
    code = enter(page, served, "jon")
    set_window(page, width, height, density)
    page.wait_for_function(SHARP, timeout=5000)
    assert page.evaluate("() => window.__review.code") == code
    # a canvas is empty from its new size to the next frame
    page.wait_for_function(f"() => ({DRAWN})().every((panel) => panel.ink > 20)", timeout=5000)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(720, 450), (640, 360), (390, 844)])
def test_all_ten_runs_are_seen_with_the_answers_at_200_percent_and_on_a_phone(page, shapes, width, height):
    page.set_viewport_size({"width": width, "height": height})
    enter(page, shapes, "ben")
    while len(page.evaluate(DRAWN)) != 10:
        press(page, "s")
        item_on_screen(page)
    lowest, answers_top, n_rows = page.evaluate(FITTED)
    assert lowest <= answers_top
    assert n_rows == 1 or width < 640


AHEAD = "() => { const { picture: one } = __review.owner; return one.prepared && one.prepared.panels !== one.panels; }"
MARK = """() => {
  const context = __review.owner.picture.prepared.canvas.getContext("2d");
  context.resetTransform();
  context.fillStyle = "#ff0000";
  context.fillRect(0, 0, 1, 1);
}"""
CORNER = "() => [...__review.owner.picture.canvas.getContext('2d').getImageData(0, 0, 1, 1).data]"
PIXELS = "() => __review.owner.picture.canvas.toDataURL()"


def test_the_next_item_is_drawn_in_advance_and_looks_as_if_drawn_when_shown(desk):
    page = desk("jon")
    item_on_screen(page)
    page.wait_for_function(AHEAD)
    page.evaluate(MARK)
    press(page, "s")
    item_on_screen(page)
    assert page.evaluate(CORNER) == [255, 0, 0, 255]  # copied
    page.wait_for_function(AHEAD)
    press(page, "d")
    item_on_screen(page)
    copied = page.evaluate(PIXELS)
    page.evaluate("() => { __review.owner.picture.prepared = null; __review.owner.draw(); }")
    assert page.evaluate(PIXELS) == copied


@pytest.mark.slow
def test_a_screen_of_another_density_draws_the_picture_anew(page, served):
    enter(page, served, "jon")
    set_window(page, 1440, 800, 2)
    page.wait_for_function(SHARP, timeout=1500)


@pytest.mark.slow
def test_nothing_moves_where_less_motion_is_wanted(browser, served):
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    enter(page, served, "kim")
    running = """() => [window.__review.owner.root.getRootNode(), document].flatMap((one) => one.getAnimations())
        .filter((one) => window.__review.owner.root.contains(one.effect.target)).length"""
    assert page.evaluate(running) == 0
    page.keyboard.press("s")
    assert page.evaluate(running) == 0
    page.keyboard.press("?")
    assert page.evaluate(running) == 0
    context.close()


def test_every_button_is_reached_by_tab_with_a_visible_focus_and_pressed_by_enter(desk, served):
    page = desk("kim")
    code = item_on_screen(page)
    before = len(answers(served, "kim"))
    shown = page.locator("button[data-key]:visible").evaluate_all("all => all.map((one) => one.dataset.key)")
    reached = {}
    for _ in range(40):
        page.keyboard.press("Tab")
        name, outline_px = page.evaluate(FOCUSED)
        if name is not None:
            reached.setdefault(name, outline_px)
    assert list(reached) == shown == ["s", "d", "n", "u", "f", "m", "o", "z", "l", "?"]
    assert min(reached.values()) >= 2
    page.locator("[data-key=s]").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function(SAVED)
    kept = coded_answers(served, "kim")[before:]
    assert kept == [(code, "dissimilar")]


def test_dialogs_hold_the_focus_and_give_it_back(desk):
    page = desk("kim")
    item_on_screen(page)
    page.locator("[data-key='?']").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Help")).to_be_visible()
    page.keyboard.press("Escape")
    assert page.evaluate(FOCUSED)[0] == "?"


@pytest.mark.slow
def test_time_while_the_page_is_hidden_is_a_pause_and_not_time_on_task(desk, served):
    page = desk("lea")
    item_on_screen(page)
    # Headless Chromium never hides a page, so the page pretends to be hidden.
    since = page.evaluate("""() => {
      Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
      return performance.now();
    }""")
    page.wait_for_function("since => performance.now() - since > 1200", arg=since)
    hidden_ms = page.evaluate(
        """(since) => {
      delete document.visibilityState;
      document.dispatchEvent(new Event("visibilitychange"));
      return performance.now() - since;
    }""",
        since,
    )
    press(page, "s")
    answer = answers(served, "lea")[-1]
    [[start_ms, length_ms, why]] = answer.view["pauses"]
    assert why == "hidden" and start_ms >= 250
    assert length_ms == pytest.approx(hidden_ms, abs=50)
    assert answer.dwell_ms >= start_ms + length_ms


@pytest.mark.slow
def test_a_practice_round_leaves_no_row_and_says_how_each_item_was_made(desk, served):
    page = desk("lea")
    before = len(answers(served, "lea"))
    page.goto(f"{served.url}/practice")
    for number in range(1, 7):
        page.wait_for_function("code => window.__review?.code === code", arg=f"P{number}")
        press(page, "sd"[number % 2])
        answer = "similar" if number % 2 == 0 else "dissimilar"
        expect(page.locator(".explanation")).to_contain_text(f"Your answer: {answer};")
        page.keyboard.press("Enter")
    expect(page.get_by_text("The practice round is over.")).to_be_visible()
    assert page.evaluate("() => Object.keys(sessionStorage).filter((name) => name.startsWith('labeler'))") in (
        [], ["labeler-owner"],  # the owner of the window; not an answer
    )  # fmt: skip
    assert len(answers(served, "lea")) == before
    page.get_by_role("button", name="Once more, with other items").click()
    page.wait_for_function("() => window.__review?.code === 'P1'")


@pytest.mark.slow
def test_the_guide_shows_the_question_and_the_axis_of_the_study(desk, served):
    page = desk("lea")
    page.goto(f"{served.url}/guide")
    expect(page.get_by_text(studies.QUESTION, exact=True)).to_be_visible()
    expect(page.get_by_text(re.compile(r"at least 15\s?% of the median"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("runs on one scale"))).to_have_count(10)
