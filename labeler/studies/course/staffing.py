"""Change the reviewers of a running study: add, pause, resume, remove or replace reviewers."""

import dataclasses
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from analysis.text import counted
from labeler.errors import InputError, NotAllowed
from labeler.studies.model import Person, Role, State
from labeler.studies.people import identity
from labeler.studies.people.identity import checked_reason
from labeler.studies.plan.active_plan import ActivePlan
from labeler.studies.plan.changes import Changes
from labeler.studies.plan.lifecycle import Action, require
from labeler.studies.preparing import assigning
from labeler.studies.store import Database, actions, events, labels, people, studies
from labeler.studies.store.actions import LogAction
from labeler.studies.store.events import Deed


@dataclass(frozen=True)
class StaffChange:
    """The result of a change of reviewers; it does not reveal which reviewers share an item."""

    n_moved: int = 0  # number of open items that moved to other reviewers
    n_given_up: int = 0  # number of open items that are no longer assigned
    shortfalls: tuple[str, ...] = ()  # requirements that could not be met, as texts
    is_new: bool = False  # whether the successor is new to the study and needs a sign-in link

    def describe(self, name: str) -> str:
        """Return a sentence for coordinators about the items of the reviewer `name`.

        The sentence leaves out the shortfalls, because they name other reviewers.
        """
        if not (self.n_moved or self.n_given_up):
            return f"{name}: no open items reassigned."
        return f"{name}: {counted(self.n_moved, 'open item')} reassigned, {self.n_given_up} no longer assigned."


def add(
    db: Database, name: str, roles: Iterable[Role], *, look_alike: bool = False, actor: str, now: datetime
) -> tuple[Person, StaffChange]:
    """Add a person to the study; return the person, and the change of the plan.

    A reviewer who joins after the plan was created gets open items of other reviewers. Raises InputError if the name is
    empty, too long, not printable, or taken. Raises NotAllowed if a reviewer is added after the study was closed.
    """
    roles = frozenset(roles)
    with events.by(db, actor, now) as deed:
        study = studies.get(db)
        if Role.REVIEWER in roles:
            require(study, Action.PEOPLE)
        person = identity.add_person(db, name, roles, look_alike=look_alike, actor=actor, now=now)
        if Role.REVIEWER not in roles or study.plan_hash is None:
            return person, StaffChange()
        return person, _join(deed, person.name)


def add_all(
    db: Database, text: str, roles: Iterable[Role], *, look_alike: bool = False, actor: str, now: datetime
) -> list[tuple[str, StaffChange]]:
    """Add the people in a pasted list to the study, with their e-mail addresses (`identity.people_in`).

    If one person cannot be added, nobody is added. Raises InputError if the list has no name, or in the same cases as
    `add`. Raises NotAllowed in the same cases as `add`.
    """
    wanted, roles = identity.people_in(text), frozenset(roles)
    if not wanted:
        raise InputError("Write at least one name.")
    added = []
    with db.atomic():
        for name, email in wanted:
            person, change = add(db, name, roles, look_alike=look_alike, actor=actor, now=now)
            if email:
                identity.set_email(db, person.name, min(roles), email, actor=actor, now=now)
            added.append((person.name, change))
    return added


def pause(db: Database, name: str, *, why: str = "", actor: str, now: datetime) -> None:
    """Pause a reviewer, who can then not label; the reviewer's open items stay assigned.

    Raises InputError if there is no such reviewer, or the reason is invalid. Raises NotAllowed if the reviewer is
    already paused or no longer active.
    """
    with events.by(db, actor, now) as deed:
        person = _taking_part(db, name)
        if person.paused:
            raise NotAllowed(f"{person.name} is already paused.")
        people.set_part(db, person.person_id, active=True, paused=True)
        deed.log(actions.PAUSE_REVIEWER, name=person.name, **_note(why))


def resume(db: Database, name: str, *, actor: str, now: datetime) -> StaffChange:
    """Let a paused or removed reviewer label again.

    A removed reviewer gets open items of other reviewers, as a new reviewer does. Raises InputError if there is no such
    reviewer. Raises NotAllowed if the reviewer is active, or the study is closed.
    """
    with events.by(db, actor, now) as deed:
        person = reviewer_named(db, name)
        if person.active and not person.paused:
            raise NotAllowed(f"{person.name} already takes part.")
        require(studies.get(db), Action.PEOPLE)
        people.set_part(db, person.person_id, active=True, paused=False)
        deed.log(actions.RESUME_REVIEWER, name=person.name)
        if not _has_left(db, person) or studies.get(db).plan_hash is None:
            return StaffChange()
        return _join(deed, person.name)


def remove(db: Database, name: str, *, why: str = "", actor: str, now: datetime) -> StaffChange:
    """Remove a reviewer from the study; a removed reviewer can no longer sign in.

    The reviewer's labels are kept, and the reviewer's open items move to other reviewers. Raises InputError if there is
    no such reviewer, or the reason is invalid. Raises NotAllowed if the reviewer is no longer active, or the
    study is closed.
    """
    with events.by(db, actor, now) as deed:
        person = _leaving(db, name)
        details: dict[str, Any] = {"name": person.name, **_note(why)}
        if studies.get(db).plan_hash is None:
            deed.log(actions.REMOVE_REVIEWER, **details)
            return StaffChange()
        staying = _able(db, without={person.name})
        before = assigning.active_plan(db)
        after, changes = before.without(person.name, staying)
        return _record(deed, before, after, changes, actions.REMOVE_REVIEWER, **details, staying=staying)


