"""Who is signed in where; only hashes of the session ids are kept."""

from labeler.model import Person
from labeler.store import people
from labeler.store.database import Database


def add(db: Database, session_hash: str, person_id: int, created_utc: str) -> None:
    """Begin a session."""
    db.execute(
        "INSERT INTO sessions (session_hash, person_id, created_utc) VALUES (?, ?, ?)",
        (session_hash, person_id, created_utc),
    )


def person_of(db: Database, session_hash: str) -> Person | None:
    """Whose session this is."""
    row = db.execute("SELECT person_id FROM sessions WHERE session_hash = ?", (session_hash,)).fetchone()
    return people.by_id(db, row[0]) if row else None


def end(db: Database, session_hash: str) -> None:
    """End one session."""
    db.execute("DELETE FROM sessions WHERE session_hash = ?", (session_hash,))


def end_all_of(db: Database, person_id: int) -> None:
    """End every session of a person."""
    db.execute("DELETE FROM sessions WHERE person_id = ?", (person_id,))
