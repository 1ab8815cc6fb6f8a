"""Conditions of runs in long tables."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from labeler.errors import Refused
from labeler.studies.model import measurement_hash
from tests.labeler.files.formats.examples import COLUMNS, csv_bytes, parquet_bytes, plain, read_bytes

ALL = ("version", "context", "order_type", "order_position", "altered", "factor:heap", "factor:cpu model")


def one(rows, *columns, **options):
    (benchmark,) = read_bytes("a.csv", csv_bytes(rows, columns=(*COLUMNS, *columns)), **options)
    return benchmark


def test_a_table_without_such_columns_knows_the_runs_alone_and_has_the_same_hash_as_ever():
    benchmark = one([("b", 10, 3.5), ("b", 2, 1.5), ("b", 2, 2.5)])
    assert benchmark.conditions == {"run": ("2", "10")}
    assert benchmark.failures == ()
    assert measurement_hash(benchmark.values) == measurement_hash([np.array([1.5, 2.5]), np.array([3.5])])
    assert measurement_hash(benchmark.values)[:16] == "ab828661f6a49da1"


def test_every_column_is_a_condition_and_a_factor_goes_by_its_own_name():
    benchmark = one([("b", 1, 5, "v1", "host", "fixed", 3, "f()", "1g", "arm")], *ALL)
    assert benchmark.conditions == {
        "run": ("1",), "version": ("v1",), "context": ("host",), "order_type": ("fixed",), "order_position": ("3",),
        "altered": ("f()",), "heap": ("1g",), "cpu model": ("arm",),
    }  # fmt: skip


@pytest.mark.parametrize("column", ALL)
def test_runs_of_one_number_under_two_conditions_are_two_runs(column):
    rows = [("b", run, run + 10 * level, level) for run in (1, 2) for level in (7, 3)]
    benchmark = one(rows, column)
    assert sorted(map(tuple, plain(benchmark))) == [(31.0,), (32.0,), (71.0,), (72.0,)]
    assert set(zip(*benchmark.conditions.values(), strict=True)) == {("1", "7"), ("1", "3"), ("2", "7"), ("2", "3")}


def test_runs_come_by_condition_in_order_of_appearance_then_by_number():
    levels = [(version, context) for context in ("z", "a") for version in ("new", "old")]
    rows = [("b", run, 0, *level) for run in (10, 9, 1) for level in levels]
    benchmark = one(rows, "version", "context")
    expected = [(v, c, r) for v in ("new", "old") for c in ("z", "a") for r in ("1", "9", "10")]
    got = benchmark.conditions
    assert list(zip(got["version"], got["context"], got["run"], strict=True)) == expected


def test_the_place_in_an_order_does_not_move_runs():
    rows = [("b", run, run, position) for run, position in ((3, 0), (1, 2), (2, 1))]
    assert one(rows, "order_position").conditions == {"run": ("1", "2", "3"), "order_position": ("2", "1", "0")}


def test_the_order_of_appearance_is_that_of_the_rows_not_of_the_iterations():
    rows = [("b", 1, 5, "late", 1), ("b", 1, 6, "early", 0), ("b", 1, 7, "late", 0)]
    assert one(rows, "version", "iteration").conditions["version"] == ("late", "early")


@given(st.permutations([(run, version, i) for run in (1, 2) for version in ("a", "b") for i in (0, 1)]))
def test_every_measurement_stays_with_its_run_version_and_iteration(order):
    value = {key: float(number) for number, key in enumerate(sorted(order))}
    rows = [("b", run, value[run, version, i], version, i) for run, version, i in order]
    benchmark = one(rows, "version", "iteration")
    kept = zip(benchmark.conditions["run"], benchmark.conditions["version"], plain(benchmark), strict=True)
    assert {(run, version): values for run, version, values in kept} == {
        (str(run), version): [value[run, version, 0], value[run, version, 1]] for run in (1, 2) for version in "ab"
    }


def test_an_empty_cell_is_not_known_and_blanks_around_a_level_do_not_count():
    rows = [("b", 1, 5, " v1 "), ("b", 1, 6, "v1"), ("b", 1, 7, " "), ("b", 1, 8, "")]
    benchmark = one(rows, "version")
    assert benchmark.conditions == {"run": ("1", "1"), "version": ("v1", "")}
    assert plain(benchmark) == [[5.0, 6.0], [7.0, 8.0]]


def test_columns_are_mapped_by_the_person():
    content = b"benchmark,run,value,commit,jvm\nb,1,5,abc,17\nb,1,6,def,17\n"
    columns = {"version": "commit", "factor:java": "jvm"}
    (benchmark,) = read_bytes("a.csv", content, columns=columns)
    assert benchmark.conditions == {"run": ("1", "1"), "version": ("abc", "def"), "java": ("17", "17")}


@pytest.mark.parametrize("name", ["commit", "factors", "factor:"])
def test_other_columns_are_named_and_refused_until_somebody_says_what_they_are(name):
    rows = [("b", 1, 5, "x"), ("b", 1, 6, "y")]
    with pytest.raises(
        Refused, match=rf"the meaning of column '{name}' is unknown\. .*--columns ignore:{name}={name}$"
    ):
        one(rows, name)
    content = csv_bytes(rows, ["benchmark", "run", "value", name])
    (benchmark,) = read_bytes("a.csv", content, columns={"ignore:it": name})
    assert benchmark.conditions == {"run": ("1",)}
    (benchmark,) = read_bytes("a.csv", content, columns={"factor:it": name})
    assert benchmark.conditions == {"run": ("1", "1"), "it": ("x", "y")}


def test_columns_of_a_plan_that_was_filled_in_are_factors():
    columns = ["order", "benchmark", "version", "link", "env", "context", "run", "seed", "value"]
    rows = [(1, "b", "old", "a", 0, "link=a env=0", 0, 7, 1.5), (2, "b", "old", "b", 0, "link=b env=0", 0, 7, 2.5)]
    (benchmark,) = read_bytes("a.csv", csv_bytes(rows, columns))
    assert benchmark.of("link") == ("a", "b") and benchmark.of("context") == ("link=a env=0", "link=b env=0")
    without = [row[:5] + row[6:] for row in rows]
    (benchmark,) = read_bytes("a.csv", csv_bytes(without, [name for name in columns if name != "context"]))
    assert benchmark.of("context") == ("env=0 link=a", "env=0 link=b")  # the combination of factors


@pytest.mark.parametrize("name", ["run", "version", "order_position"])
def test_a_factor_cannot_have_the_name_of_a_column(name):
    with pytest.raises(Refused, match=rf"'factor:{name}' is not a factor. Use the column name '{name}'"):
        one([("b", 1, 5, "x")], f"factor:{name}")
    with pytest.raises(Refused, match=r"'factor:' is not a column.*failure, factor:NAME"):
        one([("b", 1, 5, "x")], "x", columns={"factor:": "x"})


def test_an_iteration_that_appears_twice_is_named_with_the_conditions_of_its_run():
    rows = [("b", 1, 5, "x", 0), ("b", 1, 6, "y", 0), ("b", 1, 7, "y", 0)]
    with pytest.raises(Refused, match=r"'b', run 1 \(version y\): iteration 0 appears twice"):
        one(rows, "version", "iteration")


@pytest.mark.parametrize("dtype", [None, "category"])
def test_parquet_tables_say_the_same(dtype):
    table = pd.DataFrame({
        "benchmark": "b", "run": [1, 1, 2, 2], "value": [1.0, 2.0, 3.0, 4.0], "version": ["b", "a", "b", None],
        "factor:threads": [8, 8, 4, 4],
    }, index=range(4))  # fmt: skip
    table["version"] = table["version"].astype(dtype or object)
    (benchmark,) = read_bytes("a.parquet", parquet_bytes(table))
    assert benchmark.conditions == {
        "run": ("1", "2", "1", "2"), "version": ("b", "b", "a", ""), "threads": ("8", "4", "8", "4"),
    }  # fmt: skip
    assert plain(benchmark) == [[1.0], [3.0], [2.0], [4.0]]


def test_lists_in_a_condition_are_refused():
    table = {"benchmark": ["b"], "run": [1], "value": [1.0], "version": [["a"]]}
    with pytest.raises(Refused, match=r"column 'version' is nested"):
        read_bytes("a.parquet", parquet_bytes(table))
