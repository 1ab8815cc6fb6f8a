"""Compute changes of a plan in use: a reviewer leaves or joins, or split items get third labels.

If several choices are equally good, hashes of the seed and the names decide, as in `labeler.studies.plan.design`. These
hashes are called keys. The order of the input does not matter.

- The *load* of a reviewer is the number of their slots of the kinds fresh, overlap and third. The *remaining load*
  counts only open slots. Hidden retests and calibration items do not count.
- The *co-load* of two reviewers is the number of items that both have in one of these kinds.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from analysis.text import counted
from labeler.errors import InputError
from labeler.studies.model import ALL, Assignment, Kind
from labeler.studies.plan.design import Plan, Seed, key

LOADING = (Kind.FRESH, Kind.OVERLAP, Kind.THIRD)
WHY_GIVEN_UP = {
    Kind.RETEST: "a hidden retest is only for the reviewer who already had the item",
    Kind.CALIBRATION: "calibration items are labelled before the study",
    **dict.fromkeys(LOADING, "every remaining reviewer already has the item"),
}


@dataclass(frozen=True)
class Slot:
    """An assignment in a running study.

    A slot that is `answered` cannot move to another reviewer. A slot that is `bound` is open, but its item is already
    on the reviewer's screen. Such a slot cannot move to a reviewer who joins.
    """

    reviewer: str
    item: str
    kind: Kind
    answered: bool
    bound: bool = False


@dataclass(frozen=True)
class Move:
    """The move of an open slot to another reviewer; if `taker` is None, the slot is dropped."""

    item: str
    kind: Kind
    giver: str
    taker: str | None


@dataclass(frozen=True)
class Changes:
    """The moves of a change in the order of the decisions, and texts about requirements that could not be met."""

    moves: tuple[Move, ...]
    shortfalls: tuple[str, ...]


def reassign_slots_of_leaver(
    slots: Iterable[Slot], reviewer: str, *, applications: Mapping[str, str], staying: Iterable[str], seed: Seed
) -> Changes:
    """Move the open slots of a reviewer who leaves to the reviewers who stay.

    `slots` are all slots of the study, including the slots of reviewers who have left. There is one move for each open
    slot of the leaving reviewer. The moves are decided in the order of the keys of application and item. A slot of the
    kind fresh, overlap or third goes to a reviewer who does not have the item in any kind. Among these reviewers, the
    slot goes to the reviewer with the lowest load. If several are equal, the lowest co-load with the other reviewers of
    the item decides, then the lowest load in the application of the item, then the key. If every staying reviewer
    already has the item, the slot is dropped; this is usual for overlap items. Hidden retests and calibration slots are
    always dropped.

    Raises InputError if the leaving reviewer is in `staying`, a reviewer has an item twice, or an item has no
    application.
    """
    slots, people = list(slots), set(staying)
    if reviewer in people:
        raise InputError(f"{reviewer} cannot both leave and stay.")
    standing = _Standing(slots, applications)
    moves = []
    for slot in sorted(_open(slots, reviewer), key=partial(_place_in_plan, applications, seed)):
        taker = None
        if slot.kind in LOADING:
            able = sorted(people - standing.seen_by[slot.item], key=partial(key, seed, "leave", slot.item))
            taker = min(able, key=partial(standing.cost, slot), default=None)
            standing.hand_over(slot, taker)
        moves.append(Move(slot.item, slot.kind, reviewer, taker))
    return Changes(tuple(moves), _given_up(moves))


def hand_over(
    slots: Iterable[Slot],
    reviewer: str,
    successor: str,
    *,
    applications: Mapping[str, str],
    staying: Iterable[str],
    seed: Seed,
) -> Changes:
    """Move the open slots of a reviewer who leaves to a successor.

    The arguments are those of `leave`; `staying` may include the successor. All open slots go to the successor, except
    hidden retests and items that the successor already has: for these, the rules of `leave` apply. Raises InputError in
    the same cases as `reassign_slots_of_leaver`, or if reviewer and successor are the same person.
    """
    slots = list(slots)
    if reviewer == successor:
        raise InputError(f"{reviewer} cannot be their own successor.")
    successor_items = {slot.item for slot in slots if slot.reviewer == successor}
    passed = [
        slot for slot in _open(slots, reviewer) if slot.kind is not Kind.RETEST and slot.item not in successor_items
    ]
    moves = [
        Move(slot.item, slot.kind, reviewer, successor)
        for slot in sorted(passed, key=partial(_place_in_plan, applications, seed))
    ]
    passed_slots = set(passed)
    reassigned = [replace(slot, reviewer=successor) if slot in passed_slots else slot for slot in slots]
    later = reassign_slots_of_leaver(
        reassigned, reviewer, applications=applications, staying={*staying, successor}, seed=seed
    )
    return Changes((*moves, *later.moves), later.shortfalls)


def join(slots: Iterable[Slot], reviewer: str, *, applications: Mapping[str, str], seed: Seed) -> Changes:
    """Move open slots to a reviewer who joins or returns, one slot at a time.

    `slots` are all slots of the study except dropped slots. A slot can move if all of these conditions are met: it is
    open and not bound; its kind is fresh or third; the joining reviewer does not have the item in any kind; and the
    current reviewer has no hidden retest of the item.

    In each step, the reviewer with the largest remaining load gives a slot; reviewers without a slot that can move are
    ignored, and keys break ties. The giver gives the slot for which the joining reviewer has the lowest co-load with
    the other reviewers of the item. If several are equal, the lowest load of the joining reviewer in the application of
    the item decides, then the key. The steps end when no slot can move, or when the giver has at most one open slot
    more than the joining reviewer.

    `shortfalls` lists the reviewers who have at least two open slots more than the joining reviewer even then, because
    their slots cannot move. Raises InputError if a reviewer has an item twice, or an item has no application.
    """
    slots = list(slots)
    standing = _Standing(slots, applications)
    offers = _offers(slots, reviewer, standing, seed)
    in_order = sorted(offers, key=partial(key, seed, "join"))
    tables = {name: _Offers(list(offers[name].values()), standing) for name in in_order}
    moves = []
    while in_order:
        giver = max(in_order, key=standing.remaining.__getitem__)
        if standing.remaining[giver] - standing.remaining[reviewer] <= 1:
            break
        slot = tables[giver].best(standing, reviewer)
        on_item = [name for name in standing.labelled_by[slot.item] if name in tables]
        standing.hand_over(slot, reviewer)
        moves.append(Move(slot.item, slot.kind, giver, reviewer))
        for name in on_item:
            tables[name].take_out(slot.item)
        in_order = [name for name in in_order if tables[name].is_left.any()]
    return Changes(tuple(moves), _uneven(standing.remaining, reviewer))


def third_round(
    split: Iterable[str],
    agreed: Iterable[str],
    slots: Iterable[Slot],
    *,
    reviewers: Iterable[str],
    start: Mapping[str, int],
    seed: Seed,
) -> Plan:
    """Assign each split item to one more reviewer, together with agreed items that hide which items are split.

    `split` and `agreed` are items by their first labels, and `slots` are all slots of the study: an item that already
    has a slot of the kind third does not get another. `start` is the position after the last assignment of each
    reviewer; without an entry, it is 0.

    The assignments are of the kind third, without blocks. Each split item goes to a reviewer who does not have the item
    in any kind; the key decides which reviewer. Each reviewer also gets as many agreed items as split items. The
    reviewers choose in turn, by key, among the agreed items that they do not have yet and that nobody chose: with two
    third labels, an agreed item could become a tie. `shortfalls` lists the split items that every reviewer already has,
    and the reviewers who got too few agreed items. Raises InputError if there are no reviewers.
    """
    people, slots = sorted(set(reviewers)), list(slots)
    if not people:
        raise InputError("No reviewer can give third labels.")
    seen_by = _seen_by(slots)
    begun_items = {slot.item for slot in slots if slot.kind == Kind.THIRD}
    takers = {item: _third_reviewer(item, people, seen_by[item], seed) for item in split if item not in begun_items}
    wanted = Counter(taker for taker in takers.values() if taker is not None)
    hiding = _hiding_items(wanted, set(agreed) - begun_items, seen_by, seed)
    assignments: list[Assignment] = []
    shortfalls = [*_without_third(takers)]
    for name in people:
        if len(hiding[name]) < wanted[name]:
            shortfalls.append(
                f"{name}: {counted(wanted[name], 'split item')}, and {counted(len(hiding[name]), 'agreed item')} to "
                "hide which, because no other agreed item is left"
            )
        own = [*(item for item, taker in takers.items() if taker == name), *hiding[name]]
        places = enumerate(sorted(own, key=partial(key, seed, "third", name)), start=start.get(name, 0))
        assignments += [Assignment(name, item, Kind.THIRD, ALL, position) for position, item in places]
    return Plan(tuple(assignments), (), tuple(shortfalls))


def _hiding_items(
    wanted: Mapping[str, int], free: set[str], seen_by: Mapping[str, set[str]], seed: Seed
) -> dict[str, list[str]]:
    """Return the agreed items of each reviewer, who choose one item in each turn; no item is chosen twice."""
    chosen: dict[str, list[str]] = defaultdict(list)
    by_key = {
        name: iter(sorted((item for item in free if name not in seen_by[item]), key=partial(key, seed, "agreed", name)))
        for name in sorted(wanted)
    }
    for turn in range(max(wanted.values(), default=0)):
        for name, unseen in by_key.items():
            item = next((item for item in unseen if item in free), None) if wanted[name] > turn else None
            if item is not None:
                free = free - {item}
                chosen[name].append(item)
    return chosen


class _Standing:
    """The reviewers of each item, and the loads of reviewers, kept up to date while slots move.

    The load and co-loads of a reviewer who gives slots are not updated, because this reviewer gets no slots in the same
    change.
    """

    def __init__(self, slots: Sequence[Slot], applications: Mapping[str, str]) -> None:
        self.applications = applications
        self.seen_by: dict[str, set[str]] = _seen_by(slots)
        self.labelled_by: dict[str, set[str]] = defaultdict(
            set
        )  # reviewers who have the item in a kind that counts as load
        self.load: Counter[str] = Counter()
        self.load_in: Counter[tuple[str, str]] = Counter()
        self.remaining: Counter[str] = Counter()
        loading = [slot for slot in slots if slot.kind in LOADING]
        for slot in loading:
            self._put(slot)
        self.co_load = _co_loads(loading)

    def cost(self, slot: Slot, taker: str) -> tuple[int, int, int]:
        """Return the cost of moving a slot to `taker`; the move with the lowest cost is made.

        Costs are compared by the load of the taker. If the loads are equal, the co-load with the other reviewers of the
        item decides. If these are also equal, the load of the taker in the application decides.
        """
        others = self.labelled_by[slot.item] - {slot.reviewer}
        with_taker = self.co_load[taker]
        co_load = sum(with_taker[other] for other in others)
        return self.load[taker], co_load, self.load_in[taker, self.applications[slot.item]]

    def hand_over(self, slot: Slot, taker: str | None) -> None:
        """Move an open slot from its reviewer to `taker`; if `taker` is None, drop the slot."""
        self.labelled_by[slot.item].remove(slot.reviewer)
        self.remaining[slot.reviewer] -= 1
        if taker is not None:
            for other in self.labelled_by[slot.item]:
                self.co_load[taker][other] += 1
                self.co_load[other][taker] += 1
            self._put(replace(slot, reviewer=taker))

    def _put(self, slot: Slot) -> None:
        reviewer, item = slot.reviewer, slot.item
        if reviewer in self.labelled_by[item]:
            raise InputError(f"{reviewer} has item {item} twice.")
        if item not in self.applications:
            raise InputError(f"The application of item {item} is unknown.")
        self.labelled_by[item].add(reviewer)
        self.load[reviewer] += 1
        self.load_in[reviewer, self.applications[item]] += 1
        self.remaining[reviewer] += not slot.answered


class _Offers:
    """The slots that one reviewer can give to a joining reviewer.

    The slots and the other reviewers of each item are stored as arrays.
    """

    def __init__(self, slots: Sequence[Slot], standing: _Standing) -> None:
        self.slots = slots
        self.is_left = np.ones(len(slots), dtype=bool)
        self.place = {slot.item: n for n, slot in enumerate(slots)}
        others = [sorted(standing.labelled_by[slot.item] - {slot.reviewer}) for slot in slots]
        self.names = sorted(set().union(*others))
        number = {name: n for n, name in enumerate(self.names)}
        self.others = np.full(
            (len(slots), max(map(len, others))), len(self.names), dtype=np.int64
        )  # the index after the last name stands for no reviewer
        for n, own in enumerate(others):
            self.others[n, : len(own)] = [number[name] for name in own]
        self.applications = sorted({standing.applications[slot.item] for slot in slots})
        of_application = {name: n for n, name in enumerate(self.applications)}
        self.application = np.array([of_application[standing.applications[slot.item]] for slot in slots])

    def best(self, standing: _Standing, taker: str) -> Slot:
        """Return the slot with the lowest `_Standing.cost` for `taker`; if several are equal, return the first."""
        with_taker = standing.co_load[taker]
        co_load = np.array([*(with_taker[name] for name in self.names), 0])[self.others].sum(axis=1)
        load_in = np.array([standing.load_in[taker, name] for name in self.applications])[self.application]
        cost = co_load * (int(load_in.max()) + 1) + load_in
        return self.slots[int(np.where(self.is_left, cost, np.iinfo(np.int64).max).argmin())]

    def take_out(self, item: str) -> None:
        """Mark the slot of an item as unavailable.

        This is necessary if the joining reviewer has just got the same item from another reviewer.
        """
        if item in self.place:
            self.is_left[self.place[item]] = False


def _co_loads(loading: Sequence[Slot]) -> dict[str, Counter[str]]:
    """Return the number of items that each pair of reviewers shares.

    The function uses a matrix product, which is fast even if many reviewers share an item.
    """
    reviewers = {name: n for n, name in enumerate(sorted({slot.reviewer for slot in loading}))}
    items = {name: n for n, name in enumerate({slot.item for slot in loading})}
    is_on = np.zeros((len(reviewers), len(items)))
    is_on[[reviewers[slot.reviewer] for slot in loading], [items[slot.item] for slot in loading]] = 1
    rows = (is_on @ is_on.T).astype(np.int64).tolist()
    of_each = (
        (name, Counter(dict(zip(reviewers, row, strict=True)))) for name, row in zip(reviewers, rows, strict=True)
    )
    return defaultdict(Counter, of_each)


def _seen_by(slots: Iterable[Slot]) -> dict[str, set[str]]:
    """Return the reviewers who have each item before the change, whatever the kind of the assignment."""
    seen_by: dict[str, set[str]] = defaultdict(set)
    for slot in slots:
        seen_by[slot.item].add(slot.reviewer)
    return seen_by


def _open(slots: Iterable[Slot], reviewer: str) -> list[Slot]:
    return [slot for slot in slots if slot.reviewer == reviewer and not slot.answered]


def _place_in_plan(applications: Mapping[str, str], seed: Seed, slot: Slot) -> tuple[str, str, str, Kind]:
    application = applications.get(slot.item, "")
    return key(seed, application), application, key(seed, application, slot.item), slot.kind


def _offers(slots: Sequence[Slot], reviewer: str, standing: _Standing, seed: Seed) -> dict[str, dict[str, Slot]]:
    """Return the slots that reviewers can give to the joining reviewer, as reviewer -> item -> slot, sorted by key."""
    copied = {(slot.reviewer, slot.item) for slot in slots if slot.kind == Kind.RETEST}
    offers: dict[str, dict[str, Slot]] = defaultdict(dict)
    free = [
        slot
        for slot in slots
        if slot.kind in (Kind.FRESH, Kind.THIRD)
        and not (slot.answered or slot.bound or (slot.reviewer, slot.item) in copied)
        and reviewer not in standing.seen_by[slot.item]
    ]
    place = {item: key(seed, "join", reviewer, item) for item in {slot.item for slot in free}}
    for slot in sorted(free, key=lambda slot: place[slot.item]):
        offers[slot.reviewer][slot.item] = slot
    return offers


def _given_up(moves: Iterable[Move]) -> tuple[str, ...]:
    given_up = (move for move in moves if move.taker is None and move.kind is not Kind.ATTENTION)
    n_given_up = Counter((move.giver, move.kind) for move in given_up)
    nouns = {kind: "open item" if kind == Kind.FRESH else f"open {kind} item" for kind in Kind}
    return tuple(
        f"{giver}: {counted(n, nouns[kind])} no longer assigned, because {WHY_GIVEN_UP[kind]}"
        for (giver, kind), n in sorted(n_given_up.items())
    )


def _uneven(remaining: Mapping[str, int], joiner: str) -> tuple[str, ...]:
    return tuple(
        f"{name}: {n} items to do, but {joiner} has {remaining[joiner] or 'none'}; the other items cannot move, "
        f"because they are overlap items, have a hidden retest, or are items that {joiner} already has"
        for name, n in sorted(remaining.items())
        if n - remaining[joiner] > 1
    )


def _third_reviewer(item: str, people: Iterable[str], seen_by: set[str], seed: Seed) -> str | None:
    keyed: Callable[[str], str] = partial(key, seed, "third reviewer", item)
    return min((name for name in people if name not in seen_by), key=keyed, default=None)


def _without_third(takers: Mapping[str, str | None]) -> tuple[str, ...]:
    left_over = sorted(item for item, taker in takers.items() if taker is None)
    if not left_over:
        return ()
    which = "this item" if len(left_over) == 1 else "these items"
    return (f"no third label for {', '.join(left_over)}, because every reviewer already has {which}",)
