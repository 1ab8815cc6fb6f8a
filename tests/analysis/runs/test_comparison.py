"""Comparison of versions: the tests, the ratio with its interval, and the verdicts for the chosen options."""

import subprocess
import sys
from functools import partial
from itertools import combinations
from math import exp, log

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy import stats

from analysis.runs.benchmark import FAILED_SHARE, FASTER, HIGHER, LOWER, SLOWER
from analysis.runs.comparison import BETTER, NOT_SHOWN, WORSE, Pair, compare_benchmarks as compare
from analysis.statistics.intervals import Estimate
from analysis.statistics.two_samples import COMBINED, MANN_WHITNEY, TESTS, WELCH, p_values, ratio_of_means
from tests.performance import comparison_grid as made
from tests.sentences import says

BASE = [1.00, 1.01, 0.99, 1.00, 1.02]
SLOW = [1.21, 1.19, 1.20, 1.22, 1.20]

timed = partial(Pair, unit="s")

samples = st.lists(st.floats(0.5, 2), min_size=2, max_size=12)
coarse = st.lists(st.integers(1, 6).map(float), min_size=2, max_size=9)  # with ties
tests = st.sampled_from(TESTS)


def p_of(x, y, test=COMBINED):
    return float(p_values([x], [y], test)[0])


def change_of(baseline, candidate, **options):
    given_pair = {key: options.pop(key) for key in ("unit", "better") if key in options}
    return compare([timed("b", baseline, candidate, **given_pair)], **options)[0]


# the tests


@pytest.mark.parametrize(("n_x", "n_y"), [(2, 2), (3, 5), (10, 10), (60, 4)])
def test_welchs_p_is_that_of_scipy(n_x, n_y):
    rng = np.random.default_rng(1)
    x, y = rng.lognormal(size=(50, n_x)), rng.lognormal(0.5, size=(50, n_y))
    assert p_values(x, y, WELCH) == pytest.approx(stats.ttest_ind(x, y, axis=1, equal_var=False).pvalue)


@pytest.mark.parametrize(
    ("n_x", "n_y", "decimals", "method"),
    [(3, 3, 9, "exact"), (7, 10, 9, "exact"), (49, 20, 9, "exact"), (50, 8, 9, "asymptotic"),
     (60, 55, 1, "asymptotic")],  # many equal values
)  # fmt: skip
def test_the_p_of_ranks_is_that_of_scipy(n_x, n_y, decimals, method):
    rng = np.random.default_rng(2)
    x, y = rng.normal(10, size=(20, n_x)).round(decimals), rng.normal(10.7, size=(20, n_y)).round(decimals)
    expected = [stats.mannwhitneyu(*pair, method=method).pvalue for pair in zip(x, y, strict=True)]
    assert p_values(x, y, MANN_WHITNEY) == pytest.approx(expected)


@given(coarse, coarse)
def test_the_p_of_ranks_with_ties_is_the_share_of_all_divisions_that_are_as_uneven(x, y):
    assume(len(x) * len(y) <= 40)
    ranks = stats.rankdata([*x, *y])
    centre = len(x) * (len(x) + len(y) + 1) / 2
    uneven = [abs(sum(ranks[list(chosen)]) - centre) for chosen in combinations(range(len(ranks)), len(x))]
    observed = abs(ranks[: len(x)].sum() - centre)
    assert p_of(x, y, MANN_WHITNEY) == pytest.approx(np.mean(np.array(uneven) >= observed - 1e-9))


def test_one_outlier_and_three_runs_are_left_to_the_test_that_sees_more():
    # no split of three and three runs is rarer than 2 in 20, so ranks cannot decide at 5 %
    x, y = [1.2, 1.21, 1.25], [1.0, 1.01, 1.03]
    assert p_of(x, y, MANN_WHITNEY) == pytest.approx(0.1)
    assert p_of(x, y) == pytest.approx(p_of(x, y, WELCH))
    y = [1.00, 1.01, 0.99, 1.02, 0.98, 1.005, 0.995, 1.015, 0.985, 1.5]
    x = [value + 0.051 for value in y]
    assert p_of(x, y, WELCH) > 0.4
    assert p_of(x, y) < 0.01


