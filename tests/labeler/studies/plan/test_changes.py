from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from random import Random

import pytest
from hypothesis import given, strategies as st

from analysis.text import counted
from labeler.errors import InputError
from labeler.studies.model import ALL, Assignment, Kind
from labeler.studies.plan.changes import (
    WHY_GIVEN_UP,
    Changes,
    Move,
    Slot,
    hand_over,
    join,
    reassign_slots_of_leaver,
    third_round,
)
from labeler.studies.plan.design import key
from tests.sentences import says

NAMES = ["ada", "ben", "cleo", "dan", "eve"]
JOINER = "zoe"
LOADING = {Kind.FRESH, Kind.OVERLAP, Kind.THIRD}
S, D = "similar", "dissimilar"


@dataclass(frozen=True)
class Balance:
    """The load of one reviewer, and its open part."""

    load: int
    remaining: int


def balance_of(slots: Iterable[Slot]) -> dict[str, Balance]:
    """Return the balance of every reviewer with a slot, by name."""
    load: Counter[str] = Counter()
    remaining: Counter[str] = Counter()
    for slot in slots:
        load[slot.reviewer] += slot.kind in LOADING
        remaining[slot.reviewer] += slot.kind in LOADING and not slot.answered
    return {reviewer: Balance(load[reviewer], remaining[reviewer]) for reviewer in sorted(load)}


@dataclass(frozen=True)
class Running:
    """A running study; the last of `people` may have left already."""

    people: list[str]
    staying: list[str]
    applications: dict[str, str]
    slots: list[Slot]
    seed: int


def fresh(item, *names):
    """Slots of an item, one per name; a capital first letter means answered."""
    return [Slot(name.lower(), item, Kind.FRESH, name[0].isupper()) for name in names]


def one_application(slots):
    return {slot.item: "org/project" for slot in slots}


@st.composite
def running_studies(draw):
    people = NAMES[: draw(st.integers(2, 5))]
    random = Random(draw(st.integers(0, 2**32)))
    applications, slots = {}, []
    for number in range(draw(st.integers(1, 14))):
        item = f"item {number}"
        applications[item] = random.choice(["org/a", "org/b", "org/c"])
        slots += slots_of_an_item(item, people, random)
    if left_before := random.random() < 0.3:
        slots = [slot for slot in slots if slot.reviewer != people[-1] or slot.answered]
    staying = people[1:-1] if left_before else people[1:]
    return Running(people, staying, applications, slots, draw(st.integers(0, 2**40)))


def slots_of_an_item(item, people, random):
    """Any combination that a study can reach: few or all reviewers, third labels, hidden copies."""
    kind = random.choices([Kind.FRESH, Kind.OVERLAP, Kind.CALIBRATION], [6, 2, 1])[0]
    n = random.randint(1, min(3, len(people)))
    on_item = random.sample(people, n) if kind == Kind.FRESH else people
    slots = [Slot(name, item, kind, random.random() < 0.4) for name in on_item]
    others = [name for name in people if name not in on_item]
    if others and random.random() < 0.2:
        slots.append(Slot(random.choice(others), item, Kind.THIRD, random.random() < 0.4))
    if kind != Kind.CALIBRATION and random.random() < 0.2:
        slots.append(Slot(on_item[0], item, Kind.RETEST, random.random() < 0.2))
    return slots


def after(slots, changes):
    """Return the slots after the moves."""
    for move in changes.moves:
        slots = after_move(slots, move)
    return slots


def after_move(slots, move):
    given = Slot(move.giver, move.item, move.kind, answered=False)
    assert given in slots
    taken = [] if move.taker is None else [replace(given, reviewer=move.taker)]
    return [slot for slot in slots if slot != given] + taken


def on(slots, item, kinds=frozenset(Kind)):
    return [slot.reviewer for slot in slots if slot.item == item and slot.kind in kinds]


def items_of(slots, name):
    return {slot.item for slot in slots if slot.reviewer == name and slot.kind in LOADING}


def remaining(slots, name):
    return sum(slot.reviewer == name and slot.kind in LOADING and not slot.answered for slot in slots)


def rank(slots, applications, item, giver, taker):
    """Load, shared load and load in the application, counted again from all slots."""
    own = items_of(slots, taker)
    others = set(on(slots, item, LOADING)) - {giver}
    co_load = sum(len(own & items_of(slots, other)) for other in others)
    return len(own), co_load, sum(applications[other] == applications[item] for other in own)


