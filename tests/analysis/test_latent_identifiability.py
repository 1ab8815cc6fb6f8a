import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from analysis.consensus import (
    _model,
    _rates as remedies,
    identifiability,
    identifiability_of_plan,
    latent_class,
    latent_precision,
)
from analysis.consensus._model import Theta, all_cells, all_sets, fit, log_probability, patterns_of, rank
from analysis.simulation import Rater, SimulatedDesign, simulate
from tests.analysis.test_latent_model import label_table
from tests.conftest import examples
from tests.sentences import says

REVIEWERS = [Rater("r1", 0.95, 0.9), Rater("r2", 0.8, 0.7), Rater("r3", 0.7, 0.85), Rater("r4", 0.6, 0.6)]
CLASSIFIERS = [Rater("heuristic", 0.92, 0.45), Rater("same", 0.3, 0.85)]


def study(k, n_reviewers=4, overlap=0.0, n_items=586, seed=1):
    rng = np.random.default_rng(seed)
    return simulate(SimulatedDesign(n_items, k, overlap), REVIEWERS[:n_reviewers], CLASSIFIERS, 0.55, rng=rng)


def with_third_labels(labels, reviewers, also_agreed=False):
    """Add a third label to each split item, and to every second agreed item if `also_agreed`."""
    rng, rows = np.random.default_rng(2), []
    for number, (item, group) in enumerate(labels.groupby("item", sort=False)):
        others = sorted(set(reviewers) - set(group["rater"]))
        if others and (group["category"].nunique() == 2 or (also_agreed and number % 2)):
            rows.append((item, rng.choice(others), rng.choice(["similar", "dissimilar"])))
    return pd.concat([labels, pd.DataFrame(rows, columns=labels.columns)])


def golden_designs():
    four, three = study(2), study(2, n_reviewers=3)
    heuristic = four.verdicts[four.verdicts["classifier"] == "heuristic"]
    strata = pd.Series(["x", "y"] * 293, index=four.truth.index)
    third = with_third_labels(four.labels, ["r1", "r2", "r3", "r4"])
    return {
        "k=2, 4 reviewers, 6 pairs": (four.labels, None, None),
        "k=2, 3 reviewers, 3 pairs": (three.labels, None, None),
        "k=2 + 1 detector": (four.labels, heuristic, None),
        "k=2 + 2 detectors": (four.labels, four.verdicts, None),
        "k=2 + third rating on disagreements": (third, None, None),
        "k=2, two strata of different prevalence": (four.labels, None, strata),
        "k=2, 10 % of items by all 4": (study(2, overlap=0.1).labels, None, None),
        "k=3": (study(3).labels, None, None),
        "k=4": (study(4).labels, None, None),
    }


def test_ranks_of_the_golden_designs(golden_agreement):
    designs = golden_designs()
    for case in golden_agreement["identifiability"]["expected"]:
        labels, verdicts, strata = designs.pop(case["design"])
        told = identifiability(labels, verdicts, strata=strata)
        assert (told.rank, told.n_parameters) == (case["rank"], case["parameters"]), case["design"]
        assert told.identified == (case["rank"] == case["parameters"])
    assert designs == {}


def test_pairs_of_four_reviewers_have_unknown_parameters_and_remedies():
    told = identifiability(study(2).labels)
    assert told.words.startswith("not identified:") and "8 of 9 parameters" in told.words
    assert len(told.unknown) == 9
    assert told.unknown[:2] == ("prevalence", "sensitivity of r1")
    assert told.remedies == (
        remedies.THIRD,
        remedies.OVERLAP,
        remedies.THREE,
        remedies.CLASSIFIER,
        remedies.STRATA,
    )


def test_two_reviewers_and_a_third_on_their_split_items_only_do_not_identify():
    # 11, 00, and the four ways of a split and its third label: five free shares for seven parameters
    pairs = study(2, n_reviewers=2).labels
    told = identifiability(with_third_labels(pairs, ["r1", "r2", "r3"]))
    assert (told.rank, told.n_parameters, told.identified) == (5, 7, False)
    assert told.remedies == (
        remedies.OVERLAP,
        remedies.THREE,
        remedies.CLASSIFIER,
        remedies.STRATA,
    )
    assert identifiability(with_third_labels(pairs, ["r1", "r2", "r3"], also_agreed=True)).identified


