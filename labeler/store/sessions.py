"""Store and read the sessions of people who are signed in; only hashes of session tokens are stored."""

from labeler.model import Person
from labeler.store import people
from labeler.store.database import Database
from labeler.store.hashes import matching, nearby


def add(db: Database, session_hash: str, person_id: int, created_utc: str) -> None:
    """Store a new session of a person."""
    db.execute(
        "INSERT INTO sessions (session_hash, person_id, created_utc) VALUES (?, ?, ?)",
        (session_hash, person_id, created_utc),
    )


def person_of(db: Database, session_hash: str, oldest_utc: str) -> Person | None:
    """Return the person of a session; return None if the session is unknown or began before `oldest_utc`."""
    rows = db.execute(
        """SELECT session_hash, person_id FROM sessions
           WHERE session_hash >= ? AND session_hash < ? AND created_utc >= ?""",
        (*nearby(session_hash), oldest_utc),
    )
    row = matching(rows, session_hash)
    return people.by_id(db, row[0]) if row else None


def end_beyond(db: Database, person_id: int, n_newest: int, oldest_utc: str) -> None:
    """End all sessions of a person that began before `oldest_utc`, and all except the `n_newest` newest sessions."""
    db.execute(
        """DELETE FROM sessions WHERE person_id = ? AND (created_utc < ? OR session_hash NOT IN (
               SELECT session_hash FROM sessions WHERE person_id = ? ORDER BY created_utc DESC, rowid DESC LIMIT ?))""",
        (person_id, oldest_utc, person_id, n_newest),
    )


def end(db: Database, session_hash: str) -> None:
    """End one session."""
    db.execute("DELETE FROM sessions WHERE session_hash = ?", (session_hash,))


def end_all_of(db: Database, person_id: int) -> int:
    """End all sessions of a person; return how many there were."""
    return db.execute("DELETE FROM sessions WHERE person_id = ?", (person_id,)).rowcount
