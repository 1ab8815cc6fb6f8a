"""Methods that a suite notices: regressions in every run, and the API benchmarking score."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from analysis.methods.spread import api_benchmarking_score, is_regression, spread_survey as survey
from analysis.runs.benchmark import Benchmark, LeftOut, PerRun, from_table
from analysis.statistics.intervals import Estimate
from analysis.statistics.multiple import bonferroni, holm
from tests.analysis.methods.made_spreads import HIGH, LOW, measured
from tests.conftest import GOLDEN, examples


@pytest.fixture(scope="module")
def table():
    named = ["run", "altered", "benchmark", "value"]
    return pd.read_csv(GOLDEN / "abs.csv", sep=";").set_axis(named, axis=1)


@pytest.fixture(scope="module")
def suite(table):
    return from_table(table)


def test_a_regression_shows_in_every_pair_and_is_as_large_as_half_of_v():
    # exact p of five against five without overlap: 2 / C(10, 5) = 2/252 = .0079; (13 - 3) / 3 = 10/3
    found = is_regression([LOW, LOW], [HIGH, HIGH + 0.5], 1.0)
    assert found.found
    assert found.p == pytest.approx(2 / 252)
    assert [pair.difference for pair in found.pairs] == pytest.approx([10 / 3, 10.5 / 3])
    assert not is_regression([LOW, LOW], [HIGH, LOW + 0.5], 1.0).found
    # means 3 and 13, a difference of 10/3, reached by v = 20/3
    assert is_regression([LOW], [HIGH], 20 / 3).found
    assert not is_regression([LOW], [HIGH], 20 / 3 + 1e-6).found
    assert is_regression([HIGH], [LOW], 1.0).found
    assert is_regression([HIGH], [LOW], 1.0).pairs[0].difference == pytest.approx(-10 / 13)
    assert not is_regression([LOW], [HIGH], 0.1, p=2 / 252).found
    assert is_regression([LOW], [HIGH], 0.1, p=2 / 251).found
    found = is_regression([np.ones(20)], [np.ones(20)], 0.0)
    assert (found.found, found.p, found.reason) == (False, 1.0, None)


@settings(max_examples=examples(60))
@given(st.lists(st.floats(1, 9), min_size=6, max_size=60), st.lists(st.floats(1, 9), min_size=6, max_size=60))
def test_p_is_that_of_the_rank_sum_test(x, y):
    found = is_regression([x], [y], 0.0)
    ties = len(set(x + y)) < len(x + y)
    method = "asymptotic" if ties or max(len(x), len(y)) >= 50 else "exact"
    expected = 1.0 if len(set(x + y)) == 1 else stats.mannwhitneyu(x, y, method=method).pvalue
    assert found.p == pytest.approx(expected)
    assert found.found == (expected < 0.01)


@pytest.mark.parametrize(
    ("base", "altered", "reason"),
    [
        ([], [], "no run was measured both with and without the change"),
        ([[1.0] * 4], [[2.0] * 5], "run 0: 4 and 5 iterations cannot give p below 0.01"),
        ([LOW, [1.0]], [HIGH, [2.0]], "run 1: 1 and 1 iterations cannot give p below 0.01"),
        ([np.zeros(9)], [HIGH], "run 0: the baseline is not positive"),
    ],
)
def test_what_cannot_be_detected_says_why(base, altered, reason):
    found = is_regression(base, altered, 0.1)
    assert (found.found, found.reason) == (False, reason)


def test_a_regression_uses_the_warm_up_and_the_aggregate_and_runs_of_one_context():
    base, altered = np.append([100.0], LOW), np.append([1.0], HIGH)
    assert not is_regression([base], [altered], 1.0).found  # ranks 1 and 12 of 12 on the wrong sides: p = .13
    found = is_regression([base], [altered], 1.0, per_run=PerRun(1, "min"), names=["fork 7"])
    assert found.found
    assert (found.pairs[0].difference, found.pairs[0].run, found.pairs[0].n_baseline) == (10.0, "fork 7", 5)
    one = Benchmark.of_series(
        "b", (LOW, LOW), conditions={"altered": ("baseline", "m"), "context": ("x", "y"), "run": ("0", "0")}
    )
    (found,) = api_benchmarking_score([one], v=0.1).detections
    assert "with and without" in found.regression.reason
    assert (found.p_bonferroni, found.p_holm) == (None, None)


def test_the_score_of_the_worked_example_is_40_and_20_without_the_noisy_benchmark(suite):
    # B.fast notices m1 (+50 %), B.noisy notices m3 (+150 % and +106 %); m2 is 5 %, m5 in one run only: 2 of 5, 1 of 5
    whole = api_benchmarking_score(suite, v=0.4)
    assert whole.variants["total"].score.value == 40
    assert whole.variants["total"].covered == ("m1", "m3")
    assert whole.redundancy == {"m1": 1, "m2": 0, "m3": 1, "m4": 0, "m5": 0}
    assert [(one.benchmark, one.method) for one in whole.detections if one.regression.found] == [
        ("B.fast", "m1"),
        ("B.noisy", "m3"),
    ]
    without = api_benchmarking_score(suite, v=0.4, without=["B.noisy"])
    assert without.variants["total"].score.value == 20
    assert without.v == whole.v
    assert without.left_out == (LeftOut("B.noisy", "the options leave this benchmark out of the score"),)


def test_v_comes_from_the_unaltered_runs_or_is_given(table, suite):
    means = table[table["altered"] == "Baseline"].groupby(["benchmark", "run"])["value"].mean().unstack()
    spreads = (means.max(axis=1) - means.min(axis=1)) / means.mean(axis=1)
    v = 2 * spreads.nsmallest(2).max()  # floor(.95 * 3) = 2
    assert v / 2 == pytest.approx(0.0048, abs=5e-5)
    found = api_benchmarking_score(suite)
    assert found.v.value == pytest.approx(v)
    assert found.variants["total"].score.value == 60
    assert api_benchmarking_score(suite, without=["B.noisy"]).variants["total"].score.value == 40
    found = api_benchmarking_score(suite[:1])
    assert (found.v.value, found.v.reason) == (None, "fewer than two spreads (1) of the baseline; give v (--v)")
    assert found.variants["total"].score.value is None
    given_v = api_benchmarking_score(suite, v=0.08)
    assert given_v.v == Estimate(0.08)
    assert given_v.variants["total"].covered == ("m1", "m2", "m3")


def test_p_is_corrected_for_every_question_of_the_suite(suite):
    detections = api_benchmarking_score(suite).detections
    assert len(detections) == 15
    p = [one.regression.p for one in detections]
    assert [one.p_bonferroni for one in detections] == bonferroni(p)
    assert [one.p_holm for one in detections] == holm(p)
    # five against five: p = .0079; two questions: Bonferroni and Holm .0159, above .01
    runs = (LOW, HIGH, HIGH)
    one = Benchmark.of_series("b", runs, conditions={"altered": ("baseline", "m", "n")})
    found = api_benchmarking_score([one], v=0.1).variants
    assert {name: variant.score.value for name, variant in found.items()} == {
        "total": 100, "relative": 100, "absolute": 100, "total, Bonferroni": 0, "total, Holm": 0,
    }  # fmt: skip


def test_the_absolute_score_is_without_benchmarks_above_one_half():
    wild = Benchmark.of_series(
        "wild", (LOW, 9 * LOW, 90 * LOW, 900 * LOW),
        conditions={"altered": ("baseline", "baseline", "m", "m"), "run": ("0", "1", "0", "1")},
    )  # fmt: skip
    found = api_benchmarking_score([wild, measured("calm", baseline=1, m=1)], v=0.5).variants
    assert found["total"].covered == ("m",)
    assert (found["absolute"].covered, found["absolute"].without, found["absolute"].n_benchmarks) == ((), ("wild",), 1)


@pytest.mark.parametrize(("n", "n_left_out"), [(9, 0), (10, 1), (29, 1), (30, 2)])
def test_the_relative_score_is_without_one_in_twenty(n, n_left_out):
    # round(.05 n), halves up: .45, .5, 1.45, 1.5
    suite = [measured(f"b{i:02}", baseline=1 + i, m=1 + i) for i in range(n)]
    relative = api_benchmarking_score(suite, v=0.1).variants["relative"]
    assert len(relative.without) == n_left_out
    spread = {one.benchmark: one.judged for one in survey(suite).spreads if one.conditions["altered"] == "baseline"}
    assert relative.without == tuple(sorted(spread, key=spread.get, reverse=True)[:n_left_out])


@pytest.mark.parametrize(
    ("runs", "conditions", "pairs"),
    [
        ((LOW, HIGH, LOW + 0.1, HIGH + 0.1), {"run": ("0", "1", "1", "0")}, [("0", 3.37), ("1", -0.76)]),
        ((LOW, HIGH, LOW, HIGH), {}, [("0", 0.0), ("1", 0.0)]),  # without names in their order
    ],
)
def test_runs_belong_together_by_their_name_or_in_their_order(runs, conditions, pairs):
    altered = {"altered": ("baseline", "baseline", "m", "m")}
    (found,) = api_benchmarking_score(
        [Benchmark.of_series("b", runs, conditions=altered | conditions)], v=0.1
    ).detections
    assert [(pair.run, round(pair.difference, 2)) for pair in found.regression.pairs] == pairs


def test_the_baseline_can_be_named_and_what_lacks_it_is_left_out():
    full, lacks, partly = measured("full", v1=1, m=2, n=3), measured("lacks", m=1), measured("partly", v1=1, n=2)
    found = api_benchmarking_score([full, lacks, partly], baseline="v1", v=0.1)
    assert (found.baseline, found.methods, found.benchmarks) == ("v1", ("m", "n"), ("full", "partly"))
    assert found.left_out == (LeftOut("lacks", "the baseline has no runs"), LeftOut("partly", "not measured with m"))
    assert found.redundancy == {"m": 1, "n": 2}


@pytest.mark.parametrize(
    ("suite", "reason"),
    [
        ([measured("b", old=1, m=2)], "called baseline"),
        ([measured("b", baseline=1)], "an altered method"),
        (
            [Benchmark.of_series("b", (LOW, HIGH), conditions={"altered": ("baseline", "m")})],
            "v is undefined: fewer than two",
        ),
    ],
)
def test_a_score_that_has_no_meaning_says_why(suite, reason):
    score = api_benchmarking_score(suite)
    for variant in score.variants.values():
        assert variant.score.value is None
        assert reason in variant.score.reason
    assert not any(one.regression.found for one in score.detections)


def test_a_survey_has_the_score_where_methods_are_altered_but_for_benchmarks_left_out(suite):
    told = []
    found = survey(suite, without=["B.noisy"], advance=lambda done, total: told.append((done, total)))
    assert found.score.variants["total"].score.value == 40
    assert found.score.v == Estimate(found.v.value)
    assert told[-1] == (6, 6)
    assert told == sorted(told)
    assert [row.name for row in found.spreads] == ["B.fast @ Baseline", "B.mid @ Baseline", "B.noisy @ Baseline"]
    assert found.overall.n == 3  # benchmarks, not benchmarks with each method
    short = Benchmark.of_series("short", (np.ones(1), np.ones(1)), conditions={"altered": ("Baseline", "m1")})
    found = survey([*suite, short], without=["short"], per_run=PerRun(1))
    assert found.score.benchmarks == ("B.fast", "B.mid", "B.noisy")
    assert found.left_out[0].name == "short"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda suite: is_regression([LOW], [], 0.1), r"altered_runs .* base_runs \(1\), got 0"),
        (lambda suite: is_regression([LOW], [HIGH], -0.1), "v must.*got -0.1"),
        (lambda suite: is_regression([LOW], [HIGH], np.inf), "v must.*got inf"),
        (lambda suite: is_regression([LOW], [HIGH], 0.1, p=1), "p must.*got 1"),
        (lambda suite: is_regression([LOW], [HIGH], 0.1, names=["a", "b"]), r"names .* \(1\), got 2"),
        (lambda suite: api_benchmarking_score(suite, baseline="old"), "baseline.*got 'old'"),
        (lambda suite: api_benchmarking_score(suite, without=["x"]), "without must name benchmarks .*, got 'x'"),
        (lambda suite: api_benchmarking_score(suite, v=-1), "v must.*got -1"),
    ],
)
def test_invalid_arguments_are_rejected(suite, call, message):
    with pytest.raises(ValueError, match=message):
        call(suite)
