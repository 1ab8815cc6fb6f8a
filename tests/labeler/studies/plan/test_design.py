import hashlib
import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, takewhile
from math import ceil, floor

import pytest
from hypothesis import given, settings, strategies as st

from labeler.errors import InputError
from labeler.studies.model import ALL, Kind, PlanParameters
from labeler.studies.plan.design import Plan, balanced_blocks, draw_plan, even_blocks, key, keyed_seed, overlap_of
from tests.conftest import examples

NAMES = ["ada", "ben", "cleo", "dan", "eve", "fay", "gus"]
FEWER = settings(max_examples=examples(50), deadline=None)
SIZES = st.lists(st.one_of(st.integers(1, 4), st.integers(5, 40)), min_size=1, max_size=6)
N_REVIEWERS = st.integers(2, 7)
# If these hashes change, stored plans of this size can no longer be verified.
GOLDEN_HASHES = {
    (50, 8): "38b2f506645d40c31c2cf3561d0f029957959fd5d6527a4429a61ff45cd4d784",
    (200, 2): "f2b2ccd902f220e69578ba4432bc00bae94bd66382b26fe2df373647cd5a7a35",
    (200, 20): "28f2ab773e3b2381e9a70f9eead8ef0717bcb0ccaa19a376729a4a8b8bbe878a",
}
SHARES = st.sampled_from([0.0, 0.2, 0.25, 0.5, 0.75, 1.0])


@dataclass(frozen=True)
class Drawn:
    """A plan and its inputs."""

    items: dict[str, str]
    people: list[str]
    parameters: PlanParameters
    plan: Plan

    @property
    def first_times(self):
        return [a for a in self.plan.assignments if a.kind != Kind.RETEST]

    @property
    def fresh(self):
        return [a for a in self.plan.assignments if a.kind == Kind.FRESH]

    def of(self, reviewer):
        return sorted((a for a in self.plan.assignments if a.reviewer == reviewer), key=lambda a: a.position)


def items_of(sizes):
    return {f"item {i}.{j}": f"org{i}/project" for i, size in enumerate(sizes) for j in range(size)}


@st.composite
def plans(draw, sizes=SIZES, n_reviewers=N_REVIEWERS, max_retest=0):
    people = NAMES[: draw(n_reviewers)]
    per_item = draw(st.integers(2, min(3, len(people))))
    retest = draw(st.integers(0, max_retest))
    parameters = PlanParameters(draw(st.integers(0, 2**40)), per_item, draw(SHARES), retest)
    items = items_of(draw(sizes))
    return Drawn(items, people, parameters, draw_plan(items, people, parameters))


def in_applications(drawn, assignments):
    groups = {application: [] for application in drawn.items.values()}
    for assignment in assignments:
        groups[drawn.items[assignment.item]].append(assignment)
    return groups


def spread(values, over):
    counts = Counter(values)
    return max(counts[x] for x in over) - min(counts[x] for x in over)


@given(plans(max_retest=3))
def test_every_item_has_exactly_k_reviewers_or_all_of_them_and_they_are_its_block(drawn):
    of_item = defaultdict(list)
    for assignment in drawn.first_times:
        of_item[assignment.item].append(assignment)
    assert of_item.keys() == drawn.items.keys()
    expected = {Kind.FRESH: drawn.parameters.per_item, Kind.OVERLAP: len(drawn.people)}
    for assignments in of_item.values():
        (kind,) = {a.kind for a in assignments}
        assert len({a.reviewer for a in assignments}) == len(assignments) == expected[kind]
    for assignment in drawn.plan.assignments:
        block = set(drawn.people) if assignment.block == ALL else set(drawn.plan.blocks[assignment.block])
        assert block == {a.reviewer for a in of_item[assignment.item]}
    assert all((a.block == ALL) == (a.kind == Kind.OVERLAP) for a in drawn.first_times)


@given(plans())
def test_loads_of_blocks_and_reviewers_are_level_overall_and_inside_every_application(drawn):
    blocks, has_four = range(len(drawn.plan.blocks)), len(drawn.people) == 4
    for assignments in (drawn.fresh, *in_applications(drawn, drawn.fresh).values()):
        assert spread({a.item: a.block for a in assignments}.values(), blocks) <= 1
    assert spread((a.reviewer for a in drawn.first_times), drawn.people) <= (1 if has_four else 2)
    if has_four or drawn.parameters.per_item == 2:
        for assignments in in_applications(drawn, drawn.first_times).values():
            assert spread((a.reviewer for a in assignments), drawn.people) <= (2 if has_four else 3)


