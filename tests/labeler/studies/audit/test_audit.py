import hashlib
import json
import random
import re
import shutil
import sqlite3
from contextlib import closing, contextmanager
from datetime import timedelta

import pytest

from labeler.errors import ChangedSchema, InputError, StudyError
from labeler.studies.audit import audit, receipts
from labeler.studies.course import calibrating, coordinating, course, staffing
from labeler.studies.handover import anonymising
from labeler.studies.items import browsing
from labeler.studies.labelling import inbox
from labeler.studies.model import PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.store import chain, copies, items, labels, open_database, opening
from tests.conftest import examples
from tests.labeler.commands import run
from tests.making import NOW, WHO, answer_next, id_of, new_study, offers, submit

PROTECTED = {"labels": "label_id", "events": "event_id", "replies": "reply_id", "runs": "rowid", "bins": "rowid",
             "links": "link_id"}  # fmt: skip


@pytest.fixture
def study(planned, tmp_path):
    """The path of a study with answers, comments and replies, which nobody has open."""
    task = offers(planned, "ada")[0]
    submit(planned, "ada", task, "similar", flag=True, comment="a step")
    for _ in range(3):
        answer_next(planned, "ben", "dissimilar")
    inbox.reply(planned, task.code, "Thank you.", **WHO)
    assert audit.audit(planned).faults == ()
    planned.backup(tmp_path / "alone.study")
    return tmp_path / "alone.study"


def audited(path, against=None):
    with open_database(path) as db:
        return audit.audit(db, against).faults


def rows_of(connection, table):
    return connection.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid").fetchall()


@contextmanager
def plainly(path):
    """Open a file with SQLite alone."""
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        yield plain


@contextmanager
def without_triggers(path):
    """Open it without the triggers that protect rows, and create them again, as somebody who covers up would."""
    with plainly(path) as plain:
        triggers = plain.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            plain.execute(f'DROP TRIGGER "{name}"')
        yield plain
        for _, sql in triggers:
            plain.execute(sql)


def edit(path, draw):
    """One edit with SQLite after dropping the triggers; returns a description of the edit."""
    with without_triggers(path) as plain:
        plain.execute("PRAGMA foreign_keys = OFF")
        table = draw.choice([table for table in PROTECTED if rows_of(plain, table)])
        columns = [row[1] for row in plain.execute(f"PRAGMA table_info({table})") if not row[5] and row[1] != "item_id"]
        kinds = ("change", "remove", "insert", *(["swap"] if len(rows_of(plain, table)) > 1 else []))
        kind, row = draw.choice(kinds), draw.choice(rows_of(plain, table))
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
    with plainly(path) as plain:
        return [rows_of(plain, table) for table in PROTECTED]


@pytest.mark.parametrize(("seed", "n"), [(2, examples(100)), pytest.param(1, 1000, marks=pytest.mark.slow)])
def test_edits_by_hand_are_found(study, tmp_path, seed, n):
    before, copy, draw = contents(study), tmp_path / "copy.study", random.Random(seed)
    head = tmp_path / "report.json"
    with open_database(study) as db:
        head.write_text(json.dumps({"study": {"chain": audit.head(db)}}))
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
        printed = coordinating.back_up(db, backup, **WHO)
    assert audited(backup, printed) == ()
    assert audited(study, backup) == audited(study, printed) == ()
    with without_triggers(study) as plain:
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
        receipt.write_text(receipts.receipt(db, id_of(db, "ada"), now=NOW))
        assert audit.audit(db, receipt).faults == ()
    with without_triggers(study) as plain:
        plain.execute("UPDATE labels SET answer = 'dissimilar' WHERE label_id = 1")
    with open_database(study) as db:
        rebuild_chain(db)
        assert audit.audit(db).faults == ()
        of_chain, of_label = audit.audit(db, receipt).faults
    assert (of_chain.part, of_label.part) == ("chain", "answer")
    assert "rebuilt" in of_chain.what
    assert "in the receipt is missing or changed" in of_label.what


