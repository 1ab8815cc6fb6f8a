"""The plan is derived again from seed and log; any change of it in the file is detected."""

import json
import re
import shutil
from dataclasses import replace

import pandas as pd
import pytest

from labeler.errors import NotAllowed
from labeler.studies.course import coordinating, course, staffing
from labeler.studies.handover import exchange
from labeler.studies.items import browsing
from labeler.studies.model import Kind, PlanParameters, Role
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning, verifying
from labeler.studies.store import assignments, open_database
from tests.making import WHO, answer_everything, answer_next, copy_of, item_name, make_study, new_study
from tests.sentences import says

WHY = {"why": "because", **WHO}
SPLIT = {"ada": "similar", "ben": "similar", "cleo": "similar", "dan": "dissimilar"}


@pytest.fixture(scope="module")
def masters_here(tmp_path_factory):
    """A plan of 12 items just drawn, and the same plan after every kind of change."""
    folder = tmp_path_factory.mktemp("verifying")
    drawn = make_study(folder / "drawn.study", n_items=12, plan=PlanParameters(3, overlap=0.1, retest=0, calibration=2))
    with open_database(shutil.copy(drawn, folder / "changed.study")) as db:
        live(db)
    return folder


def live(db):
    """Every event that affects the plan."""
    browsing.exclude(db, item_name(3), **WHY)
    answer_everything(db, SPLIT)
    staffing.add(db, "eve", [Role.REVIEWER], **WHO)
    course.change_state(db, Step.OPEN, force=True, **WHY)
    for name in ("ada", "ben", "cleo"):
        answer_next(db, name, "similar")
    staffing.remove(db, "ada", **WHY)
    browsing.exclude(db, item_name(4), **WHY)
    staffing.replace(db, "ben", "fay", **WHY)
    browsing.include(db, item_name(3), **WHY)
    staffing.resume(db, "ada", **WHO)
    answer_everything(db, {name: SPLIT.get(name, "similar") for name in ("ada", "cleo", "dan", "eve", "fay")})
    course.change_state(db, Step.THIRD, **WHY)
    staffing.remove(db, "cleo", **WHY)


@pytest.fixture
def drawn(masters_here, tmp_path):
    with copy_of(masters_here / "drawn.study", tmp_path) as db:
        yield db


@pytest.fixture
def changed(masters_here, tmp_path):
    with copy_of(masters_here / "changed.study", tmp_path) as db:
        yield db


def problems(db):
    return verifying.verify_plan(db).problems


def take_in(db, *rows, columns=("item", "reviewer", "label")):
    return exchange.import_labels(db, pd.DataFrame(rows, columns=columns, dtype=str), **WHO)


# --- unchanged plans


def test_a_plan_as_drawn_is_verified_by_its_hash(drawn):
    found = verifying.verify_plan(drawn)
    assert found.problems == ()
    assert found.hash_drawn == found.hash_now == coordinating.get_study(drawn).plan_hash
    assert json.loads(json.dumps(found.json_values())) == {
        "hash_drawn": found.hash_drawn, "changes": 0, "hash_now": found.hash_now, "imported": 0, "verified": True,
        "problems": [],
    }  # fmt: skip


def test_every_change_is_made_again_and_counted(changed):
    before = (assignments.everything(changed), coordinating.event_log(changed).to_numpy().tolist())
    found = verifying.verify_plan(changed)
    assert (assignments.everything(changed), coordinating.event_log(changed).to_numpy().tolist()) == before
    assert found.problems == ()
    assert found.n_changes == 6  # eve and ada join, ada leaves, fay takes over, the third round, cleo leaves
    assert found.hash_drawn != found.hash_now == assigning.active_plan(changed).hash


def test_a_study_without_a_plan_has_nothing_to_verify(study):
    with pytest.raises(NotAllowed, match="no plan yet"):
        verifying.verify_plan(study)