@given(plans(max_retest=5), st.randoms(use_true_random=False))
def test_the_same_seed_gives_the_same_plan_whatever_the_order_of_the_input(drawn, random):
    items = dict(random.sample(list(drawn.items.items()), len(drawn.items)))
    people = random.sample(drawn.people, len(drawn.people))
    again = draw_plan(items, [*people, people[0]], drawn.parameters)
    assert again == drawn.plan
    assert again.hash == drawn.plan.hash


@given(plans(sizes=st.lists(st.integers(10, 20), min_size=1, max_size=3)), st.integers(1, 1000))
def test_another_seed_gives_another_plan(drawn, step):
    p = drawn.parameters
    other = draw_plan(drawn.items, drawn.people, PlanParameters(p.seed + step, p.per_item, p.overlap, p.retest))
    assert other.assignments != drawn.plan.assignments
    assert other.hash != drawn.plan.hash


@given(plans())
def test_the_overlap_is_the_rounded_share_of_all_items_spread_over_the_applications(drawn):
    shared = {a.item for a in drawn.plan.assignments if a.kind == Kind.OVERLAP}
    share = Fraction(str(drawn.parameters.overlap))
    assert len(shared) == floor(share * len(drawn.items) + Fraction(1, 2))
    for application, n in Counter(drawn.items.values()).items():
        assert abs(sum(drawn.items[item] == application for item in shared) - share * n) < 1


@pytest.mark.parametrize(
    ("sizes", "overlap", "total"), [([2] * 30, 0.2, 12), ([1] * 586, 0.2, 117), ([8] * 10, 0.15, 12)]
)
def test_the_overlap_of_small_applications_does_not_vanish(sizes, overlap, total):
    assert sum(overlap_of(sizes, overlap)) == total


def key_by_hand(*x):
    return hashlib.sha256(json.dumps(x, separators=(",", ":"), ensure_ascii=False).encode("utf-8")).hexdigest()


def test_a_key_is_the_hash_of_a_json_list_without_spaces_with_the_secret_of_the_study_if_there_is_one():
    assert key(7, "a", "b c") == hashlib.sha256(b'[7,"a","b c"]').hexdigest()
    assert key(7, "µ") == hashlib.sha256(b'[7,"\xc2\xb5"]').hexdigest()
    assert key(-1, 'a"b\\') == hashlib.sha256(b'[-1,"a\\"b\\\\"]').hexdigest()
    assert key(keyed_seed(7, "s3"), "ada", "ü") == key_by_hand(7, "s3", "ada", "ü")
    assert key(keyed_seed(7, ""), "ada", "ü") == key_by_hand(7, "ada", "ü")


@given(plans())
def test_items_are_taken_out_and_dealt_to_the_blocks_in_the_order_of_their_keys(drawn):
    seed, overlap = drawn.parameters.seed, Fraction(str(drawn.parameters.overlap))
    sizes = Counter(drawn.items.values())
    applications = sorted(sizes, key=lambda app: (key_by_hand(seed, app), app))
    n_shared = {app: floor(overlap * n) for app, n in sizes.items()}
    n_left = floor(overlap * len(drawn.items) + Fraction(1, 2)) - sum(n_shared.values())
    for app in sorted(applications, key=lambda app: overlap * sizes[app] - n_shared[app], reverse=True)[:n_left]:
        n_shared[app] += 1
    rows = sorted(
        (key_by_hand(seed, app), app, key_by_hand(seed, app, item), item) for item, app in drawn.items.items()
    )
    rest, shared = [], set()
    for _, application, _, item in rows:
        if n_shared[application]:
            n_shared[application] -= 1
            shared.add(item)
        else:
            rest.append(item)
    assert {a.item for a in drawn.plan.assignments if a.kind == Kind.OVERLAP} == shared
    assert {a.item: a.block for a in drawn.fresh} == {item: j % len(drawn.plan.blocks) for j, item in enumerate(rest)}


@given(st.integers(2, 7), st.integers(2, 3), st.integers(0, 10**6))
def test_blocks_are_all_sets_of_reviewers_each_next_one_the_best_balanced(n_reviewers, per_item, seed):
    people = NAMES[:n_reviewers]
    blocks = balanced_blocks(people[::-1], per_item, seed)
    assert sorted(blocks) == list(combinations(people, per_item))

    def imbalance(chosen, block):
        loads = [sum(person in b for b in (*chosen, block)) for person in people]
        met = sum(set(pair) <= set(b) for pair in combinations(block, 2) for b in chosen)
        return max(loads) - min(loads), sum(load**2 for load in loads), met, key_by_hand(seed, "block", *block)

    for j, block in enumerate(blocks):
        assert imbalance(blocks[:j], block) == min(imbalance(blocks[:j], other) for other in blocks[j:])


