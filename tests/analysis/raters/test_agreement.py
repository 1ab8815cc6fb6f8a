"""Coefficients of agreement: by hand, published, against formulas written out, of two raters, of ordered scales."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa

from analysis.raters.agreement import (
    TwoByTwo,
    band,
    band_membership,
    bias_index,
    bootstrap_coefficient,
    brennan_prediger,
    category_weights,
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    fleiss_kappa_test,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    leniency,
    pabak,
    pair_agreements,
    pair_tables,
    percent_agreement,
    prevalence_index,
    rank_test,
    retest_agreement,
    specific_agreement,
    two_by_two_tables,
)
from analysis.raters.agreement._formulas import NO_PAIR
from analysis.raters.agreement._pairs import NO_COMMON_ITEM
from analysis.raters.tables import Counts
from analysis.statistics.bootstrap import bootstrap
from analysis.statistics.intervals import Estimate, paired_difference, wilson
from tests.analysis.raters.strategies import count_tables
from tests.conftest import examples

COEFFICIENTS = [percent_agreement, fleiss_kappa, gwet_ac1, brennan_prediger, krippendorff_alpha]


def test_fleiss_kappa_of_a_table_worked_by_hand():
    # P = (1 + 1 + 1 + 0) / 4 = 3/4; Pe = (5/8)^2 + (3/8)^2 = 17/32; kappa = 7/15
    counts = [[2, 0], [2, 0], [0, 2], [1, 1]]
    assert fleiss_kappa(counts).value == pytest.approx(7 / 15)
    assert percent_agreement(counts).value == 3 / 4
    assert brennan_prediger(counts).value == pytest.approx(1 / 2)
    assert gwet_ac1(counts).value == pytest.approx((3 / 4 - 15 / 32) / (17 / 32))
    # alpha: N = 8, disagreeing pairs 2, 7 * 2 / (2 * 5 * 3) = 7/15
    assert krippendorff_alpha(counts).value == pytest.approx(8 / 15)


def counts_of(case):
    given_input = case["input"]
    if "counts" in given_input:
        return given_input["counts"]
    if "ratings_items_by_raters" in given_input:
        ratings = given_input["ratings_items_by_raters"]
        return [[row.count(category) for category in range(1, 6)] for row in ratings]
    agreed = [[0, 2]] * given_input["agreed_dissimilar"] + [[2, 0]] * given_input["agreed_similar"]
    return agreed + [[1, 1]] * (given_input["n_items"] - len(agreed))


@pytest.mark.parametrize("case", ["fleiss1971_diagnoses", "krippendorff_4x12", "paper_overall"])
def test_coefficients_of_published_tables(golden_agreement, case):
    counts, expected = Counts(counts_of(golden_agreement[case])), golden_agreement[case]["expected"]
    assert percent_agreement(counts).value == pytest.approx(expected["percent_agreement"], abs=1e-6)
    for function, value, se in (
        (fleiss_kappa, "fleiss_kappa", "fleiss_se_gwet"),
        (gwet_ac1, "gwet_ac1", "ac1_se"),
        (brennan_prediger, "brennan_prediger", "bp_se"),
        (krippendorff_alpha, "krippendorff_alpha_nominal", "alpha_se_gwet"),
    ):
        estimate = function(counts)
        assert (estimate.value, estimate.se) == pytest.approx((expected[value], expected[se]), abs=1e-6)


def test_the_papers_overall_agreement_with_its_intervals(golden_agreement):
    counts, expected = counts_of(golden_agreement["paper_overall"]), golden_agreement["paper_overall"]["expected"]
    kappa, percent = fleiss_kappa(counts), percent_agreement(counts)
    assert kappa.value == pytest.approx(4177 / 42560)
    half = stats.t.ppf(0.975, 585) * kappa.se  # published: the linearised interval
    assert [kappa.value - half, kappa.value + half] == pytest.approx(expected["fleiss_ci95_gwet_t"], abs=1e-6)
    assert [kappa.low, kappa.high] == pytest.approx([0.0170, 0.1785], abs=1e-4)
    assert [percent.low, percent.high] == pytest.approx(expected["percent_agreement_wilson"], abs=1e-8)
    assert band(kappa.value) == expected["landis_koch"]


def test_the_interval_of_a_rare_category_holds_chance_agreement():
    # 118/5/2/0 of Feinstein and Cicchetti: kappa is -.029, and the labels do not exclude any kappa up to .42
    kappa = fleiss_kappa(Counts([[2, 0]] * 118 + [[1, 1]] * 7))
    assert (kappa.value, kappa.low, kappa.high) == pytest.approx((-0.0288, -0.056, 0.416), abs=5e-4)


@pytest.mark.parametrize("coefficient", [fleiss_kappa, krippendorff_alpha])
def test_the_upper_end_of_two_labels_per_item_is_that_of_the_goodness_of_fit(coefficient):
    # 118, 7 and 0 of 125 items: at the end, the sum of (o - e)^2 / e reaches the quantile 3.841
    high = coefficient(Counts([[2, 0]] * 118 + [[1, 1]] * 7)).high
    if coefficient is krippendorff_alpha:
        high = 1 - (1 - high) * 250 / 249
    p, q = 243 / 250, 7 / 250
    expected = 125 * np.array([p**2 + p * q * high, 2 * p * q * (1 - high), q**2 + p * q * high])
    assert ((np.array([118, 7, 0]) - expected) ** 2 / expected).sum() == pytest.approx(3.8415, abs=1e-3)


def test_tables_with_more_categories(golden_agreement):
    case = golden_agreement["landis_koch1977_ms_winnipeg_patients"]
    kappa = cohen_kappa(case["input"]["table"])
    assert (kappa.value, kappa.se) == pytest.approx(tuple(case["expected"].values()), abs=1e-8)
    case = golden_agreement["gwet_3x3_abstractors"]
    table = np.array(case["input"]["table"])
    counts = [np.eye(3)[i] + np.eye(3)[j] for i in range(3) for j in range(3) for _ in range(table[i, j])]
    expected = case["expected"]
    assert cohen_kappa(table).value == pytest.approx(expected["cohen_kappa"], abs=1e-9)
    assert fleiss_kappa(counts).value == pytest.approx(expected["scott_pi"], abs=1e-9)
    assert gwet_ac1(counts).value == pytest.approx(expected["gwet_ac1"], abs=1e-9)
    assert brennan_prediger(counts).value == pytest.approx(expected["brennan_prediger"], abs=1e-9)
    assert krippendorff_alpha(counts).value == pytest.approx(expected["krippendorff_alpha_nominal"], abs=1e-9)


@given(count_tables(), st.sampled_from(COEFFICIENTS))
def test_coefficients_are_1_exactly_at_full_agreement(counts, coefficient):
    estimate = coefficient(Counts(counts))
    if estimate.value is None:
        return
    r = counts[counts.sum(axis=1) >= 2]
    full = bool((r.max(axis=1) == r.sum(axis=1)).all())
    assert (estimate.value == pytest.approx(1)) == full
    assert estimate.value <= 1 + 1e-12


@pytest.mark.parametrize("index", range(4))
def test_degenerate_data_give_a_value_or_a_reason(golden_agreement, index):
    case = golden_agreement["degenerate"]["expected"][index]
    counts = [[[2, 0]] * 10, [[1, 0], [0, 1]], [[1, 1]], [[1, 1]] * 4][index]
    counts = Counts(counts)
    functions = {function.__name__: function for function in COEFFICIENTS}
    for name, expected in case.items():
        if name in functions:
            estimate = functions[name](counts)
            assert estimate.value == (None if expected is None else pytest.approx(expected, abs=1e-12))
            assert (estimate.value is None) <= (estimate.reason is not None)
    if case.get("all", "") is None:
        assert all(f(counts).value is None and f(counts).reason == NO_PAIR for f in COEFFICIENTS)
    if case.get("se", "") is None:
        assert fleiss_kappa(counts).se is None


def test_a_constant_rater_and_bands_of_landis_and_koch(golden_agreement):
    assert cohen_kappa([[5, 3], [0, 0]]).value == 0.0
    assert "single category" in cohen_kappa([[5, 3], [0, 0]]).reason
    assert cohen_kappa([[5, 0], [0, 0]]).value is None
    assert "labelled by both" in cohen_kappa([[0, 0], [0, 0]]).reason
    assert cohen_kappa([[0, 1], [0, 0]]).value == 0.0
    case = golden_agreement["landis_koch_bands"]
    assert [band(kappa) for kappa in case["input"]["kappa"]] == case["expected"]
    assert band(None) is None


@pytest.mark.parametrize("table", [[[1, 2]], [[1, -2], [0, 1]], [[0.5, 1], [1, 1]], [[3]]])
def test_cohen_kappa_rejects_tables_that_are_not_square(table):
    with pytest.raises(ValueError, match="table must"):
        cohen_kappa(table)


def test_pairs_are_counted_on_items_that_both_labelled_in_the_order_of_the_categories():
    labels = pd.DataFrame(
        [
            ("x", "ben", "similar"), ("x", "ada", "similar"), ("y", "ben", "similar"), ("y", "ada", "dissimilar"),
            ("z", "ada", "similar"), ("z", "cleo", "similar"),
        ],
        columns=["item", "rater", "category"],
    )  # fmt: skip
    ada_ben, ada_cleo = pair_agreements(labels)
    assert (ada_ben.a, ada_ben.b, ada_ben.n, ada_ben.agree, ada_ben.percent.value) == ("ada", "ben", 2, 1, 0.5)
    assert (ada_cleo.a, ada_cleo.b, ada_cleo.n) == ("ada", "cleo", 1)
    assert ada_cleo.cohen_kappa.reason is not None
    assert pair_agreements(labels.iloc[:0]) == []
    labels = pd.DataFrame({"item": [1, 1, 2, 2], "rater": ["b", "a"] * 2, "category": ["z", "x", "x", "x"]})
    assert {pair: table.tolist() for pair, table in pair_tables(labels, ["x", "y", "z"]).items()} == {
        ("a", "b"): [[1, 0, 1], [0, 0, 0], [0, 0, 0]]
    }


CASES = ["two_by_two_feinstein_cicchetti_balanced", "two_by_two_paradox2_symmetric", "two_by_two_cohen_wikipedia"]

two_by_two = st.builds(TwoByTwo, *[st.integers(0, 30)] * 4)


@pytest.mark.parametrize("case", CASES)
def test_every_statistic_of_a_published_two_by_two_table(golden_agreement, case):
    table, expected = TwoByTwo(**golden_agreement[case]["input"]), golden_agreement[case]["expected"]
    specific = specific_agreement(table)
    computed = {
        "percent_agreement": percent_agreement(table.counts).value,
        "cohen_kappa": cohen_kappa(table.matrix).value,
        "cohen_se": cohen_kappa(table.matrix).se,
        "pabak": pabak(table).value,
        "gwet_ac1": gwet_ac1(table.counts).value,
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


@given(two_by_two)
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
    # items 2-0 and 1-3 (similar-dissimilar): dissimilar (3 * 2 / 12) / (3/4); with pairs as weights, it is 6 / 9
    specific = specific_agreement([[2, 0], [1, 3]])
    assert specific["dissimilar"].value == pytest.approx(2 / 3)
    assert specific["similar"].value == pytest.approx(1 / 1.25)
    specific = specific_agreement([[2, 0], [2, 0], [0, 1]])
    assert specific["dissimilar"] == Estimate(None, reason="this category does not occur on items with two labels")
    assert (specific["similar"].value, specific["similar"].high) == (1, 1)
    with pytest.raises(ValueError, match="2 columns for 3 categories"):
        specific_agreement([[2, 0]], ("a", "b", "c"))


def test_specific_agreement_of_many_raters_has_the_interval_that_the_bootstrap_finds():
    rng = np.random.default_rng(5)
    dissimilar = rng.binomial(3, rng.beta(1, 1, 200))
    r = np.column_stack([3 - dissimilar, dissimilar]).astype(float)
    agreeing, pairs = r * (r - 1), r * 2
    for k, estimate in enumerate(specific_agreement(r).values()):
        drawn = bootstrap(lambda w, k=k: (w @ agreeing[:, k]) / (w @ pairs[:, k]), len(r), rng=rng)
        assert estimate.se == pytest.approx(drawn.se, rel=0.05)
        assert [estimate.low, estimate.high] == pytest.approx([drawn.low, drawn.high], abs=0.01)


def test_a_two_by_two_table_puts_dissimilar_first_and_without_items_or_variation_says_so():
    empty, full = TwoByTwo(0, 0, 0, 0), TwoByTwo(7, 0, 0, 0)
    for statistic in (prevalence_index, bias_index, pabak):
        assert statistic(empty) == Estimate(None, reason=NO_COMMON_ITEM)
    assert prevalence_index(full) == Estimate(1.0, reason="no variation between items: no standard error")
    assert pabak(full).low == pytest.approx(2 * wilson(7, 7).low - 1)
    with pytest.raises(ValueError, match="whole numbers"):
        TwoByTwo(1, -1, 0, 0)
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
    assert fleiss_kappa_test([[2, 0], [2, 0]]).reason == fleiss_kappa([[2, 0], [2, 0]]).reason
    assert fleiss_kappa_test([[1, 0]]).p is None


@pytest.mark.slow
def test_the_chance_test_holds_its_level_with_unequal_numbers_of_ratings():
    rng = np.random.default_rng(11)
    n_ratings = np.repeat([1, 2, 3, 6], [20, 60, 40, 30])
    z = []
    for _ in range(4000):
        dissimilar = rng.binomial(n_ratings, 0.3)
        z.append(fleiss_kappa_test(Counts(np.column_stack([n_ratings - dissimilar, dissimilar]))).z)
    assert np.std(z) == pytest.approx(1, abs=0.03)
    assert np.mean(np.abs(z) > 1.96) == pytest.approx(0.05, abs=0.01)


def pairs_of(table, rater="ada"):
    cells = [("dissimilar", "dissimilar"), ("dissimilar", "similar"), ("similar", "dissimilar"), ("similar", "similar")]
    rows = [cell for cell, n in zip(cells, (table.a, table.b, table.c, table.d), strict=True) for _ in range(n)]
    return pd.DataFrame(rows, columns=["first", "second"]).assign(rater=rater)


@given(two_by_two)
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


WEIGHTED = [percent_agreement, fleiss_kappa, gwet_ac2, brennan_prediger, krippendorff_alpha]
square_tables = st.integers(2, 5).flatmap(lambda q: hnp.arrays(np.int64, (q, q), elements=st.integers(0, 20)))


def test_weights_and_ac2_of_tables_worked_by_hand_and_published():
    assert category_weights("linear", 4)[0].tolist() == pytest.approx([1, 2 / 3, 1 / 3, 0])
    assert category_weights("quadratic", 4)[0].tolist() == pytest.approx([1, 8 / 9, 5 / 9, 0])
    assert category_weights(None, 2).tolist() == [[1, 0], [0, 1]]
    # pa = (1 + 0 + 1 + 3/4) / 4; p = (3/8, 1/8, 1/2); sum of weights 6, so pe = 6/6 * sum p (1 - p) = 19/32
    ratings = [["low", "low"], ["low", "high"], ["high", "high"], ["medium", "high"]]
    pa, pe = 11 / 16, 19 / 32
    kappa = gwet_ac2(ratings, ["low", "medium", "high"], weights="quadratic")
    assert kappa.value == pytest.approx((pa - pe) / (1 - pe))
    even = brennan_prediger(ratings, ["low", "medium", "high"], weights="quadratic")
    assert even.value == pytest.approx((pa - 6 / 9) / (1 - 6 / 9))
    # Cohen 1968, table 1 (200 cases in three categories), weights of disagreement 0, 1, 3 / 0, 6 / 0, scaled by 6
    table = np.array([[0.44, 0.07, 0.09], [0.05, 0.20, 0.05], [0.01, 0.03, 0.06]]) * 200
    disagreement = np.array([[0, 1, 3], [1, 0, 6], [3, 6, 0]])
    assert cohen_kappa(np.rint(table)).value == pytest.approx(0.492, abs=0.0005)
    assert cohen_kappa(np.rint(table), weights=1 - disagreement / 6).value == pytest.approx(0.348, abs=0.0005)
    counts = [[2, 0, 0]] * 10 + [[0, 1, 1]] * 5 + [[1, 0, 1]] * 5
    drawn = bootstrap_coefficient(gwet_ac2, counts, rng=np.random.default_rng(1), n_draws=200)
    assert drawn.value == pytest.approx(gwet_ac2(counts).value)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("cubic", "got 'cubic'"),
        ([[1, 0], [0, 1]], r"shape \(3, 3\).*\(2, 2\)"),
        ([[1, 0.5, 0], [0.2, 1, 0], [0, 0, 1]], "symmetric"),
        (np.eye(3) / 2, "1 on the diagonal"),
        (np.eye(3) * 2 - 1, r"within \[0, 1\]"),
        (np.full((3, 3), np.nan), "symmetric"),
    ],
)
def test_invalid_weights_are_rejected(weights, message):
    with pytest.raises(ValueError, match=message):
        fleiss_kappa([[2, 0, 0], [0, 1, 1]], weights=weights)


@given(square_tables, st.sampled_from(["linear", "quadratic"]))
def test_weighted_kappa_and_its_error_are_those_of_statsmodels(table, weights):
    ours = cohen_kappa(table, weights=weights)
    assume(ours.se is not None)
    theirs = cohens_kappa(table, wt=weights)
    assert (ours.value, ours.se) == pytest.approx((theirs.kappa, theirs.std_kappa))


@settings(max_examples=examples(20))
@given(count_tables(n_categories=3))
def test_identity_weights_change_nothing(counts):
    counts = Counts(counts)
    for coefficient in WEIGHTED[1:]:
        plain = gwet_ac1(counts) if coefficient is gwet_ac2 else coefficient(counts)
        assert coefficient(counts, weights=np.eye(3)) == plain


@pytest.mark.parametrize("coefficient", WEIGHTED)
def test_the_error_of_weighted_coefficients_is_that_of_the_bootstrap(coefficient):
    rng = np.random.default_rng(4)
    centre = rng.integers(0, 5, 300)
    ratings = np.clip(centre[:, None] + rng.integers(-1, 2, (300, 3)), 0, 4)
    counts = (ratings[:, :, None] == np.arange(5)).sum(axis=1)
    plain = coefficient(counts, weights="quadratic")
    drawn = bootstrap_coefficient(coefficient, counts, weights="quadratic", rng=rng, n_draws=1000)
    assert drawn.value == pytest.approx(plain.value)
    assert drawn.se == pytest.approx(plain.se, rel=0.1)


def test_the_probabilities_of_the_bands_by_the_normal_distribution():
    # kappa .62, se .1: P(k > .8) = P(z > 1.8) = .0359, P(.6 < k <= .8) = P(-.2 < z <= 1.8) = .5433
    membership = band_membership(Estimate(0.62, se=0.1))
    assert membership.band[:2] == ("almost perfect", "substantial")
    assert membership.probability[:2] == pytest.approx((0.0359, 0.5433), abs=1e-4)
    assert (membership.low[0], membership.high[0], membership.low[-1], membership.high[-1]) == (0.8, 1.0, -1.0, 0.0)
    assert membership.benchmark == "moderate"  # .0359 + .5433 < .95 <= .0359 + .5433 + .4068
    assert band_membership(Estimate(0.62, se=0.1), wanted=0.5).benchmark == "substantial"
    assert band_membership(Estimate(None, reason=NO_PAIR)).reason == NO_PAIR
    assert band_membership(Estimate(1.0)).reason == "no standard error"
    with pytest.raises(ValueError, match=r"wanted.*got 95"):
        band_membership(Estimate(0.5, se=0.1), wanted=95)


WEIGHTS = {None: lambda d: float(d == 0), "linear": lambda d: 1 - abs(d), "quadratic": lambda d: 1 - d**2}


def wide_labels(rows):
    """One row per item, one column per rater."""
    cells = [(f"i{i}", f"r{j}", label) for i, row in enumerate(rows) for j, label in enumerate(row)]
    return pd.DataFrame(cells, columns=["item", "rater", "category"])


def random_tables(k, n_tables, seed=11):
    """Wide ratings of 20 items by 4 raters who often agree; a rating is missing with probability .15."""
    rng = np.random.default_rng([seed, k])
    for _ in range(n_tables):
        truth = rng.integers(k, size=(20, 1))
        ratings = np.where(rng.random((20, 4)) < 0.6, truth, rng.integers(k, size=(20, 4))).astype(float)
        ratings[rng.random((20, 4)) < 0.15] = np.nan
        yield ratings


def by_hand(counts, weights):
    """Return Fleiss' kappa, AC1 or AC2, and Brennan-Prediger from a count table, item by item."""
    k = counts.shape[1]
    w = [[WEIGHTS[weights]((i - j) / (k - 1)) for j in range(k)] for i in range(k)]
    used = [row for row in counts if sum(row) >= 1]
    shared = [row for row in counts if sum(row) >= 2]
    pa = 0.0
    for row in shared:
        r = sum(row)
        reached = [sum(w[i][j] * row[j] for j in range(k)) for i in range(k)]
        pa += sum(row[i] * (reached[i] - 1) for i in range(k)) / (r * (r - 1)) / len(shared)
    pi = [sum(row[j] / sum(row) for row in used) / len(used) for j in range(k)]
    total = sum(map(sum, w))
    chance = {
        "fleiss": sum(w[i][j] * pi[i] * pi[j] for i in range(k) for j in range(k)),
        "gwet": total / (k * (k - 1)) * sum(p * (1 - p) for p in pi),
        "brennan": total / k**2,
    }
    return {name: (pa - pe) / (1 - pe) for name, pe in chance.items()}


