"""What a coordinator may see in the browser at the moment; commands act as the study's owner and see everything."""

from labeler.errors import NotAllowed
from labeler.model import Role, State
from labeler.plan.lifecycle import Action, why_hidden
from labeler.store import Database, people, studies


def why_not(db: Database, coordinator: str, action: Action) -> str:
    """Why this coordinator is not shown something now; empty if they are.

    Parameters
    ----------
    db : Database
    coordinator : str
        Their name.
    action : Action
        One of `labeler.plan.lifecycle.SIGHTS`.
    """
    person = people.by_name(db, coordinator)
    if person is None or not person.active or Role.COORDINATOR not in person.roles:
        return "This is for coordinators of the study only."
    return why_hidden(studies.get(db), person.roles, action)


def require(db: Database, coordinator: str, action: Action) -> None:
    """Raise NotAllowed, saying why, if this coordinator is not to see it now."""
    reason = why_not(db, coordinator, action)
    if reason:
        raise NotAllowed(reason)


def reviews_too(db: Database, coordinator: str) -> bool:
    """Whether a coordinator labels as well, in a study that is not unblinded: what others say could sway them."""
    person = people.by_name(db, coordinator)
    return person is not None and Role.REVIEWER in person.roles and studies.get(db).phase is not State.UNBLINDED
