"""Compare all classifiers with one consensus, learn a classifier from labels, and explain reviewers' labels."""

from functools import partial
from typing import Any

import streamlit as st

from labeler.plan.lifecycle import Action
from labeler.service import background
from labeler.service.people import identity
from labeler.service.results import learning
from labeler.store import Database
from labeler.ui.coordinator.shared import Bar, document, download, errors_here

COMPARE, LEARN, REVIEWERS = "Compare all classifiers", "Learn a classifier", "Why reviewers disagree"
MEANINGS = {
    COMPARE: "Compares the AUC, rates and costs of all classifiers, including imported classifiers.",
    LEARN: "Learns a logistic model of the measures and evaluates it on held-out applications. This needs 60 items "
    "with a category, at least 10 per category, from 5 applications.",
    REVIEWERS: "Shows which measures predict each reviewer's labels, and whether all reviewers weight the measures "
    "equally.",
}
MONOTONE_HELP = "A higher dissimilarity of runs can never make an item more similar."
USUAL_S = 8.0
COST_HELP = "The cost of a missed dissimilar item, if a false alarm costs 1."


def render(db: Database, person: str) -> None:
    """Let the person choose a question, then show the result and offer its files for download."""
    st.write("Compare the classifiers with the labels, learn a classifier, or find out why reviewers disagree.")
    hidden = identity.why_hidden(db, person, Action.SEE_NAMES)
    if hidden:
        st.info(f"{hidden} The comparison of classifiers appears here.")
        return
    question = str(st.radio("Question", list(MEANINGS), horizontal=True, key="classifiers-question"))
    st.caption(MEANINGS[question])
    command, options = asked_for(question)
    key = f"classifiers-{command}-{options}"
    if st.button(question, type="primary"):
        bar = Bar("Computing")
        with errors_here():
            st.session_state[key] = background.files_of(
                command, into="out", study=db.path, actor=person, **options,
                waiting=lambda seconds: bar.show(seconds, USUAL_S),
            )  # fmt: skip
        bar.end()
    if key in st.session_state:
        show(st.session_state[key])


def asked_for(question: str) -> tuple[str, dict[str, Any]]:
    """Show the fields for the options of a question; return the command that answers the question, and its options."""
    if question == REVIEWERS:
        return "learn", {"by_reviewer": True}
    left, right = st.columns(2)
    target = left.selectbox("Truth", list(learning.TARGETS), format_func=learning.TARGETS.__getitem__, key="target")
    cost = right.number_input("Cost ratio", 0.05, 20.0, 1.0, 0.5, key="cost-ratio", help=COST_HELP)
    options = {"consensus": str(target), "cost_ratio": f"{cost:g}"}
    if question == COMPARE:
        return "compare", options
    monotone = left.checkbox("Monotone model", value=False, key="monotone", help=MONOTONE_HELP)
    return "learn", {**options, "monotone": monotone}


def show(files: dict[str, bytes]) -> None:
    """Show the report and offer its files for download."""
    page = next(content for name, content in files.items() if name.endswith(".html"))
    document(page.decode(), partial(download, files))
