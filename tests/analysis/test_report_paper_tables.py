"""The tables of a report in the layout of the paper, from the data set with the paper's counts."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from analysis.report import PAPER, paper_tables, summarise, to_html, to_latex, to_markdown

REPLICATION = Path(__file__).parents[2] / "data" / "replication"
TABLE_1 = (
    ("Pair", "R1-R2", "R1-R3", "R1-R4", "R2-R3", "R2-R4", "R3-R4"),
    (("Agreement", "47 %", "57 %", "35 %", "53 %", "77 %", "62 %"),),
)


@pytest.fixture(scope="module")
def report():
    return summarise(pd.read_csv(REPLICATION / "labels.csv"), pd.read_csv(REPLICATION / "verdicts.csv"))


def test_table_1_is_one_row_of_pairs(report):
    first = paper_tables(report)[0]
    assert (first.header, first.rows) == TABLE_1


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("same", (("similar", "112", "23"), ("dissimilar", "137", "52"))),
        ("heuristic", (("similar", "53", "82"), ("dissimilar", "16", "173"))),
    ],
)
def test_tables_2_and_3_set_reviewers_against_a_classifier(report, name, rows):
    (found,) = [table for table in paper_tables(report) if table.name == f"paper-{name}"]
    assert found.rows == rows


def test_classifiers_can_be_chosen_and_ordered(report):
    names = [table.name for table in paper_tables(report, ("same", "none", "heuristic"))]
    assert names == ["paper-pairs", "paper-same", "paper-heuristic"]


def test_every_format_has_the_tables_only_on_request(report):
    asked = replace(report, parameters=replace(report.parameters, tables=PAPER))
    title = "Tables in the layout of the paper"
    for text in (to_html(asked, {}), to_markdown(asked), to_latex(asked)["main.tex"]):
        assert title in text
    assert title not in to_markdown(report)


def test_without_labels_there_are_no_tables():
    empty = summarise(
        pd.DataFrame({"item": [], "reviewer": [], "label": []}),
        pd.DataFrame({"item": [], "classifier": [], "verdict": []}),
    )
    assert paper_tables(empty) == ()
