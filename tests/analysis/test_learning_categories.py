"""Learning any number of categories: the fit against other software, and what is learned from known labels."""

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
    ModelError,
    TooFew,
    categories_document,
    fit_logistic,
    fit_multinomial,
    learn_categories,
    model_from_text,
)

NAMES = ("m1", "m5", "spread")
CATEGORIES = ("step", "noise", "steady")


def data(rng, slope):
    """Return 120 items of 12 applications; each category is likely where its own feature is large."""
    x = rng.standard_normal((120, 3))
    category = (slope * x + rng.gumbel(size=x.shape)).argmax(axis=1)
    items = [f"item{n:03}" for n in range(120)]
    truth = pd.DataFrame({"item": items, "category": [CATEGORIES[k] for k in category]})
    applications = pd.Series({item: f"app{n % 12}" for n, item in enumerate(items)}, dtype=object)
    return truth, pd.DataFrame(x, index=items, columns=list(NAMES)), applications


def learned_of(truth, features, applications, categories=CATEGORIES, **options):
    verdicts = truth.rename(columns={"category": "verdict"}).assign(classifier="copy")
    return learn_categories(
        truth, features, applications, verdicts, categories, seed=1, names=NAMES, n_draws=200, **options
    )


def test_without_a_penalty_the_fit_is_that_of_statsmodels():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((150, 2))
    y = (x @ np.array([[1.0, 0.0, -0.5], [0.0, 0.7, 0.2]]) + rng.gumbel(size=(150, 3))).argmax(axis=1)
    found = fit_multinomial(x, y, 3, 1e-9)
    theirs = np.asarray(MNLogit(y, add_constant(x)).fit(disp=False).params)
    ours = np.vstack([found.intercepts, found.coefficients])
    assert ours[:, 1:] - ours[:, :1] == pytest.approx(theirs, abs=2e-3)


def test_two_categories_are_the_logistic_regression_with_twice_the_penalty():
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


def test_random_labels_are_not_learned_and_a_category_without_labels_is_named():
    truth, features, applications = data(np.random.default_rng(5), slope=0.0)
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


MODEL = CategoryModel(
    "mine", CATEGORIES, (CategoryTerm("m1", FEATURES["m1"].version, (0.0, 1.0), (1.0, 0.0, -1.0)),),
    (0.0, 0.5, -0.5), 0.1,
)  # fmt: skip


def test_a_verdict_is_the_most_probable_category_and_its_score_the_probability_of_the_positive_one():
    # rank of 1: sqrt(12) / 2; scores 1.732, 0.5, -2.232
    verdict = MODEL.judge({"m1": 1.0}, positive="noise")
    assert verdict.verdict == "step"
    assert verdict.score == pytest.approx(np.exp(0.5) / np.exp([3**0.5, 0.5, -0.5 - 3**0.5]).sum())
    assert MODEL.judge({"m1": 0.5}).verdict == "noise"
    assert "feature m1 is missing" in MODEL.judge({"m1": float("nan")}).reason


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"intercept": {"step": 0}}, "at least two categories"),
        ({"intercept": {"step": 0, "noise": 0.5, "other": 0}}, "term 1, coefficient lacks 'other'"),
        ({"intercept": {"step": 0, "noise": 0.5, "steady": "x"}}, "intercept of steady is 'x', not a number"),
        ({"threshold": 0.5}, "has no threshold"),
        ({"intercept": {"step": 0, "noise": 0.6, "steady": -0.5}}, "match the numbers"),
        ({"version": 4}, "model of version 1, 2 or 3"),
    ],
)
def test_a_changed_file_is_rejected(change, why):
    with pytest.raises(ModelError, match=why):
        model_from_text(json.dumps(json.loads(MODEL.to_text()) | change))
