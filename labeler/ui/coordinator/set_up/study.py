"""What the study is, and what is to be done next."""

from datetime import UTC, datetime

import streamlit as st

from labeler.model import Protocol, State, Study
from labeler.plan import lifecycle
from labeler.plan.lifecycle import Step
from labeler.service.people import visibility
from labeler.service.plan import coordinating, course
from labeler.service.results import reporting
from labeler.store import Database
from labeler.ui.coordinator.escaping import plain

AXES = {"core": "main range", "pooled": "0.5 to 99.5 %", "full": "full range"}


def render(db: Database, person: str) -> None:
    """Name and question, the protocol, the steps from nothing to a report, and the event log."""
    status = coordinating.status(db)
    st.subheader(plain(status.study.name))
    st.caption(f"State: {status.study.state}. File: {db.path.name}.")
    for done, step in coordinating.steps(db):
        st.write(f"{'✔' if done else '◦'} {step}")
    steps(db, person, status.study)
    with st.form("describe"):
        name = st.text_input("Name", status.study.name)
        question = st.text_input("Question put to reviewers", status.study.question)
        st.caption("The question is fixed once it has been answered.")
        if st.form_submit_button("Save"):
            coordinating.describe_study(db, name, question, actor=person, now=datetime.now(UTC))
            st.rerun()
    with st.expander("Protocol: how reviewers see items, and what they are asked"):
        protocol = protocol_form(status.study.protocol, fixed=status.n_answers > 0)
        if protocol is not None:
            coordinating.set_protocol(db, protocol, actor=person, now=datetime.now(UTC))
            st.rerun()
    with st.expander("Event log: who did what when"):
        log = coordinating.event_log(db)
        if visibility.reviews_too(db, person):  # what others decided and why
            log = log.drop(columns="details")
        st.dataframe(log, hide_index=True)
        st.download_button("Download the log (CSV)", reporting.as_csv(log), "events.csv", on_click="ignore")


def protocol_form(now: Protocol, *, fixed: bool) -> Protocol | None:
    """The protocol as a form; what was saved, if it was."""
    with st.form("protocol", border=False):
        rule = st.radio(
            "Axis that items begin with", list(AXES), list(AXES).index(now.axis_rule), AXES.get, disabled=fixed
        )
        span = st.number_input(
            "The axis spans at least this share of the median", 0.0, 10.0, now.min_span, 0.01, disabled=fixed
        )
        confidence = st.checkbox("Ask how sure the reviewer is (1 to 3)", now.asks_confidence, disabled=fixed)
        numbers = st.checkbox("Show each run's distance from the median", now.shows_numbers, disabled=fixed)
        st.caption("Numbers anchor reviewers: leave them off in a blinded study.")
        varies = st.checkbox("Vary the picture from assignment to assignment", now.varies_pictures, disabled=fixed)
        st.caption("Run order, bins and values differ slightly, so that nobody recognises an item by comparing bytes.")
        instructions = st.text_area("Instructions in the guide", now.instructions, disabled=fixed)
        st.caption("All of it is fixed once somebody has answered.")
        saved = st.form_submit_button("Save protocol", disabled=fixed)
    return Protocol(rule, span, confidence, numbers, instructions, varies) if saved else None


MEANS = {
    Step.OPEN: "Open: reviewers can label",
    Step.PAUSE: "Pause: nobody can label until it is opened again",
    Step.THIRD: "Third labels: split items go to one more reviewer each, hidden among agreed ones",
    Step.CLOSE: "Close: no label is taken any more; agreement is shown, split items can be decided",
    Step.UNBLIND: "Unblind: verdicts and who said what are shown; there is no way back",
}


def steps(db: Database, person: str, study: Study) -> None:
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
