"""The commands for the steps of a study as a person runs them: data, remarks and exit codes."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pandas as pd
import pytest

from labeler.cli.common import INTERIM
from labeler.model import Kind, PlanParameters, State
from labeler.service.plan import assigning
from labeler.service.results import splits
from labeler.service.study import calibrating, coordinating
from labeler.store import assignments, decisions, events, items, open_database, people
from tests.labeler.commands import run
from tests.labeler.conftest import NOW, REVIEWERS, answer_everything, item_name, log, make_study
from tests.sentences import says

SPLIT = {"ada": "similar", "ben": "similar", "cleo": "similar", "dan": "dissimilar"}
LINK = r"http://127\.0\.0\.1:8501/join/[\w-]{32}"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Closed files to be copied, one for each stage."""
    folder = tmp_path_factory.mktemp("course")
    make_study(folder / "unplanned.study", n_items=10)
    make_study(folder / "open.study", n_items=10, plan=True)
    shutil.copy(folder / "unplanned.study", folder / "round.study")
    with open_database(folder / "round.study") as db:
        parameters = PlanParameters(seed=3, overlap=0.25, retest=0, calibration=3)
        assigning.confirm_plan(db, parameters, actor="carol", now=NOW)
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
        return actor, action, events.of_actions(db, [action])[-1].details


# --- what cannot be done

ITEM = item_name(1)
REFUSED = [  # stage, command, and what the message says; the exit code is 2
    ("open", "state unblind --reason now", ("The study is open", "unblind", "third, close, pause")),
    ("open", "state open", ()),
    ("open", "state sideways --reason x", ()),
    ("round", "calibration --required-agreement 1.5", ()),
    ("round", "calibration --required-agreement x", ()),
    ("round", "calibration --on nothing", ()),
    ("round", "calibration --reference .", ()),
    ("round", "calibration --required-agreement 0.5 --reference reference.csv",
     ("Error: reference.csv, line 2:", "'perhaps' is not a label. Use one of: similar, dissimilar")),
    ("open", "exclude nowhere --reason x", ("no item 'nowhere'",)),
    ("open", f"exclude '{ITEM}'", ()),
    ("closed", "adjudicate {split}", ("To decide an item",)),
    ("closed", "adjudicate {split} dissimilar", ("To decide an item",)),
    ("closed", "adjudicate {split} dissimilar --reason ' '", ("1 to 1000 characters",)),
    ("closed", "adjudicate {split} 'not sure' --reason x", ("'not sure' is not a category",)),
    ("closed", "adjudicate nowhere similar --reason x", ("There is no item 'nowhere'",)),
    ("closed", "adjudicate {agreed} similar --reason x", ("not a split item",)),
    ("labelled", "adjudicate {split} similar --reason x", ("only while the study is closed",)),
    ("open", "reviewers pause nobody --reason x", ()),
    ("open", "reviewers remove carol --reason x", ()),
    ("open", "reviewers replace ada ada --reason x", ()),
    ("open", "reviewers replace ada carol --reason x", ()),
    ("open", "reviewers remove ada", ()),
    ("open", "reviewers pause ada", ()),
    ("open", "reviewers replace ada eve", ()),
    ("closed", "reviewers remove ada --reason x", ("It is closed",)),
    ("unplanned", "plan --verify", ("Error:", "no plan yet", "labeler plan")),
]  # fmt: skip


def everything(path):
    """Return all that these commands could change."""
    with open_database(path) as db:
        study = coordinating.get_study(db)
        return study, log(db), people.all_people(db), decisions.everything(db), items.all_items(db)


@pytest.mark.parametrize(("stage", "command", "words"), REFUSED, ids=[f"{row[0]}: {row[1]}" for row in REFUSED])
def test_what_cannot_be_done_is_refused_in_words_and_changes_nothing(
    made, tmp_path, monkeypatch, stage, command, words
):
    monkeypatch.chdir(tmp_path)
    Path("reference.csv").write_text("item,label\nx,perhaps\n")
    path = Path(shutil.copy(made / f"{stage}.study", tmp_path))
    split = {one.item.name for one in asked(path, splits.split_items)} if "{" in command else set()
    agreed = {item.name for item in asked(path, items.all_items)} - split
    names = {"split": shlex.quote(min(split, default="")), "agreed": shlex.quote(min(agreed))}
    before = everything(path)
    result = run(*shlex.split(command.format(**names)), "--study", path, code=2)
    assert [part for part in words if not says(result.stderr, part)] == []
    assert everything(path) == before


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


