import gzip

import pytest
from hypothesis import given, strategies as st

from labeler.errors import Refused
from labeler.files.formats import ReadOptions, Source, read_benchmarks
from tests.labeler.files.formats.examples import COLUMNS, csv_bytes, plain, read_bytes

VALUES = st.one_of(st.floats(-1e150, 1e150), st.integers(-(2**53), 2**53).map(float))
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1).filter(
    lambda name: name == name.strip()
)


def one(content, **options):
    (benchmark,) = read_bytes("a.csv", content, **options)
    return benchmark


@given(st.lists(st.tuples(st.integers(1, 4), VALUES), min_size=1), st.sampled_from(",;\t"))
def test_every_number_survives_in_its_run(rows, delimiter):
    content = csv_bytes([("b", run, repr(value)) for run, value in rows], delimiter=delimiter)
    expected = [[value for r, value in rows if r == run] for run in sorted({run for run, _ in rows})]
    assert plain(one(content)) == expected


@pytest.mark.parametrize(
    "content",
    [
        b"benchmark,run,value\nm#k=v,1,1.5\nm#k=v,1,2.5\nm#k=v,2,3.5\n",
        b"benchmark;run;value\nm#k=v;1;1.5\nm#k=v;1;2.5\nm#k=v;2;3.5\n",
        b"benchmark\trun\tvalue\nm#k=v\t1\t1.5\nm#k=v\t1\t2.5\nm#k=v\t2\t3.5\n",
        b"\xef\xbb\xbfbenchmark,run,value\nm#k=v,1,1.5\nm#k=v,1,2.5\nm#k=v,2,3.5\n",
        b"benchmark, run, value\nm#k=v, 1, 1.5\nm#k=v, 1, 2.5\nm#k=v, 2, 3.5\n",
        b"benchmark , run ,value \nm#k=v,1,1.5\nm#k=v,1,2.5\nm#k=v,2,3.5",
        b"benchmark,run,value\r\nm#k=v,1,1.5\r\nm#k=v,1,2.5\r\nm#k=v,2,3.5\r\n",
        b'"benchmark","run","value"\n"m#k=v","1","1.5"\n"m#k=v","1","2.5"\n"m#k=v","2","3.5"\n',
        b"value,,run,benchmark\n1.5,0,1,m#k=v\n2.5,1,1,m#k=v\n3.5,2,2,m#k=v\n",
        b"benchmark,run,iteration,value\nm#k=v,1,1,2.5\nm#k=v,2,0,3.5\nm#k=v,1,0,1.5\n",
        b"benchmark,run,value\nm#k=v,2,3.5\nm#k=v,1,1.5\nm#k=v,1,2.5\n",
        b"benchmark,run,value\nm#k=v,1,15e-1\n\nm#k=v,1,+2.50\nm#k=v,2,3.5E0\n\n",
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_tables_of_every_shape_give_the_same_benchmark(content, pack):
    benchmark = one(pack(content))
    assert (benchmark.name, benchmark.benchmark, benchmark.application) == ("m#k=v", "m#k=v", "")
    assert (benchmark.unit, benchmark.better) == ("", "")
    assert plain(benchmark) == [[1.5, 2.5], [3.5]]


GIVES = {  # the table, the columns that the person names, and (application, name, better, runs) of each benchmark
    "a column name may hold another separator": (
        b"benchmark;run;value;time, date\nb;1;1.5;x\n", {"ignore:date": "time, date"}, [("", "b", "", [[1.5]])]),
    "named runs come in order of name behind numbered ones": (
        csv_bytes([("b", "warm", 5), ("b", "10", 3), ("b", "2", 2), ("b", "cold", 4), ("b", "1", 1)]), {},
        [("", "b", "", [[1.0], [2.0], [3.0], [4.0], [5.0]])]),
    "benchmarks come in the order of their first rows": (
        csv_bytes([("z", 1, 1), ("a", 1, 2), ("z", 1, 3), ("m", 1, 4), ("a", 2, 5)]), {},
        [("", "z", "", [[1.0, 3.0]]), ("", "a", "", [[2.0], [5.0]]), ("", "m", "", [[4.0]])]),
    "better and application are columns and may differ by benchmark": (
        csv_bytes([("a", 1, 1, "higher", "o/p"), ("b", 1, 2, "lower", "o/q"), ("c", 1, 3, "", "")],
                  columns=(*COLUMNS, "better", "application")), {},
        [("o/p", "a", "higher", [[1.0]]), ("o/q", "b", "lower", [[2.0]]), ("", "c", "", [[3.0]])]),
    "benchmarks of one name in two applications stay apart": (
        csv_bytes([("b", 1, 1, "o/p"), ("b", 1, 2, "o/q")], columns=(*COLUMNS, "application")), {},
        [("o/p", "b", "", [[1.0]]), ("o/q", "b", "", [[2.0]])]),
    "mapped columns may change places": (
        b"benchmark,iteration,run,value\nb,1,0,5\nb,1,1,6\n", {"run": "iteration", "iteration": "run"},
        [("", "b", "", [[5.0, 6.0]])]),
}  # fmt: skip


@pytest.mark.parametrize(("content", "columns", "expected"), GIVES.values(), ids=GIVES)
def test_a_table_gives_its_benchmarks(content, columns, expected):
    found = read_bytes("a.csv", content, format="csv", columns=columns)
    assert [(one.application, one.name, one.better, plain(one)) for one in found] == expected


@given(st.permutations(range(12)))
def test_iterations_are_put_in_order_by_their_number(order):
    rows = [("b", 1, i, i * 0.5) for i in order]
    assert plain(one(csv_bytes(rows, columns=(*COLUMNS[:2], "iteration", "value")))) == [[i * 0.5 for i in range(12)]]


@pytest.mark.parametrize(
    ("unit", "stored", "values"),
    [
        ("ms", "s", [0.0015, 2.0]), ("us", "s", [1.5e-6, 0.002]),
        ("µs", "s", [1.5e-6, 0.002]), ("μs", "s", [1.5e-6, 0.002]),
        ("ns", "s", [1.5e-9, 2e-6]), ("s", "s", [1.5, 2000]), ("min", "s", [90, 120_000]), ("", "", [1.5, 2000]),
        (" ms ", "s", [0.0015, 2.0]), ("byte", "byte", [1.5, 2000]), ("ops/s", "ops/s", [1.5, 2000]),
    ],
)  # fmt: skip
def test_times_become_seconds_and_other_units_stay(unit, stored, values):
    content = csv_bytes([("b", 1, 1.5, unit), ("b", 1, 2000, unit)], columns=(*COLUMNS, "unit"))
    assert one(content).unit == stored
    assert plain(one(content))[0] == pytest.approx(values, rel=1e-15)


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_names_with_odd_characters_survive(names):
    rows = [(name, run, 1.5) for name in names for run in (1, 2)]
    assert [benchmark.name for benchmark in read_bytes("a.csv", csv_bytes(rows))] == names


@pytest.mark.parametrize(
    "name",
    ["o__p#m#a=1&b=2", 'say "hi"', "a,b;c\td", "NA", "nan", "None", "null", "1", "001", "1e5", "True", "=1+1",
     "two\nlines"],
)  # fmt: skip
def test_names_that_look_like_something_else_survive(name):
    assert one(csv_bytes([(name, 1, 1.5)])).name == name


def test_columns_are_mapped_by_the_person():
    content = b"name;fork;t [ms];nr;what;dir;app\nb;7;1.5;1;ms;higher;o/p\nb;7;2.5;0;ms;higher;o/p\n"
    columns = {
        "benchmark": "name", "run": "fork", "value": "t [ms]", "iteration": "nr", "unit": "what", "better": "dir",
        "application": "app",
    }  # fmt: skip
    benchmark = one(content, format="csv", columns=columns)
    assert (benchmark.name, benchmark.application, benchmark.better) == ("b", "o/p", "higher")
    assert plain(benchmark)[0] == pytest.approx([0.0025, 0.0015])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"bench": "benchmark"}, r".*'bench'.* benchmark, run, value, iteration"),
        ({"value": "seconds"}, r"column 'seconds' is missing; the table has benchmark, run, value, extra"),
        ({"value": "extra"}, r"two columns are called 'value'"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused(columns, message):
    with pytest.raises(Refused, match=r"^a\.csv: " + message):
        one(b"benchmark,run,value,extra\nb,1,2,3\n", format="csv", columns=columns)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"run,value\n1,2\n", r"column 'benchmark' is missing.* run, value.*--columns benchmark=NAME"),
        (b"benchmark,value\nb,2\n", r"column 'run' is missing"),
        (b"benchmark,run\nb,2\n", r"column 'value' is missing"),
        (b"benchmark|run|value\nb|1|2\n", r"column 'benchmark' is missing.* benchmark\|run\|value"),
        (b"benchmark,run,value\n", r"the file contains no benchmarks"),
        (b"benchmark,run,value\nb,1,2\nb,1,abc\n", r"line 3: 'abc' in column 'value'"),
        (b"benchmark,run,value\nb,1,\n", r"line 2: '' in column 'value'"),
        (b"benchmark,run,value\nb,1,NaN\n", r"line 2: 'NaN' in column 'value'"),
        (b"benchmark,run,value\nb,1,-inf\n", r"line 2: '-inf' in column 'value'"),
        (b"benchmark,run,value\nb,1,1e999\n", r"line 2: '1e999' in column 'value'"),
        (b"benchmark,run,value\nb,1,True\n", r"line 2: 'True' in column 'value'"),
        (b"benchmark,run,value\nb,1,[1]\n", r"line 2: '\[1\]' in column 'value'"),
        (b"benchmark;run;value\nb;1;1,5\n", r"line 2: '1,5' in column 'value'"),
        (b"benchmark,run,iteration,value\nb,1,first,2\n", r"line 2: 'first' in column 'iteration'"),
        (b"benchmark,run,iteration,value\nb,x,0,2\nb,x,0,3\n", r"benchmark 'b', run x: iteration 0 appears twice"),
        (b"benchmark,run,iteration,value\nb,1,1234567,2\nb,1,1234567,3\n", r".*run 1: iteration 1234567 appears twice"),
        (b"benchmark,run,value,value\nb,1,2,3\n", r"two columns are called 'value'"),
        (b"benchmark,run,value\nb,1,2.5,9\nb,2,3.5,9\n", r"."),  # one cell more in each row, which is not moved along
        (b"benchmark,run,value,application\nb,1,2.5,o/p\nb,1,3.5\nb,2,4.5,o/p\n", r".*line 3"),
        (b"benchmark,run,value\nb,1,2\n,1,2\n", r".*line 3"),
        (b"benchmark,run,value\nb,1,2\nb,,2\n", r".*line 3"),
        (b"benchmark,run,value,unit\nb,1,2,s\nb,1,3,ms\n", r"benchmark 'b'.* unit: ms, s"),
        (b"benchmark,run,value,better\nb,1,2,lower\nb,2,2,higher\n", r"benchmark 'b' has more than one better"),
        (b"benchmark,run,value,better\nb,1,2,more\n", r"benchmark 'b': better is 'more', not 'lower' or 'higher'"),
        (b"benchmark,run,value\n\xff,1,2\n", r"byte 20: the file is not UTF-8 text"),
        (b"\xff\xfe" + b"benchmark", r".*is not UTF-16"),
        (b"benchmark,run,value\nb,1,2\nb,2,3,4\n", r"line 3: the row has 4 cells"),
        (b'benchmark,run,value\n"b,1,2\n', r"line 2: this is not a table \(a quote is not closed\)"),
    ],
)  # fmt: skip
def test_anything_but_a_table_of_measurements_is_refused_with_file_place_and_value(content, message):
    with pytest.raises(Refused, match=r"(?s)^there/a\.csv: " + message):
        read_bytes("there/a.csv", content)


