"""The check in a build: verdicts, changes, and above all exit codes."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from analysis.dissimilarity import TOO_SHORT
from labeler.cli.check import spread_out
from tests.labeler.commands import run
from tests.labeler.formats.examples import csv_bytes, jmh_entry, pyperf_file, pyperf_runs
from tests.sentences import says

SIMILAR, DISSIMILAR, FAILED, INCONCLUSIVE = 0, 1, 2, 3
GO_HEAD = "goos: linux\ngoarch: amd64\npkg: p\n"
STEP = np.repeat([1.0, 2.0], 50)
WITH_VALUE, MAY_HAVE_VALUE = {"--against", "--format", "--json"}, {"--json"}


def icpe(path, *runs):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([list(map(float, run)) for run in runs]))
    return path


def short(path, *levels, name="b"):
    """Return a pyperf file: runs of five values at these levels."""
    rng = np.random.default_rng(6)
    runs = pyperf_runs(*((level + rng.normal(0, 0.001, 5)).tolist() for level in levels))
    path.write_bytes(pyperf_file(({"name": name}, runs)))
    return path


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder without a configured study."""
    monkeypatch.delenv("LABELER_STUDY", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def alike(here):
    return icpe(here / "alike.json", STEP, STEP + 1e-6, STEP)


@pytest.fixture
def unlike(here):
    return icpe(here / "unlike.json", STEP, 1.2 * STEP, STEP)


@pytest.fixture
def old(here):
    return short(here / "old.json", 1.0, 1.01, 0.99, 1.0)


@pytest.fixture
def same(here):
    """Runs of the same speed as `old`, but measured again."""
    return short(here / "same.json", 1.0005, 1.0095, 0.9904, 1.0002)


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


def test_one_run_is_inconclusive_unless_that_is_allowed(here, alike):
    single = icpe(here / "single.json", STEP)
    found = content(single, alike, code=INCONCLUSIVE)
    assert found["outcome"] == INCONCLUSIVE
    assert {one["name"]: one["reason"] for one in found["benchmarks"]} == {
        "alike": None, "single": "one process: not tested"}  # fmt: skip
    run("check", single, alike, "--allow-inconclusive", code=SIMILAR)


@pytest.mark.parametrize("broken", ["[[1.0, NaN], [1.0, 2.0]]", "", "hello", '{"benchmarks": []}'])
def test_a_bad_file_is_exit_code_2_and_everything_else_is_shown(here, alike, broken):
    (here / "bad.json").write_text(broken)
    done = run("check", alike, "bad.json", "--json", code=FAILED)
    assert [one["verdict"] for one in json.loads(done.stdout)["benchmarks"]] == ["similar"]
    assert "Refused bad.json: " in done.stderr
    assert "exit code is 2" in done.stderr


def test_a_bad_file_hides_no_dissimilar_one_but_decides_the_exit_code(here, unlike):
    (here / "bad.json").write_text("hello")
    assert verdicts(unlike, "bad.json", code=FAILED) == {"unlike": "dissimilar"}


def test_nothing_but_bad_files_is_exit_code_2(here):
    (here / "bad.json").write_text("hello")
    assert content("bad.json", code=FAILED)["benchmarks"] == []
    assert "benchmarks to check" in run("check", "bad.json", code=FAILED).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Missing argument 'PATH...'"),
        (["gone.json"], "gone.json: no such file or folder."),
        (["alike.json", "--against", "gone.json"], "gone.json: no such file or folder."),
        (["alike.json", "--against"], "--against"),
        (["alike.json", "--against", ""], "names is empty"),
        (["", "--against", "alike.json"], "names is empty"),
        (["--against", "alike.json"], "Missing argument 'PATH...'"),
        (["alike.json", "--format", "xml"], "There is no format 'xml'. The formats are "),
        (["alike.json", "--classifier", "oracle"], "--classifier"),
        (["alike.json", "--alpha", "1"], "--alpha"),
        (["alike.json", "--warmup", "-1"], "--warmup"),
        (["alike.json", "--warmup", "1.5"], "or auto, got 1.5"),
        (["alike.json", "--warmup", "100"], "all of them warm-up"),
        (["alike.json", "--columns", "x"], "benchmark=NAME"),
        (["alike.json", "--against", "alike.json", "--nonsense"], "No such option"),
        (["alike.json", "--json", "--markdown"], "--markdown cannot"),
        (["alike.json", "--json", "alike.json"], "--json alike.json"),
        (["alike.json", "--min-change", "5"], "write 5%."),
        (["alike.json", "--max-slowdown", "much"], "'much' is not a share. Write it as 2% or 0.02."),
        (["alike.json", "--max-slowdown", "-5%"], "'-5%' is not a share"),
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


def test_a_change_for_the_worse_is_exit_code_1_and_one_for_the_better_is_told(old, new):
    (slower,) = content(new, "--against", old, code=DISSIMILAR)["changes"]
    (faster,) = content(old, "--against", new, code=SIMILAR)["changes"]
    assert (slower["verdict"], faster["verdict"]) == ("slower", "faster")
    assert slower["ratio"]["value"] == pytest.approx(1.2, abs=0.002)  # candidate divided by baseline
    assert slower["ratio"]["value"] * faster["ratio"]["value"] == pytest.approx(1)
    assert says(run("check", old, "--against", new).stdout, "1 faster (", "−16")


def test_every_change_is_a_finding_where_that_is_asked_for(old, new):
    assert content(old, "--against", new, "--fail-on", "change", code=DISSIMILAR)["outcome"] == DISSIMILAR
    assert "--fail-on" in run("check", old, "--against", new, "--fail-on", "odd", code=FAILED).stderr


@pytest.mark.parametrize("share", ["30%", "30 %", "0.3"])
def test_small_changes_are_no_findings_and_large_slowdowns_must_be_excluded(old, new, here, share):
    run("check", new, "--against", old, "--min-change", share, code=SIMILAR)
    run("check", new, "--against", old, "--max-slowdown", share, code=SIMILAR)
    noisy = short(here / "noisy.json", 1.0, 1.9, 0.8, 1.1)
    done = run("check", noisy, "--against", old, "--max-slowdown", share, code=INCONCLUSIVE)
    assert says(" ".join(done.stdout.split()), "do not exclude", "30 %")
    run("check", noisy, "--against", old, "--max-slowdown", share, "--allow-inconclusive", code=SIMILAR)


def test_nothing_changed_is_exit_code_0_even_where_runs_are_dissimilar(here):
    before, after = (short(here / f"{seed}.json", *(1 + (seed + k) % 5 / 30 for k in range(8))) for seed in (0, 3))
    found = content(after, "--against", before, code=SIMILAR)
    assert [one["verdict"] for one in found["benchmarks"]] == ["dissimilar"]
    assert [one["verdict"] for one in found["changes"]] == ["no significant change"]


def test_the_same_data_on_both_sides_is_exit_code_3(here, new, old):
    copy = here / "copy.json"
    copy.write_bytes(new.read_bytes())
    for arguments in ((new, "--against", new), (new, "--against", copy)):
        done = run("check", *arguments, code=INCONCLUSIVE)
        assert "same file is on both sides" in done.stdout
        assert "The same measurements are on both sides, so nothing was compared." in done.stdout
    two = json.loads(old.read_text())
    two["benchmarks"][0]["runs"] += json.loads(new.read_text())["benchmarks"][0]["runs"]
    both = here / "both.json"
    both.write_text(json.dumps(two))
    done = run("check", new, "--against", both, code=INCONCLUSIVE)
    assert "same" in done.stdout


def test_nothing_that_could_be_compared_is_inconclusive(here, old, alike):
    found = content(alike, "--against", old, code=INCONCLUSIVE)
    assert (found["changes"], found["only_in_candidate"], found["only_in_baseline"]) == ([], ["alike"], ["b"])
    assert "nothing was compared" in run("check", alike, "--against", old, code=INCONCLUSIVE).stdout
    one_run = short(here / "one.json", 1.0)
    assert content(one_run, "--against", one_run, code=INCONCLUSIVE)["changes"][0]["verdict"] is None


def test_a_vanished_benchmark_is_exit_code_3_unless_allowed(old, same, alike):
    done = run("check", same, "--against", old, alike, code=INCONCLUSIVE)
    assert says(done.stdout, "1 missing, 1 no change", "missing  alike")
    run("check", same, "--against", old, alike, "--allow-missing", code=SIMILAR)


def rounds(path, **levels):
    """Return a file of pytest-benchmark: one process."""
    entries = [{"fullname": name, "params": None, "stats": {"data": [level, 1.001 * level, 0.999 * level]}}
               for name, level in levels.items()]  # fmt: skip
    document = {"machine_info": {}, "commit_info": {}, "datetime": "2024-05-01T10:00:00", "benchmarks": entries}
    path.write_text(json.dumps(document))
    return path


def test_processes_that_crashed_before_a_benchmark_are_exit_code_3(here):
    rng = np.random.default_rng(2)
    before = [rounds(here / f"old-{i}.json", a=1 + rng.normal(0, 0.01), b=1 + rng.normal(0, 0.01)) for i in range(10)]
    after = [rounds(here / f"new-{i}.json", a=1 + rng.normal(0, 0.01), **({"b": 1.0 + i / 100} if i < 2 else {}))
             for i in range(10)]  # fmt: skip
    for arguments in ((*after,), (*after, "--against", *before)):
        done = run("check", *arguments, code=INCONCLUSIVE)
        assert says(done.stdout, "1 failed", "8 of 10 runs", "missing in")
    run("check", *after, "--against", *before, "--allow-missing", code=SIMILAR)
    suites = [rounds(here / f"other-{i}.json", c=1.0 + i / 1000) for i in range(3)]  # a separate suite
    run("check", *before, *suites, code=SIMILAR)


def test_one_process_a_side_is_described_with_the_command_that_measures_more(here):
    files = [rounds(here / f"{name}.json", b=level) for name, level in (("new", 1.1), ("old", 1.0))]
    done = run("check", files[0], "--against", files[1], code=INCONCLUSIVE)
    assert "one process: not tested" in done.stdout and "+10.0 %" in done.stdout
    assert "\n    for i in $(seq 10); do for v in OLD NEW; do\n      (cd $v && pytest --benchmark-json=" in done.stdout


def test_values_as_runs_are_compared_and_the_false_alarms_said_each_time(here):
    files = [rounds(here / f"{name}.json", b=level) for name, level in (("new", 1.1), ("old", 1.0))]
    done = run("check", files[0], "--against", files[1], "--values-are", "runs", code=DISSIMILAR)
    text = " ".join(done.stdout.split())
    assert "82 % of unchanged" in text


def test_files_of_one_side_that_are_all_older_are_warned_of(here):
    sides = {"old": (0, 1, 2), "new": (3, 4, 5)}
    for side, hours in sides.items():
        for hour in hours:
            path = rounds(here / f"{side}-{hour}.json", b=1 + hour % 3 / 1000)
            path.write_text(path.read_text().replace("T10:", f"T1{hour}:"))
    done = run("check", *here.glob("new-*"), "--against", *here.glob("old-*"), code=SIMILAR)
    assert "Measure by turns" in " ".join(done.stdout.split())


def test_a_bad_baseline_is_exit_code_2_and_the_verdicts_are_shown(here, alike):
    (here / "bad.json").write_text("hello")
    found = content(alike, "--against", "bad.json", code=FAILED)
    assert [one["verdict"] for one in found["benchmarks"]] == ["similar"]
    assert found["parameters"]["against_a_baseline"] is True


def test_changes_are_told_by_the_means_of_runs_and_never_by_merged_iterations(here):
    # 60 iterations per run that hardly vary, but two runs per side whose levels overlap: merged, p would be about 0
    before, after = (
        icpe(here / side / "b.json", *(np.full(60, x) + np.linspace(0, 1e-3, 60) for x in levels))
        for side, levels in (("old", (1.0, 1.2)), ("new", (1.1, 1.3)))
    )
    (change,) = content(after, "--against", before, code=INCONCLUSIVE)["changes"]  # too noisy
    assert change["verdict"] == "no significant change"
    assert change["n_baseline"] == change["n_candidate"] == 2


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


# annotations beside files


def test_names_behind_against_are_the_baseline_wherever_options_stand(here, old, new, alike):
    expected = content(new, "--against", old, alike, code=DISSIMILAR)
    assert expected["only_in_baseline"] == ["alike"]
    for arguments in (
        ("--format", "icpe", "--warmup", 0),
        ("--alpha", 0.05),
        ("--classifier", "spread"),
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
        ("--flag n --against a b", "--flag n --against a --against b"),
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
        ("n --json --against a b", "n --json --against a --against b"),
        ("n --json f --against a b", "n --json f --against a --against b"),
        ("n --json - --against a b", "n --json - --against a --against b"),
    ],
)
def test_against_is_written_before_each_of_its_names(given, written):
    assert spread_out(given.split(), WITH_VALUE, MAY_HAVE_VALUE) == written.split()


