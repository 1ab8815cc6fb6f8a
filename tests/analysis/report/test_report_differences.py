"""Comparison of two reports: every alteration is found at its place, and nothing else."""

import copy
import json
import math
from functools import cache

import pytest
from hypothesis import given, settings, strategies as st

from analysis.document import to_json
from analysis.report import Provenance, ReportDifference, Resampling, differences
from tests.analysis.report.reports import study, summarise
from tests.conftest import examples

IGNORED = ("versions", "study.reported_utc")


@cache
def text():
    """Build a report with all parts, as the text of its file."""
    made = study("k = 2 with overlap")
    told = {"name": "S", "reported_utc": "2026-11-20T12:00:00+00:00"}
    provenance = Provenance(told, {"p": 0.5}, {"seed": 1}, {"answers": "ab"}, {"labeler": "1"}, ["a note"])
    return to_json(summarise(made.answers, made.verdicts, provenance, resampling=Resampling(1, 20, 20, 19)))


def report():
    return json.loads(text())


def leaves(value, path=()):
    """Yield the path to every number, text, boolean, null and empty collection."""
    if isinstance(value, (dict, list)) and value:
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        for step, entry in entries:
            yield from leaves(entry, (*path, step))
    else:
        yield path, value


def place_of(path):
    first, *rest = path
    return first + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in rest)


@cache
def compared():
    """Return the leaves that are compared, except empty collections."""
    found = [(path, value) for path, value in leaves(report()) if not isinstance(value, (dict, list))]
    return [(path, value) for path, value in found if not place_of(path).startswith(IGNORED)]


def altered(path, value):
    """Return the report with another value at this path."""
    content = report()
    inside = content
    for step in path[:-1]:
        inside = inside[step]
    inside[path[-1]] = value
    return content


def other(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return 0 if value is None else value + "x"


def test_a_report_equals_itself_and_comparing_changes_nothing():
    assert differences(report(), report(), tolerance=0) == []
    assert len(compared()) > 1000
    one, two = report(), altered(compared()[0][0], 5)
    before = copy.deepcopy((one, two))
    differences(one, two)
    assert (one, two) == before


some = st.integers(0, 10**6).map(lambda n: compared()[n % len(compared())])


@settings(max_examples=examples(40), deadline=None)
@given(some)
def test_one_altered_value_is_found_where_it_is(leaf):
    path, value = leaf
    assert differences(report(), altered(path, other(value))) == [ReportDifference(place_of(path), value, other(value))]


@settings(max_examples=examples(60), deadline=None)
@given(some)
def test_an_entry_that_only_one_report_has_is_found_on_either_side(leaf):
    path, _value = leaf
    around = path[: -1 if isinstance(path[-1], str) else -2]
    more = altered((*around, "more"), 5)
    place = place_of((*around, "more"))
    assert differences(more, report()) == [ReportDifference(place, 5, None)]
    assert differences(report(), more) == [ReportDifference(place, None, 5)]


@pytest.mark.parametrize("place", ["pairs", "by_labels_used", "by_application"])
def test_a_list_that_is_shorter_differs_in_what_is_missing(place):
    shorter = report()
    last = len(shorter["agreement"][place]) - 1
    shorter["agreement"][place].pop()
    found = differences(report(), shorter)
    assert found
    missing = f"agreement.{place}[{last}]" if last else f"agreement.{place}"  # without entries, the list itself differs
    assert all(d.place.startswith(missing) and not d.recomputed for d in found)


def test_time_and_versions_are_no_difference_but_names_like_them_are():
    content = report()
    content["study"]["reported_utc"] = "1999-01-01"
    content["versions"] = {"labeler": "0", "numpy": "0"}
    assert differences(report(), content) == []
    assert differences({"versions": {}}, {"versions": {"labeler": "1"}}) == []
    one = {"classifiers": {"versions": {"n": 1}}}
    assert differences(one, {"classifiers": {"versions": {"n": 2}}})
    one = {"a.b": 1, "a": {"b": 2}}
    assert differences(one, {"a.b": 3, "a": {"b": 2}}) == [ReportDifference('["a.b"]', 1, 3)]


def test_a_reason_is_compared_as_any_text_and_null_is_as_good_as_nothing():
    row, other = ({"value": None, "reason": reason} for reason in ("no items", "no labels"))
    assert differences({"a": row}, {"a": other}) == [ReportDifference("a.reason", "no items", "no labels")]
    assert differences({"a": row}, {"a": row | {"reason": None}}) == [ReportDifference("a.reason", "no items", None)]
    assert differences({"a": None, "b": 1}, {"b": 1}) == differences({"b": 1}, {"a": None, "b": 1}) == []


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (0, -0.0),
        (1.0, 1.0 + 1e-10),
        (1e-16, 0.0),
        (1e12, 1e12 + 1),
        ([], []),
        ({}, {}),
        ("", ""),
        (None, None),
    ],
)
def test_these_are_the_same(a, b):
    assert differences({"x": a}, {"x": b}) == differences({"x": [a]}, {"x": [b]}) == []


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 2), (1, True), (0, False), (1, "1"), (0, None), ("", None), (1.0, 1.0 + 1e-8), (0.0, 1e-8), ([], None),
        ({}, 0), (float("nan"), 1.0), (float("inf"), 1.0), ("a", "A"), ([1], [1, 1]), ({"y": 1}, {"z": 1}), ([1], 1),
        ({"y": 1}, 1), ({"y": 1}, {}),
    ],
)  # fmt: skip
def test_these_differ_whichever_is_given(a, b):
    assert differences({"x": a}, {"x": b})
    assert differences({"x": b}, {"x": a})


@pytest.mark.parametrize(("tolerance", "n"), [(0, 1), (1e-3, 1), (0.1, 0)])
def test_the_tolerance_is_relative_for_large_numbers(tolerance, n):
    assert len(differences({"x": 100.0}, {"x": 101.0}, tolerance=tolerance)) == n


def test_one_changed_digit_of_any_number_is_found():
    """Change the fourth significant digit of every number of a report."""
    numbers = [(path, value) for path, value in compared() if type(value) in (int, float)]
    assert len(numbers) > 1000
    missed = []
    for path, value in numbers:
        unit = 10.0 ** (math.floor(math.log10(abs(value))) - 3) if value and isinstance(value, float) else 1
        before = {"there": value}
        if not differences(before, {"there": value + unit}):
            missed.append(place_of(path))
    assert missed == []


@pytest.mark.parametrize(("told", "now"), [(1.4e-31, 9e-10), (1.4e-31, 1.5e-31), (2.0e-12, 2.1e-12)])
def test_a_small_p_value_that_was_changed_is_found(told, now):
    assert differences({"p": told}, {"p": now}) == [ReportDifference("p", told, now)]
