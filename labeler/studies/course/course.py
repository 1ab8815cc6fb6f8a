"""Move a study through its states, from draft to unblinded.

The log records the person, time and reason of each step.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from analysis.text import counted
from labeler.errors import NotAllowed
from labeler.studies.course import calibrating
from labeler.studies.model import State, Study
from labeler.studies.people import identity
from labeler.studies.people.identity import checked_reason
from labeler.studies.plan.lifecycle import Step, after
from labeler.studies.preparing import assigning
from labeler.studies.store import Database, actions, chain, events, labels, people, studies
from labeler.studies.store.actions import LogAction
from labeler.studies.store.log_state import Event

_EVENTS: Mapping[Step, LogAction[...]] = {
    Step.OPEN: actions.OPEN_STUDY,
    Step.PAUSE: actions.PAUSE_STUDY,
    Step.THIRD: actions.THIRD_ROUND,
    Step.CLOSE: actions.CLOSE_STUDY,
    Step.REOPEN: actions.REOPEN_STUDY,
    Step.UNBLIND: actions.UNBLIND_STUDY,
}
TAIL = 0.15  # maximum share of the timeline that shows the time after labelling


@dataclass(frozen=True)
class StateChange:
    """The result of a step: the new state, and remarks for the person who made the step.

    The remarks in `for_owner` reveal facts about labels, so only the owner of the study file may see them before the
    study is closed.
    """

    state: State
    remarks: tuple[str, ...] = ()
    for_owner: tuple[str, ...] = ()


def change_state(
    db: Database, step: Step, *, why: str = "", force: bool = False, actor: str, now: datetime
) -> StateChange:
    """Move the study to another state, and log the step; opening a study that is already open changes nothing.

    The log and reports show the reason, if there is one. `force` opens the study even if the calibration round was not
    passed, which the log records. Raises InputError if the reason is invalid, or if `force` is needed and no reason is
    given. Raises NotAllowed if the step is not possible now, for example because there is no plan, calibration was not
    passed, or first labels are missing.
    """
    why = checked_reason(why) if why.strip() else ""
    with events.by(db, actor, now) as deed:
        study = studies.get(db)
        if step is Step.OPEN and study.state is State.OPEN:
            return StateChange(State.OPEN, ("The study was already open.",))
        to = _closed_from(db) if step is Step.REOPEN and study.state is State.CLOSED else after(study, step)
        details: dict[str, Any] = {"from": study.state.value, "to": to.value} | ({"why": why} if why else {})
        remarks: tuple[str, ...] = ()
        for_owner: tuple[str, ...] = ()
        if step is Step.OPEN and study.state is not State.PAUSED:
            details |= _check_ready(db, study, actor, force=force, why=why)
        elif step is Step.THIRD:
            round_details, for_owner = _begin_third_round(db, now)
            details, remarks = details | round_details, ("Third labels were assigned, hidden among agreed items.",)
        elif step is Step.CLOSE:
            remarks = _left_open(db)
        studies.set_state(db, to, study.state if to is State.PAUSED else None)
        deed.log(_EVENTS[step], **details)
        if step is Step.CLOSE:
            why_store = "Store this line outside the study file, so that an audit can find later changes."
            remarks += (f"{why_store} Chain: {chain.head(db)}",)
    return StateChange(to, remarks, for_owner)


def unblinding(db: Database) -> dict[str, Any] | None:
    """Return when, by whom and why the study was unblinded; return None if the study is not unblinded."""
    unblindings = events.of_actions(db, [actions.UNBLIND_STUDY])
    return (
        {"at_utc": unblindings[-1].at_utc, "by": unblindings[-1].actor, "why": unblindings[-1].details.get("why", "")}
        if unblindings
        else None
    )


def _closed_from(db: Database) -> State:
    """Return the state from which the study was closed last."""
    return State(events.of_actions(db, [actions.CLOSE_STUDY])[-1].details["from"])


def _check_ready(db: Database, study: Study, actor: str, *, force: bool, why: str) -> dict[str, Any]:
    """Raise NotAllowed if the study cannot be opened; otherwise return what to log about the calibration round."""
    if study.state is State.DRAFT and not labels.n_labels(db):
        raise NotAllowed("There is nothing to label yet. Create the plan, which opens the study.")
    if study.state is not State.CALIBRATION:
        return {}
    round_ = calibrating.result(db)
    missing = round_.not_passed
    if round_.gate and not round_.unfinished and not force and identity.reviews_too(db, actor):
        raise NotAllowed(
            "You are also a reviewer, so you do not see whether the calibration round reached the required agreement. "
            "Another coordinator can open the study, or you open it anyway and give a reason."
        )
    if missing and not force:
        raise NotAllowed(
            f"The calibration round was not passed: {'; '.join(missing)}. Wait, or open the study anyway and give a "
            "reason."
        )
    if missing:
        checked_reason(why)
    return {"calibration": "not passed: " + "; ".join(missing) if missing else "passed"}


def _begin_third_round(db: Database, now: datetime) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Assign third labels; return the details for the log, and remarks.

    From the details in the log, anyone can derive again who was assigned which third label.
    """
    before = assigning.active_plan(db)
    able = [person for person in people.reviewers(db) if person.active]
    waiting = [person.name for person in able if before.has_open(person.name)]
    if waiting:
        raise NotAllowed(
            f"The round of third labels can begin only after all first labels. These reviewers still have items to "
            f"label: {', '.join(waiting)}. Wait for their labels, or remove or replace reviewers who no longer label."
        )
    history = assigning.answer_history(db)
    reviewers = [person.name for person in able if not person.paused]
    round_, shortfalls = before.in_third_round(*history.split_and_agreed(len(history.marks)), reviewers)
    assigning.update_assignments(db, before, round_, now=now)
    n_new = len(round_.standing) - len(before.standing)
    n_answers = len(history.marks)
    details = {"reviewers": reviewers, "answers": n_answers, "offered": before.n_bound, "hash": round_.hash}
    return details, (
        f"{counted(n_new, 'item')} assigned for third labels: the split items, hidden among agreed items."
        if n_new
        else "No item was assigned for a third label.",
        *(f"Not met: {shortfall}." for shortfall in shortfalls),
    )


