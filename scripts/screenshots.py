"""Create the pictures of the documents: a demo study, labelled in a real browser by four scripted reviewers.

    python scripts/screenshots.py [--out docs/img]

Needs the test tools and Debian's chromium. Each scripted reviewer answers dissimilar if the medians of the ten runs are
further apart than that reviewer's threshold, so they disagree, as people do.
"""

import argparse
import io
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from PIL import Image, ImageColor
from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))

from labeler.config import bundled
from labeler.studies import demo
from labeler.studies.course import coordinating, course
from labeler.studies.items import importing
from labeler.studies.model import PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.store import Database, assignments, open_database, people, runs
from tests.browser.conftest import CHROMIUM_OPTIONS, Served, chromium_path, serving

TOLERANCES = {"ada": 0.03, "ben": 0.08, "cleo": 0.15, "dan": 0.30}
READY = "() => window.__review?.paintedAt && performance.now() - window.__review.paintedAt > 260"
IDLE = """() => document.querySelector('.stApp')?.dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-stale="true"], [data-testid="stSkeleton"]')
    && [...document.querySelectorAll('[data-testid="stVegaLiteChart"], [data-testid="stDataFrame"]')]
        .every(shown => shown.querySelector('canvas, svg'))"""
LIMIT_MS = 600_000  # on a busy machine
SAVED = "() => window.__review?.pending === 0"
WIDE = {"width": 1360, "height": 760}
N_FILMED, FRAME_MS, FILM_WIDTH = 20, 700, 600
# of the picture and the page, see js/ink.js and style.css
INKS = "#12233d", "#9dbcd9", "#5f86ab", "#5b6677", "#b35806", "#1f78b4", "#7b3294", "#1f5a94"
PALE = "#ffffff", "#f1f2f4", "#e4e8ee", "#c9ced6", "#aab3c0"


def spread(db: Database, name: str, code: str) -> float:
    """Return the distance between the smallest and the largest median of the runs, as a share."""
    person = people.by_name(db, name)
    task = assignments.task_by_code(db, person.person_id, code)
    medians = [float(np.median(run)) for run in runs.of_item(db, task.item_id)]
    return max(medians) / min(medians) - 1


def label(page: Page, db: Database, name: str, each: Callable[[int, float], None] = lambda *_: None) -> None:
    """Label every item; `each` is called before each answer with the number of answers and the spread of the item."""
    for n_done in range(N_FILMED):
        page.wait_for_function("() => window.__review?.pending === 0 && window.__review.done !== null")
        if page.evaluate("() => window.__review.code") is None:
            return
        page.wait_for_function(READY)
        apart = spread(db, name, page.evaluate("() => window.__review.code"))
        each(n_done, apart)
        page.keyboard.press("d" if apart > TOLERANCES[name] else "s")
        page.wait_for_function(SAVED)


def views(page: Page, out: Path) -> Callable[[int, float], None]:
    """Take pictures of one informative item in every view."""
    taken: list[float] = []

    def take(n_done: int, apart: float) -> None:
        if taken or n_done < 5 or not 0.05 < apart < 0.5:
            return
        taken.append(apart)
        page.screenshot(path=out / "label.png")
        for key, name in (("o", "label-overlay"), ("l", "label-log")):
            page.keyboard.press(key)
            page.screenshot(path=out / f"{name}.png")
            page.keyboard.press(key)
        page.keyboard.press("?")
        page.screenshot(path=out / "label-help.png")
        page.keyboard.press("Escape")

    return take


def lighten(path: Path) -> None:
    """Reduce the colours, which saves hundreds of kB in a picture of many small pictures."""
    Image.open(path).convert("RGB").quantize(48, method=Image.Quantize.FASTOCTREE).save(path, optimize=True)


def session(browser: Browser, served: Served, out: Path) -> None:
    """Record twenty items labelled by keyboard as one animated picture."""
    frames: list[bytes] = []
    page = browser.new_page(viewport=WIDE)
    page.goto(served.link("ben"))
    with open_database(served.study) as db:
        label(page, db, "ben", lambda _n_done, _apart: frames.append(page.screenshot()))
    page.close()
    film(frames, out / "session.gif")


def film(frames: list[bytes], path: Path) -> None:
    """Write the frames as one small animated picture."""
    images = [Image.open(io.BytesIO(frame)).convert("RGB") for frame in frames]
    height = round(images[0].height * FILM_WIDTH / images[0].width)
    small = [image.resize((FILM_WIDTH, height), Image.Resampling.LANCZOS) for image in images]
    first, *rest = [image.quantize(palette=palette(), dither=Image.Dither.NONE) for image in small]
    first.save(path, save_all=True, append_images=rest, duration=FRAME_MS, loop=0, optimize=True)


def palette() -> Image.Image:
    """Return the colours of the picture, each also mixed with white, to keep every colour in a small file."""
    inks = [ImageColor.getrgb(ink) for ink in INKS]
    mixed = [tuple(round(255 - share * (255 - part)) for part in ink) for ink in inks for share in (1, 0.7, 0.4)]
    colours = [*(ImageColor.getrgb(pale) for pale in PALE), *mixed]
    picture = Image.new("P", (1, 1))
    picture.putpalette([part for colour in colours for part in colour])
    return picture


