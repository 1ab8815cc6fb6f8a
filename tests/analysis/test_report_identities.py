"""Complete reports on simulated studies: a number that occurs in two places is the same in both."""

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
import pytest

from analysis.document import to_json
from analysis.report import Resampling, differences
from analysis.simulation import Difficulty, Rater, SimulatedDesign, simulate
from tests.analysis.reports import summarise
from tests.conftest import some_slow

REVIEWERS = (Rater("ada", 0.95, 0.9), Rater("ben", 0.8, 0.7), Rater("cleo", 0.7, 0.85), Rater("dan", 0.6, 0.6))
CLASSIFIERS = (Rater("heuristic", 0.92, 0.45), Rater("same", 0.3, 0.85))
OTHER = {"similar": "dissimilar", "dissimilar": "similar"}
SMALL = Resampling(seed=1, n_bootstrap=40, n_sweeps=40, n_misfit=19)


@dataclass(frozen=True)
class Made:
    """A simulated study with all kinds of answers, and the counts used to build it."""

    answers: pd.DataFrame
    verdicts: pd.DataFrame
    put_in: Counter


def made_study(seed=1, *, k=2, overlap=0.2, n_items=48):
    """Simulate a study with all columns: first labels, not sure, corrections, own revisions, retest, calibration, third
    labels, decisions."""
    rng = np.random.default_rng(seed)
    study = simulate(
        SimulatedDesign(n_items, k, overlap), REVIEWERS, CLASSIFIERS, 0.55, rng=rng, item_difficulty=Difficulty(0.3)
    )
    seen_by = study.labels.groupby("item")["rater"].agg(set)
    rows, put_in, tasks = [], Counter(), []

    def answer(item, reviewer, label, kind, assignment):
        n = len(rows)
        rows.append((item, reviewer, label, kind, assignment, f"org/app{int(item[1:]) % 22}", n % 7, n))

    for item, reviewer, category in study.labels.sample(frac=1, random_state=seed).itertuples(index=False):
        kind = "overlap" if len(seen_by[item]) == 4 else "fresh"
        task, sort = (item, reviewer, category, kind, f"{kind} {item}"), len(tasks) % 12
        tasks.append(task)
        for first, label in {1: "not sure", 2: "not sure", 3: "withdrawn", 4: OTHER[category]}.items():
            if sort == first:
                answer(item, reviewer, label, kind, task[4])
        put_in["withdrawn"] += sort == 3
        if sort == 1:
            put_in["not sure"] += 1
        else:
            answer(item, reviewer, category, kind, task[4])
            put_in["first"] += 1
    for number, (item, reviewer, category, kind, assignment) in enumerate(tasks):
        if number % 12 in (5, 6):
            answer(item, reviewer, OTHER[category] if number % 12 == 5 else category, kind, assignment)
            put_in["revisions"] += 1
        if number % 9 == 0:
            answer(item, reviewer, category if number % 2 else OTHER[category], "retest", f"retest {item}")
            put_in["retest"] += 1
        if number % 20 == 0:
            answer("i0", reviewer, category, "calibration", f"calibration {number}")
            put_in["calibration"] += 1
    said = study.labels.groupby("item")["category"].agg(set)
    for number, item in enumerate(said[said.map(len) == 2].index):
        absent = [rater.name for rater in REVIEWERS if rater.name not in seen_by[item]]
        if absent and number % 3:
            answer(item, absent[0], study.truth[item], "third", f"third {item}")
            put_in["third"] += 1
        elif number % 2:
            answer(item, "carol", study.truth[item], "adjudicated", f"adjudicated {item}")
            put_in["adjudicated"] += 1
    columns = ["item", "reviewer", "label", "kind", "assignment", "application", "position", "dwell_ms"]
    answers = pd.DataFrame(rows, columns=columns)
    answers["created_utc"] = [f"2026-11-{10 + n // 100}T12:00:00+00:00" for n in range(len(answers))]
    return Made(answers, _with_scores(study.verdicts, rng), put_in)


