"""Measurements into the study: by upload, or from a folder on the server's disk; every file says what became of it."""

import time
from datetime import UTC, datetime

import streamlit as st

from labeler.config import settings
from labeler.errors import NotAllowed
from labeler.plan.lifecycle import Action, require
from labeler.service.data import folders, importing
from labeler.service.plan import coordinating
from labeler.store import Database

N_NAMED = 10  # refused files named in words; the list has all


def render(db: Database, person: str) -> None:
    """Import while the study is a draft; how many items there are."""
    try:
        require(coordinating.get_study(db), Action.IMPORT)
    except NotAllowed as refusal:
        st.info(str(refusal))
    else:
        offer_import(db, person)
    st.write(f"{len(coordinating.list_items(db))} items. The page Items lists them all.")


def offer_import(db: Database, person: str) -> None:
    """The two ways in."""
    file_is = st.selectbox("What one file is", (None, *importing.FILE_IS), format_func=folders.file_is_in_words)
    options = importing.read_options(None, {}, file_is=file_is)
    files = st.file_uploader("Result files of any tool that `labeler formats` lists", folders.UPLOADED, True)
    if files and st.button(f"Import {len(files)} files", type="primary"):
        take_in(db, importing.uploads((file.name, file.getvalue()) for file in files), options, person)
    root = settings().import_root or db.path.parent
    with st.form("folder"):
        path = st.text_input("Or a folder or file on the server's disk; . is all that lies below the folder named here")
        st.text(f"Only what lies below {root.resolve()}")
        if st.form_submit_button("Import from the server") and path.strip():
            take_in(db, folders.result_files(root, path.strip(), study=db.path), options, person)


def take_in(db: Database, files: folders.Files, options: importing.ReadOptions, person: str) -> None:
    """Import with a progress bar, then a row for every file."""
    bar, now = st.progress(0.0, "Importing …"), datetime.now(UTC)
    advance = folders.Progress(files, time.monotonic, bar.progress)
    results = list(importing.import_files(db, files, options, advance=advance, actor=person, now=now))
    bar.empty()
    st.success(importing.in_words(results))
    if any(result.refused for result in results):
        st.error("Some files were refused; the list says why. Everything else is in the study.")
        for result in [result for result in results if result.refused][:N_NAMED]:
            st.text(f"{result.file}: {result.refused}")
    st.dataframe([folders.outcome(result) for result in results], hide_index=True)
