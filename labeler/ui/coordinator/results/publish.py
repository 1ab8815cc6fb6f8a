"""Publish a finished study as a data set.

The page has a form for the required answers, the list of missing answers, and the files.
"""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import streamlit as st

from labeler.errors import LabelerError
from labeler.plan.lifecycle import Action
from labeler.service import background
from labeler.service.handover.publishing import bundle
from labeler.service.handover.publishing.publish_file import PublishFile, Venue
from labeler.service.items import folders
from labeler.service.people import identity
from labeler.service.results import reporting
from labeler.service.study import coordinating
from labeler.store import Database, open_database
from labeler.ui.coordinator.escaping import escape_markdown, points
from labeler.ui.coordinator.shared import Bar, done, errors_here

VENUES = {
    None: "No particular venue",
    Venue.NEURIPS: "NeurIPS, datasets and benchmarks",
    Venue.ICSE: "ICSE, artefact evaluation",
    Venue.ZENODO: "Zenodo",
}
ARCHIVE = "published-archive"
START_S, ITEM_S = 3.0, 0.05  # fixed time, and additional time per item with measurements


def render(db: Database, person: str) -> None:
    """Show the answers, the list of missing answers, and the form for the data set."""
    st.write(
        "Create a data set that others can load, check and cite: labels, items, measurements, report, codebook, "
        "datasheet and metadata. It contains no names of people."
    )
    hidden = identity.why_hidden(db, person, Action.SEE_NAMES)
    if hidden:
        st.info(f"{hidden} Only an unblinded study can be published.")
        return
    text = answers(db)
    options = chosen()
    with errors_here():
        missing = bundle.lacking(db, PublishFile.of_text(text), options)
        if missing:
            st.warning("These answers are missing:\n\n" + points(missing))
        else:
            st.success("All required answers are complete.")
        data_set(db, person, options, ready=not missing)


def answers(db: Database) -> str:
    """Show a form to edit the answers in publish.toml, in the folder of the study; return the saved answers."""
    st.header("Answers about the study", anchor=False)
    kept = bundle.answers_text(db, datetime.now(UTC).date())
    with st.form("answers"):
        text = st.text_area(
            "Answers",
            kept,
            height=420,
            help='Write between the quotes. "" means not answered yet. All answers are published.',
        )
        if st.form_submit_button("Save answers"):
            with errors_here():
                bundle.save_answers(db, text)
                done("Answers saved in publish.toml, in the folder of the study.")
    return kept


def chosen() -> bundle.PublishOptions:
    """Show the fields for the venue and the contents of the data set; return the options."""
    st.header("Contents", anchor=False)
    venue = st.selectbox("Venue", list(VENUES), format_func=VENUES.__getitem__)
    measurements = st.checkbox(
        "Include the measurements", value=True, help="Without the measurements, the data set has only their hashes."
    )
    names = st.checkbox(
        "Include the names of benchmarks and applications",
        value=True,
        help="If you leave out the names, numbers replace them.",
    )
    unlicensed = st.checkbox("Include items of applications without a source licence")
    resampled = st.checkbox(
        "Report with bootstrap and latent class",
        value=True,
        help="These computations take most of the time.",
    )
    report = reporting.STANDARD if resampled else reporting.QUICK
    return bundle.PublishOptions(venue, measurements, keep_benchmarks=names, unlicensed=unlicensed, report=report)


def data_set(db: Database, person: str, options: bundle.PublishOptions, *, ready: bool) -> None:
    """Ask for the comments to release, then create the data set and offer its zip file."""
    with st.expander("Comments of reviewers"):
        st.write("Comments are left out unless you release them. Download the file, mark each comment, and upload it.")
        st.download_button("Download comments.csv", partial(comments, db.path), "comments.csv", on_click="ignore")
        released = st.file_uploader("comments.csv with yes or no in each row of the column publish", type="csv")
    with st.form("publish"):
        name = st.text_input("Name of the new folder, in the folder of the study", f"{db.path.stem}-data")
        if st.form_submit_button("Publish the data set", type="primary", disabled=not ready):
            bar, whole_s = Bar("Creating the data set"), expected_s(db, options)
            with errors_here():
                out = folders.path_in_study_folder(db.path, name, "")
                background.output_of(
                    "publish", out, study=db.path, actor=person, for_=options.venue,
                    no_measurements=not options.measurements, unlicensed=options.unlicensed,
                    names_of_benchmarks="keep" if options.keep_benchmarks else "drop",
                    quick=options.report is reporting.QUICK, comments=released.getvalue() if released else None,
                    waiting=lambda seconds: bar.show(seconds, whole_s),
                )  # fmt: skip
                st.session_state[ARCHIVE] = out.with_name(f"{out.name}.zip")
            bar.end()
    made: Path | None = st.session_state.get(ARCHIVE)
    if made is not None and made.is_file():
        st.success(
            escape_markdown(
                f"Wrote {made.stem} and {made.name} to the folder of the study. Read the datasheet and the log."
            )
        )
        st.download_button(f"Download {made.name}", made.read_bytes, made.name, on_click="ignore")


def expected_s(db: Database, options: bundle.PublishOptions) -> float:
    """Return the approximate time to create the data set, in seconds."""
    report_s = reporting.EXPECTED_S[options.report is reporting.QUICK]
    return START_S + report_s + ITEM_S * len(coordinating.list_items(db)) * options.measurements


def comments(path: Path) -> str:
    """Return all comments as a table with an empty column `publish`; the table is created on request."""
    try:
        with open_database(path) as db:
            return bundle.comments_to_read(db)[0]
    except LabelerError as error:  # a download cannot show a message
        return f"{error}\n"
