import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from analysis.evaluation import (
    Confusion,
    accuracy,
    always,
    auc,
    balanced_accuracy,
    bounds,
    compare,
    confusion_matrix,
    f1,
    mcc,
    npv,
    precision,
    predictive_values,
    prevalence,
    roc,
    sensitivity,
    specificity,
    youden,
)
from analysis.intervals import Estimate, wilson

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


@pytest.mark.parametrize("case", ["paper_detector_same", "paper_detector_heuristic"])
def test_the_papers_other_statistics(golden_agreement, case):
    confusion = Confusion(**golden_agreement[case]["input"])
    expected = golden_agreement[case]["expected"]
    assert npv(confusion).value == pytest.approx(expected["npv"], abs=1e-7)
    assert youden(confusion).value == pytest.approx(expected["youden"], abs=1e-7)
    assert mcc(confusion, rng=np.random.default_rng(1)).value == pytest.approx(expected["mcc"], abs=1e-7)


def test_always_dissimilar_beats_sames_accuracy_on_the_papers_agreed_items(golden_agreement):
    same = Confusion(**golden_agreement["paper_detector_same"]["input"])
    assert always(same) == Confusion(tp=189, fp=135, fn=0, tn=0)
    assert accuracy(always(same)).value == prevalence(same).value == pytest.approx(189 / 324)
    assert accuracy(same).value < accuracy(always(same)).value


def test_confusion_matrix_by_hand():
    consensus = pd.Series({"a": "dissimilar", "b": "similar", "c": "similar", "d": "dissimilar"})
    verdicts = pd.Series({"d": "similar", "b": "dissimilar", "a": "dissimilar", "zz": "similar"})
    assert confusion_matrix(consensus, verdicts) == Confusion(tp=1, fp=1, fn=1, tn=0, n_without_verdict=1)
    assert confusion_matrix(["similar"], ["similar"], positive="similar") == Confusion(1, 0, 0, 0)


def test_unknown_categories_are_rejected():
    with pytest.raises(ValueError, match=r"consensus.*'maybe'"):
        confusion_matrix(["maybe"], ["similar"])
    with pytest.raises(ValueError, match=r"verdicts.*'yes'"):
        confusion_matrix(["similar"], ["yes"])
    with pytest.raises(ValueError, match=r"consensus has 1.*verdicts has 2"):
        confusion_matrix(["similar"], ["similar", "similar"])


@given(COUNTS)
def test_every_share_is_in_range_or_undefined_with_a_reason(confusion):
    for function in (*SHARES, prevalence):
        estimate = function(confusion)
        if estimate.value is None:
            assert estimate.reason
        else:
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert confusion.n == always(confusion).n


@given(st.lists(st.tuples(*[st.sampled_from(["similar", "dissimilar"])] * 2)))
def test_swapping_consensus_and_verdict_swaps_the_errors(rows):
    truth, called = [a for a, _ in rows], [b for _, b in rows]
    one, other = confusion_matrix(truth, called), confusion_matrix(called, truth)
    assert (one.tp, one.fp, one.fn, one.tn) == (other.tp, other.fn, other.fp, other.tn)
    assert one.n == len(rows)


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


@given(COUNTS)
def test_mcc_is_between_minus_one_and_one_and_turns_with_the_verdicts(confusion):
    estimate = mcc(confusion, rng=np.random.default_rng(1), n_draws=20)
    turned = Confusion(tp=confusion.fn, fp=confusion.tn, fn=confusion.tp, tn=confusion.fp)
    if estimate.value is None:
        assert estimate.reason
    else:
        assert -1 <= estimate.value <= 1
        assert mcc(turned, rng=np.random.default_rng(1), n_draws=20).value == pytest.approx(-estimate.value)


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


@given(st.lists(st.tuples(st.sampled_from(["similar", "dissimilar"]), VERDICTS), max_size=6),
       st.lists(st.tuples(st.sampled_from(["similar", "dissimilar"]), VERDICTS), max_size=5))  # fmt: skip
def test_bounds_contain_the_truth_for_any_split_items(agreed, split):
    truth, verdicts = [t for t, _ in agreed + split], [v for _, v in agreed + split]
    result = bounds(truth[: len(agreed)] + [None] * len(split), verdicts)
    true = confusion_matrix(truth, verdicts)
    assert result.worst.n == result.best.n == true.n
    for function in (*SHARES, youden):
        value, extremes = function(true).value, getattr(result, function.__name__)
        if value is not None:
            assert extremes.worst.value - 1e-12 <= value <= extremes.best.value + 1e-12
        if not split:
            assert extremes.worst == extremes.best == function(true)


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


def test_an_item_twice_is_refused():
    once, twice = pd.Series({"a": "similar"}), pd.Series(["similar", "similar"], index=["a", "a"])
    with pytest.raises(ValueError, match=r"verdicts.*item 'a'"):
        confusion_matrix(once, twice)
    with pytest.raises(ValueError, match=r"consensus.*item 'a'"):
        confusion_matrix(twice, once)
    with pytest.raises(ValueError, match=r"verdicts.*'yes'"):
        bounds([None], ["yes"])


def test_other_categories_are_evaluated_like_dissimilar_and_similar():
    truth, called = ["dissimilar", "similar", "dissimilar", "similar"], ["dissimilar", "dissimilar", "similar", None]
    names = {"dissimilar": "bad", "similar": "good", None: None}
    same = [[names[category] for category in column] for column in (truth, called)]
    options = {"categories": ("good", "bad")}
    assert confusion_matrix(*same, **options) == confusion_matrix(truth, called)
    assert bounds([*same[0][:3], None], same[1], **options) == bounds([*truth[:3], None], called)
    assert compare(same[0], same[1], same[0], **options) == compare(truth, called, truth)
    scores = [0.9, 0.4, 0.3, 0.1]
    assert roc(same[0], scores, **options) == roc(truth, scores)
    assert auc(same[0], scores, **options) == auc(truth, scores)
    assert auc(["bad", "bad"], [1, 2], **options).reason == "no item is good"
    with pytest.raises(
        ValueError, match=r"consensus has the value 'similar' \(row 1\), which is not one of: good, bad"
    ):
        confusion_matrix(["good", "similar"], ["good", "good"], **options)


def test_one_of_three_categories_is_evaluated_against_the_other_two():
    truth, called = ["low", "medium", "high", "high"], ["medium", "low", "high", "low"]
    options = {"categories": ("low", "medium", "high"), "positive": "high"}
    assert confusion_matrix(truth, called, **options) == Confusion(tp=1, fp=0, fn=1, tn=2)
    assert compare(truth, called, truth, **options).overall.a.value == 0.25  # correct means exactly this category
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
