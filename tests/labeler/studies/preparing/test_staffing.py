"""Reviewers join, pause, leave and take over during a study."""

import pytest

from labeler.errors import InputError, NotAllowed
from labeler.studies.course import course, staffing
from labeler.studies.course.staffing import StaffChange
from labeler.studies.labelling import reviewing
from labeler.studies.model import Kind, PlanParameters, Role, State
from labeler.studies.people import identity
from labeler.studies.plan.active_plan import N_BOUND
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning, verifying
from labeler.studies.results import reporting
from labeler.studies.store import assignments, labels, people, studies
from tests.making import (
    NOW,
    REVIEWERS,
    WHO,
    answer_everything,
    answer_next,
    copy_of,
    id_of,
    last_event,
    log,
    make_study,
    new_study,
    offers,
    submission,
)

WHY = {"why": "because", **WHO}


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    path = tmp_path_factory.mktemp("staffing") / "roomy.study"
    return make_study(path, n_items=24, plan=PlanParameters(seed=3, overlap=0.08, retest=0))


@pytest.fixture
def roomy(master, tmp_path):
    """24 items, so that some can move to others; two are for all."""
    with copy_of(master, tmp_path) as db:
        yield db


def on_screens(db, name):
    """The items of a reviewer that do not move to somebody who joins."""
    return offers(db, name)[:N_BOUND]


def standing(db, name, *kinds):
    """(item, kind, position) of a reviewer's active assignments."""
    return [
        (kept.assignment.item, kept.assignment.kind.value, kept.assignment.position)
        for kept in assignments.everything(db)
        if not kept.ended and kept.assignment.reviewer == name and (not kinds or kept.assignment.kind in kinds)
    ]


def items_of(db, name, *kinds):
    return {item for item, _, _ in standing(db, name, *kinds)}


def open_places(db, *, ended):
    rows = (kept.assignment for kept in assignments.everything(db) if kept.ended is ended)
    return [(row.reviewer, row.item, row.kind) for row in rows]


def give_both_roles(db, name):
    """Make a person both reviewer and coordinator."""
    db.execute("UPDATE people SET is_coordinator = 1 WHERE name = ?", (name,))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (StaffChange(), "ada: no open items reassigned."),
        (StaffChange(n_moved=1), "ada: 1 open item reassigned, 0 no longer assigned."),
        (StaffChange(n_given_up=2), "ada: 0 open items reassigned, 2 no longer assigned."),
    ],
)
def test_a_change_of_reviewers_is_described(change, sentence):
    assert change.describe("ada") == sentence


# --- coming


def test_a_reviewer_who_comes_before_the_plan_gets_nothing_yet_and_is_in_the_plan(study):
    person, change = staffing.add(study, "eve", [Role.REVIEWER], **WHO)
    assert (person.name, change, log(study)[-1]) == ("eve", StaffChange(), ("carol", "add person"))
    assigning.confirm_plan(study, PlanParameters(1, retest=0), **WHO)
    assert items_of(study, "eve")


def test_a_late_joiner_gets_open_items_of_the_others_at_the_end_of_nothing(roomy):
    before, on_screen = ({name: of(roomy, name) for name in REVIEWERS} for of in (items_of, on_screens))
    _, change = staffing.add(roomy, "eve", [Role.REVIEWER], **WHO)
    got = items_of(roomy, "eve")
    assert change.n_moved == len(got) > 0
    assert sum(len(before[name] - items_of(roomy, name)) for name in REVIEWERS) == len(got)
    assert [position for _, _, position in standing(roomy, "eve")] == list(range(len(got)))
    assert change.n_given_up == 0
    assert log(roomy)[-2:] == [("carol", "add person"), ("carol", "join")]
    assert {name: on_screens(roomy, name) for name in REVIEWERS} == on_screen
    # every item still has its two reviewers, or all
    on = [item for name in (*REVIEWERS, "eve") for item in items_of(roomy, name)]
    assert {on.count(item) for item in on} == {2, 4}


def test_a_coordinator_gets_nothing_to_label_and_can_come_after_closing_but_no_reviewer(planned):
    for name in ("chris", "drew"):
        _, change = staffing.add(planned, name, [Role.COORDINATOR], **WHO)
        assert (change, items_of(planned, name)) == (StaffChange(), set())
        assert log(planned)[-1] == ("carol", "add person")
        if name == "chris":
            course.change_state(planned, Step.CLOSE, **WHY)
    before = log(planned)
    with pytest.raises(NotAllowed, match="It is closed now"):
        staffing.add(planned, "eve", [Role.REVIEWER], **WHO)
    assert people.by_name(planned, "eve") is None
    assert log(planned) == before


