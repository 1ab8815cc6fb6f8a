"""Two people act at once: the actions happen one after another, and nothing is done twice or in part."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from labeler.errors import LabelerError, NotAllowed
from labeler.studies.course import course, staffing
from labeler.studies.items import browsing
from labeler.studies.labelling import reviewing
from labeler.studies.model import Kind, NewLabel, PlanParameters, Role, State
from labeler.studies.people import identity
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning, verifying
from labeler.studies.results import splits
from labeler.studies.store import assignments, decisions, labels, open_database, studies
from tests.making import NOW, REVIEWERS, WHO, answer_everything, id_of, item_name, log, offers
from tests.sentences import says

SPLIT = {"ada": "similar", "ben": "similar", "cleo": "similar", "dan": "dissimilar"}
TWO = ("carol", "chris")


@pytest.fixture
def shared(planned):
    """A planned study with two coordinators."""
    identity.add_person(planned, "chris", [Role.COORDINATOR], **WHO)
    return planned


def at_once(db, *actions):
    """Run each action in a thread with its own connection; returns the results, or the errors for people."""
    barrier = threading.Barrier(len(actions))

    def act(action):
        with open_database(db.path) as own:
            barrier.wait(60)
            try:
                return action(own)
            except LabelerError as error:
                return error

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(act, actions))


def by_both(db, action):
    """Return the same action by both coordinators; (succeeded, refused)."""
    found = at_once(db, *(lambda own, actor=actor: action(own, {"actor": actor, "now": NOW}) for actor in TWO))
    refused = [outcome for outcome in found if isinstance(outcome, LabelerError)]
    return [outcome for outcome in found if outcome not in refused], refused


def times(db, action):
    return Counter(what for _, what in log(db))[action]


def test_of_two_who_start_the_third_round_one_does_and_its_items_are_assigned_once(shared):
    answer_everything(shared, SPLIT)
    (done,), (refused,) = by_both(shared, lambda db, who: course.change_state(db, Step.THIRD, why="split", **who))
    assert done.state is State.THIRD
    assert isinstance(refused, NotAllowed)
    assert says(str(refused), "third-label round", "“third” is not possible")
    assert str(refused).endswith("close, pause.")
    assert times(shared, "third round") == 1
    rows = [kept.assignment for kept in assignments.everything(shared) if kept.assignment.kind is Kind.THIRD]
    assert f"{len(rows)} items" in done.for_owner[0]
    assert verifying.verify_plan(shared).problems == ()


REFUSED = [
    (lambda db, who: staffing.remove(db, "ada", why="left", **who), "remove reviewer", "ada no longer takes part."),
    (lambda db, who: staffing.add(db, "eve", [Role.REVIEWER], **who), "join", "called eve"),
    (
        lambda db, who: staffing.replace(db, "ada", f"for {who['actor']}", why="left", **who),
        "replace reviewer", "ada no longer takes part.",
    ),
    (lambda db, who: browsing.exclude(db, item_name(1), "noisy", **who), "exclude item", "excluded. Reason: noisy"),
    (lambda db, who: course.change_state(db, Step.CLOSE, why="", **who), "close study", ""),
    (lambda db, who: course.change_state(db, Step.PAUSE, why="", **who), "pause study", ""),
]  # fmt: skip


@pytest.mark.parametrize(("action", "logged", "reason"), REFUSED, ids=[logged for _, logged, _ in REFUSED])
def test_of_two_who_do_the_same_one_does_and_the_other_is_told(shared, action, logged, reason):
    (_,), (refused,) = by_both(shared, action)
    assert reason in str(refused)
    assert (times(shared, logged), verifying.verify_plan(shared).problems) == (1, ())


def test_two_who_remove_different_reviewers_both_do_and_no_item_falls_between(shared):
    found = at_once(
        shared,
        lambda db: staffing.remove(db, "ada", why="left", **WHO),
        lambda db: staffing.remove(db, "ben", why="left", actor="chris", now=NOW),
    )
    assert not any(isinstance(outcome, LabelerError) for outcome in found)
    standing = [kept.assignment for kept in assignments.everything(shared) if not kept.ended]
    assert {one.reviewer for one in standing} == {"cleo", "dan"}
    on = Counter(one.item for one in standing)
    assert set(on.values()) == {2}
    assert len(on) == 8
    assert verifying.verify_plan(shared).problems == ()


def test_two_decisions_on_one_item_are_both_kept_and_the_later_stands(shared):
    answer_everything(shared, SPLIT)
    course.change_state(shared, Step.CLOSE, why="done", **WHO)
    name = splits.split_items(shared)[0].item.name
    found = at_once(
        shared,
        lambda db: splits.adjudicate(db, name, "similar", "one", **WHO),
        lambda db: splits.adjudicate(db, name, "dissimilar", "two", actor="chris", now=NOW),
    )
    assert not any(isinstance(outcome, LabelerError) for outcome in found)
    kept = decisions.everything(shared)
    assert {one.decided_by for one in kept} == set(TWO)
    (split,) = [one for one in splits.split_items(shared) if one.item.name == name]
    assert split.decision == kept[-1]
    assert times(shared, "adjudicate") == 2


def test_of_two_plans_the_later_stands_whole(study):
    identity.add_person(study, "chris", [Role.COORDINATOR], **WHO)
    found = at_once(
        study,
        lambda db: assigning.confirm_plan(db, PlanParameters(1, retest=0), **WHO),
        lambda db: assigning.confirm_plan(db, PlanParameters(2, retest=0), actor="chris", now=NOW),
    )
    hashes = [plan.hash for plan in found]
    assert len(set(hashes)) == 2
    found = verifying.verify_plan(study)
    assert (found.problems, times(study, "draw plan")) == ((), 2)
    assert found.hash_drawn in hashes
    assert studies.get(study).state is State.OPEN


def test_a_plan_is_not_drawn_over_an_answer_that_comes_at_the_same_time(shared):
    """Either the answer is saved and the plan stays, or the plan is new and the answer is refused with a message."""
    ada = id_of(shared, "ada")
    task = reviewing.review_queue(shared, ada).offers[0]
    sent = NewLabel("one", task.code, task.revision, "similar", 900)
    plan, answer = at_once(
        shared,
        lambda db: assigning.confirm_plan(db, PlanParameters(9, retest=0), actor="chris", now=NOW),
        lambda db: reviewing.submit(db, ada, sent, now=NOW),
    )
    assert isinstance(plan, NotAllowed) == (not isinstance(answer, LabelerError))
    assert labels.n_labels(shared) == (not isinstance(answer, LabelerError))
    assert verifying.verify_plan(shared).problems == ()


@pytest.mark.parametrize("step", [Step.CLOSE, Step.PAUSE])
def test_what_reviewers_send_while_somebody_closes_is_kept_before_the_end_or_refused(shared, step):
    """Every accepted answer is saved, every refused answer is not, and none was saved after the study was closed."""

    def label_on(name):
        def act(db):
            said = {}
            for number in range(5):
                waiting = offers(db, name)
                if not waiting:
                    break
                sent = NewLabel(f"{name} {number}", waiting[0].code, waiting[0].revision, "similar", 900)
                try:
                    reviewing.submit(db, id_of(db, name), sent, now=NOW)
                    said[sent.event_id] = True
                except NotAllowed:
                    said[sent.event_id] = False
            return said

        return act

    def stop(db):
        course.change_state(db, step, why="now", **WHO)
        return labels.n_labels(db)

    *said, n_at_the_end = at_once(shared, *map(label_on, REVIEWERS), stop)
    outcomes = {event: kept for one in said for event, kept in one.items()}
    assert set(labels.table(shared)["event_id"]) == {event for event, kept in outcomes.items() if kept}
    assert labels.n_labels(shared) == n_at_the_end


def test_what_a_reviewer_sends_while_they_are_removed_is_kept_or_refused_but_not_both(shared):
    ada = id_of(shared, "ada")
    task = reviewing.review_queue(shared, ada).offers[0]
    sent = NewLabel("last", task.code, task.revision, "similar", 900)
    removed, answer = at_once(
        shared,
        lambda db: staffing.remove(db, "ada", why="left", **WHO),
        lambda db: reviewing.submit(db, ada, sent, now=NOW),
    )
    assert not isinstance(removed, LabelerError)
    assert labels.n_labels(shared) == (not isinstance(answer, LabelerError))
    stands = [
        kept.assignment.item for kept in assignments.everything(shared)
        if kept.assignment.reviewer == "ada" and not kept.ended
    ]  # fmt: skip
    assert len(stands) == labels.n_labels(shared)
    assert verifying.verify_plan(shared).problems == ()
