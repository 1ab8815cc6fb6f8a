import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from analysis.evaluation import (
    accuracy,
    compare,
    confusion_matrix,
    mcnemar,
    paired_difference,
    sensitivity,
    specificity,
)

CATEGORY = st.sampled_from(["similar", "dissimilar"])
VERDICT = st.sampled_from(["similar", "dissimilar", None])
PAIRED_COUNTS = st.tuples(*[st.integers(0, 30)] * 4)


def test_mcnemar_of_agrestis_approval_ratings(golden_agreement):
    case = golden_agreement["mcnemar_agresti"]
    result = mcnemar(**case["input"])
    assert result.p == pytest.approx(case["expected"]["exact_p"], abs=1e-9)
    assert result.chi2 == pytest.approx(case["expected"]["chi2_no_correction"], abs=1e-9)


def test_mcnemar_by_hand():
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


@given(PAIRED_COUNTS)
def test_paired_difference_turns_with_its_arguments_and_stays_in_range(counts):
    both, only_a, only_b, neither = counts
    one, other = paired_difference(*counts), paired_difference(both, only_b, only_a, neither)
    if not sum(counts):
        assert (one.value, one.reason) == (None, "no observations")
        return
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low), abs=1e-12)
    assert -1 <= one.low <= one.value <= one.high <= 1
    failures = paired_difference(neither, only_b, only_a, both)  # the share without the property
    assert (one.low, one.high) == pytest.approx((-failures.high, -failures.low), abs=1e-9)


def test_compare_by_hand():
    consensus = ["dissimilar"] * 4 + ["similar"] * 3
    a = ["dissimilar", "dissimilar", "dissimilar", "similar", "dissimilar", "dissimilar", None]
    b = ["dissimilar", "similar", "similar", "similar", "similar", "similar", "similar"]
    result = compare(consensus, a, b)
    assert result.n_without_verdict == 1
    of_dissimilar, of_similar, overall = result.dissimilar, result.similar, result.overall
    assert (of_dissimilar.both, of_dissimilar.only_a, of_dissimilar.only_b, of_dissimilar.neither) == (1, 2, 0, 1)
    assert (of_similar.both, of_similar.only_a, of_similar.only_b, of_similar.neither) == (0, 0, 2, 0)
    assert (of_dissimilar.difference.value, of_similar.difference.value, overall.difference.value) == (0.5, -1, 0)
    assert (of_dissimilar.mcnemar.p, of_similar.mcnemar.p, overall.mcnemar.p) == (0.5, 0.5, 1)


def test_the_papers_classifiers_differ_in_opposite_directions_in_the_two_categories():
    # Tables 2 and 3 with maximum overlap: the heuristic calls dissimilar all items that SAME calls dissimilar
    consensus = ["dissimilar"] * 189 + ["similar"] * 135
    same = ["dissimilar"] * 52 + ["similar"] * 137 + ["dissimilar"] * 23 + ["similar"] * 112
    heuristic = ["dissimilar"] * 173 + ["similar"] * 16 + ["dissimilar"] * 82 + ["similar"] * 53
    result = compare(consensus, heuristic, same)
    assert result.dissimilar.difference.value == pytest.approx((173 - 52) / 189)
    assert result.similar.difference.value == pytest.approx((53 - 112) / 135)
    assert result.dissimilar.mcnemar == mcnemar(121, 0)
    assert result.similar.mcnemar == mcnemar(0, 59)
    assert result.dissimilar.difference.low > 0 > result.similar.difference.high


@given(st.lists(st.tuples(CATEGORY, VERDICT, VERDICT), max_size=25))
def test_compare_agrees_with_the_shares_of_two_confusion_matrices(rows):
    truth, a, b = ([row[k] for row in rows] for k in range(3))
    result = compare(truth, a, b)
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


def test_series_are_matched_by_item_and_unknown_categories_are_rejected():
    truth = pd.Series({"x": "similar", "y": "dissimilar"})
    result = compare(truth, pd.Series({"y": "dissimilar", "x": "dissimilar"}), pd.Series({"y": "similar"}))
    assert result.overall.n == result.dissimilar.only_a == 1
    with pytest.raises(ValueError, match=r"verdicts_b.*'no'"):
        compare(["similar"], ["similar"], ["no"])
    with pytest.raises(ValueError, match=r"consensus has 1.*verdicts_b has 0"):
        compare(["similar"], ["similar"], [])


@pytest.mark.slow
@pytest.mark.parametrize(("n", "cells"), [(135, (0.4, 0.02, 0.4, 0.18)), (40, (0.5, 0.2, 0.1, 0.2))])
def test_paired_difference_covers_as_its_level_says(n, cells):
    both, only_a, only_b, neither = np.random.default_rng(1).multinomial(n, cells, size=4000).T
    true = cells[1] - cells[2]
    estimates = [paired_difference(*row) for row in zip(both, only_a, only_b, neither, strict=True)]
    covered = np.mean([estimate.low <= true <= estimate.high for estimate in estimates])
    assert covered == pytest.approx(0.95, abs=0.02)
