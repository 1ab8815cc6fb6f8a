import csv
import gzip
import io
import re

import pandas as pd
import pytest
from hypothesis import example, given, strategies as st

from labeler.errors import Refused
from labeler.files.formats import Source
from labeler.files.formats.tables import as_written, inert, read_table, read_verdicts, write
from labeler.studies.questions import SIMILAR

FORMULAS = ["=1+1", "=HYPERLINK(A1)", "+1", "-1", "@SUM(A1)", "\tcell", "-", "=", "- x, y"]
AWKWARD = [
    "a,b", 'say "hi"', "two\nlines", "\r\n", '"', ",", "NA", "nan", "None", "", "001", "1e5", "é µ 日本", "'", "it's",
]  # fmt: skip
CELLS = st.one_of(st.sampled_from([*FORMULAS, *AWKWARD]), st.text(st.characters(codec="utf-8")))


def labels_of(content):
    return read_table(Source("there/l.csv", data=content), ("item", "reviewer", "label"))


def verdicts_of(content, classifier=None):
    return read_verdicts(Source("there/v.csv", data=content), SIMILAR.names, classifier)


def label_table(*rows, columns=("item", "reviewer", "label")):
    return pd.DataFrame(rows, columns=columns)


def round_trip(*rows, columns=("item", "reviewer", "label")):
    back = labels_of(write(label_table(*rows, columns=columns)).encode())
    assert tuple(back.columns) == columns
    return [tuple(row) for row in back.to_numpy().tolist()]


@given(st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), max_size=6))
def test_what_is_written_can_be_read_back_as_it_was(rows):
    assert round_trip(*rows, columns=("item", "reviewer", "label", "comment")) == rows


@given(CELLS.filter(lambda cell: cell != ""))
def test_a_table_of_one_cell_a_row_is_read_back_by_another_reader_but_for_the_apostrophe(cell):
    rows = list(csv.reader(io.StringIO(write(pd.DataFrame({"a": [cell]})), newline="")))
    assert rows == [["a"], [inert(cell)]]
    assert as_written(inert(cell)) == cell


@pytest.mark.parametrize("cell", ["x;=1+1", "x\t@SUM(A1)", "x| +1", "x\n=1", "＝1+1", "x,＠a", " =1"])
def test_a_formula_behind_what_another_country_takes_for_a_separator_is_inert_too(cell):
    sign = next(letter for letter in cell if letter in "=+-@＝＋－＠")
    assert inert(cell) == cell.replace(sign, f"'{sign}", 1)


@given(st.sampled_from(["'", "''", "'''"]), st.sampled_from([*FORMULAS, "x", "", "'"]))
@example("'", "=1+1")
def test_cells_that_begin_with_an_apostrophe_are_read_back_as_they_were(apostrophes, rest):
    assert round_trip((apostrophes + rest, "ada", "similar")) == [(apostrophes + rest, "ada", "similar")]


@pytest.mark.parametrize("cell", [" x", "  ", " =1", "x "])
def test_spaces_at_the_ends_of_a_cell_are_kept(cell):
    assert round_trip(("a", "ada", "similar", cell), columns=("item", "reviewer", "label", "comment"))[0][3] == cell


@pytest.mark.parametrize("cell", ["a\rb", "\r=1", "\r"])
def test_a_carriage_return_in_a_cell_breaks_no_row(cell):
    assert round_trip((cell, "ada", "similar"), ("b", "ada", "similar"))[0][0] == cell


@pytest.mark.parametrize("cell", FORMULAS)
def test_no_cell_runs_as_a_formula_in_a_spreadsheet(cell):
    (_, row) = csv.reader(io.StringIO(write(pd.DataFrame({"a": [cell], "b": ["x"]}))))
    assert row == [f"'{cell}", "x"]


def test_numbers_are_written_as_numbers_and_missing_ones_as_empty_cells():
    table = pd.DataFrame({"a": [-1.5, None], "b": [-2, 3], "c": ["x", None], "d": [0.1 + 0.2, 1e-300]})
    rows = list(csv.reader(io.StringIO(write(table))))
    assert rows == [["a", "b", "c", "d"], ["-1.5", "-2", "x", "0.30000000000000004"], ["", "3", "", "1e-300"]]


def test_a_table_without_rows_keeps_its_columns():
    assert round_trip() == []
    assert labels_of(b"item,reviewer,label\n").shape == (0, 3)


