"""The sections of a report: in short, what is asked first, replacing a reviewer, states of the model, paper tables."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.document import Marked, Paragraph, Table, json_values, read_back, table
from analysis.raters.agreement import against_rest, course_test
from analysis.raters.agreement._formulas import NO_PAIR
from analysis.raters.evaluation import CANNOT_TELL, predictive_values
from analysis.report import (
    PAPER,
    Report,
    Resampling,
    paper_tables,
    summarise,
    to_html,
    to_latex,
    to_markdown,
    wide,
)
from analysis.report._consensus import StatedRates, mark_of, model_cell
from analysis.report._in_short import ShortSentence, in_short as sentences_in_short
from analysis.report._replacing import TITLE
from analysis.report._settings import CategorySet
from analysis.statistics.intervals import Estimate
from tests.analysis.raters.simulated import Rater, SimulatedDesign, simulate
from tests.analysis.raters.ten_studies import FOLDER, NAMES, STUDIES
from tests.analysis.report.reports import (
    document as values_document,
    summarise as summary_values,
    to_html as values_to_html,
    to_markdown as values_to_markdown,
)
from tests.conftest import some_slow


def in_short(report):
    return tuple(sentence.text for sentence in sentences_in_short(report))


def in_short_of_file():
    """Return the sentences of the golden file, by study."""
    parts = (FOLDER / "in-short.md").read_text(encoding="utf-8").split("\n## ")[1:]
    return {
        part.splitlines()[0]: tuple(line[2:] for line in part.splitlines() if line.startswith("- ")) for part in parts
    }


IN_SHORT = in_short_of_file()


SLOW = set(STUDIES) - {"random", "one category", "12 items"}
DAILY = set(STUDIES) - SLOW


@cache
def report_on(name) -> Report:
    # few draws, because no sentence has a number that depends on them
    return summarise(*STUDIES[name], resampling=Resampling(n_bootstrap=200, n_sweeps=50, n_misfit=19))


@pytest.mark.parametrize("name", some_slow(IN_SHORT, SLOW))
def test_in_short_says_what_the_study_shows(name):
    sentences = in_short(report_on(name))
    assert sentences == IN_SHORT[name]
    assert len(sentences) <= 7 and set(IN_SHORT) == set(STUDIES)


def test_a_category_that_is_nearly_always_chosen_is_no_disagreement():
    # Feinstein and Cicchetti (1990), doi:10.1016/0895-4356(90)90158-L: 94 % agreement, and kappa below 0
    pairs = [("similar", "similar")] * 118 + [("similar", "dissimilar")] * 5 + [("dissimilar", "similar")] * 2
    rows = [(f"i{at}", name, said) for at, pair in enumerate(pairs) for name, said in zip("ab", pair, strict=True)]
    labels = pd.DataFrame(rows, columns=["item", "reviewer", "label"])
    report = summarise(labels, pd.DataFrame(columns=["item", "classifier", "verdict"]))
    assert next(one for one in sentences_in_short(report) if one.about == "chance") == ShortSentence(
        "chance", CANNOT_TELL,
        "97.2 % of the labels are similar, so chance alone gives an agreement of 94.6 %, and Fleiss' kappa of −0.029 "
        "(95 % CI −0.056 to 0.416) says little. On dissimilar items, reviewers agree in 0.0 % (95 % CI 0.0 to 52.3 %); "
        "Gwet's AC1 is 0.941.",
    )  # fmt: skip


def test_classifiers_are_judged_only_by_labels_that_agree_more_than_chance():
    reports = {name: report_on(name) for name in DAILY}
    named = {name for name, report in reports.items() if any("good (" in text for text in in_short(report))}
    assert named == DAILY - {"random", "one category"}
    warning = "this table says nothing about the classifiers"
    pages = {name: to_markdown(report) for name, report in reports.items()}
    assert {name for name, page in pages.items() if warning in page} == {"random", "one category"}
    outcomes = ("| better", "| worse", "| cannot tell")
    judging = {name for name, page in pages.items() if any(outcome in page for outcome in outcomes)}
    assert judging == DAILY - {"random", "one category"}


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
        ([(0, 1), (1, 0)] * 50, "Reviewers agree less often than chance would: Fleiss' kappa is −1.000"),
        ([(0, 1), (1, 0)] * 50, "all 100 items are split and not scored"),
        ([(0, 1), (1, 0)], "These labels do not show whether reviewers agree more than chance would"),
        ([(0, 0), (1, 1), (0, 1), (1, 0)] * 3 + [(0, 0)] * 2 + [(1, 1)], "about 100 in all"),
        (([(0, 0), (1, 1)] * 6 + [(0, 1), (1, 0)] * 5) * 5, "about 470 in all"),
    ],
)
def test_in_short_of_one_item_of_all_items_and_of_no_agreement(pairs, words):
    assert words in " ".join(two_reviewers(pairs))


@pytest.mark.parametrize(
    ("changing", "words"),
    [
        ("a", "a's agreement with the others changes in the course of the study. Next: let a label"),
        ("abcd", "these labels do not show who changes. Next: let reviewers label"),
    ],
)
def test_a_reviewer_who_changes_is_named_but_nobody_if_all_change(changing, words):
    rng = np.random.default_rng(4)
    truth, rows = rng.random(300) < 0.5, []
    for who in "abcd":
        for item in range(300):
            is_right = rng.random() < (1 - item / 350 if who in changing else 0.9)
            rows.append((f"i{item:03}", who, NAMES[int(truth[item] == is_right)], item + 1))
    answers = pd.DataFrame(rows, columns=["item", "reviewer", "label", "position"]).sort_values("position")
    report = summarise(
        answers, pd.DataFrame({"item": [], "classifier": [], "verdict": []}), resampling=Resampling(1, 99, 0, 0)
    )
    course = [s.text for s in sentences_in_short(report) if s.about in ("course", "next")]
    assert f"{words} some early and late items again" in " ".join(course)


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


FAST = Resampling(1, 0, 40, 39)


def studied(name, resampling=None, **options):
    answers, verdicts = STUDIES[name]
    placed = answers.assign(position=answers.groupby("reviewer").cumcount())
    return summarise(placed, verdicts, resampling=resampling or Resampling.none(), **options)


@pytest.fixture(scope="module")
def dominated():
    return studied("a dominating reviewer", FAST, prevalences=(0.1, 0.5))


@pytest.fixture(scope="module")
def good():
    return studied("good", FAST)


def test_each_reviewer_is_compared_with_the_rest_by_name_and_has_a_drift(dominated):
    answers, _ = STUDIES["a dominating reviewer"]
    labels = answers.rename(columns={"reviewer": "rater", "label": "category"})
    assert list(dominated.agreement.against_the_rest) == against_rest(labels)
    page = to_markdown(dominated)
    assert "| Reviewer | Items | Agreement with the rest (95 % CI)" in page
    assert "| r1 | 240 | 84.3 %" in page
    assert "tables/against-the-rest.tex" in to_latex(dominated)
    labels["position"] = labels.groupby("rater").cumcount()
    assert dominated.agreement.drift == course_test(labels, groups=labels["application"])
    assert "All reviewers labelled the items in one order. These labels do not show it" in page
    assert "The clearest difference is between r1 and the other reviewers: 84.3 % with r1, 72.2 % without" in page
    assert "R1" not in page


def test_without_an_order_there_is_no_drift_and_two_reviewers_have_no_rest():
    answers, verdicts = simple_study(40)
    report = summarise(answers, verdicts)
    assert report.agreement.drift is None
    own_orders = answers.assign(position=np.random.default_rng(1).permutation(len(answers)))
    assert "Smallest visible change" in to_markdown(summarise(own_orders, verdicts))
    assert "Smallest visible change" not in to_markdown(report)
    report = summarise(answers[answers["reviewer"].isin(["a", "b"])], verdicts)
    assert "Agreement with the rest" not in to_markdown(report)


def test_predictive_values_at_chosen_prevalences(dominated):
    of_good = dominated.classifiers["good"]
    values = of_good.positive.predictive_values
    assert [row.prevalence for row in values] == [0.1, 0.5]
    expected = predictive_values(of_good.against.against_rest("dissimilar"), "dissimilar", 0.1)
    assert values[0].precision.value == pytest.approx(expected.precision.value)
    assert "| good | 10.0 % |" in to_markdown(dominated)
    assert read_back(Report, json_values(dominated)) == dominated


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_an_impossible_prevalence_is_refused(share):
    with pytest.raises(ValueError, match="prevalence must be within"):
        studied("12 items", prevalences=(share,))


def test_agreed_labels_and_majorities_carry_the_mark_of_a_rejected_model_only(dominated, good):
    assert mark_of(dominated.consensus) == "rejected"
    page = to_markdown(dominated)
    assert "have the same mark as the latent class model: rejected" in page
    majorities = [line for line in page.splitlines() if "adjudicated majority" in line and line.startswith("|")]
    assert majorities and all(line.endswith("| rejected |") for line in majorities)
    assert mark_of(good.consensus) == ""
    page = to_markdown(good)
    assert "same mark" not in page
    assert page.count("No test can see errors that all raters share") == 1
    assert "10 % mean about 8 points" in page


def test_a_classifier_that_errs_with_a_reviewer_is_named(good):
    answers, verdicts = STUDIES["good"]
    of_r1 = answers[answers["reviewer"] == "r1"].set_index("item")["label"]
    twin = verdicts[verdicts["classifier"] == "good"].assign(classifier="twin")
    twin["verdict"] = twin["item"].map(of_r1)
    page = to_markdown(summarise(answers, twin, resampling=FAST))
    assert "A model in which r1 and twin share errors fits better than independent errors; see Latent class." in page
    assert "show no such reviewer and classifier" not in page
    assert "show no such reviewer and classifier" in to_markdown(good)


def _with_verdicts(n, n_judged_by_rare):
    """Two reviewers agree on n items; the classifier `all` judges all of them, and `rare` the first few."""
    labels = [(f"i{k}", name, ("similar", "dissimilar")[k % 2]) for k in range(n) for name in ("ada", "ben")]
    verdicts = [(f"i{k}", "all", "similar") for k in range(n)]
    verdicts += [(f"i{k}", "rare", "dissimilar") for k in range(n_judged_by_rare)]
    return summarise(
        pd.DataFrame(labels, columns=["item", "reviewer", "label"]),
        pd.DataFrame(verdicts, columns=["item", "classifier", "verdict"]),
    )


@pytest.mark.parametrize(("n_judged", "is_tested"), [(2, False), (9, False), (10, True), (26, True)])
def test_classifiers_are_only_tested_with_ten_items_or_more(n_judged, is_tested):
    content = json_values(_with_verdicts(26, n_judged))
    rare, compared = content["classifiers"]["rare"]["majority_rule"], content["comparisons"][0]["overall"]
    for of in (rare, compared):
        assert (of["p_holm"] is not None) == is_tested
        assert (of["difference"]["low"] is not None) == is_tested
    assert content["classifiers"]["all"]["majority_rule"]["p_holm"] is not None


@pytest.mark.parametrize(
    ("n_judged", "in_short", "stard"),
    [
        (26, "On 26 agreed items, the majority rule", "every classifier has a verdict on each agreed item"),
        (18, "On the agreed items that each classifier has judged (18 to 26), the majority rule",
         "Left out: 1 of 2 classifiers lacks a verdict on 8 agreed items"),
    ],
)  # fmt: skip
def test_the_report_says_on_how_many_items_each_classifier_was_judged(n_judged, in_short, stard):
    page = to_markdown(_with_verdicts(26, n_judged))
    assert in_short in page
    assert stard in page


CATEGORIES_OF_TWO = ("similar", "dissimilar")


def simple_study(n_items, people="abc", per_item=3, *, error=0.15, machine=0.15, n_applications=8, seed=1):
    """Labels and verdicts that differ from the truth at these rates."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_items)
    rows = [
        (f"i{at:03}", name, CATEGORIES_OF_TWO[truth[at] ^ (rng.random() < error)], f"app{at % n_applications}")
        for at in range(n_items)
        for name in rng.permutation(list(people))[:per_item]
    ]
    verdicts = [(f"i{at:03}", "good", CATEGORIES_OF_TWO[truth[at] ^ (rng.random() < machine)]) for at in range(n_items)]
    verdicts += [(f"i{at:03}", "guess", CATEGORIES_OF_TWO[rng.integers(2)]) for at in range(n_items)]
    answers = pd.DataFrame(rows, columns=["item", "reviewer", "label", "application"])
    return answers, pd.DataFrame(verdicts, columns=["item", "classifier", "verdict"])


