import base64
import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from labeler.errors import AnswerRefused, NotAllowed, NotAssigned
from labeler.studies.course import coordinating, staffing
from labeler.studies.items import drawing
from labeler.studies.labelling import answering, reviewing
from labeler.studies.labelling.reviewing import OwnProgress
from labeler.studies.model import Kind, NewLabel, PlanParameters, Protocol, Role, State
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import ALLOWED, Action
from labeler.studies.preparing import assigning
from labeler.studies.preparing.verifying import verify_plan
from labeler.studies.questions import SIMILAR, WITHDRAWN
from labeler.studies.screen import binning, blinding
from labeler.studies.store import assignments, items, labels, open_database, people, runs, studies
from labeler.studies.store.assignments import NewAssignment
from tests.making import NOW, PARAMETERS, REVIEWERS, WHO, answer_next, id_of, log, new_study, offers, submission, submit


def planned_codes(db, name="ada"):
    rows = db.execute("SELECT code FROM assignments WHERE person_id = ? ORDER BY position", (id_of(db, name),))
    return [code for (code,) in rows]


def offered(db, name="ada"):
    return [task.code for task in offers(db, name)]


def undo(db, name="ada"):
    task = reviewing.review_queue(db, id_of(db, name)).last
    submit(db, name, task, "withdrawn", dwell_ms=None)
    return task.code


def kept(db):
    return db.execute("SELECT * FROM labels ORDER BY label_id").fetchall()


def refused(db, error, message, name, task, *rest, **more):
    """The submission is refused with this error, and nothing is saved."""
    before = kept(db)
    with pytest.raises(error, match=message):
        submit(db, name, task, *rest, **more)
    assert kept(db) == before


@pytest.fixture(autouse=True)
def _three_are_offered(monkeypatch):
    """Few items are offered, so that small studies have items that are not."""
    monkeypatch.setattr(reviewing, "N_OFFERED", 3)


def test_tasks_are_offered_in_planned_order_three_at_a_time_and_the_log_that_others_read_has_no_trace(planned):
    rows = planned.execute("SELECT item_id, code FROM assignments").fetchall()
    assert len({code for _, code in rows}) == len(rows) > len({item for item, _ in rows})  # a code per reviewer
    codes, before = planned_codes(planned), log(planned)
    for position in range(5):
        assert offered(planned) == codes[position : position + 3]
        answer_next(planned, "ada", "similar")
    assert offered(planned) == []
    assert len(offered(planned, "ben")) == 3
    assert log(planned) == before


def test_an_item_fetched_ahead_may_be_answered_before_the_one_on_the_screen(planned):
    first, second, _ = offers(planned, "ada")
    submit(planned, "ada", second)
    assert offered(planned) == [first.code, *planned_codes(planned)[2:4]]
    submit(planned, "ada", first)
    assert offered(planned) == planned_codes(planned)[2:5]


@pytest.mark.parametrize("what", ["of ben", "not on offer yet", "made up"])
def test_only_an_item_on_offer_to_this_reviewer_is_labelled(planned, what):
    ada = id_of(planned, "ada")
    task = {
        "of ben": offers(planned, "ben")[0],
        "not on offer yet": assignments.tasks_of(planned, ada)[3],
        "made up": NewLabel("e", "X" * 60, 0, "similar"),
    }[what]
    message = rf"^You cannot label item {task.code[:20]} now\."
    refused(planned, NotAssigned, message, "ada", task)


def test_a_label_that_comes_after_its_item_went_to_a_joiner_is_kept_and_can_be_taken_back(planned):
    ada = id_of(planned, "ada")
    before = assignments.tasks_of(planned, ada)
    staffing.add(planned, "eve", [Role.REVIEWER], **WHO)
    left = {task.code for task in assignments.tasks_of(planned, ada)}
    moved = next(task for task in before if task.code not in left)
    for revision, answer in enumerate(("similar", "withdrawn", "dissimilar")):
        submit(planned, "ada", replace(moved, revision=revision), answer)
    assert labels.table(planned)["label"].tolist() == ["similar", "withdrawn", "dissimilar"]
    assert verify_plan(planned).problems == ()
    staffing.remove(planned, "eve", **WHO)
    assert moved.code not in {task.code for task in assignments.tasks_of(planned, ada)}  # ada has labelled the item
    assert verify_plan(planned).problems == ()


