"""Compute a plan from a seed: which reviewer labels which items in which order.

The same seed gives the same plan for any order of the input, on all machines and with all versions of libraries. The
module therefore uses no random numbers, but sorts by `key`, a hash of the seed and of names. For the same reason,
arrays hold only integers.
"""

import hashlib
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, combinations, zip_longest
from json.encoder import encode_basestring, encode_basestring_ascii
from math import ceil, comb, floor

import numpy as np
from numpy.typing import NDArray

from analysis.text import counted
from labeler.errors import InputError
from labeler.studies.model import ALL, Assignment, Kind, PlanParameters

MIN_RETEST_GAP, RETEST_GAP_SHARE = 50, 0.25
CHECK_NAME = "attention check {}"
MIN_ITEMS_LEFT = 2  # minimum number of items that must remain for the study itself
# Plans of stored studies are verified by computing them again, so a change of these numbers needs a new parameter.
MAX_LISTED_BLOCKS = 10_000  # with more possible sets of reviewers, there are as many blocks as items
MAX_SWAPS = 5  # maximum per round of `even_blocks`; more swaps have little effect

_Numbers = NDArray[np.int64]

Seed = int | tuple[int, str]  # a seed, or a seed and the secret of the study (see `keyed_seed`)


@dataclass(frozen=True)
class Plan:
    """The assignments of a plan, and texts about the requirements that the plan could not meet."""

    assignments: tuple[Assignment, ...]
    blocks: tuple[tuple[str, ...], ...]
    shortfalls: tuple[str, ...]
    question: str = ""  # the hash of the question (see `labeler.studies.questions.hash_in_plan`)
    # The attention checks and the items from which they are made, as name of the check -> name of the item.
    checks: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def hash(self) -> str:
        """The SHA-256 hash of the assignments and the question, which is equal for equal plans."""
        return hash_of(self.assignments, self.question)

    def loads(self) -> dict[str, Counter[Kind]]:
        """Return how many assignments of each kind each reviewer has, as reviewer -> kind -> number."""
        loads: dict[str, Counter[Kind]] = defaultdict(Counter)
        for assignment in self.assignments:
            loads[assignment.reviewer][assignment.kind] += 1
        return dict(loads)


def draw_plan(
    items: Mapping[str, str],
    reviewers: Iterable[str],
    parameters: PlanParameters,
    secret: str = "",
    question: str = "",
    chosen: Collection[str] = (),
    known: Collection[str] = (),
) -> Plan:
    """Compute a plan that assigns all items to reviewers.

    All reviewers first label the items of the calibration round, to which the `chosen` items come first. Attention
    checks replace some of the other items, first the `known` items, and all reviewers get them at random places. Each
    remaining item is assigned to exactly `per_item` reviewers, or to all. If a requirement cannot be met, for example
    because a reviewer has too few items for the retests, `shortfalls` says so. Without the study's secret nobody can
    compute the plan from the seed. Raises InputError if there are no items, or a parameter is invalid.
    """
    people = sorted(set(reviewers))
    _check(items, people, parameters)
    seed = keyed_seed(parameters.seed, secret)
    before = reserved_items(items, parameters.calibration, seed, chosen)
    proper = {name: application for name, application in items.items() if name not in before}
    sources = reserved_items(proper, parameters.attention, seed, known, "attention")
    checks = {CHECK_NAME.format(number): name for number, name in enumerate(sources, start=1)}
    proper = {name: application for name, application in proper.items() if name not in sources}
    if parameters.paper:
        parts = _paper_parts(proper, people, seed)
    else:
        parts = _balanced_parts(proper, people, parameters, seed)
    calibration = [calibration_for(reviewer, before, seed) for reviewer in people]
    sequences = [_drawn_for(reviewer, parts, proper, parameters, seed, list(checks)) for reviewer in people]
    return Plan(
        assignments=tuple(chain(*calibration, *(assignments for assignments, _ in sequences))),
        blocks=tuple(parts.blocks),
        shortfalls=tuple(shortfall for _, shortfall in sequences if shortfall),
        question=question,
        checks=checks,
    )


def overlap_of(sizes: Sequence[int], overlap: float) -> list[int]:
    """Return how many items of each application all reviewers label.

    The total is the share `overlap` of all items, rounded. Each application first gets its whole items; the
    applications with the largest remainders get one more, and equal remainders are served in the given order.
    """
    share = Fraction(overlap).limit_denominator(1_000_000)  # exact, so that all machines give the same plan
    shared = [floor(share * size) for size in sizes]
    n_left = floor(share * sum(sizes) + Fraction(1, 2)) - sum(shared)
    by_remainder = sorted(range(len(sizes)), key=lambda place: shared[place] - share * sizes[place])
    for place in by_remainder[: max(n_left, 0)]:
        shared[place] += 1
    return shared


