"""CSV tables of tools: OrderSage, krun, pa and bencher, JavaABS and GoABS, and JMeter."""

import csv
import os
from pathlib import Path

import pandas as pd
import pytest

from analysis.runs.benchmark import FAILED_SHARE, Failure
from labeler.files.formats import FORMATS
from labeler.files.formats.tool_tables import PA_COLUMNS
from tests.labeler.files.formats.examples import (
    ORDERSAGE,
    csv_bytes,
    ordersage_rows,
    plain,
    read_bytes,
)
from tests.labeler.files.formats.mutations import HOSTILE, read_with, refusal

FILES = Path(__file__).parent / "files"  # in the layouts that warmup_stats, pa and JMeter describe
FOLDER = os.environ.get("LABELER_ORDERSAGE_DIR", "")


def read(name, content):
    return read_with(FORMATS[name], "a.csv", content)


# OrderSage

TRIALS = [
    (0, "./a.sh", 0, "fixed", 1.5), (0, "./b.sh -n 2", 1, "fixed", 10.0),
    (1, "./a.sh", 0, "fixed", 1.25), (1, "./b.sh -n 2", 1, "fixed", 11.0),
    (0, "./b.sh -n 2", 0, "random", 12.0), (0, "./a.sh", 1, "random", 2.5),
    (1, "./a.sh", 0, "random", 2.25), (1, "./b.sh -n 2", 1, "random", 13.0),
]  # fmt: skip


def ordersage(*trials, columns=ORDERSAGE):
    return csv_bytes(ordersage_rows(trials), columns=columns)


def test_each_test_is_a_benchmark_and_each_trial_a_run_with_its_order():
    a, b = read_bytes("results.csv", ordersage(*TRIALS))
    assert (a.name, a.benchmark, a.application, a.unit, a.better) == ("./a.sh", "./a.sh", "", "", "")
    assert plain(a) == [[1.5], [1.25], [2.5], [2.25]]
    assert a.conditions == {
        "run": ("0", "1", "0", "1"), "context": ("node1",) * 4, "order_type": ("fixed", "fixed", "random", "random"),
        "order_position": ("0", "0", "1", "0"),
    }  # fmt: skip
    assert (b.name, plain(b)) == ("./b.sh -n 2", [[10.0], [11.0], [12.0], [13.0]])


@pytest.mark.parametrize(("old", "new"), [("exp_command", "test_command"), ("exp_number", "test_number")])
def test_the_later_column_names_are_read_too(old, new):
    columns = [new if name == old else name for name in ORDERSAGE]
    assert [b.name for b in read_bytes("r.csv", ordersage(*TRIALS, columns=columns))] == ["./a.sh", "./b.sh -n 2"]


def test_the_first_columns_of_its_history_are_enough():
    content = csv_bytes(TRIALS, columns=("run_num", "exp_command", "order_number", "order_type", "result"))
    a, _b = read_bytes("r.csv", content)
    assert plain(a) == [[1.5], [1.25], [2.5], [2.25]]
    assert list(a.conditions) == ["run", "order_type", "order_position"]


@pytest.mark.parametrize("cell", ["33.5,44.25,55", " 33.5, 44.25 ,55 ", "33.5;44.25;55", "33.5 44.25 55"])
def test_several_numbers_in_a_cell_are_a_benchmark_each(cell):
    benchmarks = read_bytes("r.csv", ordersage(*((run, "stream", 0, "fixed", cell) for run in (0, 1))))
    assert {benchmark.name: plain(benchmark) for benchmark in benchmarks} == {
        "stream [0]": [[33.5]] * 2, "stream [1]": [[44.25]] * 2, "stream [2]": [[55.0]] * 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("command", "cell", "names"),
    [
        ("./run_memory.sh -b stream -t MT", "33884.80,33803.08,37980.29,38236.56", ["copy", "scale", "add", "triad"]),
        ("./mix.sh", "read=1.5, write=2.5", ["read", "write"]),
        ("./mix.sh", "read: 1.5; write: 2.5", ["read", "write"]),
        ("./streams.sh", "1,2,3,4", ["0", "1", "2", "3"]),
        ("./stream", "1,2,3", ["0", "1", "2"]),
    ],
)
def test_sub_tests_keep_their_names_where_they_have_any(command, cell, names):
    benchmarks = read_bytes("r.csv", ordersage((0, command, 0, "fixed", cell), (1, command, 0, "random", cell)))
    assert [benchmark.name for benchmark in benchmarks] == [f"{command} [{name}]" for name in names]
    assert [len(benchmark.runs) for benchmark in benchmarks] == [2] * len(names)


