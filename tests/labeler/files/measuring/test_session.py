"""Measure a plan: the written rows, the recorded conditions, and continuing after an interruption at any moment."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from analysis.methods.spread import api_benchmarking_score
from labeler.errors import InputError
from labeler.files.formats import Source, read_benchmarks, sources
from labeler.files.measuring.plan import ScheduledRun, n_steps, schedule
from labeler.files.measuring.plan_file import parse_plan
from labeler.files.measuring.results import RunResult
from labeler.files.measuring.session import LOCK, done_so_far, measure, seconds_left
from labeler.files.measuring.table import NAME, MeasurementTable, read_done
from tests.labeler.files.measuring.commands import PYTHON, but_for_times, measured, plan_of, rows_of

TWO_OF_EACH = f"""
runs = 2
order = "both"
seed = 7
inherit = []
versions = ["old", "new"]
[factors.env]
kind = "environment size"
levels = [0, 100]
[[benchmarks]]
name = "one"
command = [{PYTHON}, "'{{version}}'"]
[[benchmarks]]
name = "many"
values = "stdout"
unit = "ms"
several_per_line = true
command = [{PYTHON}, "print(1, 2, 3)"]
"""
FILE = 'values = "file"\nfile = "out.json"'
STDOUT = 'values = "stdout"'


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """The rows of the plan above, measured without an interruption, and the folder of its commands."""
    folder = tmp_path_factory.mktemp("unbroken")
    return measured(folder / "unbroken", parse_plan(TWO_OF_EACH), folder), folder


def test_the_table_has_every_run_with_its_place_and_conditions(unbroken):
    plan, (rows, _) = parse_plan(TWO_OF_EACH), unbroken
    by_step = {}
    for row in rows:
        by_step.setdefault(int(row["recorded:step"]), []).append(row)
    for step in schedule(plan):
        of_run = by_step[step.number]
        first = of_run[0]
        assert (first["benchmark"], first["version"], first["run"]) == (step.benchmark, step.version, str(step.round))
        assert (first["order_type"], first["order_position"]) == (step.order_type, str(step.position))
        assert (first["predecessor"], first["factor:env"]) == (step.predecessor, step.factors["env"])
        assert first["failure"] == "" and first["recorded:exit_status"] == "0"
        if step.benchmark == "many":
            assert [(row["iteration"], row["value"], row["unit"]) for row in of_run] == [
                ("0", "1.0", "ms"), ("1", "2.0", "ms"), ("2", "3.0", "ms"),
            ]  # fmt: skip
        else:
            assert float(first["value"]) == pytest.approx(float(first["recorded:duration"]), abs=1e-6)
    assert len(by_step) == n_steps(plan) == 32


def test_what_is_recorded_of_a_run(tmp_path):
    (row,) = measured(tmp_path, plan_of("pass", top="runs = 1"))
    recorded = "time duration cpu_s exit_status load_before load_after machine kernel python"
    assert [name for name in recorded.split() if row[f"recorded:{name}"] == ""] == []
    assert row["recorded:machine"] != os.uname().nodename
    assert row["recorded:environment_names"] == ""
    (row,) = measured(
        tmp_path / "b", plan_of("pass", top="runs = 1\n[record]\nhostname = true\nenvironment_names = true")
    )
    assert row["recorded:machine"] == os.uname().nodename
    assert "PATH" in row["recorded:environment_names"].split()


def test_the_environment_grows_by_as_many_bytes_as_its_level_says(tmp_path):
    plan = plan_of(
        "import os; print(sum(len(k) + len(v) for k, v in os.environ.items()))", 'values = "stdout"',
        'runs = 1\norder = "fixed"\n[factors.env]\nkind = "environment size"\nlevels = [0, 1000]',
    )  # fmt: skip
    sizes = {row["factor:env"]: float(row["value"]) for row in measured(tmp_path, plan)}
    assert sizes["1000"] - sizes["0"] == 1000


def test_the_path_of_the_working_directory_grows_and_its_files_are_there(tmp_path):
    (tmp_path / "input.txt").write_text("5")
    plan = plan_of(
        "import os; print(len(os.getcwd())); print(open('input.txt').read())", 'values = "stdout"',
        'runs = 1\n[factors.dir]\nkind = "directory length"\nlevels = [0, 7, 450]',
    )  # fmt: skip
    rows = [row for row in measured(tmp_path, plan) if row["iteration"] == "0"]
    lengths = {row["factor:dir"]: float(row["value"]) for row in rows}
    assert (lengths["7"] - lengths["0"], lengths["450"] - lengths["0"]) == (7, 450)


def test_link_order_and_own_factors_become_words_of_the_command(tmp_path):
    plan = parse_plan(
        'runs = 1\n[factors.link]\nkind = "link order"\nfiles = ["1", "2"]\norders = 2\n'
        '[factors.flags]\nlevels = { on = ["7", "8"], off = [] }\n'
        f'[[benchmarks]]\nname = "b"\nvalues = "stdout"\ncommand = [{PYTHON}, '
        '"import sys; print(*sys.argv[1:], sep=chr(10))", "{link}", "{flags}"]'
    )
    found = {}
    for row in measured(tmp_path, plan):
        found.setdefault((row["factor:link"], row["factor:flags"]), []).append(float(row["value"]))
    assert found == {("1", "on"): [1, 2, 7, 8], ("1", "off"): [1, 2], ("2", "on"): [2, 1, 7, 8], ("2", "off"): [2, 1]}


def test_no_shell_reads_a_command_unless_it_is_asked_for(tmp_path):
    words = ["$HOME", "; touch bad", "`touch bad`", "{{version}}"]
    program = "import sys; print(int(sys.argv[1:] == ['$HOME', '; touch bad', '`touch bad`', chr(123) + 'version}']))"
    plan = parse_plan(
        f'runs = 1\n[[benchmarks]]\nname = "b"\nvalues = "stdout"\ncommand = [{PYTHON}, "{program}", '
        + ", ".join(f'"{word}"' for word in words)
        + "]"
    )
    assert [row["value"] for row in measured(tmp_path, plan)] == ["1.0"]
    assert not (tmp_path / "bad").exists()
    shell = parse_plan(
        'runs = 1\n[[benchmarks]]\nname = "b"\nshell = true\nvalues = "stdout"\ncommand = "echo 1 | cat"'
    )
    assert [row["value"] for row in measured(tmp_path / "s", shell)] == ["1.0"]


def test_reset_and_setup_come_before_each_run_and_are_not_measured(tmp_path):
    log = tmp_path / "log"
    write = f"open({str(log)!r}, 'a').write"
    plan = plan_of(
        f"{write}('m')",
        f'values = "wall"\nreset_command = [{PYTHON}, "{write}(\'r\')"]\n'
        f"setup = [{PYTHON}, \"import time; time.sleep(.05); {write}('s')\"]",
        "runs = 2",
    )
    measured(tmp_path, plan)
    assert log.read_text() == "rsmrsm"


def test_a_failing_benchmark_is_recorded_and_stopped_and_the_others_go_on(tmp_path):
    plan = parse_plan(
        f'runs = 6\n[[benchmarks]]\nname = "bad"\ncommand = [{PYTHON}, "raise SystemExit(3)"]\n'
        f'[[benchmarks]]\nname = "good"\ncommand = [{PYTHON}, "pass"]\n'
    )
    seen = []
    outcome = measure(plan, tmp_path / "results", tmp_path, watch=seen.append)
    rows = rows_of(tmp_path / "results")
    assert [row["failure"] for row in rows if row["benchmark"] == "bad"] == ["exit status 3"] * 3
    assert len([row for row in rows if row["benchmark"] == "good"]) == 6
    assert (outcome.n_failed, outcome.n_skipped, outcome.is_complete) == (3, 3, True)
    assert outcome.stopped == ["bad failed 3 times in a row and will not run again: exit status 3"]
    assert [progress.stopped for progress in seen if progress.stopped] == outcome.stopped
    again = measure(plan, tmp_path / "results", tmp_path)
    assert (again.n_made, again.n_skipped, again.stopped) == (0, 3, outcome.stopped)


def test_a_benchmark_that_fails_now_and_then_is_not_stopped(tmp_path):
    program = "import sys; raise SystemExit(int(sys.argv[1]) % 3 > 0)"
    plan = parse_plan(f'runs = 7\n[[benchmarks]]\nname = "b"\ncommand = [{PYTHON}, "{program}", "{{run}}"]')
    assert [row["failure"] for row in measured(tmp_path, plan)] == ["", "exit status 1", "exit status 1"] * 2 + [""]


@pytest.mark.parametrize(
    ("program", "more", "failure"),
    [
        ("pass", 'setup = ["/no/such"]', "setup: '/no/such' cannot be started: No such file or directory"),
        ("pass", FILE, "the command wrote no file out.json"),
        ("print('no', 1)", STDOUT, "the result cannot be read: not a result file of a known format"),
        ("print('0.008 4192736192')", STDOUT, "line 1 of the output has 2 numbers (0.008, 4192736192), but"),
        ("print('1\\\\n\\\\n2 3 4')", STDOUT, "line 3 of the output has 3 numbers (2, 3 and 1 more), but"),
    ],
)
def test_a_run_without_a_result_that_can_be_used_has_failed(tmp_path, program, more, failure):
    (tmp_path / "out.json").write_text("[[1, 2]]")  # an old result is none
    (row,) = measured(tmp_path / "a", plan_of(program, more, f'runs = 1\ndirectory = "{tmp_path}"'))
    assert (row["value"], row["failure"][: len(failure)]) == ("", failure)
    assert ("several_per_line = true" in row["failure"]) == ("numbers" in failure)


@pytest.mark.parametrize(
    ("program", "more", "values"),
    [
        ("open('out.json', 'w').write('[[1, 2, 3]]')", FILE, [1, 2, 3]),
        ("print('1\\\\n\\\\n2 ')", STDOUT, [1, 2]),
        ("print('0.008 4192736192')", f"{STDOUT}\nseveral_per_line = true", [0.008, 4192736192]),
    ],
)
def test_the_numbers_of_a_result_are_the_iterations_of_its_run(tmp_path, program, more, values):
    rows = measured(tmp_path / "a", plan_of(program, more, f'runs = 1\ndirectory = "{tmp_path}"'))
    assert [float(row["value"]) for row in rows] == values


def test_several_benchmarks_in_one_result_keep_their_names(tmp_path):
    printed = "goos: linux\\\\nBenchmarkA-2 1 5 ns/op\\\\nBenchmarkB-2 1 7 ns/op"
    rows = measured(tmp_path, plan_of(f"print('{printed}')", 'values = "stdout"', "runs = 2"))
    assert [(row["benchmark"], row["run"], float(row["value"])) for row in rows] == [
        ("b: BenchmarkA", "0", 5e-9), ("b: BenchmarkB", "0", pytest.approx(7e-9)),
        ("b: BenchmarkA", "1", 5e-9), ("b: BenchmarkB", "1", pytest.approx(7e-9)),
    ]  # fmt: skip


def test_no_secret_of_the_environment_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", "hunter2-hunter2")
    top = 'runs = 1\n[record]\nenvironment_names = true\n[environment]\nDB_PASSWORD = "correct-horse"'
    program = "import os, sys; sys.exit(os.environ['GITHUB_TOKEN'] + os.environ['DB_PASSWORD'])"
    (row,) = measured(tmp_path, plan_of(program, top=top))
    assert row["failure"] == "exit status 1: ******"
    written = b"".join(path.read_bytes() for path in (tmp_path / "results").iterdir())
    assert b"hunter2" not in written and b"correct-horse" not in written
    assert b"GITHUB_TOKEN" in written  # the names were requested
    changed = plan_of(program, top=top.replace("correct-horse", "battery-staple"))
    assert measure(changed, tmp_path / "results", tmp_path).n_made == 0  # another password does not change the plan


def test_only_the_variables_that_are_named_are_taken_over(tmp_path, monkeypatch):
    monkeypatch.setenv("SEEN", "1")
    monkeypatch.setenv("UNSEEN", "1")
    program = "import os; print(*(int(n in os.environ) for n in ('SEEN', 'UNSEEN')), os.environ['OWN'], sep=chr(10))"
    plan = plan_of(program, 'values = "stdout"', 'runs = 1\ninherit = ["SEEN"]\n[environment]\nOWN = "{run}7"')
    assert [row["value"] for row in measured(tmp_path, plan)] == ["1.0", "0.0", "7.0"]


def test_a_resumed_plan_equals_an_unbroken_one_but_for_times(tmp_path, unbroken):
    plan, (expected, folder) = parse_plan(TWO_OF_EACH), unbroken
    for n in (1, 4, 10, None):
        outcome = measure(plan, tmp_path / "results", folder, limit=n)
        assert outcome.is_complete == (n is None)
    assert but_for_times(rows_of(tmp_path / "results")) == but_for_times(expected)


def test_a_table_cut_anywhere_is_mended_and_the_plan_goes_on(tmp_path):
    plan = replace(parse_plan(TWO_OF_EACH), runs=1)
    whole = measured(tmp_path, plan)
    content = (tmp_path / "results" / NAME).read_bytes()
    for at in np.random.default_rng(5).integers(0, len(content), 4):
        (tmp_path / "results" / NAME).write_bytes(content[:at])
        outcome = measure(plan, tmp_path / "results", tmp_path)
        assert outcome.n_before + outcome.n_made == n_steps(plan)
        assert but_for_times(rows_of(tmp_path / "results")) == but_for_times(whole)


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=8)


@given(
    st.lists(st.tuples(st.lists(st.floats(-1e9, 1e9), max_size=3), TEXTS, TEXTS), min_size=1, max_size=5),
    st.integers(0, 10**6),
)
def test_every_whole_run_is_found_in_any_beginning_of_a_table(tmp_path_factory, runs, cut):
    path = tmp_path_factory.mktemp("table") / NAME
    ends = []
    with MeasurementTable(path, ("env",)) as table:
        ends.append(path.stat().st_size)
        for number, (values, name, level) in enumerate(runs):
            step = ScheduledRun(number, 0, name or "b", "", "fixed", 1, "", {"env": level})
            table.append(
                step, [RunResult(step.benchmark, tuple(values), "s")] if values else [], "" if values else "no", {}, ""
            )
            ends.append(path.stat().st_size)
        columns, done = table.columns, table.done
    content = path.read_bytes()
    whole, size = read_done(path, content, columns)
    assert (whole, size) == (done, len(content))
    at = cut % (len(content) + 1)
    found, size = read_done(path, content[:at], columns)
    n_whole = sum(end <= at for end in ends)
    assert (found, size) == ((done[: n_whole - 1], ends[n_whole - 1]) if n_whole else ([], 0))


KILLED = """
import sys
from pathlib import Path
from labeler.files.measuring.plan_file import read_plan
from labeler.files.measuring.session import measure
folder = Path(sys.argv[1])
measure(read_plan(folder / "plan.toml"), folder / "results", folder)
"""


def test_a_measurement_that_is_killed_loses_at_most_the_run_under_way(unbroken):
    plan, (expected, folder) = parse_plan(TWO_OF_EACH), unbroken
    (folder / "plan.toml").write_text(TWO_OF_EACH)
    n_rows = 0
    for _attempt in range(2):
        with subprocess.Popen([sys.executable, "-c", KILLED, str(folder)]) as child:
            table, before, deadline = folder / "results" / NAME, n_rows, time.monotonic() + 60
            while time.monotonic() < deadline and n_rows < before + 8:
                n_rows = table.read_bytes().count(b"\n") if table.exists() else 0
                time.sleep(0.002)
            child.send_signal(signal.SIGKILL)
        assert n_rows >= before + 8
    outcome = measure(plan, folder / "results", folder)
    assert outcome.n_before >= 8
    assert outcome.n_before + outcome.n_made == n_steps(plan)
    assert but_for_times(rows_of(folder / "results")) == but_for_times(expected)


def test_a_folder_belongs_to_its_plan_and_may_get_more_runs(tmp_path):
    plan = plan_of("pass", top="runs = 1")
    measured(tmp_path, plan)
    assert measure(replace(plan, runs=2), tmp_path / "results", tmp_path).n_made == 1
    with pytest.raises(InputError, match="different plan: benchmarks, seed"):
        measure(replace(plan_of("1"), seed=2), tmp_path / "results", tmp_path)
    with pytest.raises(InputError, match="its columns differ"):
        MeasurementTable(tmp_path / "results" / NAME, ("env",)).__enter__()
    (tmp_path / "results" / LOCK).write_text("?")
    with pytest.raises(InputError, match=r"plan\.lock is missing or damaged"):
        measure(plan, tmp_path / "results", tmp_path)


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "mine.csv").touch()
    with pytest.raises(InputError, match=r"files, such as mine\.csv"):
        measure(plan_of("pass"), tmp_path / "results", tmp_path)
    with pytest.raises(InputError, match="is not a folder in"):
        measure(plan_of("pass", top='directory = "nowhere"'), tmp_path / "r", tmp_path)


def test_two_measurements_cannot_share_a_table(tmp_path, monkeypatch):
    monkeypatch.setattr("labeler.files.measuring.table.LOCK_WAIT_S", 0.1)
    with MeasurementTable(tmp_path / NAME, ()), pytest.raises(InputError, match="another `labeler measure`"):
        MeasurementTable(tmp_path / NAME, ()).__enter__()


def test_without_interleaving_a_longer_plan_is_another_one(tmp_path):
    top = 'runs = 1\ninterleave = false\nversions = ["a", "b"]'
    plan = plan_of("'{version}'", top=top)
    measured(tmp_path, plan)
    with pytest.raises(InputError, match="run number 1"):
        measure(replace(plan, runs=2), tmp_path / "results", tmp_path)


def test_the_time_left_is_that_of_the_runs_so_far(tmp_path):
    plan = plan_of("import time; time.sleep(.1)", top="runs = 10")
    assert seconds_left(plan, []) is None
    measure(plan, tmp_path / "results", tmp_path, limit=2)
    done = done_so_far(plan, tmp_path / "results")
    assert seconds_left(plan, done) == pytest.approx(8 * sum(run.seconds for run in done) / 2)
    assert 0.8 < seconds_left(plan, done) < 20


def test_the_table_is_also_there_as_parquet_once_all_runs_are_made(tmp_path):
    plan = parse_plan(
        f'runs = 2\n[[benchmarks]]\nname = "=b"\nvalues = "stdout"\ncommand = [{PYTHON}, "print(-1); print(2)"]\n'
        f'[[benchmarks]]\nname = "bad"\ncommand = [{PYTHON}, "raise SystemExit(3)"]\n'
    )
    folder = tmp_path / "results"
    measure(plan, folder, tmp_path, limit=3)
    assert not (folder / "measurements.parquet").exists()
    measure(plan, folder, tmp_path)
    both = [list(read_benchmarks([Source(name, path=folder / name)])) for name in (NAME, "measurements.parquet")]
    (of_csv,), (of_parquet,) = ([one for part in parts for one in part.benchmarks] for parts in both)
    assert of_parquet.name == of_csv.name == "=b"
    assert [run.tolist() for run in of_parquet.runs] == [[-1.0, 2.0]] * 2
    assert of_parquet.conditions == of_csv.conditions
    assert [part.remarks for part in both[0]] == [part.remarks for part in both[1]]
    assert [source.name.rpartition("/")[2] for source in sources([folder])] == [NAME]  # the folder is read once
    measure(replace(plan, runs=3), folder, tmp_path, limit=1)
    assert not (folder / "measurements.parquet").exists()


def resetting(log, when, runs=2):
    """Return a plan of two benchmarks with different resets, and a third with the reset of the plan."""
    write = f"import sys; open({str(log)!r}, 'a').write(sys.argv[1])"
    entries = [f'[[benchmarks]]\nname = "{name}"\ncommand = [{PYTHON}, "{write}", "{name}"]\n' for name in "abc"]
    entries[1] += f'reset_command = [{PYTHON}, "{write}", "2"]\n'
    top = f'runs = {runs}\norder = "fixed"\n{when} = [{PYTHON}, "{write}", "1"]\n'
    return parse_plan(top + "".join(entries))


@pytest.mark.parametrize(
    ("when", "log"),
    [
        ('reset = "pass"\nreset_command', "12abc12abc"),
        ('reset = "run"\nreset_command', "1a2b1c1a2b1c"),
        ("reset_command", "1a2b1c1a2b1c"),
    ],
)
def test_a_reset_runs_before_each_pass_or_before_each_run(tmp_path, when, log):
    measured(tmp_path, resetting(tmp_path / "log", when))
    assert (tmp_path / "log").read_text() == log


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_a_pass_that_was_interrupted_is_not_reset_again(tmp_path, limit):
    plan = resetting(tmp_path / "log", 'reset = "pass"\nreset_command')
    measure(plan, tmp_path / "results", tmp_path, limit=limit)
    measure(plan, tmp_path / "results", tmp_path)
    assert (tmp_path / "log").read_text() == "12abc12abc"


def test_no_benchmark_of_a_pass_runs_if_its_reset_fails(tmp_path):
    log = tmp_path / "log"
    plan = resetting(log, 'reset = "pass"\nreset_command')
    (entry, *others) = plan.benchmarks
    fails_once = f"import os; f = {str(tmp_path / 'was')!r}; os.path.exists(f) or (open(f, 'w'), os.abort())"
    entry = replace(entry, reset=replace(entry.reset, words=(sys.executable, "-c", fails_once)))
    plan = replace(plan, benchmarks=(entry, *others))
    measure(plan, tmp_path / "results", tmp_path, limit=1)
    rows = measured(tmp_path, plan)
    failed = "reset before this pass: ended by SIGABRT"
    assert [row["failure"] for row in rows] == [failed] * 3 + [""] * 3
    assert log.read_text() == "21abc"


def test_a_folder_belongs_to_the_resets_of_its_plan_and_to_this_version(tmp_path):
    measure(resetting(tmp_path / "log", "reset_command"), tmp_path / "results", tmp_path, limit=1)
    plan = resetting(tmp_path / "log", 'reset = "run"\nreset_command')  # says what is the default
    assert measure(plan, tmp_path / "results", tmp_path, limit=1).n_made == 1
    with pytest.raises(InputError, match="different plan: reset changed"):
        measure(replace(plan, reset="pass"), tmp_path / "results", tmp_path)
    lock = json.loads((tmp_path / "results" / LOCK).read_text())
    (tmp_path / "results" / LOCK).write_text(json.dumps(lock | {"format": 2}))
    with pytest.raises(InputError, match=r"plan\.lock is missing or damaged, or another version wrote it"):
        measure(plan, tmp_path / "results", tmp_path)


def test_the_experiment_of_the_score_runs_from_a_plan(tmp_path):
    """The method `parse` is called by the first benchmark only, and `unused` by neither."""
    program = "import sys; print(*([{}, {}] if sys.argv[1] == 'parse' else [10, 10.1]), sep=chr(10))"
    plan = parse_plan(
        'runs = 3\naltered = ["parse", "unused"]\n[factors.env]\nkind = "environment size"\nlevels = [0, 9]\n'
        + "".join(
            f'[[benchmarks]]\nname = "{name}"\nvalues = "stdout"\nunit = "ms"\n'
            f'command = [{PYTHON}, "{program.format(*slower)}", "{{altered}}"]\n'
            for name, slower in (("first", (20, 20.1)), ("second", (10, 10.1)))
        )
    )
    assert n_steps(plan) == 3 * 2 * 3 * 2
    measure(plan, tmp_path / "results", tmp_path, limit=7)
    rows = measured(tmp_path, plan)
    assert {(row["altered"], row["factor:env"]) for row in rows} == {
        (method, size) for method in ("baseline", "parse", "unused") for size in ("0", "9")
    }
    path = tmp_path / "results" / NAME
    benchmarks = [one for part in read_benchmarks([Source(NAME, path=path)]) for one in part.benchmarks]
    score = api_benchmarking_score(benchmarks, v=0.1, regression_p=0.5)
    assert (score.baseline, score.methods) == ("baseline", ("parse", "unused"))
    assert score.variants["total"].covered == ("parse",)
