"""Segments of a series at the least penalised cost, and all best segmentations over a range of penalties."""

from itertools import combinations, pairwise
from math import log, pi

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from analysis.points import _detectors
from analysis.points._detectors import Segmenter


def by_definition(values, starts):
    """Cost of a segmentation, written as in the paper."""
    total = 0.0
    for segment in np.split(np.asarray(values, dtype=float), list(starts)):
        variance = segment.var()
        total += len(segment) * (log(2 * pi) + log(variance if variance > 0 else 1e-11) + 1)
    return total


def all_segmentations(n):
    for k in range(n // 2):
        for starts in combinations(range(2, n - 1), k):
            if all(b - a >= 2 for a, b in zip((0, *starts), (*starts, n), strict=True)):
                yield starts


series = st.lists(st.integers(1, 40), min_size=4, max_size=11).map(
    lambda values: [v + i * 0.137 for i, v in enumerate(values)]
)


@settings(max_examples=60, deadline=None)
@given(series, st.floats(0.1, 60), st.integers(3, 12))
def test_the_best_segmentation_is_the_best_of_all(values, penalty, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_detectors, "BLOCK", block)
        found = Segmenter(values).best(penalty)
    least = min(by_definition(values, starts) + penalty * len(starts) for starts in all_segmentations(len(values)))
    assert by_definition(values, found.starts) + penalty * len(found.starts) == pytest.approx(least, abs=1e-6)
    assert found.cost == pytest.approx(by_definition(values, found.starts), abs=1e-6)


def test_a_long_series_has_the_same_segments_with_and_without_leaving_out_first_points(monkeypatch):
    rng = np.random.default_rng(4)
    values = rng.normal(np.repeat(rng.uniform(1, 2, 12), 50), 0.05)
    pruned = [Segmenter(values).best(penalty) for penalty in (5, 20, 200)]
    monkeypatch.setattr(
        _detectors, "_can_begin", lambda _least, _ends, _costs, firsts: np.ones(len(firsts), dtype=bool)
    )
    assert [Segmenter(values).best(penalty) for penalty in (5, 20, 200)] == pruned
    assert [len(found) for found in pruned] == sorted((len(found) for found in pruned), reverse=True)


def test_the_path_has_the_best_segmentation_of_each_penalty():
    rng = np.random.default_rng(5)
    values = rng.normal(np.repeat([1, 1.4, 1.1, 1.9], 40), 0.1)
    path = Segmenter(values).path(4 * log(160), 1000)
    assert path[0].low == 4 * log(160)
    assert path[-1].high == 1000
    assert path[-1].starts == ()
    for each, following in pairwise(path):
        assert len(each) > len(following)
        assert each.high == following.low
        # at the penalty between two segmentations, both cost the same
        assert each.cost + each.high * len(each) == pytest.approx(following.cost + each.high * len(following))
        assert Segmenter(values).best((each.low + each.high) / 2).starts == each.starts


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0], [1.0, 2.0, 3.0], [5.0] * 50])
def test_short_and_constant_series_have_no_change(values):
    # A variance of 0 counts as 1e-11, so a split of a constant series gains nothing.
    assert Segmenter(values).best(10).starts == ()


def test_a_series_with_a_value_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="finite numbers"):
        Segmenter([1.0, np.nan])
