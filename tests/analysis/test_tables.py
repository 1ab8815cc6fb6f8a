import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from analysis import agreed_only, cohen_kappa, dawid_skene, fleiss_kappa, leniency, pair_agreements
from analysis.categories import CATEGORIES, NO_CATEGORY
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
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(1, 4), st.sampled_from((*CATEGORIES, *NO_CATEGORY))), max_size=40
    ),
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(1, 4), st.sampled_from((*CATEGORIES, *NO_CATEGORY))), max_size=10
    ),
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


# Tables of a new user that are almost right


LABEL_FILE = pd.DataFrame({"item": ["a", "a", "b", "b"], "reviewer": ["x", "y"] * 2, "label": ["similar"] * 4})
NUMBERS = pd.DataFrame([[1, 0, 1], [0, 0, 1], [1, 1, 1]], columns=["ada", "ben", "cleo"])
TOTALS = pd.DataFrame({"similar": [2, 1], "dissimilar": [0, 1], "Total": [2, 2]})
READS_LABELS = (count_table, fleiss_kappa, cohen_kappa, pair_agreements, leniency, agreed_only, dawid_skene)


@pytest.mark.parametrize("function", READS_LABELS)
def test_a_label_file_is_rejected_with_the_names_to_use(function):
    with pytest.raises(ValueError, match="Rename the columns: reviewer to rater, label to category"):
        function(LABEL_FILE)
    renamed = LABEL_FILE.rename(columns={"reviewer": "rater", "label": "category"})
    assert function(renamed) is not None


@pytest.mark.parametrize("function", READS_LABELS[:-1])
@pytest.mark.parametrize("wrong", [None, "labels.csv", {"item": ["a"]}], ids=["None", "path", "dict"])
def test_a_value_that_is_no_table_is_named_by_its_type(function, wrong):
    with pytest.raises(ValueError, match=rf"got {type(wrong).__name__}\b"):
        function(wrong)


def test_ratings_of_zero_and_one_are_not_counted_as_counts():
    with pytest.raises(ValueError, match=r"ada, ben, cleo.*categories=\(0, 1\)"):
        fleiss_kappa(NUMBERS)
    texts = NUMBERS.replace({0: "similar", 1: "dissimilar"})
    assert fleiss_kappa(NUMBERS, categories=(0, 1)) == fleiss_kappa(texts)


def test_a_column_of_totals_is_not_counted_as_a_category():
    with pytest.raises(ValueError, match="column Total of the count table is the sum of the others"):
        fleiss_kappa(TOTALS)
    assert fleiss_kappa(TOTALS.drop(columns="Total")).value == fleiss_kappa([[2, 0], [1, 1]]).value


def test_messages_show_plain_values():
    table = pd.DataFrame({"item": [1, 1], "rater": ["x", "y"], "category": [0, 1]})
    with pytest.raises(ValueError, match=r"^0 \(item 1\) is not one of: similar, dissimilar$"):
        count_table(table)


def test_a_count_table_cannot_tell_two_raters_apart():
    with pytest.raises(ValueError, match="does not show who gave which label"):
        cohen_kappa([[2, 0], [1, 1], [0, 2]])