# output


def test_spread_is_shown_beside_the_classifier_asked_for(old):
    (one,) = content(old)["benchmarks"]
    assert (one["verdict"], one["verdicts"]) == ("similar", {"spread": "similar"})
    (one,) = content(old, "--classifier", "heuristic", code=INCONCLUSIVE)["benchmarks"]
    assert (one["verdict"], one["verdicts"]) == (None, {"spread": "similar", "heuristic": None})
    assert one["reason"] == TOO_SHORT


def test_short_runs_far_apart_are_dissimilar(here):
    assert verdicts(short(here / "wide.json", 1.0, 1.2), code=DISSIMILAR) == {"b": "dissimilar"}


@pytest.mark.parametrize(("classifier", "verdict"), [("heuristic", "dissimilar"), ("spread", "similar")])
def test_the_classifier_chosen_decides(here, classifier, verdict):
    turned = icpe(here / "turned.json", STEP, STEP[::-1], STEP)
    code = DISSIMILAR if verdict == "dissimilar" else SIMILAR
    assert verdicts(turned, "--classifier", classifier, code=code) == {"turned": verdict}


def test_the_limit_of_spread_is_a_share(old):
    assert verdicts(old, "--max-spread", "1%", code=DISSIMILAR) == {"b": "dissimilar"}


