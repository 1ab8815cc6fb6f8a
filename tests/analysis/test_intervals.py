import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import analysis
from analysis.intervals import Estimate, clustered_share, group_numbers, linearised, unanimous, wilson


@pytest.mark.parametrize("case", ["newcombe1998_81_263", "newcombe1998_0_20"])
def test_intervals_of_newcombes_table(golden_agreement, case):
    x, n = golden_agreement[case]["input"].values()
    expected = golden_agreement[case]["expected"]
    estimate = wilson(x, n)
    assert [estimate.low, estimate.high] == pytest.approx(expected["wilson"], abs=1e-7)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_hold_the_share_and_mirror_with_the_categories(x_of_n):
    x, n = x_of_n
    estimate, mirrored = wilson(x, n), wilson(n - x, n)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.low == pytest.approx(1 - mirrored.high)


@given(st.integers(0, 40))
def test_wilson_is_the_inverted_score_test(x):
    ends = wilson(x, 40)
    for end in {ends.low, ends.high} - {0.0, 1.0}:
        assert abs(x / 40 - end) / np.sqrt(end * (1 - end) / 40) == pytest.approx(stats.norm.ppf(0.975))


def test_no_observations_is_undefined_with_a_reason():
    assert wilson(0, 0) == Estimate(None, reason="no observations")
    assert wilson(0, 0).ends is None


@pytest.mark.parametrize(("x", "n", "level"), [(-1, 5, 0.95), (6, 5, 0.95), (1, 5, 1.0), (float("nan"), 5, 0.95)])
def test_impossible_counts_are_refused(x, n, level):
    with pytest.raises(ValueError, match="must be within"):
        wilson(x, n, level)


def test_linearised_interval_is_the_t_interval_of_a_mean_and_is_cut_at_the_range():
    terms = np.array([0.2, 0.4, 0.9])
    estimate = linearised(0.5, terms)
    assert (estimate.low, estimate.high) != pytest.approx(stats.t.interval(0.95, 2, 0.5, estimate.se))
    assert estimate.se == pytest.approx(stats.sem(terms))
    assert estimate.high == 1.0
    assert linearised(0.5, terms[:1]).reason == "one item: no standard error"


def test_terms_without_variation_give_no_interval_of_zero_width():
    for terms in (np.full(5, 0.5), 0.5 + 1e-15 * np.arange(5)):
        assert linearised(0.5, terms) == Estimate(0.5, reason="no variation between items: no standard error")
    cancelling = np.tile([0.4, 0.6], 20)
    grouped = linearised(0.5, cancelling, groups=np.repeat(np.arange(20), 2))
    assert grouped == Estimate(0.5, reason="no variation between groups: no standard error")


