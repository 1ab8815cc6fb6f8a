"""What a coordinator does in a browser, and how many clicks it takes."""

import pytest

from labeler.studies.ui.coordinator.items import ROW_PX
from scripts import walk
from tests.browser.hands import go

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HEADER_PX = 36  # of Streamlit's tables


def test_a_click_anywhere_in_a_row_opens_its_item(page, served):
    page.goto(served.link("coordinator"))
    for share in (0.03, 0.3, 0.9):  # picture, name, and the last column
        go(page, served.url, "items?view=all-items")
        listed = page.get_by_test_id("stDataFrame").first
        listed.scroll_into_view_if_needed()
        box = listed.bounding_box()
        page.mouse.click(box["x"] + share * box["width"], box["y"] + HEADER_PX + ROW_PX / 2)
        page.wait_for_url("**/item*")


def test_a_study_takes_18_clicks_and_one_field_from_the_empty_file_to_the_report(browser):
    counts = walk.walk_through(browser, [walk.DEMO])
    assert sum(of_part["clicks"] for of_part in counts.values()) <= 18
    assert sum(of_part["fields"] for of_part in counts.values()) == 1  # the names; no reasons