def section(report):
    return to_markdown(report).partition(f"\n## {TITLE}")[2].partition("\n## ")[0]


def test_the_section_answers_for_each_classifier_and_says_what_would_change_the_answer():
    report = summarise(*simple_study(90))
    good, guess = report.replacing
    assert (good.test.passes, guess.test.passes, good.n_items, good.compared_with_one) == (True, False, 90, False)
    text = section(report)
    assert text.strip().startswith(
        "The alternative annotator test (Calderon, Reichart and Dror 2025) on 90 items with three or more labels "
        "answers, with epsilon 0.2: good passes. These labels cannot tell it of guess."
    )
    told = summarise(*simple_study(300), resampling=Resampling(1, 200, 0, 0))
    assert [row.answer for row in told.replacing] == ["passes", "worse"]
    assert any("guess is worse than a reviewer by more than 0.2" in text for text in in_short(told))
    assert f"good no longer passes with an epsilon below {good.test.passes_from:.2f}." in text
    assert f"guess would pass with an epsilon of {guess.test.passes_from:.2f}." in text
    text = section(replace(report, replacing=(good, replace(good, classifier="fine"), guess)))
    assert f"good and fine no longer pass with an epsilon below {good.test.passes_from:.2f}." in text
    assert all(person.p_clustered is not None for person in good.test.people)
    assert any(text.startswith("By the alternative annotator test (epsilon 0.2, 90 items") for text in in_short(report))


