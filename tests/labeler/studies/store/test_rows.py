import sqlite3
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from labeler.errors import AnswerRefused, NotAStudy
from labeler.studies.model import Kind, Label, LabelOrigin
from labeler.studies.questions import NOT_SURE
from labeler.studies.store import assignments, items, labels, runs, studies
from labeler.studies.store.assignments import NewAssignment
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


def test_a_file_without_a_study_says_that_its_making_was_interrupted(db):
    db.execute("DELETE FROM studies")
    with pytest.raises(NotAStudy, match=r"empty.study contains no study"):
        studies.get(db)


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


@one_database
@given(st.lists(st.tuples(st.dictionaries(texts, texts, max_size=2), texts), max_size=3))
def test_failures_come_back_as_they_were_written(db, failures):
    item_id = add_item(db, f"item {len(items.all_items(db))}", failures=failures)
    assert items.failures_of(db, item_id) == failures


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


def test_segments_are_found_by_what_they_were_computed_from(db):
    item_id = add_item(db)
    runs.put_segments(db, item_id, "version 1", {"segments_range": 1.5})
    assert runs.segments_of_item(db, item_id, "version 1") == {"segments_range": 1.5}
    runs.put_segments(db, item_id, "version 2", {"segments_range": 2.0})
    assert (runs.segments_of_item(db, item_id, "version 1"), runs.segments_of_item(db, item_id, "version 2")) == (
        None, {"segments_range": 2.0},
    )  # fmt: skip
