"""The check in a build: arguments, exit codes, and every form of output."""

import gc
import json
import re
import shlex
import shutil
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from analysis.runs.dissimilarity import TOO_SHORT
from labeler.files.commands.check import spread_out
from tests.labeler.commands import run, says_in_order
from tests.labeler.files.formats.examples import csv_bytes, pyperf_file, pyperf_runs

SIMILAR, DISSIMILAR, FAILED, INCONCLUSIVE = 0, 1, 2, 3
GO = "goos: linux\ngoarch: amd64\npkg: p\n"
STEP = np.repeat([1.0, 2.0], 50)
WITH_VALUE, MAY_HAVE_VALUE = {"--against", "--format", "--json"}, {"--json"}
KNOWN = '[[known]]\nbenchmark = "{}"\nreason = "checks its input now"\nuntil = {}\n'
NAUGHTY = "a|b `x` <script>alert(1)</script> [t](javascript:x) **c** #1 @all"


def icpe(path, *runs):
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps([list(map(float, run)) for run in runs]))


def short(path, *levels, name="b"):
    """Write a pyperf file: runs of five values at these levels."""
    rng = np.random.default_rng(6)
    runs = pyperf_runs(*((level + rng.normal(0, 0.001, 5)).tolist() for level in levels))
    path.write_bytes(pyperf_file(({"name": name}, runs)))


def rounds(path, *, hour=10, **levels):
    """Write a file of pytest-benchmark, which is one process; a level of None has a mean and no rounds."""
    path.parent.mkdir(exist_ok=True)
    entries = [{"fullname": name, "params": None, "stats": {"data": [level, 1.001 * level, 0.999 * level]}}
               for name, level in levels.items()]  # fmt: skip
    started = f"2024-05-01T{hour}:00:00"
    path.write_text(json.dumps({"machine_info": {}, "commit_info": {}, "datetime": started, "benchmarks": entries}))


def means(path, level):
    """Write a file of pytest-benchmark without the rounds."""
    path.parent.mkdir(exist_ok=True)
    entries = [{"fullname": "b", "params": None, "stats": {"mean": level, "stddev": 0.1}}]
    path.write_text(json.dumps({"machine_info": {}, "commit_info": {}, "benchmarks": entries}))


def google(path, level, *, at="2024-05-01T10:00:00", build="release", more=()):
    path.parent.mkdir(exist_ok=True)
    row = {"name": "b", "run_type": "iteration", "real_time": level, "time_unit": "s"}
    context = {"date": f"{at}+00:00", "num_cpus": 8, "library_build_type": build}
    path.write_text(json.dumps({"context": context, "benchmarks": [row, *more]}))


def test_a_check_leaves_the_garbage_collection_of_its_caller_as_it_was(tmp_path):
    icpe(tmp_path / "alike.json", np.ones(60), np.ones(60))
    before = gc.get_threshold()
    run("check", tmp_path / "alike.json", code=None)
    assert gc.get_threshold() == before


def table(path, levels, n=8):
    """Write runs of benchmarks; `levels` maps (benchmark, version) to the mean of its runs, which vary by 1 %."""
    rng = np.random.default_rng(5)
    rows = [
        (name, at, mean * (1 + 0.01 * rng.normal()), version, "s") for (name, version), mean in levels.items()
        for at in range(n)
    ]  # fmt: skip
    path.write_bytes(csv_bytes(rows, ("benchmark", "run", "value", "version", "unit")))


def hyperfine(path, *commands):
    """Write a file of hyperfine: (command, parameters, mean) for each benchmark."""
    rng = np.random.default_rng(2)
    results = [
        {"command": command, "times": (mean * (1 + 0.01 * rng.normal(size=10))).tolist(), "exit_codes": [0] * 10}
        | ({"parameters": parameters} if parameters else {})
        for command, parameters, mean in commands
    ]
    path.write_text(json.dumps({"results": results}))


