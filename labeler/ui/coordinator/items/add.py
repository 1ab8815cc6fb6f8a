"""The view Add: result files are read as they arrive, and each file gets a row with its outcome."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from labeler.config import settings
from labeler.errors import InputError, NotAllowed
from labeler.model import counted
from labeler.plan.lifecycle import Action, require
from labeler.screen.kinds import kind_of
from labeler.service import background
from labeler.service.items import folders, importing, taking_back
from labeler.service.study import coordinating
from labeler.store import Database
from labeler.ui.coordinator.escaping import escape_markdown
from labeler.ui.coordinator.shared import box, done, errors_here, fold, fresh, go_to, refresh, table

OUTCOME = "import-outcome"  # key in the session state: the results of the last import
MAX_TABLE = 30
NO_FILES: folders.Files = []


def render(db: Database, person: str) -> None:
    """Show the outcome of the last import, the drop zone, and the options."""
    try:
        require(coordinating.get_study(db), Action.IMPORT)
    except NotAllowed as refusal:
        st.info(str(refusal))
        return
    results: Sequence[importing.FileResult] = st.session_state.get(OUTCOME, ())
    if results:
        outcome(db, results)
    options = importing.read_options(None, {}, file_is=st.session_state.get("file-is"))
    kind = kind_of(coordinating.get_study(db).question)
    if kind.swapped is not None:
        two_sides(db, options, person)
    elif files := dropped("Add more files" if results else "Drop your result files here", "files"):
        with errors_here():
            take_in(db, files, options, person)
    take_back(db, person)
    with st.expander("What one file contains", type="compact"):
        st.selectbox(
            "One file contains", (None, *importing.FILE_IS), format_func=folders.describe_file_state, key="file-is"
        )
    with st.expander("A folder on the server", type="compact"):
        from_server(db, options, person)
    with fold("Which formats can be read", "formats") as formats:
        if formats.open:
            st.table(
                importing.formats_table(), border="horizontal", hide_index=True, alt="The formats that can be read"
            )


def dropped(label: str, key: str) -> folders.Files:
    """Show a drop zone, and return the files that were dropped, including those in zip files."""
    files = st.file_uploader(
        label, folders.UPLOADED, True, key=fresh(key),
        help="JSON, CSV and the formats of common benchmark tools. Nothing leaves this server.",
    )  # fmt: skip
    return importing.uploads((file.name, file.getvalue()) for file in files or ())


def two_sides(db: Database, options: importing.ReadOptions, person: str) -> None:
    """Show two drop zones, for the runs before and after a change; import both together."""
    left, right = st.columns(2)
    with left:
        before = dropped("Drop the result files from before the change here", "files-before")
    with right:
        after = dropped("Drop the result files from after the change here", "files-after")
    if st.button("Import both sides", type="primary", disabled=not (before and after)):
        with errors_here():
            take_in(db, before, options, person, after=after)


def from_server(db: Database, options: importing.ReadOptions, person: str) -> None:
    """Offer the import of files that are already on the server."""
    root = settings().import_root or db.path.parent
    with st.form("folder", border=False):
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


def take_back(db: Database, person: str) -> None:
    """Offer to take the last import back."""
    last = taking_back.last_import(db)
    if last is None:
        return
    with st.expander("Take the last import back", type="compact"):
        st.write(f"The last import: {escape_markdown(last.describe())}.")
        st.write("Its items and their verdicts are removed. The log still shows the import.")
        is_sure = st.checkbox("I know that this cannot be undone.", key=fresh("sure-to-take-back"))
        if st.button("Take this import back", disabled=not is_sure):
            with errors_here():
                taking_back.take_back(db, actor=person, now=datetime.now(UTC))
                st.session_state.pop(OUTCOME, None)
                done(f"Taken back: {counted(len(last.items), 'item')} removed.")


def take_in(
    db: Database, files: folders.Files, options: importing.ReadOptions, person: str, after: folders.Files = NO_FILES
) -> None:
    """Import files with a progress bar, start to compute verdicts, and show the outcome on the page.

    If `after` has files, they have the runs after a change, and the other files those before it.
    """
    bar, now = st.progress(0.0, "Importing …"), datetime.now(UTC)
    advance = folders.ImportProgress([*files, *after], time.monotonic, bar.progress)
    results = list(importing.import_files(db, files, options, after=after, advance=advance, actor=person, now=now))
    bar.empty()
    st.session_state[OUTCOME] = results
    if any(result.names for result in results):
        background.start_verdicts(db.path, actor=person)
    refresh()


def outcome(db: Database, results: Sequence[importing.FileResult]) -> None:
    """Say what became of each file, and lead to the next step."""
    refused = [result for result in results if result.refused]
    with box(importing.describe_outcome(results)):
        if refused and len(refused) < len(results):
            others = len(results) - len(refused)
            files = counted(len(refused), "file")
            st.write(
                f"**{files} {'was' if len(refused) == 1 else 'were'} refused.** "
                f"The other {'file is' if others == 1 else f'{others} files are'} not affected."
            )
        rows = [folders.outcome(result) for result in results]
        if len(rows) > MAX_TABLE:
            st.dataframe(rows, hide_index=True, alt="The outcome of each file")
        else:
            columns = ("file", "outcome", "runs", "iterations")
            shown = [{name.capitalize(): row[name] for name in columns} for row in rows]
            table(shown, "The outcome of each file")
        for row in rows:
            if row["warnings"]:
                st.caption(escape_markdown(f"{row['file']}: {row['warnings']}"))
        if coordinating.status(db).n_items and st.button("Next: invite people", type="primary"):
            go_to("People")
