"""Compare every claim of the paper with this study's measurements; show and download the result."""

import hashlib
from functools import partial

import streamlit as st

from labeler.plan.lifecycle import Action
from labeler.service import background
from labeler.service.people import identity
from labeler.service.results import replicating
from labeler.service.study import coordinating
from labeler.store import Database
from labeler.ui.coordinator.shared import Bar, document, download, errors_here, link

SOURCE = "https://doi.org/10.1145/3578245.3584693"
START_S, ITEM_S = 8.0, 0.03  # fixed time, and additional time per item
KEY = "replication"


def render(db: Database, person: str) -> None:
    """Show the button that starts the comparison; after the comparison, show the claims and offer the files."""
    st.write(
        f"Compare every claim of the [paper by Bauer et al. (2023)]({SOURCE}) with the measurements of this study. "
        "The page shows for each claim whether it is reproduced, different, or impossible to check, and why."
    )
    hidden = identity.why_hidden(db, person, Action.SEE_VERDICTS)
    if hidden:
        st.info(f"{hidden} The comparison contains verdicts.")
        return
    n_items = sum(item.n_runs > 0 for item in coordinating.list_items(db))
    if not n_items:
        st.info("The comparison appears here when the study has measurements.")
        link("Items", "Add items", "Add")
        return
    with st.expander("Labels of the paper's reviewers, and classes of another method (optional)"):
        labels = st.file_uploader("Labels: CSV with item, reviewer, label", "csv", key="replication-labels")
        classes = st.file_uploader(
            "Classes: JSON or CSV with inconsistent or steady state for each item", ["json", "csv"],
            key="replication-classes",
        )  # fmt: skip
    tables = [None if file is None else file.getvalue() for file in (labels, classes)]
    version = replicating.measurements_of(db) + "".join(hashlib.sha256(table or b"").hexdigest() for table in tables)
    if st.button("Compare with the paper", type="primary"):
        bar = Bar("Comparing")
        whole_s = START_S + ITEM_S * n_items
        with errors_here():
            files = background.files_of(
                "replicate", into="out", study=db.path, actor=person, labels=tables[0], classes=tables[1],
                waiting=lambda seconds: bar.show(seconds, whole_s),
            )  # fmt: skip
            st.session_state[KEY] = version, files
        bar.end()
    made_from, files = st.session_state.get(KEY, ("", {}))
    if made_from != version:
        return
    document(files["replication.html"].decode(), partial(download, files))
