import json
import random
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from labeler.errors import InputError
from labeler.service import reviewing
from labeler.service.people import inbox
from labeler.service.plan import coordinating
from labeler.service.results import auditing
from labeler.store import open_database
from tests.conftest import examples
from tests.labeler.commands import run
from tests.labeler.conftest import NOW, answer_next, id_of, submission

PROTECTED = {"labels": "label_id", "events": "event_id", "replies": "reply_id", "runs": "rowid", "bins": "rowid",
             "links": "link_id"}  # fmt: skip


@pytest.fixture
def study(planned):
    """The path of a study with answers, comments and replies."""
    task = reviewing.review_queue(planned, id_of(planned, "ada")).offers[0]
    said = replace(submission(task, "similar"), flag=True, comment="a step")
    reviewing.submit(planned, id_of(planned, "ada"), said, now=NOW)
    for _ in range(3):
        answer_next(planned, "ben", "dissimilar")
    inbox.reply(planned, task.code, "Thank you.", actor="carol", now=NOW)
    assert auditing.audit(planned).faults == ()
    return planned.path


def audited(path, against=None):
    with open_database(path) as db:
        return auditing.audit(db, against).faults


def rows_of(connection, table):
    return connection.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid").fetchall()


def edit(path, draw):
    """One edit with SQLite after dropping the triggers; returns a description of the edit."""
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        for (name,) in plain.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            plain.execute(f'DROP TRIGGER "{name}"')
        plain.execute("PRAGMA foreign_keys = OFF")
        table = draw.choice([table for table in PROTECTED if rows_of(plain, table)])
        columns = [row[1] for row in plain.execute(f"PRAGMA table_info({table})") if not row[5] and row[1] != "item_id"]
        kind, row = draw.choice(("change", "remove", "insert", "swap")), draw.choice(rows_of(plain, table))
        column = draw.choice(columns)
        if kind == "change":
            old = plain.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (row[0],)).fetchone()[0]
            plain.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE rowid = ?", (other(old, draw), row[0]))
        elif kind == "remove":
            plain.execute(f"DELETE FROM {table} WHERE rowid = ?", (row[0],))
        elif kind == "insert":
            names = [entry[1] for entry in plain.execute(f"PRAGMA table_info({table})")]
            values = dict(zip(names, row[1:], strict=True))
            values |= {PROTECTED[table]: None, "event_id": f"new-{draw.random()}"} if table == "labels" else {}
            values |= {"revision": 90} if table == "labels" else {"run": 90} if table == "runs" else {}
            values |= {PROTECTED[table]: None} if table in ("events", "replies", "links") else {}
            values |= {"item_id": 9000 + len(rows_of(plain, "bins"))} if table == "bins" else {}
            values.pop("rowid", None)
            marks = ", ".join("?" * len(values))
            plain.execute(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({marks})", tuple(values.values()))
        else:
            (one, *first), (two, *second) = draw.sample(rows_of(plain, table), 2)
            at = [entry[1] for entry in plain.execute(f"PRAGMA table_info({table})")].index(column)
            put = f"UPDATE OR IGNORE {table} SET {column} = ? WHERE rowid = ?"
            for value, row_id in ((other(first[at], draw), one), (first[at], two), (second[at], one)):
                plain.execute(put, (value, row_id))
        return f"{kind} {table}.{column} of row {row[0]}"


def other(value, draw):
    if isinstance(value, bytes):
        at = draw.randrange(len(value))
        return value[:at] + bytes([value[at] ^ 1]) + value[at + 1 :]
    if isinstance(value, int):
        return value + 1
    return {"similar": "dissimilar", "dissimilar": "similar", None: 1}.get(value, f"{value}x")


def contents(path):
    with closing(sqlite3.connect(path)) as plain:
        return [rows_of(plain, table) for table in PROTECTED]


def test_edits_by_hand_are_found(study, tmp_path):
    find_edits(study, tmp_path, random.Random(2), examples(100))


@pytest.mark.slow
def test_a_thousand_edits_by_hand_are_found(study, tmp_path):
    find_edits(study, tmp_path, random.Random(1), 1000)


def find_edits(study, tmp_path, draw, n):
    before, copy = contents(study), tmp_path / "copy.study"
    head = tmp_path / "report.json"
    with open_database(study) as db:
        head.write_text(json.dumps({"study": {"chain": auditing.head(db)}}))
    missed = []
    for _ in range(n):
        shutil.copy(study, copy)
        what = edit(copy, draw)
        if contents(copy) != before and not audited(copy, head):
            missed.append(what)
    assert missed == []


def test_rows_and_links_that_are_removed_from_the_end_are_found_against_what_was_printed(study, tmp_path):
    backup = tmp_path / "backup.study"
    with open_database(study) as db:
        printed = coordinating.back_up(db, backup, actor="carol", now=NOW)
    assert audited(backup, printed) == ()
    assert audited(study, backup) == audited(study, printed) == ()
    with closing(sqlite3.connect(study, isolation_level=None)) as plain:
        for (name,) in plain.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            plain.execute(f'DROP TRIGGER "{name}"')
        for _ in range(2):  # the event of the backup and everything before it
            part, row_id = plain.execute("SELECT part, row_id FROM links ORDER BY link_id DESC").fetchone()
            key = {"event": ("events", "event_id"), "reply": ("replies", "reply_id")}[part]
            plain.execute(f"DELETE FROM {key[0]} WHERE {key[1]} = ?", (row_id,))
            plain.execute("DELETE FROM links WHERE link_id = (SELECT max(link_id) FROM links)")
    assert audited(study) == ()  # the file itself shows no trace of it
    for earlier in (backup, printed):
        (fault,) = audited(study, earlier)
        assert "rolled back" in fault.what


def test_a_chain_that_is_made_anew_after_a_change_is_found_against_a_receipt(study, tmp_path):
    receipt = tmp_path / "receipt.json"
    with open_database(study) as db:
        receipt.write_text(auditing.receipt(db, id_of(db, "ada"), now=NOW))
        assert auditing.audit(db, receipt).faults == ()
    with closing(sqlite3.connect(study, isolation_level=None)) as plain:
        for (name,) in plain.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            plain.execute(f'DROP TRIGGER "{name}"')
        plain.execute("UPDATE labels SET answer = 'dissimilar' WHERE label_id = 1")
    from labeler.store import chain

    with open_database(study) as db, db.atomic():
        chain.begin(db)
        assert auditing.audit(db).faults == ()
        of_chain, of_label = auditing.audit(db, receipt).faults
    assert (of_chain.part, of_label.part) == ("chain", "answer")
    assert "rebuilt" in of_chain.what
    assert "in the receipt is missing or changed" in of_label.what


def test_a_receipt_tells_of_own_labels_only(study):
    with open_database(study) as db:
        own = json.loads(auditing.receipt(db, id_of(db, "ada"), now=NOW))
        codes = {
            code for (code,) in db.execute("SELECT code FROM assignments WHERE person_id = ?", (id_of(db, "ada"),))
        }
    assert {entry["code"] for entry in own["labels"]} <= codes
    assert set(own) == {"what", "study", "made_utc", "labels", "chain"}


def test_a_plain_client_cannot_replace_an_answer(study):
    with closing(sqlite3.connect(study)) as plain, pytest.raises(sqlite3.IntegrityError, match="only appended"):
        plain.execute(
            """INSERT OR REPLACE INTO labels (label_id, assignment_id, revision, event_id, answer, created_utc)
                   SELECT label_id, assignment_id, revision, event_id || 'x', 'dissimilar', created_utc FROM labels"""
        )


def test_the_command_names_what_was_changed_and_exits_with_1(study):
    assert "No fault found." in run("audit", study).stdout
    with closing(sqlite3.connect(study, isolation_level=None)) as plain:
        plain.execute("UPDATE runs SET measurements = zeroblob(length(measurements)) WHERE run = 0 AND item_id = 1")
    result = run("audit", study, code=1)
    assert "measurement 1: was changed." in result.stdout


@pytest.mark.parametrize("content", [{}, {"study": {"chain": "some-text"}}, {"study": {"chain": f"3-{'é' * 64}"}}])
def test_anything_but_a_report_backup_or_receipt_is_refused(study, tmp_path, content):
    (tmp_path / "x.json").write_text(json.dumps(content))
    with open_database(study) as db, pytest.raises(InputError, match="cannot be compared"):
        auditing.audit(db, tmp_path / "x.json")
