"""Spread of runs, and the variability of a suite."""

import json
from itertools import combinations
from math import inf, nan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from analysis.document import json_values
from analysis.methods.spread import spread_survey as survey, variability
from analysis.runs.benchmark import Benchmark, Failure, LeftOut, PerRun
from analysis.runs.spread import BUCKETS, bucket, cv, max_spread
from analysis.statistics.intervals import Estimate, wilson
from tests.analysis.methods.made_spreads import benchmark
from tests.conftest import examples

positive = st.lists(st.floats(0.1, 1000), min_size=2, max_size=9)


def brute(values, per):
    spreads = [(max(some) - min(some)) / np.mean(some) for some in combinations(values, per)]
    return np.mean(spreads)


def test_max_spread_per_two_of_three_runs_worked_by_hand():
    # all: (12 - 8) / 10; pairs (8, 10), (8, 12), (10, 12): 2/9, 4/10, 2/11; their mean
    assert max_spread([8, 12, 10]).value == pytest.approx(0.4)
    assert max_spread([8, 12, 10], per=2).value == pytest.approx((2 / 9 + 4 / 10 + 2 / 11) / 3)


@settings(max_examples=examples(40))
@given(positive, st.integers(2, 6))
def test_max_spread_per_choice_is_the_average_over_all_choices(values, per):
    if per <= len(values):
        assert max_spread(values, per=per).value == pytest.approx(brute(values, per), rel=1e-9, abs=1e-12)
    else:
        assert max_spread(values, per=per) == Estimate(None, reason=f"fewer than {per} runs ({len(values)})")


def test_max_spread_of_more_choices_than_can_be_enumerated_is_the_average_range_over_the_mean():
    x = np.random.default_rng(3).lognormal(0, 0.05, 40)  # C(40, 5) = 658 008 choices
    found = max_spread(x, per=5)
    assert "too many choices" in found.reason
    average = np.mean([np.ptp(np.random.default_rng(seed).choice(x, 5, replace=False)) for seed in range(1500)])
    assert found.value == pytest.approx(average / x.mean(), rel=0.04)  # Monte Carlo: se about 1 %
    # and it hardly differs from the average of ratios that it replaces
    ratios = [max_spread(np.random.default_rng(seed).choice(x, 5, replace=False)).value for seed in range(1500)]
    assert found.value == pytest.approx(np.mean(ratios), rel=0.03)


@pytest.mark.parametrize(
    ("values", "per", "reason"),
    [
        ([], None, "fewer than two runs (0)"),
        ([5.0], None, "fewer than two runs (1)"),
        ([5.0], 2, "fewer than two runs (1)"),
        ([0.0, 0.0], None, "the mean of the runs is not positive"),
        ([-1.0, 0.5], None, "the mean of the runs is not positive"),
        ([1.0, 2.0], 3, "fewer than 3 runs (2)"),
        ([-1.0, 0.5, 9.0], 2, "the mean of a choice of 2 runs is not positive"),
    ],
)
def test_max_spread_says_why_it_is_undefined(values, per, reason):
    assert max_spread(values, per=per) == Estimate(None, reason=reason)
    assert per is not None or cv(values) == Estimate(None, reason=reason)


@settings(max_examples=examples(40))
@given(positive)
def test_the_variation_is_that_of_pandas(values):
    assert cv(values).value == pytest.approx(pd.Series(values).std() / np.mean(values), rel=1e-6, abs=1e-9)


def test_a_spread_on_a_border_is_in_the_lower_bucket_and_equal_runs_have_none():
    assert [bucket(spread) for spread in (0.05, 0.1, 0.25, 0.5, 7)] == list(BUCKETS)
    assert [bucket(np.nextafter(spread, 1)) for spread in (0.05, 0.1, 0.25, 0.5)] == list(BUCKETS)[1:]
    assert max_spread([0.1, 0.1, 0.1]).value == 0
    assert max_spread([0.1, 0.1, 0.1], per=2).value == 0
    assert cv([0.1, 0.1, 0.1]).value == 0
    assert bucket(0.0) == "up to 5 %"
    assert max_spread([1.6e308, 1.7e308]).value == pytest.approx(0.1 / 1.65)
    assert max_spread([1e-300, 3e-300]).value == pytest.approx(1)


def test_variability_is_twice_the_largest_but_for_the_widest_twentieth():
    # n = 20: floor(19) = 19, the second largest; n = 19: floor(18.05) = 18, also the second largest
    spreads = np.arange(1, 21) / 100
    assert variability(spreads[::-1]).value == pytest.approx(2 * 0.19)
    assert variability(spreads[:19]).value == pytest.approx(2 * 0.18)
    assert variability([0.1]) == Estimate(None, reason="fewer than two spreads (1)")


