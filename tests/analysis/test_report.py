"""The report from tables alone, without a study."""

import json
import re

import pandas as pd
import pytest

from analysis.document import to_json
from analysis.report import Provenance
from tests.analysis.reports import summarise, to_html
from tests.sentences import says

NO_VERDICTS = pd.DataFrame({"item": [], "classifier": [], "verdict": []})


def answers(*rows, columns=("item", "reviewer", "label")):
    return pd.DataFrame(rows, columns=columns)


def verdicts(*rows):
    return pd.DataFrame(rows, columns=["item", "classifier", "verdict"])


def test_a_report_counted_by_hand():
    table = answers(
        ("a", "ada", "similar"), ("a", "ben", "similar"),
        ("b", "ada", "dissimilar"), ("b", "ben", "dissimilar"),
        ("c", "ada", "dissimilar"), ("c", "ben", "similar"),
        ("d", "ada", "similar"), ("d", "ben", "not sure"),
    )  # fmt: skip
    report = summarise(table, verdicts(("a", "mine", "dissimilar"), ("b", "mine", "dissimilar"), ("c", "mine", None)))
    (pair,) = report["agreement"]["pairs"]
    assert (pair["a"], pair["b"], pair["n"], pair["agree"]) == ("ada", "ben", 3, 2)
    assert report["agreement"]["percent"]["value"] == pytest.approx(2 / 3)
    assert report["consensus"] | {"n_items": 4, "agreed": 2, "split": 1, "incomplete": 1} == report["consensus"]
    assert report["left_out"]["not_sure"] == 1
    mine = report["classifiers"]["mine"]
    assert mine["confusion"] == {"tp": 1, "fp": 1, "fn": 0, "tn": 0}
    assert mine["verdicts"] == {"similar": 0, "dissimilar": 2, "none": 1}
    assert mine["baseline"]["accuracy"]["value"] == 0.5
    page = to_html(report)
    assert says(page, "majority rule: always dissimilar", "50.0 %")
    assert says(page, "mine", "50.0 %")
    assert says(page, "agree on 2 of 3 items")
    assert says(page, "Items: 4", "2 agreed (1 dissimilar, 1 similar)", "1 split")


def test_items_that_everybody_saw_are_counted_apart():
    table = answers(
        *[("a", reviewer, "similar") for reviewer in ("ada", "ben", "cleo")],
        *[("b", reviewer, "similar") for reviewer in ("ada", "ben")],
    )
    rows = summarise(table, NO_VERDICTS)["consensus"]["by_n_labels"]
    assert [(row["n_labels"], row["n"], row["agreed"]["value"]) for row in rows] == [(2, 1, 1.0), (3, 1, 1.0)]


@pytest.mark.parametrize(
    ("table", "verdict_table", "message"),
    [
        (pd.DataFrame({"item": [], "label": []}), NO_VERDICTS, "answer table lacks the column reviewer"),
        (answers(), pd.DataFrame({"item": [], "verdict": []}), "verdicts lack the column classifier"),
        (answers(), verdicts(("a", "c", "similar"), ("a", "c", "similar")), "'c'.*verdicts.*'a'"),
        (answers(("a", "ada", "maybe")), NO_VERDICTS, "'maybe' is not one of"),
    ],
)
def test_invalid_tables_are_rejected(table, verdict_table, message):
    with pytest.raises(ValueError, match=message):
        summarise(table, verdict_table)


@pytest.mark.parametrize("rows", [[], [("a", "ada", "similar")], [("a", "ada", "similar"), ("a", "ben", "dissimilar")]])
def test_there_is_a_report_however_little_there_is(rows):
    report = summarise(answers(*rows), NO_VERDICTS)
    assert "NaN" not in to_json(report)
    page = to_html(json.loads(to_json(report)))
    assert "The study has no verdicts" in page
    assert not re.search(r"\b(None|nan)\b", page)


def test_provenance_and_notes_are_shown_and_escaped():
    provenance = Provenance(
        study={"name": "<i>", "question": "Q?", "interim": True, "state": "open"},
        parameters={"theta": 0.25}, plan={"hash": "abc"}, versions={"labeler": "1"}, notes=["Mind <this>."],
    )  # fmt: skip
    page = to_html(summarise(answers(), NO_VERDICTS, provenance, n_items=7))
    assert "&lt;i&gt;" in page
    assert "<i>" not in page
    assert "This is an interim report" in page
    assert "Mind &lt;this&gt;." in page
    assert "Items: 7, of which 0 agreed" in page


def test_numbers_that_are_not_finite_never_reach_a_file():
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"x": float("nan")})
