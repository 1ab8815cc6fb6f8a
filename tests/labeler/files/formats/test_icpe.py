import gzip
import json
import math
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given, strategies as st

from labeler.errors import Refused
from labeler.files.formats import read, sources
from tests.labeler.files.formats.examples import json_bytes, plain, read_bytes, read_or_refusal

NUMBERS = st.one_of(st.floats(-1e150, 1e150), st.integers(-(2**53), 2**53))
RUNS = st.lists(st.lists(NUMBERS, min_size=1, max_size=8), min_size=1, max_size=5)


def test_the_name_carries_application_method_and_parameters():
    name = "apache__arrow#org.apache.Float8.copy#size=10&mode=a.json"
    (benchmark,) = read_bytes(f"some/folder/{name}.gz", gzip.compress(b"[[1.5, 2], [3]]"))
    assert benchmark.name == name.removesuffix(".json")
    assert benchmark.benchmark == "org.apache.Float8.copy#size=10&mode=a"
    assert benchmark.application == "apache/arrow"
    assert benchmark.parameters == {"size": "10", "mode": "a"}
    assert (benchmark.unit, benchmark.better) == ("s", "lower")
    assert plain(benchmark) == [[1.5, 2.0], [3.0]]


@pytest.mark.parametrize(
    ("file_name", "application", "method", "parameters"),
    [
        ("o__p#m#.json", "o/p", "m", {}),
        ("o__p#m.json", "o/p", "m", {}),
        ("o__p#m#a=b=c&d=.json", "o/p", "m#a=b=c&d=", {"a": "b=c", "d": ""}),
        ("o__p__q#m#a=1#2&b=3.json", "o/p__q", "m#a=1#2&b=3", {"a": "1#2", "b": "3"}),
        ("o__p#m#flag&k=v.json", "o/p", "m#flag&k=v", {"k": "v"}),
        ("Ünï cödé__p#méthod µ#k=日本.json", "Ünï cödé/p", "méthod µ#k=日本", {"k": "日本"}),
        ("project#m#.json", "project", "m", {}),
        ("my runs.json", "", "my runs", {}),
        ("a__b.json", "", "a__b", {}),
        ("runs.txt", "", "runs.txt", {}),
        ("quote\"'<b>;--#m#x=%2F&y=a b.json", "quote\"'<b>;--", "m#x=%2F&y=a b", {"x": "%2F", "y": "a b"}),
    ],
)
def test_names_of_every_shape(file_name, application, method, parameters):
    (benchmark,) = read_bytes(file_name, b"[[1]]")
    assert benchmark.name == file_name.removesuffix(".json")
    assert (benchmark.application, benchmark.benchmark, benchmark.parameters) == (application, method, parameters)


@given(st.lists(st.tuples(st.text("abc.#µ ", min_size=1), st.text("xyz=#/ ")), unique_by=lambda pair: pair[0]))
def test_parameters_survive_where_names_hold_no_equals_sign_and_nothing_an_ampersand(pairs):
    parameters = {name: quote(value, safe=" #=") for name, value in pairs}
    text = "&".join(f"{name}={value}" for name, value in parameters.items())
    (benchmark,) = read_bytes(f"o__p#method#{text}.json", b"[[1]]")
    assert benchmark.parameters == parameters