@pytest.mark.parametrize("dwell_ms", [None, 0, 249])
def test_an_answer_faster_than_a_look_is_refused(planned, dwell_ms):
    task = offers(planned, "ada")[0]
    message = rf"Item {task.code} was on the screen for less than 250 ms\."
    refused(planned, AnswerRefused, message, "ada", task, dwell_ms=dwell_ms)
    submit(planned, "ada", task, dwell_ms=250)


def test_a_replay_is_acknowledged_and_kept_once(planned):
    task = offers(planned, "ada")[0]
    submit(planned, "ada", task, "similar", "event")
    first = kept(planned)
    submit(planned, "ada", task, "similar", "event", now=NOW + timedelta(hours=1))
    assert kept(planned) == first
    answer_next(planned, "ada", "dissimilar")
    submit(planned, "ada", task, "similar", "event")
    studies.set_state(planned, State.PAUSED)
    submit(planned, "ada", task, "similar", "event")  # it was saved while the study was open
    assert kept(planned)[:1] == first
    assert len(kept(planned)) == 2


def test_an_event_id_of_somebody_else_is_neither_a_replay_nor_taken_and_an_own_one_names_one_answer(planned):
    answer_next(planned, "ben", "similar")
    event_id = labels.table(planned)["event_id"].iloc[0]
    answered = offers(planned, "ada")[0]
    submit(planned, "ada", answered, "similar", event_id)
    sent = labels.table(planned)[["reviewer", "event_id"]].to_numpy().tolist()
    assert sent == [["ben", event_id], ["ada", event_id]]
    for task, answer in ((offers(planned, "ada")[0], "similar"), (replace(answered, revision=1), "dissimilar")):
        closed = rf"^You cannot label item {task.code} now\. Reload the page to continue\.$"
        refused(planned, NotAssigned, closed, "ada", task, answer, event_id)


def test_another_window_with_stale_data_is_refused_in_words(planned):
    task = answer_next(planned, "ada", "similar")
    message = rf"Item {task.code} was answered in another window"
    refused(planned, AnswerRefused, message, "ada", task, "dissimilar")
    refused(planned, AnswerRefused, message, "ada", task, "withdrawn", "e")
    ahead = NewLabel("f", task.code, 5, "similar", 900)
    refused(planned, AnswerRefused, message, "ada", ahead)


def test_undo_brings_the_last_item_back_one_after_the_other(planned):
    codes = planned_codes(planned)
    for _ in range(3):
        answer_next(planned, "ada", "similar")
    assert undo(planned) == codes[2]
    assert offered(planned) == codes[2:5]
    assert undo(planned) == codes[1]
    assert offered(planned) == codes[1:4]
    answer_next(planned, "ada", "dissimilar")
    assert undo(planned) == codes[1]
    assert undo(planned) == codes[0]
    assert reviewing.review_queue(planned, id_of(planned, "ada")).last is None
    assert labels.table(planned)["label"].tolist() == ["similar"] * 3 + ["withdrawn"] * 2 + [
        "dissimilar", "withdrawn", "withdrawn",
    ]  # fmt: skip


def test_undo_of_nothing_is_refused(planned):
    task = offers(planned, "ada")[0]
    assert reviewing.review_queue(planned, id_of(planned, "ada")).last is None
    refused(planned, AnswerRefused, f"Item {task.code} has no answer to undo", "ada", task, "withdrawn")
    submit(planned, "ada", task)
    undo(planned)
    again = offers(planned, "ada")[0]
    refused(planned, AnswerRefused, f"Item {task.code} has no answer to undo", "ada", again, "withdrawn")


@pytest.mark.parametrize("taken_back", [False, True])
def test_not_sure_is_offered_once_again_at_the_end_and_then_rests(planned, taken_back):
    codes = planned_codes(planned)
    answer_next(planned, "ada", "not sure")
    if taken_back:  # does not use up the second look
        undo(planned)
        answer_next(planned, "ada", "not sure")
    assert offered(planned) == codes[1:4]
    for _ in range(4):
        answer_next(planned, "ada", "similar")
    assert offered(planned) == codes[:1]
    assert reviewing.review_queue(planned, id_of(planned, "ada")).progress == OwnProgress(4, 5, 1)
    answer_next(planned, "ada", "not sure")
    assert offered(planned) == []
    assert reviewing.review_queue(planned, id_of(planned, "ada")).progress == OwnProgress(4, 5, 1)


