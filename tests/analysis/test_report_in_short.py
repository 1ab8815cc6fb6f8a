"""The sentences at the beginning of a report, for ten studies whose truth is known, read aloud and true."""

import pandas as pd
import pytest

from analysis.report import Report, Resampling, summarise, to_markdown
from analysis.report._in_short import in_short
from tests.analysis.ten_studies import NAMES, STUDIES

REPLACING = (
    "By the alternative annotator test (epsilon 0.2, {} items with three or more labels), good may replace a reviewer; "
    "guess may not."
)
CANNOT_BE_SAID = (
    "Whether a classifier may replace a reviewer cannot be said: random labels come nearly as close to the reviewers "
    "as they are to each other (epsilon 0.2)."
)
IN_SHORT = {
    "random": (
        "Reviewers do not agree more than chance would: Fleiss' kappa is −0.007 (95 % CI −0.057 to 0.043).",
        (
            "All reviewers of an item agree on 27 of 240 items (11.2 %), and two reviewers of one item agree in 49.7 "
            "% (95 % CI 47.2 to 52.1 %)."
        ),
        "r2 and r3 agree in 60.0 %, the other pairs in 47.6 % (p = 0.012 after correction for all divisions).",
        "These results are uncertain, because 213 of 240 items (88.8 %) are split and not scored.",
        (
            "Next: discuss the question with the reviewers and repeat the calibration round; until they agree, these "
            "labels cannot judge classifiers."
        ),
    ),
    "perfect": (
        (
            "All reviewers of an item agree on all 120 items, and two reviewers of one item agree in 100.0 % (at "
            "least 97.5 %, one-sided 95 % CI)."
        ),
        (
            "This is more than chance would give: Fleiss' kappa is 1.000 (at least 0.948, one-sided 95 % CI), “almost "
            "perfect” on the scale of Landis and Koch."
        ),
        "Whether pairs of reviewers differ was not tested: all pairs always agree.",
        (
            "On 120 agreed items, the majority rule (always similar) agrees with the labels on 60.8 %: good (94.2 %) "
            "agrees more often; guess (50.0 %) is not shown to differ from it."
        ),
        "The intervals describe further items for the same reviewers; other reviewers may differ.",
        "No further step is needed to report agreement with its interval.",
    ),
    "good": (
        (
            "All reviewers of an item agree on 122 of 240 items (50.8 %), and two reviewers of one item agree in 73.8 "
            "% (95 % CI 70.3 to 77.2 %)."
        ),
        (
            "This is more than chance would give: Fleiss' kappa is 0.461 (95 % CI 0.388 to 0.534), “fair” to "
            "“moderate” on the scale of Landis and Koch."
        ),
        (
            "No pair of reviewers differs significantly from the others; pairs agree in 70.4 % (r3 and r4) to 80.4 % "
            "(r1 and r2)."
        ),
        (
            "On 122 agreed items, the majority rule (always similar) agrees with the labels on 58.2 %: good (91.8 %) "
            "agrees more often; guess (55.7 %) is not shown to differ from it."
        ),
        "These results are uncertain, because 118 of 240 items (49.2 %) are split and not scored.",
        "Next: decide the 118 split items, by third labels or in a discussion.",
    ),
    "copying": (
        (
            "All reviewers of an item agree on 129 of 240 items (53.8 %), and two reviewers of one item agree in 74.0 "
            "% (95 % CI 70.4 to 77.7 %)."
        ),
        (
            "This is more than chance would give: Fleiss' kappa is 0.471 (95 % CI 0.396 to 0.545), “fair” to "
            "“moderate” on the scale of Landis and Koch."
        ),
        "r1 and r2 agree in 98.3 %, the other pairs in 69.2 % (p < 0.001 after correction for all divisions).",
        (
            "On 129 agreed items, the majority rule (always similar) agrees with the labels on 59.7 %: good (88.4 %) "
            "agrees more often; guess (43.4 %) agrees less often."
        ),
        (
            "These results are uncertain, because r1 and r2 err on the same items, so agreement and the agreed items "
            "may overstate reliability, and 111 of 240 items (46.2 %) are split and not scored."
        ),
        "Next: find out whether r1 and r2 labelled independently.",
    ),
    "skewed difficulty": (
        (
            "All reviewers of an item agree on 162 of 240 items (67.5 %), and two reviewers of one item agree in 82.2 "
            "% (95 % CI 78.8 to 85.5 %)."
        ),
        (
            "This is more than chance would give: Fleiss' kappa is 0.639 (95 % CI 0.571 to 0.706), “moderate” to "
            "“substantial” on the scale of Landis and Koch."
        ),
        (
            "No pair of reviewers differs significantly from the others; pairs agree in 80.0 % (r1 and r4) to 84.6 % "
            "(r3 and r4)."
        ),
        (
            "On 162 agreed items, the majority rule (always similar) agrees with the labels on 56.8 %: good (92.0 %) "
            "agrees more often; guess (51.9 %) is not shown to differ from it."
        ),
        (
            "These results are uncertain, because several reviewers err on the same items, so agreement and the "
            "agreed items may overstate reliability, and 78 of 240 items (32.5 %) are split and not scored."
        ),
        "Next: decide the 78 split items, by third labels or in a discussion.",
    ),
    "two camps": (
        (
            "All reviewers of an item agree on 76 of 240 items (31.7 %), and two reviewers of one item agree in 59.1 "
            "% (95 % CI 55.4 to 62.7 %)."
        ),
        (
            "This is more than chance would give: Fleiss' kappa is 0.181 (95 % CI 0.109 to 0.254), “slight” to “fair” "
            "on the scale of Landis and Koch."
        ),
        (
            "Two groups agree among themselves, r1 and r2 (82.5 %) and r3 and r4 (82.9 %), and across, no more than "
            "chance (47.3 %), so they may answer different questions."
        ),
        (
            "On 76 agreed items, the majority rule (always similar) agrees with the labels on 56.6 %: good (97.4 %) "
            "agrees more often; guess (52.6 %) is not shown to differ from it."
        ),
        (
            "These results are uncertain, because r3 and r4 err on the same items, so agreement and the agreed items "
            "may overstate reliability, and 164 of 240 items (68.3 %) are split and not scored."
        ),
        "Next: ask both groups what they look at on items that divide them, before you use the labels.",
    ),
    "a dominating reviewer": (
        (
            "All reviewers of an item agree on 140 of 240 items (58.3 %), and two reviewers of one item agree in 78.3 "
            "% (95 % CI 75.0 to 81.6 %)."
        ),
        (
            "This is more than chance would give: Fleiss' kappa is 0.556 (95 % CI 0.488 to 0.623), “moderate” to "
            "“substantial” on the scale of Landis and Koch."
        ),
        (
            "r1 agrees with the others in 84.3 %, and the others with each other in 72.2 % (p < 0.001 after "
            "correction for all divisions)."
        ),
        (
            "On 140 agreed items, the majority rule (always similar) agrees with the labels on 60.7 %: good (84.3 %) "
            "agrees more often; guess (44.3 %) agrees less often."
        ),
        (
            "These results are uncertain, because several reviewers err on the same items, so agreement and the "
            "agreed items may overstate reliability, and 100 of 240 items (41.7 %) are split and not scored."
        ),
        "Next: find out whether the other reviewers saw the labels of r1.",
    ),
    "12 items": (
        (
            "All reviewers of an item agree on 8 of 12 items (66.7 %), and two reviewers of one item agree in 83.3 % "
            "(95 % CI 67.7 to 95.0 %)."
        ),
        (
            "This is more than chance would give: Fleiss' kappa is 0.657 (95 % CI 0.329 to 0.897), “fair” to “almost "
            "perfect” on the scale of Landis and Koch."
        ),
        "Whether pairs of reviewers differ was not tested: too few items to compare pairs.",
        (
            "On 8 agreed items, the majority rule (always dissimilar) agrees with the labels on 62.5 %: good (100.0 "
            "%) and guess (62.5 %) are not shown to differ from it."
        ),
        (
            "These results are uncertain, because only 12 items have two labels, and 4 of 12 items (33.3 %) are split "
            "and not scored."
        ),
        "Next: label more items; rates of reviewers and classifiers need about 80.",
    ),
    "one category": (
        (
            "All reviewers of an item agree on all 60 items, and two reviewers of one item agree in 100.0 % (at least "
            "95.1 %, one-sided 95 % CI), but every label is similar."
        ),
        (
            "Whether this is more than chance cannot be said: Fleiss' kappa is undefined, because only one category "
            "was used: expected agreement is 1."
        ),
        "Whether pairs of reviewers differ was not tested: all pairs always agree.",
        "These results are uncertain, because these labels cannot show how accurate each reviewer is.",
        "Next: add items that are likely to be in the other category.",
    ),
    "one application": (
        (
            "All reviewers of an item agree on 116 of 240 items (48.3 %), and two reviewers of one item agree in 72.0 "
            "% (95 % CI 68.5 to 75.5 %)."
        ),
        (
            "This is more than chance would give: Fleiss' kappa is 0.437 (95 % CI 0.366 to 0.508), “fair” to "
            "“moderate” on the scale of Landis and Koch."
        ),
        (
            "No pair of reviewers differs significantly from the others; pairs agree in 69.2 % (r3 and r4) to 75.4 % "
            "(r1 and r4)."
        ),
        (
            "On 116 agreed items, the majority rule (always similar) agrees with the labels on 54.3 %: good (93.1 %) "
            "agrees more often; guess (53.4 %) is not shown to differ from it."
        ),
        (
            "These results are uncertain, because all items come from one application, and 124 of 240 items (51.7 %) "
            "are split and not scored."
        ),
        "Next: decide the 124 split items, by third labels or in a discussion.",
    ),
}


