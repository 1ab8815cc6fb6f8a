"""Preparation of runs: warm-up left out, cut to the shortest run, prepared once for all measures and classifiers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.runs.classifiers import CLASSIFIERS
from analysis.runs.dissimilarity import MEASURES
from analysis.runs.runs import MeasurementError, Runs
from tests.analysis.raters.strategies import benchmarks

DROPS = st.one_of(st.integers(0, 49), st.floats(0, 0.9))
HEURISTICS = ["heuristic", "heuristic-printed"]
# all ways to compute a verdict
JUDGES = {
    **CLASSIFIERS,
    **{f"lazy {name}": lambda runs, name=name, **drop: CLASSIFIERS[name](runs, only_verdict=True, **drop)
       for name in HEURISTICS},
}  # fmt: skip


def sliced(runs, drop):
    return [run[int(drop) if drop >= 1 else int(drop * len(run) + 1e-9) :] for run in runs]


def without_drop(verdict):
    return replace(verdict, parameters={**verdict.parameters, "drop": 0})


@given(benchmarks(), DROPS, st.sampled_from(sorted(MEASURES)))
def test_every_measure_leaves_the_warmup_out(runs, drop, name):
    x, y = sliced(runs[:2], drop)
    assert MEASURES[name].function(*runs[:2], drop=drop) == MEASURES[name].function(x, y)


@given(benchmarks(), st.one_of(st.integers(0, 10), st.floats(0, 0.1)), st.sampled_from(sorted(JUDGES)))
def test_every_classifier_leaves_the_warmup_out(runs, drop, name):
    runs = np.hstack([runs, runs[:, ::-1]])
    verdict = JUDGES[name](runs, drop=drop)
    assert verdict.parameters["drop"] == drop
    assert without_drop(verdict) == without_drop(JUDGES[name](sliced(runs, drop)))


@pytest.mark.parametrize(
    ("runs", "drop", "values"),
    [
        *((np.arange(200.0).reshape(2, 100), nothing, np.arange(200.0).reshape(2, 100)) for nothing in (0, 0.0, 0.009)),
        *(([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], one, [[2, 3], [5, 6]]) for one in (1, 1.0)),  # one iteration, not all
        *(([np.arange(n)] * 2, 0.25, [np.arange(n - left, n)] * 2)
          for n, left in ((50, 38), (51, 39), (52, 39), (3, 3), (1, 1))),  # a share rounds down
        # each run loses its own share before all are cut
        ([np.arange(100), np.arange(205)], 0.1, [np.arange(10, 100), np.arange(20, 110)]),
    ],
)  # fmt: skip
def test_a_number_or_a_share_of_iterations_is_dropped(runs, drop, values):
    assert Runs(runs, drop).values.tolist() == np.array(values).tolist()


def test_cutting_counts_no_warmup_and_a_share_is_what_a_person_computes():
    assert Runs([np.arange(100), np.arange(205)], 0.1).n_left_out == 185 - 90
    assert Runs([np.arange(100), np.arange(100)], 30).n_left_out == 0
    assert Runs(np.ones((2, 3000)), 0.29).n_dropped == [870, 870]
    assert Runs(np.ones((2, 4999)), np.nextafter(1, 0)).n == 1  # no share below 1 leaves nothing


@pytest.mark.parametrize("drop", [-1, -0.5, 2.5, np.nan, np.inf, -np.inf])
def test_an_invalid_drop_is_rejected(drop):
    words = f"^drop must be a number of iterations or a share below 1, got {drop}$"
    with pytest.raises(ValueError, match=words):
        Runs(np.ones((2, 60)), drop)


@pytest.mark.parametrize("drop", [60, 61, 1e6])
def test_a_warmup_of_a_whole_run_is_rejected(drop):
    with pytest.raises(ValueError, match=f"^run 1 has 60 iterations, all of them warm-up with drop = {drop}$"):
        Runs([np.ones(10**6 + 1), np.ones(60)], drop)


def test_measurements_that_cannot_be_used_are_counted_with_the_warmup_which_may_be_negative():
    rows = np.ones((2, 60))
    rows[1, 17] = np.nan
    with pytest.raises(MeasurementError, match=r"^run 1, iteration 17: nan is not a finite measurement$"):
        Runs(rows, 10)
    runs = [np.ones(60), np.ones(100)]
    runs[1][57] = -2
    with pytest.raises(MeasurementError, match=r"^run 1, iteration 57: -2.0 is negative$"):
        CLASSIFIERS["same"](runs, drop=0.1)
    rows = np.ones((3, 60))
    rows[1, 9] = -1
    assert CLASSIFIERS["same"](rows, drop=10).verdict == "similar"


def test_prepared_runs_are_taken_as_they_are_and_cannot_be_changed():
    runs = Runs(np.ones((2, 60)), 5)
    assert Runs.of(runs, 5) is runs
    assert Runs.of(runs, 5.0) is runs
    runs = Runs(np.random.default_rng(1).random((3, 60)))
    pairs = CLASSIFIERS["same"](runs).pairs["cosine"]
    for values in (runs.values, pairs):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 0
    rows = np.ones((2, 60))
    runs = Runs(rows)
    rows[0] = 7
    assert (runs.values == 1).all()


@pytest.mark.parametrize("name", sorted(CLASSIFIERS))
def test_prepared_runs_are_rejected_with_another_warmup(name):
    with pytest.raises(ValueError, match=r"^the runs were prepared with drop = 5, not 0$"):
        CLASSIFIERS[name](Runs(np.ones((2, 60)), 5))


@given(benchmarks(), st.permutations(sorted(JUDGES)))
def test_classifiers_that_share_runs_judge_as_each_would_alone(rows, names):
    shared = Runs(rows)
    assert [JUDGES[name](shared) for name in names] == [JUDGES[name](rows) for name in names]


def test_of_very_many_runs_a_sample_is_compared():
    values = np.arange(2400.0).reshape(1200, 2)
    runs = Runs(values)
    assert runs.k == 1000 and set(map(tuple, runs.values)) < set(map(tuple, values))
    assert (np.diff(runs.values[:, 0]) > 0).all()  # in their order
    assert (Runs(values).values == runs.values).all()
    assert Runs(values[:1000]).k == 1000
