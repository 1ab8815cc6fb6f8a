"""Formats with one number per benchmark."""

import json
import re
import time
from pathlib import Path

import pytest

from labeler.formats import FORMATS, Source, printed, read_benchmarks
from labeler.formats.units import stored_unit
from tests.labeler.formats.mutations import HOSTILE, read_with, refusal

FILES = (
    Path(__file__).parent / "files"
)  # from vitest 4.1, tinybench 6.2, Benchmark.js 2.1, mitata 1.0; the others follow the tools' layout


def read(format_name, content):
    return read_with(FORMATS[format_name], "a", content.encode() if isinstance(content, str) else content)


def refused(format_name, content):
    return refusal(FORMATS[format_name], "a", content.encode() if isinstance(content, str) else content)


def found(benchmarks):
    return {one.name: ([run.tolist() for run in one.values], one.unit, one.better) for one in benchmarks}


def of_file(format_name, file):
    return found(read(format_name, (FILES / file).read_bytes()))


def test_vitest_gives_the_mean_of_each_task_in_its_group():
    report = json.loads((FILES / "vitest.json").read_bytes())
    means = {
        f"{group['fullName']} > {task['name']}": task["mean"]
        for file in report["files"] for group in file["groups"] for task in group["benchmarks"]
    }  # fmt: skip
    assert of_file("tinybench", "vitest.json") == {
        name: ([[pytest.approx(mean / 1000)]], "s", "lower") for name, mean in means.items()
    }
    assert next(iter(means)) == "sort.bench.js > sort > strings"


def test_tinybench_gives_the_mean_latency_and_leaves_out_failures():
    tasks = json.loads((FILES / "tinybench.json").read_bytes())
    expected = {task["name"]: ([[pytest.approx(task["result"]["latency"]["mean"] / 1000)]], "s", "lower")
                for task in tasks if task["name"] != "fails"}  # fmt: skip
    assert of_file("tinybench", "tinybench.json") == expected
    failed = json.dumps([{"name": "a", "result": {"error": {}, "latency": {"mean": 1}}}])
    assert "'a': failed" in refused("tinybench", failed)


def test_results_of_tinybench_without_names_are_refused_with_what_to_write():
    content = b'[{"state": "completed", "latency": {"mean": 1.5}}]'
    assert FORMATS["tinybench"].detect("", content)
    assert refused("tinybench", content) == (
        "task 0 has no name. Write all tasks with "
        "JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result })))"
    )


def test_benchmark_js_gives_operations_per_second():
    lines = re.findall(r"(?m)^(\S+) x (\S+) ops/sec ", (FILES / "benchmarkjs.txt").read_text())
    assert of_file("benchmarkjs", "benchmarkjs.txt") == {
        name: ([[float(rate.replace(",", ""))]], "ops/sec", "higher") for name, rate in lines
    }
    assert [name for name, _rate in lines] == ["sort#strings", "join"]


def test_libtest_and_criterion_give_one_time_each():
    assert of_file("cargo-bench", "cargo-libtest.txt") == {
        "bench_join": ([[pytest.approx(312.45e-9)]], "s", "lower"),
        "sorting::by_value": ([[pytest.approx(104_210e-9)]], "s", "lower"),
    }
    assert of_file("cargo-bench", "cargo-criterion.txt") == {
        "fib 20": ([[pytest.approx(26.251e-6)]], "s", "lower"),
        "sorting/words of several languages/1000": ([[pytest.approx(1.0412e-3)]], "s", "lower"),
    }


@pytest.mark.parametrize("blanks", [" " * 300_000, "\n" * 300_000, "x " * 100_000], ids=["line", "lines", "words"])
def test_long_runs_of_blanks_take_no_time(blanks):
    began = time.process_time()
    for word in (" ops/sec ", " time:", "test a ... bench:", "Running 3s test @ a"):
        content = f"{blanks}{word}{blanks}".encode()
        assert not any(FORMATS[name].detect("a", content) for name in ("benchmarkjs", "cargo-bench"))
        FORMATS["wrk"].detect("a", content)
    assert stored_unit(blanks) == (blanks, 1.0, "")
    assert time.process_time() - began < 5