def rebuild_chain(db):
    with db.atomic(), copies.rewritable(db):
        chain.rebuild(db)


@pytest.fixture
def receipt_of(study, tmp_path):
    """A study in which others acted after ada's receipt, the receipt, and an earlier state of the study."""
    receipt, early = tmp_path / "receipt.json", tmp_path / "early.study"
    with open_database(study) as db:
        db.backup(early)
        answer_next(db, "ada", "similar")
        receipt.write_text(receipts.receipt(db, id_of(db, "ada"), now=NOW))
        answer_next(db, "ben", "similar")
    return study, receipt, early


def test_a_receipt_finds_what_was_changed_rolled_back_or_rebuilt(receipt_of, tmp_path):
    study, receipt, early = receipt_of
    assert audited(study, receipt) == ()
    assert [fault.part for fault in audited(early, receipt)] == ["chain", "answer"]
    own, others = tmp_path / "own.study", tmp_path / "others.study"
    for path, label_id in ((own, 1), (others, 2)):
        shutil.copy(study, path)
        with without_triggers(path) as plain:
            plain.execute(f"UPDATE labels SET answer = 'withdrawn' WHERE label_id = {label_id}")
        assert [fault.part for fault in audited(path)] == ["answer"]
        with open_database(path) as db:
            rebuild_chain(db)
        assert audited(path) == ()
    assert [fault.part for fault in audited(own, receipt)] == ["chain", "answer"]
    (fault,) = audited(others, receipt)
    assert (fault.part, "rebuilt" in fault.what) == ("chain", True)


def test_a_receipt_says_nothing_of_other_people_or_of_the_item(study):
    with open_database(study) as db:
        before = receipts.receipt(db, id_of(db, "ada"), now=NOW)
        heads = chain.all_heads(db)
        answer_next(db, "ben", "similar")
        assert receipts.receipt(db, id_of(db, "ada"), now=NOW) == before
        own = {code for (code,) in db.execute("SELECT code FROM assignments WHERE person_id = ?", (id_of(db, "ada"),))}
        digests = chain.digests_of(db, "answer") | heads
    assert {entry["code"] for entry in json.loads(before)["labels"]} <= own
    assert set(json.loads(before)) == {"what", "format", "made_utc", "labels", "chain"}
    assert "Caches" not in before
    assert not [digest for digest in digests if digest and digest in before]
    assert sha256_of_pairs(digests).isdisjoint(re.findall("[0-9a-f]{64}", before))


def sha256_of_pairs(digests):
    """What somebody could compute who guessed the content of a row, but does not have the study."""
    return {hashlib.sha256(f"{salt}{digest}".encode()).hexdigest() for digest in digests for salt in ("", "receipt ")}


def test_a_plain_client_cannot_replace_an_answer(study):
    with closing(sqlite3.connect(study)) as plain, pytest.raises(sqlite3.IntegrityError, match="only appended"):
        plain.execute(
            """REPLACE INTO labels (label_id, assignment_id, revision, event_id, answer, created_utc, view, flag)
               SELECT label_id, assignment_id, revision, event_id || 'x', 'dissimilar', created_utc, view, flag
               FROM labels"""
        )


def test_the_command_names_what_was_changed_and_exits_with_1(study):
    assert "No fault found." in run("audit", "--study", study).stdout
    with plainly(study) as plain:
        plain.execute("UPDATE runs SET measurements = zeroblob(length(measurements)) WHERE run = 0 AND item_id = 1")
    result = run("audit", "--study", study, code=1)
    assert "measurement 1: was changed." in result.stdout


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"study": {"chain": "some-text"}},
        {"study": {"chain": f"3-{'é' * 64}"}},
        {"what": "labeler receipt", "format": 2, "labels": [], "chain": ""},
    ],
)
def test_anything_but_a_report_backup_or_receipt_is_refused(study, tmp_path, content):
    (tmp_path / "x.json").write_text(json.dumps(content))
    with open_database(study) as db, pytest.raises(InputError, match="cannot be compared"):
        audit.audit(db, tmp_path / "x.json")