def test_failed_trials_are_failures_of_their_tests_whatever_their_result():
    a, b, *stream = read_bytes("r.csv", ordersage(
        *TRIALS[2:], (5, "./a.sh", 3, "fixed", "", "Failure"), (6, "./a.sh", 2, "random", -1, "failure"),
        (0, "stream", 0, "fixed", "1,2"), (1, "stream", 0, "fixed", -1, "Failure"),
    ))  # fmt: skip
    assert len(a.values) == 3
    assert a.failures == (
        Failure({"run": "5", "context": "node1", "order_type": "fixed", "order_position": "3"},
                "completion status 'Failure'"),
        Failure({"run": "6", "context": "node1", "order_type": "random", "order_position": "2"},
                "completion status 'failure'"),
    )  # fmt: skip
    assert b.failures == ()
    assert [[failure.conditions["run"] for failure in one.failures] for one in stream] == [["1"], ["1"]]


def test_runs_of_two_machines_are_distinguished():
    rows = [*ordersage_rows(TRIALS, "node1"), *ordersage_rows(TRIALS, "node2")]
    a, _b = read_bytes("r.csv", csv_bytes(rows, columns=ORDERSAGE))
    assert (len(a.values), a.conditions["context"]) == (8, ("node1",) * 4 + ("node2",) * 4)


@pytest.mark.skipif(
    not FOLDER, reason="set LABELER_ORDERSAGE_DIR to the folder with the OrderSage experiment to run this test"
)
def test_a_published_experiment_is_read_as_pandas_reads_it():
    path = Path(FOLDER) / "memcached_exp_results.csv"
    table = pd.read_csv(path)
    benchmarks = read_bytes(path.name, path.read_bytes())
    assert [benchmark.name for benchmark in benchmarks] == list(table["exp_command"].unique())
    for benchmark in benchmarks:
        rows = table[table["exp_command"] == benchmark.name].sort_values(["order_type", "run_num"])
        assert [run[0] for run in benchmark.values] == rows["result"].tolist()
        for ours, theirs in (("run", "run_num"), ("order_type", "order_type"), ("order_position", "order_number")):
            assert list(benchmark.conditions[ours]) == [str(entry) for entry in rows[theirs]]


# krun

KRUN = ("process_exec_num", "bench_name", 0, 1, 2)
KRUN_ROWS = [(0, "sort", 0.5, 0.25, 0.125), (1, "sort", 1.5, 1.25, 1.125), (0, "join", 2.5, 2.25, 2.125)]


def test_each_row_is_a_run_and_each_column_an_iteration():
    content = (FILES / "krun.csv").read_bytes()
    _header, *rows = csv.reader(content.decode().splitlines(), skipinitialspace=True)
    there = {}
    for _process, name, *times in rows:
        if times != ["crash"]:
            there.setdefault(name, []).append(list(map(float, times)))
    spectral, nbody = read("krun", content)
    assert {one.name: plain(one) for one in (spectral, nbody)} == there
    assert [[len(run) for run in one.values] for one in (spectral, nbody)] == [[6, 6], [6, 6, 6]]
    assert (spectral.unit, spectral.better, spectral.application, spectral.parameters) == ("s", "lower", "", {})
    assert spectral.conditions == {"run": ("0", "1")}
    assert spectral.failures == (Failure({"run": "2"}, "line 4: crash"),)
    assert nbody.failures == ()


