"""The parts of the latent class model: patterns, EM, Gibbs sampling, and what a design identifies."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from analysis.categories import CATEGORIES
from analysis.raters.consensus import (
    _model,
    _rates,
    identifiability,
    identifiability_of_plan,
    latent_class,
    latent_precision,
)
from analysis.raters.consensus._model import (
    Theta,
    all_cells,
    all_sets,
    fit,
    log_posterior,
    log_probability,
    patterns_of,
    posterior,
    rank,
    starts,
    step,
)
from tests.analysis.raters.simulated import Rater, SimulatedDesign, simulate
from tests.conftest import examples
from tests.sentences import says

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


def test_patterns_hold_every_item_once_with_any_number_of_raters():
    patterns = patterns_of(label_table([[1, 0], [1, -1], [1, 0], [-1, -1]]), verdict_table([[1], [-1], [0], [1]]))
    assert patterns.raters == ("a", "b", "heuristic")
    assert patterns.n_reviewers == 2
    assert patterns.n.tolist() == [1, 1, 1]
    assert patterns.items.tolist() == [0, 1, 2]  # the last has a verdict but no label
    rows = patterns.positive - patterns.negative
    assert rows[patterns.of_item].tolist() == [[1, -1, 1], [1, 0, 0], [1, -1, -1]]
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


@settings(max_examples=examples(50), deadline=None)
@given(MATRICES)
def test_no_rater_is_below_chance_so_that_categories_cannot_trade_places(matrix):
    patterns = patterns_of(label_table(matrix))
    mode = fit(patterns)
    drawn = _rates.draws(mode, patterns, n_sweeps=10, rng=np.random.default_rng(0))
    for rates in (mode, drawn):
        assert (rates.se + rates.sp >= 1 - 1e-6).all()
        assert ((rates.columns > 0) & (rates.columns < 1)).all()


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


def test_a_tail_too_thin_for_floats_gives_its_limit_and_strata_their_own_prevalence():
    edge = _rates._beta_above(np.array([2.0]), np.array([5e4]), np.array([0.9]), np.random.default_rng(0))
    assert edge.tolist() == [0.9]
    matrix = [[1, 1, 1]] * 8 + [[0, 0, 0]] * 2 + [[1, 1, 1]] * 2 + [[0, 0, 0]] * 8
    patterns = patterns_of(label_table(matrix), strata=pd.Series(["x"] * 10 + ["y"] * 10))
    mode = fit(patterns)
    assert patterns.strata == ("x", "y")
    assert mode.pi[0] == pytest.approx([9 / 12, 3 / 12], abs=0.01)  # Beta(2, 2) adds one item of either category


REVIEWERS = [Rater("r1", 0.95, 0.9), Rater("r2", 0.8, 0.7), Rater("r3", 0.7, 0.85), Rater("r4", 0.6, 0.6)]
CLASSIFIERS = [Rater("heuristic", 0.92, 0.45), Rater("same", 0.3, 0.85)]


def study_of(k, n_reviewers=4, overlap=0.0, n_items=586, seed=1):
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
    four, three = study_of(2), study_of(2, n_reviewers=3)
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
        "k=2, 10 % of items by all 4": (study_of(2, overlap=0.1).labels, None, None),
        "k=3": (study_of(3).labels, None, None),
        "k=4": (study_of(4).labels, None, None),
    }


def test_ranks_of_the_golden_designs(golden_agreement):
    designs = golden_designs()
    for case in golden_agreement["identifiability"]["expected"]:
        labels, verdicts, strata = designs.pop(case["design"])
        told = identifiability(labels, verdicts, strata=strata)
        assert (told.rank, told.n_parameters) == (case["rank"], case["parameters"]), case["design"]
        assert told.identified == (case["rank"] == case["parameters"])
    assert designs == {}


def test_too_few_combinations_of_reviewers_do_not_identify_and_remedies_are_named():
    told = identifiability(study_of(2).labels)
    assert told.words.startswith("not identified:") and "8 of 9 parameters" in told.words
    assert len(told.unknown) == 9
    assert told.unknown[:2] == ("prevalence", "sensitivity of r1")
    assert told.remedies == (
        _rates.THIRD, _rates.OVERLAP, _rates.THREE, _rates.CLASSIFIER, _rates.STRATA,
    )  # fmt: skip
    # 11, 00, and the four ways of a split and its third label: five free shares for seven parameters
    pairs = study_of(2, n_reviewers=2).labels
    told = identifiability(with_third_labels(pairs, ["r1", "r2", "r3"]))
    assert (told.rank, told.n_parameters, told.identified) == (5, 7, False)
    assert told.remedies == (_rates.OVERLAP, _rates.THREE, _rates.CLASSIFIER, _rates.STRATA)
    assert identifiability(with_third_labels(pairs, ["r1", "r2", "r3"], also_agreed=True)).identified
    told = identifiability(label_table([[1], [0]] * 5))
    assert (told.rank, told.n_parameters) == (1, 3)
    assert told.remedies == (_rates.OVERLAP_OF_THREE, _rates.THREE, _rates.CLASSIFIERS)


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


def test_a_design_that_hardly_identifies_is_weak():
    told = identifiability(label_table([[1, 1, 1]] * 20 + [[0, 0, 0]] * 20))
    assert told.identified
    told = identifiability(study_of(2, overlap=1 / 586).labels)
    assert told.identified and told.weak
    assert "about the prevalence" in told.words
    strong = identifiability(study_of(3).labels)
    assert strong.identified and not strong.weak
    assert strong.words.startswith("identified:") and "all 9 parameters" in strong.words
    near_chance = [Rater(f"r{i}", 0.6, 0.6) for i in range(4)]
    made = simulate(SimulatedDesign(586, 3), near_chance, [], 0.5, rng=np.random.default_rng(1))
    assert identifiability(made.labels).weak


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


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(3, 14), st.integers(2, 3))
def test_windows_of_large_combinations_lose_no_rank(n_reviewers, k):
    seen = np.vstack([np.ones((1, n_reviewers), dtype=bool), all_sets(n_reviewers, k)])
    cells, _ = all_cells(seen, np.zeros(len(seen), dtype=np.int64), nothing(n_reviewers))
    assert rank(cells)[0] == cells.n_parameters


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
        for seed in range(25)
    ]
    assert np.std(fits) == pytest.approx(four.prevalence.se, rel=0.45)
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
