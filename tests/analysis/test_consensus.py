import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from analysis.categories import CATEGORIES
from analysis.consensus import agreed_only

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
