import re
from itertools import pairwise

import altair as alt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from analysis import measures, schemes
from analysis.agreement import PairAgreement
from analysis.dissimilarity import MEASURES
from analysis.document import figures
from analysis.intervals import Estimate
from analysis.measures._figures import HEURISTIC_MEASURES, _without_common_start
from analysis.report import _figures as report_figures
from tests.analysis.drawn import cells, contrast, luminance, parts, rows, texts, titles

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


def test_a_png_is_twice_the_size_on_screen():
    chart = by_application(a=[0.1, 0.9])
    width, height = map(int, re.search(r'width="(\d+)" height="(\d+)"', figures.to_svg(chart)).groups())
    content = figures.render(chart, "png")
    assert [int.from_bytes(content[at : at + 4], "big") for at in (16, 20)] == [2 * width, 2 * height]


def test_another_form_is_refused_by_name():
    with pytest.raises(ValueError, match="svg, png, pdf; got 'gif'"):
        figures.render(by_application(a=[0.1]), "gif")


@pytest.mark.parametrize("form", figures.FORMATS)
@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x.csv", "https://example.com/x.json", "x.csv", "data:text/csv,a"])
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


def test_a_measure_that_was_not_computed_does_not_enter_the_mean():
    table = of_benchmarks("x", "y", "z", m1=[0.2, np.nan, 0.4], m2=[np.nan] * 3)
    means = measures.mean_measures(table).iloc[0]
    assert (means["n"], means["m1"]) == (3, pytest.approx(0.3))
    assert np.isnan(means["m2"])


def test_a_table_without_measures_is_refused():
    with pytest.raises(ValueError, match="measures, only application"):
        measures.mean_measures(pd.DataFrame({"application": ["a"], "benchmark": ["b"]}))


def test_the_application_with_the_largest_median_is_on_top():
    # medians .3, .5, .4; the means would give the opposite order
    chart = by_application(a=[0.3, 0.3, 1.0], b=[0.0, 0.5, 0.6], c=[0.2, 0.4, 0.9])
    assert rows(chart) == ["b (5)", "c (5)", "a (5)"]


def test_applications_of_equal_median_stay_in_order_of_name():
    assert rows(by_application(a=[0.3], b=[0.4], c=[0.3])) == ["b (5)", "a (5)", "c (5)"]


def test_every_cell_shows_its_value_below_its_measure():
    chart = by_application(a=[0.1, 0.999], b=[0.3, 0.004])
    assert [(cell.row, cell.column, cell.text) for cell in cells(chart)] == [
        ("a (5)", "M1 correlation", "0.10"), ("a (5)", "M2 compression", "1.00"),
        ("b (5)", "M1 correlation", "0.30"), ("b (5)", "M2 compression", "0.00"),
    ]  # fmt: skip


def test_the_cells_above_theta_are_marked_and_no_others():
    chart = by_application(a=[0.25, 0.2500001, 0.9], b=[0.0, 0.24, 1.0])
    assert [cell.value for cell in cells(chart) if cell.marked] == [0.2500001, 0.9, 1.0]


def test_without_theta_nothing_is_marked_and_the_title_says_nothing_of_marks():
    chart = by_application(theta=None, a=[0.25, 0.9])
    assert not any(cell.marked for cell in cells(chart))
    assert titles(chart) == [
        "Applications (number of benchmarks)", "mean dissimilarity over all pairs of runs, from 0 (equal) to 1",
    ]  # fmt: skip


def test_the_title_says_what_a_mark_means():
    assert titles(by_application(theta=0.3, a=[0.9]))[1].endswith("from 0 (equal) to 1; ▲ above θ = 0.3")


def test_a_missing_value_leaves_its_cell_empty():
    chart = by_application(a=[0.1, 0.2], b=[0.3, np.nan])
    assert [(cell.row, cell.text) for cell in cells(chart)] == [("b (5)", "0.30"), ("a (5)", "0.10"), ("a (5)", "0.20")]


def test_a_missing_value_on_top_does_not_change_the_order_of_the_measures():
    columns = [cell.column for cell in cells(by_application(a=[np.nan, 0.9, 0.9], b=[0.1, 0.2, 0.3]))]
    assert columns == [*HEADER[1:3], *HEADER[:3]]


def test_a_title_of_one_word_is_whole():
    table = pd.DataFrame({"application": ["a"], "n": [1], "cosine": [0.1], "wave_hedges": [0.2], "scaled_rmse": [0.3]})
    columns = {cell.column for cell in cells(measures.measures_by_application(table, theta=None))}
    assert columns == {"cosine", "Wave-Hedges", "scaled RMSE"}


def test_an_application_without_a_name_is_called_so():
    chart = measures.measures_by_application(of_applications(**{"": [0.1]}), theta=0.25)
    assert rows(chart) == ["no application (5)"]


def test_an_application_called_no_application_is_not_the_one_without_a_name():
    chart = measures.measures_by_application(of_applications(**{"": [0.1], "no application": [0.2]}), theta=0.25)
    assert sorted(cell.text for cell in cells(chart)) == ["0.10", "0.20"]


