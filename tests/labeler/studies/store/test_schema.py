import sqlite3
from typing import Any

import pytest

from labeler.studies.store.assignments import NewAssignment, add as add_assignments
from tests.making import NOW, answer_next, id_of

AT = NOW.isoformat()
REFERENCES = {
    **{table: set() for table in ("studies", "questions", "categories", "files", "people", "events", "jobs", "links")},
    **{table: {("item_id", "items")} for table in ("runs", "bins", "segments", "verdicts", "decisions")},
    **{table: {("person_id", "people")} for table in ("sessions", "invitations")},
    "items": {("file_id", "files"), ("made_from", "items")},
    "assignments": {("person_id", "people"), ("item_id", "items")},
    "labels": {("assignment_id", "assignments")},
    "imported_labels": {("label_id", "labels")},
    "replies": {("assignment_id", "assignments")},
    "reference_labels": {("item_id", "items")},
}


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
    put = """REPLACE INTO labels (assignment_id, revision, event_id, answer, created_utc, view, flag)
             SELECT assignment_id, revision, {}, 'similar', created_utc, view, flag FROM labels"""
    planned.execute(put.format("event_id"))  # the same event again is ignored
    with pytest.raises(sqlite3.IntegrityError):
        planned.execute(put.format("'another'"))
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
        "asks_confidence": 0, "shows_numbers": 0, "instructions": "", "varies_pictures": 1, "picture_secret": "",
        "plan_secret": "", "created_utc": AT,
    },
    "files": {"name": "x.json", "sha256": "00", "imported_utc": AT},
    "items": {
        "name": "x", "benchmark": "x", "application": "", "parameters": "{}", "unit": "s", "better": "lower",
        "n_runs": 2, "n_iterations": 1, "failures": "[]", "data_hash": "",
    },
    "runs": {"item_id": 1, "run": 9, "measurements": b"12345678", "conditions": "{}"},
    "people": {"name": "zoe", "is_reviewer": 1, "is_coordinator": 0, "created_utc": AT},
    "invitations": {"secret_hash": "00", "person_id": 1, "created_utc": AT, "expires_utc": AT},
    "assignments": {"person_id": 1, "item_id": 1, "kind": "third", "code": "XXXXXX", "origin": "plan"},
    "labels": {
        "assignment_id": 1, "revision": 9, "event_id": "x", "answer": "similar", "created_utc": AT, "view": "{}",
        "flag": 0, "origin": "screen",
    },
    "decisions": {
        "item_id": 1, "category": "similar", "why": "alike", "decided_by": "carol", "created_utc": AT, "event_id": "x",
    },
    "replies": {"assignment_id": 1, "text": "yes", "written_by": "carol", "created_utc": AT},
    "reference_labels": {"item_id": 1, "category": "similar"},
    "verdicts": {
        "item_id": 1, "classifier": "x", "parameters": "{}", "data_hash": "", "version": 1, "verdict": "similar",
        "means": "{}", "clusters": "[]", "n_runs": 3, "n_iterations": 60, "n_left_out": 0,
        "created_utc": AT, "used_utc": AT,
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
    "invitations": [{"person_id": 999}, {"created_utc": None}, {"expires_utc": None}],
    "files": [{"sha256": None}],
    "items": [{"name": ""}, {"better": "faster"}, {"n_runs": "many"}, {"file_id": 999}, {"failures": None}],
    "runs": [{"measurements": b""}, {"measurements": b"1234567"}, {"item_id": 999}, {"conditions": None}],
    "assignments": [{"kind": "extra"}, {"person_id": 999}, {"item_id": 999}, {"origin": "nowhere"}],
    "labels": [
        {"answer": "maybe"}, {"revision": -1}, {"event_id": ""}, {"dwell_ms": -1}, {"confidence": 0}, {"confidence": 4},
        {"flag": 2}, {"assignment_id": 999}, {"swapped": 2}, {"origin": "nowhere"}, {"origin": None},
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
    before = planned.execute("SELECT count(*) FROM assignments").fetchone()
    add_assignments(planned, [NewAssignment(ada, item_id, kind, None, None, "XXXXXX")])
    assert planned.execute("SELECT code FROM assignments WHERE code IN ('XXXXXX', ?)", (code,)).fetchall() == [(code,)]
    assert planned.execute("SELECT count(*) FROM assignments").fetchone() == before
