"""Questions that are asked first: each reviewer against the rest, two rounds, agreement so far, and drift."""

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

from analysis.agreement import (
    against_rest,
    agreement_so_far,
    by_group,
    compare_agreement,
    fleiss_kappa,
    gwet_ac1,
    percent_agreement,
    reviewer_drift,
)
from analysis.tables import count_table


def labels_of(codes, items=None):
    """Return a label table from wide codes: 1 dissimilar, 0 similar, -1 none."""
    codes = np.asarray(codes)
    item, rater = np.nonzero(codes >= 0)
    return pd.DataFrame(
        {
            "item": item if items is None else np.asarray(items)[item],
            "rater": np.array([f"r{k + 1}" for k in range(codes.shape[1])])[rater],
            "category": np.where(codes[item, rater] == 1, "dissimilar", "similar"),
            "position": item,
        }
    )


def drawn(n, right, rng):
    truth = rng.random((n, 1)) < 0.5
    return np.where(rng.random((n, len(right))) < right, truth, ~truth).astype(int)


def test_a_reviewer_who_guesses_is_least_like_the_rest_and_kappa_rises_without_them():
    labels = labels_of(drawn(200, [0.9, 0.9, 0.9, 0.5], np.random.default_rng(1)))
    rest = against_rest(labels)
    assert [row.rater for row in rest] == ["r1", "r2", "r3", "r4"]
    assert rest[3].percent.high < min(row.percent.low for row in rest[:3])
    kappa = fleiss_kappa(count_table(labels)).value
    without = fleiss_kappa(count_table(labels[labels["rater"] != "r4"]))
    assert (rest[3].without, rest[3].change) == (without, without.value - kappa)
    assert max(row.change for row in rest[:3]) < 0 < rest[3].change
    assert rest[0].percent == by_group(labels, "rater")[0].percent


def test_two_reviewers_leave_nothing_without_one_of_them():
    rest = against_rest(labels_of([[1, 1], [0, 1], [0, 0]] * 5))
    assert all(row.without.value is None and row.change is None for row in rest)
    assert against_rest(labels_of(np.zeros((0, 2)))) == []


def test_rounds_with_other_items_are_independent():
    rng = np.random.default_rng(2)
    before, after = drawn(150, [0.7] * 3, rng), drawn(120, [0.9] * 3, rng)
    compared = compare_agreement(labels_of(before), labels_of(after, [f"b{i}" for i in range(120)]))
    a, b = (fleiss_kappa(count_table(labels_of(codes))) for codes in (before, after))
    assert compared.n_common == 0
    assert compared.difference.value == pytest.approx(b.value - a.value)
    assert compared.difference.se == pytest.approx(np.hypot(a.se, b.se))
    low = compared.difference.value - np.hypot(b.value - b.low, a.high - a.value)
    assert compared.difference.low == pytest.approx(low)
    assert compared.p < 0.01


def test_rounds_on_the_same_items_are_paired():
    rng = np.random.default_rng(3)
    before = drawn(150, [0.8] * 3, rng)
    after = np.where(rng.random(before.shape) < 0.9, before, 1 - before)
    paired = compare_agreement(labels_of(before), labels_of(after))
    apart = compare_agreement(labels_of(before), labels_of(after, [f"b{i}" for i in range(150)]))
    assert paired.n_common == 150
    assert paired.difference.value == apart.difference.value
    assert paired.difference.half_width < 0.9 * apart.difference.half_width
    same = compare_agreement(labels_of(before), labels_of(before), percent_agreement)
    assert (same.difference.low, same.difference.value, same.difference.high) == pytest.approx((0, 0, 0), abs=1e-6)


def test_a_difference_with_an_undefined_coefficient_says_why():
    one = labels_of([[1, 1], [1, 1]])
    compared = compare_agreement(one, labels_of([[1, 0], [0, 0], [1, 1]] * 4))
    assert (compared.difference.value, compared.p) == (None, None)
    assert "only one category" in compared.difference.reason
    with pytest.raises(ValueError, match="coefficient must be one of"):
        compare_agreement(one, one, fleiss_kappa.__class__)
    assert compare_agreement(one, one, gwet_ac1).difference.value == 0


