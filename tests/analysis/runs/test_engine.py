"""Fast implementations against simple definitions: on real runs, artificial runs, and at the limits of floats."""

import gzip
import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from analysis.runs.classifiers import CLASSIFIERS, heuristic, same
from analysis.runs.dissimilarity import MEASURES, Runs, compression_exceeds
from tests.analysis.plain import OF_SAME, PLAIN, compression, kolmogorov_smirnov, merges, pair_values, verdicts_from
from tests.analysis.raters.strategies import benchmarks
from tests.conftest import examples, some_slow

HEURISTICS = ["heuristic", "heuristic-printed"]


def equal(name, values, expected):
    return values == pytest.approx(expected, rel=0, abs=0 if name == "m2" else 1e-9)


def differing(runs, expected):
    """Return the measures whose values differ from the expected values; M2 must be exact."""
    shared = Runs(runs)
    return [name for name, measure in MEASURES.items() if not equal(name, measure.of_pairs(shared), expected[name])]


def noise(k, n, *, seed=1):
    return np.random.default_rng(seed).lognormal(sigma=0.3, size=(k, n))


def with_rows(runs, rows, value):
    changed = runs.copy()
    changed[rows] = value
    return changed


@pytest.fixture(scope="module")
def real(icpe_dir):
    """Return the runs of every real benchmark, by file."""
    read = {}
    for path in sorted((icpe_dir / "timeseries").glob("*.json.gz")):
        with gzip.open(path) as file:
            read[path.name] = np.array(json.load(file))
    return read


@pytest.fixture(scope="module")
def real_values(real):
    return {file: pair_values(runs) for file, runs in real.items()}


@pytest.mark.slow
def test_every_measure_of_every_real_benchmark_equals_its_definition(real, real_values):
    wrong = {file: names for file, runs in real.items() if (names := differing(runs, real_values[file]))}
    assert len(real) == 203
    assert wrong == {}


@settings(max_examples=examples(60), deadline=None)
@given(benchmarks())
def test_every_measure_equals_its_definition(runs):
    assert differing(runs, pair_values(runs)) == []


@settings(max_examples=examples(60), deadline=None)
@given(benchmarks(), st.floats(0, 1))
def test_the_verdict_of_the_heuristics_follows_from_the_definitions(runs, theta):
    values = pair_values(runs)
    assume(min(abs(pairs.mean() - theta) for pairs in values.values()) > 1e-9)  # closer to the cut, rounding decides
    found = {name: CLASSIFIERS[name](runs, theta=theta).verdict for name in HEURISTICS}
    assert found.items() <= verdicts_from(values, theta=theta).items()


@settings(max_examples=examples(60), deadline=None)
@given(benchmarks(), st.floats(0.01, 1))
def test_same_follows_from_the_definitions(runs, cut):
    values = pair_values(runs)
    apart = np.sort(np.mean([values[name] for name in OF_SAME], axis=0))
    height = merges(values)[-1, 2]
    assume(
        (np.diff(apart) > 1e-9).all() and abs(height - cut) > 1e-9
    )  # rounding decides which of two equal merges is first
    verdict = same(runs, cut=cut)
    assert (verdict.score, verdict.verdict) == (pytest.approx(height), verdicts_from(values, cut=cut)["same"])


# M5 counts four runs in one word
@pytest.mark.parametrize("k", some_slow([2, 3, 4, 5, 9, 17, 33, 50], {33, 50}))
def test_any_number_of_runs_equals_the_definition(k):
    runs = np.round(noise(k, 50), 1)
    assert differing(runs, pair_values(runs)) == []


# 3965 is the longest run that M2 compresses in its small window, 32767 the highest count that M5 packs
@pytest.mark.parametrize("n", [2, 3, 50, 300, 3000, 3965, 3966, 32767, 32768])
def test_any_number_of_iterations_equals_the_definition(n):
    runs = np.round(noise(3, n), 2)
    assert differing(runs, pair_values(runs)) == []


