"""JSON files with all values: of JMH, hyperfine, nanobench, pyperf and pytest-benchmark."""

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.runs.benchmark import Failure
from labeler.files.formats import FORMATS
from tests.labeler.files.formats.examples import jmh_entry, plain, pyperf_file, pyperf_runs
from tests.labeler.files.formats.mutations import HOSTILE, read_with, refusal

FILES = Path(__file__).parent / "files"  # written by hyperfine 1.15.0, pyperf 2.10 and pytest-benchmark 5.3.1
RUNS = [[0.25, 0.5, 0.125], [1.5, 2.5, 3.5]]


def hyperfine(command="sleep 1", times=(0.5, 0.25, 0.125), codes=(0, 0, 0), **more):
    members = {"command": command, "mean": 0.3, "times": times, "exit_codes": codes} | more
    return {key: value for key, value in members.items() if value is not None}


def nanobench(**more):
    members = {"title": "benchmark", "name": "sort", "batch": 1, "measurements": [{"elapsed": 0.5}]} | more
    return {key: value for key, value in members.items() if value is not ...}


def pytest_entry(name="test_a.py::test_sort", data=(0.5, 0.25, 0.125), **more):
    stats = {"min": 0.1, "mean": 0.3, "rounds": 3, "iterations": 1} | ({} if data is None else {"data": data})
    return {"group": None, "name": "test_sort", "fullname": name, "params": None, "param": None, "stats": stats} | more


FILE_OF = {  # entries -> the file around them
    "hyperfine": lambda *entries: {"results": entries},
    "nanobench": lambda *entries: {"results": entries},
    "pytest-benchmark": lambda *entries: {"machine_info": {}, "commit_info": {}, "benchmarks": entries},
    "jmh": lambda *entries: entries,
}


def content_of(name, entries):
    if isinstance(entries, bytes):
        return entries
    return pyperf_file(*entries) if name == "pyperf" else json.dumps(FILE_OF[name](*entries)).encode()


def read(name, *entries):
    """Return the benchmarks of a file with these entries, or of these bytes."""
    content = entries[0] if isinstance(entries[0], bytes) else content_of(name, entries)
    return read_with(FORMATS[name], "a.json", content)


# files that the tools wrote


@pytest.mark.parametrize("file", ["hyperfine.json", "hyperfine-parameters.json"])
def test_every_process_of_hyperfine_is_a_run_unless_it_failed(file):
    content = (FILES / file).read_bytes()
    benchmarks = {one.name: one for one in read("hyperfine", content)}
    for there in json.loads(content)["results"]:
        good = [at for at, code in enumerate(there["exit_codes"]) if code == 0]
        name = there["command"] + "".join(f"#{key}={value}" for key, value in there.get("parameters", {}).items())
        if not good:
            assert name not in benchmarks
            continue
        one = benchmarks.pop(name)
        assert plain(one) == [[there["times"][at]] for at in good]
        assert one.conditions == {"run": tuple(map(str, good))}
        assert (one.unit, one.better, one.application) == ("s", "lower", "")
        assert one.parameters == there.get("parameters", {})
        assert [failure.conditions["run"] for failure in one.failures] == [
            str(at) for at in range(len(there["times"])) if at not in good
        ]
    assert not benchmarks


def test_epochs_of_nanobench_are_iterations_and_a_batch_is_divided_by_its_size():
    benchmarks = read("nanobench", (FILES / "nanobench.json").read_bytes())
    assert {one.name: plain(one) for one in benchmarks} == {
        "sort": [[2.5e-6, 2.25e-6, 2.75e-6]],
        "Strings / join": [pytest.approx([1.5e-7, 1.25e-7, 1.5e-7])],
    }
    assert {(one.unit, one.better) for one in benchmarks} == {("s", "lower")}


def test_rounds_of_pytest_benchmark_are_iterations_already_divided_by_their_executions():
    content = (FILES / "pytest-benchmark.json").read_bytes()
    benchmarks, document = read("pytest-benchmark", content), json.loads(content)
    assert [one.name for one in benchmarks] == [entry["fullname"] for entry in document["benchmarks"]]
    assert [one.name.partition("::")[2] for one in benchmarks] == [
        "test_sort[10]", "test_sort[100]", "test_join[<b>]", "test_join[a b]",
    ]  # fmt: skip
    for one, there in zip(benchmarks, document["benchmarks"], strict=True):
        assert plain(one) == [there["stats"]["data"]]
        assert one.values[0].mean() == pytest.approx(there["stats"]["mean"])
        assert (one.unit, one.better, one.application) == ("s", "lower", "")
        assert one.of("time") == (document["datetime"].removesuffix("+00:00"),)
        assert (one.of("recorded:architecture"), one.of("recorded:runtime")) == (("x86_64",), ("CPython 3.11.7",))
        assert "host" not in one.of("recorded:host")[0]  # a hash
    assert [one.parameters for one in benchmarks] == [{"n": "10"}, {"n": "100"}, {"text": "<b>"}, {"text": "a b"}]


