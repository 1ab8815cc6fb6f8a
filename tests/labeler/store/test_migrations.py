import hashlib
import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from labeler.errors import SignInFailed, StudyError
from labeler.model import Origin, Protocol, Role, State
from labeler.service.people import identity
from labeler.store import (
    assignments,
    create_database,
    decisions,
    events,
    items,
    migrations,
    open_database,
    people,
    replies,
    runs,
    studies,
    verdicts,
)
from labeler.store.assignments import NewAssignment, add as add_assignments
from labeler.store.opening import APPLICATION_ID
from tests.making import NOW, WHO, answer_next, id_of

AT = NOW.isoformat()
REFERENCES = {
    **{table: set() for table in ("studies", "questions", "categories", "files", "people", "events", "jobs", "links")},
    **{table: {("item_id", "items")} for table in ("runs", "bins", "segments", "verdicts", "decisions")},
    **{table: {("person_id", "people")} for table in ("sessions", "invitations")},
    "items": {("file_id", "files")},
    "assignments": {("person_id", "people"), ("item_id", "items")},
    "labels": {("assignment_id", "assignments")},
    "imported_labels": {("label_id", "labels")},
    "replies": {("assignment_id", "assignments")},
    "reference_labels": {("item_id", "items")},
}


def make_file_without_schema(path):
    """The file after an interruption right at its creation: version 0."""
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()


def tables(db):
    rows = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return {name for (name,) in rows}


def test_a_new_file_has_seen_every_step(study_path):
    with create_database(study_path) as made:
        assert migrations.version(made) == len(migrations.MIGRATIONS)
        assert tables(made) == set(REFERENCES)
    names = [step.__name__ for step in migrations.MIGRATIONS]
    assert [name[:5] for name in names] == [f"m{number:03d}_" for number in range(1, len(names) + 1)]


def test_a_file_of_version_0_is_brought_to_the_latest_and_stays_there(study_path):
    make_file_without_schema(study_path)
    for _ in range(2):
        with open_database(study_path) as opened:
            assert migrations.version(opened) == len(migrations.MIGRATIONS)
            assert tables(opened) == set(REFERENCES)


def test_a_study_of_version_1_keeps_its_verdicts_and_shows_them(study_path, monkeypatch):
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:1])
    with create_database(study_path) as first:
        first.execute(
            """INSERT INTO items
                   (name, benchmark, application, parameters, unit, better, n_runs, n_iterations, data_hash)
               VALUES ('x', 'x', '', '{}', 's', 'lower', 3, 60, 'h')"""
        )
        first.execute(
            """INSERT INTO verdicts (item_id, classifier, parameters, data_hash, version, verdict, means, clusters,
                                     n_runs, n_iterations, created_utc)
               VALUES (1, 'same', '{}', 'h', 1, 'similar', '{}', '[]', 3, 60, '2026-01-01T00:00:00+00:00')"""
        )
    monkeypatch.undo()
    with open_database(study_path) as opened:
        assert migrations.version(opened) == len(migrations.MIGRATIONS)
        assert verdicts.table(opened)[["item", "classifier", "verdict"]].to_numpy().tolist() == [
            ["x", "same", "similar"]
        ]
        assert [v.n_left_out for v in verdicts.of_item(opened, 1)] == [0]


PEOPLE = [("ada", 1, 0, 1, "ada's secret"), ("ben", 1, 0, 1, None), ("carol", 0, 1, 1, "carol's secret"),
          ("dan", 1, 0, 0, "dan's secret")]  # fmt: skip
LABELS = [(0, "similar", '{"axis": "core"}', 2, 1, "a step"), (1, "withdrawn", "{}", None, 0, None)]


