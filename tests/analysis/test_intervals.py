import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import analysis
from analysis.intervals import Estimate, clopper_pearson, linearised, numbered_groups, wilson


@pytest.mark.parametrize("case", ["newcombe1998_81_263", "newcombe1998_0_20"])
def test_intervals_of_newcombes_table(golden_agreement, case):
    x, n = golden_agreement[case]["input"].values()
    expected = golden_agreement[case]["expected"]
    for interval, name in ((wilson, "wilson"), (clopper_pearson, "clopper_pearson")):
        estimate = interval(x, n)
        assert [estimate.low, estimate.high] == pytest.approx(expected[name], abs=1e-7)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_hold_the_share_and_mirror_with_the_categories(x_of_n):
    x, n = x_of_n
    for interval in (wilson, clopper_pearson):
        estimate, mirrored = interval(x, n), interval(n - x, n)
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
        assert estimate.low == pytest.approx(1 - mirrored.high)


@given(st.integers(0, 40))
def test_wilson_is_the_inverted_score_test(x):
    ends = wilson(x, 40)
    for end in {ends.low, ends.high} - {0.0, 1.0}:
        assert abs(x / 40 - end) / np.sqrt(end * (1 - end) / 40) == pytest.approx(stats.norm.ppf(0.975))


def test_no_observations_is_undefined_with_a_reason():
    assert wilson(0, 0) == clopper_pearson(0, 0) == Estimate(None, reason="no observations")
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


def test_groups_are_numbered_if_there_are_twenty_of_them():
    numbers, reason = numbered_groups(21, [*"abcdefghijklmnopqrs", None, float("nan")])
    assert (len(set(numbers.tolist())), reason) == (20, None)  # None and NaN form one group
    assert numbered_groups(3, None) == (None, None)
    assert numbered_groups(3, ["a", "b", "b"])[1].startswith("fewer than 20 groups (2)")
    with pytest.raises(ValueError, match="2 entries for 3 items"):
        numbered_groups(3, ["a", "b"])


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