def leave_of(study):
    return reassign_slots_of_leaver(
        study.slots, study.people[0], applications=study.applications, staying=study.staying, seed=study.seed
    )  # fmt: skip


def join_of(study):
    return join(study.slots, JOINER, applications=study.applications, seed=study.seed)


def succeed_of(study):
    """The successor is a new person, or one of the remaining reviewers."""
    successor = (JOINER, *sorted(study.staying))[study.seed % (len(study.staying) + 1)]
    return hand_over(
        study.slots, study.people[0], successor, applications=study.applications, staying=study.staying, seed=study.seed
    )  # fmt: skip


def succession(slots, successor=JOINER, *, staying=("ben", "cleo"), seed=1):
    return hand_over(slots, "ada", successor, applications=one_application(slots), staying=staying, seed=seed)


def takers(slots, applications=None, *, staying=("ben", "cleo", "dan"), seed=1):
    changes = reassign_slots_of_leaver(
        slots, "ada", applications=applications or one_application(slots), staying=staying, seed=seed
    )  # fmt: skip
    return {move.item: move.taker for move in changes.moves}


# --- a reviewer leaves


BEN = fresh("x", "ada", "ben")
TAKEN_BY_DAN = {
    "the lowest load; what is answered counts too": [*BEN, *fresh("y", "cleo", "Dan"), *fresh("z", "Cleo", "ben")],
    "of equal loads, who shares fewer items": [
        *BEN, *fresh("y", "cleo", "ben"), *fresh("z", "dan", "eve"), *fresh("w", "dan"), *fresh("v", "cleo"),
    ],
    "labels of who left before count as shared items": [
        *fresh("x", "ada", "Eve"), Slot("ben", "x", Kind.CALIBRATION, answered=True), *fresh("y", "Cleo", "Eve"),
        *fresh("z", "dan"),
    ],
    "who knows the item neither from calibration nor from a hidden copy": [
        *fresh("x", "ada"), Slot("ben", "x", Kind.CALIBRATION, answered=True),
        Slot("cleo", "x", Kind.RETEST, answered=True),
    ],
}  # fmt: skip


@pytest.mark.parametrize("slots", TAKEN_BY_DAN.values(), ids=TAKEN_BY_DAN)
def test_an_open_slot_goes_to(slots):
    assert takers(slots) == takers(slots[::-1]) == {"x": "dan"}


def test_a_hidden_copy_is_given_up_while_its_item_is_handed_on():
    slots = [*fresh("x", "ada", "ben"), Slot("ada", "x", Kind.RETEST, answered=False)]
    changes = reassign_slots_of_leaver(slots, "ada", applications={"x": "a"}, staying=["ben", "cleo"], seed=1)
    assert set(changes.moves) == {Move("x", Kind.FRESH, "ada", "cleo"), Move("x", Kind.RETEST, "ada", None)}
    assert changes.shortfalls == (f"ada: 1 open retest item no longer assigned, because {WHY_GIVEN_UP[Kind.RETEST]}",)


def test_what_everybody_is_on_already_is_given_up_with_a_message():
    slots = [Slot(name, "x", Kind.OVERLAP, answered=False) for name in NAMES[:3]]
    slots += [Slot(name, "c", Kind.CALIBRATION, answered=False) for name in NAMES[:3]]
    slots += fresh("y", "ada", "Ben", "cleo")
    changes = reassign_slots_of_leaver(slots, "ada", applications={"x": "a", "y": "b"}, staying=["ben", "cleo"], seed=1)
    assert {(move.item, move.taker) for move in changes.moves} == {("x", None), ("y", None), ("c", None)}
    assert changes.shortfalls == (
        f"ada: 1 open calibration item no longer assigned, because {WHY_GIVEN_UP[Kind.CALIBRATION]}",
        "ada: 1 open item no longer assigned, because every remaining reviewer already has the item",
        "ada: 1 open overlap item no longer assigned, because every remaining reviewer already has the item",
    )


