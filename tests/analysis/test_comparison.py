"""Has a benchmark changed? Candidate against baseline by one number a run."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.benchmark import FASTER, SLOWER, Benchmark, Sampling
from analysis.comparison import NOT_SHOWN, compare, ratio_of_means
from analysis.intervals import Estimate

values = st.lists(st.floats(1, 2), min_size=2, max_size=8)


def of(*levels, name="b", n=5, **more):
    """A benchmark whose runs have these levels, each of n iterations around it."""
    offsets = np.linspace(-0.001, 0.001, n)
    return Benchmark.of_series(name, tuple(level + offsets for level in levels), **more)


def test_the_ratio_by_hand():
    # means 12 and 10; both constant: nothing varies
    assert ratio_of_means([12, 12], [10, 10]) == Estimate(1.2, 0.0, 1.2, 1.2, "no variation")


def test_fiellers_interval_by_hand():
    # y constant at 2: the interval is Student's of x, divided by 2. x = 3, 5: mean 4, s^2 = 2, se = 1, t(1) = 12.706
    found = ratio_of_means([3, 5], [2, 2])
    assert (found.value, found.se) == (2.0, 0.5)
    assert (found.low, found.high) == pytest.approx((2 - 12.7062 / 2, 2 + 12.7062 / 2), abs=1e-4)


@given(values, values)
def test_the_interval_holds_one_exactly_when_welch_does_not_reject(x, y):
    if len(set(x)) < 2 or len(set(y)) < 2:
        return
    found = ratio_of_means(x, y)
    p = stats.ttest_ind(x, y, equal_var=False).pvalue
    if found.low is not None and abs(p - 0.05) > 1e-6:
        assert (found.low <= 1 <= found.high) == (p > 0.05)


@given(values, values, st.floats(0.001, 1000))
def test_the_ratio_does_not_depend_on_the_unit(x, y, factor):
    one, other = ratio_of_means(x, y), ratio_of_means(np.multiply(x, factor), np.multiply(y, factor))
    assert one.value == pytest.approx(other.value)
    if one.low is not None and other.low is not None:
        assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-4, abs=1e-6)


def test_the_interval_covers_the_true_ratio_as_often_as_it_says():
    rng = np.random.default_rng(5)
    found = [ratio_of_means(rng.normal(11, 0.8, 8), rng.normal(10, 0.5, 8)) for _ in range(3000)]
    share = np.mean([one.low <= 1.1 <= one.high for one in found])
    assert share == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / 3000))


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([], [1, 2], Estimate(None, reason="no values")),
        ([1, 2], [0, 0], Estimate(None, reason="the mean of the baseline is not positive")),
        ([3], [2, 2], Estimate(1.5, reason="one run has no interval")),
        ([1, 2], [0.1, 9.9], Estimate(0.3, reason="the baseline varies so much that the interval has no end")),
    ],
)
def test_a_ratio_or_interval_that_is_undefined_says_why(x, y, expected):
    assert ratio_of_means(x, y) == expected


def test_a_slower_and_a_faster_benchmark_are_told_from_one_that_is_neither():
    base = of(1.00, 1.01, 0.99, 1.00)
    pairs = [(base, of(1.2, 1.21, 1.19)), (base, of(0.8, 0.81, 0.8)), (base, of(1.0, 1.01, 0.995))]
    assert [change.verdict for change in compare(pairs)] == [SLOWER, FASTER, NOT_SHOWN]
    assert [change.has_changed for change in compare(pairs)] == [True, True, False]


def test_where_more_is_better_the_direction_turns():
    base, more = of(100, 101, 99, better="higher", unit="ops/s"), of(120, 121, 119, better="higher", unit="ops/s")
    change = compare([(base, more)])[0]
    assert (change.verdict, change.words) == (FASTER, "the candidate is 20 % faster")


def test_p_is_welchs_on_one_number_a_run_and_never_on_iterations():
    base, candidate = of(1.0, 1.1, 0.9, n=1000), of(1.05, 1.15, 1.0, n=1000)
    expected = stats.ttest_ind([1.05, 1.15, 1.0], [1.0, 1.1, 0.9], equal_var=False).pvalue
    change = compare([(base, candidate)])[0]
    assert change.p == pytest.approx(expected)
    assert change.verdict == NOT_SHOWN
    assert stats.ttest_ind(np.concatenate(candidate.values), np.concatenate(base.values)).pvalue < 1e-9


def test_holms_correction_is_over_all_benchmarks_compared():
    # alone p is just below .05; beside two others Holm's is three times it
    base, slightly = of(1.00, 1.02, 0.98, 1.01, 0.99), of(1.03, 1.05, 1.01, 1.03, 1.02)
    alone = compare([(base, slightly)])[0]
    among = compare([(base, slightly), (base, base), (base, base)])[0]
    assert alone.p == among.p < 0.05
    assert (alone.p_holm, among.p_holm, among.p_bonferroni) == (alone.p, 3 * alone.p, 3 * alone.p)
    assert (alone.verdict, among.verdict) == (SLOWER, NOT_SHOWN)


def test_a_warmup_left_out_does_not_count():
    cold = [np.array([9.0, 1.0, 1.01]), np.array([5.0, 1.0, 1.02]), np.array([7.0, 0.99, 1.0])]
    warm = [run[1:] for run in cold]
    assert compare(
        [(Benchmark.of_series("b", tuple(cold)), Benchmark.of_series("b", tuple(cold)))], sampling=Sampling(1)
    ) == compare([(Benchmark.of_series("b", tuple(warm)), Benchmark.of_series("b", tuple(warm)))])


def test_what_cannot_be_compared_says_why_and_does_not_weaken_the_others():
    base, slower = of(1.00, 1.02, 0.98), of(1.2, 1.21, 1.19)
    pairs = [(base, slower), (base, of(5.0, unit="byte")), (base, of(1.0)), (of(-1, -2), of(1.0, 1.1))]
    first, *others = compare(pairs)
    assert [change.reason for change in others] == [
        "the baseline is in s, the candidate in byte",
        "at least two values on each side are needed",
        "the mean of the baseline is not positive",
    ]
    assert [change.verdict for change in others] == [None] * 3
    assert first.p_holm == pytest.approx(2 * first.p)  # the last has a p too


def test_two_equal_sets_of_runs_without_variation_have_not_changed():
    change = compare([(Benchmark.of_series("b", (np.ones(3),) * 3), Benchmark.of_series("b", (np.ones(3),) * 3))])[0]
    assert (change.p, change.verdict, change.words) == (1.0, NOT_SHOWN, "no change")


def test_two_different_sets_of_runs_without_variation_have():
    change = compare([(Benchmark.of_series("b", (np.ones(3),) * 3), Benchmark.of_series("b", (np.full(3, 1.5),) * 3))])[
        0
    ]
    assert (change.p, change.verdict) == (0.0, SLOWER)


def test_nothing_to_compare_is_no_error():
    assert compare([]) == []
