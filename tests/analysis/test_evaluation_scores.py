import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import integrate, special, stats

from analysis.bootstrap import bootstrap
from analysis.evaluation import auc, average_precision, compare_auc, precision_recall, roc
from analysis.evaluation._scores import ALL_EQUAL

CATEGORY = st.sampled_from(["similar", "dissimilar"])
FEW_SCORES = st.integers(0, 5).map(float)  # rounded, so that many scores are equal
ANY_SCORE = st.floats(allow_nan=False, allow_infinity=False)
ITEMS = st.lists(st.tuples(CATEGORY, FEW_SCORES | ANY_SCORE), max_size=30)
SPLIT = "the scores separate the categories: no interval"
NO_SCORE = "no item has both a consensus and a score"


def columns(items):
    return [category for category, _ in items], [score for _, score in items]


def two_normals(rng, n_dissimilar, n_similar, shift):
    truth = ["dissimilar"] * n_dissimilar + ["similar"] * n_similar
    return truth, rng.normal(size=len(truth)) + shift * np.array([t == "dissimilar" for t in truth])


@pytest.fixture
def hanley_mcneil(golden_agreement):
    case = golden_agreement["auc_hanley_mcneil1982"]
    normal = np.repeat(range(1, 6), case["input"]["normal_counts_rating_1_5"])
    abnormal = np.repeat(range(1, 6), case["input"]["abnormal_counts_rating_1_5"])
    truth = ["similar"] * len(normal) + ["dissimilar"] * len(abnormal)
    return truth, np.concatenate([normal, abnormal]).astype(float), case["expected"]


def test_hanley_and_mcneils_tomographs(hanley_mcneil):
    truth, scores, expected = hanley_mcneil
    area = auc(truth, scores)
    assert area.value == pytest.approx(expected["auc"], abs=1e-8)
    assert area.se == pytest.approx(expected["delong_se"], abs=1e-8)
    assert average_precision(truth, scores).value == pytest.approx(expected["average_precision"], abs=1e-8)
    assert len(roc(truth, scores).threshold) == 6


def test_auc_by_hand():
    # pairs (dissimilar, similar): .9 wins both, .4 wins against .1 and ties with .4: (1 + 1 + .5 + 1) / 4
    truth, scores = ["dissimilar", "dissimilar", "similar", "similar"], [0.9, 0.4, 0.4, 0.1]
    area = auc(truth, scores)
    assert area.value == 3.5 / 4
    # placements 1 and .75 of the dissimilar, .75 and 1 of the similar: each has variance 1/32, over 2 items
    assert area.se == pytest.approx((2 * (1 / 32) / 2) ** 0.5)
    logit, half = np.log(7), 1.959963985 * area.se / (7 / 64)
    assert [area.low, area.high] == pytest.approx([special.expit(logit - half), special.expit(logit + half)])


def test_the_curves_by_hand():
    truth, scores = ["dissimilar", "dissimilar", "similar", "similar"], [0.9, 0.4, 0.4, 0.1]
    curve = roc(truth, scores)
    assert curve.threshold == (0.9, 0.65, 0.25, np.nextafter(0.1, 0))
    assert curve.sensitivity == (0, 0.5, 1, 1)
    assert curve.false_positive_rate == (0, 0, 0.5, 1)
    assert (curve.n_dissimilar, curve.n_similar, curve.reason) == (2, 2, None)
    other = precision_recall(truth, scores)
    assert other.recall == (0.5, 1, 1)
    assert other.precision == (1, 2 / 3, 0.5)
    assert other.threshold == curve.threshold[1:]
    assert other.prevalence == 0.5
    assert average_precision(truth, scores).value == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


@given(ITEMS)
def test_auc_is_the_chance_of_the_right_order(items):
    dissimilar = np.array([score for category, score in items if category == "dissimilar"])
    similar = np.array([score for category, score in items if category == "similar"])
    area = auc(*columns(items))
    if not len(dissimilar) or not len(similar):
        assert area.value is None
        assert area.reason
        return
    above, equal = dissimilar[:, None] > similar, dissimilar[:, None] == similar
    assert area.value == pytest.approx((above + equal / 2).mean())
    if area.se is None:
        assert area.reason
        assert area.low is area.high is None
    else:
        assert 0 <= area.low <= area.value <= area.high <= 1
        terms = [(above + equal / 2).mean(axis=axis) for axis in (1, 0)]  # DeLong's components, by definition
        assert area.se**2 == pytest.approx(sum(x.var(ddof=1) / len(x) for x in terms))


