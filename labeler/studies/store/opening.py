"""Create, open and check study files.

A study may come from somebody else. A view in place of a table, or another trigger, could change answers or never end,
so the schema of a file is compared with the schema of its version.
"""

import re
import shlex
import sqlite3
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from functools import cache, lru_cache
from pathlib import Path

from labeler.errors import ChangedSchema, NewerStudy, NoStudy, NotAStudy, StudyBusy, StudyError
from labeler.studies.store import migrations
from labeler.studies.store.database import BUSY_TIMEOUT_S, Database, connect

APPLICATION_ID = 0x42524C32  # "BRL2" in the file's header distinguishes a study from any other SQLite file
BEFORE_1_0 = 0x42524C31  # "BRL1" in studies of versions before 1.0
MAX_TEXT_BYTES = 32_000_000  # of one text; the log of an import with 200,000 benchmarks has about 20 MB
MAX_DAMAGE = 100  # faults of one file that SQLite lists
# Tables that ANALYZE of an SQLite client adds. A name alone proves nothing: a client can also create a trigger with a
# name of SQLite's own.
_STATISTICS = ("CREATE TABLE sqlite_stat1(tbl,idx,stat)", "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)")
_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
# path -> device, inode and number of the schema of a file that was checked. SQLite gives the schema another number at
# each change, so a file with these values is checked only once by a process that opens it for each request. A copy that
# replaced the file can have the same values; it has no write-ahead log until it is prepared.
_CHECKED: dict[Path, tuple[int, int, int]] = {}
Row = tuple[str, str, str, str | None]  # type, name, table, and SQL
Entry = tuple[str, str, str, str]  # type, name, table, and normalised SQL


def create_database(path: Path) -> Database:
    """Create an empty study file, and return a connection to it.

    Raises StudyError if the path already exists, or the file cannot be created.
    """
    try:
        if path.exists():
            raise StudyError(f"{path} already exists. Give the name of a new file, or continue with that study.")
        if not path.parent.is_dir():
            raise StudyError(f"The folder {path.parent} does not exist. Create it first.")
        path.touch(exist_ok=False)  # fails if another process creates the file at the same time
    except OSError as error:
        raise StudyError(f"{path} cannot be created: {error.strerror}.") from error
    try:
        return _prepared(connect(path, mode="rw"), path, is_new=True)
    except BaseException:
        discard(path)
        raise


def discard(path: Path) -> None:
    """Remove an unfinished study file and the files that SQLite wrote beside it."""
    for beside in ("", "-wal", "-shm", "-journal"):
        with suppress(OSError):
            path.with_name(f"{path.name}{beside}").unlink(missing_ok=True)


def open_database(path: Path, *, changed_schema: bool = False, long_texts: bool = True) -> Database:
    """Open a study file, and return a connection; a file of an older version is migrated to this version.

    No other code may open the file without SQLite, not even to read its first bytes. When such a file is closed, the
    operating system releases the locks of all connections in this process. Another process could then remove the log to
    which these connections write. Raises NoStudy, NotAStudy, NewerStudy, StudyBusy, StudyReadOnly. Raises ChangedSchema
    if tables, views or triggers are not those that labeler creates, unless `changed_schema` is true; then the file is
    opened as it is, and texts that are not UTF-8 can be read. Raises NotAStudy if a text is too long to be one of ours,
    unless `long_texts` is true; finding this takes as long as reading all texts once.
    """
    try:
        if not path.is_file():
            raise NoStudy(f"There is no study {path}. Create one with: labeler init --study {shlex.quote(str(path))}")
        if path.stat().st_size == 0:
            raise NotAStudy(f"{path} is not a study file.")
    except OSError as error:
        raise StudyError(f"{path} cannot be opened: {error.strerror}.") from error
    _free_companions(path)
    db = _prepared(connect(path, mode="rw"), path, is_new=False, changed_schema=changed_schema)
    if not long_texts and path.stat().st_size > MAX_TEXT_BYTES:
        try:
            check_texts(db)
        except BaseException:
            db.close()
            raise
    return db


