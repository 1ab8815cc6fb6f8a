"""The commands for the steps of a study as a person runs them: data, remarks and exit codes."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from labeler.studies.commands.opening import INTERIM
from labeler.studies.course import calibrating, coordinating
from labeler.studies.model import PlanParameters, State
from labeler.studies.results import splits
from labeler.studies.store import actions, decisions, events, items, open_database, people
from tests.labeler.commands import run
from tests.making import REVIEWERS, answer_everything, item_name, log, make_study
from tests.sentences import says

SPLIT = {"ada": "similar", "ben": "similar", "cleo": "similar", "dan": "dissimilar"}
LINK = r"http://127\.0\.0\.1:\d+/s/[0-9a-f]{12}/join/[\w-]{32}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Closed files to be copied, one for each stage."""
    folder = tmp_path_factory.mktemp("course")
    make_study(folder / "unplanned.study", n_items=10)
    make_study(folder / "open.study", n_items=10, plan=True)
    calibrated = PlanParameters(seed=3, overlap=0.25, retest=0, calibration=3)
    make_study(folder / "round.study", n_items=10, plan=calibrated)
    label(Path(shutil.copy(folder / "open.study", folder / "labelled.study")), SPLIT)
    shutil.copy(folder / "labelled.study", folder / "closed.study")
    run("state", "close", "--study", folder / "closed.study", "--reason", "every label is there")
    return folder


@pytest.fixture
def study(made, tmp_path):
    """Ten items, four reviewers, planned and open."""
    return Path(shutil.copy(made / "open.study", tmp_path))


@pytest.fixture
def round_(made, tmp_path):
    """The same in a calibration round of three items."""
    return Path(shutil.copy(made / "round.study", tmp_path))


@pytest.fixture
def closed(made, tmp_path):
    """Everything labelled, some items split, and closed."""
    return Path(shutil.copy(made / "closed.study", tmp_path))


def label(path, says):
    with open_database(path) as db:
        answer_everything(db, says)


def asked(path, question, *arguments):
    """Return the result of a service or store function on the study in a file."""
    with open_database(path) as db:
        return question(db, *arguments)


def state_of(path):
    return asked(path, coordinating.get_study).state


def last_event(path):
    with open_database(path) as db:
        actor, action = log(db)[-1]
        return actor, action, events.of_actions(db, [actions.ACTIONS[action]])[-1].details


# --- steps


def test_a_study_is_led_from_open_to_unblinded_and_each_step_is_logged_with_its_reason(study):
    label(study, SPLIT)
    for step, state, action in (
        ("pause", "paused", "pause study"), ("open", "open", "open study"), ("third", "third", "third round"),
        ("close", "closed", "close study"), ("unblind", "unblinded", "unblind study"),
    ):  # fmt: skip
        result = run("state", step, "--study", study, "--reason", f"for {step}")
        assert result.stdout == ""
        standing = "in its third-label round" if state == "third" else state
        assert result.stderr.splitlines()[-1] == f"The study is {standing}."
        assert state_of(study) == state
        actor, what, told = last_event(study)
        assert (actor, what, told["why"]) == ("owner", action, f"for {step}")


# --- the calibration round


def test_the_calibration_round_from_plan_to_opening(round_, tmp_path):
    names = asked(round_, calibrating.item_names)
    reference = tmp_path / "reference.csv"
    pd.DataFrame({"item": names, "label": ["similar", "similar", "dissimilar"]}).to_csv(reference, index=False)
    result = run("calibration", "--study", round_, "--reference", reference, "--required-agreement", 0.5)
    assert result.stderr.splitlines()[:2] == ["3 reference labels saved.", INTERIM]
    assert says(result.stderr.splitlines()[-1], "No reviewer", "calibration item")
    label(round_, SPLIT)

    result = run("calibration", "--study", round_, "--json")
    told = json.loads(result.stdout)
    assert (told["n_items"], told["n_reference"], told["passed"]) == (3, 3, False)
    assert {one["reviewer"]: one["with_reference"]["value"] for one in told["reviewers"]} == pytest.approx(
        {"ada": 2 / 3, "ben": 2 / 3, "cleo": 2 / 3, "dan": 1 / 3}
    )
    assert told["not_passed"] == ["agreement with the reference labels of dan is 33 %, but must be at least 50 %"]
    assert result.stderr == f"{INTERIM}\n"

    refused = run("state", "open", "--study", round_, "--reason", "go on", code=2)
    assert "dan is 33 %" in refused.stderr
    run("state", "open", "--study", round_, "--reason", "dan was trained", "--force")
    assert last_event(round_)[2]["calibration"].startswith("not passed: agreement")
    assert state_of(round_) is State.OPEN


