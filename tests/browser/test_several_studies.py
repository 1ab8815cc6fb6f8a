"""Eight people in two studies on one server; each person takes part in both under the same name, in one browser."""

import pytest
from playwright.sync_api import expect

from tests.browser import studies
from tests.browser.conftest import Served, invited, serving
from tests.browser.hands import coded_answers, enter, item_on_screen, press, said

pytestmark = pytest.mark.browser


NEXT = "code => window.__review?.code !== code && window.__review?.pending === 0"


def answer(page, key):
    """Press a key on the current item, wait for the next one, and return the code of the item."""
    code = item_on_screen(page)
    page.keyboard.press(key)
    page.wait_for_function(NEXT, arg=code)
    return code


@pytest.fixture
def both(tmp_path):
    """A server of two studies, in which the same four people label the same number of items."""
    first, second = (tmp_path / f"{name}.study" for name in ("first", "second"))
    for path in (first, second):
        studies.make(path, studies.many(3), parameters=studies.EVERYTHING_BY_ALL)
    with serving(first, with_others=True) as one:
        yield one, Served(second, one.origin, invited(second), one.process, with_others=True)


@pytest.mark.slow
def test_eight_people_label_in_two_studies_and_a_killed_server_mixes_nothing_up(browser, both):
    first, second = both
    windows = {}
    for name in studies.REVIEWERS:
        context = browser.new_context(viewport={"width": 1440, "height": 800})
        context.set_default_timeout(120_000)
        windows[name] = [(served, context.new_page()) for served in both]
        for served, page in windows[name]:
            enter(page, served, name)
    pressed = {}
    for number, keys in enumerate(("sd", "ds", "ss")):
        if number == 1:
            first.kill()
            first.start_again()
            for page in (page for pages in windows.values() for _, page in pages):
                page.reload()
        for name, pages in windows.items():
            for (served, page), key in zip(pages, keys, strict=True):
                pressed.setdefault((served.study.name, name), []).append((answer(page, key), key))
    for served in both:
        for name in studies.REVIEWERS:
            given = pressed[served.study.name, name]
            assert [(code, label[0]) for code, label in coded_answers(served, name)] == given
    assert said(first, "ada") == ["similar", "dissimilar", "similar"]
    assert said(second, "ada") == ["dissimilar", "similar", "similar"]


@pytest.mark.slow
def test_signing_out_of_one_study_leaves_the_other_and_the_page_studies_lists_what_is_left(browser, both):
    first, second = both
    context = browser.new_context(viewport={"width": 1440, "height": 800})
    context.set_default_timeout(60_000)
    page, other = context.new_page(), context.new_page()
    enter(page, first, "ada")
    press(page, "s")
    enter(other, second, "ada")
    press(other, "d")
    page.goto(f"{first.origin}/")
    expect(page.get_by_role("link", name="Caches")).to_have_count(2)
    expect(page.get_by_text("Left: 2 items")).to_have_count(2)
    page.goto(f"{first.url}/sign-out")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You are signed out")).to_be_visible()
    keys = page.evaluate("() => Object.keys(localStorage).filter((key) => key.startsWith('labeler-saved-'))")
    assert len(keys) == 1  # what the browser keeps of the other study
    page.goto(f"{first.origin}/")
    expect(page.get_by_role("link", name="Caches")).to_have_count(1)
    other.reload()
    item_on_screen(other)
    press(other, "s")
    assert (said(first, "ada"), said(second, "ada")) == (["similar"], ["dissimilar", "similar"])
