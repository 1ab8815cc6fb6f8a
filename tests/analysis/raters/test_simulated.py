import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from tests.analysis.raters.simulated import Difficulty, Rater, SharedError, SimulatedDesign, simulate
from tests.conftest import examples

PERFECT = [Rater(name, 1.0, 1.0) for name in ("ada", "ben", "cleo", "dan")]
GOOD = [Rater(name, 0.9, 0.8) for name in ("ada", "ben", "cleo", "dan")]
SAME = [Rater("same", 0.3, 0.85)]


def rng(seed=1):
    return np.random.default_rng(seed)


def right_by_rater(study, categories=("similar", "dissimilar")):
    labels = study.labels.assign(truth=study.labels["item"].map(study.truth))
    labels = labels[labels["truth"].isin(categories)]
    return (labels["category"] == labels["truth"]).groupby(labels["rater"]).mean()


def test_perfect_raters_say_what_is_so_in_named_columns():
    study = simulate(SimulatedDesign(50), PERFECT, [Rater("same", 1.0, 1.0), Rater("wrong", 0.0, 0.0)], 0.4, rng=rng())
    assert (study.labels["category"] == study.labels["item"].map(study.truth).to_numpy()).all()
    verdicts = study.verdicts.pivot(index="item", columns="classifier", values="verdict").loc[study.truth.index]
    assert (verdicts["same"] == study.truth).all()
    assert (verdicts["wrong"] != study.truth).all()
    study = simulate(SimulatedDesign(2, 3), GOOD, SAME, 0.5, rng=rng())
    assert study.labels.columns.tolist() == ["item", "rater", "category"]
    assert study.verdicts.columns.tolist() == ["item", "classifier", "verdict"]
    assert study.truth.index.tolist() == ["i0", "i1"]
    assert len(simulate(SimulatedDesign(0), GOOD, [], 0.5, rng=rng()).labels) == 0
    assert simulate(SimulatedDesign(3), GOOD, [], 0.5, rng=rng()).verdicts.columns.tolist() == [
        "item",
        "classifier",
        "verdict",
    ]
    one, other = (simulate(SimulatedDesign(30, 2, 0.2), GOOD, SAME, 0.5, rng=rng(4)) for _ in range(2))
    pd.testing.assert_frame_equal(one.labels, other.labels)
    pd.testing.assert_frame_equal(one.verdicts, other.verdicts)
    pd.testing.assert_series_equal(one.truth, other.truth)


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 60), st.integers(1, 4), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_every_item_has_k_labels_or_all_and_blocks_are_even(n_items, k, overlap):
    labels = simulate(SimulatedDesign(n_items, k, overlap), GOOD, [], 0.5, rng=rng()).labels
    assert not labels.duplicated(["item", "rater"]).any()
    sets = labels.groupby("item")["rater"].agg(frozenset)
    assert len(sets) == n_items
    n_overlap = int(overlap * n_items + 0.5)
    small = sets[sets.map(len) == k] if k < 4 else sets
    assert len(sets) - len(small) == (n_overlap if k < 4 else 0)
    if k < 4 and len(small):
        n_blocks = {1: 4, 2: 6, 3: 4}[k]
        loads = small.value_counts().reindex(small.unique()).to_numpy()
        assert loads.max() - (loads.min() if len(loads) == n_blocks else 0) <= 1


def test_shares_agree_with_the_request_and_a_hard_item_takes_its_amount_of_the_log_odds():
    study = simulate(SimulatedDesign(40_000, 2), GOOD, SAME, 0.3, rng=rng())
    assert (study.truth == "dissimilar").mean() == pytest.approx(0.3, abs=0.01)
    assert right_by_rater(study, ["dissimilar"]).to_numpy() == pytest.approx([0.9] * 4, abs=0.02)
    assert right_by_rater(study, ["similar"]).to_numpy() == pytest.approx([0.8] * 4, abs=0.02)
    verdict = study.verdicts.set_index("item")["verdict"]
    assert (verdict[study.truth == "dissimilar"] == "dissimilar").mean() == pytest.approx(0.3, abs=0.02)
    # logit(.9) - 2 = .197, .549 right
    study = simulate(SimulatedDesign(30_000, 2), GOOD, [], 1.0, item_difficulty=Difficulty(hard_share=1.0), rng=rng())
    assert right_by_rater(study).to_numpy() == pytest.approx([0.549] * 4, abs=0.02)


