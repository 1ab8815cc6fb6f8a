"""The methods as commands on files and on a study: what each adds to its row, and errors for bad input."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest

from analysis.runs.steady import RULES
from labeler.files.methods import METHODS
from labeler.studies.commands.opening import INTERIM
from labeler.studies.store import events, open_database
from labeler.studies.verdicts import stored_verdicts
from tests.conftest import some_slow
from tests.labeler.commands import run
from tests.labeler.files.formats.examples import asv_file, asv_row, csv_bytes
from tests.making import NOW, item_name, make_study
from tests.sentences import says

# What all methods share is tested in every run with two of them.
QUICK_EVERY_DAY = some_slow(METHODS, set(METHODS) - {"spread", "order"})
SIGNATURES = {"svg": b"<svg ", "png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF"}
# options that make a method quick, and the exit code that the table of this module gives
QUICK = {"trust": ("--runs", 2), "steady": ("--rule", "quick")}
CODE = {"trend": 3}  # two versions are too few for a history
PER_RUN = {"--warmup": (1, {"warmup": 1}), "--aggregate": ("median", {"aggregate": "median"})}
TESTS = PER_RUN | {"--alpha": (0.01, {"alpha": 0.01}), "--seed": (7, {"seed": 7})}
TWO = {"--baseline": ("new", {"baseline": "new"}), "--candidate": ("old", {"candidate": "old"})}
# the options of each method that the table allows -> a value, and what the result says of it
OPTIONS = {
    "spread": TESTS | {"--subset-runs": (3, {"per": 3})},
    "order": TESTS | TWO | {"--level": (0.9, {"ci_level": 0.9}), "--compat": ("ordersage", {"compat": "ordersage"})},
    "trust": TESTS | {"--runs": (3, {"n_runs": 3})},
    "contexts": TESTS | TWO | {
        "--instrumentation": ("tool", {"instrumentation": "tool"}), "--held-fixed": ("yes", {"held_fixed": "yes"}),
    },
    "steady": {"--rule": ("barrett", {"rule": "barrett"}), "--seed": (7, {"seed": 7})},
    "trend": PER_RUN | {"--detector": ("cusum", {"detector": "cusum"}), "--within": (4, {"within": 4})},
}  # fmt: skip


def measurements():
    """Two benchmarks: two versions in two contexts, half of the runs in fixed order; three iterations per run."""
    rng = np.random.default_rng(3)
    return [
        (name, run, 1 + level + 0.01 * rng.random(), version, context, "fixed" if run % 2 else "random")
        for name in ("sort", "merge")
        for level, version in enumerate(("old", "new"))
        for context in ("quiet", "loud")
        for run in range(6)
        for _ in range(3)
    ]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A result file that every method can work on."""
    path = tmp_path_factory.mktemp("results") / "all.csv"
    columns = ("benchmark", "run", "value", "version", "context", "order_type")
    path.write_bytes(csv_bytes(measurements(), columns))
    return path


@pytest.fixture(scope="module")
def master(tmp_path_factory, table):
    """A study with the measurements of the file."""
    path = tmp_path_factory.mktemp("study") / "all.study"
    make_study(path, n_items=0, reviewers=())
    run("import", "--study", path, table)
    return path


def answered(method, *arguments, code=None):
    return run(method, *arguments, *QUICK.get(method, ()), code=CODE.get(method, 0) if code is None else code)


# what each method gets from its row


@pytest.mark.parametrize("method", some_slow(METHODS, {"trust"}))
def test_a_method_prints_its_answer_and_nothing_else(method, table):
    done = answered(method, table)
    assert "In short" in done.stdout
    assert set(done.stderr.split()) <= {"Reading", METHODS[method].title}  # only progress
    content = json.loads(answered(method, table, "--json").stdout, parse_constant=pytest.fail)
    assert {"parameters", "left_out"} <= set(content)
    assert {"sort", "merge"} <= set(re.findall(r'"(?:name|benchmark)": "(\w+)', json.dumps(content)))