@given(RUNS)
def test_every_number_survives(runs):
    (benchmark,) = read_bytes("a.json", json_bytes(runs))
    assert plain(benchmark) == runs
    assert all(run.dtype == np.float64 for run in benchmark.values)


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        (b" \n [\n [1e-9, 2E+3, -0.5],\t[0]\r\n]\n", [[1e-9, 2000.0, -0.5], [0.0]]),
        (b"[[0.1, 0.30000000000000004, 5e-324, 1e150]]", [[0.1, 0.1 + 0.2, 5e-324, 1e150]]),
        (b"[[18446744073709551616, 9007199254740993]]", [[2.0**64, 2.0**53]]),
    ],
)
def test_json_numbers_of_every_shape(text, runs):
    (benchmark,) = read_bytes("a.json", text)
    assert plain(benchmark) == [[float(value) for value in run] for run in runs]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[]", r"benchmark 'o__p#m#' has no runs"),
        (b"[[1, 2], []]", r"benchmark 'o__p#m#', run 1: no measurements"),
        (b"[[1, 2], [3, NaN]]", r"run 1, iteration 1: nan"),
        (b"[[1, Infinity], [3]]", r"run 0, iteration 1: inf"),
        (b"[[-Infinity]]", r"run 0, iteration 0: -inf"),
        (b"[[1, 1e400]]", r"run 0, iteration 1: inf"),
        (b'[[1], [2, "abc"]]', r"run 1, iteration 1: 'abc' is not a number"),
        (b'[["1.5", 2]]', r"run 0, iteration 0: '1.5' is not a number"),
        (b'[["nan"]]', r"run 0, iteration 0: 'nan' is not a number"),
        (b"[[1, null]]", r"run 0, iteration 1: (None|null) is not a number"),
        (b"[[1, 1" + b"0" * 400 + b"]]", r"run 0, iteration 1: .* is not a (finite measurement|number)"),
        (b"[[1, true]]", r"run 0, iteration 1: true is not a number"),
        (b"[[1], [false]]", r"run 1, iteration 0: false is not a number"),
        (b"[[1, [2]]]", r"run 0, iteration 1: \[2\] is not a number"),
        (b"[[[1], [2]]]", r"run 0, iteration 0: \[1\] is not a number"),
        (b"[[[]]]", r"run 0, iteration 0: \[\] is not a number"),
        (b'[[{"value": 1}]]', r"run 0, iteration 0: \{'value': 1\} is not a number"),
        (b"[[1], 2]", r"this is not a list of runs"),
        (b"[[1], null]", r"this is not a list of runs"),
        (b'{"runs": [[1]]}', r"this is not a list of runs"),
        (b"[1, 2, 3]", r"this is not a list of runs"),
        (b"[[1, 2],\n [3,", r"line 2, column \d: the text is not JSON"),
        (b"[[1, 2]] [", r"line 1, column 10: the text is not JSON"),
        (b"[[1 2]]", r"line 1, column 5: the text is not JSON"),
        (b'[["\xff"]]', r"not UTF-8 text"),
        (b"[" * 100_000, r"nested more deeply"),
    ],
)
def test_anything_but_a_list_of_runs_is_refused_with_file_place_and_value(text, message):
    with pytest.raises(Refused, match=r"^there/o__p#m#\.json: .*" + message) as refused:
        read_bytes("there/o__p#m#.json", text, format="icpe")
    assert refused.value.file == "there/o__p#m#.json"


def test_a_file_without_a_name_is_refused():
    with pytest.raises(Refused, match="name"):
        read_bytes("folder/.json", b"[[1]]")


def test_a_file_name_that_is_no_text_is_refused_or_becomes_text():
    outcome = read_or_refusal("caf\udce9#m#.json", b"[[1]]")
    assert isinstance(outcome, Refused) or (outcome[0].name + outcome[0].application).encode()


@pytest.mark.slow
def test_the_real_data_are_read_completely(icpe_dir):
    found = list(sources([icpe_dir / "timeseries"]))
    assert len(found) == 203
    names = set()
    for position, source in enumerate(found):
        (benchmark,) = read(source)
        names.add(benchmark.name)
        organisation_and_project = source.path.name.split("#")[0]
        assert benchmark.application == organisation_and_project.replace("__", "/", 1)
        assert benchmark.application.count("/") == 1
        assert f"{organisation_and_project}#{benchmark.benchmark}" == benchmark.name.removesuffix("#")
        assert [run.shape for run in benchmark.values] == [(3000,)] * 10
        if position % 20 == 0:
            with gzip.open(source.path) as file:
                expected = json.load(file)
            assert plain(benchmark) == expected
            assert [run.mean() for run in benchmark.values] == pytest.approx([math.fsum(r) / len(r) for r in expected])
    assert len(names) == 203