def test_warmup_is_left_out(here):
    runs = [np.concatenate([np.full(10, 9.0 * (1 + i)), STEP]) for i in range(3)]
    path = icpe(here / "warm.json", *runs)
    assert verdicts(path, "--classifier", "spread", code=DISSIMILAR) == {"warm": "dissimilar"}
    assert verdicts(path, "--classifier", "spread", "--warmup", 10) == {"warm": "similar"}


def test_the_table_has_reasons_for_what_is_not_similar(here, alike, unlike):
    others = [icpe(here / f"{name}.json", STEP, STEP + k / 1e6) for k, name in enumerate("xyz")]
    short_text = run("check", *others, alike, unlike, code=DISSIMILAR).stdout
    assert short_text.startswith("1 dissimilar, 4 similar (detectable: ")
    assert len(short_text.splitlines()) <= 12
    text = run("check", *others, alike, unlike, "-v", code=DISSIMILAR).stdout
    assert text.startswith("Benchmark check\n\nResult\n------\n\n")
    assert "- unlike: " in text
    assert re.search(r"^unlike +dissimilar +18.8 %", text, re.MULTILINE)
    assert text.index("\nunlike  ") < text.index("\nalike  ")  # important results first
    assert "\nunlike\n------\n" in text and "\nalike\n-----\n" not in text
    for word in ("Level: ", "Pattern: ", "Distribution: ", "Warm-up: ", "Consequence: ", "with 80 % power"):
        assert word in text
    assert text.index("Next steps") > text.index("Consequence: ")


def test_json_holds_verdicts_reasons_changes_and_how_they_came_about(old, new):
    found = content(new, "--against", old, code=DISSIMILAR)
    assert set(found) == {
        "benchmarks", "changes", "only_in_candidate", "only_in_baseline", "findings", "warnings", "parameters",
        "outcome", "known", "suite", "notes", "former_names", "n_candidates",
    }  # fmt: skip
    assert found["findings"][0] | {"kind": "changed", "name": "b", "outcome": 1} == found["findings"][0]
    assert found["outcome"] == DISSIMILAR
    used = {"classifier": "spread", "warmup": 0, "aggregate": "mean", "alpha": 0.05, "against_a_baseline": True}
    assert found["parameters"] | used == found["parameters"]
    reasons = found["benchmarks"][0]["reasons"]
    assert {"max_spread", "smallest_difference", "runs_needed", "sentences"} <= set(reasons)
    assert reasons["pattern"] == {"value": None, "se": None, "low": None, "high": None,
                                  "reason": TOO_SHORT}  # fmt: skip


def rows_of(markdown):
    """Return the cells of every table row."""
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in markdown.splitlines() if line.startswith("|")]


