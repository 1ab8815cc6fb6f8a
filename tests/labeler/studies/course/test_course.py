"""The steps of a study: conditions, effects, and log entries."""

import pandas as pd
import pytest

from labeler.errors import InputError, NotAllowed
from labeler.studies.audit import audit
from labeler.studies.course import calibrating, coordinating, course, staffing
from labeler.studies.handover import exchange
from labeler.studies.items import browsing
from labeler.studies.labelling import reviewing
from labeler.studies.model import CalibrationGate, Kind, PlanParameters, State
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.results import splits
from labeler.studies.store import actions, assignments, events, labels, studies
from tests.making import (
    NOW,
    REVIEWERS,
    WHO,
    answer_everything,
    answer_next,
    id_of,
    item_name,
    last_event,
    log,
    offers,
    submission,
)
from tests.sentences import says

SPLIT = {"ada": "similar", "ben": "similar", "cleo": "similar", "dan": "dissimilar"}
LIVES = (State.OPEN, State.THIRD, State.CLOSED, State.UNBLINDED)


def move(db, *steps, why="because", **more):
    for step in steps:
        moved = course.change_state(db, step, why=why, **more, **WHO)
    return moved


def with_calibration(db):
    assigning.confirm_plan(db, PlanParameters(seed=3, overlap=0.25, retest=0, calibration=2), **WHO)
    return db


def test_a_whole_study_is_in_the_log_with_who_when_and_why(planned):
    answer_everything(planned, SPLIT)
    for step, state in zip((Step.THIRD, Step.CLOSE, Step.UNBLIND), LIVES[1:], strict=True):
        assert course.unblinding(planned) is None
        assert course.change_state(planned, step, why=f" for {step} ", **WHO).state is state
        actor, _, told = last_event(planned)
        assert (actor, told["to"], told["why"]) == ("carol", state, f"for {step}")
        assert studies.get(planned).state is state
    assert log(planned)[-3:] == [
        ("carol", "third round"), ("carol", "close study"), ("carol", "unblind study"),
    ]  # fmt: skip
    assert course.unblinding(planned) == {"at_utc": NOW.isoformat(), "by": "carol", "why": "for unblind"}


def test_a_reason_is_optional_but_not_endless(planned):
    before = log(planned)
    with pytest.raises(InputError, match="1 to 1000 characters"):
        move(planned, Step.CLOSE, why="x" * 1001)
    assert (log(planned), studies.get(planned).state) == (before, State.OPEN)
    move(planned, Step.CLOSE, why=" ")
    assert "why" not in events.of_actions(planned, actions.in_history("steps"))[-1].details
    assert course.unblinding(planned) is None
    move(planned, Step.UNBLIND, why="")
    assert course.unblinding(planned)["why"] == ""


@pytest.mark.parametrize("closed_from", [State.OPEN, State.THIRD])
def test_a_closed_study_is_reopened_where_it_was_closed(planned, closed_from):
    if closed_from is State.THIRD:
        answer_everything(planned, dict.fromkeys(REVIEWERS, "similar"))
        move(planned, Step.THIRD)
    move(planned, Step.CLOSE)
    assert move(planned, Step.REOPEN).state is closed_from
    move(planned, Step.CLOSE)
    move(planned, Step.UNBLIND)
    with pytest.raises(NotAllowed, match="“reopen” is not possible"):
        move(planned, Step.REOPEN)


def test_a_wrong_step_is_refused_and_opening_an_open_study_changes_nothing(planned):
    before = log(planned)
    with pytest.raises(NotAllowed, match="“unblind” is not possible"):
        move(planned, Step.UNBLIND)
    assert move(planned, Step.OPEN) == course.StateChange(State.OPEN, ("The study was already open.",))
    assert (log(planned), studies.get(planned).state) == (before, State.OPEN)


def test_a_draft_without_plan_and_labels_cannot_be_opened_and_one_with_labels_can(study):
    with pytest.raises(NotAllowed, match="nothing to label"):
        move(study, Step.OPEN)
    table = pd.DataFrame([{"item": item_name(1), "reviewer": "ada", "label": "similar"}])
    exchange.import_labels(study, table, **WHO)
    assert move(study, Step.OPEN).state is State.OPEN
    with pytest.raises(NotAllowed, match="no plan yet"):
        move(study, Step.THIRD)
    assert move(study, Step.CLOSE, Step.UNBLIND).state is State.UNBLINDED


