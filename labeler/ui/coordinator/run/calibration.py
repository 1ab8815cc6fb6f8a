"""The calibration round: what its items are, what it must reach, and how far it is."""

from datetime import UTC, datetime

import streamlit as st

from labeler.model import Category, Gate
from labeler.plan.lifecycle import ALLOWED, Action
from labeler.service.people import visibility
from labeler.service.plan import calibrating, coordinating
from labeler.store import Database
from labeler.ui.coordinator.escaping import plain


def render(db: Database, person: str) -> None:
    """Reviewers' progress, the gate, the reference labels; agreement for those who may see it."""
    result = calibrating.result(db)
    if not result.n_items:
        st.info("The plan has no calibration items. Their number is chosen when the plan is drawn.")
        return
    st.write(f"{result.n_items} items, {result.n_reference} of them with a reference label. None enters a result.")
    hidden = visibility.why_not(db, person, Action.SEE_CALIBRATION)
    rows = [
        {"reviewer": reviewer.reviewer, "labelled": reviewer.n_done, "of": reviewer.n_assigned}
        for reviewer in result.reviewers
    ]
    if hidden:
        st.caption(hidden)
    else:
        for row, reviewer in zip(rows, result.reviewers, strict=True):
            row["equal to the reference"] = calibrating.in_words(reviewer.with_reference)
        st.write(f"Percent agreement between reviewers: {calibrating.in_words(result.percent)}")
        st.write(f"Fleiss' kappa between reviewers: {calibrating.in_words(result.kappa)}")
        st.write(plain("Passed." if not result.not_passed else f"Not passed: {'; '.join(result.not_passed)}."))
    st.dataframe(rows, hide_index=True)
    if result.gate:
        st.write(f"To open the study, {calibrating.ON[result.gate.on]} of {result.gate.least:.0%} or more is asked.")
    if coordinating.get_study(db).phase not in ALLOWED[Action.CALIBRATE]:
        return
    if not any(reviewer.n_done for reviewer in result.reviewers):
        set_gate(db, result.gate, person)
    if not hidden:
        set_reference(db, person)


def set_gate(db: Database, gate: Gate | None, person: str) -> None:
    """The form for what must be reached."""
    with st.form("gate"):
        names = list(calibrating.ON)
        on = st.radio(
            "The study opens once", names, format_func=calibrating.ON.get, index=names.index(gate.on) if gate else 0
        )
        least = st.slider("reaches at least", 0.0, 1.0, gate.least if gate else 0.8, 0.05)
        if st.form_submit_button("Keep this gate"):
            calibrating.set_gate(db, Gate(on, least), actor=person, now=datetime.now(UTC))
            st.rerun()


def set_reference(db: Database, person: str) -> None:
    """The form for what one item is."""
    names = calibrating.item_names(db)
    with st.form("reference"):
        name = st.selectbox("Item", names)
        category = st.radio("It is", list(Category), format_func=str.title, horizontal=True)
        if st.form_submit_button("Keep as reference label") and name is not None and category is not None:
            calibrating.set_reference(db, {name: category}, actor=person, now=datetime.now(UTC))
            st.rerun()
