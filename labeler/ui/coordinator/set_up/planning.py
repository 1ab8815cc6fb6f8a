"""Before the plan is drawn: how many items and hours, what to expect, what will not be told."""

import streamlit as st

from labeler.service.plan import planning
from labeler.service.plan.planning import Assumptions
from labeler.store import Database

STANDARD = Assumptions()


def render(db: Database, _person: str) -> None:
    """Ask for the design and what is assumed; show what follows."""
    n_items, n_reviewers, n_applications = planning.size_of_study(db)
    left, middle, right = st.columns(3)
    items = int(left.number_input("Items", 1, 100_000, max(n_items, 1)))
    reviewers = int(middle.number_input("Reviewers", 2, 100, max(n_reviewers, 2)))
    per_item = int(right.number_input("Reviewers per item", 2, reviewers, 2))
    overlap = left.slider("Share of items that all reviewers label", 0.0, 1.0, 0.2, 0.05)
    retest = int(middle.number_input("Hidden copies per reviewer (test-retest)", 0, 1000, 20))
    half_width = right.slider("Half-width wanted for every interval", 0.02, 0.30, STANDARD.half_width, 0.01)
    kappa = left.slider("Expected Fleiss' kappa", 0.0, 0.95, STANDARD.kappa, 0.05)
    prevalence = middle.slider("Expected share of dissimilar", 0.05, 0.95, STANDARD.prevalence, 0.05)
    seconds = right.number_input("Seconds for one label", 1.0, 3600.0, STANDARD.seconds)
    assumed = Assumptions(kappa, prevalence, seconds=seconds, half_width=half_width)
    sizes = planning.application_sizes(db, items)
    planned = planning.planned_design(sizes, reviewers, per_item, overlap, retest, n_applications or None)
    expectations, unknown = planning.expected_of(planned, assumed)
    left, right = st.columns(2)
    left.write("What this design gives to expect")
    left.dataframe(expectations, hide_index=True)
    right.write(f"What an interval of ±{half_width:g} takes")
    right.dataframe(planning.items_needed(assumed), hide_index=True)
    for sentence in unknown:
        st.warning(f"Will not be told: {sentence}.")
