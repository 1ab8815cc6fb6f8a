"""A study that is planned in parts: the next items, who may see the reason, and which labels count for what."""

from collections import Counter
from datetime import timedelta

import numpy as np
import pytest

from analysis.learning import MEASURE_FEATURES
from labeler.errors import InputError, NotAllowed
from labeler.studies.course import coordinating, course
from labeler.studies.items import browsing, importing
from labeler.studies.model import PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning, verifying
from labeler.studies.results.history import study_course
from labeler.studies.results.learning import material_of_study
from labeler.studies.results.next_items import next_items
from labeler.studies.store import actions, assignments, events, people
from labeler.studies.verdicts import computing
from tests.analysis.report.reports import to_markdown
from tests.making import (
    NOW,
    REVIEWERS,
    WHO,
    answer_everything,
    copy_of,
    import_all,
    new_study,
    report_of,
    result_file,
    series,
)
from tests.sentences import says

N_ITEMS, N_FIRST = 60, 20


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """60 items with verdicts in six applications; 20 random items are planned."""
    path = tmp_path_factory.mktemp("next") / "open.study"
    rng = np.random.default_rng(1)
    with new_study(path, n_items=0) as db:
        for number in range(N_ITEMS):
            level = np.array([1, 1, 1 + rng.uniform(0, 0.3)])[:, None]
            runs = (level * rng.uniform(1, 1.1, (3, 60))).tolist()
            import_all(db, result_file(f"org__app{number % 6}#bench{number}#", runs))
        computing.compute_verdicts(db, actor="carol")
        assigning.confirm_plan(db, PlanParameters(seed=5, overlap=0, retest=0), first=N_FIRST, **WHO)
    return path


@pytest.fixture
def study(master, tmp_path):
    with copy_of(master, tmp_path) as db:
        yield db


def planned_items(db):
    return {row.assignment.item for row in assignments.everything(db)}


def answer_all(db):
    answer_everything(db, dict.fromkeys(REVIEWERS, "similar"))


def test_the_plan_begins_with_a_random_part_that_follows_from_the_seed(study):
    known = assigning.item_batches(study)
    assert len(planned_items(study)) == N_FIRST == known.n_random
    assert planned_items(study) == set(known.order[:N_FIRST])
    assert (len(known.waiting), known.chosen) == (N_ITEMS - N_FIRST, frozenset())
    assert verifying.verify_plan(study).problems == ()


def test_a_batch_has_its_random_share_and_the_rest_where_classifiers_differ(study):
    added = next_items(study, 10, random_share=0.3, **WHO)
    assert (added.n_random, added.n_chosen, added.n_waiting) == (3, 7, 30)
    assert says(added.sentences[1], "No model", "0 items")
    known = assigning.item_batches(study)
    assert known.n_random == N_FIRST + 3
    assert set(known.order[: N_FIRST + 3]) | known.chosen == planned_items(study)
    assert len(known.chosen) == 7
    per_item = dict.fromkeys(planned_items(study), 0)
    for row in assignments.everything(study):
        per_item[row.assignment.item] += 1
    assert set(per_item.values()) == {2}
    event = events.of_actions(study, [actions.NEXT_ITEMS])[0]
    assert (len(event.details["random"]), len(event.details["chosen"])) == (3, 7)
    assert event.details["by_model"] is False


def test_a_chosen_item_that_the_random_order_reaches_needs_no_second_label_and_counts(study):
    next_items(study, 38, random_share=0.05, **WHO)
    before = assigning.item_batches(study)
    n_free = len(set(before.order[: before.n_random + 2]) & before.chosen)
    added = next_items(study, 2, random_share=1.0, **WHO)
    after = assigning.item_batches(study)
    assert after.n_random == before.n_random + 2
    assert len(after.chosen) == len(before.chosen) - n_free + added.n_chosen


def test_items_that_are_imported_into_the_open_study_come_last_and_keep_the_order_of_the_others(study):
    before = assigning.item_batches(study)
    import_all(study, *(result_file(f"org__app9#late{number}#", series(number)) for number in range(5)))
    after = assigning.item_batches(study)
    assert (after.order[:N_ITEMS], after.n_original, after.n_random) == (before.order, N_ITEMS, before.n_random)
    assert len(after.waiting) == len(before.waiting) + 5
    next_items(study, 2, random_share=1.0, **WHO)
    assert planned_items(study) == set(before.order[: N_FIRST + 2])
    assert verifying.verify_plan(study).problems == ()


