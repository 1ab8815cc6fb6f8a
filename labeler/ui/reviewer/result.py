"""The page Your result: a reviewer's labels beside those of the others, after the study."""

from collections.abc import Sequence

import streamlit as st

from labeler.model import counted
from labeler.service.labelling import own_result, reviewing
from labeler.service.labelling.own_result import ComparedItem, OwnResult, SameLabel
from labeler.store import Database
from labeler.ui import component

MOST_SHOWN = 6  # items with a picture
OWN_STUDY = "labeler serve --study runs.study"


def render(db: Database, reviewer_id: int, report: str | None = None, more: str | None = None) -> None:
    """Show how the reviewer's labels compare with those of the others and of the classifiers.

    `report` and `more` are the addresses of the whole study's report and of ten more items, in the demo.
    """
    found = own_result.own_result(db, reviewer_id)
    st.title("Your result", anchor=False)
    st.write(f"**{with_majority(found)}**")
    links(report, more)
    changed = [item for item in found.items if item.change]
    if changed:
        st.header("What was done to these benchmarks", anchor=False)
        for item in changed:
            st.text(f"Item {item.task.code}: {item.change}. Your label is {item.label}; {of_others(item)}.")
    if found.alone:
        st.header("Where you stood alone", anchor=False)
        pictures(db, found.alone)
    elif found.divided:
        st.header("You never stood alone", anchor=False)
        st.write("The other reviewers agreed least on these items:")
        pictures(db, found.divided)
    st.header("How often you gave the same label", anchor=False)
    left, right = st.columns(2, gap="large")
    with left:
        same_labels("Reviewer", found.reviewers)
    with right:
        same_labels("Classifier", found.classifiers)
    st.header("How strict you are", anchor=False)
    for line in strictness(found):
        st.text(line)
    st.header("Start your own study", anchor=False)
    st.write("This command creates an empty study and prints the link with which you set it up:")
    st.code(OWN_STUDY)


def with_majority(found: OwnResult) -> str:
    """Return the sentence that says on how many items the reviewer agrees with the majority of the others."""
    if not found.items:
        return "You have not labelled an item that others labelled, too."
    if not found.n_with_a_majority:
        return "The others have no majority on any of your items."
    return f"You agree with the majority on {found.n_with_majority} of {counted(found.n_with_a_majority, 'item')}."


def links(report: str | None, more: str | None) -> None:
    """Show the links of the demo."""
    if report is None:
        return
    with st.container(horizontal=True):
        st.link_button("See what the whole study found", report, type="primary")
        if more is not None:
            st.link_button("Label ten more", more)


def pictures(db: Database, shown: Sequence[ComparedItem]) -> None:
    """Show items with their pictures and labels."""
    for item in shown[:MOST_SHOWN]:
        picture, words = st.columns([2, 5], vertical_alignment="center")
        name = f"The runs of item {item.task.code}"
        still = reviewing.thumbnail(db, item.task, name)
        if still:
            with picture:
                component.still(still, name)
        done = f" Known change: {item.change}." if item.change else ""
        words.text(f"Item {item.task.code}: your label is {item.label}; {of_others(item)}.{done}")
    if len(shown) > MOST_SHOWN:
        st.text(f"And {counted(len(shown) - MOST_SHOWN, 'more item')}.")


def of_others(item: ComparedItem) -> str:
    """Return a clause with the labels of the others."""
    labels = sorted(item.others.items(), key=lambda row: (-row[1], row[0]))
    if not labels:
        return "nobody else labelled it"
    if len(labels) == 1:
        ((label, n),) = labels
        return f"the other reviewer says {label}" if n == 1 else f"all {n} others say {label}"
    return "of the others, " + " and ".join(f"{n} {'says' if n == 1 else 'say'} {label}" for label, n in labels)


def same_labels(title: str, rows: Sequence[SameLabel]) -> None:
    """Show with how many labels of each rater the reviewer's labels agree."""
    if not rows:
        st.text(f"No {title.lower()} has labels on your items.")
        return
    table = [{title: row.rater, "Same label": f"{row.n_same} of {row.n}"} for row in rows]
    st.table(table, border="horizontal", hide_index=True)


def strictness(found: OwnResult) -> list[str]:
    """Return a sentence for each label: the reviewer's share and the share of the others."""
    return [
        f"You labelled {100 * own:.0f} % of your items {label}; the others gave this label in {100 * others:.0f} %."
        for label, (own, others) in found.shares.items()
    ]
