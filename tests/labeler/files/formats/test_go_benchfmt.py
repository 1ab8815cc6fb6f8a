import re
from pathlib import Path

import pytest

from analysis.runs.benchmark import Failure
from labeler.files.formats import FORMATS, Source, go_benchfmt, read as read_source
from tests.labeler.files.formats.examples import read_bytes
from tests.labeler.files.formats.mutations import HOSTILE, read_with, refusal

FILES = Path(__file__).parent / "files"  # written by go 1.19.8
HEAD = "goos: linux\ngoarch: amd64\npkg: example.org/a\ncpu: x\n"


def read(text):
    return read_with(go_benchfmt, "go.txt", text.encode())


def plain(benchmarks):
    return {one.name: [run.tolist() for run in one.values] for one in benchmarks}


def test_a_file_of_the_tool_is_read_unchanged():
    content = (FILES / "go.txt").read_bytes()
    benchmarks = read_with(go_benchfmt, "go.txt", content)
    there = re.findall(
        r"^BenchmarkSort/n=10-2\s+20\s+(\S+) ns/op\s+(\S+) MB/s\s+(\S+) B/op", content.decode(), re.MULTILINE
    )
    assert len(there) == 3
    name = "example.org/sorting.BenchmarkSort/n=10"
    found = plain(benchmarks)
    assert found[name] == [[float(time) * 1e-9 for time, _speed, _memory in there]]
    assert found[f"{name} [MB/s]"] == [[float(speed) for _time, speed, _memory in there]]
    assert found[f"{name} [B/op]"] == [[104.0] * 3]
    assert found["example.org/sorting.BenchmarkMetric [p99-ns]"] == [[12.5 * 1e-9] * 3]
    by_name = {one.name: one for one in benchmarks}
    assert {one.application for one in benchmarks} == {"example.org/sorting", "example.org/sorting/inner"}
    assert {(one.unit, one.better) for one in benchmarks} == {
        ("s", "lower"), ("MB/s", "higher"), ("B/op", "lower"), ("allocs/op", "lower"), ("hits/op", "lower"),
    }  # fmt: skip
    assert by_name[name].parameters == {"n": "10"} and by_name[name].levels("GOMAXPROCS") == ("2",)
    assert by_name[name].former_names == (f"{name}-2",)
    assert len(found["example.org/sorting/inner.BenchmarkSort"][0]) == 3
    logged = re.findall(r"^ +20\s+(\S+) ns/op", content.decode(), re.MULTILINE)
    assert found["example.org/sorting.BenchmarkLogs"] == [[float(time) * 1e-9 for time in logged]]
    fails = by_name["example.org/sorting.BenchmarkFails"]
    assert (len(fails.values[0]), fails.failures) == (2, (Failure({}, "line 14: --- FAIL"),))


def test_two_outputs_in_one_file_are_two_runs():
    content = (FILES / "go-two-processes.txt").read_bytes()
    times = [
        float(time) * 1e-9 for time in re.findall(r"^BenchmarkSort +\t.*?(\S+) ns/op", content.decode(), re.MULTILINE)
    ]
    found = plain(read_with(go_benchfmt, "go.txt", content))
    assert found["example.org/sorting/inner.BenchmarkSort"] == [times[:2], times[2:]]
    assert [len(run) for run in found["example.org/sorting/inner.BenchmarkSort"]] == [2, 2]


def test_events_of_json_hold_the_same_output_and_those_of_packages_are_distinguished():
    found = plain(read_with(go_benchfmt, "go.json", (FILES / "go-events.json").read_bytes()))
    assert list(found) == [
        f"example.org/{package}.BenchmarkSort{unit}" for package in ("sorting", "sorting/inner")
        for unit in ("", " [B/op]")
    ]  # fmt: skip
    assert found["example.org/sorting.BenchmarkSort"] == [pytest.approx([100.5e-9, 101.5e-9, 102.5e-9])]
    assert found["example.org/sorting/inner.BenchmarkSort [B/op]"] == [[16.0] * 3]


def test_packages_tell_names_apart():
    text = f"{HEAD}BenchmarkX 1 2 ns/op\nPASS\nok  \ta\t1s\ngoos: linux\npkg: example.org/b\nBenchmarkX 1 4 ns/op\n"
    assert plain(read(text)) == {"example.org/a.BenchmarkX": [[2e-9]], "example.org/b.BenchmarkX": [[4e-9]]}
    assert plain(read("BenchmarkX 1 4 ns/op")) == {"BenchmarkX": [[4e-9]]}


def test_a_log_line_that_looks_like_a_key_begins_no_run():
    text = f"{HEAD}noise: a\nBenchmarkX 1 2 ns/op\nnoise: b\ncpu: y\nBenchmarkX 1 4 ns/op\n"
    assert plain(read(text)) == {"example.org/a.BenchmarkX": [[2e-9, 4e-9]]}