def test_a_reviewer_who_labelled_alone_is_the_only_one_unknown():
    matrix = study_matrix(60)
    alone = np.full((10, 3), -1)
    matrix = np.hstack([np.vstack([matrix, alone]), np.r_[np.full(60, -1), np.arange(10) % 2][:, None]])
    told = identifiability(label_table(matrix))
    assert (told.rank, told.n_parameters) == (8, 9)
    assert told.unknown == ("sensitivity of d", "specificity of d")
    assert says(told.words, "8 of 9", "sensitivity of d,", "specificity of d")
    result = latent_class(label_table(matrix), rng=np.random.default_rng(1), n_sweeps=20)
    assert result.prevalence.value is not None
    assert [rates.sensitivity.value is None for rates in result.reviewers] == [False, False, False, True]
    items = result.items.set_index("item")
    assert items.loc[range(60), "posterior"].notna().all()
    assert items.loc[range(60, 70), "posterior"].tolist() == [None] * 10
    assert set(items.loc[range(60, 70), "category"]) == {"undecided"}


def study_matrix(n_items, n_raters=3, right=0.85, seed=4):
    rng = np.random.default_rng(seed)
    truth = rng.random((n_items, 1)) < 0.5
    return (truth == (rng.random((n_items, n_raters)) < right)).astype(int)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([], "not identified: no labels"),
        ([[1, 1, 1]], "not identified: only one category was used"),
        ([[1, 0, 1]], "not identified: 1 item cannot determine 7 parameters"),
        ([[1, 0, 1], [0, 0, 0]], "not identified: 2 items cannot determine 7 parameters"),
        ([[0, 0, 0]] * 20, "not identified: only one category was used"),
    ],
)
def test_too_little_data_is_not_identified_for_any_design(matrix, words):
    told = identifiability(label_table(matrix))
    assert (told.identified, told.words, told.remedies) == (False, words, ())


def test_one_reviewer_determines_one_of_three_parameters():
    told = identifiability(label_table([[1], [0]] * 5))
    assert (told.rank, told.n_parameters) == (1, 3)
    assert told.remedies == (
        remedies.OVERLAP_OF_THREE,
        remedies.THREE,
        remedies.CLASSIFIERS,
    )


def test_full_agreement_of_three_is_identified():
    told = identifiability(label_table([[1, 1, 1]] * 20 + [[0, 0, 0]] * 20))
    assert told.identified


def test_a_design_identified_by_a_single_item_is_weak():
    told = identifiability(study(2, overlap=1 / 586).labels)
    assert told.identified and told.weak
    assert "about the prevalence" in told.words
    strong = identifiability(study(3).labels)
    assert strong.identified and not strong.weak
    assert strong.words.startswith("identified:") and "all 9 parameters" in strong.words


def test_reviewers_near_chance_make_a_weak_study():
    near_chance = [Rater(f"r{i}", 0.6, 0.6) for i in range(4)]
    made = simulate(SimulatedDesign(586, 3), near_chance, [], 0.5, rng=np.random.default_rng(1))
    assert identifiability(made.labels).weak


@pytest.mark.slow
def test_the_standard_error_of_the_prevalence_is_that_of_the_estimates():
    told, estimates = [], []
    for seed in range(40):
        labels = study(4, n_items=800, seed=seed).labels
        told.append(identifiability(labels).prevalence_se)
        estimates.append(fit(patterns_of(labels)).pi[0, 0])
    assert np.mean(told) == pytest.approx(np.std(estimates), rel=0.3)


def test_raters_who_are_never_wrong_give_the_standard_error_of_a_share():
    told = identifiability(label_table([[1] * 9] * 200 + [[0] * 9] * 300))
    assert told.prevalence_se == pytest.approx((0.4 * 0.6 / 500) ** 0.5, rel=0.02)