@given(plans(max_retest=30))
@FEWER
def test_positions_are_whole_and_first_times_show_no_third_in_a_row_while_another_application_remains(drawn):
    for reviewer in drawn.people:
        assert [a.position for a in drawn.of(reviewer)] == list(range(len(drawn.of(reviewer))))
        shown = [drawn.items[a.item] for a in drawn.of(reviewer) if a.kind != Kind.RETEST]
        for i in range(2, len(shown)):
            if shown[i - 2] == shown[i - 1] == shown[i]:
                assert set(shown[i:]) == {shown[i]}


def test_586_items_and_four_reviewers():
    one = dict.fromkeys(map(str, range(586)), "org/project")
    several = {str(j): f"org{j % 13 * (j % 7)}/project" for j in range(586)}
    for items in (one, several):
        plan = draw_plan(items, NAMES[:4], PlanParameters(1, overlap=0, retest=0))
        assert plan.loads() == {reviewer: {Kind.FRESH: 293} for reviewer in NAMES[:4]}
        assert plan.shortfalls == ()
    loads = draw_plan(one, NAMES[:4], PlanParameters(1, overlap=0.2, retest=0)).loads()
    assert {load[Kind.OVERLAP] for load in loads.values()} == {117}
    assert sorted(load.total() for load in loads.values()) == [351, 351, 352, 352]


@given(st.integers(2, 6), st.integers(1, 200), st.integers(0, 10**6))
@FEWER
def test_the_papers_design_splits_the_items_into_near_equal_parts_one_pair_each(n_reviewers, n_items, seed):
    items = dict.fromkeys(map(str, range(n_items)), "org/project")
    plan = draw_plan(items, NAMES[:n_reviewers], PlanParameters(seed, overlap=0, retest=0, paper=True))
    pairs = defaultdict(list)
    for assignment in plan.assignments:
        pairs[assignment.item].append(assignment.reviewer)
    every_pair = list(combinations(NAMES[:n_reviewers], 2))
    assert pairs.keys() == items.keys()
    assert sorted(plan.blocks) == every_pair
    assert {a.kind for a in plan.assignments} == {Kind.FRESH}
    assert spread((tuple(sorted(pair)) for pair in pairs.values()), every_pair) <= 1


@pytest.mark.parametrize(
    ("n_items", "n_reviewers", "parameters", "message"),
    [
        (0, 4, PlanParameters(1), "no items to plan"),
        (9, 0, PlanParameters(1), "needs 2.*0"),
        (9, 1, PlanParameters(1), "needs 2.*1"),
        (9, 2, PlanParameters(1, per_item=3), "needs 3.*2"),
        (9, 4, PlanParameters(1, per_item=1), "not 1"),
        (9, 4, PlanParameters(1, overlap=-0.1), r"overlap.*not -0\.1"),
        (9, 4, PlanParameters(1, overlap=1.5), r"overlap.*not 1\.5"),
        (9, 4, PlanParameters(1, overlap=float("nan")), "overlap.*not nan"),
        (9, 4, PlanParameters(1, retest=-1), "not -1"),
        (9, 4, PlanParameters(1, calibration=-1), "not -1"),
        (9, 4, PlanParameters(1, calibration=8), "7.*9.*calibration.*8.*2"),
        (1, 4, PlanParameters(1, calibration=1), "0.*1.*calibration.*1"),
        (9, 4, PlanParameters(1, overlap=0.2, retest=0, paper=True), r"design of the paper has .* no overlap"),
        (9, 4, PlanParameters(1, overlap=0, retest=5, paper=True), r"design of the paper has .* no retest"),
        (9, 4, PlanParameters(1, per_item=3, overlap=0, retest=0, paper=True), "paper has two reviewers"),
    ],
)
def test_what_cannot_be_planned_is_refused(n_items, n_reviewers, parameters, message):
    with pytest.raises(InputError, match=message):
        draw_plan(items_of([1] * n_items), NAMES[:n_reviewers], parameters)


