import base64
import json
import statistics
import struct
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from labeler.studies.screen.binning import (
    AXIS_RULES,
    axis_limits,
    n_windows,
    payload,
    shares_of,
    spikes_of,
    starts_of,
    windows_of,
)

VALUES = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 100.0]), st.floats(-1e6, 1e6, width=32))


@st.composite
def series(draw, min_iterations=1, max_iterations=700):
    """One run at some level, with or without noise, and with spikes anywhere; exact in float32."""
    n = draw(st.integers(min_iterations, max_iterations))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    run = draw(VALUES) + draw(st.sampled_from([0.0, 1e-3, 5.0])) * rng.normal(size=n)
    for at, spike in draw(st.lists(st.tuples(st.integers(0, n - 1), VALUES), max_size=3)):
        run[at] = spike
    return run.astype(np.float32).astype(np.float64)


def several(**lengths):
    return st.lists(series(**lengths), min_size=2, max_size=6)


SHORT_RUNS = hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=VALUES)
)


def unpack(text):
    raw = base64.b64decode(text, validate=True)
    return list(struct.unpack(f"<{len(raw) // 4}f", raw))


def drawn(run):
    """Return the drawing of a run beside another run."""
    return payload([run, run], "s")["runs"][0]


@given(series())
def test_bins_keep_the_exact_minimum_and_maximum_of_the_run(run):
    low, high = (unpack(drawn(run)[name]) for name in ("low", "high"))
    assert min(low) == run.min()
    assert max(high) == run.max()
    assert all(at_least <= at_most for at_least, at_most in zip(low, high, strict=True))


