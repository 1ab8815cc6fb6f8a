"""The page Plan, on which coordinators design, confirm and verify the plan.

For each design, the page shows the load of the reviewers and the expected precision before the plan is confirmed.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from labeler.errors import InputError
from labeler.model import PlanParameters, Study, counted
from labeler.screen import course_charts
from labeler.service.plan import assigning, item_batches, planning, previewing, verifying
from labeler.service.plan.planning import Assumptions
from labeler.service.results import next_items
from labeler.service.study import coordinating
from labeler.store import Database
from labeler.ui.coordinator.escaping import escape_markdown, points
from labeler.ui.coordinator.shared import done, done_at

REDRAW, MIN_BATCH = "draw-another-plan", 2
BATCH = "Items in the first batch (0: all items at once)"
BATCH_HELP = """Begin with this number of random items. While the study is open, you can add more items on this page:
some at random, the others because their labels are most informative."""
BALANCED, PAPER = "Balanced blocks", "Design of the paper: random parts, one pair of reviewers each"
STANDARD = Assumptions()
GRID = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4)  # shares of the study's items for which the figure shows the precision
PARAMETERS = {
    "seed": "Seed", "per_item": "Reviewers per item", "overlap": "Share of items that all reviewers label",
    "retest": "Hidden retests per reviewer", "calibration": "Calibration items", "paper": "Design of the paper",
    "exact_overlap": "Share of all items, not of each application",
    "stop_half_width": "Stopping rule: half-width of the interval of kappa",
}  # fmt: skip


def render(db: Database, person: str) -> None:
    """Show the current plan; while a plan can be created, also offer a design."""
    st.write(
        "Choose who labels which items. The design sets the load of each reviewer and the precision of the results."
    )
    study, fixed = coordinating.get_study(db), previewing.why_fixed(db)
    if fixed:
        st.info(fixed)
    if study.plan_hash:
        standing(db, study)
        add_items(db, person)
    if not fixed and (
        not study.plan_hash or st.toggle("Create another plan, which replaces the current plan", key=REDRAW)
    ):
        draw(db, person)


def draw(db: Database, person: str) -> None:
    """Show the fields for a design with its loads and expected precision; save the plan if the person confirms it."""
    n_items, n_reviewers, _ = planning.size_of_study(db)
    parameters, first, assumed = asked_for(n_items)
    progress = st.empty()
    try:
        preview = previewing.preview_for_page(
            db,
            parameters,
            assumed,
            first=first,
            waiting=lambda seconds: progress.caption(f"Creating the plan: {seconds:.0f} s"),
        )
    except InputError as error:
        st.info(escape_markdown(str(error)))
        what_if(parameters, assumed)
        return
    progress.empty()
    st.subheader("Load of each reviewer", anchor=False)
    st.dataframe(preview["loads"], hide_index=True)
    st.caption(f"Plan `{preview['hash']}`")
    n_planned = max((first or n_items) - parameters.calibration, 1)
    expected_precision(preview["expected"], n_planned, n_reviewers, parameters, assumed)
    for sentence in preview["remarks"]:
        st.caption(escape_markdown(sentence))
    cannot_estimate([sentence.removeprefix(previewing.CANNOT_ESTIMATE) for sentence in preview["warnings"]])
    next_step = "begin the calibration round" if parameters.calibration else "open the study"
    if st.button(f"Confirm this plan and {next_step}", type="primary"):
        previewing.confirm_on_page(
            db,
            parameters,
            first=first,
            actor=person,
            now=datetime.now(UTC),
            waiting=lambda seconds: progress.caption(f"Saving the plan: {seconds:.0f} s"),
        )
        n_labels = sum(row["in all"] for row in preview["loads"])
        opened = "The calibration round has begun" if parameters.calibration else "The study is open"
        done_at(f"Plan saved: {counted(n_labels, 'label')} for {counted(n_reviewers, 'reviewer')}. {opened}.", "Study")


def what_if(parameters: PlanParameters, assumed: Assumptions) -> None:
    """Show the expected precision for a chosen size, before the study has items and reviewers."""
    st.subheader("Try a study size", anchor=False)
    left, right = st.columns(2)
    n_items = int(left.number_input("Items", 2, 100_000, 100))
    n_reviewers = int(right.number_input("Reviewers", 2, 100, max(4, parameters.per_item)))
    per_item = min(parameters.per_item, n_reviewers)
    planned = planning.planned_design([n_items], n_reviewers, per_item, parameters.overlap, parameters.retest, None)
    expectations, unknown = planning.expected_of(planned, assumed)
    expected_precision(expectations, n_items, n_reviewers, parameters, assumed)
    cannot_estimate([f"{sentence}." for sentence in unknown])


def expected_precision(
    rows: Sequence[dict[str, Any]], n_items: int, n_reviewers: int, parameters: PlanParameters, assumed: Assumptions
) -> None:
    """Show the expected values, and the number of items that each interval needs.

    A figure shows the half-width of the interval of kappa by number of items.
    """
    st.subheader("Expected precision", anchor=False)
    digits = st.column_config.NumberColumn(format="%.3g")
    config = {"expected": digits, "half-width": digits, "hours": st.column_config.NumberColumn(format="%.1f")}
    st.dataframe(rows, hide_index=True, column_config=config, placeholder="—")
    with st.expander(f"Items needed for intervals of ±{assumed.half_width:g}"):
        needed = planning.items_needed(assumed)
        st.dataframe(needed, hide_index=True, column_config=config, placeholder="—")
    sizes = sorted({max(2, round(share * n_items)) for share in GRID})
    per_item = {parameters.per_item, 2, 3, 4}
    curve = planning.precision(sizes, n_reviewers, parameters.overlap, assumed, per_item=sorted(per_item))
    if curve:
        st.altair_chart(course_charts.precision(curve, wanted=assumed.half_width, planned=n_items))
        st.caption(
            "Half-width of the interval of Fleiss' kappa. Vertical line: this study. Dashed line: target half-width."
        )


def cannot_estimate(sentences: Sequence[str]) -> None:
    """Show a warning that lists what the plan cannot estimate; show nothing if the list is empty."""
    if sentences:
        st.warning(f"This plan cannot estimate:\n{points(sentences)}")


def standing(db: Database, study: Study) -> None:
    """Show the current plan with its loads, and a button that verifies the plan against its seed and the log."""
    st.subheader("Current plan", anchor=False)
    st.write(f"Plan hash `{study.plan_hash}`")
    loads = previewing.loads_now(db)
    st.dataframe(loads, hide_index=True)
    chosen = study.plan_parameters or {}
    planned = {"retest": min((row.get("retest", 0) for row in loads), default=0)}
    st.dataframe(
        [
            {"design": PARAMETERS.get(name, name), "value": describe_value(value, planned.get(name))}
            for name, value in chosen.items()
        ],
        hide_index=True,
    )
    if st.button("Verify the plan"):
        result = verifying.verify_plan(db)
        st.write(
            f"Original plan: `{result.hash_drawn}`. Changes: {result.n_changes}. Current plan: `{result.hash_now}`."
        )
        for problem in result.problems:
            st.error(escape_markdown(f"The plan does not follow from its seed and the log: {problem}."))
        if not result.problems:
            st.success("The plan follows from its seed and the log.")


RANDOM_HELP = "Agreement and shares use only the randomly chosen items, because the other items would bias them."


def add_items(db: Database, person: str) -> None:
    """Show the number of waiting items and offer to add a batch.

    Only a study that is planned in batches has waiting items.
    """
    known = item_batches.sampled(db)
    if known is None or not known.waiting:
        return
    st.header("Add items")
    st.write(
        f"Items that are not in the plan yet: {len(known.waiting)}. Part of a batch is random; the rest are items on "
        "which classifiers disagree and a model of the labels is uncertain. Reviewers cannot see why an item was added."
    )
    left, right = st.columns(2)
    n = int(left.number_input("Items to add", 1, len(known.waiting), min(40, len(known.waiting))))
    share = right.slider("Random share", 0.05, 1.0, 0.3, 0.05, help=RANDOM_HELP)
    if st.button("Add items to the plan"):
        added = next_items.next_items(db, n, random_share=share, actor=person, now=datetime.now(UTC))
        done(" ".join(added.sentences))


def describe_value(value: object, planned: int | None = None) -> str:
    """Return the value of a plan parameter as text.

    If the plan has fewer items of a kind than requested, both numbers are shown.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value}" if planned in (None, value) else f"{planned} planned, {value} requested"


