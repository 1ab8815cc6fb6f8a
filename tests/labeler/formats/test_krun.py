import csv
from pathlib import Path

import pytest

from analysis.benchmark import Failure
from labeler.formats import FORMATS
from tests.labeler.formats.examples import csv_bytes, plain
from tests.labeler.formats.mutations import HOSTILE, read_with, readers, refusal

krun = FORMATS["krun"]
FILES = Path(__file__).parent / "files"  # in the layout that warmup_stats describes
HEADER = ("process_exec_num", "bench_name", 0, 1, 2)
ROWS = [(0, "sort", 0.5, 0.25, 0.125), (1, "sort", 1.5, 1.25, 1.125), (0, "join", 2.5, 2.25, 2.125)]


read, refused = readers(krun, "krun.csv", lambda rows, columns=HEADER: csv_bytes(rows, columns))


def test_each_row_is_a_run_and_each_column_an_iteration():
    content = (FILES / "krun.csv").read_bytes()
    _header, *rows = csv.reader(content.decode().splitlines(), skipinitialspace=True)
    there = {}
    for _process, name, *times in rows:
        if times != ["crash"]:
            there.setdefault(name, []).append(list(map(float, times)))
    benchmarks = read_with(krun, "krun.csv", content)
    assert {one.name: plain(one) for one in benchmarks} == there
    assert [[len(run) for run in one.values] for one in benchmarks] == [[6, 6], [6, 6, 6]]
    spectral, nbody = benchmarks
    assert (spectral.unit, spectral.better, spectral.application, spectral.parameters) == ("s", "lower", "", {})
    assert spectral.conditions == {"run": ("0", "1")}
    assert spectral.failures == (Failure({"run": "2"}, "line 4: crash"),)
    assert nbody.failures == ()


@pytest.mark.parametrize("names", [("processnum", "benchmark"), ("Process", "b"), ("process_exec_num", "bench_name")])
def test_the_first_columns_may_have_other_names(names):
    columns = (*names, 0, 1, 2)
    assert krun.detect("a", csv_bytes(ROWS, columns))
    assert [one.name for one in read(ROWS, columns)] == ["sort", "join"]


def test_a_header_of_thousands_of_iterations_is_known():
    columns = ("process", "bench", *range(20_000))
    assert krun.detect("a", csv_bytes([], columns))
    assert not krun.detect("a", csv_bytes([], ("process", "bench", *range(1, 20_000))))


def test_a_crash_may_be_followed_by_empty_cells():
    (one,) = read([(0, "sort", 1, 2, 3), (1, "sort", "crash", "", ""), (2, "sort", "crash")])
    assert [failure.conditions["run"] for failure in one.failures] == ["1", "2"]


def test_a_benchmark_that_only_crashed_is_left_out():
    assert [one.name for one in read([(0, "a", "crash"), (0, "b", 1, 2, 3)])] == ["b"]
    assert "'a': line 2: crash" in refused([(0, "a", "crash")])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(0, "a", 1, "x", 2)], "2, iteration 1: 'x'"),
        ([(0, "a", 1, "nan", 2)], "2, iteration 1: 'nan'"),
        ([(0, "a", 1, "", 2)], "iteration 1: ''"),
        ([(0, "a", 1, "crash", 2)], "2, iteration 1: 'crash'"),
        ([(0, "a", 1, "1e999", 2)], "benchmark 'a', run 0, iteration 1: inf"),
        ([*ROWS, (2, "sort", 1, 2)], "line 5: the row has 2 times"),
        ([(0, "a", 1, 2, 3, 4)], "line 2: the row has 4 times"),
        ([(0, "a")], "line 2: the row has 0 times"),
        ([(0,)], "line 2: the cell in column 2 is empty"),
        ([("", "a", 1, 2, 3)], "line 2: the cell in column 1 is empty"),
        ([(0, "", 1, 2, 3)], "line 2: the cell in column 2 is empty"),
        ([*ROWS, ROWS[0]], "line 5: process '0' of benchmark 'sort' appears twice"),
        ([], "the file contains no benchmarks"),
    ],
)
def test_invalid_content_is_refused_with_line_and_value(rows, message):
    assert message in refused(rows)


@pytest.mark.parametrize(
    "columns", [("a", "b", 0, 1, 2), ("process", "b", 1, 2, 3), ("process", "b"), ("process",), ()]
)
def test_another_header_is_refused(columns):
    message = "line 1: the header must have a process, a benchmark, and iterations counted from 0"
    assert refused(ROWS if columns else [], columns) == message
    assert not krun.detect("a.csv", csv_bytes(ROWS, columns))


def test_anything_but_a_table_is_refused():
    head = b"process,bench,0\n"
    assert refusal(krun, "a.csv", head + b"0,\xff,1\n") == "byte 18: the file is not UTF-8 text"
    assert refusal(krun, "a.csv", head + b'0,"a\n') == "line 2: the row has 0 times, but the header has 1 iterations"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_kept_as_it_is(name):
    (one,) = read([(0, name, 1, 2, 3)])
    assert one.name == name