def test_markdown_is_what_github_shows_as_tables(old, new):
    text = run("check", new, "--against", old, "--markdown", code=DISSIMILAR).stdout
    assert text.startswith("# Benchmark check: 1 slower\n\n| Benchmark | Result | Change | 95 % CI |\n")
    short_part, details = text.split("<details>\n<summary>")
    assert " %; few runs |" in short_part
    assert "\n\n## Details" in details and details.endswith("</details>\n")
    changes, verdicts = details.split("## Are the runs of each benchmark similar?")
    for part in (short_part, changes):
        header, rule, row = rows_of(part)
        assert [cell.strip() for cell in header][:3] == ["Benchmark", "Result", "Change"]
        assert {cell.strip() for cell in rule} == {"---", "---:"}
        assert len(header) == len(rule) == len(row)
        assert row[0].strip() == "b" and row[1].strip() == "slower"
    assert len({len(row) for row in rows_of(verdicts)}) == 1


NAUGHTY = "a|b `x` <script>alert(1)</script> [t](javascript:x) **c** #1 @all"


def test_markdown_of_hostile_names_is_only_text(here):
    path = short(here / "odd.json", 1.0, 1.5, name=NAUGHTY)
    text = run("check", path, "--markdown", code=DISSIMILAR).stdout
    assert [len(row) for row in rows_of(text) if "script" in row[0]] == [4, 5]
    bare = re.sub(r"\\.", "", text)  # without escaping
    for markup in ("<script", "`x`", "[t](", "**c**", "@all"):
        assert markup not in bare
    assert text.count("alert") >= 2


def test_names_with_line_breaks_stay_in_their_row(here):
    path = here / "odd.csv"
    path.write_bytes(csv_bytes([("a\n| b | c |\n# d", run, 1 + run) for run in (0, 1)], ("benchmark", "run", "value")))
    text = run("check", path, "--markdown", code=DISSIMILAR).stdout
    assert "# d" not in [line.strip() for line in text.splitlines()]
    assert [len(row) for row in rows_of(text)] == [4, 4, 4, 5, 5, 5]


def test_every_form_tells_the_same_outcome(old, new, same):
    for options in ((), ("--json",), ("--markdown",), ("--junit",), ("--html", "-")):
        assert run("check", new, "--against", old, *options, code=DISSIMILAR).stdout
        assert run("check", same, "--against", old, *options, code=SIMILAR).stdout


def test_any_number_of_forms_is_written_at_once(here, old, new):
    names = {form: f"out.{form}" for form in ("json", "markdown", "junit", "html")}
    options = [word for form, name in names.items() for word in (f"--{form}", name)]
    done = run("check", new, "--against", old, *options, code=DISSIMILAR)
    assert done.stdout.startswith("1 slower (")
    texts = {form: (here / name).read_text() for form, name in names.items()}
    assert json.loads(texts["json"])["outcome"] == DISSIMILAR
    assert texts["markdown"].startswith("# Benchmark check")
    assert ET.fromstring(texts["junit"])[0].get("failures") == "1"
    assert texts["html"].startswith("<!DOCTYPE html>") and "Holm p" in texts["html"]
    done = run("check", new, "--against", old, "--json", "-", "--markdown", "x.md", code=DISSIMILAR)
    assert json.loads(done.stdout)["outcome"] == DISSIMILAR
    assert (here / "x.md").read_text() == texts["markdown"]


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
    assert change["ratio"]["value"] < 1  # fewer operations per second
    assert change["words"].startswith("slower (−")


def test_versions_in_one_file_are_judged_and_compared_apart(here):
    rows = [("b", run, 1 + 4 * (v == "new") + run / 1000, v) for v in ("old", "new") for run in range(4)]
    (here / "t.csv").write_bytes(csv_bytes(rows, ("benchmark", "run", "value", "version")))
    assert verdicts("t.csv") == {"b @ old": "similar", "b @ new": "similar"}
    again = [(name, run, value + 0.0005 * (run % 2), v) for name, run, value, v in rows]
    (here / "u.csv").write_bytes(csv_bytes(again, ("benchmark", "run", "value", "version")))
    found = content("u.csv", "--against", "t.csv")
    assert [change["name"] for change in found["changes"]] == ["b @ new", "b @ old"]


def test_columns_are_mapped_on_both_sides(here):
    for name in ("x", "y"):
        rows = [("b", fork, 1 + fork / 1000 + (name == "x") / 5000) for fork in range(4)]
        (here / f"{name}.csv").write_bytes(csv_bytes(rows, ("name", "fork", "s")))
    found = content("x.csv", "--against", "y.csv", "--columns", "benchmark=name,run=fork,value=s")
    assert [change["verdict"] for change in found["changes"]] == ["no significant change"]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("go.txt", f"{GO_HEAD}BenchmarkA-8\n--- FAIL: BenchmarkA-8\nFAIL\tp\t0.01s\n", "failed  p.BenchmarkA"),
        ("t.csv", "benchmark,run,iteration,value,failure\nc,1,0,,exit status 3\n", "failed  c"),
    ],
)
def test_a_file_in_which_every_benchmark_failed_is_inconclusive_but_cannot_be_imported(tmp_path, name, text, line):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert line in run("check", file, code=INCONCLUSIVE).stdout
    assert "has a measurement" in run("import", "--dry-run", file, code=1).stderr


def test_the_help_says_what_each_exit_code_means():
    text = " ".join(run("check", "--help").output.split())
    assert "Usage: labeler check [OPTIONS] PATH..." in text.replace("main check", "labeler check")
    for words in ("Exit code 0: no findings.", "1: a benchmark became worse",
                  "2: a usage error, or a file that cannot be read.", "3: the check is inconclusive",
                  "the spread is also shown"):  # fmt: skip
        assert words in text


# files with means only


