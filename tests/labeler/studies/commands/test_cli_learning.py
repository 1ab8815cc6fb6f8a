"""Learning and comparing on the command line: from a study, from its files, and using a model."""

import csv
import json
import re
import shutil

import numpy as np
import pytest

from labeler.studies.store import actions, events, open_database
from labeler.studies.verdicts import computing
from tests.labeler.commands import run
from tests.making import import_all, make_study, result_file

N_APPLICATIONS, PER_APPLICATION = 5, 12
LEARN = ("learn", "--features", "m1,spread,level_odd", "--name", "level")


def item_name(number):
    return f"org__app{number % N_APPLICATIONS}#bench{number}#"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A study of 60 items with verdicts and labels of two reviewers who follow the level, and its files."""
    folder = tmp_path_factory.mktemp("learning")
    path = folder / "all.study"
    make_study(path, n_items=0, reviewers=())
    rng = np.random.default_rng(1)
    rows, files = [["item", "reviewer", "label", "application"]], []
    for number in range(N_APPLICATIONS * PER_APPLICATION):
        gap = rng.uniform(0, 0.3)
        level = np.array([1, 1, 1 + gap])[:, None]
        noise = 1 + rng.uniform(0.01, 0.15) * rng.exponential(1, (3, 60))  # of its own size, so that no two are twins
        files.append(result_file(item_name(number), (level * noise).tolist()))
        label = "dissimilar" if gap + 0.05 * rng.standard_normal() > 0.15 else "similar"
        rows += [[item_name(number), name, label, f"org/app{number % N_APPLICATIONS}"] for name in ("ada", "ben")]
    with open_database(path) as db:
        import_all(db, *files)
        computing.compute_verdicts(db, actor="carol")
    with (folder / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    run("labels", "--study", path, "--import", folder / "labels.csv")
    run("verdicts", "--study", path, "--out", folder / "verdicts.csv")
    run(*LEARN, "--study", path, "--out", folder / "report")
    shutil.copy(folder / "report" / "model.json", folder)
    return folder


@pytest.fixture
def study(folder, tmp_path):
    return shutil.copy(folder / "all.study", tmp_path / "all.study")


def test_an_account_is_written_with_its_figures_and_the_scores_behind_it(folder):
    names = {path.relative_to(folder / "report").as_posix() for path in (folder / "report").rglob("*.*")}
    assert {"learning.html", "learning.md", "learning.json", "model.json", "out-of-fold.csv"} <= names
    assert {f"figures/{name}.svg" for name in ("areas", "calibration", "coefficients")} <= names
    page = (folder / "report" / "learning.html").read_text()
    assert page.count("<svg") == 3
    assert "None" not in page
    with (folder / "report" / "out-of-fold.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == N_APPLICATIONS * PER_APPLICATION
    content = json.loads((folder / "report" / "learning.json").read_text())
    own = next(row for row in content["positive"]["arena"]["standings"] if row["name"] == "learned")
    right = sum(row["learned verdict"] == row["consensus"] for row in rows)
    assert own["accuracy"]["value"] == pytest.approx(right / len(rows))
    assert own["auc"]["value"] > 0.8


@pytest.mark.slow
def test_the_files_of_a_study_teach_the_same_model(folder, tmp_path):
    files = ("--labels", folder / "labels.csv", "--verdicts", folder / "verdicts.csv")
    run(*LEARN, *files, "--out", tmp_path / "model.json")
    ours, theirs = (json.loads((place / "model.json").read_text()) for place in (folder, tmp_path))
    assert theirs["formula"] == ours["formula"]
    assert theirs["threshold"] == pytest.approx(ours["threshold"])


def test_a_model_judges_a_study_and_result_files(folder, study, tmp_path):
    printed = run("verdicts", "--study", study, "--model", folder / "model.json", "--json").output
    counts = {row["classifier"]: row for row in json.loads(printed[printed.index("[") :])}
    assert counts["learned:level"]["none"] == 0
    assert counts["learned:level"]["dissimilar"] > 20
    with open_database(study) as db:
        assert events.of_actions(db, [actions.APPLY_MODEL])[0].details["classifier"] == "learned:level"
    run("verdicts", "--study", study, "--remove", "learned:level")
    with open_database(study) as db:
        assert "apply model" in {event.action for event in events.of_actions(db, [actions.APPLY_MODEL])}
    runs = (np.array([1, 1, 1.5])[:, None] * np.random.default_rng(1).uniform(1, 1.1, (3, 60))).tolist()
    (tmp_path / "new.json").write_text(json.dumps(runs))
    checked = run("check", tmp_path / "new.json", "--model", folder / "model.json", code=1).output
    assert "learned:level calls the" in checked


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("--labels", "labels.csv"), "Give both --labels and --verdicts"),
        (
            ("--labels", "few.csv", "--verdicts", "verdicts.csv"),
            "There are not enough data to learn from: 20 items have",
        ),
        (("--labels", "nameless.csv", "--verdicts", "verdicts.csv"), "nameless.csv.*column 'application' is missing"),
        (("--labels", "labels.csv", "--verdicts", "odd.csv"), r"odd.csv.*line 2.*m1 '[^']*x' is not a number"),
    ],
)
def test_what_cannot_be_learnt_from_is_refused_in_words(folder, monkeypatch, tmp_path, arguments, why):
    for name in ("all.study", "labels.csv", "verdicts.csv"):
        shutil.copy(folder / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    labels = (tmp_path / "labels.csv").read_text().splitlines()
    (tmp_path / "few.csv").write_text("\n".join(labels[:41]) + "\n")
    (tmp_path / "nameless.csv").write_text("\n".join(line.rpartition(",")[0] for line in labels) + "\n")
    with (tmp_path / "verdicts.csv").open() as file:
        rows = list(csv.reader(file))
    place = rows[0].index("m1")
    rows[1][place] += "x"
    with (tmp_path / "odd.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert re.search(why, " ".join(run("learn", *arguments, code=2).output.split()))


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("--features", "m9", "Unknown feature 'm9'. Choose from: m1,"),
        ("--features", "m1,m1", "The list names a feature twice."),
        ("--name", "a b", "must contain only letters, digits"),
    ],
)
def test_an_invalid_option_is_refused_before_the_study_is_read(study, option, value, why):
    with open_database(study) as db:
        before = len(events.of_actions(db, [actions.LEARN]))
    assert why in " ".join(run("learn", "--study", study, option, value, code=2).output.split())
    with open_database(study) as db:
        assert len(events.of_actions(db, [actions.LEARN])) == before


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (("verdicts", "--study", "all.study", "--model", "odd.json"), "odd.json: .*is not JSON"),
        (("verdicts", "--study", "all.study", "--model", "none.json"), "none.json"),
        (("verdicts", "--study", "all.study", "--model", "model.json", "--only-verdict"), "needs all measures"),
        (("verdicts", "--study", "all.study", "--model", "model.json", "--warmup", "5"), "with --warmup 0"),
    ],
)
def test_models_that_cannot_be_used_are_refused_in_words(folder, monkeypatch, tmp_path, command, why):
    for name in ("all.study", "model.json"):
        shutil.copy(folder / name, tmp_path / name)
    (tmp_path / "odd.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    assert re.search(why, " ".join(run(*command, code=2).output.split()))