@pytest.mark.parametrize("n_tables", [10, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("k", [3, 5])
@pytest.mark.parametrize("weights", list(WEIGHTS), ids=str)
def test_random_tables_have_the_values_of_the_formulas(k, weights, n_tables):
    level = {None: "nominal", "linear": None, "quadratic": "interval"}[weights]
    names, largest = tuple(range(k)), 0.0
    for ratings in random_tables(k, n_tables):
        table = np.array([[(row == name).sum() for name in names] for row in ratings])
        expected, counts = by_hand(table, weights), Counts(table)
        of_weights = {} if weights is None else {"weights": weights}
        gwet = gwet_ac1 if weights is None else gwet_ac2
        found = {
            "fleiss": fleiss_kappa(counts, **of_weights), "gwet": gwet(counts, **of_weights),
            "brennan": brennan_prediger(counts, **of_weights),
        }  # fmt: skip
        differences = [abs(found[name].value - expected[name]) for name in found]
        if level:
            alpha = krippendorff.alpha(ratings.T, level_of_measurement=level, value_domain=list(names))
            differences.append(abs(krippendorff_alpha(counts, **of_weights).value - alpha))
        largest = max(largest, *differences)
    assert largest < 1e-12


@pytest.mark.parametrize("k", [3, 5])
def test_the_rank_test_of_complete_labels_without_ties_is_friedmans(k):
    rng = np.random.default_rng(k)
    rows = [rng.permutation(k) for _ in range(12)]
    labels = wide_labels([[f"c{place}" for place in row] for row in rows])
    expected = stats.friedmanchisquare(*np.array(rows).T)
    found = rank_test(labels, tuple(f"c{place}" for place in range(k)))
    assert (found.chi2, found.p, found.df) == (
        pytest.approx(expected.statistic), pytest.approx(expected.pvalue), k - 1,
    )  # fmt: skip


def test_the_rank_test_of_two_categories_is_the_score_test_of_leniency():
    # rater a is never stricter than another rater, so the test of leniency is the score test (Cochran's Q)
    rows = [("no", "yes", "yes"), ("no", "no", "yes"), ("no", "yes", "no"), ("no", "no", "no"), ("no", "yes", "yes")]
    labels = wide_labels(rows)
    found, expected = rank_test(labels, ("no", "yes")), leniency(labels, ("no", "yes")).overall
    assert expected.test == "score"
    assert (found.chi2, found.df, found.p) == (pytest.approx(expected.chi2), expected.df, pytest.approx(expected.p))


def test_congers_kappa_without_an_item_that_it_needs_is_no_infinite_change():
    """Without the first item, all labels are similar, so kappa is undefined."""
    found = conger_kappa(
        [
            ["dissimilar", None, "similar", "similar"],
            ["similar", "similar", "similar", None],
            ["similar", None, None, "similar"],
        ]
    )
    assert -1 <= found.value <= 1
    assert found.low is None and "label of the rarer category" in found.reason
