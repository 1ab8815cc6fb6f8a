"""The first visit of a reviewer: the question, both possible answers, two pictures and a practice round."""

from datetime import UTC, datetime
from html import escape
from typing import Any, Literal

import streamlit as st

from labeler.service.labelling import own_examples, reviewing
from labeler.store import Database
from labeler.ui import component
from labeler.ui.reviewer import label, practice

STEP = "first_visit"  # key in the session state: whether the practice round has started
PANEL, PER_ROW = (100, 64), 3


def render(db: Database, reviewer_id: int) -> None:
    """Show the labelling page.

    On the first visit, an introduction and an optional practice round come first.
    """
    if not reviewing.is_first_visit(db, reviewer_id):
        label.render(db, reviewer_id)
        return
    label.deliver(db, reviewer_id)
    if st.session_state.get(STEP) == "practice":
        is_over = practice.practice_round(db)
        start(db, reviewer_id, "Start labelling" if is_over else "Skip the rest and start labelling", is_over)
    else:
        card(db, reviewer_id)


def card(db: Database, reviewer_id: int) -> None:
    """Show the question, the meaning of each answer, a picture of each if there is one, and the buttons to continue."""
    brief = reviewing.brief(db)
    st.title(reviewing.question(db), anchor=False)
    st.html(f'<p class="facts">{escape(reviewing.describe_work(db, reviewer_id))}</p>')
    how = "Mark points by click, touch or keys." if brief.question.is_marked else "Press one key or button to label it."
    st.write(f"Each item shows {brief.kind.shows}. {how} There is no time limit.")
    if brief.protocol.instructions:
        st.text(brief.protocol.instructions)
    examples, n_practice = own_examples.worked(db), own_examples.n_practice(db)
    categories = brief.question.categories
    columns: list[Any] = []
    for category in categories:
        columns = columns or list(st.columns(min(len(categories), PER_ROW), gap="large"))
        with columns.pop(0):
            st.header(f"{category.key.upper()}: {category.label}", anchor=False)
            st.text(category.meaning)
            for example in [example for example in examples if example.category == category][:1]:
                words = f"Example: {example.title}"
                component.still(example.thumbnail(words, PANEL), words)
                st.text(f"{example.title}. {example.explanation}")
    if not n_practice:
        start(db, reviewer_id, "Start labelling", is_next=True)
        return
    if st.button(practice.practise_on(n_practice), type="primary", key="practise"):
        st.session_state[STEP] = "practice"
        st.rerun()
    start(db, reviewer_id, "Skip practice and start labelling", is_next=False)


def start(db: Database, reviewer_id: int, words: str, is_next: bool) -> None:
    """Show the button that ends the introduction and opens the labelling page."""
    kind: Literal["primary", "secondary"] = "primary" if is_next else "secondary"
    if st.button(words, type=kind, key="start", shortcut="Enter" if is_next else None):
        reviewing.begin(db, reviewer_id, now=datetime.now(UTC))
        st.session_state.pop(STEP, None)
        st.rerun()