def test_outputs_of_several_processes_in_one_file_are_several_runs():
    line = "sort x {} ops/sec ±5.27% ({} sampled)\n"
    text = line.format("1,024", "9 runs") + "Fastest is sort\n" + line.format("2,048.5", "1 run")
    assert found(read("benchmarkjs", text)) == {"sort": ([[1024.0], [2048.5]], "ops/sec", "higher")}
    units = "test a ... bench: 1,500 ns/iter (+/- 3)\ntest a ... bench: 1.25 µs/iter (+/- 3)\n"
    (one,) = read("cargo-bench", units)
    assert [run.tolist() for run in one.values] == [[pytest.approx(1.5e-6)], [pytest.approx(1.25e-6)]]


def test_a_number_beyond_all_numbers_is_refused_with_its_benchmark_not_by_the_search_for_a_format():
    content = f"sort x {'9' * 400} ops/sec ±1% (9 runs sampled)\n".encode()
    assert FORMATS["benchmarkjs"].detect("a", content)
    assert refused("benchmarkjs", content) == f"benchmark 'sort': '{'9' * 30}' is not a finite number"


def test_files_of_several_processes_are_several_runs():
    files = [Source(f"{at}.txt", data=f"sort x {at},000 ops/sec ±1% (9 runs sampled)\n".encode()) for at in range(1, 4)]
    (part,) = read_benchmarks(files)
    assert found(part.benchmarks) == {"sort": ([[1000.0], [2000.0], [3000.0]], "ops/sec", "higher")}


def test_custom_json_of_the_action_says_its_units():
    assert of_file("github-action", "github-action.json") == {
        "Sort words": ([[0.0125]], "s", "lower"), "Requests": ([[5120.0]], "ops/sec", "higher"),
        "Memory": ([[101.25]], "Megabytes", ""),
    }  # fmt: skip


def test_measures_of_bencher_are_benchmarks_and_latency_needs_no_mention():
    assert of_file("bencher", "bencher.json") == {
        "sort words": ([[pytest.approx(88000.5e-9)]], "s", "lower"),
        "sort words [throughput]": ([[11363.5]], "ops/s", "higher"),
        "./build.sh [build-time]": ([[87.5]], "s", "lower"), "server [rows kept]": ([[42.0]], "", ""),
    }  # fmt: skip


def test_k6_gives_mean_and_percentile_of_times_and_rate_of_counts():
    expected = {
        "http_req_duration [avg]": ([[0.0125]], "s", "lower"), "http_req_duration [p(95)]": ([[0.01825]], "s", "lower"),
        "http_reqs [rate]": ([[59.75]], "1/s", "higher"), "iterations [rate]": ([[29.875]], "1/s", "higher"),
        "queue_length [avg]": ([[3.5]], "", ""), "queue_length [p(95)]": ([[7.0]], "", ""),
    }  # fmt: skip
    assert of_file("k6", "k6.json") == expected
    told = {"my_time": {"type": "trend", "contains": "time", "values": {"avg": 2.0}}}
    assert found(read("k6", json.dumps({"metrics": told}))) == {"my_time [avg]": ([[0.002]], "s", "lower")}


def test_wrk_gives_requests_per_second_and_mean_latency():
    address = "http://127.0.0.1:8080/index.html"
    assert of_file("wrk", "wrk.txt") == {
        f"{address} [Requests/sec]": ([[748868.53]], "requests/s", "higher"),
        f"{address} [Latency]": ([[pytest.approx(635.91e-6)]], "s", "lower"),
    }


