"""Who did what when; only appended."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from labeler.store.database import Database


def add(db: Database, at_utc: str, actor: str, action: str, details: Mapping[str, Any]) -> None:
    """Append an event."""
    db.execute(
        "INSERT INTO events (at_utc, actor, action, details) VALUES (?, ?, ?, ?)",
        (at_utc, actor, action, json.dumps(details, ensure_ascii=False)),
    )


def table(db: Database) -> pd.DataFrame:
    """Every event in order: at_utc, actor, action, details (JSON)."""
    rows = db.execute("SELECT at_utc, actor, action, details FROM events ORDER BY event_id").fetchall()
    return pd.DataFrame(rows, columns=["at_utc", "actor", "action", "details"])