def copies_that_fit(n_items: int, n_copies: int) -> int:
    """Return how many of `n_copies` hidden retests fit among `n_items` items of a reviewer.

    A hidden retest must come a minimum number of items after the original item.
    """
    names = [str(n) for n in range(n_items)]
    sequence = _with_retests(names, dict(zip(names, names, strict=True)), n_copies, partial(key, 0))
    return len(sequence) - n_items


def balanced_blocks(reviewers: Sequence[str], per_item: int, seed: Seed) -> list[tuple[str, ...]]:
    """Return all possible sets of `per_item` reviewers, in an order that keeps the loads balanced at every point.

    Each set is called a block. The next block in the list is the block that makes the range of loads smallest. If
    several are equal, the smallest sum of squared loads decides, then the smallest co-load of a pair, then the key. The
    running time grows with the square of the number of sets.
    """
    people = sorted(reviewers)
    blocks = sorted(combinations(people, per_item), key=lambda block: key(seed, "block", *block))
    number = {person: i for i, person in enumerate(people)}
    members = np.array([[number[person] for person in block] for block in blocks], dtype=np.int64)
    members = members.reshape(-1, per_item).T.copy()
    is_member = np.zeros((len(people), len(blocks)), dtype=np.int64)
    is_member[members, np.arange(len(blocks))] = 1
    load = np.zeros(len(people), dtype=np.int64)
    total, co_load = np.zeros((2, len(blocks)), dtype=np.int64)  # for each block, the sums over its members
    is_left = np.ones(len(blocks), dtype=bool)
    chosen = []
    for _ in blocks:
        loads = load[members]
        raises_lowest = (loads == load.min()).sum(axis=0) == (load == load.min()).sum()
        spread = np.maximum(loads.max(axis=0) + 1, load.max()) - load.min() - raises_lowest
        cost = (spread * (total.max() + 1) + total) * (co_load.max() + 1) + co_load  # same order
        best = int(np.where(is_left, cost, np.iinfo(np.int64).max).argmin())
        n_common = is_member[members[:, best]].sum(axis=0)
        co_load += n_common * (n_common - 1) // 2
        total += n_common
        load[members[:, best]] += 1
        is_left[best] = False
        chosen.append(blocks[best])
    return chosen


