"""The section "May a classifier replace a reviewer?" of a report: what it says, and when it says nothing."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.document import json_values
from analysis.report import Report, differences, summarise, to_markdown
from analysis.report._in_short import in_short
from analysis.report._replacing import TITLE
from analysis.report._settings import CategorySet

NAMES = ("similar", "dissimilar")


def study(n_items, people="abc", per_item=3, *, error=0.15, machine=0.15, n_applications=8, seed=1):
    """Labels and verdicts that differ from the truth at these rates."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_items)
    rows = [
        (f"i{at:03}", name, NAMES[truth[at] ^ (rng.random() < error)], f"app{at % n_applications}")
        for at in range(n_items)
        for name in rng.permutation(list(people))[:per_item]
    ]
    verdicts = [(f"i{at:03}", "good", NAMES[truth[at] ^ (rng.random() < machine)]) for at in range(n_items)]
    verdicts += [(f"i{at:03}", "guess", NAMES[rng.integers(2)]) for at in range(n_items)]
    answers = pd.DataFrame(rows, columns=["item", "reviewer", "label", "application"])
    return answers, pd.DataFrame(verdicts, columns=["item", "classifier", "verdict"])


def section(report):
    return to_markdown(report).partition(f"\n## {TITLE}")[2].partition("\n## ")[0]


def test_the_section_answers_for_each_classifier_and_says_what_would_change_the_answer():
    report = summarise(*study(90))
    good, guess = report.replacing
    assert (good.test.passes, guess.test.passes, good.n_items, good.compared_with_one) == (True, False, 90, False)
    text = section(report)
    assert text.strip().startswith(
        "good passes the alternative annotator test (Calderon, Reichart and Dror 2025) on 90 items with three or more "
        "labels, with epsilon 0.2. guess does not."
    )
    assert f"good no longer passes with an epsilon below {good.test.passes_from:.2f}." in text
    assert f"guess would pass with an epsilon of {guess.test.passes_from:.2f}." in text
    assert all(person.p_clustered is not None for person in good.test.people)
    assert any(text.startswith("By the alternative annotator test (epsilon 0.2, 90 items") for text in in_short(report))


@pytest.mark.parametrize(
    ("made", "words", "is_short"),
    [
        (study(90, "abcd", 2), "No item has three first labels, so “the others” are a single reviewer", False),
        (study(90, "ab", 2), "With 2 reviewers, the test is less reliable.", False),
        (study(25, error=0.05), "Wilcoxon's test is used for reviewers with fewer than 30 items (a, b and c).", False),
        (study(9), "No answer: no person has 10 items.", False),
        (study(90, error=0.45), "No answer: with epsilon 0.2, random labels would pass too", False),
        (study(90, n_applications=3), "| good | a | 90 |", True),
    ],
)
def test_the_section_says_what_limits_the_answer(made, words, is_short):
    report = summarise(*made)
    assert words in section(report)
    assert any("may replace a reviewer" in text for text in in_short(report)) is is_short
    json.dumps(json_values(report), allow_nan=False)


def test_third_labels_do_not_count_because_people_disagreed_there():
    answers, verdicts = study(60, "abcd", 2)
    third = answers.groupby("item").head(1).assign(reviewer="z", kind="third")
    report = summarise(pd.concat([answers.assign(kind="fresh"), third], ignore_index=True), verdicts)
    assert report.replacing[0].compared_with_one
    assert "z" not in {person.person for person in report.replacing[0].test.people}


def test_a_smaller_epsilon_is_harder_and_is_kept_in_the_report():
    made = study(90, machine=0.3)
    hard, easy = (summarise(*made, epsilon=epsilon) for epsilon in (0.01, 0.4))
    assert (hard.replacing[0].test.passes, easy.replacing[0].test.passes) == (False, True)
    assert json_values(easy)["parameters"]["epsilon"] == 0.4
    with pytest.raises(ValueError, match=r"epsilon must be within \[0, 1\), got 1"):
        summarise(*made, epsilon=1)


def test_a_report_of_an_earlier_version_has_no_such_section_and_does_not_differ():
    content = json_values(summarise(*study(40)))
    earlier = {name: value for name, value in content.items() if name != "replacing"}
    earlier["parameters"] = {name: value for name, value in content["parameters"].items() if name != "epsilon"}
    assert differences(earlier, content) == []
    assert TITLE not in to_markdown(Report.of(earlier))
    changed = json.loads(json.dumps(content))
    changed["replacing"][0]["test"]["rho"] = 0.5
    assert [found.place for found in differences(changed, content)] == ["replacing[0].test.rho"]


def test_categories_of_any_number_are_compared():
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=60)
    names = ("up", "down", "flat")
    rows = [
        (f"i{at:02}", who, names[truth[at] if rng.random() < 0.85 else rng.integers(3)])
        for at in range(60) for who in "abc"
    ]  # fmt: skip
    verdicts = pd.DataFrame(
        [(f"i{at:02}", name, names[truth[at] if name == "right" else rng.integers(3)])
         for at in range(60) for name in ("right", "guess")],
        columns=["item", "classifier", "verdict"],
    )  # fmt: skip
    answers = pd.DataFrame(rows, columns=["item", "reviewer", "label"])
    report = summarise(answers, verdicts, categories=CategorySet(names, None))
    assert [(row.classifier, row.test.passes) for row in report.replacing] == [("guess", False), ("right", True)]
    assert "right passes the alternative annotator test" in section(report)
