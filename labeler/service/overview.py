"""Describe the state of a study: a sentence, a checklist, the next step and a timeline."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from labeler.model import State, Study, counted
from labeler.plan.lifecycle import Action, Step, possible
from labeler.service.people import identity
from labeler.service.results import splits
from labeler.service.study import calibrating, coordinating, course, progress
from labeler.service.verdicts import computing
from labeler.store import Database, assignments, events, labels, people

HOURLY_UP_TO = timedelta(
    days=3
)  # in studies up to this length, labels are counted per hour; in longer studies, per day
TAIL = 0.15  # maximum share of the timeline that shows the time after labelling


@dataclass(frozen=True)
class Entry:
    """A line of the checklist: whether a task is done, the text, and the page on which the task is done."""

    done: bool
    text: str
    page: str


@dataclass(frozen=True)
class NextStep:
    """The recommended next action of a coordinator: a step to another state, or an action on a page."""

    words: str  # the text of the button
    why: str  # the reason for the action, as a sentence
    page: str | None = None  # the page on which the action is done; None for a step
    step: Step | None = None


@dataclass(frozen=True)
class Overview:
    """An overview of a study for its coordinator."""

    study: Study
    # `n_assigned` and `n_done` count labels of the current round. `n_answers` counts all answers in the study.
    n_items: int
    n_reviewers: int
    n_answers: int
    n_assigned: int
    n_done: int
    standing: str  # the state of the study, as a sentence
    checklist: tuple[Entry, ...]
    next: NextStep
    others: tuple[Step, ...]  # other possible steps that are useful now


@dataclass(frozen=True)
class Phase:
    """A period in which the study had one state, with begin and end."""

    state: State
    begin: datetime
    end: datetime


WAITING = "Progress"  # the page to look at while reviewers label
BUTTONS = {
    Step.OPEN: "Open the study",
    Step.PAUSE: "Pause the study",
    Step.THIRD: "Assign third labels",
    Step.CLOSE: "Close the study",
    Step.UNBLIND: "Unblind the study",
}
RESUME = "Resume the study"
CONSEQUENCES = {
    Step.OPEN: "Reviewers can label from now on.",
    Step.PAUSE: "Nobody can label until you resume the study. No label is lost.",
    Step.THIRD: "Each split item goes to one more reviewer, who cannot see that the item is split.",
    Step.CLOSE: "Reviewers can no longer label. Agreement is shown, and split items can be decided.",
    Step.UNBLIND: "Coordinators see the verdicts and who gave which label. This cannot be undone.",
}


def overview(db: Database, person: str) -> Overview:
    """Return the overview that a coordinator sees: the state of the study, a checklist and the next action.

    The overview contains nothing that is hidden from this coordinator.
    """
    status = coordinating.status(db)
    n_assigned = sum(row.n_assigned for row in status.reviewers)
    n_done = sum(row.n_done for row in status.reviewers)
    is_complete = _is_complete(db, status)
    next_ = _next(db, person, status, is_complete=is_complete)
    return Overview(
        status.study, status.n_items, status.n_reviewers, status.n_answers, n_assigned, n_done,
        _standing(status.study, n_done, n_assigned, is_complete=is_complete),
        _checklist(status, n_done, n_assigned, is_complete=is_complete),
        next_, _others(db, person, status, next_, is_complete=is_complete),
    )  # fmt: skip


def button_of(study: Study, step: Step) -> str:
    """Return the text of the button for a step."""
    return RESUME if study.state is State.PAUSED and step is Step.OPEN else BUTTONS[step]


def phases(db: Database, *, now: datetime) -> list[Phase]:
    """Return the states that the study has had, with begin and end, in order of time.

    The last period ends now. If labelling has ended, the last period may end earlier, so that a timeline shows mainly
    the time of labelling.
    """
    log = events.of_actions(db, {"create study", "draw plan", *course.ACTIONS})
    starts: list[tuple[State, datetime]] = []
    for event in log:
        state = _state_after(event, starts)
        if not starts or starts[-1][0] is not state:
            starts.append((state, datetime.fromisoformat(event.at_utc)))
    if not starts:
        return []
    begin, last = starts[0][1], starts[-1][1]
    is_over = starts[-1][0] in (State.CLOSED, State.UNBLINDED)
    end = min(now, last + max(TAIL * (last - begin), timedelta(hours=1))) if is_over else now
    ends = [*(at for _, at in starts[1:]), max(end, last)]
    return [Phase(state, at, until) for (state, at), until in zip(starts, ends, strict=True)]


def labels_over_time(db: Database) -> list[tuple[datetime, int]]:
    """Return the number of current labels in each hour; in a longer study, return the number in each day."""
    counts: Counter[datetime] = Counter()
    for _, hour, n in labels.n_by_hour(db):
        counts[datetime.fromisoformat(f"{hour}:00:00+00:00")] += n
    if not counts or max(counts) - min(counts) <= HOURLY_UP_TO:
        return sorted(counts.items())
    by_day: Counter[datetime] = Counter()
    for at, n in counts.items():
        by_day[at.replace(hour=0)] += n
    return sorted(by_day.items())


def _state_after(event: events.Event, starts: Sequence[tuple[State, datetime]]) -> State:
    if event.action == "create study":
        return State.DRAFT
    if event.action == "draw plan":
        return State.CALIBRATION if event.details.get("calibration") else State.OPEN
    return State(event.details.get("to", starts[-1][0] if starts else State.DRAFT))


def _is_complete(db: Database, status: coordinating.Status) -> bool:
    """Return whether no reviewer has an item left to label; return False if no items are assigned."""
    if not any(row.n_assigned for row in status.reviewers):
        return False
    if any(row.n_done + row.n_not_sure < row.n_assigned for row in status.reviewers):
        return False
    unsure = {row.reviewer for row in status.reviewers if row.n_not_sure}
    calibrating = status.study.phase is State.CALIBRATION
    return not any(
        progress.is_left(task)
        for person in people.reviewers(db)
        if person.name in unsure
        for task in assignments.tasks_of(db, person.person_id, calibration=calibrating)
    )


def _standing(study: Study, n_done: int, n_assigned: int, *, is_complete: bool) -> str:
    given = f"{n_done:,} of {n_assigned:,} labels given".replace(",", " ")
    if study.state is State.PAUSED:
        return "The study is paused: nobody can label until you resume it."
    return {
        State.DRAFT: "The study is being set up.",
        State.CALIBRATION: f"The calibration round is running: {given}.",
        State.OPEN: f"All first labels are given: {given}." if is_complete else f"Reviewers are labelling: {given}.",
        State.THIRD: f"The study is in its third-label round: {given}.",
        State.CLOSED: "Labelling has ended. Verdicts and names are still hidden.",
        State.UNBLINDED: "The study is unblinded: verdicts, names and the report are shown.",
    }[study.state]


def _checklist(status: coordinating.Status, n_done: int, n_assigned: int, *, is_complete: bool) -> tuple[Entry, ...]:
    study, phase = status.study, status.study.phase
    calibrates = bool((study.plan_parameters or {}).get("calibration"))
    past_calibration = phase not in (State.DRAFT, State.CALIBRATION)
    is_over = phase in (State.CLOSED, State.UNBLINDED)
    given = f": {n_done} of {counted(n_assigned, 'label')} given" if n_assigned and past_calibration else ""
    return (
        Entry(status.n_items > 0, f"Import measurements: {counted(status.n_items, 'item')}", "Data"),
        Entry(status.n_reviewers >= 2, f"Add at least two reviewers: {status.n_reviewers} so far", "People"),
        Entry(study.plan_hash is not None, "Create the plan: who labels which items", "Plan"),
        *([Entry(past_calibration, "Calibrate, then open the study", "Calibration")] if calibrates else []),
        Entry(past_calibration and (is_complete or is_over), f"Reviewers label the items{given}", "Progress"),
        Entry(is_over, "Close the study, then decide the items that are still split", "Splits"),
        Entry(phase is State.UNBLINDED, "Unblind the study: verdicts, names and the report are shown", "Report"),
    )  # fmt: skip


def _next(db: Database, person: str, status: coordinating.Status, *, is_complete: bool) -> NextStep:
    study = status.study
    if study.state is State.PAUSED:
        return NextStep(RESUME, "Nobody can label while the study is paused.", step=Step.OPEN)
    if study.phase is State.DRAFT:
        return _next_of_draft(status)
    if study.phase is State.CALIBRATION:
        return _next_of_calibration(db, person, is_complete=is_complete)
    if study.phase in (State.OPEN, State.THIRD):
        if not is_complete:
            return NextStep("See progress", "Reviewers are labelling. There is nothing to do here.", page=WAITING)
        if study.phase is State.OPEN and status.n_reviewers > (study.plan_parameters or {}).get("per_item", 2):
            why = "All first labels are given. Settle split items before you close the study."
            return NextStep(BUTTONS[Step.THIRD], why, step=Step.THIRD)
        return NextStep(BUTTONS[Step.CLOSE], "All labels are given.", step=Step.CLOSE)
    if study.phase is State.CLOSED:
        return _next_of_closed(db, person)
    if computing.n_missing(db):
        return NextStep("Compute verdicts", "Some items have no verdicts of the classifiers.", page="Verdicts")
    return NextStep("See the report", "All data for the report are available.", page="Report")


def _next_of_draft(status: coordinating.Status) -> NextStep:
    if not status.n_items:
        return NextStep("Import measurements", "A study needs measurements of benchmarks.", page="Data")
    if status.n_reviewers < 2:
        return NextStep("Add reviewers", "Agreement needs at least two reviewers.", page="People")
    if status.n_answers:
        return NextStep(BUTTONS[Step.OPEN], "The study has imported labels.", step=Step.OPEN)
    return NextStep(
        "Create the plan", "The plan decides who labels which items. Creating the plan opens the study.", page="Plan"
    )


def _next_of_calibration(db: Database, person: str, *, is_complete: bool) -> NextStep:
    if not is_complete:
        return NextStep("See progress", "Reviewers are labelling the calibration items.", page=WAITING)
    if not identity.reviews_too(db, person) and calibrating.result(db).not_passed:
        return NextStep(
            "See the calibration result",
            "The round is finished, but the required agreement was not reached.",
            page="Calibration",
        )
    return NextStep(BUTTONS[Step.OPEN], "All reviewers have finished the calibration round.", step=Step.OPEN)


def _next_of_closed(db: Database, person: str) -> NextStep:
    if not identity.why_hidden(db, person, Action.SEE_AGREEMENT):
        n_left = sum(split.remains for split in splits.split_items(db))
        if n_left and not splits.why_not_decide(db, person):
            return NextStep(
                f"Decide {counted(n_left, 'split item')}",
                "Labelling has ended, but not every split item has a majority or a decision.",
                page="Splits",
            )
    if computing.n_missing(db):
        return NextStep("Compute verdicts", "The report compares the labels with the classifiers.", page="Verdicts")
    return NextStep(BUTTONS[Step.UNBLIND], "Labelling has ended.", step=Step.UNBLIND)


def _others(
    db: Database, person: str, status: coordinating.Status, next_: NextStep, *, is_complete: bool
) -> tuple[Step, ...]:
    """Return the useful steps other than the recommended next action."""
    study = status.study
    pointless = {next_.step}
    if study.phase is State.CALIBRATION and identity.reviews_too(db, person):
        pointless.discard(Step.OPEN)  # the coordinator must not learn whether the calibration round was passed
    if study.phase in (State.DRAFT, State.CLOSED, State.UNBLINDED):
        pointless.add(Step.PAUSE)
    if study.phase is State.DRAFT:
        pointless.add(Step.OPEN)
    if not is_complete:
        pointless.add(Step.THIRD)
    return tuple(step for step in possible(study) if step not in pointless)
