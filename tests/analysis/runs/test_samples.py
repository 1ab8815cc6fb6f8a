from itertools import chain
from math import comb, inf, nan, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy import stats

from analysis.runs.samples import (
    NO_VARIATION,
    KruskalWallis,
    Test,
    describe_change,
    kruskal,
    mean_interval,
    rank_sum,
    smallest_rank_sum_p,
    welch,
)
from analysis.statistics.intervals import Estimate

FEW, EMPTY = "each sample needs at least two values", "a sample is empty"
SCALES = (5e-324, 1e-300, 1e-9, 1.0, 1e300)

numbers = st.one_of(st.integers(-20, 20).map(float), st.floats(-1e6, 1e6, width=32))
samples = st.lists(numbers, min_size=2, max_size=12).map(np.array)
any_size = st.floats(-1e300, 1e300)


def varied(sample):
    """Return whether the values vary, so that the tests of scipy are defined."""
    return float(np.std(sample)) > 1e-6 * (1 + float(np.abs(sample).max()))


# --- Kruskal and Wallis


def test_kruskal_of_ranks_worked_by_hand():
    # ranks 1, 2, 4 and 3, 5, 6: sums 7 and 14; H = 12 / (6 * 7) * (49 / 3 + 196 / 3) - 3 * 7 = 7/3; epsilon2 = H / 5
    found = kruskal([[10, 20, 40], [30, 50, 60]])
    assert (found.statistic, found.epsilon2, found.n) == pytest.approx((7 / 3, 7 / 15, 6))
    assert found.p == pytest.approx(stats.chi2.sf(7 / 3, 1))
    assert found.reason is None


@given(st.lists(st.lists(numbers, min_size=1, max_size=8), min_size=2, max_size=5))
def test_kruskal_is_that_of_scipy(groups):
    assume(len(set(chain(*groups))) > 1)
    found, expected = kruskal(groups), stats.kruskal(*groups)
    assert found.statistic == pytest.approx(expected.statistic, abs=1e-9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert 0 <= found.epsilon2 <= 1


def test_equal_values_single_groups_and_empty_groups_are_passed_over_or_say_so():
    assert kruskal([[2, 2], [2], [2, 2]]) == KruskalWallis(1.0, 0.0, NO_VARIATION, 0.0, 5)
    assert kruskal([[1, 2], [], [3, 5]]) == kruskal([[1, 2], [3, 5]])
    # here 12 / (N (N + 1)) * sums - 3 (N + 1) has the rounding error of a difference of two numbers near 10^6
    values = np.tile(np.arange(50_000), 2)
    assert kruskal([values[:50_000], values[50_000:]]) == KruskalWallis(1.0, 0.0, None, 0.0, 100_000)


# --- Welch


def test_welch_worked_by_hand():
    # means 2 and 5, variances 1 and 4 of n = 3: t = -3 / sqrt(1/3 + 4/3) = -3 / sqrt(5/3)
    # df = (5/3)^2 / ((1/3)^2 / 2 + (4/3)^2 / 2) = (25/9) / (17/18) = 50/17
    found = welch([1, 2, 3], [3, 5, 7])
    assert found.statistic == pytest.approx(-3 / sqrt(5 / 3))
    assert found.p == pytest.approx(2 * stats.t.sf(3 / sqrt(5 / 3), 50 / 17))
    assert found.reason is None


@given(samples, samples)
def test_welch_is_that_of_scipy(x, y):
    assume(varied(x) or varied(y))
    expected = stats.ttest_ind_from_stats(
        x.mean(), x.std(ddof=1), len(x), y.mean(), y.std(ddof=1), len(y), equal_var=False
    )
    found = welch(x, y)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-6, abs=1e-9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_welch_and_ranks_are_the_same_in_any_unit(scale):
    x, y = np.array([1, 2, 4, 5.0]), np.array([3, 6, 7, 9, 12.0])
    assert welch(scale * x, scale * y).p == pytest.approx(welch(x, y).p, rel=1e-12)
    x, y = np.array([1, 2, 4, 5.0]), np.array([3, 6, 7, 9, 12.0])
    assert rank_sum(scale * x, scale * y) == rank_sum(x, y)
    assert kruskal([scale * x, scale * y]) == kruskal([x, y])


@given(st.lists(any_size, min_size=2, max_size=6), st.lists(any_size, min_size=2, max_size=6))
def test_welch_has_a_probability_for_values_of_any_size(x, y):
    found = welch(x, y)
    assert 0 <= found.p <= 1
    assert (found.statistic is None) == (found.reason == NO_VARIATION)


@pytest.mark.parametrize(
    ("x", "y", "p"),
    [
        ([1, 1], [1, 1, 1], 1.0),
        ([1, 1], [2, 2], 0.0),
        ([0, 0], [0, 0], 1.0),
        ([0.1] * 3, [0.1] * 10, 1.0),  # whose means differ by rounding
        ([1e300, 1e300], [1e-300, 2e-300], 0.0),  # the values differ, but do not vary within a side
    ],
)
def test_without_variation_equal_means_are_equal_and_others_differ(x, y, p):
    assert welch(x, y) == welch(y, x) == Test(p, reason=NO_VARIATION)


WITHOUT_TWO_GROUPS: list[tuple[list[list[float]], int]] = [([], 0), ([[1, 2]], 2), ([[1, 2], []], 2), ([[], []], 0)]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        *((welch(x, y), Test(None, reason=FEW)) for x, y in (([], []), ([1], [1, 2]), ([1, 2], [1]), ([1, 2], []))),
        *((rank_sum(x, y), Test(None, reason=EMPTY)) for x, y in (([], [1]), ([1], []), ([], []))),
        *((kruskal(groups), KruskalWallis(None, reason="at least two groups with values are needed", n=n))
          for groups, n in WITHOUT_TWO_GROUPS),
        (mean_interval([]), Estimate(None, reason="no values")),
        (mean_interval([4]), Estimate(4.0, reason="an interval needs at least two values")),
        (mean_interval([0.1] * 3), Estimate(0.1, 0.0, 0.1, 0.1, NO_VARIATION)),
        (mean_interval([-1.7e308, 1.7e308]),
         Estimate(0.0, reason="a limit of the interval is too large for a floating-point number")),
    ],
)  # fmt: skip
def test_samples_that_are_too_small_or_too_large_have_a_reason(found, expected):
    assert found == expected