def test_who_comes_during_the_calibration_round_labels_its_items_too(tmp_path):
    plan = PlanParameters(seed=3, overlap=0, retest=0, calibration=3)
    with new_study(tmp_path / "x.study", plan=plan) as db:
        staffing.add(db, "eve", [Role.REVIEWER], **WHO)
        assert items_of(db, "eve", Kind.CALIBRATION) == items_of(db, "ada", Kind.CALIBRATION)
        assert len(items_of(db, "eve", Kind.CALIBRATION)) == 3
        answer_everything(db, dict.fromkeys((*REVIEWERS, "eve"), "similar"))
        course.change_state(db, Step.OPEN, **WHY)
        staffing.add(db, "fay", [Role.REVIEWER], **WHO)
        assert items_of(db, "fay", Kind.CALIBRATION) == set()


# --- waiting


def test_a_paused_reviewer_keeps_their_items_may_look_and_may_not_label(planned):
    before, task = items_of(planned, "ada"), offers(planned, "ada")[0]
    staffing.pause(planned, " ADA ", **WHY)  # whatever the capitals
    assert items_of(planned, "ada") == before
    assert "You are paused" in reviewing.review_queue(planned, id_of(planned, "ada")).closed
    with pytest.raises(NotAllowed, match=r"paused.*Nothing was saved"):
        answer_next(planned, "ada", "similar")
    assert labels.n_labels(planned) == 0
    assert last_event(planned) == ("carol", "pause reviewer", {"name": "ada", "why": "because"})
    assert staffing.resume(planned, "ada", **WHO) == StaffChange()
    assert answer_next(planned, "ada", "similar") == task
    assert last_event(planned) == ("carol", "resume reviewer", {"name": "ada"})


REFUSED = [
    (lambda db: staffing.pause(db, "nobody", **WHY), InputError, "called nobody.*ada, ben"),
    (lambda db: staffing.pause(db, "carol", **WHY), InputError, "called carol"),
    (lambda db: staffing.pause(db, "ben", **WHY), NotAllowed, "ben is already paused"),
    (lambda db: staffing.pause(db, "cleo", **WHY), NotAllowed, "cleo no longer takes part"),
    (lambda db: staffing.pause(db, "ada", why="x" * 1001, **WHO), InputError, "1 to 1000 characters"),
    (lambda db: staffing.remove(db, "ada", why="\0", **WHO), InputError, "1 to 1000 characters"),
    (lambda db: staffing.remove(db, "nobody", **WHY), InputError, "There is no reviewer called nobody"),
    (lambda db: staffing.remove(db, "cleo", **WHY), NotAllowed, "cleo no longer takes part"),
    (lambda db: staffing.resume(db, "ada", **WHO), NotAllowed, "ada already takes part"),
    (lambda db: staffing.add(db, "ADA", [Role.REVIEWER], **WHO), InputError, "called ada"),
    (lambda db: staffing.replace(db, "ada", " ADA", **WHY), InputError, "ada cannot be their own successor"),
    (lambda db: staffing.replace(db, "nobody", "eve", **WHY), InputError, "no reviewer called nobody"),
    (lambda db: staffing.replace(db, "ada", "carol", **WHY), InputError, "no reviewer called carol"),
    (lambda db: staffing.replace(db, "ada", " ", **WHY), InputError, "name has 1 to"),
    (lambda db: staffing.replace(db, "ada", "eve", why="x" * 1001, **WHO), InputError, "reason.*1.*1000"),
    (lambda db: staffing.replace(db, "cleo", "eve", **WHY), NotAllowed, "cleo no longer takes part"),
]


@pytest.mark.parametrize(("do", "error", "message"), REFUSED)
def test_what_makes_no_sense_is_refused_in_words_and_leaves_everybody_where_they_were(roomy, do, error, message):
    staffing.pause(roomy, "ben", **WHY)
    staffing.remove(roomy, "cleo", **WHY)
    before = (log(roomy), people.all_people(roomy), assignments.everything(roomy))
    with pytest.raises(error, match=message):
        do(roomy)
    assert (log(roomy), people.all_people(roomy), assignments.everything(roomy)) == before


