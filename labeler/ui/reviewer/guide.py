"""The page Guide: the question, how to judge items, and worked examples."""

import streamlit as st

from labeler.marks import Mark
from labeler.service.labelling import guide, own_examples, reviewing
from labeler.store import Database
from labeler.ui import component
from labeler.ui.reviewer import label, practice

PICTURE_HEIGHT = 280


def render(db: Database, reviewer_id: int) -> None:
    """Show the guide to a reviewer."""
    label.deliver(db, reviewer_id)
    words = practice.practise_on(own_examples.n_practice(db))
    as_reviewers_see(db, f'<a href="/practice" target="_self">{words} (not counted)</a>')


def as_reviewers_see(db: Database, link: str = "") -> None:
    """Show the question, how items are shown, what to judge, the link to the practice round, and worked examples."""
    brief = reviewing.brief(db)
    st.title("Guide", anchor=False)
    st.write("The question for every item:")
    st.text(reviewing.question(db))
    if brief.protocol.instructions:
        st.write("From your coordinator:")
        st.text(brief.protocol.instructions)
    for category in brief.question.categories:
        st.text(f"{category.key.upper()}: {category.label}. {category.meaning}")
    st.markdown(guide.describe_protocol(brief.question, brief.protocol))
    if link and own_examples.n_practice(db):
        st.html(link)
    own = own_examples.drawn(db, own_examples.GUIDE)
    if own:
        st.header("Examples of this study", anchor=False)
        st.caption("Your coordinator chose these items. Nobody labels them.")
        for example in own:
            show(example)
    if not guide.has_examples(brief.question):
        return
    st.header("Worked examples", anchor=False)
    st.caption("These are real measurements with known changes. None of the examples is an item of this study.")
    for example in guide.worked_examples(brief.question, brief.protocol):
        show(example)
    schematic = guide.schematic_examples(brief.question, brief.protocol)
    if not schematic:
        return
    st.header("Three ways to differ", anchor=False)
    st.caption("These pairs of runs are simulated. The runs of each pair differ in one way only.")
    for example in schematic:
        show(example)


def show(example: guide.Example) -> None:
    """Show one example: its category, the reason, and the same picture as on the labelling screen."""
    st.markdown(f"**{example.title}: {example.truth}.**")
    st.text(example.explanation)  # a person may have written it
    marks = [(Mark(at, at), "") for at in example.marks or ()]
    component.picture(
        f"example-{example.title}", example.panels, item=example.title, height=PICTURE_HEIGHT, marks=marks
    )
