"""Compute the verdicts of the classifiers, with progress, and show them."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import streamlit as st

from labeler.model import counted
from labeler.plan.lifecycle import Action
from labeler.service import background
from labeler.service.people import identity
from labeler.service.results import reporting
from labeler.service.study import coordinating
from labeler.service.verdicts import computing, stored_verdicts
from labeler.store import Database, open_database
from labeler.ui.coordinator.shared import done, link

THRESHOLD = """Add a classifier with another threshold to all tables and reports. For example, theta 0.30 adds
*heuristic@0.30* beside *heuristic*. Choose the threshold before you see labels; otherwise the classifier looks better
than it is. To remove this classifier, use the command `labeler verdicts --remove heuristic@0.30`."""
THRESHOLDS = {"Theta of the heuristics (usually 0.25)": "theta", "Cut of SAME (usually 0.20)": "cut"}
N_FIRST, SHARE_PX = 20, 54
AGREEMENT = "This table needs no labels."
OF_POSITIVE = """The column *finds* is the share of the other classifier's {positive} items that this classifier also
calls {positive}. The column *clears* is the same share for all other items."""
FIRST = """Let reviewers label these items first, because the classifiers disagree most on them. The column *margin* is
the smallest distance of a score from its threshold, as a share of the threshold."""
SHARES = {
    **{
        name: st.column_config.NumberColumn(name, format="%.2f", width=SHARE_PX)
        for name in ("agree", "kappa", "finds", "clears")
    },
    **{name: st.column_config.NumberColumn(name, format="%.2f") for name in ("disagreement", "margin")},
    "n": st.column_config.NumberColumn("n", width=SHARE_PX - 10),
}


def render(db: Database, person: str) -> None:
    """Start the computation in a separate process, show its progress, and list the verdicts."""
    st.write("The classifiers decide for each item whether its runs are similar or dissimilar.")
    job = computing.latest_job(db)
    if job is not None and background.is_running(job):
        watch(str(db.path))
        return
    if job is not None and job.finished_utc is None:
        st.warning("The last computation was interrupted. Start it again; finished verdicts are kept.")
    elif job is not None and job.error:
        st.error(f"The last computation failed: {job.error}")
    missing = computing.n_missing(db)
    if missing:
        offer = st.empty()
        with offer.container():
            st.write(f"Items without verdicts: {missing}.")
            starts = st.button("Compute verdicts", type="primary")
        if starts:
            offer.empty()
            background.start_verdicts(db.path, actor=person)
            watch(str(db.path))
            return
    elif job is not None and coordinating.get_study(db).question.has_default_categories:
        add_threshold(db, person)
    hidden = identity.why_hidden(db, person, Action.SEE_VERDICTS)
    if hidden:
        st.info(hidden)
        return
    summary = stored_verdicts.summary(db, N_FIRST)
    if summary.counts:
        tables(db, summary, person)
    elif not missing:
        st.info("There are no verdicts and no measurements yet. Add items first.")


def tables(db: Database, summary: stored_verdicts.VerdictSummary, person: str) -> None:
    """Show the results of the classifiers as tables.

    The tables have the counts, the agreement between classifiers, the items to label first, and the missing verdicts
    with reasons.

    The verdicts of single items are on the page Items and in the file, because a large table is slow in the browser.
    """
    question = coordinating.get_study(db).question
    st.dataframe(summary.counts, hide_index=True, placeholder="—")
    with st.container(horizontal=True):
        link("Items", "Verdicts of each item", "All items")
        st.download_button(
            "Download verdicts.csv", partial(exported, db.path, person), "verdicts.csv", on_click="ignore"
        )
    if summary.pairs:
        st.header("Agreement between classifiers", anchor=False)
        st.write(AGREEMENT, OF_POSITIVE.format(positive=question.positive) if question.positive else "")
        st.dataframe(summary.pairs, hide_index=True, placeholder="—", column_config=SHARES)
    if summary.first:
        st.header("Items to label first", anchor=False)
        st.write(FIRST)
        columns = ["item", *reversed(question.classes), "disagreement", "margin"]
        st.dataframe(summary.first, hide_index=True, column_order=columns, placeholder="—", column_config=SHARES)
    if summary.failed:
        st.header("Verdicts that could not be computed", anchor=False)
        st.dataframe(summary.failed, hide_index=True)


def exported(path: Path, person: str) -> str:
    """Return the text of the verdict file; the log records the export."""
    with open_database(path) as db:
        return reporting.as_csv(stored_verdicts.export_table(db, actor=person, now=datetime.now(UTC)))


def add_threshold(db: Database, person: str) -> None:
    """Show a form that adds a classifier with another threshold."""
    with st.expander("Another threshold"), st.form("another-threshold", border=False):
        st.write(THRESHOLD)
        title = st.selectbox("Threshold", list(THRESHOLDS), key="threshold-of")
        value = st.number_input("Value", 0.0, 1.0, 0.3, 0.05, key="threshold-value")
        if st.form_submit_button("Add this threshold"):
            background.start_verdicts(db.path, {THRESHOLDS[title]: value}, actor=person)
            st.rerun()


@st.fragment(run_every=1.0)
def watch(path: str) -> None:
    """Show the progress of the computation; update it every second until the computation ends."""
    with open_database(Path(path)) as db:
        job = computing.latest_job(db)
    if job is None:
        st.progress(0.0, "Starting …")
    elif background.is_running(job):
        share = job.n_done / job.n_total if job.n_total else 1.0
        st.progress(share, background.describe(job))
    elif job.finished_utc is None or job.error:
        st.rerun()  # the page says what went wrong
    else:
        done(f"Verdicts computed for {counted(job.n_done, 'item')}.")
