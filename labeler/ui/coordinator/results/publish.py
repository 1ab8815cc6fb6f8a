"""A finished study as a data set: what only people know, what is still missing, and the files."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import streamlit as st

from labeler.errors import LabelerError
from labeler.plan.lifecycle import Action
from labeler.service.people import visibility
from labeler.service.results import reporting
from labeler.service.results.publishing import bundle, for_page
from labeler.service.results.publishing.answers import Venue
from labeler.store import Database, open_database
from labeler.ui.coordinator.escaping import plain, points
from labeler.ui.coordinator.shared import done, errors_here

VENUES = {
    None: "No particular venue",
    Venue.NEURIPS: "NeurIPS, datasets and benchmarks",
    Venue.ICSE: "ICSE, artefact evaluation",
    Venue.ZENODO: "Zenodo",
}
ARCHIVE = "published-archive"


def render(db: Database, person: str) -> None:
    """The answers, what they lack, and the data set."""
    st.write(
        "Make a data set that others can load, check and cite: labels, items, measurements, report, codebook, "
        "datasheet and metadata. Nobody is named in it."
    )
    hidden = visibility.why_not(db, person, Action.SEE_NAMES)
    if hidden:
        st.info(f"{hidden} Only an unblinded study can be published.")
        return
    text = answers(db)
    options = chosen()
    with errors_here():
        missing = for_page.lacking(db, text, options)
        if missing:
            st.warning("Still to be answered:\n\n" + points(missing))
        else:
            st.success("Every answer that is needed is there.")
        data_set(db, person, options, ready=not missing)


def answers(db: Database) -> str:
    """The answers that are kept beside the study, to be changed."""
    st.subheader("Answers that only people know", anchor=False)
    kept = for_page.answers_text(db, datetime.now(UTC).date())
    with st.form("answers"):
        text = st.text_area(
            "Answers", kept, height=420, help='Write between the quotes. "" means not answered yet. All is published.'
        )
        if st.form_submit_button("Save answers"):
            with errors_here():
                for_page.save_answers(db, text)
                done("Answers saved in publish.toml, beside the study.")
    return kept


def chosen() -> bundle.Options:
    """Who the data set is for, and what it has."""
    st.subheader("Contents", anchor=False)
    venue = st.selectbox("For", list(VENUES), format_func=VENUES.__getitem__)
    measurements = st.checkbox("With the measurements", value=True, help="Otherwise with their hashes only.")
    names = st.checkbox("With the names of benchmarks and applications", value=True, help="Otherwise with numbers.")
    unlicensed = st.checkbox("Also items of applications without a source licence")
    resampled = st.checkbox(
        "Report with bootstrap, latent class and test of misfit", value=True, help="This takes most of the time."
    )
    report = reporting.STANDARD if resampled else reporting.QUICK
    return bundle.Options(venue, measurements, keep_benchmarks=names, unlicensed=unlicensed, report=report)


def data_set(db: Database, person: str, options: bundle.Options, *, ready: bool) -> None:
    """Comments to be released, the button, and the zip file."""
    with st.expander("Comments of reviewers"):
        st.write("They are left out, unless you read each one and release it.")
        st.download_button("Download comments.csv", partial(comments, db.path), "comments.csv", on_click="ignore")
        released = st.file_uploader("The same file with yes or no in each row of the column publish", type="csv")
    with st.form("publish"):
        name = st.text_input("Name of the new folder beside the study", f"{db.path.stem}-data")
        if st.form_submit_button("Publish the data set", type="primary", disabled=not ready):
            progress = st.empty()
            st.session_state[ARCHIVE] = for_page.publish(
                db,
                name,
                options,
                released.getvalue() if released else None,
                actor=person,
                waiting=lambda seconds: progress.caption(f"Making the data set: {seconds:.0f} s"),
            )
            progress.empty()
    made: Path | None = st.session_state.get(ARCHIVE)
    if made is not None and made.is_file():
        st.success(plain(f"Wrote {made.stem} and {made.name}, beside the study. Read the datasheet and the log."))
        st.download_button(f"Download {made.name}", made.read_bytes, made.name, on_click="ignore")


def comments(path: Path) -> str:
    """Every comment with an empty column publish, when it is asked for."""
    try:
        with open_database(path) as db:
            return bundle.comments_to_read(db)[0]
    except LabelerError as error:  # there is no page to show it on
        return f"{error}\n"