def test_an_import_that_was_taken_back_and_repeated_waits_once(study):
    before = assigning.item_batches(study)
    for hours in (1, 2):
        when = WHO | {"now": NOW + timedelta(hours=hours)}
        list(importing.import_files(study, [result_file("late", series(90))], **when))
        if hours == 1:
            importing.take_back(study, **when)
    assert assigning.item_batches(study).waiting == (*before.waiting, "late")


def test_a_plan_of_all_items_takes_items_that_are_imported_later_and_the_report_names_them(tmp_path):
    with new_study(tmp_path / "whole.study", n_items=6, plan=PlanParameters(1, per_item=2, overlap=0, retest=0)) as db:
        answer_all(db)
        with pytest.raises(NotAllowed, match="already has every item"):
            next_items(db, 1, random_share=1.0, **WHO)
        import_all(db, *(result_file(f"late{number}", series(90 + number)) for number in range(4)))
        assert not any(late in planned_items(db) for late in ("late0", "late1", "late2", "late3"))
        added = next_items(db, 3, random_share=1.0, **WHO)
        assert (added.n_random, added.n_chosen, added.n_waiting) == (3, 0, 1)
        loads = Counter(row.assignment.reviewer for row in assignments.everything(db))
        assert max(loads.values()) - min(loads.values()) <= 1
        answer_all(db)
        assert verifying.verify_plan(db).problems == ()
        assert assigning.not_counted(db) == set()
        (later,) = study_course(db)["later"]
        assert (later["items"], later["planned"]) == (4, 3)
        assert says(to_markdown(report_of(db)), "Items that were imported after the plan was drawn")


def test_chosen_items_enter_no_agreement_but_are_learnt_from(study):
    next_items(study, 10, **WHO)
    answer_all(study)
    chosen = assigning.chosen_items(study)
    assert assigning.not_counted(study) == chosen
    report = report_of(study)
    assert report["study"]["items"] == N_ITEMS - len(chosen)
    assert report["agreement"]["n_labels"] == 2 * (N_FIRST + 3)
    assert says(report["notes"][0], f"{len(chosen)} items", "not drawn at random")
    selection = report["course"]["selection"]
    assert (selection["n_random"], selection["n_chosen"]) == (N_FIRST + 3, len(chosen))
    how = "because classifiers disagreed on them."  # there were no labels yet, so that no model could choose
    assert says(report["notes"][0], how) and says(to_markdown(report), how)
    assert (selection["n_random_labels"], selection["n_labels"]) == (2 * (N_FIRST + 3), 2 * (N_FIRST + 10))
    assert selection["weighted"]["share"]["value"] == 0
    page = to_markdown(report)
    assert "| The weighted estimates below | 30 random and chosen items with two labels, weighted | 60 |" in page
    assert "Weighted estimates that represent all 60 items of the study." in page
    material = material_of_study(study, **WHO)
    assert chosen <= set(material.features.index)
    assert (material.answers["kind"] == "fresh").all()


def test_an_excluded_item_is_excluded_even_if_it_was_chosen(study):
    next_items(study, 10, **WHO)
    answer_all(study)
    chosen = assigning.chosen_items(study)
    gone = min(chosen)
    browsing.exclude(study, gone, why="broken", **WHO)
    roles = assigning.item_roles(study)
    assert Counter(roles.values()) == {"counted": N_ITEMS - len(chosen), "chosen": len(chosen) - 1, "excluded": 1}
    assert roles[gone] == "excluded"
    material = material_of_study(study, **WHO)
    assert gone not in material.features.index
    assert set(material.answers.loc[material.answers["item"] == gone, "kind"]) == {"excluded"}


