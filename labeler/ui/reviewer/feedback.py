"""After the calibration round: own labels beside what the items are."""

import streamlit as st

from labeler.screen import thumbnails
from labeler.service import reviewing
from labeler.store import Database
from labeler.ui import component
from labeler.ui.reviewer import label


def render(db: Database, reviewer_id: int) -> None:
    """Each own label of the round with its picture and the reference label, where there is one."""
    label.deliver(db, reviewer_id)
    st.title("Feedback", anchor=False)
    st.write("How your labels of the calibration round compare.")
    comparison = reviewing.feedback(db, reviewer_id)
    if comparison is None:
        st.info("Once a calibration round is over, you see here how your labels compare.")
        return
    compared = [row for row in comparison.rows if row.reference]
    n_equal = sum(row.is_equal for row in compared)
    if compared:
        st.write(f"{n_equal} of your {len(compared)} labels equal the reference labels. They count in no result.")
    if comparison.with_others is not None:
        st.write(f"Of the labels that others gave these items, {comparison.with_others:.0%} are the same as yours.")
    for row in comparison.rows:
        picture, words = st.columns([2, 5], vertical_alignment="center")
        drawing = reviewing.picture(db, row.task)
        if drawing:
            name = f"The runs of item {row.task.code}"
            with picture:
                component.still(thumbnails.svg(drawing, label=name), name)
        words.text(f"Item {row.task.code}: your label is {row.task.answer}; {in_words(row)}.")


def in_words(row: reviewing.LabelComparison) -> str:
    """What the item is, in words."""
    if row.reference is None:
        return "it has no reference label"
    return "so does the reference" if row.is_equal else f"the reference says {row.reference}"
