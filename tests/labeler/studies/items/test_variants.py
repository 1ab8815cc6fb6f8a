"""Classifiers with other thresholds beside the default."""

import json

import numpy as np
import pytest

from analysis.runs.classifiers import CLASSIFIERS
from labeler.errors import InputError
from labeler.files import checking
from labeler.studies.questions import SIMILAR
from labeler.studies.store import events, items, runs
from labeler.studies.verdicts import classifying, computing, stored_verdicts
from labeler.studies.verdicts.classifying import JudgeOptions
from tests.labeler.commands import run
from tests.labeler.packages import STEADY
from tests.making import WHO, import_all, report_of, result_file, series


def compute(db, *names, **options):
    return computing.compute_verdicts(db, options=JudgeOptions(**options), variants=names, actor="carol")


def classifiers(db):
    return sorted(set(stored_verdicts.verdict_table(db)["classifier"]) - set(CLASSIFIERS))


def remove(db, *names):
    return stored_verdicts.remove_classifiers(db, names, **WHO)


def test_thresholds_of_one_kind_are_settings_of_every_classifier_that_has_it():
    wanted = {"theta": [0.3, 0.25, 0.3], "cut": [0.15]}
    assert classifying.variants(wanted) == ["heuristic@0.30", "heuristic-printed@0.30", "same@0.15"]
    with pytest.raises(InputError, match=r"Theta.*got -1"):
        classifying.variants({"theta": [-1]})


def test_a_setting_stands_beside_the_default_with_its_parameters(study):
    compute(study, "heuristic@0.90", "same@0.01")
    table = stored_verdicts.verdict_table(study).set_index(["item", "classifier"])
    for item in items.all_items(study):
        measured = runs.of_item(study, item.item_id)
        for name, threshold in (("heuristic", 0.9), ("same", 0.01)):
            row, default = table.loc[item.name, f"{name}@{threshold:.2f}"], table.loc[item.name, name]
            direct = CLASSIFIERS[name].at(threshold)(measured)
            assert (row["verdict"], row["score"], row["threshold"]) == (direct.verdict, default["score"], threshold)
            assert row["clusters"] == direct.clusters
            assert f"{threshold}" in row["parameters"]
    counts = {row["classifier"]: row for row in stored_verdicts.verdict_counts(table.reset_index(), SIMILAR.names)}
    assert (counts["same"]["threshold"], counts["same@0.01"]["threshold"]) == (0.2, 0.01)
    assert counts["same@0.01"]["dissimilar"] > counts["same"]["dissimilar"]
    assert '"settings": ["heuristic@0.90", "same@0.01"]' in events.table(study)["details"].iloc[-1]


def test_a_study_keeps_its_settings_for_items_that_come_later_and_for_other_options(study):
    compute(study, "heuristic@0.30")
    import_all(study, result_file("later", series(9)))
    assert computing.n_missing(study) == 1
    compute(study)
    compute(study, warmup=5)
    table = stored_verdicts.verdict_table(study)
    rows = table[table["classifier"] == "heuristic@0.30"]
    assert len(rows) == 9
    assert set(rows["parameters"]) == {'{"drop": 5.0, "keep_mean": false, "theta": 0.3}'}
    compute(study, only_verdict=True)
    lazy = stored_verdicts.verdict_table(study)
    assert lazy[lazy["classifier"] == "heuristic@0.30"]["verdict"].notna().all()


def test_a_setting_can_be_removed_and_is_not_computed_again(study):
    compute(study, "heuristic@0.30", "same@0.15")
    with pytest.raises(InputError, match=r"same is built in"):
        remove(study, "same@0.15", "same")
    with pytest.raises(InputError, match=r"no verdicts of 'mine'. You can remove: heuristic@0.30, same@0.15\."):
        remove(study, "same@0.15", "mine")
    assert classifiers(study) == ["heuristic@0.30", "same@0.15"]
    assert remove(study, "same@0.15") == 8
    compute(study)
    assert classifiers(study) == ["heuristic@0.30"]


def test_a_classifier_has_one_say_in_which_items_to_send_first(study):
    compute(study)
    before = stored_verdicts.most_disputed(stored_verdicts.brief_table(study), SIMILAR)
    compute(study, "same@0.01", "heuristic@0.90")
    table = stored_verdicts.brief_table(study)
    assert stored_verdicts.most_disputed(table, SIMILAR) == before
    assert {"same@0.01", "same"} <= {row["classifier"] for row in stored_verdicts.classifier_agreement(table, SIMILAR)}


