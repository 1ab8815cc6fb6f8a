"""Every number that depends on a model of reviewers' errors stands beside the state of this model, in every format."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from analysis.agreement._coefficients import NO_PAIR
from analysis.document import Marked, Paragraph, Table, table
from analysis.intervals import Estimate
from analysis.report import Resampling, differences
from analysis.report._consensus import StatedRates, model_cell
from analysis.simulation import Rater, SimulatedDesign, simulate
from tests.analysis.reports import document, summarise, to_html, to_markdown

REVIEWERS = (Rater("ada", 0.75, 0.75), Rater("ben", 0.75, 0.75), Rater("cleo", 0.8, 0.75))
UNTESTABLE = "rests on independence, which these data cannot test"
FEW = Resampling(1, 0, 40, 99)


@cache
def copying(*, with_classifiers, show_rejected=False, n_items=324):
    """Summarise a study in which ben copies 95 % of ada's labels."""
    rng = np.random.default_rng(1)
    classifiers = (Rater("heuristic-printed", 0.9, 0.9), Rater("same", 0.82, 0.85)) if with_classifiers else ()
    study = simulate(SimulatedDesign(n_items, 3), REVIEWERS, classifiers, 0.5, rng=rng)
    wide = study.labels.pivot(index="item", columns="rater", values="category")
    differs = rng.random(n_items) < 0.05
    wide["ben"] = np.where(differs, np.where(wide["ada"] == "similar", "dissimilar", "similar"), wide["ada"])
    answers = wide.melt(ignore_index=False, var_name="reviewer", value_name="label").reset_index()
    verdicts = study.verdicts if with_classifiers else pd.DataFrame(columns=["item", "classifier", "verdict"])
    return summarise(answers, verdicts, resampling=FEW, show_rejected=show_rejected)


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


def tables(content):
    report = document(content)
    blocks = [block for section in (*report.sections, *report.appendix) for block in section.blocks]
    return {block.name: block for block in blocks if isinstance(block, Table)}


@pytest.mark.parametrize("case", CASES)
def test_the_json_has_the_state_of_the_model_in_every_row(case):
    content = CASES[case]()
    assert unmarked(content["consensus"]["latent"]) == []
    for row in content["classifiers"].values():
        assert row["by_consensus"]["latent"]["state"] == "rejected"
    assert all(row["state"] for row in content["consensus"]["latent"]["undecided"] or ())


def test_a_saturated_model_is_called_untestable_in_the_row_and_in_short():
    content = copying(with_classifiers=False)
    rates = tables(content)["reviewer-rates"]
    assert [row[-1] for row in rates.rows] == ["untestable (a)"] * 3
    assert rates.notes == (f"(a) It {UNTESTABLE}.",)
    assert "cannot test whether reviewers err independently" in " ".join(document(content).sections[0].blocks[0].items)
    for page in (to_html(content, {}), to_markdown(content)):
        assert page.count(UNTESTABLE) >= 2


@pytest.mark.parametrize("case", ["withheld", "shown"])
def test_a_rejected_model_is_named_in_every_row_and_its_alternative_is_weak(case):
    content = CASES[case]()
    found = tables(content)
    assert {row[-1].split()[0] for row in found["reviewer-rates"].rows} == {"rejected"}
    assert any("98." in row[2] or "99." in row[2] for row in found["reviewer-rates"].rows) == (case == "shown")
    assert {row[-1] for row in found["dependent-rates"].rows} == {"weak (a)"}
    assert "only if this model is right" in found["dependent-rates"].notes[0]


def test_models_of_dependent_errors_name_classifiers_by_their_titles():
    content = copying(with_classifiers=True)
    pairs = [row["raters"] for row in content["consensus"]["latent"]["dependence"]["tried"]]
    assert any("heuristic-printed" in raters for raters in pairs)
    text = to_markdown(content).partition("## Latent class")[2].partition("## Confusion")[0]
    assert "heuristic-printed" not in text
    assert "ada and ben share errors" in text
    words = [row["by_consensus"]["latent"]["state_words"] for row in content["classifiers"].values()]
    assert not any("heuristic-printed" in text for text in words)


def test_a_report_without_the_later_states_still_checks():
    content = copying(with_classifiers=True)
    earlier = copying(with_classifiers=True) | {"consensus": without_later_states(content["consensus"])}
    assert earlier != content
    assert differences(earlier, content) == []


