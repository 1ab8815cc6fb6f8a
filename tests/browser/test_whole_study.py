"""A small study in a real browser only, from twelve result files to a report whose numbers are computed again."""

import csv
import io
import json
import re
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from labeler.studies.course import coordinating
from labeler.studies.preparing import verifying
from labeler.studies.store import open_database
from tests.browser.conftest import welcome
from tests.browser.hands import SAVED, SEEN, SHOWN, go, links_on, take_step

pytestmark = pytest.mark.browser

REVIEWERS = ("ada", "ben", "cleo", "dan")
QUESTION = "Would you trust these runs?"
N_ITEMS, N_CALIBRATION, N_CHECKS = 12, 2, 2
LIMIT = 60  # nobody has more items
ALL_DONE = "() => window.__review && window.__review.code === null && window.__review.done !== null"


def result_files(folder):
    rng = np.random.default_rng(12)
    for number in range(N_ITEMS):
        runs = 1e-5 * (1 + 0.02 * rng.random((10, 200)))
        runs[: number % 6] *= 1.3
        name = f"org{number % 3}__proj#bench.Method{number}#n={number}.json"
        (folder / name).write_text(json.dumps(runs.tolist()))
    (folder / "broken.json").write_text("[[1.0, NaN], [1.0, 1.0]]")
    return sorted(map(str, folder.glob("*.json")))


def label_all(reviewer: Page, keys: str) -> int:
    """Answer every offered item with these keys in turn; returns the number of answers."""
    for n_done in range(LIMIT):
        reviewer.wait_for_function(f"() => ({SHOWN})() || ({ALL_DONE})()")
        if reviewer.evaluate(ALL_DONE):
            return n_done
        reviewer.keyboard.press(keys[n_done % len(keys)])
        reviewer.wait_for_function(SAVED)
    raise AssertionError("there is no end to it")


def everybody_labels(desks, url, keys) -> dict[str, int]:
    counts = {}
    for name, page in desks.items():
        page.goto(url)
        counts[name] = label_all(page, keys[name])
        expect(page.get_by_text(re.compile("attention|check", re.IGNORECASE))).to_have_count(0)
    return counts


@pytest.fixture
def desks(browser):
    contexts = {name: browser.new_context(viewport={"width": 1440, "height": 800}) for name in REVIEWERS}
    yield {name: context.new_page() for name, context in contexts.items()}
    for context in contexts.values():
        context.close()


def set_up(page, url, link, folder, desks):
    page.goto(link)
    go(page, url, "study?view=guide")
    page.get_by_role("textbox", name="Question for reviewers").fill(QUESTION)
    page.get_by_label("Name", exact=True).fill("Whole study")
    page.get_by_role("button", name="Save name and question").click()
    expect(page.get_by_role("heading", name="Whole study")).to_be_visible()
    go(page, url, "items?view=add")
    page.locator("input[type=file]").set_input_files(result_files(folder))
    expect(page.get_by_text("12 of 13 files were imported: 12 new items")).to_be_visible()
    expect(page.get_by_text("run 0, iteration 1: nan is not a finite measurement").first).to_be_visible()
    go(page, url, "people")
    page.get_by_role("textbox", name="Names").fill("\n".join(REVIEWERS))
    page.get_by_role("button", name=re.compile("^Invite")).click()
    for desk, link in zip(desks.values(), links_on(page, len(REVIEWERS)), strict=True):
        desk.goto(link)
    go(page, url, "study?view=plan")
    page.get_by_text("Start with part of the items").click()
    page.get_by_label("Seed").fill("5")
    page.keyboard.press("Enter")
    for name, n in (("Calibration items", N_CALIBRATION), ("Attention checks", N_CHECKS)):
        slider = page.get_by_role("slider", name=name)
        slider.focus()
        for _ in range(n):
            slider.press("ArrowRight")
    page.get_by_role("button", name="Confirm the plan and start calibration").click()
    expect(page.get_by_test_id("stAlert").filter(has_text="Plan saved")).to_be_visible()


def stays_where_the_reader_is(page):
    """Check that a section stops below the bar, the contents stay in view, and a reload keeps the place."""
    figure = page.locator("#figure-clear-answers")
    expect(figure.locator(".wide")).to_be_visible()
    expect(figure.locator(".narrow")).to_be_hidden()
    page.locator("nav.contents").get_by_role("link", name="Appendix").click()
    for is_reloaded in (False, True):
        if is_reloaded:
            page.reload()
        page.wait_for_function("document.querySelector('#appendix')?.getBoundingClientRect().top < 200")
        page.wait_for_timeout(1000)
        assert 56 <= page.locator("#appendix").bounding_box()["y"] <= 120
        assert page.locator("nav.contents").bounding_box()["y"] >= 56
    size = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    expect(figure.locator(".narrow")).to_be_visible()
    expect(figure.locator(".wide")).to_be_hidden()
    page.set_viewport_size(size)


