"""What a calibration round must reach, and what its items are."""

from datetime import UTC, datetime

import streamlit as st

from labeler.model import Category, Gate
from labeler.service import calibrating
from labeler.store import Database


def set_gate(db: Database, gate: Gate | None, person: str) -> None:
    """The form for what must be reached."""
    with st.form("gate"):
        names = list(calibrating.ON)
        on = st.radio(
            "The study opens once", names, format_func=calibrating.ON.get, index=names.index(gate.on) if gate else 0
        )
        least = st.slider("reaches at least", 0.0, 1.0, gate.least if gate else 0.8, 0.05)
        if st.form_submit_button("Keep this gate"):
            calibrating.set_gate(db, Gate(on, least), actor=person, now=datetime.now(UTC))
            st.rerun()


def set_reference(db: Database, person: str) -> None:
    """The form for what one item is."""
    names = calibrating.item_names(db)
    with st.form("reference"):
        name = st.selectbox("Item", names)
        category = st.radio("It is", list(Category), format_func=str.title, horizontal=True)
        if st.form_submit_button("Keep as reference label") and name is not None and category is not None:
            calibrating.set_reference(db, {name: category}, actor=person, now=datetime.now(UTC))
            st.rerun()
