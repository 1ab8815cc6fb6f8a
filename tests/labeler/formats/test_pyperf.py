import json
from pathlib import Path

import pytest

from labeler.errors import Refused
from tests.labeler.formats.examples import (
    plain,
    pyperf_file,
    pyperf_runs,
    read_bytes,
)

FILES = Path(__file__).parent / "files"  # written by pyperf 2.10
RUNS = [[0.25, 0.5, 0.125], [1.5, 2.5, 3.5]]


def values_in(file):
    """Return the values of the runs with values, by benchmark."""
    document = json.loads((FILES / file).read_text())
    return [[run["values"] for run in one["runs"] if "values" in run] for one in document["benchmarks"]]


def one(content):
    (benchmark,) = read_bytes("a.json", content)
    return benchmark


@pytest.mark.parametrize(
    ("file", "names", "unit", "shape"),
    [
        ("pyperf-two.json", ["sort", "join"], "s", (3, 4)),
        ("pyperf-timeit.json", ["timeit"], "s", (2, 3)),  # the name of the only benchmark is in the file's metadata
        ("pyperf-memory.json", ["sort", "join"], "byte", (3, 1)),
    ],
)
def test_files_that_pyperf_wrote_are_read_unchanged(file, names, unit, shape):
    benchmarks = read_bytes(file, (FILES / file).read_bytes())
    assert [benchmark.name for benchmark in benchmarks] == [benchmark.benchmark for benchmark in benchmarks] == names
    assert {(benchmark.unit, benchmark.better) for benchmark in benchmarks} == {(unit, "lower")}
    assert [plain(benchmark) for benchmark in benchmarks] == values_in(file)
    assert {(len(benchmark.values), len(run)) for benchmark in benchmarks for run in benchmark.values} == {shape}


def test_runs_that_only_calibrated_and_warmups_are_no_measurements():
    benchmark = one(pyperf_file(({"name": "sort"}, pyperf_runs(*RUNS))))
    assert plain(benchmark) == RUNS
    assert (benchmark.parameters, benchmark.conditions, benchmark.application) == ({}, {}, "")


def test_values_are_not_divided_by_loops_again():
    benchmark = one(pyperf_file(({"name": "sort", "loops": 8, "inner_loops": 10}, pyperf_runs(*RUNS))))
    assert plain(benchmark) == RUNS


@pytest.mark.parametrize("unit", ["second", "byte", "integer"])
@pytest.mark.parametrize("place", ["file", "benchmark", "run"])
def test_name_and_unit_may_stand_with_the_file_the_benchmark_or_the_run(unit, place):
    said = {"name": "sort", "unit": unit}
    runs = [{"values": run, "metadata": said if place == "run" else {}} for run in RUNS]
    content = pyperf_file((said if place == "benchmark" else {}, runs), metadata=said if place == "file" else {"a": 1})
    benchmark = one(content)
    assert (benchmark.name, benchmark.unit) == ("sort", {"second": "s"}.get(unit, unit))


def test_what_stands_nearer_counts():
    runs = [{"values": run, "metadata": {"unit": "byte"}} for run in RUNS]
    benchmark = one(pyperf_file(({"name": "near"}, runs), metadata={"name": "far", "unit": "second"}))
    assert (benchmark.name, benchmark.unit) == ("near", "byte")


def test_without_a_unit_it_is_the_second():
    assert one(pyperf_file(({"name": "b"}, [{"values": [1.0]}]), metadata={"a": 1})).unit == "s"


@pytest.mark.parametrize(
    ("platform", "architecture"),
    [("Linux-6.1.0-37-amd64-x86_64-with-glibc2.36", "amd64"), ("macOS-14.5-arm64-arm-64bit", "arm64"), ("Plan9", "")],
)
def test_the_machine_is_recorded_with_its_architecture(platform, architecture):
    said = {"name": "b", "platform": platform, "cpu_model_name": "Xeon", "python_implementation": "cpython"}
    benchmark = one(pyperf_file((said | {"python_version": "3.12.1 (64-bit)"}, pyperf_runs(*RUNS))))
    recorded = [benchmark.of(f"recorded:{name}") for name in ("cpu", "runtime", "architecture")]
    assert recorded == [(each,) * 2 for each in ("Xeon", "cpython 3.12.1 (64-bit)", architecture)]


def test_the_format_of_before_it_had_a_name_is_read():
    assert plain(one(pyperf_file(({"name": "b"}, pyperf_runs(*RUNS)), version=6))) == RUNS


@pytest.mark.parametrize("version", [5, "2.0", None, ["1.0"]])
def test_a_version_that_is_not_known_is_refused_with_the_command_that_converts_it(version):
    with pytest.raises(Refused, match=r"of pyperf's format is not .*: python -m pyperf convert FILE -o"):
        one(pyperf_file(({"name": "b"}, pyperf_runs(*RUNS)), version=version))


@pytest.mark.parametrize(
    ("benchmark", "message"),
    [
        (({"name": "b"}, [{"values": [1.0, "x"]}]), r"benchmark 'b', run 0, iteration 1: 'x' is not a number"),
        (({"name": "b"}, [{"values": [1.0]}, {"values": [None]}]), r"benchmark 'b', run 1, iteration 0: None is not a"),
        (
            ({"name": "b"}, pyperf_runs()),
            r"benchmark 'b' has no values, only calibration. Measure without --calibrate-loops .* -o FILE.json",
        ),
        (({"name": "b"}, [{"values": 3.0}]), r"benchmark 'b', run 0: 'values' is 3.0, not a list"),
        (({"name": "b"}, [{"values": [float("nan")]}]), r"benchmark 'b', run 0, iteration 0: nan is not a finite"),
        (({"name": "b"}, ["run"]), r"benchmark 'b', run 0: the run is not an object"),
        (({"name": "b"}, {"values": [1]}), r"benchmark 0: 'runs' is .*, not a list"),
        (({}, [{"values": [1.0]}]), r"benchmark 0: 'name' is missing"),
        (({"name": 3}, [{"values": [1.0]}]), r"benchmark 0: 'name' is 3, not a text"),
        ((["b"], [{"values": [1.0]}]), r"benchmark 0: 'metadata' is \['b'\], not an object"),
        (
            ({"name": "b"}, [{"values": [1.0]}, {"values": [2.0], "metadata": {"unit": "byte"}}]),
            r"benchmark 'b' has more than one unit: 'byte', 'second'",
        ),
    ],
)
def test_invalid_content_is_refused_with_benchmark_place_and_value(benchmark, message):
    with pytest.raises(Refused, match=r"^a\.json: " + message):
        one(pyperf_file(benchmark))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1]", r"the file: \[1\] is not an object"),
        (b"{}", r"the file: 'benchmarks' is missing"),
        (b'{"benchmarks": [], "version": "1.0"}', r"the file contains no benchmarks"),
        (b'{"benchmarks": [7], "version": "1.0"}', r"benchmark 0: 7 is not an object"),
        (pyperf_file(*[({"name": "b"}, pyperf_runs(*RUNS))] * 2), r"benchmark 'b' appears twice"),
        (b'{"benchmarks": [', r"not JSON"),
    ],
)
def test_a_file_of_another_shape_is_refused(content, message):
    with pytest.raises(Refused, match=message):
        read_bytes("a.json", content, format="pyperf")
