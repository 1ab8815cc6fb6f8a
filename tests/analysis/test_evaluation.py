import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.evaluation import (
    Confusion,
    accuracy,
    always,
    balanced_accuracy,
    confusion_matrix,
    f1,
    precision,
    prevalence,
    sensitivity,
    specificity,
)

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


def test_what_is_no_category_is_refused():
    with pytest.raises(ValueError, match="consensus holds 'maybe'"):
        confusion_matrix(["maybe"], ["similar"])
    with pytest.raises(ValueError, match="verdicts holds 'yes'"):
        confusion_matrix(["similar"], ["yes"])
    with pytest.raises(ValueError, match="consensus has 1 items, verdicts has 2"):
        confusion_matrix(["similar"], ["similar", "similar"])


@given(COUNTS)
def test_every_share_is_in_range_or_undefined_with_a_reason(confusion):
    for function in (sensitivity, specificity, precision, accuracy, prevalence, f1, balanced_accuracy):
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