@given(plans(sizes=st.lists(st.integers(20, 60), min_size=1, max_size=3), max_retest=30))
@FEWER
def test_a_retest_repeats_an_item_of_the_same_reviewer_once_and_far_enough_behind(drawn):
    for reviewer in drawn.people:
        own = drawn.of(reviewer)
        first = {a.item: a for a in own if a.kind != Kind.RETEST}
        copies = {a.item: a for a in own if a.kind == Kind.RETEST}
        assert len(first) + len(copies) == len(own)
        for item, copy in copies.items():
            assert copy.position - first[item].position >= max(50, ceil(0.25 * len(first)))
            assert copy.block == first[item].block


@given(plans(sizes=st.lists(st.integers(50, 120), min_size=1, max_size=2), max_retest=30))
@FEWER
def test_missing_retests_are_named_in_a_message_and_only_they(drawn):
    wanted = drawn.parameters.retest
    told = dict(line.split(": ", 1) for line in drawn.plan.shortfalls)
    for reviewer in drawn.people:
        loads = drawn.plan.loads()[reviewer]
        gap = max(50, ceil(0.25 * (loads.total() - loads[Kind.RETEST])))
        assert loads[Kind.RETEST] <= wanted
        assert (reviewer in told) == (loads[Kind.RETEST] < wanted)
        if reviewer in told:
            assert told[reviewer].startswith(f"{loads[Kind.RETEST]} of {wanted} retest item")
            assert f"at least {gap} positions after" in told[reviewer]


@pytest.mark.parametrize("n_items", [50, 55, 60, 69, 80, 300])
def test_as_many_retests_as_fit_are_planned(n_items):
    # a copy at the very end is as far from the first time as possible
    plan = draw_plan(items_of([1] * n_items), NAMES[:2], PlanParameters(1, overlap=0, retest=20))
    gap = max(50, ceil(0.25 * n_items))
    for reviewer in NAMES[:2]:
        own = sorted((a for a in plan.assignments if a.reviewer == reviewer), key=lambda a: a.position)
        copied = {a.item for a in own if a.kind == Kind.RETEST}
        still_fitting = [a.item for a in own if a.item not in copied and len(own) - a.position >= gap]
        assert len(copied) == 20 or not still_fitting


@given(plans(sizes=st.lists(st.integers(10, 40), min_size=2, max_size=4), max_retest=1))
@FEWER
def test_a_retest_makes_no_third_in_a_row_where_another_place_is_far_enough(drawn):
    for reviewer in drawn.people:
        own = drawn.of(reviewer)
        for copy in (a for a in own if a.kind == Kind.RETEST):
            others = [a for a in own if a is not copy]
            earliest = next(i for i, a in enumerate(others) if a.item == copy.item)
            earliest += max(50, ceil(0.25 * len(others)))
            applications = [drawn.items[a.item] for a in others]
            places = range(earliest, len(others) + 1)
            if any(not third_in_a_row(applications, at, drawn.items[copy.item]) for at in places):
                assert not third_in_a_row(applications, copy.position, drawn.items[copy.item])


def third_in_a_row(applications, at, application):
    """Whether `application`, at that place, would be beside two items of the same application, or between them."""
    before, after = applications[:at][::-1], applications[at:]
    return sum(len(list(takewhile(application.__eq__, side))) for side in (before, after)) >= 2


@pytest.mark.parametrize(
    ("sizes", "n_reviewers", "parameters", "expected"),
    [
        ([7, 3, 1], 4, PlanParameters(11, overlap=0.25, retest=0),
         "a8f08568c76c7e73543a0a3cc30538b0f8002cf4c855b29218018c9429aad241"),
        ([70, 30, 15, 4], 4, PlanParameters(5), "bfdcb522c58158ee4775c9945bb83f24d0c61e800d2f43e36d03d04d2ef5168d"),
        ([40, 20], 5, PlanParameters(2**40 + 3, 3, 0.1, 7),
         "a504007bb6d5e9d0c70064740d2f28c7a7a486c4f01df40602ee5e93f4343f30"),
        ([40, 20], 4, PlanParameters(3, overlap=0, retest=0, paper=True),
         "5d7e160d8feec09c27830e2ded56b20a1c60957dd85ff3e606c655222ee39639"),
    ],
)  # fmt: skip
def test_the_hash_of_a_plan_stays_the_same_between_versions(sizes, n_reviewers, parameters, expected):
    # Plans are drawn again from their seed for verification: a change here breaks every running study.
    assert draw_plan(items_of(sizes), NAMES[:n_reviewers], parameters).hash == expected