@given(running_studies())
def test_every_slot_goes_where_load_co_load_application_and_key_say(study):
    state, leaver, seed = study.slots, study.people[0], study.seed
    for move in leave_of(study).moves:
        free = [name for name in study.staying if name not in on(state, move.item)]
        expected = None
        if move.kind in LOADING and free:
            ranks = {
                name: (*rank(state, study.applications, move.item, leaver, name), key(seed, "leave", move.item, name))
                for name in free
            }
            expected = min(free, key=ranks.__getitem__)
        assert move.taker == expected
        state = after_move(state, move)


@given(running_studies())
def test_open_slots_leave_in_the_order_of_the_plan_exactly_once(study):
    moves = leave_of(study).moves
    own = [slot for slot in study.slots if slot.reviewer == study.people[0]]
    apps, seed = study.applications, study.seed
    assert Counter((m.item, m.kind) for m in moves) == Counter((s.item, s.kind) for s in own if not s.answered)
    order = [(key(seed, apps[m.item]), key(seed, apps[m.item], m.item), m.kind) for m in moves]
    assert order == sorted(order)


# --- a reviewer joins


def test_slots_go_to_a_joiner_until_all_have_the_same_to_do():
    # ada 6, ben 3, zoe 0 -> 5 3 1 -> 4 3 2 -> 3 3 3
    slots = [slot for j in range(6) for slot in fresh(f"x{j}", "ada")]
    slots += [slot for j in range(3) for slot in fresh(f"y{j}", "ben", "Ada")]
    changes = join(slots, JOINER, applications=one_application(slots), seed=1)
    assert [move.giver for move in changes.moves] == ["ada"] * 3
    assert {(move.kind, move.taker) for move in changes.moves} == {(Kind.FRESH, JOINER)}
    assert changes.shortfalls == ()
    # ada has answered three more
    balances = balance_of(after(slots, changes))
    assert balances == {"ada": Balance(6, 3), "ben": Balance(3, 3), JOINER: Balance(3, 3)}


def test_a_slot_stays_with_its_hidden_copy_and_overlap_slots_stay_too():
    # ada has five open items; only x can move
    slots = [*fresh("x", "ada"), *fresh("y", "ada"), Slot("ada", "y", Kind.RETEST, answered=False)]
    slots += [Slot("ada", f"o{j}", Kind.OVERLAP, answered=False) for j in range(3)]
    changes = join(slots, JOINER, applications=one_application(slots), seed=1)
    assert changes.moves == (Move("x", Kind.FRESH, "ada", JOINER),)
    (told,) = changes.shortfalls
    assert says(told, "ada: 4 items", "zoe has 1")


@pytest.mark.parametrize("slots", [[], fresh("x", "ada"), fresh("x", "Ada", "Ben") + fresh("y", "Ada")])
def test_where_nobody_has_two_slots_to_do_a_joiner_gets_nothing(slots):
    assert join(slots, JOINER, applications=one_application(slots), seed=1) == Changes((), ())


def on_offer(state, study):
    """Return the slots that the new reviewer could take, by giver."""
    copied = {(slot.reviewer, slot.item) for slot in study.slots if slot.kind == Kind.RETEST}
    return {
        name: [
            slot
            for slot in state
            if slot.reviewer == name and slot.kind in {Kind.FRESH, Kind.THIRD} and not slot.answered
            and (name, slot.item) not in copied and JOINER not in on(state, slot.item)
        ]
        for name in study.people
    }  # fmt: skip


@given(running_studies())
def test_every_move_to_a_joiner_is_from_the_most_loaded_and_what_fits_the_joiner_best(study):
    state, seed = study.slots, study.seed
    for move in join_of(study).moves:
        offers = on_offer(state, study)
        givers = [name for name in study.people if offers[name]]
        givers.sort(key=lambda name: (-remaining(state, name), key(seed, "join", name)))
        assert move.giver == givers[0]
        assert remaining(state, move.giver) - remaining(state, JOINER) >= 2
        ranks = {
            slot.item: (
                *rank(state, study.applications, slot.item, move.giver, JOINER),
                key(seed, "join", JOINER, slot.item),
            )
            for slot in offers[move.giver]
        }
        assert (move.item, move.taker) == (min(ranks, key=ranks.__getitem__), JOINER)
        state = after_move(state, move)