def test_only_the_benchmarks_of_the_application_are_shown():
    table = pd.concat([of_benchmarks("a.X.one", "a.X.two"), of_benchmarks("a.X.three", application="other")])
    chart = measures.measures_by_benchmark(table, "org/app", theta=0.25)
    assert rows(chart) == ["one", "two"]
    assert titles(chart)[0] == "Benchmarks of org/app"


def test_benchmarks_without_an_application_have_a_figure_too():
    chart = measures.measures_by_benchmark(of_benchmarks("x", application=""), "", theta=0.25)
    assert titles(chart)[0] == "Benchmarks of no application"


def test_an_unknown_application_is_refused_by_its_name():
    with pytest.raises(ValueError, match="application 'Org/Other'"):
        measures.measures_by_benchmark(of_benchmarks("x"), "Org/Other", theta=0.25)


def test_the_parameters_of_a_benchmark_are_on_a_separate_line():
    chart = measures.measures_by_benchmark(of_benchmarks("a.B.c#size=1", "a.B.c#size=2"), "org/app", theta=None)
    labels = [part for part in parts(chart) if part.role == "axis-label"]
    assert [part.text for part in labels if "size" in part.text] == ["c size=1", "c size=2"]


def test_two_items_of_one_benchmark_stay_two_rows():
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


def test_schematic_pairs_show_the_values_of_the_measures(shown_pairs, figure_of_pairs):
    drawn = [part.text for part in figure_of_pairs]
    for x, y in shown_pairs.values():
        values = [MEASURES[name].function(x, y) for name in HEURISTIC_MEASURES]
        numbers = [f"{value:.2f}{' ▲' if value > 0.25 else ''}" for value in values]
        assert any(drawn[at : at + 5] == numbers for at in range(len(drawn)))


def test_schematic_pairs_are_written_as_pdf():
    pairs = schemes.figure_1_signals(rng=np.random.default_rng(1))
    assert figures.render(measures.schematic_pairs(pairs), "pdf").startswith(b"%PDF-")


def test_schematic_pairs_have_titles_and_every_axis_has_a_unit(shown_pairs, figure_of_pairs):
    named = [part.text for part in figure_of_pairs if part.role in {"title-text", "axis-title"}]
    assert [name for name in named if name in shown_pairs] == list(shown_pairs)
    axes = ("iteration", "time per iteration (ms)", "dissimilarity (▲ above θ = 0.25)")
    assert [named.count(title) for title in axes] == [len(shown_pairs)] * 3


def test_the_runs_of_a_schematic_pair_differ_in_dash_and_in_shade(made_pairs):
    svg = figures.to_svg(measures.schematic_pairs({"offset": made_pairs["offset"]}))
    lines = re.findall(r'aria-roledescription="line mark"[^>]*stroke="(#\w+)"[^>]*stroke-dasharray="([^"]+)"', svg)
    assert lines == [(figures.INK, "1,0"), (figures.SOFT, "4,2")]


def test_the_same_seed_makes_the_same_pairs(made_pairs):
    again = schemes.schematic_pairs(rng=np.random.default_rng(1))
    other = schemes.schematic_pairs(rng=np.random.default_rng(2))
    assert all(np.array_equal(made_pairs[name], again[name]) for name in made_pairs)
    assert not np.array_equal(made_pairs["noise"], other["noise"])


def test_means_are_shown_as_numbers_with_the_threshold():
    drawn = texts(measures.means({"m1": 0.25, "m2": 0.2500001, "m3": 1.0}, theta=0.25))
    assert drawn[-3:] == ["0.25", "0.25 ▲", "1.00 ▲"]
    assert {*HEADER[:3], "mean over all pairs (▲ above θ = 0.25)"} <= set(drawn)


def test_means_without_a_threshold_have_no_mark_and_no_rule():
    chart = measures.means({"cosine": 0.25, "wave_hedges": 0.9}, theta=None)
    assert "▲" not in "".join(texts(chart))
    assert "rule mark" not in figures.to_svg(chart)


def test_the_agreement_of_pairs_is_named_with_their_numbers():
    share = Estimate(0.5, None, 0.4, 0.6)
    drawn = texts(report_figures.pair_agreement([PairAgreement("ada", "ben", 4, 2, share, share)], share))
    assert {"ada – ben (n = 4)", "100%"} <= set(drawn)
    assert any("common items" in text for text in drawn)


def test_without_pairs_there_is_no_figure_of_them():
    assert report_figures.pair_agreement([], Estimate(None)) is None


def test_different_marks_differ_in_greyscale():
    assert contrast(figures.INK, figures.PAPER) > 10
    assert min(contrast(figures.INK, figures.SOFT), contrast(figures.SOFT, figures.PAPER)) > 3


def test_a_cell_is_the_darker_the_larger_its_value_and_its_number_is_readable():
    values = np.linspace(0, 1, 120)
    drawn = sorted((c for c in cells(measures.pair_matrix(values)) if c.text), key=lambda cell: cell.value)
    shades = [luminance(cell.fill) for cell in drawn[::2]]  # every pair occurs twice
    assert all(lighter > darker for lighter, darker in pairwise(shades))
    assert min(contrast(cell.fill, cell.ink) for cell in drawn) >= 3
