"""Who labels what: draw a plan, look at it, confirm it."""

from dataclasses import asdict
from datetime import UTC, datetime

import streamlit as st

from labeler.model import PlanParameters
from labeler.service import coordinating
from labeler.store import Database


def render(db: Database, person: str) -> None:
    """The plan that stands, or a form that draws one."""
    st.subheader("Plan")
    status = coordinating.status(db)
    if status.study.plan_hash:
        st.write(f"Plan hash `{status.study.plan_hash}`")
        st.json(dict(status.study.plan_parameters or {}), expanded=False)
    if status.n_answers:
        st.info("Reviewers have begun; the plan stands.")
        return
    parameters = asked_for()
    plan = coordinating.preview_plan(db, parameters)
    st.write("What each reviewer gets:")
    loads = [{"reviewer": name, **dict(load), "in all": load.total()} for name, load in sorted(plan.loads().items())]
    st.dataframe(loads, hide_index=True)
    for shortfall in plan.shortfalls:
        st.caption(f"Not met: {shortfall}.")
    if st.button("Confirm this plan and open the study", type="primary"):
        coordinating.confirm_plan(db, parameters, actor=person, now=datetime.now(UTC))
        st.rerun()


def asked_for() -> PlanParameters:
    """The form's answers."""
    st.session_state.setdefault("plan-seed", coordinating.random_seed())
    design = st.radio("Design", ["Balanced blocks", "The paper's: random parts, one pair each"], horizontal=True)
    seed = int(st.number_input("Seed", min_value=0, max_value=2**31 - 1, key="plan-seed"))
    if design != "Balanced blocks":
        return PlanParameters(seed, overlap=0, retest=0, paper=True)
    standard = asdict(PlanParameters(seed))
    per_item = st.number_input("Reviewers per item", 2, 20, standard["per_item"])
    overlap = st.slider("Share of items that all reviewers label", 0.0, 1.0, standard["overlap"], 0.05)
    retest = st.number_input("Hidden copies per reviewer (test-retest)", 0, 1000, standard["retest"])
    return PlanParameters(seed, int(per_item), overlap, int(retest))
