"""Read flags and comments of reviewers, and store and read the replies of coordinators."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from labeler.studies.store import chain
from labeler.studies.store.database import Database


@dataclass(frozen=True)
class Reply:
    """A reply of a coordinator, with the time."""

    text: str
    written_by: str
    created_utc: str


@dataclass(frozen=True)
class Message:
    """The flag or comment of a reviewer's newest answer to an assignment."""

    assignment_id: int
    item: str  # the item's name
    code: str  # the code of the item on this reviewer's screen
    reviewer: str  # The name of the reviewer. Pages must not show the name before the study is unblinded.
    flag: bool
    comment: str | None
    created_utc: str  # the time when the flag or comment last changed
    view: str = "{}"  # what the reviewer saw, as JSON
    swapped: bool = False  # whether the picture had the two sides of the item in the other order
    replies: tuple[Reply, ...] = ()  # the replies of coordinators, in order of time

    @property
    def is_answered(self) -> bool:
        """Whether a coordinator has replied since the flag or comment last changed."""
        return any(reply.created_utc >= self.created_utc for reply in self.replies)


def add(db: Database, assignment_id: int, reply: Reply) -> None:
    """Append a reply to the flag or comment on an assignment."""
    cursor = db.execute(
        "INSERT INTO replies (assignment_id, text, written_by, created_utc) VALUES (?, ?, ?, ?)",
        (assignment_id, reply.text, reply.written_by, reply.created_utc),
    )
    chain.append(db, "reply", int(cursor.lastrowid or 0))


def of_assignments(db: Database, assignment_ids: Iterable[int]) -> dict[int, tuple[Reply, ...]]:
    """Return the replies to each of these assignments, as assignment id -> replies in order of time."""
    rows = db.execute(
        """SELECT assignment_id, text, written_by, created_utc FROM replies
           WHERE assignment_id IN (SELECT value FROM json_each(?)) ORDER BY reply_id""",
        (json.dumps(list(assignment_ids)),),
    )
    by_assignment: dict[int, tuple[Reply, ...]] = {}
    for assignment_id, *reply in rows:
        by_assignment[assignment_id] = (*by_assignment.get(assignment_id, ()), Reply(*reply))
    return by_assignment


def flags_and_comments(db: Database) -> list[Message]:
    """Return the flag or comment of each assignment whose newest answer has one; the most recent answer comes first.

    Withdrawn answers are ignored. A message on an attention check names the item that it was made from, so that nobody
    learns of the check. The messages have no replies yet, which `of_assignments` reads.
    """
    rows = db.execute(
        """WITH answers AS (SELECT * FROM labels WHERE answer <> 'withdrawn')
           SELECT l.assignment_id, coalesce(s.name, i.name), a.code, p.name, l.flag, l.comment, l.view, l.swapped, (
               SELECT g.created_utc FROM answers g WHERE g.assignment_id = l.assignment_id AND g.revision > coalesce((
                   SELECT max(b.revision) FROM answers b WHERE b.assignment_id = l.assignment_id
                   AND (b.flag, coalesce(b.comment, '')) <> (l.flag, coalesce(l.comment, ''))), -1)
               ORDER BY g.revision LIMIT 1)
           FROM answers l JOIN assignments a USING (assignment_id) JOIN items i USING (item_id)
                LEFT JOIN items s ON s.item_id = i.made_from JOIN people p USING (person_id)
           WHERE (l.flag OR coalesce(l.comment, '') <> '') AND l.revision = (
               SELECT max(n.revision) FROM answers n WHERE n.assignment_id = l.assignment_id)
           ORDER BY l.label_id DESC"""
    )
    return [
        Message(assignment_id, item, code, reviewer, bool(flag), comment or None, created_utc, view, bool(swapped))
        for assignment_id, item, code, reviewer, flag, comment, view, swapped, created_utc in rows
    ]