def test_the_combined_p_of_complete_separation_is_the_chance_of_either_test_by_two_normal_variables():
    x, y = [6.0, 7.1, 8.3, 9.2, 14.0], [1.0, 2.2, 3.1, 4.4, 5.3]
    rho = np.corrcoef(sorted(x + y), range(10))[0, 1]
    weight = 0.85 / rho**4
    smaller = min(weight * p_of(x, y, WELCH), 2 / 252)
    assert smaller == 2 / 252  # Welch's is larger: an outlier
    a, b = -stats.norm.ppf([smaller / weight / 2, smaller / 2])
    inside = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]]).cdf([a, b], lower_limit=[-a, -b])
    assert p_of(x, y) == pytest.approx(1 - inside, abs=1e-6)


@given(samples, samples, tests, st.sampled_from([2.0**-900, 2.0**-3, 2.0**800]))
def test_the_unit_changes_nothing(x, y, test, factor):
    assert p_of(np.multiply(x, factor), np.multiply(y, factor), test) == p_of(x, y, test)


@given(samples, samples)
def test_the_combined_p_is_never_below_the_weighted_smaller_one(x, y):
    assume(len(set(x + y)) > 1)
    rho = np.corrcoef(sorted(x + y), range(len(x + y)))[0, 1]
    weighted = min(0.85 / max(rho, 0.05) ** 4 * p_of(x, y, WELCH), p_of(x, y, MANN_WHITNEY))
    assert p_of(x, y) >= min(weighted, 1, p_of(x, y, WELCH)) * (1 - 1e-9)


# ratio of means


def test_fiellers_interval_with_a_constant_baseline_is_students():
    # mean 4, standard error 1, one degree of freedom: t = 12.706; divided by 2
    found = ratio_of_means([3, 5], [2, 2])
    assert (found.value, found.se) == (2, 0.5)
    assert (found.low, found.high) == pytest.approx((2 - 12.7062 / 2, 2 + 12.7062 / 2), rel=1e-5)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([12, 12], [10, 10], Estimate(1.2, 0.0, 1.2, 1.2, "no variation")),
        ([], [1, 2], Estimate(None, reason="no values")),
        ([1, 2], [0, 0], Estimate(None, reason="the mean of the baseline is not positive")),
        ([3], [2, 2], Estimate(1.5, reason="an interval needs at least two runs")),
        ([1, 2], [0.1, 9.9], Estimate(0.3, reason="the baseline varies so much that the interval has no limit")),
    ],
)
def test_a_ratio_without_variation_or_interval_says_why(x, y, expected):
    assert ratio_of_means(x, y) == expected


# the interval of a comparison


@given(samples, samples, tests)
def test_the_interval_holds_1_exactly_when_the_test_does_not_reject(baseline, candidate, test):
    change = change_of(baseline, candidate, test=test)
    low, high = change.ratio.low, change.ratio.high
    if low is not None and high is not None:
        assert low <= change.ratio.value <= high
        assert (low * (1 - 1e-8) <= 1 <= high * (1 + 1e-8)) or change.p <= 0.05
        assert not low * (1 + 1e-8) < 1 < high * (1 - 1e-8) or change.p > 0.05


def test_more_retries_per_second_are_higher_and_worse_and_not_slower():
    old, new = [100.0, 101.0, 102.0, 103.0, 104.0], [200.0, 201.0, 202.0, 203.0, 204.0]
    (change,) = compare([Pair("b", old, new, unit="retries/s", better="lower")])
    assert (change.outcome, change.worse, change.is_finding) == ("higher", True, True)


@given(samples, samples, tests)
def test_swapping_the_sides_inverts_the_ratio_and_the_verdict(baseline, candidate, test):
    there, back = change_of(baseline, candidate, test=test), change_of(candidate, baseline, test=test)
    assert back.p == pytest.approx(there.p, rel=1e-6, abs=1e-12)
    assume(abs(there.p - 0.05) > 1e-6)
    assert back.outcome == {SLOWER: FASTER, FASTER: SLOWER, NOT_SHOWN: NOT_SHOWN}[there.outcome]
    if there.ratio.value and back.ratio.value:
        assert back.ratio.value == pytest.approx(1 / there.ratio.value)


