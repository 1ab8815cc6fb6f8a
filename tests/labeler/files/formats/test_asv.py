import itertools
import json
import math
from pathlib import Path

import pytest

from labeler.files.formats import asv
from tests.labeler.files.formats.examples import asv_file, asv_row as row, plain
from tests.labeler.files.formats.mutations import HOSTILE, read_with

FILES = Path(__file__).parent / "files"  # written by asv 0.6.6


def read(results, **more):
    return read_with(asv, "abc-py3.json", asv_file(results, **more))


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


def test_a_time_without_statistics_is_in_seconds_because_of_its_name():
    found = read({"time_x": [[0.5], []], "T.TimeY": [[0.5], []], "track_time": [[0.5], []]})
    assert [(one.unit, one.better) for one in found] == [("s", "lower"), ("s", "lower"), ("", "")]


def test_a_benchmark_without_samples_is_left_out_if_others_have_some():
    assert [one.name for one in read({"time_x": row(samples=None), "time_y": row()})] == ["time_y"]


def test_combinations_that_failed_or_were_skipped_are_left_out():
    result, samples = [None, 0.5, float("nan")], [None, [0.5, 0.25], None]
    (one,) = read({"time_x": row(result, [["1", "2", "3"]], samples, [None, 2, None]), "time_y": [None, []]})
    assert (one.name, one.parameters, plain(one)) == ("time_x#param1=2", {"param1": "2"}, [[0.5, 0.25]])


@pytest.mark.parametrize("machine", [None, ""])
def test_what_the_file_does_not_say_of_its_run_is_no_condition(machine):
    (one,) = read({"time_x": row()}, params={"machine": machine}, env_name=None)
    assert one.conditions == {"version": ("abc",)}


def test_columns_are_found_by_their_names():
    columns = ["samples", "params", "result"]
    (one,) = read({"time_x": [[[1.0, 2.0]], [], [1.5]]}, result_columns=columns)
    assert plain(one) == [[1.0, 2.0]]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_parameters_are_kept_as_they_are(name):
    (one,) = read({name: row(params=[[name]])}, commit_hash=name)
    assert (one.name, one.parameters, one.conditions["version"]) == (f"{name}#param1={name}", {"param1": name}, (name,))