def test_the_third_round_names_who_it_waits_for_and_what_it_assigned(study):
    assert says(
        run("state", "third", "--study", study, "--reason", "split", code=2).stderr, "label: ada, ben", "cleo, dan"
    )
    label(study, SPLIT)
    result = run("state", "third", "--study", study, "--reason", "split")
    rows = [kept for kept in asked(study, assignments.everything) if kept.assignment.kind is Kind.THIRD]
    assert says(result.stderr, f"{len(rows)} items", "third labels")


def test_closing_says_what_has_no_label(study):
    result = run("state", "close", "--study", study, "--reason", "time is up")
    n_assigned = len(asked(study, assignments.everything))
    assert says(result.stderr, f"without {n_assigned} of the planned labels")


def test_to_open_twice_says_so(study):
    assert says(run("state", "open", "--study", study, "--reason", "x").stderr, "was already open")


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


def test_a_gate_on_the_reviewers_among_themselves(round_):
    run("calibration", "--study", round_, "--required-agreement", 0.9, "--on", "reviewers")
    label(round_, SPLIT)
    result = run("calibration", "--study", round_)
    assert says(result.stderr, "Not passed:", "50 %", "90 %")
    assert says(
        run("calibration", "--study", round_, "--required-agreement", 0.1, code=2).stderr, "no longer be changed"
    )


def test_a_plan_with_a_calibration_round_says_that_it_begins(tmp_path):
    make_study(tmp_path / "x.study")
    result = run("plan", "--study", tmp_path / "x.study", "--seed", 1, "--retest", 0, "--calibration", 2, "--json")
    assert [row["calibration"] for row in json.loads(result.stdout)] == [2] * 4
    assert says(result.stderr, "calibration round has begun")
    assert state_of(tmp_path / "x.study") is State.CALIBRATION
    refused = run("plan", "--study", tmp_path / "x.study", "--calibration", 7, code=2)
    assert says(refused.stderr, "6 of 8 items", "not 7")


# --- single items


def test_an_item_is_excluded_and_taken_back_in(study):
    result = run("exclude", item_name(1), "--study", study, "--reason", "cut off")
    assert (result.stdout, asked(study, items.by_name, item_name(1)).excluded_why) == ("", "cut off")
    assert says(result.stderr, f"{item_name(1)} is excluded")
    refused = run("exclude", item_name(1), "--study", study, "--reason", "again", code=2)
    assert says(refused.stderr, item_name(1), "already excluded. Reason: cut off")
    assert run("exclude", item_name(1), "--study", study, "--reason", "x", "--undo").stderr.endswith(
        "included again.\n"
    )
    assert asked(study, items.by_name, item_name(1)).excluded_why is None
    assert last_event(study)[:2] == ("owner", "include item")


def test_split_items_are_listed_and_decided(closed):
    found = asked(closed, splits.split_items)
    result = run("adjudicate", "--study", closed, "--json")
    assert [row["item"] for row in json.loads(result.stdout)] == [split.item.name for split in found]
    assert INTERIM in result.stderr
    name, n_open = found[0].item.name, sum(split.remains for split in found)
    result = run("adjudicate", name, "dissimilar", "--study", closed, "--reason", "two levels")
    assert f"{name} is dissimilar" in result.stderr and str(n_open - 1) in result.stderr
    (decision,) = asked(closed, decisions.everything)
    assert (decision.item, decision.category, decision.why, decision.decided_by) == (
        name, "dissimilar", "two levels", "owner",
    )  # fmt: skip
    rows = {row["item"]: row for row in json.loads(run("adjudicate", "--study", closed, "--json").stdout)}
    assert rows[name]["decision"] == "dissimilar"
    assert [row["decision"] for other, row in rows.items() if other != name] == [None] * (len(rows) - 1)


def test_split_items_as_a_table_name_no_reviewer(closed):
    text = run("adjudicate", "--study", closed).stdout
    assert text.splitlines()[0].split()[0] == "item"
    assert not re.search(r"\b(ada|ben|cleo|dan|eve)\b", text)


def test_to_look_at_split_items_is_logged(closed):
    n_before = len(asked(closed, log))
    run("adjudicate", "--study", closed)
    assert asked(closed, log)[n_before:] == [("owner", "look")]


def test_to_look_at_the_calibration_round_is_logged(round_):
    n_before = len(asked(round_, log))
    run("calibration", "--study", round_)
    assert asked(round_, log)[n_before:] == [("owner", "look")]


