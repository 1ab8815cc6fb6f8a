"""The protocol: changeable until the first answer, and the plots that follow from it."""

import json
from dataclasses import asdict, replace
from functools import partial

import pytest

from labeler.errors import InputError, NotAllowed
from labeler.studies.course import coordinating
from labeler.studies.items import drawing
from labeler.studies.labelling import answering, reviewing
from labeler.studies.model import Protocol
from labeler.studies.questions import SIMILAR
from labeler.studies.screen import binning
from labeler.studies.store import events, items, open_database, runs
from tests.making import NOW, WHO, answer_next, id_of, last_event, log, offers, submission

OTHER = Protocol("full", 0.25, asks_confidence=True, shows_numbers=True, instructions="Mind the warm-up.")


def set_protocol(db, protocol):
    coordinating.set_protocol(db, protocol, **WHO)


def protocol_of(db):
    return coordinating.get_study(db).protocol


def pictures(db):
    """Item -> its stored bins."""
    rows = db.execute("SELECT item_id, version, payload FROM bins ORDER BY item_id").fetchall()
    return {item_id: (version, json.loads(payload)) for item_id, version, payload in rows}


def expected(db, min_span, rule="levels"):
    """Return the expected stored data of every item."""
    drawn = {item.item_id: binning.payload(runs.of_item(db, item.item_id), "s", rule=rule, min_span=min_span)
             for item in items.all_items(db)}  # fmt: skip
    return {item_id: (binning.VERSION, json.loads(json.dumps(payload))) for item_id, payload in drawn.items()}


def test_a_new_study_has_the_protocol_it_was_made_with(study_path):
    make = partial(coordinating.create_study, name="x", question="?", coordinator="carol", now=NOW)
    make(study_path, protocol=OTHER)
    with open_database(study_path) as made:
        assert protocol_of(made) == OTHER
        details = json.loads(events.table(made)["details"].iloc[0])
        assert details.pop("secrets")  # a short hash of the secrets, so that the audit finds a changed secret
        assert details == {"name": "x", "question": "?", "definition": SIMILAR.definition(), **asdict(OTHER)}


def test_a_protocol_is_changed_as_often_as_one_likes_until_somebody_has_answered(planned):
    for protocol in (OTHER, Protocol(), replace(OTHER, axis_rule="pooled")):
        set_protocol(planned, protocol)
        assert protocol_of(planned) == reviewing.brief(planned).protocol == protocol
        assert log(planned)[-1] == ("carol", "set protocol")
        assert last_event(planned)[2] == asdict(protocol)


CHANGES = [
    {"axis_rule": "full"}, {"min_span": 0.2}, {"asks_confidence": True}, {"shows_numbers": True}, {"instructions": "x"},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=str)
@pytest.mark.parametrize("taken_back", [False, True])
def test_after_the_first_answer_nothing_of_it_changes_even_if_that_was_taken_back(planned, change, taken_back):
    answer_next(planned, "ada", "not sure")
    if taken_back:
        ada = id_of(planned, "ada")
        reviewing.submit(planned, ada, submission(reviewing.review_queue(planned, ada).last, "withdrawn"), now=NOW)
    before, drawn = log(planned), pictures(planned)
    with pytest.raises(NotAllowed, match="answered under"):
        set_protocol(planned, replace(Protocol(), **change))
    set_protocol(planned, Protocol())  # saving it as it is does nothing
    assert protocol_of(planned) == Protocol()
    assert (log(planned), pictures(planned)) == (before, drawn)


IMPOSSIBLE = [
    ({"axis_rule": "own"}, r"^There is no axis rule 'own'. Choose one of: levels, core, pooled, full\.$"),
    ({"axis_rule": ""}, r"^There is no axis rule ''"),
    *(({"min_span": value}, rf"from 0 to 10, not {value}\.$") for value in (-0.01, 10.01, float("nan"), float("inf"))),
    ({"instructions": "x" * 4001}, "have 4001 characters"),
    ({"instructions": "a\ud800"}, "a character that cannot be stored"),
]


@pytest.mark.parametrize(("change", "message"), IMPOSSIBLE, ids=[ascii(change)[:40] for change, _ in IMPOSSIBLE])
def test_a_protocol_that_cannot_be_is_refused_in_words(study, tmp_path, change, message):
    before = log(study)
    with pytest.raises(InputError, match=message):
        set_protocol(study, Protocol(**change))
    assert (log(study), protocol_of(study)) == (before, Protocol())
    path = tmp_path / "never.study"
    make = partial(coordinating.create_study, name="x", question="?", coordinator="carol", now=NOW)
    with pytest.raises(InputError, match=message):
        make(path, protocol=Protocol(**change))
    assert not path.exists()


