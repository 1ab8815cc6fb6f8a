"""Measurements into the study: by upload, or from a folder on the server's disk; every file says what became of it."""

import time
from datetime import UTC, datetime

import streamlit as st

from labeler.config import settings
from labeler.errors import NotAllowed
from labeler.lifecycle import Action, require
from labeler.service import coordinating, folders, importing
from labeler.store import Database

TYPES = ["json", "gz", "csv", "parquet"]
N_NAMED = 10  # refused files named in words; the list has all


def render(db: Database, person: str) -> None:
    """Import while the study is a draft; how many items there are."""
    st.subheader("Measurements")
    try:
        require(coordinating.get_study(db), Action.IMPORT)
    except NotAllowed as refusal:
        st.info(str(refusal))
    else:
        offer_import(db, person)
    st.write(f"{len(coordinating.list_items(db))} items. The page Browse has them all.")


def offer_import(db: Database, person: str) -> None:
    """The two ways in."""
    files = st.file_uploader("Result files: ICPE '23 JSON (also .gz), long CSV or Parquet", TYPES, True)
    if files and st.button(f"Import {len(files)} files", type="primary"):
        take_in(db, [importing.upload(file.name, file.getvalue()) for file in files], person)
    root = settings().import_root or db.path.parent
    with st.form("folder"):
        path = st.text_input("Or a folder or file on the server's disk; . is all that lies below the folder named here")
        st.text(f"Only what lies below {root.resolve()}")
        if st.form_submit_button("Import from the server") and path.strip():
            take_in(db, folders.result_files(root, path.strip(), study=db.path), person)


def take_in(db: Database, files: folders.Files, person: str) -> None:
    """Import with a progress bar, then a row for every file."""
    bar, began, results = st.progress(0.0, "Importing …"), time.monotonic(), []
    for done, result in enumerate(importing.import_files(db, files, actor=person, now=datetime.now(UTC)), start=1):
        results.append(result)
        left = (time.monotonic() - began) / done * (len(files) - done)
        bar.progress(done / len(files), f"{done} of {len(files)} files, {left:.0f} s left")
    bar.empty()
    st.success(importing.in_words(results))
    if any(result.refused for result in results):
        st.error("Some files were refused; the list says why. Everything else is in the study.")
        for result in [result for result in results if result.refused][:N_NAMED]:
            st.text(f"{result.file}: {result.refused}")
    st.dataframe([folders.outcome(result) for result in results], hide_index=True)
