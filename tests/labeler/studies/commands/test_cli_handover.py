"""The commands that export and import labels and create an anonymised copy, as a person runs them."""

import pytest

from labeler.studies.preparing import verifying
from labeler.studies.store import labels, open_database, people
from tests.labeler.commands import run
from tests.making import answer_everything, answer_next, make_study
from tests.sentences import says


@pytest.fixture
def pair(tmp_path):
    """A planned study and a copy of it."""
    study, copy = tmp_path / "cache.study", tmp_path / "copy.study"
    make_study(study, plan=True)
    with open_database(study) as db:
        db.backup(copy)
    return study, copy


def answer(path, name, said):
    with open_database(path) as db:
        answer_next(db, name, said)


def n_answers(path):
    with open_database(path) as db:
        return labels.n_labels(db)


def test_labels_given_in_a_copy_are_added_once_by_export_and_import(pair, tmp_path):
    study, copy = pair
    answer(study, "ben", "similar")
    answer(copy, "ada", "dissimilar")
    run("labels", "--study", copy, "--out", tmp_path / "labels.csv")
    joining = ("labels", "--study", study, "--import", tmp_path / "labels.csv")
    assert run(*joining).stderr == "1 label imported, 0 already in the study.\n"
    assert run(*joining).stderr == "0 labels imported, 1 already in the study.\n"
    with open_database(study) as db:
        assert labels.table(db)[["reviewer", "label"]].to_numpy().tolist() == [
            ["ben", "similar"],
            ["ada", "dissimilar"],
        ]
        assert verifying.verify_plan(db).problems == ()


def test_two_answers_to_the_same_item_are_refused_with_the_line(pair, tmp_path):
    study, copy = pair
    answer(study, "ada", "similar")
    answer(copy, "ada", "dissimilar")
    run("labels", "--study", copy, "--out", tmp_path / "labels.csv")
    refused = run("labels", "--study", study, "--import", tmp_path / "labels.csv", code=2)
    assert "labels.csv: Line 2: the next revision of 'ada'" in refused.stderr
    assert n_answers(study) == 1


def test_anonymising_says_what_was_written_and_what_to_read_again(pair, tmp_path):
    study, _ = pair
    done = run("anonymise", "--study", study, "--out", tmp_path / "out.study")
    wrote, times = done.stderr.splitlines()
    assert wrote == f"Wrote {tmp_path / 'out.study'}: 4 reviewers and 1 coordinator renamed, 0 comments left out."
    assert "has the date and time of every answer, because" in times
    assert done.stdout == ""
    with open_database(tmp_path / "out.study") as out:
        assert [person.name for person in people.all_people(out)] == ["C1", "R1", "R2", "R3", "R4"]
    options = ("--keep-comments", "--names-of-benchmarks", "drop")
    kept = run("anonymise", "--study", study, "--out", tmp_path / "other.study", *options)
    assert "0 comments" in kept.stderr
    assert "exists already" in run("anonymise", "--study", study, "--out", tmp_path / "out.study", code=2).stderr


@pytest.mark.parametrize("form", ["wide", "label-studio", "potato"])
def test_labels_go_out_and_into_another_study_in_the_form_of_another_tool(tmp_path, form):
    study, other, file = tmp_path / "a.study", tmp_path / "b.study", tmp_path / "labels"
    make_study(study, plan=True)
    with open_database(study) as db:
        answer_everything(db, {"ada": "similar", "ben": "dissimilar", "cleo": "similar", "dan": "not sure"})
    result = run("labels", "--study", study, "--out", file, "--layout", form)
    assert "first labels written" in result.stderr
    make_study(other, n_items=0, reviewers=())
    assert says(run("labels", "--study", other, "--import", file, "--layout", form).stderr, "ada, ben, cleo")
    again = run("labels", "--study", other, "--import", file, "--layout", form)
    assert "0 labels imported" in again.stderr
