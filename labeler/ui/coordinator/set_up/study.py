"""The page Study, which shows the state of the study, the next step, and the protocol for reviewers."""

from datetime import UTC, datetime

import streamlit as st

from labeler.model import Protocol, State, Study
from labeler.plan.lifecycle import Action, Step
from labeler.screen import course_charts
from labeler.service import overview
from labeler.service.overview import Overview
from labeler.service.people import identity
from labeler.service.results import reporting, splits
from labeler.service.study import coordinating, course
from labeler.store import Database
from labeler.ui.coordinator.escaping import escape_markdown
from labeler.ui.coordinator.shared import done, errors_here, go_to, link

AXES = {
    "levels": "levels that last, and a limited part of the outliers",
    "core": "1st to 95th percentile of each run",
    "pooled": "0.5 to 99.5 % of all iterations",
    "full": "all iterations",
}
MOVED = {
    Step.OPEN: "The study is open.",
    Step.PAUSE: "The study is paused.",
    Step.THIRD: "The third-label round has begun.",
    Step.CLOSE: "The study is closed.",
    Step.UNBLIND: "The study is unblinded.",
}
CARD_PX = 230
PHASES = {State.THIRD: "third labels", State.DRAFT: "set up"}


def render(db: Database, person: str) -> None:
    """Show the next step, key numbers, the checklist, the timeline, the settings and the event log."""
    now = overview.overview(db, person)
    st.subheader(escape_markdown(now.study.name), anchor=False)
    st.write(escape_markdown(now.standing))
    next_step(db, person, now)
    cards(db, person, now)
    checklist(now)
    timeline(db)
    if now.others:
        with st.expander("Other steps"):
            for step in now.others:
                take(db, person, now.study, step)
    describe(db, person, now.study)
    with st.expander("Protocol: pictures and questions for reviewers"):
        protocol = protocol_form(now.study.protocol, fixed=now.study.phase is not State.DRAFT and now.n_answers > 0)
        if protocol is not None:
            with errors_here():
                coordinating.set_protocol(db, protocol, actor=person, now=datetime.now(UTC))
                done("Protocol saved.")
    with st.expander("Event log"):
        log = coordinating.event_log(db)
        if identity.reviews_too(db, person):  # details contain decisions of other people
            log = log.drop(columns="details")
        st.dataframe(log, hide_index=True)
        st.download_button("Download the log (CSV)", reporting.as_csv(log), "events.csv", on_click="ignore")


def next_step(db: Database, person: str, now: Overview) -> None:
    """Show the next step with the primary button of the page."""
    with st.container(border=True):
        if now.next.step is not None:
            take(db, person, now.study, now.next.step, why=now.next.why, primary=True)
            return
        st.write(escape_markdown(f"Next: {now.next.why}"))
        if now.next.page is not None and st.button(now.next.words, type="primary", key="next"):
            go_to(now.next.page)


def take(db: Database, person: str, study: Study, step: Step, *, why: str = "", primary: bool = False) -> None:
    """Show the form for one step; errors are shown inside the form."""
    words, force = overview.button_of(study, step), False
    key = f"{step}-{study.state}-{'next' if primary else 'other'}"
    with st.form(key, border=not primary):
        st.write(escape_markdown(f"{f'Next: {why} ' if why else ''}{overview.CONSEQUENCES[step]}"))
        reason = st.text_input("Reason, kept in the log and shown in reports", key=f"why-{key}")
        sure = step is not Step.UNBLIND or st.checkbox("I know that unblinding cannot be undone", key="sure")
        if study.state is State.CALIBRATION and step is Step.OPEN and not primary:
            words, force = "Open the study even though calibration was not passed", True
        if not st.form_submit_button(words, type="primary" if primary else "secondary"):
            return
        if not sure:
            st.error("Tick the box to confirm that you want to unblind the study.")
            return
        with errors_here():
            moved = course.change_state(db, step, why=reason, force=force, actor=person, now=datetime.now(UTC))
            done(" ".join([MOVED[step], *moved.remarks]))


def checklist(now: Overview) -> None:
    """List all steps from the import to the report, each with a link to its page."""
    with st.container(border=True):
        for entry in now.checklist:
            link(entry.page, f"{'✔' if entry.done else '○'} {entry.text}")


def cards(db: Database, person: str, now: Overview) -> None:
    """Show the numbers of items, reviewers and labels.

    The agreement is shown only to a person who may see it.
    """
    hidden = identity.why_hidden(db, person, Action.SEE_AGREEMENT)
    share = None if hidden else splits.current_agreement(db).percent.value
    with st.container(horizontal=True):
        st.metric("Items", now.n_items, border=True, width=CARD_PX)
        st.metric("Reviewers", now.n_reviewers, border=True, width=CARD_PX)
        given = f"{now.n_done} / {now.n_assigned}" if now.n_assigned else "—"
        st.metric("Labels given", given, border=True, width=CARD_PX)
        agreement = "hidden" if hidden else "—" if share is None else f"{100 * share:.0f} %"
        st.metric("Agreement", agreement, border=True, width=CARD_PX, help=hidden or None)


def timeline(db: Database) -> None:
    """Show the phases of the study over time, with the number of labels."""
    spans = [
        (PHASES.get(phase.state, str(phase.state)), phase.begin, phase.end)
        for phase in overview.phases(db, now=datetime.now(UTC))
    ]
    if len(spans) > 1:
        st.altair_chart(course_charts.timeline(spans, overview.labels_over_time(db)))


def describe(db: Database, person: str, study: Study) -> None:
    """Show the form for the name and the question of the study."""
    with st.expander("Name and question", expanded=study.state is State.DRAFT), st.form("describe", border=False):
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