def test_the_papers_design_and_hidden_copies_are_verified_too(tmp_path):
    with new_study(tmp_path / "big.study", n_items=60, reviewers=("ada", "ben")) as db:
        assigning.confirm_plan(db, PlanParameters(seed=1, overlap=0, retest=0, paper=True), **WHO)
        assert problems(db) == ()
        drawn = assigning.confirm_plan(db, PlanParameters(seed=1, overlap=0.2, retest=3), **WHO)
        assert any(one.kind is Kind.RETEST for one in drawn.assignments)
        staffing.replace(db, "ada", "eve", **WHY)
        assert problems(db) == ()


# --- imported labels


def test_imported_labels_break_nothing_and_are_counted(changed):
    take_in(changed, (item_name(1), "zed", "similar"), (item_name(2), "zed", "dissimilar"))
    found = verifying.verify_plan(changed)
    assert (found.problems, found.n_imported) == ((), 2)
    staffing.add(changed, "gus", [Role.REVIEWER], **WHO)
    staffing.remove(changed, "zed", **WHY)
    assert problems(changed) == ()


def test_changes_before_and_after_an_import_are_distinguished(drawn):
    staffing.remove(drawn, "ada", **WHY)
    take_in(drawn, *((item_name(number), "zed", "similar") for number in range(6)))
    staffing.remove(drawn, "ben", **WHY)
    take_in(drawn, *((item_name(number), "zed", "similar") for number in range(6, 12)))
    staffing.add(drawn, "eve", [Role.REVIEWER], **WHO)
    assert problems(drawn) == ()


def test_an_imported_label_on_an_assigned_item_belongs_to_the_plan(drawn):
    one = next(kept.assignment for kept in assignments.everything(drawn) if kept.assignment.kind is Kind.FRESH)
    take_in(drawn, (one.item, one.reviewer, "similar"))
    found = verifying.verify_plan(drawn)
    assert (found.problems, found.n_imported) == ((), 0)


def test_an_imported_answer_that_is_no_label_is_handed_on_when_its_reviewer_leaves(drawn):
    take_in(drawn, *((item_name(number), "zed", "not sure") for number in range(6)))
    assert staffing.remove(drawn, "zed", **WHY).n_moved > 0
    assert problems(drawn) == ()
    staffing.remove(drawn, "ada", **WHY)
    assert problems(drawn) == ()
    staffing.resume(drawn, "zed", **WHO)
    assert problems(drawn) == ()


@pytest.mark.parametrize(
    "rows",
    [[("zed", "similar", "fresh"), ("zed", "similar", "third")], [("zed", "similar", "third"), ("zed", "similar", "")]],
)
def test_a_file_with_a_first_and_a_third_label_of_one_reviewer_on_one_item_stops_no_later_change(drawn, rows):
    take_in(drawn, *((item_name(1), *row) for row in rows), columns=("item", "reviewer", "label", "kind"))
    staffing.remove(drawn, "ada", **WHY)
    assert problems(drawn) == ()


@pytest.mark.parametrize("label", ["not sure", "withdrawn"])
def test_an_item_that_a_leaver_has_open_twice_is_handed_on_as_the_plan_has_it(drawn, label):
    one = next(kept.assignment for kept in assignments.everything(drawn) if kept.assignment.kind is Kind.FRESH)
    take_in(drawn, (one.item, one.reviewer, label, "third"), columns=("item", "reviewer", "label", "kind"))
    staffing.remove(drawn, one.reviewer, **WHY)
    assert problems(drawn) == ()


def test_a_label_from_elsewhere_on_an_item_of_the_third_round_stops_no_later_change(planned):
    answer_everything(planned, SPLIT)
    course.change_state(planned, Step.THIRD, **WHY)
    one = next(kept.assignment for kept in assignments.everything(planned) if kept.assignment.kind is Kind.THIRD)
    take_in(planned, (one.item, one.reviewer, "similar"))
    staffing.add(planned, "eve", [Role.REVIEWER], **WHO)
    assert problems(planned) == ()