@pytest.mark.parametrize("before", ["\n", "\n\n\n", '"b\n2",1,1\n'])
def test_the_line_of_a_bad_value_is_its_line_in_the_file(before):
    content = f"benchmark,run,value\n{before}b,1,bad\n"
    line = content[: content.index("b,1,bad")].count("\n") + 1
    with pytest.raises(Refused, match=rf"line {line}: 'bad' in column 'value'"):
        one(content.encode())


def test_a_row_with_a_reason_and_no_value_is_a_run_that_failed():
    rows = [
        ("b", 0, 1.0, "old", ""),
        ("b", 1, "", "old", "exit status 3"),
        ("c", 0, "", "new", "did not end within 5 s"),
        ("b", 2, 2.0, "old", ""),
    ]
    b, c = read_bytes("a.csv", csv_bytes(rows, (*COLUMNS, "version", "failure")))
    assert plain(b) == [[1.0], [2.0]]
    assert [(dict(one.conditions), one.reason) for one in b.failures] == [
        ({"run": "1", "version": "old"}, "exit status 3")
    ]
    assert (c.name, c.runs, [one.reason for one in c.failures]) == ("c", (), ["did not end within 5 s"])


def test_a_benchmark_whose_runs_all_failed_is_left_out_by_name(tmp_path):
    rows = [("b", 0, 1.0, ""), ("c", 0, "", "exit status 3"), ("c", 1, "", "exit status 3")]
    file = Source("a.csv", data=csv_bytes(rows, (*COLUMNS, "failure")))
    (part,) = read_benchmarks([file])
    assert [benchmark.name for benchmark in part.benchmarks] == ["b"]
    assert part.left_out() == [("c", "all 2 runs failed (exit status 3)")]
    (only_failures,) = read_benchmarks([Source("b.csv", data=csv_bytes(rows[1:], (*COLUMNS, "failure")))])
    assert only_failures.refused == "no benchmark of the file has a measurement; 'c': exit status 3"
    (joined,) = read_benchmarks(
        [Source("b.csv", data=csv_bytes(rows[1:], (*COLUMNS, "failure")))], ReadOptions(file_is="run")
    )
    assert (joined.benchmarks, joined.left_out()) == ((), [("c", "all 2 runs failed (exit status 3)")])