# What the log determines

TEN_TABLES = ("labels", "events", "runs", "bins", "links", "items", "files", "invitations", "studies", "people")


@pytest.fixture
def full_study(study):
    """The study with people who left, joined and signed in, an excluded item, a pause, and links of all kinds."""
    with open_database(study) as db:
        names = [item.name for item in items.all_items(db)]
        identity.add_person(db, "chris", [Role.COORDINATOR], **WHO)
        for name in ("ada", "ben", "ben"):
            secret = identity.invite(db, name, Role.REVIEWER, actor="carol", now=NOW + timedelta(minutes=1))
        identity.sign_in(db, secret, now=NOW)
        identity.set_email(db, "ada", Role.REVIEWER, "ada@example.org", **WHO)
        identity.revoke(db, "ada", Role.REVIEWER, **WHO)
        browsing.exclude(db, names[-1], "a broken build", **WHO)
        staffing.pause(db, "ben", why="on holiday", **WHO)
        staffing.replace(db, "dan", "eve", why="no time", **WHO)
        course.change_state(db, Step.PAUSE, why="a break", **WHO)
        assert audit.audit(db).faults == ()
    return study


def edit_one_value(path, table, draw):
    """Change one value of a table in the file; return the column, or "" if the file refuses the change."""
    with without_triggers(path) as plain:
        plain.execute("PRAGMA foreign_keys = OFF")
        columns = [row[1] for row in plain.execute(f"PRAGMA table_info({table})")]
        assert rows_of(plain, table), table
        column, (row, *_) = draw.choice(columns), draw.choice(rows_of(plain, table))
        (old,) = plain.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (row,)).fetchone()
        new = draw.choice([other(old, draw), None, 0, 1, "closed", "2026-01-01T00:00:00+00:00"])
        try:
            plain.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, row))
        except sqlite3.Error:
            new = old
        is_new = rows_of(plain, table) != [] and new != old
    return f"{table}.{column}: {old!r} -> {new!r}" if is_new else ""


@pytest.mark.parametrize(("seed", "n", "n_missed"), [(3, 2, 0), pytest.param(4, 30, 10, marks=pytest.mark.slow)])
def test_edits_of_single_values_are_found(full_study, tmp_path, seed, n, n_missed):
    """`n` in each of ten tables, one at a time; some change nothing that the log determines."""
    missed, copy, draw = [], tmp_path / "copy.study", random.Random(seed)
    for table in TEN_TABLES:
        n_done = 0
        while n_done < n:
            shutil.copy(full_study, copy)
            what = edit_one_value(copy, table, draw)
            if what:
                n_done += 1
                if not audited(copy):
                    missed.append(what)
    assert len(missed) <= n_missed, missed


def test_labels_that_are_left_out_after_the_fact_are_found(full_study):
    """Without the labels of items on which reviewers differ, agreement would be perfect."""
    with plainly(full_study) as plain:
        plain.execute("UPDATE items SET excluded_why = 'noise' WHERE item_id = 1")
    (fault,) = audited(full_study)
    assert (fault.part, fault.row_id, fault.what) == ("item", 1, 'excluded_why is "noise"; the log says empty')
    assert "item 1: excluded_why" in run("audit", "--study", full_study, code=1).stdout


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE reference_labels SET category = 'dissimilar'",
        "DELETE FROM reference_labels",
        "INSERT INTO reference_labels (item_id, category) VALUES (2, 'similar')",
    ],
)
def test_reference_labels_that_differ_from_the_log_are_found(tmp_path, statement):
    path = tmp_path / "calibrating.study"
    with new_study(path, plan=PlanParameters(seed=1, overlap=0, retest=0, calibration=3)) as db:
        db.execute("INSERT INTO reference_labels (item_id, category) VALUES (2, 'similar')")
        before = [fault.part for fault in audit.audit(db).faults]  # the log has none
        db.execute("DELETE FROM reference_labels")
        name = db.execute("SELECT name FROM items WHERE item_id = 1").fetchone()[0]
        calibrating.set_reference(db, {name: "similar"}, **WHO)
        assert (before, audit.audit(db).faults) == (["reference"], ())
    with plainly(path) as plain:
        plain.execute(statement)
    assert [fault.part for fault in audited(path)] == ["reference"]
    with open_database(path) as db:
        anonymising.anonymise(db, tmp_path / "copy.study", **WHO)
    assert audited(tmp_path / "copy.study") == ()