@pytest.mark.parametrize(
    ("made", "words", "is_short"),
    [
        (simple_study(90, "abcd", 2), "No item has three first labels, so “the others” are a single reviewer", False),
        (simple_study(90, "ab", 2), "With 2 reviewers, the test is less reliable.", False),
        (
            simple_study(25, error=0.05),
            "Wilcoxon's test is used for reviewers with fewer than 30 items (a, b and c).",
            False,
        ),
        (simple_study(9), "No answer: no person has 10 items.", False),
        (simple_study(90, error=0.45), "No answer: with epsilon 0.2, random labels would pass too", False),
        (simple_study(90, n_applications=3), "| good | a | 90 |", True),
    ],
)
def test_the_section_says_what_limits_the_answer(made, words, is_short):
    report = summarise(*made)
    assert words in section(report)
    assert any("may replace a reviewer" in text for text in in_short(report)) is is_short
    json.dumps(json_values(report), allow_nan=False)


def test_third_labels_do_not_count():
    answers, verdicts = simple_study(60, "abcd", 2)
    third = answers.groupby("item").head(1).assign(reviewer="z", kind="third")
    report = summarise(pd.concat([answers.assign(kind="fresh"), third], ignore_index=True), verdicts)
    assert report.replacing[0].compared_with_one
    assert "z" not in {person.person for person in report.replacing[0].test.people}


