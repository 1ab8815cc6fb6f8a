"""Store and read reviewers and coordinators."""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from labeler.studies.model import Person, Role
from labeler.studies.store.database import Database

_NAMES = ("person_id", "name", "is_reviewer", "is_coordinator", "active", "paused")
_COLUMNS = ", ".join(_NAMES)
JOINED = ", ".join(f"p.{name} AS their_{name}" for name in _NAMES)  # columns of the table `people p` in a join


def add(db: Database, name: str, roles: Iterable[Role], created_utc: str) -> int:
    """Store a new person."""
    roles = set(roles)
    row = db.execute(
        """INSERT INTO people (name, is_reviewer, is_coordinator, created_utc) VALUES (?, ?, ?, ?)
           RETURNING person_id""",
        (name, Role.REVIEWER in roles, Role.COORDINATOR in roles, created_utc),
    ).fetchone()
    return int(row[0])


def all_people(db: Database) -> list[Person]:
    """Return all people, sorted by name."""
    return [_person(row) for row in db.records(f"SELECT {_COLUMNS} FROM people ORDER BY name")]  # noqa: S608 - constant


def reviewers(db: Database) -> list[Person]:
    """Return the reviewers, sorted by name."""
    return [person for person in all_people(db) if Role.REVIEWER in person.roles]


def by_name(db: Database, name: str) -> Person | None:
    """Return the person with this name, in any case and Unicode form of its letters; return None if there is none."""
    wanted = folded(name)
    return next((person for person in all_people(db) if folded(person.name) == wanted), None)


def folded(name: str) -> str:
    """Return the form in which equal names are equal texts: without case, and in one Unicode form."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def by_id(db: Database, person_id: int) -> Person | None:
    """Return the person with this id; return None if there is none."""
    return _one(db, "person_id = ?", person_id)


def by_email(db: Database, email: str) -> Person | None:
    """Return the person who signs in with this e-mail address, in upper or lower case; return None if there is none."""
    return _one(db, "email = ?", email)


def set_email(db: Database, person_id: int, email: str | None) -> None:
    """Store the e-mail address that a person has at the identity provider.

    Raises sqlite3.IntegrityError if another person has this address.
    """
    db.execute("UPDATE people SET email = ? WHERE person_id = ?", (email, person_id))


def _one(db: Database, condition: str, value: str | int) -> Person | None:
    rows = db.records(f"SELECT {_COLUMNS} FROM people WHERE {condition}", (value,))  # noqa: S608 - constants
    return _person(rows[0]) if rows else None


def _person(row: Mapping[str, Any]) -> Person:
    has_role = {Role.REVIEWER: row["is_reviewer"], Role.COORDINATOR: row["is_coordinator"]}
    roles = frozenset(role for role, is_held in has_role.items() if is_held)
    return Person(row["person_id"], row["name"], roles, bool(row["active"]), bool(row["paused"]))


def joined(row: Mapping[str, Any]) -> Person | None:
    """Return the person in a row with the columns `JOINED`; return None if the join found nobody."""
    return _person({name: row[f"their_{name}"] for name in _NAMES}) if row["their_person_id"] is not None else None


def set_part(db: Database, person_id: int, *, active: bool, paused: bool) -> None:
    """Store whether a person takes part in the study, and whether the person is paused."""
    db.execute("UPDATE people SET active = ?, paused = ? WHERE person_id = ?", (active, paused, person_id))


def set_roles(db: Database, person_id: int, roles: Iterable[Role]) -> None:
    """Set the roles of a person."""
    roles = set(roles)
    db.execute(
        "UPDATE people SET is_reviewer = ?, is_coordinator = ? WHERE person_id = ?",
        (Role.REVIEWER in roles, Role.COORDINATOR in roles, person_id),
    )


def emails(db: Database) -> dict[str, str]:
    """Return the e-mail addresses of people, as address -> name."""
    return dict(db.execute("SELECT email, name FROM people WHERE email IS NOT NULL").fetchall())
