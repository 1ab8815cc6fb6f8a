"""The details of an answer (flag, comment, confidence), and what the reviewer sees of them later."""

import json
import re
from dataclasses import asdict, fields, replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from labeler.errors import AnswerRefused
from labeler.studies.course import calibrating, coordinating, course
from labeler.studies.labelling import reviewing
from labeler.studies.labelling.reviewing import Brief
from labeler.studies.model import CalibrationGate, NewLabel, PlanParameters, Protocol, State
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.questions import SIMILAR
from labeler.studies.results import reporting
from labeler.studies.screen import binning
from labeler.studies.store import actions, assignments, events, labels, studies
from tests.making import NOW, REVIEWERS, WHO, answer_everything, answer_next, id_of, offers

EVENT = {"event_id": "e", "code": "ABCDEF", "revision": 0, "answer": "similar", "dwell_ms": 300, "view": {}}


def set_protocol(db, **changes):
    coordinating.set_protocol(db, Protocol(**changes), **WHO)


def next_task(db, name="ada"):
    return offers(db, name)[0]


def answer(db, task, answer="similar", *, name="ada", now=NOW, dwell_ms=900, view=None, **said):
    """Answer a task in its current state."""
    task = assignments.task_by_code(db, id_of(db, name), task.code)
    submission = NewLabel(
        f"{task.code}-{task.revision}", task.code, task.revision, answer, dwell_ms, view or {}, **said
    )
    reviewing.submit(db, id_of(db, name), submission, now=now)
    return task


def own(db, name="ada"):
    return reviewing.own_labels(db, id_of(db, name))


def said_of(db, task, name="ada"):
    """Return the (confidence, flag, comment) as the screen shows them."""
    task = assignments.task_by_code(db, id_of(db, name), task.code)
    shown = reviewing.task_data(db, task)
    return shown.get("confidence"), shown.get("flag", False), shown.get("comment")


def kept(db):
    return labels.table(db)[["label", "confidence", "flag", "comment"]].to_numpy().tolist()


def test_nobody_sees_what_another_said_about_the_same_item(planned):
    ada, ben = id_of(planned, "ada"), id_of(planned, "ben")
    mine = {task.item_id: task for task in assignments.tasks_of(planned, ada)}
    both = [task for task in assignments.tasks_of(planned, ben) if task.item_id in mine]
    while {task.code for task in both} - {one.task.code for one in own(planned, "ben")}:
        answer(planned, next_task(planned, "ben"), name="ben", flag=True, comment="look here")
    for task in both:
        assert said_of(planned, task, "ben") == (None, True, "look here")
        assert said_of(planned, mine[task.item_id]) == (None, False, None)


@pytest.mark.parametrize("category", ["similar", "dissimilar"])
def test_where_confidence_is_asked_a_label_without_it_is_refused(planned, category):
    set_protocol(planned, asks_confidence=True)
    task = next_task(planned)
    with pytest.raises(AnswerRefused, match=rf"1, 2 or 3.*how sure.*{task.code}"):
        answer(planned, task, category)
    assert kept(planned) == []
    answer(planned, task, category, confidence=2)
    with pytest.raises(AnswerRefused, match="how sure you are"):
        answer(planned, task, category)  # a revision is a label too
    answer(planned, task, category, confidence=3)
    answer(planned, task, "withdrawn", dwell_ms=None)  # only labels need it
    answer(planned, task, "not sure")
    assert kept(planned) == [
        [category, 2, 0, None], [category, 3, 0, None], ["withdrawn", None, 0, None], ["not sure", None, 0, None],
    ]  # fmt: skip
    answer(planned, task, category, confidence=1)
    assert [one.confidence for one in own(planned)] == [1]


@pytest.mark.parametrize("confidence", [None, 1, 2, 3])
def test_where_confidence_is_not_asked_none_is_kept(planned, confidence):
    task = answer(planned, next_task(planned), confidence=confidence)
    assert kept(planned) == [["similar", None, 0, None]]
    assert said_of(planned, task)[0] is None


def test_the_protocol_under_which_a_label_was_given_is_kept_with_its_view(planned):
    set_protocol(planned, axis_rule="full", min_span=0.25)
    said = {"axis": "core", "log": True, "rule": "made up", "min_span": 9, "picture": "made up"}
    answer(planned, next_task(planned), view=said)
    view = json.loads(labels.table(planned)["view"].iloc[0])
    assert view.pop("picture") != "made up"
    assert view == {
        "axis": "core", "log": True, "rule": "full", "rule_version": 1, "min_span": 0.25, "drawing": binning.VERSION,
    }  # fmt: skip


