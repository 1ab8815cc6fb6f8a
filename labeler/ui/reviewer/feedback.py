"""The page Feedback, on which reviewers compare their labels of the calibration round with the reference labels."""

import streamlit as st

from labeler.service.labelling import reviewing
from labeler.store import Database
from labeler.ui import component
from labeler.ui.reviewer import label


def render(db: Database, reviewer_id: int) -> None:
    """Show each label that the reviewer gave in the calibration round, with the picture of the item.

    If the item has a reference label, show this label too.
    """
    label.deliver(db, reviewer_id)
    st.title("Feedback", anchor=False)
    st.write("Compare your labels of the calibration round with the reference labels and with other reviewers' labels.")
    comparison = reviewing.feedback(db, reviewer_id)
    if comparison is None:
        st.info("The comparison appears here after the calibration round.")
        return
    compared = [row for row in comparison.rows if row.reference]
    n_equal = sum(row.is_equal for row in compared)
    if compared:
        st.write(
            f"{n_equal} of your {len(compared)} labels match the reference labels. No result uses your labels of this "
            f"round."
        )
    if comparison.with_others is not None:
        st.write(f"{comparison.with_others:.0%} of the other reviewers' labels for these items are the same as yours.")
    for row in comparison.rows:
        picture, words = st.columns([2, 5], vertical_alignment="center")
        name = f"The runs of item {row.task.code}"
        still = reviewing.thumbnail(db, row.task, name)
        if still:
            with picture:
                component.still(still, name)
        words.text(f"Item {row.task.code}: your label is {row.task.answer}; {describe(row)}.")


def describe(row: reviewing.LabelComparison) -> str:
    """Return a clause that says whether the label matches the reference label of the item."""
    if row.reference is None:
        return "the item has no reference label"
    return f"the reference label is {'also ' if row.is_equal else ''}{row.reference}"