@given(series(min_iterations=2), st.data())
def test_a_spike_survives_in_its_own_bin_only(run, data):
    at = data.draw(st.integers(0, len(run) - 1))
    before, run[at] = unpack(drawn(run)["high"]), 2.0**30
    after = unpack(drawn(run)["high"])
    changed = [j for j, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    assert [after[j] for j in changed] == [2.0**30]
    assert changed[0] == pytest.approx(at * len(after) / len(run), abs=1)


@given(series())
def test_a_run_has_at_most_300_bins_and_every_short_one_a_bin_an_iteration(run):
    low, high = (unpack(drawn(run)[name]) for name in ("low", "high"))
    assert len(low) == len(high) == min(300, len(run))
    if len(run) <= 300:
        assert low == high == run.tolist()


@given(series(max_iterations=4000))
def test_windows_have_at_least_50_iterations_are_at_most_60_and_equally_long(run):
    n = n_windows(len(run))
    edges = [*starts_of(len(run), n), len(run)]
    lengths = np.diff(edges)
    assert lengths.sum() == len(run)
    assert len(lengths) == (len(run) if len(run) < 50 else min(len(run) // 50, 60))
    assert lengths.max() - lengths.min() <= 1
    assert len(run) < 50 or lengths.min() >= 50


@given(series())
def test_medians_and_middle_halves_are_those_of_the_windows(run):
    edges = [*starts_of(len(run), n_windows(len(run))), len(run)]
    pieces = [run[start:end] for start, end in pairwise(edges)]
    for name, percent in (("lower", 25), ("medians", 50), ("upper", 75)):
        expected = [np.percentile(piece, percent) for piece in pieces]
        assert unpack(drawn(run)[name]) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_medians_worked_by_hand():
    run = np.array([1.0] * 30 + [9.0] * 20 + [2.0] * 25 + [4.0] * 26)  # 101 iterations: windows of 50 and 51
    assert unpack(drawn(run)["medians"]) == [1.0, 4.0]
    assert unpack(drawn(run)["lower"]) == [1.0, 2.0]
    assert unpack(drawn(run)["upper"]) == [9.0, 4.0]


@given(st.integers(50, 4000), st.floats(0.5, 1.5, exclude_max=True))
def test_windows_that_begin_elsewhere_still_hold_every_iteration_once(n, phase):
    run = np.random.default_rng(n).normal(size=(1, n))
    starts = starts_of(n, n_windows(n), phase)
    assert starts[0] == 0
    assert (np.diff([*starts, n]) > 0).all()
    medians, lower, upper = windows_of(run, phase)
    assert (lower <= medians).all()
    assert (medians <= upper).all()


def test_quantiles_of_a_run_worked_by_hand():
    # of 0, 1, ..., 100 in any order, the p-th percentile is p
    run = np.random.default_rng(1).permutation(101).astype(float)
    content = payload([run, run], "s")
    assert unpack(content["runs"][0]["quantiles"]) == content["percentiles"]
    assert content["percentiles"] == sorted(content["percentiles"])
    assert {0, 5, 25, 50, 75, 95, 100} <= set(content["percentiles"])


def core(runs, min_span=0.1):
    return axis_limits(runs, rule="core", min_span=min_span)["core"]


def levels(runs, min_span=0.15):
    return axis_limits(runs, min_span=min_span)["levels"]


def test_the_core_axis_goes_from_the_lowest_1st_to_the_highest_95th_percentile_of_a_run():
    run = np.arange(101.0)
    assert core([run, run + 1000, run + 500]) == (1, 1095)
    assert core([run, run - 1000]) == (-999, 95)
    assert core([run * 10, run]) == (1, 950)


def test_the_main_axis_spans_at_least_the_given_share_of_the_pooled_median():
    runs = [np.full(60, 99.0), np.full(60, 101.0), np.full(61, 100.0)]
    for limits in (core, levels):
        assert limits(runs, 0.1) == pytest.approx((95, 105))
        assert limits(runs, 0.5) == pytest.approx((75, 125))
        assert limits([-run for run in runs], 0.1) == pytest.approx((-105, -95))
    assert core(runs, 0.0) == (99, 101)


def test_the_levels_axis_worked_by_hand():
    # two levels, 10 and 20, each with a spike in 60 of its 1200 iterations: d = 10, margin 0.4, tail at most 1.5
    low, high = np.full(1200, 10.0), np.full(1200, 20.0)
    assert levels([low, high]) == pytest.approx((9.6, 20.4))
    high[::10] = 90.0  # a tenth of the iterations: the 95th percentile is far, and the tail is capped
    assert levels([low, high]) == pytest.approx((9.6, 21.5))
    high[high == 90.0] = 21.0  # closer than the cap: the axis ends with the tail
    assert levels([low, high]) == pytest.approx((9.6, 21.0))
    low[::50] = 9.0  # the 1st percentile, on the other side
    assert levels([low, high]) == pytest.approx((9.0, 21.0))


def test_a_level_of_5_percent_of_the_windows_is_passed_over_and_one_of_more_is_not():
    runs = [np.tile(np.linspace(99, 101, 50), 60) for _ in range(2)]
    runs[0][:150] += 100  # 3 of 60 windows
    assert levels(runs)[1] < 110
    runs[0][150:200] += 100
    assert levels(runs)[1] > 200


@given(several(min_iterations=50, max_iterations=3500), st.data())
def test_every_median_every_middle_half_and_every_lasting_level_is_on_the_levels_axis(runs, data):
    """The promise of the guide about the axis rule `levels`."""
    run = runs[data.draw(st.integers(0, len(runs) - 1))]
    n = n_windows(len(run))
    n_lasting = data.draw(st.integers(int(0.05 * n) + 1, n))
    first = data.draw(st.integers(0, n - n_lasting))
    edges = [*starts_of(len(run), n), len(run)]
    level = data.draw(VALUES)
    run[edges[first] : edges[first + n_lasting]] = level
    low, high = levels(runs)
    assert low <= level <= high
    for each in runs:
        assert low <= np.percentile(each, 25) <= np.percentile(each, 75) <= high
        assert low <= np.median(each) <= high


@given(several(min_iterations=50), st.sampled_from([0.0, 0.15]))
def test_the_levels_axis_is_never_longer_than_the_levels_with_tails_at_both_ends_or_the_span(runs, min_span):
    low, high = levels(runs, min_span)
    medians = np.concatenate([windows_of(run[np.newaxis])[0][0] for run in runs])
    quartiles = np.concatenate([np.percentile(run, [25, 75]) for run in runs])
    reach = np.ptp(np.concatenate([medians, quartiles]))
    floor = min_span * abs(np.median(np.concatenate(runs)))
    assert high - low <= max(1.3 * reach, floor) * (1 + 1e-9) or reach == 0


@pytest.mark.parametrize("n_iterations", [1, 2, 30, 49])
def test_runs_of_few_iterations_have_the_core_axis_under_levels_too(n_iterations):
    runs = list(np.random.default_rng(1).uniform(1, 2, (4, n_iterations)))
    assert levels(runs, 0.1) == core(runs, 0.1)


def test_the_other_views_worked_by_hand():
    runs = [np.arange(0.0, 400.0), np.arange(400.0, 1001.0)]  # together 0, 1, ..., 1000
    views = axis_limits(runs)
    assert views["pooled"] == pytest.approx((5, 995))
    assert views["full"] == (0, 1000)
    # lower quartiles 99.75 and 550, upper ones 299.25 and 850: 750.25 apart
    assert views["close"] == pytest.approx((99.75 - 30.01, 850 + 30.01))


def two_levels(share_of_lower, n_runs=10, n=1000):
    """Runs that alternate between 1 and 6; in the lower level, the last run is 5.8 % above the first."""
    rng = np.random.default_rng(1)
    lower = rng.random((n_runs, n)) < np.broadcast_to(share_of_lower, n_runs)[:, None]
    offset = np.linspace(1, 1.058, n_runs)[:, None]
    return list(np.where(lower, offset, 6) * (1 + 0.002 * rng.standard_normal((n_runs, n))))


def test_close_goes_from_the_lowest_level_that_lasts_up():
    views = axis_limits(two_levels(0.3))
    assert list(views) == ["levels", "close", "close-2", "pooled", "full"]
    (low, high), (upper_low, upper_high) = views["close"], views["close-2"]
    assert 0.058 / (high - low) > 0.4  # so that a difference between runs of 5.8 % can be seen
    assert low < 1 < 1.058 < high < upper_low < 6 < upper_high
    assert high - low == pytest.approx(0.1, rel=0.1)
    assert upper_high - upper_low == pytest.approx(0.6, rel=0.1)


@pytest.mark.parametrize(
    ("share_of_lower", "levels"),
    [
        (0.05, [6]), (0.98, [1]),  # a level of fewer than 10 % of the iterations does not last
        (np.repeat([0.4, 0], [4, 6]), [6]), (np.repeat([0.4, 0], [5, 5]), [1, 6]),  # nor in four of ten runs
        (np.repeat([1, 0], [6, 4]), [1]),
    ],
)  # fmt: skip
def test_a_level_lasts_for_a_tenth_of_the_iterations_of_half_of_the_runs(share_of_lower, levels):
    views = axis_limits(two_levels(share_of_lower))
    shown = [view for view in ("close", "close-2", "close-3") if view in views]
    assert len(shown) == len(levels)
    for view, level in zip(shown, levels, strict=True):
        low, high = views[view]
        assert low < level * 1.03 < high < level * 1.2


def test_levels_without_a_gap_of_their_own_length_stay_one_view():
    rng = np.random.default_rng(1)
    runs = list(np.where(rng.random((4, 1000)) < 0.5, 1.0, 1.3) + rng.uniform(-0.1, 0.1, (4, 1000)))
    assert "close-2" not in axis_limits(runs)
    assert "close-2" in axis_limits([run + 0.3 * (run > 1.15) for run in runs])


@pytest.mark.parametrize("rule", AXIS_RULES)
def test_the_main_axis_comes_first_and_none_comes_twice(rule):
    assert list(axis_limits([np.arange(60.0)] * 2, rule=rule)) == list(dict.fromkeys([rule, "close", "pooled", "full"]))


@given(several(), st.sampled_from([0.0, 0.05, 0.1, 0.5]), st.sampled_from(AXIS_RULES))
def test_axes_hold_the_median_and_span_enough(runs, min_span, rule):
    pooled = np.concatenate(runs)
    axes = axis_limits(runs, rule=rule, min_span=min_span)
    if rule in ("levels", "core"):
        low, high = axes[rule]
        assert high - low >= min_span * abs(np.median(pooled)) * (1 - 1e-9)
    if pooled.min() < pooled.max():
        assert axes["full"] == (pooled.min(), pooled.max())
    for view, (low, high) in axes.items():
        assert low <= np.median(pooled) <= high or view.startswith("close")  # a level need not hold the median


@given(several(min_iterations=3))
def test_no_run_vanishes_from_the_core_axis_however_far_it_deviates(runs):
    low, high = core(runs)
    for run in runs:
        n_inside = sum(low <= value <= high for value in run.tolist())
        assert n_inside >= max(1, 0.9 * len(run) - 2)


@pytest.mark.parametrize("value", [0.0, 1.0, -1.0, 1e-12, -1e12, 5e-324])
@pytest.mark.parametrize("rule", AXIS_RULES)
def test_runs_without_any_variation_have_axes_around_them(value, rule):
    for n_iterations in (1, 2, 60):
        axes = axis_limits([np.full(n_iterations, value)] * 2, rule=rule)
        assert all(low < value < high for low, high in axes.values()), n_iterations


@given(st.one_of(several(max_iterations=120), SHORT_RUNS), st.sampled_from([0.0, 0.1]), st.sampled_from(AXIS_RULES))
def test_no_axis_has_zero_width(runs, min_span, rule):
    axes = axis_limits(list(runs), rule=rule, min_span=min_span)
    assert all(low < high for low, high in axes.values())


@given(st.one_of(several(max_iterations=400), SHORT_RUNS), st.sampled_from(AXIS_RULES))
def test_what_lies_beyond_an_axis_is_told_of_each_window_above_and_below(runs, rule):
    content = payload(list(runs), "s", rule=rule)
    for run, shown in zip(runs, content["runs"], strict=True):
        edges = [*starts_of(len(run), n_windows(len(run))), len(run)]
        pieces = [run[start:end] for start, end in pairwise(edges)]
        for view, (low, high) in content["axes"].items():
            if len(run) < 50:  # as float32, which is exact here; limits are not
                slack = 1e-6 * (high - low)
                low, high = low - slack, high + slack
            above, below = shares_of(content, shown, view)
            assert above.tolist() == pytest.approx([np.mean(piece > high) for piece in pieces], abs=1 / 255)
            assert below.tolist() == pytest.approx([np.mean(piece < low) for piece in pieces], abs=1 / 255)
        assert "full" not in shown["beyond"]


def test_spikes_are_the_ends_of_bins_beyond_the_middle_half_of_their_window():
    low, high = np.array([1.0, 4.0, 5.0, 6.0]), np.array([4.0, 9.0, 8.0, 9.0])
    at, values = spikes_of(low, high, np.array([2.0, 5.0]), np.array([8.0, 8.0]))
    assert (at.tolist(), values.tolist()) == ([1, 3, 0], [9.0, 9.0, 1.0])


@given(st.one_of(several(), SHORT_RUNS))
def test_the_payload_is_json_with_finite_numbers_only(runs):
    content = payload(list(runs), "s")
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["median"] == statistics.median(np.concatenate(list(runs)).tolist())
    for run in content["runs"]:
        for name in ("low", "high", "medians", "lower", "upper", "quantiles"):
            assert np.isfinite(unpack(run[name])).all()


@given(several(max_iterations=60))
def test_the_payload_says_nothing_but_what_is_drawn(runs):
    content = payload(runs, "ms")
    assert set(content) == {"version", "rule", "min_span", "unit", "n", "median", "percentiles", "axes", "runs"}
    texts = {key: value for key, value in content.items() if isinstance(value, str)}
    assert texts == {"unit": "ms", "rule": "levels"}
    for run in content["runs"]:
        assert set(run) == {"n", "low", "high", "medians", "lower", "upper", "quantiles", "beyond"}


@given(several(max_iterations=120), st.randoms(use_true_random=False))
def test_the_axes_do_not_depend_on_the_order_of_runs(runs, random):
    assert axis_limits(random.sample(runs, len(runs))) == axis_limits(runs)


def test_measurements_are_left_as_they_were():
    runs = [np.arange(60.0), np.arange(60.0)[::-1].copy()]
    for run in runs:
        run.flags.writeable = False
    assert payload(runs, "s") == payload([run.copy() for run in runs], "s")
