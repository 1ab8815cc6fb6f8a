"""What a learning report states: noise, labels made with a classifier, the ceiling, the curve and known changes."""

import numpy as np
import pandas as pd
import pytest

from analysis.document import to_text
from analysis.intervals import Estimate
from analysis.learning import ceiling, document, dose_response, learn, retest_counts
from analysis.learning._document import _slope
from analysis.learning._validation import LearningCurve

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
    return learn(truth, features, applications, verdicts, seed=1, names=("m1", "spread"), n_draws=200, retests=retests)


@pytest.fixture(scope="module")
def noise():
    return learned(0.0, verdicts_are_labels=True)


@pytest.fixture(scope="module")
def signal():
    return learned(3.0, retests=(18, 100))


def in_short(found):
    text = to_text(document(found))
    return text[text.index("In short") :]


def test_noise_is_named_as_noise_in_the_first_sentence(noise):
    assert noise.useless is not None
    assert in_short(noise).index("These features do not predict the labels") < in_short(noise).index("On held-out")
    assert "worse than chance" not in to_text(document(noise))


def test_a_signal_is_useful_and_has_a_ceiling_beside_its_results(signal):
    assert signal.useless is None
    assert "do not predict" not in to_text(document(signal))
    assert in_short(signal).count("No classifier can reach more than") == 2
    assert "from 100 retests" in in_short(signal)
    assert "A monotone model of the measures" in in_short(signal)
    assert "On new applications, it would agree with the labels on about" in in_short(signal)
    assert "heuristic on" in in_short(signal)


def test_labels_that_are_verdicts_are_named(noise, signal):
    assert noise.nearly_verdicts == (("heuristic", 1.0),)
    assert "The labels are nearly the verdicts of heuristic (100.0 %). Were they made with it?" in in_short(noise)
    assert signal.nearly_verdicts == ()


def test_the_curve_has_no_verdict_and_no_slope_below_150_labels(signal):
    assert signal.curve.slope.reason == "fewer than 150 labels (120)"
    assert "would" not in _slope(signal.curve).replace("would do", "")
    rising = LearningCurve((), Estimate(0.01, low=-0.002, high=0.021))
    assert "the area rises by 0.010 per doubling of the labels" in _slope(rising)
    assert "the area falls by 0.010 " in _slope(LearningCurve((), Estimate(-0.01)))


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


def test_two_equal_labels_are_wrong_less_often_and_few_retests_say_nothing():
    # .1^2 / (.1^2 + .9^2)
    assert ceiling(18, 100, 0.5, n_agreeing=2).error.value == pytest.approx(0.01 / 0.82)
    assert ceiling(3, 19, 0.5).auc.reason == "fewer than 20 retests (19)"
    with pytest.raises(ValueError, match="n_changed must be within"):
        ceiling(3, 2, 0.5)


def test_retests_are_counted_once_per_reviewer_and_item():
    rows = [("a", "ada", "similar", "fresh"), ("a", "ada", "dissimilar", "retest"), ("b", "ada", "similar", "overlap"),
            ("b", "ada", "similar", "retest"), ("b", "ben", "similar", "fresh")]  # fmt: skip
    assert retest_counts(pd.DataFrame(rows, columns=["item", "reviewer", "label", "kind"])) == (1, 2)


KNOWN = {"benchmark": ["a", "b"], "run": [0, 9], "intervention": ["slowdown", "cold start"], "amount": [0.5, 1.0]}
VERDICTS = pd.DataFrame(
    {"item": ["a", "b", "c"], "classifier": "same", "verdict": ["dissimilar", "similar", "similar"]}
)


def test_known_interventions_are_counted():
    rows = dose_response(pd.DataFrame(KNOWN), VERDICTS, n_runs={"a": 10, "b": 10})
    assert [(row.kind, row.n) for row in rows] == [("noise alone", 1), ("cold start", 1), ("slowdown", 1)]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("benchmark", "nobody", "row 2: the benchmark 'nobody' is not an item"),
        ("intervention", "slowdwon", "row 2: unknown intervention 'slowdwon'. Choose from: noise alone, slowdown"),
        ("run", "x", "row 2: 'x' is not the number of a run"),
        ("run", -1, "row 2: -1 is not the number of a run"),
        ("run", 10, "row 2: 10 is not the number of a run of the 10 runs of 'b', which are counted from 0"),
    ],
)
def test_unknown_benchmarks_runs_and_kinds_are_refused(column, value, message):
    table = pd.DataFrame(KNOWN).astype({"run": object})
    table.loc[1, column] = value
    with pytest.raises(ValueError, match=message):
        dose_response(table, VERDICTS, n_runs={"a": 10, "b": 10})
