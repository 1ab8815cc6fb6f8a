"""A reviewer's own result: open only after unblinding and if allowed, and without names."""

import pytest

from labeler.errors import InputError, NotAllowed
from labeler.studies.labelling import own_result
from labeler.studies.model import State
from labeler.studies.store import studies
from tests.labeler.commands import run
from tests.making import REVIEWERS, WHO, answer_everything, id_of, log


def unblind(db):
    studies.set_state(db, State.UNBLINDED)


@pytest.mark.parametrize(
    ("state", "is_allowed", "is_open"),
    [
        (State.OPEN, False, False), (State.OPEN, True, False), (State.CLOSED, True, False),
        (State.UNBLINDED, False, False), (State.UNBLINDED, True, True),
    ],
)  # fmt: skip
def test_the_result_is_open_only_once_the_study_is_unblinded_and_if_allowed(planned, state, is_allowed, is_open):
    answer_everything(planned, dict.fromkeys(REVIEWERS, "similar"))
    own_result.allow(planned, "ada", is_allowed, **WHO)
    studies.set_state(planned, state)
    assert own_result.is_open(planned, id_of(planned, "ada")) == is_open
    assert not own_result.is_open(planned, id_of(planned, "ben"))
    if is_open:
        assert own_result.own_result(planned, id_of(planned, "ada")).items
    else:
        with pytest.raises(NotAllowed):
            own_result.own_result(planned, id_of(planned, "ada"))


def test_permission_can_be_withdrawn_and_each_change_is_logged_once(planned):
    for allowed in (True, True, False, False):
        own_result.allow(planned, "ada", allowed, **WHO)
    assert log(planned)[-2:] == [("carol", "allow own result"), ("carol", "withdraw own result")]
    assert not own_result.is_allowed(planned, "ada")
    with pytest.raises(InputError, match="no reviewer called carol"):
        own_result.allow(planned, "carol", True, **WHO)


def test_labels_are_compared_with_those_of_the_others(planned):
    said = dict.fromkeys(REVIEWERS, "similar") | {"ada": "dissimilar"}
    answer_everything(planned, said)
    own_result.allow(planned, "ada", True, **WHO)
    own_result.allow(planned, "ben", True, **WHO)
    unblind(planned)
    found = own_result.own_result(planned, id_of(planned, "ada"))
    n = len(found.items)
    assert (found.n_with_majority, found.n_with_a_majority) == (0, n)
    assert all(sum(item.others.values()) >= 2 for item in found.alone)
    assert {row.n_same for row in found.reviewers} == {0}
    assert sum(row.n for row in found.reviewers) == sum(sum(item.others.values()) for item in found.items)
    assert found.shares == {"dissimilar": (1.0, 0.0), "similar": (0.0, 1.0)}
    other = own_result.own_result(planned, id_of(planned, "ben"))
    assert not other.alone
    assert next(item.others for item in other.divided).get("dissimilar") == 1
    assert {row.rater for row in other.reviewers} == {f"Reviewer {i + 1}" for i in range(len(other.reviewers))}


def test_the_place_counts_people_who_are_with_the_rest_more_often():
    others = {0: {"b": "s", "c": "s"}, 1: {"b": "s", "c": "s"}, 2: {"b": "d", "c": "s"}}
    # with the rest: a on items 0 and 2 of 2 (a tie on item 2 is no majority), b and c as often as they have a majority
    assert own_result._place("a", {0: "s", 1: "d"}, others) == own_result.Rank(3, 3, ())
    assert own_result._place("a", {0: "s", 1: "s"}, others) == own_result.Rank(1, 3, ("b", "c"))
    assert own_result._place("a", {2: "s"}, others) is None


def test_known_changes_are_counted_for_raters_who_labelled_all_of_them():
    others = {0: {"b": "d", "c": "d"}, 1: {"b": "s"}}
    found = own_result._found_changes([0, 1], {0: "d", 1: "d", 2: "s"}, others, {"same": {0: "d", 1: "d"}}, "d")
    assert found == own_result.FoundChanges("d", 2, 2, (1,), {"same": 2})
    assert own_result._found_changes([], {0: "d"}, others, {}, "d") is None
    assert own_result._found_changes([0], {0: "d"}, others, {}, None) is None


def test_the_command_allows_and_withdraws(planned):
    planned.close()
    path = str(planned.path)
    assert "ada can see the page *Your result* once" in run("reviewers", "result", "ada", "--study", path).stderr
    assert "ada can no longer see" in run("reviewers", "result", "ada", "--undo", "--study", path).stderr
    assert "no reviewer called zoe" in run("reviewers", "result", "zoe", "--study", path, code=2).stderr
