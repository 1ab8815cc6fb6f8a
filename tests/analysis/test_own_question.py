from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from analysis.agreement import fleiss_kappa
from analysis.document import to_markdown
from analysis.own_question import document, summarise
from analysis.own_question._truth import design_rank, true_categories

NAMES = ("slower", "same", "faster", "unstable")
NO_VERDICTS = pd.DataFrame({"item": [], "classifier": [], "verdict": []}, dtype=object)


def simulated(n_items, errors, prevalence, *, per_item=None, seed=1):
    """First labels of raters with these error matrices, and the true category of each item."""
    rng = np.random.default_rng(seed)
    k, raters = len(prevalence), range(len(errors))
    truth = rng.choice(k, n_items, p=prevalence)
    sets = list(combinations(raters, per_item or len(errors)))
    rows = [
        (f"i{i}", f"r{rater}", NAMES[rng.choice(k, p=errors[rater][truth[i]])])
        for i in range(n_items)
        for rater in sets[i % len(sets)]
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "category"]), truth


def errors_of(*accuracies, k=4):
    """Error matrices of raters who are right this often and otherwise choose the next category more often."""
    matrices = []
    for accuracy in accuracies:
        matrix = np.full((k, k), (1 - accuracy) / (2 * (k - 1)))
        matrix[np.arange(k), (np.arange(k) + 1) % k] += (1 - accuracy) / 2
        matrix[np.arange(k), np.arange(k)] = accuracy
        matrices.append(matrix / matrix.sum(axis=1, keepdims=True))
    return np.array(matrices)


def test_prevalence_and_error_matrices_of_four_categories_are_found_back():
    errors, prevalence = errors_of(0.9, 0.8, 0.7, 0.85), np.array([0.4, 0.3, 0.2, 0.1])
    labels, _ = simulated(6000, errors, prevalence)
    found = true_categories(labels, NAMES)
    assert found.identified
    assert np.abs(np.array(found.prevalence) - prevalence).max() < 0.02
    assert max(np.abs(np.array(row.rows) - errors[i]).max() for i, row in enumerate(found.errors)) < 0.06


@pytest.mark.parametrize(
    ("k", "n_raters", "per_item", "rank", "n_parameters"),
    # two categories, by hand: two raters give 3 probabilities for 5 parameters, three raters 7 for 7; of four raters in
    # pairs, 8 of 9 (see `analysis.consensus.identifiability`)
    [(2, 2, 2, 3, 5), (2, 3, 3, 7, 7), (2, 4, 2, 8, 9), (3, 3, 3, 20, 20), (4, 2, 2, 15, 27), (4, 3, 3, 39, 39)],
)
def test_the_rank_of_a_design(k, n_raters, per_item, rank, n_parameters):
    assert n_parameters == k - 1 + n_raters * k * (k - 1)
    sets = list(combinations(range(n_raters), per_item))
    errors = errors_of(*np.linspace(0.7, 0.9, n_raters), k=k)
    assert design_rank(sets, n_raters, np.full(k, 1 / k), errors) == rank


def test_two_labels_per_item_do_not_identify_the_model_and_the_report_says_so():
    labels, _ = simulated(200, errors_of(0.9, 0.8, 0.7, 0.85), np.full(4, 0.25), per_item=2)
    found = true_categories(labels, NAMES)
    assert (found.identified, found.errors) == (False, ())
    assert found.words.endswith("Three or more reviewers per item would help.")


def report_of(labels, verdicts=NO_VERDICTS, **more):
    answers = labels.rename(columns={"rater": "reviewer", "category": "label"})
    return summarise(answers, verdicts, {name: f"It is {name}." for name in NAMES}, **more)


def test_ordered_categories_have_weighted_coefficients_beside_the_others():
    labels, _ = simulated(80, errors_of(0.9, 0.8, 0.7), np.full(4, 0.25))
    plain, ordered = report_of(labels), report_of(labels, ordered=True)
    assert plain.coefficients == ordered.coefficients[:4]
    assert [(row.name, row.weights) for row in ordered.coefficients[4:]] == [
        (name, weights)
        for weights in ("linear", "quadratic")
        for name in ("Fleiss' kappa", "Krippendorff's alpha", "Gwet's AC2")
    ]
    assert ordered.coefficients[4].value == fleiss_kappa(labels, NAMES, weights="linear")


def test_a_tie_is_undecided_and_an_unused_category_is_named():
    rows = [("a", "r1", "slower"), ("a", "r2", "same"), ("b", "r1", "same"), ("b", "r2", "same"), ("c", "r1", "faster")]
    report = report_of(pd.DataFrame(rows, columns=["item", "rater", "category"]))
    assert (report.n_agreed, report.n_split, report.n_items) == (1, 1, 3)
    assert {row.category: row.n_majority for row in report.categories} == {
        "slower": 0, "same": 1, "faster": 0, "unstable": 0,
    }  # fmt: skip
    page = to_markdown(document(report))
    assert "No reviewer used unstable, so nothing can be said about this category." in page
    assert "Agreed items (at least two first labels, all equal): 1 of 3. Split items: 1." in page


def test_rules_are_ranked_against_the_majority_rule_with_corrected_tests():
    labels, truth = simulated(120, errors_of(0.97, 0.96, 0.95), np.array([0.4, 0.3, 0.2, 0.1]))
    rng = np.random.default_rng(2)
    good = [NAMES[t] if rng.random() < 0.85 else NAMES[rng.integers(4)] for t in truth]
    poor = [NAMES[rng.integers(4)] for _ in truth]
    verdicts = pd.DataFrame(
        [
            (f"i{i}", name, verdict)
            for name, given in (("good", good), ("poor", poor))
            for i, verdict in enumerate(given)
        ],
        columns=["item", "classifier", "verdict"],
    )
    report = report_of(labels, verdicts)
    by_name = {row.classifier: row for row in report.classifiers}
    assert (by_name["good"].verdict, by_name["poor"].verdict) == ("better", "cannot tell")
    assert by_name["good"].p_holm >= by_name["good"].result.baseline.mcnemar.p_mid
    assert report.comparisons[0].difference.value > 0.3
    assert "good is more often right than the majority rule" in to_markdown(document(report))


@pytest.mark.parametrize("labels", [[], [("a", "r1", "slower")]], ids=["none", "one"])
def test_without_two_labels_of_an_item_every_number_has_a_reason(labels):
    report = report_of(pd.DataFrame(labels, columns=["item", "rater", "category"], dtype=object))
    assert report.percent.reason == "no item has two labels"
    assert "Agreement is undefined" in to_markdown(document(report))
