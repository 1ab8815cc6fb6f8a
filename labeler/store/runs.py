"""The measurements: one blob of little-endian float64 per run, and the conditions of the run."""

import json
from collections.abc import Mapping, Sequence

import numpy as np

from labeler.model import Series
from labeler.store import chain
from labeler.store.database import Database


def add(
    db: Database, item_id: int, runs: Sequence[Series], conditions: Mapping[str, Sequence[str]] | None = None
) -> None:
    """Store the runs of an item, numbered from 0, and their conditions.

    The conditions map a name to one text per run.
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
    """Return the conditions of an item's runs: name -> one text per run.

    A text is "" if the condition is unknown.
    """
    rows = db.execute("SELECT conditions FROM runs WHERE item_id = ? ORDER BY run", (item_id,))
    by_run = [json.loads(text) for (text,) in rows]
    return {
        name: tuple(run.get(name, "") for run in by_run)
        for name in dict.fromkeys(name for run in by_run for name in run)
    }


def copy(db: Database, into: Database, item_id: int, new_id: int) -> None:
    """Copy the runs of an item, with their conditions, to another study.

    The item has the id `new_id` there.
    """
    rows = db.execute("SELECT run, measurements, conditions FROM runs WHERE item_id = ? ORDER BY run", (item_id,))
    into.executemany(
        "INSERT INTO runs (item_id, run, measurements, conditions) VALUES (?, ?, ?, ?)",
        ((new_id, *row) for row in rows),
    )
    chain.append(into, "measurement", new_id)
