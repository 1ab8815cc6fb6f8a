"""Publish a finished study as a data set: a form with a preview, what is missing, and the files."""

from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import streamlit as st

from analysis.text import counted
from labeler.errors import LabelerError
from labeler.studies import background
from labeler.studies.course import coordinating
from labeler.studies.handover import anonymising
from labeler.studies.handover.publishing import bundle, metadata
from labeler.studies.handover.publishing.publish_file import (
    ABOUT,
    FILE_NAME,
    GENERAL,
    SECTIONS,
    Author,
    PublishFile,
    Times,
    Venue,
    check_licence,
    to_toml,
)
from labeler.studies.items import folders
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Action
from labeler.studies.results import reporting, written_reports
from labeler.studies.store import Database, open_database
from labeler.studies.ui.coordinator.shared import Bar, done, errors_here, escape_markdown, fresh, markdown_list

VENUES = {
    None: "No particular venue",
    Venue.NEURIPS: "NeurIPS, datasets and benchmarks",
    Venue.ICSE: "ICSE, artefact evaluation",
    Venue.ZENODO: "Zenodo",
}
OF_DATA = ("CC-BY-4.0", "CC0-1.0", "CC-BY-SA-4.0", "ODbL-1.0", "CDLA-Permissive-2.0")
OF_SOURCES = ("Apache-2.0", "MIT", "BSD-3-Clause", "GPL-3.0-only", "LGPL-3.0-only", "EPL-2.0", "PSF-2.0")
FOLDS = {
    "": "Description and addresses",
    "data_set": "About the data set",
    "people": "About the reviewers",
    "privacy": "Privacy",
}  # section of publish.toml -> title of the fold
ARCHIVE, N_AUTHORS = "published-archive", "n-authors"  # keys in the session state
START_S, ITEM_S = 3.0, 0.05  # fixed time, and additional time per item with measurements


def render_publish(db: Database, person: str) -> None:
    """Show the form, and what may be published before the study is unblinded."""
    hidden = identity.why_hidden(db, person, Action.SEE_NAMES)
    if hidden:
        st.info(f"{hidden} Only an unblinded study can be published.")
    else:
        text = bundle.answers_text(db, datetime.now(UTC).date())
        with errors_here():
            publish(db, person, PublishFile.of_text(text))
        as_text(db, text)
    anonymised_copy(db, person)


def publish(db: Database, person: str, saved: PublishFile) -> None:
    """Show the form with the preview and what is missing; publish the data set."""
    top = st.container()
    left, right = st.columns([3, 2], gap="large")
    with left:
        answers = form(saved)
        options = contents()
        answers = more(answers)
    with right:
        preview(db, answers, options)
    if answers != saved:
        with top, errors_here():
            bundle.save_answers(db, to_toml(answers))
    missing = bundle.lacking(db, answers, options)
    with top:
        if missing:
            reasons = (capital(why.removesuffix(" (--unlicensed)")) for why in missing.values())
            st.warning(f"Still missing: {len(missing)}\n\n{markdown_list(reasons)}")
    data_set(db, person, options, ready=not missing)


def form(saved: PublishFile) -> PublishFile:
    """Show the fields for title, authors and licence; return the answers."""
    title = st.text_input("Title", saved.title, key=fresh("publish-title"))
    authors = saved.authors
    n_rows = max(1, len(authors), st.session_state.get(N_AUTHORS, 0))
    st.caption("Authors, in the order of citation")
    written = []
    for number in range(n_rows):
        author = authors[number] if number < len(authors) else Author("", "")
        columns = st.columns(len(fields(Author)))
        texts = [
            column.text_input(
                titled(entry.name), getattr(author, entry.name), key=fresh(f"{entry.name}-{number}"),
                help=capital(ABOUT[entry.name]) or None,
            )
            for column, entry in zip(columns, fields(Author), strict=True)
        ]  # fmt: skip
        author = Author(*map(str.strip, texts))
        written.append(author)
        if any(texts) and not (author.given_names and author.family_names):
            st.caption(f"Author {number + 1} is left out until given names and family names are filled in.")
    if st.button("Add an author"):
        st.session_state[N_AUTHORS] = n_rows + 1
        st.rerun()
    licence = licence_of("Licence of the labels", saved.licence, OF_DATA, "licence")
    named = tuple(author for author in written if author.given_names and author.family_names)
    return replace(saved, title=title.strip(), authors=named, licence=licence)