@given(ITEMS)
def test_auc_sees_ranks_only_and_turns_with_the_sign(items):
    truth, scores = columns(items)
    area = auc(truth, scores)
    if area.value is None:
        return
    assert auc(truth, stats.rankdata(scores) ** 3) == area
    turned = auc(truth, [-score for score in scores])
    assert turned.value == pytest.approx(1 - area.value)
    if area.se is not None:
        assert (turned.se, turned.low, turned.high) == pytest.approx((area.se, 1 - area.high, 1 - area.low), abs=1e-9)


@given(ITEMS)
def test_auc_is_the_area_under_the_curve(items):
    curve, area = roc(*columns(items)), auc(*columns(items))
    if curve.reason:
        assert (curve.threshold, area.reason) == ((), curve.reason)
        return
    assert (np.diff(curve.threshold) < 0).all()
    assert (np.diff(curve.sensitivity) >= 0).all()
    assert (curve.sensitivity[0], curve.false_positive_rate[0]) == (0, 0)
    assert (curve.sensitivity[-1], curve.false_positive_rate[-1]) == (1, 1)
    assert integrate.trapezoid(curve.sensitivity, curve.false_positive_rate) == pytest.approx(area.value)


@given(ITEMS)
def test_average_precision_is_the_mean_precision_at_each_dissimilar_item(items):
    average = average_precision(*columns(items))
    if average.value is None:
        assert average.reason
        return
    at = [score for category, score in items if category == "dissimilar"]
    called = [[category == "dissimilar" for category, other in items if other >= score] for score in at]
    assert average.value == pytest.approx(np.mean([np.mean(some) for some in called]))
    assert average.reason == SPLIT if average.low is None else 0 <= average.low <= average.value <= average.high <= 1


def test_delongs_standard_error_is_that_of_the_bootstrap():
    truth, scores = two_normals(np.random.default_rng(3), 90, 70, 1.0)
    dissimilar = np.array([t == "dissimilar" for t in truth])
    wins = (scores[dissimilar][:, None] > scores[~dissimilar]) + 0.0

    def area(weights):
        a, b = weights[:, dissimilar], weights[:, ~dissimilar]
        return np.einsum("ki,ij,kj->k", a, wins, b, optimize=True) / (a.sum(axis=1) * b.sum(axis=1))

    drawn = bootstrap(area, 160, rng=np.random.default_rng(4))
    estimate = auc(truth, scores)
    assert estimate.value == pytest.approx(drawn.value)
    assert estimate.se == pytest.approx(drawn.se, rel=0.15)
    assert [estimate.low, estimate.high] == pytest.approx([drawn.low, drawn.high], abs=0.02)


def test_items_without_a_score_are_left_out_and_counted():
    truth = ["dissimilar", "similar", "similar", "dissimilar"]
    curve = roc(truth, [0.5, None, 0.25, float("nan")])
    assert (curve.n_dissimilar, curve.n_similar, curve.n_without_score) == (1, 1, 2)
    assert precision_recall(truth, [0.5, None, 0.25, float("nan")]).n_without_score == 2
    assert auc(truth, [0.5, None, 0.25, float("nan")]).value == 1
    by_item = pd.Series(truth, index=list("abcd"))
    assert auc(by_item, pd.Series({"c": 0.25, "x": 9.0, "a": 0.5}, dtype="Float64")).value == 1


@pytest.mark.parametrize(
    ("truth", "scores", "reason"),
    [
        ([], [], NO_SCORE),
        (["similar", "dissimilar"], [None, None], NO_SCORE),
        (["similar", "similar"], [1.0, 2.0], "no item is dissimilar"),
        (["dissimilar", "dissimilar"], [1.0, 2.0], "no item is similar"),
        (["dissimilar", "similar"], [1.0, None], "no item is similar"),
    ],
)
def test_without_both_categories_nothing_is_defined(truth, scores, reason):
    for function in (auc, average_precision, roc, precision_recall):
        assert function(truth, scores).reason == reason
    compared = compare_auc(truth, scores, scores)
    assert compared.a.reason == compared.b.reason == compared.difference.reason == reason
    assert (auc(truth, scores).value, compared.p) == (None, None)


def test_areas_without_a_standard_error_say_why():
    truth = ["dissimilar"] * 3 + ["similar"] * 3
    assert auc(truth, [1] * 6) == auc(truth, [0.1] * 6)
    assert (auc(truth, [1] * 6).value, auc(truth, [1] * 6).reason) == (0.5, ALL_EQUAL)
    assert (auc(truth, [3, 3, 2, 1, 1, 0]).value, auc(truth, [3, 3, 2, 1, 1, 0]).reason) == (1, SPLIT)
    assert auc(truth, [0, 0, 0, 1, 1, 2]).value == 0
    assert "item in a category" in auc(truth[:4], [1, 2, 3, 2]).reason
    assert average_precision(truth, [3, 3, 2, 1, 1, 0]).reason == SPLIT
    assert average_precision(truth, [1] * 6).value == 0.5


