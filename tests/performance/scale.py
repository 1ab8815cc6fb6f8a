"""Measure time and memory of plans and their changes, and the pages of coordinators in a real browser, at 10,000 items.

    python -m tests.performance.scale [--sizes 24 586 10000] [--report]

Takes about ten minutes. The services' work for a page is processor time, which other work on the machine does not
change; a change of page is the time from the click until the page is complete.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from labeler.studies.course import course
from labeler.studies.model import PlanParameters
from labeler.studies.plan.active_plan import ActivePlan, place_of
from labeler.studies.plan.design import draw_plan
from labeler.studies.plan.lifecycle import Step
from labeler.studies.questions import SIMILAR
from labeler.studies.results import reporting, splits
from labeler.studies.store import Database, open_database
from labeler.studies.ui.coordinator.places import PLACES
from labeler.studies.ui.coordinator.shared import address
from labeler.studies.verdicts import computing, stored_verdicts
from tests.browser.conftest import CHROMIUM_OPTIONS, chromium_path, serving
from tests.performance.measuring import peak_mb, print_table, seconds
from tests.performance.rig import ACTOR, labelled_study

NOW = datetime(2026, 1, 1, tzinfo=UTC)
N_ITEMS, N_APPLICATIONS = 10_000, 30
PLANS = ((50, 3), (50, 8), (200, 2), (200, 20))  # reviewers, and the number of reviewers per item
SIZES = {24: (4, 2), 586: (4, 2), N_ITEMS: (50, 3)}  # items: reviewers, labels per item
REPEATS = 3
SETTLED = """path => location.pathname.endsWith(path) && document.querySelector('h1')
    && document.querySelector('.stApp')?.dataset.testScriptState === 'notRunning'
    && !document.querySelector('[data-stale="true"]')"""
LIMIT_MS = 120_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", choices=list(SIZES), default=list(SIZES))
    parser.add_argument("--report", action="store_true", help="also time the report, with everything resampled")
    options = parser.parse_args()
    if N_ITEMS in options.sizes:
        print_table(f"Plans of {N_ITEMS} items, and changes to them", plans())
    with tempfile.TemporaryDirectory() as folder:
        for n_items in options.sizes:
            path = labelled_study(Path(folder) / f"{n_items}.study", n_items, *SIZES[n_items])
            with open_database(path) as db:
                print_table(f"Work of the services for pages at {n_items} items", services(db))
                if options.report:
                    row = measured("report", partial(reporting.files_of_study, db, actor=ACTOR, now=NOW))
                    print_table(f"The report at {n_items} items, with everything resampled", [row])
            print_table(f"Change of page at {n_items} items, in seconds", pages(path))


def plans() -> list[dict[str, Any]]:
    """Return each plan in a separate process, to measure its memory."""
    rows = []
    for size in PLANS:
        with ProcessPoolExecutor(1) as executor:
            rows.append(executor.submit(plan, *size).result())
        print(rows[-1], flush=True)
    return rows


def plan(n_reviewers: int, per_item: int) -> dict[str, Any]:
    """Seconds to draw a plan, and to let a reviewer leave and join."""
    items = {f"org/project.Benchmark{n}.run": f"application {n % N_APPLICATIONS}" for n in range(N_ITEMS)}
    people = [f"reviewer {n}" for n in range(n_reviewers)]
    drawn = draw_plan(items, people, PlanParameters(1, per_item))
    standing = {place_of(assignment): assignment for assignment in drawn.assignments}
    state = ActivePlan(standing, {}, items, frozenset(), frozenset(), 1)
    row: dict[str, Any] = {"reviewers": n_reviewers, "per item": per_item, "assignments": len(standing)}
    for name, act in (
        ("draw", lambda: draw_plan(items, people, PlanParameters(1, per_item)).hash),
        ("leave", lambda: state.without(people[0], people[1:])),
        ("join", lambda: state.joined("somebody new", calibrating=False)),
    ):
        row[f"{name}, s"] = measured(name, act)["s"]
    return row | {"MB": peak_mb()}


def services(db: Database) -> list[dict[str, Any]]:
    """Seconds for the data that a page requests from the services."""

    def verdicts() -> None:
        computing.n_missing(db)
        table = stored_verdicts.brief_table(db)
        counting = stored_verdicts.without_excluded(db, table)
        stored_verdicts.verdict_counts(table, SIMILAR.names)
        stored_verdicts.classifier_agreement(counting, SIMILAR)
        stored_verdicts.most_disputed(counting, SIMILAR, 20)

    return [
        measured("Splits, before closing", lambda: splits.n_complete(db)),
        measured("Splits", lambda: [splits.split_items(db), splits.why_not_decide(db, ACTOR)]),
        measured("Verdicts", verdicts),
        measured("agreement on Progress", lambda: splits.current_agreement(db)),
    ]


def measured(what: str, act: Callable[[], object]) -> dict[str, Any]:
    return {"what": what, "s": seconds(act, repeats=1, clock=time.process_time)}


def pages(path: Path) -> list[dict[str, Any]]:
    """Seconds for each page of a coordinator after unblinding: the first time, and the shortest later time."""
    with open_database(path) as db:
        for step in (Step.OPEN, Step.CLOSE, Step.UNBLIND):
            course.change_state(db, step, why="made up", actor=ACTOR, now=datetime.now(UTC))
    with serving(path) as served, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM_OPTIONS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(served.link(ACTOR))
        page.wait_for_function(SETTLED, arg="/study", timeout=LIMIT_MS)
        rows = []
        for title in PLACES:
            taken = []
            for _ in range(1 + REPEATS):
                to(page, "Tools" if title != "Tools" else "People")
                taken.append(to(page, title))
            rows.append({"page": title, "first": round(taken[0], 2), "again": round(min(taken[1:]), 2)})
        browser.close()
    return rows


def to(page: Page, title: str) -> float:
    link = page.get_by_test_id("stTopNavLink").filter(has_text=title).first
    begun = time.perf_counter()
    link.click()
    page.wait_for_function(SETTLED, arg=f"/{address(title)}", timeout=LIMIT_MS)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
