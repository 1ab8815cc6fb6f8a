"""The table with one row per item, checked by hand."""

import pandas as pd
import pytest

from analysis.report import wide
from tests.analysis.reports import summarise
from tests.analysis.test_report_identities import REVIEWERS, study

NO_VERDICTS = pd.DataFrame({"item": [], "classifier": [], "verdict": []})


def answers(*rows):
    return pd.DataFrame(rows, columns=["item", "reviewer", "label", "kind"])


def verdicts(*rows):
    return pd.DataFrame(rows, columns=["item", "classifier", "verdict", "score"])


def records(table):
    """Return the rows without empty cells."""
    return [{name: value for name, value in row.items() if not pd.isna(value)} for row in table.to_dict("records")]


def test_a_wide_table_checked_by_hand():
    said = answers(
        ("b", "ada", "similar", "fresh"), ("b", "ben", "dissimilar", "fresh"), ("b", "cleo", "similar", "third"),
        ("a", "ada", "similar", "overlap"), ("a", "ben", "similar", "overlap"), ("a", "cleo", "not sure", "overlap"),
        ("c", "ada", "dissimilar", "fresh"), ("a", "ada", "dissimilar", "overlap"), ("d", "ben", "withdrawn", "fresh"),
        ("a", "ben", "dissimilar", "retest"),
    )  # fmt: skip
    called = verdicts(("a", "rule", "similar", 0.1), ("z", "rule", "dissimilar", 0.9), ("b", "rule", None, None))
    assert records(wide(said, called)) == [
        {"item": "a", "status": "agreed", "category": "similar", "n_labels": 2, "label_ada": "similar",
         "label_ben": "similar", "verdict_rule": "similar", "score_rule": 0.1},
        {"item": "b", "status": "split", "n_labels": 2, "label_ada": "similar", "label_ben": "dissimilar"},
        {"item": "c", "status": "incomplete", "n_labels": 1, "label_ada": "dissimilar"},
        {"item": "d", "status": "incomplete", "n_labels": 0},
        {"item": "z", "status": "incomplete", "n_labels": 0, "verdict_rule": "dissimilar", "score_rule": 0.9},
    ]  # fmt: skip


def test_the_columns_are_in_order():
    said = answers(("a", "ben", "similar", "fresh"), ("a", "ada", "similar", "fresh"))
    called = verdicts(("a", "two", "similar", 0.1), ("a", "one", "similar", 0.1))
    assert wide(said, called).columns.tolist() == [
        "item", "status", "category", "n_labels", "label_ada", "label_ben", "verdict_one", "verdict_two", "score_one",
        "score_two",
    ]  # fmt: skip


def test_verdicts_without_scores_have_no_column_of_scores():
    called = verdicts(("a", "rule", "similar", 0.1)).drop(columns="score")
    assert wide(answers(), called).columns.tolist() == ["item", "status", "category", "n_labels", "verdict_rule"]


def test_without_anything_the_table_has_no_rows():
    assert wide(answers(), NO_VERDICTS).columns.tolist() == ["item", "status", "category", "n_labels"]
    assert len(wide(answers(), NO_VERDICTS)) == 0


def test_numbers_of_labels_are_whole_numbers():
    assert wide(answers(("a", "ada", "similar", "fresh")), verdicts(("z", "r", None, None)))["n_labels"].dtype == int


@pytest.mark.slow
@pytest.mark.parametrize("name", ["k = 2 with overlap", "k = 3, bare"])
def test_the_wide_table_counts_what_the_report_counts(name):
    made = study(name)
    table, decided = wide(made.answers, made.verdicts), summarise(made.answers, made.verdicts)["consensus"]
    assert (table["status"] == "agreed").sum() == decided["agreed"]
    assert (table["category"] == "dissimilar").sum() == decided["agreed_dissimilar"]
    given = table[[f"label_{rater.name}" for rater in REVIEWERS]].notna().sum(axis=1)
    assert given.tolist() == table["n_labels"].tolist()
