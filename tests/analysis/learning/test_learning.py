"""Learning from labels: results checked by hand, by simulation and against other software, and what a report says.

What holds for two categories and for more is one test with both as parameters.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from numpy.random import default_rng
from scipy import optimize, special
from statsmodels.api import MNLogit, add_constant

from analysis.document import to_markdown, to_text
from analysis.learning import (
    FEATURES,
    MEASURE_FEATURES,
    Contestant,
    Examples,
    LearnSettings,
    Retests,
    TooFew,
    calibration,
    ceiling,
    compete,
    contestants_of,
    cross_validate,
    document,
    examples_of,
    examples_to_learn,
    features_of,
    fit,
    learn,
    model_from_text,
    outer_folds,
    retest_counts,
    run_against_rest,
    target_of,
)
from analysis.learning._validation import best_threshold
from analysis.raters.evaluation import auc, compare_auc
from tests.sentences import says

APPLICATIONS, PER_APPLICATION = 24, 8
NAMES = ("m1", "m5", "spread", "kruskal")


SETS = {2: ("similar", "dissimilar"), 3: ("step", "noise", "steady")}
of_two_and_of_three = pytest.mark.parametrize("n_categories", [2, 3])


def words(dissimilar):
    return np.where(dissimilar, "dissimilar", "similar").tolist()


def examples(rng, slope=0.0, *, n_categories=2, leak=False):
    """Build 192 items of 24 applications.

    Of two categories, the second is likely where the first feature is large; of more, each where its own one is. Other
    features are noise.
    """
    n = APPLICATIONS * PER_APPLICATION
    x = rng.standard_normal((n, len(NAMES)))
    if n_categories == 2:
        category = (rng.random(n) < special.expit(slope * x[:, 0])).astype(np.intp)
    else:
        category = (slope * x[:, :n_categories] + rng.gumbel(size=(n, n_categories))).argmax(axis=1)
    if leak:
        x[:, 1] = category + 0.01 * rng.standard_normal(n)
    applications = tuple(f"a{i // PER_APPLICATION}" for i in range(n))
    return Examples(tuple(f"i{i}" for i in range(n)), applications, category, x, NAMES, categories=SETS[n_categories])


def tables(found):
    """Return the same examples as tables for `examples_to_learn`, and the verdicts of another classifier."""
    truth = pd.DataFrame({"item": found.items, "category": found.names})
    features = pd.DataFrame(found.x, index=found.items, columns=list(found.features))
    applications = pd.Series(found.applications, index=found.items)
    called = [found.categories[code] for code in (found.x[:, 2] > 0).astype(int)]
    verdicts = pd.DataFrame({"item": found.items, "classifier": "other", "verdict": called, "score": found.x[:, 2]})
    return truth, features, applications, verdicts


def learnt(found, positive="dissimilar", **options):
    settings = LearnSettings(**{"seed": 1, "n_draws": 120, "positive": positive, **options})
    return learn(found, tables(found)[-1], settings)


def mean_area(found, validated):
    """Return the mean area under the ROC curve of the categories, each against the rest."""
    areas = [
        auc(found.names, validated.score[:, k], categories=found.categories, positive=category).value
        for k, category in enumerate(found.categories)
    ]
    return np.mean(areas)


PLANTED = {2: examples(default_rng(9), 2.0), 3: examples(default_rng(9), 2.5, n_categories=3)}


@cache
def learnt_from(n_categories):
    """Learn a classifier from examples in which, of two categories, the first feature decides."""
    return learnt(PLANTED[n_categories], ordered=n_categories > 2)


@pytest.fixture
def account():
    return learnt_from(2)


def test_a_fit_with_one_yes_or_no_feature_is_the_log_of_the_odds_ratio_or_none_against_a_monotone_one():
    # 3 of 10 dissimilar without the feature, 6 of 8 with it: odds 3/7 and 3, ratio 7
    x = np.repeat([0.0, 1.0], [10, 8])[:, None]
    dissimilar = np.array([True] * 3 + [False] * 7 + [True] * 6 + [False] * 2)
    model = fit(x, dissimilar, 2, 0.0)
    assert model.intercepts == pytest.approx(np.log(3 / 7))
    assert model.coefficients[0] == pytest.approx(np.log(7))
    model = fit(1 - x, dissimilar, 2, 0.01, monotone=True)
    assert model.coefficients[0] == 0
    assert special.expit(model.intercepts) == pytest.approx(9 / 18)
    # two labels of one category: only an intercept, with half an item of each category added
    only = fit(x, np.ones(18, dtype=int), 2, 0.1)
    assert (only.intercepts[0], *only.coefficients[0]) == pytest.approx((np.log(18.5 / 0.5), 0))


@pytest.mark.parametrize(
    ("penalty", "theirs"),
    [
        (0.001, [-0.06739449, 1.05897799, -0.09576243, -0.13846834, 0.14598687]),
        (0.1, [-0.05429801, 0.64368149, -0.05389244, -0.09359661, 0.07225232]),
        (1, [-0.05561706, 0.16841596, -0.01174233, -0.02724225, 0.01212251]),
    ],
)
def test_the_fit_with_a_penalty_is_that_of_scikit_learn(penalty, theirs):
    # scikit-learn 1.9.1, LogisticRegression(C=1 / (200 * penalty), tol=1e-12, max_iter=1000)
    rng = default_rng(3)
    x = rng.standard_normal((200, 4))
    dissimilar = rng.random(200) < special.expit(x[:, 0] - 0.5 * x[:, 1])
    ours = fit(x, dissimilar, 2, penalty)
    assert [*ours.intercepts, *ours.coefficients[:, 0]] == pytest.approx(theirs, abs=1e-6)


@of_two_and_of_three
def test_the_fit_without_a_penalty_is_that_of_statsmodels(n_categories):
    rng = default_rng(2)
    x = rng.standard_normal((150, 2))
    slopes = np.array([[1.0, 0.0, -0.5], [0.0, 0.7, 0.2]])[:, :n_categories]
    y = (x @ slopes + rng.gumbel(size=(150, n_categories))).argmax(axis=1)
    found = fit(x, y, n_categories, 1e-9)
    theirs = MNLogit(y, add_constant(x)).fit(disp=False)
    assert found.coefficients.shape == (2, 1 if n_categories == 2 else 3)
    assert found.probability(x) == pytest.approx(np.asarray(theirs.predict()), abs=1e-3)


@of_two_and_of_three
def test_a_fit_with_a_penalty_is_the_lowest_point_of_the_loss(n_categories):
    found = examples(default_rng(5), 1.0, n_categories=n_categories)
    penalty = 0.2
    model = fit(found.x, found.category, n_categories, penalty)
    wrong = model.probability(found.x) - np.eye(n_categories)[found.category]
    slope = found.x.T @ wrong[:, -model.coefficients.shape[1] :] / len(wrong) + penalty * model.coefficients
    assert slope == pytest.approx(0, abs=1e-5)
    assert wrong.mean(axis=0) == pytest.approx(0, abs=1e-5)


@given(st.integers(0, 10_000), st.booleans(), st.floats(1e-4, 10))
def test_no_general_optimiser_finds_a_better_fit(seed, monotone, penalty):
    rng = default_rng(seed)
    n, p = int(rng.integers(20, 60)), int(rng.integers(1, 8))
    x = rng.standard_normal((n, 2)) @ rng.standard_normal((2, p)) + 0.1 * rng.standard_normal((n, p))
    y = rng.random(n) < special.expit(x.sum(axis=1))

    def loss(theta):
        odds = theta[0] + x @ theta[1:]
        slope = (special.expit(odds) - y) / n
        gradient = np.concatenate(([slope.sum()], x.T @ slope + penalty * theta[1:]))
        return (np.logaddexp(0, odds) - y * odds).mean() + penalty / 2 * theta[1:] @ theta[1:], gradient

    model = fit(x, y, 2, penalty, monotone=monotone)
    if y.all() or not y.any():
        return  # the intercept is then infinite
    bounds = [(None, None), *[(0 if monotone else None, None)] * p]
    theirs = optimize.minimize(loss, np.zeros(p + 1), jac=True, method="L-BFGS-B", bounds=bounds)
    assert loss(np.concatenate((model.intercepts, model.coefficients[:, 0])))[0] <= theirs.fun + 1e-9
    assert not monotone or (model.coefficients >= 0).all()


@of_two_and_of_three
def test_weights_count_items_several_times(n_categories):
    found = examples(default_rng(6), 1.0, n_categories=n_categories)
    weights = default_rng(7).integers(0, 4, len(found.items))
    repeated = np.repeat(np.arange(len(weights)), weights)
    once = fit(found.x, found.category, n_categories, 0.1, weights=weights.astype(float))
    again = fit(found.x[repeated], found.category[repeated], n_categories, 0.1)
    assert once.coefficients == pytest.approx(again.coefficients, abs=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((2, 1)), np.array([1, 0]), 2, -1), r"penalty.*got -1"),
        ((np.zeros((3, 1)), np.array([1, 0]), 2, 1), r"x must have shape \(2, n_features\), got \(3, 1\)"),
        ((np.zeros((2, 1)), np.array([1, 0]), 3, 1), "a monotone model has two categories, got 3"),
    ],
)
def test_what_cannot_be_fitted_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        fit(*arguments, monotone=True)


@pytest.mark.parametrize(("n_categories", "n"), [(2, 8), pytest.param(3, 3, marks=pytest.mark.slow)])
def test_pure_noise_scores_at_chance(n_categories, n):
    areas = []
    for seed in range(n):
        found = examples(default_rng(seed), n_categories=n_categories)
        monotone = n_categories == 2 and seed % 2 == 0
        areas.append(mean_area(found, cross_validate(found, rng=default_rng(seed), monotone=monotone)))
    # The standard error of the mean of 8 is .015; the mean of 3 areas varies less.
    assert np.mean(areas) == pytest.approx(0.5, abs=0.05)


def test_a_feature_that_holds_the_answer_is_found():
    found = learnt(examples(default_rng(1), leak=True), n_draws=20)
    assert found.positive.arena.standings[0].auc.value > 0.99
    assert says(found.warnings[0], "m5 alone", "1.000")


@pytest.mark.slow
def test_the_same_seed_gives_the_same_result_and_an_honest_feature_no_alarm(account):
    assert account.warnings == ()
    one, two = account, learnt(PLANTED[2])
    assert (one.model, one.held_out, one.positive) == (two.model, two.held_out, two.positive)
    pd.testing.assert_frame_equal(one.table, two.table)


def test_permuting_labels_within_applications_destroys_the_gain():
    found = examples(default_rng(2), 2.0)
    assert mean_area(found, cross_validate(found, rng=default_rng(0), monotone=True)) > 0.75
    areas = []
    for seed in range(4):
        rng = default_rng(seed)
        blocks = found.category.reshape(APPLICATIONS, PER_APPLICATION)
        permuted = replace(found, category=rng.permuted(blocks, axis=1).ravel())
        areas.append(mean_area(permuted, cross_validate(permuted, rng=rng, monotone=True)))
    assert np.mean(areas) == pytest.approx(0.5, abs=0.06)


@given(st.lists(st.integers(1, 9), min_size=5, max_size=30), st.integers(0, 1000))
def test_folds_never_split_an_application(sizes, seed):
    applications = tuple(f"a{number}" for number, size in enumerate(sizes) for _ in range(size))
    n = len(applications)
    category = (default_rng(seed).random(n) < 0.5).astype(np.intp)
    found = Examples(tuple(map(str, range(n))), applications, category, np.zeros((n, 1)), ("m1",))
    fold = outer_folds(found, default_rng(seed))
    assert pd.Series(fold).groupby(list(applications)).nunique().eq(1).all()


def test_the_scores_of_a_fold_do_not_depend_on_its_labels_or_are_rejected():
    found = examples(default_rng(1))
    with pytest.raises(ValueError, match="application together"):
        cross_validate(found, rng=default_rng(1), folds=np.arange(len(found.items)) % 5)
    found = examples(default_rng(3), 1.0)
    fold = outer_folds(found, default_rng(0))
    other = replace(found, category=np.where(fold == 0, 1 - found.category, found.category))
    one, two = (cross_validate(part, rng=default_rng(0), folds=fold) for part in (found, other))
    assert (one.score[fold == 0] == two.score[fold == 0]).all()
    assert (one.probability[fold == 0] == two.probability[fold == 0]).all()
    assert (one.score[fold == 1] != two.score[fold == 1]).any()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda e: e.of(np.arange(59)), "59.*features.*60"),
        (lambda e: replace(e, category=np.where(np.arange(len(e.items)) < 9, 1, 0)), "9 labels are {second}; .*10"),
        (lambda e: replace(e, category=np.where(np.arange(len(e.items)) < 1, 1, 0)), "1 label is {second}; .*10"),
        (
            lambda e: replace(e, applications=tuple(f"a{i % 4}" for i in range(len(e.items)))),
            "come from 4 applications; at least 5",
        ),
    ],
)
@of_two_and_of_three
def test_too_little_to_learn_from_is_refused_with_the_reason(change, why, n_categories):
    with pytest.raises(TooFew, match=why.format(second=SETS[n_categories][1])):
        learnt(change(examples(default_rng(1), n_categories=n_categories)))


@of_two_and_of_three
def test_planted_categories_are_learned_and_the_file_gives_the_same_verdicts(n_categories):
    found = learnt_from(n_categories)
    assert found.useless is None
    assert found.chance_p < 0.01
    assert found.held_out.difference.low > 0
    assert all(area.auc.low > 0.5 for area in found.held_out.areas)
    own = found.table["learned verdict"] == found.table["consensus"]
    assert found.held_out.accuracy.value == found.evaluation.accuracy.value == pytest.approx(own.mean())
    assert [name for name, _ in found.others] == ["other"]
    assert (found.positive is None) == (n_categories > 2)
    text = to_markdown(document(found))
    assert 'the rule "always' in text
    assert ("does not use their order" in text) == (n_categories > 2)
    model = model_from_text(found.model.to_text())
    assert model == found.model
    assert model.coefficients.shape == (len(NAMES), 1 if n_categories == 2 else 3)
    rows = pd.DataFrame(PLANTED[n_categories].x, columns=list(NAMES)).to_dict("records")
    called = [model.judge(row).verdict for row in rows]
    assert np.mean([a == b for a, b in zip(called, PLANTED[n_categories].names, strict=True)]) > 0.7


@pytest.mark.slow
@of_two_and_of_three
def test_random_labels_are_not_learned_and_of_more_categories_one_without_labels_is_left_out(n_categories):
    noise = examples(default_rng(5), n_categories=n_categories)
    found = learnt(replace(noise, categories=(*noise.categories, "never")))
    assert found.useless
    assert found.model.categories == SETS[n_categories]
    assert found.warnings[0] == "No label is never, so the model never gives this category."


def test_the_order_of_two_categories_their_names_and_other_classifiers_change_no_number(account):
    found = PLANTED[2]
    turned = replace(found, category=1 - found.category, categories=("noisy", "calm"))
    other = learn(turned, tables(found)[-1].iloc[:0], LearnSettings(seed=1, n_draws=120, positive="noisy"))
    assert (other.others, len(account.others)) == ((), 1)
    assert other.model.categories == ("calm", "noisy")
    assert other.model.terms == account.model.terms
    assert other.model.threshold == account.model.threshold
    ours, theirs = other.positive, account.positive
    assert ours.own.confusion.counts == theirs.own.confusion.counts
    assert replace(ours.own, confusion=theirs.own.confusion) == theirs.own
    assert (ours.calibration, ours.coefficients) == (theirs.calibration, theirs.coefficients)
    assert ours.arena.standings[0].auc == theirs.arena.standings[0].auc
    assert "noisy when P >" in to_text(document(other))


def test_without_a_positive_category_of_two_the_most_probable_category_is_the_verdict():
    found = learnt(PLANTED[2], positive=None)
    assert (found.positive, found.model.threshold) == (None, None)
    probable = found.table["learned probability of dissimilar"] > 0.5
    assert (words(probable) == found.table["learned verdict"]).all()
    assert "The verdict is the most probable category." in to_text(document(found))
    for options in ({"monotone": True}, {"cost_ratio": 2.0}):
        with pytest.raises(ValueError, match="needs two categories, one of them positive"):
            learnt(PLANTED[3], positive="step", **options)


def test_an_outsider_recomputes_every_figure_from_the_table(account):
    found, table = account, account.table
    scores = {
        row.name: table[f"{row.name} score" if row.name == "other" else f"{row.name} score of dissimilar"].tolist()
        for row in found.positive.arena.standings[:-1]
    }
    for row in found.positive.arena.standings[:-1]:
        score, verdict = scores[row.name], table[f"{row.name} verdict"]
        assert auc(table["consensus"].tolist(), score) == row.auc
        assert (verdict == table["consensus"]).mean() == pytest.approx(row.accuracy.value)
    for pair in found.positive.arena.differences:
        again = compare_auc(table["consensus"].tolist(), scores[pair.a], scores[pair.b])
        assert (again.difference, again.p) == (pair.difference, pair.p)
    dissimilar, probability = table["consensus"] == "dissimilar", table["learned probability of dissimilar"]
    assert ((probability - dissimilar) ** 2).mean() == pytest.approx(found.positive.calibration.brier.value)
    called = np.where(probability > table["learned threshold"], "dissimilar", "similar")
    assert (called == table["learned verdict"]).all()


def test_a_signal_is_learnt_and_its_feature_named_first(account):
    found = account.positive
    assert found.coefficients[0].feature == "m1"
    assert found.coefficients[0].value.low > 0
    assert [row.a for row in found.arena.differences] == ["learned", "learned"]


def test_calibration_of_a_table_worked_by_hand_and_of_a_right_forecast():
    # (.2 - 0)^2 + (.2 - 1)^2 + (.9 - 1)^2 + (.9 - 1)^2 = .04 + .64 + .01 + .01 = .7, over 4
    result = calibration(
        np.array([False, True, True, True]), np.array([0.2, 0.2, 0.9, 0.9]), np.arange(4), rng=default_rng(1)
    )
    assert result.brier.value == pytest.approx(0.175)
    assert result.uncertainty == pytest.approx(3 / 16)
    rng = default_rng(1)
    probability = rng.random(5000)
    dissimilar = rng.random(5000) < probability
    result = calibration(dissimilar, probability, np.arange(5000) % 40, rng=rng, n_draws=100)
    parts = result.reliability - result.resolution + result.uncertainty + result.within_bins
    assert result.brier.value == pytest.approx(parts)
    assert result.reliability < 0.002
    assert result.brier.value == pytest.approx(1 / 6, abs=0.01)  # mean of p (1 - p)


@pytest.mark.parametrize(("cost_ratio", "expected"), [(1.0, 0.5), (4.0, 0.2), (0.25, 0.8)])
def test_of_equally_good_thresholds_the_ideal_one_is_chosen(cost_ratio, expected):
    dissimilar, probability = np.array([False, True]), np.array([0.1, 0.9])
    assert best_threshold(dissimilar, probability, cost_ratio) == pytest.approx(expected)


def test_a_dear_miss_lowers_the_threshold():
    dissimilar = np.array([True, False, False, True])
    probability = np.array([0.3, 0.4, 0.45, 0.8])
    assert best_threshold(dissimilar, probability, 1.0) > 0.45
    assert best_threshold(dissimilar, probability, 5.0) < 0.3


def test_verdicts_without_scores_compete():
    found = examples(default_rng(4), 1.0)
    table = pd.concat(
        [
            pd.DataFrame({"item": found.items, "classifier": name, "verdict": words(found.x[:, j] > 0)})
            for j, name in enumerate("abc")
        ]
    )
    contestants = contestants_of(table, found.items)
    assert not any(contestant.has_score for contestant in contestants)
    arena = compete(found.is_second, found.group, contestants, rng=default_rng(1), n_draws=100, cost_ratio=3)
    row = next(row for row in arena.standings if row.name == "a")
    assert "no scores" in row.auc.reason
    assert row.cost == pytest.approx((3 * row.confusion.counts[1][0] + row.confusion.counts[0][1]) / len(found.items))
    assert arena.standings[-1].name in ("always similar", "always dissimilar")


def test_the_interval_by_application_is_wider_where_applications_differ():
    # each application is completely right or wrong: 24 independent pieces, not 192
    rng = default_rng(1)
    group = np.repeat(np.arange(24), 8)
    dissimilar = np.tile([True, False], 96)
    right = rng.random(24) < 0.7
    score = np.where(dissimilar == right[group], 1.0, 0.0) + 0.01 * rng.random(192)
    row = compete(dissimilar, group, [Contestant("a", score, score)], rng=rng).standings[0]
    assert row.auc_by_application.high - row.auc_by_application.low > 1.5 * (row.auc.high - row.auc.low)
    assert row.auc_by_application.value == row.auc.value


def test_every_feature_comes_from_the_verdicts_of_real_runs():
    from analysis.learning import segment_features
    from analysis.runs.classifiers import CLASSIFIERS
    from analysis.runs.runs import Runs

    rng = default_rng(1)
    shared = Runs([1 + 0.1 * rng.random(100) for _ in range(10)])
    verdicts = [classifier(shared) for classifier in CLASSIFIERS.values()]
    values = features_of(verdicts, shared, segment_features(list(shared.values)))
    assert set(values) == set(FEATURES)
    assert all(0 <= values[name] <= 1 for name in MEASURE_FEATURES)
    assert all(np.isfinite(value) for value in values.values())
    without = features_of(verdicts)
    assert {name for name, value in without.items() if value is None} == set(FEATURES) - set(MEASURE_FEATURES)


def test_rows_without_a_feature_are_left_out_and_one_unusual_run_stands_out():
    truth, features, applications, _ = tables(examples(default_rng(1)))
    features.iloc[3, 0] = np.nan
    found = examples_of(truth, features, NAMES, applications)
    assert (len(found.items), found.n_left_out) == (191, 1)
    pairs = np.zeros((10, 10))
    pairs[4, :] = pairs[:, 4] = 0.9
    i, j = np.triu_indices(10, 1)
    assert run_against_rest(pairs[i, j]) == pytest.approx(0.9)
    assert pairs[i, j].mean() == pytest.approx(0.18)
    with pytest.raises(ValueError, match=r"target.*got 'all'"):
        target_of(ANSWERS, "all")


@pytest.mark.parametrize(
    ("names", "change", "why"),
    [
        (("m9",), {}, "unknown feature 'm9'"),
        ((), {}, "names is empty"),
        (NAMES, {"applications": {"i3": ""}}, "item 'i3' has no application"),
        (NAMES, {"category": "odd"}, "'odd' .item 'i0'. is not one of: similar, dissimilar"),
    ],
)
def test_tables_that_do_not_match_are_rejected(names, change, why):
    truth, features, applications, _ = tables(examples(default_rng(1)))
    applications = applications.mask(applications.index.isin(change.get("applications", {})), "")
    if "category" in change:
        truth.loc[truth["item"] == "i0", "category"] = change["category"]
    with pytest.raises(ValueError, match=why):
        examples_of(truth, features, names, applications)


ANSWERS = pd.DataFrame(
    [
        ("a", "ada", "similar", "fresh"), ("a", "ben", "similar", "fresh"),
        ("b", "ada", "similar", "fresh"), ("b", "ben", "dissimilar", "fresh"), ("b", "cleo", "dissimilar", "third"),
        ("c", "ada", "similar", "overlap"), ("c", "ben", "dissimilar", "overlap"),
        ("c", "dan", "similar", "adjudicated"),
        ("d", "ada", "similar", "calibration"), ("a", "ada", "dissimilar", "retest"),
    ],
    columns=["item", "reviewer", "label", "kind"],
)  # fmt: skip


@pytest.mark.parametrize(
    ("consensus", "expected"),
    [
        ("agreed", [("a", "similar")]),
        ("majority", [("a", "similar"), ("b", "dissimilar"), ("c", "similar")]),
        ("labels", [("a", "similar")] * 2 + [(i, c) for i in "bc" for c in ("similar", "dissimilar")]),
    ],
)
def test_targets(consensus, expected):
    table = target_of(ANSWERS, consensus)
    assert sorted(zip(table["item"], table["category"], strict=True)) == sorted(expected)


N = 120


def learned(strength, *, verdicts_are_labels=False, retests=None):
    """Learn from one feature that moves the log-odds by `strength`; 12 applications of 10 items."""
    rng = np.random.default_rng(3)
    items = [f"i{n:03d}" for n in range(N)]
    x = rng.standard_normal(N)
    dissimilar = rng.random(N) < 1 / (1 + np.exp(-strength * x))
    category = np.where(dissimilar, "dissimilar", "similar")
    called = category.copy()
    if not verdicts_are_labels:
        called = np.where(rng.random(N) < 0.6, category, "similar")
    truth = pd.DataFrame({"item": items, "category": category})
    features = pd.DataFrame({"m1": x, "spread": rng.standard_normal(N)}, index=items)
    applications = pd.Series([f"app{n % 12}" for n in range(N)], index=items)
    verdicts = pd.DataFrame({"item": items, "classifier": "heuristic", "verdict": called, "score": dissimilar * 1.0})
    verdicts = verdicts if verdicts_are_labels else verdicts.assign(score=rng.random(N))
    settings = LearnSettings(seed=1, positive="dissimilar", n_draws=40)
    return learn(
        examples_to_learn(truth, features, ("m1", "spread"), applications), verdicts, settings, retests=retests
    )


@pytest.fixture(scope="module")
def noise():
    return learned(0.0, verdicts_are_labels=True)


@pytest.fixture(scope="module")
def signal():
    return learned(3.0, retests=Retests(18, 100))


def in_short(found):
    text = to_text(document(found))
    return text[text.index("In short") :]


def test_noise_is_named_as_noise_and_labels_that_are_verdicts_are_named(noise, signal):
    assert noise.useless is not None
    assert in_short(noise).index("These features do not predict the labels") < in_short(noise).index("On held-out")
    assert "worse than chance" not in to_text(document(noise))
    assert noise.positive.nearly_verdicts == (("heuristic", 1.0),)
    assert "The labels are nearly the verdicts of heuristic (100.0 %). Were they made with it?" in in_short(noise)
    assert signal.positive.nearly_verdicts == ()


def test_a_signal_is_useful_and_has_a_ceiling(signal):
    assert signal.useless is None
    assert "do not predict" not in to_text(document(signal))
    assert in_short(signal).count("No classifier can reach more than") == 2
    assert "from 100 retests" in in_short(signal)
    assert "A monotone model of the measures" in in_short(signal)
    assert "On new applications, it would agree with the labels on about" in in_short(signal)
    assert "heuristic on" in in_short(signal)


@pytest.mark.parametrize(
    ("changed", "n", "share", "e", "accuracy", "auc"),
    [
        (18, 100, 0.5, 0.1, 0.9, 0.9),  # 2 e (1 - e) = .18
        (32, 100, 0.5, 0.2, 0.8, 0.8),
        (0, 40, 0.3, 0.0, 1.0, 1.0),
        # q = .26, e = .1: p = .2, a = .1 * .8 / .26, b = .1 * .2 / .74
        (18, 100, 0.26, 0.1, 0.9, 0.5 + 0.5 * (1 - 0.08 / 0.26 - 0.02 / 0.74)),
        (60, 100, 0.5, 0.5, 0.5, 0.5),  # labels that change more often than by chance say nothing
    ],
)
def test_the_ceiling_by_hand(changed, n, share, e, accuracy, auc):
    found = ceiling(changed, n, share)
    assert (found.error.value, found.accuracy.value, found.auc.value) == pytest.approx((e, accuracy, auc))
    for estimate in (found.error, found.accuracy, found.auc):
        assert 0 <= estimate.low <= estimate.value + 1e-12 <= estimate.high + 1e-9 <= 1 + 1e-9


def test_two_equal_labels_are_wrong_less_often_and_retests_are_counted_once():
    # .1^2 / (.1^2 + .9^2)
    assert ceiling(18, 100, 0.5, n_agreeing=2).error.value == pytest.approx(0.01 / 0.82)
    assert ceiling(3, 19, 0.5).auc.reason == "fewer than 20 retests (19)"
    with pytest.raises(ValueError, match="n_changed must be within"):
        ceiling(3, 2, 0.5)
    rows = [("a", "ada", "similar", "fresh"), ("a", "ada", "dissimilar", "retest"), ("b", "ada", "similar", "overlap"),
            ("b", "ada", "similar", "retest"), ("b", "ben", "similar", "fresh")]  # fmt: skip
    assert retest_counts(pd.DataFrame(rows, columns=["item", "reviewer", "label", "kind"])) == (1, 2)