def _left_open(db: Database) -> tuple[str, ...]:
    rows = labels.progress(db)
    n_left = sum(n_assigned - n_done for _, n_assigned, n_done, _, _ in rows)
    missing = "1 planned label is" if n_left == 1 else f"{n_left} planned labels are"
    return (f"{missing} missing.",) if n_left else ()


@dataclass(frozen=True)
class Phase:
    """A period in which the study had one state, with begin and end."""

    state: State
    begin: datetime
    end: datetime


def phases(db: Database, *, now: datetime) -> list[Phase]:
    """Return the states that the study has had, with begin and end, in order of time.

    The last period ends now. If labelling has ended, the last period may end earlier, so that a timeline shows mainly
    the time of labelling.
    """
    log = events.of_actions(db, [actions.CREATE_STUDY, actions.DRAW_PLAN, *_EVENTS.values()])
    starts: list[tuple[State, datetime]] = []
    for event in log:
        state = _state_after(event)
        if not starts or starts[-1][0] is not state:
            starts.append((state, datetime.fromisoformat(event.at_utc)))
    if not starts:
        return []
    begin, last = starts[0][1], starts[-1][1]
    is_over = starts[-1][0] in (State.CLOSED, State.UNBLINDED)
    end = min(now, last + max(TAIL * (last - begin), timedelta(hours=1))) if is_over else now
    ends = [*(at for _, at in starts[1:]), max(end, last)]
    return [Phase(state, at, until) for (state, at), until in zip(starts, ends, strict=True)]


def _state_after(event: Event) -> State:
    if event.action == actions.CREATE_STUDY.name:
        return State.DRAFT
    if event.action == actions.DRAW_PLAN.name:
        return State.CALIBRATION if event.details["calibration"] else State.OPEN
    return State(event.details["to"])
