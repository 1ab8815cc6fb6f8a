"""Comparing parts of the same files: versions, benchmarks, words in names and parameters; and renamed benchmarks."""

import json

import numpy as np
import pytest

from tests.labeler.commands import run
from tests.labeler.formats.examples import csv_bytes, pyperf_file, pyperf_runs
from tests.sentences import says

PASSED, FOUND, FAILED, INCONCLUSIVE = 0, 1, 2, 3


def table(path, levels, n=8):
    """Write runs of benchmarks; `levels` maps (benchmark, version) to the mean of its runs, which vary by 1 %."""
    rng = np.random.default_rng(5)
    rows = [
        (name, at, mean * (1 + 0.01 * rng.normal()), version, "s") for (name, version), mean in levels.items()
        for at in range(n)
    ]  # fmt: skip
    path.write_bytes(csv_bytes(rows, ("benchmark", "run", "value", "version", "unit")))
    return path


def hyperfine(path, *commands):
    """Write a file of hyperfine: (command, parameters, mean) for each benchmark."""
    rng = np.random.default_rng(2)
    results = [
        {"command": command, "times": (mean * (1 + 0.01 * rng.normal(size=10))).tolist(), "exit_codes": [0] * 10}
        | ({"parameters": parameters} if parameters else {})
        for command, parameters, mean in commands
    ]
    path.write_text(json.dumps({"results": results}))
    return path


def changes(*arguments, code):
    found = json.loads(run("check", *arguments, "--json", code=code).stdout)
    return {change["name"]: change["verdict"] for change in found["changes"]}


COMMANDS = {
    "two commands": ([("./old", {}, 1.0), ("./new", {}, 1.5)], ("./old", "./new"), {"./new": "slower"}),
    "a parameter in the command": (
        [("sleep 0.5", {"s": "5"}, 0.5), ("sleep 0.6", {"s": "6"}, 0.6)], ("5", "6"), {"sleep 0.6#s=6": "slower"},
    ),
    "a level with its parameter": (
        [("x a 1", {"v": "a", "n": "1"}, 1.0), ("x b 1", {"v": "b", "n": "1"}, 1.0),
         ("x a 2", {"v": "a", "n": "2"}, 1.0), ("x b 2", {"v": "b", "n": "2"}, 1.6)],
        ("v=a", "v=b"), {"x b 1#v=b&n=1": "no significant change", "x b 2#v=b&n=2": "slower"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COMMANDS)
def test_two_benchmarks_of_one_file_are_compared(tmp_path, case):
    commands, names, expected = COMMANDS[case]
    path = hyperfine(tmp_path / "both.json", *commands)
    assert changes(path, "--between", *names, "--allow-blocks", code=FOUND) == expected


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("BM_sort/old/1024", "BM_sort/new/1024", ("old", "new")),
        ("test_sort[old-10]", "test_sort[new-10]", ("old", "new")),
        ("sort_old", "sort_new", ("old", "new")),
        ("sort 1.2", "sort 1.2.1", ("1.2", "1.2.1")),
    ],
)
def test_words_in_names_tell_versions_apart(tmp_path, old, new, words):
    path = table(tmp_path / "t.csv", {(old, ""): 1.0, (new, ""): 1.2, (f"{old}older", ""): 5.0})
    assert changes(path, "--between", *words, code=FOUND) == {new: "slower"}
    assert changes(path, "--between", *reversed(words), code=PASSED) == {old: "faster"}


def test_a_file_that_shows_its_order_of_measurement_was_measured_in_blocks(tmp_path):
    path = hyperfine(tmp_path / "both.json", ("./old", {}, 1.0), ("./new", {}, 1.1))
    assert says(run("check", path, "--between", "./old", "./new", code=INCONCLUSIVE).stdout, "in blocks")


def test_several_versions_are_each_compared_with_the_first_in_one_table(tmp_path):
    versions = {"aaaa1111": 1.0, "bbbb1111": 1.0, "bbbb2222": 1.2}
    path = table(tmp_path / "t.csv", {(name, version): 1 * mean for name in "xy" for version, mean in versions.items()})
    done = run("check", path, "--between", "aaaa", "bbbb1", "bbbb2", code=FOUND).stdout
    assert says(done, "2 slower, 2 no change", "slower", "x @ bbbb2", "no change", "y @ bbbb1", "bbbb2: all 2 together")
    found = json.loads(run("check", path, "--against-version", "aaaa", "--json", code=FOUND).stdout)
    assert [change["name"] for change in found["changes"]][:2] == ["x @ bbbb1111", "y @ bbbb1111"]
    assert found["parameters"]["alpha"] == 0.025 and found["outcome"] == FOUND


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("bbbb", "aaaa"), "bbbb is the beginning of 2 versions: bbbb1111, bbbb2222"),
        (("aaaa", "cccc"), "neither such versions, nor such benchmarks"),
        (("aaa", "bbbb1"), "Versions: aaaa1111, bbbb1111, bbbb2222. Benchmarks: x."),  # too short for a hash
        (("aaaa",), "needs two or more different names"),
        (("aaaa", "aaaa"), "needs two or more different names"),
    ],
)
def test_names_that_mean_nothing_are_refused(tmp_path, names, words):
    path = table(tmp_path / "t.csv", {("x", version): 1.0 for version in ("aaaa1111", "bbbb1111", "bbbb2222")})
    assert words in run("check", path, "--between", *names, code=FAILED).stderr


