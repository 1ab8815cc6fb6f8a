"""An item is excluded with a reason, kept, and can be included again."""

from dataclasses import replace

import pytest

from labeler.errors import InputError, NotAllowed, NotAssigned
from labeler.studies.course import coordinating
from labeler.studies.items import browsing
from labeler.studies.labelling import reviewing
from labeler.studies.model import PlanParameters, State
from labeler.studies.preparing import assigning, verifying
from labeler.studies.results import reporting, splits
from labeler.studies.store import actions, events, items, labels, studies
from tests.making import (
    NOW,
    REVIEWERS,
    WHO,
    answer_everything,
    answer_next,
    end_study,
    id_of,
    item_name,
    log,
    offers,
    report_of,
    submission,
    submit,
)

WHY = {"why": "because", **WHO}


def name_of(db, task):
    return next(item.name for item in coordinating.list_items(db) if item.item_id == task.item_id)


def names_to_do(db, reviewer):
    return [name_of(db, task) for task in offers(db, reviewer)]


def test_an_excluded_item_is_kept_with_the_reason_and_who_left_it_out(study):
    browsing.exclude(study, item_name(1), "  one run was cut off ", **WHO)
    item = items.by_name(study, item_name(1))
    assert (item.excluded_why, item.n_runs) == ("one run was cut off", 3)
    told = events.of_actions(study, [actions.EXCLUDE_ITEM])[-1]
    assert (told.actor, told.details) == ("carol", {"item": item_name(1), "why": "one run was cut off"})
    browsing.include(study, item_name(1), "it was whole", **WHO)
    assert items.by_name(study, item_name(1)).excluded_why is None
    told = events.of_actions(study, [actions.INCLUDE_ITEM])[-1]
    assert (told.actor, told.details) == ("carol", {"item": item_name(1), "why": "it was whole"})


def test_nobody_is_asked_about_an_excluded_item_until_it_is_back_in(planned):
    task, *ahead = offers(planned, "ada")
    n_assigned = reviewing.review_queue(planned, id_of(planned, "ada")).progress.n_assigned
    browsing.exclude(planned, name_of(planned, task), **WHY)
    desk = reviewing.review_queue(planned, id_of(planned, "ada"))
    assert (desk.offers[0], desk.progress.n_assigned) == (ahead[0], n_assigned - 1)
    browsing.include(planned, name_of(planned, task), **WHY)
    assert offers(planned, "ada") == [task, *ahead]


def test_an_answer_to_an_item_that_was_excluded_meanwhile_is_refused_in_words(planned):
    ada = id_of(planned, "ada")
    task = reviewing.review_queue(planned, ada).offers[0]
    browsing.exclude(planned, name_of(planned, task), **WHY)
    with pytest.raises(NotAssigned, match="cannot label"):
        reviewing.submit(planned, ada, submission(task, "similar"), now=NOW)
    assert labels.n_labels(planned) == 0


def test_an_own_label_of_an_excluded_item_is_neither_listed_nor_revised_nor_taken_back(planned):
    ada = id_of(planned, "ada")
    task = answer_next(planned, "ada", "similar")
    browsing.exclude(planned, name_of(planned, task), **WHY)
    assert reviewing.own_labels(planned, ada) == []
    assert reviewing.review_queue(planned, ada).last is None
    revised = replace(task, revision=1)
    with pytest.raises(NotAssigned):
        reviewing.submit(planned, ada, submission(revised, "dissimilar"), now=NOW)
    with pytest.raises(NotAssigned):
        reviewing.task_by_code(planned, ada, task.code)
    browsing.include(planned, name_of(planned, task), **WHY)
    assert len(reviewing.own_labels(planned, ada)) == 1


