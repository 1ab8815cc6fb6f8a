import gzip
import json
import zlib

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.runs.dissimilarity import MEASURES, MeasurementError, Runs
from tests.analysis.raters.strategies import pairs_of_runs
from tests.conftest import golden

NAMES = st.sampled_from(sorted(MEASURES))
CASES = golden("similarity")["cases"]


def flagged(flag):
    return st.sampled_from([name for name, measure in MEASURES.items() if getattr(measure, flag)])


@pytest.mark.parametrize("case", CASES, ids=[case["file"][:60] for case in CASES])
def test_means_of_real_benchmarks(icpe_dir, case):
    with gzip.open(icpe_dir / "timeseries" / f"{case['file']}.gz") as file:
        runs = Runs(json.load(file))
    pairs = {name: measure.of_pairs(runs) for name, measure in MEASURES.items()}
    for name, expected in {**case["means"], "m3_with_mean": case["m3_with_mean"]}.items():
        if name != "m2" or zlib.ZLIB_RUNTIME_VERSION.startswith("1.2"):  # another deflate gives other lengths
            assert pairs[name].mean() == pytest.approx(expected, abs=1e-9)
    for name, expected in {**case["first_pair"], **case["same_first_pair"]}.items():
        if name != "m2" or zlib.ZLIB_RUNTIME_VERSION.startswith("1.2"):
            assert pairs[name][0] == pytest.approx(expected, abs=1e-9)


def test_measures_worked_by_hand():
    x, y = [1.0, 2.0, 3.0, 6.0], [2.0, 2.0, 6.0, 3.0]
    # <x, y> = 2 + 4 + 18 + 18 = 42, <x, x> = 50, <y, y> = 53; means 3 and 3.25
    assert MEASURES["m4"].function(x, y) == pytest.approx(1 - 42 / np.sqrt(50 * 53))
    assert MEASURES["cosine"].function(x, y) == pytest.approx(1 - 42 / np.sqrt(50 * 53))
    assert MEASURES["kumar_hassebrook"].function(x, y) == pytest.approx(1 - 42 / (50 + 53 - 42))
    assert MEASURES["wave_hedges"].function(x, y) == pytest.approx((1 / 2 + 0 + 3 / 6 + 3 / 6) / 4)
    assert MEASURES["scaled_rmse"].function(x, y) == pytest.approx(np.sqrt(19 / 4) / 5)
    assert MEASURES["m3_with_mean"].function(x, y) == pytest.approx(np.sqrt(19) / (np.sqrt(50) + np.sqrt(53)))
    # x less 3: -2 -1 0 3, squares 14; y less 3.25: squares 10.75; product 42 - 39 = 3
    assert MEASURES["m1"].function(x, y) == pytest.approx(1 - 3 / np.sqrt(14 * 10.75))
    assert MEASURES["m3"].function(x, y) == pytest.approx(np.sqrt(14 + 10.75 - 6) / (np.sqrt(14) + np.sqrt(10.75)))
    # at 1: F_x = 1/4, F_y = 0; at 2: 1/2 and 1/2; at 3: 3/4 and 3/4
    assert MEASURES["m5"].function(x, y) == pytest.approx(1 / 4)


@given(pairs_of_runs(), NAMES)
def test_measures_are_between_0_and_1(rows, name):
    assert 0 <= MEASURES[name].function(*rows) <= 1


@given(pairs_of_runs(), flagged("common_scale_invariant"), st.integers(-300, 300))
def test_no_measure_depends_on_the_unit(rows, name, exponent):
    measure = MEASURES[name]
    assert measure.function(*(rows * 2.0**exponent)) == pytest.approx(measure.function(*rows), abs=1e-9)


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_constant_runs_have_a_value(name):
    zeros, ones, wave = np.zeros(60), np.ones(60), np.sin(np.arange(60)) + 2
    measure = MEASURES[name]
    assert 0 <= measure.function(zeros, ones) <= 1
    if measure.zero_for_same:
        assert measure.function(zeros, zeros) == measure.function(ones, ones) == 0
    if name == "m1":
        assert measure.function(ones, wave) == 1
        assert measure.function(ones, 2 * ones) == 0


def test_nearly_equal_runs_keep_their_digits():
    x = 1e-4 + 1e-6 * np.sin(np.arange(100))
    y = x.copy()
    y[7] += 1e-13
    expected = 1e-13 / (np.linalg.norm(x) + np.linalg.norm(y))
    assert MEASURES["m3_with_mean"].function(x, y) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_measurements_that_are_not_finite_are_named(bad):
    run = np.ones(60)
    run[17] = bad
    with pytest.raises(MeasurementError, match="1, iteration 17"):
        Runs([np.ones(60), run])


def test_measurements_that_no_measure_or_one_measure_cannot_take_are_named():
    run = np.ones(60)
    run[3] = -2.5
    with pytest.raises(MeasurementError, match=r"run 0, iteration 3: -2\.5 is negative"):
        MEASURES["wave_hedges"].function(run, np.ones(60))
    assert MEASURES["m5"].function(run, np.ones(60)) == pytest.approx(1 / 60)
    runs = Runs([[1.0, 2.0, 3.0], [1.0, 2.0], [5.0, 6.0, 7.0, 8.0]])
    assert runs.values.tolist() == [[1, 2], [1, 2], [5, 6]]
    assert runs.n_left_out == 3


@pytest.mark.parametrize("runs", [[], [[1.0]], [[1.0], []], [[1.0], [[1.0]]]])
def test_fewer_than_two_runs_or_no_series_is_refused(runs):
    with pytest.raises(ValueError, match=r"runs are needed|series of measurements"):
        Runs(runs)
