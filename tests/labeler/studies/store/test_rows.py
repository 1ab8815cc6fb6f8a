import json
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from analysis.runs.classifiers import Verdict
from labeler.errors import AnswerRefused, NotAStudy
from labeler.studies.model import Item, Kind, Label, LabelOrigin, Protocol, Question, State, Study
from labeler.studies.questions import NOT_SURE, SIMILAR, WITHDRAWN, Category
from labeler.studies.store import (
    actions,
    assignments,
    events,
    items,
    jobs,
    labels,
    open_database,
    runs,
    studies,
    verdicts,
)
from labeler.studies.store.assignments import NewAssignment
from labeler.studies.store.jobs import Job
from tests.conftest import examples
from tests.making import NOW, id_of

AT = NOW.isoformat()
RUNS = (np.array([1.0, 2.0, 3.0]), np.array([1.5, 2.5]))
SORT = {"benchmark": "sort", "application": "org/app", "parameters": {"n": "1"}, "n_runs": 2, "n_iterations": 2}

one_database = settings(
    max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


def add_item(db, name="sort#n=1", data_hash="h", **more):
    return items.add(db, name, data_hash=data_hash, **{**SORT, **more})


def first_task(db, name="ada"):
    return assignments.tasks_of(db, id_of(db, name))[0]


def label(task, revision=0, event_id="", answer="similar", created=NOW, **more):
    event_id = event_id or f"{task.assignment_id}-{revision}"
    return Label(
        event_id=event_id, code=task.code, revision=revision, answer=answer, assignment_id=task.assignment_id,
        created=created, origin=LabelOrigin.SCREEN, **more,
    )  # fmt: skip


def test_the_study_comes_back_as_it_was_written(db):
    assert studies.get(db) == Study(
        "Caches", replace(SIMILAR, text="Are these runs alike?"), State.DRAFT, AT, Protocol("levels", 0.15), None, None
    )
    protocol = Protocol("full", 0.25, asks_confidence=True, shows_numbers=True, instructions="Mind the warm-up.")
    studies.rename(db, "Stores")
    question = Question("Alike?", (Category("yes", "y", "Alike."), Category("no", "x", "Not.")), not_sure=False)
    studies.set_question(db, question)
    studies.set_protocol(db, protocol)
    studies.set_plan(db, {"seed": 1, "paper": False}, "abc")
    studies.set_state(db, State.OPEN)
    plan = {"seed": 1, "paper": False}
    assert studies.get(db) == Study("Stores", question, State.OPEN, AT, protocol, plan, "abc")


def test_a_file_without_a_study_says_that_its_making_was_interrupted(db):
    db.execute("DELETE FROM studies")
    with pytest.raises(NotAStudy, match=r"empty.study contains no study"):
        studies.get(db)


def test_an_item_comes_back_as_it_was_written(db):
    file_id = items.add_file(db, "sort.json", "sha", AT)
    item_id = add_item(db, file_id=file_id)
    item = Item(item_id, "sort#n=1", "sort", "org/app", "s", "lower", n_runs=2, n_iterations=2, data_hash="h")
    assert items.by_id(db, item_id) == items.by_name(db, "sort#n=1") == item
    assert items.all_items(db) == [item]
    assert items.by_name(db, "SORT#n=1") is None
    assert items.is_imported(db, "sha")
    assert not items.is_imported(db, "SHA")
    assert db.execute("SELECT parameters, file_id FROM items").fetchall() == [('{"n": "1"}', file_id)]


def test_items_are_listed_by_name_and_a_name_is_taken_once(db):
    assert (verdicts.table(db).shape, labels.table(db).shape) == ((0, 14), (0, 20))  # tables have their columns
    for name, n_runs in (("b", 0), ("a#2", 1), ("a", 2)):
        assert items.by_id(db, add_item(db, name, n_runs=n_runs, n_iterations=0)).n_runs == n_runs
    assert [item.name for item in items.all_items(db)] == ["a", "a#2", "b"]
    with pytest.raises(sqlite3.IntegrityError, match=r"items\.name"):
        add_item(db, "a")


finite_runs = st.lists(
    hnp.arrays(np.float64, st.integers(1, 8), elements=st.floats(allow_nan=False, allow_infinity=False)),
    min_size=2,
    max_size=4,
)


@one_database
@given(finite_runs)
def test_measurements_come_back_bit_by_bit(db, written):
    item_id = add_item(db, f"item {len(items.all_items(db))}", n_runs=len(written))
    runs.add(db, item_id, written)
    read = runs.of_item(db, item_id)
    assert [run.tobytes() for run in read] == [run.astype("<f8").tobytes() for run in written]
    assert not any(run.flags.writeable for run in read)


def test_runs_come_back_in_their_order_and_from_any_layout(db):
    item_id = add_item(db)
    runs.add(db, item_id, [np.arange(24.0).reshape(2, 12)[:, 0], np.arange(20.0)[::-3], np.arange(3, dtype=">f8")])
    assert [run.tolist() for run in runs.of_item(db, item_id)] == [
        [0.0, 12.0],
        [19.0, 16.0, 13.0, 10.0, 7.0, 4.0, 1.0],
        [0.0, 1.0, 2.0],
    ]
    assert runs.of_item(db, item_id + 1) == []


texts = st.text(st.characters(codec="utf-8") | st.sampled_from("\0\ud800\"{}'"), max_size=5)


@one_database
@given(st.dictionaries(texts, st.tuples(texts, texts), max_size=3))
def test_conditions_of_runs_come_back_as_they_were_written(db, conditions):
    item_id = add_item(db, f"item {len(items.all_items(db))}")
    runs.add(db, item_id, RUNS, conditions)
    assert runs.conditions_of_item(db, item_id) == conditions
    assert [run.tolist() for run in runs.of_item(db, item_id)] == [run.tolist() for run in RUNS]


def test_what_is_known_of_some_runs_only_is_empty_for_the_others(db):
    item_id = add_item(db)
    assert runs.conditions_of_item(db, item_id) == {}
    runs.add(db, item_id, RUNS)
    assert runs.conditions_of_item(db, item_id) == {}
    db.execute('UPDATE runs SET conditions = \'{"version": "a"}\' WHERE run = 1')
    assert runs.conditions_of_item(db, item_id) == {"version": ("", "a")}


@one_database
@given(st.lists(st.tuples(st.dictionaries(texts, texts, max_size=2), texts), max_size=3))
def test_failures_come_back_as_they_were_written(db, failures):
    item_id = add_item(db, f"item {len(items.all_items(db))}", failures=failures)
    assert items.failures_of(db, item_id) == failures


def test_bins_are_found_by_their_version_and_replaced_by_a_newer_one(db):
    item_id = add_item(db)
    runs.put_bins(db, item_id, 1, b"old")
    runs.put_bins(db, item_id, 1, b"old again")
    assert (runs.bins_of_item(db, item_id, 1), runs.bins_of_item(db, item_id, 2)) == (b"old again", None)
    runs.put_bins(db, item_id, 2, b"new")
    assert (runs.bins_of_item(db, item_id, 1), runs.bins_of_item(db, item_id, 2)) == (None, b"new")


def test_tasks_come_in_planned_order_and_only_to_their_reviewer(study):
    ada, ben = id_of(study, "ada"), id_of(study, "ben")
    one, two, three = (item.item_id for item in items.all_items(study)[:3])
    assignments.add(
        study,
        [
            NewAssignment(ada, one, Kind.FRESH, 0, 2, "CCCCCC"),
            NewAssignment(ada, two, Kind.FRESH, 0, 0, "AAAAAA"),
            NewAssignment(ada, two, Kind.RETEST, 0, 1, "BBBBBB"),
            NewAssignment(ben, three, Kind.OVERLAP, None, None, "DDDDDD"),
        ],
    )
    assert [task.code for task in assignments.tasks_of(study, ada)] == ["AAAAAA", "BBBBBB", "CCCCCC"]
    assert assignments.task_by_code(study, ada, "DDDDDD") is None
    assert assignments.task_by_code(study, ada, "aaaaaa") is None
    found = assignments.find(study, ada, two, Kind.RETEST)
    assert (found.code, found.item_id, found.revision, found.answer) == ("BBBBBB", two, 0, None)
    assert assignments.find(study, ada, three, Kind.RETEST) is None
    assert assignments.get(study, ada, two, Kind.RETEST) == found
    with pytest.raises(LookupError, match=f"person {ada} has no retest assignment of item {three}"):
        assignments.get(study, ada, three, Kind.RETEST)
    assignments.clear(study)
    assert assignments.tasks_of(study, ada) == []


def test_what_is_open_and_what_was_not_sure_is_found_without_looking_at_every_task(planned):
    ada = id_of(planned, "ada")
    one, two, three, four, five = assignments.tasks_of(planned, ada)
    for task, answers in (
        (one, ["not sure"]),
        (two, ["similar", "withdrawn"]),
        (three, ["dissimilar"]),
        (four, ["not sure", "withdrawn", "not sure"]),
    ):
        for revision, answer in enumerate(answers):
            labels.add(
                planned, replace(label(task, answer=answer), revision=revision, event_id=f"{task.code}{revision}")
            )

    def codes(found):
        return [task.code for task in found]

    work = partial(assignments.own_work, planned, ada, calibration=False)
    assert codes(work(n_open=5).open) == [two.code, five.code]
    assert codes(work(n_open=1).open) == [two.code]
    assert assignments.own_work(planned, ada, calibration=True, n_open=5).open == ()
    unsure = work(n_open=5).not_sure
    assert [(task.code, task.n_not_sure, task.revision) for task in unsure] == [(one.code, 1, 1), (four.code, 1, 3)]
    assert work(n_open=5).n_by_answer == {NOT_SURE: 2, WITHDRAWN: 1, "dissimilar": 1, None: 1}
    planned.execute("UPDATE items SET excluded_why = 'x' WHERE item_id = ?", (five.item_id,))
    assert codes(work(n_open=5).open) == [two.code]
    asked = [work(n_open=5, code=task.code) for task in (one, five)]
    assert [(found.asked.code, found.is_in_play) for found in asked] == [(one.code, True), (five.code, False)]


def test_an_answer_comes_back_with_all_that_was_said(planned):
    task = first_task(planned)
    view = {"zoom": True, "axis": "log", "ö": [1, 2.5, None]}
    assert labels.add(
        planned, label(task, dwell_ms=812, view=view, confidence=3, flag=True, comment="a, “b”\nc", answer="not sure")
    )
    row = labels.table(planned).iloc[0]
    assert list(labels.table(planned)) == list(labels.COLUMNS)
    assert (row["reviewer"], row["label"], row["revision"], row["dwell_ms"]) == ("ada", "not sure", 0, 812)
    assert (row["confidence"], row["flag"], row["comment"]) == (3, 1, "a, “b”\nc")
    assert (row["created_utc"], row["event_id"]) == (AT, f"{task.assignment_id}-0")
    assert (row["assignment"], row["position"]) == (task.assignment_id, 0)
    assert row["item"] == items.by_id(planned, task.item_id).name
    assert json.loads(row["view"]) == view


def test_the_same_event_twice_is_kept_once(planned):
    task = first_task(planned)
    assert labels.add(planned, label(task, event_id="e")) is True
    assert labels.add(planned, label(task, event_id="e")) is False
    assert labels.add(planned, label(task, revision=1, event_id="e", answer="dissimilar")) is False
    assert labels.n_labels(planned) == 1

    def own_event(name, event_id):
        return assignments.own_work(planned, id_of(planned, name), calibration=False, n_open=1, event_id=event_id).event

    assert own_event("ada", "e") == (task.assignment_id, "similar")
    assert (own_event("ada", "E"), own_event("ben", "e")) == (None, None)


def test_another_event_for_a_taken_revision_is_refused(planned):
    task = first_task(planned)
    labels.add(planned, label(task, event_id="e"))
    with pytest.raises(AnswerRefused, match="answered in another window"):
        labels.add(planned, label(task, event_id="f", answer="dissimilar"))
    assert labels.table(planned)["label"].tolist() == ["similar"]
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):  # an answer to nothing
        labels.add(planned, label(replace(task, assignment_id=999)))