def reviewers(browser: Browser, served: Served, out: Path) -> None:
    """Label as every reviewer, and take pictures of the views."""
    with open_database(served.study) as db:
        for name in TOLERANCES:
            page = browser.new_page(viewport=WIDE)
            page.goto(served.link(name))
            label(page, db, name, *([views(page, out)] if name == "ada" else []))
            page.close()


def coordinator(browser: Browser, served: Served, folder: str, out: Path) -> None:
    """Take pictures of the split items, an item and the report."""
    page = signed_in(browser, served)
    move(served, Step.THIRD, "settle the split items")
    with open_database(served.study) as db:
        reviewer = browser.new_page(viewport=WIDE)
        reviewer.goto(served.link("ada"))
        label(reviewer, db, "ada")
        reviewer.close()
    with open_database(served.study) as db:
        for name in TOLERANCES:
            reviewer = browser.new_page(viewport=WIDE)
            reviewer.goto(served.link(name))
            label(reviewer, db, name)
            reviewer.close()
    move(served, Step.CLOSE, "every label is there")
    take(page, served, "decide?view=splits", "splits", "Save the decision", out, height=1000)
    move(served, Step.UNBLIND, "labelling has ended")
    take(page, served, "item", "item", "Mean of each measure over all pairs", out, height=2000)
    subprocess.run(
        [sys.executable, "-m", "labeler", "report", "--study", str(served.study), "--out", f"{folder}/report"],
        check=True, capture_output=True,
    )  # fmt: skip
    page.set_viewport_size({"width": 1000, "height": 1000})
    page.goto(f"file://{folder}/report/report.html")
    page.screenshot(path=out / "report.png")


def signed_in(browser: Browser, served: Served) -> Page:
    """Open a page as the coordinator."""
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    page.goto(served.link("coordinator"))
    page.get_by_text("Overview").wait_for()
    return page


def take(page: Page, served: Served, url: str, name: str, text: str, out: Path, *, height: int) -> None:
    """Take a picture of a coordinator's page when it shows the text."""
    page.set_viewport_size({"width": 1200, "height": height})
    page.goto(f"{served.url}/{url}")
    page.get_by_text(text).first.wait_for(timeout=LIMIT_MS)
    page.wait_for_load_state("networkidle")
    page.wait_for_function(IDLE, timeout=LIMIT_MS)
    page.wait_for_timeout(1000)  # tables and pictures fade in
    page.screenshot(path=out / f"{name}.png")
    lighten(out / f"{name}.png")


def move(served: Served, step: Step, why: str) -> None:
    """Change the state of the study."""
    with open_database(served.study) as db:
        course.change_state(db, step, why=why, actor="coordinator", now=datetime.now(UTC))


def main() -> None:
    """Create all pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "docs" / "img")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
        with serving(study_without_plan(Path(folder) / "new.study")) as served:
            take(signed_in(browser, served), served, "study?view=plan", "plan", "Confirm the plan", out, height=1280)
        with serving(study_in_progress(Path(folder) / "progress.study")) as served:
            take(
                signed_in(browser, served), served, "study?view=overview", "progress", "Labels by day", out, height=1160
            )
        with serving(demo_study(Path(folder) / "demo.study")) as served:
            reviewers(browser, served, out)
            coordinator(browser, served, folder, out)
        with serving(demo_study(Path(folder) / "all.study", overlap=1.0)) as served:
            session(browser, served, out)
        browser.close()


def study_in_progress(path: Path) -> Path:
    """Create a study in which the simulated reviewers of the demo have labelled on three days, the last one today."""
    begin, rng = datetime.now(UTC) - timedelta(days=2, hours=2), np.random.default_rng(1)
    with open_database(study_without_plan(path, begin)) as db:
        assigning.confirm_plan(db, PlanParameters(1, overlap=0.25, retest=2), actor="coordinator", now=begin)
        for day in range(3):
            demo.simulate_labels(db, begin + timedelta(days=day, hours=1), rng, limit=5 + 2 * day)
    return path


def study_without_plan(path: Path, now: datetime | None = None) -> Path:
    """Create a study with all measurements of the demo and its reviewers, which has no plan yet."""
    now = now or datetime.now(UTC)
    coordinating.create_study(path, name="Parser and cache benchmarks", coordinator="coordinator", now=now)
    with open_database(path) as db:
        files = [importing.File(name, bundled("data", "demo", name)) for name in demo.MEASUREMENTS]
        for _ in importing.import_files(db, files, actor="coordinator", now=now):
            pass
        for name in TOLERANCES:
            identity.add_person(db, name, [Role.REVIEWER], actor="coordinator", now=now)
    return path


def demo_study(path: Path, **changes: float) -> Path:
    """Create the demo study, with the given changes to its plan."""
    now = datetime.now(UTC)
    demo.build(path, bundled("data", "demo"), advance=lambda _done, _total: None, now=now)
    if changes:
        with open_database(path) as db:
            assigning.confirm_plan(db, replace(demo.PARAMETERS, **changes), actor="owner", now=now)
    return path


if __name__ == "__main__":
    main()