def test_the_calibration_round_as_a_table(round_):
    label(round_, dict.fromkeys(REVIEWERS, "similar"))
    result = run("calibration", "--study", round_)
    head, *rows = result.stdout.splitlines()
    assert head.split("  ") == ["reviewer", "labelled", "of", "equal to the reference"]
    assert [row.split()[:3] for row in rows] == [[name, "3", "3"] for name in REVIEWERS]
    assert says(result.stderr, "Percent agreement", "1.00")
    assert "nothing was compared" in result.stderr.splitlines()[-1]


def test_a_plan_with_a_calibration_round_says_that_it_begins(made, tmp_path):
    path = Path(shutil.copy(made / "unplanned.study", tmp_path))
    result = run("plan", "--study", path, "--seed", 1, "--retest", 0, "--calibration", 2, "--json")
    assert [row["calibration"] for row in json.loads(result.stdout)] == [2] * 4
    assert says(result.stderr, "calibration round has begun")
    assert state_of(path) is State.CALIBRATION


# --- single items


def test_an_item_is_excluded_and_taken_back_in(study):
    result = run("exclude", item_name(1), "--study", study, "--reason", "cut off")
    assert (result.stdout, asked(study, items.by_name, item_name(1)).excluded_why) == ("", "cut off")
    assert says(result.stderr, f"{item_name(1)} is excluded")
    assert run("exclude", item_name(1), "--study", study, "--reason", "x", "--undo").stderr.endswith(
        "included again.\n"
    )
    assert asked(study, items.by_name, item_name(1)).excluded_why is None
    assert last_event(study)[:2] == ("owner", "include item")


def test_split_items_are_listed_without_reviewers_and_decided(closed):
    assert not re.search(r"\b(ada|ben|cleo|dan)\b", run("adjudicate", "--study", closed).stdout)
    assert last_event(closed)[:2] == ("owner", "look")
    found = asked(closed, splits.split_items)
    result = run("adjudicate", "--study", closed, "--json")
    assert [row["item"] for row in json.loads(result.stdout)] == [split.item.name for split in found]
    assert INTERIM in result.stderr
    name, n_open = found[0].item.name, sum(split.remains for split in found)
    result = run("adjudicate", name, "dissimilar", "--study", closed, "--reason", "two levels")
    assert f"{name} is dissimilar" in result.stderr and str(n_open - 1) in result.stderr
    (decision,) = asked(closed, decisions.everything)
    assert (decision.item, decision.category, decision.why) == (name, "dissimilar", "two levels")
    rows = {row["item"]: row["decision"] for row in json.loads(run("adjudicate", "--study", closed, "--json").stdout)}
    assert rows == {split.item.name: "dissimilar" if split.item.name == name else None for split in found}


# --- people


def test_a_reviewer_is_paused_and_goes_on(study):
    run("reviewers", "pause", "ada", "--study", study, "--reason", "on holiday")
    listed = json.loads(run("reviewers", "list", "--study", study, "--json").stdout)
    assert [row["reviewer"] for row in listed if row["paused"]] == ["ada"]
    assert last_event(study) == ("owner", "pause reviewer", {"name": "ada", "why": "on holiday"})
    run("reviewers", "resume", "ada", "--study", study)
    assert not asked(study, people.by_name, "ada").paused