# --- ranks


def test_rank_sum_worked_by_hand_and_of_equal_values():
    # two of the 10 ways to choose two of five ranks are as extreme as {1, 2}: p = 2/10; no x above any y: U = 0
    assert rank_sum([1, 2], [3, 4, 5]) == Test(pytest.approx(0.2), 0.0)
    assert rank_sum([7, 7, 7], [7, 7]) == Test(1.0, 3.0, NO_VARIATION)


@given(samples, samples)
def test_rank_sum_is_that_of_scipy(x, y):
    pooled = np.concatenate([x, y])
    assume(len(set(pooled)) > 1)
    method = "exact" if len(set(pooled)) == len(pooled) else "asymptotic"
    expected = stats.mannwhitneyu(x, y, method=method)
    found = rank_sum(x, y)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert 0 <= found.p <= 1


@pytest.mark.parametrize(
    ("n_x", "n_y", "method"), [(49, 49, "exact"), (50, 8, "asymptotic"), (8, 50, "asymptotic"), (1, 49, "exact")]
)
def test_samples_of_fifty_are_left_to_the_normal_distribution(n_x, n_y, method):
    rng = np.random.default_rng(n_x)
    x, y = rng.normal(size=n_x), rng.normal(0.2, size=n_y)
    assert rank_sum(x, y).p == stats.mannwhitneyu(x, y, method=method).pvalue


@pytest.mark.parametrize(("n_x", "n_y"), [(1, 1), (1, 2), (2, 2), (3, 5), (7, 7), (1, 30)])
def test_no_samples_are_further_apart_than_the_smallest_p_says(n_x, n_y):
    assert rank_sum(range(n_x), range(100, 100 + n_y)).p == pytest.approx(smallest_rank_sum_p(n_x, n_y))


def test_four_values_on_each_side_cannot_reach_a_hundredth():
    assert smallest_rank_sum_p(4, 4) == 2 / comb(8, 4) == 2 / 70
    assert smallest_rank_sum_p(5, 5) == 2 / 252 < 0.01
    assert smallest_rank_sum_p(0, 5) == smallest_rank_sum_p(0, 0) == 1
    assert smallest_rank_sum_p(1000, 1000) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smallest_rank_sum_p(-1, 3), "n_x and n_y must not be negative, got -1 and 3"),
        (lambda: smallest_rank_sum_p(3, -1), "n_x and n_y must not be negative, got 3 and -1"),
        *((lambda level=level: mean_interval([1, 2], level), rf"level must be in \(0, 1\), got {level}")
          for level in (0, 1, -0.5, 95, nan)),
    ],
)  # fmt: skip
def test_an_invalid_size_or_level_is_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --- the mean


