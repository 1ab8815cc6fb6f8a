import pytest
from hypothesis import given, settings, strategies as st

from labeler.errors import Refused
from tests.conftest import examples
from tests.labeler.formats.examples import plain, read_bytes, read_or_refusal

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


def with_memory(rows):
    return "".join(f"{line};16;2\n" for line in rows.splitlines())


@pytest.mark.parametrize("start", ["", JAVA, "\ufeff", "\ufeff" + JAVA, "\n\n", "\ufeff\n"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_java_results_are_read_with_and_without_their_header_line(start, name):
    read, write = read_bytes(name, (start + JAVA_ROWS).encode())
    assert (read.name, read.benchmark, read.unit, read.better) == ("org.B.read", "org.B.read", "", "")
    assert plain(read) == [[1.5, 1.25], [1.75], [2.5], [2.25]]
    altered = "src/A.java.f([Operator<? extends R, ? super T>])"
    assert read.conditions == {"run": ("0", "1", "0", "1"), "altered": ("Baseline", "Baseline", altered, altered)}
    assert (write.name, plain(write)) == ("org.B.write", [[7.0]])


@pytest.mark.parametrize(
    "rows", [GO_ROWS, GO + GO_ROWS, with_memory(GO_ROWS), GO.strip() + ";B;allocs\n" + with_memory(GO_ROWS)]
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
        ("x;Baseline;b;1", r"'x' is not a run. Expected one whole number, or three, such as 0-0-0"),
        ("0-1;Baseline;b;1", r"'0-1' is not a run"),
        (";Baseline;b;1", r"'' is not a run"),
        ("0;Baseline;b;fast", r"'fast' in column 'value'"),
        ("0;Baseline;b;", r"'' in column 'value'"),
        ("0;Baseline;b;1e999", r"'1e999' in column 'value'"),
        ("0;Baseline;;1", r"the cell in column 'benchmark' is empty"),
    ],
)
def test_a_cell_that_cannot_be_used_is_refused_with_its_line_in_the_file(start, row, message):
    content = f"{start}{JAVA_ROWS}{row}\n"
    line = content.count("\n")
    with pytest.raises(Refused, match=rf"^a\.csv: line {line}: {message}"):
        read_bytes("a.csv", content.encode())


@pytest.mark.parametrize("row", ["0;Baseline;b", "0;Baseline;b;1;2"])
def test_a_row_with_more_or_fewer_cells_is_refused(row):
    with pytest.raises(Refused, match=r"^a\.csv: .*line 9|^a\.csv: line 9"):
        read_bytes("a.csv", f"{JAVA}{JAVA_ROWS}\n{row}\n".encode())


def test_a_table_of_three_columns_is_refused():
    with pytest.raises(Refused, match="3 columns"):
        read_bytes("a.csv", b"Run;Method altered;Result\n0;Baseline;1\n", format="abs")


def test_a_long_table_with_semicolons_is_still_a_long_table():
    (benchmark,) = read_bytes("a.csv", b"benchmark;run;value;altered\nb;0;1;x\nb;1;2;x\n")
    assert benchmark.conditions == {"run": ("0", "1"), "altered": ("x", "x")}


@given(st.data())
@settings(max_examples=examples(150), deadline=None)
def test_a_table_with_another_cell_somewhere_is_read_or_refused_and_nothing_else(data):
    start, rows = data.draw(st.sampled_from([("", JAVA_ROWS), (JAVA, JAVA_ROWS), ("", GO_ROWS), (GO, GO_ROWS)]))
    cells = [line.split(";") for line in rows.splitlines()]
    for _ in range(data.draw(st.integers(1, 3))):
        row = data.draw(st.sampled_from(cells))
        at = data.draw(st.integers(0, len(row) - 1))
        row[at] = data.draw(st.sampled_from(["", "x", "1;2", "NaN", "1e999", '"', "\n", "0-0-0", "é", "\0"]))
    content = start + "".join(";".join(row) + "\n" for row in cells)
    outcome = read_or_refusal("a.csv", content.encode())
    assert str(outcome).startswith("a.csv: ") if isinstance(outcome, Refused) else outcome
