"""Why: one item with its runs, the verdicts on it and what is behind them."""

import streamlit as st

from labeler.plan.lifecycle import Action
from labeler.service.data import curating, drawing
from labeler.service.people import visibility
from labeler.service.plan import coordinating
from labeler.service.verdicts import evidence
from labeler.service.verdicts.evidence import Reasoned
from labeler.store import Database
from labeler.ui import component
from labeler.ui.coordinator.escaping import plain, points


def render(db: Database, person: str) -> None:
    """Choose an item; see its runs and every verdict; choose a classifier to see its reasons, means and matrix."""
    if not (names := [item.name for item in coordinating.list_items(db)]):
        st.info("There are no items yet. Import measurements on the page Data.")
        return
    name = st.selectbox("Benchmark", names, key="item")
    item = curating.item_named(db, name)
    if item.n_runs:
        component.picture("item-picture", drawing.payload_of_item(db, item.item_id), item=name, title=name)
    hidden = visibility.why_not(db, person, Action.SEE_VERDICTS)
    if hidden:
        st.info(hidden)
        return
    reasoned = evidence.reasoned_verdicts(db, item)
    if not reasoned:
        st.info("No classifier has judged this item yet. Compute verdicts on the page Verdicts.")
        return
    st.markdown(points(evidence.reasons_of(db, item)))
    by_name = {entry.verdict.classifier: entry for entry in reasoned}
    chosen = st.radio(
        "Verdict to explain",
        list(by_name),
        format_func=lambda classifier: plain(by_name[classifier].headline),
        horizontal=True,
        key=f"verdict-{name}",
    )
    explain(by_name[chosen], name)


def explain(reasoned: Reasoned, name: str) -> None:
    """One verdict: why, and the numbers."""
    st.markdown(points(reasoned.reasons))
    left, right = st.columns([2, 3])
    if reasoned.verdict.means:
        left.image(evidence.as_svg(evidence.means(reasoned)), "Mean over all pairs of runs", width="content")
    if reasoned.measures:
        measure = right.selectbox("Measure", reasoned.measures, key=f"measure-{reasoned.verdict.classifier}-{name}")
        caption = (
            "Every two runs. Frames: SAME's clusters, in the order of its tree." if reasoned.verdict.clusters else ""
        )
        svg = evidence.as_svg(evidence.matrix(reasoned, measure))
        right.image(svg, caption or "Every two runs.", width="content")
