"""Agreement by group of labels, and whether the order of the items matters."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy import stats

from analysis.agreement import (
    by_group,
    by_order,
    fleiss_kappa,
    order_test,
    partner_agreement,
    percent_agreement,
)
from analysis.intervals import wilson
from analysis.tables import count_table
from tests.analysis.test_agreement_leniency import label_table, rows_of_labels, simulated
from tests.conftest import examples


def trend_effects(labels, *arguments, **options):
    return [effect for effect in order_test(labels, *arguments, **options).effects if effect.test == "trend"]


def predecessor_effects(labels, *arguments, **options):
    return [effect for effect in order_test(labels, *arguments, **options).effects if effect.test == "predecessor"]


def with_positions(labels, rng=None):
    """Add positions 0, 1, ... to the labels of each rater, in random order with rng."""
    if rng is not None:
        labels = labels.iloc[rng.permutation(len(labels))]
    return labels.assign(position=labels.groupby("rater").cumcount())


@settings(max_examples=examples(60))
@given(rows_of_labels(), st.data())
def test_groups_of_items_have_percent_agreement_and_fleiss_kappa_of_their_shared_items(rows, data):
    labels = label_table(rows)
    application = {item: data.draw(st.sampled_from(["a", "b"])) for item in labels["item"].unique()}
    labels["application"] = labels["item"].map(application)
    for group in by_group(labels, "application"):
        counts = count_table(labels[labels["application"] == group.group])
        shared = counts[counts.sum(axis=1) >= 2]
        assert (group.n_items, group.n_labels) == (len(shared), int(shared.to_numpy().sum()))
        if group.n_items:
            assert group.percent == percent_agreement(shared)
        if group.n_items >= 10:
            assert group.kappa == fleiss_kappa(shared)
        else:
            assert group.kappa.value is None
            assert group.kappa.reason is not None


def test_labels_of_an_item_may_be_in_different_groups():
    # item 0 agrees, with an early and a late label; items 1 and 2 split, with early labels only and late labels only
    labels = label_table(["11", "10", "01"] * 5)
    labels["part"] = ["early", "late", "early", "early", "late", "late"] * 5
    early, late = by_group(labels, "part")
    assert (early.n_items, early.n_labels) == (10, 15)
    # labels weigh 1/2 each: (1/2 * 1 + 1/2 * 0 + 1/2 * 0) / (3/2)
    assert early.percent.value == late.percent.value == pytest.approx(1 / 3)
    # own labels 1, 1, 0; partners 1, 0, 1: pe = (2/3)^2 + (1/3)^2
    assert early.kappa.value == pytest.approx((1 / 3 - 5 / 9) / (4 / 9))
    assert early.dissimilar == wilson(10, 15)


def test_labels_without_a_group_are_partners_only():
    labels = label_table(["11", "10"])
    labels["kind"] = ["fresh", None, "fresh", None]
    (fresh,) = by_group(labels, "kind")
    assert (fresh.n_items, fresh.n_labels, fresh.percent.value) == (2, 2, 0.5)


def test_a_group_without_other_labels_has_a_reason():
    labels = label_table(["1-", "0-"]).assign(kind="fresh")
    (group,) = by_group(labels, "kind")
    assert group.percent.reason == group.kappa.reason == "the items of this group have no other labels"
    assert group.dissimilar == wilson(1, 2)
    with pytest.raises(ValueError, match="lacks the column day"):
        by_group(labels, "day")
    assert by_group(labels.iloc[:0], "kind") == []


def test_partner_agreement_of_a_table_by_hand():
    labels = label_table(["110", "1--"]).set_axis([10, 11, 12, 13])
    agreement = partner_agreement(labels)
    assert agreement.loc[[10, 11, 12]].tolist() == [0.5, 0.5, 0.0]
    assert agreement.isna().tolist() == [False, False, False, True]


def test_parts_in_order_hold_equally_many_labels_of_each_rater():
    rng = np.random.default_rng(1)
    labels = with_positions(label_table(simulated(90, [0, 0, 0], rng)), rng)
    parts = by_order(labels, n_bins=10)
    assert [part.group for part in parts] == list(range(1, 11))
    n = [part.dissimilar.value * 0 + part.n_labels for part in parts]
    assert max(n) - min(n) <= 3
    assert sum(n) == len(labels)


@pytest.mark.parametrize(
    "values", [[0, 1, 2, 3], [0.5, 1.5, 2.5, 9.0], list("abcd"), pd.date_range("2024-01-01", periods=4)]
)
def test_parts_follow_numbers_texts_and_times(values):
    labels = label_table(["1", "1", "0", "0"]).assign(at=pd.Series(values, dtype=object))
    first, last = by_order(labels, "at", n_bins=2)
    assert (first.dissimilar.value, last.dissimilar.value) == (1.0, 0.0)


def test_parts_leave_out_labels_without_a_place():
    labels = label_table(["11", "11", "00", "00"]).assign(dwell_ms=[1, 2, None, 3, 4, 5, 6, None])
    parts = by_order(labels, "dwell_ms", n_bins=3)
    assert sum(part.n_labels for part in parts) == 6
    with pytest.raises(ValueError, match="at least 2"):
        by_order(labels, n_bins=1)
    with pytest.raises(ValueError, match="lacks the column position"):
        by_order(labels)


def marks(text):
    """Build the labels of one rater in order, and of a second rater who always says 1."""
    labels = label_table([f"{mark}1" for mark in text])
    return labels.assign(position=labels.groupby("rater").cumcount())


def test_trend_of_a_share_is_the_test_of_cochran_and_armitage():
    effect = trend_effects(marks("0001010111"))[0]
    y, x = np.array([0, 0, 0, 1, 0, 1, 0, 1, 1, 1]), np.arange(10)
    armitage = ((x - x.mean()) @ y) ** 2 / (0.25 * ((x - x.mean()) ** 2).sum())
    assert effect.chi2 == pytest.approx(armitage * 9 / 10)
    assert effect.effect.value == pytest.approx(np.polyfit(x / 9, y, 1)[0])
    assert (effect.rater, effect.outcome, effect.test, effect.n) == ("R0", "dissimilar", "trend", 10)


def test_effect_of_the_predecessor_is_the_test_of_kruskal_and_wallis():
    effect = predecessor_effects(marks("0010110111010"))[0]
    y = np.array([0, 0, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1, 0])
    after, before = y[1:], y[:-1]
    oracle = stats.kruskal(after[before == 1], after[before == 0])
    assert (effect.chi2, effect.p, effect.n) == pytest.approx((oracle.statistic, oracle.pvalue, 12))
    assert effect.effect.value == pytest.approx(after[before == 1].mean() - after[before == 0].mean())


def test_trend_of_a_time_is_by_ranks_and_its_change_by_medians():
    rng = np.random.default_rng(3)
    labels = marks("01" * 10)
    labels["dwell_ms"] = np.where(
        labels["rater"] == "R0", 1000 - 10 * labels["position"] + rng.integers(0, 50, 40), 500
    )
    ada, other = trend_effects(labels, outcomes=["dwell_ms"])
    dwell = labels.loc[labels["rater"] == "R0", "dwell_ms"]
    assert ada.chi2 == pytest.approx(19 * stats.spearmanr(np.arange(20), dwell).statistic ** 2)
    theil = stats.theilslopes(dwell, np.arange(20) / 19, alpha=0.95)
    assert (ada.effect.value, ada.effect.low, ada.effect.high) == pytest.approx(
        (theil.slope, theil.low_slope, theil.high_slope)
    )
    assert other.reason == "the outcome is the same for all labels"


def test_the_change_of_a_time_over_very_many_labels_is_that_of_every_second_or_third():
    labels = pd.DataFrame({"item": range(5000), "rater": "ada", "category": "similar", "position": range(5000)})
    labels["dwell_ms"] = 9000.0 - labels["position"] + 10 * (labels["position"] % 7)
    (effect,) = trend_effects(labels, outcomes=["dwell_ms"])
    assert effect.n == 5000
    assert effect.effect.value == pytest.approx(-4999, rel=0.01)
    labels.loc[1, "category"] = "dissimilar"  # one label follows it, and every third label does not include it
    (effect,) = predecessor_effects(labels, outcomes=["dwell_ms"])
    assert "few labels after" in effect.effect.reason
    assert effect.p is not None


def test_too_few_labels_show_a_change_of_time_without_an_interval():
    (effect, _) = trend_effects(marks("010").assign(dwell_ms=[1, 1, 2, 2, 4, 4]), outcomes=["dwell_ms"])
    assert (effect.effect.value, effect.effect.low) == (3.0, None)
    assert "labels for an interval" in effect.effect.reason
    (effect, _) = trend_effects(marks("0101").assign(dwell_ms=[1, 1, 2, 2, 4, 4, 9, 9]), outcomes=["dwell_ms"])
    assert effect.effect.low is not None
    (effect, _) = predecessor_effects(marks("1000000000").assign(dwell_ms=range(20)), outcomes=["dwell_ms"])
    assert effect.effect.low is None


def test_agreement_against_time_on_task_needs_no_position():
    labels = marks("0101010101").drop(columns="position").assign(dwell_ms=[100, 1] * 10)
    labels.loc[labels["rater"] == "R0", "dwell_ms"] = [100, 900] * 5
    effect = trend_effects(labels, "dwell_ms", ["agreement"])[0]
    assert effect.effect.value == pytest.approx(1)  # the slow labels are those that agree


def test_corrections_go_over_the_raters_of_an_outcome():
    rng = np.random.default_rng(5)
    labels = with_positions(label_table(simulated(120, [0, 0, 0, 0], rng)), rng)
    effects = trend_effects(labels)
    assert [effect.rater for effect in effects] == ["R0", "R1", "R2", "R3"] * 2
    p = np.array([effect.p for effect in effects[:4]])
    assert [effect.p_bonferroni for effect in effects[:4]] == pytest.approx(np.minimum(4 * p, 1))
    assert min(effect.p_holm for effect in effects[:4]) == pytest.approx(min(4 * p.min(), 1))


def test_order_matters_if_any_p_is_below_alpha_by_the_number_of_tests():
    steady, drifting = order_test(marks("01100101100110100110")), order_test(marks("0" * 15 + "1" * 15))
    assert (drifting.matters, drifting.matters_uncorrected, drifting.n_tests) == (
        True,
        True,
        5,
    )  # the second rater never says similar
    assert (steady.matters, steady.matters_uncorrected) == (False, False)
    p = sorted(effect.p for effect in drifting.effects if effect.p is not None)
    assert not order_test(marks("0" * 15 + "1" * 15), alpha=p[0] * 4.9).matters
    assert order_test(marks("0" * 15 + "1" * 15), alpha=p[0] * 4.9).matters_uncorrected


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (marks("10"), "fewer than 3 labels"),
        (marks("1111"), "the outcome is the same for all labels"),
        (marks("1010").assign(position=7), "all labels have the same position"),
    ],
)
def test_effects_without_variation_have_a_reason(labels, reason):
    effect = trend_effects(labels)[0]
    assert (effect.p, effect.p_holm, effect.chi2, effect.reason) == (None, None, None, reason)
    assert effect.effect.reason == reason


def test_effects_say_what_they_lack():
    assert "previous labels" in predecessor_effects(marks("00001"))[0].reason
    nothing = order_test(marks("1").iloc[:0])
    assert (nothing.matters, nothing.n_tests, nothing.reason) == (None, 0, "no rater has labels that can be tested")
    with pytest.raises(ValueError, match="column dwell_ms"):
        trend_effects(marks("10"), outcomes=["dwell_ms"])
    with pytest.raises(ValueError, match="column created_utc"):
        trend_effects(marks("10"), "created_utc")


@settings(max_examples=examples(60))
@given(rows_of_labels(), st.integers(0, 99))
def test_every_number_over_order_is_one_or_has_a_reason(rows, seed):
    labels = label_table(rows)
    assume(len(labels))
    labels = with_positions(labels, np.random.default_rng(seed))
    test = order_test(labels)
    assert (test.matters is None) == (test.reason is not None)
    for effect in test.effects:
        assert (effect.p is None) == (effect.reason is not None)
        assert effect.p is None or 0 <= effect.p <= effect.p_holm <= effect.p_bonferroni <= 1
        assert effect.effect.value is None or np.isfinite(effect.effect.value)
    for group in by_order(labels):
        for estimate in (group.percent, group.kappa):
            assert estimate.value is None or np.isfinite(estimate.value)
            assert (estimate.low is None) <= (estimate.reason is not None)


@settings(max_examples=examples(60))
@given(rows_of_labels(), st.integers(0, 99))
def test_order_effects_do_not_depend_on_the_order_of_rows(rows, seed):
    labels = label_table(rows)
    assume(len(labels))
    rng = np.random.default_rng(seed)
    labels = with_positions(labels, rng)
    assert order_test(labels).effects == order_test(labels.iloc[rng.permutation(len(labels))]).effects


@pytest.mark.slow
def test_the_order_test_holds_its_level():
    rng, n_false = np.random.default_rng(71), 0
    rows = simulated(150, [0.0, 0.3, -0.3], rng)
    for _ in range(400):
        n_false += order_test(with_positions(label_table(rows), rng)).matters
    assert n_false / 400 == pytest.approx(0.05, abs=0.03)


def test_a_reviewer_whom_all_others_confirm_has_one_sided_bounds():
    labels = pd.DataFrame({
        "item": list(range(12)) * 2, "rater": ["ada"] * 12 + ["ben"] * 12,
        "category": (["similar"] * 9 + ["dissimilar"] * 3) * 2,
    })  # fmt: skip
    ada = by_group(labels, "rater")[0]
    missed = 1 - 0.05 ** (1 / 12)  # a share of exceptions that twelve items without one do not exclude
    for estimate, low in ((ada.percent, 1 - missed), (ada.kappa, 1 - missed / (3 / 8))):  # pe = 9/16 + 1/16
        assert (estimate.value, estimate.high, estimate.low) == (1, 1, pytest.approx(low))
        assert estimate.reason == "one-sided: all 12 items are unanimous"
