"""The four methods: ask one about this study's measurements or about files, see its answer, take it away."""

from datetime import UTC, datetime
from typing import Any

import streamlit as st

from labeler.errors import InputError
from labeler.plan.lifecycle import Action
from labeler.service.data import exploring, folders, importing
from labeler.service.data.exploring import Explored, Gathered
from labeler.service.people import visibility
from labeler.service.plan import coordinating
from labeler.service.verdicts import evidence
from labeler.store import Database

STUDY, FILES = "of this study", "from files"


def render(db: Database, person: str, method: str) -> None:
    """Choose what to work on and how; the answer. The study's measurements: for those who may see verdicts."""
    st.title(exploring.METHODS[method].title, anchor=False)
    st.write(exploring.METHODS[method].question)
    if hidden := visibility.why_not(db, person, Action.SEE_VERDICTS):  # spread decides one of them
        st.info(f"{hidden} Files can be explored at any time.")
    source = st.radio("Measurements", [FILES] if hidden else [STUDY, FILES], key=f"source-{method}-{bool(hidden)}")
    with st.form(f"form-{method}"):
        files = chosen_files(method) if source == FILES else None
        options = asked_for(method)
        submitted = st.form_submit_button("Ask", type="primary")
    if submitted:
        answer(method, of_study(db, person, method) if files is None else of_files(*files), options)


def of_study(db: Database, person: str, method: str) -> Gathered:
    """The study's measurements; that somebody looked is logged."""
    coordinating.log_look(db, method, actor=person, now=datetime.now(UTC))
    return exploring.from_study(db)


def answer(method: str, gathered: Gathered, options: dict[str, Any]) -> None:
    """Compute, with a progress bar while it lasts; show."""
    sampling = exploring.sampling(options.pop("warmup"), options.pop("aggregate"))
    bar = st.progress(0.0, "Computing …")
    try:
        explored = exploring.explore(
            method, gathered.benchmarks, sampling=sampling, **options,
            advance=lambda done, total: bar.progress(done / total, f"{done} of {total} benchmarks"),
        )  # fmt: skip
        show(explored, method)
    finally:
        bar.empty()


def show(explored: Explored, method: str) -> None:
    """The answer as a page, and everything to take away."""
    html = exploring.as_html(explored)
    with st.container(horizontal=True):
        st.download_button(f"{method}.html", html, f"{method}.html", on_click="ignore")
        st.download_button(f"{method}.json", exploring.as_json(explored), f"{method}.json", on_click="ignore")
        for name, chart in explored.charts.items():
            st.download_button(f"{name}.svg", evidence.as_file(chart, "svg"), f"{name}.svg", on_click="ignore")
    st.iframe(html, height=1400)


WARMUP = "Iterations, or a share below 1."
INSTRUMENTED = "The condition or factor that says how much was instrumented."
HELD_FIXED = "The level of the condition intervention at which the suspected cause is held fixed."


def chosen_files(method: str) -> tuple[list[Any], str]:
    """The files to work on, and what their names say of their runs."""
    files = st.file_uploader("Result files", folders.UPLOADED, accept_multiple_files=True, key=f"files-{method}")
    pattern = st.text_input("What their names say, such as {version}-{context}.json", key=f"pattern-{method}")
    return files, pattern.strip()


def of_files(files: list[Any], pattern: str) -> Gathered:
    """Their benchmarks; the files that could not be used are named."""
    if not files:
        raise InputError("Choose at least one file.")
    uploads = importing.uploads((file.name, file.getvalue()) for file in files)
    gathered = exploring.from_files(uploads, importing.read_options(pattern=pattern))
    for error in gathered.refused:
        st.error("This file was refused; everything else was read.")
        st.text(str(error))
    return gathered


def asked_for(method: str) -> dict[str, Any]:
    """The options as `exploring.explore` takes them, but warmup and aggregate, from which it takes a sampling."""
    left, middle, right = st.columns(3)
    options: dict[str, Any] = {
        "aggregate": left.selectbox("What stands for a run", exploring.AGGREGATES, key=f"aggregate-{method}"),
        "warmup": middle.number_input("Warm-up left out of each run", 0.0, key=f"warmup-{method}", help=WARMUP),
        "alpha": right.number_input("Level of the tests", 0.001, 0.5, 0.05, 0.01, "%.3f", key=f"alpha-{method}"),
    }
    left, middle, right = st.columns(3)
    if method == "spread":
        options["per"] = int(left.number_input("Average over so many runs (0: all)", 0, key="per")) or None
    if method == "trust":
        options["n_runs"] = int(left.number_input("How many runs one measures", 1, 100, 5, key="n-runs"))
    if method in ("order", "contexts"):
        options["baseline"] = left.text_input("Version to compare with [first]", key=f"baseline-{method}").strip()
        options["candidate"] = middle.text_input("Other version [second]", key=f"candidate-{method}").strip()
    if method == "contexts":
        options["instrumentation"] = right.text_input("Instrumentation", key="instrument", help=INSTRUMENTED).strip()
        options["held_fixed"] = left.text_input("Intervention", key="held-fixed", help=HELD_FIXED).strip()
    return {name: None if option == "" else option for name, option in options.items()}