def test_a_smaller_epsilon_is_harder_and_is_kept_in_the_report():
    made = simple_study(90, machine=0.3)
    hard, easy = (summarise(*made, epsilon=epsilon) for epsilon in (0.01, 0.4))
    assert (hard.replacing[0].test.passes, easy.replacing[0].test.passes) == (False, True)
    assert json_values(easy)["parameters"]["epsilon"] == 0.4
    with pytest.raises(ValueError, match=r"epsilon must be within \[0, 1\), got 1"):
        summarise(*made, epsilon=1)


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
    assert "with epsilon 0.2: right passes." in section(report)


COPIED = (Rater("ada", 0.75, 0.75), Rater("ben", 0.75, 0.75), Rater("cleo", 0.8, 0.75))
UNTESTABLE = "rests on independence, which these data cannot test"
FEW = Resampling(1, 0, 40, 19)


@cache
def copying(*, with_classifiers, show_rejected=False, n_items=324):
    """Summarise a study in which ben copies 95 % of ada's labels."""
    rng = np.random.default_rng(1)
    classifiers = (Rater("heuristic-printed", 0.9, 0.9), Rater("same", 0.82, 0.85)) if with_classifiers else ()
    study = simulate(SimulatedDesign(n_items, 3), COPIED, classifiers, 0.5, rng=rng)
    wide = study.labels.pivot(index="item", columns="rater", values="category")
    differs = rng.random(n_items) < 0.05
    wide["ben"] = np.where(differs, np.where(wide["ada"] == "similar", "dissimilar", "similar"), wide["ada"])
    answers = wide.melt(ignore_index=False, var_name="reviewer", value_name="label").reset_index()
    verdicts = study.verdicts if with_classifiers else pd.DataFrame(columns=["item", "classifier", "verdict"])
    return summary_values(answers, verdicts, resampling=FEW, show_rejected=show_rejected)


