"""Store and read the features of the segments of an item's runs, which take long to compute."""

import json
from collections.abc import Mapping

from labeler.store.database import Database


def put(db: Database, item_id: int, key: str, features: Mapping[str, float]) -> None:
    """Store the features of an item; earlier ones are replaced. `key` says what they were computed from, and how."""
    db.execute(
        """INSERT INTO segments (item_id, computed_from, features) VALUES (?, ?, ?)
           ON CONFLICT (item_id) DO UPDATE SET computed_from = excluded.computed_from, features = excluded.features""",
        (item_id, key, json.dumps(dict(features))),
    )


def get(db: Database, item_id: int, key: str) -> Mapping[str, float] | None:
    """Return the features of an item; return None if there are none with this key."""
    row = db.execute("SELECT features FROM segments WHERE item_id = ? AND computed_from = ?", (item_id, key)).fetchone()
    return None if row is None else json.loads(row[0])
