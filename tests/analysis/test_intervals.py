import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.intervals import Estimate, clopper_pearson, linearised, wilson


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
