"""The numbers of a report: by hand, equal wherever they occur, and independent of the order of rows and of names."""

import json
import re
from dataclasses import fields
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.document import to_json
from analysis.report import Provenance, Resampling, differences, registry, wide
from analysis.runs.classifiers import CLASSIFIERS, Classifier
from analysis.runs.dissimilarity import MEASURES, Measure
from tests.analysis.report.reports import (
    DESIGNS,
    SMALL,
    cells,
    draw,
    estimates,
    report,
    study,
    summarise,
    to_html,
)
from tests.conftest import some_slow
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
    assert report["agreement"]["coefficients"]["percent_agreement"]["value"] == pytest.approx(2 / 3)
    assert report["consensus"] | {"n_items": 4, "agreed": 2, "split": 1, "incomplete": 1} == report["consensus"]
    assert report["left_out"]["not_sure"] == 1
    mine = report["classifiers"]["mine"]
    assert mine["against"]["counts"] == [[0, 1], [0, 1]]
    assert mine["verdicts"] == {"similar": 0, "dissimilar": 2, "none": 1}
    assert mine["majority_rule"]["accuracy"]["value"] == 0.5
    page = to_html(report)
    assert says(page, "majority rule: always dissimilar", "50.0 %")
    assert says(page, "mine", "50.0 %")
    assert says(page, "agree on 2 of 3 items")
    assert says(page, "Items: 4", "2 agreed (1 dissimilar, 1 similar)", "1 split")


def test_agreement_by_stated_confidence_and_on_the_confidence_are_counted_by_hand():
    """Everybody states another confidence on every item: of two, the quadratic weights are .75, .75 and 0."""
    table = answers(
        *((f"i{i}", name, "similar" if i < 8 or name == "ada" else "dissimilar", 1 + (i + k) % 3)
          for i in range(12) for k, name in enumerate(("ada", "ben", "cleo"))),
        columns=("item", "reviewer", "label", "confidence"),
    )  # fmt: skip
    report = summarise(table, NO_VERDICTS)
    confidence = report["agreement"]["confidence"]
    assert (confidence["n"], [row["n_labels"] for row in confidence["by_confidence"]]) == (36, [12, 12, 12])
    assert confidence["weighted_kappa"]["value"] == pytest.approx((0.5 - 2 / 3) / (1 - 2 / 3))
    assert says(to_html(report), "Weighted kappa (quadratic): −0.500")


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


SHARES = (
    "percent", "sensitivity", "specificity", "precision", "npv", "accuracy", "balanced_accuracy", "f1", "prevalence",
    "dropped", "agreed", "auc", "average_precision",
)  # fmt: skip


NAMES = (*DESIGNS, "k = 2, bare", "k = 3 with overlap, bare")
SLOW = {"k = 2", "k = 2 with overlap", "k = 3", "all by all", "k = 3 with overlap, bare"}


@pytest.fixture(params=some_slow(NAMES, SLOW))
def content(request):
    return report(request.param)


@pytest.fixture(params=some_slow(DESIGNS, SLOW))
def full(request):
    """Return a study with all columns, and its report."""
    return study(request.param), report(request.param)


