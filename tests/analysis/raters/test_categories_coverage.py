"""Simulated studies of four ordered categories with known truth: coverage of intervals, and error matrices found back.

The figures are in docs/results/categories.md.
"""

import numpy as np
import pandas as pd
import pytest

from analysis.raters.agreement import fleiss_kappa, gwet_ac2, percent_agreement, specific_agreement
from analysis.raters.consensus import agreed_only, true_categories
from analysis.raters.evaluation import accuracy, balanced_accuracy, confusion_matrix, mcc
from tests.analysis.report.test_report_categories import NAMES, errors_of, simulated

PREVALENCE, ERRORS = np.array([0.4, 0.3, 0.2, 0.1]), errors_of(0.9, 0.8, 0.85)
CLASSIFIER = errors_of(0.8)[0]


def verdicts_of(truth, rng):
    items = [f"i{i}" for i in range(len(truth))]
    return pd.Series([NAMES[rng.choice(4, p=CLASSIFIER[t])] for t in truth], index=items)


def statistics(n_items, seed):
    """The estimates of one study, by name."""
    labels, truth = simulated(n_items, ERRORS, PREVALENCE, seed=seed)
    rng = np.random.default_rng([seed, 1])
    agreed = agreed_only(labels, NAMES)["category"].dropna()
    judged = confusion_matrix(agreed, verdicts_of(truth, rng), categories=NAMES)
    specific = specific_agreement(labels, NAMES)
    return {
        "percent agreement": percent_agreement(labels, NAMES),
        "Fleiss' kappa": fleiss_kappa(labels, NAMES),
        "Fleiss' kappa, linear weights": fleiss_kappa(labels, NAMES, weights="linear"),
        "Gwet's AC2, linear weights": gwet_ac2(labels, NAMES, weights="linear"),
        "agreement on the most frequent category": specific[NAMES[0]],
        "agreement on the rarest category": specific[NAMES[3]],
        "accuracy of a classifier": accuracy(judged),
        "balanced accuracy of a classifier": balanced_accuracy(judged),
        "Gorodkin's correlation": mcc(judged, rng=rng, n_draws=400),
    }


def covered(n_items, n_studies, expected):
    """The share of studies whose interval contains the expected value, by name."""
    hits = {name: [] for name in expected}
    for seed in range(1, n_studies + 1):
        for name, value in statistics(n_items, seed).items():
            if value.low is not None and value.high is not None:
                hits[name].append(value.low <= expected[name] <= value.high)
    return {name: float(np.mean(of_name)) for name, of_name in hits.items()}


def matrix_error(n_items, n_studies):
    """Return the median over studies of the largest error of an entry, and the share of studies that are rejected."""
    errors, rejected = [], []
    for seed in range(n_studies):
        labels, _ = simulated(n_items, ERRORS, PREVALENCE, seed=1000 + seed)
        draws = {"n_draws": 39, "rng": np.random.default_rng(seed)} if n_items <= 300 else {}
        found = true_categories(labels, NAMES, **draws)
        errors.append(
            max(
                abs(cell.value - true)
                for row, truth in zip(found.errors, ERRORS, strict=True)
                for cells, of_category in zip(row.rows, truth, strict=True)
                for cell, true in zip(cells, of_category, strict=True)
            )
        )
        rejected.append(found.state == "rejected")
    return float(np.median(errors)), float(np.mean(rejected))


@pytest.mark.slow
def test_intervals_of_four_categories_cover_the_true_values():
    expected = {name: value.value for name, value in statistics(20_000, 0).items()}
    for n_items, least in ((60, 0.85), (200, 0.90)):
        assert min(covered(n_items, 200, expected).values()) >= least


@pytest.mark.slow
def test_error_matrices_of_four_categories_come_nearer_with_more_items():
    few, many = matrix_error(300, 20), matrix_error(3000, 5)
    assert many[0] < 0.06 < few[0]
    assert few[1] <= 0.25  # the model is right, and its test rejects 5 % of such studies


if __name__ == "__main__":
    true = {name: value.value for name, value in statistics(20_000, 0).items()}
    columns = {n: covered(n, 200, true) for n in (60, 200)}
    for name, value in true.items():
        print(f"| {name} | {value:.3f} | {columns[60][name]:.3f} | {columns[200][name]:.3f} |")
    for n_items, n_studies in ((60, 40), (300, 40), (3000, 10)):
        print(n_items, matrix_error(n_items, n_studies))
