"""Comparison of two reports: every alteration is found at its place, and nothing else."""

import copy
import json
import math
from functools import cache

import pytest
from hypothesis import given, settings, strategies as st

from analysis.document import to_json
from analysis.report import DEFINITIONS, Provenance, ReportDifference, Resampling, defined_anew, differences
from analysis.report._differences import EXPLANATION
from tests.analysis.reports import study, summarise
from tests.conftest import examples

IGNORED = ("definitions", "versions", "study.reported_utc")


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
    new = None if EXPLANATION.match(place_of(path)) and value else other(value)
    assert differences(report(), altered(path, new)) == [ReportDifference(place_of(path), value, new)]


@settings(max_examples=examples(60), deadline=None)
@given(some, some)
def test_two_altered_values_are_both_found_in_the_order_of_the_report(one, two):
    content = altered(one[0], [])
    inside = content
    for step in two[0][:-1]:
        inside = inside[step]
    inside[two[0][-1]] = []
    order = [place_of(path) for path, _value in compared()]
    expected = sorted({place_of(one[0]), place_of(two[0])}, key=order.index)
    assert [d.place for d in differences(content, report())] == expected


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


def test_wording_time_and_versions_are_no_difference_but_names_like_them_are():
    row, worded_differently = ({"value": None, "reason": reason} for reason in ("no items", "there are no items"))
    assert differences({"a": row}, {"a": worded_differently}) == []
    assert differences({"a": row}, {"a": row | {"reason": None}}) == [ReportDifference("a.reason", "no items", None)]
    assert differences({"a": None, "b": 1}, {"b": 1}) == [ReportDifference("a", None, None)]
    content = report()
    content["study"]["reported_utc"] = "1999-01-01"
    content["versions"] = {"labeler": "0", "numpy": "0"}
    assert differences(report(), content) == []
    del content["study"]["reported_utc"]
    assert differences(report(), content) == []
    one = {"classifiers": {"versions": {"n": 1}}}
    assert differences(one, {"classifiers": {"versions": {"n": 2}}})
    assert differences({"versions": {}}, {"versions": {"labeler": "1"}}) == []
    one = {"a.b": 1, "a": {"b": 2}}
    assert differences(one, {"a.b": 3, "a": {"b": 2}}) == [ReportDifference('["a.b"]', 1, 3)]


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


def test_numbers_that_are_defined_otherwise_are_named_and_the_present_ones_compared_in_full():
    category = {"specific": {"similar": {"value": 0.5}}, "n_labels": 3}
    earlier = {"agreement": category}
    now = {"definitions": DEFINITIONS, "agreement": {**category, "specific": {"similar": {"value": 0.6}}}}
    assert differences(earlier, now) == []
    assert "specific agreement" in defined_anew(earlier)
    other = {"definitions": DEFINITIONS, "agreement": {**category, "n_labels": 4}}
    assert [found.place for found in differences(earlier, other)] == ["agreement.n_labels"]
    one, other = (
        {"definitions": DEFINITIONS, "agreement": {"specific": {"similar": {"value": x}}}} for x in (0.5, 0.6)
    )
    assert [found.place for found in differences(one, other)] == ["agreement.specific.similar.value"]
    assert defined_anew(one) == {}


def test_numbers_that_small_groups_no_longer_have_are_no_difference_in_an_earlier_report():
    reports = [{"agreement": {"by_date": [{"kappa": {"value": value}}]}} for value in (0.5, 0.6, None)]
    now = [report | {"definitions": DEFINITIONS} for report in reports]
    place = "agreement.by_date[0].kappa.value"
    assert differences(reports[0], now[2]) == []
    assert differences(reports[0], now[1]) == [ReportDifference(place, 0.5, 0.6)]
    assert differences(now[0], now[2]) == [ReportDifference(place, 0.5, None)]
    reports = [
        {"comparisons": [{"overall": {"p_holm": p, "difference": {"value": 0.5, "low": low, "reason": reason}}}]}
        for p, low, reason in ((0.3, -0.1, None), (None, None, "fewer than 10 items (8): no interval and no test"))
    ]
    assert differences(reports[0], reports[1] | {"definitions": DEFINITIONS}) == []
    assert len(differences(*(report | {"definitions": DEFINITIONS} for report in reports))) == 3


def with_model(state, prevalence, **more):
    latent = {"prevalence": {"value": prevalence, "state": state}, "state": {"state": state}, **more}
    return {"consensus": {"latent": latent}}


def test_a_model_that_other_tests_judge_is_compared_by_its_numbers():
    earlier = with_model("fits", 0.4, misfit={"reviewers": {"p": 0.3}}, residuals=[{"a": "ada"}])
    now = with_model("not contradicted", 0.4, pair_fits=[{"a": "ada"}], left_out=[]) | {"definitions": DEFINITIONS}
    assert differences(earlier, now) == []
    assert "tests and status of the latent class model" in defined_anew(earlier)
    other = with_model("not contradicted", 0.5) | {"definitions": DEFINITIONS}
    place = "consensus.latent.prevalence.value"
    assert differences(earlier, other) == [ReportDifference(place, 0.4, 0.5)]


@pytest.mark.parametrize(("then", "now"), [(("fits", 0.4), ("rejected", None)), (("rejected", None), ("weak", 0.4))])
def test_numbers_that_only_one_of_two_definitions_withholds_are_not_compared(then, now):
    earlier, later = with_model(*then), with_model(*now) | {"definitions": DEFINITIONS}
    assert differences(earlier, later) == []
    assert differences(earlier | {"definitions": DEFINITIONS}, later) != []
