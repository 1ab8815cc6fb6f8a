"""The commands that merge copies of a study and create an anonymised copy, as a person runs them."""

import json

import pytest

from labeler.store import labels, open_database, people
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


def test_merging_says_how_many_answers_came_in(pair):
    study, copy = pair
    answer(copy, "ada", "similar")
    dry = run("merge", "--study", study, copy, "--dry-run")
    assert (dry.stdout, dry.stderr) == ("", "1 answer would be merged, 0 already in the study.\n")
    assert n_answers(study) == 0
    assert says(run("merge", "--study", study, copy).stderr, "1 answer merged", "0 already")
    again = run("merge", "--study", study, copy, "--json")
    assert (again.stdout, again.stderr) == ("[]\n", "0 answers merged, 1 already in the study.\n")


def test_conflicts_are_a_table_and_the_exit_code_is_1_after_the_rest_went_in(pair):
    study, copy = pair
    answer(study, "ada", "similar")
    answer(copy, "ada", "dissimilar")
    answer(copy, "ben", "similar")
    dry = run("merge", "--study", study, copy, "--dry-run", "--json", code=1)
    assert n_answers(study) == 1
    merged = run("merge", "--study", study, copy, code=1)
    assert n_answers(study) == 2
    assert merged.stdout.split()[:8] == [
        "item", "reviewer", "kind", "revision", "into", "into_utc", "from", "from_utc",
    ]  # fmt: skip
    assert says(merged.stderr, "1 answer merged", "0 already")
    assert says(merged.stderr, "Not merged: 1 answer of")
    (row,) = json.loads(run("merge", "--study", study, copy, "--json", code=1).stdout)
    assert [row] == json.loads(dry.stdout)
    assert (row["reviewer"], row["into"], row["from"]) == ("ada", "similar", "dissimilar")


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
    assert again.stderr.startswith("0 labels imported")
