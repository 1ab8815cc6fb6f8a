"""Figures of measures, of pairs of runs and of their clusters, whatever characters their names contain."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from functools import cache
from itertools import pairwise

import altair as alt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from analysis.document import figures
from analysis.raters.agreement import PairAgreement
from analysis.report import _figures as report_figures
from analysis.report._figures import pair_agreement
from analysis.runs import measures, schemes
from analysis.runs.classifiers import same
from analysis.runs.dissimilarity import MEASURES
from analysis.runs.measures._figures import HEURISTIC_MEASURES, _without_common_start, pair_matrix
from analysis.statistics.intervals import Estimate
from tests.analysis.drawn import cells, cells_of, contrast, luminance, parts, rows, texts, titles

SIGNATURES = {
    "svg": (b"<svg ", b"</svg>"),
    "png": (b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"),
    "pdf": (b"%PDF-", b"%%EOF"),
}
HEADER = ["M1 correlation", "M2 compression", "M3 Fourier", "M4 clipped cosine", "M5 Kolmogorov-Smirnov"]


def of_applications(**means):
    """Build a table as `mean_measures`, from application -> means of m1, m2, ...; with five benchmarks each."""
    values = pd.DataFrame(list(means.values())).rename(columns=lambda at: f"m{at + 1}")
    return pd.concat([pd.DataFrame({"application": list(means), "n": 5}), values], axis=1)


def of_benchmarks(*names, application="org/app", **measures):
    """Build a table of benchmarks of one application, with m1 = 0.1 by default."""
    return pd.DataFrame({"application": application, "benchmark": names, **(measures or {"m1": 0.1})})


def by_application(theta=0.25, **means):
    return measures.measures_by_application(of_applications(**means), theta=theta)


@pytest.fixture(scope="module")
def made_pairs():
    return schemes.schematic_pairs(rng=np.random.default_rng(1))


@pytest.fixture(scope="module")
def shown_pairs(made_pairs):
    return {name: made_pairs[name] for name in ("twice as slow", "two runs of noise", "one outlier", "warm-up in one")}


@pytest.fixture(scope="module")
def figure_of_pairs(shown_pairs):
    """Draw four pairs, three of them in the first row."""
    return parts(measures.schematic_pairs(shown_pairs))


@pytest.mark.parametrize("form", figures.FORMATS)
def test_every_form_is_a_whole_file_of_its_kind(form):
    content = figures.render(by_application(a=[0.1, 0.9], b=[0.3, 0.2]), form)
    begins, ends = SIGNATURES[form]
    assert content.startswith(begins) and content.rstrip().endswith(ends)
    assert len(content) > 3000


def test_a_png_is_twice_the_size_on_screen_and_another_form_is_refused_by_name():
    chart = by_application(a=[0.1, 0.9])
    width, height = map(int, re.search(r'width="(\d+)" height="(\d+)"', figures.to_svg(chart)).groups())
    content = figures.render(chart, "png")
    assert [int.from_bytes(content[at : at + 4], "big") for at in (16, 20)] == [2 * width, 2 * height]
    with pytest.raises(ValueError, match="svg, png, pdf; got 'gif'"):
        figures.render(by_application(a=[0.1]), "gif")


@pytest.mark.parametrize(
    ("form", "url"),
    [
        ("svg", "http://127.0.0.1:9/x.csv"),
        ("png", "https://example.com/x.json"),
        ("pdf", "x.csv"),
        ("svg", "data:text/csv,a"),
    ],
)
def test_data_from_elsewhere_is_refused(form, url):
    with pytest.raises(ValueError, match="External data url not allowed"):
        figures.render(alt.Chart(url).mark_text().encode(text="a:N"), form)


def test_a_file_is_not_read(tmp_path):
    (tmp_path / "x.csv").write_text("a\nsecret\n")
    chart = alt.Chart((tmp_path / "x.csv").as_uri()).mark_text().encode(text="a:N")
    assert "secret" not in figures.to_svg(chart)


def test_mean_measures_by_hand():
    table = pd.DataFrame(
        {"application": ["b", "a", "b", ""], "benchmark": list("wxyz"), "m1": [0.1, 0.2, 0.4, 1], "m2": [0, 1, 0.5, 0]}
    )
    assert measures.mean_measures(table).to_dict("list") == {
        "application": ["", "a", "b"], "n": [1, 1, 2], "m1": [1, 0.2, 0.25], "m2": [0, 1, 0.25],
    }  # fmt: skip
    table = of_benchmarks("x", "y", "z", m1=[0.2, np.nan, 0.4], m2=[np.nan] * 3)
    means = measures.mean_measures(table).iloc[0]
    assert (means["n"], means["m1"]) == (3, pytest.approx(0.3))
    assert np.isnan(means["m2"])
    with pytest.raises(ValueError, match="measures, only application"):
        measures.mean_measures(pd.DataFrame({"application": ["a"], "benchmark": ["b"]}))


def test_the_application_with_the_largest_median_is_on_top_and_equal_ones_in_order_of_name():
    # medians .3, .5, .4; the means would give the opposite order
    chart = by_application(a=[0.3, 0.3, 1.0], b=[0.0, 0.5, 0.6], c=[0.2, 0.4, 0.9])
    assert rows(chart) == ["b (5)", "c (5)", "a (5)"]
    assert rows(by_application(a=[0.3], b=[0.4], c=[0.3])) == ["b (5)", "a (5)", "c (5)"]


def test_every_cell_shows_its_value_below_its_measure_and_a_mark_above_theta():
    chart = by_application(a=[0.1, 0.999], b=[0.3, 0.004])
    assert [(cell.row, cell.column, cell.text) for cell in cells(chart)] == [
        ("a (5)", "M1 correlation", "0.10"), ("a (5)", "M2 compression", "1.00"),
        ("b (5)", "M1 correlation", "0.30"), ("b (5)", "M2 compression", "0.00"),
    ]  # fmt: skip
    chart = by_application(a=[0.25, 0.2500001, 0.9], b=[0.0, 0.24, 1.0])
    assert [cell.value for cell in cells(chart) if cell.marked] == [0.2500001, 0.9, 1.0]
    chart = by_application(theta=None, a=[0.25, 0.9])
    assert not any(cell.marked for cell in cells(chart))
    assert titles(chart) == [
        "Applications (benchmarks)", "mean dissimilarity over all pairs of runs, from 0 (equal) to 1",
    ]  # fmt: skip
    assert titles(by_application(theta=0.3, a=[0.9]))[1].endswith("from 0 (equal) to 1; ▲ above θ = 0.3")


def test_a_missing_value_leaves_its_cell_empty_and_the_order_of_measures_as_it_is():
    chart = by_application(a=[0.1, 0.2], b=[0.3, np.nan])
    assert [(cell.row, cell.text) for cell in cells(chart)] == [("b (5)", "0.30"), ("a (5)", "0.10"), ("a (5)", "0.20")]
    columns = [cell.column for cell in cells(by_application(a=[np.nan, 0.9, 0.9], b=[0.1, 0.2, 0.3]))]
    assert columns == [*HEADER[1:3], *HEADER[:3]]
    table = pd.DataFrame({"application": ["a"], "n": [1], "cosine": [0.1], "wave_hedges": [0.2], "scaled_rmse": [0.3]})
    columns = {cell.column for cell in cells(measures.measures_by_application(table, theta=None))}
    assert columns == {"cosine", "Wave-Hedges", "scaled RMSE"}


def test_an_application_without_a_name_is_called_so_and_not_mixed_with_one_called_so():
    chart = measures.measures_by_application(of_applications(**{"": [0.1]}), theta=0.25)
    assert rows(chart) == ["no application (5)"]
    chart = measures.measures_by_application(of_applications(**{"": [0.1], "no application": [0.2]}), theta=0.25)
    assert sorted(cell.text for cell in cells(chart)) == ["0.10", "0.20"]
    chart = measures.measures_by_benchmark(of_benchmarks("x", application=""), "", theta=0.25)
    assert titles(chart)[0] == "Benchmarks of no application"


def test_only_the_benchmarks_of_the_application_are_shown_with_their_parameters():
    table = pd.concat([of_benchmarks("a.X.one", "a.X.two"), of_benchmarks("a.X.three", application="other")])
    chart = measures.measures_by_benchmark(table, "org/app", theta=0.25)
    assert rows(chart) == ["one", "two"]
    assert titles(chart)[0] == "Benchmarks of org/app"
    with pytest.raises(ValueError, match="application 'Org/Other'"):
        measures.measures_by_benchmark(of_benchmarks("x"), "Org/Other", theta=0.25)
    chart = measures.measures_by_benchmark(of_benchmarks("a.B.c#size=1", "a.B.c#size=2"), "org/app", theta=None)
    labels = [part for part in parts(chart) if part.role == "axis-label"]
    assert [part.text for part in labels if "size" in part.text] == ["c size=1", "c size=2"]
    chart = measures.measures_by_benchmark(of_benchmarks("a.B.c", "a.B.c", m1=[0.1, 0.2]), "org/app", theta=0.25)
    assert sorted(cell.text for cell in cells(chart)) == ["0.10", "0.20"]


@pytest.mark.slow
def test_an_application_may_have_more_than_a_thousand_benchmarks():
    names = [f"b{number}" for number in range(1001)]
    table = of_benchmarks(*names, **dict.fromkeys(HEURISTIC_MEASURES, 0.1))
    assert "b1000" in figures.to_svg(measures.measures_by_benchmark(table, "org/app", theta=0.25))


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["org.pkg.Sort.fast"], ["fast"]),
        (["sort"], ["sort"]),
        (["sort", "search"], ["sort", "search"]),
        (["a.b.Sort.fast", "a.b.Sort.slow"], ["fast", "slow"]),
        (["a.b.Sort.fast", "a.b.Search.fast"], ["Sort.fast", "Search.fast"]),
        (["a.b.Sort.fast", "a.b.Sorted.fast"], ["Sort.fast", "Sorted.fast"]),
        (["a.b.fast", "fast"], ["a.b.fast", "fast"]),
        (["a.fast", "a.b.fast"], ["fast", "b.fast"]),
        (["a.B.c#n=1", "a.B.c#n=2"], ["c#n=1", "c#n=2"]),
        (["a.B.c#n=1.5", "a.B.c#n=2.5"], ["c#n=1.5", "c#n=2.5"]),
        (["c#file=a.b", "c#file=a.c"], ["c#file=a.b", "c#file=a.c"]),
        ([".a", ".b"], ["a", "b"]),
    ],
)
def test_what_all_benchmarks_share_is_left_out(names, short):
    assert _without_common_start(names) == short


@given(st.lists(st.text("ab.#=", max_size=8), min_size=1, max_size=5, unique=True))
def test_different_benchmarks_keep_different_ends_of_their_names(names):
    short = _without_common_start(names)
    assert len(set(short)) == len(names)
    assert all(name.endswith(end) for name, end in zip(names, short, strict=True))


def test_schematic_pairs_have_titles_units_and_the_values_of_the_measures(shown_pairs, figure_of_pairs):
    drawn = [part.text for part in figure_of_pairs]
    for x, y in shown_pairs.values():
        values = [MEASURES[name].function(x, y) for name in HEURISTIC_MEASURES]
        numbers = [f"{value:.2f}{' ▲' if value > 0.25 else ''}" for value in values]
        assert any(drawn[at : at + 5] == numbers for at in range(len(drawn)))
    named = [part.text for part in figure_of_pairs if part.role in {"title-text", "axis-title"}]
    assert [name for name in named if name in shown_pairs] == list(shown_pairs)
    axes = ("iteration", "time per iteration (ms)", "dissimilarity (▲ above θ = 0.25)")
    assert [named.count(title) for title in axes] == [len(shown_pairs)] * 3


def test_the_runs_of_a_schematic_pair_differ_in_dash_and_in_shade_and_come_from_their_seed(made_pairs):
    svg = figures.to_svg(measures.schematic_pairs({"offset": made_pairs["offset"]}))
    lines = re.findall(r'aria-roledescription="line mark"[^>]*stroke="(#\w+)"[^>]*stroke-dasharray="([^"]+)"', svg)
    assert lines == [(figures.INK, "1,0"), (figures.SOFT, "4,2")]
    again = schemes.schematic_pairs(rng=np.random.default_rng(1))
    other = schemes.schematic_pairs(rng=np.random.default_rng(2))
    assert all(np.array_equal(made_pairs[name], again[name]) for name in made_pairs)
    assert not np.array_equal(made_pairs["noise"], other["noise"])


def test_means_are_shown_as_numbers_with_or_without_a_threshold():
    drawn = texts(measures.means({"m1": 0.25, "m2": 0.2500001, "m3": 1.0}, theta=0.25))
    assert drawn[-3:] == ["0.25", "0.25 ▲", "1.00 ▲"]
    assert {*HEADER[:3], "mean over all pairs (▲ above θ = 0.25)"} <= set(drawn)
    chart = measures.means({"cosine": 0.25, "wave_hedges": 0.9}, theta=None)
    assert "▲" not in "".join(texts(chart))
    assert "rule mark" not in figures.to_svg(chart)


def test_the_agreement_of_pairs_is_named_with_their_numbers():
    share = Estimate(0.5, None, 0.4, 0.6)
    drawn = texts(report_figures.pair_agreement([PairAgreement("ada", "ben", 4, 2, share, share)], share))
    assert {"ada – ben (n = 4)", "100%"} <= set(drawn)
    assert any("common items" in text for text in drawn)
    assert report_figures.pair_agreement([], Estimate(None)) is None
    assert contrast(figures.INK, figures.PAPER) > 10
    assert min(contrast(figures.INK, figures.SOFT), contrast(figures.SOFT, figures.PAPER)) > 3


def test_a_cell_is_the_darker_the_larger_its_value_and_its_number_is_readable():
    values = np.linspace(0, 1, 120)
    drawn = sorted((c for c in cells(measures.pair_matrix(values)) if c.text), key=lambda cell: cell.value)
    shades = [luminance(cell.fill) for cell in drawn[::2]]  # every pair occurs twice
    assert all(lighter > darker for lighter, darker in pairwise(shades))
    assert min(contrast(cell.fill, cell.ink) for cell in drawn) >= 3


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
from analysis.runs import measures
from analysis.document import figures
table = pd.DataFrame({"application": [chr(27)], "n": [1], "m1": [0.1]})
print(len(figures.to_svg(measures.measures_by_application(table, theta=0.25))))
"""


