"""Weighted coefficients of ordinal categories, and the bands of Landis and Koch with their probabilities."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from hypothesis.extra import numpy as hnp
from statsmodels.stats.inter_rater import cohens_kappa

from analysis.agreement import (
    band,
    band_membership,
    bootstrap_coefficient,
    brennan_prediger,
    category_weights,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
)
from analysis.agreement._coefficients import NO_PAIR
from analysis.intervals import Estimate
from tests.analysis.strategies import count_tables

WEIGHTED = [percent_agreement, fleiss_kappa, gwet_ac2, brennan_prediger, krippendorff_alpha]
square_tables = st.integers(2, 5).flatmap(lambda q: hnp.arrays(np.int64, (q, q), elements=st.integers(0, 20)))


def test_weights_by_hand():
    assert category_weights("linear", 4)[0].tolist() == pytest.approx([1, 2 / 3, 1 / 3, 0])
    assert category_weights("quadratic", 4)[0].tolist() == pytest.approx([1, 8 / 9, 5 / 9, 0])
    assert category_weights(None, 2).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("cubic", "got 'cubic'"),
        ([[1, 0], [0, 1]], r"shape \(3, 3\).*\(2, 2\)"),
        ([[1, 0.5, 0], [0.2, 1, 0], [0, 0, 1]], "symmetric"),
        (np.eye(3) / 2, "1 on the diagonal"),
        (np.eye(3) * 2 - 1, r"within \[0, 1\]"),
        (np.full((3, 3), np.nan), "symmetric"),
    ],
)
def test_invalid_weights_are_rejected(weights, message):
    with pytest.raises(ValueError, match=message):
        fleiss_kappa([[2, 0, 0], [0, 1, 1]], weights=weights)


def test_weighted_kappa_of_a_table_worked_by_hand():
    # linear weights 1, 1/2, 0; 10 items: po = (6 + 3/2 + 0) / 10; margins (.5, .3, .2) and (.4, .4, .2)
    table = [[4, 0, 1], [0, 2, 1], [0, 2, 0]]
    po = (4 + 2 + 0 + 0.5 * 3) / 10
    pe = 0.5 * 0.4 + 0.3 * 0.4 + 0.2 * 0.2 + 0.5 * (0.5 * 0.4 + 0.3 * (0.4 + 0.2) + 0.2 * 0.4)
    assert cohen_kappa(table, weights="linear").value == pytest.approx((po - pe) / (1 - pe))


def test_ac2_of_a_table_worked_by_hand():
    # pa = (1 + 0 + 1 + 3/4) / 4; p = (3/8, 1/8, 1/2); sum of weights 6, so pe = 6/6 * sum p (1 - p) = 19/32
    ratings = [["low", "low"], ["low", "high"], ["high", "high"], ["medium", "high"]]
    pa, pe = 11 / 16, 19 / 32
    kappa = gwet_ac2(ratings, ["low", "medium", "high"], weights="quadratic")
    assert kappa.value == pytest.approx((pa - pe) / (1 - pe))
    even = brennan_prediger(ratings, ["low", "medium", "high"], weights="quadratic")
    assert even.value == pytest.approx((pa - 6 / 9) / (1 - 6 / 9))


def test_weighted_kappa_of_cohens_published_table():
    # Cohen 1968, table 1 (200 cases in three categories), weights of disagreement 0, 1, 3 / 0, 6 / 0, scaled by 6
    table = np.array([[0.44, 0.07, 0.09], [0.05, 0.20, 0.05], [0.01, 0.03, 0.06]]) * 200
    disagreement = np.array([[0, 1, 3], [1, 0, 6], [3, 6, 0]])
    assert cohen_kappa(np.rint(table)).value == pytest.approx(0.492, abs=0.0005)
    assert cohen_kappa(np.rint(table), weights=1 - disagreement / 6).value == pytest.approx(0.348, abs=0.0005)


@given(square_tables, st.sampled_from(["linear", "quadratic"]))
def test_weighted_kappa_and_its_error_are_those_of_statsmodels(table, weights):
    ours = cohen_kappa(table, weights=weights)
    assume(ours.se is not None)
    theirs = cohens_kappa(table, wt=weights)
    assert (ours.value, ours.se) == pytest.approx((theirs.kappa, theirs.std_kappa))


@given(count_tables(n_categories=4))
def test_alpha_with_quadratic_weights_is_that_of_interval_data(counts):
    shared = counts[counts.sum(axis=1) >= 2]
    assume((shared.sum(axis=0) > 0).sum() > 1)
    oracle = krippendorff.alpha(value_counts=counts, value_domain=[1, 2, 3, 4], level_of_measurement="interval")
    assert krippendorff_alpha(counts, weights="quadratic").value == pytest.approx(oracle)


@given(square_tables)
def test_quadratically_weighted_kappa_is_twice_the_covariance_over_the_whole_spread(table):
    # Fleiss, Cohen 1973: 2 cov / (var + var + (difference of means)^2)
    kappa = cohen_kappa(table, weights="quadratic")
    assume(kappa.value is not None)
    x, y = (np.repeat(np.indices(table.shape)[axis].ravel(), table.ravel()) for axis in (0, 1))
    spread = x.var() + y.var() + (x.mean() - y.mean()) ** 2
    assume(spread > 0)
    assert kappa.value == pytest.approx(2 * np.cov(x, y, bias=True)[0, 1] / spread, abs=1e-9)


@given(count_tables(n_categories=3))
def test_identity_weights_change_nothing(counts):
    for coefficient in WEIGHTED[1:]:
        plain = gwet_ac1(counts) if coefficient is gwet_ac2 else coefficient(counts)
        assert coefficient(counts, weights=np.eye(3)) == plain


@given(count_tables(n_categories=3), st.sampled_from(WEIGHTED), st.sampled_from(["linear", "quadratic"]))
def test_an_ordinal_scale_can_be_read_from_either_end(counts, coefficient, weights):
    forward, backward = (coefficient(table, weights=weights) for table in (counts, counts[:, ::-1]))
    assert forward.reason == backward.reason
    if forward.value is not None:
        assert (forward.value, forward.se) == pytest.approx((backward.value, backward.se))


@pytest.mark.parametrize("coefficient", WEIGHTED)
def test_the_error_of_weighted_coefficients_is_that_of_the_bootstrap(coefficient):
    rng = np.random.default_rng(4)
    centre = rng.integers(0, 5, 300)
    ratings = np.clip(centre[:, None] + rng.integers(-1, 2, (300, 3)), 0, 4)
    counts = (ratings[:, :, None] == np.arange(5)).sum(axis=1)
    plain = coefficient(counts, weights="quadratic")
    drawn = bootstrap_coefficient(coefficient, counts, weights="quadratic", rng=rng, n_draws=2000)
    assert drawn.value == pytest.approx(plain.value)
    assert drawn.se == pytest.approx(plain.se, rel=0.08)


def test_the_bootstrap_of_ac2_is_linear_by_default():
    counts = [[2, 0, 0]] * 10 + [[0, 1, 1]] * 5 + [[1, 0, 1]] * 5
    drawn = bootstrap_coefficient(gwet_ac2, counts, rng=np.random.default_rng(1), n_draws=200)
    assert drawn.value == pytest.approx(gwet_ac2(counts).value)


def test_the_probabilities_of_the_bands_by_the_normal_distribution():
    # kappa .62, se .1: P(k > .8) = P(z > 1.8) = .0359, P(.6 < k <= .8) = P(-.2 < z <= 1.8) = .5433
    membership = band_membership(Estimate(0.62, se=0.1))
    assert membership.band[:2] == ("almost perfect", "substantial")
    assert membership.probability[:2] == pytest.approx((0.0359, 0.5433), abs=1e-4)
    assert (membership.low[0], membership.high[0], membership.low[-1], membership.high[-1]) == (0.8, 1.0, -1.0, 0.0)
    assert membership.benchmark == "moderate"  # .0359 + .5433 < .95 <= .0359 + .5433 + .4068
    assert band_membership(Estimate(0.62, se=0.1), wanted=0.5).benchmark == "substantial"


@given(st.floats(-1, 1), st.floats(1e-3, 2))
def test_the_bands_share_all_probability_and_a_sharp_estimate_falls_in_its_band(value, se):
    membership = band_membership(Estimate(value, se=se))
    assert sum(membership.probability) == pytest.approx(1)
    assert membership.cumulative[-1] == pytest.approx(1)
    sharp = band_membership(Estimate(value, se=1e-9))
    if min(abs(value - end) for end in (-1, 0, 0.2, 0.4, 0.6, 0.8, 1)) > 1e-6:
        assert sharp.benchmark == band(value)


def test_bands_without_a_standard_error_have_no_probability_but_a_reason():
    assert band_membership(Estimate(None, reason=NO_PAIR)).reason == NO_PAIR
    assert band_membership(Estimate(1.0)).reason == "no standard error"
    with pytest.raises(ValueError, match=r"wanted.*got 95"):
        band_membership(Estimate(0.5, se=0.1), wanted=95)