def test_an_own_label_can_be_revised_and_stays_where_it_was(planned):
    ada = id_of(planned, "ada")
    first = answer_next(planned, "ada", "similar")
    answer_next(planned, "ada", "similar")
    submit(planned, "ada", reviewing.task_by_code(planned, ada, first.code), "dissimilar", now=NOW + timedelta(1))
    mine = reviewing.own_labels(planned, ada)
    assert [(own.task.code, own.task.answer, own.n_revisions) for own in mine] == [
        (first.code, "dissimilar", 1),
        (planned_codes(planned)[1], "similar", 0),
    ]
    assert mine[0].created_utc == (NOW + timedelta(1)).isoformat()
    assert reviewing.review_queue(planned, ada).progress == OwnProgress(2, 5, 0)
    assert offered(planned) == planned_codes(planned)[2:5]
    assert undo(planned) == first.code == offered(planned)[0]  # takes back the revision made last


def test_own_labels_are_only_ones_own_and_only_those_that_stand(planned):
    ada, ben = id_of(planned, "ada"), id_of(planned, "ben")
    theirs = answer_next(planned, "ben", "similar")
    answer_next(planned, "ada", "similar")
    undo(planned)
    assert reviewing.own_labels(planned, ada) == []
    assert [own.task.code for own in reviewing.own_labels(planned, ben)] == [theirs.code]
    for code in (theirs.code, planned_codes(planned)[1], "nothing"):
        with pytest.raises(NotAssigned, match=rf"You cannot open item {code} now"):
            reviewing.task_by_code(planned, ada, code)


WHY_CLOSED = [
    (State.DRAFT, "The study has not begun yet"),
    (State.PAUSED, "The study is paused at the moment"),
    (State.CLOSED, "The study is closed for labelling"),
    (State.UNBLINDED, "The study is closed for labelling"),
]


@pytest.mark.parametrize(("state", "why"), WHY_CLOSED)
def test_in_a_study_that_is_not_open_nothing_is_labelled_and_the_reason_is_said(planned, state, why):
    studies.set_state(planned, state)
    task = offers(planned, "ada")[0]
    refused(planned, NotAllowed, rf"^{why}.* Nothing was saved\.$", "ada", task)
    assert reviewing.review_queue(planned, id_of(planned, "ada")).closed.startswith(why)
    assert {state for state, _ in WHY_CLOSED} == set(State) - ALLOWED[Action.LABEL]
    for state in ALLOWED[Action.LABEL]:
        studies.set_state(planned, state)
        assert reviewing.review_queue(planned, id_of(planned, "ada")).closed == ""


def test_only_reviewers_who_take_part_see_and_label_anything(planned):
    task = offers(planned, "ada")[0]
    planned.execute("UPDATE people SET active = 0 WHERE name = 'ada'")
    for name in ("ada", "carol"):
        refused(planned, NotAllowed, "Only reviewers of the study", name, task)
        for look in (reviewing.review_queue, reviewing.own_labels):
            with pytest.raises(NotAllowed, match="Only reviewers"):
                look(planned, id_of(planned, name))


UNDER = {"rule": "levels", "rule_version": 1, "min_span": 0.15, "drawing": binning.VERSION}  # the view of a label


