"""The page where reviewers label: one item at a time."""

import logging
from collections.abc import Container
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from labeler.errors import LabelerError, StudyError, for_anyone
from labeler.model import Task
from labeler.service import reviewing
from labeler.store import Database
from labeler.ui import component

KEY = "review"
SESSION = "session"  # in the page's state: which session a label came from


def render(db: Database, reviewer_id: int) -> None:
    """Keep the answer that caused this run, then show what is next."""
    event = component.event_of(KEY)
    ack = keep(db, reviewer_id, event)
    component.show(KEY, screen(db, reviewer_id, ack, component.known_to(event)))


def keep(db: Database, reviewer_id: int, event: object | None) -> dict[str, Any] | None:
    """Hand an event of the component to the service; what to tell the component about it.

    Where the study file could not be written, the component keeps the answer and sends it again.
    """
    if event is None:
        return None
    event_id = event.get("event_id") if isinstance(event, dict) else None
    try:
        session = st.session_state.get(SESSION)
        reviewing.submit(db, reviewer_id, reviewing.submission_from(event), now=datetime.now(UTC), session=session)
    except LabelerError as error:
        again = isinstance(error, StudyError)
        if again:
            logging.getLogger(__name__).warning("%s", error)  # for who looks after the server
        return {"event_id": event_id, "saved": False, "again": again, "message": for_anyone(error)}
    return {"event_id": event_id, "saved": True, "message": ""}


def screen(
    db: Database, reviewer_id: int, ack: dict[str, Any] | None, known: Container[str], only: Task | None = None
) -> dict[str, Any]:
    """Everything the component shows: own progress, the next items (or only one), the answer an undo takes back."""
    queue, brief = reviewing.review_queue(db, reviewer_id), reviewing.brief(db)
    offers, last = ((only,), None) if only else (queue.offers, queue.last)
    offers = () if queue.closed else offers
    return {
        "mode": "revise" if only else "label",
        "reviewer": reviewer_id,
        "done": queue.progress.n_done,
        "total": queue.progress.n_assigned,
        "not_sure": queue.progress.n_not_sure,
        "closed": queue.closed,
        "offers": [reviewing.shown(db, task, known=known) for task in offers],
        "last": reviewing.shown(db, last, known={last.code}) if last else None,
        "ack": ack,
        **component.brief(brief.question, brief.protocol),
    }
