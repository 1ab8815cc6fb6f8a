import json
from pathlib import Path

import pytest

from labeler.files.formats import benchmarkdotnet
from tests.labeler.files.formats.examples import (
    dotnet_entry as entry,
    dotnet_file,
    dotnet_measurement as measurement,
    plain,
)
from tests.labeler.files.formats.mutations import HOSTILE, read_with

FILES = Path(__file__).parent / "files"  # in the layout of BenchmarkDotNet 0.13


def read(*entries):
    return read_with(benchmarkdotnet, "a.json", dotnet_file(*entries))


@pytest.mark.parametrize(("columns", "stage", "n"), [({}, "Result", 4), ({"stage": "Actual"}, "Actual", 5)])
def test_results_or_actual_measurements_of_the_workload_are_read_launch_by_launch(columns, stage, n):
    content = (FILES / "Example.Sorting-report-full.json").read_bytes()
    assert content.startswith(b"\xef\xbb\xbf")
    *benchmarks, failed = benchmarkdotnet.read("Example.Sorting-report-full.json", content, columns)
    assert (failed.name, failed.runs) == ("Example.Sorting.Fails", ())
    there = {
        one["FullName"]: [
            [m["Nanoseconds"] / m["Operations"] / 1e9 for m in one["Measurements"]
             if (m["IterationMode"], m["IterationStage"], m["LaunchIndex"]) == ("Workload", stage, launch)]
            for launch in (1, 2)
        ]
        for one in json.loads(content.decode("utf-8-sig"))["Benchmarks"]
        if one["Measurements"]
    }  # fmt: skip
    assert [one.name for one in benchmarks] == list(there)
    for one in benchmarks:
        assert [len(run) for run in one.values] == [n, n]
        assert [value for run in plain(one) for value in run] == pytest.approx(
            [*there[one.name][0], *there[one.name][1]]
        )
        assert (one.unit, one.better, one.application) == ("s", "lower", "")
        assert {name: texts[0] for name, texts in one.conditions.items()} == {
            "recorded:cpu": "CPU", "recorded:architecture": "X64", "recorded:runtime": ".NET 8.0.1"}  # fmt: skip
    assert [one.parameters for one in benchmarks] == [{"N": "10"}, {"N": "100"}, {"Text": "a b"}]


def test_other_stages_and_overheads_are_no_iterations():
    others = [measurement(stage=stage, nanoseconds=0) for stage in ("Jitting", "Pilot", "Warmup", "Unknown")]
    (one,) = read(entry(measurement(), *others, measurement(mode="Overhead", stage="Warmup")))
    assert plain(one) == [[500 * 1e-9 / 100]]


def test_a_launch_without_results_has_its_actual_times_less_the_mean_overhead():
    overhead = [measurement(mode="Overhead", iteration=at, nanoseconds=time) for at, time in ((1, 100.0), (2, 300.0))]
    actual = [measurement(iteration=at, nanoseconds=time) for at, time in ((1, 500.0), (2, 150.0))]
    (one,) = read(entry(*overhead, *actual))
    assert plain(one) == [pytest.approx([3e-9, 0.0])]  # (500 - 200) / 100 operations; never below 0


def test_the_mean_equals_the_mean_of_the_tool():
    report = json.loads((FILES / "Example.Sorting-report-full.json").read_bytes().decode("utf-8-sig"))
    (first, *_rest) = benchmarkdotnet.read("", json.dumps(report).encode(), {})
    (by_hand, *_rest) = benchmarkdotnet.read("", json.dumps(_without_results(report)).encode(), {})
    for run, longer in zip(plain(first), plain(by_hand), strict=True):
        assert run == pytest.approx([value for value in longer if value < max(longer)], rel=1e-4)


def _without_results(report):
    for one in report["Benchmarks"]:
        one["Measurements"] = [m for m in one["Measurements"] if m["IterationStage"] != "Result"]
    return report


def test_another_stage_than_these_two_is_refused():
    with pytest.raises(ValueError, match=r"^--columns stage=Pilot: the stage must be Result or Actual$"):
        list(benchmarkdotnet.read("", dotnet_file(entry()), {"stage": "Pilot"}))


def test_the_stages_of_old_releases_have_other_names():
    old = [measurement(mode=mode, stage=None) for mode in ("MainWarmup", "MainTarget", "IdleTarget")]
    (one,) = read(entry(*old, measurement(mode="Result", stage=None, nanoseconds=400.0)))
    assert plain(one) == [[400 * 1e-9 / 100]]


def test_runs_and_iterations_come_by_their_numbers():
    places = [(2, 2), (1, 10), (10, 1), (1, 9), (2, 1)]
    (one,) = read(entry(*(measurement(launch, at, launch * 100 + at, 1) for launch, at in places)))
    assert [[round(value * 1e9) for value in run] for run in plain(one)] == [[109, 110], [201, 202], [1001]]


def test_jobs_that_measured_one_benchmark_are_distinguished():
    jobs = ("Job-A(Runtime=.NET 6.0)", "Job-B(Runtime=.NET 8.0)")
    a, b, c = read(*(entry(DisplayInfo=f"T.M: {job} [N=1]", Parameters="N=1") for job in jobs), entry(name="N.T.L"))
    assert [a.name, b.name, c.name] == [f"N.T.M [{jobs[0]}]", f"N.T.M [{jobs[1]}]", "N.T.L"]
    assert (a.benchmark, a.parameters, c.parameters) == ("N.T.M", {"N": "1", "job": jobs[0]}, {})
    assert [one.parameters["job"] for one in read(*(entry(DisplayInfo=f"T.M: {job}") for job in jobs))] == list(jobs)


def test_a_benchmark_without_measurements_is_left_out():
    failed = entry(name="a", Measurements=[], Statistics=None)
    assert [one.name for one in read(failed, entry(name="b"), entry(name="c", Measurements=None))] == ["b"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_kept_as_it_is(name):
    (one,) = read(entry(name=name, Parameters=f"text={name.replace('&', '')}"))
    assert (one.name, one.parameters) == (name, {"text": name.replace("&", "")})
