"""Models of two or of any number of categories: files are read strictly, the fit, and verdicts."""

import json

import numpy as np
import pandas as pd
import pytest
from statsmodels.api import MNLogit, add_constant

from analysis.document import to_markdown
from analysis.learning import (
    FEATURES,
    CategoryModel,
    CategoryTerm,
    Model,
    ModelError,
    Term,
    TooFew,
    categories_document,
    fit_logistic,
    fit_multinomial,
    learn_categories,
    model_from_text,
)
from analysis.runs.runs import Runs

MODEL = Model(
    "mine", True,
    (Term("m1", FEATURES["m1"].version, 0.5, 0.25, 1.0), Term("spread", FEATURES["spread"].version, 0.1, 0.1, 0.5)),
    -0.25, 0.4, 0.01, training={"n_items": 100},
)  # fmt: skip


def changed(path, value):
    """Return the model file with one value changed, or removed if the new value is None."""
    content = json.loads(MODEL.to_text())
    place = content
    for name in path[:-1]:
        place = place[name]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(content)


def test_models_read_back_as_they_were():
    assert model_from_text(MODEL.to_text()) == MODEL
    assert model_from_text(OF_CATEGORIES.to_text()) == OF_CATEGORIES


RANKED = Model(
    "ranks", False,
    (
        Term("m1", FEATURES["m1"].version, 0.0, 1.0, 2.0, (0.1, 0.2, 0.2, 0.4)),
        Term("slope_sd", FEATURES["slope_sd"].version, 0.0, 1.0, -0.5, (0.0, 1.0)),
    ),
    0.25, 0.4, 0.01,
)  # fmt: skip


def test_a_model_of_ranks_reads_back_as_it_was_and_uses_the_rank_of_a_value():
    assert model_from_text(RANKED.to_text()) == RANKED
    assert RANKED.needs_runs
    assert not MODEL.needs_runs
    # rank of .2: mean of 1/3 and 2/3 is 1/2, so 0; rank of 1: 1, so sqrt(12) / 2; log-odds .25 - .5 sqrt(3)
    assert RANKED.probability({"m1": 0.2, "slope_sd": 1.0}) == pytest.approx(1 / (1 + np.exp(0.5 * 3**0.5 - 0.25)))
    assert RANKED.probability({"m1": -9.0, "slope_sd": 0.5}) == pytest.approx(1 / (1 + np.exp(2 * 3**0.5 - 0.25)))
    assert RANKED.formula.startswith("P(dissimilar) = 1 / (1 + exp(-(0.25 + 2 rank(m1) - 0.5 rank(slope_sd))))")


@pytest.mark.parametrize(
    ("quantiles", "why"),
    [([0.2, 0.1], "ascending"), ([1], "at least two"), ("x", "at least two"), ([0.1, "b"], "'b', not a number")],
)
def test_quantiles_that_are_none_are_rejected(quantiles, why):
    content = json.loads(RANKED.to_text())
    content["terms"][0]["quantiles"] = quantiles
    with pytest.raises(ModelError, match=f"term 1.*{why}"):
        model_from_text(json.dumps(content))


