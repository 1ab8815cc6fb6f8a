"""Record a first visit for the README: the question, a practice item with its explanation, the first items.

    python scripts/first_visit.py [--out docs/img/first-visit.gif]

The script needs the test tools and Debian's chromium.
"""

import argparse
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))

from labeler.config import bundled
from labeler.studies import demo
from scripts.screenshots import film
from tests.browser.conftest import CHROMIUM_OPTIONS, chromium_path, serving

OUT = Path(__file__).parent.parent / "docs" / "img" / "first-visit.gif"
READY = "() => window.__review?.paintedAt && performance.now() - window.__review.paintedAt > 300"
N_PRACTISED, N_LABELLED = 2, 5


def visit(page: Page) -> list[bytes]:
    """Go through the screens and take a picture of each."""
    frames: list[bytes] = []

    def take(times: int = 2) -> None:
        frames.extend([page.screenshot()] * times)

    page.get_by_role("button", name="Practise on six items").wait_for()
    take(4)
    page.get_by_role("button", name="Practise on six items").click()
    for number in range(N_PRACTISED):
        page.wait_for_function(READY)
        take()
        page.keyboard.press("sd"[number % 2])
        page.locator(".explanation").wait_for()
        take(4)
        page.keyboard.press("Enter")
    page.get_by_role("button", name="Skip the rest and start labelling").click()
    page.wait_for_function("() => window.__review?.code && !window.__review.code.startsWith('P')")
    for number in range(N_LABELLED):
        page.wait_for_function(READY)
        page.wait_for_function("() => window.__review.pending === 0")
        take()
        page.keyboard.press("u" if number == N_LABELLED - 2 else "sd"[number % 2])
    page.wait_for_function(READY)
    take(3)
    return frames


def main() -> None:
    """Create the animated picture."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, default=OUT)
    out = options.parse_args().out
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        study = Path(folder, "demo.study")
        measured = bundled("data", "demo")
        demo.build(study, measured, advance=lambda _done, _total: None, now=datetime.now(UTC))
        with serving(study, with_first_visit=True) as served:
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
            page = browser.new_page(viewport={"width": 1360, "height": 760})
            page.goto(served.link("ada"))
            film(visit(page), out)
            browser.close()
    print(f"{out.name}: {out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
