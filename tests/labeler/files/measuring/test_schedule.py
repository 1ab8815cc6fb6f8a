"""The order of the runs: balanced, derived from the seed, uniform if random."""

from collections import Counter
from dataclasses import replace
from itertools import groupby

import numpy as np
from hypothesis import given, settings, strategies as st
from scipy import stats

from labeler.files.measuring.plan import (
    Command,
    Factor,
    FactorLevel,
    MeasurementPlan,
    PlanEntry,
    contexts_of,
    kinds_of_order,
    n_steps,
    schedule,
)

COMMAND = {"": Command(("true",))}


@st.composite
def plans(draw):
    names = [f"b{at}" for at in range(draw(st.integers(1, 5)))]
    versions = {f"v{at}": {} for at in range(draw(st.integers(0, 3)))}
    factors = tuple(
        Factor(f"f{at}", "variable", tuple(FactorLevel(str(level), ("x",)) for level in range(draw(st.integers(1, 3)))))
        for at in range(draw(st.integers(0, 2)))
    )
    n_contexts = int(np.prod([len(factor.levels) for factor in factors]))
    return MeasurementPlan(
        tuple(PlanEntry(name, COMMAND) for name in names),
        versions,
        factors,
        contexts=draw(st.integers(1, n_contexts)) if factors and draw(st.booleans()) else None,
        runs=draw(st.integers(1, 4)),
        order=draw(st.sampled_from(["fixed", "random", "both"])),
        interleave=draw(st.booleans()),
        seed=draw(st.integers(0, 1000)),
    )


def cell(step):
    return step.version, tuple(step.factors.values()), step.order_type


def passes(plan):
    """Return the runs of each pass through all benchmarks."""
    steps, n = list(schedule(plan)), len(plan.benchmarks)
    return [steps[at : at + n] for at in range(0, len(steps), n)]


@settings(deadline=None)
@given(plans())
def test_each_benchmark_is_run_equally_often_in_each_version_context_and_order(plan):
    steps = list(schedule(plan))
    counts = Counter((step.benchmark, *cell(step)) for step in steps)
    n_cells = len(plan.benchmarks) * max(len(plan.versions), 1) * len(contexts_of(plan)) * len(kinds_of_order(plan))
    assert len(counts) == n_cells
    assert set(counts.values()) == {plan.runs}
    assert [step.number for step in steps] == list(range(n_steps(plan)))


@settings(deadline=None)
@given(plans())
def test_a_pass_runs_every_benchmark_once_and_knows_positions_and_predecessors(plan):
    for one in passes(plan):
        assert len({(step.round, *cell(step)) for step in one}) == 1
        assert sorted(step.benchmark for step in one) == sorted(entry.name for entry in plan.benchmarks)
        assert [step.position for step in one] == list(range(1, len(one) + 1))
        assert [step.predecessor for step in one] == ["", *(step.benchmark for step in one[:-1])]
        if one[0].order_type == "fixed":
            assert [step.benchmark for step in one] == [entry.name for entry in plan.benchmarks]


@settings(deadline=None)
@given(plans())
def test_versions_take_turns_unless_they_are_to_follow_one_another(plan):
    plan = replace(plan, versions={"A": {}, "B": {}})
    versions = [one[0].version for one in passes(plan)]
    if not plan.interleave:
        assert versions == sorted(versions)
        return
    both_rounds = replace(plan, runs=2)
    firsts = [
        (tuple(pair[0][0].factors.values()), pair[0][0].order_type, pair[0][0].version)
        for pair in zip(passes(both_rounds)[::2], passes(both_rounds)[1::2], strict=True)
    ]
    assert set(Counter(firsts).values()) == {1}  # in two rounds, each version is first once in each context and order
    assert len(firsts) == 2 * len(contexts_of(plan)) * len(kinds_of_order(plan))


def test_two_versions_of_one_context_alternate_as_a_b_b_a():
    plan = MeasurementPlan((PlanEntry("b", COMMAND),), {"A": {}, "B": {}}, runs=4, order="fixed")
    assert "".join(step.version for step in schedule(plan)) == "ABBAABBA"


def test_blocks_of_both_orders_take_turns():
    plan = MeasurementPlan((PlanEntry("b", COMMAND),), runs=3, order="both")
    assert [step.order_type[0] for step in schedule(plan)] == list("frrffr")


@settings(deadline=None)
@given(plans())
def test_the_seed_decides_and_a_longer_plan_begins_with_a_shorter_one(plan):
    assert list(schedule(plan)) == list(schedule(plan))
    longer = replace(plan, runs=plan.runs + 2, interleave=True)
    shorter = replace(plan, interleave=True)
    assert list(schedule(longer))[: n_steps(shorter)] == list(schedule(shorter))


def test_random_positions_and_predecessors_are_uniform_and_another_seed_draws_others():
    plan = MeasurementPlan(tuple(PlanEntry(name, COMMAND) for name in "abcd"), runs=600, order="random", seed=3)
    steps = list(schedule(plan))
    positions = Counter((step.benchmark, step.position) for step in steps)
    after = Counter((step.benchmark, step.predecessor) for step in steps if step.predecessor)
    assert stats.chisquare([positions[name, at] for name in "abcd" for at in range(1, 5)], ddof=6).pvalue > 0.001
    assert stats.chisquare([after[a, b] for a in "abcd" for b in "abcd" if a != b]).pvalue > 0.001
    orders = {seed: [step.benchmark for step in schedule(replace(plan, runs=20, seed=seed))] for seed in (3, 4)}
    assert orders[3] != orders[4]


@given(st.integers(0, 50), st.integers(1, 24))
def test_a_fraction_of_contexts_has_no_combination_twice(seed, n):
    factors = tuple(
        Factor(name, "variable", tuple(FactorLevel(str(level), ("x",)) for level in range(size)))
        for name, size in (("a", 2), ("b", 3), ("c", 4))
    )
    drawn = contexts_of(MeasurementPlan((PlanEntry("b", COMMAND),), factors=factors, contexts=n, seed=seed))
    assert len({tuple(row.values()) for row in drawn}) == len(drawn) == n


def test_a_fraction_of_contexts_has_each_level_equally_often():
    factors = tuple(
        Factor(name, "variable", tuple(FactorLevel(str(level), ("x",)) for level in range(size)))
        for name, size in (("a", 2), ("b", 3), ("c", 4))
    )
    drawn = contexts_of(MeasurementPlan((PlanEntry("b", COMMAND),), factors=factors, contexts=12))
    for name, size in (("a", 2), ("b", 3), ("c", 4)):
        assert set(Counter(row[name] for row in drawn).values()) == {12 // size}


def test_a_large_plan_is_listed_without_being_held():
    plan = MeasurementPlan((PlanEntry("b", COMMAND),), runs=500_000)
    assert [
        len(list(group))
        for _, group in zip(range(3), (g for _, g in groupby(schedule(plan), lambda s: s.round)), strict=False)
    ] == [1, 1, 1]