CASES = {
    "untestable": lambda: copying(with_classifiers=False),
    "withheld": lambda: copying(with_classifiers=True),
    "shown": lambda: copying(with_classifiers=True, show_rejected=True),
}


def unmarked(value, place="latent", marked=False):
    """Return the places of all intervals without a state in the same row."""
    if isinstance(value, dict):
        has_state = marked or isinstance(value.get("state"), str)
        if "low" in value and value.get("value") is not None:
            return [] if has_state else [place]
        return [found for name, entry in value.items() for found in unmarked(entry, f"{place}.{name}", has_state)]
    entries = value if isinstance(value, list) else []
    return [found for number, entry in enumerate(entries) for found in unmarked(entry, f"{place}[{number}]")]


def tables_of(content):
    report = values_document(content)
    blocks = [block for section in (*report.sections, *report.appendix) for block in section.blocks]
    return {block.name: block for block in blocks if isinstance(block, Table)}


@pytest.mark.parametrize("case", CASES)
def test_the_json_has_the_state_of_the_model_in_every_row(case):
    content = CASES[case]()
    assert unmarked(content["consensus"]["latent"]) == []
    for row in content["classifiers"].values():
        assert row["positive"]["latent"]["state"] == "rejected"
    assert all(row["state"] for row in content["consensus"]["latent"]["undecided"] or ())


def test_a_saturated_model_is_called_untestable_in_the_row_and_in_short():
    content = copying(with_classifiers=False)
    rates = tables_of(content)["reviewer-rates"]
    assert [row[-1] for row in rates.rows] == ["untestable (a)"] * 3
    assert rates.notes == (f"(a) It {UNTESTABLE}.",)
    assert "cannot test whether reviewers err independently" in " ".join(in_short(read_back(Report, content)))
    for page in (values_to_html(content, {}), values_to_markdown(content)):
        assert page.count(UNTESTABLE) >= 2


@pytest.mark.parametrize("case", ["withheld", "shown"])
def test_a_rejected_model_is_named_in_every_row(case):
    rows = tables_of(CASES[case]())["reviewer-rates"].rows
    assert {row[-1].split()[0] for row in rows} == {"rejected"}
    assert any("98." in row[2] or "99." in row[2] for row in rows) == (case == "shown")


