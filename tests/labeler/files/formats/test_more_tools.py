"""Files that ReBench, pytest-codspeed, benchmark-ips and perf stat wrote, and plain numbers."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from analysis.runs.benchmark import TIME, Failure
from labeler.errors import Refused
from labeler.files.formats import FORMATS, Source, read_benchmarks
from tests.labeler.files.formats.examples import read_bytes

FILES = Path(__file__).parent / "files"


def read(file, /, **options):
    return {one.name: one for one in read_bytes(file, (FILES / file).read_bytes(), **options)}


# ReBench


def test_an_invocation_of_rebench_is_a_run_and_each_criterion_a_benchmark():
    lines = (FILES / "rebench.data").read_text().splitlines()
    rows = list(csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t"))
    found = read("rebench.data")
    for criterion, end, factor in (("total", "", 1e-3), ("trace size", " [trace size]", 1.0)):
        sort = found[f"Sort#inputSize=10{end}"]
        of_sort = [row for row in rows if (row["benchmark"], row["inputSize"]) == ("Sort", "10")]
        expected = [
            [float(row["value"]) * factor for row in of_sort
             if row["invocation"] == str(invocation) and row["criterion"] == criterion]
            for invocation in (1, 2, 3)
        ]  # fmt: skip
        assert [run.tolist() for run in sort.values] == expected
        assert sort.parameters == {"inputSize": "10"} and sort.application == "sorting"
        assert sort.of("version") == ("python",) * 3 and sort.of("run") == ("1", "2", "3")
        assert sort.levels("recorded:architecture") == ("x86_64",)
    assert (found["Sort#inputSize=10"].unit, found["Sort#inputSize=10 [trace size]"].unit) == ("s", "bytes")


def test_an_invocation_that_rebench_did_not_complete_has_failed():
    breaks = read("rebench.data")["Breaks#inputSize=10"]
    assert len(breaks.runs) == 1
    assert [failure.reason for failure in breaks.failures] == ["no result of invocation 2", "no result of invocation 3"]
    assert breaks.failures[0] == Failure({"run": "2", "version": "python"}, "no result of invocation 2")


HEADER = "invocation\titeration\tvalue\tunit\tcriterion\tbenchmark\tvm\tsuite\textraArgs\tcores\tinputSize\tvarValue\n"


def test_two_executors_are_versions_also_in_the_older_table():
    text = HEADER + "".join(f"{n}\t1\t{n}.5\tms\ttotal\tSort\t{vm}\tS\t\t1\t\t\n" for vm in ("a", "b") for n in (1, 2))
    (one,) = read_bytes("x.data", text.encode())
    assert (one.name, one.of("version"), one.failures) == ("Sort", ("a", "a", "b", "b"), ())


# CodSpeed


def test_codspeed_gives_the_mean_of_each_benchmark():
    written = json.loads((FILES / "codspeed.json").read_text())
    found = read("codspeed.json")
    assert {name: one.values[0].tolist() for name, one in found.items()} == {
        f"test_sorting.py::{entry['name']}": [entry["stats"]["mean_ns"] * 1e-9] for entry in written["benchmarks"]
    }
    assert list(found) == [f"test_sorting.py::test_{name}" for name in ("sort", "sum[10]", "sum[100]")]  # fails: absent
    assert found["test_sorting.py::test_sort"].levels("recorded:runtime")[0].startswith("Python 3.")


def test_a_benchmark_of_codspeed_without_rounds_has_failed():
    document = json.loads((FILES / "codspeed.json").read_text())
    document["benchmarks"][0]["stats"] = None
    found = {one.name: one for one in read_bytes("a.json", json.dumps(document).encode())}
    assert found["test_sorting.py::test_sort"].failures == (Failure({}, "no rounds"),)


# benchmark-ips


def test_benchmark_ips_gives_rates_exactly_in_json_and_by_process_in_text():
    written = json.loads((FILES / "benchmark-ips.json").read_text())
    found = read("benchmark-ips.json")
    assert {name: one.values[0].tolist() for name, one in found.items()} == {
        entry["name"]: [entry["ips"]] for entry in written
    }
    assert {(one.unit, one.better) for one in found.values()} == {("i/s", "higher")}
    text = (FILES / "benchmark-ips.txt").read_text()
    rates = [float(rate) * 1e6 for rate in re.findall(r"addition +([\d.]+)M \(", text)]
    printed = read("benchmark-ips.txt")
    assert list(printed) == list(found)
    assert [run.tolist() for run in printed["addition"].values] == [[rate] for rate in rates]
    compared = re.findall(r"sort an array of numbers: +([\d.]+) i/s", text)
    runs = printed["sort an array of numbers"].values
    assert [run[0] for run in runs] == [pytest.approx(float(rate), rel=1e-3) for rate in compared]


def test_a_process_that_an_error_ended_has_failed_benchmarks():
    failed = (FILES / "benchmark-ips-failed.txt").read_text()
    both = {one.name: one for one in read_bytes("a.txt", (FILES / "benchmark-ips.txt").read_bytes() + failed.encode())}
    assert [len(one.runs) for one in both.values()] == [2, 2, 2]
    assert all(one.failures == (Failure({}, "warmed up, but without a result"),) for one in both.values())


# perf stat


def test_the_three_forms_of_perf_stat_have_the_same_counters():
    jsonl = [json.loads(line) for line in (FILES / "perf-stat.jsonl").read_text().splitlines() if line.startswith("{")]
    found = read("perf-stat.jsonl")
    for event, factor, unit in (("task-clock", 1e-3, "s"), ("page-faults", 1.0, "page-faults")):
        counts = [float(entry["counter-value"]) * factor for entry in jsonl if entry["event"] == event]
        assert [run.tolist() for run in found[event].values] == [[count] for count in counts]
        assert (found[event].unit, found[event].better) == (unit, "lower")
    assert [len(one.runs) for one in found.values()] == [3, 3, 3, 3, 0, 0, 0, 0]
    fields = read("perf-stat.csv")
    rows = [line.split(",") for line in (FILES / "perf-stat.csv").read_text().splitlines() if ",page-faults," in line]
    assert [run[0] for run in fields["page-faults"].values] == [float(row[0]) for row in rows]
    text = read("perf-stat.txt")
    seconds = re.findall(r"([\d.]+) seconds time elapsed", (FILES / "perf-stat.txt").read_text())
    elapsed = text["sleep 0.01 [time elapsed]"]
    assert [run[0] for run in elapsed.values] == [float(each) for each in seconds]
    assert elapsed.benchmark == "sleep 0.01" and all(elapsed.of(TIME))
    assert list(read("perf-stat.csv", name="sort"))[:2] == ["sort [task-clock]", "sort [context-switches]"]


def test_an_event_that_was_not_counted_has_failed_unless_the_machine_has_no_such_counter():
    content = (FILES / "perf-stat.jsonl").read_text()
    assert all(failure.on_purpose for one in read("perf-stat.jsonl").values() for failure in one.failures)
    page_faults = r'"\d+\.0+"(, "unit" : "", "event" : "page-faults")'
    once = re.sub(page_faults, r'"<not counted>"\1', content, count=1)
    found = {one.name: one for one in read_bytes("a.json", once.encode())}
    assert [(failure.reason, failure.on_purpose) for failure in found["page-faults"].failures] == [
        ("not counted", False)
    ]
    assert len(found["page-faults"].runs) == 2


def test_repeated_processes_of_perf_are_runs_only_in_its_table():
    (elapsed,) = read("perf-stat-table.txt").values()
    times = re.findall(r"^ +([\d.]+) \([-+]", (FILES / "perf-stat-table.txt").read_text(), re.MULTILINE)
    assert [run[0] for run in elapsed.values] == [float(time) for time in times] and len(times) == 3
    repeated = (FILES / "perf-stat-repeated.txt").read_text()
    means = {one.name: one for one in read_bytes("a.txt", repeated.encode(), accept_means=True)}
    assert len(means["sleep 0.01 [time elapsed]"].runs) == 1


def test_hardware_counters_of_a_german_separator_and_modifiers_are_read():
    text = "1234567;;instructions:u;1000;100,00;0,5;insn per cycle\n0,5;msec;task-clock:u;1000;100,00;;\n"
    for content in (text, text.replace(",", ".")):
        found = {one.name: one for one in read_bytes("x", content.encode())}
        assert found["instructions:u"].values[0].tolist() == [1234567.0]
        assert found["instructions:u"].unit == "instructions"
        assert found["task-clock:u"].values[0].tolist() == [0.0005]


# plain numbers, tables without a name, another metric


@pytest.mark.parametrize("content", ["1.5\n2\n3e0\n", "time\n1.5\n2\n3\n", "# s\n1.5\n\n2 # slow\n3"])
def test_a_column_of_numbers_is_a_run_with_the_name_that_the_reader_gives(content):
    (one,) = read_bytes("times.txt", content.encode(), name="sort", unit="ms")
    assert (one.name, one.values[0].tolist(), one.unit) == ("sort", [0.0015, 0.002, 0.003], "s")
    (each,) = read_bytes("times.txt", content.encode(), name="sort", values_are="runs")
    assert len(each.runs) == 3
    assert FORMATS["numbers"].detect("times.txt", content.encode())


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        ("1\n2\n", {}, "the file does not name the benchmark. Give --benchmark NAME"),
        ("1\n2\nnan\n", {"name": "x"}, "line 3: 'nan' is not a finite number"),
        ("1\n2\n" + "3\n" * 30 + "three\n", {"name": "x"}, "line 33: 'three' is not a finite number"),
        ("run,value\n0,1\n", {}, "or give the name of the benchmark with --benchmark NAME"),
        ("benchmark,run,value\na,0,1\n", {"name": "x"}, "the table has a column of benchmarks"),
        (
            '{"context": {"num_cpus": 1}, "benchmarks": []}',
            {"name": "x"},
            "names its benchmarks, so --benchmark does not",
        ),
        ('{"context": {"num_cpus": 1}, "benchmarks": []}', {"metric": "x"}, "the metrics are real_time, cpu_time"),
        ("benchmark,run,value\na,0,1\n", {"metric": "cpu_time"}, "long CSV table has no --metric cpu_time"),
    ],
)
def test_a_name_or_metric_that_is_missing_or_too_much_is_refused(content, options, words):
    with pytest.raises(Refused, match=re.escape(words)):
        read_bytes("a.csv", content.encode(), **options)


def test_a_table_without_benchmarks_has_the_name_that_the_reader_gives():
    (one,) = read_bytes("a.csv", b"run,value,unit\n0,1.5,s\n1,2.5,s\n", name="sort", format="csv")
    assert (one.name, [run.tolist() for run in one.values]) == ("sort", [[1.5], [2.5]])


def test_google_benchmark_has_cpu_times_under_another_name():
    document = json.loads((FILES / "google-benchmark.json").read_text())
    rows = [
        row for row in document["benchmarks"] if row["run_name"] == "Copy/repeats:4" and row["run_type"] == "iteration"
    ]
    found = read("google-benchmark.json", metric="cpu_time")
    assert found["Copy/repeats:4 [cpu_time]"].values[0] == pytest.approx(
        [row["cpu_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}[row["time_unit"]] for row in rows]
    )
    assert not {"Copy/repeats:4"} & set(found)


def test_version_1_of_asv_has_the_same_numbers_as_version_2():
    old, new = read("asv-version-1.json"), read("asv-first.json")
    assert set(old) == set(new)
    for name, one in new.items():
        assert [run.tolist() for run in old[name].values] == [run.tolist() for run in one.values], name
        assert np.array_equal(old[name].of("version"), one.of("version")), name
    assert old["sorting.time_broken"].failures == new["sorting.time_broken"].failures


def test_files_of_two_tools_in_one_folder_are_read_together():
    files = [Source(name, data=(FILES / name).read_bytes()) for name in ("rebench.data", "codspeed.json", "go.txt")]
    parts = list(read_benchmarks(files))
    assert {part.known.name for part in parts} == {"rebench", "codspeed", "go"}


# what failed


CATCH2 = (
    '<Catch2TestRun><TestCase name="T"><BenchmarkResults name="a"><mean value="5"/></BenchmarkResults>{}</TestCase>'
    '<TestCase name="U">{}</TestCase></Catch2TestRun>'
)
OF_REBENCH = "".join(f"{HEADER if n == 1 else ''}{n}\t1\t{{{n - 1}}}\tms\ttotal\tSort\ta\tS\t\t1\t\t\n" for n in (1, 2))
SAY_FAILED = {
    "catch2: a test case": (CATCH2.format('<OverallResult success="false"/>', ""), "T / a", "its test case failed"),
    "catch2: a signal": (CATCH2.format("", "<FatalErrorCondition/>"), "U", "its test case failed"),
    "rebench: null": (OF_REBENCH.format("null", "2.5"), "Sort", "no value of invocation 1"),
    "rebench: NaN": (OF_REBENCH.format("1.5", "NaN"), "Sort", "no value of invocation 2"),
    "benchmarkjs: an error": ("a x 9 ops/sec ±1% (9 runs sampled)\nb: Error: boom\n", "b", "Error: boom"),
    "benchmarkjs: no text": ("a x 9 ops/sec ±1% (9 runs sampled)\nb: \n", "b", "failed without a message"),
    "benchmarkjs: NaN": ("a x 9 ops/sec ±1% (9 runs sampled)\nb x NaN ops/sec ±NaN% (0 runs sampled)\n", "b",
                         "has no rate"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "name", "reason"), SAY_FAILED.values(), ids=SAY_FAILED)
def test_a_file_says_what_failed(text, name, reason):
    failures = {one.name: [failure.reason for failure in one.failures] for one in read_bytes("a", text.encode())}
    assert failures.pop(name) == [reason] and not any(failures.values())


SILENT = {
    "abs", "bencher", "criterion", "github-action", "icpe", "jmh", "nanobench", "numbers", "otava", "pa", "perfherder",
    "pyperf", "tcpd",
}  # fmt: skip


def test_every_format_declares_what_says_that_something_failed_unless_its_files_cannot():
    assert {name for name, known in FORMATS.items() if not known.failures} == SILENT


def test_hyperfine_writes_the_memory_of_each_process():
    result = {"command": "x", "times": [1.0, 2.0, 3.0], "exit_codes": [0, 1, 0], "memory_usage_byte": [10, 20, 30]}
    time, memory = read_bytes("a.json", json.dumps({"results": [result]}).encode())
    assert (time.name, memory.name, memory.unit, memory.benchmark) == ("x", "x [memory]", "byte", "x")
    assert [run.tolist() for run in memory.values] == [[10.0], [30.0]] and len(memory.failures) == 1
    with pytest.raises(Refused, match="is not a list of 3 numbers"):
        read_bytes("a.json", json.dumps({"results": [result | {"memory_usage_byte": [1]}]}).encode())
