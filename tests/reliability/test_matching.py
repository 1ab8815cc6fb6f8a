"""Comparing the bytes of plots finds no two plots of one item; the same attackers succeed if plots are equal."""

import json

import numpy as np
import pytest

from labeler.studies.screen import binning, blinding
from tests.conftest import some_slow
from tests.reliability._matching import BY_BYTES, BY_LOOKING, as_lanes, at_chance, in_words, n_found

N_ITEMS = 68
LENGTHS = {"long runs": (3, 1200), "many runs": (10, 400), "short runs": (3, 60), "points": (3, 20)}


def measured(rng, n_runs, n_iterations):
    """Runs of one item with an individual level, spread and spikes; long runs have unequal lengths."""
    level = 10 ** rng.uniform(-6, -1)
    lengths = n_iterations + (rng.integers(0, 60, n_runs) if n_iterations > 300 else np.zeros(n_runs, int))
    runs = [level * (1 + 0.02 * rng.standard_normal(n) + 0.5 * (rng.random(n) < 0.005)) for n in lengths]
    return [np.round(run, 12) for run in runs]  # a clock has discrete steps


# Comparing all values of ten runs takes seconds; the ordinary tests compare three long runs.
@pytest.fixture(scope="module", params=some_slow(LENGTHS, {"many runs"}))
def items(request):
    rng = np.random.default_rng(20261122)
    made = [measured(rng, *LENGTHS[request.param]) for _ in range(N_ITEMS)]
    return [(json.loads(json.dumps(binning.payload(runs, "s"))), runs) for runs in made]


@pytest.fixture(scope="module")
def pair(items):
    """The pictures of all items for two reviewers."""
    return pictures(items, "one secret"), pictures(items, "another")


def pictures(items, secret):
    return [
        blinding.varied(payload, runs, blinding.Variation.drawn(secret, f"CODE{number}", len(runs)))
        for number, (payload, runs) in enumerate(items)
    ]


def test_two_pictures_of_short_runs_have_hardly_ever_equal_lanes():
    rng = np.random.default_rng(20261124)
    made = [list(rng.uniform(1, 1.2, (3, 60))) for _ in range(N_ITEMS)]
    items = [(json.loads(json.dumps(binning.payload(runs, "s"))), runs) for runs in made]
    first, second = (pictures(items, secret) for secret in ("one secret", "another"))
    both = zip(map(as_lanes, first), map(as_lanes, second), strict=True)
    assert sum(not lanes.isdisjoint(others) for lanes, others in both) <= 1


def test_a_picture_is_varied_in_the_same_way_on_every_machine():
    # the first 128 bits of SHA-256 of "one secret CODE1"; then SHA-256 of "SEED run 0" etc., as a number in [0, 1)
    seed = "8b394018cf96a09a6ff66466b04512ea"
    variation = blinding.Variation.drawn("one secret", "CODE1", 4)
    assert variation == blinding.Variation(order=(0, 1, 3, 2), phase=0.5 + 0.694877, seed=seed)  # .11, .67, .97, .71
    swapped = [number for number in range(8) if blinding.is_swapped("one secret", f"CODE{number}")]
    assert swapped == [0, 2, 4, 5, 6, 7]


@pytest.mark.parametrize("attack", BY_BYTES)
def test_bytes_values_and_hashes_of_two_pictures_of_one_item_are_no_nearer_than_chance(pair, attack):
    first, second = pair
    hits = n_found([(picture, place) for place, picture in enumerate(second)], first, BY_BYTES[attack])
    assert at_chance(hits, N_ITEMS, N_ITEMS), in_words([(attack, hits)], N_ITEMS, N_ITEMS)


@pytest.mark.parametrize("attack", BY_BYTES)
def test_the_attackers_find_every_item_where_pictures_are_equal(items, attack):
    stored = [payload for payload, _ in items]
    assert n_found([(picture, place) for place, picture in enumerate(stored)], stored, BY_BYTES[attack]) == N_ITEMS


def test_who_compares_shapes_still_finds_items_as_the_documentation_says(pair):
    first, second = pair
    wanted = [(picture, place) for place, picture in enumerate(second)]
    hits = {name: n_found(wanted, first, marks) for name, marks in BY_LOOKING.items()}
    print(in_words(hits.items(), N_ITEMS, N_ITEMS))
    assert hits["levels"] > N_ITEMS / 2


def test_a_picture_differs_from_that_of_its_item_by_less_than_can_be_seen(items):
    for (stored, _), drawn in zip(items, pictures(items, "a secret"), strict=True):
        low, high = stored["axes"][stored["rule"]]
        order = blinding.Variation.drawn("a secret", f"CODE{items.index((stored, _))}", len(drawn["runs"])).order
        for run, place in zip(drawn["runs"], order, strict=True):
            before = binning.unpacked(stored["runs"][place]["quantiles"])
            after = binning.series_of(drawn, run, "quantiles")
            inside = (low <= before) & (before <= high)
            assert np.abs(after - before)[inside].max() < 0.002 * (high - low)  # less than half a pixel of 200
            far = np.abs(before - stored["median"])
            assert (np.abs(after - before) <= 0.002 * (high - low + far)).all()
            assert (np.diff(after) >= 0).all()
            assert (np.sign(after) == np.sign(before)).all()
        for rule, limits in drawn["axes"].items():
            assert limits == pytest.approx(stored["axes"][rule], abs=0.002 * (stored["axes"]["full"][1] - low + high))


def test_no_spike_is_lost_whatever_the_phase():
    rng = np.random.default_rng(3)
    for n in (60, 300, 301, 777, 3000):
        run = rng.uniform(1, 2, n)
        run[rng.integers(n)] = 9.0
        for phase in (0.5, 0.83, 1.0, 1.499999):
            low, high = binning.bins_of(run[np.newaxis], phase)
            medians, _, _ = binning.windows_of(run[np.newaxis], phase)
            assert (high.max(), low.min()) == (9.0, run.min())
            assert low.shape == high.shape == (1, min(n, 300))
            assert 1 <= medians.shape[1] <= n / 50 + 2


@pytest.mark.parametrize("scale", [1e-308, 1e-260, 1e-30, 1e30, 1e200, 1e300, 1.7e308])
def test_pictures_of_values_of_any_size_are_whole_numbers_of_json(scale):
    runs = [scale * np.array([-1.0, 0.0, 0.5, 1.0, 1e-9]), scale * np.array([1.0, 1.0, 1.0])]
    payload = binning.payload(runs, "s")
    drawn = blinding.varied(payload, runs, blinding.Variation.drawn("x", "y", 2))
    assert json.loads(json.dumps(drawn, allow_nan=False)) == drawn
    for run in drawn["runs"]:
        assert all(np.isfinite(binning.unpacked(run[name])).all() for name in binning.SERIES)
    assert all(low < high for low, high in drawn["axes"].values())


def test_values_at_and_below_zero_keep_their_sign():
    payload = binning.payload([np.array([0.0, 0.0, 1e-3, 1.0, 2.0]), np.array([-1.0, 0.0, 1.0, 2.0, 3.0])], "s")
    runs = [np.array([0.0, 0.0, 1e-3, 1.0, 2.0]), np.array([-1.0, 0.0, 1.0, 2.0, 3.0])]
    for number in range(20):
        variation = blinding.Variation.drawn("x", str(number), 2)
        drawn = blinding.varied(payload, runs, variation)
        for place, run in zip(variation.order, drawn["runs"], strict=True):
            assert np.sign(binning.series_of(drawn, run, "low")).tolist() == np.sign(runs[place]).tolist()
