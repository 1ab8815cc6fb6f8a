"""Learning in a study with its own question about runs: from labels to a model, and from the model to verdicts."""

import csv
import json

import numpy as np
import pytest

from labeler.studies.course import coordinating
from labeler.studies.questions import read_question
from labeler.studies.store import open_database, verdicts
from tests.labeler.commands import run
from tests.making import NOW, import_all, make_study, result_file

CATEGORIES = ("steady", "one apart", "noisy")
N_APPLICATIONS, N_ITEMS = 6, 66


def write_question(path, shows="runs", categories=CATEGORIES, positive=None):
    head = f'text = "What do these runs do?"\nshows = "{shows}"\n' + (f'positive = "{positive}"\n' if positive else "")
    path.write_text(head + "".join(
        f'[[category]]\nname = "{name}"\nkey = "{key}"\nmeaning = "They do."\n'
        for name, key in zip(categories, "sax", strict=False)
    ))  # fmt: skip
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return learned(tmp_path_factory.mktemp("categories"), CATEGORIES)


def learned(folder, categories, positive=None):
    """Make a study of 66 items without verdicts, whose categories follow from the runs, and learn from its labels."""
    path = write_question(folder / "question.toml", categories=categories, positive=positive)
    question = read_question(path.read_text(), "question.toml")
    path, rng = folder / "own.study", np.random.default_rng(1)
    coordinating.create_study(path, name="Own", question=question, coordinator="carol", plan_secret="", now=NOW)
    rows, files = [["item", "reviewer", "label", "application"]], []
    for n in range(N_ITEMS):
        category = categories[rng.integers(len(categories))]
        level = np.array([1, 1, 1.5 if category == "one apart" else 1])[:, None]
        runs = level * rng.uniform(1, 3 if category == "noisy" else 1.1, (3, 60))
        name = f"org__app{n % N_APPLICATIONS}#bench{n}#"
        files.append(result_file(name, runs.tolist()))
        rows += [[name, reviewer, category, f"org/app{n % N_APPLICATIONS}"] for reviewer in ("ada", "ben")]
    with open_database(path) as db:
        import_all(db, *files)
    with (folder / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    run("labels", "--study", path, "--import", folder / "labels.csv")
    run("learn", "--study", path, "--features", "m1,spread,level_odd,segments_range", "--out", folder / "report")
    return folder


def test_a_model_of_own_categories_is_learned_and_judges_the_study(folder):
    content = json.loads((folder / "report" / "learning.json").read_text())
    assert content["held_out"]["accuracy"]["value"] > 0.9
    assert (folder / "report" / "learning.html").read_text().count("<svg") == 1
    run("verdicts", "--study", folder / "own.study", "--model", folder / "report" / "model.json")
    with open_database(folder / "own.study") as db:
        stored = verdicts.table(db)
    assert set(stored["classifier"]) == {"learned:model"}
    assert set(stored["verdict"]) == set(CATEGORIES)
    with (folder / "labels.csv").open() as file:
        labels = {row["item"]: row["label"] for row in csv.DictReader(file)}
    right = [labels[item] == verdict for item, verdict in zip(stored["item"], stored["verdict"], strict=True)]
    assert np.mean(right) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("positive", [None, "one apart"])
def test_two_categories_of_own_names_are_learned_under_these_names(tmp_path, positive):
    names = ("steady", "one apart")
    learned(tmp_path, names, positive)
    content = json.loads((tmp_path / "report" / "learning.json").read_text())
    assert content["held_out"]["accuracy"]["value"] > 0.9
    page = (tmp_path / "report" / "learning.html").read_text()
    assert "one apart" in page and "similar" not in page
    assert (content["positive"] is None) == (positive is None)
    assert ("A missed item that is one apart costs 1" in page) == (positive is not None)
    run("verdicts", "--study", tmp_path / "own.study", "--model", tmp_path / "report" / "model.json")
    with open_database(tmp_path / "own.study") as db:
        stored = verdicts.table(db)
    assert set(stored["verdict"]) == set(names)
    with (tmp_path / "labels.csv").open() as file:
        labels = {row["item"]: row["label"] for row in csv.DictReader(file)}
    right = [labels[item] == verdict for item, verdict in zip(stored["item"], stored["verdict"], strict=True)]
    assert np.mean(right) > 0.9


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ("learn", "--study", "own.study", "--monotone"),
            "--monotone needs a question with two categories, one of them positive.",
        ),
        (("learn", "--study", "own.study", "--cost-ratio", "2"), "--cost-ratio needs a question with two categories"),
        (("learn", "--study", "history.study"), "they show one benchmark over its versions"),
        (("verdicts", "--study", "history.study", "--model", "report/model.json"), "they show one benchmark over"),
        (
            ("verdicts", "--study", "similar.study", "--model", "report/model.json"),
            "the model gives the categories steady, one apart and noisy, but the question of this study has",
        ),
        (
            ("check", "labels.csv", "--model", "report/model.json"),
            "noisy, but labeler check needs a model of the default question.",
        ),
    ],
)
def test_what_makes_no_sense_for_other_categories_is_refused_in_words(folder, monkeypatch, arguments, why):
    monkeypatch.chdir(folder)
    if "history.study" in arguments and not (folder / "history.study").exists():
        run("init", "--study", "history.study", "--question", write_question(folder / "history.toml", "history"))
    if "similar.study" in arguments:
        make_study(folder / "similar.study", n_items=1)
    assert why in " ".join(run(*arguments, code=2).output.split())
