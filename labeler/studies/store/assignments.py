"""Store and read assignments, which say which reviewer labels which item."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import astuple, dataclass

from labeler.studies.model import ALL, Assignment, Kind, Origin, Task
from labeler.studies.store.database import Database


@dataclass(frozen=True)
class NewAssignment:
    """An assignment to be stored; `block` and `position` may be None if its label was imported."""

    person_id: int
    item_id: int
    kind: Kind
    block: int | None
    position: int | None
    code: str
    origin: Origin = Origin.PLAN


@dataclass(frozen=True)
class StoredAssignment:
    """A stored assignment; `ended` is true if the assignment was moved to another reviewer or dropped."""

    assignment_id: int
    assignment: Assignment
    origin: Origin
    ended: bool


# As SQLite documents, `answer` without an aggregate is from the row with the largest revision. A withdrawn "not sure"
# does not count. All lookups use the index on (assignment, revision).
_TASKS = """
    SELECT assignment_id, item_id, code, count(revision), answer,
           coalesce(sum(answer = 'not sure' AND NOT EXISTS (
               SELECT 1 FROM labels w WHERE w.assignment_id = a.assignment_id
               AND w.revision = l.revision + 1 AND w.answer = 'withdrawn')), 0), max(revision)
    FROM assignments a LEFT JOIN labels l USING (assignment_id)"""
_EACH = "GROUP BY assignment_id ORDER BY position, assignment_id"
STANDS = "a.ended_utc IS NULL AND a.item_id NOT IN (SELECT item_id FROM items WHERE excluded_why IS NOT NULL)"

_OF_ROUND = f"a.person_id = ? AND (a.kind = 'calibration') = ? AND {STANDS}"
# The answer is NULL before the first answer.
_NEWEST = "(SELECT answer FROM labels n WHERE n.assignment_id = a.assignment_id ORDER BY revision DESC LIMIT 1)"


def add(db: Database, rows: Iterable[NewAssignment]) -> None:
    """Store assignments; raises sqlite3.IntegrityError if a code is already used."""
    db.executemany(
        """INSERT INTO assignments (person_id, item_id, kind, block, position, code, origin)
           VALUES (?, ?, ?, ?, ?, ?, ?)""",
        map(astuple, rows),
    )


def clear(db: Database) -> None:
    """Remove all assignments; the database refuses this if there are labels."""
    db.execute("DELETE FROM assignments")


def tasks_of(db: Database, person_id: int, *, calibration: bool = False) -> list[Task]:
    """Return a reviewer's tasks in the order in which the reviewer sees the items, with the current answers.

    The tasks are those of the calibration round, or those of the study itself.
    """
    rows = db.execute(f"{_TASKS} WHERE {_OF_ROUND} {_EACH}", (person_id, calibration)).fetchall()
    return [_task(row) for row in rows]


def open_tasks(db: Database, person_id: int, *, calibration: bool, limit: int) -> list[Task]:
    """Return the first tasks of a reviewer that have no current answer, at most `limit`."""
    return _first_with(db, person_id, f"coalesce({_NEWEST}, 'withdrawn') = 'withdrawn'", calibration, limit)


def unsure_tasks(db: Database, person_id: int, *, calibration: bool) -> list[Task]:
    """Return the tasks of a reviewer whose current answer is "not sure"."""
    return _first_with(db, person_id, f"{_NEWEST} = 'not sure'", calibration, -1)


def n_by_answer(db: Database, person_id: int, *, calibration: bool) -> Counter[str | None]:
    """Return how many tasks of a reviewer have which newest answer; the key None counts tasks without an answer."""
    rows = db.execute(
        f"SELECT {_NEWEST} AS newest, count(*) FROM assignments a WHERE {_OF_ROUND} GROUP BY newest",  # noqa: S608 - constant
        (person_id, calibration),
    )
    return Counter(dict(rows.fetchall()))


def has_code(db: Database, code: str) -> bool:
    """Return whether an active or ended assignment has this code."""
    return db.execute("SELECT 1 FROM assignments WHERE code = ?", (code,)).fetchone() is not None


def task_by_code(db: Database, person_id: int, code: str) -> Task | None:
    """Return the reviewer's task with this code; return None if the code belongs to another reviewer or to nobody.

    The task may be of any round, and may be active or ended.
    """
    row = db.execute(f"{_TASKS} WHERE a.person_id = ? AND a.code = ? {_EACH}", (person_id, code)).fetchone()
    return _task(row) if row else None


def stands(db: Database, assignment_id: int, *, calibration: bool) -> bool:
    """Return whether an assignment is active and belongs to the given round.

    An assignment is active if it has not ended and its item is not excluded.
    """
    row = db.execute(
        f"SELECT 1 FROM assignments a WHERE assignment_id = ? AND (a.kind = 'calibration') = ? AND {STANDS}",  # noqa: S608 - constant
        (assignment_id, calibration),
    )
    return row.fetchone() is not None


def find(db: Database, person_id: int, item_id: int, kind: Kind) -> Task | None:
    """Return the reviewer's task of this kind for an item; return None if there is no such assignment."""
    row = db.execute(
        f"{_TASKS} WHERE a.person_id = ? AND a.item_id = ? AND a.kind = ? {_EACH}",
        (person_id, item_id, kind),
    ).fetchone()
    return _task(row) if row else None


