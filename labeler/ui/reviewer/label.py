"""The page where reviewers label: one item at a time."""

from datetime import UTC, datetime
from typing import Any

from labeler.errors import LabelerError
from labeler.model import Task
from labeler.service import reviewing
from labeler.store import Database
from labeler.ui.reviewer import component

KEY = "review"


def render(db: Database, reviewer_id: int) -> None:
    """Keep the answer that caused this run, then show what is next."""
    ack = keep(db, reviewer_id, component.event_of(KEY))
    component.show(KEY, screen(db, reviewer_id, ack))


def keep(db: Database, reviewer_id: int, event: object | None) -> dict[str, Any] | None:
    """Hand an event of the component to the service; what to tell the component about it."""
    if event is None:
        return None
    event_id = event.get("event_id") if isinstance(event, dict) else None
    try:
        reviewing.submit(db, reviewer_id, reviewing.submission_from(event), now=datetime.now(UTC))
    except LabelerError as error:
        return {"event_id": event_id, "saved": False, "message": str(error)}
    return {"event_id": event_id, "saved": True, "message": ""}


def screen(db: Database, reviewer_id: int, ack: dict[str, Any] | None) -> dict[str, Any]:
    """Everything the component shows: own progress, the next items, the answer an undo takes back."""
    progress, last = reviewing.own_progress(db, reviewer_id), reviewing.last_answered(db, reviewer_id)
    return {
        "mode": "label",
        "reviewer": reviewer_id,
        "question": reviewing.question(db),
        "done": progress.n_done,
        "total": progress.n_assigned,
        "not_sure": progress.n_not_sure,
        "offers": [reviewing.picture(db, task) for task in reviewing.offers(db, reviewer_id)],
        "last": named(last) if last else None,
        "ack": ack,
    }


def named(task: Task) -> dict[str, Any]:
    """A task as the component names it."""
    return {"code": task.code, "revision": task.revision}
