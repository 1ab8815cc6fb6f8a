"""Features of the segments of runs."""

import time

import numpy as np
import pytest

from analysis.learning import FEATURES, MEASURE_FEATURES, SEGMENT_FEATURES, segment_features
from analysis.learning._features import segments_of


def run(*levels, n=3000, seed=1, noise=0.01):
    """A run with levels of equal length."""
    rng = np.random.default_rng(seed)
    parts = np.array_split(np.ones(n), len(levels))
    return np.concatenate([level * part for level, part in zip(levels, parts, strict=True)]) * np.exp(
        rng.normal(0, noise, n)
    )


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        (run(1.0), (1, 0, 0, 1)),
        (run(1.3, 1.0, 1.0), (2, 1 / 3, 0.24, 2 / 3)),  # a jump over one mean between the levels
        (run(1.03, 1.0), (2, 0, np.log(1.03), 1 / 2)),  # less than 5 % from the final level
        (run(1.0, n=60), (1, 0, 0, 1)),  # too short for segments
    ],
)
def test_the_segments_of_a_run_with_known_levels(series, expected):
    for scale in (1, 1e-6):
        number, *others = segments_of(scale * series)
        assert expected[0] <= number <= 2 * expected[0] - 1  # a mean between two levels can be a segment
        assert others == pytest.approx(expected[1:], abs=0.02)


def test_outliers_make_no_segment():
    series = run(1.0)
    series[1500] = 50
    assert segments_of(series)[0] == 1


def test_a_benchmark_has_the_differences_of_its_runs():
    found = segment_features([run(1.0, seed=seed) for seed in range(3)] + [run(1.3, 1.0, 1.0)])
    assert set(found) == set(SEGMENT_FEATURES) and len(found) == 16
    assert found["segments_range"] >= 1 == found["segments_odd"]
    assert found["segment_jump_range"] > 0.2
    assert segment_features([run(1.0)]) is None
    assert not set(SEGMENT_FEATURES) & set(MEASURE_FEATURES)


def test_features_say_which_version_they_have():
    assert {FEATURES[name].version for name in SEGMENT_FEATURES} == {"1.1"}


def test_a_run_of_3000_iterations_takes_a_few_milliseconds():
    series = run(1.3, 1.0, 1.0)
    segments_of(series)  # imports
    begun = time.process_time()
    for _ in range(10):
        segments_of(series)
    assert (time.process_time() - begun) / 10 < 0.03  # measured: 2 ms
