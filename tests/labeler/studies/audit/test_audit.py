import hashlib
import json
import random
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import closing, contextmanager, suppress
from datetime import timedelta

import pandas as pd
import pytest

from labeler.errors import ChangedSchema, InputError, StudyError
from labeler.studies.audit import audit, receipts
from labeler.studies.course import calibrating, coordinating, course, staffing
from labeler.studies.handover import anonymising, exchange
from labeler.studies.items import browsing
from labeler.studies.labelling import inbox
from labeler.studies.model import PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.store import actions, chain, copies, decisions, events, items, labels, open_database, opening, runs
from labeler.studies.verdicts import computing
from labeler.studies.verdicts.classifying import JudgeOptions
from tests.labeler.commands import run
from tests.making import NOW, WHO, answer_next, copy_of, id_of, new_study, offers, submit


@pytest.fixture(scope="module")
def answered(masters, tmp_path_factory):
    """The path of a study with answers, comments and replies, to be copied."""
    folder = tmp_path_factory.mktemp("answered")
    with copy_of(masters["planned"], folder) as db:
        task = offers(db, "ada")[0]
        submit(db, "ada", task, "similar", flag=True, comment="a step")
        for _ in range(3):
            answer_next(db, "ben", "dissimilar")
        inbox.reply(db, task.code, "Thank you.", **WHO)
        assert audit.audit(db).faults == ()
        db.backup(folder / "alone.study")
    return folder / "alone.study"


@pytest.fixture
def study(answered, tmp_path):
    """The path of a copy of that study, which nobody has open."""
    return shutil.copy(answered, tmp_path / "alone.study")


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
            plain.execute(f"UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = '{key[0]}'")
    assert audited(study) == ()  # the file itself shows no trace of it
    for earlier in (backup, printed):
        (fault,) = audited(study, earlier)
        assert "rolled back" in fault.what


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


# Every table

NO_EVIDENCE = {"verdicts", "jobs"}


@pytest.fixture(scope="module")
def full(answered, tmp_path_factory):
    """The study with rows in every table, and people who left, joined, signed in and out, to be copied."""
    study = shutil.copy(answered, tmp_path_factory.mktemp("full") / "alone.study")
    with open_database(study) as db:
        names = [item.name for item in items.all_items(db)]
        identity.add_person(db, "chris", [Role.COORDINATOR], **WHO)
        for name in ("ada", "ben", "ben"):
            secret = identity.invite(db, name, Role.REVIEWER, actor="carol", now=NOW + timedelta(minutes=1))
        tokens = [identity.sign_in(db, secret, now=NOW) for _ in range(3)]
        identity.sign_out(db, tokens[0], now=NOW)
        identity.set_email(db, "ada", Role.REVIEWER, "ada@example.org", **WHO)
        identity.revoke(db, "ada", Role.REVIEWER, **WHO)
        browsing.exclude(db, names[-1], "a broken build", **WHO)
        staffing.pause(db, "ben", why="on holiday", **WHO)
        staffing.replace(db, "dan", "eve", why="no time", **WHO)
        with events.by(db, **WHO) as deed:
            decisions.put_reference_label(db, 2, "similar")
            deed.log(actions.SET_REFERENCE_LABELS, items=1, seal=decisions.seal_of_reference(db))
        rows = [(names[0], "zoe", "similar", "fresh"), (names[1], "yan", "similar", "fresh")]
        rows += [(names[0], "carol", "similar", "adjudicated"), (names[1], "carol", "similar", "adjudicated")]
        table = pd.DataFrame(rows, columns=["item", "reviewer", "label", "kind"])
        for _ in range(2):  # the second time nothing is added
            exchange.import_labels(db, table, **WHO)
        computing.compute_verdicts(db, options=JudgeOptions(only_verdict=True), variants=["same@0.10"], actor="carol")
        with db.atomic():
            runs.put_segments(db, 1, "version 1", {"share": 0.5})
        course.change_state(db, Step.PAUSE, why="a break", **WHO)
        assert audit.audit(db, verdicts=True).faults == ()
    return study


@pytest.fixture
def full_study(full, tmp_path):
    return shutil.copy(full, tmp_path / "alone.study")


def columns_of(plain, table):
    return [row[1] for row in plain.execute(f"PRAGMA table_info({table})")]