@pytest.mark.slow
def test_a_whole_study_and_its_report_counted_again(page, desks, empty_server, tmp_path):
    study, url, link = empty_server
    set_up(page, url, link, tmp_path, desks)
    with open_database(study) as db:
        welcome(db)

    assert everybody_labels(desks, url, dict.fromkeys(REVIEWERS, "s")) == dict.fromkeys(REVIEWERS, N_CALIBRATION)
    go(page, url, "decide?view=calibration")
    expect(page.get_by_text("All reviewers have finished.")).to_be_visible()
    take_step(page, url, "Open the study")

    keys = {"ada": "sd", "ben": "ssd", "cleo": "ds", "dan": "d"}
    counts = everybody_labels(desks, url, keys)
    go(page, url, "decide?view=splits")
    n_proper = N_ITEMS - N_CALIBRATION - N_CHECKS
    expect(page.get_by_text(f"{n_proper} of {n_proper} items have all first labels")).to_be_visible()
    go(page, url, "results?view=attention-checks")
    expect(page.get_by_text("Hidden until the study is closed")).to_be_visible()
    expect(page.get_by_text("split items", exact=False)).to_be_hidden()
    take_step(page, url, "Assign third labels")
    third = everybody_labels(desks, url, keys)
    assert sum(third.values()) > 0
    take_step(page, url, "Close the study")
    go(page, url, "results?view=attention-checks")
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()

    go(page, url, "decide?view=splits")
    page.wait_for_function(SEEN)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("status").filter(has_text="Run 1 is highlighted.")).to_be_attached()
    page.keyboard.press("d")
    expect(page.get_by_role("button", name="Dissimilar")).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Your own reason").fill("two levels")
    page.get_by_role("button", name="Save the decision").click()
    expect(page.get_by_text("Saved: dissimilar.").first).to_be_visible()
    go(page, url, "results?view=report")
    expect(page.get_by_text("Hidden until the study is unblinded")).to_be_visible()
    take_step(page, url, "Unblind the study")
    go(page, url, "items?view=all-items")
    page.get_by_text("Classifiers", exact=True).click()
    expect(page.get_by_test_id("stDataFrame")).to_have_count(4)

    go(page, url, "results?view=report")
    page.get_by_role("button", name="Other files").wait_for(timeout=180_000)
    stays_where_the_reader_is(page)
    page.get_by_role("button", name="Other files").click()
    files = {name: downloaded(page, name) for name in ("report.json", "labels.csv")}
    report, rows = json.loads(files["report.json"]), list(csv.DictReader(io.StringIO(files["labels.csv"])))
    assert sum(row["kind"] in ("fresh", "overlap") for row in rows) == sum(counts.values()) - N_CHECKS * len(REVIEWERS)
    assert sum(row["kind"] == "third" for row in rows) == sum(third.values())
    check(report, rows)
    expect(page.get_by_text("The study was unblinded on").first).to_be_attached()
    expect(page.get_by_role("heading", name="Agreement of pairs")).to_be_attached()
    with open_database(study) as db:
        assert verifying.verify_plan(db).problems == ()
        done = set(coordinating.event_log(db)["action"])
    assert done >= {
        "create study",
        "describe study",
        "import file",
        "add person",
        "draw plan",
        "compute verdicts",
        "report",
    }


def downloaded(page: Page, name: str) -> str:
    with page.expect_download(timeout=180_000) as download:
        page.get_by_role("button", name=f"Download {name}", exact=True).click()
    return download.value.path().read_text(encoding="utf-8")


def check(report, rows):
    """Compute the numbers of the report again from the label file."""
    said = defaultdict(dict)
    for row in rows:
        if row["kind"] in ("fresh", "overlap"):
            assert row["reviewer"] not in said[row["item"]]
            said[row["item"]][row["reviewer"]] = row["label"]
    assert len(said) == N_ITEMS - N_CALIBRATION - N_CHECKS
    assert report["study"]["question"] == QUESTION
    assert sum(report["classifiers"]["same"]["verdicts"].values()) == len(said)
    agreed = {item: set(labels.values()) for item, labels in said.items() if len(set(labels.values())) == 1}
    consensus = report["consensus"]
    assert (consensus["n_items"], consensus["agreed"], consensus["split"], consensus["incomplete"]) == (
        len(said), len(agreed), len(said) - len(agreed), 0,
    )  # fmt: skip
    assert consensus["agreed_dissimilar"] == sum(labels == {"dissimilar"} for labels in agreed.values())
    shares = [
        sum(x == y for x, y in combinations(labels.values(), 2)) / (len(labels) * (len(labels) - 1) / 2)
        for labels in said.values()
    ]
    assert report["agreement"]["coefficients"]["percent_agreement"]["value"] == pytest.approx(np.mean(shares))
    p = np.mean([sum(x == "similar" for x in labels.values()) / len(labels) for labels in said.values()])
    by_chance = p**2 + (1 - p) ** 2
    kappa = report["agreement"]["coefficients"]["fleiss_kappa"]["value"]
    assert kappa == pytest.approx((np.mean(shares) - by_chance) / (1 - by_chance))
    for pair in report["agreement"]["pairs"]:
        shared = [labels for labels in said.values() if {pair["a"], pair["b"]} <= set(labels)]
        n_equal = sum(labels[pair["a"]] == labels[pair["b"]] for labels in shared)
        assert (pair["n"], pair["agree"]) == (len(shared), n_equal)
    decided = [row for row in rows if row["kind"] == "adjudicated"]
    assert [(row["label"], row["comment"]) for row in decided] == [("dissimilar", "two levels")]
    assert Counter(row["kind"] for row in rows)["calibration"] == len(REVIEWERS) * N_CALIBRATION
    assert report["study"]["calibration_items"] == N_CALIBRATION
    assert report["course"]["unblinded"]["why"] in ("", "because")
    assert not report["study"]["interim"]
