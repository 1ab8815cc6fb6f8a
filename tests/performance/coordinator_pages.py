"""Measure how long a coordinator's change of page takes, in a real browser, at three sizes of a finished study.

python -m tests.performance.coordinator_pages [--sizes 24 586 10000] [--measured]
"""

import argparse
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from playwright.sync_api import Page, sync_playwright

from labeler.formats import Source, tables
from labeler.model import Role
from labeler.plan.lifecycle import Step
from labeler.service.items import importing
from labeler.service.people import identity
from labeler.service.results import exchange
from labeler.service.study import coordinating, course
from labeler.service.verdicts import stored_verdicts
from labeler.store import open_database
from labeler.ui.coordinator.places import PLACES
from labeler.ui.coordinator.shared import address
from tests.browser.conftest import CHROMIUM_OPTIONS, chromium_path, serving
from tests.performance.measuring import print_table
from tests.performance.report import study as made_up_labels

SIZES = {24: (4, 2), 586: (4, 2), 10_000: (50, 3)}  # items: reviewers, labels per item
N_RUNS, N_ITERATIONS, REPEATS = 10, 20, 3
SETTLED = """path => location.pathname === path && document.querySelector('h1')
    && document.querySelector('.stApp')?.dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-stale="true"]')"""
LIMIT_MS = 120_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--measured", action="store_true", help="Import measurements too: minutes for 10 000 items.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
        for n_items in options.sizes:
            path = study(Path(folder) / f"{n_items}.study", n_items, *SIZES[n_items], measured=options.measured)
            with serving(path) as served:
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                page.goto(served.link("carol"))
                page.wait_for_function(SETTLED, arg="/study", timeout=LIMIT_MS)
                rows = [timed(page, title) for title in PLACES]
                page.close()
            print_table(f"Change of page at {n_items} items, in seconds", rows)
        browser.close()


def study(path: Path, n_items: int, n_reviewers: int, per_item: int, *, measured: bool) -> Path:
    """Return a synthetic study with labels and verdicts, unblinded."""
    now = datetime.now(UTC) - timedelta(days=2)
    coordinating.create_study(path, name=f"{n_items} items", question="Alike?", coordinator="carol", now=now)
    answers, verdicts = made_up_labels(n_items, n_reviewers, per_item)
    for name, table in (("labels", answers[["item", "reviewer", "label"]]), ("verdicts", verdicts)):
        path.with_suffix(f".{name}.csv").write_text(tables.write(table))
    with open_database(path) as db:
        if measured:
            source = Source("runs.parquet", measurements(path, sorted(set(answers["item"]))))
            (result,) = importing.import_files(db, [source], actor="carol", now=now)
            assert not result.refused, result.refused
        for name in sorted(set(answers["reviewer"])):
            identity.add_person(db, name, [Role.REVIEWER], actor="carol", now=now)
        stored_verdicts.import_verdicts(db, path.with_suffix(".verdicts.csv"), None, actor="carol", now=now)
        exchange.import_label_file(db, path.with_suffix(".labels.csv"), actor="carol", now=now)
        for step in (Step.OPEN, Step.CLOSE, Step.UNBLIND):
            course.change_state(db, step, why="made up", actor="carol", now=now)
    return path


def measurements(path: Path, names: list[str]) -> Path:
    """Return the runs of every item as one long table."""
    rng, n = np.random.default_rng(1), N_RUNS * N_ITERATIONS
    table = pd.DataFrame(
        {
            "benchmark": np.repeat(names, n),
            "run": np.tile(np.repeat(np.arange(N_RUNS), N_ITERATIONS), len(names)),
            "value": rng.lognormal(-9, 0.05, n * len(names)),
        }
    )
    target = path.with_suffix(".parquet")
    table.to_parquet(target)
    return target


def timed(page: Page, title: str) -> dict[str, Any]:
    """Seconds from the click on a place's link until the place is complete: first time, and shortest later time."""
    taken = []
    for _ in range(1 + REPEATS):
        other = "Tools" if title != "Tools" else "People"
        to(page, other)
        taken.append(to(page, title))
    return {"page": title, "first": round(taken[0], 2), "again": round(min(taken[1:]), 2)}


def to(page: Page, title: str) -> float:
    link = page.get_by_test_id("stTopNavLink").filter(has_text=title).first
    begun = time.perf_counter()
    link.click()
    page.wait_for_function(SETTLED, arg=f"/{address(title)}", timeout=LIMIT_MS)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