@pytest.mark.parametrize(
    ("file", "names", "unit", "shape"),
    [
        ("pyperf-two.json", ["sort", "join"], "s", (3, 4)),
        ("pyperf-timeit.json", ["timeit"], "s", (2, 3)),  # the name of the only benchmark is in the file's metadata
        ("pyperf-memory.json", ["sort", "join"], "byte", (3, 1)),
    ],
)
def test_runs_of_pyperf_are_read_unchanged(file, names, unit, shape):
    content = (FILES / file).read_bytes()
    benchmarks = read("pyperf", content)
    assert [one.name for one in benchmarks] == [one.benchmark for one in benchmarks] == names
    assert {(one.unit, one.better) for one in benchmarks} == {(unit, "lower")}
    assert [plain(one) for one in benchmarks] == [
        [run["values"] for run in entry["runs"] if "values" in run] for entry in json.loads(content)["benchmarks"]
    ]
    assert {(len(one.values), len(run)) for one in benchmarks for run in one.values} == {shape}


# hyperfine


def test_processes_that_failed_are_told_and_left_out():
    (one,) = read("hyperfine", hyperfine(codes=[0, 2, None]))
    assert plain(one) == [[0.5]]
    assert one.failures == (Failure({"run": "1"}, "exit code 2"), Failure({"run": "2"}, "ended by a signal"))
    assert plain(read("hyperfine", hyperfine(codes=None))[0]) == [[0.5], [0.25], [0.125]]


@pytest.mark.parametrize(
    ("name", "bad", "good"),
    [
        ("hyperfine", hyperfine("a", codes=[1, 1, 1]), hyperfine("b")),
        ("pytest-benchmark", pytest_entry("a", []), pytest_entry("b")),
    ],
)
def test_a_benchmark_without_measurements_is_left_out_if_others_have_some(name, bad, good):
    assert [one.name for one in read(name, bad, good)] == ["b"]


def test_parameters_of_hyperfine_are_part_of_the_name():
    benchmarks = read("hyperfine", *(hyperfine("named", parameters={"n": at, "text": "a b"}) for at in ("1", "2")))
    assert [one.name for one in benchmarks] == ["named#n=1&text=a b", "named#n=2&text=a b"]
    assert benchmarks[1].parameters == {"n": "2", "text": "a b"}


def test_a_file_of_hyperfine_without_results_is_recognised():
    assert FORMATS["hyperfine"].detect("a.json", b'{"results": []}')


# pyperf


def of_pyperf(*benchmarks, **more):
    (one,) = read("pyperf", pyperf_file(*benchmarks, **more))
    return one


def test_runs_that_only_calibrated_and_warmups_are_no_measurements():
    one = of_pyperf(({"name": "sort", "loops": 8, "inner_loops": 10}, pyperf_runs(*RUNS)))  # not divided by loops again
    assert plain(one) == RUNS
    assert (one.parameters, one.conditions, one.application) == ({}, {}, "")
    assert plain(of_pyperf(({"name": "b"}, pyperf_runs(*RUNS)), version=6)) == RUNS  # before the format had a name


@pytest.mark.parametrize("unit", ["second", "byte", "integer"])
@pytest.mark.parametrize("place", ["file", "benchmark", "run"])
def test_name_and_unit_may_stand_with_the_file_the_benchmark_or_the_run(unit, place):
    said = {"name": "sort", "unit": unit}
    runs = [{"values": run, "metadata": said if place == "run" else {}} for run in RUNS]
    one = of_pyperf((said if place == "benchmark" else {}, runs), metadata=said if place == "file" else {"a": 1})
    assert (one.name, one.unit) == ("sort", {"second": "s"}.get(unit, unit))


def test_what_stands_nearer_counts_and_without_a_unit_it_is_the_second():
    runs = [{"values": run, "metadata": {"unit": "byte"}} for run in RUNS]
    one = of_pyperf(({"name": "near"}, runs), metadata={"name": "far", "unit": "second"})
    assert (one.name, one.unit) == ("near", "byte")
    assert of_pyperf(({"name": "b"}, [{"values": [1.0]}]), metadata={"a": 1}).unit == "s"


