"""The view Guide: the question, the answers and the instructions that reviewers get."""

from datetime import UTC, datetime

import streamlit as st

from labeler.model import Protocol, State, Study
from labeler.service.study import coordinating
from labeler.store import Database
from labeler.ui.coordinator.shared import done, errors_here

AXES = {
    "levels": "levels that last, and a limited part of the outliers",
    "core": "1st to 95th percentile of each run",
    "pooled": "0.5 to 99.5 % of all iterations",
    "full": "all iterations",
}


def render(db: Database, person: str) -> None:
    """Show the forms for the name, the question and the protocol."""
    status = coordinating.status(db)
    describe(db, person, status.study)
    protocol = protocol_form(
        status.study.protocol, fixed=status.study.phase is not State.DRAFT and status.n_answers > 0
    )
    if protocol is not None:
        with errors_here():
            coordinating.set_protocol(db, protocol, actor=person, now=datetime.now(UTC))
            done("Protocol saved.")


def describe(db: Database, person: str, study: Study) -> None:
    """Show the form for the name and the question of the study."""
    with st.form("describe", border=False):
        name = st.text_input("Name", study.name)
        question = st.text_input(
            "Question for reviewers",
            study.question.text,
            help="The question cannot be changed after the first answer.",
        )
        if st.form_submit_button("Save name and question"):
            with errors_here():
                coordinating.describe_study(db, name, question, actor=person, now=datetime.now(UTC))
                done("Name and question saved.")


def protocol_form(now: Protocol, *, fixed: bool) -> Protocol | None:
    """Show the protocol as a form; if the person saves the form, return the protocol."""
    with st.form("protocol", border=False):
        if fixed:
            st.info("The protocol can no longer be changed, because reviewers have already answered.")
        rule = st.radio(
            "Initial range of the axis", list(AXES), list(AXES).index(now.axis_rule), AXES.get, disabled=fixed
        )
        span = st.number_input(
            "Minimum span of the axis", 0.0, 10.0, now.min_span, 0.01, disabled=fixed,
            help="This is a share of the median. With 0.10, the axis covers at least 10 % of the median.",
        )  # fmt: skip
        confidence = st.checkbox("Ask how sure the reviewer is (1 to 3)", now.asks_confidence, disabled=fixed)
        numbers = st.checkbox(
            "Show each run's distance from the median", now.shows_numbers, disabled=fixed,
            help="The numbers influence reviewers. Do not show them in a blind study.",
        )  # fmt: skip
        varies = st.checkbox(
            "Vary the picture between assignments", now.varies_pictures, disabled=fixed,
            help="Run order, bins and values differ slightly, so that nobody can recognise an item by comparing data.",
        )  # fmt: skip
        instructions = st.text_area("Instructions for the reviewers' guide", now.instructions, disabled=fixed)
        saved = st.form_submit_button("Save protocol", disabled=fixed)
    return Protocol(rule, span, confidence, numbers, instructions, varies) if saved else None