def statistics_only(path, level):
    """Return a file of pytest-benchmark without the rounds."""
    entries = [{"fullname": "b", "params": None, "stats": {"mean": level, "stddev": 0.1}}]
    path.write_text(json.dumps({"machine_info": {}, "commit_info": {}, "benchmarks": entries}))
    return path


def test_files_with_means_are_compared_as_one_number_per_run(here):
    before = [statistics_only(here / f"old-{i}.json", 1 + i / 100) for i in range(5)]
    after = [statistics_only(here / f"new-{i}.json", 1.2 + i / 100) for i in range(5)]
    (change,) = content(*after, "--against", *before, code=DISSIMILAR)["changes"]
    assert (change["n_baseline"], change["verdict"]) == (5, "slower")
    assert change["ratio"]["value"] == pytest.approx(1.22 / 1.02, abs=0.01)
    done = run("check", after[0], "--against", before[0], code=INCONCLUSIVE)
    assert "one process: not tested" in done.stdout
    assert "has only statistics" in run("spread", after[0], code=2).stderr  # other commands need the measurements


@pytest.mark.parametrize("name", ["asv-medians.json", "Example.Sorting-report-brief.json"])
def test_means_of_other_tools_are_taken_too(name):
    file = Path(__file__).parent / "formats" / "files" / name
    found = content(file, "--against", file, code=INCONCLUSIVE)
    measured = [change for change in found["changes"] if change["n_candidate"]]
    assert {change["n_candidate"] for change in measured} == {1}
    assert {change["ratio"]["value"] for change in measured} == {1.0}


def test_a_benchmark_whose_every_run_failed_is_a_finding_also_without_a_baseline(here):
    entries = [{"command": "good", "times": [1.0] * 5}, {"command": "broken", "times": [1.0], "exit_codes": [3]}]
    (here / "h.json").write_text(json.dumps({"results": entries}))
    findings = content("h.json", code=INCONCLUSIVE)["findings"]
    assert [(one["kind"], one["words"]) for one in findings if one["name"] == "broken"] == [
        ("failed runs", "1 of 1 runs failed: exit code 3")
    ]
    entries[1]["exit_codes"] = [0]
    (here / "before.json").write_text(json.dumps({"results": entries}))
    compared = content("h.json", "--against", "before.json", code=INCONCLUSIVE)
    assert [one["name"] for one in compared["findings"] if one["kind"] == "failed runs"] == ["broken"]


def test_a_benchmark_that_was_skipped_on_purpose_is_named_but_no_finding(here):
    skipped = {"name": "gpu", "run_type": "iteration", "skipped": True, "skip_message": "no gpu"}
    for at in range(3):
        row = {"name": "a", "run_type": "iteration", "real_time": 1.0 + at / 100, "time_unit": "s"}
        (here / f"{at}.json").write_text(json.dumps({"context": {}, "benchmarks": [row, skipped]}))
    done = run("check", *(f"{at}.json" for at in range(3)), code=0)
    assert says(done.stderr, "'gpu' is left out", "repetition 0", "'no gpu'")
    assert "gpu" not in done.stdout


def test_copied_renamed_split_and_shuffled_files_change_no_number(here):
    rng = np.random.default_rng(4)
    rows = [("b", run, value) for run in range(6) for value in (1 + 0.01 * rng.normal(0, 1, 3)).tolist()]
    columns = ("benchmark", "run", "value")
    for name, some in (
        ("all", rows), ("copy", rows), ("first", rows[:9]), ("rest", rows[9:]), ("turned", rows[9:] + rows[:9]),
    ):  # fmt: skip
        (here / f"{name}.csv").write_bytes(csv_bytes(some, columns))
    (here / "old.csv").write_bytes(csv_bytes([("b", run, 0.9 + run / 100) for run in range(6)], columns))

    def found(*files):
        return content(*files, "--against", "old.csv", "--unit", "s", code=DISSIMILAR)

    expected = found("all.csv")
    assert found("copy.csv") == found("turned.csv") == expected
    assert found("all.csv", "copy.csv") == expected
    run(
        "check", "first.csv", "rest.csv", "--against", "old.csv", code=FAILED
    )  # two halves of a study: stated, not guessed


def test_a_version_among_the_files_can_be_the_baseline(tmp_path):
    rows = [("b", f"{version}{run_}", value + run_ / 100, version)
            for version, value in (("c1", 1.0), ("c2", 1.5)) for run_ in range(6)]  # fmt: skip
    lines = ["benchmark,run,value,version,unit", *(f"{','.join(map(str, row))},s" for row in rows)]
    (tmp_path / "both.csv").write_text("\n".join(lines))
    slower = run("check", tmp_path / "both.csv", "--against-version", "c1", code=DISSIMILAR).stdout
    assert says(slower, "1 slower", "+4")
    faster = run(
        "check", tmp_path / "both.csv", "--against-version", "c2", "--fail-on", "change", code=DISSIMILAR
    ).stdout
    assert says(faster, "1 faster", "−3")
    unknown = run("check", tmp_path / "both.csv", "--against-version", "c3", code=FAILED).stderr
    assert "Versions: c1, c2" in unknown and "--between" in unknown


# known changes and build servers


def known_changes(path, until, **more):
    lines = ["[[known]]", 'benchmark = "b"', 'reason = "checks its input now"', f"until = {until}"]
    path.write_text("\n".join([*lines, *(f"{key} = {value}" for key, value in more.items())]))
    return path


def test_a_known_change_passes_until_its_last_day(here, old, new):
    path = known_changes(here / "known.toml", "2999-12-31")
    found = content(new, "--against", old, "--ack", path, code=SIMILAR)
    assert found["findings"][0]["known"] == "checks its input now"
    assert "checks its input now" in run("check", new, "--against", old, "--ack", path, "--markdown").stdout
    known_changes(path, "2020-12-31")
    done = run("check", new, "--against", old, "--ack", path, code=DISSIMILAR)
    assert says(" ".join(done.stdout.split()), "expired after 2020-12-31: b", "now")


