"""The plan: who labels what in which order, from a seed alone.

Nothing here is random. `key` is a hash of the seed and of names, so that the same seed gives the same plan whatever
the order of the input, the version of a library or the machine.
"""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations, islice, zip_longest
from math import ceil, floor

from labeler.errors import InputError
from labeler.model import ALL, Assignment, Kind, PlanParameters

MIN_RETEST_GAP, RETEST_GAP_SHARE = 50, 0.25
MIN_ITEMS_LEFT = 2  # by a calibration round


@dataclass(frozen=True)
class Plan:
    """All assignments, and in words what could not be met."""

    assignments: tuple[Assignment, ...]
    blocks: tuple[tuple[str, ...], ...]
    shortfalls: tuple[str, ...]

    @property
    def hash(self) -> str:
        """SHA-256 over the assignments: equal for equal plans."""
        return hash_of(self.assignments)

    def loads(self) -> dict[str, Counter[Kind]]:
        """How many assignments of each kind every reviewer has."""
        loads: dict[str, Counter[Kind]] = defaultdict(Counter)
        for assignment in self.assignments:
            loads[assignment.reviewer][assignment.kind] += 1
        return dict(loads)


def draw_plan(items: Mapping[str, str], reviewers: Iterable[str], parameters: PlanParameters) -> Plan:
    """Assign every item to its reviewers.

    Parameters
    ----------
    items : mapping of item name to application
    reviewers : iterable of str
        Their names; the order does not matter.
    parameters : PlanParameters

    Returns
    -------
    Plan
        The items of the calibration round come first and for all reviewers. Every other item is labelled by exactly
        `per_item` reviewers, or by all of them. Wishes that the items cannot meet (retests far enough apart) are in
        `shortfalls`; the plan never fails for them.

    Raises
    ------
    InputError
        If there is nothing to plan, or a parameter makes no sense.
    """
    people = sorted(set(reviewers))
    _check(items, people, parameters)
    before = _calibration_items(items, parameters)
    proper = {name: application for name, application in items.items() if name not in before}
    split = _paper_parts if parameters.paper else _balanced_parts
    parts = split(proper, people, parameters)
    calibration = [calibration_for(reviewer, before, parameters.seed) for reviewer in people]
    drawn = [_drawn_for(reviewer, parts, proper, parameters) for reviewer in people]
    return Plan(
        assignments=tuple(chain(*calibration, *(assignments for assignments, _ in drawn))),
        blocks=tuple(parts.blocks),
        shortfalls=tuple(shortfall for _, shortfall in drawn if shortfall),
    )


def balanced_blocks(reviewers: Sequence[str], per_item: int, seed: int) -> list[tuple[str, ...]]:
    """All sets of `per_item` reviewers, ordered so that any stretch of the list loads everyone alike.

    Each next block is the one that leaves the smallest range of loads, then the smallest sum of their squares, then
    the smallest co-load of any two, then by key.
    """
    people = sorted(reviewers)
    left = list(combinations(people, per_item))
    load: Counter[str] = Counter(dict.fromkeys(people, 0))
    co_load: Counter[tuple[str, ...]] = Counter()
    chosen = []

    def cost(block: tuple[str, ...]) -> tuple[int, int, int, str]:
        after = [load[person] + (person in block) for person in people]
        shared = sum(co_load[pair] for pair in combinations(block, 2))
        return max(after) - min(after), sum(x * x for x in after), shared, key(seed, "block", *block)

    while left:
        block = min(left, key=cost)
        left.remove(block)
        chosen.append(block)
        load.update(block)
        co_load.update(combinations(block, 2))
    return chosen


