"""Reliability of intervals and tests: coverage, type I error, sensitivity, compared with single draws."""

from collections import Counter
from itertools import product
from typing import cast

import numpy as np
import pytest
from scipy import stats

from analysis.methods.trust import (
    AGGREGATIONS,
    INTERVALS,
    MANN_WHITNEY,
    MERGED,
    ONE_SAMPLE,
    RUN_MEANS,
    TESTS,
    WELCH,
    Coverage,
    Curve,
    Rate,
    coverage,
    sensitivity,
    smallest_slowdown,
    type_1_error,
)
from analysis.methods.trust._pairs import SignificanceTests, _critical, pairs_of, shares, smallest_distance
from analysis.methods.trust._population import all_draws, n_multisets, population, some_draws
from analysis.methods.trust._rates import ONE_RUN, ONE_VALUE
from analysis.runs.benchmark import PerRun
from analysis.runs.samples import NO_VARIATION, rank_sum, welch
from analysis.statistics.intervals import Estimate
from tests.conftest import some_slow

EXACT = (MERGED, RUN_MEANS)


def rng(seed=1):
    return np.random.default_rng(seed)


def made(lengths, seed=1, between=1.0, decimals=6):
    """Generate runs with different levels; few decimals give ties."""
    random = rng(seed)
    return [np.round(10 + between * random.normal() + random.normal(size=n), decimals) for n in lengths]


def drawn(runs, which, aggregation):
    if aggregation == MERGED:
        return np.concatenate([runs[run] for run in which])
    return np.array([np.mean(runs[run]) for run in which])


def half_of(sample, level=0.95):
    sample = np.asarray(sample)
    if sample.min() == sample.max():
        return 0.0
    return stats.t.ppf((1 + level) / 2, len(sample) - 1) * stats.sem(sample)


def holds(sample, target, level=0.95):
    return sample.min() < sample.max() and abs(sample.mean() - target) <= half_of(sample, level)


def rejects(test, a, b, alpha=0.05):
    if test == WELCH:
        return welch(a, b).p <= alpha
    if test == MANN_WHITNEY:
        return rank_sum(a, b).p <= alpha
    return abs(np.mean(a) - np.mean(b)) > half_of(a) + half_of(b)


def rejected(test, runs, n, aggregation=MERGED, *, alpha=0.05, factor=1.0):
    """Return the share of all pairs of draws of n runs that the test finds different, each pair computed alone.

    The order of the runs in a draw changes nothing, so that equal draws are computed once and counted.
    """
    draws = Counter(tuple(sorted(which)) for which in product(range(len(runs)), repeat=n))
    samples = [(drawn(runs, which, aggregation), count) for which, count in draws.items()]
    found = sum(i * j * rejects(test, a, factor * b, alpha) for (a, i), (b, j) in product(samples, samples))
    return found / draws.total() ** 2


# -- draws


def test_draws_are_all_multisets_with_their_chance_or_random_ones_of_equal_weight():
    # two of 3 runs are drawn in 9 equally likely ways, which are 6 multisets
    draws = all_draws(3, 2)
    found = {tuple(counts): weight for counts, weight in zip(draws.counts, draws.weights, strict=True)}
    assert found == pytest.approx(
        {(2, 0, 0): 1 / 9, (0, 2, 0): 1 / 9, (0, 0, 2): 1 / 9, (1, 1, 0): 2 / 9, (1, 0, 1): 2 / 9, (0, 1, 1): 2 / 9}
    )
    assert len(all_draws(10, 5).weights) == n_multisets(10, 5) == 2002
    draws = some_draws(4, 3, 50, rng())
    assert draws.counts.shape == (50, 4) and (draws.counts.sum(axis=1) == 3).all()
    assert draws.weights.tolist() == [1 / 50] * 50 and not draws.exact


# -- coverage


def test_coverage_worked_by_hand():
    # two of the run means 1.5 and 3.5 are drawn: twice the same (chance 1/2) gives width 0, which misses the mean;
    # one of each has mean 2.5, which is the mean of all runs
    found = coverage([[1, 2], [3, 4]], 2, aggregations=[RUN_MEANS], rng=rng())
    assert found == {RUN_MEANS: Coverage(0.5, None, 3, True, None, zero_width=0.5)}


