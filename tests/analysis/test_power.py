"""Power of a comparison of two sets of runs, and the results that use it."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from analysis.intervals import Estimate
from analysis.power import (
    detectable_changes,
    power,
    runs_needed,
    smallest_difference,
    smallest_difference_by_strata,
)
from analysis.two_samples import COMBINED, WELCH, p_values
from tests.sentences import says

TEN = [9.8, 10.2, 10.0, 10.1, 9.9, 10.0, 10.3, 9.7, 10.0, 10.0]
CV = np.std(TEN, ddof=1) / np.mean(TEN)


@pytest.mark.parametrize(("effect", "n", "alpha"), [(0.2, 200, 0.05), (0.35, 200, 0.05), (0.4, 300, 0.001)])
def test_the_power_of_many_runs_is_that_of_the_t_test_by_statsmodels(effect, n, alpha):
    expected = TTestIndPower().power(effect, n, alpha, alternative="two-sided")
    assert power(effect, n, alpha=alpha) == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize(("effect", "n_runs", "n_tests"), [(1.2, 6, 1), (3, 3, 1), (2.5, 5, 20), (1.5, 12, 100)])
def test_power_is_the_share_of_welchs_tests_that_reject(effect, n_runs, n_tests):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(20_000, n_runs)), rng.normal(effect, size=(20_000, n_runs))
    share = float((stats.ttest_ind(x, y, axis=1, equal_var=False).pvalue <= 0.05 / n_tests).mean())
    assert power(effect, n_runs, n_tests=n_tests) == pytest.approx(share, abs=4 * np.sqrt(0.25 / 20_000))


def test_power_with_an_estimated_spread_is_the_mean_over_what_the_spread_may_be():
    # estimated / true standard deviation for 4 known runs: the square root of chi-squared / 3
    true = np.sqrt(stats.chi2.ppf((np.arange(2000) + 0.5) / 2000, 3) / 3)
    assert power(1.5, 8, n_known=4) == pytest.approx(np.mean([power(1.5 * s, 8) for s in true]), abs=1e-3)


def test_without_a_difference_power_is_at_most_the_level_and_far_out_it_is_one():
    assert power(0.0, 200, alpha=0.01) == pytest.approx(0.01, abs=1e-3)
    assert power(0.0, 3) < 0.05  # Welch's test is conservative for three runs
    assert power(1e6, 1000) == pytest.approx(1)
    assert power(-50, 30) == pytest.approx(1)


@given(
    st.floats(0.01, 3), st.integers(2, 60), st.floats(0.001, 0.2), st.integers(1, 50), st.none() | st.integers(2, 30)
)
def test_power_grows_with_effect_runs_and_level_and_falls_with_the_number_of_tests(effect, n, alpha, m, n_known):
    options = {"alpha": alpha, "n_tests": m, "n_known": n_known}
    base = power(effect, n, **options)
    assert 0 <= base <= 1
    assert power(effect * 1.1, n, **options) >= base - 1e-9
    assert power(effect, n, **options | {"alpha": min(0.3, alpha * 1.2)}) >= base - 1e-9
    assert power(effect, n, **options | {"n_tests": m + 1}) <= base + 1e-9


def test_the_smallest_difference_is_found_with_just_the_wanted_power():
    found = smallest_difference(TEN, wanted=0.8, n_tests=5)
    assert power(found.value / CV, 10, n_tests=5, n_known=10) == pytest.approx(0.8, abs=1e-5)


def test_the_smallest_difference_does_not_depend_on_the_unit():
    milliseconds = smallest_difference(np.multiply(TEN, 1000)).value
    assert milliseconds == pytest.approx(smallest_difference(TEN).value)


@pytest.mark.parametrize("difference", [0.01, 0.02, 0.05, 0.2])
@pytest.mark.parametrize("n_tests", [1, 20])
def test_the_runs_needed_are_the_fewest_that_reach_the_wanted_power(difference, n_tests):
    needed = int(runs_needed(TEN, difference, n_tests=n_tests).value)
    assert power(difference / CV, needed, n_tests=n_tests, n_known=10) >= 0.8 - 1e-6
    assert needed == 2 or power(difference / CV, needed - 1, n_tests=n_tests, n_known=10) < 0.8


def test_the_smallest_difference_of_n_runs_needs_n_runs():
    smallest = smallest_difference(TEN, n_tests=7).value
    assert runs_needed(TEN, smallest * 1.0001, n_tests=7).value == len(TEN)
    later = smallest_difference(TEN, n_runs=30).value
    assert runs_needed(TEN, later * 1.0001).value == 30


def test_runs_without_variation_show_any_difference_with_two():
    assert smallest_difference([3.0, 3.0, 3.0]) == Estimate(0.0, reason="no variation")
    assert runs_needed([3.0, 3.0, 3.0], 0.05) == Estimate(2.0, reason="no variation")


@pytest.mark.parametrize(
    ("values", "reason"),
    [([1.0], "fewer than two runs (1)"), ([], "fewer than two runs (0)"),
     ([1.0, -1.0], "the mean of the runs is not positive"), ([0.0, 0.0], "the mean of the runs is not positive")],
)  # fmt: skip
def test_unknown_values_are_undefined_with_a_reason(values, reason):
    undefined = Estimate(None, reason=reason)
    assert smallest_difference(values) == runs_needed(values, 0.05) == undefined


def test_a_difference_that_would_need_too_many_runs_has_a_reason():
    assert says(runs_needed([1.0, 100.0], 1e-6).reason, "more than 100000 runs")


def test_two_runs_of_very_many_benchmarks_show_nothing_with_a_reason():
    found = smallest_difference([1.0, 1.1], n_tests=10**7)
    assert (found.value, found.reason) == (None, "2 runs of each version cannot detect any difference")


@pytest.mark.parametrize("difference", [0, -0.1, np.nan])
def test_a_difference_must_be_positive(difference):
    with pytest.raises(ValueError, match=r"difference.*> 0"):
        runs_needed(TEN, difference)


@pytest.mark.slow
@pytest.mark.parametrize("n_tests", [5, 20, 100])
@pytest.mark.parametrize("n_runs", [3, 5, 10, 20])
def test_the_stated_power_is_reached_for_any_number_of_benchmarks(n_tests, n_runs):
    # one benchmark of each suite is slower by its stated detectable change; the others are unchanged
    rng = np.random.default_rng([n_tests, n_runs])
    n_suites = 4000
    known = rng.normal(100, 1, (n_suites, n_runs))
    shifts = np.array([smallest_difference(values, n_tests=n_tests).value for values in known]) * known.mean(1)
    before, after = rng.normal(100, 1, (n_suites, n_runs)), rng.normal(100, 1, (n_suites, n_runs)) + shifts[:, None]
    for test, lost in ((WELCH, 0.0), (COMBINED, 0.02)):
        found = (p_values(after, before, test) <= 0.05 / n_tests).mean()
        assert found == pytest.approx(0.8 - lost / 2, abs=lost / 2 + 3 * np.sqrt(0.16 / n_suites))


@pytest.mark.slow
@pytest.mark.parametrize("n_tests", [5, 20, 100])
def test_the_number_of_runs_needed_detects_the_difference(n_tests):
    rng = np.random.default_rng(n_tests)
    found = []
    for values in rng.normal(100, 2, (1500, 8)):
        n_runs = int(runs_needed(values, 0.03, n_tests=n_tests).value)
        before, after = rng.normal(100, 2, (1, n_runs)), rng.normal(103, 2, (1, n_runs))
        found.append(p_values(after, before)[0] <= 0.05 / n_tests)
    assert np.mean(found) >= 0.8 - 0.02 - 3 * np.sqrt(0.16 / 1500)


@pytest.mark.parametrize("n_runs", [5, 6])
def test_the_detectable_change_of_normal_runs_is_that_of_the_t_test(n_runs):
    # without the factor sqrt(n / (n - 1)) of the deviations, the change would be 10 % smaller
    a, b = np.exp(np.random.default_rng(0).normal(0, 0.01, (2, 60, n_runs)))
    found = detectable_changes(a, b, np.full(60, 0.02), level=0.05, test=WELCH)
    effect = TTestIndPower().solve_power(nobs1=n_runs, alpha=0.05, power=0.8)
    assert found.mean() == pytest.approx(0.01 * effect, rel=0.05)


def test_a_change_is_looked_for_up_to_64_times_the_first_guess():
    a, b = np.exp(np.random.default_rng(1).normal(0, 0.2, (2, 1, 5)))
    (found,) = detectable_changes(a, b, np.array([0.4]), level=0.05)
    assert 0.2 < found < 1
    for start, expected in ((found / 60, found), (found / 70, np.inf)):
        assert detectable_changes(a, b, np.array([start]), level=0.05) == pytest.approx(expected, rel=0.02)


def test_the_difference_that_pairs_of_runs_show_is_that_of_the_paired_t_test():
    a, b = np.exp(np.random.default_rng(2).normal(0, 0.01, (2, 8)))
    pairs = np.arange(8)
    t = stats.t(7)
    expected = np.expm1((t.ppf(0.975) + t.ppf(0.8)) * stats.sem(np.log(a / b)))
    assert smallest_difference_by_strata(a, b, (pairs, pairs), 0.05) == pytest.approx(expected)
    assert smallest_difference_by_strata(a[:1], b[:1], (pairs[:1], pairs[:1]), 0.05) is None
