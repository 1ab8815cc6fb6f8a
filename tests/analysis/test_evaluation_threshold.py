import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from scipy import special

from analysis.evaluation import (
    Confusion,
    confusion_matrix,
    cost_range,
    cross_validated_threshold,
    youden,
)
from analysis.evaluation._scores import balanced_folds

CATEGORY = st.sampled_from(["similar", "dissimilar"])
FEW_SCORES = st.integers(0, 6).map(lambda k: k / 8)
ITEMS = st.lists(st.tuples(CATEGORY, FEW_SCORES), max_size=25)
RATIOS = np.array(sorted({n / d for n in range(1, 26) for d in range(1, 26)} | {1e-3, 1e3}))
ANY_SCORE = st.floats(allow_nan=False, allow_infinity=False) | st.integers(0, 4).map(lambda k: k * 5e-324)


def columns(items):
    return [category for category, _ in items], [score for _, score in items]


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


@given(st.integers(0, 40), st.integers(0, 40), st.integers(2, 6), st.integers(0, 5))
def test_folds_of_single_items_are_balanced_in_both_categories(n_dissimilar, n_similar, n_folds, seed):
    n = n_dissimilar + n_similar
    if n < n_folds:
        return
    dissimilar = np.arange(n) < n_dissimilar
    fold = balanced_folds(dissimilar, np.arange(n), n_folds, np.random.default_rng(seed))
    for chosen in (dissimilar, ~dissimilar):
        assert np.ptp(np.bincount(fold[chosen], minlength=n_folds)) <= 1


def test_folds_of_applications_are_near_balanced():
    rng = np.random.default_rng(2)
    group = rng.permutation(np.repeat(np.arange(30), rng.integers(5, 40, 30)))
    group = pd.factorize(pd.Series(group))[0]
    dissimilar = rng.random(len(group)) < rng.beta(3, 2, 30)[group]
    fold = balanced_folds(dissimilar, group, 5, rng)
    sizes = np.stack([np.bincount(fold[of]) for of in (dissimilar, ~dissimilar)])
    assert (np.ptp(sizes, axis=1) <= 0.15 * sizes.sum(axis=1) / 5).all()


def test_what_is_chosen_by_hand():
    # six applications with one dissimilar (.8) and one similar (.2) item each: every choice is halfway
    truth, scores = ["dissimilar", "similar"] * 6, [0.8, 0.2] * 6
    groups = np.repeat(list("abcdef"), 2)
    choice = cross_validated_threshold(truth, scores, groups, rng=np.random.default_rng(1))
    assert choice.theta == (0.5,) * 5
    assert choice.theta_low == choice.theta_median == choice.theta_high == choice.theta_in_sample == 0.5
    assert choice.out_of_fold == choice.in_sample == choice.at_fixed == Confusion(6, 0, 0, 6)
    assert (choice.optimism, choice.reason, choice.criterion, choice.fixed) == (0, None, "Youden's index", 0.25)


def test_equally_good_thresholds_are_settled_towards_the_fixed_reference():
    # Youden's index is .5 between .2 and .3 and between .6 and .7
    truth = ["similar", "dissimilar", "dissimilar", "similar", "similar", "dissimilar", "dissimilar", "similar"]
    scores = [0.2, 0.3, 0.3, 0.6, 0.6, 0.7, 0.7, 0.2]
    near, far = (
        cross_validated_threshold(truth, scores, rng=np.random.default_rng(1), fixed=fixed).theta_in_sample
        for fixed in (0.25, 0.9)
    )
    assert (near, far) == (pytest.approx(0.25), pytest.approx(0.65))


def test_a_cost_ratio_moves_the_threshold():
    truth = ["similar"] * 4 + ["dissimilar"] + ["similar"] * 4 + ["dissimilar"] * 4
    scores = np.arange(13) / 8
    rng = np.random.default_rng(1)
    by_ratio = {r: cross_validated_threshold(truth, scores, rng=rng, cost_ratio=r) for r in (1, 3.5, 5)}
    assert {r: choice.theta_in_sample * 8 for r, choice in by_ratio.items()} == {1: 8.5, 3.5: 8.5, 5: 3.5}
    assert by_ratio[3.5].criterion == "cost ratio 3.5"


@given(st.lists(st.tuples(CATEGORY, FEW_SCORES | st.none(), st.sampled_from(["a", "b", "c", "d", "e", "f", "g", None])),
                max_size=40))  # fmt: skip
