"""The view Guide: the question, the examples, and the instructions and pictures that reviewers get."""

from datetime import UTC, datetime

import streamlit as st

from labeler.errors import InputError
from labeler.model import Protocol, State, Study
from labeler.questions import read_question, to_toml
from labeler.screen.kinds import KINDS, QUESTIONS
from labeler.service.labelling import own_examples
from labeler.service.study import coordinating
from labeler.store import Database
from labeler.ui.coordinator.shared import done, errors_here, fresh, link, table

AXES = {
    "levels": "levels that last, and a limited part of the outliers",
    "core": "1st to 95th percentile of each run",
    "pooled": "0.5 to 99.5 % of all iterations",
    "full": "all iterations",
}


def render(db: Database, person: str) -> None:
    """Show the forms for the name, the question, the examples and the protocol."""
    status = coordinating.status(db)
    describe(db, person, status.study)
    protocol = protocol_form(
        status.study.protocol, fixed=status.study.phase is not State.DRAFT and status.n_answers > 0
    )
    if protocol is not None:
        with errors_here():
            coordinating.set_protocol(db, protocol, actor=person, now=datetime.now(UTC))
            done("Guide saved.")
    examples(db, person)
    link("Guide", "See it as a reviewer")


def examples(db: Database, person: str) -> None:
    """Show the coordinator's examples and practice items, and the forms that add and remove one."""
    fixed, now = own_examples.why_fixed(db), datetime.now(UTC)
    st.header("Your examples and practice items", anchor=False)
    st.caption("Items whose category you tell the reviewers. They leave the study, so that nobody labels them.")
    chosen = own_examples.chosen(db)
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
        use = st.radio("Use it as", own_examples.USES, horizontal=True, format_func=str.capitalize)
        if st.form_submit_button("Add this example"):
            with errors_here():
                if name is None:
                    raise InputError("Choose an item.")
                added = own_examples.OwnExample(name, category, sentence, str(use))
                own_examples.add(db, added, actor=person, now=now)
                done(f"Added as a {use}: {name}.", stays=True)
    if chosen:
        with st.expander("Remove an example", type="compact"), st.form("remove-example", border=False):
            name = st.selectbox("Example", [example.item for example in chosen], key=fresh("example-to-remove"))
            if st.form_submit_button("Remove this example"):
                with errors_here():
                    own_examples.remove(db, str(name), actor=person, now=now)
                    done(f"{name} is an item of the study again.", stays=True)


def describe(db: Database, person: str, study: Study) -> None:
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
            help="The lines that `labeler questions` prints. With the plan, the question becomes final.",
        )  # fmt: skip
        if st.form_submit_button("Save question"):
            with errors_here():
                coordinating.describe_study(
                    db, study.name, read_question(text, "Question file", KINDS), actor=person, now=datetime.now(UTC)
                )
                done("Question saved.")


def protocol_form(now: Protocol, *, fixed: bool) -> Protocol | None:
    """Show the protocol as a form; if the person saves the form, return the protocol."""
    with st.form("protocol", border=False):
        if fixed:
            st.info("The guide can no longer be changed, because reviewers have already answered.")
        instructions = st.text_area("Instructions for the reviewers' guide", now.instructions, disabled=fixed)
        with st.expander("Pictures", type="compact"):
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
                help="Run order, bins and values differ slightly, so that nobody can recognise an item by comparing "
                "data.",
            )  # fmt: skip
        saved = st.form_submit_button("Save the guide", disabled=fixed)
    return Protocol(rule, span, confidence, numbers, instructions, varies) if saved else None