def test_linearised_interval_over_groups_is_that_of_their_sums():
    # n = 60 items in G = 20 groups of 3: the sums over n / G are 20 independent terms
    terms = np.random.default_rng(1).normal(size=60)
    estimate = linearised(terms.mean(), terms, groups=np.arange(60) // 3, lowest=-9, highest=9)
    means = terms.reshape(20, 3).mean(axis=1)
    assert estimate.se == pytest.approx(stats.sem(means))
    assert (estimate.low, estimate.high) == pytest.approx(stats.t.interval(0.95, 19, means.mean(), estimate.se))


def test_linearised_leaves_its_terms_as_they_were():
    terms = np.array([0.2, 0.4, 0.9])
    linearised(0.5, terms, groups=["a", "b", "c"])
    assert terms.tolist() == [0.2, 0.4, 0.9]


def test_few_groups_have_a_jackknife_interval_and_fewer_than_five_have_none():
    # six groups of three items; without a statistic, the jackknife is that of the mean of equally large groups
    terms = np.random.default_rng(1).normal(size=18)
    estimate = linearised(terms.mean(), terms, groups=np.arange(18) // 3, lowest=-9, highest=9)
    means = terms.reshape(6, 3).mean(axis=1)
    assert estimate.se == pytest.approx(stats.sem(means))
    assert (estimate.low, estimate.high) == pytest.approx(stats.t.interval(0.95, 5, means.mean(), estimate.se))
    few = linearised(terms.mean(), terms, groups=[*"abcdabcdabcdabcdab"])
    assert (few.low, few.reason) == (None, "fewer than 5 groups (4): no interval")


def test_missing_groups_form_one_group():
    numbers, n_groups = group_numbers(4, ["a", None, float("nan"), "b"])
    assert (numbers.tolist(), n_groups) == ([0, 1, 1, 2], 3)
    with pytest.raises(ValueError, match="2 entries for 3 items"):
        group_numbers(3, ["a", "b"])


@pytest.mark.parametrize(("n", "missed"), [(1, 0.95), (10, 0.2589), (200, 0.0149)])
def test_unanimous_items_exclude_only_large_shares_of_exceptions(n, missed):
    assert unanimous(n) == pytest.approx(missed, abs=1e-4)
    assert (1 - unanimous(n)) ** n == pytest.approx(0.05)


def test_a_clustered_share_has_wilsons_interval_for_the_effective_number_of_items():
    # 40 groups of 5 equal items contain as much information as 40 items
    x, n = np.repeat([5.0, 0.0], [24, 16]), np.full(40, 5.0)
    alike = clustered_share(x, n)
    t = stats.t.ppf(0.975, 39)
    deff = 5 * 40 / 39  # the jackknife of 40 means has the factor 40 / 39
    m = 200 / deff
    middle, half = (0.6 * m + t**2 / 2) / (m + t**2), t * np.sqrt(0.24 * m + t**2 / 4) / (m + t**2)
    assert (alike.value, alike.low, alike.high) == pytest.approx((0.6, middle - half, middle + half))
    every = clustered_share(n, n)
    assert 0.8 < every.low < wilson(200, 200).low  # as if there were 40 items
    assert every.high == 1.0
    assert clustered_share(x[:4], n[:4]).reason == "fewer than 5 groups (4): no interval"
    assert clustered_share(x[:0], n[:0]).value is None


def test_half_width_is_half_the_length_of_the_interval():
    assert Estimate(0.5, low=0.2, high=0.6).half_width == pytest.approx(0.2)
    assert Estimate(0.5).half_width is None


RATINGS = pd.DataFrame(
    [(i, rater, "similar" if (i * k) % 3 else "dissimilar") for i in range(12) for k, rater in enumerate("abc", 1)],
    columns=["item", "rater", "category"],
)
TRUTH, SCORES = ["similar", "dissimilar"] * 6, [0.1, 0.9, 0.4, 0.3, 0.2, 0.8, 0.6, 0.7, 0.3, 0.5, 0.1, 0.9]
WITH_LEVEL = {
    "fleiss": lambda level: analysis.fleiss_kappa(RATINGS, level=level),
    "percent": lambda level: analysis.percent_agreement(RATINGS, level=level),
    "alpha": lambda level: analysis.krippendorff_alpha(RATINGS, level=level),
    "cohen": lambda level: analysis.cohen_kappa(RATINGS[RATINGS["rater"] != "a"], level=level),
    "pairs": lambda level: analysis.pair_agreements(RATINGS, level=level),
    "leniency": lambda level: analysis.leniency(RATINGS, level=level),
    "auc": lambda level: analysis.auc(TRUTH, SCORES, level=level),
    "items": lambda level: analysis.items_for_kappa(0.1, kappa=0.5, prevalence=0.5, level=level),
}


@pytest.mark.parametrize("function", WITH_LEVEL)
@pytest.mark.parametrize("level", [95, 0, 1, -0.5, float("nan")])
def test_a_level_that_is_no_probability_is_rejected(function, level):
    with pytest.raises(ValueError, match=r"level must be within \(0, 1\), got "):
        WITH_LEVEL[function](level)
    assert WITH_LEVEL[function](0.9)
