import gzip
import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.cluster.hierarchy import is_valid_linkage

from analysis.runs.classifiers import CLASSIFIERS, heuristic, kruskal, same, spread
from analysis.runs.dissimilarity import Runs
from tests.analysis.raters.strategies import pairs_of_runs
from tests.conftest import golden

CASES = golden("similarity")["cases"]


def read(path):
    with gzip.open(path) as file:
        return Runs(json.load(file))


@pytest.mark.parametrize("case", CASES, ids=[case["file"][:60] for case in CASES])
def test_verdicts_on_real_benchmarks(icpe_dir, case):
    runs = read(icpe_dir / "timeseries" / f"{case['file']}.gz")
    verdict = same(runs)
    assert heuristic(runs).verdict == case["heuristic"]
    assert heuristic(runs, keep_mean=True).verdict == case["heuristic_printed"]
    assert verdict.verdict == case["same"]
    assert len(set(verdict.clusters)) == case["same_clusters"]
    assert verdict.score == pytest.approx(case["same_last_merge"], abs=1e-9)


@pytest.mark.slow
def test_counts_of_verdicts_on_the_real_data(icpe_dir):
    files = sorted((icpe_dir / "timeseries").glob("*.json.gz"))
    verdicts = [{name: judge(runs).verdict for name, judge in CLASSIFIERS.items()} for runs in map(read, files)]
    assert len(files) == 203
    counts = {name: Counter(row[name] for row in verdicts) for name in CLASSIFIERS}
    assert counts["heuristic"] == {"dissimilar": 163, "similar": 40}
    assert counts["heuristic-printed"] == {"dissimilar": 117, "similar": 86}
    assert counts["same"] == {"dissimilar": 44, "similar": 159}
    both = Counter((row["heuristic"], row["same"]) for row in verdicts)
    assert both["dissimilar", "dissimilar"] == 43
    assert both["dissimilar", "similar"] == 120
    assert both["similar", "dissimilar"] == 1
    assert both["similar", "similar"] == 39


@given(pairs_of_runs(), st.floats(0, 1), st.booleans())
def test_the_median_exceeds_theta_exactly_when_three_of_five_do(rows, theta, keep_mean):
    verdict = heuristic(rows, theta=theta, keep_mean=keep_mean)
    assert (verdict.verdict == "dissimilar") == (sum(mean > theta for mean in verdict.means.values()) >= 3)
    assert (verdict.verdict == "dissimilar") == (verdict.score > verdict.threshold)


def test_ten_runs_of_noise_are_dissimilar_unless_the_mean_is_kept():
    # Known behaviour: the heuristic requires a common pattern over time, and noise has none.
    noise = 100 + np.random.default_rng(1).normal(size=(10, 500))
    assert heuristic(noise).verdict == "dissimilar"
    assert heuristic(noise, keep_mean=True).verdict == "similar"
    assert heuristic(noise).classifier == "heuristic"
    assert heuristic(noise, keep_mean=True).classifier == "heuristic-printed"


def test_same_finds_the_runs_on_another_level_and_keeps_a_merge_at_the_cut():
    rng = np.random.default_rng(2)
    runs = 1 + 0.01 * rng.random((6, 100))
    runs[[1, 4]] += 1
    verdict = same(runs)
    assert verdict.verdict == "dissimilar"
    assert verdict.clusters == (1, 2, 1, 1, 2, 1)
    assert is_valid_linkage(verdict.linkage)
    rng = np.random.default_rng(3)
    runs = 1 + rng.random((3, 60))
    height = same(runs).score
    assert same(runs, cut=height).verdict == "similar"
    assert set(same(runs, cut=height).clusters) == {1}
    assert same(runs, cut=np.nextafter(height, 0)).verdict == "dissimilar"


def test_spread_and_kruskal_by_hand_and_their_limits():
    assert [spread(runs).verdict for runs in ([[1.0], [1.05]], [[1.0], [2.0]])] == ["similar", "dissimilar"]
    iterations = np.arange(60.0)
    assert kruskal([iterations, iterations + 5]).verdict == "similar"
    assert kruskal([iterations, iterations + 50]).verdict == "dissimilar"
    # means 1.9 and 2.1: (2.1 - 1.9) / 2
    runs = [[1.8, 2.0], [2.0, 2.2]]
    score = spread(runs).score
    assert score == pytest.approx(0.1)
    assert (spread(runs, limit=score).verdict, spread(runs, limit=0.0999).verdict) == ("similar", "dissimilar")
    runs = np.random.default_rng(2).normal(size=(4, 50)).round(1) + np.arange(4)[:, None] / 4
    assert kruskal(runs).score == pytest.approx(stats.kruskal(*runs).statistic / (runs.size - 1))
    assert (spread([[-1.0], [1.0]]).verdict, spread([[-1.0], [1.0]]).reason) == (
        None,
        "the mean of the runs is not positive",
    )
    assert kruskal(np.ones((3, 49))).reason.startswith("too short: chance alone")
    assert (kruskal(np.ones((3, 50))).verdict, kruskal(np.ones((3, 50))).score) == ("similar", 0)


@pytest.mark.parametrize("judge", [spread, kruskal])
def test_a_limit_must_be_a_number(judge):
    with pytest.raises(ValueError, match=r"limit.*got nan"):
        judge([[1.0, 2.0], [1.0, 2.0]], limit=np.nan)


@pytest.mark.parametrize("name", sorted(CLASSIFIERS))
def test_unequal_runs_are_cut_and_the_verdict_says_so(name):
    verdict = CLASSIFIERS[name]([np.arange(1, 81), np.arange(1, 101)])
    assert (verdict.n_iterations, verdict.n_left_out) == (80, 20)
