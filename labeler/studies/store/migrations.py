"""Create the tables of a new study, and bring a study of an earlier version to the present schema.

`schema.sql` is the present schema. A change of the schema edits that file, and adds a step that makes the same change
in existing studies; a released step is never edited. Version 1 is the schema of labeler 1.0.0: until that release is
finished, `schema.sql` is edited in place and there is no step.
"""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from labeler.studies.store.database import Database

SCHEMA = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Migration:
    """A step from one version of the schema to the next."""

    before: str  # the schema of the earlier version, as SQL; a file of that version must have it
    change: Callable[[Database], None]


MIGRATIONS: tuple[Migration, ...] = ()  # the first leads from version 1 to version 2
VERSION = 1 + len(MIGRATIONS)


def version(db: Database) -> int:
    """Return the version of the schema of a file; 0 if the file has no tables yet."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def schema_of(number: int) -> str:
    """Return the schema of a version as SQL."""
    return "" if number == 0 else SCHEMA if number == VERSION else MIGRATIONS[number - 1].before


def migrate(db: Database) -> None:
    """Give a new file its tables, and bring an older file to the present schema.

    Each step is one transaction, which also stores the new version number.
    """
    while version(db) < VERSION:
        with db.atomic():
            number = version(db)  # read again under the lock, because another process may have changed the file
            if number == 0:
                for statement in statements(SCHEMA):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {VERSION}")
            elif number < VERSION:
                MIGRATIONS[number - 1].change(db)
                db.execute(f"PRAGMA user_version = {number + 1}")


def statements(script: str) -> Iterator[str]:
    """Yield the statements of an SQL script, each of which ends at the end of a line."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
