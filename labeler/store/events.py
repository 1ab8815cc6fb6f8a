"""Who did what when; only appended."""

import json
from collections.abc import Callable, Mapping
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


def rewrite(db: Database, rewritten: Callable[[str, str], str]) -> None:
    """Change the details of events, given action and details; the file must be `copies.rewritable`."""
    rows = db.execute("SELECT event_id, action, details FROM events").fetchall()
    changed = [(new, event_id) for event_id, action, text in rows if (new := rewritten(action, text)) != text]
    db.executemany("UPDATE events SET details = ? WHERE event_id = ?", changed)
