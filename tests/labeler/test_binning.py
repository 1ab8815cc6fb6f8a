import base64
import json
import statistics
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from labeler.screen.binning import axis_limits, payload

RULES = ["core", "pooled", "full"]
VALUES = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 100.0]), st.floats(-1e6, 1e6, width=32))


@st.composite
def series(draw, min_iterations=1, max_iterations=700):
    """One run on some level, with noise or without, and with spikes anywhere; exact in float32."""
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
    """The drawing of a run beside another one."""
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


def test_3000_iterations_make_300_bins_of_ten():
    run = np.random.default_rng(5).normal(size=3000).astype(np.float32).astype(np.float64)
    tens = [run[start : start + 10].tolist() for start in range(0, 3000, 10)]
    assert unpack(drawn(run)["low"]) == [min(ten) for ten in tens]
    assert unpack(drawn(run)["high"]) == [max(ten) for ten in tens]


@given(series())
def test_medians_are_of_windows_of_50_or_the_run_itself_where_it_is_short(run):
    width = 50 if len(run) >= 50 else 1
    expected = [statistics.median(run[start : start + width].tolist()) for start in range(0, len(run), width)]
    assert unpack(drawn(run)["medians"]) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_medians_worked_by_hand():
    run = np.array([1.0] * 30 + [9.0] * 20 + [2.0] * 25 + [4.0] * 25 + [7.0])
    assert unpack(drawn(run)["medians"]) == [1.0, 3.0, 7.0]


def test_quantiles_of_a_run_worked_by_hand():
    # of 0, 1, ..., 100 in any order, the p-th percentile is p
    run = np.random.default_rng(1).permutation(101).astype(float)
    content = payload([run, run], "s")
    assert unpack(content["runs"][0]["quantiles"]) == content["percentiles"]
    assert content["percentiles"] == sorted(content["percentiles"])
    assert {0, 5, 25, 50, 75, 95, 100} <= set(content["percentiles"])


def test_the_core_axis_goes_from_the_lowest_1st_to_the_highest_95th_percentile_of_a_run():
    run = np.arange(101.0)
    assert axis_limits([run, run + 1000, run + 500])["core"] == (1, 1095)
    assert axis_limits([run, run - 1000])["core"] == (-999, 95)
    assert axis_limits([run * 10, run])["core"] == (1, 950)


def test_the_core_axis_spans_at_least_the_given_share_of_the_pooled_median():
    runs = [np.full(60, 99.0), np.full(60, 101.0), np.full(61, 100.0)]
    assert axis_limits(runs)["core"] == pytest.approx((95, 105))
    assert axis_limits(runs, min_span=0.5)["core"] == pytest.approx((75, 125))
    assert axis_limits(runs, min_span=0.0)["core"] == (99, 101)
    assert axis_limits([-run for run in runs])["core"] == pytest.approx((-105, -95))


def test_the_other_axes_worked_by_hand():
    runs = [np.arange(0.0, 400.0), np.arange(400.0, 1001.0)]  # together 0, 1, ..., 1000
    assert axis_limits(runs)["pooled"] == pytest.approx((5, 995))
    assert axis_limits(runs)["full"] == (0, 1000)


@given(several(), st.sampled_from([0.0, 0.05, 0.1, 0.5]))
def test_axes_lie_inside_each_other_and_span_enough(runs, min_span):
    pooled = np.concatenate(runs)
    axes = axis_limits(runs, min_span=min_span)
    low, high = axes["core"]
    assert high - low >= min_span * abs(np.median(pooled)) * (1 - 1e-9)
    if pooled.min() < pooled.max():
        assert axes["full"] == (pooled.min(), pooled.max())
    for rule in RULES:
        assert axes[rule][0] <= np.median(pooled) <= axes[rule][1]


@given(several(min_iterations=3))
def test_no_run_vanishes_from_the_core_axis_however_far_it_deviates(runs):
    low, high = axis_limits(runs)["core"]
    for run in runs:
        n_inside = sum(low <= value <= high for value in run.tolist())
        assert n_inside >= max(1, 0.9 * len(run) - 2)


def test_runs_of_two_iterations_do_not_vanish_from_the_core_axis():
    runs = [np.array([1.0, 2.0])] * 3
    low, high = axis_limits(runs)["core"]
    assert any(low <= value <= high for value in runs[0])


@pytest.mark.parametrize("value", [0.0, 1.0, -1.0, 1e-12, -1e12, 5e-324])
@pytest.mark.parametrize("n_iterations", [1, 2, 60])
@pytest.mark.parametrize("min_span", [0.0, 0.1])
def test_runs_without_any_variation_have_axes_around_them(value, n_iterations, min_span):
    axes = axis_limits([np.full(n_iterations, value)] * 2, min_span=min_span)
    assert all(low < value < high for low, high in axes.values())


@given(st.one_of(several(max_iterations=120), SHORT_RUNS), st.sampled_from([0.0, 0.1]))
def test_no_axis_has_zero_width(runs, min_span):
    axes = axis_limits(list(runs), min_span=min_span)
    assert list(axes) == RULES
    assert all(low < high for low, high in axes.values())


@given(st.one_of(several(max_iterations=120), SHORT_RUNS))
def test_measurements_outside_an_axis_are_counted_above_and_below(runs):
    content = payload(list(runs), "s")
    for run, shown in zip(runs, content["runs"], strict=True):
        for rule, (low, high) in content["axes"].items():
            above = len([value for value in run.tolist() if value > high])
            below = len([value for value in run.tolist() if value < low])
            assert shown["outside"][rule] == [above, below]
        assert shown["outside"]["full"] == [0, 0]


def test_runs_may_have_different_lengths():
    content = payload([np.arange(7.0), np.arange(1000.0), np.arange(60.0)], "s")
    assert [run["n"] for run in content["runs"]] == [7, 1000, 60]
    assert content["n"] == 1000
    assert [len(unpack(run["low"])) for run in content["runs"]] == [7, 300, 60]
    assert [len(unpack(run["medians"])) for run in content["runs"]] == [7, 20, 2]


@given(st.one_of(several(), SHORT_RUNS))
def test_the_payload_is_json_with_finite_numbers_only(runs):
    content = payload(list(runs), "s")
    assert json.loads(json.dumps(content, allow_nan=False)) == content
    assert content["median"] == statistics.median(np.concatenate(list(runs)).tolist())
    for run in content["runs"]:
        for name in ("low", "high", "medians", "quantiles"):
            assert np.isfinite(unpack(run[name])).all()


@given(several(max_iterations=60))
def test_the_payload_says_nothing_but_what_is_drawn(runs):
    content = payload(runs, "ms")
    assert set(content) == {"version", "min_span", "unit", "n", "median", "percentiles", "axes", "runs"}
    assert set(content["axes"]) == set(RULES)
    texts = {key: value for key, value in content.items() if isinstance(value, str)}
    assert texts == {"unit": "ms"}
    for run in content["runs"]:
        assert set(run) == {"n", "low", "high", "medians", "quantiles", "outside"}


@given(several(max_iterations=120), st.randoms(use_true_random=False))
def test_the_axes_do_not_depend_on_the_order_of_runs(runs, random):
    assert axis_limits(random.sample(runs, len(runs))) == axis_limits(runs)


def test_measurements_are_left_as_they_were():
    runs = [np.arange(60.0), np.arange(60.0)[::-1].copy()]
    for run in runs:
        run.flags.writeable = False
    assert payload(runs, "s") == payload([run.copy() for run in runs], "s")