# --- a pause


@pytest.mark.parametrize("phase", [State.DRAFT, State.CALIBRATION, *LIVES])
def test_a_pause_ends_where_it_began(planned, phase):
    studies.set_state(planned, phase)
    assert move(planned, Step.PAUSE).state is State.PAUSED
    assert (studies.get(planned).state, studies.get(planned).phase) == (State.PAUSED, phase)
    assert last_event(planned)[2] == {"from": phase, "to": "paused", "why": "because"}
    with pytest.raises(NotAllowed, match="step “pause” is not"):
        move(planned, Step.PAUSE)
    assert move(planned, Step.OPEN).state is phase
    assert studies.get(planned).resumes_to is None


def test_while_paused_nothing_is_labelled_and_nothing_planned(planned):
    move(planned, Step.PAUSE)
    with pytest.raises(NotAllowed, match=r"paused.*Nothing was saved"):
        answer_next(planned, "ada", "similar")
    with pytest.raises(NotAllowed, match="while the study is paused"):
        assigning.confirm_plan(planned, PlanParameters(1, retest=0), **WHO)
    move(planned, Step.OPEN)
    answer_next(planned, "ada", "similar")


# --- the calibration round


def test_a_calibration_round_that_is_not_finished_keeps_the_study_closed_and_names_who_is_missing(study):
    with_calibration(study)
    answer_everything(study, {"ada": "similar", "ben": "similar", "cleo": "similar"})
    with pytest.raises(NotAllowed, match=r"dan.*0 of 2"):
        move(study, Step.OPEN)
    answer_everything(study, {"dan": "similar"})
    move(study, Step.OPEN)
    assert last_event(study)[2]["calibration"] == "passed"


def test_a_calibration_round_below_its_gate_is_opened_only_on_purpose_and_the_log_says_so(study):
    with_calibration(study)
    calibrating.set_gate(study, CalibrationGate("reviewers", 0.9), **WHO)
    answer_everything(study, SPLIT)
    with pytest.raises(NotAllowed, match=r"50 %.*90 %"):
        move(study, Step.OPEN)
    move(study, Step.OPEN, force=True)
    assert says(last_event(study)[2]["calibration"], "not passed:", "50 %", "90 %")


def test_after_an_unfinished_calibration_round_its_items_are_no_longer_labelled_and_a_third_round_follows(study):
    with_calibration(study)
    task = offers(study, "ada")[0]
    move(study, Step.OPEN, force=True)
    codes = {offer.code for offer in assignments.tasks_of(study, id_of(study, "ada"))}
    assert task.code not in codes
    assert answer_next(study, "ada", "similar").code in codes
    answer_everything(study, SPLIT)
    assert move(study, Step.THIRD).state is State.THIRD


# --- the third round


def third(db):
    return [kept.assignment for kept in assignments.everything(db) if kept.assignment.kind is Kind.THIRD]


def test_the_third_round_begins_after_all_first_labels_and_names_who_is_missing(planned):
    answer_everything(planned, {"ada": "similar", "cleo": "dissimilar", "dan": "similar"})
    with pytest.raises(NotAllowed, match="items to label: ben"):
        move(planned, Step.THIRD)
    assert (third(planned), studies.get(planned).state) == ([], State.OPEN)
    answer_everything(planned, {"ben": "similar"})
    move(planned, Step.THIRD)


def test_who_left_is_not_waited_for_and_who_is_paused_is(planned):
    answer_everything(planned, {"ben": "similar", "cleo": "similar", "dan": "dissimilar"})
    staffing.pause(planned, "ada", why="because", **WHO)
    with pytest.raises(NotAllowed, match="items to label: ada"):
        move(planned, Step.THIRD)
    staffing.remove(planned, "ada", why="because", **WHO)
    answer_everything(planned, {"ben": "similar", "cleo": "similar", "dan": "dissimilar"})
    assert move(planned, Step.THIRD).state is State.THIRD


def test_an_excluded_item_is_not_waited_for_and_not_asked_about_again(planned):
    ada = assignments.tasks_of(planned, id_of(planned, "ada"))
    names = {item.item_id: item.name for item in coordinating.list_items(planned)}
    browsing.exclude(planned, names[ada[-1].item_id], "cut off", **WHO)
    answer_everything(planned, SPLIT)
    move(planned, Step.THIRD)
    assert names[ada[-1].item_id] not in {one.item for one in third(planned)}