@pytest.mark.parametrize(
    ("platform", "architecture"),
    [("Linux-6.1.0-37-amd64-x86_64-with-glibc2.36", "amd64"), ("macOS-14.5-arm64-arm-64bit", "arm64"), ("Plan9", "")],
)
def test_the_machine_is_recorded_with_its_architecture(platform, architecture):
    said = {"name": "b", "platform": platform, "cpu_model_name": "Xeon", "python_implementation": "cpython"}
    one = of_pyperf((said | {"python_version": "3.12.1 (64-bit)"}, pyperf_runs(*RUNS)))
    recorded = [one.of(f"recorded:{name}") for name in ("cpu", "runtime", "architecture")]
    assert recorded == [(each,) * 2 for each in ("Xeon", "cpython 3.12.1 (64-bit)", architecture)]


def test_a_run_with_another_machine_than_its_benchmark_keeps_it():
    runs = [{"values": RUNS[0]}, {"values": RUNS[0], "metadata": {"cpu_model_name": "EPYC", "date": "2026-01-01"}}]
    one = of_pyperf(({"name": "b", "python_version": "3.12", "python_implementation": "cpython"}, runs * 2),
                    metadata={"cpu_model_name": "Xeon"})  # fmt: skip
    assert one.of("recorded:cpu") == ("Xeon", "EPYC") * 2
    assert one.of("time") == ("", "2026-01-01T00:00:00.000000") * 2
    assert one.of("recorded:runtime") == ("cpython 3.12",) * 4


@pytest.mark.parametrize("version", [5, "2.0", None, ["1.0"]])
def test_a_version_that_is_not_known_is_refused_with_the_command_that_converts_it(version):
    content = pyperf_file(({"name": "b"}, pyperf_runs(*RUNS)), version=version)
    reason = refusal(FORMATS["pyperf"], "a.json", content)
    assert "of pyperf's format is not supported" in reason and "python -m pyperf convert FILE -o" in reason


# JMH


def of_jmh(*args, **more):
    (one,) = read("jmh", jmh_entry(*args, **more))
    return one


def test_a_fork_is_a_run_and_what_else_stands_there_is_no_measurement():
    one = of_jmh(RUNS)
    assert plain(one) == RUNS
    assert (one.name, one.benchmark) == ("org.sample.Sort.sort [avgt]", "org.sample.Sort.sort")
    assert (one.application, one.parameters) == ("", {})
    assert set(one.of("recorded:runtime")) == {"OpenJDK 64-Bit Server VM 17.0.15"}


@pytest.mark.parametrize(
    ("more", "name", "benchmark"),
    [
        ({"params": {"n": "10", "kind": "a=b&c"}}, "b#n=10&kind=a=b&c [avgt]", "b#n=10&kind=a=b&c"),
        ({"params": {}}, "b [avgt]", "b"),
        ({"threads": 4}, "b [avgt, 4 threads]", "b"),
        ({"threads": None, "mode": None}, "b", "b"),
        ({"params": {"n": "10"}, "mode": "ss", "threads": 2}, "b#n=10 [ss, 2 threads]", "b#n=10"),
    ],
)
def test_parameters_mode_and_threads_are_part_of_the_name_and_parameters_alone_of_the_benchmark(more, name, benchmark):
    one = of_jmh(RUNS, benchmark="b", **more)
    assert (one.name, one.benchmark, one.parameters) == (name, benchmark, more.get("params", {}))


@pytest.mark.parametrize(
    ("unit", "mode", "stored", "better", "value"),
    [
        ("s/op", "ss", "s", "lower", 2.0), ("ms/op", "avgt", "s", "lower", 0.002),
        ("us/op", "avgt", "s", "lower", 2e-6), ("ns/op", "avgt", "s", "lower", 2e-9),
        ("min/op", "ss", "s", "lower", 120.0),
        ("hr/op", "ss", "s", "lower", 7200.0), ("day/op", "ss", "s", "lower", 172_800.0),
        ("ops/s", "thrpt", "ops/s", "higher", 2.0), ("ops/us", "thrpt", "ops/us", "higher", 2.0),
        ("ops/s", "avgt", "ops/s", "higher", 2.0), ("B/op", "avgt", "B/op", "lower", 2.0),
        ("MB/sec", "thrpt", "MB/sec", "higher", 2.0), ("ns", "avgt", "ns", "lower", 2.0),
    ],
)  # fmt: skip
def test_times_per_operation_become_seconds_and_rates_keep_their_unit(unit, mode, stored, better, value):
    one = of_jmh([[2.0], [2.0]], unit=unit, mode=mode)
    assert (one.unit, one.better) == (stored, better)
    assert plain(one)[0] == pytest.approx([value], rel=1e-15)