def test_catch2_gives_the_mean_of_each_benchmark_in_its_test_case_and_section():
    assert of_file("catch2", "catch2.xml") == {
        "Sorting / by value": ([[pytest.approx(2439.5e-9)]], "s", "lower"),
        "Sorting / of words / by value": ([[pytest.approx(3.5675e-3)]], "s", "lower"),
    }
    failed = '<Catch2TestRun><BenchmarkResults name="a"><failed message="no words"/></BenchmarkResults></Catch2TestRun>'
    assert "'a': failed" in refused("catch2", failed)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('<!DOCTYPE a [<!ENTITY b "c">]><Catch2TestRun>&b;</Catch2TestRun>', "XML declares"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><Catch2TestRun/>', "XML declares"),
        ("<Catch2TestRun/>".encode("utf-16").decode("latin-1"), "byte 0: the file is not UTF-8 text"),
        ('<?xml version="1.0" encoding="cp500"?><Catch2TestRun/>', "the file contains no benchmarks"),
        ("<Catch2TestRun><a>", "line 1, column 19"),
        ("<Catch2TestRun>" + "<a>" * 200_000, "line 1, column 600016"),
        (
            "<Catch2TestRun>" + "<a>" * 200 + "</a>" * 200 + "</Catch2TestRun>",
            "the XML has more than 100 nested elements",
        ),
        ("<Catch2TestRun/><Catch2TestRun/>", "line 1, column 17"),
        ("<Catch2TestRun/>", "the file contains no benchmarks"),
    ],
    ids=["entity", "external", "utf-16", "declared", "cut", "very deep", "deep", "two", "empty"],
)
def test_xml_that_catch2_does_not_write_is_refused(content, message):
    assert message in refused("catch2", content.encode("latin-1"))


def test_benchmarktools_gives_the_mean_of_each_trial_under_the_names_of_its_groups():
    assert of_file("benchmarktools", "benchmarktools.json") == {
        'sort/("words", 100)': ([[pytest.approx((1000.5 + 1200 + 1500.5) / 3 * 1e-9)]], "s", "lower"),
        "sort/numbers": ([[pytest.approx(251.25e-9)]], "s", "lower"),
        "join": ([[pytest.approx(80.25e-9)]], "s", "lower"),
    }  # fmt: skip


def julia(*results):
    return json.dumps([{"Julia": "1.10.4", "BenchmarkTools": "1.5.0"}, results])


def test_estimates_of_benchmarktools_are_values_and_several_results_are_numbered():
    estimate = ["BenchmarkTools.TrialEstimate", {"time": 12.5, "gctime": 0.0, "memory": 0, "allocs": 0}]
    assert found(read("benchmarktools", julia(estimate))) == {"trial": ([[pytest.approx(12.5e-9)]], "s", "lower")}
    assert list(found(read("benchmarktools", julia(estimate, estimate)))) == ["1", "2"]


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (["Parameters", {}], "the file: 'Parameters' has no times. Save the results of run(suite)"),
        (["Trial", {"times": []}], "'trial': no times"),
        (["Trial", {"times": ["x"]}], "the file, iteration 0: 'x' is not a number"),
        (["BenchmarkGroup", {"data": {"a": 3}}], "benchmark 'a'"),
        (["TrialEstimate", {}], "the file, 'time': None is not a number"),
    ],
)
def test_anything_but_a_trial_is_refused_with_its_place(result, message):
    assert message in refused("benchmarktools", julia(result))


