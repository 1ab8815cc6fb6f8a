"""Measurements: import by upload, and what is there."""

from datetime import UTC, datetime

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from labeler.service import coordinating, importing
from labeler.store import Database

TYPES = ["json", "gz", "csv", "parquet"]


def render(db: Database, person: str) -> None:
    """Upload result files; every file says what became of it."""
    st.subheader("Measurements")
    if coordinating.get_study(db).plan_hash is None:
        files = st.file_uploader("Result files: ICPE '23 JSON (also .gz), long CSV or Parquet", TYPES, True)
        if files and st.button(f"Import {len(files)} files", type="primary"):
            take_in(db, files, person)
    else:
        st.info("The plan is drawn; measurements can no longer be added.")
    rows = [
        {"item": i.name, "application": i.application, "runs": i.n_runs, "iterations": i.n_iterations, "unit": i.unit}
        for i in coordinating.list_items(db)
    ]
    st.write(f"{len(rows)} items")
    st.dataframe(rows, hide_index=True)


def take_in(db: Database, files: list[UploadedFile], person: str) -> None:
    """Import with a progress bar, then a line for every file that was refused."""
    uploads = [importing.upload(file.name, file.getvalue()) for file in files]
    bar = st.progress(0.0, "Importing …")
    results = []
    now = datetime.now(UTC)
    for result in importing.import_files(db, uploads, actor=person, now=now):
        results.append(result)
        bar.progress(len(results) / len(uploads), f"{len(results)} of {len(uploads)}: {result.file}")
    bar.empty()
    st.success(importing.in_words(results))
    for result in results:
        if result.refused:
            st.error(f"{result.file}: {result.refused}")
