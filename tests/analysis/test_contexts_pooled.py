"""The pooled verdict over contexts, and the test of interaction of version and context."""

import numpy as np
import pytest
from scipy import stats

from analysis.contexts import Context, document, survey
from analysis.contexts._sweep import pooled
from analysis.document import to_text
from analysis.intervals import Estimate
from analysis.samples import Test
from tests.analysis.made_sweeps import measured
from tests.conftest import examples


def made(seed, *, speedups=(1.0, 1.0, 1.0), n_runs=20, noise=0.06, name="b"):
    """Build a benchmark with one speed-up per context and as many runs of each version in each context."""
    rng = np.random.default_rng(seed)
    cells = {}
    for at, speedup in enumerate(speedups):
        level = 1 + 0.2 * at
        cells["old", f"c{at}"] = level * rng.normal(1, noise, n_runs)
        cells["new", f"c{at}"] = level / speedup * rng.normal(1, noise, n_runs)
    return measured(cells, name)


def found(*benchmarks):
    return survey(benchmarks, baseline="old", candidate="new", resamples=50)


def short(result):
    return " ".join(to_text(document(result)).partition("Speed-up over contexts")[0].split())


def test_the_pooled_speedup_weights_contexts_by_their_runs():
    # log ratios: 0 with 2 + 2 runs, log 2 with 4 + 4 runs; weights 1 and 2 of 3
    cells = {
        ("old", "a"): [1.0, 1.0], ("new", "a"): [1.0, 1.0],
        ("old", "b"): [1.9, 2.1, 1.9, 2.1], ("new", "b"): [1.0] * 4,
    }  # fmt: skip
    (sweep,) = found(measured(cells)).benchmarks
    assert sweep.pooled.speedup.value == pytest.approx(2 ** (2 / 3))
    # the variance of the mean of 1.9, 2.1, 1.9, 2.1 is 0.04 / 3 / 4, relative to 2 squared, with 3 degrees of freedom
    se = 2 / 3 * np.sqrt(0.04 / 3 / 4 / 4)
    assert sweep.pooled.test.p == pytest.approx(2 * stats.t.sf(2 / 3 * np.log(2) / se, 3))
    assert sweep.pooled.interaction.reason == "the runs of a context do not vary"


def test_a_planted_change_of_three_percent_is_found_by_the_pooled_verdict_alone():
    result = found(made(4, speedups=(1.03, 1.03, 1.03)))
    (sweep,) = result.benchmarks
    assert sweep.pooled.outcome == "faster"
    assert sweep.pooled.speedup.low > 1
    assert sweep.n_faster == 0  # no context alone shows it
    said = short(result)
    assert said.index("Pooled over these contexts: the candidate is") < said.index("No benchmark shows")


def test_an_unchanged_benchmark_does_not_depend_on_the_context():
    said = short(found(made(1)))
    assert "Pooled over these contexts: no significant difference" in said
    assert "No benchmark shows that the speed-up depends on the context" in said
    assert "decides" not in said


def test_a_change_that_depends_on_the_context_is_the_headline():
    result = found(made(2, speedups=(1.2, 0.85, 1.0)), made(3, name="same"))
    assert "For 1 of 2 benchmarks, the speed-up depends on the context" in short(result)
    assert "the context decides which version is better" in short(result)


def test_without_two_runs_in_a_context_there_is_no_pooled_verdict():
    (sweep,) = found(made(1, n_runs=1)).benchmarks
    assert sweep.pooled.speedup.reason == sweep.pooled.interaction.reason == "no context has two runs of both versions"
    assert "cannot be tested" in short(found(made(1, n_runs=1)))


@pytest.mark.parametrize(("n_runs", "k"), [(3, 3), (10, 6)])
def test_both_tests_hold_their_level(n_runs, k):
    # 1,500 sweeps: .039 and .035 with 3 runs in 3 contexts, .051 and .047 with 10 runs in 6 contexts
    n, rng, rejected = examples(2000), np.random.default_rng(5), []
    for _ in range(n):
        x, y = rng.normal(1, 0.06, (2, k, n_runs))
        contexts = [
            Context("c", {}, tuple(a), tuple(b), a.mean(), b.mean(), Estimate(a.mean() / b.mean()), Test(None))
            for a, b in zip(x, y, strict=True)
        ]
        found = pooled(contexts, 0.95)
        rejected.append((found.test.p <= 0.05, found.interaction.p <= 0.05))
    assert (np.mean(rejected, axis=0) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n)).all()


def test_a_ratio_without_a_finite_interval_says_so():
    cells = {("old", "a"): [1.0, 9.0], ("new", "a"): [1.0, 8.0], ("old", "b"): [1.0, 1.1], ("new", "b"): [1.0, 1.2]}
    (sweep,) = found(measured(cells)).benchmarks
    assert (sweep.contexts[0].speedup.low, sweep.contexts[0].speedup.reason[:18]) == (None, "no finite interval")
    assert all(context.speedup.low is None or context.speedup.low > 0 for context in sweep.contexts)
