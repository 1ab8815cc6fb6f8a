"""`labeler measure`, and every method on its measurements."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from labeler.studies.labelling import reviewing
from labeler.studies.model import PlanParameters, Role
from labeler.studies.people import identity
from labeler.studies.preparing import assigning
from labeler.studies.store import items, open_database, runs
from tests.labeler.commands import run, says_in_order
from tests.making import NOW
from tests.sentences import says

PROGRAM = """\
import sys
n = int(sys.argv[1])
for iteration in range(4):
    print(n * (1 + .01 * ((iteration * 7 + int(sys.argv[2])) % 5)))
"""
PLAN = """\
runs = 4
order = "both"
[versions.old]
n = 100
[versions.new]
n = 120
[factors.env]
kind = "environment size"
levels = [0, 64]
[[benchmarks]]
name = "first"
values = "stdout"
unit = "ms"
command = ["{python}", "-I", "-S", "program.py", "{n}", "{run}"]
[[benchmarks]]
name = "second"
values = "stdout"
unit = "ms"
command = ["{python}", "-I", "-S", "program.py", "1{n}", "{run}"]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder of measurements: the plan above, measured once."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "program.py").write_text(PROGRAM)
    (folder / "plan.toml").write_text(PLAN)
    run("measure", folder / "plan.toml", "--out", folder / "results")
    return folder / "results"


def content(command, results, *options):
    return json.loads(run(command, results, *options, "--json", code=None).stdout)


def test_measuring_names_the_result_and_the_next_step(folder):
    (folder / "plan.toml").write_text(PLAN.replace("runs = 4", "runs = 1"))
    first = run("measure", "--max-runs", 6)
    assert says(first.stdout, "6 of 16 runs", "results/measurements.csv")
    assert "same command" in first.stdout
    rest = run("measure")
    assert says(rest.stdout, "16 of 16 runs", "10")
    assert says(
        rest.stdout,
        "Next: labeler order results",
        "labeler contexts results",
        "--baseline old",
        "labeler spread results",
    )
    assert says(run("measure").stdout, "16 of 16 runs", "(0")


def test_a_dry_run_runs_nothing_and_says_what_it_would_do_and_could_tell(folder):
    shown = run("measure", "--dry-run").stdout
    assert says(shown, "64 runs: 2 benchmarks", "2 versions", "2 contexts", "4 runs")
    assert "first, old, env=0, fixed order, position 1\n  second, old, env=0, fixed order, position 2" in shown
    assert "The time is unknown" in shown
    assert says(shown, "4 runs in each order", "0.021", "8 tests")
    assert not (folder / "results").exists()
    run("measure", "--max-runs", 12)
    after = run("measure", "--dry-run").stdout
    assert "12 runs are done." in after
    assert "runs so far" in after
    assert says(after, "Versions:", "8 runs per context", "first", "second")


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("runs = 1", "One run does not show … Order: cannot be tested, because … because there is only one."),
        ('runs = 20\norder = "both"', "Order: 1 test of 20 runs in fixed against 20 in random order."),
        ('runs = 5\nversions = ["a", "b"]', "Versions: with 5 runs per version and context"),
        ("contexts = 2\n[factors.gc]\nlevels = [1, 2, 3]", "2 of 3 combinations … Contexts: 2 for one version"),
        ('reset_command = ["true"]', "Reset: before each run."),
        ('reset = "pass"\nreset_command = ["true"]', "Reset: once before each pass of all benchmarks."),
        ('altered = ["parse", "sort"]\nruns = 2',
         "x baseline and 2 altered methods x 1 context x 2 runs … Contexts: cannot be compared … 2 altered methods"),
    ],
)  # fmt: skip
def test_a_dry_run_says_what_a_plan_has_and_lacks(folder, lines, words):
    slots = [slot for slot in ("gc", "altered") if slot in lines] or ["version"]
    benchmark = f'[[benchmarks]]\nname = "b"\ncommand = ["echo", "{{{slots[0]}}}"]\n'
    (folder / "plan.toml").write_text(f"{lines}\n{benchmark}")
    shown = run("measure", "--dry-run")
    assert [part for part in words.split(" … ") if not says_in_order(shown.stdout, part)] == []
    assert ("does not say when the reset command runs" in shown.stderr) == (lines == 'reset_command = ["true"]')


def test_the_example_is_written_once_and_runs(folder):
    assert "example.toml written." in run("measure", "example.toml", "--init").stderr
    assert "3 of 160 runs" in run("measure", "example.toml", "--out", "e", "--max-runs", 3).stdout