def test_a_plan_is_judged_before_anything_is_labelled():
    pairs = list(itertools.combinations("abcd", 2))
    assert identifiability_of_plan(pairs).rank == 8
    assert identifiability_of_plan([*pairs, "abcd"]).identified
    assert identifiability_of_plan(pairs, n_classifiers=1).identified
    assert identifiability_of_plan([]).identified is False
    with pytest.raises(ValueError, match=r"n_classifiers.*>= 0"):
        identifiability_of_plan(pairs, n_classifiers=-1)


def nothing(n_raters, n_strata=1):
    return replace(patterns_of(label_table([])), raters=tuple(range(n_raters)), strata=tuple(range(n_strata)))


def test_scores_are_the_derivatives_of_the_log_probabilities():
    seen = np.hstack([all_sets(3, 2), np.ones((3, 1), dtype=bool)])
    cells, _ = all_cells(np.vstack([seen, seen]), np.repeat([0, 1], 3), nothing(4, n_strata=2))
    point = _model._generic_point(2, 4)
    scores, h = _model._scores(point, cells), 1e-6
    for j in range(10):
        ends = []
        for by in (h, -h):
            moved = point.columns.copy()
            moved[0, j] += by
            ends.append(log_probability(Theta(moved[:, :2], moved[:, 2:6], moved[:, 6:]), cells)[0])
        assert scores[:, j] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-6)


def test_the_probabilities_of_a_combination_sum_to_1():
    cells, which = all_cells(all_sets(4, 3), np.zeros(4, dtype=np.int64), nothing(4))
    p = np.exp(log_probability(_model._generic_point(1, 4), cells)[0])
    assert np.bincount(which, weights=p) == pytest.approx(np.ones(4))


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(3, 14), st.integers(2, 3))
def test_windows_of_large_combinations_lose_no_rank(n_reviewers, k):
    seen = np.vstack([np.ones((1, n_reviewers), dtype=bool), all_sets(n_reviewers, k)])
    cells, _ = all_cells(seen, np.zeros(len(seen), dtype=np.int64), nothing(n_reviewers))
    assert rank(cells)[0] == cells.n_parameters


@settings(deadline=None)
@given(st.integers(2, 7))
def test_pairs_of_any_number_of_reviewers_lack_one_rank(n_reviewers):
    seen = all_sets(n_reviewers, 2)
    told, unknown = rank(all_cells(seen, np.zeros(len(seen), dtype=np.int64), nothing(n_reviewers))[0])
    assert told == (2 * n_reviewers if n_reviewers > 2 else 3)
    assert unknown.all()


def test_the_expected_precision_is_that_of_the_information_and_of_simulated_fits():
    rates = {"a": (0.9, 0.85), "b": (0.8, 0.8), "c": (0.75, 0.9)}
    one = latent_precision({("a", "b", "c"): 400}, rates, prevalence=0.4, classifiers={"x": (0.8, 0.7)})
    four = latent_precision({("a", "b", "c"): 1600}, rates, prevalence=0.4)
    assert one.prevalence.se == pytest.approx(2 * four.prevalence.se)
    raters = [Rater(name, *rate) for name, rate in rates.items()]
    fits = [
        fit(
            patterns_of(simulate(SimulatedDesign(1600, 3), raters, [], 0.4, rng=np.random.default_rng(seed)).labels)
        ).pi[0, 0]
        for seed in range(40)
    ]
    assert np.std(fits) == pytest.approx(four.prevalence.se, rel=0.35)
    assert [row.rater for row in one.classifiers] == ["x"]
    assert one.classifiers[0].sensitivity.low < 0.8 < one.classifiers[0].sensitivity.high


def test_a_design_that_does_not_identify_the_model_has_no_precision():
    pairs = {("a", "b"): 100, ("a", "c"): 100, ("b", "c"): 100}
    found = latent_precision(pairs, dict.fromkeys("abc", (0.8, 0.7)), prevalence=0.4)
    assert found.prevalence.value is None
    assert found.prevalence.reason == "this design does not identify it"
    with pytest.raises(ValueError, match="'c' has no assumed rates"):
        latent_precision(pairs, dict.fromkeys("ab", (0.8, 0.7)), prevalence=0.4)
    with pytest.raises(ValueError, match=r"prevalence must be within \(0, 1\)"):
        latent_precision(pairs, dict.fromkeys("abc", (0.8, 0.7)), prevalence=1.0)
