"""The place Tools: the methods for the study or for files, the replication of the paper, and the planner."""

import hashlib
from collections.abc import Iterator
from dataclasses import Field, fields, is_dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, get_args

import streamlit as st

from labeler.errors import InputError, sentence
from labeler.files import exploring, outputs
from labeler.files.exploring import Gathered, MethodResult
from labeler.studies import background
from labeler.studies.course import coordinating
from labeler.studies.items import folders, importing, measured
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Action
from labeler.studies.results import replicating
from labeler.studies.store import Database
from labeler.studies.ui.coordinator import plan
from labeler.studies.ui.coordinator.clicks import READING, by_click
from labeler.studies.ui.coordinator.reading import ReadingFields, reading_fields
from labeler.studies.ui.coordinator.shared import Bar, document, download, errors_here, link

FROM_STUDY, FROM_FILES = "From this study", "From files"
PAPER = "https://doi.org/10.1145/3578245.3584693"
START_S, ITEM_S = 8.0, 0.03  # fixed time, and additional time per item
REPLICATION = "replication"


def render_method(db: Database, person: str, method: str) -> None:
    """Show the form for measurements and options, then the result.

    People who may not see verdicts cannot choose the study's measurements, but can upload files.
    """
    st.write(exploring.METHODS[method].question)
    if hidden := identity.why_hidden(db, person, Action.SEE_VERDICTS):  # the spread reveals the verdict of a classifier
        st.info(f"{hidden} You can analyse uploaded files at any time.")
    source = st.radio(
        "Measurements", [FROM_FILES] if hidden else [FROM_STUDY, FROM_FILES], key=f"source-{method}-{bool(hidden)}"
    )
    with st.form(f"form-{method}"):
        files = chosen_files(method) if source == FROM_FILES else None
        options = method_options(method)
        submitted = st.form_submit_button("Compute", type="primary")
    if submitted:
        with errors_here():
            compute(method, gather_study(db, person, method) if files is None else gather_files(*files), options)


def gather_study(db: Database, person: str, method: str) -> Gathered:
    """Return the measurements of the study; the log records the access."""
    coordinating.log_look(db, method, actor=person, now=datetime.now(UTC))
    return measured.from_study(db)


def compute(method: str, gathered: Gathered, options: dict[str, Any]) -> None:
    """Compute the result with a progress bar, then show it."""
    given = options_given(exploring.METHODS[method].code().options, options)
    bar = st.progress(0.0, "Computing …")
    try:
        explored = exploring.explore(
            method, gathered.benchmarks, **given,
            advance=lambda done, total: bar.progress(done / total, f"{done} of {total} benchmarks"),
        )  # fmt: skip
        show_result(explored, method)
    finally:
        bar.empty()


def show_result(explored: MethodResult, method: str) -> None:
    """Show the result as a page, and offer its files for download."""
    page = by_click(exploring.as_html(explored))
    figures = {f"{name}.svg": outputs.as_file(chart, "svg") for name, chart in explored.charts.items()}
    files: dict[str, str | bytes] = {f"{method}.html": page, f"{method}.json": exploring.as_json(explored), **figures}
    document(page, partial(download, files))


def chosen_files(method: str) -> tuple[list[Any], ReadingFields]:
    """Show the fields for result files and for how to read them; return the files and these fields."""
    files = st.file_uploader("Result files", folders.UPLOADED, accept_multiple_files=True, key=f"files-{method}")
    with st.expander(READING, type="compact"):
        return files, reading_fields(method)


def gather_files(files: list[Any], reading: ReadingFields) -> Gathered:
    """Read the benchmarks of the files; show an error for each file that cannot be used."""
    if not files:
        raise InputError("Choose at least one file.")
    uploads = importing.uploads((file.name, file.getvalue()) for file in files)
    gathered = exploring.from_files(uploads, reading.options())
    for error in gathered.refused:
        st.error("This file was refused; all other files were read.")
        st.text(by_click(str(error)))
    return gathered


def method_options(method: str) -> dict[str, Any]:
    """Show a field for each option of the method that has a label, and return what people entered, by option."""
    return _entered(exploring.METHODS[method].code().options, _columns(), method)


def _columns() -> Iterator[Any]:
    """Yield columns from left to right, in rows of three; a narrow screen shows them one below the other."""
    while True:
        yield from st.columns(3)


def _entered(kind: Any, columns: Iterator[Any], method: str) -> dict[str, Any]:
    """Show the fields for the options of a dataclass, from left to right."""
    entered: dict[str, Any] = {}
    for option in fields(kind):
        if is_dataclass(option.default):
            entered[option.name] = _entered(option.default, columns, method)
        elif "label" in option.metadata:
            entered[option.name] = _field(option, next(columns), f"{option.name}-{method}")
    return entered


def _field(option: Field[Any], column: Any, key: str) -> Any:
    """Show the field of one option: a list of choices, a number, or a text."""
    about = option.metadata
    default, also = about.get("on_page", option.default), {"key": key, "help": about["help"]}
    if isinstance(default, bool):
        return column.checkbox(about["label"], default, **also)
    if "choices" in about:
        choices = [*([] if default else [""]), *about["choices"]]
        return column.selectbox(about["label"], choices, choices.index(default or ""), **also) or None
    if "within" in about and "or" not in about:
        is_whole = int in (get_args(option.type) or (option.type,))
        form = {"step": 1} if is_whole else {"step": 0.01, "format": "%.3f"}
        return column.number_input(about["label"], value=default, **form, **also)
    return column.text_input(about["label"], "" if default is None else str(default), **also).strip() or None


def options_given(kind: Any, entered: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a survey; raise InputError if an option that is a dataclass refuses what was entered."""
    given: dict[str, Any] = {}
    for option in fields(kind):
        value = entered.get(option.name)
        if is_dataclass(option.default):
            part: Any = type(option.default)
            try:
                given[option.name] = part(**options_given(part, value or {}))
            except ValueError as error:
                raise InputError(sentence(error)) from None
        elif value is not None:
            given[option.name] = _number(value) if "or" in option.metadata else value
    return given


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def render_replication(db: Database, person: str) -> None:
    """Show the button that starts the comparison; after the comparison, show the claims and offer the files."""
    st.write(
        f"Compare every claim of the [paper by Bauer et al. (2023)]({PAPER}) with the measurements of this study. "
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
            st.session_state[REPLICATION] = version, files
        bar.end()
    made_from, files = st.session_state.get(REPLICATION, ("", {}))
    if made_from != version:
        return
    document(files["replication.html"].decode(), partial(download, files))


def render_planner(db: Database, _person: str) -> None:
    """Show the sliders of a plan for any number of items and reviewers."""
    parameters, _ = plan.design_sliders(100, 4).completed(100)
    plan.show_what_if(parameters, plan.ask_assumptions(coordinating.get_study(db).question))
