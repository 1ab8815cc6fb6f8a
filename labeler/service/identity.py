"""Who is there and in which role: people, their invitations, their sessions.

A secret leaves this module once, to be handed to its person; the study keeps only SHA-256 hashes. The secrets are 192
random bits, so a plain hash is enough.
"""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime

from labeler.errors import InputError, NotAllowed, SignInFailed
from labeler.model import Person, Role
from labeler.store import Database, events, people, sessions, studies

MAX_NAME_LENGTH = 60


def add_person(db: Database, name: str, roles: Iterable[Role], *, actor: str, now: datetime) -> Person:
    """Add a reviewer or a coordinator.

    Raises
    ------
    InputError
        If the name is empty, too long, not printable, or taken (capitals do not matter).
    NotAllowed
        If a reviewer is added after the plan was drawn.
    """
    name, roles = checked_name(name), frozenset(roles)
    with db.atomic():
        if people.by_name(db, name) is not None:
            raise InputError(f"There is somebody called {name} in this study already. Choose another name.")
        if Role.REVIEWER in roles and studies.get(db).plan_hash is not None:
            raise NotAllowed(f"The plan is drawn already: {name} would have nothing to label. Add people before it.")
        person_id = people.add(db, name, roles, now.isoformat())
        events.add(db, now.isoformat(), actor, "add person", {"name": name, "roles": sorted(roles)})
    return Person(person_id, name, roles, active=True)


def checked_name(name: str) -> str:
    """The name of a person without spaces around it; raises InputError if it cannot be one."""
    name = name.strip()
    if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise InputError(f"A name has 1 to {MAX_NAME_LENGTH} printable characters, got {name[:80]!r}.")
    return name


def everyone(db: Database) -> list[Person]:
    """All people of the study, in order of name."""
    return people.all_people(db)


def invite(db: Database, name: str, role: Role, *, actor: str, now: datetime) -> str:
    """A new sign-in secret for a person; the one before stops working, open sessions go on.

    Raises
    ------
    InputError
        If there is nobody of this name in this role.
    """
    secret = secrets.token_urlsafe(24)
    with db.atomic():
        person = people.by_name(db, name)
        if person is None or role not in person.roles:
            raise InputError(f"There is no {role} called {name} in this study.")
        people.set_secret_hash(db, person.person_id, _hashed(secret))
        events.add(db, now.isoformat(), actor, "invite", {"name": person.name})
    return secret


def sign_in(db: Database, secret: str, *, now: datetime) -> str:
    """Exchange an invitation for a session; returns the session's id.

    Raises
    ------
    SignInFailed
        If the invitation is unknown, was replaced, or its person no longer takes part.
    """
    token = secrets.token_urlsafe(32)
    with db.atomic():
        person = people.by_secret_hash(db, _hashed(secret))
        if person is None or not person.active:
            raise SignInFailed("This sign-in link is not valid, or no longer. Ask your coordinator for a new one.")
        sessions.add(db, _hashed(token), person.person_id, now.isoformat())
        events.add(db, now.isoformat(), person.name, "sign in", {})
    return token


def person_of_session(db: Database, token: str | None) -> Person | None:
    """Who is signed in with this session id; None for nobody, also after being deactivated."""
    person = sessions.person_of(db, _hashed(token)) if token else None
    return person if person is not None and person.active else None


def sign_out(db: Database, token: str, *, now: datetime) -> None:
    """End a session; an unknown one is none."""
    with db.atomic():
        person = sessions.person_of(db, _hashed(token))
        if person is not None:
            sessions.end(db, _hashed(token))
            events.add(db, now.isoformat(), person.name, "sign out", {})


def require(db: Database, person_id: int, role: Role) -> Person:
    """The person, if they are active and hold the role.

    Raises
    ------
    NotAllowed
    """
    person = people.by_id(db, person_id)
    if person is None or not person.active or role not in person.roles:
        raise NotAllowed(f"This is for {role}s of the study only.")
    return person


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
