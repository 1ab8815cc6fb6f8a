"""Moving the study on: the steps possible now, each with its reason."""

from datetime import UTC, datetime

import streamlit as st

from labeler import lifecycle
from labeler.lifecycle import Step
from labeler.model import State, Study
from labeler.service import course
from labeler.store import Database
from labeler.ui.coordinator.escaping import plain

MEANS = {
    Step.OPEN: "Open: reviewers can label",
    Step.PAUSE: "Pause: nobody can label until it is opened again",
    Step.THIRD: "Third labels: split items go to one more reviewer each, hidden among agreed ones",
    Step.CLOSE: "Close: no label is taken any more; agreement is shown, split items can be decided",
    Step.UNBLIND: "Unblind: verdicts and who said what are shown; there is no way back",
}


def render(db: Database, person: str, study: Study) -> None:
    """A form with the steps that are possible, and why."""
    for remark in st.session_state.pop("step-remarks", ()):
        st.info(plain(remark))
    possible = lifecycle.possible(study)
    with st.form("step"):
        step = st.radio("Next step", possible, format_func=MEANS.__getitem__, key=f"step-{study.state}")
        why = st.text_input("Why (kept in the log, shown in reports)", key=f"why-{study.state}")
        anyway = study.state is State.CALIBRATION and st.checkbox("Open though the calibration round is not passed")
        if st.form_submit_button("Take this step"):
            moved = course.move(db, step, why=why, anyway=anyway, actor=person, now=datetime.now(UTC))
            st.session_state["step-remarks"] = moved.remarks
            st.rerun()
