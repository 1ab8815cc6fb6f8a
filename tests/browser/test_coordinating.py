"""A coordinator takes an empty study to a report, only in a real browser."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from labeler.service.study import coordinating
from labeler.store import open_database
from labeler.ui.coordinator.items import ROW_PX
from tests.browser.conftest import welcome
from tests.browser.hands import SAVED, SHOWN, go, links_on, take_step

pytestmark = pytest.mark.browser

HEADER_PX = 36  # of Streamlit's tables


def result_files(folder):
    rng = np.random.default_rng(8)
    for number in range(4):
        runs = 1e-5 * (1 + 0.02 * rng.random((10, 200)))
        runs[: number * 2] *= 1.3
        (folder / f"org__proj#bench.Method{number}#n={number}.json").write_text(json.dumps(runs.tolist()))
    (folder / "broken.json").write_text("[[1.0, NaN], [1.0, 1.0]]")
    return sorted(folder.glob("*.json"))


@pytest.mark.slow  # test_whole_study covers most of this too
def test_from_an_empty_study_to_a_report(page, browser, empty_server, tmp_path):
    study, url, link = empty_server
    page.goto(link)
    go(page, url, "study?view=guide")
    page.get_by_role("textbox", name="Question for reviewers").fill("Would you trust these runs?")
    page.get_by_label("Name", exact=True).fill("From nothing")
    page.get_by_role("button", name="Save name and question").click()
    expect(page.get_by_role("heading", name="From nothing")).to_be_visible()

    go(page, url, "items?view=add")
    page.locator("input[type=file]").set_input_files([str(path) for path in result_files(tmp_path)])
    expect(page.get_by_text("4 of 5 files were imported: 4 new items")).to_be_visible()
    expect(page.get_by_text("run 0, iteration 1: nan is not a finite measurement").first).to_be_visible()

    go(page, url, "people")
    page.get_by_label("Names, one per line").fill("ada\nben")
    page.get_by_role("button", name=re.compile("^Invite")).click()
    links = links_on(page, 2)
    go(page, url, "plan")  # the address of an earlier version
    page.get_by_role("button", name="Confirm the plan").click()
    expect(page.get_by_text("Plan hash")).to_be_visible()
    with open_database(study) as db:
        welcome(db)  # before there is a plan, a reviewer has no first visit

    for reviewer_link, key in zip(links, "sd", strict=True):
        context = browser.new_context()
        reviewer = context.new_page()
        reviewer.goto(reviewer_link)
        for press in ("s", "s", "d", key):
            reviewer.wait_for_function(SHOWN)
            reviewer.keyboard.press(press)
            reviewer.wait_for_function(SAVED)
        expect(reviewer.get_by_text("You have labelled everything assigned to you")).to_be_visible()
        context.close()

    go(page, url, "study")
    expect(page.get_by_text("8 of 8").first).to_be_visible()
    for button in ("Close the study", "Unblind the study"):
        take_step(page, url, button)
    go(page, url, "items?view=all-items")
    page.get_by_text("Classifiers", exact=True).click()
    expect(page.get_by_test_id("stDataFrame")).to_have_count(4)

    go(page, url, "results?view=report")
    page.get_by_role("button", name="Other files").click(timeout=180_000)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download report.json").click()
    report = json.loads(download.value.path().read_text())
    assert report["study"]["question"] == "Would you trust these runs?"
    assert (report["agreement"]["pairs"][0]["n"], report["consensus"]["n_items"]) == (4, 4)
    assert sum(report["classifiers"]["same"]["verdicts"].values()) == 4
    expect(page.get_by_role("heading", name="Agreement of pairs")).to_be_attached()

    with open_database(study) as db:
        done = coordinating.event_log(db)["action"].tolist()
    for action in (
        "create study",
        "describe study",
        "import file",
        "add person",
        "draw plan",
        "compute verdicts",
        "report",
    ):
        assert action in done


@pytest.mark.slow
def test_a_click_anywhere_in_a_row_opens_its_item(page, served):
    page.goto(served.link("coordinator"))
    for share in (0.03, 0.3, 0.9):  # picture, name, and the last column
        go(page, served.url, "items?view=all-items")
        listed = page.get_by_test_id("stDataFrame").first
        listed.scroll_into_view_if_needed()
        box = listed.bounding_box()
        page.mouse.click(box["x"] + share * box["width"], box["y"] + HEADER_PX + ROW_PX / 2)
        page.wait_for_url("**/item*")
