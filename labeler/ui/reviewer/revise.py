"""One own item again, opened from the list of own labels."""

import streamlit as st

from labeler.service import reviewing
from labeler.store import Database
from labeler.ui.reviewer import component, label


def render(db: Database, reviewer_id: int, code: str) -> None:
    """Show one own item again; a new answer is kept beside the earlier ones."""
    key = f"revision-{code}"
    event = component.event_of(key)
    ack = label.keep(db, reviewer_id, event)
    # an answer to another item may still be on its way from before: it does not end this look
    if ack is not None and ack["saved"] and isinstance(event, dict) and event.get("code") == code:
        del st.session_state["chosen"]
        st.rerun()
    task = reviewing.task_by_code(db, reviewer_id, code)
    st.write(f"You said **{task.answer}**. Press S or D to say otherwise, or the same again to change flag or comment.")
    if st.button("Back to my labels", key="back"):
        del st.session_state["chosen"]
        st.rerun()
    component.show(key, label.screen(db, reviewer_id, ack, component.known_to(event), only=task))
