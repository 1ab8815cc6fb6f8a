"""Store and read what coordinators decide: reference labels of calibration items, and decisions on split items.

Decisions are only appended; the last decision on an item counts.
"""

import hmac
import json
from dataclasses import dataclass

from labeler.studies.store import chain, studies
from labeler.studies.store.database import Database


@dataclass(frozen=True)
class Decision:
    """A decision on the category of a split item, with the reason."""

    item: str
    category: str
    why: str
    decided_by: str
    created_utc: str
    event_id: str


def add(db: Database, item_id: int, decision: Decision) -> bool:
    """Append a decision; return False if a decision with this event id is already stored."""
    cursor = db.execute(
        """INSERT INTO decisions (item_id, category, why, decided_by, created_utc, event_id)
           SELECT ?, ?, ?, ?, ?, ?6 WHERE NOT EXISTS (SELECT 1 FROM decisions WHERE event_id = ?6)""",
        (item_id, decision.category, decision.why, decision.decided_by, decision.created_utc, decision.event_id),
    )
    if cursor.rowcount != 1:
        return False
    chain.append(db, "decision", int(cursor.lastrowid or 0))
    return True


def of_event(db: Database, event_id: str) -> Decision | None:
    """Return the decision with this event id; return None if there is no such decision."""
    return next((decision for decision in everything(db) if decision.event_id == event_id), None)


def everything(db: Database) -> list[Decision]:
    """Return all decisions, in order of time."""
    rows = db.execute(
        """SELECT i.name, d.category, d.why, d.decided_by, d.created_utc, d.event_id
           FROM decisions d JOIN items i USING (item_id) ORDER BY d.decision_id"""
    )
    return [Decision(*row) for row in rows]


def put_reference_label(db: Database, item_id: int, category: str) -> None:
    """Store the reference label of an item; it replaces an earlier reference label."""
    db.execute("INSERT OR REPLACE INTO reference_labels (item_id, category) VALUES (?, ?)", (item_id, category))


def reference_labels(db: Database) -> dict[str, str]:
    """Return all reference labels, as item name -> category."""
    rows = db.execute("SELECT i.name, r.category FROM reference_labels r JOIN items i USING (item_id) ORDER BY i.name")
    return dict(rows.fetchall())


def seal_of_reference(db: Database) -> str:
    """Return a hash of all reference labels with a secret of the study.

    The log has only this hash, because coordinators who also label may see the log, but not the reference labels.
    """
    secret, content = f"reference {studies.picture_secret(db)}", json.dumps(sorted(reference_labels(db).items()))
    return hmac.digest(secret.encode(), content.encode(), "sha256").hex()
