"""The page Splits, for items whose first labels differ.

Before the study is closed, the page shows the progress of first labels; after that, it shows the split items and the
decisions.
"""

from datetime import UTC, datetime

import streamlit as st

from labeler.model import Category, State, counted
from labeler.plan.lifecycle import Action
from labeler.service.people import identity
from labeler.service.results import splits
from labeler.service.results.splits import Split
from labeler.service.study import coordinating
from labeler.store import Database
from labeler.ui.coordinator import queue
from labeler.ui.coordinator.shared import done, errors_here

QUEUE, LISTED = "split", "splits-listed"
CHOSEN = "split-chosen-by-key"  # in the session state: item, key, and number of such choices
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

    While the study is closed, also show the decision form.
    """
    name = split.item.name
    why_not = splits.why_not_decide(db, person) if can_decide else ""
    decides = can_decide and not why_not
    keys = {**(queue.CHOICES if decides else {}), **queue.MOVES}
    pressed = queue.look(db, QUEUE, split.item, title=name, caption=queue.place(names, name), keys=keys)
    queue.move(QUEUE, names, name, pressed)
    if pressed and pressed.key in queue.CATEGORIES:
        st.session_state[CHOSEN] = name, pressed.key, st.session_state.get(CHOSEN, ("", "", 0))[2] + 1
    st.caption("Labels, without names")
    for label in split.labels:
        third, comment = " (third label)" if label.is_third else "", f": {label.comment}" if label.comment else ""
        st.text(f"{label.category}{third}{comment}")
    if split.decision:
        st.text(f"Decided: {split.decision.category}. {split.decision.why}")
    if why_not:
        st.info(why_not)
    elif decides:
        decide(db, split, names, person)


def decide(db: Database, split: Split, names: list[str], person: str) -> None:
    """Show the form for a decision: a category, chosen by key or click, and a reason.

    Nothing is preselected.
    """
    name = split.item.name
    item, pressed, n_chosen = st.session_state.get(CHOSEN, ("", "", 0))
    with st.container(border=True):
        category = st.segmented_control(
            "Your decision",
            list(Category),
            format_func=str.title,
            key=f"category-{name}-{n_chosen}",  # a new widget: the browser may still send the previous choice
            default=queue.CATEGORIES[pressed] if item == name else None,
        )
        reason = st.pills("Reason", REASONS, key=f"reason-{name}", default=None)
        why = st.text_input("Your own reason", key=f"why-{name}")
        if not st.button("Save the decision", type="primary", key=f"decide-{name}"):
            return
        with errors_here():
            text = ": ".join(filter(None, (reason, why.strip())))
            chosen = splits.adjudicate(db, name, category, text, actor=person, now=datetime.now(UTC))
            left = [other.item.name for other in splits.split_items(db) if other.remains]
            queue.put(QUEUE, left[0] if left else names[(names.index(name) + 1) % len(names)])
            done(f"{name}: decided as {chosen}. Split items that remain: {len(left)} of {len(names)}.")
