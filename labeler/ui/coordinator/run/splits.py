"""The page Splits, for items whose first labels differ.

Before the study is closed, the page shows the progress of first labels; after that, it shows the split items and the
decisions.
"""

import streamlit as st

from labeler.model import State, counted
from labeler.plan.lifecycle import Action
from labeler.service.people import identity
from labeler.service.results import splits
from labeler.service.results.splits import Split
from labeler.service.study import coordinating
from labeler.store import Database
from labeler.ui.component import Decides
from labeler.ui.coordinator import queue
from labeler.ui.coordinator.shared import done

QUEUE, LISTED = "split", "splits-listed"
REASONS = (
    "another level",
    "a step within runs",
    "warm-up only",
    "single spikes",
    "wider spread",
    "only noise",
)


def render(db: Database, person: str) -> None:
    """Show the split items and their decisions; before the study is closed, show only the progress of first labels."""
    st.write(
        "Decide the final category of items whose first labels differ. You must not have labelled any of these items."
    )
    study = coordinating.get_study(db)
    hidden = identity.why_hidden(db, person, Action.SEE_AGREEMENT)
    if hidden:
        n_complete, n_all = splits.n_complete(db)
        st.write(f"{n_complete} of {n_all} items have at least two first labels.")
        st.info(f"{hidden} Split items then appear here. Third labels are assigned on the page Study.")
        return
    by_name = {split.item.name: split for split in splits.split_items(db)}
    n_left = sum(split.remains for split in by_name.values())
    left = f"without majority and decision: {n_left}" if n_left else "each has a majority or a decision"
    st.write(f"{counted(len(by_name), 'split item')}{f'; {left}' if by_name else ''}.")
    if not by_name:
        return
    names = list(by_name)
    name = queue.current(QUEUE, names)
    show(db, by_name[name], names, person, can_decide=study.phase is State.CLOSED)
    if st.toggle("List all split items", key=LISTED):  # created only when shown: there may be thousands of items
        st.dataframe([split.json_values() for split in by_name.values()], hide_index=True, placeholder="—")


def show(db: Database, split: Split, names: list[str], person: str, *, can_decide: bool) -> None:
    """Show the runs and the labels of a split item, without names.

    While the study is closed, the person can choose a category and a reason by key or click, and the component saves
    the decision.
    """
    name, question = split.item.name, coordinating.get_study(db).question
    why_not = splits.why_not_decide(db, person) if can_decide else ""
    decides = Decides("split", queue.categories_of(question), REASONS) if can_decide and not why_not else None
    keys = {**(queue.choices_of(question) if decides else {}), **queue.MOVES}
    caption = queue.place(names, name)
    pressed = queue.look(db, QUEUE, split.item, title=name, caption=caption, keys=keys, decides=decides)
    queue.move(QUEUE, names, name, pressed)
    if split.decision and queue.was_decided(QUEUE, name, pressed):
        left = [other.item.name for other in splits.split_items(db) if other.remains]
        queue.put(QUEUE, left[0] if left else names[(names.index(name) + 1) % len(names)])
        done(f"{name}: decided as {split.decision.category}. Split items that remain: {len(left)} of {len(names)}.")
    st.caption("Labels, without names")
    for label in split.labels:
        third, comment = " (third label)" if label.is_third else "", f": {label.comment}" if label.comment else ""
        st.text(f"{label.category}{third}{comment}")
    if split.decision:
        st.text(f"Decided: {split.decision.category}. {split.decision.why}")
    if why_not:
        st.info(why_not)
