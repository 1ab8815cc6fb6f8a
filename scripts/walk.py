"""Walk through a whole small study in a real browser, from an empty file to the report, with a picture of each page.

    python scripts/walk.py [--out walk] [--files FILE...]

The script takes every step as a coordinator would, by clicks and keys on the pages, and takes each picture at widths
of 1440 and 800 pixels. At the end, a table shows how many clicks, filled fields and pages each part of the study took.
Four scripted reviewers label the items (`screenshots.py`); their clicks are not counted.
"""

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))

from labeler.config import bundled
from labeler.model import counted
from labeler.store import open_database
from labeler.ui.coordinator.results.items import ROW_PX
from scripts.screenshots import TOLERANCES, label
from tests.browser.conftest import CHROMIUM_OPTIONS, chromium_path, free_port, stop_server, wait_until_served, welcome

WIDTHS = (1440, 800)
MIN_HEIGHT, MAX_HEIGHT = 700, 2600
HEADER_PX = 36  # of a table
IDLE = """() => document.querySelector('.stApp')?.dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-stale="true"]')"""
SEEN = "() => window.__viewer?.paintedAt && performance.now() - window.__viewer.paintedAt > 300"
LIMIT_MS = 180_000


class Walk:
    """A coordinator's browser, which counts the coordinator's clicks, fields, keys and pages."""

    def __init__(self, page: Page, out: Path) -> None:
        self.page, self.out = page, out
        self.part, self.counts, self.n_pictures = "", {}, 0

    def begin(self, part: str) -> None:
        """Begin a part of the study; the following actions are counted for this part."""
        self.part = part
        self.counts.setdefault(part, Counter())

    def click(self, target: Locator) -> None:
        """Click something on the page."""
        target.click()
        self.counts[self.part]["clicks"] += 1

    def press(self, name: str) -> None:
        """Click the button with this text."""
        self.click(self.page.get_by_role("button", name=name))

    def fill(self, name: str, text: str) -> None:
        """Fill the field with this label, inside the form of the primary button if there are several."""
        self.page.get_by_label(name).locator("visible=true").first.fill(text)
        self.counts[self.part]["fields"] += 1

    def key(self, key: str) -> None:
        """Press a key on the picture of an item when the page has stopped changing."""
        self.settle()
        self.page.wait_for_function(SEEN)
        self.page.keyboard.press(key)
        self.counts[self.part]["keys"] += 1
        self.settle()

    def go(self, title: str) -> None:
        """Open a page from the navigation."""
        self.click(self.page.get_by_test_id("stSidebarNavLink").filter(has_text=title).first)
        self.arrived(title)

    def arrived(self, title: str) -> None:
        """Wait for a page that a click has opened."""
        expect(self.page.get_by_role("heading", name=title, exact=True)).to_be_visible(timeout=LIMIT_MS)
        self.counts[self.part]["pages"] += 1

    def next(self, words: str, title: str) -> None:
        """From another page, go to the page Study and press its primary button, which opens a page."""
        self.study()
        self.press(words)
        self.arrived(title)

    def study(self) -> None:
        """Open the page Study, unless it is open."""
        if not self.page.get_by_role("heading", name="Study", exact=True).is_visible():
            self.go("Study")

    def step(self, words: str, why: str) -> None:
        """Take a step of the study on its page."""
        self.study()
        self.fill("Reason, kept in the log", why)
        if words == "Unblind the study":
            self.click(self.page.get_by_text("I know that unblinding"))
        self.press(words)
        self.said("The ")

    def said(self, words: str) -> None:
        """Wait for the message that says what was done."""
        self.page.get_by_test_id("stAlert").filter(has_text=words).first.wait_for(timeout=LIMIT_MS)

    def picture(self, name: str) -> None:
        """Take pictures of the whole page at all widths."""
        self.n_pictures += 1
        for width in WIDTHS:
            self.page.set_viewport_size({"width": width, "height": MIN_HEIGHT})
            self.settle()
            main = "() => document.querySelector('[data-testid=stMain]').scrollHeight"
            height = min(max(self.page.evaluate(main), MIN_HEIGHT), MAX_HEIGHT)
            self.page.set_viewport_size({"width": width, "height": height})
            self.settle()
            self.page.screenshot(path=self.out / f"{self.n_pictures:02}-{name}-{width}.png")
        self.page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        self.settle()

    def settle(self) -> None:
        """Wait until the page stops changing."""
        self.page.wait_for_function(IDLE, timeout=LIMIT_MS)
        self.page.wait_for_timeout(700)  # tables and pictures fade in