def test_the_ratio_is_the_median_over_all_pairs_and_its_interval_that_of_the_ordered_ratios():
    baseline, candidate = [10.0, 11.0, 13.0], [12.0, 12.5, 30.0]
    expected = exp(np.median([log(b / a) for a in baseline for b in candidate]))
    assert change_of(baseline, candidate).ratio.value == pytest.approx(expected)
    assert change_of(baseline, candidate, test=WELCH).ratio.value == pytest.approx(
        np.mean(candidate) / np.mean(baseline)
    )
    # n = 5: U of 2 has p = 8/252, U of 3 has p = 14/252, so the interval ends at the third ratio from either side
    baseline, candidate = [10.0, 10.7, 11.1, 9.6, 10.2], [11.3, 12.1, 11.9, 10.9, 12.6]
    ratios = sorted(b / a for a in baseline for b in candidate)
    found = change_of(baseline, candidate, test=MANN_WHITNEY).ratio
    assert (found.low, found.high) == pytest.approx((ratios[2], ratios[-3]), rel=1e-6)


def test_the_interval_of_coarse_values_is_at_least_as_long_as_their_steps():
    # only two values: with ranks alone, the interval would be the single ratio 1, within a limit of 5 %
    change = change_of([1.0] * 30 + [2.0] * 30, [1.0] * 20 + [2.0] * 40, max_slowdown=0.05)
    assert change.p > 0.05
    assert (change.ratio.low, change.ratio.high) == pytest.approx((0.75, 4 / 3))
    assert change.inconclusive
    fine = change_of([10.00, 10.02, 10.01, 10.03], [10.02, 10.04, 10.03, 10.05])
    assert fine.ratio.high - fine.ratio.low < 0.01


@pytest.mark.parametrize("n_runs", [10, 60])
def test_equal_values_at_the_ratio_itself_are_taken_as_equal(n_runs):
    baseline, candidate = [31.0] * (n_runs - 1) + [32.0], [310.0] * n_runs
    ratio = change_of(baseline, candidate, test=MANN_WHITNEY).ratio
    assert ratio.value == pytest.approx(10)
    assert ratio.low < 10 < ratio.high


@given(samples, samples, st.floats(1e-12, 1e12))
def test_levels_far_apart_are_compared_as_any_other(baseline, candidate, factor):
    change = change_of(baseline, np.multiply(candidate, factor))
    assert change.ratio.value == pytest.approx(factor * change_of(baseline, candidate).ratio.value, rel=1e-6)


def test_three_runs_that_vary_too_much_have_a_ratio_without_interval_and_say_so():
    change = change_of([0.01, 5.0, 0.02], [0.03, 0.02, 4.0])
    assert change.ratio.value is not None
    assert (change.ratio.low, change.ratio.high) == (None, None)
    assert "vary too much" in change.reason


# verdicts


def test_slower_faster_and_unchanged_benchmarks_are_distinguished_with_their_intervals():
    pairs = [timed("b", BASE, SLOW), timed("b", SLOW, BASE), timed("b", BASE, [1.01, 1.0, 0.99, 1.0])]
    changes = compare(pairs)
    assert [change.outcome for change in changes] == [SLOWER, FASTER, NOT_SHOWN]
    assert [change.has_changed for change in changes] == [True, True, False]
    assert [change.worse for change in changes] == [True, False, None]
    assert [change.is_finding for change in changes] == [True, True, False]
    change = change_of(BASE, SLOW)
    low, high = (100 * (end - 1) for end in (change.ratio.low, change.ratio.high))
    assert change.words == f"slower (+{100 * change.ratio.value - 100:.1f} %, 95 % CI +{low:.1f} to +{high:.1f} %)"
    assert change_of(BASE, BASE[:-1], alpha=0.1).words.startswith("no significant change (0.0 %, 90 % CI −")


@pytest.mark.parametrize(
    ("unit", "better", "verdict", "worse"),
    [
        ("s", "lower", SLOWER, True),
        ("ns", "", SLOWER, True),
        ("ops/s", "higher", FASTER, False),
        ("", "lower", SLOWER, True),
        ("", "", HIGHER, None),
        ("byte", "lower", HIGHER, True),
        ("byte", "", HIGHER, None),
    ],
)
def test_slower_and_faster_are_used_only_for_speed(unit, better, verdict, worse):
    change = change_of(BASE, SLOW, unit=unit, better=better)
    assert (change.outcome, change.worse) == (verdict, worse)


