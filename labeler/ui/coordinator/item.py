"""Why: one item with its runs, the verdicts on it and what is behind them."""

import streamlit as st

from labeler.service import coordinating, evidence
from labeler.service.evidence import Reasoned
from labeler.store import Database


def render(db: Database, _person: str) -> None:
    """Choose an item; see its runs, then each classifier's verdict with means, matrix and reasons."""
    st.subheader("Item")
    names = [item.name for item in coordinating.list_items(db)]
    if not names:
        st.info("There are no items yet. Import measurements on the page Data.")
        return
    name = st.selectbox("Benchmark", names, key="item")
    item = evidence.item_named(db, name)
    st.caption(f"{item.n_runs} runs of {item.n_iterations} iterations or more. Runs are numbered from 1.")
    if item.n_runs:
        rule = st.radio("Vertical axis", ["core", "pooled", "full"], horizontal=True, key=f"axis-{name}")
        st.altair_chart(evidence.runs_of_item(db, item, rule), width="content")
    reasoned = evidence.reasoned_verdicts(db, item)
    if not reasoned:
        st.info("No classifier has judged this item yet. Compute verdicts on the page Verdicts.")
    for one in reasoned:
        explain(one, name)


def explain(one: Reasoned, name: str) -> None:
    """One verdict: what it is, why, and the numbers."""
    st.markdown(f"##### {one.headline}")
    for reason in one.reasons:
        st.write(reason)
    left, right = st.columns([2, 3])
    if one.verdict.means:
        left.altair_chart(evidence.means(one), width="content")
    if one.measures:
        measure = right.selectbox("Every two runs", one.measures, key=f"measure-{one.verdict.classifier}-{name}")
        right.altair_chart(evidence.matrix(one, measure), width="content")
