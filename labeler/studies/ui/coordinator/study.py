"""The place Study: how the study goes and what to do now, the guide of the reviewers, and the log."""

from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from html import escape
from pathlib import Path

import streamlit as st

from analysis.text import counted, joined
from labeler.errors import InputError
from labeler.studies import background, overview
from labeler.studies.course import calibrating, coordinating, course, progress
from labeler.studies.course.log_sentences import log_sentences
from labeler.studies.handover import exchange, template
from labeler.studies.items import folders
from labeler.studies.labelling import guide
from labeler.studies.model import Protocol, State, Study, describe_minutes
from labeler.studies.overview import Box, Button, Line, Overview
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Action, Step
from labeler.studies.questions import read_question, to_toml
from labeler.studies.results import reporting
from labeler.studies.screen import course_charts
from labeler.studies.screen.kinds import KINDS, QUESTIONS
from labeler.studies.store import Database, open_database
from labeler.studies.ui import served
from labeler.studies.ui.coordinator.decide import disputed
from labeler.studies.ui.coordinator.shared import (
    PERSON,
    box,
    done,
    done_at,
    errors_here,
    escape_markdown,
    fold,
    fresh,
    go_to,
    link,
    numbers,
    study_created,
    table,
)
from labeler.studies.verdicts import computing

