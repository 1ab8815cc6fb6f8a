"""The check of a build: verdicts, changes, and above all exit codes."""

import json
import re

import numpy as np
import pytest

from labeler.cli.check import spread_out
from labeler.service.data import exploring
from tests.labeler.commands import run
from tests.labeler.formats.examples import csv_bytes, jmh_entry, pyperf_file, pyperf_runs

SIMILAR, DISSIMILAR, FAILED = 0, 1, 2
STEP = np.repeat([1.0, 2.0], 50)
WITH_VALUE = {"--against", "--format"}


def icpe(path, *runs):
    path.write_text(json.dumps([list(map(float, run)) for run in runs]))
    return path


def short(path, *levels, name="b"):
    """A pyperf file: runs of five values at these levels."""
    rng = np.random.default_rng(6)
    runs = pyperf_runs(*((level + rng.normal(0, 0.001, 5)).tolist() for level in levels))
    path.write_bytes(pyperf_file(({"name": name}, runs)))
    return path


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder one is in, with no study named."""
    monkeypatch.delenv("LABELER_STUDY", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def alike(here):
    return icpe(here / "alike.json", STEP, STEP + 1e-6, STEP)


@pytest.fixture
def unlike(here):
    return icpe(here / "unlike.json", STEP, STEP[::-1], STEP)


@pytest.fixture
def old(here):
    return short(here / "old.json", 1.0, 1.01, 0.99, 1.0)


@pytest.fixture
def new(here):
    return short(here / "new.json", 1.2, 1.21, 1.19, 1.2)


def content(*arguments, code=0):
    return json.loads(run("check", *arguments, "--json", code=code).stdout, parse_constant=pytest.fail)


def verdicts(*arguments, code=0):
    return {one["name"]: one["verdict"] for one in content(*arguments, code=code)["benchmarks"]}


# exit codes without a baseline


def test_similar_runs_are_exit_code_0(alike):
    assert verdicts(alike, code=SIMILAR) == {"alike": "similar"}


def test_one_dissimilar_benchmark_is_exit_code_1_whatever_the_others_are(alike, unlike):
    assert verdicts(alike, unlike, code=DISSIMILAR) == {"alike": "similar", "unlike": "dissimilar"}
    assert verdicts(alike.parent, code=DISSIMILAR) == {"alike": "similar", "unlike": "dissimilar"}  # a folder


def test_nothing_that_could_be_judged_is_exit_code_2(here):
    single = icpe(here / "single.json", STEP)
    found = content(single, code=FAILED)
    assert found["outcome"] == FAILED
    assert found["benchmarks"][0]["reason"] == "at least two runs are needed, got 1"


def test_one_that_could_be_judged_decides(here, alike):
    assert verdicts(icpe(here / "single.json", STEP), alike, code=SIMILAR) == {"single": None, "alike": "similar"}


@pytest.mark.parametrize("broken", ["[[1.0, NaN], [1.0, 2.0]]", "", "hello", '{"benchmarks": []}'])
def test_a_bad_file_is_exit_code_2_and_everything_else_is_shown(here, alike, broken):
    (here / "bad.json").write_text(broken)
    done = run("check", alike, "bad.json", "--json", code=FAILED)
    assert [one["verdict"] for one in json.loads(done.stdout)["benchmarks"]] == ["similar"]
    assert "Refused bad.json: " in done.stderr
    assert "Some files were refused, so the exit code is 2 whatever the others show." in done.stderr


def test_a_bad_file_hides_no_dissimilar_one_but_decides_the_exit_code(here, unlike):
    (here / "bad.json").write_text("hello")
    assert verdicts(unlike, "bad.json", code=FAILED) == {"unlike": "dissimilar"}


def test_nothing_but_bad_files_is_exit_code_2(here):
    (here / "bad.json").write_text("hello")
    assert content("bad.json", code=FAILED)["benchmarks"] == []
    assert "0 of 0 benchmarks" in run("check", "bad.json", code=FAILED).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Missing argument 'FILE...'"),
        (["gone.json"], "gone.json: there is no such file or folder."),
        (["alike.json", "--against", "gone.json"], "gone.json: there is no such file or folder."),
        (["alike.json", "--against"], "--against"),
        (["alike.json", "--against", ""], "One of the names is empty."),
        (["", "--against", "alike.json"], "One of the names is empty."),
        (["--against", "alike.json"], "Missing argument 'FILE...'"),
        (["alike.json", "--format", "xml"], "There is no format 'xml'; known are "),
        (["alike.json", "--classifier", "oracle"], "--classifier"),
        (["alike.json", "--alpha", "1"], "--alpha"),
        (["alike.json", "--warmup", "-1"], "--warmup"),
        (["alike.json", "--warmup", "1.5"], "Warmup must be a number of iterations or a share below 1, got 1.5."),
        (["alike.json", "--warmup", "100"], "all of them warm-up"),
        (["alike.json", "--columns", "x"], "expected benchmark=NAME"),
        (["alike.json", "--against", "alike.json", "--nonsense"], "No such option"),
        (["alike.json", "--json", "--markdown"], "Give either --json or --markdown."),
        (["empty"], "no result files"),
    ],
)
def test_every_error_is_exit_code_2_and_said_in_one_line(here, alike, arguments, words):
    (here / "empty").mkdir()
    done = run("check", *arguments, code=FAILED)
    assert done.stdout == ""
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert words in line


# with a baseline


def test_a_changed_benchmark_is_exit_code_1_in_either_direction(old, new):
    (slower,) = content(new, "--against", old, code=DISSIMILAR)["changes"]
    (faster,) = content(old, "--against", new, code=DISSIMILAR)["changes"]
    assert (slower["verdict"], faster["verdict"]) == ("slower", "faster")
    assert slower["ratio"]["value"] == pytest.approx(1.2, abs=0.002)  # candidate over baseline
    assert slower["ratio"]["value"] * faster["ratio"]["value"] == pytest.approx(1)


def test_what_became_faster_is_no_failure_where_only_slower_counts(old, new):
    assert content(new, "--against", old, "--fail-on", "slower", code=DISSIMILAR)["outcome"] == DISSIMILAR
    found = content(old, "--against", new, "--fail-on", "slower", code=SIMILAR)
    assert [change["verdict"] for change in found["changes"]] == ["faster"]  # it is told all the same
    assert "--fail-on" in run("check", old, "--against", new, "--fail-on", "odd", code=FAILED).stderr


def test_nothing_changed_is_exit_code_0_even_where_runs_are_dissimilar(unlike):
    found = content(unlike, "--against", unlike, code=SIMILAR)
    assert [one["verdict"] for one in found["benchmarks"]] == ["dissimilar"]
    assert [one["verdict"] for one in found["changes"]] == ["no significant change"]


def test_nothing_that_could_be_compared_is_exit_code_2(here, old, alike):
    found = content(alike, "--against", old, code=FAILED)
    assert (found["changes"], found["only_in_candidate"], found["only_in_baseline"]) == ([], ["alike"], ["b"])
    assert "Nothing could be compared" in run("check", alike, "--against", old, code=FAILED).stdout
    one_run = short(here / "one.json", 1.0)
    assert content(one_run, "--against", one_run, code=FAILED)["changes"][0]["verdict"] is None


def test_a_bad_baseline_is_exit_code_2_and_the_verdicts_are_shown(here, alike):
    (here / "bad.json").write_text("hello")
    found = content(alike, "--against", "bad.json", code=FAILED)
    assert [one["verdict"] for one in found["benchmarks"]] == ["similar"]
    assert found["parameters"]["against_a_baseline"] is True


def test_changes_are_told_by_the_means_of_runs_and_never_by_merged_iterations(here):
    # 60 iterations a run that hardly vary, but two runs a side whose levels overlap: merged, p would be about 0
    before, after = (icpe(here / "b.json", *(np.full(60, x) + np.linspace(0, 1e-3, 60) for x in levels)) and
                     exploring.from_files(list(_sources(here / "b.json"))).benchmarks
                     for levels in ((1.0, 1.2), (1.1, 1.3)))  # fmt: skip
    (change,) = exploring.checkup(after, before).content["changes"]
    assert change["verdict"] == "no significant change"
    assert change["n_baseline"] == change["n_candidate"] == 2


def _sources(*paths):
    from labeler.service.data import importing

    return importing.files_below(paths)


def test_the_level_is_over_all_benchmarks_by_holm(here):
    rng = np.random.default_rng(8)
    runs = {n: [(1 + 0.02 * (n == 0) * side + rng.normal(0, 0.01, (4, 3))).tolist() for side in (0, 1)]
            for n in range(8)}  # fmt: skip
    for side, name in enumerate(("before", "after")):
        entries = [jmh_entry(sides[side], benchmark=f"org.B.m{n}") for n, sides in runs.items()]
        (here / f"{name}.json").write_text(json.dumps(entries))
    found = content("after.json", "--against", "before.json", "--alpha", 0.01, code=SIMILAR)["changes"]
    assert len(found) == 8
    assert all(change["p"] <= change["p_holm"] for change in found)
    smallest = min(found, key=lambda change: change["p"])
    assert smallest["p_holm"] == pytest.approx(min(1, 8 * smallest["p"]))


# where the names stand


def test_names_behind_against_are_the_baseline_wherever_options_stand(here, old, new, alike):
    expected = content(new, "--against", old, alike, code=DISSIMILAR)
    assert expected["only_in_baseline"] == ["alike"]
    for arguments in (
        ("--format", "icpe", "--warmup", 0),
        ("--alpha", 0.05),
        ("--classifier", "heuristic"),
    ):
        if arguments[0] != "--format":
            assert content(*arguments, new, "--against", old, alike, code=DISSIMILAR) == expected
            assert content(new, "--against", old, alike, *arguments, code=DISSIMILAR) == expected
    assert content(new, "--against", old, "--against", alike, code=DISSIMILAR) == expected
    assert content(new, f"--against={old}", "--against", alike, code=DISSIMILAR) == expected
    assert content("--against", old, "--against", alike, new, code=DISSIMILAR) == expected


def test_with_against_in_front_one_name_is_the_baseline_and_the_others_are_checked(here, old, new, alike):
    found = content("--against", old, new, alike, code=DISSIMILAR)
    assert (found["only_in_candidate"], found["only_in_baseline"]) == (["alike"], [])
    assert [change["name"] for change in found["changes"]] == ["b"]


def test_files_on_both_sides_of_options_are_all_checked(here, alike, unlike, old):
    assert verdicts(alike, "--warmup", 0, unlike, code=DISSIMILAR) == {"alike": "similar", "unlike": "dissimilar"}


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("", ""),
        ("n", "n"),
        ("n --against a", "n --against a"),
        ("n --against a b --json", "n --against a --against b --json"),
        ("n --against a b --against c d", "n --against a --against b --against c --against d"),
        ("n --json --against a b --format icpe", "n --json --against a --against b --format icpe"),
        ("--json n --against a b", "--json n --against a --against b"),
        ("--format icpe n --against a b", "--format icpe n --against a --against b"),
        ("--format icpe --against a n", "--format icpe --against a n"),
        ("--against a n", "--against a n"),
        ("--against a n m", "--against a n m"),
        ("--against a n --against b c", "--against a n --against b --against c"),
        ("n --against=a b", "n --against=a b"),
        ("n --against a -- b", "n --against a -- b"),
        ("n --against", "n --against"),
        ("n -- --against a b", "n -- --against a b"),
        ("- --against a -", "- --against a --against -"),
        ("n --format", "n --format"),
    ],
)
def test_against_is_written_before_each_of_its_names(given, written):
    assert spread_out(given.split(), WITH_VALUE) == written.split()


# what is printed


def test_short_runs_are_judged_by_spread_and_it_is_said(old):
    done = run("check", old)
    assert "1 have runs of fewer than 50 iterations, too short for heuristic: spread judged them." in done.stdout
    (one,) = content(old)["benchmarks"]
    assert (one["classifier"], one["verdict"]) == ("spread", "similar")
    assert one["reason"] == "Runs of fewer than 50 iterations: judged by spread instead of heuristic."
    assert one["verdicts"] == {
        "heuristic": None, "heuristic-printed": None, "same": None, "spread": "similar", "kruskal": None,
    }  # fmt: skip


def test_short_runs_far_apart_are_dissimilar(here):
    assert verdicts(short(here / "wide.json", 1.0, 1.2), code=DISSIMILAR) == {"b": "dissimilar"}


@pytest.mark.parametrize(("classifier", "verdict"), [("heuristic", "dissimilar"), ("spread", "similar")])
def test_the_classifier_chosen_decides(unlike, classifier, verdict):
    code = DISSIMILAR if verdict == "dissimilar" else SIMILAR
    assert verdicts(unlike, "--classifier", classifier, code=code) == {"unlike": verdict}


def test_warmup_is_left_out(here):
    runs = [np.concatenate([np.full(10, 9.0 * (1 + i)), STEP]) for i in range(3)]
    path = icpe(here / "warm.json", *runs)
    assert verdicts(path, "--classifier", "spread", code=DISSIMILAR) == {"warm": "dissimilar"}
    assert verdicts(path, "--classifier", "spread", "--warmup", 10) == {"warm": "similar"}


def test_the_table_has_reasons_for_what_is_not_similar(here, alike, unlike):
    others = [icpe(here / f"{name}.json", STEP + at, STEP + at) for at, name in enumerate("xyz")]
    text = run("check", *others, alike, unlike, code=DISSIMILAR).stdout
    assert text.startswith("Benchmark check\n\nIn short\n")
    assert "The runs are similar for 4 of 5 benchmarks." in text
    assert re.search(r"^unlike +dissimilar +heuristic ", text, re.MULTILINE)
    assert text.index("\nunlike  ") < text.index("\nalike  ")  # what needs attention first
    assert "\nunlike\n------\n" in text and "\nalike\n-----\n" not in text
    for word in ("Level: ", "Pattern: ", "Distribution: ", "Warm-up: ", "Consequence: ", "found four times in five"):
        assert word in text


def test_json_holds_verdicts_reasons_changes_and_how_they_came_about(old, new):
    found = content(new, "--against", old, code=DISSIMILAR)
    assert set(found) == {"benchmarks", "changes", "only_in_candidate", "only_in_baseline", "parameters", "outcome"}
    assert found["outcome"] == DISSIMILAR
    used = {"classifier": "heuristic", "warmup": 0, "aggregate": "mean", "alpha": 0.05, "against_a_baseline": True}
    assert found["parameters"] | used == found["parameters"]
    reasons = found["benchmarks"][0]["reasons"]
    assert {"max_spread", "smallest_difference", "runs_needed", "sentences"} <= set(reasons)
    assert reasons["pattern"] == {"value": None, "se": None, "low": None, "high": None,
                                  "reason": "too short for pattern measures"}  # fmt: skip


def rows_of(markdown):
    """The cells of every table row."""
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in markdown.splitlines() if line.startswith("|")]


def test_markdown_is_what_github_shows_as_tables(old, new):
    text = run("check", new, "--against", old, "--markdown", code=DISSIMILAR).stdout
    assert text.startswith("# Benchmark check\n\n## In short\n\n- 1 of 1 benchmarks have changed")
    changes, verdicts = text.split("## Are the runs of each benchmark similar?")
    header, rule, row = rows_of(changes)
    assert [cell.strip() for cell in header][:3] == ["Benchmark", "Result", "Ratio"]
    assert {cell.strip() for cell in rule} == {"---", "---:"}
    assert len(header) == len(rule) == len(row)
    assert row[0].strip() == "b" and row[1].strip().startswith("slower (+")
    assert len({len(row) for row in rows_of(verdicts)}) == 1


NAUGHTY = "a|b `x` <script>alert(1)</script> [t](javascript:x) **c** #1 @all"


def test_markdown_of_hostile_names_is_only_text(here):
    path = short(here / "odd.json", 1.0, 1.5, name=NAUGHTY)
    text = run("check", path, "--markdown", code=DISSIMILAR).stdout
    (row,) = [row for row in rows_of(text) if "script" in row[0]]
    assert len(row) == 10
    bare = re.sub(r"\\.", "", text)  # without what is escaped
    for markup in ("<script", "`x`", "[t](", "**c**", "@all"):
        assert markup not in bare
    assert text.count("alert") >= 2


def test_names_with_line_breaks_stay_in_their_row(here):
    path = here / "odd.csv"
    path.write_bytes(csv_bytes([("a\n| b | c |\n# d", run, 1 + run) for run in (0, 1)], ("benchmark", "run", "value")))
    text = run("check", path, "--markdown", code=DISSIMILAR).stdout
    assert "# d" not in [line.strip() for line in text.splitlines()]
    assert len({len(row) for row in rows_of(text)}) == 1


def test_every_form_tells_the_same_outcome(old, new):
    for options in ((), ("--json",), ("--markdown",)):
        assert run("check", new, "--against", old, *options, code=DISSIMILAR).stdout
        assert run("check", old, "--against", old, *options, code=SIMILAR).stdout


def test_remarks_are_not_on_standard_output(here, alike):
    (here / "bad.json").write_text("hello")
    done = run("check", alike, "bad.json", code=FAILED)
    assert "Refused" not in done.stdout and "Refused" in done.stderr


# formats and help


def test_two_jmh_files_are_compared_with_their_direction(here):
    for name, level in (("before", 100.0), ("after", 90.0)):
        runs = [[level + i + 0.1 * j for j in range(3)] for i in range(5)]
        (here / f"{name}.json").write_text(json.dumps([jmh_entry(runs, unit="ops/s", mode="thrpt")]))
    (change,) = content("after.json", "--against", "before.json", code=DISSIMILAR)["changes"]
    assert change["verdict"] == "slower"
    assert change["ratio"]["value"] < 1  # fewer operations a second
    assert change["words"].startswith("slower (−")


def test_versions_in_one_file_are_judged_and_compared_apart(here):
    rows = [("b", run, 1 + 4 * (v == "new") + run / 1000, v) for v in ("old", "new") for run in range(4)]
    (here / "t.csv").write_bytes(csv_bytes(rows, ("benchmark", "run", "value", "version")))
    assert verdicts("t.csv") == {"b @ old": "similar", "b @ new": "similar"}
    found = content("t.csv", "--against", "t.csv")
    assert [change["name"] for change in found["changes"]] == ["b @ new", "b @ old"]


def test_columns_are_mapped_on_both_sides(here):
    for name in ("x", "y"):
        rows = [("b", fork, 1 + fork / 1000) for fork in range(4)]
        (here / f"{name}.csv").write_bytes(csv_bytes(rows, ("name", "fork", "s")))
    found = content("x.csv", "--against", "y.csv", "--columns", "benchmark=name,run=fork,value=s")
    assert [change["verdict"] for change in found["changes"]] == ["no significant change"]


def test_the_help_says_what_each_exit_code_means():
    text = " ".join(run("check", "--help").output.split())
    assert "Usage: labeler check [OPTIONS] FILE..." in text.replace("main check", "labeler check")
    for words in ("Exit code 0: similar, or with --against nothing has changed.",
                  "1: a benchmark is dissimilar, or with --against one has changed (with --fail-on slower: has become",
                  "2: an error, a file that was refused, or nothing could be judged.",
                  "Runs under 50 iterations are judged by spread."):  # fmt: skip
        assert words in text