def test_the_last_revision_is_the_answer_that_stands(planned):
    task = first_task(planned)
    said = ["not sure", "withdrawn", "similar", "not sure"]
    for revision, answer in enumerate(said):
        earlier = NOW - timedelta(hours=revision)  # the clock may jump back: the order is by revision
        labels.add(planned, label(task, revision, answer=answer, created=earlier))
    now = first_task(planned)
    assert (now.revision, now.answer) == (4, NOT_SURE)
    assert now.n_not_sure == 1  # an undone answer does not count
    assert labels.own_answers(planned, id_of(planned, "ada")) == [
        label(task, revision, answer=answer, created=NOW - timedelta(hours=revision))
        for revision, answer in enumerate(said)
    ]
    assert labels.own_answers(planned, id_of(planned, "ben")) == []


def test_progress_counts_the_answers_that_stand(planned):
    one, two, three, four, _ = assignments.tasks_of(planned, id_of(planned, "ada"))
    for task, answers in ((one, ["similar"]), (two, ["not sure"]), (three, ["not sure", "dissimilar"]),
                          (four, ["similar", "withdrawn"])):  # fmt: skip
        for revision, answer in enumerate(answers):
            labels.add(planned, label(task, revision, answer=answer))
    assert labels.progress(planned) == [
        ("ada", 5, 2, 1, AT),
        ("ben", 5, 0, 0, None),
        ("cleo", 5, 0, 0, None),
        ("dan", 5, 0, 0, None),
    ]