def even_blocks(reviewers: Sequence[str], per_item: int, n_blocks: int, seed: Seed) -> list[tuple[str, ...]]:
    """Build `n_blocks` sets of `per_item` reviewers one after another, with balanced loads.

    Reviewers are chosen in rounds. Each reviewer occurs once in a round, so loads never differ by more than one. The
    next member of a block is the reviewer of the round who has the lowest co-load with the current members of the
    block. If several are equal, a reviewer from another connected group is preferred, and then the key decides. At the
    end of a round, up to `MAX_SWAPS` pairs of its reviewers are swapped if this makes the co-loads more even. The
    members of each block are sorted by name. Time and memory depend on the number of blocks, not on the number of
    possible sets.
    """
    people = sorted(reviewers)
    n_slots, n_rounds = n_blocks * per_item, ceil(n_blocks * per_item / len(people))
    members = np.zeros(n_slots, dtype=np.int64)
    co_load = np.zeros((len(people), len(people)), dtype=np.int64)
    group = np.arange(len(people))  # reviewers who share blocks, directly or through others, have the same group number
    n_complete = 0
    for n in range(n_rounds):
        start, end = n * len(people), min((n + 1) * len(people), n_slots)
        keyed = partial(key, seed, "round", str(n))
        order = np.array(sorted(range(len(people)), key=lambda i: keyed(people[i])))
        was_joined = bool((group == group[0]).all())
        _fill_round(members, start, end, order, co_load, group, per_item)
        if was_joined:
            _even_out_round(members, start, end, co_load, per_item)
        for block in members[n_complete * per_item : end // per_item * per_item].reshape(-1, per_item):
            co_load[np.ix_(block, block)] += 1
        np.fill_diagonal(co_load, 0)
        n_complete = end // per_item
    return [tuple(people[i] for i in sorted(block)) for block in members.reshape(-1, per_item).tolist()]


def _fill_round(
    members: _Numbers, start: int, end: int, order: _Numbers, co_load: _Numbers, group: _Numbers, per_item: int
) -> None:
    """Choose a reviewer for each position of `members` from `start` to `end`; `order` decides ties."""
    co_load, joined = 2 * co_load[np.ix_(order, order)], group[order]
    rank = order.argsort()
    is_joined = bool((joined == joined[0]).all())
    never = np.iinfo(np.int64).max // 2
    used = np.zeros(len(order), dtype=np.int64)
    cost = used
    block: list[int] = rank[members[start - start % per_item : start]].tolist()
    for slot in range(start, end):
        if slot % per_item == 0:
            block = []
        if len(block) < 2 or slot == start:
            cost = used + co_load[block].sum(axis=0)
            cost[block] = never
        else:
            cost = cost + co_load[block[-1]]
        apart = cost if is_joined or not block else cost + (joined[:, None] == joined[block]).any(axis=1)
        taker = int(apart.argmin())
        members[slot] = order[taker]
        used[taker] = cost[taker] = never
        block.append(taker)
        if not is_joined and len(block) > 1:
            joined[(joined[:, None] == joined[block]).any(axis=1)] = joined[taker]
            is_joined = bool((joined == joined[0]).all())
    group[order] = joined


def _even_out_round(members: _Numbers, start: int, end: int, co_load: _Numbers, per_item: int) -> None:
    """Swap reviewers within one round; each swap is the one that most lowers the sum of squared co-loads."""
    first = start - start % per_item  # start of a block that began in the previous round
    block = np.arange(first, end) // per_item - first // per_item
    is_member = np.zeros((len(co_load), block[-1] + 1), dtype=np.int64)
    is_member[members[first:end], block] = 1
    with_block = co_load @ is_member
    block, own = block[start - first :], members[start:end]
    for _ in range(MAX_SWAPS):
        after = with_block[own][:, block]
        now = with_block[own, block]
        change = after + after.T - now - now[:, None] - 2 * co_load[np.ix_(own, own)]
        is_on = is_member[own][:, block] > 0
        change[is_on | is_on.T] = 0  # a reviewer cannot be in a block twice
        a, b = np.unravel_index(change.argmin(), change.shape)
        if change[a, b] >= 0:
            return
        left, right = own[a], own[b]
        swap = co_load[:, right] - co_load[:, left]
        with_block[:, block[a]] += swap
        with_block[:, block[b]] -= swap
        is_member[[left, right], [block[a], block[b]]] = 0
        is_member[[right, left], [block[a], block[b]]] = 1
        own[a], own[b] = right, left


def keyed_seed(seed: int, secret: str) -> Seed:
    """Return the seed together with the secret of the study; return the seed alone if the study has no secret."""
    return (seed, secret) if secret else seed


def key(seed: Seed, *parts: str) -> str:
    """Return a key for sorting: the SHA-256 of the JSON list [seed, *parts] without spaces, as hexadecimal digits.

    If the seed comes with the secret of a study, the list is [seed, secret, *parts]. A seed has only 31 bits, so that
    without a secret anyone who knows the names can find the seed of a plan by trial.
    """
    number, *secret = seed if isinstance(seed, tuple) else (seed,)
    text = ",".join([str(number), *map(encode_basestring, (*secret, *parts))])
    return hashlib.sha256(f"[{text}]".encode()).hexdigest()


def hash_of(assignments: Iterable[Assignment], question: str = "") -> str:
    """Return the SHA-256 hash of assignments, whose order does not matter, and of the hash of the question.

    Each assignment is hashed as a JSON list.
    """
    quoted = encode_basestring_ascii
    lines = sorted(
        f"[{quoted(a.reviewer)}, {quoted(a.item)}, {quoted(a.kind)}, {a.block}, {a.position}]" for a in assignments
    )
    return hashlib.sha256("\n".join([*lines, *([question] if question else [])]).encode()).hexdigest()


@dataclass(frozen=True)
class _Parts:
    blocks: Sequence[tuple[str, ...]]
    block_of: Mapping[str, int]
    shared: Sequence[str]  # items that all reviewers label

    @cached_property
    def own(self) -> Mapping[str, Sequence[str]]:
        """The items of each reviewer, except the items that all reviewers label."""
        own: dict[str, list[str]] = defaultdict(list)
        for name, block in self.block_of.items():
            for reviewer in self.blocks[block]:
                own[reviewer].append(name)
        return own


def _check(items: Mapping[str, str], people: Sequence[str], parameters: PlanParameters) -> None:
    k = parameters.per_item
    if not items:
        raise InputError("The study has no items to plan. Import measurements first.")
    if k < 2:
        raise InputError(f"Each item needs at least two reviewers, not {k}.")
    if len(people) < k:
        raise InputError(f"Each item needs {k} reviewers, but the study has {len(people)}. Add reviewers first.")
    if not 0 <= parameters.overlap <= 1:
        raise InputError(f"The overlap must be a share from 0 to 1, not {parameters.overlap}.")
    if parameters.paper and (parameters.overlap, parameters.retest, parameters.per_item) != (0, 0, 2):
        raise InputError("The design of the paper has two reviewers per item, no overlap and no retest items.")
    if parameters.retest < 0:
        raise InputError(f"The number of retest items must be at least 0, not {parameters.retest}.")
    if parameters.stop_half_width is not None and not 0 < parameters.stop_half_width < 1:
        raise InputError(
            f"The half-width of the stopping rule must be between 0 and 1, not {parameters.stop_half_width}."
        )
    _check_reserved(len(items), parameters)


def _check_reserved(n_items: int, parameters: PlanParameters) -> None:
    numbers = {"calibration items": parameters.calibration, "attention checks": parameters.attention}
    for noun, n in numbers.items():
        if n < 0:
            raise InputError(f"The number of {noun} must be at least 0, not {n}.")
    n_reserved = sum(numbers.values())
    if n_reserved and n_items - n_reserved < MIN_ITEMS_LEFT:
        nouns = " and ".join(noun for noun, n in numbers.items() if n)
        raise InputError(
            f"At most {max(n_items - MIN_ITEMS_LEFT, 0)} of {n_items} items can be {nouns}, not {n_reserved}. The "
            f"study itself needs at least {MIN_ITEMS_LEFT} items."
        )


def reserved_items(
    items: Mapping[str, str], n_items: int, seed: Seed, chosen: Collection[str] = (), purpose: str = "calibration"
) -> Mapping[str, str]:
    """Choose the items of the calibration round or for another purpose, and return them as item -> application.

    The items that a coordinator has `chosen` come first. Then the first item of each application follows, then the
    second item of each application, and so on, until there are enough items.
    """
    applications = _by_application(items, partial(key, seed, purpose))
    in_turn = (name for turn in zip_longest(*applications) for name in turn if name is not None)
    order = sorted(in_turn, key=lambda name: name not in chosen)
    return {name: items[name] for name in order[:n_items]}


def calibration_for(reviewer: str, items: Mapping[str, str], seed: Seed) -> list[Assignment]:
    """Return the assignments of one reviewer in the calibration round with these items (name -> application)."""
    order = _presentation_order(items, items, partial(key, seed, "calibration", reviewer))
    return [Assignment(reviewer, name, Kind.CALIBRATION, ALL, position) for position, name in enumerate(order)]


def _drawn_for(
    reviewer: str,
    parts: _Parts,
    items: Mapping[str, str],
    parameters: PlanParameters,
    seed: Seed,
    checks: Sequence[str],
) -> tuple[list[Assignment], str]:
    """Return the assignments of one reviewer in order, and a text about requirements that could not be met."""
    kinds = dict.fromkeys(parts.own.get(reviewer, ()), Kind.FRESH)
    kinds |= dict.fromkeys(parts.shared, Kind.OVERLAP)
    order = _presentation_order(kinds, items, partial(key, seed, reviewer))
    sequence = _with_retests(order, items, parameters.retest, partial(key, seed, "retest", reviewer))
    drawn = [
        Assignment(reviewer, name, Kind.RETEST if again else kinds[name], parts.block_of.get(name, ALL), position)
        for position, (name, again) in enumerate(sequence)
    ]
    assignments = with_checks(drawn, checks, reviewer, seed, start=parameters.calibration)
    planned = len(sequence) - len(order)
    shortfall = (
        f"{reviewer}: {planned} of {counted(parameters.retest, 'retest item')}, because a retest must come at least "
        f"{_retest_gap(len(order))} positions after the item, and there are only {counted(len(order), 'item')}"
    )
    return assignments, shortfall if planned < parameters.retest else ""


def with_checks(
    own: Sequence[Assignment], checks: Iterable[str], reviewer: str, seed: Seed, *, start: int
) -> list[Assignment]:
    """Insert attention checks among the assignments of a reviewer, and number all of them anew from `start`.

    The assignments are divided into as many equal parts as there are checks, and each part gets one check at a random
    place, so that the checks are spread over the work but cannot be predicted. A reviewer without items gets no check.
    """
    keyed = partial(key, seed, "attention", reviewer)
    order = sorted(checks, key=keyed) if own else []
    sequence: list[Assignment] = []
    for number, name in enumerate(order):
        part = own[number * len(own) // len(order) : (number + 1) * len(own) // len(order)]
        at = int(keyed(name, "place"), 16) % (len(part) + 1)
        sequence += [*part[:at], Assignment(reviewer, name, Kind.ATTENTION, ALL, 0), *part[at:]]
    return [replace(row, position=position) for position, row in enumerate(sequence or own, start=start)]


def _balanced_parts(items: Mapping[str, str], people: Sequence[str], parameters: PlanParameters, seed: Seed) -> _Parts:
    """Assign items to blocks in turn, so that the items of each application are spread across all blocks."""
    keyed = partial(key, seed)
    shared: list[str] = []
    rest: list[str] = []
    applications = _by_application(items, keyed)
    sizes = overlap_of([len(names) for names in applications], parameters.overlap)
    for names, n_shared in zip(applications, sizes, strict=True):
        shared += names[:n_shared]
        rest += names[n_shared:]
    k = parameters.per_item
    if comb(len(people), k) <= MAX_LISTED_BLOCKS:
        blocks = balanced_blocks(people, k, seed)
    else:
        blocks = even_blocks(people, k, len(rest), seed)
    return _Parts(blocks, {name: j % len(blocks) for j, name in enumerate(rest)}, shared)


def _by_application(items: Mapping[str, str], keyed: Callable[..., str]) -> list[list[str]]:
    """Return the items of each application; the applications and the items in an application are sorted by key."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name, application in items.items():
        groups[application].append(name)
    applications = sorted(groups, key=lambda name: (keyed(name), name))
    return [sorted(groups[application], key=partial(keyed, application)) for application in applications]


def _paper_parts(items: Mapping[str, str], people: Sequence[str], seed: Seed) -> _Parts:
    """Divide the items at random into parts of nearly equal size, one part for each pair of reviewers."""
    pairs: list[tuple[str, ...]] = list(combinations(people, 2))
    shuffled = sorted(items, key=partial(key, seed, "paper"))
    return _Parts(pairs, {name: j % len(pairs) for j, name in enumerate(shuffled)}, [])


def _presentation_order(
    names: Iterable[str], applications: Mapping[str, str], keyed: Callable[[str], str]
) -> list[str]:
    """Return the items sorted by key, but without three items of the same application in a row.

    Three in a row occur only if all other applications are used up.
    """
    coming, deferred = (
        deque(sorted(names, key=keyed)),
        deque[str](),
    )  # all deferred items belong to one application
    order: list[str] = []
    previous = refused = None
    while coming or deferred:
        if not deferred or applications[deferred[0]] == refused:
            while coming and applications[coming[0]] == refused:
                deferred.append(coming.popleft())
            name = (coming or deferred).popleft()
        else:
            name = deferred.popleft()
        order.append(name)
        application = applications[name]
        refused = application if application == previous else None
        previous = application
    return order


def _with_retests(
    order: Sequence[str],
    applications: Mapping[str, str],
    n_copies: int,
    keyed: Callable[[str], str],
) -> list[tuple[str, bool]]:
    """Insert up to `n_copies` hidden retests, each far after the original, and return the new order.

    The result has pairs: the item, and whether this is a hidden retest.
    """
    gap = _retest_gap(len(order))
    sequence, is_copy = list(order), [False] * len(order)
    candidates = sorted(order, key=keyed) if n_copies and len(order) >= gap else []
    place = {name: at for at, name in enumerate(order)}
    first_time = np.array(
        [place[name] for name in candidates], dtype=np.int64
    )  # inserted retests shift these positions
    is_left = np.ones(len(candidates), dtype=bool)
    for _ in range(n_copies):
        can = is_left & (first_time + gap <= len(sequence))
        if not can.any():
            break
        n = int(can.argmax())
        name, earliest = candidates[n], int(first_time[n]) + gap
        is_left[n] = False
        n_places = len(sequence) - earliest + 1
        start = int(keyed(name), 16) % n_places
        places = (earliest + (start + step) % n_places for step in range(n_places))
        fitting = (at for at in places if not _is_third_in_a_row(sequence, at, name, applications))
        at = next(fitting, earliest + start)
        sequence.insert(at, name)
        is_copy.insert(at, True)
        first_time[first_time >= at] += 1
    return list(zip(sequence, is_copy, strict=True))


def _retest_gap(n_items: int) -> int:
    return max(MIN_RETEST_GAP, ceil(RETEST_GAP_SHARE * n_items))


def _is_third_in_a_row(sequence: Sequence[str], at: int, name: str, applications: Mapping[str, str]) -> bool:
    """Return whether three items of the same application would be in a row if `name` were inserted at position `at`."""
    near = [applications[other] for other in (*sequence[max(at - 2, 0) : at], name, *sequence[at : at + 2])]
    return any(near[i] == near[i + 1] == near[i + 2] for i in range(len(near) - 2))
