"""Models of dependent errors."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from analysis.raters.consensus._dependence import (
    DIFFICULTY,
    HARD,
    Family,
    _log_p,
    _log_prior,
    _packed,
    _strength,
    alternatives,
)
from analysis.raters.consensus._model import all_cells, fit, patterns_of
from tests.analysis.raters.simulated import Rater, Simulated, SimulatedDesign, simulate

PEOPLE = (Rater("r1", 0.9, 0.85), Rater("r2", 0.8, 0.75), Rater("r3", 0.75, 0.85), Rater("r4", 0.7, 0.7))
CLASSIFIERS = (Rater("c1", 0.9, 0.9), Rater("c2", 0.6, 0.8))
COPIED = 0.95


@cache
def copying(n_reviewers=3):
    """Simulate a study with three labels per item, in which r2 copies 95 % of the labels of r1."""
    rng = np.random.default_rng(1)
    study = simulate(SimulatedDesign(586, 3), PEOPLE[:n_reviewers], CLASSIFIERS, 0.5, rng=rng)
    labels = study.labels
    of_first = labels[labels["rater"] == "r1"].set_index("item")["category"]
    takes = (labels["rater"] == "r2") & labels["item"].isin(of_first.index) & (rng.random(len(labels)) < COPIED)
    taken = of_first.reindex(labels.loc[takes, "item"]).to_numpy()
    category = labels["category"].where(~takes, pd.Series(taken, index=labels.index[takes]))
    return Simulated(labels.assign(category=category), study.verdicts, study.truth)


def alternatives_of(labels):
    patterns = patterns_of(labels)
    return alternatives(Family("reviewers", patterns, fit(patterns)))


@pytest.mark.parametrize("which", [None, DIFFICULTY, HARD, (0, 1), (1, 2)])
@pytest.mark.parametrize("strength", [-3.0, 2.0])
def test_the_patterns_of_a_combination_of_raters_have_probability_one(which, strength):
    patterns = patterns_of(copying().labels)
    cells, _ = all_cells(np.ones((1, 3), dtype=bool), np.zeros(1, dtype=np.int64), patterns)
    x = np.r_[_packed(fit(patterns)), strength]
    assert np.exp(_log_p(cells, which)(x)[0]).sum() == pytest.approx(1)


@pytest.mark.parametrize("which", [None, DIFFICULTY, HARD, (0, 1), (2, 0)])
@pytest.mark.parametrize("strength", [-3.0, 1.5])
def test_slopes_are_the_derivatives_of_the_log_probabilities(which, strength):
    study = copying(4)
    labels = study.labels.assign(item=study.labels["item"].where(study.labels.index % 7 > 0, "i0")).drop_duplicates(
        ["item", "rater"]
    )
    strata = pd.Series({item: len(item) % 2 for item in labels["item"].unique()})
    patterns = patterns_of(labels, study.verdicts, strata)
    weight = np.random.default_rng(2).random(len(patterns.n))
    rates = _packed(fit(patterns))
    x = rates if which is None else np.r_[rates, strength]
    log_p = _log_p(patterns, which)
    differences = [weight @ (log_p(x + step)[0] - log_p(x - step)[0]) / 2e-5 for step in 1e-5 * np.eye(len(x))]
    assert log_p(x)[1](weight) == pytest.approx(np.array(differences), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("which", [DIFFICULTY, HARD, (0, 1)])
def test_the_slope_of_the_prior_is_its_derivative(which):
    patterns = patterns_of(copying(4).labels, copying(4).verdicts)
    log_prior = _log_prior(patterns, which)
    x = np.linspace(-1.5, 2.0, patterns.n_parameters + 1)  # includes raters with Se + Sp < 1
    steps = 1e-5 * np.eye(len(x))
    differences = [(log_prior(x + step)[0] - log_prior(x - step)[0]) / 2e-5 for step in steps]
    assert log_prior(x)[1] == pytest.approx(np.array(differences), rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("which", [DIFFICULTY, HARD, (0, 1)])
def test_without_strength_a_model_is_the_independent_one(which):
    patterns = patterns_of(copying().labels)
    x = _packed(fit(patterns))
    (dependent, _), (independent, _) = _log_p(patterns, which)(np.r_[x, -30.0]), _log_p(patterns, None)(x)
    assert dependent == pytest.approx(independent, abs=1e-6)


@pytest.mark.parametrize("which", [DIFFICULTY, HARD])
def test_models_of_difficulty_keep_the_mean_rates_of_each_rater(which):
    # one rater alone: P(dissimilar) = pi se + (1 - pi)(1 - sp), however much the items differ
    labels = pd.DataFrame({"item": list("abc"), "rater": "ada", "category": ["similar", "dissimilar", "similar"]})
    patterns = patterns_of(labels)
    x = np.array([0.4, 1.3, 0.7, np.log(1.5)])
    pi, se, sp = 1 / (1 + np.exp(-x[:3]))
    p = dict(zip(patterns.positive[:, 0], np.exp(_log_p(patterns, which)(x)[0]), strict=True))
    assert p[1.0] == pytest.approx(pi * se + (1 - pi) * (1 - sp), abs=1e-4)


def test_hard_items_are_those_of_the_simulation():
    # 30 % of the items are harder by 2 on the log-odds scale: both raters right on 0.7 x .88^2 + 0.3 x .50^2 of them
    odds = np.exp(2.0)
    easy, hard = odds / (1 + odds), 0.5
    labels = pd.DataFrame({"item": ["a", "a"], "rater": ["ada", "ben"], "category": "dissimilar"})
    mean = 0.7 * easy + 0.3 * hard
    x = np.array([30.0, *[np.log(mean / (1 - mean))] * 2, 0.0, 0.0, np.log(0.6 / 0.4)])
    assert _strength(x[-1:], HARD) == pytest.approx(0.3)
    assert np.exp(_log_p(patterns_of(labels), HARD)(x)[0])[0] == pytest.approx(0.7 * easy**2 + 0.3 * hard**2)


def test_a_copying_reviewer_is_found_by_name_among_all_pairs():
    models, n_pairs = alternatives_of(copying(4).labels)
    best = min(models, key=lambda model: model.p)
    assert (best.raters, len(models), n_pairs) == (("r1", "r2"), 8, 6)
    assert best.p < 0.001 / 8


def test_three_reviewers_rest_on_independence():
    models, _ = alternatives_of(copying().labels)
    assert {model.p for model in models} == {None}
