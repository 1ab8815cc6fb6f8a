"""The page Plan, on which coordinators design, confirm and verify the plan.

For each design, the page shows the load of the reviewers and the expected precision before the plan is confirmed.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from analysis.text import counted
from labeler.errors import InputError
from labeler.studies.course import coordinating
from labeler.studies.model import PlanParameters, Question, State, Study, describe_minutes
from labeler.studies.people import identity
from labeler.studies.preparing import assigning, planning, previewing, verifying
from labeler.studies.preparing.planning import Assumptions
from labeler.studies.results import next_items
from labeler.studies.screen import course_charts
from labeler.studies.store import Database
from labeler.studies.ui.coordinator.shared import done, done_at, escape_markdown, link, markdown_list, numbers

LOADS, PRECISION = "Load of each reviewer", "Expected precision, and the items that it needs"
REDRAW, MIN_BATCH, MIN_REVIEWERS, MAX_CHECKS = "draw-another-plan", 2, 2, 20
BATCH = "Items in the first batch (0: all items at once)"
BATCH_HELP = """Begin with this number of random items. While the study is open, you can add more items on this page:
some at random, the others because their labels are most informative."""
BALANCED, PAPER = "Balanced blocks", "Design of the paper: random parts, one pair of reviewers each"
DESIGN = "plan-design"  # key in the session state: the chosen design
LOAD_COLUMNS = {
    "fresh": "first labels", "overlap": "items for everybody", "retest": "repeats", "in all": "labels",
}  # fmt: skip
STANDARD = Assumptions()
GRID = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4)  # shares of the study's items for which the figure shows the precision
PARAMETERS = {
    "seed": "Seed", "per_item": "Reviewers per item", "overlap": "Share of items that all reviewers label",
    "retest": "Hidden repeats per reviewer", "calibration": "Calibration items",
    "attention": "Attention checks per reviewer", "paper": "Design of the paper",
    "stop_half_width": "Stopping rule: half-width of the interval of kappa",
}  # fmt: skip


def render_plan(db: Database, person: str) -> None:
    """Show the current plan; while a plan can be created, also offer a design."""
    study, fixed = coordinating.get_study(db), previewing.why_fixed(db)
    if fixed:
        st.info(fixed)
    if study.plan_hash:
        show_current_plan(db, study)
        add_items(db, person)
    if not fixed and (
        not study.plan_hash or st.toggle("Create another plan, which replaces the current plan", key=REDRAW)
    ):
        design_plan(db, person)
    if study.phase not in (State.CLOSED, State.UNBLINDED):
        ask_finish_by(db, person)


def ask_finish_by(db: Database, person: str) -> None:
    """Show the field for the day by which reviewers are asked to finish."""
    day = coordinating.finish_by(db)
    title = f"Finish by {day:%-d %B %Y}" if day else "Finish by"
    with st.expander(title, type="compact"):
        asked = st.date_input(
            "Day", day, format="YYYY-MM-DD", help="Invitations and the reviewers' first page name this day."
        )
        if asked != day:
            coordinating.set_finish_by(db, asked, actor=person, now=datetime.now(UTC))
            done(
                "Invitations ask reviewers to finish by this day." if asked else "Invitations name no day.", stays=True
            )


def design_plan(db: Database, person: str) -> None:
    """Show the sliders of a design with what it costs and gains; save the plan if the person confirms it."""
    n_items, n_reviewers, _ = planning.size_of_study(db)
    top, (left, right) = st.container(), st.columns(2, gap="large")
    bottom = st.container()
    with left:
        chosen = design_sliders(n_items, n_reviewers, len(assigning.chosen_for_calibration(db)))
    with bottom:
        words, action, folds = (
            st.container(),
            st.container(horizontal=True, vertical_alignment="center"),
            st.container(),
        )
        with folds:
            loads, precise = st.expander(LOADS, type="compact"), st.expander(PRECISION, type="compact")
            assumed = ask_assumptions(coordinating.get_study(db).question)
            parameters, first = chosen.completed(n_items)
    progress = st.empty()
    try:
        preview = previewing.preview_for_page(
            db, parameters, assumed, first=first,
            waiting=lambda seconds: progress.caption(f"Creating the plan: {seconds:.0f} s"),
        )  # fmt: skip
    except InputError as error:
        with top:
            if n_items < MIN_BATCH or n_reviewers < MIN_REVIEWERS:
                show_what_is_missing(n_items, n_reviewers)
            else:
                st.info(escape_markdown(str(error)))
        return
    progress.empty()
    n_labels = sum(row["in all"] for row in preview["loads"])
    n_planned = max((first or n_items) - parameters.calibration - parameters.attention, 1)
    with top:
        three_numbers(preview, n_labels, n_planned, n_reviewers, assumed)
    with left:
        warn_of_repeats(preview, parameters.retest)
    with right:
        show_trade_off(n_planned, n_reviewers, parameters, assumed)
    with loads:
        show_loads(preview)
    with precise:
        show_expected_precision(preview["expected"], n_planned, n_reviewers, parameters, assumed)
        st.caption(preview["replacing"])
    with words:
        warn_too_few([sentence.removeprefix(previewing.CANNOT_ESTIMATE) for sentence in preview["warnings"]])
    with action:
        next_step = "start calibration" if parameters.calibration else "open the study"
        confirmed = st.button(f"Confirm the plan and {next_step}", type="primary")
        st.caption("You can still change the plan until the first label.")
    if confirmed:
        previewing.confirm_on_page(
            db, parameters, first=first, actor=person, now=datetime.now(UTC),
            waiting=lambda seconds: progress.caption(f"Saving the plan: {seconds:.0f} s"),
        )  # fmt: skip
        opened = "The calibration round has begun" if parameters.calibration else "The study is open"
        done_at(f"Plan saved: {counted(n_labels, 'label')} for {counted(n_reviewers, 'reviewer')}. {opened}.", "Study")


def show_what_is_missing(n_items: int, n_reviewers: int) -> None:
    """Say what a plan needs that the study does not have yet, with links."""
    if n_items < MIN_BATCH:
        st.info("The plan needs items. Add your result files first.")
        link("Items", "Add items", "Add")
    if n_reviewers < MIN_REVIEWERS:
        st.info(f"The plan needs two reviewers or more. The study has {counted(n_reviewers, 'reviewer')}.")
        link("People", "Invite people")
    link("Tools", "Plan for any number of items and people", "Planner")


def warn_of_repeats(preview: dict[str, Any], n_requested: int) -> None:
    """Say how many hidden repeats the plan has, if these are fewer than requested."""
    n_repeats = min((row.get("retest", 0) for row in preview["loads"]), default=0)
    if n_repeats < n_requested:
        st.caption(
            f"{n_requested} hidden repeats do not fit, because a repeat comes long after the original item. "
            f"Repeats: {n_repeats}."
        )


RECOGNISED = (
    "Reviewers see no names, but somebody who has the same measurements, for example of public benchmarks, could find "
    "the name of an item by the shape of its picture."
)


def show_loads(preview: dict[str, Any]) -> None:
    """Show the load of each reviewer, and what the plan could not meet."""
    alt = "The number of items of each kind that each reviewer gets"
    st.dataframe(preview["loads"], hide_index=True, column_config=LOAD_COLUMNS, alt=alt)
    st.caption(f"Hash of this plan: `{preview['hash']}`")
    st.caption(RECOGNISED)
    for sentence in preview["remarks"]:
        st.caption(escape_markdown(sentence))


def three_numbers(preview: dict[str, Any], n_labels: int, n_items: int, n_reviewers: int, assumed: Assumptions) -> None:
    """Show the labels per item, the time per reviewer, and the width of the interval of kappa."""
    n_proper = n_labels - sum(row.get("calibration", 0) + row.get("attention", 0) for row in preview["loads"])
    width = next((row["half-width"] for row in preview["expected"] if row["what"] == "kappa"), None)
    each = n_labels / max(n_reviewers, 1)
    time = describe_minutes(each * assumed.seconds / 60)
    numbers([
        ("Labels per item", f"{n_proper / n_items:.1f}", f"{counted(n_proper, 'label')} on {counted(n_items, 'item')}"),
        ("Per reviewer", time, f"{each:.0f} labels of {assumed.seconds:.0f} s"),
        ("Width for kappa", "—" if width is None else f"± {width:.2f}", f"if kappa is {assumed.kappa:g}"),
    ])  # fmt: skip


def show_trade_off(n_items: int, n_reviewers: int, parameters: PlanParameters, assumed: Assumptions) -> None:
    """Show the interval of kappa by minutes per reviewer, with a point for this plan."""
    rows = planning.trade_off(n_items, n_reviewers, assumed, per_item=sorted({parameters.per_item, 2, 3, 4}))
    here = planning.trade_off(
        n_items, n_reviewers, assumed, per_item=[parameters.per_item], overlaps=[parameters.overlap]
    )
    if rows and here:
        st.header("More time, narrower interval", anchor=False)
        words = f"This plan: {here[0]['minutes']:.0f} minutes per reviewer, ± {here[0]['half-width']:.2f} for kappa"
        st.altair_chart(course_charts.trade_off(rows, here[0]), alt=words)


def show_what_if(parameters: PlanParameters, assumed: Assumptions) -> None:
    """Show the expected precision for a chosen size, before the study has items and reviewers."""
    left, right = st.columns(2)
    n_items = int(left.number_input("Items", 2, 100_000, 100))
    n_reviewers = int(right.number_input("Reviewers", 2, 100, max(4, parameters.per_item)))
    per_item = min(parameters.per_item, n_reviewers)
    planned = planning.planned_design([n_items], n_reviewers, per_item, parameters.overlap, parameters.retest, None)
    expectations, unknown = planning.expected_of(planned, assumed)
    show_expected_precision(expectations, n_items, n_reviewers, parameters, assumed)
    st.caption(planning.describe_annotator_test(planned, assumed))
    warn_too_few([f"{sentence}." for sentence in unknown])


def show_expected_precision(
    rows: Sequence[dict[str, Any]], n_items: int, n_reviewers: int, parameters: PlanParameters, assumed: Assumptions
) -> None:
    """Show the expected values, the number of items that each interval needs, and the interval of kappa by items."""
    digits = st.column_config.NumberColumn(format="%.3g")
    config = {"expected": digits, "half-width": digits, "hours": st.column_config.NumberColumn(format="%.1f")}
    st.dataframe(rows, hide_index=True, column_config=config, placeholder="—", alt="What to expect of the plan")
    st.caption(f"Items needed for intervals of ±{assumed.half_width:g}")
    needed = planning.items_needed(assumed)
    st.dataframe(needed, hide_index=True, column_config=config, placeholder="—", alt="Items that each interval needs")
    sizes = sorted({max(2, round(share * n_items)) for share in GRID})
    per_item = {parameters.per_item, 2, 3, 4}
    curve = planning.precision(sizes, n_reviewers, parameters.overlap, assumed, per_item=sorted(per_item))
    if curve:
        words = "Half-width of the interval of Fleiss' kappa by number of items"
        st.altair_chart(course_charts.precision(curve, wanted=assumed.half_width, planned=n_items), alt=words)
        st.caption(f"{words}. Vertical line: this study. Dashed line: target half-width.")


def warn_too_few(sentences: Sequence[str]) -> None:
    """Say what the plan cannot estimate; show nothing if the list is empty."""
    if sentences:
        st.warning(f"Too few to tell:\n{markdown_list(sentences)}")


def show_current_plan(db: Database, study: Study) -> None:
    """Show the current plan with its loads, and a button that verifies the plan against its seed and the log."""
    st.header("Current plan", anchor=False)
    loads = previewing.current_loads(db)
    st.dataframe(loads, hide_index=True, column_config=LOAD_COLUMNS)
    chosen = study.plan_parameters or {}
    planned = {"retest": min((row.get("retest", 0) for row in loads), default=0)}
    st.dataframe(
        [
            {"design": PARAMETERS.get(name, name), "value": describe_value(value, planned.get(name))}
            for name, value in chosen.items()
        ],
        hide_index=True,
    )
    with st.expander("Check that the plan follows from its seed", type="compact"):
        st.caption(f"Hash of the plan: `{study.plan_hash}`")
        if not st.button("Verify the plan"):
            return
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
    known = assigning.item_batches(db)
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
        is_told = not identity.reviews_too(db, person)  # how items were chosen depends on the labels of others
        done(" ".join(added.sentences if is_told else added.counts))


def describe_value(value: object, planned: int | None = None) -> str:
    """Return the value of a plan parameter as text.

    If the plan has fewer items of a kind than requested, both numbers are shown.
    """
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value}" if planned in (None, value) else f"{planned} planned, {value} requested"


@dataclass(frozen=True)
class DesignSliders:
    """The values of the five sliders."""

    per_item: int
    n_shared: int
    retest: int
    calibration: int
    attention: int

    def completed(self, n_items: int) -> tuple[PlanParameters, int | None]:
        """Show the other fields of the design; return the parameters, and the size of the first batch.

        The size is None if all items are planned at once.
        """
        st.session_state.setdefault("plan-seed", assigning.random_seed())
        with st.expander("Start with part of the items, design of the paper, seed", type="compact"):
            first = (
                (int(st.number_input(BATCH, 0, n_items, 0, help=BATCH_HELP)) or None) if n_items > MIN_BATCH else None
            )
            design = st.radio("Design", [BALANCED, PAPER], key=DESIGN)
            seed = int(st.number_input("Seed", min_value=0, max_value=2**31 - 1, key="plan-seed"))
        if design == PAPER:
            hidden = PlanParameters(seed, calibration=self.calibration, attention=self.attention)
            return replace(hidden, overlap=0, retest=0, paper=True), first
        n_proper = max((first or n_items) - self.calibration - self.attention, 1)
        overlap = min(self.n_shared / n_proper, 1.0)
        balanced = PlanParameters(seed, self.per_item, overlap, self.retest)
        return replace(balanced, calibration=self.calibration, attention=self.attention), first


def design_sliders(n_items: int, n_reviewers: int, n_chosen: int = 0) -> DesignSliders:
    """Show the sliders, each with a line about what it costs or gains.

    `n_chosen` is the number of items that the coordinator chose for calibration.
    """
    standard, most = asdict(PlanParameters(0)), max(n_items, 1)
    if st.session_state.get(DESIGN) == PAPER:
        per_item, shared, retest = 2, 0, 0
        st.caption("The design of the paper has two reviewers per item, and no items for everybody or hidden repeats.")
    else:
        per_item, shared, retest = balanced_sliders(most, n_reviewers, standard)
    most_calibration = max(min(most - 2, 50), 1)
    calibration = st.slider("Calibration items", 0, most_calibration, min(n_chosen, most_calibration))
    if n_chosen:
        st.caption(f"You have chosen {counted(n_chosen, 'item')} for calibration; these come first.")
    st.caption(
        "All reviewers label these items before the study. No result uses them. Set the required agreement under "
        "Decide, Calibration."
    )
    most_checks = min(most - 2, MAX_CHECKS)  # if both together are too many, the plan says so; the choice stays
    attention = 0
    if most_checks > 0:
        attention = st.slider("Attention checks", 0, most_checks, 0)
        st.caption(
            "Each reviewer gets these hidden items with a known answer, made from items that no result uses. Fewer "
            "than four cannot show whether a person guesses."
        )
    return DesignSliders(per_item, shared, retest, calibration, attention)


def balanced_sliders(most: int, n_reviewers: int, standard: dict[str, Any]) -> tuple[int, int, int]:
    """Show the sliders of a balanced design: reviewers per item, items for everybody, and repeats."""
    per_item = st.slider("Reviewers per item", 2, max(n_reviewers, 3), standard["per_item"])
    st.caption("One more reviewer per item costs everybody time and narrows the interval, as the figure shows.")
    everybody = f"all {n_reviewers}" if n_reviewers else "all reviewers"
    shared = st.slider(f"Items that {everybody} label", 0, most, round(standard["overlap"] * most), key="plan-shared")
    st.caption("Needed to compare every pair of reviewers.")
    usual = planning.usual_repeats(most, n_reviewers, standard["per_item"], standard["overlap"])
    retest = st.slider("Hidden repeats per reviewer", 0, 40, usual)
    st.caption("Show whether people agree with themselves.")
    return per_item, shared, retest


def ask_assumptions(question: Question) -> Assumptions:
    """Show the fields for the assumptions about the labels; return the assumptions."""
    compared = planning.compared_categories(question)
    category = compared[1]
    with st.expander(f"Expected kappa, share of {category} items, seconds per label", type="compact"):
        left, right = st.columns(2)
        kappa = left.slider("Expected Fleiss' kappa", 0.0, 0.95, STANDARD.kappa, 0.05)
        prevalence = right.slider(f"Expected share of {category} items", 0.05, 0.95, STANDARD.prevalence, 0.05)
        seconds = left.number_input("Seconds per label", 1.0, 3600.0, STANDARD.seconds)
        half_width = right.slider("Target half-width of every interval", 0.02, 0.30, STANDARD.half_width, 0.01)
        if words := planning.one_against_rest(question):
            st.caption(words)
    return Assumptions(kappa, prevalence, seconds=seconds, half_width=half_width).about(question)
