import pytest
from hypothesis import given, strategies as st
from statsmodels.stats.multitest import multipletests

from analysis.multiple import bonferroni, holm


@given(st.lists(st.none() | st.floats(0, 1), max_size=12))
def test_corrections_agree_with_statsmodels_and_ignore_missing_tests(ps):
    known = [p for p in ps if p is not None]
    for ours, method in ((holm, "holm"), (bonferroni, "bonferroni")):
        expected = iter(multipletests(known, method=method)[1] if known else [])
        assert ours(ps) == [None if p is None else pytest.approx(next(expected)) for p in ps]


@pytest.mark.parametrize("correct", [holm, bonferroni])
def test_a_corrected_value_is_at_most_1(correct):
    assert correct([0.9, None, 0.6, 0.7]) == [1, None, 1, 1]


@pytest.mark.parametrize("correct", [holm, bonferroni])
@pytest.mark.parametrize("wrong", [2, -0.1, float("nan")])
def test_a_value_that_is_no_probability_is_rejected_with_its_place(correct, wrong):
    with pytest.raises(ValueError, match=r"^p\[1\] must be within \[0, 1\] or None, got "):
        correct([0.5, wrong, None])
