"""Split items: the third round before closing, decisions after it."""

from datetime import UTC, datetime

import streamlit as st

from labeler.model import Category, State, Study
from labeler.plan.lifecycle import Action
from labeler.service.data import drawing
from labeler.service.people import visibility
from labeler.service.plan import coordinating
from labeler.service.results import splits
from labeler.service.results.splits import Split
from labeler.store import Database
from labeler.ui import component
from labeler.ui.coordinator.escaping import plain


def render(db: Database, person: str) -> None:
    """How far the first labels are; from closing on the split items, and the form that decides one."""
    study = coordinating.get_study(db)
    hidden = visibility.why_not(db, person, Action.SEE_AGREEMENT)
    if hidden:
        n_complete, n_all = splits.n_complete(db)
        st.write(f"{n_complete} of {n_all} items have two first labels or more.")
        st.info(f"{hidden} The third round is started on the page Study, once all first labels are there.")
        return
    by_name = {split.item.name: split for split in splits.split_items(db)}
    n_left = sum(split.remains for split in by_name.values())
    st.write(f"{len(by_name)} split items; {n_left} have neither a majority nor a decision.")
    if "decided" in st.session_state:
        st.success(plain(st.session_state.pop("decided")))
    if by_name:
        st.dataframe([split.plain() for split in by_name.values()], hide_index=True)
        show(db, by_name[st.selectbox("Item", list(by_name), key="split")], study, person)


def show(db: Database, split: Split, study: Study, person: str) -> None:
    """One split item: its runs, what was said, and while the study is closed the form that decides it."""
    if split.item.n_runs:
        payload = drawing.payload_of_item(db, split.item.item_id)
        component.picture("split-picture", payload, item=split.item.name, title=split.item.name)
    for label in split.labels:
        third, comment = " (third label)" if label.is_third else "", f": {label.comment}" if label.comment else ""
        st.text(f"{label.category}{third}{comment}")
    if split.decision:
        st.text(f"Decided: {split.decision.category}. {split.decision.why}")
    if study.phase is State.CLOSED:
        decide(db, split, person)


def decide(db: Database, split: Split, person: str) -> None:
    """Why somebody cannot decide, or the form with which they do."""
    reason = splits.why_not_decide(db, person)
    if reason:
        st.info(reason)
        return
    name = split.item.name
    with st.form(f"decide-{name}"):
        category = st.radio("Your decision", list(Category), format_func=str.title, key=f"category-{name}", index=None)
        why = st.text_input("Why (kept with it)", key=f"why-{name}")
        if st.form_submit_button("Decide"):
            chosen = splits.adjudicate(db, name, category, why, actor=person, now=datetime.now(UTC))
            st.session_state["decided"] = f"{name} is decided: {chosen}."
            st.rerun()