@pytest.mark.parametrize("n", [3965, 3966, 4096, 5000])
def test_m2_sees_what_recurs_at_the_other_end_of_long_runs(n):
    first, second = np.random.default_rng(7).integers(1, 5, (2, n)).astype(float)
    second[-150:] = first[:150]
    assert MEASURES["m2"].function(first, second) == compression(first, second)


@pytest.mark.parametrize("n", [32767, 32768])
@pytest.mark.parametrize("k", [4, 7])
@pytest.mark.parametrize("decimals", [2, 12])  # few distinct values, or more values than are compared at a time
def test_m5_counts_to_the_end_of_long_runs(k, n, decimals):
    runs = np.round(noise(k, n), decimals)
    runs[0] += 1000
    expected = [kolmogorov_smirnov(x, y) for x, y in combinations(runs, 2)]
    assert expected[: k - 1] == [1] * (k - 1)
    assert MEASURES["m5"].of_pairs(Runs(runs)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_m5_finds_the_largest_distance_anywhere_among_many_values(share):
    runs = np.sort(np.random.default_rng(8).random((5, 30_000)))
    runs[1, int(share * 30_000) :] += 0.1
    expected = [kolmogorov_smirnov(x, y) for x, y in combinations(runs, 2)]
    assert MEASURES["m5"].of_pairs(Runs(runs)) == pytest.approx(expected, abs=1e-12)


def test_runs_of_unequal_length_equal_the_definition_for_their_beginnings():
    long = noise(5, 90)
    runs = [row[:length] for row, length in zip(long, [90, 61, 75, 60, 88], strict=True)]
    assert differing(runs, pair_values(long[:, :60])) == []


EDGES = {
    "one constant run": with_rows(noise(5, 100), [2], 0.1),
    "two constant runs": with_rows(noise(5, 100), [0, 3], [[0.2], [0.7]]),
    "two equal constant runs": with_rows(noise(5, 100), [0, 3], 0.1),
    "only equal constant runs": np.full((5, 100), 0.1),
    "one run of zeros": with_rows(noise(5, 100), [2], 0),
    "two runs of zeros": with_rows(noise(5, 100), [0, 4], 0),
    "only zeros": np.zeros((5, 100)),
    "a constant run and zeros": with_rows(np.zeros((3, 100)), [1], 0.25),
    "equal runs": np.repeat(noise(1, 100), 5, axis=0),
    "two distinct values": np.random.default_rng(1).choice([0.1, 0.7], (5, 100)),
    "three distinct values": np.random.default_rng(2).integers(0, 3, (5, 100)) * 1e-9,
    "nanoseconds beside minutes": np.exp(np.random.default_rng(3).uniform(np.log(2e-9), np.log(155), (5, 300))),
    "one outlier": np.where(np.arange(1500).reshape(5, 300) == 777, 1e6, noise(5, 300)),
    "an outlier in each run": np.where(np.arange(1500).reshape(5, 300) % 301 == 7, 1e6, noise(5, 300)),
}


@pytest.mark.parametrize("runs", EDGES.values(), ids=EDGES)
def test_unusual_runs_agree_with_the_definition_and_have_dissimilarities_between_0_and_1(runs):
    assert differing(runs, pair_values(runs)) == []
    shared = Runs(runs)
    for measure in MEASURES.values():
        values = measure.of_pairs(shared)
        assert ((values >= 0) & (values <= 1)).all()


def test_rounding_decides_neither_scaled_rmse_nor_patterns_nor_ties():
    levels = np.geomspace(0.1, 0.11, 50)
    values = MEASURES["scaled_rmse"].of_pairs(Runs(np.repeat(levels[:, None], 100, axis=1)))
    assert values.max() <= 1
    t = np.arange(60)
    runs = Runs([1 + 2.0**-52 * (t % 2), 1 + 2.0**-52 * (t // 2 % 2)])
    assert MEASURES["m1"].of_pairs(runs) == pytest.approx(1)
    assert MEASURES["m3"].of_pairs(runs) == pytest.approx(np.sqrt(0.5))
    rows = np.repeat([[1.0], [1], [1], [2], [4]], 50, axis=1)
    assert same(rows).score == pytest.approx(same(rows * 1e-9).score, rel=1e-12)
    assert set(PLAIN) == set(MEASURES)


@pytest.mark.parametrize(("classifier", "name"), [(same, "cut"), (heuristic, "theta")])
def test_a_threshold_that_is_not_a_number_is_rejected(classifier, name):
    with pytest.raises(ValueError, match=f"^{name} must be a number, got nan$"):
        classifier(np.ones((3, 60)), **{name: np.nan})


# 2**-1074 is the smallest float, 2**1024 is larger than the largest
@pytest.mark.parametrize(("highest", "exponent"), [(4, -1074), (2**50, -1074), (2**50, 946), (2**50, 973)])
def test_no_measure_underflows_or_overflows(highest, exponent):
    runs = np.random.default_rng(4).integers(0, highest, (5, 100), endpoint=True).astype(np.float64)
    assert differing(np.ldexp(runs, exponent), pair_values(runs)) == []


def nearly_equal_runs(exponent):
    """Build two runs around 1 and their difference, of the order of 2**-exponent; all three means are exact."""
    wave = np.tile([1, -3, 2, 5, -5, 0, 4, -4], 25) * 2.0**-6
    difference = np.tile([2, -1, -1, 3, -3, 1, -2, 9], 25) * 2.0**-exponent
    return 1 + wave, 1 + wave + difference, difference


NEARLY_EQUAL = pytest.mark.parametrize("exponent", [10, 14, 20, 27, 40])  # 2**-40 is about 1e-12


@NEARLY_EQUAL
def test_measures_of_nearly_equal_runs_are_those_of_their_difference(exponent):
    x, y, difference = nearly_equal_runs(exponent)
    centred = [run - run.mean() for run in (difference, x, y)]
    norms = [np.linalg.norm(run) for run in (difference, x, y)]
    expected = {
        "m3": np.linalg.norm(centred[0]) / (np.linalg.norm(centred[1]) + np.linalg.norm(centred[2])),
        "m3_with_mean": norms[0] / (norms[1] + norms[2]),
        "kumar_hassebrook": difference @ difference / (x @ y + difference @ difference),
        "scaled_rmse": np.sqrt(np.mean(difference**2)) / np.ptp([x, y]),
    }
    found = {name: MEASURES[name].function(x, y) for name in expected}
    assert found == pytest.approx(expected, rel=1e-9, abs=0)


@given(benchmarks())
def test_compression_exceeds_what_is_just_below_its_mean_and_not_the_mean(runs):
    mean, shared = float(MEASURES["m2"].of_pairs(Runs(runs)).mean()), Runs(runs)
    assert compression_exceeds(shared, np.nextafter(mean, -1))
    assert not compression_exceeds(shared, mean)
    assert not compression_exceeds(shared, np.nextafter(mean, 2))


@given(benchmarks(), st.booleans(), st.sampled_from(["m1", "m2", "m3", "m4", "m5"]))
def test_the_lazy_verdict_is_the_full_one_from_some_of_its_means(runs, keep_mean, name):
    full = heuristic(runs, keep_mean=keep_mean)
    assert heuristic(runs, keep_mean=keep_mean, only_verdict=True).means.items() <= full.means.items()
    at_mean = {"theta": full.means[name], "keep_mean": keep_mean}
    assert heuristic(runs, **at_mean, only_verdict=True).verdict == heuristic(runs, **at_mean).verdict


@pytest.mark.parametrize("name", HEURISTICS)
def test_a_lazy_verdict_has_no_score_and_no_pairs(name):
    verdict = CLASSIFIERS[name](noise(4, 60), only_verdict=True)
    assert (verdict.score, dict(verdict.pairs)) == (None, {})


def test_lazy_verdicts_leave_out_scores_pairs_and_compression_where_the_others_decide():
    assert "m2" not in heuristic(np.ones((4, 60)), only_verdict=True).means
    shared = Runs(noise(4, 60))
    heuristic(shared, only_verdict=True)
    assert "m2" not in shared.computed
    verdict = heuristic(np.ones((2, 60)), drop=20)
    assert (verdict.verdict, verdict.threshold, verdict.parameters["drop"]) == (None, 0.25, 20)
