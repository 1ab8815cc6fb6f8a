"""The view Overview: how the study goes, and what to do now."""

from dataclasses import replace
from datetime import UTC, date, datetime
from html import escape
from pathlib import Path

import streamlit as st

from labeler.model import State, Study, counted, describe_minutes
from labeler.plan.lifecycle import Step
from labeler.questions import enumeration
from labeler.screen import course_charts
from labeler.service import background, overview
from labeler.service.overview import Act, Box, Line, Overview
from labeler.service.people import identity
from labeler.service.results import splits
from labeler.service.study import calibrating, course, progress
from labeler.service.verdicts import computing
from labeler.store import Database, open_database
from labeler.ui.coordinator.decide.calibration import disputed
from labeler.ui.coordinator.escaping import escape_markdown
from labeler.ui.coordinator.shared import PERSON, box, done, done_at, errors_here, fold, go_to, numbers, table

REFRESH_S = 20
MAX_TABLE = 30  # rows of a table for reading; more rows are shown in a table that scrolls
MOVED = {
    Step.OPEN: "The study is open.",
    Step.PAUSE: "The study is paused.",
    Step.THIRD: "The third-label round has begun.",
    Step.CLOSE: "The study is closed.",
    Step.REOPEN: "The study is open again.",
    Step.UNBLIND: "The study is unblinded.",
}
CONSEQUENCES = {
    Step.OPEN: "Reviewers can label from now on, although calibration was not passed. Reports show the reason.",
    Step.PAUSE: "Nobody can label until you resume the study. No label is lost.",
    Step.THIRD: "Each split item goes to one more reviewer, who cannot see that the item is split.",
    Step.CLOSE: "Nobody can label any more. Agreement is shown, and split items can be decided. You can reopen the "
    "study until you unblind it.",
    Step.REOPEN: "Reviewers can label again. The log and the report say that the study was reopened.",
    Step.UNBLIND: "Coordinators see the verdicts and who gave which label. This cannot be undone.",
}
WORDS = {
    Step.PAUSE: "pause",
    Step.CLOSE: "close",
    Step.REOPEN: "reopen",
    Step.OPEN: "open",
    Step.UNBLIND: "unblind",
}
PHASES = {State.THIRD: "third labels", State.DRAFT: "set up"}


def render(db: Database, person: str) -> None:
    """Show the line of steps, the box, the numbers, the labels by day, the reviewers, and the other steps."""
    now = overview.overview(db, person, now=datetime.now(UTC))
    st.html(steps_line(now))
    show_box(db, person, now.study, now.box)
    if now.parts:
        parts(now.parts, now.box.act)
    else:
        if now.study.phase is State.CALIBRATION and now.box.act and now.box.act.is_second_round:
            disputed(db)
        watch(str(db.path), person, now.box)
    other_steps(db, person, now)
    if not now.parts:
        with fold("Time per label, by day", "times") as times:
            if times.open:
                show_times(db)


def steps_line(now: Overview) -> str:
    """Return the line of steps as HTML: done, now and next, each with a fact."""
    entries = "".join(
        f'<li class="{stage.when}" style="--share: {stage.share:.0%}"{" aria-current=step" * (stage.when == "now")}>'
        f"<strong>{escape(stage.name)}</strong><span>{escape(stage.fact)}</span></li>"
        for stage in now.stages
    )
    number, here = next((place, stage) for place, stage in enumerate(now.stages, 1) if stage.when == "now")
    text = f"Step {number} of {len(now.stages)}: <strong>{escape(here.name)}</strong>, {escape(here.fact)}"
    return f'<ol class="steps" style="--n: {len(now.stages)}">{entries}</ol><p class="step-now">{text}</p>'


def show_box(db: Database, person: str, study: Study, shown: Box) -> None:
    """Show the box: its heading, what happens, what waits, and the primary button."""
    with box(shown.heading):
        if shown.text:
            st.write(escape_markdown(shown.text))
        has_primary = shown.act is not None
        for place, line in enumerate(shown.lines):
            show_line(line, key=f"box-{place}", is_primary=not has_primary and line.act is not None)
            has_primary = has_primary or line.act is not None
        why = st.text_input(shown.asks_why, key="why-box") if shown.asks_why else ""
        is_sure = not shown.tick or st.checkbox(escape_markdown(shown.tick), key=f"tick-{study.state}")
        with st.container(horizontal=True):
            if shown.act is not None:
                is_on = is_sure and not (shown.asks_why and not why.strip())
                if st.button(shown.act.words, type="primary", key=f"next-{study.state}", disabled=not is_on):
                    follow(db, person, shown.act, why)
            for act in shown.also:
                if st.button(act.words, key=f"also-{act.words}"):
                    follow(db, person, act)


