"""What the study is, and what is to be done next."""

from datetime import UTC, datetime

import streamlit as st

from labeler.service import coordinating
from labeler.store import Database


def render(db: Database, person: str) -> None:
    """Name and question, the steps from nothing to a report, and the event log."""
    status = coordinating.status(db)
    st.subheader(status.study.name)
    st.caption(f"State: {status.study.state}. File: {db.path.name}.")
    for done, step in coordinating.steps(db):
        st.write(f"{'✔' if done else '◦'} {step}")
    with st.form("describe"):
        name = st.text_input("Name", status.study.name)
        question = st.text_input("Question put to reviewers", status.study.question)
        st.caption("The question is fixed once it has been answered.")
        if st.form_submit_button("Save"):
            coordinating.describe_study(db, name, question, actor=person, now=datetime.now(UTC))
            st.rerun()
    with st.expander("Event log: who did what when"):
        st.dataframe(coordinating.event_log(db), hide_index=True)