@pytest.mark.parametrize("state", [State.CLOSED, State.UNBLINDED])
def test_after_closing_nobody_is_paused_resumed_removed_or_replaced(roomy, state):
    staffing.pause(roomy, "ben", **WHY)
    studies.set_state(roomy, state)
    for do in (
        lambda: staffing.pause(roomy, "ada", **WHY),
        lambda: staffing.resume(roomy, "ben", **WHO),
        lambda: staffing.remove(roomy, "ada", **WHY),
        lambda: staffing.replace(roomy, "ada", "eve", **WHY),
    ):
        with pytest.raises(NotAllowed, match="You can change who takes part"):
            do()
    assert people.by_name(roomy, "eve") is None


def test_people_change_while_the_whole_study_is_paused(roomy):
    staffing.pause(roomy, "ben", **WHY)
    before = items_of(roomy, "ben")
    course.change_state(roomy, Step.PAUSE, **WHY)
    staffing.remove(roomy, "ada", **WHY)
    assert items_of(roomy, "ben") == before  # a paused reviewer takes nothing over
    staffing.add(roomy, "eve", [Role.REVIEWER], **WHO)
    assert verifying.verify_plan(roomy).problems == ()


# --- leaving


def test_who_leaves_keeps_their_labels_and_their_open_items_go_to_others(roomy):
    done = {answer_next(roomy, "ada", "similar").item_id for _ in range(3)}
    n_before = {name: len(items_of(roomy, name)) for name in REVIEWERS}
    change = staffing.remove(roomy, "ada", **WHY)
    assert len(items_of(roomy, "ada")) == 3
    assert len(done) == labels.n_labels(roomy) == 3
    assert change.n_moved + change.n_given_up == n_before["ada"] - 3
    assert sum(len(items_of(roomy, name)) - n_before[name] for name in REVIEWERS[1:]) == change.n_moved
    # items for all cannot move to anybody
    n_for_all = sum(reviewer == "ada" for reviewer, _, kind in open_places(roomy, ended=True) if kind == "overlap")
    assert change.n_given_up == n_for_all
    assert len(change.shortfalls) == min(1, n_for_all)
    assert not any(name in repr(change) for name in ("#", *REVIEWERS[1:]))  # it names no item and nobody else


def test_who_left_cannot_sign_in_and_their_window_shows_nothing(planned):
    secret = identity.invite(planned, "ada", Role.REVIEWER, **WHO)
    token = identity.sign_in(planned, secret, now=NOW)
    staffing.remove(planned, "ada", **WHY)
    assert identity.person_of_session(planned, token, now=NOW) is None
    with pytest.raises(NotAllowed, match="longer take part"):
        identity.sign_in(planned, secret, now=NOW)
    with pytest.raises(NotAllowed):
        reviewing.review_queue(planned, id_of(planned, "ada"))


def test_before_the_plan_somebody_is_removed_comes_back_and_is_replaced(study):
    assert staffing.remove(study, "ada", **WHY) == StaffChange()
    assert last_event(study) == ("carol", "remove reviewer", {"name": "ada", "why": "because"})
    assert staffing.resume(study, "ada", **WHO) == StaffChange()
    assert log(study)[-1] == ("carol", "resume reviewer")
    heir, change = staffing.replace(study, "ada", "eve", **WHY)
    assert (heir.name, change) == ("eve", StaffChange(is_new=True))
    assert last_event(study)[2] == {"name": "ada", "successor": "eve", "why": "because"}


def test_a_returning_reviewer_finds_their_labels_and_gets_items_as_a_late_joiner(roomy):
    for _ in range(3):
        answer_next(roomy, "ada", "similar")
    staffing.remove(roomy, "ada", **WHY)
    change = staffing.resume(roomy, "ada", **WHO)
    assert change.n_moved > 0
    assert len(items_of(roomy, "ada")) == 3 + change.n_moved
    assert len(reviewing.own_labels(roomy, id_of(roomy, "ada"))) == 3
    assert log(roomy)[-2:] == [("carol", "resume reviewer"), ("carol", "join")]
    assert verifying.verify_plan(roomy).problems == ()


