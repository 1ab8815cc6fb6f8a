"""Store and read assignments, which say which reviewer labels which item."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass

from labeler.studies.model import ALL, Assignment, Item, Kind, Origin, Remarks, Task
from labeler.studies.store import chain, items
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
_TASK = """a.assignment_id, a.item_id, a.code, count(revision), l.answer,
           coalesce(sum(l.answer = 'not sure' AND NOT EXISTS (
               SELECT 1 FROM labels w WHERE w.assignment_id = a.assignment_id
               AND w.revision = l.revision + 1 AND w.answer = 'withdrawn')), 0),
           (SELECT json_array(confidence, flag, comment, extra) FROM labels r
            WHERE r.assignment_id = a.assignment_id AND r.answer <> 'withdrawn' ORDER BY r.revision DESC LIMIT 1),
           max(revision)"""
_TASKS = f"SELECT {_TASK} FROM assignments a LEFT JOIN labels l USING (assignment_id)"  # noqa: S608 - constants
_EACH = "GROUP BY a.assignment_id ORDER BY position, a.assignment_id"
IN_STUDY = "a.item_id NOT IN (SELECT item_id FROM items WHERE excluded_why IS NOT NULL)"
STANDS = f"a.ended_utc IS NULL AND {IN_STUDY}"

# `answer` is NULL before the first answer of an assignment. `listed` names the tasks that are read, and why.
_OWN_WORK = f"""
    WITH own AS MATERIALIZED (
        SELECT a.assignment_id, a.code, a.position, (a.kind = 'calibration') = :calibration AS in_round,
               {STANDS} AS stands, {IN_STUDY} AS in_study,
               (SELECT label_id FROM labels n WHERE n.assignment_id = a.assignment_id
                ORDER BY revision LIMIT 1) AS first_id,
               (SELECT label_id FROM labels n WHERE n.assignment_id = a.assignment_id
                ORDER BY revision DESC LIMIT 1) AS newest_id
        FROM assignments a WHERE a.person_id = :person),
    standing AS MATERIALIZED (
        SELECT own.*, answer FROM own LEFT JOIN labels ON label_id = newest_id WHERE in_round AND stands),
    latest AS MATERIALIZED (
        SELECT assignment_id, first_id FROM standing WHERE answer <> 'withdrawn' ORDER BY newest_id DESC LIMIT 1),
    listed (why, assignment_id) AS (
        SELECT * FROM (SELECT 'open', assignment_id FROM standing WHERE coalesce(answer, 'withdrawn') = 'withdrawn'
                       ORDER BY position, assignment_id LIMIT :n_open)
        UNION ALL SELECT 'not sure', assignment_id FROM standing WHERE answer = 'not sure'
        UNION ALL SELECT 'last', assignment_id FROM latest
        UNION ALL SELECT iif(in_round AND in_study, iif(stands, 'asked', 'moved'), 'not in play'), assignment_id
        FROM own WHERE code = :code),
    shared AS MATERIALIZED (
        SELECT (SELECT json_group_array(json_array(answer, n)) FROM (
                    SELECT answer, count(*) AS n FROM standing GROUP BY answer)),
               (SELECT count(*) FROM own WHERE in_round AND first_id > (SELECT first_id FROM latest)),
               (SELECT event_id FROM labels WHERE label_id = (SELECT max(newest_id) FROM own)),
               (SELECT json_array(l.assignment_id, l.answer) FROM own CROSS JOIN labels l USING (assignment_id)
                WHERE :event_id <> '' AND l.event_id = :event_id))
    SELECT shared.*, listed.why, {", ".join(f"i.{column}" for column in items.COLUMNS)}, {_TASK}
    FROM shared LEFT JOIN listed LEFT JOIN assignments a USING (assignment_id) LEFT JOIN items i USING (item_id)
         LEFT JOIN labels l ON l.assignment_id = a.assignment_id
    GROUP BY listed.why, a.assignment_id ORDER BY a.position, a.assignment_id"""  # noqa: S608 - constants


@dataclass(frozen=True)
class OwnWork:
    """The work of a reviewer in a round. Nothing in it depends on the rows of other people."""

    n_by_answer: Counter[str | None]  # the number of active tasks with each newest answer; None: without an answer
    open: tuple[Task, ...]  # the first active tasks that have no current answer
    not_sure: tuple[Task, ...]  # the active tasks whose current answer is "not sure"
    last: Task | None  # the active task that was answered last, and not withdrawn
    n_begun_after: int  # number of items of the round that were answered for the first time after the item `last`
    last_event: str | None  # event id of the newest answer in any round
    event: tuple[int, str] | None  # assignment id and answer of the event that was asked for
    asked: Task | None  # the task with the code that was asked for, of any round, active or not
    is_in_play: bool  # whether the task `asked` belongs to the round and is active
    is_moved: bool  # whether the task `asked` belongs to the round and went to another reviewer
    items: Mapping[int, Item]  # the items of these tasks, by id; their names never reach a reviewer


def own_work(
    db: Database, person_id: int, *, calibration: bool, n_open: int, code: str = "", event_id: str = ""
) -> OwnWork:
    """Return the work of a reviewer in a round, with at most `n_open` open tasks.

    An assignment is active if it has not ended and its item is not excluded. `code` and `event_id` ask for a task and
    for an answer of this reviewer.
    """
    rows = db.execute(
        _OWN_WORK,
        {"person": person_id, "calibration": calibration, "n_open": n_open, "code": code, "event_id": event_id},
    ).fetchall()
    counts, n_begun_after, last_event, event, *_ = rows[0]
    found, own_items = defaultdict[str, list[Task]](list), dict[int, Item]()
    for _, _, _, _, why, *columns in rows:
        if why is not None:
            item = Item(*columns[: len(items.COLUMNS)])
            own_items[item.item_id] = item
            found[why].append(_task(*columns[len(items.COLUMNS) :]))
    return OwnWork(
        n_by_answer=Counter(dict(json.loads(counts))),
        open=tuple(found["open"]),
        not_sure=tuple(found["not sure"]),
        last=next(iter(found["last"]), None),
        n_begun_after=n_begun_after,
        last_event=last_event,
        event=tuple(json.loads(event)) if event else None,
        asked=next(iter(found["asked"] or found["moved"] or found["not in play"]), None),
        is_in_play=bool(found["asked"]),
        is_moved=bool(found["moved"]),
        items=own_items,
    )


def add(db: Database, rows: Iterable[NewAssignment]) -> None:
    """Store assignments; raises sqlite3.IntegrityError if a code is already used.

    If the same assignment exists but has ended, it becomes active again, and keeps its code, answers and origin.
    """
    new = [
        db.execute(
            """INSERT INTO assignments (person_id, item_id, kind, block, position, code, origin)
               VALUES (?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (person_id, item_id, kind) DO UPDATE
               SET ended_utc = NULL, block = excluded.block, position = excluded.position
               RETURNING assignment_id""",
            astuple(row),
        ).fetchone()[0]
        for row in rows
    ]
    chain.append_all(db, "assignment", new)


def clear(db: Database) -> None:
    """Remove all assignments; the database refuses this if there are labels."""
    removed = db.execute("DELETE FROM assignments RETURNING assignment_id").fetchall()
    chain.remove(db, "assignment", [assignment_id for (assignment_id,) in removed])


def tasks_of(db: Database, person_id: int, *, calibration: bool = False) -> list[Task]:
    """Return a reviewer's tasks in the order in which the reviewer sees the items, with the current answers.

    The tasks are those of the calibration round, or those of the study itself.
    """
    rows = db.execute(
        f"{_TASKS} WHERE a.person_id = ? AND (a.kind = 'calibration') = ? AND {STANDS} {_EACH}",
        (person_id, calibration),
    )
    return [_task(*row) for row in rows]


def has_code(db: Database, code: str) -> bool:
    """Return whether an active or ended assignment has this code."""
    return db.execute("SELECT 1 FROM assignments WHERE code = ?", (code,)).fetchone() is not None


def task_by_code(db: Database, person_id: int, code: str) -> Task | None:
    """Return the reviewer's task with this code; return None if the code belongs to another reviewer or to nobody.

    The task may be of any round, and may be active or ended.
    """
    row = db.execute(f"{_TASKS} WHERE a.person_id = ? AND a.code = ? {_EACH}", (person_id, code)).fetchone()
    return _task(*row) if row else None


def find(db: Database, person_id: int, item_id: int, kind: Kind) -> Task | None:
    """Return the reviewer's task of this kind for an item; return None if there is no such assignment."""
    row = db.execute(
        f"{_TASKS} WHERE a.person_id = ? AND a.item_id = ? AND a.kind = ? {_EACH}",
        (person_id, item_id, kind),
    ).fetchone()
    return _task(*row) if row else None


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


def end(db: Database, assignment_ids: Iterable[int], ended_utc: str) -> None:
    """End assignments, so that their reviewers no longer see the items."""
    ids = list(assignment_ids)
    rows = ((ended_utc, assignment_id) for assignment_id in ids)
    db.executemany("UPDATE assignments SET ended_utc = ? WHERE assignment_id = ?", rows)
    chain.append_all(db, "assignment", ids)


def _task(
    assignment_id: int, item_id: int, code: str, revision: int, answer: str | None, n_not_sure: int,
    remarks: str | None, _newest: int | None,
) -> Task:  # fmt: skip
    said = Remarks()
    if remarks is not None:
        confidence, flag, comment, extra = json.loads(remarks)
        said = Remarks(confidence, bool(flag), comment, extra)
    return Task(assignment_id, item_id, code, revision, answer, n_not_sure, said)