@pytest.mark.parametrize("lengths", [(4, 4, 4, 4), (2, 3, 7, 1)])
@pytest.mark.parametrize("decimals", [6, 0])
@pytest.mark.parametrize("aggregation", EXACT)
def test_coverage_agrees_with_single_draws(lengths, decimals, aggregation):
    runs = made(lengths, decimals=decimals)
    samples = [drawn(runs, which, aggregation) for which in product(range(4), repeat=3)]
    target = drawn(runs, range(4), aggregation).mean()
    found = coverage(runs, 3, aggregations=[aggregation], level=0.9, rng=rng())[aggregation]
    assert found.value == pytest.approx(np.mean([holds(sample, target, 0.9) for sample in samples]))
    assert found.zero_width == pytest.approx(np.mean([sample.min() == sample.max() for sample in samples]))
    assert found.exact and found.se is None


def test_many_multisets_are_drawn_at_random_and_say_so():
    runs = made([5] * 10, between=0.3)
    exact = coverage(runs, 7, aggregations=EXACT, rng=rng())
    assert exact[MERGED].n == n_multisets(10, 7) == 11440
    found = coverage(runs, 8, aggregations=EXACT, resamples=900, rng=rng())
    for rate in found.values():
        assert not rate.exact and rate.n == 900
        assert rate.se == pytest.approx(np.sqrt(rate.value * (1 - rate.value) / 900))


@pytest.mark.slow
def test_coverage_of_one_sample_is_that_of_one_random_iteration_a_run():
    runs, random = made([3, 8, 20], between=2.0), rng(9)
    target = np.mean([run.mean() for run in runs])
    held = np.mean(
        [holds(np.array([random.choice(runs[run]) for run in random.choice(3, 4)]), target) for _ in range(1500)]
    )
    found = coverage(runs, 4, aggregations=[ONE_SAMPLE], resamples=6000, rng=rng())[ONE_SAMPLE]
    assert not found.exact and found.n == 6000
    assert abs(found.value - held) < 4 * np.hypot(found.se, np.sqrt(held * (1 - held) / 1500))


def test_merging_runs_that_differ_makes_intervals_too_narrow_and_raises_false_alarms():
    runs = made([500] * 10, between=0.0)
    found = coverage(runs, 10, resamples=4000, rng=rng())
    assert found[MERGED].value == pytest.approx(0.95, abs=0.05)
    assert found[ONE_SAMPLE].value == pytest.approx(0.95, abs=0.02)
    found = coverage(made([500] * 10, between=1.0), 5, rng=rng())
    assert found[MERGED].value < 0.3 < 0.85 < found[RUN_MEANS].value
    found = type_1_error(made([500] * 10, between=1.0), 5, rng=rng())
    assert found[MERGED][WELCH].value > 0.5
    assert found[RUN_MEANS][WELCH].value < 0.06
    # intervals that do not overlap are far stricter than the test
    assert found[RUN_MEANS][INTERVALS].value < found[RUN_MEANS][WELCH].value / 2


def test_warm_up_and_aggregate_are_those_of_the_sampling():
    runs = made([9] * 4)
    spoilt = [np.concatenate([[1e6], run]) for run in runs]
    per_run = PerRun(warmup=1, aggregate="median")
    medians = [[np.median(run)] for run in runs]
    assert coverage(spoilt, 3, per_run=per_run, aggregations=EXACT, rng=rng()) == {
        MERGED: coverage(runs, 3, aggregations=EXACT, rng=rng())[MERGED],
        RUN_MEANS: coverage(medians, 3, aggregations=EXACT, rng=rng())[RUN_MEANS],
    }


# -- type I error


def test_type_1_error_worked_by_hand():
    # pairs of two draws out of the run means 1.5, 3.5: (1.5, 1.5) against (3.5, 3.5), chance 1/16 each way, differ
    # without any variance: p = 0; with different means on a side p is large, and the intervals overlap: 3.5 is inside
    found = type_1_error([[1, 2], [3, 4]], 2, aggregations=[RUN_MEANS], rng=rng())[RUN_MEANS]
    assert found[WELCH] == Rate(0.125, None, 9, True)
    assert found[INTERVALS] == Rate(0.125, None, 9, True)
    assert found[MANN_WHITNEY].value == 0.0


