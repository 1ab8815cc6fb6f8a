"""How far everyone is; never what they said. Once the study is closed, how far they agree."""

from datetime import UTC, datetime

import streamlit as st

from labeler.plan.lifecycle import Action
from labeler.service.people import visibility
from labeler.service.plan import watching
from labeler.service.results import interim_agreement
from labeler.store import Database
from labeler.ui.coordinator.escaping import plain


def render(db: Database, person: str) -> None:
    """A bar for all, a row for each reviewer, who has stopped, and agreement where it may be seen."""
    paces = watching.progress(db, now=datetime.now(UTC))
    n_done, n_all = (sum(getattr(pace, name) for pace in paces) for name in ("n_done", "n_assigned"))
    if not n_all:
        st.info("There is no plan yet, so nobody has anything to label.")
        return
    st.progress(n_done / n_all, f"{n_done} of {n_all} labels given")
    st.dataframe(watching.rows(paces), hide_index=True)
    stalled = watching.warning(paces)
    if stalled:
        st.warning(plain(stalled))
    st.button("Refresh")
    st.write("Agreement so far")
    hidden = visibility.why_not(db, person, Action.SEE_AGREEMENT)
    if hidden:
        st.caption(hidden)
    else:
        agreement(db)


def agreement(db: Database) -> None:
    """Agreement of the first labels, without names."""
    result = interim_agreement.current_agreement(db)
    st.write(f"{result.n_agreed} items agreed, {result.n_split} split, {result.n_incomplete} incomplete")
    st.dataframe(result.rows(), hide_index=True)