def get(db: Database, person_id: int, item_id: int, kind: Kind) -> Task:
    """Return the reviewer's task of this kind for an item; the assignment must exist."""
    task = find(db, person_id, item_id, kind)
    if task is None:
        raise LookupError(f"person {person_id} has no {kind} assignment of item {item_id}")
    return task


def everything(db: Database, kind: Kind | None = None) -> list[StoredAssignment]:
    """Return all assignments, or all assignments of one kind, in order of creation; ended assignments are included."""
    rows = db.execute(
        """SELECT a.assignment_id, p.name, i.name, a.kind, a.block, a.position, a.origin, a.ended_utc
           FROM assignments a JOIN people p USING (person_id) JOIN items i USING (item_id)
           WHERE a.kind = coalesce(?, a.kind) ORDER BY a.assignment_id""",
        (kind,),
    )
    return [
        StoredAssignment(
            assignment_id,
            Assignment(reviewer, item, Kind(kind), ALL if block is None else block, position or 0),
            Origin(origin),
            ended_utc is not None,
        )
        for assignment_id, reviewer, item, kind, block, position, origin, ended_utc in rows
    ]


def give(db: Database, row: NewAssignment) -> None:
    """Store an assignment; if the same assignment exists but has ended, make that assignment active again.

    An assignment that becomes active again keeps its code, answers and origin.
    """
    db.execute(
        """INSERT INTO assignments (person_id, item_id, kind, block, position, code, origin)
           VALUES (?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (person_id, item_id, kind) DO UPDATE
           SET ended_utc = NULL, block = excluded.block, position = excluded.position""",
        astuple(row),
    )


def end(db: Database, assignment_ids: Iterable[int], ended_utc: str) -> None:
    """End assignments, so that their reviewers no longer see the items."""
    rows = ((ended_utc, assignment_id) for assignment_id in assignment_ids)
    db.executemany("UPDATE assignments SET ended_utc = ? WHERE assignment_id = ?", rows)


def _first_with(db: Database, person_id: int, condition: str, calibration: bool, limit: int) -> list[Task]:
    """Return the first tasks of a reviewer that meet a condition.

    The query selects ids first, which is faster, because a reviewer may have a thousand tasks.
    """
    rows = db.execute(
        f"""{_TASKS} WHERE assignment_id IN (
                SELECT assignment_id FROM assignments a WHERE {_OF_ROUND} AND {condition}
                ORDER BY position, assignment_id LIMIT ?) {_EACH}""",  # noqa: S608 - constant
        (person_id, calibration, limit),
    )
    return [_task(row) for row in rows.fetchall()]


def _task(row: tuple[int, int, str, int, str | None, int, int | None]) -> Task:
    assignment_id, item_id, code, revision, answer, n_not_sure, _ = row
    return Task(assignment_id, item_id, code, revision, answer, n_not_sure)
