"""The detector `steps`: each formula against a hand-worked case, and the rates of false and found changes."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from analysis.methods.points import DETECTORS, STEPS, find_levels
from analysis.methods.points._steps import best_cut, neighbour_correlation
from analysis.methods.trend._newest import (
    LASTING_BY_R,
    LASTING_BY_VERSIONS,
    LASTING_FACTOR,
    NEWEST_FACTOR,
    newest_step,
    numbers_of,
    single_versions,
    stated_power,
)

JUMP = np.array([0.0, 1, 0, 1, 5, 6, 5, 6])  # mean .5, then 5.5


def one_run(values):
    return numbers_of(np.asarray(values, dtype=float), range(len(values)))


def test_one_cut_has_the_t_of_both_levels_and_p_for_all_places():
    """G = 20² · 8 / (4 · 4) = 50 / ... by hand: S_4 = 4 (.5 - 3) = -10, G = 100 · 8 / 16 = 50, TSS = 52, s² = 2 / 6."""
    places, p = best_cut(JUMP, 0.0, 1.0)
    t = sqrt(50 / (2 / 6))
    assert places == (4,)
    assert p == pytest.approx(2 * 7 * 2 * stats.t.sf(t, 6))
    assert best_cut(JUMP, 0.0, 1.5)[1] == pytest.approx(2 * 7 * 2 * stats.t.sf(t / 1.5, 6))
    assert best_cut(JUMP, 2.0, 1.0)[1] == pytest.approx(2 * 7 * 2 * stats.t.sf(5, 6))  # the floor of the variance
    assert best_cut(JUMP[:5], 0.0, 1.0) is None


def test_an_inner_part_has_a_p_for_all_inner_parts():
    """The versions 3 to 5 of 9 have level 3: S_6 - S_3 = 6, G = 36 · 9 / (3 · 6) = 18; 6 + 5 + 4 places."""
    values = np.array([0.1, -0.1, 0, 3, 3.1, 2.9, 0, 0.1, -0.1])
    places, p = best_cut(values, 0.0, 1.0)
    assert places == (3, 6)
    rest = 4 * 0.1**2 + 2 * 0.1**2
    assert p == pytest.approx(2 * (6 + 5 + 4) * 2 * stats.t.sf(sqrt(18 / (rest / 7)), 7))
    assert find_levels(values).starts == (3, 6)


@pytest.mark.parametrize(
    ("values", "starts"),
    [
        ([9.0, 0, 0.1, 0, 0.1, 0, 0.1, 0], ()),  # a level of one version
        ([0.0, 0.1] * 4 + [9, 9.1], (8,)),  # a level of two versions, both on their own side
        # a short level of which two of three versions are on their own side of the midpoint: 2/3 are not enough
        ([0.0, 0.1] * 8 + [20, 20, 3], ()),
        ([0.0, 0.1] * 8 + [20, 20, 13], (16,)),
    ],
)
def test_a_change_needs_support_on_both_sides(values, starts):
    assert find_levels(np.array(values)).starts == starts


def test_the_least_supported_change_is_removed_first():
    """The outlier at the end of the first level makes two cuts; only the real change remains."""
    values = np.array([0, 0.1, -0.1, 0, 0.1, -0.1, 0.1, 0, 8, 5, 5.1, 4.9, 5, 5.1, 4.9, 5])
    assert find_levels(values).starts == (8,)


def test_the_correlation_of_neighbours_is_corrected_for_the_levels():
    """Residuals 1, 1, -1, -1: products 1 - 1 + 1 = 1, sum of squares 4, K = 1: 1/4 · 4/3 = 1/3, + (1 + 1) · 1/4."""
    assert neighbour_correlation(np.array([1.0, 1, -1, -1]), ()) == pytest.approx(1 / 3 + 2 / 4)
    # two levels of the same residuals: the product across the change does not count, 2 / 8 · 8 / 6 = 1/3, + 2 · 2/8
    values = np.array([1.0, 1, -1, -1, 11, 11, 9, 9])
    assert neighbour_correlation(values, (4,)) == pytest.approx(1 / 3 + 2 * 2 / 8)
    assert neighbour_correlation(np.array([1.0, -1] * 10), ()) == 0  # negative ones are 0
    assert neighbour_correlation(np.arange(100.0), ()) == 0.95  # at most
    assert neighbour_correlation(np.ones(9), ()) == 0


def test_neighbours_that_are_alike_raise_the_limit():
    """In a slow wave, the segments of independent versions would be changes."""
    rng, wave = np.random.default_rng(5), [0.0]
    for _ in range(39):
        wave.append(0.7 * wave[-1] + rng.normal())
    values = np.array(wave)
    assert best_cut(values, 0.0, 1.0)[1] < 0.02
    levels = find_levels(values)
    assert levels.widening == pytest.approx(sqrt((1 + levels.r) / (1 - levels.r)))
    assert levels.r > 0.5 and levels.starts == () and levels.line is None


def test_a_line_is_a_drift_if_it_fits_better_for_its_parameters():
    rng = np.random.default_rng(2)
    drift = np.linspace(0, 1, 40) + rng.normal(0, 0.03, 40)
    levels = find_levels(drift)
    assert levels.starts == ()
    assert levels.line == pytest.approx((0, 1), abs=0.05)
    slope = stats.linregress(np.arange(40), drift)
    assert levels.line == pytest.approx((slope.intercept, slope.intercept + 39 * slope.slope))
    step = np.where(np.arange(40) < 20, 0, 1) + rng.normal(0, 0.03, 40)
    found = find_levels(step)
    assert found.starts == (20,) and found.line is None
    # by hand: n ln RSS + 2 ln n of the line against n ln RSS + 3 ln n of one step
    line = stats.linregress(np.arange(40), step)
    of_line = ((step - line.intercept - line.slope * np.arange(40)) ** 2).sum()
    of_step = (found.residuals**2).sum()
    assert 40 * log(of_line) + 2 * log(40) > 40 * log(of_step) + 3 * log(40)


BEFORE = [0.0, 1, 0, 1, 0, 1]  # mean .5, variance .3


@pytest.mark.parametrize(("newest", "n"), [([5.0], 1), ([5.0, 5], 2), ([5.0, 5, 5], 3), ([5.0, 0.7], 1)])
def test_the_newest_versions_have_the_t_of_a_prediction(newest, n):
    values = [*BEFORE, *newest]
    levels = find_levels(np.zeros(len(values)))  # one level, so that the segments do not find the step
    step = newest_step(one_run(values), levels)
    if n == 1 and len(newest) == 2:  # the last one is no step, and both are not in one direction by a third of it
        assert step.p > 0.01
        return
    t = 4.5 / sqrt(0.3 * (1 / n + 1 / 6))
    assert (step.n, step.step) == (n, pytest.approx(4.5))
    assert step.p == pytest.approx(3 * 2 * stats.t.sf(t, 5))
    half = stats.t.ppf(0.975, 5) * 4.5 / t
    assert (step.low, step.high) == (pytest.approx(4.5 - half), pytest.approx(4.5 + half))


def test_the_newest_versions_need_five_before_and_use_medians_of_three_runs():
    flat = find_levels(np.zeros(5))
    assert newest_step(one_run([0.0, 1, 0, 1, 9]), flat) is None
    places = np.repeat(np.arange(9), 3)
    runs = np.tile([0.0, 0.01, 0.02], 9) + 0.001 * np.arange(27) % 0.003
    runs[-1] = 50.0  # one of three runs is an outlier
    numbers = numbers_of(runs, places)
    levels = find_levels(np.zeros(9))
    assert newest_step(numbers, levels).p > 0.01
    shifted = runs.copy()
    shifted[-3:] = [5.0, 5.01, 5.02]
    assert newest_step(numbers_of(shifted, places), levels).p < 0.01


def test_the_variance_between_runs_is_a_floor():
    """Two versions with the runs 0, 2 and 1, 5, 9: pooled variance (2 + 32) / 3; harmonic mean of 2 and 3 is 2.4."""
    numbers = numbers_of(np.array([0.0, 2, 1, 5, 9]), [0, 0, 1, 1, 1])
    assert numbers.variance == pytest.approx(34 / 3 / 2.4)
    assert numbers.means.tolist() == [1, 5]
    assert numbers.medians is None
    assert one_run([1.0, 2.0]).variance < 1e-20


def test_a_single_version_stands_out_with_the_t_of_a_prediction():
    values = [0.0, 1, 0, 1, 9, 0, 1]
    (found,) = single_versions(one_run(values), find_levels(np.zeros(7)))
    others = np.delete(values, 4)
    t = (9 - others.mean()) / sqrt(others.var(ddof=1) * (1 + 1 / 6))
    assert (found.at, found.step) == (4, pytest.approx(8.5))
    assert found.p == pytest.approx(7 * 2 * stats.t.sf(t, 5))
    assert single_versions(one_run([*values[:4], 9]), find_levels(np.zeros(5))) == []


def test_the_stated_power_is_the_formula_with_the_residuals_of_this_history():
    values = np.tile([0.0, 1], 10)  # s² = 20 · .25 / 19
    stated = stated_power(one_run(values), find_levels(values), 4)
    sd = sqrt(5 / 19)
    lasting = (stats.t.ppf(1 - 0.02 / 76, 18) + stats.t.ppf(0.8, 18)) * 1.15 * sd * sqrt(4 / 20)
    newest = (stats.t.ppf(1 - 0.01 / 24, 18) + stats.t.ppf(0.8, 18)) * sd * sqrt(1 + 1 / 19)
    of_history = 1 + LASTING_BY_VERSIONS / 20 + LASTING_BY_R * find_levels(values).r
    assert stated.lasting == pytest.approx(LASTING_FACTOR * of_history * max(lasting, 1.5 * sd))
    assert stated.newest == pytest.approx(NEWEST_FACTOR * newest)
    assert stated_power(one_run(values[:5]), find_levels(values[:5]), 1).lasting is None


@given(st.lists(st.integers(-3, 3), max_size=30), st.floats(1e-6, 1e6))
def test_scale_and_constants_do_not_matter(values, scale):
    series = np.array(values, dtype=float)
    assert find_levels(series * scale).starts == find_levels(series).starts
    assert find_levels(np.full(len(values), scale)).starts == ()


@pytest.mark.parametrize("constant", [0.1, 1.0, 1e-9, -3.0, 0.0])
def test_rounding_is_no_change_and_a_step_without_noise_is_one(constant):
    runs = np.full((20, 3), constant) * [1, 1 + 1e-16, 1 - 1e-16]
    numbers = numbers_of(runs.ravel(), np.repeat(np.arange(20), 3))
    levels = find_levels(numbers.means, numbers.variance)
    assert levels.starts == () and single_versions(numbers, levels) == []
    newest = newest_step(numbers, levels)
    assert newest is None or newest.p > 0.01
    step = np.where(np.arange(20) < 9, constant, constant * 1.1 + 0.1)
    assert DETECTORS[STEPS](step) == (9,)


def statement(values, size=0.0, at=0):
    moved = values + size * (np.arange(len(values)) >= at)
    levels = find_levels(moved)
    newest = newest_step(one_run(moved), levels)
    return bool(levels.starts), newest is not None and newest.p <= 0.01


def test_false_and_found_changes_have_the_rates_of_the_documentation():
    """200 histories of 40 versions: hardly a false change; of the stated size, 80 % are found."""
    rng = np.random.default_rng(5)
    histories = rng.normal(0, 1, (200, 40))
    assert sum(any(statement(values)) for values in histories) <= 6
    stated = [stated_power(one_run(values), find_levels(values), 1) for values in histories]
    lasting = [statement(values, power.lasting, 20)[0] for values, power in zip(histories, stated, strict=True)]
    newest = [
        any(statement(values, power.newest, 39))
        for values, power in zip(histories, stated, strict=True)
        if power.newest
    ]
    assert np.mean(lasting) >= 0.75
    assert np.mean(newest) >= 0.75
    reverted = [
        find_levels(values + 10 * ((np.arange(40) >= 20) & (np.arange(40) < 22))).starts for values in histories
    ]
    assert np.mean([starts == (20, 22) for starts in reverted]) >= 0.95
