"""Walk through a whole small study in a real browser, from an empty file to the report, with a picture of each page.

    python scripts/walk.py [--out walk] [--files FILE...]

The script takes every step as a coordinator would, by clicks and keys on the pages, and takes each picture at widths
of 1440, 800 and 390 pixels. At the end, a table shows how many clicks, filled fields, keys and views each part of the
study took; then the script visits every view. Four scripted reviewers label the items (`screenshots.py`); their clicks
are not counted.
"""

import argparse
import re
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
from labeler.studies.store import open_database
from labeler.studies.ui.coordinator.places import PLACES
from labeler.studies.ui.coordinator.shared import address
from scripts.screenshots import IDLE, LIMIT_MS, TOLERANCES, label
from tests.browser.conftest import CHROMIUM_OPTIONS, chromium_path, free_port, stop_server, wait_until_served, welcome

WIDTHS = (1440, 800, 390)
MIN_HEIGHT, MAX_HEIGHT = 700, 2600
SEEN = "() => window.__viewer?.paintedAt && performance.now() - window.__viewer.paintedAt > 300"
DEMO = bundled("data", "demo", "demo.parquet")


class Walk:
    """A coordinator's browser, which counts the coordinator's clicks, fields, keys and pages."""

    def __init__(self, page: Page, out: Path | None = None) -> None:
        self.page, self.out = page, out
        self.part, self.counts, self.n_pictures, self.root = "", {}, 0, ""

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
        self.page.get_by_role("textbox", name=name).locator("visible=true").first.fill(text)
        self.counts[self.part]["fields"] += 1

    def key(self, key: str) -> None:
        """Press a key on the picture of an item when the page has stopped changing."""
        self.settle()
        self.page.wait_for_function(SEEN)
        self.page.keyboard.press(key)
        self.counts[self.part]["keys"] += 1
        self.settle()

    def go(self, place: str, view: str = "") -> None:
        """Open a place from the navigation, and one of its views."""
        self.click(self.page.get_by_test_id("stTopNavLink").filter(has_text=place).first)
        self.arrived(place)
        if view:
            self.settle()
            self.click(self.page.get_by_role("radio", name=re.compile(f"^{view}")))
            self.counts[self.part]["views"] += 1
            self.settle()

    def arrived(self, place: str) -> None:
        """Wait for a place that a click has opened."""
        self.page.wait_for_url(re.compile(f"/{place.lower()}"), timeout=LIMIT_MS)
        self.settle()
        self.counts[self.part]["views"] += 1

    def next(self, words: str, place: str) -> None:
        """Press the primary button of the page, which opens a place."""
        self.press(words)
        self.arrived(place)

    def step(self, words: str) -> None:
        """Take a step of the study, with the tick that it may need."""
        if not self.page.url.rstrip("/").endswith("/study"):
            self.go("Study")
        self.settle()
        button = self.page.get_by_role("button", name=words, exact=True)
        if button.is_disabled():
            self.click(self.page.get_by_test_id("stCheckbox").first)
            self.settle()
            expect(button).to_have_count(1, timeout=LIMIT_MS)  # while the page is drawn anew, the old one is there, too
            expect(button).to_be_enabled(timeout=LIMIT_MS)
        self.click(button)

    def said(self, words: str) -> None:
        """Wait for the message that says what was done."""
        message = self.page.locator("[data-testid=stAlert], [data-testid=stToast]").filter(has_text=words)
        message.first.wait_for(timeout=LIMIT_MS)

    def picture(self, name: str) -> None:
        """Take pictures of the whole page at all widths, if there is a folder for them; otherwise only settle."""
        if self.out is None:
            self.settle()
            return
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
    """Import the measurements, invite four reviewers and make a plan; return the reviewers' links."""
    walk.begin("set up")
    walk.picture("study-empty")
    walk.next("Add items", "Items")
    walk.picture("items-add")
    walk.page.locator("input[type=file]").set_input_files([str(file) for file in files])
    walk.counts[walk.part]["clicks"] += 1  # dropping the files
    invite = walk.page.get_by_role("button", name="Next: invite people")
    invite.wait_for(timeout=LIMIT_MS)
    walk.picture("items-added")
    walk.next("Next: invite people", "People")
    walk.picture("people-empty")
    walk.fill("Names", "\n".join(TOLERANCES))
    walk.page.get_by_role("textbox", name="Names").blur()
    walk.press(f"Invite {len(TOLERANCES)} people")
    walk.said("people invited")
    walk.press("Download links for mail merge")
    walk.picture("people-invited")
    links = walk.page.get_by_test_id("stCode").filter(has_text="/join/")
    found = [link.inner_text().strip() for link in links.all()]
    walk.next("Next: make the plan", "Study")
    walk.picture("plan")
    walk.press("Confirm")
    walk.said("Plan saved")
    walk.picture("plan-confirmed")
    return found


