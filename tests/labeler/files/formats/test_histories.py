"""Histories of TCPD, otava and Perfherder: each point is a run, in the order of dates."""

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.runs.benchmark import in_time_order
from labeler.files.formats.histories import read_series, write_tcpd
from tests.labeler.files.formats.examples import read_bytes, read_or_refusal

FILES = Path(__file__).parent / "files"
TCPD = json.loads((FILES / "tcpd.json").read_text())
PERFHERDER = json.loads((FILES / "perfherder.json").read_text())


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
        ("otava", "time,a\n2024-01-01,1\n", "no column commit, version or revision"),
        ("perfherder", [{"name": "a", "data": [{"value": 1, "revision": "r", "push_timestamp": "soon"}]}],
         "push_timestamp 'soon' is not a time"),
        ("perfherder", [{"name": "a", "data": [{"value": None, "revision": "r", "push_timestamp": 1}]}],
         "None is not a number"),
        ("perfherder", [{"name": "a", "data": [1]}], "signature 'a': 1 is not an object"),
        ("perfherder", 5, "is not a list of signatures"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused_with_the_place(name, content, words):
    text = content if isinstance(content, str) else json.dumps(content)
    refusal = read_or_refusal("file", text.encode(), format=name)
    assert words in str(refusal)
