"""Who labels what: the plan as rows."""

from collections.abc import Iterable
from dataclasses import dataclass

from labeler.model import Answer, Kind, Task
from labeler.store.database import Database


@dataclass(frozen=True)
class NewAssignment:
    """A row to be written; `block` and `position` are None for labels made elsewhere."""

    person_id: int
    item_id: int
    kind: Kind
    block: int | None
    position: int | None
    code: str


# The bare `answer` is that of the row with the largest revision, as SQLite documents it. An answer "not sure" that was
# taken back does not count as one. All lookups go by the index on (assignment, revision).
_TASKS = """
    SELECT assignment_id, item_id, code, count(revision), answer,
           coalesce(sum(answer = 'not sure' AND NOT EXISTS (
               SELECT 1 FROM labels w WHERE w.assignment_id = a.assignment_id
               AND w.revision = l.revision + 1 AND w.answer = 'withdrawn')), 0), max(revision)
    FROM assignments a LEFT JOIN labels l USING (assignment_id)"""
_EACH = "GROUP BY assignment_id ORDER BY position, assignment_id"


def add(db: Database, rows: Iterable[NewAssignment]) -> None:
    """Write assignments; raises sqlite3.IntegrityError if a code is taken."""
    db.executemany(
        "INSERT INTO assignments (person_id, item_id, kind, block, position, code) VALUES (?, ?, ?, ?, ?, ?)",
        ((r.person_id, r.item_id, r.kind, r.block, r.position, r.code) for r in rows),
    )


def clear(db: Database) -> None:
    """Remove the whole plan; the database refuses it once there are labels."""
    db.execute("DELETE FROM assignments")


def tasks_of(db: Database, person_id: int) -> list[Task]:
    """Everything assigned to a reviewer, in order of presentation, with the answer that stands."""
    rows = db.execute(f"{_TASKS} WHERE a.person_id = ? {_EACH}", (person_id,)).fetchall()
    return [_task(row) for row in rows]


def task_by_code(db: Database, person_id: int, code: str) -> Task | None:
    """The reviewer's task of this code; None if it is somebody else's."""
    row = db.execute(f"{_TASKS} WHERE a.person_id = ? AND a.code = ? {_EACH}", (person_id, code)).fetchone()
    return _task(row) if row else None


def find(db: Database, person_id: int, item_id: int, kind: Kind) -> Task | None:
    """A reviewer's assignment of one kind on an item."""
    row = db.execute(
        f"{_TASKS} WHERE a.person_id = ? AND a.item_id = ? AND a.kind = ? {_EACH}",
        (person_id, item_id, kind),
    ).fetchone()
    return _task(row) if row else None


def get(db: Database, person_id: int, item_id: int, kind: Kind) -> Task:
    """The same for one that is known to exist."""
    task = find(db, person_id, item_id, kind)
    if task is None:
        raise LookupError(f"no {kind} assignment of item {item_id} to person {person_id}")
    return task


def _task(row: tuple[int, int, str, int, str | None, int, int | None]) -> Task:
    assignment_id, item_id, code, revision, answer, n_not_sure, _ = row
    return Task(assignment_id, item_id, code, revision, Answer(answer) if answer else None, n_not_sure)