def test_verdicts_from_elsewhere_cannot_take_the_name_of_a_setting_and_can_be_removed(study, tmp_path):
    path = tmp_path / "v.csv"
    path.write_text(f"item,verdict\n{items.all_items(study)[0].name},similar\n")
    with pytest.raises(InputError, match=r"computes heuristic@0.30 itself"):
        stored_verdicts.import_verdicts(study, path, "heuristic@0.30", **WHO)
    stored_verdicts.import_verdicts(study, path, "theirs", **WHO)
    assert remove(study, "theirs") == 1
    assert classifiers(study) == []


def test_the_report_shows_each_setting_with_what_it_was_computed_with(study):
    compute(study, "heuristic@0.30")
    content = report_of(study)
    assert content["parameters"]["verdicts"]["heuristic@0.30"] == [
        {"theta": 0.3, "keep_mean": False, "drop": 0.0, "version": 1}
    ]
    assert set(content["classifiers"]) == {*CLASSIFIERS, "heuristic@0.30"}


def test_the_command_adds_settings_and_removes_them(study):
    study.close()
    result = run("verdicts", "--study", str(study.path), "--theta", "0.3", "--theta", "0.25", "--json")
    names = {row["classifier"] for row in json.loads(result.stdout)}
    assert {"heuristic@0.30", "heuristic-printed@0.30"} == names - set(CLASSIFIERS)
    removed = run("verdicts", "--study", str(study.path), "--remove", "heuristic@0.30")
    assert "Removed heuristic@0.30" in removed.stderr
    assert "8 verdicts" in removed.stderr
    assert "heuristic@0.30" not in removed.stdout
    run("verdicts", "--study", str(study.path), "--theta", "1.3", code=2)


@pytest.mark.parametrize(
    ("options", "classifier"),
    [
        ({}, "spread"),
        ({"theta": 0.3}, "heuristic@0.30"),
        ({"theta": 0.25}, "heuristic"),
        ({"cut": 0.15}, "same@0.15"),
        ({"classifier": "heuristic-printed", "theta": 0.4}, "heuristic-printed@0.40"),
    ],
)
def test_a_check_takes_the_classifier_to_which_a_threshold_belongs(options, classifier):
    assert checking.with_classifier(checking.Rules(), **options).classifier == classifier
    with pytest.raises(InputError, match="heuristic or heuristic-p"):
        checking.with_classifier(checking.Rules(), "same", theta=0.3)
    with pytest.raises(InputError, match="only one of these"):
        checking.with_classifier(checking.Rules(), theta=0.3, cut=0.2)


def test_the_check_of_files_judges_by_the_threshold_asked_for(tmp_path):
    measured = np.exp(np.random.default_rng(1).normal(0, 0.1, (4, 100)))  # noise: M1 and M2 near 1, M3 near 0.7
    path = tmp_path / "b.json"
    path.write_text(str(measured.tolist()))
    at_default, at_90 = (run("check", str(path), "--theta", theta, "-v", code=None) for theta in ("0.25", "0.9"))
    assert (at_default.exit_code, at_90.exit_code) == (1, 0)
    assert "heuristic calls the 4 runs dissimilar" in " ".join(at_default.stdout.split())
    assert "heuristic@0.90" in at_90.stdout


FAILING = "def judge(runs):\n    raise ValueError(f'it needs {runs.k + 1} runs')\n"


def test_verdicts_of_a_package_can_be_removed_once_it_is_uninstalled(study, site):
    site.install("steady", STEADY)
    compute(study)
    with pytest.raises(InputError, match=r"package steady 1.0 provides .* steady.*Uninstall the package"):
        remove(study, "steady")
    site.uninstall("steady")
    compute(study)
    assert classifiers(study) == ["steady"]
    assert remove(study, "steady") == 8
    assert classifiers(study) == []


def test_the_command_says_why_verdicts_are_missing_and_which_package_is_ignored(study, site):
    study.close()
    site.install("failing", FAILING)
    site.install("clash", STEADY, points={"same": "clash:judge", "heuristic@0.30": "clash:judge"})
    told = run("verdicts", "--study", str(study.path), "--theta", "0.3").stderr
    assert "8 verdicts could not be computed" in told
    assert "failing, 8 items: it needs 4 runs" in told
    for name in ("same", "heuristic@0.30"):
        assert f"clash 1.0 registers a classifier named '{name}'. This name is built in" in told
