"""Describe a study to a coordinator: the line of steps, the box with what to do, and the numbers."""

from datetime import datetime

from labeler.model import State, counted, describe_minutes
from labeler.plan.lifecycle import Action, Step, possible
from labeler.service.overview.box import box_of, tick_of_closing
from labeler.service.overview.facts import (
    ADD,
    BUTTONS,
    PEOPLE,
    PLAN,
    REPORT,
    RESUME,
    SPLITS,
    Act,
    Box,
    Facts,
    Line,
    Number,
    Overview,
    Stage,
    is_complete,
    n_to_decide,
    n_unanswered,
    n_undecided,
)
from labeler.service.overview.steps import parts_of, stages_of
from labeler.service.people import identity
from labeler.service.results import splits
from labeler.service.study import coordinating, course, progress
from labeler.service.study.progress import short_date
from labeler.store import Database, events

__all__ = [
    "ADD", "BUTTONS", "PEOPLE", "PLAN", "REPORT", "RESUME", "SPLITS", "Act", "Box", "Line", "Number", "Overview",
    "Stage", "n_to_decide", "n_unanswered", "n_undecided", "overview", "tick_of_closing",
]  # fmt: skip


def overview(db: Database, person: str, *, now: datetime) -> Overview:
    """Return the overview that a coordinator sees."""
    status, paces = coordinating.status(db), tuple(progress.reviewer_paces(db, now=now))
    log = tuple(events.of_actions(db, {"draw plan", *course.ACTIONS}))
    facts = Facts(db, person, now, status, paces, is_complete(paces), log)
    hidden = identity.why_hidden(db, person, Action.SEE_AGREEMENT)
    is_over = status.study.phase in (State.CLOSED, State.UNBLINDED)
    setting_up = status.study.phase is State.DRAFT
    return Overview(
        status.study, status.n_items, status.n_reviewers, status.n_answers, facts.n_assigned, facts.n_done,
        stages_of(facts), box := box_of(facts), parts_of(facts) if setting_up else (),
        () if setting_up else _results(facts) if is_over and not hidden else _progress_numbers(facts),
        hidden, _others(facts, box), paces,
    )  # fmt: skip


# The numbers


def _progress_numbers(facts: Facts) -> tuple[Number, ...]:
    waiting = [pace for pace in facts.paces if pace.takes_part and not pace.paused and pace.n_left and pace.is_open]
    end, between = progress.finish(facts.paces)
    value, note = "—", "known when everybody has begun"
    if facts.n_assigned and not waiting:
        value, note = ("all done" if facts.is_complete else "—"), ""
    elif end is not None:
        value, note = f"{end:%a} {short_date(end)}", "an interval follows after two days"
        if between is not None:
            low, high = between
            note = f"likely {short_date(low)} to {short_date(high)}" if low != high else ""
    minutes = [pace.minutes_left for pace in waiting if pace.minutes_left is not None]
    left = describe_minutes(sum(minutes)) if minutes else "—"
    return (
        Number("Labels", f"{facts.n_done} of {facts.n_assigned}" if facts.n_assigned else "—"),
        Number("Expected finish", value, note),
        Number("Time left", left, "all reviewers together" if minutes else ""),
    )


def _results(facts: Facts) -> tuple[Number, ...]:
    result = splits.current_agreement(facts.db)
    percent, kappa = result.percent, result.kappa
    n_items = result.n_agreed + result.n_split
    share = (
        f"{100 * percent.low:.0f} to {100 * percent.high:.0f} %"
        if percent.low is not None and percent.high is not None
        else ""
    )
    between = f"{kappa.low:.2f} to {kappa.high:.2f}" if kappa.low is not None and kappa.high is not None else ""
    return (
        Number("Agreement", "—" if percent.value is None else f"{100 * percent.value:.0f} %", share),
        Number("Fleiss' kappa", "—" if kappa.value is None else f"{kappa.value:.2f}", between),
        Number("Labels", f"{facts.n_done} of {facts.n_assigned}", f"on {counted(n_items, 'item')}"),
    )


def _others(facts: Facts, box: Box) -> tuple[Step, ...]:
    """Return the useful steps other than the recommended next action."""
    study = facts.study
    pointless = {box.act.step if box.act else None}
    if study.phase is State.CALIBRATION and identity.reviews_too(facts.db, facts.person):
        pointless.discard(Step.OPEN)  # the coordinator must not learn whether the calibration round was passed
    if study.phase in (State.DRAFT, State.UNBLINDED):
        pointless.add(Step.PAUSE)
    if study.phase is State.DRAFT:
        pointless.add(Step.OPEN)
    if not facts.is_complete:
        pointless.add(Step.THIRD)
    return tuple(step for step in possible(study) if step not in pointless)