@st.composite
def calibrated_plans(draw):
    people = NAMES[: draw(st.integers(2, 5))]
    items = items_of(draw(st.lists(st.integers(1, 20), min_size=2, max_size=6)))
    seed, calibration = draw(st.integers(0, 2**40)), draw(st.integers(0, len(items) - 2))
    paper = PlanParameters(seed, overlap=0, retest=0, paper=True, calibration=calibration)
    balanced = PlanParameters(seed, 2, draw(SHARES), draw(st.integers(0, 2)), calibration=calibration)
    parameters = draw(st.sampled_from([paper, balanced]))
    return Drawn(items, people, parameters, draw_plan(items, people, parameters))


def calibration_of(drawn):
    return {a.item for a in drawn.plan.assignments if a.kind == Kind.CALIBRATION}


@given(calibrated_plans())
@FEWER
def test_every_reviewer_has_all_calibration_items_first_and_none_of_them_again(drawn):
    calibration = calibration_of(drawn)
    assert len(calibration) == drawn.parameters.calibration
    for reviewer in drawn.people:
        own = drawn.of(reviewer)
        assert [a.position for a in own] == list(range(len(own)))
        first, later = own[: len(calibration)], own[len(calibration) :]
        assert {a.item for a in first} == calibration
        assert {a.kind for a in first} <= {Kind.CALIBRATION}
        assert {a.block for a in first} <= {ALL}
        assert not {a.item for a in later} & calibration


@given(calibrated_plans())
@FEWER
def test_the_study_proper_is_the_plan_of_the_items_that_calibration_leaves_only_later(drawn):
    p, calibration = drawn.parameters, calibration_of(drawn)
    left = {item: application for item, application in drawn.items.items() if item not in calibration}
    plain = draw_plan(left, drawn.people, PlanParameters(p.seed, p.per_item, p.overlap, p.retest, p.paper))
    proper = [
        (a.reviewer, a.item, a.kind, a.block, a.position - p.calibration)
        for a in drawn.plan.assignments
        if a.kind != Kind.CALIBRATION
    ]
    assert proper == [(a.reviewer, a.item, a.kind, a.block, a.position) for a in plain.assignments]
    assert (drawn.plan.blocks, drawn.plan.shortfalls) == (plain.blocks, plain.shortfalls)


@given(calibrated_plans())
@FEWER
def test_calibration_takes_the_first_items_by_key_of_every_application_in_turn(drawn):
    calibration, seed = calibration_of(drawn), drawn.parameters.seed
    taken = Counter(drawn.items[item] for item in calibration)
    for application in drawn.items.values():
        names = [item for item, other in drawn.items.items() if other == application]
        names.sort(key=lambda item: key_by_hand(seed, "calibration", application, item))
        assert calibration >= set(names[: taken[application]])
        # a reviewer who has given less has no more to give, or comes later in the last round
        behind = [other for other in taken if taken[other] > taken[application]]
        for other in behind if taken[application] < len(names) else []:
            assert taken[other] == taken[application] + 1
            assert key_by_hand(seed, "calibration", other) < key_by_hand(seed, "calibration", application)


def test_calibration_items_come_in_another_order_for_each_reviewer():
    plan = draw_plan(items_of([1] * 40), NAMES[:2], PlanParameters(1, overlap=0, retest=0, calibration=20))
    orders = [[a.item for a in plan.assignments if a.reviewer == name][:20] for name in NAMES[:2]]
    assert sorted(orders[0]) == sorted(orders[1])
    for name, order in zip(NAMES, orders, strict=False):  # each item has its own application
        assert order == sorted(order, key=lambda item: key_by_hand(1, "calibration", name, item))


def test_calibration_of_three_applications_worked_by_hand():
    # six of 5 + 2 + 1 items: one of each application, then one of each of the two others, then one of the last
    items = items_of([5, 2, 1])
    plan = draw_plan(items, NAMES[:3], PlanParameters(1, overlap=0, retest=0, calibration=6))
    taken = Counter(items[a.item] for a in plan.assignments if a.kind == Kind.CALIBRATION and a.reviewer == "ada")
    assert taken == {"org0/project": 3, "org1/project": 2, "org2/project": 1}
    assert plan.loads()["ada"][Kind.CALIBRATION] == 6
    assert sum(load[Kind.FRESH] for load in plan.loads().values()) == 4