def test_a_failure_has_no_value_and_the_line_of_a_bad_value_is_that_of_the_file():
    with pytest.raises(Refused, match=r"line 2.*value.*'failure'"):
        one(csv_bytes([("b", 0, 1.0, "exit status 3")], (*COLUMNS, "failure")))
    with pytest.raises(Refused, match="line 3: 'x'"):
        one(csv_bytes([("b", 0, "", "exit status 3"), ("b", 1, "x", "")], (*COLUMNS, "failure")))


def test_what_was_recorded_of_a_run_is_kept_and_is_no_context():
    columns = (*COLUMNS, "factor:env", "recorded:load before", "recorded:duration")
    run = one(csv_bytes([("b", 0, 1.0, 64, 0.5, 2.25), ("b", 1, 1.0, 64, 0.7, 2.5)], columns)).runs[0]
    assert run.conditions == {"run": "0", "env": "64", "recorded:load before": "0.5", "duration": "2.25"}
    assert run.of("context") == "env=64"
    with pytest.raises(Refused, match="the meaning of column 'recorded:' is unknown"):
        one(csv_bytes([("b", 0, 1.0, 64)], (*COLUMNS, "recorded:")))


@pytest.mark.parametrize(
    ("options", "unit", "better"),
    [
        ({}, "", ""),
        ({"unit": "ms"}, "s", "lower"),
        ({"unit": "ops/s"}, "ops/s", "higher"),
        ({"unit": "ops/s", "better": ("lower",)}, "ops/s", "lower"),
        ({"unit": "errors/s"}, "errors/s", "lower"),
        ({"unit": "errors/s", "better": ("errors/s=higher",)}, "errors/s", "higher"),
        ({"unit": "s", "better": ("b=higher", "c=lower")}, "s", "higher"),
        ({"unit": "widgets/s"}, "widgets/s", ""),
        ({"unit": "widgets"}, "widgets", ""),
        ({"better": ("higher",)}, "", "higher"),
    ],
)
def test_unit_and_direction_are_as_the_person_says_or_as_the_unit_does(options, unit, better):
    benchmark = one(csv_bytes([("b", 0, 1.0)]), **options)
    assert (benchmark.unit, benchmark.better) == (unit, better)
