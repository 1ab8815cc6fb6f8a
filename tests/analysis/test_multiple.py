import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from analysis.multiple import bonferroni, holm


@given(st.lists(st.none() | st.floats(0, 1), max_size=12))
def test_corrections_agree_with_statsmodels_and_ignore_missing_tests(ps):
    known = [p for p in ps if p is not None]
    for ours, method in ((holm, "holm"), (bonferroni, "bonferroni")):
        expected = iter(multipletests(known, method=method)[1] if known else [])
        assert ours(ps) == [None if p is None else pytest.approx(next(expected)) for p in ps]
