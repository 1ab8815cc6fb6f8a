from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from analysis.categories import CATEGORIES
from labeler.studies.model import ALL, Assignment, Kind, PlanParameters
from labeler.studies.plan.active_plan import ActivePlan, place_of
from labeler.studies.plan.changes import LOADING, Changes, Move
from labeler.studies.plan.design import draw_plan, key
from labeler.studies.questions import SIMILAR, WITHDRAWN

NAMES = ("ada", "ben", "cleo")
ITEMS = {f"item {number}": f"org/{number % 2}" for number in range(10)}
SAID = st.sampled_from(SIMILAR.answers)


def row(reviewer, item, position, kind=Kind.FRESH, block=0):
    return Assignment(reviewer, item, kind, block, position)


def underway(*rows, answers=None, excluded=(), imported=(), seed=1):
    """Return a plan with these assignments, each identified by (reviewer, item, kind)."""
    standing = {place_of(one): one for one in rows}
    applications = {one.item: "org/project" for one in rows}
    return ActivePlan(standing, answers or {}, applications, frozenset(excluded), frozenset(imported), seed)


def said(reviewer, item, *answers, kind=Kind.FRESH):
    return {(reviewer, item, kind): tuple(answers)}


def rows_of(state, reviewer):
    """(item, kind, position) of a reviewer's assignments, in the order of presentation."""
    own = [one for one in state.standing.values() if one.reviewer == reviewer]
    return [(one.item, one.kind.value, one.position) for one in sorted(own, key=lambda one: one.position)]


@st.composite
def states(draw):
    """A drawn plan with random answers and some excluded items."""
    parameters = PlanParameters(draw(st.integers(0, 99)), overlap=0.25, retest=0, calibration=draw(st.integers(0, 3)))
    plan = draw_plan(ITEMS, NAMES, parameters)
    answers = draw(
        st.dictionaries(
            st.sampled_from([place_of(one) for one in plan.assignments]), st.lists(SAID, min_size=1, max_size=3)
        )
    )
    return ActivePlan(
        {place_of(one): one for one in plan.assignments},
        {place: tuple(given) for place, given in answers.items()},
        ITEMS,
        draw(st.frozensets(st.sampled_from(sorted(ITEMS)), max_size=2)),
        frozenset(),
        parameters.seed,
    )


@st.composite
def states_with_imports(draw):
    """The same with imported labels, also of a reviewer on the same item under another kind."""
    state = draw(states())
    on = sorted({place[:2] for place in state.standing} | {("zed", item) for item in ITEMS})
    come = draw(st.lists(st.tuples(st.sampled_from(on), st.sampled_from(LOADING)), max_size=6, unique=True))
    places = [(*whose, kind) for whose, kind in come if (*whose, kind) not in state.standing]
    rows = [row(reviewer, item, 0, kind) for reviewer, item, kind in places]
    said = {place_of(one): (draw(SAID),) for one in rows}
    return replace(
        state,
        standing=state.standing | {place_of(one): one for one in rows},
        answers=state.answers | said,
        imported=frozenset(said),
    )


def has_label(state, place):
    """Return whether a category was given that the next answer did not undo."""
    given = state.answers.get(place, ())
    return any(answer in CATEGORIES and given[at + 1 : at + 2] != (WITHDRAWN,) for at, answer in enumerate(given))


# --- the hash


def test_the_hash_is_that_of_the_plan_until_something_changes_and_imports_change_nothing():
    plan, more = draw_plan(ITEMS, NAMES, PlanParameters(1, retest=0)), row("zed", "item 1", 0)
    assert underway(*plan.assignments).hash == underway(*plan.assignments[::-1]).hash == plan.hash
    assert underway(*plan.assignments, more, imported=[place_of(more)]).hash == plan.hash
    for rows in (plan.assignments[1:], [*plan.assignments, more]):
        assert underway(*rows).hash != plan.hash


# --- leaving and taking over


def test_taken_items_come_after_what_the_taker_had_in_the_order_of_a_key():
    state = underway(row("ada", "x", 0), row("ada", "y", 1), row("ada", "z", 2), row("ben", "w", 6))
    left, change = state.without("ada", ["ben"])
    order = sorted("xyz", key=lambda item: key(1, "moved", "ben", item))
    assert rows_of(left, "ben") == [("w", "fresh", 6), *((item, "fresh", 7 + at) for at, item in enumerate(order))]
    assert rows_of(left, "ada") == []
    assert len(change.moves) == 3