def set_up(walk: Walk, files: list[Path]) -> list[str]:
    """Import the measurements, add four reviewers and create a plan; return the reviewers' links."""
    walk.begin("set up")
    walk.picture("study-empty")
    walk.next("Import measurements", "Data")
    walk.picture("data-empty")
    walk.page.locator("input[type=file]").set_input_files([str(file) for file in files])
    walk.counts[walk.part]["clicks"] += 1  # choosing the file
    walk.press(f"Import {counted(len(files), 'file')}")
    walk.said("items imported")
    walk.picture("data-imported")
    walk.next("Add reviewers", "People")
    walk.picture("people-empty")
    walk.fill("Names, one per line", "\n".join(TOLERANCES))
    walk.press("Add people")
    walk.said("Added")
    walk.picture("people-added")
    lines = walk.page.get_by_test_id("stCode").first.inner_text().strip().splitlines()
    walk.next("Create the plan", "Plan")
    walk.fill("Seed", "10")  # a plan in which some items are split
    walk.fill("Calibration items", "3")
    walk.page.keyboard.press("Enter")
    confirm = "Confirm this plan and begin the calibration round"
    walk.page.get_by_role("button", name=confirm).wait_for(timeout=LIMIT_MS)
    walk.picture("plan-preview")
    walk.press(confirm)
    walk.said("Plan saved")
    walk.picture("plan-saved")
    return [line.partition(": ")[2] for line in lines]


def calibrate(walk: Walk, everybody: Callable[[], None]) -> None:
    """Set reference labels and the required result, let everybody label the round, and open the study."""
    walk.begin("calibration")
    walk.study()
    walk.picture("study-calibration")
    walk.go("Calibration")
    walk.click(walk.page.get_by_text("the reviewers agree with each other"))
    walk.said("saved")
    walk.picture("calibration-goal")
    for key, left in ("s", 2), ("d", 1), ("s", 0):
        walk.key(key)
        walk.said(f"Items without a reference label: {left} of 3")
    walk.picture("calibration-references")
    everybody()
    walk.go("Progress")
    walk.picture("progress-calibration")
    walk.go("Calibration")
    walk.picture("calibration-result")
    walk.study()
    walk.picture("study-open-next")
    if not walk.page.get_by_role("button", name="Open the study", exact=True).is_visible():
        walk.click(walk.page.get_by_text("Other steps"))
    walk.fill("Reason, kept in the log", "calibration discussed")
    walk.press("Open the study")
    walk.said("The study is open")
    walk.picture("study-open")


def run(walk: Walk, some: Callable[[], None], everybody: Callable[[], None]) -> None:
    """Watch, answer a comment, assign third labels, close the study, decide a split item."""
    walk.begin("run")
    some()
    walk.next("See progress", "Progress")
    walk.picture("progress")
    walk.go("Inbox")
    walk.picture("inbox")
    walk.click(walk.page.get_by_text("Label it as you see it."))
    walk.press("Send the answer")
    walk.said("sent")
    walk.picture("inbox-answered")
    walk.go("Splits")
    walk.picture("splits-open")
    everybody()
    walk.study()
    walk.picture("study-third-next")
    walk.step("Assign third labels", "settle the split items")
    walk.picture("study-third")
    everybody()
    walk.go("Progress")
    walk.picture("progress-complete")
    walk.step("Close the study", "every label is there")
    walk.picture("study-closed")
    walk.go("Splits")
    walk.picture("splits")
    walk.key("d")
    walk.key("1")
    walk.key("Enter")
    walk.said("decided as")
    walk.picture("splits-decided")


