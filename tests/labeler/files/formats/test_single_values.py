"""Formats with one number per benchmark."""

import json
import re
import time
from pathlib import Path

import pytest

from labeler.files.formats import FORMATS, Source, printed, read_benchmarks
from labeler.files.formats.units import stored_unit
from tests.labeler.files.formats.examples import julia_file as julia
from tests.labeler.files.formats.mutations import read_with

FILES = (
    Path(__file__).parent / "files"
)  # from vitest 4.1, tinybench 6.2, Benchmark.js 2.1, mitata 1.0; the others follow the tools' layout


def read(format_name, content):
    return read_with(FORMATS[format_name], "a", content.encode() if isinstance(content, str) else content)


def found(benchmarks):
    return {one.name: ([run.tolist() for run in one.values], one.unit, one.better) for one in benchmarks}


def document(file):
    return json.loads((FILES / file).read_bytes())


VITEST = {
    f"{group['fullName']} > {task['name']}": (task["mean"] / 1000, "s", "lower")
    for file in document("vitest.json")["files"] for group in file["groups"] for task in group["benchmarks"]
}  # fmt: skip
BENCHMARK_JS = re.findall(r"(?m)^(\S+) x (\S+) ops/sec ", (FILES / "benchmarkjs.txt").read_text())
MITATA = [run["stats"]["avg"] for entry in document("mitata.json")["benchmarks"] for run in entry["runs"]
          if "stats" in run]  # fmt: skip
WRK = "http://127.0.0.1:8080/index.html"
GIVES = {
    "vitest gives the mean of each task in its group": ("tinybench", "vitest.json", VITEST),
    "tinybench gives the mean latency and leaves out failures": ("tinybench", "tinybench.json", {
        task["name"]: (task["result"]["latency"]["mean"] / 1000, "s", "lower")
        for task in document("tinybench.json") if task["name"] != "fails"}),
    "Benchmark.js gives operations per second": ("benchmarkjs", "benchmarkjs.txt", {
        name: (float(rate.replace(",", "")), "ops/sec", "higher") for name, rate in BENCHMARK_JS}),
    "libtest gives one time for each benchmark": ("cargo-bench", "cargo-libtest.txt", {
        "bench_join": (312.45e-9, "s", "lower"), "sorting::by_value": (104_210e-9, "s", "lower")}),
    "criterion prints one time for each benchmark": ("cargo-bench", "cargo-criterion.txt", {
        "fib 20": (26.251e-6, "s", "lower"),
        "sorting/words of several languages/1000": (1.0412e-3, "s", "lower")}),
    "custom JSON of the action says its units": ("github-action", "github-action.json", {
        "Sort words": (0.0125, "s", "lower"), "Requests": (5120.0, "ops/sec", "higher"),
        "Memory": (101.25, "Megabytes", "")}),
    "measures of Bencher are benchmarks, and latency needs no mention": ("bencher", "bencher.json", {
        "sort words": (88000.5e-9, "s", "lower"), "sort words [throughput]": (11363.5, "ops/s", "higher"),
        "./build.sh [build-time]": (87.5, "s", "lower"), "server [rows kept]": (42.0, "", "")}),
    "k6 gives mean and percentile of times, and the rate of counts": ("k6", "k6.json", {
        "http_req_duration [avg]": (0.0125, "s", "lower"), "http_req_duration [p(95)]": (0.01825, "s", "lower"),
        "http_reqs [rate]": (59.75, "1/s", "higher"), "iterations [rate]": (29.875, "1/s", "higher"),
        "queue_length [avg]": (3.5, "", ""), "queue_length [p(95)]": (7.0, "", "")}),
    "wrk gives requests per second and the mean latency": ("wrk", "wrk.txt", {
        f"{WRK} [Requests/sec]": (748868.53, "requests/s", "higher"), f"{WRK} [Latency]": (635.91e-6, "s", "lower")}),
    "Catch2 gives the mean of each benchmark in its test case and section": ("catch2", "catch2.xml", {
        "Sorting / by value": (2439.5e-9, "s", "lower"), "Sorting / of words / by value": (3.5675e-3, "s", "lower")}),
    "BenchmarkTools gives the mean of each trial under the names of its groups": (
        "benchmarktools", "benchmarktools.json", {
            'sort/("words", 100)': ((1000.5 + 1200 + 1500.5) / 3 * 1e-9, "s", "lower"),
            "sort/numbers": (251.25e-9, "s", "lower"), "join": (80.25e-9, "s", "lower")}),
    "mitata gives the mean of each set of arguments and leaves out failures": ("mitata", "mitata.json", {
        name: (mean * 1e-9, "s", "lower")
        for name, mean in zip(("sorting / sort(10)", "sorting / sort(200)", "sorting / join"), MITATA, strict=True)}),
}  # fmt: skip