def licence_of(label: str, saved: str, usual: Iterable[str], key: str) -> str:
    """Show a field in which a usual licence can be chosen, or another one typed; a wrong one is refused below it."""
    known = list(dict.fromkeys([*usual, *([saved] if saved else [])]))
    chosen = st.selectbox(
        escape_markdown(label), known, known.index(saved) if saved else None, accept_new_options=True, key=fresh(key),
        placeholder="Choose a licence, or type another SPDX identifier",
    )  # fmt: skip
    licence = (chosen or "").strip()
    with errors_here():
        if licence:
            check_licence(licence, label)
        return licence
    return ""


def contents() -> bundle.PublishOptions:
    """Show the fields for the venue and the contents of the data set; return the options."""
    venue = st.selectbox("Venue", list(VENUES), format_func=VENUES.__getitem__)
    st.caption("Contents")
    measurements = st.checkbox(
        "Include the measurements", value=True, help="Without the measurements, the data set has only their hashes."
    )
    names = st.checkbox(
        "Include the names of benchmarks and applications", value=True,
        help="If you leave out the names, numbers replace them.",
    )  # fmt: skip
    unlicensed = st.checkbox("Include items of applications without a licence")
    html = st.checkbox(
        "Also write pages that need no server",
        help="The report, the picture of every item, and practice. Open html/index.html from the folder or any host.",
    )
    resampled = st.checkbox(
        "Report with bootstrap and latent class", value=True, help="These computations take most of the time."
    )
    report = reporting.STANDARD if resampled else reporting.QUICK
    return bundle.PublishOptions(
        venue, measurements, keep_benchmarks=names, unlicensed=unlicensed, html=html, report=report
    )


def more(saved: PublishFile) -> PublishFile:
    """Show the other questions in folds, and the licences of the applications; return the answers."""
    written: dict[str, object] = {}
    parts = {"": [name for name in GENERAL if name not in ("title", "licence")], **SECTIONS}
    for part, names in parts.items():
        with st.expander(FOLDS[part], type="compact"):
            for name in names:
                written[name] = field_of(name, getattr(saved, name))
    if saved.sources:
        with st.expander("Licences of the applications", type="compact"):
            written["sources"] = {
                application: licence_of(application, licence, OF_SOURCES, f"licence-{application}")
                for application, licence in saved.sources.items()
            }
    return replace(saved, **written)  # type: ignore[arg-type]  # each field keeps the type of its entry


def field_of(name: str, saved: object) -> object:
    """Show the field of one answer; return the answer."""
    label, key, about = titled(name), fresh(f"publish-{name}"), capital(ABOUT[name]) or None
    if isinstance(saved, bool):
        return st.checkbox(label, saved, key=key, help=about)
    if name == "times":
        return str(st.selectbox(label, [each.value for each in Times], list(Times).index(Times(str(saved))), key=key))
    if isinstance(saved, tuple):
        words = st.text_input(label, ", ".join(saved), key=key, help="Separate the words by commas.")
        return tuple(word.strip() for word in words.split(",") if word.strip())
    return st.text_input(label, str(saved), key=key, help=about).strip()


def titled(name: str) -> str:
    """Return the name of an entry as the label of a field, such as "Unsuitable uses"."""
    return {
        "doi": "DOI",
        "article_doi": "DOI of the article",
        "url": "Web address",
        "orcid": "ORCID",
        "measurements_url": "Web address of the measurements",
    }.get(name, capital(name.replace("_", " ")))


def capital(words: str) -> str:
    """Return words that begin with a capital letter."""
    return words[:1].upper() + words[1:]


