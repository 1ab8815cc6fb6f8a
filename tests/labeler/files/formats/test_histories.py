"""Histories of TCPD, otava, Perfherder and data.js: each point is a run, in the order of dates."""

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.runs.benchmark import in_time_order
from labeler.files.formats.histories import detect_otava, read_series, write_tcpd
from tests.labeler.files.formats.examples import read_bytes, read_or_refusal

FILES = Path(__file__).parent / "files"
TCPD = json.loads((FILES / "tcpd.json").read_text())
PERFHERDER = json.loads((FILES / "perfherder.json").read_text())
DATA_JS = (FILES / "data.js").read_text(encoding="utf-8")
ACTION = json.loads(DATA_JS.removeprefix("window.BENCHMARK_DATA = "))


def action(entries):
    return ACTION | {"entries": {"Rust": entries}}


def test_a_series_of_tcpd_keeps_the_places_of_its_values():
    series = read_series((FILES / "tcpd.json").read_bytes())
    assert (series.name, series.labels) == ("nile", ("1871", "1872", "1873", "1874"))
    assert np.isnan(series.values).tolist() == [False, True, False, False]
    again = read_series(write_tcpd(series.name, series.values, series.labels).encode())
    assert again.labels == series.labels and np.array_equal(again.values, series.values, equal_nan=True)
    (benchmark,) = read_bytes("tcpd.json", (FILES / "tcpd.json").read_bytes())
    assert benchmark.of("version") == ("1871", "1873", "1874")
    assert [failure.reason for failure in benchmark.failures] == ["no value"]


def test_a_history_of_otava_has_a_benchmark_per_column_of_numbers():
    time, size = read_bytes("otava.csv", (FILES / "otava.csv").read_bytes())
    assert (time.name, [run.tolist() for run in time.values]) == ("parse_time", [[154.2], [138.0], [143.1]])
    assert in_time_order(time) == ["aaa0", "aaa1", "aaa2"]  # two versions on one date stay in the order of the file
    assert size.of("version") == ("aaa0", "aaa2")
    assert time.of("recorded:commit date")[0] == "2024-01-01T02:00:00.000000"


def test_branches_of_otava_are_contexts_and_times_are_versions_without_a_commit():
    text = "time,commit,branch,a\n2024-01-01,x,main,1\n2024-01-02,y,topic,2\n"
    (benchmark,) = read_bytes("h.csv", text.encode())
    assert benchmark.of("context") == ("branch=main", "branch=topic")
    text = "time,commit,python,a\n2024-01-01,x,3.9,1\n2024-01-02,y,3.12,2\n"
    assert [(one.name, one.of("context")) for one in read_bytes("h.csv", text.encode())] == [
        ("a", ("python=3.9", "python=3.12"))
    ]
    (dated,) = read_bytes("h.csv", b"time,a\n2024.01.02 3:00:00 +0100,1\n2024.01.01 3:00:00 +0100,2\n")
    assert in_time_order(dated) == ["2024.01.01 3:00:00 +0100", "2024.01.02 3:00:00 +0100"]
    assert (dated.name, [run.tolist() for run in dated.values]) == ("a", [[1.0], [2.0]])


@pytest.mark.parametrize("content", ["time,a\n0.5,1\n", "benchmark,time\nsort,2024-01-01\n", "time\n2024-01-01\n"])
def test_a_table_with_a_column_time_is_not_taken_for_a_history(content):
    assert not detect_otava("t.csv", content.encode())


@pytest.mark.parametrize(
    "content", [DATA_JS, DATA_JS + ";\n", "\ufeff" + DATA_JS, json.dumps(ACTION), json.dumps(ACTION, indent=4)]
)
def test_data_js_has_a_run_per_entry_and_no_addresses(content):
    sort, parse = read_bytes("data.js", content.encode())
    assert (sort.name, sort.unit, sort.better) == ("sort", "s", "lower")
    assert [run.tolist() for run in sort.values] == [pytest.approx([ns * 1e-9]) for ns in (135, 137, 140)]
    assert sort.of("version") == ("a" * 40, "a" * 40, "b" * 40)  # runs of one version are together, as in a table
    assert in_time_order(sort) == ["b" * 40, "a" * 40]  # the dates of the commits, not of the measurements
    assert [run.tolist() for run in parse.values] == [pytest.approx([2.5e-6])] * 2  # ns and us are one unit
    assert [(failure.reason, failure.conditions["version"]) for failure in parse.failures] == [("no value", "a" * 40)]
    assert "@" not in str((sort, parse))


@pytest.mark.parametrize(
    ("tool", "unit", "better"),
    [
        ("customBiggerIsBetter", "ms", "higher"), ("customSmallerIsBetter", "ops/s", "lower"),
        ("pytest", "iter/sec", "higher"), ("pytest", "points", "higher"), ("go", "MB/s", "higher"),
        ("go", "B/op", "lower"), ("cargo", "ns/iter", "lower"), ("else", "points", ""), (None, "points", ""),
    ],
)  # fmt: skip
def test_data_js_states_what_is_better_by_the_unit_or_the_tool(tool, unit, better):
    entry = {"commit": {"id": "a"}, "tool": tool, "benches": [{"name": "b", "unit": unit, "value": 1}]}
    assert [one.better for one in read_bytes("data.js", json.dumps(action([entry])).encode())] == [better]


