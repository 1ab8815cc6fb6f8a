import os
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from analysis.benchmark import Failure
from labeler.errors import Refused
from tests.conftest import examples
from tests.labeler.formats.examples import ORDERSAGE, csv_bytes, ordersage_rows, plain, read_bytes, read_or_refusal

FOLDER = os.environ.get("LABELER_ORDERSAGE_DIR", "")

TRIALS = [
    (0, "./a.sh", 0, "fixed", 1.5), (0, "./b.sh -n 2", 1, "fixed", 10.0),
    (1, "./a.sh", 0, "fixed", 1.25), (1, "./b.sh -n 2", 1, "fixed", 11.0),
    (0, "./b.sh -n 2", 0, "random", 12.0), (0, "./a.sh", 1, "random", 2.5),
    (1, "./a.sh", 0, "random", 2.25), (1, "./b.sh -n 2", 1, "random", 13.0),
]  # fmt: skip


def written(trials, columns=ORDERSAGE):
    return csv_bytes(ordersage_rows(trials), columns=columns)


def test_each_test_is_a_benchmark_and_each_trial_a_run_with_its_order():
    a, b = read_bytes("results.csv", written(TRIALS))
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
    assert [b.name for b in read_bytes("r.csv", written(TRIALS, columns))] == ["./a.sh", "./b.sh -n 2"]


def test_the_first_columns_of_its_history_are_enough():
    rows = [(run, command, position, order, value) for run, command, position, order, value in TRIALS]
    content = csv_bytes(rows, columns=("run_num", "exp_command", "order_number", "order_type", "result"))
    a, _b = read_bytes("r.csv", content)
    assert plain(a) == [[1.5], [1.25], [2.5], [2.25]]
    assert list(a.conditions) == ["run", "order_type", "order_position"]


@pytest.mark.parametrize("cell", ["33.5,44.25,55", " 33.5, 44.25 ,55 ", "33.5;44.25;55", "33.5 44.25 55"])
def test_several_numbers_in_a_cell_are_a_benchmark_each(cell):
    benchmarks = read_bytes("r.csv", written([(run, "stream", 0, "fixed", cell) for run in (0, 1)]))
    assert [benchmark.name for benchmark in benchmarks] == ["stream [0]", "stream [1]", "stream [2]"]
    assert [plain(benchmark) for benchmark in benchmarks] == [[[33.5]] * 2, [[44.25]] * 2, [[55.0]] * 2]


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
    benchmarks = read_bytes("r.csv", written([(0, command, 0, "fixed", cell), (1, command, 0, "random", cell)]))
    assert [benchmark.name for benchmark in benchmarks] == [f"{command} [{name}]" for name in names]
    assert [len(benchmark.runs) for benchmark in benchmarks] == [2] * len(names)


def test_a_trial_that_names_other_sub_tests_is_refused():
    with pytest.raises(
        Refused, match=r"line 3: column 'result' has read, seek, but the previous trials have read, write"
    ):
        read_bytes("r.csv", written([(0, "a", 0, "fixed", "read=1,write=2"), (1, "a", 0, "random", "read=1,seek=2")]))


def test_failed_trials_are_failures_of_their_tests_whatever_their_result():
    trials = [
        *TRIALS[2:],
        (5, "./a.sh", 3, "fixed", "", "Failure"),
        (6, "./a.sh", 2, "random", -1, "failure"),
        (0, "stream", 0, "fixed", "1,2"),
        (1, "stream", 0, "fixed", -1, "Failure"),
    ]
    a, b, *stream = read_bytes("r.csv", written(trials))
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


@pytest.mark.parametrize(
    ("trials", "message"),
    [
        ([(0, "a", 0, "fixed", "fast")], r"line 2: 'fast' in column 'value' is not a finite number"),
        ([*TRIALS, (7, "./a.sh", 0, "fixed", "")], r"line 10: '' in column 'value' is not a finite number"),
        ([(0, "a", 0, "fixed", "1,2"), (1, "a", 0, "fixed", "3")], r"line 3: 1 numbers in column 'result', but 2 in"),
        ([(0, "a", 0, "fixed", "1,x")], r"line 2: 'x' in column 'value'"),
        ([(0, "", 0, "fixed", 1)], r"line 2: the cell in column 'exp_command' is empty"),
        ([("", "a", 0, "fixed", 1)], r"line 2: the cell in column 'run_num' is empty"),
        (
            [*TRIALS, (0, "c", 2, "fixed", 1, "Failure")],
            r"test 'c': all trials failed",
        ),
        ([*TRIALS, TRIALS[0]], r"'./a.sh', run 0 \(.*order_type fixed, .*\): iteration 0 appears twice"),
        ([], r"the file contains no benchmarks"),
    ],
)
def test_invalid_content_is_refused_with_line_and_value(trials, message):
    with pytest.raises(Refused, match=r"^r\.csv: .*" + message):
        read_bytes("r.csv", written(trials))


def test_its_list_of_runs_is_refused_with_the_table_that_has_results():
    columns = ("run_uuid", "run_num", "total_runs", "order_type", "random_seed", "time_start", "time_stop")
    with pytest.raises(Refused, match="column 'result'"):
        read_bytes("run_results.csv", csv_bytes([("0-1", 0, 2, "fixed", 7.5, 1, 2)], columns=columns))


@pytest.mark.parametrize("missing", ["result", "order_number"])
def test_a_column_that_is_missing_is_named(missing):
    columns = ["x" if name == missing else name for name in ORDERSAGE]
    with pytest.raises(Refused, match=rf"column '{missing}' is missing"):
        read_bytes("r.csv", written(TRIALS, columns))


@given(st.data())
@settings(max_examples=examples(150), deadline=None)
def test_a_table_with_another_cell_somewhere_is_read_or_refused_and_nothing_else(data):
    rows = [list(row) for row in ordersage_rows(TRIALS)]
    for _ in range(data.draw(st.integers(1, 3))):
        row = data.draw(st.sampled_from(rows))
        at = data.draw(st.integers(0, len(row) - 1))
        row[at] = data.draw(st.sampled_from(["", "x", "1,2", "NaN", "1e999", '"', "\n", "Failure", "é", "\0"]))
    outcome = read_or_refusal("r.csv", csv_bytes(rows, columns=ORDERSAGE))
    assert str(outcome).startswith("r.csv: ") if isinstance(outcome, Refused) else outcome


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