@pytest.mark.parametrize("method", some_slow(METHODS, {"trust"}))
def test_every_option_reaches_the_computation(method, table):
    options = [str(part) for flag, (value, _) in OPTIONS[method].items() for part in (flag, value)]
    found = json.loads(run(method, table, *options, "--json", code=CODE.get(method, 0)).stdout)["parameters"]
    expected = {name: value for _, shown in OPTIONS[method].values() for name, value in shown.items()}
    assert found | expected == found


@pytest.mark.parametrize("method", some_slow(METHODS, set(METHODS) - {"spread"}))
def test_page_and_figures_are_written_where_they_are_wanted(method, table, tmp_path):
    page, folder = tmp_path / "page.html", tmp_path / "figures"
    done = answered(method, table, "--html", page, "--figures", folder, "--figure-format", "png")
    written = sorted(folder.iterdir()) if folder.exists() else []
    assert all(path.read_bytes().startswith(SIGNATURES["png"]) and path.suffix == ".png" for path in written)
    text = page.read_text()
    assert text.lower().startswith("<!doctype html>") and text.count("<svg") == len(written)
    assert set(re.findall(r"^(.*) written\.$", done.stderr, re.MULTILINE)) == {str(path) for path in (page, *written)}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_two_processes_give_the_same_numbers(method, table):
    alone = answered(method, table, "--json").stdout
    assert answered(method, table, "--json", "--jobs", 2).stdout == alone


def test_figures_are_written_in_every_format_asked_for(table, tmp_path):
    run("spread", table, "--figures", tmp_path, *(part for form in SIGNATURES for part in ("--figure-format", form)))
    for form, signature in SIGNATURES.items():
        assert (tmp_path / f"max-spread.{form}").read_bytes().startswith(signature)


def test_a_page_that_cannot_be_written_is_said_in_one_line(table, tmp_path):
    (tmp_path / "file").write_text("")
    assert str(tmp_path / "file") in run("spread", table, "--html", tmp_path / "file" / "x", code=2).stderr


def test_spread_of_altered_methods_gets_a_score(tmp_path):
    rows = [("b", run, 1 + (altered == "f") + 0.001 * run + 0.0001 * i, altered)
            for altered in ("", "f") for run in range(5) for i in range(20)]  # fmt: skip
    (tmp_path / "abs.csv").write_bytes(csv_bytes(rows, ("benchmark", "run", "value", "altered")))
    options = ("--altered-slowdown", 0.1, "--without", "b", "--unit", "s", "--budget", 1.5, "--json")
    found = json.loads(run("spread", tmp_path / "abs.csv", *options).stdout)
    assert (found["parameters"]["v"], found["parameters"]["without"]) == (0.1, ["b"])
    assert found["score"] is not None
    assert found["environments"][0]["time"]["parts"][-1]["limit"] == 90


# sources of measurements


def test_file_names_say_what_the_files_do_not(tmp_path):
    rng = np.random.default_rng(4)
    for version, level in (("old", 1.0), ("new", 1.5)):
        for context in ("x", "y"):
            rows = [("b", run, level + 0.01 * rng.random()) for run in range(4) for _ in range(2)]
            (tmp_path / f"{version}-{context}.csv").write_bytes(csv_bytes(rows))
    pattern = ("--from-name", "{version}-{context}.csv", "--unit", "ms")
    text = run("contexts", tmp_path, *pattern, "--baseline", "old").stdout
    assert "1 benchmark in 2 contexts" in text and "slower" in text
    (tmp_path / "odd.csv").write_bytes(csv_bytes([("b", 0, 1.0)]))
    done = run("contexts", tmp_path, *pattern, "--baseline", "old", code=1)
    assert done.stdout == text
    assert f"Refused {tmp_path / 'odd.csv'}: the name does not match '{{version}}-{{context}}.csv'" in done.stderr


@pytest.mark.parametrize("method", QUICK_EVERY_DAY)
def test_a_refused_file_is_named_everything_else_answered_and_the_exit_code_says_so(method, table, tmp_path):
    (tmp_path / "bad.json").write_text("[[1.0, NaN], [1.0, 2.0]]")
    done = answered(method, tmp_path / "bad.json", table, "--json", code=2 if method == "trend" else 1)
    assert f"Refused {tmp_path / 'bad.json'}: benchmark 'bad', run 0, iteration 1: nan is not a finite" in done.stderr
    assert "left_out" in json.loads(done.stdout)