def test_labels_of_an_excluded_item_are_kept_and_enter_no_number(planned):
    """Of two items seen by all, one is split: without it, everything is agreed."""
    answer_everything(planned, dict.fromkeys(("ada", "ben", "cleo"), "similar"))
    odd = answer_next(planned, "dan", "dissimilar")
    answer_everything(planned, {"dan": "similar"})
    before, n_labels = report_of(planned), labels.n_labels(planned)
    browsing.exclude(planned, name_of(planned, odd), **WHY)
    after = report_of(planned)
    assert before["agreement"]["coefficients"]["percent_agreement"]["value"] < 1
    assert after["agreement"]["coefficients"]["percent_agreement"]["value"] == 1
    n_on_it = int((labels.table(planned)["item"] == name_of(planned, odd)).sum())
    assert before["agreement"]["n_labels"] - after["agreement"]["n_labels"] == n_on_it
    assert (before["consensus"]["split"], after["consensus"]["split"]) == (1, 0)
    assert (after["study"]["items"], after["study"]["excluded_items"]) == (7, 1)
    assert labels.n_labels(planned) == n_labels
    browsing.include(planned, name_of(planned, odd), **WHY)
    assert splits.current_agreement(planned).percent.value < 1


def test_an_excluded_item_does_not_change_which_labels_of_other_items_were_first(planned):
    """Ada labels x similar, answers y, and revises x to dissimilar: the first label of x stays when y is excluded."""
    x, y = answer_next(planned, "ada", "similar"), answer_next(planned, "ada", "similar")
    revised = replace(x, revision=1)
    submit(planned, "ada", revised, "dissimilar")
    answer_everything(planned, dict.fromkeys(REVIEWERS, "similar"))
    assert splits.current_agreement(planned).percent.value == 1
    browsing.exclude(planned, name_of(planned, y), **WHY)
    assert not splits.split_items(planned)
    assert report_of(planned)["agreement"]["coefficients"]["percent_agreement"]["value"] == 1


def test_the_report_lists_what_was_left_out_with_the_reason(planned):
    browsing.exclude(planned, item_name(2), "one run was cut off", **WHO)
    files = reporting.files_of_study(planned, reporting.QUICK, actor="owner", now=NOW)
    for name in ("report.html", "report.md"):
        assert "one run was cut off" in files[name]
    assert item_name(2) not in files["labels.csv"]


def test_an_item_excluded_before_the_plan_is_not_in_it(study):
    browsing.exclude(study, item_name(2), **WHY)
    plan = assigning.confirm_plan(study, PlanParameters(1, retest=0), **WHO)
    assert item_name(2) not in {one.item for one in plan.assignments}
    browsing.include(study, item_name(2), **WHY)
    assert all(item_name(2) not in names_to_do(study, name) for name in REVIEWERS)
    assert verifying.verify_plan(study).problems == ()


@pytest.mark.parametrize("state", [state for state in State if state is not State.UNBLINDED])
def test_an_item_is_left_out_and_taken_back_in_until_the_study_is_unblinded(planned, state):
    studies.set_state(planned, state, State.OPEN if state is State.PAUSED else None)
    browsing.exclude(planned, item_name(1), **WHY)
    browsing.include(planned, item_name(1), **WHY)
    assert log(planned)[-2:] == [("carol", "exclude item"), ("carol", "include item")]


def test_after_unblinding_nothing_is_left_out_or_taken_back_in(planned):
    browsing.exclude(planned, item_name(1), **WHY)
    end_study(planned)
    before = log(planned)
    for change, number in ((browsing.exclude, 2), (browsing.include, 1)):
        with pytest.raises(NotAllowed, match="exclude or include"):
            change(planned, item_name(number), **WHY)
    assert log(planned) == before


@pytest.mark.parametrize(
    ("change", "number", "why", "error", "message"),
    [
        (browsing.exclude, 99, "because", InputError, "no item 'example__app1#bench_99#size=99' in this study"),
        (browsing.include, 99, "because", InputError, "There is no item"),
        (browsing.exclude, 1, "because", NotAllowed, "already excluded. Reason: cut off"),
        (browsing.include, 2, "because", NotAllowed, "is not excluded"),
        (browsing.exclude, 2, "  ", InputError, "reason.*1.*1000"),
        (browsing.include, 1, "x" * 1001, InputError, "reason.*1.*1000"),
    ],
)
def test_what_makes_no_sense_is_refused_and_leaves_no_trace(study, change, number, why, error, message):
    browsing.exclude(study, item_name(1), "cut off", **WHO)
    before = (log(study), items.all_items(study))
    with pytest.raises(error, match=message):
        change(study, item_name(number), why, **WHO)
    assert (log(study), items.all_items(study)) == before