@pytest.mark.parametrize("lengths", some_slow([(4, 4, 4), (2, 2, 5), (1, 1, 1)], {(4, 4, 4)}))
@pytest.mark.parametrize("decimals", some_slow([6, 0], {6}))
@pytest.mark.parametrize("aggregation", EXACT)
def test_type_1_error_agrees_with_single_pairs_of_draws(lengths, decimals, aggregation):
    runs = made(lengths, decimals=decimals)
    found = type_1_error(runs, 3, alpha=0.1, aggregations=[aggregation], rng=rng())[aggregation]
    for test in TESTS:
        assert found[test].value == pytest.approx(rejected(test, runs, 3, aggregation, alpha=0.1)), test


def test_unclear_pairs_of_ranks_are_decided_as_single_tests_decide_them():
    # more than 50 values on each side, with many ties: the bounds on ties leave pairs to decide
    runs = made([30] * 4, between=0.4, decimals=0)
    found = type_1_error(runs, 2, aggregations=[MERGED], tests=[MANN_WHITNEY], rng=rng())[MERGED][MANN_WHITNEY]
    assert found.value == pytest.approx(rejected(MANN_WHITNEY, runs, 2))
    # two values with very different counts: ties decide
    random = rng(2)
    runs = [(random.random(40) < share).astype(float) for share in (0.05, 0.15, 0.3)]
    found = type_1_error(runs, 2, aggregations=[MERGED], tests=[MANN_WHITNEY], rng=rng())[MERGED][MANN_WHITNEY]
    assert found.value == pytest.approx(rejected(MANN_WHITNEY, runs, 2))


@pytest.mark.slow
def test_one_sample_agrees_with_single_tests():
    runs, n_pairs, random = made([6, 7, 9, 11], between=1.0, decimals=0), 700, rng(5)
    found = type_1_error(runs, 5, aggregations=[ONE_SAMPLE], resamples=8000, rng=rng())[ONE_SAMPLE]
    for test in TESTS:
        shares_found = []
        for _ in range(n_pairs):
            a, b = ([random.choice(runs[run]) for run in random.choice(4, 5)] for _ in range(2))
            shares_found.append(rejects(test, a, b))
        se = np.hypot(np.std(shares_found) / np.sqrt(n_pairs), found[test].se)
        assert not found[test].exact and found[test].n == 8000
        assert abs(found[test].value - np.mean(shares_found)) < 4 * max(se, 1e-3), test


def test_many_multisets_are_paired_at_random():
    runs = made([4] * 30)
    found = type_1_error(runs, 5, aggregations=EXACT, resamples=500, rng=rng())
    assert all(not rate.exact and rate.n == 500 for tests in found.values() for rate in tests.values())


def test_random_pairs_are_decided_as_all_pairs_are():
    runs = made([40] * 6, between=0.5, decimals=1)
    question = SignificanceTests(TESTS, 0.05, 0.95)
    for aggregation in EXACT:
        drawn_from = population(runs, aggregation, PerRun())
        exact = next(shares(drawn_from, pairs_of(6, 3, 1, rng()), [1.0], question))
        some = next(shares(drawn_from, pairs_of(6, 3, 20_000, rng(), every=False), [1.0], question))
        for test in TESTS:
            assert abs(exact[test] - some[test]) < 4 * np.sqrt(0.25 / 20_000)


@pytest.mark.parametrize(("n", "alpha"), [(2, 0.2), (3, 0.05), (5, 0.001), (12, 0.05), (15_000, 0.001)])
def test_critical_values_between_the_degrees_of_freedom_are_those_of_t(n, alpha):
    ends = (1 / (2 * (n - 1)), 1 / (n - 1))
    low, high, logarithm = _critical(ends, alpha)
    df = 1 / np.linspace(*ends, 777)
    exact = stats.t.isf(alpha / 2, df) ** 2
    assert np.exp(logarithm(1 / df)) == pytest.approx(exact, rel=1e-11)
    assert low <= exact.min() and high >= exact.max()


def test_critical_values_of_very_unequal_draws_are_those_of_t():
    ends = (1e-5, 1.0)
    inverse_df = np.geomspace(*ends, 333)
    assert np.exp(_critical(ends, 0.05)[2](inverse_df)) == pytest.approx(
        stats.t.isf(0.025, 1 / inverse_df) ** 2, rel=1e-9
    )