def test_suites_and_units_of_data_js_are_separate_histories():
    def entry(unit):
        return {"commit": {"id": "a"}, "benches": [{"name": "b", "unit": unit, "value": 1}]}

    def names(entries):
        return [one.name for one in read_bytes("data.js", json.dumps(ACTION | {"entries": entries}).encode())]

    assert names({"x": [entry("ms")], "y": [entry("ms")]}) == ["x / b", "y / b"]
    assert names({"x": [entry("ms"), entry("MB"), entry("")]}) == ["b [s]", "b [MB]", "b [no unit]"]


def test_results_of_pkgbenchmark_have_commit_date_and_machine():
    content = json.loads((FILES / "pkgbenchmark.json").read_text())
    (benchmark,) = read_bytes("r.json", json.dumps(content).encode())
    assert (benchmark.name, [run.tolist() for run in benchmark.values]) == ("sort/small", [[pytest.approx(120e-9)]])
    (conditions,) = (run.conditions for run in benchmark.runs)
    assert conditions == {
        "version": "c" * 40, "time": "2024-03-01T12:30:45.123000", "recorded:runtime": "Julia 1.9.2",
        "recorded:cpu": "Intel(R) Xeon(R):",
    }  # fmt: skip
    (dirty,) = read_bytes("r.json", json.dumps(content | {"commit": "dirty"}).encode())
    assert dirty.of("version") == ("dirty 2024-03-01T12:30:45.123000",)
    assert "'benchmarkgroup' is {}, not a text" in str(
        read_or_refusal("r.json", json.dumps(content | {"benchmarkgroup": {}}).encode())
    )


@pytest.mark.parametrize("by_signature", [False, True])
def test_performance_data_of_perfherder_are_in_order_and_have_no_addresses(by_signature):
    content = {"ab12": PERFHERDER[0]["data"]} if by_signature else PERFHERDER
    (benchmark,) = read_bytes("perfherder.json", json.dumps(content).encode())
    assert in_time_order(benchmark) == ["aaa", "bbb"]
    assert "@" not in str(benchmark)
    found = (benchmark.name, benchmark.unit, benchmark.better, [run.tolist() for run in benchmark.values])
    if by_signature:
        assert found == ("ab12", "", "", [[200.5], [210.5]])
    else:
        assert found == ("tp5o google.com e10s", "s", "lower", [[0.2005], [0.2105]])


def test_commits_of_asv_are_in_the_order_of_their_dates():
    files = [json.loads((FILES / "asv-first.json").read_text()) for _ in range(2)]
    files[0]["date"], files[1]["date"], files[1]["commit_hash"] = 1704067200000, 1703067200000, "earlier"
    runs = [run for file in files for run in read_bytes("asv.json", json.dumps(file).encode())[1].runs]
    assert [run.of("recorded:commit date") for run in runs] == [
        "2024-01-01T00:00:00.000000", "2023-12-20T10:13:20.000000",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("tcpd", TCPD | {"n_dim": 2}, "has 2 dimensions. Only series of one dimension"),
        ("tcpd", TCPD | {"n_obs": 5}, "has 4 values, but n_obs is 5"),
        ("tcpd", TCPD | {"series": [{"raw": ["x"]}], "n_obs": 1}, "point 0: 'x' is not a number"),
        ("tcpd", TCPD | {"series": []}, "has 0 values"),
        ("tcpd", TCPD | {"time": "1871"}, "'time' is '1871', not an object"),
        ("otava", "time,commit,a\nsoon,x,1\n", "line 2: 'soon' in column 'time' is not a time"),
        ("otava", "time,commit,a\n2024-01-01,x,fast\n", "line 2, column 'a': 'fast' is not a finite number"),
        ("otava", "time,commit,a\n2024-01-01,x,inf\n", "line 2, column 'a': 'inf' is not a finite number"),
        ("otava", "commit,a\nx,1\n", "no column time"),
        ("otava", "time,a\n2024-01-01,1\nsoon,1\n", "line 3: 'soon' in column 'time' is not a time"),
        ("github-action-history", ACTION | {"entries": []}, "'entries' is [], not an object"),
        ("github-action-history", action([{"commit": {}, "benches": []}]), "entry 0, commit: 'id' is missing"),
        ("github-action-history",
         action([{"commit": {"id": "a"}, "benches": [{"name": "b", "unit": "s", "value": "1"}]}]),
         "suite 'Rust', entry 0, benchmark 'b', value: '1' is not a number"),
        ("github-action-history", "window.BENCHMARK_DATA = {", "the text is not JSON"),
        ("perfherder", [{"name": "a", "data": [{"value": 1, "revision": "r", "push_timestamp": "soon"}]}],
         "push_timestamp 'soon' is not a time"),
        ("perfherder", [{"name": "a", "data": [{"value": None, "revision": "r", "push_timestamp": 1}]}],
         "null is not a number"),
        ("perfherder", [{"name": "a", "data": [1]}], "signature 'a': 1 is not an object"),
        ("perfherder", 5, "is not a list of signatures"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused_with_the_place(name, content, words):
    text = content if isinstance(content, str) else json.dumps(content)
    refusal = read_or_refusal("file", text.encode(), format=name)
    assert words in str(refusal)