REFRESH_S = 20
MAX_TABLE = 30  # rows of a table for reading; more rows are shown in a table that scrolls
DONE = {
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
AXES = {
    "levels": "levels that last, and a limited part of the outliers",
    "core": "1st to 95th percentile of each run",
    "pooled": "0.5 to 99.5 % of all iterations",
    "full": "all iterations",
}


def render_overview(db: Database, person: str) -> None:
    """Show the line of steps, the box, the numbers, the labels by day, the reviewers, and the other steps."""
    now = overview.overview(db, person, now=datetime.now(UTC))
    st.html(steps_line(now))
    show_box(db, person, now.study, now.box)
    if now.parts:
        show_parts(now.parts, now.box.act)
    else:
        if now.study.phase is State.CALIBRATION and now.box.act and now.box.act.is_second_round:
            disputed(db)
        show_progress(str(db.path), person, now.box)
    offer_other_steps(db, person, now)
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
                    follow_button(db, person, shown.act, why)
            for act in shown.also:
                if st.button(act.words, key=f"also-{act.words}"):
                    follow_button(db, person, act)


def show_line(line: Line, *, key: str, is_primary: bool = False) -> None:
    """Show one sentence with its sign and its button."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        subject = f"**{escape_markdown(line.subject)}** " if line.subject else ""
        sign = f"{line.sign} " if line.sign else ""
        st.markdown(f"{sign}{subject}{escape_markdown(line.text)}", width="content")
        if line.act is not None and st.button(line.act.words, key=key, type="primary" if is_primary else "secondary"):
            open_place(line.act)


def follow_button(db: Database, person: str, act: Button, why: str = "") -> None:
    """Do what a button of the box promises."""
    if act.place is not None:
        open_place(act)
        return
    with errors_here():
        if act.is_second_round:
            n_items = calibrating.begin_second_round(db, actor=person, now=datetime.now(UTC))
            done(f"The second calibration round has begun, with {counted(n_items, 'other item')}.")
        elif act.step is not None:
            take_step(db, person, act.step, why)


def open_place(act: Button) -> None:
    """Open the place of a button, with a person chosen if the button names one."""
    if act.person:
        st.session_state[PERSON] = act.person
    if act.place is not None:
        go_to(*act.place)


def take_step(db: Database, person: str, step: Step, why: str = "", *, force: bool = False) -> None:
    """Take a step of the study; after unblinding, show the report, which is being written meanwhile."""
    moved = course.change_state(db, step, why=why, force=force, actor=person, now=datetime.now(UTC))
    message = " ".join([DONE[step], *moved.remarks])
    if step is Step.UNBLIND:
        if computing.n_missing(db):
            background.start_verdicts(db.path, actor=person)
        done_at(message, *overview.REPORT)
    done(message)


def show_parts(lines: tuple[Line, ...], following: Button | None) -> None:
    """List the parts of the study that have to be set up; the box has the button of the next one."""
    st.header("Before the study starts", anchor=False)
    for line in lines:
        is_next = line.act is not None and following is not None and line.act.place == following.place
        show_line(replace(line, act=None) if is_next else line, key=f"part-{line.subject}")


@st.fragment(run_every=REFRESH_S)
def show_progress(path: str, person: str, shown: Box) -> None:
    """Show the numbers, the labels by day and the reviewers, which are refreshed periodically.

    If there is something else to do now, the whole page is shown again.
    """
    now = datetime.now(UTC)
    with open_database(Path(path)) as db:
        if not identity.is_coordinator(db, person):
            return
        view = overview.overview(db, person, now=now)
        counts = progress.labels_over_time(db, calibration=view.study.phase is State.CALIBRATION)
    if view.box.heading != shown.heading:
        st.rerun()
    numbers([(number.label, number.value, number.note) for number in view.numbers])
    st.caption(escape_markdown(view.hidden))
    if counts:
        chart = course_charts.labels_by_day(counts, view.n_assigned, *progress.finish(view.paces), now=now)
        st.header("Labels by day", anchor=False)
        st.altair_chart(chart, alt=f"Labels given so far: {view.n_done} of {view.n_assigned}")
    if view.paces:
        st.header("Reviewers", anchor=False)
        show_reviewers(view.paces, now.date())


def show_reviewers(paces: tuple[progress.Pace, ...], today: date) -> None:
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


def offer_other_steps(db: Database, person: str, now: Overview) -> None:
    """Show the other steps that are possible now, each with what will happen."""
    if not now.others:
        return
    title = joined([WORDS[step] for step in now.others if step in WORDS], "or")
    with fold(f"{title.capitalize()} the study", "other-steps") as steps:
        if not steps.open:
            return
        for step in now.others:
            offer_step(db, person, now, step)


def offer_step(db: Database, person: str, now: Overview, step: Step) -> None:
    """Show one step: what will happen, what has to be confirmed, and its button."""
    key, in_spite = f"{step}-{now.study.state}", step is Step.OPEN
    st.write(escape_markdown(CONSEQUENCES[step]))
    asks_why = in_spite or step is Step.UNBLIND
    why = st.text_input("Reason, kept in the log and shown in reports", key=f"why-{key}") if asks_why else ""
    tick = overview.tick_of_closing(now.n_assigned - now.n_done) if step is Step.CLOSE else ""
    tick = "I know that this cannot be undone." if step is Step.UNBLIND else tick
    is_sure = not tick or st.checkbox(escape_markdown(tick), key=f"tick-{key}")
    words = "Open the study anyway" if in_spite else overview.BUTTONS[step]
    if st.button(words, key=f"take-{key}", disabled=not is_sure or (asks_why and not why.strip())):
        with errors_here():
            take_step(db, person, step, why, force=in_spite)


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


def render_guide(db: Database, person: str) -> None:
    """Show the forms for the name, the question, the examples and the protocol."""
    status = coordinating.status(db)
    edit_description(db, person, status.study)
    protocol = edit_protocol(
        status.study.protocol, fixed=status.study.phase is not State.DRAFT and status.n_answers > 0
    )
    if protocol is not None:
        with errors_here():
            coordinating.set_protocol(db, protocol, actor=person, now=datetime.now(UTC))
            done("Guide saved.")
    edit_examples(db, person)
    link("Guide", "See it as a reviewer")


def edit_examples(db: Database, person: str) -> None:
    """Show the coordinator's examples and practice items, and the forms that add and remove one."""
    fixed, now = guide.why_examples_fixed(db), datetime.now(UTC)
    st.header("Your examples and practice items", anchor=False)
    st.caption("Items whose category you tell the reviewers. They leave the study, so that nobody labels them.")
    chosen = guide.own_examples(db)
    if chosen:
        columns = ("item", "category", "sentence", "use")
        rows = [{name.capitalize(): getattr(example, name) for name in columns} for example in chosen]
        table(rows, "Your examples and practice items")
    if fixed:  # which is said above
        return
    question = coordinating.get_study(db).question
    free = [item.name for item in coordinating.list_items(db) if item.excluded_why is None and item.n_runs]
    with st.expander("Add an example", type="compact"), st.form("add-example", border=False):
        name = st.selectbox("Item", free, None, key=fresh("example-item"), placeholder="Choose an item")
        if question.is_marked:
            category = st.text_input("Answer", str(question.no_mark), help="The points, such as [12, 40].")
        else:
            category = str(st.radio("Category", question.names, horizontal=True, key=fresh("example-category")))
        sentence = st.text_input("Why, in one sentence", key=fresh("example-sentence"))
        use = st.radio("Use it as", guide.USES, horizontal=True, format_func=str.capitalize)
        if st.form_submit_button("Add this example"):
            with errors_here():
                if name is None:
                    raise InputError("Choose an item.")
                added = guide.OwnExample(name, category, sentence, str(use))
                guide.add_example(db, added, actor=person, now=now)
                done(f"Added as a {use}: {name}.", stays=True)
    if chosen:
        with st.expander("Remove an example", type="compact"), st.form("remove-example", border=False):
            name = st.selectbox("Example", [example.item for example in chosen], key=fresh("example-to-remove"))
            if st.form_submit_button("Remove this example"):
                with errors_here():
                    guide.remove_example(db, str(name), actor=person, now=now)
                    done(f"{name} is an item of the study again.", stays=True)


def edit_description(db: Database, person: str, study: Study) -> None:
    """Show the form for the name and the words of the question, what each answer means, and the whole question."""
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
    for category in study.question.categories:
        st.text(f"{category.key.upper()}: {category.label}. {category.meaning}")
    if study.plan_hash is None:
        with st.expander("Categories, keys and what an item shows"):
            edit_question(db, person, study)


def edit_question(db: Database, person: str, study: Study) -> None:
    """Show the question as the text of a question file, to edit, and the built-in questions to begin with."""
    now = "the question of this study"
    begin = st.selectbox("Begin with", [now, *QUESTIONS], help="The built-in questions, and the question as it is now.")
    with st.form("question", border=False):
        text = st.text_area(
            "Question file", to_toml(QUESTIONS.get(begin, study.question)), height=420, key=f"question-{begin}",
            help="The lines of a question file. With the plan, the question becomes final.",
        )  # fmt: skip
        if st.form_submit_button("Save question"):
            with errors_here():
                coordinating.describe_study(
                    db, study.name, read_question(text, "Question file", KINDS), actor=person, now=datetime.now(UTC)
                )
                done("Question saved.")


def describe_pictures(now: Protocol) -> str:
    """Return how items are shown, as sentences."""
    varies = "Pictures vary between assignments." if now.varies_pictures else "Everybody sees the same picture."
    asks = " Reviewers say how sure they are." if now.asks_confidence else ""
    numbers = " Each run shows its distance from the median." if now.shows_numbers else ""
    return f"Axis: {AXES[now.axis_rule]}, at least {100 * now.min_span:g} % of the median. {varies}{asks}{numbers}"


def edit_protocol(now: Protocol, *, fixed: bool) -> Protocol | None:
    """Show the protocol as a form; if the person saves the form, return the protocol."""
    if fixed:
        st.info("The guide can no longer be changed, because reviewers have already answered.")
        st.text(f"Instructions: {now.instructions or 'none of your own'}")
        st.text(describe_pictures(now))
        return None
    with st.form("protocol", border=False):
        instructions = st.text_area("Instructions for the reviewers' guide", now.instructions)
        with st.expander("Pictures", type="compact"):
            rule = st.radio("Initial range of the axis", list(AXES), list(AXES).index(now.axis_rule), AXES.get)
            span = st.number_input(
                "Minimum span of the axis", 0.0, 10.0, now.min_span, 0.01,
                help="This is a share of the median. With 0.10, the axis covers at least 10 % of the median.",
            )  # fmt: skip
            confidence = st.checkbox("Ask how sure the reviewer is (1 to 3)", now.asks_confidence)
            numbers = st.checkbox(
                "Show each run's distance from the median", now.shows_numbers,
                help="The numbers influence reviewers. Do not show them in a blind study.",
            )  # fmt: skip
            varies = st.checkbox(
                "Vary the picture between assignments", now.varies_pictures,
                help="Run order, bins and values differ slightly, so that nobody can recognise an item by comparing "
                "data.",
            )  # fmt: skip
        saved = st.form_submit_button("Save the guide")
    return Protocol(rule, span, confidence, numbers, instructions, varies) if saved else None


def render_log(db: Database, person: str) -> None:
    """Show what happened, the newest first, the forms for backup and template, and the download of labels."""
    reviews_too = identity.reviews_too(db, person)  # details contain decisions of other people
    said = log_sentences(db, with_details=not reviews_too)
    text = st.text_input("Search the log", placeholder="a person, an item, a word", key="log-search").strip().casefold()
    rows = [row for row in said if text in " ".join(row.values()).casefold()]
    st.dataframe(
        rows, hide_index=True, alt="What happened in the study, the newest first",
        column_config={"what": st.column_config.TextColumn("what", width="large")},
    )  # fmt: skip
    st.caption(f"{len(rows)} of {counted(len(said), 'event')}, the newest first.")
    log = coordinating.event_log(db)
    log = log.drop(columns="details") if reviews_too else log
    st.download_button("Download the log (CSV)", reporting.as_csv(log), "events.csv", on_click="ignore")
    st.header("Copies", anchor=False)
    with st.form("backup"):
        st.write("**Backup.** Write a full copy into the folder of the study. Reviewers can continue to label.")
        name = st.text_input("File name of the backup")
        if st.form_submit_button("Back up the study"):
            with errors_here():
                target = folders.path_in_study_folder(db.path, name)
                end = coordinating.back_up(db, target, actor=person, now=datetime.now(UTC))
                st.success(escape_markdown(f"Copied to {target.name} in the folder of the study. Chain: {end}"))
    with st.form("template"):
        st.write("**Copy as a template.** Write a new study with this question, guide, protocol and these people.")
        st.caption("It has no items, plan or labels. Everybody gets a new link there.")
        may_create = served.may_create(st.context.cookies)
        name = st.text_input("Name of the new study", disabled=not may_create)
        if st.form_submit_button("Copy as a template", disabled=not may_create):
            with errors_here():
                command, path = template.make_beside(db, name, coordinator=person, now=datetime.now(UTC))
                study_created(command, path)
        if not may_create:
            st.caption("On this server, only the holder of its start link can create studies.")
    offer_labels(db.path, person, identity.why_hidden(db, person, Action.SEE_NAMES))


def offer_labels(path: Path, person: str, hidden: str) -> None:
    """Offer the label file with all answers to people who may see names."""
    if hidden:
        st.info(f"{hidden} The label file names the reviewer of each label.")
    else:
        st.download_button("Download labels.csv", partial(label_file, path, person), "labels.csv", on_click="ignore")


def label_file(path: Path, person: str) -> str:
    """Return the text of the label file; the log records the export."""
    with open_database(path) as db:
        return reporting.as_csv(exchange.export_labels(db, actor=person, now=datetime.now(UTC)))
