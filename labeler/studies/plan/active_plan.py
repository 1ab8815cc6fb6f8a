"""Compute the state of a plan in use before and after each change.

The states are computed during labelling, and again later to verify the plan. This is possible because each state
depends only on the active assignments and the answers so far, which are in the log.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import zip_longest

from labeler.studies.model import ALL, Assignment, Kind
from labeler.studies.plan import changes
from labeler.studies.plan.changes import LOADING, Changes, Slot
from labeler.studies.plan.design import Seed, calibration_for, hash_of, key, with_checks
from labeler.studies.questions import NOT_SURE, WITHDRAWN, is_label

N_BOUND = 3  # the item on a reviewer's screen and the next two never move to a reviewer who joins

Place = tuple[str, str, Kind]  # (reviewer, item, kind), the key of an assignment


def place_of(assignment: Assignment) -> Place:
    """Return the key of an assignment."""
    return assignment.reviewer, assignment.item, assignment.kind


@dataclass(frozen=True)
class ActivePlan:
    """The state of a plan at one moment.

    A `Place` is the key of an assignment: reviewer, item and kind.
    """

    standing: Mapping[Place, Assignment]  # the active assignments
    # The answers to each assignment, in the order in which the reviewer gave them.
    answers: Mapping[Place, tuple[str, ...]]
    applications: Mapping[str, str]
    excluded: frozenset[str]  # the excluded items
    imported: frozenset[Place]  # the assignments of imported labels, both active and ended
    seed: Seed
    # The assignments with a first label, even if the reviewer withdrew the label after answering other items.
    labelled: frozenset[Place] = frozenset()
    ended: Mapping[Place, Assignment] = field(default_factory=dict)  # the ended assignments
    question: str = ""  # the hash of the question, as in `labeler.studies.plan.design.Plan`
    n_bound: int = N_BOUND  # number of items of each reviewer that do not move to a reviewer who joins

    @property
    def hash(self) -> str:
        """The SHA-256 hash of the active assignments that were not imported.

        Until the first change, this hash equals the hash of the plan.
        """
        planned = (assignment for place, assignment in self.standing.items() if place not in self.imported)
        return hash_of(planned, self.question)

    def without(self, reviewer: str, staying: Iterable[str]) -> tuple["ActivePlan", Changes]:
        """Return the plan after a reviewer left, and the items that moved to other reviewers."""
        return self.moved(
            changes.reassign_slots_of_leaver(
                self._slots(), reviewer, applications=self.applications, staying=staying, seed=self.seed
            )
        )

    def succeeded(
        self, reviewer: str, successor: str, staying: Iterable[str], *, calibrating: bool = False
    ) -> tuple["ActivePlan", Changes]:
        """Return the plan after a successor took over from a reviewer, and the moves of items.

        If the calibration round is in progress, the successor also gets the calibration items.
        """
        if calibrating:
            return self._with_calibration_of(successor).succeeded(reviewer, successor, staying)
        return self.moved(
            changes.hand_over(
                self._slots(), reviewer, successor, applications=self.applications, staying=staying, seed=self.seed
            )
        )

    def joined(self, reviewer: str, *, calibrating: bool) -> tuple["ActivePlan", Changes]:
        """Return the plan after a reviewer joined, and the moves of items.

        If the calibration round is in progress, the reviewer also gets the calibration items. Attention checks come at
        random places among the items that moved to the reviewer.
        """
        prepared = self._with_calibration_of(reviewer) if calibrating else self
        slots = prepared.slots_to_share()
        after, change = prepared.moved(changes.join(slots, reviewer, applications=self.applications, seed=self.seed))
        return after.with_checks_of(reviewer), change

    def with_checks_of(self, reviewer: str) -> "ActivePlan":
        """Return the plan in which a reviewer who joined also has the attention checks of the study."""
        waiting = [row for place, row in self.standing.items() if place[0] == reviewer and self._is_waiting(place)]
        own = sorted(waiting, key=lambda row: row.position)
        has = {item for person, item, _ in (*self.standing, *self._answered_before) if person == reviewer}
        checks = {item for _, item, kind in (*self.standing, *self.ended) if kind is Kind.ATTENTION} - has
        return self.added(with_checks(own, checks, reviewer, self.seed, start=own[0].position if own else 0))

    def calibrated_again(self, names: Iterable[str], reviewers: Iterable[str]) -> "ActivePlan":
        """Return the plan with a second calibration round, in which all these reviewers label these items.

        The items leave the rest of the plan, because calibration items are not labelled again in the study.
        """
        chosen = {name: self.applications[name] for name in names}
        leaving = {
            place: assignment
            for place, assignment in self.standing.items()
            if assignment.item in chosen and assignment.kind is not Kind.CALIBRATION
        }
        remaining = {place: assignment for place, assignment in self.standing.items() if place not in leaving}
        ends = self._next_positions()
        new = [
            replace(assignment, position=assignment.position + ends.get(reviewer, 0))
            for reviewer in sorted(reviewers)
            for assignment in calibration_for(reviewer, chosen, self.seed)
        ]
        return replace(self, standing=remaining, ended={**self.ended, **leaving}).added(new)

    def _with_calibration_of(self, reviewer: str) -> "ActivePlan":
        """Return the plan in which a reviewer also has the items of the calibration round."""
        before = {item: self.applications[item] for _, item, kind in self.standing if kind is Kind.CALIBRATION}
        own = calibration_for(reviewer, before, self.seed)
        return self.added(assignment for assignment in own if place_of(assignment) not in self.standing)

    def in_third_round(
        self, split: Collection[str], agreed: Collection[str], reviewers: Iterable[str]
    ) -> tuple["ActivePlan", tuple[str, ...]]:
        """Return the plan after third labels were assigned, and texts about the requirements that it could not meet."""
        plan = changes.third_round(
            [item for item in split if item not in self.excluded],
            [item for item in agreed if item not in self.excluded],
            self._slots(), reviewers=reviewers, start=self._next_positions(), seed=self.seed,
        )  # fmt: skip
        return self.added(plan.assignments), plan.shortfalls

    def with_items(self, names: Iterable[str], reviewers: Iterable[str], per_item: int) -> "ActivePlan":
        """Return the plan with additional items, each assigned to `per_item` reviewers.

        Each item goes to the reviewers with the lowest loads; keys break ties. A reviewer sees the new items after all
        other items. The new items are sorted by key, so that their order does not reveal why an item was added.
        """
        load = Counter(reviewer for reviewer, _, kind in self.standing if kind in LOADING)
        own: dict[str, list[str]] = defaultdict(list)
        people = sorted(reviewers)
        for name in sorted(names, key=partial(key, self.seed, "next")):
            order = partial(key, self.seed, "next", name)
            for taker in sorted(people, key=lambda reviewer: (load[reviewer], order(reviewer)))[:per_item]:
                load[taker] += 1
                own[taker].append(name)
        ends, new = self._next_positions(), []
        for taker, items in own.items():
            in_order = sorted(items, key=partial(key, self.seed, "next", taker))
            places = enumerate(in_order, start=ends.get(taker, 0))
            new += [Assignment(taker, name, Kind.FRESH, ALL, position) for position, name in places]
        return self.added(new)

    def has_open(self, reviewer: str) -> bool:
        """Return whether this reviewer still has to answer an item outside the calibration round."""
        own = (place for place in self.standing if place[0] == reviewer and place not in self.labelled)
        return any(map(self._is_waiting, own))

    def _slots(self) -> list[Slot]:
        """Return the current assignments as slots, and the slots of `_labelled_but_ended`.

        After an import, a reviewer can have two assignments of the kinds fresh, overlap and third to the same item.
        Only one slot is returned for the two. If only one assignment is open, it is returned, because it can be
        reassigned. If both are open, the assignment that was not imported is returned.
        """
        slots: dict[tuple[str, str, Kind | None], Slot] = {}
        for place in sorted(self.standing, key=lambda place: (place in self.imported, place)):
            slot = Slot(*place, answered=self._has_label(place))
            kind = None if slot.kind in LOADING else slot.kind
            earlier = slots.get((slot.reviewer, slot.item, kind))
            if earlier is None or earlier.answered:
                slots[slot.reviewer, slot.item, kind] = slot
        return [*slots.values(), *self._labelled_but_ended()]

    def _labelled_but_ended(self) -> list[Slot]:
        """Return a slot for each label whose assignment has ended, imported or given after the item moved.

        Because of these slots, the reviewer cannot get the item again. The slots do not count towards the load.
        """
        ended = (self.imported | set(filter(self._has_label, self.ended))) - self.standing.keys()
        return [Slot(reviewer, item, Kind.CALIBRATION, answered=True) for reviewer, item, _ in ended]

    def slots_to_share(self) -> list[Slot]:
        """Return the current slots in the form that `join` needs.

        Slots of excluded items are marked as answered, so that they cannot move. The slots of each reviewer's next
        items are marked as bound. Further items that the browser has loaded can move; a label that comes later is
        stored.
        """
        bound = self._bound
        return [
            replace(
                slot,
                answered=slot.answered or slot.item in self.excluded,
                bound=(slot.reviewer, slot.item, slot.kind) in bound,
            )
            for slot in self._slots()
        ]

    def _next_positions(self) -> dict[str, int]:
        """Return the next free position of each reviewer.

        The position comes after the reviewer's last assignment that is active or has an answer.
        """
        ends: dict[str, int] = defaultdict(int)
        for assignment in (*self.standing.values(), *self._answered_before.values()):
            ends[assignment.reviewer] = max(ends[assignment.reviewer], assignment.position + 1)
        return dict(ends)

    def moved(self, change: Changes) -> tuple["ActivePlan", Changes]:
        """Return the plan after the moves of a change, and the change.

        A reviewer sees the moved items after all other items, sorted by key.
        """
        moved_away = {
            place: self.standing[place] for place in ((move.giver, move.item, move.kind) for move in change.moves)
        }
        by_taker: dict[str, list[Assignment]] = defaultdict(list)
        for move, old in zip(change.moves, moved_away.values(), strict=True):
            if move.taker is not None:
                by_taker[move.taker].append(replace(old, reviewer=move.taker))
        ends, new = self._next_positions(), []
        for taker, assignments in by_taker.items():
            keyed = partial(key, self.seed, "moved", taker)
            in_order = sorted(assignments, key=lambda assignment: keyed(assignment.item))
            positions = enumerate(in_order, start=ends.get(taker, 0))
            new += [replace(assignment, position=position) for position, assignment in positions]
        remaining = {place: assignment for place, assignment in self.standing.items() if place not in moved_away}
        return replace(self, standing=remaining, ended={**self.ended, **moved_away}).added(new), change

    def added(self, assignments: Iterable[Assignment]) -> "ActivePlan":
        """Return the plan with additional assignments.

        If an ended assignment with answers is added again, it gets its previous position.
        """
        before = self._answered_before
        standing = {
            **self.standing,
            **{place_of(assignment): before.get(place_of(assignment), assignment) for assignment in assignments},
        }
        ended = {place: assignment for place, assignment in self.ended.items() if place not in standing}
        return replace(self, standing=standing, ended=ended)

    @property
    def _answered_before(self) -> dict[Place, Assignment]:
        """The ended assignments that have an answer."""
        return {place: assignment for place, assignment in self.ended.items() if place in self.answers}

    def _has_label(self, place: Place) -> bool:
        """Return whether the assignment has a label.

        An assignment with a label cannot move. A label that was withdrawn at once does not count.
        """
        if place in self.labelled:
            return True
        answers = self.answers.get(place, ())
        followed = zip_longest(answers, answers[1:])
        return any(is_label(answer) and following != WITHDRAWN for answer, following in followed)

    def _is_waiting(self, place: Place) -> bool:
        """Return whether an assignment counts as waiting for an answer.

        Assignments of the calibration round and of excluded items never wait.
        """
        _, item, kind = place
        answers = self.answers.get(place, ())
        counts = kind is not Kind.CALIBRATION and item not in self.excluded
        return counts and (not answers or answers[-1] == WITHDRAWN)

    @cached_property
    def _bound(self) -> set[Place]:
        """The next assignments of each reviewer."""
        coming: dict[str, list[tuple[bool, int, Place]]] = defaultdict(list)
        for place, assignment in self.standing.items():
            if self._is_waiting(place) or self._comes_once_more(place):
                coming[assignment.reviewer].append((not self._is_waiting(place), assignment.position, place))
        return {place for own in coming.values() for _, _, place in sorted(own)[: self.n_bound]}

    def _comes_once_more(self, place: Place) -> bool:
        """Return whether the reviewer will see the item again after all other items.

        The item comes again after the first "not sure", unless it is excluded.
        """
        answers = self.answers.get(place, ())
        followed = zip_longest(answers, answers[1:])
        n_not_sure = sum(answer == NOT_SURE and following != WITHDRAWN for answer, following in followed)
        return bool(answers) and answers[-1] == NOT_SURE and n_not_sure == 1 and place[1] not in self.excluded