@pytest.mark.parametrize(("n_a", "n_b", "alpha"), [(5, 5, 0.05), (4, 7, 0.3), (1, 3, 0.9), (12, 12, 0.05)])
def test_the_smallest_distance_of_u_is_where_the_exact_p_reaches_alpha(n_a, n_b, alpha):
    # one sample for every U from its centre upwards
    reached = []
    for u in range(n_a * n_b // 2 + n_a * n_b % 2, n_a * n_b + 1):
        b = np.arange(n_b) * 100.0
        a = np.array([100.0 * min(n_b, max(0, u - i * n_b)) - 50 + i for i in range(n_a)])
        test = rank_sum(a, b)
        assert test.statistic == u
        reached += [u - n_a * n_b / 2] if test.p <= alpha else []
    assert smallest_distance(n_a, n_b, alpha) == (min(reached) if reached else float("inf"))


# -- undefined results


def test_one_run_or_a_mean_of_zero_says_nothing():
    for found in coverage([[1, 2, 3]], 5, rng=rng()).values():
        assert found.value is None and found.reason == ONE_RUN
    for tests in type_1_error([[1, 2, 3]], 5, rng=rng()).values():
        assert {rate.value for rate in tests.values()} == {None}
    for curve in sensitivity([[1, 2, 3]], 5, rng=rng()):
        assert curve.power == () and smallest_slowdown(curve).reason == ONE_RUN
    for curve in sensitivity([[-1, 1], [-2, 2]], 2, rng=rng()):
        assert "relative change" in curve.reason
    found = coverage(made([5] * 4), 1, rng=rng())
    assert [found[name].reason for name in AGGREGATIONS] == [None, *[ONE_VALUE] * 2]
    assert coverage([[1], [2]], 1, rng=rng())[MERGED].reason == ONE_VALUE


def test_without_any_variation_p_is_one_and_the_interval_is_the_mean():
    runs = [[7.0, 7.0]] * 3
    for found in coverage(runs, 2, rng=rng()).values():
        assert (found.value, found.zero_width, found.reason) == (1.0, 1.0, NO_VARIATION)
    for tests in type_1_error(runs, 2, rng=rng()).values():
        assert set(tests.values()) == {Rate(0.0, n=1, reason=NO_VARIATION)}
    for curve in sensitivity(runs, 2, gammas=(1, 1.1), tests=[WELCH, INTERVALS], rng=rng()):
        assert curve.power == (0.0, 1.0) and curve.reason == NO_VARIATION
        assert smallest_slowdown(curve) == Estimate(1.1, reason=NO_VARIATION)


def test_equal_run_means_have_no_variation_and_constant_runs_differ_without_variance():
    found = coverage([[1, 3], [2, 2], [0, 4]], 2, aggregations=EXACT, rng=rng())
    assert found[RUN_MEANS].reason == NO_VARIATION and found[MERGED].reason is None
    # twice the constant run: width 0, although its value is the mean of all
    assert found[MERGED].zero_width == pytest.approx(1 / 9)
    assert found[MERGED].value == pytest.approx(8 / 9)
    # drawn twice each: 2 of 16 pairs are one constant against the other
    found = type_1_error([[0.1] * 3, [0.3] * 3], 2, aggregations=[MERGED], rng=rng())[MERGED]
    assert found[WELCH].value == pytest.approx(rejected(WELCH, [[0.1] * 3, [0.3] * 3], 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: coverage([], 2, rng=rng()), "runs is empty"),
        (lambda: coverage([[1], []], 2, rng=rng()), "run 1 "),
        (lambda: coverage([[1, np.nan]], 2, rng=rng()), "run 0 "),
        (lambda: coverage([[1]], 0, rng=rng()), "n_runs.*got 0"),
        (lambda: coverage([[1]], cast("int", 1.5), rng=rng()), "n_runs"),
        (lambda: coverage([[1]], 2, level=1, rng=rng()), "level must be within"),
        (lambda: coverage([[1]], 2, resamples=0, rng=rng()), "resamples"),
        (lambda: coverage([[1]], 2, aggregations=["all"], rng=rng()), "aggregations: 'all'"),
        (lambda: coverage([[1], [2]], 2, per_run=PerRun(warmup=1), rng=rng()), "all of them warm-up"),
        (lambda: type_1_error([[1]], 2, alpha=0, rng=rng()), "alpha must be within"),
        (lambda: type_1_error([[1]], 2, tests=["t"], rng=rng()), "tests: 't'"),
        (lambda: sensitivity([[1]], 2, gammas=(), rng=rng()), "gammas must be"),
        (lambda: sensitivity([[1]], 2, gammas=(0.9, 1), rng=rng()), "gammas must be"),
        (lambda: sensitivity([[1]], 2, gammas=(1, 1), rng=rng()), "gammas must be"),
        (lambda: sensitivity([[1]], 2, better="more", rng=rng()), "better: 'more'"),
        (lambda: smallest_slowdown(Curve(MERGED, WELCH, (1,), (1,), (0,), 1, True, 0.05), 0), "power must be within"),
    ],
)
def test_impossible_arguments_are_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# -- real measurements