def test_the_formula_gives_the_probability_of_the_terms():
    # log-odds: -0.25 + 1 (0.75 - 0.5) / 0.25 + 0.5 (0.2 - 0.1) / 0.1 = 1.25
    assert MODEL.probability({"m1": 0.75, "spread": 0.2}) == pytest.approx(1 / (1 + np.exp(-1.25)))
    assert MODEL.formula.startswith("P(dissimilar) = 1 / (1 + exp(-(-2.75 + 4 m1 + 5 spread)))")  # -0.25 - 2 - 0.5


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (("format",), "other", "has the format 'other', but this version reads the format 1"),
        (("format",), 2, "has the format 2,"),
        (("format",), True, "has the format True,"),
        (("format",), None, "the model lacks 'format'"),
        (("more",), 1, "the model has the unknown key 'more'"),
        (("threshold",), None, "the model lacks 'threshold'"),
        (("threshold",), 1.5, "threshold is 1.5, out of"),
        (("threshold",), "0.5", "threshold is '0.5', not a number"),
        (("penalty",), True, "penalty is True, not a number"),
        (("monotone",), 1, "monotone is 1, not true or false"),
        (("training",), [], "training is not an object"),
        (("terms",), [], "terms is not a list of at least one feature"),
        (("terms", 0), 3, "term 1 is not an object"),
        (("terms", 0, "feature"), "m9", "term 1: unknown feature 'm9'"),
        (("terms", 0, "feature"), "spread", "a feature occurs twice"),
        (("terms", 1, "version"), "0.1", "version 0.1 of the feature spread, but version .* Learn the model again"),
        (("terms", 0, "sd"), 0, "term 1: sd"),
        (("terms", 0, "coefficient"), -1, "term 1.*monotone.*-1"),
        (("terms", 0, "mean"), None, "term 1 lacks 'mean'"),
        (("name",), "a/b", "letters, digits, dots"),
        (("name",), "", "1 to 60 characters"),
        (("intercept",), 7, "match the numbers"),
    ],
)
def test_a_changed_file_is_rejected(path, value, why):
    with pytest.raises(ModelError, match=why):
        model_from_text(changed(path, value))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "the file is not JSON"),
        ("[]", "the model is not an object"),
        (MODEL.to_text().replace('"name"', '"format": 1, "name"'), "a name occurs twice"),
        (MODEL.to_text().replace("-0.25", "NaN"), "NaN is not a number"),
        (MODEL.to_text().replace("-0.25", "1e999"), "intercept is inf, not a number"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_text_that_is_not_a_model_is_rejected(text, why):
    with pytest.raises(ModelError, match=why):
        model_from_text(text)


def test_runs_are_judged_by_the_probability_or_not_at_all():
    rng = np.random.default_rng(1)
    apart = [level + 0.01 * rng.random(100) for level in range(1, 11)]
    verdict = MODEL.judge_runs(Runs(apart))
    assert (verdict.classifier, verdict.verdict, verdict.threshold, verdict.n_runs) == (
        "learned:mine", "dissimilar", 0.4, 10,
    )  # fmt: skip
    verdict = MODEL.judge_runs(Runs([[1.0, 2.0], [1.0, 2.0]]))
    assert verdict.verdict is None
    assert "feature m1" in verdict.reason
    with pytest.raises(ValueError, match=r"warm-up 0, .* warm-up 1"):
        MODEL.judge_runs(Runs([[1.0, 2.0], [1.0, 2.0]], 1))


NAMES = ("m1", "m5", "spread")
CATEGORIES = ("step", "noise", "steady")


def data(rng, slope, n=120):
    """Return n items of 12 applications; each category is likely where its own feature is large."""
    x = rng.standard_normal((n, 3))
    category = (slope * x + rng.gumbel(size=x.shape)).argmax(axis=1)
    items = [f"item{at:03}" for at in range(n)]
    truth = pd.DataFrame({"item": items, "category": [CATEGORIES[k] for k in category]})
    applications = pd.Series({item: f"app{at % 12}" for at, item in enumerate(items)}, dtype=object)
    return truth, pd.DataFrame(x, index=items, columns=list(NAMES)), applications


def learned_of(truth, features, applications, categories=CATEGORIES, **options):
    verdicts = truth.rename(columns={"category": "verdict"}).assign(classifier="copy")
    return learn_categories(
        truth, features, applications, verdicts, categories, seed=1, names=NAMES, n_draws=200, **options
    )


def test_the_fit_of_categories_is_that_of_statsmodels_and_of_the_logistic_regression():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((150, 2))
    y = (x @ np.array([[1.0, 0.0, -0.5], [0.0, 0.7, 0.2]]) + rng.gumbel(size=(150, 3))).argmax(axis=1)
    found = fit_multinomial(x, y, 3, 1e-9)
    theirs = np.asarray(MNLogit(y, add_constant(x)).fit(disp=False).params)
    ours = np.vstack([found.intercepts, found.coefficients])
    assert ours[:, 1:] - ours[:, :1] == pytest.approx(theirs, abs=2e-3)
    rng = np.random.default_rng(3)
    x = rng.standard_normal((80, 4))
    y = x[:, 0] + rng.logistic(size=80) > 0
    ours, theirs = fit_multinomial(x, y.astype(np.intp), 2, 0.2), fit_logistic(x, y, 0.1)
    assert ours.probability(x)[:, 1] == pytest.approx(theirs.probability(x), abs=1e-4)


def test_planted_categories_are_learned_and_the_file_gives_the_same_verdicts():
    truth, features, applications = data(np.random.default_rng(4), slope=2.5)
    found = learned_of(truth, features, applications, ordered=True)
    assert found.useless is None
    assert found.chance_p < 0.01
    assert found.difference.low > 0
    assert all(area.auc.low > 0.5 for area in found.areas)
    own = found.table["learned verdict"] == found.table["consensus"]
    assert found.accuracy.value == found.evaluation.accuracy.value == pytest.approx(own.mean())
    assert dict(found.others)["copy"].accuracy.value == 1
    text = to_markdown(categories_document(found))
    assert 'the rule "always' in text
    assert "does not use their order" in text
    model = model_from_text(found.model.to_text())
    assert model == found.model
    probabilities = [model.probabilities(row) for row in features.to_dict("records")]
    called = [max(CATEGORIES, key=of_item.__getitem__) for of_item in probabilities]
    assert np.mean([a == b for a, b in zip(called, truth["category"], strict=True)]) > 0.7


@pytest.mark.slow
def test_random_labels_are_not_learned_and_a_category_without_labels_is_named():
    truth, features, applications = data(np.random.default_rng(5), slope=0.0, n=72)
    found = learned_of(truth, features, applications, (*CATEGORIES, "never"))
    assert found.useless
    assert found.model.categories == CATEGORIES
    assert found.warnings[0] == "No label is never, so the model never gives this category."


@pytest.mark.parametrize(
    ("n_rare", "n_applications", "why"), [(9, 12, "9 labels are step"), (10, 4, "come from 4 applications")]
)
def test_too_few_data_are_refused(n_rare, n_applications, why):
    truth, features, _ = data(np.random.default_rng(6), slope=1.0)
    truth["category"] = ["step"] * n_rare + ["noise"] * 40 + ["steady"] * (80 - n_rare)
    applications = pd.Series({item: f"app{n % n_applications}" for n, item in enumerate(truth["item"])}, dtype=object)
    with pytest.raises(TooFew, match=why):
        learned_of(truth, features, applications)


OF_CATEGORIES = CategoryModel(
    "mine", CATEGORIES, (CategoryTerm("m1", FEATURES["m1"].version, (0.0, 1.0), (1.0, 0.0, -1.0)),),
    (0.0, 0.5, -0.5), 0.1,
)  # fmt: skip


def test_a_verdict_is_the_most_probable_category_and_its_score_the_probability_of_the_positive_one():
    # rank of 1: sqrt(12) / 2; scores 1.732, 0.5, -2.232
    verdict = OF_CATEGORIES.judge({"m1": 1.0}, positive="noise")
    assert verdict.verdict == "step"
    assert verdict.score == pytest.approx(np.exp(0.5) / np.exp([3**0.5, 0.5, -0.5 - 3**0.5]).sum())
    assert OF_CATEGORIES.judge({"m1": 0.5}).verdict == "noise"
    assert "feature m1 is missing" in OF_CATEGORIES.judge({"m1": float("nan")}).reason


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"intercept": {"step": 0}}, "at least two categories"),
        ({"intercept": {"step": 0, "noise": 0.5, "other": 0}}, "term 1, coefficient lacks 'other'"),
        ({"intercept": {"step": 0, "noise": 0.5, "steady": "x"}}, "intercept of steady is 'x', not a number"),
        ({"threshold": 0.5}, "unknown key 'threshold'"),
        ({"intercept": {"step": 0, "noise": 0.6, "steady": -0.5}}, "match the numbers"),
        ({"format": 2}, "has the format 2,"),
    ],
)
def test_a_changed_file_of_categories_is_rejected(change, why):
    with pytest.raises(ModelError, match=why):
        model_from_text(json.dumps(json.loads(OF_CATEGORIES.to_text()) | change))
