"""Make the pictures of the documents again: a demo study, labelled in a real browser by four scripted reviewers.

    python scripts/screenshots.py [--out docs/img]

Needs the test tools and Debian's chromium. Each scripted reviewer says dissimilar when the medians of the ten runs lie
further apart than a share of their own; so they disagree, as people do.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))

from labeler.store import Database, assignments, open_database, people, runs
from tests.browser.conftest import CHROMIUM_OPTIONS, chromium_path, served_demo, stop_server

TOLERANCES = {"ada": 0.03, "ben": 0.08, "cleo": 0.15, "dan": 0.30}
READY = "() => window.__review?.paintedAt && performance.now() - window.__review.paintedAt > 260"
SAVED = "() => window.__review?.pending === 0"


def spread(db: Database, name: str, code: str) -> float:
    """How far apart the runs' medians are, as a share."""
    person = people.by_name(db, name)
    task = assignments.task_by_code(db, person.person_id, code)
    medians = [float(np.median(run)) for run in runs.of_item(db, task.item_id)]
    return max(medians) / min(medians) - 1


def label(page: Page, db: Database, name: str, picture: Path | None) -> None:
    """Label everything; with a picture stop at a telling item from the sixth on."""
    for n_done in range(15):
        page.wait_for_function(READY)
        apart = spread(db, name, page.evaluate("() => window.__review.code"))
        if picture and n_done >= 5 and 0.05 < apart < 0.5:
            page.screenshot(path=picture)
            return
        page.keyboard.press("d" if apart > TOLERANCES[name] else "s")
        page.wait_for_function(SAVED)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "docs" / "img")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        served = served_demo(Path(folder))
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
        try:
            with open_database(served.study) as db:
                for name in TOLERANCES:
                    page = browser.new_page(viewport={"width": 1360, "height": 760})
                    page.goto(served.link(name))
                    label(page, db, name, out / "label.png" if name == "dan" else None)
                    page.close()
            page = browser.new_page(viewport={"width": 1200, "height": 560})
            page.goto(served.link("coordinator"))
            page.get_by_text("Event log").wait_for()
            page.goto(f"{served.url}/progress")
            page.get_by_text("ada: 15 of 15 done").wait_for()
            page.screenshot(path=out / "progress.png")
            subprocess.run(
                [sys.executable, "-m", "labeler", "report", "--study", str(served.study), "--out", f"{folder}/report"],
                check=True, capture_output=True,
            )  # fmt: skip
            page.set_viewport_size({"width": 1000, "height": 1250})
            page.goto(f"file://{folder}/report/report.html")
            page.screenshot(path=out / "report.png")
        finally:
            browser.close()
            stop_server(served.process)


if __name__ == "__main__":
    main()