def test_in_mode_sample_an_iteration_is_the_mean_of_its_histogram():
    # (2 * 1 + 4 * 3) / 4 = 3.5 and 8 ns; the second run has (1 + 3) / 2 = 2 ns
    histograms = [[[[2.0, 1], [4.0, 3]], [[8.0, 5]]], [[[1.0, 7], [3.0, 7]]]]
    one = of_jmh(histograms, mode="sample", unit="ns/op", key="rawDataHistogram")
    assert [pytest.approx(run) for run in plain(one)] == [[3.5e-9, 8e-9], [2e-9]]
    assert (one.name, one.unit) == ("org.sample.Sort.sort [sample]", "s")
    assert plain(of_jmh(RUNS, mode="sample")) == RUNS  # an older JMH writes the means


def test_several_benchmarks_of_jmh_come_in_order():
    entries = [jmh_entry(RUNS, params={"n": n}, mode=mode) for n in ("1", "2") for mode in ("avgt", "thrpt")]
    names = [one.name for one in read("jmh", *entries)]
    assert names == [f"org.sample.Sort.sort#n={n} [{mode}]" for n in (1, 2) for mode in ("avgt", "thrpt")]


@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.json"])
@pytest.mark.parametrize(
    "content",
    [
        b'"Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit"\n"b","avgt",1,5,1.5,0.1,"s/op"\n',
        b'"Benchmark";"Mode";"Threads";"Samples";"Score";"Score Error (99,9%)";"Unit"\n',
        b"Benchmark        (n)  Mode  Cnt    Score    Error   Units\nSort.sort  10  avgt  5  1.5  0.1  ns/op\n",
        b"\nBenchmark  Mode  Samples  Score  Error  Units\n",
        b"# JMH version: 1.37\n# VM version: JDK 17.0.15\n",
    ],
)
def test_what_jmh_writes_in_other_formats_is_recognised_and_refused(name, content):
    assert FORMATS["jmh"].detect(name, content)
    assert refusal(FORMATS["jmh"], name, content) == (
        "this file has only averages. JMH saves all measurements with -rf json"
    )


