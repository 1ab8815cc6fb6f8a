"""Compare the schema of a study file with the schema that the migrations create.

A study may come from somebody else. A view in place of a table, or another trigger, could change answers or never end.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import cache, lru_cache
from pathlib import Path

from labeler.store import migrations
from labeler.store.database import Database

# Tables that ANALYZE of an SQLite client adds. A name alone proves nothing: a client can also create a trigger with a
# name of SQLite's own.
_STATISTICS = ("CREATE TABLE sqlite_stat1(tbl,idx,stat)", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)")
_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
Row = tuple[str, str, str, str | None]  # type, name, table, and SQL
Entry = tuple[str, str, str, str]  # type, name, table, and normalised SQL


def differences(db: Database, n_steps: int) -> list[str]:
    """Return what the schema of a file has besides, lacks, or has in another form, after `n_steps` migrations."""
    return list(_differences(tuple(db.execute(_SCHEMA).fetchall()), tuple(migrations.MIGRATIONS), n_steps))


@lru_cache(maxsize=8)  # each request of a reviewer opens the study, and its schema stays the same
def _differences(rows: tuple[Row, ...], all_steps: tuple[migrations.Step, ...], n_steps: int) -> tuple[str, ...]:
    there, expected = _entries(rows), _expected(all_steps[:n_steps])
    named = {(kind, name): table for kind, name, table, _ in (*there, *expected)}
    if n_steps == 1:  # the early forms that already have this view are the form that step 2 creates
        expected |= {entry for entry in there & _expected(all_steps[:2]) if entry[1] == "shown_verdicts"}
    found = []
    for (kind, name), table in sorted(named.items()):
        own = {entry for entry in there if entry[:2] == (kind, name)}
        of_migrations = {entry for entry in expected if entry[:2] == (kind, name)}
        if own == of_migrations or (own and own <= of_migrations):
            continue
        where = f" of {table}" if kind in ("trigger", "index") and table != name else ""
        how = "was added" if not of_migrations else "is missing" if not own else "was changed"
        found.append(f"{kind} {name}{where} {how}")
    return tuple(found)


def _entries(rows: Iterable[Row]) -> set[Entry]:
    """Return the entries of a schema, without statistics, and without indexes that SQLite creates for constraints."""
    return {
        (kind, name, table, _normalised(sql))
        for kind, name, table, sql in rows
        if sql is not None and sql not in _STATISTICS
    }


def _normalised(sql: str) -> str:
    """Return SQL without differences in white space and quotes of names, which renaming a table adds."""
    return re.sub(r"\s*([(),])\s*", r"\1", re.sub(r"\s+", " ", sql.replace('"', ""))).strip()


@cache
def _expected(steps: tuple[migrations.Step, ...]) -> frozenset[Entry]:
    """Return the schema after these migrations, with all its early forms."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        empty = Database(connection, Path(":memory:"))
        for step in steps:
            step(empty)
        entries = _entries(connection.execute(_SCHEMA).fetchall())
    return frozenset(entries | {early for entry in entries for early in _early_forms(entry)})


def _early_forms(entry: Entry) -> Iterator[Entry]:
    """Yield the other forms that an entry has in files whose first schema is of an early version."""
    kind, name, table, sql = entry
    if name == "current_answers":
        yield kind, name, table, _normalised(_FIRST_CURRENT_ANSWERS)
    if name == "verdicts":
        plain = sql.replace(f",{_LEFT_OUT}", "").replace(",used_utc TEXT NOT NULL DEFAULT ''", "")
        used = plain.replace(",CHECK((verdict", ",used_utc TEXT NOT NULL,CHECK((verdict")
        yield kind, name, table, used
        yield kind, name, table, used.replace(",used_utc TEXT NOT NULL", f",used_utc TEXT NOT NULL,{_LEFT_OUT}")
        yield kind, name, table, used.replace(",pairs BLOB", f",{_LEFT_OUT},pairs BLOB")


_LEFT_OUT = "n_left_out INTEGER NOT NULL DEFAULT 0"
_FIRST_CURRENT_ANSWERS = """CREATE VIEW current_answers AS
    SELECT assignment_id, answer, revision, label_id, max(revision) + 1 AS n_answers,
           count(*) FILTER (WHERE answer = 'not sure') AS n_not_sure
    FROM labels GROUP BY assignment_id"""