# --- what the log must say


def test_a_join_is_made_again_with_the_number_of_items_on_screens_that_was_logged(drawn, monkeypatch):
    now = assigning.active_plan
    with monkeypatch.context() as other:
        other.setattr(assigning, "active_plan", lambda db: replace(now(db), n_bound=2))
        staffing.add(drawn, "eve", [Role.REVIEWER], **WHO)
    assert problems(drawn) == ()
    drawn.execute("DROP TRIGGER events_are_never_changed")
    drawn.execute("UPDATE events SET details = json_set(details, '$.offered', 5) WHERE action = 'join'")
    assert len([problem for problem in problems(drawn) if "does not give the plan" in problem]) == 1


@pytest.mark.parametrize(
    ("action", "detail", "message"),
    [
        ("draw plan", "items", "creation of the plan has no 'items'"),
        ("draw plan", "reviewers", "creation of the plan has no 'reviewers'"),
        ("join", "offered", "cannot be repeated: 'offered'"),
        ("join", "answers", "cannot be repeated: 'answers'"),
        ("join", "hash", "cannot be repeated: 'hash'"),
    ],
)
def test_a_detail_that_is_missing_in_the_log_is_named(drawn, action, detail, message):
    staffing.add(drawn, "eve", [Role.REVIEWER], **WHO)
    drawn.execute("DROP TRIGGER events_are_never_changed")
    drawn.execute(f"UPDATE events SET details = json_remove(details, '$.{detail}') WHERE action = ?", (action,))
    assert any(message in problem for problem in problems(drawn))


# --- changed files

ONE = "assignment_id = (SELECT max(assignment_id) FROM assignments WHERE ended_utc IS NULL)"
OTHER = "(SELECT person_id FROM people WHERE name = 'carol')"
TAMPERED = {
    f"UPDATE assignments SET position = 99 WHERE {ONE}": "position in the study than in the plan: 1, such as",
    f"UPDATE assignments SET block = 77 WHERE {ONE}": "position in the study than in the plan: 1, such as",
    f"UPDATE assignments SET person_id = {OTHER} WHERE {ONE}": "in the study but not in the plan: 1, such as carol / ",
    f"UPDATE assignments SET kind = 'retest' WHERE {ONE}": "in the study but not in the plan: 1, such as",
    f"UPDATE assignments SET ended_utc = 'now' WHERE {ONE}": "in the plan but not in the study: 1, such as",
    f"""INSERT INTO assignments (person_id, item_id, kind, position, code, origin)
        VALUES ({OTHER}, 1, 'fresh', 0, 'HIDDEN', 'plan')""": "in the study but not in the plan: 1, such as carol",
}


@pytest.mark.parametrize(
    ("fixture", "statement", "message"),
    [*(("drawn", *row) for row in TAMPERED.items()), ("changed", *next(iter(TAMPERED.items())))],
)
def test_an_assignment_changed_in_the_file_is_named(fixture, statement, message, request):
    db = request.getfixturevalue(fixture)
    db.execute(statement)
    assert any(message in problem for problem in problems(db))
    assert verifying.verify_plan(db).json_values()["verified"] is False


@pytest.mark.parametrize("fixture", ["drawn", "changed"])
def test_an_assignment_removed_from_the_file_is_named_and_three_examples_of_many_are_enough(fixture, request):
    db = request.getfixturevalue(fixture)
    free = """a.ended_utc IS NULL AND a.assignment_id NOT IN (SELECT assignment_id FROM labels)"""
    one = db.execute(
        f"""SELECT a.assignment_id, p.name, i.name FROM assignments a JOIN people p USING (person_id)
            JOIN items i USING (item_id) WHERE {free} LIMIT 1"""
    ).fetchone()
    db.execute("DELETE FROM assignments WHERE assignment_id = ?", one[:1])
    (problem,) = problems(db)
    assert says(problem, "in the plan but not in the study: 1", f"{one[1]} / {one[2]} / ")
    if fixture == "drawn":
        db.execute("DELETE FROM assignments")
        (problem,) = problems(db)
        assert problem.count(" / ") == 3 * 2


