"""The study handed on: copies on the server's disk, labels of a copy brought back, and the files for others."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import streamlit as st

from labeler.config import settings
from labeler.plan.lifecycle import Action
from labeler.service.data import folders
from labeler.service.people import visibility
from labeler.service.plan import coordinating
from labeler.service.results import anonymising, exchange, merging, reporting
from labeler.store import Database, open_database
from labeler.ui.coordinator.escaping import plain


def render(db: Database, person: str) -> None:
    """A backup, a copy for publication, labels from a copy, and the labels as a table."""
    with st.form("backup"):
        name = st.text_input("Back up the study, while people label, into a file beside it called")
        if st.form_submit_button("Back up"):
            target = folders.beside(db.path, name)
            coordinating.back_up(db, target, actor=person, now=datetime.now(UTC))
            st.success(plain(f"Copied to {target.name}, beside the study."))
    with st.form("anonymise"):
        name = st.text_input("Write a copy for publication, without names, into a file beside the study called")
        comments = st.checkbox("Keep comments: names in them are replaced; read them all the same")
        if st.form_submit_button("Anonymise"):
            target = folders.beside(db.path, name)
            anonymising.anonymise(db, target, keep_comments=comments, actor=person, now=datetime.now(UTC))
            st.success(plain(f"Wrote {target.name}, beside the study: reviewers are R1, R2, … in it."))
    with st.form("merge"):
        root = settings().import_root or db.path.parent
        path = st.text_input("Bring back labels that were given in a copy of this study, a file on the server's disk")
        st.text(f"Only what lies below {root.resolve()}")
        if st.form_submit_button("Merge") and path.strip():
            merged = merging.merge(db, folders.below(root, path.strip()), actor=person, now=datetime.now(UTC))
            st.success(f"{merged.n_new} answers merged, {merged.n_already_there} there already.")
            if merged.conflicts:
                st.warning(f"{len(merged.conflicts)} answers were left out: the study has others in their places.")
    labels(db.path, person, visibility.why_not(db, person, Action.SEE_NAMES))


def labels(path: Path, person: str, hidden: str) -> None:
    """Every answer as the tidy label file, once names may be seen."""
    if hidden:
        st.info(f"{hidden} The label file says who said what.")
    else:
        st.download_button("Download labels.csv", partial(exported, path, person), "labels.csv", on_click="ignore")


def exported(path: Path, person: str) -> str:
    """The label file, when it is asked for: that is logged."""
    with open_database(path) as db:
        return reporting.as_csv(exchange.export_labels(db, actor=person, now=datetime.now(UTC)))
