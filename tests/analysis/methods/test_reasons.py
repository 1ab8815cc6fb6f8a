"""Reasons for verdicts: level, pattern, distribution, warm-up, consequence."""

import numpy as np
import pytest

from analysis.methods.reasons import reasons
from analysis.runs.benchmark import Benchmark, PerRun
from analysis.runs.dissimilarity import MEASURES, TOO_SHORT
from analysis.runs.power import runs_needed, smallest_difference
from analysis.runs.samples import kruskal
from analysis.runs.spread import max_spread
from analysis.statistics.intervals import Estimate
from tests.sentences import says


def noise(*levels, n=200, seed=3):
    rng = np.random.default_rng(seed)
    return Benchmark.of_series("b", tuple(level + rng.normal(0, 0.01, n) for level in levels))


TEN = noise(*np.linspace(1, 1.1, 10))


def test_each_number_is_that_of_its_own_method():
    found = reasons(TEN)
    values = [run.mean() for run in TEN.values]
    assert found.max_spread == max_spread(values)
    assert found.epsilon2.value == kruskal(TEN.values).epsilon2
    pairs = [(x, y) for i, x in enumerate(TEN.values) for y in TEN.values[i + 1 :]]
    assert found.pattern.value == pytest.approx(np.mean([MEASURES["m1"].function(x, y) for x, y in pairs]))
    assert found.distribution.value == pytest.approx(np.mean([MEASURES["m5"].function(x, y) for x, y in pairs]))
    assert found.smallest_difference == smallest_difference(values)
    assert found.runs_needed == runs_needed(values, 0.05)
    assert (found.n_runs, found.n_iterations) == (10, 200)


def test_merged_iterations_nearly_always_differ_for_runs_at_different_levels():
    assert reasons(TEN).type_1_error.value > 0.5
    # the same iterations assigned to runs at random: no difference to find
    dealt = np.random.default_rng(1).permutation(np.concatenate(noise(*[1.0] * 10).values)).reshape(10, 200)
    assert reasons(Benchmark.of_series("b", tuple(dealt))).type_1_error.value < 0.1


def test_a_slow_start_is_a_warmup_where_less_or_more_is_better():
    steady = noise(1.0, 1.0, 1.0)
    slow = [np.concatenate([np.full(20, 1.3), run[20:]]) for run in steady.values]
    found = reasons(Benchmark.of_series("b", tuple(slow)))
    # first tenth 1.3, the rest around 1
    assert found.warmup.value == pytest.approx(1.3, abs=0.01)
    assert any("29.9 % slower" in one for one in found.sentences)
    assert any(one.startswith("Warm-up: not visible") for one in reasons(steady).sentences)
    ramp = tuple(np.concatenate([np.full(20, 50.0), np.full(180, 100.0)]) for _ in range(3))
    found = reasons(Benchmark.of_series("b", ramp, unit="ops/s", better="higher"))
    assert any("50 % slower" in one for one in found.sentences)


def test_a_warmup_that_is_left_out_no_longer_counts_in_level_and_pattern():
    cold = tuple(np.concatenate([[50.0 * k], run]) for k, run in enumerate(noise(1.0, 1.0, 1.0).values))
    warm = Benchmark.of_series("b", tuple(run[1:] for run in cold))
    found, expected = reasons(Benchmark.of_series("b", cold), per_run=PerRun(1)), reasons(warm)
    for name in ("max_spread", "epsilon2", "pattern", "distribution", "type_1_error", "smallest_difference"):
        assert getattr(found, name) == getattr(expected, name)


def test_the_sentences_say_how_many_runs_are_missing():
    wide = noise(1.0, 1.2, 0.9, 1.1)
    needed = int(reasons(wide).runs_needed.value)
    assert needed > 4
    assert any(says(s, f"5 %, {needed} runs") for s in reasons(wide).sentences)
    assert any("for 5 %, 2 runs are enough." in s for s in reasons(noise(1.0, 1.0001, 0.9999, 1.0)).sentences)


@pytest.mark.parametrize(
    "benchmark",
    [
        Benchmark.of_series("one run", (np.arange(1.0, 61),)),
        Benchmark.of_series("one value each", (np.ones(1), np.full(1, 2.0))),
        Benchmark.of_series("one value", (np.ones(1),)),
        Benchmark.of_series("all equal", (np.ones(60),) * 3),
        Benchmark.of_series("all zero", (np.zeros(60),) * 3),
        Benchmark.of_series("around zero", tuple(np.random.default_rng(k).normal(size=60) for k in range(3))),
        Benchmark.of_series("unequal", (np.arange(1.0, 200), np.arange(1.0, 61))),
        Benchmark.of_series("huge", tuple(1e300 * np.random.default_rng(k).uniform(1, 2, 60) for k in range(3))),
        Benchmark.of_series("tiny", tuple(1e-300 * np.random.default_rng(k).uniform(1, 2, 60) for k in range(3))),
    ],
    ids=lambda benchmark: benchmark.name,
)
def test_for_any_runs_every_number_is_defined_or_has_a_reason(benchmark):
    found = reasons(benchmark)
    for one in vars(found).values():
        if isinstance(one, Estimate):
            assert (one.value is not None and np.isfinite(one.value)) or one.reason
    assert len(found.sentences) >= 3
    assert not any("nan" in one or "None" in one for one in found.sentences)


def test_short_runs_have_no_pattern_and_unequal_runs_are_judged_on_their_common_length():
    found = reasons(noise(1.0, 1.1, 1.2, n=5))
    assert found.pattern.reason == found.distribution.reason == TOO_SHORT
    assert found.max_spread.value is not None
    assert "20 iterations" in found.warmup.reason
    unequal = Benchmark.of_series("b", (np.arange(1.0, 200), np.arange(1.0, 61)))
    (sentence,) = [text for text in reasons(unequal).sentences if text.startswith("Length: ")]
    assert "60 to 199 iterations" in sentence and "the first 60 iterations of each run" in sentence
    equal = Benchmark.of_series("b", (np.arange(1.0, 61), np.arange(1.0, 61)))
    assert not any(text.startswith("Length: ") for text in reasons(equal).sentences)