def test_holms_correction_is_over_the_benchmarks_of_a_family():
    slightly = [1.03, 1.05, 1.01, 1.03, 1.02]
    others = [timed("c", BASE, BASE), timed("d", BASE, BASE)]
    alone = compare([timed("b", BASE, slightly)])[0]
    among = compare([timed("b", BASE, slightly), *others])[0]
    apart = compare([timed("b", BASE, slightly), *(timed(one.name, BASE, BASE, family="byte") for one in others)])[0]
    assert alone.p == among.p < 0.05
    assert (alone.p_holm, among.p_holm, apart.p_holm) == (alone.p, pytest.approx(3 * alone.p), alone.p)
    assert (alone.outcome, among.outcome, apart.outcome) == (SLOWER, NOT_SHOWN, SLOWER)
    assert says(among.words, "no significant change", "3 benchmarks")


def test_limits_of_changes_of_rates_and_without_a_known_direction():
    change = change_of(BASE, SLOW, min_change=0.3)
    assert (change.outcome, change.is_finding, change.inconclusive) == (SLOWER, False, False)
    assert change.words.endswith(" the limit of 30 %")
    assert change_of(BASE, SLOW, min_change=0.1).is_finding
    rate = {"unit": "ops/s", "better": "higher", "max_slowdown": 0.1}
    assert change_of(SLOW, BASE, **rate).is_finding
    faster = change_of(BASE, SLOW, **rate)
    assert (faster.worse, faster.inconclusive) == (False, False)
    change = change_of([1.0, 2.0] * 30, [2.0, 1.0] * 30, unit="", better="", max_slowdown=0.05)
    assert says(change.reason, "60 and 60 runs", "5 %")


@pytest.mark.parametrize(
    ("baseline", "candidate", "limit", "is_finding", "inconclusive"),
    [
        (BASE, SLOW, 0.1, True, False),  # 19 to 21 % slower
        (BASE, SLOW, 0.5, False, False),
        (BASE, [1.05, 1.07, 1.06, 1.04, 1.09], 0.07, False, True),  # significant, perhaps more than 7 %
        (BASE, BASE, 0.05, False, False),
        ([1.0, 1.3, 0.8], [1.1, 1.4, 0.9], 0.05, False, True),  # too few to exclude it
        (SLOW, BASE, 0.01, True, False),  # faster
    ],
)
def test_a_limit_is_kept_only_if_the_interval_excludes_more(baseline, candidate, limit, is_finding, inconclusive):
    change = change_of(baseline, candidate, max_slowdown=limit)
    assert (change.is_finding, change.inconclusive) == (is_finding, inconclusive)
    n = f"{len(baseline)} and {len(candidate)}"
    limit_in_words = f"{n} runs do not exclude a change for the worse of more than {100 * limit:.4g} %"
    assert (change.reason == limit_in_words) == inconclusive


def test_what_cannot_be_compared_is_inconclusive_says_why_and_does_not_weaken_the_others():
    pairs = [timed("b", BASE, SLOW), timed("b", BASE, SLOW, reason="the baseline is in s"), timed("b", BASE, [1.2])]
    first, *others = compare(pairs)
    assert [change.reason for change in others] == [
        "the baseline is in s",
        "baseline and candidate need at least two runs each",
    ]
    assert [(change.outcome, change.p, change.inconclusive) for change in others] == [(None, None, True)] * 2
    assert first.p_holm == first.p
    assert others[1].words == "not tested (+19.5 %)"


@pytest.mark.parametrize(
    ("baseline", "candidate", "p", "verdict", "words"),
    [
        ([1, 1, 1], [1, 1, 1], 1.0, NOT_SHOWN, "no significant change (0.0 %, 95 % CI 0.0 to 0.0 %)"),
        ([1, 1, 1], [1.5, 1.5, 1.5], 0.0, HIGHER, "higher (+50.0 %, 95 % CI +50.0 to +50.0 %)"),
        ([0, 0, 0], [16, 16, 16], 0.0, HIGHER, "higher (from 0 to 16 byte)"),
        ([-1, -1], [-3, -3], 0.0, LOWER, "lower (from -1 to -3 byte)"),
    ],
)
def test_counts_without_variation_have_changed_if_they_differ(baseline, candidate, p, verdict, words):
    change = change_of(baseline, candidate, unit="byte", better="")
    assert (change.p, change.outcome, change.words) == (p, verdict, words)