def test_all_that_was_said_is_kept(planned):
    task = offers(planned, "ada")[0]
    said = NewLabel(
        "e", task.code, 0, "dissimilar", 812, {"zoom": 2, "session": "forged"}, 3, flag=True, comment="steps"
    )
    reviewing.submit(planned, id_of(planned, "ada"), said, now=NOW, session="5e55")
    row = labels.table(planned).iloc[0]
    assert row[["label", "dwell_ms", "confidence", "flag", "comment", "event_id"]].tolist() == [
        "dissimilar", 812, None, 1, "steps", "e",
    ]  # fmt: skip
    view = json.loads(row["view"])
    drawn = view.pop("picture")
    assert (view, row["session"]) == ({**UNDER, "session": "forged", "zoom": 2}, "5e55")
    assert (sorted(drawn["order"]), 0.5 <= drawn["phase"] < 1.5) == ([0, 1, 2], True)
    variation = blinding.Variation(**drawn | {"order": tuple(drawn["order"])})
    stored = drawing.payload_of_item(planned, task.item_id)
    again = blinding.varied(stored, runs.of_item(planned, task.item_id), variation)
    assert again == reviewing.picture(planned, task)  # the screen can be drawn again from the label
    assert row["created_utc"] == NOW.isoformat()


def pictures(db):
    """Yield the plot of every assignment, including kinds that a small plan does not have."""
    ada = people.by_name(db, "ada")
    for number, kind in enumerate((Kind.RETEST, Kind.THIRD, Kind.CALIBRATION)):
        assignments.add(db, [NewAssignment(ada.person_id, number + 1, kind, 99, 50 + number, f"AGAIN{number}")])
    for person in identity.everyone(db):
        for task in assignments.tasks_of(db, person.person_id):
            yield task, reviewing.task_data(db, task)


def texts_in(value):
    """Return every text and key in a JSON value, and the numbers as text."""
    if isinstance(value, dict):
        return [text for key, entry in value.items() for text in (key, *texts_in(entry))]
    if isinstance(value, list):
        return [text for entry in value for text in texts_in(entry)]
    return [str(value)]


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text, validate=True), kind)


def test_a_picture_tells_nothing_of_what_was_measured_and_why(planned):
    item_words = {
        word
        for item in items.all_items(planned)
        for word in (item.name, item.benchmark, item.application, *re.split(r"[#/=]|__", item.name))
        if len(word) > 1
    }
    hidden = item_words | {*REVIEWERS, "carol", "block", "part", "partner", *Kind, "same", "heuristic", "verdict"}
    assert {"example", "app1", "size", "ben", "retest"} <= hidden
    for task, picture in pictures(planned):
        assert set(picture) == {"code", "revision", "panels"}
        assert picture["code"] == task.code
        (panel,) = picture["panels"]
        runs = panel.pop("runs")
        assert {tuple(run) for run in runs} == {("n", *binning.SERIES, "beyond")}
        for run in runs:  # numbers as base64: any letters may follow each other in them
            assert np.isfinite(np.concatenate([unpacked(run[name], "<f4") for name in binning.SERIES])).all()
            assert set(run["beyond"]) <= set(panel["axes"])
            assert {len(unpacked(shares, np.uint8)) for shares in run["beyond"].values()} <= {
                2 * 2 * len(unpacked(run["medians"], "<f4"))  # above and below, two bytes each
            }
        letters = texts_in(
            json.loads(json.dumps({**picture, "code": ""}, allow_nan=False))
        )  # a code is drawn at random
        assert [(word, text) for text in letters for word in hidden if word in text.lower()] == []


def test_pictures_of_one_item_are_alike_for_all_kinds_of_assignment(planned):
    drawn = {}
    for task, picture in pictures(planned):
        shown = {key: value for key, value in picture.items() if key not in ("code", "revision")}
        (panel,) = shown.pop("panels")
        shown |= {key: value for key, value in panel.items() if key not in ("axes", "median", "runs", "scale")}
        assert drawn.setdefault(task.item_id, shown) == shown
        assert {tuple(run) for run in panel["runs"]} == {("n", *binning.SERIES, "beyond")}
    assert len(drawn) == 8


def test_a_study_with_one_picture_per_item_sends_the_stored_one_to_everybody(planned):
    coordinating.set_protocol(planned, Protocol(varies_pictures=False), **WHO)
    for task, picture in pictures(planned):
        assert picture["panels"] == [{"kind": "runs", **drawing.payload_of_item(planned, task.item_id)}]
    task = answer_next(planned, "ada", "similar")
    assert json.loads(labels.table(planned)["view"].iloc[0]) == {"axis": "core", **UNDER}
    assert reviewing.own_labels(planned, id_of(planned, "ada"))[0].task.code == task.code