@pytest.mark.parametrize(("format_name", "file", "values"), GIVES.values(), ids=GIVES)
def test_a_file_of_a_tool_gives_its_numbers(format_name, file, values):
    assert found(read(format_name, (FILES / file).read_bytes())) == {
        name: ([[pytest.approx(value, rel=1e-14)]], unit, better) for name, (value, unit, better) in values.items()
    }


def test_names_and_parameters_are_those_that_the_tools_print():
    assert next(iter(VITEST)) == "sort.bench.js > sort > strings"
    assert [name for name, _rate in BENCHMARK_JS] == ["sort#strings", "join"]
    first, *_others = read("mitata", (FILES / "mitata.json").read_bytes())
    assert first.parameters == {"n": "10"}


def test_k6_knows_times_of_own_metrics():
    own = {"my_time": {"type": "trend", "contains": "time", "values": {"avg": 2.0}}}
    assert found(read("k6", json.dumps({"metrics": own}))) == {"my_time [avg]": ([[0.002]], "s", "lower")}


@pytest.mark.parametrize("blanks", [" " * 100_000, "\n" * 100_000, "x " * 33_000], ids=["line", "lines", "words"])
def test_long_runs_of_blanks_take_no_time(blanks):
    began = time.process_time()
    for word in (" ops/sec ", " time:", "test a ... bench:", "Running 3s test @ a"):
        content = f"{blanks}{word}{blanks}".encode()
        assert not any(FORMATS[name].detect("a", content) for name in ("benchmarkjs", "cargo-bench"))
        FORMATS["wrk"].detect("a", content)
    assert stored_unit(blanks) == (blanks, 1.0, "")
    assert time.process_time() - began < 3


def test_outputs_of_several_processes_in_one_file_are_several_runs():
    line = "sort x {} ops/sec ±5.27% ({} sampled)\n"
    text = line.format("1,024", "9 runs") + "Fastest is sort\n" + line.format("2,048.5", "1 run")
    assert found(read("benchmarkjs", text)) == {"sort": ([[1024.0], [2048.5]], "ops/sec", "higher")}
    units = "test a ... bench: 1,500 ns/iter (+/- 3)\ntest a ... bench: 1.25 µs/iter (+/- 3)\n"
    (one,) = read("cargo-bench", units)
    assert [run.tolist() for run in one.values] == [[pytest.approx(1.5e-6)], [pytest.approx(1.25e-6)]]


def test_files_of_several_processes_are_several_runs():
    files = [Source(f"{at}.txt", data=f"sort x {at},000 ops/sec ±1% (9 runs sampled)\n".encode()) for at in range(1, 4)]
    (part,) = read_benchmarks(files)
    assert found(part.benchmarks) == {"sort": ([[1000.0], [2000.0], [3000.0]], "ops/sec", "higher")}


def test_estimates_of_benchmarktools_are_values_and_several_results_are_numbered():
    estimate = ["BenchmarkTools.TrialEstimate", {"time": 12.5, "gctime": 0.0, "memory": 0, "allocs": 0}]
    assert found(read("benchmarktools", julia(estimate))) == {"trial": ([[pytest.approx(12.5e-9)]], "s", "lower")}
    assert list(found(read("benchmarktools", julia(estimate, estimate)))) == ["1", "2"]


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


def test_failed_benchmarks_of_printed_output_are_named():
    cargo = b"test works ... bench:  12 ns/iter (+/- 1)\ntest breaks ... FAILED\n"
    found = {one.name: [each.reason for each in one.failures] for one in printed.read_cargo("", cargo, {})}
    assert found == {"works": [], "breaks": ["FAILED"]}
    script = b"good x 1,000 ops/sec \xc2\xb11.00% (90 runs sampled)\nbad: TypeError: no function\n"
    found = {one.name: [each.reason for each in one.failures] for one in printed.read_benchmark_js("", script, {})}
    assert found == {"good": [], "bad": ["TypeError: no function"]}