@pytest.mark.parametrize(("at_most", "code"), [('"25%"', SIMILAR), ('"15 %"', DISSIMILAR)])
def test_a_known_change_that_grows_is_a_finding_again(here, old, new, at_most, code):
    path = known_changes(here / "known.toml", "2999-12-31", at_most=at_most)
    run("check", new, "--against", old, "--ack", path, code=code)


def test_the_summary_of_a_job_gets_the_check_after_what_is_there(here, old, new, monkeypatch):
    (here / "summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary.md"))
    run("check", new, "--against", old, "--annotations", "github", code=DISSIMILAR)
    lines = (here / "summary.md").read_text().splitlines()
    assert lines[:2] == ["before", "# Benchmark check: 1 slower"] and "<details>" in lines


def test_github_is_shown_each_finding_beside_a_file_and_nothing_else_obeys(here, old, new, same, monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    done = run("check", new, "--against", old, "--annotations", "github", "--json", code=DISSIMILAR)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("::")]
    assert line.startswith(f"::error file={new},title=b::slower (+20.0 %25, 95 %25 CI ".replace(":\\", "%3A\\"))
    assert json.loads(done.stdout)["outcome"] == DISSIMILAR
    run("check", same, "--against", old, "--annotations", "github", code=SIMILAR)


def test_a_name_too_long_for_a_file_is_shown_beside_the_results(here):
    name = f"{'x' * 300}::y"
    before, after = (short(here / f"{n}.json", n, 1.01 * n, 0.99 * n, name=name) for n in (1, 2))
    done = run("check", after, "--against", before, "--annotations", "github", code=DISSIMILAR)
    assert f"::error file={after},title=xxx" in done.stderr


def test_a_name_cannot_give_github_a_command(here):
    name = "x\n::error title=a,b::c%0A"
    before, after = (
        short(here / "1.json", 1.0, 1.01, 0.99, name=name),
        short(here / "2.json", 2.0, 2.01, 1.99, name=name),
    )
    done = run("check", after, "--against", before, "--annotations", "github", code=DISSIMILAR)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("::")]
    assert "title=x %3A%3Aerror title=a%2Cb%3A%3Ac%250A::slower" in line


def test_of_many_findings_github_gets_as_many_as_it_shows_and_the_number_of_the_rest(here):
    paths = [short(here / f"{n}-{k}.json", *([k + 1.0] * 3), name=f"b{n}") for n in range(15) for k in (0, 1)]
    done = run("check", *paths[1::2], "--against", *paths[::2], "--annotations", "github", code=DISSIMILAR)
    lines = [line for line in done.stderr.splitlines() if line.startswith("::")]
    assert len(lines) == 10
    assert lines[-1] == "::error title=labeler check::6 more findings are in the summary of the job."


def test_a_benchmark_named_after_its_file_is_shown_there(here):
    (here / "test_sort.py").write_text("")
    name = "test_sort.py::test_sort[10]"
    before, after = (
        short(here / "1.json", 1.0, 1.01, 0.99, name=name),
        short(here / "2.json", 2.0, 2.01, 1.99, name=name),
    )
    done = run("check", after, "--against", before, "--annotations", "github", code=DISSIMILAR)
    assert "::error file=test_sort.py,title=test_sort.py%3A%3Atest_sort[10]::slower" in done.stderr
    run("check", after, "--against", before, "--annotations", "gitlab", code=DISSIMILAR)
    (entry,) = json.loads((here / "gl-code-quality-report.json").read_text())
    assert (entry["location"]["path"], entry["severity"]) == ("test_sort.py", "major")
    assert entry["description"].startswith("test_sort.py::test_sort[10]: slower (+")


def test_gitlab_gets_what_its_format_asks_for_and_an_empty_list_without_findings(here, old, new, same):
    run("check", new, "--against", old, "--annotations", "gitlab", code=DISSIMILAR)
    (entry,) = json.loads((here / "gl-code-quality-report.json").read_text())
    assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
    assert entry["location"]["lines"] == {"begin": 1} and len(entry["fingerprint"]) == 64
    run("check", same, "--against", old, "--annotations", "gitlab", code=SIMILAR)
    assert json.loads((here / "gl-code-quality-report.json").read_text()) == []


