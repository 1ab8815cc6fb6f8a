"""Reviewers as a random sample, missing labels, and the size of a study for a test of kappa."""

import numpy as np
import pandas as pd
import pytest

from analysis.agreement import fleiss_kappa, if_given, jackknife_over_raters
from analysis.planning import items_for_kappa_test
from analysis.tables import count_table


def labels_of(rows, raters="abc"):
    words = {"1": "dissimilar", "0": "similar"}
    return pd.DataFrame(
        [(i, r, words[x]) for i, row in enumerate(rows) for r, x in zip(raters, row, strict=True) if x != "-"],
        columns=["item", "rater", "category"],
    )


ROWS = ["111", "110", "100", "000", "101", "011", "000", "111", "001", "110"]


def test_the_jackknife_by_hand():
    labels = labels_of(ROWS)
    whole = fleiss_kappa(count_table(labels))
    without = [fleiss_kappa(count_table(labels[labels["rater"] != r])).value for r in "abc"]
    variance = whole.se**2 + 2 / 3 * sum((k - np.mean(without)) ** 2 for k in without)
    found = jackknife_over_raters(labels)
    assert found.value == whole.value
    assert found.se == pytest.approx(variance**0.5)
    assert found.high - found.low > whole.high - whole.low


def test_two_reviewers_are_not_a_sample():
    found = jackknife_over_raters(labels_of([row[:2] for row in ROWS], "ab"))
    assert (found.low, found.reason) == (None, "fewer than three reviewers")


def test_missing_labels_are_filled_in_with_each_category():
    labels = labels_of(["11-", "000", "110"])
    missing = pd.DataFrame({"item": [0, 0, 1], "rater": ["c", "c", "a"]})  # one twice, one that exists
    similar, dissimilar = if_given(labels, missing)
    assert (similar.category, dissimilar.category, similar.n, dissimilar.n) == ("similar", "dissimilar", 1, 1)
    assert dissimilar.value == fleiss_kappa([[0, 3], [3, 0], [1, 2]])
    assert similar.value == fleiss_kappa([[1, 2], [3, 0], [1, 2]])
    assert if_given(labels, missing.iloc[2:]) == []


def test_the_items_for_a_test_of_kappa_by_hand():
    # p = .3, k0 = .4: cells .174, .252, .574; moved .042, .084, .042; noncentrality of 80 % power 7.849
    per_item = 0.042**2 / 0.174 + 0.084**2 / 0.252 + 0.042**2 / 0.574
    assert items_for_kappa_test(0.4, 0.6, prevalence=0.3) == int(7.8489 / per_item) + 1
    assert items_for_kappa_test(0.4, 0.5, prevalence=0.3) > items_for_kappa_test(0.4, 0.6, prevalence=0.3)


def test_the_test_of_kappa_has_the_requested_power():
    rng, p, k0, k1 = np.random.default_rng(1), 0.3, 0.4, 0.6
    n = items_for_kappa_test(k0, k1, prevalence=p)
    both = p * (1 - p)

    def cells(k):
        return np.array([p**2 + both * k, 2 * both * (1 - k), (1 - p) ** 2 + both * k])

    counts = rng.multinomial(n, cells(k1), size=4000)
    share = (2 * counts[:, 0] + counts[:, 1]) / (2 * n)
    expected = np.array([cells_of(s, k0) for s in share]) * n
    chi2 = ((counts - expected) ** 2 / expected).sum(axis=1)
    assert (chi2 > 3.841).mean() == pytest.approx(0.8, abs=0.04)


def cells_of(p, k):
    both = p * (1 - p)
    return [p**2 + both * k, 2 * both * (1 - k), (1 - p) ** 2 + both * k]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0.4, 0.4, 0.3), "must differ"), ((0.4, 0.6, 1.3), "prevalence"), ((-0.9, 0.6, 0.3), "kappa")],
)
def test_an_impossible_plan_is_rejected(arguments, message):
    with pytest.raises(ValueError, match=message):
        items_for_kappa_test(arguments[0], arguments[1], prevalence=arguments[2])