def test_items_labels_and_pairs_add_up(content):
    decided, agreement = content["consensus"], content["agreement"]
    assert decided["agreed"] == decided["agreed_similar"] + decided["agreed_dissimilar"]
    assert decided["agreed"] + decided["split"] == agreement["n_items_with_two_labels"]
    assert decided["agreed"] + decided["split"] + decided["incomplete"] == decided["n_items"] >= agreement["n_items"]

    rows, pairs = decided["by_n_labels"], agreement["pairs"]
    assert sum(row["n"] for row in rows) == agreement["n_items_with_two_labels"]
    assert sum(row["n"] * row["agreed"]["value"] for row in rows) == pytest.approx(decided["agreed"])
    single = agreement["n_items"] - agreement["n_items_with_two_labels"]
    assert sum(row["n"] * row["n_labels"] for row in rows) + single == agreement["n_labels"]
    n_pairs = sum(row["n"] * row["n_labels"] * (row["n_labels"] - 1) // 2 for row in rows)
    assert sum(pair["n"] for pair in pairs) == n_pairs
    assert all(pair["percent"]["value"] == pytest.approx(pair["agree"] / pair["n"]) for pair in pairs)

    leniency = agreement["leniency"]
    assert sum(row["n"] for row in leniency["raters"]) == agreement["n_labels"]
    assert leniency["overall"]["n_split"] == decided["split"]
    tables = {(row["a"], row["b"]): row["table"] for row in leniency["pairs"]}
    for pair in pairs:
        of_pair = tables[pair["a"], pair["b"]]
        assert of_pair["b"] + of_pair["c"] == pair["n"] - pair["agree"]

    majority = decided["majority"]
    has_category = majority["majority"] + majority["adjudicated"]
    assert has_category == majority["n_similar"] + majority["n_dissimilar"]
    assert has_category + majority["split"] + majority["incomplete"] <= decided["n_items"]
    assert majority["majority"] >= decided["agreed"]


def test_without_third_labels_the_majority_decides_nothing_but_ties_of_two():
    decided, agreement = (report("k = 2, bare")[part] for part in ("consensus", "agreement"))
    total = sum(pair["agree"] for pair in agreement["pairs"])
    assert agreement["coefficients"]["percent_agreement"]["value"] == pytest.approx(
        total / agreement["n_items_with_two_labels"]
    )
    assert decided["majority"]["majority"] == decided["agreed"]
    assert decided["majority"]["split"] == decided["split"]


def test_what_was_put_in_is_counted(full):
    made, content = full
    left_out, put_in, agreement = content["left_out"], made.put_in, content["agreement"]
    assert agreement["n_labels"] == put_in["first"]
    assert (left_out["not_sure"], left_out["withdrawn_answers"]) == (put_in["not sure"], put_in["withdrawn"])
    assert left_out["own_revisions"] == put_in["revisions"]
    for kind in ("retest", "calibration", "third", "adjudicated"):
        assert left_out.get(f"{kind}_labels", 0) == put_in[kind]
    majority = content["consensus"]["majority"]
    assert (majority["n_third_labels"], majority["adjudicated"]) == (put_in["third"], put_in["adjudicated"])
    assert [row["labels"] for row in agreement["by_labels_used"]] == ["after own revisions"]

    single = agreement["n_items"] - agreement["n_items_with_two_labels"]
    for name in ("by_application", "by_date", "by_position", "by_time_quartile"):
        assert sum(row["n_labels"] for row in agreement[name]) == agreement["n_labels"] - single
    assert sum(row["n_items"] for row in agreement["by_application"]) == agreement["n_items_with_two_labels"]

    for name, rows in made.verdicts.groupby("classifier"):
        assert sum(content["classifiers"][name]["verdicts"].values()) == len(rows)
        assert sum(row["n"] for row in content["measures"][name]) == len(rows)
    (row,) = content["comparisons"]
    for side in "ab":
        alone = content["classifiers"][row[side]]["positive"]["scores"]["auc"]["value"]
        assert row["auc"][side]["value"] == pytest.approx(alone)


def test_own_revisions_change_only_the_row_after_them():
    made, content = study("k = 3 with overlap"), report("k = 3 with overlap")
    first_only = made.answers.iloc[: made.answers["kind"].isin(["retest", "calibration"]).idxmax()]
    before = summarise(first_only, made.verdicts)["agreement"]
    assert before["coefficients"]["percent_agreement"] == content["agreement"]["coefficients"]["percent_agreement"]
    assert before["by_labels_used"][0]["percent"] != content["agreement"]["by_labels_used"][0]["percent"]


def test_the_rates_of_a_classifier_are_those_of_its_confusion_matrix_and_within_its_bounds(content):
    decided = content["consensus"]
    with_category = decided["majority"]["majority"] + decided["majority"]["adjudicated"]
    for row in content["classifiers"].values():
        agreed, majority, positive = row["against"], row["adjudicated"], row["positive"]
        bounds = positive["bounds"]
        assert sum(cells(agreed)) == agreed["n"] == decided["agreed"] - agreed["n_without_verdict"]
        assert sum(cells(majority)) == majority["n"] == with_category - majority["n_without_verdict"]
        for told in (agreed, majority):
            (tp, fp, fn, tn), rates = cells(told), told["by_category"]
            assert rates["dissimilar"]["recall"]["value"] == pytest.approx(tp / (tp + fn))
            assert rates["similar"]["recall"]["value"] == pytest.approx(tn / (fp + tn))
            assert told["accuracy"]["value"] == pytest.approx((tp + tn) / told["n"])
            assert rates["dissimilar"]["share"]["value"] == pytest.approx((tp + fn) / told["n"])
        assert positive["sensitivity"] == agreed["by_category"]["dissimilar"]["recall"]
        assert positive["specificity"] == agreed["by_category"]["similar"]["recall"]

        share, baseline = agreed["by_category"]["dissimilar"]["share"]["value"], row["majority_rule"]
        assert baseline["accuracy"]["value"] == pytest.approx(max(share, 1 - share))
        difference = agreed["accuracy"]["value"] - baseline["accuracy"]["value"]
        assert baseline["difference"]["value"] == pytest.approx(difference)

        n_decided = decided["agreed"] + decided["split"]
        assert bounds["dropped"]["value"] == pytest.approx(decided["split"] / n_decided)
        for end in ("worst", "best"):
            assert sum(cells(bounds[end])) + bounds[end]["n_without_verdict"] == n_decided
        for name, told in (("sensitivity", positive), ("specificity", positive), ("accuracy", agreed)):
            assert bounds[name]["worst"]["value"] <= told[name]["value"] <= bounds[name]["best"]["value"]
    for row in content["comparisons"]:
        parts = [part["n"] for part in row["by_category"].values()]
        assert row["overall"]["n"] == sum(parts) <= min(content["classifiers"][row[x]]["against"]["n"] for x in "ab")


def test_every_statistic_is_in_its_range_and_interval_or_says_why_it_is_undefined(content):
    found = dict(estimates(content))
    with_interval = {place: e for place, e in found.items() if None not in (e["value"], e["low"], e["high"])}
    assert len(with_interval) > 100
    outside = {place: e for place, e in with_interval.items() if not e["low"] <= e["value"] <= e["high"]}
    assert {place for place in outside if "bootstrap" not in place} == set()
    silent = [place for place, e in estimates(content) if e["value"] is None and not e["reason"]]
    assert silent == []
    found = [(place, e) for place, e in estimates(content) if place.rsplit(".", 1)[-1] in SHARES]
    assert len(found) > 40
    outside = [
        place for place, e in found for end in ("value", "low", "high") if e[end] is not None and not 0 <= e[end] <= 1
    ]
    assert outside == []
    assert differences(content, json.loads(to_json(content)), tolerance=0) == []


REPLICATION = Path(__file__).parents[3] / "data" / "replication"
RESAMPLED = ("bootstrap", "mcc", ".advantage.", ".worse", ".answer", "latent", "threshold", "resampling")


def test_the_same_seed_gives_the_same_bytes_and_none_the_same_other_numbers():
    made, content, shares = study("k = 3 with overlap"), report("k = 3 with overlap"), []
    again = summarise(made.answers, made.verdicts, resampling=SMALL, progress=shares.append)
    assert to_json(again) == to_json(content)
    assert shares == sorted(set(shares)) and shares[-1] == 1
    changed = differences(content, summarise(made.answers, made.verdicts, resampling=Resampling.none()))
    assert [d.place for d in changed if not any(part in d.place for part in RESAMPLED)] == []


def shuffled(made, seed):
    """Shuffle the rows, but keep the order of each reviewer's answers."""
    order = np.random.default_rng(seed).permutation(sorted(set(made.answers["reviewer"])))
    answers = pd.concat([made.answers[made.answers["reviewer"] == name] for name in order])
    return answers, made.verdicts.sample(frac=1, random_state=seed)


@cache
def plain(name):
    return summarise(study(name).answers, study(name).verdicts)


def test_the_order_of_rows_changes_no_number():
    assert not differences(plain("k = 3"), summarise(*shuffled(study("k = 3"), 1)))


@pytest.mark.slow
def test_the_order_of_rows_changes_no_resampled_number():
    answers, verdicts = shuffled(study("k = 3"), 1)
    assert not differences(report("k = 3"), summarise(answers, verdicts, resampling=SMALL))


def test_another_index_of_the_tables_changes_no_number():
    made = study("k = 3")
    answers, verdicts = (
        table.set_axis([-n // 2 for n in range(len(table))]) for table in (made.answers, made.verdicts)
    )
    assert differences(plain("k = 3"), summarise(answers, verdicts)) == []


def test_names_in_the_other_order_change_nothing_but_the_sides_of_pairs():
    made = study("k = 3")
    names = dict(zip(["ada", "ben", "cleo", "dan"], ["dan", "cleo", "ben", "ada"], strict=True))
    one = plain("k = 3")
    other = summarise(made.answers.replace({"reviewer": names}), made.verdicts)
    for part in ("consensus", "classifiers", "comparisons", "left_out"):
        assert differences(one[part], other[part]) == [] if isinstance(one[part], dict) else one[part] == other[part]
    for part in ("coefficients", "by_application"):
        assert differences({"x": one["agreement"][part]}, {"x": other["agreement"][part]}) == []
    turned = {frozenset(names[pair[x]] for x in "ab"): pair["agree"] for pair in one["agreement"]["pairs"]}
    assert turned == {frozenset(pair[x] for x in "ab"): pair["agree"] for pair in other["agreement"]["pairs"]}


@pytest.fixture(scope="module")
def replication():
    return summarise(pd.read_csv(REPLICATION / "labels.csv"), pd.read_csv(REPLICATION / "verdicts.csv"))


def test_the_papers_tables_come_out_of_the_replication_data(replication):
    decided = replication["consensus"]
    assert [decided[name] for name in ("n_items", "agreed_dissimilar", "agreed_similar", "split")] == [
        586,
        189,
        135,
        262,
    ]
    assert replication["agreement"]["coefficients"]["fleiss_kappa"]["value"] == pytest.approx(4177 / 42560)
    assert replication["agreement"]["coefficients"]["percent_agreement"]["value"] == pytest.approx(324 / 586)
    pairs = {(pair["a"], pair["b"]): (pair["agree"], pair["n"]) for pair in replication["agreement"]["pairs"]}
    counts = [(46, 98), (56, 98), (34, 97), (52, 98), (75, 97), (61, 98)]
    assert pairs == dict(zip(combinations(["R1", "R2", "R3", "R4"], 2), counts, strict=True))
    assert replication["agreement"]["pair_equality"]["p"] < 1e-5  # Pearson's test: 1.4e-7
    found = {name: cells(row["against"]) for name, row in replication["classifiers"].items()}
    assert found == {"same": [52, 23, 137, 112], "heuristic": [173, 82, 16, 53]}
    same = replication["classifiers"]["same"]
    assert same["against"]["accuracy"]["value"] == pytest.approx(164 / 324)
    assert same["majority_rule"]["accuracy"]["value"] == pytest.approx(189 / 324)
    # only SAME is right on 112 similar items, and only the rule on 137 dissimilar items
    assert (same["majority_rule"]["mcnemar"]["b"], same["majority_rule"]["mcnemar"]["c"]) == (112, 137)
    assert same["majority_rule"]["verdict"] == "cannot tell"
    told = replication["consensus"]["latent"]["identifiability"]
    assert (told["identified"], told["rank"], told["n_parameters"]) == (False, 8, 9)


def said(*rows):
    return pd.DataFrame(rows, columns=["item", "reviewer", "label", "kind"])


def called(*rows):
    return pd.DataFrame(rows, columns=["item", "classifier", "verdict", "score"])


def records(table):
    """Return the rows without empty cells."""
    return [{name: value for name, value in row.items() if not pd.isna(value)} for row in table.to_dict("records")]


def test_a_wide_table_checked_by_hand():
    told = said(
        ("b", "ada", "similar", "fresh"), ("b", "ben", "dissimilar", "fresh"), ("b", "cleo", "similar", "third"),
        ("a", "ada", "similar", "overlap"), ("a", "ben", "similar", "overlap"), ("a", "cleo", "not sure", "overlap"),
        ("c", "ada", "dissimilar", "fresh"), ("a", "ada", "dissimilar", "overlap"), ("d", "ben", "withdrawn", "fresh"),
        ("a", "ben", "dissimilar", "retest"),
    )  # fmt: skip
    verdicts_of = called(("a", "rule", "similar", 0.1), ("z", "rule", "dissimilar", 0.9), ("b", "rule", None, None))
    assert records(wide(told, verdicts_of)) == [
        {"item": "a", "status": "agreed", "category": "similar", "n_labels": 2, "label_ada": "similar",
         "label_ben": "similar", "verdict_rule": "similar", "score_rule": 0.1},
        {"item": "b", "status": "split", "n_labels": 2, "label_ada": "similar", "label_ben": "dissimilar"},
        {"item": "c", "status": "incomplete", "n_labels": 1, "label_ada": "dissimilar"},
        {"item": "d", "status": "incomplete", "n_labels": 0},
        {"item": "z", "status": "incomplete", "n_labels": 0, "verdict_rule": "dissimilar", "score_rule": 0.9},
    ]  # fmt: skip


def test_the_columns_are_in_order_and_only_those_of_what_there_is():
    told = said(("a", "ben", "similar", "fresh"), ("a", "ada", "similar", "fresh"))
    verdicts_of = called(("a", "two", "similar", 0.1), ("a", "one", "similar", 0.1))
    assert wide(told, verdicts_of).columns.tolist() == [
        "item", "status", "category", "n_labels", "label_ada", "label_ben", "verdict_one", "verdict_two", "score_one",
        "score_two",
    ]  # fmt: skip
    verdicts_of = called(("a", "rule", "similar", 0.1)).drop(columns="score")
    assert wide(said(), verdicts_of).columns.tolist() == ["item", "status", "category", "n_labels", "verdict_rule"]
    assert wide(said(), NO_VERDICTS).columns.tolist() == ["item", "status", "category", "n_labels"]
    assert len(wide(said(), NO_VERDICTS)) == 0
    assert wide(said(("a", "ada", "similar", "fresh")), called(("z", "r", None, None)))["n_labels"].dtype == int


ONE_ITEM = pd.DataFrame({"item": ["a", "a"], "reviewer": ["ada", "ben"], "label": ["similar", "similar"]})
PARAMETERS = '{"theta": 0.25, "keep_mean": false, "drop": 0.0}'
HEAT_MAP = "Applications (benchmarks)"


def measured_verdicts(*rows):
    """Build verdicts from rows of item, application, classifier, means, and optionally parameters and version."""
    filled = [(*row, PARAMETERS, 1)[:6] if len(row) == 4 else row for row in rows]
    columns = ["item", "application", "classifier", "means", "parameters", "version"]
    return pd.DataFrame(filled, columns=columns).assign(verdict="similar")


def measured_report(*rows, **provenance):
    return summarise(ONE_ITEM, measured_verdicts(*rows), Provenance(**provenance))


def without_tags(page):
    return re.sub(r"<[^>]+>", " ", page)


def table_of(page, caption):
    """Return the cells of the table with this caption, row by row."""
    found = next(part.split("</table>")[0] for part in page.split("<table") if caption in part)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in found.split("<tr")[1:]]


def test_each_classifier_has_the_measures_of_the_items_that_have_them():
    content = measured_report(
        ("a", "z", "heuristic", {"m1": 0.2}), ("b", "z", "heuristic", {}), ("c", "x", "heuristic", {}),
        ("d", "y", "heuristic", {"m1": 0.4, "m2": 0.6}), ("a", "z", "same", {"cosine": 0.4}),
    )  # fmt: skip
    assert content["measures"] == {
        "heuristic": [
            {"application": "y", "n": 1, "means": {"m1": 0.4, "m2": 0.6}},
            {"application": "z", "n": 1, "means": {"m1": 0.2, "m2": None}},
        ],
        "same": [{"application": "z", "n": 1, "means": {"cosine": 0.4}}],
    }
    assert "measures-by-application" in draw(json.loads(to_json(content)))


@pytest.mark.parametrize("missing", ["means", "application"])
def test_a_table_of_verdicts_without_measures_has_none_in_its_report(missing):
    table = measured_verdicts(("a", "z", "heuristic", {"m1": 0.2})).drop(columns=missing)
    content = summarise(ONE_ITEM, table)
    assert content["measures"] == {"heuristic": []}
    assert "measures-by-application" not in draw(content)


def test_the_parameters_of_the_verdicts_are_listed_once_in_json_and_page():
    content = measured_report(
        ("a", "z", "heuristic", {}), ("b", "z", "heuristic", {}), ("c", "z", "heuristic", {}, PARAMETERS, 2),
        ("a", "z", "same", {}, '{"cut": 0.2}', 1),
    )  # fmt: skip
    made = {"theta": 0.25, "keep_mean": False, "drop": 0.0}
    assert content["parameters"]["verdicts"] == {
        "heuristic": [{**made, "version": 1}, {**made, "version": 2}], "same": [{"cut": 0.2, "version": 1}],
    }  # fmt: skip
    content = summarise(ONE_ITEM, measured_verdicts(("a", "z", "heuristic", {})).drop(columns="version"))
    assert content["parameters"]["verdicts"] is None
    page = to_html(measured_report(("a", "z", "same", {}, '{"cut": 0.2, "drop": 0.0}', 3)))
    assert "<td>cut = 0.2, drop = 0, version = 3</td>" in page


def test_the_page_holds_the_heat_map_of_the_heuristic_only():
    page = to_html(measured_report(("a", "org/app", "heuristic", {"m1": 0.2512, "m2": 0.1})))
    figure = page[page.index("<svg", page.index('id="confusion-matrices"')) :]
    assert HEAT_MAP in figure
    assert {"org/app (1)", "0.25", "0.10", "▲ above θ = 0.25"} <= set(re.split(r"; |\s{2,}", without_tags(figure)))
    content = measured_report(("a", "z", "same", {"cosine": 0.2}))
    assert HEAT_MAP not in to_html(content)
    assert "measures-by-application" not in draw(content)
    content = measured_report(("a", "z", "heuristic", {"m1": 0.2, "m2": np.nan}), parameters=registry())
    assert to_html(json.loads(to_json(content))) == to_html(content)


@pytest.mark.parametrize("kind", ["classifiers", "measures"])
def test_the_page_lists_every_one_with_all_that_holds_of_it(kind):
    entries = registry()[kind]
    header, *lines = table_of(
        to_html(measured_report(parameters=registry())), f"{kind.capitalize()} and their properties"
    )
    assert header[1:] == [flag.replace("_", " ") for flag in next(iter(entries.values()))]
    assert [line[0] for line in lines] == list(entries)
    assert {len(line) for line in lines} == {len(header)}


@pytest.mark.parametrize(
    ("kind", "known", "row_of", "left_out"),
    [
        ("measures", MEASURES, Measure, {"name", "pairs"}),
        ("classifiers", CLASSIFIERS, Classifier, {"name", "function"}),
    ],
)
def test_the_registry_holds_every_flag_of_every_entry(kind, known, row_of, left_out):
    rows = registry()[kind]
    assert list(rows) == list(known)
    for name, row in rows.items():
        assert row.keys() == {field.name for field in fields(row_of)} - left_out
        assert all(row[flag] == getattr(known[name], flag) for flag in row)
