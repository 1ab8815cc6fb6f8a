"""Store and read the runs of items: the measurements as little-endian float64, and the conditions of each run."""

import json
from collections.abc import Mapping, Sequence

import numpy as np

from labeler.model import Series
from labeler.store import chain
from labeler.store.database import Database


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


def copy(db: Database, into: Database, item_id: int, new_id: int) -> None:
    """Copy the runs of an item, with their conditions, into another study, in which the item has the id `new_id`."""
    rows = db.execute("SELECT run, measurements, conditions FROM runs WHERE item_id = ? ORDER BY run", (item_id,))
    into.executemany(
        "INSERT INTO runs (item_id, run, measurements, conditions) VALUES (?, ?, ?, ?)",
        ((new_id, *row) for row in rows),
    )
    chain.append(into, "measurement", new_id)