def applications(*names):
    return pd.DataFrame({"application": names, "n": 1, "m1": np.linspace(0.9, 0.1, len(names))})


def benchmarks_named(*names, application="org/app"):
    return pd.DataFrame({"application": application, "benchmark": names, "m1": np.linspace(0.9, 0.1, len(names))})


def test_names_are_shown_unchanged():
    chart = measures.measures_by_application(applications(*NAMES), theta=0.25)
    assert rows(chart) == [f"{shown(name)} (1)" for name in NAMES]
    titled = measures.measures_by_benchmark(benchmarks_named("x", application=NAMES[0]), NAMES[0], theta=0.25)
    assert titles(titled)[0] == f"Benchmarks of {NAMES[0]}"
    plain = [name.replace(".", ":") for name in NAMES]  # the part before a dot may be left out
    chart = measures.measures_by_benchmark(benchmarks_named(*plain), "org/app", theta=0.25)
    assert rows(chart) == [shown(name) for name in plain]
    share = Estimate(0.5, None, 0.4, 0.6)
    drawn = texts(pair_agreement([PairAgreement(name, "ben", 4, 2, share, share) for name in NAMES], share))
    assert {f"{shown(name)} – ben (n = 4)" for name in NAMES} <= set(drawn)
    pair = schemes.schematic_pairs(rng=np.random.default_rng(1))["offset"]
    chart = measures.schematic_pairs(dict.fromkeys(NAMES[:2], pair), measures=["m1"])
    assert [title for title in titles(chart) if title in NAMES] == NAMES[:2]
    drawn = texts(measures.means(dict.fromkeys(NAMES, 0.1), theta=0.25))
    assert {shown(name) for name in NAMES} <= set(drawn)


