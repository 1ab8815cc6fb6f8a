"""Import measurements by upload or from a folder on the server, and show the outcome for each file."""

import time
from datetime import UTC, datetime

import streamlit as st

from labeler.config import settings
from labeler.errors import InputError, NotAllowed
from labeler.model import counted
from labeler.plan.lifecycle import Action, require
from labeler.service.items import folders, importing
from labeler.service.study import coordinating
from labeler.store import Database
from labeler.ui.coordinator.shared import errors_here, link, next_step

N_NAMED = 10  # number of refused files to show above the table, which lists all files


def render(db: Database, person: str) -> None:
    """Show the number of items; while the study is a draft, offer the import."""
    st.write("Import the measurements of the study. This is possible while the study is being set up.")
    try:
        require(coordinating.get_study(db), Action.IMPORT)
    except NotAllowed as refusal:
        st.info(str(refusal))
    else:
        offer_import(db, person)
    n_items = len(coordinating.list_items(db))
    if n_items:
        st.write(f"The study has {counted(n_items, 'item')}.")
        link("Items", "See all items")
        next_step(db, person, "Data")
    else:
        st.write("The study has no items yet.")


def offer_import(db: Database, person: str) -> None:
    """Offer the upload and the import from the server."""
    file_is = st.selectbox("One file contains", (None, *importing.FILE_IS), format_func=folders.describe_file_state)
    options = importing.read_options(None, {}, file_is=file_is)
    files = st.file_uploader("Result files, in any format that `labeler formats` lists", folders.UPLOADED, True)
    if files and st.button(f"Import {counted(len(files), 'file')}", type="primary"):
        with errors_here():
            take_in(db, importing.uploads((file.name, file.getvalue()) for file in files), options, person)
    root = settings().import_root or db.path.parent
    with st.form("folder"):
        path = st.text_input(
            "Folder or file on the server",
            help="Enter a path relative to the folder below. For all its files, enter a dot (.).",
        )
        st.text(f"The path must be inside {root.resolve()}")
        if st.form_submit_button("Import from the server"):
            with errors_here():
                if not path.strip():
                    raise InputError("Enter a folder or a file. To import all files, enter a dot.")
                take_in(db, folders.result_files(root, path.strip(), study=db.path), options, person)


def take_in(db: Database, files: folders.Files, options: importing.ReadOptions, person: str) -> None:
    """Import files with a progress bar, then show a row for each file."""
    bar, now = st.progress(0.0, "Importing …"), datetime.now(UTC)
    advance = folders.ImportProgress(files, time.monotonic, bar.progress)
    results = list(importing.import_files(db, files, options, advance=advance, actor=person, now=now))
    bar.empty()
    st.success(importing.describe(results))
    if any(result.refused for result in results):
        st.error("Some files were refused; the table gives the reasons. All other files were imported.")
        for result in [result for result in results if result.refused][:N_NAMED]:
            st.text(f"{result.file}: {result.refused}")
    st.dataframe([folders.outcome(result) for result in results], hide_index=True)