def test_reviewers_cannot_tell_why_an_item_came(study):
    next_items(study, 10, **WHO)
    known = assigning.item_batches(study)
    added = [row for row in assignments.everything(study) if row.assignment.position is not None]
    new = [row.assignment for row in added if row.assignment.item in known.batches[-1][0] + known.batches[-1][1]]
    assert {assignment.kind for assignment in new} == {"fresh"}
    assert len({assignment.block for assignment in new}) == 1
    # a key that depends on neither mixes chosen and random items in each reviewer's queue
    order = [a.item in known.chosen for a in sorted(new, key=lambda a: (a.reviewer, a.position))]
    assert order != sorted(order)
    assert order != sorted(order, reverse=True)


def test_an_item_that_is_excluded_and_included_again_does_not_break_the_plan(study):
    waiting = assigning.item_batches(study).waiting[0]
    browsing.exclude(study, waiting, why="broken", **WHO)
    next_items(study, 10, **WHO)
    browsing.include(study, waiting, why="repaired", **WHO)
    assert verifying.verify_plan(study).problems == ()
    next_items(study, 10, **WHO)
    assert waiting in assigning.item_batches(study).planned - assigning.item_batches(study).chosen
    assert verifying.verify_plan(study).problems == ()


@pytest.mark.parametrize("place", [0, N_FIRST + 1])
def test_an_item_that_was_excluded_before_the_plan_and_included_later_does_not_break_the_plan(study, place):
    gone = assigning.item_batches(study).order[place]
    browsing.exclude(study, gone, why="broken", **WHO)
    assigning.confirm_plan(study, PlanParameters(seed=5, overlap=0, retest=0), first=N_FIRST, **WHO)
    browsing.include(study, gone, why="repaired", **WHO)
    assert verifying.verify_plan(study).problems == ()
    next_items(study, 10, **WHO)
    planned = planned_items(study)
    browsing.exclude(study, sorted(planned)[0], why="broken", **WHO)
    assert verifying.verify_plan(study).problems == ()


def test_a_plan_that_does_not_follow_the_random_order_is_named(study):
    with study.atomic():
        event = events.of_actions(study, [actions.DRAW_PLAN])[0]
        other = assigning.item_batches(study).waiting[0]
        details = {**event.details, "items": [other, *event.details["items"][1:]]}
        events.Deed(study, "mallory", NOW).log(actions.DRAW_PLAN, **details)
    problems = verifying.verify_plan(study).problems
    assert (
        problems[0]
        == f"the plan does not begin with the first {N_FIRST} items of the random order that its seed determines"
    )


def test_excluded_items_are_not_added(study):
    gone = assigning.item_batches(study).waiting[0]
    browsing.exclude(study, gone, why="broken", **WHO)
    next_items(study, 100, **WHO)
    assert gone not in planned_items(study)
    assert len(planned_items(study)) == N_ITEMS - 1


def test_what_cannot_be_asked_for_is_refused(study, planned):
    with pytest.raises(InputError, match=r"2 to 60.*not 61"):
        assigning.preview_plan(study, PlanParameters(seed=1), 61)
    with pytest.raises(NotAllowed, match="plan already"):
        next_items(planned, 4, **WHO)
    with pytest.raises(InputError, match="4 and 0"):
        next_items(study, 4, random_share=0, **WHO)
    answer_all(study)
    course.change_state(study, Step.CLOSE, why="done", **WHO)
    with pytest.raises(NotAllowed):
        next_items(study, 4, **WHO)


def test_a_reviewer_who_joins_before_a_batch_gets_items_of_it(study):
    identity.add_person(study, "eve", [Role.REVIEWER], **WHO)
    assert people.by_name(study, "eve") is not None
    next_items(study, 20, **WHO)
    loads = coordinating.status(study).json_values()["reviewers"]
    assert len(loads) == 5
    assert any(row.assignment.reviewer == "eve" for row in assignments.everything(study))
    assert verifying.verify_plan(study).problems == ()


def test_what_to_label_next_needs_the_measures_only_and_reads_no_run(study):
    features = material_of_study(study, with_shapes=False, **WHO).features
    assert features[list(MEASURE_FEATURES)].notna().any().any()
    assert features.drop(columns=list(MEASURE_FEATURES)).isna().all().all()
    assert material_of_study(study, **WHO).features.notna().all(axis=1).any()