@pytest.mark.parametrize(
    ("statement", "difference"),
    [
        ("CREATE TRIGGER t AFTER INSERT ON labels BEGIN SELECT 1; END", "trigger t of labels was added"),
        ("DROP TRIGGER labels_are_never_changed", "trigger labels_are_never_changed of labels is missing"),
        ("CREATE VIEW v AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT * FROM n",
         "view v was added"),
        ("ALTER TABLE events ADD COLUMN more TEXT", "table events was changed"),
        ("DROP INDEX assignments_in_order", "index assignments_in_order of assignments is missing"),
    ],
)  # fmt: skip
def test_a_changed_schema_is_refused_at_every_opening_and_named_by_the_audit(study, tmp_path, statement, difference):
    with plainly(study) as plain:
        plain.execute(statement)
    with pytest.raises(ChangedSchema, match=re.escape(difference)):
        open_database(study)
    plain_copy = tmp_path / "plain.study"
    with closing(sqlite3.connect(study)) as plain, closing(sqlite3.connect(plain_copy)) as target:
        plain.backup(target)
    with pytest.raises(ChangedSchema, match=re.escape(difference)), copies.read_only(plain_copy):
        pass
    assert f"schema 0: {difference}." in run("audit", "--study", study, code=1).stdout


def test_an_endless_view_in_place_of_the_log_ends_every_command_at_once(study):
    with plainly(study) as plain:
        plain.execute("ALTER TABLE events RENAME TO old_events")
        plain.execute(
            """CREATE VIEW events AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
               SELECT x AS event_id, '' AS at_utc, '' AS actor, '' AS action, '{}' AS details FROM n"""
        )
    for command in ("status", "log", "backup"):
        arguments = [command, "--study", study, *(["--out", study.parent / "b.study"] if command == "backup" else [])]
        assert "was changed by another program" in run(*arguments, code=2).stderr
    run("audit", "--study", study, code=1)


def test_an_answer_that_the_file_changes_on_the_way_is_not_acknowledged(study, monkeypatch):
    monkeypatch.setattr(opening, "schema_differences", lambda _db: [])  # as if the trigger came while the study is open
    with open_database(study) as db:
        db.execute("DROP TRIGGER labels_are_never_changed")
        db.execute(
            """CREATE TRIGGER turned AFTER INSERT ON labels
               BEGIN UPDATE labels SET answer = 'similar' WHERE label_id = NEW.label_id; END"""
        )
        before = labels.n_labels(db)
        with pytest.raises(StudyError, match="did not store an answer as it was given"):
            answer_next(db, "cleo", "dissimilar")
        assert labels.n_labels(db) == before


@pytest.mark.parametrize("before", ["nothing", "a pause", "a removal", "the removal of a coordinator who labels"])
def test_the_audit_knows_whether_a_successor_takes_part(planned, before):
    if before == "a pause":
        staffing.pause(planned, "ben", **WHO)
    if before == "the removal of a coordinator who labels":
        identity.add_role(planned, "ben", Role.COORDINATOR, **WHO)
    if "removal" in before:
        staffing.remove(planned, "ben", **WHO)
    staffing.replace(planned, "ada", "ben", **WHO)
    assert audit.audit(planned).faults == ()
