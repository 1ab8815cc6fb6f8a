"""The places of a coordinator, with their views.

To add a view, add a line here and a function `render_…(db, person)` in the module of its place.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import Thread

from analysis.text import counted
from labeler.errors import LabelerError
from labeler.files import outputs
from labeler.files.exploring import METHODS
from labeler.studies import overview as study_overview
from labeler.studies.course import coordinating, course
from labeler.studies.items import browsing
from labeler.studies.people import identity
from labeler.studies.results import splits
from labeler.studies.store import Database, open_database
from labeler.studies.ui.coordinator import decide, items, one_item, people, plan, publish, results, study, tools
from labeler.studies.ui.coordinator.items import N_FIRST
from labeler.studies.ui.coordinator.shared import acknowledge, heading
from labeler.studies.verdicts import evidence, stored_verdicts

Render = Callable[[Database, str], None]

PLACES: Mapping[str, Mapping[str, Render]] = {
    "Study": {
        "Overview": study.render_overview, "Plan": plan.render_plan, "Guide": study.render_guide,
        "Log": study.render_log,
    },
    "Items": {"Add": items.render_add, "All items": items.render_all_items},
    "People": {"": people.render_people},
    "Decide": {
        "Splits": decide.render_splits, "Comments": decide.render_comments, "Calibration": decide.render_calibration,
    },
    "Results": {
        "Report": results.render_report, "Classifiers": results.render_classifiers, "Figures": results.render_figures,
        "Attention checks": results.render_attention, "Publish": publish.render_publish,
    },
    "Tools": {
        **{method.title: partial(tools.render_method, method=name) for name, method in METHODS.items()},
        "Replication": tools.render_replication, "Planner": tools.render_planner,
    },
}  # fmt: skip
ITEM = "Item"  # the page of one item, which other pages open
_prepared: set[Path] = set()  # the studies whose pages are prepared


def show(db: Database, person: str, title: str) -> None:
    """Show a place: its heading and views, the message about the last action, and the chosen view."""
    if title == ITEM:
        acknowledge()
        one_item.render_item(db, person)
        return
    views = list(PLACES[title])
    name, facts = _heading_of(db, title)
    first = "All items" if "All items" in views and coordinating.status(db).n_items else views[0]
    view = heading(name, facts, title, views, first, partial(_with_count, db, person))
    acknowledge()
    PLACES[title][view](db, person)


def _with_count(db: Database, person: str, view: str) -> str:
    """Return the name of a view, with the number of things that wait there."""
    counts = {"Splits": study_overview.n_undecided, "Comments": study_overview.n_unanswered}
    n = counts[view](db, person) if view in counts else 0
    return f"{view} ({n})" if n else view


def _heading_of(db: Database, place: str) -> tuple[str, str]:
    """Return the heading of a place, and the line of facts below it."""
    match place:
        case "Study":
            status = coordinating.status(db)
            numbers = f"{counted(status.n_items, 'item')} · {counted(status.n_reviewers, 'reviewer')}"
            return status.study.name, f"“{status.study.question.text}” · {numbers}"
        case "Items":
            return place, browsing.describe_items(db)
        case "People":
            return place, identity.describe_people(db)
        case "Decide":
            return place, "What only you can settle. You see labels without names."
        case "Results":
            unblinded = course.unblinding(db)
            day = f"{datetime.fromisoformat(unblinded['at_utc']):%-d %B %Y}" if unblinded else ""
            return place, f"Unblinded on {day}" if day else "What the study found"
        case _:
            return place, "What do your files say, without a study?"


def begin_prefetch(study: Path) -> None:
    """Prepare the pages of a study when its first coordinator has opened a page."""
    if study not in _prepared:
        _prepared.add(study)
        Thread(target=prefetch, args=(study,), daemon=True).start()


def prefetch(study: Path) -> None:
    """Compute the results that pages keep, and draw one figure; the first figure of a process takes about a second."""
    with suppress(LabelerError), open_database(study) as db:
        splits.current_agreement(db)
        splits.split_items(db)
        stored_verdicts.summary(db, N_FIRST)
        browsing.catalogue(db, verdicts=True)
    outputs.as_svg(evidence.schematic_pairs())