@pytest.mark.parametrize(
    ("unit", "stored", "factor", "suffix"),
    [
        ("ns/op", "s", 1e-9, ""), ("sec/op", "s", 1.0, ""), ("ms", "s", 1e-3, " [ms]"),
        ("p50-ns", "s", 1e-9, " [p50-ns]"), ("p9-us/op", "s", 1e-6, " [p9-us/op]"),
        ("B/op", "B/op", 1.0, " [B/op]"), ("ns/key", "ns/key", 1.0, " [ns/key]"),
    ],
)  # fmt: skip
def test_times_become_seconds_and_other_units_stay(unit, stored, factor, suffix):
    (one,) = read(f"BenchmarkX-8 10 2.5 {unit}\n")
    assert (one.name, one.unit, one.better) == (f"BenchmarkX{suffix}", stored, "lower")
    assert one.values[0].tolist() == [2.5 * factor]


@pytest.mark.parametrize(("unit", "better"), [("MB/s", "higher"), ("req/sec", "higher"), ("allocs/op", "lower")])
def test_rates_are_better_when_higher_unless_a_unit_line_says_otherwise(unit, better):
    result = f"BenchmarkX 10 2 {unit}\n"
    assert read(result)[0].better == better
    assert read(f"Unit {unit} assume=exact better=higher\n{result}")[0].better == "higher"
    assert read(f"{result}Unit {unit} better=lower\n")[0].better == "lower"


@pytest.mark.parametrize(
    ("name", "short", "parameters"),
    [
        ("BenchmarkX", "BenchmarkX", {}), ("BenchmarkX-8", "BenchmarkX", {}),
        ("BenchmarkX/small-case", "BenchmarkX/small-case", {}),
        ("BenchmarkX/n=1/m=a=b-4", "BenchmarkX/n=1/m=a=b", {"n": "1", "m": "a=b"}),
        ("Benchmark", "Benchmark", {}), ("BenchmarkX/-0", "BenchmarkX/-0", {}),
    ],
)  # fmt: skip
def test_parameters_come_from_the_name(name, short, parameters):
    (one,) = read(f"{name} 10 2 ns/op\n")
    assert (one.name, one.parameters) == (short, parameters)


FIRST_LINES = "goos: linux\ngoarch: amd64\n"


@pytest.mark.parametrize(
    ("text", "names", "processors"),
    [
        (f"{FIRST_LINES}BenchmarkX-8 10 2 ns/op\nBenchmarkY-8 10 2 ns/op\n", ["BenchmarkX", "BenchmarkY"], ("8",)),
        (f"{FIRST_LINES}BenchmarkX-8 10 2 ns/op\nBenchmarkX 10 2 ns/op\n", ["BenchmarkX-8", "BenchmarkX"], ()),
        (f"{FIRST_LINES}BenchmarkX-2 10 2 ns/op\nBenchmarkX-8 10 2 ns/op\n", ["BenchmarkX-2", "BenchmarkX-8"], ()),
        (f"{FIRST_LINES}BenchmarkX 10 2 ns/op\n", ["BenchmarkX"], ("1",)),  # Go leaves out -1
        ("BenchmarkX 10 2 ns/op\n", ["BenchmarkX"], ()),  # perhaps not from Go
    ],
)
def test_the_number_of_processors_is_a_condition_if_all_benchmarks_have_the_same(text, names, processors):
    found = read(text)
    assert [one.name for one in found] == names
    assert {one.levels("GOMAXPROCS") for one in found} == {processors}


def test_other_lines_are_noise():
    noise = (
        "=== RUN\nBenchmarking 3 4 x\nBenchmarkX\nBenchmarkX-8 10\nBenchmarkX 0 3 ns/op\n"
        "BenchmarkX 4 files found\nok  \ta\t1.2s\nPASS\n\n--- BENCH: BenchmarkX-8\n"
        "    a_test.go:1: x\n"
    )
    assert plain(read(f"BenchmarkY 1 2 ns/op\n{noise}")) == {"BenchmarkY": [[2e-9]]}


def test_a_result_behind_log_lines_belongs_to_the_name_in_front_of_them():
    text = "BenchmarkX-8 \tlog 1\nlog 2\n      20\t  4 ns/op\nBenchmarkY-8 1 2 ns/op\n"
    assert plain(read(text)) == {"BenchmarkX": [[4e-9]], "BenchmarkY": [[2e-9]]}


def test_a_benchmark_that_only_failed_is_left_out():
    text = "BenchmarkX \t--- FAIL: BenchmarkX\n--- FAIL: BenchmarkZ/a\nBenchmarkY 1 2 ns/op\n"
    assert plain(read(text)) == {"BenchmarkY": [[2e-9]]}


