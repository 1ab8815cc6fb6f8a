"""Verify that the current assignments follow from the seed of the plan and the log.

The original plan and each logged change are derived again, one after another.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from analysis.text import minute
from labeler.errors import InputError, LabelerError
from labeler.studies.model import Origin, PlanParameters, Study
from labeler.studies.plan.active_plan import ActivePlan, place_of
from labeler.studies.plan.design import draw_plan
from labeler.studies.preparing import assigning, attention
from labeler.studies.preparing.assigning import AnswerHistory
from labeler.studies.store import Database, actions, assignments, events, items, studies
from labeler.studies.store.actions import LogAction
from labeler.studies.store.assignments import StoredAssignment
from labeler.studies.store.log_state import Event

EXAMPLES = 3


@dataclass(frozen=True)
class VerificationResult:
    """The result of verifying the plan."""

    hash_drawn: str  # hash of the original plan
    # Number of changes since the plan was created: reviewers who joined, left or were replaced, added items, and
    # the round of third labels.
    n_changes: int
    hash_now: str  # hash of the current assignments
    n_imported: int  # number of assignments of imported labels, which are not part of the plan
    # Differences between the log and the assignments, as texts; empty if the plan was verified.
    problems: tuple[str, ...]

    def json_values(self) -> dict[str, Any]:
        """Return the result as values that can be written as JSON."""
        return {
            "hash_drawn": self.hash_drawn, "changes": self.n_changes, "hash_now": self.hash_now,
            "imported": self.n_imported, "verified": not self.problems, "problems": list(self.problems),
        }  # fmt: skip


def verify_plan(db: Database) -> VerificationResult:
    """Derive the plan again from its seed and all logged changes, and compare the result with the stored assignments.

    Raises NotAllowed if there is no plan, or its seed was removed when the study was anonymised.
    """
    with db.atomic():
        study, rows, now = studies.get(db), assignments.everything(db), assigning.active_plan(db)
        history = assigning.answer_history(db)
        log = events.of_actions(db, [actions.DRAW_PLAN, actions.EXCLUDE_ITEM, actions.INCLUDE_ITEM, *REPEATED])
    drawn_at = max((place for place, event in enumerate(log) if event.action == actions.DRAW_PLAN.name), default=None)
    if drawn_at is None:
        return VerificationResult(
            study.plan_hash or "",
            0,
            now.hash,
            len(now.imported),
            ("the log has no entry for the creation of the plan",),
        )
    excluded = reduce(_still_excluded, log[:drawn_at], frozenset[str]())
    start, problems = _redraw(db, log[drawn_at], study, replace(now, excluded=excluded))
    problems += _unanswered_imports(rows, history)
    n_changes = 0
    for event in log[drawn_at + 1 :]:
        start = replace(start, excluded=_still_excluded(start.excluded, event))
        if actions.ACTIONS[event.action] in REPEATED:
            n_changes += 1
            start, problem = _redo(start, event, rows, history)
            problems += problem
    return VerificationResult(
        study.plan_hash or "", n_changes, now.hash, len(now.imported), (*problems, *_differences(start, now))
    )


def _redo(
    state: ActivePlan, event: Event, rows: Sequence[StoredAssignment], history: AnswerHistory
) -> tuple[ActivePlan, list[str]]:
    """Apply a logged change to a state of the plan; return the new state, and a list of problems."""
    change = f"the change {event.action!r} at {minute(event.at_utc)} UTC"
    try:
        logged = event.details["hash"]
        state = _at(state, event, rows, history)
        after = REPEATED[actions.ACTIONS[event.action]](state, event.details, history)
    except (LabelerError, LookupError) as error:
        return state, [f"{change} cannot be repeated: {error}"]
    return after, [] if after.hash == logged else [f"{change} does not give the plan that the log recorded"]


def _unanswered_imports(rows: Sequence[StoredAssignment], history: AnswerHistory) -> list[str]:
    """Return a text if assignments are marked as imported but have no answer; return an empty list if none are."""
    answered = {place for place, _ in history.marks}
    n_without = sum(row.origin is Origin.IMPORT and place_of(row.assignment) not in answered for row in rows)
    return [f"{n_without} assignments are marked as imported, but have no answer"] if n_without else []


def _redraw(db: Database, event: Event, study: Study, now: ActivePlan) -> tuple[ActivePlan, list[str]]:
    """Derive the original plan again, without the items that are excluded in `now`.

    Return the state of the plan, and a list of problems.
    """
    parameters = dict(event.details)
    applications = {item.name: item.application for item in items.all_items(db)}
    try:
        names, reviewers, _ = (parameters.pop(name) for name in ("items", "reviewers", "hash"))
    except KeyError as missing:
        return replace(now, standing={}), [f"the log entry for the creation of the plan has no {missing}"]
    first, question = parameters.pop("first", None), parameters.pop("question", "")
    chosen, checks = parameters.pop("chosen", ()), items.attention_checks(db)
    known = [check.source for check in checks if not check.is_changed]
    problems = [] if parameters == study.plan_parameters else ["the study and the log have different plan parameters"]
    later = {name for names in assigning.later_items(db).values() for name in names}
    countable = {item.name for item in items.all_items(db) if item.n_runs} - now.excluded - later
    if first is not None and set(names) != set(assigning.random_order(countable, assigning.seed_of(db))[:first]):
        problems.append(
            f"the plan does not begin with the first {first} items of the random order that its seed determines"
        )
    drawn_items = {name: applications[name] for name in names if name in applications}
    try:
        plan = draw_plan(
            drawn_items, reviewers, PlanParameters(**parameters), studies.plan_secret(db), question, chosen, known,
        )  # fmt: skip
    except (InputError, TypeError) as error:
        return replace(now, standing={}), [*problems, f"the plan cannot be derived again: {error}"]
    start = replace(
        now, standing={place_of(assignment): assignment for assignment in plan.assignments}, answers={},
        excluded=now.excluded, imported=frozenset(), labelled=frozenset(), ended={},
    )  # fmt: skip
    problems += attention.differences(plan, checks)
    if plan.hash != study.plan_hash:
        problems.append("the seed gives a plan with a different hash")
    return start, problems


def _at(state: ActivePlan, event: Event, rows: Sequence[StoredAssignment], history: AnswerHistory) -> ActivePlan:
    """Return the state of the plan just before a logged change.

    The state includes the answers and imported assignments that existed before the change.
    """
    n_answers = int(event.details["answers"])
    answers = history.until(n_answers)
    imported = {
        place_of(row.assignment): row.assignment
        for row in rows
        if row.origin is Origin.IMPORT and place_of(row.assignment) in answers.keys() - state.imported
    }
    return replace(
        state,
        standing={**imported, **state.standing},
        answers=answers,
        imported=state.imported | imported.keys(),
        labelled=history.labelled(n_answers),
        n_bound=int(event.details["offered"]),
    )


def _still_excluded(excluded: frozenset[str], event: Event) -> frozenset[str]:
    """Return the set of excluded items after an event, which may have excluded or included an item."""
    if event.action == actions.EXCLUDE_ITEM.name:
        return excluded | {event.details["item"]}
    if event.action == actions.INCLUDE_ITEM.name:
        return excluded - {event.details["item"]}
    return excluded


def _differences(derived: ActivePlan, now: ActivePlan) -> list[str]:
    """Return a text for each kind of difference between derived and current assignments, with a few examples."""
    expected, other = (
        {place: a for place, a in state.standing.items() if place not in state.imported} for state in (derived, now)
    )
    kinds = {
        "in the study but not in the plan": other.keys() - expected.keys(),
        "in the plan but not in the study": expected.keys() - other.keys(),
        "at a different position in the study than in the plan": {
            place for place in expected.keys() & other.keys() if expected[place] != other[place]
        },
    }
    return [
        f"assignments {words}: {len(places)}, such as "
        + "; ".join(" / ".join(place) for place in sorted(places)[:EXAMPLES])
        for words, places in kinds.items()
        if places
    ]


_Change = Callable[[ActivePlan, Mapping[str, Any], AnswerHistory], ActivePlan]
# How each logged change of the plan is repeated. The actions are those that log the hash of the changed plan.
REPEATED: Mapping[LogAction[...], _Change] = {
    actions.JOIN: lambda state, details, _: state.joined(details["name"], calibrating=details["calibrating"])[0],
    actions.REMOVE_REVIEWER: lambda state, details, _: state.without(details["name"], details["staying"])[0],
    actions.REPLACE_REVIEWER: lambda state, details, _: state.succeeded(
        details["name"], details["successor"], details["staying"], calibrating=details["calibrating"]
    )[0],
    actions.CALIBRATE_AGAIN: lambda state, details, _: state.calibrated_again(details["items"], details["reviewers"]),
    actions.NEXT_ITEMS: lambda state, details, _: state.with_items(
        [*details["random"], *details["chosen"]], details["reviewers"], details["per_item"]
    ),
    actions.THIRD_ROUND: lambda state, details, history: state.in_third_round(
        *history.split_and_agreed(details["answers"]), details["reviewers"]
    )[0],
}
