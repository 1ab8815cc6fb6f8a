"""Verdicts against a consensus: confusion matrices, bounds, comparisons, and any number of categories."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import special
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from analysis.raters.agreement import cohen_kappa
from analysis.raters.evaluation import (
    POSITIVE_RATES,
    Confusion,
    accuracy,
    against_majority,
    always,
    auc,
    balanced_accuracy,
    bounds,
    compare_classifiers,
    confusion_matrix,
    correct_comparisons,
    correct_rules,
    mcc,
    mcnemar,
    paired_difference,
    precision,
    predictive_values,
    recall,
    roc,
    share_of,
    weighted_kappa,
)
from analysis.statistics.intervals import Estimate, mcnemar_by_group, wilson

NAMES = ("similar", "dissimilar")
VERDICTS = st.sampled_from(["similar", "dissimilar", None])


def two(tp, fp, fn, tn, n_without_verdict=0):
    """The matrix of the built-in question."""
    return Confusion(NAMES, ((tn, fp), (fn, tp)), n_without_verdict)


COUNTS = st.builds(two, *[st.integers(0, 40)] * 4)


@pytest.mark.parametrize("case", ["paper_detector_same", "paper_detector_heuristic"])
def test_the_papers_confusion_matrices(golden_agreement, case):
    confusion = two(**golden_agreement[case]["input"])
    expected = golden_agreement[case]["expected"]
    intervals = {
        "sensitivity": "ci_sensitivity_wilson", "specificity": "ci_specificity_wilson",
        "precision": "ci_precision_wilson", "accuracy": "ci_accuracy_wilson", "npv": None, "youden": None,
        "balanced_accuracy": "ci_balanced_accuracy_mover", "f1": "ci_f1_from_jaccard_wilson",
    }  # fmt: skip
    for name, interval in intervals.items():
        estimate = POSITIVE_RATES[name](confusion)
        assert estimate.value == pytest.approx(expected[name], abs=1e-7)
        if interval:
            assert [estimate.low, estimate.high] == pytest.approx(expected[interval], abs=1e-7)
    assert mcc(confusion, rng=np.random.default_rng(1)).value == pytest.approx(expected["mcc"], abs=1e-7)


def test_the_papers_classifiers_compared_with_the_rule_and_with_each_other(golden_agreement):
    same = two(**golden_agreement["paper_detector_same"]["input"])
    rule = always(same, "dissimilar")
    assert rule == two(tp=189, fp=135, fn=0, tn=0)
    assert accuracy(rule).value == share_of(same, "dissimilar").value == pytest.approx(189 / 324)
    assert accuracy(same).value < accuracy(rule).value
    # Tables 2 and 3 with maximum overlap: the heuristic calls dissimilar all items that SAME calls dissimilar
    consensus = ["dissimilar"] * 189 + ["similar"] * 135
    same = ["dissimilar"] * 52 + ["similar"] * 137 + ["dissimilar"] * 23 + ["similar"] * 112
    heuristic = ["dissimilar"] * 173 + ["similar"] * 16 + ["dissimilar"] * 82 + ["similar"] * 53
    of_similar, of_dissimilar = compare_classifiers(consensus, heuristic, same).by_category.values()
    assert of_dissimilar.difference.value == pytest.approx((173 - 52) / 189)
    assert of_similar.difference.value == pytest.approx((53 - 112) / 135)
    assert of_dissimilar.mcnemar == mcnemar(121, 0)
    assert of_similar.mcnemar == mcnemar(0, 59)
    assert of_dissimilar.difference.low > 0 > of_similar.difference.high


def test_confusion_matrix_by_hand_or_refused():
    consensus = pd.Series({"a": "dissimilar", "b": "similar", "c": "similar", "d": "dissimilar"})
    verdicts = pd.Series({"d": "similar", "b": "dissimilar", "a": "dissimilar", "zz": "similar"})
    assert confusion_matrix(consensus, verdicts) == two(tp=1, fp=1, fn=1, tn=0, n_without_verdict=1)
    assert confusion_matrix(["similar"], ["similar"]).against_rest("similar").counts == ((0, 0), (0, 1))
    with pytest.raises(ValueError, match=r"consensus.*'maybe'"):
        confusion_matrix(["maybe"], ["similar"])
    with pytest.raises(ValueError, match=r"verdicts.*'yes'"):
        confusion_matrix(["similar"], ["yes"])
    with pytest.raises(ValueError, match=r"consensus has 1.*verdicts has 2"):
        confusion_matrix(["similar"], ["similar", "similar"])
    once, twice = pd.Series({"a": "similar"}), pd.Series(["similar", "similar"], index=["a", "a"])
    with pytest.raises(ValueError, match=r"verdicts.*item 'a'"):
        confusion_matrix(once, twice)
    with pytest.raises(ValueError, match=r"consensus.*item 'a'"):
        confusion_matrix(twice, once)
    with pytest.raises(ValueError, match=r"verdicts.*'yes'"):
        bounds([None], ["yes"])


@given(COUNTS)
def test_every_share_is_in_range_or_undefined_with_a_reason(confusion):
    shares = [rate(confusion) for name, rate in POSITIVE_RATES.items() if name != "youden"]
    for estimate in (*shares, share_of(confusion, "dissimilar")):
        if estimate.value is None:
            assert estimate.reason
        else:
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert confusion.n == always(confusion, "similar").n


def test_the_interval_of_mcc_holds_what_the_likelihood_does_not_exclude():
    # 60 even items, 12 errors: the largest and smallest correlation of all tables within the limit, by a grid
    counts, rng = np.array([24, 6, 6, 24]) / 60, np.random.default_rng(1)
    limit = special.stdtrit(59, 0.975) ** 2 / 120
    tables = rng.dirichlet(60 * counts, size=200_000)
    inside = tables[(counts * np.log(counts / tables)).sum(axis=1) <= limit]
    a, b, c, d = inside.T
    values = (a * d - b * c) / np.sqrt((a + b) * (c + d) * (a + c) * (b + d))
    found = mcc(two(tp=24, fp=6, fn=6, tn=24), rng=rng)
    assert (found.low, found.high) == pytest.approx((values.min(), values.max()), abs=0.01)
    assert found.low <= values.min() and found.high >= values.max()


@pytest.mark.parametrize(("tp", "tn", "low"), [(12, 12, 0.765), (5, 19, 0.610), (2, 22, None)])
def test_verdicts_without_an_error_have_a_bound_and_no_interval_of_width_0(tp, tn, low):
    # e = 1 - .05^(1/24) = .117: the smallest correlation of tables with these shares and errors e
    found = mcc(two(tp=tp, fp=0, fn=0, tn=tn), rng=np.random.default_rng(1))
    assert found.value == 1
    assert (found.low is None) if low is None else found.low == pytest.approx(low, abs=5e-4)
    assert found.reason.startswith("too few items of the rarer category" if low is None else "one-sided")


def test_alike_items_widen_the_interval_of_mcc():
    truth, called = np.tile([0, 0, 1, 1], 15), np.tile([0, 0, 1, 1], 15)
    called[::7] = 1 - called[::7]
    names = np.array(["similar", "dissimilar"])
    rng = np.random.default_rng(1)
    plain, of_one, alike = (
        mcc(confusion_matrix(names[np.repeat(truth, k)], names[np.repeat(called, k)], groups=groups), rng=rng)
        for k, groups in ((1, None), (1, np.arange(60)), (4, np.repeat(np.arange(60), 4)))
    )
    assert (of_one.low, of_one.high) == pytest.approx((plain.low, plain.high), abs=0.01)
    assert alike.half_width == pytest.approx(plain.half_width, rel=0.05)


def test_mcc_is_undefined_where_a_margin_is_empty():
    rng = np.random.default_rng(1)
    assert "consensus and a verdict" in mcc(two(0, 0, 0, 0), rng=rng).reason
    assert mcc(two(3, 2, 0, 0), rng=rng).reason == "no item was called similar"
    assert mcc(two(0, 0, 3, 2), rng=rng).reason == "no item was called dissimilar"
    assert mcc(two(3, 0, 2, 0), rng=rng).reason == "no item is similar"
    assert mcc(two(0, 3, 0, 2), rng=rng).reason == "no item is dissimilar"
    assert mcc(two(5, 0, 0, 1), rng=rng) == Estimate(1.0, reason="fewer than 20 items (6): no interval")


def test_bounds_by_hand():
    # agreed: tp 2, fp 1, fn 1, tn 2; split: two called dissimilar, one called similar, one without a verdict
    consensus = ["dissimilar"] * 3 + ["similar"] * 3 + [None] * 4
    verdicts = ["dissimilar", "dissimilar", "similar", "dissimilar", "similar", "similar"]
    verdicts += ["dissimilar", "dissimilar", "similar", None]
    result = bounds(consensus, verdicts)
    assert result.worst == two(tp=2, fp=3, fn=2, tn=2, n_without_verdict=1)
    assert result.best == two(tp=4, fp=1, fn=1, tn=3, n_without_verdict=1)
    assert (result.sensitivity.worst.value, result.sensitivity.best.value) == (2 / 4, 4 / 5)
    assert (result.specificity.worst.value, result.specificity.best.value) == (2 / 5, 3 / 4)
    assert (result.accuracy.worst.value, result.accuracy.best.value) == (4 / 9, 7 / 9)
    assert result.dropped.value == 4 / 10


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_bounds_are_reached(tp, fp, fn, tn, up, down):
    consensus = ["dissimilar"] * (tp + fn) + ["similar"] * (fp + tn) + [None] * (up + down)
    verdicts = ["dissimilar"] * tp + ["similar"] * fn + ["dissimilar"] * fp + ["similar"] * tn
    result = bounds(consensus, verdicts + ["dissimilar"] * up + ["similar"] * down)
    decided = [two(tp + a, fp + up - a, fn + b, tn + down - b) for a in range(up + 1) for b in range(down + 1)]
    for name, rate in POSITIVE_RATES.items():
        values = [value for value in (rate(one).value for one in decided) if value is not None]
        extremes = getattr(result, name)
        if values:
            assert (extremes.worst.value, extremes.best.value) == (min(values), max(values))
        else:
            assert extremes.worst.value is None
            assert extremes.worst.reason


def test_other_categories_are_evaluated_like_dissimilar_and_similar():
    truth, called = ["dissimilar", "similar", "dissimilar", "similar"], ["dissimilar", "dissimilar", "similar", None]
    names = {"dissimilar": "bad", "similar": "good", None: None}
    same = [[names[category] for category in column] for column in (truth, called)]
    options = {"categories": ("good", "bad")}
    assert confusion_matrix(*same, **options).counts == confusion_matrix(truth, called).counts
    assert bounds([*same[0][:3], None], same[1], **options).f1 == bounds([*truth[:3], None], called).f1
    compared = compare_classifiers(same[0], same[1], same[0], **options)
    assert compared.by_category["bad"] == compare_classifiers(truth, called, truth).by_category["dissimilar"]
    scores = [0.9, 0.4, 0.3, 0.1]
    assert roc(same[0], scores, **options) == roc(truth, scores)
    assert auc(same[0], scores, **options) == auc(truth, scores)
    assert auc(["bad", "bad"], [1, 2], **options).reason == "no item is good"
    with pytest.raises(
        ValueError, match=r"consensus has the value 'similar' \(row 1\), which is not one of: good, bad"
    ):
        confusion_matrix(["good", "similar"], ["good", "good"], **options)


def test_one_of_three_categories_against_the_rest():
    truth, called = ["low", "medium", "high", "high"], ["medium", "low", "high", "low"]
    three = confusion_matrix(truth, called, categories=("low", "medium", "high"), groups=[1, 1, 2, 2])
    high = three.against_rest("high")
    assert (high.categories, high.counts) == (("low or medium", "high"), ((2, 0), (1, 1)))
    assert high.by_group == (((2, 0), (0, 0)), ((0, 0), (1, 1)))
    assert accuracy(three).value == 0.25  # right means exactly this category
    assert precision(high, "low or medium").value == 2 / 3
    with pytest.raises(ValueError, match="one of: low, medium, high; got 'higher'"):
        recall(three, "higher")
    with pytest.raises(ValueError, match=r"positive.*low, medium, high"):
        bounds(truth, called, categories=("low", "medium", "high"))


def test_rates_of_items_in_groups_have_cluster_intervals():
    truth = pd.Series(["dissimilar"] * 60 + ["similar"] * 60, index=[f"i{n}" for n in range(120)])
    called = pd.Series(["dissimilar"] * 40 + ["similar"] * 40 + ["dissimilar"] * 40, index=truth.index)
    applications = pd.Series(np.arange(120) // 5, index=truth.index)  # the verdicts of an application are equal
    plain = confusion_matrix(truth, called)
    grouped = confusion_matrix(truth, called, groups=applications.sample(frac=1, random_state=1))
    assert grouped.counts == plain.counts
    for statistic in POSITIVE_RATES.values():
        one, other = statistic(plain), statistic(grouped)
        assert one.value == other.value
        assert other.half_width > 1.5 * one.half_width
    few = confusion_matrix(truth, called, groups=applications // 6)
    assert accuracy(few).reason == "fewer than 5 groups (4): no interval"
    assert balanced_accuracy(few).value == balanced_accuracy(plain).value
    with pytest.raises(ValueError, match="2 entries for 120 items"):
        confusion_matrix(list(truth), list(called), groups=["a", "b"])


def test_predictive_values_at_a_chosen_prevalence_by_hand():
    # sensitivity .9, specificity .8: at 10 %, .09 / (.09 + .18) and .72 / (.72 + .01)
    found = predictive_values(two(tp=90, fp=20, fn=10, tn=80), "dissimilar", 0.1)
    assert (found.precision.value, found.npv.value) == pytest.approx((1 / 3, 0.72 / 0.73))
    assert found.precision.low < 1 / 3 < found.precision.high
    # at the prevalence of the matrix, they are the rates of the matrix
    same = predictive_values(two(tp=45, fp=20, fn=5, tn=80), "dissimilar", 1 / 3)
    assert same.precision.value == pytest.approx(45 / 65)
    perfect = predictive_values(two(tp=9, fp=0, fn=1, tn=8), "dissimilar", 0.1).precision
    assert (perfect.value, perfect.high) == (1, 1)
    assert perfect.low < 0.5  # eight similar items do not show that there are no false alarms
    # a classifier that finds nothing: the odds are at most .1 / .9 times the upper limit of 0/10 by the lower of 2/10
    nothing = predictive_values(two(tp=0, fp=2, fn=10, tn=8), "dissimilar", 0.1).precision
    odds = 1 / 9 * wilson(0, 10).high / wilson(2, 10).low
    assert (nothing.value, nothing.low, nothing.high) == (0, 0, pytest.approx(odds / (1 + odds)))
    with pytest.raises(ValueError, match=r"prevalence must be within \(0, 1\)"):
        predictive_values(two(1, 1, 1, 1), "dissimilar", 1.0)


CATEGORY = st.sampled_from(["similar", "dissimilar"])
VERDICT = st.sampled_from(["similar", "dissimilar", None])


def test_mcnemar_by_hand_and_of_agrestis_approval_ratings(golden_agreement):
    case = golden_agreement["mcnemar_agresti"]
    result = mcnemar(**case["input"])
    assert result.p == pytest.approx(case["expected"]["exact_p"], abs=1e-9)
    assert result.chi2 == pytest.approx(case["expected"]["chi2_no_correction"], abs=1e-9)
    # 2 x (1 + 6) / 2^6 = 14/64
    assert mcnemar(1, 5).p == pytest.approx(14 / 64)
    assert mcnemar(4, 4).p == 1
    assert mcnemar(0, 0) == mcnemar(b=0, c=0)
    assert (mcnemar(0, 0).p, mcnemar(0, 0).chi2, mcnemar(0, 0).reason) == (1, None, "no discordant pair")


@given(st.integers(0, 3000), st.integers(0, 3000))
def test_mcnemar_is_symmetric_and_that_of_statsmodels(b, c):
    p = mcnemar(b, c).p
    assert p == mcnemar(c, b).p
    assert 0 <= p <= 1
    if b + c:
        assert p == pytest.approx(statsmodels_mcnemar([[0, b], [c, 0]], exact=True).pvalue, rel=1e-9, abs=1e-290)


@pytest.mark.parametrize("bad", [(-1, 2), (2, 1.5)])
def test_mcnemar_rejects_invalid_counts(bad):
    with pytest.raises(ValueError, match="number >= 0"):
        mcnemar(*bad)


# Altman et al. (2000), Statistics with Confidence, 2nd ed., p. 52 (thallium stress tests), and complete response before
# and after consolidation (Cavo 2012) as in Fagerland et al. (2017), Statistical Analysis of Contingency Tables, ch. 8
@pytest.mark.parametrize(
    ("counts", "expected", "digits"),
    [((14, 5, 0, 22), (0.122, 0.011, 0.226), 3), ((59, 6, 16, 80), (-0.0621, -0.1186, -0.0046), 4)],
)
def test_paired_difference_of_published_tables(counts, expected, digits):
    estimate = paired_difference(*counts)
    assert tuple(round(end, digits) for end in (estimate.value, estimate.low, estimate.high)) == expected


def test_series_are_matched_by_item_and_compared_by_hand():
    consensus = ["dissimilar"] * 4 + ["similar"] * 3
    a = ["dissimilar", "dissimilar", "dissimilar", "similar", "dissimilar", "dissimilar", None]
    b = ["dissimilar", "similar", "similar", "similar", "similar", "similar", "similar"]
    result = compare_classifiers(consensus, a, b)
    assert result.n_without_verdict == 1
    of_similar, of_dissimilar = result.by_category.values()
    overall = result.overall
    assert (of_dissimilar.both, of_dissimilar.only_a, of_dissimilar.only_b, of_dissimilar.neither) == (1, 2, 0, 1)
    assert (of_similar.both, of_similar.only_a, of_similar.only_b, of_similar.neither) == (0, 0, 2, 0)
    assert (of_dissimilar.difference.value, of_similar.difference.value, overall.difference.value) == (0.5, -1, 0)
    assert (of_dissimilar.mcnemar.p, of_similar.mcnemar.p, overall.mcnemar.p) == (0.5, 0.5, 1)
    truth = pd.Series({"x": "similar", "y": "dissimilar"})
    result = compare_classifiers(truth, pd.Series({"y": "dissimilar", "x": "dissimilar"}), pd.Series({"y": "similar"}))
    assert result.overall.n == result.by_category["dissimilar"].only_a == 1
    with pytest.raises(ValueError, match=r"verdicts_b.*'no'"):
        compare_classifiers(["similar"], ["similar"], ["no"])
    with pytest.raises(ValueError, match=r"consensus has 1.*verdicts_b has 0"):
        compare_classifiers(["similar"], ["similar"], [])


@pytest.mark.slow
@pytest.mark.parametrize(("n", "cells"), [(135, (0.4, 0.02, 0.4, 0.18)), (40, (0.5, 0.2, 0.1, 0.2))])
def test_paired_difference_covers_as_its_level_says(n, cells):
    both, only_a, only_b, neither = np.random.default_rng(1).multinomial(n, cells, size=4000).T
    true = cells[1] - cells[2]
    estimates = [paired_difference(*row) for row in zip(both, only_a, only_b, neither, strict=True)]
    covered = np.mean([estimate.low <= true <= estimate.high for estimate in estimates])
    assert covered == pytest.approx(0.95, abs=0.02)


OF_CHANGES = ("regression", "noise", "improvement", "stable", "unknown")


def table_of(*rows):
    """The matrix of a table of counts."""
    return Confusion(OF_CHANGES[: len(rows)], tuple(map(tuple, rows)))


def test_three_categories_worked_by_hand():
    # right: 5 of 6; recalls 1, 1, 1/2; n * right - sum of products of margins = 6 * 5 - (2*3 + 2*2 + 2*1) = 18;
    # (36 - 12) * (36 - 14) = 528; rule "improvement", the last of three equally frequent categories: 2 right, and the
    # classifier 1 of them, so b = 4 and c = 1
    table = table_of([2, 0, 0], [0, 2, 0], [1, 0, 1])
    assert accuracy(table).value == pytest.approx(5 / 6)
    assert balanced_accuracy(table).value == pytest.approx(5 / 6)
    assert mcc(table, rng=np.random.default_rng(1)).value == pytest.approx(18 / 528**0.5)
    rates = [(recall(table, name).value, precision(table, name).value) for name in table.categories]
    assert rates == [(1.0, pytest.approx(2 / 3)), (1.0, 1.0), (0.5, 1.0)]
    rule = against_majority(table)
    assert (rule.category, rule.mcnemar.b, rule.mcnemar.c) == ("improvement", 4, 1)
    assert rule.difference.value == pytest.approx(3 / 6)
    # linear weights 1, 1/2, 0: po = (5 * 1 + 0) / 6; pe = (2*3+2*2+2*1)/36 + (2*2 + 2*(3+1) + 2*2)/72 = 12/36 + 16/72
    assert weighted_kappa(table).value == pytest.approx((5 / 6 - 5 / 9) / (1 - 5 / 9))


def test_categories_without_items_and_items_without_verdicts_have_a_reason():
    items = pd.Series(["a", "a", "b"], index=["x", "y", "z"])
    three = confusion_matrix(items, pd.Series({"z": "b", "x": "a"}), categories=("a", "b", "c"))
    assert (three.n, three.n_without_verdict) == (2, 1)
    assert recall(three, "c").reason == "no item is c"
    assert precision(three, "c").reason == "no item was called c"
    empty, rng = confusion_matrix([], [], categories=("a", "b", "c")), np.random.default_rng(1)
    assert {accuracy(empty).reason, balanced_accuracy(empty).reason, mcc(empty, rng=rng).reason} == {
        "no item has both a consensus and a verdict"
    }
    assert (against_majority(empty).category, against_majority(empty).verdict) == (None, "cannot tell")
    one = confusion_matrix(["a", "a"], ["a", "b"], categories=("a", "b", "c"))
    assert balanced_accuracy(one).reason == mcc(one, rng=rng).reason == "no item is b or c"


def test_weighted_kappa_is_that_of_two_raters_and_correlations_need_items():
    table = np.array([[5, 2, 0], [1, 6, 2], [0, 1, 4]])
    assert weighted_kappa(table_of(*table.tolist())) == cohen_kappa(table, OF_CHANGES[:3], weights="linear")
    rng = np.random.default_rng(1)
    found = mcc(table_of([20, 3, 2], [4, 18, 3], [2, 2, 20]), rng=rng, n_draws=2000)
    assert found.low < found.value < found.high
    assert mcc(table_of([2, 0], [1, 2]), rng=rng, n_draws=100).reason == "fewer than 20 items (5): no interval"
    three = [20, 1, 0], [1, 20, 0], [0, 0, 9]
    assert mcc(table_of(*three), rng=rng, n_draws=0).reason == "made without resampling"
    perfect = mcc(table_of([20, 0, 0], [0, 20, 0], [0, 0, 9]), rng=rng, n_draws=100)
    assert (perfect.value, perfect.low, perfect.reason) == (1, None, "no item has another verdict: no interval")


def test_fewer_than_ten_items_are_no_test_and_do_not_count_for_holm():
    nine, ten = two(tp=1, fp=0, fn=0, tn=8), two(tp=5, fp=0, fn=0, tn=5)
    rule = against_majority(nine)
    assert (rule.difference.low, rule.verdict) == (None, "cannot tell")
    assert rule.difference.reason == "fewer than 10 items (9): no interval and no test"
    rules = correct_rules({"few": rule, "enough": against_majority(ten)})
    # five items on which only the classifier is right: mid-p = 2 / 32 - 1 / 32, and nothing to correct for
    assert (rules["few"].p_holm, rules["enough"].p_holm) == (None, pytest.approx(1 / 32))
    assert (rules["few"].verdict, rules["enough"].verdict) == ("cannot tell", "better")
    truth = ["dissimilar"] * 10 + ["similar"] * 9
    compared = compare_classifiers(truth, truth, ["similar"] * 19)
    (corrected,) = correct_comparisons([compared])
    # ten of 19 items overall, and the same ten of the dissimilar items: p = 1 / 1024, corrected for two tests
    assert [part.p_holm for part in corrected.parts] == [pytest.approx(2 / 1024), None, pytest.approx(2 / 1024)]


@pytest.mark.parametrize(
    ("b", "c", "p", "p_mid"),
    [
        # all signs equal: 8 is the largest sum of 3, 1, 1, 2, 1, which one of 32 combinations of signs has at each end
        ((3, 1, 1, 2, 1), (0, 0, 0, 0, 0), 2 / 32, 1 / 32),
        # 3 - 1 + 1 + 1 + 1 = 5: one sum is 7 and four are 5, at each end
        ((4, 0, 1, 1, 1), (1, 1, 0, 0, 0), 10 / 32, 6 / 32),
        ((1, 1, 1, 0, 0, 0), (0, 0, 0, 1, 1, 1), 1, 1),
    ],
)
def test_mcnemar_by_application_worked_by_hand(b, c, p, p_mid):
    found = mcnemar_by_group(b, c)
    assert (found.p, found.p_mid) == (pytest.approx(p), pytest.approx(p_mid))
    assert (found.b, found.c, found.chi2) == (sum(b), sum(c), mcnemar(sum(b), sum(c)).chi2)


@given(st.integers(0, 20), st.integers(0, 20))
def test_with_one_item_in_each_application_mcnemar_is_the_plain_test(b, c):
    found, plain = mcnemar_by_group([1] * b + [0] * c, [0] * b + [1] * c), mcnemar(b, c)
    if b + c < 5:
        assert (found.p, found.p_mid, found.reason) == (None, None, "too few applications differ for a test")
    else:
        assert (found.p, found.p_mid) == (pytest.approx(plain.p), pytest.approx(plain.p_mid))


def test_applications_with_own_tendencies_are_no_evidence():
    """In each of ten applications, six items differ, nearly all in one direction; no direction is preferred."""
    rng, n = np.random.default_rng(6), 400
    plain = clustered = 0
    for _ in range(n):
        b = rng.binomial(6, rng.choice([0.1, 0.9], size=10)).tolist()
        c = [6 - x for x in b]
        plain += mcnemar(sum(b), sum(c)).p_mid <= 0.05
        clustered += (mcnemar_by_group(b, c).p_mid or 1) <= 0.05
    assert plain / n > 0.3
    assert clustered / n <= 0.075


def test_with_fewer_than_ten_applications_a_claim_must_also_hold_item_by_item():
    """Each application has one difference more in one direction; item by item, nothing is shown."""
    found = mcnemar_by_group([4] * 6, [3] * 6)
    assert (found.p_mid, mcnemar_by_group([4] * 12, [3] * 12).p_mid) == (mcnemar(24, 18).p_mid, pytest.approx(2**-12))


def test_classifiers_are_compared_by_application():
    truth = ["dissimilar"] * 15 + ["similar"] * 14
    applications = [at // 3 for at in range(15)] + list(range(5, 19))
    wrong = ["similar"] * 29
    compared = compare_classifiers(truth, truth, wrong, groups=applications)
    of_similar, of_dissimilar = compared.by_category.values()
    # five applications in which only the first classifier is right, three times each
    assert (compared.overall.mcnemar.p_mid, of_dissimilar.mcnemar.p_mid) == (1 / 32, 1 / 32)
    assert of_similar.mcnemar.reason == "too few applications differ for a test"
    (corrected,) = correct_comparisons([compared])
    assert [part.p_holm for part in corrected.parts] == [2 / 32, None, 2 / 32]
    matrix = confusion_matrix(truth, truth, groups=applications)
    rule = against_majority(matrix)  # always dissimilar; the classifier alone is right on 14 items of 14 applications
    assert rule.mcnemar.p_mid == pytest.approx(2**-14)
    assert rule.accuracy == share_of(matrix, "dissimilar")
    few = against_majority(confusion_matrix(truth, truth, groups=[at // 8 for at in range(29)]))
    assert (few.mcnemar.p_mid, few.verdict) == (None, "cannot tell")
