import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from analysis.consensus import dawid_skene
from tests.conftest import examples

RATINGS = hnp.arrays(np.int64, (6, 3, 3), elements=st.integers(0, 2))


def test_the_anaesthetists_of_dawid_and_skene(golden_agreement):
    case = golden_agreement["dawid_skene1979_anaesthetists"]
    given_ratings = case["input"]["ratings_item_rater"]
    counts = [[[labels.count(k) for k in (1, 2, 3, 4)] for labels in item] for item in given_ratings]
    result, expected = dawid_skene(counts), case["expected"]
    tolerance = case["tolerance"]
    assert result.prevalence == pytest.approx(expected["class_marginals"], abs=tolerance)
    assert result.log_likelihood == pytest.approx(expected["loglik"], abs=tolerance)
    assert result.error_matrices[0] == pytest.approx(np.array(expected["rater1_error_matrix"]), abs=tolerance)
    assert (result.posterior.argmax(axis=1) + 1).tolist() == expected["labels"]
    assert result.converged


def test_raters_who_always_agree_are_right_and_have_the_likelihood_of_the_shares():
    counts = [[[1, 0], [1, 0]]] * 3 + [[[0, 1], [0, 1]]]
    result = dawid_skene(counts)
    assert result.prevalence == pytest.approx([3 / 4, 1 / 4])
    assert result.error_matrices == pytest.approx(np.stack([np.eye(2)] * 2))
    assert result.log_likelihood == pytest.approx(3 * np.log(3 / 4) + np.log(1 / 4))


def test_one_step_by_hand():
    # start: shares (1/2, 1/2) and (1, 0); prevalence (3/4, 1/4); rater 2 is right on 1 of 1.5 of category 1
    result = dawid_skene([[[1, 0], [0, 1]], [[1, 0], [1, 0]]], max_iterations=1)
    assert result.prevalence == pytest.approx([3 / 4, 1 / 4])
    assert result.error_matrices[0] == pytest.approx(np.array([[1, 0], [1, 0]]))
    assert result.error_matrices[1] == pytest.approx(np.array([[2 / 3, 1 / 3], [0, 1]]))
    # item 1: 3/4 * 1/3 = 1/4 against 1/4 * 1; item 2: 3/4 * 2/3 against 0
    assert result.posterior == pytest.approx(np.array([[1 / 2, 1 / 2], [1, 0]]))
    assert (result.n_iterations, result.converged) == (1, False)


def test_another_start_gives_the_mirrored_answer():
    rng = np.random.default_rng(1)
    truth = rng.random(200) < 0.6
    labels = np.where(rng.random((200, 4)) < 0.85, truth[:, None], ~truth[:, None]).astype(int)
    counts = np.eye(2)[labels]
    one = dawid_skene(counts)
    other = dawid_skene(counts, start=1 - one.posterior)
    assert other.prevalence == pytest.approx(one.prevalence[::-1], abs=1e-6)
    assert other.log_likelihood == pytest.approx(one.log_likelihood)


def test_no_rating_is_a_reason():
    for counts in (np.zeros((0, 2, 3)), np.zeros((4, 2, 3))):
        result = dawid_skene(counts)
        assert (result.prevalence, result.log_likelihood, result.reason) == (None, None, "no ratings")


@settings(max_examples=examples(40), deadline=None)
@given(RATINGS)
def test_likelihood_rises_and_everything_is_a_probability(counts):
    if not counts.any():
        return
    heights = [dawid_skene(counts, max_iterations=n, tolerance=0).log_likelihood for n in (1, 2, 5, 20)]
    assert (np.diff(heights) >= -1e-9).all()
    result = dawid_skene(counts)
    for shares in (result.prevalence, *result.error_matrices, result.posterior):
        assert np.isfinite(shares).all() and (shares >= 0).all()
        assert shares.sum(axis=-1) == pytest.approx(1)


@settings(max_examples=examples(40), deadline=None)
@given(RATINGS, st.permutations(range(6)))
def test_the_order_of_items_does_not_matter(counts, order):
    if not counts.any():
        return
    one, other = dawid_skene(counts, max_iterations=20), dawid_skene(counts[order], max_iterations=20)
    assert one.posterior[order] == pytest.approx(other.posterior, abs=1e-6)


@pytest.mark.parametrize("counts", [[[1, 0]], [[[1], [2]]], [[[0.5, 1]]], [[[-1, 1]]]])
def test_ratings_without_valid_counts_are_rejected(counts):
    with pytest.raises(ValueError, match="ratings must"):
        dawid_skene(counts)


@pytest.mark.parametrize("start", [[[1, 0], [1, 0]], [[0.5, 0.6]], [[-1, 2]]])
def test_a_start_without_probabilities_is_rejected(start):
    with pytest.raises(ValueError, match="start must"):
        dawid_skene([[[1, 0]]], start=start)
