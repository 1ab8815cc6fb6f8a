"""The page that tells reviewers what is asked and what to look at."""

import streamlit as st

from labeler.screen import thumbnails
from labeler.service import guide, reviewing
from labeler.store import Database
from labeler.ui.reviewer import label

VERDICTS = {"similar": "Similar", "dissimilar": "Dissimilar", None: "People differ"}


def render(db: Database, reviewer_id: int) -> None:
    """The question, how items are shown, what counts, and worked examples."""
    label.deliver(db, reviewer_id)
    brief = reviewing.brief(db)
    st.subheader("Guide")
    st.write("The question on every item:")
    st.text(brief.question)
    if brief.protocol.instructions:
        st.write("From your coordinator:")
        st.text(brief.protocol.instructions)
    st.markdown(guide.protocol_words(brief.protocol))
    st.html('<a href="/practice" target="_self">Practise on six items; nothing of it is counted</a>')
    st.subheader("Worked examples")
    st.caption("Made from real measurements by known changes. None of them is an item of this study.")
    for example in guide.worked_examples(brief.protocol.axis_rule, brief.protocol.min_span):
        show(example)
    st.subheader("Three ways to differ")
    st.caption("Made pairs of runs, each differing in one way only.")
    for example in guide.schematic_examples():
        show(example)


def show(example: guide.Example) -> None:
    """One example: the picture, what follows from how it was made, and why."""
    picture, words = st.columns([3, 2], vertical_alignment="center")
    panel = (118, 84) if len(example.picture["runs"]) > 2 else (240, 110)
    picture.image(thumbnails.svg(example.picture, label=f"Example: {example.title}", panel=panel))
    words.markdown(f"**{example.title}: {VERDICTS[example.category].lower()}.** {example.explanation}")
