"""One link for all in two browsers: a person asks, a coordinator admits, and the person's page signs in by itself."""

import pytest
from playwright.sync_api import expect

from labeler.studies.people import identity
from labeler.studies.store import open_database
from tests.browser import studies
from tests.browser.conftest import serving
from tests.browser.hands import go

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    study = tmp_path_factory.mktemp("one-link") / "one-link.study"
    studies.make(study, studies.many(6))
    with serving(study) as one:
        yield one


def test_who_asks_is_let_in_by_one_click_of_the_coordinator(page, browser, served):
    page.goto(served.link("carol"))
    go(page, served.url, "people")
    page.get_by_text("One link for all").click()
    page.get_by_role("button", name="Create the link").click()
    link = page.get_by_test_id("stCode").filter(has_text="/join/")
    expect(link).to_have_count(1)
    asking = browser.new_context().new_page()
    asking.goto(link.inner_text().strip())
    asking.get_by_label("Your name").fill("Eve")
    asking.get_by_role("button", name="Take part").click()
    expect(asking.get_by_role("heading", name="Please wait")).to_be_visible()
    go(page, served.url, "people")
    page.get_by_role("button", name="Admit 1 person").click()
    expect(page.get_by_text("1 person admitted.")).to_be_visible()
    expect(asking.get_by_text("Skip practice and start labelling")).to_be_visible()
    asking.context.close()
    with open_database(served.study) as db:
        assert "Eve" in {one.name for one in identity.everyone(db)}