def test_the_numbers_of_a_rejected_model_are_withheld_in_every_form_or_shown_on_request_with_a_warning():
    withheld, shown = (CASES[case]() for case in ("withheld", "shown"))
    latent = withheld["consensus"]["latent"]
    rates = [*latent["reviewers"], *(row["positive"]["latent"] for row in withheld["classifiers"].values())]
    assert {row["sensitivity"]["value"] for row in rates} == {latent["prevalence"]["value"]} == {None}
    assert latent["undecided"] is None
    for page in (values_to_html(withheld, {}), values_to_markdown(withheld)):
        assert "numbers of this model are withheld" in page
        assert "98." not in page.split("Latent class")[-1].split("Confusion")[0]
    latent = shown["consensus"]["latent"]
    assert latent["reviewers"][0]["sensitivity"]["value"] > 0.94  # the true value is .75
    assert "do not trust" in values_to_html(shown, {})
    pair = latent["state"]["pair_fit"]
    assert (pair["a"], pair["b"]) == ("ada", "ben") and pair["observed"] > pair["expected"]


def test_a_row_says_why_its_model_is_uncertain_and_a_row_without_numbers_has_no_second_note():
    row = StatedRates("ada", 9, Estimate(0.9), Estimate(0.8), state="untestable", state_words="it cannot be tested")
    shown = replace(row, state="rejected", state_words="ada and ben agree.")
    rows = [(model_cell(row),), (model_cell(shown),), (model_cell(replace(row, state="not contradicted")),)]
    assert table("T.", ("a",), rows).rows == (("untestable (a)",), ("rejected (b)",), ("not contradicted",))
    assert table("T.", ("a",), rows).notes == ("(a) It cannot be tested.", "(b) Rejected: ada and ben agree.")
    withheld = replace(row, state="rejected", sensitivity=Estimate(None), specificity=Estimate(None))
    assert model_cell(withheld) == Marked("rejected", "")


def test_what_cannot_be_identified_or_computed_is_explained_once():
    labels = [(f"i{n}", f"r{m}", "similar" if n % 3 else "dissimilar") for n in range(30) for m in (n % 3, (n + 1) % 3)]
    answers = pd.DataFrame(labels, columns=["item", "reviewer", "label"])
    content = summary_values(answers, pd.DataFrame(columns=["item", "classifier", "verdict"]), resampling=FEW)
    (section,) = [section for section in values_document(content).appendix if section.title == "Latent class"]
    texts = " ".join(block.text for block in section.blocks if isinstance(block, Paragraph))
    assert texts.lower().count("not identified") == 1
    assert texts.count("three labels on every item") == 1
    answers = pd.DataFrame({"item": ["a", "b"], "reviewer": ["x", "y"], "label": ["similar"] * 2})
    content = summary_values(answers, pd.DataFrame(columns=["item", "classifier", "verdict"]))
    sentences = " ".join(in_short(read_back(Report, content)))
    assert sentences.count(NO_PAIR) == 1


def test_methods_describe_second_labels_only_if_there_are_any():
    plan = {"per_item": 2, "retest": 2, "seed": 1, "assigned": {"2": 4}, "repeats": 4}
    once = [(f"i{n}", name, "similar", "fresh") for n in range(4) for name in ("ada", "ben")]
    twice = [*once, ("i0", "ada", "dissimilar", "retest"), ("i1", "ada", "similar", "retest")]
    for rows, words in ((once, "no second label entered"), (twice, "2 pairs of first and second labels entered")):
        answers = pd.DataFrame(rows, columns=["item", "reviewer", "label", "kind"])
        content = summary_values(answers, pd.DataFrame(columns=["item", "classifier", "verdict"]))
        assert words in values_to_markdown({**content, "plan": plan})


