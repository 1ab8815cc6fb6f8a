"""The page Figures, which shows the figures of the paper with the measurements of this study."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from labeler.errors import InputError
from labeler.plan.lifecycle import Action
from labeler.service.items import browsing
from labeler.service.people import identity
from labeler.service.study import coordinating
from labeler.service.verdicts import evidence
from labeler.store import Database
from labeler.ui import component

SCHEMATIC = "Figure 1: measures on simulated pairs of runs"
BY_APPLICATION = "Figure 2: measures by application"
BY_BENCHMARK = "Figure 3: measures by benchmark of one application"
RUNS = "Figure 4: the runs of one benchmark"


def render(db: Database, person: str) -> None:
    """Let the person choose a figure, then show the figure and offer it for download."""
    st.write("This page draws the figures of the paper from the measurements of this study.")
    hidden = identity.why_hidden(db, person, Action.SEE_VERDICTS)
    if hidden:
        st.info(f"{hidden} Figures 2 and 3 show the measures behind the verdicts, so they are hidden too.")
    titles = [SCHEMATIC, RUNS] if hidden else [SCHEMATIC, BY_APPLICATION, BY_BENCHMARK, RUNS]
    title = st.selectbox("Figure", titles, key="figure")
    name, chart = chosen(db, title)
    words = title.partition(": ")[2].capitalize()
    component.still(evidence.as_svg(chart), words)
    st.caption(words)
    with st.container(horizontal=True):
        for form in evidence.FORMATS:
            make: Callable[[], bytes] = partial(evidence.as_file, chart, form)
            file = f"{name}.{form}"
            st.download_button(f"Download {file}", make, file, key=f"{name}-{form}", on_click="ignore")


def chosen(db: Database, title: str) -> tuple[str, Any]:
    """Show the fields for the options of a figure; return the file name and the chart of the figure."""
    if title == SCHEMATIC:
        return "schematic-pairs", evidence.schematic_pairs()
    if title == BY_APPLICATION:
        return "measures-by-application", evidence.by_application(db)
    if title == BY_BENCHMARK:
        application = st.selectbox("Application", evidence.applications(db), key="figure-application")
        return "measures-by-benchmark", evidence.by_benchmark(db, application)
    names = [item.name for item in coordinating.list_items(db)]
    if not names:
        raise InputError("There are no items yet. Add them on Items.")
    item = browsing.item_named(db, st.selectbox("Benchmark", names, key="figure-item"))
    views = evidence.views_of_items(db)
    view = st.radio("Vertical axis", list(views), horizontal=True, key="figure-axis", format_func=views.get)
    return "runs", evidence.runs_of_item(db, item, view)
