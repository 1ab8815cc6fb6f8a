import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from labeler.errors import Refused
from tests.labeler.files.formats.examples import parquet_bytes, plain, read_bytes, read_or_refusal

TABLE = {
    "benchmark": ["m#k=v"] * 5,
    "application": ["o/p"] * 5,
    "run": [2, 1, 1, 2, 1],
    "iteration": [1, 2, 0, 0, 1],
    "value": [0.1, 5e-324, 1 / 3, 1e150, -0.5],
}


def one(table, **options):
    (benchmark,) = read_bytes("a.parquet", parquet_bytes(table, **options))
    return benchmark


def test_a_table_with_every_column_out_of_order():
    benchmark = one(TABLE)
    assert (benchmark.name, benchmark.application) == ("m#k=v", "o/p")
    assert plain(benchmark) == [[1 / 3, -0.5, 5e-324], [1e150, 0.1]]


def test_a_table_without_iterations_keeps_the_order_of_rows():
    table = {name: column for name, column in TABLE.items() if name != "iteration"}
    assert plain(one(table)) == [[5e-324, 1 / 3, -0.5], [0.1, 1e150]]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=20))
@settings(deadline=None)
def test_every_float32_survives(values):
    table = {"benchmark": "b", "run": 1, "value": np.array(values, dtype=np.float32)}
    (run,) = one(table).values
    assert run.tolist() == values
    assert run.dtype == np.float64


@pytest.mark.parametrize("name", ["benchmark", "application", "run", "iteration", "value"])
def test_a_dictionary_encoded_column_is_read_as_its_values(name):
    benchmark = one(pd.DataFrame(TABLE).astype({name: "category"}))
    assert plain(benchmark) == plain(one(TABLE))
    assert (benchmark.name, benchmark.application) == ("m#k=v", "o/p")


def test_categories_that_no_row_uses_make_no_benchmark_and_no_run():
    table = pd.DataFrame(TABLE)
    table["benchmark"] = pd.Categorical(table["benchmark"], ["unused", "m#k=v"])
    table["run"] = pd.Categorical(table["run"], [0, 1, 2, 3])
    assert plain(one(table)) == plain(one(TABLE))


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "Int64", "Float64", "str"])
def test_numbers_of_every_type_are_read(dtype):
    table = pd.DataFrame({"benchmark": "b", "run": [1, 1], "value": [3, 4]}).astype({"value": dtype})
    assert plain(one(table)) == [[3.0, 4.0]]


@pytest.mark.parametrize("dtype", ["int8", "float64", "str", "category"])
def test_runs_numbered_1_to_10_come_in_that_order(dtype):
    table = pd.DataFrame({"benchmark": "b", "run": range(10, 0, -1), "value": range(10, 0, -1)})
    assert plain(one(table.astype({"run": dtype}))) == [[float(run)] for run in range(1, 11)]


@pytest.mark.parametrize("options", [{"compression": None}, {"compression": "gzip"}, {"use_dictionary": False}])
def test_counts_first_and_last_values_and_means_equal_those_of_another_reader(options):
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"benchmark": "b", "run": np.repeat([1, 2, 3], 400), "value": rng.lognormal(size=1200)})
    content = parquet_bytes(table, **options)
    rows = pq.read_table(pa.BufferReader(content)).to_pylist()
    (benchmark,) = read_bytes("a.parquet", content)
    for number, run in enumerate(benchmark.values, start=1):
        expected = [row["value"] for row in rows if row["run"] == number]
        assert (len(run), run[0], run[-1]) == (400, expected[0], expected[-1])
        assert run.mean() == pytest.approx(math.fsum(expected) / 400)


def test_several_row_groups_are_one_table():
    assert plain(one(TABLE, row_group_size=2)) == plain(one(TABLE))


def test_columns_are_mapped_and_units_converted():
    table = {"name": ["b", "b"], "fork": [1, 2], "ms": [1.5, 2.5], "unit": ["ms", "ms"], "better": ["higher"] * 2}
    columns = {"benchmark": "name", "run": "fork", "value": "ms"}
    (benchmark,) = read_bytes("a.parquet", parquet_bytes(table), columns=columns)
    assert (benchmark.unit, benchmark.better) == ("s", "higher")
    assert [run[0] for run in benchmark.values] == pytest.approx([0.0015, 0.0025])