@pytest.mark.parametrize("names", [("processnum", "benchmark"), ("Process", "b"), ("process_exec_num", "bench_name")])
def test_the_first_columns_may_have_other_names(names):
    content = csv_bytes(KRUN_ROWS, (*names, 0, 1, 2))
    assert FORMATS["krun"].detect("a", content)
    assert [one.name for one in read("krun", content)] == ["sort", "join"]


def test_a_header_of_thousands_of_iterations_is_known():
    assert FORMATS["krun"].detect("a", csv_bytes([], ("process", "bench", *range(20_000))))
    assert not FORMATS["krun"].detect("a", csv_bytes([], ("process", "bench", *range(1, 20_000))))


def test_a_crash_may_be_followed_by_empty_cells_and_a_benchmark_that_only_crashed_is_left_out():
    rows = [(0, "sort", 1, 2, 3), (1, "sort", "crash", "", ""), (2, "sort", "crash"), (0, "join", "crash")]
    (one,) = read("krun", csv_bytes(rows, KRUN))
    assert (one.name, [failure.conditions["run"] for failure in one.failures]) == ("sort", ["1", "2"])


@pytest.mark.parametrize(
    "columns", [("a", "b", 0, 1, 2), ("process", "b", 1, 2, 3), ("process", "b"), ("process",), ()]
)
def test_another_header_is_refused(columns):
    content = csv_bytes(KRUN_ROWS, columns)
    assert refusal(FORMATS["krun"], "a.csv", content if columns else b"") == (
        "line 1: the header must have a process, a benchmark, and iterations counted from 0"
    )
    assert not FORMATS["krun"].detect("a.csv", content)


# pa and bencher


def pa_row(value=200, count=1, iteration=1, fork=1, trial=1, **more):
    cells = {
        "project": "p", "commit": "1.0", "benchmark": "org.Sort.sort", "params": "n=10,order=up", "instance": "host",
        "trial": trial, "fork": fork, "iteration": iteration, "mode": "avgt", "unit": "ns/op", "value_count": count,
        "value": value,
    } | more  # fmt: skip
    return tuple(cells.values())


def pa(*rows, columns=PA_COLUMNS):
    return csv_bytes(rows, columns, ";")


@pytest.mark.parametrize("has_header", [True, False])
def test_each_fork_is_a_run_and_an_iteration_the_mean_of_its_histogram(has_header):
    content = (FILES / "pa.csv").read_bytes()
    there = {}
    for cells in csv.DictReader(content.decode().splitlines(), delimiter=";"):
        fork = there.setdefault(cells["benchmark"], {}).setdefault(int(cells["fork"]), {})
        fork.setdefault(int(cells["iteration"]), []).extend([float(cells["value"])] * int(cells["value_count"]))
    join, sort = read("pa", content if has_header else content.partition(b"\n")[2])
    assert (join.name, join.unit, join.better) == ("org.Sort.join [thrpt]", "ops/s", "higher")
    assert (sort.name, sort.unit, sort.better) == ("org.Sort.sort#n=10&order=up [sample]", "s", "lower")
    assert (sort.benchmark, sort.application) == ("org.Sort.sort#n=10&order=up", "sorting")
    assert sort.parameters == {"n": "10", "order": "up"}
    assert plain(join) == [[iteration[0] for iteration in there["org.Sort.join"][fork].values()] for fork in (1, 2)]
    means = [sum(each) / len(each) * 1e-9 for fork in (1, 2) for each in there["org.Sort.sort"][fork].values()]
    assert [value for run in plain(sort) for value in run] == pytest.approx(means)
    assert len(there["org.Sort.sort"][1][1]) == 15
    assert sort.conditions == {
        "run": ("1", "2"), "version": ("1.0.0",) * 2, "context": ("host",) * 2, "trial": ("1",) * 2,
    }  # fmt: skip


