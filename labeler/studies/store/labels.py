"""Store and read answers. Answers are only appended and never changed."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from labeler.errors import AnswerRefused, StudyError
from labeler.studies.model import Label, LabelOrigin
from labeler.studies.store import chain, studies
from labeler.studies.store.assignments import STANDS
from labeler.studies.store.database import Database

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "item", "benchmark", "application", "part", "reviewer", "assignment", "revision", "kind", "label", "created_utc",
    "position", "dwell_ms", "view", "confidence", "flag", "comment", "extra", "swapped", "session", "event_id",
)  # fmt: skip
# the columns of the table, without the id, in its order
_STORED = (
    "assignment_id", "revision", "event_id", "answer", "created_utc", "dwell_ms", "view", "confidence", "flag",
    "comment", "extra", "swapped", "session", "origin",
)  # fmt: skip


def add(db: Database, label: Label, source_key: str | None = None) -> bool:
    """Append an answer; return False if the assignment already has an answer with this event id.

    This happens if a browser repeats a request. `source_key` identifies the row in an imported file, so that a second
    import of the file adds nothing. Raises AnswerRefused if the assignment already has another answer with the same
    revision number.
    """
    given = (
        label.assignment_id, label.revision, label.event_id, label.answer, label.created.isoformat(), label.dwell_ms,
        json.dumps(dict(label.view), sort_keys=True), label.confidence, int(label.flag), label.comment, label.extra,
        None if label.swapped is None else int(label.swapped), label.session, label.origin,
    )  # fmt: skip
    try:
        cursor = db.execute(
            f"""INSERT INTO labels ({", ".join(_STORED)}) VALUES ({", ".join("?" * len(_STORED))})
                ON CONFLICT (assignment_id, event_id) DO NOTHING""",  # noqa: S608 - constants
            given,
        )
    except sqlite3.IntegrityError as error:
        if "labels.revision" in str(error):
            raise AnswerRefused(
                "This item was answered in another window in the meantime. That answer is kept."
            ) from error
        raise
    if cursor.rowcount != 1:
        return False
    label_id = int(cursor.lastrowid or 0)
    if source_key is not None:
        imported = db.execute(
            "INSERT INTO imported_labels (source_key, label_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (source_key, label_id),
        )
        if imported.rowcount == 1:
            chain.append(db, "imported label", label_id)
    stored = chain.append(db, "answer", label_id)
    if stored[: len(given) + 1] != (label_id, *given):
        raise StudyError(f"{db.path} did not store an answer as it was given. Check the study with: labeler audit")
    return True


def saved_before(db: Database, assignment_id: int, source_key: str) -> tuple[int, str] | None:
    """Return the assignment id and the answer that a row of a label file already has in the study.

    Return None if the row was neither imported before nor exported from this study.
    """
    row = (
        db.execute(
            "SELECT assignment_id, answer FROM imported_labels JOIN labels USING (label_id) WHERE source_key = ?",
            (source_key,),
        ).fetchone()
        or db.execute(
            "SELECT assignment_id, answer FROM labels WHERE assignment_id = ? AND event_id = ?",
            (assignment_id, source_key),
        ).fetchone()
    )
    return (int(row[0]), str(row[1])) if row else None


def known_events(db: Database, person_id: int, event_ids: Iterable[str]) -> set[str]:
    """Return which of the given event ids belong to stored answers of this reviewer."""
    rows = db.execute(
        """SELECT event_id FROM labels JOIN assignments USING (assignment_id)
           WHERE person_id = ? AND event_id IN (SELECT value FROM json_each(?))""",
        (person_id, json.dumps(list(event_ids))),
    )
    return {event_id for (event_id,) in rows}


def n_labels(db: Database) -> int:
    """Return the number of all answers in the study."""
    return int(db.execute("SELECT count(*) FROM labels").fetchone()[0])


def rows(db: Database, *, with_checks: bool = False) -> list[tuple[Any, ...]]:
    """Return all answers in the order in which reviewers gave them, as rows with the columns of the label file.

    All results and files of labels come from here, so answers to attention checks are left out of them.
    """
    return db.execute(
        """SELECT i.name, i.benchmark, i.application, a.block, p.name, a.assignment_id, l.revision, a.kind, l.answer,
                  l.created_utc, a.position, l.dwell_ms, l.view, l.confidence, l.flag, l.comment, l.extra, l.swapped,
                  l.session, l.event_id
           FROM labels l JOIN assignments a USING (assignment_id) JOIN items i USING (item_id)
                JOIN people p USING (person_id)
           WHERE i.known_answer IS NULL OR ? ORDER BY l.label_id""",
        (with_checks,),
    ).fetchall()


def table(db: Database, *, with_checks: bool = False) -> "pd.DataFrame":
    """Return all answers, as `rows` does, as a DataFrame."""
    import pandas as pd  # imported here because many commands need no table

    return pd.DataFrame(
        rows(db, with_checks=with_checks), columns=list(COLUMNS), dtype=object
    )  # keeps integers as integers if other cells are empty


def classes(db: Database) -> "pd.DataFrame":
    """Return all answers as `table` does, with labels that consist of marks as classes (see `Question.class_of`)."""
    question, answers = studies.get(db).question, table(db)
    return answers.assign(label=answers["label"].map(question.class_of)) if question.is_marked else answers


def own_answers(db: Database, person_id: int) -> list[Label]:
    """Return the answers of a reviewer, in the order in which they were given."""
    rows = db.records(
        f"""SELECT a.code, {", ".join(f"l.{column}" for column in _STORED)}
            FROM labels l JOIN assignments a USING (assignment_id)
            WHERE a.person_id = ? ORDER BY l.label_id""",  # noqa: S608 - constants
        (person_id,),
    )
    return [_label(row) for row in rows]


def links_of(db: Database, person_id: int) -> list[tuple[str, str, str, str, str]]:
    """Return code, answer, time, hash in the chain, and end of the chain after it, for each answer of a reviewer.

    The answers are in the order in which the reviewer gave them.
    """
    rows = db.execute(
        """SELECT a.code, l.answer, l.created_utc, k.digest, k.head
           FROM labels l JOIN assignments a USING (assignment_id)
                JOIN links k ON k.part = 'answer' AND k.row_id = l.label_id
           WHERE a.person_id = ? ORDER BY l.label_id""",
        (person_id,),
    )
    return rows.fetchall()


def progress(db: Database, *, calibration: bool = False) -> list[tuple[str, int, int, int, str | None]]:
    """Return the progress of each reviewer in a round.

    A row has the name of the reviewer, the numbers of assigned, labelled and "not sure" items, and the time of the last
    answer.
    """
    return db.execute(
        f"""SELECT p.name, count(a.assignment_id),
                  count(*) FILTER (WHERE c.answer NOT IN ('not sure', 'withdrawn')),
                  count(*) FILTER (WHERE c.answer = 'not sure'),
                  max(l.created_utc)
           FROM people p
                LEFT JOIN assignments a ON a.person_id = p.person_id AND (a.kind = 'calibration') = ? AND {STANDS}
                LEFT JOIN current_answers c USING (assignment_id) LEFT JOIN labels l USING (label_id)
           WHERE p.is_reviewer GROUP BY p.person_id ORDER BY p.name""",  # noqa: S608 - constant
        (calibration,),
    ).fetchall()


def n_of_kind(db: Database, kind: str) -> tuple[int, int]:
    """Return the number of active assignments of a kind that have a label, and the number of all of them."""
    n_done, n_assigned = db.execute(
        f"""SELECT count(*) FILTER (WHERE c.answer NOT IN ('not sure', 'withdrawn')), count(*)
           FROM assignments a LEFT JOIN current_answers c USING (assignment_id)
           WHERE a.kind = ? AND {STANDS}""",  # noqa: S608 - constant
        (kind,),
    ).fetchone()
    return int(n_done), int(n_assigned)


def n_by_hour(db: Database, *, calibration: bool | None = None) -> list[tuple[str, str, int]]:
    """Return the number of current labels of each reviewer in each hour, as (reviewer, hour, number).

    An hour is a text in UTC, such as 2026-11-20T12. The labels are from one round, or from all rounds.
    """
    return db.execute(
        f"""SELECT p.name, substr(l.created_utc, 1, 13), count(*)
           FROM current_answers c JOIN labels l USING (label_id) JOIN assignments a ON a.assignment_id = l.assignment_id
                JOIN people p USING (person_id)
           WHERE c.answer NOT IN ('not sure', 'withdrawn') AND l.origin = 'screen' AND {STANDS}
                 AND coalesce((a.kind = 'calibration') = ?, 1)
           GROUP BY 1, 2 ORDER BY 2, 1""",  # noqa: S608 - constant
        (calibration,),
    ).fetchall()


def on_item(db: Database, item_id: int) -> list[tuple[str, str, str, str | None, str, int | None]]:
    """Return the current answers to an item, each as (reviewer, kind of assignment, answer, comment, view, swapped)."""
    return db.execute(
        """SELECT p.name, a.kind, c.answer, l.comment, l.view, l.swapped
           FROM current_answers c JOIN assignments a USING (assignment_id) JOIN people p USING (person_id)
                JOIN labels l USING (label_id)
           WHERE a.item_id = ? AND c.answer <> 'withdrawn' ORDER BY p.name, l.label_id""",
        (item_id,),
    ).fetchall()


def on_items(db: Database, item_ids: Iterable[int]) -> list[tuple[int, str, str, str]]:
    """Return the current answers to these items, each as (item id, reviewer, kind of assignment, answer).

    The answers are sorted by reviewer.
    """
    return db.execute(
        """SELECT a.item_id, p.name, a.kind, c.answer
           FROM current_answers c JOIN assignments a USING (assignment_id) JOIN people p USING (person_id)
           WHERE a.item_id IN (SELECT value FROM json_each(?)) AND c.answer <> 'withdrawn' ORDER BY p.name""",
        (json.dumps(list(item_ids)),),
    ).fetchall()


def marks(db: Database) -> list[tuple[int, int, str]]:
    """Return all answers in the order in which they were stored, each as (label id, assignment id, answer)."""
    rows = db.execute("SELECT label_id, assignment_id, answer FROM labels ORDER BY label_id")
    return rows.fetchall()


def _label(row: Mapping[str, Any]) -> Label:
    values = {name: value for name, value in row.items() if name != "created_utc"}
    swapped = None if row["swapped"] is None else bool(row["swapped"])
    return Label(**values | {
        "created": datetime.fromisoformat(row["created_utc"]), "view": json.loads(row["view"]),
        "flag": bool(row["flag"]), "swapped": swapped, "origin": LabelOrigin(row["origin"]),
    })  # fmt: skip


@dataclass(frozen=True)
class AnswerTime:
    """The time and duration of an answer, without the answer itself.

    `in_round` is true if the assignment is active in the requested round. `is_label` is true if the answer is a current
    label.
    """

    reviewer: str
    created_utc: str
    dwell_ms: int | None
    view: str
    in_round: bool
    is_label: bool


def answer_times(db: Database, *, calibration: bool = False) -> list[AnswerTime]:
    """Return the times of all answers in the order in which they were stored.

    The answers are from all rounds; imported labels are left out.
    """
    rows = db.execute(
        f"""SELECT p.name, l.created_utc, l.dwell_ms, l.view, (a.kind = 'calibration') = ? AND {STANDS},
                  c.answer IS NOT NULL
           FROM labels l JOIN assignments a USING (assignment_id) JOIN people p USING (person_id)
                LEFT JOIN current_answers c ON c.label_id = l.label_id AND c.answer NOT IN ('not sure', 'withdrawn')
           WHERE l.origin = 'screen' ORDER BY l.label_id""",  # noqa: S608 - constant
        (calibration,),
    )
    return [
        AnswerTime(reviewer, created_utc, dwell_ms, view, bool(in_round), bool(is_label))
        for reviewer, created_utc, dwell_ms, view, in_round, is_label in rows
    ]