def fill_old_file(db, version):
    """The content of an old study: people with secrets, a session, an item, a plan, labels and events."""
    db.execute(
        """INSERT INTO studies (study_id, name, question, state, axis_rule, axis_min_span, created_utc)
           VALUES (1, 'Old', 'Alike?', 'open', 'pooled', 0.2, ?)""",
        (AT,),
    )
    if version >= 6:
        db.execute("UPDATE studies SET picture_secret = ?", ("0" * 64,))
    if version >= 10:
        insert(db, "questions", {"question_id": 1, "definition": migrations._FIRST_QUESTION})
        for position, name in enumerate(("similar", "dissimilar")):
            insert(db, "categories", {"position": position, "name": name})
    for person_id, (name, reviewer, coordinator, active, secret) in enumerate(PEOPLE, start=1):
        db.execute(
            """INSERT INTO people (name, is_reviewer, is_coordinator, active, secret_hash, created_utc)
               VALUES (?, ?, ?, ?, ?, ?)""",
            (name, reviewer, coordinator, active, hashed(secret) if secret and version < 3 else None, AT),
        )
        if secret and version >= 3:
            insert(db, "invitations", {"secret_hash": hashed(secret), "person_id": person_id, "created_utc": AT})
    insert(db, "sessions", {"session_hash": hashed("token"), "person_id": 1, "created_utc": AT})
    insert(db, "items", GOOD["items"])
    insert(db, "bins", {"item_id": 1, "version": 1, "payload": b"old"})
    for run in range(2):
        insert(db, "runs", {"item_id": 1, "run": run, "measurements": bytes(8 * 60)})
    insert(
        db, "assignments", {"person_id": 1, "item_id": 1, "kind": "fresh", "block": 0, "position": 0, "code": "ABCDEF"}
    )
    imported = {"person_id": 2, "item_id": 1, "kind": "fresh", "code": "IMPORT"}
    insert(db, "assignments", imported if version < 4 else imported | {"origin": "import"})
    for revision, answer, view, confidence, flag, comment in LABELS:
        values = {
            "assignment_id": 1, "revision": revision, "event_id": f"e{revision}", "answer": answer, "created_utc": AT,
            "view": view, "confidence": confidence, "flag": flag, "comment": comment,
        }  # fmt: skip
        insert(db, "labels", values)
    verdict = {column: value for column, value in GOOD["verdicts"].items() if version > 1 or column != "used_utc"}
    insert(db, "verdicts", verdict)
    insert(db, "events", {"at_utc": AT, "actor": "carol", "action": "draw plan", "details": "{}"})


def hashed(secret):
    return hashlib.sha256(secret.encode()).hexdigest()


@pytest.fixture(scope="module", params=range(1, 13))
def master_of_version(tmp_path_factory, request):
    """A study of an older version with data."""
    path = tmp_path_factory.mktemp("old") / f"version-{request.param}.study"
    with pytest.MonkeyPatch.context() as earlier:
        earlier.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[: request.param])
        with create_database(path) as old:
            assert migrations.version(old) == request.param
            fill_old_file(old, request.param)
    return path


@pytest.fixture
def old_file(master_of_version, tmp_path):
    return Path(shutil.copy(master_of_version, tmp_path))


def test_there_is_a_file_with_data_of_every_older_version():
    assert len(migrations.MIGRATIONS) - 1 == 12  # a further migration needs one more version in `master_of_version`


def test_a_study_of_any_older_version_keeps_what_was_said_and_done(old_file):
    for _ in range(2):
        with open_database(old_file) as opened:
            assert migrations.version(opened) == len(migrations.MIGRATIONS)
            assert tables(opened) == set(REFERENCES)
            columns = "revision, answer, view, confidence, flag, comment"
            assert opened.execute(f"SELECT {columns} FROM labels ORDER BY label_id").fetchall() == LABELS
            assert opened.execute("SELECT count(*) FROM runs").fetchone() == (2,)
            assert verdicts.table(opened)[["item", "verdict"]].to_numpy().tolist() == [["x", "similar"]]
            assert events.table(opened)["action"].tolist() == ["draw plan"]
            (task,) = assignments.tasks_of(opened, 1)
            assert (task.code, task.revision, task.answer) == ("ABCDEF", 2, "withdrawn")
            assert [(p.name, p.active) for p in people.all_people(opened)] == [(n, bool(a)) for n, _, _, a, _ in PEOPLE]
            assert opened.execute("PRAGMA foreign_key_check").fetchall() == []


def test_only_a_study_of_an_older_version_that_has_not_begun_gets_varied_pictures(old_file):
    with closing(sqlite3.connect(old_file)) as connection, connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute("UPDATE studies SET state = 'draft'")
        trigger = "SELECT sql FROM sqlite_schema WHERE name = 'labels_are_never_removed'"
        (again,) = connection.execute(trigger).fetchone()
        connection.execute("DROP TRIGGER labels_are_never_removed")
        connection.execute("DELETE FROM labels")
        connection.execute(again)
    with open_database(old_file) as opened:
        schema_had_it = migrations.MIGRATIONS.index(migrations.m006_answers_known_per_assignment) < version
        assert studies.get(opened).protocol.varies_pictures is not schema_had_it