def test_a_study_named_by_the_environment_does_not_get_in_the_way_of_files(table, monkeypatch):
    monkeypatch.setenv("LABELER_STUDY", "/nowhere/at.all")
    run("spread", table)


# a study


@pytest.mark.parametrize("method", QUICK_EVERY_DAY)
def test_a_study_gives_the_answer_of_its_files_and_keeps_that_somebody_looked(method, table, master, tmp_path):
    path = tmp_path / "copy.study"
    run("backup", "--study", master, "--out", path)
    done = answered(method, "--study", path, "--json")
    assert INTERIM in done.stderr
    from_study, from_file = (json.loads(text) for text in (done.stdout, answered(method, table, "--json").stdout))
    assert from_study == from_file
    with open_database(path) as db:
        last = events.table(db).iloc[-1]
    assert (last["actor"], last["action"]) == ("owner", "look")
    assert method in str(last["details"])


# plans


def test_variants_are_csv_that_a_table_program_reads(tmp_path):
    done = run("variants", "--factor", "version=old,new", "--factor", "env=0,64", "--runs", 3, "--benchmark", "sort")
    plan = pd.read_csv(io.StringIO(done.stdout))
    assert len(plan) == 2 * 2 * 3
    assert done.stderr == "12 runs to measure, in this order.\n"
    assert plan["order"].tolist() == list(range(1, 13))
    assert set(plan["context"]) == {"env=0", "env=64"}
    assert plan.groupby(["version", "context"])["run"].apply(sorted).tolist() == [[0, 1, 2]] * 4
    # measured like this, `contexts` can read the plan
    plan.assign(value=1.0 + plan["run"] / 100).to_csv(tmp_path / "measured.csv", index=False)
    assert "1 benchmark in 2 contexts" in run("contexts", tmp_path / "measured.csv").stdout


# classifiers


@pytest.fixture
def told(tmp_path):
    """Four items with the verdicts of three external classifiers."""
    path, said = tmp_path / "told.study", tmp_path / "said.csv"
    make_study(path, n_items=4, reviewers=())
    verdicts = {"a": "ddss", "b": "dsss", "c": "ddds"}
    words = {"d": "dissimilar", "s": "similar"}
    rows = [(item_name(i), name, words[one]) for name, told in verdicts.items() for i, one in enumerate(told)]
    said.write_bytes(csv_bytes(rows, ("item", "classifier", "verdict")))
    with open_database(path) as db:
        stored_verdicts.import_verdicts(db, said, None, actor="carol", now=NOW)
    return path


def test_classifiers_are_held_against_each_other_both_ways(told):
    done = run("classifiers", "--study", told, "--pairs", "--json")
    assert done.stderr == f"{INTERIM}\n"
    rows = {(row["classifier"], row["other"]): row for row in json.loads(done.stdout)}
    assert sorted(rows) == [(x, y) for x in "abc" for y in "abc" if x != y]
    # of the two items that a calls dissimilar b finds one; of the three that b clears a clears two; 3 of 4 agree,
    # by chance (2 * 1 + 2 * 3) / 16 = 1/2, so kappa = (3/4 - 1/2) / (1/2)
    assert rows["b", "a"] | {"n": 4, "agree": 0.75, "finds": 0.5, "clears": 1.0} == rows["b", "a"]
    assert rows["a", "b"]["finds"] == 1.0
    assert rows["a", "b"]["clears"] == pytest.approx(2 / 3)
    assert rows["a", "b"]["kappa"] == rows["b", "a"]["kappa"] == pytest.approx(0.5)
    assert run("classifiers", "--study", told, "--pairs").stdout.split()[:3] == ["classifier", "other", "n"]