@pytest.mark.parametrize(
    ("unit", "shown"),
    [("s", "s"), ("ops/s", "ops/s"), ("MB/s", "MB/s"), ("%", "%"), ("Kafka-producer records/s", "units per second"),
     ("cache misses", "units"), ("tx/min", "units per minute"), ("quokkas/burrow", "units"), ("", "")],
)  # fmt: skip
def test_a_unit_names_nothing_that_was_measured(study, unit, shown):
    study.execute("UPDATE items SET unit = ?", (unit,))
    study.execute("DELETE FROM bins")
    assigning.confirm_plan(study, PARAMETERS, **WHO)
    task = offers(study, "ada")[0]
    assert reviewing.task_data(study, task)["panels"][0]["unit"] == shown


def test_the_earlier_picture_of_a_hidden_copy_is_gone_when_the_copy_comes(tmp_path):
    plan = PlanParameters(seed=2, overlap=0.0, retest=5)
    with new_study(tmp_path / "copies.study", n_items=60, reviewers=("ada", "ben"), plan=plan) as db:
        ada, n_copies = id_of(db, "ada"), 0
        while offers := reviewing.review_queue(db, ada).offers:
            own = reviewing.own_labels(db, ada)
            earlier = {label.task.item_id: label for label in own}
            for offer in offers:
                if offer.item_id in earlier:
                    n_copies += 1
                    assert not earlier[offer.item_id].can_look_again
                    with pytest.raises(NotAssigned):
                        reviewing.task_by_code(db, ada, earlier[offer.item_id].task.code)
            shown = [label.number for label in own if label.can_look_again]
            assert sorted(shown) == list(range(max(len(own) - reviewing.LOOK_BACK, 0) + 1, len(own) + 1))
            answer_next(db, "ada", "similar")
        assert n_copies >= 5
        assert all(label.can_look_again for label in reviewing.own_labels(db, ada))


EVENT = {
    "event_id": "e",
    "code": "ABCDEF",
    "revision": 0,
    "answer": "similar",
    "dwell_ms": 300,
    "view": {"axis": "log"},
}


def test_an_event_of_the_screen_is_read_as_it_is_meant():
    expected = NewLabel("e", "ABCDEF", 0, "similar", 300, {"axis": "log"})
    assert reviewing.submission_from(EVENT) == expected
    assert reviewing.submission_from(EVENT | {"more": 1}) == expected
    short = {key: EVENT[key] for key in ("event_id", "code", "revision", "answer")}
    assert reviewing.submission_from(short) == NewLabel("e", "ABCDEF", 0, "similar")
    assert reviewing.submission_from(EVENT | {"answer": "withdrawn"}).answer is WITHDRAWN


BAD_BY_KEY: dict[str, tuple[Any, ...]] = {
    "event_id": ("", "x" * 65, 1, None, "\ud800"),
    "code": ("", "x" * 65, ["A"], "\udfff"),
    "revision": (-1, True, 0.0, "0", 2**31, 10**40),
    "answer": ("", "s" * 65, None, ["similar"]),
    "dwell_ms": (True, -1, 300.5, float("nan"), "300", 2**31),
    "view": (None, [], "{}", {"a": float("nan")}, {"a": [float("inf")]}, {"text": "x" * 2000}),
}


def nested(depth):
    view = {}
    for _ in range(depth):
        view = {"a": view}
    return view


BAD_EVENTS = [
    *((f"{key}={ascii(value)[:20]}", EVENT | {key: value}) for key, values in BAD_BY_KEY.items() for value in values),
    *((ascii(event)[:30], event) for event in (None, [], "similar", 7, {}, {"event_id": "e"}, list(EVENT.items()))),
    ("a view nested without end", EVENT | {"view": nested(5000)}),
]


@pytest.mark.parametrize("event", [event for _, event in BAD_EVENTS], ids=[name for name, _ in BAD_EVENTS])
def test_an_event_that_no_screen_sends_is_refused(event):
    with pytest.raises(AnswerRefused, match="cannot be read"):
        reviewing.submission_from(event)


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=70) | st.sampled_from(SIMILAR.answers),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
events_like = st.fixed_dictionaries(
    {
        "event_id": st.text(max_size=70) | json_like,
        "code": st.text(max_size=70) | json_like,
        "revision": st.integers(-2, 3) | json_like,
        "answer": st.sampled_from(SIMILAR.answers).map(str) | json_like,
    },
    optional={
        "dwell_ms": st.integers(-2, 10**10) | json_like,
        "view": st.dictionaries(st.text(), json_like) | json_like,
    },
)


