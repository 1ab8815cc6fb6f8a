"""Scores: areas under curves, average precision, and thresholds chosen out of fold or for a ratio of costs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import integrate, special

from analysis.raters.evaluation import (
    Confusion,
    auc,
    average_precision,
    compare_auc,
    confusion_matrix,
    cost_range,
    cross_validated_threshold,
    precision_recall,
    roc,
    youden,
)
from analysis.raters.evaluation._scores import ALL_EQUAL, balanced_folds
from analysis.statistics.bootstrap import bootstrap

CATEGORY = st.sampled_from(["similar", "dissimilar"])
FEW_SCORES = st.integers(0, 5).map(float)  # rounded, so that many scores are equal
ANY_SCORE = st.floats(allow_nan=False, allow_infinity=False)
ITEMS = st.lists(st.tuples(CATEGORY, FEW_SCORES | ANY_SCORE), max_size=30)
SPLIT = "the scores separate the categories: no interval"
NO_SCORE = "no item has both a consensus and a score"


def two(tp, fp, fn, tn):
    """The matrix of the built-in question."""
    return Confusion(("similar", "dissimilar"), ((tn, fp), (fn, tp)))


def columns(items):
    return [category for category, _ in items], [score for _, score in items]


def two_normals(rng, n_positive, n_rest, shift):
    truth = ["dissimilar"] * n_positive + ["similar"] * n_rest
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


def test_areas_and_curves_by_hand():
    # pairs (dissimilar, similar): .9 wins both, .4 wins against .1 and ties with .4: (1 + 1 + .5 + 1) / 4
    truth, scores = ["dissimilar", "dissimilar", "similar", "similar"], [0.9, 0.4, 0.4, 0.1]
    area = auc(truth, scores)
    assert area.value == 3.5 / 4
    # placements 1 and .75 of the dissimilar, .75 and 1 of the similar: each has variance 1/32, over 2 items
    assert area.se == pytest.approx((2 * (1 / 32) / 2) ** 0.5)
    logit, half = np.log(7), 1.959963985 * area.se / (7 / 64)
    assert [area.low, area.high] == pytest.approx([special.expit(logit - half), special.expit(logit + half)])
    curve = roc(truth, scores)
    assert curve.threshold == (0.9, 0.65, 0.25, np.nextafter(0.1, 0))
    assert curve.sensitivity == (0, 0.5, 1, 1)
    assert curve.false_positive_rate == (0, 0, 0.5, 1)
    assert (curve.n_positive, curve.n_rest, curve.reason) == (2, 2, None)
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


def test_items_without_a_score_or_areas_without_an_error_say_why():
    truth = ["dissimilar", "similar", "similar", "dissimilar"]
    curve = roc(truth, [0.5, None, 0.25, float("nan")])
    assert (curve.n_positive, curve.n_rest, curve.n_without_score) == (1, 1, 2)
    assert precision_recall(truth, [0.5, None, 0.25, float("nan")]).n_without_score == 2
    assert auc(truth, [0.5, None, 0.25, float("nan")]).value == 1
    by_item = pd.Series(truth, index=list("abcd"))
    assert auc(by_item, pd.Series({"c": 0.25, "x": 9.0, "a": 0.5}, dtype="Float64")).value == 1
    truth = ["dissimilar"] * 3 + ["similar"] * 3
    assert auc(truth, [1] * 6) == auc(truth, [0.1] * 6)
    assert (auc(truth, [1] * 6).value, auc(truth, [1] * 6).reason) == (0.5, ALL_EQUAL)
    assert (auc(truth, [3, 3, 2, 1, 1, 0]).value, auc(truth, [3, 3, 2, 1, 1, 0]).reason) == (1, SPLIT)
    assert auc(truth, [0, 0, 0, 1, 1, 2]).value == 0
    assert "item in a category" in auc(truth[:4], [1, 2, 3, 2]).reason
    assert average_precision(truth, [3, 3, 2, 1, 1, 0]).reason == SPLIT
    assert average_precision(truth, [1] * 6).value == 0.5


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


def test_compare_auc_by_hand_on_the_items_with_both_scores():
    truth = ["dissimilar"] * 2 + ["similar"] * 2
    compared = compare_auc(truth, [4, 3, 2, 1], [4, 1, 2, 3])
    # placements of the dissimilar: a 1, 1; b 1, 0; of the similar: a 1, 1; b .5, .5
    assert (compared.a.value, compared.b.value, compared.difference.value) == (1, 0.5, 0.5)
    assert compared.difference.se == pytest.approx((0.5 / 2) ** 0.5)
    assert compared.p == pytest.approx(2 * special.ndtr(-1))
    assert (compared.difference.low, compared.difference.high) == (pytest.approx(0.5 - 1.96 * 0.5, abs=1e-4), 1)
    truth = ["dissimilar", "dissimilar", "similar", "similar", "similar"]
    compared = compare_auc(truth, [3, 2, 1, 2, None], [3, None, 1, 4, 5])
    assert (compared.n, compared.n_without_score) == (3, 2)
    assert (compared.a.value, compared.b.value) == (1, 0.5)
    assert "item in a category" in compared.difference.reason
    truth, scores = two_normals(np.random.default_rng(1), 20, 20, 1.0)
    compared = compare_auc(truth, scores, np.exp(scores))
    assert (compared.difference.value, compared.p) == (0, 1)
    assert "contribute equally" in compared.difference.reason
    perfect = compare_auc(["dissimilar"] * 2 + ["similar"] * 2, [2, 2, 1, 1], [1, 1, 1, 1])
    assert (perfect.difference.value, perfect.difference.se, perfect.p) == (0.5, None, None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: auc(["similar"], ["high"]), "scores must be numbers"),  # type: ignore[list-item]
        (lambda: roc(["similar", "similar"], [0, float("inf")]), "entry 1 is infinite"),
        (lambda: auc(["similar"], [1, 2]), r"truth has 1.*scores has 2"),
        (lambda: auc([None], [1]), r"truth.*None"),
        (lambda: compare_auc(["similar"], [1], ["x"]), "scores_b must be numbers"),  # type: ignore[list-item]
    ],
)
def test_scores_that_are_not_numbers_are_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_positive", "n_rest", "shift", "lowest", "highest"),
    [(189, 135, 0.7, 0.935, 0.965), (189, 135, 2.5, 0.935, 0.965), (20, 30, 1.0, 0.94, 0.98)],
)
def test_delongs_interval_covers_as_its_level_says(n_positive, n_rest, shift, lowest, highest):
    rng, true = np.random.default_rng(5), special.ndtr(shift / 2**0.5)
    estimates = [auc(*two_normals(rng, n_positive, n_rest, shift)) for _ in range(2000)]
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


EIGHTHS = st.integers(0, 6).map(lambda k: k / 8)
FEW_ITEMS = st.lists(st.tuples(CATEGORY, EIGHTHS), max_size=25)
RATIOS = np.array(sorted({n / d for n in range(1, 26) for d in range(1, 26)} | {1e-3, 1e3}))


def all_divisions(truth, scores):
    """Return the confusion matrix of each way to divide the items by score."""
    cuts = [-np.inf, *sorted(set(scores))]
    return [confusion_matrix(truth, called(scores, theta)) for theta in cuts] if truth else []


def called(scores, theta):
    return ["dissimilar" if score > theta else "similar" for score in scores]


def test_folds_by_hand():
    # groups a (4 dissimilar), b (3 similar), c (1 dissimilar, 1 similar), d (1 similar): sizes 4, 3, 2, 1
    dissimilar = np.array([True] * 4 + [False] * 3 + [True, False] + [False])
    group = np.array([0] * 4 + [1] * 3 + [2] * 2 + [3])
    fold = balanced_folds(dissimilar, group, 2, np.random.default_rng(1))
    # a opens fold 0, b fold 1. c would add 1/5 x 4/5 to fold 0, and 1/5 x 3/5 to fold 1; d adds nothing to fold 0
    assert fold.tolist() == [0] * 4 + [1] * 3 + [1] * 2 + [0]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=1, max_size=60), st.integers(1, 6))
def test_folds_keep_groups_together_and_none_is_empty(items, n_folds):
    dissimilar = np.array([d for d, _ in items])
    group = pd.factorize(pd.Series([g for _, g in items]))[0]
    n_folds = min(n_folds, group.max() + 1)
    fold = balanced_folds(dissimilar, group, n_folds, np.random.default_rng(1))
    assert set(fold) == set(range(n_folds))
    assert all(len(set(fold[group == g])) == 1 for g in set(group))


def test_what_is_chosen_by_hand():
    # six applications with one dissimilar (.8) and one similar (.2) item each: every choice is halfway
    truth, scores = ["dissimilar", "similar"] * 6, [0.8, 0.2] * 6
    groups = np.repeat(list("abcdef"), 2)
    choice = cross_validated_threshold(truth, scores, groups, rng=np.random.default_rng(1))
    assert choice.theta == (0.5,) * 5
    assert choice.theta_low == choice.theta_median == choice.theta_high == choice.theta_in_sample == 0.5
    assert choice.out_of_fold == choice.in_sample == choice.at_fixed == two(6, 0, 0, 6)
    assert (choice.optimism, choice.reason, choice.criterion, choice.fixed) == (0, None, "Youden's index", 0.25)


def test_equally_good_thresholds_are_settled_towards_the_reference_and_moved_by_costs():
    # Youden's index is .5 between .2 and .3 and between .6 and .7
    truth = ["similar", "dissimilar", "dissimilar", "similar", "similar", "dissimilar", "dissimilar", "similar"]
    scores = [0.2, 0.3, 0.3, 0.6, 0.6, 0.7, 0.7, 0.2]
    near, far = (
        cross_validated_threshold(truth, scores, rng=np.random.default_rng(1), fixed=fixed).theta_in_sample
        for fixed in (0.25, 0.9)
    )
    assert (near, far) == (pytest.approx(0.25), pytest.approx(0.65))
    truth = ["similar"] * 4 + ["dissimilar"] + ["similar"] * 4 + ["dissimilar"] * 4
    scores = np.arange(13) / 8
    rng = np.random.default_rng(1)
    by_ratio = {r: cross_validated_threshold(truth, scores, rng=rng, cost_ratio=r) for r in (1, 3.5, 5)}
    assert {r: choice.theta_in_sample * 8 for r, choice in by_ratio.items()} == {1: 8.5, 3.5: 8.5, 5: 3.5}
    assert by_ratio[3.5].criterion == "cost ratio 3.5"


@given(st.lists(st.tuples(CATEGORY, EIGHTHS | st.none(), st.sampled_from(["a", "b", "c", "d", "e", "f", "g", None])),
                max_size=40))  # fmt: skip
def test_out_of_fold_no_item_is_called_by_a_threshold_chosen_with_its_application(rows):
    truth, scores, groups = ([row[k] for row in rows] for k in range(3))
    choice = cross_validated_threshold(truth, scores, groups, rng=np.random.default_rng(1))
    scored = [row for row in rows if row[1] is not None]
    assert choice.n_without_score == len(rows) - len(scored)
    expected = confusion_matrix([row[0] for row in scored], called([row[1] for row in scored], 0.25))
    assert choice.at_fixed == replace(expected, n_without_verdict=choice.n_without_score)
    if choice.out_of_fold is None:
        assert choice.reason
        assert (choice.theta, choice.optimism) == ((), None)
        return
    assert choice.out_of_fold.n == len(scored)
    assert choice.theta_low <= choice.theta_median <= choice.theta_high
    n_groups = len({row[2] for row in scored})
    assert len(choice.theta) == min(5, n_groups)
    assert (n_groups < 5) == (f"{n_groups} folds instead of 5" in (choice.reason or ""))
    best = max(youden(table).value for table in all_divisions(*columns([row[:2] for row in scored])))
    assert youden(choice.in_sample).value == pytest.approx(best)


def test_reasons_of_what_could_not_be_chosen():
    rng = np.random.default_rng(1)
    assert "consensus and a score" in cross_validated_threshold([], [], [], rng=rng).reason
    one_class = cross_validated_threshold(["similar"] * 3, [0.1, 0.2, 0.3], rng=rng)
    assert (one_class.reason, one_class.in_sample) == ("no item is dissimilar", None)
    assert one_class.at_fixed == two(0, 1, 0, 2)
    truth, scores = ["dissimilar", "similar", "similar", "dissimilar"], [0.8, 0.2, 0.3, 0.9]
    one_group = cross_validated_threshold(truth, scores, ["a"] * 4, rng=rng)
    assert one_group.reason.startswith("all items are in one group")
    assert one_group.in_sample == two(2, 0, 0, 2)
    of_category = cross_validated_threshold(truth, scores, ["a", "b", "b", "a"], rng=rng)
    assert of_category.theta == (0.25, 0.25)
    assert of_category.reason == (
        "2 folds instead of 5 because there are no more groups; 2 folds use 0.25 because the other folds lack a "
        "category"
    )
    constant = cross_validated_threshold(truth * 3, [0.5] * 12, rng=rng)
    assert youden(constant.out_of_fold).value == constant.optimism == 0


def test_the_choice_depends_on_nothing_but_the_seed():
    rng = np.random.default_rng(3)
    truth, scores = np.where(rng.random(80) < 0.5, "similar", "dissimilar").tolist(), rng.random(80)
    groups = rng.integers(12, size=80)
    items = pd.Index([f"item-{k}" for k in range(80)])
    one, other, shuffled = (
        cross_validated_threshold(truth_of, scores_of, groups_of, rng=np.random.default_rng(4))
        for truth_of, scores_of, groups_of in (
            (truth, scores, groups),
            (truth, scores.tolist(), groups.tolist()),
            (pd.Series(truth, items), pd.Series(scores, items)[::-1], pd.Series(groups, items)[::-1]),
        )
    )
    assert one == other == shuffled


def test_cost_range_by_hand_and_with_a_tolerance():
    truth, scores = ["similar"] * 4 + ["dissimilar"] + ["similar"] * 4 + ["dissimilar"] * 4, np.arange(13) / 8
    # fn, fp: 0, 4 at 3.5/8 and 1, 0 at 8.5/8
    assert (cost_range(truth, scores, 8.5 / 8).low, cost_range(truth, scores, 8.5 / 8).high) == (0, 4)
    below = cost_range(truth, scores, 0.45)
    assert (below.low, below.high, below.reason) == (4, None, "no upper limit: no item is missed")
    for theta in (0.1, 0.7, 1.2, 5):
        between = cost_range(truth, scores, theta)
        assert (between.low, between.high) == (None, None)
        assert between.reason == "another threshold is better at every cost ratio"
    truth, scores = ["similar"] * 4 + ["dissimilar"] + ["similar"] * 4 + ["dissimilar"] * 4, np.arange(13) / 8
    # fn, fp are 1, 1 at .9, against 1, 0 at 8.5/8 and 0, 4 at .45: r + 1 <= 1.5 r, and r + 1 <= 1.5 x 4
    near = cost_range(truth, scores, 0.9, tolerance=0.5)
    assert (near.low, near.high) == (2, 5)
    reason = "another threshold is better by more than 0.1 of its cost at every cost ratio"
    assert cost_range(truth, scores, 0.9, tolerance=0.1).reason == reason


@given(FEW_ITEMS, EIGHTHS.map(lambda theta: theta - 1 / 16), st.sampled_from([0, 0, 0.1, 0.5]))
def test_theta_is_best_inside_the_cost_range_and_not_outside(items, theta, tolerance):
    truth, scores = columns(items)
    limits = cost_range(truth, scores, theta, tolerance=tolerance)
    if len({category for category, _ in items}) < 2:
        assert limits.reason
        assert limits.low is limits.high is None
        return
    own = confusion_matrix(truth, called(scores, theta))
    ratio = RATIOS
    cost = [ratio * table.counts[1][0] + table.counts[0][1] for table in (*all_divisions(truth, scores), own)]
    excess = cost[-1] - (1 + tolerance) * np.min(cost[:-1], axis=0)
    low = np.inf if limits.low is None else limits.low
    high = np.inf if limits.high is None else limits.high
    inside = (low - 1e-12 <= ratio) & (ratio <= high + 1e-12)
    assert (inside == (excess <= 1e-9)).all()


def test_wrong_options_are_refused():
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match=r"folds.*got 1"):
        cross_validated_threshold([], [], [], rng=rng, folds=1)
    with pytest.raises(ValueError, match=r"fixed.*got nan"):
        cross_validated_threshold([], [], [], rng=rng, fixed=float("nan"))
    with pytest.raises(ValueError, match=r"cost_ratio.*got 0"):
        cross_validated_threshold([], [], [], rng=rng, cost_ratio=0)
    with pytest.raises(ValueError, match=r"truth has 1.*groups has 2"):
        cross_validated_threshold(["similar"], [1], ["a", "b"], rng=rng)
    with pytest.raises(ValueError, match=r"theta.*got nan"):
        cost_range(["similar"], [1], float("nan"))
    with pytest.raises(ValueError, match=r"tolerance.*got -1"):
        cost_range(["similar"], [1], 0.25, tolerance=-1)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "n_times", "optimism", "within"), [(60, 1500, 0.12, 0.015), (586, 400, 0.03, 0.01)])
def test_choosing_and_scoring_on_the_same_items_is_optimistic_and_out_of_fold_is_not(n, n_times, optimism, within):
    rng, n_positive = np.random.default_rng(8), round(0.58 * n)
    truth = ["dissimilar"] * n_positive + ["similar"] * (n - n_positive)
    too_good, bias = [], []
    for _ in range(n_times):
        scores = rng.normal(size=n) + (np.arange(n) < n_positive)
        choice = cross_validated_threshold(truth, scores, rng.integers(n // 5, size=n), rng=rng, fixed=0.5)
        reached = [special.ndtr(theta) - special.ndtr(theta - 1) for theta in (choice.theta_in_sample, *choice.theta)]
        too_good.append(youden(choice.in_sample).value - reached[0])
        bias.append(youden(choice.out_of_fold).value - np.mean(reached[1:]))
    assert np.mean(too_good) == pytest.approx(optimism, abs=within)
    assert np.mean(bias) == pytest.approx(0, abs=0.012)
