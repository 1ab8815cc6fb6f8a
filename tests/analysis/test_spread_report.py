"""The report on the spread of runs."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from analysis.benchmark import Benchmark, from_table
from analysis.document import Figure, Table, to_html, to_markdown, to_text
from analysis.document.figures import render, to_svg
from analysis.intervals import Estimate
from analysis.spread import charts as spread_charts, document as spread_document, survey
from analysis.spread._figures import MAX_ROWS
from tests.analysis.drawn import luminance, parts, texts, titles
from tests.analysis.test_hostile_names import NAMES
from tests.analysis.test_spread import benchmark
from tests.analysis.test_spread_score import HIGH, LOW, measured
from tests.conftest import GOLDEN
from tests.sentences import says


def words(found):
    return " ".join(to_text(spread_document(found)).split())


def tables(found):
    return [
        block for section in spread_document(found).sections for block in section.blocks if isinstance(block, Table)
    ]


@pytest.fixture(scope="module")
def suite():
    """Build the example that was computed by hand: three benchmarks, five altered methods."""
    named = ["run", "altered", "benchmark", "value"]
    return from_table(pd.read_csv(GOLDEN / "abs.csv", sep=";").set_axis(named, axis=1))


@pytest.fixture(scope="module")
def mixed():
    """Build two applications with spreads of 1 %, 8 %, 20 %, 40 % and 90 %."""
    return survey(
        [
            benchmark(100 - half, 100 + half, name=f"b{half}", application="org/a" if half < 15 else "org/c")
            for half in (0.5, 4, 10, 20, 45)
        ]
    )


def test_the_answer_comes_first_in_plain_sentences(mixed):
    said = words(mixed)
    assert spread_document(mixed).sections[0].title == "In short"
    assert says(said, "1 of 5 benchmarks (20.0 %", "3.6 to 62.4 %)", "within 5 %")
    assert says(said, "2 (40.0 %)", "more than 25 %", "2 runs each")
    assert "The median spread is 20.0 %" in said
    assert "slowdown of 40.0" in said  # floor(4.75) = 4 of .01, .08, .2, .4, .9
    assert says(said, "Fix or remove", "b45 (90.0 %)")


def test_the_bucket_table_begins_with_all_and_the_widest_application(mixed):
    rows = tables(mixed)[0].rows
    assert rows[0] == ("all", "5", "2", "1", "1", "1", "1", "1", "20.0 %")
    assert [row[0] for row in rows] == ["all", "org/c", "org/a"]


def test_benchmarks_are_listed_widest_first(mixed):
    assert [row[0] for row in tables(mixed)[1].rows] == ["b45", "b20", "b10", "b4", "b0.5"]


def test_the_growth_with_runs_is_described_with_numbers():
    said = words(survey([benchmark(10, 11, 12, 13, 14, 15, name="six")]))
    # ranges of five of 10..15: without 10 or 15 it is 4, without one of the others 5: (2 * 4/mean + ...) / 6
    subsets = [[v for v in range(10, 16) if v != gone] for gone in range(10, 16)]
    per_five = np.mean([np.ptp(s) / np.mean(s) for s in subsets])
    assert says(said, f"{100 * per_five:.1f} %", "over 5 runs", "40.0 %", "all runs")


def test_long_tables_are_cut_and_say_so():
    found = survey([benchmark(100, 100 + i, name=f"b{i}", application=f"a{i}") for i in range(50)])
    assert [len(one.rows) for one in tables(found)[:2]] == [40, 40]
    assert "40 of 51 rows" in tables(found)[0].caption
    assert "40 of 50 rows" in tables(found)[1].caption


def test_what_was_left_out_is_named_with_its_reason():
    found = survey([benchmark(1, 2, 3, name="has"), benchmark(1, 2, name="lacks")])
    (left_out,) = (one for one in tables(found) if "no spread for the table" in one.caption)
    assert left_out.rows == (("lacks", "2 of 3 runs"),)


def test_per_is_stated_if_spreads_are_averaged():
    found = survey([benchmark(1, 2, 3, name="three"), benchmark(1, 2, name="two")], per=2)
    assert says(words(found), "2 to 3 runs each", "choices of 2")
    assert "choices of 2 runs" in words(found)


def test_a_survey_without_anything_says_so():
    for found in (survey([]), survey([benchmark(1)])):
        assert spread_charts(found) == {}
    assert "Nothing was left out." in words(survey([]))


def test_the_score_is_described_in_a_sentence(suite):
    found = survey(suite, v=0.4, without=["B.mid"], resamples=20)
    said = words(found)
    assert says(said, "of 3 benchmarks (", "within 5 %")
    assert says(said, "In a suite of fewer than 20 benchmarks, this leaves out the noisiest benchmark.")
    assert says(said, "2 of 5 altered methods", "40 (11.8 to 76.9 %)")
    assert says(said, "no benchmark notices: m2, m4, m5")
    assert says(said, "only one benchmark", "m1 (by B.fast), m3 (by B.noisy)")
    assert says(said, "B.mid", "leave this benchmark out of the score")
    assert "50.0 %, 50.4 %" in said  # in the order of the runs


def test_a_suite_that_notices_everything_gets_no_advice():
    found = survey([measured("a", baseline=1, m=2), measured("b", baseline=1, m=2)], v=0.5)
    said = words(found)
    assert "notices 1 of 1 altered method," in said
    assert "no benchmark notices:" not in said and "that only one" not in said


def test_a_score_that_is_undefined_says_why():
    assert "has an altered method" in words(survey([measured("a", baseline=1)]))


def test_what_cannot_be_detected_is_marked_in_table_and_figure():
    few = Benchmark.of_series("few", (LOW[:3], LOW[:3]), conditions={"altered": ("baseline", "m")})
    many = Benchmark.of_series("many", (LOW,) * 2 + (HIGH,) * 5, conditions={"altered": ("baseline", "m") + ("n",) * 5})
    found = survey([few, many], v=0.1)
    assert "cannot be detected: run 0: 3 and 3 iterations" in words(found)
    drawn = {part.label for part in parts(spread_charts(found)["noticed-by"]) if part.role == "mark"}
    assert sum("cannot be detected" in label for label in drawn) == 1
    assert sum("state: noticed" in label for label in drawn) == 1


def test_more_changes_than_fit_are_cut():
    runs = (LOW,) * 5 + (HIGH,) * 5
    one = Benchmark.of_series("b", runs, conditions={"altered": ("baseline",) * 5 + ("m",) * 5})
    assert "333.3 %, 333.3 %, 333.3 %, …" in words(survey([one], v=0.1))


def test_every_figure_of_the_document_is_drawn_and_every_drawn_one_is_there(mixed, suite):
    for found, names in (
        (mixed, ["max-spread", "spread-buckets"]),
        (survey(suite), ["max-spread", "spread-buckets", "noticed-by", "redundancy"]),
    ):
        blocks = [block for section in spread_document(found).sections for block in section.blocks]
        assert [block.name for block in blocks if isinstance(block, Figure)] == names
        assert list(spread_charts(found)) == names


def test_figures_name_rows_and_axes(mixed):
    charts = spread_charts(mixed)
    for name in ("max-spread", "spread-buckets"):
        shown = [text for text in texts(charts[name]) if text in ("all (5)", "org/a (3)", "org/c (2)")]
        assert shown == ["all (5)", "org/c (2)", "org/a (3)"]
    assert "share of the benchmarks" in titles(charts["spread-buckets"])
    assert any("mean of the runs" in title for title in titles(charts["max-spread"]))


def test_bars_add_up_and_their_shades_differ_in_greyscale(mixed):
    drawn = parts(spread_charts(mixed)["spread-buckets"])
    all_together = [part for part in drawn if part.role == "mark" and "row: 0; end" in part.label]
    assert len(all_together) == 5
    shades = [luminance(part.fill) for part in sorted(all_together, key=lambda part: part.x)]
    assert all(light - dark > 0.05 for light, dark in pairwise(shades))


def test_the_redundancy_figure_counts_methods(suite):
    drawn = texts(spread_charts(survey(suite, v=0.4))["redundancy"])
    assert {"2", "3"} <= set(drawn)  # two methods detected by one benchmark, three by none


def test_spreads_of_zero_are_drawn_at_the_end_of_the_axis():
    chart = spread_charts(survey([benchmark(1, 1), benchmark(1, 2, name="c")]))["max-spread"]
    assert "below 0.01 % are drawn" in to_svg(chart)


def test_a_suite_without_any_spread_can_be_drawn():
    charts = spread_charts(survey([benchmark(1, 1, name=str(i)) for i in range(6)]))
    assert all(render(chart, "png") for chart in charts.values())


def test_long_figures_are_cut_and_say_so():
    found = survey([benchmark(100, 100 + i, name=f"b{i}", application=f"a{i}") for i in range(50)])
    for chart in spread_charts(found).values():
        assert f"{MAX_ROWS} of 50 applications" in to_svg(chart)
    many = survey([measured(f"b{i}", baseline=1, m=2) for i in range(45)], v=0.5)
    assert says("\n\n".join(texts(spread_charts(many)["noticed-by"])), "40 of 45 benchmarks", "1 of 1 methods")


def test_names_from_files_are_text_with_any_characters():
    named = [benchmark(1, 1 + i / 10, name=name, application=name) for i, name in enumerate([*NAMES, "a\x1bb"])]
    altered = [Benchmark.of_series(name, (LOW, HIGH), conditions={"altered": ("baseline", name)}) for name in NAMES]
    found = survey([*named, *altered], v=0.1)
    charts = spread_charts(found)
    shown = " ".join(text for chart in charts.values() for text in texts(chart))
    assert "alert(1)" in shown
    html = to_html(spread_document(found), {name: to_svg(chart) for name, chart in charts.items()})
    assert "<script>alert" not in html
    assert "\x1b" not in html
    assert re.search(r"(?<!\\)[<]", to_markdown(spread_document(found))) is None


def test_an_undefined_v_is_a_dash_or_a_reason():
    one = Benchmark.of_series("b", (LOW, HIGH), conditions={"altered": ("baseline", "m")})
    found = survey([one])
    assert found.score.v == Estimate(None, reason="fewer than two spreads (0) of the baseline; give v (--v)")
    assert "undefined: fewer than two spreads (0) of the baseline; give v (--v)" in words(found)
