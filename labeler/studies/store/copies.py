"""Read a study file without changing it, and remove data that identify people from a copy of a study."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from labeler.errors import NoStudy, StudyBusy, StudyError
from labeler.studies.store import migrations
from labeler.studies.store.database import Database, connect
from labeler.studies.store.opening import check_is_study, check_schema, check_texts, schema_differences

# All columns that contain free text; in `events.details`, `labels.view` and `questions.definition` it is inside JSON.
FREE_TEXTS = (
    ("studies", "name"), ("studies", "question"), ("studies", "instructions"), ("questions", "definition"),
    ("files", "name"), ("labels", "comment"), ("labels", "view"), ("labels", "extra"), ("verdicts", "error"),
    ("events", "actor"), ("events", "details"), ("items", "excluded_why"), ("decisions", "why"),
    ("decisions", "decided_by"), ("replies", "text"), ("replies", "written_by"),
)  # fmt: skip


@contextmanager
def read_only(path: Path) -> Iterator[Database]:
    """Open a study for reading only: nothing is written to the file or its folder, and the schema is not migrated.

    Raises NoStudy, NotAStudy, NewerStudy. Raises StudyError if an older version of labeler was the last to open the
    file. Raises StudyBusy at the end, if another process wrote to the file in the meantime, because the data may then
    be inconsistent.
    """
    if not path.is_file():
        raise NoStudy(f"There is no study {path}.")
    # Without a log, no process has the file open. SQLite reads the file directly, because it would leave a log behind.
    lies_still, before = not _logs(path), path.stat()
    with Database(connect(path, mode="ro&immutable=1" if lies_still else "ro"), path) as db:
        check_is_study(db)
        if migrations.version(db) < migrations.VERSION:
            raise StudyError(
                f"{path} was last opened by an older version of labeler. Open it once with: labeler status "
                f"--study {path}"
            )
        check_schema(db, schema_differences(db))
        check_texts(db)
        db.execute("BEGIN")  # one consistent snapshot
        yield db
    after = path.stat()
    if lies_still and (_logs(path) or (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size)):
        raise StudyBusy(f"{path} changed while it was being read. Try again.")


def _logs(path: Path) -> list[Path]:
    logs = (path.with_name(f"{path.name}-{end}") for end in ("wal", "journal"))
    return [log for log in logs if log.exists()]


def free_texts(db: Database) -> Iterator[tuple[str, str]]:
    """Yield the texts that people or files gave, each with its place: names of items and most of `FREE_TEXTS`.

    Comments, replies and what browsers say are left out.
    """
    named = (("items", "name"), ("items", "benchmark"), ("items", "application"), ("items", "unit"))
    for table, column in (*named, *FREE_TEXTS):
        if table not in ("labels", "replies"):
            for (text,) in db.execute(f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL"):  # noqa: S608 - ours
                yield f"{table}, {column}", text


def codes(db: Database) -> list[str]:
    """Return the codes of all assignments."""
    return [code for (code,) in db.execute("SELECT code FROM assignments")]


def assignments_by_code(db: Database) -> list[int]:
    """Return the ids of all assignments, in the order of their codes."""
    return [assignment_id for (assignment_id,) in db.execute("SELECT assignment_id FROM assignments ORDER BY code")]


@contextmanager
def rewritable(db: Database) -> Iterator[None]:
    """Allow changes of answers and events inside this context, by dropping the triggers that forbid such changes.

    The triggers are created again at the end. Use this context only inside a transaction, so that an error leaves the
    file unchanged, and only if no other process has opened the file.
    """
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f'DROP TRIGGER "{name}"')
    db.execute("PRAGMA defer_foreign_keys = ON")
    yield
    for _, sql in triggers:
        db.execute(sql)


def rewrite(db: Database, table: str, column: str, rewritten: Callable[[str], str | None]) -> int:
    """Replace all texts of a column by the results of a function; return the number of texts.

    This also works if the texts must be unique and two rows exchange their texts.
    """
    query = f"SELECT rowid, {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY rowid"  # noqa: S608 - ours
    rows = db.execute(query).fetchall()
    changed = [(new, row_id) for row_id, text in rows if (new := rewritten(text)) != text]
    update = f"UPDATE {table} SET {column} = "  # noqa: S608 - names of ours
    db.executemany(f"{update} hex(randomblob(16)) WHERE rowid = ?", ((row_id,) for _, row_id in changed))
    db.executemany(f"{update} ? WHERE rowid = ?", changed)
    return len(rows)


def renumber(db: Database, table: str, ids: Mapping[int, int]) -> None:
    """Give the rows of a table new ids, as old id -> new id, and update all references to these rows."""
    names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    places = [(table, "rowid")]
    for (name,) in names:
        keys = db.execute('SELECT "table", "from" FROM pragma_foreign_key_list(?)', (name,))
        places += [(name, column) for target, column in keys if target == table]
    db.execute("CREATE TEMP TABLE new_ids (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
    db.executemany("INSERT INTO new_ids VALUES (?, ?)", ids.items())
    for place, column in places:  # in two steps, because a new id may still be in use; negative ids are never in use
        old = f"{place}.{column}"
        new = f"-(SELECT new FROM new_ids WHERE old = {old})"  # noqa: S608 - names of the schema
        db.execute(f"UPDATE {place} SET {column} = {new} WHERE {old} IN (SELECT old FROM new_ids)")  # noqa: S608
        db.execute(f"UPDATE {place} SET {column} = -{column} WHERE {column} < 0")  # noqa: S608
    db.execute("DROP TABLE new_ids")


def forget_who_signed_in(db: Database) -> None:
    """Remove data about sign-ins: invitations, sessions, e-mail addresses and jobs.

    Call this function only inside `rewritable`, because answers name their session.
    """
    for table in ("invitations", "sessions", "jobs"):
        db.execute(f"DELETE FROM {table}")  # noqa: S608 - names above
    db.execute("UPDATE labels SET session = NULL")
    db.execute("UPDATE people SET email = NULL, created_utc = (SELECT created_utc FROM studies)")


def forget_events(db: Database, is_forgotten: Callable[[str, str], bool]) -> None:
    """Remove the events for which the function `is_forgotten` of time and action returns true."""
    rows = db.execute("SELECT event_id, at_utc, action FROM events").fetchall()
    forgotten = [(event_id,) for event_id, at_utc, action in rows if is_forgotten(at_utc, action)]
    db.executemany("DELETE FROM events WHERE event_id = ?", forgotten)


def forget_sources(db: Database) -> None:
    """Remove the source keys of imported labels, which are hashes of names."""
    db.execute("DELETE FROM imported_labels")


def forget_files(db: Database) -> None:
    """Remove the imported files, whose order is mostly that of their names."""
    db.execute("UPDATE items SET file_id = NULL")
    db.execute("DELETE FROM files")


def salt_hashes(db: Database, salted: Callable[[str], str]) -> None:
    """Replace the hashes of measurements by salted ones, and remove what was stored under the old hashes."""
    for table in ("items", "verdicts"):
        rewrite(db, table, "data_hash", lambda text: text and salted(text))
    db.execute("DELETE FROM segments")


def forget_replies(db: Database) -> None:
    """Remove the coordinators' replies to comments."""
    db.execute("DELETE FROM replies")


def forget_parameters(db: Database) -> None:
    """Remove the names and values of the benchmarks' parameters."""
    db.execute("UPDATE items SET parameters = '{}'")


def forget_conditions(db: Database, kept: Mapping[int, Sequence[Mapping[str, str]]]) -> None:
    """Remove the conditions of runs, such as the machine, and the list of failed runs.

    `kept` has, by the id of an item, the conditions to store for each of its runs instead.
    """
    db.execute("UPDATE runs SET conditions = '{}' WHERE conditions <> '{}'")
    db.executemany(
        "UPDATE runs SET conditions = ? WHERE item_id = ? AND run = ?",
        ((json.dumps(dict(of_run)), item_id, run) for item_id, of_item in kept.items() for run, of_run in
         enumerate(of_item)),
    )  # fmt: skip
    db.execute("UPDATE items SET failures = '[]'")


def seal(db: Database) -> None:
    """Rewrite the study as a single file that can be read anywhere, and that no longer contains removed content."""
    db.execute("VACUUM")
    db.execute("PRAGMA journal_mode = DELETE")
