"""Store and read the runs of items, and what is computed from them.

Measurements are little-endian float64. Bins are the summaries of iterations from which the screen draws an item.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from analysis.arrays import Series
from labeler.studies.store import chain
from labeler.studies.store.database import Database


def add(
    db: Database, item_id: int, runs: Sequence[Series], conditions: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Store the runs of an item with their conditions; run numbers start at 0.

    `conditions` maps the name of a condition to one text for each run.
    """
    texts_by_name = conditions or {}
    db.executemany(
        "INSERT INTO runs (item_id, run, measurements, conditions) VALUES (?, ?, ?, ?)",
        (
            (
                item_id, run, np.ascontiguousarray(series, dtype="<f8").tobytes(),
                json.dumps({name: texts[run] for name, texts in texts_by_name.items()}),
            )
            for run, series in enumerate(runs)
        ),
    )  # fmt: skip
    chain.append(db, "measurement", item_id)


def of_item(db: Database, item_id: int) -> list[Series]:
    """Return the runs of an item in order, as read-only arrays."""
    rows = db.execute("SELECT measurements FROM runs WHERE item_id = ? ORDER BY run", (item_id,))
    return [np.frombuffer(blob, dtype="<f8") for (blob,) in rows]


def conditions_of_item(db: Database, item_id: int) -> dict[str, tuple[str, ...]]:
    """Return the conditions of an item's runs, as name -> one text for each run; "" means unknown."""
    rows = db.execute("SELECT conditions FROM runs WHERE item_id = ? ORDER BY run", (item_id,))
    by_run = [json.loads(text) for (text,) in rows]
    return {
        name: tuple(run.get(name, "") for run in by_run)
        for name in dict.fromkeys(name for run in by_run for name in run)
    }


def put_bins(db: Database, item_id: int, version: int, payload: bytes) -> None:
    """Store the bins of an item; bins of an older version are replaced."""
    db.execute(
        """INSERT INTO bins (item_id, version, payload) VALUES (?, ?, ?)
           ON CONFLICT (item_id) DO UPDATE SET version = excluded.version, payload = excluded.payload""",
        (item_id, version, payload),
    )
    chain.append(db, "picture", item_id)


def bins_of_items(db: Database, item_ids: Iterable[int], version: int) -> dict[int, bytes]:
    """Return the bins of this version, by the id of the item; an item that has none is not in the result."""
    rows = db.execute(
        "SELECT item_id, payload FROM bins WHERE version = ? AND item_id IN (SELECT value FROM json_each(?))",
        (version, json.dumps(list(item_ids))),
    )
    return dict(rows.fetchall())


def has_bins(db: Database, item_id: int, version: int) -> bool:
    """Return whether an item has bins of this version."""
    row = db.execute("SELECT 1 FROM bins WHERE item_id = ? AND version = ?", (item_id, version)).fetchone()
    return row is not None


def bins_of_item(db: Database, item_id: int, version: int) -> bytes | None:
    """Return the bins of an item; return None if it has no bins of this version."""
    row = db.execute("SELECT payload FROM bins WHERE item_id = ? AND version = ?", (item_id, version)).fetchone()
    return bytes(row[0]) if row else None


def put_segments(db: Database, item_id: int, key: str, features: Mapping[str, float]) -> None:
    """Store the features of an item; earlier ones are replaced. `key` says what they were computed from, and how."""
    db.execute(
        """INSERT INTO segments (item_id, computed_from, features) VALUES (?, ?, ?)
           ON CONFLICT (item_id) DO UPDATE SET computed_from = excluded.computed_from, features = excluded.features""",
        (item_id, key, json.dumps(dict(features))),
    )
    chain.append(db, "segments", item_id)


def segments_of_item(db: Database, item_id: int, key: str) -> Mapping[str, float] | None:
    """Return the features of an item; return None if there are none with this key."""
    row = db.execute("SELECT features FROM segments WHERE item_id = ? AND computed_from = ?", (item_id, key)).fetchone()
    return None if row is None else json.loads(row[0])