def test_variability_has_an_interval_from_resampled_benchmarks():
    spreads = np.random.default_rng(2).exponential(0.05, 200)
    found = variability(spreads, resamples=400, rng=np.random.default_rng(1))
    assert found.value == variability(spreads).value
    assert found.low < found.value < found.high
    drawn = np.random.default_rng(5).choice(spreads, (400, 200))
    low, high = np.quantile(2 * np.sort(drawn)[:, 189], [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), rel=0.15)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: max_spread([1, 2, 3], per=1), "per.*got 1"),
        (lambda: max_spread([1, nan]), "values must be a series of finite numbers"),
        (lambda: cv([[1.0]]), "values must be a series of finite numbers"),
        (lambda: bucket(-0.1), "spread.*got -0.1"),
        (lambda: bucket(nan), "spread.*got nan"),
        (lambda: variability([0.1, -0.1]), "max_spreads must"),
        (lambda: variability([0.1, inf]), "max_spreads must"),
        (lambda: variability([0.1, 0.2], resamples=5), "resamples = 5"),
        (lambda: survey([], per=1), "per.*got 1"),
        (lambda: survey([], alpha=1), "alpha.*got 1"),
        (lambda: survey([], resamples=-1), "resamples.*got -1"),
        (lambda: survey([benchmark(1, 2)], baseline="old"), "baseline = 'old'.*altered"),
        (lambda: survey([benchmark(1, 2)], v=0.1), "v = 0.1.*altered"),
    ],
)
def test_invalid_arguments_are_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_survey_puts_benchmarks_in_buckets():
    # spreads 4/100, 30/100 and 200/200; medians .3 of all, .17 of a, 1 of c
    found = survey(
        [
            benchmark(98, 102, name="one", application="a"),
            benchmark(85, 115, name="two", application="a"),
            benchmark(100, 300, name="three", application="c"),
        ]
    )
    assert [one.bucket for one in found.spreads] == ["up to 5 %", "25 to 50 %", "above 50 %"]
    assert list(found.overall.counts.values()) == [1, 0, 0, 1, 1]
    assert [(row.application, row.n) for row in found.applications] == [("a", 2), ("c", 1)]
    assert found.overall.median == pytest.approx(0.3)
    assert found.applications[0].median == pytest.approx(0.17)
    assert found.overall.shares["up to 5 %"] == wilson(1, 3)
    assert found.v.value == pytest.approx(2 * 0.3)  # floor(2.85) = 2
    assert sorted(found.spreads[0].values) == [98.0, 102.0]
    assert (found.score, found.left_out) == (None, ())


def test_a_survey_leaves_out_benchmarks_that_lack_runs_but_lists_them():
    lacking = benchmark(1, 2, name="lacks", application="a", failures=(Failure({}, "crashed"),))
    found = survey(
        [benchmark(1, 1, 1, name="has", application="a"), lacking, benchmark(5, name="one", application="c")]
    )
    assert found.overall.n == 1
    assert found.left_out == (LeftOut("lacks", "2 of 3 runs; 1 failed"), LeftOut("one", "fewer than two runs (1)"))
    assert found.spreads[1].max_spread.value == pytest.approx(2 / 3)  # kept, although it is in no bucket
    assert found.spreads[1].bucket is None
    assert found.applications[1].median is None


def test_with_per_benchmarks_with_different_numbers_of_runs_are_compared():
    three, two = benchmark(8, 12, 10, name="three"), benchmark(8, 10, name="two")
    found = survey([three, two, benchmark(1, name="one")], per=2)
    judged = {one.name: one.judged for one in found.spreads}
    assert (judged["three"], judged["two"]) == pytest.approx((brute([8, 12, 10], 2), 2 / 9))
    assert found.per == 2
    assert found.overall.n_runs == (2, 3)
    assert found.left_out == (LeftOut("one", "fewer than two runs (1)"),)
    assert survey([three, two]).left_out == (LeftOut("two", "2 of 3 runs"),)


def test_the_spread_over_five_runs_is_shown_and_warm_up_and_aggregate_are_used():
    values = [10.0, 11.0, 12.0, 10.5, 13.0, 10.2]
    found = survey([benchmark(*values)]).spreads[0]
    assert found.per_spread.value == pytest.approx(brute(values, 5))
    assert found.judged == found.max_spread.value
    long = Benchmark.of_series("long", (np.array([9.0, 1, 1, 4]), np.array([9.0, 2, 2, 8])))
    short = benchmark(1, 2, name="short")
    found = survey([long, short], per_run=PerRun(1, "median"))
    assert sorted(found.spreads[0].values) == [1.0, 2.0]
    assert found.left_out[0].name == "short"
    assert (found.parameters["warmup"], found.parameters["aggregate"]) == (1, "median")


def test_versions_and_contexts_do_not_add_to_the_spread():
    runs = benchmark(
        1, 1, 5, 5, name="b", conditions={"version": ("old", "old", "new", "new"), "context": ("x", "x", "x", "x")},
        failures=(Failure({"version": "new"}), Failure({"version": "old"}), Failure({})),
    )  # fmt: skip
    found = survey([runs]).spreads
    assert [(one.name, one.benchmark, one.max_spread.value, one.n_failed) for one in found] == [
        ("b @ new", "b", 0.0, 2),
        ("b @ old", "b", 0.0, 2),
    ]
    assert found[1].conditions == {"version": "old", "context": "x"}


def test_a_survey_is_plain_values_also_without_benchmarks_and_its_seed_decides_the_interval():
    found = survey([])
    assert (found.overall.n, found.overall.median, found.applications) == (0, None, ())
    assert found.v.reason == "fewer than two spreads (0)"
    found = survey([benchmark(1, 2, 3), benchmark(0, 0, 0, name="zero")], resamples=20)
    content = json.loads(json.dumps(json_values(found), allow_nan=False))
    assert content["spreads"][0]["max_spread"]["value"] == 1.0
    assert content["left_out"] == [{"name": "zero", "reason": "the mean of the runs is not positive"}]
    assert content["parameters"]["resamples"] == 20
    suite = [benchmark(100, 100 + i, name=str(i)) for i in range(30)]
    assert survey(suite, resamples=50).v == survey(suite, resamples=50).v
    assert survey(suite, resamples=50, seed=2).v != survey(suite, resamples=50).v
