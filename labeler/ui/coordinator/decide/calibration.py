"""The page Calibration, on which coordinators set the required agreement (the gate) and the reference labels.

The page also shows the progress and the result of the calibration round.
"""

from datetime import UTC, datetime

import streamlit as st

from labeler.model import Gate
from labeler.plan.lifecycle import ALLOWED, Action
from labeler.service.items import browsing
from labeler.service.people import identity
from labeler.service.study import calibrating, coordinating
from labeler.service.study.calibrating import CalibrationResult
from labeler.store import Database
from labeler.ui.component import Decides
from labeler.ui.coordinator import queue
from labeler.ui.coordinator.escaping import escape_markdown
from labeler.ui.coordinator.shared import done, table

QUEUE = "reference"
NO_GATE = "finished"
GATES = {
    NO_GATE: "all reviewers have finished the round",
    "reference": "each reviewer agrees with the reference labels",
    "reviewers": "the reviewers agree with each other",
}


def render(db: Database, person: str) -> None:
    """Show the required agreement (the gate), the progress of each reviewer, and the reference labels.

    The agreement is shown only to a person who may see it.
    """
    st.caption("All reviewers label the same few items before the study. No result uses these labels.")
    result = calibrating.result(db)
    if not result.n_items:
        st.info("The plan has no calibration items. Choose their number in the plan; the round then appears here.")
        return
    hidden = identity.why_hidden(db, person, Action.SEE_CALIBRATION)
    can_change = coordinating.get_study(db).phase in ALLOWED[Action.CALIBRATE]
    set_gate(db, result, person, can_change=can_change)
    reached(db, result, hidden)
    if can_change and not hidden:
        if calibrating.has_begun(db):
            st.caption("The calibration round has begun, so reference labels can no longer be changed.")
        else:
            set_reference(db, result)


def reached(db: Database, result: CalibrationResult, hidden: str) -> None:
    """Show the progress of each reviewer in the calibration round.

    The agreement, with its intervals, is shown only to a person who may see it.
    """
    st.header("Result", anchor=False)
    rows = [
        {"reviewer": reviewer.reviewer, "labelled": f"{reviewer.n_done} of {reviewer.n_assigned}"}
        for reviewer in result.reviewers
    ]
    if hidden:
        st.dataframe(rows, hide_index=True)
        st.caption(hidden)
        return
    for row, reviewer in zip(rows, result.reviewers, strict=True):
        shared = reviewer.with_reference
        row["agreement with the reference (95 % interval)"] = (
            "—" if shared.value is None else calibrating.describe_share(shared)
        )
    st.dataframe(rows, hide_index=True)
    if result.percent.value is not None:
        st.write(escape_markdown(f"Percent agreement between reviewers: {calibrating.describe_share(result.percent)}"))
        st.write(escape_markdown(f"Fleiss' kappa between reviewers: {calibrating.describe_share(result.kappa)}"))
    st.write(escape_markdown(calibrating.outcome(result)))
    disputed(db)


def disputed(db: Database) -> None:
    """List the calibration items that people judged differently, if there are any."""
    rows = [{"Benchmark": name, **{str(key): n for key, n in of.items()}} for name, of in calibrating.disputed(db)]
    if rows:
        st.header("Where they disagree", anchor=False)
        table(rows, "The calibration items that people judged differently, with the number of labels per category")


def set_gate(db: Database, result: CalibrationResult, person: str, *, can_change: bool) -> None:
    """Show the gate, which is the agreement that the round requires.

    While there are no answers, each change is saved at once.
    """
    st.header("Gate", anchor=False)
    gate, begun = result.gate, any(reviewer.n_done for reviewer in result.reviewers)
    fixed = not can_change or begun
    names = list(GATES)
    on = st.radio(
        "The study opens once", names, names.index(gate.on if gate else NO_GATE), GATES.__getitem__, disabled=fixed
    )
    least = gate.least if gate else 0.8
    if on != NO_GATE:
        percent = st.slider("in at least this share of items", 0, 100, round(100 * least), 5, "%d %%", disabled=fixed)
        least = percent / 100 if percent != round(100 * least) else least
    if fixed:
        st.caption("The round has begun, so the gate can no longer be changed." if begun else "The round is over.")
    elif (wanted := None if on == NO_GATE else Gate(str(on), least)) != gate:
        calibrating.set_gate(db, wanted, actor=person, now=datetime.now(UTC))
        share = "" if wanted is None else f" in {100 * least:.0f} % or more"
        done(f"Gate saved: the study opens once {GATES[on]}{share}.", stays=True)


def set_reference(db: Database, result: CalibrationResult) -> None:
    """Show the calibration items one by one with their pictures.

    If the person presses the key of a category, the component saves a reference label of the item. Then the page runs.
    """
    question = coordinating.get_study(db).question
    st.header("Reference labels", anchor=False)
    st.write(
        f"Items with a reference label: {result.n_reference} of {result.n_items}. Press {queue.keys_of(question)} on a "
        "picture to set it."
    )
    names, reference = calibrating.item_names(db), calibrating.reference(db)
    name = queue.current(QUEUE, names)
    label = reference.get(name)
    caption = f"{queue.place(names, name)} · {f'reference: {label}' if label else 'no reference label yet'}"
    keys = {**queue.choices_of(question), **queue.MOVES}
    item = browsing.item_named(db, name)
    decides = Decides("reference", queue.categories_of(question))
    pressed = queue.look(db, QUEUE, item, title=name, caption=caption, keys=keys, decides=decides)
    queue.move(QUEUE, names, name, pressed)
    if queue.was_decided(QUEUE, name, pressed):
        left = [other for other in names if other not in reference]
        queue.put(QUEUE, left[0] if left else name)
        done(f"Saved: {label}. {len(left) or 'None'} left.", stays=True)