def test_what_has_a_label_stays_and_what_was_taken_back_or_given_back_as_not_sure_goes():
    state = underway(
        *(row("ada", item, at) for at, item in enumerate(("label", "revised", "undone", "not sure", "again"))),
        answers=said("ada", "label", "similar")
        | said("ada", "revised", "similar", "not sure")
        | said("ada", "undone", "similar", "withdrawn")
        | said("ada", "not sure", "not sure")
        | said("ada", "again", "similar", "withdrawn", "dissimilar"),
    )
    left, _ = state.without("ada", ["ben"])
    assert {item for item, _, _ in rows_of(left, "ada")} == {"label", "revised", "again"}
    assert {item for item, _, _ in rows_of(left, "ben")} == {"undone", "not sure"}


def test_a_moved_item_keeps_its_kind_and_its_block():
    state = underway(row("ada", "x", 4, Kind.OVERLAP, ALL), row("ada", "y", 5, Kind.FRESH, 3))
    left, _ = state.succeeded("ada", "eve", [])
    assert {(one.item, one.kind, one.block) for one in left.standing.values()} == {
        ("x", Kind.OVERLAP, ALL), ("y", Kind.FRESH, 3),
    }  # fmt: skip


def test_of_an_item_that_a_leaver_has_open_twice_the_one_that_was_not_imported_goes():
    planned, come = row("ada", "x", 4), row("ada", "x", 0, Kind.THIRD)
    for rows in ((planned, come), (come, planned)):
        left, _ = underway(*rows, imported=[place_of(come)]).without("ada", ["ben"])
        assert (rows_of(left, "ben"), rows_of(left, "ada")) == ([("x", "fresh", 0)], [("x", "third", 0)])


def test_a_third_label_of_two_labels_on_an_item_is_the_one_that_a_third_round_sees():
    first, third = row("ada", "x", 0), row("ada", "x", 1, Kind.THIRD)
    answers = said("ada", "x", "similar") | said("ada", "x", "similar", kind=Kind.THIRD)
    for rows in ((first, third), (third, first)):
        for imported in ([], [place_of(third)], [place_of(first), place_of(third)]):
            state = underway(*rows, answers=answers, imported=imported)
            assert state.in_third_round(["x"], [], NAMES)[0].standing == state.standing


# --- joining


def test_a_joiner_gets_nothing_that_is_on_a_screen_or_fetched_ahead():
    state = underway(*(row("ada", f"x{at}", at) for at in range(6)))
    joined, _ = state.joined("eve", calibrating=False)
    assert rows_of(joined, "ada") == [("x0", "fresh", 0), ("x1", "fresh", 1), ("x2", "fresh", 2)]
    assert rows_of(joined, "eve")
    three = underway(*(row("ada", f"x{at}", at) for at in range(3)))
    assert rows_of(three.joined("eve", calibrating=False)[0], "eve") == []
    assert len(rows_of(replace(three, n_bound=2).joined("eve", calibrating=False)[0], "eve")) == 1


@pytest.mark.parametrize("n_items", range(4, 9))
def test_after_a_join_what_is_left_to_do_differs_by_at_most_one(n_items):
    rows = [row(name, f"{name}{at}", at) for name in NAMES for at in range(n_items)]
    joined, _ = underway(*rows).joined("eve", calibrating=False)
    left = [len(rows_of(joined, name)) for name in (*NAMES, "eve")]
    assert max(left) - min(left) <= 1


def test_a_joiner_gets_no_excluded_item():
    rows = [row("ada", f"x{at}", at) for at in range(10)]
    joined, _ = underway(*rows, excluded=["x2", "x3", "x4"]).joined("eve", calibrating=False)
    assert 0 < len(rows_of(joined, "eve")) <= 4
    assert not {item for item, _, _ in rows_of(joined, "eve")} & {"x2", "x3", "x4"}


def test_a_joiner_in_a_calibration_round_labels_its_items_too_and_keeps_what_they_have_of_it():
    rows = [row("ada", item, at, Kind.CALIBRATION, ALL) for at, item in enumerate("abc")]
    joined, change = underway(*rows).joined("eve", calibrating=True)
    order = sorted("abc", key=lambda item: key(1, "calibration", "eve", item))
    assert rows_of(joined, "eve") == [(item, "calibration", at) for at, item in enumerate(order)]
    assert change == Changes((), ())
    assert rows_of(underway(*rows).joined("eve", calibrating=False)[0], "eve") == []
    again, _ = underway(*rows, row("eve", "b", 7, Kind.CALIBRATION, ALL)).joined("eve", calibrating=True)
    assert sorted(item for item, _, _ in rows_of(again, "eve")) == ["a", "b", "c"]
    assert ("b", "calibration", 7) in rows_of(again, "eve")