def test_own_labels_tell_number_time_flag_and_comment(planned):
    idle = {"pauses": [[100, 90_000, "idle"]]}
    first = answer(planned, next_task(planned), dwell_ms=100_000, view=idle, flag=True)  # 100 s minus 30 s
    second = answer(planned, next_task(planned), "dissimilar", dwell_ms=2_000, comment="steps")
    answer(planned, first, "dissimilar", dwell_ms=5_000, comment="on second thoughts", now=NOW + timedelta(hours=1))
    newest, oldest = own(planned)
    assert (newest.task.code, newest.number, newest.n_revisions) == (first.code, 1, 1)
    assert (newest.time_on_task_ms, newest.flag, newest.comment) == (75_000, False, "on second thoughts")
    assert (newest.task.answer, newest.created_utc) == ("dissimilar", (NOW + timedelta(hours=1)).isoformat())
    assert (oldest.task.code, oldest.number, oldest.n_revisions) == (second.code, 2, 0)
    assert (oldest.time_on_task_ms, oldest.flag, oldest.comment) == (2_000, False, "steps")
    assert {one.confidence for one in own(planned)} == {None}
    assert reviewing.typical_time_s(own(planned)) == 38.5  # between 75 s and 2 s
    before = own(planned)
    studies.set_state(planned, State.CLOSED)  # they are there in a closed study, too
    assert [(one.task.code, one.comment) for one in own(planned)] == [(one.task.code, one.comment) for one in before]


def test_an_answer_that_was_not_timed_has_no_time(planned):
    task = next_task(planned)
    planned.execute(
        """INSERT INTO labels (assignment_id, revision, event_id, answer, created_utc, view, flag, origin)
           VALUES (?, 0, 'e', 'similar', ?, '{}', 0, 'screen')""",
        (task.assignment_id, NOW.isoformat()),
    )
    (label,) = own(planned)
    assert (label.time_on_task_ms, label.task.code) == (None, task.code)
    assert reviewing.typical_time_s(own(planned)) is None
    answer(planned, task, dwell_ms=700)
    assert own(planned)[0].time_on_task_ms == 700
    assert reviewing.typical_time_s(own(planned)) == 0.7


def test_the_brief_holds_nothing_of_the_plan(planned):
    set_protocol(planned, axis_rule="pooled", instructions="Mind the warm-up.")
    brief = reviewing.brief(planned)
    expected = Protocol("pooled", 0.15, asks_confidence=False, shows_numbers=False, instructions="Mind the warm-up.")
    assert brief == Brief(replace(SIMILAR, text="Are these runs alike?"), expected)
    assert {field.name for field in fields(Brief)} == {"question", "protocol"}
    words = set(re.findall(r"[\w-]+", json.dumps(asdict(brief)).lower()))
    study = studies.get(planned)
    assert not [word for word in ("plan", "seed", "overlap", "retest", study.plan_hash, *REVIEWERS) if word in words]


def read(**values):
    return reviewing.submission_from(EVENT | values)


@pytest.mark.parametrize("comment", ["x" * 2000, "two\nlines", "ünï \U0001f600", "<b>&amp;", "'; DROP TABLE labels"])
def test_a_comment_is_kept_as_it_was_written(planned, comment):
    task = next_task(planned)
    event = EVENT | {"code": task.code, "comment": comment, "flag": True}
    reviewing.submit(planned, id_of(planned, "ada"), reviewing.submission_from(event), now=NOW)
    assert said_of(planned, task) == (None, True, comment)


@pytest.mark.parametrize("comment", ["", "  ", "\n\t ", None])
def test_a_comment_is_kept_without_the_spaces_around_it_and_one_without_a_word_is_none(comment):
    assert read(comment=comment).comment is None
    assert read(comment="  a step \n").comment == "a step"


BAD_BY_KEY: dict[str, tuple[Any, ...]] = {
    "comment": ("x" * 2001, "\0", "a\0b", "\ud800", "a\udfff", 7, ["x"], {}, True),
    "flag": (None, 0, 1, "true", []),
    "confidence": (0, 4, -1, 1.0, True, "2", [1], float("nan")),
}
BAD_VALUES = [(key, value) for key, values in BAD_BY_KEY.items() for value in values]


