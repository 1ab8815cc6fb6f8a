"""Hand the study over: create a backup, merge labels from a copy, and export the labels."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import streamlit as st

from labeler.config import settings
from labeler.errors import InputError
from labeler.model import counted
from labeler.plan.lifecycle import Action
from labeler.service.handover import merging, triage
from labeler.service.items import folders
from labeler.service.people import identity
from labeler.service.results import exchange, reporting
from labeler.service.study import coordinating
from labeler.store import Database, open_database
from labeler.ui.coordinator.escaping import escape_markdown
from labeler.ui.coordinator.shared import errors_here, study_created


def render(db: Database, person: str) -> None:
    """Show the forms for backup, merge and template, and the download of labels."""
    log = coordinating.event_log(db)
    if identity.reviews_too(db, person):  # details contain decisions of other people
        log = log.drop(columns="details")
    st.dataframe(log, hide_index=True)
    st.download_button("Download the log (CSV)", reporting.as_csv(log), "events.csv", on_click="ignore")
    st.header("Copies", anchor=False)
    with st.form("backup"):
        st.write("**Backup.** Write a full copy into the folder of the study. Reviewers can continue to label.")
        name = st.text_input("File name of the backup")
        if st.form_submit_button("Back up the study"):
            with errors_here():
                target = folders.path_in_study_folder(db.path, name)
                end = coordinating.back_up(db, target, actor=person, now=datetime.now(UTC))
                st.success(escape_markdown(f"Copied to {target.name} in the folder of the study. Chain: {end}"))
    with st.form("merge"):
        root = settings().import_root or db.path.parent
        st.write("**Merge.** Import the labels that were given in a copy of this study.")
        path = st.text_input("Path of the copy on the server")
        st.text(f"The path must be inside {root.resolve()}")
        if st.form_submit_button("Merge the labels"):
            with errors_here():
                if not path.strip():
                    raise InputError("Enter the path of the copy.")
                merged = merging.merge(db, folders.below(root, path.strip()), actor=person, now=datetime.now(UTC))
                st.success(f"{counted(merged.n_new, 'answer')} merged; {merged.n_already_there} already in the study.")
                if merged.conflicts:
                    left_out = counted(len(merged.conflicts), "answer")
                    st.warning(f"{left_out} not merged, because the study has a different answer to the same item.")
    with st.form("template"):
        st.write("**Copy as a template.** Write a new study with this question, guide, protocol and these people.")
        st.caption("It has no items, plan or labels. Everybody gets a new link there.")
        name = st.text_input("Name of the new study")
        if st.form_submit_button("Copy as a template"):
            with errors_here():
                study_created(triage.make_beside(db, name, coordinator=person, now=datetime.now(UTC)))
    labels(db.path, person, identity.why_hidden(db, person, Action.SEE_NAMES))


def labels(path: Path, person: str, hidden: str) -> None:
    """Offer the label file with all answers to people who may see names."""
    if hidden:
        st.info(f"{hidden} The label file names the reviewer of each label.")
    else:
        st.download_button("Download labels.csv", partial(exported, path, person), "labels.csv", on_click="ignore")


def exported(path: Path, person: str) -> str:
    """Return the text of the label file; the log records the export."""
    with open_database(path) as db:
        return reporting.as_csv(exchange.export_labels(db, actor=person, now=datetime.now(UTC)))