@pytest.mark.parametrize(
    ("pairs", "options", "message"),
    [
        ([], {"test": "t"}, "test.*got 't'"),
        ([], {"alpha": 1}, "alpha.*got 1"),
        ([], {"min_change": -0.1}, "min_change.*got -0.1"),
        ([], {"max_slowdown": 0}, "max_slowdown.*got 0"),
        ([timed("parse", BASE, [1.0, float("nan")])], {}, "benchmark 'parse'.*finite"),
    ],
)
def test_options_out_of_range_and_runs_that_are_not_finite_are_refused(pairs, options, message):
    with pytest.raises(ValueError, match=message):
        compare(pairs, **options)


def test_importing_the_comparison_imports_no_more_than_numpy():
    heavy = "{'pandas', 'scipy', 'scipy.stats', 'statsmodels'}"
    command = f"import analysis.runs.comparison, sys; print({heavy} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert shown.stdout == "set()\n"


# the documented properties; `python -m tests.performance.comparison_grid` runs the whole grid


@pytest.mark.slow
@pytest.mark.parametrize("kind", made.KINDS)
@pytest.mark.parametrize("n_runs", [5, 10, 20])
def test_false_alarms_are_rare_for_any_distribution_of_runs(kind, n_runs):
    rng = np.random.default_rng(n_runs)
    error = made.shares(*made.draw(rng, kind, 10_000, n_runs, 0.0))[COMBINED]
    assert error <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 10_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "n_runs", "change"),
    [("noisy", 3, 0.2), ("typical", 5, 0.02), ("drift", 5, 0.05), ("outliers", 10, 0.02), ("bimodal", 10, 0.02),
     ("noisy", 20, 0.05), ("bimodal", 20, 0.02), ("drift", 20, 0.02)],
)  # fmt: skip
def test_power_is_within_five_points_of_the_better_of_welch_and_ranks(kind, n_runs, change):
    rng = np.random.default_rng(n_runs)
    found = made.shares(*made.draw(rng, kind, 10_000, n_runs, change))
    assert found[COMBINED] >= max(found[WELCH], found[MANN_WHITNEY]) - 0.05


@pytest.mark.slow
@pytest.mark.parametrize(("n_x", "n_y"), [(2, 10), (5, 20), (12, 8)])
def test_sides_of_unequal_size_raise_no_more_alarms_where_welchs_test_alone_would(n_x, n_y):
    rng = np.random.default_rng(n_x)
    x, y = rng.normal(100, size=(20_000, n_x)), rng.normal(100, size=(20_000, n_y))
    for alpha in (0.05, 0.05 / 20):
        assert (p_values(x, y) <= alpha).mean() <= alpha + 3 * np.sqrt(alpha / 20_000)


@pytest.mark.slow
@pytest.mark.parametrize("kind", made.KINDS)
def test_the_interval_holds_the_true_ratio_as_often_as_promised(kind):
    baseline, candidate = (side.mean(2) for side in made.draw(np.random.default_rng(4), kind, 4000, 10, 0.05))
    changes = compare([timed("b", *sides) for sides in zip(baseline, candidate, strict=True)])
    covered = np.mean([change.ratio.low <= 1.05 <= change.ratio.high for change in changes])
    assert covered >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 4000)


def test_many_runs_are_compared_in_memory_for_the_runs_and_not_for_their_pairs():
    import tracemalloc

    rng = np.random.default_rng(1)
    a, b = 1.01 * (1 + 0.01 * rng.normal(size=5000)), 1 + 0.01 * rng.normal(size=5000)
    tracemalloc.start()
    (change,) = compare([Pair("b", b, a, "s")])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert change.ratio.value == pytest.approx(1.01, abs=0.001)
    assert peak < 150e6  # 25 million pairs would need 200 MB for their differences


@pytest.mark.parametrize(
    ("baseline", "candidate", "outcome"),
    [
        ([0.00, 0.00], [0.02, 0.00], NOT_SHOWN),  # up to one percentage point
        ([0.00, 0.00], [0.04, 0.00], WORSE),
        ([0.04, 0.00], [0.00, 0.00], BETTER),
        ([0.00, 0.00, 0.01], [0.09, 0.00, 0.00], NOT_SHOWN),  # three runs decide by the test
        ([0.00, 0.01, 0.00, 0.01], [0.09, 0.10, 0.09, 0.11], WORSE),
    ],
)
def test_a_share_of_failures_is_judged_by_its_rise_with_two_runs_and_by_the_test_with_three(
    baseline, candidate, outcome
):
    (change,) = compare([Pair("b", baseline, candidate, unit=FAILED_SHARE, better=LOWER)])
    assert change.outcome == outcome
