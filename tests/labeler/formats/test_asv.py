import itertools
import json
import math
from pathlib import Path

import pytest

from labeler.formats import asv
from tests.labeler.formats.examples import plain
from tests.labeler.formats.mutations import HOSTILE, read_with, readers, refusal

FILES = Path(__file__).parent / "files"  # written by asv 0.6.6
COLUMNS = ["result", "params", "version", "started_at", "duration", "stats_ci_99_a", "stats_ci_99_b", "stats_q_25",
           "stats_q_75", "stats_number", "stats_repeat", "samples", "profile"]  # fmt: skip


def row(result=(0.25,), params=(), samples=((0.5, 0.25, 0.125),), repeat=(3,)):
    return [result, params, "0", 1, 1.0, [0.1], [0.2], [0.1], [0.2], [1], repeat, samples]


def document(results, **more):
    told = {"commit_hash": "abc", "env_name": "py3", "params": {"machine": "host"}, "result_columns": COLUMNS,
            "results": results, "version": 2}  # fmt: skip
    return told | more


read, refused = readers(asv, "abc-py3.json", lambda results, **more: json.dumps(document(results, **more)).encode())


@pytest.mark.parametrize("file", ["asv-first.json", "asv-second.json"])
def test_a_file_of_the_tool_is_read_unchanged(file):
    content = (FILES / file).read_bytes()
    there = json.loads(content)
    expected = {}
    for name, held in there["results"].items():
        cells = dict(zip(there["result_columns"], held, strict=False))
        for at, levels in enumerate(itertools.product(*cells["params"])):
            told = "&".join(f"param{i}={level}" for i, level in enumerate(levels, 1))
            result = cells["result"][at] if cells["result"] else None
            if result is not None and not math.isnan(result):
                samples = cells.get("samples")
                expected[name + "#" * bool(told) + told] = [samples[at] if samples else [result]]
    benchmarks = read_with(asv, file, content)
    assert {one.name: plain(one) for one in benchmarks} == expected
    assert {one.name: (len(one.values[0]), one.unit) for one in benchmarks} == {
        "sorting.time_join": (8, "s"), "sorting.mem_list": (1, "byte"), "sorting.peakmem_list": (1, "byte"),
        "sorting.Sort.time_sort#param1=10&param2='down'": (4, "s"),
        "sorting.Sort.time_sort#param1=100&param2='down'": (4, "s"),
        "sorting.Sort.track_length#param1=10&param2='down'": (1, ""),
        "sorting.Sort.track_length#param1=100&param2='down'": (1, ""),
    }  # fmt: skip
    for one in benchmarks:
        assert (one.better, one.application) == ("lower" if one.unit else "", "")
        assert one.conditions == {
            "version": (there["commit_hash"],), "context": ("host",), "environment": (there["env_name"],),
            "recorded:commit date": ("2024-01-01T00:00:00.000000",),
        }  # fmt: skip


def test_a_file_without_samples_is_refused_with_the_option_that_keeps_them():
    message = (
        "benchmark 'sorting.time_join' has only the median. To keep all measurements, use asv run --record-samples"
    )
    assert refusal(asv, "a.json", (FILES / "asv-medians.json").read_bytes()) == message
    assert refused({"time_x": row(samples=None)}).startswith("benchmark 'time_x' has only the median")


def test_a_benchmark_without_samples_is_left_out_if_others_have_some():
    assert [one.name for one in read({"time_x": row(samples=None), "time_y": row()})] == ["time_y"]


def test_combinations_that_failed_or_were_skipped_are_left_out():
    result, samples = [None, 0.5, float("nan")], [None, [0.5, 0.25], None]
    (one,) = read({"time_x": row(result, [["1", "2", "3"]], samples, [None, 2, None]), "time_y": [None, []]})
    assert (one.name, one.parameters, plain(one)) == ("time_x#param1=2", {"param1": "2"}, [[0.5, 0.25]])
    message = "no benchmark of the file has a measurement; 'time_y': failed"
    assert refused({"time_y": [None, []]}) == message
    message = "no benchmark of the file has a measurement; 'track_x': skipped by its setup"
    assert refused({"track_x": [[float("nan")], []]}) == message


@pytest.mark.parametrize("machine", [None, ""])
def test_what_the_file_does_not_say_of_its_run_is_no_condition(machine):
    (one,) = read({"time_x": row()}, params={"machine": machine}, env_name=None)
    assert one.conditions == {"version": ("abc",)}


@pytest.mark.parametrize("version", [3, None, "2", [2]])
def test_another_version_of_the_format_is_refused_with_the_command_that_rewrites_it(version):
    message = f"version {version!r} of asv results is not supported. Convert the results with: asv update"
    assert refused({"time_x": row()}, version=version) == message


def test_columns_are_found_by_their_names():
    columns = ["samples", "params", "result"]
    (one,) = read({"time_x": [[[1.0, 2.0]], [], [1.5]]}, result_columns=columns)
    assert plain(one) == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({"a": row(samples=[[1.0, "x"]])}, "benchmark 'a', run 0, iteration 1: 'x' is not a number"),
        ({"a": row(samples=[[1.0, None]])}, "benchmark 'a', run 0, iteration 1: None is not a number"),
        ({"a": row(samples=[[float("nan")]])}, "benchmark 'a', run 0, iteration 0: nan is not a finite measurement"),
        ({"a": row(samples=[7])}, "benchmark 'a', run 0: 7 is not a list"),
        ({"a": row(samples=7)}, "benchmark 'a': 'samples' is 7, not a list of 1, one for each combination"),
        ({"a": row(result=[1, 2])}, "benchmark 'a': 'result' is [1, 2], not a list of 1, one for each combination"),
        ({"a": row(params=[1])}, "'a': 'params' is [1]"),
        ({"a": row(params=[["1"] * 1000] * 3)},
         "benchmark 'a': 'result' is [0.25], not a list of 1000000000, one for each combination"),
        ({"a": [["x"], []]}, "benchmark 'a', run 0, iteration 0: 'x' is not a number"),
        ({"a": [[float("inf")], []]}, "benchmark 'a', run 0, iteration 0: inf is not a finite measurement"),
        ({"a": 3}, "benchmark 'a': 3 is not a list"),
        ([], "the file: 'results' is [], not an object"),
        ({}, "the file contains no benchmarks"),
    ],
)  # fmt: skip
def test_invalid_content_is_refused_with_place_and_value(results, message):
    assert message in refused(results)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"commit_hash": 3}, "the file: version is 3, not a text"),
        ({"env_name": "\ud800"}, r"the file: environment is '\ud800', not a text"),
        ({"params": {"machine": "a\0"}}, r"the file: context is 'a\x00', not a text"),
        ({"params": []}, "the file: 'params' is [], not an object"),
        ({"result_columns": 1}, "the file: 'result_columns' is 1, not a list"),
    ],
)
def test_what_the_file_says_of_its_run_must_be_texts(more, message):
    assert refused({"time_x": row()}, **more) == message


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_parameters_are_kept_as_they_are(name):
    (one,) = read({name: row(params=[[name]])}, commit_hash=name)
    assert (one.name, one.parameters, one.conditions["version"]) == (f"{name}#param1={name}", {"param1": name}, (name,))