def test_the_items_to_send_first_are_those_they_disagree_on(told):
    rows = json.loads(run("classifiers", "--study", told, "--most-disputed", 5, "--json").stdout)
    assert {(row["item"], row["dissimilar"], row["similar"]) for row in rows} == {
        (item_name(1), "a, c", "b"), (item_name(2), "c", "a, b"),
    }  # fmt: skip
    assert len(json.loads(run("classifiers", "--study", told, "--most-disputed", 1, "--json").stdout)) == 1
    assert "--most-disputed" in run("classifiers", "--study", told, "--most-disputed", 0, code=2).stderr


def test_without_verdicts_there_is_nothing_to_hold_against_each_other(tmp_path):
    make_study(tmp_path / "bare.study", n_items=2, reviewers=())
    done = run("classifiers", "--study", tmp_path / "bare.study")
    assert done.stdout == ""
    assert says(done.stderr, "labeler verdicts")
    assert run("classifiers", "--study", tmp_path / "bare.study", "--json").stdout == "[]\n"


# steady state


@pytest.fixture(scope="module")
def long_runs(tmp_path_factory):
    """A result file with a run that warms up, a run that never becomes steady, and a short run."""
    rng = np.random.default_rng(1)
    late = rng.normal(np.where(np.arange(1000) < 900, 2.0, 1.0), 0.01)
    early = rng.normal(np.where(np.arange(1000) < 200, 2.0, 1.0), 0.01)
    path = tmp_path_factory.mktemp("long") / "runs.json"
    path.write_text(json.dumps([early.tolist(), late.tolist(), [1.0, 1.1]]))
    return path


def test_steady_says_which_runs_become_steady(long_runs):
    text = run("steady", long_runs).stdout
    assert says(text, "1 of 2 runs (50.0 %) becomes steady.")
    assert says(text, "1 run is too short to find the end of warm-up (2 iterations; 1,000 needed)")


@pytest.mark.parametrize("rule", RULES)
def test_steady_prints_classes_starts_and_change_points_as_json(long_runs, rule):
    content = json.loads(run("steady", long_runs, "--rule", rule, "--json").stdout)
    assert content["rule"] == rule
    (benchmark,) = content["benchmarks"]
    assert benchmark["name"] == "runs"
    early, late, short = benchmark["runs"]
    assert early["class"] == ("warm-up" if rule == "barrett" else "steady state")
    assert early["start"] == early["change_points"][-1] == pytest.approx(199, abs=3)
    assert (late["class"], late["start"]) == ("no steady state", None)
    assert (short["class"], short["start"], short["change_points"]) == (None, None, [])


# trend


@pytest.fixture(scope="module")
def history():
    """Rows of a table: 20 versions with three runs each, 10 % slower from version 12 on."""
    rng = np.random.default_rng(2)
    return [
        ("parse", f"1.{version}", run, rng.normal(1.1 if version >= 12 else 1.0, 0.01), "s")
        for version in range(20)
        for run in range(3)
    ]


@pytest.fixture(scope="module")
def history_file(history, tmp_path_factory):
    path = tmp_path_factory.mktemp("history") / "history.csv"
    path.write_bytes(csv_bytes(history, ("benchmark", "version", "run", "value", "unit")))
    return path


def test_trend_names_the_version_after_which_a_benchmark_became_slower(history_file):
    assert says(run("trend", history_file).stdout, "slower at 1.12 (previous version 1.11)")
    (benchmark,) = json.loads(run("trend", history_file, "--json").stdout)["benchmarks"]
    (change,) = benchmark["changes"]
    assert (benchmark["n_versions"], change["version"], change["direction"]) == (20, "1.12", "slower")


def test_a_folder_of_folders_is_a_history_in_natural_order(history, tmp_path):
    for version in dict.fromkeys(row[1] for row in history):
        (tmp_path / "results" / version).mkdir(parents=True)
        rows = [(name, at, value, unit) for name, of, at, value, unit in history if of == version]
        (tmp_path / "results" / version / "r.csv").write_bytes(csv_bytes(rows, ("benchmark", "run", "value", "unit")))
    (benchmark,) = json.loads(run("trend", tmp_path / "results", "--json").stdout)["benchmarks"]
    assert benchmark["versions"] == [f"1.{version}" for version in range(20)]
    assert [change["version"] for change in benchmark["changes"]] == ["1.12"]