@pytest.fixture(scope="module")
def reports() -> dict[str, Report]:
    # few draws, because no sentence has a number that depends on them
    return {
        name: summarise(*study, resampling=Resampling(n_bootstrap=0, n_sweeps=50, n_misfit=19))
        for name, study in STUDIES.items()
    }


@pytest.mark.parametrize("name", IN_SHORT)
def test_in_short_says_what_the_study_shows(reports, name):
    sentences = in_short(reports[name])
    assert tuple(text for text in sentences if "replace a reviewer" not in text) == IN_SHORT[name]
    replacing = REPLACING.format(reports[name].replacing[0].n_items)
    of_study = {"random": (), "one category": (), "12 items": (), "two camps": (CANNOT_BE_SAID,)}
    assert tuple(text for text in sentences if "replace a reviewer" in text) == of_study.get(name, (replacing,))
    assert set(IN_SHORT) == set(STUDIES)


@pytest.mark.parametrize("name", STUDIES)
def test_in_short_has_at_most_seven_sentences(reports, name):
    assert len(in_short(reports[name])) <= 7


def test_classifiers_are_judged_only_by_labels_that_agree_more_than_chance(reports):
    named = {name for name, report in reports.items() if any("good (" in text for text in in_short(report))}
    assert named == set(STUDIES) - {"random", "one category"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("random", "do not agree more than chance"), ("copying", "r1 and r2 agree in 98.3 %"),
        ("two camps", "may answer different questions"), ("a dominating reviewer", "r1 agrees with the others"),
        ("12 items", "of 12 items"), ("one category", "but every label is similar"),
    ],
)  # fmt: skip
def test_the_first_three_sentences_say_what_would_mislead_a_reader(reports, name, words):
    assert words in " ".join(in_short(reports[name])[:3])