def test_out_of_fold_no_item_is_called_by_a_threshold_chosen_with_its_application(rows):
    truth, scores, groups = ([row[k] for row in rows] for k in range(3))
    choice = cross_validated_threshold(truth, scores, groups, rng=np.random.default_rng(1))
    scored = [row for row in rows if row[1] is not None]
    assert choice.n_without_score == len(rows) - len(scored)
    expected = confusion_matrix([row[0] for row in scored], called([row[1] for row in scored], 0.25))
    assert choice.at_fixed == Confusion(expected.tp, expected.fp, expected.fn, expected.tn, choice.n_without_score)
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
    assert one_class.at_fixed == Confusion(0, 1, 0, 2)
    truth, scores = ["dissimilar", "similar", "similar", "dissimilar"], [0.8, 0.2, 0.3, 0.9]
    one_group = cross_validated_threshold(truth, scores, ["a"] * 4, rng=rng)
    assert one_group.reason.startswith("all items are in one group")
    assert one_group.in_sample == Confusion(2, 0, 0, 2)
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


def test_cost_range_by_hand():
    truth, scores = ["similar"] * 4 + ["dissimilar"] + ["similar"] * 4 + ["dissimilar"] * 4, np.arange(13) / 8
    # fn, fp: 0, 4 at 3.5/8 and 1, 0 at 8.5/8
    assert (cost_range(truth, scores, 8.5 / 8).low, cost_range(truth, scores, 8.5 / 8).high) == (0, 4)
    below = cost_range(truth, scores, 0.45)
    assert (below.low, below.high, below.reason) == (4, None, "no upper limit: no item is missed")
    for theta in (0.1, 0.7, 1.2, 5):
        between = cost_range(truth, scores, theta)
        assert (between.low, between.high) == (None, None)
        assert between.reason == "another threshold is better at every cost ratio"


@given(ITEMS, FEW_SCORES.map(lambda theta: theta - 1 / 16), st.sampled_from([0, 0, 0.1, 0.5]))
def test_theta_is_best_inside_the_cost_range_and_not_outside(items, theta, tolerance):
    truth, scores = columns(items)
    limits = cost_range(truth, scores, theta, tolerance=tolerance)
    if len({category for category, _ in items}) < 2:
        assert limits.reason
        assert limits.low is limits.high is None
        return
    own = confusion_matrix(truth, called(scores, theta))
    ratio = RATIOS
    least = np.min([ratio * table.fn + table.fp for table in all_divisions(truth, scores)], axis=0)
    excess = ratio * own.fn + own.fp - (1 + tolerance) * least
    low = np.inf if limits.low is None else limits.low
    high = np.inf if limits.high is None else limits.high
    inside = (low - 1e-12 <= ratio) & (ratio <= high + 1e-12)
    assert (inside == (excess <= 1e-9)).all()


def test_a_tolerance_widens_the_cost_range():
    truth, scores = ["similar"] * 4 + ["dissimilar"] + ["similar"] * 4 + ["dissimilar"] * 4, np.arange(13) / 8
    # fn, fp are 1, 1 at .9, against 1, 0 at 8.5/8 and 0, 4 at .45: r + 1 <= 1.5 r, and r + 1 <= 1.5 x 4
    near = cost_range(truth, scores, 0.9, tolerance=0.5)
    assert (near.low, near.high) == (2, 5)
    reason = "another threshold is better by more than 0.1 of its cost at every cost ratio"
    assert cost_range(truth, scores, 0.9, tolerance=0.1).reason == reason


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
    rng, n_dissimilar = np.random.default_rng(8), round(0.58 * n)
    truth = ["dissimilar"] * n_dissimilar + ["similar"] * (n - n_dissimilar)
    too_good, bias = [], []
    for _ in range(n_times):
        scores = rng.normal(size=n) + (np.arange(n) < n_dissimilar)
        choice = cross_validated_threshold(truth, scores, rng.integers(n // 5, size=n), rng=rng, fixed=0.5)
        reached = [special.ndtr(theta) - special.ndtr(theta - 1) for theta in (choice.theta_in_sample, *choice.theta)]
        too_good.append(youden(choice.in_sample).value - reached[0])
        bias.append(youden(choice.out_of_fold).value - np.mean(reached[1:]))
    assert np.mean(too_good) == pytest.approx(optimism, abs=within)
    assert np.mean(bias) == pytest.approx(0, abs=0.012)
