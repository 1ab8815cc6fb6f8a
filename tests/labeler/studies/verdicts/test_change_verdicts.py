"""The rules for a change judge the items of a study that compares two versions, beside the people."""

import json
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from analysis.runs.classifiers import CHANGE_RULES, Verdict
from labeler import plugins
from labeler.config import bundled
from labeler.files.formats import Source
from labeler.studies.course import coordinating
from labeler.studies.items import importing
from labeler.studies.labelling import own_result, reviewing
from labeler.studies.model import NewLabel, PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.preparing import assigning
from labeler.studies.results import next_items, reporting
from labeler.studies.screen.kinds import QUESTIONS
from labeler.studies.store import items, open_database
from labeler.studies.verdicts import computing, stored_verdicts
from tests.conftest import GOLDEN
from tests.making import NOW, WHO, copy_of, end_study

LEVELS = (1.2, 1.0, 0.8)  # of the version after the change: slower, no change, faster
CATEGORIES = ("slower", "no change", "faster")


@pytest.fixture
def changes(unplanned):
    """A planned study of 12 changes."""
    assigning.confirm_plan(unplanned, PlanParameters(7, per_item=3, overlap=0, retest=0), **WHO)
    return unplanned


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """The file of a study of 12 changes with five runs on each side and the verdicts of the rules, without a plan."""
    rng = np.random.default_rng(4)
    rows = []
    for number in range(12):
        for version, level in (("old", 1.0), ("new", LEVELS[number % 3])):
            for run in range(5):
                values = level * (1 + 0.01 * rng.standard_normal() + 0.01 * rng.standard_normal(12))
                rows += [f"b{number:02d},{version},{run},{i},{value:.6f}" for i, value in enumerate(values)]
    path = tmp_path_factory.mktemp("changes") / "change.study"
    coordinating.create_study(
        path, name="Change", question=QUESTIONS["change"], coordinator="carol", plan_secret="", now=NOW
    )
    with open_database(path) as db:
        for name in ("ada", "ben", "cleo"):
            identity.add_person(db, name, [Role.REVIEWER], **WHO)
        table = importing.upload("t.csv", "\n".join(["benchmark,version,run,iteration,value", *rows]).encode())
        list(importing.import_files(db, [table], selection=importing.RunSelection(before="old", after="new"), **WHO))
        computed = computing.compute_verdicts(db, actor="carol")
        assert (computed.n_items, computed.n_without_verdict) == (12, 0)
    return path


@pytest.fixture
def unplanned(judged, tmp_path):
    with copy_of(judged, tmp_path) as db:
        yield db


def expected(name):
    return CATEGORIES[int(name[1:]) % 3]


def label_all(db):
    now, names = NOW, {item.item_id: item.name for item in items.all_items(db)}
    question = coordinating.get_study(db).question
    for person in identity.everyone(db):
        while Role.REVIEWER in person.roles and (offers := reviewing.review_queue(db, person.person_id).offers):
            task, now = offers[0], now + timedelta(seconds=9)
            panels = reviewing.panels(db, task)
            first, second = (np.mean(group["values"]) for group in panels[-1]["groups"])
            is_swapped = (second > first) != (expected(names[task.item_id]) == "slower")
            truth = expected(names[task.item_id])
            answer = truth if truth == "no change" or not is_swapped else question.mirrored(truth)
            sent = NewLabel(f"{task.code}-0", task.code, task.revision, answer, 900)
            reviewing.submit(db, person.person_id, sent, now=now)


def test_every_rule_judges_every_change_and_the_report_ranks_the_rules(changes):
    table = stored_verdicts.brief_table(changes)
    assert set(table["classifier"]) == set(CHANGE_RULES)
    by_welch = table[table["classifier"] == "change-welch"].set_index("item")["verdict"]
    assert all(verdict == expected(name) for name, verdict in by_welch.items() if expected(name) != "no change")
    question = coordinating.get_study(changes).question
    pairs = stored_verdicts.classifier_agreement(table, question)  # compared without labels
    assert len(pairs) == len(CHANGE_RULES) * (len(CHANGE_RULES) - 1)
    assert set(pairs[0]) == {"classifier", "other", "n", "agree", "kappa"}
    assert all({"faster", "no change", "slower"} <= set(row) for row in stored_verdicts.most_disputed(table, question))
    label_all(changes)
    end_study(changes)
    ada = next(person.person_id for person in identity.everyone(changes) if person.name == "ada")
    own_result.allow(changes, "ada", True, **WHO)
    found = own_result.own_result(changes, ada)  # has labels in terms of the picture
    assert (found.n_with_majority, len(found.items)) == (12, 12)
    for item in found.items:
        first, second = (np.mean(group["values"]) for group in reviewing.panels(changes, item.task)[-1]["groups"])
        by_eye = "slower" if second > 1.1 * first else "faster" if second < 0.9 * first else "no change"
        assert (item.label, set(item.others)) == (by_eye, {by_eye})
    files = reporting.files_of_study(changes, reporting.QUICK, **WHO)
    numbers = json.loads(files["report.json"])
    assert set(numbers["classifiers"]) == set(CHANGE_RULES)
    assert numbers["classifiers"]["change-10%"]["against"]["accuracy"]["value"] == 1
    assert set(numbers["parameters"]["classifiers"]) == set(CHANGE_RULES)
    assert numbers["parameters"]["measures"] is None
    assert numbers["sides"]["n_items"] > 0
    assert "| Welch's test | 12 |" in files["report.md"]
    assert "## Side bias" in files["report.md"]
    exported = stored_verdicts.export_table(changes, **WHO)
    assert len(exported) == 12 * len(CHANGE_RULES)
    assert "m1" not in exported


