"""Leniency: which reviewer chooses dissimilar more often on the same items."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from statsmodels.discrete.conditional_models import ConditionalLogit
from statsmodels.stats.contingency_tables import cochrans_q, mcnemar

from analysis.agreement import TwoByTwo, holm, leniency
from analysis.evaluation import McNemar
from analysis.intervals import wilson
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


def test_mcnemar_of_a_published_table(golden_agreement):
    case = golden_agreement["mcnemar_agresti"]
    b, c = case["input"]["b"], case["input"]["c"]
    (pair,) = leniency(label_table(["10"] * b + ["01"] * c)).pairs
    assert pair.mcnemar.p == pytest.approx(case["expected"]["exact_p"], rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
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


def test_a_rater_without_a_split_item_is_left_out_and_named():
    result = leniency(label_table(["10-", "01-", "10-", "--1", "1-1"]))
    assert result.overall.df == 1
    assert result.overall.reason.endswith("left out: R2")
    assert "differ from another rater" in result.raters[2].log_odds.reason
    assert [pair.mcnemar.p for pair in result.pairs] == [1.0, 1.0]


def test_separate_sets_of_raters_are_compared_within_themselves():
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


@settings(max_examples=examples(50))
@given(rows_of_labels(max_raters=3), st.permutations(range(3)), st.randoms(use_true_random=False))
def test_leniency_does_not_depend_on_names_or_on_the_order_of_rows(rows, order, random):
    rows = [(row + "---")[:3] for row in rows]
    other = leniency(label_table(["".join(row[j] for j in order) for row in random.sample(rows, len(rows))]))
    one = leniency(label_table(rows))
    assert (one.overall.test, one.overall.df) == (other.overall.test, other.overall.df)
    assert one.overall.chi2 == (None if other.overall.chi2 is None else pytest.approx(other.overall.chi2, abs=1e-6))


@settings(max_examples=examples(50))
@given(rows_of_labels())
def test_exchanged_categories_turn_the_leniencies_round(rows):
    one = leniency(label_table(rows))
    other = leniency(label_table([row.translate(str.maketrans("01", "10")) for row in rows]))
    for rater, turned in zip(one.raters, other.raters, strict=True):
        if rater.log_odds.value is None:
            assert turned.log_odds.value is None
        else:
            assert rater.log_odds.value == pytest.approx(-turned.log_odds.value, abs=1e-6)
    assert one.overall.chi2 == (None if other.overall.chi2 is None else pytest.approx(other.overall.chi2, abs=1e-6))


def test_many_raters_on_one_item_take_little_time():
    rng = np.random.default_rng(8)
    rows = ["".join(rng.choice(["0", "1"], 20)) for _ in range(60)]
    result = leniency(label_table(rows))
    assert (result.overall.test, result.overall.df) == ("likelihood ratio", 19)


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


def test_holm_corrects_as_published():
    # Holm 1979: the smallest p times n, the next times n - 1, never decreasing
    assert holm([0.01, 0.02, 0.03, 0.04]) == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert holm([0.9, None, 0.6]) == [1.0, None, 1.0]
    assert holm([]) == []


@pytest.mark.slow
def test_the_test_over_all_holds_its_level():
    rng = np.random.default_rng(61)
    p = [leniency(label_table(simulated(150, [0.0] * 4, rng))).overall.p for _ in range(400)]
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.03)
