"""Store and read bins: the summaries of iterations from which the screen draws an item."""

from labeler.store import chain
from labeler.store.database import Database


def put(db: Database, item_id: int, version: int, payload: bytes) -> None:
    """Store the bins of an item; bins of an older version are replaced."""
    db.execute(
        """INSERT INTO bins (item_id, version, payload) VALUES (?, ?, ?)
           ON CONFLICT (item_id) DO UPDATE SET version = excluded.version, payload = excluded.payload""",
        (item_id, version, payload),
    )
    chain.append(db, "picture", item_id)


def is_there(db: Database, item_id: int, version: int) -> bool:
    """Return whether an item has bins of this version."""
    row = db.execute("SELECT 1 FROM bins WHERE item_id = ? AND version = ?", (item_id, version)).fetchone()
    return row is not None


def get(db: Database, item_id: int, version: int) -> bytes | None:
    """Return the bins of an item; return None if it has no bins of this version."""
    row = db.execute("SELECT payload FROM bins WHERE item_id = ? AND version = ?", (item_id, version)).fetchone()
    return bytes(row[0]) if row else None