def verdict(**changes):
    fields = {
        "classifier": "same", "parameters": {"cut": 0.2, "b": True}, "version": 1,
        "verdict": "similar", "score": 0.1, "threshold": 0.2, "means": {"cosine": 0.05}, "clusters": (1, 1, 2),
        "pairs": {"cosine": np.array([0.1, 0.2, 0.3]), "rmse": np.array([1.0, 2.0, 3.0])},
        "linkage": np.arange(8.0).reshape(2, 4), "n_runs": 3, "n_iterations": 60,
    }  # fmt: skip
    return Verdict(**fields | changes)


def test_a_verdict_comes_back_with_the_numbers_behind_it(db):
    item_id = add_item(db)
    verdicts.put(db, items.by_id(db, item_id), verdict(), AT)
    row = verdicts.table(db).iloc[0]
    assert (row["item"], row["benchmark"], row["application"]) == ("sort#n=1", "sort", "org/app")
    assert (row["classifier"], row["verdict"], row["score"], row["threshold"]) == ("same", "similar", 0.1, 0.2)
    assert (row["means"], row["clusters"], row["runs"], row["iterations"]) == (
        {"cosine": 0.05, "rmse": 2.0},
        (1, 1, 2),
        3,
        60,
    )
    assert row["parameters"] == verdicts.as_key({"cut": 0.2, "b": True}) == '{"b": true, "cut": 0.2}'
    pairs, linkage = db.execute("SELECT pairs, linkage FROM verdicts").fetchone()
    assert np.frombuffer(pairs, "<f4").tolist() == pytest.approx([0.1, 0.2, 0.3, 1, 2, 3])
    assert len(pairs) == 6 * 4
    assert np.frombuffer(linkage, "<f8").tolist() == list(range(8))
    assert verdicts.done(db) == {(item_id, "same", '{"b": true, "cut": 0.2}', "h", 1)}