def errors_by_pair(study):
    """Compute the share of items on which both raters are wrong, divided by its value under independence."""
    wrong = study.labels.assign(wrong=study.labels["category"] != study.labels["item"].map(study.truth).to_numpy())
    wide = wrong.pivot(index="item", columns="rater", values="wrong").astype(float)
    return (wide["ada"] * wide["ben"]).mean() / (wide["ada"].mean() * wide["ben"].mean())


def test_errors_are_independent_unless_items_are_hard_or_mislead():
    equal = [Rater(name, 0.8, 0.8) for name in ("ada", "ben")]
    design = SimulatedDesign(20_000, 2)
    assert errors_by_pair(simulate(design, equal, [], 0.5, rng=rng())) == pytest.approx(1, abs=0.1)
    hard = simulate(design, equal, [], 0.5, item_difficulty=Difficulty(hard_share=0.3, hard_by=2.0), rng=rng())
    assert errors_by_pair(hard) > 1.3
    spread = simulate(design, equal, [], 0.5, item_difficulty=Difficulty(spread=1.5), rng=rng())
    assert errors_by_pair(spread) > 1.3


def test_a_misleading_item_makes_the_named_raters_wrong():
    error = SharedError(0.25, ("ada", "same"))
    study = simulate(SimulatedDesign(4000, 4), PERFECT, [Rater("same", 1.0, 1.0), Rater("other", 1.0, 1.0)], 0.5,
                     shared_error=error, rng=rng())  # fmt: skip
    wide = study.labels.pivot(index="item", columns="rater", values="category").loc[study.truth.index]
    wrong = wide["ada"] != study.truth
    assert wrong.mean() == pytest.approx(0.25, abs=0.03)
    assert (wide["ben"] == study.truth).all()
    verdicts = study.verdicts.pivot(index="item", columns="classifier", values="verdict").loc[study.truth.index]
    assert ((verdicts["same"] != study.truth) == wrong).all()
    assert (verdicts["other"] == study.truth).all()
    half = SharedError(1.0, ("ada",), pull=0.5)
    assert right_by_rater(simulate(SimulatedDesign(8000, 4), PERFECT, [], 0.5, shared_error=half, rng=rng()))[
        "ada"
    ] == (pytest.approx(0.5, abs=0.03))


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"prevalence": 1.2}, "prevalence.*got 1.2"),
        ({"design": SimulatedDesign(3, 2, -0.1)}, "overlap must be within"),
        ({"design": SimulatedDesign(-1)}, "n_items.*>= 0"),
        ({"design": SimulatedDesign(3, 5)}, "k must.*got 5"),
        ({"design": SimulatedDesign(3, 0)}, "k must be within"),
        ({"reviewers": [Rater("ada", 1.5, 0.5), Rater("ben", 0.5, 0.5)]}, "sensitivity of ada must be within"),
        ({"classifiers": [Rater("ada", 0.5, 0.5)]}, "names.*ben, cleo, dan, ada"),
        ({"item_difficulty": Difficulty(spread=-1.0)}, "n_items.*>= 0"),
        ({"item_difficulty": Difficulty(hard_share=2.0)}, "hard_share must be within"),
        ({"shared_error": SharedError(0.1, ("zoe",))}, "shared_error contains 'zoe'"),
        ({"shared_error": SharedError(0.1, ("ada",), pull=3.0)}, "pull must be within"),
    ],
)
def test_impossible_requests_are_rejected(keywords, message):
    usual = {"design": SimulatedDesign(3), "reviewers": GOOD, "classifiers": SAME, "prevalence": 0.5}
    with pytest.raises(ValueError, match=message):
        simulate(**(usual | keywords), rng=rng())