@pytest.mark.parametrize("decision", ["accepted", "refused"])
def test_decisions_of_people_are_used(history_file, tmp_path, decision):
    (tmp_path / "marks.csv").write_text(f"benchmark,version,decision\nparse,1.12,{decision}\n")
    run("trend", history_file, "--marks", tmp_path / "marks.csv", "--fail-on", "worse")


# trend: what is a history


def trends(*arguments, code=0):
    content = json.loads(run("trend", *arguments, "--json", code=code).stdout)
    return {trend["name"]: trend for trend in content["benchmarks"]}


def asv_history(folder, levels, *, machine="runner", env="virtualenv-py3.12", **more):
    """Write files of asv as they are without benchmarks.json: one per commit, whose date is its number."""
    (folder / machine).mkdir(parents=True, exist_ok=True)
    for at, level in enumerate(levels):
        commit = f"{at:02x}" * 20
        content = asv_file(
            {"bench.time_sort": [None] if level is None else asv_row(samples=[[level, level + 0.001]])},
            commit_hash=commit, env_name=env, date=1700000000000 + at * 86400000, params={"machine": machine}, **more,
        )  # fmt: skip
        (folder / machine / f"{commit[:8]}-{env or 'py'}.json").write_bytes(content)
    return folder


def test_the_commit_in_a_file_counts_and_not_the_folder_of_the_machine(tmp_path):
    """Only folders of machines, without benchmarks.json: the folder is not the version."""
    asv_history(tmp_path / "results", [0.010] * 10 + [0.013] * 10)
    done = run("trend", tmp_path / "results", "--fail-on", "worse", code=1)
    assert says(done.stdout, "bench.time_sort became 28.6 % slower at 0a0a0a0 (previous version 0909090).")
    (trend,) = trends(tmp_path / "results").values()
    assert (trend["n_versions"], trend["changes"][0]["version"]) == (20, "0a" * 20)  # in full in the JSON
    (tmp_path / "marks.csv").write_text("benchmark,version,decision\nbench.time_sort,0a0a0a0,accepted\n")
    run("trend", tmp_path / "results", "--fail-on", "worse", "--marks", tmp_path / "marks.csv")


def test_machines_and_environments_of_asv_are_separate_histories(tmp_path):
    for machine in ("quick", "slow"):
        for env in ("py3.11-numpy1", "py3.12-numpy1", "py3.12-numpy2"):
            level = len(machine) + int(env[4:6]) + int(env[-1])
            asv_history(tmp_path / "results", [0.01 * level] * 6, machine=machine, env=env)
    found = trends(tmp_path / "results")
    assert len(found) == 6 and "bench.time_sort @ quick @ py3.12-numpy2" in found
    assert {trend["n_versions"] for trend in found.values()} == {6}
    assert not any(trend["changes"] for trend in found.values())


def test_an_environment_without_a_name_is_its_python_and_requirements(tmp_path):
    for python, requirements in (("3.11", {"numpy": "1"}), ("3.12", {"numpy": "1"}), ("3.12", {"numpy": "2"})):
        asv_history(tmp_path / python / requirements["numpy"], [0.01] * 6, env=None, python=python,
                    requirements=requirements)  # fmt: skip
    assert sorted(trends(*tmp_path.glob("*/*/runner"))) == [
        f"bench.time_sort @ py{name}" for name in ("3.11-numpy1", "3.12-numpy1", "3.12-numpy2")
    ]


def test_folders_of_files_with_versions_are_contexts(tmp_path):
    for folder, level in (("fast", 1.0), ("slow", 2.0)):
        (tmp_path / "results" / folder).mkdir(parents=True)
        rows = [("sort", f"1.{at}", at, level, "s") for at in range(7)]
        (tmp_path / "results" / folder / "r.csv").write_bytes(
            csv_bytes(rows, ("benchmark", "version", "run", "value", "unit"))
        )
    found = trends(tmp_path / "results")
    assert {name: trend["n_versions"] for name, trend in found.items()} == {"sort @ fast": 7, "sort @ slow": 7}
    assert not any(trend["changes"] for trend in found.values())


# trend: the newest version, and exit codes


