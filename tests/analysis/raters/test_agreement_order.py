"""Leniency, agreement by group of labels, and whether the order of the items matters."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy import special, stats
from statsmodels.discrete.conditional_models import ConditionalLogit
from statsmodels.stats.contingency_tables import cochrans_q, mcnemar

from analysis.raters.agreement import (
    TwoByTwo,
    by_group,
    by_order,
    fleiss_kappa,
    leniency,
    order_test,
    partner_agreement,
    percent_agreement,
)
from analysis.raters.evaluation import McNemar
from analysis.raters.tables import count_table
from analysis.statistics.intervals import wilson
from tests.conftest import examples


def label_table(rows):
    """Build a label table from one string per item: "10-" is dissimilar by R0, similar by R1, no label by R2."""
    labels = [
        (f"item {i}", f"R{j}", "dissimilar" if mark == "1" else "similar")
        for i, row in enumerate(rows)
        for j, mark in enumerate(row)
        if mark != "-"
    ]
    return pd.DataFrame(labels, columns=["item", "rater", "category"])


@st.composite
def rows_of_labels(draw, max_raters=4, max_items=25):
    n_raters = draw(st.integers(1, max_raters))
    return draw(st.lists(st.text("01-", min_size=n_raters, max_size=n_raters), max_size=max_items))


def simulated(n_items, beta, rng, per_item=2):
    """Simulate labels of raters with leniency beta; `per_item` raters label each item, all raters every fifth."""
    rows = []
    for i in range(n_items):
        raters = range(len(beta)) if i % 5 == 0 else rng.choice(len(beta), per_item, replace=False)
        marks = ["-"] * len(beta)
        difficulty = rng.normal()
        for j in raters:
            marks[j] = str(int(rng.random() < 1 / (1 + np.exp(-difficulty - beta[j]))))
        rows.append("".join(marks))
    return rows


def test_two_raters_by_hand():
    # R0 alone calls 9 items dissimilar, R1 alone 3: log odds ratio ln 3, LR = 2 (9 ln(9/6) + 3 ln(3/6))
    result = leniency(label_table(["10"] * 9 + ["01"] * 3 + ["11"] * 5 + ["00"] * 4))
    first, second = result.raters
    assert first.log_odds.value - second.log_odds.value == pytest.approx(np.log(3))
    assert first.dissimilar == wilson(14, 21)
    assert (result.overall.test, result.overall.df, result.overall.n_split) == ("likelihood ratio", 1, 12)
    assert result.overall.chi2 == pytest.approx(2 * (9 * np.log(1.5) + 3 * np.log(0.5)))
    (pair,) = result.pairs
    assert (pair.a, pair.b, pair.table) == ("R0", "R1", TwoByTwo(a=5, b=9, c=3, d=4))
    assert pair.difference.value == pytest.approx(6 / 21)
    assert (pair.mcnemar.b, pair.mcnemar.c) == (9, 3)
    assert pair.mcnemar.p == pytest.approx(mcnemar([[5, 9], [3, 4]], exact=True).pvalue)
    # of 12 discordant pairs: 2 (1 + 12 + 66 + 220 / 2) / 4096
    assert pair.mcnemar.p_mid == pair.p_holm == pytest.approx(2 * (1 + 12 + 66 + 110) / 4096)


@pytest.mark.parametrize("seed", range(2))
def test_leniency_over_all_is_the_conditional_logit_of_statsmodels(seed):
    rows = simulated(150, [-0.6, 0.0, 0.2, 0.7], np.random.default_rng(seed))
    split = [
        row for row in rows if {"0", "1"} <= set(row)
    ]  # statsmodels warns about the other items, which contain no information
    labels = label_table(split)
    raters = pd.get_dummies(labels["rater"]).astype(float).drop(columns="R0").to_numpy()
    model = ConditionalLogit((labels["category"] == "dissimilar").to_numpy().astype(int), raters, groups=labels["item"])
    fit = model.fit(method="newton", disp=False)
    result = leniency(label_table(rows))
    log_odds = np.array([rater.log_odds.value for rater in result.raters])
    assert log_odds[1:] - log_odds[0] == pytest.approx(fit.params, abs=1e-4)
    assert log_odds.sum() == pytest.approx(0, abs=1e-9)
    assert result.overall.chi2 == pytest.approx(2 * (fit.llf - model.loglike(np.zeros(3))), abs=1e-5)
    assert (result.overall.df, result.overall.reason) == (3, None)
    # the variance of a difference does not depend on which rater is the reference
    contrast = np.eye(4)[1:] - 1 / 4
    centred = contrast.T @ fit.cov_params() @ contrast
    assert [rater.log_odds.se for rater in result.raters] == pytest.approx(np.sqrt(np.diag(centred)), rel=1e-3)


def test_a_rater_who_is_always_the_one_gets_the_score_test_which_is_cochrans_q():
    # R0 says dissimilar whenever raters differ, so the best-fitting leniency is infinite
    rows = ["100"] * 5 + ["110"] * 3 + ["101"] * 2 + ["111", "000"]
    result = leniency(label_table(rows))
    oracle = cochrans_q(np.array([[int(mark) for mark in row] for row in rows]))
    assert result.overall.test == "score"
    assert (result.overall.chi2, result.overall.p) == pytest.approx((oracle.statistic, oracle.pvalue))
    assert "in one direction only" in result.overall.reason
    assert all("no finite estimate" in rater.log_odds.reason for rater in result.raters)


def test_raters_without_a_split_item_and_separate_sets_are_compared_within_themselves():
    result = leniency(label_table(["10-", "01-", "10-", "--1", "1-1"]))
    assert result.overall.df == 1
    assert result.overall.reason.endswith("left out: R2")
    assert "differ from another rater" in result.raters[2].log_odds.reason
    assert [pair.mcnemar.p for pair in result.pairs] == [1.0, 1.0]
    rows = ["10--", "01--", "10--", "--10", "--01", "--01"]
    result = leniency(label_table(rows))
    one, other = leniency(label_table(["10", "01", "10"])), leniency(label_table(["10", "01", "01"]))
    assert result.overall.df == 2
    assert result.overall.chi2 == pytest.approx(one.overall.chi2 + other.overall.chi2)
    assert "2 separate sets" in result.overall.reason


@pytest.mark.parametrize("rows", [[], ["1"], ["11", "00"], ["1-", "-0"], ["--"]])
def test_without_a_split_item_there_is_no_test(rows):
    result = leniency(label_table(rows))
    assert result.overall.p is None and "differ on any item" in result.overall.reason
    assert all(pair.mcnemar == McNemar(0, 0, 1.0, 1.0, None, "no discordant pair") for pair in result.pairs)


@settings(max_examples=examples(50))
@given(rows_of_labels())
def test_every_number_of_leniency_is_one_or_has_a_reason(rows):
    result = leniency(label_table(rows))
    for rater in result.raters:
        for estimate in (rater.dissimilar, rater.log_odds):
            assert (estimate.value is None) == (estimate.reason is not None)
            assert estimate.value is None or np.isfinite(estimate.value)
    assert (result.overall.p is None) <= (result.overall.reason is not None)
    assert result.overall.p is None or 0 <= result.overall.p <= 1
    assert all(0 <= pair.mcnemar.p_mid <= pair.p_holm <= 1 for pair in result.pairs)


def test_the_conditional_likelihood_is_that_of_all_arrangements():
    # R0, R1, R2 on items of all patterns, compared with a sum over all raters who could have said dissimilar
    rows = ["100", "010", "001", "100", "110", "011", "101", "110", "10-", "0-1", "1-0"]
    result = leniency(label_table(rows))
    beta = [rater.log_odds.value for rater in result.raters]

    def log_likelihood(beta):
        total = 0.0
        for row in rows:
            raters = [j for j, mark in enumerate(row) if mark != "-"]
            said = [j for j in raters if row[j] == "1"]
            arrangements = itertools.combinations(raters, len(said))
            weights = [np.exp(sum(beta[j] for j in group)) for group in arrangements]
            total += sum(beta[j] for j in said) - np.log(sum(weights))
        return total

    assert result.overall.chi2 == pytest.approx(2 * (log_likelihood(beta) - log_likelihood([0, 0, 0])))
    for j in range(3):
        for step in (-0.01, 0.01):
            assert log_likelihood(beta) > log_likelihood([b + step * (i == j) for i, b in enumerate(beta)])


@pytest.mark.slow
def test_the_test_over_all_holds_its_level():
    rng = np.random.default_rng(61)
    p = [leniency(label_table(simulated(150, [0.0] * 4, rng))).overall.p for _ in range(400)]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.03)


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


def test_labels_without_a_group_are_partners_only_and_a_group_without_others_has_a_reason():
    labels = label_table(["11", "10"])
    labels["kind"] = ["fresh", None, "fresh", None]
    (fresh,) = by_group(labels, "kind")
    assert (fresh.n_items, fresh.n_labels, fresh.percent.value) == (2, 2, 0.5)
    labels = label_table(["1-", "0-"]).assign(kind="fresh")
    (group,) = by_group(labels, "kind")
    assert group.percent.reason == group.kappa.reason == "the items of this group have no other labels"
    assert group.dissimilar == wilson(1, 2)
    with pytest.raises(ValueError, match="lacks the column day"):
        by_group(labels, "day")
    assert by_group(labels.iloc[:0], "kind") == []
    labels = label_table(["110", "1--"]).set_axis([10, 11, 12, 13])
    agreement = partner_agreement(labels)
    assert agreement.loc[[10, 11, 12]].tolist() == [0.5, 0.5, 0.0]
    assert agreement.isna().tolist() == [False, False, False, True]


def test_parts_in_order_hold_equally_many_labels_of_each_rater_that_have_a_place():
    rng = np.random.default_rng(1)
    labels = with_positions(label_table(simulated(90, [0, 0, 0], rng)), rng)
    parts = by_order(labels, n_parts=10)
    assert [part.group for part in parts] == list(range(1, 11))
    n = [part.dissimilar.value * 0 + part.n_labels for part in parts]
    assert max(n) - min(n) <= 3
    assert sum(n) == len(labels)
    labels = label_table(["11", "11", "00", "00"]).assign(dwell_ms=[1, 2, None, 3, 4, 5, 6, None])
    parts = by_order(labels, "dwell_ms", n_parts=3)
    assert sum(part.n_labels for part in parts) == 6
    with pytest.raises(ValueError, match="at least 2"):
        by_order(labels, n_parts=1)
    with pytest.raises(ValueError, match="lacks the column position"):
        by_order(labels)


@pytest.mark.parametrize(
    "values", [[0, 1, 2, 3], [0.5, 1.5, 2.5, 9.0], list("abcd"), pd.date_range("2024-01-01", periods=4)]
)
def test_parts_follow_numbers_texts_and_times(values):
    labels = label_table(["1", "1", "0", "0"]).assign(at=pd.Series(values, dtype=object))
    first, last = by_order(labels, "at", n_parts=2)
    assert (first.dissimilar.value, last.dissimilar.value) == (1.0, 0.0)


def marks(text):
    """Build the labels of one rater in order, and of a second rater who always says 1."""
    labels = label_table([f"{mark}1" for mark in text])
    return labels.assign(position=labels.groupby("rater").cumcount())


def test_a_share_has_the_tests_of_cochran_and_armitage_and_of_kruskal_and_wallis():
    effect = trend_effects(marks("0001010111"))[0]
    y, x = np.array([0, 0, 0, 1, 0, 1, 0, 1, 1, 1]), np.arange(10)
    armitage = ((x - x.mean()) @ y) ** 2 / (0.25 * ((x - x.mean()) ** 2).sum())
    assert effect.chi2 == pytest.approx(armitage * 9 / 10)
    assert effect.effect.value == pytest.approx(np.polyfit(x / 9, y, 1)[0])
    assert (effect.rater, effect.outcome, effect.test, effect.n) == ("R0", "dissimilar", "trend", 10)
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


def test_the_change_of_a_time_is_that_of_scipy_however_many_values_are_equal():
    rng = np.random.default_rng(1)
    n_without = 0
    for _ in range(60):
        n, n_values = rng.integers(3, 50), rng.integers(2, 50)
        labels = pd.DataFrame({"item": range(n), "rater": "ada", "category": "similar"})
        labels["position"] = rng.integers(0, n_values, n)
        labels["dwell_ms"] = rng.integers(0, rng.integers(2, 50), n)
        (effect,) = trend_effects(labels, outcomes=["dwell_ms"])
        if effect.effect.value is None:
            continue
        of_rank = stats.rankdata(labels["position"])
        x = (of_rank - of_rank.min()) / np.ptp(of_rank)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            theil = stats.theilslopes(labels["dwell_ms"], x, alpha=0.95)
        assert effect.effect.value == pytest.approx(theil.slope)
        if effect.effect.low is None:
            n_without += 1
        else:
            assert (effect.effect.low, effect.effect.high) == pytest.approx((theil.low_slope, theil.high_slope))
    assert 0 < n_without < 12
    labels = pd.DataFrame({"item": range(10), "rater": "ada", "category": "similar", "position": [1] + [0] * 9})
    (effect,) = trend_effects(labels.assign(dwell_ms=labels["position"] + 5), outcomes=["dwell_ms"])
    assert (effect.effect.value, effect.effect.reason) == (1, "too few labels for an interval")


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


def test_agreement_against_time_on_task_needs_no_position_and_few_labels_have_no_interval():
    (effect, _) = trend_effects(marks("010").assign(dwell_ms=[1, 1, 2, 2, 4, 4]), outcomes=["dwell_ms"])
    assert (effect.effect.value, effect.effect.low) == (3.0, None)
    assert "labels for an interval" in effect.effect.reason
    (effect, _) = trend_effects(marks("0101").assign(dwell_ms=[1, 1, 2, 2, 4, 4, 9, 9]), outcomes=["dwell_ms"])
    assert effect.effect.low is not None
    (effect, _) = predecessor_effects(marks("1000000000").assign(dwell_ms=range(20)), outcomes=["dwell_ms"])
    assert effect.effect.low is None
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


def test_applications_in_which_reviewers_lean_are_no_sign_that_some_are_stricter():
    """In each application a reviewer prefers one category, but on average no reviewer is stricter than another."""
    rng, n, wrong = np.random.default_rng(8), 60, np.zeros(4)
    of_item = np.repeat(np.arange(12), 12)
    for _ in range(n):
        lean = rng.normal(0, 1.5, (12, 3))[of_item]
        rows = ["".join("10"[int(label)] for label in row) for row in rng.random(lean.shape) > special.expit(lean)]
        labels = label_table(rows)
        groups = of_item[pd.factorize(labels["item"])[0]]
        for at, found in ((0, leniency(labels)), (2, leniency(labels, groups=groups))):
            wrong[at] += found.overall.p <= 0.05
            wrong[at + 1] += min(pair.p_holm for pair in found.pairs) <= 0.05
    assert min(wrong[:2]) / n > 0.25
    assert max(wrong[2:]) / n <= 0.12


def test_reviewers_who_are_stricter_in_every_application_are_found():
    labels = label_table((["110", "100", "101", "110"] * 3 + ["010"]) * 12)
    found = leniency(labels, groups=np.repeat(np.arange(12), 13 * 3))
    assert (found.overall.test, found.overall.p) == ("clustered score", 2**-11)
    few = leniency(labels, groups=np.repeat(np.arange(2), 6 * 13 * 3)).overall
    assert (few.p, few.reason) == (None, "too few applications differ for a test")
