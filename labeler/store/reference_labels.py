"""Store and read reference labels of calibration items."""

from labeler.store.database import Database


def put(db: Database, item_id: int, category: str) -> None:
    """Store the reference label of an item; it replaces an earlier reference label."""
    db.execute("INSERT OR REPLACE INTO reference_labels (item_id, category) VALUES (?, ?)", (item_id, category))


def everything(db: Database) -> dict[str, str]:
    """Return all reference labels, as item name -> category."""
    rows = db.execute("SELECT i.name, r.category FROM reference_labels r JOIN items i USING (item_id) ORDER BY i.name")
    return dict(rows.fetchall())
