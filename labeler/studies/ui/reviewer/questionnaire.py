"""The questionnaire: a form that each reviewer sees once, before or after labelling."""

from datetime import UTC, datetime

import streamlit as st

from labeler.safe_text import escape_markdown
from labeler.studies.labelling import questionnaire
from labeler.studies.questions import SCALE, TEXT, Ask
from labeler.studies.store import Database
from labeler.studies.ui.reviewer import label


def render(db: Database, reviewer_id: int, asked: tuple[Ask, ...]) -> None:
    """Show the form; every answer can be left out."""
    label.deliver(db, reviewer_id)
    st.title("A few questions about you", anchor=False)
    st.write("You see this once. Leave out what you do not want to answer. Other reviewers do not see your answers.")
    with st.form("questionnaire", border=False):
        given = {ask.text: field_of(ask) for ask in asked}
        if st.form_submit_button("Send and continue", type="primary"):
            questionnaire.answer(
                db, reviewer_id, {text: words or "" for text, words in given.items()}, now=datetime.now(UTC)
            )
            st.rerun()


def field_of(ask: Ask) -> str | None:
    """Show the field of one question; return the answer, or None if there is none."""
    words = escape_markdown(ask.text)
    if ask.kind == TEXT:
        return st.text_area(words, max_chars=questionnaire.MAX_TEXT)
    return st.radio(words, ask.answers, index=None, horizontal=ask.kind == SCALE, format_func=escape_markdown)