def show_line(line: Line, *, key: str, is_primary: bool = False) -> None:
    """Show one sentence with its sign and its button."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        subject = f"**{escape_markdown(line.subject)}** " if line.subject else ""
        sign = f"{line.sign} " if line.sign else ""
        st.markdown(f"{sign}{subject}{escape_markdown(line.text)}", width="content")
        if line.act is not None and st.button(line.act.words, key=key, type="primary" if is_primary else "secondary"):
            open_place(line.act)


def follow(db: Database, person: str, act: Act, why: str = "") -> None:
    """Do what a button of the box promises."""
    if act.place is not None:
        open_place(act)
        return
    with errors_here():
        if act.is_second_round:
            n_items = calibrating.begin_second_round(db, actor=person, now=datetime.now(UTC))
            done(f"The second calibration round has begun, with {counted(n_items, 'other item')}.")
        elif act.step is not None:
            take(db, person, act.step, why)


def open_place(act: Act) -> None:
    """Open the place of a button, with a person chosen if the button names one."""
    if act.person:
        st.session_state[PERSON] = act.person
    if act.place is not None:
        go_to(*act.place)


def take(db: Database, person: str, step: Step, why: str = "", *, force: bool = False) -> None:
    """Take a step of the study; after unblinding, show the report, which is being written meanwhile."""
    moved = course.change_state(db, step, why=why, force=force, actor=person, now=datetime.now(UTC))
    message = " ".join([MOVED[step], *moved.remarks])
    if step is Step.UNBLIND:
        if computing.n_missing(db):
            background.start_verdicts(db.path, actor=person)
        done_at(message, *overview.REPORT)
    done(message)


def parts(lines: tuple[Line, ...], following: Act | None) -> None:
    """List the parts of the study that have to be set up; the box has the button of the next one."""
    st.header("Before the study starts", anchor=False)
    for line in lines:
        is_next = line.act is not None and following is not None and line.act.place == following.place
        show_line(replace(line, act=None) if is_next else line, key=f"part-{line.subject}")


@st.fragment(run_every=REFRESH_S)
def watch(path: str, person: str, shown: Box) -> None:
    """Show the numbers, the labels by day and the reviewers, which are refreshed periodically.

    If there is something else to do now, the whole page is shown again.
    """
    now = datetime.now(UTC)
    with open_database(Path(path)) as db:
        if not identity.is_coordinator(db, person):
            return
        view = overview.overview(db, person, now=now)
        counts = progress.labels_over_time(db, calibration=view.study.phase is State.CALIBRATION)
        result = "" if view.hidden else " ".join(splits.current_agreement(db).sentences[2:])
    if view.box.heading != shown.heading:
        st.rerun()
    numbers([(number.label, number.value, number.note) for number in view.numbers])
    st.caption(escape_markdown(view.hidden or result))
    if counts:
        chart = course_charts.labels_by_day(counts, view.n_assigned, *progress.finish(view.paces), now=now)
        st.header("Labels by day", anchor=False)
        st.altair_chart(chart, alt=f"Labels given so far: {view.n_done} of {view.n_assigned}")
    if view.paces:
        st.header("Reviewers", anchor=False)
        reviewers(view.paces, now.date())


def reviewers(paces: tuple[progress.Pace, ...], today: date) -> None:
    """Show a row per reviewer: labels, minutes left, last seen, and finish."""
    rows = [
        {
            "Reviewer": pace.name,
            "Labels": f"{pace.n_done} of {pace.n_assigned}",
            "Left": describe_minutes(pace.minutes_left) if pace.n_left else "—",
            "Last seen": progress.describe_day(pace.last_seen_utc, today),
            "Finish": progress.describe_finish(pace),
        }
        for pace in paces
    ]
    with st.container(key="reviewers"):
        if len(rows) > MAX_TABLE:
            st.dataframe(rows, hide_index=True, placeholder="—")
        else:
            table(rows, "The progress of each reviewer")


def other_steps(db: Database, person: str, now: Overview) -> None:
    """Show the other steps that are possible now, each with what will happen."""
    if not now.others:
        return
    title = enumeration([WORDS[step] for step in now.others if step in WORDS])
    with fold(f"{title.capitalize()} the study", "other-steps") as steps:
        if not steps.open:
            return
        for step in now.others:
            other_step(db, person, now, step)


def other_step(db: Database, person: str, now: Overview, step: Step) -> None:
    """Show one step: what will happen, what has to be confirmed, and its button."""
    key, in_spite = f"{step}-{now.study.state}", step is Step.OPEN
    st.write(escape_markdown(CONSEQUENCES[step]))
    asks_why = in_spite or step is Step.UNBLIND
    why = st.text_input("Reason, kept in the log and shown in reports", key=f"why-{key}") if asks_why else ""
    tick = overview.tick_of_closing(now.n_assigned - now.n_done) if step is Step.CLOSE else ""
    tick = "I know that this cannot be undone." if step is Step.UNBLIND else tick
    is_sure = not tick or st.checkbox(escape_markdown(tick), key=f"tick-{key}")
    words = "Open the study in spite of this" if in_spite else overview.BUTTONS[step]
    if st.button(words, key=f"take-{key}", disabled=not is_sure or (asks_why and not why.strip())):
        with errors_here():
            take(db, person, step, why, force=in_spite)


def show_times(db: Database) -> None:
    """Show how long labels took, and the phases of the study over time."""
    seconds = progress.time_on_task(db)
    if seconds:
        st.altair_chart(course_charts.time_per_item(seconds), alt="How many answers took how many seconds")
    spans = [
        (PHASES.get(phase.state, str(phase.state)), phase.begin, phase.end)
        for phase in course.phases(db, now=datetime.now(UTC))
    ]
    if len(spans) > 1:
        st.altair_chart(
            course_charts.timeline(spans, progress.labels_over_time(db)), alt="The phases of the study over time"
        )