def test_junit_has_a_case_for_each_benchmark(here, old, new):
    hostile, hostile_before = (
        short(here / f"odd-{k}.json", 1 + k, 1.01 + k, 0.99 + k, name="\x1f<bad>") for k in (0, 0.001)
    )
    known = known_changes(here / "known.toml", "2999-12-31")
    gone = short(here / "gone.json", 1.0, 1.01, 0.99, name="gone")
    alike, before = (icpe(here / f"{k}" / "alike.json", *(STEP + k + n / 1e3 for n in range(3))) for k in (0, 1e-4))
    arguments = (new, alike, hostile, "--against", old, before, hostile_before, gone)
    suite = ET.fromstring(run("check", *arguments, "--junit", code=DISSIMILAR).stdout)[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "0"]
    cases = {case.get("name"): case for case in suite}
    assert cases["b"].find("failure").get("message").startswith("slower (+20.0 %")
    assert cases["gone"].find("error").get("type") == "missing"
    assert cases["alike"].find("failure") is None
    assert cases["alike"].find("system-out").text.startswith("no significant change")
    allowed = run("check", *arguments, "--ack", known, "--allow-missing", "--junit", code=SIMILAR).stdout
    assert ET.fromstring(allowed)[0].get("skipped") == "2"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[known]", "is not valid TOML"),
        ("[known]\nbenchmark = 1", "begin with [[known]]"),
        ("b = 1", "begin with [[known]]"),
        ('[[known]]\nreason = "r"', "entry 1: benchmark must be text"),
        ('[[known]]\nbenchmark = "b"\nreason = " "', "entry 1: reason must be text"),
        ('[[known]]\nbenchmark = "b"\nreason = "r"', "entry 1: until"),
        ('[[known]]\nbenchmark = "b"\nreason = "r"\nuntil = "2027-01-01"', "entry 1: until"),
        ('[[known]]\nbenchmark = "b"\nreason = "r"\nuntil = 2027-01-01T00:00:00', "entry 1: until"),
        ('[[known]]\nbenchmark = "b"\nreason = "r"\nuntil = 2027-01-01\nat_most = 0.06', "at_most must be a share"),
        ('[[known]]\nbenchmark = "b"\nreason = "r"\nuntil = 2027-01-01\nat_most = "-6%"', "at_most must be a share"),
        ('[[known]]\nbench = "b"', "entry 1: unknown key 'bench'. Possible keys: benchmark, reason, until, at_most."),
    ],
)
def test_a_file_of_known_changes_that_cannot_be_understood_is_exit_code_2(here, old, text, words):
    (here / "known.toml").write_text(text)
    assert words in run("check", old, "--ack", "known.toml", code=FAILED).stderr


def test_the_file_of_known_changes_is_not_written_over(here, old):
    path = known_changes(here / "known.toml", "2999-12-31")
    before = path.read_text()
    assert "input file" in run("check", old, "--ack", path, "--json", path, code=FAILED).stderr
    assert path.read_text() == before


def test_a_file_of_known_changes_that_is_not_there_or_no_text_is_named(here, old):
    assert says(run("check", old, "--ack", "gone.toml", code=FAILED).stderr, "gone.toml: No such")
    (here / "known.toml").write_bytes(b"\xff")
    assert says(run("check", old, "--ack", "known.toml", code=FAILED).stderr, "known.toml", "not valid TOML")


def test_a_go_benchmark_that_panics_is_exit_code_3_whatever_the_baseline_has(here):
    def output(name, level, ending=""):
        lines = f"goos: linux\ngoarch: amd64\npkg: p\nBenchmarkA-2 10 {level} ns/op\n{ending}"
        (here / name).write_text(lines)
        return name

    panics = "BenchmarkB-2  \tpanic: boom\nexit status 2\nFAIL\tp\t0.1s\n"
    after = [output(f"new-{k}.txt", 100 + k, panics) for k in range(5)]
    without = [output(f"old-{k}.txt", 100.5 + k) for k in range(5)]
    with_b = [output(f"base-{k}.txt", 100.25 + k, f"BenchmarkB-2 10 {50 + k} ns/op\nPASS\n") for k in range(5)]
    for before in (without, with_b):
        done = run("check", *after, "--against", *before, code=INCONCLUSIVE)
        assert says(done.stdout, "1 failed", "p.BenchmarkB", "5 of 5 runs failed", "panic: boom")
        run("check", *after, "--against", *before, "--allow-inconclusive", code=INCONCLUSIVE)


def test_limits_come_from_a_file_and_options_take_precedence(here, old, new):
    limits = here / "limits.toml"
    limits.write_text('min_change = "30%"\nruns = 4\n')
    run("check", new, "--against", old, "--limits", limits, code=SIMILAR)
    run("check", new, "--against", old, "--limits", limits, "--min-change", "1%", code=DISSIMILAR)
    limits.write_text('runs = 5\n[[limit]]\nbenchmark = "b"\nmin_change = "30%"\n')
    run("check", new, "--against", old, "--limits", limits, code=INCONCLUSIVE)
    run("check", new, "--against", old, "--limits", limits, "--runs", "4", code=SIMILAR)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("min_change = 5", 'min_change must be a share of the baseline, such as "6%", not 5.'),
        ("runs = 0", "runs must be a whole number above 0, not 0."),
        ('speed = "5%"', "unknown key 'speed'"),
        ('[[limit]]\nmin_change = "5%"', "entry 1: benchmark must be text in quotes"),
        ('[[limit]]\nbenchmark = "b"\nruns = 3', "entry 1: unknown key 'runs'"),
        ("[limit]", "each entry must begin with [[limit]]"),
        ("[[limit", "is not valid TOML"),
    ],
)
def test_a_file_of_limits_that_cannot_be_understood_is_exit_code_2(here, old, text, words):
    (here / "limits.toml").write_text(text)
    assert words in run("check", old, "--limits", "limits.toml", code=FAILED).stderr


def test_differences_of_machines_are_named_by_their_kind(here, old):
    assert (
        "'os' is not one of cpu, runtime, build, all."
        in run("check", old, "--allow-different", "cpu,os", code=FAILED).stderr
    )
    sides = []
    for side, level in (("old", 1.0), ("new", 1.2)):
        for k in range(5):
            row = {"name": "b", "run_type": "iteration", "real_time": level + k / 100, "time_unit": "s"}
            context = {"date": f"2024-05-01T10:0{k}:{'00' if side == 'old' else '30'}+00:00", "num_cpus": 8,
                       "library_build_type": "debug" if side == "new" else "release"}  # fmt: skip
            (here / f"{side}-{k}.json").write_text(json.dumps({"context": context, "benchmarks": [row]}))
            sides.append(f"{side}-{k}.json")
    done = run("check", *sides[5:], "--against", *sides[:5], code=INCONCLUSIVE)
    assert "build: release for the baseline, debug for the candidate" in " ".join(done.stdout.split())
    run("check", *sides[5:], "--against", *sides[:5], "--allow-different", "build", code=DISSIMILAR)


