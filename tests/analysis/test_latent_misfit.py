import itertools

import numpy as np
import pandas as pd
import pytest

from analysis.consensus import _misfit, misfit
from analysis.consensus._model import Theta, fit
from analysis.consensus._patterns import patterns_of
from analysis.simulation import Design, Difficulty, Rater, SharedError, simulate
from tests.analysis.test_latent_model import label_table, verdict_table
from tests.sentences import says

REVIEWERS = [Rater("r1", 0.95, 0.9), Rater("r2", 0.8, 0.7), Rater("r3", 0.7, 0.85), Rater("r4", 0.6, 0.6)]
CLASSIFIERS = [Rater("heuristic", 0.92, 0.45), Rater("same", 0.3, 0.85)]


def study(seed, **keywords):
    return simulate(Design(586, 3), REVIEWERS, CLASSIFIERS, 0.55, rng=np.random.default_rng(seed), **keywords)


def test_the_statistic_of_one_pair_by_hand():
    # P(1,1) = .5 * .81 + .5 * .04 = .425, P(1,0) = P(0,1) = .125, P(0,0) = .325; ten items
    patterns = patterns_of(label_table([[1, 1]] * 5 + [[1, 0]] * 2 + [[0, 1]] + [[0, 0]] * 2))
    theta = Theta(np.array([[0.5]]), np.array([[0.9, 0.9]]), np.array([[0.8, 0.8]]))
    x2 = _misfit.pair_x2(theta, patterns, patterns.n[None, :].astype(float))[0]
    assert x2 == pytest.approx(0.75**2 / 4.25 + 0.75**2 / 1.25 + 0.25**2 / 1.25 + 1.25**2 / 3.25)


def test_the_statistic_of_strata_and_missing_labels_equals_a_loop_over_items():
    rng = np.random.default_rng(5)
    matrix = rng.integers(-1, 2, (60, 4))
    matrix[:, 0] = rng.integers(0, 2, 60)
    strata = pd.Series(np.where(np.arange(60) < 25, "x", "y"))
    patterns = patterns_of(label_table(matrix), strata=strata)
    theta = fit(patterns)
    x2 = 0.0
    for a, b in itertools.combinations(range(4), 2):
        for first, second in itertools.product((0, 1), (0, 1)):
            both = (matrix[:, a] >= 0) & (matrix[:, b] >= 0)
            observed = ((matrix[:, a] == first) & (matrix[:, b] == second)).sum()
            pi = np.where(np.arange(60) < 25, *theta.pi[0])[both]
            if_dissimilar = [abs(1 - x - theta.se[0, r]) for r, x in ((a, first), (b, second))]
            if_similar = [abs(x - theta.sp[0, r]) for r, x in ((a, first), (b, second))]
            expected = (pi * np.prod(if_dissimilar) + (1 - pi) * np.prod(if_similar)).sum()
            x2 += (observed - expected) ** 2 / expected
    assert _misfit.pair_x2(theta, patterns, patterns.n[None, :].astype(float))[0] == pytest.approx(x2)


def test_independent_errors_fit():
    made = study(1)
    test = misfit(made.labels, made.verdicts, rng=np.random.default_rng(1))
    assert test.p > 0.05
    assert test.n_draws == 299
    assert says(test.words, "no sign", "share errors", "differ in difficulty")
    assert test.power > 0.9


def test_errors_shared_by_some_raters_do_not_fit():
    made = study(1, shared_error=SharedError(0.2, ("r3", "r4", "heuristic")))
    test = misfit(made.labels, made.verdicts, n_draws=99, rng=np.random.default_rng(1))
    assert test.p == 1 / 100
    assert test.words.startswith("raters share errors or items differ in difficulty")


def test_items_of_very_uneven_difficulty_do_not_fit():
    rejected = []
    for seed in range(8):
        made = study(seed, item_difficulty=Difficulty(spread=3.0))
        rejected.append(misfit(made.labels, made.verdicts, n_draws=99, rng=np.random.default_rng(seed)).p < 0.05)
    assert sum(rejected) >= 6


def test_p_is_about_even_where_errors_are_independent():
    p = [misfit(study(seed).labels, n_draws=49, rng=np.random.default_rng(seed)).p for seed in range(25)]
    assert 0.35 < np.mean(p) < 0.65
    assert np.mean(np.array(p) < 0.1) <= 0.25


def test_data_sets_are_drawn_in_parts_that_fit_memory(monkeypatch):
    made = study(2)
    monkeypatch.setattr(_misfit, "_MAX_CELLS", 600)  # one at a time
    test = misfit(made.labels, n_draws=19, rng=np.random.default_rng(1))
    assert 0 < test.p <= 1


@pytest.mark.parametrize(
    ("labels", "verdicts", "words"),
    [
        ([], None, "cannot be tested: no item has two labels"),
        ([[1], [0]], None, "cannot be tested: no item has two labels"),
        ([[1, -1], [-1, 0]], None, "cannot be tested: no item has two labels"),
        ([[0, 0, 0, 0]] * 9, None, "cannot be tested: only one category was used"),
        ([[1, 0, 1], [0, 0, 1]], None, "cannot be tested: the model always fits"),
        ([[1, 0], [0, 0]], [[1], [0]], "cannot be tested: the model always fits"),
    ],
)
def test_what_cannot_be_tested_says_so(labels, verdicts, words):
    given_verdicts = None if verdicts is None else verdict_table(verdicts)
    test = misfit(label_table(labels), given_verdicts, rng=np.random.default_rng(1))
    assert (test.p, test.x2, test.n_draws) == (None, None, 0)
    assert test.words.startswith(words)


@pytest.mark.parametrize("settings", [{"alpha": 0.0}, {"n_draws": 18}])
def test_settings_out_of_range_are_rejected(settings):
    with pytest.raises(ValueError, match="alpha must be within"):
        misfit(label_table([[1, 0]]), rng=np.random.default_rng(1), **settings)