def changed(**columns):
    return parquet_bytes(TABLE | columns)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (parquet_bytes({"benchmark": ["b"], "run": [1]}), r"column 'value' is missing; the table has benchmark, run"),
        (parquet_bytes(pd.DataFrame(TABLE)[:0]), r"the file contains no benchmarks"),
        (changed(value=[1, 2, math.nan, 4, 5]), r"row 2: .*nan.* in column 'value' is not a finite number"),
        (changed(value=[1, 2, 3, None, 5]), r"row 3: .* in column 'value' is not a finite number"),
        (changed(value=[1, math.inf, 3, 4, 5]), r"row 1: inf in column 'value'"),
        (changed(value=pd.Categorical(["1", None, "2", "3", "x"])), r"row 1: nan in column 'value'"),
        (changed(value=pd.Categorical(["1", "1", "2", "3", "x"])), r"row 4: 'x' in column 'value'"),
        (changed(value=["1", "2", "x", "4", "5"]), r"row 2: 'x' in column 'value'"),
        (changed(value=[[1.0]] * 5), r"column 'value' is nested"),
        (changed(value=[{"a": 1}] * 5), r"column 'value' is nested"),
        (changed(iteration=["0", "1", "2", "3", "last"]), r"row 4: 'last' in column 'iteration'"),
        (changed(iteration=[0, 0, 0, 1, 1]), r"benchmark 'm#k=v', run 1: iteration 0 appears twice"),
        (changed(value=[True, False, True, True, False]), r".*column 'value'"),
        (changed(value=pd.to_datetime(["2026-01-01"] * 5)), r".*column 'value'"),
        (changed(value=pd.to_timedelta([1, 2, 3, 4, 5], unit="s")), r".*column 'value'"),
        *((changed(**{name: [["a"]] * 5}), f".*{name}") for name in ("benchmark", "application", "run", "unit")),
        (parquet_bytes(TABLE, compression=None, use_dictionary=False).replace(b"m#k=v", b"m#k=\xff"), r"."),
        (changed(unit=["s", "s", "ms", "s", "s"]), r"benchmark 'm#k=v' has more than one unit: ms, s"),
        (changed(better=["up"] * 5), r"benchmark 'm#k=v': better is 'up'"),
        (parquet_bytes(TABLE)[:-8] + b"\x00\x00\x00\x00PAR1", r"the Parquet file is damaged"),
        (parquet_bytes(TABLE)[:500] + parquet_bytes(TABLE)[-100:], r"the Parquet file is damaged"),
        (b"PAR1" * 30, r"the Parquet file is damaged"),
    ],
)  # fmt: skip
def test_anything_but_a_table_of_measurements_is_refused_with_file_place_and_value(content, message):
    with pytest.raises(Refused, match=r"(?s)^there/a\.parquet: " + message):
        read_bytes("there/a.parquet", content)


def test_a_cut_file_is_refused():
    for length in range(1, len(parquet_bytes(TABLE)), 97):
        with pytest.raises(Refused, match=r"^a\.parquet: "):
            read_bytes("a.parquet", parquet_bytes(TABLE)[:length])


@pytest.mark.parametrize("name", ["benchmark", "application", "run"])
def test_an_empty_cell_loses_no_measurement_in_silence(name):
    cells = [None if row == 3 else cell for row, cell in enumerate(TABLE[name])]
    outcome = read_or_refusal("a.parquet", changed(**{name: cells}))
    if isinstance(outcome, Refused):
        assert "row 3" in str(outcome)
    else:
        assert sum(len(run) for benchmark in outcome for run in benchmark.values) == 5


@pytest.mark.parametrize("name", ["unit", "better"])
@pytest.mark.parametrize("column", [["s", None, "s", "s", "s"], [None] * 5])
def test_an_empty_cell_is_no_unit_and_no_direction(name, column):
    cells = [cell if name == "unit" or cell is None else "lower" for cell in column]
    outcome = read_or_refusal("a.parquet", changed(**{name: cells}))
    assert isinstance(outcome, Refused) or (outcome[0].unit, outcome[0].better) == ("", "")