def edit(path, table, draw):
    """Change, remove, add or swap rows of a table in the file; return what was done, or "" if nothing was changed."""
    with without_triggers(path) as plain:
        plain.execute("PRAGMA foreign_keys = OFF")
        before, columns = rows_of(plain, table), columns_of(plain, table)
        kind, column = draw.choice(("change", "change", "remove", "add", "swap")), draw.choice(columns)
        (row_id, *row), (other_id, *other_row) = draw.choice(before), draw.choice(before)
        at = columns.index(column)
        new = draw.choice([other(row[at], draw), None, 0, 1, 2**62, "closed", "2026-01-01T00:00:00+00:00"])
        put = f"UPDATE {table} SET {column} = ? WHERE rowid = ?"
        with suppress(sqlite3.Error):
            if kind == "change":
                plain.execute(put, (new, row_id))
            elif kind == "remove":
                plain.execute(f"DELETE FROM {table} WHERE rowid = ?", (row_id,))
            elif kind == "add":
                added = [*row[:at], new, *row[at + 1 :]]
                plain.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(added))})", added)
            else:
                for value, place in ((other(row[at], draw), row_id), (row[at], other_id), (other_row[at], row_id)):
                    plain.execute(put, (value, place))
        # another order, or another hidden number of a row, is no change
        is_new = Counter(entry[1:] for entry in rows_of(plain, table)) != Counter(entry[1:] for entry in before)
    return f"{kind} {table}.{column} of row {row_id}: {row[at]!r} -> {new!r}" if is_new else ""


def other(value, draw):
    if isinstance(value, bytes):
        at = draw.randrange(len(value))
        return value[:at] + bytes([value[at] ^ 1]) + value[at + 1 :]
    if isinstance(value, int | float):
        return value + 1
    return {"similar": "dissimilar", "dissimilar": "similar", None: 1}.get(value, f"{value}x")


@pytest.mark.parametrize("n", [1, pytest.param(30, marks=pytest.mark.slow)])
def test_edits_of_any_table_are_found(full_study, tmp_path, n):
    """`n` edits in each table, one at a time, by somebody who rebuilds nothing."""
    missed, copy, draw = [], tmp_path / "copy.study", random.Random(n)
    with plainly(full_study) as plain:
        names = [name for (name,) in plain.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        assert [name for name in names if not rows_of(plain, name)] == []
    for table in sorted(set(names) - NO_EVIDENCE):
        n_done = 0
        while n_done < n:
            shutil.copy(full_study, copy)
            what = edit(copy, table, draw)
            if what:
                n_done += 1
                if not audited(copy):
                    missed.append(what)
    assert missed == []


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("DELETE FROM categories WHERE name = 'dissimilar'", "category"),
        ("UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'labels'", "counter"),
        ("DELETE FROM sessions WHERE rowid = (SELECT max(rowid) FROM sessions)", "session"),
        ("UPDATE sessions SET session_hash = substr(session_hash, 1, 12) || hex(zeroblob(26))", "session"),
        ("UPDATE invitations SET secret_hash = substr(secret_hash, 1, 12) || hex(zeroblob(26)) WHERE rowid = 1",
         "invitation"),
        ("DELETE FROM studies", "study"),
        ("UPDATE assignments SET code = 'AAAAAA' WHERE assignment_id = 3", "assignment"),
        ("UPDATE assignments SET ended_utc = NULL WHERE ended_utc IS NOT NULL", "assignment"),
        ("INSERT INTO runs VALUES (9000, 0, zeroblob(8), '{}')", "file"),
        ("DELETE FROM links WHERE link_id = 3", "chain"),
        ("""INSERT INTO links SELECT (SELECT max(link_id) + 1 FROM links), part, row_id, digest, head FROM links
            WHERE part = 'answer' LIMIT 1""", "chain"),
    ],
)  # fmt: skip
def test_what_is_missing_or_was_added_is_named(full_study, statement, part):
    with without_triggers(full_study) as plain:
        assert plain.execute(statement).rowcount > 0
    assert part in {fault.part for fault in audited(full_study)}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("verdict = iif(verdict = 'similar', 'dissimilar', 'similar')", "verdict of same"),
        ("threshold = threshold + 1", "threshold of same"),
        ("""parameters = '{"drop": 7.0}'""", "parameters of same"),
        ("data_hash = 'x'", "data_hash of same"),
        ("clusters = '[0]'", "clusters of same"),
    ],
)
def test_changed_verdicts_are_found_when_they_are_computed_again(full_study, change, named):
    with without_triggers(full_study) as plain:
        plain.execute(f"UPDATE verdicts SET {change} WHERE classifier = 'same' AND item_id = 1")
    assert audited(full_study) == ()
    result = run("audit", "--study", full_study, "--verdicts", code=1)
    assert f": {named} on " in result.stdout
    assert "verdicts computed again." in result.stdout


def test_a_study_that_labels_only_by_hand_has_no_verdicts_to_compute(study):
    assert "0 verdicts computed again." in run("audit", "--study", study, "--verdicts").stdout


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
