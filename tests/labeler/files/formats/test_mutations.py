"""Properties of every reader: each recognises its own files, and damaged files cause no unexpected error."""

import json

import numpy as np
import pytest

from labeler.errors import Refused
from labeler.files.formats.known import FORMATS
from tests.labeler.files.formats.examples import (
    COMMITTED,
    ORDERSAGE,
    csv_bytes,
    jmh_entry,
    json_bytes,
    ordersage_rows,
    parquet_bytes,
    plain,
    pyperf_file,
    pyperf_runs,
    read_or_refusal,
)
from tests.labeler.files.formats.mutations import check_mutations

BINARY = "parquet"
MARK = b"\xef\xbb\xbf"
WRITTEN_BY_TOOLS = {  # patterns of files in the folder beside this module
    "pyperf": "pyperf-*.json", "pytest-benchmark": "pytest-benchmark*.json", "google-benchmark": "google-benchmark*",
    "hyperfine": "hyperfine*", "asv": "asv-*.json", "criterion": "criterion/**/[se][as]*.json", "go": "go[-.]*",
    "benchmarkdotnet": "Example.*.json", "krun": "krun*.csv", "pa": "pa*.csv",
    "tinybench": "[tv]i[nt][ye][bs]*.json", "benchmarkjs": "benchmarkjs.txt", "cargo-bench": "cargo-*.txt",
    "github-action": "github-action.json", "bencher": "bencher.json", "k6": "k6.json", "wrk": "wrk.txt",
    "catch2": "catch2.xml", "benchmarktools": "benchmarktools.json", "mitata": "mitata.json",
    "nanobench": "nanobench.json", "jmeter": "jmeter.jtl", "codspeed": "codspeed.json", "rebench": "rebench.data",
    "benchmark-ips": "benchmark-ips*", "perf-stat": "perf-stat*", "numbers": "numbers.txt",
    "tcpd": "tcpd.json", "otava": "otava.csv", "perfherder": "perfherder.json",
    "github-action-history": "data.js", "pkgbenchmark": "pkgbenchmark.json",
}  # fmt: skip


def made():
    """Return contents for each format that people write themselves, and for other branches of some readers."""
    runs = np.random.default_rng(7).random((3, 20)).tolist()
    rows = [
        {"benchmark": f"b{run % 2}", "application": "o/p", "run": run, "iteration": i, "value": value, "unit": "s"}
        for run, values in enumerate(runs)
        for i, value in enumerate(values)
    ]
    table = [list(row.values()) for row in rows]
    return {
        "icpe": [json_bytes(runs)],
        "csv": [csv_bytes(table, columns=list(rows[0]))],
        "parquet": [parquet_bytes(rows), parquet_bytes(rows, compression=None, use_dictionary=False)],
        "jmh": [
            json.dumps([jmh_entry(runs, params={"n": "1"}), jmh_entry(runs, mode="thrpt", unit="ops/s")]).encode(),
            json.dumps([jmh_entry([[[[2.0, 1], [4.0, 3]]]] * 2, mode="sample", key="rawDataHistogram")]).encode(),
        ],
        "pyperf": [pyperf_file(*[({"name": name}, pyperf_runs(*runs)) for name in "ab"])],
        "ordersage": [
            csv_bytes(ordersage_rows([(run, "b", 0, "fixed", "1.5,2.5") for run in range(9)]), columns=ORDERSAGE)
        ],
        "abs": [
            csv_bytes([(f"{row['run']}-0-0", "f", "b", row["value"]) for row in rows], columns=[], delimiter=";"),
            csv_bytes(
                [(row["run"], "f()", "b", row["value"]) for row in rows], delimiter=";",
                columns=["Run", "Method altered", "Microbenchmark", "Result"],
            ),
        ],
    }  # fmt: skip


def all_files():
    """Return files of each format: name and content."""
    files = {name: [(f"made-{number}", one) for number, one in enumerate(of)] for name, of in made().items()}
    for name, pattern in WRITTEN_BY_TOOLS.items():
        found = [
            (path.relative_to(COMMITTED).as_posix(), path.read_bytes()) for path in sorted(COMMITTED.glob(pattern))
        ]
        files[name] = [*found, *files.get(name, [])]
    return files


FILES = all_files()
each_format = pytest.mark.parametrize("name", FORMATS)


@each_format
def test_a_file_is_known_by_one_reader_whatever_it_is_called(name):
    assert FILES[name]
    for file, content in FILES[name]:
        for place in (file, "results", f"/tmp/a folder/{file}", "/tmp/a folder/results"):
            for text in {content, content if name == BINARY else MARK + content.removeprefix(MARK)}:
                assert [one for one, known in FORMATS.items() if known.detect(place, text)] == [name], file


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[", b"{}", b"[]", b"null", b"\xff\xfe\x00", b"\n\n", b'{"results": {}}', b'{"benchmarks": []}',
        b"Benchmarking the sort 3 4 times\n", b"process,sort,1,2\n", b"project;commit;benchmark\n", b"[ ",
        b"\xff" * 300, b"," * 5000, b" " * 300,
    ],
)  # fmt: skip
def test_what_no_format_contains_is_recognised_by_none(content):
    assert [name for name, known in FORMATS.items() if known.detect("a.json", content)] == []


@pytest.mark.parametrize("name", [name for name in FORMATS if name != BINARY])
def test_a_byte_order_mark_and_windows_line_ends_change_nothing(name):
    for file, content in FILES[name]:
        content = content.removeprefix(MARK)
        as_is = outcome(name, file, content)
        assert outcome(name, file, MARK + content) == as_is
        assert outcome(name, file, content.replace(b"\n", b"\r\n")) == as_is


def outcome(name, file, content):
    """Return names and runs of the benchmarks, or the reason for refusing the file."""
    found = read_or_refusal(file, content, format=name)
    return str(found) if isinstance(found, Refused) else [(benchmark.name, plain(benchmark)) for benchmark in found]


@each_format
def test_a_changed_file_is_read_or_refused_in_words_and_nothing_else(name):
    check_mutations(FORMATS[name], FILES[name], 300)


@pytest.mark.slow
@each_format
def test_two_thousand_changed_files_are_read_or_refused_in_words(name):
    check_mutations(FORMATS[name], FILES[name], 2000, seed=2)
