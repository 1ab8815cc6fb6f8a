"""The view Splits: items whose first labels differ and that have no majority.

Before the study is closed, the view shows the progress of first labels; after that, it shows the split items and the
decisions.
"""

from collections import Counter
from datetime import UTC, datetime

import streamlit as st

from labeler import marks
from labeler.model import State, counted
from labeler.plan.lifecycle import Action
from labeler.service.people import identity
from labeler.service.plan.mark_consensus import MarksOfItem
from labeler.service.results import splits
from labeler.service.results.splits import Split
from labeler.service.study import coordinating
from labeler.store import Database
from labeler.ui.component import Decides
from labeler.ui.coordinator import queue
from labeler.ui.coordinator.shared import done, fold, fresh

QUEUE, LAST, AGAIN = "split", "last-decided", "u"
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
    study = coordinating.get_study(db)
    hidden = identity.why_hidden(db, person, Action.SEE_AGREEMENT)
    if hidden:
        n_complete, n_all = splits.n_complete(db)
        st.write(
            f"Splits appear here after you close the study. {n_complete} of {counted(n_all, 'item')} have all first "
            "labels."
        )
        if identity.reviews_too(db, person):
            st.caption(hidden)
        return
    by_name = {split.item.name: split for split in splits.split_items(db)}
    n_left = sum(split.remains for split in by_name.values())
    if not by_name:
        st.info("Nothing to decide: no item is split.")
        return
    if not n_left:
        st.write(f"Nothing to decide: each of the {counted(len(by_name), 'split item')} has a majority or a decision.")
    names = list(by_name)
    name = queue.current(QUEUE, names)
    show(db, by_name[name], names, person, can_decide=study.phase is State.CLOSED)
    with fold(f"All {counted(len(names), 'split item')}", "fold-split-items") as part:
        if part.open:  # created only when shown: there may be thousands of items
            rows = [split.json_values() for split in by_name.values()]
            st.dataframe(rows, hide_index=True, placeholder="—", alt="All split items with their labels and decisions")


def show(db: Database, split: Split, names: list[str], person: str, *, can_decide: bool) -> None:
    """Show the runs and the labels of a split item, without names.

    While the study is closed, the person chooses a category and a reason by key or click; the reason saves.
    """
    if split.marks is not None:
        show_marks(db, split, split.marks, names, person, can_decide=can_decide)
        return
    name, question = split.item.name, coordinating.get_study(db).question
    why_not = splits.why_not_decide(db, person) if can_decide else ""
    decides = Decides("split", queue.categories_of(question), REASONS) if can_decide and not why_not else None
    keys = {**(queue.choices_of(question) if decides else {}), **queue.MOVES}
    if decides and LAST in st.session_state:
        keys[AGAIN] = "Decide the last one again"
    counts = Counter(str(label.category) for label in split.labels)
    labels = ", ".join(f"{n} {category}" for category, n in counts.items())
    caption = f"{queue.place(names, name)} · labels: {labels}"
    pressed = queue.look(db, QUEUE, split.item, title=name, caption=caption, keys=keys, decides=decides)
    if pressed and pressed.key == AGAIN and st.session_state.get(LAST) in names:
        queue.put(QUEUE, st.session_state.pop(LAST))
        st.rerun()
    queue.move(QUEUE, names, name, pressed)
    if split.decision and queue.was_decided(QUEUE, name, pressed):
        st.session_state[LAST] = name
        go_on(db, names, name, split.decision.category)
    list_labels(split)
    if why_not:
        st.info(why_not)
    elif decides:
        st.caption("The reason saves the decision and shows the next item. A later decision replaces an earlier one.")


def go_on(db: Database, names: list[str], name: str, decision: str) -> None:
    """After a decision on an item, show the next item that needs one."""
    left = [other.item.name for other in splits.split_items(db) if other.remains]
    queue.put(QUEUE, left[0] if left else names[(names.index(name) + 1) % len(names)])
    done(f"Saved: {marks.describe(decision)}. {len(left) or 'None'} left.", stays=True)


def list_labels(split: Split) -> None:
    """List the labels and comments without names, and the decision."""
    for label in split.labels:
        third, comment = " (third label)" if label.is_third else "", f": {label.comment}" if label.comment else ""
        st.text(f"{marks.describe(label.category)}{third}{comment}")
    if split.decision:
        st.text(f"Decided: {marks.describe(split.decision.category)}. {split.decision.why}")


def show_marks(
    db: Database, split: Split, found: MarksOfItem, names: list[str], person: str, *, can_decide: bool
) -> None:
    """Show a series with the places that people marked; while the study is closed, the person chooses which count."""
    name = split.item.name
    why_not = splits.why_not_decide(db, person) if can_decide else ""
    shown = [(cluster.mark, cluster.share) for cluster in found.clusters]
    pressed = queue.look(db, QUEUE, split.item, title=name, caption=queue.place(names, name), marks=shown)
    queue.move(QUEUE, names, name, pressed)
    may_decide = can_decide and not why_not
    decided = marks.read(split.decision.category) if split.decision else None
    chosen = [
        cluster
        for number, cluster in enumerate(found.clusters)
        if st.checkbox(
            f"Point {cluster.describe()}",
            value=cluster in found.agreed if decided is None else cluster.mark in decided,
            disabled=not may_decide,
            key=f"mark-{name}-{number}",
        )
    ]
    if may_decide:
        answer = splits.answer_of(split, chosen)
        why = st.text_input("Reason", key=fresh(f"why-{name}"), max_chars=900)
        if st.button(f"Save {marks.describe(answer)}", type="primary", disabled=not why.strip()):
            splits.adjudicate(db, name, answer, why, actor=person, now=datetime.now(UTC))
            go_on(db, names, name, answer)
        st.caption("The choice begins with the places that more than half of the people marked.")
    list_labels(split)
    if why_not:
        st.info(why_not)