def test_labels_of_any_older_version_stay_protected_and_let_others_use_their_event_ids(old_file):
    with open_database(old_file) as opened:
        for statement in ("UPDATE labels SET answer = 'similar'", "DELETE FROM labels"):
            with pytest.raises(sqlite3.IntegrityError, match="labels are only appended"):
                opened.execute(statement)
        insert(opened, "labels", {
            "assignment_id": 2, "revision": 0, "event_id": "e0", "answer": "similar", "created_utc": AT,
        })  # fmt: skip
        insert(opened, "labels", {  # the same event again is ignored
            "assignment_id": 2, "revision": 1, "event_id": "e0", "answer": "similar", "created_utc": AT,
        })  # fmt: skip
        assert opened.execute("SELECT max(label_id) FROM labels").fetchone() == (3,)


def test_a_study_of_any_older_version_goes_on_where_it_was_with_everybody_and_every_item(old_file):
    with open_database(old_file) as opened:
        study = studies.get(opened)
        assert (study.state, study.phase, study.gate) == (State.OPEN, State.OPEN, None)
        assert [person.paused for person in people.all_people(opened)] == [False] * len(PEOPLE)
        assert [item.excluded_why for item in items.all_items(opened)] == [None]
        assert decisions.everything(opened) == []
        assert decisions.reference_labels(opened) == {}
        assert [message.comment for message in replies.flags_and_comments(opened)] == ["a step"]
        assert study.protocol == Protocol("pooled", 0.2, varies_pictures=False)
        assert len(studies.picture_secret(opened)) == 64
        assert studies.plan_secret(opened) == ""  # so that the plan follows from its seed, as before
        assert identity.person_of_session(opened, "token", now=NOW).name == "ada"  # stays signed in
        kept = [(row.assignment.reviewer, row.origin, row.ended) for row in assignments.everything(opened)]
        # an assignment without a place in the plan was imported
        assert kept == [("ada", Origin.PLAN, False), ("ben", Origin.IMPORT, False)]
        assert [run.tolist() for run in runs.of_item(opened, 1)] == [[0.0] * 60] * 2
        assert (runs.conditions_of_item(opened, 1), items.failures_of(opened, 1)) == ({}, [])


def test_a_study_of_version_3_takes_new_labels_beside_the_old_ones(study_path, monkeypatch):
    monkeypatch.setattr(migrations, "MIGRATIONS", migrations.MIGRATIONS[:3])
    with create_database(study_path) as old:
        fill_old_file(old, 3)
    monkeypatch.undo()
    with open_database(study_path) as opened:
        answer_next(opened, "ada", "dissimilar")
        answers = opened.execute("SELECT revision, answer FROM labels ORDER BY label_id").fetchall()
    assert answers == [(0, "similar"), (1, "withdrawn"), (2, "dissimilar")]


def test_links_of_any_older_version_sign_in_without_end_until_they_are_replaced(old_file):
    years_later = NOW + timedelta(days=4000)
    with open_database(old_file) as opened:
        assert opened.execute("SELECT count(*) FROM people WHERE secret_hash IS NOT NULL").fetchone() == (0,)
        assert opened.execute("SELECT count(*) FROM invitations").fetchone() == (3,)
        for name in ("ada", "carol"):
            token = identity.sign_in(opened, f"{name}'s secret", now=years_later)
            assert identity.person_of_session(opened, token, now=years_later).name == name
        with pytest.raises(SignInFailed, match="longer take part"):
            identity.sign_in(opened, "dan's secret", now=NOW)
        identity.invite(opened, "ada", Role.REVIEWER, **WHO)
        with pytest.raises(SignInFailed, match="replaced by a newer"):
            identity.sign_in(opened, "ada's secret", now=NOW)
        identity.revoke(opened, "carol", Role.COORDINATOR, **WHO)
        with pytest.raises(SignInFailed, match="was revoked"):
            identity.sign_in(opened, "carol's secret", now=NOW)


def test_a_step_that_fails_leaves_no_trace_and_the_version_before(study_path, monkeypatch):
    create_database(study_path).close()

    def m999_makes_a_table_and_fails(db):
        db.execute("CREATE TABLE half_done (text TEXT) STRICT")
        db.execute("INSERT INTO events (at_utc, actor, action, details) VALUES ('', '', 'half done', '{}')")
        raise StudyError("no further")

    released = list(migrations.MIGRATIONS)
    monkeypatch.setattr(migrations, "MIGRATIONS", [*released, m999_makes_a_table_and_fails])
    with pytest.raises(StudyError, match="no further"):
        open_database(study_path)
    monkeypatch.setattr(migrations, "MIGRATIONS", released)
    with open_database(study_path) as opened:
        assert migrations.version(opened) == len(released)
        assert tables(opened) == set(REFERENCES)
        assert opened.execute("SELECT count(*) FROM events").fetchone()[0] == 0