def _with_scores(table, rng):
    """Return the verdicts with all optional columns; one in fifteen verdicts is missing."""
    called = (table["verdict"] == "dissimilar").to_numpy()
    score = np.where(called, 0.26, 0.0) + rng.random(len(table)).round(2) / 4
    table = table.assign(
        score=score, threshold=0.25, version=1, application=[f"org/app{int(i[1:]) % 22}" for i in table["item"]],
        means=[{"m1": float(s), "m2": 0.5} for s in score], parameters='{"theta": 0.25}',
    )  # fmt: skip
    missing = np.arange(len(table)) % 15 == 7
    return table.assign(verdict=table["verdict"].astype(object).where(~missing, None))


def bare(made):
    """Return the same study with only the required columns and fresh answers."""
    fresh = made.answers[made.answers["kind"].isin(["fresh", "overlap"])]
    return Made(fresh[["item", "reviewer", "label"]], made.verdicts[["item", "classifier", "verdict"]], made.put_in)


DESIGNS = {
    "k = 2": {"k": 2, "overlap": 0.0},
    "k = 2 with overlap": {"k": 2, "overlap": 0.25},
    "k = 3": {"k": 3, "overlap": 0.0},
    "k = 3 with overlap": {"k": 3, "overlap": 0.1},
    "all by all": {"k": 4, "overlap": 0.0},
}


NAMES = (*DESIGNS, "k = 2, bare", "k = 3 with overlap, bare")
SLOW = {"k = 2 with overlap", "k = 3", "k = 3 with overlap, bare"}


@cache
def study(name):
    """Return a simulated study by name; tests must not change it."""
    if name.endswith(", bare"):
        return bare(study(name.removesuffix(", bare")))
    return made_study(**DESIGNS[name])


@cache
def report(name):
    return summarise(study(name).answers, study(name).verdicts, resampling=SMALL)


@pytest.fixture(params=some_slow(NAMES, SLOW))
def content(request):
    return report(request.param)


@pytest.fixture(params=DESIGNS)
def full(request):
    """Return a study with all columns, and its report."""
    return study(request.param), report(request.param)


def estimates(value, place=""):
    """Yield every statistic of a report with its place."""
    if isinstance(value, dict):
        if {"value", "low", "high", "reason"} <= set(value):
            yield place, value
        for name, entry in value.items():
            yield from estimates(entry, f"{place}.{name}")
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield from estimates(entry, f"{place}[{number}]")


def cells(confusion):
    return [confusion[cell] for cell in ("tp", "fp", "fn", "tn")]


def test_the_items_of_the_consensus_add_up(content):
    decided, agreement = content["consensus"], content["agreement"]
    assert decided["agreed"] == decided["agreed_similar"] + decided["agreed_dissimilar"]
    assert decided["agreed"] + decided["split"] == agreement["n_items_with_two_labels"]
    assert decided["agreed"] + decided["split"] + decided["incomplete"] == decided["n_items"] >= agreement["n_items"]


def test_items_by_number_of_labels_add_up_to_those_with_two_or_more(content):
    rows = content["consensus"]["by_n_labels"]
    assert sum(row["n"] for row in rows) == content["agreement"]["n_items_with_two_labels"]
    assert sum(row["n"] * row["agreed"]["value"] for row in rows) == pytest.approx(content["consensus"]["agreed"])


def test_the_labels_by_number_of_labels_leave_only_those_on_incomplete_items(content):
    counted = sum(row["n"] * row["n_labels"] for row in content["consensus"]["by_n_labels"])
    single = content["agreement"]["n_items"] - content["agreement"]["n_items_with_two_labels"]
    assert counted + single == content["agreement"]["n_labels"]


def test_the_items_of_pairs_are_those_of_every_two_labels_of_an_item(content):
    rows = content["consensus"]["by_n_labels"]
    pairs = content["agreement"]["pairs"]
    assert sum(pair["n"] for pair in pairs) == sum(
        row["n"] * row["n_labels"] * (row["n_labels"] - 1) // 2 for row in rows
    )
    assert all(pair["percent"]["value"] == pytest.approx(pair["agree"] / pair["n"]) for pair in pairs)