def preview(db: Database, answers: PublishFile, options: bundle.PublishOptions) -> None:
    """Show how the data set will be cited, what it is about, and which files it will have."""
    with st.container(border=True, key="preview"):
        st.header("Preview", anchor=False)
        if answers.authors:
            st.write(escape_markdown(metadata.citation(answers)))
        else:
            st.caption("The citation appears here when there is an author.")
        status = coordinating.status(db)
        people = counted(sum(row.n_done > 0 for row in status.reviewers), "reviewer")
        n_items = sum(item.excluded_why is None for item in coordinating.list_items(db))
        names = "with the names of benchmarks" if options.keep_benchmarks else "without the names of benchmarks"
        st.write(f"{counted(n_items, 'item')}, {names}; {people}, only numbered.")
        files = bundle.contents(options)
        with st.expander(f"{len(files)} files and the figures of the report", type="compact"):
            st.markdown(markdown_list(f"{path}: {meaning}" for path, meaning in files.items()))


def data_set(db: Database, person: str, options: bundle.PublishOptions, *, ready: bool) -> None:
    """Create the data set and offer its zip file; ask for the comments to release."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input("Name of the new folder, in the folder of the study", f"{db.path.stem}-data", width=360)
        starts = st.button("Publish the data set", type="primary", disabled=not ready)
    place = st.container()
    with st.expander("Comments of reviewers", type="compact"):
        st.write("Comments are left out unless you release them. Download the file, mark each comment, and upload it.")
        st.download_button("Download comments.csv", partial(comments, db.path), "comments.csv", on_click="ignore")
        released = st.file_uploader("comments.csv with yes or no in each row of the column publish", type="csv")
    with place:
        if starts:
            bar, whole_s = Bar("Creating the data set"), expected_s(db, options)
            with errors_here():
                out = folders.path_in_study_folder(db.path, name, "")
                background.output_of(
                    "publish", study=db.path, out=out, actor=person, for_=options.venue,
                    no_measurements=not options.measurements, unlicensed=options.unlicensed, html=options.html,
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
    report_s = written_reports.EXPECTED_S[options.report is reporting.QUICK]
    return START_S + report_s + ITEM_S * len(coordinating.list_items(db)) * options.measurements


def comments(path: Path) -> str:
    """Return all comments as a table with an empty column `publish`; the table is created on request."""
    try:
        with open_database(path) as db:
            return bundle.comments_to_read(db)[0]
    except LabelerError as error:  # a download cannot show a message
        return f"{error}\n"


def as_text(db: Database, text: str) -> None:
    """Show the answers as the text of publish.toml, which can be edited or pasted."""
    with st.expander("Edit as text", type="compact"), st.form("answers", border=False):
        written = st.text_area(
            f"Answers ({FILE_NAME} in the folder of the study)", text, height=420, key=fresh("answers-text"),
            help='Write between the quotes. "" means not answered yet. All answers are published.',
        )  # fmt: skip
        if st.form_submit_button("Save answers"):
            with errors_here():
                bundle.save_answers(db, written)
                done(f"Answers saved in {FILE_NAME}, in the folder of the study.")


def anonymised_copy(db: Database, person: str) -> None:
    """Show the form that writes a copy of the study file without names."""
    with st.expander("Anonymised study file", type="compact"), st.form("anonymise", border=False):
        st.write("Write a copy of the study file without names into the folder of the study.")
        name = st.text_input("File name of the anonymised copy")
        keeps = st.checkbox(
            "Keep comments", help="Names in comments are replaced. Read the comments before you publish them."
        )
        if st.form_submit_button("Write the anonymised copy"):
            with errors_here():
                target = folders.path_in_study_folder(db.path, name)
                anonymising.anonymise(db, target, keep_comments=keeps, actor=person, now=datetime.now(UTC))
                st.success(
                    escape_markdown(f"Wrote {target.name} to the folder of the study. Reviewers are called R1, R2, …")
                )
