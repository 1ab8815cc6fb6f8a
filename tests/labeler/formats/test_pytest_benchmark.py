import json
from pathlib import Path

import pytest

from labeler.formats import FORMATS
from tests.labeler.formats.mutations import HOSTILE, read_with, readers, refusal

pytest_benchmark = FORMATS["pytest-benchmark"]
FILES = Path(__file__).parent / "files"  # written by pytest-benchmark 5.3.1
DATA = [0.5, 0.25, 0.125]


def entry(name="test_a.py::test_sort", data=DATA, **more):
    stats = {"min": 0.1, "mean": 0.3, "rounds": 3, "iterations": 1} | ({} if data is None else {"data": data})
    return {"group": None, "name": "test_sort", "fullname": name, "params": None, "param": None, "stats": stats} | more


def written(*entries):
    return json.dumps({"machine_info": {}, "commit_info": {}, "benchmarks": entries, "version": "5.3.1"}).encode()


read, refused = readers(pytest_benchmark, "a.json", written)


def test_a_file_of_the_tool_is_read_unchanged():
    content = (FILES / "pytest-benchmark.json").read_bytes()
    benchmarks = read_with(pytest_benchmark, "pytest-benchmark.json", content)
    entries = json.loads(content)["benchmarks"]
    assert [one.name for one in benchmarks] == [one["fullname"] for one in entries]
    assert [one.name.partition("::")[2] for one in benchmarks] == [
        "test_sort[10]", "test_sort[100]", "test_join[<b>]", "test_join[a b]",
    ]  # fmt: skip
    for one, there in zip(benchmarks, entries, strict=True):
        assert [run.tolist() for run in one.values] == [there["stats"]["data"]]
        assert len(one.values[0]) == there["stats"]["rounds"]
        assert one.values[0].mean() == pytest.approx(
            there["stats"]["mean"]
        )  # so they are already divided by iterations
        assert (one.unit, one.better, one.application) == ("s", "lower", "")
        assert one.of("time") == (json.loads(content)["datetime"].removesuffix("+00:00"),)
        assert (one.of("recorded:architecture"), one.of("recorded:runtime")) == (("x86_64",), ("CPython 3.11.7",))
        assert "host" not in one.of("recorded:host")[0]  # a hash
    assert [one.parameters for one in benchmarks] == [{"n": "10"}, {"n": "100"}, {"text": "<b>"}, {"text": "a b"}]


def test_a_file_that_was_saved_without_data_is_refused_with_the_options_that_keep_them():
    content = (FILES / "pytest-benchmark-autosaved.json").read_bytes()
    assert refusal(pytest_benchmark, "0001.json", content) == (
        "benchmark 'test_sorting.py::test_sort[10]' has only statistics. pytest-benchmark saves the measurements with "
        "--benchmark-save-data beside --benchmark-autosave or --benchmark-save=NAME, or with --benchmark-json=FILE"
    )


def test_a_benchmark_without_data_is_left_out_if_others_have_some():
    (one,) = read(entry("a", []), entry("b"))
    assert (one.name, one.values[0].tolist()) == ("b", DATA)
    assert "'a': 'data'" in refused(entry("a", []))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (entry("a", [1.0, "x"]), "benchmark 'a', run 0, iteration 1: 'x' is not a number"),
        (entry("a", [1.0, None]), "benchmark 'a', run 0, iteration 1: None is not a number"),
        (entry("a", [float("nan")]), "benchmark 'a', run 0, iteration 0: nan is not a finite measurement"),
        (entry("a", [True]), "benchmark 'a', run 0, iteration 0: True is not a number"),
        (entry("a", 3), "benchmark 'a': 'data' is 3, not a list"),
        (entry("a", stats=[]), "benchmark 'a': 'stats' is [], not an object"),
        (entry("a", params=[1]), "benchmark 'a': 'params' is [1], not an object"),
        (entry(7), "benchmark 0: 'fullname' is 7, not a text"),
        ("text", "benchmark 0: 'text' is not an object"),
    ],
)
def test_invalid_content_is_refused_with_place_and_value(bad, message):
    assert refused(bad) == message


def test_a_name_that_appears_twice_is_refused():
    assert refused(entry("a"), entry("a")) == "benchmark 'a' appears twice"


def test_a_file_without_benchmarks_is_refused():
    assert refused() == "the file contains no benchmarks"
    assert refusal(pytest_benchmark, "a.json", b"[1]") == "the file: [1] is not an object"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_kept_as_it_is(name):
    (one,) = read(entry(name, params={name: [name]}))
    assert (one.name, one.parameters) == (name, {name: str([name])})
