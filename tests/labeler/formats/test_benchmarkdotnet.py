import json
from pathlib import Path

import pytest

from labeler.formats import benchmarkdotnet
from tests.labeler.formats.examples import plain
from tests.labeler.formats.mutations import HOSTILE, readers, refusal

FILES = Path(__file__).parent / "files"  # in the layout of BenchmarkDotNet 0.13


def measurement(launch=1, iteration=1, nanoseconds=500.0, operations=100, mode="Workload", stage="Actual", **more):
    return {"IterationMode": mode, "IterationStage": stage, "LaunchIndex": launch, "IterationIndex": iteration,
            "Operations": operations, "Nanoseconds": nanoseconds} | more  # fmt: skip


def entry(*measurements, name="N.T.M", **more):
    told = {"DisplayInfo": "T.M: DefaultJob", "FullName": name, "Parameters": "", "Statistics": {"Mean": 1},
            "Measurements": measurements or [measurement()]} | more  # fmt: skip
    return {key: value for key, value in told.items() if value is not ...}


def written(*entries):
    return json.dumps({"Title": "T", "HostEnvironmentInfo": {}, "Benchmarks": entries}).encode()


read, refused = readers(benchmarkdotnet, "a.json", written)


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


def test_a_report_without_measurements_is_refused_with_the_exporter_that_keeps_them():
    content = (FILES / "Example.Sorting-report-brief.json").read_bytes()
    assert "--exporters fulljson" in refusal(benchmarkdotnet, "a.json", content)


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
        list(benchmarkdotnet.read("", written(entry()), {"stage": "Pilot"}))


def test_a_report_from_before_full_names_is_refused_in_words():
    assert "older than 0.11" in refused(entry(name=...))


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
    assert refused(entry(), entry()) == "benchmark 'N.T.M [DefaultJob]' appears twice"
    assert refused(entry(DisplayInfo=3), entry(DisplayInfo=3)) == "benchmark 'N.T.M' appears twice"


def test_a_benchmark_without_measurements_is_left_out():
    failed = entry(name="a", Measurements=[], Statistics=None)
    assert [one.name for one in read(failed, entry(name="b"), entry(name="c", Measurements=None))] == ["b"]
    assert "'a': no measurement" in refused(failed)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (entry(measurement(nanoseconds="x")),
         "benchmark 'N.T.M', launch 1, iteration 1, 'Nanoseconds': 'x' is not a number"),
        (entry(measurement(operations=None)),
         "benchmark 'N.T.M', launch 1, iteration 1, 'Operations': None is not a number"),
        (
            entry(measurement(operations=0)),
            "benchmark 'N.T.M', launch 1, iteration 1: the number of operations is 0, but must be above 0",
        ),
        (entry(measurement(), measurement()), "benchmark 'N.T.M', launch 1, iteration 1 appears twice"),
        (entry(measurement(launch="1")), "benchmark 'N.T.M', measurement 0: 'LaunchIndex' is '1', not a whole number"),
        (entry(measurement(iteration=True)),
         "benchmark 'N.T.M', measurement 0: 'IterationIndex' is True, not a whole number"),
        (entry(measurement(mode=3)), "benchmark 'N.T.M', measurement 0: 'IterationMode' is 3, not a text"),
        (entry(5), "benchmark 'N.T.M', measurement 0: 5 is not an object"),
        (entry(Measurements={}), "benchmark 'N.T.M': 'Measurements' is {}, not a list"),
        (entry(measurement(nanoseconds=float("nan"))),
         "benchmark 'N.T.M', run 0, iteration 0: nan is not a finite measurement"),
        (entry(name=3), "benchmark 0: 'FullName' is 3, not a text"),
        (5, "benchmark 0: 5 is not an object"),
    ],
)  # fmt: skip
def test_invalid_content_is_refused_with_place_and_value(bad, message):
    assert refused(bad) == message


def test_a_report_without_benchmarks_is_refused():
    assert refused() == "the file contains no benchmarks"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_kept_as_it_is(name):
    (one,) = read(entry(name=name, Parameters=f"text={name.replace('&', '')}"))
    assert (one.name, one.parameters) == (name, {"text": name.replace("&", "")})