def test_the_same_computation_again_replaces_its_verdict(db):
    item_id = add_item(db)
    verdicts.put(db, items.by_id(db, item_id), verdict(), AT)
    again = {"verdict": None, "reason": "too short", "score": None, "pairs": {}, "linkage": None, "clusters": ()}
    verdicts.put(db, items.by_id(db, item_id), verdict(**again), AT)
    assert db.execute("SELECT count(*) FROM verdicts").fetchone()[0] == 1
    row = verdicts.table(db).iloc[0]
    assert (row["verdict"], row["error"], row["clusters"]) == (None, "too short", ())
    assert db.execute("SELECT pairs, linkage FROM verdicts").fetchall() == [(None, None)]


def test_the_newest_verdict_of_each_classifier_is_shown_and_none_on_other_measurements(db):
    one, two = add_item(db, "b"), add_item(db, "a")
    verdicts.put(db, items.by_id(db, one), verdict(), AT)
    verdicts.put(db, items.by_id(db, one), verdict(version=2, verdict="dissimilar"), AT)
    verdicts.put(db, items.by_id(db, one), verdict(classifier="heuristic"), AT)
    verdicts.put(db, replace(items.by_id(db, one), data_hash="before"), verdict(classifier="other data"), AT)
    verdicts.put(db, items.by_id(db, two), verdict(), AT)
    table = verdicts.table(db)[["item", "classifier", "version", "verdict"]]
    assert table.to_numpy().tolist() == [
        ["a", "same", 1, "similar"],
        ["b", "heuristic", 1, "similar"],
        ["b", "same", 2, "dissimilar"],
    ]
    assert len(verdicts.done(db)) == 5


