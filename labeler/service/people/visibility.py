"""Rules for what a coordinator may see in the browser.

Commands act as the owner of the study, so they see everything.
"""

from labeler.errors import NotAllowed
from labeler.model import Role, State
from labeler.plan.lifecycle import Action, why_hidden
from labeler.store import Database, people, studies


def why_not(db: Database, coordinator: str, action: Action) -> str:
    """Return the reason why something is hidden from this coordinator now; return "" if it is visible.

    Parameters
    ----------
    db : Database
    coordinator : str
        The coordinator's name.
    action : Action
        One of `labeler.plan.lifecycle.SIGHTS`.
    """
    person = people.by_name(db, coordinator)
    if person is None or not is_coordinator(db, coordinator):
        return "Only coordinators of the study can see this."
    return why_hidden(studies.get(db), person.roles, action)


def is_coordinator(db: Database, name: str) -> bool:
    """Return whether a person is a coordinator of the study now.

    Pages that refresh automatically check this at each refresh.
    """
    person = people.by_name(db, name)
    return person is not None and person.active and Role.COORDINATOR in person.roles


def require(db: Database, coordinator: str, action: Action) -> None:
    """Raise NotAllowed, with the reason, if this coordinator may not see the information now."""
    reason = why_not(db, coordinator, action)
    if reason:
        raise NotAllowed(reason)


def reviews_too(db: Database, coordinator: str) -> bool:
    """Return whether a coordinator is also a reviewer and the study is not unblinded.

    Other people's labels could then bias the coordinator.
    """
    person = people.by_name(db, coordinator)
    return person is not None and Role.REVIEWER in person.roles and studies.get(db).phase is not State.UNBLINDED
