"""Patterns, EM and Gibbs sampling: the private parts of the latent class model."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from analysis.categories import CATEGORIES
from analysis.consensus import _model, _rates
from analysis.consensus._model import (
    Theta,
    climb,
    fit,
    log_posterior,
    log_probability,
    patterns_of,
    posterior,
    starts,
    step,
)
from tests.conftest import examples

# -1 no label, 0 similar, 1 dissimilar; rows are items, columns raters
MATRICES = st.integers(1, 4).flatmap(lambda r: hnp.arrays(np.int8, (12, r), elements=st.integers(-1, 1)))


def label_table(matrix, names="abcdefghij", items=None):
    rows = [
        (i if items is None else items[i], names[r], CATEGORIES[matrix[i][r]])
        for i, r in itertools.product(range(len(matrix)), range(len(matrix[0]) if len(matrix) else 0))
        if matrix[i][r] >= 0
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "category"])


def verdict_table(matrix, names=("heuristic", "same")):
    table = label_table(matrix, names)
    return table.set_axis(["item", "classifier", "verdict"], axis=1)


def theta(pi, se, sp):
    return Theta(np.array([[pi]]), np.array([se], dtype=float), np.array([sp], dtype=float))


def test_patterns_hold_every_item_once():
    patterns = patterns_of(label_table([[1, 0], [1, -1], [1, 0], [-1, -1]]), verdict_table([[1], [-1], [0], [1]]))
    assert patterns.raters == ("a", "b", "heuristic")
    assert patterns.n_reviewers == 2
    assert patterns.n.tolist() == [1, 1, 1]
    assert patterns.items.tolist() == [0, 1, 2]  # the last has a verdict but no label
    rows = patterns.positive - patterns.negative
    assert rows[patterns.of_item].tolist() == [[1, -1, 1], [1, 0, 0], [1, -1, -1]]


def test_more_raters_than_one_code_holds_keep_their_patterns_apart():
    matrix = np.random.default_rng(1).integers(-1, 2, (50, 47)).astype(np.int8)
    names = [f"r{i:02}" for i in range(47)]
    patterns = patterns_of(label_table(np.vstack([matrix, matrix]), names))
    assert sorted(patterns.n.tolist()) == [2] * 50
    assert (
        (patterns.positive - patterns.negative)[patterns.of_item[:50]] == np.where(matrix < 0, 0, 2 * matrix - 1)
    ).all()


def test_invalid_tables_are_rejected():
    labels = label_table([[1, 0]])
    with pytest.raises(ValueError, match="lacks the column verdict"):
        patterns_of(labels, pd.DataFrame({"item": [0], "classifier": ["same"]}))
    with pytest.raises(ValueError, match="'same' has two"):
        patterns_of(labels, pd.concat([verdict_table([[1]], ["same"])] * 2))
    with pytest.raises(ValueError, match="is in no stratum"):
        patterns_of(labels, strata=pd.Series({1: "x"}))
    with pytest.raises(ValueError, match="is in two strata"):
        patterns_of(labels, strata=pd.Series(["x", "y"], index=[0, 0]))


def test_the_posterior_of_one_item_by_hand():
    # odds: prior 1, a says dissimilar .9 / (1 - .8), b says similar (1 - .7) / .6; 4.5 * .5 = 2.25
    patterns = patterns_of(label_table([[1, 0]]))
    assert posterior(theta(0.5, [0.9, 0.7], [0.8, 0.6]), patterns)[0, 0] == pytest.approx(2.25 / 3.25)
    # P(1, 0) = .5 * .9 * .3 + .5 * .2 * .6
    assert np.exp(log_probability(theta(0.5, [0.9, 0.7], [0.8, 0.6]), patterns))[0, 0] == pytest.approx(0.195)


def test_the_log_posterior_is_the_sum_over_items_and_priors():
    matrix = [[1, 0, 1], [1, 1, -1], [0, 0, 0], [-1, 1, 0]]
    patterns = patterns_of(label_table([row[:2] for row in matrix]), verdict_table([row[2:] for row in matrix]))
    pi, se, sp = 0.4, np.array([0.9, 0.7, 0.6]), np.array([0.8, 0.75, 0.5])
    total = stats.beta(2, 2).logpdf(pi)
    for rates in (se, sp):
        total += stats.beta(3, 1.5).logpdf(rates[:2]).sum()
    for row in np.array(matrix):
        seen = row >= 0
        if_dissimilar = np.where(row == 1, se, 1 - se)[seen].prod()
        if_similar = np.where(row == 1, 1 - sp, sp)[seen].prod()
        total += np.log(pi * if_dissimilar + (1 - pi) * if_similar)
    constant = -stats.beta(2, 2).logpdf(0.5) + np.log(0.25) + 4 * (-stats.beta(3, 1.5).logpdf(0.5) + np.log(0.5**2.5))
    got = log_posterior(theta(pi, se, sp), patterns, patterns.n.astype(float))[0]
    assert got == pytest.approx(total + constant)


def test_a_rater_worse_than_chance_is_held_at_chance_by_the_constrained_mode():
    # a classifier: 1 of 4 dissimilar items and 1 of 4 similar ones called right; on Se + Sp = 1 the mode is 4/8
    patterns = patterns_of(label_table([[1]] * 8), verdict_table([[1], [0], [0], [0], [0], [1], [1], [1]]))
    q = np.zeros((1, len(patterns.n)))
    for item in range(4):  # the first four are dissimilar
        q[0, patterns.of_item[item]] += 1 / patterns.n[patterns.of_item[item]]
    mode = step(q, patterns, patterns.n.astype(float))
    assert (mode.se[0, 1], mode.sp[0, 1]) == pytest.approx((0.5, 0.5))
    grid = np.linspace(0.005, 0.995, 199)
    se, sp = np.meshgrid(grid, grid)
    height = np.where(se + sp >= 1, np.log(se) + 3 * np.log(1 - se) + np.log(sp) + 3 * np.log(1 - sp), -np.inf)
    best = np.unravel_index(height.argmax(), height.shape)
    assert (se[best], sp[best]) == pytest.approx((0.5, 0.5), abs=0.01)


@settings(max_examples=examples(50), deadline=None)
@given(MATRICES)
def test_every_step_of_em_raises_the_log_posterior(matrix):
    patterns = patterns_of(label_table(matrix))
    current, n = starts(patterns), patterns.n.astype(float)
    heights = []
    for _ in range(10):
        heights.append(log_posterior(current, patterns, n))
        current = step(posterior(current, patterns), patterns, n)
    # The start may violate the constraint, but the first step leads into the allowed region.
    assert (np.diff(heights[1:], axis=0) >= -1e-8).all()


@settings(max_examples=examples(40), deadline=None)
@given(MATRICES, st.randoms(use_true_random=False))
def test_the_mode_does_not_depend_on_names_or_order(matrix, random):
    order, columns = random.sample(range(12), 12), random.sample(range(matrix.shape[1]), matrix.shape[1])
    one, other = patterns_of(label_table(matrix)), patterns_of(label_table(matrix[order][:, columns], items=order))
    heights = [log_posterior(fit(p), p, p.n.astype(float))[0] for p in (one, other)]
    assert heights[0] == pytest.approx(heights[1], abs=1e-6)


@settings(max_examples=examples(50), deadline=None)
@given(MATRICES)
def test_no_rater_is_below_chance_so_that_categories_cannot_trade_places(matrix):
    patterns = patterns_of(label_table(matrix))
    mode = fit(patterns)
    drawn = _rates.draws(mode, patterns, n_sweeps=10, rng=np.random.default_rng(0))
    for rates in (mode, drawn):
        assert (rates.se + rates.sp >= 1 - 1e-6).all()
        assert ((rates.columns > 0) & (rates.columns < 1)).all()


def test_the_mode_is_higher_than_its_neighbours():
    matrix = np.random.default_rng(2).integers(0, 2, (40, 3))
    matrix[:25] = matrix[:25, :1]  # 25 items with equal labels
    patterns = patterns_of(label_table(matrix))
    n, mode = patterns.n.astype(float), fit(patterns)
    top = log_posterior(mode, patterns, n)[0]
    for j, by in itertools.product(range(7), (-1e-3, 1e-3)):
        moved = mode.columns.copy()
        moved[0, j] += by
        assert log_posterior(Theta(moved[:, :1], moved[:, 1:4], moved[:, 4:]), patterns, n)[0] < top


@pytest.mark.slow
def test_gibbs_draws_have_the_moments_of_the_exact_posterior():
    # Exact: draws from the prior, weighted by the likelihood.
    patterns = patterns_of(label_table([[1, 1], [1, 0], [0, 0], [0, 0], [1, 1], [0, 1], [1, -1]]))
    rng = np.random.default_rng(3)
    n_draws = 200_000
    se, sp = rng.beta(3, 1.5, (2, n_draws, 2))
    keep = (se + sp > 1).all(axis=1)
    prior = Theta(rng.beta(2, 2, (n_draws, 1))[keep], se[keep], sp[keep])
    likelihood = np.exp((patterns.n * log_probability(prior, patterns)).sum(axis=1))
    mean = np.average(prior.columns, axis=0, weights=likelihood)
    sd = np.sqrt(np.average((prior.columns - mean) ** 2, axis=0, weights=likelihood))
    drawn = _rates.draws(fit(patterns), patterns, n_sweeps=2500, rng=rng).columns
    assert drawn.mean(axis=0) == pytest.approx(mean, abs=0.012)
    assert drawn.std(axis=0) == pytest.approx(sd, abs=0.012)


def test_a_tail_too_thin_for_floats_gives_its_limit():
    edge = _rates._beta_above(np.array([2.0]), np.array([5e4]), np.array([0.9]), np.random.default_rng(0))
    assert edge.tolist() == [0.9]


def test_strata_have_their_own_prevalence():
    matrix = [[1, 1, 1]] * 8 + [[0, 0, 0]] * 2 + [[1, 1, 1]] * 2 + [[0, 0, 0]] * 8
    patterns = patterns_of(label_table(matrix), strata=pd.Series(["x"] * 10 + ["y"] * 10))
    mode = fit(patterns)
    assert patterns.strata == ("x", "y")
    assert mode.pi[0] == pytest.approx([9 / 12, 3 / 12], abs=0.01)  # Beta(2, 2) adds one item of either category


def test_em_ends_at_a_fixed_point():
    patterns = patterns_of(label_table([[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 1, 0]]))
    mode = fit(patterns)
    again = climb(mode, patterns, patterns.n.astype(float))
    assert again.columns == pytest.approx(mode.columns, abs=1e-6)
    assert _model.rater_priors(patterns)[0].tolist() == [3.0, 3.0, 3.0]


@settings(max_examples=examples(60), deadline=None)
@given(MATRICES)
def test_draws_follow_their_generator_alone(matrix):
    patterns = patterns_of(label_table(matrix))
    one, other = (
        _rates.draws(fit(patterns), patterns, n_sweeps=10, rng=np.random.default_rng(7)).columns for _ in range(2)
    )
    assert (one == other).all()