def key(seed: int, *parts: str) -> str:
    """SHA-256 of the JSON list [seed, *parts] without spaces, as hexadecimal digits."""
    text = json.dumps([seed, *parts], separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def hash_of(assignments: Iterable[Assignment]) -> str:
    """SHA-256 over assignments, whatever their order."""
    lines = sorted(json.dumps([a.reviewer, a.item, a.kind, a.block, a.position]) for a in assignments)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass(frozen=True)
class _Parts:
    blocks: Sequence[tuple[str, ...]]
    block_of: Mapping[str, int]
    shared: Sequence[str]  # labelled by all


def _check(items: Mapping[str, str], people: Sequence[str], parameters: PlanParameters) -> None:
    k = parameters.per_item
    if not items:
        raise InputError("There is nothing to plan: the study has no items. Import measurements first.")
    if k < 2:
        raise InputError(f"Each item needs at least two reviewers, got {k}.")
    if len(people) < k:
        raise InputError(f"{k} reviewers are to label each item, but the study has {len(people)}. Add reviewers first.")
    if not 0 <= parameters.overlap <= 1:
        raise InputError(f"The overlap is a share between 0 and 1, got {parameters.overlap}.")
    if parameters.paper and (parameters.overlap, parameters.retest, parameters.per_item) != (0, 0, 2):
        raise InputError("The paper's design has two reviewers per item, no overlap and no retest items.")
    if parameters.retest < 0:
        raise InputError(f"The number of retest items cannot be negative, got {parameters.retest}.")
    _check_calibration(len(items), parameters.calibration)


def _check_calibration(n_items: int, wanted: int) -> None:
    if wanted < 0:
        raise InputError(f"The number of calibration items cannot be negative, got {wanted}.")
    if wanted and n_items - wanted < MIN_ITEMS_LEFT:
        raise InputError(
            f"Of {n_items} items at most {max(n_items - MIN_ITEMS_LEFT, 0)} can be calibration items, got {wanted}: "
            f"the study itself needs {MIN_ITEMS_LEFT}."
        )


def _calibration_items(items: Mapping[str, str], parameters: PlanParameters) -> Mapping[str, str]:
    """The first item of each application, then the second of each, until there are enough: item to application."""
    applications = _by_application(items, partial(key, parameters.seed, "calibration"))
    in_turn = (name for turn in zip_longest(*applications) for name in turn if name is not None)
    return {name: items[name] for name in islice(in_turn, parameters.calibration)}


def calibration_for(reviewer: str, items: Mapping[str, str], seed: int) -> list[Assignment]:
    """The assignments of one reviewer in a calibration round on these items (name to application)."""
    order = _presentation_order(items, items, partial(key, seed, "calibration", reviewer))
    return [Assignment(reviewer, name, Kind.CALIBRATION, ALL, position) for position, name in enumerate(order)]


def _drawn_for(
    reviewer: str, parts: _Parts, items: Mapping[str, str], parameters: PlanParameters
) -> tuple[list[Assignment], str]:
    """One reviewer's assignments in their order, and in words what could not be met."""
    kinds = {name: Kind.FRESH for name, block in parts.block_of.items() if reviewer in parts.blocks[block]}
    kinds |= dict.fromkeys(parts.shared, Kind.OVERLAP)
    order = _presentation_order(kinds, items, partial(key, parameters.seed, reviewer))
    sequence = _with_retests(order, items, parameters.retest, partial(key, parameters.seed, "retest", reviewer))
    assignments = [
        Assignment(reviewer, name, Kind.RETEST if again else kinds[name], parts.block_of.get(name, ALL), position)
        for position, (name, again) in enumerate(sequence, start=parameters.calibration)
    ]
    planned = len(sequence) - len(order)
    shortfall = (
        f"{reviewer}: {planned} of {parameters.retest} retest items; a hidden copy comes at least "
        f"{_retest_gap(len(order))} positions later, and there are {len(order)} items"
    )
    return assignments, shortfall if planned < parameters.retest else ""


def _balanced_parts(items: Mapping[str, str], people: Sequence[str], parameters: PlanParameters) -> _Parts:
    """Every run of consecutive items, so also every application, is spread evenly over the blocks."""
    keyed = partial(key, parameters.seed)
    shared: list[str] = []
    rest: list[str] = []
    for names in _by_application(items, keyed):
        n_shared = floor(parameters.overlap * len(names) + 1 / 2)
        shared += names[:n_shared]
        rest += names[n_shared:]
    blocks = balanced_blocks(people, parameters.per_item, parameters.seed)
    return _Parts(blocks, {name: j % len(blocks) for j, name in enumerate(rest)}, shared)


def _by_application(items: Mapping[str, str], keyed: Callable[..., str]) -> list[list[str]]:
    """The items of each application in the order of their keys, the applications in the order of theirs."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name, application in items.items():
        groups[application].append(name)
    applications = sorted(groups, key=lambda name: (keyed(name), name))
    return [sorted(groups[application], key=partial(keyed, application)) for application in applications]


def _paper_parts(items: Mapping[str, str], people: Sequence[str], parameters: PlanParameters) -> _Parts:
    """Near-equal random parts, one pair of reviewers each."""
    pairs: list[tuple[str, ...]] = list(combinations(people, 2))
    shuffled = sorted(items, key=partial(key, parameters.seed, "paper"))
    return _Parts(pairs, {name: j % len(pairs) for j, name in enumerate(shuffled)}, [])


def _presentation_order(
    names: Iterable[str], applications: Mapping[str, str], keyed: Callable[[str], str]
) -> list[str]:
    """By key, but never a third item of one application in a row while another application remains."""
    left = sorted(names, key=keyed)
    order: list[str] = []
    while left:
        fitting = (name for name in left if not _is_third_in_a_row(order, len(order), name, applications))
        name = next(fitting, left[0])
        left.remove(name)
        order.append(name)
    return order


def _with_retests(
    order: Sequence[str],
    applications: Mapping[str, str],
    wanted: int,
    keyed: Callable[[str], str],
) -> list[tuple[str, bool]]:
    """The order with up to `wanted` hidden copies inserted, each far behind its first time: (item, is a copy)."""
    gap = _retest_gap(len(order))
    sequence, is_copy, left = list(order), [False] * len(order), sorted(order, key=keyed)
    for _ in range(wanted):
        first_time = {name: at for at, name in reversed(list(enumerate(sequence)))}
        name = next((name for name in left if first_time[name] + gap <= len(sequence)), None)
        if name is None:
            break
        left.remove(name)
        earliest = first_time[name] + gap
        n_places = len(sequence) - earliest + 1
        start = int(keyed(name), 16) % n_places
        places = [earliest + (start + step) % n_places for step in range(n_places)]
        at = next((at for at in places if not _is_third_in_a_row(sequence, at, name, applications)), places[0])
        sequence.insert(at, name)
        is_copy.insert(at, True)
    return list(zip(sequence, is_copy, strict=True))


def _retest_gap(n_items: int) -> int:
    return max(MIN_RETEST_GAP, ceil(RETEST_GAP_SHARE * n_items))


def _is_third_in_a_row(sequence: Sequence[str], at: int, name: str, applications: Mapping[str, str]) -> bool:
    """Whether inserting `name` before position `at` makes three neighbours of one application."""
    near = [applications[other] for other in (*sequence[max(at - 2, 0) : at], name, *sequence[at : at + 2])]
    return any(near[i] == near[i + 1] == near[i + 2] for i in range(len(near) - 2))