@pytest.mark.parametrize("long", [{"name": "x" * 301}, {"question": "x" * 4001}], ids=["name", "question"])
def test_a_study_with_a_very_long_name_or_question_is_not_created(tmp_path, long):
    with pytest.raises(InputError, match="at most 300 characters, and the question 4000"):
        coordinating.create_study(
            tmp_path / "x.study", **{"name": "x", "question": "?", **long}, coordinator="carol", now=NOW
        )
    assert not (tmp_path / "x.study").exists()


@pytest.mark.parametrize(
    ("rule", "min_span"),
    [*(("levels", span) for span in (0.0, 10.0, 0.3)), ("core", 0.15), ("pooled", 0.15), ("full", 0.15)],
)
def test_another_span_or_rule_draws_every_item_anew(planned, rule, min_span):
    assert pictures(planned) == expected(planned, 0.15)
    set_protocol(planned, Protocol(rule, min_span))
    assert pictures(planned) == expected(planned, min_span, rule)
    task = offers(planned, "ada")[0]
    assert reviewing.task_data(planned, task)["panels"][0]["min_span"] == min_span


def test_what_leaves_the_axis_as_it_is_draws_nothing_anew(planned):
    for item in items.all_items(planned):
        runs.put_bins(planned, item.item_id, binning.VERSION, b"{}")
    set_protocol(planned, replace(OTHER, axis_rule="levels", min_span=0.15))
    assert pictures(planned) == {item.item_id: (binning.VERSION, {}) for item in items.all_items(planned)}


def test_items_imported_later_are_drawn_with_the_span_of_the_study_and_those_without_measurements_need_none(study):
    set_protocol(study, Protocol(min_span=0.5))
    study.execute("DELETE FROM bins WHERE item_id = 1")
    assert drawing.payload_of_item(study, 1)["min_span"] == 0.5
    assert 1 not in pictures(study)  # reading does not write
    study.execute("UPDATE items SET n_runs = 0 WHERE item_id = 1")
    assert coordinating.refresh_pictures(study) == 0
    assert 1 not in pictures(study)


def make_stale(db):
    """Item 1 has no plot, item 2 has a plot of an older version."""
    db.execute("DELETE FROM bins WHERE item_id = 1")
    db.execute("DELETE FROM bins WHERE item_id = 2")
    runs.put_bins(db, 2, binning.VERSION - 1, b"{}")
    runs.put_bins(db, 3, binning.VERSION, b"{}")  # of this version, whatever it contains


def test_refreshing_draws_only_what_is_missing_or_of_an_older_version(planned):
    make_stale(planned)
    assert coordinating.refresh_pictures(planned) == 2
    wanted = expected(planned, 0.15) | {3: (binning.VERSION, {})}
    assert pictures(planned) == wanted
    assert coordinating.refresh_pictures(planned) == 0
    assert pictures(planned) == wanted


def test_refreshing_holds_no_lock_between_items_and_leaves_what_somebody_else_updated(planned):
    make_stale(planned)
    seen = []

    def write_elsewhere():
        with open_database(planned.path) as other, other.atomic():
            seen.append(len(drawing.stale(other)))
            runs.put_bins(other, 2, binning.VERSION, b"{}")

    assert coordinating.refresh_pictures(planned, pause=write_elsewhere) == 1
    assert seen == [1, 0]
    assert pictures(planned)[2] == (binning.VERSION, {})


def test_pictures_of_an_older_version_are_stored_anew_once_a_reviewer_has_got_to_them(planned):
    waiting = offers(planned, "ada")
    planned.execute("DELETE FROM bins")
    for item in items.all_items(planned):
        runs.put_bins(planned, item.item_id, binning.VERSION - 1, b"{}")
    answering.open_items(planned, id_of(planned, "ada"), [task.code for task in waiting])
    wanted = expected(planned, 0.15)
    stored = {item_id: row for item_id, row in pictures(planned).items() if row[0] == binning.VERSION}
    assert {task.item_id for task in waiting} <= stored.keys()
    assert stored == {item_id: wanted[item_id] for item_id in stored}


def test_reviewers_see_the_same_picture_whether_or_not_it_was_refreshed(planned):
    task = offers(planned, "ada")[0]
    planned.execute("DELETE FROM bins")
    before = json.loads(json.dumps(reviewing.picture(planned, task)))
    coordinating.refresh_pictures(planned)
    assert reviewing.picture(planned, task) == before
