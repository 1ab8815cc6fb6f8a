"""The page Practice: a round with artificial items.

The answers are not stored and do not count.
"""

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
    """Show the practice round and, when it is over, a button for another round."""
    label.deliver(db, reviewer_id)
    if round_of_six(db) and st.button("Practise once more, with other items", key="again"):
        del st.session_state["practice_seed"], st.session_state["practice_answers"]
        st.rerun()


def round_of_six(db: Database) -> bool:
    """Show six artificial items with an explanation after each answer, then the score.

    Return whether the round is over.
    """
    answers: dict[str, str] = st.session_state.setdefault("practice_answers", {})
    brief = reviewing.brief(db)
    seed = st.session_state.setdefault("practice_seed", randbelow(2**31))
    examples = guide.practice_round(seed, brief.protocol.axis_rule, brief.protocol.min_span)
    items = {f"P{number}": example for number, example in enumerate(examples, start=1)}
    event = component.event_of(KEY)
    if isinstance(event, dict) and event.get("code") in items and event.get("answer") in ANSWERS:
        answers[event["code"]] = event["answer"]
    to_do = [code for code in items if code not in answers]
    n_right = sum(items[code].is_right(answer) for code, answer in answers.items())
    score = f"{n_right} of your {len(items)} answers match the way the items were generated."
    data: dict[str, Any] = {
        "mode": "practice",
        "done": len(answers),
        "total": len(items),
        "end": f"The practice round is over. {score}",
        "offers": [shown(code, items[code]) for code in to_do[:2]],
        "ack": {"event_id": event.get("event_id"), "saved": True} if isinstance(event, dict) else None,
        **component.brief(brief.question, brief.protocol),
    }
    component.show(KEY, data)
    if to_do:
        return False
    for code in answers:
        st.text(f"{code}: {items[code].feedback(answers[code])}")
    return True


def shown(code: str, example: guide.Example) -> dict[str, Any]:
    """Return an artificial item in the form that the component needs, with an explanation for each answer."""
    explains = {answer: example.feedback(answer) for answer in ANSWERS}
    return {"code": code, "revision": 0, "picture": example.picture, "explains": explains}