def test_eight_who_open_an_old_file_at_once_migrate_it_once(study_path, monkeypatch):
    make_file_without_schema(study_path)

    def m999_counts(db):
        db.execute("CREATE TABLE counted (n INTEGER) STRICT")
        db.execute("INSERT INTO counted VALUES (1)")

    monkeypatch.setattr(migrations, "MIGRATIONS", [*migrations.MIGRATIONS, m999_counts])
    seen = open_at_once(study_path, lambda db: (migrations.version(db), db.execute("SELECT n FROM counted").fetchall()))
    assert seen == [(len(migrations.MIGRATIONS), [(1,)])] * 8


def open_at_once(path, look, n=8):
    """Return the results of n connections opened at the same moment."""
    barrier = threading.Barrier(n)

    def open_it(_number):
        barrier.wait(60)
        with open_database(path) as opened:
            return look(opened)

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(open_it, range(n)))


def test_eight_who_open_a_backup_at_once_all_get_in(db, tmp_path):
    # A backup is not in WAL mode, so all eight may try to change it. Repeated often, because few collide.
    db.backup(tmp_path / "backup.study")
    for number in range(30):
        path = tmp_path / f"{number}.study"
        shutil.copy(tmp_path / "backup.study", path)
        assert open_at_once(path, migrations.version) == [len(migrations.MIGRATIONS)] * 8


def test_every_table_is_strict_and_has_its_references(db):
    strict = {row[1]: row[5] for row in db.execute("PRAGMA table_list") if row[1] in REFERENCES}
    assert strict == dict.fromkeys(REFERENCES, 1)
    found = {table: {(row[3], row[2]) for row in db.execute(f"PRAGMA foreign_key_list({table})")} for table in strict}
    assert found == REFERENCES


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE labels SET answer = 'similar'", "labels are only appended"),
        ("DELETE FROM labels", "labels are only appended"),
        ("UPDATE events SET actor = 'nobody'", "events are only appended"),
        ("DELETE FROM events", "events are only appended"),
        ("UPDATE decisions SET category = 'dissimilar'", "decisions are only appended"),
        ("UPDATE decisions SET why = 'better so'", "decisions are only appended"),
        ("DELETE FROM decisions", "decisions are only appended"),
        ("DELETE FROM assignments", "FOREIGN KEY constraint failed"),
        ("DELETE FROM items", "FOREIGN KEY constraint failed"),
        ("DELETE FROM people", "FOREIGN KEY constraint failed"),
    ],
)
def test_what_was_said_and_done_cannot_be_changed_or_removed(planned, statement, message):
    answer_next(planned, "ada", "dissimilar")
    insert(planned, "decisions", GOOD["decisions"])
    before = list(planned._connection.iterdump())
    with pytest.raises(sqlite3.IntegrityError, match=message):
        planned.execute(statement)
    assert list(planned._connection.iterdump()) == before


def test_a_label_cannot_be_replaced_either(planned):
    answer_next(planned, "ada", "dissimilar")
    put = (
        "REPLACE INTO labels (assignment_id, revision, event_id, answer, created_utc) SELECT assignment_id, revision, "
    )
    planned.execute(f"{put} event_id, 'similar', created_utc FROM labels")  # the same event again is ignored
    with pytest.raises(sqlite3.IntegrityError):
        planned.execute(f"{put} 'another', 'similar', created_utc FROM labels")
    assert planned.execute("SELECT answer FROM labels").fetchall() == [("dissimilar",)]


def test_a_decision_cannot_be_replaced_either(planned):
    insert(planned, "decisions", GOOD["decisions"])
    for taken in ("decision_id", "event_id"):
        with pytest.raises(sqlite3.IntegrityError):
            planned.execute(
                f"""REPLACE INTO decisions (decision_id, item_id, category, why, decided_by, created_utc, event_id)
                    SELECT {"decision_id" if taken == "decision_id" else "NULL"}, item_id, 'dissimilar', why,
                           decided_by, created_utc, {"event_id" if taken == "event_id" else "'new'"} FROM decisions"""
            )
    assert planned.execute("SELECT category FROM decisions").fetchall() == [("similar",)]