@st.composite
def even(draw):
    """Reviewers, the number per item, and enough blocks that everybody is in two or more."""
    people = [f"r{i}" for i in range(draw(st.integers(4, 60)))]
    per_item = draw(st.integers(2, min(20, len(people) - 1)))
    at_least = ceil(2 * len(people) / per_item)
    n_blocks = draw(st.integers(at_least, at_least + 100))
    return people, even_blocks(people, per_item, n_blocks, draw(st.integers(0, 2**40))), per_item


def pair_counts(blocks, people):
    pairs = Counter(pair for block in blocks for pair in combinations(block, 2))
    return [pairs[pair] for pair in combinations(sorted(people), 2)]


def groups_joined_by(blocks, people):
    groups = [{person} for person in people]
    for block in blocks:
        touched = [group for group in groups if group & set(block)]
        groups = [group for group in groups if group not in touched] + [set().union(*touched)]
    return groups


@given(even())
def test_after_any_number_of_even_blocks_of_distinct_reviewers_loads_differ_by_at_most_one(drawn):
    people, blocks, per_item = drawn
    assert all(len(set(block)) == per_item and list(block) == sorted(block) for block in blocks)
    load = Counter(dict.fromkeys(people, 0))
    for block in blocks:
        load.update(block)
        assert max(load.values()) - min(load.values()) <= 1


@given(even())
def test_even_blocks_join_all_reviewers_once_everybody_is_in_two(drawn):
    people, blocks, _ = drawn
    assert len(groups_joined_by(blocks, people)) == 1


@given(even())
def test_pairs_meet_in_even_blocks_almost_equally_often(drawn):
    people, blocks, per_item = drawn
    counts = pair_counts(blocks, people)
    mean = sum(counts) / len(counts)
    least = mean - floor(mean)  # the variance is at least that of the two whole numbers around the mean
    variance = sum((n - mean) ** 2 for n in counts) / len(counts)
    by_chance = mean * (1 - (per_item - 1) / (len(people) - 1))  # of randomly drawn blocks
    assert variance <= least * (1 - least) + 0.9 * by_chance


@pytest.mark.parametrize(("n_reviewers", "per_item", "n_blocks"), [(100, 2, 2000), (50, 3, 1000)])
def test_pairs_of_two_or_three_meet_equally_often_but_for_one(n_reviewers, per_item, n_blocks):
    people = [f"r{i}" for i in range(n_reviewers)]
    counts = pair_counts(even_blocks(people, per_item, n_blocks, 1), people)
    assert max(counts) - min(counts) <= 1


@pytest.mark.slow
def test_a_plan_lists_all_blocks_up_to_ten_thousand_and_builds_as_many_as_items_beyond():
    items = items_of([30])
    listed = draw_plan(items, [f"r{i}" for i in range(141)], PlanParameters(1, 2, 0, 0))
    built = draw_plan(items, [f"r{i}" for i in range(142)], PlanParameters(1, 2, 0, 0))
    assert (len(listed.blocks), len(built.blocks)) == (9870, 30)


@pytest.mark.parametrize(
    ("n_reviewers", "per_item"), [(50, 8), (200, 2), pytest.param(200, 20, marks=pytest.mark.slow)]
)
def test_a_plan_of_many_reviewers_has_the_same_properties_as_one_of_few(n_reviewers, per_item):
    items, people = items_of([300, 200, 100]), [f"r{i}" for i in range(n_reviewers)]
    parameters = PlanParameters(3, per_item, 0.1, 5)
    drawn = Drawn(items, people, parameters, draw_plan(items, people, parameters))
    reviewers = Counter(a.item for a in drawn.fresh)
    assert set(reviewers.values()) == {per_item}
    assert len(reviewers) == 540
    assert spread((a.reviewer for a in drawn.first_times), people) <= 1
    for assignments in in_applications(drawn, drawn.first_times).values():
        assert spread((a.reviewer for a in assignments), people) <= 2
    assert len({a.position for a in drawn.of("r0")}) == len(drawn.of("r0"))
    assert draw_plan(items, people[::-1], parameters).hash == drawn.plan.hash
    assert drawn.plan.hash == GOLDEN_HASHES[n_reviewers, per_item]


def test_a_seed_without_the_secret_of_the_study_gives_another_plan():
    items, people = items_of([12, 8]), NAMES[:4]
    secrets = ("", "a" * 32, "b" * 32)
    assert len({draw_plan(items, people, PlanParameters(seed=7, retest=0), secret).hash for secret in secrets}) == 3
