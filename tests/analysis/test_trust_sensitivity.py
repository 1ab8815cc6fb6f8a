"""The slowdown that a test detects."""

from itertools import product

import numpy as np
import pytest

from analysis.intervals import Estimate
from analysis.trust import (
    AGGREGATIONS,
    MANN_WHITNEY,
    MERGED,
    ONE_SAMPLE,
    RUN_MEANS,
    TESTS,
    WELCH,
    Curve,
    sensitivity,
    smallest_slowdown,
)
from analysis.trust._population import n_multisets
from tests.analysis.made_draws import EXACT, drawn, made, rejects, rng


@pytest.mark.slow
def test_power_agrees_with_single_pairs_of_draws():
    runs = made([3, 4, 5], decimals=1)
    curves = sensitivity(runs, 2, gammas=(1, 1.25), aggregations=EXACT, exact=True, rng=rng())
    assert len(curves) == 6
    for curve in curves:
        samples = [drawn(runs, which, curve.aggregation) for which in product(range(3), repeat=2)]
        for gamma, power in zip(curve.gammas, curve.power, strict=True):
            pairs = [rejects(curve.test, a, gamma * b) for a, b in product(samples, samples)]
            assert power == pytest.approx(np.mean(pairs)), (curve.aggregation, curve.test, gamma)
        assert curve.exact and curve.se == (0.0, 0.0)


def test_values_that_become_equal_by_the_factor_are_ties():
    # 4 times 1.25 is 5, so integers are equal
    runs = [np.array([4.0, 5.0] * 20), np.array([4.0, 4.0, 8.0, 10.0] * 10)]
    curve = sensitivity(runs, 2, gammas=(1.25,), aggregations=[MERGED], tests=[MANN_WHITNEY], exact=True, rng=rng())[0]
    samples = [drawn(runs, which, MERGED) for which in product(range(2), repeat=2)]
    assert curve.power[0] == pytest.approx(
        np.mean([rejects(MANN_WHITNEY, a, 1.25 * b) for a, b in product(samples, samples)])
    )


@pytest.mark.slow
def test_power_of_random_pairs_is_within_four_standard_errors():
    runs = made([6] * 5, between=0.3)
    exact = sensitivity(runs, 3, gammas=(1, 1.02, 1.1), aggregations=EXACT, exact=True, rng=rng())
    some = sensitivity(runs, 3, gammas=(1, 1.02, 1.1), aggregations=EXACT, resamples=2000, rng=rng())
    for one, other in zip(exact, some, strict=True):
        assert (one.n, one.exact, other.n, other.exact) == (n_multisets(5, 3) ** 2, True, 2000, False)
        assert np.abs(np.subtract(one.power, other.power)).max() < 4 * np.sqrt(0.25 / 2000)


def test_a_rate_is_slower_when_it_is_divided():
    runs = made([6] * 4, between=0.3)
    options = {"aggregations": [RUN_MEANS], "tests": [WELCH], "exact": True, "rng": rng()}
    lower = sensitivity(runs, 3, gammas=(1, 1.25), **options)[0]
    higher = sensitivity(runs, 3, gammas=(1, 1.25), better="higher", **options)[0]
    samples = [drawn(runs, which, RUN_MEANS) for which in product(range(4), repeat=3)]
    share = np.mean([rejects(WELCH, a, b / 1.25) for a, b in product(samples, samples)])
    assert higher.power == pytest.approx((lower.power[0], share))


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


def test_no_slowdown_at_all_is_never_the_smallest_one():
    curve = Curve(MERGED, WELCH, (1, 1.01), (0.9, 0.95), (0.0, 0.0), 9, True, 0.05)
    reason = "90 % of the pairs show a difference without any change"
    assert smallest_slowdown(curve) == Estimate(1.01, reason=reason)