def run(walk: Walk, some: Callable[[], None], everybody: Callable[[], None]) -> None:
    """Watch, answer a comment, assign third labels, close the study, decide the split items."""
    walk.begin("run")
    some()
    walk.go("Study")
    walk.picture("study-open")
    walk.next("Answer the comment", "Decide")
    walk.picture("comments")
    walk.press("Label it as you see it.")
    walk.settle()
    walk.press("Send the answer")
    walk.said("Answer sent")
    walk.picture("comments-answered")
    everybody()
    walk.step("Assign third labels")
    walk.said("third-label round")
    walk.picture("study-third")
    everybody()
    walk.page.reload()
    walk.step("Close the study")
    walk.said("closed")
    walk.picture("study-closed")
    decide = walk.page.get_by_role("button", name=re.compile("^Decide [0-9]"))
    if decide.is_visible():
        walk.click(decide)
        walk.arrived("Decide")
        walk.picture("splits")
        while not walk.page.get_by_text("Nothing to decide").is_visible():
            walk.key("d")
            walk.key("1")
        walk.picture("splits-decided")


def read_report(walk: Walk) -> None:
    """Unblind the study, and read the report."""
    walk.begin("report")
    walk.step("Unblind the study")
    walk.arrived("Results")
    walk.picture("report-first")
    walk.page.get_by_role("heading", name="In short").wait_for(timeout=LIMIT_MS)
    walk.picture("report")


def publish(walk: Walk) -> None:
    """Publish the data set."""
    walk.begin("publish (not needed for the report)")
    walk.click(walk.page.get_by_role("radio", name="Publish"))
    walk.counts[walk.part]["views"] += 1
    walk.settle()
    walk.picture("publish")
    walk.fill("Given names", "Grace")
    walk.fill("Family names", "Hopper")
    walk.click(walk.page.get_by_role("combobox", name="Licence of the labels"))
    walk.click(walk.page.get_by_role("option", name="CC-BY-4.0"))
    walk.settle()
    walk.click(walk.page.get_by_text("Include items of applications without a licence"))
    walk.settle()
    walk.press("Publish the data set")
    walk.page.get_by_role("button", name=re.compile("^Download .*zip")).wait_for(timeout=LIMIT_MS)
    walk.picture("published")


def look_around(walk: Walk) -> None:
    """Visit every view of every place; nothing of this is needed for the report."""
    walk.begin("looking around (not needed for the report)")
    for place, views in PLACES.items():
        for view in views:
            walk.page.goto(f"{walk.root}/{address(place)}?view={address(view)}")
            walk.settle()
            walk.counts[walk.part]["views"] += 1
            assert not walk.page.get_by_text("This app has encountered an error").is_visible(), (place, view)
            walk.picture(f"{address(place)}-{address(view)}")
    walk.page.goto(f"{walk.root}/item")
    walk.picture("item")


def walk_through(browser: Browser, files: list[Path], out: Path | None = None) -> dict[str, Counter[str]]:
    """Walk through a study, and through all views if there is a folder for pictures; return the counts of each part."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as ending:
        study, port = Path(folder) / "walk.study", free_port()
        server = subprocess.Popen(
            [sys.executable, "-m", "labeler", "serve", "--study", str(study), "--port", str(port)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        ending.callback(stop_server, server)
        assert server.stdout
        link = server.stdout.readline().removeprefix("coordinator: ").strip()
        wait_until_served(server, port)
        page = browser.new_page(viewport={"width": WIDTHS[0], "height": 900})
        page.set_default_timeout(60_000)
        ending.callback(page.context.close)
        walk = Walk(page, out)
        page.goto(link)
        walk.root = link.partition("/join/")[0]
        links = dict(zip(TOLERANCES, set_up(walk, files), strict=True))
        with open_database(study) as db:
            welcome(db)
        first = dict(list(links.items())[:2])
        try:
            run(walk, lambda: label_as(browser, study, first, comment=True), lambda: label_as(browser, study, links))
            read_report(walk)
            if out is not None:
                publish(walk)
                look_around(walk)
        except BaseException:
            walk.picture("where-it-stopped")
            raise
    return walk.counts


def main() -> None:
    """Take the walk."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("walk"))
    parser.add_argument("--files", type=Path, nargs="+", help="Result files instead of the demo's measurements.")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
        counts = walk_through(browser, options.files or [DEMO], options.out)
        browser.close()
    kinds = ("views", "clicks", "fields", "keys")
    print("| part | " + " | ".join(kinds) + " |")
    for part, of_part in counts.items():
        print(f"| {part} | " + " | ".join(str(of_part[kind]) for kind in kinds) + " |")


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
