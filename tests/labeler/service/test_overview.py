"""The state of a study, its next step, and its phases over time."""

from datetime import timedelta

import pytest

from labeler.model import Category, PlanParameters, Role, State
from labeler.plan.lifecycle import Step
from labeler.service import overview
from labeler.service.people import identity
from labeler.service.plan import assigning
from labeler.service.results import splits
from labeler.service.study import course
from labeler.service.verdicts import computing
from labeler.store import open_database
from tests.labeler.conftest import NOW, PARAMETERS, REVIEWERS, answer_everything, answer_next, make_study

SPLIT = {"ada": "dissimilar"} | dict.fromkeys(REVIEWERS[1:], "similar")


def next_of(db, person="carol"):
    following = overview.overview(db, person).next
    return following.page or following.step


def move(db, step, now=NOW):
    course.change_state(db, step, why="because", actor="carol", now=now)


def decide_all(db):
    for split in splits.split_items(db):
        splits.adjudicate(db, split.item.name, Category.SIMILAR, "seen", actor="carol", now=NOW)


def test_the_next_step_leads_from_nothing_to_the_report(db, study_path):
    assert (next_of(db), [entry.done for entry in overview.overview(db, "carol").checklist]) == ("Data", [False] * 6)
    make_study(study_path, reviewers=())
    with open_database(study_path) as made:
        assert next_of(made) == "People"
        for name in REVIEWERS:
            identity.add_person(made, name, [Role.REVIEWER], actor="carol", now=NOW)
        assert next_of(made) == "Plan"
        assigning.confirm_plan(made, PARAMETERS, actor="carol", now=NOW)
        assert next_of(made) == "Progress"
        answer_everything(made, SPLIT)
        assert next_of(made) is Step.THIRD
        move(made, Step.CLOSE)
        assert next_of(made) == "Splits"
        decide_all(made)
        assert next_of(made) == "Verdicts"
        computing.compute_verdicts(made, actor="carol")
        assert next_of(made) is Step.UNBLIND
        move(made, Step.UNBLIND)
        assert next_of(made) == "Report"
        assert [entry.done for entry in overview.overview(made, "carol").checklist] == [True] * 6


def test_a_calibration_round_comes_before_the_study_and_leads_to_its_result_if_it_is_not_passed(study):
    assigning.confirm_plan(study, PlanParameters(seed=1, overlap=0.25, retest=0, calibration=2), actor="c", now=NOW)
    assert next_of(study) == "Progress"
    assert overview.overview(study, "carol").standing == "The calibration round is running: 0 of 8 labels given."
    answer_everything(study, dict.fromkeys(REVIEWERS, "similar"))
    assert next_of(study) is Step.OPEN


def test_an_answer_not_sure_that_is_put_again_is_still_to_be_waited_for(planned):
    answer_everything(planned, dict.fromkeys(REVIEWERS[1:], "similar"))
    for _ in range(4):
        answer_next(planned, "ada", "similar")
    answer_next(planned, "ada", "not sure")
    assert next_of(planned) == "Progress"
    answer_next(planned, "ada", "not sure")
    assert next_of(planned) is Step.THIRD


def test_a_paused_study_is_resumed_next_and_nothing_else_is_offered(planned):
    move(planned, Step.PAUSE)
    now = overview.overview(planned, "carol")
    assert (now.next.words, now.others) == ("Resume the study", ())


def test_who_labels_too_is_not_told_how_many_items_are_split(planned):
    identity.add_person(planned, "dora", [Role.REVIEWER, Role.COORDINATOR], actor="carol", now=NOW)
    answer_everything(planned, SPLIT)
    move(planned, Step.CLOSE)
    assert "split" in overview.overview(planned, "carol").next.words
    assert "split" not in overview.overview(planned, "dora").next.words


def test_phases_follow_each_other_from_the_log_and_the_last_one_is_cut_short(planned):
    move(planned, Step.PAUSE, NOW + timedelta(days=1))
    move(planned, Step.OPEN, NOW + timedelta(days=2))
    move(planned, Step.CLOSE, NOW + timedelta(days=10))
    found = overview.phases(planned, now=NOW + timedelta(days=500))
    assert [phase.state for phase in found] == [State.DRAFT, State.OPEN, State.PAUSED, State.OPEN, State.CLOSED]
    assert [phase.begin for phase in found[1:]] == [phase.end for phase in found[:-1]]
    assert found[-1].end - found[-1].begin == timedelta(days=1.5)


@pytest.mark.parametrize(("apart", "expected"), [(timedelta(hours=2), [2, 1]), (timedelta(days=4), [2, 1])])
def test_labels_are_counted_by_hour_or_in_a_long_study_by_day(planned, apart, expected):
    answer_next(planned, "ada", "similar", now=NOW)
    answer_next(planned, "ben", "similar", now=NOW + timedelta(minutes=5))
    answer_next(planned, "cleo", "similar", now=NOW + apart)
    answer_next(planned, "dan", "not sure", now=NOW + apart)
    counts = overview.labels_over_time(planned)
    assert [n for _, n in counts] == expected
    assert counts[0][0].hour == (12 if apart < timedelta(days=1) else 0)