def test_what_comes_back_stands_where_it_was_answered_and_nothing_else_gets_its_position():
    rows = [row("ada", f"x{at}", at) for at in range(6)]
    state = underway(*rows, answers=said("ada", "x3", "not sure"))
    gone, _ = state.succeeded("ada", "eve", [])
    assert rows_of(gone, "ada") == []
    assert gone.ended.keys() == state.standing.keys()
    back, _ = gone.succeeded("eve", "ada", [])
    others = sorted(set(state.applications) - {"x3"}, key=lambda item: key(1, "moved", "ada", item))
    order = sorted(state.applications, key=lambda item: key(1, "moved", "ada", item))
    assert rows_of(back, "ada") == [
        ("x3", "fresh", 3), *((item, "fresh", 4 + order.index(item)) for item in others),
    ]  # fmt: skip
    assert back.ended.keys() == gone.standing.keys()


# --- pending work, and the third-label round


def test_an_item_waits_for_an_answer_unless_it_is_excluded_or_of_a_calibration_round():
    state = underway(row("ada", "x", 0))
    assert state.has_open("ada")
    assert not state.has_open("ben")
    for words, waits in ((["similar"], False), (["not sure"], False), (["similar", "withdrawn"], True)):
        assert replace(state, answers=said("ada", "x", *words)).has_open("ada") is waits
    assert not underway(row("ada", "x", 0), excluded=["x"]).has_open("ada")
    assert not underway(row("ada", "c", 0, Kind.CALIBRATION, ALL)).has_open("ada")


def test_third_labels_come_after_what_a_reviewer_had_and_only_for_items_that_count():
    rows = [row(name, item, at) for name in ("ada", "ben") for at, item in enumerate("xya")]
    state = underway(*rows, row("cleo", "w", 4), excluded=["y"])
    third, shortfalls = state.in_third_round(["x", "y"], ["a"], NAMES)
    order = sorted("xa", key=lambda item: key(1, "third", "cleo", item))
    assert rows_of(third, "cleo") == [("w", "fresh", 4), *((item, "third", 5 + at) for at, item in enumerate(order))]
    assert rows_of(third, "ada") == rows_of(state, "ada")
    assert shortfalls == ()


# --- any plan and any answers


@given(states(), st.sampled_from(("leaves", "is replaced", "is joined")))
def test_a_change_moves_no_label_and_puts_nobody_on_an_item_twice(state, what):
    after, change = changed(state, what)
    for place, one in state.standing.items():
        if has_label(state, place):
            assert after.standing[place] == one
    on = [(one.reviewer, one.item) for one in after.standing.values()]
    assert len(on) == len(set(on))
    assert len(after.standing) == len(state.standing) - sum(move.taker is None for move in change.moves) + (
        sum(one.kind is Kind.CALIBRATION and one.reviewer == "eve" for one in after.standing.values())
        if what == "is joined"
        else 0
    )


@given(states(), st.sampled_from(("leaves", "is replaced", "is joined")))
def test_positions_of_a_reviewer_stay_different_in_a_round_and_nobody_elses_change(state, what):
    after, change = changed(state, what)
    for name in (*NAMES, "eve"):
        rows = [(kind == "calibration", position) for _, kind, position in rows_of(after, name)]
        assert len(rows) == len(set(rows))
    taken = {(move.taker, move.item, move.kind) for move in change.moves}
    for place in (after.standing.keys() & state.standing.keys()) - taken:
        assert after.standing[place] == state.standing[place]


@given(
    states_with_imports(), st.sampled_from(("leaves", "is replaced", "is joined")), st.randoms(use_true_random=False)
)
def test_a_change_is_the_same_whatever_the_order_of_assignments_and_answers(state, what, random):
    shuffled = replace(
        state,
        standing=dict(random.sample(list(state.standing.items()), len(state.standing))),
        answers=dict(random.sample(list(state.answers.items()), len(state.answers))),
    )
    (one, moves), (other, same) = changed(state, what), changed(shuffled, what)
    assert (one.standing, one.hash, moves) == (other.standing, other.hash, same)


@given(states())
def test_nothing_open_is_left_with_who_left(state):
    for after in (changed(state, "leaves")[0], changed(state, "is replaced")[0]):
        assert all(has_label(state, place) for place in after.standing if place[0] == "ada")


def changed(state, what):
    if what == "leaves":
        return state.without("ada", ["ben", "cleo"])
    if what == "is replaced":
        return state.succeeded("ada", "eve", ["ben", "cleo"])
    return state.joined("eve", calibrating=True)


def test_a_move_is_made_of_giver_item_and_kind():
    state = underway(row("ada", "x", 0), row("ada", "x", 60, Kind.RETEST))
    after, _ = state.moved(Changes((Move("x", Kind.FRESH, "ada", "ben"), Move("x", Kind.RETEST, "ada", None)), ()))
    assert list(after.standing) == [("ben", "x", Kind.FRESH)]