def test_the_mean_and_its_interval_worked_by_hand():
    # mean 3, variance (4 + 1 + 0 + 1 + 4) / 4 = 2.5, standard error sqrt(2.5 / 5) = sqrt(1/2), t of 4 degrees 2.776
    found = mean_interval([1, 2, 3, 4, 5])
    assert (found.value, found.se) == pytest.approx((3, sqrt(1 / 2)))
    assert (found.low, found.high) == pytest.approx((3 - 2.776445 * sqrt(1 / 2), 3 + 2.776445 * sqrt(1 / 2)))
    assert found.reason is None


@given(samples, st.floats(0.01, 0.999))
def test_the_interval_is_that_of_scipy(x, level):
    assume(varied(x))
    found = mean_interval(x, level)
    ends = stats.t.interval(level, len(x) - 1, np.mean(x), stats.sem(x))
    assert found.ends == pytest.approx((np.mean(x), *ends), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("scale", SCALES[1:])
def test_a_mean_has_the_unit_of_its_values(scale):
    one, other = mean_interval([1, 2, 4]), mean_interval(np.array([1, 2, 4]) * scale)
    assert other.ends == pytest.approx([scale * end for end in one.ends], rel=1e-12)


@given(st.lists(any_size, min_size=1, max_size=6))
def test_a_mean_is_a_plain_number_for_values_of_any_size(x):
    found = mean_interval(x)
    given = [number for number in (found.value, found.se, found.low, found.high) if number is not None]
    assert all(type(number) is float and np.isfinite(number) for number in given)
    assert min(x) - abs(min(x)) * 1e-12 <= found.value <= max(x) + abs(max(x)) * 1e-12


# --- invalid samples

BAD = [
    ([1, nan], "must be finite values, got nan"),
    ([1, inf], "must be finite values, got inf"),
    ([[1, 2], [3, 4]], r"must be a series of values, got shape \(2, 2\)"),
    (3, r"must be a series of values, got shape \(\)"),
]


@pytest.mark.parametrize(("sample", "message"), BAD)
def test_invalid_samples_are_rejected_by_name(sample, message):
    with pytest.raises(ValueError, match=f"groups {message}"):
        kruskal([[1, 2], sample])
    for of_two in (welch, rank_sum):
        with pytest.raises(ValueError, match=f"x {message}"):
            of_two(sample, [1, 2])
        with pytest.raises(ValueError, match=f"y {message}"):
            of_two([1, 2], sample)
    with pytest.raises(ValueError, match=f"x {message}"):
        mean_interval(sample)


# --- words


@pytest.mark.parametrize(
    ("ratio", "better", "words"),
    [
        (1.007, "lower", "the candidate is 0.7 % slower"),
        (0.993, "higher", "the candidate is 0.7 % slower"),
        (0.5, "lower", "the candidate is 50 % faster"),
        (2, "higher", "the candidate is 100 % faster"),
        (0, "lower", "the candidate is 100 % faster"),
        (1, "higher", "no change"),
        (10.99, "lower", "the candidate is 999 % slower"),
        (10.996, "lower", "the candidate is 1000 % slower"),
        (20, "lower", "the candidate is 1900 % slower"),
        (1.000012345, "lower", "the candidate is 0.00123 % slower"),
        (1 - 1e-9, "lower", "the candidate is less than 0.001 % faster"),
        (1e300, "lower", "the candidate is more than 1000000 % slower"),
        (np.float64(1.7e308), "lower", "the candidate is more than 1000000 % slower"),
    ],
)
def test_a_ratio_is_described_with_its_direction(ratio, better, words):
    assert describe_change(ratio, better) == words
    assert describe_change(ratio, better, who="it") == words.replace("the candidate", "it")


@pytest.mark.parametrize(
    ("ratio", "better", "message"),
    [
        *((ratio, "lower", f"ratio must be a finite number >= 0, got {ratio}") for ratio in (-0.1, inf, nan)),
        (1.5, "up", r"better.*got 'up'"),
    ],
)
def test_invalid_ratios_and_directions_are_rejected(ratio, better, message):
    with pytest.raises(ValueError, match=message):
        describe_change(ratio, better)
