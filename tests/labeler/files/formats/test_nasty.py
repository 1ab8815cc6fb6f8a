"""Content that no tool would write: every reader refuses it with a clear message, never with a guess."""

import gzip
import re

import pytest

from labeler.errors import Refused
from labeler.files.formats import FORMATS
from tests.labeler.files.formats.examples import plain, read_bytes, read_or_refusal

TABLE = b"benchmark,run,value\nb,1,1.5\nb,2,2.5\n"
DIGITS = b"9" * 5000
NASTY = {
    "nothing": b"",
    "blanks": b" \n\t\n",
    "binary": bytes(range(256)) * 20,
    "NaN in JSON": b"[[1.0, NaN], [2.0, 3.0]]",
    "infinity in JSON": b"[[1.0, -Infinity], [2.0, 3.0]]",
    "NaN in a table": b"benchmark,run,value\nb,1,NaN\nb,2,1\n",
    "a number beyond all": b"[[1e999], [1.0]]",
    "5000 digits in JSON": b"[[" + DIGITS + b"], [1.0]]",
    "5000 digits in a table": b"benchmark,run,value\nb,1," + DIGITS + b"\nb,2,1\n",
    "5000 digits of a run": b"benchmark,run,value\nb," + DIGITS + b",nonsense\n",
    "deep lists": b"[" * 50_000,
    "deep lists that end": b"[[" + b"[" * 50_000 + b"]" * 50_000 + b"]]",
    "deep objects": b'{"benchmarks":' * 20_000,
    "a long word": b"a.rb:1:in " + b"(" * 100_000,  # these two take minutes where a pattern takes quadratic time
    "tabs": b"\t" * 100_000,
    "a bomb": gzip.compress(b"[") + 80 * gzip.compress(b"0," * 1_000_000),
    "compressed twice": gzip.compress(gzip.compress(TABLE)),
    "half a gzip file": gzip.compress(TABLE)[:-9],
    "half of UTF-16": TABLE.decode().encode("utf-16")[:-1],
    "names that stand there twice": b"benchmark,run,value,value\nb,1,1,2\n",
    "a garbled line": b"benchmark,run,value\nb,1,1.5\n\x00\x01,,\nb,2,2.5\n",
    "a column nobody knows": b"benchmark,run,value,link order\nb,1,1.5,x\n",
}
OF_A_PROGRAM = re.compile(
    r"Traceback|[A-Z][a-z]+Error\b|Exception|NoneType|<class|object at 0x|sys\.|recursion|codec|'utf-8'|int_max|errno"
)


@pytest.mark.parametrize("name", NASTY)
@pytest.mark.parametrize("file", ["a.json", "a.csv", "a.txt"])
def test_nasty_content_is_refused_in_a_sentence(name, file):
    outcome = read_or_refusal(file, NASTY[name])
    assert isinstance(outcome, Refused), outcome
    assert outcome.reason.strip() and not OF_A_PROGRAM.search(outcome.reason), outcome.reason
    assert len(outcome.reason) < 1500 and "9" * 100 not in outcome.reason


@pytest.mark.parametrize("format_name", FORMATS)
def test_a_reader_that_is_named_refuses_it_too(format_name):
    for name in NASTY.keys() - {"a bomb"}:
        outcome = read_or_refusal("a.json", NASTY[name], format=format_name)
        assert isinstance(outcome, Refused), (name, outcome)
        assert outcome.reason.strip() and not OF_A_PROGRAM.search(outcome.reason), (name, outcome.reason)


@pytest.mark.parametrize(
    "content",
    [
        TABLE.decode().encode("utf-16"),
        b"\xfe\xff" + TABLE.decode().encode("utf-16-be"),
        gzip.compress(TABLE.decode().encode("utf-16")),
    ],
    ids=["UTF-16", "UTF-16 the other way round", "UTF-16 compressed"],
)
def test_encodings_change_nothing(content):
    (benchmark,) = read_bytes("a.csv", content)
    assert plain(benchmark) == [[1.5], [2.5]]


def test_numbers_that_cannot_be_computed_with_are_refused_in_a_sentence():
    assert plain(read_bytes("a.json", b"[[1e149, 1.0], [2.0, 1e149]]")[0]) == [[1e149, 1.0], [2.0, 1e149]]
    with pytest.raises(Refused, match=r"0, iteration 1: 1e\+308"):
        read_bytes("a.json", b"[[1.0, 1e308], [1.5e308, 1e308]]")
