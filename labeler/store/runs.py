"""The measurements: one blob of little-endian float64 a run."""

from collections.abc import Sequence

import numpy as np

from labeler.model import Series
from labeler.store.database import Database


def add(db: Database, item_id: int, runs: Sequence[Series]) -> None:
    """Write the runs of an item, numbered from 0."""
    db.executemany(
        "INSERT INTO runs (item_id, run, measurements) VALUES (?, ?, ?)",
        ((item_id, run, np.ascontiguousarray(series, dtype="<f8").tobytes()) for run, series in enumerate(runs)),
    )


def of_item(db: Database, item_id: int) -> list[Series]:
    """The runs of an item in order; read-only arrays."""
    rows = db.execute("SELECT measurements FROM runs WHERE item_id = ? ORDER BY run", (item_id,))
    return [np.frombuffer(blob, dtype="<f8") for (blob,) in rows]
