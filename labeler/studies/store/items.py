"""Store and read items, and the files from which items were imported."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from labeler.studies.model import AttentionCheck, Item, ItemRole
from labeler.studies.store import chain
from labeler.studies.store.database import Database

COLUMNS = (
    "item_id", "name", "benchmark", "application", "unit", "better", "n_runs", "n_iterations", "data_hash",
    "excluded_why",
)  # of an `Item`, in the order of its fields  # fmt: skip
_COLUMNS = ", ".join(COLUMNS)


def add_file(db: Database, name: str, sha256: str, imported_utc: str) -> int | None:
    """Record an imported file and return its id; return None if a file with the same content was recorded before."""
    row = db.execute(
        """INSERT INTO files (name, sha256, imported_utc) VALUES (?, ?, ?)
           ON CONFLICT (sha256) DO NOTHING RETURNING file_id""",
        (name, sha256, imported_utc),
    ).fetchone()
    return int(row[0]) if row else None


def has_file_named(db: Database, name: str) -> bool:
    """Return whether an imported file has this name."""
    return db.execute("SELECT 1 FROM files WHERE name = ?", (name,)).fetchone() is not None


def is_imported(db: Database, sha256: str) -> bool:
    """Return whether a file whose content has this hash was already imported."""
    return db.execute("SELECT 1 FROM files WHERE sha256 = ?", (sha256,)).fetchone() is not None


def add(
    db: Database,
    name: str,
    *,
    benchmark: str,
    application: str = "",
    unit: str = "s",
    better: str = "lower",
    n_runs: int = 0,
    n_iterations: int = 0,
    data_hash: str = "",
    file_id: int | None = None,
    parameters: Mapping[str, str] | None = None,
    failures: Sequence[tuple[Mapping[str, str], str]] = (),
    made_from: int | None = None,
    known_answer: str | None = None,
) -> int:
    """Store an item and return the new id.

    No other item may have this name. A failure is (conditions of a failed run, reason). An attention check has the id
    of the item that it was made from, and its known answer.
    """
    failed = json.dumps([{"conditions": dict(conditions), "reason": reason} for conditions, reason in failures])
    row = db.execute(
        """INSERT INTO items (name, benchmark, application, parameters, unit, better, n_runs, n_iterations, data_hash,
                              file_id, failures, made_from, known_answer)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING item_id""",
        (
            name, benchmark, application, json.dumps(dict(parameters or {})), unit, better, n_runs, n_iterations,
            data_hash, file_id, failed, made_from, known_answer,
        ),
    ).fetchone()  # fmt: skip
    if not n_runs:  # if the item has runs, the link is added together with the runs
        chain.append(db, "measurement", int(row[0]))
    return int(row[0])


def all_items(db: Database, *, with_checks: bool = False) -> list[Item]:
    """Return all items, in order of name; attention checks are items only for the plan and the reviewers' pictures."""
    which = "" if with_checks else "WHERE known_answer IS NULL"
    return [Item(**row) for row in db.records(f"SELECT {_COLUMNS} FROM items {which} ORDER BY name")]  # noqa: S608


def attention_checks(db: Database) -> list[AttentionCheck]:
    """Return all attention checks, in order of name."""
    rows = db.execute(
        """SELECT c.item_id, c.name, i.name, c.known_answer, c.data_hash <> i.data_hash
           FROM items c JOIN items i ON i.item_id = c.made_from ORDER BY c.name"""
    )
    return [
        AttentionCheck(item_id, name, source, answer, bool(is_changed))
        for item_id, name, source, answer, is_changed in rows
    ]


def included(db: Database, *, measured: bool = False) -> list[Item]:
    """Return the items that are not excluded, in order of name; if `measured`, only items with runs."""
    return [item for item in all_items(db) if item.excluded_why is None and (item.n_runs or not measured)]


def excluded(db: Database) -> dict[str, str]:
    """Return the reason of each excluded item, in order of name."""
    return {item.name: item.excluded_why for item in all_items(db) if item.excluded_why is not None}


def roles(db: Database, chosen: Collection[str] = ()) -> dict[str, ItemRole]:
    """Return how the results use each item, in order of name.

    `chosen` are the items that were chosen because they are informative. They follow from the seed of the plan (see
    `labeler.studies.preparing.assigning`); without them, such an item counts.
    """
    rows = db.execute(
        """SELECT name, CASE WHEN excluded_why IS NOT NULL THEN 'excluded'
                             WHEN item_id IN (SELECT item_id FROM assignments GROUP BY item_id
                                              HAVING min(kind = 'calibration')) THEN 'calibration'
                             WHEN item_id IN (SELECT made_from FROM items) THEN 'attention'
                             ELSE 'counted' END
           FROM items WHERE known_answer IS NULL ORDER BY name"""
    )
    known = {str(name): ItemRole(role) for name, role in rows}
    return known | {name: ItemRole.CHOSEN for name in chosen if known[name] is ItemRole.COUNTED}


def n_items(db: Database) -> int:
    """Return the number of items in the study, including excluded items."""
    return int(db.execute("SELECT count(*) FROM items WHERE known_answer IS NULL").fetchone()[0])


def by_id(db: Database, item_id: int) -> Item:
    """Return the item with this id; it must exist."""
    return Item(**db.records(f"SELECT {_COLUMNS} FROM items WHERE item_id = ?", (item_id,))[0])  # noqa: S608 - constant


def by_name(db: Database, name: str, *, with_checks: bool = False) -> Item | None:
    """Return the item with this name, if there is one; attention checks are found only `with_checks`."""
    query = f"SELECT {_COLUMNS} FROM items WHERE name = ? AND (known_answer IS NULL OR ?)"  # noqa: S608 - constant
    rows = db.records(query, (name, with_checks))
    return Item(**rows[0]) if rows else None


def failures_of(db: Database, item_id: int) -> list[tuple[dict[str, str], str]]:
    """Return the failed runs of an item, each as (conditions, reason)."""
    (text,) = db.execute("SELECT failures FROM items WHERE item_id = ?", (item_id,)).fetchone()
    return [(failure["conditions"], failure["reason"]) for failure in json.loads(text)]


def set_excluded(db: Database, item_id: int, why: str | None) -> None:
    """Exclude an item and store the reason; if `why` is None, include the item again."""
    db.execute("UPDATE items SET excluded_why = ? WHERE item_id = ?", (why, item_id))


def remove(db: Database, names: Iterable[str]) -> None:
    """Remove items with their runs, pictures and verdicts; nothing else may refer to these items."""
    for name in names:
        (item_id,) = db.execute("SELECT item_id FROM items WHERE name = ?", (name,)).fetchone()
        for table in ("verdicts", "segments", "bins", "runs", "items"):
            db.execute(f"DELETE FROM {table} WHERE item_id = ?", (item_id,))  # noqa: S608 - constants
        for part in ("segments", "picture", "measurement"):
            chain.remove(db, part, [item_id])


def remove_files(db: Database, sha256s: Iterable[str]) -> None:
    """Forget imported files, so that they can be imported again; no item may come from them."""
    db.executemany("DELETE FROM files WHERE sha256 = ?", ((sha256,) for sha256 in sha256s))