def test_a_rule_of_another_package_judges_changes(changes, monkeypatch):
    def median_rule(before, after, *, lower_is_better):
        old, new = (np.median(np.concatenate(side)) for side in (before, after))
        return Verdict("x", "slower" if new > 1.1 * old else "faster" if new < 0.9 * old else "no change")

    def broken(before, after, *, lower_is_better):
        return Verdict("x", "dissimilar")

    found = {
        name: plugins.Plugin(name, "some package 1", function)
        for name, function in (("medians", median_rule), ("broken", broken), ("change-welch", broken))
    }
    monkeypatch.setattr("labeler.studies.verdicts.classifying.change_plugins", lambda: found)
    computing.compute_verdicts(changes, actor="carol")
    table = stored_verdicts.brief_table(changes).set_index(["classifier", "item"])
    assert all(table.loc["medians", "verdict"].loc[f"b{i:02d}"] == CATEGORIES[i % 3] for i in range(12))
    assert set(table.loc["broken", "error"]) == {
        "the classifier gave the verdict 'dissimilar', which is not one of: slower, no change, faster"
    }
    assert table.loc["change-welch", "verdict"].notna().all()


def test_the_guide_shows_what_its_measurements_and_labels_give(tmp_path):
    folder = bundled("data", "changes")
    question = QUESTIONS["change"]
    coordinating.create_study(
        tmp_path / "c.study", name="c", question=question, coordinator="carol", plan_secret="", now=NOW
    )
    with open_database(tmp_path / "c.study") as db:
        chosen = importing.RunSelection(before="21.3", after="24.2")
        table = Source("measurements.parquet", folder / "measurements.parquet")
        (result,) = importing.import_files(
            db, [table], importing.ReadOptions(better=("lower",)), selection=chosen, **WHO
        )
        assert len(result.names) == 18
        computing.compute_verdicts(db, actor="carol")
        computed = stored_verdicts.brief_table(db).set_index(["item", "classifier"])["verdict"].to_dict()
    stored = pd.read_csv(folder / "verdicts.csv").set_index(["item", "classifier"])["verdict"].to_dict()
    assert computed == stored
    files = reporting.files_of_files(
        folder / "labels.csv", folder / "verdicts.csv", options=reporting.QUICK, question=question
    )
    guide = (GOLDEN.parent.parent / "docs" / "change-study.md").read_text()
    rows = [line.split(" | ") for line in files["report.md"].splitlines() if line.startswith("| ")]
    outcomes = {row[0]: row[4] for row in rows if len(row) == 5 and row[2].startswith("always")}
    ranked = [row for row in rows if row[0] in outcomes and len(row) == 6 and "%" in row[2]]
    assert len(ranked) == len(CHANGE_RULES)
    for row in ranked:  # the guide has columns of both tables
        assert " | ".join([*row[:4], outcomes[row[0]]]) in guide
    words = " ".join(line.removeprefix(">").strip() for line in guide.splitlines())
    (bias,) = (line for line in files["report.md"].splitlines() if "Side bias: " in line)
    assert bias in words


def test_the_next_items_of_any_question_are_those_on_which_rules_differ(unplanned):
    assigning.confirm_plan(unplanned, PlanParameters(7, per_item=3, overlap=0, retest=0), first=4, **WHO)
    added = next_items.next_items(unplanned, 4, random_share=0.25, **WHO)
    assert (added.n_random, added.n_chosen) == (1, 3)
    assert added.sentences[1] == "No model was used: a model chooses items only for the default question."
    label_all(unplanned)
    end_study(unplanned)
    page = reporting.files_of_study(unplanned, reporting.QUICK, **WHO)["report.md"]
    assert "## Random and chosen items" in page
    assert "Share of" not in page.split("## Random and chosen items")[1].split("## ")[0]