def test_runs_come_by_number_and_are_distinguished_by_trial_instance_and_commit():
    places = [(1, 10), (1, 2), (2, 1)]
    (one,) = read(
        "pa", pa(*(pa_row(trial * 100 + fork, trial=trial, fork=fork, unit="ops/s") for trial, fork in places))
    )
    assert plain(one) == [[102.0], [110.0], [201.0]]
    assert (one.conditions["run"], one.conditions["trial"]) == (("2", "10", "1"), ("1", "1", "2"))
    (one,) = read("pa", pa(pa_row(), pa_row(commit="2.0"), pa_row(instance="other")))
    assert len(one.values) == 3


def test_iterations_come_by_number_and_values_of_one_iteration_are_averaged():
    (one,) = read("pa", pa(*(pa_row(float(at), iteration=at, unit="s/op") for at in (10, 2, 1))))
    assert plain(one) == [[1.0, 2.0, 10.0]]
    (one,) = read("pa", pa(pa_row(1.0, unit="s/op"), pa_row(2.0, 2, unit="s/op"), pa_row(2.0, unit="s/op")))
    assert plain(one) == [[1.75]]


@pytest.mark.parametrize(
    ("unit", "mode", "stored", "better", "factor"),
    [
        ("ms/op", "avgt", "s", "lower", 1e-3), ("us", "avgt", "s", "lower", 1e-6),
        ("ops/us", "thrpt", "ops/us", "higher", 1), ("op/s", "x", "op/s", "higher", 1),
        ("B/op", "x", "B/op", "lower", 1), ("", "", "", "lower", 1), ("MB", "thrpt", "MB", "higher", 1),
    ],
)  # fmt: skip
def test_times_become_seconds_and_rates_keep_their_unit(unit, mode, stored, better, factor):
    (one,) = read("pa", pa(pa_row(8.0, unit=unit, mode=mode)))
    assert (one.unit, one.better, plain(one)) == (stored, better, [[8.0 * factor]])


@pytest.mark.parametrize(
    ("text", "parameters"), [("", {}), ("n=1", {"n": "1"}), ("a=1,2,b=x=y", {"a": "1,2", "b": "x=y"}), ("alone", {})]
)
def test_parameter_values_may_hold_commas_and_signs_of_equality(text, parameters):
    (one,) = read("pa", pa(pa_row(params=text)))
    assert one.parameters == parameters


def test_modes_tell_benchmarks_apart():
    found = read("pa", pa(pa_row(), pa_row(mode="ss")))
    assert [one.name.rpartition(" ")[2] for one in found] == ["[avgt]", "[ss]"]


def test_a_table_of_pa_without_a_header_is_recognised():
    assert FORMATS["pa"].detect("a", pa(pa_row(), columns=None))


# JavaABS and GoABS

JAVA = "Run;Method altered;Microbenchmark;Result\n"
GO = "Run-SuiteExecution-BenchmarkExecution?-?;Function altered;Benchmark;Runtime in ns \n"
JAVA_ROWS = """0;Baseline;org.B.read;1.5
0;Baseline;org.B.read;1.25
0;Baseline;org.B.write;7
0;src/A.java.f([Operator<? extends R, ? super T>]);org.B.read;2.5
1;Baseline;org.B.read;1.75
1;src/A.java.f([Operator<? extends R, ? super T>]);org.B.read;2.25
"""
GO_ROWS = """0-0-0;Baseline;row_test.go/BenchmarkRead;58.6
0-0-1;Baseline;row_test.go/BenchmarkRead;60
0-1-0;Baseline;row_test.go/BenchmarkRead;62.5
1-0-0;Baseline;row_test.go/BenchmarkRead;61
0-0-0;Row.Read;row_test.go/BenchmarkRead;70
10-0-0;Baseline;row_test.go/BenchmarkRead;64
2-0-0;Baseline;row_test.go/BenchmarkRead;63
"""
GO_ROWS_WITH_MEMORY = "".join(f"{line};16;2\n" for line in GO_ROWS.splitlines())


