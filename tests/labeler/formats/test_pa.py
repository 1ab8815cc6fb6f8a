import csv
from pathlib import Path

import pytest

from labeler.formats import FORMATS
from labeler.formats.tool_tables import PA_COLUMNS
from tests.labeler.formats.examples import csv_bytes, plain
from tests.labeler.formats.mutations import HOSTILE, read_with, readers, refusal

pa = FORMATS["pa"]
FILES = Path(__file__).parent / "files"  # in the layout that pa describes


def row(value=200, count=1, iteration=1, fork=1, trial=1, **more):
    told = {
        "project": "p", "commit": "1.0", "benchmark": "org.Sort.sort", "params": "n=10,order=up", "instance": "host",
        "trial": trial, "fork": fork, "iteration": iteration, "mode": "avgt", "unit": "ns/op", "value_count": count,
        "value": value,
    } | more  # fmt: skip
    return tuple(told.values())


def written(rows, columns=PA_COLUMNS):
    return csv_bytes(rows, columns, ";")


read, refused = readers(pa, "pa.csv", lambda *rows, columns=PA_COLUMNS: written(rows, columns))


@pytest.mark.parametrize("has_header", [True, False])
def test_each_fork_is_a_run_and_an_iteration_the_mean_of_its_histogram(has_header):
    content = (FILES / "pa.csv").read_bytes()
    there = {}
    for cells in csv.DictReader(content.decode().splitlines(), delimiter=";"):
        fork = there.setdefault(cells["benchmark"], {}).setdefault(int(cells["fork"]), {})
        fork.setdefault(int(cells["iteration"]), []).extend([float(cells["value"])] * int(cells["value_count"]))
    join, sort = read_with(pa, "pa.csv", content if has_header else content.partition(b"\n")[2])
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
    (one,) = read(*(row(trial * 100 + fork, trial=trial, fork=fork, unit="ops/s") for trial, fork in places))
    assert plain(one) == [[102.0], [110.0], [201.0]]
    assert (one.conditions["run"], one.conditions["trial"]) == (("2", "10", "1"), ("1", "1", "2"))
    (one,) = read(row(), row(commit="2.0"), row(instance="other"))
    assert len(one.values) == 3


def test_iterations_come_by_number_in_whatever_order_they_stand():
    (one,) = read(*(row(float(at), iteration=at, unit="s/op") for at in (10, 2, 1)))
    assert plain(one) == [[1.0, 2.0, 10.0]]


def test_values_that_were_written_once_for_each_invocation_are_averaged_too():
    (one,) = read(row(1.0, unit="s/op"), row(2.0, 2, unit="s/op"), row(2.0, unit="s/op"))
    assert plain(one) == [[1.75]]


@pytest.mark.parametrize(
    ("unit", "mode", "stored", "better", "factor"),
    [
        ("ms/op", "avgt", "s", "lower", 1e-3), ("us", "avgt", "s", "lower", 1e-6),
        ("ops/us", "thrpt", "ops/us", "higher", 1),
        ("op/s", "x", "op/s", "higher", 1), ("B/op", "x", "B/op", "lower", 1), ("", "", "", "lower", 1),
        ("MB", "thrpt", "MB", "higher", 1),
    ],
)  # fmt: skip
def test_times_become_seconds_and_rates_keep_their_unit(unit, mode, stored, better, factor):
    (one,) = read(row(8.0, unit=unit, mode=mode))
    assert (one.unit, one.better, plain(one)) == (stored, better, [[8.0 * factor]])


@pytest.mark.parametrize(
    ("text", "parameters"),
    [("", {}), ("n=1", {"n": "1"}), ("a=1,2,b=x=y", {"a": "1,2", "b": "x=y"}), ("alone", {})],
)
def test_parameter_values_may_hold_commas_and_signs_of_equality(text, parameters):
    (one,) = read(row(params=text))
    assert one.parameters == parameters


def test_modes_tell_benchmarks_apart():
    assert [one.name.rpartition(" ")[2] for one in read(row(), row(mode="ss"))] == ["[avgt]", "[ss]"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row("x")], "line 2: 'x' in"),
        ([row(), row("", iteration=2)], "line 3: ''"),
        ([row("nan")], "line 2: 'nan'"),
        ([row("2,1e+07")], "line 2: '2,1e+07'"),
        ([row(count=0)], "line 2: '0' in column 'value_count' is not above 0"),
        ([row(), row(count=-2)], "line 3: '-2' in column 'value_count' is not above 0"),
        ([row(count="many")], "line 2: 'many'"),
        ([row(), row(), row(iteration="x")], "line 4: 'x' in column 'iteration' is not a finite number"),
        ([row(fork="")], "line 2: the cell in column 'run' is empty"),
        ([row(benchmark=" ")], "cell in column 'benchmark'"),
        ([row(), row(iteration=2, unit="ops/s", mode="avgt")], "ops/s, s"),
        ([row(), row(iteration="01")], "iteration 1 appears twice"),
        ([row()[:-1]], "line 2: the row has 11 cells, but the header has 12"),
        ([], "the file contains no benchmarks"),
    ],
)
def test_invalid_content_is_refused_with_line_and_value(rows, message):
    assert message in refused(*rows)


def test_lines_are_counted_without_a_header_too():
    content = csv_bytes([row(), row("x", iteration=2)], None, ";")
    assert pa.detect("a", content)
    assert "line 2: 'x' in" in refusal(pa, "a.csv", content)


def test_a_column_that_is_missing_is_named():
    columns = [name if name != "commit" else "x" for name in PA_COLUMNS]
    assert refused(row(), columns=columns).startswith("column 'commit' is missing; the table has project, x, ")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_kept_as_it_is(name):
    (one,) = read(row(benchmark=name, params="", mode="", project=name, instance=name))
    assert (one.name, one.application, one.conditions["context"]) == (name, name, (name.strip(),))