def without_later_states(consensus):
    latent = consensus["latent"]
    best = latent["dependence"]["best"]
    best = {name: bare(entry) for name, entry in best.items()} | {"rates": [bare(row) for row in best["rates"]]}
    undecided = [bare(row) for row in latent["undecided"]] if latent["undecided"] else latent["undecided"]
    latent = latent | {"undecided": undecided, "dependence": latent["dependence"] | {"best": best}}
    return consensus | {"latent": latent}


def bare(row):
    """Return a row without its state; other values do not change."""
    return {k: v for k, v in row.items() if k not in ("state", "state_words")} if isinstance(row, dict) else row


def test_a_weak_row_says_what_weak_means_and_a_row_without_numbers_has_no_second_note():
    weak = StatedRates("ada", 9, Estimate(0.9), Estimate(0.8), state="weak", state_words="few items")
    rows = [(model_cell(weak),), (model_cell(replace(weak, state="not contradicted")),)]
    assert table("T.", ("a",), rows).rows == (("weak (a)",), ("not contradicted",))
    assert table("T.", ("a",), rows).notes == ("(a) Less certain than the interval shows: few items.",)
    withheld = replace(weak, state="rejected", sensitivity=Estimate(None), specificity=Estimate(None))
    assert model_cell(withheld) == Marked("rejected", "")


def test_a_model_that_is_not_identified_is_explained_once():
    labels = [(f"i{n}", f"r{m}", "similar" if n % 3 else "dissimilar") for n in range(30) for m in (n % 3, (n + 1) % 3)]
    answers = pd.DataFrame(labels, columns=["item", "reviewer", "label"])
    content = summarise(answers, pd.DataFrame(columns=["item", "classifier", "verdict"]), resampling=FEW)
    (section,) = [section for section in document(content).appendix if section.title == "Latent class"]
    texts = " ".join(block.text for block in section.blocks if isinstance(block, Paragraph))
    assert texts.lower().count("not identified") == 1
    assert texts.count("three labels on every item") == 1


def test_agreement_that_is_undefined_is_explained_once():
    answers = pd.DataFrame({"item": ["a", "b"], "reviewer": ["x", "y"], "label": ["similar"] * 2})
    content = summarise(answers, pd.DataFrame(columns=["item", "classifier", "verdict"]))
    in_short = " ".join(document(content).sections[0].blocks[0].items)
    assert in_short.count(NO_PAIR) == 1


def test_methods_describe_second_labels_only_if_there_are_any():
    plan = {"per_item": 2, "retest": 2, "seed": 1, "assigned": {"2": 4}, "repeats": 4}
    once = [(f"i{n}", name, "similar", "fresh") for n in range(4) for name in ("ada", "ben")]
    twice = [*once, ("i0", "ada", "dissimilar", "retest"), ("i1", "ada", "similar", "retest")]
    for rows, words in ((once, "no second label entered"), (twice, "2 pairs of first and second labels entered")):
        answers = pd.DataFrame(rows, columns=["item", "reviewer", "label", "kind"])
        content = summarise(answers, pd.DataFrame(columns=["item", "classifier", "verdict"]))
        assert words in to_markdown({**content, "plan": plan})


def test_items_are_named_only_after_unblinding():
    content = copying(with_classifiers=False)
    flag = {"item": "secret", "code": "K7", "reviewer": "ada", "flag": True, "comment": "odd"}
    told = {"unblinded": None, "steps": [], "people": [], "changed_pairs": [], "excluded": [], "calibration": None}
    names = {row["item"] for row in content["agreement"]["disputed"]["items"]} | {"secret"}
    names |= {row["item"] for row in content["consensus"]["latent"]["undecided"]}
    for interim in (True, False):
        study = content["study"] | {"interim": interim, "state": "open"}
        page = to_markdown(content | {"study": study, "course": told | {"flags": [flag]}})
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
    report = document(summarise(pd.DataFrame(rows, columns=["item", "reviewer", "label"]), verdicts))
    sections = (*report.sections, *report.appendix)
    (grras, stard) = (block for section in sections[-2:] for block in section.blocks)
    named = {title for table in (grras, stard) for row in table.rows for title in TITLES if title in row[2]}
    assert named <= {section.title for section in sections}
    assert ("Classifiers against each consensus" in named) is labelled