def test_items_are_named_only_after_unblinding():
    content = copying(with_classifiers=False)
    flag = {"item": "secret", "code": "K7", "reviewer": "ada", "flag": True, "comment": "odd"}
    told = {"unblinded": None, "steps": [], "people": [], "changed_pairs": [], "excluded": [], "calibration": None,
            "selection": None, "not_given": [], "later": [], "groups": [], "attention": None}  # fmt: skip
    names = {row["item"] for row in content["agreement"]["disputed"]["items"]} | {"secret"}
    names |= {row["item"] for row in content["consensus"]["latent"]["undecided"]}
    for interim in (True, False):
        study = content["study"] | {"interim": interim, "state": "open"}
        page = values_to_markdown(content | {"study": study, "course": told | {"flags": [flag]}})
        assert "| K7 |" in page
        assert bool([name for name in names if f"| {name} |" in page]) is not interim


TITLES = (
    "In short", "Methods", "Agreement of pairs", "Overall agreement", "Agreement by group", "Reviewers",
    "Consensus and items left out", "Latent class", "Confusion matrices", "Classifiers against each consensus",
    "Classifiers against the majority rule", "Scores and thresholds", "Course of the study",
    "Parameters and provenance",
)  # fmt: skip


@pytest.mark.parametrize("labelled", [True, False])
def test_the_checklists_name_only_sections_of_this_report(labelled):
    verdicts = pd.DataFrame({"item": ["a", "b"], "classifier": "rule", "verdict": ["similar", "dissimilar"]})
    rows = [(item, name, "similar") for item in "ab" for name in ("ada", "ben")] if labelled else []
    report = values_document(summary_values(pd.DataFrame(rows, columns=["item", "reviewer", "label"]), verdicts))
    sections = (*report.sections, *report.appendix)
    (grras, stard) = (block for section in sections[-2:] for block in section.blocks)
    named = {title for table in (grras, stard) for row in table.rows for title in TITLES if title in row[2]}
    assert named <= {section.title for section in sections}
    assert ("Classifiers against each consensus" in named) is labelled


REPLICATION = Path(__file__).parents[3] / "data" / "replication"
TABLE_1 = (
    ("Pair", "R1-R2", "R1-R3", "R1-R4", "R2-R3", "R2-R4", "R3-R4"),
    (("Agreement", "47 %", "57 %", "35 %", "53 %", "77 %", "62 %"),),
)


@pytest.fixture(scope="module")
def report():
    return summarise(pd.read_csv(REPLICATION / "labels.csv"), pd.read_csv(REPLICATION / "verdicts.csv"))


def test_table_1_is_one_row_of_pairs_and_classifiers_can_be_chosen(report):
    first = paper_tables(report)[0]
    assert (first.header, first.rows) == TABLE_1
    names = [table.name for table in paper_tables(report, ("same", "none", "heuristic"))]
    assert names == ["paper-pairs", "paper-same", "paper-heuristic"]


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


def test_every_format_has_the_tables_only_on_request_and_only_of_labels(report):
    asked = replace(report, parameters=replace(report.parameters, tables=PAPER))
    title = "Tables in the layout of the paper"
    for text in (to_html(asked, {}), to_markdown(asked), to_latex(asked)["main.tex"]):
        assert title in text
    assert title not in to_markdown(report)
    empty = summarise(
        pd.DataFrame({"item": [], "reviewer": [], "label": []}),
        pd.DataFrame({"item": [], "classifier": [], "verdict": []}),
    )
    assert paper_tables(empty) == ()


@pytest.mark.parametrize("of", [CategorySet(), CategorySet(("similar", "dissimilar", "other"), None, ordered=True)])
def test_a_crowd_is_not_compared_person_by_person_and_the_report_says_why(of):
    answers, verdicts = simple_study(240, [f"p{at:03}" for at in range(300)])
    report = summarise(answers.assign(position=range(len(answers))), verdicts, categories=of)
    assert report.agreement.n_reviewers == answers["reviewer"].nunique() > 200
    assert [name for name in wide(answers, verdicts, of.names) if name.startswith("label_")] == []
    assert report.agreement.fleiss_kappa.ends and report.consensus.agreed
    text = to_markdown(report)
    assert "compares no pairs and no single reviewers" in text
    assert text.count("there are more than 200 reviewers") >= 3