def test_the_agreement_of_two_on_every_item_is_the_mean_over_pairs():
    agreement = report("k = 2")["agreement"]
    total = sum(pair["agree"] for pair in agreement["pairs"])
    assert agreement["percent"]["value"] == pytest.approx(total / agreement["n_items_with_two_labels"])


def test_the_labels_of_reviewers_add_up(content):
    agreement = content["agreement"]
    assert sum(row["n"] for row in agreement["leniency"]["raters"]) == agreement["n_labels"]


def test_mcnemar_and_agreement_of_a_pair_count_the_same_items(content):
    tables = {(row["a"], row["b"]): row["table"] for row in content["agreement"]["leniency"]["pairs"]}
    for pair in content["agreement"]["pairs"]:
        of_pair = tables[pair["a"], pair["b"]]
        assert of_pair["b"] + of_pair["c"] == pair["n"] - pair["agree"]


def test_the_groups_of_labels_add_up_to_those_on_items_with_two_or_more(full):
    agreement = full[1]["agreement"]
    single = agreement["n_items"] - agreement["n_items_with_two_labels"]
    for name in ("by_application", "by_date", "by_position", "by_time_quartile"):
        assert sum(row["n_labels"] for row in agreement[name]) == agreement["n_labels"] - single
    assert sum(row["n_items"] for row in agreement["by_application"]) == agreement["n_items_with_two_labels"]


def test_the_test_of_strictness_looks_at_the_split_items(content):
    assert content["agreement"]["leniency"]["overall"]["n_split"] == content["consensus"]["split"]


def test_what_was_put_in_is_counted(full):
    made, content = full
    left_out, put_in = content["left_out"], made.put_in
    assert content["agreement"]["n_labels"] == put_in["first"]
    assert (left_out["not_sure"], left_out["withdrawn_answers"]) == (put_in["not sure"], put_in["withdrawn"])
    assert left_out["own_revisions"] == put_in["revisions"]
    for kind in ("retest", "calibration", "third", "adjudicated"):
        assert left_out.get(f"{kind}_labels", 0) == put_in[kind]
    majority = content["consensus"]["majority"]
    assert (majority["n_third_labels"], majority["adjudicated"]) == (put_in["third"], put_in["adjudicated"])


def test_the_items_of_the_majority_add_up(content):
    rows, decided = content["consensus"]["majority"], content["consensus"]
    has_category = rows["majority"] + rows["adjudicated"]
    assert has_category == rows["n_similar"] + rows["n_dissimilar"]
    assert has_category + rows["split"] + rows["incomplete"] <= decided["n_items"]
    assert rows["majority"] >= decided["agreed"]


def test_without_third_labels_the_majority_decides_nothing_but_ties_of_two():
    decided = report("k = 2, bare")["consensus"]
    assert decided["majority"]["majority"] == decided["agreed"]
    assert decided["majority"]["split"] == decided["split"]


def test_third_labels_enter_no_agreement(full):
    assert [row["labels"] for row in full[1]["agreement"]["by_labels_used"]] == ["after own revisions"]


def test_own_revisions_change_only_the_row_after_them():
    made, content = study("k = 2 with overlap"), report("k = 2 with overlap")
    first_only = made.answers.iloc[: made.answers["kind"].isin(["retest", "calibration"]).idxmax()]
    before = summarise(first_only, made.verdicts)["agreement"]
    assert before["percent"] == content["agreement"]["percent"]
    assert before["by_labels_used"][0]["percent"] != content["agreement"]["by_labels_used"][0]["percent"]


def test_every_agreed_item_is_in_a_confusion_matrix_or_has_no_verdict(content):
    decided = content["consensus"]
    for row in content["classifiers"].values():
        assert sum(cells(row["confusion"])) == row["n"]
        assert row["n"] + row["n_without_verdict"] == decided["agreed"]
        majority = row["by_consensus"]["adjudicated"]
        with_category = decided["majority"]["majority"] + decided["majority"]["adjudicated"]
        assert sum(cells(majority["confusion"])) == majority["n"] == with_category - majority["n_without_verdict"]


