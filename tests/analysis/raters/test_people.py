"""Classifiers beside single people: cases worked by hand, and how often the test is wrong."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.raters.evaluation import against_people, correct_people

S, D = "similar", "dissimilar"


def labels(*items):
    """Build labels from one text per item, such as "ssd"."""
    rows = [(i, f"r{j}", {"s": S, "d": D}[x]) for i, text in enumerate(items) for j, x in enumerate(text)]
    return pd.DataFrame(rows, columns=["item", "rater", "category"])


def test_agreement_with_a_person_is_worked_by_hand():
    # labels that equal the verdict: 1, 1/2, 2/3; equal pairs: 1, 0, 1/3; the item with one label is left out
    found = against_people(labels("ss", "sd", "ssd", "d"), {0: S, 1: D, 2: S, 3: D}, S)
    assert found.n == 3
    assert found.agreement.value == pytest.approx((1 + 1 / 2 + 2 / 3) / 3)
    assert found.people.value == pytest.approx((1 + 0 + 1 / 3) / 3)
    assert found.rule.value == found.agreement.value  # always similar gives 1, 1/2, 2/3, too
    assert found.difference.value == pytest.approx(found.agreement.value - found.people.value)
    assert found.difference.reason == "fewer than 10 items (3): no test"
    assert (found.p, found.verdict) == (None, "cannot tell")


def test_the_test_is_johnsons_with_one_more_loss_and_win():
    found = against_people(labels(*["ss"] * 20, *["sd"] * 20), dict.fromkeys(range(40), S), S)
    values = np.array([0.0] * 20 + [0.5] * 20 + [-1, 1])
    n, s2, m3 = 42, values.var(ddof=1), ((values - values.mean()) ** 3).mean()
    t = (values.mean() + m3 / (6 * s2 * n) + m3 * values.mean() ** 2 / (3 * s2**2)) / np.sqrt(s2 / n)
    assert found.p == pytest.approx(2 * stats.t.sf(t, 41))
    assert found.verdict == "better"
    opposite = against_people(labels(*["ss"] * 40), dict.fromkeys(range(40), D), S)
    assert opposite.verdict == "worse"
    twice = correct_people([found, opposite])
    assert [row.p_holm for row in twice] == [max(found.p, 2 * opposite.p), 2 * opposite.p]


def test_groups_count_as_one_and_their_interval_is_wider():
    given, called = labels(*["ss", "sd", "dd", "ss"] * 10), dict(enumerate([S, S, S, S] * 10))
    alone = against_people(given, called, S)
    few = against_people(given, called, S, groups={i: i // 10 for i in range(40)})
    assert few.agreement.value == alone.agreement.value
    assert few.difference.reason == "fewer than 5 groups (4): no test"
    halves = against_people(labels(*["ss"] * 20, *["dd"] * 20), called, S, groups={i: i // 4 for i in range(40)})
    apart = against_people(labels(*["ss"] * 20, *["dd"] * 20), called, S)
    assert halves.agreement.half_width > 1.5 * apart.agreement.half_width


def test_without_items_or_agreed_items_it_says_why():
    none = against_people(labels("s"), {0: S}, None)
    assert (none.n, none.agreement.reason) == (0, "no item has both two labels and a verdict")
    assert against_people(labels("sd"), {0: S}, None).rule.reason == "no item is agreed"


@pytest.mark.parametrize(("n", "k", "accuracy"), [(60, 4, 0.8), pytest.param(40, 4, 0.9, marks=pytest.mark.slow)])
def test_a_classifier_as_good_as_a_person_is_seldom_called_better_or_worse(n, k, accuracy):
    rng, names = np.random.default_rng(1), np.array([D, S])
    wrong = 0
    for _ in range(200):
        right = rng.random((n, k + 1)) < accuracy
        items = ["".join("s" if x else "d" for x in row[:k]) for row in right]
        called = dict(enumerate(names[right[:, k].astype(int)]))
        wrong += against_people(labels(*items), called, S).verdict != "cannot tell"
    assert wrong <= 14  # .05 of 200, and two standard errors
