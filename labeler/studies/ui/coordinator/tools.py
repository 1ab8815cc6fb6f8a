"""The place Tools: the methods for the study or for files, the replication of the paper, and the planner."""

import hashlib
from datetime import UTC, datetime
from functools import partial
from typing import Any

import streamlit as st

from labeler.errors import InputError
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
    if "warmup" in options:
        options["per_run"] = exploring.per_run(options.pop("warmup"), options.pop("aggregate"))
    bar = st.progress(0.0, "Computing …")
    try:
        explored = exploring.explore(
            method, gathered.benchmarks, **options,
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


WARMUP_HELP = "Enter a number of iterations, a share below 1, or auto to find its end by the quick rule."
RULE_HELP = "quick takes about 20 ms per run of 3,000 iterations, published about 0.4 s."
INSTRUMENTED_HELP = "Enter the condition or factor that gives the amount of instrumentation."
HELD_FIXED_HELP = "Enter the intervention level at which the suspected cause is held fixed."


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
    """Show the fields for the options of `exploring.explore` and return their values.

    The caller converts `warmup` and `aggregate` to a sampling.
    """
    if method == "steady":
        return {"rule": st.selectbox("Rule", exploring.STEADY_RULES, 1, key="rule", help=RULE_HELP)}
    left, middle, right = st.columns(3)
    options: dict[str, Any] = {
        "aggregate": left.selectbox("Value per run", exploring.AGGREGATES, key=f"aggregate-{method}"),
        "warmup": middle.text_input("Warm-up to discard per run", "0", key=f"warmup-{method}", help=WARMUP_HELP),
    }
    if method == "trend":
        at = exploring.DETECTORS.index(exploring.DEFAULT_DETECTOR)
        return options | {"detector": right.selectbox("Detector", exploring.DETECTORS, at, key="detector")}
    options["alpha"] = right.number_input("Significance level", 0.001, 0.5, 0.05, 0.01, "%.3f", key=f"alpha-{method}")
    left, middle, right = st.columns(3)
    if method == "spread":
        options["per"] = int(left.number_input("Runs per subset (0: all runs)", 0, key="per")) or None
    if method == "trust":
        options["n_runs"] = int(left.number_input("Runs per measurement", 1, 100, 5, key="n-runs"))
    if method in ("order", "contexts"):
        options["baseline"] = left.text_input("Baseline version [first]", key=f"baseline-{method}").strip()
        options["candidate"] = middle.text_input("Candidate version [second]", key=f"candidate-{method}").strip()
    if method == "contexts":
        options["instrumentation"] = right.text_input(
            "Instrumentation", key="instrument", help=INSTRUMENTED_HELP
        ).strip()
        options["held_fixed"] = left.text_input("Intervention", key="held-fixed", help=HELD_FIXED_HELP).strip()
    return {name: None if option == "" else option for name, option in options.items()}


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
