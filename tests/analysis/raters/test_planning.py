"""What a design is expected to estimate, and the power of a comparison of two sets of runs."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower

from analysis.raters.agreement import fleiss_kappa
from analysis.raters.planning import Design, expected, hours, items_for_kappa, items_for_share, limits, reviewer_groups
from analysis.raters.tables import Counts
from analysis.runs.power import (
    detectable_changes,
    margin,
    power,
    runs_needed,
    smallest_difference,
    smallest_difference_by_strata,
)
from analysis.statistics.intervals import Estimate
from analysis.statistics.two_samples import COMBINED, WELCH, p_values
from tests.sentences import says

PAPER = Design(n_items=586, n_reviewers=4, overlap=0, retest=0)


def test_items_for_a_half_width_of_kappa_and_of_a_share(golden_agreement):
    for case in golden_agreement["planning_kappa"]["expected"]:
        assert items_for_kappa(case["half_width"], kappa=case["kappa"], prevalence=case["p"]) == case["n"]
    for case in golden_agreement["planning_proportion"]["expected"]:
        assert items_for_share(case["half_width"], share=case["p"]) == case["n"]


def test_items_for_kappa_of_more_categories_give_this_half_width():
    shares, kappa = [0.4, 0.3, 0.2, 0.1], 0.4
    n = items_for_kappa(0.05, kappa=kappa, prevalence=shares)
    cells = kappa * np.diag(shares) + (1 - kappa) * np.outer(shares, shares)
    tables = np.random.default_rng(1).multinomial(n, cells.ravel(), size=50_000).reshape(-1, 4, 4) / n
    observed = np.trace(tables, axis1=1, axis2=2)
    by_chance = (((tables.sum(axis=1) + tables.sum(axis=2)) / 2) ** 2).sum(axis=1)
    assert 1.96 * np.std((observed - by_chance) / (1 - by_chance)) == pytest.approx(0.05 / 1.15**0.5, abs=0.001)
    pairs = [
        np.repeat(np.indices((4, 4)).reshape(2, 16).T, np.rint(n * table.ravel()).astype(int), axis=0)
        for table in tables[:20]
    ]
    found = [fleiss_kappa(Counts((of[:, :, None] == np.arange(4)).sum(axis=1))).half_width for of in pairs]
    assert np.mean(found) == pytest.approx(0.05, abs=0.0006)
    assert items_for_kappa(0.1, kappa=0.1, prevalence=[0.45, 0.55]) == items_for_kappa(0.1, kappa=0.1, prevalence=0.55)
    with pytest.raises(ValueError, match="with sum 1"):
        items_for_kappa(0.1, kappa=0.1, prevalence=[0.5, 0.2])


def test_the_papers_design_gives_the_half_widths_of_the_specification():
    paper = expected(PAPER, kappa=0.0981, prevalence=0.5461)
    assert paper.kappa.half_width == pytest.approx(0.08, abs=0.001)
    assert paper.pair.half_width == pytest.approx(0.10, abs=0.005)
    assert paper.items_per_pair == pytest.approx(586 / 6)
    assert (paper.n_agreed_dissimilar, paper.n_agreed_similar) == pytest.approx((189, 135), abs=0.5)
    assert paper.retest == Estimate(None, reason="no retest items")


def test_the_expected_table_has_the_expected_standard_error_and_half_width():
    # 60 items with two ratings and 40 with three, in the shares that the model expects
    design = Design(n_items=100_000, n_reviewers=3, overlap=0.4)
    rng = np.random.default_rng(5)
    p = np.concatenate([rng.beta(0.6, 0.9, 60_000), rng.beta(0.6, 0.9, 40_000)])  # prevalence .4, kappa .4
    k = np.repeat([2, 3], [60_000, 40_000])
    dissimilar = rng.binomial(k, p)
    kappa = fleiss_kappa(Counts(np.column_stack([k - dissimilar, dissimilar])))
    expectation = expected(design, kappa=0.4, prevalence=0.4)
    assert kappa.value == pytest.approx(0.4, abs=0.01)
    assert expectation.kappa.se == pytest.approx(kappa.se, rel=0.01)
    assert expectation.kappa.half_width == pytest.approx(kappa.half_width, rel=0.01)
    assert expectation.n_agreed_dissimilar == pytest.approx((dissimilar == k).sum(), rel=0.02)


def test_a_design_counts_its_labels_and_hours():
    design = Design(n_items=586, n_reviewers=4, overlap=0.2, retest=20)
    assert design.n_overlap == 117
    assert design.n_ratings == {2: 469, 4: 117}
    assert design.labels_per_reviewer == pytest.approx((2 * 469 + 4 * 117) / 4 + 20)
    assert design.items_per_pair == pytest.approx(469 / 6 + 117)
    assert Design(n_items=10, n_reviewers=2, per_item=2).n_ratings == {2: 10}
    assert hours(240, seconds=30) == 2.0
    assert expected(PAPER, seconds=36).hours_per_reviewer == pytest.approx(2.93)


@pytest.mark.parametrize(
    ("blocks", "groups"),
    [
        ([], []),
        ([("a", "b"), ("c", "d")], [("a", "b"), ("c", "d")]),
        ([("a", "b"), ("c", "d"), ("b", "c")], [("a", "b", "c", "d")]),
        ([("b",), ("a",)], [("a",), ("b",)]),
    ],
)
def test_reviewers_are_joined_by_common_items(blocks, groups):
    assert reviewer_groups(blocks) == groups


def test_limits_list_what_the_plan_cannot_estimate_and_a_rich_design_has_none():
    design = Design(n_items=60, n_reviewers=4, overlap=0, retest=20, n_applications=3)
    found = limits(
        design, expected(design), blocks=[("a", "b"), ("c", "d")], latent_class="not identified: rank 8 of 9"
    )
    facts = (
        ("share no items", "a, b | c, d"), ("prevalence", ", because rank 8 of 9"),
        ("single pairs", "10 items", "±26 percentage points"),
        ("test-retest", "20 retest items", "±14 percentage points"),
        ("sensitivity", "20 agreed dissimilar", "±17 percentage points"),
        ("specificity", "14 agreed similar", "±20 percentage points"), ("3 applications", "at least 5"),
    )  # fmt: skip
    assert all(says(limit, *parts) for limit, parts in zip(found, facts, strict=True))
    design = Design(n_items=2000, n_reviewers=4, retest=60, n_applications=30)
    assert limits(design, expected(design, kappa=0.5), blocks=[("a", "b", "c", "d")]) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_items": 0}, {"retest": -1}, {"per_item": 1}, {"per_item": 5}, {"overlap": 1.5},
    ],
)  # fmt: skip
def test_an_impossible_design_is_rejected(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Design(**({"n_items": 10, "n_reviewers": 4} | wrong))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: items_for_kappa(0, kappa=0.1, prevalence=0.5), "half_width must be within"),
        (lambda: items_for_kappa(0.1, kappa=1, prevalence=0.5), "kappa must be at least"),
        (lambda: items_for_kappa(0.1, kappa=-0.6, prevalence=0.3), "kappa must be at least"),
        (lambda: items_for_kappa(0.1, kappa=0.1, prevalence=1), "prevalence must be within"),
        (lambda: items_for_share(0.1, share=1.1), "share must be within"),
        (lambda: items_for_share(0.1, share=0.5, level=1), "level must be within"),
        (lambda: hours(-1, seconds=3), "n_labels must be"),
        (lambda: hours(1, seconds=0), "seconds > 0"),
        (lambda: expected(Design(10, 4), kappa=-0.4, prevalence=0.5), "kappa cannot be -0.4 with 4 ratings"),
    ],
)
def test_impossible_arguments_are_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


TEN = [9.8, 10.2, 10.0, 10.1, 9.9, 10.0, 10.3, 9.7, 10.0, 10.0]
CV = np.std(TEN, ddof=1) / np.mean(TEN)


@pytest.mark.parametrize(("effect", "n", "alpha"), [(0.2, 200, 0.05), (0.35, 200, 0.05), (0.4, 300, 0.001)])
def test_the_power_of_many_runs_is_that_of_the_t_test_by_statsmodels(effect, n, alpha):
    expected = TTestIndPower().power(effect, n, alpha, alternative="two-sided")
    assert power(effect, n, alpha=alpha) == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize(("effect", "n_runs", "n_tests"), [(1.2, 6, 1), (3, 3, 1), (2.5, 5, 20), (1.5, 12, 100)])
def test_power_is_the_share_of_welchs_tests_that_reject(effect, n_runs, n_tests):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(10_000, n_runs)), rng.normal(effect, size=(10_000, n_runs))
    share = float((stats.ttest_ind(x, y, axis=1, equal_var=False).pvalue <= 0.05 / n_tests).mean())
    assert power(effect, n_runs, n_tests=n_tests) == pytest.approx(share, abs=4 * np.sqrt(0.25 / 10_000))


def test_power_with_an_estimated_spread_is_the_mean_over_what_the_spread_may_be():
    # estimated / true standard deviation for 4 known runs: the square root of chi-squared / 3
    true = np.sqrt(stats.chi2.ppf((np.arange(2000) + 0.5) / 2000, 3) / 3)
    assert power(1.5, 8, n_known=4) == pytest.approx(np.mean([power(1.5 * s, 8) for s in true]), abs=1e-3)


def test_without_a_difference_power_is_at_most_the_level_and_far_out_it_is_one():
    assert power(0.0, 200, alpha=0.01) == pytest.approx(0.01, abs=1e-3)
    assert power(0.0, 3) < 0.05  # Welch's test is conservative for three runs
    assert power(1e6, 1000) == pytest.approx(1)
    assert power(-50, 30) == pytest.approx(1)


def test_the_smallest_difference_is_found_with_just_the_wanted_power_and_needs_its_runs():
    found = smallest_difference(TEN, wanted=0.8, n_tests=5)
    assert power(found.value / CV / margin(10), 10, n_tests=5, n_known=10) == pytest.approx(0.8, abs=1e-5)
    smallest = smallest_difference(TEN, n_tests=7).value
    assert runs_needed(TEN, smallest * 1.0001, n_tests=7).value == len(TEN)
    later = smallest_difference(TEN, n_runs=30).value
    assert runs_needed(TEN, later * 1.0001).value == 30


@pytest.mark.parametrize("difference", [0.01, 0.02, 0.05, 0.2])
@pytest.mark.parametrize("n_tests", [1, 20])
def test_the_runs_needed_are_the_fewest_that_reach_the_wanted_power(difference, n_tests):
    needed = int(runs_needed(TEN, difference, n_tests=n_tests).value)
    powers = [power(difference / CV / margin(n), n, n_tests=n_tests, n_known=10) for n in (max(needed - 1, 2), needed)]
    assert powers[1] >= 0.8 - 1e-6
    assert needed == 2 or powers[0] < 0.8


def test_runs_that_show_any_difference_or_none_have_a_reason():
    assert smallest_difference([3.0, 3.0, 3.0]) == Estimate(0.0, reason="no variation")
    assert runs_needed([3.0, 3.0, 3.0], 0.05) == Estimate(2.0, reason="no variation")
    assert says(runs_needed([1.0, 100.0], 1e-6).reason, "more than 100000 runs")
    found = smallest_difference([1.0, 1.1], n_tests=10**7)
    assert (found.value, found.reason) == (None, "2 runs of each version cannot detect any difference")


@pytest.mark.parametrize(
    ("values", "reason"),
    [([1.0], "fewer than two runs (1)"), ([], "fewer than two runs (0)"),
     ([1.0, -1.0], "the mean of the runs is not positive"), ([0.0, 0.0], "the mean of the runs is not positive")],
)  # fmt: skip
def test_unknown_values_are_undefined_with_a_reason(values, reason):
    undefined = Estimate(None, reason=reason)
    assert smallest_difference(values) == runs_needed(values, 0.05) == undefined


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
    stated = np.array([smallest_difference(values, n_tests=n_tests).value for values in known])
    shifts = stated / margin(n_runs) * known.mean(1)  # the margin is for other runs than normal ones
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
    found = detectable_changes(a, b, np.full(60, 0.02), level=0.05, test=WELCH) / margin(n_runs)
    effect = TTestIndPower().solve_power(nobs1=n_runs, alpha=0.05, power=0.8)
    assert found.mean() == pytest.approx(1.1 * 0.01 * effect, rel=0.05)  # 10 % because the spread is estimated


def test_a_change_is_looked_for_up_to_64_times_the_first_guess():
    a, b = np.exp(np.random.default_rng(1).normal(0, 0.2, (2, 1, 5)))
    (found,) = detectable_changes(a, b, np.array([0.4]), level=0.05)
    assert 0.2 < found < 1
    unlimited = found / margin(5)
    for start, change in ((unlimited / 60, found), (unlimited / 70, np.inf)):
        assert detectable_changes(a, b, np.array([start]), level=0.05) == pytest.approx(change, rel=0.02)


def test_the_difference_that_pairs_of_runs_show_has_the_wanted_power_if_its_standard_error_is_estimated_too():
    rng = np.random.default_rng(2)
    pairs, differences = np.arange(6), []
    for _ in range(3000):
        a, b = np.exp(rng.normal(0, 0.01, (2, 6)))
        stated = smallest_difference_by_strata(a, b, (pairs, pairs), 0.05) / margin(6)
        again = rng.normal(0, 0.01, (2, 6))
        differences.append(again[0] + np.log1p(stated) - again[1])
    found = stats.ttest_1samp(differences, 0, axis=1).pvalue <= 0.05
    assert np.mean(found) == pytest.approx(0.8, abs=3 * np.sqrt(0.16 / 3000))
    assert smallest_difference_by_strata(a[:1], b[:1], (pairs[:1], pairs[:1]), 0.05) is None