GOOD = {
    "studies": {
        "study_id": 1, "name": "x", "question": "?", "state": "draft", "axis_rule": "core", "axis_min_span": 0.1,
        "created_utc": AT,
    },
    "files": {"name": "x.json", "sha256": "00", "imported_utc": AT},
    "items": {
        "name": "x", "benchmark": "x", "application": "", "parameters": "{}", "unit": "s", "better": "lower",
        "n_runs": 2, "n_iterations": 1, "data_hash": "",
    },
    "runs": {"item_id": 1, "run": 9, "measurements": b"12345678"},
    "people": {"name": "zoe", "is_reviewer": 1, "is_coordinator": 0, "created_utc": AT},
    "invitations": {"secret_hash": "00", "person_id": 1, "created_utc": AT},
    "assignments": {"person_id": 1, "item_id": 1, "kind": "third", "code": "XXXXXX"},
    "labels": {"assignment_id": 1, "revision": 9, "event_id": "x", "answer": "similar", "created_utc": AT},
    "decisions": {
        "item_id": 1, "category": "similar", "why": "alike", "decided_by": "carol", "created_utc": AT, "event_id": "x",
    },
    "replies": {"assignment_id": 1, "text": "yes", "written_by": "carol", "created_utc": AT},
    "reference_labels": {"item_id": 1, "category": "similar"},
    "verdicts": {
        "item_id": 1, "classifier": "x", "parameters": "{}", "data_hash": "", "version": 1, "verdict": "similar",
        "means": "{}", "clusters": "[]", "n_runs": 3, "n_iterations": 60, "created_utc": AT,
        "used_utc": AT,
    },
}  # fmt: skip
BAD: dict[str, list[dict[str, Any]]] = {
    "studies": [
        {"study_id": 2}, {"state": "finished"}, {"name": ""}, {"question": ""}, {"axis_rule": "own"},
        {"axis_min_span": -0.1}, {"asks_confidence": 2}, {"shows_numbers": -1}, {"instructions": None},
    ],
    "people": [
        {"email": "ADA@example.org"}, {"name": ""}, {"name": "ADA"}, {"is_reviewer": 2}, {"is_coordinator": 2},
        {"active": 2}, {"paused": 2},
    ],
    "invitations": [{"person_id": 999}, {"created_utc": None}],
    "files": [{"sha256": None}],
    "items": [{"name": ""}, {"better": "faster"}, {"n_runs": "many"}, {"file_id": 999}, {"failures": None}],
    "runs": [{"measurements": b""}, {"measurements": b"1234567"}, {"item_id": 999}, {"conditions": None}],
    "assignments": [{"kind": "extra"}, {"person_id": 999}, {"item_id": 999}, {"origin": "nowhere"}],
    "labels": [
        {"answer": "maybe"}, {"revision": -1}, {"event_id": ""}, {"dwell_ms": -1}, {"confidence": 0}, {"confidence": 4},
        {"flag": 2}, {"assignment_id": 999},
    ],
    "verdicts": [{"verdict": "not sure"}, {"verdict": None}, {"error": "and an error"}, {"item_id": 999}],
    "decisions": [{"category": "not sure"}, {"why": ""}, {"decided_by": None}, {"event_id": ""}, {"item_id": 999}],
    "replies": [{"text": ""}, {"written_by": None}, {"assignment_id": 999}],
    "reference_labels": [{"category": "not sure"}, {"item_id": 999}],
}  # fmt: skip
BAD_ROWS = [(table, change) for table, changes in BAD.items() for change in changes]


def insert(db, table, row):
    columns = ", ".join(row)
    db.execute(f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


@pytest.mark.parametrize(("table", "change"), BAD_ROWS, ids=[f"{table}-{change}" for table, change in BAD_ROWS])
def test_a_value_that_makes_no_sense_is_refused_by_the_table_itself(planned, table, change):
    if table == "studies":
        planned.execute("DELETE FROM studies")
    if "email" in change:
        planned.execute("UPDATE people SET email = 'ada@example.org' WHERE name = 'ada'")
    with pytest.raises(sqlite3.IntegrityError):
        insert(planned, table, GOOD[table] | change)
    insert(planned, table, GOOD[table])


def test_one_code_and_one_kind_of_assignment_are_given_once(planned):
    ada = id_of(planned, "ada")
    item_id, kind, code = planned.execute(
        "SELECT item_id, kind, code FROM assignments WHERE person_id = ?", (ada,)
    ).fetchone()
    with pytest.raises(sqlite3.IntegrityError, match=r"assignments\.code"):
        add_assignments(planned, [NewAssignment(ada, item_id, "third", None, None, code)])
    with pytest.raises(sqlite3.IntegrityError, match=r"assignments\.person_id"):
        add_assignments(planned, [NewAssignment(ada, item_id, kind, None, None, "XXXXXX")])
