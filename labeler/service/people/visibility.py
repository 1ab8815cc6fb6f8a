"""Decide what a coordinator may see in the browser.

These rules do not apply to commands, because commands act as the owner of the study, who may see everything.
"""

from labeler.errors import NotAllowed
from labeler.model import Role, State
from labeler.plan.lifecycle import Action, why_hidden
from labeler.store import Database, people, studies


def why_not(db: Database, coordinator: str, action: Action) -> str:
    """Return why labels, agreement or verdicts are hidden from this coordinator now; return "" if they are visible.

    `action` is one of `labeler.plan.lifecycle.SIGHTS`.
    """
    person = people.by_name(db, coordinator)
    if person is None or not is_coordinator(db, coordinator):
        return "Only coordinators of the study can see this."
    return why_hidden(studies.get(db), person.roles, action)


def is_coordinator(db: Database, name: str) -> bool:
    """Return whether the person with this name is a coordinator of the study now.

    Pages that refresh automatically call this function at each refresh.
    """
    person = people.by_name(db, name)
    return person is not None and person.active and Role.COORDINATOR in person.roles


def require(db: Database, coordinator: str, action: Action) -> None:
    """Raise NotAllowed if `why_not` returns a reason; the reason is the message of the error."""
    reason = why_not(db, coordinator, action)
    if reason:
        raise NotAllowed(reason)


def reviews_too(db: Database, coordinator: str) -> bool:
    """Return whether a coordinator is also a reviewer and the study is not unblinded.

    If so, other people's labels could influence the coordinator's own labels.
    """
    person = people.by_name(db, coordinator)
    return person is not None and Role.REVIEWER in person.roles and studies.get(db).phase is not State.UNBLINDED
