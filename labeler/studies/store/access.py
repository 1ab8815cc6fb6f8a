"""Store and find what lets people in: invitations and sessions, of which only the hashes of their secrets are stored.

A hash is found in a time that does not reveal how much of a guess is correct.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any

from labeler.studies.model import Person
from labeler.studies.store import people
from labeler.studies.store.database import Database

_N_FIRST = 16  # number of the 64 digits that the index compares; they are enough to find only a few rows


def _nearby(secret_hash: str) -> tuple[str, str]:
    """Return a lower and an upper bound of all hashes that begin with the same digits as this hash."""
    first = secret_hash[:_N_FIRST]
    return first, first + "~"  # "~" sorts after all digits and letters


def _matching(rows: Iterable[tuple[Any, ...]], secret_hash: str) -> tuple[Any, ...] | None:
    """Return the row whose first column is this hash, without this column; return None if there is no such row."""
    return next((tuple(rest) for stored_hash, *rest in rows if compare_digest(stored_hash, secret_hash)), None)


@dataclass(frozen=True)
class Invitation:
    """An invitation of a person. `replaced_utc` and `revoked_utc` are None if this has not happened."""

    person_id: int
    created_utc: str
    expires_utc: str
    replaced_utc: str | None
    revoked_utc: str | None


def add_invitation(db: Database, secret_hash: str, person_id: int, created_utc: str, expires_utc: str) -> None:
    """Store a new invitation."""
    db.execute(
        "INSERT INTO invitations (secret_hash, person_id, created_utc, expires_utc) VALUES (?, ?, ?, ?)",
        (secret_hash, person_id, created_utc, expires_utc),
    )


def find_invitation(db: Database, secret_hash: str) -> Invitation | None:
    """Return the invitation with the hash of this secret, valid or not; return None if there is none."""
    rows = db.execute(
        """SELECT secret_hash, person_id, created_utc, expires_utc, replaced_utc, revoked_utc FROM invitations
           WHERE secret_hash >= ? AND secret_hash < ?""",
        _nearby(secret_hash),
    )
    row = _matching(rows, secret_hash)
    return Invitation(*row) if row else None


def replace_invitations(db: Database, person_id: int, at_utc: str) -> None:
    """Mark a person's earlier invitations as replaced by a newer invitation."""
    db.execute(
        "UPDATE invitations SET replaced_utc = ? WHERE person_id = ? AND coalesce(replaced_utc, revoked_utc) IS NULL",
        (at_utc, person_id),
    )


def revoke_invitations(db: Database, person_id: int, at_utc: str) -> int:
    """Revoke all invitations of a person; return how many of the invitations were valid."""
    cursor = db.execute(
        "UPDATE invitations SET revoked_utc = ? WHERE person_id = ? AND coalesce(replaced_utc, revoked_utc) IS NULL",
        (at_utc, person_id),
    )
    return cursor.rowcount


def add_session(db: Database, session_hash: str, person_id: int, created_utc: str) -> None:
    """Store a new session of a person."""
    db.execute(
        "INSERT INTO sessions (session_hash, person_id, created_utc) VALUES (?, ?, ?)",
        (session_hash, person_id, created_utc),
    )


def person_of_session(db: Database, session_hash: str, oldest_utc: str) -> Person | None:
    """Return the person of a session; return None if the session is unknown or began before `oldest_utc`."""
    rows = db.records(
        f"""SELECT session_hash, {people.JOINED} FROM sessions JOIN people p USING (person_id)
            WHERE session_hash >= ? AND session_hash < ? AND sessions.created_utc >= ?""",  # noqa: S608 - constants
        (*_nearby(session_hash), oldest_utc),
    )
    own = (row for row in rows if compare_digest(row["session_hash"], session_hash))
    return next(map(people.joined, own), None)


def n_sessions(db: Database, person_id: int, oldest_utc: str) -> int:
    """Return the number of sessions of a person that began at `oldest_utc` or later."""
    query = "SELECT count(*) FROM sessions WHERE person_id = ? AND created_utc >= ?"
    return int(db.execute(query, (person_id, oldest_utc)).fetchone()[0])


def end_session(db: Database, session_hash: str) -> None:
    """End one session."""
    db.execute("DELETE FROM sessions WHERE session_hash = ?", (session_hash,))


def end_sessions(db: Database, person_id: int) -> int:
    """End all sessions of a person; return how many there were."""
    return db.execute("DELETE FROM sessions WHERE person_id = ?", (person_id,)).rowcount
