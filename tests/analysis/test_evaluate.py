from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from analysis.agreement import cohen_kappa
from analysis.evaluation import accuracy, against_majority, balanced_accuracy, confusion_matrix, evaluate, mcc
from tests.conftest import examples

NAMES = ["regression", "noise", "improvement", "stable", "unknown"]


def found(consensus, verdicts, categories=("a", "b", "c"), **more):
    return evaluate(consensus, verdicts, categories, rng=np.random.default_rng(1), **{"n_draws": 0} | more)


def of_table(table, **more):
    """The evaluation of a table of counts."""
    names = NAMES[: len(table)]
    rows = [(names[i], names[j]) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    consensus, verdicts = zip(*rows, strict=True) if rows else ((), ())
    return found(list(consensus), list(verdicts), names, **more)


def test_three_categories_worked_by_hand():
    # right: 5 of 6; recalls 1, 1, 1/2; n * right - sum of products of margins = 6 * 5 - (2*3 + 2*2 + 2*1) = 18;
    # (36 - 12) * (36 - 14) = 528; rule "a": 2 right; b = items on which only the classifier is right = 3
    result = of_table([[2, 0, 0], [0, 2, 0], [1, 0, 1]], ordered=True)
    assert result.accuracy.value == pytest.approx(5 / 6)
    assert result.balanced_accuracy.value == pytest.approx(5 / 6)
    assert result.mcc.value == pytest.approx(18 / 528**0.5)
    rates = [(row.recall.value, row.precision.value) for row in result.by_category]
    assert rates == [(1.0, pytest.approx(2 / 3)), (1.0, 1.0), (0.5, 1.0)]
    assert (result.baseline.category, result.baseline.mcnemar.b, result.baseline.mcnemar.c) == ("regression", 3, 0)
    assert result.baseline.difference.value == pytest.approx(3 / 6)
    # linear weights 1, 1/2, 0: po = (5 * 1 + 0) / 6; pe = (2*3+2*2+2*1)/36 + (2*2 + 2*(3+1) + 2*2)/72 = 12/36 + 16/72
    assert result.weighted_kappa.value == pytest.approx((5 / 6 - 5 / 9) / (1 - 5 / 9))


@settings(max_examples=examples(30))
@given(st.lists(st.lists(st.integers(0, 12), min_size=2, max_size=2), min_size=2, max_size=2))
def test_two_categories_give_the_numbers_of_the_confusion_matrix(table):
    result = of_table(table)
    rows = [(i, j) for i in range(2) for j in range(2) for _ in range(table[i][j])]
    names = NAMES[:2]
    columns = [[names[row[side]] for row in rows] for side in (0, 1)]
    confusion = confusion_matrix(*columns, categories=names)
    assert result.accuracy == accuracy(confusion)
    two = balanced_accuracy(confusion)
    if two.ends is not None:
        assert result.balanced_accuracy.ends == pytest.approx(two.ends)
    matthews = mcc(confusion, rng=np.random.default_rng(1), n_draws=1).value
    assert result.mcc.value == (matthews if matthews is None else pytest.approx(matthews))
    if rows and sum(table[0]) != sum(table[1]):
        expected = against_majority(confusion)
        assert (result.baseline.accuracy, result.baseline.difference) == (expected.accuracy, expected.difference)
        assert (result.baseline.mcnemar, result.baseline.verdict) == (expected.mcnemar, expected.verdict)


@settings(max_examples=examples(30))
@given(st.lists(st.lists(st.integers(0, 5), min_size=4, max_size=4), min_size=4, max_size=4), st.permutations(range(4)))
def test_the_order_of_categories_changes_no_overall_number(table, order):
    one, two = of_table(table), of_table([[table[i][j] for j in order] for i in order])
    for name in ("accuracy", "balanced_accuracy", "mcc"):
        assert getattr(one, name).value == (
            None if getattr(two, name).value is None else pytest.approx(getattr(two, name).value)
        )


def test_intervals_of_four_categories_cover_the_truth():
    """1000 simulated studies of 120 items with known error matrix; each interval holds 95 % of the time."""
    rng = np.random.default_rng(20261124)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    errors = np.full((4, 4), 0.1) + np.diag([0.6, 0.5, 0.6, 0.4])
    errors /= errors.sum(axis=1, keepdims=True)
    truth = {"accuracy": float(shares @ np.diag(errors)), "balanced_accuracy": float(np.diag(errors).mean())}
    n, inside = 1000, dict.fromkeys(truth, 0)
    for _ in range(n):
        table = rng.multinomial(120, (shares[:, None] * errors).ravel()).reshape(4, 4)
        result = of_table(table)
        for name, value in truth.items():
            _, low, high = getattr(result, name).ends
            inside[name] += low <= value <= high
    assert {name: 0.92 <= count / n <= 0.975 for name, count in inside.items()} == dict.fromkeys(truth, True)


def test_the_interval_of_the_correlation_needs_items_and_draws():
    table = [[20, 3, 2], [4, 18, 3], [2, 2, 20]]
    result = of_table(table, n_draws=2000)
    assert result.mcc.low < result.mcc.value < result.mcc.high
    assert of_table([[2, 0], [1, 2]], n_draws=100).mcc.reason == "fewer than 20 items (5): no interval"


def test_categories_without_items_and_items_without_verdicts_have_a_reason():
    items = pd.Series(["a", "a", "b"], index=["x", "y", "z"])
    result = found(items, pd.Series({"z": "b", "x": "a"}))
    assert (result.n, result.n_without_verdict) == (2, 1)
    assert result.by_category[2].recall.reason == "no item is c"
    assert result.by_category[2].precision.reason == "no verdict is c"
    empty = found([], [])
    assert {empty.accuracy.reason, empty.balanced_accuracy.reason, empty.mcc.reason} == {
        "no item has both a consensus and a verdict"
    }
    assert (empty.baseline.category, empty.baseline.verdict) == (None, "cannot tell")
    assert found(["a"], ["a"]).mcc.reason == "the consensus or the verdicts have only one category"


@pytest.mark.parametrize(
    ("consensus", "verdicts", "message"),
    [
        (["a"], ["d"], "verdicts has the value 'd'"),
        (["d"], ["a"], "consensus has the value 'd'"),
        (["a"], [], "consensus has 1 items, verdicts has 0"),
    ],
)
def test_what_cannot_be_compared_is_refused(consensus, verdicts, message):
    with pytest.raises(ValueError, match=message):
        found(consensus, verdicts)


def test_weighted_kappa_is_that_of_two_raters():
    table = np.array([[5, 2, 0], [1, 6, 2], [0, 1, 4]])
    kappa = partial(cohen_kappa, table, NAMES[:3], weights="linear")
    assert of_table(table, ordered=True).weighted_kappa == kappa()
    assert of_table(table).weighted_kappa is None