def asked_for(n_items: int) -> tuple[PlanParameters, int | None, Assumptions]:
    """Show the fields for the design, the first batch and the assumptions about the labels; return their values.

    The size of the first batch is None if all items are planned at once.
    """
    st.session_state.setdefault("plan-seed", assigning.random_seed())
    design = st.radio("Design", [BALANCED, PAPER], horizontal=True)
    left, right = st.columns(2)
    seed = int(left.number_input("Seed", min_value=0, max_value=2**31 - 1, key="plan-seed"))
    calibration = int(left.number_input("Calibration items, labelled by all reviewers before the study", 0, 1000, 0))
    first = (int(left.number_input(BATCH, 0, n_items, 0, help=BATCH_HELP)) or None) if n_items > MIN_BATCH else None
    if design == PAPER:
        return PlanParameters(seed, overlap=0, retest=0, paper=True, calibration=calibration), first, assumptions()
    standard = asdict(PlanParameters(seed))
    per_item = int(right.number_input("Reviewers per item", 2, 20, standard["per_item"]))
    overlap = left.slider("Share of items that all reviewers label", 0.0, 1.0, standard["overlap"], 0.05)
    retest = int(right.number_input("Hidden retests per reviewer (test-retest)", 0, 1000, standard["retest"]))
    return PlanParameters(seed, per_item, overlap, retest, calibration=calibration), first, assumptions()


def assumptions() -> Assumptions:
    """Show the fields for the assumptions about the labels; return the assumptions."""
    with st.expander("Assumptions about the labels"):
        left, right = st.columns(2)
        kappa = left.slider("Expected Fleiss' kappa", 0.0, 0.95, STANDARD.kappa, 0.05)
        prevalence = right.slider("Expected share of dissimilar items", 0.05, 0.95, STANDARD.prevalence, 0.05)
        seconds = left.number_input("Seconds per label", 1.0, 3600.0, STANDARD.seconds)
        half_width = right.slider("Target half-width of every interval", 0.02, 0.30, STANDARD.half_width, 0.01)
    return Assumptions(kappa, prevalence, seconds=seconds, half_width=half_width)