def replace(
    db: Database, name: str, successor: str, *, why: str = "", actor: str, now: datetime
) -> tuple[Person, StaffChange]:
    """Replace a reviewer with a successor, who takes over the open items.

    The successor may be new or already in the study. Raises InputError if the reviewer is unknown, the name of the
    successor or the reason is invalid. Raises NotAllowed if the reviewer is no longer active, or the study is
    closed.
    """
    with events.by(db, actor, now) as deed:
        if name.strip().casefold() == successor.strip().casefold():
            raise InputError(f"{name} cannot be their own successor. Choose another person.")
        person = _leaving(db, name)
        is_new = people.by_name(db, successor.strip()) is None
        heir = _heir(deed, successor)
        details: dict[str, Any] = {"name": person.name, "successor": heir.name, **_note(why)}
        if studies.get(db).plan_hash is None:
            deed.log(actions.REPLACE_REVIEWER, **details)
            return heir, StaffChange(is_new=is_new)
        staying = _able(db, without={person.name})
        before = assigning.active_plan(db)
        calibrating = studies.get(db).phase is State.CALIBRATION
        after, changes = before.succeeded(person.name, heir.name, staying, calibrating=calibrating)
        details |= {"staying": staying, "calibrating": calibrating}
        change = _record(deed, before, after, changes, actions.REPLACE_REVIEWER, **details)
        return heir, dataclasses.replace(change, is_new=is_new)


def _note(why: str) -> dict[str, str]:
    """Return the reason for the log; reasons are optional."""
    return {"why": checked_reason(why)} if why.strip() else {}


def reviewer_named(db: Database, name: str) -> Person:
    """Return the reviewer with this name; raises InputError if there is no such reviewer."""
    person = people.by_name(db, name.strip())
    if person is None or Role.REVIEWER not in person.roles:
        names = ", ".join(reviewer.name for reviewer in people.reviewers(db)) or "none yet"
        raise InputError(f"There is no reviewer called {name} in this study. Reviewers: {names}.")
    return person


def _join(deed: Deed, name: str) -> StaffChange:
    calibrating = studies.get(deed.db).phase is State.CALIBRATION
    before = assigning.active_plan(deed.db)
    after, changes = before.joined(name, calibrating=calibrating)
    return _record(deed, before, after, changes, actions.JOIN, name=name, calibrating=calibrating)


def _record(
    deed: Deed, before: ActivePlan, after: ActivePlan, changes: Changes, action: LogAction[...], **details: Any
) -> StaffChange:
    """Store a change of the plan, and return the result.

    The log gets the details from which the change can be derived again.
    """
    assigning.update_assignments(deed.db, before, after, now=deed.now)
    deed.log(action, **details, answers=labels.n_labels(deed.db), offered=before.n_bound, hash=after.hash)
    n_given_up = sum(move.taker is None for move in changes.moves)
    return StaffChange(len(changes.moves) - n_given_up, n_given_up, changes.shortfalls)


def _taking_part(db: Database, name: str) -> Person:
    require(studies.get(db), Action.PEOPLE)
    person = reviewer_named(db, name)
    if not person.active or (person.paused and _has_left(db, person)):
        raise NotAllowed(f"{person.name} no longer takes part.")
    return person


def _has_left(db: Database, person: Person) -> bool:
    """Return whether a reviewer was removed from the study.

    A removed reviewer who is also a coordinator is stored as active but paused, so the log decides.
    """
    changes = [
        event.action
        for event in events.of_actions(db, [actions.PAUSE_REVIEWER, actions.REMOVE_REVIEWER, actions.REPLACE_REVIEWER])
        if event.details["name"] == person.name
    ]
    return not person.active or changes[-1:] != [actions.PAUSE_REVIEWER.name]


def _leaving(db: Database, name: str) -> Person:
    """Deactivate a reviewer who leaves, and return the person.

    A reviewer who is also a coordinator stays a coordinator.
    """
    person = _taking_part(db, name)
    coordinates = Role.COORDINATOR in person.roles
    people.set_part(db, person.person_id, active=coordinates, paused=coordinates)
    return person


def _heir(deed: Deed, successor: str) -> Person:
    """Return the person who takes over; add this person to the study or reactivate this person if necessary."""
    db, known = deed.db, people.by_name(deed.db, successor.strip())
    if known is None:
        return identity.add_person(db, successor, [Role.REVIEWER], actor=deed.actor, now=deed.now)
    person = reviewer_named(db, successor)
    paused = person.paused and not _has_left(db, person)
    people.set_part(db, person.person_id, active=True, paused=paused)
    return person


def _able(db: Database, *, without: Collection[str]) -> list[str]:
    """Return the names of the reviewers who can take items: active reviewers who are not paused."""
    return [
        person.name
        for person in people.reviewers(db)
        if person.active and not person.paused and person.name not in without
    ]