def set_in(table, column, field, value):
    where = " WHERE action = 'draw plan'" if table == "events" else ""
    return f"UPDATE {table} SET {column} = json_set({column}, '$.{field}', {value}){where}"


# In the study as drawn and after changes; the other rows only in the study as drawn
OF_BOTH = [
    ("UPDATE studies SET plan_hash = 'other'", "different hash"),
    (set_in("studies", "plan_parameters", "seed", 4), ""),
    (set_in("events", "details", "seed", 4), "different hash"),
]
OF_DRAWN = [
    (set_in("studies", "plan_parameters", "per_item", 4), ""),
    (set_in("studies", "plan_parameters", "calibration", 4), ""),
    (set_in("events", "details", "items", "json('[]')"), "derived again.*no items to plan"),
    ("DELETE FROM events WHERE action = 'draw plan'", "^the log has no entry for the creation of the plan$"),
    ("UPDATE items SET application = 'elsewhere' WHERE item_id <= 6", ""),
    (f"UPDATE assignments SET origin = 'import', position = 99 WHERE {ONE}", ""),
    (f"""INSERT INTO assignments (person_id, item_id, kind, block, position, code, origin)
         VALUES ({OTHER}, 1, 'fresh', 0, 0, 'SECRET', 'import')""", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fixture", "statement", "message"),
    [*(("drawn", *row) for row in (*OF_BOTH, *OF_DRAWN)), *(("changed", *row) for row in OF_BOTH)],
)
def test_a_study_or_log_that_says_something_else_is_named(fixture, statement, message, request):
    db = request.getfixturevalue(fixture)
    for trigger in ("changed", "removed"):
        db.execute(f"DROP TRIGGER events_are_never_{trigger}")
    db.execute(statement)
    assert any(re.search(message, problem) for problem in problems(db))


@pytest.mark.parametrize(
    "action", ["join", "remove reviewer", "replace reviewer", "third round", "exclude item", "include item"]
)
def test_a_change_removed_from_the_log_is_noticed(changed, action):
    changed.execute("DROP TRIGGER events_are_never_removed")
    n_before = verifying.verify_plan(changed).n_changes
    changed.execute(
        "DELETE FROM events WHERE event_id = (SELECT min(event_id) FROM events WHERE action = ?)", (action,)
    )
    found = verifying.verify_plan(changed)
    if action.endswith("item"):
        assert found.n_changes == n_before
    else:
        assert found.problems


@pytest.mark.parametrize(
    ("field", "value"),
    [("hash", "other"), ("answers", 0), ("staying", ["ben"]), ("staying", ["ada", "ben"])],  # ada cannot leave and stay
)
def test_a_change_told_otherwise_in_the_log_is_named(changed, field, value):
    tell_otherwise(changed, field, value)
    start = "the change 'remove reviewer' at 2026-11-20 12:00 UTC"
    assert any(problem.startswith(start) for problem in problems(changed))


def tell_otherwise(db, field, value):
    """Change one detail of the first removal."""
    db.execute("DROP TRIGGER events_are_never_changed")
    db.execute(
        f"""UPDATE events SET details = json_set(details, '$.{field}', json(?))
            WHERE event_id = (SELECT min(event_id) FROM events WHERE action = 'remove reviewer')""",
        (json.dumps(value),),
    )


def test_an_anonymised_study_has_no_seed_and_says_so(drawn):
    drawn.execute("UPDATE studies SET plan_parameters = json_remove(plan_parameters, '$.seed')")
    with pytest.raises(NotAllowed, match="seed was removed"):
        verifying.verify_plan(drawn)
