"""The report: look at it, take it away."""

import streamlit as st

from labeler.plan.lifecycle import Action
from labeler.service.people import visibility
from labeler.service.results import reporting
from labeler.store import Database


def render(db: Database, person: str) -> None:
    """Make the report when asked, show it, and offer its files."""
    hidden = visibility.why_not(db, person, Action.SEE_NAMES)
    if hidden:
        st.info(f"{hidden} The page Progress shows agreement from closing on.")
        return
    st.caption("Making the report is logged.")
    if st.button("Make the report", type="primary"):
        st.session_state["report-made"] = True
    quick = not st.checkbox("With bootstrap, latent class and test of misfit (some seconds)", value=True)
    if not st.session_state.get("report-made"):
        return
    progress = st.empty()
    files = reporting.files_for_page(
        db,
        quick=quick,
        actor=person,
        waiting=lambda seconds: progress.caption(f"Computing the report: {seconds:.0f} s"),
    )
    progress.empty()
    documents = {name: text for name, text in files.items() if "/" not in name}  # the figures have a page of their own
    columns = st.columns(len(documents))
    for column, (name, text) in zip(columns, documents.items(), strict=True):
        column.download_button(f"Download {name}", text, name, key=f"download-{name}", on_click="ignore")
    st.iframe(files["report.html"], height=1400)
