"""What readers refuse: the sentence names the place, the value, and the option of the tool that helps."""

import json
from pathlib import Path

import pytest

from labeler.files.formats import FORMATS
from tests.labeler.files.formats.examples import (
    CRITERION,
    asv_file,
    asv_row,
    criterion_file,
    dotnet_entry,
    dotnet_file,
    dotnet_measurement,
    google_aggregate,
    google_file,
    google_row,
    google_row_before_1_5,
    julia_file,
)
from tests.labeler.files.formats.mutations import HOSTILE, read_with, refusal

FILES = Path(__file__).parent / "files"
NOTHING = "the file contains no benchmarks"
ONLY_FAILURES = "no benchmark of the file has a measurement; "
NO_SAMPLES = "has only the median. To keep all measurements, use asv run --record-samples"
REPETITIONS = "--benchmark_report_aggregates_only=false --benchmark_out=FILE.json --benchmark_out_format=json"
ONLY_MEANS = f"this file has only averages. Google Benchmark saves all repetitions with {REPETITIONS}"
NO_DOCUMENT_TYPE = "the XML declares a document type or entities, which Catch2 never writes"
NOT_XML = "this is not one complete XML document. Write the output of each process into a separate file"
NAMES_OF_TASKS = "JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result })))"
PERF = "use perf stat -o FILE --append COMMAND, once for each process"
REBENCH = "invocation\titeration\tvalue\tunit\tcriterion\tbenchmark\tvm\tsuite\textraArgs\tcores\tinputSize\tvarValue\n"
NO_FULL_NAMES = (
    "this report has no full benchmark names, because BenchmarkDotNet is older than 0.11. Measure again with a newer "
    "version"
)
FULL_JSON = (
    "this file has only averages. BenchmarkDotNet saves all measurements with --exporters fulljson or "
    "[JsonExporterAttribute.Full]"
)
WALLTIME = (
    "the file has no times, because CodSpeed measured with the instrument 'valgrind'. Measure with the instrument "
    "walltime (pytest: --codspeed-mode=walltime)"
)
NAN, INF = float("nan"), float("inf")


def of_asv(name="a", **cells):
    return asv_file({name: asv_row(**cells)})


def of_dotnet(**measurement):
    return dotnet_file(dotnet_entry(dotnet_measurement(**measurement)))


def of_google(name="a", time=2.5, **more):
    return google_file(google_row(name, time, **more))


def of_asv_with(more):
    return asv_file({"a": asv_row()}, **more)


def of_rebench(row):
    return f"{REBENCH}{row}\n"


def codspeed_without_times():
    document = json.loads((FILES / "codspeed.json").read_text())
    document["instrument"]["type"] = "valgrind"
    return json.dumps(document)