def test_mitata_gives_the_mean_of_each_set_of_arguments_and_leaves_out_failures():
    report = json.loads((FILES / "mitata.json").read_bytes())
    means = [run["stats"]["avg"] for entry in report["benchmarks"] for run in entry["runs"] if "stats" in run]
    names = ["sorting / sort(10)", "sorting / sort(200)", "sorting / join"]
    assert of_file("mitata", "mitata.json") == {
        name: ([[pytest.approx(mean * 1e-9)]], "s", "lower") for name, mean in zip(names, means, strict=True)
    }
    first, *_others = read("mitata", (FILES / "mitata.json").read_bytes())
    assert first.parameters == {"n": "10"}


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("ns/iter", ("s", 1e-9, "lower")), ("milliseconds", ("s", 1e-3, "lower")), ("s per run", ("s", 1.0, "lower")),
        ("requests/sec", ("requests/sec", 1.0, "higher")), ("MB per second", ("MB per second", 1.0, "higher")),
        ("fps", ("fps", 1.0, "higher")), ("bytes", ("bytes", 1.0, "")), ("", ("", 1.0, "")),
        ("/s", ("/s", 1.0, "")), ("points", ("points", 1.0, "")),
    ],
)  # fmt: skip
def test_a_unit_tells_which_values_are_better_or_nobody_knows(unit, expected):
    assert stored_unit(unit) == expected


@pytest.mark.parametrize(
    ("format_name", "content", "message"),
    [
        ("tinybench", '{"files": [{}]}', "file 0: 'groups' is missing"),
        ("tinybench", '[{"name": "a", "result": {"mean": "x"}}]', "benchmark 'a', 'mean': 'x' is not a number"),
        ("tinybench", "3", "vitest bench --outputJson"),
        ("benchmarkjs", "hello", "the file contains no benchmarks"),
        ("cargo-bench", b"\xff", "byte 0: the file is not UTF-8 text"),
        ("cargo-bench", "test a ... bench: 1,5 ns/iter (+/- 3)", "benchmark 'a': '1,5'"),
        ("cargo-bench", "test a ... bench: 1,500.5 ns/iter (+/- 3)\ntest a ... bench: 2 g/iter (+/- 3)\n",
         "benchmark 'a' has more than one unit: 'ns/iter', 'g/iter'"),
        ("github-action", '[{"name": "a", "unit": "s"}]', "entry 0, 'value': None is not a number"),
        ("github-action", '[{"name": "a", "unit": 3}]', "entry 0: 'unit' is 3, not a text"),
        ("github-action", '[{"name": "a", "unit": "s", "value": 1e999}]',
         "benchmark 'a', run 0, iteration 0: inf is not a finite measurement"),
        ("github-action", "{}", "value (github-action-benchmark)"),
        ("bencher", '{"a": {"latency": {"value": true}}}', "benchmark 'a', 'latency', 'value': True is not a number"),
        ("bencher", "[]", "(Bencher Metric Format)"),
        ("k6", '{"metrics": {"a": 3}}', "the metrics: 'a' is 3, not an object"),
        ("k6", '{"metrics": {}}', "the file contains no benchmarks"),
        ("wrk", "Running 3s test @ http://a\n", "the output of wrk for 'http://a' has no line Requests/sec"),
    ],
)  # fmt: skip
def test_invalid_content_is_refused_with_place_and_value(format_name, content, message):
    assert message in refused(format_name, content)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_kept_as_it_is(name):
    assert [one.name for one in read("github-action", json.dumps([{"name": name, "unit": "s", "value": 1}]))] == [name]
    assert [one.name for one in read("bencher", json.dumps({name: {"latency": {"value": 1}}}))] == [name]
    tasks = [{"name": name, "result": {"latency": {"mean": 1.0}}}]
    assert [one.name for one in read("tinybench", json.dumps(tasks))] == [name]


def test_failed_benchmarks_of_printed_output_are_named():
    cargo = b"test works ... bench:  12 ns/iter (+/- 1)\ntest breaks ... FAILED\n"
    found = {one.name: [each.reason for each in one.failures] for one in printed.read_cargo("", cargo, {})}
    assert found == {"works": [], "breaks": ["FAILED"]}
    script = b"good x 1,000 ops/sec \xc2\xb11.00% (90 runs sampled)\nbad: TypeError: no function\n"
    found = {one.name: [each.reason for each in one.failures] for one in printed.read_benchmark_js("", script, {})}
    assert found == {"good": [], "bad": ["TypeError: no function"]}
