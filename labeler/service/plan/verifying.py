"""Whether the plan is what follows from its seed, the people and the log, step by step."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from labeler.errors import InputError, LabelerError
from labeler.model import Origin, PlanParameters, Study
from labeler.plan.active_plan import Underway, place_of
from labeler.plan.design import draw_plan
from labeler.service.plan import assigning
from labeler.service.plan.assigning import Given
from labeler.store import Database, assignments, events, items, studies
from labeler.store.assignments import StoredAssignment
from labeler.store.events import Event

EXAMPLES = 3


@dataclass(frozen=True)
class Verified:
    """What came of deriving the plan again.

    Attributes
    ----------
    hash_drawn : str
        Of the plan as it was drawn.
    n_changes : int
        Changes since then: who joined, left or was replaced, and the third round.
    hash_now : str
        Of what is assigned now.
    n_imported : int
        Assignments that came with labels made elsewhere; they belong to no plan.
    problems : tuple of str
        Where the log and the assignments differ, in words; empty if nothing does.
    """

    hash_drawn: str
    n_changes: int
    hash_now: str
    n_imported: int
    problems: tuple[str, ...]

    def plain(self) -> dict[str, Any]:
        """As JSON-ready values."""
        return {
            "hash_drawn": self.hash_drawn, "changes": self.n_changes, "hash_now": self.hash_now,
            "imported": self.n_imported, "verified": not self.problems, "problems": list(self.problems),
        }  # fmt: skip


def verify_plan(db: Database) -> Verified:
    """Draw the plan again from its seed, make every logged change again, and compare with what is assigned.

    Raises
    ------
    NotAllowed
        If there is no plan, or it lost its seed when the study was anonymised.
    """
    with db.atomic():
        study, kept, now = studies.get(db), assignments.everything(db), assigning.underway(db)
        given = assigning.given(db)
        log = events.of_actions(db, {"draw plan", "exclude item", "include item", *_CHANGES})
    drawn_at = max((place for place, event in enumerate(log) if event.action == "draw plan"), default=None)
    if drawn_at is None:
        return Verified(study.plan_hash or "", 0, now.hash, len(now.imported), ("the log names no drawing of a plan",))
    start, problems = _drawn(db, log[drawn_at], study, kept, now)
    problems += _believed(kept, given)
    n_changes = 0
    for event in log[:drawn_at]:
        start = _with_excluded(start, event)
    for event in log[drawn_at + 1 :]:
        start = _with_excluded(start, event)
        if event.action in _CHANGES:
            n_changes += 1
            start, problem = _made_again(_at(start, event, kept, given), event, given)
            problems += problem
    return Verified(
        study.plan_hash or "", n_changes, now.hash, len(now.imported), (*problems, *_differences(start, now))
    )


def _made_again(state: Underway, event: Event, given: Given) -> tuple[Underway, list[str]]:
    """A logged change made again, and what is wrong with it."""
    what = f"the change {event.action!r} of {event.at_utc[:16]}"
    try:
        after = _CHANGES[event.action](state, event.details, given)
    except (LabelerError, LookupError) as error:
        return state, [f"{what} cannot be made again: {error}"]
    return after, [] if after.hash == event.details["hash"] else [f"{what} gives another plan than logged"]


def _believed(kept: Sequence[StoredAssignment], given: Given) -> list[str]:
    """Assignments that say that they came with imported labels, and have none."""
    answered = {place for place, _ in given.marks}
    n_without = sum(row.origin is Origin.IMPORT and place_of(row.assignment) not in answered for row in kept)
    return [f"{n_without} assignments are said to be imported, but have no answer"] if n_without else []


def _drawn(
    db: Database, event: Event, study: Study, kept: Sequence[StoredAssignment], now: Underway
) -> tuple[Underway, list[str]]:
    """The plan drawn again, and what is wrong with it."""
    told = dict(event.details)
    applications = {item.name: item.application for item in items.all_items(db)}
    planned = [row.assignment for row in kept if row.origin is Origin.PLAN]
    names = told.pop("items", [one.item for one in planned])  # logs of older versions name neither
    reviewers = told.pop("reviewers", [one.reviewer for one in planned])
    told.pop("hash")
    problems = [] if told == study.plan_parameters else ["the study names other parameters of its plan than the log"]
    known = {name: applications[name] for name in names if name in applications}
    try:
        plan = draw_plan(known, reviewers, PlanParameters(**told))
    except (InputError, TypeError) as error:
        return replace(now, standing={}), [*problems, f"the plan cannot be drawn again: {error}"]
    start = replace(
        now, standing={place_of(one): one for one in plan.assignments}, answers={}, excluded=frozenset(),
        imported=frozenset(), labelled=frozenset(), ended={},
    )  # fmt: skip
    if plan.hash != study.plan_hash:
        problems.append("the plan drawn again from its seed has another hash")
    return start, problems


def _at(state: Underway, event: Event, kept: Sequence[StoredAssignment], given: Given) -> Underway:
    """The state as a change found it: with the answers until then, and what had been imported."""
    n_answers = int(event.details["answers"])
    answers = given.until(n_answers)
    come = {
        place_of(row.assignment): row.assignment
        for row in kept
        if row.origin is Origin.IMPORT and place_of(row.assignment) in answers.keys() - state.imported
    }
    return replace(
        state,
        standing={**come, **state.standing},
        answers=answers,
        imported=state.imported | come.keys(),
        labelled=given.labelled(n_answers),
    )


def _with_excluded(state: Underway, event: Event) -> Underway:
    if event.action == "exclude item":
        return replace(state, excluded=state.excluded | {event.details["item"]})
    if event.action == "include item":
        return replace(state, excluded=state.excluded - {event.details["item"]})
    return state


def _differences(derived: Underway, now: Underway) -> list[str]:
    """What is assigned otherwise than it follows, a few examples of each kind."""
    one, other = (
        {place: a for place, a in state.standing.items() if place not in state.imported} for state in (derived, now)
    )
    kinds = {
        "assigned, but not by the plan": other.keys() - one.keys(),
        "in the plan, but not assigned": one.keys() - other.keys(),
        "assigned at another place": {place for place in one.keys() & other.keys() if one[place] != other[place]},
    }
    return [
        f"{len(places)} {words}, such as {'; '.join(' / '.join(place) for place in sorted(places)[:EXAMPLES])}"
        for words, places in kinds.items()
        if places
    ]


_Change = Callable[[Underway, Mapping[str, Any], Given], Underway]
_CHANGES: Mapping[str, _Change] = {
    "join": lambda state, told, _: state.joined(told["name"], calibrating=told["calibrating"])[0],
    "remove reviewer": lambda state, told, _: state.without(told["name"], told["staying"])[0],
    "replace reviewer": lambda state, told, _: state.succeeded(told["name"], told["successor"], told["staying"])[0],
    "third round": lambda state, told, given: state.in_third_round(
        given.first_labels(told["answers"]), told["reviewers"]
    )[0],
}
