import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.categories import ANSWERS, CATEGORIES
from analysis.tables import checked_counts, checked_labels, count_table, first_labels


def label_table(*rows):
    return pd.DataFrame(rows, columns=["item", "rater", "category"])


def test_count_table_keeps_declared_categories_that_nobody_used():
    labels = label_table(("b", "ada", "similar"), ("a", "ada", "similar"), ("b", "ben", "similar"))
    counts = count_table(labels)
    assert counts.index.tolist() == ["b", "a"]
    assert counts.columns.tolist() == ["similar", "dissimilar"]
    assert counts.to_numpy().tolist() == [[2, 0], [1, 0]]
    assert count_table(label_table()).shape == (0, 2)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "ada", "maybe")], "'maybe' \\(item 'a'\\) is not one of: similar, dissimilar"),
        ([("a", "ada", "similar"), ("a", "ada", "dissimilar")], "rater 'ada'.*'a'"),
    ],
)
def test_invalid_label_tables_are_rejected(rows, message):
    with pytest.raises(ValueError, match=message):
        checked_labels(label_table(*rows))


def test_a_missing_column_is_named():
    with pytest.raises(ValueError, match="lacks the column rater"):
        checked_labels(pd.DataFrame({"item": ["a"], "category": ["similar"]}))


@pytest.mark.parametrize("counts", [[[1, -1]], [[0.5, 1]], [[np.nan, 1]], [[1], [2]], [1, 2], [[1, 2], [1]]])
def test_invalid_counts_are_rejected(counts):
    with pytest.raises(ValueError, match="counts must"):
        checked_counts(counts)


def test_rows_without_a_rating_are_left_out():
    assert checked_counts([[0, 0], [1, 1]]).tolist() == [[1, 1]]
    assert checked_counts([]).shape == (0, 2)


def answers(*rows):
    return pd.DataFrame(rows, columns=["rater", "assignment", "answer"])


@pytest.mark.parametrize(
    ("given_answers", "first"),
    [
        ([("ada", 1, "similar"), ("ada", 2, "similar"), ("ada", 1, "dissimilar")], [0, 1]),  # a later revision
        ([("ada", 1, "similar"), ("ada", 1, "dissimilar"), ("ada", 2, "similar")], [1, 2]),  # corrected immediately
        ([("ada", 1, "similar"), ("ada", 1, "withdrawn"), ("ada", 1, "dissimilar")], [2]),  # undo
        ([("ada", 1, "similar"), ("ada", 1, "withdrawn")], []),
        ([("ada", 1, "not sure"), ("ada", 2, "similar"), ("ada", 1, "similar")], [1, 2]),  # shown again
        (
            [("ada", 1, "similar"), ("ben", 1, "similar"), ("ada", 1, "dissimilar")],
            [1, 2],
        ),  # answers of others do not fix it
        ([("ada", 1, "similar"), ("ada", 2, "not sure"), ("ada", 1, "withdrawn")], [0]),  # fixed by the next assignment
    ],
)
def test_which_answer_is_the_first_label(given_answers, first):
    assert first_labels(answers(*given_answers)).index.tolist() == first


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 4), st.sampled_from(ANSWERS)), max_size=40),
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 4), st.sampled_from(ANSWERS)), max_size=10),
)
def test_first_labels_are_frozen_once_another_task_was_answered(earlier, later):
    last_task = {rater: task for rater, task, _ in earlier}
    before = {
        (row.rater, row.assignment): row.Index
        for row in first_labels(answers(*earlier)).itertuples()
        if last_task[row.rater] != row.assignment
    }
    after = {(row.rater, row.assignment): row.Index for row in first_labels(answers(*earlier, *later)).itertuples()}
    assert {key: after.get(key) for key in before} == before
    assert all(answers(*earlier, *later)["answer"][index] in CATEGORIES for index in after.values())


def test_an_unknown_answer_is_refused():
    with pytest.raises(ValueError, match="'maybe' is not one of"):
        first_labels(answers(("ada", 1, "maybe")))
    with pytest.raises(ValueError, match="lacks the column answer"):
        first_labels(pd.DataFrame({"rater": [], "assignment": []}))