def test_compare_auc_by_hand():
    truth = ["dissimilar"] * 2 + ["similar"] * 2
    compared = compare_auc(truth, [4, 3, 2, 1], [4, 1, 2, 3])
    # placements of the dissimilar: a 1, 1; b 1, 0; of the similar: a 1, 1; b .5, .5
    assert (compared.a.value, compared.b.value, compared.difference.value) == (1, 0.5, 0.5)
    assert compared.difference.se == pytest.approx((0.5 / 2) ** 0.5)
    assert compared.p == pytest.approx(2 * special.ndtr(-1))
    assert (compared.difference.low, compared.difference.high) == (pytest.approx(0.5 - 1.96 * 0.5, abs=1e-4), 1)


def test_compare_auc_uses_the_items_with_both_scores():
    truth = ["dissimilar", "dissimilar", "similar", "similar", "similar"]
    compared = compare_auc(truth, [3, 2, 1, 2, None], [3, None, 1, 4, 5])
    assert (compared.n, compared.n_without_score) == (3, 2)
    assert (compared.a.value, compared.b.value) == (1, 0.5)
    assert "item in a category" in compared.difference.reason


def test_equal_rankings_do_not_differ():
    truth, scores = two_normals(np.random.default_rng(1), 20, 20, 1.0)
    compared = compare_auc(truth, scores, np.exp(scores))
    assert (compared.difference.value, compared.p) == (0, 1)
    assert "contribute equally" in compared.difference.reason
    perfect = compare_auc(["dissimilar"] * 2 + ["similar"] * 2, [2, 2, 1, 1], [1, 1, 1, 1])
    assert (perfect.difference.value, perfect.difference.se, perfect.p) == (0.5, None, None)


@given(st.lists(st.tuples(CATEGORY, FEW_SCORES, FEW_SCORES), max_size=25))
def test_compare_auc_turns_with_its_arguments(rows):
    truth, a, b = ([row[k] for row in rows] for k in range(3))
    one, other = compare_auc(truth, a, b), compare_auc(truth, b, a)
    assert (one.a, one.b, one.p) == (other.b, other.a, other.p)
    assert one.a == auc(truth, a)
    if one.difference.value is not None:
        assert one.difference.value == -other.difference.value
        assert one.difference.se == other.difference.se
        assert one.p is None or 0 <= one.p <= 1


def test_scores_that_are_not_numbers_are_rejected():
    with pytest.raises(ValueError, match="scores must be numbers"):
        auc(["similar"], ["high"])
    with pytest.raises(ValueError, match="entry 1 is infinite"):
        roc(["similar", "similar"], [0, float("inf")])
    with pytest.raises(ValueError, match=r"truth has 1.*scores has 2"):
        auc(["similar"], [1, 2])
    with pytest.raises(ValueError, match=r"truth.*None"):
        auc([None], [1])
    with pytest.raises(ValueError, match="scores_b must be numbers"):
        compare_auc(["similar"], [1], ["x"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_dissimilar", "n_similar", "shift", "lowest", "highest"),
    [(189, 135, 0.7, 0.935, 0.965), (189, 135, 2.5, 0.935, 0.965), (20, 30, 1.0, 0.94, 0.98)],
)
def test_delongs_interval_covers_as_its_level_says(n_dissimilar, n_similar, shift, lowest, highest):
    rng, true = np.random.default_rng(5), special.ndtr(shift / 2**0.5)
    estimates = [auc(*two_normals(rng, n_dissimilar, n_similar, shift)) for _ in range(2000)]
    assert lowest <= np.mean([estimate.low <= true <= estimate.high for estimate in estimates]) <= highest
    spread = np.std([estimate.value for estimate in estimates])
    assert np.mean([estimate.se for estimate in estimates]) == pytest.approx(spread, rel=0.06)


@pytest.mark.slow
def test_the_paired_test_of_two_areas_rejects_a_true_hypothesis_at_its_level():
    rng, p = np.random.default_rng(6), []
    for _ in range(2000):
        truth, a = two_normals(rng, 80, 60, 1.0)
        noise = rng.normal(size=140)
        shift = np.array([t == "dissimilar" for t in truth])
        p.append(compare_auc(truth, a, shift + 0.6 * (a - shift) + 0.8 * noise).p)
    assert np.mean(np.array(p) < 0.05) == pytest.approx(0.05, abs=0.015)


@pytest.mark.slow
def test_average_precisions_interval_covers_at_least_as_its_level_says():
    rng = np.random.default_rng(7)
    true = average_precision(*two_normals(rng, 58_000, 42_000, 1.0)).value
    estimates = [average_precision(*two_normals(rng, 189, 137, 1.0)) for _ in range(1000)]
    assert np.mean([estimate.low <= true <= estimate.high for estimate in estimates]) >= 0.94
