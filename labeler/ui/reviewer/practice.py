"""A practice round on made items: nothing of it is kept or counted."""

from secrets import randbelow
from typing import Any

import streamlit as st

from labeler.service import guide, reviewing
from labeler.store import Database
from labeler.ui import component
from labeler.ui.reviewer import label

KEY = "practice"
ANSWERS = ("similar", "dissimilar", "not sure")


def render(db: Database, reviewer_id: int) -> None:
    """The review component on made items, with what is known about the one before; at the end how it went."""
    label.deliver(db, reviewer_id)
    answers: dict[str, str] = st.session_state.setdefault("practice_answers", {})
    brief = reviewing.brief(db)
    seed = st.session_state.setdefault("practice_seed", randbelow(2**31))
    examples = guide.practice_round(seed, brief.protocol.axis_rule, brief.protocol.min_span)
    items = {f"P{number}": example for number, example in enumerate(examples, start=1)}
    event = component.event_of(KEY)
    if isinstance(event, dict) and event.get("code") in items and event.get("answer") in ANSWERS:
        answers[event["code"]] = event["answer"]
    to_do = [code for code in items if code not in answers]
    data: dict[str, Any] = {
        "mode": "practice",
        "done": len(answers),
        "total": len(items),
        "end": "The practice round is over.",
        "note": next((f"{code}: {items[code].feedback(answers[code])}" for code in reversed(answers)), ""),
        "offers": [shown(code, items[code]) for code in to_do[:2]],
        "ack": {"event_id": event.get("event_id"), "saved": True} if isinstance(event, dict) else None,
        **component.brief(brief.question, brief.protocol),
    }
    component.show(KEY, data)
    if not to_do:
        if st.button("Once more, with other items", key="again"):
            del st.session_state["practice_seed"], st.session_state["practice_answers"]
            st.rerun()
        for code in answers:
            st.text(f"{code}: {items[code].feedback(answers[code])}")


def shown(code: str, example: guide.Example) -> dict[str, Any]:
    """A made item as the component shows it."""
    return {"code": code, "revision": 0, "picture": example.picture}