def results(walk: Walk) -> None:
    """Compute verdicts, unblind, create the report; then look at every other page."""
    walk.begin("results")
    walk.study()
    walk.picture("study-verdicts-next")
    walk.press("Compute verdicts")
    walk.arrived("Verdicts")
    walk.press("Compute verdicts")
    walk.page.wait_for_timeout(2500)
    walk.picture("verdicts-running")
    walk.page.get_by_test_id("stProgress").first.wait_for(state="hidden", timeout=LIMIT_MS)
    walk.picture("verdicts-hidden")
    walk.study()
    walk.picture("study-unblind-next")
    walk.step("Unblind the study", "labelling has ended")
    walk.picture("study-unblinded")
    walk.press("See the report")
    walk.arrived("Report")
    walk.picture("report-empty")
    walk.press("Create the report")
    walk.page.wait_for_timeout(3000)
    walk.page.screenshot(path=walk.out / "report-waiting.png")
    walk.page.locator("iframe").wait_for(timeout=LIMIT_MS)
    walk.picture("report")
    walk.begin("looking around (not needed for the report)")
    for title in ("Verdicts", "Items"):
        walk.go(title)
        walk.picture(title.lower())
    box = walk.page.get_by_test_id("stDataFrame").bounding_box()
    assert box
    walk.page.mouse.click(box["x"] + 18, box["y"] + HEADER_PX + ROW_PX / 2)
    walk.counts[walk.part]["clicks"] += 1
    walk.arrived("Item")
    walk.picture("item")
    others = ("Progress", "Calibration", "Inbox", "Splits", "Classifiers", "Figures", "Replication", "Publish",
              "Handover", "Data", "People", "Plan", "Spread", "Sign out")  # fmt: skip
    for title in others:
        walk.go(title) if title != "Sign out" else walk.click(walk.page.get_by_text("Sign out").first)
        walk.picture(f"{title.lower().replace(' ', '-')}-at-the-end")


def main() -> None:
    """Take the walk."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("walk"))
    parser.add_argument("--files", type=Path, nargs="+", help="Result files instead of the demo's measurements.")
    options = parser.parse_args()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, ExitStack() as ending:
        study, port = Path(folder) / "walk.study", free_port()
        server = subprocess.Popen(
            [sys.executable, "-m", "labeler", "serve", "--study", str(study), "--port", str(port)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        ending.callback(stop_server, server)
        assert server.stdout
        link = server.stdout.readline().removeprefix("coordinator: ").strip()
        wait_until_served(server, port)
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
        page = browser.new_page(viewport={"width": WIDTHS[0], "height": 900})
        page.set_default_timeout(60_000)
        walk = Walk(page, out)
        page.goto(link)
        links = dict(
            zip(TOLERANCES, set_up(walk, options.files or [bundled("data", "demo", "demo.parquet")]), strict=True)
        )
        with open_database(study) as db:
            welcome(db)
        first = dict(list(links.items())[:2])
        try:
            calibrate(walk, lambda: label_as(browser, study, links))
            run(walk, lambda: label_as(browser, study, first, comment=True), lambda: label_as(browser, study, links))
            results(walk)
        except BaseException:
            walk.picture("where-it-stopped")
            raise
        browser.close()
    kinds = ("pages", "clicks", "fields", "keys")
    print("| part | " + " | ".join(kinds) + " |")
    for part, counts in walk.counts.items():
        print(f"| {part} | " + " | ".join(str(counts[kind]) for kind in kinds) + " |")


def label_as(browser: Browser, study: Path, links: dict[str, str], *, comment: bool = False) -> None:
    """Label all items as these reviewers; with `comment`, the first reviewer writes it and leaves an item open."""
    for name, link in links.items():
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        page.goto(link)
        if page.get_by_role("button", name=f"Continue as {name}").is_visible():
            page.get_by_role("button", name=f"Continue as {name}").click()
        with open_database(study) as db:
            if comment:
                page.wait_for_function("() => window.__review?.paintedAt")
                page.keyboard.press("m")
                page.keyboard.type("Run 3 starts on another level: was the machine warm?")
                page.keyboard.press("Control+Enter")
                comment = False
            label(page, db, name)
        context.close()


if __name__ == "__main__":
    main()
