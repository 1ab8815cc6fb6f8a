import json
from pathlib import Path

import pytest

from analysis.runs.benchmark import Failure
from labeler.files.formats import google_benchmark
from tests.labeler.files.formats.examples import (
    google_aggregate as aggregate,
    google_file,
    google_row as row,
    google_row_before_1_5 as old,
)
from tests.labeler.files.formats.mutations import read_with

FILES = Path(__file__).parent / "files"  # written by Google Benchmark 1.7.1
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}


def read(*rows):
    return read_with(google_benchmark, "a.json", google_file(*rows))


def values(benchmark):
    (run,) = benchmark.values
    return run.tolist()


def test_a_file_of_the_tool_is_read_unchanged():
    content = (FILES / "google-benchmark.json").read_bytes()
    there = {}
    for one in json.loads(content)["benchmarks"]:
        if one["run_type"] == "iteration" and "error_occurred" not in one:
            there.setdefault(one["run_name"], []).append(one["real_time"] * UNITS[one["time_unit"]])
    benchmarks = read_with(google_benchmark, "google-benchmark.json", content)
    assert {one.name: values(one) for one in benchmarks} == there
    assert [(one.name, len(one.values[0])) for one in benchmarks] == [
        ("Sort/n:100/repeats:3", 3), ("Sort/n:1000/repeats:3", 3), ("Grow/16", 1), ("Grow/64", 1), ("Grow/256", 1),
        ("Copy/repeats:4", 4), ("Sometimes/iterations:1000/repeats:3", 2),
    ]  # fmt: skip
    assert {(one.unit, one.better, one.application) for one in benchmarks} == {("s", "lower", "")}
    assert benchmarks[0].parameters == {"n": "100", "repeats": "3"}
    assert benchmarks[2].parameters == {"argument 1": "16"}
    assert benchmarks[-1].failures == (Failure({}, "repetition 1: error 'lost'"),)
    assert not any(one.failures for one in benchmarks[:-1])


def test_each_row_has_its_own_unit_of_time():
    rows = [row(time=2.5, repetition_index=at, time_unit=unit) for at, unit in enumerate(("s", "ms", "us", "ns"))]
    assert values(read(*rows)[0]) == [2.5, 2.5 * 1e-3, 2.5 * 1e-6, 2.5 * 1e-9]
    assert values(read(row(time=3.0, time_unit=None))[0]) == [3 * 1e-9]


def test_repetitions_come_by_their_number():
    rows = [row(time=float(at), repetition_index=at, time_unit="s") for at in (2, 0, 1)]
    assert values(read(*rows)[0]) == [0.0, 1.0, 2.0]


def test_aggregates_are_left_out():
    assert [one.name for one in read(row("a"), aggregate("a", "mean"), aggregate("b", "median"))] == ["a"]


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([old("a"), old("a"), old("a_mean"), old("a_median"), old("a_stddev")], ["a"]),
        ([old("a/8"), old("a_BigO", real_time=None, cpu_coefficient=1.0), old("a_RMS", real_time=None, rms=0.1)],
         ["a/8"]),
        ([old("harmonic_mean")], ["harmonic_mean"]),
        ([old("b"), old("a_mean"), old("a_median"), old("a_stddev")], ["b"]),
    ],
)  # fmt: skip
def test_in_old_files_names_tell_aggregates(rows, names):
    assert [one.name for one in read(*rows)] == names


def test_repetitions_of_old_files_are_read_unchanged():
    assert values(read(old("a", 3.0, time_unit="s"), old("a", 1.0, time_unit="s"))[0]) == [3.0, 1.0]


def test_errors_and_skips_are_told_and_a_benchmark_that_has_nothing_else_is_left_out():
    error = {"error_occurred": True, "error_message": "no device", "time": 0.0}
    skip = {"skipped": True, "skip_message": "not here", "time": 0.0}
    (one,) = read(
        row("b", **error), row("a"), row("a", repetition_index=1, **error), row("a", repetition_index=2, **skip)
    )
    assert (one.name, values(one)) == ("a", [2.5e-9])
    assert [failure.reason for failure in one.failures] == [
        "repetition 1: error 'no device'", "repetition 2: skipped 'not here'",
    ]  # fmt: skip
