"""What a plan is drawn from, asked for."""

from dataclasses import asdict

import streamlit as st

from labeler.model import PlanParameters
from labeler.service import assigning
from labeler.service.planning import Assumptions

BALANCED, PAPER = "Balanced blocks", "The paper's: random parts, one pair each"


def asked_for() -> tuple[PlanParameters, Assumptions]:
    """The answers, and what is assumed of the labels."""
    st.session_state.setdefault("plan-seed", assigning.random_seed())
    design = st.radio("Design", [BALANCED, PAPER], horizontal=True)
    left, right = st.columns(2)
    seed = int(left.number_input("Seed", min_value=0, max_value=2**31 - 1, key="plan-seed"))
    calibration = int(left.number_input("Calibration items, labelled by all before the study", 0, 1000, 0))
    assumed = Assumptions(seconds=right.number_input("Seconds for one label", 1.0, 3600.0, Assumptions().seconds))
    if design == PAPER:
        return PlanParameters(seed, overlap=0, retest=0, paper=True, calibration=calibration), assumed
    standard = asdict(PlanParameters(seed))
    per_item = int(right.number_input("Reviewers per item", 2, 20, standard["per_item"]))
    overlap = left.slider("Share of items that all reviewers label", 0.0, 1.0, standard["overlap"], 0.05)
    retest = int(right.number_input("Hidden copies per reviewer (test-retest)", 0, 1000, standard["retest"]))
    return PlanParameters(seed, per_item, overlap, retest, calibration=calibration), assumed
