"""Names come from external files, so figures must treat them as text, whatever characters they contain."""

import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from analysis import measures, schemes
from analysis.agreement import PairAgreement
from analysis.document import figures
from analysis.intervals import Estimate
from analysis.report._figures import pair_agreement
from tests.analysis.drawn import parts, rows, texts, titles

NAMES = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</text></svg><script>alert(1)</script>",
    "Tom & Jerry &amp; &lt;Spike&gt;",
    "it's",
    "back\\slash \\' \\u0041 \\",
    "'); alert(1); ('",
    "datum.value + '1'",
    "{{ 7 * 7 }}${7 * 7}",
    "http://127.0.0.1:9/x.png",
    "long" * 50,
    "日本語 ünï 😀",
    "\u202eright to left",
    "null",
    "-1e5",
    "]]>",
]


def shown(name):
    """Return the name as a figure shows it: a character that reverses the order of text is replaced."""
    return name.replace("\u202e", "\ufffd")


BROKEN = {"with a hash": "a#b=1#c=2", "only a hash": "#"}

# a name that must not terminate the process; drawn in a separate process
ELSEWHERE = """
import pandas as pd
from analysis import measures
from analysis.document import figures
table = pd.DataFrame({"application": [chr(27)], "n": [1], "m1": [0.1]})
print(len(figures.to_svg(measures.measures_by_application(table, theta=0.25))))
"""


def applications(*names):
    return pd.DataFrame({"application": names, "n": 1, "m1": np.linspace(0.9, 0.1, len(names))})


def benchmarks(*names, application="org/app"):
    return pd.DataFrame({"application": application, "benchmark": names, "m1": np.linspace(0.9, 0.1, len(names))})


def test_names_of_applications_are_shown_unchanged():
    chart = measures.measures_by_application(applications(*NAMES), theta=0.25)
    assert rows(chart) == [f"{shown(name)} (1)" for name in NAMES]


def test_names_of_benchmarks_are_shown_unchanged():
    plain = [name.replace(".", ":") for name in NAMES]  # the part before a dot may be left out
    chart = measures.measures_by_benchmark(benchmarks(*plain), "org/app", theta=0.25)
    assert rows(chart) == [shown(name) for name in plain]


@pytest.mark.parametrize("name", NAMES)
def test_the_title_shows_the_name_of_the_application_unchanged(name):
    chart = measures.measures_by_benchmark(benchmarks("x", application=name), name, theta=0.25)
    assert titles(chart)[0] == f"Benchmarks of {shown(name)}"


def test_names_of_reviewers_are_shown_unchanged():
    share = Estimate(0.5, None, 0.4, 0.6)
    drawn = texts(pair_agreement([PairAgreement(name, "ben", 4, 2, share, share) for name in NAMES], share))
    assert {f"{shown(name)} – ben (n = 4)" for name in NAMES} <= set(drawn)


def test_names_of_schematic_pairs_are_shown_unchanged():
    pair = schemes.schematic_pairs(rng=np.random.default_rng(1))["offset"]
    chart = measures.schematic_pairs(dict.fromkeys(NAMES[:2], pair), measures=["m1"])
    assert [title for title in titles(chart) if title in NAMES] == NAMES[:2]


def test_an_external_measure_keeps_its_name():
    drawn = texts(measures.means(dict.fromkeys(NAMES, 0.1), theta=0.25))
    assert {shown(name) for name in NAMES} <= set(drawn)


@pytest.mark.parametrize("name", BROKEN.values(), ids=BROKEN)
def test_a_name_is_broken_into_lines_where_it_has_a_hash(name):
    (row,) = rows(measures.measures_by_benchmark(benchmarks(name), "org/app", theta=0.25))
    assert row.split() == name.replace("#", " ").split()


def test_a_line_break_in_a_name_does_not_start_a_row():
    (row,) = rows(measures.measures_by_application(applications("one\ntwo\tthree"), theta=0.25))
    assert row.split() == ["one", "two", "three", "(1)"]


@pytest.mark.parametrize("form", ["png", "pdf"])
def test_hostile_names_are_drawn_in_every_form(form):
    chart = measures.measures_by_application(applications(*NAMES), theta=0.25)
    assert len(figures.render(chart, form)) > 10_000


def test_a_figure_links_to_nothing():
    svg = figures.to_svg(measures.measures_by_application(applications(*NAMES), theta=0.25))
    attributes = [attribute for element in ET.fromstring(svg).iter() for attribute in element.attrib.items()]
    assert not [name for name, _ in attributes if name.endswith(("href", "src")) or name.startswith("on")]
    assert not [name for name, value in attributes if "url(" in value]


PRINTABLE = st.text(st.characters(categories=("L", "M", "N", "P", "S", "Zs")), max_size=40)


@settings(max_examples=8, deadline=None)
@given(st.lists(PRINTABLE, min_size=8, max_size=8, unique=True))
def test_no_printable_name_breaks_a_figure(names):
    chart = measures.measures_by_application(applications(*names), theta=0.25)
    drawn = "".join("".join(part.text for part in parts(chart) if part.role == "axis-label").split())
    assert all("".join((name or "no application").replace("#", "").split()) in drawn for name in names)


def test_a_control_character_in_a_name_does_not_end_the_process(tmp_path):
    done = subprocess.run([sys.executable, "-c", ELSEWHERE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-200:]