# --- people


def test_a_reviewer_is_paused_and_goes_on(study):
    run("reviewers", "pause", "ada", "--study", study, "--reason", "on holiday")
    listed = {row["reviewer"]: row for row in json.loads(run("reviewers", "list", "--study", study, "--json").stdout)}
    assert (listed["ada"]["paused"], listed["ben"]["paused"]) == (True, False)
    assert last_event(study) == ("owner", "pause reviewer", {"name": "ada", "why": "on holiday"})
    assert (
        "ada is already paused." in run("reviewers", "pause", "ada", "--study", study, "--reason", "x", code=2).stderr
    )
    run("reviewers", "resume", "ada", "--study", study)
    assert not asked(study, people.by_name, "ada").paused
    assert "ada already takes part." in run("reviewers", "resume", "ada", "--study", study, code=2).stderr


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


def test_a_late_joiner_is_told_in_numbers(study):
    result = run("reviewers", "add", "--study", study, "eve")
    assert re.fullmatch(rf"eve: {LINK}\n", result.stdout)
    assert "eve: " in result.stderr
    assert "reassigned" in result.stderr


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


def test_imported_labels_are_said_to_belong_to_no_plan(study, tmp_path):
    path = tmp_path / "l.csv"
    pd.DataFrame([{"item": item_name(1), "reviewer": "zed", "label": "similar"}]).to_csv(path, index=False)
    run("labels", "--study", study, "--import", path)
    result = run("plan", "--study", study, "--verify")
    assert "1 assignment of imported labels" in result.stderr


# --- before and after unblinding


def looks(path, out):
    """Return every command that shows what pages hide until unblinding."""
    return [
        ("report", "--study", path, "--out", out, "--quick"),
        ("labels", "--study", path, "--out", out / "labels.csv"),
        ("verdicts", "--study", path, "--only-verdict", "--out", out / "verdicts.csv"),
    ]


@pytest.mark.parametrize("steps", [(), ("pause",), ("close",), ("close", "pause")])
def test_before_unblinding_report_and_exports_say_interim_on_standard_error_and_are_logged(study, tmp_path, steps):
    label(study, {"ada": "similar"})
    for step in steps:
        run("state", step, "--study", study, "--reason", "x")
    for command in looks(study, tmp_path):
        n_before = len(asked(study, log))
        result = run(*command)
        assert INTERIM in result.stderr.splitlines()
        assert INTERIM not in result.stdout
        assert {actor for actor, _ in asked(study, log)[n_before:]} == {"owner"}


def test_after_unblinding_they_do_not(closed, tmp_path):
    run("state", "unblind", "--study", closed, "--reason", "the end")
    for command in looks(closed, tmp_path):
        n_before = len(asked(closed, log))
        assert INTERIM not in run(*command).output
        assert len(asked(closed, log)) > n_before


def test_a_report_says_in_its_pages_whether_it_is_interim(closed, tmp_path):
    run("report", "--study", closed, "--out", tmp_path / "before", "--quick")
    run("state", "unblind", "--study", closed, "--reason", "the paper is due")
    run("report", "--study", closed, "--out", tmp_path / "after", "--quick")
    before, after = (json.loads((tmp_path / name / "report.json").read_text()) for name in ("before", "after"))
    assert (before["study"]["interim"], after["study"]["interim"]) == (True, False)
    assert after["course"]["unblinded"]["why"] == "the paper is due"
    assert "the paper is due" in (tmp_path / "after" / "report.md").read_text()
    assert before["agreement"] == after["agreement"]


def test_exported_labels_with_decisions_give_the_same_report_as_the_study(closed, tmp_path):
    for split in asked(closed, splits.split_items)[:2]:
        run("adjudicate", split.item.name, "dissimilar", "--study", closed, "--reason", "two levels")
    run("labels", "--study", closed, "--out", tmp_path / "l.csv")
    exported = pd.read_csv(tmp_path / "l.csv")
    assert exported["kind"].tolist()[-2:] == ["adjudicated"] * 2
    run("report", "--study", closed, "--out", tmp_path / "a", "--quick")
    run("report", "--labels", tmp_path / "l.csv", "--out", tmp_path / "b", "--quick")
    one, other = (json.loads((tmp_path / name / "report.json").read_text()) for name in "ab")
    assert one["consensus"] == other["consensus"]
    assert one["agreement"] == other["agreement"]
    assert one["consensus"]["majority"]["adjudicated"] == 2
