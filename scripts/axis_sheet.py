"""Create the picture of twelve benchmarks on the labelling screen under the axis rules `core` and `levels`.

    python scripts/axis_sheet.py FOLDER [--out docs/img/axis-rules.png] [--width 1440] [--screens FOLDER]

The script sorts all benchmarks by how much shorter the axis of `levels` is than the axis of `core`, and takes twelve
evenly spaced benchmarks from this list. --screens also keeps a picture of the whole window for each benchmark. The
script needs the test tools and Debian's chromium.
"""

import argparse
import io
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))

from labeler.files import formats
from labeler.studies.course import coordinating
from labeler.studies.items import importing
from labeler.studies.model import PlanParameters, Protocol, Role
from labeler.studies.people import identity
from labeler.studies.preparing import assigning
from labeler.studies.screen import binning
from labeler.studies.store import assignments, items, open_database, people
from scripts.axis_metrics import SPANS
from scripts.screenshots import palette
from tests.browser.conftest import CHROMIUM_OPTIONS, Served, chromium_path, serving

OUT = Path(__file__).parent.parent / "docs" / "img" / "axis-rules.png"
N_SHOWN, PICTURE_WIDTH, TITLE = 12, 480, 22
READY = "() => window.__review?.paintedAt && window.__review.pending === 0"


def chosen(paths: Sequence[Path]) -> list[formats.Source]:
    """Return the files of twelve benchmarks, evenly spaced in a list sorted by the lengths of both axes."""
    found = []
    for source in formats.sources(paths):
        for benchmark in formats.read(source):
            lengths = []
            for rule, min_span in SPANS.items():
                low, high = binning.axis_limits(benchmark.values, rule=rule, min_span=min_span)[rule]
                lengths.append(high - low)
            found.append((lengths[1] / lengths[0], source.name, source))
    found.sort(key=lambda one: one[:2])
    return [found[round(i * (len(found) - 1) / (N_SHOWN - 1))][2] for i in range(N_SHOWN)]


def make(path: Path, sources: Sequence[formats.Source], protocol: Protocol) -> list[str]:
    """Create a study of these files, ready for labelling, and return the names of the items."""
    now = datetime.now(UTC)
    coordinating.create_study(path, name="Axis rules", coordinator="carol", protocol=protocol, now=now)
    with open_database(path) as db:
        results = list(importing.import_files(db, sources, actor="carol", now=now))
        for name in ("ada", "ben"):
            identity.add_person(db, name, [Role.REVIEWER], actor="carol", now=now)
        assigning.confirm_plan(db, PlanParameters(seed=1, overlap=1, retest=0), actor="carol", now=now)
    return [name for result in results for name in result.names]


def taken(browser: Browser, served: Served, width: int, screens: Path | None, rule: str) -> dict[str, bytes]:
    """Return the picture of each item on the review screen, by the name of the item."""
    pictures: dict[str, bytes] = {}
    page = browser.new_page(viewport={"width": width, "height": 844 if width < 640 else 900})
    page.goto(served.link("ada"))
    with open_database(served.study) as db:
        ada = people.by_name(db, "ada")
        names = {item.item_id: item.name for item in items.all_items(db)}
        while len(pictures) < len(names):
            page.wait_for_function(READY)
            page.wait_for_timeout(300)
            code = page.evaluate("() => window.__review.code")
            name = names[assignments.task_by_code(db, ada.person_id, code).item_id]
            if screens:  # before the next picture, which may scroll
                page.screenshot(path=screens / f"{len(pictures) + 1:02}-{rule}-{width}.png")
            pictures[name] = page.locator(".stage").screenshot()
            page.keyboard.press("s")
            page.wait_for_function("code => window.__review.code !== code", arg=code)
    page.close()
    return pictures


def sheet(columns: dict[str, dict[str, bytes]], names: Sequence[str]) -> Image.Image:
    """Combine the pictures into one, with a row for each benchmark and a column for each rule."""
    font = ImageFont.load_default(13)
    rows = [[Image.open(io.BytesIO(pictures[name])).convert("RGB") for pictures in columns.values()] for name in names]
    heights = [round(max(one.height * PICTURE_WIDTH / one.width for one in row)) + TITLE for row in rows]
    whole = Image.new("RGB", (len(columns) * (PICTURE_WIDTH + 12), sum(heights)), "white")
    draw, top = ImageDraw.Draw(whole), 0
    for number, (row, height) in enumerate(zip(rows, heights, strict=True), start=1):
        for i, (rule, one) in enumerate(zip(columns, row, strict=True)):
            left = i * (PICTURE_WIDTH + 12)
            draw.text((left + 4, top + 3), f"{number}. {rule}", fill="#12233d", font=font)
            size = PICTURE_WIDTH, round(one.height * PICTURE_WIDTH / one.width)
            whole.paste(one.resize(size, Image.Resampling.LANCZOS), (left, top + TITLE))
        top += height
    return whole


def main() -> None:
    """Create the picture."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("paths", nargs="+", type=Path)
    options.add_argument("--out", type=Path, default=OUT)
    options.add_argument("--width", type=int, default=1440)
    options.add_argument("--screens", type=Path)
    asked = options.parse_args()
    sources = chosen(asked.paths)
    columns: dict[str, dict[str, bytes]] = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
        for rule, min_span in SPANS.items():
            study = Path(folder, f"{rule}.study")
            names = make(study, sources, Protocol(axis_rule=rule, min_span=min_span, varies_pictures=False))
            with serving(study) as served:
                columns[rule] = taken(browser, served, asked.width, asked.screens, rule)
        browser.close()
    picture = sheet(columns, names)
    picture.quantize(palette=palette(), dither=Image.Dither.NONE).save(asked.out, optimize=True)
    print(f"{asked.out.name}: {asked.out.stat().st_size / 1000:.0f} kB")
    for number, name in enumerate(names, start=1):
        print(f"{number}. {name}")


if __name__ == "__main__":
    main()