@pytest.mark.slow
def test_power_agrees_with_single_pairs_of_draws():
    runs = made([3, 4, 5], decimals=1)
    curves = sensitivity(runs, 2, gammas=(1, 1.25), aggregations=EXACT, exact=True, rng=rng())
    assert len(curves) == 6
    for curve in curves:
        for gamma, power in zip(curve.gammas, curve.power, strict=True):
            single = rejected(curve.test, runs, 2, curve.aggregation, factor=gamma)
            assert power == pytest.approx(single), (curve.aggregation, curve.test, gamma)
        assert curve.exact and curve.se == (0.0, 0.0)


def test_values_that_become_equal_are_ties_and_a_rate_is_slower_when_it_is_divided():
    # 4 times 1.25 is 5, so integers are equal
    runs = [np.array([4.0, 5.0] * 20), np.array([4.0, 4.0, 8.0, 10.0] * 10)]
    curve = sensitivity(runs, 2, gammas=(1.25,), aggregations=[MERGED], tests=[MANN_WHITNEY], exact=True, rng=rng())[0]
    assert curve.power[0] == pytest.approx(rejected(MANN_WHITNEY, runs, 2, factor=1.25))
    runs = made([6] * 4, between=0.3)
    options = {"aggregations": [RUN_MEANS], "tests": [WELCH], "exact": True, "rng": rng()}
    lower = sensitivity(runs, 3, gammas=(1, 1.25), **options)[0]
    higher = sensitivity(runs, 3, gammas=(1, 1.25), better="higher", **options)[0]
    assert higher.power == pytest.approx((lower.power[0], rejected(WELCH, runs, 3, RUN_MEANS, factor=1 / 1.25)))


def test_one_sample_sees_a_large_slowdown_only():
    runs = made([50] * 10, between=0.1)
    curves = {(c.aggregation, c.test): c for c in sensitivity(runs, 5, gammas=(1, 1.1, 2), resamples=500, rng=rng())}
    assert set(curves) == set(product(AGGREGATIONS, TESTS))
    for test in TESTS:
        power = curves[ONE_SAMPLE, test].power
        assert power[0] < 0.1 and power[0] < power[1] < power[2] and power[2] > 0.9


def test_the_smallest_slowdown_is_the_first_from_which_on_the_power_stays():
    gammas = (1, 1.01, 1.02, 1.03, 1.04)
    curve = Curve(RUN_MEANS, WELCH, gammas, (0.05, 0.85, 0.7, 0.8, 1.0), (0.0,) * 5, 9, True, 0.05)
    assert smallest_slowdown(curve) == Estimate(1.03)
    assert smallest_slowdown(curve, 0.95) == Estimate(1.04)
    never = Curve(RUN_MEANS, WELCH, gammas, (0.05, 0.1, 0.2, 0.3, 0.4), (0.0,) * 5, 9, True, 0.05)
    assert smallest_slowdown(never) == Estimate(None, reason="not detected up to a factor of 1.04")
    curve = Curve(MERGED, WELCH, (1, 1.01), (0.9, 0.95), (0.0, 0.0), 9, True, 0.05)
    reason = "90 % of the pairs show a difference without any change"
    assert smallest_slowdown(curve) == Estimate(1.01, reason=reason)
