import json

import pytest

from labeler.errors import Refused
from tests.labeler.formats.examples import jmh_entry, plain, read_bytes

RUNS = [[0.25, 0.5, 0.125], [1.5, 2.5, 3.5]]


def written(*entries):
    return json.dumps(entries, indent=4).encode()


def one(*args, **options):
    (benchmark,) = read_bytes("a.json", written(jmh_entry(*args, **options)))
    return benchmark


def test_a_fork_is_a_run_and_what_else_stands_there_is_no_measurement():
    benchmark = one(RUNS)
    assert plain(benchmark) == RUNS
    assert (benchmark.name, benchmark.benchmark) == ("org.sample.Sort.sort [avgt]", "org.sample.Sort.sort")
    assert (benchmark.application, benchmark.parameters) == ("", {})
    assert set(benchmark.of("recorded:runtime")) == {"OpenJDK 64-Bit Server VM 17.0.15"}


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
    read = one(RUNS, benchmark="b", **more)
    assert (read.name, read.benchmark, read.parameters) == (name, benchmark, more.get("params", {}))


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
    benchmark = one([[2.0], [2.0]], unit=unit, mode=mode)
    assert (benchmark.unit, benchmark.better) == (stored, better)
    assert plain(benchmark)[0] == pytest.approx([value], rel=1e-15)


def test_in_mode_sample_an_iteration_is_the_mean_of_its_histogram():
    # (2 * 1 + 4 * 3) / 4 = 3.5 and 8 ns; the second run has (1 + 3) / 2 = 2 ns
    histograms = [[[[2.0, 1], [4.0, 3]], [[8.0, 5]]], [[[1.0, 7], [3.0, 7]]]]
    benchmark = one(histograms, mode="sample", unit="ns/op", key="rawDataHistogram")
    assert [pytest.approx(run) for run in plain(benchmark)] == [[3.5e-9, 8e-9], [2e-9]]
    assert (benchmark.name, benchmark.unit) == ("org.sample.Sort.sort [sample]", "s")


def test_a_file_of_an_older_jmh_has_the_means_in_mode_sample_already():
    assert plain(one(RUNS, mode="sample")) == RUNS


def test_several_benchmarks_come_in_order_and_only_the_same_one_twice_is_refused():
    entries = [jmh_entry(RUNS, params={"n": n}, mode=mode) for n in ("1", "2") for mode in ("avgt", "thrpt")]
    names = [benchmark.name for benchmark in read_bytes("a.json", written(*entries))]
    assert names == [f"org.sample.Sort.sort#n={n} [{mode}]" for n in (1, 2) for mode in ("avgt", "thrpt")]
    with pytest.raises(Refused, match=r"benchmark 'org.sample.Sort.sort#n=1 \[avgt\]' appears twice"):
        read_bytes("a.json", written(*entries, entries[0]))


@pytest.mark.parametrize("mode", ["avgt", "sample"])
@pytest.mark.parametrize("raw", [[], None])
def test_a_file_without_raw_data_is_refused_with_the_option_that_keeps_them(mode, raw):
    with pytest.raises(Refused, match=r"sort \[\w+\]' has only averages. JMH saves .* with -Djmh.json.rawData=true"):
        one(raw, mode=mode, forks=2) if raw is not None else one([], key="other", mode=mode)


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
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.json"])
def test_what_jmh_writes_in_other_formats_is_refused_with_the_option_that_keeps_the_values(content, name):
    with pytest.raises(Refused, match="-rf json"):
        read_bytes(name, content)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (jmh_entry([[1.0, "NaN"]]), r"benchmark 'org.sample.Sort.sort \[avgt\]', run 0, iteration 1: 'NaN' is not a n"),
        (jmh_entry([[1.0], [True]]), r"sort \[avgt\]', run 1, iteration 0: True is not a number"),
        (jmh_entry([[1.0], []]), r"sort \[avgt\]', run 1: no measurements"),
        (jmh_entry([[1.0], 2.0]), r"sort \[avgt\]', run 1: 2.0 is not a list"),
        (jmh_entry({"a": 1}), r"sort \[avgt\]': 'rawData' is \{'a': 1\}, not a list"),
        (jmh_entry([[1e308]], unit="min/op"), "0, iteration 0: inf"),
        (jmh_entry([[10**400]]), r"run 0, iteration 0: (inf|1000+...) is not a finite measurement"),
        (jmh_entry([[1.0]], benchmark=3), r"benchmark 0: 'benchmark' is 3, not a text"),
        (jmh_entry([[1.0]], mode=7), r"benchmark 0: 'mode' is 7, not a text"),
        (jmh_entry([[1.0]], threads="4"), r"benchmark 0: 'threads' is '4', not a whole number"),
        (jmh_entry([[1.0]], threads=True), r"benchmark 0: 'threads' is True, not a whole number"),
        (jmh_entry([[1.0]], params=["n"]), r"benchmark 0: 'params' is \['n'\], not an object"),
        (jmh_entry([[1.0]], primaryMetric=[]), r"sort \[avgt\]': 'primaryMetric' is \[\], not an object"),
        (jmh_entry([[1.0]], primaryMetric={}), r"sort \[avgt\]': 'scoreUnit' is missing"),
        (jmh_entry([[1.0]], benchmark="\ud800"), r"benchmark '\\ud800 \[avgt\]': name, .* characters that"),
        (jmh_entry([[[[1.0, 0]]]], key="rawDataHistogram"), r"run 0, iteration 0: \[\[1.0, 0\]\] needs a"),
        (jmh_entry([[[]]], key="rawDataHistogram"), r"run 0, iteration 0: \[\] needs a"),
        (jmh_entry([[[[1.0]]]], key="rawDataHistogram"), r"iteration 0: \[\[1.0\]\]"),
        (jmh_entry([[3.0]], key="rawDataHistogram"), "0, iteration 0: 3.0"),
        (jmh_entry([[[["x", 1]]]], key="rawDataHistogram"), r"run 0, iteration 0: 'x' is not a number"),
        ("text", r"benchmark 1: 'text' is not an object"),
    ],
)  # fmt: skip
def test_invalid_content_is_refused_with_benchmark_place_and_value(entry, message):
    with pytest.raises(Refused, match=message) as refused:
        read_bytes("a.json", written(*([] if isinstance(entry, dict) else [jmh_entry(RUNS)]), entry), format="jmh")
    assert str(refused.value).startswith("a.json: ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"benchmark": 1, "primaryMetric": 2}', r"as JMH writes it"),
        (b"[]", r"the file contains no benchmarks"),
        (b'[{"benchmark": "b", "primaryMetric": {]', r"line 1, column 39: the text is not JSON"),
    ],
)
def test_a_file_of_another_shape_is_refused(content, message):
    with pytest.raises(Refused, match=message):
        read_bytes("a.json", content, format="jmh")
