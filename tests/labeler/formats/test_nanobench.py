import json
from pathlib import Path

import pytest

from labeler.formats import FORMATS
from tests.labeler.formats.mutations import HOSTILE, read_with, refusal

nanobench = FORMATS["nanobench"]
FILES = Path(__file__).parent / "files"  # in the layout of nanobench's template json()


def written(**more):
    result = {"title": "benchmark", "name": "sort", "batch": 1, "measurements": [{"elapsed": 0.5}]} | more
    return json.dumps({"results": [{key: value for key, value in result.items() if value is not ...}]}).encode()


def test_epochs_are_iterations_and_a_batch_is_divided_by_its_size():
    benchmarks = read_with(nanobench, "a.json", (FILES / "nanobench.json").read_bytes())
    assert {one.name: [run.tolist() for run in one.values] for one in benchmarks} == {
        "sort": [[2.5e-6, 2.25e-6, 2.75e-6]],
        "Strings / join": [pytest.approx([1.5e-7, 1.25e-7, 1.5e-7])],
    }
    assert {(one.unit, one.better) for one in benchmarks} == {("s", "lower")}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"measurements": ...},
         "benchmark 'sort' has only averages. nanobench saves all epochs with its template json()"),
        ({"measurements": []}, "benchmark 'sort', run 0: no measurements"),
        ({"measurements": [{"elapsed": 1}, {}]}, "benchmark 'sort', epoch 1, 'elapsed': None is not a number"),
        ({"measurements": [3]}, "benchmark 'sort', epoch 0, 'elapsed': None is not a number"),
        ({"batch": 0}, "benchmark 'sort': the batch is 0, but must be above 0"),
        ({"name": 3}, "result 0: 'name' is 3, not a text"),
    ],
)  # fmt: skip
def test_invalid_content_is_refused_with_place_and_value(more, message):
    assert refusal(nanobench, "a.json", written(**more)) == message


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_kept_as_it_is(name):
    (one,) = read_with(nanobench, "a.json", written(name=name))
    assert one.name == name
