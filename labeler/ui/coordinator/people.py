"""Reviewers and coordinators, and their sign-in links."""

from datetime import UTC, datetime

import streamlit as st

from labeler.model import Role
from labeler.service import identity, staffing
from labeler.store import Database
from labeler.ui.coordinator import part
from labeler.ui.coordinator.escaping import plain
from labeler.ui.coordinator.part import show_link

ROLES = {
    "reviewer": [Role.REVIEWER],
    "coordinator": [Role.COORDINATOR],
    "both (sees no label before unblinding)": [*Role],
}


def render(db: Database, person: str) -> None:
    """Who takes part; adding people; a fresh link for one of them."""
    now = datetime.now(UTC)
    st.subheader("People")
    everyone = identity.everyone(db)
    rows = [
        {"name": p.name, "role": ", ".join(sorted(p.roles)), "takes part": p.active, "paused": p.paused}
        for p in everyone
    ]
    st.dataframe(rows, hide_index=True)
    with st.form("add-people", clear_on_submit=True):
        names = st.text_area("Add reviewers, one name a line")
        chosen_as = st.radio("As", list(ROLES), horizontal=True)
        if st.form_submit_button("Add"):
            for name in filter(None, map(str.strip, names.splitlines())):
                _, change = staffing.add(db, name, ROLES[chosen_as], actor=person, now=now)
                if change != staffing.Change():
                    st.info(plain(change.in_words(name)))
                show_link(name, identity.invite(db, name, ROLES[chosen_as][0], actor=person, now=now))
    with st.form("invite"):
        chosen = st.selectbox("Make a new sign-in link for", everyone, format_func=lambda p: p.name)
        st.caption("The link before it stops working. Windows that are signed in stay so.")
        if st.form_submit_button("Make link") and chosen is not None:
            show_link(chosen.name, identity.invite(db, chosen.name, min(chosen.roles), actor=person, now=now))
    with st.form("revoke"):
        chosen = st.selectbox("End the link of, and sign out everywhere", everyone, format_func=lambda p: p.name)
        if st.form_submit_button("Revoke") and chosen is not None:
            identity.revoke(db, chosen.name, min(chosen.roles), actor=person, now=now)
            st.success(f"{plain(chosen.name)} is signed out, and needs a new link to come back. Labels are kept.")
    part.render(db, person)