def test_an_answer_is_exported_as_before_when_its_item_comes_back(roomy):
    answer_next(roomy, "ada", "similar")
    for _ in range(3):
        answer_next(roomy, "ada", "not sure")
    before = labels.table(roomy)
    assert before["position"].tolist() == [0, 1, 2, 3]
    for name in ("ada", "ben", "cleo"):
        staffing.remove(roomy, name, **WHY)
    staffing.resume(roomy, "ada", **WHO)
    assert len(items_of(roomy, "ada") & set(before["item"])) > 1
    assert labels.table(roomy).equals(before)
    positions = [kept.assignment.position for kept in assignments.everything(roomy)
                 if kept.assignment.reviewer == "ada" and not kept.ended]  # fmt: skip
    assert len(set(positions)) == len(positions)
    assert verifying.verify_plan(roomy).problems == ()


def test_who_coordinates_as_well_leaves_the_labelling_but_stays_a_coordinator(roomy):
    give_both_roles(roomy, "ada")
    staffing.remove(roomy, "ada", **WHY)
    person = people.by_name(roomy, "ada")
    assert (person.active, person.paused, items_of(roomy, "ada")) == (True, True, set())
    assert staffing.resume(roomy, "ada", **WHO).n_moved > 0


def test_who_coordinates_as_well_and_was_only_paused_gets_no_items_of_others(roomy):
    give_both_roles(roomy, "ada")
    answer_everything(roomy, {"ada": "similar"})
    staffing.pause(roomy, "ada", **WHY)
    assert staffing.resume(roomy, "ada", **WHO) == StaffChange()


# --- taking over


def test_a_new_successor_takes_over_everything_open(roomy):
    for _ in range(2):
        answer_next(roomy, "ada", "similar")
    before = items_of(roomy, "ada")
    heir, change = staffing.replace(roomy, "ada", "eve", **WHY)
    assert (heir.name, heir.active, change) == ("eve", True, StaffChange(n_moved=len(before) - 2, is_new=True))
    assert items_of(roomy, "ada") | items_of(roomy, "eve") == before
    assert not people.by_name(roomy, "ada").active
    assert log(roomy)[-2:] == [("carol", "add person"), ("carol", "replace reviewer")]
    assert last_event(roomy)[2]["successor"] == "eve"


@pytest.mark.parametrize("also_coordinates", [False, True])
def test_who_left_takes_part_and_labels_again_as_a_successor(roomy, also_coordinates):
    if also_coordinates:
        give_both_roles(roomy, "ben")
    staffing.remove(roomy, "ben", **WHY)
    heir, _ = staffing.replace(roomy, "ada", "ben", **WHY)
    assert (heir.name, people.by_name(roomy, "ben").active) == ("ben", True)
    answer_next(roomy, "ben", "similar")


def test_in_the_third_round_open_third_items_change_hands_and_stay_third_items(roomy):
    answer_everything(roomy, {"ada": "similar", "ben": "similar", "cleo": "similar", "dan": "dissimilar"})
    course.change_state(roomy, Step.THIRD, **WHY)
    name = next(name for name in REVIEWERS if items_of(roomy, name, Kind.THIRD))
    before = items_of(roomy, name, Kind.THIRD)
    _, change = staffing.replace(roomy, name, "eve", **WHY)
    assert items_of(roomy, "eve", Kind.THIRD) == items_of(roomy, "eve") == before
    assert (change.n_moved, items_of(roomy, name, Kind.THIRD)) == (len(before), set())
    assert verifying.verify_plan(roomy).problems == ()


def test_an_answer_on_its_way_is_stored_although_its_item_is_somebody_elses_now(roomy):
    ada = id_of(roomy, "ada")
    give_both_roles(roomy, "ada")  # so that ada can still be told
    task = reviewing.review_queue(roomy, ada).offers[0]
    staffing.replace(roomy, "ada", "eve", **WHY)
    staffing.resume(roomy, "ada", **WHO)
    assert task.code not in [offer.code for offer in reviewing.review_queue(roomy, ada).offers]
    reviewing.submit(roomy, ada, submission(task, "similar"), now=NOW)
    assert [label.answer for label in labels.own_answers(roomy, ada)] == ["similar"]
    assert verifying.verify_plan(roomy).problems == ()


def test_the_report_counts_the_assignments_as_the_plan_became(roomy):
    def assigned():
        return reporting.gathered_study(roomy, reporting.QUICK, **WHO).provenance.plan["assigned"]

    assert assigned() == {"2": 22, "4": 2}
    staffing.remove(roomy, "dan", **WHY)  # nobody takes over the items that all reviewers label
    staffing.add(roomy, "eve", [Role.REVIEWER], **WHO)
    assert assigned() == {"2": 22, "3": 2}
