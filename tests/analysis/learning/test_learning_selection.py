"""Selection of items to label next, and estimates that stay unbiased."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng
from scipy import special

from analysis.learning import (
    Examples,
    TooFew,
    disagreement_of,
    rank_next,
    selection_weights,
    uncertainties,
    weighted_estimates,
)
from analysis.raters.agreement import fleiss_kappa
from scripts.learning_figures import simulate_selection


def test_weights_worked_by_hand():
    # of 10: a, b random, c chosen, then d random among the 7 left. Batch 1 (share 2/3): a, b weigh 5.
    # Batch 2 (share 1/3): a, b, c weigh 1, d weighs 7.
    weights = selection_weights(10, [(["a", "b"], ["c"]), (["d"], [])])
    assert weights == pytest.approx({"a": 10 / 3 + 1 / 3, "b": 10 / 3 + 1 / 3, "c": 1 / 3, "d": 7 / 3})


@pytest.mark.parametrize("batches", [[(["a"], ["a"])], [([], ["a"])], [(list("abc"), [])]])
def test_invalid_batches_are_rejected(batches):
    with pytest.raises(ValueError, match=r"an item is in two batches|cannot come from 2 items"):
        selection_weights(2, batches)


def test_weighted_estimates_worked_by_hand_or_undefined_with_a_reason():
    # of 9: weights 5 for a (random), 1/2 for b (chosen), 7/2 for c (random); x has one label and is left out
    counts = pd.DataFrame({"similar": [2, 0, 1, 1], "dissimilar": [0, 2, 1, 0]}, index=list("abcx"))
    found = weighted_estimates(counts, 9, [(["a"], ["b", "x"]), (["c"], ["d"])])
    assert (found.n_items, found.n_random, found.n_without, found.n_labels) == (3, 2, 0, 6)
    assert found.share.value == pytest.approx((0.5 * 1 + 3.5 * 0.5) / 9)
    assert found.percent.value == pytest.approx(5.5 / 9)
    assert found.kappa.value == pytest.approx((5.5 / 9 - 0.625) / (1 - 0.625))
    counts = pd.DataFrame({"similar": [2, 2], "dissimilar": [0, 0]}, index=["a", "b"])
    assert weighted_estimates(counts, 9, [(["a", "b"], [])]).kappa.reason == "only one category was used"
    none = weighted_estimates(counts, 9, [(["x"], ["a", "b"])])
    assert none.share.reason == "no randomly drawn item has two labels"
    assert weighted_estimates(counts, 9, [(["a"], ["b"])]).share.low is None


@pytest.mark.slow
def test_intervals_of_weighted_estimates_cover_the_truth_where_hard_items_are_chosen():
    # the reviewers of an item agree unless it is hard; hard items are chosen first
    covered = {"share": 0, "percent": 0, "kappa": 0}
    n, repeats = 600, 300
    rng = default_rng(7)
    chance = np.where(np.arange(n) < 200, 0.5, np.where(np.arange(n) < 400, 0.05, 0.95))  # of a dissimilar label
    names = [f"i{k}" for k in range(n)]
    agreeing = float((chance**2 + (1 - chance) ** 2).mean())
    by_chance = float(chance.mean() ** 2 + (1 - chance.mean()) ** 2)
    truth = {"share": chance.mean(), "percent": agreeing, "kappa": (agreeing - by_chance) / (1 - by_chance)}
    for _ in range(repeats):
        dissimilar = (rng.random((n, 2)) < chance[:, None]).sum(axis=1)
        counts = pd.DataFrame({"similar": 2 - dissimilar, "dissimilar": dissimilar}, index=names)
        order = rng.permutation(names).tolist()
        batches, known, n_prefix = [(order[:40], [])], order[:40], 40
        for _ in range(3):
            n_prefix += 15
            random = [name for name in order[:n_prefix] if name not in known]
            chosen = [name for name in names if name not in {*known, *random}][:30]
            batches.append((random, chosen))
            known = [*known, *random, *chosen]
        found = weighted_estimates(counts.loc[known], n, batches)
        for name in covered:
            low, high = getattr(found, name).low, getattr(found, name).high
            covered[name] += low <= truth[name] <= high
    for name, times in covered.items():
        assert 0.91 <= times / repeats <= 0.985, name


def test_the_next_items_are_of_all_applications_and_disagreement_decides_without_a_model():
    names = [f"a{n}" for n in range(5)] + ["b0", "c0"]
    ranked = rank_next(
        names, {name: name[0] for name in names},
        uncertainty={name: 1.0 if name[0] == "a" else 0.1 for name in names},
        disagreement=dict.fromkeys(names, 0.5),
    )  # fmt: skip
    assert ranked[:3] == ["a0", "b0", "c0"]
    ranked = rank_next(["x", "y"], {"x": "p", "y": "q"}, uncertainty=None, disagreement={"y": 0.6, "x": 0.1})
    assert ranked == ["y", "x"]
    table = pd.DataFrame(
        [("a", "x", "similar"), ("a", "y", "dissimilar"), ("a", "z", None), ("b", "x", "similar")],
        columns=["item", "classifier", "verdict"],
    )
    assert disagreement_of(table) == {"a": 1.0, "b": 0.0}


def made(n=300):
    rng = default_rng(1)
    x = rng.standard_normal((n, 2))
    category = (rng.random(n) < special.expit(2.5 * x[:, 0])).astype(np.intp)
    applications = tuple(f"a{i % 15}" for i in range(n))
    return Examples(tuple(f"i{i}" for i in range(n)), applications, category, x, ("m1", "m5"))


def test_items_near_the_border_are_the_uncertain_ones():
    found = made()
    values = [[0.0, 0.0], [4.0, 0.0], [np.nan, 0.0]]
    features = pd.DataFrame(values, index=["near", "far", "none"], columns=["m1", "m5"])
    unsure = uncertainties(found, features, rng=default_rng(1))
    assert unsure["near"] > 0.8 > 0.2 > unsure["far"]
    assert "none" not in unsure
    with pytest.raises(TooFew):
        uncertainties(found.of(np.arange(30)), features, rng=default_rng(1))


def test_a_simulated_selection_ends_where_all_items_are_labelled():
    steps = simulate_selection(made(150), {}, rng=default_rng(1), n_first=40, n_next=30, n_repeats=4)
    assert [step.n for step in steps] == [40, 70, 100]
    assert all(0.7 < step.auc_chosen < 1 for step in steps)
    assert abs(steps[0].prevalence_random) < 0.15
    assert steps[0].prevalence_random == steps[0].prevalence_labelled


def test_weighted_estimates_of_three_categories_are_the_usual_ones_if_all_items_are_random():
    rng = np.random.default_rng(3)
    counts = pd.DataFrame(
        rng.multinomial(3, (0.5, 0.3, 0.2), size=40), columns=["x", "y", "z"], index=[f"i{i}" for i in range(40)]
    )
    found = weighted_estimates(counts, 10_000, [(list(counts.index), [])], positive="z")
    usual = fleiss_kappa(counts, ("x", "y", "z"))
    assert found.kappa.value == pytest.approx(usual.value)
    assert found.kappa.se == pytest.approx(usual.se, rel=0.02)
    assert found.share.value == pytest.approx(counts["z"].sum() / 120)
    none = weighted_estimates(counts, 10_000, [(list(counts.index), [])], positive=None)
    assert none.share.reason == "the question has no positive category"
    assert none.percent == found.percent
