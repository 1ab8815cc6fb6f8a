"""A report about more than two categories, and about two that have other names than similar and dissimilar."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from analysis.document import json_values, read_back
from analysis.document.figures import to_svg
from analysis.raters.agreement import fleiss_kappa
from analysis.raters.consensus import true_categories
from analysis.raters.consensus._votes import design_rank
from analysis.report import CategorySet, Provenance, Report, Resampling, _agreement, summarise, to_markdown
from analysis.report._figures import SHADES, label_strip
from tests.analysis.raters.ten_studies import STUDIES

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
    assert max(abs(share.value - p) for share, p in zip(found.prevalence, prevalence, strict=True)) < 0.02
    assert max(np.abs(values_of(row) - errors[i]).max() for i, row in enumerate(found.errors)) < 0.06


def values_of(matrix):
    return np.array([[cell.value for cell in row] for row in matrix.rows])


def test_shares_and_matrices_have_intervals_that_are_wider_if_applications_are_alike():
    errors, prevalence = errors_of(0.9, 0.8, 1.0, k=4), np.array([0.4, 0.3, 0.2, 0.1])
    labels, _ = simulated(60, errors, prevalence)
    alike = pd.concat([labels.assign(item=labels["item"] + f"-{copy}") for copy in range(4)], ignore_index=True)
    of_application = {item: item.partition("-")[0] for item in alike["item"]}
    draws = {"n_draws": 19, "rng": np.random.default_rng(1)}
    by_item, by_application = (
        true_categories(alike, NAMES, groups=groups, **draws) for groups in (None, of_application)
    )
    assert all(share.low < share.value < share.high for share in by_item.prevalence)
    width = [np.mean([share.high - share.low for share in found.prevalence]) for found in (by_item, by_application)]
    assert width[1] > 1.5 * width[0]
    cells = [cell for matrix in by_item.errors for row in matrix.rows for cell in row]
    assert min(cell.high - cell.low for cell in cells) > 0.001
    assert "one-sided: alike in every draw" in {cell.reason for cell in cells}
    assert true_categories(alike, NAMES).prevalence[0].reason == "no draws: no interval"


@pytest.mark.parametrize(
    ("k", "n_raters", "per_item", "rank", "n_parameters"),
    # two categories, by hand: two raters give 3 probabilities for 5 parameters, three raters 7 for 7; of four raters in
    # pairs, 8 of 9 (see `analysis.raters.consensus.identifiability`)
    [(2, 2, 2, 3, 5), (2, 3, 3, 7, 7), (2, 4, 2, 8, 9), (3, 3, 3, 20, 20), (4, 2, 2, 15, 27), (4, 3, 3, 39, 39)],
)
def test_the_rank_of_a_design(k, n_raters, per_item, rank, n_parameters):
    assert n_parameters == k - 1 + n_raters * k * (k - 1)
    sets = list(combinations(range(n_raters), per_item))
    errors = errors_of(*np.linspace(0.7, 0.9, n_raters), k=k)
    assert design_rank(sets, n_raters, np.full(k, 1 / k), errors) == rank


def test_two_labels_per_item_do_not_identify_the_model():
    labels, _ = simulated(60, errors_of(0.9, 0.8, 0.7, 0.85), np.full(4, 0.25), per_item=2)
    found = true_categories(labels, NAMES)
    assert (found.identified, found.errors) == (False, ())
    assert found.words.endswith("Three or more reviewers per item would help.")


def test_labels_that_one_reviewer_copied_contradict_the_model():
    labels, _ = simulated(120, errors_of(0.8, 0.75, 0.7), np.full(4, 0.25), seed=4)
    draws = {"n_draws": 19, "rng": np.random.default_rng(1)}
    fitting = true_categories(labels, NAMES, **draws)
    copied = labels[labels["rater"] == "r0"].assign(rater="r3")
    copied.loc[copied.index[::10], "category"] = "same"  # a tenth is not copied, and always the same
    both = true_categories(pd.concat([labels, copied], ignore_index=True), NAMES, **draws)
    assert (fitting.state, both.state, both.p) == ("not contradicted", "rejected", 1 / 20)


def report_of(labels, verdicts=NO_VERDICTS, *, ordered=False, positive=None, **more):
    answers = labels.rename(columns={"rater": "reviewer", "category": "label"})
    meanings = {name: f"It is {name}." for name in NAMES}
    return summarise(answers, verdicts, categories=CategorySet(NAMES, positive, ordered, meanings), **more)


def test_ordered_categories_have_weighted_coefficients_beside_the_others():
    labels, _ = simulated(80, errors_of(0.9, 0.8, 0.7), np.full(4, 0.25))
    plain, ordered = report_of(labels), report_of(labels, ordered=True)
    assert plain.agreement == ordered.agreement
    assert plain.by_category.weighted == ()
    assert [(row.name, row.weights) for row in ordered.by_category.weighted] == [
        (name, weights)
        for weights in ("linear", "quadratic")
        for name in ("Fleiss' kappa", "Krippendorff's alpha", "Gwet's AC2", "Brennan-Prediger")
    ]
    assert ordered.by_category.weighted[0].value == fleiss_kappa(labels, NAMES, weights="linear")


def test_a_tie_is_undecided_and_an_unused_category_is_named():
    rows = [("a", "r1", "slower"), ("a", "r2", "same"), ("b", "r1", "same"), ("b", "r2", "same"), ("c", "r1", "faster")]
    report = report_of(pd.DataFrame(rows, columns=["item", "rater", "category"]))
    assert (report.consensus.agreed, report.consensus.split, report.consensus.n_items) == (1, 1, 3)
    assert {row.category: row.n_majority for row in report.categories} == {
        "slower": 0, "same": 1, "faster": 0, "unstable": 0,
    }  # fmt: skip
    page = to_markdown(report)
    assert "No reviewer used unstable, so nothing can be said about this category." in page
    assert "Items: 3, of which 1 agreed (0 slower, 1 same, 0 faster, 0 unstable), 1 split" in page


def judged(n_items=120, seed=2):
    """Labels, and the verdicts of a good and of a poor classifier."""
    labels, truth = simulated(n_items, errors_of(0.97, 0.96, 0.95), np.array([0.4, 0.3, 0.2, 0.1]))
    rng = np.random.default_rng(seed)
    good = [NAMES[t] if rng.random() < 0.85 else NAMES[rng.integers(4)] for t in truth]
    poor = [NAMES[rng.integers(4)] for _ in truth]
    rows = [
        (f"i{i}", name, verdict) for name, given in (("good", good), ("poor", poor)) for i, verdict in enumerate(given)
    ]
    return labels, pd.DataFrame(rows, columns=["item", "classifier", "verdict"])


def test_rules_are_ranked_against_the_majority_rule_with_corrected_tests():
    report = report_of(*judged())
    good, poor = (report.classifiers[name] for name in ("good", "poor"))
    assert (good.majority_rule.verdict, poor.majority_rule.verdict) == ("better", "cannot tell")
    assert good.majority_rule.p_holm >= good.majority_rule.mcnemar.p_mid
    assert report.comparisons[0].overall.difference.value > 0.3
    assert (good.positive, report.comparisons[0].auc) == (None, None)
    assert "agrees more often; poor" in to_markdown(report)


def test_a_positive_category_has_rates_against_all_others_beside_those_by_category():
    labels, verdicts = judged()
    report = report_of(labels, verdicts, positive="slower")
    good, without = (of.classifiers["good"] for of in (report, report_of(labels, verdicts)))
    assert (good.against, good.majority_rule) == (without.against, without.majority_rule)
    table = np.array(good.against.counts)
    assert good.positive.sensitivity == good.against.by_category["slower"].recall
    assert good.positive.specificity.value == table[1:, 1:].sum() / table[1:].sum()
    assert good.positive.precision.value == table[0, 0] / table[:, 0].sum()
    assert "slower is one category and all other categories together are the other" in to_markdown(report)


@pytest.mark.parametrize("labels", [[], [("a", "r1", "slower")]], ids=["none", "one"])
def test_without_two_labels_of_an_item_every_number_has_a_reason(labels):
    report = report_of(pd.DataFrame(labels, columns=["item", "rater", "category"], dtype=object))
    assert report.agreement.percent.reason == "no item has two labels"
    assert "It is not possible to compute agreement yet" in to_markdown(report)


def test_a_report_is_read_back_from_its_json():
    report = report_of(*judged(25), ordered=True, positive="slower", resampling=Resampling(1, 0, 40, 19))
    again = read_back(Report, json_values(report))
    assert json_values(again) == json_values(report)
    assert to_markdown(again) == to_markdown(report)


def test_two_categories_with_other_names_have_the_report_of_similar_and_dissimilar_in_their_words():
    answers, verdicts = (table[table["item"] < "i030"] for table in STUDIES["good"])
    words = {"similar": "fine", "dissimilar": "broken"}
    renamed = answers.assign(label=answers["label"].replace(words))
    verdicts = verdicts[verdicts["classifier"] == "good"]
    other_verdicts = verdicts.assign(verdict=verdicts["verdict"].replace(words))
    resampling = Resampling(1, 20, 20, 19)
    usual = json_values(summarise(answers, verdicts, resampling=resampling))
    other = summarise(
        renamed, other_verdicts, categories=CategorySet(("fine", "broken"), "broken"), resampling=resampling
    )
    told = json_values(other)
    assert told["by_category"] is None
    for name in ("by_application", "pairs", "coefficients", "leniency", "bootstrap"):
        assert told["agreement"][name] == usual["agreement"][name]
    assert told["consensus"]["latent"]["prevalence"] == usual["consensus"]["latent"]["prevalence"]
    assert told["consensus"]["agreed_broken"] == usual["consensus"]["agreed_dissimilar"]
    for name, row in usual["classifiers"].items():
        assert told["classifiers"][name]["positive"]["sensitivity"] == row["positive"]["sensitivity"]
        assert told["classifiers"][name]["against"]["mcc"] == row["against"]["mcc"]
    page = to_markdown(other)
    assert "similar" not in page.replace("similar numbers", "")
    assert "Rates of the positive category, broken" in page


def test_a_side_that_is_called_slower_too_often_has_a_section():
    rows = [
        (f"i{i}", f"r{r}", "slower" if (i + r) % 2 else "unstable", (i + r) % 2 == 1)  # always the left one
        for i in range(12)
        for r in range(2)
    ]
    labels = pd.DataFrame(rows, columns=["item", "rater", "category", "swapped"])
    report = report_of(labels, ordered=True)
    assert report.sides.bias.value == 1
    assert "## Side bias" in to_markdown(report)
    assert "call the left side slower in 100.0 % and the right side in 0.0 %" in to_markdown(report)
    assert "Side bias" not in to_markdown(report_of(labels.drop(columns="swapped"), ordered=True))


def test_the_strip_of_labels_tells_categories_apart_with_and_without_colours():
    labels, _ = simulated(12, errors_of(0.7, 0.7, 0.7), np.full(4, 0.25))
    question = {"category": [{"name": name, "colour": f"#00000{k}"} for k, name in enumerate(NAMES)]}
    given = report_of(labels, provenance=Provenance(question=question))
    for report, colours in ((report_of(labels), set(SHADES[:4])), (given, {f"#00000{k}" for k in range(4)})):
        svg = to_svg(label_strip(report))
        assert {colour for colour in colours if colour in svg} == colours


def test_of_very_many_different_items_the_strip_draws_one_of_several_and_says_so(monkeypatch):
    """The 500,000 labels of 10,000 items and 50 reviewers made a page of 128 MB."""
    labels, _ = simulated(200, errors_of(*[0.7] * 6), np.full(4, 0.25))
    report = report_of(labels)
    assert len(report.agreement.disputed.patterns) > 100
    complete = to_svg(label_strip(report)).count('aria-roledescription="rect mark"')
    assert "is drawn" not in to_markdown(report)
    monkeypatch.setattr(_agreement, "MOST_PATTERNS", 50)
    assert "sorted by agreement (one of 4 is drawn)" in to_markdown(report)
    sampled = to_svg(label_strip(report)).count('aria-roledescription="rect mark"')
    assert 6 < sampled < min(complete / 2, 6 * 50)


@pytest.fixture(scope="module")
def without_applications():
    labels, _ = simulated(168, errors_of(0.8, 0.75, 0.7), [0.4, 0.3, 0.2, 0.1], seed=3)
    answers = labels.rename(columns={"rater": "reviewer", "category": "label"})
    return answers, summarise(answers, NO_VERDICTS, categories=CategorySet(NAMES, None, ordered=True))


@pytest.mark.parametrize("n_applications", [3, 7, 12])
def test_all_numbers_of_categories_count_applications_if_there_are_enough(n_applications, without_applications):
    answers, alone = without_applications
    number = answers["item"].str[1:].astype(int) * n_applications // 168
    answers = answers.assign(application="app" + number.map(str))
    related = summarise(answers, NO_VERDICTS, categories=CategorySet(NAMES, None, ordered=True))
    intervals = [
        [(row.kappa.low, row.kappa.high) for row in report.categories]
        + [(row.value.low, row.value.high) for row in report.by_category.weighted]
        + [(value.low, value.high) for value in report.agreement.specific.values()]
        for report in (alone, related)
    ]
    differ = [plain != of for plain, of in zip(*intervals, strict=True)]
    assert any(differ) is (n_applications >= 5)
    if n_applications == 7:  # the interval holds the one that counts items
        assert all(of[0] <= plain[0] and plain[1] <= of[1] for plain, of in zip(*intervals, strict=True))
    if n_applications == 12:
        assert all(differ)
    of_ranks = [report.by_category.rank_test.p for report in (alone, related)]
    assert (of_ranks[0] != of_ranks[1]) is (n_applications >= 5)
    assert ("must find the same both ways" in to_markdown(related)) is (n_applications == 7)