def test_a_page_says_that_labels_no_better_than_chance_judge_no_classifier(reports):
    warning = "this table says nothing about the classifiers"
    pages = {name: to_markdown(report) for name, report in reports.items()}
    assert {name for name, page in pages.items() if warning in page} == {"random", "one category"}
    outcomes = ("| better", "| worse", "| cannot tell")
    judging = {name for name, page in pages.items() if any(outcome in page for outcome in outcomes)}
    assert judging == set(STUDIES) - {"random", "one category"}


def two_reviewers(pairs):
    rows = [
        (f"i{i:03}", who, NAMES[label]) for i, pair in enumerate(pairs) for who, label in zip("ab", pair, strict=True)
    ]
    answers = pd.DataFrame(rows, columns=["item", "reviewer", "label"])
    return in_short(summarise(answers, pd.DataFrame({"item": [], "classifier": [], "verdict": []})))


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([(0, 0)], "Both reviewers of an item agree on the only item that two reviewers labelled"),
        ([(0, 1)], "the only item is split and not scored"),
        ([(0, 1)], "Both reviewers disagree on the only item that two reviewers labelled, 0.0 %"),
        ([(0, 1), (1, 0)] * 50, "agree on none of the 100 items"),
        ([(0, 0)], "Next: label more items, among them some that are likely to be in the other category."),
        ([(0, 1), (1, 0)] * 50, "Reviewers do not agree more than chance would: Fleiss' kappa is −1.000"),
        ([(0, 1), (1, 0)] * 50, "all 100 items are split and not scored"),
        ([(0, 1), (1, 0)], "These labels do not show whether reviewers agree more than chance would"),
        ([(0, 0), (1, 1), (0, 1), (1, 0)] * 3 + [(0, 0)] * 2 + [(1, 1)], "about 80 in all"),
        (([(0, 0), (1, 1)] * 6 + [(0, 1), (1, 0)] * 5) * 5, "about 220 in all"),
    ],
)
def test_in_short_of_one_item_of_all_items_and_of_no_agreement(pairs, words):
    assert words in " ".join(two_reviewers(pairs))


@pytest.mark.parametrize("n", [1, 2])
def test_counts_of_the_appendix_read_right_for_one_and_for_two(n):
    rows = [(f"i{i}", who, label) for i in range(n) for who, label in (("a", "similar"), ("b", "dissimilar"))]
    answers = pd.DataFrame(rows, columns=["item", "reviewer", "label"])
    page = to_markdown(summarise(answers, pd.DataFrame({"item": [], "classifier": [], "verdict": []})))
    items = "1 item" if n == 1 else "2 items"
    for sentence in (
        f"{2 * n} first labels on {items}. Items with two or more labels: {n}.",
        f"Conditional logit on {items} on which reviewers differ, score test: χ² = {n}.0, 1 degree of freedom",
        f"Items: {n}, of which 0 agreed (0 dissimilar, 0 similar), {n} split and 0 with fewer than two first labels.",
    ):
        assert sentence in page
