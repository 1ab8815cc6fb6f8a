"""Two raters, two categories; specific agreement; tests of chance agreement; test-retest."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, strategies as st

from analysis.agreement import (
    TwoByTwo,
    bias_index,
    brennan_prediger,
    cohen_kappa,
    fleiss_kappa,
    fleiss_kappa_test,
    krippendorff_alpha,
    pabak,
    percent_agreement,
    prevalence_index,
    retest_agreement,
    specific_agreement,
    two_by_two_tables,
)
from analysis.agreement._pairs import NO_COMMON_ITEM
from analysis.bootstrap import bootstrap
from analysis.intervals import Estimate, paired_difference, wilson
from tests.analysis.strategies import count_tables

CASES = ["two_by_two_feinstein_cicchetti_balanced", "two_by_two_paradox2_symmetric", "two_by_two_cohen_wikipedia"]

tables = st.builds(TwoByTwo, *[st.integers(0, 30)] * 4)


@pytest.mark.parametrize("case", CASES)
def test_every_statistic_of_a_published_two_by_two_table(golden_agreement, case):
    table, expected = TwoByTwo(**golden_agreement[case]["input"]), golden_agreement[case]["expected"]
    specific = specific_agreement(table)
    computed = {
        "percent_agreement": percent_agreement(table.counts).value,
        "cohen_kappa": cohen_kappa(table.matrix).value,
        "cohen_se": cohen_kappa(table.matrix).se,
        "pabak": pabak(table).value,
        "prevalence_index": prevalence_index(table).value,
        "bias_index": bias_index(table).value,
        "specific_agreement_pos": specific["dissimilar"].value,
        "specific_agreement_neg": specific["similar"].value,
        "fleiss_kappa_scott_pi": fleiss_kappa(table.counts).value,
    }
    assert computed == pytest.approx({name: expected[name] for name in computed}, abs=1e-8)


def test_the_papers_prevalence_and_specific_agreement(golden_agreement):
    expected = golden_agreement["paper_overall"]["expected"]
    table = TwoByTwo(a=189, b=262, c=0, d=135)  # the direction of the splits does not matter here
    assert prevalence_index(table).value == pytest.approx(expected["prevalence_index"], abs=1e-9)
    specific = specific_agreement(table)
    assert specific["dissimilar"].value == pytest.approx(expected["specific_agreement_dissimilar"], abs=1e-9)
    assert specific["similar"].value == pytest.approx(expected["specific_agreement_similar"], abs=1e-9)


@given(tables)
def test_kappa_follows_from_pabak_prevalence_and_bias(table):
    # Byrt et al. 1993: kappa = (PABAK - PI^2 + BI^2) / (1 - PI^2 + BI^2)
    kappa = cohen_kappa(table.matrix).value
    assume(kappa is not None)
    pi2, bi2 = prevalence_index(table).value ** 2, bias_index(table).value ** 2
    assert kappa == pytest.approx((pabak(table).value - pi2 + bi2) / (1 - pi2 + bi2))


@given(tables)
def test_alpha_is_fleiss_kappa_and_a_small_sample_term(table):
    # two ratings on each of n items: alpha = k + (1 - k) / (2n)
    kappa = fleiss_kappa(table.counts).value
    assume(kappa is not None)
    assert krippendorff_alpha(table.counts).value == pytest.approx(kappa + (1 - kappa) / (2 * table.n))


@given(tables)
def test_pabak_is_brennan_prediger_of_the_counts(table):
    assert pabak(table).value == pytest.approx(brennan_prediger(table.counts).value)
    assert (pabak(table).reason is None) == (table.n > 0)


@given(tables)
def test_exchanged_raters_and_exchanged_categories_change_signs_only(table):
    raters, categories = TwoByTwo(table.a, table.c, table.b, table.d), TwoByTwo(table.d, table.c, table.b, table.a)
    assume(table.n > 0)
    assert bias_index(raters).value == -bias_index(table).value
    assert prevalence_index(raters) == prevalence_index(table)
    assert bias_index(categories).value == -bias_index(table).value
    assert prevalence_index(categories).value == -prevalence_index(table).value
    assert specific_agreement(categories)["similar"] == specific_agreement(table)["dissimilar"]
    assert pabak(categories) == pabak(raters) == pabak(table)


def test_intervals_of_a_two_by_two_table_by_hand():
    table = TwoByTwo(a=40, b=9, c=6, d=45)
    share = wilson(40, 55)  # share of the items that at least one rater calls dissimilar
    ends = [2 * q / (1 + q) for q in (share.low, share.high)]
    dissimilar = specific_agreement(table)["dissimilar"]
    assert [dissimilar.low, dissimilar.high] == pytest.approx(ends)
    po = wilson(85, 100)
    assert (pabak(table).low, pabak(table).high) == pytest.approx((2 * po.low - 1, 2 * po.high - 1))
    assert bias_index(table) == paired_difference(40, 9, 6, 45)  # Newcombe's interval, also where no item differs
    assert bias_index(TwoByTwo(7, 0, 0, 0)).high > 0


def test_specific_agreement_of_three_raters_by_hand():
    # items 3-0, 2-1, 0-3 (similar-dissimilar): dissimilar 0 + 0 + 1 of 0 + 1/3 + 1; similar 1 + 1/3 + 0 of 1 + 2/3 + 0
    specific = specific_agreement([[3, 0], [2, 1], [0, 3]])
    assert specific["dissimilar"].value == pytest.approx(6 / 8)
    assert specific["similar"].value == pytest.approx(8 / 10)


def test_specific_agreement_of_many_raters_has_the_interval_that_the_bootstrap_finds():
    rng = np.random.default_rng(5)
    dissimilar = rng.binomial(3, rng.beta(1, 1, 200))
    r = np.column_stack([3 - dissimilar, dissimilar]).astype(float)
    agreeing, pairs = r * (r - 1), r * 2
    for k, estimate in enumerate(specific_agreement(r).values()):
        drawn = bootstrap(lambda w, k=k: (w @ agreeing[:, k]) / (w @ pairs[:, k]), len(r), rng=rng)
        assert estimate.se == pytest.approx(drawn.se, rel=0.05)
        assert [estimate.low, estimate.high] == pytest.approx([drawn.low, drawn.high], abs=0.01)


@given(count_tables())
def test_percent_agreement_lies_between_the_specific_agreements(counts):
    assume((counts.sum(axis=1) >= 2).any())
    specific = [estimate.value for estimate in specific_agreement(counts).values() if estimate.value is not None]
    assert min(specific) - 1e-9 <= percent_agreement(counts).value <= max(specific) + 1e-9


def test_specific_agreement_gives_each_item_the_same_weight():
    # items 2-0 and 1-3 (similar-dissimilar): dissimilar (3 * 2 / 12) / (3/4); with pairs as weights, it is 6 / 9
    specific = specific_agreement([[2, 0], [1, 3]])
    assert specific["dissimilar"].value == pytest.approx(2 / 3)
    assert specific["similar"].value == pytest.approx(1 / 1.25)


def test_specific_agreement_is_undefined_for_a_category_without_pairs():
    specific = specific_agreement([[2, 0], [2, 0], [0, 1]])
    assert specific["dissimilar"] == Estimate(None, reason="this category does not occur on items with two labels")
    assert (specific["similar"].value, specific["similar"].high) == (1, 1)
    with pytest.raises(ValueError, match="2 columns for 3 categories"):
        specific_agreement([[2, 0]], ("a", "b", "c"))


def test_a_two_by_two_table_without_items_or_variation_says_so():
    empty, full = TwoByTwo(0, 0, 0, 0), TwoByTwo(7, 0, 0, 0)
    for statistic in (prevalence_index, bias_index, pabak):
        assert statistic(empty) == Estimate(None, reason=NO_COMMON_ITEM)
    assert prevalence_index(full) == Estimate(1.0, reason="no variation between items: no standard error")
    assert pabak(full).low == pytest.approx(2 * wilson(7, 7).low - 1)
    with pytest.raises(ValueError, match="whole numbers"):
        TwoByTwo(1, -1, 0, 0)


def test_two_by_two_tables_put_dissimilar_first():
    labels = pd.DataFrame(
        {
            "item": [1, 1, 2, 2, 3, 3, 4],
            "rater": ["ben", "ada"] * 3 + ["cleo"],
            "category": ["similar", "dissimilar", "dissimilar", "dissimilar", "similar", "similar", "similar"],
        }
    )
    assert two_by_two_tables(labels) == {("ada", "ben"): TwoByTwo(a=1, b=1, c=0, d=1)}


def test_chance_test_of_published_tables(golden_agreement):
    case = golden_agreement["fleiss1971_diagnoses"]
    test = fleiss_kappa_test(case["input"]["counts"])
    assert (test.se0, test.z) == pytest.approx(
        (case["expected"]["fleiss_se0"], case["expected"]["fleiss_z0"]), abs=1e-5
    )
    expected = golden_agreement["paper_overall"]["expected"]
    test = fleiss_kappa_test(TwoByTwo(189, 262, 0, 135).counts)
    assert (test.se0, test.z) == pytest.approx((expected["fleiss_se0"], expected["fleiss_z0"]), abs=1e-5)
    assert test.p == pytest.approx(0.01751, abs=1e-5)


@given(count_tables(n_categories=3))
def test_the_chance_test_is_the_published_formula_where_all_items_have_equally_many_ratings(counts):
    equal = counts[counts.sum(axis=1) == np.bincount(counts.sum(axis=1)).argmax()]
    assume(equal.sum(axis=1).min() >= 2)
    p = equal.sum(axis=0) / equal.sum()
    assume((p > 0).sum() > 1)
    n, m, pq = len(equal), equal[0].sum(), (p * (1 - p)).sum()
    se0 = np.sqrt(2 * (pq**2 - (p * (1 - p) * (1 - 2 * p)).sum()) / (n * m * (m - 1))) / pq
    assert fleiss_kappa_test(equal).se0 == pytest.approx(se0)


@pytest.mark.slow
def test_the_chance_test_holds_its_level_with_unequal_numbers_of_ratings():
    rng = np.random.default_rng(11)
    n_ratings = np.repeat([1, 2, 3, 6], [20, 60, 40, 30])
    z = []
    for _ in range(4000):
        dissimilar = rng.binomial(n_ratings, 0.3)
        z.append(fleiss_kappa_test(np.column_stack([n_ratings - dissimilar, dissimilar])).z)
    assert np.std(z) == pytest.approx(1, abs=0.03)
    assert np.mean(np.abs(z) > 1.96) == pytest.approx(0.05, abs=0.01)


def test_chance_tests_are_undefined_where_kappa_is():
    assert fleiss_kappa_test([[2, 0], [2, 0]]).reason == fleiss_kappa([[2, 0], [2, 0]]).reason
    assert fleiss_kappa_test([[1, 0]]).p is None


def pairs_of(table, rater="ada"):
    cells = [("dissimilar", "dissimilar"), ("dissimilar", "similar"), ("similar", "dissimilar"), ("similar", "similar")]
    rows = [cell for cell, n in zip(cells, (table.a, table.b, table.c, table.d), strict=True) for _ in range(n)]
    return pd.DataFrame(rows, columns=["first", "second"]).assign(rater=rater)


@given(tables)
def test_retest_agreement_is_that_of_the_table_of_first_and_second_labels(table):
    assume(table.n > 0)
    retest = retest_agreement(pairs_of(table).sample(frac=1, random_state=1))[0]
    assert retest.table == table
    assert retest.percent == wilson(table.a + table.d, table.n)
    assert retest.cohen_kappa == cohen_kappa(table.matrix[::-1, ::-1])  # the order of the declared categories
    assert retest.pabak == pabak(table)
    assert (retest.drift.b, retest.drift.c) == (table.b, table.c)
    assert retest.change.value == pytest.approx((table.c - table.b) / table.n)


def test_retest_agreement_is_by_rater_and_rejects_invalid_labels():
    pairs = pd.concat([pairs_of(TwoByTwo(1, 5, 0, 1), "ben"), pairs_of(TwoByTwo(2, 0, 0, 2), "ada")])
    ada, ben = retest_agreement(pairs)
    assert (ada.rater, ada.drift.p, ada.cohen_kappa.value, ada.cohen_kappa.se) == ("ada", 1.0, 1.0, None)
    assert ada.cohen_kappa.low is None  # two items of the rarer category contain too little information
    assert (ben.rater, ben.n, ben.drift.p) == ("ben", 7, 0.0625)
    assert retest_agreement(pairs.iloc[:0]) == []
    with pytest.raises(ValueError, match="lacks the column second"):
        retest_agreement(pairs[["rater", "first"]])
    with pytest.raises(ValueError, match=r"'not sure' \(row 0, column 1\) is not one of"):
        retest_agreement(pairs.assign(second="not sure"))
