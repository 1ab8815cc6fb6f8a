"""Create, show and download the report."""

import streamlit as st

from labeler.plan.lifecycle import Action
from labeler.service.people import identity
from labeler.service.results import reporting
from labeler.store import Database
from labeler.ui.coordinator.shared import Bar, done, errors_here

FULL, QUICK = "Full report", "Without bootstrap and latent class (faster)"


def render(db: Database, person: str) -> None:
    """Create the report on request, show it, and offer its files."""
    st.write("The report shows how far the reviewers agree, and compares the classifiers with their labels.")
    hidden = identity.why_hidden(db, person, Action.SEE_NAMES)
    if hidden:
        st.info(f"{hidden} The report then appears here.")
        return
    quick = st.radio("Report", [FULL, QUICK], horizontal=True, key="report-kind", label_visibility="collapsed") == QUICK
    report = reporting.cached_report(db, quick=quick)
    made_again = st.button(
        "Create the report" if report is None else "Create the report again",
        type="primary" if report is None else "secondary",
        help="The log of the study records who created the report.",
    )  # fmt: skip
    if made_again:
        reporting.forget_report(db, quick=quick)
    if made_again or (report is None and reporting.is_being_made()):
        bar = Bar("Computing the report")
        with errors_here():
            reporting.make_report(db, quick=quick, actor=person, waiting=bar.show)
            done("The report is ready.")
        bar.end()
    if report is not None:
        show(report)


def show(report: reporting.CachedReport) -> None:
    """Show the document and offer its files for download."""
    st.caption(f"Created on {report.made:%-d %B %Y at %H:%M} UTC.")
    with st.container(horizontal=True):
        for name, text in report.files.items():
            st.download_button(f"Download {name}", text, name, key=f"download-{name}", on_click="ignore")
    st.iframe(report.files["report.html"], height=1400)
