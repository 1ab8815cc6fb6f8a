"""Every command as a person runs it: output, exit code, and one clear line per error."""

import json
import re
import shlex

import click
import pandas as pd
import pytest

from analysis.raters.agreement._formulas import NO_PAIR
from analysis.runs.classifiers import CLASSIFIERS
from labeler.cli import main
from labeler.studies.store import open_database
from tests.labeler.commands import run, write_results
from tests.making import log
from tests.sentences import says

SECRET_LINK = r"http://127\.0\.0\.1:\d+/s/[0-9a-f]{12}/join/[\w-]{32}"


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "cache.study"
    run("init", "--study", path)
    return path


@pytest.fixture
def results(tmp_path):
    """A folder with three small ICPE files."""
    return write_results(tmp_path / "results")


@pytest.fixture
def planned(study, results):
    run("import", "--study", study, results)
    run("reviewers", "add", "--study", study, "ada", "ben")
    run("plan", "--study", study, "--seed", 1, "--retest", 0)
    return study


def all_commands(group=main, prefix=()):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from all_commands(command, (*prefix, name))
        else:
            yield (*prefix, name), command


@pytest.mark.parametrize("name", [name for name, _ in all_commands()], ids=" ".join)
def test_every_command_has_help_with_an_example_of_itself(name):
    text = run(*name, "--help").output
    assert f"Example: labeler {' '.join(name)}" in text


def test_examples_in_the_help_are_valid_commands():
    for _name, command in all_commands():
        example, *_redirected = re.split(" >>? ", command.epilog.removeprefix("Example: labeler "))
        words = shlex.split(example)
        context = main.make_context("labeler", words, resilient_parsing=False)
        group, rest = main, words
        while isinstance(group, click.Group):
            group, rest = group.commands[rest[0]], rest[1:]
        group.make_context("command", rest, parent=context)


def test_init_makes_a_study_and_prints_the_coordinators_link(tmp_path):
    result = run("init", "--study", tmp_path / "new.study", "--name", "New", "--coordinator", "grace")
    assert re.fullmatch(rf"grace: {SECRET_LINK}\n", result.stdout)
    assert "Next: labeler import" in result.stderr
    again = run("init", "--study", tmp_path / "new.study", code=2)
    assert again.stderr.startswith(f"Error: {tmp_path / 'new.study'} already exists. ")


def test_the_last_import_is_taken_back(study, results):
    run("import", "--study", study, results)
    would = run("import", "--undo", "--dry-run", "--study", study).stderr
    assert says(would, "Would be taken back: 3 items from 3 files, imported by owner")
    did = run("import", "--undo", "--study", study).stderr
    assert did == would.replace("Would be taken back", "Taken back")


def test_reviewers_get_a_link_each_and_a_name_once(study):
    result = run("reviewers", "add", "--study", study, "ada", "ben", "--url", "https://labels.example.org/")
    assert re.fullmatch(r"(\w+: https://labels\.example\.org/s/[0-9a-f]{12}/join/[\w-]{32}\n){2}", result.stdout)
    assert json.loads(run("reviewers", "list", "--study", study, "--json").stdout) == [
        {"reviewer": name, "active": True, "paused": False} for name in ("ada", "ben")
    ]  # fmt: skip
    assert re.match(rf"ada: {SECRET_LINK}", run("reviewers", "link", "ada", "--study", study).stdout)
    assert re.match(rf"eve: {SECRET_LINK}", run("coordinators", "add", "eve", "--study", study).stdout)
    assert re.match(rf"eve: {SECRET_LINK}", run("coordinators", "link", "eve", "--study", study).stdout)


def test_the_same_seed_gives_the_same_plan_and_labels_come_in_once(study, results, tmp_path):
    run("import", "--study", study, results)
    run("reviewers", "add", "--study", study, "ada", "ben", "cleo")
    first, second, other = (run("plan", "--study", study, "--seed", seed) for seed in (3, 3, 4))
    hashes = [re.search(r"Plan hash (\w{64})", result.stderr)[1] for result in (first, second, other)]
    assert hashes[0] == hashes[1] != hashes[2]
    assert "retest items" in first.stderr and "Seed 3" in first.stderr
    rows = json.loads(run("plan", "--study", study, "--paper-design", "--json").stdout)
    assert [row["in all"] for row in rows] == [2, 2, 2]
    labels = tmp_path / "labels.csv"
    labels.write_text("item,reviewer,label\norg__project#bench.Method1#size=1,ada,similar\n")
    assert "1 label imported, 0 already" in run("labels", "--study", study, "--import", labels).stderr
    assert "0 labels imported, 1 already" in run("labels", "--study", study, "--import", labels).stderr


def test_verdicts_are_computed_once_and_exported(planned, tmp_path):
    first = run("verdicts", "--study", planned, "--json")
    counts = {row["classifier"]: row for row in json.loads(first.stdout)}
    assert set(counts) == set(CLASSIFIERS) == {"heuristic", "heuristic-printed", "same", "spread", "kruskal"}
    assert all(row["dissimilar"] + row["similar"] == 3 for row in counts.values())
    assert "3 of 3 items" in first.stderr
    assert "0 of 3 items" in run("verdicts", "--study", planned).stderr
    run("verdicts", "--study", planned, "--out", tmp_path / "gone" / "v.csv", code=2)
    with open_database(planned) as db:
        assert "export verdicts" not in [action for _actor, action in log(db)]
    run("verdicts", "--study", planned, "--out", tmp_path / "v.csv")
    table = pd.read_csv(tmp_path / "v.csv")
    assert table.columns.tolist()[:16] == [
        "item", "benchmark", "classifier", "verdict", "score", "threshold", "m1", "m2", "m3", "m4", "m5", "clusters",
        "iterations", "parameters", "version", "error",
    ]  # fmt: skip
    assert len(table) == 3 * len(CLASSIFIERS)
    assert run("verdicts", "--study", planned, "--out", "-").stdout == (tmp_path / "v.csv").read_text()


def test_an_empty_study_has_nothing_to_judge_but_a_report(study, tmp_path):
    assert says(run("verdicts", "--study", study, code=2).stderr, "no measurements")
    run("report", "--study", study, "--out", tmp_path / "out")
    content = json.loads((tmp_path / "out" / "report.json").read_text())
    assert content["agreement"]["coefficients"]["fleiss_kappa"]["reason"] == NO_PAIR


def test_replicate_shows_that_every_number_agrees(tmp_path):
    rows = json.loads(run("replicate", "--json", "--out", tmp_path / "r").stdout)
    assert {row["agrees"] for row in rows} == {"yes"}
    assert {row["where"] for row in rows} >= {"Table 1", "Table 2", "Table 3"}
    assert "arbitrary" in (tmp_path / "r" / "report.html").read_text()
    assert "Table 1" in run("replicate").stdout


def test_status_as_a_table(planned):
    result = run("status", "--study", planned)
    assert result.stdout.splitlines()[0].split() == [
        *("reviewer", "done", "assigned", "not", "sure", "seconds", "per", "item", "without", "picture"),
        *("labels", "per", "day"),
        *("last", "seen", "(UTC)", "hours", "left", "estimated", "finish", "state"),
    ]
    assert "open, 3 items, 0 answers" in result.stderr


def test_a_taken_port_is_refused_in_words(planned):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert (
            f"Cannot listen on 127.0.0.1, port {port}"
            in run("serve", "--study", planned, "--port", port, code=2).stderr
        )
        assert f"port {port}" in run("demo", "--port", port, code=2).stderr