@pytest.mark.parametrize(
    "content",
    [
        b"item,reviewer,label,part\no__p#m#k=v,ada,similar,1\n",
        b"\xef\xbb\xbfitem, reviewer, label, part\no__p#m#k=v, ada, similar, 1\n",
        b'"item","reviewer","label","part"\r\n"o__p#m#k=v","ada","similar","1"\r\n',
        gzip.compress(b"item , reviewer,label,part\n\no__p#m#k=v,ada,similar,1", mtime=0),
    ],
)
def test_label_tables_of_every_shape_are_read_as_text(content):
    table = labels_of(content)
    assert table.columns.tolist() == ["item", "reviewer", "label", "part"]
    assert table.to_numpy().tolist() == [["o__p#m#k=v", "ada", "similar", "1"]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"this is not a table: it has no columns"),
        (b"\n\n", r"this is not a table: it has no columns"),
        (b"item,label\na,similar\n", r"column 'reviewer' is missing.* item, label$"),
        (b"item;reviewer;label\na;ada;similar\n", r"column 'item' is missing.* item;reviewer;label$"),
        (b"Item,reviewer,label\na,ada,similar\n", r"column 'item' is missing"),
        (b"item,reviewer,label\n\xe9,ada,similar\n", r"byte 20: the file is not UTF-8 text. Save it as UTF-8$"),
        (b"item,reviewer,label\na,ada,similar\nb,ada,similar,x\n", r"line 3: the row has 4 cells"),
        (b"item,reviewer,label\na,ada,ben,similar\nb,ada,ben,similar\n", r"."),  # not moved along
        (b'item,reviewer,label\n"a,ada,similar\n', r"line 2: this is not a table \(a quote is not closed\)"),
        (gzip.compress(b"item,reviewer,label\n", mtime=0)[:-3], r"the gzip file is damaged"),
    ],
)
def test_anything_but_a_label_table_is_refused_with_file_and_place(content, message):
    with pytest.raises(Refused, match=r"^there/l\.csv: " + message):
        labels_of(content)


def test_a_label_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(Refused, match=r"l\.csv: No such file or directory$"):
        read_table(Source("l.csv", path=tmp_path / "l.csv"), ())


def test_verdicts_with_all_their_columns():
    content = b"score,verdict,item,classifier,threshold,who\n0.25,similar,a,same,0.2,x\n-1e-3,dissimilar,b,mine,,y\n"
    table = verdicts_of(content)
    assert table.columns.tolist() == ["item", "classifier", "verdict", "score", "threshold"]
    assert table.to_numpy().tolist() == [
        ["a", "same", "similar", 0.25, 0.2], ["b", "mine", "dissimilar", -0.001, None],
    ]  # fmt: skip


def test_verdicts_as_published_keep_measures_parameters_and_application():
    content = b"""item,classifier,verdict,application,parameters,version,m1,m3
a,mine,similar,org/app,"{""theta"": 0.25}",2,0.5,
b,mine,,org/app,{},2,,
"""
    table = verdicts_of(content)
    assert table["means"].tolist() == [{"m1": 0.5}, {}]
    assert table[["application", "parameters", "version"]].to_numpy().tolist() == [
        ["org/app", '{"theta": 0.25}', 2], ["org/app", "{}", 2],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("{},1,x", "m1 'x' is not a number"),
        ("[],1,", "parameters '[]' is not a JSON object"),
        ("{},1.5,", "version '1.5' is not a whole number"),
        ("{},,", "version '' is not a whole number"),
    ],
)
def test_a_wrong_value_beside_a_verdict_is_named(row, fault):
    with pytest.raises(Refused, match=re.escape(f"line 2: {fault}")):
        verdicts_of(f"item,classifier,verdict,parameters,version,m1\na,mine,similar,{row}\n".encode())


def test_the_classifier_may_be_named_by_the_person_where_the_file_does_not():
    content = b"item,verdict\na,similar\nb,dissimilar\n"
    assert verdicts_of(content, "mine")["classifier"].tolist() == ["mine", "mine"]
    with pytest.raises(Refused, match=r"^there/v\.csv: column 'classifier' is missing; the table has item, verdict$"):
        verdicts_of(content)
    assert verdicts_of(b"item,verdict,classifier\na,similar,same\n", "mine")["classifier"].tolist() == ["same"]


def test_an_empty_verdict_and_an_empty_score_are_missing():
    table = verdicts_of(b"item,classifier,verdict,score\na,c,similar,1.5\nb,c,,\n")
    assert table["verdict"].tolist() == ["similar", None]
    assert table["score"].tolist() == [1.5, None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"item,verdict\na,similar\nb,maybe\n", r"line 3: verdict 'maybe'"),
        (b"item,verdict\na,Similar\n", r"line 2: verdict 'Similar' is not"),
        (b"item,verdict,score\na,similar,1\nb,similar,high\n", r"line 3: score 'high' is not a number$"),
        *(
            (f"item,verdict,score\na,similar,{score}\n".encode(), f"line 2: score '{score}' is not a")
            for score in ("nan", "inf", "-Infinity")
        ),
        (b'item,verdict,score\na,similar,"1,5"\n', r"line 2: score '1,5' is not a number$"),
        (b"item\na\n", r"column 'verdict' is missing.* item$"),
        (b"verdict\nsimilar\n", r"column 'item' is missing"),
        (b"", r"this is not a table: "),
        (b"item,verdict\n\xff,similar\n", r"byte 13: the file is not UTF-8 text. Save it as UTF-8$"),
    ],
)
def test_anything_but_a_verdict_table_is_refused_with_file_place_and_value(content, message):
    with pytest.raises(Refused, match=r"^there/v\.csv: " + message):
        verdicts_of(content, "mine")


@pytest.mark.parametrize("before", ["\n", '"two\nlines",similar\n'])
def test_the_line_of_a_bad_verdict_is_its_line_in_the_file(before):
    content = f"item,verdict\n{before}b,maybe\n"
    line = content[: content.index("b,maybe")].count("\n") + 1
    with pytest.raises(Refused, match=rf"line {line}: verdict 'maybe'"):
        verdicts_of(content.encode(), "mine")