def _free_companions(path: Path) -> None:
    """Make the files that SQLite created beside the study writable.

    If SQLite created these files while the study was read-only, the study would otherwise stay read-only.
    """
    with suppress(OSError):
        mode = stat.S_IMODE(path.stat().st_mode)
        for beside in (path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
            if mode & stat.S_IWUSR and beside.exists() and not beside.stat().st_mode & stat.S_IWUSR:
                beside.chmod(mode)


def _prepared(connection: sqlite3.Connection, path: Path, *, is_new: bool, changed_schema: bool = False) -> Database:
    db = Database(connection, path)
    try:
        identity = None if is_new or changed_schema else _identity(db)
        is_known = identity is not None and _CHECKED.get(path) == identity and db.has_log()
        if is_new:
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        elif not is_known:
            check_is_study(db)
            found = schema_differences(db)
            if changed_schema:
                connection.text_factory = lambda content: content.decode("utf-8", "surrogateescape")
            if found and changed_schema:
                return db
            check_schema(db, found)
        if not is_known and db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            _switch_to_wal(db)
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA recursive_triggers = ON")  # REPLACE also removes rows, and answers must never be removed
        if not is_known:
            migrations.migrate(db)
        db.watch_files()
        if identity is not None:
            _CHECKED[path] = identity
    except OSError as error:
        db.close()
        _CHECKED.pop(path, None)
        raise StudyError(f"{path} was removed or replaced while it was opened: {error.strerror}. Try again.") from error
    except BaseException:
        db.close()
        raise
    return db


def _identity(db: Database) -> tuple[int, int, int]:
    """Return device and inode of a file, and the number of its schema."""
    status = db.path.stat()
    return status.st_dev, status.st_ino, int(db.execute("PRAGMA schema_version").fetchone()[0])


def _switch_to_wal(db: Database) -> None:
    """Switch the file to a write-ahead log.

    The statement is repeated, because it does not wait for a lock as other statements do.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except StudyBusy:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def check_is_study(db: Database) -> None:
    """Raise NotAStudy if the file is not a study, and NewerStudy if a newer version of labeler wrote the file."""
    application_id = db.execute("PRAGMA application_id").fetchone()[0]
    if application_id == BEFORE_1_0:
        raise NotAStudy(f"{db.path} was made by a version before 1.0, which this version cannot open.")
    if application_id != APPLICATION_ID:
        raise NotAStudy(f"{db.path} is an SQLite file, but not a study.")
    version, latest = migrations.version(db), migrations.VERSION
    if version < 0:
        raise NotAStudy(f"{db.path} is damaged: it has schema {version}. Restore a backup.")
    if version > latest:
        raise NewerStudy(
            f"{db.path} was created by a newer version of labeler (schema {version}; this version reads schema "
            f"{latest}). "
            "Update labeler."
        )


def check_texts(db: Database) -> None:
    """Raise NotAStudy if a text is longer than any text that labeler writes; such a text takes many times its size."""
    tables = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%STRICT'").fetchall()
    for (table,) in tables:
        columns = db.execute("SELECT name FROM pragma_table_info(?) WHERE type = 'TEXT'", (table,)).fetchall()
        for (column,) in columns:  # as bytes, because the length of a text ends at its first zero
            query = f'SELECT max(length(CAST("{column}" AS BLOB))) FROM "{table}"'  # noqa: S608 - names of the schema
            longest = db.execute(query).fetchone()[0]
            if longest is not None and longest > MAX_TEXT_BYTES:
                raise NotAStudy(
                    f"{db.path} has a text of {longest // 1_000_000} MB ({table}, {column}), so it is not read: "
                    f"labeler writes no text of more than {MAX_TEXT_BYTES // 1_000_000} MB. Restore a backup."
                )


def damage(db: Database) -> list[str]:
    """Return what SQLite finds wrong in the file.

    These are damaged pages, indexes that differ from tables, impossible values, and rows that refer to a missing row.
    """
    try:
        rows = db.execute(f"PRAGMA integrity_check({MAX_DAMAGE})").fetchall()
    except NotAStudy:  # some damage ends the whole check; the quick check does not read the indexes
        rows = db.execute(f"PRAGMA quick_check({MAX_DAMAGE})").fetchall()
    found = [line for (text,) in rows for line in str(text).splitlines() if not line.startswith("***")]
    if found != ["ok"]:
        return found
    lost = db.execute('SELECT "table", rowid, parent FROM pragma_foreign_key_check LIMIT ?', (MAX_DAMAGE,)).fetchall()
    return [f"row {row_id} of {table} refers to a missing row of {parent}" for table, row_id, parent in lost]


def schema_differences(db: Database) -> list[str]:
    """Return what the schema of a file has besides the schema of its version, lacks, or has in another form."""
    with db.snapshot():  # version and schema belong together, even if another process migrates the file now
        expected = migrations.schema_of(migrations.version(db))
        return list(_differences(tuple(db.execute(_SCHEMA).fetchall()), expected))


def check_schema(db: Database, differences: Sequence[str]) -> None:
    """Raise ChangedSchema if there are differences between the schema of a file and that of its version."""
    if differences:
        more = f" and {len(differences) - 3} more" if len(differences) > 3 else ""
        raise ChangedSchema(
            f"{db.path} was changed by another program: {'; '.join(differences[:3])}{more}. Restore a backup."
        )


@lru_cache(maxsize=8)  # each request of a reviewer opens the study, and its schema stays the same
def _differences(rows: tuple[Row, ...], script: str) -> tuple[str, ...]:
    there, expected = _entries(rows), _expected(script)
    tables = {(kind, name): table for kind, name, table, _ in (*there, *expected)}
    found = []
    for (kind, name), table in sorted(tables.items()):
        own, wanted = ({entry for entry in entries if entry[:2] == (kind, name)} for entries in (there, expected))
        if own != wanted:
            where = f" of {table}" if kind in ("trigger", "index") and table != name else ""
            how = "was added" if not wanted else "is missing" if not own else "was changed"
            found.append(f"{kind} {name}{where} {how}")
    return tuple(found)


def _entries(rows: Iterable[Row]) -> frozenset[Entry]:
    """Return the entries of a schema, without statistics, and without indexes that SQLite creates for constraints."""
    return frozenset(
        (kind, name, table, _normalised(sql))
        for kind, name, table, sql in rows
        if sql is not None and sql not in _STATISTICS
    )


def _normalised(sql: str) -> str:
    """Return SQL without differences in white space and quotes of names, which renaming a table adds."""
    return re.sub(r"\s*([(),])\s*", r"\1", re.sub(r"\s+", " ", sql.replace('"', ""))).strip()


@cache
def _expected(script: str) -> frozenset[Entry]:
    """Return the entries of the schema that a script creates."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script)
        return _entries(connection.execute(_SCHEMA).fetchall())