REFUSED = {
    "asv": [
        (of_asv(samples=[[1.0, "x"]]), "benchmark 'a', run 0, iteration 1: 'x' is not a number"),
        (of_asv(samples=[[1.0, None]]), "benchmark 'a', run 0, iteration 1: null is not a number"),
        (of_asv(samples=[[NAN]]), "benchmark 'a', run 0, iteration 0: nan is not a finite measurement"),
        (of_asv(samples=[7]), "benchmark 'a', run 0: 7 is not a list"),
        (of_asv(samples=7), "benchmark 'a': 'samples' is 7, not a list of 1, one for each combination"),
        (of_asv(result=[1, 2]), "benchmark 'a': 'result' is [1, 2], not a list of 1, one for each combination"),
        (of_asv(params=[1]), "benchmark 'a': 'params' is [1], not a list of lists"),
        (of_asv(params=[["1"] * 1000] * 3),
         "benchmark 'a': 'result' is [0.25], not a list of 1000000000, one for each combination"),
        (asv_file({"a": [["x"], []]}), "benchmark 'a', run 0, iteration 0: 'x' is not a number"),
        (asv_file({"a": [[INF], []]}), "benchmark 'a', run 0, iteration 0: inf is not a finite measurement"),
        (asv_file({"a": 3}), "benchmark 'a': 3 is not a list"),
        (asv_file([]), "the file: 'results' is [], not an object"),
        (asv_file({}), NOTHING),
        (asv_file({"a": [None, []]}), f"{ONLY_FAILURES}'a': the result is null"),
        (asv_file({"track_x": [[NAN], []]}), f"{ONLY_FAILURES}'track_x': skipped by its setup"),
        ((FILES / "asv-medians.json").read_bytes(), f"benchmark 'sorting.time_join' {NO_SAMPLES}"),
        (of_asv("time_x", samples=None), f"benchmark 'time_x' {NO_SAMPLES}"),
        *((of_asv_with(more), message) for more, message in (
            ({"commit_hash": 3}, "the file: version is 3, not a text"),
            ({"env_name": "\ud800"}, r"the file: environment is '\ud800', not a text"),
            ({"params": {"machine": "a\0"}}, r"the file: context is 'a\x00', not a text"),
            ({"params": []}, "the file: 'params' is [], not an object"),
            ({"result_columns": 1}, "the file: 'result_columns' is 1, not a list"),
            *(({"version": version},
               f"version {version!r} of asv results is not supported. Convert the results with: asv update")
              for version in (3, None, "2", [2])))),
    ],
    "benchmarkdotnet": [
        *((of_dotnet(**measurement), f"benchmark 'N.T.M', {message}") for measurement, message in (
            ({"nanoseconds": "x"}, "launch 1, iteration 1, 'Nanoseconds': 'x' is not a number"),
            ({"operations": None}, "launch 1, iteration 1, 'Operations': null is not a number"),
            ({"operations": 0}, "launch 1, iteration 1: the number of operations is 0, but must be above 0"),
            ({"launch": "1"}, "measurement 0: 'LaunchIndex' is '1', not a whole number"),
            ({"iteration": True}, "measurement 0: 'IterationIndex' is true, not a whole number"),
            ({"mode": 3}, "measurement 0: 'IterationMode' is 3, not a text"),
            ({"nanoseconds": NAN}, "run 0, iteration 0: nan is not a finite measurement"))),
        *((dotnet_file(*entries), message) for entries, message in (
            ([dotnet_entry(*[dotnet_measurement()] * 2)], "benchmark 'N.T.M', launch 1, iteration 1 appears twice"),
            ([dotnet_entry(5)], "benchmark 'N.T.M', measurement 0: 5 is not an object"),
            ([dotnet_entry(Measurements={})], "benchmark 'N.T.M': 'Measurements' is {}, not a list"),
            ([dotnet_entry(name=3)], "benchmark 0: 'FullName' is 3, not a text"),
            ([5], "benchmark 0: 5 is not an object"),
            ([], NOTHING),
            ([dotnet_entry()] * 2, "benchmark 'N.T.M [DefaultJob]' appears twice"),
            ([dotnet_entry(DisplayInfo=3)] * 2, "benchmark 'N.T.M' appears twice"),
            ([dotnet_entry(name="a", Measurements=[])], f"{ONLY_FAILURES}'a': no measurement of the workload"),
            ([dotnet_entry(name=...)], NO_FULL_NAMES))),
        ((FILES / "Example.Sorting-report-brief.json").read_bytes(), FULL_JSON),
    ],
    "google-benchmark": [
        (of_google(time="x"), "benchmark 'a', run 0, iteration 0: 'x' is not a number"),
        (google_file(google_row("a"), google_row("a", NAN, repetition_index=1)),
         "benchmark 'a', run 0, iteration 1: nan is not a finite measurement"),
        (of_google(real_time=None), "benchmark 'a', run 0, iteration 0: 'real_time' is missing"),
        (of_google(time_unit="hour"), "benchmark 'a', run 0, iteration 0: the time unit 'hour' is unknown"),
        (of_google(time_unit=[]), "benchmark 'a', run 0, iteration 0: the time unit [] is unknown"),
        (google_file(*[google_row("a")] * 2), "benchmark 'a': repetition 0 appears twice"),
        (of_google(repetition_index="0"), "benchmark 'a': 'repetition_index' is '0', not a whole number"),
        (of_google(run_name=3), "row 'a': 'run_name' is 3, not a text"),
        (google_file({"run_name": "a"}), "row 0: 'name' is missing"),
        (google_file(5), "row 0: 5 is not an object"),
        (google_file(), NOTHING),
        (of_google(error_occurred=True, error_message="no device", time=0.0),
         f"{ONLY_FAILURES}'a': repetition 0: error 'no device'"),
        (google_file(google_aggregate("a", "mean")), ONLY_MEANS),
        (google_file(*(google_row_before_1_5(f"a_{kind}") for kind in ("mean", "median", "stddev"))), ONLY_MEANS),
        ((FILES / "google-benchmark-aggregates.json").read_bytes(), ONLY_MEANS),
        ((FILES / "google-benchmark.csv").read_bytes(),
         f"this is the CSV of Google Benchmark. Write JSON with {REPETITIONS}"),
    ],
    "go": [
        ("BenchmarkX 1 2 ns/op 3 sec/op", "benchmark 'BenchmarkX' appears twice; it has values in two units"),
        ("goos: linux\ngoarch: amd64\npkg: example.org/a\ncpu: x\n", NOTHING),
        (b"BenchmarkX 1 2 ns/op\n\xff", "byte 21: the file is not UTF-8 text. Save it as UTF-8"),
        ('{"Action":"output","Output":"BenchmarkX 1 2 ns/op\\n"}\n{"Action":"outp',
         "line 2: this is not an event of go test -json"),
        ("BenchmarkX \t--- FAIL: BenchmarkX\n", f"{ONLY_FAILURES}'BenchmarkX': line 1: --- FAIL"),
    ],
    "criterion": [
        *((criterion_file(**parts), f"benchmark 'fib/20', run 0{message}") for parts, message in (
            ({"times": [1.0]}, ": 'times' and 'iters' differ in length (1 and 2)"),
            ({"times": [1.0, "x"]}, ", 'times', iteration 1: 'x' is not a number"),
            ({"iters": [1, None]}, ", 'iters', iteration 1: null is not a number"),
            ({"iters": [1, 0]}, ", iteration 1: the number of executions is 0.0, but must be above 0"),
            ({"iters": [NAN, 1]}, ", iteration 0: the number of executions is nan, but must be above 0"),
            ({"times": [INF, 1]}, ", iteration 0: inf is not a finite measurement"))),
        (criterion_file(times=[], iters=[]), "benchmark 'fib/20', run 0: no measurements"),
        (criterion_file(times=None), "the file: 'times' is missing"),
        (criterion_file(iters=3), "the file: 'iters' is 3, not a list"),
        (b"[[1], [1], [1]]", "the file: [[1], [1], [1]] is not an object"),
        *(((FILES / f"criterion/Fibonacci numbers/Iterative/20/{version}/estimates.json").read_bytes(),
           "this file has only averages. The measurements are in sample.json in the same folder")
          for version in ("new", "base")),
    ],
    "tinybench": [
        ('{"files": [{}]}', "file 0: 'groups' is missing"),
        ('[{"name": "a", "result": {"mean": "x"}}]', "benchmark 'a', 'mean': 'x' is not a number"),
        ("3", "this is neither output of vitest bench --outputJson nor a list of tinybench tasks"),
        ('[{"name": "a", "result": {"error": {}, "latency": {"mean": 1}}}]',
         f"{ONLY_FAILURES}'a': the result is an error"),
        ('[{"state": "completed", "latency": {"mean": 1.5}}]',
         f"task 0 has no name. Write all tasks with {NAMES_OF_TASKS}"),
    ],
    "benchmarkjs": [
        ("hello", NOTHING),
        ("sort x NaN ops/sec ±NaN% (0 runs sampled)\n", f"{ONLY_FAILURES}'sort': has no rate"),
    ],
    "cargo-bench": [
        (b"\xff", "byte 0: the file is not UTF-8 text. Save it as UTF-8"),
        ("test a ... bench: 1,500.5 ns/iter (+/- 3)\ntest a ... bench: 2 g/iter (+/- 3)\n",
         "benchmark 'a' has more than one unit: 'ns/iter', 'g/iter'"),
    ],
    "github-action": [
        ('[{"name": "a", "unit": "s"}]', "entry 0, 'value': null is not a number"),
        ('[{"name": "a", "unit": 3}]', "entry 0: 'unit' is 3, not a text"),
        ('[{"name": "a", "unit": "s", "value": 1e999}]',
         "benchmark 'a', run 0, iteration 0: inf is not a finite measurement"),
        ("{}", "this is not a list of objects with name, unit and value (github-action-benchmark)"),
    ],
    "bencher": [
        ('{"a": {"latency": {"value": true}}}', "benchmark 'a', 'latency', 'value': true is not a number"),
        ("[]", "this is not an object of benchmarks (Bencher Metric Format)"),
    ],
    "k6": [('{"metrics": {"a": 3}}', "the metrics: 'a' is 3, not an object"), ('{"metrics": {}}', NOTHING)],
    "wrk": [
        ("Running 3s test @ http://a\n",
         f"{ONLY_FAILURES}'http://a [Requests/sec]': the output has no line Requests/sec. Was wrk stopped?"),
    ],
    "catch2": [
        ('<!DOCTYPE a [<!ENTITY b "c">]><Catch2TestRun>&b;</Catch2TestRun>', NO_DOCUMENT_TYPE),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><Catch2TestRun/>', NO_DOCUMENT_TYPE),
        ("<Catch2TestRun/>".encode("utf-16"), "byte 0: the file is not UTF-8 text. Save it as UTF-8"),
        ('<?xml version="1.0" encoding="cp500"?><Catch2TestRun/>', NOTHING),
        ("<Catch2TestRun><a>", f"line 1, column 19: {NOT_XML}"),
        ("<Catch2TestRun>" + "<a>" * 200_000, f"line 1, column 600016: {NOT_XML}"),
        ("<Catch2TestRun>" + "<a>" * 200 + "</a>" * 200 + "</Catch2TestRun>",
         "the XML has more than 100 nested elements"),
        ("<Catch2TestRun/><Catch2TestRun/>", f"line 1, column 17: {NOT_XML}"),
        ("<Catch2TestRun/>", NOTHING),
        ('<Catch2TestRun><BenchmarkResults name="a"><failed message="no words"/></BenchmarkResults></Catch2TestRun>',
         f"{ONLY_FAILURES}'a': failed: no words"),
    ],
    "benchmarktools": [
        (julia_file(["Parameters", {}]), "the file: 'Parameters' has no times. Save the results of run(suite)"),
        (julia_file(["Trial", {"times": []}]), f"{ONLY_FAILURES}'trial': no times"),
        (julia_file(["Trial", {"times": ["x"]}]), "the file, iteration 0: 'x' is not a number"),
        (julia_file(["BenchmarkGroup", {"data": {"a": 3}}]), "benchmark 'a': this is not a result of BenchmarkTools"),
        (julia_file(["TrialEstimate", {}]), "the file, 'time': null is not a number"),
    ],
    "rebench": [
        (of_rebench("1\t1\tx\tms\ttotal\tSort\tvm\tS\t\t1\t\t"), "line 2, column 'value': 'x' is not a finite number"),
        (of_rebench("1\tnan\t1\tms\ttotal\tSort\tvm\tS\t\t1\t\t"),
         "line 2: 'nan' in column 'iteration' is not a number from 1 on"),
        (of_rebench("1\t1\t1\tms\ttotal\tSort\tvm\tS\t\t1\t\t\n" * 2),
         "line 3: invocation 1, iteration 1 of benchmark 'Sort' appears twice"),
        (of_rebench("1\t1"), "line 2, column 'value': '' is not a finite number"),
        (of_rebench("1\t1\t1" + "\t" * 12), "line 2: the row has 15 cells, but the header has 12"),
        (of_rebench("1\t1\t1\tms"), "line 2: the row has no benchmark or no criterion"),
    ],
    "codspeed": [
        (codspeed_without_times(), WALLTIME),
    ],
    "benchmark-ips": [
        ((FILES / "benchmark-ips-failed.txt").read_bytes(),
         f"{ONLY_FAILURES}'addition': warmed up, but without a result"),
    ],
    "perf-stat": [
        ((FILES / "perf-stat-repeated.txt").read_bytes(),
         f"perf stat -r writes only means of several processes. To keep each process, {PERF}"),
        ((FILES / "perf-stat-intervals.jsonl").read_bytes(),
         f"line 3: perf stat -I writes counts of intervals, not of processes. U{PERF[1:]}"),
        ('{"cpu" : "0", "counter-value" : "1.0", "unit" : "", "event" : "cycles"}',
         "line 1: the counts are of single CPUs. Measure without -A and without --per-..."),
    ],
}  # fmt: skip
ROWS = [(name, *row) for name, rows in REFUSED.items() for row in rows]


@pytest.mark.parametrize(("name", "content", "message"), ROWS, ids=[f"{row[0]}: {row[2]:.60}" for row in ROWS])
def test_invalid_content_is_refused_with_place_and_value(name, content, message):
    content = content.encode() if isinstance(content, str) else content
    assert refusal(FORMATS[name], CRITERION if name == "criterion" else "a", content) == message


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("google-benchmark", lambda name: of_google(name)),
        ("github-action", lambda name: json.dumps([{"name": name, "unit": "s", "value": 1}]).encode()),
        ("bencher", lambda name: json.dumps({name: {"latency": {"value": 1}}}).encode()),
        ("tinybench", lambda name: json.dumps([{"name": name, "result": {"latency": {"mean": 1.0}}}]).encode()),
    ],
)
def test_a_name_is_kept_as_it_is(name, content):
    found = [one for hostile in HOSTILE for one in read_with(FORMATS[name], "a", content(hostile))]
    assert [(one.name, one.benchmark) for one in found] == [(hostile, hostile) for hostile in HOSTILE]