@pytest.mark.parametrize("name", BROKEN.values(), ids=BROKEN)
def test_a_name_is_broken_into_lines_where_it_has_a_hash(name):
    (row,) = rows(measures.measures_by_benchmark(benchmarks_named(name), "org/app", theta=0.25))
    assert row.split() == name.replace("#", " ").split()


def test_a_name_is_broken_into_lines_only_where_it_has_a_hash():
    (row,) = rows(measures.measures_by_application(applications("one\ntwo\tthree"), theta=0.25))
    assert row.split() == ["one", "two", "three", "(1)"]


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


@pytest.mark.slow
def test_a_control_character_in_a_name_does_not_end_the_process(tmp_path):
    done = subprocess.run([sys.executable, "-c", ELSEWHERE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-200:]


SIZES = (2, 3, 25)
CUT = 0.5


def pairs_of(k):
    """Build different dissimilarities of k runs in three distant groups."""
    place = np.random.default_rng(k).permutation(k) % 3 + np.random.default_rng(k + 1).uniform(0, 0.1, k)
    i, j = np.triu_indices(k, 1)
    return np.abs(place[i] - place[j]) / 2.2


def clustered(k):
    """Return the pairs with their clusters and merges, as in SAME."""
    pairs = pairs_of(k)
    linkage = hierarchy.linkage(pairs, method="average")
    return pairs, tuple(hierarchy.fcluster(linkage, CUT / 2.2, criterion="distance").tolist()), linkage


@cache
def drawn_matrix(k, has_tree):
    """Draw the figure of k runs and return its parts."""
    pairs, clusters, linkage = clustered(k)
    return parts(pair_matrix(pairs, clusters, linkage, cut=CUT) if has_tree else pair_matrix(pairs))


@cache
def cells_of_matrix(k, has_tree):
    """Return the cells of the matrix."""
    return cells_of(drawn_matrix(k, has_tree))


def order(drawn):
    """Return the runs from left to right, after a check that the order from top to bottom is the same."""
    columns, rows_ = (list(dict.fromkeys(getattr(cell, side) for cell in drawn)) for side in ("column", "row"))
    assert columns == rows_
    return [int(run) for run in columns]


def frames(drawn):
    """Return the first and last position of each frame in cells, from 0; frames lie on the diagonal."""
    areas = [part for part in drawn if part.role == "mark" and part.width]
    shaded = [part for part in areas if part.fill]
    left, top, size = min(cell.x for cell in shaded), min(cell.y for cell in shaded), shaded[0].width
    found = []
    for frame in (part for part in areas if not part.fill):
        first, last = round((frame.x - left) / size), round((frame.x + frame.width - left) / size) - 1
        assert (first, last) == (round((frame.y - top) / size), round((frame.y + frame.height - top) / size) - 1)
        found.append((first, last))
    return sorted(found)


@pytest.mark.parametrize("k", SIZES)
def test_runs_keep_their_order_without_a_tree_and_have_that_of_its_leaves_with_one(k):
    assert order(cells_of_matrix(k, has_tree=False)) == list(range(1, k + 1))
    _, _, linkage = clustered(k)
    assert order(cells_of_matrix(k, has_tree=True)) == [leaf + 1 for leaf in hierarchy.leaves_list(linkage)]
    _, clusters, linkage = clustered(k)
    ordered = [clusters[leaf] for leaf in hierarchy.leaves_list(linkage)]
    expected = sorted((ordered.index(c), k - 1 - ordered[::-1].index(c)) for c in set(clusters))
    assert len(expected) == len(set(clusters)) > 1
    assert frames(drawn_matrix(k, has_tree=True)) == expected


@pytest.mark.parametrize("has_tree", [False, True])
@pytest.mark.parametrize("k", SIZES)
def test_every_value_is_in_the_cell_of_its_two_runs(k, has_tree):
    square, drawn = squareform(pairs_of(k)), cells_of_matrix(k, has_tree)
    assert len(drawn) == k * k
    for cell in drawn:
        assert cell.value == pytest.approx(square[int(cell.row) - 1, int(cell.column) - 1], abs=1e-9)


@pytest.mark.parametrize("k", [2, 3, 10, 20])
def test_every_cell_off_the_diagonal_says_its_value(k):
    for cell in cells_of_matrix(k, has_tree=False):
        assert cell.text == ("" if cell.row == cell.column else f"{cell.value:.2f}")


def test_clusters_without_a_tree_have_frames_in_the_given_order_or_none():
    assert frames(parts(pair_matrix(np.array([0.1, 0.1, 0.1]), (1, 1, 1)))) == [(0, 2)]
    assert frames(drawn_matrix(10, has_tree=False)) == []
    drawn = parts(pair_matrix(pairs_of(10), (1, 1, 2, 2, 2, 1, 3, 3, 3, 3)))
    assert frames(drawn) == [(0, 1), (2, 4), (5, 5), (6, 9)]
    assert not any(cell.text for cell in cells_of_matrix(21, has_tree=False))


def test_the_frames_are_those_of_sames_verdict():
    runs = np.random.default_rng(3).uniform(1, 1.05, (6, 60)) * np.array([1, 5, 1, 5, 1, 1])[:, None]
    verdict = same(runs)
    chart = pair_matrix(verdict.pairs["cosine"], verdict.clusters, verdict.linkage, cut=verdict.threshold)
    assert verdict.clusters == (1, 2, 1, 2, 1, 1)
    assert sorted(last - first + 1 for first, last in frames(parts(chart))) == [2, 4]


@pytest.fixture(scope="module")
def tree():
    """Draw three runs: 1 and 2 merge at 0.2, and 3 joins them at 0.9; the leaves are 3, 1, 2."""
    pairs = np.array([0.2, 1.0, 0.8])
    return parts(pair_matrix(pairs, (1, 1, 2), hierarchy.linkage(pairs, method="average"), cut=0.5))


def corners(part):
    """Return the corners of a line, in page coordinates."""
    return [(part.x + float(x), part.y + float(y)) for x, y in re.findall(r"([\d.]+),([\d.]+)", part.path)]


def height_at(tree, y):
    """Return the value on the axis of the tree at this page coordinate."""
    zero, step = (next(part.y for part in tree if part.text == text) for text in ("0.0", "0.2"))
    return 0.2 * (zero - y - 3) / (zero - step)  # a label is 3 px above its tick


def test_the_tree_merges_at_the_heights_of_the_linkage_and_is_crossed_at_the_cut(tree):
    tops = [height_at(tree, min(y for _, y in corners(part))) for part in tree if "corner:" in part.label]
    assert sorted(tops) == pytest.approx([0.2, 0.9], abs=0.02)
    (rule,) = [part for part in tree if part.tag == "line" and part.role == "mark"]
    assert height_at(tree, rule.y) == pytest.approx(0.5, abs=0.02)
    assert [part.text for part in tree if part.role == "axis-title"] == ["dissimilarity at merge", "run", "run"]


def test_the_leaves_of_the_tree_are_above_the_columns_of_their_runs(tree):
    lowest = max(part.y for part in tree if part.role == "axis-label")
    column = {part.text: part.x for part in tree if part.role == "axis-label" and part.y == lowest}
    first, last = (corners(part) for part in tree if "corner:" in part.label)
    assert [first[0][0], first[-1][0]] == pytest.approx([column["1"], column["2"]], abs=1)
    assert [last[0][0], last[-1][0]] == pytest.approx([column["3"], (column["1"] + column["2"]) / 2], abs=1)


def test_the_numbers_of_two_runs_are_in_the_middle_of_their_cells_and_of_a_hundred_are_drawn():
    drawn = parts(pair_matrix(np.array([0.4])))
    number = next(part for part in drawn if part.text == "0.40")
    cell = next(part for part in drawn if part.width and part.fill and part.holds(number))
    assert number.x == pytest.approx(cell.x + cell.width / 2, abs=1)
    assert len(figures.to_svg(pair_matrix(np.linspace(0, 1, 4950)))) > 100_000
