"""The page Feedback: after the calibration round, reviewers compare their labels with the reference labels."""

import streamlit as st

from labeler.screen import thumbnails
from labeler.service import reviewing
from labeler.store import Database
from labeler.ui import component
from labeler.ui.reviewer import label


def render(db: Database, reviewer_id: int) -> None:
    """Show each label that the reviewer gave in the round, with its picture.

    If the item has a reference label, it is shown too.
    """
    label.deliver(db, reviewer_id)
    st.title("Feedback", anchor=False)
    st.write("Your labels in the calibration round, compared with the reference labels and with other reviewers.")
    comparison = reviewing.feedback(db, reviewer_id)
    if comparison is None:
        st.info("After a calibration round, this page shows how your labels compare.")
        return
    compared = [row for row in comparison.rows if row.reference]
    n_equal = sum(row.is_equal for row in compared)
    if compared:
        st.write(
            f"{n_equal} of your {len(compared)} labels match the reference labels. These labels are not part of "
            f"any result."
        )
    if comparison.with_others is not None:
        st.write(f"{comparison.with_others:.0%} of the other reviewers' labels for these items are the same as yours.")
    for row in comparison.rows:
        picture, words = st.columns([2, 5], vertical_alignment="center")
        drawing = reviewing.picture(db, row.task)
        if drawing:
            name = f"The runs of item {row.task.code}"
            with picture:
                component.still(thumbnails.svg(drawing, label=name), name)
        words.text(f"Item {row.task.code}: your label is {row.task.answer}; {in_words(row)}.")


def in_words(row: reviewing.LabelComparison) -> str:
    """Describe how the label compares with the reference label."""
    if row.reference is None:
        return "the item has no reference label"
    return f"the reference label is {'also ' if row.is_equal else ''}{row.reference}"
