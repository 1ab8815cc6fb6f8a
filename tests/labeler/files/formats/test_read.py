import gzip
import json
import re

import pytest
from hypothesis import given, settings, strategies as st

from labeler.errors import InputError, Refused
from labeler.files.formats import FORMATS, Source, read
from tests.conftest import examples
from tests.labeler.files.formats.examples import (
    COLUMNS,
    ORDERSAGE,
    csv_bytes,
    jmh_entry,
    json_bytes,
    ordersage_rows,
    parquet_bytes,
    plain,
    pyperf_file,
    pyperf_runs,
    read_bytes,
    read_or_refusal,
)

RUNS = [[0.25, 0.5, 0.125], [1.5, 2.5, 3.5]]
ROWS = [("b#m#k=v", run, value) for run, values in enumerate(RUNS) for value in values]
FILES = {
    "icpe": json_bytes(RUNS),
    "csv": csv_bytes(ROWS),
    "parquet": parquet_bytes([dict(zip(COLUMNS, row, strict=True)) for row in ROWS]),
    "jmh": json.dumps([jmh_entry(RUNS)]).encode(),
    "pyperf": pyperf_file(({"name": "b"}, pyperf_runs(*RUNS))),
    "ordersage": csv_bytes(
        ordersage_rows([(run, "b", 0, "fixed", values[0]) for run, values in enumerate(RUNS)]), columns=ORDERSAGE
    ),
    "abs": csv_bytes([(run, "Baseline", name, value) for name, run, value in ROWS], columns=[], delimiter=";"),
}
EXPECTED = dict.fromkeys(FILES, RUNS) | {"ordersage": [values[:1] for values in RUNS]}
NAMES = ["a.json", "a.parquet", "a.csv", "a.txt", "a", "a.json.csv"]


@pytest.mark.parametrize("format_name", FILES)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_the_format_is_found_from_the_content_under_any_name(format_name, pack):
    for name in NAMES:
        (benchmark,) = read_bytes(name, pack(FILES[format_name]))
        assert plain(benchmark) == EXPECTED[format_name], name
        assert read_bytes(name, pack(FILES[format_name]), format=format_name)[0].name == benchmark.name


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_a_table_with_our_columns_is_found_whatever_its_name_separator_and_byte_order_mark(name, delimiter, mark):
    (benchmark,) = read_bytes(name, mark + csv_bytes(ROWS, delimiter=delimiter))
    assert plain(benchmark) == RUNS


def test_content_that_the_caller_has_already_is_not_read_again():
    source = Source("gone.json")
    assert plain(read(source, content=FILES["icpe"])[0]) == RUNS


@pytest.mark.parametrize("name", ["a.json", "a.csv", "a.parquet", "a.json.gz"])
@pytest.mark.parametrize(
    "content", [b"", b" ", b"\n\t\r\n", gzip.compress(b"", mtime=0), gzip.compress(b"\n", mtime=0)]
)
def test_an_empty_file_is_refused(name, content):
    with pytest.raises(Refused, match=rf"^{re.escape(name)}: the file is empty$"):
        read_bytes(name, content)


@pytest.mark.parametrize("name", ["a.json", "a.parquet", "a.txt", "a"])
@pytest.mark.parametrize(
    "content",
    [
        b"hello", b'{"benchmarks": []}', b'[{"primaryMetric": {}}]', b"name,value\n", b"\x00\xff\x00", b"[1, 2]",
        b"42, 43 and", b"<html></html>",
    ],
)  # fmt: skip
def test_a_file_of_no_known_format_is_refused_under_any_name(name, content):
    with pytest.raises(
        Refused, match=r"not a result file of a known format: the content is .*: labeler formats\."
    ) as refused:
        read_bytes(f"folder/{name}", content)
    assert str(refused.value).startswith(f"folder/{name}: ")


def test_a_format_that_does_not_exist_is_refused_by_name():
    with pytest.raises(
        InputError,
        match=r"no format 'jmh5'\. The formats are criterion, icpe, jmh, pyperf, .*, abs, go, csv, numbers\.$",
    ) as error:
        read_bytes("a.json", FILES["icpe"], format="jmh5")
    assert not isinstance(error.value, Refused)


@pytest.mark.parametrize("content", [b"", b"hello", b"PAR1", b'{"a": 1}', b"\xff\xfe"])
def test_content_of_another_format_than_the_named_one_is_refused(content):
    for format_name in FORMATS:
        outcome = read_or_refusal("a.json", content, format=format_name)
        assert isinstance(outcome, Refused) and re.match(r"a\.json: .", str(outcome)), (format_name, outcome)


def test_a_refusal_says_file_place_and_reason():
    assert str(Refused("a.csv", "not a number", "line 3")) == "a.csv: line 3: not a number"
    assert str(Refused("a.csv", "not a table")) == "a.csv: not a table"


@given(st.binary(max_size=200), st.sampled_from(NAMES), st.sampled_from([None, *FORMATS]))
@settings(max_examples=examples(300), deadline=None)
def test_arbitrary_bytes_are_read_or_refused_and_nothing_else(content, name, format_name):
    outcome = read_or_refusal(name, content, format=format_name)
    assert outcome if isinstance(outcome, list) else str(outcome).startswith(f"{name}: ")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"hello", "text that begins with 'hello'"),
        (b"\x00\xffbinary\x9c", "binary data"),
        (b'{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}', "the keys 'a', 'b', 'c', 'd', 'e' and 1 more"),
        (b'[{"name": "x"}, {"name": "y"}]', "JSON, a list of 2 objects with the keys 'name'"),
        (b"[1, 2, 3]", "JSON, a list of 3 entries"),
        (b'{"cut": [1, 2', "not valid: line 1"),
        (b"when;what\n", "text that begins with 'when;what'"),
        (b"when,what\n1,2\n", "'when', 'what'"),
        (b"<html><body>", "an HTML page"),
        (b"x" * 100, "x" * 60 + "…"),
    ],
)
def test_a_file_of_no_known_format_is_refused_with_what_it_holds(content, words):
    with pytest.raises(Refused) as refused:
        read_bytes("notes.txt", content)
    assert words in str(refused.value)
