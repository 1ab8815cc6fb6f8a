"""Power of a comparison of two sets of runs, and what follows from it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from analysis.intervals import Estimate
from analysis.power import power, runs_needed, smallest_difference

TEN = [9.8, 10.2, 10.0, 10.1, 9.9, 10.0, 10.3, 9.7, 10.0, 10.0]


@pytest.mark.parametrize("effect", [0.2, 0.8, 1.5, 4.0])
@pytest.mark.parametrize("n", [2, 5, 10, 64])
def test_power_is_that_of_statsmodels(effect, n):
    expected = TTestIndPower().power(effect, n, 0.05, alternative="two-sided")
    if not np.isnan(expected):  # far out statsmodels gives up
        assert power(effect, n) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("effect", "n", "alpha"), [(2.5, 11, 0.001), (1.25, 40, 0.001), (3.0, 4, 0.01)])
def test_power_is_right_where_the_noncentral_t_of_scipy_is_not(effect, n, alpha):
    # T = (Z + shift) / sqrt(chi2 / df): rejected if chi2 is below df ((z + shift) / critical)^2, for each z
    df, shift = 2 * n - 2, effect * np.sqrt(n / 2)
    critical = stats.t.isf(alpha / 2, df)
    z = np.linspace(-9, 9, 200_001)
    rejected = stats.chi2.cdf(df * ((z + shift) / critical) ** 2, df)
    assert power(effect, n, alpha=alpha) == pytest.approx(
        float(np.trapezoid(stats.norm.pdf(z) * rejected, z)), abs=1e-8
    )


def test_power_is_the_share_of_tests_that_reject():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(20_000, 6)), rng.normal(1.2, size=(20_000, 6))
    share = float((stats.ttest_ind(x, y, axis=1).pvalue <= 0.05).mean())
    assert power(1.2, 6) == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 20_000))


def test_without_a_difference_power_is_the_level_and_far_out_it_is_one():
    assert power(0.0, 10, alpha=0.01) == pytest.approx(0.01)
    assert power(1e6, 1000) == power(-50, 30) == 1


@given(st.floats(0.01, 3), st.integers(2, 60), st.floats(0.001, 0.2))
def test_power_grows_with_effect_runs_and_level(effect, n, alpha):
    base = power(effect, n, alpha=alpha)
    assert alpha - 1e-9 <= base <= 1
    assert power(effect * 1.1, n, alpha=alpha) >= base - 1e-9
    assert power(effect, n + 1, alpha=alpha) >= base - 1e-9
    assert power(effect, n, alpha=min(0.3, alpha * 1.2)) >= base - 1e-9


def test_the_smallest_difference_is_found_with_just_the_wanted_power():
    found = smallest_difference(TEN, wanted=0.8)
    assert found.value is not None
    cv = np.std(TEN, ddof=1) / np.mean(TEN)
    assert power(found.value / cv, 10) == pytest.approx(0.8)


def test_the_smallest_difference_does_not_depend_on_the_unit():
    milliseconds = smallest_difference(np.multiply(TEN, 1000)).value
    assert milliseconds == pytest.approx(smallest_difference(TEN).value)


@pytest.mark.parametrize("difference", [0.01, 0.02, 0.05, 0.2])
def test_the_runs_needed_are_the_fewest_that_reach_the_wanted_power(difference):
    needed = runs_needed(TEN, difference).value
    effect = difference / (np.std(TEN, ddof=1) / np.mean(TEN))
    assert power(effect, needed) >= 0.8
    assert needed == 2 or power(effect, needed - 1) < 0.8


def test_the_smallest_difference_of_n_runs_needs_n_runs():
    smallest = smallest_difference(TEN).value
    assert runs_needed(TEN, smallest * 1.0001).value == len(TEN)


def test_runs_without_variation_show_any_difference_with_two():
    assert smallest_difference([3.0, 3.0, 3.0]) == Estimate(0.0, reason="no variation")
    assert runs_needed([3.0, 3.0, 3.0], 0.05) == Estimate(2.0, reason="no variation")


@pytest.mark.parametrize(
    ("values", "reason"),
    [([1.0], "fewer than two runs (1)"), ([], "fewer than two runs (0)"),
     ([1.0, -1.0], "the mean of the runs is not positive"), ([0.0, 0.0], "the mean of the runs is not positive")],
)  # fmt: skip
def test_what_cannot_be_said_is_undefined_with_its_reason(values, reason):
    undefined = Estimate(None, reason=reason)
    assert smallest_difference(values) == runs_needed(values, 0.05) == undefined


def test_a_difference_that_would_need_endless_runs_is_said_to():
    assert runs_needed([1.0, 100.0], 1e-6).reason == "more than 100000 runs would be needed"


@pytest.mark.parametrize("difference", [0, -0.1, np.nan])
def test_a_difference_must_be_positive(difference):
    with pytest.raises(ValueError, match="difference must be > 0"):
        runs_needed(TEN, difference)
