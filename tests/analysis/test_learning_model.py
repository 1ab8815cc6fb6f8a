"""Model files are read strictly, and give the same verdicts as the learned model."""

import json

import numpy as np
import pytest

from analysis.learning import FEATURES, Model, ModelError, Term, model_from_text
from analysis.runs import Runs

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


def test_a_model_reads_back_as_it_was():
    assert model_from_text(MODEL.to_text()) == MODEL


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


def test_a_model_of_the_first_version_is_still_read():
    content = json.loads(MODEL.to_text())
    assert model_from_text(json.dumps(content | {"version": 1})) == MODEL


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
        (("format",), "other", "model of version 1"),
        (("version",), 4, "model of version 1, 2 or 3"),
        (("version",), True, "model of version 1"),
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
        (MODEL.to_text().replace('"name"', '"format": "labeler model", "name"'), "a name occurs twice"),
        (MODEL.to_text().replace("-0.25", "NaN"), "NaN is not a number"),
        (MODEL.to_text().replace("-0.25", "1e999"), "intercept is inf, not a number"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_text_that_is_not_a_model_is_rejected(text, why):
    with pytest.raises(ModelError, match=why):
        model_from_text(text)


def test_runs_are_judged_by_the_probability():
    rng = np.random.default_rng(1)
    apart = [level + 0.01 * rng.random(100) for level in range(1, 11)]
    verdict = MODEL.judge_runs(Runs(apart))
    assert (verdict.classifier, verdict.verdict, verdict.threshold, verdict.n_runs) == (
        "learned:mine", "dissimilar", 0.4, 10,
    )  # fmt: skip


def test_short_runs_get_no_verdict_and_another_warmup_is_rejected():
    verdict = MODEL.judge_runs(Runs([[1.0, 2.0], [1.0, 2.0]]))
    assert verdict.verdict is None
    assert "feature m1" in verdict.reason
    with pytest.raises(ValueError, match=r"warm-up 0, .* warm-up 1"):
        MODEL.judge_runs(Runs([[1.0, 2.0], [1.0, 2.0]], 1))
