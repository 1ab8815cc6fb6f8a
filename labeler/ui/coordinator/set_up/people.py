"""Reviewers and coordinators, and their sign-in links."""

from datetime import UTC, datetime
from urllib.parse import urlsplit

import streamlit as st

from labeler.model import Role
from labeler.service.people import identity
from labeler.service.plan import staffing
from labeler.store import Database
from labeler.ui.coordinator.escaping import plain

ROLES = {
    "reviewer": [Role.REVIEWER],
    "coordinator": [Role.COORDINATOR],
    "both (sees no label before unblinding)": [*Role],
}


def render(db: Database, person: str) -> None:
    """Who takes part; adding people; a fresh link for one of them."""
    now = datetime.now(UTC)
    everyone = identity.everyone(db)
    rows = [
        {"name": p.name, "role": ", ".join(sorted(p.roles)), "takes part": p.active, "paused": p.paused}
        for p in everyone
    ]
    st.dataframe(rows, hide_index=True)
    with st.form("add-people", clear_on_submit=True):
        names = st.text_area("Add reviewers, one name a line")
        role = st.radio("As", list(ROLES), horizontal=True)
        if st.form_submit_button("Add"):
            for name in filter(None, map(str.strip, names.splitlines())):
                _, change = staffing.add(db, name, ROLES[role], actor=person, now=now)
                if change != staffing.Change():
                    st.info(plain(change.in_words(name)))
                show_link(name, identity.invite(db, name, ROLES[role][0], actor=person, now=now))
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
    changes_of_part(db, person)


CHANGES = ["Pause", "Go on, or come back", "Leave: open items go to the others", "Leave: a successor takes over"]


def changes_of_part(db: Database, person: str) -> None:
    """One form for all changes; it never tells who shares an item with whom."""
    if "part-changed" in st.session_state:
        st.success(plain(st.session_state.pop("part-changed")))
    reviewers = [reviewer for reviewer in identity.everyone(db) if Role.REVIEWER in reviewer.roles]
    if not reviewers:
        return
    with st.form("part"):
        chosen = st.selectbox("Reviewer", reviewers, format_func=lambda reviewer: reviewer.name)
        change = st.radio("Change", CHANGES)
        successor = st.text_input("Successor (a new name, or another reviewer)")
        why = st.text_input("Why (kept in the log, shown in reports)")
        if not st.form_submit_button("Make this change") or chosen is None:
            return
        result = changed(db, CHANGES.index(change), chosen.name, successor, why, person)
    if result.is_new:  # its link is shown here, once
        st.success(plain(result.in_words(chosen.name)))
        return
    st.session_state["part-changed"] = result.in_words(chosen.name)
    st.rerun()


def changed(db: Database, change: int, name: str, successor: str, why: str, actor: str) -> staffing.Change:
    """Make the chosen change; a new successor's link is shown at once."""
    now = datetime.now(UTC)
    if change == 0:
        staffing.pause(db, name, why=why, actor=actor, now=now)
        return staffing.Change()
    if change == 1:
        return staffing.resume(db, name, actor=actor, now=now)
    if change == 2:
        return staffing.remove(db, name, why=why, actor=actor, now=now)
    heir, result = staffing.replace(db, name, successor, why=why, actor=actor, now=now)
    if result.is_new:
        show_link(heir.name, identity.invite(db, heir.name, Role.REVIEWER, actor=actor, now=now))
    return result


def show_link(name: str, secret: str) -> None:
    """A sign-in link, shown once."""
    st.write(f"Give this link to **{plain(name)}** only; it is not shown again:")
    address = urlsplit(st.context.url or "")
    st.code(f"{address.scheme}://{address.netloc}/join/{secret}", language=None)
