"""Models of two and of more categories: files are read strictly, formulas, and verdicts."""

import json
from dataclasses import replace

import numpy as np
import pytest

from analysis.learning import FEATURES, Model, ModelError, Term, model_from_text
from analysis.runs.runs import Runs

TWO, THREE = ("similar", "dissimilar"), ("step", "noise", "steady")


def term(name, *coefficients, **scale):
    return Term(name, FEATURES[name].version, coefficients, **scale)


MODEL = Model(
    "mine", TWO, (term("m1", 1.0, mean=0.5, sd=0.25), term("spread", 0.5, mean=0.1, sd=0.1)), (-0.25,), 0.01, True,
    0.4, 1.0, training={"n_items": 100},
)  # fmt: skip
RANKED = Model(
    "ranks", TWO,
    (term("m1", 2.0, quantiles=(0.1, 0.2, 0.2, 0.4)), term("slope_sd", -0.5, quantiles=(0.0, 1.0))),
    (0.25,), 0.01, False, 0.4, 2.0,
)  # fmt: skip
OF_CATEGORIES = Model(
    "mine", THREE, (term("m1", 1.0, 0.0, -1.0, quantiles=(0.0, 1.0)),), (0.0, 0.5, -0.5), 0.1
)  # fmt: skip
WITHOUT_POSITIVE = Model("two", ("b", "a"), (term("m1", 1.0, quantiles=(0.0, 1.0)),), (0.5,), 0.1)


def changed(model, path, value):
    """Return the model file with one value changed, or removed if the new value is `...`."""
    content = json.loads(model.to_text())
    place = content
    for name in path[:-1]:
        place = place[name]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(content)


@pytest.mark.parametrize("model", [MODEL, RANKED, OF_CATEGORIES, WITHOUT_POSITIVE])
def test_models_read_back_as_they_were(model):
    assert model_from_text(model.to_text()) == model


def test_a_model_of_ranks_uses_the_rank_of_a_value():
    assert RANKED.needs_runs
    assert not MODEL.needs_runs
    # rank of .2: mean of 1/3 and 2/3 is 1/2, so 0; rank of 1: 1, so sqrt(12) / 2; log-odds .25 - .5 sqrt(3)
    found = RANKED.probabilities({"m1": 0.2, "slope_sd": 1.0})
    assert found["dissimilar"] == pytest.approx(1 / (1 + np.exp(0.5 * 3**0.5 - 0.25)))
    found = RANKED.probabilities({"m1": -9.0, "slope_sd": 0.5})
    assert found["dissimilar"] == pytest.approx(1 / (1 + np.exp(2 * 3**0.5 - 0.25)))
    assert sum(found.values()) == pytest.approx(1)
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
    found = MODEL.probabilities({"m1": 0.75, "spread": 0.2})
    assert found["dissimilar"] == pytest.approx(1 / (1 + np.exp(-1.25)))
    assert MODEL.formula.startswith("P(dissimilar) = 1 / (1 + exp(-(-2.75 + 4 m1 + 5 spread)))")  # -0.25 - 2 - 0.5


