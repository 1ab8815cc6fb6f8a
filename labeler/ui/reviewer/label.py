"""The page Label: reviewers label one item at a time."""

import logging
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from labeler.errors import LabelerError, NotAllowed, StudyError, for_anyone
from labeler.model import Task
from labeler.service import reviewing
from labeler.store import Database
from labeler.ui import component

KEY, SENDER_KEY = "review", "sender"
PREPARED = "prepared"  # key in the session state: the picture that the screen will need after the next answer
SESSION = "session"  # key in the session state: the session in which labels are given


def render(db: Database, reviewer_id: int) -> None:
    """Save the answer that caused this page run, then show the next item."""
    event = component.event_of(KEY)
    ack = keep(db, reviewer_id, event)
    component.show(KEY, screen(db, reviewer_id, ack, event))
    with suppress(LabelerError):  # the next page run computes a missing picture
        st.session_state[PREPARED] = reviewing.prepare(db, reviewer_id)


def keep(db: Database, reviewer_id: int, event: object | None) -> dict[str, Any] | None:
    """Pass an event from the component to the service; return the reply to the component.

    If the study file could not be written, or labelling is not possible now, the component keeps the answer and sends
    it again.
    """
    if event is None or component.is_check(event):
        return None
    event_id = event.get("event_id") if isinstance(event, dict) else None
    try:
        session = st.session_state.get(SESSION)
        reviewing.submit(db, reviewer_id, reviewing.submission_from(event), now=datetime.now(UTC), session=session)
    except LabelerError as error:
        if isinstance(error, StudyError):
            logging.getLogger(__name__).warning("%s", error)  # for the operator of the server
        again = isinstance(error, StudyError | NotAllowed)
        return {"event_id": event_id, "saved": False, "again": again, "message": for_anyone(error)}
    return {"event_id": event_id, "saved": True, "message": ""}


def screen(
    db: Database, reviewer_id: int, ack: dict[str, Any] | None, event: object | None, only: Task | None = None
) -> dict[str, Any]:
    """Return the data that the review component shows.

    The data contain the reviewer's progress, the next items (or only the item `only`), and the answer that the key U
    undoes.
    """
    queue, brief, known = reviewing.review_queue(db, reviewer_id), reviewing.brief(db), component.known_to(event)
    offers, last = ((only,), None) if only else (queue.offers, queue.last)
    offers = () if queue.closed else offers
    prepared = st.session_state.get(PREPARED, reviewing.NO_PICTURES)
    return {
        "mode": "revise" if only else "label",
        "done": queue.progress.n_done,
        "total": queue.progress.n_assigned,
        "not_sure": queue.progress.n_not_sure,
        "closed": queue.closed,
        "end": queue.end,
        "offers": [reviewing.shown(db, task, known=known, prepared=prepared) for task in offers],
        "last": reviewing.shown(db, last, known={last.code}) if last else None,
        **delivery(db, reviewer_id, ack, event),
        **component.brief(brief.question, brief.protocol),
    }


def delivery(db: Database, reviewer_id: int, ack: dict[str, Any] | None, event: object | None) -> dict[str, Any]:
    """Return the data for the queue of unsaved answers in the browser.

    The data contain the owner of the queue, the server's reply to an answer, and the saved answers that the study has
    lost.
    """
    checked = component.checked_by(event)
    missing = None if checked is None else reviewing.missing_events(db, reviewer_id, checked)
    return {**asdict(reviewing.browser_mark(db, reviewer_id)), "ack": ack, "missing": missing}


def deliver(db: Database, reviewer_id: int, *, leaving: bool = False) -> None:
    """On a page that shows no item, send the answers that the browser still keeps, and list refused answers."""
    event = component.event_of(SENDER_KEY)
    ack = keep(db, reviewer_id, event)
    closed = reviewing.review_queue(db, reviewer_id).closed
    data = {"mode": "leave" if leaving else "send", "closed": closed, **delivery(db, reviewer_id, ack, event)}
    component.show_sender(SENDER_KEY, data)