@pytest.mark.parametrize("start", ["", JAVA, "\ufeff", "\ufeff" + JAVA, "\n\n", "\ufeff\n"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_java_results_are_read_with_and_without_their_header_line(start, name):
    reading, writing = read_bytes(name, (start + JAVA_ROWS).encode())
    assert (reading.name, reading.benchmark, reading.unit, reading.better) == ("org.B.read", "org.B.read", "", "")
    assert plain(reading) == [[1.5, 1.25], [1.75], [2.5], [2.25]]
    altered = "src/A.java.f([Operator<? extends R, ? super T>])"
    assert reading.conditions == {"run": ("0", "1", "0", "1"), "altered": ("Baseline", "Baseline", altered, altered)}
    assert (writing.name, plain(writing)) == ("org.B.write", [[7.0]])


@pytest.mark.parametrize(
    "rows", [GO_ROWS, GO + GO_ROWS, GO_ROWS_WITH_MEMORY, GO.strip() + ";B;allocs\n" + GO_ROWS_WITH_MEMORY]
)
def test_executions_of_the_suite_belong_to_their_run_and_nanoseconds_become_seconds(rows):
    (benchmark,) = read_bytes("go.csv", rows.encode())
    assert (benchmark.name, benchmark.unit) == ("row_test.go/BenchmarkRead", "s")
    expected = [[58.6e-9, 60e-9, 62.5e-9], [61e-9], [63e-9], [64e-9], [70e-9]]
    assert plain(benchmark) == [pytest.approx(run, rel=1e-15) for run in expected]
    assert benchmark.conditions == {
        "run": ("0", "1", "2", "10", "0"), "altered": ("Baseline",) * 4 + ("Row.Read",),
    }  # fmt: skip


@pytest.mark.parametrize("start", ["", JAVA, "\n"])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("x;Baseline;b;1", "'x' is not a run. Expected one whole number, or three, such as 0-0-0"),
        ("0-1;Baseline;b;1", "'0-1' is not a run"),
        (";Baseline;b;1", "'' is not a run"),
        ("0;Baseline;b;fast", "'fast' in column 'value'"),
        ("0;Baseline;b;", "'' in column 'value'"),
        ("0;Baseline;b;1e999", "'1e999' in column 'value'"),
        ("0;Baseline;;1", "the cell in column 'benchmark' is empty"),
    ],
)
def test_a_cell_that_cannot_be_used_is_refused_with_its_line_in_the_file(start, row, message):
    content = f"{start}{JAVA_ROWS}{row}\n"
    assert refusal(FORMATS["abs"], "a.csv", content.encode()).startswith(f"line {content.count(chr(10))}: {message}")


# JMeter

JMETER = "timeStamp,elapsed,label,success\n"


def test_requests_are_iterations_in_the_order_in_which_they_began_and_failed_ones_are_left_out():
    content = (FILES / "jmeter.jtl").read_bytes()
    home, search = read("jmeter", content)
    assert (home.name, plain(home)) == ("Home, sweet home", [[0.012, 0.010, 0.011]])
    assert (search.name, plain(search)) == ("Search", [pytest.approx([0.009, 0.008])])
    assert (home.unit, home.better, home.failures) == ("s", "lower", ())
    shares = {one.name: one for one in FORMATS["jmeter"].read("", content, {}) if one.unit == FAILED_SHARE}
    assert {name: (one.benchmark, plain(one), one.better) for name, one in shares.items()} == {
        "Home, sweet home [failed requests]": ("Home, sweet home", [[0.0]], "lower"),
        "Search [failed requests]": ("Search", [[pytest.approx(1 / 3)]], "lower"),
    }


@pytest.mark.parametrize(
    ("code", "success", "has_failed"),
    [("200", "true", 0), ("200", "false", 1), ("500", "true", 1), ("404", None, 1), ("304", None, 0), ("", None, 0),
     ("Non HTTP response code: java.net.SocketException", None, 1)],
)  # fmt: skip
def test_a_request_failed_by_its_success_or_its_code(code, success, has_failed):
    columns = ("timeStamp", "elapsed", "label", "responseCode", *(["success"] if success else []))
    rows = [(1, 5, "a", code, *([success] if success else []))]
    _times, share = FORMATS["jmeter"].read("", csv_bytes(rows, columns), {})
    assert plain(share) == [[has_failed]]


