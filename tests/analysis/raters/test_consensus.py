"""Consensus by agreement, by majority, and by Dawid and Skene."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from analysis.categories import CATEGORIES
from analysis.raters.consensus import agreed_only, dawid_skene, majority, outcomes
from tests.conftest import examples

LABELS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from(CATEGORIES)), unique_by=lambda row: row[:2]
)


def label_table(rows):
    return pd.DataFrame(rows, columns=["item", "rater", "category"])


def test_agreed_split_and_incomplete():
    consensus = agreed_only(
        label_table(
            [
                ("a", "ada", "similar"), ("a", "ben", "similar"), ("b", "ada", "similar"), ("b", "ben", "dissimilar"),
                ("c", "ada", "dissimilar"), ("d", "ada", "dissimilar"), ("d", "ben", "dissimilar"),
                ("d", "cleo", "dissimilar"),
            ]
        )
    )  # fmt: skip
    assert consensus["status"].to_dict() == {"a": "agreed", "b": "split", "c": "incomplete", "d": "agreed"}
    assert consensus["category"].to_dict() == {"a": "similar", "b": None, "c": None, "d": "dissimilar"}
    assert consensus["n_labels"].tolist() == [2, 2, 1, 3]
    assert len(agreed_only(label_table([]))) == 0


@given(LABELS)
def test_an_agreed_item_holds_no_other_label(rows):
    labels = label_table(rows)
    for item, row in agreed_only(labels).iterrows():
        given_categories = set(labels[labels["item"] == item]["category"])
        assert (row["status"] == "agreed") == (len(given_categories) == 1 and row["n_labels"] >= 2)
        assert row["category"] is None or given_categories == {row["category"]}


SPLIT_AND_AGREED = [
    ("a", "ada", "similar"), ("a", "ben", "dissimilar"), ("b", "ada", "similar"), ("b", "ben", "similar"),
    ("c", "ada", "similar"), ("c", "ben", "dissimilar"), ("d", "ada", "similar"),
]  # fmt: skip


def test_a_third_label_or_a_person_decides_a_split_item_and_an_even_vote_stays_split():
    third = label_table([("a", "cleo", "dissimilar"), ("b", "cleo", "dissimilar")])
    consensus = majority(label_table(SPLIT_AND_AGREED), third, {"b": "dissimilar", "x": "similar"})
    assert consensus["status"].to_dict() == {
        "a": "majority", "b": "adjudicated", "c": "split", "d": "incomplete", "x": "adjudicated",
    }  # fmt: skip
    assert consensus["category"].to_dict() == {
        "a": "dissimilar", "b": "dissimilar", "c": None, "d": None, "x": "similar",
    }  # fmt: skip
    assert consensus["n_labels"].tolist() == [3, 3, 2, 1, 0]
    votes = label_table([("a", rater, "similar") for rater in "xy"] + [("a", rater, "dissimilar") for rater in "vw"])
    assert majority(votes).loc["a"].tolist() == ["split", None, 4]
    assert majority(votes, decisions={"a": "similar"}).loc["a"].tolist() == ["adjudicated", "similar", 4]
    assert len(majority(label_table([]), label_table([]))) == len(outcomes(label_table([]), label_table([]))) == 0
    assert majority(label_table([]), decisions={"a": "similar"})["category"].to_dict() == {"a": "similar"}
    with pytest.raises(ValueError, match="decision 'maybe' \\(item 'a'\\) is not one of: similar, dissimilar"):
        majority(label_table(SPLIT_AND_AGREED), decisions={"a": "maybe"})
    with pytest.raises(ValueError, match=r"rater 'ada'.*'a'"):
        majority(label_table(SPLIT_AND_AGREED), label_table([("a", "ada", "similar")]))


def test_an_item_is_split_by_its_first_labels_or_by_third_labels_that_leave_no_majority():
    first = label_table([("a", "ada", "similar"), ("a", "ben", "similar"), ("b", "ada", "similar"),
                         ("b", "ben", "dissimilar"), ("c", "ada", "similar"), ("d", "ada", "similar")])  # fmt: skip
    third = label_table([("a", "cleo", "dissimilar"), ("a", "dan", "dissimilar"), ("b", "cleo", "similar"),
                         ("d", "cleo", "dissimilar")])  # fmt: skip
    found = outcomes(first, third, {"b": "dissimilar"})
    assert found[["first", "agreed", "majority", "decided", "split_by"]].T.to_dict("list") == {
        "a": ["agreed", "similar", None, None, "third labels"],
        "b": ["split", None, "similar", "dissimilar", "first labels"],
        "c": ["incomplete", None, None, None, ""],
        "d": ["incomplete", None, None, None, "third labels"],
    }


@settings(max_examples=examples(40), deadline=None)
@given(LABELS)
def test_the_majority_of_agreed_items_is_their_category(rows):
    labels = label_table(rows)
    agreed, by_vote = agreed_only(labels), majority(labels)
    assert by_vote.index.tolist() == agreed.index.tolist()
    same = agreed["status"] == "agreed"
    assert (by_vote[same]["category"] == agreed[same]["category"]).all()
    for item, row in by_vote.iterrows():
        votes = labels[labels["item"] == item]["category"]
        assert (row["status"] == "majority") == (len(votes) >= 2 and votes.value_counts().max() * 2 > len(votes))


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


def test_raters_who_always_agree_are_right_and_no_rating_is_a_reason():
    counts = [[[1, 0], [1, 0]]] * 3 + [[[0, 1], [0, 1]]]
    result = dawid_skene(counts)
    assert result.prevalence == pytest.approx([3 / 4, 1 / 4])
    assert result.error_matrices == pytest.approx(np.stack([np.eye(2)] * 2))
    assert result.log_likelihood == pytest.approx(3 * np.log(3 / 4) + np.log(1 / 4))
    for counts in (np.zeros((0, 2, 3)), np.zeros((4, 2, 3))):
        result = dawid_skene(counts)
        assert (result.prevalence, result.log_likelihood, result.reason) == (None, None, "no ratings")


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


@pytest.mark.parametrize(
    ("counts", "start", "message"),
    [
        *((counts, None, "ratings must") for counts in ([[1, 0]], [[[1], [2]]], [[[0.5, 1]]], [[[-1, 1]]])),
        *(([[[1, 0]]], start, "start must") for start in ([[1, 0], [1, 0]], [[0.5, 0.6]], [[-1, 2]])),
    ],
)
def test_invalid_ratings_and_starts_are_rejected(counts, start, message):
    with pytest.raises(ValueError, match=message):
        dawid_skene(counts, start=start)
