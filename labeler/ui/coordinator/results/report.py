"""The view Report: the report as part of the page, with its contents beside it."""

from functools import partial
from pathlib import Path

import streamlit as st

from labeler.plan.lifecycle import Action
from labeler.service import background
from labeler.service.people import identity
from labeler.service.results import reporting
from labeler.service.verdicts import computing
from labeler.store import Database, open_database
from labeler.ui.coordinator.shared import document, errors_here, refresh

FULL, QUICK = "Full report", "Without bootstrap and latent class (faster)"
KIND = "report-kind"  # key in the session state: which report is shown
REFRESH_S = 1.0
MARKS = "marks.html"  # the file of a report on marks


def render(db: Database, person: str) -> None:
    """Show the report; if it is not written yet, write it in the background."""
    hidden = identity.why_hidden(db, person, Action.SEE_NAMES)
    if hidden:
        st.info(f"{hidden} The report appears when you unblind the study.")
        return
    quick = st.session_state.get(KIND, FULL) == QUICK
    report = reporting.cached_report(db, quick=quick)
    if report is None:
        problem = reporting.why_not_written(db, quick=quick)
        if problem:
            st.error(problem)
            if st.button("Write the report", type="primary"):
                write_again(db, person, quick=quick)
            return
        wait(str(db.path), person, quick)
        return
    page = "report.html"
    if MARKS in report.files:
        parts = {"Places of the marks": MARKS, "Whether there are marks": page}
        page = parts[str(st.radio("Part", list(parts), horizontal=True, label_visibility="collapsed"))]
    document(report.files[page].decode(), partial(downloads, db, person, report, quick=quick))


def downloads(db: Database, person: str, report: reporting.CachedReport, *, quick: bool) -> None:
    """Offer the report as PDF and its other files, and to write it again."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if reporting.can_print():
            page = report.files["report.html"].decode()
            make = partial(reporting.to_pdf, page)
            st.download_button("Download the report (PDF)", make, "report.pdf", type="primary", on_click="ignore")
        with st.popover("Other files"):
            for name, content in report.files.items():
                st.download_button(f"Download {name}", content, name, key=f"download-{name}", on_click="ignore")
        with st.popover("Write it again"):
            st.radio("Report", [FULL, QUICK], key=KIND, help="The log of the study records who wrote the report.")
            if st.button("Write the report again"):
                write_again(db, person, quick=quick)
        st.caption(f"Written on {report.made:%-d %B %Y at %H:%M} UTC")


def write_again(db: Database, person: str, *, quick: bool) -> None:
    """Write the report anew."""
    reporting.forget_report(db, quick=quick)
    reporting.begin_report(db, quick=quick, actor=person)
    refresh()


@st.fragment(run_every=REFRESH_S)
def wait(path: str, person: str, quick: bool) -> None:
    """Show that the report is being written; when it is there, show it.

    If the verdicts are still being computed, the report waits for them.
    """
    with open_database(Path(path)) as db, errors_here():
        if identity.why_hidden(db, person, Action.SEE_NAMES):
            return
        job = computing.latest_job(db)
        if job is not None and background.is_running(job):
            st.progress(
                job.n_done / max(job.n_total, 1), "The classifiers judge the items; then the report is written."
            )
            return
        if reporting.cached_report(db, quick=quick) or reporting.why_not_written(db, quick=quick):
            st.rerun()
        reporting.begin_report(db, quick=quick, actor=person)
        done_s, whole_s = reporting.writing_progress(db, quick=quick)
    words = f"The report is being written, about {whole_s:.0f} seconds. You can leave this page."
    st.progress(min(done_s / whole_s, 0.97), words)
