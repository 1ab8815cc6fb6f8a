"""The page Label: reviewers label one item at a time.

The page only mounts the review component. From then on, the component sends answers and fetches items by itself
(`labeler.studies.ui.answers`), and asks for a page run when the state of the study or of the person changes.
"""

from dataclasses import asdict
from typing import Any

import streamlit as st

from labeler.studies.labelling import answering, reviewing
from labeler.studies.labelling.sent_pictures import PICTURES
from labeler.studies.model import Task
from labeler.studies.screen.component import brief as brief_of
from labeler.studies.store import Database
from labeler.studies.ui import component

KEY, SENDER_KEY = "review", "sender"


def render_label(db: Database, reviewer_id: int) -> None:
    """Show the next item."""
    component.show(KEY, screen(db, reviewer_id))


def screen(db: Database, reviewer_id: int, only: Task | None = None) -> dict[str, Any]:
    """Return the data with which the review component begins: the state, and the first item or the item `only`."""
    state, brief = answering.screen(db, reviewer_id), reviewing.brief(db)
    if only is not None and not state["closed"]:
        state |= {"offers": [answering.open_again(db, reviewer_id, only, PICTURES)], "last": None}
    elif state["offers"]:
        first = state["offers"][0]
        (item,) = answering.open_items(db, reviewer_id, [first["code"]], PICTURES)
        state["offers"][0] = {**first, **item}
    return {
        "mode": "revise" if only else "label",
        "study": reviewing.study_name(db),
        "note": "" if only else reviewing.round_note(db, reviewer_id),
        "seconds": reviewing.seconds_per_label(db, reviewer_id),
        **state,
        "token": st.session_state.get(component.TOKEN, ""),
        **brief_of(brief.question, brief.protocol, brief.kind.help, brief.kind.overlay),
    }


def deliver(db: Database, reviewer_id: int, *, leaving: bool = False) -> None:
    """On a page that shows no item, send the answers that the browser still keeps, and list refused answers."""
    desk = reviewing.desk(db, reviewer_id)
    data = {
        "mode": "leave" if leaving else "send",
        "closed": desk.closed,
        "token": st.session_state.get(component.TOKEN, ""),
        **asdict(reviewing.browser_mark(desk)),
    }
    component.show_sender(SENDER_KEY, data)