@pytest.mark.parametrize(
    ("model", "path", "value", "why"),
    [
        (MODEL, ("format",), "other", "has the format 'other', but this version reads the format 1"),
        (MODEL, ("format",), 2, "has the format 2,"),
        (OF_CATEGORIES, ("format",), 2, "has the format 2,"),
        (MODEL, ("format",), True, "has the format True,"),
        (MODEL, ("format",), ..., "the model lacks 'format'"),
        (MODEL, ("more",), 1, "the model has the unknown key 'more'"),
        (MODEL, ("threshold",), ..., "the model lacks 'threshold'"),
        (MODEL, ("threshold",), 1.5, "threshold is 1.5, out of"),
        (MODEL, ("threshold",), "0.5", "threshold is '0.5', not a number"),
        (MODEL, ("threshold",), None, "threshold is None, not a number"),
        (MODEL, ("cost_ratio",), None, "cost_ratio is None, not a number"),
        (MODEL, ("cost_ratio",), -1, "cost_ratio is -1, out of range"),
        (OF_CATEGORIES, ("threshold",), 0.5, "must be null in a model of more than two"),
        (WITHOUT_POSITIVE, ("monotone",), True, "a monotone model needs a threshold"),
        (MODEL, ("penalty",), True, "penalty is True, not a number"),
        (MODEL, ("monotone",), 1, "monotone is 1, not true or false"),
        (MODEL, ("training",), [], "training is not an object"),
        (MODEL, ("terms",), [], "terms is not a list of at least one feature"),
        (MODEL, ("terms", 0), 3, "term 1 is not an object"),
        (MODEL, ("terms", 0, "feature"), "m9", "term 1: unknown feature 'm9'"),
        (MODEL, ("terms", 0, "feature"), "spread", "a feature occurs twice"),
        (MODEL, ("terms", 1, "version"), "0.1", "version 0.1 of the feature spread, but version .* Learn the model"),
        (MODEL, ("terms", 0, "sd"), 0, "term 1: sd"),
        (MODEL, ("terms", 0, "coefficients"), [-1], "term 1.*monotone.*-1"),
        (MODEL, ("terms", 0, "coefficients"), [1, 2], "term 1, coefficients is not a list of 1 number$"),
        (OF_CATEGORIES, ("terms", 0, "coefficients"), [1, 2], "term 1, coefficients is not a list of 3 numbers"),
        (OF_CATEGORIES, ("terms", 0, "coefficients"), [1, 2, "x"], "term 1, coefficients has 'x', not a number"),
        (MODEL, ("terms", 0, "mean"), ..., "term 1 lacks 'mean'"),
        (MODEL, ("name",), "a/b", "letters, digits, dots"),
        (MODEL, ("name",), "", "1 to 60 characters"),
        (MODEL, ("categories",), ["similar"], "categories is not a list of at least two names"),
        (MODEL, ("categories",), "similar", "categories is not a list of at least two names"),
        (OF_CATEGORIES, ("categories",), ["step", "step", "steady"], "a category occurs twice"),
        (OF_CATEGORIES, ("intercepts",), [1], "intercepts is not a list of 3 numbers"),
        (OF_CATEGORIES, ("intercepts",), [0, 0.6, -0.5], "match the numbers"),
        (MODEL, ("intercepts",), [7], "match the numbers"),
    ],
)
def test_a_changed_file_is_rejected(model, path, value, why):
    with pytest.raises(ModelError, match=why):
        model_from_text(changed(model, path, value))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "the file is not JSON"),
        ("[]", "the model is not an object"),
        (MODEL.to_text().replace('"name"', '"format": 1, "name"'), "a name occurs twice"),
        (MODEL.to_text().replace("-0.25", "NaN"), "NaN is not a number"),
        (MODEL.to_text().replace("-0.25", "1e999"), "intercepts has inf, not a number"),
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


def test_a_verdict_is_the_most_probable_category_and_its_score_the_probability_of_the_positive_one():
    # rank of 1: sqrt(12) / 2; scores 1.732, 0.5, -2.232
    verdict = OF_CATEGORIES.judge({"m1": 1.0}, positive="noise")
    assert verdict.verdict == "step"
    assert verdict.score == pytest.approx(np.exp(0.5) / np.exp([3**0.5, 0.5, -0.5 - 3**0.5]).sum())
    assert OF_CATEGORIES.judge({"m1": 0.5}).verdict == "noise"
    assert OF_CATEGORIES.judge({"m1": 0.5}).score is None
    # of two categories with a positive one, the threshold decides: log-odds 1.25, P = .777; else the larger probability
    values = {"m1": 0.75, "spread": 0.2}
    assert (MODEL.judge(values).verdict, MODEL.judge(values).score) == ("dissimilar", pytest.approx(0.7773, abs=1e-4))
    assert replace(MODEL, threshold=0.8).judge(values).verdict == "similar"
    assert (WITHOUT_POSITIVE.judge({"m1": 0.5}).verdict, WITHOUT_POSITIVE.judge({"m1": -1}).verdict) == ("a", "b")
    assert "feature m1 is missing" in OF_CATEGORIES.judge({"m1": float("nan")}).reason
