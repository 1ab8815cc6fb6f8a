"""How far everyone is; never what they said."""

import streamlit as st

from labeler.service import coordinating
from labeler.store import Database


def render(db: Database, _person: str) -> None:
    """Counts and a bar for each reviewer."""
    st.subheader("Progress")
    status = coordinating.status(db)
    n_done, n_all = (sum(getattr(r, name) for r in status.reviewers) for name in ("n_done", "n_assigned"))
    if not n_all:
        st.info("There is no plan yet, so nobody has anything to label.")
        return
    st.progress(n_done / n_all, f"{n_done} of {n_all} labels given")
    for row in status.reviewers:
        unsure = f", {row.n_not_sure} not sure" if row.n_not_sure else ""
        seen = f", last answer {row.last_answer_utc[:16].replace('T', ' ')} UTC" if row.last_answer_utc else ""
        share = row.n_done / row.n_assigned if row.n_assigned else 0.0
        st.progress(share, f"{row.reviewer}: {row.n_done} of {row.n_assigned} done{unsure}{seen}")
    st.button("Refresh")
