"""Measure time and memory of plans, of changes to them, and of the pages of a closed study, at 10,000 items.

python -m tests.performance.scale                  # about five minutes; --report adds the report
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from labeler.formats import tables
from labeler.model import PlanParameters
from labeler.plan.active_plan import ActivePlan, place_of
from labeler.plan.design import draw_plan
from labeler.questions import SIMILAR
from labeler.service.results import exchange, reporting, splits
from labeler.service.study import coordinating
from labeler.service.verdicts import computing, stored_verdicts
from labeler.store import Database, open_database
from tests.performance.measuring import peak_mb, print_table, seconds
from tests.performance.report import study as made_up_labels

NOW = datetime(2026, 1, 1, tzinfo=UTC)
N_ITEMS, N_APPLICATIONS = 10_000, 30
PLANS = ((50, 3), (50, 8), (200, 2), (200, 20))  # reviewers, and the number of reviewers per item


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true", help="Also time the report, with everything resampled.")
    with_report = parser.parse_args().report
    print_table(f"Plans of {N_ITEMS} items, and changes to them", plans())
    with tempfile.TemporaryDirectory() as folder:
        path = study(Path(folder))
        with open_database(path) as db:
            print_table(f"Pages at {N_ITEMS} items, 50 reviewers, three labels an item", pages(db))
            if with_report:
                row = measured("report", lambda: reporting.files_of_study(db, actor="owner", now=NOW))
                print_table("The report, with everything resampled", [row])


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


def study(folder: Path) -> Path:
    """Return a study with labels and verdicts and no measurements."""
    path = folder / "large.study"
    coordinating.create_study(path, name="large", question="?", coordinator="carol", now=NOW)
    answers, verdicts = made_up_labels(N_ITEMS, 50, 3)
    (folder / "labels.csv").write_text(tables.write(answers[["item", "reviewer", "label"]]))
    (folder / "verdicts.csv").write_text(tables.write(verdicts))
    with open_database(path) as db:
        stored_verdicts.import_verdicts(db, folder / "verdicts.csv", None, actor="owner", now=NOW)
        exchange.import_label_file(db, folder / "labels.csv", actor="owner", now=NOW)
    return path


def pages(db: Database) -> list[dict[str, Any]]:
    """Seconds for the data that a page requests from the services."""

    def verdicts() -> None:
        computing.n_missing(db)
        table = stored_verdicts.brief_table(db)
        counting = stored_verdicts.of_counting_items(db, table)
        stored_verdicts.verdict_counts(table, SIMILAR.categories)
        stored_verdicts.among_themselves(counting, SIMILAR)
        stored_verdicts.to_send_first(counting, SIMILAR, 20)

    return [
        measured("Splits, before closing", lambda: splits.n_complete(db)),
        measured("Splits", lambda: [splits.split_items(db), splits.why_not_decide(db, "carol")]),
        measured("Verdicts", verdicts),
        measured("agreement on Progress", lambda: splits.current_agreement(db)),
    ]


def measured(what: str, act: Callable[[], object]) -> dict[str, Any]:
    """Processor seconds, which other work on the machine does not change."""
    return {"what": what, "s": seconds(act, repeats=1, clock=time.process_time)}


if __name__ == "__main__":
    main()
