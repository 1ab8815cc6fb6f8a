"""Who labels what: draw a plan, look at what it means, confirm it; afterwards, see and verify it."""

from dataclasses import asdict
from datetime import UTC, datetime

import streamlit as st

from labeler.errors import InputError
from labeler.model import PlanParameters, Study
from labeler.service.plan import assigning, coordinating, previewing, sampling, verifying
from labeler.service.plan.planning import Assumptions
from labeler.service.results import next_items
from labeler.store import Database
from labeler.ui.coordinator.escaping import plain
from labeler.ui.coordinator.shared import done


def render(db: Database, person: str) -> None:
    """The form and what its plan would be, as long as one can be drawn; the plan that stands."""
    study, fixed = coordinating.get_study(db), previewing.why_fixed(db)
    if fixed:
        st.info(fixed)
    else:
        draw(db, person)
    if study.plan_hash:
        standing(db, study)
        add_items(db, person)


def draw(db: Database, person: str) -> None:
    """Ask for a plan, show what everyone would get, what to expect and what not, and keep it if told so."""
    parameters, assumed = asked_for()
    progress = st.empty()
    try:
        preview = previewing.preview_for_page(
            db, parameters, assumed, waiting=lambda seconds: progress.caption(f"Drawing the plan: {seconds:.0f} s")
        )
    except InputError as error:
        st.info(plain(str(error)))
        return
    progress.empty()
    st.write(f"What each reviewer gets in the plan `{preview['hash']}`:")
    st.dataframe(preview["loads"], hide_index=True)
    digits = st.column_config.NumberColumn(format="%.3g")
    st.dataframe(preview["expected"], hide_index=True, column_config={"expected": digits, "half-width": digits})
    for sentence in preview["remarks"]:
        st.caption(plain(sentence))
    for sentence in preview["warnings"]:
        st.warning(plain(sentence))
    next_step = "begin the calibration round" if parameters.calibration else "open the study"
    if st.button(f"Confirm this plan and {next_step}", type="primary"):
        previewing.confirm_on_page(
            db,
            parameters,
            actor=person,
            now=datetime.now(UTC),
            waiting=lambda seconds: progress.caption(f"Saving the plan: {seconds:.0f} s"),
        )
        st.rerun()


def standing(db: Database, study: Study) -> None:
    """The plan that stands with its loads after every change, and the proof that it follows from seed and log."""
    st.write(f"Plan hash `{study.plan_hash}`")
    st.json(dict(study.plan_parameters or {}), expanded=False)
    st.dataframe(previewing.loads_now(db), hide_index=True)
    if st.button("Verify the plan"):
        result = verifying.verify_plan(db)
        st.write(f"Drawn: `{result.hash_drawn}`, changes since: {result.n_changes}, now: `{result.hash_now}`")
        for problem in result.problems:
            st.error(plain(f"The plan does not follow from its seed and the log: {problem}."))
        if not result.problems:
            st.success("The plan follows from its seed and the log.")


RANDOM_HELP = "Only items drawn at random enter agreement and shares; the others are chosen and would bias them."


def add_items(db: Database, person: str) -> None:
    """Items that wait, in a study that is planned bit by bit, and a button that adds some of them."""
    known = sampling.sampled(db)
    if known is None or not known.waiting:
        return
    st.header("Add items")
    st.write(
        f"{len(known.waiting)} items wait. A batch has a random share; the rest are items on which classifiers differ "
        "and a model of the labels so far is unsure. Reviewers cannot tell why an item came."
    )
    left, right = st.columns(2)
    n = int(left.number_input("Items to add", 1, len(known.waiting), min(40, len(known.waiting))))
    share = right.slider("Random share", 0.05, 1.0, 0.3, 0.05, help=RANDOM_HELP)
    if st.button("Add items to the plan"):
        added = next_items.next_items(db, n, random_share=share, actor=person, now=datetime.now(UTC))
        done(" ".join(added.sentences))


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
