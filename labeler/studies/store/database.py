"""Read and write a study file with SQLite, back it up, and turn errors of SQLite into messages for people."""

import re
import shlex
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from labeler.errors import NotAStudy, StudyBusy, StudyError, StudyReadOnly

BUSY_TIMEOUT_S = 5.0
MAX_VALUE_BYTES = 256_000_000  # of one text or one run; the largest run that can be imported has 120 MB
LOG_BEGINS = (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83")  # the first bytes of a write-ahead log

# SQLite lets writers retry at growing intervals, so under load some writers wait for seconds. Therefore, threads of
# this process wait for each other here, and SQLite only makes them wait for other processes.
_WRITERS: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)

Parameters = Sequence[Any] | Mapping[str, Any]


class _Undone(Exception):
    """Ends a rehearsal."""


class Database:
    """A connection to a study file, for one run of a page or one command.

    A connection must not be cached or shared between threads.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path
        self._files: Mapping[Path, tuple[int, int]] = {}
        self._writer = _WRITERS[path.resolve()]

    def execute(self, sql: str, parameters: Parameters = ()) -> sqlite3.Cursor:
        """Run an SQL statement and return the cursor; values must be passed in `parameters`.

        Raises StudyBusy, StudyReadOnly, NotAStudy if people can fix the cause of an error of SQLite. The error may also
        occur later, while rows are fetched.
        """
        with _errors_described(self.path):
            return self._cursor().execute(sql, parameters)

    def records(self, sql: str, parameters: Parameters = ()) -> list[dict[str, Any]]:
        """Return the rows of a query, each as column name -> value; raises the same errors as `execute`."""
        cursor = self.execute(sql, parameters)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def executemany(self, sql: str, rows: Iterable[Parameters]) -> sqlite3.Cursor:
        """Run an SQL statement once for each row of values; raises the same errors as `execute`."""
        with _errors_described(self.path):
            return self._cursor().executemany(sql, rows)

    def _cursor(self) -> "_Cursor":
        cursor = self._connection.cursor(_Cursor)
        cursor.path = self.path
        return cursor

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """Open a transaction, which takes the write lock at once; either all of its writes are saved, or none.

        Inside another transaction, a savepoint is opened instead. If an error leaves this context and the caller
        continues, only the writes since the savepoint are undone.
        """
        if self._connection.in_transaction:
            yield from self._in_transaction("SAVEPOINT inner", "RELEASE inner", "ROLLBACK TO inner", "RELEASE inner")
            return
        if not self._writer.acquire(timeout=BUSY_TIMEOUT_S):
            raise StudyBusy(_busy(self.path))
        try:
            yield from self._in_transaction("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
        finally:
            self._writer.release()

    def _in_transaction(self, begin: str, keep: str, *undo: str) -> Iterator[None]:
        self.execute(begin)
        try:
            yield
            self.execute(keep)
        except BaseException:
            if self._connection.in_transaction:  # SQLite itself rolls back on some errors, such as a full disk
                for statement in undo:
                    self._connection.execute(statement)
            raise
        self._check_files()

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Undo everything that is written inside this context when it ends."""
        with suppress(_Undone), self.atomic():
            yield
            raise _Undone

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one consistent state of the file inside this context, whatever other processes write."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            self.execute("ROLLBACK")

    def watch_files(self) -> None:
        """Make later transactions fail if a file of the study was removed or replaced.

        Without this check, SQLite would write to the removed file and report success.
        """
        self._files = {path: _identity(path) for path in (self.path, *self._beside)}

    def has_log(self) -> bool:
        """Return whether the file has a write-ahead log."""
        return self._beside[0].exists()

    @cached_property
    def _beside(self) -> tuple[Path, Path]:
        """The write-ahead log and its index, which SQLite creates beside the target of a symbolic link."""
        real = self.path.resolve()
        return real.with_name(f"{real.name}-wal"), real.with_name(f"{real.name}-shm")

    def _check_files(self) -> None:
        """Raise StudyError if a file of the study was removed or replaced, so that the last commit may be lost."""
        for path, identity in self._files.items():
            try:
                is_ours = _identity(path) == identity and (not path.name.endswith("-wal") or _begins_as_log(path))
            except OSError:
                is_ours = False
            if not is_ours:
                raise StudyError(
                    f"{path} was removed or replaced while the study was in use, so the last changes may be lost. "
                    f"Stop the program that removes it (such as a clean-up or sync program), restart the server, and "
                    f"check the study with: labeler audit --study {shlex.quote(str(self.path))}"
                )

    def backup(self, target: Path) -> None:
        """Copy the whole study into a new file; other processes can continue to write to the study.

        Raises StudyError if the target already exists or cannot be written. No incomplete file remains.
        """
        partial = target.with_name(target.name + ".partial")
        try:
            if target.exists():
                raise StudyError(f"{target} already exists. Give the name of a new file.")
            partial.unlink(missing_ok=True)
            copy = sqlite3.connect(partial, isolation_level=None)
            try:
                self._connection.backup(copy)
                copy.execute(
                    "PRAGMA journal_mode = DELETE"
                )  # makes the copy a single file, which can be read on a read-only disk
            finally:
                copy.close()
            partial.rename(target)
        except (OSError, sqlite3.Error) as error:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise StudyError(f"The backup could not be written to {target}: {error}.") from error

    def close(self) -> None:
        """Close the connection; changes that were not committed are lost."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _identity(path: Path) -> tuple[int, int]:
    """Return values such as device and inode, which do not change as long as the path is the same file."""
    status = path.stat()
    return status.st_dev, status.st_ino


def _begins_as_log(path: Path) -> bool:
    """Return whether a write-ahead log is empty or begins with the header of a log.

    If another file replaces the log while the study is in use, SQLite writes no header to this file, and ignores the
    file when the study is next opened.
    """
    with path.open("rb") as file:  # SQLite has no locks on this file, so reading and closing the file is safe
        return file.read(4) in (b"", *LOG_BEGINS)


def connect(path: Path, *, mode: str) -> sqlite3.Connection:
    """Open a file with SQLite in one of the URI modes of SQLite; raises StudyError if this fails."""
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None
        )
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        connection.execute("PRAGMA trusted_schema = OFF")  # does not read the file
    except sqlite3.OperationalError as error:
        raise StudyError(f"{path} cannot be opened: {error}.") from error
    return connection


class _Cursor(sqlite3.Cursor):
    """A cursor that also converts errors that occur while rows are fetched, when SQLite often first finds damage."""

    path: Path

    def __next__(self) -> Any:
        with _errors_described(self.path):
            return super().__next__()

    def fetchone(self) -> Any:
        with _errors_described(self.path):
            return super().fetchone()

    def fetchall(self) -> list[Any]:
        with _errors_described(self.path):
            return super().fetchall()


class _errors_described:  # noqa: N801 - used like a function; a class, because it surrounds every statement and row
    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.IntegrityError):
            raise _described(error, self._path) from error


def _begins_as_one(path: Path) -> bool:
    """Return whether a file that SQLite refuses to open begins like an SQLite file.

    The file is read directly. `open_database` explains when this is unsafe.
    """
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\x00"
    except OSError:
        return True


def _busy(path: Path) -> str:
    return f"{path} is busy: another process has been writing for {BUSY_TIMEOUT_S:.0f} s. Try again."


def _described(error: sqlite3.DatabaseError, path: Path) -> Exception:
    text = str(error)
    if "locked" in text or "busy" in text:
        return StudyBusy(_busy(path))
    if "readonly" in text or "unable to open" in text:
        return StudyReadOnly(f"{path} cannot be written to. Make the file and its folder writable, or copy it.")
    if "disk I/O" in text:
        return StudyReadOnly(
            f"{path} cannot be read or written: {text}. The disk may be full, or one of its files was removed."
        )
    if "full" in text:
        return StudyReadOnly(f"{path} cannot be written to: the disk is full.")
    if "not a database" in text and not _begins_as_one(path):
        return NotAStudy(f"{path} is not a study file.")
    if "decode to UTF-8" in text:
        column = re.search(r"column '(\w+)'", text)
        where = f" in the column {column[1]}" if column else ""
        return NotAStudy(f"{path} is damaged: a text{where} is not UTF-8. Restore a backup.")
    if "too big" in text:
        return NotAStudy(f"{path} has a value of more than {MAX_VALUE_BYTES // 1_000_000} MB, so it cannot be read.")
    if "malformed" in text or "not a database" in text:
        return NotAStudy(f"{path} is damaged: {text}. Restore a backup.")
    return error