def test_a_reviewer_is_removed_in_numbers_without_names_and_comes_back(study):
    result = run("reviewers", "remove", "ada", "--study", study, "--reason", "changed jobs")
    assert re.match(r"ada: \d+ open items? reassigned, \d+ no longer assigned\.", result.stderr)
    assert not re.search(r"\b(ben|cleo|dan)\b", result.output)
    assert "bench_" not in result.output
    assert not asked(study, people.by_name, "ada").active
    assert "reassigned" in run("reviewers", "resume", "ada", "--study", study).stderr
    assert asked(study, people.by_name, "ada").active
    run("plan", "--study", study, "--verify")


def test_a_successor_gets_a_link_of_their_own(study):
    result = run("reviewers", "replace", "ada", "eve", "--study", study, "--reason", "changed jobs")
    assert re.fullmatch(rf"eve: {LINK}\n", result.stdout)
    assert result.stderr.startswith("ada: ")
    assert asked(study, people.by_name, "eve").active
    run("plan", "--study", study, "--verify")


# --- the plan


def test_a_plan_is_verified_after_every_change(study):
    result = run("plan", "--study", study, "--verify")
    lines = dict(line.split() for line in result.stdout.splitlines())
    assert lines["original"] == lines["current"] == asked(study, coordinating.get_study).plan_hash
    assert lines["changes"] == "0"
    assert says(result.stderr, "Verified")
    run("reviewers", "remove", "ada", "--study", study, "--reason", "left")
    run("reviewers", "add", "--study", study, "eve")
    told = json.loads(run("plan", "--study", study, "--verify", "--json").stdout)
    assert (told["verified"], told["problems"], told["changes"]) == (True, [], 2)
    assert told["hash_drawn"] != told["hash_now"]


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_plan_that_was_tampered_with_ends_with_exit_code_1_and_names_what(study, options):
    with open_database(study) as db:
        db.execute("UPDATE assignments SET position = 99 WHERE assignment_id = 1")
    result = run("plan", "--study", study, "--verify", *options, code=1)
    assert "at a different position" in (result.stderr)
    if options:
        assert json.loads(result.stdout)["verified"] is False


# --- before and after unblinding


def looks(path, out):
    """Return every command that shows what pages hide until unblinding."""
    return [
        ("report", "--study", path, "--out", out, "--quick"),
        ("labels", "--study", path, "--out", out / "labels.csv"),
        ("verdicts", "--study", path, "--only-verdict", "--out", out / "verdicts.csv"),
    ]


@pytest.mark.parametrize("steps", [("close", "pause"), ("close", "unblind")])
def test_reports_and_exports_say_interim_on_standard_error_until_unblinding_and_are_logged(study, tmp_path, steps):
    label(study, {"ada": "similar"})
    for step in steps:
        run("state", step, "--study", study, "--reason", "x")
    for command in looks(study, tmp_path):
        n_before = len(asked(study, log))
        result = run(*command)
        assert (INTERIM in result.stderr.splitlines()) == ("unblind" not in steps)
        assert INTERIM not in result.stdout
        assert {actor for actor, _ in asked(study, log)[n_before:]} == {"owner"}


# --- attention checks


def test_the_attention_checks_as_a_table_a_file_and_json(tmp_path):
    study = make_study(tmp_path / "checked.study", n_items=10, plan=PlanParameters(3, retest=0, attention=2))
    label(study, {"ada": "similar", "ben": "dissimilar"})
    run("state", "close", "--study", study, "--reason", "enough")
    result = run("attention", "--study", study)
    rows = [line.split() for line in result.stdout.splitlines()]
    assert [row[:4] for row in rows[1:3]] == [["ada", "1", "of", "2"], ["ben", "1", "of", "2"]]
    assert says(result.stderr, "For ada, ben, cleo and dan", "cannot tell")
    found = json.loads(run("attention", "--study", study, "--json").stdout)
    assert [row["n_labels"] for row in found["reviewers"]] == [2, 2, 0, 0]
    run("attention", "--study", study, "--out", tmp_path / "checks.csv")
    table = pd.read_csv(tmp_path / "checks.csv")
    assert len(table) == 8
    assert table["right"].value_counts().to_dict() == {True: 2, False: 2}
    assert last_event(study)[1] == "look"