def test_events_are_kept_in_order_with_their_details(db):
    later, earlier = datetime(2026, 11, 21, tzinfo=UTC), datetime(2026, 11, 20, tzinfo=UTC)
    events.Deed(db, "ada", later).log(actions.SET_GATE, on="ß", least=0.8)
    events.Deed(db, "ben", earlier).log(actions.FIRST_VISIT)
    last = events.table(db).tail(2)
    assert last[["at_utc", "actor", "action"]].to_numpy().tolist() == [
        [later.isoformat(), "ada", "set gate"],
        [earlier.isoformat(), "ben", "first visit"],
    ]
    assert json.loads(last["details"].iloc[0]) == {"on": "ß", "least": 0.8}


def test_a_job_shows_how_far_it_is_and_how_it_ended(db):
    assert jobs.latest(db, "verdicts") is None
    first = jobs.start(db, "verdicts", 11, 40, "t0")
    jobs.finish(db, first, "t1", None)
    second = jobs.start(db, "verdicts", 12, 40, "t2")
    jobs.start(db, "other", 13, 1, "t2")
    assert jobs.latest(db, "verdicts") == Job(second, 12, 0, 40, "t2", "t2", None, None)
    jobs.advance(db, second, 25, "t3")
    assert jobs.latest(db, "verdicts") == Job(second, 12, 25, 40, "t2", "t3", None, None)
    jobs.finish(db, second, "t4", "RuntimeError: stop")
    with open_database(db.path) as other:
        assert jobs.latest(other, "verdicts") == Job(second, 12, 25, 40, "t2", "t4", "t4", "RuntimeError: stop")


def test_segments_are_found_by_what_they_were_computed_from(db):
    item_id = add_item(db)
    runs.put_segments(db, item_id, "version 1", {"segments_range": 1.5})
    assert runs.segments_of_item(db, item_id, "version 1") == {"segments_range": 1.5}
    runs.put_segments(db, item_id, "version 2", {"segments_range": 2.0})
    assert (runs.segments_of_item(db, item_id, "version 1"), runs.segments_of_item(db, item_id, "version 2")) == (
        None, {"segments_range": 2.0},
    )  # fmt: skip