# all of them

SEVERAL_RUNS = ("run_uuid", "run_num", "total_runs", "order_type", "random_seed", "time_start", "time_stop")
RENAMED = ["x" if name == "commit" else name for name in PA_COLUMNS]
REFUSED = {
    "ordersage": [
        (ordersage((0, "a", 0, "fixed", "fast")), "line 2: 'fast' in column 'value' is not a finite number"),
        (ordersage(*TRIALS, (7, "./a.sh", 0, "fixed", "")), "line 10: '' in column 'value' is not a finite number"),
        (ordersage((0, "a", 0, "fixed", "1,2"), (1, "a", 0, "fixed", "3")),
         "line 3: 1 numbers in column 'result', but 2 in the previous trials"),
        (ordersage((0, "a", 0, "fixed", "read=1,write=2"), (1, "a", 0, "random", "read=1,seek=2")),
         "line 3: column 'result' has read, seek, but the previous trials have read, write"),
        (ordersage((0, "a", 0, "fixed", "1,x")), "line 2: 'x' in column 'value'"),
        (ordersage((0, "", 0, "fixed", 1)), "line 2: the cell in column 'exp_command' is empty"),
        (ordersage(("", "a", 0, "fixed", 1)), "line 2: the cell in column 'run_num' is empty"),
        (ordersage(*TRIALS, (0, "c", 2, "fixed", 1, "Failure")), "test 'c': all trials failed"),
        (ordersage(*TRIALS, TRIALS[0]), "order_position 0): iteration 0 appears twice"),
        (ordersage(), "the file contains no benchmarks"),
        (csv_bytes([("0-1", 0, 2, "fixed", 7.5, 1, 2)], SEVERAL_RUNS), "column 'result' is missing"),
        (ordersage(*TRIALS, columns=["x" if name == "order_number" else name for name in ORDERSAGE]),
         "column 'order_number' is missing"),
    ],
    "krun": [
        (csv_bytes([(0, "a", 1, "x", 2)], KRUN), "line 2, iteration 1: 'x' is not a finite number"),
        (csv_bytes([(0, "a", 1, "nan", 2)], KRUN), "line 2, iteration 1: 'nan'"),
        (csv_bytes([(0, "a", 1, "", 2)], KRUN), "iteration 1: ''"),
        (csv_bytes([(0, "a", 1, "crash", 2)], KRUN), "line 2, iteration 1: 'crash'"),
        (csv_bytes([(0, "a", 1, "1e999", 2)], KRUN), "benchmark 'a', run 0, iteration 1: inf"),
        (csv_bytes([*KRUN_ROWS, (2, "sort", 1, 2)], KRUN), "line 5: the row has 2 times, but the header has 3"),
        (csv_bytes([(0, "a", 1, 2, 3, 4)], KRUN), "line 2: the row has 4 times"),
        (csv_bytes([(0, "a")], KRUN), "line 2: the row has 0 times"),
        (csv_bytes([(0,)], KRUN), "line 2: the cell in column 2 is empty"),
        (csv_bytes([("", "a", 1, 2, 3)], KRUN), "line 2: the cell in column 1 is empty"),
        (csv_bytes([(0, "", 1, 2, 3)], KRUN), "line 2: the cell in column 2 is empty"),
        (csv_bytes([*KRUN_ROWS, KRUN_ROWS[0]], KRUN), "line 5: process '0' of benchmark 'sort' appears twice"),
        (csv_bytes([(0, "a", "crash")], KRUN), "'a': line 2: crash"),
        (csv_bytes([], KRUN), "the file contains no benchmarks"),
        (b"process,bench,0\n0,\xff,1\n", "byte 18: the file is not UTF-8 text"),
        (b'process,bench,0\n0,"a\n', "line 2: the row has 0 times, but the header has 1 iterations"),
    ],
    "pa": [
        (pa(pa_row("x")), "line 2: 'x' in column 'value' is not a finite number"),
        (pa(pa_row(), pa_row("x", iteration=2), columns=None), "line 2: 'x' in column 'value'"),
        (pa(pa_row(), pa_row("", iteration=2)), "line 3: ''"),
        (pa(pa_row("nan")), "line 2: 'nan'"),
        (pa(pa_row("2,1e+07")), "line 2: '2,1e+07'"),
        (pa(pa_row(count=0)), "line 2: '0' in column 'value_count' is not above 0"),
        (pa(pa_row(), pa_row(count=-2)), "line 3: '-2' in column 'value_count' is not above 0"),
        (pa(pa_row(count="many")), "line 2: 'many'"),
        (pa(pa_row(), pa_row(), pa_row(iteration="x")), "line 4: 'x' in column 'iteration' is not a finite number"),
        (pa(pa_row(fork="")), "line 2: the cell in column 'run' is empty"),
        (pa(pa_row(benchmark=" ")), "line 2: the cell in column 'benchmark' is empty"),
        (pa(pa_row(), pa_row(iteration=2, unit="ops/s", mode="avgt")), "has more than one unit: ops/s, s"),
        (pa(pa_row(), pa_row(iteration="01")), "iteration 1 appears twice"),
        (pa(pa_row()[:-1]), "line 2: the row has 11 cells, but the header has 12"),
        (pa(), "the file contains no benchmarks"),
        (pa(pa_row(), columns=RENAMED), "column 'commit' is missing; the table has project, x, "),
    ],
    "abs": [
        (f"{JAVA}{JAVA_ROWS}\n0;Baseline;b\n".encode(), "line 9: the row has 3 cells, but the header has 4"),
        (f"{JAVA}{JAVA_ROWS}\n0;Baseline;b;1;2\n".encode(), "line 9: the row has 5 cells, but the header has 4"),
        (b"Run;Method altered;Result\n0;Baseline;1\n", "the table has 3 columns. Expected four"),
    ],
    "jmeter": [
        (f"{JMETER}1,x,a,true\n".encode(), "line 2, 'elapsed': 'x'"),
        (f"{JMETER}1,5,a,true\n,5,a,true\n".encode(), "line 3: '' in column 'timeStamp' is not a number"),
        (f"{JMETER}2024/01/01 10:00:00,5,a,true\n".encode(), "-Jjmeter.save.saveservice.timestamp_format=ms"),
        (JMETER.replace(",", ";").encode() + b"1;5;a;true\n", "-Jjmeter.save.saveservice.default_delimiter=,"),
        (JMETER.replace(",", "\t").encode() + b"1\t5\ta\ttrue\n", "separated by a tab"),
        (b'<?xml version="1.0"?>\n<testResults version="1.2">\n<httpSample t="5" lb="a" s="true"/>\n</testResults>\n',
         "-Jjmeter.save.saveservice.output_format=csv"),
        (f"{JMETER}1,5\n".encode(), "line 2: the row has 2 cells"),
        (f"{JMETER}1,5,a,false\n".encode(), "1 request failed, and none succeeded"),
        (b"timeStamp,elapsed,labels\n1,5,a\n", "column 'label' is missing. JMeter writes it by default"),
        (JMETER.encode(), "the file contains no benchmarks"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [(name, content, message) for name, rows in REFUSED.items() for content, message in rows],
    ids=[f"{name}: {message[:60]}" for name, rows in REFUSED.items() for _content, message in rows],
)
def test_invalid_content_is_refused_with_line_and_value(name, content, message):
    assert message in refusal(FORMATS[name], "a.csv", content)


def test_a_name_is_kept_as_it_is():
    for name in HOSTILE:
        (one,) = read("krun", csv_bytes([(0, name, 1, 2, 3)], KRUN))
        assert one.name == name
        (one,) = read("pa", pa(pa_row(benchmark=name, params="", mode="", project=name, instance=name)))
        assert (one.name, one.application, one.conditions["context"]) == (name, name, (name.strip(),))