@given(running_studies())
def test_after_a_join_only_who_has_nothing_on_offer_has_two_more_to_do_and_is_named(study):
    changes = join_of(study)
    state = after(study.slots, changes)
    offers = on_offer(state, study)
    ahead = {name for name in study.people if remaining(state, name) - remaining(state, JOINER) >= 2}
    assert not any(offers[name] for name in ahead)
    assert [line.split(":")[0] for line in changes.shortfalls] == sorted(ahead)


# --- a person takes over


def test_every_open_slot_goes_to_a_new_successor_and_what_is_answered_stays():
    slots = [*fresh("x", "ada", "ben"), *fresh("y", "ada", "Cleo"), *fresh("z", "Ada", "ben")]
    slots.append(Slot("ada", "o", Kind.OVERLAP, answered=False))
    changes = succession(slots)
    assert {(move.item, move.kind, move.giver, move.taker) for move in changes.moves} == {
        ("x", Kind.FRESH, "ada", JOINER), ("y", Kind.FRESH, "ada", JOINER), ("o", Kind.OVERLAP, "ada", JOINER),
    }  # fmt: skip
    assert changes.shortfalls == ()


def test_a_successor_takes_over_calibration_and_third_slots_but_no_hidden_copy():
    slots = [Slot("ada", "c", Kind.CALIBRATION, answered=False), Slot("ada", "t", Kind.THIRD, answered=False)]
    slots += [*fresh("x", "ada"), Slot("ada", "x", Kind.RETEST, answered=False)]
    changes = succession(slots)
    assert {(move.item, move.kind, move.taker) for move in changes.moves} == {
        ("c", Kind.CALIBRATION, JOINER), ("t", Kind.THIRD, JOINER), ("x", Kind.FRESH, JOINER), ("x", Kind.RETEST, None),
    }  # fmt: skip
    assert changes.shortfalls == (f"ada: 1 open retest item no longer assigned, because {WHY_GIVEN_UP[Kind.RETEST]}",)


def test_what_the_successor_is_on_already_goes_to_others_as_when_somebody_leaves():
    # ben is on x and y; cleo is also on y, so x moves to cleo and y to nobody
    slots = [*fresh("x", "ada", "Ben"), *fresh("y", "ada", "ben", "cleo"), *fresh("z", "ada")]
    changes = succession(slots, "ben")
    assert {move.item: move.taker for move in changes.moves} == {"x": "cleo", "y": None, "z": "ben"}
    assert [line.split(":")[0] for line in changes.shortfalls] == ["ada"]


@given(running_studies())
def test_all_open_slots_of_a_replaced_reviewer_end_exactly_once(study):
    changes = succeed_of(study)
    own = [slot for slot in study.slots if slot.reviewer == study.people[0] and not slot.answered]
    assert Counter((m.item, m.kind, m.giver) for m in changes.moves) == Counter(
        (slot.item, slot.kind, slot.reviewer) for slot in own
    )
    left = [slot for slot in after(study.slots, changes) if slot.reviewer == study.people[0]]
    assert left == [slot for slot in study.slots if slot.reviewer == study.people[0] and slot.answered]


@given(running_studies())
def test_a_reviewer_of_an_item_takes_no_other_slot_of_the_item(study):
    for move in succeed_of(study).moves:
        assert move.taker is None or move.taker not in on(study.slots, move.item)
        if move.taker is None and move.kind in LOADING:
            assert set(study.staying) <= set(on(study.slots, move.item))


# --- all of them


@pytest.mark.parametrize("change", [leave_of, succeed_of, join_of])
@given(study=running_studies())
def test_nobody_comes_to_be_on_an_item_twice_and_no_answered_slot_moves(change, study):
    changes = change(study)
    state = after(study.slots, changes)
    for item in study.applications:
        names = on(state, item, LOADING)
        assert len(names) == len(set(names))
        for move in changes.moves:
            assert move.item != item or move.taker is None or move.taker not in on(study.slots, item)
    answered = {slot for slot in study.slots if slot.answered}
    assert {slot for slot in state if slot.answered} == answered


@pytest.mark.parametrize("change", [leave_of, succeed_of, join_of])
@given(study=running_studies(), random=st.randoms(use_true_random=False))
def test_a_change_does_not_depend_on_the_order_of_the_input(change, study, random):
    shuffled = replace(
        study,
        slots=random.sample(study.slots, len(study.slots)),
        staying=random.sample(study.staying, len(study.staying)),
        applications=dict(random.sample(list(study.applications.items()), len(study.applications))),
    )
    assert change(shuffled) == change(study)