def test_a_plan_without_any_measurement_fails(folder):
    (folder / "plan.toml").write_text('[[benchmarks]]\nname = "b"\ncommand = ["/no/such"]')
    done = run("measure", code=1)
    assert says(done.stderr, "Failed: b, random order", "position 1: '/no/such'", "No such file")
    assert "b failed 3 times" in done.stderr
    assert (
        "3 runs failed. The column `failure` gives the reasons.\n7 runs left out, because a benchmark failed too often."
        in done.stdout
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_request_to_stop_ends_at_once_and_the_same_command_goes_on(folder, number):
    (folder / "wait.py").write_text(  # the second run waits for a file that the test writes after the stop
        "import os, time\ntime.sleep(60 if os.path.exists('ran') and not os.path.exists('go') else 0)\nopen('ran', 'w')"
    )
    (folder / "plan.toml").write_text(
        'runs = 3\n[[benchmarks]]\nname = "b"\ncommand = ["{python}", "-S", "wait.py"]\n'
        '[[benchmarks]]\nname = "c"\nvalues = "cpu"\ncommand = ["{python}", "-S", "-c", "pass"]\n'
    )
    with subprocess.Popen(
        [sys.executable, "-m", "labeler", "measure"], stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background inherits it ignored
    ) as child:  # fmt: skip
        table, deadline = folder / "results" / "measurements.csv", time.monotonic() + 60
        while time.monotonic() < deadline and not (table.exists() and table.read_bytes().count(b"\n") > 1):
            time.sleep(0.01)
        child.send_signal(number)
        said = child.communicate(timeout=300)[1]
    assert child.returncode == 130
    assert "run is not recorded" in said
    (folder / "go").touch()
    assert "6 of 6 runs are in" in run("measure").stdout


def test_order_reads_the_measurements(results):
    answer = content("order", results)
    assert answer["n_tests"] == 8
    assert {(len(test["fixed"]["values"]), len(test["random"]["values"])) for test in answer["tests"]} == {(4, 4)}


def test_contexts_finds_the_slowdown_in_every_context_and_no_column_is_a_factor_by_accident(results):
    answer = content("contexts", results, "--baseline", "old")
    for sweep in answer["benchmarks"]:
        assert [context["name"] for context in sweep["contexts"]] == ["env=0", "env=64"]
        factor = 1.2 if sweep["name"] == "first" else 1.12 / 1.1
        assert sweep["speedup"]["value"] == pytest.approx(1 / factor, rel=0.01)
        assert {factor["name"] for factor in sweep["factors"]} == {"env"}


def test_the_other_methods_read_the_measurements(results):
    assert len(content("spread", results)["environments"]) == 2
    check = content("check", results)
    assert "first @ old @ env=0" in json.dumps(check)


def test_a_study_of_it_keeps_the_conditions_of_its_runs(results, tmp_path):
    study = tmp_path / "s.study"
    run("init", "--study", study)
    run("import", results, "--study", study)
    with open_database(study) as db:
        kept = {item.name: runs.conditions_of_item(db, item.item_id) for item in items.all_items(db)}
    assert set(kept) == {"first @ old", "first @ new", "second @ old", "second @ new"}
    of_one = kept["first @ old"]
    assert len(of_one["run"]) == 16
    assert set(of_one["env"]) == {"0", "64"}
    assert {"fixed", "random"} == set(of_one["order_type"])
    assert all(of_one["recorded:load_before"])
    assert run("order", "--study", study).stdout == run("order", results).stdout


def but_for_random_letters(picture):
    """Return all names and texts of a picture, without its code and the numbers as base64."""
    panels = [panel | {"runs": [list(run) for run in panel["runs"]]} for panel in picture["panels"]]
    return repr(picture | {"code": "", "panels": panels})


def test_reviewers_see_nothing_of_the_conditions(results, tmp_path):
    study = tmp_path / "s.study"
    run("init", "--study", study)
    run("import", results, "--study", study)
    with open_database(study) as db:
        for name in ("ada", "ben"):
            identity.add_person(db, name, [Role.REVIEWER], actor="carol", now=NOW)
        assigning.confirm_plan(db, PlanParameters(seed=1, overlap=1, retest=0), actor="carol", now=NOW)
        reviewer_id = next(person.person_id for person in identity.everyone(db) if person.name == "ada")
        offers = reviewing.review_queue(db, reviewer_id).offers
        seen = [but_for_random_letters(reviewing.task_data(db, offer)) for offer in offers]
        kept = [runs.conditions_of_item(db, item.item_id) for item in items.all_items(db)]
    assert len(seen) > 0 and all("'panels': [{" in text for text in seen)
    names = {name for conditions in kept for name in conditions} - {"run", "version"}  # a plot also has a version
    texts = {
        text
        for one in kept
        for texts in one.values()
        for text in texts
        if len(text) > 4 and not text.replace(".", "").isdigit()
    }
    assert "order_type" in names and {"random", "fixed"} <= texts
    assert [(word, text[:200]) for text in seen for word in names | texts if word in text] == []


LEAVES_STATE = """\
import sys
from pathlib import Path
name, run = sys.argv[1], int(sys.argv[2])
noise = 1 + 0.001 * (run * 7 % 11)
print((12 if name == "b" and Path("left").exists() else 10) * noise)
if name == "a":
    Path("left").touch()
"""


@pytest.mark.parametrize(("when", "finds"), [("pass", ["b"]), ("run", [])])
def test_the_effect_of_a_file_that_a_leaves_is_found_only_with_a_reset_per_pass(folder, when, finds):
    (folder / "leaves.py").write_text(LEAVES_STATE)
    (folder / "plan.toml").write_text(
        f'runs = 5\nseed = 2\norder = "both"\nreset = "{when}"\nreset_command = ["rm", "-f", "left"]\n'
        + "".join(
            f'[[benchmarks]]\nname = "{name}"\nvalues = "stdout"\nunit = "ms"\n'
            f'command = ["{{python}}", "-I", "-S", "leaves.py", "{name}", "{{run}}"]\n'
            for name in "ab"
        )
    )
    assert "before each run" not in run("measure").stderr
    answer = content("order", folder / "results")
    assert [test["benchmark"] for test in answer["tests"] if test["differs"]] == finds
