import json
import zipfile
from pathlib import Path

import pytest

from labeler.files.formats import Source, criterion, read_benchmarks
from labeler.files.formats.source import sources
from tests.labeler.files.formats.examples import CRITERION, criterion_file
from tests.labeler.files.formats.mutations import HOSTILE, read_with

FILES = Path(__file__).parent / "files"  # in the layout of criterion.rs 0.5


def read(name=CRITERION, content=None):
    (one,) = read_with(criterion, name, content or criterion_file())
    return one


@pytest.mark.parametrize("version", ["new", "base"])
@pytest.mark.parametrize("function", ["Iterative", "Recursive with cache"])
@pytest.mark.parametrize("place", ["", "target/", "/home/x/target/"])
def test_each_sample_is_an_iteration_and_each_file_a_run_of_a_version(version, function, place):
    file = f"criterion/Fibonacci numbers/{function}/20/{version}/sample.json"
    content = (FILES / file).read_bytes()
    there = json.loads(content)
    one = read(place + file, content)
    full_id = json.loads((FILES / file).with_name("benchmark.json").read_text())["full_id"]
    assert one.name == one.benchmark == full_id == f"Fibonacci numbers/{function}/20"
    assert (one.unit, one.better, one.application, one.conditions) == ("s", "lower", "", {"version": (version,)})
    (run,) = one.values
    assert run.tolist() == pytest.approx([t / n / 1e9 for t, n in zip(there["times"], there["iters"], strict=True)])
    assert len(run) == 10


def test_base_that_a_plain_cargo_bench_copied_from_new_is_the_same_run():
    files = [Source(CRITERION.replace("new", version), data=criterion_file()) for version in ("new", "base")]
    parts = list(read_benchmarks(files))
    assert [len(benchmark.runs) for part in parts for benchmark in part.benchmarks] == [1]
    remarks = [remark for part in parts for remark in part.remarks]
    assert remarks == [f"this file has the same content as {CRITERION} and is counted once"]


def test_times_are_divided_by_unequal_counts_of_executions():
    assert read().values[0].tolist() == pytest.approx([10e-9, 20e-9])


@pytest.mark.parametrize(
    ("name", "benchmark", "version"),
    [
        ("fib.json", "fib", ""),
        ("sample.json", "sample", ""),
        ("new/sample.json", "sample", "new"),
        ("fib/new/sample.json", "fib", "new"),
        ("a/fib/main/sample.json", "a/fib", "main"),
        ("x/y/a/b/c/new/sample.json", "a/b/c", "new"),
        ("../criterion/a b/new/sample.json", "a b", "new"),
        ("criterion/criterion/new/sample.json", "criterion", "new"),
        (r"C:\work\target\criterion\fib\20\base\sample.json", "fib/20", "base"),
        ("/criterion/a/b/renamed.json", "renamed", ""),
    ],
)
def test_the_folders_tell_benchmark_and_version(name, benchmark, version):
    one = read(name)
    assert (one.name, one.conditions) == (benchmark, {"version": (version,)} if version else {})


@pytest.mark.parametrize("name", ["a/new/sample.json", "a/base/sample.json", r"a\new\sample.json"])
def test_the_two_lists_of_the_first_releases_are_read_where_they_lie(name):
    content = b"[[1.0,2.0],[10.0,40.0]]"
    assert criterion.detect(name, content)
    assert read(name, content).values[0].tolist() == pytest.approx([10e-9, 20e-9])


@pytest.mark.parametrize("name", ["sample.json", "a/sample.json", "new/org__a#b#.json"])
def test_two_lists_elsewhere_are_not_its_own(name):
    assert not criterion.detect(name, b"[[1.0,2.0],[10.0,40.0]]")


@pytest.mark.parametrize("name", [name for name in HOSTILE if "/" not in name])
def test_a_folder_is_kept_as_it_is(name):
    assert read(f"target/criterion/{name}/new/sample.json").name == name


def test_folders_that_lead_elsewhere_are_no_names():
    assert read("../../../etc/new/sample.json").name == "etc"


def test_the_name_is_that_of_benchmark_json_and_the_former_one_is_kept(tmp_path):
    place = tmp_path / "results" / "grp_x" / "fast_" / "new"
    place.mkdir(parents=True)
    (place / "sample.json").write_bytes(criterion_file())
    before = [benchmark.name for part in read_benchmarks(list(sources([place]))) for benchmark in part.benchmarks]
    (place / "benchmark.json").write_text('{"group_id": "grp/x", "full_id": "grp/x/fast?"}')
    for file in (place, place / "sample.json"):
        (one,) = [benchmark for part in read_benchmarks(list(sources([file]))) for benchmark in part.benchmarks]
        assert (one.name, one.former_names) == ("grp/x/fast?", tuple(before))
    archive = tmp_path / "all.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for file in place.iterdir():
            out.write(file, f"a/{file.relative_to(tmp_path)}")
    (one,) = [benchmark for part in read_benchmarks(list(sources([archive]))) for benchmark in part.benchmarks]
    assert one.name == "grp/x/fast?"
    for broken in ("", "[]", "{", '{"full_id": 3}', '{"full_id": " "}', "x" * 70_000):
        (place / "benchmark.json").write_text(broken)
        (one,) = [b for part in read_benchmarks(list(sources([place / "sample.json"]))) for b in part.benchmarks]
        assert (one.name, one.former_names) == (before[0], ())