@given(events_like | json_like)
def test_anything_a_browser_sends_is_a_submission_or_refused(event):
    try:
        read = reviewing.submission_from(event)
    except AnswerRefused:
        return
    assert 0 < len(read.event_id) <= 64
    assert 0 < len(read.code) <= 64
    assert (type(read.revision), read.revision >= 0) == (int, True)
    assert read.dwell_ms is None or (type(read.dwell_ms) is int and read.dwell_ms >= 0)
    assert len(json.dumps(read.view, allow_nan=False)) <= 2000


def mark_of(db, name):
    return reviewing.browser_mark(reviewing.desk(db, id_of(db, name)))


def test_the_mark_of_a_reviewer_is_the_same_in_a_backup_and_nowhere_else(planned, study, tmp_path):
    planned.backup(tmp_path / "backup.study")
    with open_database(tmp_path / "backup.study") as backup:
        coordinating.describe_study(backup, "Renamed", "Alike?", **WHO)
        marks = {name: mark_of(planned, name).reviewer for name in REVIEWERS}
        again = {name: mark_of(backup, name).reviewer for name in REVIEWERS}
    assert again == marks
    assert len(set(marks.values())) == len(REVIEWERS)
    coordinating.create_study(
        tmp_path / "other.study", name="Caches", question="Alike?", coordinator="carol", now=NOW + timedelta(seconds=1)
    )
    with open_database(tmp_path / "other.study") as other:
        for name in REVIEWERS:
            identity.add_person(other, name, [Role.REVIEWER], **WHO)
        others = {mark_of(other, name).reviewer for name in REVIEWERS}
    assert others.isdisjoint(marks.values())


def test_the_last_event_is_the_reviewers_own_newest_answer(planned):
    assert mark_of(planned, "ada").last_event is None
    first = answer_next(planned, "ada", "similar")
    answer_next(planned, "ben", "similar")
    assert mark_of(planned, "ada").last_event == f"{first.code}-0-similar"
    undo(planned)
    assert mark_of(planned, "ada").last_event == f"{first.code}-1-withdrawn"


def test_events_that_the_study_does_not_have_from_this_reviewer_are_missing(planned):
    own, others = (answer_next(planned, name, "similar") for name in ("ada", "ben"))
    events = ["never", f"{own.code}-0-similar", f"{others.code}-0-similar", "'; DROP TABLE labels; --"]
    missing = answering._missing_events(planned, id_of(planned, "ada"), events)
    assert missing == ["never", f"{others.code}-0-similar", "'; DROP TABLE labels; --"]
    assert answering._missing_events(planned, id_of(planned, "ada"), []) == []
    with pytest.raises(AnswerRefused, match="cannot be read"):
        answering._missing_events(planned, id_of(planned, "ada"), ["x"] * 501)


def test_undoing_again_and_again_brings_back_only_the_plots_of_the_latest_items(tmp_path):
    n_items = 2 * reviewing.LOOK_BACK - 10
    with new_study(tmp_path / "long.study", n_items=n_items, reviewers=("ada", "ben"), plan=True) as db:
        ada, sent = id_of(db, "ada"), set()
        while reviewing.review_queue(db, ada).offers:
            answer_next(db, "ada", "similar")
        while (last := reviewing.review_queue(db, ada).last) is not None:
            sent.add(last.code)
            reviewing.submit(db, ada, submission(last, "withdrawn"), now=NOW)
        own = [answer.code for answer in labels.own_answers(db, ada) if answer.revision == 0]
        assert sent == set(own[-reviewing.LOOK_BACK :])
        task = assignments.task_by_code(db, ada, own[-reviewing.LOOK_BACK - 1])
        with pytest.raises(AnswerRefused, match="within your latest 25 items"):
            reviewing.submit(db, ada, submission(task, "withdrawn"), now=NOW)
