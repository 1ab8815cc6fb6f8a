"""Maintain a hash chain, which reveals later changes of data that must not change, such as answers and measurements.

Each new row adds a link. A link contains the hash of the row, and the head, which is the hash of the previous head and
this link. If somebody changes a row later, the hash of the row no longer matches. If somebody changes a link, the heads
no longer match. If somebody rebuilds the chain or restores an older file, the head differs from a head that was printed
earlier.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from labeler.studies.store.database import Database

_REMOVED = hashlib.sha256(b"removed").hexdigest()  # in the link of a removed row, whose id a later row may get
_MAY_CHANGE = ("picture", "segments", "assignment")  # the newest link of such a row counts

# part -> the queries that read one row by its id; the hash of the row covers their results
_CONTENT: Mapping[str, tuple[str, ...]] = {
    "measurement": (
        """SELECT name, benchmark, application, parameters, unit, better, n_runs, n_iterations, data_hash, failures,
                  made_from, known_answer
           FROM items WHERE item_id = ?""",
        "SELECT run, measurements, conditions FROM runs WHERE item_id = ? ORDER BY run",
    ),
    "picture": ("SELECT version, payload FROM bins WHERE item_id = ?",),
    "event": ("SELECT at_utc, actor, action, details FROM events WHERE event_id = ?",),
    "answer": (
        """SELECT l.*, a.code, a.kind, p.name, i.name
           FROM labels l JOIN assignments a USING (assignment_id) JOIN people p USING (person_id)
                JOIN items i USING (item_id) WHERE l.label_id = ?""",
    ),
    "decision": ("SELECT d.*, i.name FROM decisions d JOIN items i USING (item_id) WHERE d.decision_id = ?",),
    "reply": ("SELECT * FROM replies WHERE reply_id = ?",),
    "segments": ("SELECT * FROM segments WHERE item_id = ?",),
    "assignment": (
        """SELECT a.*, p.name, i.name FROM assignments a JOIN people p USING (person_id) JOIN items i USING (item_id)
           WHERE a.assignment_id = ?""",
    ),
    "imported label": ("SELECT * FROM imported_labels WHERE label_id = ?",),
}
_IDS: Mapping[str, str] = {
    "measurement": "SELECT item_id FROM items ORDER BY item_id",
    "picture": "SELECT item_id FROM bins ORDER BY item_id",
    "event": "SELECT event_id FROM events ORDER BY event_id",
    "answer": "SELECT label_id FROM labels ORDER BY label_id",
    "decision": "SELECT decision_id FROM decisions ORDER BY decision_id",
    "reply": "SELECT reply_id FROM replies ORDER BY reply_id",
    "segments": "SELECT item_id FROM segments ORDER BY item_id",
    "assignment": "SELECT assignment_id FROM assignments ORDER BY assignment_id",
    "imported label": "SELECT label_id FROM imported_labels ORDER BY label_id",
}
# table with AUTOINCREMENT -> its id; SQLite keeps the largest id of each in the table sqlite_sequence
_COUNTED = {"labels": "label_id", "replies": "reply_id", "decisions": "decision_id", "events": "event_id"}
_HEAD = "SELECT link_id, head FROM links ORDER BY link_id DESC LIMIT 1"
# tables that the log determines
AUDITED = ("studies", "questions", "categories", "people", "items", "files", "invitations", "sessions")


@dataclass(frozen=True)
class Head:
    """The end of a chain: the number of its links, and their hash."""

    n_links: int
    digest: str

    def __str__(self) -> str:
        return f"{self.n_links}-{self.digest}"


@dataclass(frozen=True)
class Fault:
    """A row or link that does not match the chain; `part` is "chain" if the fault is in the chain itself."""

    part: str
    row_id: int
    what: str


def append(db: Database, part: str, row_id: int) -> tuple[Any, ...]:
    """Add a link for a new or changed row to the chain, and return the row as it is stored and hashed."""
    query, *more = _CONTENT[part]
    found = db.execute(
        f"SELECT head.*, content.* FROM ({query}) content LEFT JOIN ({_HEAD}) head",  # noqa: S608 - constants
        (row_id,),
    ).fetchone()
    if found is None:
        raise LookupError(f"{part} {row_id} does not exist and cannot be linked")
    n_links, last, *row = found
    digest = _digest_of([[row], *(db.execute(other, (row_id,)) for other in more)])
    _add_link(db, Head(n_links or 0, last or ""), part, row_id, digest)
    return tuple(row)


def append_all(db: Database, part: str, row_ids: Iterable[int]) -> None:
    """Add a link for each of these new or changed rows to the chain."""
    last = head(db)
    for row_id in row_ids:
        last = _append(db, last, part, row_id)


def remove(db: Database, part: str, row_ids: Iterable[int]) -> None:
    """Add a link for each of these rows, which were removed."""
    last = head(db)
    for row_id in row_ids:
        last = _add_link(db, last, part, row_id, _REMOVED)


def head(db: Database) -> Head:
    """Return the head of the chain: the number of links, and the last hash."""
    row = db.execute(_HEAD).fetchone()
    return Head(*row) if row else Head(0, "")


def rebuild(db: Database) -> None:
    """Build the chain anew from all rows, for a copy whose content was changed.

    Call this function only inside `copies.rewritable`.
    """
    db.execute("DELETE FROM links")
    for part, ids in _IDS.items():
        append_all(db, part, [row_id for (row_id,) in db.execute(ids).fetchall()])
    for table, newest in _newest_ids(db).items():  # rows may have been removed
        db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = ?", (newest, table))


def digest_at(db: Database, n_links: int) -> str | None:
    """Return the hash of the head after the first `n_links` links; return None if the chain is shorter."""
    row = db.execute("SELECT head FROM links WHERE link_id = ?", (n_links,)).fetchone()
    return str(row[0]) if row else None


def all_heads(db: Database) -> set[str]:
    """Return every hash that was once the end of the chain; the end of an empty chain is the empty text."""
    return {"", *(head for (head,) in db.execute("SELECT head FROM links"))}


def digests_of(db: Database, part: str) -> set[str]:
    """Return the hashes of the present contents of all rows of a part."""
    return {digest_of(db, part, row_id) or "" for (row_id,) in db.execute(_IDS[part]).fetchall()}


def digest_of(db: Database, part: str, row_id: int) -> str | None:
    """Return the hash of the present content of a row; return None if the row does not exist."""
    found = [db.execute(query, (row_id,)).fetchall() for query in _CONTENT[part]]
    return _digest_of(found) if any(found) else None


def _digest_of(results: Iterable[Iterable[Iterable[Any]]]) -> str:
    """Return the hash of the rows that the queries of a part gave."""
    digest = hashlib.sha256()
    for rows in results:
        for row in rows:
            for value in row:
                # type and length are hashed before the content, so that different rows never give the same bytes
                content = value if isinstance(value, bytes) else repr(value).encode("utf-8", "surrogatepass")
                digest.update(f"{type(value).__name__}{len(content)}:".encode())
                digest.update(content)
            digest.update(b";")
    return digest.hexdigest()


def faults(db: Database) -> Iterator[Fault]:
    """Yield each link or row that does not match, in the order of the chain, and then each row without a link."""
    last, newest = Head(0, ""), dict[tuple[str, int], str]()
    for link_id, part, row_id, digest, stored in db.execute("SELECT * FROM links ORDER BY link_id").fetchall():
        if link_id != last.n_links + 1:
            yield Fault("chain", last.n_links + 1, f"links {last.n_links + 1} to {link_id - 1} were removed")
        elif stored != _next(last, part, row_id, digest):
            yield Fault("chain", link_id, "the link does not match the previous link: a link was changed or moved")
        if digest == _REMOVED:
            newest.pop((part, row_id), None)
        else:
            if part not in _MAY_CHANGE and (part, row_id) in newest:
                yield Fault("chain", link_id, f"{part} {row_id} is linked twice")
            newest[part, row_id] = digest
        last = Head(link_id, stored)
    for (part, row_id), digest in newest.items():
        now = digest_of(db, part, row_id) if part in _CONTENT else None
        if now != digest:
            yield Fault(part, row_id, "was removed" if now is None else "was changed")
    for part, ids in _IDS.items():
        for (row_id,) in db.execute(ids).fetchall():
            if (part, row_id) not in newest:
                yield Fault(part, row_id, "was inserted outside the application")
    yield from _faults_of_counters(db)


def _faults_of_counters(db: Database) -> Iterator[Fault]:
    """Yield each difference between sqlite_sequence and the tables: SQLite takes the next id of a row from it."""
    counters, newest = dict.fromkeys(_COUNTED, 0), _newest_ids(db)
    for row_id, name, counter in db.execute("SELECT rowid, name, seq FROM sqlite_sequence").fetchall():
        if name not in counters:
            yield Fault("counter", row_id, f"{name!r} is no table with a counter, or has two")
        else:
            counters.pop(name)
            if counter != newest[name]:
                yield Fault("counter", row_id, f"of {name} is {counter!r}; the last row is {newest[name]}")
    for name in counters:
        if newest[name]:
            yield Fault("counter", 0, f"of {name} was removed")


def _newest_ids(db: Database) -> dict[str, int]:
    """Return the largest id of each table that has a counter; 0 if the table is empty."""
    query = "SELECT coalesce(max({}), 0) FROM {}"
    return {table: int(db.execute(query.format(key, table)).fetchone()[0]) for table, key in _COUNTED.items()}


def _append(db: Database, last: Head, part: str, row_id: int) -> Head:
    digest = digest_of(db, part, row_id)
    if digest is None:
        raise LookupError(f"{part} {row_id} does not exist and cannot be linked")
    return _add_link(db, last, part, row_id, digest)


def _add_link(db: Database, last: Head, part: str, row_id: int, digest: str) -> Head:
    new = Head(last.n_links + 1, _next(last, part, row_id, digest))
    db.execute("INSERT INTO links VALUES (?, ?, ?, ?, ?)", (new.n_links, part, row_id, digest, new.digest))
    return new


def _next(last: Head, part: str, row_id: int, digest: str) -> str:
    return hashlib.sha256(f"{last.digest}|{part}|{row_id}|{digest}".encode()).hexdigest()


def audited_rows(db: Database, table: str) -> list[dict[str, Any]]:
    """Return all rows of a table that the log determines, as column -> value; `row_id` is the number of the row."""
    if table not in AUDITED:
        raise LookupError(f"{table} is not determined by the log")
    return db.records(f"SELECT rowid AS row_id, * FROM {table} ORDER BY rowid")  # noqa: S608 - constants
