"""The survey of order effects: artificial suites, degenerate suites, and a published experiment."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from analysis.document import json_values
from analysis.methods.order import (
    after_predecessor,
    median_interval,
    order_survey as survey,
    position_trend,
    predecessors,
)
from analysis.runs.benchmark import Benchmark, Failure, PerRun
from tests.analysis.methods.made_orders import memcached, suite, together, two_orders, two_versions
from tests.sentences import says

PUBLISHED = {  # ordersage/paper-artifact, commit f6ab377, 20211012_21:02:01_node_stats.csv
    "./get_hits_test.sh": {
        "p": 8.513070207694346e-05, "h": 15.440792079207938, "delta": 5.258952170305368, "effect": 0.15596759675967618,
        "fixed": (70154.61288051444, 69112.8680419548, 73827.2065634988),
        "random": (67697.821102642, 66261.8554936204, 68782.7601966882), "case": 1,
    },
    "./cmd_set_test.sh": {
        "p": 0.4905829155605228, "h": 0.4752475247524753, "delta": 0.2705852689586542, "effect": 0.004800480048004948,
        "fixed": (50260.26025804675, 49753.2987846743, 50733.3508970237),
        "random": (49952.565707049405, 49698.8221325808, 50638.5584267509), "case": 2,
    },
    "./cmd_get_test.sh": {
        "p": 0.7355160397406355, "h": 0.11410693069302624, "delta": -0.24127969604198735, "effect": 0.0011525952595,
        "fixed": (131650.577291162, 130545.655002933, 132746.553798887),
        "random": (131338.2189585825, 130747.152956622, 132630.328755157), "case": 2,
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def ordersage():
    folder = os.environ.get("LABELER_ORDERSAGE_DIR")
    if not folder:
        pytest.skip("set LABELER_ORDERSAGE_DIR to the folder with the OrderSage experiment to run this test")
    return memcached(Path(folder))


def test_the_published_experiment_order_matters_by_one_of_three_tests(ordersage):
    found = survey(ordersage)
    assert found.matters is True and found.n_tests == 3
    assert [test.benchmark for test in found.tests if test.differs] == ["./get_hits_test.sh"]
    assert found.threshold == pytest.approx(0.05 / 3)
    for test in found.tests:
        published = PUBLISHED[test.benchmark]
        assert test.test.p == pytest.approx(published["p"], rel=1e-9)
        assert test.test.statistic == pytest.approx(published["h"], rel=1e-9)
        assert test.test.epsilon2 == pytest.approx(published["effect"], rel=1e-9)
        assert test.delta_percent.value == pytest.approx(published["delta"], rel=1e-9)
    (hits,) = (test for test in found.tests if test.differs)
    assert round(hits.delta_percent.value, 1) == 5.3
    assert says(hits.change, "5.26 % slower")
    assert json.loads(json.dumps(json_values(survey(ordersage)), allow_nan=False))["n_tests"] == 3


def test_the_published_intervals_and_their_red_flag_are_those_of_the_published_ranks(ordersage):
    found = survey(ordersage, compat="ordersage")
    assert found.level == 0.95
    for test in found.tests:
        published = PUBLISHED[test.benchmark]
        assert test.fixed.median.ends == pytest.approx(published["fixed"], rel=1e-12)
        assert test.random.median.ends == pytest.approx(published["random"], rel=1e-12)
        assert test.case == test.published_case == published["case"]
    exact = {test.benchmark: test.case for test in survey(ordersage, ci_level=0.95).tests}
    assert exact == {"./get_hits_test.sh": 3, "./cmd_set_test.sh": 2, "./cmd_get_test.sh": 2}


def test_in_the_published_experiment_what_ran_before_matters_too(ordersage):
    found = survey(ordersage)
    hits = next(one for one in found.positions if one.benchmark == "./get_hits_test.sh")
    runs = next(one for one in ordersage if one.name == hits.benchmark).where(order_type="random")
    values = [float(run[0]) for run in runs.values]
    expected = stats.kendalltau(list(map(float, runs.of("order_position"))), values)
    assert (hits.trend.p, hits.trend.statistic) == pytest.approx((expected.pvalue, expected.statistic))
    assert [(group.before, group.n) for group in hits.groups] == [
        ("", 24), ("./cmd_get_test.sh", 17), ("./cmd_set_test.sh", 9),
    ]  # fmt: skip
    assert hits.after.p < found.position_threshold and found.position_matters


def test_a_benchmark_that_order_slows_is_found_and_another_is_not():
    found = survey([two_orders("slow", range(10, 20), range(30, 40)), two_orders("calm", range(10), range(10))])
    calm, slow = found.tests
    assert slow.differs and slow.differs_holm and slow.differs_uncorrected and slow.case == 1
    assert slow.test.p == pytest.approx(stats.kruskal(range(10, 20), range(30, 40)).pvalue)
    assert slow.delta_percent.value == pytest.approx((14.5 - 34.5) / 14.5 * 100)
    assert says(slow.change, "138 % slower")
    assert not calm.differs and calm.case == 2 and calm.change == "no change"
    assert slow.p_bonferroni == pytest.approx(2 * slow.test.p)
    assert slow.fixed.median == median_interval(range(10, 20), 0.975)
    assert found.matters and found.n_tests == 2 and found.level == pytest.approx(0.975)


def test_equal_values_or_a_mean_of_0_have_a_result_with_its_reason():
    (test,) = survey([two_orders("a", [2.0] * 8, [2.0] * 8)]).tests
    assert test.test.p == 1 and test.test.epsilon2 == 0 and test.test.reason == "no variation"
    assert test.fixed.median.ends == (2, 2, 2) and test.case == 2
    assert test.delta_percent.value == 0 and test.change == "no change"
    (test,) = survey([two_orders("a", [0.0, 0.0], [1.0, 2.0])]).tests
    assert test.delta_percent.value is None and "not positive" in test.delta_percent.reason
    assert test.change is None and test.fixed.variation.value is None and test.case is None


def test_a_run_of_several_iterations_is_one_value_after_its_warm_up():
    runs = (np.array([9.0, 1, 2, 6]), np.array([9.0, 4, 4, 4]))
    benchmark = Benchmark.of_series("a", runs, conditions={"order_type": ("fixed", "random")})
    (test,) = survey([benchmark], per_run=PerRun(1, "median")).tests
    assert (test.fixed.values, test.random.values) == ((2.0,), (4.0,))
    found = survey([two_orders("a", [1, 2], [3, 4])], per_run=PerRun(warmup=5))
    assert found.tests == () and "warm-up" in found.left_out[0].reason


def conditions_of(n=4, **known):
    return Benchmark.of_series(
        "a", (np.ones(1),) * n, conditions={name: tuple(map(str, row)) for name, row in known.items()}
    )


@pytest.mark.parametrize(
    ("benchmark", "reason"),
    [
        (conditions_of(), "the column order_type"),
        (conditions_of(order_type=["fixed"] * 4), "runs with order_type = random"),
        (conditions_of(order_type=["random"] * 4), "runs with order_type = fixed"),
        (conditions_of(order_position=[3] * 4), "the position is the same"),
        (conditions_of(order_position=["first", "nan", "", "2"]), "fewer than 3 runs"),
    ],
)
def test_a_benchmark_without_a_usable_order_is_left_out_with_what_is_needed(benchmark, reason):
    found = survey([benchmark])
    assert found.tests == () and found.positions == ()
    assert found.left_out[0].name == "a" and reason in found.left_out[0].reason
    assert (found.matters, found.matters_uncorrected, found.threshold, found.level) == (None,) * 4
    assert (found.n_position_tests, found.position_threshold, found.position_matters) == (0, None, None)


def test_failed_runs_and_unknown_orders_enter_no_test():
    found = survey([conditions_of(6, order_type=["fixed", "fixed", "random", "random", "sorted", "sorted"])])
    assert found.n_tests == 1
    assert [row.reason for row in found.left_out] == [
        "2 runs have order_type sorted, which is neither fixed nor random"
    ]
    failure = Failure({"run": "0", "order_type": "fixed"})
    a, b = two_orders("a", [99, 1, 2, 3], [1, 2, 3, 4]), two_orders("b", [1, 2, 3], [1, 2, 3])
    found = survey([a, replace(b, failures=(failure,))])
    assert sorted(found.tests[0].fixed.values) == [1.0, 2.0, 3.0]
    assert found.dropped[0].n_values == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "alpha must be within .* got 0"),
        ({"alpha": 1}, "alpha must be within .* got 1"),
        ({"ci_level": 95}, "ci_level.*got 95"),
        ({"compat": "x"}, "compat.*got 'x'"),
        ({"baseline": "x"}, "baseline.*got 'x'"),
        ({"candidate": "x"}, "candidate.*got 'x'"),
        ({"baseline": "one", "candidate": "one"}, "different versions, got 'one'"),
    ],
)
def test_wrong_options_are_rejected_by_name(options, message):
    with pytest.raises(ValueError, match=message):
        survey([two_orders("a", [1, 2], [3, 4], version=version) for version in ("one", "two")], **options)


@pytest.mark.slow
def test_without_an_effect_of_order_a_false_alarm_is_no_more_frequent_than_alpha():
    rng = np.random.default_rng(11)
    n = 400
    alarms = sum(
        survey([two_orders(name, *rng.lognormal(size=(2, 12))) for name in "abcd"], alpha=0.1).matters for _ in range(n)
    )
    assert alarms / n <= 0.1 + 4 * np.sqrt(0.1 * 0.9 / n)


LOW, HIGH = list(range(10, 30)), list(range(40, 60))
MIXED = [10, 59, *range(25, 43)]  # as wide as both, its median in between


@pytest.mark.parametrize(
    ("fixed", "random", "said"),
    [
        ((LOW, HIGH), (HIGH, LOW), ("slower", "faster", "red flag")),
        ((LOW, HIGH), (LOW, LOW), ("slower", "undecided", "amber")),
        ((LOW, LOW), (HIGH, LOW), ("undecided", "faster", "amber")),
        ((LOW, HIGH), (LOW, HIGH), ("slower", "slower", "same")),
        ((LOW, MIXED), (MIXED, LOW), ("slower", "faster", "red flag")),
        ((LOW[:3], HIGH[:3]), (LOW, HIGH), (None, "slower", None)),
    ],
)
def test_conclusions_of_both_orders_side_by_side(fixed, random, said):
    benchmark = two_versions(fixed, random)
    found = survey([benchmark])
    (row,) = found.conclusions
    assert (row.fixed, row.random, row.flag) == said
    assert (row.baseline, row.candidate) == ("one", "two")
    assert (row.reason is None) == (row.flag is not None)
    assert row.ratio_fixed.value == pytest.approx(np.median(fixed[1]) / np.median(fixed[0]))
    assert found.n_tests == 2 and [test.version for test in found.tests] == ["one", "two"]


def test_named_versions_turn_the_ratio_round_and_the_first_in_sorted_order_is_the_baseline():
    benchmark = two_versions((LOW, HIGH), (LOW, HIGH))
    (row,) = survey([benchmark], baseline="two").conclusions
    assert (row.baseline, row.candidate, row.fixed) == ("two", "one", "faster")
    assert row.change_fixed == "the candidate is 60.6 % faster"  # 19.5 / 49.5 = 0.394
    (row,) = survey([benchmark], candidate="one").conclusions
    assert (row.baseline, row.candidate) == ("two", "one")
    turned = together([two_orders("b", HIGH, HIGH, version="two"), two_orders("b", LOW, LOW, version="one")])
    found = survey([turned, two_versions((LOW, HIGH), (LOW, HIGH))])
    assert {(row.baseline, row.candidate, row.fixed) for row in found.conclusions} == {("one", "two", "slower")}


def test_ratios_that_are_undefined_have_a_reason_and_a_conclusion():
    benchmark = two_versions(([0.0] * 20, HIGH), ([0.0] * 20, HIGH))
    (row,) = survey([benchmark]).conclusions
    assert "median of the baseline" in row.ratio_fixed.reason
    assert row.change_fixed is None and row.flag == "same"
    (row,) = survey([two_versions((LOW, [-5.0] * 20), ([5e-324] * 20, [1e308] * 20))]).conclusions
    assert "candidate is negative" in row.ratio_fixed.reason
    assert "too large" in row.ratio_random.reason
    assert row.change_random is None and row.flag == "red flag"


def test_contexts_are_never_in_one_sample():
    a, b = two_orders("a", LOW, LOW), two_orders("a", HIGH, HIGH)
    both = together([a, b])
    contexts = ("node1",) * len(a.values) + ("node2",) * len(b.values)
    found = survey([Benchmark.of_series("a", both.values, conditions={**both.conditions, "context": contexts})])
    assert [test.benchmark for test in found.tests] == ["a @ node1", "a @ node2"]
    assert [len(test.fixed.values) for test in found.tests] == [20, 20]


def test_of_three_versions_two_must_be_named_and_only_these_are_tested():
    parts = [two_orders("a", LOW, HIGH, version=version) for version in ("one", "two", "three")]
    found = survey([together(parts)])
    assert found.conclusions == () and found.n_tests == 3
    assert says(found.left_out[0].reason, "3 versions (one, three, two)")
    found = survey([together(parts)], baseline="three", candidate="one")
    assert found.n_tests == 2 and len(found.conclusions) == 1
    assert [row.reason for row in found.left_out] == ["40 runs of versions other than one and three"]


def test_versions_in_one_order_only_or_of_neither_version_are_left_out_by_name():
    parts = [two_orders("a", LOW, HIGH, version="one"), two_orders("a", LOW, [], version="two")]
    found = survey([together(parts)])
    assert found.n_tests == 1 and found.conclusions == ()
    assert found.left_out[0].name == "a (two)" and "in fixed order" in found.left_out[0].reason
    found = survey([two_versions((LOW, HIGH), (LOW, HIGH)), two_orders("b", LOW, HIGH)])
    assert [(row.name, row.reason) for row in found.left_out] == [("b", "40 runs of versions other than the two")]


def test_trends_and_predecessors_by_hand():
    # five of six pairs agree and one does not: tau = 4/6; exact p = 2 * 4/24
    found = position_trend([0, 1, 2, 3], [1, 3, 2, 4])
    assert (found.statistic, found.p) == pytest.approx((4 / 6, 8 / 24))
    assert "3 runs" in position_trend([], []).reason
    assert position_trend([2, 2, 2], [1, 2, 3]).reason == "the position is the same in all runs"
    assert position_trend([1, 2, 3], [7, 7, 7]).p == 1
    with pytest.raises(ValueError, match=r"positions must .*, got shapes \(2,\) and \(3,\)"):
        position_trend([1, 2], [1, 2, 3])
    found = after_predecessor(["a", "a", "b", "b", "c"], [1.0, 2, 3, 4, 9])  # c precedes only one run
    expected = stats.kruskal([1, 2], [3, 4])
    assert (found.p, found.n) == (pytest.approx(expected.pvalue), 4)
    assert "fewer than two other benchmarks" in after_predecessor(["a", "a", "b"], [1, 2, 3]).reason
    with pytest.raises(ValueError, match=r"before must .*, got 1 for 2 values"):
        after_predecessor(["a"], [1, 2])


def test_the_benchmark_before_is_the_one_at_the_next_lower_position_of_the_same_run():
    def placed(name, runs, positions, failures=()):
        conditions = {"run": runs, "order_position": positions}
        return Benchmark.of_series(name, (np.ones(1),) * len(runs), conditions=conditions, failures=failures)

    failure = Failure({"run": "2", "order_position": "5"})
    a = placed("a", ("1", "2", "3", ""), ("0", "10", "1", "2"))
    b = placed("b", ("1", "2", "3"), ("10", "0", "?"), (failure,))
    c = placed("c", ("1", "2", "3"), ("10", "20", "2"))
    assert predecessors([a, b, c]) == [["", "b", "", None], ["a", "", None], ["a", "a", "a"]]
    assert predecessors([a, b, c, placed("d", ("1",), ("11",))])[3] == ["b, c"]


def test_only_random_runs_are_looked_at_by_position_and_give_no_verdict():
    found = survey(suite(n=4, runs=12, fixed=3, step=1.0))
    assert found.n_tests == 4 and all(len(one.values) == 12 for one in found.positions)
    assert found.position_matters
    for one in found.positions:
        assert one.change == "slower the later it runs"
        assert one.trend_bonferroni == pytest.approx(min(1, found.n_position_tests * one.trend.p))
        assert sum(group.n for group in one.groups) <= 12
    assert survey(suite(n=4, runs=12, fixed=0, step=-1.0)).positions[0].change == "faster the later it runs"
    found = survey(suite(n=3, runs=10, fixed=0, step=0.0))
    assert found.tests == () and found.matters is None and found.left_out == ()
    assert found.n_position_tests == 6 and found.position_matters is False


def test_the_level_of_intervals_is_chosen_corrected_or_that_of_the_published_tool():
    benchmarks = [two_orders(name, LOW, HIGH) for name in "abcd"]
    assert survey(benchmarks).level == 1 - 0.05 / 4
    assert survey(benchmarks, compat="ordersage").level == 0.95
    chosen = survey(benchmarks, ci_level=0.8, compat="ordersage")
    assert chosen.level == 0.8
    assert chosen.tests[0].fixed.median == median_interval(LOW, 0.8, compat="ordersage")