def test_a_second_sample_decides_about_a_change(here, old, new, same):
    again = short(here / "again.json", 1.205, 1.215, 1.195, 1.203)
    done = run("check", new, "--against", old, "--confirm", again, code=DISSIMILAR)
    assert "Second sample: 1 confirmed. At most 5 %" in " ".join(done.stdout.split())
    done = run("check", new, "--against", old, "--confirm", same, code=SIMILAR)
    assert "Second sample: 1 not confirmed." in " ".join(done.stdout.split())
    other = short(here / "other.json", 1.0, 1.02, name="other")
    done = run("check", new, "--against", old, "--confirm", other, code=INCONCLUSIVE)
    assert "not in the second sample" in " ".join(done.stdout.split())
    assert (
        "already part of the first sample" in run("check", new, "--against", old, "--confirm", new, code=FAILED).stderr
    )
    assert "--confirm needs a baseline" in run("check", new, "--confirm", again, code=FAILED).stderr


def test_noise_of_one_version_gives_limits_for_the_check(here, old, new):
    rng = np.random.default_rng(1)
    steady = short(here / "steady.json", *(1 + 0.01 * rng.normal(size=24)))
    rows = json.loads(run("noise", steady, "--json").stdout)
    assert [(row["runs"], row["measured"]) for row in rows] == [
        (n, design) for n in (3, 5, 10) for design in ("by turns", "in blocks")
    ]
    assert all(row["false alarms"] <= 0.1 and row["min-change"] < 0.03 for row in rows)
    drifting = short(here / "drift.json", *np.linspace(1, 1.5, 24))
    rows = {(row["runs"], row["measured"]): row for row in json.loads(run("noise", drifting, "--json").stdout)}
    assert rows[10, "in blocks"]["false alarms"] > 0.4 > 0.1 > rows[10, "by turns"]["false alarms"]
    assert rows[10, "in blocks"]["min-change"] > 0.1
    run("noise", steady, "--out", "limits.toml")
    assert 'min_change = "' in (here / "limits.toml").read_text()
    (here / "broken.json").write_text("{")
    assert "Refused broken.json" in run("noise", steady, "broken.json", code=1).stderr
    few = short(here / "few.json", 1.0, 1.01, 1.02)
    assert "at least 6 runs" in run("noise", few, code=FAILED).stderr.lower()
    run("check", new, "--against", old, "--limits", "limits.toml", "--runs", "4", code=DISSIMILAR)


HEAD, END = GO_HEAD, "PASS\nok  \tp\t1.2s\n"


def go_process(names="ABC", end=END, *, level=100.0):
    lines = "".join(f"Benchmark{name}-2 10 {level + at} ns/op\n" for at, name in enumerate(names))
    return f"{HEAD}{lines}{end}"


def libtest_process(names="abc", *, level=100):
    lines = "".join(f"test {name} ... bench: {level + at} ns/iter (+/- 5)\n" for at, name in enumerate(names))
    return f"running {len(names)} tests\n{lines}"


def benchmark_js_process(names="abc", *, level=100):
    return "".join(f"{name} x {level + at} ops/sec ±0.5% (90 runs sampled)\n" for at, name in enumerate(names))


@pytest.mark.parametrize(
    ("process", "other", "failed"),
    [
        (go_process, go_process("AC"), {"p.BenchmarkB": "missing in the process from line 33 on"}),
        (go_process, f"{HEAD}panic: boom\nexit status 2\nFAIL\tp\t0.1s\nFAIL\n", dict.fromkeys(
            ("p.BenchmarkA", "p.BenchmarkB", "p.BenchmarkC"), "line 38: FAIL: panic: boom")),
        (go_process, "# p\nx.go:3: undefined\nFAIL\tp [build failed]\nFAIL\n", dict.fromkeys(
            ("p.BenchmarkA", "p.BenchmarkB", "p.BenchmarkC"), "line 35: build failed")),
        (go_process, go_process("A", "BenchmarkB-2  \tpanic: boom\nFAIL\tp\t0.1s\nFAIL\n"), {
            "p.BenchmarkB": "line 38: FAIL: panic: boom",
            "p.BenchmarkC": "missing in the process from line 33 on"}),
        (libtest_process, libtest_process("ac"), {"b": "missing in the output of a process"}),
        (benchmark_js_process, benchmark_js_process("bc"), {"a": "missing in the output of a process"}),
    ],
)  # fmt: skip
def test_a_benchmark_that_a_process_in_a_file_lacks_has_failed(here, process, other, failed):
    (here / "old.txt").write_text("".join(process(level=100 + 2 * k) for k in range(5)))
    (here / "new.txt").write_text("".join(process(level=101 + 2 * k) for k in range(4)) + other)
    found = content("new.txt", "--against", "old.txt", code=INCONCLUSIVE)
    assert {one["name"]: one["words"] for one in found["findings"] if one["kind"] == "failed runs"} == {
        name: f"1 of 5 runs failed: {words}" for name, words in failed.items()
    }


def test_processes_without_a_common_benchmark_are_different_suites(here):
    sides = [
        (here / name, [go_process("A", level=level + k) + go_process("B", level=level + k) for k in range(5)])
        for name, level in (("old.txt", 100), ("new.txt", 100.5))
    ]
    for path, processes in sides:
        path.write_text("".join(processes))
    run("check", "new.txt", "--against", "old.txt", code=SIMILAR)


def test_printed_benchmarks_in_another_order_are_not_missing(here):
    for name, level in (("old.txt", 100), ("new.txt", 101)):
        singles = [libtest_process(letter, level=level + 2 * k) for letter in "ab" for k in range(5)]
        (here / name).write_text("".join(singles))
    run("check", "new.txt", "--against", "old.txt", code=SIMILAR)
