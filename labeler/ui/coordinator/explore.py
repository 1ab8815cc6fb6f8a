"""The four methods: ask one about this study's measurements or about files, see its answer, take it away."""

from datetime import UTC, datetime
from typing import Any

import streamlit as st

from labeler.lifecycle import Action
from labeler.service import coordinating, evidence, exploring, sight
from labeler.service.exploring import Explored, Gathered
from labeler.store import Database
from labeler.ui.coordinator.explore_form import asked_for, chosen_files, of_files

STUDY, FILES = "of this study", "from files"


def render(db: Database, person: str, method: str) -> None:
    """Choose what to work on and how; the answer. The study's measurements: for those who may see verdicts."""
    st.subheader(exploring.METHODS[method].title)
    st.write(exploring.METHODS[method].question)
    if hidden := sight.why_not(db, person, Action.SEE_VERDICTS):  # spread decides one of them
        st.info(f"{hidden} Files can be explored at any time.")
    source = st.radio("Measurements", [FILES] if hidden else [STUDY, FILES], key=f"source-{method}-{bool(hidden)}")
    with st.form(f"form-{method}"):
        files = chosen_files(method) if source == FILES else None
        options = asked_for(method)
        asked = st.form_submit_button("Ask", type="primary")
    if asked:
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
