"""Measures and parameters of classifiers in a report."""

import json
import re
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from analysis.classifiers import CLASSIFIERS, Classifier
from analysis.dissimilarity import MEASURES, Measure
from analysis.document import to_json
from analysis.report import Provenance, registry
from tests.analysis.reports import draw, summarise, to_html

ANSWERS = pd.DataFrame({"item": ["a", "a"], "reviewer": ["ada", "ben"], "label": ["similar", "similar"]})
PARAMETERS = '{"theta": 0.25, "keep_mean": false, "drop": 0.0}'
HEAT_MAP = "Applications (number of benchmarks)"


def verdicts(*rows):
    """Build verdicts from rows of item, application, classifier, means, and optionally parameters and version."""
    filled = [(*row, PARAMETERS, 1)[:6] if len(row) == 4 else row for row in rows]
    columns = ["item", "application", "classifier", "means", "parameters", "version"]
    return pd.DataFrame(filled, columns=columns).assign(verdict="similar")


def report(*rows, **provenance):
    return summarise(ANSWERS, verdicts(*rows), Provenance(**provenance))


def without_tags(page):
    return re.sub(r"<[^>]+>", " ", page)


def table_of(page, caption):
    """Return the cells of the table with this caption, row by row."""
    found = next(part.split("</table>")[0] for part in page.split("<table") if caption in part)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in found.split("<tr")[1:]]


def test_the_measures_of_a_classifier_are_means_over_the_benchmarks_of_an_application():
    content = report(
        ("a", "z", "heuristic", {"m1": 0.2, "m2": 1.0}), ("b", "z", "heuristic", {"m1": 0.4, "m2": 0.0}),
        ("c", "", "heuristic", {"m1": 0.1, "m2": 0.3}),
    )  # fmt: skip
    assert content["measures"] == {
        "heuristic": [
            {"application": "", "n": 1, "means": {"m1": 0.1, "m2": 0.3}},
            {"application": "z", "n": 2, "means": {"m1": pytest.approx(0.3), "m2": 0.5}},
        ]
    }


def test_each_classifier_has_its_own_measures():
    content = report(("a", "z", "heuristic", {"m1": 0.2}), ("a", "z", "same", {"cosine": 0.4}))
    assert {name: rows[0]["means"] for name, rows in content["measures"].items()} == {
        "heuristic": {"m1": 0.2}, "same": {"cosine": 0.4},
    }  # fmt: skip


def test_an_item_without_means_does_not_count_among_those_that_have_them():
    content = report(("a", "z", "heuristic", {"m1": 0.2}), ("b", "z", "heuristic", {}), ("c", "y", "heuristic", {}))
    assert content["measures"]["heuristic"] == [{"application": "z", "n": 1, "means": {"m1": 0.2}}]


def test_a_measure_that_no_benchmark_of_an_application_has_is_null():
    content = report(("a", "z", "heuristic", {"m1": 0.2}), ("b", "y", "heuristic", {"m1": 0.4, "m2": 0.6}))
    assert content["measures"]["heuristic"][1] == {"application": "z", "n": 1, "means": {"m1": 0.2, "m2": None}}
    assert "measures-by-application" in draw(json.loads(to_json(content)))


@pytest.mark.parametrize("missing", ["means", "application"])
def test_a_table_of_verdicts_without_measures_has_none_in_its_report(missing):
    table = verdicts(("a", "z", "heuristic", {"m1": 0.2})).drop(columns=missing)
    content = summarise(ANSWERS, table)
    assert content["measures"] == {"heuristic": []}
    assert "measures-by-application" not in draw(content)


def test_the_parameters_of_the_verdicts_are_listed_once_a_making():
    content = report(
        ("a", "z", "heuristic", {}), ("b", "z", "heuristic", {}), ("c", "z", "heuristic", {}, PARAMETERS, 2),
        ("a", "z", "same", {}, '{"cut": 0.2}', 1),
    )  # fmt: skip
    made = {"theta": 0.25, "keep_mean": False, "drop": 0.0}
    assert content["parameters"]["verdicts"] == {
        "heuristic": [{**made, "version": 1}, {**made, "version": 2}], "same": [{"cut": 0.2, "version": 1}],
    }  # fmt: skip


def test_a_table_of_verdicts_without_parameters_says_nothing_of_them():
    content = summarise(ANSWERS, verdicts(("a", "z", "heuristic", {})).drop(columns="version"))
    assert "verdicts" not in content["parameters"]


def test_the_page_says_what_the_verdicts_were_computed_with():
    page = to_html(report(("a", "z", "same", {}, '{"cut": 0.2, "drop": 0.0}', 3)))
    assert "<td>cut = 0.2, drop = 0, version = 3</td>" in page


def test_the_page_holds_the_heat_map_of_the_heuristic():
    page = to_html(report(("a", "org/app", "heuristic", {"m1": 0.2512, "m2": 0.1})))
    figure = page[page.index("<svg", page.index('id="confusion-matrices"')) :]
    assert HEAT_MAP in figure
    assert {"org/app (1)", "0.25", "0.10", "▲ above θ = 0.25"} <= set(re.split(r"; |\s{2,}", without_tags(figure)))


def test_measures_of_other_classifiers_have_no_figure():
    content = report(("a", "z", "same", {"cosine": 0.2}))
    assert HEAT_MAP not in to_html(content)
    assert "measures-by-application" not in draw(content)


def test_a_hostile_application_is_text_in_the_page():
    page = to_html(report(("a", "<script>alert(1)</script>", "heuristic", {"m1": 0.2})))
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; (1)" in page


def test_the_page_from_a_file_is_the_same():
    content = report(("a", "z", "heuristic", {"m1": 0.2, "m2": np.nan}), parameters=registry())
    assert to_html(json.loads(to_json(content))) == to_html(content)


@pytest.mark.parametrize("kind", ["classifiers", "measures"])
def test_the_page_lists_every_one_with_all_that_holds_of_it(kind):
    entries = registry()[kind]
    header, *lines = table_of(to_html(report(parameters=registry())), f"{kind.capitalize()} and their properties")
    assert header[1:] == [flag.replace("_", " ") for flag in next(iter(entries.values()))]
    assert [line[0] for line in lines] == list(entries)
    assert {len(line) for line in lines} == {len(header)}


def test_the_page_says_of_a_measure_what_the_registry_says():
    header, *lines = table_of(to_html(report(parameters=registry())), "Measures and their properties")
    cells = dict(zip(header, next(line for line in lines if line[0] == "m2"), strict=True))
    assert (cells["title"], cells["symmetric"], cells["zero for same"]) == ("compression", "no", "no")
    assert (cells["scale invariant"], cells["min iterations"]) == ("yes", "50")


def test_the_registry_is_ready_for_json():
    assert json.loads(json.dumps(registry(), allow_nan=False)) == registry()


@pytest.mark.parametrize(
    ("kind", "known", "row_of", "left_out"),
    [
        ("measures", MEASURES, Measure, {"name", "pairs"}),
        ("classifiers", CLASSIFIERS, Classifier, {"name", "function"}),
    ],
)
def test_the_registry_holds_every_flag_of_every_entry(kind, known, row_of, left_out):
    rows = registry()[kind]
    assert list(rows) == list(known)
    for name, row in rows.items():
        assert row.keys() == {field.name for field in fields(row_of)} - left_out
        assert all(row[flag] == getattr(known[name], flag) for flag in row)
