"""Coefficients of 3 and 5 categories on random tables, against formulas written out here and `krippendorff`.

The formulas are those of Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 4, as irrCAC computes them, in
loops over items and categories.
"""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.agreement import (
    brennan_prediger,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    leniency,
    rank_test,
)
from analysis.evaluation import evaluate

WEIGHTS = {None: lambda d: float(d == 0), "linear": lambda d: 1 - abs(d), "quadratic": lambda d: 1 - d**2}


def label_table(rows):
    """One row per item, one column per rater."""
    cells = [(f"i{i}", f"r{j}", label) for i, row in enumerate(rows) for j, label in enumerate(row)]
    return pd.DataFrame(cells, columns=["item", "rater", "category"])


def tables(k, n_tables, seed=11):
    """Wide ratings of 20 items by 4 raters who often agree; a rating is missing with probability .15."""
    rng = np.random.default_rng([seed, k])
    for _ in range(n_tables):
        truth = rng.integers(k, size=(20, 1))
        ratings = np.where(rng.random((20, 4)) < 0.6, truth, rng.integers(k, size=(20, 4))).astype(float)
        ratings[rng.random((20, 4)) < 0.15] = np.nan
        yield ratings


def by_hand(counts, weights):
    """Return Fleiss' kappa, AC1 or AC2, and Brennan-Prediger from a count table, item by item."""
    k = counts.shape[1]
    w = [[WEIGHTS[weights]((i - j) / (k - 1)) for j in range(k)] for i in range(k)]
    used = [row for row in counts if sum(row) >= 1]
    shared = [row for row in counts if sum(row) >= 2]
    pa = 0.0
    for row in shared:
        r = sum(row)
        reached = [sum(w[i][j] * row[j] for j in range(k)) for i in range(k)]
        pa += sum(row[i] * (reached[i] - 1) for i in range(k)) / (r * (r - 1)) / len(shared)
    pi = [sum(row[j] / sum(row) for row in used) / len(used) for j in range(k)]
    total = sum(map(sum, w))
    chance = {
        "fleiss": sum(w[i][j] * pi[i] * pi[j] for i in range(k) for j in range(k)),
        "gwet": total / (k * (k - 1)) * sum(p * (1 - p) for p in pi),
        "brennan": total / k**2,
    }
    return {name: (pa - pe) / (1 - pe) for name, pe in chance.items()}


@pytest.mark.parametrize("n_tables", [10, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("weights", list(WEIGHTS), ids=str)
def test_random_tables_have_the_values_of_the_formulas(k, weights, n_tables):
    level = {None: "nominal", "linear": None, "quadratic": "interval"}[weights]
    names, largest = tuple(range(k)), 0.0
    for ratings in tables(k, n_tables):
        counts = np.array([[(row == name).sum() for name in names] for row in ratings])
        expected = by_hand(counts, weights)
        of_weights = {} if weights is None else {"weights": weights}
        gwet = gwet_ac1 if weights is None else gwet_ac2
        found = {
            "fleiss": fleiss_kappa(counts, **of_weights), "gwet": gwet(counts, **of_weights),
            "brennan": brennan_prediger(counts, **of_weights),
        }  # fmt: skip
        differences = [abs(found[name].value - expected[name]) for name in found]
        if level:
            alpha = krippendorff.alpha(ratings.T, level_of_measurement=level, value_domain=list(names))
            differences.append(abs(krippendorff_alpha(counts, **of_weights).value - alpha))
        largest = max(largest, *differences)
    assert largest < 1e-12


@pytest.mark.parametrize("k", [3, 5])
def test_the_rank_test_of_complete_labels_without_ties_is_friedmans(k):
    rng = np.random.default_rng(k)
    rows = [rng.permutation(k) for _ in range(12)]
    labels = label_table([[f"c{place}" for place in row] for row in rows])
    expected = stats.friedmanchisquare(*np.array(rows).T)
    found = rank_test(labels, tuple(f"c{place}" for place in range(k)))
    assert (found.chi2, found.p, found.df) == (
        pytest.approx(expected.statistic), pytest.approx(expected.pvalue), k - 1,
    )  # fmt: skip


def test_the_rank_test_of_two_categories_is_the_score_test_of_leniency():
    # rater a is never stricter than another rater, so the test of leniency is the score test (Cochran's Q)
    rows = [("no", "yes", "yes"), ("no", "no", "yes"), ("no", "yes", "no"), ("no", "no", "no"), ("no", "yes", "yes")]
    labels = label_table(rows)
    found, expected = rank_test(labels, ("no", "yes")), leniency(labels, ("no", "yes")).overall
    assert expected.test == "score"
    assert (found.chi2, found.df, found.p) == (pytest.approx(expected.chi2), expected.df, pytest.approx(expected.p))


def test_the_correlation_of_three_categories_by_hand():
    # table ((2, 0, 0), (0, 1, 1), (1, 0, 2)): n = 7, right 5, rows (2, 2, 3), columns (3, 1, 3)
    # (7 * 5 - (6 + 2 + 9)) / sqrt((49 - 17) (49 - 19)) = 18 / sqrt(960)
    truth, verdicts = list("aabbccc"), list("aabcacc")
    found = evaluate(truth, verdicts, list("abc"), rng=np.random.default_rng(1), n_draws=0)
    assert found.mcc.value == pytest.approx(18 / 960**0.5)
    assert found.balanced_accuracy.value == pytest.approx((1 + 1 / 2 + 2 / 3) / 3)
