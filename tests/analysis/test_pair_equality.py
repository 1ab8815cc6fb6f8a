"""Whether all pairs of raters agree equally often, and who differs."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.agreement import pair_equality
from analysis.agreement._pairs import TOO_FEW


def labelled(who, called):
    """Return a label table: `called` of each item and rater where `who` is true."""
    item, rater = np.nonzero(who)
    names = np.array([f"r{r + 1}" for r in range(who.shape[1])])
    category = np.where(called[item, rater], "dissimilar", "similar")
    return pd.DataFrame({"item": item, "rater": names[rater], "category": category})


def drawn(n_items, n_raters, k, rng, right=0.8, truth=None):
    """Return who labels what in turns of k raters, and labels of equally good raters."""
    blocks = list(combinations(range(n_raters), k))
    who = np.zeros((n_items, n_raters), dtype=bool)
    for item in range(n_items):
        who[item, list(blocks[item % len(blocks)])] = True
    truth = rng.random((n_items, 1)) < 0.5 if truth is None else truth
    return who, np.where(rng.random(who.shape) < right, truth, ~truth)


def test_pairs_with_different_items_have_nearly_pearsons_test():
    # the paper's six pairs: Pearson's chi-squared is 40.13 with 5 degrees of freedom
    agree, n = [46, 56, 34, 52, 75, 61], [98, 98, 97, 98, 97, 98]
    pairs = list(combinations("abcd", 2))
    rows = [
        (f"{a}{b}{i}", rater, "similar" if rater == a or i < x else "dissimilar")
        for (a, b), x, m in zip(pairs, agree, n, strict=True)
        for i in range(m)
        for rater in (a, b)
    ]
    found = pair_equality(pd.DataFrame(rows, columns=["item", "rater", "category"]))
    assert (found.df1, found.df2, found.n_items) == (5, 581, 586)
    assert 5 * found.statistic == pytest.approx(40.13, rel=0.05)
    assert (found.pairs[0].a, found.pairs[0].b, found.pairs[0].n) == ("a", "b", 98)
    assert found.pairs[0].agree.value == pytest.approx(46 / 98)


def test_two_pairs_on_all_items_have_the_paired_test_of_their_difference():
    # with two pairs, F is nearly the square of the paired t statistic, which is centred at the common share
    rng = np.random.default_rng(3)
    who, called = drawn(90, 3, 3, rng, right=np.array([0.9, 0.8, 0.6]))
    table = labelled(who, called)
    table = table[~((table["rater"] == "r1") & (table["item"] % 3 == 0))]
    found = pair_equality(table)
    assert (found.df1, found.df2) == (2, 88)
    assert found.p == pytest.approx(stats.f.sf(found.statistic, 2, 88))


def test_two_camps_are_named_with_their_agreement():
    rng = np.random.default_rng(1)
    opinions = rng.random((150, 2)) < 0.5
    who, called = drawn(150, 4, 4, rng, right=0.9, truth=opinions[:, [0, 0, 1, 1]])
    contrast = pair_equality(labelled(who, called)).contrast
    assert (contrast.kind, contrast.first, contrast.second) == ("groups", ("r1", "r2"), ("r3", "r4"))
    assert contrast.within.low > contrast.across.high
    assert contrast.across.low <= contrast.chance_across <= contrast.across.high
    assert contrast.within_first.value == pytest.approx(np.mean(called[:, 0] == called[:, 1]))
    assert contrast.within_second.value == pytest.approx(np.mean(called[:, 2] == called[:, 3]))


def test_a_copying_pair_is_named():
    rng = np.random.default_rng(2)
    who, called = drawn(150, 4, 4, rng)
    called[:, 1] = np.where(rng.random(150) < 0.8, called[:, 0], called[:, 1])
    found = pair_equality(labelled(who, called))
    assert (found.contrast.kind, found.contrast.first) == ("pair", ("r1", "r2"))
    assert found.contrast.within.value == pytest.approx(np.mean(called[:, 0] == called[:, 1]))
    others = [np.mean(called[:, i] == called[:, j]) for i, j in combinations(range(4), 2) if (i, j) != (0, 1)]
    assert found.contrast.across.value == pytest.approx(np.mean(others))


def test_a_reviewer_who_guesses_is_named():
    rng = np.random.default_rng(4)
    who, called = drawn(300, 5, 3, rng, right=0.9)
    called[:, 3] = rng.random(300) < 0.5
    contrast = pair_equality(labelled(who, called)).contrast
    assert (contrast.kind, contrast.first) == ("reviewer", ("r4",))
    assert contrast.across.value < 0.6 < contrast.within.low


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([(i, r, "similar") for i in range(40) for r in "ab"], "fewer than two pairs share items"),
        ([(i, r, "similar") for i in range(40) for r in "abc"], "all pairs always agree"),
        ([(i, r, "similar" if (i + ord(r)) % 4 else "dissimilar") for i in range(9) for r in "abc"], TOO_FEW),
        ([], "fewer than two pairs share items"),
    ],
)
def test_pairs_that_cannot_be_compared_say_why(rows, reason):
    found = pair_equality(pd.DataFrame(rows, columns=["item", "rater", "category"]))
    assert (found.p, found.contrast, found.reason) == (None, None, reason)


def test_names_and_order_of_items_and_raters_do_not_matter():
    rng = np.random.default_rng(5)
    who, called = drawn(120, 4, 3, rng, right=np.array([0.9, 0.9, 0.7, 0.6]))
    table = labelled(who, called)
    one, other = pair_equality(table), pair_equality(table.sample(frac=1, random_state=1))
    assert one.p == pytest.approx(other.p)
    assert one.contrast == other.contrast


@pytest.mark.slow
@pytest.mark.parametrize(("n_items", "n_raters", "k"), [(20, 3, 3), (60, 3, 3), (60, 4, 4), (120, 4, 3), (324, 4, 2)])
@pytest.mark.parametrize("right", [0.7, 0.85])
def test_equal_pairs_are_rejected_in_at_most_six_percent(n_items, n_raters, k, right):
    rng = np.random.default_rng(6)
    p = [pair_equality(labelled(*drawn(n_items, n_raters, k, rng, right))).p for _ in range(1000)]
    tested = [value for value in p if value is not None]
    assert np.mean(np.array(tested) <= 0.05) <= 0.06 + 2 * (0.06 * 0.94 / max(len(tested), 1)) ** 0.5
