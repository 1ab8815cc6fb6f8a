"""Store and read invitations: the hashes of sign-in secrets, and when the secrets stopped working."""

from dataclasses import dataclass

from labeler.store.database import Database
from labeler.store.hashes import matching, nearby


@dataclass(frozen=True)
class Invitation:
    """An invitation of a person. A time is None if the event has not happened."""

    person_id: int
    created_utc: str
    expires_utc: str | None
    replaced_utc: str | None
    revoked_utc: str | None


def add(db: Database, secret_hash: str, person_id: int, created_utc: str, expires_utc: str | None) -> None:
    """Store a new invitation."""
    db.execute(
        "INSERT INTO invitations (secret_hash, person_id, created_utc, expires_utc) VALUES (?, ?, ?, ?)",
        (secret_hash, person_id, created_utc, expires_utc),
    )


def find(db: Database, secret_hash: str) -> Invitation | None:
    """Return the invitation with the hash of this secret, valid or not; return None if there is none."""
    rows = db.execute(
        """SELECT secret_hash, person_id, created_utc, expires_utc, replaced_utc, revoked_utc FROM invitations
           WHERE secret_hash >= ? AND secret_hash < ?""",
        nearby(secret_hash),
    )
    row = matching(rows, secret_hash)
    return Invitation(*row) if row else None


def replace_all_of(db: Database, person_id: int, at_utc: str) -> None:
    """Mark a person's earlier invitations as replaced by a newer invitation."""
    db.execute(
        "UPDATE invitations SET replaced_utc = ? WHERE person_id = ? AND coalesce(replaced_utc, revoked_utc) IS NULL",
        (at_utc, person_id),
    )


def revoke_all_of(db: Database, person_id: int, at_utc: str) -> int:
    """Revoke all invitations of a person; return how many of the invitations were valid."""
    cursor = db.execute(
        "UPDATE invitations SET revoked_utc = ? WHERE person_id = ? AND coalesce(replaced_utc, revoked_utc) IS NULL",
        (at_utc, person_id),
    )
    return cursor.rowcount