def of_versions(levels, n_runs=1, better="lower"):
    """Return a table of a benchmark with a small spread, whose levels are given in per cent."""
    rng = np.random.default_rng(3)
    rows = [
        ("sort", f"v{version:02}", run, level * rng.normal(1, 0.01), "s" if better else "widgets")
        for version, level in enumerate(levels)
        for run in range(n_runs)
    ]
    return csv_bytes(rows, ("benchmark", "version", "run", "value", "unit"))


@pytest.mark.parametrize(
    ("levels", "n_runs", "options", "code", "words"),
    [
        ([100] * 39 + [150], 5, (), 1, "sort: the newest version v39 is 50.2 % slower than v00 to v38 (p < 0.0001)."),
        ([100] * 39 + [150], 5, ("--within", 1), 1, "A benchmark became worse within the last 1 version."),
        ([100] * 39 + [150], 2, (), 3, "(p < 0.0001). One or two runs: measure v39 again."),
        ([100] * 39 + [150], 1, ("--within", 1), 3, "It is open whether a benchmark became worse within the last"),
        ([100] * 38 + [150] * 2, 1, ("--within", 1), 1, "sort: the newest 2 versions (v38, v39) are"),
        ([100] * 37 + [150] * 3, 1, (), 1, "sort: the newest 3 versions (v37, v38, v39) are"),
        ([100] * 39 + [70], 1, (), 0, "sort: the newest version v39 is 31.2 % faster than v00 to v38"),
        ([100] * 20 + [150] + [100] * 19, 5, (), 0, "sort: v20 alone stands out (+49.9 %)."),
        ([100] * 12 + [150] * 2 + [100] * 12, 1, ("--within", 5), 0, "sort became"),
        ([100 + at for at in range(40)], 1, (), 0, "sort rises gradually by 38.8 % from v00 to v39."),
        ([100] * 10 + [150] * 4, 1, ("--within", 2), 0, "Too few versions to judge the newest: sort."),
        ([100] * 5, 3, (), 3, "Too few versions to find a change (6 are needed): sort (5 versions)."),
        ([100], 3, (), 3, "Too few versions to find a change (6 are needed): sort (1 version)."),
        ([100] * 20 + [150] * 20, 1, ("--better", ""), 3, "To state the direction, use --unit or --better."),
        ([100] * 40, 1, (), 0, "With 80 % probability this history shows a lasting change from 2.5 %, at the newest"),
    ],
)  # fmt: skip
def test_a_build_fails_for_what_is_worse_and_stops_for_what_is_open(tmp_path, levels, n_runs, options, code, words):
    is_known = options != ("--better", "")
    (tmp_path / "h.csv").write_bytes(of_versions(levels, n_runs, "lower" if is_known else ""))
    done = run("trend", tmp_path / "h.csv", "--fail-on", "worse", *(options if is_known else ()), code=code)
    assert says(done.stdout, words)


def test_without_a_gate_only_histories_that_are_all_too_short_are_no_success(tmp_path):
    (tmp_path / "long.csv").write_bytes(of_versions([100] * 39 + [150], 1))
    run("trend", tmp_path / "long.csv")
    (tmp_path / "short.csv").write_bytes(of_versions([100], 5))
    run("trend", tmp_path / "short.csv", code=3)


def test_a_version_that_failed_after_the_last_measured_one_is_open(tmp_path):
    asv_history(tmp_path / "results", [*[0.010, 0.011] * 6, None])
    done = run("trend", tmp_path / "results", "--fail-on", "worse", code=3)
    assert says(done.stdout, "bench.time_sort failed at 0c0c0c0, after its last measurement.")
    asv_history(tmp_path / "mended", [*[0.010, 0.011] * 5, None, 0.01, 0.011])
    assert "failed at" not in run("trend", tmp_path / "mended", "--fail-on", "worse").stdout


def test_a_refused_file_ends_with_2(tmp_path, history_file):
    (tmp_path / "damaged.csv").write_text("benchmark,version,run,value\nb,1,1,soon\n")
    assert says(run("trend", history_file, tmp_path / "damaged.csv", code=2).stderr, "Refused", "'soon'")
