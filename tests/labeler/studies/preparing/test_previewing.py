"""The preview of a plan before it is confirmed."""

import json
from dataclasses import replace

import pytest

from labeler.errors import InputError
from labeler.studies.course import course, staffing
from labeler.studies.items import browsing
from labeler.studies.model import PlanParameters
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning, planning, previewing
from labeler.studies.preparing.planning import Assumptions
from tests.making import PARAMETERS, REVIEWERS, WHO, answer_next, item_name, log, new_study

PLAIN = PlanParameters(1, overlap=0, retest=0)


def loads(rows):
    """Reviewer to the other columns."""
    return {row["reviewer"]: {name: n for name, n in row.items() if name != "reviewer"} for row in rows}


def what(preview):
    return {row["what"]: (row["expected"], row["half-width"]) for row in preview.expectations}


def test_loads_and_hours_worked_by_hand(study):
    # 8 items in 2 applications: 1 of each 4 is seen by all, the other 6 by one of the 6 pairs each; 5 x 720 s = 1 h
    found = previewing.preview(study, PARAMETERS, Assumptions(seconds=720))
    row = {"fresh": 3, "overlap": 2, "in all": 5, "hours": 1.0}
    assert found.rows_of_loads() == [{"reviewer": name, **row} for name in REVIEWERS]


def test_the_preview_is_the_plan_that_is_confirmed_and_changes_nothing(study):
    before = log(study)
    found = previewing.preview(study, PARAMETERS)
    assert log(study) == before
    plan = assigning.confirm_plan(study, PARAMETERS, **WHO)
    assert (found.plan, found.hash, found.shortfalls) == (plan, plan.hash, plan.shortfalls)
    plain = json.loads(json.dumps(found.json_values()))
    assert (plain["hash"], plain["loads"]) == (found.hash, found.rows_of_loads())
    assert (plain["expected"], plain["warnings"]) == (list(found.expectations), list(found.warnings))
    assert plain["remarks"] == list(found.remarks)


def test_expectations_are_those_of_the_design_as_drawn_and_calibration_items_are_only_load(study):
    found = previewing.preview(study, PARAMETERS)
    rows, _ = planning.expected_of(planning.design(8, 4, 2, 0.25, 0, 2), Assumptions())
    assert list(found.expectations) == rows[3:]
    of_loads = {"labels per reviewer", "hidden retests per reviewer", "hours per reviewer"}
    assert {row["what"] for row in rows[:3]} == of_loads
    found = previewing.preview(study, replace(PLAIN, calibration=2), Assumptions(seconds=720))
    assert loads(found.rows_of_loads())["ada"] == {"fresh": 3, "calibration": 2, "in all": 5, "hours": 1.0}
    rows, _ = planning.expected_of(planning.design(6, 4, 2, 0, 0, 2), Assumptions())
    assert list(found.expectations) == rows[3:]


def test_copies_that_cannot_be_met_are_remarked_and_not_expected(study):
    found = previewing.preview(study, replace(PARAMETERS, retest=20))
    assert found.remarks[1].startswith("The plan does not meet a requirement: ")
    named = [name for remark in found.remarks[1:] for name in remark.split(": ")[1].split(", ")]
    assert sorted(named) == sorted(REVIEWERS)
    assert len(found.remarks[1:]) == len({remark.split(": ")[2] for remark in found.remarks[1:]})  # each thing once
    assert what(found)["self-agreement"] == (None, None)
    assert any(warning.endswith(" (no retest items).") for warning in found.warnings)


def test_reviewers_joined_by_shared_items_are_connected(study):
    found = previewing.preview(study, PLAIN)
    assert (found.groups, found.is_connected) == ((REVIEWERS,), True)
    assert found.remarks == ("Shared items connect all reviewers, directly or through other reviewers.",)
    assert not [warning for warning in found.warnings if "share no item" in warning]


@pytest.fixture
def tiny(study_path):
    """Two items for four reviewers."""
    with new_study(study_path, n_items=2) as db:
        yield db


def test_reviewers_not_joined_are_named_in_their_groups(tiny):
    found = previewing.preview(tiny, PLAIN)
    assert not found.is_connected
    assert sorted(map(len, found.groups)) == [2, 2]
    groups = " | ".join(", ".join(group) for group in found.groups)
    assert found.warnings[0] == (
        "This plan cannot estimate: comparison of reviewers who share no items, directly or through other reviewers: "
        f"{groups}."
    )
    assert found.remarks == ("Reviewers form 2 groups. No item is shared between two groups.",)


def test_who_gets_nothing_stands_there_with_nothing(tiny):
    browsing.exclude(tiny, item_name(0), "broken", **WHO)
    found = previewing.preview(tiny, PLAIN)
    assert sorted(row["in all"] for row in found.rows_of_loads()) == [0, 0, 1, 1]
    assert len(found.groups) == 3


@pytest.mark.parametrize(
    ("parameters", "is_told"),
    [(PLAIN, False), (PARAMETERS, True), (replace(PLAIN, per_item=3), True), (replace(PLAIN, paper=True), False)],
)
def test_error_rates_are_told_where_three_label_the_same_item(study, parameters, is_told):
    found = previewing.preview(study, parameters)
    of_rates = [warning for warning in found.warnings if "reviewers' error rates, because" in warning]
    assert (of_rates == []) is is_told


def test_without_measurements_there_is_nothing_to_preview(db):
    with pytest.raises(InputError, match="Import measurements first"):
        previewing.preview(db, PLAIN)


def test_the_loads_that_stand_are_those_of_the_preview_until_something_changes(study):
    found = previewing.preview(study, PARAMETERS).rows_of_loads()
    assert {row["in all"] for row in previewing.current_loads(study)} == {0}
    assigning.confirm_plan(study, PARAMETERS, **WHO)
    assert previewing.current_loads(study) == [{k: n for k, n in row.items() if k != "hours"} for row in found]


def test_the_loads_that_stand_follow_who_leaves_and_what_is_excluded(planned):
    staffing.remove(planned, "dan", why="left", **WHO)
    # dan's 3 items shared with one other move to the other two; the 2 that all label need no replacement
    now = loads(previewing.current_loads(planned))
    assert now.keys() == {"ada", "ben", "cleo"}
    assert sum(row["fresh"] for row in now.values()) == 12
    browsing.exclude(planned, item_name(0), "broken", **WHO)
    assert sum(row["in all"] for row in loads(previewing.current_loads(planned)).values()) < sum(
        row["in all"] for row in now.values()
    )


def test_a_plan_can_be_drawn_until_somebody_answers_and_not_while_paused_or_once_closed(planned):
    assert previewing.why_fixed(planned) == ""
    course.change_state(planned, Step.PAUSE, why="test", **WHO)
    assert "paused" in previewing.why_fixed(planned)
    course.change_state(planned, Step.OPEN, why="test", **WHO)
    course.change_state(planned, Step.CLOSE, why="test", **WHO)
    assert "It is closed now" in previewing.why_fixed(planned)
    course.change_state(planned, Step.REOPEN, why="test", **WHO)
    answer_next(planned, "ada", "not sure")
    assert "because reviewers have answered. You can still change" in previewing.why_fixed(planned)
    course.change_state(planned, Step.CLOSE, why="test", **WHO)
    assert previewing.why_fixed(planned).endswith("because reviewers have answered.")
