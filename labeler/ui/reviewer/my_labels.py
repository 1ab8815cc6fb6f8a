"""The page where reviewers see their own labels and revise them; never anything of others."""

import streamlit as st

from labeler.service import reviewing
from labeler.store import Database
from labeler.ui.reviewer import component, label

KEY = "revise"


def render(db: Database, reviewer_id: int) -> None:
    """The reviewer's own labels, newest first; choosing one brings its picture and the two answers."""
    chosen = st.session_state.get("chosen")
    if chosen is not None:
        revise(db, reviewer_id, chosen)
        return
    labels = reviewing.own_labels(db, reviewer_id)
    progress = reviewing.own_progress(db, reviewer_id)
    st.subheader("My labels")
    st.caption(f"{progress.n_done} of {progress.n_assigned} done, {progress.n_not_sure} not sure. Newest first.")
    if not labels:
        st.info("You have not labelled anything yet.")
    for own in labels:
        code, answer, when, change = st.columns([2, 2, 3, 2], vertical_alignment="center")
        code.write(f"Item {own.task.code}")
        answer.write(f"**{own.task.answer}**")
        when.write(f"{own.created_utc[:16].replace('T', ' ')} UTC" + (", revised" if own.n_revisions else ""))
        if change.button("Look and revise", key=f"revise-{own.task.code}"):
            st.session_state["chosen"] = own.task.code
            st.rerun()


def revise(db: Database, reviewer_id: int, code: str) -> None:
    """Show one own item again; a new answer is kept beside the earlier ones."""
    key = f"{KEY}-{code}"
    ack = label.keep(db, reviewer_id, component.event_of(key))
    if ack is not None and ack["saved"]:
        del st.session_state["chosen"]
        st.rerun()
    task = reviewing.task_by_code(db, reviewer_id, code)
    st.write(f"You said **{task.answer}**. Press S or D to say otherwise; the earlier answer stays on record.")
    if st.button("Back to my labels", key="back"):
        del st.session_state["chosen"]
        st.rerun()
    data = label.screen(db, reviewer_id, ack)
    component.show(key, data | {"mode": "revise", "offers": [reviewing.picture(db, task)], "last": None})
