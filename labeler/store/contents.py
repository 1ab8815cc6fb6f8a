"""Read whole tables for an audit, as they stand in the file."""

from typing import Any

from labeler.store.database import Database

AUDITED = (
    "studies",
    "questions",
    "categories",
    "people",
    "items",
    "files",
    "invitations",
    "sessions",
)  # tables that the log determines


def rows(db: Database, table: str) -> list[dict[str, Any]]:
    """Return all rows of a table that the log determines, as column -> value; `row_id` is the number of the row."""
    if table not in AUDITED:
        raise LookupError(f"{table} is not determined by the log")
    return db.records(f"SELECT rowid AS row_id, * FROM {table} ORDER BY rowid")  # noqa: S608 - constants