def test_the_shares_of_a_classifier_follow_from_its_confusion_matrix(content):
    for row in content["classifiers"].values():
        for told in (row, row["by_consensus"]["adjudicated"]):
            tp, fp, fn, tn = cells(told["confusion"])
            assert told["sensitivity"]["value"] == pytest.approx(tp / (tp + fn))
            assert told["specificity"]["value"] == pytest.approx(tn / (fp + tn))
            assert told["accuracy"]["value"] == pytest.approx((tp + tn) / told["n"])
            assert told["prevalence"]["value"] == pytest.approx((tp + fn) / told["n"])
        share = row["prevalence"]["value"]
        assert row["baseline"]["accuracy"]["value"] == pytest.approx(max(share, 1 - share))
        difference = row["accuracy"]["value"] - row["baseline"]["accuracy"]["value"]
        assert row["baseline"]["difference"]["value"] == pytest.approx(difference)


def test_the_bounds_take_agreed_and_split_items(content):
    decided = content["consensus"]
    for row in content["classifiers"].values():
        bounds = row["bounds"]
        shown = decided["split"] / (decided["agreed"] + decided["split"])
        assert bounds["dropped"]["value"] == pytest.approx(shown)
        for end in ("worst", "best"):
            n = sum(cells(bounds[end])) + bounds[end]["n_without_verdict"]
            assert n == decided["agreed"] + decided["split"]


def test_what_the_agreed_items_give_is_within_the_bounds_over_the_split_ones(content):
    for row in content["classifiers"].values():
        for name in ("sensitivity", "specificity", "accuracy", "youden"):
            ends = row["bounds"][name]
            assert ends["worst"]["value"] <= row[name]["value"] <= ends["best"]["value"]


def test_the_verdicts_of_a_classifier_add_up_to_its_rows(full):
    made, content = full
    for name, rows in made.verdicts.groupby("classifier"):
        assert sum(content["classifiers"][name]["verdicts"].values()) == len(rows)


def test_two_classifiers_are_compared_on_the_items_that_both_judge(content):
    for row in content["comparisons"]:
        parts = [row[name]["n"] for name in ("dissimilar", "similar")]
        assert row["overall"]["n"] == sum(parts) <= min(content["classifiers"][row[x]]["n"] for x in "ab")


def test_the_area_under_the_curve_is_the_same_alone_and_compared(full):
    content = full[1]
    (row,) = content["comparisons"]
    for side in "ab":
        alone = content["classifiers"][row[side]]["scores"]["auc"]["value"]
        assert row["auc"][side]["value"] == pytest.approx(alone)


def test_the_items_of_measures_are_those_with_means(full):
    made, content = full
    for name, rows in made.verdicts.groupby("classifier"):
        assert sum(row["n"] for row in content["measures"][name]) == len(rows)


def test_no_statistic_is_outside_its_interval(content):
    found = dict(estimates(content))
    with_interval = {place: e for place, e in found.items() if None not in (e["value"], e["low"], e["high"])}
    assert len(with_interval) > 100
    outside = {place: e for place, e in with_interval.items() if not e["low"] <= e["value"] <= e["high"]}
    assert {place for place in outside if "bootstrap" not in place} == set()


def test_an_undefined_statistic_says_why(content):
    silent = [place for place, e in estimates(content) if e["value"] is None and not e["reason"]]
    assert silent == []


SHARES = (
    "percent",
    "sensitivity",
    "specificity",
    "precision",
    "npv",
    "accuracy",
    "balanced_accuracy",
    "f1",
    "prevalence",
)
SHARES += ("dropped", "agreed", "auc", "average_precision")


def test_shares_are_between_none_and_all(content):
    found = [(place, e) for place, e in estimates(content) if place.rsplit(".", 1)[-1] in SHARES]
    assert len(found) > 40
    outside = [
        place for place, e in found for end in ("value", "low", "high") if e[end] is not None and not 0 <= e[end] <= 1
    ]
    assert outside == []


def test_the_whole_report_is_json_and_comes_back_as_it_was(content):
    assert differences(content, json.loads(to_json(content)), tolerance=0) == []
