"""The page Classifiers, and adding items on the page Plan, under AppTest."""

import csv
import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.studies.course import course
from labeler.studies.handover import exchange
from labeler.studies.model import PlanParameters
from labeler.studies.plan.lifecycle import Step
from labeler.studies.preparing import assigning
from labeler.studies.questions import SIMILAR
from labeler.studies.results import reporting
from labeler.studies.results.learning import has_positive_of_two
from labeler.studies.store import open_database
from labeler.studies.ui.coordinator import results
from labeler.studies.verdicts import computing
from tests.labeler.studies.ui.pages import button, checked, coordinator_page, texts
from tests.making import NOW, import_all, make_study, result_file
from tests.sentences import says

CAROL = {"actor": "carol", "now": NOW}


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """A study of 64 items with verdicts in eight applications: open with a part planned, and unblinded with labels."""
    folder = tmp_path_factory.mktemp("classifiers")
    paths = {name: folder / f"{name}.study" for name in ("open", "unblinded")}
    rng = np.random.default_rng(1)
    files, rows = [], [["item", "reviewer", "label"]]
    for number in range(64):
        gap = rng.uniform(0, 0.3)
        name = f"org__app{number % 8}#bench{number}#"
        files.append(result_file(name, (np.array([1, 1, 1 + gap])[:, None] * rng.uniform(1, 1.1, (3, 60))).tolist()))
        rows += [[name, reviewer, "dissimilar" if gap > 0.15 else "similar"] for reviewer in ("ada", "ben")]
    with (folder / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    make_study(folder / "judged.study", n_items=0)
    with open_database(folder / "judged.study") as db:
        import_all(db, *files)
        computing.compute_verdicts(db, actor="carol")
    for name, path in paths.items():
        with open_database(shutil.copy(folder / "judged.study", path)) as db:
            first = 20 if name == "open" else None
            assigning.confirm_plan(db, PlanParameters(seed=5, overlap=0, retest=0), first=first, **CAROL)
            if name == "unblinded":
                exchange.import_label_file(db, folder / "labels.csv", **CAROL)
                for step in (Step.CLOSE, Step.UNBLIND):
                    course.change_state(db, step, why="done", force=True, **CAROL)
    return paths


def test_before_unblinding_the_page_says_when_it_fills(studies):
    page = checked(coordinator_page("Results", "Classifiers", studies["open"], "carol"))
    assert "The comparison of classifiers appears here." in texts(page)
    assert not page.button


def test_too_few_items_to_learn_from_are_an_error_on_the_page(studies, tmp_path):
    study = shutil.copy(studies["unblinded"], tmp_path / "few.study")
    with open_database(study) as db:
        db.execute("UPDATE items SET excluded_why = 'noise' WHERE item_id > 6")
    page = checked(coordinator_page("Results", "Classifiers", study, "carol"))
    page = checked(button(page, results.LEARN).click().run())
    assert says(page.error[0].value, "6 items", "60")
    assert not page.get("download_button")


@pytest.mark.slow
def test_a_classifier_is_learned_and_its_files_can_be_taken_away(studies):
    page = checked(coordinator_page("Results", "Classifiers", studies["unblinded"], "carol"))
    page = checked(button(page, results.LEARN).click().run())
    labels = [one.proto.label for one in page.get("download_button")]
    assert any(label.endswith(".html") for label in labels)
    assert "Download model.json" in labels
    assert "None" not in texts(page)


def test_items_are_added_on_the_page_plan(studies):
    page = checked(coordinator_page("Study", "Plan", studies["open"], "carol"))
    assert "not in the plan yet: 44" in texts(page)
    page = checked(button(page, "Add items to the plan").click().run())
    with open_database(studies["open"]) as db:
        assert len(assigning.item_batches(db).waiting) == 4


def test_only_a_question_with_a_positive_category_of_two_offers_costs_and_a_monotone_model(studies):
    page = checked(coordinator_page("Results", "Classifiers", studies["unblinded"], "carol"))
    assert [field.label for field in page.number_input] == ["Cost ratio"]
    assert has_positive_of_two(SIMILAR)
    assert not has_positive_of_two(replace(SIMILAR, positive=None))
    third = replace(SIMILAR.categories[0], name="other", key="o")
    assert not has_positive_of_two(replace(SIMILAR, categories=(*SIMILAR.categories, third)))


@pytest.fixture(scope="module")
def report(studies):
    """The report of the unblinded study."""
    with open_database(studies["unblinded"]) as db:
        return reporting.gathered_study(db, reporting.QUICK, **CAROL).report()


def test_page_and_command_show_the_numbers_of_the_report(studies, report):
    page = checked(coordinator_page("Results", "Classifiers", studies["unblinded"], "carol"))
    shown = page.dataframe[0].value.set_index("classifier")
    ran = CliRunner().invoke(
        main, ["classifiers", "--json", "--study", str(studies["unblinded"])], catch_exceptions=False
    )
    told = {row["classifier"]: row for row in json.loads(ran.stdout)}
    assert list(told) == list(report.classifiers) == list(shown.index)
    for name, row in report.classifiers.items():
        expected = {
            "sensitivity": row.positive.sensitivity.value, "specificity": row.positive.specificity.value,
            "accuracy": row.against.accuracy.value, "p": row.majority_rule.p_holm,
        }  # fmt: skip
        assert {column: shown.loc[name, column] for column in expected} == pytest.approx(expected)
        assert {column: told[name][column] for column in expected} == expected
        assert (shown.loc[name, "verdict"], told[name]["verdict"]) == (row.majority_rule.verdict,) * 2


def test_kappa_on_the_overview_is_that_of_the_report(studies, report):
    page = checked(coordinator_page("Study", "Overview", studies["unblinded"], "carol"))
    kappa = report.agreement.fleiss_kappa
    metric = next(metric for metric in page.metric if metric.label == "Fleiss' kappa")
    assert metric.value == f"{kappa.value:.2f}"
    assert f"{kappa.low:.2f} to {kappa.high:.2f}" in texts(page)


def test_page_and_command_compare_pairs_of_classifiers_alike(studies):
    page = checked(coordinator_page("Items", "All items", studies["unblinded"], "carol", **{"fold-classifiers": True}))
    command = ["classifiers", "--pairs", "--json", "--study", str(studies["unblinded"])]
    told = json.loads(CliRunner().invoke(main, command, catch_exceptions=False).stdout)
    (table,) = [table.value for table in page.dataframe if "finds" in table.value]
    pd.testing.assert_frame_equal(table, pd.DataFrame(told), check_dtype=False)
