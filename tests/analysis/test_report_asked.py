"""What is asked first about a study, in the report: each reviewer against the rest, drift, and predictive values."""

import pandas as pd
import pytest

from analysis.agreement import against_rest, reviewer_drift
from analysis.document import json_values
from analysis.evaluation import Confusion, predictive_values
from analysis.report import Report, differences, summarise, to_latex, to_markdown
from analysis.report._consensus import mark_of
from analysis.report._settings import Resampling
from tests.analysis.ten_studies import STUDIES

FAST = Resampling(1, 0, 40, 79)


def studied(name, resampling=None, **options):
    answers, verdicts = STUDIES[name]
    placed = answers.assign(position=answers.groupby("reviewer").cumcount())
    return summarise(placed, verdicts, resampling=resampling or Resampling.none(), **options)


@pytest.fixture(scope="module")
def dominated():
    return studied("a dominating reviewer", FAST, prevalences=(0.1, 0.5))


def test_each_reviewer_is_compared_with_the_rest(dominated):
    answers, _ = STUDIES["a dominating reviewer"]
    labels = answers.rename(columns={"reviewer": "rater", "label": "category"})
    assert list(dominated.agreement.against_the_rest) == against_rest(labels)
    page = to_markdown(dominated)
    assert "| Reviewer | Items | Agreement with the rest (95 % CI)" in page
    assert "| r1 | 240 | 84.3 %" in page
    assert "tables/against-the-rest.tex" in to_latex(dominated)


def test_the_drift_of_each_reviewer_stands_with_the_change_that_could_be_seen(dominated):
    answers, _ = STUDIES["a dominating reviewer"]
    labels = answers.rename(columns={"reviewer": "rater", "label": "category"})
    labels["position"] = labels.groupby("rater").cumcount()
    assert list(dominated.agreement.drift) == reviewer_drift(labels)
    assert "Smallest visible change" in to_markdown(dominated)


def test_without_an_order_there_is_no_drift():
    answers, verdicts = STUDIES["good"]
    report = summarise(answers, verdicts)
    assert report.agreement.drift == ()
    assert "Smallest visible change" not in to_markdown(report)


def test_two_reviewers_have_no_rest():
    answers, verdicts = STUDIES["good"]
    report = summarise(answers[answers["reviewer"].isin(["r1", "r2"])], verdicts)
    assert "Agreement with the rest" not in to_markdown(report)


def test_predictive_values_at_chosen_prevalences(dominated):
    of_good = dominated.classifiers["good"]
    cells = of_good.rates.confusion
    values = of_good.predictive_values
    assert [row.prevalence for row in values] == [0.1, 0.5]
    expected = predictive_values(Confusion(cells.tp, cells.fp, cells.fn, cells.tn), 0.1)
    assert values[0].precision.value == pytest.approx(expected.precision.value)
    assert "| good | 10.0 % |" in to_markdown(dominated)
    assert Report.of(json_values(dominated)) == dominated


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1])
def test_an_impossible_prevalence_is_refused(share):
    with pytest.raises(ValueError, match="prevalence must be within"):
        studied("12 items", prevalences=(share,))


def test_agreed_labels_and_majorities_carry_the_mark_of_the_model(dominated):
    assert mark_of(dominated) == "rejected"
    page = to_markdown(dominated)
    assert "have the same mark as the latent class model: rejected" in page
    majorities = [line for line in page.splitlines() if "adjudicated majority" in line and line.startswith("|")]
    assert majorities and all(line.endswith("| rejected |") for line in majorities)


def test_a_model_that_is_not_contradicted_gives_no_mark():
    good = studied("good", FAST)
    assert mark_of(good) == ""
    page = to_markdown(good)
    assert "same mark" not in page
    assert page.count("No test can see errors that all raters share") == 1
    assert "10 % mean about 8 points" in page


def test_a_classifier_that_errs_with_a_reviewer_is_named():
    answers, verdicts = STUDIES["good"]
    of_r1 = answers[answers["reviewer"] == "r1"].set_index("item")["label"]
    twin = verdicts[verdicts["classifier"] == "good"].assign(classifier="twin")
    twin["verdict"] = twin["item"].map(of_r1)
    page = to_markdown(summarise(answers, twin, resampling=FAST))
    assert "r1 and twin agree on 100 % of their items, and a model of independent errors expects" in page
    assert "is favoured on agreed items" in page


def test_names_of_reviewers_keep_their_case_in_the_test_of_pairs(dominated):
    page = to_markdown(dominated)
    assert "The clearest difference is between r1 and the other reviewers: 84.3 % with r1, 72.2 % without" in page
    assert "R1" not in page


def test_reports_of_earlier_definitions_lack_the_new_tables_without_a_difference(dominated):
    content = json_values(dominated)
    earlier = {**content, "definitions": "0.1"}
    earlier["agreement"] = {k: v for k, v in content["agreement"].items() if k not in ("against_the_rest", "drift")}
    assert differences(earlier, content) == []
    assert differences({**earlier, "definitions": content["definitions"]}, content)


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
    rare, compared = content["classifiers"]["rare"]["baseline"], content["comparisons"][0]["overall"]
    for of in (rare, compared):
        assert (of["p_holm"] is not None) == is_tested
        assert (of["difference"]["low"] is not None) == is_tested
    assert content["classifiers"]["all"]["baseline"]["p_holm"] is not None


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