SORT = "benchmark 'org.sample.Sort.sort [avgt]'"
ONE = [{"values": [1.0]}]  # runs of pyperf
ONLY_AVERAGES = "this file has only averages. hyperfine saves the time of each process with --export-json FILE"
ONLY_STATISTICS = (
    "benchmark 'test_sorting.py::test_sort[10]' has only statistics. pytest-benchmark saves the measurements with "
    "--benchmark-save-data beside --benchmark-autosave or --benchmark-save=NAME, or with --benchmark-json=FILE"
)
REFUSED: dict[str, list[tuple[Any, str]]] = {
    "hyperfine": [
        ([hyperfine("a", [1.0, "x", 2.0])], "benchmark 'a', run 1: 'x' is not a number"),
        ([hyperfine("a", [1.0, None, 2.0])], "benchmark 'a', run 1: null is not a number"),
        ([hyperfine("a", [1.0, float("nan"), 2.0])], "benchmark 'a', run 1, iteration 0: nan"),
        ([hyperfine("a", 3)], "benchmark 'a': 'times' is 3, not a list"),
        ([hyperfine("a", [1.0])], "benchmark 'a': 'times' and 'exit_codes' differ in length (1 and 3)"),
        ([hyperfine("a", None)], "benchmark 'a' has only averages. hyperfine saves all times with --export-json FILE"),
        ([hyperfine("a", codes=[1, 1, 1])], "'a': exit code 1"),
        ([hyperfine("a", codes=[0, "1", 0])], "benchmark 'a', run 1: exit code '1' is not a whole number"),
        ([hyperfine("a", codes=[0, True, 0])], "exit code True"),
        ([hyperfine("a", codes=0)], "benchmark 'a': 'exit_codes' is 0, not a list"),
        ([hyperfine("a", parameters=[])], "result 0: 'parameters' is [], not an object"),
        ([hyperfine(None)], "result 0: 'command' is missing"),
        ([hyperfine("a")] * 2, "benchmark 'a' appears twice; give them different names with --command-name"),
        ([5], "result 0: 5 is not an object"),
        ([], "the file contains no benchmarks"),
        ((FILES / "hyperfine.csv").read_bytes(), ONLY_AVERAGES),
    ],
    "nanobench": [
        ([nanobench(measurements=...)],
         "benchmark 'sort' has only averages. nanobench saves all epochs with its template json()"),
        ([nanobench(measurements=[])], "benchmark 'sort', run 0: no measurements"),
        ([nanobench(measurements=[{"elapsed": 1}, {}])], "benchmark 'sort', epoch 1, 'elapsed': null is not a number"),
        ([nanobench(measurements=[3])], "benchmark 'sort', epoch 0, 'elapsed': null is not a number"),
        ([nanobench(batch=0)], "benchmark 'sort': the batch is 0, but must be above 0"),
        ([nanobench(name=3)], "result 0: 'name' is 3, not a text"),
    ],
    "pytest-benchmark": [
        ([pytest_entry("a", [1.0, "x"])], "benchmark 'a', run 0, iteration 1: 'x' is not a number"),
        ([pytest_entry("a", [1.0, None])], "no benchmark of the file has a measurement; 'a': a round has no time"),
        ([pytest_entry("a", [float("nan")])], "no benchmark of the file has a measurement; 'a': a round has no time"),
        ([pytest_entry("a", [1, float("nan")])], "benchmark 'a', run 0, iteration 1: nan is not a finite measurement"),
        ([pytest_entry("a", [True])], "benchmark 'a', run 0, iteration 0: true is not a number"),
        ([pytest_entry("a", 3)], "benchmark 'a': 'data' is 3, not a list"),
        ([pytest_entry("a", [])], "'a': 'data' is empty"),
        ([pytest_entry("a", stats=[])], "benchmark 'a': 'stats' is [], not an object"),
        ([pytest_entry("a", params=[1])], "benchmark 'a': 'params' is [1], not an object"),
        ([pytest_entry(7)], "benchmark 0: 'fullname' is 7, not a text"),
        ([pytest_entry("a")] * 2, "benchmark 'a' appears twice"),
        (["text"], "benchmark 0: 'text' is not an object"),
        ([], "the file contains no benchmarks"),
        (b"[1]", "the file: [1] is not an object"),
        ((FILES / "pytest-benchmark-autosaved.json").read_bytes(), ONLY_STATISTICS),
    ],
    "pyperf": [
        ([({"name": "b"}, [{"values": [1.0, "x"]}])], "benchmark 'b', run 0, iteration 1: 'x' is not a number"),
        ([({"name": "b"}, [*ONE, {"values": [None]}])], "benchmark 'b', run 1, iteration 0: null is not a number"),
        ([({"name": "b"}, pyperf_runs())],
         "benchmark 'b' has no values, only calibration. Measure without --calibrate-loops and --calibrate-warmups"),
        ([({"name": "b"}, [{"values": 3.0}])], "benchmark 'b', run 0: 'values' is 3.0, not a list"),
        ([({"name": "b"}, [{"values": [float("nan")]}])], "benchmark 'b', run 0, iteration 0: nan is not a finite"),
        ([({"name": "b"}, ["run"])], "benchmark 'b', run 0: the run is not an object"),
        ([({"name": "b"}, {"values": [1]})], "benchmark 0: 'runs' is {'values': [1]}, not a list"),
        ([({}, ONE)], "benchmark 0: 'name' is missing"),
        ([({"name": 3}, ONE)], "benchmark 0: 'name' is 3, not a text"),
        ([(["b"], ONE)], "benchmark 0: 'metadata' is ['b'], not an object"),
        ([({"name": "b"}, [*ONE, {"values": [2.0], "metadata": {"unit": "byte"}}])],
         "benchmark 'b' has more than one unit: 'byte', 'second'"),
        ([({"name": "b"}, pyperf_runs(*RUNS))] * 2, "benchmark 'b' appears twice"),
        (b"[1]", "the file: [1] is not an object"),
        (b"{}", "the file: 'benchmarks' is missing"),
        (b'{"benchmarks": [], "version": "1.0"}', "the file contains no benchmarks"),
        (b'{"benchmarks": [7], "version": "1.0"}', "benchmark 0: 7 is not an object"),
        (b'{"benchmarks": [', "line 1, column 17: the text is not JSON"),
    ],
    "jmh": [
        ([jmh_entry([[1.0, "NaN"]])], f"{SORT}, run 0, iteration 1: 'NaN' is not a number"),
        ([jmh_entry([[1.0], [True]])], f"{SORT}, run 1, iteration 0: true is not a number"),
        ([jmh_entry([[1.0], []])], f"{SORT}, run 1: no measurements"),
        ([jmh_entry([[1.0], 2.0])], f"{SORT}, run 1: 2.0 is not a list"),
        ([jmh_entry({"a": 1})], f"{SORT}: 'rawData' is {{'a': 1}}, not a list"),
        ([jmh_entry([[1e308]], unit="min/op")], f"{SORT}, run 0, iteration 0: inf"),
        ([jmh_entry([[10**400]])], "is not a finite measurement"),
        ([jmh_entry([[1.0]], benchmark=3)], "benchmark 0: 'benchmark' is 3, not a text"),
        ([jmh_entry([[1.0]], mode=7)], "benchmark 0: 'mode' is 7, not a text"),
        ([jmh_entry([[1.0]], threads="4")], "benchmark 0: 'threads' is '4', not a whole number"),
        ([jmh_entry([[1.0]], threads=True)], "benchmark 0: 'threads' is true, not a whole number"),
        ([jmh_entry([[1.0]], params=["n"])], "benchmark 0: 'params' is ['n'], not an object"),
        ([jmh_entry([[1.0]], primaryMetric=[])], f"{SORT}: 'primaryMetric' is [], not an object"),
        ([jmh_entry([[1.0]], primaryMetric={})], f"{SORT}: 'scoreUnit' is missing"),
        ([jmh_entry([[1.0]], benchmark="\ud800")], "benchmark '\\ud800 [avgt]': name, application or unit has"),
        ([jmh_entry([[[[1.0, 0]]]], key="rawDataHistogram")], "run 0, iteration 0: [[1.0, 0]] needs a count above 0"),
        ([jmh_entry([[[]]], key="rawDataHistogram")], "run 0, iteration 0: [] needs a"),
        ([jmh_entry([[[[1.0]]]], key="rawDataHistogram")], "iteration 0: [[1.0]] is not a list of values"),
        ([jmh_entry([[3.0]], key="rawDataHistogram")], "run 0, iteration 0: 3.0 is not a list of values"),
        ([jmh_entry([[[["x", 1]]]], key="rawDataHistogram")], "run 0, iteration 0: 'x' is not a number"),
        ([jmh_entry([], forks=2)],
         f"{SORT} has only averages. JMH saves the measurements with -Djmh.json.rawData=true"),
        ([jmh_entry([], key="other", mode="sample")], "has only averages. JMH saves the measurements with -Djmh."),
        ([jmh_entry(RUNS)] * 2, f"{SORT} appears twice. Save the results of each JVM in a separate file"),
        ([jmh_entry(RUNS), "text"], "benchmark 1: 'text' is not an object"),
        ([], "the file contains no benchmarks"),
        (b'{"benchmark": 1, "primaryMetric": 2}', "as JMH writes it with -rf json"),
        (b'[{"benchmark": "b", "primaryMetric": {]', "line 1, column 39: the text is not JSON"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "entries", "message"),
    [(name, entries, message) for name, rows in REFUSED.items() for entries, message in rows],
    ids=[f"{name}: {message[:60]}" for name, rows in REFUSED.items() for _entries, message in rows],
)
def test_invalid_content_is_refused_with_place_and_value(name, entries, message):
    assert message in refusal(FORMATS[name], "a.json", content_of(name, entries))


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("hyperfine", lambda name: hyperfine(name)),
        ("nanobench", lambda name: nanobench(name=name)),
        ("pytest-benchmark", lambda name: pytest_entry(name)),
        ("jmh", lambda name: jmh_entry(RUNS, benchmark=name, mode=None)),
        ("pyperf", lambda name: pyperf_file(({"name": name}, pyperf_runs(*RUNS)))),
    ],
)
def test_a_name_is_kept_as_it_is(name, entry):
    assert [one.name for hostile in HOSTILE for one in read(name, entry(hostile))] == HOSTILE


def test_parameters_are_kept_as_they_are():
    for name in HOSTILE:
        (command,) = read("hyperfine", hyperfine(name, parameters={name: name}))
        assert (command.name, command.parameters) == (f"{name}#{name}={name}", {name: name})
        (test,) = read("pytest-benchmark", pytest_entry(name, params={name: [name]}))
        assert test.parameters == {name: str([name])}