def test_every_split_item_that_can_be_gets_a_third_label_hidden_among_agreed_ones(planned):
    answer_everything(planned, SPLIT)
    split = {one.item.name for one in splits.split_items(planned)}
    labelled = {(row.reviewer, row.item) for row in labels.table(planned).itertuples()}
    moved = move(planned, Step.THIRD)
    rows = third(planned)
    seen_by_all = {item for item in split if {(name, item) for name in REVIEWERS} <= labelled}
    assert {one.item for one in rows} & split == split - seen_by_all
    assert not {(one.reviewer, one.item) for one in rows} & labelled
    assert says(moved.for_owner[0], f"{len(rows)} items", "third labels")
    assert any(item in " ".join(moved.for_owner) for item in seen_by_all) == bool(seen_by_all)
    assert moved.remarks == ("Third labels were assigned, hidden among agreed items.",)
    _, action, told = last_event(planned)
    assert (action, told["answers"]) == ("third round", labels.n_labels(planned))
    assert told["reviewers"] == list(REVIEWERS)


def test_a_paused_reviewer_gets_no_third_item_and_others_see_it_like_any_other(planned):
    answer_everything(planned, SPLIT)
    staffing.pause(planned, "cleo", why="because", **WHO)
    move(planned, Step.THIRD)
    name, *others = {one.reviewer for one in third(planned)}
    assert "cleo" not in (name, *others)
    desk = reviewing.review_queue(planned, id_of(planned, name))
    assert (desk.closed, bool(desk.offers), "third" in repr(desk).lower()) == ("", True, False)


def test_a_third_round_with_nothing_split_assigns_nothing(planned):
    answer_everything(planned, dict.fromkeys(REVIEWERS, "similar"))
    assert move(planned, Step.THIRD).for_owner == ("No item was assigned for a third label.",)


def test_a_third_round_without_anybody_who_could_label_is_refused(planned):
    answer_everything(planned, SPLIT)
    for name in REVIEWERS:
        staffing.pause(planned, name, why="because", **WHO)
    with pytest.raises(InputError, match="give third"):
        move(planned, Step.THIRD)
    assert studies.get(planned).state is State.OPEN


def test_nobody_is_asked_for_a_third_label_on_an_item_they_gave_a_first_label_on(planned):
    """Ada labels x, then y, undoes both and leaves; her label on x is a first label. Then she comes back."""
    ada = id_of(planned, "ada")
    answer_next(planned, "ada", "dissimilar")
    answer_next(planned, "ada", "similar")
    while last := reviewing.review_queue(planned, ada).last:
        reviewing.submit(planned, ada, submission(last, "withdrawn"), now=NOW)
    staffing.remove(planned, "ada", why="because", **WHO)
    answer_everything(planned, {"ben": "similar", "cleo": "similar", "dan": "similar"})
    staffing.resume(planned, "ada", **WHO)
    move(planned, Step.THIRD)
    first = {(row.reviewer, row.item) for row in labels.table(planned).itertuples()}
    assert not {(one.reviewer, one.item) for one in third(planned)} & first


# --- closing


def test_closing_says_how_many_assigned_items_have_no_label(planned):
    answer_next(planned, "ada", "similar")
    answer_next(planned, "ada", "not sure")
    n_assigned = len(assignments.everything(planned))
    open_items, end_of_chain = move(planned, Step.CLOSE).remarks
    assert says(open_items, f"{n_assigned - 1} planned labels are missing.")
    assert end_of_chain.endswith(audit.head(planned))
    move(planned, Step.REOPEN)
    answer_everything(planned, SPLIT)
    (end_of_chain,) = move(planned, Step.CLOSE).remarks  # nothing is missing
    assert end_of_chain.endswith(audit.head(planned))


@pytest.mark.parametrize("steps", [(Step.CLOSE,), (Step.CLOSE, Step.UNBLIND)])
def test_once_closed_no_answer_is_kept(planned, steps):
    answer_next(planned, "ada", "similar")
    task = reviewing.review_queue(planned, id_of(planned, "ada")).last
    move(planned, *steps)
    with pytest.raises(NotAllowed, match=r"closed for labelling.*Nothing was saved"):
        answer_next(planned, "ben", "similar")
    assert "closed for labelling" in reviewing.review_queue(planned, id_of(planned, "ada")).closed
    assert task is not None
    assert labels.n_labels(planned) == 1
