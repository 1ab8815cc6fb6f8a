"""The calibration round: what its items are, what it must reach, and how far it is."""

import streamlit as st

from labeler.lifecycle import ALLOWED, Action
from labeler.service import calibrating, coordinating, sight
from labeler.store import Database
from labeler.ui.coordinator.calibration_form import set_gate, set_reference
from labeler.ui.coordinator.escaping import plain


def render(db: Database, person: str) -> None:
    """Reviewers' progress, the gate, the reference labels; agreement for those who may see it."""
    st.subheader("Calibration round")
    result = calibrating.result(db)
    if not result.n_items:
        st.info("The plan has no calibration items. Their number is chosen when the plan is drawn.")
        return
    st.write(f"{result.n_items} items, {result.n_reference} of them with a reference label. None enters a result.")
    hidden = sight.why_not(db, person, Action.SEE_CALIBRATION)
    rows = [{"reviewer": one.reviewer, "labelled": one.n_done, "of": one.n_assigned} for one in result.reviewers]
    if hidden:
        st.caption(hidden)
    else:
        for row, one in zip(rows, result.reviewers, strict=True):
            row["equal to the reference"] = calibrating.in_words(one.with_reference)
        st.write(f"Percent agreement between reviewers: {calibrating.in_words(result.percent)}")
        st.write(f"Fleiss' kappa between reviewers: {calibrating.in_words(result.kappa)}")
        st.write(plain("Passed." if not result.not_passed else f"Not passed: {'; '.join(result.not_passed)}."))
    st.dataframe(rows, hide_index=True)
    if result.gate:
        st.write(f"To open the study, {calibrating.ON[result.gate.on]} of {result.gate.least:.0%} or more is asked.")
    if coordinating.get_study(db).phase not in ALLOWED[Action.CALIBRATE]:
        return
    if not any(one.n_done for one in result.reviewers):
        set_gate(db, result.gate, person)
    if not hidden:
        set_reference(db, person)
