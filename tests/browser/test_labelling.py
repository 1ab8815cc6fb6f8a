"""A reviewer at work, in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from labeler.config import bundled
from labeler.formats import Source, read
from labeler.store import labels, open_database, people

pytestmark = pytest.mark.browser

SHOWN = (
    "() => window.__review && window.__review.paintedAt !== null && performance.now() - window.__review.paintedAt > 260"
)
SAVED = "() => window.__review && window.__review.pending === 0"


def item_on_screen(page: Page) -> str:
    page.wait_for_function(SHOWN)
    return page.evaluate("() => window.__review.code")


def press(page: Page, key: str) -> str:
    """Press a key on the item that is shown, and wait until the server has it."""
    code = item_on_screen(page)
    page.keyboard.press(key)
    page.wait_for_function(SAVED)
    return code


def rows(served, reviewer):
    with open_database(served.study) as db:
        table = labels.table(db)
    return table[table["reviewer"] == reviewer].reset_index(drop=True)


def names_in_study():
    benchmarks = read(Source("demo.parquet", bundled("data", "demo", "demo.parquet")))
    words = {b.benchmark for b in benchmarks} | {b.application for b in benchmarks}
    return words | {b.benchmark.split("#")[0] for b in benchmarks}


def test_five_items_by_keyboard_a_reload_and_a_revision(page, served):
    page.goto(served.link("ada"))
    assert served.secrets["ada"] not in page.url
    codes = [press(page, key) for key in "sdsdd"]
    assert len(set(codes)) == 5
    assert rows(served, "ada")["label"].tolist() == ["similar", "dissimilar", "similar", "dissimilar", "dissimilar"]

    sixth = item_on_screen(page)
    page.reload()
    assert item_on_screen(page) == sixth
    assert "5 of 15 done" in page.locator(".progress").inner_text()

    page.goto(f"{served.url}/my-labels")
    expect(page.get_by_role("button", name="Look and revise")).to_have_count(5)
    page.locator(f".st-key-revise-{codes[1]} button").click()
    assert item_on_screen(page) == codes[1]
    page.keyboard.press("s")
    page.get_by_text("revised").wait_for()

    table = rows(served, "ada")
    assert len(table) == 6
    assert table["label"].tolist()[-1] == "similar"
    assert table["revision"].tolist() == [0, 0, 0, 0, 0, 1]
    assert table["assignment"].tolist()[-1] == table["assignment"].tolist()[1]
    assert (table["dwell_ms"] >= 250).all()
    with open_database(served.study) as db:
        assert {person.name for person in people.all_people(db)} >= {"ada"}


def test_reviewers_pages_hold_no_name_of_a_benchmark(browser, served):
    context = browser.new_context()
    frames: list[str] = []
    page = context.new_page()
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: frames.append(str(data))))
    page.goto(served.link("ben"))
    press(page, "d")
    sources = [page.content()]
    for path in ("my-labels", "sign-out"):
        page.goto(f"{served.url}/{path}")
        page.wait_for_load_state("networkidle")
        sources.append(page.content())
    seen = re.sub(r"[A-Za-z0-9+/=]{60,}", "", "\n".join(sources + frames))  # less the bins, which are base64
    words = [w.lower() for w in ("ada", "cleo", "dan", "heuristic", "fresh", "retest", "intervention", "slowdown")]
    leaks = [name for name in names_in_study() if name in seen]
    leaks += [word for word in words if re.search(rf"\b{word}\b", seen.lower())]
    assert (len(frames) > 3, "Item " in seen, leaks) == (True, True, [])
    context.close()


def test_anonymous_visitors_are_sent_to_the_sign_in_page(page, served):
    page.goto(served.url)
    assert page.url == f"{served.url}/sign-in"
    assert "not signed in" in page.inner_text("body")
    page.goto(f"{served.url}/join/not-a-secret")
    assert "not valid" in page.inner_text("body")
    assert page.context.cookies() == []


def test_undo_returns_the_last_item_also_after_a_reload(page, served):
    page.goto(served.link("cleo"))
    first = press(page, "s")
    second = press(page, "d")
    page.reload()
    item_on_screen(page)
    page.keyboard.press("u")
    page.wait_for_function("code => window.__review.code === code", arg=second)
    page.wait_for_function(SAVED)
    assert press(page, "s") == second
    table = rows(served, "cleo")
    assert table["label"].tolist() == ["similar", "dissimilar", "withdrawn", "similar"]
    assert table["revision"].tolist() == [0, 0, 1, 2]
    assert item_on_screen(page) not in (first, second)


def test_only_presses_on_an_item_that_was_seen_count(page, served):
    page.goto(served.link("dan"))
    item_on_screen(page)
    before = len(rows(served, "dan"))
    page.keyboard.press("s")
    page.keyboard.press("s")  # at once: the next item cannot have been seen
    page.wait_for_function(SAVED)
    assert len(rows(served, "dan")) == before + 1

    item_on_screen(page)
    page.keyboard.down("d")
    for _ in range(20):  # a held key repeats
        page.keyboard.down("d")
    page.keyboard.up("d")
    page.wait_for_function(SAVED)
    assert len(rows(served, "dan")) == before + 2


def test_buttons_do_what_keys_do_and_the_space_bar_does_not_press_them_again(page, served):
    page.goto(served.link("dan"))
    item_on_screen(page)
    before = len(rows(served, "dan"))
    page.get_by_role("button", name="Dissimilar").click()
    page.wait_for_function(SAVED)
    item_on_screen(page)
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Overlay").click()
    assert page.evaluate("() => window.__review.view.overlay") is True
    page.keyboard.press("z")
    assert page.evaluate("() => window.__review.view.axis") == "pooled"
    assert rows(served, "dan")["label"].tolist()[before:] == ["dissimilar"]


def test_signing_out_ends_the_visit(page, served):
    page.goto(served.link("ben"))
    item_on_screen(page)
    page.goto(f"{served.url}/sign-out")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_text("You are signed out").wait_for()
    page.goto(served.url)
    assert page.url == f"{served.url}/sign-in"