REFUSED = {
    "both leave": [lambda: leave(fresh("x", "ada", "ben"), staying=["ada", "ben"]),
                   lambda: succession(fresh("x", "ada", "ben"), staying=["ada", "ben"])],
    "ben has item x twice": [lambda: leave(fresh("x", "ben", "ben")), lambda: join_x(fresh("x", "ben", "Ben")),
                             lambda: succession(fresh("x", "ben", "ben"))],
    "ada has item x twice": [lambda: leave([*fresh("x", "ada"), Slot("ada", "x", Kind.THIRD, answered=True)])],
    "The application of item elsewhere is unknown": [lambda: leave(fresh("elsewhere", "ben")),
                                                     lambda: join_x(fresh("elsewhere", "ben"))],
    "own successor": [lambda: succession(fresh("x", "ada"), "ada")],
    "give third": [lambda: third_round(["x"], [], [], reviewers=[], start={}, seed=1)],
}  # fmt: skip


def leave(slots, staying=("ben",)):
    return reassign_slots_of_leaver(slots, "ada", applications={"x": "a"}, staying=staying, seed=1)


def join_x(slots):
    return join(slots, JOINER, applications={"x": "a"}, seed=1)


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_is_refused(message):
    for change in REFUSED[message]:
        with pytest.raises(InputError, match=message):
            change()


# --- the third-label round


def answered(first):
    return [Slot(name, item, Kind.FRESH, answered=True) for item, labels in first.items() for name in labels]


def sorted_out(first):
    """Return the split items and the agreed items."""
    return [item for item in first if is_split(first[item])], [item for item in first if is_agreed(first[item])]


def test_a_third_round_worked_by_hand():
    # x and y are split, and only cleo is on neither; of the agreed items she has seen c, but not a and b; i is neither
    first = {
        "x": {"ada": S, "ben": D},
        "y": {"ada": D, "ben": S},
        "a": {"ada": S, "ben": S},
        "b": {"ada": D, "ben": D},
        "c": {"ada": D, "cleo": D},
        "i": {"ada": D},
    }
    plan = third_round(
        *sorted_out(first), answered(first), reviewers=NAMES[:3], start={"ada": 6, "ben": 4, "cleo": 1}, seed=1
    )
    order = sorted("xyab", key=lambda item: key(1, "third", "cleo", item))
    assert plan.assignments == tuple(
        Assignment("cleo", item, Kind.THIRD, ALL, position) for position, item in enumerate(order, start=1)
    )
    assert (plan.blocks, plan.shortfalls) == ((), ())


def test_missing_agreed_items_and_split_items_without_a_reviewer_are_named_in_a_message():
    first = {
        "x": {"ada": S, "ben": D},
        "y": {"ada": S, "ben": D, "cleo": D},
        "w": {"ada": D, "ben": S, "cleo": D},
        "a": {"cleo": S, "ben": S},
    }
    plan = third_round(*sorted_out(first), answered(first), reviewers=NAMES[:3], start={}, seed=1)
    assert plan.assignments == (Assignment("cleo", "x", Kind.THIRD, ALL, 0),)
    assert plan.shortfalls == (
        "no third label for w, y, because every reviewer already has these items",
        "cleo: 1 split item, and 0 agreed items to hide which, because no other agreed item is left",
    )


def test_an_item_seen_only_in_an_open_slot_or_in_calibration_is_no_item_for_a_third_label():
    first = {"x": {"ada": S, "ben": D}, "a": {"ada": S, "ben": S}}
    slots = [*answered(first), *fresh("x", "cleo"), Slot("dan", "a", Kind.CALIBRATION, answered=True)]
    plan = third_round(*sorted_out(first), slots, reviewers=NAMES[:4], start={}, seed=1)
    assert [(a.reviewer, a.item) for a in plan.assignments] == [("dan", "x")]


@st.composite
def labelled_studies(draw):
    study = draw(running_studies())
    random = Random(draw(st.integers(0, 2**32)))
    slots = [slot for slot in study.slots if slot.kind != Kind.THIRD]
    first = {item: {} for item in study.applications}
    for slot in slots:
        if slot.answered and slot.kind in {Kind.FRESH, Kind.OVERLAP}:
            first[slot.item][slot.reviewer] = random.choice([S, D])
    return replace(study, slots=slots), first, {name: random.randint(0, 9) for name in study.people}


