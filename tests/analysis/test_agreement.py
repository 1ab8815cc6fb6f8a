import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, strategies as st
from statsmodels.stats import inter_rater

from analysis.agreement import (
    band,
    brennan_prediger,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    minority_warning,
    pair_agreements,
    pair_tables,
    percent_agreement,
)
from analysis.agreement._coefficients import NO_PAIR
from tests.analysis.strategies import count_tables
from tests.sentences import says

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
    counts, expected = counts_of(golden_agreement[case]), golden_agreement[case]["expected"]
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
    assert [kappa.low, kappa.high] == pytest.approx(expected["fleiss_ci95_gwet_t"], abs=1e-6)
    assert [percent.low, percent.high] == pytest.approx(expected["percent_agreement_wilson"], abs=1e-8)
    assert band(kappa.value) == expected["landis_koch"]


@pytest.mark.parametrize(
    "case",
    ["two_by_two_feinstein_cicchetti_balanced", "two_by_two_paradox2_symmetric", "two_by_two_cohen_wikipedia"],
)
def test_two_by_two_tables(golden_agreement, case):
    a, b, c, d = golden_agreement[case]["input"].values()
    expected = golden_agreement[case]["expected"]
    counts = [[2, 0]] * a + [[1, 1]] * (b + c) + [[0, 2]] * d
    kappa = cohen_kappa([[a, b], [c, d]])
    assert (kappa.value, kappa.se) == pytest.approx((expected["cohen_kappa"], expected["cohen_se"]), abs=1e-7)
    assert fleiss_kappa(counts).value == pytest.approx(expected["fleiss_kappa_scott_pi"], abs=1e-8)
    assert gwet_ac1(counts).value == pytest.approx(expected["gwet_ac1"], abs=1e-8)
    assert brennan_prediger(counts).value == pytest.approx(expected["pabak"], abs=1e-8)
    assert percent_agreement(counts).value == pytest.approx(expected["percent_agreement"])


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


@given(count_tables(n_categories=3))
def test_fleiss_kappa_equals_statsmodels_where_all_items_have_equally_many_ratings(counts):
    equal = counts[counts.sum(axis=1) == np.bincount(counts.sum(axis=1)).argmax()]
    assume(equal.sum(axis=1).min() >= 2)
    assume((equal.sum(axis=0) > 0).sum() > 1)
    assert fleiss_kappa(equal).value == pytest.approx(inter_rater.fleiss_kappa(equal))


@given(count_tables(n_categories=3))
def test_alpha_equals_the_krippendorff_package(counts):
    shared = counts[counts.sum(axis=1) >= 2]
    assume((shared.sum(axis=0) > 0).sum() > 1)
    oracle = krippendorff.alpha(value_counts=counts, level_of_measurement="nominal")
    assert krippendorff_alpha(counts).value == pytest.approx(oracle)


@given(count_tables(), st.randoms(use_true_random=False), st.sampled_from(COEFFICIENTS))
def test_coefficients_do_not_depend_on_the_order_of_items_or_of_categories(counts, random, coefficient):
    shuffled = np.array(random.sample(counts.tolist(), len(counts)))[:, ::-1]
    one, other = coefficient(counts), coefficient(shuffled)
    assert one.reason == other.reason
    if one.value is not None:
        assert (one.value, one.se) == pytest.approx((other.value, other.se))


@given(count_tables(), st.sampled_from(COEFFICIENTS))
def test_coefficients_are_1_exactly_at_full_agreement(counts, coefficient):
    estimate = coefficient(counts)
    if estimate.value is None:
        return
    r = counts[counts.sum(axis=1) >= 2]
    full = bool((r.max(axis=1) == r.sum(axis=1)).all())
    assert (estimate.value == pytest.approx(1)) == full
    assert estimate.value <= 1 + 1e-12


@given(st.tuples(*[st.integers(0, 30)] * 4))
def test_cohen_kappa_follows_from_pabak_prevalence_and_bias(cells):
    # Byrt et al. 1993: kappa = (PABAK - PI^2 + BI^2) / (1 - PI^2 + BI^2)
    a, b, c, d = cells
    n = sum(cells)
    assume(n > 0)
    kappa = cohen_kappa([[a, b], [c, d]])
    assume(kappa.value is not None)
    pabak, prevalence, bias = (2 * (a + d) - n) / n, (a - d) / n, (b - c) / n
    assert kappa.value == pytest.approx((pabak - prevalence**2 + bias**2) / (1 - prevalence**2 + bias**2))


@pytest.mark.parametrize("index", range(4))
def test_degenerate_data_give_a_value_or_a_reason(golden_agreement, index):
    case = golden_agreement["degenerate"]["expected"][index]
    counts = [
        [[2, 0]] * 10,
        [[1, 0], [0, 1]],
        [[1, 1]],
        [[1, 1]] * 4,
    ][index]
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


def test_a_constant_rater_makes_cohens_kappa_exactly_0_and_says_so():
    assert cohen_kappa([[5, 3], [0, 0]]).value == 0.0
    assert "single category" in cohen_kappa([[5, 3], [0, 0]]).reason
    assert cohen_kappa([[5, 0], [0, 0]]).value is None
    assert "labelled by both" in cohen_kappa([[0, 0], [0, 0]]).reason
    assert cohen_kappa([[0, 1], [0, 0]]).value == 0.0


@pytest.mark.parametrize("table", [[[1, 2]], [[1, -2], [0, 1]], [[0.5, 1], [1, 1]], [[3]]])
def test_cohen_kappa_rejects_tables_that_are_not_square(table):
    with pytest.raises(ValueError, match="table must"):
        cohen_kappa(table)


def test_bands_of_landis_and_koch(golden_agreement):
    case = golden_agreement["landis_koch_bands"]
    assert [band(kappa) for kappa in case["input"]["kappa"]] == case["expected"]
    assert band(None) is None


def test_pair_agreements_counts_only_items_both_labelled():
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


def test_pair_tables_are_in_the_order_of_the_declared_categories():
    labels = pd.DataFrame({"item": [1, 1, 2, 2], "rater": ["b", "a"] * 2, "category": ["z", "x", "x", "x"]})
    assert {pair: table.tolist() for pair, table in pair_tables(labels, ["x", "y", "z"]).items()} == {
        ("a", "b"): [[1, 0, 1], [0, 0, 0], [0, 0, 0]]
    }


def test_few_minority_items_are_warned_about():
    assert says(minority_warning([[2, 0]] * 40 + [[1, 1]] * 3), "interval unreliable", "only 3 items")
    # chance agreement on the rarer category is expected for n p^2 items: 50 x .4^2 = 8, 25 x .4^2 = 4
    common = [[2, 0], [2, 0], [1, 1], [1, 1], [0, 2]]
    assert minority_warning(common * 10) is None
    assert says(minority_warning(common * 5), "interval unreliable", "only 15 items")
    assert minority_warning([[2, 0]] * 40 + [[0, 2]] * 40 + [[1, 1]] * 5) is None
    assert says(minority_warning([[2, 0]] * 40 + [[0, 2]] * 40 + [[1, 1]]), "interval unreliable", "only 1 item")
    assert minority_warning([[2, 0]] * 40) is None
    assert minority_warning([[1, 0]]) is None
