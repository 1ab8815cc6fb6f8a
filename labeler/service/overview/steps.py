"""The line of steps of a study, and the parts that have to be set up."""

from collections.abc import Callable, Mapping

from labeler.model import State, counted
from labeler.plan.lifecycle import Action
from labeler.questions import SIMILAR
from labeler.service.overview.facts import (
    ADD,
    ALL_ITEMS,
    GUIDE,
    PEOPLE,
    PLAN,
    Act,
    Facts,
    Line,
    Stage,
    calibrates,
    calibration,
    day_in_words,
)
from labeler.service.people import identity
from labeler.service.results import splits
from labeler.service.study.progress import short_date


def stages_of(facts: Facts) -> tuple[Stage, ...]:
    """Return the steps of the study; without a calibration round, there are four."""
    order = [State.DRAFT, State.CALIBRATION, State.OPEN, State.CLOSED, State.UNBLINDED]
    phase = facts.study.phase
    now = order.index(State.OPEN if phase is State.THIRD and not facts.is_complete else phase) if phase in order else 2
    if phase is State.THIRD or (phase is State.OPEN and facts.is_complete):
        now = order.index(State.CLOSED)
    stages = []
    for place, (name, fact) in enumerate(_STAGES.items()):
        if name == "Calibrate" and not calibrates(facts.study):
            continue
        when = "now" if place == now else "done" if place < now else "next"
        text, share = fact(facts, when)
        if when == "now" and facts.study.state is State.PAUSED:
            since = facts.since(State.PAUSED)
            text = f"Paused since {day_in_words(since.date(), facts.now)}" if since else "Paused"
        stages.append(Stage(name, text, when, 1.0 if when == "done" else share))
    return tuple(stages)


def _set_up(facts: Facts, when: str) -> tuple[str, float]:
    if when == "now":
        parts = parts_of(facts)
        n_done = sum(part.sign == "✓" for part in parts)
        return f"{n_done} of {len(parts)} done", n_done / len(parts)
    people = counted(facts.status.n_reviewers, "person", "people")
    return f"{counted(facts.status.n_items, 'item')}, {people}", 0.0


def _calibrate(facts: Facts, when: str) -> tuple[str, float]:
    n_items = int((facts.study.plan_parameters or {}).get("calibration", 0))
    if when == "next":
        return f"{counted(n_items, 'item')} each", 0.0
    if when == "now":
        finished = [row for row in facts.status.reviewers if row.n_done >= row.n_assigned]
        share = facts.n_done / facts.n_assigned if facts.n_assigned else 0.0
        result = calibration(facts)
        if result is not None and facts.is_complete and result.percent.value is not None:
            needed = f", needs {100 * result.gate.least:.0f} %" if result.gate else ""
            return f"{100 * result.percent.value:.0f} %{needed}", share
        return f"{len(finished)} of {len(facts.status.reviewers)} have finished", share
    opened = [event for event in facts.log if event.action == "open study" and "calibration" in event.details]
    was_passed = not opened or opened[-1].details["calibration"] == "passed"
    result = calibration(facts)
    share_words = f": {100 * result.percent.value:.0f} %" if result and result.percent.value is not None else ""
    return f"{'passed' if was_passed else 'not passed'}{share_words}", 1.0


def _label(facts: Facts, when: str) -> tuple[str, float]:
    begin = facts.since(State.OPEN)
    if when == "next":
        return "every label on its own", 0.0
    if when == "now":
        share = facts.n_done / facts.n_assigned if facts.n_assigned else 0.0
        day = (facts.now - begin).days + 1 if begin else 1
        return f"Day {day}, {100 * share:.0f} % of the labels", share
    end = facts.since(State.CLOSED) or facts.now
    return counted((end - begin).days + 1 if begin else 1, "day"), 1.0


def _settle(facts: Facts, when: str) -> tuple[str, float]:
    if when == "next":
        return "third labels, decisions", 0.0
    if facts.study.phase is State.OPEN:
        return "all first labels are given", 0.0
    if facts.study.phase is State.THIRD:
        return f"third labels: {facts.n_done} of {facts.n_assigned}", 0.5
    if identity.why_hidden(facts.db, facts.person, Action.SEE_AGREEMENT):
        return "closed", 0.5
    n_split = len(splits.split_items(facts.db))
    n_left = sum(split.remains for split in splits.split_items(facts.db))
    if when == "done":
        return counted(n_split, "split item"), 1.0
    settled = "closed, all splits settled" if n_split else "closed, no item is split"
    return f"closed, {counted(n_left, 'item')} to decide" if n_left else settled, 0.5 if n_left else 0.9


def _report(facts: Facts, when: str) -> tuple[str, float]:
    since = facts.since(State.UNBLINDED)
    if when == "now" and since is not None:
        return f"unblinded on {short_date(since.date())}", 1.0
    return "unblind, publish", 0.0


_STAGES: Mapping[str, Callable[[Facts, str], tuple[str, float]]] = {
    "Set up": _set_up, "Calibrate": _calibrate, "Label": _label, "Settle": _settle, "Report": _report,
}  # fmt: skip


def parts_of(facts: Facts) -> tuple[Line, ...]:
    status, study = facts.status, facts.study
    standard = study.question == SIMILAR
    opened = sum(pace.last_seen_utc is not None for pace in facts.paces)
    people = f"{counted(status.n_reviewers, 'reviewer')}, {opened} signed in so far"
    has_instructions = "with" if study.protocol.instructions else "without"
    items = counted(status.n_items, "item") if status.n_items else "None yet"
    return (
        Line(items, "Items", Act("See items", place=ALL_ITEMS) if status.n_items else Act("Add items", place=ADD),
             _sign(status.n_items > 0)),
        Line(f"{'Standard' if standard else 'Own'} question, {has_instructions} instructions of your own",
             "Question and guide", Act("Change", place=GUIDE), _sign(True)),
        Line(people, "People", Act("Invite people", place=PEOPLE), _sign(status.n_reviewers >= 2)),
        Line("Made" if study.plan_hash else "Not made yet", "Plan", Act("Look at the plan", place=PLAN),
             _sign(study.plan_hash is not None)),
    )  # fmt: skip


def _sign(is_done: bool) -> str:
    return "✓" if is_done else "○"