@pytest.mark.parametrize(
    ("garbled", "reason"),
    [
        ("BenchmarkX 1 2.x ns/op", "'2.x' ns/op"),
        ("BenchmarkX 1 1_0 ns/op", "'1_0' ns/op"),
        ("BenchmarkX 1 1e999 ns/op", "'1e999' ns/op"),
        ("BenchmarkX 1 2 ns/op 3", "'2 ns/op 3'"),
        ("BenchmarkX 1 2 B/op 3 B/op", "unit 'B/op' appears twice"),
        ("BenchmarkX-8 some 3 ns/op", "this is not NAME ITERATIONS VALUE UNIT"),
        ("  3 4 ns/op", "there is no name of a benchmark"),
    ],
)
def test_a_garbled_line_is_named_and_the_others_are_read_if_wanted(garbled, reason):
    text = f"BenchmarkX 1 2 ns/op\n{garbled}\nBenchmarkX 1 4 ns/op\n".encode()
    refused = refusal(FORMATS["go"], "go.txt", text)
    assert refused.startswith(f"line 2: {garbled.strip()!r} is not read: ") and reason in refused
    unread = []
    (one,) = read_source(Source("go.txt", data=text), content=text, unread=unread)
    assert (plain([one]), unread) == ({"BenchmarkX": [[2e-9, 4e-9]]}, [refused])


def test_a_result_that_is_not_a_number_has_failed():
    (one,) = read("BenchmarkX 1 2 ns/op\nBenchmarkX 1 NaN ns/op\n")
    assert one.failures == (Failure({}, "line 2: NaN"),)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_kept_as_it_is(name):
    word = name.replace(" ", "_").replace("\t", "_")  # a blank line ends it
    (one,) = read(f"Benchmark_{word} 10 2 ns/op\n")
    assert one.name == f"Benchmark_{word}"


@pytest.mark.parametrize(
    ("given", "better"),
    [(None, ""), ("higher", "higher"), ("lower", "lower"), ("widgets=lower", "lower"), ("gadgets=lower", "")],
)
def test_of_a_metric_of_its_own_the_person_says_which_values_are_better(given, better):
    options = {"better": (given,)} if given else {}
    (benchmark,) = read_bytes("out.txt", b"BenchmarkX-8 10 2.5 widgets\n", **options)
    assert (benchmark.unit, benchmark.better) == ("widgets", better)
    (rate,) = read_bytes("out.txt", b"BenchmarkX-8 10 2.5 MB/s\n")
    assert rate.better == "higher"


@pytest.mark.parametrize(
    ("ending", "name", "reason"),
    [
        ("BenchmarkB-2  \tpanic: boom [recovered]\n\tpanic: boom\n\ngoroutine 7\nexit status 2\nFAIL\tp\t0.1s\nFAIL\n",
         "BenchmarkB", "line 10: FAIL: panic: boom [recovered]"),
        ("BenchmarkB-2\npanic: boom\nFAIL\tp\t0.1s\n", "BenchmarkB", "line 7: FAIL: panic: boom"),
        ("--- FAIL: BenchmarkB\n    b_test.go:3: boom\nFAIL\tp\t0.1s\n", "BenchmarkB", "line 5: --- FAIL"),  # at once
        ("PASS\nok p 1s\n--- FAIL: BenchmarkA\nFAIL\tp\t0.1s\n", "BenchmarkA", "line 7: --- FAIL"),
        ("BenchmarkB-2 \t 0 \t NaN ns/op\npanic: boom\nFAIL\n", "BenchmarkB", "line 5: 0 NaN ns/op"),
        ("panic: boom\nFAIL\tp\t0.1s\n", "BenchmarkA",
         "line 6: the process failed after this benchmark: panic: boom"),
        ("FAIL\tp\t0.1s\n", "BenchmarkA", "line 5: the process failed after this benchmark"),
    ],
)  # fmt: skip
def test_a_benchmark_that_panics_is_named_beside_one_that_works(ending, name, reason):
    text = f"goos: linux\ngoarch: amd64\ncpu: Xeon\nBenchmarkA-2 10 5 ns/op\n{ending}"
    found = go_benchfmt.read("", text.encode(), {})
    failed = {one.name: [failure.reason for failure in one.failures] for one in found if one.failures}
    assert failed == {name: [reason]}


def test_a_process_that_ends_well_has_no_failure_and_names_its_machine():
    (one,) = read("goos: linux\ngoarch: arm64\npkg: p\ncpu: M 1\nBenchmarkA-2 10 5 ns/op\nPASS\nok p 1s\n")
    assert one.failures == ()
    assert (one.of("recorded:architecture"), one.of("recorded:cpu")) == (("arm64",), ("M 1",))
