"""Intervals in closed form and by bootstrap, and corrections for several tests."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

import analysis
from analysis.statistics.bootstrap import bootstrap, percentile_interval
from analysis.statistics.intervals import Estimate, clustered_share, group_numbers, linearised, unanimous, wilson
from analysis.statistics.multiple import bonferroni, holm
from tests.sentences import says


@pytest.mark.parametrize("case", ["newcombe1998_81_263", "newcombe1998_0_20"])
def test_intervals_of_newcombes_table(golden_agreement, case):
    x, n = golden_agreement[case]["input"].values()
    expected = golden_agreement[case]["expected"]
    estimate = wilson(x, n)
    assert [estimate.low, estimate.high] == pytest.approx(expected["wilson"], abs=1e-7)


@given(st.integers(0, 40))
def test_wilson_is_the_inverted_score_test(x):
    ends = wilson(x, 40)
    for end in {ends.low, ends.high} - {0.0, 1.0}:
        assert abs(x / 40 - end) / np.sqrt(end * (1 - end) / 40) == pytest.approx(stats.norm.ppf(0.975))


def test_no_observations_are_undefined_and_missing_groups_form_one_group():
    assert wilson(0, 0) == Estimate(None, reason="no observations")
    assert wilson(0, 0).ends is None
    numbers, n_groups = group_numbers(4, ["a", None, float("nan"), "b"])
    assert (numbers.tolist(), n_groups) == ([0, 1, 1, 2], 3)
    with pytest.raises(ValueError, match="2 entries for 3 items"):
        group_numbers(3, ["a", "b"])


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


def test_few_groups_have_a_jackknife_interval_and_fewer_than_five_have_none():
    # six groups of three items; without a statistic, the jackknife is that of the mean of equally large groups
    terms = np.random.default_rng(1).normal(size=18)
    estimate = linearised(terms.mean(), terms, groups=np.arange(18) // 3, lowest=-9, highest=9)
    means = terms.reshape(6, 3).mean(axis=1)
    assert estimate.se == pytest.approx(stats.sem(means))
    assert (estimate.low, estimate.high) == pytest.approx(stats.t.interval(0.95, 5, means.mean(), estimate.se))
    few = linearised(terms.mean(), terms, groups=[*"abcdabcdabcdabcdab"])
    assert (few.low, few.reason) == (None, "fewer than 5 groups (4): no interval")


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


def mean_of(x):
    return lambda weights: weights @ x / weights.sum(axis=1)


def share_among(chosen, x):
    """Compute the mean of x over the chosen items, which is undefined in a draw without chosen items."""

    return lambda weights: weights @ (chosen * x) / (weights @ chosen)


def test_the_interval_of_a_mean_is_that_of_theory():
    x = np.random.default_rng(1).normal(size=400)
    estimate = bootstrap(mean_of(x), 400, rng=np.random.default_rng(2))
    assert estimate.value == pytest.approx(x.mean())
    assert estimate.se == pytest.approx(x.std() / 20, rel=0.05)
    assert [estimate.low, estimate.high] == pytest.approx(
        [x.mean() - 1.96 * x.std() / 20, x.mean() + 1.96 * x.std() / 20], abs=0.01
    )
    assert estimate.reason is None


def test_whole_groups_are_drawn_so_that_equal_items_of_a_group_count_once():
    x = np.repeat([0.0, 1.0] * 20, 10)
    groups = np.repeat(np.arange(40), 10).tolist()
    alone = bootstrap(mean_of(x), 400, rng=np.random.default_rng(1))
    together = bootstrap(mean_of(x), 400, rng=np.random.default_rng(1), groups=groups)
    assert together.se == pytest.approx(alone.se * 10**0.5, rel=0.06)


def test_items_without_a_group_are_one_group():
    seen = []

    def statistic(weights):
        seen.append(weights)
        return weights[:, 0]

    bootstrap(statistic, 4, rng=np.random.default_rng(1), groups=["a", None, "a", None], n_draws=50)
    assert (seen[1][:, 0] == seen[1][:, 2]).all()
    assert (seen[1][:, 1] == seen[1][:, 3]).all()
    assert set(seen[1][:, :2].sum(axis=1)) == {2.0}


def test_undefined_draws_are_counted_and_reported():
    chosen, x = np.array([1.0, 1.0, 0.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0, 0.0, 0.0])
    estimate = bootstrap(share_among(chosen, x), 5, rng=np.random.default_rng(1), n_draws=1000)
    n_undefined = int(estimate.reason.split()[2])
    assert n_undefined / 1000 == pytest.approx(0.6**5, abs=0.03)
    assert says(estimate.reason, "undefined in", "of 1000", "left out")
    assert (estimate.low, estimate.value, estimate.high) == (0, 0.5, 1)


@pytest.mark.parametrize("level", [0, 1, -0.5, 1.5])
def test_a_level_that_is_no_probability_is_refused(level):
    with pytest.raises(ValueError, match=f"level must be within .*got {level}"):
        percentile_interval(0.5, [0.25, 0.75], level=level)


def test_no_interval_where_half_the_draws_are_undefined():
    estimate = percentile_interval(0.5, [0.5, np.nan])
    assert says(estimate.reason, "1 of 2", "no interval")
    assert (estimate.value, estimate.se, estimate.low, estimate.high) == (0.5, None, None, None)
    assert percentile_interval(0.5, [0.5]).reason == "fewer than two bootstrap draws: no interval"


def test_what_cannot_be_drawn_has_a_reason_and_wrong_arguments_are_refused():
    rng = np.random.default_rng(1)
    assert bootstrap(mean_of(np.zeros(0)), 0, rng=rng).reason == "no items"
    assert bootstrap(mean_of(np.ones(1)), 1, rng=rng).reason == "one item: no interval"
    assert bootstrap(mean_of(np.ones(3)), 3, rng=rng, groups=["a"] * 3).reason == "one group: no interval"
    assert (
        bootstrap(share_among(np.zeros(3), np.ones(3)), 3, rng=rng).reason
        == "the statistic is undefined on these items"
    )
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match=r"2 entries.*3 items"):
        bootstrap(mean_of(np.ones(3)), 3, rng=rng, groups=["a", "b"])
    with pytest.raises(ValueError, match=r"n_draws.*got 0"):
        bootstrap(mean_of(np.ones(3)), 3, rng=rng, n_draws=0)
    with pytest.raises(ValueError, match=r"level.*got 95"):
        bootstrap(mean_of(np.ones(3)), 3, rng=rng, level=95)


def test_the_same_seed_gives_the_same_interval_and_many_items_are_drawn_in_parts(monkeypatch):
    x = np.arange(7.0)
    once = bootstrap(mean_of(x), 7, rng=np.random.default_rng(3), n_draws=99)
    assert once == bootstrap(mean_of(x), 7, rng=np.random.default_rng(3), n_draws=99)
    monkeypatch.setattr("analysis.statistics.bootstrap.CELLS_AT_ONCE", 70)
    assert once == bootstrap(mean_of(x), 7, rng=np.random.default_rng(3), n_draws=99)


@given(st.lists(st.none() | st.floats(0, 1), max_size=12))
def test_corrections_agree_with_statsmodels_and_ignore_missing_tests(ps):
    known = [p for p in ps if p is not None]
    for ours, method in ((holm, "holm"), (bonferroni, "bonferroni")):
        expected = iter(multipletests(known, method=method)[1] if known else [])
        assert ours(ps) == [None if p is None else pytest.approx(next(expected)) for p in ps]


@pytest.mark.parametrize("correct", [holm, bonferroni])
def test_a_corrected_value_is_at_most_1(correct):
    assert correct([0.9, None, 0.6, 0.7]) == [1, None, 1, 1]


@pytest.mark.parametrize("correct", [holm, bonferroni])
@pytest.mark.parametrize("wrong", [2, -0.1, float("nan")])
def test_a_value_that_is_no_probability_is_rejected_with_its_place(correct, wrong):
    with pytest.raises(ValueError, match=r"^p\[1\] must be within \[0, 1\] or None, got "):
        correct([0.5, wrong, None])