def test_a_version_in_which_a_benchmark_failed_has_failed_runs(tmp_path):
    text = "benchmark,run,version,value,unit,failure\n" + "".join(
        f"{name},{at},{version},{'' if (name, version) == ('y', 'new') else 1 + at / 100},s,"
        f"{'crashed' if (name, version) == ('y', 'new') else ''}\n"
        for name in "xy" for version in ("old", "new") for at in range(6)
    )  # fmt: skip
    (tmp_path / "t.csv").write_text(text)
    done = run("check", tmp_path / "t.csv", "--between", "old", "new", code=INCONCLUSIVE).stdout
    assert says(done, "failed", "y", "6 of 6 runs failed: crashed")


def test_files_are_compared_in_only_one_way(tmp_path):
    path = table(tmp_path / "t.csv", {("x", "a"): 1.0, ("x", "b"): 1.0})
    refused = run("check", path, "--against", path, "--between", "a", "b", code=FAILED).stderr
    assert "Give only one of --against and --between" in refused
    same = run("check", path, "--against", path, code=INCONCLUSIVE).stdout
    assert says(" ".join(same.split()), "compare benchmarks or versions of one file, use --between")


def test_renamed_benchmarks_are_compared_and_known_changes_keep_their_names(tmp_path):
    def file(name, level):
        path = tmp_path / f"{name.replace('/', '_')}.json"
        path.write_bytes(pyperf_file(({"name": name}, pyperf_runs(*([level + at / 500] for at in range(6))))))
        return path

    old, new = file("sort/old", 1.0), file("sort/new", 1.2)
    assert says(run("check", new, "--against", old, code=INCONCLUSIVE).stdout, "--renamed FILE")
    names = tmp_path / "names.toml"
    names.write_text('"sort/old" = "sort/new"\n')
    done = run("check", new, "--against", old, "--renamed", names, code=FOUND).stdout
    assert says(done, "1 slower") and says(done, "matched under an earlier name", "sort/old")
    known = tmp_path / "known.toml"
    known.write_text('[[known]]\nbenchmark = "sort/old"\nreason = "checks its input"\nuntil = 2999-12-31\n')
    run("check", new, "--against", old, "--renamed", names, "--ack", known, code=PASSED)
    names.write_text('"sort/old" = 3\n')
    refused = run("check", new, "--against", old, "--renamed", names, code=FAILED).stderr
    assert "'sort/old' must be a name in quotes" in refused


def go(path, *names, level=100.0, n=6):
    head = "goos: linux\ngoarch: amd64\npkg: p\n"
    processes = [
        head + "".join(f"{name} 10 {level + at % 3 + at / 10} ns/op\n" for name in names) + "PASS\n" for at in range(n)
    ]
    path.write_text("".join(processes))
    return path


def test_the_number_of_processors_of_go_is_a_condition_of_the_machine(tmp_path):
    eight, two = go(tmp_path / "8.txt", "BenchmarkA-8"), go(tmp_path / "2.txt", "BenchmarkA-2", level=150.03)
    done = run("check", two, "--against", eight, code=INCONCLUSIVE).stdout
    assert says(done, "GOMAXPROCS: 8 for the baseline, 2 for the candidate")
    run("check", two, "--against", eight, "--allow-different", "cpu", code=FOUND)
    one = go(tmp_path / "1.txt", "BenchmarkA", level=150.03)
    assert says(run("check", one, "--against", eight, code=INCONCLUSIVE).stdout, "1 for the candidate")
    several = go(tmp_path / "both.txt", "BenchmarkA-2", "BenchmarkA-8", level=100.03)
    done = run("check", several, "--against", eight, code=PASSED).stdout
    assert says(done, "matched under an earlier name") and says(done, "New: p.BenchmarkA-2")


def test_former_names_of_go_benchmarks_still_match(tmp_path):
    stored = tmp_path / "stored.csv"
    rows = [("p", "p.BenchmarkA-8", run_, (100 + run_ / 10) * 1e-9, "s") for run_ in range(6)]
    stored.write_bytes(csv_bytes(rows, ("application", "benchmark", "run", "value", "unit")))
    new = go(tmp_path / "new.txt", "BenchmarkA-8", level=150.03)
    known = tmp_path / "known.toml"
    known.write_text('[[known]]\nbenchmark = "p.BenchmarkA-8"\nreason = "sorts now"\nuntil = 2999-12-31\n')
    assert says(run("check", new, "--against", stored, code=FOUND).stdout, "p.BenchmarkA-8", "p.BenchmarkA")
    run("check", new, "--against", stored, "--ack", known, code=PASSED)
