"""Features of the shapes and segments of runs, twins, and the test whether learning is better than chance."""

import numpy as np
import pandas as pd
import pytest

from analysis.learning import (
    FEATURES,
    MEASURE_FEATURES,
    SEGMENT_FEATURES,
    Fingerprint,
    chance_p,
    cross_validate,
    examples_of,
    segment_features,
    twins_by_features,
    twins_of,
)
from analysis.learning._features import MIN_ITERATIONS, PROPERTIES, SUMMARIES, segments_of, shape_features, shape_names

FLAT = np.ones(400)
RISING = np.exp(np.linspace(0, 0.2, 400))  # the logs are a line with the slope .2 over the run


def test_one_rising_run_is_the_odd_one_in_any_unit():
    found = shape_features([FLAT, FLAT, FLAT, RISING])
    slope = 0.2 * 200 / 399  # of the second half; outliers of .5 % at the end are cut off
    assert found["slope_range"] == pytest.approx(slope, rel=0.05)
    assert found["slope_sd"] == pytest.approx(found["slope_range"] / 2)
    assert found["slope_gap"] == found["slope_range"]
    assert found["slope_odd"] == 1.0
    assert found["level_range"] == pytest.approx(0.1, rel=0.01)
    rng = np.random.default_rng(1)
    runs = [np.exp(rng.normal(0, 0.1, 300)) for _ in range(5)]
    one, other = shape_features(runs), shape_features([1e-6 * run for run in runs])
    assert [other[name] for name in one] == pytest.approx(list(one.values()), abs=1e-9)
    found = shape_features([FLAT, FLAT, FLAT])
    assert set(found) == {name for name, _ in shape_names()}
    assert all(value == 0 for value in found.values())
    assert len(list(shape_names())) == len(PROPERTIES) * len(SUMMARIES) + 2


@pytest.mark.parametrize("runs", [[FLAT], [FLAT, FLAT[: MIN_ITERATIONS - 1]], [FLAT, np.zeros(400)], []])
def test_short_or_impossible_runs_have_no_shape(runs):
    assert shape_features(runs) is None


# Twins: one benchmark under two names.


def drawn(seed, k=3, n=60, *, noise=0.0):
    """Return the fingerprint of k runs; with the same seed, the same runs with other noise."""
    rng, other = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    runs = np.exp(rng.normal(0, 0.02, (k, n))) * np.arange(1, k + 1)[:, None]
    return Fingerprint.of(list(runs * np.exp(noise * other.normal(size=(k, n)))))


def test_the_same_measurements_are_twins_and_constant_runs_only_if_they_are_equal():
    prints = {"a": drawn(1), "b": drawn(1, noise=0.01), "c": drawn(2), "d": drawn(3, k=4), "e": drawn(1)}
    assert twins_of(prints) == (("a", "b", "e"),)
    alike = {f"i{seed:03d}": drawn(seed) for seed in range(4, 104)}
    assert twins_of(alike) == ()
    one, other = (Fingerprint.of([np.full(9, value)]) for value in (1.0, 1.001))
    assert twins_of({"a": one, "b": one, "c": other}) == (("a", "b"),)
    assert Fingerprint.of([np.zeros(9)]) is None


def test_benchmarks_that_warm_up_alike_are_no_twins():
    rng, warmup = np.random.default_rng(1), np.exp(2 * np.exp(-np.arange(200) / 6))
    prints = [Fingerprint.of(list(warmup * np.exp(rng.normal(0, 0.01, (5, 200))))) for _ in range(2)]
    assert not prints[0].is_twin(prints[1])
    # the first iterations alone would be nearly equal
    assert np.corrcoef(*(np.diff(np.log(warmup[:30]) + rng.normal(0, 0.01, 30)) for _ in range(2)))[0, 1] > 0.9


def noise(rng, n_applications=12, *, strength=0.0):
    """Return examples with 3 features; items of an application share part of their label and of their features."""
    n, names = 10 * n_applications, ("m1", "m2", "spread")
    application = np.arange(n) % n_applications
    x = rng.normal(size=(n, 3)) + rng.normal(size=(n_applications, 3))[application]
    lean = strength * x[:, 0] + 1.5 * rng.normal(size=n_applications)[application]
    dissimilar = rng.random(n) < 1 / (1 + np.exp(-lean))
    items = [f"i{k:03d}" for k in range(n)]
    truth = pd.DataFrame({"item": items, "category": np.where(dissimilar, "dissimilar", "similar")})
    applications = pd.Series([f"app{a}" for a in application], index=items)
    return examples_of(truth, pd.DataFrame(x, index=items, columns=list(names)), names, applications)


def test_applications_with_twins_are_in_one_fold():
    examples = noise(np.random.default_rng(0))
    apart = examples.group
    together = examples_of(
        pd.DataFrame({"item": examples.items, "category": examples.names}),
        pd.DataFrame(examples.x, index=list(examples.items), columns=list(examples.features)), examples.features,
        pd.Series(examples.applications, index=list(examples.items)), (("i000", "i001"), ("i001", "i014")),
    ).group  # fmt: skip
    assert len(set(apart)) == 12
    assert len(set(together)) == 10
    assert together[0] == together[1] == together[14] == together[2]  # app0, app1, and app2 of i014 and i002
    assert together[3] != together[0]


def p_of(examples, seed, n=39):
    rng = np.random.default_rng(seed)
    return chance_p(examples, cross_validate(examples, rng=rng, monotone=False), monotone=False, rng=rng, n=n)


def test_a_signal_is_better_than_chance_and_noise_is_not():
    assert p_of(noise(np.random.default_rng(2), strength=2.0), 1) <= 0.05
    assert p_of(noise(np.random.default_rng(3)), 1) > 0.05


@pytest.mark.slow
def test_the_size_of_the_test_is_its_level_if_items_of_an_application_are_alike():
    found = [p_of(noise(np.random.default_rng(seed)), seed) <= 0.05 for seed in range(200)]
    assert np.mean(found) <= 0.09  # .05 and two standard errors


def test_items_with_nearly_equal_features_are_twins_if_there_are_no_measurements():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.lognormal(0, 1, (40, 50)), index=[f"i{at:02}" for at in range(40)])
    copies = (table.iloc[:3] * np.exp(rng.normal(0, 0.01, (3, 50)))).rename(index=lambda name: f"{name} again")
    found = twins_by_features(pd.concat([table, copies]))
    assert found == tuple((f"i0{at}", f"i0{at} again") for at in range(3))
    few = table.iloc[:, :3]  # of few features, all must be equal
    assert twins_by_features(pd.concat([few, few.iloc[:1].rename(index={"i00": "copy"})])) == (("i00", "copy"),)
    assert twins_by_features(table * np.nan) == ()


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


def test_a_benchmark_has_the_differences_of_its_runs_in_features_with_a_version():
    found = segment_features([run(1.0, seed=seed) for seed in range(3)] + [run(1.3, 1.0, 1.0)])
    assert set(found) == set(SEGMENT_FEATURES) and len(found) == 16
    assert found["segments_range"] >= 1 == found["segments_odd"]
    assert found["segment_jump_range"] > 0.2
    assert segment_features([run(1.0)]) is None
    assert not set(SEGMENT_FEATURES) & set(MEASURE_FEATURES)
    assert {FEATURES[name].version for name in SEGMENT_FEATURES} == {"1.1"}
    series = run(1.0)
    series[1500] = 50
    assert segments_of(series)[0] == 1