def go(path, *names, level=100.0, n=6, end="PASS\n"):
    lines = ("".join(f"{name} 10 {level + at % 3 + at / 10} ns/op\n" for name in names) for at in range(n))
    path.write_text("".join(f"{GO}{line}{end}" for line in lines))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with result files of several tools."""
    folder = tmp_path_factory.mktemp("check")
    icpe(folder / "alike.json", STEP, STEP + 1e-6, STEP)
    icpe(folder / "unlike.json", STEP, 1.2 * STEP, STEP)
    icpe(folder / "single.json", STEP)
    icpe(folder / "turned.json", STEP, STEP[::-1], STEP)
    icpe(folder / "warm.json", *(np.concatenate([np.full(10, 9.0 * (1 + i)), STEP]) for i in range(3)))
    # 60 iterations per run that hardly vary, but two runs per side whose levels overlap: merged, p would be about 0
    for side, levels in (("merged-old", (1.0, 1.2)), ("merged-new", (1.1, 1.3))):
        icpe(folder / side / "b.json", *(np.full(60, x) + np.linspace(0, 1e-3, 60) for x in levels))
    for name, levels in {
        "old": (1.0, 1.01, 0.99, 1.0), "same": (1.0005, 1.0095, 0.9904, 1.0002), "new": (1.2, 1.21, 1.19, 1.2),
        "again": (1.205, 1.215, 1.195, 1.203), "noisy": (1.0, 1.9, 0.8, 1.1), "wide": (1.0, 1.2), "one": (1.0,),
        "waves-old": [1 + k % 5 / 30 for k in range(8)], "waves-new": [1 + (3 + k) % 5 / 30 for k in range(8)],
    }.items():  # fmt: skip
        short(folder / f"{name}.json", *levels)
    short(folder / "other.json", 1.0, 1.02, name="other")
    shutil.copy(folder / "new.json", folder / "copy.json")
    two = json.loads((folder / "old.json").read_text())
    two["benchmarks"][0]["runs"] += json.loads((folder / "new.json").read_text())["benchmarks"][0]["runs"]
    (folder / "both.json").write_text(json.dumps(two))
    for number, (before, after) in enumerate(zip(*np.random.default_rng(2).normal(1, 0.01, (2, 10)), strict=True)):
        rounds(folder / "crashed-old" / f"{number}.json", a=before, b=before)
        rounds(folder / "crashed-new" / f"{number}.json", a=after, **({"b": 1.0 + number / 100} if number < 2 else {}))
    for number in range(3):
        rounds(folder / "early" / f"{number}.json", hour=10 + number, b=1 + number / 1000)
        rounds(folder / "late" / f"{number}.json", hour=13 + number, b=1 + number / 1000)
        google(folder / "skips" / f"{number}.json", 1.0 + number / 100, more=[
            {"name": "gpu", "run_type": "iteration", "skipped": True, "skip_message": "no gpu"}])  # fmt: skip
    rounds(folder / "round-old.json", b=1.0)
    rounds(folder / "round-new.json", b=1.1)
    for number in range(5):
        means(folder / "means-old" / f"{number}.json", 1 + number / 100)
        means(folder / "means-new" / f"{number}.json", 1.2 + number / 100)
        google(folder / "release" / f"{number}.json", 1 + number / 100, at=f"2024-05-01T10:0{number}:00")
        google(folder / "debug" / f"{number}.json", 1.2 + number / 100, at=f"2024-05-01T10:0{number}:30", build="debug")
    for name, text in {
        "bad.json": "hello", "known.toml": KNOWN.format("b", "2999-12-31"),
        "expired.toml": KNOWN.format("b", "2020-12-31"),
        "at-25.toml": KNOWN.format("b", "2999-12-31") + 'at_most = "25%"\n',
        "at-15.toml": KNOWN.format("b", "2999-12-31") + 'at_most = "15 %"\n',
        "limits.toml": 'min_change = "30%"\nruns = 4\n',
        "few.toml": 'runs = 5\n[[limit]]\nbenchmark = "b"\nmin_change = "30%"\n',
        "renamed.toml": '"sort/old" = "sort/new"\n', "known-sort.toml": KNOWN.format("sort/old", "2999-12-31"),
        "known-go.toml": KNOWN.format("p.BenchmarkA-8", "2999-12-31"),
        "failed.txt": f"{GO}BenchmarkA-8\n--- FAIL: BenchmarkA-8\nFAIL\tp\t0.01s\n",
        "failed.csv": "benchmark,run,iteration,value,failure\nc,1,0,,exit status 3\n",
        "crash.csv": "benchmark,run,version,value,unit,failure\n" + "".join(
            f"{name},{at},{v},{'' if (name, v) == ('y', 'new') else 1 + at / 100},s,"
            f"{'crashed' if (name, v) == ('y', 'new') else ''}\n"
            for name in "xy" for v in ("old", "new") for at in range(6)),
    }.items():  # fmt: skip
        (folder / name).write_text(text)
    for name, level in (("sort/old", 1.0), ("sort/new", 1.2)):
        short(folder / f"{name.replace('/', '-')}.json", *(level + at / 500 for at in range(6)), name=name)
    hyperfine(folder / "commands.json", ("./old", {}, 1.0), ("./new", {}, 1.5))
    hyperfine(folder / "close.json", ("./old", {}, 1.0), ("./new", {}, 1.1))
    versions = {"aaaa1111": 1.0, "bbbb1111": 1.0, "bbbb2222": 1.2}
    table(folder / "versions.csv", {(name, version): mean for name in "xy" for version, mean in versions.items()})
    go(folder / "8.txt", "BenchmarkA-8")
    go(folder / "2.txt", "BenchmarkA-2", level=150.03)
    go(folder / "0.txt", "BenchmarkA", level=150.03)
    go(folder / "2-and-8.txt", "BenchmarkA-2", "BenchmarkA-8", level=100.03)
    go(folder / "slow-8.txt", "BenchmarkA-8", level=150.03)
    rows = [("p", "p.BenchmarkA-8", at, (100 + at / 10) * 1e-9, "s") for at in range(6)]
    (folder / "stored.csv").write_bytes(csv_bytes(rows, ("application", "benchmark", "run", "value", "unit")))
    panics = "BenchmarkB-2  \tpanic: boom\nexit status 2\nFAIL\tp\t0.1s\n"
    go(folder / "panics.txt", "BenchmarkA-2", n=5, end=panics)
    go(folder / "without-b.txt", "BenchmarkA-2", n=5, level=100.5)
    go(folder / "with-b.txt", "BenchmarkA-2", "BenchmarkB-2", n=5, level=100.25)
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """A working folder with these files and without a configured study."""
    for path in made.iterdir():
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.delenv("LABELER_STUDY", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(line, code=SIMILAR):
    return run("check", *shlex.split(line), code=code)


def content(line, code=SIMILAR):
    return json.loads(check(f"{line} --json", code).stdout, parse_constant=pytest.fail)


NEW, NOTHING = "new.json --against old.json", "The same measurements are on both sides, so nothing was compared."
NOISY = "noisy.json --against old.json --max-slowdown"
OUTCOMES = [  # command line, exit code, and what the output says
    ("alike.json", 0, "1 similar"),
    ("alike.json unlike.json", 1, "1 dissimilar, 1 similar"),
    ("alike.json --warmup 0 unlike.json", 1, "1 dissimilar, 1 similar"),
    ("single.json alike.json", 3, "one process: not tested"),
    ("single.json alike.json --allow-inconclusive", 0, ""),
    ("alike.json bad.json", 2, "which is 2 … Refused bad.json: "),
    ("unlike.json bad.json", 2, "1 dissimilar"),
    ("bad.json", 2, "benchmarks to check"),
    ("alike.json --against bad.json", 2, "which is 2 … Refused bad.json: "),
    ("wide.json", 1, "1 dissimilar"),
    ("turned.json --classifier heuristic", 1, "1 dissimilar"),
    ("turned.json --classifier spread", 0, "1 similar"),
    ("old.json --max-spread 1%", 1, "1 dissimilar"),
    ("warm.json --classifier spread", 1, "1 dissimilar"),
    ("warm.json --classifier spread --warmup 10", 0, "1 similar"),
    # a baseline
    (NEW, 1, "1 slower ("),
    ("old.json --against new.json", 0, "1 faster ( … −16"),
    ("old.json --against new.json --fail-on change", 1, "1 faster"),
    (f"{NEW} --min-change 30%", 0, ""),
    (f"{NEW} --max-slowdown '30 %'", 0, ""),
    (f"{NOISY} 0.3", 3, "do not exclude … 30 %"),
    (f"{NOISY} 30% --allow-inconclusive", 0, ""),
    ("waves-new.json --against waves-old.json", 0, "1 no change"),
    ("new.json --against new.json", 3, f"same file is on both sides … {NOTHING}"),
    ("new.json --against copy.json", 3, f"same file is on both sides … {NOTHING}"),
    ("new.json --against both.json", 3, "same"),
    ("alike.json --against old.json", 3, "nothing was compared"),
    ("same.json --against old.json alike.json", 3, "1 missing, 1 no change … missing alike"),
    ("same.json --against old.json alike.json --allow-missing", 0, ""),
    ("merged-new --against merged-old", 3, "1 no change … Too noisy to judge"),
    ("crashed-new", 3, "1 failed … 8 of 10 runs … missing in"),
    ("crashed-new --against crashed-old", 3, "1 failed … 8 of 10 runs … missing in"),
    ("crashed-new --against crashed-old --allow-missing", 0, ""),
    ("round-new.json --against round-old.json", 3,
     "+10.0 % … one process: not tested … do i=$((i+1)) (cd $v && pytest --benchmark-json="),
    ("round-new.json --against round-old.json --values-are runs", 1, "82 % of unchanged"),
    ("late --against early", 0, "Measure by turns"),
    ("means-new --against means-old", 1, "1 slower"),
    ("means-new/0.json --against means-old/0.json", 3, "one process: not tested"),
    ("debug --against release", 3, "build: release for the baseline, debug for the candidate"),
    ("debug --against release --allow-different build", 1, "1 slower"),
    ("skips", 0, "'gpu' is left out … repetition 0 … 'no gpu'"),
    ("failed.txt", 3, "failed p.BenchmarkA"),
    ("failed.csv", 3, "failed c"),
    # files of known changes and limits, and a second sample
    (f"{NEW} --ack known.toml", 0, ""),
    (f"{NEW} --ack known.toml --markdown", 0, "checks its input now"),
    (f"{NEW} --ack expired.toml", 1, "expired after 2020-12-31: b"),
    (f"{NEW} --ack at-25.toml", 0, ""),
    (f"{NEW} --ack at-15.toml", 1, ""),
    (f"{NEW} --limits limits.toml", 0, ""),
    (f"{NEW} --limits limits.toml --min-change 1%", 1, ""),
    (f"{NEW} --limits few.toml", 3, ""),
    (f"{NEW} --limits few.toml --runs 4", 0, ""),
    (f"{NEW} --confirm again.json", 1, "Second sample: 1 confirmed. At most 5 %"),
    (f"{NEW} --confirm same.json", 0, "Second sample: 1 not confirmed."),
    (f"{NEW} --confirm other.json", 3, "not in the second sample"),
    # parts of the same files, and names that changed
    ("commands.json --between ./old ./new --allow-blocks", 1, "1 slower"),
    ("close.json --between ./old ./new", 3, "in blocks"),
    ("versions.csv --between aaaa bbbb1 bbbb2", 1,
     "2 slower, 2 no change … slower x @ bbbb2 … no change y @ bbbb1 … bbbb2: all 2 together"),
    ("versions.csv --against-version aaaa", 1, "2 slower, 2 no change"),
    ("versions.csv --against-version bbbb2 --fail-on change", 1, "faster"),
    ("crash.csv --between old new", 3, "failed y … 6 of 6 runs failed: crashed"),
    ("versions.csv --against versions.csv", 3, "compare benchmarks or versions of one file, use --between"),
    ("sort-new.json --against sort-old.json", 3, "--renamed FILE"),
    ("sort-new.json --against sort-old.json --renamed renamed.toml", 1,
     "1 slower … matched under an earlier name … sort/old"),
    ("sort-new.json --against sort-old.json --renamed renamed.toml --ack known-sort.toml", 0, ""),
    ("2.txt --against 8.txt", 3, "GOMAXPROCS: 8 for the baseline, 2 for the candidate"),
    ("2.txt --against 8.txt --allow-different cpu", 1, ""),
    ("0.txt --against 8.txt", 3, "1 for the candidate"),
    ("2-and-8.txt --against 8.txt", 0, "matched under an earlier name … New: p.BenchmarkA-2"),
    ("slow-8.txt --against stored.csv", 1, "p.BenchmarkA-8 … p.BenchmarkA"),
    ("slow-8.txt --against stored.csv --ack known-go.toml", 0, ""),
    *((f"panics.txt --against {before} {option}", 3, "1 failed … p.BenchmarkB … 5 of 5 runs failed … panic: boom")
      for before in ("without-b.txt", "with-b.txt") for option in ("", "--allow-inconclusive")),
]  # fmt: skip


@pytest.mark.parametrize(("line", "code", "words"), OUTCOMES, ids=[row[0] for row in OUTCOMES])
def test_a_check_ends_with_its_exit_code_and_says_why(here, line, code, words):
    done = check(line, code)
    assert says_in_order(done.output, words), done.output
    assert "Refused" not in done.stdout


# arguments


def test_names_behind_against_are_the_baseline_wherever_options_stand(here):
    expected = content("new.json --against old.json alike.json", DISSIMILAR)
    assert expected["only_in_baseline"] == ["alike"]
    for line in (
        "--alpha 0.05 new.json --against old.json alike.json", "new.json --against old.json alike.json --alpha 0.05",
        "new.json --against old.json --against alike.json", "new.json --against=old.json --against alike.json",
        "--against old.json --against alike.json new.json",
    ):  # fmt: skip
        assert content(line, DISSIMILAR) == expected
    found = content("--against old.json new.json alike.json", DISSIMILAR)  # in front, one name is the baseline
    assert (found["only_in_candidate"], found["only_in_baseline"]) == (["alike"], [])


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("", ""),
        ("n", "n"),
        ("n --against a", "n --against a"),
        ("n --against a b --json", "n --against a --against b --json"),
        ("n --against a b --against c d", "n --against a --against b --against c --against d"),
        ("--format icpe n --against a b", "--format icpe n --against a --against b"),
        ("--format icpe --against a n", "--format icpe --against a n"),
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


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("BM_sort/old/1024", "BM_sort/new/1024", "old new"), ("test_sort[old-10]", "test_sort[new-10]", "old new"),
        ("sort_old", "sort_new", "old new"), ("sort 1.2", "sort 1.2.1", "1.2 1.2.1"),
    ],
)  # fmt: skip
def test_words_in_names_tell_versions_apart(here, old, new, words):
    table(here / "t.csv", {(old, ""): 1.0, (new, ""): 1.2, (f"{old}older", ""): 5.0})
    changes = content(f"t.csv --between {words}", DISSIMILAR)["changes"]
    assert {change["name"]: change["verdict"] for change in changes} == {new: "slower"}


def test_a_level_of_a_parameter_tells_versions_apart(here):
    levels = {("a", 1): 1.0, ("b", 1): 1.0, ("a", 2): 1.0, ("b", 2): 1.6}
    hyperfine(here / "p.json", *((f"x {v} {n}", {"v": v, "n": str(n)}, mean) for (v, n), mean in levels.items()))
    changes = content("p.json --between v=a v=b --allow-blocks", DISSIMILAR)["changes"]
    assert {change["name"]: change["verdict"] for change in changes} == {
        "x b 1#v=b&n=1": "no significant change", "x b 2#v=b&n=2": "slower",
    }  # fmt: skip


def test_the_help_says_what_each_exit_code_means():
    text = " ".join(run("check", "--help").output.split())
    assert "Usage: labeler check [OPTIONS] PATH..." in text.replace("main check", "labeler check")
    for words in ("Exit code 0: no findings.", "1: a benchmark became worse",
                  "2: a usage error, or a file that cannot be read.", "3: the check is inconclusive",
                  "the spread is also shown"):  # fmt: skip
        assert words in text


# numbers


def test_json_holds_verdicts_reasons_changes_and_how_they_came_about(here):
    found = content(NEW, DISSIMILAR)
    assert set(found) == {
        "benchmarks", "changes", "only_in_candidate", "only_in_baseline", "findings", "warnings", "parameters",
        "outcome", "known", "suite", "notes", "former_names", "n_candidates",
    }  # fmt: skip
    assert found["findings"][0] | {"kind": "changed", "name": "b", "outcome": 1} == found["findings"][0]
    assert found["changes"][0]["ratio"]["value"] == pytest.approx(1.2, abs=0.002)  # candidate divided by baseline
    used = {"classifier": "spread", "warmup": 0, "aggregate": "mean", "alpha": 0.05, "against_a_baseline": True}
    assert (found["outcome"], found["parameters"] | used) == (DISSIMILAR, found["parameters"])
    reasons = found["benchmarks"][0]["reasons"]
    assert {"max_spread", "smallest_difference", "runs_needed", "sentences"} <= set(reasons)
    assert reasons["pattern"] == {"value": None, "se": None, "low": None, "high": None,
                                  "reason": TOO_SHORT}  # fmt: skip


# output


def test_the_table_has_reasons_for_what_is_not_similar(here):
    for k, name in enumerate("xyz"):
        icpe(here / f"{name}.json", STEP, STEP + k / 1e6)
    brief = check("x.json y.json z.json alike.json unlike.json", DISSIMILAR).stdout
    assert brief.startswith("1 dissimilar, 4 similar (detectable: ")
    assert len(brief.splitlines()) <= 12
    text = check("x.json y.json z.json alike.json unlike.json -v", DISSIMILAR).stdout
    assert text.startswith("Benchmark check\n\nResult\n------\n\n")
    assert "- unlike: " in text
    assert re.search(r"^unlike +dissimilar +18.8 %", text, re.MULTILINE)
    assert text.index("\nunlike  ") < text.index("\nalike  ")  # important results first
    assert "\nunlike\n------\n" in text and "\nalike\n-----\n" not in text
    for word in ("Level: ", "Pattern: ", "Distribution: ", "Warm-up: ", "Consequence: ", "with 80 % power"):
        assert word in text
    assert text.index("Next steps") > text.index("Consequence: ")


def rows_of(markdown):
    """Return the cells of every table row."""
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in markdown.splitlines() if line.startswith("|")]


def test_markdown_is_what_github_shows_as_tables(here):
    text = check(f"{NEW} --markdown", DISSIMILAR).stdout
    assert text.startswith("# Benchmark check: 1 slower\n\n| Benchmark | Result | Change | 95 % CI |\n")
    short_part, details = text.split("<details>\n<summary>")
    assert " %; few runs |" in short_part
    assert "\n\n## Details" in details and details.endswith("</details>\n")
    changes, verdicts = details.split("## Are the runs of each benchmark similar?")
    for part in (short_part, changes):
        header, rule, row = rows_of(part)
        assert {cell.strip() for cell in rule} == {"---", "---:"}
        assert len(header) == len(rule) == len(row)
        assert row[0].strip() == "b" and row[1].strip() == "slower"
    assert len({len(row) for row in rows_of(verdicts)}) == 1


def test_any_number_of_forms_is_written_at_once(here):
    names = {form: f"out.{form}" for form in ("json", "markdown", "junit", "html")}
    done = check(" ".join([NEW, *(f"--{form} {name}" for form, name in names.items())]), DISSIMILAR)
    assert done.stdout.startswith("1 slower (")
    texts = {form: (here / name).read_text() for form, name in names.items()}
    assert json.loads(texts["json"])["outcome"] == DISSIMILAR
    assert texts["markdown"].startswith("# Benchmark check")
    assert ET.fromstring(texts["junit"])[0].get("failures") == "1"
    assert texts["html"].startswith("<!DOCTYPE html>") and "Holm p" in texts["html"]
    done = check(f"{NEW} --json - --markdown x.md", DISSIMILAR)
    assert json.loads(done.stdout)["outcome"] == DISSIMILAR
    assert (here / "x.md").read_text() == texts["markdown"]
    assert check("same.json --against old.json --html -").stdout.startswith("<!DOCTYPE html>")


def test_junit_has_a_case_for_each_benchmark(here):
    for k, name in ((0, "odd"), (0.001, "odd-before")):
        short(here / f"{name}.json", 1 + k, 1.01 + k, 0.99 + k, name="\x1f<bad>")
    short(here / "gone.json", 1.0, 1.01, 0.99, name="gone")
    for name, k in (("0", 0), ("1", 1e-4)):
        icpe(here / name / "alike.json", *(STEP + k + n / 1e3 for n in range(3)))
    line = "new.json 0/alike.json odd.json --against old.json 1/alike.json odd-before.json gone.json"
    suite = ET.fromstring(check(f"{line} --junit", DISSIMILAR).stdout)[0]
    assert [suite.get(name) for name in ("tests", "failures", "errors", "skipped")] == ["4", "1", "1", "0"]
    cases = {case.get("name"): case for case in suite}
    assert cases["b"].find("failure").get("message").startswith("slower (+20.0 %")
    assert cases["gone"].find("error").get("type") == "missing"
    assert cases["alike"].find("failure") is None
    assert cases["alike"].find("system-out").text.startswith("no significant change")
    allowed = check(f"{line} --ack known.toml --allow-missing --junit").stdout
    assert ET.fromstring(allowed)[0].get("skipped") == "2"


# build servers


def annotations(line, code=DISSIMILAR):
    """Return the lines that GitHub shows beside files."""
    return [text for text in check(f"{line} --annotations github", code).stderr.splitlines() if text.startswith("::")]


def two(folder, name):
    """Write two files, the second of which is slower; return the arguments of a check."""
    for level in (1, 2):
        short(folder / f"{level}.json", level, 1.01 * level, 0.99 * level, name=name)
    return "2.json --against 1.json"


def test_github_gets_each_finding_beside_a_file_and_a_summary_after_what_is_there(here, monkeypatch):
    (here / "summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(here / "summary.md"))
    (line,) = annotations(NEW)
    assert line.startswith("::error file=new.json,title=b::slower (+20.0 %25, 95 %25 CI ")
    lines = (here / "summary.md").read_text().splitlines()
    assert lines[:2] == ["before", "# Benchmark check: 1 slower"] and "<details>" in lines
    assert annotations("same.json --against old.json", SIMILAR) == []


def test_a_name_cannot_give_github_a_command_and_may_be_longer_than_a_file_name(here):
    (line,) = annotations(two(here, "x\n::error title=a,b::c%0A"))
    assert "title=x %3A%3Aerror title=a%2Cb%3A%3Ac%250A::slower" in line
    (line,) = annotations(two(here, f"{'x' * 300}::y"))
    assert line.startswith("::error file=2.json,title=xxx")


def test_of_many_findings_github_gets_as_many_as_it_shows_and_the_number_of_the_rest(here):
    for n in range(15):
        for k in (0, 1):
            short(here / f"{k}-{n}.json", *([k + 1.0] * 3), name=f"b{n}")
    sides = (" ".join(f"{k}-{n}.json" for n in range(15)) for k in (1, 0))
    lines = annotations(" --against ".join(sides))
    assert len(lines) == 10
    assert lines[-1] == "::error title=labeler check::6 more findings are in the summary of the job."


def test_gitlab_gets_what_its_format_asks_for_and_a_benchmark_named_after_its_file_is_shown_there(here):
    (here / "test_sort.py").write_text("")
    name = "test_sort.py::test_sort[10]"
    line = two(here, name)
    (shown,) = annotations(line)
    assert shown.startswith("::error file=test_sort.py,title=test_sort.py%3A%3Atest_sort[10]::slower")
    check(f"{line} --annotations gitlab", DISSIMILAR)
    (entry,) = json.loads((here / "gl-code-quality-report.json").read_text())
    assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
    assert entry["location"] == {"path": "test_sort.py", "lines": {"begin": 1}} and len(entry["fingerprint"]) == 64
    assert entry["severity"] == "major" and entry["description"].startswith(f"{name}: slower (+")
    check("same.json --against old.json --annotations gitlab")
    assert json.loads((here / "gl-code-quality-report.json").read_text()) == []


# other commands on the same files


@pytest.mark.parametrize("name", ["failed.txt", "failed.csv"])
def test_a_file_in_which_every_benchmark_failed_cannot_be_imported(here, name):
    assert "has a measurement" in run("import", "--dry-run", name, code=1).stderr


def test_noise_of_one_version_gives_limits_for_the_check(here):
    rng = np.random.default_rng(1)
    short(here / "steady.json", *(1 + 0.01 * rng.normal(size=24)))
    done = run("noise", "steady.json", "bad.json", "--json", "--out", "own-limits.toml", code=1)
    assert "Refused bad.json" in done.stderr
    rows = json.loads(done.stdout)
    assert [(row["runs"], row["measured"]) for row in rows] == [
        (n, design) for n in (3, 5, 10) for design in ("by turns", "in blocks")
    ]
    assert all(row["false alarms"] <= 0.1 and row["min-change"] < 0.03 for row in rows)
    short(here / "drift.json", *np.linspace(1, 1.5, 24))
    rows = {(row["runs"], row["measured"]): row for row in json.loads(run("noise", "drift.json", "--json").stdout)}
    assert rows[10, "in blocks"]["undecided"] > 0.4 > 0.1 > rows[10, "by turns"]["false alarms"]
    check(f"{NEW} --limits own-limits.toml --runs 4", DISSIMILAR)


# processes in printed output


def go_process(names="ABC", end="PASS\nok  \tp\t1.2s\n", *, level=100.0):
    lines = "".join(f"Benchmark{name}-2 10 {level + at} ns/op\n" for at, name in enumerate(names))
    return f"{GO}{lines}{end}"


def libtest_process(names="abc", *, level=100):
    lines = "".join(f"test {name} ... bench: {level + at} ns/iter (+/- 5)\n" for at, name in enumerate(names))
    return f"running {len(names)} tests\n{lines}"


def benchmark_js_process(names="abc", *, level=100):
    return "".join(f"{name} x {level + at} ops/sec ±0.5% (90 runs sampled)\n" for at, name in enumerate(names))


@pytest.mark.parametrize(
    ("process", "other", "failed"),
    [
        (go_process, go_process("AC"), {"p.BenchmarkB": "missing in the process from line 33 on"}),
        (go_process, f"{GO}panic: boom\nexit status 2\nFAIL\tp\t0.1s\nFAIL\n", dict.fromkeys(
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
    (here / "before.txt").write_text("".join(process(level=100 + 2 * k) for k in range(5)))
    (here / "after.txt").write_text("".join(process(level=101 + 2 * k) for k in range(4)) + other)
    found = content("after.txt --against before.txt", INCONCLUSIVE)
    assert {one["name"]: one["words"] for one in found["findings"] if one["kind"] == "failed runs"} == {
        name: f"1 of 5 runs failed: {words}" for name, words in failed.items()
    }


@pytest.mark.parametrize(
    "processes",
    [lambda level: "".join(go_process(name, level=level + k) for k in range(5) for name in "AB"),  # different suites
     lambda level: "".join(libtest_process(name, level=level + 2 * k) for name in "ab" for k in range(5))],
    ids=["different suites", "another order"],
)  # fmt: skip
def test_benchmarks_of_separate_processes_are_not_missing(here, processes):
    for name, level in (("before", 100), ("after", 100.5)):
        (here / f"{name}.txt").write_text(processes(level))
    check("after.txt --against before.txt")
