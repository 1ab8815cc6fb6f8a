"""Verdicts against a consensus: confusion matrices, bounds, comparisons, and any number of categories."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from analysis.raters.agreement import cohen_kappa
from analysis.raters.evaluation import (
    Confusion,
    accuracy,
    against_majority,
    always,
    auc,
    balanced_accuracy,
    bounds,
    compare_classifiers,
    confusion_matrix,
    evaluate,
    f1,
    mcc,
    mcnemar,
    npv,
    paired_difference,
    precision,
    predictive_values,
    prevalence,
    roc,
    sensitivity,
    specificity,
    youden,
)
from analysis.statistics.intervals import Estimate, wilson
from tests.conftest import examples

SHARES = (sensitivity, specificity, precision, npv, accuracy, f1, balanced_accuracy)
VERDICTS = st.sampled_from(["similar", "dissimilar", None])
COUNTS = st.builds(Confusion, *[st.integers(0, 40)] * 4)


@pytest.mark.parametrize("case", ["paper_detector_same", "paper_detector_heuristic"])
def test_the_papers_confusion_matrices(golden_agreement, case):
    confusion = Confusion(**golden_agreement[case]["input"])
    expected = golden_agreement[case]["expected"]
    for function, interval in (
        (sensitivity, "ci_sensitivity_wilson"),
        (specificity, "ci_specificity_wilson"),
        (precision, "ci_precision_wilson"),
        (accuracy, "ci_accuracy_wilson"),
        (balanced_accuracy, "ci_balanced_accuracy_mover"),
        (f1, "ci_f1_from_jaccard_wilson"),
    ):
        estimate = function(confusion)
        assert estimate.value == pytest.approx(expected[function.__name__], abs=1e-7)
        assert [estimate.low, estimate.high] == pytest.approx(expected[interval], abs=1e-7)
    assert npv(confusion).value == pytest.approx(expected["npv"], abs=1e-7)
    assert youden(confusion).value == pytest.approx(expected["youden"], abs=1e-7)
    assert mcc(confusion, rng=np.random.default_rng(1)).value == pytest.approx(expected["mcc"], abs=1e-7)


def test_the_papers_classifiers_compared_with_the_rule_and_with_each_other(golden_agreement):
    same = Confusion(**golden_agreement["paper_detector_same"]["input"])
    assert always(same) == Confusion(tp=189, fp=135, fn=0, tn=0)
    assert accuracy(always(same)).value == prevalence(same).value == pytest.approx(189 / 324)
    assert accuracy(same).value < accuracy(always(same)).value
    # Tables 2 and 3 with maximum overlap: the heuristic calls dissimilar all items that SAME calls dissimilar
    consensus = ["dissimilar"] * 189 + ["similar"] * 135
    same = ["dissimilar"] * 52 + ["similar"] * 137 + ["dissimilar"] * 23 + ["similar"] * 112
    heuristic = ["dissimilar"] * 173 + ["similar"] * 16 + ["dissimilar"] * 82 + ["similar"] * 53
    result = compare_classifiers(consensus, heuristic, same)
    assert result.dissimilar.difference.value == pytest.approx((173 - 52) / 189)
    assert result.similar.difference.value == pytest.approx((53 - 112) / 135)
    assert result.dissimilar.mcnemar == mcnemar(121, 0)
    assert result.similar.mcnemar == mcnemar(0, 59)
    assert result.dissimilar.difference.low > 0 > result.similar.difference.high


def test_confusion_matrix_by_hand_or_refused():
    consensus = pd.Series({"a": "dissimilar", "b": "similar", "c": "similar", "d": "dissimilar"})
    verdicts = pd.Series({"d": "similar", "b": "dissimilar", "a": "dissimilar", "zz": "similar"})
    assert confusion_matrix(consensus, verdicts) == Confusion(tp=1, fp=1, fn=1, tn=0, n_without_verdict=1)
    assert confusion_matrix(["similar"], ["similar"], positive="similar") == Confusion(1, 0, 0, 0)
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
    for function in (*SHARES, prevalence):
        estimate = function(confusion)
        if estimate.value is None:
            assert estimate.reason
        else:
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert confusion.n == always(confusion).n


def test_mccs_interval_is_that_of_drawing_items():
    confusion = Confusion(tp=173, fp=82, fn=16, tn=53)
    truth = np.repeat([1, 0, 1, 0], [173, 82, 16, 53])
    called = np.repeat([1, 1, 0, 0], [173, 82, 16, 53])
    drawn = np.random.default_rng(1).integers(324, size=(4000, 324))
    expected = [np.corrcoef(truth[items], called[items])[0, 1] for items in drawn]
    estimate = mcc(confusion, rng=np.random.default_rng(2), n_draws=4000)
    assert estimate.se == pytest.approx(np.std(expected), rel=0.05)
    assert [estimate.low, estimate.high] == pytest.approx(np.quantile(expected, [0.025, 0.975]), abs=0.01)


def test_mcc_is_undefined_where_a_margin_is_empty():
    rng = np.random.default_rng(1)
    assert "consensus and a verdict" in mcc(Confusion(0, 0, 0, 0), rng=rng).reason
    assert mcc(Confusion(3, 2, 0, 0), rng=rng).reason == "no item was called similar"
    assert mcc(Confusion(0, 0, 3, 2), rng=rng).reason == "no item was called dissimilar"
    assert mcc(Confusion(3, 0, 2, 0), rng=rng).reason == "no item is similar"
    assert mcc(Confusion(0, 3, 0, 2), rng=rng).reason == "no item is dissimilar"
    assert mcc(Confusion(5, 0, 0, 1), rng=rng) == Estimate(1.0, reason="fewer than 20 items (6): no interval")
    one_similar = mcc(Confusion(25, 0, 0, 1), rng=rng)
    assert one_similar.value == 1
    assert "bootstrap draws, left out" in one_similar.reason


def test_bounds_by_hand():
    # agreed: tp 2, fp 1, fn 1, tn 2; split: two called dissimilar, one called similar, one without a verdict
    consensus = ["dissimilar"] * 3 + ["similar"] * 3 + [None] * 4
    verdicts = ["dissimilar", "dissimilar", "similar", "dissimilar", "similar", "similar"]
    verdicts += ["dissimilar", "dissimilar", "similar", None]
    result = bounds(consensus, verdicts)
    assert result.worst == Confusion(tp=2, fp=3, fn=2, tn=2, n_without_verdict=1)
    assert result.best == Confusion(tp=4, fp=1, fn=1, tn=3, n_without_verdict=1)
    assert (result.sensitivity.worst.value, result.sensitivity.best.value) == (2 / 4, 4 / 5)
    assert (result.specificity.worst.value, result.specificity.best.value) == (2 / 5, 3 / 4)
    assert (result.accuracy.worst.value, result.accuracy.best.value) == (4 / 9, 7 / 9)
    assert result.dropped.value == 4 / 10


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_bounds_are_reached(tp, fp, fn, tn, up, down):
    consensus = ["dissimilar"] * (tp + fn) + ["similar"] * (fp + tn) + [None] * (up + down)
    verdicts = ["dissimilar"] * tp + ["similar"] * fn + ["dissimilar"] * fp + ["similar"] * tn
    result = bounds(consensus, verdicts + ["dissimilar"] * up + ["similar"] * down)
    decided = [Confusion(tp + a, fp + up - a, fn + b, tn + down - b) for a in range(up + 1) for b in range(down + 1)]
    for function in (*SHARES, youden):
        values = [value for value in (function(one).value for one in decided) if value is not None]
        extremes = getattr(result, function.__name__)
        if values:
            assert (extremes.worst.value, extremes.best.value) == (min(values), max(values))
        else:
            assert extremes.worst.value is None
            assert extremes.worst.reason


def test_other_categories_and_one_of_three_are_evaluated_like_dissimilar_and_similar():
    truth, called = ["dissimilar", "similar", "dissimilar", "similar"], ["dissimilar", "dissimilar", "similar", None]
    names = {"dissimilar": "bad", "similar": "good", None: None}
    same = [[names[category] for category in column] for column in (truth, called)]
    options = {"categories": ("good", "bad")}
    assert confusion_matrix(*same, **options) == confusion_matrix(truth, called)
    assert bounds([*same[0][:3], None], same[1], **options) == bounds([*truth[:3], None], called)
    assert compare_classifiers(same[0], same[1], same[0], **options) == compare_classifiers(truth, called, truth)
    scores = [0.9, 0.4, 0.3, 0.1]
    assert roc(same[0], scores, **options) == roc(truth, scores)
    assert auc(same[0], scores, **options) == auc(truth, scores)
    assert auc(["bad", "bad"], [1, 2], **options).reason == "no item is good"
    with pytest.raises(
        ValueError, match=r"consensus has the value 'similar' \(row 1\), which is not one of: good, bad"
    ):
        confusion_matrix(["good", "similar"], ["good", "good"], **options)
    truth, called = ["low", "medium", "high", "high"], ["medium", "low", "high", "low"]
    options = {"categories": ("low", "medium", "high"), "positive": "high"}
    assert confusion_matrix(truth, called, **options) == Confusion(tp=1, fp=0, fn=1, tn=2)
    assert (
        compare_classifiers(truth, called, truth, **options).overall.a.value == 0.25
    )  # correct means exactly this category
    with pytest.raises(ValueError, match=r"positive.*low, medium, high"):
        confusion_matrix(truth, called, categories=("low", "medium", "high"))


def test_rates_of_items_in_groups_have_cluster_intervals():
    truth = pd.Series(["dissimilar"] * 60 + ["similar"] * 60, index=[f"i{n}" for n in range(120)])
    called = pd.Series(["dissimilar"] * 40 + ["similar"] * 40 + ["dissimilar"] * 40, index=truth.index)
    applications = pd.Series(np.arange(120) // 5, index=truth.index)  # the verdicts of an application are equal
    plain = confusion_matrix(truth, called)
    grouped = confusion_matrix(truth, called, groups=applications.sample(frac=1, random_state=1))
    assert (grouped.tp, grouped.fp, grouped.fn, grouped.tn) == (plain.tp, plain.fp, plain.fn, plain.tn)
    for statistic in (sensitivity, specificity, precision, npv, accuracy, f1, balanced_accuracy, youden):
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
    found = predictive_values(Confusion(tp=90, fp=20, fn=10, tn=80), 0.1)
    assert (found.precision.value, found.npv.value) == pytest.approx((1 / 3, 0.72 / 0.73))
    assert found.precision.low < 1 / 3 < found.precision.high
    # at the prevalence of the matrix, they are the rates of the matrix
    same = predictive_values(Confusion(tp=45, fp=20, fn=5, tn=80), 1 / 3)
    assert same.precision.value == pytest.approx(45 / 65)
    perfect = predictive_values(Confusion(tp=9, fp=0, fn=1, tn=8), 0.1).precision
    assert (perfect.value, perfect.high) == (1, 1)
    assert perfect.low < 0.5  # eight similar items do not show that there are no false alarms
    # a classifier that finds nothing: the odds are at most .1 / .9 times the upper limit of 0/10 by the lower of 2/10
    nothing = predictive_values(Confusion(tp=0, fp=2, fn=10, tn=8), 0.1).precision
    odds = 1 / 9 * wilson(0, 10).high / wilson(2, 10).low
    assert (nothing.value, nothing.low, nothing.high) == (0, 0, pytest.approx(odds / (1 + odds)))
    with pytest.raises(ValueError, match=r"prevalence must be within \(0, 1\)"):
        predictive_values(Confusion(1, 1, 1, 1), 1.0)


CATEGORY = st.sampled_from(["similar", "dissimilar"])
VERDICT = st.sampled_from(["similar", "dissimilar", None])
PAIRED_COUNTS = st.tuples(*[st.integers(0, 30)] * 4)


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
    of_dissimilar, of_similar, overall = result.dissimilar, result.similar, result.overall
    assert (of_dissimilar.both, of_dissimilar.only_a, of_dissimilar.only_b, of_dissimilar.neither) == (1, 2, 0, 1)
    assert (of_similar.both, of_similar.only_a, of_similar.only_b, of_similar.neither) == (0, 0, 2, 0)
    assert (of_dissimilar.difference.value, of_similar.difference.value, overall.difference.value) == (0.5, -1, 0)
    assert (of_dissimilar.mcnemar.p, of_similar.mcnemar.p, overall.mcnemar.p) == (0.5, 0.5, 1)
    truth = pd.Series({"x": "similar", "y": "dissimilar"})
    result = compare_classifiers(truth, pd.Series({"y": "dissimilar", "x": "dissimilar"}), pd.Series({"y": "similar"}))
    assert result.overall.n == result.dissimilar.only_a == 1
    with pytest.raises(ValueError, match=r"verdicts_b.*'no'"):
        compare_classifiers(["similar"], ["similar"], ["no"])
    with pytest.raises(ValueError, match=r"consensus has 1.*verdicts_b has 0"):
        compare_classifiers(["similar"], ["similar"], [])


@given(st.lists(st.tuples(CATEGORY, VERDICT, VERDICT), max_size=25))
def test_compare_agrees_with_the_shares_of_two_confusion_matrices(rows):
    truth, a, b = ([row[k] for row in rows] for k in range(3))
    result = compare_classifiers(truth, a, b)
    complete = [row for row in rows if None not in row]
    matrices = [confusion_matrix([row[0] for row in complete], [row[k] for row in complete]) for k in (1, 2)]
    for function, part in ((accuracy, result.overall), (sensitivity, result.dissimilar), (specificity, result.similar)):
        shares = [function(matrix) for matrix in matrices]
        assert [part.a.value, part.b.value] == [share.value for share in shares]
        if part.n:
            assert part.difference.value == pytest.approx(shares[0].value - shares[1].value)
        else:
            assert part.difference.reason
            assert part.mcnemar.p == 1
    assert result.dissimilar.n + result.similar.n == result.overall.n == len(complete)
    assert result.n_without_verdict == len(rows) - len(complete)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "cells"), [(135, (0.4, 0.02, 0.4, 0.18)), (40, (0.5, 0.2, 0.1, 0.2))])
def test_paired_difference_covers_as_its_level_says(n, cells):
    both, only_a, only_b, neither = np.random.default_rng(1).multinomial(n, cells, size=4000).T
    true = cells[1] - cells[2]
    estimates = [paired_difference(*row) for row in zip(both, only_a, only_b, neither, strict=True)]
    covered = np.mean([estimate.low <= true <= estimate.high for estimate in estimates])
    assert covered == pytest.approx(0.95, abs=0.02)


OF_CHANGES = ["regression", "noise", "improvement", "stable", "unknown"]


def evaluated(consensus, verdicts, categories=("a", "b", "c"), **more):
    return evaluate(consensus, verdicts, categories, rng=np.random.default_rng(1), **{"n_draws": 0} | more)


def of_table(table, **more):
    """The evaluation of a table of counts."""
    names = OF_CHANGES[: len(table)]
    rows = [(names[i], names[j]) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    consensus, verdicts = zip(*rows, strict=True) if rows else ((), ())
    return evaluated(list(consensus), list(verdicts), names, **more)


def test_three_categories_worked_by_hand():
    # right: 5 of 6; recalls 1, 1, 1/2; n * right - sum of products of margins = 6 * 5 - (2*3 + 2*2 + 2*1) = 18;
    # (36 - 12) * (36 - 14) = 528; rule "a": 2 right; b = items on which only the classifier is right = 3
    result = of_table([[2, 0, 0], [0, 2, 0], [1, 0, 1]], ordered=True)
    assert result.accuracy.value == pytest.approx(5 / 6)
    assert result.balanced_accuracy.value == pytest.approx(5 / 6)
    assert result.mcc.value == pytest.approx(18 / 528**0.5)
    rates = [(row.recall.value, row.precision.value) for row in result.by_category]
    assert rates == [(1.0, pytest.approx(2 / 3)), (1.0, 1.0), (0.5, 1.0)]
    assert (result.baseline.category, result.baseline.mcnemar.b, result.baseline.mcnemar.c) == ("regression", 3, 0)
    assert result.baseline.difference.value == pytest.approx(3 / 6)
    # linear weights 1, 1/2, 0: po = (5 * 1 + 0) / 6; pe = (2*3+2*2+2*1)/36 + (2*2 + 2*(3+1) + 2*2)/72 = 12/36 + 16/72
    assert result.weighted_kappa.value == pytest.approx((5 / 6 - 5 / 9) / (1 - 5 / 9))


@settings(max_examples=examples(30))
@given(st.lists(st.lists(st.integers(0, 12), min_size=2, max_size=2), min_size=2, max_size=2))
def test_two_categories_give_the_numbers_of_the_confusion_matrix(table):
    result = of_table(table)
    rows = [(i, j) for i in range(2) for j in range(2) for _ in range(table[i][j])]
    names = OF_CHANGES[:2]
    columns = [[names[row[side]] for row in rows] for side in (0, 1)]
    confusion = confusion_matrix(*columns, categories=names)
    assert result.accuracy == accuracy(confusion)
    two = balanced_accuracy(confusion)
    if two.ends is not None:
        assert result.balanced_accuracy.ends == pytest.approx(two.ends)
    matthews = mcc(confusion, rng=np.random.default_rng(1), n_draws=1).value
    assert result.mcc.value == (matthews if matthews is None else pytest.approx(matthews))
    if rows and sum(table[0]) != sum(table[1]):
        expected = against_majority(confusion)
        assert (result.baseline.accuracy, result.baseline.difference) == (expected.accuracy, expected.difference)
        assert (result.baseline.mcnemar, result.baseline.verdict) == (expected.mcnemar, expected.verdict)


def test_intervals_of_four_categories_cover_the_truth():
    """300 simulated studies of 120 items with known error matrix; each interval holds 95 % of the time."""
    rng = np.random.default_rng(20261124)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    errors = np.full((4, 4), 0.1) + np.diag([0.6, 0.5, 0.6, 0.4])
    errors /= errors.sum(axis=1, keepdims=True)
    truth = {"accuracy": float(shares @ np.diag(errors)), "balanced_accuracy": float(np.diag(errors).mean())}
    n, inside = 300, dict.fromkeys(truth, 0)
    for _ in range(n):
        table = rng.multinomial(120, (shares[:, None] * errors).ravel()).reshape(4, 4)
        result = of_table(table)
        for name, value in truth.items():
            _, low, high = getattr(result, name).ends
            inside[name] += low <= value <= high
    assert {name: 0.91 <= count / n <= 0.985 for name, count in inside.items()} == dict.fromkeys(truth, True)


def test_categories_without_items_and_items_without_verdicts_have_a_reason():
    items = pd.Series(["a", "a", "b"], index=["x", "y", "z"])
    result = evaluated(items, pd.Series({"z": "b", "x": "a"}))
    assert (result.n, result.n_without_verdict) == (2, 1)
    assert result.by_category[2].recall.reason == "no item is c"
    assert result.by_category[2].precision.reason == "no verdict is c"
    empty = evaluated([], [])
    assert {empty.accuracy.reason, empty.balanced_accuracy.reason, empty.mcc.reason} == {
        "no item has both a consensus and a verdict"
    }
    assert (empty.baseline.category, empty.baseline.verdict) == (None, "cannot tell")
    assert evaluated(["a"], ["a"]).mcc.reason == "the consensus or the verdicts have only one category"


@pytest.mark.parametrize(
    ("consensus", "verdicts", "message"),
    [
        (["a"], ["d"], "verdicts has the value 'd'"),
        (["d"], ["a"], "consensus has the value 'd'"),
        (["a"], [], "consensus has 1 items, verdicts has 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(consensus, verdicts, message):
    with pytest.raises(ValueError, match=message):
        evaluated(consensus, verdicts)


def test_weighted_kappa_is_that_of_two_raters_and_correlations_need_items():
    table = np.array([[5, 2, 0], [1, 6, 2], [0, 1, 4]])
    kappa = partial(cohen_kappa, table, OF_CHANGES[:3], weights="linear")
    assert of_table(table, ordered=True).weighted_kappa == kappa()
    assert of_table(table).weighted_kappa is None
    table = [[20, 3, 2], [4, 18, 3], [2, 2, 20]]
    result = of_table(table, n_draws=2000)
    assert result.mcc.low < result.mcc.value < result.mcc.high
    assert of_table([[2, 0], [1, 2]], n_draws=100).mcc.reason == "fewer than 20 items (5): no interval"