@pytest.mark.parametrize(("key", "value"), BAD_VALUES, ids=[f"{k}={ascii(v)[:20]}" for k, v in BAD_VALUES])
def test_a_word_that_no_screen_sends_is_refused(key, value):
    with pytest.raises(AnswerRefused, match="an answer that cannot be read"):
        read(**{key: value})


@given(comment=st.none() | st.text(max_size=40), flag=st.booleans(), confidence=st.sampled_from([None, 1, 2, 3]))
def test_any_text_is_a_comment_unless_a_file_cannot_hold_it(comment, flag, confidence):
    if comment is not None and "\0" in comment:
        with pytest.raises(AnswerRefused):
            read(comment=comment, flag=flag, confidence=confidence)
        return
    submission = read(comment=comment, flag=flag, confidence=confidence)
    assert (submission.flag, submission.confidence) == (flag, confidence)
    assert submission.comment == ((comment or "").strip() or None)


def test_a_replay_with_other_words_is_acknowledged_and_changes_nothing(planned):
    task = answer_next(planned, "ada", "similar")
    event_id = labels.table(planned)["event_id"].iloc[0]
    again = NewLabel(event_id, task.code, 0, "similar", 900, {}, 3, flag=True, comment="later")
    reviewing.submit(planned, id_of(planned, "ada"), again, now=NOW)
    assert kept(planned) == [["similar", None, 0, None]]


def test_a_first_visit_ends_with_being_told_or_with_an_answer_and_only_for_that_reviewer(planned):
    ada, ben, cleo = (id_of(planned, name) for name in ("ada", "ben", "cleo"))
    assert reviewing.is_first_visit(planned, ada)
    for _ in range(2):
        reviewing.finish_introduction(planned, ada, now=NOW)
    assert [event.actor for event in events.of_actions(planned, [actions.FIRST_VISIT])] == ["ada"]
    answer_next(planned, "ben", "not sure")
    assert [reviewing.is_first_visit(planned, person) for person in (ada, ben, cleo)] == [False, False, True]
    studies.set_state(planned, State.CLOSED)
    assert not reviewing.is_first_visit(planned, cleo)  # there is nothing to begin


def test_the_question_asks_for_as_many_runs_as_the_items_have(planned):
    assert reviewing.question(planned) == "Are these runs alike?"
    studies.set_question(planned, replace(SIMILAR, text="Are these {runs} runs similar?"))
    assert reviewing.question(planned) == "Are these three runs similar?"
    printed = reporting.gathered_study(planned, reporting.QUICK, **WHO).provenance.study["question"]
    assert printed == "Are these three runs similar?"
    planned.execute("UPDATE items SET n_runs = 30")
    assert reviewing.question(planned) == "Are these 30 runs similar?"
    planned.execute("UPDATE items SET n_runs = 4 WHERE item_id = 1")
    assert reviewing.question(planned) == "Are these runs similar?"


@pytest.mark.parametrize("state", [State.CLOSED, State.UNBLINDED])
def test_nothing_can_be_undone_once_the_study_is_closed(planned, state):
    answer_next(planned, "ada", "similar")
    ada = id_of(planned, "ada")
    assert reviewing.review_queue(planned, ada).last is not None
    studies.set_state(planned, state)
    assert reviewing.review_queue(planned, ada).last is None


def test_a_reviewer_reads_that_calibration_is_practice_before_the_study_and_that_a_second_round_began(study):
    parameters = PlanParameters(1, overlap=0, retest=0, calibration=2)
    assigning.confirm_plan(study, parameters, **WHO)
    calibrating.set_gate(study, CalibrationGate("reviewers", 1), **WHO)
    ada = id_of(study, "ada")
    n_items = len(assignments.tasks_of(study, ada))
    after = f"; then the study with {n_items} items, about 1 minute"
    assert f"2 items to practise judging together, about 1 minute{after}" in reviewing.describe_work(study, ada)
    assert reviewing.round_note(study, ada) == (
        f"This is the calibration round: 2 items to practise judging together. No result uses these labels{after}."
    )
    answer_everything(study, dict(zip(REVIEWERS, ("similar", "dissimilar") * 2, strict=True)))
    calibrating.begin_second_round(study, **WHO)
    assert reviewing.round_note(study, ada).startswith("This is the calibration round again, with other items: 2 items")
    course.change_state(study, Step.OPEN, why="because", force=True, **WHO)
    assert reviewing.round_note(study, ada) == ""
    assert "practise" not in reviewing.describe_work(study, ada)