def test_the_interval_of_agreement_so_far_is_that_of_the_uniform_mixture():
    # 30 of 40 pairs agree: p is excluded if p^30 (1 - p)^10 < .05 B(31, 11)
    codes = np.array([[1, 1]] * 15 + [[0, 0]] * 15 + [[1, 0]] * 10)
    found = agreement_so_far(labels_of(codes))
    limit = special.betaln(31, 11) + np.log(0.05)
    for end in (found.percent.low, found.percent.high):
        assert 30 * np.log(end) + 10 * np.log(1 - end) == pytest.approx(limit)
    assert found.percent.low < found.percent_once.low < found.percent.value < found.percent_once.high
    assert found.kappa.low < found.kappa_once.low < found.kappa.value < found.kappa_once.high < found.kappa.high
    assert found.wider == pytest.approx(found.kappa.half_width / found.kappa_once.half_width)
    assert 1 < found.wider < 2.5


def test_no_labels_and_one_category_have_reasons():
    assert agreement_so_far(labels_of(np.zeros((0, 2)))).kappa.value is None
    one = agreement_so_far(labels_of([[1, 1]] * 9))
    assert (one.kappa.value, one.percent.high) == (None, 1.0)
    assert one.percent.low < one.percent_once.low  # looking often costs certainty


@pytest.mark.parametrize("n_studies", [15, pytest.param(300, marks=pytest.mark.slow)])
def test_all_looks_of_a_study_hold_the_truth_together(n_studies):
    # right in 80 % of the labels: pairs agree in 68 %, and kappa is .36
    rng, missed, missed_once = np.random.default_rng(4), 0, 0
    for _ in range(n_studies):
        codes = drawn(150, [0.8, 0.8], rng)
        looks = [agreement_so_far(labels_of(codes[:n])) for n in range(10, 151, 14)]
        missed += any(not look.kappa.low <= 0.36 <= look.kappa.high for look in looks)
        with_interval = [look.kappa_once for look in looks if look.kappa_once.low is not None]
        missed_once += any(not once.low <= 0.36 <= once.high for once in with_interval)
    assert stats.binomtest(missed, n_studies, 0.05, alternative="greater").pvalue > 0.01
    assert missed_once > missed  # ordinary intervals do not hold


def test_a_reviewer_who_gets_worse_drifts():
    rng = np.random.default_rng(5)
    codes = drawn(300, [0.95] * 3, rng)
    guesses = rng.random(300) < np.linspace(0, 1, 300)
    codes[:, 2] = np.where(guesses, rng.integers(0, 2, 300), codes[:, 2])
    drift = {row.rater: row for row in reviewer_drift(labels_of(codes))}
    assert drift["r3"].p_holm < 0.01
    assert drift["r3"].slope.high < -0.2
    assert drift["r3"].p_holm >= drift["r3"].p
    # agreement is the mean over both others, so that half of the change is seen in theirs
    assert drift["r1"].slope.value > drift["r3"].slope.value


def test_a_slope_by_hand():
    # ten labels; the others agree on the first five only: the slope of 1, 0 on ranks 0 .. 1 is -15/11
    codes = [[1, 1]] * 5 + [[1, 0]] * 5
    row = reviewer_drift(labels_of(codes))[0]
    x, y = np.linspace(0, 1, 10), np.repeat([1.0, 0.0], 5)
    assert row.slope.value == pytest.approx(np.polyfit(x, y, 1)[0])
    assert row.slope.low == -1.0
    assert row.detectable > 0


def test_few_or_equal_labels_have_no_drift():
    few = reviewer_drift(labels_of([[1, 1]] * 9))
    assert few[0].slope.reason == "fewer than 10 labels with another label of the item (9)"
    equal = reviewer_drift(labels_of([[1, 1]] * 12))
    assert (equal[0].slope.value, equal[0].p) == (0, None)
    with pytest.raises(ValueError, match="lacks the column position"):
        reviewer_drift(labels_of([[1, 1]] * 12).drop(columns="position"))
    at_once = labels_of([[1, 1], [1, 2]] * 6).assign(position=1)
    assert {row.slope.reason for row in reviewer_drift(at_once)} == {
        "all labels have the same position, so they have no order"
    }


@pytest.mark.slow
def test_drift_is_found_by_chance_in_at_most_six_percent_of_studies():
    rng = np.random.default_rng(6)
    found = [
        min(row.p_holm for row in reviewer_drift(labels_of(drawn(80, [0.8] * 3, rng)))) <= 0.05 for _ in range(150)
    ]
    assert stats.binomtest(sum(found), 150, 0.06, alternative="greater").pvalue > 0.01
