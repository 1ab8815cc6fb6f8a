import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from analysis.categories import CATEGORIES
from analysis.consensus import agreed_only, majority
from tests.conftest import examples

LABELS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from(CATEGORIES)),
    unique_by=lambda row: row[:2],
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


def test_no_labels_no_items():
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


def test_a_third_label_decides_a_split_item_and_a_person_wins_over_labels():
    third = label_table([("a", "cleo", "dissimilar"), ("b", "cleo", "dissimilar")])
    consensus = majority(label_table(SPLIT_AND_AGREED), third, {"b": "dissimilar", "x": "similar"})
    assert consensus["status"].to_dict() == {
        "a": "majority", "b": "adjudicated", "c": "split", "d": "incomplete", "x": "adjudicated",
    }  # fmt: skip
    assert consensus["category"].to_dict() == {
        "a": "dissimilar", "b": "dissimilar", "c": None, "d": None, "x": "similar",
    }  # fmt: skip
    assert consensus["n_labels"].tolist() == [3, 3, 2, 1, 0]


def test_an_even_vote_of_four_stays_split_until_a_person_decides():
    votes = label_table([("a", rater, "similar") for rater in "xy"] + [("a", rater, "dissimilar") for rater in "vw"])
    assert majority(votes).loc["a"].tolist() == ["split", None, 4]
    assert majority(votes, decisions={"a": "similar"}).loc["a"].tolist() == ["adjudicated", "similar", 4]


def test_the_majority_of_an_empty_table_is_empty():
    assert len(majority(label_table([]), label_table([]))) == 0
    assert majority(label_table([]), decisions={"a": "similar"})["category"].to_dict() == {"a": "similar"}


def test_invalid_decisions_and_third_labels_are_rejected():
    with pytest.raises(ValueError, match="decision 'maybe' \\(item 'a'\\) is not one of: similar, dissimilar"):
        majority(label_table(SPLIT_AND_AGREED), decisions={"a": "maybe"})
    with pytest.raises(ValueError, match=r"rater 'ada'.*'a'"):
        majority(label_table(SPLIT_AND_AGREED), label_table([("a", "ada", "similar")]))


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