def third_round_of(study, first, start):
    return third_round(*sorted_out(first), study.slots, reviewers=study.staying, start=start, seed=study.seed)


def has_reviewers(labelled):
    return bool(labelled[0].staying)


LABELLED = labelled_studies().filter(has_reviewers)


def is_split(labels):
    return len(labels) >= 2 and len(set(labels.values())) == 2


def is_agreed(labels):
    return len(labels) >= 2 and len(set(labels.values())) == 1


@given(LABELLED)
def test_each_split_item_is_in_the_third_round_once_and_each_without_a_reviewer_is_named(labelled):
    study, first, _ = labelled
    plan = third_round_of(*labelled)
    times = Counter(a.item for a in plan.assignments)
    named = {line.removeprefix("no third label for ") for line in plan.shortfalls if "no third" in line}
    without = []
    for item, labels in first.items():
        free = [name for name in study.staying if name not in on(study.slots, item)]
        if is_split(labels):
            assert times[item] == bool(free)
            without += [] if free else [item]
        elif not is_agreed(labels):
            assert times[item] == 0
    these = "these items" if without[1:] else "this item"
    told = f"{', '.join(sorted(without))}, because every reviewer already has {these}"
    assert named == ({told} if without else set())


def test_an_agreed_item_hides_only_one_split_item_so_that_third_labels_never_make_it_a_tie():
    # each of the three split items goes to another reviewer, and everybody could take any of the agreed items
    split = {"x": {"ada": S, "ben": D}, "y": {"cleo": S, "ben": D}, "z": {"ada": S, "cleo": D}}
    agreed = {item: {"dan": S, "eve": S} for item in "abc"}
    first = split | agreed
    slots = [*answered(first), *(slot for item in "xyz" for slot in fresh(item, "dan", "eve"))]
    plan = third_round(*sorted_out(first), slots, reviewers=["ada", "ben", "cleo"], start={}, seed=1)
    assert {a.item: a.reviewer for a in plan.assignments if a.item in split} == {"x": "cleo", "y": "ada", "z": "ben"}
    assert sorted(a.item for a in plan.assignments if a.item in agreed) == ["a", "b", "c"]
    again = third_round(
        *sorted_out(first), [*slots, *(Slot(a.reviewer, a.item, a.kind, answered=True) for a in plan.assignments)],
        reviewers=["ada", "ben", "cleo"], start={}, seed=1,
    )  # fmt: skip
    assert again.assignments == ()


@given(LABELLED)
def test_split_items_are_hidden_among_as_many_agreed_ones_as_there_are(labelled):
    study, first, _ = labelled
    plan = third_round_of(*labelled)
    times = Counter(a.item for a in plan.assignments)
    assert max(times.values(), default=1) == 1
    for name in study.staying:
        own = [a.item for a in plan.assignments if a.reviewer == name]
        n_split, n_agreed = (sum(holds(first[item]) for item in own) for holds in (is_split, is_agreed))
        left = [
            item for item in first if is_agreed(first[item]) and name not in on(study.slots, item) and not times[item]
        ]
        assert n_agreed <= n_split
        assert n_agreed == n_split or not left  # too few only if nothing is left
        told = f"{name}: {counted(n_split, 'split item')}, and {counted(n_agreed, 'agreed item')} to hide which"
        assert any(line.startswith(told) for line in plan.shortfalls) == (n_agreed < n_split)


@given(LABELLED)
def test_third_items_are_new_to_their_reviewer_and_come_by_key_after_all_others(labelled):
    study, _, start = labelled
    plan = third_round_of(*labelled)
    assert {a.reviewer for a in plan.assignments} <= set(study.staying)
    assert {a.kind for a in plan.assignments} <= {Kind.THIRD}
    for name in study.staying:
        own = [a for a in plan.assignments if a.reviewer == name]
        assert not [a for a in own if name in on(study.slots, a.item)]
        assert [a.position for a in own] == list(range(start[name], start[name] + len(own)))
        keys = [key(study.seed, "third", name, a.item) for a in own]
        assert keys == sorted(set(keys))
